//! The character classes that the patterns use.
//!
//! They are those of `regex-syntax`, which the general engine uses too, so that both have the same
//! Unicode version (16, as the reference tokenizers). Only [`NUMERIC`] has Unicode 17.

use std::sync::LazyLock;

use crate::categories::Classes;

/// `\p{L}`
pub(crate) const LETTER: u8 = 1 << 0;
/// `\p{N}`
pub(crate) const NUMBER: u8 = 1 << 1;
/// `\s`, the property White_Space
pub(crate) const SPACE: u8 = 1 << 2;
/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, the first part of a word in the pattern of o200k
pub(crate) const UPPER: u8 = 1 << 3;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`, the second part of a word there
pub(crate) const LOWER: u8 = 1 << 4;
/// `[\p{P}\p{S}]`
pub(crate) const SIGN: u8 = 1 << 5;
/// `[一-龥぀-ゟ゠-ヿ]`, which the tokenizers of DeepSeek split off
pub(crate) const HAN_KANA: u8 = 1 << 6;
/// The general category N in Unicode 17, for the pre-tokenizer Digits. tokenizers 0.23 takes this
/// category from Rust's standard library, which has Unicode 17
pub(crate) const NUMERIC: u8 = 1 << 7;

/// Patterns, and the class bits of the characters that each matches.
const PATTERNS: [(&str, u8); 8] = [
    (r"\p{L}", LETTER),
    (r"\p{N}", NUMBER | NUMERIC),
    (r"\s", SPACE),
    (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", UPPER),
    (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", LOWER),
    (r"[\p{P}\p{S}]", SIGN),
    (r"[一-龥\u{3040}-ゟ゠-ヿ]", HAN_KANA),
    // New in Unicode 17.
    (r"[\u{11DE0}-\u{11DE9}\u{16FF4}-\u{16FF6}]", NUMERIC),
];

/// Built when the first tokenizer is loaded, which takes about a millisecond.
pub(crate) static CLASSES: LazyLock<Classes> = LazyLock::new(|| Classes::new(PATTERNS));

/// Decodes the first character of `bytes`: returns its code point and its length in bytes. The
/// bytes must be UTF-8 that does not start with an ASCII character. The bytes after the character
/// are ignored.
#[inline(always)]
pub(crate) fn decode(bytes: [u8; 4]) -> (u32, usize) {
    // There is no branch on the length, which is hard to predict in many scripts. Six bits of each
    // byte are combined as if the character had four bytes, and the surplus bits are shifted out.
    let word = u32::from_be_bytes(bytes);
    let len = word.leading_ones();
    let word = word << len >> len;
    let four = word >> 6 & 0xFC_0000 | word >> 4 & 0x3_F000 | word >> 2 & 0xFC0 | word & 0x3F;
    (four >> (24 - 6 * len), len as usize)
}

/// [`decode`] for the start of a text, which may have fewer than four bytes.
#[inline(always)]
pub(crate) fn decode_start(text: &[u8]) -> (u32, usize) {
    decode(text.first_chunk().copied().unwrap_or_else(|| {
        let mut four = [0; 4];
        four[..text.len()].copy_from_slice(text);
        four
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_has_the_bits_of_the_patterns_that_match_it() {
        let patterns =
            PATTERNS.map(|(pattern, bits)| (fancy_regex::Regex::new(pattern).expect("the class compiles"), bits));
        let mut buffer = [0; 4];
        for character in '\0'..=char::MAX {
            let text: &str = character.encode_utf8(&mut buffer);
            let matching =
                patterns.iter().filter(|(regex, _)| regex.is_match(text).expect("one character is no effort"));
            assert_eq!(CLASSES.of(character), matching.fold(0, |all, (_, bits)| all | bits), "{character:?}");
        }
    }

    #[test]
    fn numeric_characters_are_those_of_unicode_17() {
        let numeric: Vec<char> = ('\0'..=char::MAX).filter(|&c| CLASSES.of(c) & NUMERIC != 0).collect();
        assert_eq!(numeric.len(), 1924);
        if char::UNICODE_VERSION.0 == 17 {
            assert!(('\0'..=char::MAX).filter(|c| c.is_numeric()).eq(numeric));
        }
    }

    #[test]
    fn every_wide_character_is_decoded_whatever_follows() {
        for character in '\u{80}'..=char::MAX {
            for behind in [0, 0xFF] {
                let mut bytes = [behind; 4];
                let len = character.encode_utf8(&mut bytes).len();
                assert_eq!(decode(bytes), (character as u32, len));
            }
        }
    }

    #[test]
    fn a_letter_may_begin_a_word_or_follow_and_so_may_a_mark() {
        let marks = fancy_regex::Regex::new(r"\p{M}").expect("the class compiles");
        for character in '\0'..=char::MAX {
            let bits = CLASSES.of(character);
            let is_mark = marks.is_match(character.encode_utf8(&mut [0; 4])).expect("one character is no effort");
            assert_eq!(bits & (UPPER | LOWER) != 0, bits & LETTER != 0 || is_mark, "U+{:04X}", character as u32);
            assert_eq!(bits & (UPPER | LETTER) == UPPER, is_mark, "U+{:04X}", character as u32);
        }
    }
}
