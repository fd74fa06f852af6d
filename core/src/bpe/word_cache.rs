//! Words seen before, with their ids: bounded, one per worker, kept from text to text.
//!
//! A word of up to [`SHORT`] bytes is its own key: its bytes and its length in 128 bits, no hash to compare, no pointer
//! to follow. Two slots of 32 bytes make one cache line; a word belongs to one line and looks at both slots. Five ids of
//! 24 bits stand in the slot. More or larger ids, and longer words with theirs, stand in the [`Ring`], where the newest
//! overwrite the oldest; a slot knows when what it points to is gone. Where a line is full the slot that was written
//! first goes. Nothing is ever cleared as a whole, and nothing grows.

use foldhash::fast::RandomState;
use std::hash::BuildHasher;

use super::Symbol;
use crate::memory::{Table, Zeroed};
use crate::simd;

/// The longest word, in bytes, that is its own key.
pub(crate) const SHORT: usize = 15;
/// Words longer than this, in bytes, are not kept: they hardly ever come again.
const LONGEST: usize = 256;
/// So many ids fit into a slot, if none is larger than [`ID_BITS`] allow.
const INLINE: usize = 5;
const ID_BITS: u32 = 24;
/// In place of a count: the ids stand in the ring.
const IN_RING: usize = 0xF;
/// Beside a count: a token's length in the word is not the length of the token, so offsets need the merge again.
const VARIES: u8 = 0x80;

/// A short word and its length; never zero, because no word is empty.
pub(crate) type Key = u128;

#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(32))]
struct Slot {
    /// Zero marks an empty slot.
    key: Key,
    /// [`INLINE`] ids of three bytes, or the ids' place in the ring and their count, of four bytes each; little-endian.
    /// In the last byte the count or [`IN_RING`], and [`VARIES`].
    value: [u8; 16],
}

impl Slot {
    fn in_ring(&self) -> (u32, usize) {
        let [place, count, ..] = self.value.as_chunks::<4>().0 else { unreachable!("sixteen bytes are four numbers") };
        (u32::from_le_bytes(*place), u32::from_le_bytes(*count) as usize)
    }
}

/// A short word and where it would be.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    pub(crate) key: Key,
    line: usize,
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
struct Line([Slot; 2]);

const _: () = assert!(size_of::<Line>() == 64);

// SAFETY: numbers and bytes, of which zero is one; such a line is empty.
#[allow(unsafe_code)]
unsafe impl Zeroed for Line {}

/// A word that is not short: both its ids and its bytes stand in the ring, the ids first.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
struct LongSlot {
    hash: u64,
    place: u32,
    len: u16,
    /// How many ids there are, at most one per byte.
    count: u16,
}

const _: () = assert!(size_of::<LongSlot>() == 16);

// SAFETY: numbers, of which zero is one; what it points to is empty.
#[allow(unsafe_code)]
unsafe impl Zeroed for LongSlot {}

/// In a long slot's `len`: see [`VARIES`].
const LONG_VARIES: u16 = 1 << 15;

/// The bytes of a word of each length in a load of sixteen.
const KEY_MASKS: [Key; SHORT + 1] = {
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
    lines: Table<Line>,
    long: Table<LongSlot>,
    ring: Ring,
    hasher: RandomState,
    hits: u64,
    misses: u64,
}

impl WordCache {
    /// A cache of at most `bytes`. Zero, or too little for anything, turns it off.
    pub(crate) fn new(bytes: usize) -> Self {
        // Half for short words, an eighth for long ones, a quarter for what does not fit into slots.
        let largest = |share: usize, size: usize| (share / size).checked_ilog2().map_or(0, |bits| 1 << bits);
        let is_on = bytes >= 4096;
        let lines = if is_on { largest(bytes / 2, size_of::<Line>()) } else { 0 };
        let long = if is_on { largest(bytes / 8, size_of::<LongSlot>()) } else { 0 };
        Self {
            lines: Table::zeroed(lines),
            long: Table::zeroed(long),
            ring: Ring::new(if is_on { largest(bytes / 4, 4) } else { 0 }),
            hasher: RandomState::default(),
            hits: 0,
            misses: 0,
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        !self.lines.is_empty()
    }

    /// The key of `text[start..end]`, if the word is short. `text` goes on behind the word, so that most keys are one load.
    #[inline(always)]
    pub(crate) fn key(text: &[u8], start: usize, end: usize) -> Option<Key> {
        let len = end - start;
        if len > SHORT {
            return None;
        }
        let bytes = match text[start..].first_chunk::<16>() {
            Some(chunk) => u128::from_le_bytes(*chunk) & KEY_MASKS[len],
            None => {
                let mut chunk = [0; 16];
                chunk[..len].copy_from_slice(&text[start..end]);
                u128::from_le_bytes(chunk)
            }
        };
        Some(bytes | (len as u128) << 120)
    }

    #[inline(always)]
    fn line(&self, key: Key) -> usize {
        let low = u128::from(key as u64 ^ 0x9E37_79B9_7F4A_7C15);
        let folded = low * u128::from((key >> 64) as u64 ^ 0xD6E8_FEB8_6659_FD93);
        (folded as u64 ^ (folded >> 64) as u64) as usize & (self.lines.len() - 1)
    }

    /// Finds a short word's line and asks for it ahead of time.
    #[inline(always)]
    pub(crate) fn prefetch(&self, key: Key) -> Place {
        let line = self.line(key);
        simd::prefetch(&self.lines[line]);
        Place { key, line }
    }

    /// Writes the ids of a short word to the front of `out`, if it is known, and tells how many they are.
    #[inline(always)]
    pub(crate) fn write_short(&mut self, place: Place, out: &mut [u32; SHORT]) -> Option<(usize, Hit)> {
        let Place { key, line } = place;
        let line = &self.lines[line].0;
        // Chosen without a branch: which of the two it is cannot be foretold.
        let slot = &line[usize::from(line[1].key == key)];
        if slot.key != key {
            self.misses += 1;
            return None;
        }
        let state = slot.value[15];
        let hit = Hit { lengths_vary: state & VARIES != 0 };
        let count = usize::from(state & !VARIES);
        if count != IN_RING {
            // All of the slot is written, whatever the count: that is a few instructions and no branch.
            for (at, id) in out.iter_mut().take(INLINE).enumerate() {
                let four = slot.value[at * 3..].first_chunk().expect("the last of them ends where the value does");
                *id = u32::from_le_bytes(*four) & ID_MASK;
            }
            self.hits += 1;
            return Some((count, hit));
        }
        let (place, count) = slot.in_ring();
        let Some(all) = self.ring.get(place, count) else {
            self.misses += 1;
            return None;
        };
        out[..count].copy_from_slice(all);
        self.hits += 1;
        Some((count, hit))
    }

    /// Appends the ids of a short word, if it is known.
    pub(crate) fn push_short(&mut self, key: Key, ids: &mut Vec<u32>) -> Option<Hit> {
        let mut out = [0; SHORT];
        let (count, hit) = self.write_short(Place { key, line: self.line(key) }, &mut out)?;
        ids.extend_from_slice(&out[..count]);
        Some(hit)
    }

    /// Appends the ids of a word that is not short, if it is known.
    pub(crate) fn push_long(&mut self, word: &[u8], ids: &mut Vec<u32>) -> Option<Hit> {
        let hash = self.hasher.hash_one(word);
        let at = self.long_line(hash);
        for slot in &self.long[at..at + 2] {
            let (len, count) = (usize::from(slot.len & !LONG_VARIES), usize::from(slot.count));
            if slot.hash == hash
                && len == word.len()
                && let Some(all) = self.ring.get(slot.place, count + len.div_ceil(4))
                && same_bytes(&all[count..], word)
            {
                self.hits += 1;
                ids.extend_from_slice(&all[..count]);
                return Some(Hit { lengths_vary: slot.len & LONG_VARIES != 0 });
            }
        }
        self.misses += 1;
        None
    }

    /// Remembers a word that was looked for and not found.
    pub(crate) fn insert(&mut self, word: &[u8], key: Option<Key>, symbols: &[Symbol], lengths_vary: bool) {
        if !self.is_on() || word.len() > LONGEST {
            return;
        }
        if self.ring.is_at_its_end() {
            // Places would begin anew and old ones seem new again. It happens once in sixteen gigabytes written.
            self.lines.fill(Line::default());
            self.long.fill(LongSlot::default());
            self.ring.head = 0;
        }
        let ids = symbols.iter().map(|symbol| symbol.id);
        let Some(key) = key else {
            let Some(place) = self.ring.put(ids.chain(packed(word))) else { return };
            let hash = self.hasher.hash_one(word);
            let len = word.len() as u16 | if lengths_vary { LONG_VARIES } else { 0 };
            let at = self.long_line(hash);
            self.long[at + 1] = self.long[at];
            self.long[at] = LongSlot { hash, place, len, count: symbols.len() as u16 };
            return;
        };
        if symbols.len() > SHORT {
            // Byte fallback writes a prefix or suffix as tokens too, so that there can be more of them than bytes.
            return;
        }
        let (state, value) = if symbols.len() <= INLINE && ids.clone().all(|id| id <= ID_MASK) {
            (symbols.len() as u8, ids.rev().fold(0, |value, id| value << ID_BITS | u128::from(id)))
        } else {
            let Some(place) = self.ring.put(ids) else { return };
            (IN_RING as u8, u128::from(place) | (symbols.len() as u128) << 32)
        };
        let state = state | if lengths_vary { VARIES } else { 0 };
        let at = self.line(key);
        let line = &mut self.lines[at].0;
        // A word that is here, but whose ids are gone from the ring, is written anew.
        if line[0].key != 0 && line[0].key != key {
            line[1] = line[0];
        }
        line[0] = Slot { key, value: (value | u128::from(state) << 120).to_le_bytes() };
    }

    /// Words found and not found since the cache was made.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.hits, self.misses)
    }

    /// Heap memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.lines.memory_bytes() + self.long.memory_bytes() + self.ring.words.memory_bytes()
    }

    /// The first of the two slots that a long word belongs to.
    fn long_line(&self, hash: u64) -> usize {
        hash as usize & (self.long.len() - 2)
    }
}

const ID_MASK: u32 = (1 << ID_BITS) - 1;

/// The bytes of a word, four to a number, zeros at the end.
fn packed(word: &[u8]) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + Clone {
    word.chunks(4).map(|bytes| {
        let mut four = [0; 4];
        four[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(four)
    })
}

/// Whether `numbers` are `word` packed; its length is known to fit.
fn same_bytes(numbers: &[u32], word: &[u8]) -> bool {
    let (fours, rest) = word.as_chunks::<4>();
    fours.iter().zip(numbers).all(|(&four, &number)| u32::from_le_bytes(four) == number)
        && packed(rest).eq(numbers[fours.len()..].iter().copied())
}

/// Numbers written one after the other, the newest over the oldest.
#[derive(Debug)]
struct Ring {
    /// A power of two of them, or none.
    words: Table<u32>,
    /// How many were ever written, gaps counted in; the next one's place.
    head: u32,
}

impl Ring {
    fn new(len: usize) -> Self {
        Self { words: Table::zeroed(len), head: 0 }
    }

    /// Whether the next places could be numbers too large to write down.
    fn is_at_its_end(&self) -> bool {
        (u32::MAX - self.head) as usize <= 2 * self.words.len()
    }

    /// Writes numbers in one piece and tells where; nothing when they are too many to be worth it.
    fn put(&mut self, numbers: impl Iterator<Item = u32> + Clone) -> Option<u32> {
        let count = numbers.clone().count();
        let len = self.words.len();
        if count > len / 8 {
            return None;
        }
        let mut at = self.head as usize & (len - 1);
        if at + count > len {
            // Not around the edge: the rest is left as a gap.
            self.head += (len - at) as u32;
            at = 0;
        }
        let place = self.head;
        for (word, number) in self.words[at..].iter_mut().zip(numbers) {
            *word = number;
        }
        self.head += count as u32;
        Some(place)
    }

    /// What was written at a place, if nothing was written over it since.
    #[inline]
    fn get(&self, place: u32, count: usize) -> Option<&[u32]> {
        let len = self.words.len();
        if (self.head - place) as usize > len {
            return None;
        }
        self.words.get(place as usize & (len - 1)..)?.get(..count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn look(cache: &mut WordCache, word: &[u8]) -> Option<(Vec<u32>, bool)> {
        let mut ids = vec![7];
        let hit = match WordCache::key(word, 0, word.len()) {
            Some(key) => cache.push_short(key, &mut ids),
            None => cache.push_long(word, &mut ids),
        };
        assert_eq!(ids[0], 7, "what was there stays");
        assert!(hit.is_some() || ids.len() == 1, "nothing is pushed without a hit");
        hit.map(|hit| (ids[1..].to_vec(), hit.lengths_vary))
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
            cache.insert(&word, WordCache::key(&word, 0, word.len()), &vec![Symbol { id: 3, len: 1 }; count], true);
            assert_eq!(look(&mut cache, &word).is_some(), count <= SHORT, "{count} ids");
        }
    }

    #[test]
    fn a_cache_of_nothing_keeps_nothing() {
        let mut cache = WordCache::new(0);
        assert!(!cache.is_on());
        cache.insert(b"word", WordCache::key(b"word", 0, 4), &[], false);
        assert_eq!(cache.memory_bytes(), 0);
    }
}
