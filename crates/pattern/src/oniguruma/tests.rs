use super::*;
use crate::{Dialect, Pattern};

use std::io::Read;
use std::sync::LazyLock;

/// Recorded from the reference implementations: the characters of each class.
static CHARACTER_CLASSES: LazyLock<serde_json::Value> = LazyLock::new(|| {
    let mut text = String::new();
    let packed = include_bytes!("../../testdata/charclass.json.gz");
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).expect("gzip of UTF-8");
    serde_json::from_str(&text).expect("it is JSON")
});

fn matches(source: &str, text: &str) -> Vec<(u32, u32)> {
    let pattern = Pattern::new(source, Dialect::Oniguruma).unwrap_or_else(|error| panic!("{error}"));
    let mut found = vec![];
    pattern
        .for_each_match(text, &mut crate::testing::steps(text.len()), |span| {
            found.push((span.start, span.end));
        })
        .expect("no test text is hard");
    found
}

/// The code points that a pattern for a single character matches. Its translation is a class, which
/// the regex crate parses.
fn characters(source: &str) -> serde_json::Value {
    let translated = translate(source).unwrap_or_else(|problem| panic!("{problem}"));
    let set = classes::regex(&translated).expect("the translation is a class");
    let ranges: Vec<[u32; 2]> = set.ranges().iter().map(|range| [range.start().into(), range.end().into()]).collect();
    serde_json::json!(ranges)
}

#[test]
fn classes_of_every_code_point_are_those_of_the_reference() {
    let reference = CHARACTER_CLASSES["onig"].as_object().expect("an object of classes");
    for (class, wanted) in reference {
        assert!(characters(class) == *wanted, "{class}");
        let opposite = match class.strip_prefix(r"\p") {
            Some(property) => format!(r"[^\P{property}]"),
            None => format!("[^{}]", class.to_uppercase()),
        };
        if class != r"\w" {
            assert!(characters(&opposite) == *wanted, "{opposite}");
        }
    }
}

#[test]
fn word_characters_in_brackets_lack_superscripts_and_fractions() {
    let outside = characters(r"\w");
    let inside = characters(r"[\w]");
    assert_eq!(characters("[[:word:]]"), inside);
    assert_eq!(characters(r"[^\W]"), inside);
    assert_eq!(characters(r"\p{Word}"), outside);
    assert_eq!(matches(r"\w(?<![\w])", "a²³¹¼½¾_").len(), 6);
    assert_eq!(matches(r"\w+", "½0"), [(0, 3)]);
    assert_eq!(matches(r"\w+|\W", "一\u{200d}"), [(0, 3), (3, 6)]);
}

/// Recorded from Oniguruma 6.9.10, through the crate onig 6.5.
#[test]
fn syntax_that_differs_between_dialects() {
    type Case = (&'static str, &'static str, &'static [(u32, u32)]);
    let cases: [Case; 54] = [
        ("$", "a\nb\n", &[(1, 1), (3, 3), (4, 4)]),
        ("^", "a\nb\n", &[(0, 0), (2, 2)]),
        (r".\Z", "\u{301}\n\n", &[]),
        (r"\Z", "a\n\n", &[(2, 2), (3, 3)]),
        ("(?m).", "\n", &[(0, 1)]),
        (".", "\n\r", &[(1, 2)]),
        (r"\N", "\n", &[]),
        (r"\b", "½a", &[(0, 0), (3, 3)]),
        (r"a\b", "a\u{200d}", &[(0, 1)]),
        (r"\B", "½", &[]),
        ("a{2}{3}", "aaaaaaa", &[(0, 6)]),
        ("a{,2}b", "aab", &[(0, 3)]),
        ("a{x}", "a{x}", &[(0, 4)]),
        ("a**", "aa", &[(0, 2)]),
        ("a{3,1}a", "aaa", &[]),
        ("a{1,2}+", "aaaaa", &[(0, 5)]),
        ("a{2}?", "aab", &[(0, 2), (3, 3)]),
        ("a++a", "aaa", &[]),
        ("[a&&]", "a", &[]),
        ("[a-c-e]", "-d", &[(0, 1)]),
        ("[]a]+", "a]b", &[(0, 2)]),
        ("[^]a]", "ab", &[(1, 2)]),
        ("[a-]", "-", &[(0, 1)]),
        (r"[a-z&&[^aeiou]]+", "abcde", &[(1, 4)]),
        (r"[\b]", "\u{8}", &[(0, 1)]),
        (r"[\R]", "R", &[(0, 1)]),
        ("[[:upper:]][[:^space:]]", "É\u{a0}Éa", &[(4, 7)]),
        ("[[:punct:]]", "$«", &[(0, 1), (1, 3)]),
        (r"\p{Punct}", "$«", &[(1, 3)]),
        (r"\h+", "fg", &[(0, 1)]),
        (r"\R+", "\r\n\n\u{2028}", &[(0, 6)]),
        (r"\xc3\xa9", "é", &[(0, 2)]),
        (r"[\xc3\xa9]", "é", &[(0, 2)]),
        (r"\x{61 62}+", "abb", &[(0, 3)]),
        (r"[\x{61 62}]+", "cabb", &[(1, 4)]),
        (r"\040|\cA", " \u{1}", &[(0, 1), (1, 2)]),
        (r"\pL", "pL", &[(0, 2)]),
        (r"\p{^L}", "a1", &[(1, 2)]),
        ("(?x) a b # c\n d", "abd", &[(0, 3)]),
        ("a(?#x)+", "aa", &[(0, 2)]),
        ("(?i)a|b(?-i)c|D", "d D B bc", &[(6, 8)]),
        ("a(?i)b|c", "aB C aC", &[(0, 2), (5, 7)]),
        ("(?<n>a)(b)\\k<n>", "aba", &[(0, 3)]),
        ("(?<=a|bc)d", "bcd", &[(2, 3)]),
        (r"a\Kb", "ab", &[(1, 2)]),
        (r"\G.a?", "aab", &[(0, 2), (2, 3)]),
        (r"\G", "Éa\nk", &[(0, 0), (2, 2), (3, 3), (4, 4), (5, 5)]),
        ("a*", "baac", &[(0, 0), (1, 3), (4, 4)]),
        (r"(?i:\p{Lu})", "aA", &[(1, 2)]),
        ("(?i:ß)", "ss SS sſ ẞ", &[(0, 2), (3, 5), (6, 9), (10, 13)]),
        ("(?i:ss)", "ß ẞ sS ſs", &[(0, 2), (3, 6), (7, 9), (10, 13)]),
        ("(?i:ffi)", "ﬃ ﬀi fﬁ", &[(0, 3)]),
        (r"(?i:[\p{L}])x", "ssx", &[(0, 3)]),
        ("(?i:[^k])", "Kk\u{212a}j", &[(5, 6)]),
    ];
    for (source, text, wanted) in cases {
        assert_eq!(matches(source, text), wanted, "{source:?} on {text:?}");
    }
}

#[test]
fn errors_name_the_syntax_and_its_position() {
    let cases = [
        ("a(?s:.)", "the group option 's' is not supported (at byte 3)"),
        (r"ab\X", r"\X (text segments) is not supported (at byte 2)"),
        (r"(a)\g<1>", r"\g (a subexpression call) is not supported (at byte 3)"),
        (r"a\p{Nosuch}", "the property \"Nosuch\" is not supported (at byte 1)"),
        ("(?~a)", "the group option '~' is not supported (at byte 2)"),
        ("(a", "an opening parenthesis without a closing one (at byte 0)"),
        ("a)", "a closing parenthesis without an opening one (at byte 1)"),
        ("a|*", "a quantifier without anything to repeat (at byte 2)"),
        ("^*a", "a quantifier after an assertion (at byte 1)"),
        ("a[b", "a class without an end (at byte 2)"),
        ("[]", "an empty class (at byte 1)"),
        ("[z-a]", "an empty range (at byte 2)"),
        (r"[a-\d]", "a range that ends with a class (at byte 2)"),
        (r"[\d-a]", "a range that begins with a class (at byte 3)"),
        (r"[\p{L}--[a-c]]", "a range that begins with a class (at byte 6)"),
        ("[[:nosuch:]]", "the unknown class [:nosuch:] (at byte 1)"),
        (r"\xe9", "bytes that are not a character (at byte 0)"),
        ("a{1,200000}", "more than 100000 repetitions (at byte 1)"),
        (r"(a)\2", "a reference to group 2, which does not come before it (at byte 3)"),
        ("(?:a?|b)*", "a repetition whose body prefers an empty match to a longer one is not supported (at byte 8)"),
        ("a\\", "a backslash at the end (at byte 2)"),
    ];
    for (source, message) in cases {
        assert_eq!(translate(source).map_err(|problem| problem.to_string()), Err(message.into()), "{source:?}");
    }
    let deep = "(".repeat(100_000);
    assert!(translate(&deep).is_err());
    assert!(translate(&"[".repeat(100_000)).is_err());
}

/// Each class is below the limit, and 200 of them are above it.
#[test]
fn the_ranges_of_all_classes_together_have_a_limit() {
    assert!(translate(&r"\p{L}".repeat(100)).is_ok());
    let problem = translate(&r"\p{L}".repeat(200)).map_err(|problem| problem.what);
    assert_eq!(problem, Err("classes with more than 131072 ranges of characters together".into()));
}

#[test]
fn letters_after_a_backslash_stand_for_control_characters() {
    for (letter, character) in [('n', '\n'), ('t', '\t'), ('r', '\r'), ('f', '\u{c}'), ('v', '\u{b}'), ('a', '\u{7}')] {
        for source in [format!("\\{letter}"), format!("[\\{letter}]")] {
            assert_eq!(matches(&source, &format!("{letter}{character}")), [(1, 2)], "{source}");
        }
    }
    assert_eq!(matches(r"[\b]", "b\u{8}"), [(1, 2)]);
}

#[test]
fn no_pattern_makes_the_translation_fail_in_another_way() {
    use proptest::prelude::*;
    proptest!(ProptestConfig::with_cases(2000), |(source in r"[a-c(){}\[\]|*+?\\^$.,0-9:#<>=!&\-pPxukgKiLé ]{0,16}")| {
        drop(translate(&source));
    });
}

/// Only a named group changes what groups without a name and `\1` mean, not text that looks like
/// one.
#[test]
fn a_class_or_a_comment_is_not_a_named_group() {
    assert_eq!(matches(r"([(?<x])\1", "((?x<<"), [(0, 2), (4, 6)]);
    assert_eq!(matches(r"(a)\1(?#(?<x>)", "aaa"), [(0, 2)]);
    assert_eq!(matches(r"(1)(2)(3)(4)(5)(6)(7)(8)(9)(a)[(?<]\10", "123456789a(a"), [(0, 12)]);
    assert!(translate(r"(a)(?<x>b)\1").is_err());
    assert!(translate(r"(a)\1(?<x>b)").is_err());
    assert_eq!(matches(r"(?<x>b)\k<x>(a)", "bba"), [(0, 3)]);
}
