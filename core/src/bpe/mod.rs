//! The model: a word, as the pre-tokenizer cut it, becomes token ids.
//!
//! A word is first written as symbols, one for each byte (byte-level models) or character (all others). Then the
//! adjacent pair whose merge has the lowest rank is joined, the leftmost first, until no pair can be. The way of one word:
//!
//! - [`word_cache`]: seen before? Then its ids are known.
//! - [`token_table`]: with `ignore_merges`, is the word itself a token? Then that is all.
//! - [`self_tokens`]: which tokens are the tokens of their own bytes also where words are merged; the cache knows them from the start.
//! - [`split_points`]: where a long word can be cut without changing its tokens.
//! - [`alphabet`]: the word's symbols.
//! - [`merges`]: what a pair of tokens becomes, and how early.
//! - [`merge`]: the loop; one for short words, one that is for long ones ([`long`]) that is never quadratic.
//! - [`incremental`]: a long word goes by blocks, and one that begins like the one before goes on from there.
//! - [`lane_merger`]: sixteen words merged at a time.
//! - [`naive`]: the same by definition, slow and obvious; tests and fuzz targets hold the others against it.

pub(crate) mod alphabet;
mod incremental;
#[cfg(target_arch = "x86_64")]
pub(crate) mod lane_merger;
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

use std::sync::Arc;

use crate::error::EncodeError;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx512, Simd};
pub(crate) use alphabet::Alphabet;
#[cfg(target_arch = "x86_64")]
pub(crate) use lane_merger::LaneMerger;
pub(crate) use merge::MergeScratch;
pub(crate) use merges::Merges;
#[cfg(target_arch = "x86_64")]
use merges::PackedMerges;
use self_tokens::SelfTokens;
#[cfg(target_arch = "x86_64")]
use short_word::MergePriority;
pub(crate) use split_points::{Spaces, SplitPoints};
pub(crate) use token_table::TokenTable;
pub(crate) use word_cache::WordCache;
use word_cache::key::{self, Key};

/// A token of a word: its id and how many bytes of the word it stands for.
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
    /// The `len` of a token that covers the same bytes as the previous one, as the byte tokens of
    /// Unigram do.
    pub const SAME: u32 = u32::MAX;
}

/// The model of one tokenizer. Immutable; what changes is in [`MergeScratch`] and [`WordCache`], one of each per worker.
#[derive(Debug)]
pub(crate) struct Bpe {
    pub(crate) alphabet: Alphabet,
    /// Shared with tokenizers that were made from this one by changing something else.
    pub(crate) merges: Arc<Merges>,
    /// The first pairs of a byte-level word; absent where some byte has no token.
    byte_pairs: Option<BytePairs>,
    /// Where long words can be cut; absent where that is not known.
    pub(crate) split_points: Option<SplitPoints>,
    /// Of the alphabet: asked for every word, and found out once.
    alphabet_varies: bool,
    /// Whether the symbols of a part of a word do not depend on the rest of it; see [`incremental`].
    pub(crate) is_splittable: bool,
    /// Whether a space in a text stands for another character, which has another length.
    pub(crate) reads_spaces: bool,
    /// Set when a word that is itself a token is not merged at all.
    pub(crate) tokens: Option<TokenTable>,
    /// See [`Self::find_self_tokens`].
    self_tokens: SelfTokens,
    /// The probability with which a merge is passed over, as in BPE-dropout; with it nothing is cached.
    pub(crate) dropout: Option<f32>,
}

impl Bpe {
    pub(crate) fn new(
        alphabet: Alphabet,
        merges: Arc<Merges>,
        whole_words: Option<TokenTable>,
        dropout: Option<f32>,
    ) -> Self {
        let byte_pairs = BytePairs::new(&alphabet, &merges);
        let alphabet_varies = alphabet.lengths_vary();
        let parts_stay = incremental::is_splittable(&alphabet);
        Self {
            alphabet,
            merges,
            byte_pairs,
            split_points: None,
            alphabet_varies,
            is_splittable: parts_stay,
            reads_spaces: false,
            tokens: whole_words,
            self_tokens: SelfTokens::default(),
            dropout,
        }
    }

    /// Finds out which of `tokens`, all of them of a short word's length and with ids below `ids`, [`Self::is_self_token`].
    /// Where words are not merged these are all, and where it cannot be told from merges none.
    pub(crate) fn find_self_tokens(&mut self, tokens: impl Iterator<Item = u32>, ids: usize) {
        if self.byte_pairs.is_some() && self.tokens.is_none() && self.dropout.is_none() {
            self.self_tokens = SelfTokens::among(&self.merges, &self.alphabet, tokens, ids);
        }
    }

    /// Whether [`Self::is_self_token`] holds of any token.
    pub(crate) fn has_self_tokens(&self) -> bool {
        self.dropout.is_none() && !self.lengths_vary() && (self.tokens.is_some() || !self.self_tokens.is_empty())
    }

    /// Whether a word of a token's bytes is known to become that one token, of that length.
    pub(crate) fn is_self_token(&self, token: u32) -> bool {
        self.dropout.is_none() && !self.lengths_vary() && (self.tokens.is_some() || self.self_tokens.has(token))
    }

    /// The tokens of one word, whose key is known, appended to `out`.
    pub(crate) fn tokenize(
        &self,
        word: &[u8],
        key: Key,
        scratch: &mut MergeScratch,
        out: &mut Vec<Symbol>,
    ) -> Result<(), EncodeError> {
        debug_assert_eq!(key, key::of_word(word));
        if word.is_empty() {
            return Ok(());
        }
        if self.dropout.is_none()
            && let Some(id) = self.tokens.as_ref().and_then(|words| words.id_with_key(word, key))
        {
            out.push(Symbol { id, len: word.len() as u32 });
            return Ok(());
        }
        if self.merge_short(word, key, out) {
            return Ok(());
        }
        if word.len() > scratch.previous.sizes.least && self.is_splittable && self.dropout.is_none() {
            return incremental::merge(self, word, scratch, out);
        }
        self.merge(word, scratch)?;
        out.extend_from_slice(&scratch.symbols);
        Ok(())
    }

    /// Appends the tokens of a short word of bytes; false, and nothing, of any other.
    #[inline(always)]
    fn merge_short(&self, word: &[u8], key: Key, out: &mut Vec<Symbol>) -> bool {
        if let Some(table) = &self.byte_pairs
            && short_word::is_short(&self.merges, word.len())
            && self.dropout.is_none()
        {
            short_word::merge_bytes(&self.merges, word, key, table, out);
            return true;
        }
        false
    }

    /// Whether [`Self::tokenize_in_lanes`] does anything.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn merges_in_lanes(&self, simd: Simd) -> bool {
        self.lane_tables(simd).is_some() && !self.lengths_vary()
    }

    /// What merging side by side needs, where it can be done.
    #[cfg(target_arch = "x86_64")]
    fn lane_tables(&self, simd: Simd) -> Option<(Avx512, &BytePairs, &PackedMerges)> {
        let can = self.dropout.is_none() && MergePriority::fits(&self.merges);
        Some((simd.avx512().filter(|_| can)?, self.byte_pairs.as_ref()?, self.merges.packed()?))
    }

    /// The tokens of words of [`lane_merger::MAX_LEN`] bytes at most: `each` is called with those of one after the other, in any order. Words that
    /// are too few to merge side by side are left out, and all of them where that is not possible.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn tokenize_in_lanes<W: AsRef<[u8]>>(
        &self,
        simd: Simd,
        words: impl Iterator<Item = W>,
        state: &mut LaneMerger,
        mut each: impl FnMut(W, &[Symbol]),
    ) {
        let Some((avx512, pairs, table)) = self.lane_tables(simd) else { return };
        let mut waiting = [const { None }; lane_merger::LANES];
        state.clear();
        for word in words {
            let bytes = word.as_ref();
            if let Some(id) = self.tokens.as_ref().and_then(|words| words.id(bytes)) {
                let len = bytes.len() as u32;
                each(word, &[Symbol { id, len }]);
                continue;
            }
            let lane = state.push(bytes);
            waiting[lane] = Some(word);
            if lane + 1 == lane_merger::LANES {
                state.merge(avx512, (table, pairs), &mut waiting, &mut each);
            }
        }
        if state.words() >= lane_merger::MIN_WORDS {
            state.merge(avx512, (table, pairs), &mut waiting, &mut each);
        }
    }

    /// Asks ahead for what tells whether a short word is a token as it stands.
    #[inline]
    pub(crate) fn prefetch_token(&self, key: Key) {
        if let Some(words) = &self.tokens {
            words.prefetch(key);
        }
    }

    /// Leaves the tokens of a word, all of it merged, in `scratch.symbols`.
    fn merge(&self, word: &[u8], scratch: &mut MergeScratch) -> Result<(), EncodeError> {
        scratch.symbols.clear();
        if self.merge_short(word, key::of_word(word), &mut scratch.symbols) {
            return Ok(());
        }
        self.alphabet.symbols(word, &mut scratch.symbols)?;
        match &self.byte_pairs {
            Some(table) => table.find_pairs(word, &mut scratch.pairs),
            None => scratch.find_pairs(&self.merges),
        }
        match self.dropout {
            None => merge::merge(&self.merges, scratch),
            Some(probability) => merge::merge_with_dropout(&self.merges, scratch, probability),
        }
        Ok(())
    }

    /// Whether a symbol's length can differ from its token's own, or something of a word be in no symbol: then offsets cannot
    /// be told from ids alone.
    pub(crate) fn lengths_vary(&self) -> bool {
        self.alphabet_varies || self.reads_spaces
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let merges = if Arc::strong_count(&self.merges) == 1 { self.merges.memory_bytes() } else { 0 };
        merges
            + self.alphabet.memory_bytes()
            + self.byte_pairs.as_ref().map_or(0, BytePairs::memory_bytes)
            + self.tokens.as_ref().map_or(0, TokenTable::memory_bytes)
            + self.self_tokens.memory_bytes()
            + self.split_points.as_ref().map_or(0, SplitPoints::memory_bytes)
    }
}

/// What each two bytes become: a table by the bytes themselves, because every word begins with these questions.
#[derive(Debug)]
pub(crate) struct BytePairs {
    ids: Box<[u32; 256]>,
    /// Rank and id of what two bytes become, by the number of which the left one is the lower part.
    pairs: Box<[[u32; 2]; 1 << 16]>,
}

impl BytePairs {
    fn new(alphabet: &Alphabet, merges: &Merges) -> Option<Self> {
        let Alphabet::Bytes { ids, .. } = alphabet else { return None };
        let ids: Vec<u32> = ids.iter().copied().collect::<Option<_>>()?;
        let mut pairs = Vec::with_capacity(1 << 16);
        for &right in &ids {
            pairs.extend(ids.iter().map(|&left| merges.get(left, right)).map(|pair| [pair.rank, pair.id]));
        }
        Some(Self { pairs: pairs.into_boxed_slice().try_into().ok()?, ids: ids.try_into().ok()? })
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.ids) + size_of_val(&*self.pairs)
    }

    fn find_pairs(&self, word: &[u8], pairs: &mut Vec<merges::Merge>) {
        pairs.clear();
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
    use proptest::prelude::*;

    /// Merges over all bytes; `seed` decides which pairs join.
    pub(super) fn byte_merges(seed: u32) -> Vec<(u32, u32, Merge)> {
        let mut state = seed;
        let mut next = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        // Letters a to d, and whatever they were joined to so far.
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

    /// Every byte is a token, with an id of its own.
    pub(super) fn byte_alphabet(id: impl Fn(u32) -> u32) -> Alphabet {
        Alphabet::Bytes { ids: Box::new(std::array::from_fn(|byte| Some(id(byte as u32)))), missing_is_error: true }
    }

    proptest! {
        #[test]
        fn words_of_bytes_of_any_length_equal_the_naive_merge(seed in any::<u32>(), word in "[abcd]{0,70}") {
            let merges = byte_merges(seed);
            let bpe = Bpe::new(byte_alphabet(|byte| byte), Arc::new(Merges::new(&merges)), None, None);
            prop_assert!(bpe.byte_pairs.is_some());
            let mut symbols = vec![];
            bpe.tokenize(word.as_bytes(), key::of_word(word.as_bytes()), &mut MergeScratch::default(), &mut symbols).expect("every byte has a token");
            let letters: Vec<_> = word.bytes().map(|byte| Symbol { id: byte.into(), len: 1 }).collect();
            prop_assert_eq!(symbols, naive::merge(&merges, &letters));
        }
    }
}
