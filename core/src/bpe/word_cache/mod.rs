//! Words seen before, with their ids: bounded, one per worker, kept from text to text.
//!
//! A word of up to [`MAX_SHORT_LEN`] bytes is its own key: its bytes and its length in 128 bits, no hash to compare, no pointer
//! to follow; it stands with its ids in a slot of half a cache line ([`short`], [`slot`]). So does one of up to 31 bytes, in a whole line ([`medium`]).
//! More or larger ids than fit there, and longer words with theirs ([`long`]), stand in the [`spill_ring`], where the newest overwrite the
//! oldest; a slot knows when what it points to is gone. Nothing is ever cleared as a whole. Short words that one worker merged are
//! told the others ([`shared`]). Words of a text are looked up many at a time ([`lookup`]), where it can be by AVX-512 (`probe_avx512`).

pub(crate) mod key;
mod long;
mod lookup;
mod medium;
#[cfg(target_arch = "x86_64")]
mod probe_avx512;
mod shared;
mod short;
mod slot;
mod spill_ring;

use std::sync::Arc;

use super::Symbol;
use crate::memory::OutOfMemory;
use crate::memory::fallible::catch;
use crate::simd::append::Appender;
use crate::simd::{BLOCK, Simd, bits};
use key::{Key, MAX_SHORT_LEN, NOT_SHORT};
use long::LongWords;
pub(crate) use lookup::{HitRun, Lookup, Probes};
pub(crate) use medium::MAX_IDS;
use medium::{MediumSlot, MediumWords};
pub(crate) use shared::SharedWords;
use short::ShortWords;
use slot::Slot;
use spill_ring::SpillRing;

/// Words longer than this, in bytes, are not kept: they hardly ever come again.
const MAX_WORD_LEN: usize = 256;

/// What is known of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Whether the ids alone do not tell how long each token is in the word.
    pub(crate) lengths_vary: bool,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct WordCache {
    short: ShortWords,
    medium: MediumWords,
    long: LongWords,
    ring: SpillRing,
    shared: Arc<SharedWords>,
    words: u64,
    misses: u64,
}

impl WordCache {
    /// A cache of at most `bytes`. Too little for anything turns it off, and so does a system without that much memory.
    pub(crate) fn new(bytes: usize) -> Self {
        catch(|| Ok::<_, OutOfMemory>(Self::of_bytes(bytes))).unwrap_or_else(|_| Self::of_bytes(0))
    }

    fn of_bytes(bytes: usize) -> Self {
        // Two thirds for short words, a twelfth for those of medium length, little for long ones, and a sixth for what does not fit.
        let bytes = if bytes < 6144 { 0 } else { bytes };
        let largest = |share: usize, size: usize| (share / size).checked_ilog2().map_or(0, |bits| 1 << bits);
        Self {
            short: ShortWords::new(largest(bytes / 3 * 2, 64)),
            medium: MediumWords::new(largest(bytes / 12, 64)),
            long: LongWords::new(largest(bytes / 48, 16)),
            ring: SpillRing::new(largest(bytes / 6, 4)),
            shared: Arc::default(),
            words: 0,
            misses: 0,
        }
    }

    /// What is learned is from now on told those that have the same `words`, and theirs is known here.
    pub(crate) fn share(&mut self, words: Arc<SharedWords>) {
        self.shared = words;
    }

    /// Begins anew with `words`, `count` at most, each of which has one id; the first ones, as many as there is room for.
    pub(crate) fn seed(&mut self, count: usize, words: impl Iterator<Item = (Key, u32)>) {
        if self.is_on() && count > 0 {
            let seed = || Ok::<_, OutOfMemory>(self.short.seed(count, words));
            // Without memory for the words it stays as it is.
            let _ = catch(seed);
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        !self.short.is_empty()
    }

    /// The places of adjacent words of `text`, whose lines are asked for. The first of them starts at `start`.
    #[inline(always)]
    pub(crate) fn prefetch(&self, text: &[u8], start: u32, ends: &[u32], probes: &mut Probes) {
        self.lookup().prefetch(text, start, ends, probes);
    }

    #[inline(always)]
    pub(crate) fn lookup(&self) -> Lookup<'_> {
        let Self { short, medium, long, ring, .. } = self;
        Lookup { buckets: short.buckets(), medium, long, ring, simd: Simd::best() }
    }

    /// After words were found, the first of which is `first`: brings one home that stood aside.
    #[inline(always)]
    pub(crate) fn promote(&mut self, probes: &Probes, first: usize, known: &HitRun) {
        if let Some(at) = known.secondary {
            self.short.promote(probes.key(first + at));
        }
    }

    /// Calls `unknown` with the place of each short word that is not known.
    #[inline(always)]
    pub(crate) fn for_each_miss(&mut self, probes: &Probes, mut unknown: impl FnMut(usize)) {
        let words = probes.words;
        for first in (0..words).step_by(BLOCK) {
            let misses = self.lookup().primary_misses(probes, first..words.min(first + BLOCK));
            for at in bits::positions(misses) {
                self.lookup().prefetch_secondary(probes.key(first + at), probes.bucket(first + at));
            }
            for at in bits::positions(misses) {
                let at = first + at;
                let key = probes.key(at);
                if self.lookup().is_in_secondary(key, probes.bucket(at)) || self.adopt_shared(key).is_some() {
                    continue;
                }
                self.short.prefetch_victim(key);
                unknown(at);
            }
        }
    }

    /// Whether one of the words of [`Self::ask_for`] is of medium length and not known.
    pub(crate) fn is_medium_miss(&self, probes: &Probes, at: usize, word: &[u8]) -> bool {
        let place = probes.medium(at);
        self.medium.is_miss(place, &self.ring)
            && !(self.medium.may_have_been_evicted(place) && self.long.find(word, &self.ring).is_some())
    }

    /// So many words are looked for: told by whoever does, for many together.
    #[inline(always)]
    pub(crate) fn count_lookups(&mut self, words: usize) {
        self.words += words as u64;
    }

    /// Appends the ids of a word, if it is known.
    pub(crate) fn append_ids(&mut self, word: &[u8], key: Key, ids: &mut Vec<u32>) -> Option<Hit> {
        let lookup = self.lookup();
        let bucket = lookup::primary_bucket(key, lookup.buckets.len()) as u32;
        let primary_hits = lookup.append_ids(key, bucket, &mut Appender::new(ids, MAX_SHORT_LEN, Simd::best()));
        primary_hits.or_else(|| self.lookup_slow(word, key, ids))
    }

    /// The same, when [`Lookup::push`] has not found it.
    pub(crate) fn lookup_slow(&mut self, word: &[u8], key: Key, ids: &mut Vec<u32>) -> Option<Hit> {
        if key == NOT_SHORT {
            let mut end = Appender::new(ids, MAX_IDS, Simd::best());
            let medium = self.medium.append_ids(&self.medium.prefetch(word), &self.ring, &mut end);
            drop(end);
            return medium.or_else(|| self.long.append_ids(word, &self.ring, ids));
        }
        let slot = self.adopt_shared(key)?;
        slot.append_ids(&self.ring, &mut Appender::new(ids, MAX_SHORT_LEN, Simd::best()))
    }

    /// A short word that another worker has told of, which is known here from now on.
    fn adopt_shared(&mut self, key: Key) -> Option<Slot> {
        let slot = Slot::from_value(key, self.shared.get(key)?);
        self.short.insert(slot, self.words);
        Some(slot)
    }

    /// Asks ahead for what [`Self::insert`] of a word will need.
    #[inline]
    pub(crate) fn prefetch_victim(&self, key: Key) {
        if key != NOT_SHORT {
            self.short.prefetch_victim(key);
        }
    }

    /// Remembers a word that was looked for and not found.
    pub(crate) fn insert(&mut self, word: &[u8], key: Key, symbols: &[Symbol], lengths_vary: bool) {
        self.misses += 1;
        if !self.is_on() || word.len() > MAX_WORD_LEN {
            return;
        }
        if self.ring.is_exhausted() {
            // Places would begin anew and old ones seem new again. It happens once in sixteen gigabytes written.
            self.short.clear();
            self.medium.clear();
            self.long.clear();
            self.ring.head = 0;
        }
        let ids = symbols.iter().map(|symbol| symbol.id);
        if key == NOT_SHORT {
            return self.insert_long(word, ids, lengths_vary);
        }
        if symbols.len() > MAX_SHORT_LEN {
            // Byte fallback writes a prefix or suffix as tokens too, so that there can be more of them than bytes.
            return;
        }
        if let Some(slot) = Slot::packed(key, ids.clone()) {
            let slot = slot.with_lengths_vary(lengths_vary);
            self.shared.put(key, *slot.value().bytes());
            self.short.insert(slot, self.words);
        } else if let Some(slot) = Slot::spilled(key, ids, &mut self.ring) {
            self.short.insert(slot.with_lengths_vary(lengths_vary), self.words);
        }
    }

    /// What words of medium length drive out is still found among the long ones.
    fn insert_long(&mut self, word: &[u8], ids: impl ExactSizeIterator<Item = u32> + Clone, lengths_vary: bool) {
        let Self { medium, long, ring, .. } = self;
        let Some(bucket) = MediumSlot::new(word, ids.clone(), lengths_vary, ring) else {
            return long.insert(word, ids, lengths_vary, ring);
        };
        let gone = medium.insert(bucket);
        if let Some(parts) = gone.and_then(|gone| gone.unpack(ring)) {
            long.insert(parts.word(), parts.ids().iter().copied(), parts.lengths_vary, ring);
        }
    }

    /// Words found and not found since the cache was made.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.words.saturating_sub(self.misses), self.misses)
    }

    /// Heap memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.short.memory_bytes()
            + self.medium.memory_bytes()
            + self.long.memory_bytes()
            + self.ring.words.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn look(cache: &mut WordCache, word: &[u8]) -> Option<(Vec<u32>, bool)> {
        let mut ids = vec![7];
        cache.count_lookups(1);
        let hit = cache.append_ids(word, key::of_range(word, 0, word.len() as u32), &mut ids);
        assert_eq!(ids[0], 7, "what was there stays");
        assert!(hit.is_some() || ids.len() == 1, "nothing is pushed without a hit");
        hit.map(|hit| (ids[1..].to_vec(), hit.lengths_vary))
    }

    #[test]
    fn what_it_finds_is_what_was_put_in_and_it_stays_within_its_bound() {
        const BYTES: usize = 64 << 10;
        let mut cache = WordCache::new(BYTES);
        let mut known: HashMap<Vec<u8>, (Vec<u32>, bool)> = HashMap::new();
        let (mut found, mut state) = (0, 1u32);
        for round in 0..60_000u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let number = if round % 2 == 0 { state >> 28 } else { state >> 16 };
            let word = format!("{number}{}", "w".repeat(number as usize % 40)).into_bytes();
            match look(&mut cache, &word) {
                Some(hit) => {
                    assert_eq!(Some(&hit), known.get(&word));
                    found += 1;
                }
                None => {
                    let symbols: Vec<_> = (0..number % 7).map(|i| Symbol { id: number + i, len: 1 }).collect();
                    let key = key::of_range(&word, 0, word.len() as u32);
                    cache.insert(&word, key, &symbols, number % 3 == 0);
                    known.insert(word, (symbols.iter().map(|s| s.id).collect(), number % 3 == 0));
                }
            }
            assert!(cache.memory_bytes() <= BYTES, "{} bytes", cache.memory_bytes());
        }
        assert!(found > 15_000, "{found} found");
        assert_eq!(cache.counts(), (found, 60_000 - found));
    }

    #[test]
    fn nothing_old_seems_new_when_the_ring_begins_anew() {
        let mut cache = WordCache::new(64 << 10);
        let symbols = |id: u32| vec![Symbol { id, len: 1 }; 9];
        let word = |number: u32| format!("{number:09}").into_bytes();
        let medium = |number: u32| format!("{number:018}").into_bytes();
        cache.insert(&word(0), key::of_range(&word(0), 0, 9), &symbols(0), false);
        cache.insert(&medium(0), NOT_SHORT, &[symbols(0), symbols(0)].concat(), false);
        cache.ring.head = u32::MAX - 3 * cache.ring.words.len() as u32;
        for number in 1..20_000 {
            cache.insert(&word(number), key::of_range(&word(number), 0, 9), &symbols(number), false);
            cache.insert(&medium(number), NOT_SHORT, &[symbols(number), symbols(number)].concat(), false);
            for back in [number, number / 2, 0] {
                if let Some((ids, _)) = look(&mut cache, &medium(back)) {
                    assert_eq!(ids, vec![back; 18], "after {number}");
                }
                if let Some((ids, _)) = look(&mut cache, &word(back)) {
                    assert_eq!(ids, vec![back; 9], "after {number}");
                }
            }
            assert_eq!(look(&mut cache, &word(number)), Some((vec![number; 9], false)));
        }
        assert!(cache.ring.head < 1 << 20, "the ring began anew");
    }

    #[test]
    fn a_short_word_with_more_ids_than_bytes_is_not_kept() {
        let mut cache = WordCache::new(64 << 10);
        for count in 0..40 {
            let word = format!("word{count}").into_bytes();
            cache.insert(
                &word,
                key::of_range(&word, 0, word.len() as u32),
                &vec![Symbol { id: 3, len: 1 }; count],
                true,
            );
            assert_eq!(look(&mut cache, &word).is_some(), count <= MAX_SHORT_LEN, "{count} ids");
        }
    }

    #[test]
    fn caches_that_share_know_the_short_words_of_each_other() {
        let shared = Arc::new(SharedWords::default());
        shared.start();
        let [mut one, mut other] = [(), ()].map(|()| {
            let mut cache = WordCache::new(64 << 10);
            cache.share(Arc::clone(&shared));
            cache
        });
        let words = ["word", "a word of many bytes", "ids", "15 bytes, a word"].map(str::as_bytes);
        for (at, word) in words.into_iter().enumerate() {
            let symbols = vec![Symbol { id: at as u32, len: 1 }; if word == b"ids" { 9 } else { 2 }];
            one.insert(word, key::of_range(word, 0, word.len() as u32), &symbols, at == 0);
        }
        let found = words.map(|word| look(&mut other, word));
        assert_eq!(
            found,
            [Some((vec![0, 0], true)), None, None, None],
            "long words and those of many ids are not shared"
        );
        // It is in its own cache now.
        other.share(Arc::default());
        assert_eq!(look(&mut other, b"word"), Some((vec![0, 0], true)));
    }

    #[test]
    fn a_cache_of_nothing_keeps_nothing() {
        let mut cache = WordCache::new(0);
        assert!(!cache.is_on());
        cache.insert(b"word", key::of_range(b"word", 0, 4), &[], false);
        assert_eq!(cache.memory_bytes(), 0);
    }
}
