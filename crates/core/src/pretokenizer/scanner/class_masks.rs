//! Matching 64 bytes at a time: the class of each character is a bit of a mask, so that a pattern
//! becomes shifts and boolean operations on masks.
//!
//! A block starts at the start of a word, and the text before it is ignored: a regular expression
//! that continues after its last match does the same. Word starts that depend on text after the
//! block are not reported: in white space that reaches the end of the block, and after an
//! apostrophe close to the end (see [`ClassMasks::sure`]). The next block starts at the last
//! reported word start, so no state is carried over between blocks. If a block contains no word
//! start, for example in a long word, the caller matches one word character by character.
//!
//! Bit `i` of a mask belongs to character `i` of the block. If all characters are ASCII, that is
//! byte `i`. Otherwise the byte masks are compressed (pext) to one bit per character, and the
//! resulting word starts are expanded again (pdep). Therefore the operations of a family do not
//! depend on the lengths of characters.

use super::word::Scan;
use crate::categories::Classes;
use crate::pretokenizer::unicode::{HAN_KANA, LETTER, LOWER, NUMBER, NUMERIC, SIGN, SPACE, UPPER, decode};
use crate::simd::bits::below;
use crate::simd::{BLOCK, PaddedBlock, Simd};

/// A pattern family, matched by masks and character by character.
pub(super) trait Family: Copy {
    /// The class bits of the characters that count as letters.
    fn letters(self) -> u8;

    /// The characters of a block at which words certainly start. Bit 0 is ignored.
    fn starts(self, masks: &ClassMasks<'_>) -> u64;

    /// The end of the word that starts at byte `at`.
    fn word(self, scan: &Scan<'_>, at: usize) -> usize;
}

/// The classes of the characters of a block, as bit masks. `letters`, `digits` (`\p{N}`), `spaces`
/// (`\s`) and `others` are a partition of the characters. `blanks` are U+0020 only.
#[derive(Debug)]
pub(super) struct ClassMasks<'a> {
    pub(super) letters: u64,
    pub(super) digits: u64,
    pub(super) spaces: u64,
    pub(super) others: u64,
    pub(super) blanks: u64,
    pub(super) line_breaks: u64,
    pub(super) apostrophes: u64,
    pub(super) slashes: u64,
    pub(super) uppers: u64,
    pub(super) lowers: u64,
    pub(super) combining_marks: u64,
    pub(super) ascii_letters: u64,
    pub(super) ascii_signs: u64,
    pub(super) signs: u64,
    pub(super) han_kana: u64,
    pub(super) numerics: u64,
    /// The number of characters.
    pub(super) len: u32,
    /// The bytes at which characters start; `None` if all are ASCII.
    starts: Option<u64>,
    block: &'a PaddedBlock,
    simd: Simd,
}

impl<'a> ClassMasks<'a> {
    /// The classes of the characters in the bytes `valid` of `block`: the first ones, or all.
    #[inline(always)]
    fn new(simd: Simd, classes: &Classes, block: &'a PaddedBlock, valid: u64, letters: u8) -> Self {
        let bytes: &[u8; BLOCK] = block.first_chunk().expect("a block and more");
        let masks = simd.masks(bytes);
        let ascii_signs = masks.visible & !masks.letters & !masks.digits;
        let mut of_block = Self {
            letters: masks.letters,
            digits: masks.digits,
            spaces: masks.spaces,
            others: 0,
            blanks: masks.blanks,
            line_breaks: masks.line_breaks,
            apostrophes: masks.apostrophes,
            slashes: masks.slashes,
            uppers: masks.capitals,
            lowers: masks.letters & !masks.capitals,
            combining_marks: 0,
            ascii_letters: masks.letters,
            ascii_signs,
            signs: ascii_signs,
            han_kana: 0,
            numerics: masks.digits,
            len: 0,
            starts: None,
            block,
            simd,
        };
        let mut all = valid;
        if masks.high & valid != 0 {
            let leads = masks.high & simd.any_bit(bytes, 0x40) & valid;
            let starts = valid & !masks.high | leads;
            of_block.add_wide(classes, leads, letters);
            match simd.pext_rounds(starts) {
                None => of_block.each(|mask| simd.pext(mask, starts)),
                Some(rounds) => of_block.each(|mask| rounds.pext(mask)),
            }
            of_block.starts = Some(starts);
            all = u64::MAX >> (BLOCK as u32 - starts.count_ones());
        }
        of_block.len = all.count_ones();
        of_block.others = all & !(of_block.letters | of_block.digits | of_block.spaces);
        of_block
    }

    /// Adds the classes of the non-ASCII characters, which start at `leads`.
    #[inline(always)]
    fn add_wide(&mut self, classes: &Classes, leads: u64, letters: u8) {
        let mut found = [0; BLOCK];
        let mut left = leads;
        while left != 0 {
            let at = left.trailing_zeros() as usize % BLOCK;
            let four = self.block[at..].first_chunk().expect("four bytes can be read at any place");
            found[at] = classes.of_code(self.code_point(*four));
            left &= left - 1;
        }
        let any = |bits| self.simd.any_bit(&found, bits);
        self.letters |= any(letters);
        self.digits |= any(NUMBER);
        self.spaces |= any(SPACE);
        self.uppers |= any(UPPER);
        self.lowers |= any(LOWER);
        self.combining_marks = any(UPPER) & !any(LETTER);
        self.signs |= any(SIGN);
        self.han_kana |= any(HAN_KANA);
        self.numerics |= any(NUMERIC);
    }

    /// The code point of the non-ASCII character at the start of `bytes`.
    #[inline(always)]
    fn code_point(&self, bytes: [u8; 4]) -> u32 {
        if !self.simd.has_fast_pext() {
            return decode(bytes).0;
        }
        /// The payload bits of a character, by its number of leading ones.
        const BITS: [u64; 8] = [0, 0, 0x1F3F_0000, 0x0F3F_3F00, 0x073F_3F3F, 0, 0, 0];
        let word = u32::from_be_bytes(bytes);
        self.simd.pext(u64::from(word), BITS[word.leading_ones() as usize % 8]) as u32
    }

    #[inline(always)]
    fn each(&mut self, change: impl Fn(u64) -> u64) {
        self.letters = change(self.letters);
        self.digits = change(self.digits);
        self.spaces = change(self.spaces);
        self.blanks = change(self.blanks);
        self.line_breaks = change(self.line_breaks);
        self.apostrophes = change(self.apostrophes);
        self.slashes = change(self.slashes);
        self.uppers = change(self.uppers);
        self.lowers = change(self.lowers);
        self.combining_marks = change(self.combining_marks);
        self.ascii_letters = change(self.ascii_letters);
        self.ascii_signs = change(self.ascii_signs);
        self.signs = change(self.signs);
        self.han_kana = change(self.han_kana);
        self.numerics = change(self.numerics);
    }

    /// The characters whose word starts are certain, because no text after the block can change
    /// them.
    #[inline(always)]
    pub(super) fn sure(&self) -> u64 {
        // White space at the end may continue after the block, so only its start is certain.
        let trailing = (self.spaces << (BLOCK as u32 - self.len)).leading_ones();
        let limit = if trailing > 0 { self.len.saturating_sub(trailing) + 1 } else { self.len };
        up_to(limit)
    }

    /// The characters before the first apostrophe that is too close to the end of the block to
    /// decide whether a contraction, of up to three characters, starts there. Later characters are
    /// excluded.
    #[inline(always)]
    pub(super) fn sure_of_contractions(&self) -> u64 {
        below(self.apostrophes & u64::MAX << self.len.saturating_sub(3))
    }

    /// The digits that start a word if words have at most `max` digits.
    #[inline(always)]
    pub(super) fn digit_starts(&self, max: usize) -> u64 {
        let digits = self.digits;
        if max == 1 {
            return digits;
        }
        debug_assert_eq!(max, 3);
        let mut starts = run_starts(digits);
        let mut next = starts;
        while next != 0 {
            next = next << 3 & digits & digits << 1 & digits << 2;
            starts |= next;
        }
        starts
    }

    /// The white space at which words start by `\s*[\r\n]+|\s+(?!\S)|\s+`. Line breaks in `taken`
    /// belong to the word before them, and characters in `ends` count as the end of the text. The
    /// words are: everything up to the last line break, then all but the last character, then the
    /// last character.
    #[inline(always)]
    pub(super) fn space_starts(&self, taken: u64, ends: u64) -> u64 {
        let spaces = self.spaces & !taken;
        let breaks = self.line_breaks & !taken;
        let inner = spaces & !breaks;
        let last = inner & !(self.spaces | ends) >> 1;
        let mut starts = run_starts(spaces) | last;
        let mut behind_break = inner & breaks << 1;
        while behind_break != 0 {
            let start = behind_break.trailing_zeros();
            let next = start + (!(inner >> start)).trailing_zeros();
            if next < 64 && breaks >> next & 1 == 0 {
                starts |= 1 << start;
            }
            behind_break &= behind_break - 1;
        }
        starts
    }

    /// The two bytes after character `at`, which must be ASCII; zero after the end of the text.
    #[inline(always)]
    pub(super) fn behind(&self, at: u32) -> (u8, u8) {
        let byte = match self.starts {
            None => at,
            Some(starts) => self.simd.pdep(1 << at, starts).trailing_zeros(),
        };
        let byte = byte as usize % BLOCK;
        (self.block[byte + 1], self.block[byte + 2])
    }
}

/// The mask of the `limit` lowest bits; `limit` is at least one.
#[inline(always)]
pub(super) fn up_to(limit: u32) -> u64 {
    u64::MAX >> (BLOCK as u32 - limit)
}

/// The starts of runs of `class`: the characters in the class whose predecessor is not.
#[inline(always)]
pub(super) fn run_starts(class: u64) -> u64 {
    class & !(class << 1)
}

/// The parts of runs of `class` from the bits in `from` on. A run has at most one such bit.
#[inline(always)]
pub(super) fn run_rests(class: u64, from: u64) -> u64 {
    (class ^ class.wrapping_add(from)) & class
}

/// The bits directly after those runs of `class` that start at `from`.
#[inline(always)]
pub(super) fn behind_runs(class: u64, from: u64) -> u64 {
    class.wrapping_add(from) & !class
}

/// Removes the word starts inside contractions and adds those after them. `len` returns the number
/// of characters of the contraction at an apostrophe, zero for none.
#[inline(always)]
pub(super) fn with_contractions(mut starts: u64, mut apostrophes: u64, len: impl Fn(u32) -> u32) -> u64 {
    while apostrophes != 0 {
        let at = apostrophes.trailing_zeros();
        let len = len(at);
        if len > 0 {
            let within = ((1 << (len - 1)) - 1) << (at + 1);
            starts = starts & !within | 1 << (at + len);
        }
        apostrophes &= apostrophes - 1;
    }
    starts
}

/// Appends the ends of words from `at` on, until the text ends or `ends` has no room for those of
/// another block.
// WebAssembly is compiled a function at a time while it runs, so each family is one.
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub(super) fn fill(family: impl Family, scan: &Scan<'_>, simd: Simd, mut at: usize, ends: &mut Vec<u32>) -> usize {
    let bytes = scan.bytes();
    while at < bytes.len() && ends.len() + BLOCK <= ends.capacity() {
        let rest = &bytes[at..];
        let mut padded: PaddedBlock = [0; BLOCK + 3];
        let (block, valid) = match rest.first_chunk() {
            Some(block) => (block, u64::MAX),
            None => {
                padded[..rest.len()].copy_from_slice(rest);
                (&padded, up_to(rest.len().min(BLOCK) as u32))
            }
        };
        let masks = ClassMasks::new(simd, scan.classes(), block, valid, family.letters());
        let mut found = family.starts(&masks) & !1;
        if found != 0 {
            if let Some(starts) = masks.starts {
                found = simd.pdep(found, starts);
            }
            simd.push_positions(found, at as u32, ends);
            at += 63 - found.leading_zeros() as usize;
            // After the last word start of the last block there is usually one word, so it is
            // matched character by character instead of by another block.
            if rest.len() > BLOCK {
                continue;
            }
        }
        at = family.word(scan, at);
        ends.push(at as u32);
    }
    at
}
