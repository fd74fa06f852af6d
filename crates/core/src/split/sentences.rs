//! The ends of sentences by the rules of Unicode (UAX #29), in one pass, with one exception: a full
//! stop after a single capital letter, as in `J. R. R. Tolkien` or `U.S. Army`, ends no sentence.

use std::sync::LazyLock;

use crate::categories::Classes;

/// The Sentence_Break property of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BreakClass {
    Other,
    CarriageReturn,
    LineFeed,
    Separator,
    /// Extend and Format: they belong to the previous character.
    Extend,
    Space,
    Lower,
    Upper,
    OtherLetter,
    Number,
    /// ATerm: a full stop, which does not always end a sentence.
    Stop,
    Continue,
    /// STerm: a character that ends a sentence, such as `!`.
    End,
    Close,
}

/// The values of the Unicode property Sentence_Break, with their classes. The table of characters
/// has indices in this list.
const BREAK_CLASS_NAMES: [(&str, BreakClass); 15] = [
    ("Other", BreakClass::Other),
    ("CR", BreakClass::CarriageReturn),
    ("LF", BreakClass::LineFeed),
    ("Sep", BreakClass::Separator),
    ("Extend", BreakClass::Extend),
    ("Format", BreakClass::Extend),
    ("Sp", BreakClass::Space),
    ("Lower", BreakClass::Lower),
    ("Upper", BreakClass::Upper),
    ("OLetter", BreakClass::OtherLetter),
    ("Numeric", BreakClass::Number),
    ("ATerm", BreakClass::Stop),
    ("SContinue", BreakClass::Continue),
    ("STerm", BreakClass::End),
    ("Close", BreakClass::Close),
];

impl BreakClass {
    fn of(character: char) -> Self {
        BREAK_CLASS_NAMES[usize::from(INDICES.of(character))].1
    }

    fn ends_paragraph(self) -> bool {
        matches!(self, Self::CarriageReturn | Self::LineFeed | Self::Separator)
    }
}

/// For each character the index of its class, built when the first text is split.
static INDICES: LazyLock<Classes> = LazyLock::new(|| {
    let pattern = |(index, &(name, _)): (u8, &(&str, BreakClass))| (format!(r"\p{{Sentence_Break={name}}}"), index);
    // The first class is that of all other characters, which has no pattern.
    Classes::new((0..).zip(&BREAK_CLASS_NAMES).skip(1).map(pattern))
});

/// The part of the text before the current position that the rules need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    CarriageReturn,
    LineBreak,
    /// A letter with case. `is_initial` says that it is a capital, and the first letter of a word.
    Letter {
        is_initial: bool,
    },
    Other {
        in_word: bool,
    },
    /// A character that ends a sentence, and the characters that may follow it.
    End {
        is_stop: bool,
        preceding: Preceding,
        part: EndPart,
    },
}

/// What precedes a character that ends a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Preceding {
    Letter,
    /// A capital letter that is a word of its own.
    Initial,
    Other,
}

/// The position within the end of a sentence: the mark itself, then quotes and brackets, then
/// spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum EndPart {
    Mark,
    Closes,
    Spaces,
}

/// Iterates over the ends of a text's sentences.
#[derive(Debug)]
pub(super) struct Ends<'a> {
    text: &'a str,
    at: usize,
    before: Before,
    /// The first character that decides whether a full stop ends a sentence: the position at which
    /// the search started, the position of the character, and whether it is lowercase.
    decisive: (usize, usize, bool),
}

impl<'a> Ends<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, before: Before::Nothing, decisive: (1, 0, false) }
    }

    /// The next end of a sentence, if it is at or before `max`. The end of the text does not
    /// count.
    pub(super) fn next_up_to(&mut self, max: usize) -> Option<usize> {
        while self.at <= max
            && let Some(character) = self.text[self.at..].chars().next()
        {
            if self.skip_plain(max) {
                continue;
            }
            let (at, class) = (self.at, BreakClass::of(character));
            let is_end = self.is_end_before(class);
            self.advance(class, is_end);
            self.at += character.len_utf8();
            if is_end {
                return Some(at);
            }
        }
        None
    }

    /// Skips ASCII characters that end neither a sentence nor a paragraph, all but the last of
    /// them. Returns false if there is none to skip.
    fn skip_plain(&mut self, max: usize) -> bool {
        if !matches!(self.before, Before::Nothing | Before::Letter { .. } | Before::Other { .. }) {
            return false;
        }
        let bytes = &self.text.as_bytes()[self.at..];
        let near = &bytes[..bytes.len().min((max - self.at).saturating_add(1))];
        let run = plain_run(near);
        if run < 2 {
            return false;
        }
        self.at += run - 1;
        self.before = Before::Other { in_word: bytes[run - 2].is_ascii_alphanumeric() };
        true
    }

    /// Whether a sentence ends before the current character. The comments name the rules.
    fn is_end_before(&mut self, class: BreakClass) -> bool {
        match self.before {
            Before::Nothing => false,
            Before::CarriageReturn => class != BreakClass::LineFeed, // SB3, SB4
            Before::LineBreak => true,                               // SB4
            _ if class == BreakClass::Extend => false,               // SB5
            Before::Letter { .. } | Before::Other { .. } => false,   // SB998
            Before::End { is_stop: true, preceding: Preceding::Initial, part: EndPart::Spaces } => {
                // The exception. Only the end of a paragraph ends the sentence here.
                false
            }
            Before::End { is_stop, preceding, part } => {
                let follows_letter = preceding != Preceding::Other;
                let continues = match class {
                    BreakClass::Number => is_stop && part == EndPart::Mark, // SB6
                    BreakClass::Upper => is_stop && follows_letter && part == EndPart::Mark, // SB7
                    BreakClass::Continue | BreakClass::End | BreakClass::Stop => true, // SB8a
                    BreakClass::Close => part <= EndPart::Closes,           // SB9
                    BreakClass::Space => true,                              // SB9, SB10
                    class => class.ends_paragraph(),                        // SB9, SB10
                };
                !(continues || is_stop && self.small_letter_follows()) // SB8, SB11
            }
        }
    }

    /// SB8: whether the next letter, line break or end of a sentence is a lowercase letter.
    fn small_letter_follows(&mut self) -> bool {
        let (from, position, is_lower) = self.decisive;
        if (from..=position).contains(&self.at) {
            return is_lower;
        }
        let mut position = self.text.len();
        let mut is_lower = false;
        for (offset, character) in self.text[self.at..].char_indices() {
            let class = BreakClass::of(character);
            let decides = matches!(
                class,
                BreakClass::Lower | BreakClass::Upper | BreakClass::OtherLetter | BreakClass::Stop | BreakClass::End
            ) || class.ends_paragraph();
            if decides {
                (position, is_lower) = (self.at + offset, class == BreakClass::Lower);
                break;
            }
        }
        self.decisive = (self.at, position, is_lower);
        is_lower
    }

    /// Advances past the current character.
    fn advance(&mut self, class: BreakClass, is_end: bool) {
        let before = if is_end { Before::Nothing } else { self.before };
        let end = |is_stop| {
            let preceding = match before {
                Before::Letter { is_initial: true } => Preceding::Initial,
                Before::Letter { is_initial: false } => Preceding::Letter,
                _ => Preceding::Other,
            };
            Before::End { is_stop, preceding, part: EndPart::Mark }
        };
        let in_word = matches!(before, Before::Letter { .. } | Before::Other { in_word: true });
        self.before = match (class, before) {
            (BreakClass::Extend, Before::Nothing) => Before::Other { in_word: false },
            (BreakClass::Extend, before) => before,
            (BreakClass::CarriageReturn, _) => Before::CarriageReturn,
            (BreakClass::LineFeed | BreakClass::Separator, _) => Before::LineBreak,
            (BreakClass::Lower, _) => Before::Letter { is_initial: false },
            (BreakClass::Upper, _) => Before::Letter { is_initial: !in_word },
            (BreakClass::Stop, _) => end(true),
            (BreakClass::End, _) => end(false),
            (BreakClass::Close, Before::End { is_stop, preceding, part }) if part <= EndPart::Closes => {
                // After a bracket or a quotation mark a full stop ends a sentence as usual.
                let preceding = if preceding == Preceding::Initial { Preceding::Letter } else { preceding };
                Before::End { is_stop, preceding, part: EndPart::Closes }
            }
            (BreakClass::Space, Before::End { is_stop, preceding, .. }) => {
                Before::End { is_stop, preceding, part: EndPart::Spaces }
            }
            (BreakClass::Number | BreakClass::OtherLetter, _) => Before::Other { in_word: true },
            _ => Before::Other { in_word: false },
        };
    }
}

/// The number of ASCII characters at the start that end neither a sentence nor a paragraph.
fn plain_run(bytes: &[u8]) -> usize {
    /// The compiler compares this many bytes at once, as there is no branch among them.
    const AT_ONCE: usize = 16;
    let ends = |byte: u8| b".!?\r\n".iter().fold(byte & 0x80, |any, &end| any | u8::from(byte == end));
    let is_plain = |block: &&[u8]| block.iter().fold(0, |any, &byte| any | ends(byte)) == 0;
    let plain = AT_ONCE * bytes.chunks_exact(AT_ONCE).take_while(is_plain).count();
    plain + bytes[plain..].iter().take_while(|&&byte| ends(byte) == 0).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    fn ends(text: &str) -> Vec<usize> {
        let mut ends = Ends::new(text);
        std::iter::from_fn(|| ends.next_up_to(usize::MAX)).collect()
    }

    /// The sentence ends of another implementation, to compare with, except those after initials.
    fn ends_by_library(text: &str) -> Vec<usize> {
        let ends = text.split_sentence_bound_indices().map(|(at, _)| at).skip(1);
        ends.filter(|&end| !is_after_initial(&text[..end])).collect()
    }

    /// Whether a text ends with a capital letter that is a word, a full stop and spaces.
    fn is_after_initial(text: &str) -> bool {
        let classes: Vec<BreakClass> =
            text.chars().map(BreakClass::of).filter(|&class| class != BreakClass::Extend).collect();
        let spaces = classes.iter().rev().take_while(|&&class| class == BreakClass::Space).count();
        let (word, rest) = match &classes[..classes.len() - spaces] {
            [before @ .., BreakClass::Upper, BreakClass::Stop] => (before.last(), spaces > 0),
            _ => return false,
        };
        rest && !matches!(
            word,
            Some(BreakClass::Lower | BreakClass::Upper | BreakClass::Number | BreakClass::OtherLetter)
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn sentences_end_where_another_implementation_of_the_rules_says(
            text in "[a-cA-C1-3.!?。 )\"'(,:\\-\r\n\u{85}\u{2028}\u{a0}\u{301}\u{ad}\u{200d}中あ٣#é]{0,16}",
        ) {
            prop_assert_eq!(ends(&text), ends_by_library(&text), "{:?}", text);
        }
    }

    #[test]
    fn no_sentence_ends_after_an_initial() {
        let text = "By J. R. R. Tolkien. The U.S. Army (plan B.) Next. É. Zola and 4B. Then \"A.\" Then C.\nD";
        let sentences: Vec<&str> =
            std::iter::once(0).chain(ends(text)).zip(ends(text)).map(|(a, b)| &text[a..b]).collect();
        let expected = [
            "By J. R. R. Tolkien. ",
            "The U.S. Army (plan B.) ",
            "Next. ",
            "É. Zola and 4B. ",
            "Then \"A.\" ",
            "Then C.\n",
        ];
        assert_eq!(sentences, expected);
    }

    #[test]
    fn ends_are_found_in_any_order_of_requests() {
        let text = "One. Two etc. and more! (Three?) 4.5 and E.U. Law. \r\n\u{301}Last";
        let all = ends(text);
        assert!(all.len() >= 4, "{all:?}");
        for max in 0..=text.len() {
            let mut some = Ends::new(text);
            let mut found: Vec<usize> = std::iter::from_fn(|| some.next_up_to(max)).collect();
            assert_eq!(found, all.iter().copied().filter(|&end| end <= max).collect::<Vec<_>>(), "{max}");
            found.extend(std::iter::from_fn(|| some.next_up_to(usize::MAX)));
            assert_eq!(found, all);
        }
    }

    #[test]
    fn the_text_after_a_full_stop_is_searched_once() {
        let text = format!("a. {}", "1 ) ".repeat(100_000));
        let mut ends = Ends::new(&text);
        assert_eq!(ends.next_up_to(usize::MAX), Some(3));
        let spaces = format!("a.{}b", " ".repeat(400_000));
        assert!(self::ends(&spaces).is_empty());
        let mut found = Ends::new(&spaces);
        assert_eq!(found.next_up_to(10), None);
        assert_eq!(found.decisive, (1, 0, false), "nothing searched whether a small letter follows the spaces");
    }
}
