//! The result of post-processing for complete texts, computed once. Most texts use it.

use super::PostProcessor;
use super::draft::{Draft, Run, RunTokens};
use crate::encoding::Ranges;
use crate::encoding::push_sequence_ids;
use crate::error::EncodeError;

/// The pieces of an encoding, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Layout {
    pub(crate) pieces: Vec<PlacedRun>,
    /// The range of pieces of each text.
    pub(crate) ranges: Ranges,
}

/// A run and the sequence id of its tokens. For the run of a text, `start` and `end` have no
/// meaning: the run is the whole text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlacedRun {
    pub(crate) run: Run,
    pub(crate) sequence_id: u32,
}

impl Layout {
    /// Computes the layout for `texts` texts by processing texts of one token each. The result is
    /// the same for texts of any length.
    pub(super) fn new(
        post_processor: &PostProcessor,
        texts: usize,
        add_special_tokens: bool,
    ) -> Result<Self, EncodeError> {
        let drafts = (0..texts).map(|sequence| Draft::of_parts(sequence, &[[0, 1]])).collect::<Result<_, _>>()?;
        let draft = post_processor.process(drafts, add_special_tokens)?;
        let mut sequence_ids = vec![];
        push_sequence_ids(&draft.ranges, draft.len(), &mut sequence_ids);
        let mut starts = vec![];
        let mut pieces = vec![];
        let mut at = 0;
        for run in draft.runs.into_iter().filter(|run| run.len() > 0) {
            starts.push(at);
            let sequence_id = sequence_ids[at];
            at += run.len();
            pieces.push(PlacedRun { run, sequence_id });
        }
        starts.push(at);
        let piece = |token| starts.binary_search(&token).expect("ranges start and end between runs");
        let ranges = draft.ranges.iter().map(|(id, range)| (*id, piece(range.start)..piece(range.end))).collect();
        Ok(Self { pieces, ranges })
    }

    /// Whether offsets of text are trimmed.
    pub(crate) fn trims(&self) -> bool {
        let is_text = |run: &Run| matches!(run.tokens, RunTokens::Text { .. });
        self.pieces.iter().any(|piece| is_text(&piece.run) && !piece.run.trims.is_empty())
    }
}
