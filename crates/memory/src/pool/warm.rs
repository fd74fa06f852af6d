//! Selects the cached blocks that keep their pages: recent ones, and large ones before small ones.

use std::collections::VecDeque;

/// Smaller blocks always keep their pages, because a system call for each costs more than the
/// memory is worth: 64 KiB.
pub const MIN_TRACKED_BYTES: usize = 64 << 10;

/// The smallest of this many oldest blocks is decommitted first.
const CANDIDATES: usize = 8;

/// A block stays warm for this many rounds, whatever the bound. It avoids a system call for memory
/// that is released and allocated all the time. A round is one call of [`WarmBlocks::next_round`].
pub const MIN_WARM_ROUNDS: u64 = 64;

/// Cached blocks whose pages were written, the oldest first. An entry is stale if its stamp differs
/// from its block's: the block was allocated, merged or discarded in the meantime.
#[derive(Debug, Default)]
pub struct WarmBlocks {
    queue: VecDeque<WarmEntry>,
    /// By block id: the stamp of the entry of a warm block, otherwise 0.
    stamps: Vec<u32>,
    live: usize,
    bytes: usize,
    last_stamp: u32,
    round: u64,
}

/// A warm block: its id, its size, and when it became warm.
#[derive(Debug, Clone, Copy)]
pub struct WarmEntry {
    /// The block.
    pub id: u32,
    /// Its size in bytes.
    pub bytes: usize,
    stamp: u32,
    round: u64,
}

impl WarmBlocks {
    /// Adds a block of `bytes` bytes, unless it is smaller than [`MIN_TRACKED_BYTES`].
    #[inline]
    pub fn add(&mut self, id: u32, bytes: usize) {
        if bytes >= MIN_TRACKED_BYTES {
            self.add_entry(id, bytes);
        }
    }

    #[inline(never)]
    fn add_entry(&mut self, id: u32, bytes: usize) {
        let at = id as usize;
        if at >= self.stamps.len() {
            self.stamps.resize((at + 1).next_power_of_two(), 0);
        }
        self.last_stamp = self.last_stamp.checked_add(1).unwrap_or(1);
        self.stamps[at] = self.last_stamp;
        self.queue.push_back(WarmEntry { id, bytes, stamp: self.last_stamp, round: self.round });
        self.live += 1;
        self.bytes += bytes;
        if self.queue.len() > 2 * self.live + 64 {
            let stamps = &self.stamps;
            self.queue.retain(|entry| stamps[entry.id as usize] == entry.stamp);
        }
    }

    /// Removes a block of `bytes` bytes, if it is warm. Its queue entry becomes stale and is
    /// removed later.
    #[inline]
    pub fn remove(&mut self, id: u32, bytes: usize) {
        if bytes >= MIN_TRACKED_BYTES {
            self.remove_entry(id, bytes);
        }
    }

    #[inline(never)]
    fn remove_entry(&mut self, id: u32, bytes: usize) {
        if self.is_warm(id) {
            self.stamps[id as usize] = 0;
            self.live -= 1;
            self.bytes -= bytes;
        }
    }

    /// Whether a block is warm.
    pub fn is_warm(&self, id: u32) -> bool {
        self.stamps.get(id as usize).is_some_and(|&stamp| stamp != 0)
    }

    /// Starts the next round.
    pub fn next_round(&mut self) {
        self.round += 1;
    }

    /// The size of all warm blocks in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the block to discard next: the smallest of the oldest blocks that have been warm for
    /// [`MIN_WARM_ROUNDS`]. It counts as warm until it is [removed](Self::remove).
    pub fn coldest(&mut self) -> Option<WarmEntry> {
        let mut at = 0;
        while at < self.queue.len().min(CANDIDATES) {
            let entry = self.queue[at];
            if self.stamps[entry.id as usize] != entry.stamp {
                self.queue.remove(at);
            } else if entry.round + MIN_WARM_ROUNDS <= self.round {
                at += 1;
            } else {
                break;
            }
        }
        let smallest = (0..at).min_by_key(|&at| self.queue[at].bytes)?;
        self.queue.remove(smallest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_entries_are_removed_before_they_outnumber_the_blocks() {
        let mut warm = WarmBlocks::default();
        for id in 0..10 {
            warm.add(id, MIN_TRACKED_BYTES);
        }
        for _ in 0..10_000 {
            warm.remove(3, MIN_TRACKED_BYTES);
            warm.add(3, MIN_TRACKED_BYTES);
            assert!(warm.queue.len() <= 2 * warm.live + 65);
        }
        assert_eq!((warm.live, warm.bytes()), (10, 10 * MIN_TRACKED_BYTES));
    }

    #[test]
    fn a_block_is_warm_after_the_stamps_start_again() {
        let mut warm = WarmBlocks { last_stamp: u32::MAX, ..WarmBlocks::default() };
        warm.add(0, MIN_TRACKED_BYTES);
        assert!(warm.is_warm(0));
    }
}
