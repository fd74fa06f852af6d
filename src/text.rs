//! Text coming in: copied once, on the JS thread, in the form in which V8 hands it out fastest.
//!
//! A string is copied as UTF-16; whoever encodes it, on whatever thread, transcodes it there. Bytes are copied too: JS
//! could write to them, transfer them or shrink them while a worker reads.

use std::cell::RefCell;

use napi::Env;
use napi::bindgen_prelude::Unknown;
use tokenlane_core::Text;

use crate::error::{Class, Failure};
use crate::node_api::{self, Fit, Refused};

/// The size of a new chunk of the arena, in UTF-16 units; a longer text gets one of its own.
const CHUNK: usize = 1 << 20;

/// The least room there is in the scratch of one thread, in UTF-16 units: most single texts are shorter.
const SCRATCH: usize = 8 << 10;

/// Scratch that grew past this many units or bytes is freed after use.
const MOST_KEPT: usize = 1 << 20;

/// Where a row lies: from `start` to `end` in a chunk of units, or in the bytes.
#[derive(Debug, Clone, Copy)]
enum Row {
    Utf16 { chunk: usize, start: usize, end: usize },
    Bytes { start: usize, end: usize },
}

/// The texts of one batch. A chunk of units never grows past the room it was made with, so no string is copied twice.
#[derive(Debug, Default)]
pub struct Arena {
    units: Vec<Vec<u16>>,
    bytes: Vec<u8>,
    rows: Vec<Row>,
}

impl Arena {
    /// Copies every text of an array of strings and Uint8Arrays.
    pub fn copy(env: Env, texts: &Unknown<'_>) -> napi::Result<Self> {
        let Some(length) = node_api::array_length(texts) else {
            let what = node_api::describe(texts);
            let failure =
                Failure::wrong_type(format!("texts must be an array of strings or Uint8Arrays, but it is {what}"));
            return Err(node_api::js_error(env, &failure));
        };
        let mut arena = Self::default();
        arena.rows.reserve(length as usize);
        node_api::each_element(texts, length, |index, element| {
            arena.push(element).map_err(|refused| {
                let failure = refusal(&format!("texts[{index}]"), element, refused);
                node_api::js_error(env, &Failure { row: Some(index as usize), ..failure })
            })
        })?;
        Ok(arena)
    }

    fn push(&mut self, value: &Unknown<'_>) -> Result<(), Refused> {
        let fit = match self.units.last_mut() {
            Some(chunk) => node_api::append_utf16(value, chunk),
            None => node_api::utf16_length(value).map_or(Fit::NoString, |_| Fit::TooLong),
        };
        let length = match fit {
            Fit::Appended(length) => length,
            Fit::TooLong => {
                let length = node_api::utf16_length(value).ok_or(Refused::NotThatKind)?;
                let mut chunk = Vec::with_capacity(CHUNK.max(length + 2));
                node_api::append_utf16(value, &mut chunk);
                self.units.push(chunk);
                length
            }
            Fit::NoString => {
                let start = self.bytes.len();
                let length = node_api::append_bytes(value, &mut self.bytes)?;
                self.rows.push(Row::Bytes { start, end: start + length });
                return Ok(());
            }
        };
        let chunk = self.units.len() - 1;
        let end = self.units[chunk].len();
        self.rows.push(Row::Utf16 { chunk, start: end - length, end });
        Ok(())
    }

    /// The texts, in order.
    pub fn texts(&self) -> Vec<Text<'_>> {
        self.rows
            .iter()
            .map(|row| match *row {
                Row::Utf16 { chunk, start, end } => Text::Utf16(&self.units[chunk][start..end]),
                Row::Bytes { start, end } => Text::Bytes(&self.bytes[start..end]),
            })
            .collect()
    }
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
        units.reserve(SCRATCH);
        let mut fit = node_api::append_utf16(value, units);
        if fit == Fit::TooLong {
            units.reserve(node_api::utf16_length(value).unwrap_or(0) + 2);
            fit = node_api::append_utf16(value, units);
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
    node_api::copy_words(value).map_err(|refused| match refused {
        Refused::NotThatKind => {
            Failure::wrong_type(format!("{name} must be a Uint32Array, but it is {}", node_api::describe(value)))
        }
        other => buffer_refused(name, other),
    })
}

fn refusal(name: &str, value: &Unknown<'_>, refused: Refused) -> Failure {
    match refused {
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
        Err(Refused::NotThatKind) => {
            Err(Failure::wrong_type(format!("{name} must be a Uint8Array, but it is {}", node_api::describe(value))))
        }
        Err(other) => Err(buffer_refused(name, other)),
    }
}
