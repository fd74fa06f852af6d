//! The hash table under the merges and the short tokens: buckets of one cache line each, and a
//! filter that answers most misses.
//!
//! A key's 64-bit hash selects its first bucket. A key whose bucket is full goes to one of the
//! next, up to a limit that the owner of the table sets; the probe for it follows the same
//! sequence. Buckets are filled from the front, so a bucket with an empty last slot ends a probe.
//! What a slot contains, and how a bucket is searched, is up to the owner.
//!
//! The filter has one bit for each of about eight times as many hashes as there are keys. It is
//! small enough to stay in the CPU's cache, and most lookups that miss end there.

use crate::memory::fallible::copies;
use crate::simd;

/// Bits of a filter per key, at least.
const BITS_PER_KEY: usize = 8;

/// A set of hashes that may contain some that were never added.
#[derive(Debug)]
pub(super) struct KeyFilter {
    words: Box<[u64]>,
    /// The number of low bits of a hash that are not used.
    shift: u32,
}

impl KeyFilter {
    /// An empty filter for this number of keys.
    pub(super) fn new(keys: usize) -> Self {
        Self::with_bits(keys * BITS_PER_KEY)
    }

    /// An empty filter of at least this number of bits.
    pub(super) fn with_bits(bits: usize) -> Self {
        let bits = bits.next_power_of_two().trailing_zeros().max(6);
        Self { words: copies(0, 1 << (bits - 6)).into(), shift: u64::BITS - bits }
    }

    /// Adds a hash.
    pub(super) fn add(&mut self, hash: u64) {
        let (word, bit) = self.word_and_bit(hash);
        self.words[word] |= bit;
    }

    /// False only if the hash was never added.
    #[inline(always)]
    pub(super) fn may_contain(&self, hash: u64) -> bool {
        let (word, bit) = self.word_and_bit(hash);
        self.words[word] & bit != 0
    }

    #[inline(always)]
    fn word_and_bit(&self, hash: u64) -> (usize, u64) {
        let position = hash >> self.shift;
        ((position / 64) as usize, 1 << (position % 64))
    }

    /// The filter's words, a power of two of them, and the number of unused low bits of a hash.
    #[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "only the kernels of words in lanes read them"))]
    pub(super) fn words(&self) -> (&[u64], u32) {
        (&self.words, self.shift)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.words)
    }
}

/// The table. See the module documentation.
#[derive(Debug)]
pub(super) struct BucketTable<B> {
    buckets: Box<[B]>,
    filter: KeyFilter,
}

impl<B: Clone> BucketTable<B> {
    /// A table of empty buckets for `keys` keys, `per_bucket` in each on average.
    pub(super) fn new(keys: usize, per_bucket: f64, empty: B) -> Self {
        let buckets = ((keys as f64 / per_bucket).ceil() as usize).max(1);
        Self { buckets: copies(empty, buckets).into(), filter: KeyFilter::new(keys) }
    }

    /// The number of buckets.
    pub(super) fn len(&self) -> usize {
        self.buckets.len()
    }

    /// The buckets, in order.
    pub(super) fn buckets(&self) -> &[B] {
        &self.buckets
    }

    pub(super) fn filter(&self) -> &KeyFilter {
        &self.filter
    }

    /// The first bucket of a hash.
    #[inline(always)]
    pub(super) fn first(&self, hash: u64) -> &B {
        &self.buckets[self.index(hash)]
    }

    /// The number of the first bucket of a hash: the hash as a fraction of 2⁶⁴, times the number of
    /// buckets.
    #[inline(always)]
    fn index(&self, hash: u64) -> usize {
        if cfg!(target_pointer_width = "32") {
            // WebAssembly has no product of 128 bits. 32 bits of the hash suffice for 2³² buckets.
            return (((hash >> 32) * self.buckets.len() as u64) >> 32) as usize;
        }
        ((u128::from(hash) * self.buckets.len() as u128) >> u64::BITS) as usize
    }

    /// Prefetches the first bucket of a hash.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: u64) {
        simd::prefetch_at(&self.buckets, self.index(hash));
    }

    /// The buckets of a hash in the order in which they are probed, without an end.
    #[inline]
    pub(super) fn probe(&self, hash: u64) -> impl Iterator<Item = &B> {
        let (behind, from) = self.buckets.split_at(self.index(hash));
        from.iter().chain(behind).cycle()
    }

    /// Offers up to `max_probes` buckets of a hash to `put`. `put` receives the number of buckets
    /// before it and returns whether it stored the key. Returns whether a bucket stored it. The
    /// hash is added to the filter in any case.
    pub(super) fn insert(&mut self, hash: u64, max_probes: usize, mut put: impl FnMut(usize, &mut B) -> bool) -> bool {
        self.filter.add(hash);
        let mut at = self.index(hash);
        for distance in 0..max_probes {
            if put(distance, &mut self.buckets[at]) {
                return true;
            }
            at = if at + 1 == self.buckets.len() { 0 } else { at + 1 };
        }
        false
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.buckets) + self.filter.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_filter_contains_what_was_added(hashes in prop::collection::vec(any::<u64>(), 0..200), keys in 0usize..300) {
            let mut filter = KeyFilter::new(keys);
            prop_assert!(hashes.iter().all(|&hash| !filter.may_contain(hash)));
            hashes.iter().for_each(|&hash| filter.add(hash));
            prop_assert!(hashes.iter().all(|&hash| filter.may_contain(hash)));
            prop_assert!(filter.words().0.len().is_power_of_two());
        }

        #[test]
        fn a_key_is_put_where_a_probe_looks_for_it(hashes in prop::collection::vec(any::<u64>(), 1..40)) {
            // As many buckets of one slot as there are keys, so that some keys are many probes
            // away.
            let mut table = BucketTable::new(hashes.len(), 1.0, None);
            for &hash in &hashes {
                let found = table.insert(hash, hashes.len(), |_, slot: &mut Option<u64>| match slot {
                    Some(_) => false,
                    None => {
                        *slot = Some(hash);
                        true
                    }
                });
                prop_assert!(found);
            }
            for &hash in &hashes {
                prop_assert!(table.probe(hash).take(table.len()).any(|slot| *slot == Some(hash)));
                prop_assert_eq!(table.first(hash), table.probe(hash).next().expect("no end"));
            }
            prop_assert!(!table.insert(7, 3, |_, _| false), "all slots are taken");
        }
    }
}
