//! Decodes ids to text: maps each id to its token, then runs the file's decoder on the tokens.
//!
//! - [`steps`]: the components of a decoder; each maps a list of tokens to another list.
//! - [`byte_run`], [`strip`], [`sentencepiece`]: steps with more state than a token.
//! - [`token_table`]: the text of each id, for decoders that only join the texts of their tokens.
//!
//! Tokens pass through the steps in chunks. A stream has a chunk for each list of ids, and an empty
//! last one; a whole text is a single chunk, which is the last. A step passes on what later tokens
//! cannot change, and keeps the rest in its [`StepState`]: a byte-level step keeps an unfinished
//! character, byte fallback the current run of byte tokens, because a later byte may make all of it
//! invalid.
//!
//! A step that joins all tokens passes on parts of a single token, which ends with the last chunk.
//! Two kinds of steps take such parts as they come; the first step of any other kind collects them
//! and runs on the last chunk. So a chunk costs its own length, whatever came before it.
//!
//! The behaviour is that of Hugging Face tokenizers 0.23; for rank files, that of tiktoken.

mod byte_run;
mod lossy;
pub(crate) mod sentencepiece;
mod step_output;
mod steps;
mod strip;
pub(crate) mod token_table;
mod utf16;

use std::borrow::Cow;
use std::sync::Arc;

use crate::budget::{ALL_DECODERS, Budget};
use crate::error::DecodeError;
use crate::memory::fallible::{append, check, push};
pub(crate) use lossy::from_utf8_lossy;
use step_output::StepOutput;
pub(crate) use steps::Step;
use steps::{StepState, WORK_PER_TOKEN};
pub(crate) use strip::StripEnds;
pub use utf16::to_utf16;

/// A decoder: a sequence of steps. At the end all tokens are joined.
#[derive(Debug)]
pub(crate) struct Decoder {
    steps: Vec<Step>,
}

/// What a decoder keeps between two chunks of a text.
#[derive(Debug)]
pub(crate) struct DecoderState {
    steps: Vec<StepState>,
    pub(crate) budget: Budget,
    /// The size of all tokens received, in bytes.
    received: usize,
    /// Whether invalid UTF-8 is kept. Otherwise it becomes U+FFFD where bytes are joined.
    raw: bool,
}

/// The tokens of a chunk, on their way from step to step.
struct Chunk<'a> {
    tokens: Vec<Cow<'a, [u8]>>,
    /// Whether no chunk follows.
    is_last: bool,
    /// Whether a step has joined all tokens of the text: `tokens` then has the next part of the one
    /// token.
    is_joined: bool,
    raw: bool,
}

impl Decoder {
    pub(crate) fn new(steps: Vec<Step>) -> Self {
        Self { steps }
    }

    /// The decoder of a SentencePiece file.
    pub(crate) fn as_sentencepiece(&self) -> Option<&Arc<sentencepiece::SentencePieceDecoder>> {
        if let [Step::SentencePiece(decoder)] = &self.steps[..] { Some(decoder) } else { None }
    }

    /// Whether a step passes on a token only after the next one, or the end.
    pub(crate) fn delays_tokens(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Bpe { .. }))
    }

    /// Whether the bytes of a text are those of its tokens, each mapped separately.
    pub(crate) fn joins_mapped_tokens(&self) -> bool {
        matches!(self.steps[..], [] | [Step::Bytes | Step::ByteLevel])
    }

    /// Appends the text of one token, for such a decoder.
    pub(crate) fn append_mapped(&self, token: &[u8], bytes: &mut Vec<u8>) {
        match self.steps[..] {
            [Step::ByteLevel] => steps::push_byte_level(token, bytes),
            _ => append(bytes, token),
        }
    }

    /// Appends the bytes that a token adds to a text if other tokens stand around it. Decoding all
    /// of them is the slow twin.
    pub(crate) fn append_inside(
        &self,
        token: &[u8],
        budget: &mut Budget,
        bytes: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        if self.joins_mapped_tokens() {
            self.append_mapped(token, bytes);
            return Ok(());
        }
        let mut output = StepOutput::new(budget, bytes.len());
        let mut token = Cow::Borrowed(token);
        let mut is_joined = false;
        for step in &self.steps {
            token = step.inside(token, is_joined, &mut output)?;
            is_joined |= step.joins();
        }
        append(bytes, &token);
        Ok(())
    }

    /// The state before the first token.
    pub(crate) fn start(&self, budget: Budget, raw: bool) -> DecoderState {
        let steps = self.steps.iter().map(|_| StepState::default()).collect();
        DecoderState { steps, budget, received: 0, raw }
    }

    /// Decodes a chunk of tokens. Returns the bytes that later tokens cannot change: whole
    /// characters, unless the state is raw. Fails if the text is longer than the budget allows,
    /// after any of the steps. After an error, or the last chunk, the state is of no use.
    pub(crate) fn decode<'a>(
        &self,
        state: &mut DecoderState,
        tokens: impl Iterator<Item = &'a [u8]>,
        is_last: bool,
    ) -> Result<Vec<u8>, DecodeError> {
        let mut chunk = Chunk { tokens: vec![], is_last, is_joined: false, raw: state.raw };
        let mut received = StepOutput::new(&mut state.budget, state.received);
        for token in tokens {
            check()?;
            received.charge(token.len())?;
            push(&mut chunk.tokens, Cow::Borrowed(token));
        }
        state.received = received.written;
        if chunk.tokens.is_empty() && !is_last {
            return Ok(vec![]);
        }
        for (step, kept) in self.steps.iter().zip(&mut state.steps) {
            if !is_last {
                // A chunk costs a step about as much as a token does.
                state.budget.work(WORK_PER_TOKEN, ALL_DECODERS)?;
            }
            if chunk.is_joined && !step.takes_parts() && !chunk.collect(&mut kept.bytes) {
                return Ok(vec![]);
            }
            let mut output = StepOutput::new(&mut state.budget, kept.written);
            step.apply(&mut chunk, kept, &mut output)?;
            kept.written = output.written;
        }
        Ok(chunk.take_bytes())
    }
}

impl DecoderState {
    /// Whether a step keeps text of the tokens so far.
    pub(crate) fn holds_text(&self) -> bool {
        self.steps.iter().any(StepState::holds_text)
    }
}

impl Chunk<'_> {
    /// Replaces the tokens by a part of the one token that they make together.
    fn join(&mut self, part: Vec<u8>) {
        self.tokens.clear();
        self.tokens.push(Cow::Owned(part));
        self.is_joined = true;
    }

    /// Appends the part to those before. Returns whether it is the last: `tokens` is then the whole
    /// token.
    fn collect(&mut self, before: &mut Vec<u8>) -> bool {
        if self.is_last && before.is_empty() {
            return true;
        }
        self.tokens.iter().for_each(|part| append(before, part));
        if self.is_last {
            self.join(std::mem::take(before));
        }
        self.is_last
    }

    /// What the tokens make together.
    fn take_bytes(&mut self) -> Vec<u8> {
        if let [Cow::Owned(only)] = &mut self.tokens[..] {
            return std::mem::take(only);
        }
        let mut bytes = vec![];
        self.tokens.iter().for_each(|token| append(&mut bytes, token));
        bytes
    }
}

#[cfg(test)]
mod tests;
