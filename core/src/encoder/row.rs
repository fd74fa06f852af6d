//! What is known of a row's tokens beside their ids, and how it gets into the columns.

use std::borrow::Cow;
use std::iter::repeat_n;

use crate::bpe::Symbol;
use crate::encoding::{Columns, Encoding, OffsetUnit, UnitCursor};
use crate::span::Span;
use crate::tokenizer::Tokenizer;

/// Where a row's tokens go and what is wanted of them.
pub(super) struct Row<'a> {
    pub(super) out: &'a mut Encoding,
    pub(super) columns: Columns,
    /// The whole text of the row: where spans of unchanged text are widened to whole characters.
    pub(super) original: &'a str,
    pub(super) type_id: u32,
    /// The number of the next word.
    pub(super) word: u32,
}

/// Words of one text: what the model sees, and where that came from.
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    /// Where in the original `text` starts; of no meaning when there are origins.
    pub(super) base: usize,
    /// One span of the original per byte of `text`, when it is not the original itself.
    pub(super) origins: Option<&'a [Span]>,
}

impl Row<'_> {
    pub(super) fn needs_positions(&self) -> bool {
        self.columns.contains(Columns::OFFSETS)
    }

    /// An added token that the text holds.
    pub(super) fn push_added(&mut self, id: u32, content: &str, span: Span) {
        self.out.ids.push(id);
        self.fill_columns(1);
        if self.columns.contains(Columns::TOKENS) {
            self.out.tokens.push(content.to_owned());
        }
        if self.columns.contains(Columns::OFFSETS) {
            self.out.offsets.push([span.start, span.end]);
        }
        self.word += 1;
    }

    /// The columns of a word whose ids were just pushed.
    pub(super) fn push_columns(&mut self, source: &Source<'_>, word: Span, symbols: &[Symbol], tokenizer: &Tokenizer) {
        self.fill_columns(symbols.len());
        if self.columns.contains(Columns::TOKENS) {
            let token = |symbol: &Symbol| tokenizer.model_token(symbol.id).map_or_else(String::new, Cow::into_owned);
            self.out.tokens.extend(symbols.iter().map(token));
        }
        if self.columns.contains(Columns::OFFSETS) {
            let mut start = word.start as usize;
            for symbol in symbols {
                let end = start + symbol.len as usize;
                self.out.offsets.push(source.origin(word, start, end, self.original));
                start = end;
            }
        }
        self.word += 1;
    }

    /// The columns that say the same of all tokens of a word.
    fn fill_columns(&mut self, count: usize) {
        let out = &mut *self.out;
        if self.columns.contains(Columns::SPECIAL_TOKENS_MASK) {
            out.special_tokens_mask.extend(repeat_n(0, count));
        }
        if self.columns.contains(Columns::TYPE_IDS) {
            out.type_ids.extend(repeat_n(self.type_id, count));
        }
        if self.columns.contains(Columns::ATTENTION_MASK) {
            out.attention_mask.extend(repeat_n(1, count));
        }
        if self.columns.contains(Columns::WORD_IDS) {
            out.word_ids.extend(repeat_n(self.word, count));
        }
        if self.columns.contains(Columns::SEQUENCE_IDS) {
            out.sequence_ids.extend(repeat_n(0, count));
        }
    }
}

impl Source<'_> {
    /// What `start..end` of the text stands for in the original, in whole characters.
    fn origin(&self, word: Span, start: usize, end: usize, original: &str) -> [u32; 2] {
        if end > word.end as usize || start >= end {
            // Byte fallback of a character with its `end_of_word_suffix` makes tokens that stand for no text. The
            // reference gives them their places within the word, as if it went on.
            return [start as u32 - word.start, end as u32 - word.start];
        }
        match self.origins {
            Some(origins) => [origins[start].start, origins[end - 1].end],
            None => {
                let floor = original.floor_char_boundary(self.base + start);
                [floor as u32, original.ceil_char_boundary(self.base + end) as u32]
            }
        }
    }
}

pub(super) fn convert_offsets(text: &str, unit: OffsetUnit, offsets: &mut [[u32; 2]]) {
    if offsets.is_empty() {
        return;
    }
    let Some(mut cursor) = UnitCursor::new(text, unit) else { return };
    for [start, end] in offsets {
        // Places beyond the text stay as they are (see `Source::origin`).
        if *end as usize <= text.len() {
            *start = cursor.convert(text.floor_char_boundary(*start as usize));
            *end = cursor.convert(text.ceil_char_boundary(*end as usize));
        }
    }
}
