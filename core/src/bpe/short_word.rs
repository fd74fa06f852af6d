//! Merging of short words by looking at all pairs each time, in registers: nothing is kept up to date but the pairs
//! themselves, which costs least when there are few.

use std::ops::Range;

use super::merges::{self, Merge, MergeTable};
use super::word_cache::key::Key;
use super::{BytePairs, Merges, Symbol};
use crate::simd::lanes::{LANES, LaneKernel, Lanes, dispatch_lanes};

/// Up to this many symbols this is the faster way. With the two at the edges they fill all places.
pub(super) const MAX_SYMBOLS: usize = MAX_BLOCKS * LANES - 2;
/// Blocks of the longest word.
const MAX_BLOCKS: usize = 4;

/// Whether a word of so many symbols is merged here.
pub(super) fn is_short(merges: &Merges, count: usize) -> bool {
    count <= MAX_SYMBOLS && MergePriority::fits(merges) && !merges.has_last_id()
}

/// Merges the symbols of a short word, with what each becomes with its right neighbour, until no pair joins.
pub(super) fn merge(merges: &Merges, symbols: &mut Vec<Symbol>, pairs: &[Merge]) {
    dispatch_lanes(MergeSymbols { merges, symbols, pairs });
}

/// Appends the tokens of a short word of bytes, whose key is known. `pairs` has the token of each byte and what each two of them become.
pub(super) fn merge_bytes(merges: &Merges, bytes: &[u8], key: Key, pairs: &BytePairs, out: &mut Vec<Symbol>) {
    dispatch_lanes(MergeBytes { merges, bytes, key, pairs, out });
}

struct MergeSymbols<'a> {
    merges: &'a Merges,
    symbols: &'a mut Vec<Symbol>,
    pairs: &'a [Merge],
}

impl LaneKernel for MergeSymbols<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self, lanes: impl Lanes) {
        match (self.symbols.len() + 2).div_ceil(LANES) {
            1 => self.merge::<_, 1>(lanes),
            2 => self.merge::<_, 2>(lanes),
            _ => self.merge::<_, MAX_BLOCKS>(lanes),
        }
    }
}

impl MergeSymbols<'_> {
    #[inline(always)]
    fn merge<L: Lanes, const BLOCKS: usize>(self, lanes: L) {
        let Self { merges, symbols, pairs } = self;
        let mut word = ShortWord::<L, BLOCKS>::new(lanes, symbols, pairs);
        merges.with_table(&mut word);
        let mut made = 0;
        for (range, id) in word.tokens() {
            // Each token has the length of all that were joined; those are not yet written over, as tokens are no more than symbols.
            symbols[made] = Symbol { id, len: symbols[range].iter().map(|symbol| symbol.len).sum() };
            made += 1;
        }
        symbols.truncate(made);
    }
}

struct MergeBytes<'a> {
    merges: &'a Merges,
    bytes: &'a [u8],
    key: Key,
    pairs: &'a BytePairs,
    out: &'a mut Vec<Symbol>,
}

impl LaneKernel for MergeBytes<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self, lanes: impl Lanes) {
        match (self.bytes.len() + 2).div_ceil(LANES) {
            1 => self.merge::<_, 1>(lanes),
            2 => self.merge::<_, 2>(lanes),
            _ => self.merge::<_, MAX_BLOCKS>(lanes),
        }
    }
}

impl MergeBytes<'_> {
    #[inline(always)]
    fn merge<L: Lanes, const BLOCKS: usize>(self, lanes: L) {
        let Self { merges, bytes, key, pairs, out } = self;
        let mut word = if BLOCKS == 1 {
            ShortWord::<L, BLOCKS>::from_bytes(
                lanes,
                bytes.len(),
                pairs,
                #[inline(always)]
                |_| (key << 8, key),
            )
        } else {
            // A block on each side of the word.
            let mut padded = [0; (2 + MAX_BLOCKS) * LANES];
            padded[LANES..][..bytes.len()].copy_from_slice(bytes);
            let at = |start: usize| u128::from_le_bytes(*padded[start..].first_chunk().expect("a block"));
            ShortWord::from_bytes(
                lanes,
                bytes.len(),
                pairs,
                #[inline(always)]
                |which| (at((which + 1) * LANES - 1), at((which + 1) * LANES)),
            )
        };
        merges.with_table(&mut word);
        out.extend(word.tokens().map(|(range, id)| Symbol { id, len: range.len() as u32 }));
    }
}

/// A pair's rank and, for those of equal rank, its place: the least of them is the next to be joined.
pub(super) struct MergePriority;

impl MergePriority {
    pub(super) const POSITION_BITS: u32 = 6;
    /// Ranks from here on do not fit, [`Merges::NO_RANK`] among them.
    pub(super) const RANK_LIMIT: u32 = u32::MAX >> Self::POSITION_BITS;
    /// From here on an order is of a pair that does not join.
    pub(super) const NONE: u32 = Self::RANK_LIMIT << Self::POSITION_BITS;

    /// Whether all ranks are small enough.
    pub(super) fn fits(merges: &Merges) -> bool {
        merges.highest_rank() < Self::RANK_LIMIT
    }

    #[inline(always)]
    pub(super) fn pack(rank: u32, at: usize) -> u32 {
        rank << Self::POSITION_BITS | at as u32
    }

    #[inline(always)]
    fn position(priority: u32) -> usize {
        (priority & ((1 << Self::POSITION_BITS) - 1)) as usize
    }
}

/// The symbols of a word in fixed places, from the second on; a bit for each tells whether it is still there, so that
/// finding a neighbour is counting zeros, and a join moves nothing. At both edges is one more that joins with none: the
/// loop need not ask whether a neighbour exists, which could not be foretold.
struct ShortWord<L: Lanes, const BLOCKS: usize> {
    lanes: L,
    ids: [[u32; LANES]; BLOCKS],
    joined: [[u32; LANES]; BLOCKS],
    /// Of each symbol with its right neighbour.
    priorities: [L::Block; BLOCKS],
    alive: u64,
}

/// See [`ShortWord::neighbors`].
struct Neighbors {
    before: usize,
    /// The bit of the right symbol.
    right: u64,
    after: usize,
}

impl<L: Lanes, const BLOCKS: usize> ShortWord<L, BLOCKS> {
    /// All places are below this number, which is a power of two: so much is known without asking.
    const POSITIONS: usize = BLOCKS * LANES;

    #[inline(always)]
    fn new(lanes: L, symbols: &[Symbol], pairs: &[Merge]) -> Self {
        let (mut ids, mut joined, mut priorities) =
            ([[NO_SYMBOL; LANES]; BLOCKS], [[0; LANES]; BLOCKS], [[u32::MAX; LANES]; BLOCKS]);
        for (place, symbol) in ids.as_flattened_mut()[1..].iter_mut().zip(symbols) {
            *place = symbol.id;
        }
        for (at, pair) in (1..).zip(pairs) {
            priorities.as_flattened_mut()[at] = MergePriority::pack(pair.rank, at);
            joined.as_flattened_mut()[at] = pair.id;
        }
        let priorities = priorities.map(
            #[inline(always)]
            |priorities| lanes.load(&priorities),
        );
        Self { lanes, ids, joined, priorities, alive: alive_bits(symbols.len()) }
    }

    /// Of so many bytes. `block` has those of each block: of its places, and the one behind each.
    #[inline(always)]
    fn from_bytes(lanes: L, count: usize, pairs: &BytePairs, block: impl Fn(usize) -> (u128, u128)) -> Self {
        let alive = alive_bits(count);
        // Not the places at the edges; and of pairs not the one of the last symbol.
        let symbols = alive & alive >> 1 & !1;
        let joinable = symbols & symbols >> 1;
        let none = lanes.load(&[u32::MAX; LANES]);
        let mut word = Self {
            lanes,
            ids: [[NO_SYMBOL; LANES]; BLOCKS],
            joined: [[0; LANES]; BLOCKS],
            priorities: [none; BLOCKS],
            alive,
        };
        for which in 0..BLOCKS {
            let (bytes, behind) = block(which);
            let of_block = |places: u64| (places >> (which * LANES)) as u16;
            word.ids[which] = lanes.store(lanes.lookup_bytes(&pairs.ids, bytes, of_block(symbols)));
            let [ranks, joined] = lanes.lookup_pairs(&pairs.pairs, bytes, behind, of_block(joinable));
            word.priorities[which] = lanes.with_positions(ranks, MergePriority::POSITION_BITS, which * LANES);
            word.joined[which] = lanes.store(joined);
        }
        word
    }

    #[inline(always)]
    fn lowest_priority(&self) -> u32 {
        let mut least = self.priorities[0];
        for &priorities in &self.priorities[1..] {
            least = self.lanes.min(least, priorities);
        }
        self.lanes.reduce_min(least)
    }

    /// Joins until no pair can be.
    #[inline(always)]
    fn merge(&mut self, pairs: &impl MergeTable) {
        const { assert!(Self::POSITIONS.is_power_of_two()) };
        let mut lowest = self.lowest_priority();
        while lowest < MergePriority::NONE {
            let at = MergePriority::position(lowest) % Self::POSITIONS;
            let Neighbors { before, right, after } = self.neighbors(at);
            self.alive ^= right;
            let id = self.joined.as_flattened()[at];
            let ids = self.ids.as_flattened_mut();
            ids[at] = id;
            // What is lowest elsewhere does not wait for the table.
            self.lanes.fill_all(&mut self.priorities, (1 << after) - (1 << before), u32::MAX);
            let elsewhere = self.lowest_priority();
            self.prefetch_next(elsewhere, pairs);
            let ids = self.ids.as_flattened();
            let (first, second) = (pairs.get(ids[before], id), pairs.get(id, ids[after]));
            lowest = elsewhere.min(self.set_pair(before, first)).min(self.set_pair(at, second));
        }
    }

    /// Asks ahead for what will be asked of the table if this is the next pair to be joined, as it mostly is.
    #[inline(always)]
    fn prefetch_next(&self, priority: u32, pairs: &impl MergeTable) {
        // The place is any one if no pair is left, but not the one at the left edge.
        let at = MergePriority::position(priority).max(1) % Self::POSITIONS;
        let Neighbors { before, after, .. } = self.neighbors(at);
        let (id, ids) = (self.joined.as_flattened()[at], self.ids.as_flattened());
        pairs.prefetch(ids[before], id);
        pairs.prefetch(id, ids[after]);
    }

    /// What stands beside a pair whose left symbol is at a place.
    #[inline(always)]
    fn neighbors(&self, at: usize) -> Neighbors {
        // From the right symbol on, which goes, and from the one behind that on.
        let behind = self.alive & (!1 << at);
        let further = behind & behind.wrapping_sub(1);
        let (before, after) = (previous_bit(self.alive, at), further.trailing_zeros() as usize);
        Neighbors { before: before % Self::POSITIONS, right: behind ^ further, after: after % Self::POSITIONS }
    }

    #[inline(always)]
    fn set_pair(&mut self, at: usize, pair: Merge) -> u32 {
        let priority = MergePriority::pack(pair.rank, at);
        self.lanes.fill_all(&mut self.priorities, 1 << at, priority);
        self.joined.as_flattened_mut()[at] = pair.id;
        priority
    }

    /// What is left: which symbols were joined, counted from zero, and what they are now.
    #[inline(always)]
    fn tokens(&self) -> impl Iterator<Item = (Range<usize>, u32)> {
        let mut left = self.alive & !1;
        std::iter::from_fn(move || {
            let at = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            // The last one is the one at the edge.
            let end = left.trailing_zeros() as usize;
            (left != 0).then(|| (at - 1..end - 1, self.ids.as_flattened()[at]))
        })
    }
}

impl<L: Lanes, const BLOCKS: usize> merges::TableVisitor for &mut ShortWord<L, BLOCKS> {
    type Out = ();

    #[inline(always)]
    fn run(self, pairs: &impl MergeTable) {
        self.merge(pairs);
    }
}

/// A bit for each of so many symbols, and for the one at each edge.
#[inline(always)]
fn alive_bits(count: usize) -> u64 {
    u64::MAX >> (u64::BITS as usize - 2 - count)
}

/// In place of an id at the edges of a word: where words are short it joins with none.
const NO_SYMBOL: u32 = Merges::LAST_ID;

/// The last place before `at` whose bit is set; there is one.
#[inline(always)]
fn previous_bit(alive: u64, at: usize) -> usize {
    (alive & ((1 << at) - 1)).ilog2() as usize
}
