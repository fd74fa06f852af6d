//! What a pair of adjacent tokens becomes, and how early: one table of 16-byte slots.

/// What joining a pair yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    /// The merge's place in the list; lower is done earlier. Never [`Merges::NO_RANK`].
    pub rank: u32,
    /// The token that the pair becomes.
    pub id: u32,
}

#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
struct Slot {
    /// The left id above, the right id below.
    pair: u64,
    /// [`Merges::NO_RANK`] marks an empty slot, whatever the pair.
    merge: Merge,
}

const _: () = assert!(size_of::<Slot>() == 16);

const EMPTY: Slot = Slot { pair: 0, merge: Merge { rank: Merges::NO_RANK, id: 0 } };

/// Pair to merge. Open addressing, at most half full, linear probing.
#[derive(Debug)]
pub struct Merges {
    slots: Vec<Slot>,
    /// A bit for each pair, by its hash: most pairs that are asked for do not join, and this tells nearly all of them
    /// from a table that is small enough to stay near.
    filter: Vec<u64>,
    /// Hash bits to drop, so that the rest index `slots`.
    shift: u32,
    multiplier: u64,
}

/// Odd constants with well-spread bits, tried in turn when a file's pairs happen (or are made) to crowd one place.
const MULTIPLIERS: [u64; 4] =
    [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F, 0xD6E8_FEB8_6659_FD93, 0xA24B_AED4_963E_E407];
const LONGEST_PROBE: usize = 48;
const FILTER_BITS_PER_SLOT: usize = 2;

impl Merges {
    /// No merge has this rank: a pair that cannot be joined.
    pub const NO_RANK: u32 = u32::MAX;

    /// A table of `pairs`: left id, right id, merge. Where a pair comes twice the last one counts.
    pub fn new(pairs: &[(u32, u32, Merge)]) -> Self {
        let mut bits = (pairs.len() * 2).next_power_of_two().trailing_zeros().max(4);
        for extra in 0..3 {
            for multiplier in MULTIPLIERS {
                if let Some(table) = Self::try_build(pairs, bits, multiplier, LONGEST_PROBE) {
                    return table;
                }
            }
            bits += u32::from(extra < 2);
        }
        Self::try_build(pairs, bits, MULTIPLIERS[0], usize::MAX)
            .expect("without a limit on probes every pair finds a slot")
    }

    fn try_build(pairs: &[(u32, u32, Merge)], bits: u32, multiplier: u64, longest: usize) -> Option<Self> {
        let mut table = Self {
            slots: vec![EMPTY; 1 << bits],
            filter: vec![0; (1 << bits) / 64 * FILTER_BITS_PER_SLOT + 1],
            shift: 64 - bits,
            multiplier,
        };
        let mask = table.slots.len() - 1;
        for &(left, right, merge) in pairs {
            debug_assert_ne!(merge.rank, Self::NO_RANK);
            let pair = key(left, right);
            let mut at = (table.hash(pair) >> table.shift) as usize;
            let mut probes = 0;
            while table.slots[at].merge.rank != Self::NO_RANK && table.slots[at].pair != pair {
                at = (at + 1) & mask;
                probes += 1;
                if probes > longest {
                    return None;
                }
            }
            table.slots[at] = Slot { pair, merge };
            let (word, bit) = table.filter_bit(table.hash(pair));
            table.filter[word] |= bit;
        }
        Some(table)
    }

    /// What `left` and `right` become; [`Self::NO_RANK`] where they do not join.
    #[inline(always)]
    pub fn get(&self, left: u32, right: u32) -> Merge {
        let pair = key(left, right);
        let hash = self.hash(pair);
        let (word, bit) = self.filter_bit(hash);
        if self.filter[word] & bit == 0 {
            return EMPTY.merge;
        }
        let mask = self.slots.len() - 1;
        let mut at = (hash >> self.shift) as usize;
        loop {
            let slot = &self.slots[at & mask];
            if slot.pair == pair || slot.merge.rank == Self::NO_RANK {
                return slot.merge;
            }
            at += 1;
        }
    }

    /// Every pair with what it becomes, in no order. Of a pair that came twice only the last is there.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u32, Merge)> {
        let used = self.slots.iter().filter(|slot| slot.merge.rank != Self::NO_RANK);
        used.map(|slot| ((slot.pair >> 32) as u32, slot.pair as u32, slot.merge))
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>() + self.filter.capacity() * 8
    }

    #[inline(always)]
    fn hash(&self, pair: u64) -> u64 {
        pair.wrapping_mul(self.multiplier)
    }

    /// The pair's place in the filter: a word, and a bit in it.
    #[inline(always)]
    fn filter_bit(&self, hash: u64) -> (usize, u64) {
        // One bit more than a slot's number has, as the filter has two bits for a slot.
        let place = hash >> (self.shift - FILTER_BITS_PER_SLOT.ilog2());
        ((place / 64) as usize, 1 << (place % 64))
    }
}

#[inline]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn equals_a_map_on_random_pairs() {
        let mut state = 7u64;
        let mut next = |below: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as u32 % below
        };
        for size in [0, 1, 2, 15, 16, 17, 5000] {
            let pairs: Vec<_> =
                (0..size).map(|rank| (next(200), next(200), Merge { rank, id: next(u32::MAX) })).collect();
            let map: HashMap<_, _> = pairs.iter().map(|&(l, r, m)| ((l, r), m)).collect();
            let table = Merges::new(&pairs);
            let listed: HashMap<_, _> = table.iter().map(|(l, r, m)| ((l, r), m)).collect();
            assert_eq!((table.iter().count(), &listed), (map.len(), &map));
            for left in 0..200 {
                for right in 0..200 {
                    let merge = table.get(left, right);
                    assert_eq!((merge.rank != Merges::NO_RANK).then_some(merge), map.get(&(left, right)).copied());
                }
            }
        }
    }

    #[test]
    fn the_pair_of_zeros_is_no_empty_slot() {
        assert_eq!(Merges::new(&[]).get(0, 0).rank, Merges::NO_RANK);
        let merge = Merge { rank: 0, id: 9 };
        assert_eq!(Merges::new(&[(0, 0, merge)]).get(0, 0), merge);
    }

    #[test]
    fn pairs_made_to_crowd_one_place_are_spread_by_another_multiplier() {
        // Multiples of the first multiplier's inverse land on neighbouring homes under it.
        let mut inverse = 1u64;
        for _ in 0..6 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(MULTIPLIERS[0].wrapping_mul(inverse)));
        }
        let pairs: Vec<_> = (0..10_000u32)
            .map(|rank| {
                let pair = inverse.wrapping_mul(u64::from(rank));
                ((pair >> 32) as u32, pair as u32, Merge { rank, id: rank })
            })
            .collect();
        let table = Merges::new(&pairs);
        assert_ne!(table.multiplier, MULTIPLIERS[0]);
        assert!(pairs.iter().all(|&(l, r, m)| table.get(l, r) == m));
    }
}
