//! Runs the steps of a decoder on tokens that arrive one after the other.
//!
//! Tokens pass through the steps in events: a part of a token, the end of a token, the end of all
//! tokens. Each step keeps the text that it cannot decide yet. Byte-level steps keep an unfinished
//! character. Byte fallback keeps the current run of byte tokens, because a later byte may make the
//! whole run invalid. A step that needs whole tokens and follows a step that joins all tokens must
//! wait for the end.

use std::borrow::Cow;

use super::lossy::{REPLACEMENT, from_utf8_lossy};
use super::step_budget::StepBudget;
use super::steps::{Step, StripEnds, WORK_PER_PASSED_TOKEN, fallback_byte, push_byte_level};
use super::{Decoder, sentencepiece};
use crate::budget::{ALL_DECODERS, Budget};
use crate::error::DecodeError;
use crate::memory::fallible::{append, push};

/// The state of a step.
#[derive(Debug, Default)]
pub(crate) struct StepState {
    /// The current token, whose end has not arrived yet.
    token: Vec<u8>,
    /// The number of tokens before it.
    place: usize,
    /// The previous token, for steps that need it.
    previous: Option<Vec<u8>>,
    /// Bytes that are not certain yet.
    bytes: Vec<u8>,
    /// The number of bytes of a run that are known to be whole characters.
    whole: usize,
    /// The size in bytes of the tokens that the step has written.
    written: usize,
    /// Whether the run of byte tokens is known to be invalid UTF-8.
    broken: bool,
    /// The number of characters stripped from the start of the token; `None` after another
    /// character.
    stripped: Option<usize>,
    /// The number of characters at the end of the received part of the token that may still be
    /// stripped.
    held: usize,
    sentencepiece: sentencepiece::StreamState,
}

impl Decoder {
    /// The states of all steps before the first token.
    pub(crate) fn states(&self) -> Vec<StepState> {
        self.steps.iter().map(|_| StepState { stripped: Some(0), ..StepState::default() }).collect()
    }

    /// Connects the steps with their states, and with the end of the text so far. Every step passes
    /// on whole characters.
    pub(crate) fn flow<'a>(
        &'a self,
        states: &'a mut [StepState],
        budget: &'a mut Budget,
        out: &'a mut Vec<u8>,
    ) -> Flow<'a> {
        Flow { steps: &self.steps, states, budget, out }
    }
}

/// The steps with their states. The output of step `at` goes to step `at + 1`, and that of the last
/// step to `out`.
pub(crate) struct Flow<'a> {
    steps: &'a [Step],
    states: &'a mut [StepState],
    budget: &'a mut Budget,
    out: &'a mut Vec<u8>,
}

impl<'a> Flow<'a> {
    /// Passes a token through the steps.
    pub(crate) fn token(&mut self, token: &[u8]) -> Result<(), DecodeError> {
        self.pass_token(0, token)
    }

    /// Passes on what the steps keep. No token follows.
    pub(crate) fn end(mut self) -> Result<(), DecodeError> {
        (0..self.steps.len()).try_for_each(|at| self.end_of_tokens(at))
    }

    /// Handles a part of a token in step `at`.
    fn part(&mut self, at: usize, part: &[u8]) -> Result<(), DecodeError> {
        if at < self.steps.len() {
            self.budget.work(4 * WORK_PER_PASSED_TOKEN + part.len() / 2, ALL_DECODERS)?;
        }
        match self.steps.get(at) {
            None => append(self.out, part),
            Some(Step::Fuse) => self.part(at + 1, part)?,
            Some(&Step::Strip(strip)) => self.strip_part(at, strip, part)?,
            Some(_) => append(&mut self.states[at].token, part),
        }
        Ok(())
    }

    /// Handles the end of a token in step `at`.
    fn end_of_token(&mut self, at: usize) -> Result<(), DecodeError> {
        let steps: &'a [Step] = self.steps;
        let Some(step) = steps.get(at) else { return Ok(()) };
        let state = &mut self.states[at];
        match step {
            Step::Fuse => Ok(()),
            Step::Strip(_) => {
                (state.stripped, state.held) = (Some(0), 0);
                self.end_of_token(at + 1)
            }
            Step::Bytes => {
                append(&mut state.bytes, &state.token);
                state.token.clear();
                self.pass_characters(at, false)
            }
            Step::ByteLevel => {
                push_byte_level(&state.token, &mut state.bytes);
                state.token.clear();
                self.pass_characters(at, false)
            }
            Step::ByteFallback => self.fallback(at),
            Step::SentencePiece(decoder) => {
                let (token, mut text) = (std::mem::take(&mut state.token), vec![]);
                let mut budget = StepBudget::new(self.budget, state.written);
                decoder.piece(&mut state.sentencepiece, &token, false, &mut budget, &mut text)?;
                state.written = budget.written;
                self.pass_token(at + 1, &text)
            }
            Step::Bpe { .. } => {
                let token = std::mem::take(&mut state.token);
                match state.previous.replace(token) {
                    Some(previous) => self.map_token(at, previous, false),
                    None => Ok(()),
                }
            }
            Step::Ctc { .. } => {
                let token = std::mem::take(&mut state.token);
                if state.previous.as_ref() == Some(&token) {
                    return Ok(());
                }
                state.previous = Some(token.clone());
                self.map_token(at, token, false)
            }
            _ => {
                let token = std::mem::take(&mut state.token);
                self.map_token(at, token, false)
            }
        }
    }

    /// Handles the end of all tokens in step `at`. The steps before it have handled it.
    fn end_of_tokens(&mut self, at: usize) -> Result<(), DecodeError> {
        match self.steps.get(at) {
            Some(Step::Fuse) => self.end_of_token(at + 1)?,
            Some(Step::Bytes | Step::ByteLevel) => {
                self.pass_characters(at, true)?;
                self.end_of_token(at + 1)?;
            }
            Some(Step::ByteFallback) => self.end_of_run(at)?,
            Some(Step::SentencePiece(decoder)) => {
                let (state, mut text) = (&mut self.states[at], vec![]);
                let mut budget = StepBudget::new(self.budget, state.written);
                decoder.end(&mut state.sentencepiece, false, &mut budget, &mut text)?;
                self.pass_token(at + 1, &text)?;
            }
            Some(Step::Bpe { .. }) => {
                if let Some(last) = self.states[at].previous.take() {
                    self.map_token(at, last, true)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Maps a whole token by step `at` and passes the result to the next step.
    fn map_token(&mut self, at: usize, token: Vec<u8>, is_last: bool) -> Result<(), DecodeError> {
        let steps: &'a [Step] = self.steps;
        let mut budget = StepBudget::new(self.budget, self.states[at].written);
        let token = steps[at].token(Cow::Owned(token), self.states[at].place, is_last, &mut budget)?;
        self.states[at].written = budget.written;
        self.states[at].place += 1;
        if matches!(steps[at], Step::Ctc { .. }) && token.is_empty() {
            return Ok(());
        }
        self.pass_token(at + 1, &token)
    }

    /// Passes a whole token to step `at`.
    fn pass_token(&mut self, at: usize, token: &[u8]) -> Result<(), DecodeError> {
        self.part(at, token)?;
        self.end_of_token(at)
    }

    /// Passes on the bytes of step `at`, except for a last character that may still be completed.
    fn pass_characters(&mut self, at: usize, is_end: bool) -> Result<(), DecodeError> {
        let mut bytes = std::mem::take(&mut self.states[at].bytes);
        let kept = if is_end { 0 } else { unfinished(&bytes) };
        self.states[at].bytes = bytes.split_off(bytes.len() - kept);
        if bytes.is_empty() {
            return Ok(());
        }
        self.part(at + 1, from_utf8_lossy(bytes).as_bytes())
    }

    /// Handles the end of a token in a step of byte fallback.
    fn fallback(&mut self, at: usize) -> Result<(), DecodeError> {
        let state = &mut self.states[at];
        let token = std::mem::take(&mut state.token);
        let Some(byte) = fallback_byte(&token) else {
            self.end_of_run(at)?;
            return self.pass_token(at + 1, &token);
        };
        push(&mut state.bytes, byte);
        // Only the last character can be unfinished, so a long run is not read again for each byte.
        match std::str::from_utf8(&state.bytes[state.whole..]) {
            Ok(_) => state.whole = state.bytes.len(),
            Err(error) => {
                state.whole += error.valid_up_to();
                state.broken |= error.error_len().is_some();
            }
        }
        if state.broken { self.pass_invalid_run(at) } else { Ok(()) }
    }

    /// Passes on a run of byte tokens that has ended: as one token if it is UTF-8.
    fn end_of_run(&mut self, at: usize) -> Result<(), DecodeError> {
        let state = &mut self.states[at];
        state.whole = 0;
        if std::mem::take(&mut state.broken) || state.bytes.is_empty() {
            return Ok(());
        }
        if std::str::from_utf8(&state.bytes).is_err() {
            return self.pass_invalid_run(at);
        }
        let run = std::mem::take(&mut state.bytes);
        self.pass_token(at + 1, &run)
    }

    /// Passes on each byte of the run as a token U+FFFD.
    fn pass_invalid_run(&mut self, at: usize) -> Result<(), DecodeError> {
        self.states[at].whole = 0;
        let count = std::mem::take(&mut self.states[at].bytes).len();
        (0..count).try_for_each(|_| self.pass_token(at + 1, REPLACEMENT))
    }

    /// Handles a part of a token in a step that strips a character from both ends.
    fn strip_part(&mut self, at: usize, strip: StripEnds, part: &[u8]) -> Result<(), DecodeError> {
        let mut buffer = [0; 4];
        let content: &str = strip.content.encode_utf8(&mut buffer);
        let state = &mut self.states[at];
        let mut rest = part;
        while let (Some(count), Some(shorter)) = (state.stripped, rest.strip_prefix(content.as_bytes())) {
            if count == strip.start {
                break;
            }
            state.stripped = Some(count + 1);
            rest = shorter;
        }
        if rest.is_empty() {
            return Ok(());
        }
        state.stripped = None;
        // Characters at the end are held back, as many as may be stripped. Those held back are
        // passed on if other text follows.
        let mut held = 0;
        while let Some(shorter) = rest.strip_suffix(content.as_bytes()) {
            held += 1;
            rest = shorter;
        }
        let before = if rest.is_empty() {
            held += state.held;
            held.saturating_sub(strip.stop)
        } else {
            state.held
        };
        let after = if rest.is_empty() { 0 } else { held.saturating_sub(strip.stop) };
        state.held = held.min(strip.stop);
        let mut stripped = vec![];
        (0..before).for_each(|_| append(&mut stripped, content.as_bytes()));
        append(&mut stripped, rest);
        (0..after).for_each(|_| append(&mut stripped, content.as_bytes()));
        self.part(at + 1, &stripped)
    }
}

/// The number of bytes at the end that are the start of an incomplete character.
fn unfinished(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(4);
    let Some(start) = bytes[tail..].iter().rposition(|&byte| byte & 0xC0 != 0x80) else { return 0 };
    let last = &bytes[tail + start..];
    match std::str::from_utf8(last) {
        Err(error) if error.error_len().is_none() => last.len() - error.valid_up_to(),
        _ => 0,
    }
}
