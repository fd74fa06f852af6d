//! A short word with its ids, and the two that share a cache line.

use super::Hit;
use super::key::Key;
use super::spill_ring::SpillRing;
use crate::memory::Zeroed;
use crate::simd::append::Appender;
use crate::simd::packed::PackedIds;

/// Of the first slot of a line: words whose home it is stand aside.
const OVERFLOW_FLAG: u8 = 0x40;
/// Beside a count: see [`Hit::lengths_vary`].
pub(super) const LENGTHS_VARY_FLAG: u8 = 0x80;

/// A word and its ids.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, align(32))]
pub(super) struct Slot {
    /// Zero marks an empty slot.
    pub(super) key: Key,
    /// The ids, or where they stand in the ring. Beside their count [`OVERFLOWS`], and [`VARIES`].
    value: PackedIds,
}

impl Slot {
    /// Of a few ids, where they fit.
    pub(super) fn packed(key: Key, ids: impl ExactSizeIterator<Item = u32> + Clone) -> Option<Self> {
        Some(Self { key, value: PackedIds::new(ids)? })
    }

    /// Of ids that are put in the ring, if that has room for so many.
    pub(super) fn spilled(
        key: Key,
        ids: impl ExactSizeIterator<Item = u32> + Clone,
        ring: &mut SpillRing,
    ) -> Option<Self> {
        Some(Self { key, value: ring.spill_ids(ids)? })
    }

    /// Of the [`Self::value`] of another one.
    pub(super) fn from_value(key: Key, value: [u8; 16]) -> Self {
        Self { key, value: PackedIds::from_bytes(value) }
    }

    /// All but the word, which says the same wherever the slot stands as long as the ids are in it.
    #[inline(always)]
    pub(super) fn value(&self) -> &PackedIds {
        &self.value
    }

    pub(super) fn with_lengths_vary(mut self, vary: bool) -> Self {
        self.value.set_flags(LENGTHS_VARY_FLAG, vary);
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.key == 0
    }

    /// Appends the ids, if they are still there.
    #[inline(always)]
    pub(super) fn append_ids(&self, ring: &SpillRing, ids: &mut Appender<'_>) -> Option<Hit> {
        if !ids.push_packed(&self.value) {
            ids.extend_from_slice(ring.spilled_ids(&self.value)?);
        }
        Some(Hit { lengths_vary: self.value.control() & LENGTHS_VARY_FLAG != 0 })
    }
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub(super) struct Bucket(pub(super) [Slot; 2]);

const _: () = assert!(size_of::<Bucket>() == 64);

// SAFETY: numbers and bytes, of which zero is one; such a line is empty.
#[allow(unsafe_code)]
unsafe impl Zeroed for Bucket {}

impl Bucket {
    pub(super) fn has_overflow(&self) -> bool {
        self.0[0].value.control() & OVERFLOW_FLAG != 0
    }

    pub(super) fn set_overflow(&mut self) {
        self.0[0].value.set_flags(OVERFLOW_FLAG, true);
    }

    /// Writes to a slot. What is noted of the line stays.
    pub(super) fn set(&mut self, at: usize, slot: Slot) {
        let overflows = self.has_overflow();
        self.0[at] = slot;
        self.0[at].value.set_flags(OVERFLOW_FLAG, false);
        if overflows {
            self.set_overflow();
        }
    }

    /// Writes a word to the front. The answer is the one that had to go for it.
    pub(super) fn push_front(&mut self, slot: Slot) -> Option<Slot> {
        // A word that is here, but whose ids are gone from the ring, is written anew, and stands here once.
        if self.0[1].key == slot.key {
            self.set(1, Slot::default());
        }
        let [first, second] = self.0;
        let evicted = if first.is_empty() || first.key == slot.key {
            None
        } else {
            self.set(1, first);
            (!second.is_empty()).then_some(second)
        };
        self.set(0, slot);
        evicted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(number: u32) -> Slot {
        Slot::packed(Key::from(number), [number].into_iter()).expect("a small id")
    }

    #[test]
    fn a_word_stands_in_a_line_once() {
        let mut bucket = Bucket::default();
        assert_eq!(bucket.push_front(slot(1)), None);
        assert_eq!(bucket.push_front(slot(2)), None);
        // As when the word in front was brought home to another line.
        bucket.set(0, Slot::default());
        let again = Slot::spilled(1, 0..9, &mut SpillRing::new(128)).expect("there is room");
        assert_eq!(bucket.push_front(again), None);
        assert_eq!(bucket.0, [again, Slot::default()]);
    }
}
