//! Words seen before, with their ids: bounded, one per worker, kept from text to text.
//!
//! A word of up to [`SHORT`] bytes is its own key: its bytes and its length in 128 bits, no hash to compare, no pointer
//! to follow. Two slots of 32 bytes make one cache line; a word belongs to one line and looks at both slots. Three ids
//! stand in the slot; more of them, and longer words, stand in a side store. Where a line is full the slot that was
//! written first goes. When the side store is full everything is forgotten: that is rare, and simpler than to find out
//! what in it is still needed.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

use super::Symbol;

/// The longest word, in bytes, that is its own key.
pub(crate) const SHORT: usize = 15;
/// Words longer than this, in bytes, are not kept: they hardly ever come again.
const LONGEST: usize = 256;
/// So many ids fit into a slot.
const INLINE: usize = 3;

/// A short word and its length; never zero, because no word is empty.
pub(crate) type Key = u128;

#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(32))]
struct Slot {
    /// Zero marks an empty slot.
    key: Key,
    /// The ids; or, where there are more than [`INLINE`], the place of the first in the side store.
    ids: [u32; INLINE],
    /// How many ids there are, and above them [`VARIES`].
    count: u32,
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
struct Line([Slot; 2]);

const _: () = assert!(size_of::<Line>() == 64);

/// Set in a count when a token's length in the word is not the length of the token: offsets need the merge again.
const VARIES: u32 = 1 << 31;

/// What is known of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit<'a> {
    pub(crate) ids: &'a [u32],
    /// Whether the ids alone do not tell how long each token is in the word.
    pub(crate) lengths_vary: bool,
}

#[derive(Debug)]
struct LongWord {
    start: u32,
    len: u32,
    ids: u32,
    count: u32,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct WordCache {
    lines: Vec<Line>,
    side_ids: Vec<u32>,
    long_words: HashTable<LongWord>,
    long_bytes: Vec<u8>,
    /// Ids and bytes of the side store together, at most.
    side_limit: usize,
    hasher: RandomState,
    hits: u64,
    misses: u64,
}

impl WordCache {
    /// A cache of about `bytes`, three quarters of them for short words. Zero turns it off.
    pub(crate) fn new(bytes: usize) -> Self {
        let lines = match bytes / 4 * 3 / size_of::<Line>() {
            0 => 0,
            fitting => 1 << fitting.ilog2(),
        };
        Self {
            lines: vec![Line::default(); lines],
            side_ids: Vec::new(),
            long_words: HashTable::new(),
            long_bytes: Vec::new(),
            side_limit: if lines == 0 { 0 } else { bytes / 4 },
            hasher: RandomState::default(),
            hits: 0,
            misses: 0,
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        !self.lines.is_empty()
    }

    /// The key of `text[start..end]`, if the word is short. `text` goes on behind the word, so that most keys are one load.
    #[inline]
    pub(crate) fn key(text: &[u8], start: usize, end: usize) -> Option<Key> {
        let len = end - start;
        if len > SHORT {
            return None;
        }
        let bytes = match text[start..].first_chunk::<16>() {
            Some(chunk) => u128::from_le_bytes(*chunk) & ((1 << (8 * len)) - 1),
            None => {
                let mut chunk = [0; 16];
                chunk[..len].copy_from_slice(&text[start..end]);
                u128::from_le_bytes(chunk)
            }
        };
        Some(bytes | (len as u128) << 120)
    }

    #[inline]
    fn line(&self, key: Key) -> usize {
        let folded =
            u128::from(key as u64 ^ 0x9E37_79B9_7F4A_7C15) * u128::from((key >> 64) as u64 ^ 0xD6E8_FEB8_6659_FD93);
        (folded as u64 ^ (folded >> 64) as u64) as usize & (self.lines.len() - 1)
    }

    /// What is known of a short word.
    #[inline]
    pub(crate) fn short(&mut self, key: Key) -> Option<Hit<'_>> {
        let line = &self.lines[self.line(key)].0;
        let slot = if line[0].key == key {
            &line[0]
        } else if line[1].key == key {
            &line[1]
        } else {
            self.misses += 1;
            return None;
        };
        self.hits += 1;
        let count = (slot.count & !VARIES) as usize;
        let ids = if count <= INLINE { &slot.ids[..count] } else { &self.side_ids[slot.ids[0] as usize..][..count] };
        Some(Hit { ids, lengths_vary: slot.count & VARIES != 0 })
    }

    /// What is known of a word that is not short.
    pub(crate) fn long(&mut self, word: &[u8]) -> Option<Hit<'_>> {
        let hash = self.hasher.hash_one(word);
        let found =
            self.long_words.find(hash, |long| &self.long_bytes[long.start as usize..][..long.len as usize] == word);
        let Some(long) = found else {
            self.misses += 1;
            return None;
        };
        self.hits += 1;
        let ids = &self.side_ids[long.ids as usize..][..(long.count & !VARIES) as usize];
        Some(Hit { ids, lengths_vary: long.count & VARIES != 0 })
    }

    /// Remembers a word that was looked for and not found.
    pub(crate) fn insert(&mut self, word: &[u8], key: Option<Key>, symbols: &[Symbol], lengths_vary: bool) {
        if !self.is_on() || word.len() > LONGEST {
            return;
        }
        let count = symbols.len() as u32 | if lengths_vary { VARIES } else { 0 };
        let on_the_side = key.is_none() || symbols.len() > INLINE;
        if on_the_side {
            let used = self.side_ids.len() * 4 + self.long_bytes.len() + self.long_words.allocation_size();
            if used + symbols.len() * 4 + word.len() + size_of::<LongWord>() > self.side_limit {
                self.forget();
            }
        }
        let side_start = self.side_ids.len() as u32;
        if on_the_side {
            self.side_ids.extend(symbols.iter().map(|symbol| symbol.id));
        }
        let Some(key) = key else {
            let long = LongWord { start: self.long_bytes.len() as u32, len: word.len() as u32, ids: side_start, count };
            self.long_bytes.extend_from_slice(word);
            let Self { long_words, long_bytes, hasher, .. } = self;
            long_words.insert_unique(hasher.hash_one(word), long, |long| {
                hasher.hash_one(&long_bytes[long.start as usize..][..long.len as usize])
            });
            return;
        };
        let mut ids = [side_start, 0, 0];
        if !on_the_side {
            for (id, symbol) in ids.iter_mut().zip(symbols) {
                *id = symbol.id;
            }
        }
        let at = self.line(key);
        let line = &mut self.lines[at].0;
        if line[0].key != 0 {
            line[1] = line[0];
        }
        line[0] = Slot { key, ids, count };
    }

    /// Words found and not found since the cache was made.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.hits, self.misses)
    }

    /// Heap memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.lines.capacity() * size_of::<Line>()
            + self.side_ids.capacity() * 4
            + self.long_bytes.capacity()
            + self.long_words.allocation_size()
    }

    fn forget(&mut self) {
        self.lines.fill(Line::default());
        self.side_ids.clear();
        self.long_bytes.clear();
        self.long_words.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn look(cache: &mut WordCache, word: &[u8]) -> Option<(Vec<u32>, bool)> {
        let hit = match WordCache::key(word, 0, word.len()) {
            Some(key) => cache.short(key),
            None => cache.long(word),
        };
        hit.map(|hit| (hit.ids.to_vec(), hit.lengths_vary))
    }

    #[test]
    fn the_key_is_the_same_wherever_the_word_stands() {
        let text: Vec<u8> = (1..=60).collect();
        for start in 0..44 {
            for len in 1..=SHORT {
                let alone = &text[start..start + len];
                assert_eq!(WordCache::key(&text, start, start + len), WordCache::key(alone, 0, len));
            }
            assert_eq!(WordCache::key(&text, start, start + 16), None);
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
                    let key = WordCache::key(&word, 0, word.len());
                    cache.insert(&word, key, &symbols, number % 3 == 0);
                    known.insert(word, (symbols.iter().map(|s| s.id).collect(), number % 3 == 0));
                }
            }
            assert!(cache.memory_bytes() <= 2 * BYTES, "{} bytes", cache.memory_bytes());
        }
        assert!(found > 20_000, "{found} found");
        assert_eq!(cache.counts(), (found, 60_000 - found));
    }

    #[test]
    fn a_cache_of_nothing_keeps_nothing() {
        let mut cache = WordCache::new(0);
        assert!(!cache.is_on());
        cache.insert(b"word", WordCache::key(b"word", 0, 4), &[], false);
        assert_eq!(cache.memory_bytes(), 0);
    }
}
