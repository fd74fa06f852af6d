//! The misses of a window of words, encoded together before the window: with BPE sixteen at a
//! time, with WordPiece 64 at a time or twelve in turn, so that the memory accesses of several
//! words overlap.
//!
//! Affects speed only, never ids: merged words are inserted into the cache, and a word that is left
//! out is merged when the window reaches it. Listing the misses costs time too, so it is done only
//! if the previous window had many.

use crate::bpe::WordCache;
use crate::bpe::word_cache::{WordFlags, WordWindow};
use crate::memory::Grow;
use crate::model::{InterleavedScratch, Model};
use crate::pipeline::Pipeline;
use crate::pretokenizer::scanner::WORDS_AT_A_TIME;
use crate::simd::Simd;
use crate::simd::lane_merger::{LaneMerger, MAX_LANE_LEN};

/// Batching is worthwhile if at least one word in this many was a miss in the previous window.
const MISS_RATIO: u64 = 32;
/// Smaller windows are not batched.
const MIN_WINDOW_WORDS: usize = MISS_RATIO as usize;

/// Merges the misses of windows. See the module documentation.
#[derive(Debug)]
pub(super) struct MissBatcher {
    /// The cache's counts of hits and misses before the last window.
    counts: (u64, u64),
    pub(super) misses: Vec<Miss>,
    /// Scratch buffer for sorting `misses`.
    unsorted: Vec<Miss>,
    /// `None` in WebAssembly, which merges words one by one.
    merger: Option<LaneMerger>,
    interleaved: InterleavedScratch,
}

/// A word of a window, as one number that is fast to sort: by length, then by bucket, so that equal
/// words are adjacent, then by position in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Miss(u64);

impl Miss {
    const WINDOW_POSITION_BITS: u32 = 24;

    fn new(len: usize, bucket: u32, at: usize) -> Self {
        Self(
            (len as u64) << (u32::BITS + Self::WINDOW_POSITION_BITS)
                | u64::from(bucket) << Self::WINDOW_POSITION_BITS
                | at as u64,
        )
    }

    /// The word's position in the window.
    fn position(self) -> usize {
        (self.0 & ((1 << Self::WINDOW_POSITION_BITS) - 1)) as usize
    }

    /// The word's length in bytes.
    fn len(self) -> usize {
        (self.0 >> (u32::BITS + Self::WINDOW_POSITION_BITS)) as usize
    }

    /// The word's primary bucket.
    fn bucket(self) -> usize {
        (self.0 >> Self::WINDOW_POSITION_BITS) as u32 as usize
    }

    /// Whether two words have the same length and bucket.
    fn may_equal(self, other: Self) -> bool {
        (self.0 ^ other.0) >> Self::WINDOW_POSITION_BITS == 0
    }
}

const _: () = assert!(WORDS_AT_A_TIME <= 1 << Miss::WINDOW_POSITION_BITS && MAX_LANE_LEN < 1 << 8);

/// A word, and its position in the window.
struct MissedWord<'a>(usize, &'a [u8]);

impl AsRef<[u8]> for MissedWord<'_> {
    fn as_ref(&self) -> &[u8] {
        self.1
    }
}

impl MissBatcher {
    pub(super) fn new(simd: Simd) -> Self {
        Self {
            counts: (0, 0),
            misses: vec![],
            unsorted: vec![],
            merger: LaneMerger::new(simd),
            interleaved: InterleavedScratch::new(simd),
        }
    }

    /// Merges the misses of a window and inserts them, if that is worthwhile.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn merge_misses(&mut self, cache: &mut WordCache, pipeline: &Pipeline, window: &WordWindow<'_>) {
        let Self { counts, misses, unsorted, merger, interleaved } = self;
        let has_batches = match &*pipeline.model {
            Model::Bpe(bpe) => merger.is_some() && bpe.merges_in_lanes(),
            Model::WordPiece(_) => true,
            Model::Unigram(_) | Model::WordLevel(_) | Model::SentencePiece(_) => false,
        };
        if !has_batches {
            return;
        }
        let (before, now) = (std::mem::replace(counts, cache.counts()), cache.counts());
        // After an error in a window, misses may have been counted without their lookups.
        let [hits, missed] = [now.0.saturating_sub(before.0), now.1 - before.1];
        let is_worth_it = missed * MISS_RATIO >= hits + missed;
        if window.len() < MIN_WINDOW_WORDS || !is_worth_it {
            return;
        }
        let bpe = pipeline.model.bpe();
        misses.clear();
        cache.for_each_miss(window, |at| {
            let len = window.word(at).len();
            if len <= MAX_LANE_LEN {
                if let Some(bpe) = bpe {
                    bpe.prefetch_token(window.key(at));
                }
                misses.push(Miss::new(len, window.bucket(at), at));
            }
        });
        // Words of similar length are merged together. The longest come first, so that the words
        // that remain at the end, which are merged one by one, are the shortest.
        if bpe.is_some() {
            misses.sort_unstable();
            misses.dedup_by(|one, other| {
                one.may_equal(*other) && window.word(one.position()) == window.word(other.position())
            });
        } else {
            sort_by_length(misses, unsorted, window);
        }
        let words = misses.iter().rev().map(|miss| MissedWord(miss.position(), window.word(miss.position())));
        match (&*pipeline.model, merger) {
            (Model::Bpe(bpe), Some(merger)) => bpe.tokenize_in_lanes(words, merger, |MissedWord(at, word), tokens| {
                cache.insert(word, window.key(at), tokens, WordFlags { lengths_vary: false });
            }),
            (Model::WordPiece(model), _) => model.tokenize_all(words, interleaved, |MissedWord(at, word), tokens| {
                let lengths_vary = model.lengths_vary(word, tokens);
                cache.insert(word, window.key(at), tokens, WordFlags { lengths_vary });
            }),
            _ => {}
        }
    }
}

/// Sorts misses by length and removes most of those that are equal to one before. Takes a third of
/// the time of sorting by all of a [`Miss`].
#[inline(always)]
fn sort_by_length(misses: &mut Vec<Miss>, unsorted: &mut Vec<Miss>, window: &WordWindow<'_>) {
    /// Number of buckets whose last miss is known.
    const RECENT_BUCKETS: usize = 1 << 9;
    std::mem::swap(misses, unsorted);
    let (mut recent, mut counts) = ([Miss(0); RECENT_BUCKETS], [0u32; MAX_LANE_LEN + 2]);
    unsorted.retain(|&miss| {
        let last = std::mem::replace(&mut recent[miss.bucket() % RECENT_BUCKETS], miss);
        let is_new = !last.may_equal(miss) || window.word(last.position()) != window.word(miss.position());
        counts[miss.len() + 1] += u32::from(is_new);
        is_new
    });
    // Each count becomes the index of the first miss of its length.
    for len in 1..counts.len() {
        counts[len] += counts[len - 1];
    }
    misses.clear();
    misses.grow(unsorted.len());
    misses.resize(unsorted.len(), Miss(0));
    for miss in &*unsorted {
        let next = &mut counts[miss.len()];
        misses[*next as usize] = *miss;
        *next += 1;
    }
}

#[cfg(test)]
mod tests {
    use crate::byte_level;
    use crate::error::EncodeError;
    use crate::options::EncodeOptions;
    use crate::tokenizer::Tokenizer;
    use proptest::prelude::*;
    use serde_json::{Map, json};

    /// A tokenizer with merges of the letters a to d and of tokens that start with them; `seed`
    /// selects the pairs.
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

    /// A WordPiece tokenizer of some words of the letters a to d and of their endings. Words of
    /// other letters are unknown.
    fn wordpiece(seed: u32) -> Tokenizer {
        let letters =
            |number: u32| (0..=number % 4).map(move |at| char::from(b'a' + (number >> (4 + 2 * at)) as u8 % 4));
        let mut tokens: Vec<String> = vec!["[UNK]".into()];
        let mut state = seed;
        for at in 0..60 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let prefix = if at % 2 == 0 { "##" } else { "" };
            tokens.push(prefix.chars().chain(letters(state >> 8)).collect());
        }
        tokens.extend(["a", "b", "c", "##a", "##b", "##c"].map(String::from));
        tokens.sort();
        tokens.dedup();
        let vocab: Map<_, _> = tokens.into_iter().zip(0..).map(|(token, id)| (token, json!(id))).collect();
        let file = json!({
            "version": "1.0",
            "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "model": {"type": "WordPiece", "vocab": vocab, "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 18},
        });
        Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound")
    }

    /// The number of words that were merged together before the last window.
    fn merged_words(tokenizer: &Tokenizer) -> usize {
        let words = tokenizer
            .with_encoder(|encoder| Ok::<_, EncodeError>(encoder.state.word_encoder.miss_batcher.misses.len()));
        words.expect("there is memory")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn a_text_of_wordpiece_misses_has_the_tokens_of_its_words(
            seed in any::<u32>(),
            words in prop::collection::vec("[abcd]{1,20}|[abé]{1,9}", 3000..6000),
        ) {
            let options = EncodeOptions { columns: crate::encoding::Columns::ALL, ..EncodeOptions::default() };
            let [batched, with_columns, alone] = [(); 3].map(|()| wordpiece(seed));
            let text = words.join(" ");
            let (mut ids, mut offsets, mut start) = (vec![], vec![], 0);
            for word in &words {
                let encoding = alone.encode(word.as_str().into(), &options).expect("a word");
                ids.extend(encoding.ids);
                offsets.extend(encoding.offsets.iter().map(|offset| offset.map(|at| at + start)));
                start += word.len() as u32 + 1;
            }
            let found = batched.encode(text.as_str().into(), &EncodeOptions::default()).expect("a text");
            prop_assert!(found.ids == ids);
            let merged = merged_words(&batched);
            prop_assert!(merged > 0, "{} words", merged);
            let found = with_columns.encode(text.as_str().into(), &options).expect("a text");
            prop_assert!(found.ids == ids && found.offsets == offsets);
        }

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
            let merged = merged_words(&tokenizer);
            prop_assert!(merged > 0, "{} words", merged);
            let (found, not_found) = tokenizer.cache_counts();
            prop_assert_eq!(found + not_found, words.len() as u64);
            // Encodes the words again, with columns.
            let again = crate::encoder::miss_batch::tests::tokenizer(seed, ignore_merges);
            let with_offsets = EncodeOptions { columns: crate::encoding::Columns::ALL, ..EncodeOptions::default() };
            let encoding = again.encode(text.as_str().into(), &with_offsets).expect("a text");
            prop_assert!(encoding.ids == expected);
        }
    }
}
