//! A merge in eight bytes: where the table keeps a pair tells most of the pair, so a slot needs only the rest of it.
//!
//! A pair of ids is a number of `pair_bits`. Multiplied by an odd number, modulo a power of two, every pair becomes
//! another number, none the same; here it stands in the upper bits of 64. The upper part of that says which bucket the pair belongs to,
//! the lower part, its tag, which of the pairs of that bucket it is. A bucket is a cache line of eight slots, filled from the front, all of which
//! are looked at together; a pair whose bucket is full is in one of the next, and its tag says how far it went.

use super::Merge;
use super::filter::PairFilter;
use crate::simd::{self, Simd};

/// Slots in a cache line.
const SLOTS: usize = 8;
/// Pairs for each bucket, on average: half of what fits, so that hardly a bucket overflows.
const LOAD_FACTOR: usize = 4;
/// How many buckets a pair may be in, one after the other.
const MAX_PROBES: u64 = 1 << PROBE_BITS;
const PROBE_BITS: u32 = 3;
/// So many pairs before it is filled a bucket is asked for.
const PREFETCH_DISTANCE: usize = 16;
/// No merge: one bit of every slot that holds one is not set.
const EMPTY: u64 = u64::MAX;

#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct MergeBucket([u64; SLOTS]);

const _: () = assert!(size_of::<MergeBucket>() == 64);

/// See the module. A slot is, from above: the pair's tag, how far from its own bucket it is, its rank, its id.
#[derive(Debug)]
pub(in crate::bpe) struct PackedMerges {
    buckets: Vec<MergeBucket>,
    filter: PairFilter,
    /// The odd number, and behind it as many zeros as a pair has bits less than 64.
    multiplier: u64,
    id_bits: u32,
    rank_bits: u32,
    tag_bits: u32,
    simd: Simd,
}

fn bits(number: u32) -> u32 {
    u32::BITS - number.leading_zeros()
}

impl PackedMerges {
    /// A table of `pairs`; nothing when their numbers are too large for a slot, or they crowd one place.
    pub(super) fn new(pairs: &[(u32, u32, Merge)], multiplier: u64) -> Option<Self> {
        let highest = pairs.iter().map(|&(left, right, merge)| left | right | merge.id).fold(0, |all, ids| all | ids);
        let id_bits = bits(highest).max(1);
        let rank_bits = bits(pairs.iter().map(|(_, _, merge)| merge.rank).max().unwrap_or(0)).max(1);
        let pair_bits = 2 * id_bits;
        if pair_bits >= u64::BITS {
            return None;
        }
        let count = pairs.len().div_ceil(LOAD_FACTOR).max(1);
        // As many neighbours as share a bucket have to differ in their tags.
        let sharing = (1u64 << pair_bits).div_ceil(count as u64);
        let tag_bits = sharing.next_power_of_two().trailing_zeros();
        if tag_bits + PROBE_BITS + rank_bits + id_bits >= u64::BITS {
            return None;
        }
        let buckets = vec![MergeBucket([EMPTY; SLOTS]); count];
        let mut table = Self {
            buckets,
            filter: PairFilter::new(pairs.len()),
            multiplier: multiplier << (u64::BITS - pair_bits),
            id_bits,
            rank_bits,
            tag_bits,
            simd: Simd::best(),
        };
        let all_have_room = pairs.iter().enumerate().all(|(at, &(left, right, merge))| {
            if let Some(&(left, right, _)) = pairs.get(at + PREFETCH_DISTANCE) {
                simd::prefetch(&table.buckets[table.bucket_and_tag(table.hash(left, right)).0]);
            }
            table.insert(left, right, merge)
        });
        all_have_room.then_some(table)
    }

    /// The answer is whether there was room.
    fn insert(&mut self, left: u32, right: u32, merge: Merge) -> bool {
        let mixed = self.hash(left, right);
        let (home, tag) = self.bucket_and_tag(mixed);
        self.filter.add(mixed);
        let payload = u64::from(merge.rank) << self.id_bits | u64::from(merge.id);
        let payload_bits = self.payload_bits();
        let mut at = home;
        for far in 0..MAX_PROBES {
            if at == self.buckets.len() {
                at = 0;
            }
            let bucket = &mut self.buckets[at];
            at += 1;
            let ours = |slot: &&mut u64| **slot == EMPTY || **slot >> payload_bits == tag | far;
            if let Some(slot) = bucket.0.iter_mut().find(ours) {
                *slot = (tag | far) << payload_bits | payload;
                return true;
            }
        }
        false
    }

    /// The bits of an id; pairs of larger ids do not join.
    pub(in crate::bpe) fn id_bits(&self) -> u32 {
        self.id_bits
    }

    /// What a pair, the left id above the bits of the right one, is multiplied by.
    pub(in crate::bpe) fn multiplier(&self) -> u64 {
        self.multiplier
    }

    pub(in crate::bpe) fn filter(&self) -> &PairFilter {
        &self.filter
    }

    fn payload_bits(&self) -> u32 {
        self.rank_bits + self.id_bits
    }

    /// The number that the pair becomes.
    #[inline(always)]
    fn hash(&self, left: u32, right: u32) -> u64 {
        (u64::from(left) << self.id_bits | u64::from(right)).wrapping_mul(self.multiplier)
    }

    /// The bits of such a number that are always zero.
    #[inline(always)]
    fn unused_bits(&self) -> u32 {
        u64::BITS - 2 * self.id_bits
    }

    /// The pair's own bucket, and its tag above a distance of none.
    #[inline(always)]
    fn bucket_and_tag(&self, mixed: u64) -> (usize, u64) {
        let bucket = (u128::from(mixed) * self.buckets.len() as u128) >> u64::BITS;
        (bucket as usize, (mixed >> self.unused_bits() & ((1 << self.tag_bits) - 1)) << PROBE_BITS)
    }

    #[inline(always)]
    pub(super) fn get(&self, left: u32, right: u32) -> Merge {
        let mixed = self.hash(left, right);
        if !self.filter.may_contain(mixed) || (left | right) >> self.id_bits != 0 {
            return Merge::NONE;
        }
        self.find_hash(mixed)
    }

    /// What the pair becomes of which this is the number.
    #[inline(always)]
    pub(in crate::bpe) fn find_hash(&self, mixed: u64) -> Merge {
        let (home, tag) = self.bucket_and_tag(mixed);
        let slots = &self.buckets[home].0;
        let found = self.match_tag(slots, tag);
        if found == 0 {
            return if slots[SLOTS - 1] == EMPTY { Merge::NONE } else { self.probe_further(home, tag) };
        }
        self.unpack(slots[found.trailing_zeros() as usize % SLOTS])
    }

    /// Asks ahead for the bucket that [`Self::get`] looks at. Where the filter refuses the pair it is one that is always near:
    /// which of the two it is cannot be foretold.
    #[inline(always)]
    pub(super) fn prefetch(&self, left: u32, right: u32) {
        let mixed = self.hash(left, right);
        let bucket = self.bucket_and_tag(mixed).0 * usize::from(self.filter.may_contain(mixed));
        simd::prefetch(&self.buckets[bucket]);
    }

    /// Asks ahead for the bucket that [`Self::find`] looks at.
    #[inline(always)]
    pub(in crate::bpe) fn prefetch_hash(&self, mixed: u64) {
        simd::prefetch_at(&self.buckets, self.bucket_and_tag(mixed).0);
    }

    #[cold]
    fn probe_further(&self, home: usize, tag: u64) -> Merge {
        for far in 1..MAX_PROBES {
            let slots = &self.buckets[(home + far as usize) % self.buckets.len()].0;
            let found = self.match_tag(slots, tag | far);
            if found != 0 {
                return self.unpack(slots[found.trailing_zeros() as usize]);
            }
        }
        Merge::NONE
    }

    /// A bit for each slot with this tag and distance; there is one such at most.
    #[inline(always)]
    fn match_tag(&self, slots: &[u64; SLOTS], tag: u64) -> u32 {
        self.simd.match_high_bits(slots, self.payload_bits(), tag)
    }

    #[inline(always)]
    fn unpack(&self, slot: u64) -> Merge {
        let rank = slot >> self.id_bits & ((1 << self.rank_bits) - 1);
        Merge { rank: rank as u32, id: (slot & ((1 << self.id_bits) - 1)) as u32 }
    }

    /// Every pair with what it becomes, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32, Merge)> {
        // What a pair has to be multiplied by to be what it was.
        let back = inverse(self.multiplier >> self.unused_bits());
        self.buckets.iter().enumerate().flat_map(move |(at, bucket)| {
            let least = self.min_hash_of(at);
            bucket.0.into_iter().filter(|&slot| slot != EMPTY).map(move |slot| {
                let tag = slot >> self.payload_bits();
                let far = (tag % MAX_PROBES) as usize;
                let least = if far == 0 { least } else { self.min_hash_of(at + self.buckets.len() * far - far) };
                let (left, right) = self.pair_of(least, tag >> PROBE_BITS, back);
                (left, right, self.unpack(slot))
            })
        })
    }

    /// The least of the numbers that belong to a bucket, which may be counted on behind the last one.
    fn min_hash_of(&self, bucket: usize) -> u64 {
        let count = self.buckets.len();
        (((bucket % count) as u64) << (2 * self.id_bits)).div_ceil(count as u64)
    }

    /// [`Self::bucket_and_tag`] backwards: of the numbers with that tag the first that is not below a bucket's `least`.
    fn pair_of(&self, least: u64, tag: u64, back: u64) -> (u32, u32) {
        let mixed = least + (tag.wrapping_sub(least) & ((1 << self.tag_bits) - 1));
        let pair = mixed.wrapping_mul(back) & ((1 << (2 * self.id_bits)) - 1);
        ((pair >> self.id_bits) as u32, (pair & ((1 << self.id_bits) - 1)) as u32)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<MergeBucket>() + self.filter.memory_bytes()
    }
}

/// What an odd number has to be multiplied by to give one, modulo two to the 64; every round doubles the bits that are
/// right, beginning with three.
fn inverse(odd: u64) -> u64 {
    (0..5).fold(odd, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse))))
}
