//! A section of a text: the part that is encoded at once, and where pieces can end in it.

use std::ops::Range;

use crate::encoding::Encoding;
use crate::memory::fallible::push;

/// A section has this many bytes, and some for each token that a piece may have; see
/// [`section_bytes`].
const MIN_BYTES: usize = if cfg!(test) { 48 } else { 4096 };
const BYTES_PER_TOKEN: usize = if cfg!(test) { 12 } else { 32 };

/// A section that does not have the tokens of one piece is replaced by one of this many times as
/// many bytes.
pub(super) const GROWTH: usize = 4;

/// The last bytes of a section that does not end with the text. Tokens there can differ from those
/// of the whole text, so no piece ends there. (Tests have many small sections.)
pub(super) const MARGIN: usize = if cfg!(test) { 16 } else { 1024 };

/// The size of a section in bytes, for pieces of at most `limit` tokens.
pub(super) fn section_bytes(limit: usize) -> usize {
    BYTES_PER_TOKEN.saturating_mul(limit).saturating_add(MIN_BYTES)
}

/// A position in the text where a piece may end, because a token ends there, and the number of
/// tokens of the section up to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PieceEnd {
    pub(super) end: usize,
    pub(super) tokens: usize,
}

#[derive(Debug, Default)]
pub(super) struct Section {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it ends with the text.
    pub(super) is_last: bool,
    /// The tokens, with offsets in bytes from the start of the section.
    pub(super) tokens: Encoding,
    /// Whether `tokens` are all tokens, not only the first ones.
    pub(super) is_complete: bool,
    /// In the order of the text. Each has more tokens than the one before.
    ends: Vec<PieceEnd>,
}

impl Section {
    /// The section of a text with these tokens.
    pub(super) fn of(text: &str, range: Range<usize>, tokens: Encoding, is_complete: bool) -> Self {
        let Range { start, end } = range;
        let mut section = Self { start, end, is_last: end == text.len(), tokens, is_complete, ends: vec![] };
        section.find_ends(text);
        section
    }

    /// Finds where pieces may end: between two characters, where a token ends and the next one does
    /// not start before; and the end of the text.
    fn find_ends(&mut self, text: &str) {
        let length = self.end - self.start;
        let offsets = std::mem::take(&mut self.tokens.offsets);
        for (at, &[_, end]) in offsets.iter().enumerate() {
            let next = match offsets.get(at + 1) {
                Some(&[start, _]) => start as usize,
                None if self.is_complete => length,
                None => break,
            };
            // Offsets beyond the text belong to a suffix that the model reads and the text does not
            // contain.
            let end = self.start + (end as usize).min(length);
            if self.start + next < end || end > self.trusted() || !text.is_char_boundary(end) {
                continue;
            }
            self.push_end(PieceEnd { end, tokens: at + 1 });
        }
        if self.is_last && self.is_complete {
            self.push_end(PieceEnd { end: self.end, tokens: offsets.len() });
        }
        self.tokens.offsets = offsets;
    }

    /// Adds an end if it is behind the last one: of tokens with the same end, the first one counts.
    /// So an end never depends on tokens that are read later.
    fn push_end(&mut self, piece_end: PieceEnd) {
        if piece_end.end > self.ends.last().map_or(self.start, |last| last.end) {
            push(&mut self.ends, piece_end);
        }
    }

    /// The end of the part in which tokens are those of the text.
    fn trusted(&self) -> usize {
        if self.is_last { self.end } else { self.end.saturating_sub(MARGIN) }
    }

    /// Whether the section has the token that a piece from `start` on excludes because it is one
    /// more than `limit`, or the first `cap` bytes of the piece.
    pub(super) fn covers(&self, start: usize, limit: usize, cap: Option<usize>) -> bool {
        let excluded = self.tokens.offsets.get(self.tokens_up_to(start).saturating_add(limit));
        let is_trusted = |end: usize| end <= self.trusted();
        let has_excluded = || excluded.is_some_and(|&[_, end]| is_trusted(self.start + end as usize));
        let has_cap = || cap.is_some_and(|cap| is_trusted(start.saturating_add(cap)));
        start < self.end && (self.is_last || has_excluded() || has_cap())
    }

    /// The number of tokens that end at or before a position, as far as the ends of pieces tell.
    pub(super) fn tokens_up_to(&self, position: usize) -> usize {
        let count = self.ends.partition_point(|piece_end| piece_end.end <= position);
        self.ends[..count].last().map_or(0, |piece_end| piece_end.tokens)
    }

    /// The number of tokens that start before a position, as far as the ends of pieces tell.
    pub(super) fn tokens_before(&self, position: usize) -> usize {
        let first = self.ends.partition_point(|piece_end| piece_end.end < position);
        self.ends.get(first).map_or(self.tokens.offsets.len(), |piece_end| piece_end.tokens)
    }

    /// The last end after `start` with at most this many tokens and at most this end.
    pub(super) fn last_end(&self, start: usize, tokens: usize, end: usize) -> Option<PieceEnd> {
        let count = self.ends.partition_point(|piece_end| piece_end.tokens <= tokens && piece_end.end <= end);
        self.ends[..count].last().copied().filter(|piece_end| piece_end.end > start)
    }

    /// Where a piece from `start` on probably ends if even the first possible end after `start` is
    /// behind the limit: as many bytes further as `limit` tokens have on average up to that end.
    pub(super) fn proportional_end(&self, start: usize, limit: usize) -> usize {
        let next = self.ends.partition_point(|piece_end| piece_end.end <= start);
        let first = PieceEnd { end: self.start, tokens: 0 };
        let last = PieceEnd { end: self.end, tokens: self.tokens.offsets.len() };
        let before = next.checked_sub(1).map_or(first, |at| self.ends[at]);
        let after = self.ends.get(next).map_or(last, |&piece_end| piece_end);
        let (bytes, tokens) = (after.end - before.end, after.tokens - before.tokens);
        if tokens <= limit { after.end } else { (start + bytes * limit / tokens).min(after.end) }
    }

    /// The first end after `start` with at least this many tokens, or else of the
    /// section.
    pub(super) fn first_end(&self, start: usize, tokens: usize) -> usize {
        let first = self.ends.partition_point(|piece_end| piece_end.end <= start || piece_end.tokens < tokens);
        self.ends.get(first).map_or(self.end, |piece_end| piece_end.end)
    }
}
