//! What stands around a text's tokens: the special tokens that a model wants to see.

use std::iter::repeat_n;

use crate::encoding::{Columns, Encoding, NO_ID};

/// A template for one text: special tokens, and the place of the text among them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PostProcessor {
    pub(crate) single: Vec<Piece>,
}

/// An entry of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The text's tokens.
    Sequence { type_id: u32 },
    /// A special token; several ids where the file says so.
    Special { ids: Vec<u32>, tokens: Vec<String>, type_id: u32 },
}

impl PostProcessor {
    /// The template, or only the text's place in it when no special tokens are wanted.
    pub(crate) fn pieces(&self, add_special_tokens: bool) -> impl Iterator<Item = &Piece> {
        const TEXT: &[Piece] = &[Piece::Sequence { type_id: 0 }];
        let pieces = if self.single.is_empty() { TEXT } else { &self.single };
        pieces.iter().filter(move |piece| add_special_tokens || matches!(piece, Piece::Sequence { .. }))
    }
}

/// Appends the tokens of a template's special token.
pub(crate) fn push_special(ids: &[u32], tokens: &[String], type_id: u32, columns: Columns, out: &mut Encoding) {
    let count = ids.len();
    out.ids.extend_from_slice(ids);
    if columns.contains(Columns::TOKENS) {
        out.tokens.extend((0..count).map(|i| tokens.get(i).cloned().unwrap_or_default()));
    }
    if columns.contains(Columns::OFFSETS) {
        out.offsets.extend(repeat_n([0, 0], count));
    }
    if columns.contains(Columns::SPECIAL_TOKENS_MASK) {
        out.special_tokens_mask.extend(repeat_n(1, count));
    }
    if columns.contains(Columns::TYPE_IDS) {
        out.type_ids.extend(repeat_n(type_id, count));
    }
    if columns.contains(Columns::ATTENTION_MASK) {
        out.attention_mask.extend(repeat_n(1, count));
    }
    if columns.contains(Columns::WORD_IDS) {
        out.word_ids.extend(repeat_n(NO_ID, count));
    }
    if columns.contains(Columns::SEQUENCE_IDS) {
        out.sequence_ids.extend(repeat_n(NO_ID, count));
    }
}
