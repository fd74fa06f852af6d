//! The masks by their definition, byte by byte: what processors without a faster way use, and what the others are held
//! against.

use super::{BLOCK, Masks};

pub(super) fn masks(block: &[u8; BLOCK]) -> Masks {
    let mask = |is: fn(u8) -> bool| block.iter().rev().fold(0, |mask, &byte| mask << 1 | u64::from(is(byte)));
    Masks {
        letters: mask(|byte| byte.is_ascii_alphabetic()),
        digits: mask(|byte| byte.is_ascii_digit()),
        spaces: mask(|byte| matches!(byte, b'\t'..=b'\r' | b' ')),
        blanks: mask(|byte| byte == b' '),
        line_breaks: mask(|byte| byte == b'\n' || byte == b'\r'),
        apostrophes: mask(|byte| byte == b'\''),
        high: mask(|byte| byte >= 0x80),
    }
}
