//! Normalizers with a rule for single characters, applied in one pass over the text.

use unicode_normalization_alignments::char::is_combining_mark;

use crate::aligned::{AlignedText, Rewriter};
use crate::byte_level;
use crate::categories::{is_nonspacing_mark, is_other};

/// A rule for single characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Letters {
    /// `clean_text` of BertNormalizer: removes control characters and replaces white space by
    /// spaces.
    Clean,
    /// `handle_chinese_chars` of BertNormalizer: adds a space before and after each ideograph.
    SpacesAroundIdeographs,
    /// `strip_accents` of BertNormalizer, applied after NFD: removes nonspacing marks.
    NoNonspacingMarks,
    /// StripAccents: removes combining marks.
    NoCombiningMarks,
    Lowercase,
    /// Nmt: removes some control characters and replaces others by spaces.
    Nmt,
    /// ByteLevel: replaces each byte by its printable character.
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

    /// Calls `write` with each character of the replacement of `c`.
    pub(crate) fn replace(self, c: char, mut write: impl FnMut(char)) {
        if self.leaves_character(c) {
            return write(c);
        }
        match self {
            Self::Clean if is_removed_by_clean(c) => {}
            Self::Nmt if is_removed_by_nmt(c) => {}
            Self::Clean | Self::Nmt => write(' '),
            Self::NoNonspacingMarks | Self::NoCombiningMarks => {}
            Self::SpacesAroundIdeographs => [' ', c, ' '].into_iter().for_each(write),
            Self::Lowercase => c.to_lowercase().for_each(write),
            Self::ByteLevel => {
                let mut buffer = [0; 4];
                let bytes = c.encode_utf8(&mut buffer).bytes();
                bytes.for_each(|byte| write(byte_level::CHARACTERS[usize::from(byte)]));
            }
        }
    }

    fn leaves_character(self, c: char) -> bool {
        match self {
            Self::Clean => c == ' ' || !(is_removed_by_clean(c) || c.is_whitespace()),
            Self::SpacesAroundIdeographs => !is_ideograph(c),
            Self::NoNonspacingMarks => c.is_ascii() || !is_nonspacing_mark(c),
            Self::NoCombiningMarks => c.is_ascii() || !is_combining_mark(c),
            Self::Lowercase if c.is_ascii() => !c.is_ascii_uppercase(),
            Self::Lowercase => c.to_lowercase().eq([c]),
            Self::Nmt => !is_removed_by_nmt(c) && !is_space_for_nmt(c),
            Self::ByteLevel => c.is_ascii_graphic(),
        }
    }

    /// Reads the next character, which must be `c`, and writes its replacement.
    fn write(self, c: char, rewriter: &mut Rewriter<'_>) {
        if self.leaves_character(c) {
            return rewriter.keep_bytes(c.len_utf8());
        }
        let mut is_first = true;
        self.replace(c, |written| match std::mem::take(&mut is_first) {
            true => rewriter.replace(written),
            false => rewriter.insert(written),
        });
        if is_first {
            rewriter.skip();
        }
    }
}

/// The characters that BertNormalizer removes: NUL, U+FFFD, and the general category C (control,
/// format, private use) in the old Unicode version of [`crate::categories`], as in the reference,
/// except tab and line breaks.
fn is_removed_by_clean(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\0' | '\u{fffd}' => true,
        _ => is_other(c),
    }
}

/// The blocks that BertNormalizer treats as Chinese. They are a choice of the reference, not a
/// Unicode property.
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

fn is_removed_by_nmt(c: char) -> bool {
    matches!(
        c,
        '\u{1}'..='\u{8}' | '\u{b}' | '\u{e}'..='\u{1f}' | '\u{7f}' | '\u{8f}' | '\u{9f}'
    )
}

fn is_space_for_nmt(c: char) -> bool {
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

    /// A character, and the start and end of its origin in bytes.
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
                    // The slow path, character by character.
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
