//! Access to single stages for the benchmarks. It is not part of the public interface, and nothing
//! else may use it.
//!
//! Splitting, the word cache and the model are not public, so other crates could not measure them
//! separately. The module is always compiled, not only with a feature, so that it is linted and
//! cannot become outdated.

use crate::aligned::AlignedText;
use crate::budget::Budget;
use crate::encoder::{Encoder, EncoderState, Plan, Request};
use crate::encoding::Encoding;
use crate::error::EncodeError;
use crate::options::EncodeOptions;
use crate::pretokenizer::scanner::WORDS_AT_A_TIME;
use crate::pretokenizer::splits::Splits;
use crate::simd;
use crate::span::Span;
use crate::text::Text;
use crate::tokenizer::Tokenizer;

/// The pre-tokenizer alone.
#[derive(Debug)]
pub struct PreTokenizerStage<'a> {
    tokenizer: &'a Tokenizer,
    ends: Vec<u32>,
    text: AlignedText,
    splits: Splits,
}

impl<'a> PreTokenizerStage<'a> {
    /// Creates the stage. It ignores the normalizer of the tokenizer.
    pub fn new(tokenizer: &'a Tokenizer) -> Self {
        let ends = Vec::with_capacity(WORDS_AT_A_TIME);
        Self { tokenizer, ends, text: AlignedText::default(), splits: Splits::default() }
    }

    /// The number of words of a text.
    pub fn words(&mut self, text: &str) -> Result<usize, EncodeError> {
        let Self { tokenizer, ends, .. } = self;
        if let Some(scanner) = tokenizer.pipeline.scanner {
            let all = |ends: &mut Vec<u32>| {
                let (mut at, mut words) = (0, 0);
                while at < text.len() {
                    ends.clear();
                    at = scanner.scan(text, at, ends);
                    words += ends.len();
                }
                words
            };
            return Ok(simd::dispatch(
                #[inline(always)]
                || all(ends),
            ));
        }
        self.text.start(text, 0, false);
        self.splits.start(Span::new(0, text.len()));
        self.tokenizer.pipeline.pretokenizer.apply(
            &mut self.text,
            &mut self.splits,
            &mut Budget::of_text(text.len()),
        )?;
        Ok(self.splits.spans().len())
    }
}

/// An encoder with a word cache of its own, which only its own calls fill.
#[derive(Debug)]
pub struct Worker<'a> {
    tokenizer: &'a Tokenizer,
    plan: Plan,
    state: EncoderState,
    out: Encoding,
}

impl<'a> Worker<'a> {
    /// Creates an encoder whose word cache has at most `cache_bytes` bytes and is seeded like that
    /// of a tokenizer. With 0 bytes every word is merged again.
    pub fn new(tokenizer: &'a Tokenizer, options: &EncodeOptions, cache_bytes: usize) -> Result<Self, EncodeError> {
        let plan = tokenizer.plan(options)?;
        let mut state = EncoderState::new(cache_bytes, 0);
        state.seed(&tokenizer.seeds());
        Ok(Self { tokenizer, plan, state, out: Encoding::default() })
    }

    /// Encodes a text with the columns of the options and returns its number of tokens. The result
    /// is discarded.
    pub fn encode(&mut self, text: &str) -> Result<usize, EncodeError> {
        self.out.clear();
        let mut encoder = Encoder::new(&self.tokenizer.pipeline, &mut self.state);
        encoder.encode(Text::Utf8(text), &mut Request::all(&self.plan), &mut self.out)?;
        Ok(self.out.len())
    }
}
