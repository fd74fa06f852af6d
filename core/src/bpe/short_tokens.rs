//! Tokens of a few bytes, by these: three to a cache line, and a filter before them.

use super::merges::filter::PairFilter;
use super::word_cache::key::{Key, fold};
use crate::simd;

/// Tokens in a cache line.
const SLOTS: usize = 3;
/// Tokens for ten lines, on average.
const LOAD_FACTOR: usize = 18;
/// How many lines a token may be in, one after the other.
const MAX_PROBES: usize = 64;

#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
struct TokenBucket {
    /// Filled from the front; zero where there is none.
    keys: [Key; SLOTS],
    ids: [u32; SLOTS],
}

const _: () = assert!(size_of::<TokenBucket>() == 64);

/// See the module.
#[derive(Debug)]
pub(super) struct ShortTokens {
    buckets: Vec<TokenBucket>,
    filter: PairFilter,
}

impl ShortTokens {
    /// Room for so many tokens.
    pub(super) fn new(tokens: usize) -> Self {
        let lines = (tokens * 10).div_ceil(LOAD_FACTOR).max(1);
        Self { buckets: vec![TokenBucket::default(); lines], filter: PairFilter::new(tokens) }
    }

    /// Adds a token, or gives the one that is there another id. The answer is whether there was room.
    pub(super) fn insert(&mut self, key: Key, id: u32) -> bool {
        let hash = hash(key);
        self.filter.add(hash);
        for at in self.probe_sequence(hash) {
            let line = &mut self.buckets[at];
            if let Some(slot) = line.keys.iter().position(|&there| there == key || there == 0) {
                (line.keys[slot], line.ids[slot]) = (key, id);
                return true;
            }
        }
        false
    }

    /// Asks ahead for the line that [`Self::insert`] and [`Self::id`] look at first.
    #[inline]
    pub(super) fn prefetch(&self, key: Key) {
        if let Some(at) = self.probe_sequence(hash(key)).next() {
            simd::prefetch(&self.buckets[at]);
        }
    }

    /// False only if [`Self::id`] finds nothing.
    #[inline]
    pub(super) fn may_contain(&self, key: Key) -> bool {
        self.filter.may_contain(hash(key))
    }

    #[inline]
    pub(super) fn id(&self, key: Key) -> Option<u32> {
        let hash = hash(key);
        if !self.filter.may_contain(hash) {
            return None;
        }
        for at in self.probe_sequence(hash) {
            let TokenBucket { keys, ids } = &self.buckets[at];
            if let Some(slot) = keys.iter().position(|&there| there == key) {
                return Some(ids[slot]);
            }
            if keys[SLOTS - 1] == 0 {
                return None;
            }
        }
        None
    }

    /// The lines where a token may be, in order.
    #[inline]
    fn probe_sequence(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let lines = self.buckets.len();
        // The upper half of the hash, as a part of one, of the lines.
        let home = ((hash >> 32) * lines as u64) >> 32;
        std::iter::successors(Some(home as usize), move |&at| Some(if at + 1 == lines { 0 } else { at + 1 }))
            .take(MAX_PROBES)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<TokenBucket>() + self.filter.memory_bytes()
    }
}

#[inline]
fn hash(key: Key) -> u64 {
    fold(key).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> Key {
        u128::from(number.wrapping_mul(0x9E37_79B1)) | 4 << 120
    }

    #[test]
    fn what_was_put_in_is_found_and_nothing_else() {
        for count in [0, 1, 5, 1000, 50_000] {
            let mut tokens = ShortTokens::new(count as usize);
            let lost = (0..count).filter(|&number| !tokens.insert(key(number), number + 7)).count();
            assert!(lost * 1000 <= count as usize, "{lost} of {count} had no room");
            let found = (0..count).filter(|&number| tokens.id(key(number)) == Some(number + 7)).count();
            assert_eq!(found + lost, count as usize);
            assert!((count..count + 50_000).all(|number| tokens.id(key(number)).is_none()));
        }
    }

    #[test]
    fn the_last_of_two_ids_counts() {
        let mut tokens = ShortTokens::new(2);
        assert!(tokens.insert(key(1), 1) && tokens.insert(key(1), 2));
        assert_eq!(tokens.id(key(1)), Some(2));
    }

    #[test]
    fn it_says_when_there_is_no_room() {
        let mut tokens = ShortTokens::new(1);
        let room = (0..100).take_while(|&number| tokens.insert(key(number), number)).count();
        assert_eq!(room, SLOTS);
        assert_eq!(tokens.id(key(0)), Some(0));
        assert_eq!(tokens.id(key(99)), None);
    }
}
