//! The merge loop: of all adjacent pairs the one with the lowest rank is joined, the leftmost of equals first, until
//! none is left. Two ways to the same result: short words by looking at every pair each time, which costs least when
//! there are few; long words by an order of pairs that is kept up to date ([`super::long`]), n log n whatever the text.

use super::long::{self, LongScratch};
use super::{Merges, Symbol};
use crate::simd;

/// Up to this many symbols the scan of all pairs is the faster way.
pub(crate) const SHORT: usize = 48;

/// What the loops need beside the tables; one per worker, reused from word to word.
#[derive(Debug, Default)]
pub(crate) struct MergeScratch {
    /// The symbols of the word: before the loop its letters, after it its tokens.
    pub(crate) symbols: Vec<Symbol>,
    /// For each symbol but the last, what it becomes with its right neighbour.
    pub(crate) pairs: Vec<super::merges::Merge>,
    long: LongScratch,
}

impl MergeScratch {
    pub(crate) fn with_seed(seed: u64) -> Self {
        Self { long: LongScratch::with_seed(seed), ..Self::default() }
    }

    /// Looks up what each symbol becomes with its right neighbour.
    pub(crate) fn look_up_pairs(&mut self, merges: &Merges) {
        self.pairs.clear();
        self.pairs.extend(self.symbols.windows(2).map(|pair| merges.get(pair[0].id, pair[1].id)));
    }

    /// Gives back what an unusually long word made it take.
    pub(crate) fn trim(&mut self) {
        const KEEP: usize = 1 << 16;
        if self.symbols.capacity() > KEEP {
            *self = Self::with_seed(self.long.seed());
        }
    }
}

/// Merges `scratch.symbols`, whose pairs were looked up, until no pair joins.
pub(crate) fn merge(merges: &Merges, scratch: &mut MergeScratch) {
    if scratch.symbols.len() <= SHORT {
        simd::vectorize(
            #[inline(always)]
            || merge_by_scan(merges, scratch),
        );
    } else {
        long::by_runs(merges, &mut scratch.symbols, &mut scratch.pairs, &mut scratch.long);
    }
}

/// As [`merge`], but each time a pair's turn has come it is passed over with the given probability, and may be taken
/// after the next join. The distribution follows Hugging Face tokenizers; the sequence of random numbers is our own.
pub(crate) fn merge_with_dropout(merges: &Merges, scratch: &mut MergeScratch, probability: f32) {
    long::by_heap(merges, &mut scratch.symbols, &mut scratch.pairs, &mut scratch.long, Some(probability));
}

/// The symbols stay in their places; a bit for each tells whether it is still there, so that finding a neighbour is
/// counting zeros, and a join moves nothing.
#[inline(always)]
fn merge_by_scan(merges: &Merges, scratch: &mut MergeScratch) {
    let MergeScratch { symbols, pairs, .. } = scratch;
    debug_assert!(symbols.len() <= SHORT);
    let mut word = ShortWord::default();
    for (at, symbol) in symbols.iter().enumerate() {
        word.ids[at] = symbol.id;
    }
    for (at, pair) in pairs.iter().enumerate() {
        word.set(at, *pair);
    }
    let there = word.merge(merges, symbols.len());
    // Each symbol that is left has the length of all that were joined to it.
    let mut made = 0;
    for at in 0..symbols.len() {
        if there >> at & 1 == 1 {
            symbols[made] = Symbol { id: word.ids[at], len: symbols[at].len };
            made += 1;
        } else {
            symbols[made - 1].len += symbols[at].len;
        }
    }
    symbols.truncate(made);
}

/// Appends the tokens of a short word of bytes: as [`merge`], but from the bytes at once. `ids` has the token of each
/// byte, `pairs` what each two of them become.
pub(crate) fn merge_bytes(
    merges: &Merges,
    bytes: &[u8],
    ids: &[u32; 256],
    pairs: &super::BytePairs,
    out: &mut Vec<Symbol>,
) {
    simd::vectorize(
        #[inline(always)]
        || {
            let mut word = ShortWord::default();
            for (at, &byte) in bytes.iter().take(SHORT).enumerate() {
                word.ids[at] = ids[usize::from(byte)];
            }
            for (at, pair) in bytes.windows(2).take(SHORT).enumerate() {
                word.set(at, pairs.get(pair[0], pair[1]));
            }
            let mut there = word.merge(merges, bytes.len());
            while there != 0 {
                let at = there.trailing_zeros() as usize;
                there &= there - 1;
                let next = if there == 0 { bytes.len() } else { there.trailing_zeros() as usize };
                out.push(Symbol { id: word.ids[at], len: (next - at) as u32 });
            }
        },
    );
}

/// Up to [`SHORT`] symbols in fixed places.
struct ShortWord {
    ids: [u32; SHORT],
    /// Of each symbol with its right neighbour.
    ranks: [u32; SHORT],
    into: [u32; SHORT],
}

impl Default for ShortWord {
    #[inline(always)]
    fn default() -> Self {
        Self { ids: [0; SHORT], ranks: [Merges::NO_RANK; SHORT], into: [0; SHORT] }
    }
}

impl ShortWord {
    #[inline(always)]
    fn set(&mut self, at: usize, pair: super::merges::Merge) {
        (self.ranks[at], self.into[at]) = (pair.rank, pair.id);
    }

    /// Joins until no pair can be; returns a bit for each symbol that is left.
    #[inline(always)]
    fn merge(&mut self, merges: &Merges, count: usize) -> u64 {
        let mut there: u64 = (1 << count) - 1;
        loop {
            // In whole vectors of eight; behind the last symbol no rank is set.
            let (vectors, _) = self.ranks[..count.next_multiple_of(8)].as_chunks::<8>();
            let least = |low: [u32; 8], all: &[u32; 8]| std::array::from_fn(|lane| low[lane].min(all[lane]));
            let lowest = vectors.iter().fold([Merges::NO_RANK; 8], least).into_iter().fold(Merges::NO_RANK, u32::min);
            if lowest == Merges::NO_RANK {
                return there;
            }
            let at = self.ranks.iter().position(|&rank| rank == lowest).expect("the lowest is one of them");
            let right = first_after(there, at);
            there &= !(1 << right);
            self.ranks[right] = Merges::NO_RANK;
            self.ids[at] = self.into[at];
            let after = first_after(there, at);
            let pair = if after < count { merges.get(self.ids[at], self.ids[after]) } else { NOTHING };
            self.set(at, pair);
            let before = there & ((1 << at) - 1);
            if before != 0 {
                let before = before.ilog2() as usize;
                self.set(before, merges.get(self.ids[before], self.ids[at]));
            }
        }
    }
}

/// The first place behind `at` whose bit is set; 64 if there is none.
#[inline]
fn first_after(there: u64, at: usize) -> usize {
    (there & (!1 << at)).trailing_zeros() as usize
}

const NOTHING: super::merges::Merge = super::merges::Merge { rank: Merges::NO_RANK, id: 0 };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpe::merges::Merge;
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
                scratch.look_up_pairs(&table);
            };
            if letters.len() <= SHORT {
                start(&mut scratch);
                merge_by_scan(&table, &mut scratch);
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
