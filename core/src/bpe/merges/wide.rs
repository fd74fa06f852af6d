//! Merges of any pairs: slots of 16 bytes that hold the whole pair. Where [`super::packed`] cannot be.

use super::filter::PairFilter;
use super::{MULTIPLIERS, Merge};

#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
struct WideSlot {
    /// The left id above, the right id below.
    pair: u64,
    /// [`Merge::NONE`] marks an empty slot, whatever the pair.
    merge: Merge,
}

const _: () = assert!(size_of::<WideSlot>() == 16);

const EMPTY: WideSlot = WideSlot { pair: 0, merge: Merge::NONE };

/// Pair to merge. Open addressing, at most half full, linear probing.
#[derive(Debug)]
pub(super) struct WideMerges {
    slots: Vec<WideSlot>,
    /// By hash.
    filter: PairFilter,
    /// Hash bits to drop, so that the rest index `slots`.
    shift: u32,
    multiplier: u64,
}

const MAX_PROBES: usize = 48;

impl WideMerges {
    /// A table of `pairs`: left id, right id, merge. Where a pair comes twice the last one counts.
    pub(super) fn new(pairs: &[(u32, u32, Merge)]) -> Self {
        let mut bits = (pairs.len() * 2).next_power_of_two().trailing_zeros().max(4);
        for extra in 0..3 {
            for multiplier in MULTIPLIERS {
                if let Some(table) = Self::try_build(pairs, bits, multiplier, MAX_PROBES) {
                    return table;
                }
            }
            bits += u32::from(extra < 2);
        }
        Self::try_build(pairs, bits, MULTIPLIERS[0], usize::MAX)
            .expect("without a limit on probes every pair finds a slot")
    }

    fn try_build(pairs: &[(u32, u32, Merge)], bits: u32, multiplier: u64, longest: usize) -> Option<Self> {
        let mut table =
            Self { slots: vec![EMPTY; 1 << bits], filter: PairFilter::new(pairs.len()), shift: 64 - bits, multiplier };
        let mask = table.slots.len() - 1;
        for &(left, right, merge) in pairs {
            debug_assert_ne!(merge.rank, Merge::NONE.rank);
            let pair = key(left, right);
            let mut at = (table.hash(pair) >> table.shift) as usize;
            let mut probes = 0;
            while table.slots[at].merge.rank != Merge::NONE.rank && table.slots[at].pair != pair {
                at = (at + 1) & mask;
                probes += 1;
                if probes > longest {
                    return None;
                }
            }
            table.slots[at] = WideSlot { pair, merge };
            table.filter.add(table.hash(pair));
        }
        Some(table)
    }

    // Out of line, so that the loops around it stay small: hardly a tokenizer has this table.
    #[inline(never)]
    pub(super) fn get(&self, left: u32, right: u32) -> Merge {
        let pair = key(left, right);
        let hash = self.hash(pair);
        if !self.filter.may_contain(hash) {
            return EMPTY.merge;
        }
        let mask = self.slots.len() - 1;
        let mut at = (hash >> self.shift) as usize;
        loop {
            let slot = &self.slots[at & mask];
            if slot.pair == pair || slot.merge.rank == Merge::NONE.rank {
                return slot.merge;
            }
            at += 1;
        }
    }

    /// Every pair with what it becomes, in no order. Of a pair that came twice only the last is there.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32, Merge)> {
        let used = self.slots.iter().filter(|slot| slot.merge.rank != Merge::NONE.rank);
        used.map(|slot| ((slot.pair >> 32) as u32, slot.pair as u32, slot.merge))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<WideSlot>() + self.filter.memory_bytes()
    }

    #[inline(always)]
    fn hash(&self, pair: u64) -> u64 {
        pair.wrapping_mul(self.multiplier)
    }
}

#[inline]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}
