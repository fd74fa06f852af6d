//! Splitting a text into pieces, as `lib/split.js` requests and reads them.

#[cfg(feature = "napi")]
use napi_derive::napi;
use serde::Deserialize;
use tokenlane_core::batch::Cancel;
use tokenlane_core::memory::Grow;
use tokenlane_core::split::{Boundary, Limits, PieceRequest, Progress, Stopped};
use tokenlane_core::{EncodeError, EncodeOptions, Text, Tokenizer};

/// The requested pieces. `lib/options.js` has validated the numbers.
#[cfg_attr(feature = "napi", napi(object))]
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SplitRequest {
    /// Maximum number of ids of a piece.
    pub max_tokens: u32,
    /// Maximum number of ids that two consecutive pieces share.
    pub overlap: u32,
    /// Where pieces may end: 0 after any token, 1 after sentences, 2 after lines, 3 after words.
    pub boundary: u32,
    /// Start of the next piece, in UTF-16 units.
    pub start: u32,
    /// End of the last piece, in UTF-16 units.
    pub covered: u32,
    /// Whether the text is complete, so that no more text follows.
    pub is_end: bool,
}

/// Splits a text. The result has start, end and number of ids of each piece; then the start of the
/// next piece, the end of the last one, and the reason why there are no more pieces: 0 the end of
/// the text, 1 the special tokens alone exceed the limit, 2 the ids of the next character do.
pub fn pieces(
    tokenizer: &Tokenizer,
    text: Text<'_>,
    options: &EncodeOptions,
    request: &SplitRequest,
    cancel: Option<&Cancel>,
) -> Result<Vec<u32>, EncodeError> {
    let limits = Limits {
        max_tokens: request.max_tokens as usize,
        overlap: request.overlap as usize,
        boundary: match request.boundary {
            1 => Boundary::Sentence,
            2 => Boundary::Line,
            3 => Boundary::Word,
            _ => Boundary::Token,
        },
    };
    let progress = Progress { start: request.start as usize, covered: request.covered as usize };
    let request = PieceRequest { limits, progress, is_end: request.is_end, cancel };
    let found = tokenizer.split(text, &request, options)?;
    let stopped = match found.stopped {
        Stopped::AtEnd | Stopped::Cancelled => 0,
        Stopped::SpecialTokens => 1,
        Stopped::Character => 2,
    };
    let numbers = found.pieces.iter().flat_map(|piece| [piece.start, piece.end, piece.tokens]);
    let rest = [found.progress.start, found.progress.covered, stopped];
    // Every number fits into 32 bits, because a string has fewer than 2^30 UTF-16 units.
    let mut words: Vec<u32> = vec![];
    words.try_grow(3 * found.pieces.len() + 3)?;
    words.extend(numbers.chain(rest).map(|number| number as u32));
    Ok(words)
}
