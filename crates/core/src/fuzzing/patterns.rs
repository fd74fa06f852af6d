//! Arbitrary regular expressions on repetitive texts: all of their work is charged, so that the
//! budget limits it.

use super::draw::Draw;
use crate::pattern::Dialect;
use crate::pattern::testing::check;

const ATOMS: [&str; 24] = [
    "a", "b", "ab", "é", " ", "[ab]", "[^a]", r"\s", r"\S", r"\w", r"\p{L}", ".", "(?s:.)", "(?i:k)", "^", "$", r"\A",
    r"\z", r"\b", r"\G", r"\R", r"\1", "(a)", "a*",
];
const QUANTIFIERS: [&str; 16] =
    ["", "", "", "*", "+", "?", "*?", "+?", "??", "*+", "++", "{2}", "{1,2}", "{0,40}", "{2,}", "{3,9}?"];
const GROUPS: [&str; 9] = ["(?:", "(", "(?>", "(?=", "(?!", "(?<=", "(?<!", "(?:", "(?i:"];

/// Draws a pattern with nested groups.
fn pattern(draw: &mut Draw<'_>, depth: usize, out: &mut String) {
    for branch in 0..=draw.below(3) {
        if branch > 0 {
            out.push('|');
        }
        for _ in 0..=draw.below(3) {
            if depth > 0 && draw.below(3) == 0 {
                out.push_str(draw.one_of(&GROUPS));
                pattern(draw, depth - 1, out);
                out.push(')');
            } else {
                out.push_str(draw.one_of(&ATOMS));
            }
            out.push_str(draw.one_of(&QUANTIFIERS));
        }
    }
}

/// Interprets bytes as a pattern and a text.
pub(super) fn patterns(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let dialect = if draw.flag() { Dialect::FancyRegex } else { Dialect::Oniguruma };
    let mut source = String::new();
    pattern(&mut draw, 3, &mut source);
    let text = draw.one_of(&["a", "ab", " ", "é", "b\n", "aaab", "k\u{212a}"]).repeat(draw.below(3000))
        + draw.one_of(&["", "a", "b", "\n"]);
    check(&source, dialect, &text);
}
