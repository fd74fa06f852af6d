//! The kernels of [`super`] with AVX-512: they compute the keys of eight words at once, and compare
//! both slots of a bucket at once. Tests compare them with the scalar code in [`super`].

use std::arch::x86_64::*;
use std::mem::{MaybeUninit, offset_of};

use super::{Bucket, KEYS_AT_ONCE, PRIMARY_MULTIPLIER, PrimaryHits, Slot};
use crate::simd::append::{APPEND_WIDTH, Appender};
use crate::simd::cpu::Avx512;
use crate::simd::packed::{PackedIds, UNPACK_SHUFFLES};
use crate::word_key::{Key, MAX_SHORT_LEN, MIX_SHIFT, NOT_SHORT};

/// Computes the keys and primary buckets of adjacent words; the first starts at byte `start` of the
/// text. The table's last bucket has the number `last_bucket`. Returns a bit for each word that is
/// not short, or `None` if a word starts fewer than sixteen bytes before the end of the text.
#[inline(always)]
pub(super) fn keys(
    _: Avx512,
    text: &[u8],
    start: u32,
    ends: &[u32; KEYS_AT_ONCE],
    last_bucket: u32,
    keys: &mut [Key; KEYS_AT_ONCE],
    buckets: &mut [u32; KEYS_AT_ONCE],
) -> Option<u8> {
    // SAFETY: `Avx512` proves that the CPU has the instructions.
    unsafe { keys_of_group(text, start, ends, last_bucket, keys, buckets) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn keys_of_group(
    text: &[u8],
    start: u32,
    ends: &[u32; KEYS_AT_ONCE],
    last_bucket: u32,
    keys: &mut [Key; KEYS_AT_ONCE],
    buckets: &mut [u32; KEYS_AT_ONCE],
) -> Option<u8> {
    // SAFETY: reads 32 bytes, the size of `ends`, without alignment.
    let end_lanes = unsafe { _mm256_loadu_si256(ends.as_ptr().cast()) };
    let starts = _mm256_alignr_epi32::<7>(end_lanes, _mm256_set1_epi32(start as i32));
    let latest = u32::try_from(text.len().checked_sub(16)?).unwrap_or(u32::MAX);
    if _mm256_cmpgt_epu32_mask(starts, _mm256_set1_epi32(latest as i32)) != 0 {
        return None;
    }
    // Single loads: gathers are slower, on some CPUs by far.
    // SAFETY: the check above shows that sixteen bytes of `text` follow each start.
    let load = |start: u32| unsafe { _mm_loadu_si128(text.as_ptr().add(start as usize).cast()) };
    let [one, two, three, four, five, six, seven, _] = *ends;
    let lens = _mm256_sub_epi32(end_lanes, starts);
    let lens_of = |words| _mm512_maskz_permutexvar_epi32(0b0101_0101_0101_0101, words, _mm512_castsi256_si512(lens));
    let (front, front_folded) = four_keys(
        [start, one, two, three].map(load),
        lens_of(_mm512_set_epi32(0, 3, 0, 3, 0, 2, 0, 2, 0, 1, 0, 1, 0, 0, 0, 0)),
    );
    let (back, back_folded) = four_keys(
        [four, five, six, seven].map(load),
        lens_of(_mm512_set_epi32(0, 7, 0, 7, 0, 6, 0, 6, 0, 5, 0, 5, 0, 4, 0, 4)),
    );
    // Interleaves the folded keys of both halves of the group, so that one multiplication hashes
    // all; the permutation restores the order.
    let folded = _mm512_unpacklo_epi64(front_folded, back_folded);
    let hashes = _mm512_mullo_epi64(folded, _mm512_set1_epi64(PRIMARY_MULTIPLIER as i64));
    let mixed = _mm512_xor_si512(hashes, _mm512_srli_epi64::<MIX_SHIFT>(hashes));
    let high = _mm512_cvtepi64_epi32(_mm512_srli_epi64::<32>(mixed));
    let in_order = _mm256_permutevar8x32_epi32(high, _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0));
    let primary = _mm256_and_si256(in_order, _mm256_set1_epi32(last_bucket as i32));
    // SAFETY: writes 32 bytes, the size of `buckets`, and twice 64, the size of `keys`, without
    // alignment.
    unsafe {
        _mm256_storeu_si256(buckets.as_mut_ptr().cast(), primary);
        _mm512_storeu_si512(keys.as_mut_ptr().cast(), front);
        _mm512_storeu_si512(keys.as_mut_ptr().add(KEYS_AT_ONCE / 2).cast(), back);
    }
    Some(_mm256_cmpgt_epu32_mask(lens, _mm256_set1_epi32(MAX_SHORT_LEN as i32)))
}

/// The keys of four words from their first sixteen bytes, and [`crate::word_key::fold`] of each key
/// in both of its halves. `lens` has the length of each word in both halves of its key.
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
#[inline]
fn four_keys([one, two, three, four]: [__m128i; 4], lens: __m512i) -> (__m512i, __m512i) {
    let two = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(one), two);
    let four = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(three), four);
    let bytes = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(two), four);
    let halves = |upper| _mm512_set_epi64(upper, 0, upper, 0, upper, 0, upper, 0);
    let all = _mm512_set1_epi64(-1);
    // Clears the bits of each half that are beyond the word's length. A shift by 64 or more yields
    // zero.
    let bits = _mm512_slli_epi64::<3>(lens);
    let keys = _mm512_andnot_si512(_mm512_sllv_epi64(all, _mm512_subs_epu16(bits, halves(64))), bytes);
    let keys = _mm512_mask_or_epi64(keys, 0b1010_1010, keys, _mm512_slli_epi64::<{ 56 - 3 }>(bits));
    let not_short = _mm512_cmpgt_epu64_mask(lens, _mm512_set1_epi64(MAX_SHORT_LEN as i64));
    let keys = _mm512_mask_mov_epi64(keys, not_short, all);
    let rotated = _mm512_rolv_epi64(keys, halves(29));
    (keys, _mm512_xor_si512(rotated, _mm512_shuffle_epi32::<0b01_00_11_10>(rotated)))
}

/// See [`crate::simd::Simd::primary_misses`].
#[inline(always)]
pub(super) fn primary_misses(_: Avx512, table: &[Bucket], keys: &[Key], buckets: &[u32]) -> u64 {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn misses(table: &[Bucket], keys: &[Key], buckets: &[u32]) -> u64 {
        let (mut misses, mut bit) = (0, 1);
        for (key, &bucket) in keys.iter().zip(buckets) {
            let found = table.get(bucket as usize).map_or(0, |bucket| match_key(bucket, key));
            misses |= if found == 0 && *key != NOT_SHORT { bit } else { 0 };
            bit <<= 1;
        }
        misses
    }
    // SAFETY: `Avx512` proves that the CPU has the instructions.
    unsafe { misses(table, keys, buckets) }
}

/// The bits of [`match_key`]'s result: the comparison's lanes with the low halves of both keys.
const FIRST_SLOT: u32 = 1 << 0;
const SECOND_SLOT: u32 = 1 << 4;

/// Which slot of a bucket has the key: [`FIRST_SLOT`], [`SECOND_SLOT`] or 0.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn match_key(bucket: &Bucket, key: &Key) -> u32 {
    const { assert!(offset_of!(Slot, key) == 0 && size_of::<Slot>() == 32) };
    // SAFETY: reads 16 and 64 bytes, the sizes of a key and a bucket, without alignment.
    let (key, slots) = unsafe {
        let key = _mm_loadu_si128(std::ptr::from_ref(key).cast());
        (_mm512_broadcast_i64x2(key), _mm512_loadu_si512(std::ptr::from_ref(bucket).cast()))
    };
    let same = u32::from(_mm512_cmpeq_epi64_mask(slots, key));
    // Both halves of a key have to match.
    same & same >> 1 & (FIRST_SLOT | SECOND_SLOT)
}

/// See [`crate::simd::Simd::append_primary_hits`].
#[inline(always)]
pub(super) fn append_hits<'t>(
    _: Avx512,
    table: &[Bucket],
    spilled: impl Fn(&PackedIds) -> Option<&'t [u32]>,
    keys: &[Key],
    buckets: &[u32],
    ids: &mut Appender<'_>,
) -> PrimaryHits {
    let words = keys.len().min(buckets.len());
    let (keys, buckets) = (&keys[..words], &buckets[..words]);
    // SAFETY: `Avx512` proves that the CPU has the instructions. `write_hits` initializes as many
    // ids as it returns.
    unsafe { ids.append_with(words * MAX_SHORT_LEN, |to| write_hits(table, spilled, keys, buckets, to)) }
}

/// [`append_hits`] to the start of `to`. Also returns how many ids it has written.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn write_hits<'t>(
    table: &[Bucket],
    spilled: impl Fn(&PackedIds) -> Option<&'t [u32]>,
    keys: &[Key],
    buckets: &[u32],
    to: &mut [MaybeUninit<u32>],
) -> (usize, PrimaryHits) {
    assert!(to.len() >= keys.len() * MAX_SHORT_LEN + APPEND_WIDTH && keys.len() == buckets.len());
    let (mut written, mut hits) = (0, PrimaryHits::default());
    for (key, &bucket) in keys.iter().zip(buckets) {
        let Some(bucket) = table.get(bucket as usize) else { break };
        let found = match_key(bucket, key);
        if found == 0 {
            break;
        }
        // Invariant: written <= hits.words * MAX_SHORT_LEN. Each word appends MAX_SHORT_LEN ids at
        // most and stores MAX_SHORT_LEN + APPEND_WIDTH numbers at most, so by the assertion above
        // its stores stay within `to`.
        let packed = &bucket.0[(found / SECOND_SLOT) as usize].ids;
        if packed.count() > PackedIds::CAPACITY {
            let Some(ids) = spilled(packed).filter(|ids| ids.len() <= MAX_SHORT_LEN) else { break };
            let lanes = (1 << ids.len()) - 1;
            // SAFETY: the masked load reads only the ids. The store writes sixteen numbers, which
            // are MAX_SHORT_LEN + 1, within `to` by the invariant above.
            unsafe {
                let numbers = _mm512_maskz_loadu_epi32(lanes, ids.as_ptr().cast());
                _mm512_storeu_si512(to.as_mut_ptr().add(written).cast(), numbers);
            }
            written += ids.len();
        } else {
            // SAFETY: reads 32 and 16 bytes, the sizes of a shuffle and of packed ids. Writes eight
            // numbers, which is APPEND_WIDTH, within `to` by the invariant above.
            unsafe {
                let shuffle = UNPACK_SHUFFLES[usize::from(packed.is_narrow())].as_ptr();
                let shuffle = _mm256_loadu_si256(shuffle.cast());
                let packed = _mm_loadu_si128(packed.bytes().as_ptr().cast());
                let numbers = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(packed), shuffle);
                _mm256_storeu_si256(to.as_mut_ptr().add(written).cast(), numbers);
            }
            written += packed.count();
        }
        hits.control |= packed.control();
        hits.words += 1;
    }
    (written, hits)
}
