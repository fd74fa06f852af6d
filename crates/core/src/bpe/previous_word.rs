//! What [`super::incremental`] keeps of a long word for the next one.

use std::ops::Range;

use super::{Symbol, short_word};

/// The previous long word and its tokens.
#[derive(Debug)]
pub(super) struct PreviousWord {
    pub(super) bytes: Vec<u8>,
    pub(super) symbols: Vec<Symbol>,
    /// The number of bytes that the symbols cover.
    pub(super) covered: usize,
    /// The results of the last step and the last block.
    pub(super) merged: [MergedBlock; 2],
    pub(super) sizes: BlockSizes,
}

/// A range of the current word, and its tokens. If the next range has the same text, as in a word
/// of one repeated letter, it has the same tokens.
#[derive(Debug, Default)]
pub(super) struct MergedBlock {
    pub(super) range: Option<Range<usize>>,
    pub(super) symbols: Vec<Symbol>,
}

/// The sizes of steps and blocks, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockSizes {
    /// Words up to this length are merged as a whole.
    pub(super) min_len: usize,
    /// The number of new bytes in a block.
    pub(super) block: usize,
    /// The number of bytes that the first attempt of a block merges again.
    pub(super) back: usize,
    /// The length of a step, including the bytes merged again. In characters, if symbols are
    /// characters.
    pub(super) step: usize,
    /// The minimum number of bytes that a step merges again.
    pub(super) near: usize,
}

/// The minimum length is that of the word cache, which has all shorter words.
const BLOCK_SIZES: BlockSizes =
    BlockSizes { min_len: 256, block: 4096, back: 64, step: short_word::MAX_SYMBOLS, near: 12 };

impl Default for PreviousWord {
    fn default() -> Self {
        Self { bytes: Vec::new(), symbols: Vec::new(), covered: 0, merged: Default::default(), sizes: BLOCK_SIZES }
    }
}

impl PreviousWord {
    /// The capacity for symbols.
    pub(super) fn symbols(&self) -> usize {
        self.symbols.capacity()
    }
}
