//! The merge loop for words of few symbols: it computes the minimum of all priorities for each
//! merge, in vector registers. With few symbols this costs less than any structure that is kept in
//! order.

use std::ops::Range;

use super::merges::{Merge, MergeTable, TableVisitor};
use super::{BytePairs, Merges, Symbol};
use crate::simd::lanes::{LANES, LaneKernel, Lanes, dispatch_lanes};
use crate::simd::priority::MergePriority;
use crate::word_key::Key;

/// The maximum number of symbols. Together with one position at each edge they fill all blocks.
pub(super) const MAX_SYMBOLS: usize = MAX_BLOCKS * LANES - 2;
/// The number of blocks of the longest words.
const MAX_BLOCKS: usize = 4;

/// Whether a word of this many symbols can be merged here.
pub(super) fn is_short(merges: &Merges, symbols: usize) -> bool {
    symbols <= MAX_SYMBOLS && ranks_fit(merges) && !merges.has_last_id()
}

/// Whether all ranks fit into a [`MergePriority`].
pub(super) fn ranks_fit(merges: &Merges) -> bool {
    merges.highest_rank() < MergePriority::RANK_LIMIT
}

/// Merges the symbols of a short word. `pairs` has the merge of each symbol and its right neighbor.
pub(super) fn merge(merges: &Merges, symbols: &mut Vec<Symbol>, pairs: &[Merge]) {
    dispatch_lanes(MergeSymbols { merges, symbols, pairs });
}

/// Appends the tokens of a short word of bytes. `key` is the word's key.
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
    // WebAssembly is compiled a function at a time while it runs, so each size is one.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn merge<L: Lanes, const BLOCKS: usize>(self, lanes: L) {
        let Self { merges, symbols, pairs } = self;
        let mut word = ShortWord::<L, BLOCKS>::from_symbols(lanes, symbols, pairs);
        merges.with_table(&mut word);
        let mut count = 0;
        for (range, id) in word.tokens() {
            // In place: a token comes no later than its first symbol, so the symbols of this range
            // and after it are not overwritten yet.
            symbols[count] = Symbol { id, len: symbols[range].iter().map(|symbol| symbol.len).sum() };
            count += 1;
        }
        symbols.truncate(count);
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
    // WebAssembly is compiled a function at a time while it runs, so each size is one.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
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
            // One more block on each side of the word, so that every load is in bounds.
            let mut padded = [0; (2 + MAX_BLOCKS) * LANES];
            padded[LANES..][..bytes.len()].copy_from_slice(bytes);
            let at = |start: usize| u128::from_le_bytes(*padded[start..].first_chunk().expect("a block"));
            ShortWord::from_bytes(
                lanes,
                bytes.len(),
                pairs,
                #[inline(always)]
                |block| (at((block + 1) * LANES - 1), at((block + 1) * LANES)),
            )
        };
        merges.with_table(&mut word);
        out.extend(word.tokens().map(|(range, id)| Symbol { id, len: range.len() as u32 }));
    }
}

/// The symbols of a word at fixed positions, from position 1 on. A bit per position tells whether
/// its symbol is alive, so that a merge moves nothing and a neighbor is found by counting zeros.
///
/// Position 0 and the one after the last symbol hold [`NO_SYMBOL`], which merges with nothing. So
/// every symbol has two neighbors, and the loop has no branch for the edges of a word.
struct ShortWord<L: Lanes, const BLOCKS: usize> {
    lanes: L,
    ids: [[u32; LANES]; BLOCKS],
    /// The id that each symbol and its right neighbor merge to.
    joined: [[u32; LANES]; BLOCKS],
    /// The [`MergePriority`] of that merge.
    priorities: [L::Block; BLOCKS],
    alive: u64,
}

/// The surroundings of a pair; see [`ShortWord::neighbors`].
struct Neighbors {
    /// The position of the symbol before the pair.
    before: usize,
    /// The bit of the pair's right symbol.
    right: u64,
    /// The position of the symbol after the pair.
    after: usize,
}

impl<L: Lanes, const BLOCKS: usize> ShortWord<L, BLOCKS> {
    /// The number of positions. A power of two, so that `% POSITIONS` makes an index in bounds at
    /// no cost.
    const POSITIONS: usize = BLOCKS * LANES;

    #[inline(always)]
    fn from_symbols(lanes: L, symbols: &[Symbol], pairs: &[Merge]) -> Self {
        let (mut ids, mut joined, mut priorities) =
            ([[NO_SYMBOL; LANES]; BLOCKS], [[0; LANES]; BLOCKS], [[u32::MAX; LANES]; BLOCKS]);
        for (id, symbol) in ids.as_flattened_mut()[1..].iter_mut().zip(symbols) {
            *id = symbol.id;
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

    /// A word of `len` bytes. `block` returns the bytes at the positions of a block, and those at
    /// the positions after each.
    #[inline(always)]
    fn from_bytes(lanes: L, len: usize, pairs: &BytePairs, block: impl Fn(usize) -> (u128, u128)) -> Self {
        let alive = alive_bits(len);
        // The positions of symbols, without the edges. A pair's left symbol is any of them but the
        // last.
        let symbols = alive & alive >> 1 & !1;
        let left_symbols = symbols & symbols >> 1;
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
            let of_block = |positions: u64| (positions >> (which * LANES)) as u16;
            word.ids[which] = lanes.store(lanes.lookup_bytes(&pairs.ids, bytes, of_block(symbols)));
            let [ranks, joined] = lanes.lookup_pairs(&pairs.pairs, bytes, behind, of_block(left_symbols));
            word.priorities[which] = lanes.with_positions(ranks, MergePriority::POSITION_BITS, which * LANES);
            word.joined[which] = lanes.store(joined);
        }
        word
    }

    /// The priority of the next merge.
    #[inline(always)]
    fn lowest_priority(&self) -> u32 {
        let mut lowest = self.priorities[0];
        for &priorities in &self.priorities[1..] {
            lowest = self.lanes.min(lowest, priorities);
        }
        self.lanes.reduce_min(lowest)
    }

    /// Merges until no pair has a merge.
    #[inline(always)]
    fn merge(&mut self, table: &impl MergeTable) {
        const { assert!(Self::POSITIONS.is_power_of_two()) };
        let mut lowest = self.lowest_priority();
        while lowest < MergePriority::NO_MERGE {
            let at = MergePriority::position(lowest) % Self::POSITIONS;
            let Neighbors { before, right, after } = self.neighbors(at);
            self.alive ^= right;
            let id = self.joined.as_flattened()[at];
            let ids = self.ids.as_flattened_mut();
            ids[at] = id;
            // The three pairs around the merge no longer exist. The minimum of the other pairs does
            // not depend on the table, so it is computed while the table's cache lines load. It is
            // usually the next merge, so the entries which that merge needs are prefetched.
            self.lanes.fill_all(&mut self.priorities, (1 << after) - (1 << before), u32::MAX);
            let elsewhere = self.lowest_priority();
            self.prefetch_next(elsewhere, table);
            let ids = self.ids.as_flattened();
            let (first, second) = (table.get(ids[before], id), table.get(id, ids[after]));
            lowest = elsewhere.min(self.set_pair(before, first)).min(self.set_pair(at, second));
        }
    }

    /// Prefetches the entries that the merge with this priority looks up in the table.
    #[inline(always)]
    fn prefetch_next(&self, priority: u32, table: &impl MergeTable) {
        // If no pair is left, the position is arbitrary; it must not be the left edge, which has no
        // symbol before it.
        let at = MergePriority::position(priority).max(1) % Self::POSITIONS;
        let Neighbors { before, after, .. } = self.neighbors(at);
        let (id, ids) = (self.joined.as_flattened()[at], self.ids.as_flattened());
        table.prefetch(ids[before], id);
        table.prefetch(id, ids[after]);
    }

    /// The neighbors of the pair whose left symbol is at `at`, which is not position 0.
    #[inline(always)]
    fn neighbors(&self, at: usize) -> Neighbors {
        // The symbols after `at`, of which the first is the pair's right one.
        let behind = self.alive & (!1 << at);
        let further = behind & behind.wrapping_sub(1);
        let (before, after) = (previous_bit(self.alive, at), further.trailing_zeros() as usize);
        Neighbors { before: before % Self::POSITIONS, right: behind ^ further, after: after % Self::POSITIONS }
    }

    /// Sets the merge of the symbol at `at` and its right neighbor. Returns its priority.
    #[inline(always)]
    fn set_pair(&mut self, at: usize, pair: Merge) -> u32 {
        let priority = MergePriority::pack(pair.rank, at);
        self.lanes.fill_all(&mut self.priorities, 1 << at, priority);
        self.joined.as_flattened_mut()[at] = pair.id;
        priority
    }

    /// The tokens that are left: the range of the original symbols of each, and its id.
    #[inline(always)]
    fn tokens(&self) -> impl Iterator<Item = (Range<usize>, u32)> {
        let mut rest = self.alive & !1;
        std::iter::from_fn(move || {
            let at = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            // The last bit is the edge after the word.
            let end = rest.trailing_zeros() as usize;
            (rest != 0).then(|| (at - 1..end - 1, self.ids.as_flattened()[at]))
        })
    }
}

impl<L: Lanes, const BLOCKS: usize> TableVisitor for &mut ShortWord<L, BLOCKS> {
    type Out = ();

    #[inline(always)]
    fn run(self, table: &impl MergeTable) {
        self.merge(table);
    }
}

/// A bit for each of `symbols` symbols from position 1 on, and for both edges.
#[inline(always)]
fn alive_bits(symbols: usize) -> u64 {
    u64::MAX >> (u64::BITS as usize - 2 - symbols)
}

/// The id at the edges of a word. [`is_short`] makes sure that no merge contains it.
const NO_SYMBOL: u32 = Merges::LAST_ID;

/// The position of the highest bit below `at`. There is at least one.
#[inline(always)]
fn previous_bit(bits: u64, at: usize) -> usize {
    (bits & ((1 << at) - 1)).ilog2() as usize
}
