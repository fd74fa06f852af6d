//! Matching character by character. A [`Family`](super::class_masks::Family) uses it for
//! words for which masks do not help, and tests compare the masks with it.

use std::sync::LazyLock;

use crate::categories::Classes;
use crate::pretokenizer::unicode::{CLASSES, NUMBER, SPACE, decode_start};

/// The class bits of the ASCII characters.
static ASCII: LazyLock<[u8; 128]> = LazyLock::new(|| std::array::from_fn(|code| CLASSES.of(code as u8 as char)));

pub(super) struct Scan<'a> {
    bytes: &'a [u8],
    classes: &'static Classes,
    ascii: &'static [u8; 128],
}

/// The class bits of a character and its length in bytes. Both are zero after the end of the text.
type Seen = (u8, usize);

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), classes: &CLASSES, ascii: &ASCII }
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn classes(&self) -> &'static Classes {
        self.classes
    }

    #[inline]
    pub(super) fn see(&self, at: usize) -> Seen {
        match self.bytes.get(at) {
            None => (0, 0),
            Some(&byte) if byte < 0x80 => (self.ascii[usize::from(byte)], 1),
            Some(_) => self.see_wide(&self.bytes[at..]),
        }
    }

    #[inline]
    fn see_wide(&self, rest: &[u8]) -> Seen {
        let (code, len) = decode_start(rest);
        (self.classes.of_code(code), len)
    }

    #[inline]
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// The end of the run of characters from `at` on that have at least one of these class bits.
    #[inline]
    pub(super) fn run(&self, at: usize, class: u8) -> usize {
        self.run_of(at, |bits| bits & class != 0)
    }

    /// The end of the run of characters from `at` on that have none of these class bits.
    #[inline]
    pub(super) fn run_without(&self, at: usize, class: u8) -> usize {
        self.run_of(at, |bits| bits & class == 0)
    }

    /// The end of the run of characters from `at` on whose class bits fulfil `wanted`.
    #[inline]
    pub(super) fn run_of(&self, mut at: usize, wanted: impl Fn(u8) -> bool) -> usize {
        loop {
            let (bits, len) = self.see(at);
            if len == 0 || !wanted(bits) {
                return at;
            }
            at += len;
        }
    }

    /// The end of the run of the given bytes from `at` on.
    #[inline]
    pub(super) fn run_of_bytes(&self, at: usize, bytes: &[u8]) -> usize {
        at + self.bytes[at..].iter().take_while(|byte| bytes.contains(byte)).count()
    }

    /// `\s+(?!\S)|\s+` for white space in `at..end` whose last character starts at `last`: the
    /// match is all of it at the end of the text, otherwise all but the last character, which may
    /// belong to the next word.
    #[inline]
    pub(super) fn spaces(&self, at: usize, last: usize, end: usize) -> usize {
        if end == self.bytes.len() || last == at { end } else { last }
    }

    /// White space from `at` on: the start of its last character, and its end.
    #[inline]
    pub(super) fn run_of_spaces(&self, at: usize) -> (usize, usize) {
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

    /// The end of `\p{N}{1,max}` from `at` on.
    pub(super) fn digits(&self, mut at: usize, max: usize) -> usize {
        for _ in 0..max {
            let (bits, len) = self.see(at);
            if bits & NUMBER == 0 {
                break;
            }
            at += len;
        }
        at
    }

    /// The end of ` ?` and a run of characters that are neither white space nor numbers nor have
    /// one of the class bits `letters`.
    #[inline]
    pub(super) fn others_after_space(&self, at: usize, letters: u8) -> Option<usize> {
        let start = at + usize::from(self.byte(at) == b' ');
        let end = self.run_without(start, letters | NUMBER | SPACE);
        (end > start).then_some(end)
    }

    /// `\s*[\r\n]+` for white space in `at..end`: the end of its last line break.
    #[inline]
    pub(super) fn line_break(&self, at: usize, end: usize) -> Option<usize> {
        self.bytes[at..end].iter().rposition(|&byte| byte == b'\r' || byte == b'\n').map(|last| at + last + 1)
    }
}

/// The number of characters and bytes of `(?i:'s|'t|'re|'ve|'m|'ll|'d)` if these bytes follow the
/// apostrophe; zero if it does not match. Case folding equates U+017F, the long s, with s.
#[inline(always)]
pub(super) fn contraction(behind: (u8, u8)) -> (u32, usize) {
    match (behind.0.to_ascii_lowercase(), behind.1.to_ascii_lowercase()) {
        (b's' | b't' | b'm' | b'd', _) => (2, 2),
        (b'r' | b'v', b'e') | (b'l', b'l') => (3, 3),
        (0xC5, 0xBF) => (2, 3),
        _ => (0, 0),
    }
}
