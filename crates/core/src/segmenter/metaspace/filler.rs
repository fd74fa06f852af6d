//! Writes the words of a text to the buffer, until it is full or a part needs the normalizer.

use super::clusters::{Cluster, ClusterReplacement};
use super::{BUFFERED_META_SYMBOL, Metaspace};
use crate::segmenter::bits::decode_any;
use crate::segmenter::characters::{self, Role};
use crate::segmenter::wide::{self, MAX_COVERED, WideBlock, WideMasks, after_long};
use crate::segmenter::words::{SegmentedWords, WordMasks};
use crate::segmenter::{FillEnd, OriginalPart};
use crate::simd::bits::below;
use crate::simd::{BLOCK, PaddedBlock, Simd};

/// The state of one call of [`Metaspace::fill`].
pub(super) struct Filler<'a> {
    segmenter: &'a Metaspace,
    simd: Simd,
    text: &'a str,
    /// The position of `text` in the original.
    base: usize,
    words: &'a mut SegmentedWords,
    /// A reference, because the compiler keeps a struct that contains such an array in memory; the
    /// other fields should be in registers.
    wide_block: &'a mut WideBlock,
    /// The next byte to read.
    at: usize,
    /// Where the last word starts in the text.
    word_at: usize,
    /// Whether the last word may continue.
    is_open: bool,
    /// Whether the last character was a space. If white space is kept, it is all of the last word.
    is_space: bool,
}

impl<'a> Filler<'a> {
    /// Reads a part from byte `at` on.
    #[inline(always)]
    pub(super) fn new(
        segmenter: &'a Metaspace,
        simd: Simd,
        OriginalPart { text, base }: OriginalPart<'a>,
        at: usize,
        wide_block: &'a mut WideBlock,
        words: &'a mut SegmentedWords,
    ) -> Self {
        Self { segmenter, simd, text, base, words, wide_block, at, word_at: at, is_open: false, is_space: false }
    }

    #[inline(always)]
    pub(super) fn fill(mut self) -> FillEnd {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() && self.words.has_capacity() {
            self.words.reserve();
            if !self.is_open {
                self.start_first_word();
            }
            if self.read_block()
                && let Some(general) = self.read_characters()
            {
                return self.end(Some(general));
            }
        }
        self.end(None)
    }

    /// Starts a word if a character of a word comes next. No space precedes it: it starts the text,
    /// or white space is dropped.
    #[inline(always)]
    fn start_first_word(&mut self) {
        let (code, _) = decode_any(&self.text.as_bytes()[self.at..]);
        if characters::role(self.segmenter.entry(code)) == Role::Word {
            self.start_word();
            self.is_space = false;
        }
    }

    /// Writes the next block up to the first character that its masks do not describe. Returns
    /// whether there is such a character.
    #[inline(always)]
    fn read_block(&mut self) -> bool {
        let (segmenter, simd) = (self.segmenter, self.simd);
        let rest = &self.text.as_bytes()[self.at..];
        let mut padding = [0; size_of::<PaddedBlock>()];
        let padded = wide::padded_block(rest, &mut padding);
        let block: &[u8; BLOCK] = padded.first_chunk().expect("a padded block starts with a block");
        let masks = simd.masks(block);
        let mut spaces = masks.blanks;
        if segmenter.breaks_are_spaces {
            // Bit 2 is set in the carriage return and not in the line feed.
            spaces |= masks.line_breaks & !simd.any_bit(block, 4);
        }
        let odd = !(masks.visible | masks.high | spaces);
        let mut sure = below(odd);
        let mut is_stopped = odd != 0;
        let mut of_wide = WideMasks::default();
        if masks.high & sure != 0 {
            let entry = |code| segmenter.characters.wide(code, |character| segmenter.entry_of(character));
            let (covered, is_other) = self.wide_block.read(simd, padded, &masks, sure, entry);
            is_stopped = is_other || is_stopped && covered == sure;
            of_wide = self.wide_block.masks(simd, masks.high & covered);
            let before = &self.text.as_bytes()[..self.at];
            let stray = of_wide.long_marks & !after_long(of_wide.inner, before, self.is_open && !self.is_space);
            sure = covered & below(stray);
            is_stopped |= stray != 0;
        }
        // A space before a character that the masks do not cover may form a grapheme cluster with
        // it.
        let last = (sure >> 1) + 1;
        let goes_on = sure != u64::MAX || rest.get(BLOCK).is_some_and(|&next| next >= 0x80);
        if goes_on && spaces & last & sure != 0 {
            sure &= !last;
        }
        if sure != 0 {
            let has_wide = masks.high & sure != 0;
            self.write_block(block, sure, spaces & sure, (masks.visible | of_wide.kept) & sure, has_wide);
        }
        is_stopped
    }

    /// Writes the first bytes of a block, those of the mask `sure`. `spaces` become meta symbols or
    /// are dropped, `kept` are written.
    #[inline(always)]
    fn write_block(&mut self, block: &[u8; BLOCK], sure: u64, spaces: u64, kept: u64, has_wide: bool) {
        let segmenter = self.segmenter;
        let (kept, starts, origins) = if segmenter.drops_spaces {
            // The space directly before a word becomes its meta symbol.
            let starts = spaces & kept >> 1;
            (kept | starts, starts, starts)
        } else {
            // The first of repeated spaces stays, with the origin of the last.
            let after_space = spaces << 1 | u64::from(self.is_space);
            let repeated = if segmenter.joins_spaces { spaces & after_space } else { 0 };
            let starts = spaces & !repeated;
            let mut origins = spaces & !(repeated >> 1);
            if self.words.is_tracked() && repeated & 1 != 0 {
                // The repeated spaces started before this block.
                self.word_at = self.at + origins.trailing_zeros() as usize;
                self.words.move_start(self.word_at);
                origins &= origins - 1;
            }
            (kept | starts, starts, origins)
        };
        let mut written = *block;
        if segmenter.breaks_are_spaces {
            written.iter_mut().for_each(|byte| *byte = if *byte == b'\n' { BUFFERED_META_SYMBOL } else { *byte });
        }
        if segmenter.lowercases {
            written.iter_mut().for_each(u8::make_ascii_lowercase);
        }
        if has_wide {
            self.wide_block.put_texts(&mut written);
        }
        self.words.push_block(self.simd, &written, self.at, WordMasks { kept, starts, origins });
        if starts != 0 {
            let last = BLOCK - 1 - origins.leading_zeros() as usize;
            self.word_at = self.at + last + usize::from(segmenter.drops_spaces);
        }
        let len = sure.count_ones();
        self.is_space = spaces >> (len - 1) & 1 != 0;
        self.is_open = !(self.is_space && segmenter.drops_spaces);
        self.at += len as usize;
    }

    /// Reads single characters until several in a row could have been read in a block. Returns the
    /// position of a character that needs the normalizer, if there is one.
    #[inline(always)]
    fn read_characters(&mut self) -> Option<usize> {
        let (segmenter, bytes) = (self.segmenter, self.text.as_bytes());
        let mut covered = 0;
        while covered < MAX_COVERED && self.words.has_capacity() {
            self.words.reserve();
            let Some(&byte) = bytes.get(self.at) else { break };
            let (code, len) = decode_any(&bytes[self.at..]);
            let entry = segmenter.entry(code);
            let mut role = characters::role(entry);
            covered = if role == Role::Mark || characters::len(entry) > len { 0 } else { covered + 1 };
            if role == Role::Mark {
                role = match self.cluster(len) {
                    Cluster::Short { end, replacement } => {
                        self.write_cluster(end, replacement);
                        continue;
                    }
                    Cluster::Long => Role::Word,
                    Cluster::General => Role::General,
                };
            }
            match role {
                Role::Word => {
                    if !self.is_open {
                        self.start_word();
                    }
                    self.words.push(entry, characters::len(entry), self.at);
                    self.is_space = false;
                }
                Role::Space if segmenter.may_join_space(&bytes[self.at + len..]) => return Some(self.at),
                Role::Space if segmenter.drops_spaces => (self.is_open, self.is_space) = (false, true),
                Role::Space if segmenter.joins_spaces && self.is_space && self.is_open => {
                    if self.words.is_tracked() {
                        self.words.move_start(self.at);
                        self.word_at = self.at;
                    }
                }
                Role::Space => {
                    self.words.start_word();
                    self.words.push(entry, 1, self.at);
                    (self.is_open, self.is_space, self.word_at) = (true, true, self.at);
                }
                _ => return Some(self.at),
            }
            self.at += len;
            if bytes.get(self.at).is_some_and(|&next| next.is_ascii() && (next != b' ' || byte < 0x80)) {
                break;
            }
        }
        None
    }

    /// The grapheme cluster with the combining mark of `len` bytes that comes next.
    #[inline(always)]
    fn cluster(&self, len: usize) -> Cluster {
        let word_at = (self.is_open && !self.is_space).then_some(self.word_at);
        self.segmenter.cluster_with_mark(self.text, self.at, len, word_at, self.words.is_tracked())
    }

    /// Writes the combining marks up to `end`, or the replacement of their cluster.
    #[inline(always)]
    fn write_cluster(&mut self, end: usize, replacement: Option<ClusterReplacement>) {
        if let Some(ClusterReplacement { written_before, entry }) = replacement {
            self.words.take_back(written_before);
            self.words.push(&entry, characters::len(&entry), self.at);
            self.at = end;
            return;
        }
        while self.at < end {
            let (code, len) = decode_any(&self.text.as_bytes()[self.at..]);
            let entry = self.segmenter.entry(code);
            self.words.reserve();
            self.words.push(entry, characters::len(entry), self.at);
            self.at += len;
        }
    }

    /// Starts a word that no space precedes.
    #[inline(always)]
    fn start_word(&mut self) {
        self.words.start_word();
        if self.segmenter.inserts_meta_symbol(self.base, self.at) {
            self.words.push(&[BUFFERED_META_SYMBOL; 16], 1, self.at);
        }
        (self.is_open, self.word_at) = (true, self.at);
    }

    /// Ends or drops the last word. `general` is the position of a character that needs the
    /// normalizer, if there is one.
    #[inline(always)]
    fn end(self, general: Option<usize>) -> FillEnd {
        let stop = match general {
            Some(found) => {
                // Includes the space before a word or a removed character, because the normalizer
                // gives the span of what it removes to what precedes that. A space that is not
                // dropped is part of its word.
                let start = match self.is_open {
                    true if !self.segmenter.drops_spaces => self.word_at,
                    is_open => {
                        let at = if is_open { self.word_at } else { found };
                        self.text[..at].char_indices().next_back().map_or(0, |before| before.0)
                    }
                };
                FillEnd::General(start..self.segmenter.end_of_general(self.text, start, found, self.words.is_tracked()))
            }
            None if self.at < self.text.len() && self.is_open => FillEnd::At(self.word_at),
            None => FillEnd::At(self.at),
        };
        if self.is_open && stop != FillEnd::At(self.text.len()) {
            self.words.drop_last();
        } else {
            self.words.end();
        }
        stop
    }
}
