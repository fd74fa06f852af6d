//! The patterns of widespread tokenizers, matched by hand: the same spans as the regular expression gives, faster.
//!
//! A scanner is chosen at load, when a pattern is letter by letter one that is known here (see [`Scanner::of`]).
//! Each of them covers every text without gaps, so a match is told by its end alone. The regular expression remains as
//! the slow twin: tests hold every scanner against it.
//!
//! - [`window`]: 64 bytes at a time, by masks.
//! - [`word`]: a word at a time, character by character.
//! - [`gpt2`], [`cl100k`], [`o200k`], [`deepseek`]: a pattern family each, in both ways.

mod cl100k;
mod deepseek;
mod gpt2;
mod o200k;
#[cfg(test)]
mod tests;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod twins;
mod window;
mod word;

use std::borrow::Cow;

use crate::pattern::Dialect;
use crate::simd::{BLOCK, Simd};
use cl100k::Cl100k;
use deepseek::DeepSeek;
use gpt2::Gpt2;
use o200k::O200k;
use window::fill;
use word::Scan;

/// A pattern family and its variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scanner {
    Gpt2(Gpt2),
    Cl100k(Cl100k),
    O200k(O200k),
    DeepSeek(DeepSeek),
}

/// Room for the ends that a scanner hands over at a time: few enough that what is asked of memory for them is still near when it is
/// read, so many that the unknown ones among them can be merged many at a time.
pub(crate) const WORDS_AT_A_TIME: usize = 32 * BLOCK;

/// ByteLevel's own expression in Hugging Face tokenizers.
pub(crate) const BYTE_LEVEL: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// Words of letters and marks with three digits at most, as o200k has them; gpt-oss and llama4 use it too.
const O200K: Scanner = Scanner::O200k(O200k { digits: 3, contractions: true });

const fn cl100k(digits: usize) -> Cl100k {
    Cl100k { digits, end_first: false, marks: false }
}

/// The known spellings and what they mean in either dialect.
const COMMON: [(&str, Scanner); 8] = [
    (BYTE_LEVEL, Scanner::GPT2),
    // llama3 and many others
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Scanner::Cl100k(cl100k(3)),
    ),
    // dbrx, phi4
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
        Scanner::Cl100k(cl100k(3)),
    ),
    // qwen2
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Scanner::Cl100k(cl100k(1)),
    ),
    // qwen3.5
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Scanner::Cl100k(Cl100k { marks: true, ..cl100k(1) }),
    ),
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        O200K,
    ),
    // tekken
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Scanner::O200k(O200k { digits: 1, contractions: false }),
    ),
    // tekken, with numbers as in o200k
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Scanner::O200k(O200k { digits: 3, contractions: false }),
    ),
];

/// Spellings of tiktoken, with possessive repeats and an end of text that Oniguruma reads otherwise.
const FANCY_REGEX: [(&str, Scanner); 2] = [
    (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s", Scanner::GPT2),
    (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        Scanner::Cl100k(Cl100k { end_first: true, ..cl100k(3) }),
    ),
];

/// The second of [`FANCY_REGEX`] as a tokenizer.json has to write it.
const ONIGURUMA: [(&str, Scanner); 1] = [(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++\z|\s*[\r\n]|\s+(?!\S)|\s",
    Scanner::Cl100k(Cl100k { end_first: true, ..cl100k(3) }),
)];

/// The pattern with line breaks and tabs written as escapes, as the known spellings have them. Files
/// differ: in DeepSeek V3's own the line breaks of `[^\r\n…]` are characters, not escapes. Both mean
/// the same in both dialects. A backslash before such a character would become another escape, but no
/// known spelling contains that.
fn with_escapes(pattern: &str) -> Cow<'_, str> {
    if !pattern.contains(['\r', '\n', '\t']) {
        return Cow::Borrowed(pattern);
    }
    Cow::Owned(pattern.replace('\r', r"\r").replace('\n', r"\n").replace('\t', r"\t"))
}

impl Scanner {
    /// gpt2, r50k, p50k, and ByteLevel's own expression.
    pub(crate) const GPT2: Self = Self::Gpt2(Gpt2 { digits_apart: false });

    /// The scanner that gives the same spans as `pattern`, if there is one.
    pub(crate) fn of(pattern: &str, dialect: Dialect) -> Option<Self> {
        let own: &[(&str, Self)] = match dialect {
            Dialect::FancyRegex => &FANCY_REGEX,
            Dialect::Oniguruma => &ONIGURUMA,
        };
        let pattern = with_escapes(pattern);
        COMMON.iter().chain(own).find(|(known, _)| *known == pattern).map(|&(_, scanner)| scanner)
    }

    /// The pattern that means the same in a tokenizer.json, of a scanner that one pattern stands for.
    pub(crate) fn in_oniguruma(self) -> &'static str {
        let known = COMMON.iter().chain(&ONIGURUMA).find(|(_, scanner)| *scanner == self);
        known.expect("every scanner of one pattern has a spelling in either dialect").0
    }

    /// The scanner that gives the same words as patterns one after the other, each of which cuts what the one before made of
    /// the text, and keeps all of it.
    pub(crate) fn of_sequence(patterns: &[&str]) -> Option<Self> {
        let is_same = patterns.iter().map(|pattern| with_escapes(pattern)).eq(DeepSeek::PATTERNS);
        is_same.then_some(Self::DeepSeek(DeepSeek))
    }

    /// The scanner for what this one does to the parts of a text between digits, each of which is a word of its own.
    pub(crate) fn with_digits_apart(self) -> Option<Self> {
        (self == Self::GPT2).then_some(Self::Gpt2(Gpt2 { digits_apart: true }))
    }

    /// Appends to `ends` where the words of `text` end that start at `at`, until `ends` is full or the text is over.
    /// Returns where the next word starts. `text` is the whole of what the pattern would be given.
    ///
    /// `ends` is full when less than [`BLOCK`] more would fit; its capacity is twice that at least.
    #[inline(always)]
    pub(crate) fn scan(self, text: &str, at: usize, ends: &mut Vec<u32>) -> usize {
        debug_assert!(ends.capacity() >= 2 * BLOCK);
        self.scan_with(Simd::best(), text, at, ends)
    }

    #[inline(always)]
    fn scan_with(self, simd: Simd, text: &str, at: usize, ends: &mut Vec<u32>) -> usize {
        let scan = Scan::new(text);
        match self {
            Self::Gpt2(family) => fill(family, &scan, simd, at, ends),
            Self::Cl100k(family) => fill(family, &scan, simd, at, ends),
            Self::O200k(family) => fill(family, &scan, simd, at, ends),
            Self::DeepSeek(family) => fill(family, &scan, simd, at, ends),
        }
    }
}
