//! The words of a text: the stages before the model, without the model. Trainers count them.

use super::Session;
use crate::added_tokens::{Policy, SearchStage, Segment};
use crate::aligned::AlignedText;
use crate::budget::Budget;
use crate::error::EncodeError;
use crate::memory::fallible::checkpoint;
use crate::pretokenizer::scanner::Scanner;
use crate::segmenter::{FillEnd, OriginalPart};
use crate::simd;

/// A word, as [`Tokenizer::each_word`](crate::Tokenizer::each_word) passes it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word<'a> {
    /// A word of the pre-tokenizer.
    Split(&'a str),
    /// An added token that the text contains. It never reaches the model.
    Added(&'a str),
}

impl Session<'_> {
    /// Calls `visit` with the words of a text, in order. The stages are those of encoding.
    pub(crate) fn each_word(&mut self, text: &str, visit: &mut impl FnMut(Word<'_>)) -> Result<(), EncodeError> {
        let mut budget = Budget::default();
        budget.add_input(text.len());
        let pipeline = self.pipeline;
        pipeline.parts.added_tokens.segments(SearchStage::Raw, text, &Policy::Parse, |segment| match segment {
            Segment::Token { span, .. } => {
                visit(Word::Added(&text[span.range()]));
                Ok(())
            }
            Segment::Text(span) => self.words_of_segment(&text[span.range()], span.start as usize, &mut budget, visit),
        })
    }

    /// The words of a part of the original text between two added tokens. `text` starts at byte
    /// `base` of the original. Chooses the stages as `encode_segment` does; only the models that
    /// read spaces as they are need no way of their own here.
    fn words_of_segment(
        &mut self,
        text: &str,
        base: usize,
        budget: &mut Budget,
        visit: &mut impl FnMut(Word<'_>),
    ) -> Result<(), EncodeError> {
        if let Some(segmenter) = &self.pipeline.segmenter {
            let mut words = std::mem::take(&mut self.encoder.segmented_words);
            let (mut at, mut result) = (0, Ok(()));
            while at < text.len() && result.is_ok() {
                let stop = segmenter.fill(OriginalPart { text, base }, at, false, &mut words);
                let written = simdutf8::basic::from_utf8(words.bytes()).expect("a segmenter writes characters");
                each_range(written, 0, words.ends(), visit);
                at = match stop {
                    FillEnd::At(next) => next,
                    FillEnd::General(part) => {
                        result = self.words_of_pipeline(&text[part.clone()], base + part.start, budget, visit);
                        part.end
                    }
                };
            }
            self.encoder.segmented_words = words;
            return result;
        }
        if let Some(scanner) = self.scanner_of_original(text, budget) {
            self.scan_words(scanner, text, visit);
            return Ok(());
        }
        self.words_of_pipeline(text, base, budget, visit)
    }

    /// Runs normalizer, added tokens in normalized text, and pre-tokenizer.
    fn words_of_pipeline(
        &mut self,
        text: &str,
        base: usize,
        budget: &mut Budget,
        visit: &mut impl FnMut(Word<'_>),
    ) -> Result<(), EncodeError> {
        let pipeline = self.pipeline;
        let mut normalized = self.normalize(text, base, pipeline.needs_origins, budget)?;
        let result = if pipeline.parts.added_tokens.never_matches(SearchStage::Normalized) {
            self.words_of_normalized(&mut normalized, budget, visit)
        } else {
            let mut between = AlignedText::default();
            let whole = normalized.as_str();
            let stage = SearchStage::Normalized;
            pipeline.parts.added_tokens.segments(stage, whole, &Policy::Parse, |segment| match segment {
                Segment::Token { span, .. } => {
                    visit(Word::Added(&whole[span.range()]));
                    Ok(())
                }
                Segment::Text(span) => {
                    between.start_slice(&normalized, span);
                    between.set_max_bytes(budget.remaining());
                    self.words_of_normalized(&mut between, budget, visit)
                }
            })
        };
        self.encoder.text = normalized;
        result
    }

    /// Runs the pre-tokenizer on a normalized text.
    fn words_of_normalized(
        &mut self,
        text: &mut AlignedText,
        budget: &mut Budget,
        visit: &mut impl FnMut(Word<'_>),
    ) -> Result<(), EncodeError> {
        self.pre_tokenize(text, budget)?;
        if let Some(scanner) = self.pipeline.scanner {
            self.scan_words(scanner, text.as_str(), visit);
            return Ok(());
        }
        for &span in self.encoder.splits.spans() {
            if span.start < span.end {
                visit(Word::Split(&text.as_str()[span.range()]));
            }
        }
        Ok(())
    }

    /// The words that the scanner finds in a text.
    fn scan_words(&mut self, scanner: Scanner, text: &str, visit: &mut impl FnMut(Word<'_>)) {
        let mut ends = std::mem::take(&mut self.encoder.word_encoder.ends);
        simd::dispatch(
            #[inline(always)]
            || {
                let mut at = 0;
                while at < text.len() {
                    checkpoint();
                    let start = at;
                    ends.clear();
                    at = scanner.scan(text, at, &mut ends);
                    each_range(text, start, &ends, visit);
                }
            },
        );
        self.encoder.word_encoder.ends = ends;
    }
}

/// Visits adjacent words of a text, of which the first one starts at byte `start`.
#[inline(always)]
fn each_range(text: &str, mut start: usize, ends: &[u32], visit: &mut impl FnMut(Word<'_>)) {
    for &end in ends {
        visit(Word::Split(&text[start..end as usize]));
        start = end as usize;
    }
}
