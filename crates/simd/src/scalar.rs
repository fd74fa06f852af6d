//! The kernels of [`super::Simd`] byte by byte. They run on CPUs without a faster level, and tests
//! compare the other levels with them.

use std::mem::MaybeUninit;

use super::append::APPEND_WIDTH;
use super::packed::PackedIds;
use super::{BLOCK, Masks};

fn mask(block: &[u8; BLOCK], is: impl Fn(u8) -> bool) -> u64 {
    block.iter().rev().fold(0, |mask, &byte| mask << 1 | u64::from(is(byte)))
}

/// See [`super::Simd::any_bit`].
pub(super) fn any_bit(block: &[u8; BLOCK], wanted: u8) -> u64 {
    mask(block, |byte| byte & wanted != 0)
}

/// See [`super::Simd::match_high_bits`].
pub(super) fn match_high_bits(numbers: &[u64; 8], shift: u32, wanted: u64) -> u32 {
    numbers.iter().rev().fold(0, |mask, &number| mask << 1 | u32::from(number >> shift == wanted))
}

/// See `Simd::unpack`.
pub(super) fn unpack(packed: &PackedIds, to: &mut [MaybeUninit<u32>; APPEND_WIDTH]) {
    to.iter_mut().zip(packed.ids()).for_each(|(to, id)| _ = to.write(id));
}

/// See [`super::Simd::masks`].
pub(super) fn masks(block: &[u8; BLOCK]) -> Masks {
    let mask = |is: fn(u8) -> bool| mask(block, is);
    Masks {
        letters: mask(|byte| byte.is_ascii_alphabetic()),
        capitals: mask(|byte| byte.is_ascii_uppercase()),
        digits: mask(|byte| byte.is_ascii_digit()),
        spaces: mask(|byte| matches!(byte, b'\t'..=b'\r' | b' ')),
        blanks: mask(|byte| byte == b' '),
        line_breaks: mask(|byte| byte == b'\n' || byte == b'\r'),
        apostrophes: mask(|byte| byte == b'\''),
        slashes: mask(|byte| byte == b'/'),
        visible: mask(|byte| byte.is_ascii_graphic()),
        high: mask(|byte| byte >= 0x80),
    }
}
