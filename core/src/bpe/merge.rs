//! The merge loop: of all adjacent pairs the one with the lowest rank is joined, the leftmost of equals first, until
//! none is left. Two ways to the same result: short words by looking at every pair each time, which costs least when
//! there are few; long words by an order of pairs that is kept up to date ([`super::long`]), n log n whatever the text.

use std::ops::Range;

use super::long::{self, LongScratch};
use super::merges::Merge;
use super::resume::LastWord;
use super::{Merges, Symbol};
use crate::simd;

/// Up to this many symbols the scan of all pairs is the faster way. With the two at the edges they fill [`VECTORS`].
pub(crate) const SHORT: usize = VECTORS * LANES - 2;
/// Numbers that are compared together.
const LANES: usize = 16;
const VECTORS: usize = 3;

/// What the loops need beside the tables; one per worker, reused from word to word.
#[derive(Debug, Default)]
pub(crate) struct MergeScratch {
    /// The symbols of the word: before the loop its letters, after it its tokens.
    pub(crate) symbols: Vec<Symbol>,
    /// For each symbol but the last, what it becomes with its right neighbour.
    pub(crate) pairs: Vec<Merge>,
    /// The last word that was long.
    pub(super) last: LastWord,
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
        if self.symbols.capacity().max(self.last.symbols()) > KEEP {
            *self = Self::with_seed(self.long.seed());
        }
    }
}

/// Merges `scratch.symbols`, whose pairs were looked up, until no pair joins.
pub(crate) fn merge(merges: &Merges, scratch: &mut MergeScratch) {
    if is_short(merges, scratch.symbols.len()) {
        simd::vectorize(
            #[inline(always)]
            || match (scratch.symbols.len() + 2).div_ceil(LANES) {
                1 => merge_by_scan::<1>(merges, scratch),
                2 => merge_by_scan::<2>(merges, scratch),
                _ => merge_by_scan::<VECTORS>(merges, scratch),
            },
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

/// Whether a word of so many symbols is merged by scan.
pub(crate) fn is_short(merges: &Merges, count: usize) -> bool {
    count <= SHORT && merges.highest_rank() < Order::LIMIT && !merges.has_last_id()
}

#[inline(always)]
fn merge_by_scan<const V: usize>(merges: &Merges, scratch: &mut MergeScratch) {
    let MergeScratch { symbols, pairs, .. } = scratch;
    let mut word = ShortWord::<V>::new(symbols.len(), |at| symbols[at].id, |at| pairs[at]);
    word.merge(merges);
    let mut made = 0;
    for (range, id) in word.tokens() {
        // Each token has the length of all that were joined; those are not yet written over, as tokens are no more than symbols.
        symbols[made] = Symbol { id, len: symbols[range].iter().map(|symbol| symbol.len).sum() };
        made += 1;
    }
    symbols.truncate(made);
}

/// Appends the tokens of a short word of bytes: as [`merge`], but from the bytes at once. `pairs` has the token of each byte
/// and what each two of them become.
pub(crate) fn merge_bytes(merges: &Merges, bytes: &[u8], pairs: &super::BytePairs, out: &mut Vec<Symbol>) {
    simd::vectorize(
        #[inline(always)]
        || match (bytes.len() + 2).div_ceil(LANES) {
            1 => merge_bytes_in::<1>(merges, bytes, pairs, out),
            2 => merge_bytes_in::<2>(merges, bytes, pairs, out),
            _ => merge_bytes_in::<VECTORS>(merges, bytes, pairs, out),
        },
    );
}

#[inline(always)]
fn merge_bytes_in<const V: usize>(merges: &Merges, bytes: &[u8], pairs: &super::BytePairs, out: &mut Vec<Symbol>) {
    let pair = |at: usize| pairs.get(bytes[at], bytes[at + 1]);
    let mut word = ShortWord::<V>::new(bytes.len(), |at| pairs.ids[usize::from(bytes[at])], pair);
    word.merge(merges);
    out.extend(word.tokens().map(|(range, id)| Symbol { id, len: range.len() as u32 }));
}

/// A pair's rank and, for those of equal rank, its place: the least of them is the next to be joined.
struct Order;

impl Order {
    const PLACE_BITS: u32 = 6;
    /// Ranks from here on do not fit, [`Merges::NO_RANK`] among them.
    const LIMIT: u32 = u32::MAX >> Self::PLACE_BITS;
    /// From here on an order is of a pair that does not join.
    const NONE: u32 = Self::LIMIT << Self::PLACE_BITS;

    #[inline(always)]
    fn of(rank: u32, at: usize) -> u32 {
        rank << Self::PLACE_BITS | at as u32
    }

    #[inline(always)]
    fn place(order: u32) -> usize {
        (order & ((1 << Self::PLACE_BITS) - 1)) as usize
    }
}

/// The symbols of a word in fixed places, from the second on; a bit for each tells whether it is still there, so that
/// finding a neighbour is counting zeros, and a join moves nothing. At both edges is one more that joins with none: the
/// loop need not ask whether a neighbour exists, which could not be foretold.
struct ShortWord<const V: usize> {
    ids: [[u32; LANES]; V],
    /// Of each symbol with its right neighbour.
    orders: [[u32; LANES]; V],
    into: [[u32; LANES]; V],
    there: u64,
}

impl<const V: usize> ShortWord<V> {
    #[inline(always)]
    fn new(count: usize, id: impl Fn(usize) -> u32, pair: impl Fn(usize) -> Merge) -> Self {
        let mut word =
            Self { ids: [[NOTHING; LANES]; V], orders: [[u32::MAX; LANES]; V], into: [[0; LANES]; V], there: 0 };
        // So much is known to the compiler, and then need not be checked for every place.
        let count = count.min(V * LANES - 2);
        let ids = &mut word.ids.as_flattened_mut()[1..][..count];
        ids.iter_mut().enumerate().for_each(|(at, place)| *place = id(at));
        for at in 0..count.saturating_sub(1) {
            word.set(at + 1, pair(at));
        }
        word.there = (1 << (count + 2)) - 1;
        word
    }

    #[inline(always)]
    fn set(&mut self, at: usize, pair: Merge) {
        self.orders.as_flattened_mut()[at] = Order::of(pair.rank, at);
        self.into.as_flattened_mut()[at] = pair.id;
    }

    #[inline(always)]
    fn lowest(&self) -> u32 {
        let least = |low: [u32; LANES], all: &[u32; LANES]| std::array::from_fn(|lane| low[lane].min(all[lane]));
        self.orders.iter().fold([u32::MAX; LANES], least).into_iter().fold(u32::MAX, u32::min)
    }

    /// Joins until no pair can be.
    #[inline(always)]
    fn merge(&mut self, merges: &Merges) {
        loop {
            let lowest = self.lowest();
            if lowest >= Order::NONE {
                return;
            }
            let at = Order::place(lowest);
            let right = first_after(self.there, at);
            self.there &= !(1 << right);
            self.orders.as_flattened_mut()[right] = u32::MAX;
            let (before, after) = (last_before(self.there, at), first_after(self.there, at));
            let id = self.into.as_flattened()[at];
            let ids = self.ids.as_flattened_mut();
            ids[at] = id;
            let (first, second) = (merges.get(ids[before], id), merges.get(id, ids[after]));
            self.set(before, first);
            self.set(at, second);
        }
    }

    /// What is left: which symbols were joined, counted from zero, and what they are now.
    #[inline(always)]
    fn tokens(&self) -> impl Iterator<Item = (Range<usize>, u32)> {
        let mut left = self.there & !1;
        std::iter::from_fn(move || {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            // The last one is the one at the edge.
            let end = left.trailing_zeros() as usize;
            (left != 0).then(|| (at - 1..end - 1, self.ids.as_flattened()[at]))
        })
    }
}

/// In place of an id at the edges of a word: where words are short it joins with none.
const NOTHING: u32 = Merges::LAST_ID;

/// The first place behind `at` whose bit is set.
#[inline(always)]
fn first_after(there: u64, at: usize) -> usize {
    (there & (!1 << at)).trailing_zeros() as usize
}

/// The last place before `at` whose bit is set; there is one.
#[inline(always)]
fn last_before(there: u64, at: usize) -> usize {
    (there & ((1 << at) - 1)).ilog2() as usize
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
                scratch.look_up_pairs(&table);
            };
            if letters.len() <= SHORT {
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
