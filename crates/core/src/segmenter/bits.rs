//! Decoding of characters.

use crate::pretokenizer::unicode::decode_start;

/// The first code point of a text and its length in bytes.
#[inline(always)]
pub(super) fn decode_any(rest: &[u8]) -> (u32, usize) {
    match rest[0] {
        first @ 0..0x80 => (first.into(), 1),
        _ => decode_start(rest),
    }
}
