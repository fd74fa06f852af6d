//! What post-processing makes of whole texts, worked out once: the way that most texts take.

use super::PostProcessor;
use super::draft::{Draft, Run, RunTokens, push_sequence_ids};
use crate::encoding::Ranges;
use crate::error::EncodeError;

/// The pieces of an encoding in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Layout {
    pub(crate) pieces: Vec<PlacedRun>,
    /// Which pieces are of which text.
    pub(crate) ranges: Ranges,
}

/// A run and the text that its tokens are of. Of a text's run `start` and `end` mean nothing: it is the whole text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlacedRun {
    pub(crate) run: Run,
    pub(crate) sequence_id: u32,
}

impl Layout {
    /// For so many texts. Texts of one token each are processed; longer or empty ones come out alike.
    pub(super) fn new(
        post_processor: &PostProcessor,
        texts: usize,
        add_special_tokens: bool,
    ) -> Result<Self, EncodeError> {
        let drafts = (0..texts).map(|sequence| Draft::of_windows(sequence, &[[0, 1]])).collect::<Result<_, _>>()?;
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

    /// Whether any offsets are trimmed.
    pub(crate) fn trims(&self) -> bool {
        let is_text = |run: &Run| matches!(run.tokens, RunTokens::Text { .. });
        self.pieces.iter().any(|piece| is_text(&piece.run) && !piece.run.trims.is_empty())
    }
}
