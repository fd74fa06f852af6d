//! Byte fallback: tokens that stand for a byte of a character that has no token.

use std::borrow::Cow;

use super::Chunk;
use super::lossy::REPLACEMENT;
use crate::memory::Grow;
use crate::memory::fallible::push;

/// A run of byte tokens. It becomes one token if its bytes are valid UTF-8; otherwise each of them
/// becomes U+FFFD. So nothing is certain before the end of a run, except that it is invalid.
#[derive(Debug, Default)]
pub(super) struct ByteRun {
    /// The bytes that are not passed on.
    bytes: Vec<u8>,
    /// The number of them that are known to be whole characters. They are not read again, so that a
    /// long run costs its length.
    valid: usize,
    is_invalid: bool,
}

/// Replaces the byte tokens of a chunk by the texts of their runs.
pub(super) fn replace(chunk: &mut Chunk<'_>, run: &mut ByteRun) {
    if run.is_new() && chunk.tokens.iter().all(|token| byte(token).is_none()) {
        return;
    }
    let mut out = vec![];
    out.grow(chunk.tokens.len());
    for token in std::mem::take(&mut chunk.tokens) {
        match byte(&token) {
            Some(byte) => push(&mut run.bytes, byte),
            None => {
                run.pass_on(true, chunk.raw, &mut out);
                push(&mut out, token);
            }
        }
    }
    run.pass_on(chunk.is_last, chunk.raw, &mut out);
    chunk.tokens = out;
}

impl ByteRun {
    fn is_new(&self) -> bool {
        self.bytes.is_empty() && !self.is_invalid
    }

    pub(super) fn holds_text(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// Appends the tokens that are certain. At the end of the run the state is new again.
    fn pass_on(&mut self, is_end: bool, raw: bool, out: &mut Vec<Cow<'_, [u8]>>) {
        if !self.bytes.is_empty() && !raw {
            match std::str::from_utf8(&self.bytes[self.valid..]) {
                Ok(_) => self.valid = self.bytes.len(),
                Err(error) => {
                    self.valid += error.valid_up_to();
                    self.is_invalid |= is_end || error.error_len().is_some();
                }
            }
            if self.is_invalid {
                out.grow(self.bytes.len());
                out.extend(self.bytes.drain(..).map(|_| Cow::Borrowed(REPLACEMENT)));
                self.valid = 0;
            }
        }
        if is_end {
            let bytes = std::mem::take(self).bytes;
            if !bytes.is_empty() {
                push(out, Cow::Owned(bytes));
            }
        }
    }
}

/// The byte of a token like `<0x41>`. Accepts a sign as the first digit, as Hugging Face tokenizers
/// does.
pub(super) fn byte(token: &[u8]) -> Option<u8> {
    let digits = token.strip_prefix(b"<0x")?.strip_suffix(b">")?;
    if digits.len() != 2 {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
