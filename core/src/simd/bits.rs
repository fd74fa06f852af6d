//! Bits moved within a mask, and taken out of it, without help of the processor.

use std::mem::MaybeUninit;

use super::BLOCK;

/// What [`super::Simd::pext`] is by definition, in six rounds: in each, bits move down by a power of two as far as
/// the dropped places below them ask for (Steele's way, as Hacker's Delight tells it).
pub(super) fn pext(mask: u64, kept: u64) -> u64 {
    let mut mask = mask & kept;
    let mut rounds = Rounds::new(kept);
    for by in Rounds::STEPS {
        let moving = mask & rounds.next(by);
        mask = mask ^ moving | moving >> by;
    }
    mask
}

/// The rounds of [`pext`] backwards.
pub(super) fn pdep(mut mask: u64, kept: u64) -> u64 {
    let mut rounds = Rounds::new(kept);
    let moves = Rounds::STEPS.map(|by| rounds.next(by));
    for (moves, by) in moves.into_iter().zip(Rounds::STEPS).rev() {
        let moving = mask << by & moves;
        mask = mask & !moves | moving;
    }
    mask & kept
}

/// Which places move in each round.
struct Rounds {
    kept: u64,
    /// Places with a dropped place right below, then those of which an odd number of the dropped ones that are left lie
    /// below, round by round.
    dropped_below: u64,
}

impl Rounds {
    const STEPS: [u32; 6] = [1, 2, 4, 8, 16, 32];

    fn new(kept: u64) -> Self {
        Self { kept, dropped_below: !kept << 1 }
    }

    /// The places, as they stand before this round, whose bits move down by `by`.
    fn next(&mut self, by: u32) -> u64 {
        // Parity of the dropped places below, by doubling.
        let parity = Self::STEPS.iter().fold(self.dropped_below, |parity, step| parity ^ parity << step);
        let moves = parity & self.kept;
        self.kept = self.kept ^ moves | moves >> by;
        self.dropped_below &= !parity;
        moves
    }
}

/// The places of the bits of `mask`, from the lowest on.
#[inline(always)]
pub(crate) fn positions(mask: u64) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let place = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        (place < BLOCK).then_some(place)
    })
}

/// Writes the places of the bits of `mask`, counted from `base`, and something behind them: eight at a time, whether there
/// are so many or not, because a loop over the bits would guess wrong when it ends.
#[inline(always)]
pub(super) fn write_positions(mut mask: u64, base: u32, room: &mut [MaybeUninit<u32>; BLOCK]) {
    for eight in room.as_chunks_mut::<8>().0 {
        for place in eight {
            place.write(base.wrapping_add(mask.trailing_zeros()));
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
        fn places_are_those_of_the_bits(mask in any::<u64>(), more in any::<u64>()) {
            for mask in [mask, mask & more, 0, u64::MAX, 1 << 63] {
                prop_assert!(positions(mask).eq((0..64).filter(|place| mask >> place & 1 == 1)));
            }
        }
    }
}
