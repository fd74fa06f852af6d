//! Every scanner with the stages that it replaces, as the oracle of tests: one or more regular
//! expressions, or other stages.

use std::sync::LazyLock;

use super::*;
use crate::aligned::AlignedText;
use crate::pretokenizer::splits::Splits;
use crate::pretokenizer::{Behavior, CharClass, Cut, PreTokenizer, Stage};
use crate::span::Span;

/// A scanner, and the stages that it replaces, run by the general engine.
pub(crate) struct Twin {
    pub(crate) name: &'static str,
    /// The dialect of the pattern that is the name; `None` for several stages.
    pub(crate) dialect: Option<Dialect>,
    pub(crate) scanner: Scanner,
    stages: PreTokenizer,
}

impl Twin {
    /// The ends of the words by the general engine.
    pub(crate) fn ends(&self, text: &str) -> Vec<u32> {
        let (mut aligned, mut splits) = (AlignedText::default(), Splits::default());
        aligned.start(text, 0, false);
        splits.start(Span::new(0, text.len()));
        self.stages
            .apply(&mut aligned, &mut splits, &mut crate::budget::Budget::of_text(text.len()))
            .expect("no test text is hard");
        let mut covered = 0;
        for span in splits.spans() {
            assert_eq!(span.start, covered, "{}: {text:?}: there is a gap", self.name);
            covered = span.end;
        }
        assert_eq!(covered as usize, text.len());
        splits.spans().iter().map(|span| span.end).collect()
    }

    /// Checks that the words of the scanner are those of the general engine, for every SIMD level
    /// that this CPU supports.
    pub(crate) fn check(&self, text: &str, capacity: usize) {
        let expected = self.ends(text);
        for simd in Simd::all() {
            let ends = ends_by_scanner(self.scanner, simd, text, capacity);
            assert!(ends == expected, "{} {simd:?} on {text:?}: {ends:?}, not {expected:?}", self.name);
        }
    }
}

pub(super) fn ends_by_scanner(scanner: Scanner, simd: Simd, text: &str, capacity: usize) -> Vec<u32> {
    let (mut all, mut at) = (vec![], 0);
    while at < text.len() {
        let mut ends = Vec::with_capacity(capacity);
        at = scanner.scan_with(simd, text, at, &mut ends);
        assert_eq!(ends.last(), Some(&(at as u32)));
        assert!(ends.len() <= capacity);
        all.extend(ends);
    }
    all
}

fn slow(source: &str, dialect: Dialect) -> Stage {
    // Text between matches is kept, so that a gap would show up as an additional word.
    Stage::Cut(Cut::by_regex(source, dialect, Behavior::Isolated))
}

pub(crate) static TWINS: LazyLock<Vec<Twin>> = LazyLock::new(|| {
    let known = |dialect, &(name, scanner): &(&'static str, Scanner)| {
        assert_eq!(Scanner::of(name, dialect), Some(scanner));
        assert_eq!(Scanner::of(scanner.in_oniguruma(), Dialect::Oniguruma), Some(scanner));
        Twin { name, dialect: Some(dialect), scanner, stages: PreTokenizer { stages: vec![slow(name, dialect)] } }
    };
    let mut twins: Vec<Twin> = SHARED_SPELLINGS.iter().map(|pattern| known(Dialect::Oniguruma, pattern)).collect();
    twins.extend(ONIGURUMA_SPELLINGS.iter().map(|pattern| known(Dialect::Oniguruma, pattern)));
    twins.extend(FANCY_REGEX.iter().map(|pattern| known(Dialect::FancyRegex, pattern)));
    let more = [
        ("DeepSeek", DeepSeek::PATTERNS.map(|pattern| slow(pattern, Dialect::Oniguruma)).into()),
        (
            "digits apart",
            vec![
                Stage::Cut(Cut::characters(CharClass::Number, Behavior::Isolated)),
                slow(BYTE_LEVEL, Dialect::Oniguruma),
            ],
        ),
    ];
    twins.extend(more.into_iter().map(|(name, stages)| {
        let as_loaded = stages.iter().map(|stage| match stage {
            Stage::Cut(cut) => Stage::Cut(cut.as_loaded()),
            _ => unreachable!("these stages cut"),
        });
        let mut recognized = PreTokenizer { stages: as_loaded.collect() };
        let scanner = recognized.take_scanner().expect("there is a scanner for these stages");
        assert!(recognized.stages.is_empty());
        Twin { name, dialect: None, scanner, stages: PreTokenizer { stages } }
    }));
    twins
});

/// Characters of each kind that a pattern treats differently, with every length in UTF-8.
pub(crate) const TEST_CHARACTERS: &str = " \u{a0}\t\n\r\u{85}\u{2028}\u{3000}'’sStTrReEvVmMlLdDſKaZ\u{1c5}ʰªあー・゛\u{3040}\u{3099}中é0٣Ⅷ²_-/.,!#$😀\u{301}\u{fe0f}\u{200d}\u{e0100}\0▁";
