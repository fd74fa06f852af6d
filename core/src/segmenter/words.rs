//! The buffer of normalized words, and their positions in the original.

use crate::memory::Grow;
use crate::memory::fallible::{append_copies, push};
use crate::pretokenizer::scanner::WORDS_AT_A_TIME;
use crate::simd::{BLOCK, Simd};
use crate::span::Span;

/// The words that a segmenter wrote last. The buffers are reused from text to text.
#[derive(Debug)]
pub(crate) struct SegmentedWords {
    /// The words are the first `len` bytes; the rest is spare room.
    bytes: Vec<u8>,
    len: usize,
    /// End of each word.
    ends: Vec<u32>,
    /// If tracked: start of each word in the text.
    starts: Vec<u32>,
    /// Words whose bytes do not map one to one to bytes of the text, in order: number of the word,
    /// and index of its first byte in `spans`.
    changed: Vec<(u32, u32)>,
    spans: Vec<Span>,
    tracked: bool,
    /// Whether each word starts with a mark that is not in the text and has the span of the next
    /// character.
    marked: bool,
}

impl Default for SegmentedWords {
    fn default() -> Self {
        Self {
            bytes: vec![],
            len: 0,
            ends: Vec::with_capacity(WORDS_AT_A_TIME),
            starts: vec![],
            changed: vec![],
            spans: vec![],
            tracked: false,
            marked: false,
        }
    }
}

impl SegmentedWords {
    pub(super) fn clear(&mut self, tracked: bool) {
        self.len = 0;
        self.ends.clear();
        self.starts.clear();
        self.changed.clear();
        self.spans.clear();
        self.tracked = tracked;
        self.marked = false;
    }

    /// Sets `marked`.
    pub(super) fn marks_are_put(&mut self, marked: bool) {
        self.marked = marked;
    }

    /// The words, one directly after the other.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The words followed by spare room, so that the last words can be read with wide loads.
    pub(crate) fn padded_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// End of each word in [`Self::bytes`].
    pub(crate) fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// The span in the text of bytes `start..end` of a word, if tracked.
    pub(crate) fn origin(&self, start: usize, end: usize) -> [u32; 2] {
        let word = self.ends.partition_point(|&word_end| word_end as usize <= start);
        self.origin_in(word, start, end)
    }

    /// The same for a word whose number is known.
    #[inline]
    pub(crate) fn origin_in(&self, word: usize, start: usize, end: usize) -> [u32; 2] {
        let first = if word == 0 { 0 } else { self.ends[word - 1] as usize };
        let (from, to) = (start - first, end - first);
        if let Ok(place) = self.changed.binary_search_by_key(&(word as u32), |&(word, _)| word) {
            let spans = &self.spans[self.changed[place].1 as usize..];
            return [spans[from].start, spans[to - 1].end];
        }
        let start = self.starts[word];
        if self.marked {
            let to = if to == 1 { character_len(self.bytes[first + 1]) } else { to - 1 };
            return [start + from.saturating_sub(1) as u32, start + to as u32];
        }
        [start + from as u32, start + to as u32]
    }

    /// Number of the word that starts at a byte of the buffer.
    pub(crate) fn word_at(&self, start: u32) -> usize {
        self.ends.partition_point(|&end| end <= start)
    }

    /// Whether the ends of another block's words fit.
    #[inline(always)]
    pub(super) fn has_room(&self) -> bool {
        self.ends.len() + BLOCK <= self.ends.capacity()
    }

    /// Ensures spare room for two blocks.
    #[inline(always)]
    pub(super) fn reserve(&mut self) {
        if self.bytes.len() < self.len + 2 * BLOCK {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let room = (self.len + 2 * BLOCK).max(16 << 10).next_power_of_two();
        let more = room - self.bytes.len();
        append_copies(&mut self.bytes, 0, more);
    }

    /// Appends the bytes of a block selected by `kept`; words start at the bits of `starts`. The
    /// block is at `at` in the text.
    #[inline(always)]
    pub(super) fn push_block(&mut self, simd: Simd, block: &[u8; BLOCK], at: usize, kept: u64, starts: u64) {
        let room = self.bytes[self.len..].first_chunk_mut().expect("`reserve` made room");
        simd.compress(block, kept, room);
        let mut ends = simd.pext(starts, kept);
        if self.len == 0 {
            // No word ends where the first one starts.
            ends &= !1;
        }
        simd.push_positions(ends, self.len as u32, &mut self.ends);
        if self.tracked {
            self.starts.grow(BLOCK);
            simd.push_positions(starts, (at + usize::from(self.marked)) as u32, &mut self.starts);
        }
        self.len += kept.count_ones() as usize;
    }

    /// Starts a word whose first byte comes from byte `at` of the text.
    #[inline(always)]
    pub(super) fn start_word(&mut self, at: usize) {
        if self.len > 0 {
            self.ends.push(self.len as u32);
        }
        if self.tracked {
            self.starts.push(at as u32);
        }
    }

    /// Appends the first `len` bytes of an entry.
    #[inline(always)]
    pub(super) fn push(&mut self, entry: &[u8; 16], len: usize) {
        *self.bytes[self.len..].first_chunk_mut().expect("`reserve` made room") = *entry;
        self.len += len;
    }

    /// Removes the last `len` bytes, which belong to the last word.
    pub(super) fn take_back(&mut self, len: usize) {
        self.len -= len;
    }

    /// Records that the bytes of the last word do not map one to one to the text.
    #[inline(always)]
    pub(super) fn note_change(&mut self) {
        if self.tracked {
            let word = self.starts.len() as u32 - 1;
            if self.changed.last().is_none_or(|&(last, _)| last != word) {
                push(&mut self.changed, (word, 0));
            }
        }
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
        self.starts.pop();
        let words = self.starts.len() as u32;
        self.changed.pop_if(|&mut (word, _)| word >= words);
    }

    /// Computes the spans of the changed words. `write` appends the spans of a word, given its
    /// start in the text and its length in the buffer.
    pub(super) fn set_spans(&mut self, mut write: impl FnMut(usize, usize, &mut Vec<Span>)) {
        for (word, place) in &mut self.changed {
            let word = *word as usize;
            *place = self.spans.len() as u32;
            let start = if word == 0 { 0 } else { self.ends[word - 1] };
            write(self.starts[word] as usize, (self.ends[word] - start) as usize, &mut self.spans);
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity() + self.spans.capacity() * size_of::<Span>()
    }
}

/// Length in bytes of the character that starts with this byte.
fn character_len(first: u8) -> usize {
    (first.leading_ones() as usize).max(1)
}
