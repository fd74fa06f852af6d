//! The loop of the trainer, and the check of its options.

use super::estimate::Estimator;
use super::finish::{self, UnigramVocabulary};
use super::prune;
use super::seeds::{self, Corpus};
use crate::{TrainError, UnigramOptions, WordCounts};

/// What the trainer has done last, for progress and cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Seeds were found.
    Seeds {
        /// The number of pieces.
        pieces: usize,
    },
    /// Scores were estimated.
    Estimate {
        /// The number of pieces that are left.
        pieces: usize,
    },
    /// Pieces were pruned.
    Prune {
        /// The number of pieces that are left.
        pieces: usize,
    },
}

/// The longest pieces that can be asked for, in characters. Time is proportional to it.
const MAX_PIECE_LENGTH: usize = 256;

/// Trains on counted words. `watch` is called after each step; its error ends the training.
///
/// # Errors
///
/// Options out of range, no words, a vocabulary that is too small for the alphabet and the special
/// tokens (the reference then returns a larger one), too many characters, or the error of `watch`.
pub fn train(
    words: &WordCounts,
    options: &UnigramOptions,
    watch: &mut dyn FnMut(Step) -> Result<(), TrainError>,
) -> Result<UnigramVocabulary, TrainError> {
    check(options)?;
    let corpus = Corpus::new(words)?;
    let required = finish::required_characters(&corpus, options)?;
    let mut pieces = seeds::find(&corpus, options);
    watch(Step::Seeds { pieces: pieces.listed() })?;
    let estimator = Estimator::new(&corpus);
    let enough = options.vocab_size * 11 / 10;
    loop {
        for _ in 0..options.n_sub_iterations {
            let expected = estimator.expected(&pieces);
            pieces.maximize(&expected);
            watch(Step::Estimate { pieces: pieces.listed() })?;
        }
        // The reference counts the unknown piece.
        let before = pieces.listed() + 1;
        if before <= enough {
            break;
        }
        let size = enough.max((before as f64 * options.shrinking_factor) as usize);
        prune::prune(&mut pieces, &corpus, size);
        watch(Step::Prune { pieces: pieces.listed() })?;
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
