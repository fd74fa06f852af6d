//! Blocks in four registers of four lanes, with NEON.

use std::arch::aarch64::*;

use super::super::cpu::Neon;
use super::{LANES, Lanes};

const LANE_NUMBERS: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Four registers per block. The field proves that the CPU has NEON.
#[derive(Clone, Copy)]
pub(super) struct NeonLanes(pub(super) Neon);

impl Lanes for NeonLanes {
    type Block = [uint32x4_t; 4];

    #[inline(always)]
    fn load(self, numbers: &[u32; LANES]) -> Self::Block {
        let quarter = |at: usize| {
            let quarter: &[u32; 4] = numbers[at..].first_chunk().expect("a quarter of a block");
            // SAFETY: `self` proves NEON; reads 16 bytes, the size of `quarter`.
            unsafe { vld1q_u32(quarter.as_ptr()) }
        };
        [quarter(0), quarter(4), quarter(8), quarter(12)]
    }

    #[inline(always)]
    fn store(self, block: Self::Block) -> [u32; LANES] {
        let mut numbers = [0; LANES];
        for (to, quarter) in numbers.chunks_exact_mut(4).zip(block) {
            // SAFETY: `self` proves NEON; writes 16 bytes, the size of `to`.
            unsafe { vst1q_u32(to.as_mut_ptr(), quarter) };
        }
        numbers
    }

    #[inline(always)]
    fn with_positions(self, mut block: Self::Block, bits: u32, first: usize) -> Self::Block {
        let positions = self.load(&LANE_NUMBERS);
        for (quarter, &positions) in block.iter_mut().zip(&positions) {
            // SAFETY: `self` proves NEON.
            *quarter = unsafe {
                let positions = vaddq_u32(positions, vdupq_n_u32(first as u32));
                vorrq_u32(vshlq_u32(*quarter, vdupq_n_s32(bits as i32)), positions)
            };
        }
        block
    }

    #[inline(always)]
    fn fill(self, mut block: Self::Block, lanes: u16, number: u32) -> Self::Block {
        let bits = self.load(&LANE_NUMBERS.map(|position| 1 << position));
        for (quarter, &bits) in block.iter_mut().zip(&bits) {
            // SAFETY: `self` proves NEON.
            *quarter = unsafe { vbslq_u32(vtstq_u32(vdupq_n_u32(lanes.into()), bits), vdupq_n_u32(number), *quarter) };
        }
        block
    }

    #[inline(always)]
    fn min(self, one: Self::Block, other: Self::Block) -> Self::Block {
        // SAFETY: `self` proves NEON.
        let min = |quarter: usize| unsafe { vminq_u32(one[quarter], other[quarter]) };
        [min(0), min(1), min(2), min(3)]
    }

    #[inline(always)]
    fn reduce_min(self, [first, second, third, fourth]: Self::Block) -> u32 {
        // SAFETY: `self` proves NEON.
        unsafe { vminvq_u32(vminq_u32(vminq_u32(first, second), vminq_u32(third, fourth))) }
    }
}
