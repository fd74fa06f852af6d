//! o200k's pattern and tekken's, with `U` for `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, `l` for `[\p{Ll}\p{Lm}\p{Lo}\p{M}]` and `c` for
//! `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`:
//! `[^\r\n\p{L}\p{N}]?U*l+c|[^\r\n\p{L}\p{N}]?U+l*c|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
//!
//! A word is capitals, then small letters; what has no case is both, and so are marks. Where capitals follow it and no
//! small letter follows them (`漢字ABC`), the capitals are the next word.

use super::window::{Family, Window, behind_runs, below, run_rests, run_starts};
use super::word::{Scan, contraction};
use crate::pretokenizer::unicode::{LETTER, LOWER, NUMBER, UPPER};

/// o200k, gpt-oss, llama4; tekken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct O200k {
    /// How many digits make a word, at most: 1 or 3.
    pub(super) digits: usize,
    /// Whether a word takes the contraction behind it.
    pub(super) contractions: bool,
}

impl Family for O200k {
    #[inline(always)]
    fn letters(self) -> u8 {
        UPPER | LOWER
    }

    #[inline(always)]
    fn starts(self, window: &Window<'_>) -> u64 {
        let Window { mut uppers, mut lowers, mut others, spaces, blanks, line_breaks, slashes, .. } = *window;
        let mut sure = window.sure();
        // A mark right behind an other belongs to its run of others, or to the word that the other leads; which one, the
        // start of the run decides. Emoji have such marks; the window ends before the first.
        let unclear = window.marks & others << 1;
        sure &= below(unclear);

        // Contractions belong to the word before, and what follows them starts anew: they are no letters any more.
        if self.contractions {
            sure &= window.sure_of_contractions();
            let mut words = uppers | lowers;
            let mut at_apostrophe = window.apostrophes & words << 1 & sure;
            let mut within = 0;
            while at_apostrophe != 0 {
                let at = at_apostrophe.trailing_zeros();
                let len = if words >> (at - 1) & 1 == 1 { contraction(window.behind(at)).0 } else { 0 };
                let these = ((1 << len) - 1) << at;
                within |= these;
                words &= !these;
                at_apostrophe &= at_apostrophe - 1;
            }
            uppers &= !within;
            lowers &= !within;
            others &= !within;
        }

        // Line breaks and slashes behind a run of others belong to it, from the first line break on.
        let tails = line_breaks | slashes;
        let mut first_breaks = line_breaks & others << 1;
        let mut taken = 0;
        if slashes & line_breaks << 1 == 0 {
            taken = run_rests(tails, first_breaks);
        } else {
            // A slash that is taken begins no run of others that could take more.
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
        // A capital starts a word behind a small letter, also if there is caseless between them.
        let behind_small = only_lower << 1 | behind_runs(both, run_starts(both) & only_lower << 1);
        starts |= only_upper & behind_small;
        let mut behind_caseless = run_starts(only_upper) & both << 1 & !starts;
        while behind_caseless != 0 {
            let at = behind_caseless.trailing_zeros();
            let end = at + (!(only_upper >> at)).trailing_zeros();
            if end >= window.len {
                sure &= below(1 << at);
            } else if words >> end & 1 == 0 {
                starts |= 1 << at;
            }
            behind_caseless &= behind_caseless - 1;
        }
        (starts | window.digit_starts(self.digits) | other_starts | window.space_starts(taken, 0)) & sure
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
            // Where no small letter follows, the greedy first part gives back as far as it has to: one character that the
            // second part takes too, the last such.
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
