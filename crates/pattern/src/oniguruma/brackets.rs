//! Parses bracketed classes, `[…]`.

use regex_syntax::hir::ClassUnicodeRange;

use super::classes::{self, Set};
use super::{CLASS_COST, Flags, Item, MAX_GROUP_DEPTH, Parser, Problem, Result, fold};

/// Parses a class after its opening bracket.
pub(super) fn class(parser: &mut Parser<'_>, flags: Flags) -> Result<Item> {
    let is_negative = parser.take("^");
    let set = set(parser)?;
    let mut text = String::new();
    // Computing the case folding takes longer than the class itself.
    parser.charge(set.ranges().len() * if flags.ignore_case { 16 } else { 1 })?;
    match (flags.ignore_case, is_negative) {
        (false, false) => classes::write(&set, &mut text),
        (true, false) => fold::write_class(&set, &mut text),
        // Case folding is applied before the negation.
        (true, true) => classes::write(&classes::negated(fold::closed(set)), &mut text),
        (false, true) => classes::write(&classes::negated(set), &mut text),
    }
    Ok(super::atom(&text))
}

/// Parses a set of characters up to and including the closing bracket.
fn set(parser: &mut Parser<'_>) -> Result<Set> {
    parser.depth += 1;
    if parser.depth > MAX_GROUP_DEPTH {
        return Err(parser.problem("brackets nested too deeply"));
    }
    let opened = parser.at;
    let unfinished = || Problem { what: "a class without an end".into(), at: opened };
    // The ranges are joined at the end, because each union takes time proportional to both sets.
    let mut ranges: Vec<ClassUnicodeRange> = vec![];
    let mut both: Option<Set> = None;
    // A closing bracket in the first position is a character if another one follows.
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
            ClassItem::Set(more) => {
                parser.charge(more.ranges().len())?;
                ranges.extend(more.ranges());
                // A hyphen after a class does not start a range.
                if parser.rest().starts_with('-') && !is_literal_hyphen(parser) {
                    return Err(parser.problem("a range that begins with a class"));
                }
            }
            ClassItem::Character(first) => {
                let hyphen = parser.at;
                if !parser.rest().starts_with('-') || is_literal_hyphen(parser) {
                    ranges.push(ClassUnicodeRange::new(first, first));
                    continue;
                }
                parser.at += 1;
                match part(parser)?.ok_or_else(unfinished)? {
                    ClassItem::Character(last) if first <= last => ranges.push(ClassUnicodeRange::new(first, last)),
                    ClassItem::Character(_) => return Err(Problem { what: "an empty range".into(), at: hyphen }),
                    ClassItem::Set(_) => {
                        return Err(Problem { what: "a range that ends with a class".into(), at: hyphen });
                    }
                }
                // A hyphen after a range is a character.
                if parser.take("-") {
                    ranges.push(ClassUnicodeRange::new('-', '-'));
                }
            }
        }
    }
}

/// Converts the ranges to a set and intersects it with the other set, if any.
fn intersection(parser: &mut Parser<'_>, ranges: Vec<ClassUnicodeRange>, both: Option<Set>) -> Result<Set> {
    parser.charge(ranges.len() + both.as_ref().map_or(0, |both| both.ranges().len()))?;
    let mut set = Set::new(ranges);
    if let Some(both) = both {
        set.intersect(&both);
    }
    Ok(set)
}

/// Whether the next hyphen is a character, because what follows cannot end a range.
fn is_literal_hyphen(parser: &Parser<'_>) -> bool {
    let rest = &parser.rest()[1..];
    rest.starts_with(']') || rest.starts_with("&&") || rest.starts_with('[')
}

enum ClassItem {
    Character(char),
    Set(Set),
}

/// Parses a character or a nested set. Returns `None` at the end of the pattern.
fn part(parser: &mut Parser<'_>) -> Result<Option<ClassItem>> {
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
            parser.charge(CLASS_COST)?;
            return Ok(Some(ClassItem::Set(if is_negative { classes::negated(set) } else { set })));
        }
        parser.at = start;
    }
    Ok(match parser.next() {
        None => None,
        Some('[') => {
            let is_negative = parser.take("^");
            let set = set(parser)?;
            Some(ClassItem::Set(if is_negative { classes::negated(set) } else { set }))
        }
        Some('\\') => Some(escape(parser)?),
        Some(character) => Some(ClassItem::Character(character)),
    })
}

fn escape(parser: &mut Parser<'_>) -> Result<ClassItem> {
    let Some(character) = parser.peek() else { return Err(parser.problem("a backslash at the end")) };
    if let Some(set) = classes::short(character, true) {
        parser.next();
        parser.charge(CLASS_COST)?;
        return Ok(ClassItem::Set(set));
    }
    if matches!(character, 'p' | 'P')
        && let Some(set) = parser.property(true)?
    {
        parser.charge(CLASS_COST)?;
        return Ok(ClassItem::Set(set));
    }
    if let Some(characters) = parser.coded(true)? {
        return Ok(match characters[..] {
            [one] => ClassItem::Character(one),
            _ => {
                let mut set = Set::empty();
                characters.iter().for_each(|&character| set.union(&classes::range(character, character)));
                ClassItem::Set(set)
            }
        });
    }
    parser.next();
    Ok(ClassItem::Character(character))
}
