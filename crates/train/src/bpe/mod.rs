//! The trainer of BPE: merges the most frequent pair of adjacent tokens, again and again.
//!
//! - `start`: special tokens and alphabet become tokens, words become lists of tokens.
//! - `words`: the lists of tokens, and where words end.
//! - `merge`: the merges, which correct the counts of pairs beside them.
//! - `queue`: pairs with their counts and occurrences, the most frequent one first.
//! - `naive`: the slow twin, for tests.
//!
//! # Time and memory
//!
//! Each character of the distinct words is merged at most once, and a merge costs a constant for
//! each occurrence and log n for each pair beside it; the length of words does not matter. One
//! random word of four letters, 1,000 tokens, on one core of a busy machine (2026-11-26): 1, 2, 4
//! and 8 million characters take 0.15, 0.25, 0.54 and 1.07 CPU seconds and 30, 43, 75 and 128 MiB.
//!
//! A character takes 4 bytes, and an occurrence of a pair another 4, until it is merged. Up to half
//! as many occurrences are kept of pairs that are gone: merged, or lost to a merge beside them.
//! Lost ones are forgotten only in words in which no pair of characters repeats, and without
//! affixes; otherwise the pair can form again, and they are part of the result. A pair takes about
//! 40 bytes, and 24 more while it is frequent. A word takes 8, but none if it occurs once.
//!
//! There is no checkpoint of merges: the counted words are one. 128,000 merges of 3.7 million
//! characters of distinct words (502 MB of English, code and other scripts) take 2 CPU seconds
//! after 23 s of counting, those of 29 million characters 9 s. Tables that fit into 2 GiB take less
//! than half a minute, and going on from a list of merges would have to find all places again.

mod merge;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod naive;
mod queue;
mod start;
#[cfg(test)]
mod tests;
mod words;

use crate::progress::Meter;
use crate::{BpeOptions, TrainError, WordCounts};

/// A trained vocabulary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BpeVocabulary {
    /// The tokens in the order of their ids.
    pub tokens: Vec<String>,
    /// Pairs of ids in the order of their ranks, without duplicates.
    pub merges: Vec<(u32, u32)>,
}

/// Trains on counted words, which are dropped once they are lists of tokens.
pub(crate) fn train(
    words: WordCounts,
    options: &BpeOptions,
    meter: &mut Meter<'_>,
) -> Result<BpeVocabulary, TrainError> {
    let start = start::start(&words, options, meter)?;
    drop(words);
    merge::train(start, options, meter)
}

/// Goes on from tokens that words have already. Only `vocab_size`, `min_frequency`,
/// `max_token_length` and the affixes of the options count.
pub(crate) use merge::train as go_on;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use start::start;
pub(crate) use start::{Affixed, Start, affixed};

/// Two adjacent tokens.
type Pair = (u32, u32);

/// Removes pairs that are merged again later: the later rank counts, as in the reference.
fn last_of_each(merges: Vec<Pair>) -> Vec<Pair> {
    let mut seen = hashbrown::HashSet::with_hasher(foldhash::fast::FixedState::default());
    let mut kept: Vec<Pair> = merges.into_iter().rev().filter(|&pair| seen.insert(pair)).collect();
    kept.reverse();
    kept
}

/// The text of the token that a pair becomes.
pub(crate) fn joined(left: &str, right: &str, options: &BpeOptions) -> String {
    let prefix = options.continuing_subword_prefix.as_deref().unwrap_or("");
    format!("{left}{}", right.strip_prefix(prefix).unwrap_or(right))
}
