//! The kernel of [`super::LaneMatcher`]. All loads and stores are the unaligned ones.

use std::arch::x86_64::*;

use super::{GROUPS, ID_BITS, LaneMatcher, MatchTrie, NO_TOKEN, ROOM, TrieSlot, WORDS};
use crate::cpu::Avx512;
use crate::lanes::LANES;
use crate::lanes::avx512::lane_numbers;
use crate::prefetch_at;

/// See [`LaneMatcher::match_all`].
#[inline(always)]
pub(super) fn match_all(_: Avx512, words: &mut LaneMatcher, trie: MatchTrie<'_>) {
    // SAFETY: `Avx512` proves that the CPU has the instructions.
    unsafe { match_groups(words, trie) }
}

/// The state of sixteen words.
struct Group {
    /// The lanes whose words are not complete.
    active: u16,
    /// The position of each word's bytes, and of its tokens.
    row: __m512i,
    len: __m512i,
    /// The search has followed the trie up to this byte.
    end: __m512i,
    /// The byte there, and the slot that the next step reads.
    byte: __m512i,
    slot: __m512i,
    /// Start of the token that is searched.
    start: __m512i,
    /// Id and end of the longest token found; `start` if there is none.
    found: __m512i,
    found_end: __m512i,
    /// The number of tokens.
    count: __m512i,
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn match_groups(words: &mut LaneMatcher, trie: MatchTrie<'_>) {
    const { assert!(size_of::<TrieSlot>() == 8 && ROOM == 1 << 5) };
    // A gather reads its indices as signed numbers.
    assert!(trie.slots.len() <= 1 << 31);
    let zero = _mm512_setzero_si512();
    let mut groups: [Group; GROUPS] = std::array::from_fn(|group| {
        let first = group * LANES;
        let lanes = words.words.saturating_sub(first).min(LANES);
        let numbers = _mm512_add_epi32(lane_numbers(), _mm512_set1_epi32(first as i32));
        let mut group = Group {
            active: ((1u32 << lanes) - 1) as u16,
            row: _mm512_slli_epi32::<5>(numbers),
            len: load(&words.lens, first),
            end: zero,
            byte: zero,
            slot: zero,
            start: zero,
            found: zero,
            found_end: zero,
            count: zero,
        };
        go_to(&mut group, _mm512_set1_epi32(trie.starting as i32), words, trie);
        group
    });
    while groups.iter().any(|group| group.active != 0) {
        for group in &mut groups {
            step(group, words, trie);
        }
    }
    for (group, state) in groups.iter().enumerate() {
        store(&mut words.counts, group * LANES, state.count);
    }
}

/// Makes one step for each word of a group.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
#[inline]
fn step(group: &mut Group, words: &mut LaneMatcher, trie: MatchTrie<'_>) {
    let (active, slot, zero) = (group.active, group.slot, _mm512_setzero_si512());
    if active == 0 {
        return;
    }
    let in_word = _mm512_mask_cmplt_epu32_mask(active, group.end, group.len);
    let in_trie = _mm512_mask_cmplt_epu32_mask(in_word, slot, _mm512_set1_epi32(trie.slots.len() as i32));
    // SAFETY: only lanes of `in_trie` read, whose index is below the number of slots, and below
    // 2³¹. A slot has eight bytes.
    let (low, high) = unsafe {
        let half = |lanes, slot| _mm512_mask_i32gather_epi64::<8>(zero, lanes, slot, trie.slots.as_ptr().cast());
        (
            half(in_trie as u8, _mm512_castsi512_si256(slot)),
            half((in_trie >> 8) as u8, _mm512_extracti64x4_epi64::<1>(slot)),
        )
    };
    let even = _mm512_slli_epi32::<1>(lane_numbers());
    let base = _mm512_permutex2var_epi32(low, even, high);
    let label_and_id = _mm512_permutex2var_epi32(low, _mm512_or_si512(even, _mm512_set1_epi32(1)), high);
    let goes_on = _mm512_mask_cmpeq_epu32_mask(in_trie, _mm512_and_si512(label_and_id, low_byte()), group.byte);
    group.end = _mm512_mask_add_epi32(group.end, goes_on, group.end, _mm512_set1_epi32(1));
    let id = _mm512_srli_epi32::<8>(label_and_id);
    let is_token = _mm512_mask_cmpneq_epu32_mask(goes_on, id, _mm512_set1_epi32(NO_TOKEN as i32));
    group.found = _mm512_mask_mov_epi32(group.found, is_token, id);
    group.found_end = _mm512_mask_mov_epi32(group.found_end, is_token, group.end);
    let stops = active & !goes_on;
    if stops == 0 {
        return go_to(group, base, words, trie);
    }
    // The longest token ends here, or there is none, and the word is unknown.
    let has_token = _mm512_mask_cmpneq_epu32_mask(stops, group.found_end, group.start);
    let len = _mm512_sub_epi32(group.found_end, group.start);
    let token = _mm512_or_si512(group.found, _mm512_slli_epi32::<ID_BITS>(len));
    // SAFETY: `count` is below ROOM: each token has at least one of the at most MAX_LANE_LEN bytes
    // of its word. So each lane writes to its own row of `LaneMatcher::tokens`.
    unsafe {
        let to = _mm512_add_epi32(group.row, group.count);
        _mm512_mask_i32scatter_epi32::<4>(words.tokens.as_mut_ptr().cast(), has_token, to, token);
    }
    group.count = _mm512_mask_add_epi32(group.count, has_token, group.count, _mm512_set1_epi32(1));
    group.count = _mm512_mask_mov_epi32(group.count, stops & !has_token, zero);
    group.start = _mm512_mask_mov_epi32(group.start, has_token, group.found_end);
    group.end = _mm512_mask_mov_epi32(group.end, has_token, group.found_end);
    group.active = active & !stops | _mm512_mask_cmplt_epu32_mask(has_token, group.found_end, group.len);
    let node = _mm512_mask_mov_epi32(base, has_token, _mm512_set1_epi32(trie.continuing as i32));
    go_to(group, node, words, trie);
}

/// Reads the next byte of each word, and prefetches the slots that the next step reads from `node`.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
#[inline]
fn go_to(group: &mut Group, node: __m512i, words: &LaneMatcher, trie: MatchTrie<'_>) {
    let from = _mm512_add_epi32(group.row, group.end);
    // SAFETY: each lane reads four bytes from byte `end` of its word's row on, which is at most
    // MAX_LANE_LEN < ROOM. The last lane reads at most three bytes of the row after its own, which
    // `LaneMatcher::bytes` has.
    let four = unsafe { _mm512_i32gather_epi32::<1>(from, words.bytes.as_ptr().cast()) };
    group.byte = _mm512_and_si512(four, low_byte());
    group.slot = _mm512_xor_si512(node, group.byte);
    let mut slots = [0u32; LANES];
    // SAFETY: writes 64 bytes, the size of `slots`.
    unsafe { _mm512_storeu_si512(slots.as_mut_ptr().cast(), group.slot) };
    for slot in slots {
        prefetch_at(trie.slots, slot as usize);
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn low_byte() -> __m512i {
    _mm512_set1_epi32(0xFF)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(numbers: &[u32; WORDS], first: usize) -> __m512i {
    let row = &numbers[first..first + LANES];
    // SAFETY: reads 64 bytes, the size of `row`.
    unsafe { _mm512_loadu_si512(row.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(numbers: &mut [u32; WORDS], first: usize, row: __m512i) {
    let to = &mut numbers[first..first + LANES];
    // SAFETY: writes 64 bytes, the size of `to`.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), row) }
}
