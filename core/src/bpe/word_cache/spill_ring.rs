//! The ring buffer for ids, and for bytes of long words, that do not fit into a slot.
//!
//! The ring is a list of numbers that is written from front to back repeatedly, so that the newest
//! entries overwrite the oldest. The *place* of an entry is the count of all numbers written before
//! it. So a slot knows from a place alone whether its entry still exists.

use crate::memory::Table;
use crate::simd::packed::PackedIds;

/// The count of packed ids that marks a place in the ring.
const SPILLED: u8 = PackedIds::COUNT_MASK;

/// The ring. See the module documentation.
///
/// Invariant: an entry at `place` exists if `head - place <= numbers.len()`. An entry is
/// contiguous.
#[derive(Debug)]
pub(super) struct SpillRing {
    /// The ring. Its length is a power of two or 0.
    pub(super) numbers: Table<u32>,
    /// The place of the next entry.
    pub(super) head: u32,
}

impl SpillRing {
    /// A ring of `len` numbers, a power of two or zero.
    pub(super) fn new(len: usize) -> Self {
        Self { numbers: Table::zeroed(len), head: 0 }
    }

    /// Whether places are about to exceed 32 bits. The owner then clears every table that has
    /// places, and the ring.
    pub(super) fn is_exhausted(&self) -> bool {
        (u32::MAX - self.head) as usize <= 2 * self.numbers.len()
    }

    /// Starts again at place 0.
    pub(super) fn clear(&mut self) {
        self.head = 0;
    }

    /// Writes an entry and returns its place; `None` if the entry is longer than an eighth of the
    /// ring.
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
        let place = self.head;
        for (to, number) in self.numbers[at..].iter_mut().zip(numbers) {
            *to = number;
        }
        self.head += count as u32;
        Some(place)
    }

    /// Writes ids. Returns their place and their number, packed like ids.
    pub(super) fn spill_ids(&mut self, ids: impl ExactSizeIterator<Item = u32> + Clone) -> Option<PackedIds> {
        let count = ids.len() as u128;
        let place = u128::from(self.write(ids)?);
        Some(PackedIds::from_bytes((place | count << 32 | u128::from(SPILLED) << 120).to_le_bytes()))
    }

    /// The ids that [`Self::spill_ids`] wrote, unless they were overwritten.
    #[inline]
    pub(super) fn spilled_ids(&self, packed: &PackedIds) -> Option<&[u32]> {
        let [place, count, ..] = packed.bytes().as_chunks::<4>().0 else {
            unreachable!("sixteen bytes are four numbers")
        };
        self.read(u32::from_le_bytes(*place), u32::from_le_bytes(*count) as usize)
    }

    /// The entry of `count` numbers at `place`, unless it was overwritten.
    #[inline]
    pub(super) fn read(&self, place: u32, count: usize) -> Option<&[u32]> {
        let len = self.numbers.len();
        if (self.head - place) as usize > len {
            return None;
        }
        self.numbers.get(place as usize & (len - 1)..)?.get(..count)
    }
}
