//! The forms of input text, and their conversion to UTF-8.

use encoding_rs::mem::convert_utf16_to_str_partial;

use crate::error::EncodeError;
use crate::memory::{Grow, OutOfMemory};
use crate::span::Span;

/// Maximum length of a text, in bytes of UTF-8, because spans have 32 bits.
pub const MAX_TEXT_BYTES: usize = u32::MAX as usize - 64;
/// Maximum length of a character, in bytes of UTF-8.
pub(crate) const MAX_CHARACTER_BYTES: usize = 4;

/// A text in the form that the caller has. Creating it is free; it is converted when it is encoded.
#[derive(Debug, Clone, Copy)]
pub enum Text<'a> {
    /// Valid UTF-8.
    Utf8(&'a str),
    /// Bytes that should be UTF-8; validated on use.
    Bytes(&'a [u8]),
    /// UTF-16 code units. An unpaired surrogate becomes U+FFFD.
    Utf16(&'a [u16]),
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self::Utf8(text)
    }
}

impl<'a> From<&'a String> for Text<'a> {
    fn from(text: &'a String) -> Self {
        Self::Utf8(text)
    }
}

/// A text, whole or split into words by the caller.
#[derive(Debug, Clone, Copy)]
pub enum Sequence<'a> {
    /// One text.
    Text(Text<'a>),
    /// Words. Each is encoded separately, its offsets are relative to the word, and its index is
    /// the word id of all its tokens.
    Words(&'a [Text<'a>]),
    /// A text with ranges in which no added token is found (see [`Literal`]).
    Marked(Text<'a>, &'a Literal),
}

/// Ranges of a text that are written by others than its author, such as the messages in a chat.
///
/// An added token, special or not, is only found outside of them: a match that overlaps one of the
/// ranges is ordinary text. Tokens of white space only are found anyway, because they cannot
/// separate anything. The words at the borders of a range are those of the whole text.
///
/// Some vocabularies have added tokens as ordinary tokens too, for example those of Unigram models.
/// Where the model alone would make one from a text, the text is divided after the first character;
/// if the model still makes one, from characters that the normalizer changes, encoding fails with
/// [`EncodeError::SpecialToken`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Literal {
    ranges: Vec<[u32; 2]>,
}

impl Literal {
    /// Takes the start and the end of each range, in UTF-16 units, in order. Returns `None` if they
    /// are not in order.
    pub fn new(bounds: &[u32]) -> Option<Self> {
        let (ranges, []) = bounds.as_chunks() else { return None };
        let is_ordered = bounds.is_sorted();
        is_ordered.then(|| Self { ranges: ranges.to_vec() })
    }

    /// The ranges as bytes of the text.
    pub(crate) fn in_bytes(&self, text: &str) -> Vec<Span> {
        if text.is_ascii() {
            let len = text.len() as u32;
            return self.ranges.iter().map(|range| Span { start: range[0].min(len), end: range[1].min(len) }).collect();
        }
        let mut characters = text.char_indices();
        let (mut byte, mut unit) = (0, 0);
        let mut byte_at = |wanted: u32| {
            while unit < wanted
                && let Some((at, c)) = characters.next()
            {
                unit += c.len_utf16() as u32;
                byte = at + c.len_utf8();
            }
            byte
        };
        self.ranges.iter().map(|range| Span::new(byte_at(range[0]), byte_at(range[1]))).collect()
    }
}

/// An input of one encoding: a text or a pair.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The text, or the first text of the pair.
    pub first: Sequence<'a>,
    /// The second text of a pair.
    pub second: Option<Sequence<'a>>,
}

impl<'a> From<Text<'a>> for Sequence<'a> {
    fn from(text: Text<'a>) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a str> for Sequence<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl<'a> From<&'a [Text<'a>]> for Sequence<'a> {
    fn from(words: &'a [Text<'a>]) -> Self {
        Self::Words(words)
    }
}

impl<'a, S: Into<Sequence<'a>>> From<S> for Input<'a> {
    fn from(first: S) -> Self {
        Self { first: first.into(), second: None }
    }
}

impl<'a, A: Into<Sequence<'a>>, B: Into<Sequence<'a>>> From<(A, B)> for Input<'a> {
    fn from((first, second): (A, B)) -> Self {
        Self { first: first.into(), second: Some(second.into()) }
    }
}

impl Sequence<'_> {
    fn weight(&self) -> usize {
        match self {
            Self::Text(text) => text.weight(),
            Self::Words(words) => words.iter().map(Text::weight).sum(),
            Self::Marked(text, _) => text.weight(),
        }
    }
}

impl<'a> Input<'a> {
    /// The size of the input, as [`Text::weight`].
    pub(crate) fn weight(&self) -> usize {
        self.sequences().map(|sequence| sequence.weight()).sum()
    }

    pub(crate) fn sequences(&self) -> impl Iterator<Item = Sequence<'a>> {
        [Some(self.first), self.second].into_iter().flatten()
    }

    /// The first text for 0; otherwise the second, if there is one.
    pub(crate) fn get(&self, sequence: usize) -> Sequence<'a> {
        if sequence == 0 { self.first } else { self.second.unwrap_or(self.first) }
    }
}

impl Text<'_> {
    /// The size of the text, in bytes or UTF-16 units. The scheduler of batches divides work by it.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Utf8(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Utf16(units) => units.len(),
        }
    }

    /// The last character boundary at or before `position`, in the unit of [`Self::weight`].
    pub(crate) fn floor(&self, position: usize) -> usize {
        let position = position.min(self.weight());
        match self {
            Self::Utf8(text) => text.floor_char_boundary(position),
            Self::Bytes(bytes) => {
                let is_within = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xC0 == 0x80);
                (position.saturating_sub(3)..=position).rev().find(|at| !is_within(at)).unwrap_or(position)
            }
            Self::Utf16(units) => {
                let is_low = units.get(position).is_some_and(|unit| (0xDC00..0xE000).contains(unit));
                let splits = is_low && position > 0 && is_high_surrogate(units[position - 1]);
                position - usize::from(splits)
            }
        }
    }

    /// The text between two positions, each rounded down to a character boundary.
    pub(crate) fn slice(&self, start: usize, end: usize) -> Self {
        let (start, end) = (self.floor(start), self.floor(end));
        match *self {
            Self::Utf8(text) => Text::Utf8(&text[start..end]),
            Self::Bytes(bytes) => Text::Bytes(&bytes[start..end]),
            Self::Utf16(units) => Text::Utf16(&units[start..end]),
        }
    }

    /// Converts the text to UTF-8. UTF-8 is borrowed; other text is written to `buffer`, whose
    /// content is replaced.
    pub(crate) fn to_utf8<'b>(self, buffer: &'b mut String) -> Result<&'b str, EncodeError>
    where
        Self: 'b,
    {
        let text: &str = match self {
            Self::Utf8(text) => text,
            Self::Bytes(bytes) => simdutf8::basic::from_utf8(bytes).or_else(|_| {
                // The fast check does not return the position; the slow one does.
                std::str::from_utf8(bytes).map_err(|e| EncodeError::InvalidUtf8 { byte: e.valid_up_to() })
            })?,
            Self::Utf16(units) => {
                transcode(units, buffer)?;
                buffer
            }
        };
        if text.len() > MAX_TEXT_BYTES {
            return Err(EncodeError::TextTooLong { bytes: text.len(), limit: MAX_TEXT_BYTES });
        }
        Ok(text)
    }
}

/// Converts UTF-16 to UTF-8, with U+FFFD for each lone surrogate.
#[cfg_attr(target_arch = "wasm32", inline(never))]
fn transcode(units: &[u16], out: &mut String) -> Result<(), OutOfMemory> {
    // Long enough that a call costs little, and short enough to be cleared for a short text.
    let mut block = [0; 384];
    let block = std::str::from_utf8_mut(&mut block).expect("zeros are characters");
    out.clear();
    out.try_grow(units.len() + units.len() / 8)?;
    let mut rest = units;
    while !rest.is_empty() {
        let (read, written) = convert_utf16_to_str_partial(rest, block);
        out.try_grow(written)?;
        out.push_str(&block[..written]);
        rest = &rest[read..];
    }
    Ok(())
}

fn is_high_surrogate(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths up to two vectors, and around those of `transcode`'s block.
    const SHIFTS: [std::ops::Range<usize>; 3] = [0..70, 290..400, 760..780];

    fn utf8_of(units: &[u16]) -> String {
        let mut buffer = String::from("old");
        Text::Utf16(units).to_utf8(&mut buffer).expect("no text is too long here").to_owned()
    }

    #[test]
    fn transcoding_equals_the_standard_library_at_every_offset() {
        let parts =
            ["", "a", "é", "中", "🌍", "plain ascii that is longer than one vector of thirty-two units", "😀😀😀"];
        for a in parts {
            for b in parts {
                for shift in SHIFTS.into_iter().flatten() {
                    let text = format!("{}{a}{b}{a}", "x".repeat(shift));
                    let units: Vec<u16> = text.encode_utf16().collect();
                    assert_eq!(utf8_of(&units), text);
                }
            }
        }
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        for shift in SHIFTS.into_iter().flatten() {
            for lone in [vec![0xD83D], vec![0xDE00], vec![0xDE00, 0xD83D], vec![0xD83D, 0xD83D, 0xDE00]] {
                let mut units: Vec<u16> = vec![0x61; shift];
                units.extend(&lone);
                units.push(0x62);
                assert_eq!(utf8_of(&units), String::from_utf16_lossy(&units));
            }
        }
    }

    #[test]
    fn invalid_bytes_say_where() {
        let mut buffer = String::new();
        let error = Text::Bytes(b"ab\xff").to_utf8(&mut buffer).expect_err("0xff is never UTF-8");
        assert_eq!(error, EncodeError::InvalidUtf8 { byte: 2 });
    }
}
