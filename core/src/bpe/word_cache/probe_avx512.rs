//! What [`super::lookup`] does, by AVX-512: the keys of eight words at once, and slots compared and read without a detour. The
//! way word by word is the slow twin.

#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::mem::{MaybeUninit, offset_of};

use super::key::{Key, MAX_SHORT_LEN, NOT_SHORT};
use super::lookup::{HitRun, PRIMARY_MULTIPLIER};
use super::slot::{Bucket, LENGTHS_VARY_FLAG, Slot};
use super::spill_ring::SpillRing;
use crate::simd::Avx512;
use crate::simd::append::{APPEND_WIDTH, Appender};
use crate::simd::packed::{PackedIds, UNPACK_SHUFFLES};

/// Words at a time.
pub(super) const WORDS: usize = 8;

/// The keys of adjacent words of `text`, the first of which starts at `start`, and their lines at home, of which the last
/// has the number `last_line`. The answer has a bit for each word that is not short. Nothing is known where the text ends fewer than
/// sixteen bytes behind the start of one of them.
#[inline(always)]
pub(super) fn probe_keys(
    _: Avx512,
    text: &[u8],
    start: u32,
    ends: &[u32; WORDS],
    last_bucket: u32,
    keys: &mut [Key; WORDS],
    buckets: &mut [u32; WORDS],
) -> Option<u8> {
    // SAFETY: `Avx512` says that the processor has what the function asks for.
    unsafe { probe_keys_avx512(text, start, ends, last_bucket, keys, buckets) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn probe_keys_avx512(
    text: &[u8],
    start: u32,
    ends: &[u32; WORDS],
    last_bucket: u32,
    keys: &mut [Key; WORDS],
    buckets: &mut [u32; WORDS],
) -> Option<u8> {
    // SAFETY: reads 32 bytes, which is what `ends` has; the load needs no alignment.
    let ends_of = unsafe { _mm256_loadu_si256(ends.as_ptr().cast()) };
    let starts = _mm256_alignr_epi32::<7>(ends_of, _mm256_set1_epi32(start as i32));
    let latest = u32::try_from(text.len().checked_sub(16)?).unwrap_or(u32::MAX);
    if _mm256_cmpgt_epu32_mask(starts, _mm256_set1_epi32(latest as i32)) != 0 {
        return None;
    }
    // Loaded one by one: gathers are slower, on some processors by far.
    // SAFETY: from each of the starts on there are sixteen bytes of `text`, as was just asked.
    let load = |start: u32| unsafe { _mm_loadu_si128(text.as_ptr().add(start as usize).cast()) };
    let [one, two, three, four, five, six, seven, _] = *ends;
    let lens = _mm256_sub_epi32(ends_of, starts);
    let lens_of = |words| _mm512_maskz_permutexvar_epi32(0b0101_0101_0101_0101, words, _mm512_castsi256_si512(lens));
    let (front, front_folded) = four_keys(
        [start, one, two, three].map(load),
        lens_of(_mm512_set_epi32(0, 3, 0, 3, 0, 2, 0, 2, 0, 1, 0, 1, 0, 0, 0, 0)),
    );
    let (back, back_folded) = four_keys(
        [four, five, six, seven].map(load),
        lens_of(_mm512_set_epi32(0, 7, 0, 7, 0, 6, 0, 6, 0, 5, 0, 5, 0, 4, 0, 4)),
    );
    // The words from the fifth on stand between the others.
    let product = _mm512_mullo_epi64(
        _mm512_unpacklo_epi64(front_folded, back_folded),
        _mm512_set1_epi64(PRIMARY_MULTIPLIER as i64),
    );
    let upper = _mm512_cvtepi64_epi32(_mm512_srli_epi64::<32>(product));
    let in_order = _mm256_permutevar8x32_epi32(upper, _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0));
    let primary = _mm256_and_si256(in_order, _mm256_set1_epi32(last_bucket as i32));
    // SAFETY: writes 32 bytes, which is what `lines` has, and twice 64, which is what `keys` has; the stores need no alignment.
    unsafe {
        _mm256_storeu_si256(buckets.as_mut_ptr().cast(), primary);
        _mm512_storeu_si512(keys.as_mut_ptr().cast(), front);
        _mm512_storeu_si512(keys.as_mut_ptr().add(WORDS / 2).cast(), back);
    }
    Some(_mm256_cmpgt_epu32_mask(lens, _mm256_set1_epi32(MAX_SHORT_LEN as i32)))
}

/// The keys of four words, of which these are the first sixteen bytes, and what [`super::key::folded`] makes of them, for both halves.
/// `lens` has the length of each for both halves of its key.
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
#[inline]
fn four_keys([one, two, three, four]: [__m128i; 4], lens: __m512i) -> (__m512i, __m512i) {
    let two = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(one), two);
    let four = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(three), four);
    let bytes = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(two), four);
    let halves = |upper| _mm512_set_epi64(upper, 0, upper, 0, upper, 0, upper, 0);
    let all = _mm512_set1_epi64(-1);
    // Of each half the bits that are the word's: all that are below its length. A shift by 64 or more leaves nothing.
    let bits = _mm512_slli_epi64::<3>(lens);
    let keys = _mm512_andnot_si512(_mm512_sllv_epi64(all, _mm512_subs_epu16(bits, halves(64))), bytes);
    let keys = _mm512_mask_or_epi64(keys, 0b1010_1010, keys, _mm512_slli_epi64::<{ 56 - 3 }>(bits));
    let long = _mm512_cmpgt_epu64_mask(lens, _mm512_set1_epi64(MAX_SHORT_LEN as i64));
    let keys = _mm512_mask_mov_epi64(keys, long, all);
    let turned = _mm512_rolv_epi64(keys, halves(29));
    (keys, _mm512_xor_si512(turned, _mm512_shuffle_epi32::<0b01_00_11_10>(turned)))
}

/// A bit for each word that is short and not at home.
#[inline(always)]
pub(super) fn primary_misses(_: Avx512, table: &[Bucket], keys: &[Key], buckets: &[u32]) -> u64 {
    // SAFETY: `Avx512` says that the processor has what the function asks for.
    unsafe { primary_misses_avx512(table, keys, buckets) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn primary_misses_avx512(table: &[Bucket], keys: &[Key], buckets: &[u32]) -> u64 {
    let (mut unknown, mut bit) = (0, 1);
    for (key, &bucket) in keys.iter().zip(buckets) {
        let found = table.get(bucket as usize).map_or(0, |bucket| match_key(bucket, key));
        unknown |= if found == 0 && *key != NOT_SHORT { bit } else { 0 };
        bit <<= 1;
    }
    unknown
}

/// The bits of both halves of the key of the first slot, and of the second one; what is compared beside them is ids.
const FIRST_SLOT: u32 = 1 << 0;
const SECOND_SLOT: u32 = 1 << 4;

/// Which of a line's slots has a key: [`FIRST`], [`SECOND`], or neither.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn match_key(bucket: &Bucket, key: &Key) -> u32 {
    const { assert!(offset_of!(Slot, key) == 0 && size_of::<Slot>() == 32) };
    // SAFETY: reads 16 and 64 bytes, which is what a key and a line have; the loads need no alignment.
    let (key, slots) = unsafe {
        let key = _mm_loadu_si128(std::ptr::from_ref(key).cast());
        (_mm512_broadcast_i64x2(key), _mm512_loadu_si512(std::ptr::from_ref(bucket).cast()))
    };
    let same = u32::from(_mm512_cmpeq_epi64_mask(slots, key));
    same & same >> 1 & (FIRST_SLOT | SECOND_SLOT)
}

/// Appends the ids of words, up to the first that is not at home, or whose ids are gone.
///
/// # Panics
/// If there is less room than for [`MAX_SHORT_LEN`] ids of each.
#[inline(always)]
pub(super) fn append_primary_hits(
    _: Avx512,
    (table, ring): (&[Bucket], &SpillRing),
    keys: &[Key],
    buckets: &[u32],
    ids: &mut Appender<'_>,
) -> HitRun {
    let words = keys.len().min(buckets.len());
    // SAFETY: `Avx512` says that the processor has what the function asks for; it writes as many ids as it says.
    unsafe {
        ids.write(words * MAX_SHORT_LEN, |room| {
            append_primary_hits_avx512(table, ring, &keys[..words], &buckets[..words], room)
        })
    }
}

/// For [`push_at_home`], of which the words are as many as there are `keys` and `lines`. Also how many ids were written to `room`, from its
/// start on.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn append_primary_hits_avx512(
    table: &[Bucket],
    ring: &SpillRing,
    keys: &[Key],
    buckets: &[u32],
    room: &mut [MaybeUninit<u32>],
) -> (usize, HitRun) {
    assert!(room.len() >= keys.len() * MAX_SHORT_LEN + APPEND_WIDTH && keys.len() == buckets.len());
    let (mut written, mut states, mut words) = (0, 0, 0);
    for (key, &bucket) in keys.iter().zip(buckets) {
        let Some(bucket) = table.get(bucket as usize) else { break };
        let found = match_key(bucket, key);
        if found == 0 {
            break;
        }
        let packed = bucket.0[(found / SECOND_SLOT) as usize].value();
        if packed.count() > PackedIds::CAPACITY {
            let Some(ids) = ring.spilled_ids(packed).filter(|ids| ids.len() <= MAX_SHORT_LEN) else { break };
            let all = (1 << ids.len()) - 1;
            // SAFETY: reads the ids, and writes SHORT + 1 numbers at most. Before each word there is room for SHORT ids of it and of each that
            // follows, and for APPEND_WIDTH behind them.
            unsafe {
                let numbers = _mm512_maskz_loadu_epi32(all, ids.as_ptr().cast());
                _mm512_storeu_si512(room.as_mut_ptr().add(written).cast(), numbers);
            }
            written += ids.len();
        } else {
            // SAFETY: reads 16 and 32 bytes, which is what they have, and writes 32, for which there is room as above; none needs to be
            // aligned.
            unsafe {
                let from = UNPACK_SHUFFLES[usize::from(packed.is_narrow())].as_ptr();
                let from = _mm256_loadu_si256(from.cast());
                let packed = _mm_loadu_si128(packed.bytes().as_ptr().cast());
                let numbers = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(packed), from);
                _mm256_storeu_si256(room.as_mut_ptr().add(written).cast(), numbers);
            }
            written += packed.count();
        }
        states |= packed.control();
        words += 1;
    }
    (written, HitRun { words, lengths_vary: states & LENGTHS_VARY_FLAG != 0, secondary: None })
}
