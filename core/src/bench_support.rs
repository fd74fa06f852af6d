//! Single stages, for the benches: no part of the interface, and nothing else may build on it.
//!
//! Splitting, the word cache and the model are not public, and from outside none of them can be timed without the others.
//! This door is always compiled, not behind a feature: so it is linted and cannot fall behind.

use crate::aligned::AlignedText;
use crate::budget::Budget;
use crate::encoder::{Encoder, Plan};
use crate::encoding::Encoding;
use crate::error::EncodeError;
use crate::pretokenizer::scanner::WORDS_AT_A_TIME;
use crate::pretokenizer::splits::Splits;
use crate::simd::{self, Simd};
use crate::span::Span;
use crate::text::Text;
use crate::tokenizer::{EncodeOptions, Tokenizer};

/// The instructions that scanners use on this processor.
pub fn instruction_set() -> String {
    Simd::best().name().to_owned()
}

/// The pre-tokenizer alone.
#[derive(Debug)]
pub struct Splitter<'a> {
    tokenizer: &'a Tokenizer,
    ends: Vec<u32>,
    text: AlignedText,
    splits: Splits,
}

impl<'a> Splitter<'a> {
    /// Of `tokenizer`; its normalizer is left out.
    pub fn new(tokenizer: &'a Tokenizer) -> Self {
        let ends = Vec::with_capacity(WORDS_AT_A_TIME);
        Self { tokenizer, ends, text: AlignedText::default(), splits: Splits::default() }
    }

    /// How many words there are in a text.
    pub fn words(&mut self, text: &str) -> Result<usize, EncodeError> {
        let Self { tokenizer, ends, .. } = self;
        if let Some(scanner) = tokenizer.scanner {
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
        self.tokenizer.pretokenizer.apply(&mut self.text, &mut self.splits, &mut Budget::of_text(text.len()))?;
        Ok(self.splits.spans().len())
    }
}

/// One encoder with a word cache of its own, which no call but its own has filled.
#[derive(Debug)]
pub struct Worker<'a> {
    tokenizer: &'a Tokenizer,
    plan: Plan,
    encoder: Encoder,
    out: Encoding,
}

impl<'a> Worker<'a> {
    /// With a word cache of at most so many bytes, which knows what a tokenizer's does from the start. With none every word is merged anew.
    pub fn new(tokenizer: &'a Tokenizer, options: &EncodeOptions, cache_bytes: usize) -> Result<Self, EncodeError> {
        let plan = tokenizer.plan(options)?;
        let mut encoder = Encoder::new(cache_bytes, 0);
        encoder.seed(&tokenizer.seeds());
        Ok(Self { tokenizer, plan, encoder, out: Encoding::default() })
    }

    /// How many tokens a text has; they are made, with the columns that the options name, and forgotten.
    pub fn encode(&mut self, text: &str) -> Result<usize, EncodeError> {
        self.out.clear();
        self.encoder.encode(self.tokenizer, &Text::Utf8(text).into(), &self.plan, &mut self.out)?;
        Ok(self.out.len())
    }
}
