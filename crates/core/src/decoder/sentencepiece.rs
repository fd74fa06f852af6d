//! Decodes the pieces of a SentencePiece model to text, like `Decode` of the `sentencepiece`
//! library.
//!
//! - A control piece yields nothing.
//! - The unknown piece yields the text that the model states for it.
//! - A run of byte pieces yields the characters whose UTF-8 it is.
//! - `▁` yields a space. If the normalizer inserts a `▁` at the start, it is removed there; all of
//!   them are removed if the normalizer removes extra white space.

use std::collections::HashSet;

use super::lossy::REPLACEMENT;
use super::step_budget::StepBudget;
use crate::error::DecodeError;
use crate::memory::fallible::{append, push};
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
    /// Appends the text that is certain after this piece. With `raw`, invalid UTF-8 is kept.
    pub(super) fn piece(
        &self,
        state: &mut StreamState,
        piece: &[u8],
        raw: bool,
        budget: &mut StepBudget<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        if let Some(byte) = self.byte(piece) {
            push(&mut state.bytes, byte);
            return write_bytes(state, raw, false, budget, out);
        }
        write_bytes(state, raw, true, budget, out)?;
        let before = out.len();
        if self.control.contains(piece) {
            return Ok(());
        }
        if self.unknown.as_deref() == Some(piece) {
            budget.charge(self.unknown_text.len())?;
            append(out, &self.unknown_text);
        } else {
            let mut buffer = [0; 4];
            let meta_symbol = META_SYMBOL.encode_utf8(&mut buffer).as_bytes();
            let may_remove = !state.is_inside && (self.add_dummy_prefix || self.remove_extra_whitespaces);
            let rest = piece.strip_prefix(meta_symbol).filter(|_| may_remove);
            state.is_inside |= rest.is_some() && !self.remove_extra_whitespaces;
            let mut rest = rest.unwrap_or(piece);
            budget.charge(rest.len())?;
            while let Some(at) = memchr::memmem::find(rest, meta_symbol) {
                append(out, &rest[..at]);
                push(out, b' ');
                rest = &rest[at + meta_symbol.len()..];
            }
            append(out, rest);
        }
        state.is_inside |= out.len() > before;
        Ok(())
    }

    /// Appends the rest of the text, and resets the state.
    pub(super) fn end(
        &self,
        state: &mut StreamState,
        raw: bool,
        budget: &mut StepBudget<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        write_bytes(state, raw, true, budget, out)?;
        *state = StreamState::default();
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

/// Writes the characters of a run of bytes. A byte that starts no character becomes U+FFFD. Unless
/// the run ends here, an unfinished character at its end stays in the state.
fn write_bytes(
    state: &mut StreamState,
    raw: bool,
    is_end: bool,
    budget: &mut StepBudget<'_>,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let (mut at, before) = (0, out.len());
    while at < state.bytes.len() {
        let rest = &state.bytes[at..state.bytes.len().min(at + 4)];
        let valid = match std::str::from_utf8(rest) {
            Ok(text) => text.chars().next().map_or(0, char::len_utf8),
            Err(error) if error.valid_up_to() > 0 => {
                let valid = &rest[..error.valid_up_to()];
                std::str::from_utf8(valid).ok().and_then(|text| text.chars().next()).map_or(0, char::len_utf8)
            }
            Err(error) if error.error_len().is_none() && !is_end => break,
            Err(_) => 0,
        };
        let (written, length) = match valid {
            0 if raw => (&rest[..1], 1),
            0 => (REPLACEMENT, 1),
            length => (&rest[..length], length),
        };
        budget.charge(written.len())?;
        append(out, written);
        at += length;
    }
    state.bytes.drain(..at);
    state.is_inside |= out.len() > before;
    Ok(())
}
