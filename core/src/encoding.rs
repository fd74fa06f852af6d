//! What a text yields: its token ids and, on request, what is known of each token.

use std::iter::repeat_n;
use std::ops::{BitOr, Range};

use crate::error::EncodeError;
use crate::memory::Grow;
use crate::padding::Padding;
use crate::post_processor::draft::{push_sequence_ids, range_of};
use crate::truncation::Direction;

/// What an [`Encoding`] holds beside its ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Columns(u32);

impl Columns {
    /// Ids only.
    pub const NONE: Self = Self(0);
    /// Where each token stands in the original text.
    pub const OFFSETS: Self = Self(1);
    /// Each token as a string.
    pub const TOKENS: Self = Self(1 << 1);
    /// 1 for a token that the post-processor or padding added.
    pub const SPECIAL_TOKENS_MASK: Self = Self(1 << 2);
    /// Which part of the input a token is of, as the model is told.
    pub const TYPE_IDS: Self = Self(1 << 3);
    /// 0 for padding, 1 for all else.
    pub const ATTENTION_MASK: Self = Self(1 << 4);
    /// Which word of the text a token is of.
    pub const WORD_IDS: Self = Self(1 << 5);
    /// Which text of a pair a token is of.
    pub const SEQUENCE_IDS: Self = Self(1 << 6);
    /// All of them.
    pub const ALL: Self = Self((1 << 7) - 1);

    /// Whether every column of `other` is among these.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The columns as bits, in the order above.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The columns that `bits` names; other bits are ignored.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits & Self::ALL.0)
    }
}

impl Columns {
    /// Those of these that are also in `other`.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those that are not the same for all tokens of a piece.
    pub(crate) const PER_TOKEN: Self = Self(Self::OFFSETS.0 | Self::TOKENS.0 | Self::WORD_IDS.0);
}

impl BitOr for Columns {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What offsets count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OffsetUnit {
    /// Bytes of UTF-8.
    #[default]
    Byte,
    /// Unicode code points.
    CodePoint,
    /// UTF-16 code units, what JavaScript strings count.
    Utf16,
}

/// In word and sequence ids: this token is of none.
pub const NO_ID: u32 = u32::MAX;

/// The most bytes that the padding of one encoding takes, all columns together.
const MOST_PADDING_BYTES: usize = 256 << 20;

/// How many tokens may be padded to, so that padding takes no more memory than that.
pub(crate) fn most_padded(padding: &Padding, columns: Columns) -> usize {
    MOST_PADDING_BYTES / padded_token_bytes(padding, columns)
}

/// Bytes of one token of padding.
fn padded_token_bytes(padding: &Padding, columns: Columns) -> usize {
    let of = |column, bytes| if columns.contains(column) { bytes } else { 0 };
    // A string has a place of its own beside its text.
    let token = (size_of::<String>() + 16).saturating_add(padding.token.len());
    let words = [Columns::TYPE_IDS, Columns::WORD_IDS, Columns::SEQUENCE_IDS].map(|column| of(column, 4));
    let masks = [Columns::SPECIAL_TOKENS_MASK, Columns::ATTENTION_MASK].map(|column| of(column, 1));
    let numbers = 4 + of(Columns::OFFSETS, 8) + words.iter().sum::<usize>() + masks.iter().sum::<usize>();
    of(Columns::TOKENS, token).saturating_add(numbers)
}

/// Which tokens are of which text. A text may be missing; see [`range_of`].
pub(crate) type Ranges = Vec<(u32, Range<usize>)>;

/// The tokens of one text, or of the rows of a batch end to end. A column that was not asked for is empty, the others
/// have one entry per token.
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
    /// Of one text or pair only; empty for the rows of a batch.
    pub(crate) ranges: Ranges,
    pub(crate) overflowing: Vec<Encoding>,
    pub(crate) own_overflow: Vec<u32>,
}

/// The questions about single tokens, words and places answer as Hugging Face's `Encoding` does. They need the columns
/// that they are about, [`Columns::OFFSETS`] or [`Columns::WORD_IDS`]; without these the answer is always `None`.
impl Encoding {
    /// The token ids.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The token ids, without the rest.
    pub fn into_ids(self) -> Vec<u32> {
        self.ids
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Start and end of each token in the original text, in the unit asked for. A character that is split over several
    /// tokens is in the span of each; a token that the post-processor added has `[0, 0]`.
    pub fn offsets(&self) -> &[[u32; 2]] {
        &self.offsets
    }

    /// Each token as the vocabulary writes it; of an added token what the text had in its place.
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// 1 for each token that the post-processor or padding added, 0 for the others.
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

    /// The number of the word that each token is of, [`NO_ID`] for tokens of none.
    pub fn word_ids(&self) -> &[u32] {
        &self.word_ids
    }

    /// 0 for the tokens of the first text, 1 for those of the second, [`NO_ID`] for tokens of neither.
    pub fn sequence_ids(&self) -> &[u32] {
        &self.sequence_ids
    }

    /// Takes a column of numbers out: [`Columns::OFFSETS`] as start and end in turn, type, word or sequence ids. Of any
    /// other column nothing.
    pub fn take_u32(&mut self, column: Columns) -> Vec<u32> {
        match column {
            Columns::OFFSETS => std::mem::take(&mut self.offsets).into_flattened(),
            Columns::TYPE_IDS => std::mem::take(&mut self.type_ids),
            Columns::WORD_IDS => std::mem::take(&mut self.word_ids),
            Columns::SEQUENCE_IDS => std::mem::take(&mut self.sequence_ids),
            _ => vec![],
        }
    }

    /// Takes a mask out, that of special tokens or of attention. Of any other column nothing.
    pub fn take_u8(&mut self, column: Columns) -> Vec<u8> {
        match column {
            Columns::SPECIAL_TOKENS_MASK => std::mem::take(&mut self.special_tokens_mask),
            Columns::ATTENTION_MASK => std::mem::take(&mut self.attention_mask),
            _ => vec![],
        }
    }

    /// Takes the tokens out.
    pub fn take_tokens(&mut self) -> Vec<String> {
        std::mem::take(&mut self.tokens)
    }

    /// What truncation cut off, in parts that are encodings themselves; empty unless it was asked for.
    pub fn overflowing(&self) -> &[Encoding] {
        &self.overflowing
    }

    /// Of a part that truncation cut off a pair: which parts of the whole encoding's [`Self::overflowing`] are the overflow
    /// of this part, as in Hugging Face tokenizers.
    pub fn own_overflow(&self) -> &[u32] {
        &self.own_overflow
    }

    /// Takes the parts of [`Self::overflowing`] out.
    pub fn take_overflowing(&mut self) -> Vec<Encoding> {
        std::mem::take(&mut self.overflowing)
    }

    /// How many texts the tokens are of.
    pub fn sequence_count(&self) -> usize {
        self.ranges.len().max(1)
    }

    /// Which tokens are of which text, by the text's number: `(0, 1..5)`. Where nothing was noted all tokens are of the
    /// first text. Padding and special tokens lie outside, or inside where the post-processor says so.
    pub fn sequence_ranges(&self) -> &[(u32, Range<usize>)] {
        &self.ranges
    }

    /// The text that a token is of.
    pub fn token_to_sequence(&self, token: usize) -> Option<u32> {
        if self.ranges.is_empty() {
            return (token <= self.len()).then_some(0);
        }
        // Of two that claim a token the reference takes any; this takes the one that the sequence ids name.
        self.ranges.iter().filter(|(_, range)| range.contains(&token)).map(|(sequence, _)| *sequence).max()
    }

    /// The text that a token is of, and where it stands there, in the unit of the offsets.
    pub fn token_to_chars(&self, token: usize) -> Option<(u32, [u32; 2])> {
        Some((self.token_to_sequence(token)?, *self.offsets.get(token)?))
    }

    /// The text that a token is of, and the number of its word there.
    pub fn token_to_word(&self, token: usize) -> Option<(u32, u32)> {
        let sequence = self.token_to_sequence(token)?;
        self.word_ids.get(token).filter(|&&word| word != NO_ID).map(|&word| (sequence, word))
    }

    /// The tokens of a word.
    pub fn word_to_tokens(&self, word: u32, sequence: u32) -> Option<Range<usize>> {
        let range = self.range_of(sequence);
        let words = self.word_ids.get(range.clone())?;
        // No word counts as less than any; the search ends behind the word.
        let known = words.iter().take_while(|&&id| id == NO_ID || id <= word);
        let mut places = known.enumerate().filter(|&(_, &id)| id == word).map(|(place, _)| place);
        let first = places.next()?;
        let last = places.last().unwrap_or(first);
        Some(range.start + first..range.start + last + 1)
    }

    /// Where a word stands in its text, in the unit of the offsets.
    pub fn word_to_chars(&self, word: u32, sequence: u32) -> Option<[u32; 2]> {
        let tokens = self.word_to_tokens(word, sequence)?;
        Some([self.offsets.get(tokens.start)?[0], self.offsets.get(tokens.end - 1)?[1]])
    }

    /// The first token that covers a place of a text, in the unit of the offsets.
    pub fn char_to_token(&self, place: u32, sequence: u32) -> Option<usize> {
        let range = self.range_of(sequence);
        let covers = |&[start, end]: &[u32; 2]| start <= place && place < end;
        Some(range.start + self.offsets.get(range.clone())?.iter().position(covers)?)
    }

    /// The number of the word at a place of a text, in the unit of the offsets.
    pub fn char_to_word(&self, place: u32, sequence: u32) -> Option<u32> {
        let token = self.char_to_token(place, sequence)?;
        self.token_to_word(token).map(|(_, word)| word)
    }

    /// Fills every column up to `target` tokens.
    pub(crate) fn pad(&mut self, target: usize, padding: &Padding, columns: Columns) -> Result<(), EncodeError> {
        let Some(count) = target.checked_sub(self.len()).filter(|&count| count > 0) else { return Ok(()) };
        let limit = most_padded(padding, columns);
        if target > limit {
            return Err(EncodeError::PaddingTooLong { length: target, limit });
        }
        let place = if padding.direction == Direction::Left { 0 } else { self.len() };
        self.ids.try_grow(count)?;
        self.grow_columns(count, columns);
        fn insert<T: Clone>(wanted: bool, column: &mut Vec<T>, place: usize, count: usize, value: T) {
            if wanted {
                column.splice(place..place, repeat_n(value, count));
            }
        }
        let wanted = |column| columns.contains(column);
        insert(true, &mut self.ids, place, count, padding.id);
        insert(wanted(Columns::OFFSETS), &mut self.offsets, place, count, [0, 0]);
        insert(wanted(Columns::TOKENS), &mut self.tokens, place, count, padding.token.clone());
        insert(wanted(Columns::SPECIAL_TOKENS_MASK), &mut self.special_tokens_mask, place, count, 1);
        insert(wanted(Columns::TYPE_IDS), &mut self.type_ids, place, count, padding.type_id);
        insert(wanted(Columns::ATTENTION_MASK), &mut self.attention_mask, place, count, 0);
        insert(wanted(Columns::WORD_IDS), &mut self.word_ids, place, count, NO_ID);
        if padding.direction == Direction::Left {
            self.ranges.iter_mut().for_each(|(_, range)| *range = range.start + count..range.end + count);
        }
        if wanted(Columns::SEQUENCE_IDS) {
            self.sequence_ids.clear();
            push_sequence_ids(&self.ranges, target, &mut self.sequence_ids);
        }
        Ok(())
    }

    fn range_of(&self, sequence: u32) -> Range<usize> {
        range_of(&self.ranges, sequence, self.len())
    }

    /// Makes room for so many tokens in the columns that are wanted. A failure unwinds.
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

    /// A column of numbers as [`Self::take_words`] has it.
    pub(crate) fn u32_column(&self, column: Columns) -> &[u32] {
        match column {
            Columns::OFFSETS => self.offsets.as_flattened(),
            Columns::TYPE_IDS => &self.type_ids,
            Columns::WORD_IDS => &self.word_ids,
            Columns::SEQUENCE_IDS => &self.sequence_ids,
            _ => &[],
        }
    }

    /// A mask as [`Self::take_mask`] has it.
    pub(crate) fn u8_column(&self, column: Columns) -> &[u8] {
        match column {
            Columns::SPECIAL_TOKENS_MASK => &self.special_tokens_mask,
            Columns::ATTENTION_MASK => &self.attention_mask,
            _ => &[],
        }
    }

    /// Clears the ids and the columns of numbers.
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
