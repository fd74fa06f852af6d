//! What a caller hands over as text, and its way to UTF-8.

use crate::error::EncodeError;
use crate::memory::{Grow, OutOfMemory};

/// The longest text that is encoded at once, in bytes of UTF-8: spans are 32-bit.
pub const MAX_TEXT_BYTES: usize = u32::MAX as usize - 64;

/// One text, in the form the caller has it. Making it costs nothing; the work is done where it is encoded.
#[derive(Debug, Clone, Copy)]
pub enum Text<'a> {
    /// Valid UTF-8.
    Utf8(&'a str),
    /// Bytes that ought to be UTF-8; checked on use.
    Bytes(&'a [u8]),
    /// UTF-16 code units. A surrogate without its partner becomes U+FFFD.
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

/// A text, whole or cut into words by the caller.
#[derive(Debug, Clone, Copy)]
pub enum Sequence<'a> {
    /// One text.
    Text(Text<'a>),
    /// Words: each is encoded by itself, its offsets are its own, and its number is the word id of all its tokens.
    Words(&'a [Text<'a>]),
}

/// What is encoded together: one text, or a pair.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The text, or the first of the pair.
    pub first: Sequence<'a>,
    /// The second of a pair.
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
        }
    }
}

impl<'a> Input<'a> {
    /// The work that it stands for, as [`Text::weight`].
    pub(crate) fn weight(&self) -> usize {
        self.sequences().map(|sequence| sequence.weight()).sum()
    }

    pub(crate) fn sequences(&self) -> impl Iterator<Item = Sequence<'a>> {
        [Some(self.first), self.second].into_iter().flatten()
    }

    /// The first text, or the second where there is one.
    pub(crate) fn get(&self, sequence: usize) -> Sequence<'a> {
        if sequence == 0 { self.first } else { self.second.unwrap_or(self.first) }
    }
}

impl<'a> Text<'a> {
    /// The work this text stands for, in bytes or units: what windows are measured by.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Utf8(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Utf16(units) => units.len(),
        }
    }

    /// The last place up to `place` that is not within a character; places count as [`Self::weight`] does.
    pub(crate) fn floor(&self, place: usize) -> usize {
        let place = place.min(self.weight());
        match self {
            Self::Utf8(text) => text.floor_char_boundary(place),
            Self::Bytes(bytes) => {
                let is_within = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xC0 == 0x80);
                (place.saturating_sub(3)..=place).rev().find(|at| !is_within(at)).unwrap_or(place)
            }
            Self::Utf16(units) => {
                let is_low = units.get(place).is_some_and(|unit| (0xDC00..0xE000).contains(unit));
                let splits = is_low && place > 0 && is_high_surrogate(units[place - 1]);
                place - usize::from(splits)
            }
        }
    }

    /// The text from one place to another, each of which is moved out of the character that it is in.
    pub(crate) fn slice(&self, start: usize, end: usize) -> Text<'a> {
        let (start, end) = (self.floor(start), self.floor(end));
        match *self {
            Self::Utf8(text) => Text::Utf8(&text[start..end]),
            Self::Bytes(bytes) => Text::Bytes(&bytes[start..end]),
            Self::Utf16(units) => Text::Utf16(&units[start..end]),
        }
    }

    /// The text as UTF-8: borrowed where it is that already, else written to `buffer`, whose old content goes.
    pub(crate) fn to_utf8<'b>(self, buffer: &'b mut String) -> Result<&'b str, EncodeError>
    where
        Self: 'b,
    {
        let text: &str = match self {
            Self::Utf8(text) => text,
            Self::Bytes(bytes) => simdutf8::basic::from_utf8(bytes).or_else(|_| {
                // The quick check does not say where; the slow one does.
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

/// A unit becomes at most so many bytes of UTF-8; two units that are one character become four.
const BYTES_PER_UNIT: usize = 3;

/// UTF-16 to UTF-8, runs of ASCII a block at a time.
fn transcode(units: &[u16], out: &mut String) -> Result<(), OutOfMemory> {
    const BLOCK: usize = 32;
    out.clear();
    out.try_grow(units.len() + units.len() / 8 + BLOCK)?;
    let mut rest = units;
    loop {
        while let Some((block, tail)) = rest.split_first_chunk::<BLOCK>() {
            // One or over the block tells whether all of it is ASCII; this vectorises where a loop with an exit would not.
            if block.iter().fold(0, |all, unit| all | unit) >= 0x80 {
                break;
            }
            let bytes = block.map(|unit| unit as u8);
            out.try_grow(BLOCK)?;
            out.push_str(std::str::from_utf8(&bytes).expect("every unit is below 0x80"));
            rest = tail;
        }
        // A stretch that is not all ASCII, character by character, but no longer than a few blocks: then look again.
        let mut stretch = stretch_end(rest);
        if stretch == 0 {
            return Ok(());
        }
        if stretch < rest.len() && is_high_surrogate(rest[stretch - 1]) {
            stretch -= 1; // its partner may be the next unit
            if stretch == 0 {
                stretch = 2.min(rest.len());
            }
        }
        let (now, later) = rest.split_at(stretch);
        out.try_grow(BYTES_PER_UNIT * stretch)?;
        out.extend(char::decode_utf16(now.iter().copied()).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
        rest = later;
    }
}

fn stretch_end(units: &[u16]) -> usize {
    units.len().min(64)
}

fn is_high_surrogate(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf8_of(units: &[u16]) -> String {
        let mut buffer = String::from("old");
        Text::Utf16(units).to_utf8(&mut buffer).expect("no text is too long here").to_owned()
    }

    #[test]
    fn transcoding_equals_the_standard_library_at_every_offset() {
        let parts =
            ["", "a", "é", "中", "🌍", "plain ascii that is longer than one block of thirty-two units", "😀😀😀"];
        for a in parts {
            for b in parts {
                for shift in 0..70 {
                    let text = format!("{}{a}{b}{a}", "x".repeat(shift));
                    let units: Vec<u16> = text.encode_utf16().collect();
                    assert_eq!(utf8_of(&units), text);
                }
            }
        }
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        for shift in 0..130 {
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
