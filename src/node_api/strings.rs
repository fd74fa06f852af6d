//! Strings of JS: read into memory of Rust, and made of it.
//!
//! In WebAssembly Node-API is emnapi's, which is written in JS and differs from Node's: with bytes that are Latin-1 a string
//! ends at its first zero, and one that is read fills all the room there is; a byte order mark at the start of what is
//! longer than a few characters is lost. What is done about it is done here.

use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};

use napi::bindgen_prelude::{ToNapiValue, Unknown};
use napi::{Env, sys};
use tokenlane_core::memory::{self, Grow, OutOfMemory};

use super::{Room, check, js_error, parts};

/// Whether Node-API is emnapi's.
const IS_WASM: bool = cfg!(target_family = "wasm");

const BYTE_ORDER_MARK: u16 = 0xfeff;

/// What came of copying a string into the room there was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It fitted; this many units were appended.
    Appended(usize),
    /// It is longer than the room, or just as long.
    TooLong {
        /// Whether what would have fitted is ASCII.
        starts_as_ascii: bool,
    },
    /// The value is no string.
    NoString,
}

/// Whether the process has a limit of addresses, as it was when somebody looked last.
static IS_LIMITED: AtomicBool = AtomicBool::new(false);

/// Looks again whether the process has a limit of addresses.
pub fn look_at_limits() {
    IS_LIMITED.store(memory::is_limited(), Ordering::Relaxed);
}

/// Fails if V8 may lack the memory to make a long string one piece, which it does before the string is read: it would end
/// the process. Asked only where the process has a limit of addresses, since the length is one call more for each string.
pub fn require_flat(value: &Unknown<'_>) -> Result<(), OutOfMemory> {
    if !IS_LIMITED.load(Ordering::Relaxed) {
        return Ok(());
    }
    memory::require_large(utf16_length(value).unwrap_or(0).saturating_mul(size_of::<u16>()))
}

/// Appends a string's UTF-16 units to `units` if they fit into its spare capacity, of which `most` units are looked at,
/// with one unit to spare.
pub fn append_utf16(value: &Unknown<'_>, units: &mut impl Room<u16>, most: usize) -> Fit {
    let (env, raw) = parts(value);
    let room = units.room();
    let length = room.len().min(most);
    let room = &mut room[..length];
    if room.len() < 2 {
        return if utf16_length(value).is_some() { Fit::TooLong { starts_as_ascii: false } } else { Fit::NoString };
    }
    let mut written = 0;
    // SAFETY: `room` is writable for `room.len()` units, and Node writes no more than that, a final zero included.
    let status =
        unsafe { sys::napi_get_value_string_utf16(env, raw, room.as_mut_ptr().cast(), room.len(), &mut written) };
    if status != sys::Status::napi_ok {
        return Fit::NoString;
    }
    // A string that fills all the room up to the final zero may have been cut.
    if written + 1 >= room.len() {
        // SAFETY: Node wrote that many units at the start of the room.
        let start = unsafe { slice::from_raw_parts(room.as_ptr().cast::<u16>(), written) };
        return Fit::TooLong { starts_as_ascii: start.iter().fold(0, |all, unit| all | unit) < 0x80 };
    }
    // SAFETY: Node wrote that many units at the start of the room.
    unsafe { units.added(written) };
    Fit::Appended(written)
}

/// Whether a string of so many UTF-16 units is ASCII: then, and only then, it has as many bytes as UTF-8.
pub fn is_ascii(value: &Unknown<'_>, length: usize) -> bool {
    let (env, raw) = parts(value);
    let mut bytes = 0;
    // SAFETY: without a buffer Node only writes the length.
    let status = unsafe { sys::napi_get_value_string_utf8(env, raw, ptr::null_mut(), 0, &mut bytes) };
    status == sys::Status::napi_ok && bytes == length
}

/// Appends a string that [is ASCII](is_ascii) to `bytes`; false if it does not fit into its spare capacity with one byte to
/// spare.
pub fn append_ascii(value: &Unknown<'_>, bytes: &mut impl Room<u8>) -> bool {
    let (env, raw) = parts(value);
    let room = bytes.room();
    let mut written = 0;
    // Both give ASCII as it is. The first is quicker in Node, and in WebAssembly says that all of the room was written.
    let copy = if IS_WASM { sys::napi_get_value_string_utf8 } else { sys::napi_get_value_string_latin1 };
    // SAFETY: `room` is writable for `room.len()` bytes, and Node writes no more than that, a final zero included.
    let status = unsafe { copy(env, raw, room.as_mut_ptr().cast(), room.len(), &mut written) };
    if status != sys::Status::napi_ok || written + 1 > room.len() {
        return false;
    }
    // SAFETY: Node wrote that many bytes at the start of the room.
    unsafe { bytes.added(written) };
    true
}

/// The length of a string in UTF-16 units; `None` if the value is no string.
pub fn utf16_length(value: &Unknown<'_>) -> Option<usize> {
    let (env, raw) = parts(value);
    let mut length = 0;
    // SAFETY: without a buffer Node only writes the length.
    let status = unsafe { sys::napi_get_value_string_utf16(env, raw, ptr::null_mut(), 0, &mut length) };
    (status == sys::Status::napi_ok).then_some(length)
}

/// A string of JS.
pub(super) fn new_utf8(env: sys::napi_env, text: &str) -> napi::Result<sys::napi_value> {
    let mut value = ptr::null_mut();
    // SAFETY: `text` is readable for its length.
    let status = unsafe { sys::napi_create_string_utf8(env, text.as_ptr().cast(), text.len() as isize, &mut value) };
    check(status, "make a string of that length")?;
    Ok(value)
}

/// Fails if V8 could not allocate so many bytes for strings: it would end the process.
fn require(env: sys::napi_env, bytes: usize) -> napi::Result<()> {
    memory::require_large(bytes).map_err(|error| js_error(Env::from_raw(env), &error.into()))
}

/// Text on its way to JS, in a form that V8 takes with little more than a copy; the work is done on a worker.
#[derive(Debug)]
pub enum JsText {
    /// ASCII, one byte a character.
    Ascii(String),
    /// Anything else.
    Utf16(Vec<u16>),
}

impl TryFrom<String> for JsText {
    type Error = OutOfMemory;

    fn try_from(text: String) -> Result<Self, OutOfMemory> {
        // In WebAssembly a string of bytes would end at its first zero.
        if text.is_ascii() && !IS_WASM {
            return Ok(Self::Ascii(text));
        }
        let mut units = Vec::new();
        // Counted for long texts only: there is a unit for one to three bytes.
        const LONG: usize = 1 << 16;
        units.try_grow(if text.len() < LONG { text.len() } else { text.chars().map(char::len_utf16).sum() })?;
        units.extend(text.encode_utf16());
        Ok(Self::Utf16(units))
    }
}

/// An array of texts on its way to JS.
#[derive(Debug)]
pub struct JsTexts(Vec<JsText>);

impl TryFrom<Vec<String>> for JsTexts {
    type Error = OutOfMemory;

    fn try_from(texts: Vec<String>) -> Result<Self, OutOfMemory> {
        let mut all = Vec::new();
        all.try_grow(texts.len())?;
        for text in texts {
            all.push(text.try_into()?);
        }
        Ok(Self(all))
    }
}

impl ToNapiValue for JsTexts {
    unsafe fn to_napi_value(env: sys::napi_env, Self(texts): Self) -> napi::Result<sys::napi_value> {
        /// V8's bytes for a string, beside its characters: its header, a place in the array and a handle.
        const EACH: usize = 48;
        let bytes = texts.iter().map(|text| match text {
            JsText::Ascii(text) => EACH + text.len(),
            JsText::Utf16(units) => EACH + size_of_val(&units[..]),
        });
        require(env, bytes.sum())?;
        // SAFETY: the caller gives the running call's `env`.
        unsafe { Vec::to_napi_value(env, texts) }
    }
}

impl ToNapiValue for JsText {
    unsafe fn to_napi_value(env: sys::napi_env, text: Self) -> napi::Result<sys::napi_value> {
        match text {
            Self::Ascii(text) => {
                require(env, text.len())?;
                let mut value = ptr::null_mut();
                // SAFETY: the caller gives the running call's `env`; the text is readable for its length.
                let status = unsafe {
                    sys::napi_create_string_latin1(env, text.as_ptr().cast(), text.len() as isize, &mut value)
                };
                check(status, "make a string of that length").map(|()| value)
            }
            Self::Utf16(mut units) => {
                let value = new_utf16(env, &units)?;
                // SAFETY: Node just made the value for this `env`.
                let is_whole =
                    || utf16_length(&unsafe { Unknown::from_raw_unchecked(env, value) }) == Some(units.len());
                if !IS_WASM || units.first() != Some(&BYTE_ORDER_MARK) || is_whole() {
                    return Ok(value);
                }
                units.insert(0, BYTE_ORDER_MARK);
                new_utf16(env, &units)
            }
        }
    }
}

fn new_utf16(env: sys::napi_env, units: &[u16]) -> napi::Result<sys::napi_value> {
    require(env, size_of_val(units))?;
    let mut value = ptr::null_mut();
    // SAFETY: `units` is readable for its length.
    let status = unsafe { sys::napi_create_string_utf16(env, units.as_ptr(), units.len() as isize, &mut value) };
    check(status, "make a string of that length")?;
    Ok(value)
}
