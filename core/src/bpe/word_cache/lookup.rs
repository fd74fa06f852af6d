//! Many short words looked up at a time: the lines of all are asked for before the first is read, so that no word waits for the
//! line of the one before.

use std::ops::Range;

use super::Hit;
use super::key::{self, Key, LONG, folded};
use super::long::LongWords;
use super::medium::{self, MediumWords};
use super::ring::Ring;
use super::slot::{Line, Slot};
#[cfg(target_arch = "x86_64")]
use super::wide;
use crate::simd::append::Appender;
use crate::simd::{self, BLOCK, Simd};

/// The keys of adjacent words, and where each of them would be.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// How many words these are; of the lists so many count.
    pub(super) words: usize,
    pub(super) keys: Vec<Key>,
    /// Of a short word its line at home, of others their number among those that are not short. When the table has grown since, some words are
    /// not found there any more; they are merged again.
    pub(super) lines: Vec<u32>,
    /// Which of them are not short,
    pub(super) long: Vec<u32>,
    /// and where they would be, if they are of medium length.
    pub(super) medium: Vec<medium::Place>,
}

impl Places {
    pub(crate) fn key(&self, at: usize) -> Key {
        self.keys[at]
    }

    /// Where a word would be: the same words are at the same line.
    pub(crate) fn line(&self, at: usize) -> u32 {
        if self.keys[at] == LONG { self.medium(at).line } else { self.lines[at] }
    }

    /// Where a word that is not short would be.
    pub(super) fn medium(&self, at: usize) -> &medium::Place {
        &self.medium[self.lines[at] as usize]
    }

    /// Which of the words are not short.
    pub(crate) fn long(&self) -> impl Iterator<Item = usize> {
        self.long.iter().map(|&at| at as usize)
    }

    /// For so many words.
    fn resize(&mut self, words: usize) {
        self.words = words;
        if self.keys.len() < words {
            self.keys.resize(words, 0);
            self.lines.resize(words, 0);
        }
        self.long.clear();
        self.medium.clear();
        // As a simd needs it.
        self.long.reserve(words + BLOCK);
    }
}

/// How many words were found, one after the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) words: usize,
    /// See [`Hit::lengths_vary`], for all of them.
    pub(crate) lengths_vary: bool,
    /// The last of them that was not at home.
    pub(crate) aside: Option<usize>,
}

/// What is looked at when words are looked up, small enough for registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup<'a> {
    pub(super) lines: &'a [Line],
    pub(super) medium: &'a MediumWords,
    pub(super) long: &'a LongWords,
    pub(super) ring: &'a Ring,
    pub(super) simd: Simd,
}

impl<'a> Lookup<'a> {
    /// The places of adjacent words of `text`, the first of which starts at `start`. Asks for their lines.
    #[inline(always)]
    pub(super) fn ask_for(self, text: &[u8], start: u32, ends: &[u32], places: &mut Places) {
        places.resize(ends.len());
        let mut from = start;
        for (at, ends) in (0..).step_by(BLOCK).zip(ends.chunks(BLOCK)) {
            let words = at..at + ends.len();
            let long = self.ask_for_block(text, from, ends, &mut places.keys[words.clone()], &mut places.lines[words]);
            self.simd.push_positions(long, at as u32, &mut places.long);
            from = ends[ends.len() - 1];
        }
        for (number, &at) in (0..).zip(&places.long) {
            let at = at as usize;
            let start = if at == 0 { start } else { ends[at - 1] };
            places.lines[at] = number;
            let word = &text[start as usize..ends[at] as usize];
            if word.len() > medium::MOST {
                self.long.ask_for(word);
            }
            places.medium.push(self.medium.ask_for(word));
        }
    }

    /// The same for [`BLOCK`] words at most. The answer has a bit for each that is not short.
    #[inline(always)]
    fn ask_for_block(self, text: &[u8], start: u32, ends: &[u32], keys: &mut [Key], lines: &mut [u32]) -> u64 {
        let (done, mut long) = self.ask_for_eights(text, start, ends, keys, lines);
        let mut start = if done == 0 { start } else { ends[done - 1] };
        // So that it is known that there are as many of each.
        let (keys, lines) = (&mut keys[..ends.len()], &mut lines[..ends.len()]);
        for at in done..ends.len() {
            let key = key::of(text, start, ends[at]);
            let line = home(key, self.lines.len());
            simd::prefetch_at(self.lines, line);
            (keys[at], lines[at]) = (key, line as u32);
            long |= u64::from(ends[at] - start > key::SHORT as u32) << at;
            start = ends[at];
        }
        long
    }

    /// The same for the first words, as many as can be asked for eight at a time; how many these are is the first answer.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn ask_for_eights(
        self,
        text: &[u8],
        start: u32,
        ends: &[u32],
        keys: &mut [Key],
        lines: &mut [u32],
    ) -> (usize, u64) {
        let (mut done, mut long) = (0, 0);
        let Some(avx512) = self.simd.avx512() else { return (done, long) };
        while done < ends.len() {
            // The last eight are partly those before, so that none is left over.
            let first = done.min(ends.len().saturating_sub(wide::WORDS));
            let from = if first == 0 { start } else { ends[first - 1] };
            let Some(ends) = ends[first..].first_chunk() else { break };
            let keys = keys[first..].first_chunk_mut().expect("there are as many keys");
            let lines = lines[first..].first_chunk_mut().expect("there are as many lines");
            let last_line = self.lines.len().wrapping_sub(1) as u32;
            let Some(these) = wide::places(avx512, text, from, ends, last_line, keys, lines) else { break };
            lines.iter().for_each(|&line| simd::prefetch_at(self.lines, line as usize));
            long |= u64::from(these) << first;
            done = first + wide::WORDS;
        }
        (done, long)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn ask_for_eights(self, _: &[u8], _: u32, _: &[u32], _: &mut [Key], _: &mut [u32]) -> (usize, u64) {
        (0, 0)
    }

    /// Appends the ids of words, up to the first that is not known.
    ///
    /// # Panics
    /// If there is less room than for [`medium::MOST_IDS`] of each.
    #[inline(always)]
    pub(crate) fn push_known(self, places: &Places, words: Range<usize>, ids: &mut Appender<'_>) -> Known {
        let mut known = Known::default();
        loop {
            let left = words.start + known.words..words.end;
            let at_home = self.push_at_home(&places.keys[left.clone()], &places.lines[left], ids);
            known.words += at_home.words;
            known.lengths_vary |= at_home.lengths_vary;
            let at = words.start + known.words;
            if at == words.end {
                break;
            }
            let Some((hit, is_aside)) = self.push_elsewhere(places, at, ids) else { break };
            if is_aside {
                known.aside = Some(known.words);
            }
            known.words += 1;
            known.lengths_vary |= hit.lengths_vary;
        }
        known
    }

    /// The same, up to the first that is not at home.
    #[inline(always)]
    fn push_at_home(self, keys: &[Key], lines: &[u32], ids: &mut Appender<'_>) -> Known {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.simd.avx512() {
            return wide::push_at_home(avx512, (self.lines, self.ring), keys, lines, ids);
        }
        let mut known = Known::default();
        for (&key, &line) in keys.iter().zip(lines) {
            let slot = self.lines.get(line as usize).and_then(|line| at_home(line, key));
            let Some(hit) = slot.and_then(|slot| slot.push(self.ring, ids)) else { break };
            known.words += 1;
            known.lengths_vary |= hit.lengths_vary;
        }
        known
    }

    /// Appends the ids of a word that is not at home, if it stands aside, which the answer also tells, or is of medium length and known.
    #[inline(never)]
    fn push_elsewhere(self, places: &Places, at: usize, ids: &mut Appender<'_>) -> Option<(Hit, bool)> {
        let key = places.key(at);
        if key == LONG {
            return Some((self.medium.push(places.medium(at), self.ring, ids)?, false));
        }
        let home = self.lines.get(places.lines[at] as usize)?;
        Some((self.aside(key, home)?.push(self.ring, ids)?, true))
    }

    /// A bit for each of some words, [`BLOCK`] at most, that is short and not at home.
    #[inline(always)]
    pub(super) fn not_at_home(self, places: &Places, words: Range<usize>) -> u64 {
        let (keys, lines) = (&places.keys[words.clone()], &places.lines[words]);
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.simd.avx512() {
            return wide::not_at_home(avx512, self.lines, keys, lines);
        }
        let is_at_home = |key: Key, line: u32| {
            self.lines.get(line as usize).is_some_and(|line| line.0.iter().any(|slot| slot.key == key))
        };
        let bits = keys.iter().zip(lines).enumerate();
        bits.map(|(at, (&key, &line))| u64::from(key != LONG && !is_at_home(key, line)) << at).sum()
    }

    /// Appends the ids of a short word, if it is known.
    #[inline(always)]
    pub(super) fn push(self, key: Key, line: u32, ids: &mut Appender<'_>) -> Option<Hit> {
        let home = self.lines.get(line as usize)?;
        at_home(home, key).or_else(|| self.aside(key, home))?.push(self.ring, ids)
    }

    /// Whether a word stands aside that is not in its line at home.
    pub(super) fn is_aside(self, key: Key, home: u32) -> bool {
        self.lines.get(home as usize).is_some_and(|home| self.aside(key, home).is_some())
    }

    /// Asks ahead for what [`Self::is_aside`] looks at.
    #[inline(always)]
    pub(super) fn expect_aside(self, key: Key, home: u32) {
        if self.lines.get(home as usize).is_some_and(Line::overflows) {
            simd::prefetch_at(self.lines, aside(key, self.lines.len()));
        }
    }

    /// The slot of a word that is not in its line at home, if it stands aside.
    fn aside(self, key: Key, home: &Line) -> Option<&'a Slot> {
        if !home.overflows() {
            return None;
        }
        self.lines.get(aside(key, self.lines.len()))?.0.iter().find(|slot| slot.key == key)
    }
}

/// The slot of a line that has a key.
#[inline(always)]
fn at_home(line: &Line, key: Key) -> Option<&Slot> {
    // Chosen without a branch: which of the two it is cannot be foretold.
    let slot = &line.0[usize::from(line.0[1].key == key)];
    (slot.key == key).then_some(slot)
}

/// For [`home`].
pub(super) const HOME: u64 = 0x9E37_79B9_7F4A_7C15;

/// The first of a word's lines.
#[inline(always)]
pub(super) fn home(key: Key, lines: usize) -> usize {
    line(key, lines, HOME)
}

/// The other one; rarely both are the same.
pub(super) fn aside(key: Key, lines: usize) -> usize {
    line(key, lines, 0xD6E8_FEB8_6659_FD93)
}

#[inline(always)]
fn line(key: Key, lines: usize, multiplier: u64) -> usize {
    // There is a power of two of lines, fewer than the upper half has values.
    (folded(key).wrapping_mul(multiplier) >> 32) as usize & lines.wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::packed::PackedIds;
    use proptest::prelude::*;

    /// More than are looked at together.
    const MOST: usize = 2 * BLOCK + 20;

    /// Words of up to so many bytes, and where they start and end in a text.
    fn words(longest: usize) -> impl Strategy<Value = (Vec<u8>, u32, Vec<u32>)> {
        let lens = prop::collection::vec(prop_oneof![9 => 1..=key::SHORT, 1 => key::SHORT..=longest], 1..=MOST);
        let few = prop::collection::vec(prop_oneof![1u8..4, Just(0xFF)], 2000);
        (0usize..20, lens, prop_oneof![few, prop::collection::vec(any::<u8>(), 2000)], 0usize..40).prop_map(
            |(start, lens, mut text, behind)| {
                let mut end = start;
                let mut end_of = |len: &usize| {
                    end += len;
                    end as u32
                };
                let ends: Vec<u32> = lens.iter().map(&mut end_of).collect();
                text.resize(end + behind, 7);
                (text, start as u32, ends)
            },
        )
    }

    fn each_word<'a>(text: &'a [u8], start: u32, ends: &'a [u32]) -> impl Iterator<Item = &'a [u8]> {
        let starts = std::iter::once(start).chain(ends.iter().copied());
        starts.zip(ends).map(|(start, &end)| &text[start as usize..end as usize])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

        #[test]
        fn every_way_finds_the_same_places((text, start, ends) in words(40), bits in 0u32..12) {
            let (lines, medium, ring) = (vec![Line::default(); 1 << bits], MediumWords::new(1 << bits), Ring::new(0));
            let keys: Vec<Key> = each_word(&text, start, &ends).map(key::of_word).collect();
            let long: Vec<u32> = (0..).zip(&keys).filter(|&(_, &key)| key == LONG).map(|(at, _)| at).collect();
            let mut numbers = 0..;
            let mut line_of = |&key: &Key| if key == LONG { numbers.next().expect("no end") } else { home(key, lines.len()) as u32 };
            let line_numbers: Vec<u32> = keys.iter().map(&mut line_of).collect();
            for simd in Simd::all() {
                let mut places = Places::default();
                let lookup = Lookup { lines: &lines, medium: &medium, long: &LongWords::new(0), ring: &ring, simd };
                // What is known of other words before does not matter.
                lookup.ask_for(&text, start, &ends, &mut places);
                lookup.ask_for(&text, start, &ends[..1], &mut places);
                prop_assert_eq!(&places.long[..], if long.first() == Some(&0) { &[0][..] } else { &[] });
                lookup.ask_for(&text, start, &ends, &mut places);
                prop_assert_eq!(places.words, keys.len());
                prop_assert_eq!((&places.keys, &places.lines, &places.long), (&keys, &line_numbers, &long), "{:?}", simd);
                for (at, word) in each_word(&text, start, &ends).enumerate() {
                    let line = if keys[at] == LONG { medium.ask_for(word).line } else { line_numbers[at] };
                    prop_assert_eq!(places.line(at), line);
                }
            }
        }

        #[test]
        fn every_way_appends_the_ids_of_words_up_to_one_that_is_not_known(
            (text, start, ends) in words(33),
            counts in prop::collection::vec((prop_oneof![20 => 0..=PackedIds::CAPACITY, 4 => PackedIds::CAPACITY..=12, 1 => Just(usize::MAX)], any::<bool>(), 0u8..9), MOST),
            from in 0usize..4,
        ) {
            let (mut lines, mut medium, mut ring) = (vec![Line::default(); 1024], MediumWords::new(1 << 6), Ring::new(1 << 12));
            for (word, &(count, second, vary)) in each_word(&text, start, &ends).zip(&counts) {
                let key = key::of_word(word);
                let [home, aside] = [home(key, 1024), aside(key, 1024)];
                let is_known = [home, aside].iter().any(|&line| lines[line].0.iter().any(|slot| slot.key == key));
                if count == usize::MAX || is_known {
                    continue;
                }
                // Of some words ids that take three bytes.
                let ids = (0..count as u32).map(|at| at << if vary % 2 == 0 { 20 } else { 12 } | word[0] as u32);
                if key == LONG {
                    medium::Line::new(word, ids, vary == 0, &mut ring).map(|line| medium.insert(line));
                    continue;
                }
                let slot = Slot::packed(key, ids.clone());
                let slot = slot.or_else(|| Slot::in_ring(key, ids, &mut ring)).expect("there is room");
                let to = if vary % 3 == 1 { aside } else { home };
                if lines[to].0[usize::from(second)].is_empty() {
                    lines[to].set(usize::from(second), slot.with_lengths_that_vary(vary == 0));
                    lines[home].set_overflows();
                }
            }
            // One by one.
            let slot_at = |line: usize, word: &[u8]| lines[line].0.iter().find(|slot| slot.key == key::of_word(word));
            let slot_of = |word: &[u8]| slot_at(home(key::of_word(word), 1024), word);
            let from = from.min(ends.len());
            let (mut expected, mut known) = (vec![1, 2], Known::default());
            for word in each_word(&text, start, &ends).skip(from) {
                let mut end = Appender::new(&mut expected, medium::MOST_IDS, Simd::all()[0]);
                let hit = if word.len() > key::SHORT {
                    medium.push(&medium.ask_for(word), &ring, &mut end)
                } else {
                    let slot = slot_of(word).or_else(|| {
                        let slot = slot_at(aside(key::of_word(word), 1024), word)?;
                        known.aside = Some(known.words);
                        Some(slot)
                    });
                    slot.map(|slot| slot.push(&ring, &mut end).expect("the ring has not come round"))
                };
                let Some(hit) = hit else { break };
                known.lengths_vary |= hit.lengths_vary;
                known.words += 1;
            }
            let elsewhere = |word: &[u8]| word.len() <= key::SHORT && slot_of(word).is_none();
            let not_at_home: Vec<bool> = each_word(&text, start, &ends).map(elsewhere).collect();
            for simd in Simd::all() {
                let lookup = Lookup { lines: &lines, medium: &medium, long: &LongWords::new(0), ring: &ring, simd };
                let (mut places, mut ids) = (Places::default(), vec![1, 2]);
                lookup.ask_for(&text, start, &ends, &mut places);
                let mut end = Appender::new(&mut ids, (ends.len() - from) * medium::MOST_IDS, simd);
                let found = lookup.push_known(&places, from..ends.len(), &mut end);
                drop(end);
                prop_assert_eq!((found, &ids), (known, &expected), "{:?}", simd);
                for first in (0..ends.len()).step_by(BLOCK) {
                    let found = lookup.not_at_home(&places, first..ends.len().min(first + BLOCK));
                    let expected = not_at_home[first..].iter().take(BLOCK).enumerate();
                    prop_assert_eq!(found, expected.map(|(at, &bit)| u64::from(bit) << at).sum::<u64>(), "{:?}", simd);
                }
            }
        }
    }

    #[test]
    fn words_that_share_half_of_their_bytes_are_told_apart() {
        // All of them at home in the one line that there is.
        let [one, other] = [b"12345678abcdefg", b"xyzw1234ijklmno"];
        let ids = |slot: usize| Slot::packed(key::of_word([one, other][slot]), [slot as u32].into_iter());
        let mut line = Line::default();
        [0, 1].into_iter().for_each(|slot| line.set(slot, ids(slot).expect("a small id")));
        let (lines, medium, ring) = (vec![line], MediumWords::new(0), Ring::new(0));
        let halves = |first: &[u8], last: &[u8]| [&first[..8], &last[8..]].concat();
        let words =
            [one.to_vec(), other.to_vec(), halves(one, other), halves(other, one), halves(one, b"--------hijklmn")];
        for simd in Simd::all() {
            let lookup = Lookup { lines: &lines, medium: &medium, long: &LongWords::new(0), ring: &ring, simd };
            for (at, word) in words.iter().enumerate() {
                let text = [&word[..], &[0; 16]].concat();
                let (mut places, mut ids) = (Places::default(), vec![]);
                lookup.ask_for(&text, 0, &[word.len() as u32], &mut places);
                let mut end = Appender::new(&mut ids, key::SHORT, simd);
                let known = lookup.push_known(&places, 0..1, &mut end).words;
                drop(end);
                let expected = if at < 2 { (1, vec![at as u32]) } else { (0, vec![]) };
                assert_eq!((known, ids), expected, "{simd:?}");
                assert_eq!(lookup.not_at_home(&places, 0..1), u64::from(at >= 2), "{simd:?}");
            }
        }
    }

    #[test]
    fn what_is_not_in_the_table_is_not_found() {
        let (lines, medium, ring, text) = (vec![], MediumWords::new(0), Ring::new(0), [b'w'; 64]);
        let ends: Vec<u32> = (1..=32).collect();
        for simd in Simd::all() {
            let lookup = Lookup { lines: &lines, medium: &medium, long: &LongWords::new(0), ring: &ring, simd };
            let (mut places, mut ids) = (Places::default(), vec![]);
            lookup.ask_for(&text, 0, &ends, &mut places);
            let mut end = Appender::new(&mut ids, 32 * key::SHORT, simd);
            assert_eq!(lookup.push_known(&places, 0..32, &mut end), Known::default());
            assert_eq!(lookup.not_at_home(&places, 0..32), (1 << 32) - 1);
        }
    }
}
