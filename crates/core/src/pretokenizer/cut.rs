//! Stages that split: a matcher, and a behavior that says what becomes of the matches and of the
//! text between them.

use super::char_class::{self, CharClass};
use super::scanner::Scanner;
use super::scripts;
use super::splits::Splits;
use crate::aligned::AlignedText;
use crate::budget::Budget;
use crate::error::LoadError;
use crate::memory::fallible::push;
use crate::pattern::{Dialect, Pattern, PatternError};
use crate::span::Span;

/// A matcher, and what becomes of its matches and of the text between them.
#[derive(Debug)]
pub(crate) struct Cut {
    matcher: CutAt,
    behavior: Behavior,
    /// Whether matches and the text between them are swapped.
    invert: bool,
}

#[derive(Debug)]
enum CutAt {
    Scanner(Scanner),
    Pattern(Pattern),
    /// Each single character of a class.
    Characters(CharClass),
    /// Runs of word characters, and runs of other characters that are not white space.
    Words,
    /// Runs of one script.
    Scripts,
    /// Pieces of this many characters, never 0.
    Length(usize),
}

/// `SplitDelimiterBehavior` of Hugging Face tokenizers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behavior {
    Removed,
    Isolated,
    MergedWithPrevious,
    MergedWithNext,
    Contiguous,
}

impl Cut {
    /// Whether a match may be empty; true if that is not known.
    pub(crate) fn can_be_empty(&self) -> bool {
        matches!(&self.matcher, CutAt::Pattern(pattern) if pattern.can_be_empty())
    }

    pub(crate) fn new(
        source: &str,
        dialect: Dialect,
        behavior: Behavior,
        invert: bool,
        path: &str,
    ) -> Result<Self, LoadError> {
        let matcher = match Scanner::of(source, dialect) {
            Some(scanner) => CutAt::Scanner(scanner),
            None => {
                CutAt::Pattern(Pattern::new(source, dialect).map_err(|error| LoadError::pattern(path, source, error))?)
            }
        };
        Ok(Self { matcher, behavior, invert })
    }

    pub(crate) fn pattern(pattern: Pattern, behavior: Behavior, invert: bool) -> Self {
        Self { matcher: CutAt::Pattern(pattern), behavior, invert }
    }

    pub(crate) fn characters(class: CharClass, behavior: Behavior) -> Self {
        Self { matcher: CutAt::Characters(class), behavior, invert: false }
    }

    /// Whitespace: the words are the matches of `\w+|[^\w\s]+`, as the regex crate defines them.
    pub(crate) fn words() -> Self {
        Self { matcher: CutAt::Words, behavior: Behavior::Removed, invert: true }
    }

    /// UnicodeScripts. As in the reference, the text before the first character with a script is
    /// dropped.
    pub(crate) fn scripts() -> Self {
        Self { matcher: CutAt::Scripts, behavior: Behavior::Removed, invert: true }
    }

    /// FixedLength: words of `characters` characters; the last one may be shorter.
    pub(crate) fn length(characters: usize) -> Self {
        Self { matcher: CutAt::Length(characters.max(1)), behavior: Behavior::Isolated, invert: false }
    }

    /// Splits by the regular expression of ByteLevel.
    pub(crate) fn byte_level() -> Self {
        Self { matcher: CutAt::Scanner(Scanner::GPT2), behavior: Behavior::Isolated, invert: false }
    }

    /// Whether a text without `character` is certainly not split.
    pub(crate) fn is_unchanged_without(&self, character: char) -> bool {
        let CutAt::Pattern(pattern) = &self.matcher else { return false };
        !self.invert && pattern.as_string().is_some_and(|sought| sought.contains(character))
    }

    /// Whether words start exactly at each `character` (and at the start of the text).
    pub(crate) fn starts_words_at(&self, character: char) -> bool {
        matches!(self.matcher, CutAt::Characters(CharClass::Is(sought)) if sought == character)
            && self.behavior == Behavior::MergedWithNext
            && !self.invert
    }

    /// Whether this stage splits at white space and drops it.
    pub(crate) fn removes_white_space(&self) -> bool {
        matches!(self.matcher, CutAt::Characters(CharClass::Space))
            && self.behavior == Behavior::Removed
            && !self.invert
    }

    /// Whether two consecutive stages are those of BertPreTokenizer.
    pub(crate) fn are_bert(first: &Self, second: &Self) -> bool {
        let is = |cut: &Self, class: CharClass, behavior: Behavior| {
            matches!(cut.matcher, CutAt::Characters(found) if found == class) && cut.behavior == behavior && !cut.invert
        };
        is(first, CharClass::Space, Behavior::Removed) && is(second, CharClass::Punctuation, Behavior::Isolated)
    }

    /// The scanner whose words are exactly those of this stage, if there is one.
    pub(super) fn as_scanner(&self) -> Option<Scanner> {
        let matches_stay = match self.behavior {
            Behavior::Isolated => true,
            Behavior::Removed => self.invert,
            _ => false,
        };
        match self.matcher {
            CutAt::Scanner(scanner) if matches_stay => Some(scanner),
            _ => None,
        }
    }

    /// Whether a part of the text may be dropped.
    pub(super) fn drops(&self) -> bool {
        self.behavior == Behavior::Removed && self.as_scanner().is_none()
    }

    /// Whether where this stage splits depends on near characters only.
    pub(super) fn is_local(&self) -> bool {
        match &self.matcher {
            CutAt::Scanner(_) | CutAt::Characters(_) | CutAt::Words | CutAt::Length(_) => true,
            CutAt::Pattern(pattern) => pattern.as_string().is_some_and(|sought| sought.chars().count() == 1),
            CutAt::Scripts => false,
        }
    }

    /// Whether a character stays in the text wherever it is. False if that is not known.
    pub(super) fn keeps(&self, character: char) -> bool {
        if !self.drops() {
            return true;
        }
        match &self.matcher {
            CutAt::Characters(class) => class.contains(character) == self.invert,
            CutAt::Words => self.invert && !character.is_whitespace(),
            CutAt::Pattern(pattern) if self.invert => pattern.matches_anywhere(character),
            CutAt::Pattern(pattern) => pattern.as_string().is_some_and(|sought| !sought.contains(character)),
            CutAt::Scanner(_) | CutAt::Scripts | CutAt::Length(_) => false,
        }
    }

    /// Whether this stage makes each digit a word of its own and keeps the rest.
    pub(super) fn is_every_digit(&self) -> bool {
        matches!(self.matcher, CutAt::Characters(CharClass::Number))
            && self.behavior == Behavior::Isolated
            && !self.invert
    }

    /// The regular expression of this stage, if its matches become words and the rest is kept.
    pub(super) fn as_isolated_pattern(&self) -> Option<&str> {
        match &self.matcher {
            CutAt::Pattern(pattern) if self.behavior == Behavior::Isolated && !self.invert => pattern.as_regex(),
            _ => None,
        }
    }

    /// Splits at the matches of a regular expression by the general engine, even if there is a
    /// scanner for it.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn by_regex(source: &str, dialect: Dialect, behavior: Behavior) -> Self {
        Self::pattern(Pattern::new(source, dialect).expect("the pattern compiles"), behavior, false)
    }

    /// The same stage as loaded from a file, which uses a scanner if there is one.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn as_loaded(&self) -> Self {
        match &self.matcher {
            CutAt::Pattern(pattern) => {
                let source = pattern.as_regex().expect("a regular expression");
                Self::new(source, Dialect::Oniguruma, self.behavior, self.invert, "test").expect("it compiled before")
            }
            &CutAt::Characters(class) => Self { matcher: CutAt::Characters(class), ..*self },
            _ => unreachable!("no test asks for others"),
        }
    }

    /// The steps of work to read a text of `bytes` bytes once, for [`Budget::work`].
    pub(super) fn work(&self, bytes: usize) -> usize {
        if matches!(self.matcher, CutAt::Scripts) { bytes } else { bytes / 4 }
    }

    pub(super) fn apply(
        &self,
        text: &AlignedText,
        splits: &mut Splits,
        budget: &mut Budget,
    ) -> Result<(), PatternError> {
        let mut pieces: Vec<(Span, bool)> = Vec::new();
        splits.cut(text, |text, push| {
            pieces.clear();
            self.matcher.pieces(text, budget, &mut pieces)?;
            if self.invert {
                pieces.iter_mut().for_each(|(_, is_match)| *is_match = !*is_match);
            }
            self.behavior.join(&mut pieces);
            pieces.iter().for_each(|&(span, _)| push(span));
            Ok(())
        })
    }
}

impl CutAt {
    /// Appends the matches and the text between them, in order; the flag says whether a piece is a
    /// match.
    fn pieces(&self, text: &str, budget: &mut Budget, pieces: &mut Vec<(Span, bool)>) -> Result<(), PatternError> {
        let mut covered = 0;
        let mut add = |span: Span| {
            if covered < span.start {
                push(pieces, (Span { start: covered, end: span.start }, false));
            }
            push(pieces, (span, true));
            covered = span.end;
        };
        match self {
            Self::Pattern(pattern) => pattern.for_each_match(text, &mut budget.pattern_steps, add)?,
            Self::Characters(class) => text
                .char_indices()
                .filter(|&(_, character)| class.contains(character))
                .for_each(|(at, character)| add(Span::new(at, at + character.len_utf8()))),
            Self::Words => char_class::for_each_word(text, add),
            Self::Scripts => scripts::for_each_run(text, add),
            Self::Length(characters) => {
                let mut start = 0;
                while start < text.len() {
                    let rest = &text[start..];
                    let len = rest.char_indices().nth(*characters).map_or(rest.len(), |(at, _)| at);
                    add(Span::new(start, start + len));
                    start += len;
                }
            }
            Self::Scanner(scanner) => {
                let (mut at, mut ends) = (0, Vec::with_capacity(crate::pretokenizer::scanner::WORDS_AT_A_TIME));
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
            push(pieces, (Span { start: covered, end: text.len() as u32 }, false));
        }
        Ok(())
    }
}

impl Behavior {
    /// Drops and merges pieces according to the behavior. The remaining pieces are the splits.
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
            Self::MergedWithPrevious => join_matches(pieces, |kept, next| kept.end = next.end),
            Self::MergedWithNext => {
                pieces.reverse();
                join_matches(pieces, |kept, next| kept.start = next.start);
                pieces.reverse();
            }
        }
    }
}

/// Merges each match into the piece before it, unless that piece is a match itself. `join` extends
/// the first span by the second.
fn join_matches(pieces: &mut Vec<(Span, bool)>, join: impl Fn(&mut Span, Span)) {
    let mut before_is_match = pieces.first().is_some_and(|piece| piece.1);
    pieces.dedup_by(|next, kept| {
        let joins = next.1 && !before_is_match;
        before_is_match = next.1;
        if joins {
            join(&mut kept.0, next.0);
        }
        joins
    });
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
        // The example of the reference: "the-final--countdown" split at "-".
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
        // A match at the start or end has no piece to be merged into.
        assert_eq!(
            joined(Behavior::MergedWithPrevious, &[(0, 1, true), (1, 2, true), (2, 3, false)]),
            [(0, 1), (1, 2), (2, 3)]
        );
        assert_eq!(joined(Behavior::MergedWithNext, &[(0, 1, false), (1, 2, true)]), [(0, 1), (1, 2)]);
    }

    fn words(cut: &Cut, text: &str) -> Vec<String> {
        let (mut aligned, mut splits) = (AlignedText::default(), Splits::default());
        aligned.start(text, 0, false);
        splits.start(Span::new(0, text.len()));
        cut.apply(&aligned, &mut splits, &mut Budget::of_text(text.len())).expect("no test text is hard");
        splits.spans().iter().map(|span| text[span.range()].to_owned()).collect()
    }

    #[test]
    fn every_kind_of_cut() {
        use Behavior::{Contiguous, Isolated, MergedWithNext, Removed};
        let cases: [(Cut, &str, &[&str]); 9] = [
            (Cut::characters(CharClass::Is('-'), Removed), "a--b-", &["a", "b"]),
            (Cut::characters(CharClass::Number, Isolated), "a12½b", &["a", "1", "2", "½", "b"]),
            (Cut::characters(CharClass::Number, Contiguous), "a12½b", &["a", "12½", "b"]),
            (Cut::characters(CharClass::Space, Removed), "\u{3000}a \n", &["a"]),
            (Cut::characters(CharClass::Punctuation, Isolated), "a$«b", &["a", "$", "«", "b"]),
            (Cut::characters(CharClass::Is('▁'), MergedWithNext), "a▁▁b", &["a", "▁", "▁b"]),
            (Cut::words(), "don't  é½", &["don", "'", "t", "é", "½"]),
            (Cut::length(2), "aébcd", &["aé", "bc", "d"]),
            // The space before the first word is dropped; the other spaces belong to the run before
            // them.
            (Cut::scripts(), " ab カな漢ー г", &["ab ", "カな漢ー ", "г"]),
        ];
        for (cut, text, expected) in cases {
            assert_eq!(words(&cut, text), expected, "{cut:?}");
        }
        assert_eq!(words(&Cut::scripts(), "  "), [""; 0]);
    }

    #[test]
    fn a_string_that_is_empty_matches_between_all_characters() {
        let empty = Cut::pattern(Pattern::literal("").expect("it compiles"), Behavior::Isolated, false);
        assert_eq!(words(&empty, "aé"), ["a", "é"]);
    }
}
