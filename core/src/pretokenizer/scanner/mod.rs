//! The patterns of widespread tokenizers, matched by hand: the same spans as the regular expression gives, faster.
//!
//! A scanner is chosen at load, when a pattern is letter by letter one that is known here (see [`Scanner::of`]).
//! Each of them covers every text without gaps, so a match is told by its end alone. The regular expression remains as
//! the slow twin: tests hold every scanner against it.
//!
//! - [`blocks`]: 64 bytes at a time, by masks.
//! - [`word`]: a word at a time, character by character.

mod blocks;
mod word;

use crate::pattern::Dialect;
use crate::simd::{BLOCK, Classifier};
use blocks::{Window, fill};
use word::Scan;

/// A pattern family and its variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scanner {
    /// gpt2, r50k, p50k, and ByteLevel's own expression.
    Gpt2,
    /// cl100k, llama3, qwen2.
    Cl100k(Cl100k),
    /// o200k and tekken.
    O200k(O200k),
}

/// What differs within the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cl100k {
    /// How many digits make a word, at most.
    digits: usize,
    /// Whether white space at the very end of the text is one word even where it holds line breaks.
    end_first: bool,
}

/// What differs within the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct O200k {
    /// How many digits make a word, at most.
    digits: usize,
    /// Whether a word takes the contraction behind it.
    contractions: bool,
}

/// Room for the ends that a scanner hands over at a time: few enough that they stay in the nearest cache.
pub(crate) const WORDS_AT_A_TIME: usize = 8 * BLOCK;

/// ByteLevel's own expression in Hugging Face tokenizers.
pub(crate) const BYTE_LEVEL: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// The known spellings and what they mean in either dialect.
const COMMON: [(&str, Scanner); 5] = [
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
        Scanner::O200k(O200k { digits: 3, contractions: true }),
    ),
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Scanner::O200k(O200k { digits: 1, contractions: false }),
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

/// The second of [`FANCY_REGEX`] as a tokenizer.json has to write it.
const ONIGURUMA: [(&str, Scanner); 1] = [(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++\z|\s*[\r\n]|\s+(?!\S)|\s",
    Scanner::Cl100k(Cl100k { digits: 3, end_first: true }),
)];

impl Scanner {
    /// The scanner that gives the same spans as `pattern`, if there is one.
    pub(crate) fn of(pattern: &str, dialect: Dialect) -> Option<Self> {
        let own: &[(&str, Self)] = match dialect {
            Dialect::FancyRegex => &FANCY_REGEX,
            Dialect::Oniguruma => &ONIGURUMA,
        };
        COMMON.iter().chain(own).find(|(known, _)| *known == pattern).map(|&(_, scanner)| scanner)
    }

    /// The pattern that means the same in a tokenizer.json.
    pub(crate) fn in_oniguruma(self) -> &'static str {
        let known = COMMON.iter().chain(&ONIGURUMA).find(|(_, scanner)| *scanner == self);
        known.expect("every scanner has a spelling in either dialect").0
    }

    /// Appends to `ends` where the words of `text` end that start at `at`, until `ends` is full or the text is over.
    /// Returns where the next word starts. `text` is the whole of what the pattern would be given.
    ///
    /// `ends` is full when less than [`BLOCK`] more would fit; its capacity is twice that at least.
    #[inline(always)]
    pub(crate) fn scan(self, text: &str, at: usize, ends: &mut Vec<u32>) -> usize {
        debug_assert!(ends.capacity() >= 2 * BLOCK);
        self.scan_with(Classifier::best(), text, at, ends)
    }

    #[inline(always)]
    fn scan_with(self, classifier: Classifier, text: &str, at: usize, ends: &mut Vec<u32>) -> usize {
        let scan = Scan::new(text);
        match self {
            Self::Gpt2 => {
                let starts = |window: &Window, block: &[u8; BLOCK]| blocks::gpt2(window, block);
                fill(&scan, classifier, at, ends, starts, |at| scan.gpt2(at))
            }
            Self::Cl100k(variant) => {
                let starts = |window: &Window, block: &[u8; BLOCK]| blocks::cl100k(window, block, variant);
                fill(&scan, classifier, at, ends, starts, |at| scan.cl100k(at, variant))
            }
            Self::O200k(variant) => {
                let mut at = at;
                while at < text.len() && ends.len() + BLOCK <= ends.capacity() {
                    at = scan.o200k(at, variant);
                    ends.push(at as u32);
                }
                at
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;
    use proptest::prelude::*;
    use std::sync::LazyLock;

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

    fn ends_by_scanner(scanner: Scanner, classifier: Classifier, text: &str, capacity: usize) -> Vec<u32> {
        let (mut all, mut at) = (vec![], 0);
        while at < text.len() {
            let mut ends = Vec::with_capacity(capacity);
            at = scanner.scan_with(classifier, text, at, &mut ends);
            assert_eq!(ends.last(), Some(&(at as u32)));
            assert!(ends.len() <= capacity);
            all.extend(ends);
        }
        all
    }

    /// Every scanner with the regular expression it stands for, in the dialect where the spelling is used.
    static TWINS: LazyLock<Vec<(Scanner, Pattern)>> = LazyLock::new(|| {
        let own =
            [(Dialect::Oniguruma, &COMMON[..]), (Dialect::FancyRegex, &FANCY_REGEX), (Dialect::Oniguruma, &ONIGURUMA)];
        let twins = own.into_iter().flat_map(|(dialect, known)| known.iter().map(move |known| (dialect, known)));
        twins
            .map(|(dialect, &(source, scanner))| {
                assert_eq!(Scanner::of(source, dialect), Some(scanner));
                assert_eq!(Scanner::of(scanner.in_oniguruma(), Dialect::Oniguruma), Some(scanner));
                (scanner, Pattern::new(source, dialect, "test").expect("the known patterns compile"))
            })
            .collect()
    });

    /// Characters that the patterns treat in different ways, in every length of UTF-8.
    fn characters() -> impl Strategy<Value = char> {
        let telling: Vec<char> = " \u{a0}\t\n\r\u{85}\u{2028}\u{3000}'’sStTrReEvVmMlLdDſKaZ\u{1c5}ʰªあ中é0٣Ⅷ²_-/.,!#😀\u{301}\u{200d}\u{e0100}\0".chars().collect();
        prop_oneof![8 => prop::sample::select(telling), 1 => any::<char>()]
    }

    /// Single characters, and runs as text has them, so that windows see whole words and their edges.
    fn piece() -> impl Strategy<Value = String> {
        let runs = "[a-z]{1,12}|[A-Z][a-z]{0,9}| [a-z]{1,7}| {1,9}|\\n {0,9}|[0-9]{1,8}|'(s|t|re|ve|m|ll|d|S|LL|x)|[!-/]{1,5}(\r?\n)*|[а-я]{1,8}|[あ-ん一-十]{1,9}|—|\u{3000}";
        prop_oneof![1 => characters().prop_map(String::from), 2 => runs.prop_map(String::from)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn every_scanner_gives_the_spans_of_its_pattern(
            pieces in prop::collection::vec(piece(), 0..40),
            capacity in 128usize..200,
        ) {
            let text = pieces.concat();
            for (scanner, pattern) in &*TWINS {
                let expected = ends_by_regex(pattern, &text);
                for classifier in Classifier::all() {
                    let ends = ends_by_scanner(*scanner, classifier, &text, capacity);
                    prop_assert_eq!(&ends, &expected, "{:?} {:?} on {:?}", scanner, classifier, text);
                }
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
                            ends_by_scanner(*scanner, Classifier::best(), &text, 512) == ends_by_regex(pattern, &text),
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
