//! When a table of words grows, and the memory that it takes for that.

use std::sync::Arc;

use super::growth_memory::GrowthMemory;

/// A table grows after one eviction for this many buckets, if that took fewer than
/// [`LOOKUPS_PER_EVICTION`] lookups for each eviction.
pub(super) const GROW_RATIO: usize = 32;
/// See [`GROW_RATIO`]. A few words that evict each other do not justify growth.
pub(super) const LOOKUPS_PER_EVICTION: u64 = 2048;

/// Counts the evictions from a table, and takes the memory by which it grows from the memory that
/// it shares with other tables. Returns the memory on drop.
#[derive(Debug, Default)]
pub(super) struct Growth {
    /// The number of evictions since the cache's lookup counter was `counted_from`.
    evictions: usize,
    counted_from: u64,
    memory: Arc<GrowthMemory>,
    /// The bytes to which the table may grow without that memory.
    own: usize,
    /// The bytes taken from that memory.
    taken: usize,
}

impl Drop for Growth {
    fn drop(&mut self) {
        self.memory.release(self.taken);
    }
}

impl Growth {
    /// The growth of a table that has `own` bytes for itself.
    pub(super) fn sharing(memory: Arc<GrowthMemory>, own: usize) -> Self {
        Self { memory, own, ..Self::default() }
    }

    /// Takes what a table of this size needs beyond its own memory from the shared memory, if it
    /// lasts.
    pub(super) fn try_take(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.own + self.taken);
        let is_taken = self.memory.try_take(more);
        self.taken += if is_taken { more } else { 0 };
        is_taken
    }

    /// Records an eviction. Returns whether evictions are so frequent that the table should grow.
    /// `lookups` is the number of lookups in the cache so far.
    pub(super) fn is_due_after_eviction(&mut self, buckets: usize, lookups: u64) -> bool {
        self.evictions += 1;
        if self.evictions * GROW_RATIO <= buckets {
            return false;
        }
        let is_frequent = lookups - self.counted_from < self.evictions as u64 * LOOKUPS_PER_EVICTION;
        (self.evictions, self.counted_from) = (0, lookups);
        is_frequent
    }

    #[cfg(test)]
    pub(super) fn evictions(&self) -> usize {
        self.evictions
    }
}
