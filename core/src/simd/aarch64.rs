//! The masks by NEON, 16 bytes at a time.

use std::arch::aarch64::*;
use std::mem::MaybeUninit;

use super::append::APPEND_WIDTH;
use super::packed::{PackedIds, UNPACK_SHUFFLES};
use super::{BLOCK, Masks};

/// A block in four registers.
type Quarters = [uint8x16_t; 4];

/// # Safety
/// The processor has NEON.
#[target_feature(enable = "neon")]
#[inline]
pub(super) unsafe fn masks(block: &[u8; BLOCK]) -> Masks {
    let bytes = load(block);
    let is = |byte: u8| bytes.map(|quarter| vceqq_u8(quarter, vdupq_n_u8(byte)));
    let within = |bytes: Quarters, first: u8, last: u8| {
        bytes.map(|quarter| vcleq_u8(vsubq_u8(quarter, vdupq_n_u8(first)), vdupq_n_u8(last - first)))
    };
    let blanks = mask(is(b' '));
    Masks {
        letters: mask(within(bytes.map(|quarter| vorrq_u8(quarter, vdupq_n_u8(0x20))), b'a', b'z')),
        capitals: mask(within(bytes, b'A', b'Z')),
        digits: mask(within(bytes, b'0', b'9')),
        spaces: mask(within(bytes, b'\t', b'\r')) | blanks,
        blanks,
        line_breaks: mask(is(b'\n')) | mask(is(b'\r')),
        apostrophes: mask(is(b'\'')),
        slashes: mask(is(b'/')),
        visible: mask(within(bytes, b'!', b'~')),
        high: mask(within(bytes, 0x80, 0xFF)),
    }
}

/// # Safety
/// The processor has NEON.
#[target_feature(enable = "neon")]
#[inline]
pub(super) unsafe fn any_bit(block: &[u8; BLOCK], wanted: u8) -> u64 {
    mask(load(block).map(|quarter| vtstq_u8(quarter, vdupq_n_u8(wanted))))
}

/// # Safety
/// The processor has NEON.
#[target_feature(enable = "neon")]
#[inline]
pub(super) unsafe fn unpack(packed: &PackedIds, room: &mut [MaybeUninit<u32>; APPEND_WIDTH]) {
    let from = &UNPACK_SHUFFLES[usize::from(packed.is_narrow())];
    // SAFETY: reads 16 bytes, which is what it has.
    let packed = unsafe { vld1q_u8(packed.bytes().as_ptr()) };
    for (from, four) in from.as_chunks::<16>().0.iter().zip(room.as_chunks_mut::<4>().0) {
        // SAFETY: reads 16 bytes and writes as many, which is what a chunk of the constant and four numbers have.
        unsafe { vst1q_u8(four.as_mut_ptr().cast(), vqtbl1q_u8(packed, vld1q_u8(from.as_ptr()))) };
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn load(block: &[u8; BLOCK]) -> Quarters {
    // SAFETY: each reads 16 bytes, and the block has four times as many; the load needs no alignment.
    [0, 16, 32, 48].map(|at| unsafe { vld1q_u8(block[at..].as_ptr()) })
}

/// A bit for each byte, which is all ones or all zeros: every byte keeps the bit of its place among eight, then neighbours
/// are added until eight are one byte.
#[target_feature(enable = "neon")]
#[inline]
fn mask(truth: Quarters) -> u64 {
    const PLACES: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: reads 16 bytes, which is what the constant has.
    let places = unsafe { vld1q_u8(PLACES.as_ptr()) };
    let [a, b, c, d] = truth.map(|quarter| vandq_u8(quarter, places));
    let sum = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)))
}
