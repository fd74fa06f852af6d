//! The buffer of normalized words, and the origin of each byte.

use crate::memory::fallible::append_copies;
use crate::pretokenizer::scanner::WORDS_AT_A_TIME;
use crate::simd::bits::positions;
use crate::simd::{BLOCK, BYTE_POSITIONS, Simd};

/// The words that a segmenter wrote last. The buffers are reused from text to text.
#[derive(Debug)]
pub(crate) struct SegmentedWords {
    /// The words are the first `len` bytes; the rest is spare capacity.
    bytes: Vec<u8>,
    len: usize,
    /// End of each word.
    ends: Vec<u32>,
    /// If tracked, for each byte: a byte of the text within the character that it comes from, and
    /// then as much spare capacity as in `bytes`.
    origins: Vec<u32>,
    tracked: bool,
    /// Whether each word starts with a meta symbol that is not in the text. Its origin is the
    /// character after it.
    inserts_meta_symbols: bool,
}

/// The words of a block, as a bit for each of its bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordMasks {
    /// Bytes of words.
    pub(super) kept: u64,
    /// The first byte of each word.
    pub(super) starts: u64,
    /// The origin of the first byte of each word, in the same order.
    pub(super) origins: u64,
}

impl Default for SegmentedWords {
    fn default() -> Self {
        Self {
            bytes: vec![],
            len: 0,
            ends: Vec::with_capacity(WORDS_AT_A_TIME),
            origins: vec![],
            tracked: false,
            inserts_meta_symbols: false,
        }
    }
}

impl SegmentedWords {
    pub(super) fn clear(&mut self, tracked: bool) {
        self.len = 0;
        self.ends.clear();
        self.tracked = tracked;
        self.inserts_meta_symbols = false;
        self.grow_origins();
    }

    pub(super) fn set_inserts_meta_symbols(&mut self, inserts_meta_symbols: bool) {
        self.inserts_meta_symbols = inserts_meta_symbols;
    }

    #[inline(always)]
    pub(super) fn is_tracked(&self) -> bool {
        self.tracked
    }

    /// The words, one directly after the other.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The words followed by spare capacity, so that the last words can be read with wide loads.
    pub(crate) fn padded_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// End of each word in [`Self::bytes`].
    pub(crate) fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// The range of the text, in whole characters, that bytes `start..end` of the buffer come from.
    /// The range is not empty, and its origins are tracked.
    pub(crate) fn origin(&self, start: usize, end: usize, text: &str) -> [u32; 2] {
        let [first, last] = [start, end - 1].map(|at| self.origins[at] as usize);
        [text.floor_char_boundary(first) as u32, text.ceil_char_boundary(last + 1) as u32]
    }

    /// The ranges of the text that adjacent tokens come from. The first token starts at byte
    /// `start` of the buffer, and no token is empty. `base` is added to the ranges. Both ends of a
    /// range may be within the characters that [`Self::origin`] would return.
    #[inline]
    pub(crate) fn origins_of(
        &self,
        start: u32,
        base: u32,
        lens: impl ExactSizeIterator<Item = u32>,
    ) -> impl ExactSizeIterator<Item = [u32; 2]> {
        let (origins, mut at) = (&self.origins[..self.len], start as usize);
        lens.map(move |len| {
            let first = origins[at];
            at += len as usize;
            [first + base, origins[at - 1] + base + 1]
        })
    }

    /// Whether there is capacity for the ends of a block's words and of a word before the block.
    #[inline(always)]
    pub(super) fn has_capacity(&self) -> bool {
        self.ends.len() < self.ends.capacity() - BLOCK
    }

    /// Ensures spare capacity for two blocks.
    #[inline(always)]
    pub(super) fn reserve(&mut self) {
        if self.bytes.len() < self.len + 2 * BLOCK {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = (self.len + 2 * BLOCK).max(16 << 10).next_power_of_two();
        let more = capacity - self.bytes.len();
        append_copies(&mut self.bytes, 0, more);
        self.grow_origins();
    }

    /// Gives `origins` as much capacity as `bytes` has, if tracked.
    fn grow_origins(&mut self) {
        if self.tracked && self.origins.len() < self.bytes.len() {
            let more = self.bytes.len() - self.origins.len();
            append_copies(&mut self.origins, 0, more);
        }
    }

    /// Appends the words of a block, which is at byte `at` of the text.
    #[inline(always)]
    pub(super) fn push_block(&mut self, simd: Simd, block: &[u8; BLOCK], at: usize, masks: WordMasks) {
        let WordMasks { kept, starts, origins } = masks;
        let free = self.bytes[self.len..].first_chunk_mut().expect("`reserve` grew the list");
        simd.compress(block, kept, free);
        let mut ends = simd.pext(starts, kept);
        if self.tracked {
            let written = &mut self.origins[self.len..][..BLOCK];
            let mut bytes = [0; BLOCK];
            simd.compress(&BYTE_POSITIONS, kept, &mut bytes);
            written.iter_mut().zip(bytes).for_each(|(origin, byte)| *origin = at as u32 + u32::from(byte));
            if self.inserts_meta_symbols || starts != origins {
                let first = at + usize::from(self.inserts_meta_symbols);
                for (word, origin) in positions(ends).zip(positions(origins)) {
                    written[word] = (first + origin) as u32;
                }
            }
        }
        if self.len == 0 {
            // No word ends where the first one starts.
            ends &= !1;
        }
        simd.push_positions(ends, self.len as u32, &mut self.ends);
        self.len += kept.count_ones() as usize;
    }

    /// Ends the last word, if there is one. The next byte starts a word.
    #[inline(always)]
    pub(super) fn start_word(&mut self) {
        if self.len > 0 {
            self.ends.push(self.len as u32);
        }
    }

    /// Sets the origin of the first byte of the last word to byte `at` of the text.
    #[inline(always)]
    pub(super) fn move_start(&mut self, at: usize) {
        if self.tracked {
            let start = self.ends.last().map_or(0, |&end| end as usize);
            self.origins[start] = at as u32;
        }
    }

    /// Appends the first `len` bytes of an entry for the character at byte `at` of the text.
    #[inline(always)]
    pub(super) fn push(&mut self, entry: &[u8; 16], len: usize, at: usize) {
        *self.bytes[self.len..].first_chunk_mut().expect("`reserve` grew the list") = *entry;
        if self.tracked {
            self.origins[self.len..][..16].fill(at as u32);
        }
        self.len += len;
    }

    /// Removes the last `len` bytes, which belong to the last word, so that others replace them.
    pub(super) fn take_back(&mut self, len: usize) {
        self.len -= len;
    }

    /// Ends the last word, if there is one.
    pub(super) fn end(&mut self) {
        if self.len > self.ends.last().map_or(0, |&end| end as usize) {
            self.ends.push(self.len as u32);
        }
    }

    /// Removes the last word, which has not ended.
    pub(super) fn drop_last(&mut self) {
        self.len = self.ends.last().map_or(0, |&end| end as usize);
    }

    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity() + self.origins.capacity() * size_of::<u32>()
    }
}
