//! Words that are their own keys.
//!
//! Two slots of 32 bytes make one cache line, and each word has two lines where it may stand. At home it is found without
//! a branch; what newer words drove out of there stands aside, as long as there is room, and comes home when it is found.
//! The table is twice as large when too many words were let go of, up to its limit.

use super::key::Key;
use super::lookup::{aside, home};
use super::slot::{Line, Slot};
use crate::memory::Table;
use crate::simd;

/// The first size of a table, in lines: 2 MiB.
const FIRST: usize = 32 << 10;
/// The first size of a table that knows many words from the start, at most: 8 MiB.
const FIRST_SEEDED: usize = 128 << 10;
/// A table grows when it let go of so many words: one for each so many lines,
const GROWS: usize = 32;
/// and of one at least for each so many that were looked for: a few that take turns are not worth it.
const SELDOM: u64 = 2048;

/// See the module.
#[derive(Debug)]
pub(super) struct ShortWords {
    lines: Table<Line>,
    limit: usize,
    /// How many words were let go of,
    dropped: usize,
    /// since so many had been looked for.
    since: u64,
}

impl ShortWords {
    /// At most so many lines, a power of two or none.
    pub(super) fn new(limit: usize) -> Self {
        Self { lines: Table::with_room(limit.min(FIRST), limit), limit, dropped: 0, since: 0 }
    }

    /// Begins anew with `words`, `count` at most, each of which has one id; with the first ones, so many that a quarter of the slots is taken.
    pub(super) fn seed(&mut self, count: usize, words: impl Iterator<Item = (Key, u32)>) {
        /// So many lines are asked for together.
        const TOGETHER: usize = 16;
        let lines = (2 * count).clamp(FIRST, FIRST_SEEDED).next_power_of_two().min(self.limit);
        self.lines = Table::with_room(lines, self.limit);
        let mut group = [Slot::default(); TOGETHER];
        let mut left = words.take(lines / 2);
        loop {
            let mut there = 0;
            for (slot, (key, id)) in group.iter_mut().zip(&mut left) {
                simd::prefetch(&self.lines[home(key, lines)]);
                *slot = Slot::packed(key, [id].into_iter()).unwrap_or_default();
                there += 1;
            }
            if there == 0 {
                break;
            }
            for slot in group[..there].iter().filter(|slot| !slot.is_empty()) {
                self.add(*slot);
            }
        }
    }

    /// Writes a word where there is room for it, if there is: those that came before stay where they are.
    fn add(&mut self, slot: Slot) {
        let at = home(slot.key, self.lines.len());
        if let Some(place) = self.lines[at].0.iter().position(Slot::is_empty) {
            self.lines[at].set(place, slot);
        } else if let Some((to, place)) = self.room_beside(at, slot.key) {
            self.lines[to].set(place, slot);
            self.lines[at].set_overflows();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.lines.memory_bytes()
    }

    #[inline(always)]
    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Asks ahead for the line that [`Self::insert`] will look at when a word drives another one out.
    #[inline]
    pub(super) fn expect(&self, key: Key) {
        let at = home(key, self.lines.len());
        if let Some(Line([_, second])) = self.lines.get(at)
            && !second.is_empty()
        {
            simd::prefetch(&self.lines[self.other_line(at, second.key)]);
        }
    }

    /// Writes a word that was not found, or whose ids are gone, when so many were looked for.
    pub(super) fn insert(&mut self, slot: Slot, looked_for: u64) {
        let at = home(slot.key, self.lines.len());
        if self.put(at, slot) {
            return;
        }
        self.dropped += 1;
        if self.dropped * GROWS > self.lines.len() {
            let is_often = looked_for - self.since < self.dropped as u64 * SELDOM;
            (self.dropped, self.since) = (0, looked_for);
            if is_often && self.lines.len() < self.limit {
                self.grow();
            }
        }
    }

    /// Brings a word home that stands aside, if there is room for the one that has to go for it.
    #[cold]
    pub(super) fn bring_home(&mut self, key: Key) {
        let lines = self.lines.len();
        let (at, from) = (home(key, lines), aside(key, lines));
        let Some(place) = self.lines[from].0.iter().position(|slot| slot.key == key) else { return };
        let second = self.lines[at].0[1];
        if at != from && (second.is_empty() || self.room_beside(at, second.key).is_some()) {
            let slot = self.lines[from].0[place];
            self.lines[from].set(place, Slot::default());
            self.put(at, slot);
        }
    }

    /// Forgets all words.
    pub(super) fn clear(&mut self) {
        self.lines.fill(Line::default());
    }

    /// Writes a word to the front of a line. The answer is no if another one is lost for it.
    fn put(&mut self, at: usize, slot: Slot) -> bool {
        let Some(driven_out) = self.lines[at].put(slot) else { return true };
        let Some((to, place)) = self.room_beside(at, driven_out.key) else { return false };
        self.lines[to].set(place, driven_out);
        if at == home(driven_out.key, self.lines.len()) {
            self.lines[at].set_overflows();
        }
        true
    }

    /// A free slot of a word's other line.
    fn room_beside(&self, at: usize, key: Key) -> Option<(usize, usize)> {
        let other = self.other_line(at, key);
        let place = self.lines[other].0.iter().rposition(Slot::is_empty)?;
        (other != at).then_some((other, place))
    }

    /// Of a word's two lines the one that is not `at`, unless both are the same.
    fn other_line(&self, at: usize, key: Key) -> usize {
        let home = home(key, self.lines.len());
        if at == home { aside(key, self.lines.len()) } else { home }
    }

    /// Twice as many lines, each of which takes what it has from one that was there: its words, at home or aside, stay in it
    /// or go to the same place in the line that is as far behind it as there were lines.
    fn grow(&mut self) {
        let lines = self.lines.len();
        self.lines.grow(2 * lines);
        let (old, new) = self.lines.split_at_mut(lines);
        for (at, (stays, goes)) in old.iter_mut().zip(new).enumerate() {
            let Line(slots) = std::mem::take(stays);
            for (place, slot) in slots.into_iter().enumerate().filter(|(_, slot)| !slot.is_empty()) {
                let to = [home(slot.key, 2 * lines), aside(slot.key, 2 * lines)];
                let is_home = home(slot.key, lines) == at;
                let line = if to[usize::from(!is_home)] == at { &mut *stays } else { &mut *goes };
                line.set(place, slot);
            }
            // Which of the two it is would have to be looked for.
            if Line(slots).overflows() {
                stays.set_overflows();
                goes.set_overflows();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::long::LongWords;
    use super::super::lookup::Lookup;
    use super::super::medium::MediumWords;
    use super::super::ring::Ring;
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
        let (medium, ring, mut ids) = (MediumWords::new(0), Ring::new(0), vec![]);
        let mut end = Appender::new(&mut ids, PackedIds::CAPACITY, Simd::best());
        let lookup =
            Lookup { lines: &words.lines, medium: &medium, long: &LongWords::new(0), ring: &ring, simd: Simd::best() };
        let hit = lookup.push(key(number), home(key(number), words.lines.len()) as u32, &mut end);
        drop(end);
        words.bring_home(key(number));
        hit.map(|_| ids)
    }

    #[test]
    fn a_table_that_is_half_full_loses_hardly_any_word() {
        let mut words = ShortWords::new(1 << 10);
        (0..1 << 10).for_each(|number| words.insert(slot(number), 0));
        for _ in 0..3 {
            let found = (0..1 << 10).filter(|&number| find(&mut words, number) == Some(vec![number, 7])).count();
            assert!(
                found >= (1 << 10) - words.dropped && words.dropped * 40 < 1 << 10,
                "{found} found, {} lost",
                words.dropped
            );
        }
    }

    #[test]
    fn a_line_that_a_word_is_brought_home_from_still_says_that_words_stand_aside() {
        let mut words = ShortWords::new(1 << 10);
        let lines = words.lines.len();
        let mut apart = (0..).filter(|&number| home(key(number), lines) != aside(key(number), lines));
        let one = apart.next().expect("no end");
        let from = aside(key(one), lines);
        words.lines[from].set(0, slot(one));
        words.lines[from].set_overflows();
        words.bring_home(key(one));
        assert_eq!(words.lines[home(key(one), lines)].0[0], slot(one));
        assert!(words.lines[from].overflows() && words.lines[from].0[0].is_empty());
    }

    #[test]
    fn it_grows_to_its_limit_and_keeps_what_it_had() {
        let mut words = ShortWords::new(4 * FIRST);
        let mut lost = 0;
        for number in 0..4 * FIRST as u32 {
            let before = words.lines.len();
            words.insert(slot(number), number.into());
            if words.lines.len() > before {
                lost += before / GROWS + 1;
            }
        }
        assert_eq!(words.lines.len(), 4 * FIRST);
        let found = (0..4 * FIRST as u32).filter(|&number| find(&mut words, number) == Some(vec![number, 7])).count();
        assert!(found + lost + words.dropped + 100 > 4 * FIRST, "{found} found, {lost} lost");
        (0..16 * FIRST as u32).for_each(|number| words.insert(slot(number), 4 * FIRST as u64));
        assert_eq!(words.lines.len(), 4 * FIRST, "it is at its limit");
        assert_eq!(
            find(&mut words, 16 * FIRST as u32 - 1),
            Some(vec![16 * FIRST as u32 - 1, 7]),
            "the newest is there"
        );
    }

    #[test]
    fn growing_loses_no_word_at_home_or_aside() {
        let mut words = ShortWords::new(1 << 10);
        let lines = words.lines.len();
        words.lines = Table::with_room(lines / 4, lines);
        let known =
            |words: &mut ShortWords| (0..700).filter(|&number| find(words, number) == Some(vec![number, 7])).collect();
        for number in 0..700 {
            // It may lose one, but does not grow.
            words.put(home(key(number), lines / 4), slot(number));
        }
        let before: Vec<u32> = known(&mut words);
        let aside = words.lines.iter().filter(|line| line.overflows()).count();
        assert!(before.len() < 512 && aside > 50, "{} known, words of {aside} lines aside", before.len());
        for _ in 0..2 {
            words.grow();
            let after: Vec<u32> = known(&mut words);
            assert_eq!(after, before);
        }
        let held =
            |words: &ShortWords| words.lines.iter().flat_map(|line| line.0).filter(|slot| !slot.is_empty()).count();
        assert_eq!((words.lines.len(), held(&words)), (lines, before.len()), "each stands once");
    }

    #[test]
    fn words_that_take_turns_now_and_then_do_not_make_it_grow() {
        let rounds = |apart: u64| {
            let mut words = ShortWords::new(2 * FIRST);
            (0..4 * FIRST as u32).for_each(|number| words.insert(slot(number), apart * u64::from(number)));
            words.lines.len()
        };
        assert_eq!((rounds(1), rounds(2 * SELDOM)), (2 * FIRST, FIRST));
    }

    #[test]
    fn seeds_are_found_and_those_without_room_are_left_out() {
        let mut words = ShortWords::new(64);
        words.seed(1000, (0..1000).map(|number| (key(number), number)));
        let known: Vec<u32> = (0..1000).filter(|&number| find(&mut words, number) == Some(vec![number])).collect();
        assert_eq!(known, (0..32).collect::<Vec<_>>(), "the first ones, so that a quarter of the slots is taken");
        words.seed(3, [(key(5), 1 << 24), (key(6), 7)].into_iter());
        assert_eq!((find(&mut words, 5), find(&mut words, 6), find(&mut words, 0)), (None, Some(vec![7]), None));
        let mut words = ShortWords::new(FIRST_SEEDED * 2);
        words.seed(FIRST_SEEDED / 4, std::iter::empty());
        assert_eq!(words.lines.len(), FIRST_SEEDED / 2);
        words.seed(usize::MAX / 4, std::iter::empty());
        assert_eq!(words.lines.len(), FIRST_SEEDED);
    }

    #[test]
    fn a_word_that_was_driven_out_comes_home_when_it_is_found() {
        let mut words = ShortWords::new(16);
        let same_home: Vec<u32> =
            (0..).filter(|&number| home(key(number), 16) == 3 && aside(key(number), 16) != 3).take(3).collect();
        same_home.iter().for_each(|&number| words.insert(slot(number), 0));
        let is_home = |words: &ShortWords, number: u32| words.lines[3].0.iter().any(|slot| slot.key == key(number));
        assert!(!is_home(&words, same_home[0]), "the oldest had to go");
        assert_eq!(find(&mut words, same_home[0]), Some(vec![same_home[0], 7]));
        assert!(is_home(&words, same_home[0]));
        for &number in &same_home {
            assert_eq!(find(&mut words, number), Some(vec![number, 7]));
        }
        assert_eq!(words.dropped, 0);
    }
}
