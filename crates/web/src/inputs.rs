//! The texts of a call in the input buffer.
//!
//! One text is at the start of the buffer, as bytes or as UTF-16. Rows of texts, pairs and words
//! are bytes end to end, followed by a table: for each sequence a text, which is the word
//! [`WHOLE`] and the end of the text, or words, which are their number and the end of each. With
//! the flag of literal ranges, the bytes of the pair are the bounds of these ranges.

use tokenlane_calls::error::Failure;
use tokenlane_calls::options;
use tokenlane_core::{Input, Sequence, Text};

use crate::input::{self, aligned};

/// The place of the number of words, for a text that is not split into words.
const WHOLE: u32 = u32::MAX;

/// The kind of a text that is UTF-16.
const UTF16: u32 = 1;

/// One text, and the number of bytes that it has in the buffer.
pub fn text(input: &input::Input, kind: u32, length: u32) -> Result<(Text<'_>, usize), Failure> {
    let length = length as usize;
    Ok(match kind {
        UTF16 => (Text::Utf16(input.units(length)?), 2 * length),
        _ => (Text::Bytes(input.bytes(0, length)?), length),
    })
}

/// The texts of rows, with the shape of each.
pub struct Rows<'a> {
    texts: Vec<Text<'a>>,
    sequences: Vec<(bool, usize)>,
    /// The number of bytes in the buffer.
    pub bytes: usize,
}

impl<'a> Rows<'a> {
    /// Reads `length` bytes of texts and a table of `words` words.
    pub fn read(input: &'a input::Input, length: u32, words: u32) -> Result<Self, Failure> {
        let (length, words) = (length as usize, words as usize);
        let mut table = input.words(aligned(length), words)?;
        let mut inputs = Self { texts: vec![], sequences: vec![], bytes: aligned(length) + 4 * words };
        let mut start = 0;
        while let [count, rest @ ..] = table {
            let count = if *count == WHOLE { 1 } else { *count as usize };
            let (ends, rest) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            for &end in ends {
                inputs.texts.push(Text::Bytes(input.bytes(start, (end as usize).saturating_sub(start))?));
                start = end as usize;
            }
            inputs.sequences.push((table[0] == WHOLE, ends.len()));
            table = rest;
        }
        Ok(inputs)
    }

    /// The texts, if no text is split into words.
    pub fn texts(&self) -> Option<&[Text<'a>]> {
        self.sequences.iter().all(|(is_whole, _)| *is_whole).then_some(&self.texts)
    }

    /// Calls `work` with the one input of the rows: a text, a pair, or a text with literal ranges.
    pub fn with_input<T>(&self, flags: u32, work: impl FnOnce(&Input<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        let missing = || Failure::wrong_type("there is no text");
        if let [text, Text::Bytes(bounds)] = self.texts[..]
            && options::has_literal(flags)
        {
            let (bounds, _) = bounds.as_chunks();
            let bounds: Vec<u32> = bounds.iter().map(|&bound| u32::from_le_bytes(bound)).collect();
            let literal = options::literal(&bounds)?;
            return work(&Input { first: Sequence::Marked(text, &literal), second: None });
        }
        work(self.inputs(2).first().ok_or_else(missing)?)
    }

    /// The inputs, each of `sequences` sequences: 1, or 2 for pairs.
    pub fn inputs(&self, sequences: usize) -> Vec<Input<'_>> {
        let mut texts = &self.texts[..];
        let all: Vec<_> = self
            .sequences
            .iter()
            .map(|&(is_whole, count)| {
                let (own, rest) = texts.split_at(count);
                texts = rest;
                if is_whole { Sequence::Text(own[0]) } else { Sequence::Words(own) }
            })
            .collect();
        all.chunks(sequences).map(|row| Input { first: row[0], second: row.get(1).copied() }).collect()
    }
}
