//! The masks by AVX2, 32 bytes at a time, and by AVX-512, 64 at a time; bits moved by BMI 2.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::append::APPEND_WIDTH;
use super::packed::{PackedIds, UNPACK_SHUFFLES};
use super::{BLOCK, Masks};

/// # Safety
/// The processor has AVX2, BMI 1 and 2, LZCNT and POPCNT.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn run_avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// # Safety
/// The processor has what [`run_avx2`] asks for, and AVX-512 F, BW, CD, DQ, VL and VBMI2.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn run_avx512<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn masks_avx2(block: &[u8; BLOCK]) -> Masks {
    let [low, high] = halves(block).map(|half| half_masks(half));
    let both = |of: fn(&Half) -> i32| join(of(&low), of(&high));
    Masks {
        letters: both(|half| half.letters),
        capitals: both(|half| half.capitals),
        digits: both(|half| half.digits),
        spaces: both(|half| half.spaces),
        blanks: both(|half| half.blanks),
        line_breaks: both(|half| half.line_breaks),
        apostrophes: both(|half| half.apostrophes),
        slashes: both(|half| half.slashes),
        visible: both(|half| half.visible),
        high: both(|half| half.high),
    }
}

struct Half {
    letters: i32,
    capitals: i32,
    digits: i32,
    spaces: i32,
    blanks: i32,
    line_breaks: i32,
    apostrophes: i32,
    slashes: i32,
    visible: i32,
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
        capitals: mask(within(bytes, b'A', b'Z')),
        digits: mask(within(bytes, b'0', b'9')),
        spaces: mask(_mm256_or_si256(within(bytes, b'\t', b'\r'), blanks)),
        blanks: mask(blanks),
        line_breaks: mask(_mm256_or_si256(is(b'\n'), is(b'\r'))),
        apostrophes: mask(is(b'\'')),
        slashes: mask(is(b'/')),
        visible: mask(within(bytes, b'!', b'~')),
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
        capitals: within(bytes, b'A', b'Z'),
        digits: within(bytes, b'0', b'9'),
        spaces: within(bytes, b'\t', b'\r') | blanks,
        blanks,
        line_breaks: is(b'\n') | is(b'\r'),
        apostrophes: is(b'\''),
        slashes: is(b'/'),
        visible: within(bytes, b'!', b'~'),
        high: _mm512_movepi8_mask(bytes),
    }
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn match_high_bits_avx2(numbers: &[u64; 8], shift: u32, wanted: u64) -> u32 {
    let (fours, _) = numbers.as_chunks::<4>();
    let shift = _mm_cvtsi32_si128(shift as i32);
    let wanted = _mm256_set1_epi64x(wanted as i64);
    let mask = |four: &[u64; 4]| {
        // SAFETY: reads 32 bytes, which is what four numbers have; the load needs no alignment.
        let four = unsafe { _mm256_loadu_si256(four.as_ptr().cast()) };
        let same = _mm256_cmpeq_epi64(_mm256_srl_epi64(four, shift), wanted);
        _mm256_movemask_pd(_mm256_castsi256_pd(same)) as u32
    };
    mask(&fours[0]) | mask(&fours[1]) << 4
}

/// # Safety
/// The processor has AVX-512 F.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) unsafe fn match_high_bits_avx512(numbers: &[u64; 8], shift: u32, wanted: u64) -> u32 {
    // SAFETY: reads 64 bytes, which is what `numbers` has; the load needs no alignment.
    let numbers = unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) };
    let upper = _mm512_srl_epi64(numbers, _mm_cvtsi32_si128(shift as i32));
    _mm512_cmpeq_epi64_mask(upper, _mm512_set1_epi64(wanted as i64)).into()
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn unpack(packed: &PackedIds, room: &mut [MaybeUninit<u32>; APPEND_WIDTH]) {
    let from = &UNPACK_SHUFFLES[usize::from(packed.is_narrow())];
    // SAFETY: reads 16 and 32 bytes, which is what they have; the loads need no alignment.
    let (packed, from) =
        unsafe { (_mm_loadu_si128(packed.bytes().as_ptr().cast()), _mm256_loadu_si256(from.as_ptr().cast())) };
    let numbers = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(packed), from);
    // SAFETY: writes 32 bytes, which is what `room` has; the store needs no alignment.
    unsafe { _mm256_storeu_si256(room.as_mut_ptr().cast(), numbers) };
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn any_bit_avx2(block: &[u8; BLOCK], wanted: u8) -> u64 {
    let wanted = _mm256_set1_epi8(wanted as i8);
    let [low, high] = halves(block)
        .map(|bytes| _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(bytes, wanted), _mm256_setzero_si256())));
    !join(low, high)
}

#[target_feature(enable = "avx2")]
#[inline]
fn halves(block: &[u8; BLOCK]) -> [__m256i; 2] {
    [0, BLOCK / 2].map(|at| {
        let half: &[u8; BLOCK / 2] = block[at..].first_chunk().expect("a block has two halves");
        // SAFETY: reads 32 bytes, which is what `half` has; the load needs no alignment.
        unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }
    })
}

fn join(low: i32, high: i32) -> u64 {
    u64::from(low as u32) | u64::from(high as u32) << 32
}

/// # Safety
/// The processor has AVX-512 BW.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) unsafe fn any_bit_avx512(block: &[u8; BLOCK], wanted: u8) -> u64 {
    // SAFETY: reads 64 bytes, which is what `block` has; the load needs no alignment.
    let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    _mm512_test_epi8_mask(bytes, _mm512_set1_epi8(wanted as i8))
}

/// Writes the places of the bits of `mask`, counted from `base`, and something behind them.
///
/// # Safety
/// The processor has AVX-512 F, BW and VBMI2.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
#[inline]
pub(super) unsafe fn write_positions(mask: u64, base: u32, room: &mut [MaybeUninit<u32>; BLOCK]) {
    const ALL: [u8; BLOCK] = {
        let mut all = [0; BLOCK];
        let mut at = 0;
        while at < BLOCK {
            all[at] = at as u8;
            at += 1;
        }
        all
    };
    // SAFETY: reads 64 bytes, which is what `ALL` has; the load needs no alignment.
    let all = unsafe { _mm512_loadu_si512(ALL.as_ptr().cast()) };
    let places = _mm512_maskz_compress_epi8(mask, all);
    let quarters = [
        _mm512_castsi512_si128(places),
        _mm512_extracti32x4_epi32::<1>(places),
        _mm512_extracti32x4_epi32::<2>(places),
        _mm512_extracti32x4_epi32::<3>(places),
    ];
    let base = _mm512_set1_epi32(base as i32);
    for (quarter, room) in quarters.into_iter().zip(room.as_chunks_mut::<16>().0) {
        let places = _mm512_add_epi32(_mm512_cvtepu8_epi32(quarter), base);
        // SAFETY: writes 16 values of 4 bytes, which is what `room` has; the store needs no alignment.
        unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), places) };
    }
}

/// # Safety
/// The processor has BMI 2.
#[target_feature(enable = "bmi2")]
#[inline]
pub(super) unsafe fn pext(mask: u64, kept: u64) -> u64 {
    _pext_u64(mask, kept)
}

/// # Safety
/// The processor has BMI 2.
#[target_feature(enable = "bmi2")]
#[inline]
pub(super) unsafe fn pdep(mask: u64, kept: u64) -> u64 {
    _pdep_u64(mask, kept)
}

/// Whether PEXT and PDEP are one step where there are any. AMD's processors before Zen 3 (family 0x19) take a step per bit.
pub(super) fn has_fast_pext() -> bool {
    let vendor = __cpuid(0);
    let is_amd = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat() == b"AuthenticAMD";
    let version = __cpuid(1).eax;
    let family = (version >> 8 & 0xF) + (version >> 20 & 0xFF);
    !is_amd || family >= 0x19
}

/// # Safety
/// The processor has AVX-512 F, BW and VBMI2.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
#[inline]
pub(super) unsafe fn compress(block: &[u8; BLOCK], kept: u64, room: &mut [u8; BLOCK]) {
    // SAFETY: reads 64 bytes, which is what `block` has; the load needs no alignment.
    let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    let together = _mm512_maskz_compress_epi8(kept, bytes);
    // SAFETY: writes 64 bytes, which is what `room` has; the store needs no alignment.
    unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), together) };
}

/// # Safety
/// The processor has BMI 2.
#[target_feature(enable = "bmi2")]
#[inline]
pub(super) unsafe fn compress_by_eight(block: &[u8; BLOCK], kept: u64, room: &mut [u8; BLOCK]) {
    let mut to = 0;
    for (number, eight) in block.as_chunks::<8>().0.iter().enumerate() {
        let bits = kept >> (8 * number) & 0xFF;
        // A bit becomes a byte of ones.
        let bytes = _pdep_u64(bits, 0x0101_0101_0101_0101) * 0xFF;
        let together = _pext_u64(u64::from_le_bytes(*eight), bytes).to_le_bytes();
        // No more than 8 bytes for each of the eights before are kept.
        room[to..to + 8].copy_from_slice(&together);
        to += bits.count_ones() as usize;
    }
}
