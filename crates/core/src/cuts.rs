//! Cuts: positions of a text that no token crosses, whatever precedes and follows. The ids of the
//! parts between cuts, one after the other, are the ids of the text. So several workers can share a
//! text, the start of a text can show that it has too many tokens, and after an edit only the part
//! between two cuts is encoded again.
//!
//! A text is cut before a space between two letters. Every scanner starts a word there, whatever
//! precedes it (`pretokenizer::scanner` has a test of that), and the tokens of a word do not depend
//! on other words. The same is true of segmenters, and of models that read spaces, if their merges
//! prove that no token crosses the start of the space. Whether a position is a cut depends only on
//! the space and the two letters. Two other components can look across it:
//!
//! - A normalizer. NFC is safe, because it keeps spaces and composes nothing with them. So are the
//!   normalizers that a segmenter or such a model replaces. With any other there are no cuts.
//! - An added token whose content contains a space, or that ends with a letter and consumes the
//!   space after it (`rstrip`). With such a token there are no cuts. Nor with one that ends with a
//!   letter, if the model reads spaces: the text after it gets a prefix, and that after a cut does
//!   not.

use crate::bpe::Bpe;
use crate::encoder::{Plan, Request, Source};
use crate::encoding::{Columns, Encoding, OffsetUnit};
use crate::error::EncodeError;
use crate::memory::fallible::push;
use crate::normalizer::{Form, Normalizer};
use crate::options::EncodeOptions;
use crate::pipeline::Pipeline;
use crate::post_processor::draft::RunTokens;
use crate::pretokenizer::unicode::{CLASSES, LETTER};
use crate::text::Text;
use crate::tokenizer::Tokenizer;

/// The cuts of the texts of one tokenizer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cuts<'a> {
    /// Set if merges have to prove that a position is a cut.
    merges: Option<&'a Bpe>,
}

/// What follows a part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartEnd {
    /// Nothing: the text ends.
    Text,
    /// A cut, and more of the text.
    Cut,
    /// Text that is not known yet. The part is encoded up to its last cut.
    Open,
}

/// What a call of [`Tokenizer::encode_part`] wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartRequest {
    /// Whether the part starts the text; otherwise it starts at a cut.
    pub starts_text: bool,
    /// What follows the part.
    pub end: PartEnd,
    /// Minimum length of a chunk but the last, in the unit of the text.
    pub chunk_len: usize,
    /// Whether the start of each token is wanted.
    pub offsets: bool,
}

/// The tokens of a part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EncodedPart {
    /// Whether the tokenizer has cuts. If not, only whole texts can be encoded.
    pub has_cuts: bool,
    /// The end of each chunk and the number of ids up to it. Chunks end at cuts, or at the end of
    /// the part.
    pub chunks: Vec<[usize; 2]>,
    /// The ids; the special tokens around the text are those of its first and last part.
    pub ids: Vec<u32>,
    /// The start of each token, from the start of its chunk, in the unit of the text; if requested.
    pub starts: Vec<u32>,
}

impl<'a> Cuts<'a> {
    /// The cuts of a tokenizer's texts; `None` if there are none. See the module documentation.
    pub(crate) fn of(tokenizer: &'a Tokenizer, plan: &Plan) -> Option<Self> {
        let pipeline = &tokenizer.pipeline;
        let is_text = |run: &RunTokens| matches!(run, RunTokens::Text { .. });
        let layout = pipeline.post_processor.layout(false, plan.add_special_tokens).ok()?;
        let has_one_text = layout.pieces.iter().filter(|piece| is_text(&piece.run.tokens)).count() == 1;
        if !has_one_text || tokenizer.has_crossing_tokens() {
            return None;
        }
        let scans = pipeline.scanner.is_some()
            && pipeline.pretokenizer.stages.is_empty()
            && matches!(pipeline.normalizer, None | Some(Normalizer::Form(Form::Nfc)));
        let merges = Self::reading_spaces(pipeline);
        (scans || pipeline.segmenter.is_some() || merges.is_some()).then_some(Self { merges })
    }

    /// The merges of a model that reads the spaces of a text.
    fn reading_spaces(pipeline: &Pipeline) -> Option<&Bpe> {
        let bpe = pipeline.model.cutting_bpe()?;
        (pipeline.spaces.is_some() && !pipeline.model.has_symbols()).then_some(bpe)
    }

    /// Whether there is a cut at index `at`.
    pub(crate) fn is_cut(self, text: Text<'_>, at: usize) -> bool {
        letter_before_space(text, at).is_some_and(|letter| {
            self.merges
                .is_none_or(|bpe| bpe.split_points.as_ref().is_some_and(|p| p.divides(&bpe.alphabet, letter, ' ')))
        })
    }

    /// The last cut in a range of a text.
    pub(crate) fn last(self, text: Text<'_>, range: std::ops::Range<usize>) -> Option<usize> {
        range.rev().find(|&at| self.is_cut(text, at))
    }

    /// The first cut in a range of a text.
    pub(crate) fn first(self, text: Text<'_>, mut range: std::ops::Range<usize>) -> Option<usize> {
        range.find(|&at| self.is_cut(text, at))
    }
}

impl Tokenizer {
    /// Whether an added token can cross a space between two letters, or end before it where that
    /// matters.
    fn has_crossing_tokens(&self) -> bool {
        *self.crossing_tokens.get_or_init(|| {
            let reads_spaces = Cuts::reading_spaces(&self.pipeline).is_some();
            let crosses = |content: &str, takes_space: bool| {
                let ends_at_cuts = content.chars().next_back().is_some_and(is_letter);
                content.contains(' ') || ends_at_cuts && (takes_space || reads_spaces)
            };
            let tokens = self.pipeline.parts.added_tokens.tokens();
            tokens.iter().any(|token| crosses(&token.content, token.rstrip))
        })
    }

    /// Encodes a part of a text that starts and ends at cuts or at the ends of the text, chunk by
    /// chunk. Ignores truncation and padding.
    ///
    /// Whether a position is a cut depends on its neighbours only: on the character before it, the
    /// space, and the character after that. So the ids of a chunk do not change if text is edited
    /// outside of it and of these.
    pub fn encode_part(
        &self,
        text: Text<'_>,
        request: &PartRequest,
        options: &EncodeOptions,
    ) -> Result<EncodedPart, EncodeError> {
        let PartRequest { starts_text, end, chunk_len, offsets } = *request;
        let mut plan = self.count_plan(options)?;
        let cuts = Cuts::of(self, &plan);
        if offsets {
            let offset_unit = if let Text::Utf16(_) = text { OffsetUnit::Utf16 } else { OffsetUnit::Byte };
            plan = Plan { columns: Columns::OFFSETS, offset_unit, spans_sources: false, ..plan };
        }
        let length = text.weight();
        let mut ends = vec![];
        if let (Some(cuts), PartEnd::Open) = (cuts, end) {
            ends.extend(cuts.last(text, 1..length));
        } else if end != PartEnd::Open {
            let next = |start: usize| cuts?.first(text, start.saturating_add(chunk_len.max(1))..length);
            let mut start = 0;
            while let Some(at) = next(start) {
                push(&mut ends, at);
                start = at;
            }
            push(&mut ends, length);
        }
        let mut part = EncodedPart { has_cuts: cuts.is_some(), ..EncodedPart::default() };
        let mut out = Encoding::default();
        self.with_encoder(|encoder| {
            let mut start = 0;
            for &chunk_end in &ends {
                let is_last = end == PartEnd::Text && chunk_end == length;
                let is_first = starts_text && start == 0;
                let source = Source::Chunk { text: text.slice(start, chunk_end), is_first, is_last };
                encoder.encode(source, &mut Request::all(&plan), &mut out).map_err(|error| error.moved_by(start))?;
                push(&mut part.chunks, [chunk_end, out.ids.len()]);
                start = chunk_end;
            }
            Ok::<_, EncodeError>(())
        })?;
        part.starts = out.offsets.iter().map(|offset| offset[0]).collect();
        part.ids = out.ids;
        Ok(part)
    }
}

/// A letter that never forms a grapheme cluster with a space after it, so that normalizers handle
/// the space alone.
fn is_letter(character: char) -> bool {
    CLASSES.of(character) & LETTER != 0 && !is_prepended(character)
}

/// Whether a character forms a grapheme cluster with the one after it
/// (Grapheme_Cluster_Break=Prepend).
fn is_prepended(character: char) -> bool {
    use unicode_segmentation::UnicodeSegmentation;
    // The first such character is U+0600.
    character >= '\u{600}' && String::from_iter([character, ' ']).graphemes(true).count() == 1
}

/// The letter before index `at`, if there is a space at the index and a letter after it too.
/// Invalid bytes and lone surrogates are not letters.
fn letter_before_space(text: Text<'_>, at: usize) -> Option<char> {
    let bytes = match text {
        Text::Utf8(text) => text.as_bytes(),
        Text::Bytes(bytes) => bytes,
        Text::Utf16(units) => {
            let letter = |at: usize| char::from_u32((*units.get(at)?).into()).filter(|&c| is_letter(c));
            return (units.get(at) == Some(&0x20) && at > 0 && letter(at + 1).is_some())
                .then(|| letter(at - 1))
                .flatten();
        }
    };
    if bytes.get(at) != Some(&b' ') {
        return None;
    }
    // The only character of up to four bytes, if they are one.
    let one = |bytes: &[u8]| std::str::from_utf8(bytes).ok().and_then(|text| text.chars().next());
    let before = (1..=at.min(4)).find_map(|len| one(&bytes[at - len..at]));
    let behind = (1..=4).find_map(|len| one(bytes.get(at + 1..at + 1 + len)?));
    before.filter(|&c| is_letter(c) && behind.is_some_and(is_letter))
}

#[cfg(test)]
mod tests;
