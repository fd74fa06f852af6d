//! The *wide* characters of a block: those that are not ASCII. [`WideBlock::read`] looks up all of
//! them before a segmenter writes the block, so that the masks of the block describe them too.
//!
//! A character is described byte by byte. Its text takes the place of the character in the block,
//! and bytes that remain are left out when the block is compressed. Characters whose text is longer
//! than they are, or that depend on their neighbours, end the block.

use super::characters::{self, CharacterEntry, LongMarks, Role};
use crate::pretokenizer::unicode::decode;
use crate::simd::{BLOCK, Masks, PaddedBlock, Simd};

/// Outside of blocks, characters are read one by one. After this many in a row that a block could
/// have read, the next block starts.
pub(super) const MAX_COVERED: usize = 8;

/// The maximum length of a character in bytes.
const MAX_LEN: usize = 4;

/// The start of `rest` as a padded block. If `rest` is shorter, its bytes are copied to the start
/// of `padding`, and that is the result.
#[inline(always)]
pub(super) fn padded_block<'a>(rest: &'a [u8], padding: &'a mut PaddedBlock) -> &'a PaddedBlock {
    rest.first_chunk().unwrap_or_else(|| {
        padding[..rest.len()].copy_from_slice(rest);
        padding
    })
}

/// The four bytes from a position of the block on.
#[inline(always)]
fn four_bytes(block: &PaddedBlock, start: usize) -> &[u8; MAX_LEN] {
    block[start..].first_chunk().expect("there are three bytes after the block")
}

/// As [`four_bytes`].
#[inline(always)]
fn four_bytes_mut(block: &mut PaddedBlock, start: usize) -> &mut [u8; MAX_LEN] {
    block[start..].first_chunk_mut().expect("there are three bytes after the block")
}

/// Flag of a byte that is written.
const KEPT: u8 = 1;
/// Flag of the bytes of a character that is part of a word.
const LETTER: u8 = 2;
/// Flag of the bytes of a character that is removed.
const REMOVED: u8 = 4;
/// Flag of a byte that is not the first of its character.
const INNER: u8 = 8;
/// Flag of the first byte of a combining mark of at least three bytes, which is part of a word only
/// after a character of at least three bytes.
const LONG_MARK: u8 = 16;
/// Flag of the bytes of a character before which the block ends.
const OTHER: u8 = 32;

/// The text that is written for a character, padded with zeros, and flags of its bytes.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(8))]
pub(super) struct WideEntry {
    text: [u8; MAX_LEN],
    flags: [u8; MAX_LEN],
}

impl WideEntry {
    pub(super) const OTHER: Self = Self { text: [0; MAX_LEN], flags: [OTHER; MAX_LEN] };

    /// The entry of a character of `len` bytes.
    pub(super) fn of(len: usize, entry: &CharacterEntry, long_marks: LongMarks) -> Self {
        let written = characters::len(entry);
        let mut first = 0;
        let all = match characters::role(entry) {
            Role::Mark if len >= 3 && written <= len && long_marks == LongMarks::Join => {
                first = LONG_MARK;
                LETTER
            }
            Role::Word if written <= len => LETTER,
            Role::Alone if written <= len => 0,
            Role::Space if written == 0 => 0,
            Role::Nothing => REMOVED,
            _ => return Self::OTHER,
        };
        let mut wide = Self { text: [0; MAX_LEN], flags: [all; MAX_LEN] };
        for (at, (text, flags)) in wide.text.iter_mut().zip(&mut wide.flags).enumerate() {
            if at < written {
                *text = entry[at];
                *flags |= KEPT;
            }
            *flags |= if at == 0 { first } else { INNER };
        }
        wide
    }

    /// The entry as a number: never zero, because each character has a flag.
    #[inline(always)]
    pub(super) fn to_bits(self) -> u64 {
        u64::from(u32::from_le_bytes(self.flags)) << 32 | u64::from(u32::from_le_bytes(self.text))
    }

    /// The inverse of [`Self::to_bits`].
    #[inline(always)]
    pub(super) fn from_bits(bits: u64) -> Self {
        Self { text: (bits as u32).to_le_bytes(), flags: ((bits >> 32) as u32).to_le_bytes() }
    }

    #[inline(always)]
    fn is_other(self) -> bool {
        self.flags[0] & OTHER != 0
    }
}

/// The texts and flags of the characters of a block, at their positions. All other positions have
/// unspecified values.
#[derive(Debug)]
pub(super) struct WideBlock {
    texts: PaddedBlock,
    flags: PaddedBlock,
}

/// Sets of bytes of the wide characters in a block, one bit per byte.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WideMasks {
    /// The bytes that are written.
    pub(super) kept: u64,
    /// The bytes of characters that are part of a word.
    pub(super) letters: u64,
    /// The bytes of characters that are removed.
    pub(super) removed: u64,
    /// The bytes that are not the first of their character.
    pub(super) inner: u64,
    /// The first bytes of combining marks that are part of a word only after a character of at
    /// least three bytes.
    pub(super) long_marks: u64,
}

impl WideBlock {
    pub(super) fn new() -> Self {
        Self { texts: [0; size_of::<PaddedBlock>()], flags: [0; size_of::<PaddedBlock>()] }
    }

    /// Looks up the wide characters among the bytes `covered` of a block. Returns these bytes up to
    /// the first character that is not completely in the block or whose entry is
    /// [`WideEntry::OTHER`], and whether the latter was the reason.
    #[inline(always)]
    pub(super) fn read(
        &mut self,
        simd: Simd,
        padded: &PaddedBlock,
        masks: &Masks,
        covered: u64,
        entry: impl Fn(u32) -> WideEntry,
    ) -> (u64, bool) {
        let block = padded.first_chunk().expect("a padded block starts with a block");
        // The first bytes of characters have the two highest bits set.
        let mut rest = masks.high & simd.any_bit(block, 0x40) & covered;
        let (mut start, mut end) = (0, 0);
        while rest != 0 {
            start = rest.trailing_zeros() as usize % BLOCK;
            let (code, len) = decode(*four_bytes(padded, start));
            let entry = entry(code);
            if entry.is_other() {
                return (covered & !(u64::MAX << start), true);
            }
            *four_bytes_mut(&mut self.texts, start) = entry.text;
            *four_bytes_mut(&mut self.flags, start) = entry.flags;
            end = start + len;
            rest &= rest - 1;
        }
        (if end > BLOCK { covered & !(u64::MAX << start) } else { covered }, false)
    }

    /// The masks of the wide characters that were read, whose bytes are `wide`.
    #[inline(always)]
    pub(super) fn masks(&self, simd: Simd, wide: u64) -> WideMasks {
        let flags = self.flags.first_chunk().expect("a padded block starts with a block");
        let mask = |flag: u8| simd.any_bit(flags, flag) & wide;
        WideMasks {
            kept: mask(KEPT),
            letters: mask(LETTER),
            removed: mask(REMOVED),
            inner: mask(INNER),
            long_marks: mask(LONG_MARK),
        }
    }

    /// Puts the texts of the wide characters into a block.
    #[inline(always)]
    pub(super) fn put_texts(&self, block: &mut [u8; BLOCK]) {
        for (byte, text) in block.iter_mut().zip(self.texts) {
            *byte = if *byte < 0x80 { *byte } else { text };
        }
    }
}

/// The bytes of `removed` that follow a letter, directly or after other bytes of `removed`.
/// `before` has the positions directly after letters.
#[inline(always)]
pub(super) fn after_letters(removed: u64, before: u64) -> u64 {
    let starts = removed & !(removed << 1) & before;
    // A carry clears the run of ones that it starts in.
    removed & !removed.wrapping_add(starts)
}

/// The positions in a block directly after a character of at least three bytes. `inner` are the
/// bytes of the block that continue a character, and `before` is the text before the block. If
/// `counts_last` is false, the last character of `before` is ignored.
#[inline(always)]
pub(super) fn after_long(inner: u64, before: &[u8], counts_last: bool) -> u64 {
    let [second, last] = before.last_chunk().copied().unwrap_or([0; 2]);
    let [second, last] = [second, last].map(|byte| u64::from(byte & 0xC0 == 0x80 && counts_last));
    (inner << 1 | last) & (inner << 2 | last << 1 | second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn removed_bytes_follow_letters_directly(removed in any::<u64>(), more in any::<u64>(), before in any::<u64>()) {
            for removed in [removed, removed & more, removed | more, u64::MAX, 0] {
                let mut expected = 0;
                for at in 0..BLOCK {
                    let follows = if at > 0 && removed >> (at - 1) & 1 == 1 { expected >> (at - 1) } else { before >> at };
                    expected |= (follows & removed >> at & 1) << at;
                }
                prop_assert_eq!(after_letters(removed, before), expected);
            }
        }
    }
}
