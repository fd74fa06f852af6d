//! The table of short words.
//!
//! Each word has a primary and a secondary bucket. A new word goes to the front of its primary
//! bucket, where a lookup finds it without a branch. The word that it pushes out of the bucket
//! moves to its other bucket, if that has an empty slot; otherwise it is evicted. A lookup reads a
//! secondary bucket only if the primary one is marked as overflowed, and a word found there can be
//! promoted to its primary bucket.
//!
//! The table doubles when it has evicted too many words, up to a limit, and while the memory that
//! it shares with the tables of other workers lasts.

use std::sync::Arc;

use super::growth::Growth;
use super::growth_memory::GrowthMemory;
use super::lookup::secondary_bucket;
use crate::memory::Table;
use crate::simd;
use crate::simd::probe::primary_bucket;
use crate::simd::probe::{Bucket, Slot};
use crate::word_key::Key;

/// The initial size of a table, in buckets: 64 KiB. It doubles quickly where there are more words.
pub(super) const INITIAL_BUCKETS: usize = 1 << 10;
/// The maximum initial size of a table that is seeded with words: 8 MiB.
const MAX_SEEDED_BUCKETS: usize = 128 << 10;
/// The maximum size of a table that shares memory for growth, in buckets: 16 MiB.
const MAX_SHARED_BUCKETS: usize = 256 << 10;

/// The table. See the module documentation.
#[derive(Debug)]
pub(super) struct ShortWords {
    buckets: Table<Bucket>,
    /// The maximum number of buckets.
    limit: usize,
    growth: Growth,
}

impl ShortWords {
    /// A table of up to `limit` buckets, a power of two or zero.
    pub(super) fn new(limit: usize) -> Self {
        let buckets = Table::with_reserved(limit.min(INITIAL_BUCKETS), limit);
        Self { buckets, limit, growth: Growth::default() }
    }

    /// Replaces the empty table by one that grows beyond its limit while the shared memory lasts.
    pub(super) fn share_growth(&mut self, memory: Arc<GrowthMemory>) {
        self.growth = Growth::sharing(memory, self.limit * size_of::<Bucket>());
        self.limit = self.limit.max(MAX_SHARED_BUCKETS);
        self.buckets = Table::with_reserved(self.buckets.len(), self.limit);
    }

    /// Replaces the content by `words`, each of which has one id. `count` is the maximum number of
    /// `words`. Inserts the first words, until a quarter of the slots is in use.
    pub(super) fn seed(&mut self, count: usize, words: impl Iterator<Item = (Key, u32)>) {
        /// The number of buckets that are prefetched together.
        const PREFETCH_GROUP: usize = 16;
        let min_buckets = self.buckets.len();
        let max_buckets = (2 * count).clamp(INITIAL_BUCKETS, MAX_SEEDED_BUCKETS).next_power_of_two().min(self.limit);
        let mut buckets = max_buckets.max(min_buckets);
        while buckets > min_buckets && !self.growth.try_take(buckets * size_of::<Bucket>()) {
            buckets /= 2;
        }
        self.buckets = Table::with_reserved(buckets, self.limit);
        let mut group = [Slot::default(); PREFETCH_GROUP];
        let mut words = words.take(buckets / 2);
        loop {
            let mut len = 0;
            for (slot, (key, id)) in group.iter_mut().zip(&mut words) {
                simd::prefetch(&self.buckets[primary_bucket(key, buckets)]);
                *slot = Slot::packed(key, [id].into_iter()).unwrap_or_default();
                len += 1;
            }
            if len == 0 {
                break;
            }
            for slot in group[..len].iter().filter(|slot| !slot.is_empty()) {
                self.insert_if_free(*slot);
            }
        }
    }

    /// Writes a word to one of its buckets if that has an empty slot. No other word moves.
    fn insert_if_free(&mut self, slot: Slot) {
        let at = primary_bucket(slot.key, self.buckets.len());
        if let Some(free) = self.buckets[at].0.iter().position(Slot::is_empty) {
            self.buckets[at].set(free, slot);
        } else if let Some((to, free)) = self.free_slot_in_other_bucket(at, slot.key) {
            self.buckets[to].set(free, slot);
            self.buckets[at].set_overflow();
        }
    }

    /// Whether the table has no buckets.
    pub(super) fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.buckets.memory_bytes()
    }

    #[inline(always)]
    pub(super) fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// Prefetches the bucket to which [`Self::insert`] of this key would move a word.
    #[inline]
    pub(super) fn prefetch_victim(&self, key: Key) {
        let at = primary_bucket(key, self.buckets.len());
        if let Some(Bucket([_, second])) = self.buckets.get(at)
            && !second.is_empty()
        {
            simd::prefetch(&self.buckets[self.other_bucket(at, second.key)]);
        }
    }

    /// Inserts a word that was not found, or whose spilled ids were overwritten. `lookups` is the
    /// number of lookups in the cache so far.
    #[inline(always)]
    pub(super) fn insert(&mut self, slot: Slot, lookups: u64) {
        let at = primary_bucket(slot.key, self.buckets.len());
        if self.insert_front(at, slot) || !self.growth.is_due_after_eviction(self.buckets.len(), lookups) {
            return;
        }
        if self.buckets.len() < self.limit && self.growth.try_take(2 * size_of_val(self.buckets())) {
            self.grow();
        }
    }

    /// Moves a word from its secondary bucket to its primary one, unless that would evict another.
    #[cold]
    pub(super) fn promote(&mut self, key: Key) {
        let buckets = self.buckets.len();
        let (at, from) = (primary_bucket(key, buckets), secondary_bucket(key, buckets));
        let Some(slot_at) = self.buckets[from].0.iter().position(|slot| slot.key == key) else { return };
        let second = self.buckets[at].0[1];
        if at != from && (second.is_empty() || self.free_slot_in_other_bucket(at, second.key).is_some()) {
            let slot = self.buckets[from].0[slot_at];
            self.buckets[from].set(slot_at, Slot::default());
            self.insert_front(at, slot);
        }
    }

    /// Removes all words.
    pub(super) fn clear(&mut self) {
        self.buckets.fill(Bucket::default());
    }

    /// Writes a word to the front of a bucket. Returns false if that evicts a word from the table.
    #[inline(always)]
    fn insert_front(&mut self, at: usize, slot: Slot) -> bool {
        let Some(pushed_out) = self.buckets[at].push_front(slot) else { return true };
        let Some((to, free)) = self.free_slot_in_other_bucket(at, pushed_out.key) else { return false };
        self.buckets[to].set(free, pushed_out);
        if at == primary_bucket(pushed_out.key, self.buckets.len()) {
            self.buckets[at].set_overflow();
        }
        true
    }

    /// An empty slot in the bucket of a key other than `at`: the indices of bucket and slot.
    fn free_slot_in_other_bucket(&self, at: usize, key: Key) -> Option<(usize, usize)> {
        let other = self.other_bucket(at, key);
        let free = self.buckets[other].0.iter().rposition(Slot::is_empty)?;
        (other != at).then_some((other, free))
    }

    /// The bucket of a key other than `at`; `at` if both are the same.
    fn other_bucket(&self, at: usize, key: Key) -> usize {
        let primary = primary_bucket(key, self.buckets.len());
        if at == primary { secondary_bucket(key, self.buckets.len()) } else { primary }
    }

    /// Doubles the table in place. Bucket indices are the low bits of a hash, so each word stays in
    /// its bucket or moves by the former number of buckets. So no word has to be looked up.
    #[cold]
    fn grow(&mut self) {
        let buckets = self.buckets.len();
        if self.buckets.grow(2 * buckets).is_err() {
            // If memory is short, the table continues to evict words.
            return;
        }
        let (old, new) = self.buckets.split_at_mut(buckets);
        for (at, (stays, moves)) in old.iter_mut().zip(new).enumerate() {
            let former = std::mem::take(stays);
            let mut put = |slot_at: usize, slot: Slot| {
                let to = [primary_bucket(slot.key, 2 * buckets), secondary_bucket(slot.key, 2 * buckets)];
                let is_primary = primary_bucket(slot.key, buckets) == at;
                let bucket = if to[usize::from(!is_primary)] == at { &mut *stays } else { &mut *moves };
                if !slot.is_empty() {
                    bucket.set(slot_at, slot);
                }
            };
            let [first, second] = former.0;
            put(0, first);
            put(1, second);
            // It is unknown from which of the two a word overflowed.
            if former.has_overflow() {
                stays.set_overflow();
                moves.set_overflow();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::growth::{GROW_RATIO, LOOKUPS_PER_EVICTION};
    use super::super::long::LongWords;
    use super::super::lookup::Lookup;
    use super::super::medium::MediumWords;
    use super::super::spill_ring::SpillRing;
    use super::*;
    use crate::simd::Simd;
    use crate::simd::append::Appender;
    use crate::simd::packed::PackedIds;

    fn key(number: u32) -> Key {
        u128::from(number.wrapping_mul(0x9E37_79B1)) | 4 << 120
    }

    fn slot(number: u32) -> Slot {
        Slot::packed(key(number), [number & 0xFF_FFFF, 7].into_iter()).expect("two small ids")
    }

    fn find(words: &mut ShortWords, number: u32) -> Option<Vec<u32>> {
        let (medium, ring, mut ids) = (MediumWords::new(0), SpillRing::new(0), vec![]);
        let mut appender = Appender::new(&mut ids, PackedIds::CAPACITY, Simd::best());
        let lookup = Lookup {
            buckets: &words.buckets,
            medium: &medium,
            long: &LongWords::new(0),
            ring: &ring,
            simd: Simd::best(),
        };
        let hit = lookup.append_ids(key(number), primary_bucket(key(number), words.buckets.len()), &mut appender);
        drop(appender);
        words.promote(key(number));
        hit.map(|_| ids)
    }

    #[test]
    fn tables_share_memory_and_release_it() {
        const START: usize = 1 << 10;
        let fill = |words: &mut ShortWords| (0..4_000_000).for_each(|number| words.insert(slot(number), 0));
        let bytes = |buckets: usize| buckets * size_of::<Bucket>();
        let memory = Arc::new(GrowthMemory::new(bytes(8 * START)));
        let mut tables = [0, 1, 2].map(|_| {
            let mut words = ShortWords::new(START);
            words.share_growth(Arc::clone(&memory));
            words
        });
        tables.iter_mut().for_each(fill);
        assert_eq!(tables.each_ref().map(|words| words.buckets.len()), [8 * START, 2 * START, START]);
        let [large, _, mut small] = tables;
        drop(large);
        fill(&mut small);
        assert_eq!(small.buckets.len(), 8 * START);
        small.seed(1 << 20, std::iter::empty());
        assert_eq!(small.buckets.len(), 8 * START, "the seeds get what is left");
        // A table's own memory is always there.
        let mut words = ShortWords::new(4 * START);
        words.share_growth(Arc::new(GrowthMemory::new(0)));
        fill(&mut words);
        assert_eq!(words.buckets.len(), 4 * START);
    }

    #[test]
    fn a_half_full_table_evicts_few_words() {
        let mut words = ShortWords::new(1 << 10);
        (0..1 << 10).for_each(|number| words.insert(slot(number), 0));
        for _ in 0..3 {
            let found = (0..1 << 10).filter(|&number| find(&mut words, number) == Some(vec![number, 7])).count();
            assert!(
                found >= (1 << 10) - words.growth.evictions() && words.growth.evictions() * 30 < 1 << 10,
                "{found} found, {} evicted",
                words.growth.evictions()
            );
        }
    }

    #[test]
    fn a_bucket_that_a_word_is_promoted_from_stays_marked_as_overflowed() {
        let mut words = ShortWords::new(1 << 10);
        let buckets = words.buckets.len();
        let mut apart =
            (0..).filter(|&number| primary_bucket(key(number), buckets) != secondary_bucket(key(number), buckets));
        let one = apart.next().expect("no end");
        let from = secondary_bucket(key(one), buckets);
        words.buckets[from].set(0, slot(one));
        words.buckets[from].set_overflow();
        words.promote(key(one));
        assert_eq!(words.buckets[primary_bucket(key(one), buckets)].0[0], slot(one));
        assert!(words.buckets[from].has_overflow() && words.buckets[from].0[0].is_empty());
    }

    #[test]
    fn a_table_grows_to_its_limit_and_keeps_its_words() {
        let mut words = ShortWords::new(4 * INITIAL_BUCKETS);
        let mut lost = 0;
        for number in 0..4 * INITIAL_BUCKETS as u32 {
            let before = words.buckets.len();
            words.insert(slot(number), number.into());
            if words.buckets.len() > before {
                lost += before / GROW_RATIO + 1;
            }
        }
        assert_eq!(words.buckets.len(), 4 * INITIAL_BUCKETS);
        let found =
            (0..4 * INITIAL_BUCKETS as u32).filter(|&number| find(&mut words, number) == Some(vec![number, 7])).count();
        assert!(found + lost + words.growth.evictions() + 100 > 4 * INITIAL_BUCKETS, "{found} found, {lost} lost");
        (0..16 * INITIAL_BUCKETS as u32).for_each(|number| words.insert(slot(number), 4 * INITIAL_BUCKETS as u64));
        assert_eq!(words.buckets.len(), 4 * INITIAL_BUCKETS, "it is at its limit");
        assert_eq!(
            find(&mut words, 16 * INITIAL_BUCKETS as u32 - 1),
            Some(vec![16 * INITIAL_BUCKETS as u32 - 1, 7]),
            "the newest is found"
        );
    }

    #[test]
    fn growing_loses_no_word() {
        let mut words = ShortWords::new(1 << 10);
        let buckets = words.buckets.len();
        words.buckets = Table::with_reserved(buckets / 4, buckets);
        let known =
            |words: &mut ShortWords| (0..700).filter(|&number| find(words, number) == Some(vec![number, 7])).collect();
        for number in 0..700 {
            // This may evict a word, but does not grow the table.
            words.insert_front(primary_bucket(key(number), buckets / 4), slot(number));
        }
        let before: Vec<u32> = known(&mut words);
        let overflowed = words.buckets.iter().filter(|bucket| bucket.has_overflow()).count();
        assert!(before.len() < 512 && overflowed > 50, "{} known, {overflowed} buckets overflowed", before.len());
        for _ in 0..2 {
            words.grow();
            let after: Vec<u32> = known(&mut words);
            assert_eq!(after, before);
        }
        let held = |words: &ShortWords| {
            words.buckets.iter().flat_map(|bucket| bucket.0).filter(|slot| !slot.is_empty()).count()
        };
        assert_eq!((words.buckets.len(), held(&words)), (buckets, before.len()), "each word is in the table once");
    }

    #[test]
    fn rare_evictions_do_not_make_it_grow() {
        let rounds = |interval: u64| {
            let mut words = ShortWords::new(2 * INITIAL_BUCKETS);
            (0..4 * INITIAL_BUCKETS as u32).for_each(|number| words.insert(slot(number), interval * u64::from(number)));
            words.buckets.len()
        };
        assert_eq!((rounds(1), rounds(2 * LOOKUPS_PER_EVICTION)), (2 * INITIAL_BUCKETS, INITIAL_BUCKETS));
    }

    #[test]
    fn the_first_seeds_are_found_and_the_rest_is_left_out() {
        let mut words = ShortWords::new(64);
        words.seed(1000, (0..1000).map(|number| (key(number), number)));
        let known: Vec<u32> = (0..1000).filter(|&number| find(&mut words, number) == Some(vec![number])).collect();
        assert_eq!(known, (0..32).collect::<Vec<_>>(), "the first ones, so that a quarter of the slots is taken");
        words.seed(3, [(key(5), 1 << 24), (key(6), 7)].into_iter());
        assert_eq!((find(&mut words, 5), find(&mut words, 6), find(&mut words, 0)), (None, Some(vec![7]), None));
        let mut words = ShortWords::new(MAX_SEEDED_BUCKETS * 2);
        words.seed(MAX_SEEDED_BUCKETS / 4, std::iter::empty());
        assert_eq!(words.buckets.len(), MAX_SEEDED_BUCKETS / 2);
        words.seed(usize::MAX / 4, std::iter::empty());
        assert_eq!(words.buckets.len(), MAX_SEEDED_BUCKETS);
    }

    #[test]
    fn a_word_in_its_secondary_bucket_is_promoted_when_it_is_found() {
        let mut words = ShortWords::new(16);
        let same_primary: Vec<u32> = (0..)
            .filter(|&number| primary_bucket(key(number), 16) == 3 && secondary_bucket(key(number), 16) != 3)
            .take(3)
            .collect();
        same_primary.iter().for_each(|&number| words.insert(slot(number), 0));
        let is_primary =
            |words: &ShortWords, number: u32| words.buckets[3].0.iter().any(|slot| slot.key == key(number));
        assert!(!is_primary(&words, same_primary[0]), "the oldest was pushed out");
        assert_eq!(find(&mut words, same_primary[0]), Some(vec![same_primary[0], 7]));
        assert!(is_primary(&words, same_primary[0]));
        for &number in &same_primary {
            assert_eq!(find(&mut words, number), Some(vec![number, 7]));
        }
        assert_eq!(words.growth.evictions(), 0);
    }
}
