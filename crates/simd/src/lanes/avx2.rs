//! Blocks in two registers of eight lanes, with AVX2.

use std::arch::x86_64::*;

use super::super::cpu::Avx2;
use super::{LANES, Lanes};

/// Two registers per block. The field proves that the CPU has AVX2.
#[derive(Clone, Copy)]
pub(super) struct Avx2Lanes(pub(super) Avx2);

impl Lanes for Avx2Lanes {
    type Block = [__m256i; 2];

    #[inline(always)]
    fn load(self, numbers: &[u32; LANES]) -> Self::Block {
        let half = |at: usize| {
            let half: &[u32; 8] = numbers[at..].first_chunk().expect("half a block");
            // SAFETY: `self` proves AVX; reads 32 bytes, the size of `half`, without alignment.
            unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }
        };
        [half(0), half(8)]
    }

    #[inline(always)]
    fn store(self, [low, high]: Self::Block) -> [u32; LANES] {
        let mut numbers = [0; LANES];
        // SAFETY: `self` proves AVX; writes twice 32 bytes, the size of `numbers`, without
        // alignment.
        unsafe {
            _mm256_storeu_si256(numbers.as_mut_ptr().cast(), low);
            _mm256_storeu_si256(numbers[8..].as_mut_ptr().cast(), high);
        }
        numbers
    }

    #[inline(always)]
    fn with_positions(self, [low, high]: Self::Block, bits: u32, first: usize) -> Self::Block {
        // SAFETY: `self` proves AVX2.
        unsafe { [with_positions_avx2(low, bits, first), with_positions_avx2(high, bits, first + 8)] }
    }

    #[inline(always)]
    fn fill(self, [low, high]: Self::Block, lanes: u16, number: u32) -> Self::Block {
        // SAFETY: `self` proves AVX2.
        unsafe { [fill_avx2(low, lanes, number), fill_avx2(high, lanes >> 8, number)] }
    }

    #[inline(always)]
    fn min(self, one: Self::Block, other: Self::Block) -> Self::Block {
        // SAFETY: `self` proves AVX2.
        unsafe { [_mm256_min_epu32(one[0], other[0]), _mm256_min_epu32(one[1], other[1])] }
    }

    #[inline(always)]
    fn reduce_min(self, [low, high]: Self::Block) -> u32 {
        // SAFETY: `self` proves AVX2.
        unsafe { reduce_min_of_eight(_mm256_min_epu32(low, high)) }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn with_positions_avx2(half: __m256i, bits: u32, first: usize) -> __m256i {
    let positions = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(first as i32));
    _mm256_or_si256(_mm256_sll_epi32(half, _mm_cvtsi32_si128(bits as i32)), positions)
}

#[target_feature(enable = "avx2")]
#[inline]
fn fill_avx2(half: __m256i, lanes: u16, number: u32) -> __m256i {
    let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    let set = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(lanes.into()), bits), bits);
    _mm256_blendv_epi8(half, _mm256_set1_epi32(number as i32), set)
}

/// The minimum of eight lanes.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn reduce_min_of_eight(all: __m256i) -> u32 {
    let four = _mm_min_epu32(_mm256_castsi256_si128(all), _mm256_extracti128_si256::<1>(all));
    let two = _mm_min_epu32(four, _mm_shuffle_epi32::<0b1110>(four));
    _mm_cvtsi128_si32(_mm_min_epu32(two, _mm_shuffle_epi32::<0b01>(two))) as u32
}
