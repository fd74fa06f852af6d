//! Sets of characters: properties, POSIX brackets and the short classes, as Oniguruma defines them
//! for UTF-8.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use crate::backtrack::as_class;

/// A set of characters.
pub(super) type Set = ClassUnicode;

pub(super) fn range(start: char, end: char) -> Set {
    Set::new([ClassUnicodeRange::new(start, end)])
}

pub(super) fn negated(mut set: Set) -> Set {
    set.negate();
    set
}

/// Parses a class or a single character with the regex crate; `None` if it cannot.
pub(super) fn regex(class: &str) -> Option<Set> {
    as_class(&regex_syntax::parse(class).ok()?)
}

fn known(class: &str) -> Set {
    regex(class).expect("the classes of this file are known")
}

/// `\w`. In brackets it does not contain the superscripts and fractions of Latin-1, which
/// Oniguruma's tables for single characters contain.
pub(super) fn word(in_brackets: bool) -> Set {
    known(if in_brackets { r"[\w--\x{200C}\x{200D}]" } else { r"[\w\xB2\xB3\xB9\xBC-\xBE--\x{200C}\x{200D}]" })
}

/// `\w`, `\d`, `\s`, `\h` and their complements, by letter.
pub(super) fn short(letter: char, in_brackets: bool) -> Option<Set> {
    let set = match letter.to_ascii_lowercase() {
        'w' => word(in_brackets),
        'd' => known(r"\d"),
        's' => known(r"\s"),
        'h' => known("[0-9a-fA-F]"),
        _ => return None,
    };
    Some(if letter.is_ascii_uppercase() { negated(set) } else { set })
}

/// `[:name:]`
pub(super) fn posix(name: &str) -> Option<Set> {
    Some(match name {
        "alnum" => known(r"[\p{Alphabetic}\p{Nd}]"),
        "alpha" => known(r"\p{Alphabetic}"),
        "ascii" => known(r"[\x00-\x7F]"),
        "blank" => known(r"[\p{Zs}\t]"),
        "cntrl" => known(r"\p{Cc}"),
        "digit" => known(r"\d"),
        "graph" => known(r"[^\s\p{Cc}\p{Cn}]"),
        "lower" => known(r"\p{Lowercase}"),
        "print" => known(r"[[^\s\p{Cc}\p{Cn}]\p{Zs}]"),
        "punct" => known(r"[\p{P}\p{S}]"),
        "space" => known(r"\s"),
        "upper" => known(r"\p{Uppercase}"),
        "xdigit" => known("[0-9a-fA-F]"),
        "word" => word(true),
        _ => return None,
    })
}

/// `\p{name}`; spaces, hyphens, underscores and case of the name are ignored.
pub(super) fn property(name: &str, in_brackets: bool) -> Option<Set> {
    let plain = name.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).collect::<String>().to_lowercase();
    match &plain[..] {
        "word" => Some(word(in_brackets)),
        "punct" => Some(known(r"\p{P}")),
        "cs" | "surrogate" => Some(Set::empty()),
        _ => posix(&plain).or_else(|| {
            let is_name = plain.chars().all(|c| c.is_ascii_alphanumeric());
            is_name.then(|| regex(&format!(r"\p{{{plain}}}"))).flatten()
        }),
    }
}

/// Writes a class in the syntax of fancy-regex.
pub(super) fn write(set: &Set, out: &mut String) {
    use std::fmt::Write;
    if let [one] = set.ranges()
        && one.start() == one.end()
    {
        return write_character(one.start(), out);
    }
    out.push('[');
    for range in set.ranges() {
        write_character(range.start(), out);
        if range.start() < range.end() {
            out.push('-');
            write_character(range.end(), out);
        }
    }
    if set.ranges().is_empty() {
        write!(out, r"^\x{{0}}-\x{{10FFFF}}").expect("a string can be written to");
    }
    out.push(']');
}

pub(super) fn write_character(character: char, out: &mut String) {
    use std::fmt::Write;
    if character.is_ascii_alphanumeric() {
        out.push(character);
    } else {
        write!(out, r"\x{{{:X}}}", u32::from(character)).expect("a string can be written to");
    }
}
