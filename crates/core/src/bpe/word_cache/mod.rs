//! The word cache: words that were encoded before, with their ids. One per worker, of bounded size,
//! kept from text to text.
//!
//! - [`short`]: words of up to [`MAX_SHORT_LEN`] bytes. A word is its own key
//!   ([`crate::word_key`]), so a lookup compares no hash and follows no pointer. Word and ids share
//!   a slot of half a cache line ([`crate::simd::probe::Slot`]).
//! - [`medium`]: words of up to 31 bytes, with a cache line for each.
//! - [`long`]: words of up to 256 bytes. Longer ones hardly ever occur twice and are not cached.
//! - [`spill_ring`]: ids that do not fit into a slot, and the bytes of long words. The newest
//!   entries overwrite the oldest, and a slot can tell that its entry was overwritten.
//! - [`growth`]: when a table grows.
//! - [`growth_memory`]: the memory for that, which all workers share.
//! - [`lookup`]: many adjacent words of a text looked up at once.
//!
//! The cache is never cleared as a whole; a new word evicts at most one old word. (The exception is
//! the spill ring's counter, which wraps around after sixteen gigabytes.)
//!
//! The encoder looks up the words of a text in two steps, so that the cache lines of many words are
//! loaded at the same time. [`WordCache::probe`] computes the keys of a window of words and
//! prefetches their buckets. [`WordCache::append_words`] then appends their ids, and calls
//! [`MergeWord`] for the misses. Between the two, the encoder may insert all misses of the window
//! at once, which [`WordCache::for_each_miss`] lists. Prefetching, promotion, eviction and counting
//! are internal to the cache.

mod growth;
mod growth_memory;
mod long;
mod lookup;
mod medium;
mod short;
mod spill_ring;

use std::ops::Range;
use std::sync::Arc;

use super::Symbol;
use crate::memory::fallible::catch;
use crate::memory::{Grow, OutOfMemory};
use crate::simd::append::Appender;
use crate::simd::probe::Slot;
use crate::simd::probe::primary_bucket;
use crate::simd::{BLOCK, Simd, bits};
use crate::span::Span;
use crate::word_key::{Key, MAX_SHORT_LEN, NOT_SHORT};
pub(crate) use growth_memory::GrowthMemory;
use long::LongWords;
use lookup::Lookup;
pub(crate) use lookup::Probes;
use medium::{MAX_IDS, MediumSlot, MediumWords};
use short::ShortWords;
use spill_ring::SpillRing;

/// The maximum length, in bytes, of a word that is cached.
const MAX_WORD_LEN: usize = 256;

/// The number of words whose ids are appended at once, with capacity reserved for all of them.
const RUN: usize = 32;

/// What is known of a word besides its ids. The cache stores it with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordFlags {
    /// Whether the number of bytes that each token covers cannot be computed from the ids alone.
    pub(crate) lengths_vary: bool,
}

/// Encodes a word that is not in the cache.
pub(crate) trait MergeWord {
    type Error;

    /// The word's tokens and its flags.
    fn merge(&mut self, word: &[u8], key: Key) -> Result<(&[Symbol], WordFlags), Self::Error>;
}

/// A word window: adjacent words of a text whose buckets were prefetched together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordWindow<'a> {
    text: &'a [u8],
    start: u32,
    ends: &'a [u32],
    probes: &'a Probes,
}

impl<'a> WordWindow<'a> {
    /// The number of words.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The end of each word in the text, in bytes.
    pub(crate) fn ends(&self) -> &'a [u32] {
        self.ends
    }

    /// The range of a word in the text, in bytes.
    #[inline(always)]
    pub(crate) fn span(&self, at: usize) -> Span {
        Span { start: if at == 0 { self.start } else { self.ends[at - 1] }, end: self.ends[at] }
    }

    /// A word's bytes.
    #[inline(always)]
    pub(crate) fn word(&self, at: usize) -> &'a [u8] {
        &self.text[self.span(at).range()]
    }

    pub(crate) fn key(&self, at: usize) -> Key {
        self.probes.key(at)
    }

    /// A word's primary bucket. Equal words have equal buckets.
    pub(crate) fn bucket(&self, at: usize) -> u32 {
        self.probes.bucket(at)
    }
}

/// The word cache. See the module documentation.
#[derive(Debug)]
pub(crate) struct WordCache {
    short: ShortWords,
    medium: MediumWords,
    long: LongWords,
    ring: SpillRing,
    lookups: u64,
    misses: u64,
}

impl WordCache {
    /// A cache of at most `bytes`. It is off if `bytes` is less than 6144, or if memory is short.
    pub(crate) fn new(bytes: usize) -> Self {
        catch(|| Ok::<_, OutOfMemory>(Self::of_bytes(bytes))).unwrap_or_else(|_| Self::of_bytes(0))
    }

    /// The lengths of the tables of a cache of at most `bytes`: short, medium, long words, and the
    /// ring. Half of it is for short words, an eighth each for medium words and the ring, and a
    /// sixteenth for long words; powers of two take at least half of that.
    fn table_sizes(bytes: usize) -> [usize; 4] {
        let bytes = if bytes < 6144 { 0 } else { bytes };
        let shares = [(bytes / 2, 64), (bytes / 8, 64), (bytes / 16, 16), (bytes / 8, 4)];
        shares.map(|(share, size)| (share / size).checked_ilog2().map_or(0, |bits| 1 << bits))
    }

    fn of_bytes(bytes: usize) -> Self {
        let [short, medium, long, ring] = Self::table_sizes(bytes);
        Self {
            short: ShortWords::new(short),
            medium: MediumWords::new(medium),
            long: LongWords::new(long),
            ring: SpillRing::new(ring),
            lookups: 0,
            misses: 0,
        }
    }

    /// Shares memory with all caches that have the same `memory`: the tables grow beyond the size
    /// of this cache while the shared memory lasts. Only for a cache that has not grown yet.
    pub(crate) fn share_growth(&mut self, memory: Arc<GrowthMemory>) {
        if self.is_on() {
            self.short.share_growth(Arc::clone(&memory));
            self.medium.share_growth(Arc::clone(&memory));
            self.ring.share_growth(memory);
        }
    }

    /// The size in bytes to which a cache of at most `bytes` grows without the shared memory.
    pub(crate) fn own_bytes(bytes: usize) -> usize {
        let [short, medium, long, ring] = Self::table_sizes(bytes);
        64 * (short + medium) + 16 * long + 4 * ring
    }

    /// Replaces all short words by the first of `words`, each of which has one id. `count` is the
    /// maximum number of `words`.
    pub(crate) fn seed(&mut self, count: usize, words: impl Iterator<Item = (Key, u32)>) {
        if self.is_on() && count > 0 {
            let seed = || {
                self.short.seed(count, words);
                Ok::<_, OutOfMemory>(())
            };
            // If memory is short, the cache stays as it is.
            let _ = catch(seed);
        }
    }

    /// Whether the cache stores words.
    pub(crate) fn is_on(&self) -> bool {
        !self.short.is_empty()
    }

    /// Probes adjacent words of a text and prefetches their cache lines. The first word starts at
    /// byte `start`, word `i` ends at `ends[i]`.
    #[inline(always)]
    pub(crate) fn probe<'a>(
        &self,
        text: &'a [u8],
        start: u32,
        ends: &'a [u32],
        probes: &'a mut Probes,
    ) -> WordWindow<'a> {
        self.lookup().probe(text, start, ends, probes);
        WordWindow { text, start, ends, probes }
    }

    #[inline(always)]
    fn lookup(&self) -> Lookup<'_> {
        let Self { short, medium, long, ring, .. } = self;
        Lookup { buckets: short.buckets(), medium, long, ring, simd: Simd::best() }
    }

    /// Appends the ids of `words` of a window. A word that is not in the cache is merged and,
    /// unless it is too long, inserted. A flag of the result is set if it is set for any of the
    /// words.
    #[inline(always)]
    pub(crate) fn append_words<M: MergeWord>(
        &mut self,
        window: &WordWindow<'_>,
        words: Range<usize>,
        ids: &mut Vec<u32>,
        merge: &mut M,
    ) -> Result<WordFlags, M::Error> {
        let mut lengths_vary = false;
        self.lookups += words.len() as u64;
        let mut at = words.start;
        while at < words.end {
            let run = at..words.end.min(at + RUN);
            let mut appender = Appender::new(ids, run.len() * MAX_IDS, Simd::best());
            let hits = self.lookup().append_hits(window.probes, run.clone(), &mut appender);
            drop(appender);
            lengths_vary |= hits.lengths_vary;
            if let Some(secondary) = hits.secondary {
                self.short.promote(window.key(at + secondary));
            }
            at += hits.words;
            if at < run.end {
                lengths_vary |= self.append_missed(window.word(at), window.key(at), ids, merge)?.lengths_vary;
                at += 1;
            }
        }
        Ok(WordFlags { lengths_vary })
    }

    /// Appends the ids of a word that is not in the tables which [`Lookup::append_hits`] reads.
    #[cold]
    fn append_missed<M: MergeWord>(
        &mut self,
        word: &[u8],
        key: Key,
        ids: &mut Vec<u32>,
        merge: &mut M,
    ) -> Result<WordFlags, M::Error> {
        self.prefetch_victim(key);
        if let Some(flags) = self.lookup_slow(word, key, ids) {
            return Ok(flags);
        }
        self.merge_and_insert(word, key, ids, merge)
    }

    /// Merges a word, appends its ids and inserts it.
    fn merge_and_insert<M: MergeWord>(
        &mut self,
        word: &[u8],
        key: Key,
        ids: &mut Vec<u32>,
        merge: &mut M,
    ) -> Result<WordFlags, M::Error> {
        let (symbols, flags) = merge.merge(word, key)?;
        ids.grow(symbols.len());
        ids.extend(symbols.iter().map(|symbol| symbol.id));
        self.insert(word, key, symbols, flags);
        Ok(flags)
    }

    /// Appends the ids of a single word. Returns its flags if it was in the cache, or `None` if it
    /// was merged.
    pub(crate) fn append_word<M: MergeWord>(
        &mut self,
        word: &[u8],
        key: Key,
        ids: &mut Vec<u32>,
        merge: &mut M,
    ) -> Result<Option<WordFlags>, M::Error> {
        self.lookups += 1;
        if let Some(flags) = self.append_ids(word, key, ids) {
            return Ok(Some(flags));
        }
        self.merge_and_insert(word, key, ids, merge).map(|_| None)
    }

    /// Appends the ids of a word, if it is in the cache.
    fn append_ids(&self, word: &[u8], key: Key, ids: &mut Vec<u32>) -> Option<WordFlags> {
        let lookup = self.lookup();
        let primary = primary_bucket(key, lookup.buckets.len());
        let flags = lookup.append_ids(key, primary, &mut Appender::new(ids, MAX_SHORT_LEN, Simd::best()));
        flags.or_else(|| self.lookup_slow(word, key, ids))
    }

    /// Looks up a word that is not short in the medium and the long words.
    fn lookup_slow(&self, word: &[u8], key: Key, ids: &mut Vec<u32>) -> Option<WordFlags> {
        if key != NOT_SHORT {
            return None;
        }
        let probe = self.medium.probe(word);
        let mut appender = Appender::new(ids, MAX_IDS, Simd::best());
        let medium = self.medium.append_ids(&probe, &self.ring, &mut appender);
        drop(appender);
        if medium.is_some() || word.len() <= medium::MAX_LEN && !self.medium.may_have_been_evicted(&probe) {
            return medium;
        }
        self.long.append_ids(word, &self.ring, ids)
    }

    /// Prefetches the cache line to which the insertion of a word will move another word.
    #[inline]
    fn prefetch_victim(&self, key: Key) {
        if key != NOT_SHORT {
            self.short.prefetch_victim(key);
        }
    }

    /// Calls `miss` for each short or medium word of a window that is not in the cache, short words
    /// first. Longer words are left out.
    #[inline(always)]
    pub(crate) fn for_each_miss(&self, window: &WordWindow<'_>, mut miss: impl FnMut(usize)) {
        let probes = window.probes;
        for first in (0..probes.len()).step_by(BLOCK) {
            let misses = self.lookup().primary_misses(probes, first..probes.len().min(first + BLOCK));
            for at in bits::positions(misses) {
                self.lookup().prefetch_secondary(probes.key(first + at), probes.bucket(first + at));
            }
            for at in bits::positions(misses) {
                let at = first + at;
                let key = probes.key(at);
                if !self.lookup().is_in_secondary(key, probes.bucket(at)) {
                    self.short.prefetch_victim(key);
                    miss(at);
                }
            }
        }
        probes.not_short().filter(|&at| self.is_medium_miss(probes, at, window.word(at))).for_each(miss);
    }

    /// Whether a word that is not short is medium and not in the cache.
    fn is_medium_miss(&self, probes: &Probes, at: usize, word: &[u8]) -> bool {
        let probe = probes.medium(at);
        self.medium.is_miss(probe, &self.ring)
            && !(self.medium.may_have_been_evicted(probe) && self.long.find(word, &self.ring).is_some())
    }

    /// Inserts a word that was not found, after it was merged.
    pub(crate) fn insert(&mut self, word: &[u8], key: Key, symbols: &[Symbol], flags: WordFlags) {
        self.misses += 1;
        if !self.is_on() || word.len() > MAX_WORD_LEN {
            return;
        }
        if self.ring.is_exhausted() {
            self.clear();
        }
        let ids = symbols.iter().map(|symbol| symbol.id);
        let head = self.ring.head;
        if key == NOT_SHORT {
            self.insert_medium_or_long(word, ids, flags);
        } else {
            self.insert_short(key, ids, flags);
        }
        if self.ring.head != head {
            self.ring.record_entry(self.lookups);
        }
    }

    /// Starts again: places count from 0, so places in old slots would seem valid.
    #[cold]
    fn clear(&mut self) {
        self.short.clear();
        self.medium.clear();
        self.long.clear();
        self.ring.clear();
    }

    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn insert_short(
        &mut self,
        key: Key,
        ids: impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + Clone,
        flags: WordFlags,
    ) {
        if ids.len() > MAX_SHORT_LEN {
            // With byte fallback a prefix or a suffix becomes tokens too, so a word can have more
            // tokens than bytes.
            return;
        }
        if let Some(slot) = Slot::packed(key, ids.clone()).or_else(|| self.ring.spilled(key, ids)) {
            self.short.insert(slot.with_lengths_vary(flags.lengths_vary), self.lookups);
        }
    }

    /// Inserts a word that is not short. A medium word that this evicts moves to the long words.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn insert_medium_or_long(
        &mut self,
        word: &[u8],
        ids: impl ExactSizeIterator<Item = u32> + Clone,
        flags: WordFlags,
    ) {
        let Self { medium, long, ring, lookups, .. } = self;
        let Some(slot) = MediumSlot::new(word, ids.clone(), flags.lengths_vary, ring) else {
            return long.insert(word, ids, flags.lengths_vary, ring);
        };
        let evicted = medium.insert(slot, *lookups);
        if let Some(evicted) = evicted.and_then(|evicted| evicted.unpack(ring)) {
            long.insert(evicted.word(), evicted.ids().iter().copied(), evicted.lengths_vary, ring);
        }
    }

    /// The numbers of hits and misses since the cache was created. Their sum is the number of
    /// lookups, although a word that was inserted before its lookup, and then evicted or moved by a
    /// growing table, is merged twice.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let misses = self.misses.min(self.lookups);
        (self.lookups - misses, misses)
    }

    /// Heap memory, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.short.memory_bytes()
            + self.medium.memory_bytes()
            + self.long.memory_bytes()
            + self.ring.numbers.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word_key;
    use std::collections::HashMap;

    fn look(cache: &mut WordCache, word: &[u8]) -> Option<(Vec<u32>, bool)> {
        let mut ids = vec![7];
        cache.lookups += 1;
        let flags = cache.append_ids(word, word_key::of_word(word), &mut ids);
        assert_eq!(ids[0], 7, "ids before are not changed");
        assert!(flags.is_some() || ids.len() == 1, "nothing is appended without a hit");
        flags.map(|flags| (ids[1..].to_vec(), flags.lengths_vary))
    }

    #[test]
    fn inserted_words_are_found_within_the_bound() {
        const BYTES: usize = 64 << 10;
        let mut cache = WordCache::new(BYTES);
        let mut expected: HashMap<Vec<u8>, (Vec<u32>, bool)> = HashMap::new();
        let (mut found, mut state) = (0, 1u32);
        for round in 0..60_000u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let number = if round % 2 == 0 { state >> 28 } else { state >> 16 };
            let word = format!("{number}{}", "w".repeat(number as usize % 40)).into_bytes();
            match look(&mut cache, &word) {
                Some(hit) => {
                    assert_eq!(Some(&hit), expected.get(&word));
                    found += 1;
                }
                None => {
                    let symbols: Vec<_> = (0..number % 7).map(|i| Symbol { id: number + i, len: 1 }).collect();
                    let key = word_key::of_word(&word);
                    cache.insert(&word, key, &symbols, WordFlags { lengths_vary: number % 3 == 0 });
                    expected.insert(word, (symbols.iter().map(|s| s.id).collect(), number % 3 == 0));
                }
            }
            assert!(cache.memory_bytes() <= BYTES, "{} bytes", cache.memory_bytes());
        }
        assert!(found > 15_000, "{found} found");
        assert_eq!(cache.counts(), (found, 60_000 - found));
    }

    #[test]
    fn no_word_has_wrong_ids_after_the_ring_wraps_around() {
        let mut cache = WordCache::new(64 << 10);
        let symbols = |id: u32| vec![Symbol { id, len: 1 }; 9];
        let word = |number: u32| format!("{number:09}").into_bytes();
        let medium = |number: u32| format!("{number:018}").into_bytes();
        cache.insert(&word(0), word_key::of_word(&word(0)), &symbols(0), WordFlags { lengths_vary: false });
        cache.insert(&medium(0), NOT_SHORT, &[symbols(0), symbols(0)].concat(), WordFlags { lengths_vary: false });
        cache.ring.head = u32::MAX - 3 * cache.ring.numbers.len() as u32;
        for number in 1..20_000 {
            // The insertion of either may clear the cache, so the word that is asserted comes last.
            cache.insert(
                &medium(number),
                NOT_SHORT,
                &[symbols(number), symbols(number)].concat(),
                WordFlags { lengths_vary: false },
            );
            cache.insert(
                &word(number),
                word_key::of_word(&word(number)),
                &symbols(number),
                WordFlags { lengths_vary: false },
            );
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
        assert!(cache.ring.head < 1 << 20, "the ring wrapped around");
    }

    #[test]
    fn a_short_word_with_too_many_ids_is_not_cached() {
        let mut cache = WordCache::new(64 << 10);
        for count in 0..40 {
            let word = format!("word{count}").into_bytes();
            cache.insert(
                &word,
                word_key::of_word(&word),
                &vec![Symbol { id: 3, len: 1 }; count],
                WordFlags { lengths_vary: true },
            );
            assert_eq!(look(&mut cache, &word).is_some(), count <= MAX_SHORT_LEN, "{count} ids");
        }
    }

    #[test]
    fn a_cache_of_no_bytes_keeps_nothing() {
        let mut cache = WordCache::new(0);
        assert!(!cache.is_on());
        cache.insert(b"word", word_key::of_word(b"word"), &[], WordFlags { lengths_vary: false });
        assert_eq!(cache.memory_bytes(), 0);
    }
}
