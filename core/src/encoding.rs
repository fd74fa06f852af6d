//! What a text yields: its token ids and, on request, what is known of each token.

use std::iter::repeat_n;
use std::ops::{BitOr, Range};

use crate::error::EncodeError;
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

/// The most tokens that one encoding is padded to.
pub(crate) const MOST_PADDED: usize = 1 << 28;

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
    pub fn take_words(&mut self, column: Columns) -> Vec<u32> {
        match column {
            Columns::OFFSETS => std::mem::take(&mut self.offsets).into_flattened(),
            Columns::TYPE_IDS => std::mem::take(&mut self.type_ids),
            Columns::WORD_IDS => std::mem::take(&mut self.word_ids),
            Columns::SEQUENCE_IDS => std::mem::take(&mut self.sequence_ids),
            _ => vec![],
        }
    }

    /// Takes a mask out, that of special tokens or of attention. Of any other column nothing.
    pub fn take_mask(&mut self, column: Columns) -> Vec<u8> {
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
        if target > MOST_PADDED {
            return Err(EncodeError::PaddingTooLong { length: target, limit: MOST_PADDED });
        }
        let Some(count) = target.checked_sub(self.len()).filter(|&count| count > 0) else { return Ok(()) };
        let place = if padding.direction == Direction::Left { 0 } else { self.len() };
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

    /// Makes room for so many tokens in the columns of numbers that are wanted.
    pub(crate) fn reserve_columns(&mut self, tokens: usize, columns: Columns) {
        let wanted = |column| if columns.contains(column) { tokens } else { 0 };
        self.offsets.reserve(wanted(Columns::OFFSETS));
        self.special_tokens_mask.reserve(wanted(Columns::SPECIAL_TOKENS_MASK));
        self.type_ids.reserve(wanted(Columns::TYPE_IDS));
        self.attention_mask.reserve(wanted(Columns::ATTENTION_MASK));
        self.word_ids.reserve(wanted(Columns::WORD_IDS));
        self.sequence_ids.reserve(wanted(Columns::SEQUENCE_IDS));
    }

    /// Appends all columns of `other`, but not its ids.
    pub(crate) fn append_columns(&mut self, other: Self) {
        /// What comes first is not copied.
        fn append<T>(column: &mut Vec<T>, mut more: Vec<T>) {
            if column.is_empty() {
                *column = more;
            } else {
                column.append(&mut more);
            }
        }
        append(&mut self.offsets, other.offsets);
        append(&mut self.tokens, other.tokens);
        append(&mut self.special_tokens_mask, other.special_tokens_mask);
        append(&mut self.type_ids, other.type_ids);
        append(&mut self.attention_mask, other.attention_mask);
        append(&mut self.word_ids, other.word_ids);
        append(&mut self.sequence_ids, other.sequence_ids);
    }

    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.offsets.clear();
        self.tokens.clear();
        self.special_tokens_mask.clear();
        self.type_ids.clear();
        self.attention_mask.clear();
        self.word_ids.clear();
        self.sequence_ids.clear();
        self.ranges.clear();
        self.overflowing.clear();
        self.own_overflow.clear();
    }
}

/// Turns the byte offsets of tokens, which hardly ever go back, into another unit without a table of the whole text.
#[derive(Debug)]
pub(crate) struct UnitCursor<'a> {
    text: &'a str,
    unit: OffsetUnit,
    byte: usize,
    units: usize,
}

impl<'a> UnitCursor<'a> {
    /// Nothing where bytes are the unit, or are as good as the unit because the text is ASCII.
    pub(crate) fn new(text: &'a str, unit: OffsetUnit) -> Option<Self> {
        let needed = unit != OffsetUnit::Byte && !text.is_ascii();
        needed.then_some(Self { text, unit, byte: 0, units: 0 })
    }

    /// `byte` lies between two characters.
    #[inline(always)]
    pub(crate) fn convert(&mut self, byte: usize) -> u32 {
        if byte > self.byte {
            self.units += self.count(self.byte, byte);
        } else if byte < self.byte {
            self.units -= self.count(byte, self.byte);
        }
        self.byte = byte;
        self.units as u32
    }

    /// Units from one byte to another.
    #[inline(always)]
    fn count(&self, start: usize, end: usize) -> usize {
        match end - start {
            // Most tokens are so short.
            bytes @ 1..=8 => self.units(start, bytes),
            _ => self.count_long(start, end),
        }
    }

    fn count_long(&self, start: usize, end: usize) -> usize {
        (start..end).step_by(8).map(|at| self.units(at, (end - at).min(8))).sum()
    }

    /// Units of so many bytes, one to eight, from `at` on.
    #[inline(always)]
    fn units(&self, at: usize, bytes: usize) -> usize {
        const LOWEST: u64 = u64::MAX / 0xFF;
        let eight = self.eight(at) & u64::MAX >> (64 - 8 * bytes);
        // One in each byte that goes on with a character (10xxxxxx), or starts one of four bytes (1111xxxx).
        let goes_on = eight >> 7 & !(eight >> 6) & LOWEST;
        let is_four = eight >> 7 & eight >> 6 & eight >> 5 & eight >> 4 & LOWEST;
        let sum = |ones: u64| (ones.wrapping_mul(LOWEST) >> 56) as usize;
        match self.unit {
            OffsetUnit::Byte => bytes,
            OffsetUnit::CodePoint => bytes - sum(goes_on),
            // Four bytes of UTF-8 are two units, all else is one.
            OffsetUnit::Utf16 => bytes - sum(goes_on) + sum(is_four),
        }
    }

    /// The bytes from `at` on, zeros behind the end of the text.
    #[inline(always)]
    fn eight(&self, at: usize) -> u64 {
        let rest = &self.text.as_bytes()[at..];
        match rest.first_chunk() {
            Some(eight) => u64::from_le_bytes(*eight),
            None => rest.iter().rev().fold(0, |eight, &byte| eight << 8 | u64::from(byte)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn units_are_counted_as_characters_are(
            text in "([a-z]{0,20}|\\PC|é|中|😀){0,20}",
            places in prop::collection::vec(any::<prop::sample::Index>(), 1..9),
        ) {
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            for unit in [OffsetUnit::CodePoint, OffsetUnit::Utf16] {
                let Some(mut cursor) = UnitCursor::new(&text, unit) else { continue };
                for at in places.iter().map(|place| *place.get(&ends)) {
                    let units = |c: char| if unit == OffsetUnit::CodePoint { 1 } else { c.len_utf16() };
                    prop_assert_eq!(cursor.convert(at) as usize, text[..at].chars().map(units).sum::<usize>());
                }
            }
        }
    }

    #[test]
    fn offsets_convert_forwards_and_back() {
        let text = "aé中😀\u{301}z";
        for unit in [OffsetUnit::CodePoint, OffsetUnit::Utf16] {
            let mut cursor = UnitCursor::new(text, unit).expect("the text is not ASCII");
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            for &from in &places {
                for &to in &places {
                    for at in [from, to] {
                        let expected = match unit {
                            OffsetUnit::CodePoint => text[..at].chars().count(),
                            _ => text[..at].encode_utf16().count(),
                        };
                        assert_eq!(cursor.convert(at), expected as u32);
                    }
                }
            }
        }
        assert!(UnitCursor::new("ascii", OffsetUnit::Utf16).is_none());
        assert!(UnitCursor::new(text, OffsetUnit::Byte).is_none());
    }
}
