//! The unknown words of a stretch of text, merged side by side before it is read: then the cache knows them.
//!
//! What is read does not depend on it. Looking for them is worth it only where many words are unknown, so it is done when there were
//! many in the stretch before.

use super::word_encoder::{WordEncoder, WordWindow};
use crate::bpe::LaneMerger;
use crate::bpe::lane_merger::MAX_LEN;
use crate::pretokenizer::scanner::WORDS_AT_A_TIME;
use crate::simd::Simd;
use crate::tokenizer::Tokenizer;

/// It is worth it where one word in so many is unknown,
const MISS_RATIO: u64 = 64;
/// and there are as many words.
const MIN_WORDS: usize = MISS_RATIO as usize;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct MissBatcher {
    /// What the cache counted before the last stretch: words found, and not found.
    counts: (u64, u64),
    misses: Vec<Miss>,
    merger: LaneMerger,
}

/// A word of a window, in one number so that they are put in order fast: the shorter one first, and the same ones next to each other. From above its
/// length, its line, and which of the window it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Miss(u64);

impl Miss {
    const AT_BITS: u32 = 24;

    fn new(len: usize, line: u32, at: usize) -> Self {
        Self((len as u64) << (u32::BITS + Self::AT_BITS) | u64::from(line) << Self::AT_BITS | at as u64)
    }

    fn at(self) -> usize {
        (self.0 & ((1 << Self::AT_BITS) - 1)) as usize
    }

    /// Whether the lengths and lines of two are the same.
    fn has_same_bucket(self, other: Self) -> bool {
        (self.0 ^ other.0) >> Self::AT_BITS == 0
    }
}

const _: () = assert!(WORDS_AT_A_TIME <= 1 << Miss::AT_BITS && MAX_LEN < 1 << 8);

/// A word, and which of a window it is.
struct MissedWord<'a>(usize, &'a [u8]);

impl AsRef<[u8]> for MissedWord<'_> {
    fn as_ref(&self) -> &[u8] {
        self.1
    }
}

impl WordEncoder {
    /// Merges what is unknown of a window, where that is worth it.
    #[inline(always)]
    pub(super) fn merge_misses(&mut self, tokenizer: &Tokenizer, simd: Simd, window: &WordWindow<'_>) {
        let Self { cache, miss_batcher, .. } = self;
        let (before, now) = (std::mem::replace(&mut miss_batcher.counts, cache.counts()), cache.counts());
        // A window that could not be read to its end has words not found that were not looked for.
        let [found, not_found] = [now.0.saturating_sub(before.0), now.1 - before.1];
        let many_unknown = not_found * MISS_RATIO >= found + not_found;
        let WordWindow { ends, probes, .. } = window;
        if ends.len() < MIN_WORDS || !many_unknown {
            return;
        }
        let Some(bpe) = tokenizer.model.bpe().filter(|bpe| bpe.merges_in_lanes(simd)) else { return };
        let MissBatcher { misses, merger, .. } = miss_batcher;
        misses.clear();
        let word = |at: usize| &window.text[window.span(at).range()];
        let one = |at: usize| Miss::new(word(at).len(), probes.bucket(at), at);
        cache.for_each_miss(probes, |at| {
            bpe.prefetch_token(probes.key(at));
            misses.push(one(at));
        });
        let medium =
            probes.long().filter(|&at| word(at).len() <= MAX_LEN && cache.is_medium_miss(probes, at, word(at)));
        misses.extend(medium.map(one));
        // Those of about the same length merge together best, the longest first: what is left over in the end is merged one by one, and
        // takes as long as it is.
        misses.sort_unstable();
        misses.dedup_by(|one, other| one.has_same_bucket(*other) && word(one.at()) == word(other.at()));
        let words = misses.iter().rev().map(|one| MissedWord(one.at(), word(one.at())));
        bpe.tokenize_in_lanes(simd, words, merger, |MissedWord(at, word), tokens| {
            cache.insert(word, probes.key(at), tokens, false);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::byte_level;
    use crate::tokenizer::EncodeOptions;
    use proptest::prelude::*;
    use serde_json::{Map, json};

    /// Of the letters a to d, and of what pairs of tokens become, as `seed` decides.
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
        fn a_text_of_unknown_words_is_that_of_each_word(
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
            let merged = tokenizer.with_encoder(|encoder| encoder.word_encoder.miss_batcher.misses.len());
            prop_assert!(merged > 0 || Simd::best().avx512().is_none(), "{} words", merged);
            let (found, not_found) = tokenizer.cache_counts();
            prop_assert_eq!(found + not_found, words.len() as u64);
            // And where columns are wanted.
            let again = crate::encoder::miss_batch::tests::tokenizer(seed, ignore_merges);
            let with_offsets = EncodeOptions { columns: crate::encoding::Columns::ALL, ..EncodeOptions::default() };
            let encoding = again.encode(text.as_str().into(), &with_offsets).expect("a text");
            prop_assert!(encoding.ids == expected);
        }
    }
}
