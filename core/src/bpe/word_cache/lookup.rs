//! Many short words looked up at a time: the lines of all are asked for before the first is read, so that no word waits for the
//! line of the one before.

use std::ops::Range;

use super::Hit;
use super::key::{self, Key, NOT_SHORT, fold};
use super::long::LongWords;
use super::medium::{self, MediumWords};
#[cfg(target_arch = "x86_64")]
use super::probe_avx512;
use super::slot::{Bucket, Slot};
use super::spill_ring::SpillRing;
use crate::simd::append::Appender;
use crate::simd::{self, BLOCK, Simd};

/// The keys of adjacent words, and where each of them would be.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    /// How many words these are; of the lists so many count.
    pub(super) words: usize,
    pub(super) keys: Vec<Key>,
    /// Of a short word its line at home, of others their number among those that are not short. When the table has grown since, some words are
    /// not found there any more; they are merged again.
    pub(super) buckets: Vec<u32>,
    /// Which of them are not short,
    pub(super) long: Vec<u32>,
    /// and where they would be, if they are of medium length.
    pub(super) medium: Vec<medium::MediumProbe>,
}

impl Probes {
    pub(crate) fn key(&self, at: usize) -> Key {
        self.keys[at]
    }

    /// Where a word would be: the same words are at the same line.
    pub(crate) fn bucket(&self, at: usize) -> u32 {
        if self.keys[at] == NOT_SHORT { self.medium(at).bucket } else { self.buckets[at] }
    }

    /// Where a word that is not short would be.
    pub(super) fn medium(&self, at: usize) -> &medium::MediumProbe {
        &self.medium[self.buckets[at] as usize]
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
            self.buckets.resize(words, 0);
        }
        self.long.clear();
        self.medium.clear();
        // As a simd needs it.
        self.long.reserve(words + BLOCK);
    }
}

/// How many words were found, one after the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HitRun {
    pub(crate) words: usize,
    /// See [`Hit::lengths_vary`], for all of them.
    pub(crate) lengths_vary: bool,
    /// The last of them that was not at home.
    pub(crate) secondary: Option<usize>,
}

/// What is looked at when words are looked up, small enough for registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup<'a> {
    pub(super) buckets: &'a [Bucket],
    pub(super) medium: &'a MediumWords,
    pub(super) long: &'a LongWords,
    pub(super) ring: &'a SpillRing,
    pub(super) simd: Simd,
}

impl<'a> Lookup<'a> {
    /// The places of adjacent words of `text`, the first of which starts at `start`. Asks for their lines.
    #[inline(always)]
    pub(super) fn prefetch(self, text: &[u8], start: u32, ends: &[u32], probes: &mut Probes) {
        probes.resize(ends.len());
        let mut from = start;
        for (at, ends) in (0..).step_by(BLOCK).zip(ends.chunks(BLOCK)) {
            let words = at..at + ends.len();
            let long =
                self.prefetch_block(text, from, ends, &mut probes.keys[words.clone()], &mut probes.buckets[words]);
            self.simd.push_positions(long, at as u32, &mut probes.long);
            from = ends[ends.len() - 1];
        }
        for (number, &at) in (0..).zip(&probes.long) {
            let at = at as usize;
            let start = if at == 0 { start } else { ends[at - 1] };
            probes.buckets[at] = number;
            let word = &text[start as usize..ends[at] as usize];
            if word.len() > medium::MAX_LEN {
                self.long.prefetch(word);
            }
            probes.medium.push(self.medium.prefetch(word));
        }
    }

    /// The same for [`BLOCK`] words at most. The answer has a bit for each that is not short.
    #[inline(always)]
    fn prefetch_block(self, text: &[u8], start: u32, ends: &[u32], keys: &mut [Key], buckets: &mut [u32]) -> u64 {
        let (done, mut long) = self.prefetch_eights(text, start, ends, keys, buckets);
        let mut start = if done == 0 { start } else { ends[done - 1] };
        // So that it is known that there are as many of each.
        let (keys, buckets) = (&mut keys[..ends.len()], &mut buckets[..ends.len()]);
        for at in done..ends.len() {
            let key = key::of_range(text, start, ends[at]);
            let bucket = primary_bucket(key, self.buckets.len());
            simd::prefetch_at(self.buckets, bucket);
            (keys[at], buckets[at]) = (key, bucket as u32);
            long |= u64::from(ends[at] - start > key::MAX_SHORT_LEN as u32) << at;
            start = ends[at];
        }
        long
    }

    /// The same for the first words, as many as can be asked for eight at a time; how many these are is the first answer.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn prefetch_eights(
        self,
        text: &[u8],
        start: u32,
        ends: &[u32],
        keys: &mut [Key],
        buckets: &mut [u32],
    ) -> (usize, u64) {
        let (mut done, mut long) = (0, 0);
        let Some(avx512) = self.simd.avx512() else { return (done, long) };
        while done < ends.len() {
            // The last eight are partly those before, so that none is left over.
            let first = done.min(ends.len().saturating_sub(probe_avx512::WORDS));
            let from = if first == 0 { start } else { ends[first - 1] };
            let Some(ends) = ends[first..].first_chunk() else { break };
            let keys = keys[first..].first_chunk_mut().expect("there are as many keys");
            let buckets = buckets[first..].first_chunk_mut().expect("there are as many buckets");
            let last_bucket = self.buckets.len().wrapping_sub(1) as u32;
            let Some(these) = probe_avx512::probe_keys(avx512, text, from, ends, last_bucket, keys, buckets) else {
                break;
            };
            buckets.iter().for_each(|&bucket| simd::prefetch_at(self.buckets, bucket as usize));
            long |= u64::from(these) << first;
            done = first + probe_avx512::WORDS;
        }
        (done, long)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn prefetch_eights(self, _: &[u8], _: u32, _: &[u32], _: &mut [Key], _: &mut [u32]) -> (usize, u64) {
        (0, 0)
    }

    /// Appends the ids of words, up to the first that is not known.
    ///
    /// # Panics
    /// If there is less room than for [`medium::MOST_IDS`] of each.
    #[inline(always)]
    pub(crate) fn append_hits(self, probes: &Probes, words: Range<usize>, ids: &mut Appender<'_>) -> HitRun {
        let mut known = HitRun::default();
        loop {
            let left = words.start + known.words..words.end;
            let primary_hits = self.append_primary_hits(&probes.keys[left.clone()], &probes.buckets[left], ids);
            known.words += primary_hits.words;
            known.lengths_vary |= primary_hits.lengths_vary;
            let at = words.start + known.words;
            if at == words.end {
                break;
            }
            let Some((hit, is_secondary)) = self.append_other_hit(probes, at, ids) else { break };
            if is_secondary {
                known.secondary = Some(known.words);
            }
            known.words += 1;
            known.lengths_vary |= hit.lengths_vary;
        }
        known
    }

    /// The same, up to the first that is not at home.
    #[inline(always)]
    fn append_primary_hits(self, keys: &[Key], buckets: &[u32], ids: &mut Appender<'_>) -> HitRun {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.simd.avx512() {
            return probe_avx512::append_primary_hits(avx512, (self.buckets, self.ring), keys, buckets, ids);
        }
        let mut known = HitRun::default();
        for (&key, &bucket) in keys.iter().zip(buckets) {
            let slot = self.buckets.get(bucket as usize).and_then(|bucket| find_in_bucket(bucket, key));
            let Some(hit) = slot.and_then(|slot| slot.append_ids(self.ring, ids)) else { break };
            known.words += 1;
            known.lengths_vary |= hit.lengths_vary;
        }
        known
    }

    /// Appends the ids of a word that is not at home, if it stands aside, which the answer also tells, or is of medium length and known.
    #[inline(never)]
    fn append_other_hit(self, probes: &Probes, at: usize, ids: &mut Appender<'_>) -> Option<(Hit, bool)> {
        let key = probes.key(at);
        if key == NOT_SHORT {
            return Some((self.medium.append_ids(probes.medium(at), self.ring, ids)?, false));
        }
        let primary = self.buckets.get(probes.buckets[at] as usize)?;
        Some((self.find_secondary(key, primary)?.append_ids(self.ring, ids)?, true))
    }

    /// A bit for each of some words, [`BLOCK`] at most, that is short and not at home.
    #[inline(always)]
    pub(super) fn primary_misses(self, probes: &Probes, words: Range<usize>) -> u64 {
        let (keys, buckets) = (&probes.keys[words.clone()], &probes.buckets[words]);
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = self.simd.avx512() {
            return probe_avx512::primary_misses(avx512, self.buckets, keys, buckets);
        }
        let is_hit = |key: Key, bucket: u32| {
            self.buckets.get(bucket as usize).is_some_and(|bucket| bucket.0.iter().any(|slot| slot.key == key))
        };
        let bits = keys.iter().zip(buckets).enumerate();
        bits.map(|(at, (&key, &bucket))| u64::from(key != NOT_SHORT && !is_hit(key, bucket)) << at).sum()
    }

    /// Appends the ids of a short word, if it is known.
    #[inline(always)]
    pub(super) fn append_ids(self, key: Key, bucket: u32, ids: &mut Appender<'_>) -> Option<Hit> {
        let primary = self.buckets.get(bucket as usize)?;
        find_in_bucket(primary, key).or_else(|| self.find_secondary(key, primary))?.append_ids(self.ring, ids)
    }

    /// Whether a word stands aside that is not in its line at home.
    pub(super) fn is_in_secondary(self, key: Key, primary: u32) -> bool {
        self.buckets.get(primary as usize).is_some_and(|primary| self.find_secondary(key, primary).is_some())
    }

    /// Asks ahead for what [`Self::is_aside`] looks at.
    #[inline(always)]
    pub(super) fn prefetch_secondary(self, key: Key, primary: u32) {
        if self.buckets.get(primary as usize).is_some_and(Bucket::has_overflow) {
            simd::prefetch_at(self.buckets, secondary_bucket(key, self.buckets.len()));
        }
    }

    /// The slot of a word that is not in its line at home, if it stands aside.
    fn find_secondary(self, key: Key, primary: &Bucket) -> Option<&'a Slot> {
        if !primary.has_overflow() {
            return None;
        }
        self.buckets.get(secondary_bucket(key, self.buckets.len()))?.0.iter().find(|slot| slot.key == key)
    }
}

/// The slot of a line that has a key.
#[inline(always)]
fn find_in_bucket(bucket: &Bucket, key: Key) -> Option<&Slot> {
    // Chosen without a branch: which of the two it is cannot be foretold.
    let slot = &bucket.0[usize::from(bucket.0[1].key == key)];
    (slot.key == key).then_some(slot)
}

/// For [`home`].
pub(super) const PRIMARY_MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// The first of a word's lines.
#[inline(always)]
pub(super) fn primary_bucket(key: Key, buckets: usize) -> usize {
    bucket_of(key, buckets, PRIMARY_MULTIPLIER)
}

/// The other one; rarely both are the same.
pub(super) fn secondary_bucket(key: Key, buckets: usize) -> usize {
    bucket_of(key, buckets, 0xD6E8_FEB8_6659_FD93)
}

#[inline(always)]
fn bucket_of(key: Key, buckets: usize, multiplier: u64) -> usize {
    // There is a power of two of lines, fewer than the upper half has values.
    (fold(key).wrapping_mul(multiplier) >> 32) as usize & buckets.wrapping_sub(1)
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
        let lens = prop::collection::vec(
            prop_oneof![9 => 1..=key::MAX_SHORT_LEN, 1 => key::MAX_SHORT_LEN..=longest],
            1..=MOST,
        );
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
            let (buckets, medium, ring) = (vec![Bucket::default(); 1 << bits], MediumWords::new(1 << bits), SpillRing::new(0));
            let keys: Vec<Key> = each_word(&text, start, &ends).map(key::of_word).collect();
            let long: Vec<u32> = (0..).zip(&keys).filter(|&(_, &key)| key == NOT_SHORT).map(|(at, _)| at).collect();
            let mut numbers = 0..;
            let mut bucket_of_key = |&key: &Key| if key == NOT_SHORT { numbers.next().expect("no end") } else { primary_bucket(key, buckets.len()) as u32 };
            let bucket_numbers: Vec<u32> = keys.iter().map(&mut bucket_of_key).collect();
            for simd in Simd::all() {
                let mut probes = Probes::default();
                let lookup = Lookup { buckets: &buckets, medium: &medium, long: &LongWords::new(0), ring: &ring, simd };
                // What is known of other words before does not matter.
                lookup.prefetch(&text, start, &ends, &mut probes);
                lookup.prefetch(&text, start, &ends[..1], &mut probes);
                prop_assert_eq!(&probes.long[..], if long.first() == Some(&0) { &[0][..] } else { &[] });
                lookup.prefetch(&text, start, &ends, &mut probes);
                prop_assert_eq!(probes.words, keys.len());
                prop_assert_eq!((&probes.keys, &probes.buckets, &probes.long), (&keys, &bucket_numbers, &long), "{:?}", simd);
                for (at, word) in each_word(&text, start, &ends).enumerate() {
                    let bucket = if keys[at] == NOT_SHORT { medium.prefetch(word).bucket } else { bucket_numbers[at] };
                    prop_assert_eq!(probes.bucket(at), bucket);
                }
            }
        }

        #[test]
        fn every_way_appends_the_ids_of_words_up_to_one_that_is_not_known(
            (text, start, ends) in words(33),
            counts in prop::collection::vec((prop_oneof![20 => 0..=PackedIds::CAPACITY, 4 => PackedIds::CAPACITY..=12, 1 => Just(usize::MAX)], any::<bool>(), 0u8..9), MOST),
            from in 0usize..4,
        ) {
            let (mut buckets, mut medium, mut ring) = (vec![Bucket::default(); 1024], MediumWords::new(1 << 6), SpillRing::new(1 << 12));
            for (word, &(count, second, vary)) in each_word(&text, start, &ends).zip(&counts) {
                let key = key::of_word(word);
                let [primary, secondary] = [primary_bucket(key, 1024), secondary_bucket(key, 1024)];
                let is_known = [primary, secondary].iter().any(|&bucket| buckets[bucket].0.iter().any(|slot| slot.key == key));
                if count == usize::MAX || is_known {
                    continue;
                }
                // Of some words ids that take three bytes.
                let ids = (0..count as u32).map(|at| at << if vary % 2 == 0 { 20 } else { 12 } | word[0] as u32);
                if key == NOT_SHORT {
                    medium::MediumSlot::new(word, ids, vary == 0, &mut ring).map(|bucket| medium.insert(bucket));
                    continue;
                }
                let slot = Slot::packed(key, ids.clone());
                let slot = slot.or_else(|| Slot::spilled(key, ids, &mut ring)).expect("there is room");
                let to = if vary % 3 == 1 { secondary } else { primary };
                if buckets[to].0[usize::from(second)].is_empty() {
                    buckets[to].set(usize::from(second), slot.with_lengths_vary(vary == 0));
                    buckets[primary].set_overflow();
                }
            }
            // One by one.
            let slot_at = |bucket: usize, word: &[u8]| buckets[bucket].0.iter().find(|slot| slot.key == key::of_word(word));
            let slot_of = |word: &[u8]| slot_at(primary_bucket(key::of_word(word), 1024), word);
            let from = from.min(ends.len());
            let (mut expected, mut known) = (vec![1, 2], HitRun::default());
            for word in each_word(&text, start, &ends).skip(from) {
                let mut end = Appender::new(&mut expected, medium::MAX_IDS, Simd::all()[0]);
                let hit = if word.len() > key::MAX_SHORT_LEN {
                    medium.append_ids(&medium.prefetch(word), &ring, &mut end)
                } else {
                    let slot = slot_of(word).or_else(|| {
                        let slot = slot_at(secondary_bucket(key::of_word(word), 1024), word)?;
                        known.secondary = Some(known.words);
                        Some(slot)
                    });
                    slot.map(|slot| slot.append_ids(&ring, &mut end).expect("the ring has not come round"))
                };
                let Some(hit) = hit else { break };
                known.lengths_vary |= hit.lengths_vary;
                known.words += 1;
            }
            let elsewhere = |word: &[u8]| word.len() <= key::MAX_SHORT_LEN && slot_of(word).is_none();
            let misses: Vec<bool> = each_word(&text, start, &ends).map(elsewhere).collect();
            for simd in Simd::all() {
                let lookup = Lookup { buckets: &buckets, medium: &medium, long: &LongWords::new(0), ring: &ring, simd };
                let (mut probes, mut ids) = (Probes::default(), vec![1, 2]);
                lookup.prefetch(&text, start, &ends, &mut probes);
                let mut end = Appender::new(&mut ids, (ends.len() - from) * medium::MAX_IDS, simd);
                let found = lookup.append_hits(&probes, from..ends.len(), &mut end);
                drop(end);
                prop_assert_eq!((found, &ids), (known, &expected), "{:?}", simd);
                for first in (0..ends.len()).step_by(BLOCK) {
                    let found = lookup.primary_misses(&probes, first..ends.len().min(first + BLOCK));
                    let expected = misses[first..].iter().take(BLOCK).enumerate();
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
                lookup.prefetch(&text, 0, &[word.len() as u32], &mut probes);
                let mut end = Appender::new(&mut ids, key::MAX_SHORT_LEN, simd);
                let known = lookup.append_hits(&probes, 0..1, &mut end).words;
                drop(end);
                let expected = if at < 2 { (1, vec![at as u32]) } else { (0, vec![]) };
                assert_eq!((known, ids), expected, "{simd:?}");
                assert_eq!(lookup.primary_misses(&probes, 0..1), u64::from(at >= 2), "{simd:?}");
            }
        }
    }

    #[test]
    fn what_is_not_in_the_table_is_not_found() {
        let (buckets, medium, ring, text) = (vec![], MediumWords::new(0), SpillRing::new(0), [b'w'; 64]);
        let ends: Vec<u32> = (1..=32).collect();
        for simd in Simd::all() {
            let lookup = Lookup { buckets: &buckets, medium: &medium, long: &LongWords::new(0), ring: &ring, simd };
            let (mut probes, mut ids) = (Probes::default(), vec![]);
            lookup.prefetch(&text, 0, &ends, &mut probes);
            let mut end = Appender::new(&mut ids, 32 * key::MAX_SHORT_LEN, simd);
            assert_eq!(lookup.append_hits(&probes, 0..32, &mut end), HitRun::default());
            assert_eq!(lookup.primary_misses(&probes, 0..32), (1 << 32) - 1);
        }
    }
}
