//! The words of a text, for trainers: the stages of encoding, with a visitor instead of the model.

use super::row::{Quota, Row, Word, WordNumbers};
use super::{Encoder, Plan};
use crate::added_tokens::Policy;
use crate::budget::Budget;
use crate::encoding::{Columns, Encoding, OffsetUnit};
use crate::error::EncodeError;

/// No columns.
const WORDS_ONLY: Plan = Plan {
    add_special_tokens: false,
    policy: Policy::Parse,
    columns: Columns::NONE,
    offset_unit: OffsetUnit::Byte,
    spans_sources: false,
    truncation: None,
    padding: None,
    overflow: false,
    ranges: false,
};

impl Encoder<'_> {
    /// Calls `visit` with the words of a text, in order.
    pub(crate) fn each_word(
        &mut self,
        text: &str,
        policy: &Policy,
        visit: &mut dyn FnMut(Word<'_>),
    ) -> Result<(), EncodeError> {
        let mut row = Row {
            plan: &Plan { policy: policy.clone(), ..WORDS_ONLY },
            out: &mut Encoding::default(),
            columns: Columns::NONE,
            original: text,
            continues: false,
            literal: &[],
            special: 0,
            converter: None,
            words: WordNumbers::Next(0),
            margins: None,
            quota: Quota::default(),
            budget: Budget::of_text(text.len()),
            visit: Some(visit),
        };
        self.encode_segments(&mut row)
    }
}
