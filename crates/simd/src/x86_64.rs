//! The kernels of [`super::Simd`] with AVX2 (32 bytes at a time), AVX-512 (64 at a time) and BMI2.
//!
//! Each function takes a proof from [`super::cpu`] and calls a function that is compiled for those
//! instructions. All loads and stores are the unaligned ones.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::append::APPEND_WIDTH;
use super::cpu::{Avx2, Avx512};
use super::packed::{PackedIds, UNPACK_SHUFFLES};
use super::{BLOCK, BYTE_POSITIONS, Masks};

/// Runs `work` compiled for AVX2.
#[inline(always)]
pub(super) fn run_avx2<R>(_: Avx2, work: impl FnOnce() -> R) -> R {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn run<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
    // SAFETY: `Avx2` proves that the CPU has the instructions.
    unsafe { run(work) }
}

/// Runs `work` compiled for AVX-512.
#[inline(always)]
pub(super) fn run_avx512<R>(_: Avx512, work: impl FnOnce() -> R) -> R {
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn run<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
    // SAFETY: `Avx512` proves that the CPU has the instructions.
    unsafe { run(work) }
}

/// See [`super::Simd::masks`].
#[inline(always)]
pub(super) fn masks_avx2(_: Avx2, block: &[u8; BLOCK]) -> Masks {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn masks(block: &[u8; BLOCK]) -> Masks {
        let [low, high] = load_halves(block).map(|half| half_masks(half));
        let both = |class: fn(&HalfMasks) -> i32| join(class(&low), class(&high));
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
    // SAFETY: `Avx2` proves that the CPU has the instructions.
    unsafe { masks(block) }
}

/// [`Masks`] of half a block.
struct HalfMasks {
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
fn half_masks(bytes: __m256i) -> HalfMasks {
    let splat = |byte: u8| _mm256_set1_epi8(byte as i8);
    let is = |byte: u8| _mm256_cmpeq_epi8(bytes, splat(byte));
    // AVX2 has no unsigned comparison. `first` is mapped to zero; a byte is in range if the minimum
    // of it and the width of the range is the byte itself.
    let within = |bytes: __m256i, first: u8, last: u8| {
        let moved = _mm256_sub_epi8(bytes, splat(first));
        _mm256_cmpeq_epi8(_mm256_min_epu8(moved, splat(last - first)), moved)
    };
    let mask = |truth: __m256i| _mm256_movemask_epi8(truth);
    let blanks = is(b' ');
    HalfMasks {
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

/// See [`super::Simd::masks`].
#[inline(always)]
pub(super) fn masks_avx512(_: Avx512, block: &[u8; BLOCK]) -> Masks {
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn masks(block: &[u8; BLOCK]) -> Masks {
        // SAFETY: reads 64 bytes, the size of `block`.
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
    // SAFETY: `Avx512` proves that the CPU has the instructions.
    unsafe { masks(block) }
}

/// See [`super::Simd::match_high_bits`].
#[inline(always)]
pub(super) fn match_high_bits_avx2(_: Avx2, numbers: &[u64; 8], shift: u32, wanted: u64) -> u32 {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn match_high_bits(numbers: &[u64; 8], shift: u32, wanted: u64) -> u32 {
        let (fours, _) = numbers.as_chunks::<4>();
        let shift = _mm_cvtsi32_si128(shift as i32);
        let wanted = _mm256_set1_epi64x(wanted as i64);
        let mask = |four: &[u64; 4]| {
            // SAFETY: reads 32 bytes, the size of `four`.
            let four = unsafe { _mm256_loadu_si256(four.as_ptr().cast()) };
            let same = _mm256_cmpeq_epi64(_mm256_srl_epi64(four, shift), wanted);
            _mm256_movemask_pd(_mm256_castsi256_pd(same)) as u32
        };
        mask(&fours[0]) | mask(&fours[1]) << 4
    }
    // SAFETY: `Avx2` proves that the CPU has the instructions.
    unsafe { match_high_bits(numbers, shift, wanted) }
}

/// See [`super::Simd::match_high_bits`].
#[inline(always)]
pub(super) fn match_high_bits_avx512(_: Avx512, numbers: &[u64; 8], shift: u32, wanted: u64) -> u32 {
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn match_high_bits(numbers: &[u64; 8], shift: u32, wanted: u64) -> u32 {
        // SAFETY: reads 64 bytes, the size of `numbers`.
        let numbers = unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) };
        let high = _mm512_srl_epi64(numbers, _mm_cvtsi32_si128(shift as i32));
        _mm512_cmpeq_epi64_mask(high, _mm512_set1_epi64(wanted as i64)).into()
    }
    // SAFETY: `Avx512` proves that the CPU has the instructions.
    unsafe { match_high_bits(numbers, shift, wanted) }
}

/// See `Simd::unpack`.
#[inline(always)]
pub(super) fn unpack(_: Avx2, packed: &PackedIds, to: &mut [MaybeUninit<u32>; APPEND_WIDTH]) {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn unpack(packed: &PackedIds, to: &mut [MaybeUninit<u32>; APPEND_WIDTH]) {
        let shuffle = &UNPACK_SHUFFLES[usize::from(packed.is_narrow())];
        // SAFETY: reads 16 and 32 bytes, the sizes of the packed ids and of the shuffle.
        let (packed, shuffle) = unsafe {
            (_mm_loadu_si128(std::ptr::from_ref(packed).cast()), _mm256_loadu_si256(shuffle.as_ptr().cast()))
        };
        let ids = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(packed), shuffle);
        // SAFETY: writes 32 bytes, the size of `to`.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), ids) };
    }
    // SAFETY: `Avx2` proves that the CPU has the instructions.
    unsafe { unpack(packed, to) }
}

/// See [`super::Simd::any_bit`].
#[inline(always)]
pub(super) fn any_bit_avx2(_: Avx2, block: &[u8; BLOCK], wanted: u8) -> u64 {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn any_bit(block: &[u8; BLOCK], wanted: u8) -> u64 {
        let wanted = _mm256_set1_epi8(wanted as i8);
        let [low, high] = load_halves(block).map(|bytes| {
            let none = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, wanted), _mm256_setzero_si256());
            _mm256_movemask_epi8(none)
        });
        !join(low, high)
    }
    // SAFETY: `Avx2` proves that the CPU has the instructions.
    unsafe { any_bit(block, wanted) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_halves(block: &[u8; BLOCK]) -> [__m256i; 2] {
    [0, BLOCK / 2].map(|at| {
        let half: &[u8; BLOCK / 2] = block[at..].first_chunk().expect("a block has two halves");
        // SAFETY: reads 32 bytes, the size of `half`.
        unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }
    })
}

/// The mask of a block from those of its halves.
fn join(low: i32, high: i32) -> u64 {
    u64::from(low as u32) | u64::from(high as u32) << 32
}

/// See [`super::Simd::any_bit`].
#[inline(always)]
pub(super) fn any_bit_avx512(_: Avx512, block: &[u8; BLOCK], wanted: u8) -> u64 {
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn any_bit(block: &[u8; BLOCK], wanted: u8) -> u64 {
        // SAFETY: reads 64 bytes, the size of `block`.
        let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        _mm512_test_epi8_mask(bytes, _mm512_set1_epi8(wanted as i8))
    }
    // SAFETY: `Avx512` proves that the CPU has the instructions.
    unsafe { any_bit(block, wanted) }
}

/// Writes `base` plus the position of each bit of `mask` to the start of `to`, and unspecified
/// values after them.
#[inline(always)]
pub(super) fn write_positions(_: Avx512, mask: u64, base: u32, to: &mut [MaybeUninit<u32>; BLOCK]) {
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
    #[inline]
    fn write(mask: u64, base: u32, to: &mut [MaybeUninit<u32>; BLOCK]) {
        // SAFETY: reads 64 bytes, the size of `BYTE_POSITIONS`.
        let all = unsafe { _mm512_loadu_si512(BYTE_POSITIONS.as_ptr().cast()) };
        let positions = _mm512_maskz_compress_epi8(mask, all);
        let quarters = [
            _mm512_castsi512_si128(positions),
            _mm512_extracti32x4_epi32::<1>(positions),
            _mm512_extracti32x4_epi32::<2>(positions),
            _mm512_extracti32x4_epi32::<3>(positions),
        ];
        let base = _mm512_set1_epi32(base as i32);
        for (quarter, to) in quarters.into_iter().zip(to.as_chunks_mut::<16>().0) {
            let positions = _mm512_add_epi32(_mm512_cvtepu8_epi32(quarter), base);
            // SAFETY: writes 16 numbers of 4 bytes, the size of `to`.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), positions) };
        }
    }
    // SAFETY: `Avx512` proves that the CPU has the instructions.
    unsafe { write(mask, base, to) }
}

/// See [`super::Simd::pext`].
#[inline(always)]
pub(super) fn pext(_: Avx2, mask: u64, kept: u64) -> u64 {
    // SAFETY: `Avx2` proves that the CPU has BMI2.
    unsafe { _pext_u64(mask, kept) }
}

/// See [`super::Simd::pdep`].
#[inline(always)]
pub(super) fn pdep(_: Avx2, mask: u64, kept: u64) -> u64 {
    // SAFETY: `Avx2` proves that the CPU has BMI2.
    unsafe { _pdep_u64(mask, kept) }
}

/// Whether PEXT and PDEP take one step on a CPU that has them. AMD processors before Zen 3 (family
/// 0x19) take one step per bit.
pub(super) fn has_fast_pext() -> bool {
    #[allow(unused_unsafe, reason = "the function is unsafe in the oldest supported Rust")]
    // SAFETY: every x86-64 CPU has the instruction CPUID, with these two leaves.
    let [vendor, version] = unsafe { [__cpuid(0), __cpuid(1)] };
    let is_amd = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat() == b"AuthenticAMD";
    let version = version.eax;
    let family = (version >> 8 & 0xF) + (version >> 20 & 0xFF);
    !is_amd || family >= 0x19
}

/// Writes the bytes of `block` selected by `kept` to the start of `out`.
#[inline(always)]
pub(super) fn compress_avx512(_: Avx512, block: &[u8; BLOCK], kept: u64, out: &mut [u8; BLOCK]) {
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
    #[inline]
    fn compress(block: &[u8; BLOCK], kept: u64, out: &mut [u8; BLOCK]) {
        // SAFETY: reads 64 bytes, the size of `block`.
        let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        let together = _mm512_maskz_compress_epi8(kept, bytes);
        // SAFETY: writes 64 bytes, the size of `out`.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), together) };
    }
    // SAFETY: `Avx512` proves that the CPU has the instructions.
    unsafe { compress(block, kept, out) }
}

/// Like [`compress_avx512`], but with BMI2 and for eight bytes at a time.
#[inline(always)]
pub(super) fn compress_avx2(_: Avx2, block: &[u8; BLOCK], kept: u64, out: &mut [u8; BLOCK]) {
    #[target_feature(enable = "bmi2")]
    #[inline]
    fn compress(block: &[u8; BLOCK], kept: u64, out: &mut [u8; BLOCK]) {
        let mut to = 0;
        for (number, eight) in block.as_chunks::<8>().0.iter().enumerate() {
            let bits = kept >> (8 * number) & 0xFF;
            // Expands each bit to a byte of ones.
            let bytes = _pdep_u64(bits, 0x0101_0101_0101_0101) * 0xFF;
            let together = _pext_u64(u64::from_le_bytes(*eight), bytes).to_le_bytes();
            // At most 8 bytes of each previous group of eight are kept, so this range exists.
            out[to..to + 8].copy_from_slice(&together);
            to += bits.count_ones() as usize;
        }
    }
    // SAFETY: `Avx2` proves that the CPU has the instructions.
    unsafe { compress(block, kept, out) }
}
