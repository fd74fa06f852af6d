//! The buffer of normalized words, and their positions in the original.

use crate::memory::Grow;
use crate::memory::fallible::{append_copies, push};
use crate::pretokenizer::scanner::WORDS_AT_A_TIME;
use crate::simd::bits::positions;
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

    /// The number of the word that starts at byte `start` of the buffer; `guess` is tried first.
    #[inline]
    fn word_at(&self, start: u32, guess: usize) -> usize {
        let starts_there = |word: usize| start == if word == 0 { 0 } else { self.ends[word - 1] };
        if guess < self.ends.len() && starts_there(guess) {
            return guess;
        }
        self.ends.partition_point(|&end| end <= start)
    }

    /// The index in `changed` of the first word from `word` on.
    fn changed_from(&self, word: usize) -> usize {
        self.changed.partition_point(|&(changed, _)| (changed as usize) < word)
    }

    /// The origins of the words from the one at byte `start` of the buffer on, if tracked.
    /// `guess` is the likely number of that word.
    pub(crate) fn origins_from(&self, start: u32, guess: usize) -> WordOrigins<'_> {
        let word = self.word_at(start, guess);
        let mut origins = WordOrigins {
            words: self,
            next_word: word,
            next_changed: self.changed_from(word),
            first: if word == 0 { 0 } else { self.ends[word - 1] },
            end: 0,
            start: 0,
            spans: None,
        };
        if word < self.ends.len() {
            origins.next_word();
        }
        origins
    }

    /// Appends the origins of the adjacent tokens of `count` words, the first of which starts at
    /// byte `start` of the buffer and has the likely number `guess`. `base` is added to them. Each
    /// word has a token, and no token is empty.
    #[inline]
    pub(crate) fn push_origins(
        &self,
        (start, guess, count): (u32, usize, usize),
        base: u32,
        lens: impl ExactSizeIterator<Item = u32>,
        to: &mut Vec<[u32; 2]>,
    ) {
        let mut word = self.word_at(start, guess);
        let changed = self.changed.get(self.changed_from(word));
        if self.marked || changed.is_some_and(|&(changed, _)| (changed as usize) < word + count) {
            let (mut origins, mut at) = (self.origins_from(start, word), start);
            to.extend(lens.map(|len| {
                let end = at + len;
                let origin = origins.origin(at as usize, end as usize).map(|at| at + base);
                at = end;
                origin
            }));
            return;
        }
        let (mut at, mut first) = (start, start);
        let (starts, ends) = (&self.starts[..self.ends.len()], &self.ends[..]);
        to.extend(lens.map(|len| {
            // Selected without a branch: how many tokens a word has cannot be predicted.
            let is_next = at >= ends[word];
            first = std::hint::select_unpredictable(is_next, at, first);
            word += usize::from(is_next);
            let origin = starts[word] + (at - first) + base;
            at += len;
            [origin, origin + len]
        }));
    }

    /// Whether the ends of another block's words fit, and of a word that starts before the block.
    #[inline(always)]
    pub(super) fn has_room(&self) -> bool {
        self.ends.len() < self.ends.capacity() - BLOCK
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

    /// Appends the bytes of a block selected by `kept`; words start at the bits of `starts`. If
    /// tracked, they come from the bits of `origins`, which are as many. The block is at byte `at`
    /// of the text.
    #[inline(always)]
    pub(super) fn push_block(
        &mut self,
        simd: Simd,
        block: &[u8; BLOCK],
        at: usize,
        kept: u64,
        starts: u64,
        origins: u64,
    ) {
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
            simd.push_positions(origins, (at + usize::from(self.marked)) as u32, &mut self.starts);
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

    /// Moves the start of the last word to byte `at` of the text.
    #[inline(always)]
    pub(super) fn move_start(&mut self, at: usize) {
        if let Some(start) = self.starts.last_mut() {
            *start = at as u32;
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

    /// [`Self::note_change`] for the words of a block that have bytes in `changed`. The block was
    /// pushed last, with these `starts`.
    #[inline(always)]
    pub(super) fn note_changes(&mut self, starts: u64, changed: u64) {
        if self.tracked && changed != 0 {
            self.note_words(starts, changed);
        }
    }

    #[inline(never)]
    fn note_words(&mut self, starts: u64, changed: u64) {
        let before = self.starts.len() as u32 - starts.count_ones();
        for at in positions(changed) {
            let word = before + (starts & (2u64 << at).wrapping_sub(1)).count_ones() - 1;
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

/// The origins of words, in order; see [`SegmentedWords::origins_from`].
#[derive(Debug)]
pub(crate) struct WordOrigins<'a> {
    words: &'a SegmentedWords,
    next_word: usize,
    /// Index in `changed` of the first word from `next_word` on.
    next_changed: usize,
    /// Start and end of the current word in the buffer.
    first: u32,
    end: u32,
    /// Start of the current word in the text, and its spans if they do not follow from it.
    start: u32,
    spans: Option<&'a [Span]>,
}

impl WordOrigins<'_> {
    /// The span in the text of bytes `start..end` of a word. Words must come in order.
    #[inline(always)]
    pub(crate) fn origin(&mut self, start: usize, end: usize) -> [u32; 2] {
        while start >= self.end as usize {
            self.first = self.end;
            self.next_word();
        }
        let (from, to) = (start as u32 - self.first, end as u32 - self.first);
        if self.spans.is_none() && !self.words.marked {
            return [self.start + from, self.start + to];
        }
        self.odd_origin(from, to)
    }

    /// [`Self::origin`] of a word with spans or with a mark that is not in the text.
    #[inline(never)]
    fn odd_origin(&self, from: u32, to: u32) -> [u32; 2] {
        if let Some(spans) = self.spans {
            return [spans[from as usize].start, spans[to as usize - 1].end];
        }
        let first_len = || character_len(self.words.bytes[self.first as usize + 1]) as u32;
        [self.start + from.saturating_sub(1), self.start + if to == 1 { first_len() } else { to - 1 }]
    }

    /// Advances to the next word, which starts at `first`.
    #[inline(always)]
    fn next_word(&mut self) {
        let words = self.words;
        (self.end, self.start) = (words.ends[self.next_word], words.starts[self.next_word]);
        self.spans = match words.changed.get(self.next_changed) {
            Some(&(word, place)) if word as usize == self.next_word => {
                self.next_changed += 1;
                Some(&words.spans[place as usize..])
            }
            _ => None,
        };
        self.next_word += 1;
    }
}

/// Length in bytes of the character that starts with this byte.
fn character_len(first: u8) -> usize {
    (first.leading_ones() as usize).max(1)
}
