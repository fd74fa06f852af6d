//! Lines of JSON, whose fields are compared with those that serde_json finds.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::draw::Draw;
use crate::json_fields::{Document, Fields};

const FIELD_NAMES: [&str; 10] = ["text", "id", "a", "", "a.b", "b", "t\\u0065xt", "é", "\\ud83d", "n"];
const PATHS: [&str; 9] = ["text", "id", "a", "", "a.b", "a.text", "a.b.text", ".a", "é"];
/// Parts of strings that JSON allows.
const STRINGS: [&str; 14] = [
    "a",
    "plain words, more than eight bytes of them",
    "\\n",
    "\\\"",
    "\\\\",
    "\\/",
    "\\u00e9",
    "\\ud83d",
    "\\ude00",
    "\\ud83d\\ude00",
    "é漢",
    "😀",
    "\u{7f}",
    "\\u0000",
];
const SCALARS: [&str; 12] =
    ["0", "-0", "12", "-3.25e-7", "1e999", "123456789012345", "1234567890123456", "true", "false", "null", "[]", "{}"];
const SPACES: [&str; 6] = ["", "", "", " ", "\t", "\r "];
/// Strings that damage a line at most places.
const DAMAGE: [&str; 16] =
    ["\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "\u{1}", "\\u12", "\u{a0}", "\u{feff}"];

/// Interprets bytes as two paths and a line: arbitrary text, or JSON that may be damaged.
pub(super) fn json_fields(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let text = draw.one_of(&PATHS);
    let id = draw.flag().then(|| draw.one_of(&PATHS));
    let line = if draw.below(4) == 0 {
        draw.text(&[&FIELD_NAMES[..], &STRINGS, &SCALARS, &SPACES, &DAMAGE].concat(), 2048)
    } else {
        let mut line = String::new();
        object(&mut draw, &mut line, 0);
        damage(&mut draw, &mut line);
        line
    };
    // A line has no line feed.
    check(text, id, &line.replace('\n', " "));
}

fn object(draw: &mut Draw<'_>, line: &mut String, depth: usize) {
    line.push('{');
    for member in 0..draw.below(6) {
        if member > 0 {
            line.push(',');
        }
        line.push_str(draw.one_of(&SPACES));
        line.push('"');
        line.push_str(draw.one_of(&FIELD_NAMES));
        line.push('"');
        line.push_str(draw.one_of(&SPACES));
        line.push(':');
        line.push_str(draw.one_of(&SPACES));
        value(draw, line, depth);
        line.push_str(draw.one_of(&SPACES));
    }
    line.push('}');
}

fn value(draw: &mut Draw<'_>, line: &mut String, depth: usize) {
    match draw.below(8) {
        0 if depth < 4 => object(draw, line, depth + 1),
        1 if depth < 4 => {
            line.push('[');
            for entry in 0..draw.below(4) {
                if entry > 0 {
                    line.push(',');
                }
                value(draw, line, depth + 1);
            }
            line.push(']');
        }
        2 => {
            // Deeper than a reader may recurse.
            let (open, close) = if draw.flag() { ("[", "]") } else { ("{\"a\":", "}") };
            let times = 250 + draw.below(12);
            line.push_str(&open.repeat(times));
            line.push('1');
            line.push_str(&close.repeat(times));
        }
        3 | 4 => line.push_str(draw.one_of(&SCALARS)),
        _ => {
            line.push('"');
            for _ in 0..draw.below(6) {
                line.push_str(draw.one_of(&STRINGS));
            }
            line.push('"');
        }
    }
}

/// Inserts or removes something in half of the lines.
fn damage(draw: &mut Draw<'_>, line: &mut String) {
    let kind = draw.below(4);
    let mut at = draw.below(1 << 16) % (line.len() + 1);
    while !line.is_char_boundary(at) {
        at -= 1;
    }
    match kind {
        0 => line.insert_str(at, draw.one_of(&DAMAGE)),
        1 if draw.flag() => line.truncate(at),
        1 if at < line.len() => {
            line.remove(at);
        }
        _ => {}
    }
}

fn check(text: &str, id: Option<&str>, line: &str) {
    let fields = Fields { text: text.into(), id: id.map(Into::into) };
    let read = fields.read(line.as_bytes()).expect("memory suffices");
    let read = read.as_ref().map(|Document { text, id }| (&**text, *id));
    let expected = expected(text, id, line);
    let expected = expected.as_ref().map(|(text, id)| (&**text, *id));
    assert_eq!(read, expected, "paths {text:?} and {id:?} in {line}");
}

/// The text and the id as serde_json finds them in the values of all names; `None` if the line is
/// not JSON or leaves a doubt about the fields, for which `JSON.parse` reads it.
fn expected<'l>(text: &str, id: Option<&str>, line: &'l str) -> Option<(String, Option<&'l str>)> {
    let whole: &RawValue = serde_json::from_str(line).ok()?;
    let found: &str = find(whole.get(), text)?;
    let text = serde_json::from_str(found).ok()?;
    let Some(id) = id else { return Some((text, None)) };
    let id = find(whole.get(), id)?;
    let digits = id.strip_prefix('-').unwrap_or(id);
    let is_integer = digits.len() <= 15 && digits.parse::<u64>().is_ok();
    let is_taken = (id.starts_with('"') || is_integer) && id.as_ptr() != found.as_ptr();
    is_taken.then_some((text, Some(id)))
}

/// The value at a path, if exactly one name of each object leads to it.
fn find<'l>(value: &'l str, path: &str) -> Option<&'l str> {
    let Members(members) = serde_json::from_str(value).ok()?;
    let leading = |name: &str| path.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('.'));
    let mut found = members.iter().filter_map(|(name, value)| Some((leading(name)?, value)));
    let (rest, value) = found.next()?;
    match (found.next(), rest.strip_prefix('.')) {
        (Some(_), _) => None,
        (None, Some(rest)) => find(value.get(), rest),
        (None, None) => Some(value.get()),
    }
}

/// The names and values of an object, in order.
struct Members<'l>(Vec<(String, &'l RawValue)>);

impl<'l> Deserialize<'l> for Members<'l> {
    fn deserialize<D: Deserializer<'l>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'l> Visitor<'l> for Object {
            type Value = Members<'l>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<Members<'l>, A::Error> {
                let mut members = vec![];
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}
