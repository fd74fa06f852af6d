//! Counts of words, in bounded memory.
//!
//! - `counter`: splits texts over threads; each thread counts into a table of its own. A table that
//!   is full is written as a sorted file (a run).
//! - `table`: words with their counts, in one block of memory.
//! - `file`: the format of files of words.
//! - `merge`: adds up sorted sources: tables, lists and files.
//! - `words`: the sorted result.
//!
//! # Files of words
//!
//! A shard of a corpus job writes such a file too ([`WordCounter::write`]), and [`merge_files`]
//! makes one of many. Numbers are little-endian; `varint` is LEB128, as in protobuf.
//!
//! ```text
//! file    "tokenlane words 1\n", blocks, end
//! block   u32 bytes of its records (not 0), u32 CRC-32 of them, records
//! record  varint bytes shared with the word before in the block, varint number of other bytes,
//!         these bytes, varint count (not 0)
//! end     u32 0, u32 CRC-32 of what follows, u64 number of words
//! ```
//!
//! Words are UTF-8, each once, sorted by their bytes, and written as the model sees them: with the
//! printable characters of ByteLevel, if the base has it.

mod counter;
mod file;
mod merge;
mod table;
#[cfg(test)]
mod tests;
mod words;

pub use counter::{Spill, WordCounter, on_counting_threads};
pub use merge::merge_files;
pub use words::WordCounts;
