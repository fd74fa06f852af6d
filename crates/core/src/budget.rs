//! Limits the cost of one text relative to its length.
//!
//! A file determines how much text its components produce and how long its patterns search. A
//! [`Budget`] limits both for one text as a whole, whatever the number of components, segments and
//! words: the output is at most a multiple of the input, and so is the number of steps that
//! patterns take. Output is charged before it is allocated. Each text of a pair has a budget of its
//! own; the words of a text that comes split share one.
//!
//! A chain of many components can take long although its output is short. So each component also
//! charges the work of one pass, in steps of a few nanoseconds, before it runs: the work of all
//! components together has a limit too.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{DecodeError, EncodeError, LoadError};
use crate::pattern::PatternError;

/// Default of [`max_expansion`]. The largest factor that real files need is 26: NFKC turns the
/// three bytes of U+FDFA into 33, a meta symbol of three bytes replaces each space among them, and
/// ByteLevel writes two bytes for each byte of the meta symbol.
pub const DEFAULT_MAX_EXPANSION: usize = 32;

/// Output that every input may produce, in bytes, whatever its length and the factor: 64 KiB.
pub(crate) const MIN_OUTPUT: usize = 64 << 10;

/// The maximum of the factor for the normalized text of added tokens.
const MAX_TOKEN_EXPANSION: usize = 8;

/// Bytes of input that one id counts as when ids are decoded. With the default factor, this permits
/// 2048 bytes of text for each id. The longest tokens of real vocabularies have a few hundred.
pub(crate) const BYTES_PER_ID: usize = 64;

/// Output that every list of ids may produce when it is decoded, in bytes: 1 MiB.
const MIN_DECODED: usize = 1 << 20;

/// Pattern steps that every input may take, and those that each byte of it adds. The patterns of
/// real files take less than 40 per byte.
pub(crate) const MIN_PATTERN_STEPS: u64 = 1 << 20;
pub(crate) const PATTERN_STEPS_PER_BYTE: u64 = 256;

/// Pattern steps that each id adds when ids are decoded.
const PATTERN_STEPS_PER_ID: u64 = 1024;

/// Steps of work for each byte of output that a text or a list of ids may have. The chains of real
/// files take less than 100 steps per byte of a text, and less than 200 per id; 512 and 4096 are
/// allowed.
const WORK_PER_OUTPUT: u64 = 16;
const WORK_PER_DECODED: u64 = 2;

/// The names of chains in errors about work.
pub(crate) const ALL_NORMALIZERS: &str = "the chain of normalizers";
pub(crate) const ALL_PRETOKENIZERS: &str = "the chain of pre-tokenizers";
pub(crate) const ALL_DECODERS: &str = "the chain of decoders";

static MAX_EXPANSION: AtomicUsize = AtomicUsize::new(DEFAULT_MAX_EXPANSION);

/// The maximum ratio of the size of a text to that of its input, for all tokenizers of the process.
pub fn max_expansion() -> usize {
    MAX_EXPANSION.load(Ordering::Relaxed)
}

/// Sets [`max_expansion`], from the next text on. `usize::MAX` removes the limit.
pub fn set_max_expansion(factor: usize) {
    MAX_EXPANSION.store(factor, Ordering::Relaxed);
}

/// The error of output or work that exceeds the budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputLimit {
    unit: Unit,
    component: &'static str,
    reached: usize,
    limit: usize,
}

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Bytes of output.
    Bytes,
    /// Steps of work.
    Steps,
}

/// The reason why a component stopped processing a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StageError {
    Pattern(PatternError),
    Output(OutputLimit),
}

impl StageError {
    /// Converts to the error of loading an added token whose text the normalizer stopped at.
    pub(crate) fn of_added_token(self, content: &str) -> LoadError {
        match self {
            Self::Pattern(PatternError { pattern, why, .. }) => {
                LoadError::Pattern { path: "normalizer".into(), pattern, message: format!("on {content:?}: {why}") }
            }
            Self::Output(OutputLimit { reached, limit, .. }) => LoadError::TooLarge {
                what: "the normalized text of the added tokens",
                size: reached as u64,
                limit: limit as u64,
            },
        }
    }
}

impl From<PatternError> for StageError {
    fn from(error: PatternError) -> Self {
        Self::Pattern(error)
    }
}

impl From<OutputLimit> for StageError {
    fn from(error: OutputLimit) -> Self {
        Self::Output(error)
    }
}

impl From<OutputLimit> for EncodeError {
    fn from(OutputLimit { unit, component, reached, limit }: OutputLimit) -> Self {
        match unit {
            Unit::Bytes => Self::OutputLimit { component, reached, limit },
            Unit::Steps => Self::WorkLimit { chain: component, reached, limit },
        }
    }
}

impl From<OutputLimit> for DecodeError {
    fn from(OutputLimit { unit, component, reached, limit }: OutputLimit) -> Self {
        match unit {
            Unit::Bytes => Self::OutputLimit { component, reached, limit },
            Unit::Steps => Self::WorkLimit { chain: component, reached, limit },
        }
    }
}

impl From<StageError> for EncodeError {
    fn from(error: StageError) -> Self {
        match error {
            StageError::Pattern(error) => error.into(),
            StageError::Output(error) => error.into(),
        }
    }
}

impl From<StageError> for DecodeError {
    fn from(error: StageError) -> Self {
        match error {
            StageError::Pattern(error) => error.into(),
            StageError::Output(error) => error.into(),
        }
    }
}

/// The remaining budget of one input. It grows as more of the input arrives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// The number of steps that patterns may still take.
    pub(crate) pattern_steps: u64,
    /// The minimum of [`Self::limit`].
    min_limit: usize,
    factor: usize,
    input_bytes: usize,
    /// Bytes of output that were charged.
    output_bytes: usize,
    /// Steps of work that were charged.
    work_steps: u64,
    work_per_output: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            pattern_steps: MIN_PATTERN_STEPS,
            min_limit: MIN_OUTPUT,
            factor: max_expansion(),
            input_bytes: 0,
            output_bytes: 0,
            work_steps: 0,
            work_per_output: WORK_PER_OUTPUT,
        }
    }
}

impl Budget {
    /// The budget of a text.
    pub(crate) fn of_text(bytes: usize) -> Self {
        let mut budget = Self::default();
        budget.add_input(bytes);
        budget
    }

    /// The budget of the contents of all added tokens. The search for them takes some 100 bytes for
    /// each byte that it seeks.
    pub(crate) fn of_tokens(bytes: usize) -> Self {
        let mut budget = Self::of_text(bytes);
        budget.factor = budget.factor.min(MAX_TOKEN_EXPANSION);
        budget
    }

    /// The budget of ids that are decoded.
    pub(crate) fn of_ids(ids: usize) -> Self {
        let mut budget = Self { min_limit: MIN_DECODED, work_per_output: WORK_PER_DECODED, ..Self::default() };
        budget.add_ids(ids);
        budget
    }

    pub(crate) fn add_input(&mut self, bytes: usize) {
        self.input_bytes = self.input_bytes.saturating_add(bytes);
        self.pattern_steps = self.pattern_steps.saturating_add(PATTERN_STEPS_PER_BYTE.saturating_mul(bytes as u64));
    }

    pub(crate) fn add_ids(&mut self, ids: usize) {
        self.input_bytes = self.input_bytes.saturating_add(ids.saturating_mul(BYTES_PER_ID));
        self.pattern_steps = self.pattern_steps.saturating_add(PATTERN_STEPS_PER_ID.saturating_mul(ids as u64));
    }

    pub(crate) fn limit(&self) -> usize {
        self.input_bytes.saturating_mul(self.factor).max(self.min_limit)
    }

    /// Bytes of output that may still be produced.
    pub(crate) fn remaining(&self) -> usize {
        self.limit().saturating_sub(self.output_bytes)
    }

    /// Fails if a component is about to produce `bytes` of output, including its previous output
    /// for this part of the input.
    pub(crate) fn check(&self, bytes: usize, component: &'static str) -> Result<(), OutputLimit> {
        if bytes <= self.remaining() {
            return Ok(());
        }
        Err(OutputLimit {
            unit: Unit::Bytes,
            component,
            reached: self.output_bytes.saturating_add(bytes),
            limit: self.limit(),
        })
    }

    /// Charges steps of work. Fails if all components together take more than is allowed.
    pub(crate) fn work(&mut self, steps: usize, component: &'static str) -> Result<(), OutputLimit> {
        self.work_steps = self.work_steps.saturating_add(steps as u64);
        let limit = self.work_per_output.saturating_mul(self.limit() as u64);
        if self.work_steps <= limit {
            return Ok(());
        }
        let size = |steps: u64| usize::try_from(steps).unwrap_or(usize::MAX);
        Err(OutputLimit { unit: Unit::Steps, component, reached: size(self.work_steps), limit: size(limit) })
    }

    /// Charges `bytes` of output.
    pub(crate) fn charge(&mut self, bytes: usize, component: &'static str) -> Result<(), OutputLimit> {
        self.check(bytes, component)?;
        self.output_bytes += bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_a_multiple_of_all_input_and_charged_once() {
        let mut budget = Budget::of_text(1);
        assert_eq!(budget.limit(), MIN_OUTPUT);
        budget.add_input(MIN_OUTPUT);
        let limit = (1 + MIN_OUTPUT) * DEFAULT_MAX_EXPANSION;
        assert_eq!(budget.remaining(), limit);
        assert_eq!(budget.charge(limit - 5, "x"), Ok(()));
        assert_eq!(budget.check(5, "x"), Ok(()));
        let error = OutputLimit { unit: Unit::Bytes, component: "x", reached: limit + 1, limit };
        assert_eq!(budget.charge(6, "x"), Err(error));
        assert_eq!(budget.remaining(), 5);
        assert_eq!(budget.pattern_steps, MIN_PATTERN_STEPS + PATTERN_STEPS_PER_BYTE * (1 + MIN_OUTPUT as u64));
    }

    #[test]
    fn the_work_of_all_components_is_limited_together() {
        let limit = WORK_PER_OUTPUT as usize * MIN_OUTPUT;
        let mut budget = Budget::of_text(1);
        assert_eq!(budget.work(limit - 5, ALL_NORMALIZERS), Ok(()));
        assert_eq!(budget.work(5, ALL_PRETOKENIZERS), Ok(()));
        let error = OutputLimit { unit: Unit::Steps, component: ALL_PRETOKENIZERS, reached: limit + 7, limit };
        assert_eq!(budget.work(7, ALL_PRETOKENIZERS), Err(error.clone()));
        assert_eq!(
            EncodeError::from(error).to_string(),
            "the chain of pre-tokenizers takes 1048583 steps for this text, and 1048576 are allowed"
        );
        let mut budget = Budget { factor: usize::MAX, ..Budget::of_text(1) };
        assert_eq!(budget.work(usize::MAX, ALL_NORMALIZERS), Ok(()));
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
