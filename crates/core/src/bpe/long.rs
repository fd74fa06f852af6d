//! The merge loop for words of many symbols. The symbols are a linked list, so that a merge is a
//! few writes, and a heap has the pairs that have a merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::merges::Merge;
use super::{Merges, Symbol};
use crate::memory::Grow;
use crate::memory::fallible::push;

/// The state of the loop, reused from word to word.
#[derive(Debug, Default)]
pub(crate) struct LongScratch {
    links: Vec<Link>,
    heap: BinaryHeap<Reverse<(u32, u32)>>,
    skipped: Vec<Reverse<(u32, u32)>>,
    random: Random,
}

impl LongScratch {
    pub(super) fn with_seed(seed: u64) -> Self {
        Self { random: Random(seed), ..Self::default() }
    }

    pub(super) fn seed(&self) -> u64 {
        self.random.0
    }
}

/// The positions of a symbol's neighbors; [`END`] at the edges of the word.
#[derive(Debug, Clone, Copy)]
struct Link {
    before: u32,
    after: u32,
}

const END: u32 = u32::MAX;

/// The symbols of a word as a linked list, each with the merge with its right neighbor.
struct Chain<'a> {
    merges: &'a Merges,
    symbols: &'a mut Vec<Symbol>,
    pairs: &'a mut Vec<Merge>,
    links: &'a mut Vec<Link>,
}

impl<'a> Chain<'a> {
    /// `pairs` has the merge of each symbol but the last with its right neighbor.
    fn new(
        merges: &'a Merges,
        symbols: &'a mut Vec<Symbol>,
        pairs: &'a mut Vec<Merge>,
        links: &'a mut Vec<Link>,
    ) -> Self {
        let count = symbols.len();
        pairs.grow(count.saturating_sub(pairs.len()));
        pairs.resize(count, Merge::NONE);
        links.clear();
        links.grow(count);
        links.extend((0..count).map(|at| Link {
            before: at.checked_sub(1).map_or(END, |before| before as u32),
            after: if at + 1 < count { at as u32 + 1 } else { END },
        }));
        Self { merges, symbols, pairs, links }
    }

    fn rank(&self, at: u32) -> u32 {
        self.pairs[at as usize].rank
    }

    /// Merges the symbol at `at` and its right neighbor. Calls `found` with the position and the
    /// rank of each new pair that has a merge.
    #[inline]
    fn merge(&mut self, at: u32, observer: &mut Option<Observer<'_>>, mut found: impl FnMut(u32, u32)) {
        let left = at as usize;
        let Link { before, after: right } = self.links[left];
        let right = right as usize;
        let Link { after, .. } = self.links[right];
        self.symbols[left] = Symbol { id: self.pairs[left].id, len: self.symbols[left].len + self.symbols[right].len };
        self.symbols[right].len = 0; // marks the symbol as removed
        self.pairs[right] = Merge::NONE;
        self.links[left].after = after;
        if after != END {
            self.links[after as usize].before = at;
        }
        for (one, other) in [(before, at), (at, after)] {
            if one == END {
                continue;
            }
            let pair = match self.symbols.get(other as usize) {
                Some(other) => self.merges.get(self.symbols[one as usize].id, other.id),
                None => Merge::NONE,
            };
            self.pairs[one as usize] = pair;
            if pair.rank != Merges::NO_RANK {
                if let Some(observe) = observer {
                    observe(self.symbols[one as usize], self.symbols[other as usize], pair.id);
                }
                found(one, pair.rank);
            }
        }
    }

    /// Leaves the word's tokens in the list of symbols.
    fn finish(self) {
        self.symbols.retain(|symbol| symbol.len != 0);
    }
}

/// Receives each pair that has a merge when it is queued: both symbols, and the token of the merge.
pub(super) type Observer<'o> = &'o mut dyn FnMut(Symbol, Symbol, u32);

/// Merges until no pair has a merge. With `dropout`, the pair to be merged next is skipped with
/// that probability, and may be merged after the next merge.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(super) fn merge(
    merges: &Merges,
    symbols: &mut Vec<Symbol>,
    pairs: &mut Vec<Merge>,
    scratch: &mut LongScratch,
    dropout: Option<f32>,
    mut observer: Option<Observer<'_>>,
) {
    let LongScratch { links, heap, skipped, random } = scratch;
    let mut chain = Chain::new(merges, symbols, pairs, links);
    let mergeable = chain.pairs.iter().enumerate().filter(|(_, pair)| pair.rank != Merges::NO_RANK);
    heap.clear();
    heap.grow(chain.pairs.len());
    heap.extend(mergeable.map(|(at, pair)| Reverse((pair.rank, at as u32))));
    if let Some(observe) = &mut observer {
        let pairs = chain.symbols.windows(2).zip(&*chain.pairs);
        for (pair, merge) in pairs.filter(|(_, merge)| merge.rank != Merges::NO_RANK) {
            observe(pair[0], pair[1], merge.id);
        }
    }
    skipped.clear();
    while let Some(entry) = heap.pop() {
        if dropout.is_some_and(|probability| random.next_f32() < probability) {
            push(skipped, entry);
            continue;
        }
        heap.grow(skipped.len());
        heap.extend(skipped.drain(..));
        let Reverse((rank, at)) = entry;
        // The heap may have entries of pairs that no longer exist; they are dropped here.
        if chain.rank(at) == rank {
            chain.merge(at, &mut observer, |position, rank| {
                heap.grow(1);
                heap.push(Reverse((rank, position)));
            });
        }
    }
    chain.finish();
}

/// SplitMix64: a small generator with the same sequence on every machine.
#[derive(Debug, Default)]
struct Random(u64);

impl Random {
    /// A random number from 0 to 1, exclusive.
    fn next_f32(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 40) as f32 / (1u64 << 24) as f32
    }
}
