//! The merge table: maps a pair of adjacent tokens to the merged token and the rank of the merge.
//!
//! - [`packed`]: eight bytes per merge, for ids and ranks of the usual sizes.
//! - Other merges are in a hash map with a random seed.

mod packed;

use std::collections::HashMap;

pub(super) use packed::PackedMerges;

use crate::memory::fallible::require_for_tables;
use crate::word_key::MULTIPLIERS;

/// The result of merging a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    /// The merge's position in the list of merges; the lowest is merged first. Never
    /// [`Merges::NO_RANK`].
    pub rank: u32,
    /// The token that the pair becomes.
    pub id: u32,
}

impl Merge {
    /// The result for a pair that is not in the table.
    pub(crate) const NONE: Self = Self { rank: Merges::NO_RANK, id: 0 };
}

/// The merge table. See the module documentation.
#[derive(Debug)]
pub struct Merges {
    table: TableKind,
    highest_rank: u32,
    has_last_id: bool,
}

/// Code that is generic over the kind of table; see [`Merges::with_table`].
pub(super) trait TableVisitor {
    type Out;

    fn run(self, table: &impl MergeTable) -> Self::Out;
}

/// One kind of merge table.
pub(super) trait MergeTable {
    /// See [`Merges::get`].
    fn get(&self, left: u32, right: u32) -> Merge;

    /// Prefetches the memory that [`Self::get`] reads.
    fn prefetch(&self, left: u32, right: u32);
}

impl MergeTable for PackedMerges {
    #[inline(always)]
    fn get(&self, left: u32, right: u32) -> Merge {
        self.get(left, right)
    }

    #[inline(always)]
    fn prefetch(&self, left: u32, right: u32) {
        self.prefetch(left, right);
    }
}

/// Merges by their pair. The seed is random, so that no file can contain pairs that collide on
/// purpose.
type MergeMap = HashMap<(u32, u32), Merge, foldhash::fast::RandomState>;

impl MergeTable for MergeMap {
    // Not inlined: tokenizers rarely have this table, and the loops around it stay small.
    #[inline(never)]
    fn get(&self, left: u32, right: u32) -> Merge {
        self.get(&(left, right)).copied().unwrap_or(Merge::NONE)
    }

    fn prefetch(&self, _left: u32, _right: u32) {}
}

#[derive(Debug)]
enum TableKind {
    Packed(PackedMerges),
    Map(MergeMap),
}

impl Merges {
    /// The rank of a pair that is not in the table.
    pub const NO_RANK: u32 = u32::MAX;
    /// An id that marks the edges of a word, unless [`Self::has_last_id`].
    pub(crate) const LAST_ID: u32 = u32::MAX;

    /// Builds a table of left id, right id and merge. If a pair occurs twice, the last one counts.
    /// Unwinds if there is not enough memory.
    pub fn new(pairs: &[(u32, u32, Merge)]) -> Self {
        /// Maximum number of bytes per pair, in a map: up to 16/7 slots of 17 bytes.
        const BYTES_PER_ENTRY: usize = 40;
        require_for_tables(pairs.len().saturating_mul(BYTES_PER_ENTRY));
        debug_assert!(pairs.iter().all(|(_, _, merge)| merge.rank != Self::NO_RANK));
        // A file's pairs may collide under one multiplier, by chance or on purpose.
        let packed = MULTIPLIERS.into_iter().find_map(|multiplier| PackedMerges::new(pairs, multiplier));
        let table = packed.map_or_else(|| TableKind::Map(map_of(pairs)), TableKind::Packed);
        Self {
            table,
            highest_rank: pairs.iter().map(|(_, _, merge)| merge.rank).max().unwrap_or(0),
            has_last_id: pairs.iter().any(|(left, right, _)| [left, right].contains(&&Self::LAST_ID)),
        }
    }

    /// The highest rank of all merges; zero if there are none.
    pub(crate) fn highest_rank(&self) -> u32 {
        self.highest_rank
    }

    /// Whether a pair contains [`Self::LAST_ID`].
    pub(crate) fn has_last_id(&self) -> bool {
        self.has_last_id
    }

    /// The result of merging `left` and `right`; [`Merge::NONE`] if they do not merge.
    #[inline(always)]
    pub fn get(&self, left: u32, right: u32) -> Merge {
        match &self.table {
            TableKind::Packed(table) => table.get(left, right),
            TableKind::Map(table) => MergeTable::get(table, left, right),
        }
    }

    /// Runs `visitor`, compiled for this kind of table.
    #[inline(always)]
    pub(super) fn with_table<V: TableVisitor>(&self, visitor: V) -> V::Out {
        match &self.table {
            TableKind::Packed(table) => visitor.run(table),
            TableKind::Map(table) => visitor.run(table),
        }
    }

    /// All pairs with their merges, in no particular order. If a pair occurred twice, only the last
    /// is included.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u32, Merge)> {
        let (packed, map) = match &self.table {
            TableKind::Packed(table) => (Some(table.iter()), None),
            TableKind::Map(table) => (None, Some(table.iter().map(|(&(left, right), &merge)| (left, right, merge)))),
        };
        packed.into_iter().flatten().chain(map.into_iter().flatten())
    }

    /// The packed table, if it is the kind in use.
    pub(super) fn packed(&self) -> Option<&PackedMerges> {
        match &self.table {
            TableKind::Packed(table) => Some(table),
            TableKind::Map(_) => None,
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match &self.table {
            TableKind::Packed(table) => table.memory_bytes(),
            // A control byte per bucket of the map.
            TableKind::Map(table) => table.capacity() * (size_of::<((u32, u32), Merge)>() + 1),
        }
    }
}

fn map_of(pairs: &[(u32, u32, Merge)]) -> MergeMap {
    pairs.iter().map(|&(left, right, merge)| ((left, right), merge)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Pairs = Vec<(u32, u32, Merge)>;

    /// Checks that both kinds of table have the merges of `pairs`, and no others.
    fn assert_equals_a_map(pairs: &[(u32, u32, Merge)], probed: impl Iterator<Item = (u32, u32)>) {
        let map: HashMap<_, _> = pairs.iter().map(|&(left, right, merge)| ((left, right), merge)).collect();
        let packed = MULTIPLIERS.map(|multiplier| PackedMerges::new(pairs, multiplier)).into_iter().flatten();
        let kinds: Vec<TableKind> = packed.map(TableKind::Packed).chain([TableKind::Map(map_of(pairs))]).collect();
        for table in kinds {
            let table = Merges { table, highest_rank: 0, has_last_id: false };
            let listed: HashMap<_, _> = table.iter().map(|(left, right, merge)| ((left, right), merge)).collect();
            assert_eq!((table.iter().count(), &listed), (map.len(), &map));
        }
        let table = Merges::new(pairs);
        for (left, right) in probed.chain(map.keys().copied()) {
            let merge = table.get(left, right);
            assert_eq!((merge.rank != Merges::NO_RANK).then_some(merge), map.get(&(left, right)).copied());
        }
    }

    fn random_pairs(count: u32, ids: u32, rank: impl Fn(u32) -> u32, seed: u64) -> Pairs {
        let mut state = seed;
        let mut next = |below: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 33) as u32).checked_rem(below).unwrap_or((state >> 32) as u32)
        };
        (0..count).map(|at| (next(ids), next(ids), Merge { rank: rank(at), id: next(ids) })).collect()
    }

    #[test]
    fn equals_a_map_on_random_pairs() {
        let all = || (0..200).flat_map(|left| (0..200).map(move |right| (left, right)));
        for size in [0, 1, 2, 15, 16, 17, 5000, 60_000] {
            assert_equals_a_map(&random_pairs(size, 200, |at| at, 7), all());
        }
    }

    proptest! {
        #[test]
        fn equals_a_map_whatever_the_ids_and_ranks(
            count in 0u32..3000,
            // Zero selects ids from all 32-bit numbers.
            ids in prop_oneof![Just(0u32), Just(1), Just(2), 2u32..300, 1000u32..300_000],
            far in prop_oneof![Just(0u32), Just(1 << 20), Just(1 << 30)],
            seed in any::<u64>(),
        ) {
            let pairs = random_pairs(count, ids, |at| far + at, seed);
            let others = random_pairs(500, 0, |at| at, !seed).into_iter().chain(random_pairs(500, ids, |at| at, !seed));
            assert_equals_a_map(&pairs, others.map(|(left, right, _)| (left, right)));
        }
    }

    #[test]
    fn common_sizes_of_ids_and_ranks_fit_into_packed_slots() {
        let table = |ids, first_rank| Merges::new(&random_pairs(100_000, ids, |at| first_rank + at, 3)).table;
        assert!(matches!(table(262_144, 0), TableKind::Packed(_)));
        assert!(matches!(table(262_144, 1 << 31), TableKind::Map(_)));
        assert!(matches!(table(1 << 31, 0), TableKind::Map(_)));
    }

    #[test]
    fn the_pair_of_zeros_is_not_taken_for_an_empty_slot() {
        assert_eq!(Merges::new(&[]).get(0, 0).rank, Merges::NO_RANK);
        let merge = Merge { rank: 0, id: 9 };
        assert_eq!(Merges::new(&[(0, 0, merge)]).get(0, 0), merge);
    }

    #[test]
    fn the_last_id_is_detected() {
        let merge = Merge { rank: 0, id: 1 };
        assert!(!Merges::new(&[(5, 6, merge)]).has_last_id());
        assert!(Merges::new(&[(5, 6, merge), (1, u32::MAX, merge)]).has_last_id());
    }

    /// Pairs whose hashes under a multiplier are all small, so that they collide in the first
    /// buckets.
    fn colliding_pairs(multiplier: u64, pair_bits: u32, count: u32) -> Pairs {
        let mut inverse = 1u64;
        for _ in 0..6 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(multiplier.wrapping_mul(inverse)));
        }
        let pair = |rank: u32| {
            let pair = inverse.wrapping_mul(u64::from(rank)) & (u64::MAX >> (64 - pair_bits));
            let (left, right) = (pair >> (pair_bits / 2), pair & ((1 << (pair_bits / 2)) - 1));
            (left as u32, right as u32, Merge { rank, id: rank })
        };
        (0..count).map(pair).collect()
    }

    #[test]
    fn colliding_pairs_are_spread_by_another_multiplier() {
        let pairs = colliding_pairs(MULTIPLIERS[0], 34, 10_000);
        assert!(PackedMerges::new(&pairs, MULTIPLIERS[0]).is_none());
        assert!(matches!(Merges::new(&pairs).table, TableKind::Packed(_)));
        assert_equals_a_map(&pairs, std::iter::empty());
        assert_equals_a_map(&colliding_pairs(MULTIPLIERS[0], 64, 10_000), std::iter::empty());
    }

    #[test]
    fn pairs_that_collide_under_every_multiplier_are_in_a_map() {
        let pairs: Pairs =
            MULTIPLIERS.into_iter().flat_map(|multiplier| colliding_pairs(multiplier, 34, 5000)).collect();
        assert!(matches!(Merges::new(&pairs).table, TableKind::Map(_)));
        assert_equals_a_map(&pairs, std::iter::empty());
    }
}
