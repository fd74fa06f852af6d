//! The kernels of [`super`] with AVX2: they hash the keys of four words at once. Tests compare them
//! with the scalar code in [`super`].

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::{AdjacentWords, Bucket, PRIMARY_MULTIPLIER, PrimaryHits};
use crate::append::{APPEND_WIDTH, Appender};
use crate::cpu::Avx2;
use crate::packed::PackedIds;
use crate::prefetch_at;
use crate::word_key::{FOLD_ROTATION, Key, LEN_MASKS, MAX_SHORT_LEN, MIX_SHIFT, NOT_SHORT, with_len};
use crate::x86_64::unpack;

/// The number of words whose keys are computed at once.
const KEYS_AT_ONCE: usize = 8;
/// The number of keys that are hashed at once.
const LANES: usize = 4;

/// How sixteen loaded bytes become the key of a word of each length: the bits that are kept, and
/// those that are set. The last entry is for all words that are not short.
const KEY_BITS: [[Key; 2]; MAX_SHORT_LEN + 2] = {
    let mut all = [[0, NOT_SHORT]; MAX_SHORT_LEN + 2];
    let mut len = 0;
    while len <= MAX_SHORT_LEN {
        all[len] = [LEN_MASKS[len], with_len(0, len)];
        len += 1;
    }
    all
};

/// The vector part of [`crate::Simd::prefetch_words`]. Returns how many words it has done,
/// and a bit for each of these that is not short. The last words of a text are left over, and lists
/// of fewer than [`KEYS_AT_ONCE`] words.
///
/// CPUs with AVX-512 run this too: lanes of twice the width are no faster.
#[inline(always)]
pub(super) fn prefetch_groups(
    _: Avx2,
    AdjacentWords { text, start, ends }: AdjacentWords<'_>,
    table: &[Bucket],
    keys: &mut [Key],
    buckets: &mut [u32],
) -> (usize, u64) {
    let (mut done, mut not_short) = (0, 0);
    while done < ends.len() {
        // The last group overlaps the one before it, so that no words are left over.
        let first = done.min(ends.len().saturating_sub(KEYS_AT_ONCE));
        let from = if first == 0 { start } else { ends[first - 1] };
        let Some(ends) = ends[first..].first_chunk() else { break };
        let keys = keys[first..].first_chunk_mut().expect("as many keys as ends");
        let buckets = buckets[first..].first_chunk_mut().expect("as many buckets as ends");
        let last_bucket = table.len().wrapping_sub(1) as u32;
        // SAFETY: `Avx2` proves that the CPU has the instructions.
        let Some(these) = (unsafe { keys_of_group(text, from, ends, last_bucket, keys, buckets) }) else { break };
        buckets.iter().for_each(|&bucket| prefetch_at(table, bucket as usize));
        not_short |= u64::from(these) << first;
        done = first + KEYS_AT_ONCE;
    }
    (done, not_short)
}

/// Computes the keys and primary buckets of adjacent words; the first starts at byte `start` of the
/// text. The table's last bucket has the number `last_bucket`. Returns a bit for each word that is
/// not short, or `None` if a word ends fewer than sixteen bytes before the end of the text.
///
/// Not inlined: in a larger function, its variables would not fit into registers.
#[target_feature(enable = "avx2")]
#[inline(never)]
fn keys_of_group(
    text: &[u8],
    start: u32,
    ends: &[u32; KEYS_AT_ONCE],
    last_bucket: u32,
    keys: &mut [Key; KEYS_AT_ONCE],
    buckets: &mut [u32; KEYS_AT_ONCE],
) -> Option<u8> {
    let latest = u32::try_from(text.len().checked_sub(size_of::<Key>())?).unwrap_or(u32::MAX);
    let latest_lanes = _mm256_set1_epi32(latest.cast_signed());
    // SAFETY: reads 32 bytes, the size of `ends`, without alignment.
    let end_lanes = unsafe { _mm256_loadu_si256(ends.as_ptr().cast()) };
    let beyond = _mm256_xor_si256(_mm256_max_epu32(end_lanes, latest_lanes), latest_lanes);
    if start > latest || _mm256_testz_si256(beyond, beyond) == 0 {
        return None;
    }
    let (mut not_short, mut start) = (0, start);
    for at in [0, LANES] {
        let mut four = [_mm_setzero_si128(); LANES];
        for lane in 0..LANES {
            let end = ends[at + lane];
            let [kept, set] = &KEY_BITS[(end.wrapping_sub(start) as usize).min(MAX_SHORT_LEN + 1)];
            // SAFETY: the check above shows that sixteen bytes of `text` follow each start. The
            // other loads read values of sixteen bytes.
            let (bytes, kept, set) = unsafe {
                (
                    _mm_loadu_si128(text.as_ptr().add(start as usize).cast()),
                    _mm_loadu_si128(std::ptr::from_ref(kept).cast()),
                    _mm_loadu_si128(std::ptr::from_ref(set).cast()),
                )
            };
            four[lane] = _mm_or_si128(_mm_and_si128(bytes, kept), set);
            // SAFETY: writes sixteen bytes, the size of a key.
            unsafe { _mm_storeu_si128((&raw mut keys[at + lane]).cast(), four[lane]) };
            start = end;
        }
        let pair = |low, high| _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
        let [first, second] = [pair(four[0], four[2]), pair(four[1], four[3])];
        let low = _mm256_unpacklo_epi64(first, second);
        let high = _mm256_unpackhi_epi64(first, second);
        // The last byte of a short word's key is its length.
        not_short |= _mm256_movemask_pd(_mm256_castsi256_pd(high)) << at;
        let rotated = _mm256_or_si256(
            _mm256_slli_epi64::<{ FOLD_ROTATION as i32 }>(high),
            _mm256_srli_epi64::<{ 64 - FOLD_ROTATION as i32 }>(high),
        );
        let hash = multiply(_mm256_xor_si256(low, rotated), PRIMARY_MULTIPLIER);
        let mixed = _mm256_xor_si256(hash, _mm256_srli_epi64::<{ MIX_SHIFT as i32 }>(hash));
        // The number of a bucket is in the upper half of the hash.
        let [one, two] =
            [_mm256_castsi256_si128(mixed), _mm256_extracti128_si256::<1>(mixed)].map(|half| _mm_castsi128_ps(half));
        let upper = _mm_castps_si128(_mm_shuffle_ps::<0b11_01_11_01>(one, two));
        let primary = _mm_and_si128(upper, _mm_set1_epi32(last_bucket.cast_signed()));
        let buckets: &mut [u32; LANES] = buckets[at..].first_chunk_mut().expect("a group has two halves");
        // SAFETY: writes sixteen bytes, the size of four bucket numbers.
        unsafe { _mm_storeu_si128(buckets.as_mut_ptr().cast(), primary) };
    }
    Some(not_short as u8)
}

/// The low halves of the products. AVX2 only multiplies numbers of 32 bits.
#[target_feature(enable = "avx2")]
#[inline]
fn multiply(numbers: __m256i, factor: u64) -> __m256i {
    let [low, high] = [factor, factor >> 32].map(|half| _mm256_set1_epi64x(half.cast_signed()));
    let upper = _mm256_mul_epu32(_mm256_srli_epi64::<32>(numbers), low);
    let crossed = _mm256_add_epi64(upper, _mm256_mul_epu32(numbers, high));
    _mm256_add_epi64(_mm256_mul_epu32(numbers, low), _mm256_slli_epi64::<32>(crossed))
}

/// See [`crate::Simd::append_primary_hits`].
#[inline(always)]
pub(super) fn append_hits<'t>(
    cpu: Avx2,
    table: &[Bucket],
    spilled: impl Fn(&PackedIds) -> Option<&'t [u32]>,
    keys: &[Key],
    buckets: &[u32],
    ids: &mut Appender<'_>,
) -> PrimaryHits {
    let words = keys.len().min(buckets.len());
    let (keys, buckets) = (&keys[..words], &buckets[..words]);
    // SAFETY: `Avx2` proves that the CPU has the instructions. `write_hits` initializes as many ids
    // as it returns.
    unsafe { ids.append_with(words * MAX_SHORT_LEN, |to| write_hits(cpu, table, spilled, keys, buckets, to)) }
}

/// [`append_hits`] to the start of `to`. Also returns how many ids it has written. Not inlined: in
/// a larger function, its variables would not fit into registers.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
fn write_hits<'t>(
    cpu: Avx2,
    table: &[Bucket],
    spilled: impl Fn(&PackedIds) -> Option<&'t [u32]>,
    keys: &[Key],
    buckets: &[u32],
    to: &mut [MaybeUninit<u32>],
) -> (usize, PrimaryHits) {
    assert!(to.len() >= keys.len() * MAX_SHORT_LEN + APPEND_WIDTH && keys.len() == buckets.len());
    let (mut written, mut hits) = (0, PrimaryHits::default());
    for (&key, &bucket) in keys.iter().zip(buckets) {
        let Some(slot) = table.get(bucket as usize).and_then(|bucket| bucket.find(key)) else { break };
        // Invariant: written <= hits.words * MAX_SHORT_LEN. Each word appends MAX_SHORT_LEN ids at
        // most, so by the assertion above at least MAX_SHORT_LEN + APPEND_WIDTH numbers follow.
        let packed = &slot.ids;
        if packed.count() > PackedIds::CAPACITY {
            let Some(ids) = spilled(packed).filter(|ids| ids.len() <= MAX_SHORT_LEN) else { break };
            for first in [0, APPEND_WIDTH] {
                let rest = _mm256_set1_epi32(ids.len() as i32 - first as i32);
                let lanes = _mm256_cmpgt_epi32(rest, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
                // SAFETY: the masked load reads only the ids. The stores write sixteen numbers,
                // which are MAX_SHORT_LEN + 1, within `to` by the invariant above.
                unsafe {
                    let numbers = _mm256_maskload_epi32(ids.as_ptr().wrapping_add(first).cast(), lanes);
                    _mm256_storeu_si256(to.as_mut_ptr().add(written + first).cast(), numbers);
                }
            }
            written += ids.len();
        } else {
            // SAFETY: by the invariant above, APPEND_WIDTH numbers follow within `to`.
            unpack(cpu, packed, unsafe { &mut *to.as_mut_ptr().add(written).cast() });
            written += packed.count();
        }
        hits.control |= packed.control();
        hits.words += 1;
    }
    (written, hits)
}
