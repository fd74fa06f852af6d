//! Which of the classes that the patterns speak of a character belongs to.
//!
//! The classes are those of `regex-syntax`, which the general path uses too, so that both always mean the same Unicode
//! version (16, as the reference tokenizers do).

use regex_syntax::hir::{Class, HirKind};
use std::sync::LazyLock;

/// `\p{L}`
pub(crate) const LETTER: u8 = 1 << 0;
/// `\p{N}`
pub(crate) const NUMBER: u8 = 1 << 1;
/// `\s`, that is White_Space
pub(crate) const SPACE: u8 = 1 << 2;
/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, what may begin a word in o200k's pattern
pub(crate) const UPPER: u8 = 1 << 3;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`, what may follow there
pub(crate) const LOWER: u8 = 1 << 4;
/// `\p{M}`
pub(crate) const MARK: u8 = 1 << 5;
/// `\p{P}`
pub(crate) const PUNCTUATION: u8 = 1 << 6;
/// `\p{S}`
pub(crate) const SYMBOL: u8 = 1 << 7;

/// Class bits of every code point in two levels: pages of 256, equal pages stored once.
pub(crate) struct Classes {
    pages: Vec<u16>,
    bits: Vec<u8>,
}

const PAGE: usize = 256;

/// Built on the first load of a tokenizer, about a millisecond.
pub(crate) static CLASSES: LazyLock<Classes> = LazyLock::new(Classes::new);

impl Classes {
    fn new() -> Self {
        let mut all = vec![0u8; 0x11_0000];
        let classes = [
            (r"\p{L}", LETTER),
            (r"\p{N}", NUMBER),
            (r"\s", SPACE),
            (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", UPPER),
            (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", LOWER),
            (r"\p{M}", MARK),
            (r"\p{P}", PUNCTUATION),
            (r"\p{S}", SYMBOL),
        ];
        for (pattern, bit) in classes {
            let hir = regex_syntax::parse(pattern).expect("the classes above are valid patterns");
            let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
                unreachable!("a pattern of one class parses to that class")
            };
            for range in class.ranges() {
                all[range.start() as usize..=range.end() as usize].iter_mut().for_each(|bits| *bits |= bit);
            }
        }
        let mut made = Self { pages: Vec::new(), bits: Vec::new() };
        let mut seen = std::collections::HashMap::new();
        for page in all.chunks_exact(PAGE) {
            let place = *seen.entry(page).or_insert_with(|| {
                made.bits.extend_from_slice(page);
                made.bits.len() / PAGE - 1
            });
            made.pages.push(place as u16);
        }
        made
    }

    /// The class bits of a character.
    #[inline]
    pub(crate) fn of(&self, character: char) -> u8 {
        self.of_code(character as u32)
    }

    /// The class bits of a code point; none for what is no character.
    #[inline]
    pub(crate) fn of_code(&self, code: u32) -> u8 {
        let code = code as usize;
        self.pages.get(code / PAGE).map_or(0, |&page| self.bits[usize::from(page) * PAGE + code % PAGE])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_in_the_classes_its_pattern_says() {
        let classes = [
            (r"\p{L}", LETTER),
            (r"\p{N}", NUMBER),
            (r"\s", SPACE),
            (r"\p{M}", MARK),
            (r"\p{P}", PUNCTUATION),
            (r"\p{S}", SYMBOL),
            (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", UPPER),
            (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", LOWER),
        ];
        for (pattern, bit) in classes {
            let regex = fancy_regex::Regex::new(pattern).expect("the class compiles");
            let mut buffer = [0; 4];
            for character in '\0'..=char::MAX {
                let text: &str = character.encode_utf8(&mut buffer);
                let matches = regex.is_match(text).expect("one character is no effort");
                assert_eq!(CLASSES.of(character) & bit != 0, matches, "{pattern} on U+{:04X}", character as u32);
            }
        }
    }
}
