//! The contents of a slot of the word cache, and the rules by which words move within a bucket.
//!
//! [`crate::simd::probe`] defines the layouts [`Slot`] and [`Bucket`], which its kernels read. A
//! slot's ids are packed into it, or spilled to the ring with their place packed into the slot. The
//! control byte of a slot has two flags of the cache: one about the word and, in the first slot of
//! a bucket, one about the bucket. The newest word of a bucket is in its first slot.

use super::WordFlags;
use super::spill_ring::SpillRing;
use crate::memory::Zeroed;
use crate::simd::append::Appender;
use crate::simd::packed::PackedIds;
pub(super) use crate::simd::probe::{Bucket, Slot};
use crate::word_key::Key;

/// In a bucket's first slot: a word with this primary bucket was moved to its secondary bucket.
const OVERFLOW_FLAG: u8 = 0x40;
/// In a word's control byte: see [`WordFlags::lengths_vary`].
pub(super) const LENGTHS_VARY_FLAG: u8 = 0x80;

// SAFETY: a bucket consists of integers and bytes, without padding, so all bits zero is a value. It
// is a bucket of two empty slots.
#[allow(unsafe_code, reason = "the trait is unsafe to implement")]
unsafe impl Zeroed for Bucket {}

impl Slot {
    /// A slot with its ids packed, if they fit.
    pub(super) fn packed(
        key: Key,
        ids: impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + Clone,
    ) -> Option<Self> {
        Some(Self { key, ids: PackedIds::new(ids)? })
    }

    /// A slot whose ids are spilled to the ring, if the ring has space for that many.
    pub(super) fn spilled(
        key: Key,
        ids: impl ExactSizeIterator<Item = u32> + Clone,
        ring: &mut SpillRing,
    ) -> Option<Self> {
        Some(Self { key, ids: ring.spill_ids(ids)? })
    }

    pub(super) fn with_lengths_vary(mut self, lengths_vary: bool) -> Self {
        self.ids.set_flags(LENGTHS_VARY_FLAG, lengths_vary);
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.key == 0
    }

    /// Appends the ids, unless they were overwritten in the ring.
    #[inline(always)]
    pub(super) fn append_ids(&self, ring: &SpillRing, ids: &mut Appender<'_>) -> Option<WordFlags> {
        if !ids.push_packed(&self.ids) {
            ids.extend_from_slice(ring.spilled_ids(&self.ids)?);
        }
        Some(WordFlags { lengths_vary: self.ids.control() & LENGTHS_VARY_FLAG != 0 })
    }
}

impl Bucket {
    /// Whether a word with this primary bucket may be in its secondary bucket.
    pub(super) fn has_overflow(&self) -> bool {
        self.0[0].ids.control() & OVERFLOW_FLAG != 0
    }

    pub(super) fn set_overflow(&mut self) {
        self.0[0].ids.set_flags(OVERFLOW_FLAG, true);
    }

    /// Writes a slot. The bucket's overflow flag stays as it is.
    #[inline(always)]
    pub(super) fn set(&mut self, at: usize, slot: Slot) {
        let Slot { key, mut ids } = slot;
        ids.set_flags(OVERFLOW_FLAG, at == 0 && self.has_overflow());
        self.0[at] = Slot { key, ids };
    }

    /// Writes a word to the first slot and moves the word there to the second slot. Returns the
    /// word that this evicts. Replaces the word if it is already in the bucket.
    #[inline(always)]
    pub(super) fn push_front(&mut self, slot: Slot) -> Option<Slot> {
        // If the word is in the bucket, its spilled ids were overwritten. It must not be in the
        // bucket twice.
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
    fn a_word_is_in_a_bucket_once() {
        let mut bucket = Bucket::default();
        assert_eq!(bucket.push_front(slot(1)), None);
        assert_eq!(bucket.push_front(slot(2)), None);
        // As after the first word was promoted to another bucket.
        bucket.set(0, Slot::default());
        let again = Slot::spilled(1, 0..9, &mut SpillRing::new(128)).expect("the ring is large enough");
        assert_eq!(bucket.push_front(again), None);
        assert_eq!(bucket.0, [again, Slot::default()]);
    }
}
