//! The kernels of [`super::Simd`] with the 128-bit vectors of WebAssembly, 16 bytes at a time.

use std::arch::wasm32::*;
use std::mem::MaybeUninit;

use super::append::APPEND_WIDTH;
use super::cpu::Simd128;
use super::packed::{PackedIds, UNPACK_SHUFFLES};
use super::{BLOCK, Masks};

/// A block in four vectors.
type Quarters = [v128; 4];

/// See [`super::Simd::masks`].
#[inline(always)]
pub(super) fn masks(_: Simd128, block: &[u8; BLOCK]) -> Masks {
    let bytes = load(block);
    let is = |byte: u8| bytes.map(|quarter| u8x16_eq(quarter, u8x16_splat(byte)));
    let within = |bytes: Quarters, first: u8, last: u8| {
        bytes.map(|quarter| u8x16_le(u8x16_sub(quarter, u8x16_splat(first)), u8x16_splat(last - first)))
    };
    let blanks = mask(is(b' '));
    Masks {
        letters: mask(within(bytes.map(|quarter| v128_or(quarter, u8x16_splat(0x20))), b'a', b'z')),
        capitals: mask(within(bytes, b'A', b'Z')),
        digits: mask(within(bytes, b'0', b'9')),
        spaces: mask(within(bytes, b'\t', b'\r')) | blanks,
        blanks,
        line_breaks: mask(is(b'\n')) | mask(is(b'\r')),
        apostrophes: mask(is(b'\'')),
        slashes: mask(is(b'/')),
        visible: mask(within(bytes, b'!', b'~')),
        high: mask(bytes),
    }
}

/// See [`super::Simd::any_bit`].
#[inline(always)]
pub(super) fn any_bit(_: Simd128, block: &[u8; BLOCK], wanted: u8) -> u64 {
    let none = load(block).map(|quarter| u8x16_eq(v128_and(quarter, u8x16_splat(wanted)), u8x16_splat(0)));
    !mask(none)
}

/// See [`super::Simd::match_high_bits`].
#[inline(always)]
pub(super) fn match_high_bits(_: Simd128, numbers: &[u64; 8], shift: u32, wanted: u64) -> u32 {
    let wanted = u64x2_splat(wanted);
    numbers.as_chunks::<2>().0.iter().rev().fold(0, |matches, &[first, second]| {
        let pair = u64x2_shr(u64x2(first, second), shift);
        matches << 2 | u32::from(i64x2_bitmask(i64x2_eq(pair, wanted)))
    })
}

/// See `Simd::unpack`.
#[inline(always)]
pub(super) fn unpack(_: Simd128, packed: &PackedIds, to: &mut [MaybeUninit<u32>; APPEND_WIDTH]) {
    let shuffle = &UNPACK_SHUFFLES[usize::from(packed.is_narrow())];
    // SAFETY: reads 16 bytes, the size of the packed ids, without alignment.
    let packed = unsafe { v128_load(std::ptr::from_ref(packed).cast()) };
    for (shuffle, four) in shuffle.as_chunks::<16>().0.iter().zip(to.as_chunks_mut::<4>().0) {
        // SAFETY: reads and writes 16 bytes, the size of half a shuffle and of four ids, without
        // alignment.
        unsafe { v128_store(four.as_mut_ptr().cast(), u8x16_swizzle(packed, v128_load(shuffle.as_ptr().cast()))) };
    }
}

/// Loads the cache line of `values[at]`; see [`super::touch`].
#[inline(always)]
pub(super) fn touch_at<T>(values: &[T], at: usize) {
    if let Some(value) = values.get(at) {
        // SAFETY: reads the first byte of a value, which exists. Volatile, so that it happens.
        unsafe { std::ptr::from_ref(value).cast::<u8>().read_volatile() };
    }
}

#[inline(always)]
fn load(block: &[u8; BLOCK]) -> Quarters {
    // SAFETY: each load reads 16 bytes and starts at most 48 bytes into the block of 64.
    [0, 16, 32, 48].map(|at| unsafe { v128_load(block[at..].as_ptr().cast()) })
}

/// The highest bit of each byte.
#[inline(always)]
fn mask(bytes: Quarters) -> u64 {
    bytes.iter().rev().fold(0, |mask, &quarter| mask << 16 | u64::from(u8x16_bitmask(quarter)))
}
