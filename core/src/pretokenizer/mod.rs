//! Text becomes words: stages that cut splits further or rewrite their text, one after the other.
//!
//! - [`splits`]: a text and the spans it is cut into.
//! - [`pattern`]: any regular expression.
//! - [`scanner`]: the widespread expressions by hand, and [`unicode`], the character classes they ask for.

pub(crate) mod pattern;
pub(crate) mod scanner;
pub(crate) mod splits;
pub(crate) mod unicode;

use crate::aligned::AlignedText;
use crate::byte_level;
use crate::error::LoadError;
use crate::span::Span;
use pattern::{Dialect, Pattern, PatternError};
use scanner::Scanner;
use splits::Splits;

/// What a tokenizer does to a text before the model sees it.
#[derive(Debug, Default)]
pub(crate) struct PreTokenizer {
    pub(crate) stages: Vec<Stage>,
}

/// One step.
#[derive(Debug)]
pub(crate) enum Stage {
    /// Cuts at the matches of a pattern.
    Cut(Cut),
    /// Puts a space before a split that does not start with one (ByteLevel's `add_prefix_space`).
    PrefixSpace,
    /// Writes every byte as its printable character (the last act of ByteLevel).
    Bytes,
}

/// A pattern, and what becomes of its matches and of what lies between them.
#[derive(Debug)]
pub(crate) struct Cut {
    matcher: Matcher,
    behavior: Behavior,
    /// Exchanges matches with what lies between them.
    invert: bool,
}

#[derive(Debug)]
enum Matcher {
    Scanner(Scanner),
    Pattern(Pattern),
}

/// As `SplitDelimiterBehavior` in Hugging Face tokenizers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behavior {
    Removed,
    Isolated,
    MergedWithPrevious,
    MergedWithNext,
    Contiguous,
}

impl Cut {
    pub(crate) fn new(
        source: &str,
        dialect: Dialect,
        behavior: Behavior,
        invert: bool,
        path: &str,
    ) -> Result<Self, LoadError> {
        let matcher = match Scanner::of(source, dialect) {
            Some(scanner) => Matcher::Scanner(scanner),
            None => Matcher::Pattern(Pattern::new(source, dialect, path)?),
        };
        Ok(Self { matcher, behavior, invert })
    }

    pub(crate) fn literal(text: &str, behavior: Behavior, invert: bool, path: &str) -> Result<Self, LoadError> {
        Ok(Self { matcher: Matcher::Pattern(Pattern::literal(text, path)?), behavior, invert })
    }

    /// The words of ByteLevel's own expression.
    pub(crate) fn byte_level() -> Self {
        Self { matcher: Matcher::Scanner(Scanner::Gpt2), behavior: Behavior::Isolated, invert: false }
    }

    /// The scanner whose words are exactly what this cut yields.
    fn as_scanner(&self) -> Option<Scanner> {
        let matches_stay = match self.behavior {
            Behavior::Isolated => true,
            Behavior::Removed => self.invert,
            _ => false,
        };
        match self.matcher {
            Matcher::Scanner(scanner) if matches_stay => Some(scanner),
            _ => None,
        }
    }

    fn apply(&self, text: &AlignedText, splits: &mut Splits) -> Result<(), PatternError> {
        let mut pieces: Vec<(Span, bool)> = Vec::new();
        splits.cut(text, |text, push| {
            pieces.clear();
            self.matcher.pieces(text, &mut pieces)?;
            if self.invert {
                pieces.iter_mut().for_each(|(_, is_match)| *is_match = !*is_match);
            }
            self.behavior.join(&mut pieces);
            pieces.iter().for_each(|&(span, _)| push(span));
            Ok(())
        })
    }
}

impl Matcher {
    /// Matches and what lies between them, in order, with whether it is a match.
    fn pieces(&self, text: &str, pieces: &mut Vec<(Span, bool)>) -> Result<(), PatternError> {
        let mut covered = 0;
        let mut add = |span: Span| {
            if covered < span.start {
                pieces.push((Span { start: covered, end: span.start }, false));
            }
            pieces.push((span, true));
            covered = span.end;
        };
        match self {
            Self::Pattern(pattern) => pattern.for_each_match(text, add)?,
            Self::Scanner(scanner) => {
                let (mut at, mut ends) = (0, Vec::with_capacity(scanner::WORDS_AT_A_TIME));
                while at < text.len() {
                    let mut start = at as u32;
                    ends.clear();
                    at = scanner.scan(text, at, &mut ends);
                    for &end in &ends {
                        add(Span { start, end });
                        start = end;
                    }
                }
            }
        }
        if (covered as usize) < text.len() {
            pieces.push((Span { start: covered, end: text.len() as u32 }, false));
        }
        Ok(())
    }
}

impl Behavior {
    /// Drops and joins pieces so that what is left are the splits.
    fn join(self, pieces: &mut Vec<(Span, bool)>) {
        match self {
            Self::Isolated => {}
            Self::Removed => pieces.retain(|&(_, is_match)| !is_match),
            Self::Contiguous => pieces.dedup_by(|next, kept| {
                let same = next.1 == kept.1;
                if same {
                    kept.0.end = next.0.end;
                }
                same
            }),
            Self::MergedWithPrevious => {
                // A match joins what stands before it, unless that is a match itself.
                let mut before_is_match = pieces.first().is_some_and(|piece| piece.1);
                pieces.dedup_by(|next, kept| {
                    let joins = next.1 && !before_is_match;
                    before_is_match = next.1;
                    if joins {
                        kept.0.end = next.0.end;
                    }
                    joins
                });
            }
            Self::MergedWithNext => {
                pieces.reverse();
                let mut after_is_match = pieces.first().is_some_and(|piece| piece.1);
                pieces.dedup_by(|next, kept| {
                    let joins = next.1 && !after_is_match;
                    after_is_match = next.1;
                    if joins {
                        kept.0.start = next.0.start;
                    }
                    joins
                });
                pieces.reverse();
            }
        }
    }
}

impl PreTokenizer {
    /// The scanner that does all the work, where nothing else is to be done.
    pub(crate) fn as_scanner(&self) -> Option<Scanner> {
        match &self.stages[..] {
            [Stage::Cut(cut)] => cut.as_scanner(),
            _ => None,
        }
    }

    /// Cuts and rewrites what `splits` holds of `text`.
    pub(crate) fn apply(&self, text: &mut AlignedText, splits: &mut Splits) -> Result<(), PatternError> {
        for stage in &self.stages {
            match stage {
                Stage::Cut(cut) => cut.apply(text, splits)?,
                Stage::PrefixSpace => splits.rewrite(text, |rewriter| {
                    if !rewriter.rest().starts_with(' ') {
                        prepend(rewriter, " ");
                    }
                    rewriter.keep_bytes(rewriter.rest().len());
                }),
                Stage::Bytes => splits.rewrite(text, |rewriter| {
                    while let Some(character) = rewriter.rest().chars().next() {
                        let mut buffer = [0; 4];
                        let mut bytes = character.encode_utf8(&mut buffer).bytes();
                        let first = bytes.next().expect("a character has at least one byte");
                        rewriter.replace(byte_level::CHARACTERS[usize::from(first)]);
                        bytes.for_each(|byte| rewriter.insert(byte_level::CHARACTERS[usize::from(byte)]));
                    }
                }),
            }
        }
        Ok(())
    }
}

/// Writes `text` before what is read next; all of it, and the character it stands before, has that character's span.
fn prepend(rewriter: &mut crate::aligned::Rewriter<'_>, text: &str) {
    let Some(first) = rewriter.rest().chars().next() else { return };
    let mut characters = text.chars();
    let Some(put_first) = characters.next() else { return };
    rewriter.replace(put_first);
    characters.for_each(|character| rewriter.insert(character));
    rewriter.insert(first);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(behavior: Behavior, pieces: &[(u32, u32, bool)]) -> Vec<(u32, u32)> {
        let mut pieces: Vec<_> = pieces.iter().map(|&(start, end, is)| (Span { start, end }, is)).collect();
        behavior.join(&mut pieces);
        pieces.iter().map(|(span, _)| (span.start, span.end)).collect()
    }

    #[test]
    fn behaviors_join_as_the_reference_does() {
        // "the-final--countdown", cut at "-": the reference's own example
        let pieces = [(0, 3, false), (3, 4, true), (4, 9, false), (9, 10, true), (10, 11, true), (11, 20, false)];
        let cases: [(Behavior, &[(u32, u32)]); 5] = [
            (Behavior::Removed, &[(0, 3), (4, 9), (11, 20)]),
            (Behavior::Isolated, &[(0, 3), (3, 4), (4, 9), (9, 10), (10, 11), (11, 20)]),
            (Behavior::MergedWithPrevious, &[(0, 4), (4, 10), (10, 11), (11, 20)]),
            (Behavior::MergedWithNext, &[(0, 3), (3, 9), (9, 10), (10, 20)]),
            (Behavior::Contiguous, &[(0, 3), (3, 4), (4, 9), (9, 11), (11, 20)]),
        ];
        for (behavior, expected) in cases {
            assert_eq!(joined(behavior, &pieces), expected, "{behavior:?}");
        }
        // A match at the edge has nothing to join.
        assert_eq!(
            joined(Behavior::MergedWithPrevious, &[(0, 1, true), (1, 2, true), (2, 3, false)]),
            [(0, 1), (1, 2), (2, 3)]
        );
        assert_eq!(joined(Behavior::MergedWithNext, &[(0, 1, false), (1, 2, true)]), [(0, 1), (1, 2)]);
    }
}
