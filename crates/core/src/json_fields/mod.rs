//! Reads the text and the id of a document from a line of JSON, without building other values.
//!
//! [`Fields::read`] takes a line only if `JSON.parse` accepts it and the line leaves no doubt about
//! the fields. All other lines are left to `JSON.parse` itself: lines that are not JSON, whose
//! fields are missing or of another type, that repeat a name on the way to a field or spell a name
//! with escapes, that have an unpaired surrogate, and values that are nested too deeply. So the
//! result is always that of `JSON.parse`, and so are the errors.

mod scanner;
#[cfg(test)]
mod tests;

use std::ops::Range;

use memchr::memchr;

use scanner::{JsonScanner, Unescaped, is_plain_id};

/// The number of bytes by which the buffer of [`Fields::read`] must be longer than the line,
/// because texts are copied in words of eight bytes.
pub const EXTRA_BYTES: usize = 8;

/// The length of the first line, without its line end.
pub fn line_length(bytes: &[u8]) -> usize {
    memchr(b'\n', bytes).unwrap_or(bytes.len())
}

/// The number of bytes before the first one that is not UTF-8.
pub fn valid_utf8(bytes: &[u8]) -> usize {
    simdutf8::compat::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len)
}

/// The name of a field, or a path of names that are joined with dots. If an object has a field
/// whose name contains dots, that field takes precedence: `a.b` is the field `a.b` of the object,
/// otherwise the field `b` of its field `a`.
#[derive(Debug, Clone)]
pub struct FieldPath(Box<[u8]>);

impl From<&str> for FieldPath {
    fn from(name: &str) -> Self {
        Self(name.as_bytes().into())
    }
}

/// What a name means for a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathMatch {
    /// The name ends the path: its value is the field.
    Here,
    /// The field is in the value of the name. The rest of the path starts at this byte.
    Below(usize),
}

impl FieldPath {
    /// What the name means for the rest of the path, which starts at byte `from`; `None` if the
    /// name does not lead to the field.
    fn match_name(&self, from: usize, name: &[u8]) -> Option<PathMatch> {
        match self.0[from..].strip_prefix(name)? {
            [] => Some(PathMatch::Here),
            [b'.', ..] => Some(PathMatch::Below(from + name.len() + 1)),
            _ => None,
        }
    }
}

/// The fields of a document.
#[derive(Debug, Clone)]
pub struct Fields {
    /// The field with the text.
    pub text: FieldPath,
    /// The field with the id, if ids are wanted.
    pub id: Option<FieldPath>,
}

/// A path that is looked for, and what was found.
struct Wanted<'a> {
    path: &'a FieldPath,
    from: usize,
    is_text: bool,
    found: Option<Found>,
}

/// The value of a name: its range in the line, and what the name means for the path.
#[derive(Clone)]
struct Found {
    value: Range<usize>,
    matched: PathMatch,
}

impl<'a> Wanted<'a> {
    fn new(path: &'a FieldPath, is_text: bool) -> Self {
        Self { path, from: 0, is_text, found: None }
    }
}

impl Fields {
    /// Reads a line, which must be valid UTF-8 and have no line end. Writes the text, unescaped, to
    /// `buffer`. Returns the length of the text, and the range of the id's JSON if ids are wanted.
    /// Returns `None` if `JSON.parse` has to read the line.
    ///
    /// # Panics
    /// If `buffer` has fewer than [`EXTRA_BYTES`] bytes more than the line.
    pub fn read(&self, line: &[u8], buffer: &mut [u8]) -> Option<(usize, Option<Range<usize>>)> {
        assert!(buffer.len() >= line.len() + EXTRA_BYTES, "the buffer must be longer than the line");
        let mut text = Unescaped::new(buffer);
        let id = self.find(line, &mut text)?;
        Some((text.len, id))
    }

    fn find(&self, line: &[u8], text: &mut Unescaped<'_>) -> Option<Option<Range<usize>>> {
        let mut scanner = JsonScanner::new(line);
        let wanted = Wanted::new(&self.text, true);
        let Some(id) = &self.id else {
            let mut wanted = [wanted];
            scanner.object(&mut wanted, text)?;
            scanner.end()?;
            let [wanted] = wanted;
            resolve(line, wanted, text)?;
            return Some(None);
        };
        let mut wanted = [wanted, Wanted::new(id, false)];
        scanner.object(&mut wanted, text)?;
        scanner.end()?;
        let [wanted, wanted_id] = wanted;
        resolve(line, wanted, text)?;
        let id = resolve(line, wanted_id, text)?;
        is_plain_id(&line[id.clone()]).then_some(Some(id))
    }
}

/// Follows a path to its end. Returns the range of its value.
fn resolve(line: &[u8], wanted: Wanted<'_>, text: &mut Unescaped<'_>) -> Option<Range<usize>> {
    let Wanted { path, is_text, found, .. } = wanted;
    let mut found = found?;
    while let PathMatch::Below(from) = found.matched {
        // The value is known to be JSON, so the scanner ends where the value does.
        let mut wanted = [Wanted { path, from, is_text, found: None }];
        JsonScanner::new(&line[found.value.clone()]).object(&mut wanted, text)?;
        let [wanted] = wanted;
        let inner = wanted.found?;
        let start = found.value.start;
        found = Found { value: start + inner.value.start..start + inner.value.end, matched: inner.matched };
    }
    Some(found.value)
}
