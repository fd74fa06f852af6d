//! The kernel of [`super::LaneMerger`]. All loads and stores are the unaligned ones.

use std::arch::x86_64::*;

use super::{ByteTables, LaneMerger, MAX_LANE_LEN, POSITIONS, PairHashing, PairTable};
use crate::bits;
use crate::cpu::Avx512;
use crate::lanes::LANES;
use crate::lanes::avx512::lane_numbers;
use crate::priority::MergePriority;

/// See [`LaneMerger::merge`].
#[inline(always)]
pub(super) fn merge(_: Avx512, words: &mut LaneMerger, table: &impl PairTable, bytes: ByteTables<'_>) {
    // SAFETY: `Avx512` proves that the CPU has the instructions.
    unsafe { merge_all(words, table, bytes) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn merge_all(words: &mut LaneMerger, table: &impl PairTable, bytes: ByteTables<'_>) {
    let longest = load_words(words, bytes);
    let hashing = table.hashing();
    assert!(!hashing.filter.is_empty());
    let [one, all] = [1, -1].map(|number| _mm512_set1_epi32(number));
    let id_limit = _mm512_set1_epi32((1u64 << hashing.id_bits) as i32);
    let mut alive = load(&words.alive);
    let mut lowest = all;
    for priorities in &words.priorities.0[1..=longest] {
        lowest = _mm512_min_epu32(lowest, load(priorities));
    }
    loop {
        // The lanes that have a merge. All vectors below are zero, or unused, in the others.
        let joins = _mm512_cmplt_epu32_mask(lowest, _mm512_set1_epi32(MergePriority::NO_MERGE as i32));
        if joins == 0 {
            break;
        }
        // The symbol at `at` takes its right neighbor in, whose position becomes free. Then the
        // symbols before and after the joined one are its neighbors.
        let at = _mm512_and_si512(lowest, _mm512_set1_epi32(POSITIONS as i32 - 1));
        let bit = _mm512_maskz_sllv_epi32(joins, one, at);
        let below = _mm512_sub_epi32(bit, one);
        let behind = _mm512_maskz_andnot_epi32(joins, _mm512_or_si512(bit, below), alive);
        let right = lowest_bit(behind);
        let after = lowest_bit(_mm512_xor_si512(behind, right));
        let before = highest_position(_mm512_and_si512(alive, below));
        let before_bit = _mm512_maskz_sllv_epi32(joins, one, before);
        alive = _mm512_xor_si512(alive, right);
        // The pairs of these symbols with their right neighbors no longer exist.
        let removed = _mm512_or_si512(_mm512_or_si512(bit, right), before_bit);
        // Visits all positions in order, because gathers and scatters by position are slow on some
        // CPUs. Reads the ids of both neighbors, writes the joined symbol, and finds the lowest of
        // the remaining priorities.
        let (mut id, mut before_id, mut after_id) = (all, all, all);
        lowest = all;
        for position in 0..longest + 2 {
            let is_at = |bits| _mm512_test_epi32_mask(bits, _mm512_set1_epi32(1 << position));
            let LaneMerger { ids, joined, priorities, .. } = &mut *words;
            let (ids, priorities) = (&mut ids.0[position], &mut priorities.0[position]);
            let (old, joined) = (load(ids), load(&joined.0[position]));
            before_id = _mm512_mask_mov_epi32(before_id, is_at(before_bit), old);
            after_id = _mm512_mask_mov_epi32(after_id, is_at(after), old);
            id = _mm512_mask_mov_epi32(id, is_at(bit), joined);
            store(ids, _mm512_mask_mov_epi32(old, is_at(bit), joined));
            let rest = _mm512_mask_mov_epi32(load(priorities), is_at(removed), all);
            store(priorities, rest);
            lowest = _mm512_min_epu32(lowest, rest);
        }
        // The two new pairs of each lane: which of them may be in the table, their hashes, and the
        // positions of their left symbols.
        let sides = [(before, before_id, id), (at, id, after_id)].map(|(position, left, right)| {
            // Larger ids are in no pair; neither are the symbols at the edges, u32::MAX.
            let in_range = _mm512_mask_cmplt_epu32_mask(joins, _mm512_max_epu32(left, right), id_limit);
            let (mut hashes, mut positions) = ([0; LANES], [0; LANES]);
            store(&mut positions, position);
            let candidates = in_range & filter_pairs(hashing, left, right, &mut hashes);
            (candidates, hashes, positions)
        });
        for (candidates, hashes, _) in &sides {
            for lane in bits::positions((*candidates).into()) {
                table.prefetch(hashes[lane % LANES]);
            }
        }
        let mut new = [u32::MAX; LANES];
        for (candidates, hashes, positions) in sides {
            for lane in bits::positions(candidates.into()).map(|lane| lane % LANES) {
                let (rank, id) = table.find(hashes[lane]);
                let position = positions[lane] as usize % POSITIONS;
                let priority = MergePriority::pack(rank, position);
                words.priorities.0[position][lane] = priority;
                words.joined.0[position][lane] = id;
                new[lane] = new[lane].min(priority);
            }
        }
        lowest = _mm512_min_epu32(lowest, load(&new));
    }
    store(&mut words.alive, alive);
}

/// Writes the symbols of all words and the merges of adjacent ones. Returns the length of the
/// longest word.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
fn load_words(words: &mut LaneMerger, tables: ByteTables<'_>) -> usize {
    const { assert!(POSITIONS == 1 << 5 && size_of::<[u8; POSITIONS]>() == POSITIONS) };
    /// The number of pairs in four bytes.
    const PAIRS_PER_LOAD: usize = 3;
    let longest = words.lens.iter().copied().max().unwrap_or(0).min(MAX_LANE_LEN as u32) as usize;
    let all = _mm512_set1_epi32(-1);
    let starts = _mm512_slli_epi32::<5>(lane_numbers());
    let lens = load(&words.lens);
    for edge in [0, longest + 1] {
        store(&mut words.ids.0[edge], all);
        store(&mut words.priorities.0[edge], all);
    }
    // Select the first and the second number of sixteen pairs in two registers.
    let [even, odd] =
        [0, 1].map(|first| _mm512_or_si512(_mm512_slli_epi32::<1>(lane_numbers()), _mm512_set1_epi32(first)));
    let mut four = all;
    for at in 0..longest {
        four = if at % PAIRS_PER_LOAD == 0 {
            let from = _mm512_add_epi32(starts, _mm512_set1_epi32(at as i32));
            // SAFETY: each lane reads four bytes from byte `at` of its word's row on. `at` is below
            // MAX_LANE_LEN = POSITIONS - 2, so the last lane reads at most one byte of the row
            // after its own, which `LaneMerger::bytes` has.
            unsafe { _mm512_i32gather_epi32::<1>(from, words.bytes.as_ptr().cast()) }
        } else {
            _mm512_srli_epi32::<8>(four)
        };
        let byte = _mm512_and_si512(four, _mm512_set1_epi32(0xFF));
        let two = _mm512_and_si512(four, _mm512_set1_epi32(0xFFFF));
        let in_word = _mm512_cmpgt_epu32_mask(lens, _mm512_set1_epi32(at as i32));
        let has_right = _mm512_cmpgt_epu32_mask(lens, _mm512_set1_epi32(at as i32 + 1));
        // SAFETY: a byte is an index into 256 ids, and two bytes are an index into 65,536 pairs of
        // eight bytes each; `ByteTables` has tables of these sizes.
        let (id, low, high) = unsafe {
            let half =
                |has_right, two| _mm512_mask_i32gather_epi64::<8>(all, has_right, two, tables.pairs.as_ptr().cast());
            (
                _mm512_mask_i32gather_epi32::<4>(all, in_word, byte, tables.ids.as_ptr().cast()),
                half(has_right as u8, _mm512_castsi512_si256(two)),
                half((has_right >> 8) as u8, _mm512_extracti64x4_epi64::<1>(two)),
            )
        };
        let [rank, joined] = [even, odd].map(|which| _mm512_permutex2var_epi32(low, which, high));
        let position = at + 1;
        let priority = _mm512_or_si512(
            _mm512_slli_epi32::<{ MergePriority::POSITION_BITS }>(rank),
            _mm512_set1_epi32(position as i32),
        );
        store(&mut words.ids.0[position], id);
        store(&mut words.priorities.0[position], priority);
        store(&mut words.joined.0[position], joined);
    }
    // A bit for each symbol, and for the one at each edge.
    let alive = _mm512_sllv_epi32(_mm512_set1_epi32(1 << 2), lens);
    store(&mut words.alive, _mm512_sub_epi32(alive, _mm512_set1_epi32(1)));
    longest
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(row: &[u32; LANES]) -> __m512i {
    // SAFETY: reads 64 bytes, the size of a row.
    unsafe { _mm512_loadu_si512(row.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(row: &mut [u32; LANES], numbers: __m512i) {
    // SAFETY: writes 64 bytes, the size of a row.
    unsafe { _mm512_storeu_si512(row.as_mut_ptr().cast(), numbers) }
}

/// The lowest bit of each lane; zero if there is none.
#[target_feature(enable = "avx512f")]
#[inline]
fn lowest_bit(bits: __m512i) -> __m512i {
    _mm512_and_si512(bits, _mm512_sub_epi32(_mm512_setzero_si512(), bits))
}

/// The position of the highest bit of each lane; -1 if there is none.
#[target_feature(enable = "avx512f,avx512cd")]
#[inline]
fn highest_position(bits: __m512i) -> __m512i {
    _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32(bits))
}

/// Writes the hashes of the pairs of both registers, and returns a bit for each that may be in the
/// table.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn filter_pairs(hashing: PairHashing<'_>, left: __m512i, right: __m512i, hashes: &mut [u64; LANES]) -> u16 {
    let PairHashing { id_bits, multiplier, filter, filter_shift } = hashing;
    let last_word = _mm512_set1_epi64(filter.len() as i64 - 1);
    let multiplier = _mm512_set1_epi64(multiplier as i64);
    let (id_bits, shift) = (_mm_cvtsi32_si128(id_bits as i32), _mm_cvtsi32_si128(filter_shift as i32));
    let mut halves = [0; 2];
    let sides = [
        (_mm512_castsi512_si256(left), _mm512_castsi512_si256(right)),
        (_mm512_extracti64x4_epi64::<1>(left), _mm512_extracti64x4_epi64::<1>(right)),
    ];
    for (which, (left, right)) in sides.into_iter().enumerate() {
        let pair =
            _mm512_or_si512(_mm512_sll_epi64(_mm512_cvtepu32_epi64(left), id_bits), _mm512_cvtepu32_epi64(right));
        let hash = _mm512_mullo_epi64(pair, multiplier);
        // SAFETY: writes 64 bytes to either half of `hashes`, which has 128.
        unsafe { _mm512_storeu_si512(hashes.as_mut_ptr().add(which * LANES / 2).cast(), hash) };
        let position = _mm512_srl_epi64(hash, shift);
        let word = _mm512_and_si512(_mm512_srli_epi64::<6>(position), last_word);
        // SAFETY: the index is at most `last_word`, the number of the filter's last word;
        // `merge_all` has checked that there is one.
        let word = unsafe { _mm512_i64gather_epi64::<8>(word, filter.as_ptr().cast()) };
        let bit = _mm512_sllv_epi64(_mm512_set1_epi64(1), _mm512_and_si512(position, _mm512_set1_epi64(63)));
        halves[which] = u16::from(_mm512_test_epi64_mask(word, bit));
    }
    halves[0] | halves[1] << 8
}
