//! Blocks as arrays, for any CPU.

use super::{LANES, Lanes};

/// An array per block.
#[derive(Clone, Copy)]
pub(super) struct Scalar;

impl Lanes for Scalar {
    type Block = [u32; LANES];

    #[inline(always)]
    fn load(self, numbers: &[u32; LANES]) -> Self::Block {
        *numbers
    }

    #[inline(always)]
    fn store(self, block: Self::Block) -> [u32; LANES] {
        block
    }

    #[inline(always)]
    fn with_positions(self, mut block: Self::Block, bits: u32, first: usize) -> Self::Block {
        block.iter_mut().zip(first as u32..).for_each(|(number, position)| *number = *number << bits | position);
        block
    }

    #[inline(always)]
    fn fill(self, mut block: Self::Block, lanes: u16, number: u32) -> Self::Block {
        for (at, number_at) in block.iter_mut().enumerate() {
            *number_at = if lanes >> at & 1 == 1 { number } else { *number_at };
        }
        block
    }

    #[inline(always)]
    fn min(self, one: Self::Block, other: Self::Block) -> Self::Block {
        std::array::from_fn(|at| one[at].min(other[at]))
    }

    #[inline(always)]
    fn reduce_min(self, block: Self::Block) -> u32 {
        block.into_iter().fold(u32::MAX, u32::min)
    }
}
