//! Normalization and pre-tokenization in one pass, for common combinations of components.
//!
//! A segmenter reads a text once and writes its normalized words into a buffer, one directly after
//! the other; white space between words is left out. The word cache and the model then process the
//! buffer. Text is read in blocks of 64 bytes, with the masks of [`crate::simd`] for ASCII and with
//! a [`character_table`] for other characters. Characters that the table cannot describe because
//! they depend on their neighbours need the *general* way: from the start of their word to the next
//! white space, the text goes through the normalizer and the pre-tokenizer.
//!
//! - [`bert`]: BertNormalizer, or some of its steps, and BertPreTokenizer.
//! - [`metaspace`]: a charsmap and Metaspace, with or without WhitespaceSplit.
//! - [`characters`]: what is written for a character, and its role.
//! - [`wide`]: the characters of a block that are not ASCII.
//! - [`words`]: the buffer, and the positions of its words in the original.
//!
//! The slow twin of a segmenter is the pair of components that it replaces; tests compare them.

mod bert;
mod bits;
mod character_table;
mod characters;
mod metaspace;
#[cfg(test)]
mod tests;
mod wide;
mod words;

use std::ops::Range;

use crate::normalizer::Normalizer;
use crate::pretokenizer::PreTokenizer;
pub(crate) use bert::Bert;
pub(crate) use metaspace::Metaspace;
pub(crate) use words::SegmentedWords;

/// A segmenter for one combination of components.
#[derive(Debug)]
pub(crate) enum Segmenter {
    Bert(Box<Bert>),
    Metaspace(Box<Metaspace>),
}

/// Why [`Segmenter::fill`] stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FillEnd {
    /// The buffer is full or the text has ended; the next word starts here.
    At(usize),
    /// This part of the text needs the normalizer and the pre-tokenizer.
    General(Range<usize>),
}

/// A part of the original text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OriginalPart<'a> {
    pub(crate) text: &'a str,
    /// The byte of the original at which it starts.
    pub(crate) base: usize,
}

impl Segmenter {
    /// The segmenter for a normalizer and a pre-tokenizer, if there is one. A segmenter that writes
    /// the meta symbol as a space is only used if the model reads it so.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(crate) fn of(
        normalizer: Option<&Normalizer>,
        pretokenizer: &PreTokenizer,
        model_reads_meta_symbol: bool,
    ) -> Option<Self> {
        let metaspace = || Metaspace::of(normalizer, pretokenizer).filter(|_| model_reads_meta_symbol);
        let bert = Bert::of(normalizer, pretokenizer).map(|bert| Self::Bert(Box::new(bert)));
        bert.or_else(|| metaspace().map(|metaspace| Self::Metaspace(Box::new(metaspace))))
    }

    /// The character that a space at the start of a word stands for.
    pub(crate) fn meta_symbol(&self) -> Option<char> {
        match self {
            Self::Bert(_) => None,
            Self::Metaspace(metaspace) => Some(metaspace.meta_symbol()),
        }
    }

    /// Replaces `words` with the words of a part from its byte `at` on, until the buffer is full or
    /// some of it needs the normalizer. If `tracked`, the positions of the words are recorded.
    #[inline]
    pub(crate) fn fill(&self, part: OriginalPart<'_>, at: usize, tracked: bool, words: &mut SegmentedWords) -> FillEnd {
        match self {
            Self::Bert(bert) => bert.fill(part.text, at, tracked, words),
            Self::Metaspace(metaspace) => metaspace.fill(part, at, tracked, words),
        }
    }

    /// The same at a given SIMD level.
    #[cfg(test)]
    fn fill_with(
        &self,
        simd: crate::simd::Simd,
        text: &str,
        at: usize,
        tracked: bool,
        words: &mut SegmentedWords,
    ) -> FillEnd {
        match self {
            Self::Bert(bert) => bert.fill_with(simd, text, at, tracked, words),
            Self::Metaspace(metaspace) => metaspace.fill_with(simd, OriginalPart { text, base: 0 }, at, tracked, words),
        }
    }
}
