//! The encoder: runs the stages of a tokenizer in order, on one text at a time.
//!
//! An [`Encoder`] is a pipeline together with an [`EncoderState`]: the caches and buffers that a
//! worker keeps from text to text. A tokenizer has a pool of states and lends each call one of
//! them.
//!
//! - [`compose`]: the entry points; one or two texts, whole or truncated, with special tokens.
//! - [`word_encoder`]: the model stage, words to ids; [`splitter`]: where words end.
//! - [`miss_batch`]: merges the words that miss the cache, many at once.
//! - [`seeds`]: words that a cache contains from the start.
//! - [`words`]: the words of a text without the model, for trainers.
//! - [`row`]: collects the tokens of a row with their columns.
//! - [`offset_converter`]: converts byte positions to the unit of offsets.

#[cfg(test)]
mod columns_tests;
mod compose;
mod miss_batch;
mod offset_converter;
mod row;
mod seeds;
mod splitter;
#[cfg(test)]
mod tests;
mod word_encoder;
mod words;

use std::sync::Arc;

use crate::added_tokens::{Guard, Policy, Rules, SearchStage, Segment};
use crate::aligned::AlignedText;
use crate::bpe::word_cache::GrowthMemory;
use crate::budget::Budget;
use crate::encoding::{Columns, Encoding, OffsetUnit};
use crate::error::EncodeError;
use crate::memory::fallible::check;
use crate::padding::Padding;
use crate::pipeline::Pipeline;
use crate::pretokenizer::scanner::{Scanner, WORDS_AT_A_TIME};
use crate::pretokenizer::splits::Splits;
use crate::segmenter::{FillEnd, OriginalPart, SegmentedWords, Segmenter};
use crate::span::Span;
use crate::truncation::Truncation;
#[cfg(test)]
use crate::word_key::Key;
use crate::word_key::MAX_SHORT_LEN;
pub(crate) use compose::{Request, Source};
use compose::{TextTokens, Trimming};
pub use row::Word;
use row::{ModelInput, Origins, Row};
pub(crate) use seeds::Seeds;
use splitter::PieceSplitter;
use word_encoder::WordEncoder;

/// What a worker keeps from text to text: its word cache and its buffers. See [`Encoder`].
#[derive(Debug)]
pub(crate) struct EncoderState {
    is_seeded: bool,
    word_encoder: WordEncoder,
    text: AlignedText,
    splits: Splits,
    segmented_words: SegmentedWords,
    utf8: String,
    /// The buffer of [`OffsetConverter`](offset_converter::OffsetConverter).
    offset_blocks: Vec<offset_converter::Block>,
    /// Scratch buffer for ids that `count` discards.
    count_scratch: Encoding,
    /// The buffer of offsets that are trimmed.
    trimming: Trimming,
    /// The tokens of texts that are truncated after encoding.
    texts: [TextTokens; 2],
    /// The number of text bytes encoded so far.
    pub(crate) encoded_bytes: u64,
}

/// A call's options, resolved against the tokenizer.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) add_special_tokens: bool,
    pub(crate) policy: Policy,
    pub(crate) columns: Columns,
    pub(crate) offset_unit: OffsetUnit,
    /// Whether offsets are for finding positions to cut a text at: each token spans all the
    /// characters it comes from, so tokens of the same character overlap. Otherwise offsets are
    /// those of the reference. They differ for SentencePiece files only.
    pub(crate) spans_sources: bool,
    pub(crate) truncation: Option<Truncation>,
    /// Not applied by encoders: the length of padding is only known when all rows are encoded.
    pub(crate) padding: Option<Padding>,
    /// Whether the overflow of truncation is requested.
    pub(crate) overflow: bool,
    /// Whether to set [`Encoding::ranges`].
    pub(crate) ranges: bool,
}

impl EncoderState {
    pub(crate) fn new(cache_bytes: usize, seed: u64) -> Self {
        Self {
            is_seeded: false,
            word_encoder: WordEncoder::new(cache_bytes, seed),
            text: AlignedText::default(),
            splits: Splits::default(),
            segmented_words: SegmentedWords::default(),
            utf8: String::new(),
            offset_blocks: vec![],
            count_scratch: Encoding::default(),
            trimming: Trimming::default(),
            texts: Default::default(),
            encoded_bytes: 0,
        }
    }

    /// Shares the memory of its cache with all states that have the same `memory`.
    pub(crate) fn sharing(mut self, memory: Arc<GrowthMemory>) -> Self {
        self.word_encoder.cache.share_growth(memory);
        self
    }

    /// Inserts the seed words of the tokenizer into the cache, on the first call only. This removes
    /// short words that were cached before.
    pub(crate) fn seed(&mut self, seeds: &Seeds<'_>) {
        if !std::mem::replace(&mut self.is_seeded, true) {
            self.word_encoder.cache.seed(seeds.len(), seeds.words());
        }
    }

    #[cfg(test)]
    pub(crate) fn seed_with(&mut self, count: usize, words: impl Iterator<Item = (Key, u32)>) {
        self.word_encoder.cache.seed(count, words);
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.word_encoder.cache.memory_bytes()
    }

    pub(crate) fn cache_counts(&self) -> (u64, u64) {
        self.word_encoder.cache.counts()
    }

    /// Releases buffers that an unusually long text has grown.
    pub(crate) fn trim(&mut self) {
        // In bytes, ids or words, depending on the buffer.
        const MAX_KEPT_CAPACITY: usize = 1 << 20;
        self.word_encoder.scratch.trim();
        if self.utf8.capacity() > MAX_KEPT_CAPACITY {
            self.utf8 = String::new();
        }
        if self.offset_blocks.capacity() > MAX_KEPT_CAPACITY / size_of::<offset_converter::Block>() {
            self.offset_blocks = vec![];
        }
        if self.count_scratch.ids.capacity() > MAX_KEPT_CAPACITY {
            self.count_scratch = Encoding::default();
        }
        if self.texts.iter().any(|text| text.tokens.ids.capacity() > MAX_KEPT_CAPACITY)
            || self.trimming.capacity() > MAX_KEPT_CAPACITY
        {
            self.texts = Default::default();
            self.trimming = Trimming::default();
        }
        if self.segmented_words.capacity() > MAX_KEPT_CAPACITY {
            self.segmented_words = SegmentedWords::default();
        }
        if self.text.as_str().len() > MAX_KEPT_CAPACITY {
            self.text = AlignedText::default();
            self.splits = Splits::default();
        }
    }
}

/// Encodes texts with the stages of a tokenizer and the state of one worker.
pub(crate) struct Encoder<'a> {
    pipeline: &'a Pipeline,
    state: &'a mut EncoderState,
}

impl<'a> Encoder<'a> {
    pub(crate) fn new(pipeline: &'a Pipeline, state: &'a mut EncoderState) -> Self {
        Self { pipeline, state }
    }

    /// See [`EncoderState::seed`].
    pub(crate) fn seed(&mut self, seeds: &Seeds<'_>) {
        self.state.seed(seeds);
    }

    /// Finds the added tokens in the original text and encodes the text between them.
    fn encode_segments(&mut self, row: &mut Row<'_>) -> Result<(), EncodeError> {
        let Row { original, literal, plan, .. } = *row;
        let first_literal = |span| first_literal(literal, span);
        let rules = Rules { policy: &plan.policy, guard: self.guard(row, &first_literal) };
        self.pipeline.parts.added_tokens.segments(SearchStage::Raw, original, rules, |segment| match segment {
            Segment::Token { token, span } => row.push_found(self.pipeline, token, &original[span.range()], span),
            Segment::Text(span) => self.encode_segment(span, row),
        })
    }

    fn guard<'g>(&self, row: &Row<'_>, first_literal: &'g dyn Fn(Span) -> Option<usize>) -> Option<Guard<'g>> {
        let divides = self.pipeline.model.bpe().is_none();
        (!row.literal.is_empty()).then_some(Guard { first_literal, divides })
    }

    /// Encodes a part of the original text between two added tokens, by the fastest way that gives
    /// the same ids as [`Self::run_pipeline`].
    fn encode_segment(&mut self, span: Span, row: &mut Row<'_>) -> Result<(), EncodeError> {
        if !row.wants_more() {
            return Ok(());
        }
        let text = &row.original[span.range()];
        let base = span.start as usize;
        if let (Some(spaces), Some(bpe)) = (self.pipeline.spaces, self.pipeline.model.cutting_bpe())
            && let Some(split_points) = &bpe.split_points
            && row.visit.is_none()
            && !(row.needs_positions() && self.pipeline.model.has_symbols())
        {
            let continues = row.continues && base == 0;
            let first = if continues { 0 } else { split_points.first_end(&bpe.alphabet, text) };
            let first_offset = row.out.offsets.len();
            if first > 0 {
                self.run_pipeline(&text[..first], base, row)?;
            }
            let input = ModelInput { pipeline: self.pipeline, text, origins: Origins::Unchanged(base) };
            let pieces = PieceSplitter { bpe, start: first, spaces: Some(spaces) };
            self.state.word_encoder.encode(&input, first, &pieces, row)?;
            row.place_pieces(self.pipeline, first_offset);
            return Ok(());
        }
        if let Some(segmenter) = &self.pipeline.segmenter {
            return self.encode_with_segmenter(segmenter, span, row);
        }
        if let Some(scanner) = self.scanner_of_original(text, &mut row.budget) {
            let input = ModelInput { pipeline: self.pipeline, text, origins: Origins::Unchanged(base) };
            return self.state.word_encoder.encode(&input, 0, &scanner, row);
        }
        self.run_pipeline(text, base, row)
    }

    /// The scanner, if the stages before it leave a part of the original text as it is.
    fn scanner_of_original(&self, text: &str, budget: &mut Budget) -> Option<Scanner> {
        let pipeline = self.pipeline;
        let is_unchanged = pipeline.normalizer.as_ref().is_none_or(|normalizer| normalizer.leaves(text, budget));
        let has_no_more_tokens = pipeline.parts.added_tokens.never_matches(SearchStage::Normalized);
        if is_unchanged && has_no_more_tokens && pipeline.pretokenizer.stages.is_empty() {
            pipeline.scanner
        } else {
            None
        }
    }

    /// Runs the normalizer on a text that starts at byte `base` of the original. Uses the buffer
    /// `state.text`, to which the caller returns the result.
    fn normalize(
        &mut self,
        text: &str,
        base: usize,
        tracked: bool,
        budget: &mut Budget,
    ) -> Result<AlignedText, EncodeError> {
        let mut normalized = std::mem::take(&mut self.state.text);
        normalized.start(text, base, tracked);
        normalized.set_max_bytes(budget.remaining());
        if let Some(normalizer) = &self.pipeline.normalizer {
            normalizer.normalize(&mut normalized, budget)?;
        }
        Ok(normalized)
    }

    /// Runs the pre-tokenizer on a normalized text. Sets `state.splits`.
    fn pre_tokenize(&mut self, text: &mut AlignedText, budget: &mut Budget) -> Result<(), EncodeError> {
        self.state.splits.start(Span::new(0, text.as_str().len()));
        self.pipeline.pretokenizer.apply(text, &mut self.state.splits, budget)?;
        budget.charge(text.as_str().len(), "the pre-tokenizer")?;
        Ok(())
    }

    /// Encodes a part of the original text with the segmenter, and with the full pipeline where it
    /// needs the normalizer.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn encode_with_segmenter(
        &mut self,
        segmenter: &Segmenter,
        span: Span,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let text = &row.original[span.range()];
        let (base, mut at) = (span.start as usize, 0);
        let mut words = std::mem::take(&mut self.state.segmented_words);
        let mut result = Ok(());
        while at < text.len() && result.is_ok() && row.wants_more() {
            let stop = segmenter.fill(OriginalPart { text, base }, at, row.needs_positions(), &mut words);
            result = self.state.word_encoder.encode_segmented(self.pipeline, &words, base, row);
            at = match stop {
                FillEnd::At(next) => next,
                FillEnd::General(part) => {
                    if result.is_ok() {
                        result = self.run_pipeline(&text[part.clone()], base + part.start, row);
                    }
                    part.end
                }
            };
        }
        self.state.segmented_words = words;
        result
    }

    /// Runs normalizer, added tokens in normalized text, pre-tokenizer and model. `text` starts at
    /// byte `base` of the original.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn run_pipeline(&mut self, text: &str, base: usize, row: &mut Row<'_>) -> Result<(), EncodeError> {
        let tracked = row.needs_positions() || self.pipeline.needs_origins || !row.literal.is_empty();
        let mut normalized = self.normalize(text, base, tracked, &mut row.budget)?;
        let result = if self.pipeline.parts.added_tokens.never_matches(SearchStage::Normalized) {
            self.encode_normalized(&mut normalized, row)
        } else {
            self.encode_normalized_segments(&normalized, row)
        };
        self.state.text = normalized;
        result
    }

    /// Finds the added tokens in the normalized text and encodes the text between them.
    fn encode_normalized_segments(&mut self, normalized: &AlignedText, row: &mut Row<'_>) -> Result<(), EncodeError> {
        let mut between = AlignedText::default();
        let Row { literal, plan, .. } = *row;
        let is_literal = |at: u32| {
            let origin = normalized.origin_of(Span { start: at, end: at + 1 });
            first_literal(literal, Span { end: origin.end.max(origin.start + 1), ..origin }).is_some()
        };
        let first_literal = |span: Span| (span.start..span.end).find(|&at| is_literal(at)).map(|at| at as usize);
        let rules = Rules { policy: &plan.policy, guard: self.guard(row, &first_literal) };
        self.pipeline.parts.added_tokens.segments(SearchStage::Normalized, normalized.as_str(), rules, |segment| {
            match segment {
                Segment::Token { token, span } => {
                    let content = &normalized.as_str()[span.range()];
                    row.push_found(self.pipeline, token, content, normalized.origin_of(span))
                }
                Segment::Text(span) => {
                    between.start_slice(normalized, span);
                    between.set_max_bytes(row.budget.remaining());
                    self.encode_normalized(&mut between, row)
                }
            }
        })
    }

    /// Runs pre-tokenizer and model on a normalized text.
    fn encode_normalized(&mut self, text: &mut AlignedText, row: &mut Row<'_>) -> Result<(), EncodeError> {
        self.pre_tokenize(text, &mut row.budget)?;
        let origins = if text.is_tracked() { Origins::Spans(text.origins()) } else { Origins::Unchanged(text.base()) };
        let input = ModelInput { pipeline: self.pipeline, text: text.as_str(), origins };
        if let Some(scanner) = self.pipeline.scanner {
            return self.state.word_encoder.encode(&input, 0, &scanner, row);
        }
        let (bpe, first_offset) = (self.pipeline.model.cutting_bpe(), row.out.offsets.len());
        for (number, &span) in self.state.splits.spans().iter().enumerate() {
            if number % WORDS_AT_A_TIME == 0 {
                check()?;
                if !row.wants_more() {
                    break;
                }
            }
            match bpe {
                Some(bpe) if span.range().len() > MAX_SHORT_LEN && row.visit.is_none() => {
                    let start = span.start as usize;
                    let input = ModelInput { text: &input.text[..span.end as usize], ..input };
                    let pieces = PieceSplitter { bpe, start, spaces: None };
                    self.state.word_encoder.encode(&input, start, &pieces, row)?;
                }
                _ => self.state.word_encoder.encode_word(&input, span, row)?,
            }
        }
        row.place_pieces(self.pipeline, first_offset);
        Ok(())
    }
}

/// The first byte of a span that is in one of the ranges, which are in order.
fn first_literal(ranges: &[Span], span: Span) -> Option<usize> {
    let next = ranges.partition_point(|range| range.end <= span.start);
    let range = ranges.get(next).filter(|range| range.start < span.end && !range.is_empty())?;
    Some(range.start.max(span.start) as usize)
}
