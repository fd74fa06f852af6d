//! Decodes ids that arrive one after the other. Yields text as soon as it is certain, and only
//! whole characters.
//!
//! Tokens pass through the decoder's steps in events: a part of a token, the end of a token, the
//! end of all tokens. Each step keeps the text that it cannot decide yet. Byte-level steps keep an
//! unfinished character. Byte fallback keeps the current run of byte tokens, because a later byte
//! may make the whole run invalid. A step that needs whole tokens and follows a step that joins all
//! tokens must wait for the end.

use std::borrow::Cow;
use std::ops::Deref;

use super::lossy::{REPLACEMENT, from_utf8_lossy};
use super::step_budget::StepBudget;
use super::steps::{Step, Strip, fallback_byte, push_byte_level};
use super::{Decoder, sentencepiece};
use crate::budget::Budget;
use crate::error::DecodeError;
use crate::memory::fallible::{append, catch, check, push};
use crate::options::DecodeOptions;
use crate::tokenizer::Tokenizer;

/// Decodes ids as they arrive. The pieces of text that [`push`](Self::push) and [`end`](Self::end)
/// return, concatenated, are the result of [`Tokenizer::decode`] for all ids.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use tokenlane_core::{DecodeOptions, DecodeStream, RankDefinition, Tokenizer};
///
/// let ranks = "aA== 0\nwg== 1\nrg== 2\n"; // h, and the two bytes of ®
/// let definition = RankDefinition { pattern: r"\w+".into(), special_tokens: vec![] };
/// let tokenizer = Tokenizer::from_ranks(ranks.as_bytes(), &definition)?;
/// let mut stream = DecodeStream::new(&tokenizer, DecodeOptions::default());
/// assert_eq!(stream.push(&[0, 1])?, "h");
/// assert_eq!(stream.push(&[2])?, "®");
/// assert_eq!(stream.end()?, "");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DecodeStream<T> {
    tokenizer: T,
    options: DecodeOptions,
    states: Vec<StepState>,
    /// The number of ids received.
    count: usize,
    /// The budget of all ids received.
    budget: Budget,
    /// The size of all tokens received, in bytes.
    taken: usize,
}

impl<T: Deref<Target = Tokenizer>> DecodeStream<T> {
    /// A stream for a tokenizer, which may be borrowed or shared.
    pub fn new(tokenizer: T, options: DecodeOptions) -> Self {
        let states = tokenizer.pipeline.decoder.states();
        Self { tokenizer, options, states, count: 0, budget: Budget::of_ids(0), taken: 0 }
    }

    /// Returns the text that became certain with these ids. If an unknown id is an error (see
    /// [`Tokenizer::decode`]), none of the ids are consumed. After any other error the stream is
    /// reset.
    pub fn push(&mut self, ids: &[u32]) -> Result<String, DecodeError> {
        let mut text = Vec::new();
        let tokenizer = &*self.tokenizer;
        tokenizer.pipeline.check_ids(ids, self.count)?;
        self.budget.add_ids(ids.len());
        let mut flow = tokenizer.pipeline.decoder.flow(&mut self.states, &mut self.budget, &mut text);
        let taken = &mut self.taken;
        let flowed = catch(|| {
            for token in tokenizer.pipeline.decoded_tokens(ids, &self.options) {
                check()?;
                flow.budget.check(taken.saturating_add(token.len()), "the decoder")?;
                *taken += token.len();
                flow.part(0, token)?;
                flow.end_of_token(0)?;
            }
            Ok::<_, DecodeError>(())
        });
        let text = flowed.and_then(|()| catch(|| Ok(certain(text))));
        match text {
            Ok(_) => self.count += ids.len(),
            // Some of the ids are consumed, and their text is lost.
            Err(_) => self.start_over(),
        }
        text
    }

    /// Returns the rest of the text and resets the stream.
    pub fn end(&mut self) -> Result<String, DecodeError> {
        let mut text = Vec::new();
        let result =
            catch(|| self.tokenizer.pipeline.decoder.flow(&mut self.states, &mut self.budget, &mut text).end(0));
        self.start_over();
        result.and_then(|()| catch(|| Ok(certain(text))))
    }

    fn start_over(&mut self) {
        self.states = self.tokenizer.pipeline.decoder.states();
        (self.count, self.budget, self.taken) = (0, Budget::of_ids(0), 0);
    }
}

fn certain(text: Vec<u8>) -> String {
    // Every step passes on whole characters.
    from_utf8_lossy(text)
}

/// The state of a step.
#[derive(Debug, Default)]
struct StepState {
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
    fn states(&self) -> Vec<StepState> {
        self.steps.iter().map(|_| StepState { stripped: Some(0), ..StepState::default() }).collect()
    }

    fn flow<'a>(&'a self, states: &'a mut [StepState], budget: &'a mut Budget, out: &'a mut Vec<u8>) -> Flow<'a> {
        Flow { steps: &self.steps, states, budget, out }
    }
}

/// The steps with their states. The output of step `at` goes to step `at + 1`, and that of the last
/// step to `out`.
struct Flow<'a> {
    steps: &'a [Step],
    states: &'a mut [StepState],
    budget: &'a mut Budget,
    out: &'a mut Vec<u8>,
}

impl<'a> Flow<'a> {
    fn part(&mut self, at: usize, part: &[u8]) -> Result<(), DecodeError> {
        match self.steps.get(at) {
            None => append(self.out, part),
            Some(Step::Fuse) => self.part(at + 1, part)?,
            Some(&Step::Strip(strip)) => self.strip_part(at, strip, part)?,
            Some(_) => append(&mut self.states[at].token, part),
        }
        Ok(())
    }

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
                self.whole_characters(at, false)
            }
            Step::ByteLevel => {
                push_byte_level(&state.token, &mut state.bytes);
                state.token.clear();
                self.whole_characters(at, false)
            }
            Step::ByteFallback => self.fallback(at),
            Step::SentencePiece(decoder) => {
                let (token, mut text) = (std::mem::take(&mut state.token), vec![]);
                let mut budget = StepBudget::new(self.budget, state.written);
                decoder.piece(&mut state.sentencepiece, &token, false, &mut budget, &mut text)?;
                state.written = budget.written;
                self.whole_token(at + 1, &text)
            }
            Step::Bpe { .. } => {
                let token = std::mem::take(&mut state.token);
                match state.previous.replace(token) {
                    Some(previous) => self.hand_on(at, previous, false),
                    None => Ok(()),
                }
            }
            Step::Ctc { .. } => {
                let token = std::mem::take(&mut state.token);
                if state.previous.as_ref() == Some(&token) {
                    return Ok(());
                }
                state.previous = Some(token.clone());
                self.hand_on(at, token, false)
            }
            _ => {
                let token = std::mem::take(&mut state.token);
                self.hand_on(at, token, false)
            }
        }
    }

    /// Handles the end of all tokens.
    fn end(&mut self, at: usize) -> Result<(), DecodeError> {
        match self.steps.get(at) {
            None => return Ok(()),
            Some(Step::Fuse) => self.end_of_token(at + 1)?,
            Some(Step::Bytes | Step::ByteLevel) => {
                self.whole_characters(at, true)?;
                self.end_of_token(at + 1)?;
            }
            Some(Step::ByteFallback) => self.end_of_run(at)?,
            Some(Step::SentencePiece(decoder)) => {
                let (state, mut text) = (&mut self.states[at], vec![]);
                let mut budget = StepBudget::new(self.budget, state.written);
                decoder.end(&mut state.sentencepiece, false, &mut budget, &mut text)?;
                self.whole_token(at + 1, &text)?;
            }
            Some(Step::Bpe { .. }) => {
                if let Some(last) = self.states[at].previous.take() {
                    self.hand_on(at, last, true)?;
                }
            }
            Some(_) => {}
        }
        self.end(at + 1)
    }

    /// Maps a whole token with step `at` and passes the result to the next step.
    fn hand_on(&mut self, at: usize, token: Vec<u8>, is_last: bool) -> Result<(), DecodeError> {
        let steps: &'a [Step] = self.steps;
        let mut budget = StepBudget::new(self.budget, self.states[at].written);
        let token = steps[at].token(Cow::Owned(token), self.states[at].place, is_last, &mut budget)?;
        self.states[at].written = budget.written;
        self.states[at].place += 1;
        if matches!(steps[at], Step::Ctc { .. }) && token.is_empty() {
            return Ok(());
        }
        self.whole_token(at + 1, &token)
    }

    fn whole_token(&mut self, at: usize, token: &[u8]) -> Result<(), DecodeError> {
        self.part(at, token)?;
        self.end_of_token(at)
    }

    /// Passes on the bytes of step `at`, except for a last character that may still be completed.
    fn whole_characters(&mut self, at: usize, is_end: bool) -> Result<(), DecodeError> {
        let mut bytes = std::mem::take(&mut self.states[at].bytes);
        let kept = if is_end { 0 } else { unfinished(&bytes) };
        self.states[at].bytes = bytes.split_off(bytes.len() - kept);
        if bytes.is_empty() {
            return Ok(());
        }
        self.part(at + 1, from_utf8_lossy(bytes).as_bytes())
    }

    fn fallback(&mut self, at: usize) -> Result<(), DecodeError> {
        let state = &mut self.states[at];
        let token = std::mem::take(&mut state.token);
        let Some(byte) = fallback_byte(&token) else {
            self.end_of_run(at)?;
            return self.whole_token(at + 1, &token);
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
        if state.broken { self.spoilt_run(at) } else { Ok(()) }
    }

    fn end_of_run(&mut self, at: usize) -> Result<(), DecodeError> {
        let state = &mut self.states[at];
        state.whole = 0;
        if std::mem::take(&mut state.broken) || state.bytes.is_empty() {
            return Ok(());
        }
        if std::str::from_utf8(&state.bytes).is_err() {
            return self.spoilt_run(at);
        }
        let run = std::mem::take(&mut state.bytes);
        self.whole_token(at + 1, &run)
    }

    /// Passes on each byte of the run as a token U+FFFD.
    fn spoilt_run(&mut self, at: usize) -> Result<(), DecodeError> {
        self.states[at].whole = 0;
        let count = std::mem::take(&mut self.states[at].bytes).len();
        (0..count).try_for_each(|_| self.whole_token(at + 1, REPLACEMENT))
    }

    fn strip_part(&mut self, at: usize, strip: Strip, part: &[u8]) -> Result<(), DecodeError> {
        let mut buffer = [0; 4];
        let mark: &str = strip.content.encode_utf8(&mut buffer);
        let state = &mut self.states[at];
        let mut rest = part;
        while let (Some(count), Some(shorter)) = (state.stripped, rest.strip_prefix(mark.as_bytes())) {
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
        while let Some(shorter) = rest.strip_suffix(mark.as_bytes()) {
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
        (0..before).for_each(|_| append(&mut stripped, mark.as_bytes()));
        append(&mut stripped, rest);
        (0..after).for_each(|_| append(&mut stripped, mark.as_bytes()));
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
