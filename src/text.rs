//! Text coming in: copied once, on the JS thread, in the form in which V8 hands it out fastest.
//!
//! A string is copied as UTF-16; whoever encodes it, on whatever thread, transcodes it there. A long string of a batch that
//! is ASCII is copied as such. Bytes are copied too: JS could write to them, transfer them or shrink them while a worker
//! reads.

use std::cell::RefCell;

use napi::Env;
use napi::bindgen_prelude::Unknown;
use tokenlane_core::memory::{Grow, OutOfMemory, Plain, Slab};
use tokenlane_core::{Input, Sequence, Text};

use crate::error::{Class, Failure, caught};
use crate::node_api::{self, Fit, Refused};

/// The first chunk of an arena has this size in bytes, each further one is as large as all before it together, up to
/// the largest; a longer text gets one of its own.
const CHUNK: usize = 1 << 20;
const LARGEST_CHUNK: usize = 16 << 20;

/// Strings of this many units and more are looked at twice: as ASCII they take half of the room and of the work.
const LONG: usize = 512;

/// So many units may be measured in vain, in a batch, before no more strings are: text that is not ASCII is slow to measure.
const VAIN: usize = 64 << 10;

/// The least room there is in the scratch of one thread, in UTF-16 units: most single texts are shorter.
const SCRATCH: usize = 8 << 10;

/// Scratch that grew past this many units or bytes is freed after use.
const MOST_KEPT: usize = 1 << 20;

/// Where a row lies: from `start` to `end` in a chunk of units, or in the bytes.
#[derive(Debug, Clone, Copy)]
enum Row {
    Utf16 { chunk: usize, start: usize, end: usize },
    Ascii { chunk: usize, start: usize, end: usize },
    Bytes { start: usize, end: usize },
}

/// Lists of one batch that are filled one after the other. None grows past the room it was made with, so nothing is
/// copied twice.
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
    /// The last chunk, or a new one, with room for so many more.
    fn with_room(&mut self, count: usize) -> Result<&mut Slab<T>, OutOfMemory> {
        if self.all.last().is_none_or(|last| last.capacity() - last.len() < count) {
            let bytes = (count * size_of::<T>()).max(self.bytes.clamp(CHUNK, LARGEST_CHUNK));
            self.all.push(Slab::try_with_capacity(bytes / size_of::<T>())?);
            self.bytes += bytes;
        }
        Ok(self.all.last_mut().expect("there is one now"))
    }

    /// Where the last `length` values lie: the chunk, and from where to where.
    fn latest(&self, length: usize) -> (usize, usize, usize) {
        let chunk = self.all.len() - 1;
        (chunk, self.all[chunk].len() - length, self.all[chunk].len())
    }
}

/// The texts of one batch.
#[derive(Debug, Default)]
pub struct Arena {
    units: Chunks<u16>,
    ascii: Chunks<u8>,
    /// Units of strings that were measured and are no ASCII.
    vain: usize,
    bytes: Vec<u8>,
    rows: Vec<Row>,
}

impl Arena {
    /// Copies every text of an array of strings and Uint8Arrays. `name` is the argument's, for the message.
    pub fn copy(name: &str, texts: &Unknown<'_>) -> Result<Self, Failure> {
        node_api::look_at_limits();
        let mut arena = Self::default();
        arena.append(name, texts)?;
        Ok(arena)
    }

    /// Copies every text of an array of such arrays; where the words of each end is kept too.
    fn copy_words(name: &str, lists: &Unknown<'_>) -> Result<(Self, Vec<usize>), Failure> {
        let mut arena = Self::default();
        let mut ends = vec![];
        each(name, lists, "an array of arrays of words", |index, words| {
            arena
                .append(&format!("{name}[{index}]"), words)
                .map_err(|failure| Failure { row: Some(index), ..failure })?;
            ends.try_grow(1)?;
            ends.push(arena.rows.len());
            Ok(())
        })?;
        Ok((arena, ends))
    }

    /// Copies one text; `name` is the argument's, for the message.
    pub fn of_one(name: &str, value: &Unknown<'_>) -> Result<Self, Failure> {
        let mut arena = Self::default();
        arena.push(value).map_err(|refused| refusal(name, value, refused))?;
        Ok(arena)
    }

    fn append(&mut self, name: &str, texts: &Unknown<'_>) -> Result<(), Failure> {
        each(name, texts, "an array of strings or Uint8Arrays", |index, element| {
            self.push(element).map_err(|refused| {
                let failure = refusal(&format!("{name}[{index}]"), element, refused);
                Failure { row: Some(index), ..failure }
            })
        })
    }

    fn push(&mut self, value: &Unknown<'_>) -> Result<(), Refused> {
        self.rows.try_grow(1)?;
        node_api::require_flat(value)?;
        match node_api::append_utf16(value, self.units.with_room(LONG)?, LONG) {
            Fit::Appended(length) => {
                let (chunk, start, end) = self.units.latest(length);
                self.rows.push(Row::Utf16 { chunk, start, end });
            }
            Fit::TooLong { starts_as_ascii } => self.push_long(value, starts_as_ascii)?,
            Fit::NoString => {
                let start = self.bytes.len();
                let length = node_api::append_bytes(value, &mut self.bytes)?;
                self.rows.push(Row::Bytes { start, end: start + length });
            }
        }
        Ok(())
    }

    fn push_long(&mut self, value: &Unknown<'_>, starts_as_ascii: bool) -> Result<(), Refused> {
        let length = node_api::utf16_length(value).ok_or(Refused::NotThatKind)?;
        if starts_as_ascii && self.vain < VAIN {
            // Node writes a final zero, which needs room too.
            if node_api::is_ascii(value, length) && node_api::append_ascii(value, self.ascii.with_room(length + 1)?) {
                let (chunk, start, end) = self.ascii.latest(length);
                self.rows.push(Row::Ascii { chunk, start, end });
                return Ok(());
            }
            self.vain += length;
        }
        let Fit::Appended(length) = node_api::append_utf16(value, self.units.with_room(length + 2)?, usize::MAX) else {
            return Err(Refused::NotThatKind);
        };
        let (chunk, start, end) = self.units.latest(length);
        self.rows.push(Row::Utf16 { chunk, start, end });
        Ok(())
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The texts, in order.
    pub fn texts(&self) -> Result<Vec<Text<'_>>, OutOfMemory> {
        collect(self.rows.iter().map(|row| match *row {
            Row::Utf16 { chunk, start, end } => Text::Utf16(&self.units.all[chunk][start..end]),
            Row::Ascii { chunk, start, end } => Text::Bytes(&self.ascii.all[chunk][start..end]),
            Row::Bytes { start, end } => Text::Bytes(&self.bytes[start..end]),
        }))
    }
}

/// The values of an iterator that knows how many they are.
fn collect<T>(values: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, OutOfMemory> {
    let mut list = Vec::new();
    list.try_grow(values.len())?;
    list.extend(values);
    Ok(list)
}

/// Calls `visit` with each element of an array; its failure ends the call.
fn each(
    name: &str,
    array: &Unknown<'_>,
    expected: &str,
    mut visit: impl FnMut(usize, &Unknown<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some(length) = node_api::array_length(array) else {
        let what = node_api::describe(array);
        return Err(Failure::wrong_type(format!("{name} must be {expected}, but it is {what}")));
    };
    let mut failure = None;
    let visited = node_api::each_element(array, length, |index, element| {
        visit(index as usize, element).map_err(|found| {
            failure = Some(found);
            napi::Error::from_status(napi::Status::Cancelled)
        })
    });
    match (visited, failure) {
        (Ok(()), _) => Ok(()),
        (Err(_), Some(failure)) => Err(failure),
        (Err(error), None) => Err(Failure::new(Class::Error, "ERR_TOKENLANE_NODE", error.to_string())),
    }
}

/// What a batch is made of: texts, or words, with or without a second text for each.
#[derive(Debug)]
pub enum Inputs {
    /// Texts alone.
    Texts(Arena),
    /// Anything else.
    Any { first: Texts, second: Option<Texts> },
}

/// Texts that may be cut into words: then `ends` says where each one's end.
#[derive(Debug)]
pub struct Texts {
    arena: Arena,
    ends: Option<Vec<usize>>,
}

impl Texts {
    fn copy(name: &str, value: &Unknown<'_>, words: bool) -> Result<Self, Failure> {
        if words {
            let (arena, ends) = Arena::copy_words(name, value)?;
            return Ok(Self { arena, ends: Some(ends) });
        }
        Ok(Self { arena: Arena::copy(name, value)?, ends: None })
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
    /// Copies the texts of a batch, and those that are paired with them unless `pairs` is undefined.
    pub fn copy(env: Env, texts: &Unknown<'_>, pairs: &Unknown<'_>, words: bool) -> napi::Result<Self> {
        let copied = caught(|| {
            if !words && node_api::is_undefined(pairs) {
                return Ok(Self::Texts(Arena::copy("texts", texts)?));
            }
            let first = Texts::copy("texts", texts, words)?;
            let second = match node_api::is_undefined(pairs) {
                true => None,
                false => Some(Texts::copy("pairs", pairs, words)?),
            };
            let made = Self::Any { first, second };
            if let Self::Any { first, second: Some(second) } = &made {
                let count = |texts: &Texts| texts.ends.as_ref().map_or(texts.arena.len(), Vec::len);
                if count(first) != count(second) {
                    let message = format!("there are {} texts, but {} pairs", count(first), count(second));
                    return Err(Failure::new(Class::Range, "ERR_TOKENLANE_ARGUMENT_VALUE", message));
                }
            }
            Ok(made)
        });
        copied.map_err(|failure| node_api::js_error(env, &failure))
    }

    /// Calls `texts` with plain texts, or `inputs` with all else.
    pub fn with<T>(
        &self,
        texts: impl FnOnce(&[Text<'_>]) -> T,
        inputs: impl FnOnce(&[Input<'_>]) -> T,
    ) -> Result<T, OutOfMemory> {
        let (first, second) = match self {
            Self::Texts(arena) => return Ok(texts(&arena.texts()?)),
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

/// Copies one input and calls `work` with it, on this thread: a text, or with `words` an array of words; the same for the
/// pair unless it is undefined.
pub fn with_input<T>(
    value: &Unknown<'_>,
    pair: &Unknown<'_>,
    words: bool,
    work: impl FnOnce(&Input<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let has_pair = !node_api::is_undefined(pair);
    if !words && !has_pair {
        return with_text("text", value, |text| work(&text.into()));
    }
    let copy = |name: &str, value: &Unknown<'_>| {
        let mut arena = Arena::default();
        if words {
            arena.append(name, value).map_err(|failure| Failure { row: None, ..failure })?;
        } else {
            arena.push(value).map_err(|refused| refusal(name, value, refused))?;
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

/// What one thread keeps between calls for one text at a time.
#[derive(Default)]
struct Scratch {
    units: Vec<u16>,
    bytes: Vec<u8>,
}

thread_local! {
    static SCRATCH_OF_THREAD: RefCell<Scratch> = RefCell::default();
}

/// Copies one text and calls `work` with it, on this thread. `name` is the argument's, for the message.
pub fn with_text<T>(
    name: &str,
    value: &Unknown<'_>,
    work: impl FnOnce(Text<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    SCRATCH_OF_THREAD.with_borrow_mut(|scratch| {
        let Scratch { units, bytes } = scratch;
        units.clear();
        units.try_grow(SCRATCH)?;
        node_api::require_flat(value)?;
        let mut fit = node_api::append_utf16(value, units, usize::MAX);
        if let Fit::TooLong { .. } = fit {
            units.try_grow(node_api::utf16_length(value).unwrap_or(0) + 2)?;
            fit = node_api::append_utf16(value, units, usize::MAX);
        }
        let result = if let Fit::Appended(_) = fit {
            work(Text::Utf16(units))
        } else {
            bytes.clear();
            node_api::append_bytes(value, bytes).map_err(|refused| refusal(name, value, refused))?;
            work(Text::Bytes(bytes))
        };
        if units.capacity() > MOST_KEPT {
            *units = Vec::new();
        }
        if bytes.capacity() > MOST_KEPT {
            *bytes = Vec::new();
        }
        result
    })
}

/// The words of ids in a Uint32Array, copied.
pub fn copy_ids(name: &str, value: &Unknown<'_>) -> Result<Vec<u32>, Failure> {
    node_api::copy_words(value).map_err(|refused| words_refused(name, value, refused))
}

fn words_refused(name: &str, value: &Unknown<'_>, refused: Refused) -> Failure {
    match refused {
        Refused::NoMemory(error) => error.into(),
        Refused::NotThatKind => {
            Failure::wrong_type(format!("{name} must be a Uint32Array, but it is {}", node_api::describe(value)))
        }
        other => buffer_refused(name, other),
    }
}

/// How many ids a Uint32Array has room for.
pub fn room(name: &str, value: &Unknown<'_>) -> Result<usize, Failure> {
    node_api::word_room(value).map_err(|refused| words_refused(name, value, refused))
}

fn refusal(name: &str, value: &Unknown<'_>, refused: Refused) -> Failure {
    match refused {
        Refused::NoMemory(error) => error.into(),
        Refused::NotThatKind => Failure::wrong_type(format!(
            "{name} must be a string or a Uint8Array of UTF-8, but it is {}",
            node_api::describe(value)
        )),
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

/// The bytes of a Uint8Array, copied.
pub fn copy_bytes(name: &str, value: &Unknown<'_>) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    match node_api::append_bytes(value, &mut bytes) {
        Ok(_) => Ok(bytes),
        Err(Refused::NoMemory(error)) => Err(error.into()),
        Err(Refused::NotThatKind) => {
            Err(Failure::wrong_type(format!("{name} must be a Uint8Array, but it is {}", node_api::describe(value))))
        }
        Err(other) => Err(buffer_refused(name, other)),
    }
}
