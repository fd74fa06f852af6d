//! The trainer of Unigram, as the reference's `UnigramTrainer` works:
//!
//! 1. `seeds`: the pieces to begin with are the characters, and the substrings that occur twice or
//!    more in distinct words and are followed by different characters.
//! 2. `estimate`: expected counts of all pieces over all segmentations of all words, and new scores
//!    from them (EM).
//! 3. `prune`: pieces leave whose absence costs the least likelihood, until 1.1 times the wanted
//!    number is left.
//! 4. `finish`: the alphabet and the special tokens join, and the list is cut to its size.
//!
//! # What does not depend on the machine
//!
//! Expected counts are sums of integers (fixed-point numbers), so their order has no influence,
//! and neither has the number of threads. Logarithms and powers come from the crate `libm`, which
//! computes the same bits on every platform. Characters that need a score of their own get it in
//! the order of their code points; in the reference, in that of a hash table.
//!
//! # Time and memory
//!
//! Both are linear in the characters of the distinct words, apart from one sort of their positions.
//! One random word of four letters takes 1.1, 3.2 and 8.5 CPU seconds for 0.5, 1 and 2 million
//! characters (2026-11-26): the number of seeds rises too, up to `seed_size`, and with it that of
//! the rounds. At most `max_piece_length` pieces start at a position, so no text takes more than n
//! log n times that length. There is no limit on the length of a word. Positions take 12 bytes, and
//! while seeds are sorted, 16 more for each position of the most frequent character.

mod estimate;
mod finish;
#[cfg(test)]
mod naive;
mod pieces;
mod prune;
mod seeds;
mod sort;
#[cfg(test)]
mod tests;
mod train;

pub use finish::UnigramVocabulary;
pub(crate) use train::{MAX_PIECE_LENGTH, train};
