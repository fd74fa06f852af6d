//! `[…]`: the set of characters it stands for.

use super::classes::{self, Set};
use super::{Flags, Item, MOST_DEPTH, Parser, Problem, Result, fold};

/// Behind an opening bracket.
pub(super) fn class(parser: &mut Parser<'_>, flags: Flags) -> Result<Item> {
    let is_negative = parser.take("^");
    let set = set(parser)?;
    let mut text = String::new();
    match (flags.ignore_case, is_negative) {
        (false, false) => classes::write(&set, &mut text),
        (true, false) => fold::write_class(&set, &mut text),
        // Case is looked at before the negation.
        (true, true) => classes::write(&classes::negated(fold::closed(set)), &mut text),
        (false, true) => classes::write(&classes::negated(set), &mut text),
    }
    Ok(super::group(&text))
}

/// Up to and with the closing bracket.
fn set(parser: &mut Parser<'_>) -> Result<Set> {
    parser.depth += 1;
    if parser.depth > MOST_DEPTH {
        return Err(parser.problem("brackets nested too deep"));
    }
    let opened = parser.at;
    let unfinished = || Problem { what: "a class without an end".into(), at: opened };
    let mut set = Set::empty();
    let mut both: Option<Set> = None;
    // A closing bracket that comes first is a character, if another one follows.
    let mut is_first = parser.rest().starts_with(']');
    if is_first && !parser.rest()[1..].contains(']') {
        return Err(parser.problem("an empty class"));
    }
    loop {
        let start = parser.at;
        if parser.take("]") && !std::mem::take(&mut is_first) {
            parser.depth -= 1;
            if let Some(both) = both {
                set.intersect(&both);
            }
            return Ok(set);
        }
        is_first = false;
        parser.at = start;
        if parser.take("&&") {
            if let Some(both) = &both {
                set.intersect(both);
            }
            both = Some(std::mem::replace(&mut set, Set::empty()));
            continue;
        }
        match part(parser)?.ok_or_else(unfinished)? {
            Part::Set(more) => {
                set.union(&more);
                // A hyphen behind a class begins no range.
                if parser.rest().starts_with('-') && !ends_range(parser) {
                    return Err(parser.problem("a range that begins with a class"));
                }
            }
            Part::Character(first) => {
                let hyphen = parser.at;
                if !parser.rest().starts_with('-') || ends_range(parser) {
                    set.union(&classes::range(first, first));
                    continue;
                }
                parser.at += 1;
                match part(parser)?.ok_or_else(unfinished)? {
                    Part::Character(last) if first <= last => set.union(&classes::range(first, last)),
                    Part::Character(_) => return Err(Problem { what: "an empty range".into(), at: hyphen }),
                    Part::Set(_) => {
                        return Err(Problem { what: "a range that ends with a class".into(), at: hyphen });
                    }
                }
                // Behind a range a hyphen is one.
                if parser.take("-") {
                    set.union(&classes::range('-', '-'));
                }
            }
        }
    }
}

/// Whether the hyphen that comes next is a character: nothing that could end a range follows it.
fn ends_range(parser: &Parser<'_>) -> bool {
    let rest = &parser.rest()[1..];
    rest.starts_with(']') || rest.starts_with("&&") || rest.starts_with('[')
}

enum Part {
    Character(char),
    Set(Set),
}

/// None at the end of the pattern.
fn part(parser: &mut Parser<'_>) -> Result<Option<Part>> {
    let start = parser.at;
    if parser.take("[:") {
        if let Some((name, _)) = parser.rest().split_once(":]")
            && name.chars().count() <= 20
            && name.trim_start_matches('^').chars().all(|c| c.is_ascii_alphabetic())
        {
            parser.at += name.len() + 2;
            let (plain, is_negative) = name.strip_prefix('^').map_or((name, false), |plain| (plain, true));
            let what = || Problem { what: format!("the unknown class [:{name}:]"), at: start };
            let set = classes::posix(plain).ok_or_else(what)?;
            return Ok(Some(Part::Set(if is_negative { classes::negated(set) } else { set })));
        }
        parser.at = start;
    }
    Ok(match parser.next() {
        None => None,
        Some('[') => {
            let is_negative = parser.take("^");
            let set = set(parser)?;
            Some(Part::Set(if is_negative { classes::negated(set) } else { set }))
        }
        Some('\\') => Some(escape(parser)?),
        Some(character) => Some(Part::Character(character)),
    })
}

fn escape(parser: &mut Parser<'_>) -> Result<Part> {
    let Some(character) = parser.peek() else { return Err(parser.problem("a backslash at the end")) };
    if let Some(set) = classes::short(character, true) {
        parser.next();
        return Ok(Part::Set(set));
    }
    if matches!(character, 'p' | 'P')
        && let Some(set) = parser.property(true)?
    {
        return Ok(Part::Set(set));
    }
    if let Some(characters) = parser.coded(true)? {
        return Ok(match characters[..] {
            [one] => Part::Character(one),
            _ => {
                let mut set = Set::empty();
                characters.iter().for_each(|&character| set.union(&classes::range(character, character)));
                Part::Set(set)
            }
        });
    }
    parser.next();
    Ok(Part::Character(character))
}
