//! Copies texts from JS, once, on the JS thread, in the form that V8 provides fastest.
//!
//! A string is copied as UTF-16; the worker that encodes it converts it to UTF-8. A long ASCII
//! string of a batch is copied as ASCII. Bytes are copied as well, because JS could write, transfer
//! or shrink them while a worker reads them.
//!
//! The texts of an asynchronous batch are copied in slices of [`SLICE`], and `lib/texts.js` lets
//! the event loop turn between them. A batch whose texts are copied in that time has a single
//! slice.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use napi::bindgen_prelude::Unknown;
use tokenlane_core::memory::{Grow, OutOfMemory, Plain, Slab, collect};
use tokenlane_core::{Input, Sequence, Text};

use crate::error::{Class, Failure};
use crate::node_api::{self, Fit, Refused};
use crate::options;

/// Size in bytes of the first chunk of an arena. Each further chunk is as large as all chunks
/// before it together, up to `MAX_CHUNK_BYTES`. A longer text gets a chunk of its own.
const FIRST_CHUNK_BYTES: usize = 1 << 20;
const MAX_CHUNK_BYTES: usize = 16 << 20;

/// Strings of at least this many UTF-16 units are checked for ASCII first: as ASCII they take half
/// of the memory and of the work.
const MIN_CHECKED_FOR_ASCII: usize = 512;

/// Strings are no longer checked for ASCII after this number of UTF-16 units in a batch turned out
/// not to be: the check is slow for other text.
const MAX_FAILED_ASCII_UNITS: usize = 64 << 10;

/// Minimum capacity of a thread's scratch buffer, in UTF-16 units. Most single texts are shorter.
const MIN_SCRATCH_UNITS: usize = 8 << 10;

/// A scratch buffer is freed after use if its capacity exceeds this number of units or bytes.
const MAX_KEPT_SCRATCH: usize = 1 << 20;

/// Duration of a slice: 0.5 ms.
const SLICE: Duration = Duration::from_micros(500);

/// The clock is read after this many bytes: 64 KiB.
const CLOCK_BYTES: usize = 64 << 10;

/// Copying a row takes as long as copying this many bytes more.
const ROW_BYTES: usize = 256;

/// A slice of copying.
pub struct Slice {
    /// The time at which it ends; `None` for a slice without end.
    end: Option<Instant>,
    /// Bytes copied since the clock was read.
    bytes: usize,
}

impl Slice {
    /// A slice that begins now and ends after [`SLICE`].
    pub fn begin() -> Self {
        Self { end: Some(Instant::now() + SLICE), bytes: 0 }
    }

    /// A slice that does not end.
    pub fn endless() -> Self {
        Self { end: None, bytes: 0 }
    }

    /// Records that a row of `bytes` bytes was copied. Returns whether the slice continues.
    fn continues(&mut self, bytes: usize) -> bool {
        self.bytes += bytes + ROW_BYTES;
        if self.bytes < CLOCK_BYTES {
            return true;
        }
        self.bytes = 0;
        self.end.is_none_or(|end| Instant::now() < end)
    }
}

/// The place of a row: `start..end` in a chunk of UTF-16 units or of UTF-8 (an ASCII string, or the
/// text of a document), or in the bytes of the arena.
#[derive(Debug, Clone, Copy)]
enum Row {
    Utf16 { chunk: usize, start: usize, end: usize },
    Utf8 { chunk: usize, start: usize, end: usize },
    Bytes { start: usize, end: usize },
}

/// The chunks of one batch, which are filled one after the other. No chunk grows beyond its initial
/// capacity, so values are never moved.
#[derive(Debug)]
struct Chunks<T: Plain> {
    all: Vec<Slab<T>>,
    bytes: usize,
}

impl<T: Plain> Default for Chunks<T> {
    fn default() -> Self {
        Self { all: vec![], bytes: 0 }
    }
}

impl<T: Plain> Chunks<T> {
    /// Returns the last chunk, or a new one, with capacity for `count` more values.
    fn chunk_with_capacity(&mut self, count: usize) -> Result<&mut Slab<T>, OutOfMemory> {
        if self.all.last().is_none_or(|last| last.capacity() - last.len() < count) {
            let bytes = (count * size_of::<T>()).max(self.bytes.clamp(FIRST_CHUNK_BYTES, MAX_CHUNK_BYTES));
            self.all.push(Slab::try_with_capacity(bytes / size_of::<T>())?);
            self.bytes += bytes;
        }
        Ok(self.all.last_mut().expect("there is one now"))
    }

    /// The place of the last `length` values: index of the chunk, start and end.
    fn latest(&self, length: usize) -> (usize, usize, usize) {
        let chunk = self.all.len() - 1;
        (chunk, self.all[chunk].len() - length, self.all[chunk].len())
    }
}

/// The texts of one batch.
#[derive(Debug, Default)]
pub struct Arena {
    units: Chunks<u16>,
    utf8: Chunks<u8>,
    /// UTF-16 units of the strings that were checked and are not ASCII.
    failed_ascii_units: usize,
    bytes: Vec<u8>,
    rows: Vec<Row>,
}

impl Arena {
    /// Copies one text. `name` is the name of the argument, for error messages.
    pub fn of_one(name: &str, value: &Unknown<'_>) -> Result<Self, Failure> {
        let mut arena = Self::default();
        arena.push(value).map_err(|refused| refusal(name, STRING_OR_BYTES, value, refused))?;
        Ok(arena)
    }

    /// Copies the texts of an array of strings and Uint8Arrays.
    fn append(&mut self, part: &Part<'_>, slice: &mut Slice) -> Result<u32, Failure> {
        part.each("an array of strings or Uint8Arrays", |index, element| {
            let bytes = self.push(element).map_err(|refused| {
                let failure = refusal(&format!("{}[{index}]", part.name), STRING_OR_BYTES, element, refused);
                Failure { index: Some(index), ..failure }
            })?;
            Ok(slice.continues(bytes))
        })
    }

    /// Copies a text. Returns the number of bytes copied.
    fn push(&mut self, value: &Unknown<'_>) -> Result<usize, Refused> {
        self.rows.try_grow(1)?;
        node_api::require_flat(value)?;
        match node_api::append_utf16(
            value,
            self.units.chunk_with_capacity(MIN_CHECKED_FOR_ASCII)?,
            MIN_CHECKED_FOR_ASCII,
        ) {
            Fit::Appended(length) => {
                let (chunk, start, end) = self.units.latest(length);
                self.rows.push(Row::Utf16 { chunk, start, end });
                Ok(length * size_of::<u16>())
            }
            Fit::TooLong { starts_as_ascii } => self.push_long(value, starts_as_ascii),
            Fit::NoString => {
                let start = self.bytes.len();
                let length = node_api::append_bytes(value, &mut self.bytes)?;
                self.rows.push(Row::Bytes { start, end: start + length });
                Ok(length)
            }
        }
    }

    fn push_long(&mut self, value: &Unknown<'_>, starts_as_ascii: bool) -> Result<usize, Refused> {
        let length = node_api::utf16_length(value).ok_or(Refused::NotThatKind)?;
        if starts_as_ascii && self.failed_ascii_units < MAX_FAILED_ASCII_UNITS {
            // Node writes a terminating zero, which needs capacity too.
            if node_api::is_ascii(value, length)
                && node_api::append_ascii(value, self.utf8.chunk_with_capacity(length + 1)?)
            {
                let (chunk, start, end) = self.utf8.latest(length);
                self.rows.push(Row::Utf8 { chunk, start, end });
                return Ok(length);
            }
            self.failed_ascii_units += length;
        }
        let Fit::Appended(length) =
            node_api::append_utf16(value, self.units.chunk_with_capacity(length + 2)?, usize::MAX)
        else {
            return Err(Refused::NotThatKind);
        };
        let (chunk, start, end) = self.units.latest(length);
        self.rows.push(Row::Utf16 { chunk, start, end });
        Ok(length * size_of::<u16>())
    }

    /// Appends a text of UTF-8.
    pub fn push_utf8(&mut self, text: &[u8]) -> Result<(), OutOfMemory> {
        self.rows.try_grow(1)?;
        self.utf8.chunk_with_capacity(text.len())?.extend_from_slice(text);
        let (chunk, start, end) = self.utf8.latest(text.len());
        self.rows.push(Row::Utf8 { chunk, start, end });
        Ok(())
    }

    /// Appends a Uint8Array. Returns its length.
    pub fn push_js_bytes(&mut self, name: &str, value: &Unknown<'_>) -> Result<usize, Failure> {
        self.rows.try_grow(1)?;
        let memory = self.utf8.chunk_with_capacity(node_api::byte_length(value).unwrap_or(0))?;
        let appended = node_api::append_bytes(value, memory);
        let length = appended.map_err(|refused| refusal(name, BYTES, value, refused))?;
        let (chunk, start, end) = self.utf8.latest(length);
        self.rows.push(Row::Utf8 { chunk, start, end });
        Ok(length)
    }

    /// The text at an index, if there is one and it was appended as UTF-8.
    pub fn utf8_at(&self, index: usize) -> Option<&[u8]> {
        match *self.rows.get(index)? {
            Row::Utf8 { chunk, start, end } => Some(&self.utf8.all[chunk][start..end]),
            _ => None,
        }
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The texts, in order.
    pub fn texts(&self) -> Result<Vec<Text<'_>>, OutOfMemory> {
        collect(self.rows.iter().map(|row| match *row {
            Row::Utf16 { chunk, start, end } => Text::Utf16(&self.units.all[chunk][start..end]),
            Row::Utf8 { chunk, start, end } => Text::Bytes(&self.utf8.all[chunk][start..end]),
            Row::Bytes { start, end } => Text::Bytes(&self.bytes[start..end]),
        }))
    }
}

/// Elements of an array that JS passed.
pub struct Part<'a> {
    /// The name of the argument that the array belongs to, for error messages.
    pub name: &'a str,
    /// The array, or another value, which is refused.
    pub array: &'a Unknown<'a>,
    /// The elements; `None` for all.
    pub range: Option<Range<u32>>,
    /// The index of the array's first element in the argument.
    pub first: usize,
}

impl<'a> Part<'a> {
    /// All elements of an argument.
    fn whole(name: &'a str, array: &'a Unknown<'a>) -> Self {
        Self { name, array, range: None, first: 0 }
    }

    /// Calls `visit` with each element and its index in the argument, until it returns false or an
    /// error. Returns the index in the array after the last element that was visited.
    fn each(
        &self,
        expected: &str,
        mut visit: impl FnMut(usize, &Unknown<'_>) -> Result<bool, Failure>,
    ) -> Result<u32, Failure> {
        let Some(length) = node_api::array_length(self.array) else {
            let what = node_api::describe(self.array);
            return Err(Failure::wrong_type(format!("{} must be {expected}, but it is {what}", self.name)));
        };
        let mut failure = None;
        let range = self.range.clone().unwrap_or(0..length);
        let visited = node_api::each_element(self.array, range, |index, element| {
            visit(self.first + index as usize, element).map_err(|found| {
                failure = Some(found);
                napi::Error::from_status(napi::Status::Cancelled)
            })
        });
        match (visited, failure) {
            (Ok(next), _) => Ok(next),
            (Err(_), Some(failure)) => Err(failure),
            (Err(error), None) => Err(Failure::new(Class::Error, "ERR_TOKENLANE_NODE", error.to_string())),
        }
    }
}

/// The inputs of a batch: texts or arrays of words, each with or without a second text.
#[derive(Debug)]
pub enum Inputs {
    /// Texts without a second text.
    Texts(Arena),
    /// Texts of documents, which stay when they are encoded.
    Shared(Arc<Arena>),
    /// Arrays of words, or inputs with a second text.
    Any { first: Texts, second: Option<Texts> },
}

/// Texts that may be split into words. In that case `ends` has the end of each text's words.
#[derive(Debug)]
pub struct Texts {
    arena: Arena,
    ends: Option<Vec<usize>>,
}

impl Texts {
    /// No texts; if `words` is set, of arrays of words.
    pub fn new(words: bool) -> Self {
        node_api::look_at_limits();
        Self { arena: Arena::default(), ends: words.then(Vec::new) }
    }

    /// Copies texts, or arrays of words, until the slice ends. Returns the index in the array
    /// after the last one copied.
    pub fn append(&mut self, part: &Part<'_>, slice: &mut Slice) -> Result<u32, Failure> {
        let Self { arena, ends } = self;
        let Some(ends) = ends else { return arena.append(part, slice) };
        part.each("an array of arrays of words", |index, words| {
            let list = format!("{}[{index}]", part.name);
            arena
                .append(&Part::whole(&list, words), &mut Slice::endless())
                .map_err(|failure| Failure { index: Some(index), ..failure })?;
            let copied = arena.rows.len() - ends.last().copied().unwrap_or(0);
            ends.try_grow(1)?;
            ends.push(arena.rows.len());
            Ok(slice.continues(copied * ROW_BYTES))
        })
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.ends.as_ref().map_or(self.arena.len(), Vec::len)
    }

    fn copy(name: &str, value: &Unknown<'_>, words: bool) -> Result<Self, Failure> {
        let mut texts = Self::new(words);
        texts.append(&Part::whole(name, value), &mut Slice::endless())?;
        Ok(texts)
    }

    fn sequences<'a>(&self, texts: &'a [Text<'a>]) -> Result<Vec<Sequence<'a>>, OutOfMemory> {
        match &self.ends {
            None => collect(texts.iter().map(|&text| Sequence::Text(text))),
            Some(ends) => {
                let mut start = 0;
                collect(ends.iter().map(|&end| Sequence::Words(&texts[std::mem::replace(&mut start, end)..end])))
            }
        }
    }
}

impl Default for Inputs {
    fn default() -> Self {
        Self::Texts(Arena::default())
    }
}

impl Inputs {
    /// The inputs with these texts, or none, and these second texts. It is an error if their
    /// numbers differ.
    pub fn new(first: Option<Texts>, second: Option<Texts>) -> Result<Self, Failure> {
        let first = first.unwrap_or_else(|| Texts::new(false));
        if let Some(second) = second.as_ref().filter(|second| second.len() != first.len()) {
            let message = format!("there are {} texts, but {} pairs", first.len(), second.len());
            return Err(Failure::new(Class::Range, "ERR_TOKENLANE_ARGUMENT_VALUE", message));
        }
        Ok(match (first, second) {
            (Texts { arena, ends: None }, None) => Self::Texts(arena),
            (first, second) => Self::Any { first, second },
        })
    }

    /// Copies the texts of a batch and the second texts, if there are any.
    pub fn copy(texts: &Unknown<'_>, pairs: Option<&Unknown<'_>>, words: bool) -> Result<Self, Failure> {
        let first = Texts::copy("texts", texts, words)?;
        let second = pairs.map(|pairs| Texts::copy("pairs", pairs, words)).transpose()?;
        Self::new(Some(first), second)
    }

    /// Calls `texts` for a batch of texts alone, otherwise `inputs`.
    pub fn with<T>(
        &self,
        texts: impl FnOnce(&[Text<'_>]) -> T,
        inputs: impl FnOnce(&[Input<'_>]) -> T,
    ) -> Result<T, OutOfMemory> {
        let (first, second) = match self {
            Self::Texts(arena) => return Ok(texts(&arena.texts()?)),
            Self::Shared(arena) => return Ok(texts(&arena.texts()?)),
            Self::Any { first, second } => (first, second),
        };
        let first_texts = first.arena.texts()?;
        let second_texts = second.as_ref().map(|second| second.arena.texts()).transpose()?.unwrap_or_default();
        let seconds = second.as_ref().map(|second| second.sequences(&second_texts)).transpose()?.unwrap_or_default();
        let mut seconds = seconds.into_iter();
        let firsts = first.sequences(&first_texts)?.into_iter();
        let all = collect(firsts.map(|first| Input { first, second: seconds.next() }))?;
        Ok(inputs(&all))
    }
}

/// Copies one input and calls `work` with it, on this thread. The input is a text or, with the flag
/// for words, an array of them, and the same for its pair unless that is undefined. With the flag
/// for literal ranges, the pair is a Uint32Array of their bounds.
pub fn with_input<T>(
    value: &Unknown<'_>,
    pair: &Unknown<'_>,
    flags: u32,
    work: impl FnOnce(&Input<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if options::has_literal(flags) {
        let literal = options::literal(&copy_ids("ranges", pair)?)?;
        return with_text("text", value, |text| work(&Input { first: Sequence::Marked(text, &literal), second: None }));
    }
    let words = options::has_words(flags);
    let has_pair = !node_api::is_undefined(pair);
    if !words && !has_pair {
        return with_text("text", value, |text| work(&text.into()));
    }
    let copy = |name: &str, value: &Unknown<'_>| {
        let mut arena = Arena::default();
        if words {
            let whole = Part::whole(name, value);
            arena.append(&whole, &mut Slice::endless()).map_err(|failure| Failure { index: None, ..failure })?;
        } else {
            arena.push(value).map_err(|refused| refusal(name, STRING_OR_BYTES, value, refused))?;
        }
        Ok::<_, Failure>(arena)
    };
    let first = copy("text", value)?;
    let second = if has_pair { Some(copy("pair", pair)?) } else { None };
    let first_texts = first.texts()?;
    let second_texts = second.as_ref().map(Arena::texts).transpose()?;
    let sequence = |texts| if words { Sequence::Words(texts) } else { Sequence::Text(texts[0]) };
    work(&Input { first: sequence(&first_texts), second: second_texts.as_deref().map(sequence) })
}

/// The scratch buffers that a thread reuses for single texts.
#[derive(Default)]
struct TextScratch {
    units: Vec<u16>,
    bytes: Vec<u8>,
}

thread_local! {
    static SCRATCH_OF_THREAD: Cell<TextScratch> = const { Cell::new(TextScratch { units: vec![], bytes: vec![] }) };
}

/// Copies one text and calls `work` with it, on this thread. `name` is the name of the argument,
/// for error messages. Reading bytes may run JS that calls this function again: the second call
/// has other buffers.
pub fn with_text<T>(
    name: &str,
    value: &Unknown<'_>,
    work: impl FnOnce(Text<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut scratch = SCRATCH_OF_THREAD.take();
    let result = with_copy(name, value, &mut scratch, work);
    let TextScratch { units, bytes } = &mut scratch;
    if units.capacity() > MAX_KEPT_SCRATCH {
        *units = Vec::new();
    }
    if bytes.capacity() > MAX_KEPT_SCRATCH {
        *bytes = Vec::new();
    }
    SCRATCH_OF_THREAD.set(scratch);
    result
}

/// Copies the text to `scratch` and runs `work` with it.
fn with_copy<T>(
    name: &str,
    value: &Unknown<'_>,
    TextScratch { units, bytes }: &mut TextScratch,
    work: impl FnOnce(Text<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    units.clear();
    units.try_grow(MIN_SCRATCH_UNITS)?;
    node_api::require_flat(value)?;
    let mut fit = node_api::append_utf16(value, units, usize::MAX);
    if let Fit::TooLong { .. } = fit {
        units.try_grow(node_api::utf16_length(value).unwrap_or(0) + 2)?;
        fit = node_api::append_utf16(value, units, usize::MAX);
    }
    if let Fit::Appended(_) = fit {
        return work(Text::Utf16(units));
    }
    bytes.clear();
    node_api::append_bytes(value, bytes).map_err(|refused| refusal(name, STRING_OR_BYTES, value, refused))?;
    work(Text::Bytes(bytes))
}

/// Copies the ids of a Uint32Array.
pub fn copy_ids(name: &str, value: &Unknown<'_>) -> Result<Vec<u32>, Failure> {
    node_api::copy_words(value).map_err(|refused| refusal(name, IDS, value, refused))
}

/// The number of ids that fit into a Uint32Array.
pub fn capacity(name: &str, value: &Unknown<'_>) -> Result<usize, Failure> {
    node_api::word_capacity(value).map_err(|refused| refusal(name, IDS, value, refused))
}

/// What an argument or an element has to be, as error messages say it.
const STRING_OR_BYTES: &str = "a string or a Uint8Array of UTF-8";
const BYTES: &str = "a Uint8Array";
const IDS: &str = "a Uint32Array";

/// The error for a value that was refused.
fn refusal(name: &str, expected: &str, value: &Unknown<'_>, refused: Refused) -> Failure {
    match refused {
        Refused::NoMemory(error) => error.into(),
        Refused::NotThatKind => {
            Failure::wrong_type(format!("{name} must be {expected}, but it is {}", node_api::describe(value)))
        }
        other => buffer_refused(name, other),
    }
}

fn buffer_refused(name: &str, refused: Refused) -> Failure {
    let why = match refused {
        Refused::Detached => "was detached: it was transferred or disposed of",
        Refused::Resizable => "is resizable; copy it first",
        _ => "is shared with other threads; copy it first",
    };
    Failure::new(Class::Type, "ERR_TOKENLANE_BUFFER", format!("the buffer of {name} {why}"))
}

/// Copies the bytes of a Uint8Array.
pub fn copy_bytes(name: &str, value: &Unknown<'_>) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    append_bytes(name, value, &mut bytes)?;
    Ok(bytes)
}

/// Appends the bytes of a Uint8Array to `bytes`.
pub fn append_bytes(name: &str, value: &Unknown<'_>, bytes: &mut impl node_api::ByteList) -> Result<(), Failure> {
    node_api::append_bytes(value, bytes).map(drop).map_err(|refused| refusal(name, BYTES, value, refused))
}
