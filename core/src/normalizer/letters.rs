//! Normalizers that look at one character at a time: each says what it makes of a character, and the text is walked once.

use unicode_categories::UnicodeCategories;
use unicode_normalization_alignments::char::is_combining_mark;

use crate::aligned::{AlignedText, Rewriter};
use crate::byte_level;

/// A rule for single characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Letters {
    /// `clean_text` of BertNormalizer: control characters go, white space becomes a space.
    Clean,
    /// `handle_chinese_chars` of BertNormalizer: a space on either side of an ideograph.
    SpacesAroundIdeographs,
    /// `strip_accents` of BertNormalizer, after NFD: nonspacing marks go.
    NoNonspacingMarks,
    /// StripAccents: combining marks go.
    NoCombiningMarks,
    Lowercase,
    /// Nmt: some control characters go, some others become a space.
    Nmt,
    /// ByteLevel: every byte is written as its printable character.
    ByteLevel,
}

impl Letters {
    pub(crate) fn leaves(self, text: &str) -> bool {
        text.chars().all(|character| self.leaves_character(character))
    }

    pub(crate) fn normalize(self, text: &mut AlignedText) {
        if self.leaves(text.as_str()) {
            return;
        }
        text.transform(|rewriter| {
            while let Some(character) = rewriter.rest().chars().next() {
                self.write(character, rewriter);
            }
        });
    }

    /// Applies the rule to a text without tracking offsets.
    pub(crate) fn written(self, text: &str) -> String {
        let mut aligned = AlignedText::default();
        aligned.start(text, 0, false);
        self.normalize(&mut aligned);
        aligned.as_str().to_owned()
    }

    fn leaves_character(self, c: char) -> bool {
        match self {
            Self::Clean => c == ' ' || !(is_dirt(c) || c.is_whitespace()),
            Self::SpacesAroundIdeographs => !is_ideograph(c),
            Self::NoNonspacingMarks => c.is_ascii() || !c.is_mark_nonspacing(),
            Self::NoCombiningMarks => c.is_ascii() || !is_combining_mark(c),
            Self::Lowercase if c.is_ascii() => !c.is_ascii_uppercase(),
            Self::Lowercase => c.to_lowercase().eq([c]),
            Self::Nmt => !is_nmt_dirt(c) && !is_nmt_space(c),
            Self::ByteLevel => c.is_ascii_graphic(),
        }
    }

    /// Reads the next character, which is `c`, and writes what becomes of it.
    fn write(self, c: char, rewriter: &mut Rewriter<'_>) {
        if self.leaves_character(c) {
            return rewriter.keep_bytes(c.len_utf8());
        }
        match self {
            Self::Clean if is_dirt(c) => rewriter.skip(),
            Self::Nmt if is_nmt_dirt(c) => rewriter.skip(),
            Self::Clean | Self::Nmt => rewriter.replace(' '),
            Self::NoNonspacingMarks | Self::NoCombiningMarks => rewriter.skip(),
            Self::SpacesAroundIdeographs => {
                rewriter.replace(' ');
                rewriter.insert(c);
                rewriter.insert(' ');
            }
            Self::Lowercase => {
                let mut lower = c.to_lowercase();
                rewriter.replace(lower.next().expect("a character has a lower case, if only itself"));
                lower.for_each(|more| rewriter.insert(more));
            }
            Self::ByteLevel => write_bytes(c, rewriter),
        }
    }
}

/// Reads the next character, which is `c`, and writes each of its bytes as a printable character.
fn write_bytes(c: char, rewriter: &mut Rewriter<'_>) {
    let mut buffer = [0; 4];
    let mut bytes = c.encode_utf8(&mut buffer).bytes();
    let first = bytes.next().expect("a character has at least one byte");
    rewriter.replace(byte_level::CHARACTERS[usize::from(first)]);
    bytes.for_each(|byte| rewriter.insert(byte_level::CHARACTERS[usize::from(byte)]));
}

/// What BertNormalizer takes for rubbish: NUL, U+FFFD and control, format and private use characters, by the tables of an
/// old Unicode that the reference uses, but for tab and line breaks.
fn is_dirt(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\0' | '\u{fffd}' => true,
        _ => c.is_other(),
    }
}

/// The blocks that BertNormalizer takes for Chinese, which are the reference's choice and no Unicode property.
fn is_ideograph(c: char) -> bool {
    matches!(
        c,
        '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2b73f}'
            | '\u{2b740}'..='\u{2b81f}'
            | '\u{2b920}'..='\u{2ceaf}'
            | '\u{2f800}'..='\u{2fa1f}'
    )
}

fn is_nmt_dirt(c: char) -> bool {
    matches!(
        c,
        '\u{1}'..='\u{8}' | '\u{b}' | '\u{e}'..='\u{1f}' | '\u{7f}' | '\u{8f}' | '\u{9f}'
    )
}

fn is_nmt_space(c: char) -> bool {
    matches!(
        c,
        '\t' | '\n' | '\u{c}' | '\r' | '\u{1680}' | '\u{200b}'
            ..='\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{2581}' | '\u{feff}' | '\u{fffd}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A character, and where it came from.
    type Traced = (char, u32, u32);

    const ALL: [Letters; 7] = [
        Letters::Clean,
        Letters::SpacesAroundIdeographs,
        Letters::NoNonspacingMarks,
        Letters::NoCombiningMarks,
        Letters::Lowercase,
        Letters::Nmt,
        Letters::ByteLevel,
    ];

    fn normalized(letters: Letters, text: &str) -> Vec<Traced> {
        let mut aligned = AlignedText::default();
        aligned.start(text, 0, true);
        letters.normalize(&mut aligned);
        let at = |(at, c): (usize, char)| (c, aligned.origins()[at].start, aligned.origins()[at].end);
        aligned.as_str().char_indices().map(at).collect()
    }

    #[test]
    fn characters_and_their_origins() {
        let cases: [(Letters, &str, &[Traced]); 7] = [
            (Letters::Clean, "a\0\tb\u{200b}", &[('a', 0, 1), (' ', 2, 3), ('b', 3, 4)]),
            (
                Letters::SpacesAroundIdeographs,
                "a中b",
                &[('a', 0, 1), (' ', 1, 4), ('中', 1, 4), (' ', 1, 4), ('b', 4, 5)],
            ),
            (Letters::NoNonspacingMarks, "\u{301}e\u{301}\u{903}", &[('e', 2, 3), ('\u{903}', 5, 8)]),
            (Letters::NoCombiningMarks, "\u{301}e\u{301}\u{903}", &[('e', 2, 3)]),
            (Letters::Lowercase, "İA", &[('i', 0, 2), ('\u{307}', 0, 2), ('a', 2, 3)]),
            (Letters::Nmt, "\u{1}a\u{2581}", &[('a', 1, 2), (' ', 2, 5)]),
            (Letters::ByteLevel, " é", &[('Ġ', 0, 1), ('Ã', 1, 3), ('©', 1, 3)]),
        ];
        for (letters, text, expected) in cases {
            assert_eq!(normalized(letters, text), expected, "{letters:?} of {text:?}");
        }
    }

    proptest! {
        #[test]
        fn the_quick_look_is_never_wrong(text in "[a-zA-Z \t\0\u{1}é中\u{300}-\u{310}İ\\PC]{0,12}") {
            for letters in ALL {
                if letters.leaves(&text) {
                    // The long way, character by character.
                    let mut aligned = AlignedText::default();
                    aligned.start(&text, 0, false);
                    aligned.rewrite(|rewriter| {
                        while let Some(c) = rewriter.rest().chars().next() {
                            letters.write(c, rewriter);
                        }
                    });
                    prop_assert_eq!(aligned.as_str(), &text);
                }
            }
        }
    }
}
