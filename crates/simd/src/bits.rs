//! Parts and positions of bit masks; pext and pdep without special instructions.

use std::mem::MaybeUninit;

use super::BLOCK;

/// [`super::Simd::pext`].
pub(super) fn pext(mask: u64, kept: u64) -> u64 {
    Rounds::new(kept).pext(mask)
}

/// [`super::Simd::pdep`].
pub(super) fn pdep(mask: u64, kept: u64) -> u64 {
    Rounds::new(kept).pdep(mask)
}

/// [`super::Simd::pext`] and [`super::Simd::pdep`] of masks that share `kept`, in six rounds (G.
/// Steele's algorithm, described in *Hacker's Delight*). In each round bits move down by a power of
/// two, as far as the dropped positions below them require. Which positions move depends on `kept`
/// only, so it is computed once.
#[derive(Debug, Clone, Copy)]
pub struct Rounds {
    kept: u64,
    /// The positions, before each round, whose bits move down by its distance.
    moves: [u64; 6],
}

impl Rounds {
    const DISTANCES: [u32; 6] = [1, 2, 4, 8, 16, 32];

    pub(super) fn new(kept: u64) -> Self {
        let mut left = kept;
        // At first the positions directly above a dropped position. Later the positions that have
        // an odd number of the remaining dropped positions below them.
        let mut dropped_below = !kept << 1;
        let moves = Self::DISTANCES.map(|distance| {
            // The parity of the number of dropped positions below each position, by doubling.
            let parity = Self::DISTANCES.iter().fold(dropped_below, |parity, step| parity ^ parity << step);
            let moves = parity & left;
            left = left ^ moves | moves >> distance;
            dropped_below &= !parity;
            moves
        });
        Self { kept, moves }
    }

    /// See [`super::Simd::pext`].
    #[inline(always)]
    pub fn pext(&self, mask: u64) -> u64 {
        self.moves.iter().zip(Self::DISTANCES).fold(mask & self.kept, |mask, (moves, distance)| {
            let moving = mask & moves;
            mask ^ moving | moving >> distance
        })
    }

    /// See [`super::Simd::pdep`].
    #[inline(always)]
    pub fn pdep(&self, mask: u64) -> u64 {
        let rounds = self.moves.iter().zip(Self::DISTANCES).rev();
        self.kept & rounds.fold(mask, |mask, (moves, distance)| mask & !moves | mask << distance & moves)
    }
}

/// The bits below the lowest set bit; all bits if none is set.
#[inline(always)]
pub fn below(mask: u64) -> u64 {
    mask.wrapping_sub(1) & !mask
}

/// The positions of the bits of `mask`, in ascending order.
#[inline(always)]
pub fn positions(mask: u64) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let position = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (position < BLOCK).then_some(position)
    })
}

/// Writes `base` plus the position of each bit of `mask` to the start of `to`, and unspecified
/// values after them. It writes groups of eight, because the end of a loop over single bits cannot
/// be predicted.
#[inline(always)]
pub(super) fn write_positions(mut mask: u64, base: u32, to: &mut [MaybeUninit<u32>; BLOCK]) {
    for eight in to.as_chunks_mut::<8>().0 {
        for to in eight {
            to.write(base.wrapping_add(mask.trailing_zeros()));
            mask &= mask.wrapping_sub(1);
        }
        if mask == 0 {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn positions_are_those_of_the_set_bits(mask in any::<u64>(), more in any::<u64>()) {
            for mask in [mask, mask & more, 0, u64::MAX, 1 << 63] {
                prop_assert!(positions(mask).eq((0..64).filter(|at| mask >> at & 1 == 1)));
            }
        }
    }
}
