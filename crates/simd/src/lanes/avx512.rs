//! Blocks in one register of sixteen lanes, with AVX-512.

use std::arch::x86_64::*;

use super::super::cpu::Avx512;
use super::avx2::reduce_min_of_eight;
use super::{LANES, Lanes};

/// One register per block. The field proves that the CPU has AVX-512 and AVX2.
#[derive(Clone, Copy)]
pub(super) struct Avx512Lanes(pub(super) Avx512);

impl Lanes for Avx512Lanes {
    type Block = __m512i;

    #[inline(always)]
    fn load(self, numbers: &[u32; LANES]) -> Self::Block {
        // SAFETY: `self` proves AVX-512 F; reads the 64 bytes of `numbers` without alignment.
        unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, block: Self::Block) -> [u32; LANES] {
        let mut numbers = [0; LANES];
        // SAFETY: `self` proves AVX-512 F; writes the 64 bytes of `numbers` without alignment.
        unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), block) };
        numbers
    }

    #[inline(always)]
    fn with_positions(self, block: Self::Block, bits: u32, first: usize) -> Self::Block {
        // SAFETY: `self` proves AVX-512 F.
        unsafe {
            let positions = _mm512_add_epi32(lane_numbers(), _mm512_set1_epi32(first as i32));
            _mm512_or_si512(_mm512_sll_epi32(block, _mm_cvtsi32_si128(bits as i32)), positions)
        }
    }

    #[inline(always)]
    fn fill(self, block: Self::Block, lanes: u16, number: u32) -> Self::Block {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_mask_set1_epi32(block, lanes, number as i32) }
    }

    #[inline(always)]
    fn min(self, one: Self::Block, other: Self::Block) -> Self::Block {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_min_epu32(one, other) }
    }

    #[inline(always)]
    fn reduce_min(self, block: Self::Block) -> u32 {
        // SAFETY: `self` proves AVX-512 F and AVX2.
        unsafe {
            reduce_min_of_eight(_mm256_min_epu32(_mm512_castsi512_si256(block), _mm512_extracti64x4_epi64::<1>(block)))
        }
    }
}

/// The number of each lane, from 0 to 15.
#[target_feature(enable = "avx512f")]
#[inline]
pub(crate) fn lane_numbers() -> __m512i {
    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
}
