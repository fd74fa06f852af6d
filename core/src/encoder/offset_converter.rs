//! Converts byte positions to the unit of offsets while tokens are appended.

use crate::encoding::OffsetUnit;

/// The lowest bit of each byte.
const LOW_BITS: u64 = u64::MAX / 0xFF;

/// Tokens of at least this many bytes are long: the next token is more likely to be near the start
/// of a long token than near its end.
const LONG_TOKEN_BYTES: u32 = 256;

/// Converts byte positions of a text to bytes, code points or UTF-16 units. Positions rarely
/// decrease, so it counts from the previous position on, without a table for the whole text.
#[derive(Debug)]
pub(super) struct OffsetConverter<'a> {
    text: &'a str,
    unit: OffsetUnit,
    is_ascii: bool,
    /// The previous position in bytes.
    byte: usize,
    /// The previous position in the unit: that of all characters that begin before it.
    units: u32,
    /// The end of the last long token, in bytes and in the unit.
    long_end: (u32, u32),
}

impl<'a> OffsetConverter<'a> {
    pub(super) fn new(text: &'a str, unit: OffsetUnit) -> Self {
        Self { text, unit, is_ascii: text.is_ascii(), byte: 0, units: 0, long_end: (0, 0) }
    }

    /// Converts the offsets of tokens, which are within the text, from bytes to the unit. They
    /// start in the first and end in or after the last character of each token.
    pub(super) fn convert_all(&mut self, offsets: &mut [[u32; 2]]) {
        if self.is_ascii {
            return;
        }
        match self.unit {
            OffsetUnit::Byte => offsets.iter_mut().for_each(|offset| *offset = self.whole_characters(*offset)),
            OffsetUnit::CodePoint => self.convert_all_to::<CodePoints>(offsets),
            OffsetUnit::Utf16 => self.convert_all_to::<Utf16>(offsets),
        }
    }

    fn convert_all_to<U: Unit>(&mut self, offsets: &mut [[u32; 2]]) {
        let text = self.text.as_bytes();
        for offset in offsets {
            let [start, end] = offset.map(|at| at as usize);
            if self.byte <= start && start < end && end <= text.len() && self.text.is_char_boundary(start) {
                // `byte` may be within a character, which `units` includes.
                let first = match start - self.byte {
                    0 => self.units,
                    // The single byte of a space is the usual distance.
                    1 => self.units + u32::from(!is_continuation(text[self.byte])),
                    _ => U::units_before(text, self.byte, start, self.units),
                };
                (self.byte, self.units) = (end, U::units_before(text, start, end, first));
                *offset = [first, self.units];
            } else {
                *offset = self.convert(self.whole_characters(*offset));
            }
        }
    }

    /// Extends a range of bytes to whole characters.
    fn whole_characters(&self, [start, end]: [u32; 2]) -> [u32; 2] {
        [self.text.floor_char_boundary(start as usize) as u32, self.text.ceil_char_boundary(end as usize) as u32]
    }

    /// Converts a token's offsets from bytes to the unit. If a character is split over several
    /// tokens, each of them has the character's start and end.
    ///
    /// Positions beyond the text come from prefixes and suffixes that were encoded as bytes (see
    /// `ModelInput::original_span`). Hugging Face tokenizers leaves them unchanged, except for a
    /// span that starts within the text, which ends two characters after its start.
    pub(super) fn convert(&mut self, [start, end]: [u32; 2]) -> [u32; 2] {
        if self.unit == OffsetUnit::Byte {
            return [start, end];
        }
        if end as usize <= self.text.len() {
            let first = self.units_at(start);
            // Added tokens that include white space may overlap: many can have the same end, each
            // with a later start. So the end of a long token is kept, and counting continues from
            // its start.
            if end.saturating_sub(start) < LONG_TOKEN_BYTES {
                return [first, self.units_at(end)];
            }
            if self.long_end.0 != end {
                let here = (self.byte, self.units);
                self.long_end = (end, self.units_at(end));
                (self.byte, self.units) = here;
            }
            return [first, self.long_end.1];
        }
        if (start as usize) < self.text.len() {
            let start = self.units_at(start);
            return [start, start + 2];
        }
        [start, end]
    }

    /// Appends the offsets of adjacent tokens. `lens` are their lengths in bytes, and together they
    /// cover `start..end` of the text. Both positions are character boundaries.
    pub(super) fn extend(
        &mut self,
        offsets: &mut Vec<[u32; 2]>,
        start: usize,
        end: usize,
        lens: impl Iterator<Item = u32>,
    ) {
        let text = &self.text.as_bytes()[..end];
        if self.is_ascii || text[start..].is_ascii() {
            let first = self.units_at(start as u32);
            let mut at = first;
            offsets.extend(lens.map(|len| {
                let start = at;
                at += len;
                [start, at]
            }));
            debug_assert_eq!((at - first) as usize, end - start, "the tokens are all of it");
            (self.byte, self.units) = (end, at);
            return;
        }
        let first = self.units_at(start as u32);
        let units = match self.unit {
            OffsetUnit::Byte => extend_by::<Bytes>(text, start, first, offsets, lens),
            OffsetUnit::CodePoint => extend_by::<CodePoints>(text, start, first, offsets, lens),
            OffsetUnit::Utf16 => extend_by::<Utf16>(text, start, first, offsets, lens),
        };
        (self.byte, self.units) = (end, units);
    }

    /// Converts the start of the character that contains a byte.
    #[inline(always)]
    fn units_at(&mut self, byte: u32) -> u32 {
        if self.is_ascii || self.unit == OffsetUnit::Byte {
            return byte;
        }
        let byte = self.text.floor_char_boundary(byte as usize);
        if byte > self.byte {
            self.units += self.count(self.byte, byte);
        } else if byte < self.byte {
            self.units -= self.count(byte, self.byte);
        }
        self.byte = byte;
        self.units
    }

    /// The number of units between two positions.
    #[inline(always)]
    fn count(&self, start: usize, end: usize) -> u32 {
        let text = self.text.as_bytes();
        match self.unit {
            OffsetUnit::Byte => (end - start) as u32,
            OffsetUnit::CodePoint => CodePoints::units_before(text, start, end, 0),
            OffsetUnit::Utf16 => Utf16::units_before(text, start, end, 0),
        }
    }
}

/// A unit of offsets.
trait Unit {
    /// The units of all characters that begin before byte `end`; `before` is the same for byte
    /// `start`.
    fn units_before(text: &[u8], start: usize, end: usize, before: u32) -> u32;

    /// The units of a character whose first byte is `first`.
    fn of(first: u8) -> u32;
}

struct Bytes;
struct CodePoints;
struct Utf16;

impl Unit for Bytes {
    #[inline(always)]
    fn units_before(text: &[u8], _start: usize, end: usize, _before: u32) -> u32 {
        let mut end = end;
        while text.get(end).is_some_and(|&byte| is_continuation(byte)) {
            end += 1;
        }
        end as u32
    }

    fn of(first: u8) -> u32 {
        first.leading_ones()
    }
}

impl Unit for CodePoints {
    #[inline(always)]
    fn units_before(text: &[u8], start: usize, end: usize, before: u32) -> u32 {
        sum_by_eight(text, start, end, before, |eight| LOW_BITS & !continuations(eight))
    }

    fn of(_first: u8) -> u32 {
        1
    }
}

impl Unit for Utf16 {
    #[inline(always)]
    fn units_before(text: &[u8], start: usize, end: usize, before: u32) -> u32 {
        // A character of four bytes in UTF-8, whose first byte is 1111xxxx, has two units; all
        // others have one.
        let fours = |eight: u64| eight >> 7 & eight >> 6 & eight >> 5 & eight >> 4 & LOW_BITS;
        sum_by_eight(text, start, end, before, |eight| (LOW_BITS & !continuations(eight)) + fours(eight))
    }

    fn of(first: u8) -> u32 {
        if first >= 0xF0 { 2 } else { 1 }
    }
}

/// Whether a byte is a continuation byte (10xxxxxx).
#[inline(always)]
fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// A 1 in each of eight bytes that is a continuation byte.
#[inline(always)]
fn continuations(eight: u64) -> u64 {
    eight >> 7 & !(eight >> 6) & LOW_BITS
}

/// Adds to `sum` the counts of all bytes in `start..end`. `count` returns a count of at most 2 in
/// each of eight bytes.
#[inline(always)]
fn sum_by_eight(text: &[u8], start: usize, end: usize, sum: u32, count: impl Fn(u64) -> u64) -> u32 {
    let some = |at: usize, bytes: usize| {
        let counts = count(read_eight(text, at)) & u64::MAX >> (64 - 8 * bytes);
        (counts.wrapping_mul(LOW_BITS) >> 56) as u32
    };
    match end - start {
        0 => sum,
        // Most tokens have at most eight bytes.
        bytes @ 1..=8 => sum + some(start, bytes),
        _ => sum + (start..end).step_by(8).map(|at| some(at, (end - at).min(8))).sum::<u32>(),
    }
}

/// Reads eight bytes from `at` on; bytes beyond the end of the text are 0.
#[inline(always)]
fn read_eight(text: &[u8], at: usize) -> u64 {
    let rest = &text[at..];
    match rest.first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => rest.iter().rev().fold(0, |eight, &byte| eight << 8 | u64::from(byte)),
    }
}

/// Like [`OffsetConverter::extend`], for text that is not ASCII. `first` is the position of byte
/// `start` in the unit. Returns the position of the last end.
#[inline(always)]
fn extend_by<U: Unit>(
    text: &[u8],
    start: usize,
    first: u32,
    offsets: &mut Vec<[u32; 2]>,
    lens: impl Iterator<Item = u32>,
) -> u32 {
    let (mut at, mut units) = (start, first);
    offsets.extend(lens.map(|len| {
        let mut from = units;
        if text.get(at).is_some_and(|&byte| is_continuation(byte)) {
            // The token starts within a character, so its range starts where that character does.
            from -= U::of(first_of(text, at));
        }
        let end = at + len as usize;
        units = U::units_before(text, at, end, units);
        at = end;
        [from, units]
    }));
    debug_assert_eq!(at, text.len(), "the tokens are all of it");
    units
}

/// The first byte of the character that contains the byte before `at`.
#[cold]
fn first_of(text: &[u8], at: usize) -> u8 {
    text[..at].iter().rev().copied().find(|&byte| !is_continuation(byte)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNITS: [OffsetUnit; 3] = [OffsetUnit::Byte, OffsetUnit::CodePoint, OffsetUnit::Utf16];

    /// The position of a byte in the unit, counted character by character.
    fn naive(text: &str, byte: usize, unit: OffsetUnit) -> u32 {
        let units = match unit {
            OffsetUnit::Byte => byte,
            OffsetUnit::CodePoint => text[..byte].chars().count(),
            OffsetUnit::Utf16 => text[..byte].encode_utf16().count(),
        };
        units as u32
    }

    proptest! {
        #[test]
        fn places_are_counted_as_characters_are(
            text in "([a-z]{0,20}|\\PC|é|中|😀){0,20}",
            places in prop::collection::vec(any::<prop::sample::Index>(), 1..9),
        ) {
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            for unit in UNITS {
                let mut converter = OffsetConverter::new(&text, unit);
                for pair in places.windows(2) {
                    let [start, end] = [0, 1].map(|i| *pair[i].get(&ends));
                    let expected = [start, end].map(|at| naive(&text, at, unit));
                    prop_assert_eq!(converter.convert([start as u32, end as u32]), expected);
                }
            }
        }

        #[test]
        fn tokens_together_are_tokens_one_by_one(
            text in "([a-z]{0,20}|\\PC|é|中|😀){0,20}",
            cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..30),
        ) {
            // Tokens end anywhere; runs of tokens that are converted together end at character
            // boundaries.
            let mut ends: Vec<usize> = cuts.iter().map(|(cut, _)| cut.index(text.len() + 1)).collect();
            let whole = |(cut, is_whole): &(prop::sample::Index, bool)| is_whole.then(|| text.floor_char_boundary(cut.index(text.len() + 1)));
            let mut runs: Vec<usize> = cuts.iter().filter_map(whole).chain([0, text.len()]).collect();
            ends.extend(&runs);
            for list in [&mut ends, &mut runs] {
                list.sort_unstable();
                list.dedup();
            }
            for unit in UNITS {
                let (mut converter, mut offsets, mut expected) = (OffsetConverter::new(&text, unit), vec![], vec![]);
                for run in runs.windows(2) {
                    let inside: Vec<usize> = ends.iter().copied().filter(|end| (run[0]..=run[1]).contains(end)).collect();
                    let lens: Vec<u32> = inside.windows(2).map(|token| (token[1] - token[0]) as u32).collect();
                    converter.extend(&mut offsets, run[0], run[1], lens.into_iter());
                    expected.extend(inside.windows(2).map(|token| {
                        let places = [text.floor_char_boundary(token[0]), text.ceil_char_boundary(token[1])];
                        places.map(|at| naive(&text, at, unit))
                    }));
                }
                prop_assert_eq!(offsets, expected, "{:?} {:?}", &text, unit);
            }
        }
    }

    #[test]
    fn places_beyond_the_text_stay_as_they_are() {
        for (text, expected) in [("abc", [[3, 5], [2, 4]]), ("aé", [[3, 5], [1, 3]])] {
            for unit in UNITS {
                let mut converter = OffsetConverter::new(text, unit);
                let crossing = if unit == OffsetUnit::Byte { [2, 5] } else { expected[1] };
                let start = if text.is_ascii() { 2 } else { 1 };
                assert_eq!(converter.convert([3, 5]), expected[0]);
                assert_eq!(converter.convert([if unit == OffsetUnit::Byte { 2 } else { start }, 5]), crossing);
            }
        }
    }
}
