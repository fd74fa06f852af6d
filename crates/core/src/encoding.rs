//! The result of encoding a text: its token ids and, on request, further columns with one entry per
//! token.

use std::iter::repeat_n;
use std::ops::{BitOr, Range};

use crate::error::EncodeError;
use crate::memory::Grow;
use crate::memory::fallible::append_copies;
use crate::padding::Padding;
use crate::truncation::Direction;

/// The columns that an [`Encoding`] has in addition to its ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Columns(u32);

impl Columns {
    /// Ids only.
    pub const NONE: Self = Self(0);
    /// The start and end of each token in the original text.
    pub const OFFSETS: Self = Self(1);
    /// Each token as a string.
    pub const TOKENS: Self = Self(1 << 1);
    /// 1 for tokens that the post-processor or padding added, 0 for others.
    pub const SPECIAL_TOKENS_MASK: Self = Self(1 << 2);
    /// The type id of each token: the part of the input, as the model receives it.
    pub const TYPE_IDS: Self = Self(1 << 3);
    /// 0 for padding, 1 for other tokens.
    pub const ATTENTION_MASK: Self = Self(1 << 4);
    /// The index of the word of each token.
    pub const WORD_IDS: Self = Self(1 << 5);
    /// The index of the text of each token: 0, or 1 for the second text of a pair.
    pub const SEQUENCE_IDS: Self = Self(1 << 6);
    /// All columns.
    pub const ALL: Self = Self((1 << 7) - 1);

    /// Whether these columns include all columns of `other`.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The columns as bits; bit 0 is the first column above.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The columns given by `bits`. Unknown bits are ignored.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits & Self::ALL.0)
    }
}

impl Columns {
    /// The columns that are also in `other`.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The columns whose values may differ within a run of tokens of one text.
    pub(crate) const PER_TOKEN: Self = Self(Self::OFFSETS.0 | Self::TOKENS.0 | Self::WORD_IDS.0);
}

impl BitOr for Columns {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The unit of offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OffsetUnit {
    /// Bytes of the UTF-8 form.
    #[default]
    Byte,
    /// Unicode code points.
    CodePoint,
    /// UTF-16 code units, as in JavaScript strings.
    Utf16,
}

/// In word and sequence ids: the token belongs to no word or text.
pub const NO_ID: u32 = u32::MAX;

/// Maximum number of bytes of the padding of one encoding, in all columns together.
const MAX_PADDING_BYTES: usize = 256 << 20;

/// Maximum number of tokens to pad to, so that padding takes at most `MAX_PADDING_BYTES`.
pub(crate) fn max_padded(padding: &Padding, columns: Columns) -> usize {
    MAX_PADDING_BYTES / padded_token_bytes(padding, columns)
}

/// The number of bytes of one token of padding.
fn padded_token_bytes(padding: &Padding, columns: Columns) -> usize {
    let of = |column, bytes| if columns.contains(column) { bytes } else { 0 };
    // A string consists of its header and of an allocation for its text.
    let token = (size_of::<String>() + 16).saturating_add(padding.token.len());
    let words = [Columns::TYPE_IDS, Columns::WORD_IDS, Columns::SEQUENCE_IDS].map(|column| of(column, 4));
    let masks = [Columns::SPECIAL_TOKENS_MASK, Columns::ATTENTION_MASK].map(|column| of(column, 1));
    let numbers = 4 + of(Columns::OFFSETS, 8) + words.iter().sum::<usize>() + masks.iter().sum::<usize>();
    of(Columns::TOKENS, token).saturating_add(numbers)
}

/// The token range of each text. A text may be missing; see [`range_of`].
pub(crate) type Ranges = Vec<(u32, Range<usize>)>;

/// The tokens of one text, or of all rows of a batch, concatenated. Columns that were not requested
/// are empty; the others have one entry per token.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Encoding {
    pub(crate) ids: Vec<u32>,
    pub(crate) offsets: Vec<[u32; 2]>,
    pub(crate) tokens: Vec<String>,
    pub(crate) special_tokens_mask: Vec<u8>,
    pub(crate) type_ids: Vec<u32>,
    pub(crate) attention_mask: Vec<u8>,
    pub(crate) word_ids: Vec<u32>,
    pub(crate) sequence_ids: Vec<u32>,
    /// Empty for the rows of a batch.
    pub(crate) ranges: Ranges,
    pub(crate) overflowing: Vec<Self>,
    pub(crate) own_overflow: Vec<u32>,
}

impl Encoding {
    /// The token ids.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The token ids; the other columns are dropped.
    pub fn into_ids(self) -> Vec<u32> {
        self.ids
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The start and end of each token in the original text, in the requested unit. A character
    /// that is split into several tokens is in the span of each of them. Tokens that the
    /// post-processor added have `[0, 0]`.
    pub fn offsets(&self) -> &[[u32; 2]] {
        &self.offsets
    }

    /// Each token in the spelling of the vocabulary; for an added token, the matched text.
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// 1 for each token that the post-processor or padding added, 0 for others.
    pub fn special_tokens_mask(&self) -> &[u8] {
        &self.special_tokens_mask
    }

    /// The type id of each token.
    pub fn type_ids(&self) -> &[u32] {
        &self.type_ids
    }

    /// 1 for each token, 0 for padding.
    pub fn attention_mask(&self) -> &[u8] {
        &self.attention_mask
    }

    /// The index of the word of each token; [`NO_ID`] for tokens without a word.
    pub fn word_ids(&self) -> &[u32] {
        &self.word_ids
    }

    /// 0 for tokens of the first text, 1 for those of the second, [`NO_ID`] for others.
    pub fn sequence_ids(&self) -> &[u32] {
        &self.sequence_ids
    }

    /// Takes a numeric column: type, word or sequence ids, or [`Columns::OFFSETS`] as alternating
    /// starts and ends. For any other column the result is empty.
    pub fn take_u32(&mut self, column: Columns) -> Vec<u32> {
        match column {
            Columns::OFFSETS => std::mem::take(&mut self.offsets).into_flattened(),
            Columns::TYPE_IDS => std::mem::take(&mut self.type_ids),
            Columns::WORD_IDS => std::mem::take(&mut self.word_ids),
            Columns::SEQUENCE_IDS => std::mem::take(&mut self.sequence_ids),
            _ => vec![],
        }
    }

    /// Takes a mask, [`Columns::SPECIAL_TOKENS_MASK`] or [`Columns::ATTENTION_MASK`]. For any other
    /// column the result is empty.
    pub fn take_u8(&mut self, column: Columns) -> Vec<u8> {
        match column {
            Columns::SPECIAL_TOKENS_MASK => std::mem::take(&mut self.special_tokens_mask),
            Columns::ATTENTION_MASK => std::mem::take(&mut self.attention_mask),
            _ => vec![],
        }
    }

    /// Takes the tokens.
    pub fn take_tokens(&mut self) -> Vec<String> {
        std::mem::take(&mut self.tokens)
    }

    /// The parts that truncation cut off, which are encodings themselves. Empty unless they were
    /// requested.
    pub fn overflowing(&self) -> &[Self] {
        &self.overflowing
    }

    /// For a part that truncation cut off a pair: its own overflow, as indices of
    /// [`Self::overflowing`] of the whole encoding, as in Hugging Face tokenizers.
    pub fn own_overflow(&self) -> &[u32] {
        &self.own_overflow
    }

    /// Takes the parts of [`Self::overflowing`].
    pub fn take_overflowing(&mut self) -> Vec<Self> {
        std::mem::take(&mut self.overflowing)
    }

    /// The token range of each text, for example `(0, 1..5)`. If empty, all tokens belong to the
    /// first text. Padding and special tokens are usually outside of the ranges, but the
    /// post-processor may include them.
    pub fn sequence_ranges(&self) -> &[(u32, Range<usize>)] {
        &self.ranges
    }

    /// Pads every requested column up to `target` tokens. Errors: more padding than allowed.
    pub(crate) fn pad(&mut self, target: usize, padding: &Padding, columns: Columns) -> Result<(), EncodeError> {
        let Some(count) = target.checked_sub(self.len()).filter(|&count| count > 0) else { return Ok(()) };
        let limit = max_padded(padding, columns);
        if target > limit {
            return Err(EncodeError::PaddingTooLong { length: target, limit });
        }
        let position = if padding.direction == Direction::Left { 0 } else { self.len() };
        self.ids.try_grow(count)?;
        self.grow_columns(count, columns);
        fn insert<T: Clone>(wanted: bool, column: &mut Vec<T>, position: usize, count: usize, value: T) {
            if wanted {
                column.splice(position..position, repeat_n(value, count));
            }
        }
        let wanted = |column| columns.contains(column);
        insert(true, &mut self.ids, position, count, padding.id);
        insert(wanted(Columns::OFFSETS), &mut self.offsets, position, count, [0, 0]);
        insert(wanted(Columns::TOKENS), &mut self.tokens, position, count, padding.token.clone());
        insert(wanted(Columns::SPECIAL_TOKENS_MASK), &mut self.special_tokens_mask, position, count, 1);
        insert(wanted(Columns::TYPE_IDS), &mut self.type_ids, position, count, padding.type_id);
        insert(wanted(Columns::ATTENTION_MASK), &mut self.attention_mask, position, count, 0);
        insert(wanted(Columns::WORD_IDS), &mut self.word_ids, position, count, NO_ID);
        if padding.direction == Direction::Left {
            self.ranges.iter_mut().for_each(|(_, range)| *range = range.start + count..range.end + count);
        }
        if wanted(Columns::SEQUENCE_IDS) {
            self.sequence_ids.clear();
            push_sequence_ids(&self.ranges, target, &mut self.sequence_ids);
        }
        Ok(())
    }

    /// Reserves capacity for `tokens` further tokens in the requested columns. Unwinds on failure.
    pub(crate) fn grow_columns(&mut self, tokens: usize, columns: Columns) {
        let wanted = |column| if columns.contains(column) { tokens } else { 0 };
        self.offsets.grow(wanted(Columns::OFFSETS));
        self.tokens.grow(wanted(Columns::TOKENS));
        self.special_tokens_mask.grow(wanted(Columns::SPECIAL_TOKENS_MASK));
        self.type_ids.grow(wanted(Columns::TYPE_IDS));
        self.attention_mask.grow(wanted(Columns::ATTENTION_MASK));
        self.word_ids.grow(wanted(Columns::WORD_IDS));
        self.sequence_ids.grow(wanted(Columns::SEQUENCE_IDS));
    }

    /// A numeric column in the form of [`Self::take_u32`].
    pub(crate) fn u32_column(&self, column: Columns) -> &[u32] {
        match column {
            Columns::OFFSETS => self.offsets.as_flattened(),
            Columns::TYPE_IDS => &self.type_ids,
            Columns::WORD_IDS => &self.word_ids,
            Columns::SEQUENCE_IDS => &self.sequence_ids,
            _ => &[],
        }
    }

    /// A mask in the form of [`Self::take_u8`].
    pub(crate) fn u8_column(&self, column: Columns) -> &[u8] {
        match column {
            Columns::SPECIAL_TOKENS_MASK => &self.special_tokens_mask,
            Columns::ATTENTION_MASK => &self.attention_mask,
            _ => &[],
        }
    }

    /// Clears the ids and the numeric columns.
    pub(crate) fn clear_numbers(&mut self) {
        self.ids.clear();
        self.offsets.clear();
        self.special_tokens_mask.clear();
        self.type_ids.clear();
        self.attention_mask.clear();
        self.word_ids.clear();
        self.sequence_ids.clear();
    }

    pub(crate) fn clear(&mut self) {
        self.clear_numbers();
        self.tokens.clear();
        self.ranges.clear();
        self.overflowing.clear();
        self.own_overflow.clear();
    }
}

/// The token range of a text. A text without a range has all tokens, as in the reference.
pub(crate) fn range_of(ranges: &Ranges, sequence: u32, length: usize) -> Range<usize> {
    ranges.iter().find(|(known, _)| *known == sequence).map_or(0..length, |(_, range)| range.clone())
}

/// Appends the sequence ids of `length` tokens.
pub(crate) fn push_sequence_ids(ranges: &Ranges, length: usize, out: &mut Vec<u32>) {
    let first = out.len();
    append_copies(out, NO_ID, length);
    for sequence in 0..ranges.len().max(1) as u32 {
        out[first..][range_of(ranges, sequence, length)].fill(sequence);
    }
}
