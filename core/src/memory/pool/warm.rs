//! Which of the cached blocks keep their pages: the largest recent ones.

use std::collections::VecDeque;

/// Smaller blocks keep their pages anyway: a call for each would cost more than they hold.
pub const MIN_TRACKED_BYTES: usize = 64 << 10;

/// Among so many of the oldest blocks the smallest gives up its pages first.
const CANDIDATES: usize = 8;

/// So many rounds of settling a block stays warm whatever the bound is: what comes and goes all the time is not worth a
/// call each time.
pub const MIN_WARM_ROUNDS: u64 = 64;

/// Cached blocks whose pages have been written, the oldest first. An entry whose stamp is not its block's any more is about
/// a block that was lent, merged or discarded since.
#[derive(Debug, Default)]
pub struct WarmBlocks {
    queue: VecDeque<WarmEntry>,
    /// By the block's number: what the entry of a warm block has, else 0.
    stamps: Vec<u32>,
    live: usize,
    bytes: usize,
    last_stamp: u32,
    round: u64,
}

/// A warm block: its number, its size, and when it became warm.
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
    /// Notes a block, unless it is too small for that.
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

    /// Forgets a block of this size, if it was noted; its entry is found out later.
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

    /// Whether a block is noted.
    pub fn is_warm(&self, id: u32) -> bool {
        self.stamps.get(id as usize).is_some_and(|&stamp| stamp != 0)
    }

    /// Begins another round.
    pub fn next_round(&mut self) {
        self.round += 1;
    }

    /// Bytes of all warm blocks.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The block to discard next: the smallest of the oldest ones, if it has been warm for long enough. It stays noted until it
    /// is [removed](Self::remove).
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
