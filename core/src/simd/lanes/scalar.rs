//! Blocks as arrays: what every processor can.

use super::{LANES, Lanes};

/// What every processor can.
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
        block.iter_mut().zip(first as u32..).for_each(|(number, place)| *number = *number << bits | place);
        block
    }

    #[inline(always)]
    fn fill(self, mut block: Self::Block, places: u16, number: u32) -> Self::Block {
        for (at, place) in block.iter_mut().enumerate() {
            *place = if places >> at & 1 == 1 { number } else { *place };
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
