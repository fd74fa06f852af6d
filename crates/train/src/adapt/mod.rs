//! Changes the vocabulary of a trained tokenizer to fit a corpus.
//!
//! - [`extend`](extend()) adds tokens; the ids that exist stay.
//! - [`prune`](prune()) keeps the tokens that the corpus uses; ids are renumbered.
//! - `file`: the tokenizer.json, of which only what changes is parsed.
//! - `encode`: the tokens of counted words, by the core.
//! - `trace`: the merges that a word takes.
//!
//! Words are counted with the same tokenizer.json as the [`Base`](crate::Base).

mod encode;
mod extend;
mod file;
mod prune;
#[cfg(test)]
mod tests;
mod trace;

pub use extend::{ExtendOptions, Extended, extend};
pub use prune::{Pruned, prune};

/// What a change does to the corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effect {
    /// The bytes of all words of the corpus, normalized.
    pub bytes: u64,
    /// The tokens of all words, before the change and after it.
    pub tokens: [u64; 2],
    /// The number of tokens of the vocabulary with the added tokens, before and after.
    pub vocabulary: [usize; 2],
}
