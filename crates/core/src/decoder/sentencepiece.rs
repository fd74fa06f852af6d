//! Decodes the pieces of a SentencePiece model to text, like `Decode` of the `sentencepiece`
//! library.
//!
//! - A control piece yields nothing.
//! - The unknown piece yields the text that the model states for it.
//! - A run of byte pieces yields the characters whose UTF-8 it is.
//! - `▁` yields a space. If the normalizer inserts a `▁` at the start, it is removed there; all of
//!   them are removed if the normalizer removes extra white space.

use std::collections::HashSet;

use super::Chunk;
use super::lossy::{REPLACEMENT, unfinished};
use super::step_output::StepOutput;
use crate::error::DecodeError;
use crate::memory::fallible::{append, check, push};
use crate::normalizer::sentencepiece::META_SYMBOL;

/// The settings of a model that affect decoding.
#[derive(Debug, Default)]
pub(crate) struct SentencePieceDecoder {
    pub(crate) control: HashSet<Box<[u8]>, foldhash::fast::RandomState>,
    pub(crate) unknown: Option<Box<[u8]>>,
    pub(crate) unknown_text: Box<[u8]>,
    /// Whether a piece such as `<0x41>` stands for a byte.
    pub(crate) has_bytes: bool,
    pub(crate) add_dummy_prefix: bool,
    pub(crate) remove_extra_whitespaces: bool,
}

/// The state between two pieces.
#[derive(Debug, Default)]
pub(super) struct StreamState {
    /// The bytes of the current run of byte pieces that are not written yet.
    bytes: Vec<u8>,
    /// Whether a `▁` is a space: text precedes, or the `▁` that stands at the start was removed.
    is_inside: bool,
}

impl SentencePieceDecoder {
    /// Joins the pieces of a chunk to the text that is certain after them.
    pub(super) fn decode(
        &self,
        chunk: &mut Chunk<'_>,
        state: &mut StreamState,
        output: &mut StepOutput<'_>,
    ) -> Result<(), DecodeError> {
        let mut text = vec![];
        for piece in &chunk.tokens {
            check()?;
            match self.byte(piece) {
                Some(byte) => push(&mut state.bytes, byte),
                None => {
                    state.write_bytes(true, chunk.raw, output, &mut text)?;
                    let before = text.len();
                    self.piece(piece, state, output, &mut text)?;
                    state.is_inside |= text.len() > before;
                }
            }
        }
        state.write_bytes(chunk.is_last, chunk.raw, output, &mut text)?;
        chunk.join(text);
        Ok(())
    }

    /// The bytes of a piece that is not the first.
    pub(super) fn inside(&self, piece: &[u8], output: &mut StepOutput<'_>) -> Result<Vec<u8>, DecodeError> {
        let mut text = vec![];
        match self.byte(piece) {
            Some(byte) => push(&mut text, byte),
            None => self.piece(piece, &mut StreamState { bytes: vec![], is_inside: true }, output, &mut text)?,
        }
        Ok(text)
    }

    /// Appends the text of a piece that is not a byte.
    fn piece(
        &self,
        piece: &[u8],
        state: &mut StreamState,
        output: &mut StepOutput<'_>,
        text: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        if self.control.contains(piece) {
            return Ok(());
        }
        if self.unknown.as_deref() == Some(piece) {
            output.charge(self.unknown_text.len())?;
            append(text, &self.unknown_text);
            return Ok(());
        }
        let mut buffer = [0; 4];
        let meta_symbol = META_SYMBOL.encode_utf8(&mut buffer).as_bytes();
        let mut rest = piece;
        if !state.is_inside
            && (self.add_dummy_prefix || self.remove_extra_whitespaces)
            && let Some(after) = piece.strip_prefix(meta_symbol)
        {
            rest = after;
            state.is_inside = !self.remove_extra_whitespaces;
        }
        output.charge(rest.len())?;
        while let Some(at) = memchr::memmem::find(rest, meta_symbol) {
            append(text, &rest[..at]);
            push(text, b' ');
            rest = &rest[at + meta_symbol.len()..];
        }
        append(text, rest);
        Ok(())
    }

    fn byte(&self, piece: &[u8]) -> Option<u8> {
        let [b'<', b'0', b'x', high, low, b'>'] = *piece else { return None };
        let digit = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'A'..=b'F' => Some(digit - b'A' + 10),
            _ => None,
        };
        Some(digit(high)? << 4 | digit(low)?).filter(|_| self.has_bytes)
    }
}

impl StreamState {
    pub(super) fn holds_text(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// Appends the characters of a run of bytes. A byte that is in no character becomes U+FFFD.
    /// Unless the run ends here, an unfinished character at its end stays in the state.
    fn write_bytes(
        &mut self,
        is_end: bool,
        raw: bool,
        output: &mut StepOutput<'_>,
        text: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let count = self.bytes.len() - if is_end { 0 } else { unfinished(&self.bytes) };
        if count == 0 {
            return Ok(());
        }
        self.is_inside = true;
        if raw {
            output.charge(count)?;
            append(text, &self.bytes[..count]);
        } else {
            for part in self.bytes[..count].utf8_chunks() {
                let invalid = part.invalid().len();
                output.charge(part.valid().len() + REPLACEMENT.len() * invalid)?;
                append(text, part.valid().as_bytes());
                (0..invalid).for_each(|_| append(text, REPLACEMENT));
            }
        }
        self.bytes.drain(..count);
        Ok(())
    }
}
