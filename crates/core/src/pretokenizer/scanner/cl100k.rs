//! The pattern of cl100k and its variants, here on two lines:
//!
//! ```text
//! (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}
//! | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//! ```

use super::class_masks::{ClassMasks, Family, run_rests, run_starts, with_contractions};
use super::word::{Scan, contraction};
use crate::pretokenizer::unicode::{LETTER, LOWER, NUMBER, UPPER};

/// cl100k, llama3, qwen2, qwen3.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cl100k {
    /// Maximum number of digits of a word: 1 or 3.
    pub(super) digits: usize,
    /// Whether white space at the end of the text is one word even if it contains line breaks.
    pub(super) end_first: bool,
    /// Whether combining marks count as letters. (A mark before letters is then the first character
    /// of the word, either as a letter or as the optional leading character; the word is the same.)
    pub(super) combining_marks: bool,
}

impl Family for Cl100k {
    #[inline(always)]
    fn letters(self) -> u8 {
        if self.combining_marks { UPPER | LOWER } else { LETTER }
    }

    #[inline(always)]
    fn starts(self, masks: &ClassMasks<'_>) -> u64 {
        let ClassMasks { letters, spaces, others, blanks, line_breaks, apostrophes, .. } = *masks;
        let other_starts = run_starts(others) & !(blanks << 1);
        // Line breaks directly after a run of others belong to that run.
        let taken = run_rests(line_breaks, line_breaks & others << 1);
        // A run of letters includes one leading character: white space that is not a line break, or
        // a single other character that belongs to no other word.
        let leads = spaces & !line_breaks | other_starts;
        let letter_starts = run_starts(letters) & !(leads << 1);
        let starts = letter_starts | masks.digit_starts(self.digits) | other_starts | masks.space_starts(taken, 0);
        let sure = masks.sure() & masks.sure_of_contractions();
        let contractions = apostrophes & other_starts & sure;
        with_contractions(starts, contractions, |at| contraction(masks.behind(at)).0) & sure
    }

    fn word(self, scan: &Scan<'_>, at: usize) -> usize {
        let first = scan.byte(at);
        if first == b'\'' {
            let (_, len) = contraction((scan.byte(at + 1), scan.byte(at + 2)));
            if len > 0 {
                return at + len;
            }
        }
        let letters = self.letters();
        let (bits, len) = scan.see(at);
        if bits & letters != 0 {
            return scan.run(at + len, letters);
        }
        if bits & NUMBER != 0 {
            return scan.digits(at, self.digits);
        }
        if first != b'\r' && first != b'\n' {
            let (next, next_len) = scan.see(at + len);
            if next & letters != 0 {
                return scan.run(at + len + next_len, letters);
            }
        }
        if let Some(end) = scan.others_after_space(at, letters) {
            return scan.run_of_bytes(end, b"\r\n");
        }
        let (last, end) = scan.run_of_spaces(at);
        if self.end_first && end == scan.bytes().len() {
            return end;
        }
        scan.line_break(at, end).unwrap_or_else(|| scan.spaces(at, last, end))
    }
}
