//! Splits a text into pieces with a maximum number of tokens each.
//!
//! - [`sentences`], [`lines`]: the boundaries at which pieces may end.
//!
//! A piece depends only on the text from its start to a position shortly after its end, never on
//! how the text arrives: a stream that receives the text in parts yields the pieces of the whole
//! text.
//!
//! Most pieces of ordinary text are found without encoding them separately, see
//! [`known_words`](crate::bounded::known_words). Otherwise each piece is encoded.
//!
//! To find where the longest piece ends, many prefixes may have to be counted. With a long chain of
//! components, or with components that make much text, that costs many times more than to encode
//! the text. So the work of a call is limited relative to its text. Beyond the limit, pieces are
//! found in haste: each is encoded about twice, and it can be slightly shorter than the longest.
//! Then pieces also depend on the pieces before them, and on the parts in which a text arrives.

pub(crate) mod lines;
pub(crate) mod sentences;
#[cfg(test)]
mod tests;

use crate::added_tokens::{Policy, SearchStage};
use crate::batch::Cancel;
use crate::bounded::known_words::KnownWords;
use crate::bounded::prefixes::Prefixes;
use crate::bounded::{TokenBudget, utf16_len};
use crate::budget::{OutputLimit, SPLIT};
use crate::encoder::{Encoder, Plan};
use crate::encoding::{Columns, Encoding, OffsetUnit};
use crate::error::EncodeError;
use crate::memory::fallible::gather;
use crate::options::EncodeOptions;
use crate::text::Text;
use crate::tokenizer::Tokenizer;

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
/// with [`Boundary::Token`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    /// Between two characters, so that pieces are as long as possible.
    Token,
    /// After the last sentence that fits, by the rules of Unicode (UAX #29).
    Sentence,
    /// After the last line that fits.
    Line,
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

/// Maximum number of boundaries that are tried, from the last one within the limit.
const MAX_TRIED_PREFIXES: usize = 16;
/// The work that a split may take before it gets hasty, in the steps of
/// [`Encoder::work`](crate::encoder::Encoder): for each byte of its pieces, and for any text. With
/// the files of real models, pieces of 16 tokens take up to a tenth of it, and longer ones less.
const WORK_PER_BYTE: u64 = 512;
const MIN_WORK: u64 = 1 << 21;
/// The work at which a split fails, as a multiple of the work that makes it hasty.
const MAX_WORK_FACTOR: u64 = 3;
/// Maximum number of boundaries that are tried in haste.
const HASTY_BOUNDARIES: usize = 2;
/// Minimum number of bytes after the text that a piece depends on, so that no character and no
/// special token is cut.
const MARGIN: usize = 16;

impl Tokenizer {
    /// Splits a text from `progress` on. If more text may arrive (`is_end` is false), yields only
    /// pieces that do not depend on it.
    ///
    /// Ignores truncation and padding. If the options make a special token in the text an error,
    /// searches all of the text for special tokens.
    pub fn split(
        &self,
        text: Text<'_>,
        progress: Progress,
        limits: &Limits,
        options: &EncodeOptions,
        is_end: bool,
        cancel: Option<&Cancel>,
    ) -> Result<Pieces, EncodeError> {
        let plan = self.count_plan(options)?;
        let mut buffer = String::new();
        let utf8 = text.to_utf8(&mut buffer)?;
        if plan.policy == Policy::Throw {
            self.pipeline.added_tokens.segments(SearchStage::Raw, utf8, &plan.policy, |_| Ok(()))?;
        }
        let Some(room) = self.room_for_text(&plan, limits.max_tokens)? else {
            let stopped = if utf8.is_empty() { Stopped::AtEnd } else { Stopped::SpecialTokens };
            return Ok(Pieces { pieces: vec![], progress, stopped });
        };
        let bytes = |place| match text {
            Text::Utf16(_) => Units::new(utf8).byte_at(place),
            Text::Utf8(_) | Text::Bytes(_) => place,
        };
        let progress = Progress { start: bytes(progress.start), covered: bytes(progress.covered) };
        let mut made = self.with_encoder(|encoder| {
            let prefixes = Prefixes::new(self, &plan);
            let added = self.pipeline.added_tokens.tokens().iter().map(|token| token.content.len()).max();
            let margin = added.unwrap_or(0).max(MARGIN);
            let (work_before, split_bytes) = (encoder.work, 0);
            // A stream depends on as little text as possible, so it encodes nothing ahead.
            let known = if is_end { KnownWords::new(self, &plan, utf8) } else { None };
            let splitter = Splitter {
                tokenizer: self,
                known,
                piece_is_known: false,
                text: utf8,
                limits,
                plan: &plan,
                room,
                is_end,
                encoder,
                margin,
                work_before,
                split_bytes,
            };
            splitter.pieces(prefixes, progress, cancel)
        })?;
        if let Text::Utf16(_) = text {
            in_utf16(utf8, &mut made);
        }
        Ok(made)
    }
}

/// The arguments of a split.
struct Splitter<'a> {
    tokenizer: &'a Tokenizer,
    text: &'a str,
    /// Finds most pieces, if the tokenizer permits it.
    known: Option<KnownWords<'a>>,
    /// Whether it has found the current piece.
    piece_is_known: bool,
    limits: &'a Limits,
    plan: &'a Plan,
    room: TokenBudget,
    is_end: bool,
    encoder: &'a mut Encoder,
    /// The number of bytes after the text that a piece depends on which must have arrived.
    margin: usize,
    /// The work of the encoder before the call.
    work_before: u64,
    /// The size of all pieces so far.
    split_bytes: usize,
}

/// The next piece.
enum Next {
    /// Its length in bytes, and its number of tokens.
    Piece(usize, usize),
    DependsOnMore,
    TooLong,
}

impl<'a> Splitter<'a> {
    fn pieces(
        mut self,
        mut prefixes: Prefixes<'a>,
        Progress { mut start, mut covered }: Progress,
        cancel: Option<&Cancel>,
    ) -> Result<Pieces, EncodeError> {
        let mut pieces = vec![];
        let mut stopped = Stopped::AtEnd;
        while start < self.text.len() {
            if cancel.is_some_and(Cancel::is_cancelled) {
                stopped = Stopped::Cancelled;
                break;
            }
            let (length, tokens) = match self.next(&mut prefixes, start)? {
                Next::Piece(length, tokens) => (length, tokens),
                Next::DependsOnMore => break,
                Next::TooLong => {
                    stopped = Stopped::Character;
                    break;
                }
            };
            self.split_bytes += length;
            let end = start + length;
            if end <= covered && start < covered {
                // The overlap leaves no space for new text.
                start = covered;
                continue;
            }
            pieces.push(Piece { start, end, tokens });
            covered = end;
            let is_last = self.is_end && end == self.text.len();
            let Limits { overlap, max_tokens, .. } = *self.limits;
            let shares = overlap > 0 && max_tokens > 1 && !is_last;
            start = if shares { start + self.overlap_start(&mut prefixes, start, length)? } else { end };
        }
        Ok(Pieces { pieces, progress: Progress { start, covered }, stopped })
    }

    fn next(&mut self, prefixes: &mut Prefixes<'a>, start: usize) -> Result<Next, EncodeError> {
        let text = &self.text[start..];
        prefixes.is_hasty = self.is_hasty()?;
        if let Some((length, tokens)) = self.next_known(prefixes.is_hasty, start)? {
            return Ok(Next::Piece(length, self.room.total(tokens)));
        }
        prefixes.restart(text);
        let found = prefixes.longest_unverified(self.encoder, self.room.tokens)?;
        let wants_boundary = found.length < text.len() && self.limits.boundary != Boundary::Token;
        let boundary = if wants_boundary && found.length > 0 {
            let most = if prefixes.is_hasty { HASTY_BOUNDARIES } else { MAX_TRIED_PREFIXES };
            let (ends, seen) = last_boundaries(text, self.limits.boundary, found.length, most);
            prefixes.look(seen);
            self.best_boundary(prefixes, &ends)?
        } else {
            None
        };
        let (length, tokens) = match boundary {
            Some(boundary) => boundary,
            None => {
                let found = prefixes.verify(self.encoder, found, self.room.tokens)?;
                (found.length, found.tokens)
            }
        };
        if !self.is_end && prefixes.seen + self.margin > text.len() {
            return Ok(Next::DependsOnMore);
        }
        Ok(if length == 0 { Next::TooLong } else { Next::Piece(length, self.room.total(tokens)) })
    }

    /// The next piece, if [`KnownWords`] finds it.
    fn next_known(&mut self, is_hasty: bool, start: usize) -> Result<Option<(usize, usize)>, EncodeError> {
        self.piece_is_known = false;
        let (Some(known), false) = (&mut self.known, is_hasty) else { return Ok(None) };
        let (text, room) = (&self.text[start..], self.room.tokens);
        let Some(found) = known.longest(self.encoder, start, room)? else { return Ok(None) };
        let mut ends = vec![];
        if found.length < text.len() && self.limits.boundary != Boundary::Token {
            (ends, _) = last_boundaries(text, self.limits.boundary, found.length, MAX_TRIED_PREFIXES);
            // If no boundary is within the limit, the piece is as long as possible.
            ends.insert(0, found.length);
        }
        let mut piece = (found.length, Some(found.tokens));
        while let Some(length) = ends.pop() {
            piece = (length, known.count(self.encoder, length)?);
            if piece.1.is_none_or(|tokens| tokens <= room) {
                break;
            }
        }
        self.piece_is_known = piece.1.is_some();
        Ok(piece.1.map(|tokens| (piece.0, tokens)))
    }

    /// Whether so much work was done that the next pieces have to be cheap. Fails if too much work
    /// was done for that.
    fn is_hasty(&self) -> Result<bool, EncodeError> {
        let done = self.encoder.work - self.work_before;
        // A stream makes many calls.
        let least = if self.is_end { MIN_WORK } else { MIN_WORK / 8 };
        let allowed = |bytes: usize| least.saturating_add(WORK_PER_BYTE.saturating_mul(bytes as u64));
        let most = MAX_WORK_FACTOR.saturating_mul(allowed(self.text.len()));
        if done > most {
            let size = |steps: u64| usize::try_from(steps).unwrap_or(usize::MAX);
            return Err(OutputLimit { component: SPLIT, reached: size(done), limit: size(most) }.into());
        }
        Ok(done > allowed(self.split_bytes))
    }

    /// The last of `ends` up to which a text has no more tokens than a piece may have. All are
    /// tried, because a prefix can have more tokens than a longer one.
    fn best_boundary(
        &mut self,
        prefixes: &mut Prefixes<'_>,
        ends: &[usize],
    ) -> Result<Option<(usize, usize)>, EncodeError> {
        for &length in ends.iter().rev() {
            let mut tokens = if prefixes.is_hasty { 0 } else { prefixes.count(self.encoder, length)? };
            if prefixes.is_hasty || tokens <= self.room.tokens && !prefixes.is_counted_exactly(length) {
                tokens = prefixes.count_whole(self.encoder, length, self.room.tokens)?;
            }
            if tokens <= self.room.tokens {
                return Ok(Some((length, tokens)));
            }
        }
        Ok(None)
    }

    /// The position in a piece at which the next piece starts: as early as `overlap` tokens permit,
    /// at the start of a sentence or line if these are the boundary. The end of the piece if
    /// nothing is short enough.
    fn overlap_start(
        &mut self,
        prefixes: &mut Prefixes<'_>,
        start: usize,
        length: usize,
    ) -> Result<usize, EncodeError> {
        let Limits { overlap, boundary, .. } = *self.limits;
        let piece = &self.text[start..start + length];
        let plan = Plan {
            add_special_tokens: false,
            columns: Columns::OFFSETS,
            offset_unit: OffsetUnit::Byte,
            ..self.plan.clone()
        };
        let known_piece = self.known.as_ref().filter(|_| self.piece_is_known);
        let known = match self.tokenizer.pipeline.post_processor.layout(false, false)?.trims() {
            false => match known_piece {
                Some(known) => Some(known.last_starts(overlap)),
                None => prefixes.last_starts(self.encoder, length, overlap)?,
            },
            true => None,
        };
        let mut starts = match known {
            Some(starts) => starts,
            None => {
                let mut made = Encoding::default();
                self.encoder.encode(&self.tokenizer.pipeline, &piece.into(), &plan, &mut made)?;
                let shared = &made.offsets[made.offsets.len().saturating_sub(overlap)..];
                gather(shared.iter().map(|offset| offset[0] as usize))
            }
        };
        starts.sort_unstable();
        starts.dedup();
        let first = starts.first().copied().unwrap_or(piece.len());
        if boundary != Boundary::Token {
            starts.clear();
            each_boundary(piece, boundary, piece.len(), &mut |end| starts.push(end));
        }
        // Tokens of bytes can start within a character.
        let is_usable = |start: usize| start > 0 && start < piece.len() && piece.is_char_boundary(start);
        starts.retain(|&start| start >= first && is_usable(start));
        let plan = Plan { columns: Columns::NONE, ..plan };
        let (mut place, mut step) = (0, 1);
        while let Some(&start) = starts.get(place) {
            let known = match &mut self.known {
                Some(known) if self.piece_is_known => known.count_end(self.encoder, start)?,
                _ => None,
            };
            let tokens = match known {
                Some(tokens) => tokens,
                None => self.encoder.count(&self.tokenizer.pipeline, &piece[start..].into(), &plan, overlap)?,
            };
            if tokens <= overlap {
                return Ok(start);
            }
            // Usually the first or the second start succeeds. After many failures, starts are
            // skipped.
            place += step;
            step = if place < MAX_TRIED_PREFIXES && !prefixes.is_hasty { 1 } else { 2 * step };
        }
        Ok(piece.len())
    }
}

/// The ends of the last `count` sentences or lines of a text at or before `most`, and the end of
/// the text that they depend on, in bytes.
fn last_boundaries(text: &str, boundary: Boundary, most: usize, count: usize) -> (Vec<usize>, usize) {
    let mut last = vec![];
    let mut add = |end: usize| {
        if last.len() == count {
            last.remove(0);
        }
        last.push(end);
    };
    let seen = each_boundary(text, boundary, most, &mut add);
    (last, seen)
}

/// Calls `each` with the ends of sentences or lines at or before `most`, without the end of the
/// text. Returns the end of the text that the result depends on, in bytes.
fn each_boundary(text: &str, boundary: Boundary, most: usize, each: &mut impl FnMut(usize)) -> usize {
    let is_wanted = |end: usize| end <= most && end < text.len();
    match boundary {
        Boundary::Token => 0,
        Boundary::Line => {
            // The search stops at `most`, however long the line is.
            let near = &text[..text.ceil_char_boundary((most + 1).min(text.len()))];
            lines::ends(near).take_while(|&end| is_wanted(end)).for_each(each);
            most + 1
        }
        Boundary::Sentence => {
            let mut ends = sentences::Ends::new(text);
            while let Some(end) = ends.next_up_to(most).filter(|&end| is_wanted(end)) {
                each(end);
            }
            ends.seen().max(most + 1)
        }
    }
}

/// Converts pieces from bytes to UTF-16 units.
fn in_utf16(text: &str, made: &mut Pieces) {
    let (mut starts, mut ends) = (Units::new(text), Units::new(text));
    for piece in &mut made.pieces {
        (piece.start, piece.end) = (starts.unit_at(piece.start), ends.unit_at(piece.end));
    }
    made.progress.start = starts.unit_at(made.progress.start);
    made.progress.covered = ends.unit_at(made.progress.covered);
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
