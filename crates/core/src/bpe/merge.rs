//! The choice between the merge loops, and their state.
//!
//! All loops merge the pair with the lowest rank first, the leftmost of equal ones, until no pair
//! has a merge. [`super::short_word`] looks at all pairs for each merge. [`super::long`] keeps the
//! pairs in order, which takes n log n steps for any word.

use super::long::{self, LongScratch, Observer};
use super::merges::Merge;
use super::short_word;
use super::{Merges, Symbol};
use crate::memory::Grow;

/// The state of the merge loops. One per worker, reused from word to word.
#[derive(Debug, Default)]
pub(crate) struct MergeScratch {
    /// The symbols of the word; after the loop its tokens.
    pub(crate) symbols: Vec<Symbol>,
    /// The merge of each symbol but the last with its right neighbor.
    pub(crate) pairs: Vec<Merge>,
    /// The characters of a word that have symbols.
    pub(super) kept: Vec<u8>,
    /// Tests have smaller ones.
    pub(super) sizes: BlockSizes,
    /// The number of words so far, for [`super::MIN_WORDS_WITH_PAIRS`].
    pub(super) words: usize,
    long: LongScratch,
}

/// The sizes of the steps and blocks of [`super::incremental`], in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockSizes {
    /// Words up to this length are merged as a whole.
    pub(super) min_len: usize,
    /// The number of new bytes in a block.
    pub(super) block: usize,
    /// The number of bytes that the first attempt of a block merges again.
    pub(super) back: usize,
    /// The length of a step, including the bytes merged again. In characters, if symbols are
    /// characters.
    pub(super) step: usize,
    /// The minimum number of bytes that a step merges again.
    pub(super) near: usize,
    /// Tokens are passed on when there are this many bytes of them, except those of the last bytes.
    pub(super) part: usize,
    pub(super) kept: usize,
}

impl Default for BlockSizes {
    /// The minimum length is that of the word cache, which has all shorter words.
    fn default() -> Self {
        let (block, back, step, near) = (4096, 64, short_word::MAX_SYMBOLS, 12);
        Self { min_len: 256, block, back, step, near, part: 128 << 10, kept: 40 << 10 }
    }
}

impl MergeScratch {
    pub(crate) fn with_seed(seed: u64) -> Self {
        Self { long: LongScratch::with_seed(seed), ..Self::default() }
    }

    /// Looks up the merges of all adjacent symbols.
    pub(crate) fn find_pairs(&mut self, merges: &Merges) {
        self.pairs.clear();
        self.pairs.grow(self.symbols.len());
        self.pairs.extend(self.symbols.windows(2).map(|pair| merges.get(pair[0].id, pair[1].id)));
    }

    /// Releases the memory that an unusually long word needed.
    pub(crate) fn trim(&mut self) {
        const MAX_KEPT_SYMBOLS: usize = 1 << 16;
        if self.symbols.capacity().max(self.kept.capacity()) > MAX_KEPT_SYMBOLS {
            *self = Self::with_seed(self.long.seed());
        }
    }
}

/// Merges `scratch.symbols`. `scratch.pairs` has to be up to date.
pub(crate) fn merge(merges: &Merges, scratch: &mut MergeScratch) {
    if short_word::is_short(merges, scratch.symbols.len()) {
        short_word::merge(merges, &mut scratch.symbols, &scratch.pairs);
    } else {
        long::merge(merges, &mut scratch.symbols, &mut scratch.pairs, &mut scratch.long, None, None);
    }
}

/// [`merge`] with BPE-dropout: the pair to be merged next is skipped with the given probability,
/// and may be merged after the next merge. The distribution is that of Hugging Face tokenizers; the
/// sequence of random numbers differs.
pub(crate) fn merge_with_dropout(merges: &Merges, scratch: &mut MergeScratch, probability: f32) {
    long::merge(merges, &mut scratch.symbols, &mut scratch.pairs, &mut scratch.long, Some(probability), None);
}

/// Merges `scratch.symbols` and tells the observer each pair that has a merge, when it first
/// exists: from left to right at the start, then the pairs before and after each merge.
pub(crate) fn merge_and_observe(merges: &Merges, scratch: &mut MergeScratch, observer: Observer<'_>) {
    scratch.find_pairs(merges);
    long::merge(merges, &mut scratch.symbols, &mut scratch.pairs, &mut scratch.long, None, Some(observer));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpe::naive;
    use proptest::prelude::*;

    /// Random merges of few letters and of the tokens of earlier merges.
    fn random_merges() -> impl Strategy<Value = Vec<(u32, u32, Merge)>> {
        prop::collection::vec((0u32..40, 0u32..40), 0..60).prop_map(|pairs| {
            let mut next_id = 4; // ids 0 to 3 are letters
            let mut merges: Vec<(u32, u32, Merge)> = vec![];
            for (left, right) in pairs {
                let (left, right) = (left % next_id, right % next_id);
                if merges.iter().any(|m| (m.0, m.1) == (left, right)) {
                    continue;
                }
                merges.push((left, right, Merge { rank: merges.len() as u32, id: next_id }));
                next_id += 1;
            }
            // Ranks in another order: a token may have a lower rank than its parts.
            let count = merges.len() as u32;
            for (at, merge) in merges.iter_mut().enumerate() {
                merge.2.rank = (at as u32).wrapping_mul(7) % count.max(1) * count + at as u32;
            }
            merges
        })
    }

    proptest! {
        #[test]
        fn all_loops_equal_the_naive_one(merges in random_merges(), word in prop::collection::vec(0u32..4, 0..140)) {
            let table = Merges::new(&merges);
            let letters: Vec<Symbol> = word.iter().map(|&id| Symbol { id, len: 1 }).collect();
            let expected = naive::merge(&merges, &letters);
            let mut scratch = MergeScratch::default();
            let start = |scratch: &mut MergeScratch| {
                scratch.symbols.clone_from(&letters);
                scratch.find_pairs(&table);
            };
            if letters.len() <= short_word::MAX_SYMBOLS {
                start(&mut scratch);
                merge(&table, &mut scratch);
                prop_assert_eq!(&scratch.symbols, &expected);
            }
            start(&mut scratch);
            long::merge(&table, &mut scratch.symbols, &mut scratch.pairs, &mut scratch.long, None, None);
            prop_assert_eq!(&scratch.symbols, &expected);
            start(&mut scratch);
            merge_with_dropout(&table, &mut scratch, 0.0);
            prop_assert_eq!(&scratch.symbols, &expected);
            start(&mut scratch);
            merge_with_dropout(&table, &mut scratch, 1.0);
            prop_assert_eq!(&scratch.symbols, &letters);
        }
    }
}
