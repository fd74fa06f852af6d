//! The limits on the output of one decoder step, and on the work of all of them.

use std::borrow::Cow;

use crate::budget::{ALL_DECODERS, Budget, OutputLimit};

/// The remaining budget of one step. It counts all tokens of the step, and the finished part of the
/// current token.
pub(super) struct StepOutput<'b> {
    pub(super) budget: &'b mut Budget,
    /// The size of the finished tokens in bytes.
    pub(super) written: usize,
}

impl<'b> StepOutput<'b> {
    pub(super) fn new(budget: &'b mut Budget, written: usize) -> Self {
        Self { budget, written }
    }

    /// Fails if the current token may not become `bytes` long.
    pub(super) fn check(&self, bytes: usize) -> Result<(), OutputLimit> {
        self.budget.check(self.written.saturating_add(bytes), "the decoder")
    }

    /// Charges steps of work.
    pub(super) fn work(&mut self, steps: usize) -> Result<(), OutputLimit> {
        self.budget.work(steps, ALL_DECODERS)
    }

    /// Charges the work of joining tokens.
    pub(super) fn work_of_joining(&mut self, tokens: &[Cow<'_, [u8]>]) -> Result<(), OutputLimit> {
        self.work(tokens.iter().map(|token| token.len() + 2).sum())
    }

    /// Charges a finished token.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), OutputLimit> {
        self.check(bytes)?;
        self.written += bytes;
        Ok(())
    }
}
