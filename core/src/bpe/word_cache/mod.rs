//! Words seen before, with their ids: bounded, one per worker, kept from text to text.
//!
//! A word of up to [`SHORT`] bytes is its own key: its bytes and its length in 128 bits, no hash to compare, no pointer
//! to follow; it stands with its ids in a slot of half a cache line ([`short`]). So does one of up to 31 bytes, in a whole line ([`medium`]).
//! More or larger ids than fit there, and longer words with theirs ([`long`]), stand in the [`ring`], where the newest overwrite the
//! oldest; a slot knows when what it points to is gone. Nothing is ever cleared as a whole. Short words that one worker merged are
//! told the others ([`shared`]).

mod long;
mod medium;
mod ring;
mod shared;
mod short;

use std::sync::Arc;

use super::Symbol;
use crate::simd::Classifier;
use crate::simd::append::Appender;
use long::LongWords;
use medium::{Line, MediumWords};
use ring::Ring;
pub(crate) use shared::SharedWords;
pub(crate) use short::{Lookup, Place};
use short::{ShortWords, Slot};

/// The longest word, in bytes, that is its own key.
pub(crate) const SHORT: usize = 15;
/// Words longer than this, in bytes, are not kept: they hardly ever come again.
const LONGEST: usize = 256;

/// A short word and its length; never zero, because no word is empty.
pub(crate) type Key = u128;
/// The key of all words that are not short. No slot has it.
pub(crate) const LONG: Key = Key::MAX;

/// Whether it is the key of a short word, and not of an empty one.
pub(crate) fn is_short(key: Key) -> bool {
    key != 0 && key != LONG
}

/// The bytes of a short word that nothing follows, each half of it in a load of its own.
fn bytes_of(word: &[u8]) -> Key {
    let ends = |first: u64, last: u64, len: usize| Key::from(first) | Key::from(last) << (8 * (word.len() - len));
    if let (Some(first), Some(last)) = (word.first_chunk(), word.last_chunk()) {
        ends(u64::from_le_bytes(*first), u64::from_le_bytes(*last), 8)
    } else if let (Some(first), Some(last)) = (word.first_chunk(), word.last_chunk()) {
        ends(u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into(), 4)
    } else {
        word.iter().rev().fold(0, |bytes, &byte| bytes << 8 | Key::from(byte))
    }
}

/// Both halves of a key in one, for tables that multiply it by an odd number of their own.
#[inline(always)]
pub(super) fn folded(key: Key) -> u64 {
    key as u64 ^ ((key >> 64) as u64).rotate_left(29)
}

/// The bytes of a word of each length in a load of sixteen.
pub(super) const KEY_MASKS: [Key; SHORT + 1] = {
    let mut masks = [0; SHORT + 1];
    let mut len = 1;
    while len <= SHORT {
        masks[len] = (1 << (8 * len)) - 1;
        len += 1;
    }
    masks
};

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
    ring: Ring,
    shared: Arc<SharedWords>,
    words: u64,
    misses: u64,
}

impl WordCache {
    /// A cache of at most `bytes`. Too little for anything turns it off.
    pub(crate) fn new(bytes: usize) -> Self {
        // Two thirds for short words, a twelfth for those of medium length, little for long ones, and a sixth for what does not fit.
        let bytes = if bytes < 6144 { 0 } else { bytes };
        let largest = |share: usize, size: usize| (share / size).checked_ilog2().map_or(0, |bits| 1 << bits);
        Self {
            short: ShortWords::new(largest(bytes / 3 * 2, 64)),
            medium: MediumWords::new(largest(bytes / 12, 64)),
            long: LongWords::new(largest(bytes / 48, 16)),
            ring: Ring::new(largest(bytes / 6, 4)),
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
            self.short.seed(count, words);
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        !self.short.is_empty()
    }

    /// The key of `text[start..end]`, or [`LONG`]. `text` goes on behind the word, so that most keys are one load.
    #[inline(always)]
    pub(crate) fn key(text: &[u8], start: u32, end: u32) -> Key {
        let len = (end - start) as usize;
        if len > SHORT {
            return LONG;
        }
        let start = start as usize;
        let bytes = match text.get(start..start + 16) {
            Some(chunk) => u128::from_le_bytes(*chunk.first_chunk().expect("sixteen bytes")) & KEY_MASKS[len],
            None => bytes_of(&text[start..end as usize]),
        };
        bytes | (len as u128) << 120
    }

    /// The key of a word that stands alone, or [`LONG`].
    pub(crate) fn key_of(word: &[u8]) -> Key {
        Self::key(word, 0, word.len() as u32)
    }

    /// Asks ahead for what will be looked at to find a word that is not short.
    #[inline]
    pub(crate) fn ask_for_long(&self, word: &[u8]) {
        self.medium.ask_for(word);
    }

    #[inline(always)]
    pub(crate) fn lookup(&self) -> Lookup<'_> {
        self.short.lookup(&self.ring)
    }

    /// So many words are looked for: told by whoever does, for many together.
    #[inline(always)]
    pub(crate) fn looked_up(&mut self, words: usize) {
        self.words += words as u64;
    }

    /// Appends the ids of a word, if it is known.
    pub(crate) fn push(&mut self, word: &[u8], key: Key, ids: &mut Vec<u32>) -> Option<Hit> {
        let lookup = self.lookup();
        let at_home = lookup.push(&lookup.place(key), &mut Appender::new(ids, SHORT, Classifier::best()));
        at_home.or_else(|| self.push_further(word, key, ids))
    }

    /// The same, when [`Lookup::push`] has not found it.
    pub(crate) fn push_further(&mut self, word: &[u8], key: Key, ids: &mut Vec<u32>) -> Option<Hit> {
        if key == LONG {
            let medium = self.medium.push(word, &mut Appender::new(ids, medium::MOST_IDS, Classifier::best()));
            return medium.or_else(|| self.long.push(word, &self.ring, ids));
        }
        let mut end = Appender::new(ids, SHORT, Classifier::best());
        self.short.push_aside(key, &self.ring, &mut end).or_else(|| {
            let slot = Slot::from_value(key, self.shared.get(key)?);
            self.short.insert(slot, self.words);
            slot.push(&self.ring, &mut end)
        })
    }

    /// Asks ahead for what [`Self::insert`] of a word will need.
    #[inline]
    pub(crate) fn expect(&self, key: Key) {
        if key != LONG {
            self.short.expect(key);
        }
    }

    /// Remembers a word that was looked for and not found.
    pub(crate) fn insert(&mut self, word: &[u8], key: Key, symbols: &[Symbol], lengths_vary: bool) {
        self.misses += 1;
        if !self.is_on() || word.len() > LONGEST {
            return;
        }
        if self.ring.is_at_its_end() {
            // Places would begin anew and old ones seem new again. It happens once in sixteen gigabytes written.
            self.short.clear();
            self.long.clear();
            self.ring.head = 0;
        }
        let ids = symbols.iter().map(|symbol| symbol.id);
        if key == LONG {
            return self.insert_long(word, ids, lengths_vary);
        }
        if symbols.len() > SHORT {
            // Byte fallback writes a prefix or suffix as tokens too, so that there can be more of them than bytes.
            return;
        }
        if let Some(slot) = Slot::packed(key, ids.clone()) {
            let slot = slot.with_lengths_that_vary(lengths_vary);
            self.shared.put(key, slot.value());
            self.short.insert(slot, self.words);
        } else if let Some(place) = self.ring.put(ids) {
            let slot = Slot::in_ring(key, place, symbols.len() as u32);
            self.short.insert(slot.with_lengths_that_vary(lengths_vary), self.words);
        }
    }

    /// What words of medium length drive out is still found among the long ones.
    fn insert_long(&mut self, word: &[u8], ids: impl ExactSizeIterator<Item = u32> + Clone, lengths_vary: bool) {
        let Self { medium, long, ring, .. } = self;
        let Some(line) = Line::new(word, ids.clone(), lengths_vary) else {
            return long.insert(word, ids, lengths_vary, ring);
        };
        if let Some(gone) = medium.insert(line) {
            gone.with_parts(|word, ids, lengths_vary| long.insert(word, ids.iter().copied(), lengths_vary, ring));
        }
    }

    /// Words found and not found since the cache was made.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.words - self.misses, self.misses)
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
        cache.looked_up(1);
        let hit = cache.push(word, WordCache::key(word, 0, word.len() as u32), &mut ids);
        assert_eq!(ids[0], 7, "what was there stays");
        assert!(hit.is_some() || ids.len() == 1, "nothing is pushed without a hit");
        hit.map(|hit| (ids[1..].to_vec(), hit.lengths_vary))
    }

    #[test]
    fn the_key_is_the_same_wherever_the_word_stands() {
        let text: Vec<u8> = (1..=60).collect();
        for start in 0..44 {
            for len in 1..=SHORT {
                let alone = &text[start as usize..start as usize + len];
                assert_eq!(WordCache::key(&text, start, start + len as u32), WordCache::key(alone, 0, len as u32));
            }
            assert_eq!(WordCache::key(&text, start, start + 16), LONG);
        }
        assert_ne!(WordCache::key(b"a", 0, 1), WordCache::key(b"a\0", 0, 2));
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
                    let key = WordCache::key(&word, 0, word.len() as u32);
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
        cache.insert(&word(0), WordCache::key(&word(0), 0, 9), &symbols(0), false);
        cache.ring.head = u32::MAX - 3 * cache.ring.words.len() as u32;
        for number in 1..20_000 {
            cache.insert(&word(number), WordCache::key(&word(number), 0, 9), &symbols(number), false);
            for back in [number, number / 2, 0] {
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
                WordCache::key(&word, 0, word.len() as u32),
                &vec![Symbol { id: 3, len: 1 }; count],
                true,
            );
            assert_eq!(look(&mut cache, &word).is_some(), count <= SHORT, "{count} ids");
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
            one.insert(word, WordCache::key(word, 0, word.len() as u32), &symbols, at == 0);
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
        cache.insert(b"word", WordCache::key(b"word", 0, 4), &[], false);
        assert_eq!(cache.memory_bytes(), 0);
    }
}
