//! Words that are their own keys.
//!
//! Two slots of 32 bytes make one cache line, and each word has two lines where it may stand. At home it is found without
//! a branch; what newer words drove out of there stands aside, as long as there is room, and comes home when it is found.
//! The table is twice as large when too many words were let go of, up to its limit.

use super::key::Key;
use super::lookup::{primary_bucket, secondary_bucket};
use super::slot::{Bucket, Slot};
use crate::memory::Table;
use crate::simd;

/// The first size of a table, in lines: 2 MiB.
const INITIAL_BUCKETS: usize = 32 << 10;
/// The first size of a table that knows many words from the start, at most: 8 MiB.
const MAX_SEEDED_BUCKETS: usize = 128 << 10;
/// A table grows when it let go of so many words: one for each so many lines,
const GROW_RATIO: usize = 32;
/// and of one at least for each so many that were looked for: a few that take turns are not worth it.
const LOOKUPS_PER_EVICTION: u64 = 2048;

/// See the module.
#[derive(Debug)]
pub(super) struct ShortWords {
    buckets: Table<Bucket>,
    limit: usize,
    /// How many words were let go of,
    evictions: usize,
    /// since so many had been looked for.
    since: u64,
}

impl ShortWords {
    /// At most so many lines, a power of two or none.
    pub(super) fn new(limit: usize) -> Self {
        Self { buckets: Table::with_reserved(limit.min(INITIAL_BUCKETS), limit), limit, evictions: 0, since: 0 }
    }

    /// Begins anew with `words`, `count` at most, each of which has one id; with the first ones, so many that a quarter of the slots is taken.
    pub(super) fn seed(&mut self, count: usize, words: impl Iterator<Item = (Key, u32)>) {
        /// So many lines are asked for together.
        const PREFETCH_BATCH: usize = 16;
        let buckets = (2 * count).clamp(INITIAL_BUCKETS, MAX_SEEDED_BUCKETS).next_power_of_two().min(self.limit);
        self.buckets = Table::with_reserved(buckets, self.limit);
        let mut group = [Slot::default(); PREFETCH_BATCH];
        let mut left = words.take(buckets / 2);
        loop {
            let mut there = 0;
            for (slot, (key, id)) in group.iter_mut().zip(&mut left) {
                simd::prefetch(&self.buckets[primary_bucket(key, buckets)]);
                *slot = Slot::packed(key, [id].into_iter()).unwrap_or_default();
                there += 1;
            }
            if there == 0 {
                break;
            }
            for slot in group[..there].iter().filter(|slot| !slot.is_empty()) {
                self.insert_if_free(*slot);
            }
        }
    }

    /// Writes a word where there is room for it, if there is: those that came before stay where they are.
    fn insert_if_free(&mut self, slot: Slot) {
        let at = primary_bucket(slot.key, self.buckets.len());
        if let Some(place) = self.buckets[at].0.iter().position(Slot::is_empty) {
            self.buckets[at].set(place, slot);
        } else if let Some((to, place)) = self.free_slot_in_other_bucket(at, slot.key) {
            self.buckets[to].set(place, slot);
            self.buckets[at].set_overflow();
        }
    }

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

    /// Asks ahead for the line that [`Self::insert`] will look at when a word drives another one out.
    #[inline]
    pub(super) fn prefetch_victim(&self, key: Key) {
        let at = primary_bucket(key, self.buckets.len());
        if let Some(Bucket([_, second])) = self.buckets.get(at)
            && !second.is_empty()
        {
            simd::prefetch(&self.buckets[self.other_bucket(at, second.key)]);
        }
    }

    /// Writes a word that was not found, or whose ids are gone, when so many were looked for.
    pub(super) fn insert(&mut self, slot: Slot, looked_for: u64) {
        let at = primary_bucket(slot.key, self.buckets.len());
        if self.insert_front(at, slot) {
            return;
        }
        self.evictions += 1;
        if self.evictions * GROW_RATIO > self.buckets.len() {
            let is_often = looked_for - self.since < self.evictions as u64 * LOOKUPS_PER_EVICTION;
            (self.evictions, self.since) = (0, looked_for);
            if is_often && self.buckets.len() < self.limit {
                self.grow();
            }
        }
    }

    /// Brings a word home that stands aside, if there is room for the one that has to go for it.
    #[cold]
    pub(super) fn promote(&mut self, key: Key) {
        let buckets = self.buckets.len();
        let (at, from) = (primary_bucket(key, buckets), secondary_bucket(key, buckets));
        let Some(place) = self.buckets[from].0.iter().position(|slot| slot.key == key) else { return };
        let second = self.buckets[at].0[1];
        if at != from && (second.is_empty() || self.free_slot_in_other_bucket(at, second.key).is_some()) {
            let slot = self.buckets[from].0[place];
            self.buckets[from].set(place, Slot::default());
            self.insert_front(at, slot);
        }
    }

    /// Forgets all words.
    pub(super) fn clear(&mut self) {
        self.buckets.fill(Bucket::default());
    }

    /// Writes a word to the front of a line. The answer is no if another one is lost for it.
    fn insert_front(&mut self, at: usize, slot: Slot) -> bool {
        let Some(evicted) = self.buckets[at].push_front(slot) else { return true };
        let Some((to, place)) = self.free_slot_in_other_bucket(at, evicted.key) else { return false };
        self.buckets[to].set(place, evicted);
        if at == primary_bucket(evicted.key, self.buckets.len()) {
            self.buckets[at].set_overflow();
        }
        true
    }

    /// A free slot of a word's other line.
    fn free_slot_in_other_bucket(&self, at: usize, key: Key) -> Option<(usize, usize)> {
        let other = self.other_bucket(at, key);
        let place = self.buckets[other].0.iter().rposition(Slot::is_empty)?;
        (other != at).then_some((other, place))
    }

    /// Of a word's two lines the one that is not `at`, unless both are the same.
    fn other_bucket(&self, at: usize, key: Key) -> usize {
        let primary = primary_bucket(key, self.buckets.len());
        if at == primary { secondary_bucket(key, self.buckets.len()) } else { primary }
    }

    /// Twice as many lines, each of which takes what it has from one that was there: its words, at home or aside, stay in it
    /// or go to the same place in the line that is as far behind it as there were lines.
    fn grow(&mut self) {
        let buckets = self.buckets.len();
        if self.buckets.grow(2 * buckets).is_err() {
            // Without memory it goes on forgetting words.
            return;
        }
        let (old, new) = self.buckets.split_at_mut(buckets);
        for (at, (stays, goes)) in old.iter_mut().zip(new).enumerate() {
            let Bucket(slots) = std::mem::take(stays);
            for (place, slot) in slots.into_iter().enumerate().filter(|(_, slot)| !slot.is_empty()) {
                let to = [primary_bucket(slot.key, 2 * buckets), secondary_bucket(slot.key, 2 * buckets)];
                let is_primary = primary_bucket(slot.key, buckets) == at;
                let bucket = if to[usize::from(!is_primary)] == at { &mut *stays } else { &mut *goes };
                bucket.set(place, slot);
            }
            // Which of the two it is would have to be looked for.
            if Bucket(slots).has_overflow() {
                stays.set_overflow();
                goes.set_overflow();
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
        let mut end = Appender::new(&mut ids, PackedIds::CAPACITY, Simd::best());
        let lookup = Lookup {
            buckets: &words.buckets,
            medium: &medium,
            long: &LongWords::new(0),
            ring: &ring,
            simd: Simd::best(),
        };
        let hit = lookup.append_ids(key(number), primary_bucket(key(number), words.buckets.len()) as u32, &mut end);
        drop(end);
        words.promote(key(number));
        hit.map(|_| ids)
    }

    #[test]
    fn a_table_that_is_half_full_loses_hardly_any_word() {
        let mut words = ShortWords::new(1 << 10);
        (0..1 << 10).for_each(|number| words.insert(slot(number), 0));
        for _ in 0..3 {
            let found = (0..1 << 10).filter(|&number| find(&mut words, number) == Some(vec![number, 7])).count();
            assert!(
                found >= (1 << 10) - words.evictions && words.evictions * 40 < 1 << 10,
                "{found} found, {} lost",
                words.evictions
            );
        }
    }

    #[test]
    fn a_line_that_a_word_is_brought_home_from_still_says_that_words_stand_aside() {
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
    fn it_grows_to_its_limit_and_keeps_what_it_had() {
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
        assert!(found + lost + words.evictions + 100 > 4 * INITIAL_BUCKETS, "{found} found, {lost} lost");
        (0..16 * INITIAL_BUCKETS as u32).for_each(|number| words.insert(slot(number), 4 * INITIAL_BUCKETS as u64));
        assert_eq!(words.buckets.len(), 4 * INITIAL_BUCKETS, "it is at its limit");
        assert_eq!(
            find(&mut words, 16 * INITIAL_BUCKETS as u32 - 1),
            Some(vec![16 * INITIAL_BUCKETS as u32 - 1, 7]),
            "the newest is there"
        );
    }

    #[test]
    fn growing_loses_no_word_at_home_or_aside() {
        let mut words = ShortWords::new(1 << 10);
        let buckets = words.buckets.len();
        words.buckets = Table::with_reserved(buckets / 4, buckets);
        let known =
            |words: &mut ShortWords| (0..700).filter(|&number| find(words, number) == Some(vec![number, 7])).collect();
        for number in 0..700 {
            // It may lose one, but does not grow.
            words.insert_front(primary_bucket(key(number), buckets / 4), slot(number));
        }
        let before: Vec<u32> = known(&mut words);
        let secondary = words.buckets.iter().filter(|bucket| bucket.has_overflow()).count();
        assert!(before.len() < 512 && secondary > 50, "{} known, words of {secondary} buckets secondary", before.len());
        for _ in 0..2 {
            words.grow();
            let after: Vec<u32> = known(&mut words);
            assert_eq!(after, before);
        }
        let held = |words: &ShortWords| {
            words.buckets.iter().flat_map(|bucket| bucket.0).filter(|slot| !slot.is_empty()).count()
        };
        assert_eq!((words.buckets.len(), held(&words)), (buckets, before.len()), "each stands once");
    }

    #[test]
    fn words_that_take_turns_now_and_then_do_not_make_it_grow() {
        let rounds = |apart: u64| {
            let mut words = ShortWords::new(2 * INITIAL_BUCKETS);
            (0..4 * INITIAL_BUCKETS as u32).for_each(|number| words.insert(slot(number), apart * u64::from(number)));
            words.buckets.len()
        };
        assert_eq!((rounds(1), rounds(2 * LOOKUPS_PER_EVICTION)), (2 * INITIAL_BUCKETS, INITIAL_BUCKETS));
    }

    #[test]
    fn seeds_are_found_and_those_without_room_are_left_out() {
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
    fn a_word_that_was_driven_out_comes_home_when_it_is_found() {
        let mut words = ShortWords::new(16);
        let same_home: Vec<u32> = (0..)
            .filter(|&number| primary_bucket(key(number), 16) == 3 && secondary_bucket(key(number), 16) != 3)
            .take(3)
            .collect();
        same_home.iter().for_each(|&number| words.insert(slot(number), 0));
        let is_primary =
            |words: &ShortWords, number: u32| words.buckets[3].0.iter().any(|slot| slot.key == key(number));
        assert!(!is_primary(&words, same_home[0]), "the oldest had to go");
        assert_eq!(find(&mut words, same_home[0]), Some(vec![same_home[0], 7]));
        assert!(is_primary(&words, same_home[0]));
        for &number in &same_home {
            assert_eq!(find(&mut words, number), Some(vec![number, 7]));
        }
        assert_eq!(words.evictions, 0);
    }
}
