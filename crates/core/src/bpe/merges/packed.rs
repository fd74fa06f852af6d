//! The merge table with eight bytes per merge. The position of a merge in the table encodes most of
//! its pair, so that a slot stores only the rest.
//!
//! A pair of ids is a number of `2 * id_bits` bits. Multiplication by an odd constant, modulo two
//! to the power of that many bits, maps every such number to a different one. The table keeps the
//! product in the high bits of a 64-bit hash. The high part of the hash selects the bucket, the low
//! part is the *tag*, which distinguishes the pairs of one bucket. Bucket and tag together identify
//! the pair.
//!
//! A bucket is a cache line of eight slots, which are compared at once. A pair whose bucket is full
//! goes to one of the next seven buckets, and its slot stores the distance from the first bucket.

use super::super::bucket_table::BucketTable;
use super::Merge;
use crate::simd::Simd;
use crate::simd::lane_merger::{PairHashing, PairTable};

/// The number of slots in a bucket.
const MERGE_SLOTS: usize = 8;
/// The average number of pairs in a bucket: half of the slots, so that few buckets are full.
const PAIRS_PER_BUCKET: f64 = 4.0;
/// The maximum number of buckets that are probed for a pair.
const MAX_MERGE_PROBES: usize = 1 << DISTANCE_BITS;
const DISTANCE_BITS: u32 = 3;
/// While the table is filled, buckets are prefetched this many pairs ahead.
const PREFETCH_DISTANCE: usize = 16;
/// An empty slot. A slot of a merge has at least one bit that is not set.
const EMPTY_SLOT: u64 = u64::MAX;

#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct MergeBucket([u64; MERGE_SLOTS]);

const _: () = assert!(size_of::<MergeBucket>() == 64);

/// The table. See the module documentation. A slot consists of, from its high bits down: the tag,
/// the distance from the pair's first bucket, the rank and the id. Rank and id are the *payload*.
#[derive(Debug)]
pub(in crate::bpe) struct PackedMerges {
    table: BucketTable<MergeBucket>,
    /// The odd constant, shifted left so that products are in the high bits.
    multiplier: u64,
    id_bits: u32,
    rank_bits: u32,
    tag_bits: u32,
    simd: Simd,
}

/// The number of significant bits of a number.
fn bits(number: u32) -> u32 {
    u32::BITS - number.leading_zeros()
}

impl PackedMerges {
    /// Builds a table. Returns `None` if ids and ranks are too large for a slot, or if more pairs
    /// collide under this multiplier than there are slots for.
    pub(super) fn new(pairs: &[(u32, u32, Merge)], multiplier: u64) -> Option<Self> {
        let all_ids = pairs.iter().map(|&(left, right, merge)| left | right | merge.id).fold(0, |all, ids| all | ids);
        let id_bits = bits(all_ids).max(1);
        let rank_bits = bits(pairs.iter().map(|(_, _, merge)| merge.rank).max().unwrap_or(0)).max(1);
        let pair_bits = 2 * id_bits;
        if pair_bits >= u64::BITS {
            return None;
        }
        let table = BucketTable::new(pairs.len(), PAIRS_PER_BUCKET, MergeBucket([EMPTY_SLOT; MERGE_SLOTS]));
        // The products that select one bucket are consecutive, so their low bits are distinct.
        let products_per_bucket = (1u64 << pair_bits).div_ceil(table.len() as u64);
        let tag_bits = products_per_bucket.next_power_of_two().trailing_zeros();
        if tag_bits + DISTANCE_BITS + rank_bits + id_bits >= u64::BITS {
            return None;
        }
        let multiplier = multiplier << (u64::BITS - pair_bits);
        let mut merges = Self { table, multiplier, id_bits, rank_bits, tag_bits, simd: Simd::best() };
        let all_fit = pairs.iter().enumerate().all(|(at, &(left, right, merge))| {
            if let Some(&(left, right, _)) = pairs.get(at + PREFETCH_DISTANCE) {
                merges.table.prefetch(merges.hash(left, right));
            }
            merges.insert(left, right, merge)
        });
        all_fit.then_some(merges)
    }

    /// Inserts a merge. Returns false if all buckets for it are full.
    fn insert(&mut self, left: u32, right: u32, merge: Merge) -> bool {
        let hash = self.hash(left, right);
        let (tag, payload_bits) = (self.tag(hash), self.payload_bits());
        let payload = u64::from(merge.rank) << self.id_bits | u64::from(merge.id);
        self.table.insert(hash, MAX_MERGE_PROBES, |distance, bucket| {
            let tag = tag | distance as u64;
            let slot = bucket.0.iter_mut().find(|slot| **slot == EMPTY_SLOT || **slot >> payload_bits == tag);
            slot.map(|slot| *slot = tag << payload_bits | payload).is_some()
        })
    }

    fn payload_bits(&self) -> u32 {
        self.rank_bits + self.id_bits
    }

    #[inline(always)]
    fn hash(&self, left: u32, right: u32) -> u64 {
        (u64::from(left) << self.id_bits | u64::from(right)).wrapping_mul(self.multiplier)
    }

    /// The number of low bits of a hash that are always zero.
    #[inline(always)]
    fn unused_bits(&self) -> u32 {
        u64::BITS - 2 * self.id_bits
    }

    /// The tag of a hash, shifted to its bits above the distance, which is 0.
    #[inline(always)]
    fn tag(&self, hash: u64) -> u64 {
        (hash >> self.unused_bits() & ((1 << self.tag_bits) - 1)) << DISTANCE_BITS
    }

    /// The result of merging a pair; [`Merge::NONE`] if it is not in the table.
    #[inline(always)]
    pub(super) fn get(&self, left: u32, right: u32) -> Merge {
        let hash = self.hash(left, right);
        // Larger ids are in no pair, and their hash may equal that of another pair.
        if !self.table.filter().may_contain(hash) || (left | right) >> self.id_bits != 0 {
            return Merge::NONE;
        }
        self.find_hash(hash)
    }

    /// The merge of the pair with this hash; [`Merge::NONE`] if it is not in the table.
    #[inline(always)]
    fn find_hash(&self, hash: u64) -> Merge {
        let tag = self.tag(hash);
        let slots = &self.table.first(hash).0;
        let found = self.match_tag(slots, tag);
        if found == 0 {
            return if slots[MERGE_SLOTS - 1] == EMPTY_SLOT { Merge::NONE } else { self.probe_further(hash, tag) };
        }
        self.unpack(slots[found.trailing_zeros() as usize % MERGE_SLOTS])
    }

    #[cold]
    fn probe_further(&self, hash: u64, tag: u64) -> Merge {
        for (distance, bucket) in (0..).zip(self.table.probe(hash)).take(MAX_MERGE_PROBES).skip(1) {
            let found = self.match_tag(&bucket.0, tag | distance);
            if found != 0 {
                return self.unpack(bucket.0[found.trailing_zeros() as usize]);
            }
        }
        Merge::NONE
    }

    /// Prefetches the bucket that [`Self::get`] reads. If the filter excludes the pair, prefetches
    /// the table's first bucket instead, which is always cached. Branchless, because the filter's
    /// answer cannot be predicted.
    #[inline(always)]
    pub(super) fn prefetch(&self, left: u32, right: u32) {
        let hash = self.hash(left, right);
        self.table.prefetch(hash * u64::from(self.table.filter().may_contain(hash)));
    }

    /// A bit for each slot with this tag and distance; there is at most one.
    #[inline(always)]
    fn match_tag(&self, slots: &[u64; MERGE_SLOTS], tag: u64) -> u32 {
        self.simd.match_high_bits(slots, self.payload_bits(), tag)
    }

    #[inline(always)]
    fn unpack(&self, slot: u64) -> Merge {
        let rank = slot >> self.id_bits & ((1 << self.rank_bits) - 1);
        Merge { rank: rank as u32, id: (slot & ((1 << self.id_bits) - 1)) as u32 }
    }

    /// All pairs with their merges, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32, Merge)> {
        // Multiplying a product by the inverse restores the pair.
        let inverse = inverse(self.multiplier >> self.unused_bits());
        self.table.buckets().iter().enumerate().flat_map(move |(at, bucket)| {
            bucket.0.into_iter().filter(|&slot| slot != EMPTY_SLOT).map(move |slot| {
                let tag = slot >> self.payload_bits();
                let distance = tag as usize % MAX_MERGE_PROBES;
                // A table may have fewer buckets than the distance, so that the probe wrapped
                // around.
                let first = (at + self.table.len() * distance - distance) % self.table.len();
                let (left, right) = self.pair_of(first, tag >> DISTANCE_BITS, inverse);
                (left, right, self.unpack(slot))
            })
        })
    }

    /// The pair with this first bucket and tag: the products of the bucket are consecutive, and one
    /// of them has the tag in its low bits.
    fn pair_of(&self, bucket: usize, tag: u64, inverse: u64) -> (u32, u32) {
        let first = ((bucket as u64) << (2 * self.id_bits)).div_ceil(self.table.len() as u64);
        let product = first + (tag.wrapping_sub(first) & ((1 << self.tag_bits) - 1));
        let pair = product.wrapping_mul(inverse) & ((1 << (2 * self.id_bits)) - 1);
        ((pair >> self.id_bits) as u32, (pair & ((1 << self.id_bits) - 1)) as u32)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.table.memory_bytes()
    }
}

impl PairTable for PackedMerges {
    fn hashing(&self) -> PairHashing<'_> {
        let (filter, filter_shift) = self.table.filter().words();
        PairHashing { id_bits: self.id_bits, multiplier: self.multiplier, filter, filter_shift }
    }

    #[inline(always)]
    fn prefetch(&self, hash: u64) {
        self.table.prefetch(hash);
    }

    #[inline(always)]
    fn find(&self, hash: u64) -> (u32, u32) {
        let merge = self.find_hash(hash);
        (merge.rank, merge.id)
    }
}

/// The multiplicative inverse of an odd number modulo 2⁶⁴ by Newton's method. Each step doubles the
/// number of correct bits; the number itself is its own inverse in the lowest three.
fn inverse(odd: u64) -> u64 {
    (0..5).fold(odd, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse))))
}
