//! Trains tokenizers, exactly like the trainers of Hugging Face tokenizers 0.23.3.
//!
//! 1. [`Base`]: a tokenizer.json whose normalizer, pre-tokenizer and added tokens cut texts into
//!    words. Its vocabulary does not matter.
//! 2. [`WordCounter`] counts the words of texts; [`WordCounts`] are its sorted result.
//! 3. [`Trainer`] makes a vocabulary of the counts, and writes the base with it.
//! 4. [`extend`] and [`prune`] change the vocabulary of a trained tokenizer instead.
//!
//! The result depends on the counts alone: not on the order of texts, nor on the seed of a hash
//! table. Where the order of the reference depends on a hash table, the trainer's documentation
//! defines one.
#![deny(unsafe_code)]

mod adapt;
mod base;
mod bpe;
mod count;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod options;
mod progress;
mod save;
#[cfg(test)]
mod tests;
mod trainer;
mod unigram;
mod wordlevel;

pub use adapt::{Effect, ExtendOptions, Extended, Pruned, extend, prune};
pub use base::Base;
pub use count::{Spill, WordCounter, WordCounts, merge_files, on_counting_threads};
pub use error::TrainError;
pub use options::{BpeOptions, SpecialToken, UnigramOptions, WordLevelOptions};
pub use progress::{Phase, Progress, Watch};
pub use trainer::Trainer;
