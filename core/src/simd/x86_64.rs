//! The masks by AVX2, 32 bytes at a time, and by AVX-512, 64 at a time.

use std::arch::x86_64::*;

use super::{BLOCK, Masks};

/// # Safety
/// The processor has AVX2, BMI 1 and 2, LZCNT and POPCNT.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn run_avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// # Safety
/// The processor has what [`run_avx2`] asks for, and AVX-512 F, BW and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn run_avx512<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn masks_avx2(block: &[u8; BLOCK]) -> Masks {
    let [low, high] = [0, BLOCK / 2].map(|at| {
        let half: &[u8; BLOCK / 2] = block[at..].first_chunk().expect("a block has two halves");
        // SAFETY: reads 32 bytes, which is what `half` has; the load needs no alignment.
        half_masks(unsafe { _mm256_loadu_si256(half.as_ptr().cast()) })
    });
    let both = |of: fn(&Half) -> i32| u64::from(of(&low) as u32) | u64::from(of(&high) as u32) << 32;
    Masks {
        letters: both(|half| half.letters),
        digits: both(|half| half.digits),
        spaces: both(|half| half.spaces),
        blanks: both(|half| half.blanks),
        line_breaks: both(|half| half.line_breaks),
        apostrophes: both(|half| half.apostrophes),
        high: both(|half| half.high),
    }
}

struct Half {
    letters: i32,
    digits: i32,
    spaces: i32,
    blanks: i32,
    line_breaks: i32,
    apostrophes: i32,
    high: i32,
}

#[target_feature(enable = "avx2")]
fn half_masks(bytes: __m256i) -> Half {
    let splat = |byte: u8| _mm256_set1_epi8(byte as i8);
    let is = |byte: u8| _mm256_cmpeq_epi8(bytes, splat(byte));
    // first <= bytes <= last, unsigned: what lies outside stays outside when moved to zero and cut at the width.
    let within = |bytes: __m256i, first: u8, last: u8| {
        let moved = _mm256_sub_epi8(bytes, splat(first));
        _mm256_cmpeq_epi8(_mm256_min_epu8(moved, splat(last - first)), moved)
    };
    let mask = |truth: __m256i| _mm256_movemask_epi8(truth);
    let blanks = is(b' ');
    Half {
        letters: mask(within(_mm256_or_si256(bytes, splat(0x20)), b'a', b'z')),
        digits: mask(within(bytes, b'0', b'9')),
        spaces: mask(_mm256_or_si256(within(bytes, b'\t', b'\r'), blanks)),
        blanks: mask(blanks),
        line_breaks: mask(_mm256_or_si256(is(b'\n'), is(b'\r'))),
        apostrophes: mask(is(b'\'')),
        high: mask(bytes),
    }
}

/// # Safety
/// The processor has AVX-512 BW.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) unsafe fn masks_avx512(block: &[u8; BLOCK]) -> Masks {
    // SAFETY: reads 64 bytes, which is what `block` has; the load needs no alignment.
    let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    let splat = |byte: u8| _mm512_set1_epi8(byte as i8);
    let is = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, splat(byte));
    let within = |bytes: __m512i, first: u8, last: u8| {
        _mm512_cmple_epu8_mask(_mm512_sub_epi8(bytes, splat(first)), splat(last - first))
    };
    let blanks = is(b' ');
    Masks {
        letters: within(_mm512_or_si512(bytes, splat(0x20)), b'a', b'z'),
        digits: within(bytes, b'0', b'9'),
        spaces: within(bytes, b'\t', b'\r') | blanks,
        blanks,
        line_breaks: is(b'\n') | is(b'\r'),
        apostrophes: is(b'\''),
        high: _mm512_movepi8_mask(bytes),
    }
}
