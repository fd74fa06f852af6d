//! Lookups of many short words in the word cache's table.
//!
//! The table is a list of buckets, a power of two of them. A bucket is one cache line and holds two
//! slots, each with a word's key and its ids. A word is in its primary bucket or in its secondary
//! one. The kernels here only deal with the primary bucket; the word cache of the core owns the
//! table.
//!
//! A lookup of a group of words has two steps: [`Simd::prefetch_words`] computes the keys of all
//! words and prefetches their buckets, then [`Simd::append_primary_hits`] reads them. So no word
//! waits for the cache line of the word before it.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod bucket;

use super::append::Appender;
use super::packed::PackedIds;
use super::{BLOCK, Simd, prefetch_at};
pub use bucket::{Bucket, LENGTHS_VARY_FLAG, Slot};

use crate::word_key::{self, Key, MAX_SHORT_LEN, NOT_SHORT};

/// See [`primary_bucket`].
const PRIMARY_MULTIPLIER: u64 = word_key::MULTIPLIERS[0];

/// The number of a key's primary bucket in a table of `buckets`, a power of two below 2³².
#[inline(always)]
pub fn primary_bucket(key: Key, buckets: usize) -> usize {
    (word_key::hash(key, PRIMARY_MULTIPLIER) >> 32) as usize & buckets.wrapping_sub(1)
}

/// Adjacent words of a text, one directly after the other.
#[derive(Debug, Clone, Copy)]
pub struct AdjacentWords<'a> {
    /// The text.
    pub text: &'a [u8],
    /// The byte at which the first word starts.
    pub start: u32,
    /// The end of each word.
    pub ends: &'a [u32],
}

/// Adjacent words that were all found in their primary buckets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrimaryHits {
    /// The number of words.
    pub words: usize,
    /// The bitwise or of the control bytes of their ids (see [`PackedIds::control`]).
    pub control: u8,
}

impl Simd {
    /// Computes the keys and the primary buckets of up to [`BLOCK`] words and prefetches the
    /// buckets.
    ///
    /// Returns a bit for each word that is not short; its key is [`NOT_SHORT`] and its bucket
    /// unspecified.
    ///
    /// # Panics
    /// If `keys` or `buckets` are shorter than the list of words.
    // In WebAssembly a loop has registers enough only in a small function.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn prefetch_words(
        self,
        words: AdjacentWords<'_>,
        table: &[Bucket],
        keys: &mut [Key],
        buckets: &mut [u32],
    ) -> u64 {
        let AdjacentWords { text, start, ends } = words;
        debug_assert!(ends.len() <= BLOCK);
        let (keys, buckets) = (&mut keys[..ends.len()], &mut buckets[..ends.len()]);
        #[cfg(target_arch = "x86_64")]
        let (done, mut not_short) = match self.avx2() {
            Some(cpu) => avx2::prefetch_groups(cpu, words, table, keys, buckets),
            None => (0, 0),
        };
        #[cfg(not(target_arch = "x86_64"))]
        let (done, mut not_short) = (0, 0);
        let mut start = if done == 0 { start } else { ends[done - 1] };
        for at in done..ends.len() {
            let key = word_key::of_range(text, start, ends[at]);
            let bucket = primary_bucket(key, table.len());
            prefetch_at(table, bucket);
            (keys[at], buckets[at]) = (key, bucket as u32);
            not_short |= u64::from(ends[at] - start > MAX_SHORT_LEN as u32) << at;
            start = ends[at];
        }
        super::touch(table, buckets, |&bucket| bucket as usize);
        not_short
    }

    /// Appends the ids of words, up to the first word that is not in its primary bucket or whose
    /// ids were overwritten. `spilled` returns the ids that are stored outside of a slot,
    /// [`MAX_SHORT_LEN`] at most, or `None` if they were overwritten.
    ///
    /// # Panics
    /// If the spare capacity of `ids` is smaller than [`MAX_SHORT_LEN`] for each word.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn append_primary_hits<'t>(
        self,
        table: &[Bucket],
        spilled: impl Fn(&PackedIds) -> Option<&'t [u32]>,
        keys: &[Key],
        buckets: &[u32],
        ids: &mut Appender<'_>,
    ) -> PrimaryHits {
        #[cfg(target_arch = "x86_64")]
        if let Some(cpu) = self.avx2() {
            return avx2::append_hits(cpu, table, spilled, keys, buckets, ids);
        }
        let mut hits = PrimaryHits::default();
        for (&key, &bucket) in keys.iter().zip(buckets) {
            let Some(slot) = table.get(bucket as usize).and_then(|bucket| bucket.find(key)) else { break };
            if !ids.push_packed(&slot.ids) {
                let Some(spilled) = spilled(&slot.ids) else { break };
                ids.extend_from_slice(spilled);
            }
            hits.words += 1;
            hits.control |= slot.ids.control();
        }
        hits
    }

    /// A bit for each short word, of up to [`BLOCK`], that is not in its primary bucket.
    #[inline(always)]
    pub fn primary_misses(self, table: &[Bucket], keys: &[Key], buckets: &[u32]) -> u64 {
        let is_hit =
            |key: Key, bucket: u32| table.get(bucket as usize).is_some_and(|bucket| bucket.find(key).is_some());
        let bits = keys.iter().zip(buckets).enumerate();
        bits.map(|(at, (&key, &bucket))| u64::from(key != NOT_SHORT && !is_hit(key, bucket)) << at).sum()
    }
}
