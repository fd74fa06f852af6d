//! The kernel of [`super::LaneMerger`] for CPUs without AVX-512. The lanes take turns in each step
//! of a round: all find their next merge, then all read the filter, then all read the merge table.
//! Each step prefetches what the next one reads, and a CPU that executes out of order overlaps the
//! lanes of a step, because no branch depends on the word or on the filter. Only the minima are
//! computed with vectors, which the compiler makes of loops over a row.

use super::{ByteTables, LaneMerger, MAX_LANE_LEN, POSITIONS, PairTable, Rows};
use crate::lanes::LANES;
use crate::priority::MergePriority;

/// See [`LaneMerger::merge`].
#[inline(always)]
pub(super) fn merge(words: &mut LaneMerger, table: &impl PairTable, bytes: ByteTables<'_>) {
    let longest = load_words(words, bytes);
    let hashing = table.hashing();
    let LaneMerger { ids, joined, priorities, alive, .. } = words;
    let (ids, joined, priorities) = (&mut ids.0, &mut joined.0, &mut priorities.0);
    let mut lowest = lowest_of(priorities, longest);
    // The lanes that have a merge.
    let (mut active, mut count) = ([0; LANES], 0);
    for (lane, &lowest) in lowest.iter().enumerate() {
        active[count % LANES] = lane as u8;
        count += usize::from(lowest < MergePriority::NO_MERGE);
    }
    while count > 0 {
        // The two new pairs of each lane: their hashes, whether their ids are small enough for the
        // table, and the positions and lanes of their left symbols.
        let (mut hashes, mut fit, mut locations) = ([0; 2 * LANES], [false; 2 * LANES], [(0, 0); 2 * LANES]);
        for (turn, &lane) in active[..count].iter().enumerate() {
            let lane = usize::from(lane) % LANES;
            // The symbol at `at` takes its right neighbor in, whose position becomes free. Then the
            // symbols before and after the joined one are its neighbors.
            let at = MergePriority::position(lowest[lane]) % POSITIONS;
            let behind = alive[lane] & (!1 << at);
            let further = behind & behind.wrapping_sub(1);
            // The lowest bit, of the edge, is always set.
            let before = (alive[lane] & ((1 << at) - 1) | 1).ilog2() as usize;
            let [right, after] = [behind, further].map(|bits| bits.trailing_zeros() as usize % POSITIONS);
            alive[lane] ^= behind ^ further;
            let id = joined[at][lane];
            let [before_id, after_id] = [before, after].map(|position| ids[position][lane]);
            ids[at][lane] = id;
            // The pairs of these symbols with their right neighbors no longer exist.
            for position in [before, at, right] {
                priorities[position][lane] = u32::MAX;
            }
            for (side, (position, left, right)) in [(before, before_id, id), (at, id, after_id)].into_iter().enumerate()
            {
                let pair = (2 * turn + side) % (2 * LANES);
                hashes[pair] = hashing.hash(left, right);
                fit[pair] = hashing.fits(left | right);
                locations[pair] = (position as u8, lane as u8);
                hashing.prefetch(hashes[pair]);
            }
        }
        // Those that may be in the table.
        let mut candidates = 0;
        for pair in 0..2 * count {
            let pair = pair % (2 * LANES);
            let (hash, location) = (hashes[pair], locations[pair]);
            hashes[candidates % (2 * LANES)] = hash;
            locations[candidates % (2 * LANES)] = location;
            candidates += usize::from(fit[pair] & hashing.may_contain(hash));
        }
        let candidates = candidates.min(2 * LANES);
        for &hash in &hashes[..candidates] {
            table.prefetch(hash);
        }
        // Does not depend on the table, so it is computed while the cache lines load.
        lowest = lowest_of(priorities, longest);
        for (&hash, &(position, lane)) in hashes[..candidates].iter().zip(&locations[..candidates]) {
            let (rank, id) = table.find(hash);
            let (position, lane) = (usize::from(position) % POSITIONS, usize::from(lane) % LANES);
            let priority = MergePriority::pack(rank, position);
            priorities[position][lane] = priority;
            joined[position][lane] = id;
            lowest[lane] = lowest[lane].min(priority);
        }
        let mut left = 0;
        for at in 0..count {
            let lane = active[at % LANES];
            active[left % LANES] = lane;
            left += usize::from(lowest[usize::from(lane) % LANES] < MergePriority::NO_MERGE);
        }
        count = left;
    }
}

/// The lowest priority of each word.
#[inline(always)]
fn lowest_of(priorities: &[[u32; LANES]; POSITIONS], longest: usize) -> [u32; LANES] {
    let mut lowest = [u32::MAX; LANES];
    for row in &priorities[1..=longest] {
        for (lowest, priority) in lowest.iter_mut().zip(row) {
            *lowest = (*lowest).min(*priority);
        }
    }
    lowest
}

/// Writes the symbols of all words and the merges of adjacent ones. Returns the length of the
/// longest word.
#[inline(always)]
fn load_words(words: &mut LaneMerger, tables: ByteTables<'_>) -> usize {
    let LaneMerger { bytes, lens, ids: Rows(ids), joined: Rows(joined), priorities: Rows(priorities), alive, .. } =
        words;
    let longest = lens.iter().copied().max().unwrap_or(0).min(MAX_LANE_LEN as u32) as usize;
    priorities[..=longest].fill([u32::MAX; LANES]);
    ids[0] = [u32::MAX; LANES];
    for (lane, (bytes, &len)) in bytes.iter().zip(&*lens).enumerate() {
        let len = (len as usize).min(MAX_LANE_LEN);
        for at in 0..len {
            let two = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
            ids[at + 1][lane] = tables.ids[usize::from(bytes[at])];
            let [rank, id] = tables.pairs[usize::from(two)];
            priorities[at + 1][lane] = MergePriority::pack(rank, at + 1);
            joined[at + 1][lane] = id;
        }
        // The last symbol has no right neighbor.
        priorities[len][lane] = u32::MAX;
        ids[len + 1][lane] = u32::MAX;
        // A bit for each symbol, and for the one at each edge.
        alive[lane] = (1u32 << 2 << len).wrapping_sub(1);
    }
    longest
}
