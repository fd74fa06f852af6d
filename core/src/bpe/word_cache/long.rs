//! Words that are too long to be their own keys, found by their hash. Both their ids and their bytes stand in the ring.

use foldhash::fast::RandomState;
use std::hash::BuildHasher;

use super::Hit;
use super::spill_ring::SpillRing;
use crate::memory::fallible::append;
use crate::memory::{Table, Zeroed};
use crate::simd;

/// The ids come first in the ring, then the bytes, four to a number.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
struct LongSlot {
    hash: u64,
    place: u32,
    len: u16,
    /// How many ids there are, at most one per byte.
    count: u16,
}

const _: () = assert!(size_of::<LongSlot>() == 16);

// SAFETY: numbers, of which zero is one; what it points to is empty.
#[allow(unsafe_code)]
unsafe impl Zeroed for LongSlot {}

/// In a slot's `len`: see [`Hit::lengths_vary`].
const LENGTHS_VARY_FLAG: u16 = 1 << 15;

/// Each word belongs to two slots next to each other, of which the newer word has the first.
#[derive(Debug)]
pub(super) struct LongWords {
    slots: Table<LongSlot>,
    hasher: RandomState,
}

impl LongWords {
    /// So many slots, a power of two or none.
    pub(super) fn new(slots: usize) -> Self {
        Self { slots: Table::zeroed(slots), hasher: RandomState::default() }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.slots.memory_bytes()
    }

    /// Asks ahead for where a word would be.
    #[inline(always)]
    pub(super) fn prefetch(&self, word: &[u8]) {
        if word.len() <= super::MAX_WORD_LEN {
            simd::prefetch_at(&self.slots, self.bucket(self.hasher.hash_one(word)));
        }
    }

    /// Appends the ids of a word, if it is known.
    pub(super) fn append_ids(&self, word: &[u8], ring: &SpillRing, ids: &mut Vec<u32>) -> Option<Hit> {
        let (hit, known) = self.find(word, ring)?;
        append(ids, known);
        Some(hit)
    }

    /// The ids of a word, if it is known.
    pub(super) fn find<'a>(&self, word: &[u8], ring: &'a SpillRing) -> Option<(Hit, &'a [u32])> {
        let hash = self.hasher.hash_one(word);
        let at = self.bucket(hash);
        self.slots[at..at + 2].iter().find_map(|slot| {
            let (len, count) = (usize::from(slot.len & !LENGTHS_VARY_FLAG), usize::from(slot.count));
            if slot.hash != hash || len != word.len() {
                return None;
            }
            let all = ring.read(slot.place, count + len.div_ceil(4))?;
            let hit = Hit { lengths_vary: slot.len & LENGTHS_VARY_FLAG != 0 };
            same_bytes(&all[count..], word).then(|| (hit, &all[..count]))
        })
    }

    /// Writes a word that was not found.
    pub(super) fn insert(
        &mut self,
        word: &[u8],
        ids: impl ExactSizeIterator<Item = u32> + Clone,
        lengths_vary: bool,
        ring: &mut SpillRing,
    ) {
        let count = ids.len() as u16;
        let Some(place) = ring.write(ids.chain(pack_bytes(word))) else { return };
        let hash = self.hasher.hash_one(word);
        let len = word.len() as u16 | if lengths_vary { LENGTHS_VARY_FLAG } else { 0 };
        let at = self.bucket(hash);
        self.slots[at + 1] = self.slots[at];
        self.slots[at] = LongSlot { hash, place, len, count };
    }

    /// Forgets all words.
    pub(super) fn clear(&mut self) {
        self.slots.fill(LongSlot::default());
    }

    /// The first of the two slots that a word belongs to.
    fn bucket(&self, hash: u64) -> usize {
        hash as usize & self.slots.len().wrapping_sub(2)
    }
}

/// The bytes of a word, four to a number, zeros at the end.
fn pack_bytes(word: &[u8]) -> impl Iterator<Item = u32> + Clone {
    word.chunks(4).map(|bytes| {
        let mut four = [0; 4];
        four[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(four)
    })
}

/// Whether `numbers` are `word` packed; its length is known to fit.
fn same_bytes(numbers: &[u32], word: &[u8]) -> bool {
    let (fours, rest) = word.as_chunks::<4>();
    // Four at a time are one step, without a question for each.
    let (sixteens, further) = fours.as_chunks::<4>();
    let (known, known_further) = numbers.split_at(4 * sixteens.len());
    let differ = |four: &[[u8; 4]; 4], known: &[u32; 4]| {
        four.iter().zip(known).fold(0, |bits, (&four, &known)| bits | (u32::from_le_bytes(four) ^ known)) != 0
    };
    !sixteens.iter().zip(known.as_chunks().0).any(|(four, known)| differ(four, known))
        && further.iter().zip(known_further).all(|(&four, &known)| u32::from_le_bytes(four) == known)
        && pack_bytes(rest).eq(known_further[further.len()..].iter().copied())
}
