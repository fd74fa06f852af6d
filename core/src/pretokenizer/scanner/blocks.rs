//! The patterns on 64 bytes at a time: every byte's class as a bit, the pattern as shifts and boolean algebra on them.
//!
//! A window starts where a word starts and is judged without regard to what stands before it: a regular expression that
//! goes on behind its last match does the same. What depends on bytes behind the window is not judged: white space that
//! reaches its end, and what stands in the last three bytes (see [`Window::sure`]). The next window starts at the last
//! word start that was found, so nothing is carried over from one to the next. Where a window shows no word start at
//! all (a long word, or a rare character that is left out here), the caller takes one word character by character.
//!
//! Characters of more than a byte have the bit of their class in each of their bytes, so that classes change only
//! between characters.

use super::Cl100k;
use super::word::Scan;
use crate::pretokenizer::unicode::{CLASSES, LETTER, NUMBER, SPACE};
use crate::simd::{BLOCK, Classifier};

/// The classes of the bytes of a window. The four first are a partition of its valid bytes.
#[derive(Debug)]
pub(super) struct Window {
    letters: u64,
    digits: u64,
    spaces: u64,
    others: u64,
    blanks: u64,
    line_breaks: u64,
    apostrophes: u64,
    /// Bytes that go on with a character.
    continuations: u64,
    /// How many bytes from the start on are judged.
    valid: u32,
}

impl Window {
    #[inline(always)]
    fn new(classifier: Classifier, block: &[u8; BLOCK]) -> Self {
        let masks = classifier.masks(block);
        let mut window = Self {
            letters: masks.letters,
            digits: masks.digits,
            spaces: masks.spaces,
            others: 0,
            blanks: masks.blanks,
            line_breaks: masks.line_breaks,
            apostrophes: masks.apostrophes,
            continuations: 0,
            valid: BLOCK as u32,
        };
        if masks.high != 0 {
            window.add_wide(block, masks.high);
        }
        window.others = !(window.letters | window.digits | window.spaces);
        window
    }

    /// Puts in the characters of more than a byte. The window ends before one that does not fit, and before spaces and
    /// digits among them: these are rare, and what is said of the last space or of three digits speaks of characters.
    fn add_wide(&mut self, block: &[u8; BLOCK], mut high: u64) {
        while high != 0 {
            let at = high.trailing_zeros() as usize;
            let lead = block[at];
            let len = match lead {
                ..0xE0 => 2,
                0xE0..0xF0 => 3,
                _ => 4,
            };
            let Some(rest) = block.get(at + 1..at + len) else {
                self.valid = at as u32;
                return;
            };
            let top = u32::from(lead) & (0x7F >> len);
            let code = rest.iter().fold(top, |code, &byte| code << 6 | u32::from(byte & 0x3F));
            let class = CLASSES.of_code(code);
            if class & (SPACE | NUMBER) != 0 {
                self.valid = at as u32;
                return;
            }
            let bits = ((1 << len) - 1) << at;
            self.continuations |= bits & (bits << 1);
            if class & LETTER != 0 {
                self.letters |= bits;
            }
            high &= !bits;
        }
    }

    /// The places whose word starts are certain: those that no byte behind the window can change.
    #[inline(always)]
    fn sure(&self) -> u64 {
        // A contraction looks two bytes ahead and is three long.
        let mut limit = self.valid.saturating_sub(3);
        // White space at the end may go on; of it only where it starts is known.
        let trailing = (self.spaces << (BLOCK as u32 - self.valid).min(63)).leading_ones();
        if trailing > 0 {
            limit = limit.min(self.valid.saturating_sub(trailing) + 1);
        }
        (1u64 << limit) - 1
    }
}

/// Appends the ends of words from `at` on until the text is over or `ends` could not take another window's. `starts` tells
/// the word starts of a window, `word` where one word ends.
#[inline(always)]
pub(super) fn fill(
    scan: &Scan<'_>,
    classifier: Classifier,
    mut at: usize,
    ends: &mut Vec<u32>,
    starts: impl Fn(&Window, &[u8; BLOCK]) -> u64,
    word: impl Fn(usize) -> usize,
) -> usize {
    let bytes = scan.bytes();
    while at < bytes.len() && ends.len() + BLOCK <= ends.capacity() {
        if let Some(block) = bytes[at..].first_chunk() {
            let window = Window::new(classifier, block);
            let mut found = starts(&window, block) & window.sure() & !1;
            if found != 0 {
                let base = at as u32;
                while found != 0 {
                    at = (base + found.trailing_zeros()) as usize;
                    ends.push(at as u32);
                    found &= found - 1;
                }
                continue;
            }
        }
        at = word(at);
        ends.push(at as u32);
    }
    at
}

/// Where a run of one class starts: at bit 0, and wherever the class is not that of the byte before.
#[inline(always)]
fn run_starts(class: u64) -> u64 {
    class & !(class << 1)
}

/// Word starts of gpt2's pattern.
#[inline(always)]
pub(super) fn gpt2(window: &Window, block: &[u8; BLOCK]) -> u64 {
    let Window { letters, digits, spaces, others, blanks, .. } = *window;
    let after_blank = blanks << 1;
    let words = (run_starts(letters) | run_starts(digits) | run_starts(others)) & !after_blank;
    // The last white space before anything else is a word of its own, or the first character of the next one.
    let last_spaces = spaces & (!spaces >> 1);
    let starts = words | run_starts(spaces) | last_spaces;
    let contractions = window.apostrophes & run_starts(others) & !after_blank & window.sure();
    with_contractions(starts, contractions, |at| match (block[at + 1], block[at + 2]) {
        (b's' | b't' | b'm' | b'd', _) => 2,
        (b'r' | b'v', b'e') | (b'l', b'l') => 3,
        _ => 0,
    })
}

/// Word starts of cl100k's pattern and its relatives.
#[inline(always)]
pub(super) fn cl100k(window: &Window, block: &[u8; BLOCK], variant: Cl100k) -> u64 {
    let Window { letters, digits, spaces, others, blanks, line_breaks, continuations, .. } = *window;
    let after_blank = blanks << 1;
    let other_starts = run_starts(others) & !after_blank;

    // Line breaks right behind a run of others belong to it.
    let first_taken = line_breaks & (others << 1);
    let taken = (line_breaks ^ line_breaks.wrapping_add(first_taken)) & line_breaks;
    let spaces_left = spaces & !taken;
    let breaks_left = line_breaks & !taken;

    // A letter run takes the one character before it: white space that breaks no line, or a single other that nothing
    // else has taken. That other may have up to four bytes.
    let by_space = (spaces & !line_breaks) << 1;
    let lead = other_starts;
    let (c1, c2, c3) = (continuations << 1, continuations << 2, continuations << 3);
    let by_other = lead << 1 | (lead << 2 & c1) | (lead << 3 & c1 & c2) | (lead << 4 & c1 & c2 & c3);
    let letter_starts = run_starts(letters) & !by_space & !by_other;

    let digit_starts = if variant.digits == 1 {
        digits
    } else {
        let mut starts = run_starts(digits);
        let mut next = starts;
        while next != 0 {
            next = next << 3 & digits & digits << 1 & digits << 2;
            starts |= next;
        }
        starts
    };

    // White space: up to the last line break in it is one word, then all but the last character, then that one.
    let last_spaces = spaces_left & (!spaces >> 1) & !breaks_left;
    let mut space_starts = run_starts(spaces_left) | last_spaces;
    let inner = spaces_left & !breaks_left;
    let mut behind_break = inner & breaks_left << 1;
    while behind_break != 0 {
        let start = behind_break.trailing_zeros();
        let next = start + (!(inner >> start)).trailing_zeros();
        if next < 64 && breaks_left >> next & 1 == 0 {
            space_starts |= 1 << start;
        }
        behind_break &= behind_break - 1;
    }

    let starts = letter_starts | digit_starts | other_starts | space_starts;
    let contractions = window.apostrophes & other_starts & window.sure();
    with_contractions(starts, contractions, |at| match (block[at + 1] | 0x20, block[at + 2] | 0x20) {
        (b's' | b't' | b'm' | b'd', _) => 2,
        (b'r' | b'v', b'e') | (b'l', b'l') => 3,
        // The long s is an s when case is not regarded. Its bytes, too, have no bit 0x20 that matters.
        _ if block[at + 1..at + 3] == *"ſ".as_bytes() => 3,
        _ => 0,
    })
}

/// Makes words of the contractions: `len` tells how long the one at an apostrophe is, zero for none.
#[inline(always)]
fn with_contractions(mut starts: u64, mut at_apostrophe: u64, len: impl Fn(usize) -> usize) -> u64 {
    while at_apostrophe != 0 {
        let at = at_apostrophe.trailing_zeros() as usize;
        let len = len(at);
        if len > 0 {
            let within = ((1 << (len - 1)) - 1) << (at + 1);
            starts = starts & !within | 1 << (at + len);
        }
        at_apostrophe &= at_apostrophe - 1;
    }
    starts
}
