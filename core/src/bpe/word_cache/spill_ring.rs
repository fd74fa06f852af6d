//! What does not fit into slots: ids, and the bytes of long words.

use crate::memory::Table;
use crate::simd::packed::PackedIds;

/// In place of a count of [`PackedIds`] numbers: they stand in the ring.
const SPILLED: u8 = PackedIds::COUNT_MASK;

/// Numbers written one after the other, the newest over the oldest.
#[derive(Debug)]
pub(super) struct SpillRing {
    /// A power of two of them, or none.
    pub(super) words: Table<u32>,
    /// How many were ever written, gaps counted in; the next one's place.
    pub(super) head: u32,
}

impl SpillRing {
    pub(super) fn new(len: usize) -> Self {
        Self { words: Table::zeroed(len), head: 0 }
    }

    /// Whether the next places could be numbers too large to write down.
    pub(super) fn is_exhausted(&self) -> bool {
        (u32::MAX - self.head) as usize <= 2 * self.words.len()
    }

    /// Writes numbers in one piece and tells where; nothing when they are too many to be worth it.
    pub(super) fn write(&mut self, numbers: impl Iterator<Item = u32> + Clone) -> Option<u32> {
        let count = numbers.clone().count();
        let len = self.words.len();
        if count > len / 8 {
            return None;
        }
        let mut at = self.head as usize & (len - 1);
        if at + count > len {
            // Not around the edge: the rest is left as a gap.
            self.head += (len - at) as u32;
            at = 0;
        }
        let place = self.head;
        for (word, number) in self.words[at..].iter_mut().zip(numbers) {
            *word = number;
        }
        self.head += count as u32;
        Some(place)
    }

    /// Writes numbers and tells where, in place of [`PackedIds`] ones.
    pub(super) fn spill_ids(&mut self, numbers: impl ExactSizeIterator<Item = u32> + Clone) -> Option<PackedIds> {
        let count = numbers.len() as u128;
        let place = u128::from(self.write(numbers)?);
        Some(PackedIds::from_bytes((place | count << 32 | u128::from(SPILLED) << 120).to_le_bytes()))
    }

    /// What [`Self::put_for`] wrote, if nothing was written over it since.
    #[inline]
    pub(super) fn spilled_ids(&self, packed: &PackedIds) -> Option<&[u32]> {
        let [place, count, ..] = packed.bytes().as_chunks::<4>().0 else {
            unreachable!("sixteen bytes are four numbers")
        };
        self.read(u32::from_le_bytes(*place), u32::from_le_bytes(*count) as usize)
    }

    /// What was written at a place, if nothing was written over it since.
    #[inline]
    pub(super) fn read(&self, place: u32, count: usize) -> Option<&[u32]> {
        let len = self.words.len();
        if (self.head - place) as usize > len {
            return None;
        }
        self.words.get(place as usize & (len - 1)..)?.get(..count)
    }
}
