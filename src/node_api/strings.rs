//! Reads JS strings into memory of Rust, and creates JS strings.

use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};

use napi::bindgen_prelude::{ToNapiValue, Unknown};
use napi::{Env, sys};
use tokenlane_core::memory::{self, Grow, OutOfMemory};
use tokenlane_core::to_utf16;

use super::{Spare, check, converted, js_error, parts};

/// The result of copying a string into the available capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The string fitted; this many units were appended.
    Appended(usize),
    /// The string is longer than the capacity, or exactly fills it.
    TooLong {
        /// Whether the part that fits is ASCII.
        starts_as_ascii: bool,
    },
    /// The value is not a string.
    NoString,
}

/// Whether the address space of the process is limited, at the time of the last check.
static IS_LIMITED: AtomicBool = AtomicBool::new(false);

/// Checks again whether the address space of the process is limited.
pub fn look_at_limits() {
    IS_LIMITED.store(memory::is_limited(), Ordering::Relaxed);
}

/// Whether the address space of the process was limited at the time of the last check.
pub(super) fn is_limited() -> bool {
    IS_LIMITED.load(Ordering::Relaxed)
}

/// Fails if V8 may lack the memory to flatten a long string, which it does before a string is read:
/// V8 would end the process. Only checked if the address space of the process is limited, because
/// reading the length costs an additional call for each string.
pub fn require_flat(value: &Unknown<'_>) -> Result<(), OutOfMemory> {
    if !is_limited() {
        return Ok(());
    }
    memory::require_large(utf16_length(value).unwrap_or(0).saturating_mul(size_of::<u16>()))
}

/// Appends the UTF-16 units of a string to `units` if they fit, with one unit to spare, into the
/// first `max_units` units of its spare capacity.
pub fn append_utf16(value: &Unknown<'_>, units: &mut impl Spare<u16>, max_units: usize) -> Fit {
    let (env, raw) = parts(value);
    // SAFETY: both are those of an `Unknown`.
    unsafe { read_utf16(env, raw, units, max_units) }
}

/// Like [`append_utf16`].
///
/// # Safety
/// `env` and `raw` belong to the running call.
pub(super) unsafe fn read_utf16(
    env: sys::napi_env,
    raw: sys::napi_value,
    units: &mut impl Spare<u16>,
    max_units: usize,
) -> Fit {
    let spare = units.spare();
    let length = spare.len().min(max_units);
    let spare = &mut spare[..length];
    if spare.len() < 2 {
        // SAFETY: the caller guarantees it.
        return if unsafe { length_of(env, raw) }.is_some() {
            Fit::TooLong { starts_as_ascii: false }
        } else {
            Fit::NoString
        };
    }
    let mut written = 0;
    // SAFETY: `room` is writable for `room.len()` units, and Node writes at most that many,
    // including a terminating zero.
    let status =
        unsafe { sys::napi_get_value_string_utf16(env, raw, spare.as_mut_ptr().cast(), spare.len(), &raw mut written) };
    if status != sys::Status::napi_ok {
        return Fit::NoString;
    }
    // A string that fills the capacity up to the terminating zero may have been cut off.
    if written + 1 >= spare.len() {
        // SAFETY: Node wrote `written` units at the start of the spare capacity.
        let start = unsafe { slice::from_raw_parts(spare.as_ptr().cast::<u16>(), written) };
        return Fit::TooLong { starts_as_ascii: start.iter().fold(0, |all, unit| all | unit) < 0x80 };
    }
    // SAFETY: Node wrote `written` units at the start of the spare capacity.
    unsafe { units.added(written) };
    Fit::Appended(written)
}

/// Whether a string of `length` UTF-16 units is ASCII: then, and only then, its UTF-8 form has as
/// many bytes.
pub fn is_ascii(value: &Unknown<'_>, length: usize) -> bool {
    let (env, raw) = parts(value);
    let mut bytes = 0;
    // SAFETY: without a buffer Node only writes the length.
    let status = unsafe { sys::napi_get_value_string_utf8(env, raw, ptr::null_mut(), 0, &raw mut bytes) };
    status == sys::Status::napi_ok && bytes == length
}

/// Appends a string that [is ASCII](is_ascii) to `bytes`, whose spare capacity must be at least one
/// byte larger: Node cuts off a longer string. Returns false if the value cannot be read.
pub fn append_ascii(value: &Unknown<'_>, bytes: &mut impl Spare<u8>) -> bool {
    let (env, raw) = parts(value);
    let spare = bytes.spare();
    let mut written = 0;
    // SAFETY: `room` is writable for `room.len()` bytes, and Node writes at most that many,
    // including a terminating zero.
    let status = unsafe {
        sys::napi_get_value_string_latin1(env, raw, spare.as_mut_ptr().cast(), spare.len(), &raw mut written)
    };
    if status != sys::Status::napi_ok || written + 1 > spare.len() {
        return false;
    }
    // SAFETY: Node wrote `written` bytes at the start of the spare capacity.
    unsafe { bytes.added(written) };
    true
}

/// The length of a string in UTF-16 units; `None` if the value is not a string.
pub fn utf16_length(value: &Unknown<'_>) -> Option<usize> {
    let (env, raw) = parts(value);
    // SAFETY: both are those of an `Unknown`.
    unsafe { length_of(env, raw) }
}

/// The first units of a string. `None` if the value is not a string, or if there is not enough
/// memory.
pub fn utf16_start(value: &Unknown<'_>, length: usize) -> Option<Vec<u16>> {
    require_flat(value).ok()?;
    let (env, raw) = parts(value);
    let mut units: Vec<u16> = memory::fallible::with_capacity(length.saturating_add(1)).ok()?;
    let mut written = 0;
    // SAFETY: the vector is writable for its capacity, and Node writes at most that many units,
    // including a terminating zero.
    let status = unsafe {
        sys::napi_get_value_string_utf16(env, raw, units.as_mut_ptr().cast(), units.capacity(), &raw mut written)
    };
    if status != sys::Status::napi_ok {
        return None;
    }
    // SAFETY: Node wrote `written` units, fewer than the capacity.
    unsafe { units.set_len(written) };
    Some(units)
}

/// Like [`utf16_length`].
///
/// # Safety
/// `env` and `raw` belong to the running call.
unsafe fn length_of(env: sys::napi_env, raw: sys::napi_value) -> Option<usize> {
    let mut length = 0;
    // SAFETY: without a buffer Node only writes the length.
    let status = unsafe { sys::napi_get_value_string_utf16(env, raw, ptr::null_mut(), 0, &raw mut length) };
    (status == sys::Status::napi_ok).then_some(length)
}

/// Creates a JS string.
pub(super) fn new_utf8(env: sys::napi_env, text: &str) -> napi::Result<sys::napi_value> {
    let mut value = ptr::null_mut();
    // SAFETY: `text` is readable for its length.
    let status =
        unsafe { sys::napi_create_string_utf8(env, text.as_ptr().cast(), text.len() as isize, &raw mut value) };
    check(status, "make a string of that length")?;
    Ok(value)
}

/// Fails if V8 could not allocate this many bytes for strings: V8 would end the process.
fn require(env: sys::napi_env, bytes: usize) -> napi::Result<()> {
    memory::require_large(bytes).map_err(|error| js_error(Env::from_raw(env), &error.into()))
}

/// Text to be passed to JS, in a form from which V8 creates a string with little more than a copy.
/// A worker prepares it.
#[derive(Debug)]
pub enum JsText {
    /// ASCII text, one byte per character.
    Ascii(String),
    /// Any other text.
    Utf16(Vec<u16>),
}

impl TryFrom<String> for JsText {
    type Error = OutOfMemory;

    fn try_from(text: String) -> Result<Self, OutOfMemory> {
        if text.is_ascii() {
            return Ok(Self::Ascii(text));
        }
        Ok(Self::Utf16(to_utf16(&text)?))
    }
}

/// An array of texts to be passed to JS.
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
        /// Bytes that V8 needs for a string besides its characters: the header, the array element
        /// and the handle.
        const BYTES_PER_STRING: usize = 48;
        let bytes = texts.iter().map(|text| match text {
            JsText::Ascii(text) => BYTES_PER_STRING + text.len(),
            JsText::Utf16(units) => BYTES_PER_STRING + size_of_val(&units[..]),
        });
        let bytes = bytes.sum();
        converted(env, || {
            require(env, bytes)?;
            // SAFETY: the caller guarantees that `env` belongs to the running call.
            unsafe { Vec::to_napi_value(env, texts) }
        })
    }
}

impl ToNapiValue for JsText {
    unsafe fn to_napi_value(env: sys::napi_env, text: Self) -> napi::Result<sys::napi_value> {
        converted(env, || match text {
            Self::Ascii(text) => {
                require(env, text.len())?;
                let mut value = ptr::null_mut();
                // SAFETY: the caller guarantees that `env` belongs to the running call; the text is
                // readable for its length.
                let status = unsafe {
                    sys::napi_create_string_latin1(env, text.as_ptr().cast(), text.len() as isize, &raw mut value)
                };
                check(status, "make a string of that length").map(|()| value)
            }
            Self::Utf16(units) => new_utf16(env, &units),
        })
    }
}

fn new_utf16(env: sys::napi_env, units: &[u16]) -> napi::Result<sys::napi_value> {
    require(env, size_of_val(units))?;
    let mut value = ptr::null_mut();
    // SAFETY: `units` is readable for its length.
    let status = unsafe { sys::napi_create_string_utf16(env, units.as_ptr(), units.len() as isize, &raw mut value) };
    check(status, "make a string of that length")?;
    Ok(value)
}
