//! How many tokens a text may have within a limit.

use crate::encoder::Plan;
use crate::error::EncodeError;
use crate::post_processor::PostProcessor;
use crate::post_processor::draft::{Run, RunTokens};

/// The number of tokens of a text that are within a limit, and the special tokens that are added to
/// it.
#[derive(Debug, Clone, Copy)]
pub(super) struct TokenLimit {
    pub(super) limit: usize,
    /// The maximum number of tokens of the text alone.
    pub(super) tokens: usize,
    special: usize,
    /// The number of times that the post-processor includes the text.
    copies: usize,
}

impl TokenLimit {
    /// The tokens of a text within `limit`; `None` if the special tokens exceed it.
    pub(super) fn new(post_processor: &PostProcessor, plan: &Plan, limit: usize) -> Result<Option<Self>, EncodeError> {
        let layout = post_processor.layout(false, plan.add_special_tokens)?;
        let runs = || layout.pieces.iter().map(|piece| &piece.run);
        let is_text = |run: &&Run| matches!(run.tokens, RunTokens::Text { .. });
        let copies = runs().filter(is_text).count();
        let special = runs().filter(|run| !is_text(run)).map(Run::len).sum();
        let tokens = |rest: usize| rest.checked_div(copies).unwrap_or(usize::MAX);
        Ok(limit.checked_sub(special).map(|rest| Self { limit, tokens: tokens(rest), special, copies }))
    }

    /// The number of tokens, with special tokens, if the text alone has `tokens`.
    pub(super) fn total(self, tokens: usize) -> usize {
        self.special + self.copies * tokens
    }
}
