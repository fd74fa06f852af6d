//! The kernels of [`super::Simd`] with NEON, 16 bytes at a time.

use std::arch::aarch64::*;
use std::mem::MaybeUninit;

use super::append::APPEND_WIDTH;
use super::cpu::Neon;
use super::packed::{PackedIds, UNPACK_SHUFFLES};
use super::{BLOCK, Masks};

/// A block in four registers.
type Quarters = [uint8x16_t; 4];

/// See [`super::Simd::masks`].
#[inline(always)]
pub(super) fn masks(_: Neon, block: &[u8; BLOCK]) -> Masks {
    #[target_feature(enable = "neon")]
    #[inline]
    fn masks(block: &[u8; BLOCK]) -> Masks {
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
    // SAFETY: `Neon` proves that the CPU has the instructions.
    unsafe { masks(block) }
}

/// See [`super::Simd::any_bit`].
#[inline(always)]
pub(super) fn any_bit(_: Neon, block: &[u8; BLOCK], wanted: u8) -> u64 {
    #[target_feature(enable = "neon")]
    #[inline]
    fn any_bit(block: &[u8; BLOCK], wanted: u8) -> u64 {
        mask(load(block).map(|quarter| vtstq_u8(quarter, vdupq_n_u8(wanted))))
    }
    // SAFETY: `Neon` proves that the CPU has the instructions.
    unsafe { any_bit(block, wanted) }
}

/// See `Simd::unpack`.
#[inline(always)]
pub(super) fn unpack(_: Neon, packed: &PackedIds, to: &mut [MaybeUninit<u32>; APPEND_WIDTH]) {
    #[target_feature(enable = "neon")]
    #[inline]
    fn unpack(packed: &PackedIds, to: &mut [MaybeUninit<u32>; APPEND_WIDTH]) {
        let shuffle = &UNPACK_SHUFFLES[usize::from(packed.is_narrow())];
        // SAFETY: reads 16 bytes, the size of the packed ids.
        let packed = unsafe { vld1q_u8(std::ptr::from_ref(packed).cast()) };
        for (shuffle, four) in shuffle.as_chunks::<16>().0.iter().zip(to.as_chunks_mut::<4>().0) {
            // SAFETY: reads and writes 16 bytes, the size of half a shuffle and of four ids.
            unsafe { vst1q_u8(four.as_mut_ptr().cast(), vqtbl1q_u8(packed, vld1q_u8(shuffle.as_ptr()))) };
        }
    }
    // SAFETY: `Neon` proves that the CPU has the instructions.
    unsafe { unpack(packed, to) }
}

#[target_feature(enable = "neon")]
#[inline]
fn load(block: &[u8; BLOCK]) -> Quarters {
    // SAFETY: each load reads 16 bytes and starts at most 48 bytes into the block of 64.
    [0, 16, 32, 48].map(|at| unsafe { vld1q_u8(block[at..].as_ptr()) })
}

/// One bit per byte of a comparison's result, whose bytes are all ones or all zeros. Each byte
/// keeps one bit, that of its position in a group of eight; pairwise additions then join each
/// group.
#[target_feature(enable = "neon")]
#[inline]
fn mask(truth: Quarters) -> u64 {
    const LANE_BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: reads 16 bytes, the size of the constant.
    let bits = unsafe { vld1q_u8(LANE_BITS.as_ptr()) };
    let [a, b, c, d] = truth.map(|quarter| vandq_u8(quarter, bits));
    let sum = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)))
}
