//! Case folding for `(?i)`: which characters match each other, and which match two or three
//! characters, for example ß and ss.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::classes::{self, Set};

/// The last character whose folding has more than one character.
const LAST: char = '\u{FB17}';

/// The characters whose folding has more than one character, by that folding.
static FOLDS: LazyLock<HashMap<Vec<char>, Vec<char>>> = LazyLock::new(|| {
    let mut folds: HashMap<Vec<char>, Vec<char>> = HashMap::new();
    for character in '\u{80}'..=LAST {
        if let Some(folded) = fold(character) {
            folds.entry(folded).or_default().push(character);
        }
    }
    folds
});

/// The folding of a character if it has two or three characters: the lower case of its full upper
/// case.
fn fold(character: char) -> Option<Vec<char>> {
    if character.is_ascii() {
        return None;
    }
    let folded: Vec<char> = match character {
        'ẞ' => vec!['s', 's'],
        _ if character.to_uppercase().len() > 1 => character.to_uppercase().flat_map(char::to_lowercase).collect(),
        _ => character.to_lowercase().collect(),
    };
    (folded.len() > 1).then_some(folded)
}

/// Adds the characters that equal one of the set if case is ignored.
pub(super) fn closed(mut set: Set) -> Set {
    set.try_case_fold_simple().expect("the tables of regex-syntax are there");
    set
}

fn one(character: char) -> Set {
    closed(classes::range(character, character))
}

fn write_all(characters: &[char], out: &mut String) {
    characters.iter().for_each(|&character| classes::write(&one(character), out));
}

/// Writes adjacent characters. If two or three of them are the folding of one character, that
/// character is an alternative; the longest such sequence is used, and sequences do not overlap.
pub(super) fn write_run(characters: &[char], out: &mut String) {
    let mut rest = characters;
    while let Some(&first) = rest.first() {
        let joined = (2..=3.min(rest.len())).rev().find_map(|len| {
            let folded: Vec<char> = rest[..len].iter().map(|&c| lower(c)).collect();
            FOLDS.get(&folded).map(|same| (len, same))
        });
        let alone = fold(first);
        let (len, spelt, same) = match (joined, &alone) {
            (Some((len, same)), _) => (len, &rest[..len], Some(same)),
            (None, Some(folded)) => (1, &folded[..], FOLDS.get(folded)),
            (None, None) => (1, &rest[..1], None),
        };
        if let Some(same) = same {
            out.push_str("(?:");
            write_all(spelt, out);
            out.push('|');
            classes::write(&closed(set_of(same)), out);
            out.push(')');
        } else {
            write_all(spelt, out);
        }
        rest = &rest[len..];
    }
}

/// The simple folding of a character, which the keys of [`FOLDS`] consist of.
fn lower(character: char) -> char {
    match character {
        'ſ' => 's',
        _ => {
            let mut lower = character.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(lower), None) => lower,
                _ => character,
            }
        }
    }
}

/// Writes a bracketed class, which also matches the multi-character foldings of its characters.
pub(super) fn write_class(set: &Set, out: &mut String) {
    let mut strings: Vec<&Vec<char>> =
        FOLDS.iter().filter(|(_, same)| same.iter().any(|&c| contains(set, c))).map(|(folded, _)| folded).collect();
    strings.sort();
    let closed = closed(set.clone());
    if strings.is_empty() {
        return classes::write(&closed, out);
    }
    out.push_str("(?:");
    classes::write(&closed, out);
    for string in strings {
        out.push('|');
        write_all(string, out);
    }
    out.push(')');
}

fn contains(set: &Set, character: char) -> bool {
    set.ranges().iter().any(|range| (range.start()..=range.end()).contains(&character))
}

fn set_of(characters: &[char]) -> Set {
    let mut set = Set::empty();
    characters.iter().for_each(|&character| set.union(&classes::range(character, character)));
    set
}
