//! The BPE model: converts a word of the pre-tokenizer to token ids.
//!
//! A word starts as a list of *symbols*: one per byte in byte-level models, one per character in
//! all others. Then pairs of adjacent symbols are merged: always the pair with the lowest rank, the
//! leftmost of equal ones, until no pair has a merge. The remaining symbols are the word's tokens.
//!
//! The steps for a word, in order:
//!
//! 1. [`word_cache`]: returns the ids of a word that was encoded before.
//! 2. [`token_table`]: with `ignore_merges`, a word that is a token is not merged.
//! 3. [`alphabet`]: converts the word to symbols.
//! 4. [`merges`]: the result and the rank of merging a pair of symbols.
//! 5. One of the merge loops, which all yield the same result: [`short_word`] for words of up to 62
//!    symbols, [`crate::simd::lane_merger`] for sixteen words at once, [`long`] for all others.
//!    [`incremental`] merges very long words block by block.
//!
//! Two modules analyze the vocabulary when it is loaded. [`self_tokens`] finds the tokens that
//! survive merging as words of their own, which the word cache can then start with.
//! [`split_points`] finds where a long word can be split without changing its tokens.
//!
//! `naive` merges by definition, slowly; tests and fuzz targets compare the loops with it.
//! [`bucket_table`] is the hash table under the merges and the tokens.

pub(crate) mod alphabet;
mod bucket_table;
pub(crate) mod incremental;
pub(crate) mod long;
pub(crate) mod merge;
pub(crate) mod merges;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod naive;
mod self_tokens;
mod short_tokens;
mod short_word;
pub(crate) mod split_points;
mod token_table;
pub(crate) mod word_cache;

use std::sync::{Arc, OnceLock};

use crate::error::EncodeError;
use crate::memory::Grow;
use crate::memory::fallible::append;
use crate::simd::lane_merger::{self, ByteTables, LaneMerger};
use crate::simd::lanes::LANES;
use crate::word_key::{self, Key};
pub(crate) use alphabet::{Alphabet, Edges};
pub(crate) use merge::MergeScratch;
pub(crate) use merges::Merges;
use merges::PackedMerges;
use self_tokens::SelfTokens;
pub(crate) use split_points::{Spaces, SplitPoints};
pub(crate) use token_table::TokenTable;
pub(crate) use word_cache::WordCache;

/// A token of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol {
    /// The token's id.
    pub id: u32,
    /// The number of bytes of the word that it covers, after those of the previous token. An
    /// unknown token covers the text that it replaces; a byte-fallback token covers one byte.
    /// [`Symbol::SAME`]: the same bytes as the previous token.
    pub len: u32,
}

impl Symbol {
    /// The `len` of a token that covers the same bytes as the previous token, such as the byte
    /// tokens of Unigram.
    pub const SAME: u32 = u32::MAX;
}

/// If a merge has this rank or a higher one, the merges of single bytes are looked up at loading;
/// see [`Bpe::byte_pairs`].
const MIN_RANK_WITH_PAIRS: u32 = 8 << 10;
/// Otherwise, they are looked up after a worker has merged this many words.
const MIN_WORDS_WITH_PAIRS: usize = 1 << 10;

/// The model of a tokenizer. Immutable; a worker's state is in [`MergeScratch`] and [`WordCache`].
#[derive(Debug)]
pub(crate) struct Bpe {
    pub(crate) alphabet: Alphabet,
    /// Shared with tokenizers that were derived from this one.
    pub(crate) merges: Arc<Merges>,
    /// Whether every byte is a token.
    bytes_are_tokens: bool,
    /// The merges of single bytes; see [`Self::byte_pairs`].
    byte_pairs: OnceLock<BytePairs>,
    /// Where long words can be split; `None` if that is not known.
    pub(crate) split_points: Option<SplitPoints>,
    /// [`Alphabet::lengths_vary`], which is needed for every word.
    alphabet_varies: bool,
    /// Whether a part of a word has the same symbols as if it were a word of its own; see
    /// [`incremental`].
    pub(crate) is_splittable: bool,
    /// Whether the model reads spaces of the text as another character, whose length in bytes
    /// differs.
    pub(crate) reads_spaces: bool,
    /// With `ignore_merges`: the tokens, which are not merged when they are words.
    pub(crate) tokens: Option<TokenTable>,
    /// See [`Self::find_self_tokens`].
    self_tokens: SelfTokens,
    /// BPE-dropout: the probability with which a merge is skipped. Nothing is cached with it.
    pub(crate) dropout: Option<f32>,
}

impl Bpe {
    pub(crate) fn new(
        alphabet: Alphabet,
        merges: Arc<Merges>,
        tokens: Option<TokenTable>,
        dropout: Option<f32>,
    ) -> Self {
        let alphabet_varies = alphabet.lengths_vary();
        let is_splittable = incremental::is_splittable(&alphabet);
        let bpe = Self {
            bytes_are_tokens: alphabet.byte_ids().is_some(),
            alphabet,
            merges,
            byte_pairs: OnceLock::new(),
            split_points: None,
            alphabet_varies,
            is_splittable,
            reads_spaces: false,
            tokens,
            self_tokens: SelfTokens::default(),
            dropout,
        };
        if bpe.merges.highest_rank() >= MIN_RANK_WITH_PAIRS {
            bpe.find_byte_pairs();
        }
        bpe
    }

    /// The merges of single bytes, if every byte is a token. A small tokenizer has them only after
    /// a worker has merged many words: they take more memory than all its other tables.
    #[inline]
    fn byte_pairs(&self, scratch: &mut MergeScratch) -> Option<&BytePairs> {
        let pairs = self.byte_pairs.get();
        if pairs.is_some() || !self.bytes_are_tokens || scratch.words < MIN_WORDS_WITH_PAIRS {
            scratch.words += 1;
            return pairs;
        }
        self.find_byte_pairs()
    }

    #[cold]
    fn find_byte_pairs(&self) -> Option<&BytePairs> {
        let ids = self.alphabet.byte_ids()?;
        Some(self.byte_pairs.get_or_init(|| BytePairs::new(ids, &self.merges)))
    }

    /// Determines for which of `tokens` [`Self::is_self_token`] holds. Their ids are below `ids`,
    /// and all have the length of a short word. Does nothing with `ignore_merges`, which makes
    /// every token a self token, or if symbols are characters.
    pub(crate) fn find_self_tokens(&mut self, tokens: impl Iterator<Item = u32>, ids: usize) {
        if self.bytes_are_tokens && self.tokens.is_none() && self.dropout.is_none() {
            self.self_tokens = SelfTokens::among(&self.merges, &self.alphabet, tokens, ids);
        }
    }

    /// Whether [`Self::is_self_token`] holds for any token.
    pub(crate) fn has_self_tokens(&self) -> bool {
        self.dropout.is_none() && !self.lengths_vary() && (self.tokens.is_some() || !self.self_tokens.is_empty())
    }

    /// Whether a word that consists of a token's bytes is known to become that one token.
    pub(crate) fn is_self_token(&self, token: u32) -> bool {
        self.dropout.is_none() && !self.lengths_vary() && (self.tokens.is_some() || self.self_tokens.has(token))
    }

    /// Appends the tokens of a word to `out`. `key` is the word's key.
    pub(crate) fn tokenize(
        &self,
        word: &[u8],
        key: Key,
        scratch: &mut MergeScratch,
        out: &mut Vec<Symbol>,
    ) -> Result<(), EncodeError> {
        debug_assert_eq!(key, word_key::of_word(word));
        if word.is_empty() {
            return Ok(());
        }
        if self.dropout.is_none()
            && let Some(id) = self.tokens.as_ref().and_then(|tokens| tokens.id_with_key(word, key))
        {
            out.push(Symbol { id, len: word.len() as u32 });
            return Ok(());
        }
        if self.merge_short(word, key, self.byte_pairs(scratch), out) {
            return Ok(());
        }
        if word.len() > scratch.sizes.min_len && self.is_splittable && self.dropout.is_none() {
            return incremental::merge(self, word, scratch, out);
        }
        self.merge(word, scratch)?;
        append(out, &scratch.symbols);
        Ok(())
    }

    /// Whether [`incremental::merge_in_parts`] can merge a word.
    pub(crate) fn merges_in_parts(&self, word: &[u8]) -> bool {
        self.is_splittable && self.dropout.is_none() && self.tokens.as_ref().is_none_or(|all| all.id(word).is_none())
    }

    /// Appends the tokens of a short word of bytes. Returns false, and does nothing, for other
    /// words.
    #[inline(always)]
    fn merge_short(&self, word: &[u8], key: Key, pairs: Option<&BytePairs>, out: &mut Vec<Symbol>) -> bool {
        if let Some(table) = pairs
            && short_word::is_short(&self.merges, word.len())
            && self.dropout.is_none()
        {
            short_word::merge_bytes(&self.merges, word, key, table, out);
            return true;
        }
        false
    }

    /// Whether [`Self::tokenize_in_lanes`] does anything.
    pub(crate) fn merges_in_lanes(&self) -> bool {
        self.lane_tables().is_some() && !self.lengths_vary()
    }

    /// The tables for merging in lanes, if the model allows that.
    fn lane_tables(&self) -> Option<(&PackedMerges, ByteTables<'_>)> {
        if self.dropout.is_some() || !short_word::ranks_fit(&self.merges) {
            return None;
        }
        Some((self.merges.packed()?, self.byte_pairs.get()?.tables()))
    }

    /// Merges words of up to [`lane_merger::MAX_LANE_LEN`] bytes, sixteen at a time, and calls
    /// `each` with every merged word and its tokens. Skips the last words if they are too few for a
    /// group, and all words unless [`Self::merges_in_lanes`].
    pub(crate) fn tokenize_in_lanes<W: AsRef<[u8]>>(
        &self,
        words: impl Iterator<Item = W>,
        merger: &mut LaneMerger,
        mut each: impl FnMut(W, &[Symbol]),
    ) {
        let Some(tables) = self.lane_tables() else { return };
        let mut group = [const { None }; LANES];
        merger.clear();
        for word in words {
            let bytes = word.as_ref();
            if let Some(id) = self.tokens.as_ref().and_then(|tokens| tokens.id(bytes)) {
                let len = bytes.len() as u32;
                each(word, &[Symbol { id, len }]);
                continue;
            }
            let lane = merger.push(bytes);
            group[lane] = Some(word);
            if lane + 1 == LANES {
                merge_group(merger, tables, &mut group, &mut each);
            }
        }
        if merger.words() >= lane_merger::MIN_WORDS {
            merge_group(merger, tables, &mut group, &mut each);
        }
    }

    /// With `ignore_merges`, prefetches the bucket of a short word in the table of tokens.
    #[inline]
    pub(crate) fn prefetch_token(&self, key: Key) {
        if let Some(tokens) = &self.tokens {
            tokens.prefetch(key);
        }
    }

    /// Merges all of a word and leaves its tokens in `scratch.symbols`.
    fn merge(&self, word: &[u8], scratch: &mut MergeScratch) -> Result<(), EncodeError> {
        self.merge_part(word, Edges::WORD, scratch)
    }

    /// [`Self::merge`] for a part of a word.
    fn merge_part(&self, word: &[u8], edges: Edges, scratch: &mut MergeScratch) -> Result<(), EncodeError> {
        let pairs = self.byte_pairs(scratch);
        scratch.symbols.clear();
        if self.merge_short(word, word_key::of_word(word), pairs, &mut scratch.symbols) {
            return Ok(());
        }
        self.alphabet.symbols_of_part(word, edges, &mut scratch.symbols)?;
        match pairs {
            Some(table) => table.find_pairs(word, &mut scratch.pairs),
            None => scratch.find_pairs(&self.merges),
        }
        match self.dropout {
            None => merge::merge(&self.merges, scratch),
            Some(probability) => merge::merge_with_dropout(&self.merges, scratch, probability),
        }
        Ok(())
    }

    /// Whether a symbol can cover another number of bytes than its token has, or a byte of a word
    /// can be in no symbol. Then the offsets of tokens cannot be computed from the ids alone.
    pub(crate) fn lengths_vary(&self) -> bool {
        self.alphabet_varies || self.reads_spaces
    }

    /// Heap memory, in bytes. Merges that another tokenizer shares are not included.
    pub(crate) fn memory_bytes(&self) -> usize {
        let merges = if Arc::strong_count(&self.merges) == 1 { self.merges.memory_bytes() } else { 0 };
        merges
            + self.alphabet.memory_bytes()
            + self.byte_pairs.get().map_or(0, BytePairs::memory_bytes)
            + self.tokens.as_ref().map_or(0, TokenTable::memory_bytes)
            + self.self_tokens.memory_bytes()
            + self.split_points.as_ref().map_or(0, SplitPoints::memory_bytes)
    }
}

/// Merges the words of a group and calls `each` with every word and its tokens. Empties the group.
fn merge_group<W>(
    merger: &mut LaneMerger,
    (merges, bytes): (&PackedMerges, ByteTables<'_>),
    group: &mut [Option<W>; LANES],
    each: &mut impl FnMut(W, &[Symbol]),
) {
    merger.merge(merges, bytes);
    let mut tokens = [Symbol { id: 0, len: 0 }; lane_merger::MAX_LANE_LEN];
    for (lane, word) in group.iter_mut().enumerate() {
        if let Some(word) = word.take() {
            let mut count = 0;
            for (token, (id, len)) in tokens.iter_mut().zip(merger.tokens(lane)) {
                *token = Symbol { id, len };
                count += 1;
            }
            each(word, &tokens[..count]);
        }
    }
    merger.clear();
}

/// The ids of all bytes and the merges of all pairs of bytes, indexed by the bytes themselves. The
/// merging of every word starts with these lookups.
#[derive(Debug)]
pub(crate) struct BytePairs {
    ids: Box<[u32; 256]>,
    /// See [`ByteTables::pairs`].
    pairs: Box<[[u32; 2]; 1 << 16]>,
}

impl BytePairs {
    /// `ids` are those of all bytes.
    fn new(ids: Box<[u32; 256]>, merges: &Merges) -> Self {
        let mut pairs = vec![];
        pairs.grow(1 << 16);
        for &right in &*ids {
            pairs.extend(ids.iter().map(|&left| merges.get(left, right)).map(|pair| [pair.rank, pair.id]));
        }
        Self { pairs: pairs.into_boxed_slice().try_into().expect("256 by 256 pairs"), ids }
    }

    /// The tables, as vector kernels take them.
    fn tables(&self) -> ByteTables<'_> {
        ByteTables { ids: &self.ids, pairs: &self.pairs }
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.ids) + size_of_val(&*self.pairs)
    }

    /// Replaces `pairs` by the merges of a word's adjacent bytes.
    fn find_pairs(&self, word: &[u8], pairs: &mut Vec<merges::Merge>) {
        pairs.clear();
        pairs.grow(word.len());
        pairs.extend(word.windows(2).map(|pair| {
            let [rank, id] = self.pairs[usize::from(u16::from_le_bytes([pair[0], pair[1]]))];
            merges::Merge { rank, id }
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::merges::Merge;
    use super::*;
    use crate::simd::Simd;
    use crate::simd::priority::MergePriority;
    use proptest::prelude::*;

    /// Sixty merges of tokens that start with the letters a to d; `seed` selects the pairs.
    pub(super) fn byte_merges(seed: u32) -> Vec<(u32, u32, Merge)> {
        let mut state = seed;
        let mut next = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        // The letters a to d and the tokens of the merges so far.
        let mut known: Vec<u32> = (97..101).collect();
        let mut merges: Vec<(u32, u32, Merge)> = vec![];
        for rank in 0..60 {
            let (left, right) = (known[next(known.len() as u32) as usize], known[next(known.len() as u32) as usize]);
            if !merges.iter().any(|merge| (merge.0, merge.1) == (left, right)) {
                merges.push((left, right, Merge { rank, id: 256 + rank }));
                known.push(256 + rank);
            }
        }
        merges
    }

    /// Every byte is a token.
    pub(super) fn byte_alphabet(id: impl Fn(u32) -> u32) -> Alphabet {
        Alphabet::Bytes { ids: Box::new(std::array::from_fn(|byte| Some(id(byte as u32)))), missing_is_error: true }
    }

    proptest! {
        #[test]
        fn words_of_bytes_of_any_length_equal_the_naive_merge(seed in any::<u32>(), word in "[abcd]{0,70}") {
            let merges = byte_merges(seed);
            let bpe = Bpe::new(byte_alphabet(|byte| byte), Arc::new(Merges::new(&merges)), None, None);
            let letters: Vec<_> = word.bytes().map(|byte| Symbol { id: byte.into(), len: 1 }).collect();
            let expected = naive::merge(&merges, &letters);
            // A worker's first words, and those after the merges of single bytes are known.
            for words in [0, MIN_WORDS_WITH_PAIRS] {
                let (mut scratch, mut symbols) = (MergeScratch::default(), vec![]);
                scratch.words = words;
                bpe.tokenize(word.as_bytes(), word_key::of_word(word.as_bytes()), &mut scratch, &mut symbols).expect("every byte has a token");
                prop_assert_eq!(&symbols, &expected);
            }
            prop_assert_eq!(bpe.byte_pairs.get().is_some(), !word.is_empty());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 256 }))]

        #[test]
        fn words_merged_in_lanes_equal_the_naive_merge(
            seed in any::<u32>(),
            words in prop::collection::vec("[abcd]{1,30}|[a-e]{1,4}|[aé]{1,7}", 0..70),
            large_ids in any::<bool>(),
        ) {
            let merges = byte_merges(seed);
            // Some bytes have larger ids than all pairs, and equal to one of those in the low bits.
            let id = |byte: u32| if large_ids && byte >= 100 { byte | 1 << 20 } else { byte };
            let alphabet = byte_alphabet(id);
            let letters = |word: &str| -> Vec<Symbol> {
                word.bytes().map(|byte| Symbol { id: id(byte.into()), len: 1 }).collect()
            };
            let bpe = Bpe::new(alphabet, Arc::new(Merges::new(&merges)), None, None);
            bpe.find_byte_pairs();
            let left_over = if words.len() % LANES < lane_merger::MIN_WORDS { words.len() % LANES } else { 0 };
            let merged = words.len() - left_over;
            let expected: Vec<_> = words.iter().take(merged).map(|word| (word.clone(), naive::merge(&merges, &letters(word)))).collect();
            for simd in Simd::all() {
                let (mut merger, mut found) = (LaneMerger::new(simd).expect("not in WebAssembly"), vec![]);
                let each = |word: &String, tokens: &[Symbol]| found.push((word.clone(), tokens.to_vec()));
                bpe.tokenize_in_lanes(words.iter(), &mut merger, each);
                prop_assert_eq!(&found, &expected, "{:?}", simd);
            }
        }
    }

    #[test]
    fn words_that_are_tokens_are_not_merged() {
        let whole = TokenTable::new([(&b"abab"[..], 1000), (b"c", 99)].into_iter());
        let bpe = Bpe::new(byte_alphabet(|byte| byte), Arc::new(Merges::new(&byte_merges(1))), Some(whole), None);
        let words: Vec<Vec<u8>> =
            (0..100u8).map(|at| if at % 3 == 0 { b"abab".to_vec() } else { vec![b'a' + at % 4; 3] }).collect();
        bpe.find_byte_pairs();
        let mut found = 0;
        let mut merger = LaneMerger::new(Simd::best()).expect("not in WebAssembly");
        bpe.tokenize_in_lanes(words.iter(), &mut merger, |word, tokens| {
            let mut alone = vec![];
            bpe.tokenize(word, word_key::of_word(word), &mut MergeScratch::default(), &mut alone)
                .expect("bytes are tokens");
            assert_eq!(tokens, alone);
            found += 1;
        });
        assert!(found > 90, "{found}");
    }

    #[test]
    fn words_are_left_out_where_the_model_does_not_allow_lanes() {
        let words = [b"abc"; LANES];
        let merger = LaneMerger::new(Simd::best()).expect("not in WebAssembly");
        let left_out = |bpe: Bpe| {
            bpe.find_byte_pairs();
            assert!(!bpe.merges_in_lanes());
            bpe.tokenize_in_lanes(words.iter(), &mut merger.clone(), |_, _| panic!("it was merged"));
        };
        let merges = || Arc::new(Merges::new(&byte_merges(1)));
        left_out(Bpe::new(byte_alphabet(|byte| byte), merges(), None, Some(0.5)));
        let high = Merge { rank: MergePriority::RANK_LIMIT, id: 300 };
        left_out(Bpe::new(byte_alphabet(|byte| byte), Arc::new(Merges::new(&[(97, 98, high)])), None, None));
        let wide = Merge { rank: 1, id: u32::MAX - 1 };
        left_out(Bpe::new(byte_alphabet(|byte| byte), Arc::new(Merges::new(&[(97, 98, wide)])), None, None));
        let bpe = Bpe::new(byte_alphabet(|byte| byte), merges(), None, None);
        assert!(!bpe.merges_in_lanes(), "too few words were merged");
        bpe.find_byte_pairs();
        assert!(bpe.merges_in_lanes());
    }
}
