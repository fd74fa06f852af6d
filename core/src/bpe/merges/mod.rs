//! What a pair of adjacent tokens becomes, and how early.
//!
//! - [`packed`]: eight bytes a merge, for the numbers that vocabularies have.
//! - [`wide`]: sixteen, for any numbers.
//! - [`filter`]: what both ask first.

pub(super) mod filter;
mod packed;
mod wide;

pub(super) use packed::PackedMerges;
use wide::WideMerges;

use crate::memory::fallible::require_for_tables;

/// What joining a pair yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    /// The merge's place in the list; lower is done earlier. Never [`Merges::NO_RANK`].
    pub rank: u32,
    /// The token that the pair becomes.
    pub id: u32,
}

impl Merge {
    /// A pair that cannot be joined.
    pub(crate) const NONE: Self = Self { rank: Merges::NO_RANK, id: 0 };
}

/// Pair to merge.
#[derive(Debug)]
pub struct Merges {
    table: TableKind,
    /// No rank is higher.
    highest_rank: u32,
    /// Whether some pair has [`Self::LAST_ID`] in it.
    has_last_id: bool,
}

/// What is done with a table; see [`Merges::with_table`].
pub(super) trait TableVisitor {
    type Out;

    fn run(self, pairs: &impl MergeTable) -> Self::Out;
}

/// A table.
pub(super) trait MergeTable {
    /// As [`Merges::get`].
    fn get(&self, left: u32, right: u32) -> Merge;

    /// Asks ahead for what [`Self::get`] will look at.
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

impl MergeTable for WideMerges {
    fn get(&self, left: u32, right: u32) -> Merge {
        self.get(left, right)
    }

    fn prefetch(&self, _: u32, _: u32) {}
}

#[derive(Debug)]
enum TableKind {
    Packed(PackedMerges),
    Wide(WideMerges),
}

/// Odd constants with well-spread bits, tried in turn when a file's pairs happen (or are made) to crowd one place.
const MULTIPLIERS: [u64; 4] =
    [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F, 0xD6E8_FEB8_6659_FD93, 0xA24B_AED4_963E_E407];

impl Merges {
    /// No merge has this rank: a pair that cannot be joined.
    pub const NO_RANK: u32 = u32::MAX;
    /// Hardly a token has this id; see [`Self::has_last_id`].
    pub(crate) const LAST_ID: u32 = u32::MAX;

    /// A table of `pairs`: left id, right id, merge. Where a pair comes twice the last one counts. Without memory for it,
    /// this unwinds.
    pub fn new(pairs: &[(u32, u32, Merge)]) -> Self {
        /// Bytes a pair takes at most: two slots of 16 bytes and what the filter has for it.
        const MOST_BYTES: usize = 40;
        require_for_tables(pairs.len().saturating_mul(MOST_BYTES));
        debug_assert!(pairs.iter().all(|(_, _, merge)| merge.rank != Self::NO_RANK));
        let packed = MULTIPLIERS.into_iter().find_map(|multiplier| PackedMerges::new(pairs, multiplier));
        let table = packed.map_or_else(|| TableKind::Wide(WideMerges::new(pairs)), TableKind::Packed);
        Self {
            table,
            highest_rank: pairs.iter().map(|(_, _, merge)| merge.rank).max().unwrap_or(0),
            has_last_id: pairs.iter().any(|(left, right, _)| [left, right].contains(&&Self::LAST_ID)),
        }
    }

    /// The highest rank of all merges; zero when there are none.
    pub(crate) fn highest_rank(&self) -> u32 {
        self.highest_rank
    }

    /// Whether [`Self::LAST_ID`] joins with anything.
    pub(crate) fn has_last_id(&self) -> bool {
        self.has_last_id
    }

    /// What `left` and `right` become; [`Self::NO_RANK`] where they do not join.
    #[inline(always)]
    pub fn get(&self, left: u32, right: u32) -> Merge {
        match &self.table {
            TableKind::Packed(table) => table.get(left, right),
            TableKind::Wide(table) => table.get(left, right),
        }
    }

    /// Does `work`, which asks what pairs become, without asking each time which table there is.
    #[inline(always)]
    pub(super) fn with_table<W: TableVisitor>(&self, work: W) -> W::Out {
        match &self.table {
            TableKind::Packed(table) => work.run(table),
            TableKind::Wide(table) => work.run(table),
        }
    }

    /// Every pair with what it becomes, in no order. Of a pair that came twice only the last is there.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u32, Merge)> {
        let (packed, wide) = match &self.table {
            TableKind::Packed(table) => (Some(table.iter()), None),
            TableKind::Wide(table) => (None, Some(table.iter())),
        };
        packed.into_iter().flatten().chain(wide.into_iter().flatten())
    }

    /// The table of eight bytes a merge, if it is that.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn packed(&self) -> Option<&PackedMerges> {
        match &self.table {
            TableKind::Packed(table) => Some(table),
            TableKind::Wide(_) => None,
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match &self.table {
            TableKind::Packed(table) => table.memory_bytes(),
            TableKind::Wide(table) => table.memory_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    type Pairs = Vec<(u32, u32, Merge)>;

    /// Both kinds of table say of every pair what a map says.
    fn assert_equals_a_map(pairs: &[(u32, u32, Merge)], asked: impl Iterator<Item = (u32, u32)>) {
        let map: HashMap<_, _> = pairs.iter().map(|&(left, right, merge)| ((left, right), merge)).collect();
        let packed = MULTIPLIERS.map(|multiplier| PackedMerges::new(pairs, multiplier)).into_iter().flatten();
        let kinds: Vec<TableKind> =
            packed.map(TableKind::Packed).chain([TableKind::Wide(WideMerges::new(pairs))]).collect();
        for table in kinds {
            let table = Merges { table, highest_rank: 0, has_last_id: false };
            let listed: HashMap<_, _> = table.iter().map(|(left, right, merge)| ((left, right), merge)).collect();
            assert_eq!((table.iter().count(), &listed), (map.len(), &map));
        }
        let table = Merges::new(pairs);
        for (left, right) in asked.chain(map.keys().copied()) {
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
            // Of none all numbers are drawn.
            ids in prop_oneof![Just(0u32), Just(1), Just(2), 2u32..300, 1000u32..300_000],
            far in prop_oneof![Just(0u32), Just(1 << 20), Just(1 << 30)],
            seed in any::<u64>(),
        ) {
            let pairs = random_pairs(count, ids, |at| far + at, seed);
            let strangers = random_pairs(500, 0, |at| at, !seed).into_iter().chain(random_pairs(500, ids, |at| at, !seed));
            assert_equals_a_map(&pairs, strangers.map(|(left, right, _)| (left, right)));
        }
    }

    #[test]
    fn vocabularies_as_they_are_fit_into_packed_slots_and_others_do_not() {
        let table = |ids, first_rank| Merges::new(&random_pairs(100_000, ids, |at| first_rank + at, 3)).table;
        assert!(matches!(table(262_144, 0), TableKind::Packed(_)));
        assert!(matches!(table(262_144, 1 << 31), TableKind::Wide(_)));
        assert!(matches!(table(1 << 31, 0), TableKind::Wide(_)));
    }

    #[test]
    fn the_pair_of_zeros_is_no_empty_slot() {
        assert_eq!(Merges::new(&[]).get(0, 0).rank, Merges::NO_RANK);
        let merge = Merge { rank: 0, id: 9 };
        assert_eq!(Merges::new(&[(0, 0, merge)]).get(0, 0), merge);
    }

    #[test]
    fn the_last_id_is_told() {
        let merge = Merge { rank: 0, id: 1 };
        assert!(!Merges::new(&[(5, 6, merge)]).has_last_id());
        assert!(Merges::new(&[(5, 6, merge), (1, u32::MAX, merge)]).has_last_id());
    }

    /// Pairs whose numbers under a multiplier are all small: they crowd the first places.
    fn crowd(multiplier: u64, pair_bits: u32, count: u32) -> Pairs {
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
    fn pairs_made_to_crowd_one_place_are_spread_by_another_multiplier() {
        let pairs = crowd(MULTIPLIERS[0], 34, 10_000);
        assert!(PackedMerges::new(&pairs, MULTIPLIERS[0]).is_none());
        assert!(matches!(Merges::new(&pairs).table, TableKind::Packed(_)));
        assert_equals_a_map(&pairs, std::iter::empty());
        assert_equals_a_map(&crowd(MULTIPLIERS[0], 64, 10_000), std::iter::empty());
    }

    #[test]
    fn pairs_that_crowd_under_every_multiplier_have_the_other_table() {
        let pairs: Pairs = MULTIPLIERS.into_iter().flat_map(|multiplier| crowd(multiplier, 34, 5000)).collect();
        assert!(matches!(Merges::new(&pairs).table, TableKind::Wide(_)));
        assert_equals_a_map(&pairs, std::iter::empty());
    }
}
