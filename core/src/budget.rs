//! How much one text may cost, relative to its length.
//!
//! A file decides how much text its components make and how hard its patterns search. A [`Budget`] bounds both for one input
//! as a whole, whatever the number of components, segments and words: the output is a multiple of the input, and so is
//! the number of steps that patterns take. Output is charged before it is made.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{DecodeError, EncodeError, LoadError};
use crate::pattern::PatternError;

/// Default of [`max_expansion`]. The largest that real files need is 26: NFKC makes 33 bytes of the three of U+FDFA, a
/// mark of three bytes replaces each of its spaces, and ByteLevel writes two bytes for each of these.
pub const DEFAULT_MAX_EXPANSION: usize = 32;

/// Output that any input may make, in bytes of text. A short text may become this long whatever the factor is.
pub(crate) const LEAST_OUTPUT: usize = 64 << 10;

/// Bytes of input that one id counts as when ids are decoded: with the default factor, 2048 bytes of text for each id.
/// The longest tokens of real vocabularies have a few hundred.
pub(crate) const BYTES_PER_ID: usize = 64;

/// Output that any list of ids may make when it is decoded.
const LEAST_DECODED: usize = 1 << 20;

/// Steps of patterns that any input may take, and those that each byte of it adds. The patterns of real files take less than
/// 40 for a byte.
pub(crate) const LEAST_STEPS: u64 = 1 << 20;
pub(crate) const STEPS_PER_BYTE: u64 = 256;

/// Steps of patterns that each id adds when ids are decoded.
const STEPS_PER_ID: u64 = 1024;

static MAX_EXPANSION: AtomicUsize = AtomicUsize::new(DEFAULT_MAX_EXPANSION);

/// How many times longer than its input a text may become, for all tokenizers of the process.
pub fn max_expansion() -> usize {
    MAX_EXPANSION.load(Ordering::Relaxed)
}

/// Sets [`max_expansion`], from the next text on. `usize::MAX` takes the limit away.
pub fn set_max_expansion(factor: usize) {
    MAX_EXPANSION.store(factor, Ordering::Relaxed);
}

/// More output than the budget has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputLimit {
    pub(crate) component: &'static str,
    pub(crate) reached: usize,
    pub(crate) limit: usize,
}

/// Why a component gave up on a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stop {
    Pattern(PatternError),
    Output(OutputLimit),
}

impl Stop {
    /// As the error of loading what is at `path`, which does this to `text`.
    pub(crate) fn while_loading(self, path: &str, text: &str) -> LoadError {
        match self {
            Self::Pattern(PatternError { pattern, message, .. }) => {
                LoadError::Pattern { path: path.into(), pattern, message: format!("on {text:?}: {message}") }
            }
            Self::Output(OutputLimit { component, reached, limit }) => LoadError::TooLarge {
                what: match component {
                    "the normalizer" => "the normalized text of the added tokens",
                    _ => component,
                },
                size: reached as u64,
                limit: limit as u64,
            },
        }
    }
}

impl From<PatternError> for Stop {
    fn from(error: PatternError) -> Self {
        Self::Pattern(error)
    }
}

impl From<OutputLimit> for Stop {
    fn from(error: OutputLimit) -> Self {
        Self::Output(error)
    }
}

impl From<OutputLimit> for EncodeError {
    fn from(OutputLimit { component, reached, limit }: OutputLimit) -> Self {
        Self::OutputLimit { component, reached, limit }
    }
}

impl From<OutputLimit> for DecodeError {
    fn from(OutputLimit { reached, limit, .. }: OutputLimit) -> Self {
        Self::OutputLimit { reached, limit }
    }
}

impl From<Stop> for EncodeError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Pattern(error) => error.into(),
            Stop::Output(error) => error.into(),
        }
    }
}

impl From<Stop> for DecodeError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Pattern(error) => error.into(),
            Stop::Output(error) => error.into(),
        }
    }
}

/// What is left for one input. It grows with the input as that comes in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// Steps that patterns may still take.
    pub(crate) steps: u64,
    least: usize,
    factor: usize,
    input: usize,
    /// Bytes of output that are charged for good.
    used: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { steps: LEAST_STEPS, least: LEAST_OUTPUT, factor: max_expansion(), input: 0, used: 0 }
    }
}

impl Budget {
    /// For a text of so many bytes.
    pub(crate) fn of_text(bytes: usize) -> Self {
        let mut made = Self::default();
        made.add_input(bytes);
        made
    }

    /// For so many ids that are decoded.
    pub(crate) fn of_ids(ids: usize) -> Self {
        let mut made = Self { least: LEAST_DECODED, ..Self::default() };
        made.add_ids(ids);
        made
    }

    pub(crate) fn add_input(&mut self, bytes: usize) {
        self.input = self.input.saturating_add(bytes);
        self.steps = self.steps.saturating_add(STEPS_PER_BYTE.saturating_mul(bytes as u64));
    }

    pub(crate) fn add_ids(&mut self, ids: usize) {
        self.input = self.input.saturating_add(ids.saturating_mul(BYTES_PER_ID));
        self.steps = self.steps.saturating_add(STEPS_PER_ID.saturating_mul(ids as u64));
    }

    pub(crate) fn limit(&self) -> usize {
        self.input.saturating_mul(self.factor).max(self.least)
    }

    /// Bytes of output that may still be made.
    pub(crate) fn room(&self) -> usize {
        self.limit().saturating_sub(self.used)
    }

    /// Fails if a component is about to make `bytes` of output, all it has made for this part of the input included.
    pub(crate) fn check(&self, bytes: usize, component: &'static str) -> Result<(), OutputLimit> {
        if bytes <= self.room() {
            return Ok(());
        }
        Err(OutputLimit { component, reached: self.used.saturating_add(bytes), limit: self.limit() })
    }

    /// Takes `bytes` of output off the budget for good.
    pub(crate) fn charge(&mut self, bytes: usize, component: &'static str) -> Result<(), OutputLimit> {
        self.check(bytes, component)?;
        self.used += bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_a_multiple_of_all_input_and_charged_once() {
        let mut budget = Budget::of_text(1);
        assert_eq!(budget.limit(), LEAST_OUTPUT);
        budget.add_input(LEAST_OUTPUT);
        let limit = (1 + LEAST_OUTPUT) * DEFAULT_MAX_EXPANSION;
        assert_eq!(budget.room(), limit);
        assert_eq!(budget.charge(limit - 5, "x"), Ok(()));
        assert_eq!(budget.check(5, "x"), Ok(()));
        assert_eq!(budget.charge(6, "x"), Err(OutputLimit { component: "x", reached: limit + 1, limit }));
        assert_eq!(budget.room(), 5);
        assert_eq!(budget.steps, LEAST_STEPS + STEPS_PER_BYTE * (1 + LEAST_OUTPUT as u64));
    }

    #[test]
    fn no_number_overflows() {
        let mut budget = Budget { factor: usize::MAX, ..Budget::of_text(usize::MAX) };
        budget.add_input(usize::MAX);
        assert_eq!(budget.charge(usize::MAX, "x"), Ok(()));
        assert!(budget.charge(1, "x").is_err());
        assert_eq!(Budget::of_ids(usize::MAX).limit(), usize::MAX);
    }
}
