//! Words of many symbols: a chain in which a join is a few writes, and two ways to find the next pair.
//!
//! [`by_runs`] keeps the places of equal rank together, as a run: the ranks that occur in a text are few compared with its
//! pairs, so most places are only ever appended to a list and read from it in order. A heap holds one entry per run.
//! [`by_heap`] has an entry for every pair. It is what dropout needs, and the twin that tests hold the other against.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::HashMap;

use super::merges::Merge;
use super::{Merges, Symbol};
use crate::memory::Grow;
use crate::memory::fallible::push;

/// State of both ways, reused from word to word.
#[derive(Debug, Default)]
pub(crate) struct LongScratch {
    links: Vec<Link>,
    heap: BinaryHeap<Reverse<(u32, u32)>>,
    passed_over: Vec<Reverse<(u32, u32)>>,
    runs: RankQueue,
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

/// The neighbours of a symbol that is still there; [`END`] where there is none.
#[derive(Debug, Clone, Copy)]
struct Link {
    before: u32,
    after: u32,
}

const END: u32 = u32::MAX;

/// The symbols of a word, each knowing its neighbours and what it becomes with the right one.
struct Chain<'a> {
    merges: &'a Merges,
    symbols: &'a mut Vec<Symbol>,
    pairs: &'a mut Vec<Merge>,
    links: &'a mut Vec<Link>,
}

impl<'a> Chain<'a> {
    /// `pairs` has what each symbol but the last becomes with its right neighbour.
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

    /// Joins the symbol at `at` with its right neighbour, and calls `found` with the place and rank of each pair that
    /// this makes possible.
    #[inline]
    fn join(&mut self, at: u32, mut found: impl FnMut(u32, u32)) {
        let left = at as usize;
        let Link { before, after: right } = self.links[left];
        let right = right as usize;
        let Link { after, .. } = self.links[right];
        self.symbols[left] = Symbol { id: self.pairs[left].id, len: self.symbols[left].len + self.symbols[right].len };
        self.symbols[right].len = 0; // marks it as gone
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
                found(one, pair.rank);
            }
        }
    }

    fn finish(self) {
        self.symbols.retain(|symbol| symbol.len != 0);
    }
}

/// Places by rank.
#[derive(Debug, Default)]
struct RankQueue {
    /// The run that new places of a rank go to.
    open: HashMap<u32, u32, foldhash::fast::RandomState>,
    /// Some of these, by the lower part of the rank: in a text of few letters it is the same ranks all the time.
    recent: [Option<(u32, u32)>; RECENT],
    runs: Vec<RankRun>,
    unused: Vec<u32>,
    /// Rank, first place not yet read, run. An open run has place zero, so that it is looked at before any other of its
    /// rank: only then is it put in order.
    queue: BinaryHeap<Reverse<(u32, u32, u32)>>,
}

const RECENT: usize = 16;

#[derive(Debug, Default)]
struct RankRun {
    places: Vec<u32>,
    next: usize,
    in_order: bool,
}

impl RankQueue {
    #[inline]
    fn push(&mut self, place: u32, rank: u32) {
        let run = match self.recent[rank as usize % RECENT] {
            Some((recent, run)) if recent == rank => run,
            _ => {
                let run = self.open_run(rank);
                self.recent[rank as usize % RECENT] = Some((rank, run));
                run
            }
        };
        push(&mut self.runs[run as usize].places, place);
    }

    fn open_run(&mut self, rank: u32) -> u32 {
        *self.open.entry(rank).or_insert_with(|| {
            let run = self.unused.pop().unwrap_or_else(|| {
                self.runs.push(RankRun::default());
                self.runs.len() as u32 - 1
            });
            self.queue.push(Reverse((rank, 0, run)));
            run
        })
    }

    /// From now on new places of this rank go to another run.
    fn close_run(&mut self, rank: u32) {
        self.open.remove(&rank);
        self.recent[rank as usize % RECENT] = None;
    }
}

/// Joins, as long as there is one, the leftmost pair of the lowest rank.
pub(super) fn by_runs(merges: &Merges, symbols: &mut Vec<Symbol>, pairs: &mut Vec<Merge>, scratch: &mut LongScratch) {
    let LongScratch { links, runs, .. } = scratch;
    let mut chain = Chain::new(merges, symbols, pairs, links);
    for at in 0..chain.pairs.len() as u32 {
        let rank = chain.rank(at);
        if rank != Merges::NO_RANK {
            runs.push(at, rank);
        }
    }
    while let Some(Reverse((rank, _, number))) = runs.queue.pop() {
        let mut run = std::mem::take(&mut runs.runs[number as usize]);
        if !run.in_order {
            runs.close_run(rank);
            run.places.sort();
            run.in_order = true;
        }
        while let Some(&at) = run.places.get(run.next) {
            if runs.queue.peek().is_some_and(|&Reverse((other, place, _))| (other, place) < (rank, at)) {
                break;
            }
            run.next += 1;
            if chain.rank(at) == rank {
                chain.join(at, |place, rank| runs.push(place, rank));
            }
        }
        match run.places.get(run.next) {
            // A join made a pair whose turn is before the rest of this run.
            Some(&at) => runs.queue.push(Reverse((rank, at, number))),
            None => {
                (run.next, run.in_order) = (0, false);
                run.places.clear();
                runs.unused.push(number);
            }
        }
        runs.runs[number as usize] = run;
    }
    chain.finish();
}

/// The same with a heap of all pairs. With `dropout`, each time a pair's turn has come it is passed over with that
/// probability, and may be taken after the next join.
pub(super) fn by_heap(
    merges: &Merges,
    symbols: &mut Vec<Symbol>,
    pairs: &mut Vec<Merge>,
    scratch: &mut LongScratch,
    dropout: Option<f32>,
) {
    let LongScratch { links, heap, passed_over, random, .. } = scratch;
    let mut chain = Chain::new(merges, symbols, pairs, links);
    let joinable = chain.pairs.iter().enumerate().filter(|(_, pair)| pair.rank != Merges::NO_RANK);
    heap.clear();
    heap.grow(chain.pairs.len());
    heap.extend(joinable.map(|(at, pair)| Reverse((pair.rank, at as u32))));
    passed_over.clear();
    while let Some(entry) = heap.pop() {
        if dropout.is_some_and(|probability| random.below_one() < probability) {
            push(passed_over, entry);
            continue;
        }
        heap.grow(passed_over.len());
        heap.extend(passed_over.drain(..));
        let Reverse((rank, at)) = entry;
        // An entry whose pair is gone stays in the heap until its turn, and is nothing then.
        if chain.rank(at) == rank {
            chain.join(at, |place, rank| {
                heap.grow(1);
                heap.push(Reverse((rank, place)));
            });
        }
    }
    chain.finish();
}

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
