//! Hand-written matchers of common patterns: the same words as those of the regular expression, but
//! faster.
//!
//! A scanner is chosen at load time, if a pattern is literally equal to a known one (see
//! [`Scanner::of`]). Each of these patterns covers every text without gaps, so the end of a word
//! determines it. The regular expression remains as the oracle: tests compare every scanner with
//! it.
//!
//! - [`class_masks`]: matches 64 bytes at a time with bit masks.
//! - [`word`]: matches one word at a time, character by character.
//! - [`gpt2`], [`mod@cl100k`], [`o200k`], [`deepseek`]: one pattern family each, for both methods.

mod cl100k;
mod class_masks;
mod deepseek;
mod gpt2;
mod o200k;
#[cfg(test)]
mod tests;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod twins;
mod word;

use std::borrow::Cow;

use crate::pattern::Dialect;
use crate::simd::{BLOCK, Simd};
use cl100k::Cl100k;
use class_masks::fill;
use deepseek::DeepSeek;
use gpt2::Gpt2;
use o200k::O200k;
use word::Scan;

/// A pattern family and its variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scanner {
    Gpt2(Gpt2),
    Cl100k(Cl100k),
    O200k(O200k),
    DeepSeek(DeepSeek),
}

/// Capacity of the list of word ends that a scanner fills at a time. It is small enough that
/// prefetched memory is still in the CPU's cache when it is used, and large enough that many words
/// that miss the word cache can be merged together.
pub(crate) const WORDS_AT_A_TIME: usize = 32 * BLOCK;

/// The expression of ByteLevel in Hugging Face tokenizers.
pub(crate) const BYTE_LEVEL: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// o200k, gpt-oss, llama4: words of letters and combining marks, numbers of at most three digits.
const O200K: Scanner = Scanner::O200k(O200k { digits: 3, contractions: true });

const fn cl100k(digits: usize) -> Cl100k {
    Cl100k { digits, end_first: false, combining_marks: false }
}

/// The known spellings that mean the same in both dialects.
const SHARED_SPELLINGS: [(&str, Scanner); 8] = [
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
        Scanner::Cl100k(Cl100k { combining_marks: true, ..cl100k(1) }),
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

/// Spellings of tiktoken, with possessive quantifiers and an end of text (`$`) that Oniguruma
/// interprets differently.
const FANCY_REGEX: [(&str, Scanner); 2] = [
    (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s", Scanner::GPT2),
    (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        Scanner::Cl100k(Cl100k { end_first: true, ..cl100k(3) }),
    ),
];

/// The second of [`FANCY_REGEX`] in the spelling that a tokenizer.json needs.
const ONIGURUMA_SPELLINGS: [(&str, Scanner); 1] = [(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++\z|\s*[\r\n]|\s+(?!\S)|\s",
    Scanner::Cl100k(Cl100k { end_first: true, ..cl100k(3) }),
)];

/// Writes line breaks and tabs in a pattern as escapes, as the known spellings have them. Files
/// differ: that of DeepSeek V3 has the line breaks of `[^\r\n…]` as characters. Both forms mean the
/// same in both dialects. A backslash before such a character would become a different escape, but
/// no known spelling contains that.
fn with_escapes(pattern: &str) -> Cow<'_, str> {
    if !pattern.contains(['\r', '\n', '\t']) {
        return Cow::Borrowed(pattern);
    }
    Cow::Owned(pattern.replace('\r', r"\r").replace('\n', r"\n").replace('\t', r"\t"))
}

impl Scanner {
    /// gpt2, r50k, p50k, and the expression of ByteLevel.
    pub(crate) const GPT2: Self = Self::Gpt2(Gpt2 { digits_apart: false });

    /// The scanner with the same words as `pattern`, if there is one.
    pub(crate) fn of(pattern: &str, dialect: Dialect) -> Option<Self> {
        let own: &[(&str, Self)] = match dialect {
            Dialect::FancyRegex => &FANCY_REGEX,
            Dialect::Oniguruma => &ONIGURUMA_SPELLINGS,
        };
        let pattern = with_escapes(pattern);
        SHARED_SPELLINGS.iter().chain(own).find(|(known, _)| *known == pattern).map(|&(_, scanner)| scanner)
    }

    /// The equivalent pattern for a tokenizer.json. Panics for scanners of several patterns.
    pub(crate) fn in_oniguruma(self) -> &'static str {
        let known = SHARED_SPELLINGS.iter().chain(&ONIGURUMA_SPELLINGS).find(|(_, scanner)| *scanner == self);
        known.expect("every scanner of one pattern has a spelling in either dialect").0
    }

    /// The scanner with the same words as a sequence of patterns, each of which splits the result
    /// of the previous one and keeps all text.
    pub(crate) fn of_sequence(patterns: &[&str]) -> Option<Self> {
        let is_same = patterns.iter().map(|pattern| with_escapes(pattern)).eq(DeepSeek::PATTERNS);
        is_same.then_some(Self::DeepSeek(DeepSeek))
    }

    /// The scanner that makes each digit a word and applies this one to the text between digits, if
    /// there is one.
    pub(crate) fn with_digits_apart(self) -> Option<Self> {
        (self == Self::GPT2).then_some(Self::Gpt2(Gpt2 { digits_apart: true }))
    }

    /// Appends to `ends` the ends, in bytes, of the words of `text` from `at` on, until `ends` is
    /// full or the text ends. Returns the start of the next word. `at` must be the start of a word,
    /// and `text` all of the text that the pattern would be applied to.
    ///
    /// `ends` is full if it has room for fewer than [`BLOCK`] further ends. Its capacity must be at
    /// least twice that.
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
