//! Lines of JSON, whose fields are compared with those that serde_json finds.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::draw::Draw;
use crate::json_fields::{EXTRA_BYTES, Fields};

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
            // Around the greatest depth that is read.
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
    let mut buffer = vec![0; line.len() + EXTRA_BYTES];
    let read = fields.read(line.as_bytes(), &mut buffer).map(|(length, id)| {
        let text = std::str::from_utf8(&buffer[..length]).expect("the text is UTF-8");
        (text.to_owned(), id.map(|id| &line[id]))
    });
    let expected = expected(text, id, line);
    let expected = expected.as_ref().map(|(text, id)| (text.clone(), id.clone().map(|id| &line[id])));
    // The reader may leave lines that are nested more deeply to `JSON.parse`.
    if read.is_some() || depth(line) <= 256 {
        assert_eq!(read, expected, "paths {text:?} and {id:?} in {line}");
    }
}

/// The text, and the place of the id, as serde_json finds them; `None` if the line is not JSON or
/// leaves a doubt about the fields, for which `JSON.parse` reads it.
#[allow(clippy::type_complexity, reason = "the type of Fields::read")]
fn expected(text: &str, id: Option<&str>, line: &str) -> Option<(String, Option<Range<usize>>)> {
    if has_unpaired(line) {
        return None;
    }
    let whole: &RawValue = serde_json::from_str(line).ok()?;
    let found: String = serde_json::from_str(find(whole.get(), text)?).ok()?;
    let Some(id) = id else { return Some((found, None)) };
    let id = find(whole.get(), id)?;
    let digits = id.strip_prefix('-').unwrap_or(id);
    let is_integer = digits.len() <= 15 && digits.parse::<u64>().is_ok();
    if !id.starts_with('"') && !is_integer {
        return None;
    }
    let start = id.as_ptr().addr() - line.as_ptr().addr();
    Some((found, Some(start..start + id.len())))
}

/// The value at a path, if exactly one name of each object leads to it, and none has an escape.
fn find<'a>(value: &'a str, path: &str) -> Option<&'a str> {
    let Members(members) = serde_json::from_str(value).ok()?;
    let names: Option<Vec<&str>> = members.iter().map(|(name, _)| *name).collect();
    let leading = |name: &str| path.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('.'));
    let mut found = names?.into_iter().zip(&members).filter_map(|(name, (_, value))| Some((leading(name)?, value)));
    let (rest, value) = found.next()?;
    match (found.next(), rest.strip_prefix('.')) {
        (Some(_), _) => None,
        (None, Some(rest)) => find(value.get(), rest),
        (None, None) => Some(value.get()),
    }
}

/// The names and values of an object, in order. A name with an escape is `None`.
struct Members<'a>(Vec<(Option<&'a str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = vec![];
                while let Some(Name(name)) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

struct Name<'a>(Option<&'a str>);

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a name")
            }

            fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Some(name)))
            }

            fn visit_str<E: Error>(self, _name: &str) -> Result<Name<'de>, E> {
                Ok(Name(None))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Whether the line has an escape of an unpaired surrogate, which serde_json refuses only in some
/// places.
fn has_unpaired(line: &str) -> bool {
    let line = line.as_bytes();
    let unit = |at: usize| {
        let digits = std::str::from_utf8(line.get(at..at + 6)?.strip_prefix(b"\\u")?).ok()?;
        digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).expect("digits"))
    };
    let mut at = 0;
    while at < line.len() {
        at += match (unit(at), unit(at + 6)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
            (Some(0xd800..0xe000), _) => return true,
            _ if line[at] == b'\\' => 2,
            _ => 1,
        };
    }
    false
}

/// The greatest number of values that are open at a time.
fn depth(line: &str) -> usize {
    let (mut open, mut most, mut is_string, mut is_escaped) = (0_usize, 0, false, false);
    for byte in line.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_string,
            b'"' => is_string = !is_string,
            b'{' | b'[' if !is_string => open += 1,
            b'}' | b']' if !is_string => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}
