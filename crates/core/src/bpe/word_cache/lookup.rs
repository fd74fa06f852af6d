//! Lookups of adjacent words of a text, many at a time.
//!
//! [`Lookup::probe`] computes the position of each word of a window in the tables and prefetches
//! these cache lines; [`Lookup::append_hits`] then reads them. This module does not change the
//! cache.

use std::ops::Range;

use super::WordFlags;
use super::long::LongWords;
use super::medium::{self, MediumWords};
use super::spill_ring::SpillRing;
use crate::simd::append::Appender;
use crate::simd::probe::{AdjacentWords, Bucket, LENGTHS_VARY_FLAG, Slot};
use crate::simd::{self, BLOCK, Simd};
use crate::word_key::{self, Key, MULTIPLIERS, NOT_SHORT};

/// The positions at which to look for the words of a window. Reused from window to window.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    /// The number of words. The lists may be longer.
    words: usize,
    keys: Vec<Key>,
    /// The primary bucket of a short word; for other words, the index in `medium`. If the table
    /// grows after the probe, some words have moved to other buckets; they are merged again.
    buckets: Vec<u32>,
    /// The indices of the words that are not short.
    not_short: Vec<u32>,
    /// The probe of each word in `not_short`; it finds nothing if the word is longer than medium.
    medium: Vec<medium::MediumProbe>,
}

impl Probes {
    /// The number of words.
    pub(super) fn len(&self) -> usize {
        self.words
    }

    /// The key of a word.
    pub(crate) fn key(&self, at: usize) -> Key {
        self.keys[at]
    }

    /// The primary bucket of a word. Equal words have equal buckets.
    pub(crate) fn bucket(&self, at: usize) -> u32 {
        if self.keys[at] == NOT_SHORT { self.medium(at).bucket } else { self.buckets[at] }
    }

    /// The probe of a word that is not short.
    pub(super) fn medium(&self, at: usize) -> &medium::MediumProbe {
        &self.medium[self.buckets[at] as usize]
    }

    /// The indices of the words that are not short.
    pub(super) fn not_short(&self) -> impl Iterator<Item = usize> {
        self.not_short.iter().map(|&at| at as usize)
    }

    fn resize(&mut self, words: usize) {
        self.words = words;
        if self.keys.len() < words {
            self.keys.resize(words, 0);
            self.buckets.resize(words, 0);
        }
        self.not_short.clear();
        self.medium.clear();
        // `Simd::push_positions` needs spare capacity for a block.
        self.not_short.reserve(words + BLOCK);
    }
}

/// A run of adjacent words that were all found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct HitRun {
    /// The number of words.
    pub(super) words: usize,
    /// Whether [`WordFlags::lengths_vary`] is set for one of them.
    pub(super) lengths_vary: bool,
    /// The last of them that was found in its secondary bucket.
    pub(super) secondary: Option<usize>,
}

/// The parts of a cache that lookups read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lookup<'a> {
    pub(super) buckets: &'a [Bucket],
    pub(super) medium: &'a MediumWords,
    pub(super) long: &'a LongWords,
    pub(super) ring: &'a SpillRing,
    pub(super) simd: Simd,
}

impl<'a> Lookup<'a> {
    /// Computes the probes of adjacent words and prefetches their cache lines. The first word
    /// starts at byte `start` of the text, word `i` ends at `ends[i]`.
    #[inline(always)]
    pub(super) fn probe(self, text: &[u8], start: u32, ends: &[u32], probes: &mut Probes) {
        probes.resize(ends.len());
        let mut from = start;
        for (at, ends) in (0..).step_by(BLOCK).zip(ends.chunks(BLOCK)) {
            let words = at..at + ends.len();
            let (keys, buckets) = (&mut probes.keys[words.clone()], &mut probes.buckets[words]);
            let not_short =
                self.simd.prefetch_words(AdjacentWords { text, start: from, ends }, self.buckets, keys, buckets);
            self.simd.push_positions(not_short, at as u32, &mut probes.not_short);
            from = ends[ends.len() - 1];
        }
        for (index, &at) in (0..).zip(&probes.not_short) {
            let at = at as usize;
            let start = if at == 0 { start } else { ends[at - 1] };
            probes.buckets[at] = index;
            let word = &text[start as usize..ends[at] as usize];
            if word.len() > medium::MAX_LEN {
                self.long.prefetch(word);
            }
            probes.medium.push(self.medium.probe(word));
        }
        self.medium.touch(&probes.medium);
    }

    /// Appends the ids of words, up to the first that is not found.
    ///
    /// # Panics
    /// If the spare capacity of `ids` is smaller than [`medium::MAX_IDS`] for each word.
    #[inline(always)]
    pub(super) fn append_hits(self, probes: &Probes, words: Range<usize>, ids: &mut Appender<'_>) -> HitRun {
        let mut run = HitRun::default();
        loop {
            let rest = words.start + run.words..words.end;
            let (keys, buckets) = (&probes.keys[rest.clone()], &probes.buckets[rest]);
            let hits = self.simd.append_primary_hits(
                self.buckets,
                #[inline(always)]
                |packed| self.ring.spilled_ids(packed),
                keys,
                buckets,
                ids,
            );
            run.words += hits.words;
            run.lengths_vary |= hits.control & LENGTHS_VARY_FLAG != 0;
            let at = words.start + run.words;
            if at == words.end {
                break;
            }
            let Some((flags, is_secondary)) = self.append_other_hit(probes, at, ids) else { break };
            if is_secondary {
                run.secondary = Some(run.words);
            }
            run.words += 1;
            run.lengths_vary |= flags.lengths_vary;
        }
        run
    }

    /// Appends the ids of a word that is not in its primary bucket: a short word in its secondary
    /// bucket (then the second result is true), or a word of medium length.
    #[inline(never)]
    fn append_other_hit(self, probes: &Probes, at: usize, ids: &mut Appender<'_>) -> Option<(WordFlags, bool)> {
        let key = probes.key(at);
        if key == NOT_SHORT {
            return Some((self.medium.append_ids(probes.medium(at), self.ring, ids)?, false));
        }
        let primary = self.buckets.get(probes.buckets[at] as usize)?;
        Some((self.ring.append_ids_of(self.find_secondary(key, primary)?, ids)?, true))
    }

    /// A bit for each short word, of up to [`BLOCK`], that is not in its primary bucket.
    #[inline(always)]
    pub(super) fn primary_misses(self, probes: &Probes, words: Range<usize>) -> u64 {
        self.simd.primary_misses(self.buckets, &probes.keys[words.clone()], &probes.buckets[words])
    }

    /// Appends the ids of a single short word. `primary` is the number of its primary bucket.
    #[inline(always)]
    pub(super) fn append_ids(self, key: Key, primary: usize, ids: &mut Appender<'_>) -> Option<WordFlags> {
        let primary = self.buckets.get(primary)?;
        let slot = primary.find(key).or_else(|| self.find_secondary(key, primary))?;
        self.ring.append_ids_of(slot, ids)
    }

    /// Whether a short word that is not in its primary bucket is in its secondary one.
    pub(super) fn is_in_secondary(self, key: Key, primary: u32) -> bool {
        self.buckets.get(primary as usize).is_some_and(|primary| self.find_secondary(key, primary).is_some())
    }

    /// Prefetches what [`Self::is_in_secondary`] reads.
    #[inline(always)]
    pub(super) fn prefetch_secondary(self, key: Key, primary: u32) {
        if self.buckets.get(primary as usize).is_some_and(Bucket::has_overflow) {
            simd::prefetch_at(self.buckets, secondary_bucket(key, self.buckets.len()));
        }
    }

    fn find_secondary(self, key: Key, primary: &Bucket) -> Option<&'a Slot> {
        if !primary.has_overflow() {
            return None;
        }
        self.buckets.get(secondary_bucket(key, self.buckets.len()))?.0.iter().find(|slot| slot.key == key)
    }
}

/// The number of a key's secondary bucket; rarely it is the primary one too. As for
/// [`crate::simd::probe::primary_bucket`], the number of buckets is a power of two below 2³².
pub(super) fn secondary_bucket(key: Key, buckets: usize) -> usize {
    (word_key::hash(key, MULTIPLIERS[2]) >> 32) as usize & buckets.wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::packed::PackedIds;
    use crate::simd::probe::primary_bucket;
    use crate::word_key::MAX_SHORT_LEN;
    use proptest::prelude::*;

    /// More words than one block.
    const MAX_WORDS: usize = 2 * BLOCK + 20;

    /// A text, where its first word starts, and where each word ends. Words have up to `longest`
    /// bytes.
    fn words(longest: usize) -> impl Strategy<Value = (Vec<u8>, u32, Vec<u32>)> {
        let lens =
            prop::collection::vec(prop_oneof![9 => 1..=MAX_SHORT_LEN, 1 => MAX_SHORT_LEN..=longest], 1..=MAX_WORDS);
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
        fn every_level_finds_the_same_probes((text, start, ends) in words(40), bits in 0u32..12) {
            let (buckets, medium, ring) = (vec![Bucket::default(); 1 << bits], MediumWords::new(1 << bits), SpillRing::new(0));
            let keys: Vec<Key> = each_word(&text, start, &ends).map(word_key::of_word).collect();
            let not_short: Vec<u32> = (0..).zip(&keys).filter(|&(_, &key)| key == NOT_SHORT).map(|(at, _)| at).collect();
            let mut numbers = 0..;
            let mut bucket_of_key = |&key: &Key| if key == NOT_SHORT { numbers.next().expect("no end") } else { primary_bucket(key, buckets.len()) as u32 };
            let bucket_numbers: Vec<u32> = keys.iter().map(&mut bucket_of_key).collect();
            for simd in Simd::all() {
                let mut probes = Probes::default();
                let lookup = Lookup { buckets: &buckets, medium: &medium, long: &LongWords::new(0), ring: &ring, simd };
                // Earlier probes of other words must not affect the result.
                lookup.probe(&text, start, &ends, &mut probes);
                lookup.probe(&text, start, &ends[..1], &mut probes);
                prop_assert_eq!(&probes.not_short[..], if not_short.first() == Some(&0) { &[0][..] } else { &[] });
                lookup.probe(&text, start, &ends, &mut probes);
                prop_assert_eq!(probes.words, keys.len());
                prop_assert_eq!((&probes.keys, &probes.buckets, &probes.not_short), (&keys, &bucket_numbers, &not_short), "{:?}", simd);
                for (at, word) in each_word(&text, start, &ends).enumerate() {
                    let bucket = if keys[at] == NOT_SHORT { medium.probe(word).bucket } else { bucket_numbers[at] };
                    prop_assert_eq!(probes.bucket(at), bucket);
                }
            }
        }

        #[test]
        fn every_level_appends_the_ids_of_words_up_to_a_miss(
            (text, start, ends) in words(33),
            counts in prop::collection::vec((prop_oneof![20 => 0..=PackedIds::CAPACITY, 4 => PackedIds::CAPACITY..=12, 1 => Just(usize::MAX)], any::<bool>(), 0u8..9), MAX_WORDS),
            from in 0usize..4,
        ) {
            let (mut buckets, mut medium, mut ring) = (vec![Bucket::default(); 1024], MediumWords::new(1 << 6), SpillRing::new(1 << 12));
            for (word, &(count, second, vary)) in each_word(&text, start, &ends).zip(&counts) {
                let key = word_key::of_word(word);
                let [primary, secondary] = [primary_bucket(key, 1024), secondary_bucket(key, 1024)];
                let is_cached = [primary, secondary].iter().any(|&bucket| buckets[bucket].0.iter().any(|slot| slot.key == key));
                if count == usize::MAX || is_cached {
                    continue;
                }
                // Some words have ids of three bytes.
                let ids = (0..count as u32).map(|at| at << if vary % 2 == 0 { 20 } else { 12 } | u32::from(word[0]));
                if key == NOT_SHORT {
                    medium::MediumSlot::new(word, ids, vary == 0, &mut ring).map(|slot| medium.insert(slot, 0));
                    continue;
                }
                let slot = Slot::packed(key, ids.clone());
                let slot = slot.or_else(|| ring.spilled(key, ids)).expect("the ring is large enough");
                let to = if vary % 3 == 1 { secondary } else { primary };
                if buckets[to].0[usize::from(second)].is_empty() {
                    buckets[to].set(usize::from(second), slot.with_lengths_vary(vary == 0));
                    buckets[primary].set_overflow();
                }
            }
            // The naive way: word by word.
            let slot_at = |bucket: usize, word: &[u8]| buckets[bucket].0.iter().find(|slot| slot.key == word_key::of_word(word));
            let slot_of = |word: &[u8]| slot_at(primary_bucket(word_key::of_word(word), 1024), word);
            let from = from.min(ends.len());
            let (mut expected, mut run) = (vec![1, 2], HitRun::default());
            for word in each_word(&text, start, &ends).skip(from) {
                let mut appender = Appender::new(&mut expected, medium::MAX_IDS, Simd::all()[0]);
                let flags = if word.len() > MAX_SHORT_LEN {
                    medium.append_ids(&medium.probe(word), &ring, &mut appender)
                } else {
                    let slot = slot_of(word).or_else(|| {
                        let slot = slot_at(secondary_bucket(word_key::of_word(word), 1024), word)?;
                        run.secondary = Some(run.words);
                        Some(slot)
                    });
                    slot.map(|slot| ring.append_ids_of(slot, &mut appender).expect("nothing was overwritten"))
                };
                let Some(flags) = flags else { break };
                run.lengths_vary |= flags.lengths_vary;
                run.words += 1;
            }
            let elsewhere = |word: &[u8]| word.len() <= MAX_SHORT_LEN && slot_of(word).is_none();
            let misses: Vec<bool> = each_word(&text, start, &ends).map(elsewhere).collect();
            for simd in Simd::all() {
                let lookup = Lookup { buckets: &buckets, medium: &medium, long: &LongWords::new(0), ring: &ring, simd };
                let (mut probes, mut ids) = (Probes::default(), vec![1, 2]);
                lookup.probe(&text, start, &ends, &mut probes);
                let mut appender = Appender::new(&mut ids, (ends.len() - from) * medium::MAX_IDS, simd);
                let found = lookup.append_hits(&probes, from..ends.len(), &mut appender);
                drop(appender);
                prop_assert_eq!((found, &ids), (run, &expected), "{:?}", simd);
                for first in (0..ends.len()).step_by(BLOCK) {
                    let found = lookup.primary_misses(&probes, first..ends.len().min(first + BLOCK));
                    let expected = misses[first..].iter().take(BLOCK).enumerate();
                    prop_assert_eq!(found, expected.map(|(at, &bit)| u64::from(bit) << at).sum::<u64>(), "{:?}", simd);
                }
            }
        }
    }

    #[test]
    fn words_that_differ_in_two_bytes_are_spread_over_the_buckets() {
        const BUCKETS: usize = 1 << 12;
        for len in 2..=MAX_SHORT_LEN {
            for first in 0..len - 1 {
                let mut loads = [[0; BUCKETS]; 2];
                for number in 0..BUCKETS as u16 {
                    let mut word = [b'x'; MAX_SHORT_LEN];
                    // Twelve bits, as of two bytes that continue a character.
                    word[first..first + 2].copy_from_slice(&[0x80 | number as u8 & 0x3F, 0x80 | (number >> 6) as u8]);
                    let key = word_key::of_word(&word[..len]);
                    loads[0][primary_bucket(key, BUCKETS)] += 1;
                    loads[1][secondary_bucket(key, BUCKETS)] += 1;
                }
                let max_load = loads.map(|loads| loads.into_iter().max());
                assert!(
                    max_load.iter().all(|max_load| max_load.is_some_and(|max_load| max_load < 24)),
                    "bytes {first} and {}, length {len}: {max_load:?}",
                    first + 1
                );
            }
        }
    }

    #[test]
    fn words_that_share_half_of_their_bytes_are_distinguished() {
        // The table has one bucket.
        let [one, other] = [b"12345678abcdefg", b"xyzw1234ijklmno"];
        let ids = |slot: usize| Slot::packed(word_key::of_word([one, other][slot]), [slot as u32].into_iter());
        let mut bucket = Bucket::default();
        [0, 1].into_iter().for_each(|slot| bucket.set(slot, ids(slot).expect("a small id")));
        let (buckets, medium, ring) = (vec![bucket], MediumWords::new(0), SpillRing::new(0));
        let halves = |first: &[u8], last: &[u8]| [&first[..8], &last[8..]].concat();
        let words =
            [one.to_vec(), other.to_vec(), halves(one, other), halves(other, one), halves(one, b"--------hijklmn")];
        for simd in Simd::all() {
            let lookup = Lookup { buckets: &buckets, medium: &medium, long: &LongWords::new(0), ring: &ring, simd };
            for (at, word) in words.iter().enumerate() {
                let text = [&word[..], &[0; 16]].concat();
                let (mut probes, mut ids) = (Probes::default(), vec![]);
                lookup.probe(&text, 0, &[word.len() as u32], &mut probes);
                let mut appender = Appender::new(&mut ids, MAX_SHORT_LEN, simd);
                let run = lookup.append_hits(&probes, 0..1, &mut appender).words;
                drop(appender);
                let expected = if at < 2 { (1, vec![at as u32]) } else { (0, vec![]) };
                assert_eq!((run, ids), expected, "{simd:?}");
                assert_eq!(lookup.primary_misses(&probes, 0..1), u64::from(at >= 2), "{simd:?}");
            }
        }
    }

    #[test]
    fn an_empty_table_has_no_hits() {
        let (buckets, medium, ring, text) = (vec![], MediumWords::new(0), SpillRing::new(0), [b'w'; 64]);
        let ends: Vec<u32> = (1..=32).collect();
        for simd in Simd::all() {
            let lookup = Lookup { buckets: &buckets, medium: &medium, long: &LongWords::new(0), ring: &ring, simd };
            let (mut probes, mut ids) = (Probes::default(), vec![]);
            lookup.probe(&text, 0, &ends, &mut probes);
            let mut appender = Appender::new(&mut ids, 32 * MAX_SHORT_LEN, simd);
            assert_eq!(lookup.append_hits(&probes, 0..32, &mut appender), HitRun::default());
            assert_eq!(lookup.primary_misses(&probes, 0..32), (1 << 32) - 1);
        }
    }
}
