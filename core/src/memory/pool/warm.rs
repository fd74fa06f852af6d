//! Which of the cached blocks keep their pages: the largest recent ones.

use std::collections::VecDeque;

/// Smaller blocks keep their pages anyway: a call for each would cost more than they hold.
pub const LEAST: usize = 64 << 10;

/// Among so many of the oldest blocks the smallest gives up its pages first.
const OLDEST: usize = 8;

/// So many rounds of settling a block stays warm whatever the bound is: what comes and goes all the time is not worth a
/// call each time.
pub const PATIENCE: u64 = 64;

/// Cached blocks whose pages have been written, the oldest first. An entry whose stamp is not its block's any more is about
/// a block that was lent, merged or discarded since.
#[derive(Debug, Default)]
pub struct Warm {
    queue: VecDeque<Entry>,
    live: usize,
    bytes: usize,
    last_stamp: u32,
    round: u64,
}

/// A warm block: its number, its size, and when it became warm.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The block.
    pub id: u32,
    /// Its size in bytes.
    pub bytes: usize,
    stamp: u32,
    round: u64,
}

impl Warm {
    /// Notes a block, and gives it the stamp to keep: 0 for one that is too small to be noted.
    pub fn add(&mut self, id: u32, bytes: usize, is_current: impl Fn(u32, u32) -> bool) -> u32 {
        if bytes < LEAST {
            return 0;
        }
        self.last_stamp = self.last_stamp.checked_add(1).unwrap_or(1);
        self.queue.push_back(Entry { id, bytes, stamp: self.last_stamp, round: self.round });
        self.live += 1;
        self.bytes += bytes;
        if self.queue.len() > 2 * self.live + 64 {
            self.queue.retain(|entry| entry.stamp == self.last_stamp || is_current(entry.id, entry.stamp));
        }
        self.last_stamp
    }

    /// Forgets a block that had this stamp; its entry is found out later.
    pub fn remove(&mut self, stamp: u32, bytes: usize) {
        if stamp != 0 {
            self.live -= 1;
            self.bytes -= bytes;
        }
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
    pub fn coldest(&mut self, is_current: impl Fn(u32, u32) -> bool) -> Option<Entry> {
        let mut at = 0;
        while at < self.queue.len().min(OLDEST) {
            let entry = self.queue[at];
            if !is_current(entry.id, entry.stamp) {
                self.queue.remove(at);
            } else if entry.round + PATIENCE <= self.round {
                at += 1;
            } else {
                break;
            }
        }
        let smallest = (0..at).min_by_key(|&at| self.queue[at].bytes)?;
        self.queue.remove(smallest)
    }
}
