//! Short tokens by their bytes: three to a bucket of one cache line.

use super::bucket_table::BucketTable;
use crate::word_key::{Key, MULTIPLIERS, fold};

/// The number of slots in a bucket.
const TOKEN_SLOTS: usize = 3;
/// The average number of tokens in a bucket.
const TOKENS_PER_BUCKET: f64 = 1.8;
/// The maximum number of buckets that are probed for a token.
const MAX_TOKEN_PROBES: usize = 64;

#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
struct TokenBucket {
    /// Filled from the front; zero marks an empty slot.
    keys: [Key; TOKEN_SLOTS],
    ids: [u32; TOKEN_SLOTS],
}

const _: () = assert!(size_of::<TokenBucket>() == 64);

impl TokenBucket {
    #[inline]
    fn id(&self, key: Key) -> Option<u32> {
        self.keys.iter().position(|&other| other == key).map(|slot| self.ids[slot])
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.keys[TOKEN_SLOTS - 1] != 0
    }
}

/// A table of short tokens. See the module documentation.
#[derive(Debug)]
pub(super) struct ShortTokens(BucketTable<TokenBucket>);

impl ShortTokens {
    /// An empty table for this number of tokens.
    pub(super) fn new(tokens: usize) -> Self {
        Self(BucketTable::new(tokens, TOKENS_PER_BUCKET, TokenBucket::default()))
    }

    /// Adds a token, or replaces its id. Returns whether there was a slot.
    pub(super) fn insert(&mut self, key: Key, id: u32) -> bool {
        self.0.insert(hash(key), MAX_TOKEN_PROBES, |_, bucket| {
            let slot = bucket.keys.iter().position(|&other| other == key || other == 0);
            slot.map(|slot| (bucket.keys[slot], bucket.ids[slot]) = (key, id)).is_some()
        })
    }

    /// Prefetches the bucket that [`Self::insert`] and [`Self::id`] read first.
    #[inline]
    pub(super) fn prefetch(&self, key: Key) {
        self.0.prefetch(hash(key));
    }

    /// False only if the table does not contain the key.
    #[inline]
    pub(super) fn may_contain(&self, key: Key) -> bool {
        self.0.filter().may_contain(hash(key))
    }

    /// The id of a token.
    #[inline]
    pub(super) fn id(&self, key: Key) -> Option<u32> {
        let hash = hash(key);
        if !self.0.filter().may_contain(hash) {
            return None;
        }
        let first = self.0.first(hash);
        match first.id(key) {
            None if first.is_full() => self.probe_further(hash, key),
            id => id,
        }
    }

    #[cold]
    fn probe_further(&self, hash: u64, key: Key) -> Option<u32> {
        for bucket in self.0.probe(hash).take(MAX_TOKEN_PROBES).skip(1) {
            let id = bucket.id(key);
            if id.is_some() || !bucket.is_full() {
                return id;
            }
        }
        None
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

#[inline]
fn hash(key: Key) -> u64 {
    fold(key).wrapping_mul(MULTIPLIERS[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> Key {
        u128::from(number.wrapping_mul(0x9E37_79B1)) | 4 << 120
    }

    #[test]
    fn a_table_contains_the_inserted_tokens_only() {
        for count in [0, 1, 5, 1000, 50_000] {
            let mut tokens = ShortTokens::new(count as usize);
            let refused = (0..count).filter(|&number| !tokens.insert(key(number), number + 7)).count();
            assert!(refused * 1000 <= count as usize, "{refused} of {count} were refused");
            let found = (0..count).filter(|&number| tokens.id(key(number)) == Some(number + 7)).count();
            assert_eq!(found + refused, count as usize);
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
    fn a_full_table_refuses_tokens() {
        let mut tokens = ShortTokens::new(1);
        let inserted = (0..100).take_while(|&number| tokens.insert(key(number), number)).count();
        assert_eq!(inserted, TOKEN_SLOTS);
        assert_eq!(tokens.id(key(0)), Some(0));
        assert_eq!(tokens.id(key(99)), None);
    }
}
