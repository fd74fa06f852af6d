//! Character classes at which pre-tokenizers split, and the words of the pre-tokenizer Whitespace.

use super::unicode::{CLASSES, NUMERIC};
use crate::categories::is_punctuation;
use crate::span::Span;

/// A class of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CharClass {
    /// This character.
    Is(char),
    /// The property White_Space.
    Space,
    /// The general category N in Unicode 17, as in the reference.
    Number,
    /// ASCII punctuation and symbols, and outside of ASCII the general category P in the old
    /// Unicode version of [`crate::categories`], as in the reference.
    Punctuation,
}

impl CharClass {
    #[inline]
    pub(crate) fn contains(self, character: char) -> bool {
        match self {
            Self::Is(wanted) => character == wanted,
            Self::Space => character.is_whitespace(),
            Self::Number => CLASSES.of(character) & NUMERIC != 0,
            Self::Punctuation if character.is_ascii() => character.is_ascii_punctuation(),
            Self::Punctuation => is_punctuation(character),
        }
    }
}

/// Calls `found` with each match of `\w+|[^\w\s]+`.
pub(super) fn for_each_word(text: &str, mut found: impl FnMut(Span)) {
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let kind = CharacterKind::of(first);
        let rest = &text[start..];
        let end = start + rest.find(|character| CharacterKind::of(character) != kind).unwrap_or(rest.len());
        if kind != CharacterKind::Space {
            found(Span::new(start, end));
        }
        start = end;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharacterKind {
    Word,
    Space,
    Other,
}

impl CharacterKind {
    fn of(character: char) -> Self {
        if is_word(character) {
            Self::Word
        } else if character.is_whitespace() {
            Self::Space
        } else {
            Self::Other
        }
    }
}

/// The class `\w` of the regex crate.
fn is_word(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_alphanumeric() || character == '_'
    } else {
        regex_syntax::is_word_character(character)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Dialect, Pattern};
    use crate::testdata::{CHARACTER_CLASSES, ranges};
    use proptest::prelude::*;

    #[test]
    fn the_classes_are_those_of_the_reference() {
        let reference = &CHARACTER_CLASSES["hf"];
        for (class, name) in [(CharClass::Space, "char::is_whitespace"), (CharClass::Punctuation, "Punctuation")] {
            assert_eq!(ranges(|c| class.contains(c)), reference[name], "{name}");
        }
        // Recorded from the reference: the number of characters at which Digits splits.
        assert_eq!(('\0'..=char::MAX).filter(|&c| CharClass::Number.contains(c)).count(), 1924);
    }

    #[test]
    fn word_characters_are_those_of_the_regular_expression() {
        assert_eq!(ranges(is_word), CHARACTER_CLASSES["tiktoken"]["\\w"]);
    }

    proptest! {
        #[test]
        fn words_are_the_matches_of_the_pattern(text in "[a_0½é'. \n\u{301}\u{200d}中\\PC]{0,16}") {
            let pattern = Pattern::new(r"\w+|[^\w\s]+", Dialect::FancyRegex).expect("it compiles");
            let (mut expected, mut words) = (vec![], vec![]);
            pattern.for_each_match(&text, &mut crate::budget::Budget::of_text(text.len()).pattern_steps, |span| expected.push(span)).expect("it is easy");
            for_each_word(&text, |span| words.push(span));
            prop_assert_eq!(words, expected);
        }
    }
}
