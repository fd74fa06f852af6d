//! Encoding a part of a text between two cuts, as `lib/live.js` requests and reads it.

#[cfg(feature = "napi")]
use napi_derive::napi;
use serde::Deserialize;
use tokenlane_core::cuts::{PartEnd, PartRequest};
use tokenlane_core::memory::Grow;
use tokenlane_core::{EncodeError, EncodeOptions, Text, Tokenizer};

/// The requested part.
#[cfg_attr(feature = "napi", napi(object))]
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextPartRequest {
    /// Whether the part starts the text.
    pub starts_text: bool,
    /// What follows it: 0 nothing, 1 a cut and more text, 2 text that is not known yet.
    pub end: u32,
    /// Minimum length of a chunk, in UTF-16 units.
    pub chunk_len: u32,
    /// Whether the start of each token is wanted.
    pub offsets: bool,
}

/// Encodes a part of a text. The result has 1 if the tokenizer has cuts, else 0; the number of
/// chunks; the end of each chunk and the number of ids up to it; the ids; and, if requested, the
/// start of each token in its chunk.
pub fn encode(
    tokenizer: &Tokenizer,
    text: Text<'_>,
    options: &EncodeOptions,
    request: &TextPartRequest,
) -> Result<Vec<u32>, EncodeError> {
    let TextPartRequest { starts_text, end, chunk_len, offsets } = *request;
    let end = match end {
        0 => PartEnd::Text,
        1 => PartEnd::Cut,
        _ => PartEnd::Open,
    };
    let request = PartRequest { starts_text, end, chunk_len: chunk_len as usize, offsets };
    let part = tokenizer.encode_part(text, &request, options)?;
    let mut words: Vec<u32> = vec![];
    words.try_grow(2 + 2 * part.chunks.len() + part.ids.len() + part.starts.len())?;
    words.extend([part.has_cuts.into(), part.chunks.len() as u32]);
    words.extend(part.chunks.iter().flatten().map(|&number| number as u32));
    words.extend_from_slice(&part.ids);
    words.extend_from_slice(&part.starts);
    Ok(words)
}
