//! Sixteen words merged at a time, by AVX-512: each word has a lane, and each round joins one pair in every lane where one can
//! be. None waits for what another one asks of memory, and what costs most, finding the next pair and its neighbours, is done
//! for all of them at once. [`super::short_word`] does the same for one word, and is the slow twin.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::merges::PackedMerges;
use super::short_word::MergePriority;
use super::word_cache::key;
use super::{BytePairs, Symbol};
use crate::simd::{Avx512, bits};

/// Words at a time.
pub(super) const LANES: usize = 16;
/// Fewer words are merged sooner one after the other.
pub(super) const MIN_WORDS: usize = 7;
/// Places of a word, a power of two: its symbols stand from the second on, and at both edges is one more that joins with none.
const POSITIONS: usize = 32;

/// The longest word, in bytes.
pub(crate) const MAX_LEN: usize = POSITIONS - 2;

const _: () = assert!(POSITIONS.is_power_of_two() && POSITIONS <= 1 << MergePriority::POSITION_BITS);

/// Of each place the numbers of all words.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
struct Rows([[u32; LANES]; POSITIONS]);

/// The state of merging, reused from words to words.
#[derive(Debug, Clone)]
pub(crate) struct LaneMerger {
    /// The bytes of words, and how many they are. Behind the last word are as many as a load of four reaches beyond it.
    bytes: [[u8; POSITIONS]; LANES + 1],
    lens: [u32; LANES],
    words: usize,
    ids: Rows,
    /// What each symbol becomes with its right neighbour.
    joined: Rows,
    /// The [`MergePriority`] of that: the least of them is the next to be joined.
    priorities: Rows,
    /// Of each word a bit for each place where a symbol still is.
    alive: [u32; LANES],
}

impl Default for LaneMerger {
    fn default() -> Self {
        let rows = Rows([[0; LANES]; POSITIONS]);
        Self {
            bytes: [[0; POSITIONS]; LANES + 1],
            lens: [0; LANES],
            words: 0,
            ids: rows.clone(),
            joined: rows.clone(),
            priorities: rows,
            alive: [0; LANES],
        }
    }
}

impl LaneMerger {
    /// A word to be merged with others, of [`MAX_LEN`] bytes at most. The answer is its lane.
    ///
    /// # Panics
    /// If it is longer, or there are as many words as lanes.
    pub(super) fn push(&mut self, word: &[u8]) -> usize {
        let lane = self.words;
        assert!(word.len() <= MAX_LEN);
        // In steps that are known: most words are of a few bytes.
        let bytes = &mut self.bytes[lane];
        if let (Some(first), Some(last)) = (word.first_chunk::<16>(), word.last_chunk::<16>()) {
            bytes[..16].copy_from_slice(first);
            bytes[word.len() - 16..][..16].copy_from_slice(last);
        } else {
            bytes[..16].copy_from_slice(&key::of_word(word).to_le_bytes());
        }
        self.lens[lane] = word.len() as u32;
        self.words += 1;
        lane
    }

    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// Forgets the words.
    pub(super) fn clear(&mut self) {
        self.words = 0;
        self.lens = [0; LANES];
    }

    /// Merges the words and hands each of them over with its tokens; `words` has what stands for those of the lanes. Then there are none.
    pub(super) fn merge<W>(
        &mut self,
        _: Avx512,
        (table, pairs): (&PackedMerges, &BytePairs),
        words: &mut [Option<W>; LANES],
        each: &mut impl FnMut(W, &[Symbol]),
    ) {
        // SAFETY: `Avx512` says that the processor has what the function asks for.
        unsafe { self.merge_avx512(table, pairs) };
        let mut tokens = [Symbol { id: 0, len: 0 }; POSITIONS];
        for (lane, word) in words.iter_mut().enumerate() {
            if let Some(word) = word.take() {
                each(word, self.tokens(lane, &mut tokens));
            }
        }
        self.clear();
    }

    /// The tokens that a word has become, written to `tokens`.
    fn tokens<'a>(&self, lane: usize, tokens: &'a mut [Symbol; POSITIONS]) -> &'a [Symbol] {
        let mut left = self.alive[lane] & !1;
        let mut count = 0;
        loop {
            let at = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            // The last one is the one at the edge.
            if left == 0 {
                return &tokens[..count];
            }
            tokens[count] = Symbol { id: self.ids.0[at as usize % POSITIONS][lane], len: left.trailing_zeros() - at };
            count += 1;
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
    fn merge_avx512(&mut self, table: &PackedMerges, pairs: &BytePairs) {
        let longest = self.load_words(pairs);
        let [one, all] = [1, -1].map(|number| _mm512_set1_epi32(number));
        let id_limit = _mm512_set1_epi32((1u64 << table.id_bits()) as i32);
        let mut alive = load(&self.alive);
        let mut lowest = all;
        for priorities in &self.priorities.0[1..=longest] {
            lowest = _mm512_min_epu32(lowest, load(priorities));
        }
        loop {
            let joins = _mm512_cmplt_epu32_mask(lowest, _mm512_set1_epi32(MergePriority::NONE as i32));
            if joins == 0 {
                break;
            }
            // Which symbol goes, and between which two the joined one stands then; none in a lane where nothing joins.
            let at = _mm512_and_si512(lowest, _mm512_set1_epi32(POSITIONS as i32 - 1));
            let bit = _mm512_maskz_sllv_epi32(joins, one, at);
            let below = _mm512_sub_epi32(bit, one);
            let behind = _mm512_maskz_andnot_epi32(joins, _mm512_or_si512(bit, below), alive);
            let right = lowest_bit(behind);
            let after = lowest_bit(_mm512_xor_si512(behind, right));
            let before = highest_position(_mm512_and_si512(alive, below));
            let before_bit = _mm512_maskz_sllv_epi32(joins, one, before);
            alive = _mm512_xor_si512(alive, right);
            // What is known of pairs with either of the two that were joined is so no more.
            let gone = _mm512_or_si512(_mm512_or_si512(bit, right), before_bit);
            // Place by place, as looking for places lane by lane is slow on some processors.
            let (mut id, mut before_id, mut after_id) = (all, all, all);
            lowest = all;
            for place in 0..longest + 2 {
                let has = |bits| _mm512_test_epi32_mask(bits, _mm512_set1_epi32(1 << place));
                let (ids, joined, priorities) =
                    (&mut self.ids.0[place], &self.joined.0[place], &mut self.priorities.0[place]);
                let (old, joined) = (load(ids), load(joined));
                before_id = _mm512_mask_mov_epi32(before_id, has(before_bit), old);
                after_id = _mm512_mask_mov_epi32(after_id, has(after), old);
                id = _mm512_mask_mov_epi32(id, has(bit), joined);
                store(ids, _mm512_mask_mov_epi32(old, has(bit), joined));
                let left = _mm512_mask_mov_epi32(load(priorities), has(gone), all);
                store(priorities, left);
                lowest = _mm512_min_epu32(lowest, left);
            }
            let mut new = [u32::MAX; LANES];
            let sides = [(before, before_id, id), (at, id, after_id)].map(|(place, left, right)| {
                // Ids that have more bits are in no pair; neither are those at the edges.
                let may_join = _mm512_mask_cmplt_epu32_mask(joins, _mm512_max_epu32(left, right), id_limit);
                let (mut numbers, mut places) = ([0; LANES], [0; LANES]);
                store(&mut places, place);
                let asked = may_join & may_have(table, left, right, &mut numbers);
                (asked, numbers, places)
            });
            // So that none of them waits for the cache line of another one.
            for (asked, numbers, _) in &sides {
                for lane in bits::positions((*asked).into()) {
                    table.prefetch_hash(numbers[lane % LANES]);
                }
            }
            for (asked, numbers, places) in sides {
                for lane in bits::positions(asked.into()).map(|lane| lane % LANES) {
                    let pair = table.find_hash(numbers[lane]);
                    let place = places[lane] as usize % POSITIONS;
                    let priority = MergePriority::pack(pair.rank, place);
                    self.priorities.0[place][lane] = priority;
                    self.joined.0[place][lane] = pair.id;
                    new[lane] = new[lane].min(priority);
                }
            }
            lowest = _mm512_min_epu32(lowest, load(&new));
        }
        store(&mut self.alive, alive);
    }

    /// Writes the symbols of words and what each two of them become. The answer is the length of the longest.
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
    fn load_words(&mut self, pairs: &BytePairs) -> usize {
        const { assert!(POSITIONS == 1 << 5 && size_of::<[u8; POSITIONS]>() == POSITIONS) };
        /// Pairs of bytes in four of them.
        const PAIRS: usize = 3;
        let longest = self.lens.iter().copied().max().unwrap_or(0).min(MAX_LEN as u32) as usize;
        let all = _mm512_set1_epi32(-1);
        let starts = _mm512_slli_epi32::<5>(lane_numbers());
        let lens = load(&self.lens);
        store(&mut self.ids.0[0], all);
        store(&mut self.ids.0[longest + 1], all);
        store(&mut self.priorities.0[0], all);
        store(&mut self.priorities.0[longest + 1], all);
        let [even, odd] =
            [0, 1].map(|first| _mm512_or_si512(_mm512_slli_epi32::<1>(lane_numbers()), _mm512_set1_epi32(first)));
        let mut four = all;
        for at in 0..longest {
            four = if at % PAIRS == 0 {
                let from = _mm512_add_epi32(starts, _mm512_set1_epi32(at as i32));
                // SAFETY: reads four bytes from the place `at`, below LONGEST, of each of the words on, behind the last of which there are more.
                unsafe { _mm512_i32gather_epi32::<1>(from, self.bytes.as_ptr().cast()) }
            } else {
                _mm512_srli_epi32::<8>(four)
            };
            let byte = _mm512_and_si512(four, _mm512_set1_epi32(0xFF));
            let two = _mm512_and_si512(four, _mm512_set1_epi32(0xFFFF));
            let is_there = _mm512_cmpgt_epu32_mask(lens, _mm512_set1_epi32(at as i32));
            let has_right = _mm512_cmpgt_epu32_mask(lens, _mm512_set1_epi32(at as i32 + 1));
            // SAFETY: a byte is one of 256 places, and two are one of 65,536, of eight bytes each.
            let (id, low, high) = unsafe {
                let half =
                    |has_right, two| _mm512_mask_i32gather_epi64::<8>(all, has_right, two, pairs.pairs.as_ptr().cast());
                (
                    _mm512_mask_i32gather_epi32::<4>(all, is_there, byte, pairs.ids.as_ptr().cast()),
                    half(has_right as u8, _mm512_castsi512_si256(two)),
                    half((has_right >> 8) as u8, _mm512_extracti64x4_epi64::<1>(two)),
                )
            };
            let [rank, joined] = [even, odd].map(|which| _mm512_permutex2var_epi32(low, which, high));
            let place = at + 1;
            let priority = _mm512_or_si512(
                _mm512_slli_epi32::<{ MergePriority::POSITION_BITS }>(rank),
                _mm512_set1_epi32(place as i32),
            );
            store(&mut self.ids.0[place], id);
            store(&mut self.priorities.0[place], priority);
            store(&mut self.joined.0[place], joined);
        }
        // A bit for each symbol, and for the one at each edge.
        let alive = _mm512_sllv_epi32(_mm512_set1_epi32(1 << 2), lens);
        store(&mut self.alive, _mm512_sub_epi32(alive, _mm512_set1_epi32(1)));
        longest
    }
}

/// The number of each lane.
#[target_feature(enable = "avx512f")]
#[inline]
fn lane_numbers() -> __m512i {
    _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(row: &[u32; LANES]) -> __m512i {
    // SAFETY: reads 64 bytes, which is what a row has; the load needs no alignment.
    unsafe { _mm512_loadu_si512(row.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(row: &mut [u32; LANES], numbers: __m512i) {
    // SAFETY: writes 64 bytes, which is what a row has; the store needs no alignment.
    unsafe { _mm512_storeu_si512(row.as_mut_ptr().cast(), numbers) }
}

/// The lowest bit of those that are set, of which there is one.
#[target_feature(enable = "avx512f")]
#[inline]
fn lowest_bit(bits: __m512i) -> __m512i {
    _mm512_and_si512(bits, _mm512_sub_epi32(_mm512_setzero_si512(), bits))
}

/// The place of the highest bit that is set, if there is one.
#[target_feature(enable = "avx512f,avx512cd")]
#[inline]
fn highest_position(bits: __m512i) -> __m512i {
    _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32(bits))
}

/// The numbers that the table makes of pairs, and a bit for each that it may have.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn may_have(table: &PackedMerges, left: __m512i, right: __m512i, numbers: &mut [u64; LANES]) -> u16 {
    let (words, shift) = table.filter().words();
    let last = _mm512_set1_epi64(words.len() as i64 - 1);
    let multiplier = _mm512_set1_epi64(table.multiplier() as i64);
    let (id_bits, shift) = (_mm_cvtsi32_si128(table.id_bits() as i32), _mm_cvtsi32_si128(shift as i32));
    let mut halves = [0; 2];
    let sides = [
        (_mm512_castsi512_si256(left), _mm512_castsi512_si256(right)),
        (_mm512_extracti64x4_epi64::<1>(left), _mm512_extracti64x4_epi64::<1>(right)),
    ];
    for (which, (left, right)) in sides.into_iter().enumerate() {
        let pair =
            _mm512_or_si512(_mm512_sll_epi64(_mm512_cvtepu32_epi64(left), id_bits), _mm512_cvtepu32_epi64(right));
        let number = _mm512_mullo_epi64(pair, multiplier);
        // SAFETY: writes 64 bytes, half of what `numbers` has, from either half on.
        unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().add(which * LANES / 2).cast(), number) };
        let place = _mm512_srl_epi64(number, shift);
        let word = _mm512_and_si512(_mm512_srli_epi64::<6>(place), last);
        // SAFETY: the filter has a power of two of words, and no number is above the last of them.
        let word = unsafe { _mm512_i64gather_epi64::<8>(word, words.as_ptr().cast()) };
        let bit = _mm512_sllv_epi64(_mm512_set1_epi64(1), _mm512_and_si512(place, _mm512_set1_epi64(63)));
        halves[which] = u16::from(_mm512_test_epi64_mask(word, bit));
    }
    halves[0] | halves[1] << 8
}

#[cfg(test)]
mod tests {
    use super::super::merges::{Merge, Merges};
    use super::super::tests::{byte_alphabet, byte_merges};
    use super::super::{Bpe, MergeScratch, TokenTable, naive};
    use super::*;
    use crate::simd::Simd;
    use proptest::prelude::*;
    use std::sync::Arc;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 256 }))]

        #[test]
        fn words_merged_side_by_side_equal_the_naive_merge(
            seed in any::<u32>(),
            words in prop::collection::vec("[abcd]{1,30}|[a-e]{1,4}|[aé]{1,7}", 0..70),
            large_ids in any::<bool>(),
        ) {
            let merges = byte_merges(seed);
            // Some bytes have ids that are larger than any in a pair, and like one of those in the bits that a pair has.
            let id = |byte: u32| if large_ids && byte >= 100 { byte | 1 << 20 } else { byte };
            let alphabet = byte_alphabet(id);
            let letters = |word: &str| -> Vec<Symbol> {
                word.bytes().map(|byte| Symbol { id: id(byte.into()), len: 1 }).collect()
            };
            let bpe = Bpe::new(alphabet, Arc::new(Merges::new(&merges)), None, None);
            let (mut state, mut found) = (LaneMerger::default(), vec![]);
            let each = |word: &String, tokens: &[Symbol]| found.push((word.clone(), tokens.to_vec()));
            bpe.tokenize_in_lanes(Simd::best(), words.iter(), &mut state, each);
            let merged = if Simd::best().avx512().is_none() { 0 } else { words.len() - if words.len() % LANES < MIN_WORDS { words.len() % LANES } else { 0 } };
            let expected: Vec<_> = words.iter().take(merged).map(|word| (word.clone(), naive::merge(&merges, &letters(word)))).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn words_that_are_tokens_are_not_merged() {
        let whole = TokenTable::new([(&b"abab"[..], 1000), (b"c", 99)].into_iter());
        let bpe = Bpe::new(byte_alphabet(|byte| byte), Arc::new(Merges::new(&byte_merges(1))), Some(whole), None);
        let words: Vec<Vec<u8>> =
            (0..100u8).map(|at| if at % 3 == 0 { b"abab".to_vec() } else { vec![b'a' + at % 4; 3] }).collect();
        let mut found = 0;
        bpe.tokenize_in_lanes(Simd::best(), words.iter(), &mut LaneMerger::default(), |word, tokens| {
            let mut alone = vec![];
            bpe.tokenize(word, key::of_word(word), &mut MergeScratch::default(), &mut alone).expect("bytes are tokens");
            assert_eq!(tokens, alone);
            found += 1;
        });
        assert!(Simd::best().avx512().is_none() || found > 90, "{found}");
    }

    #[test]
    fn what_cannot_be_merged_so_is_left_out() {
        let words = [b"abc"; LANES];
        let left_out = |bpe: Bpe| {
            bpe.tokenize_in_lanes(Simd::best(), words.iter(), &mut LaneMerger::default(), |_, _| {
                panic!("it was merged")
            });
        };
        let merges = || Arc::new(Merges::new(&byte_merges(1)));
        left_out(Bpe::new(byte_alphabet(|byte| byte), merges(), None, Some(0.5)));
        let high = Merge { rank: MergePriority::RANK_LIMIT, id: 300 };
        left_out(Bpe::new(byte_alphabet(|byte| byte), Arc::new(Merges::new(&[(97, 98, high)])), None, None));
        let wide = Merge { rank: 1, id: u32::MAX - 1 };
        left_out(Bpe::new(byte_alphabet(|byte| byte), Arc::new(Merges::new(&[(97, 98, wide)])), None, None));
        let bpe = Bpe::new(byte_alphabet(|byte| byte), merges(), None, None);
        bpe.tokenize_in_lanes(Simd::all()[0], words.iter(), &mut LaneMerger::default(), |_, _| panic!("it was merged"));
    }
}
