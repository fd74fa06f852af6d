//! The merge loop: of all adjacent pairs the one with the lowest rank is joined, the leftmost of equals first, until
//! none is left. Two ways to the same result: short words by looking at every pair each time, which costs least when
//! there are few; long words by a heap of pairs, n log n whatever the text.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Merges, Symbol};

/// Up to this many symbols the scan of all pairs is the faster way.
const SHORT: usize = 48;

/// What the loops need beside the tables; one per worker, reused from word to word.
#[derive(Debug, Default)]
pub(crate) struct MergeScratch {
    /// The symbols of the word: before the loop its letters, after it its tokens.
    pub(crate) symbols: Vec<Symbol>,
    /// For each symbol, what it becomes with its right neighbour.
    pairs: Vec<super::merges::Merge>,
    links: Vec<Link>,
    heap: BinaryHeap<Reverse<(u32, u32)>>,
    passed_over: Vec<Reverse<(u32, u32)>>,
    random: Random,
}

/// The neighbours of a symbol that is still there; [`END`] where there is none.
#[derive(Debug, Clone, Copy)]
struct Link {
    before: u32,
    after: u32,
}

const END: u32 = u32::MAX;

impl MergeScratch {
    pub(crate) fn with_seed(seed: u64) -> Self {
        Self { random: Random(seed), ..Self::default() }
    }

    /// Gives back what an unusually long word made it take.
    pub(crate) fn trim(&mut self) {
        const KEEP: usize = 1 << 16;
        if self.symbols.capacity() > KEEP {
            *self = Self::with_seed(self.random.0);
        }
    }
}

/// Merges `scratch.symbols` until no pair joins.
pub(crate) fn merge(merges: &Merges, scratch: &mut MergeScratch) {
    if scratch.symbols.len() <= SHORT {
        merge_by_scan(merges, scratch);
    } else {
        merge_by_heap(merges, scratch, None);
    }
}

/// As [`merge`], but each time a pair's turn has come it is passed over with the given probability, and may be taken
/// after the next join. The distribution follows Hugging Face tokenizers; the sequence of random numbers is our own.
pub(crate) fn merge_with_dropout(merges: &Merges, scratch: &mut MergeScratch, probability: f32) {
    merge_by_heap(merges, scratch, Some(probability));
}

fn merge_by_scan(merges: &Merges, scratch: &mut MergeScratch) {
    let MergeScratch { symbols, pairs, .. } = scratch;
    pairs.clear();
    pairs.extend(symbols.windows(2).map(|pair| merges.get(pair[0].id, pair[1].id)));
    // `pairs` has one entry less than `symbols`, and stays so.
    while let Some((at, best)) = pairs.iter().enumerate().min_by_key(|(_, pair)| pair.rank) {
        if best.rank == Merges::NO_RANK {
            return;
        }
        symbols[at] = Symbol { id: best.id, len: symbols[at].len + symbols[at + 1].len };
        symbols.remove(at + 1);
        pairs.remove(at);
        if at > 0 {
            pairs[at - 1] = merges.get(symbols[at - 1].id, symbols[at].id);
        }
        if at < pairs.len() {
            pairs[at] = merges.get(symbols[at].id, symbols[at + 1].id);
        }
    }
}

fn merge_by_heap(merges: &Merges, scratch: &mut MergeScratch, dropout: Option<f32>) {
    let MergeScratch { symbols, pairs, links, heap, passed_over, random, .. } = scratch;
    let count = symbols.len();
    pairs.clear();
    pairs.extend(symbols.windows(2).map(|pair| merges.get(pair[0].id, pair[1].id)));
    pairs.resize(count, NOTHING); // the last symbol has no right neighbour
    links.clear();
    links.extend((0..count).map(|at| Link {
        before: at.checked_sub(1).map_or(END, |before| before as u32),
        after: if at + 1 < count { at as u32 + 1 } else { END },
    }));
    let mut entries = std::mem::take(heap).into_vec();
    entries.clear();
    let joinable = pairs.iter().enumerate().filter(|(_, pair)| pair.rank != Merges::NO_RANK);
    entries.extend(joinable.map(|(at, pair)| Reverse((pair.rank, at as u32))));
    *heap = BinaryHeap::from(entries);
    passed_over.clear();

    while let Some(entry) = heap.pop() {
        if dropout.is_some_and(|probability| random.below_one() < probability) {
            passed_over.push(entry);
            continue;
        }
        heap.extend(passed_over.drain(..));
        let Reverse((rank, at)) = entry;
        let left = at as usize;
        if pairs[left].rank != rank {
            continue; // the pair that this entry stood for is gone
        }
        let Link { before, after: right } = links[left];
        let Link { after, .. } = links[right as usize];
        symbols[left] = Symbol { id: pairs[left].id, len: symbols[left].len + symbols[right as usize].len };
        symbols[right as usize].len = 0; // marks it as gone
        pairs[right as usize] = NOTHING;
        links[left].after = after;
        if after != END {
            links[after as usize].before = at;
        }
        for (one, other) in [(before, at), (at, after)] {
            if one == END {
                continue;
            }
            let pair =
                if other == END { NOTHING } else { merges.get(symbols[one as usize].id, symbols[other as usize].id) };
            pairs[one as usize] = pair;
            if pair.rank != Merges::NO_RANK {
                heap.push(Reverse((pair.rank, one)));
            }
        }
    }
    symbols.retain(|symbol| symbol.len != 0);
}

const NOTHING: super::merges::Merge = super::merges::Merge { rank: Merges::NO_RANK, id: 0 };

/// SplitMix64: small, well spread, and the same on every machine for the same seed.
#[derive(Debug, Default)]
struct Random(u64);

impl Random {
    fn below_one(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 40) as f32 / (1u64 << 24) as f32
    }
}

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
        fn both_loops_equal_the_naive_one(merges in random_merges(), word in prop::collection::vec(0u32..4, 0..140)) {
            let table = Merges::new(&merges);
            let letters: Vec<Symbol> = word.iter().map(|&id| Symbol { id, len: 1 }).collect();
            let expected = naive::merge(&merges, &letters);
            let mut scratch = MergeScratch { symbols: letters.clone(), ..Default::default() };
            merge_by_scan(&table, &mut scratch);
            prop_assert_eq!(&scratch.symbols, &expected);
            scratch.symbols = letters.clone();
            merge_by_heap(&table, &mut scratch, None);
            prop_assert_eq!(&scratch.symbols, &expected);
            scratch.symbols = letters.clone();
            merge_with_dropout(&table, &mut scratch, 0.0);
            prop_assert_eq!(&scratch.symbols, &expected);
            scratch.symbols = letters.clone();
            merge_with_dropout(&table, &mut scratch, 1.0);
            prop_assert_eq!(&scratch.symbols, &letters);
        }
    }
}
