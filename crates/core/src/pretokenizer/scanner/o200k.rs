//! The patterns of o200k and tekken, with `U` for `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, `l` for
//! `[\p{Ll}\p{Lm}\p{Lo}\p{M}]` and `c` for `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`:
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?U*l+c|[^\r\n\p{L}\p{N}]?U+l*c|\p{N}{1,3}
//! | ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//! ```
//!
//! A word consists of capitals followed by small letters. Caseless letters and combining marks
//! count as both. If capitals follow a caseless run and no small letter follows them (`漢字ABC`),
//! the capitals are a word of their own.

use super::class_masks::{ClassMasks, Family, behind_runs, run_rests, run_starts};
use super::word::{Scan, contraction};
use crate::pretokenizer::unicode::{LETTER, LOWER, NUMBER, UPPER};
use crate::simd::bits::below;

/// o200k, gpt-oss, llama4; tekken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct O200k {
    /// Maximum number of digits of a word: 1 or 3.
    pub(super) digits: usize,
    /// Whether a contraction belongs to the word before it.
    pub(super) contractions: bool,
}

impl Family for O200k {
    #[inline(always)]
    fn letters(self) -> u8 {
        UPPER | LOWER
    }

    #[inline(always)]
    fn starts(self, masks: &ClassMasks<'_>) -> u64 {
        let ClassMasks { mut uppers, mut lowers, mut others, spaces, blanks, line_breaks, slashes, .. } = *masks;
        let mut sure = masks.sure();
        // A combining mark directly after an other character belongs to the run of others, or to
        // the word that the other character leads. Which one depends on the start of the run. Emoji
        // have such marks. Word starts are certain up to the first of them.
        let unclear = masks.combining_marks & others << 1;
        sure &= below(unclear);

        // A contraction belongs to the word before it, and a new word starts after it, so its
        // characters do not count as letters.
        if self.contractions {
            sure &= masks.sure_of_contractions();
            let mut words = uppers | lowers;
            let mut at_apostrophe = masks.apostrophes & words << 1 & sure;
            let mut within = 0;
            while at_apostrophe != 0 {
                let at = at_apostrophe.trailing_zeros();
                let len = if words >> (at - 1) & 1 == 1 { contraction(masks.behind(at)).0 } else { 0 };
                let these = ((1 << len) - 1) << at;
                within |= these;
                words &= !these;
                at_apostrophe &= at_apostrophe - 1;
            }
            uppers &= !within;
            lowers &= !within;
            others &= !within;
        }

        // Line breaks and slashes after a run of others belong to that run, from the first line
        // break on.
        let tails = line_breaks | slashes;
        let mut first_breaks = line_breaks & others << 1;
        let mut taken = 0;
        if slashes & line_breaks << 1 == 0 {
            taken = run_rests(tails, first_breaks);
        } else {
            // A slash that belongs to a run cannot start another run of others with line breaks of
            // its own.
            while first_breaks != 0 {
                taken |= run_rests(tails, first_breaks & first_breaks.wrapping_neg());
                others &= !taken;
                first_breaks = line_breaks & others << 1 & !taken;
            }
        }
        others &= !taken;

        let words = uppers | lowers;
        let (only_upper, only_lower, both) = (uppers & !lowers, lowers & !uppers, uppers & lowers);
        let other_starts = run_starts(others) & !(blanks << 1);
        let leads = spaces & !line_breaks | other_starts;
        let mut starts = run_starts(words) & !(leads << 1);
        // A capital after a small letter starts a word, even with caseless letters between them.
        let behind_small = only_lower << 1 | behind_runs(both, run_starts(both) & only_lower << 1);
        starts |= only_upper & behind_small;
        let mut behind_caseless = run_starts(only_upper) & both << 1 & !starts;
        while behind_caseless != 0 {
            let at = behind_caseless.trailing_zeros();
            let end = at + (!(only_upper >> at)).trailing_zeros();
            if end >= masks.len {
                sure &= below(1 << at);
            } else if words >> end & 1 == 0 {
                starts |= 1 << at;
            }
            behind_caseless &= behind_caseless - 1;
        }
        (starts | masks.digit_starts(self.digits) | other_starts | masks.space_starts(taken, 0)) & sure
    }

    fn word(self, scan: &Scan<'_>, at: usize) -> usize {
        let first = scan.byte(at);
        let (bits, len) = scan.see(at);
        let may_lead = bits & (LETTER | NUMBER) == 0 && first != b'\r' && first != b'\n';
        let led = at + len;
        let word = None
            .or_else(|| if may_lead { capitals_then_smalls(scan, led) } else { None })
            .or_else(|| capitals_then_smalls(scan, at))
            .or_else(|| if may_lead { capitals(scan, led) } else { None })
            .or_else(|| capitals(scan, at));
        if let Some(end) = word {
            let may_contract = self.contractions && scan.byte(end) == b'\'';
            let len = if may_contract { contraction((scan.byte(end + 1), scan.byte(end + 2))).1 } else { 0 };
            return end + len;
        }
        if bits & NUMBER != 0 {
            return scan.digits(at, self.digits);
        }
        if let Some(end) = scan.others_after_space(at, LETTER) {
            return scan.run_of_bytes(end, b"\r\n/");
        }
        let (last, end) = scan.run_of_spaces(at);
        scan.line_break(at, end).unwrap_or_else(|| scan.spaces(at, last, end))
    }
}

/// `U*l+`
fn capitals_then_smalls(scan: &Scan<'_>, at: usize) -> Option<usize> {
    let (mut end, mut last_small) = (at, None);
    loop {
        let (bits, len) = scan.see(end);
        if bits & UPPER == 0 {
            let smalls = scan.run(end, LOWER);
            // No small letter follows, so the greedy first part backtracks to the last character
            // that the second part matches too.
            return if smalls > end { Some(smalls) } else { last_small };
        }
        end += len;
        if bits & LOWER != 0 {
            last_small = Some(end);
        }
    }
}

/// `U+l*`
fn capitals(scan: &Scan<'_>, at: usize) -> Option<usize> {
    let end = scan.run(at, UPPER);
    (end > at).then(|| scan.run(end, LOWER))
}
