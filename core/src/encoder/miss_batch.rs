//! The misses of a window of words, merged sixteen at a time before the window is encoded.
//!
//! This affects speed only, never ids: the merged words are inserted into the cache, and a word that
//! is left out is merged when the window reaches it. Listing the misses has a cost too, so it is done
//! only if the window before had many.

use crate::bpe::word_cache::WordWindow;
use crate::bpe::{Bpe, WordCache};
use crate::pretokenizer::scanner::WORDS_AT_A_TIME;
use crate::simd::Simd;
use crate::simd::lane_merger::{LaneMerger, MAX_LEN};

/// Batching pays if one word in this many is a miss,
const MISS_RATIO: u64 = 64;
/// in a window of at least this many words.
const MIN_WORDS: usize = MISS_RATIO as usize;

/// See the module.
#[derive(Debug)]
pub(super) struct MissBatcher {
    /// The cache's hits and misses before the last window.
    counts: (u64, u64),
    pub(super) misses: Vec<Miss>,
    /// `None` if the CPU cannot merge several words at once.
    merger: Option<LaneMerger>,
}

/// A word of a window, as one number that is fast to sort: by length, then by bucket, so that equal
/// words are adjacent, then by position in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Miss(u64);

impl Miss {
    const POSITION_BITS: u32 = 24;

    fn new(len: usize, bucket: u32, at: usize) -> Self {
        Self((len as u64) << (u32::BITS + Self::POSITION_BITS) | u64::from(bucket) << Self::POSITION_BITS | at as u64)
    }

    /// The word's position in the window.
    fn position(self) -> usize {
        (self.0 & ((1 << Self::POSITION_BITS) - 1)) as usize
    }

    /// Whether two words have the same length and bucket.
    fn may_equal(self, other: Self) -> bool {
        (self.0 ^ other.0) >> Self::POSITION_BITS == 0
    }
}

const _: () = assert!(WORDS_AT_A_TIME <= 1 << Miss::POSITION_BITS && MAX_LEN < 1 << 8);

/// A word, and its position in the window.
struct MissedWord<'a>(usize, &'a [u8]);

impl AsRef<[u8]> for MissedWord<'_> {
    fn as_ref(&self) -> &[u8] {
        self.1
    }
}

impl MissBatcher {
    pub(super) fn new(simd: Simd) -> Self {
        Self { counts: (0, 0), misses: vec![], merger: LaneMerger::new(simd) }
    }

    /// Merges the misses of a window and inserts them, if that pays.
    #[inline(always)]
    pub(super) fn merge_misses(&mut self, cache: &mut WordCache, bpe: &Bpe, window: &WordWindow<'_>) {
        let Self { counts, misses, merger: Some(merger) } = self else { return };
        let (before, now) = (std::mem::replace(counts, cache.counts()), cache.counts());
        // After an error in a window, misses may have been counted without their lookups.
        let [hits, missed] = [now.0.saturating_sub(before.0), now.1 - before.1];
        let is_worth_it = missed * MISS_RATIO >= hits + missed;
        if window.len() < MIN_WORDS || !is_worth_it || !bpe.merges_in_lanes() {
            return;
        }
        misses.clear();
        cache.for_each_miss(window, |at| {
            let len = window.word(at).len();
            if len <= MAX_LEN {
                bpe.prefetch_token(window.key(at));
                misses.push(Miss::new(len, window.bucket(at), at));
            }
        });
        // Words of similar length are merged together. The longest come first, so that those that
        // are left over at the end, and merged one by one, are the shortest.
        misses.sort_unstable();
        misses.dedup_by(|one, other| {
            one.may_equal(*other) && window.word(one.position()) == window.word(other.position())
        });
        let words = misses.iter().rev().map(|miss| MissedWord(miss.position(), window.word(miss.position())));
        bpe.tokenize_in_lanes(words, merger, |MissedWord(at, word), tokens| {
            cache.insert_merged(word, window.key(at), tokens);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::byte_level;
    use crate::tokenizer::{EncodeOptions, Tokenizer};
    use proptest::prelude::*;
    use serde_json::{Map, json};

    /// Merges of the letters a to d and of tokens that start with them; `seed` selects the pairs.
    fn tokenizer(seed: u32, ignore_merges: bool) -> Tokenizer {
        let mut tokens: Vec<String> = byte_level::CHARACTERS.iter().map(char::to_string).collect();
        let (mut known, mut merges, mut state) = (["a", "b", "c", "d", "Ġ"].map(String::from).to_vec(), vec![], seed);
        for _ in 0..80 {
            let [left, right] = [(); 2].map(|()| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                known[(state >> 8) as usize % known.len()].clone()
            });
            let token = [&left[..], &right].concat();
            if token.chars().count() < 20 && !tokens.contains(&token) {
                merges.push(json!([left, right]));
                tokens.push(token.clone());
                known.push(token);
            }
        }
        let vocab: Map<_, _> = tokens.into_iter().zip(0..).map(|(token, id)| (token, json!(id))).collect();
        let file = json!({
            "version": "1.0",
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true, "trim_offsets": true},
            "model": {"type": "BPE", "vocab": vocab, "merges": merges, "ignore_merges": ignore_merges},
        });
        Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn a_text_of_misses_has_the_ids_of_its_words(
            seed in any::<u32>(),
            ignore_merges in any::<bool>(),
            words in prop::collection::vec("[abcd]{1,20}", 3000..6000),
        ) {
            let options = EncodeOptions::default();
            let (tokenizer, other) = (tokenizer(seed, ignore_merges), tokenizer(seed, ignore_merges));
            let words: Vec<String> = words.into_iter().map(|word| format!(" {word}")).collect();
            let text = words.concat();
            let ids = |tokenizer: &Tokenizer, text: &str| tokenizer.encode(text.into(), &options).expect("a text").ids;
            let expected: Vec<u32> = words.iter().flat_map(|word| ids(&other, word)).collect();
            prop_assert!(ids(&tokenizer, &text) == expected);
            let merged = tokenizer.lend_encoder(|encoder| encoder.word_encoder.miss_batcher.misses.len());
            prop_assert!(merged > 0 || Simd::best().avx512().is_none(), "{} words", merged);
            let (found, not_found) = tokenizer.cache_counts();
            prop_assert_eq!(found + not_found, words.len() as u64);
            // The same with columns.
            let again = crate::encoder::miss_batch::tests::tokenizer(seed, ignore_merges);
            let with_offsets = EncodeOptions { columns: crate::encoding::Columns::ALL, ..EncodeOptions::default() };
            let encoding = again.encode(text.as_str().into(), &with_offsets).expect("a text");
            prop_assert!(encoding.ids == expected);
        }
    }
}
