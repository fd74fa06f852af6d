//! Stages that cut: something that finds matches, and what becomes of the matches and of what lies between them.

use super::letters::{self, Letter};
use super::scanner::Scanner;
use super::scripts;
use super::splits::Splits;
use crate::aligned::AlignedText;
use crate::budget::Budget;
use crate::error::LoadError;
use crate::memory::fallible::push;
use crate::pattern::{Dialect, Pattern, PatternError};
use crate::span::Span;

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
    /// Every single character of a class.
    Letter(Letter),
    /// Runs of word characters and runs of what is neither that nor white space.
    Words,
    /// Runs of one script.
    Scripts,
    /// So many characters at a time, never 0.
    Length(usize),
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

    pub(crate) fn pattern(pattern: Pattern, behavior: Behavior, invert: bool) -> Self {
        Self { matcher: Matcher::Pattern(pattern), behavior, invert }
    }

    pub(crate) fn letter(letter: Letter, behavior: Behavior) -> Self {
        Self { matcher: Matcher::Letter(letter), behavior, invert: false }
    }

    /// Whitespace: `\w+|[^\w\s]+` as the regex crate reads it; these are the words.
    pub(crate) fn words() -> Self {
        Self { matcher: Matcher::Words, behavior: Behavior::Removed, invert: true }
    }

    /// UnicodeScripts. What comes before the first character that has a script goes, for so it does in the reference.
    pub(crate) fn scripts() -> Self {
        Self { matcher: Matcher::Scripts, behavior: Behavior::Removed, invert: true }
    }

    /// FixedLength: words of so many characters, the last one may have fewer.
    pub(crate) fn length(characters: usize) -> Self {
        Self { matcher: Matcher::Length(characters.max(1)), behavior: Behavior::Isolated, invert: false }
    }

    /// The words of ByteLevel's own expression.
    pub(crate) fn byte_level() -> Self {
        Self { matcher: Matcher::Scanner(Scanner::GPT2), behavior: Behavior::Isolated, invert: false }
    }

    /// Whether a text without `character` stays in one piece.
    pub(crate) fn is_idle_without(&self, character: char) -> bool {
        let Matcher::Pattern(pattern) = &self.matcher else { return false };
        !self.invert && pattern.as_string().is_some_and(|sought| sought.contains(character))
    }

    /// Whether a word starts at each `character` and nowhere else.
    pub(crate) fn starts_words_at(&self, character: char) -> bool {
        matches!(self.matcher, Matcher::Letter(Letter::Is(sought)) if sought == character)
            && self.behavior == Behavior::MergedWithNext
            && !self.invert
    }

    /// Whether this splits at white space and drops it.
    pub(crate) fn removes_white_space(&self) -> bool {
        matches!(self.matcher, Matcher::Letter(Letter::Space)) && self.behavior == Behavior::Removed && !self.invert
    }

    /// Whether two consecutive cuts are those of BertPreTokenizer.
    pub(crate) fn are_bert(first: &Self, second: &Self) -> bool {
        let is = |cut: &Self, letter: Letter, behavior: Behavior| {
            matches!(cut.matcher, Matcher::Letter(found) if found == letter) && cut.behavior == behavior && !cut.invert
        };
        is(first, Letter::Space, Behavior::Removed) && is(second, Letter::Punctuation, Behavior::Isolated)
    }

    /// The scanner whose words are exactly what this cut yields.
    pub(super) fn as_scanner(&self) -> Option<Scanner> {
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

    /// Whether text can get lost.
    pub(super) fn drops(&self) -> bool {
        self.behavior == Behavior::Removed && self.as_scanner().is_none()
    }

    /// Whether this cuts every digit out as a word of its own, and leaves the rest.
    pub(super) fn is_every_digit(&self) -> bool {
        matches!(self.matcher, Matcher::Letter(Letter::Number)) && self.behavior == Behavior::Isolated && !self.invert
    }

    /// The regular expression whose matches this cuts out as words of their own, leaving the rest.
    pub(super) fn as_isolated_pattern(&self) -> Option<&str> {
        match &self.matcher {
            Matcher::Pattern(pattern) if self.behavior == Behavior::Isolated && !self.invert => pattern.as_regex(),
            _ => None,
        }
    }

    /// Cuts at the matches of a regular expression by the general path, whether there is a scanner for it or not.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn by_regex(source: &str, dialect: Dialect, behavior: Behavior) -> Self {
        Self::pattern(Pattern::new(source, dialect, "test").expect("the pattern compiles"), behavior, false)
    }

    /// The same cut as a file would load it, with a scanner where there is one.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn as_loaded(&self) -> Self {
        match &self.matcher {
            Matcher::Pattern(pattern) => {
                let source = pattern.as_regex().expect("a regular expression");
                Self::new(source, Dialect::Oniguruma, self.behavior, self.invert, "test").expect("it compiled before")
            }
            &Matcher::Letter(letter) => Self { matcher: Matcher::Letter(letter), ..*self },
            _ => unreachable!("no test asks for others"),
        }
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

impl Matcher {
    /// Matches and what lies between them, in order, with whether it is a match.
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
            Self::Pattern(pattern) => pattern.for_each_match(text, budget, add)?,
            Self::Letter(letter) => text
                .char_indices()
                .filter(|&(_, character)| letter.contains(character))
                .for_each(|(at, character)| add(Span::new(at, at + character.len_utf8()))),
            Self::Words => letters::for_each_word(text, add),
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
            Self::MergedWithPrevious => join_matches(pieces, |kept, next| kept.end = next.end),
            Self::MergedWithNext => {
                pieces.reverse();
                join_matches(pieces, |kept, next| kept.start = next.start);
                pieces.reverse();
            }
        }
    }
}

/// Every match joins the piece before it, unless that is a match itself; `join` makes one span of the two.
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
            (Cut::letter(Letter::Is('-'), Removed), "a--b-", &["a", "b"]),
            (Cut::letter(Letter::Number, Isolated), "a12½b", &["a", "1", "2", "½", "b"]),
            (Cut::letter(Letter::Number, Contiguous), "a12½b", &["a", "12½", "b"]),
            (Cut::letter(Letter::Space, Removed), "\u{3000}a \n", &["a"]),
            (Cut::letter(Letter::Punctuation, Isolated), "a$«b", &["a", "$", "«", "b"]),
            (Cut::letter(Letter::Is('▁'), MergedWithNext), "a▁▁b", &["a", "▁", "▁b"]),
            (Cut::words(), "don't  é½", &["don", "'", "t", "é", "½"]),
            (Cut::length(2), "aébcd", &["aé", "bc", "d"]),
            // The space before the first word goes, the others stay with what they follow.
            (Cut::scripts(), " ab カな漢ー г", &["ab ", "カな漢ー ", "г"]),
        ];
        for (cut, text, expected) in cases {
            assert_eq!(words(&cut, text), expected, "{cut:?}");
        }
        assert_eq!(words(&Cut::scripts(), "  "), [""; 0]);
    }

    #[test]
    fn a_string_that_is_empty_matches_between_all_characters() {
        let empty = Cut::pattern(Pattern::literal("", "test").expect("it compiles"), Behavior::Isolated, false);
        assert_eq!(words(&empty, "aé"), ["a", "é"]);
    }
}
