//! The bucket of the word cache's table: its layout, which the kernels read, and the rules by which
//! words move within it.
//!
//! A slot's ids are packed into it, or stored elsewhere with their place packed into the slot. The
//! control byte of a slot has two flags of the cache: one about the word and, in the first slot of
//! a bucket, one about the bucket. The newest word of a bucket is in its first slot.

use tokenlane_memory::Zeroed;

use crate::packed::PackedIds;
use crate::word_key::Key;

/// In a bucket's first slot: a word with this primary bucket was moved to its secondary bucket.
const OVERFLOW_FLAG: u8 = 0x40;
/// In a word's control byte: the lengths of its tokens depend on the text (see the word cache).
pub const LENGTHS_VARY_FLAG: u8 = 0x80;

/// A short word and its ids.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, align(32))]
pub struct Slot {
    /// The key of the word; zero marks an empty slot.
    pub key: Key,
    /// The ids. A count above [`PackedIds::CAPACITY`] means that they are stored outside of the
    /// slot.
    pub ids: PackedIds,
}

/// Two slots that share a cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub struct Bucket(pub [Slot; 2]);

const _: () = assert!(size_of::<Slot>() == 32 && size_of::<Bucket>() == 64);

// SAFETY: a bucket consists of integers and bytes, without padding, so all bits zero is a value. It
// is a bucket of two empty slots.
unsafe impl Zeroed for Bucket {}

impl Slot {
    /// A slot with its ids packed, if they fit.
    pub fn packed(key: Key, ids: impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + Clone) -> Option<Self> {
        Some(Self { key, ids: PackedIds::new(ids)? })
    }

    /// Sets or clears [`LENGTHS_VARY_FLAG`].
    #[must_use]
    pub fn with_lengths_vary(mut self, lengths_vary: bool) -> Self {
        self.ids.set_flags(LENGTHS_VARY_FLAG, lengths_vary);
        self
    }

    /// Whether there is no word in this slot.
    pub fn is_empty(&self) -> bool {
        self.key == 0
    }
}

impl Bucket {
    /// The slot with this key.
    #[inline(always)]
    pub fn find(&self, key: Key) -> Option<&Slot> {
        // Selected without a branch: which slot a word is in cannot be predicted.
        let slot = &self.0[usize::from(self.0[1].key == key)];
        (slot.key == key).then_some(slot)
    }

    /// Whether a word with this primary bucket may be in its secondary bucket.
    pub fn has_overflow(&self) -> bool {
        self.0[0].ids.control() & OVERFLOW_FLAG != 0
    }

    /// Records that a word with this primary bucket was moved to its secondary bucket.
    pub fn set_overflow(&mut self) {
        self.0[0].ids.set_flags(OVERFLOW_FLAG, true);
    }

    /// Writes a slot. The bucket's overflow flag stays as it is.
    #[inline(always)]
    pub fn set(&mut self, at: usize, slot: Slot) {
        let Slot { key, mut ids } = slot;
        ids.set_flags(OVERFLOW_FLAG, at == 0 && self.has_overflow());
        self.0[at] = Slot { key, ids };
    }

    /// Writes a word to the first slot and moves the word there to the second slot. Returns the
    /// word that this evicts. Replaces the word if it is already in the bucket.
    #[inline(always)]
    pub fn push_front(&mut self, slot: Slot) -> Option<Slot> {
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
        let mut ids = PackedIds::default();
        ids.set_flags(PackedIds::COUNT_MASK, true);
        let again = Slot { key: 1, ids };
        assert_eq!(bucket.push_front(again), None);
        assert_eq!(bucket.0, [again, Slot::default()]);
    }
}
