//! The loop of the trainer, and the check of its options.

use super::estimate::Estimator;
use super::finish::{self, UnigramVocabulary};
use super::prune;
use super::seeds::{self, Corpus};
use crate::progress::{Meter, Phase};
use crate::{TrainError, UnigramOptions, WordCounts};

/// The longest pieces that can be asked for, in characters. Time is proportional to it.
pub(crate) const MAX_PIECE_LENGTH: usize = 256;

/// Trains on counted words.
///
/// # Errors
///
/// Options out of range, no words, a vocabulary that is too small for the alphabet and the special
/// tokens (the reference then returns a larger one), or too many characters.
pub(crate) fn train(
    words: &WordCounts,
    options: &UnigramOptions,
    meter: &mut Meter<'_>,
) -> Result<UnigramVocabulary, TrainError> {
    check(options)?;
    let corpus = Corpus::new(words)?;
    let required = finish::required_characters(&corpus, options)?;
    let mut pieces = seeds::find(&corpus, options, meter)?;
    let estimator = Estimator::new(&corpus);
    let enough = options.vocab_size * 11 / 10;
    loop {
        for _ in 0..options.n_sub_iterations {
            meter.phase(Phase::Estimate, corpus.symbols.len(), pieces.listed())?;
            let expected = estimator.expected(&pieces, meter)?;
            pieces.maximize(&expected);
        }
        // The reference counts the unknown piece.
        let before = pieces.listed() + 1;
        if before <= enough {
            break;
        }
        let size = enough.max((before as f64 * options.shrinking_factor) as usize);
        meter.phase(Phase::Prune, corpus.symbols.len(), pieces.listed())?;
        prune::prune(&mut pieces, &corpus, size, meter)?;
        // Pieces that cannot leave are characters, which fit, and pieces that a rounded sum keeps.
        if pieces.listed() + 1 == before {
            break;
        }
    }
    Ok(finish::vocabulary(&pieces, &corpus, &required, options))
}

fn check(options: &UnigramOptions) -> Result<(), TrainError> {
    let error = |option, message: String| Err(TrainError::Option { option, message });
    if !(options.shrinking_factor > 0.0 && options.shrinking_factor < 1.0) {
        return error("shrinking_factor", format!("{} is not between 0 and 1", options.shrinking_factor));
    }
    if !(1..=MAX_PIECE_LENGTH).contains(&options.max_piece_length) {
        let message = format!("{} is not between 1 and {MAX_PIECE_LENGTH}", options.max_piece_length);
        return error("max_piece_length", message);
    }
    // Ids have 32 bits.
    if u32::try_from(options.vocab_size.saturating_mul(11)).is_err() {
        return error("vocab_size", format!("{} is too large", options.vocab_size));
    }
    Ok(())
}
