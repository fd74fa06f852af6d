//! 64 bytes at a time: every character's class as a bit, so that a pattern is shifts and boolean algebra on masks.
//!
//! A window starts where a word starts and is judged without regard to what stands before it: a regular expression that
//! goes on behind its last match does the same. What depends on characters behind the window is not judged: white space
//! that reaches its end, and what an apostrophe near the end may begin (see [`Window::sure`]). The next window starts at
//! the last word start that was found, so nothing is carried over from one to the next. Where a window shows no word
//! start at all, as in a long word, the caller takes one word character by character.
//!
//! Bit `i` of a mask speaks of character `i` of the window. Where all are ASCII that is byte `i`; else the masks of bytes
//! are squeezed to one bit a character, and the word starts are stretched again. So a family's algebra never sees that
//! characters have different lengths.

use super::word::Scan;
use crate::pretokenizer::unicode::{Classes, HAN_KANA, LETTER, LOWER, NUMBER, NUMERIC, SIGN, SPACE, UPPER, decode};
use crate::simd::{BLOCK, Simd};

/// Four bytes can be read at every place of a block.
type Padded = [u8; BLOCK + 3];

/// A pattern, as masks and character by character.
pub(super) trait Family: Copy {
    /// The class bits of what counts as a letter.
    fn letters(self) -> u8;

    /// The characters of a window at which words start, as far as that is certain. Bit 0 does not matter.
    fn starts(self, window: &Window<'_>) -> u64;

    /// Where the word that starts at a byte ends.
    fn word(self, scan: &Scan<'_>, at: usize) -> usize;
}

/// The classes of the characters of a window. `letters`, `digits`, `spaces` and `others` are a partition of them.
#[derive(Debug)]
pub(super) struct Window<'a> {
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
    pub(super) marks: u64,
    pub(super) ascii_letters: u64,
    pub(super) ascii_signs: u64,
    pub(super) signs: u64,
    pub(super) han_kana: u64,
    pub(super) numerics: u64,
    /// How many characters there are.
    pub(super) len: u32,
    /// The bytes at which characters start, where that is not every byte.
    starts: Option<u64>,
    block: &'a Padded,
    simd: Simd,
}

impl<'a> Window<'a> {
    /// A window of the bytes of `block` that `valid` names: all, or so many from the first on.
    #[inline(always)]
    fn new(simd: Simd, classes: &Classes, block: &'a Padded, valid: u64, letters: u8) -> Self {
        let bytes: &[u8; BLOCK] = block.first_chunk().expect("a block and more");
        let masks = simd.masks(bytes);
        let ascii_signs = masks.visible & !masks.letters & !masks.digits;
        let mut window = Self {
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
            marks: 0,
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
            window.add_wide(classes, leads, letters);
            window.each(|mask| simd.pext(mask, starts));
            window.starts = Some(starts);
            all = u64::MAX >> (BLOCK as u32 - starts.count_ones());
        }
        window.len = all.count_ones();
        window.others = all & !(window.letters | window.digits | window.spaces);
        window
    }

    /// Puts in the characters of more than a byte, which start at `leads`.
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
        self.marks = any(UPPER) & !any(LETTER);
        self.signs |= any(SIGN);
        self.han_kana |= any(HAN_KANA);
        self.numerics |= any(NUMERIC);
    }

    /// The character of more than a byte that `bytes` begin with.
    #[inline(always)]
    fn code_point(&self, bytes: [u8; 4]) -> u32 {
        if !self.simd.has_fast_pext() {
            return decode(bytes).0;
        }
        /// The bits that count, by the length of the character.
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
        self.marks = change(self.marks);
        self.ascii_letters = change(self.ascii_letters);
        self.ascii_signs = change(self.ascii_signs);
        self.signs = change(self.signs);
        self.han_kana = change(self.han_kana);
        self.numerics = change(self.numerics);
    }

    /// The characters whose word starts are certain: those that nothing behind the window can change.
    #[inline(always)]
    pub(super) fn sure(&self) -> u64 {
        // White space at the end may go on; of it only where it starts is known.
        let trailing = (self.spaces << (BLOCK as u32 - self.len)).leading_ones();
        let limit = if trailing > 0 { self.len.saturating_sub(trailing) + 1 } else { self.len };
        up_to(limit)
    }

    /// The characters before the first apostrophe that is too near the end to tell whether a contraction begins there, which
    /// is three long. No apostrophe among them is.
    #[inline(always)]
    pub(super) fn sure_of_contractions(&self) -> u64 {
        below(self.apostrophes & u64::MAX << self.len.saturating_sub(3))
    }

    /// Where digits start a word when `most` make one.
    #[inline(always)]
    pub(super) fn digit_starts(&self, most: usize) -> u64 {
        let digits = self.digits;
        if most == 1 {
            return digits;
        }
        debug_assert_eq!(most, 3);
        let mut starts = run_starts(digits);
        let mut next = starts;
        while next != 0 {
            next = next << 3 & digits & digits << 1 & digits << 2;
            starts |= next;
        }
        starts
    }

    /// Where white space starts a word by `\s*[\r\n]+|\s+(?!\S)|\s+`, once the line breaks in `taken` belong to what stands
    /// before them and what is in `ends` counts as the end of the text. Up to the last line break is one word, then all but
    /// the last character, then that one.
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

    /// The two bytes behind character `at`, which is ASCII; zero at the end of the text.
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

/// Bits below `limit`, which is at least one.
#[inline(always)]
pub(super) fn up_to(limit: u32) -> u64 {
    u64::MAX >> (BLOCK as u32 - limit)
}

/// The bits below the lowest bit of a mask; all when that has none.
#[inline(always)]
pub(super) fn below(mask: u64) -> u64 {
    mask.wrapping_sub(1) & !mask
}

/// Where a run of one class starts: at bit 0, and wherever the class is not that of the character before.
#[inline(always)]
pub(super) fn run_starts(class: u64) -> u64 {
    class & !(class << 1)
}

/// The rests of runs of `class` from the places in `from` on, of which a run has at most one.
#[inline(always)]
pub(super) fn run_rests(class: u64, from: u64) -> u64 {
    (class ^ class.wrapping_add(from)) & class
}

/// What comes behind those runs of `class` that start at `from`.
#[inline(always)]
pub(super) fn behind_runs(class: u64, from: u64) -> u64 {
    class.wrapping_add(from) & !class
}

/// Takes the inner characters of contractions out of the word starts, and puts in what follows them. `len` tells how many
/// characters the one at an apostrophe has, zero for none.
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

/// Appends the ends of words from `at` on until the text is over or `ends` could not take another window's.
#[inline(always)]
pub(super) fn fill(family: impl Family, scan: &Scan<'_>, simd: Simd, mut at: usize, ends: &mut Vec<u32>) -> usize {
    let bytes = scan.bytes();
    while at < bytes.len() && ends.len() + BLOCK <= ends.capacity() {
        let rest = &bytes[at..];
        let mut padded = [0; BLOCK + 3];
        let (block, valid) = match rest.first_chunk() {
            Some(block) => (block, u64::MAX),
            None => {
                padded[..rest.len()].copy_from_slice(rest);
                (&padded, up_to(rest.len().min(BLOCK) as u32))
            }
        };
        let window = Window::new(simd, scan.classes(), block, valid, family.letters());
        let mut found = family.starts(&window) & !1;
        if found != 0 {
            if let Some(starts) = window.starts {
                found = simd.pdep(found, starts);
            }
            simd.push_positions(found, at as u32, ends);
            at += 63 - found.leading_zeros() as usize;
            // Behind the last start of the last window there is mostly one word, so no other window is asked.
            if rest.len() > BLOCK {
                continue;
            }
        }
        at = family.word(scan, at);
        ends.push(at as u32);
    }
    at
}
