//! The table of longer words, found by their hash. A slot has the position of an entry in the spill
//! ring, which contains the ids and the bytes of the word. The table also has words that the table
//! of medium words evicted or could not store.

use foldhash::fast::RandomState;
use std::hash::BuildHasher;

use super::WordFlags;
use super::spill_ring::SpillRing;
use crate::memory::fallible::append;
use crate::memory::{Table, Zeroed};
use crate::simd;

/// A word's position in the ring. The ids come first, then the bytes, four to a number.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
struct LongSlot {
    hash: u64,
    position: u32,
    /// The word's length in bytes, with [`LENGTHS_VARY_FLAG`].
    len: u16,
    /// The number of ids.
    count: u16,
}

const _: () = assert!(size_of::<LongSlot>() == 16);

// SAFETY: a slot consists of integers, without padding, so all bits zero is a value. It is the slot
// of an empty word, which is never looked up.
#[allow(unsafe_code, reason = "the trait is unsafe to implement")]
unsafe impl Zeroed for LongSlot {}

/// In a slot's length: see [`WordFlags::lengths_vary`].
const LENGTHS_VARY_FLAG: u16 = 1 << 15;

/// The table. See the module documentation. A bucket is two adjacent slots; the newer word is in
/// the first.
#[derive(Debug)]
pub(super) struct LongWords {
    slots: Table<LongSlot>,
    hasher: RandomState,
}

impl LongWords {
    /// A table of `slots` slots, a power of two or zero.
    pub(super) fn new(slots: usize) -> Self {
        Self { slots: Table::zeroed(slots), hasher: RandomState::default() }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.slots.memory_bytes()
    }

    /// Prefetches a word's bucket.
    #[inline(always)]
    pub(super) fn prefetch(&self, word: &[u8]) {
        if word.len() <= super::MAX_WORD_LEN {
            simd::prefetch_at(&self.slots, self.bucket(self.hasher.hash_one(word)));
        }
    }

    /// Appends the ids of a word, if it is in the table.
    pub(super) fn append_ids(&self, word: &[u8], ring: &SpillRing, ids: &mut Vec<u32>) -> Option<WordFlags> {
        let (flags, found) = self.find(word, ring)?;
        append(ids, found);
        Some(flags)
    }

    /// The ids of a word, if it is in the table.
    pub(super) fn find<'a>(&self, word: &[u8], ring: &'a SpillRing) -> Option<(WordFlags, &'a [u32])> {
        let hash = self.hasher.hash_one(word);
        let at = self.bucket(hash);
        self.slots[at..at + 2].iter().find_map(|slot| {
            let (len, count) = (usize::from(slot.len & !LENGTHS_VARY_FLAG), usize::from(slot.count));
            if slot.hash != hash || len != word.len() {
                return None;
            }
            let entry = ring.read(slot.position, count + len.div_ceil(4))?;
            let flags = WordFlags { lengths_vary: slot.len & LENGTHS_VARY_FLAG != 0 };
            has_bytes(&entry[count..], word).then(|| (flags, &entry[..count]))
        })
    }

    /// Inserts a word that was not found.
    pub(super) fn insert(
        &mut self,
        word: &[u8],
        ids: impl ExactSizeIterator<Item = u32> + Clone,
        lengths_vary: bool,
        ring: &mut SpillRing,
    ) {
        let count = ids.len() as u16;
        let Some(position) = ring.write(ids.chain(pack_bytes(word))) else { return };
        let hash = self.hasher.hash_one(word);
        let len = word.len() as u16 | if lengths_vary { LENGTHS_VARY_FLAG } else { 0 };
        let at = self.bucket(hash);
        self.slots[at + 1] = self.slots[at];
        self.slots[at] = LongSlot { hash, position, len, count };
    }

    /// Removes all words.
    pub(super) fn clear(&mut self) {
        self.slots.fill(LongSlot::default());
    }

    /// The first slot of a hash's bucket.
    fn bucket(&self, hash: u64) -> usize {
        hash as usize & self.slots.len().wrapping_sub(2)
    }
}

/// The bytes of a word, four to a number, with zeros at the end.
fn pack_bytes(word: &[u8]) -> impl Iterator<Item = u32> + Clone {
    word.chunks(4).map(|bytes| {
        let mut four = [0; 4];
        four[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(four)
    })
}

/// Whether `numbers` are the packed bytes of `word`, which has that length.
fn has_bytes(numbers: &[u32], word: &[u8]) -> bool {
    let (fours, rest) = word.as_chunks::<4>();
    // Sixteen bytes are compared at once, without a branch for every four.
    let (sixteens, further) = fours.as_chunks::<4>();
    let (first, last) = numbers.split_at(4 * sixteens.len());
    let differ = |four: &[[u8; 4]; 4], numbers: &[u32; 4]| {
        four.iter().zip(numbers).fold(0, |bits, (&four, &number)| bits | (u32::from_le_bytes(four) ^ number)) != 0
    };
    !sixteens.iter().zip(first.as_chunks().0).any(|(four, numbers)| differ(four, numbers))
        && further.iter().zip(last).all(|(&four, &number)| u32::from_le_bytes(four) == number)
        && pack_bytes(rest).eq(last[further.len()..].iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_word_that_differs_in_one_bit_is_distinguished(
            word in prop::collection::vec(any::<u8>(), 1..=256),
            at in any::<prop::sample::Index>(),
            bit in 0u8..8,
        ) {
            let numbers: Vec<u32> = pack_bytes(&word).collect();
            prop_assert!(has_bytes(&numbers, &word));
            let mut other = word.clone();
            other[at.index(word.len())] ^= 1 << bit;
            prop_assert!(!has_bytes(&numbers, &other));
        }
    }
}
