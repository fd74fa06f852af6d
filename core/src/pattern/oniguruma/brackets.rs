//! `[…]`: the set of characters it stands for.

use regex_syntax::hir::ClassUnicodeRange;

use super::classes::{self, Set};
use super::{CLASS, Flags, Item, MOST_DEPTH, Parser, Problem, Result, fold};

/// Behind an opening bracket.
pub(super) fn class(parser: &mut Parser<'_>, flags: Flags) -> Result<Item> {
    let is_negative = parser.take("^");
    let set = set(parser)?;
    let mut text = String::new();
    // To find what ignoring case adds takes longer than the class itself.
    parser.charge(set.ranges().len() * if flags.ignore_case { 16 } else { 1 })?;
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
    // Joined at the end: each union of two sets takes as long as both are.
    let mut ranges: Vec<ClassUnicodeRange> = vec![];
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
            return intersection(parser, ranges, both);
        }
        is_first = false;
        parser.at = start;
        if parser.take("&&") {
            both = Some(intersection(parser, std::mem::take(&mut ranges), both)?);
            continue;
        }
        match part(parser)?.ok_or_else(unfinished)? {
            Part::Set(more) => {
                parser.charge(more.ranges().len())?;
                ranges.extend(more.ranges());
                // A hyphen behind a class begins no range.
                if parser.rest().starts_with('-') && !ends_range(parser) {
                    return Err(parser.problem("a range that begins with a class"));
                }
            }
            Part::Character(first) => {
                let hyphen = parser.at;
                if !parser.rest().starts_with('-') || ends_range(parser) {
                    ranges.push(ClassUnicodeRange::new(first, first));
                    continue;
                }
                parser.at += 1;
                match part(parser)?.ok_or_else(unfinished)? {
                    Part::Character(last) if first <= last => ranges.push(ClassUnicodeRange::new(first, last)),
                    Part::Character(_) => return Err(Problem { what: "an empty range".into(), at: hyphen }),
                    Part::Set(_) => {
                        return Err(Problem { what: "a range that ends with a class".into(), at: hyphen });
                    }
                }
                // Behind a range a hyphen is one.
                if parser.take("-") {
                    ranges.push(ClassUnicodeRange::new('-', '-'));
                }
            }
        }
    }
}

/// The ranges as a set, without what the other set lacks.
fn intersection(parser: &mut Parser<'_>, ranges: Vec<ClassUnicodeRange>, both: Option<Set>) -> Result<Set> {
    parser.charge(ranges.len() + both.as_ref().map_or(0, |both| both.ranges().len()))?;
    let mut set = Set::new(ranges);
    if let Some(both) = both {
        set.intersect(&both);
    }
    Ok(set)
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
            parser.charge(CLASS)?;
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
        parser.charge(CLASS)?;
        return Ok(Part::Set(set));
    }
    if matches!(character, 'p' | 'P')
        && let Some(set) = parser.property(true)?
    {
        parser.charge(CLASS)?;
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
