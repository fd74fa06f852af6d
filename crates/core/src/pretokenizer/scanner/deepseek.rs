//! The pre-tokenizer of DeepSeek V3: three patterns, each of which splits the matches and the
//! remaining text of the previous ones.
//!
//! The patterns are `\p{N}{1,3}`, then `[一-龥぀-ゟ゠-ヿ]+`, then, with `P` for ASCII punctuation,
//!
//! ```text
//! P[A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+
//! | ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//! ```
//!
//! For the third pattern, numbers and runs of Han and kana are therefore boundaries of the text. It
//! does not match other characters (controls and unassigned code points): a run of them is a word,
//! but the last one of a run leads the letters that follow.

use super::class_masks::{ClassMasks, Family, behind_runs, run_rests};
use super::word::Scan;
use crate::pretokenizer::unicode::{HAN_KANA, LOWER, NUMBER, SIGN, SPACE, UPPER};

/// `\p{L}` and `\p{M}`.
const LETTERS: u8 = UPPER | LOWER;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeepSeek;

impl DeepSeek {
    pub(super) const PATTERNS: [&str; 3] = [
        r"\p{N}{1,3}",
        "[一-龥\u{3040}-ゟ゠-ヿ]+",
        r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"##,
    ];
}

impl Family for DeepSeek {
    fn letters(self) -> u8 {
        LETTERS
    }

    #[inline(always)]
    fn starts(self, masks: &ClassMasks<'_>) -> u64 {
        let ClassMasks { letters, digits, spaces, others, blanks, line_breaks, signs, han_kana, .. } = *masks;
        let unmatched = others & !signs;
        // Characters whose predecessor belongs to the same text, as the third pattern sees it.
        let inside = !(han_kana ^ han_kana << 1);
        let behind = |class: u64| class << 1 & inside;
        let run_starts = |class: u64| class & !behind(class);

        let sign_starts = run_starts(signs) & !behind(blanks);
        let taken = run_rests(line_breaks, line_breaks & behind(signs));
        let unmatched_starts = run_starts(unmatched) | unmatched & (letters & inside) >> 1;

        let ascii_led = behind(sign_starts & masks.ascii_signs) & masks.ascii_letters;
        let leads = spaces & !line_breaks | unmatched;
        let letter_starts = run_starts(letters) & !behind(leads) & !ascii_led;
        // Such a word contains only ASCII letters; other letters start the next word.
        let behind_ascii = letters & behind_runs(masks.ascii_letters, ascii_led);

        let spaces = masks.space_starts(taken, digits | han_kana);
        let words = sign_starts | unmatched_starts | letter_starts | behind_ascii | masks.digit_starts(3) | spaces;
        (words | !inside) & masks.sure()
    }

    fn word(self, scan: &Scan<'_>, at: usize) -> usize {
        let (bits, len) = scan.see(at);
        if bits & NUMBER != 0 {
            return scan.digits(at, 3);
        }
        let kind = bits & HAN_KANA;
        // The class bits of a character, or zero if it does not belong to the same text, as the
        // third pattern sees it.
        let seen = |at| {
            let (bits, len) = scan.see(at);
            if bits & NUMBER == 0 && bits & HAN_KANA == kind { (bits, len) } else { (0, 0) }
        };
        let run = |at, class| scan.run_of(at, |bits| bits & class != 0 && bits & HAN_KANA == kind);
        let first = scan.byte(at);
        if first.is_ascii_punctuation() && scan.byte(at + 1).is_ascii_alphabetic() {
            return at + 1 + scan.bytes()[at + 1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        }
        if bits & LETTERS != 0 {
            return run(at, LETTERS);
        }
        let (next, next_len) = seen(at + len);
        if first != b'\r' && first != b'\n' && bits & SIGN == 0 && next & LETTERS != 0 {
            return run(at + len + next_len, LETTERS);
        }
        if bits & SIGN != 0 || first == b' ' && next & SIGN != 0 {
            let end = run(at + len, SIGN);
            return if kind == 0 { scan.run_of_bytes(end, b"\r\n") } else { end };
        }
        if bits & SPACE == 0 {
            let mut end = at + len;
            loop {
                let (bits, len) = seen(end);
                let leads = seen(end + len).0 & LETTERS != 0;
                if len == 0 || bits & (LETTERS | SIGN | SPACE) != 0 || leads {
                    return end;
                }
                end += len;
            }
        }
        let (last, end) = scan.run_of_spaces(at);
        let is_end = scan.see(end).0 & (NUMBER | HAN_KANA) != 0;
        scan.line_break(at, end).unwrap_or_else(|| if is_end { end } else { scan.spaces(at, last, end) })
    }
}
