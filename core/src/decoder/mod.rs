//! Ids become text again: each id's token, then what the file says joins them.
//!
//! - [`steps`]: one component of a decoder, which makes tokens of tokens.
//! - [`stream`]: the same, for tokens that come one after the other.
//!
//! Behaviour follows Hugging Face tokenizers 0.23, for rank files tiktoken.

mod lossy;
mod steps;
pub(crate) mod stream;

use std::borrow::Cow;

use crate::budget::Budget;
use crate::error::DecodeError;
pub(crate) use lossy::from_utf8_lossy;
use steps::Room;
pub(crate) use steps::{Step, Strip};

/// How tokens become text: steps, one after the other, and in the end all tokens are joined.
#[derive(Debug)]
pub(crate) struct Decoder {
    steps: Vec<Step>,
}

impl Decoder {
    pub(crate) fn new(steps: Vec<Step>) -> Self {
        Self { steps }
    }

    /// The text that tokens stand for. Fails if it is longer than the budget allows, after any of the steps.
    pub(crate) fn text<'a>(
        &self,
        tokens: impl Iterator<Item = &'a [u8]>,
        budget: Budget,
    ) -> Result<String, DecodeError> {
        // Where one step does it all, what is no UTF-8 can wait until all bytes are together.
        let whole = matches!(self.steps[..], [Step::ByteLevel | Step::Bytes]);
        Ok(from_utf8_lossy(self.run(tokens, whole, budget)?))
    }

    /// The bytes that tokens stand for, where [`Self::text`] has U+FFFD for those that are no UTF-8. Only a step that
    /// replaces by a regular expression cannot work on such bytes and makes them U+FFFD here too.
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
        // Before a token is written, whether all tokens up to it may be as long as they are.
        let check = |before: usize, token: &[u8]| match token.len() <= limit - before.min(limit) {
            true => Ok(()),
            false => Err(DecodeError::OutputLimit { reached: before.saturating_add(token.len()), limit }),
        };
        match &self.steps[..] {
            [] => {
                for token in tokens {
                    check(bytes.len(), token)?;
                    bytes.extend_from_slice(token);
                }
            }
            [Step::Bytes] if raw => {
                for token in tokens {
                    check(bytes.len(), token)?;
                    bytes.extend_from_slice(token);
                }
            }
            [Step::ByteLevel] if raw => {
                for token in tokens {
                    check(bytes.len(), token)?;
                    steps::push_byte_level(token, &mut bytes);
                }
            }
            steps => {
                let (mut list, mut taken): (Vec<Cow<'a, [u8]>>, usize) = Default::default();
                for token in tokens {
                    check(taken, token)?;
                    taken += token.len();
                    list.push(Cow::Borrowed(token));
                }
                for step in steps {
                    list = step.apply(list, raw, &mut Room::new(&mut budget, 0))?;
                }
                list.iter().for_each(|token| bytes.extend_from_slice(token));
            }
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;
