//! The vocabulary: special tokens, the alphabet and the best pieces.

use std::collections::BTreeSet;

use super::pieces::Pieces;
use super::seeds::Corpus;
use crate::{TrainError, UnigramOptions};

/// A trained vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub struct UnigramVocabulary {
    /// The tokens in the order of their ids, with their log probabilities: the special tokens, with
    /// 0, then the pieces by falling score. A piece that is a special token too is there twice, as
    /// in the reference.
    pub pieces: Vec<(String, f64)>,
    /// The id of the unknown token, if the options name one.
    pub unk_id: Option<u32>,
}

/// What characters that have no piece have more than the lowest score, each of them once more.
const ALPHABET_STEP: f64 = 0.0001;

/// The id of the unknown token, and whether it is none of the special tokens.
fn unknown(options: &UnigramOptions) -> (Option<u32>, bool) {
    let Some(unknown) = &options.unk_token else { return (None, false) };
    let known = options.special_tokens.iter().position(|token| token.content == *unknown);
    (Some(known.unwrap_or(0) as u32), known.is_none())
}

/// The number of tokens that are no pieces.
fn reserved(options: &UnigramOptions) -> usize {
    options.special_tokens.len() + usize::from(unknown(options).1)
}

/// The characters that the vocabulary must have: those of all words and of the initial alphabet.
pub(super) fn required_characters(corpus: &Corpus, options: &UnigramOptions) -> Result<BTreeSet<char>, TrainError> {
    let initial = options.initial_alphabet.iter().filter_map(|text| text.chars().next());
    let words = corpus.alphabet.iter().map(|&(character, _)| character);
    let required: BTreeSet<char> = initial.chain(words).chain(corpus.has_nul.then_some('\0')).collect();
    let needed = required.len() + reserved(options);
    if needed > options.vocab_size {
        return Err(TrainError::VocabularyTooSmall { vocab_size: options.vocab_size, needed });
    }
    Ok(required)
}

/// The vocabulary of the size that the options name, or a smaller one if there are fewer pieces.
pub(super) fn vocabulary(
    pieces: &Pieces,
    corpus: &Corpus,
    required: &BTreeSet<char>,
    options: &UnigramOptions,
) -> UnigramVocabulary {
    let mut missing = required.clone();
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for piece in pieces.pieces.iter().filter(|piece| piece.listed) {
        let text = corpus.text(piece);
        if piece.len == 1 {
            text.chars().for_each(|character| _ = missing.remove(&character));
            found.push((text, piece.score));
        } else {
            others.push((text, piece.score));
        }
    }
    let unlisted = missing.iter().zip(0..);
    found.extend(unlisted.map(|(c, index)| (c.to_string(), pieces.min_score + ALPHABET_STEP * f64::from(index))));
    found.sort_unstable_by(|left, right| left.0.cmp(&right.0));
    others.truncate(options.vocab_size - reserved(options) - found.len());
    found.append(&mut others);
    // Stable: pieces of equal scores keep their order, characters first.
    found.sort_by(|left, right| right.1.total_cmp(&left.1));
    let (unk_id, is_new) = unknown(options);
    let unknown = options.unk_token.iter().filter(|_| is_new).cloned();
    let special = unknown.chain(options.special_tokens.iter().map(|token| token.content.clone()));
    UnigramVocabulary { pieces: special.map(|token| (token, 0.0)).chain(found).collect(), unk_id }
}
