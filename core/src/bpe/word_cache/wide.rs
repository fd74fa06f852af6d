//! What [`super::lookup`] does, by AVX-512: the keys of eight words at once, and slots compared and read without a detour. The
//! way word by word is the slow twin.

#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::mem::{MaybeUninit, offset_of};

use super::key::{Key, LONG, SHORT};
use super::lookup::{HOME, Known};
use super::ring::Ring;
use super::slot::{Line, Slot, VARIES};
use crate::simd::Avx512;
use crate::simd::append::{APPEND_WIDTH, Appender};
use crate::simd::packed::{PackedIds, UNPACK_SHUFFLES};

/// Words at a time.
pub(super) const WORDS: usize = 8;

/// The keys of adjacent words of `text`, the first of which starts at `start`, and their lines at home, of which the last
/// has the number `last_line`. The answer has a bit for each word that is not short. Nothing is known where the text ends fewer than
/// sixteen bytes behind the start of one of them.
#[inline(always)]
pub(super) fn places(
    _: Avx512,
    text: &[u8],
    start: u32,
    ends: &[u32; WORDS],
    last_line: u32,
    keys: &mut [Key; WORDS],
    lines: &mut [u32; WORDS],
) -> Option<u8> {
    // SAFETY: `Avx512` says that the processor has what the function asks for.
    unsafe { places_avx512(text, start, ends, last_line, keys, lines) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn places_avx512(
    text: &[u8],
    start: u32,
    ends: &[u32; WORDS],
    last_line: u32,
    keys: &mut [Key; WORDS],
    lines: &mut [u32; WORDS],
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
    let product = _mm512_mullo_epi64(_mm512_unpacklo_epi64(front_folded, back_folded), _mm512_set1_epi64(HOME as i64));
    let upper = _mm512_cvtepi64_epi32(_mm512_srli_epi64::<32>(product));
    let in_order = _mm256_permutevar8x32_epi32(upper, _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0));
    let home = _mm256_and_si256(in_order, _mm256_set1_epi32(last_line as i32));
    // SAFETY: writes 32 bytes, which is what `lines` has, and twice 64, which is what `keys` has; the stores need no alignment.
    unsafe {
        _mm256_storeu_si256(lines.as_mut_ptr().cast(), home);
        _mm512_storeu_si512(keys.as_mut_ptr().cast(), front);
        _mm512_storeu_si512(keys.as_mut_ptr().add(WORDS / 2).cast(), back);
    }
    Some(_mm256_cmpgt_epu32_mask(lens, _mm256_set1_epi32(SHORT as i32)))
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
    let long = _mm512_cmpgt_epu64_mask(lens, _mm512_set1_epi64(SHORT as i64));
    let keys = _mm512_mask_mov_epi64(keys, long, all);
    let turned = _mm512_rolv_epi64(keys, halves(29));
    (keys, _mm512_xor_si512(turned, _mm512_shuffle_epi32::<0b01_00_11_10>(turned)))
}

/// A bit for each word that is short and not at home.
#[inline(always)]
pub(super) fn not_at_home(_: Avx512, table: &[Line], keys: &[Key], lines: &[u32]) -> u64 {
    // SAFETY: `Avx512` says that the processor has what the function asks for.
    unsafe { not_at_home_avx512(table, keys, lines) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn not_at_home_avx512(table: &[Line], keys: &[Key], lines: &[u32]) -> u64 {
    let (mut unknown, mut bit) = (0, 1);
    for (key, &line) in keys.iter().zip(lines) {
        let found = table.get(line as usize).map_or(0, |line| compare(line, key));
        unknown |= if found == 0 && *key != LONG { bit } else { 0 };
        bit <<= 1;
    }
    unknown
}

/// The bits of both halves of the key of the first slot, and of the second one; what is compared beside them is ids.
const FIRST: u32 = 1 << 0;
const SECOND: u32 = 1 << 4;

/// Which of a line's slots has a key: [`FIRST`], [`SECOND`], or neither.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn compare(line: &Line, key: &Key) -> u32 {
    const { assert!(offset_of!(Slot, key) == 0 && size_of::<Slot>() == 32) };
    // SAFETY: reads 16 and 64 bytes, which is what a key and a line have; the loads need no alignment.
    let (key, slots) = unsafe {
        let key = _mm_loadu_si128(std::ptr::from_ref(key).cast());
        (_mm512_broadcast_i64x2(key), _mm512_loadu_si512(std::ptr::from_ref(line).cast()))
    };
    let same = u32::from(_mm512_cmpeq_epi64_mask(slots, key));
    same & same >> 1 & (FIRST | SECOND)
}

/// Appends the ids of words, up to the first that is not at home, or whose ids are gone.
///
/// # Panics
/// If there is less room than for [`SHORT`] ids of each.
#[inline(always)]
pub(super) fn push_at_home(
    _: Avx512,
    (table, ring): (&[Line], &Ring),
    keys: &[Key],
    lines: &[u32],
    ids: &mut Appender<'_>,
) -> Known {
    let words = keys.len().min(lines.len());
    // SAFETY: `Avx512` says that the processor has what the function asks for; it writes as many ids as it says.
    unsafe { ids.write(words * SHORT, |room| push_avx512(table, ring, &keys[..words], &lines[..words], room)) }
}

/// For [`push_at_home`], of which the words are as many as there are `keys` and `lines`. Also how many ids were written to `room`, from its
/// start on.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn push_avx512(
    table: &[Line],
    ring: &Ring,
    keys: &[Key],
    lines: &[u32],
    room: &mut [MaybeUninit<u32>],
) -> (usize, Known) {
    assert!(room.len() >= keys.len() * SHORT + APPEND_WIDTH && keys.len() == lines.len());
    let (mut written, mut states, mut words) = (0, 0, 0);
    for (key, &line) in keys.iter().zip(lines) {
        let Some(line) = table.get(line as usize) else { break };
        let found = compare(line, key);
        if found == 0 {
            break;
        }
        let packed = line.0[(found / SECOND) as usize].value();
        if packed.count() > PackedIds::CAPACITY {
            let Some(ids) = ring.get_for(packed).filter(|ids| ids.len() <= SHORT) else { break };
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
    (written, Known { words, lengths_vary: states & VARIES != 0, aside: None })
}
