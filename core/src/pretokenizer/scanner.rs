//! The patterns of widespread tokenizers, matched by hand: the same spans as the regular expression gives, faster.
//!
//! A scanner is chosen at load, when a pattern is letter by letter one that is known here (see [`Scanner::of`]).
//! Each of them covers every text without gaps, so a match is told by its end alone. The regular expression remains as
//! the slow twin: tests hold every scanner against it.

use std::sync::LazyLock;

use super::pattern::Dialect;
use super::unicode::{CLASSES, Classes, LETTER, LOWER, NUMBER, SPACE, UPPER};

/// A pattern family and its variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scanner {
    /// gpt2, r50k, p50k, and ByteLevel's own expression.
    Gpt2,
    /// cl100k, llama3, qwen2.
    Cl100k(Cl100k),
    /// o200k.
    O200k,
}

/// What differs within the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cl100k {
    /// How many digits make a word, at most.
    digits: usize,
    /// Whether white space at the very end of the text is one word even where it holds line breaks.
    end_first: bool,
}

/// ByteLevel's own expression in Hugging Face tokenizers.
pub(crate) const BYTE_LEVEL: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// The known spellings and what they mean in either dialect.
const COMMON: [(&str, Scanner); 4] = [
    (BYTE_LEVEL, Scanner::Gpt2),
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Scanner::Cl100k(Cl100k { digits: 3, end_first: false }),
    ),
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Scanner::Cl100k(Cl100k { digits: 1, end_first: false }),
    ),
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Scanner::O200k,
    ),
];

/// Spellings of tiktoken, with possessive repeats and an end of text that Oniguruma reads otherwise.
const FANCY_REGEX: [(&str, Scanner); 2] = [
    (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s", Scanner::Gpt2),
    (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        Scanner::Cl100k(Cl100k { digits: 3, end_first: true }),
    ),
];

impl Scanner {
    /// The scanner that gives the same spans as `pattern`, if there is one.
    pub(crate) fn of(pattern: &str, dialect: Dialect) -> Option<Self> {
        let own: &[(&str, Self)] = if dialect == Dialect::FancyRegex { &FANCY_REGEX } else { &[] };
        COMMON.iter().chain(own).find(|(known, _)| *known == pattern).map(|&(_, scanner)| scanner)
    }

    /// Appends to `ends` where the words of `text` end that start at `at`, until `ends` is full or the text is over.
    /// Returns where the next word starts. `text` is the whole of what the pattern would be given.
    pub(crate) fn scan(self, text: &str, at: usize, ends: &mut Vec<u32>) -> usize {
        let scan = Scan::new(text);
        match self {
            Self::Gpt2 => scan.fill(at, ends, |scan, at| scan.gpt2(at)),
            Self::Cl100k(variant) => scan.fill(at, ends, |scan, at| scan.cl100k(at, variant)),
            Self::O200k => scan.fill(at, ends, |scan, at| scan.o200k(at)),
        }
    }
}

/// Class bits of the ASCII characters.
static ASCII: LazyLock<[u8; 128]> = LazyLock::new(|| std::array::from_fn(|code| CLASSES.of(code as u8 as char)));

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    classes: &'static Classes,
    ascii: &'static [u8; 128],
}

/// A character's class bits and its length in bytes. Past the end of the text both are zero.
type Seen = (u8, usize);

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), classes: &CLASSES, ascii: &ASCII }
    }

    #[inline]
    fn fill(&self, mut at: usize, ends: &mut Vec<u32>, word: impl Fn(&Self, usize) -> usize) -> usize {
        while at < self.bytes.len() && ends.len() < ends.capacity() {
            at = word(self, at);
            ends.push(at as u32);
        }
        at
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

    fn gpt2(&self, at: usize) -> usize {
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

    fn cl100k(&self, at: usize, variant: Cl100k) -> usize {
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

    fn o200k(&self, at: usize) -> usize {
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
            return if self.byte(end) == b'\'' { self.contraction(end).unwrap_or(end) } else { end };
        }
        if bits & NUMBER != 0 {
            return self.digits(at, 3);
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

#[cfg(test)]
mod tests {
    use super::super::pattern::Pattern;
    use super::*;
    use proptest::prelude::*;

    fn ends_by_regex(pattern: &Pattern, text: &str) -> Vec<u32> {
        let (mut ends, mut covered) = (vec![], 0);
        pattern
            .for_each_match(text, |span| {
                assert_eq!(span.start, covered, "{text:?}: the pattern leaves a gap");
                covered = span.end;
                ends.push(span.end);
            })
            .expect("no test text is hard");
        assert_eq!(covered as usize, text.len());
        ends
    }

    fn ends_by_scanner(scanner: Scanner, text: &str, chunk: usize) -> Vec<u32> {
        let (mut all, mut at) = (vec![], 0);
        while at < text.len() {
            let mut ends = Vec::with_capacity(chunk);
            at = scanner.scan(text, at, &mut ends);
            assert_eq!(ends.last(), Some(&(at as u32)));
            all.extend(ends);
        }
        all
    }

    /// Every scanner with the regular expression it stands for, in the dialect where the spelling is used.
    static TWINS: LazyLock<Vec<(Scanner, Pattern)>> = LazyLock::new(|| {
        let own = [(Dialect::Oniguruma, &COMMON[..]), (Dialect::FancyRegex, &FANCY_REGEX)];
        let twins = own.into_iter().flat_map(|(dialect, known)| known.iter().map(move |known| (dialect, known)));
        twins
            .map(|(dialect, &(source, scanner))| {
                assert_eq!(Scanner::of(source, dialect), Some(scanner));
                (scanner, Pattern::new(source, dialect, "test").expect("the known patterns compile"))
            })
            .collect()
    });

    /// Characters that the patterns treat in different ways, in every length of UTF-8.
    fn characters() -> impl Strategy<Value = char> {
        let telling: Vec<char> = " \u{a0}\t\n\r\u{85}\u{2028}\u{3000}'’sStTrReEvVmMlLdDſKaZ\u{1c5}ʰªあ中é0٣Ⅷ²_-/.,!#😀\u{301}\u{200d}\u{e0100}\0".chars().collect();
        prop_oneof![8 => prop::sample::select(telling), 1 => any::<char>()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn every_scanner_gives_the_spans_of_its_pattern(
            text in prop::collection::vec(characters(), 0..40).prop_map(String::from_iter),
            chunk in 1usize..9,
        ) {
            for (scanner, pattern) in &*TWINS {
                let expected = ends_by_regex(pattern, &text);
                prop_assert_eq!(ends_by_scanner(*scanner, &text, chunk), expected, "{:?} on {:?}", scanner, text);
            }
        }
    }

    #[test]
    fn every_character_in_telling_neighbourhoods() {
        // Grouped into texts of many characters, so that the regular expression is not started a million times.
        for (before, after) in [("a", "b"), (" ", "A"), ("'", "s"), ("1", "2"), ("\n", " "), ("!", "/\n")] {
            let mut text = String::new();
            for (count, character) in ('\0'..=char::MAX).enumerate() {
                text.push_str(before);
                text.push(character);
                text.push_str(after);
                if count % 4096 == 4095 {
                    for (scanner, pattern) in &*TWINS {
                        assert!(
                            ends_by_scanner(*scanner, &text, 512) == ends_by_regex(pattern, &text),
                            "{scanner:?}: up to U+{:04X} between {before:?} and {after:?}",
                            character as u32
                        );
                    }
                    text.clear();
                }
            }
        }
    }
}
