//! Helpers for masks and for decoding characters.

use crate::pretokenizer::unicode::decode_start;

/// The bits below the lowest set bit; all bits if none is set.
#[inline(always)]
pub(super) fn below(mask: u64) -> u64 {
    mask.wrapping_sub(1) & !mask
}

/// The first code point of a text and its length in bytes.
#[inline(always)]
pub(super) fn decode_any(rest: &[u8]) -> (u32, usize) {
    match rest[0] {
        first @ 0..0x80 => (first.into(), 1),
        _ => decode_start(rest),
    }
}
