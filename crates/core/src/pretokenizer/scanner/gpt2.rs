//! The pattern of gpt2:
//!
//! ```text
//! 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//! ```

use super::class_masks::{ClassMasks, Family, run_starts, with_contractions};
use super::word::Scan;
use crate::pretokenizer::unicode::{LETTER, NUMBER, NUMERIC, SPACE};

/// gpt2, r50k, p50k, and the expression of ByteLevel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gpt2 {
    /// Whether the stage Digits precedes: each digit is a word, and the pattern is applied to the
    /// text between digits.
    pub(super) digits_apart: bool,
}

impl Family for Gpt2 {
    fn letters(self) -> u8 {
        LETTER
    }

    #[inline(always)]
    fn starts(self, masks: &ClassMasks<'_>) -> u64 {
        let ClassMasks { letters, others, blanks, apostrophes, .. } = *masks;
        let apart = if self.digits_apart { masks.numerics } else { 0 };
        let digits = masks.digits & !apart;
        let others = others & !apart;
        let after_blank = blanks << 1;
        let words = (run_starts(letters) | run_starts(digits) | run_starts(others)) & !after_blank | apart;
        // The last white space before another character is a word of its own, or the first
        // character of the next word.
        let last_spaces = masks.spaces & !(masks.spaces | apart) >> 1;
        let starts = words | run_starts(masks.spaces) | last_spaces;
        let sure = masks.sure() & masks.sure_of_contractions();
        let contractions = apostrophes & run_starts(others) & !after_blank & sure;
        with_contractions(starts, contractions, |at| contraction_len(masks.behind(at)) as u32) & sure
    }

    fn word(self, scan: &Scan<'_>, at: usize) -> usize {
        let first = scan.byte(at);
        if first == b'\'' {
            let len = contraction_len((scan.byte(at + 1), scan.byte(at + 2)));
            if len > 0 {
                return at + len;
            }
        }
        let apart = if self.digits_apart { NUMERIC } else { 0 };
        let (bits, len) = scan.see(at);
        if bits & apart != 0 {
            return at + len;
        }
        let start = at + usize::from(first == b' ');
        let (bits, len) = scan.see(start);
        if bits & (SPACE | apart) == 0 && len > 0 {
            return match bits & (LETTER | NUMBER) {
                0 => scan.run_without(start + len, LETTER | NUMBER | SPACE | apart),
                LETTER => scan.run(start + len, LETTER),
                _ => scan.run_of(start + len, |bits| bits & NUMBER != 0 && bits & apart == 0),
            };
        }
        let (last, end) = scan.run_of_spaces(at);
        if scan.see(end).0 & apart != 0 { end } else { scan.spaces(at, last, end) }
    }
}

/// The length in bytes of a contraction with these bytes after its apostrophe; zero if there is
/// none.
#[inline(always)]
fn contraction_len(behind: (u8, u8)) -> usize {
    match behind {
        (b's' | b't' | b'm' | b'd', _) => 2,
        (b'r' | b'v', b'e') | (b'l', b'l') => 3,
        _ => 0,
    }
}
