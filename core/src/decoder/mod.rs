//! Ids become text again: each id's token, then what the file says joins them.

mod lossy;

use crate::byte_level;
use crate::error::DecodeError;
pub(crate) use lossy::from_utf8_lossy;

/// How tokens become text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decoder {
    /// No decoder: tokens with a space between each two.
    Spaces,
    /// Printable characters back to bytes; a token with any other character stands as it is.
    ByteLevel,
    /// A rank file's: tokens are bytes already.
    Bytes,
}

/// Behaviour follows Hugging Face tokenizers 0.23, for [`Decoder::Bytes`] tiktoken.
impl Decoder {
    /// The bytes that the tokens stand for, before anything is made of bytes that are no UTF-8.
    pub(crate) fn bytes<'a>(&self, tokens: impl Iterator<Item = &'a [u8]>) -> Result<Vec<u8>, DecodeError> {
        let mut bytes = Vec::new();
        match self {
            Self::Bytes => tokens.for_each(|token| bytes.extend_from_slice(token)),
            Self::Spaces => {
                for (place, token) in tokens.enumerate() {
                    bytes.extend((place > 0).then_some(b' '));
                    bytes.extend_from_slice(token);
                }
            }
            Self::ByteLevel => tokens.for_each(|token| push_byte_level(token, &mut bytes)),
        }
        Ok(bytes)
    }
}

fn push_byte_level(token: &[u8], bytes: &mut Vec<u8>) {
    let before = bytes.len();
    let text = std::str::from_utf8(token).expect("the tokens of a tokenizer.json are strings");
    for character in text.chars() {
        match byte_level::byte_of(character) {
            Some(byte) => bytes.push(byte),
            None => {
                bytes.truncate(before);
                bytes.extend_from_slice(token);
                return;
            }
        }
    }
}
