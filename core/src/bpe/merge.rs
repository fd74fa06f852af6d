//! The merge loop: of all adjacent pairs the one with the lowest rank is joined, the leftmost of equals first, until
//! none is left. Two ways to the same result: short words by looking at every pair each time, which costs least when
//! there are few; long words by an order of pairs that is kept up to date ([`super::long`]), n log n whatever the text.

use super::incremental::PreviousWord;
use super::long::{self, LongScratch};
use super::merges::Merge;
use super::short_word;
use super::{Merges, Symbol};
use crate::memory::Grow;

/// What the loops need beside the tables; one per worker, reused from word to word.
#[derive(Debug, Default)]
pub(crate) struct MergeScratch {
    /// The symbols of the word: before the loop its letters, after it its tokens.
    pub(crate) symbols: Vec<Symbol>,
    /// For each symbol but the last, what it becomes with its right neighbour.
    pub(crate) pairs: Vec<Merge>,
    /// The last word that was long.
    pub(super) previous: PreviousWord,
    long: LongScratch,
}

impl MergeScratch {
    pub(crate) fn with_seed(seed: u64) -> Self {
        Self { long: LongScratch::with_seed(seed), ..Self::default() }
    }

    /// Looks up what each symbol becomes with its right neighbour.
    pub(crate) fn find_pairs(&mut self, merges: &Merges) {
        self.pairs.clear();
        self.pairs.grow(self.symbols.len());
        self.pairs.extend(self.symbols.windows(2).map(|pair| merges.get(pair[0].id, pair[1].id)));
    }

    /// Gives back what an unusually long word made it take.
    pub(crate) fn trim(&mut self) {
        const KEEP: usize = 1 << 16;
        if self.symbols.capacity().max(self.previous.symbols()) > KEEP {
            *self = Self::with_seed(self.long.seed());
        }
    }
}

/// Merges `scratch.symbols`, whose pairs were looked up, until no pair joins.
pub(crate) fn merge(merges: &Merges, scratch: &mut MergeScratch) {
    if short_word::is_short(merges, scratch.symbols.len()) {
        short_word::merge(merges, &mut scratch.symbols, &scratch.pairs);
    } else {
        long::by_runs(merges, &mut scratch.symbols, &mut scratch.pairs, &mut scratch.long);
    }
}

/// As [`merge`], but each time a pair's turn has come it is passed over with the given probability, and may be taken
/// after the next join. The distribution follows Hugging Face tokenizers; the sequence of random numbers is our own.
pub(crate) fn merge_with_dropout(merges: &Merges, scratch: &mut MergeScratch, probability: f32) {
    long::by_heap(merges, &mut scratch.symbols, &mut scratch.pairs, &mut scratch.long, Some(probability));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpe::naive;
    use proptest::prelude::*;

    /// Random merges over few letters: every pair of tokens made so far may join.
    fn random_merges() -> impl Strategy<Value = Vec<(u32, u32, Merge)>> {
        prop::collection::vec((0u32..40, 0u32..40), 0..60).prop_map(|pairs| {
            let mut made = 4; // ids 0 to 3 are letters
            let mut merges: Vec<(u32, u32, Merge)> = vec![];
            for (left, right) in pairs {
                let (left, right) = (left % made, right % made);
                if merges.iter().any(|m| (m.0, m.1) == (left, right)) {
                    continue;
                }
                merges.push((left, right, Merge { rank: merges.len() as u32, id: made }));
                made += 1;
            }
            // Ranks in an order of their own: a later token may have the earlier merge.
            let count = merges.len() as u32;
            for (place, merge) in merges.iter_mut().enumerate() {
                merge.2.rank = (place as u32).wrapping_mul(7) % count.max(1) * count + place as u32;
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
            long::by_heap(&table, &mut scratch.symbols, &mut scratch.pairs, &mut scratch.long, None);
            prop_assert_eq!(&scratch.symbols, &expected);
            start(&mut scratch);
            long::by_runs(&table, &mut scratch.symbols, &mut scratch.pairs, &mut scratch.long);
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
