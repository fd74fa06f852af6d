//! Reads the text and the id of a document from a line of JSON, without building other values.
//!
//! [`Fields::read`] takes a line only if `JSON.parse` accepts it and the line leaves no doubt about
//! the fields. All other lines are left to `JSON.parse` itself: lines that are not JSON, whose
//! fields are missing or of another type, that repeat a name on the way to a field, and that have
//! an unpaired surrogate in a name or the text. So the result is always that of `JSON.parse`, and
//! so are the errors.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use memchr::memchr;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::memory::{OutOfMemory, require_large};

/// The length of the first line, without its line end.
pub fn line_length(bytes: &[u8]) -> usize {
    memchr(b'\n', bytes).unwrap_or(bytes.len())
}

/// The fields of a document. Each is the name of a field, or a path of names that are joined with
/// dots. If an object has a field whose name contains dots, that field takes precedence: `a.b` is
/// the field `a.b` of the object, otherwise the field `b` of its field `a`.
#[derive(Debug, Clone)]
pub struct Fields {
    /// The field with the text.
    pub text: Box<str>,
    /// The field with the id, if ids are wanted.
    pub id: Option<Box<str>>,
}

/// What a line has in the [`Fields`].
#[derive(Debug, Default)]
pub struct Document<'l> {
    /// The text, unescaped.
    pub text: Cow<'l, str>,
    /// The JSON of the id, if ids are wanted.
    pub id: Option<&'l str>,
}

impl Fields {
    /// Reads a line, which has no line end. Returns `None` if `JSON.parse` has to read it.
    pub fn read<'l>(&self, line: &'l [u8]) -> Result<Option<Document<'l>>, OutOfMemory> {
        // The text and a buffer of the reader, which grow by doubling.
        require_large(line.len().saturating_mul(4))?;
        let Ok(line) = simdutf8::basic::from_utf8(line) else { return Ok(None) };
        let mut document = Document::default();
        let mut json = serde_json::Deserializer::from_str(line);
        let paths = [Some(&*self.text), self.id.as_deref()];
        let is_read =
            Object { paths, document: &mut document }.deserialize(&mut json).and_then(|()| json.end()).is_ok();
        Ok((is_read && document.id.is_none_or(is_plain_id)).then_some(document))
    }
}

/// Whether an id is a string, or an integer that JavaScript represents exactly.
fn is_plain_id(id: &str) -> bool {
    let digits = id.strip_prefix('-').unwrap_or(id);
    id.starts_with('"') || digits.len() <= 15 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// An object that the paths of the text and of the id lead to, or one of them.
struct Object<'a, 'l> {
    /// The rest of each path.
    paths: [Option<&'a str>; 2],
    document: &'a mut Document<'l>,
}

impl<'l> DeserializeSeed<'l> for Object<'_, 'l> {
    type Value = ();

    fn deserialize<D: Deserializer<'l>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'l> Visitor<'l> for Object<'_, 'l> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'l>>(self, mut members: A) -> Result<(), A::Error> {
        let Object { mut paths, document } = self;
        let wanted = paths;
        while let Some(Text(name)) = members.next_key()? {
            let rests = wanted.map(|path| rest_of_path(path?, &name));
            for (path, rest) in paths.iter_mut().zip(rests) {
                // A path that two names lead to is not there any more.
                if rest.is_some() && path.take().is_none() {
                    return Err(A::Error::custom("two fields"));
                }
            }
            match rests {
                [None, None] => {
                    members.next_value::<IgnoredAny>()?;
                }
                [Some(""), None] => document.text = members.next_value::<Text<'l>>()?.0,
                [None, Some("")] => document.id = Some(members.next_value::<&RawValue>()?.get()),
                _ if rests.contains(&Some("")) => return Err(A::Error::custom("one value for two fields")),
                _ => {
                    let paths = rests.map(|rest| rest?.strip_prefix('.'));
                    members.next_value_seed(Object { paths, document: &mut *document })?;
                }
            }
        }
        if paths == [None; 2] { Ok(()) } else { Err(A::Error::custom("a field is missing")) }
    }
}

/// What follows the name in the path: nothing if the value is the field, and a dot and more names
/// if the field is in the value. `None` if the name does not lead to the field.
fn rest_of_path<'a>(path: &'a str, name: &str) -> Option<&'a str> {
    path.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A string, borrowed if it has no escapes.
#[derive(Deserialize)]
struct Text<'l>(#[serde(borrow)] Cow<'l, str>);
