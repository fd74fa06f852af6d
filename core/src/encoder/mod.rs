//! One worker's way of encoding: the stages in order over one text, with the state that goes from text to text.
//!
//! - [`word_encoder`]: the model's part, words to ids.
//! - [`seeds`]: the words that are known before there was a text.
//! - [`row`]: what is known of the tokens beside their ids.
//! - [`offset_converter`]: bytes of a text become the unit of the offsets.
//! - [`compose`]: what becomes of the tokens of a text or two, whole or cut by truncation.

#[cfg(test)]
mod columns_tests;
mod compose;
mod miss_batch;
mod offset_converter;
mod row;
mod seeds;
#[cfg(test)]
mod tests;
mod word_encoder;

use std::sync::Arc;

use crate::added_tokens::{Policy, Segment, Stage};
use crate::aligned::AlignedText;
use crate::bpe::word_cache::SharedWords;
use crate::budget::Budget;
use crate::encoding::{Columns, Encoding, OffsetUnit};
use crate::error::EncodeError;
use crate::memory::fallible::check;
use crate::padding::Padding;
use crate::pretokenizer::scanner::WORDS_AT_A_TIME;
use crate::pretokenizer::splits::Splits;
use crate::segmenter::{SegmentedWords, Segmenter, Stop};
use crate::span::Span;
use crate::tokenizer::Tokenizer;
use crate::truncation::Truncation;
use crate::word_key::MAX_SHORT_LEN;
use compose::{TextTokens, Trimming};
use row::{ModelInput, Origins, Quota, Row};
pub(crate) use seeds::Seeds;
use word_encoder::{Pieces, WordEncoder};

/// What one worker needs to encode, beside the [`Tokenizer`]. It belongs to one worker at a time and remembers words.
#[derive(Debug)]
pub(crate) struct Encoder {
    is_seeded: bool,
    word_encoder: WordEncoder,
    text: AlignedText,
    splits: Splits,
    segmented: SegmentedWords,
    utf8: String,
    /// Where a count puts the ids that nobody wants.
    count_scratch: Encoding,
    quota: Quota,
    /// What is left for the words of a text that came cut into them.
    budget: Budget,
    trimming: Trimming,
    /// The tokens of texts that are cut afterwards.
    texts: [TextTokens; 2],
    /// How many bytes of text it was given.
    pub(crate) encoded_bytes: u64,
}

/// A call's options, resolved against the tokenizer.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) add_special_tokens: bool,
    pub(crate) policy: Policy,
    pub(crate) columns: Columns,
    pub(crate) offset_unit: OffsetUnit,
    pub(crate) truncation: Option<Truncation>,
    /// Encoders do not pad: how much is only known when all rows are there.
    pub(crate) padding: Option<Padding>,
    /// Whether what truncation cuts off is wanted.
    pub(crate) overflow: bool,
    /// Whether [`Encoding::ranges`] is to be set.
    pub(crate) ranges: bool,
}

impl Encoder {
    pub(crate) fn new(cache_bytes: usize, seed: u64) -> Self {
        Self {
            is_seeded: false,
            word_encoder: WordEncoder::new(cache_bytes, seed),
            text: AlignedText::default(),
            splits: Splits::default(),
            segmented: SegmentedWords::default(),
            utf8: String::new(),
            count_scratch: Encoding::default(),
            quota: Quota::default(),
            budget: Budget::default(),
            trimming: Trimming::default(),
            texts: Default::default(),
            encoded_bytes: 0,
        }
    }

    /// It tells others with the same `words` what it learns.
    pub(crate) fn sharing(mut self, words: Arc<SharedWords>) -> Self {
        self.word_encoder.cache.share(words);
        self
    }

    /// Makes it know the words that are known of its tokenizer from the start. What it learned of short words before is forgotten.
    pub(crate) fn seed(&mut self, seeds: &Seeds<'_>) {
        if !std::mem::replace(&mut self.is_seeded, true) {
            self.word_encoder.cache.seed(seeds.len(), seeds.words());
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.word_encoder.cache.memory_bytes()
    }

    pub(crate) fn cache_counts(&self) -> (u64, u64) {
        self.word_encoder.cache.counts()
    }

    /// Lets go of buffers that an unusually long text made grow.
    pub(crate) fn trim(&mut self) {
        const KEEP: usize = 1 << 20;
        self.word_encoder.scratch.trim();
        if self.utf8.capacity() > KEEP {
            self.utf8 = String::new();
        }
        if self.count_scratch.ids.capacity() > KEEP {
            self.count_scratch = Encoding::default();
        }
        if self.texts.iter().any(|text| text.tokens.ids.capacity() > KEEP) || self.trimming.capacity() > KEEP {
            self.texts = Default::default();
            self.trimming = Trimming::default();
        }
        if self.segmented.capacity() > KEEP {
            self.segmented = SegmentedWords::default();
        }
        if self.text.as_str().len() > KEEP {
            self.text = AlignedText::default();
            self.splits = Splits::default();
        }
    }

    /// The stages, on the text between added tokens.
    fn encode_segments(
        &mut self,
        tokenizer: &Tokenizer,
        policy: &Policy,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let original = row.original;
        tokenizer.added_tokens.segments(Stage::Raw, original, policy, |segment| match segment {
            Segment::Token { token, span } => {
                let content = &original[span.range()];
                row.push_added(tokenizer.added_tokens.tokens()[token].id, content, span)
            }
            Segment::Text(span) => self.encode_segment(tokenizer, policy, span, row),
        })
    }

    fn encode_segment(
        &mut self,
        tokenizer: &Tokenizer,
        policy: &Policy,
        span: Span,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        if !row.wants_more() {
            return Ok(());
        }
        let text = &row.original[span.range()];
        let base = span.start as usize;
        if let (Some(spaces), Some(bpe)) = (tokenizer.spaces, tokenizer.model.bpe())
            && let Some(split_points) = &bpe.split_points
        {
            let first = split_points.first_end(&bpe.alphabet, text);
            self.run_pipeline(tokenizer, policy, &text[..first], base, row)?;
            let input = ModelInput { tokenizer, text, origins: Origins::Unchanged(base) };
            let pieces = Pieces { bpe, start: first, spaces: Some(spaces) };
            return self.word_encoder.encode(&input, first, &pieces, row);
        }
        if let Some(segmenter) = &tokenizer.segmenter {
            return self.segmented(tokenizer, segmenter, policy, span, row);
        }
        let unchanged = tokenizer.normalizer.as_ref().is_none_or(|normalizer| normalizer.leaves(text, &mut row.budget));
        let no_more_tokens = tokenizer.added_tokens.is_idle(Stage::Normalized);
        if unchanged
            && no_more_tokens
            && tokenizer.pretokenizer.stages.is_empty()
            && let Some(scanner) = tokenizer.scanner
        {
            let input = ModelInput { tokenizer, text, origins: Origins::Unchanged(base) };
            return self.word_encoder.encode(&input, 0, &scanner, row);
        }
        self.run_pipeline(tokenizer, policy, text, base, row)
    }

    /// Encodes a text with the segmenter; parts that need the normalizer go through the pipeline.
    fn segmented(
        &mut self,
        tokenizer: &Tokenizer,
        segmenter: &Segmenter,
        policy: &Policy,
        span: Span,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let text = &row.original[span.range()];
        let (base, mut at) = (span.start as usize, 0);
        let mut words = std::mem::take(&mut self.segmented);
        let mut result = Ok(());
        while at < text.len() && result.is_ok() && row.wants_more() {
            let stop = segmenter.fill(text, base, at, row.needs_positions(), &mut words);
            result = self.word_encoder.encode_segmented(tokenizer, &words, base, row);
            at = match stop {
                Stop::At(next) => next,
                Stop::General(part) => {
                    if result.is_ok() {
                        result = self.run_pipeline(tokenizer, policy, &text[part.clone()], base + part.start, row);
                    }
                    part.end
                }
            };
        }
        self.segmented = words;
        result
    }

    /// Normalizer, added tokens in normalized text, pre-tokenizer, model. `text` stands at byte `base` of the original.
    fn run_pipeline(
        &mut self,
        tokenizer: &Tokenizer,
        policy: &Policy,
        text: &str,
        base: usize,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let tracked = row.needs_positions() || tokenizer.needs_origins;
        let mut normalized = std::mem::take(&mut self.text);
        normalized.start(text, base, tracked);
        normalized.set_room(row.budget.room());
        if let Some(normalizer) = &tokenizer.normalizer {
            normalizer.normalize(&mut normalized, &mut row.budget)?;
        }
        let result = if tokenizer.added_tokens.is_idle(Stage::Normalized) {
            self.encode_normalized(tokenizer, &mut normalized, row)
        } else {
            self.encode_normalized_segments(tokenizer, policy, &normalized, row)
        };
        self.text = normalized;
        result
    }

    /// Cuts out the tokens that are sought in normalized text, then goes on with what lies between them.
    fn encode_normalized_segments(
        &mut self,
        tokenizer: &Tokenizer,
        policy: &Policy,
        normalized: &AlignedText,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let mut between = AlignedText::default();
        tokenizer.added_tokens.segments(Stage::Normalized, normalized.as_str(), policy, |segment| match segment {
            Segment::Token { token, span } => {
                let content = &normalized.as_str()[span.range()];
                let origin = normalized.origin_of(span);
                row.push_added(tokenizer.added_tokens.tokens()[token].id, content, origin)
            }
            Segment::Text(span) => {
                between.start_slice(normalized, span);
                between.set_room(row.budget.room());
                self.encode_normalized(tokenizer, &mut between, row)
            }
        })
    }

    /// Pre-tokenizer and model on a normalized text.
    fn encode_normalized(
        &mut self,
        tokenizer: &Tokenizer,
        text: &mut AlignedText,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        self.splits.start(Span::new(0, text.as_str().len()));
        tokenizer.pretokenizer.apply(text, &mut self.splits, &mut row.budget)?;
        row.budget.charge(text.as_str().len(), "the pre-tokenizer")?;
        let origins = if text.is_tracked() { Origins::Spans(text.origins()) } else { Origins::Unchanged(text.base()) };
        let input = ModelInput { tokenizer, text: text.as_str(), origins };
        if let Some(scanner) = tokenizer.scanner {
            return self.word_encoder.encode(&input, 0, &scanner, row);
        }
        let bpe = tokenizer.model.bpe().filter(|bpe| bpe.split_points.is_some());
        for (number, &span) in self.splits.spans().iter().enumerate() {
            if number % WORDS_AT_A_TIME == 0 {
                check()?;
                if !row.wants_more() {
                    break;
                }
            }
            match bpe {
                Some(bpe) if span.range().len() > MAX_SHORT_LEN => {
                    let start = span.start as usize;
                    let input = ModelInput { text: &input.text[..span.end as usize], ..input };
                    let pieces = Pieces { bpe, start, spaces: None };
                    self.word_encoder.encode(&input, start, &pieces, row)?;
                }
                _ => self.word_encoder.encode_word(&input, span, row)?,
            }
        }
        Ok(())
    }
}
