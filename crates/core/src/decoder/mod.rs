//! Decodes ids to text: maps each id to its token, then runs the file's decoder on the tokens.
//!
//! - [`steps`]: the components of a decoder; each maps a list of tokens to another list.
//! - [`sentencepiece`]: the decoder of SentencePiece files.
//! - [`flow`]: the same steps for tokens that arrive one after the other.
//! - [`token_table`]: the text of each id, for decoders that only join the texts of their tokens.
//!
//! The behaviour is that of Hugging Face tokenizers 0.23; for rank files, that of tiktoken.

pub(crate) mod flow;
mod lossy;
pub(crate) mod sentencepiece;
mod step_budget;
mod steps;
pub(crate) mod token_table;
mod utf16;

use std::borrow::Cow;
use std::sync::Arc;

use crate::budget::Budget;
use crate::error::DecodeError;
use crate::memory::Grow;
use crate::memory::fallible::{append, push};
pub(crate) use lossy::from_utf8_lossy;
use step_budget::StepBudget;
pub(crate) use steps::{Step, StripEnds};
pub use utf16::to_utf16;

/// A decoder: a sequence of steps. At the end all tokens are joined.
#[derive(Debug)]
pub(crate) struct Decoder {
    steps: Vec<Step>,
}

impl Decoder {
    pub(crate) fn new(steps: Vec<Step>) -> Self {
        Self { steps }
    }

    /// The decoder of a SentencePiece file.
    pub(crate) fn as_sentencepiece(&self) -> Option<&Arc<sentencepiece::SentencePieceDecoder>> {
        if let [Step::SentencePiece(decoder)] = &self.steps[..] { Some(decoder) } else { None }
    }

    /// Whether the bytes of a text are those of its tokens, each mapped separately.
    pub(crate) fn joins_mapped_tokens(&self) -> bool {
        matches!(self.steps[..], [] | [Step::Bytes | Step::ByteLevel])
    }

    /// Appends the text of one token, for such a decoder.
    pub(crate) fn append_mapped(&self, token: &[u8], bytes: &mut Vec<u8>) {
        match self.steps[..] {
            [Step::ByteLevel] => steps::push_byte_level(token, bytes),
            _ => append(bytes, token),
        }
    }

    /// Decodes tokens to text. Fails if the text is longer than the budget allows, after any of the
    /// steps.
    pub(crate) fn text<'a>(
        &self,
        tokens: impl Iterator<Item = &'a [u8]>,
        budget: Budget,
    ) -> Result<String, DecodeError> {
        // With a single step of these kinds, invalid UTF-8 can be replaced after all bytes are
        // joined.
        let whole = matches!(self.steps[..], [Step::ByteLevel | Step::Bytes]);
        Ok(from_utf8_lossy(self.run(tokens, whole, budget)?))
    }

    /// Decodes tokens to bytes, without replacing invalid UTF-8 by U+FFFD. Only a step that
    /// replaces by a regular expression needs text, and replaces invalid UTF-8 here too.
    pub(crate) fn bytes<'a>(
        &self,
        tokens: impl Iterator<Item = &'a [u8]>,
        budget: Budget,
    ) -> Result<Vec<u8>, DecodeError> {
        self.run(tokens, true, budget)
    }

    fn run<'a>(
        &self,
        tokens: impl Iterator<Item = &'a [u8]>,
        raw: bool,
        mut budget: Budget,
    ) -> Result<Vec<u8>, DecodeError> {
        let mut bytes = Vec::new();
        let limit = budget.limit();
        let exceeds = |reached: usize| match reached <= limit {
            true => Ok(()),
            false => Err(DecodeError::OutputLimit { component: "the decoder", reached, limit }),
        };
        // The limit is checked before memory grows, which is rare, and once more at the end.
        let make_room = |bytes: &mut Vec<u8>, more: usize| {
            if more <= bytes.capacity() - bytes.len() {
                return Ok(());
            }
            exceeds(bytes.len().saturating_add(more))?;
            bytes.grow(more);
            Ok(())
        };
        match &self.steps[..] {
            [] => copy(tokens, &mut bytes, make_room)?,
            [Step::Bytes] if raw => copy(tokens, &mut bytes, make_room)?,
            [Step::ByteLevel] if raw => {
                for token in tokens {
                    make_room(&mut bytes, token.len())?;
                    steps::push_byte_level(token, &mut bytes);
                }
            }
            steps => {
                let (mut list, mut taken): (Vec<Cow<'a, [u8]>>, usize) = Default::default();
                for token in tokens {
                    taken = token.len().saturating_add(taken);
                    exceeds(taken)?;
                    push(&mut list, Cow::Borrowed(token));
                }
                for step in steps {
                    list = step.apply(list, raw, &mut StepBudget::new(&mut budget, 0))?;
                }
                list.iter().for_each(|token| append(&mut bytes, token));
                return Ok(bytes);
            }
        }
        exceeds(bytes.len())?;
        Ok(bytes)
    }
}

/// Appends tokens unchanged. `make_room` reserves memory for a number of bytes.
fn copy<'a>(
    mut tokens: impl Iterator<Item = &'a [u8]>,
    bytes: &mut Vec<u8>,
    make_room: impl Fn(&mut Vec<u8>, usize) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    tokens.try_for_each(|token| {
        make_room(bytes, token.len())?;
        bytes.extend_from_slice(token);
        Ok(())
    })
}

#[cfg(test)]
mod tests;
