//! Blocks in four vectors of four lanes, in WebAssembly.

use std::arch::wasm32::*;

use super::super::cpu::Simd128;
use super::{LANES, Lanes};

const LANE_NUMBERS: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Four vectors per block. The field proves that the engine has vectors.
#[derive(Clone, Copy)]
pub(super) struct Simd128Lanes(pub(super) Simd128);

impl Lanes for Simd128Lanes {
    type Block = [v128; 4];

    #[inline(always)]
    fn load(self, numbers: &[u32; LANES]) -> Self::Block {
        let quarter = |at: usize| {
            let quarter: &[u32; 4] = numbers[at..].first_chunk().expect("a quarter of a block");
            // SAFETY: reads 16 bytes, the size of `quarter`, without alignment.
            unsafe { v128_load(quarter.as_ptr().cast()) }
        };
        [quarter(0), quarter(4), quarter(8), quarter(12)]
    }

    #[inline(always)]
    fn store(self, block: Self::Block) -> [u32; LANES] {
        let mut numbers = [0; LANES];
        for (to, quarter) in numbers.as_chunks_mut::<4>().0.iter_mut().zip(block) {
            // SAFETY: writes 16 bytes, the size of `to`, without alignment.
            unsafe { v128_store(to.as_mut_ptr().cast(), quarter) };
        }
        numbers
    }

    #[inline(always)]
    fn with_positions(self, mut block: Self::Block, bits: u32, first: usize) -> Self::Block {
        let positions = self.load(&LANE_NUMBERS);
        for (quarter, &positions) in block.iter_mut().zip(&positions) {
            let positions = u32x4_add(positions, u32x4_splat(first as u32));
            *quarter = v128_or(u32x4_shl(*quarter, bits), positions);
        }
        block
    }

    #[inline(always)]
    fn fill(self, mut block: Self::Block, lanes: u16, number: u32) -> Self::Block {
        let bits = self.load(&LANE_NUMBERS.map(|position| 1 << position));
        for (quarter, &bits) in block.iter_mut().zip(&bits) {
            let selected = u32x4_eq(v128_and(u32x4_splat(lanes.into()), bits), bits);
            *quarter = v128_bitselect(u32x4_splat(number), *quarter, selected);
        }
        block
    }

    #[inline(always)]
    fn min(self, one: Self::Block, other: Self::Block) -> Self::Block {
        let min = |quarter: usize| u32x4_min(one[quarter], other[quarter]);
        [min(0), min(1), min(2), min(3)]
    }

    #[inline(always)]
    fn reduce_min(self, [first, second, third, fourth]: Self::Block) -> u32 {
        let four = u32x4_min(u32x4_min(first, second), u32x4_min(third, fourth));
        let two = u32x4_min(four, u32x4_shuffle::<2, 3, 0, 1>(four, four));
        u32x4_extract_lane::<0>(two).min(u32x4_extract_lane::<1>(two))
    }
}
