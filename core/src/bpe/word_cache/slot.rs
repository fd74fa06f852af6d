//! A short word with its ids, and the two that share a cache line.

use super::Hit;
use super::key::Key;
use super::ring::Ring;
use crate::memory::Zeroed;
use crate::simd::append::{Appender, PACKED};

/// In place of a count, and more than fit: the ids stand in the ring.
const IN_RING: u8 = 0xF;
/// The bits of the count.
pub(super) const COUNT: u8 = 0xF;
/// Of the first slot of a line: words whose home it is stand aside.
const OVERFLOWS: u8 = 0x40;
/// Beside a count: see [`Hit::lengths_vary`].
pub(super) const VARIES: u8 = 0x80;

/// A word and its ids.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, align(32))]
pub(super) struct Slot {
    /// Zero marks an empty slot.
    pub(super) key: Key,
    /// [`PACKED`] ids of three bytes, or the ids' place in the ring and their count, of four bytes each; little-endian.
    /// In the last byte the count or [`IN_RING`], [`OVERFLOWS`], and [`VARIES`].
    value: [u8; 16],
}

impl Slot {
    /// Of a few ids, where they fit.
    pub(super) fn packed(
        key: Key,
        ids: impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + Clone,
    ) -> Option<Self> {
        const MASK: u32 = (1 << 24) - 1;
        if ids.len() > PACKED || ids.clone().any(|id| id > MASK) {
            return None;
        }
        let count = ids.len() as u8;
        let value = ids.rev().fold(0u128, |value, id| value << 24 | u128::from(id));
        Some(Self::with_state(key, value, count))
    }

    /// Of ids that stand in the ring.
    pub(super) fn in_ring(key: Key, place: u32, count: u32) -> Self {
        Self::with_state(key, u128::from(place) | u128::from(count) << 32, IN_RING)
    }

    fn with_state(key: Key, value: u128, state: u8) -> Self {
        Self { key, value: (value | u128::from(state) << 120).to_le_bytes() }
    }

    /// Of the [`Self::value`] of another one.
    pub(super) fn from_value(key: Key, value: [u8; 16]) -> Self {
        Self { key, value }
    }

    /// Of the last byte: the count, and what is noted beside it.
    #[inline(always)]
    pub(super) fn state(&self) -> u8 {
        self.value[15]
    }

    /// All but the word, which says the same wherever the slot stands as long as the ids are in it.
    #[inline(always)]
    pub(super) fn value(&self) -> &[u8; 16] {
        &self.value
    }

    pub(super) fn with_lengths_that_vary(mut self, vary: bool) -> Self {
        self.value[15] |= if vary { VARIES } else { 0 };
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.key == 0
    }

    /// Appends the ids, if they are still there.
    #[inline(always)]
    pub(super) fn push(&self, ring: &Ring, ids: &mut Appender<'_>) -> Option<Hit> {
        let state = self.state();
        if !ids.push_packed(&self.value, usize::from(state & COUNT)) {
            ids.extend_from_slice(self.ids_in(ring)?);
        }
        Some(Hit { lengths_vary: state & VARIES != 0 })
    }

    /// The ids that stand in the ring, if they are still there.
    pub(super) fn ids_in<'a>(&self, ring: &'a Ring) -> Option<&'a [u32]> {
        let [place, count, ..] = self.value.as_chunks::<4>().0 else { unreachable!("sixteen bytes are four numbers") };
        ring.get(u32::from_le_bytes(*place), u32::from_le_bytes(*count) as usize)
    }
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [Slot; 2]);

const _: () = assert!(size_of::<Line>() == 64);

// SAFETY: numbers and bytes, of which zero is one; such a line is empty.
#[allow(unsafe_code)]
unsafe impl Zeroed for Line {}

impl Line {
    pub(super) fn overflows(&self) -> bool {
        self.0[0].value[15] & OVERFLOWS != 0
    }

    pub(super) fn set_overflows(&mut self) {
        self.0[0].value[15] |= OVERFLOWS;
    }

    /// Writes to a slot. What is noted of the line stays.
    pub(super) fn set(&mut self, at: usize, slot: Slot) {
        let overflows = self.overflows();
        self.0[at] = slot;
        self.0[at].value[15] &= !OVERFLOWS;
        if overflows {
            self.set_overflows();
        }
    }

    /// Writes a word to the front. The answer is the one that had to go for it.
    pub(super) fn put(&mut self, slot: Slot) -> Option<Slot> {
        // A word that is here, but whose ids are gone from the ring, is written anew, and stands here once.
        if self.0[1].key == slot.key {
            self.set(1, Slot::default());
        }
        let [first, second] = self.0;
        let driven_out = if first.is_empty() || first.key == slot.key {
            None
        } else {
            self.set(1, first);
            (!second.is_empty()).then_some(second)
        };
        self.set(0, slot);
        driven_out
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
        let mut line = Line::default();
        assert_eq!(line.put(slot(1)), None);
        assert_eq!(line.put(slot(2)), None);
        // As when the word in front was brought home to another line.
        line.set(0, Slot::default());
        let again = Slot::in_ring(1, 5, 6);
        assert_eq!(line.put(again), None);
        assert_eq!(line.0, [again, Slot::default()]);
    }

    #[test]
    fn a_slot_knows_what_fits() {
        assert!(Slot::packed(1, [1 << 24].into_iter()).is_none());
        assert!(Slot::packed(1, [1; PACKED + 1].into_iter()).is_none());
        assert!(Slot::packed(1, [(1 << 24) - 1; PACKED].into_iter()).is_some());
    }
}
