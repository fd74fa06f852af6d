//! Sets of characters from patterns, and tables that tell in which of them a character is.
//!
//! The general categories here are those of the crate `unicode_categories`, which the reference
//! uses for BERT: of Unicode 8, with a few characters assigned differently. The crate searches its
//! lists once per category, which took a third of the time of a first pass over text in many
//! scripts. Here a character takes two loads. Tests compare every character with the crate.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Control and format characters.
const OTHER_BIT: u8 = 1;
const NONSPACING_MARK_BIT: u8 = 2;
const PUNCTUATION_BIT: u8 = 4;

static CATEGORIES: LazyLock<Classes> = LazyLock::new(|| {
    Classes::new([
        (r"[[\p{Cc}\p{Cf}\p{Co}]&&\p{Age=8.0}]", OTHER_BIT),
        (r"[[\p{Mn}\u{1734}\u{1171E}]&&\p{Age=8.0}--[\u{1885}\u{1886}\u{A9BD}\u{111C9}]]", NONSPACING_MARK_BIT),
        (r"[[\p{P}\u{166D}\u{111C9}]&&\p{Age=8.0}]", PUNCTUATION_BIT),
    ])
});

/// The general category C without surrogates and unassigned code points.
pub(crate) fn is_other(character: char) -> bool {
    CATEGORIES.of(character) & OTHER_BIT != 0
}

/// The general category Mn.
pub(crate) fn is_nonspacing_mark(character: char) -> bool {
    CATEGORIES.of(character) & NONSPACING_MARK_BIT != 0
}

/// The general category P.
pub(crate) fn is_punctuation(character: char) -> bool {
    CATEGORIES.of(character) & PUNCTUATION_BIT != 0
}

/// The characters that a pattern of one class matches.
pub(crate) fn class(pattern: &str) -> ClassUnicode {
    match regex_syntax::parse(pattern).expect("the pattern is valid").kind() {
        HirKind::Class(Class::Unicode(class)) => class.clone(),
        // A class of one character is parsed as a literal.
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).expect("a literal is text");
            ClassUnicode::new(text.chars().map(|character| ClassUnicodeRange::new(character, character)))
        }
        _ => unreachable!("a pattern of one class parses to that class"),
    }
}

/// The class bits of every code point, in a table of two levels: pages of 256 code points, where
/// equal pages are stored once.
///
/// There are fewer than 256 different pages, so a page number fits into a byte. Both levels have an
/// entry for any index that can occur, so that lookups need no bounds check.
pub(crate) struct Classes {
    pages: Box<[u8; PAGE_COUNT]>,
    bits: Box<[[u8; CODES_PER_PAGE]; 256]>,
}

const CODES_PER_PAGE: usize = 256;
/// Number of entries of the first level: the next power of two above the number of pages.
const PAGE_COUNT: usize = 0x2000;

impl Classes {
    /// The table of patterns, each with the class bits of the characters that it matches.
    pub(crate) fn new<P: AsRef<str>>(patterns: impl IntoIterator<Item = (P, u8)>) -> Self {
        let mut all = vec![0u8; 0x11_0000];
        for (pattern, bits) in patterns {
            for range in class(pattern.as_ref()).ranges() {
                all[range.start() as usize..=range.end() as usize].iter_mut().for_each(|of_code| *of_code |= bits);
            }
        }
        let mut table = Self { pages: Box::new([0; PAGE_COUNT]), bits: Box::new([[0; CODES_PER_PAGE]; 256]) };
        // The first page is that of unassigned code points.
        let mut seen = HashMap::from([([0; CODES_PER_PAGE].as_slice(), 0)]);
        for (page, number) in all.chunks_exact(CODES_PER_PAGE).zip(table.pages.iter_mut()) {
            let next = seen.len();
            *number = *seen.entry(page).or_insert_with(|| {
                table.bits[next].copy_from_slice(page);
                u8::try_from(next).expect("there are about a hundred different pages")
            });
        }
        table
    }

    /// The class bits of a character.
    #[inline]
    pub(crate) fn of(&self, character: char) -> u8 {
        self.of_code(character as u32)
    }

    /// The class bits of a code point; zero if it is not a character.
    #[inline(always)]
    pub(crate) fn of_code(&self, code: u32) -> u8 {
        let code = code as usize;
        self.bits[usize::from(self.pages[code / CODES_PER_PAGE % PAGE_COUNT])][code % CODES_PER_PAGE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_categories::UnicodeCategories;

    #[test]
    fn every_character_has_the_categories_of_the_crate() {
        for character in '\0'..=char::MAX {
            let found = (is_other(character), is_nonspacing_mark(character), is_punctuation(character));
            let expected = (character.is_other(), character.is_mark_nonspacing(), character.is_punctuation());
            assert_eq!(found, expected, "U+{:04X}", character as u32);
        }
    }
}
