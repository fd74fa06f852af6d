//! The ring buffer for ids, and for bytes of long words, that do not fit into a slot.
//!
//! The ring is a list of numbers that is written from front to back repeatedly, so that the newest
//! entries overwrite the oldest. The *position* of an entry is the count of all numbers written
//! before it. So a slot knows from a position alone whether its entry still exists.
//!
//! The ring doubles when it overwrites too many entries, up to a limit, and while the memory that
//! it shares with other tables lasts.

use std::sync::Arc;

use super::WordFlags;
use super::growth::Growth;
use super::growth_memory::GrowthMemory;
use crate::memory::Table;
use crate::simd::append::Appender;
use crate::simd::packed::PackedIds;
use crate::simd::probe::{LENGTHS_VARY_FLAG, Slot};
use crate::word_key::Key;

/// The count of packed ids that marks a position in the ring.
const SPILLED: u8 = PackedIds::COUNT_MASK;

/// The initial length of a ring: 512 KiB.
pub(super) const INITIAL_LEN: usize = 128 << 10;
/// The maximum length of a ring that shares memory for growth: 4 MiB.
const MAX_SHARED_LEN: usize = 1 << 20;
/// Entries have this many numbers on average, to convert a length to a number of entries.
const NUMBERS_PER_ENTRY: usize = 16;

/// The ring. See the module documentation.
///
/// Invariant: `tail <= head`, `head - tail <= numbers.len()`, and all numbers of these positions
/// exist. An entry is contiguous.
#[derive(Debug)]
pub(super) struct SpillRing {
    /// The ring. Its length is a power of two or 0.
    pub(super) numbers: Table<u32>,
    /// The position of the next entry.
    pub(super) head: u32,
    /// The first position that exists.
    tail: u32,
    /// The maximum length.
    limit: usize,
    growth: Growth,
}

impl SpillRing {
    /// A ring of up to `limit` numbers, a power of two or zero.
    pub(super) fn new(limit: usize) -> Self {
        Self { numbers: Table::zeroed(limit.min(INITIAL_LEN)), head: 0, tail: 0, limit, growth: Growth::default() }
    }

    /// Lets the ring grow beyond its limit while the shared memory lasts.
    pub(super) fn share_growth(&mut self, memory: Arc<GrowthMemory>) {
        self.growth = Growth::sharing(memory, self.limit * size_of::<u32>());
        self.limit = self.limit.max(MAX_SHARED_LEN);
    }

    /// Records that an entry was written, and lets the ring grow if it overwrites entries too
    /// often. `lookups` is the number of lookups in the cache so far.
    pub(super) fn record_entry(&mut self, lookups: u64) {
        let overwrites = self.tail > 0;
        if overwrites && self.growth.is_due_after_eviction(self.numbers.len() / NUMBERS_PER_ENTRY, lookups) {
            self.grow();
        }
    }

    /// Doubles the ring, if the limit, the shared memory and the system allow it. Each number keeps
    /// its position.
    #[cold]
    fn grow(&mut self) {
        let (len, larger_len) = (self.numbers.len(), 2 * self.numbers.len());
        if larger_len > self.limit || !self.growth.try_take(larger_len * size_of::<u32>()) {
            return;
        }
        // If memory is short, the ring continues to overwrite entries.
        let Ok(mut larger) = Table::try_zeroed(larger_len) else { return };
        for position in self.tail..self.head {
            larger[position as usize & (larger_len - 1)] = self.numbers[position as usize & (len - 1)];
        }
        self.numbers = larger;
    }

    /// Whether positions are about to exceed 32 bits. The owner then clears every table that has
    /// positions, and the ring.
    pub(super) fn is_exhausted(&self) -> bool {
        (u32::MAX - self.head) as usize <= 2 * self.numbers.len()
    }

    /// Starts again at position 0.
    pub(super) fn clear(&mut self) {
        (self.head, self.tail) = (0, 0);
    }

    /// Writes an entry and returns its position; `None` if the entry is longer than an eighth of
    /// the ring.
    pub(super) fn write(&mut self, numbers: impl Iterator<Item = u32> + Clone) -> Option<u32> {
        let count = numbers.clone().count();
        let len = self.numbers.len();
        if count > len / 8 {
            return None;
        }
        let mut at = self.head as usize & (len - 1);
        if at + count > len {
            // An entry does not wrap around; the rest of the ring stays unused in this round.
            self.head += (len - at) as u32;
            at = 0;
        }
        let position = self.head;
        for (to, number) in self.numbers[at..].iter_mut().zip(numbers) {
            *to = number;
        }
        self.head += count as u32;
        self.tail = self.tail.max(self.head.saturating_sub(len as u32));
        Some(position)
    }

    /// Writes ids. Returns their position and their number, packed like ids.
    pub(super) fn spill_ids(&mut self, ids: impl ExactSizeIterator<Item = u32> + Clone) -> Option<PackedIds> {
        let count = ids.len() as u128;
        let position = u128::from(self.write(ids)?);
        let mut packed = PackedIds::from_number(position | count << 32);
        packed.set_flags(SPILLED, true);
        Some(packed)
    }

    /// The ids that [`Self::spill_ids`] wrote, unless they were overwritten.
    #[inline]
    pub(super) fn spilled_ids(&self, packed: &PackedIds) -> Option<&[u32]> {
        let number = packed.number();
        self.read(number as u32, (number >> 32) as u32 as usize)
    }

    /// A slot whose ids are spilled, if the ring has space for that many.
    pub(super) fn spilled(&mut self, key: Key, ids: impl ExactSizeIterator<Item = u32> + Clone) -> Option<Slot> {
        Some(Slot { key, ids: self.spill_ids(ids)? })
    }

    /// Appends the ids of a slot, packed or spilled, unless they were overwritten.
    #[inline(always)]
    pub(super) fn append_ids_of(&self, slot: &Slot, ids: &mut Appender<'_>) -> Option<WordFlags> {
        if !ids.push_packed(&slot.ids) {
            ids.extend_from_slice(self.spilled_ids(&slot.ids)?);
        }
        Some(WordFlags { lengths_vary: slot.ids.control() & LENGTHS_VARY_FLAG != 0 })
    }

    /// The entry of `count` numbers at `position`, unless it was overwritten.
    #[inline]
    pub(super) fn read(&self, position: u32, count: usize) -> Option<&[u32]> {
        if position < self.tail {
            return None;
        }
        self.numbers.get(position as usize & (self.numbers.len() - 1)..)?.get(..count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_until_they_are_overwritten_whether_the_ring_grows_or_not() {
        const LEN: usize = 1 << 8;
        for memory in [0, usize::MAX] {
            let mut ring = SpillRing::new(LEN);
            ring.share_growth(Arc::new(GrowthMemory::new(memory)));
            let mut positions = vec![];
            for number in 0..2000u32 {
                let count = 1 + number as usize % 20;
                let position = ring.write((0..count as u32).map(|at| number + at)).expect("it is short");
                ring.record_entry(0);
                positions.push((number, position, count));
                let mut exist = true;
                for &(number, position, count) in positions.iter().rev() {
                    let entry = ring.read(position, count);
                    assert!(exist || entry.is_none(), "older entries are overwritten first");
                    exist = entry.is_some();
                    if let Some(entry) = entry {
                        assert_eq!(entry, (0..count as u32).map(|at| number + at).collect::<Vec<_>>());
                    }
                }
                let kept =
                    positions.iter().rev().take(6).all(|&(_, position, count)| ring.read(position, count).is_some());
                assert!(kept, "the newest entries exist");
            }
            assert_eq!(ring.numbers.len() > LEN, memory > 0);
        }
    }
}
