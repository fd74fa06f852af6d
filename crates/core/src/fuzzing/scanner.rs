//! Scanners, compared with their regular expressions.

use super::draw::Draw;
use crate::pretokenizer::scanner::twins::{TEST_CHARACTERS, TWINS};

/// Interprets bytes as a text, which every scanner splits.
pub(super) fn scanner(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let capacity = 128 + draw.below(72);
    let characters: Vec<String> = TEST_CHARACTERS.chars().map(String::from).collect();
    let pieces: Vec<&str> =
        characters.iter().map(String::as_str).chain(["'ll", "\r\n", "word", "WORD", "123"]).collect();
    let text = draw.text(&pieces, 2000);
    TWINS.iter().for_each(|twin| twin.check(&text, capacity));
}
