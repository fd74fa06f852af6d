//! Where the words of a text end, for the model stage.

use crate::bpe::{Bpe, Spaces};
use crate::pretokenizer::scanner::Scanner;

/// Tells whole words from further pieces of a word, which get the same word id.
pub(super) trait WordStarts {
    /// Whether no word is cut into pieces.
    const WHOLE: bool;

    /// Whether a word starts at byte `at`; otherwise a further piece of a word starts there.
    fn starts_word(&self, text: &str, at: usize) -> bool;
}

/// Finds the words of a text, or pieces of them, in order.
pub(super) trait WordSplitter: WordStarts {
    /// Appends to `ends` the ends of words; the first word starts at byte `at`. Returns the start
    /// of the next word. Does not grow `ends` beyond its capacity.
    fn next_words(&self, text: &str, at: usize, ends: &mut Vec<u32>) -> usize;
}

impl WordStarts for Scanner {
    const WHOLE: bool = true;

    #[inline(always)]
    fn starts_word(&self, _text: &str, _at: usize) -> bool {
        true
    }
}

impl WordSplitter for Scanner {
    #[inline(always)]
    fn next_words(&self, text: &str, at: usize, ends: &mut Vec<u32>) -> usize {
        self.scan(text, at, ends)
    }
}

/// For words that a segmenter has found: none of them is a piece of a longer word.
pub(super) struct WholeWords;

impl WordStarts for WholeWords {
    const WHOLE: bool = true;

    #[inline(always)]
    fn starts_word(&self, _text: &str, _at: usize) -> bool {
        true
    }
}

/// Splits words into the pieces that a model's split points allow to encode separately.
pub(super) struct PieceSplitter<'a> {
    /// A model with split points.
    pub(super) bpe: &'a Bpe,
    /// The start of the first piece.
    pub(super) start: usize,
    /// If set, the pieces belong to several words, and the first piece continues a word. Otherwise
    /// all pieces belong to one word, which starts at `start`.
    pub(super) spaces: Option<Spaces>,
}

impl WordStarts for PieceSplitter<'_> {
    const WHOLE: bool = false;

    #[inline(always)]
    fn starts_word(&self, text: &str, at: usize) -> bool {
        match self.spaces {
            Some(Spaces { meta_symbol, start_words }) => start_words && text[at..].starts_with([' ', meta_symbol]),
            None => at == self.start,
        }
    }
}

impl WordSplitter for PieceSplitter<'_> {
    #[inline(always)]
    fn next_words(&self, text: &str, at: usize, ends: &mut Vec<u32>) -> usize {
        let split_points = self.bpe.split_points.as_ref().expect("only words of a model with split points are cut");
        split_points.split(&self.bpe.alphabet, text, at, ends)
    }
}
