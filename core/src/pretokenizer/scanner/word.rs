//! The patterns word by word, character by character: what [`super::blocks`] leaves over, and what it is held against.

use std::sync::LazyLock;

use super::{Cl100k, O200k};
use crate::pretokenizer::unicode::{CLASSES, Classes, LETTER, LOWER, NUMBER, SPACE, UPPER};

/// Class bits of the ASCII characters.
static ASCII: LazyLock<[u8; 128]> = LazyLock::new(|| std::array::from_fn(|code| CLASSES.of(code as u8 as char)));

pub(super) struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    classes: &'static Classes,
    ascii: &'static [u8; 128],
}

/// A character's class bits and its length in bytes. Past the end of the text both are zero.
type Seen = (u8, usize);

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), classes: &CLASSES, ascii: &ASCII }
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    #[inline]
    fn see(&self, at: usize) -> Seen {
        match self.bytes.get(at) {
            None => (0, 0),
            Some(&byte) if byte < 0x80 => (self.ascii[usize::from(byte)], 1),
            Some(_) => self.see_wide(at),
        }
    }

    fn see_wide(&self, at: usize) -> Seen {
        self.text[at..].chars().next().map_or((0, 0), |c| (self.classes.of(c), c.len_utf8()))
    }

    #[inline]
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// Where the run of characters from `at` on that have one of the class bits ends.
    #[inline]
    fn run(&self, mut at: usize, class: u8) -> usize {
        loop {
            let (bits, len) = self.see(at);
            if bits & class == 0 {
                return at;
            }
            at += len;
        }
    }

    /// Where the run of characters that are neither letter nor number nor space ends.
    #[inline]
    fn run_of_others(&self, mut at: usize) -> usize {
        loop {
            let (bits, len) = self.see(at);
            if len == 0 || bits & (LETTER | NUMBER | SPACE) != 0 {
                return at;
            }
            at += len;
        }
    }

    /// The first byte from `at` on that is not one of `bytes`.
    #[inline]
    fn run_of_bytes(&self, at: usize, bytes: &[u8]) -> usize {
        at + self.bytes[at..].iter().take_while(|byte| bytes.contains(byte)).count()
    }

    /// `\s+(?!\S)|\s+` on white space that goes from `at` to `end`, its last character from `last` on: all of it at the
    /// end of the text, else all but the last character, which the next word may take.
    #[inline]
    fn spaces(&self, at: usize, last: usize, end: usize) -> usize {
        if end == self.bytes.len() || last == at { end } else { last }
    }

    /// White space from `at` on: where its last character starts and where it ends.
    #[inline]
    fn run_of_spaces(&self, at: usize) -> (usize, usize) {
        let (mut last, mut end) = (at, at);
        loop {
            let (bits, len) = self.see(end);
            if bits & SPACE == 0 {
                return (last, end);
            }
            last = end;
            end += len;
        }
    }

    pub(super) fn gpt2(&self, at: usize) -> usize {
        let first = self.byte(at);
        if first == b'\'' {
            match (self.byte(at + 1), self.byte(at + 2)) {
                (b's' | b't' | b'm' | b'd', _) => return at + 2,
                (b'r' | b'v', b'e') | (b'l', b'l') => return at + 3,
                _ => {}
            }
        }
        let start = at + usize::from(first == b' ');
        let (bits, len) = self.see(start);
        if bits & LETTER != 0 {
            return self.run(start + len, LETTER);
        }
        if bits & NUMBER != 0 {
            return self.run(start + len, NUMBER);
        }
        if bits & SPACE == 0 && len > 0 {
            return self.run_of_others(start + len);
        }
        let (last, end) = self.run_of_spaces(at);
        self.spaces(at, last, end)
    }

    pub(super) fn cl100k(&self, at: usize, variant: Cl100k) -> usize {
        let first = self.byte(at);
        if first == b'\''
            && let Some(end) = self.contraction(at)
        {
            return end;
        }
        let (bits, len) = self.see(at);
        if bits & LETTER != 0 {
            return self.run(at + len, LETTER);
        }
        if bits & NUMBER != 0 {
            return self.digits(at, variant.digits);
        }
        if first != b'\r' && first != b'\n' {
            let (next, next_len) = self.see(at + len);
            if next & LETTER != 0 {
                return self.run(at + len + next_len, LETTER);
            }
        }
        if let Some(end) = self.others_after_space(at) {
            return self.run_of_bytes(end, b"\r\n");
        }
        let (last, end) = self.run_of_spaces(at);
        if variant.end_first && end == self.bytes.len() {
            return end;
        }
        self.line_break(at, end).unwrap_or_else(|| self.spaces(at, last, end))
    }

    pub(super) fn o200k(&self, at: usize, variant: O200k) -> usize {
        let first = self.byte(at);
        let (bits, len) = self.see(at);
        let may_lead = bits & (LETTER | NUMBER) == 0 && first != b'\r' && first != b'\n';
        let led = at + len;
        let word = None
            .or_else(|| if may_lead { self.capitals_then_smalls(led) } else { None })
            .or_else(|| self.capitals_then_smalls(at))
            .or_else(|| if may_lead { self.capitals(led) } else { None })
            .or_else(|| self.capitals(at));
        if let Some(end) = word {
            let may_contract = variant.contractions && self.byte(end) == b'\'';
            return if may_contract { self.contraction(end).unwrap_or(end) } else { end };
        }
        if bits & NUMBER != 0 {
            return self.digits(at, variant.digits);
        }
        if let Some(end) = self.others_after_space(at) {
            return self.run_of_bytes(end, b"\r\n/");
        }
        let (last, end) = self.run_of_spaces(at);
        self.line_break(at, end).unwrap_or_else(|| self.spaces(at, last, end))
    }

    /// `(?i:'s|'t|'re|'ve|'m|'ll|'d)` at an apostrophe. Case folding makes U+017F, the long s, an s.
    fn contraction(&self, at: usize) -> Option<usize> {
        let lower = |at| self.byte(at).to_ascii_lowercase();
        match (lower(at + 1), lower(at + 2)) {
            (b's' | b't' | b'm' | b'd', _) => Some(at + 2),
            (b'r' | b'v', b'e') | (b'l', b'l') | (0xC5, 0xBF) => Some(at + 3),
            _ => None,
        }
    }

    /// `\p{N}{1,n}`, the first of which is at `at`.
    fn digits(&self, mut at: usize, most: usize) -> usize {
        for _ in 0..most {
            let (bits, len) = self.see(at);
            if bits & NUMBER == 0 {
                break;
            }
            at += len;
        }
        at
    }

    /// ` ?[^\s\p{L}\p{N}]+`
    #[inline]
    fn others_after_space(&self, at: usize) -> Option<usize> {
        let start = at + usize::from(self.byte(at) == b' ');
        let end = self.run_of_others(start);
        (end > start).then_some(end)
    }

    /// `\s*[\r\n]+` on white space from `at` to `end`: up to its last line break.
    #[inline]
    fn line_break(&self, at: usize, end: usize) -> Option<usize> {
        self.bytes[at..end].iter().rposition(|&byte| byte == b'\r' || byte == b'\n').map(|last| at + last + 1)
    }

    /// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`
    fn capitals_then_smalls(&self, at: usize) -> Option<usize> {
        let (mut end, mut last_small) = (at, None);
        loop {
            let (bits, len) = self.see(end);
            if bits & UPPER == 0 {
                let smalls = self.run(end, LOWER);
                // Where no small letter follows, the greedy first part gives back as far as it has to: one character
                // that the second part takes too, the last such.
                return if smalls > end { Some(smalls) } else { last_small };
            }
            end += len;
            if bits & LOWER != 0 {
                last_small = Some(end);
            }
        }
    }

    /// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`
    fn capitals(&self, at: usize) -> Option<usize> {
        let end = self.run(at, UPPER);
        (end > at).then(|| self.run(end, LOWER))
    }
}
