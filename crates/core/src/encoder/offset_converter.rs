//! Converts byte positions to the unit of offsets.
//!
//! For text that is not ASCII, a table has an entry for each 64 bytes, from which the units before
//! any position follow without a branch. Tokens start and end where no branch can be predicted.

use crate::encoding::OffsetUnit;
use crate::memory::Grow;
use crate::simd::{BLOCK, Simd, dispatch};

/// Converts byte positions of a text to bytes, code points or UTF-16 units.
#[derive(Debug)]
pub(super) struct OffsetConverter<'a> {
    text: &'a str,
    unit: OffsetUnit,
    is_ascii: bool,
    /// The blocks of the text and an entry for its end. Empty if the text is ASCII or the unit is
    /// bytes.
    blocks: Vec<Block>,
}

/// The characters that begin in [`BLOCK`] bytes of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// Their first bytes.
    starts: u64,
    /// The first bytes of those with two UTF-16 units, if that is the unit.
    pairs: u64,
    /// The units of all characters that begin before the block.
    before: u32,
}

impl<'a> OffsetConverter<'a> {
    /// `blocks` is a buffer that is reused from text to text; see [`Self::into_blocks`].
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(super) fn new(text: &'a str, unit: OffsetUnit, mut blocks: Vec<Block>) -> Self {
        let is_ascii = text.is_ascii();
        blocks.clear();
        if !is_ascii && unit != OffsetUnit::Byte {
            blocks.grow(text.len() / BLOCK + 1);
            dispatch(
                #[inline(always)]
                || push_blocks(text, unit, &mut blocks),
            );
        }
        Self { text, unit, is_ascii, blocks }
    }

    pub(super) fn into_blocks(self) -> Vec<Block> {
        self.blocks
    }

    /// Converts a token's offsets from bytes to the unit. Both are character boundaries, or beyond
    /// the text: if a character is split over several tokens, each of them has the character's
    /// start and end.
    ///
    /// Positions beyond the text come from prefixes and suffixes that were encoded as bytes (see
    /// `ModelInput::original_span`). Hugging Face tokenizers leaves them unchanged, except for a
    /// span that starts within the text, which ends two characters after its start.
    pub(super) fn convert(&self, [start, end]: [u32; 2]) -> [u32; 2] {
        let len = self.text.len() as u32;
        if self.unit == OffsetUnit::Byte || start >= len && end > len {
            return [start, end];
        }
        let first = self.floor(start as usize);
        [first, if end <= len { self.floor(end as usize) } else { first + 2 }]
    }

    /// Converts the offsets of tokens, which are within the text. They start in the first and end
    /// in or after the last character of each token.
    pub(super) fn convert_all(&self, offsets: &mut [[u32; 2]]) {
        if self.is_ascii {
            return;
        }
        dispatch(
            #[inline(always)]
            || {
                for offset in offsets {
                    *offset = [self.floor(offset[0] as usize), self.ceil(offset[1] as usize)];
                }
            },
        );
    }

    /// Appends the offsets of adjacent tokens. `lens` are their lengths in bytes, and together they
    /// cover `start..end` of the text. Both positions are character boundaries.
    pub(super) fn extend(
        &self,
        offsets: &mut Vec<[u32; 2]>,
        start: usize,
        end: usize,
        lens: impl Iterator<Item = u32>,
    ) {
        let is_ascii = self.is_ascii || self.text.as_bytes()[start..end].is_ascii();
        let first = if is_ascii { self.floor(start) } else { start as u32 };
        let (mut at, from) = (first, offsets.len());
        offsets.extend(lens.map(|len| {
            let start = at;
            at += len;
            [start, at]
        }));
        debug_assert_eq!((at - first) as usize, end - start, "the tokens are all of it");
        if !is_ascii {
            dispatch(
                #[inline(always)]
                || self.convert_adjacent(&mut offsets[from..]),
            );
        }
    }

    /// Like [`Self::convert_all`], for tokens that each start where the one before ends.
    #[inline(always)]
    fn convert_adjacent(&self, offsets: &mut [[u32; 2]]) {
        let mut units = offsets.first().map_or(0, |offset| self.floor(offset[0] as usize));
        for offset in offsets {
            let [start, end] = offset.map(|at| at as usize);
            let first = if self.text.is_char_boundary(start) { units } else { self.floor(start) };
            units = self.ceil(end);
            *offset = [first, units];
        }
    }

    /// The start of the character that contains a byte, in the unit.
    #[inline(always)]
    fn floor(&self, byte: usize) -> u32 {
        if self.is_ascii {
            return byte as u32;
        }
        self.units_before(self.text.floor_char_boundary(byte))
    }

    /// The end of the character that contains the byte before `end`, in the unit.
    #[inline(always)]
    fn ceil(&self, end: usize) -> u32 {
        match self.unit {
            OffsetUnit::Byte => self.text.ceil_char_boundary(end) as u32,
            // All of the character counts if it begins before `end`.
            OffsetUnit::CodePoint | OffsetUnit::Utf16 => self.units_before(end.min(self.text.len())),
        }
    }

    /// The units of all characters that begin before `end`, if that is not beyond the text; for
    /// bytes, `end` itself.
    #[inline(always)]
    fn units_before(&self, end: usize) -> u32 {
        let Some(&Block { starts, pairs, before }) = self.blocks.get(end / BLOCK) else { return end as u32 };
        let earlier = !(u64::MAX << (end % BLOCK));
        before + (starts & earlier).count_ones() + (pairs & earlier).count_ones()
    }
}

/// Appends the blocks of a text, and an entry for its end. The list has capacity for them.
#[inline(always)]
fn push_blocks(text: &str, unit: OffsetUnit, blocks: &mut Vec<Block>) {
    let (simd, mut before) = (Simd::best(), 0);
    let (whole, rest) = text.as_bytes().as_chunks::<BLOCK>();
    // Bytes after the text are never counted.
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    blocks.extend(whole.iter().chain([&last]).map(|block| {
        let has = |bit| simd.any_bit(block, bit);
        let leads = has(0x80) & has(0x40);
        let starts = leads | !has(0x80);
        // A character of four bytes in UTF-8, whose first byte is 1111xxxx, has two units.
        let pairs = if unit == OffsetUnit::Utf16 { leads & has(0x20) & has(0x10) } else { 0 };
        let block = Block { starts, pairs, before };
        before += starts.count_ones() + pairs.count_ones();
        block
    }));
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
            positions in prop::collection::vec(any::<prop::sample::Index>(), 1..9),
        ) {
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            for unit in UNITS {
                let converter = OffsetConverter::new(&text, unit, vec![]);
                for pair in positions.windows(2) {
                    let [start, end] = [0, 1].map(|i| *pair[i].get(&ends));
                    let expected = [start, end].map(|at| naive(&text, at, unit));
                    prop_assert_eq!(converter.convert([start as u32, end as u32]), expected);
                    let (from, to) = (start.min(end), start.max(end));
                    if from < to {
                        // Any bytes within the first and the last character.
                        let last_of_first = text.ceil_char_boundary(from + 1) - 1;
                        let first_of_last = text.floor_char_boundary(to - 1);
                        for (first, last) in [(from, to), (last_of_first, to), (from, first_of_last + 1)] {
                            let mut all = [[first as u32, last as u32]];
                            converter.convert_all(&mut all);
                            prop_assert_eq!(all[0], [from, to].map(|at| naive(&text, at, unit)));
                        }
                    }
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
                let converter = OffsetConverter::new(&text, unit, vec![]);
                let (mut offsets, mut expected) = (vec![], vec![]);
                for run in runs.windows(2) {
                    let inside: Vec<usize> = ends.iter().copied().filter(|end| (run[0]..=run[1]).contains(end)).collect();
                    let lens: Vec<u32> = inside.windows(2).map(|token| (token[1] - token[0]) as u32).collect();
                    converter.extend(&mut offsets, run[0], run[1], lens.into_iter());
                    expected.extend(inside.windows(2).map(|token| {
                        let positions = [text.floor_char_boundary(token[0]), text.ceil_char_boundary(token[1])];
                        positions.map(|at| naive(&text, at, unit))
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
                let converter = OffsetConverter::new(text, unit, vec![]);
                let crossing = if unit == OffsetUnit::Byte { [2, 5] } else { expected[1] };
                let start = if text.is_ascii() { 2 } else { 1 };
                assert_eq!(converter.convert([3, 5]), expected[0]);
                assert_eq!(converter.convert([if unit == OffsetUnit::Byte { 2 } else { start }, 5]), crossing);
            }
        }
    }
}
