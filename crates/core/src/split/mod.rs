//! Parts of a text that have at most a number of tokens: its start, and pieces one after the other.
//!
//! - [`section`]: the part of a text that is encoded at once, and where pieces can end in it;
//!   [`token_limit`]: the tokens that a piece may have; [`sentences`], [`lines`], [`words`]: the
//!   boundaries at which pieces end on request.
//!
//! A piece ends where a token of the text ends. It is counted alone, because its tokens can differ
//! from those of the text: a piece can start or end within a word, or get a prefix. The end that
//! the limit permits in the text is tried first. If the piece has `k` tokens too many, the end `k`
//! tokens before is tried, and then ends with half as many tokens as the last one. If even the
//! first end does not fit, such as that behind a run of unknown characters whose bytes are all
//! tokens, the bytes up to it are cut in proportion to its tokens and then halved, to a character.
//!
//! So each piece costs at most three times its first candidate. To stay linear where that is much
//! longer than the piece, the next candidate after such a piece is at most twice as long as the
//! piece before it, until a candidate is as long as the limit permits.
//!
//! The tokens are those of a section ([`section::section_bytes`]); the next section starts with the
//! first piece that the section does not contain. A section with fewer tokens than a piece is
//! replaced by a longer one. Where sections start depends only on the text before, never on how the
//! text arrives, so a stream yields the pieces of the whole text.

pub(crate) mod lines;
mod section;
pub(crate) mod sentences;
#[cfg(test)]
pub(crate) mod tests;
mod token_limit;
mod words;

use crate::added_tokens::{Policy, SearchStage};
use crate::batch::Cancel;
use crate::encoder::{Encoder, Plan, Request, Source};
use crate::encoding::{Columns, Encoding, OffsetUnit};
use crate::error::EncodeError;
use crate::memory::fallible::gather;
use crate::options::EncodeOptions;
use crate::text::Text;
use crate::tokenizer::Tokenizer;
use section::{GROWTH, Section, section_bytes};
use token_limit::TokenLimit;

/// The limits of pieces, and their boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of tokens of a piece when it is encoded separately, special tokens included.
    pub max_tokens: usize,
    /// Maximum number of tokens at the end of a piece that are repeated at the start of the next
    /// piece, without special tokens. Less than `max_tokens`.
    pub overlap: usize,
    /// The boundaries at which pieces end.
    pub boundary: Boundary,
}

/// The boundaries at which pieces end. A sentence or line that is longer than a piece is split as
/// with [`Boundary::Word`], and a word as with [`Boundary::Token`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    /// Where a token ends, so that pieces are long.
    Token,
    /// After the last sentence that fits, by the rules of Unicode (UAX #29).
    Sentence,
    /// After the last line that fits.
    Line,
    /// After the last word that fits, by the rules of Unicode (UAX #29).
    Word,
}

/// What a call of [`Tokenizer::split`] wants.
#[derive(Debug, Clone, Copy)]
pub struct PieceRequest<'a> {
    /// The limits of pieces.
    pub limits: Limits,
    /// The position to continue from.
    pub progress: Progress,
    /// Whether the text is complete. If more text may arrive, the call yields only pieces that do
    /// not depend on it.
    pub is_end: bool,
    /// The flag that cancels the call.
    pub cancel: Option<&'a Cancel>,
}

/// A piece of a text. Positions are UTF-16 units for UTF-16, and bytes for anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The start.
    pub start: usize,
    /// The end.
    pub end: usize,
    /// The number of tokens when the piece is encoded separately, special tokens included.
    pub tokens: usize,
}

/// The position up to which a text was split. The next call continues from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// The start of the next piece.
    pub start: usize,
    /// The end of the last piece. It is equal to `start`, or after it if pieces overlap.
    pub covered: usize,
}

/// The reason why splitting stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// The text is split, or the next piece depends on text that has not arrived yet.
    AtEnd,
    /// The special tokens around a text exceed the maximum of a piece.
    SpecialTokens,
    /// The character at [`Progress::start`] has more tokens than a piece may have.
    Character,
    /// The call was cancelled.
    Cancelled,
}

/// The pieces of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces {
    /// The pieces, in order.
    pub pieces: Vec<Piece>,
    /// The progress to continue from.
    pub progress: Progress,
    /// The reason why there are no more pieces.
    pub stopped: Stopped,
}

/// The ids of the start of a text, see [`Tokenizer::encode_first`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The length of the text that the ids stand for: UTF-16 units for UTF-16, bytes for anything
    /// else.
    pub read: usize,
    /// The number of ids.
    pub written: usize,
}

/// The start of a text, see [`Tokenizer::truncate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Its length, in UTF-16 units for UTF-16 and in bytes for anything else, and its number of
    /// tokens when it is encoded separately.
    Found {
        /// The length.
        length: usize,
        /// The number of tokens, special tokens included.
        tokens: usize,
    },
    /// The special tokens around a text exceed the limit.
    SpecialTokens,
    /// More of the text is needed.
    DependsOnMore,
}

/// A text with at most this many units per token of the limit is encoded as a whole first. It has
/// one section, so the result is the same.
const LIKELY_UNITS_PER_TOKEN: usize = 4;

impl Tokenizer {
    /// The first piece of a text, as [`Self::split`] finds it with [`Boundary::Token`]; an empty
    /// one if not even the first character fits. If `is_end` is false, `text` may be only the start
    /// of the text.
    pub fn truncate(
        &self,
        text: Text<'_>,
        limit: usize,
        options: &EncodeOptions,
        is_end: bool,
    ) -> Result<Start, EncodeError> {
        let plan = self.count_plan(options)?;
        let Some(allowed) = TokenLimit::new(&self.pipeline.post_processor, &plan, limit)? else {
            return Ok(Start::SpecialTokens);
        };
        self.with_encoder(|encoder| {
            // If the text is probably within the limit, the fastest way to know is to count it.
            if is_end && text.weight() / LIKELY_UNITS_PER_TOKEN <= limit {
                let tokens = encoder.count(text, &mut Request::up_to(&plan, limit))?;
                if tokens <= limit {
                    return Ok(Start::Found { length: text.weight(), tokens });
                }
            }
            self.start(encoder, text, &plan, allowed, is_end)
        })
    }

    /// Replaces `ids` by those of the longest start of a text that [`Self::truncate`] finds for as
    /// many tokens as `capacity`: none if not even the first character fits. `None` if more of the
    /// text is needed.
    pub fn encode_first(
        &self,
        text: Text<'_>,
        capacity: usize,
        options: &EncodeOptions,
        is_end: bool,
        ids: &mut Vec<u32>,
    ) -> Result<Option<Written>, EncodeError> {
        let plan = self.count_plan(options)?;
        let mut out = Encoding { ids: std::mem::take(ids), ..Encoding::default() };
        let result: Result<_, EncodeError> = self.with_encoder(|encoder| {
            if is_end && text.weight() / LIKELY_UNITS_PER_TOKEN <= capacity {
                out.ids.clear();
                encoder.encode(text, &mut Request::up_to(&plan, capacity), &mut out)?;
                if out.ids.len() <= capacity {
                    return Ok(Some(text.weight()));
                }
            }
            out.ids.clear();
            let Some(allowed) = TokenLimit::new(&self.pipeline.post_processor, &plan, capacity)? else {
                return Ok(Some(0));
            };
            match self.start(encoder, text, &plan, allowed, is_end)? {
                Start::DependsOnMore => Ok(None),
                Start::SpecialTokens | Start::Found { length: 0, .. } => Ok(Some(0)),
                Start::Found { length, .. } => {
                    encoder.encode(text.slice(0, length), &mut Request::all(&plan), &mut out)?;
                    Ok(Some(length))
                }
            }
        });
        *ids = out.ids;
        if result.is_err() {
            ids.clear();
        }
        Ok(result?.map(|read| Written { read, written: ids.len() }))
    }

    /// The first piece of a text, from as little of the text as is needed.
    fn start(
        &self,
        encoder: &mut Encoder<'_>,
        text: Text<'_>,
        plan: &Plan,
        allowed: TokenLimit,
        is_end: bool,
    ) -> Result<Start, EncodeError> {
        let mut buffer = String::new();
        let mut bytes = section_bytes(allowed.limit);
        loop {
            // Each unit has at least one byte, and at most three units are cut to whole characters.
            let part = text.slice(0, bytes.saturating_add(4));
            let is_all = part.weight() == text.weight();
            let utf8 = part.to_utf8(&mut buffer)?;
            let mut splitter = Splitter::new(encoder, plan, allowed, utf8, is_all && is_end);
            splitter.wanted = allowed.tokens.saturating_add(1);
            if splitter.read(0)? {
                let (end, tokens) = splitter.next(0, None)?.map_or((0, 0), |found| (found.end, found.tokens));
                let length = if let Text::Utf16(_) = text { utf16_len(&utf8[..end]) } else { end };
                return Ok(Start::Found { length, tokens: allowed.total(tokens) });
            }
            if is_all {
                return Ok(Start::DependsOnMore);
            }
            bytes = bytes.saturating_mul(GROWTH);
        }
    }

    /// Splits a text into pieces.
    ///
    /// Ignores truncation and padding. If the options make a special token in the text an error,
    /// searches all of the text for special tokens.
    pub fn split(
        &self,
        text: Text<'_>,
        request: &PieceRequest<'_>,
        options: &EncodeOptions,
    ) -> Result<Pieces, EncodeError> {
        let PieceRequest { limits, progress, is_end, cancel } = request;
        let plan = self.count_plan(options)?;
        let mut buffer = String::new();
        let utf8 = text.to_utf8(&mut buffer)?;
        if plan.policy == Policy::Throw {
            self.pipeline.parts.added_tokens.segments(SearchStage::Raw, utf8, &plan.policy, |_| Ok(()))?;
        }
        let Some(allowed) = TokenLimit::new(&self.pipeline.post_processor, &plan, limits.max_tokens)? else {
            let stopped = if utf8.is_empty() { Stopped::AtEnd } else { Stopped::SpecialTokens };
            return Ok(Pieces { pieces: vec![], progress: *progress, stopped });
        };
        let bytes = |position| match text {
            Text::Utf16(_) => Units::new(utf8).byte_at(position),
            Text::Utf8(_) | Text::Bytes(_) => position,
        };
        let progress = Progress { start: bytes(progress.start), covered: bytes(progress.covered) };
        let mut found = self.with_encoder(|encoder| {
            Splitter::new(encoder, &plan, allowed, utf8, *is_end).pieces(limits, progress, *cancel)
        })?;
        if let Text::Utf16(_) = text {
            in_utf16(utf8, &mut found);
        }
        Ok(found)
    }
}

/// Finds the pieces of a text.
struct Splitter<'a, 's> {
    encoder: &'a mut Encoder<'s>,
    /// To count tokens, without columns.
    plan: &'a Plan,
    allowed: TokenLimit,
    text: &'a str,
    is_end: bool,
    /// Sections are only read up to this number of tokens.
    wanted: usize,
    section: Section,
    /// Counts all pieces, within one budget.
    counting: Request<'a>,
}

/// The end of a piece, and its number of tokens without special tokens.
struct Found {
    end: usize,
    tokens: usize,
    /// Maximum number of bytes of the first candidate for the next piece, if that is limited.
    cap: Option<usize>,
}

impl<'a, 's> Splitter<'a, 's> {
    fn new(encoder: &'a mut Encoder<'s>, plan: &'a Plan, allowed: TokenLimit, text: &'a str, is_end: bool) -> Self {
        let (section, counting) = (Section::default(), Request::all(plan));
        Self { encoder, plan, allowed, text, is_end, wanted: usize::MAX, section, counting }
    }

    fn pieces(
        &mut self,
        limits: &Limits,
        Progress { mut start, mut covered }: Progress,
        cancel: Option<&Cancel>,
    ) -> Result<Pieces, EncodeError> {
        let mut pieces = vec![];
        let mut stopped = Stopped::AtEnd;
        'sections: while start < self.text.len() && self.read(start)? {
            let mut cap = None;
            while start < self.text.len() && self.section.covers(start, self.allowed.tokens, cap) {
                if cancel.is_some_and(Cancel::is_cancelled) {
                    stopped = Stopped::Cancelled;
                    break 'sections;
                }
                let Some(found) = self.next(start, cap)? else {
                    stopped = Stopped::Character;
                    break 'sections;
                };
                cap = found.cap;
                let (end, tokens) = self.at_boundary(start, &found, limits.boundary)?;
                if end <= covered && start < covered {
                    // The overlap leaves no space for new text.
                    start = covered;
                    continue;
                }
                pieces.push(Piece { start, end, tokens: self.allowed.total(tokens) });
                covered = end;
                start = if self.is_end && end == self.text.len() { end } else { self.overlap(start, end, limits)? };
            }
        }
        Ok(Pieces { pieces, progress: Progress { start, covered }, stopped })
    }

    /// Reads the section that starts at a position. Returns false if its text has not arrived yet.
    fn read(&mut self, start: usize) -> Result<bool, EncodeError> {
        let with_offsets = Plan { columns: Columns::OFFSETS, offset_unit: OffsetUnit::Byte, ..self.plan.clone() };
        let mut bytes = section_bytes(self.allowed.limit);
        loop {
            let rest = self.text.len() - start;
            if !self.is_end && rest <= bytes {
                return Ok(false);
            }
            let end = self.text.floor_char_boundary(start + bytes.min(rest));
            let mut tokens = std::mem::take(&mut self.section.tokens);
            tokens.clear();
            let source = Source::Bare(&self.text[start..end]);
            match self.encoder.encode(source, &mut Request::up_to(&with_offsets, self.wanted), &mut tokens) {
                // The section may end within a word that the model only knows as a whole.
                Err(error) if error.is_unknown_token() && end < self.text.len() => {}
                Err(error) => return Err(error.moved_by(start)),
                Ok(_) => {
                    let is_complete = tokens.len() <= self.wanted;
                    self.section = Section::of(self.text, start..end, tokens, is_complete);
                    if self.section.covers(start, self.allowed.tokens, None) {
                        return Ok(true);
                    }
                }
            }
            bytes = bytes.saturating_mul(GROWTH);
        }
    }

    /// The piece that starts at a position of the section. `None` if its first character does not
    /// fit.
    fn next(&mut self, start: usize, cap: Option<usize>) -> Result<Option<Found>, EncodeError> {
        let limit = self.allowed.tokens;
        let before = self.section.tokens_up_to(start);
        let max_tokens = before.saturating_add(limit);
        let first_character = start + self.text[start..].chars().next().map_or(0, char::len_utf8);
        let max_end = cap.map_or(usize::MAX, |cap| start.saturating_add(cap));
        let token_end = self.section.first_end(start, 0);
        let uncapped = self.section.last_end(start, max_tokens, usize::MAX).map_or(token_end, |last| last.end);
        // The first end that is tried.
        let mut first = None;
        let found = |first: Option<usize>, end: usize, tokens| {
            let first = first.unwrap_or(end);
            let is_short = 2 * (end - start) < first - start || first < uncapped;
            Ok(Some(Found { end, tokens, cap: is_short.then_some(2 * (end - start)) }))
        };
        let mut last = None;
        let mut candidate = self.section.last_end(start, max_tokens, max_end);
        while let Some(piece_end) = candidate {
            let counted = self.count(start, piece_end.end)?;
            if let Some(tokens) = counted.filter(|&tokens| tokens <= limit) {
                return found(first, piece_end.end, tokens);
            }
            let own = piece_end.tokens - before;
            let fewer = fewer(own, counted.filter(|_| first.is_none()), limit);
            first.get_or_insert(piece_end.end);
            last = Some(piece_end.end);
            candidate = self.section.last_end(start, before + fewer, max_end.min(piece_end.end - 1));
        }
        if !self.section.is_complete {
            // The proportion needs all tokens up to that end, which may be more than `wanted`.
            self.wanted = usize::MAX;
            self.read(self.section.start)?;
        }
        let max_end = max_end.min(self.section.proportional_end(start, limit));
        let mut end = self.text.floor_char_boundary(max_end).max(first_character);
        while last != Some(first_character) {
            if last == Some(end) {
                end = self.text.floor_char_boundary(start + (end - start) / 2).max(first_character);
            }
            if let Some(tokens) = self.count(start, end)?.filter(|&tokens| tokens <= limit) {
                return found(first, end, tokens);
            }
            first.get_or_insert(end);
            last = Some(end);
        }
        Ok(None)
    }

    /// The number of tokens of a part of the text alone; `None` if it cannot be encoded, because it
    /// needs an unknown token that the tokenizer does not have.
    fn count(&mut self, start: usize, end: usize) -> Result<Option<usize>, EncodeError> {
        let Section { is_last, is_complete, tokens, .. } = &self.section;
        if *is_last && *is_complete && (start, end) == (self.section.start, self.section.end) {
            return Ok(Some(tokens.ids.len()));
        }
        match self.encoder.count(Source::Bare(&self.text[start..end]), &mut self.counting) {
            Err(error) if error.is_unknown_token() => Ok(None),
            counted => counted.map(Some).map_err(|error| error.moved_by(start)),
        }
    }

    /// The last sentence or line within a piece that fits, if these are the boundary; else the last
    /// word; else the piece. After one that does not fit, the last one in its first half is tried.
    fn at_boundary(&mut self, start: usize, found: &Found, boundary: Boundary) -> Result<(usize, usize), EncodeError> {
        let tried: &[Boundary] = match boundary {
            _ if self.section.is_last && found.end == self.section.end => &[],
            Boundary::Token => &[],
            Boundary::Word => &[Boundary::Word],
            Boundary::Sentence => &[Boundary::Sentence, Boundary::Word],
            Boundary::Line => &[Boundary::Line, Boundary::Word],
        };
        for &boundary in tried {
            let mut max = found.end - start;
            let ends = boundaries(&self.text[start..self.section.end], boundary, max);
            while let Some(&length) = ends[..ends.partition_point(|&end| end <= max)].last() {
                if start + length == found.end {
                    return Ok((found.end, found.tokens));
                }
                if let Some(tokens) = self.count(start, start + length)?.filter(|&count| count <= self.allowed.tokens) {
                    return Ok((start + length, tokens));
                }
                max = length / 2;
            }
        }
        Ok((found.end, found.tokens))
    }

    /// The position in a piece at which the next piece starts: as early as `overlap` tokens permit,
    /// at the start of a sentence, line or word if these are the boundary. The end of the piece if
    /// nothing is short enough. After a position that is not, the number of tokens shrinks as for
    /// pieces.
    fn overlap(&mut self, start: usize, end: usize, limits: &Limits) -> Result<usize, EncodeError> {
        let Limits { overlap, boundary, .. } = *limits;
        let until = self.section.tokens_before(end);
        let mut own = overlap.min(until - self.section.tokens_up_to(start));
        let piece = &self.text[start..end];
        let starts = if own > 0 { boundaries(piece, boundary, piece.len()) } else { vec![] };
        let mut is_first = true;
        while own > 0 {
            let mut from = self.section.first_end(start, until - own);
            if boundary != Boundary::Token {
                let next = starts.get(starts.partition_point(|&at| start + at < from));
                from = next.map_or(end, |at| start + at);
            }
            if from >= end {
                break;
            }
            let counted = self.count(from, end)?;
            if counted.is_some_and(|tokens| tokens <= overlap) {
                return Ok(from);
            }
            own = fewer(own, counted.filter(|_| is_first), overlap);
            is_first = false;
        }
        Ok(end)
    }
}

/// The number of tokens of the next candidate after one of `own` tokens that is too long: less by
/// those that exceed the limit if these are known, and at least half.
fn fewer(own: usize, counted: Option<usize>, limit: usize) -> usize {
    counted.map_or(own / 2, |counted| own - (counted - limit).min(own - own / 2))
}

/// The ends of sentences, lines or words at or before `max`, without the end of the text.
fn boundaries(text: &str, boundary: Boundary, max: usize) -> Vec<usize> {
    let is_wanted = |end: usize| end <= max && end < text.len();
    match boundary {
        Boundary::Token => vec![],
        Boundary::Line => {
            // The search stops at `max`, however long the line is.
            let near = &text[..text.ceil_char_boundary((max + 1).min(text.len()))];
            gather(lines::ends(near).take_while(|&end| is_wanted(end)))
        }
        Boundary::Word => gather(words::ends(text, max).take_while(|&end| is_wanted(end))),
        Boundary::Sentence => {
            let mut ends = sentences::Ends::new(text);
            gather(std::iter::from_fn(|| ends.next_up_to(max).filter(|&end| is_wanted(end))))
        }
    }
}

/// The number of UTF-16 units of a text.
fn utf16_len(text: &str) -> usize {
    // The first byte of each character counts one unit, and one more if the character has four
    // bytes.
    text.bytes().map(|byte| usize::from(byte & 0xC0 != 0x80) + usize::from(byte >= 0xF0)).sum()
}

/// Converts pieces from bytes to UTF-16 units.
fn in_utf16(text: &str, found: &mut Pieces) {
    let (mut starts, mut ends) = (Units::new(text), Units::new(text));
    for piece in &mut found.pieces {
        (piece.start, piece.end) = (starts.unit_at(piece.start), ends.unit_at(piece.end));
    }
    found.progress.start = starts.unit_at(found.progress.start);
    found.progress.covered = ends.unit_at(found.progress.covered);
}

/// Converts increasing positions of a text between bytes and UTF-16 units.
struct Units<'a> {
    text: &'a str,
    byte: usize,
    unit: usize,
}

impl<'a> Units<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, byte: 0, unit: 0 }
    }

    /// The unit at a byte, which is not before the previous position.
    fn unit_at(&mut self, byte: usize) -> usize {
        self.unit += utf16_len(&self.text[self.byte..byte]);
        self.byte = byte;
        self.unit
    }

    /// The byte at a unit, which is not before the previous position.
    fn byte_at(&mut self, unit: usize) -> usize {
        let mut rest = self.text[self.byte..].chars();
        while self.unit < unit
            && let Some(character) = rest.next()
        {
            self.unit += character.len_utf16();
            self.byte += character.len_utf8();
        }
        self.byte
    }
}
