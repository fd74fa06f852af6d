//! Composes the encoding of one or two texts: special tokens around them, columns, and truncation
//! with its overflow.
//!
//! Most inputs are encoded directly to the output, piece by piece. Only an input that is truncated
//! is encoded to a buffer first, and then copied once as its [`Draft`] states.

use super::offset_converter::OffsetConverter;
use super::row::{Quota, Row, WordNumbers};
use super::{Encoder, Plan};
use crate::added_tokens::is_visible;
use crate::budget::{Budget, max_expansion};
use crate::encoding::{Columns, Encoding, NO_ID, OffsetUnit, push_sequence_ids};
use crate::error::EncodeError;
use crate::memory::Grow;
use crate::memory::fallible::{append, append_copies, checkpoint};
use crate::pipeline::Pipeline;
use crate::post_processor::SpecialToken;
use crate::post_processor::draft::{Draft, Margins, RunTokens, Trim};
use crate::post_processor::layout::PlacedRun;
use crate::text::{Input, Literal, Sequence, Text};
use crate::truncation::Truncation;

/// The tokens of a text with their columns.
#[derive(Debug, Default)]
pub(super) struct TextTokens {
    pub(super) tokens: Encoding,
    trimming: Trimming,
}

/// What is encoded.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a> {
    /// A text or a pair, with special tokens, columns and truncation.
    Input(Input<'a>),
    /// A part of a text, of which only ids are requested. The first part has the special tokens
    /// before the text, the last one those after it.
    Chunk { text: Text<'a>, is_first: bool, is_last: bool },
    /// A text without the post-processor: no special tokens, and offsets are not trimmed.
    Bare(&'a str),
}

impl<'a, T: Into<Input<'a>>> From<T> for Source<'a> {
    fn from(input: T) -> Self {
        Self::Input(input.into())
    }
}

/// A text, or a word of one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    text: Text<'a>,
    words: WordNumbers,
    literal: Option<&'a Literal>,
    /// Whether it continues a text that was cut before it.
    continues: bool,
}

impl<'a> Part<'a> {
    /// A whole text.
    fn whole(text: Text<'a>) -> Self {
        Self { text, words: WordNumbers::Next(0), literal: None, continues: false }
    }

    /// The parts of a sequence: a text, or the words of one, which share a budget.
    fn all_of(sequence: Sequence<'a>) -> impl Iterator<Item = Self> {
        let (text, words) = match sequence {
            Sequence::Text(text) => (Some(Self::whole(text)), &[][..]),
            Sequence::Marked(text, literal) => (Some(Self { literal: Some(literal), ..Self::whole(text) }), &[][..]),
            Sequence::Words(words) => (None, words),
        };
        let words = words.iter().zip(0..);
        text.into_iter()
            .chain(words.map(|(&word, number)| Self { words: WordNumbers::Given(number), ..Self::whole(word) }))
    }
}

/// What a call wants of the texts that it encodes.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    plan: &'a Plan,
    quota: Quota,
    /// The remaining budget of the texts so far. It is new for each text of an input; all bare
    /// texts of a request share one.
    budget: Budget,
}

impl<'a> Request<'a> {
    /// All tokens.
    pub(crate) fn all(plan: &'a Plan) -> Self {
        Self::up_to(plan, usize::MAX)
    }

    /// The first tokens, at least one more than `limit` if there are as many. With a limit, the
    /// plan must not truncate.
    pub(crate) fn up_to(plan: &'a Plan, limit: usize) -> Self {
        debug_assert!(limit == usize::MAX || plan.truncation.is_none());
        Self { plan, quota: Quota { limit, ..Quota::default() }, budget: Budget::default() }
    }
}

/// The data for trimming offsets. White space is counted in characters, as in Hugging Face
/// tokenizers. So offsets are in code points until they are trimmed, and are converted to the
/// requested unit afterwards.
#[derive(Debug, Default)]
pub(super) struct Trimming {
    /// The white space at both ends of each token.
    margins: Vec<Margins>,
    /// For each token, the index in `units` at which its text starts; [`SAME_UNIT`] if offsets stay
    /// in code points.
    bases: Vec<u32>,
    /// Maps code points to the requested unit, for one text after the other.
    units: Vec<u32>,
}

const SAME_UNIT: u32 = u32::MAX;

impl Trimming {
    pub(super) fn clear(&mut self) {
        self.margins.clear();
        self.bases.clear();
        self.units.clear();
    }

    pub(super) fn capacity(&self) -> usize {
        self.margins.capacity() + self.units.capacity()
    }

    /// Declares that the tokens since the last call belong to `text`. Their offsets are in code
    /// points.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn finish_text(&mut self, text: &str, unit: OffsetUnit) {
        let mut base = SAME_UNIT;
        if unit != OffsetUnit::CodePoint && !text.is_ascii() {
            base = self.units.len() as u32;
            let mut at = 0;
            self.units.grow(1 + text.chars().count());
            self.units.push(at);
            self.units.extend(text.chars().map(|c| {
                at += if unit == OffsetUnit::Byte { c.len_utf8() } else { c.len_utf16() } as u32;
                at
            }));
        }
        let more = self.margins.len() - self.bases.len();
        append_copies(&mut self.bases, base, more);
    }

    /// Trims the offsets of a run of tokens, the first of which has index `first`, and converts
    /// them to the requested unit.
    fn trim_offsets(&self, first: usize, trims: &[Trim], offsets: &mut [[u32; 2]]) {
        trims.iter().for_each(|trim| trim.apply(offsets, &self.margins[first..]));
        for (offset, &base) in offsets.iter_mut().zip(&self.bases[first..]).filter(|(_, base)| **base != SAME_UNIT) {
            // Offsets beyond the text stay as they are (see `ModelInput::original_span`).
            *offset = offset.map(|at| self.units.get(base as usize + at as usize).copied().unwrap_or(at));
        }
    }
}

impl Encoder<'_> {
    /// Appends the tokens of a source to `out`. Returns the drafts of its overflow, if requested.
    /// The caller passes them to [`Self::write`] before it encodes the next source.
    pub(crate) fn encode<'a>(
        &mut self,
        source: impl Into<Source<'a>>,
        request: &mut Request<'_>,
        out: &mut Encoding,
    ) -> Result<Vec<Draft>, EncodeError> {
        let (input, [is_first, is_last]) = match source.into() {
            Source::Input(input) => (input, [true, true]),
            Source::Chunk { text, is_first, is_last } => (text.into(), [is_first, is_last]),
            Source::Bare(text) => {
                self.encode_text(Part::whole(text.into()), request, None, out)?;
                return Ok(vec![]);
            }
        };
        let plan = request.plan;
        let added = || self.pipeline.post_processor.added_tokens(input.second.is_some());
        let less = |truncation: Truncation| truncation.less(if plan.add_special_tokens { added() } else { 0 });
        if let Some(truncation) = plan.truncation.and_then(less) {
            return self.encode_truncated(&input, plan, truncation, out);
        }
        let layout = self.pipeline.post_processor.layout(input.second.is_some(), plan.add_special_tokens)?;
        let mut ends = vec![];
        let start = out.ids.len();
        // A chunk has the special tokens of the ends that are its own. It has one text.
        let mut has_special = is_first;
        for PlacedRun { run, sequence_id } in &layout.pieces {
            let first = out.ids.len();
            match run.tokens {
                RunTokens::Special { token, .. } if has_special => {
                    push_special(self.pipeline.post_processor.special(token), plan.columns, out);
                }
                RunTokens::Special { .. } => {}
                RunTokens::Text { sequence, .. } => {
                    let first_offset = out.offsets.len();
                    let trims = plan.columns.contains(Columns::OFFSETS) && !run.trims.is_empty();
                    let mut trimming = trims.then(|| std::mem::take(&mut self.state.trimming));
                    request.budget = Budget::default();
                    for part in Part::all_of(input.get(sequence)) {
                        let part = Part { continues: !is_first, ..part };
                        self.encode_text(part, request, trimming.as_mut(), out)?;
                    }
                    if let Some(mut trimming) = trimming {
                        trimming.trim_offsets(0, &run.trims, &mut out.offsets[first_offset..]);
                        trimming.clear();
                        self.state.trimming = trimming;
                    }
                    has_special = is_last;
                }
            }
            if plan.columns != Columns::NONE {
                let count = out.ids.len() - first;
                fill_constant_columns(count, run.type_id, run.special, plan.columns, out);
                if plan.columns.contains(Columns::SEQUENCE_IDS) {
                    append_copies(&mut out.sequence_ids, *sequence_id, count);
                }
            }
            if plan.ranges {
                ends.push(out.ids.len() - start);
            }
        }
        if plan.ranges {
            let start = |piece: usize| if piece == 0 { 0 } else { ends[piece - 1] };
            let ranges = layout.ranges.iter().map(|(id, pieces)| (*id, start(pieces.start)..start(pieces.end)));
            out.ranges = ranges.collect();
        }
        Ok(vec![])
    }

    /// Counts the tokens of a source, without truncation. Stops soon after the count exceeds
    /// `limit`.
    pub(crate) fn count<'a>(
        &mut self,
        source: impl Into<Source<'a>>,
        request: &mut Request<'_>,
    ) -> Result<usize, EncodeError> {
        (request.quota.count_only, request.quota.counted) = (true, 0);
        let mut out = std::mem::take(&mut self.state.count_scratch);
        out.clear();
        let result = self.encode(source, request, &mut out);
        let count = request.quota.counted + out.len();
        self.state.count_scratch = out;
        result.map(|_| count)
    }

    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn encode_truncated(
        &mut self,
        input: &Input<'_>,
        plan: &Plan,
        truncation: Truncation,
        out: &mut Encoding,
    ) -> Result<Vec<Draft>, EncodeError> {
        let layout = self.pipeline.post_processor.layout(input.second.is_some(), plan.add_special_tokens)?;
        let trims = plan.columns.contains(Columns::OFFSETS) && layout.trims();
        let mut texts = std::mem::take(&mut self.state.texts);
        for (sequence, text) in input.sequences().zip(&mut texts) {
            text.tokens.clear();
            text.trimming.clear();
            let mut request = Request::all(plan);
            for part in Part::all_of(sequence) {
                let trimming = trims.then_some(&mut text.trimming);
                self.encode_text(part, &mut request, trimming, &mut text.tokens)?;
            }
        }
        let [first, second] = [0, 1].map(|i| texts[i].tokens.len());
        self.state.texts = texts;
        let second = input.second.is_some().then_some(second);
        let (keep_first, keep_second) = truncation.lengths(first, second)?;
        let draft = |sequence, length, keep| {
            let mut parts = truncation.parts(length, keep)?;
            parts.truncate(if plan.overflow { usize::MAX } else { 1 });
            Draft::of_parts(sequence, &parts)
        };
        let mut drafts = vec![draft(0, first, keep_first)?];
        if let (Some(second), Some(keep)) = (second, keep_second) {
            drafts.push(draft(1, second, keep)?);
        }
        check_overflow(&drafts, first + second.unwrap_or(0), layout.pieces.len())?;
        let mut draft = self.pipeline.post_processor.process(drafts, plan.add_special_tokens)?;
        let overflowing = std::mem::take(&mut draft.overflowing);
        self.write(&draft, plan, out);
        Ok(overflowing)
    }

    /// Appends the tokens of a draft to `out`. The draft belongs to the input that was encoded
    /// last.
    pub(crate) fn write(&self, draft: &Draft, plan: &Plan, out: &mut Encoding) {
        let columns = plan.columns;
        checkpoint();
        for run in &draft.runs {
            match run.tokens {
                RunTokens::Special { token, .. } => {
                    push_special(self.pipeline.post_processor.special(token), columns, out);
                }
                RunTokens::Text { sequence, start, end } => {
                    let TextTokens { tokens, trimming } = &self.state.texts[sequence];
                    append(&mut out.ids, &tokens.ids[start..end]);
                    if columns.contains(Columns::TOKENS) {
                        out.tokens.grow(end - start);
                        out.tokens.extend_from_slice(&tokens.tokens[start..end]);
                    }
                    if columns.contains(Columns::WORD_IDS) {
                        append(&mut out.word_ids, &tokens.word_ids[start..end]);
                    }
                    if columns.contains(Columns::OFFSETS) {
                        let first = out.offsets.len();
                        append(&mut out.offsets, &tokens.offsets[start..end]);
                        if !trimming.margins.is_empty() {
                            trimming.trim_offsets(start, &run.trims, &mut out.offsets[first..]);
                        }
                    }
                }
            }
            fill_constant_columns(run.len(), run.type_id, run.special, columns, out);
        }
        if columns.contains(Columns::SEQUENCE_IDS) {
            push_sequence_ids(&draft.ranges, draft.len(), &mut out.sequence_ids);
        }
        if plan.ranges {
            out.ranges.clone_from(&draft.ranges);
        }
    }

    /// Appends the tokens of a text, with the columns that vary from token to token.
    fn encode_text(
        &mut self,
        part: Part<'_>,
        request: &mut Request<'_>,
        mut trimming: Option<&mut Trimming>,
        out: &mut Encoding,
    ) -> Result<(), EncodeError> {
        let mut buffer = std::mem::take(&mut self.state.utf8);
        let text = part.text.to_utf8(&mut buffer)?;
        let plan = request.plan;
        self.state.encoded_bytes += text.len() as u64;
        let columns = plan.columns.and(Columns::PER_TOKEN);
        let unit = if trimming.is_some() { OffsetUnit::CodePoint } else { plan.offset_unit };
        let mut blocks = std::mem::take(&mut self.state.offset_blocks);
        let converter =
            columns.contains(Columns::OFFSETS).then(|| OffsetConverter::new(text, unit, std::mem::take(&mut blocks)));
        let margins = trimming.as_deref_mut().map(|trimming| &mut trimming.margins);
        let Request { quota, mut budget, .. } = *request;
        budget.add_input(text.len());
        let ranges = part.literal.map_or_else(Vec::new, |literal| literal.in_bytes(text));
        let first = out.ids.len();
        let mut row = Row {
            plan,
            out,
            columns,
            original: text,
            continues: part.continues,
            literal: &ranges,
            special: 0,
            converter,
            words: part.words,
            margins,
            quota,
            budget,
            visit: None,
        };
        let mut result = self.encode_segments(&mut row);
        if part.literal.is_some() && result.is_ok() {
            // A call that only counts has discarded ids.
            let ids = row.out.ids.get(first..).unwrap_or_default();
            result = check_special(self.pipeline, ids, row.special);
        }
        (request.quota, request.budget) = (row.quota, row.budget);
        self.state.offset_blocks = row.converter.take().map_or(blocks, OffsetConverter::into_blocks);
        if let (Ok(()), Some(trimming)) = (&result, trimming) {
            trimming.finish_text(text, plan.offset_unit);
        }
        self.state.utf8 = buffer;
        result
    }
}

/// Fails if the model turned a text into special tokens, which was found to have `found` of them.
#[cfg_attr(target_arch = "wasm32", inline(never))]
fn check_special(pipeline: &Pipeline, ids: &[u32], found: usize) -> Result<(), EncodeError> {
    let special = |id: u32| {
        let token = pipeline.parts.added_tokens.by_id(id).filter(|token| token.special && is_visible(token))?;
        (!pipeline.model.is_fallback(id, &token.content)).then_some(token)
    };
    let mut tokens = ids.iter().filter_map(|&id| special(id));
    let Some(first) = tokens.next() else { return Ok(()) };
    if 1 + tokens.count() > found {
        return Err(EncodeError::SpecialToken { token: first.content.clone(), byte: 0 });
    }
    Ok(())
}

/// The limit for the tokens in all overflowing parts together, at least. For a longer text it is a
/// multiple of the text's own tokens.
const MIN_OVERFLOW: usize = 1 << 22;

/// Fails if truncation multiplies the tokens of the texts too much, because parts overlap. `runs`
/// is the number of runs in an encoding. Every part of one text is combined with every part of the
/// other.
fn check_overflow(drafts: &[Draft], tokens: usize, runs: usize) -> Result<(), EncodeError> {
    let parts = drafts.iter().map(|draft| draft.overflowing.len() + 1).fold(1, usize::saturating_mul);
    let longest: usize = drafts.iter().map(Draft::len).sum();
    let reached = (parts - 1).saturating_mul(longest + runs);
    let limit = tokens.saturating_mul(max_expansion()).max(MIN_OVERFLOW);
    if reached > limit {
        return Err(EncodeError::OverflowLimit { reached, limit });
    }
    Ok(())
}

/// Appends the columns that are constant within a run.
fn fill_constant_columns(count: usize, type_id: u32, special: bool, columns: Columns, out: &mut Encoding) {
    if columns.contains(Columns::SPECIAL_TOKENS_MASK) {
        append_copies(&mut out.special_tokens_mask, u8::from(special), count);
    }
    if columns.contains(Columns::TYPE_IDS) {
        append_copies(&mut out.type_ids, type_id, count);
    }
    if columns.contains(Columns::ATTENTION_MASK) {
        append_copies(&mut out.attention_mask, 1, count);
    }
}

/// Appends the ids of a special token, with the columns that vary from token to token.
fn push_special(special: &SpecialToken, columns: Columns, out: &mut Encoding) {
    let count = special.ids.len();
    append(&mut out.ids, &special.ids);
    if columns.contains(Columns::TOKENS) {
        out.tokens.grow(count);
        out.tokens.extend((0..count).map(|i| special.tokens.get(i).cloned().unwrap_or_default()));
    }
    if columns.contains(Columns::OFFSETS) {
        append_copies(&mut out.offsets, [0, 0], count);
    }
    if columns.contains(Columns::WORD_IDS) {
        append_copies(&mut out.word_ids, NO_ID, count);
    }
}
