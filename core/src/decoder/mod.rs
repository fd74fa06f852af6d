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

use crate::error::DecodeError;
use crate::memory::fallible::{append, push};
pub(crate) use lossy::from_utf8_lossy;
use lossy::lossy;
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

    /// The text that tokens stand for.
    pub(crate) fn text<'a>(&self, tokens: impl Iterator<Item = &'a [u8]>) -> Result<String, DecodeError> {
        // Where one step does it all, what is no UTF-8 can wait until all bytes are together.
        let whole = matches!(self.steps[..], [Step::ByteLevel | Step::Bytes]);
        Ok(from_utf8_lossy(self.run(tokens, whole)?))
    }

    /// The bytes that tokens stand for, where [`Self::text`] has U+FFFD for those that are no UTF-8. Only a step that
    /// replaces by a regular expression cannot work on such bytes and makes them U+FFFD here too.
    pub(crate) fn bytes<'a>(&self, tokens: impl Iterator<Item = &'a [u8]>) -> Result<Vec<u8>, DecodeError> {
        self.run(tokens, true)
    }

    fn run<'a>(&self, tokens: impl Iterator<Item = &'a [u8]>, raw: bool) -> Result<Vec<u8>, DecodeError> {
        let mut bytes = Vec::new();
        match &self.steps[..] {
            [] => tokens.for_each(|token| append(&mut bytes, token)),
            [Step::Bytes] if raw => tokens.for_each(|token| append(&mut bytes, token)),
            [Step::ByteLevel] if raw => tokens.for_each(|token| steps::push_byte_level(token, &mut bytes)),
            steps => {
                let mut list: Vec<Cow<'a, [u8]>> = vec![];
                tokens.for_each(|token| push(&mut list, Cow::Borrowed(token)));
                for step in steps {
                    list = step.apply(list, raw)?;
                }
                list.iter().for_each(|token| append(&mut bytes, token));
            }
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;
