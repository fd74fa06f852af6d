//! Every raw call into Node, each behind a safe door. This file, those under node_api/ and the allocator's are the only
//! ones of this crate with unsafe code.
//!
//! Two facts carry all of it. First, an [`Unknown`] is only ever made by Node-API or napi for the call that is running,
//! on the thread that owns its `env`, and its lifetime ends with that call: so its two pointers are valid wherever one can
//! be named. Second, no slice of JS memory leaves a function here: bytes are copied before anything else can run, so JS
//! has no moment in which to detach, shrink or write them.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::slice;

use napi::bindgen_prelude::{External, ToNapiValue, TypeName, Unknown};
use napi::{Env, JsValue, Status, ValueType, sys};
use tokenlane_core::memory::{self, Grow, OutOfMemory, Plain, Slab};

use crate::encoding::Column;
use crate::error::{Class, Failure};
use crate::memory::{Bytes, Loan, Values, Words};
use strings::new_utf8;
pub use strings::{
    Fit, JsText, JsTexts, append_ascii, append_utf16, is_ascii, look_at_limits, require_flat, utf16_length,
};

mod strings;

/// How many elements of an array share one handle scope.
const ELEMENTS_PER_SCOPE: u32 = 1024;

/// Node-API's own answer as an error. It is only ever seen when the environment is being torn down or memory ran out.
fn check(status: sys::napi_status, what: &str) -> napi::Result<()> {
    match status {
        sys::Status::napi_ok => Ok(()),
        other => Err(napi::Error::new(Status::from(other), format!("Node could not {what}"))),
    }
}

fn parts(value: &Unknown<'_>) -> (sys::napi_env, sys::napi_value) {
    let value = value.value();
    (value.env, value.value)
}

/// What a value is, in the words of an error message.
pub fn describe(value: &Unknown<'_>) -> &'static str {
    match value.get_type() {
        Ok(ValueType::Undefined) => "undefined",
        Ok(ValueType::Null) => "null",
        Ok(ValueType::Boolean) => "a boolean",
        Ok(ValueType::Number) => "a number",
        Ok(ValueType::BigInt) => "a bigint",
        Ok(ValueType::String) => "a string",
        Ok(ValueType::Symbol) => "a symbol",
        Ok(ValueType::Function) => "a function",
        _ => "an object",
    }
}

/// Whether a value is undefined.
pub fn is_undefined(value: &Unknown<'_>) -> bool {
    matches!(value.get_type(), Ok(ValueType::Undefined))
}

/// A list that has room behind its last value.
pub trait Room<T> {
    /// The room.
    fn room(&mut self) -> &mut [MaybeUninit<T>];

    /// Says that so many values more have been written.
    ///
    /// # Safety
    /// They were, at the start of the room.
    unsafe fn added(&mut self, count: usize);
}

impl<T> Room<T> for Vec<T> {
    fn room(&mut self) -> &mut [MaybeUninit<T>] {
        self.spare_capacity_mut()
    }

    unsafe fn added(&mut self, count: usize) {
        // SAFETY: as the caller says.
        unsafe { self.set_len(self.len() + count) };
    }
}

impl<T: Plain> Room<T> for Slab<T> {
    fn room(&mut self) -> &mut [MaybeUninit<T>] {
        self.spare_capacity_mut()
    }

    unsafe fn added(&mut self, count: usize) {
        // SAFETY: as the caller says.
        unsafe { self.set_len(self.len() + count) };
    }
}

/// Why a typed array's memory is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It is no typed array of the kind asked for.
    NotThatKind,
    /// Its buffer was transferred away.
    Detached,
    /// Its buffer may change its size.
    Resizable,
    /// Its buffer is a SharedArrayBuffer, which other threads may write.
    Shared,
    /// There is no memory for a copy.
    NoMemory(OutOfMemory),
}

impl From<OutOfMemory> for Refused {
    fn from(error: OutOfMemory) -> Self {
        Self::NoMemory(error)
    }
}

/// The memory of a typed array, just now.
struct View {
    data: *mut c_void,
    bytes: usize,
}

impl View {
    /// Looks at a typed array of the given kind, and at its buffer.
    fn of(value: &Unknown<'_>, kind: sys::napi_typedarray_type, width: usize) -> Result<Self, Refused> {
        let (env, raw) = parts(value);
        let (mut actual, mut length, mut data, mut buffer) = (-1, 0, ptr::null_mut(), ptr::null_mut());
        // SAFETY: all results are valid places; a value that is no typed array is answered with a status.
        let status = unsafe {
            sys::napi_get_typedarray_info(env, raw, &mut actual, &mut length, &mut data, &mut buffer, ptr::null_mut())
        };
        if status != sys::Status::napi_ok || actual != kind {
            return Err(Refused::NotThatKind);
        }
        let mut yes = false;
        // SAFETY: `buffer` is the value Node just gave.
        unsafe { sys::napi_is_arraybuffer(env, buffer, &mut yes) };
        if !yes {
            return Err(Refused::Shared);
        }
        // SAFETY: as above; it is an ArrayBuffer.
        unsafe { sys::napi_is_detached_arraybuffer(env, buffer, &mut yes) };
        if yes {
            return Err(Refused::Detached);
        }
        let mut resizable = ptr::null_mut();
        yes = false;
        // SAFETY: as above; the property is read from a live object, and a missing one reads as undefined.
        unsafe {
            if sys::napi_get_named_property(env, buffer, c"resizable".as_ptr(), &mut resizable) == sys::Status::napi_ok
            {
                sys::napi_get_value_bool(env, resizable, &mut yes);
            }
        }
        if yes {
            return Err(Refused::Resizable);
        }
        // Reading the property could have run JS; what counts is the memory as it is now.
        let (no_buffer, no_offset) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: as the first call.
        let status = unsafe {
            sys::napi_get_typedarray_info(env, raw, &mut actual, &mut length, &mut data, no_buffer, no_offset)
        };
        if status != sys::Status::napi_ok {
            return Err(Refused::NotThatKind);
        }
        Ok(Self { data, bytes: if data.is_null() { 0 } else { length * width } })
    }

    fn bytes(&self) -> &[u8] {
        match NonNull::new(self.data.cast::<u8>()) {
            // SAFETY: V8 owns `bytes` bytes at `data`. Views live only inside functions of this file that copy and
            // return, so neither JS nor the collector runs, and nothing else writes there, while the slice lives.
            Some(data) if self.bytes > 0 => unsafe { slice::from_raw_parts(data.as_ptr(), self.bytes) },
            _ => &[],
        }
    }
}

/// Appends the bytes of a Uint8Array to `bytes` and returns how many they are.
pub fn append_bytes(value: &Unknown<'_>, bytes: &mut Vec<u8>) -> Result<usize, Refused> {
    let view = View::of(value, sys::TypedarrayType::uint8_array, 1)?;
    bytes.try_grow(view.bytes)?;
    bytes.extend_from_slice(view.bytes());
    Ok(view.bytes)
}

/// Copies a Uint32Array.
pub fn copy_words(value: &Unknown<'_>) -> Result<Vec<u32>, Refused> {
    let view = View::of(value, sys::TypedarrayType::uint32_array, 4)?;
    // A Uint32Array is aligned by the language; four bytes at a time need not rely on it, and compile to one copy.
    let (words, _) = view.bytes().as_chunks::<4>();
    let mut copy = Vec::new();
    copy.try_grow(words.len())?;
    copy.extend(words.iter().map(|word| u32::from_ne_bytes(*word)));
    Ok(copy)
}

/// How many bytes a Uint8Array has.
pub fn byte_length(value: &Unknown<'_>) -> Option<usize> {
    View::of(value, sys::TypedarrayType::uint8_array, 1).ok().map(|view| view.bytes)
}

/// How many words fit into a Uint32Array that the caller owns.
pub fn word_room(value: &Unknown<'_>) -> Result<usize, Refused> {
    Ok(View::of(value, sys::TypedarrayType::uint32_array, 4)?.bytes / 4)
}

/// Writes `words` to the start of a Uint32Array; false, and nothing written, if they do not fit.
///
/// For the scratch arrays of `lib/tokenizer.js`, which nobody else can reach, and for arrays that [`word_room`] took: the
/// buffer itself is looked at less closely.
pub fn fill_words(value: &Unknown<'_>, words: &[u32]) -> bool {
    let (env, raw) = parts(value);
    let (mut kind, mut length, mut data) = (-1, 0, ptr::null_mut());
    // SAFETY: all results are valid places or null; a value that is no typed array is answered with a status.
    let status = unsafe {
        sys::napi_get_typedarray_info(env, raw, &mut kind, &mut length, &mut data, ptr::null_mut(), ptr::null_mut())
    };
    if status != sys::Status::napi_ok
        || kind != sys::TypedarrayType::uint32_array
        || data.is_null()
        || words.len() > length
    {
        return false;
    }
    // SAFETY: Node just said that `length >= words.len()` words of 32 bits are writable at `data`, JS cannot run before
    // this function returns, and Rust's memory does not overlap V8's.
    unsafe { ptr::copy_nonoverlapping(words.as_ptr().cast::<u8>(), data.cast::<u8>(), size_of_val(words)) };
    words.is_empty() || written(env, raw, size_of_val(words)) == sys::Status::napi_ok
}

#[cfg(target_family = "wasm")]
unsafe extern "C" {
    fn emnapi_sync_memory(env: sys::napi_env, to_wasm: bool, of: *mut sys::napi_value, at: usize, len: usize) -> i32;
}

/// To be called when so many bytes, more than none, were written at the start of an ArrayBuffer or a view of one. In
/// WebAssembly they were written to a copy, and JS gets them now.
fn written(env: sys::napi_env, mut buffer: sys::napi_value, bytes: usize) -> sys::napi_status {
    #[cfg(target_family = "wasm")]
    // SAFETY: the buffer is a value of the call that is running; one without a copy is answered with a status.
    return unsafe { emnapi_sync_memory(env, false, &mut buffer, 0, bytes) };
    #[cfg(not(target_family = "wasm"))]
    {
        let _ = (env, &mut buffer, bytes);
        sys::Status::napi_ok
    }
}

/// The length of an array; `None` if the value is none.
pub fn array_length(value: &Unknown<'_>) -> Option<u32> {
    let (env, raw) = parts(value);
    let mut length = 0;
    // SAFETY: the result is a valid place; a value that is no array is answered with a status.
    let status = unsafe { sys::napi_get_array_length(env, raw, &mut length) };
    (status == sys::Status::napi_ok).then_some(length)
}

/// Calls `visit` with each of an array's first `length` elements. Handles are given back every so often: a million
/// elements do not keep a million handles.
pub fn each_element(
    array: &Unknown<'_>,
    length: u32,
    mut visit: impl FnMut(u32, &Unknown<'_>) -> napi::Result<()>,
) -> napi::Result<()> {
    let (env, raw) = parts(array);
    for start in (0..length).step_by(ELEMENTS_PER_SCOPE as usize) {
        let end = length.min(start.saturating_add(ELEMENTS_PER_SCOPE));
        let mut scope = ptr::null_mut();
        // SAFETY: `env` is the running call's; the scope is closed below on every path.
        check(unsafe { sys::napi_open_handle_scope(env, &mut scope) }, "open a handle scope")?;
        let visited = (start..end).try_for_each(|index| {
            let mut element = ptr::null_mut();
            // SAFETY: `array` is a live array; an index past its end reads as undefined.
            check(unsafe { sys::napi_get_element(env, raw, index, &mut element) }, "read an element of the array")?;
            // SAFETY: Node just made `element` for this `env`, and its scope is open until the visit is over.
            visit(index, &unsafe { Unknown::from_raw_unchecked(env, element) })
        });
        // SAFETY: opened above, and nothing opened inside it is still open.
        check(unsafe { sys::napi_close_handle_scope(env, scope) }, "close a handle scope")?;
        visited?;
    }
    Ok(())
}

/// A failure as the JS error it stands for: `throw`n by napi from a call, or what a promise is rejected with.
pub fn js_error(env: Env, failure: &Failure) -> napi::Error {
    let env = env.raw();
    let make = match failure.class {
        Class::Error => sys::napi_create_error,
        Class::Type => sys::napi_create_type_error,
        Class::Range => sys::napi_create_range_error,
    };
    let built = (|| {
        let (code, message) = (new_utf8(env, failure.code)?, new_utf8(env, &failure.told())?);
        let mut error = ptr::null_mut();
        // SAFETY: `code` and `message` are strings that Node just made for this `env`.
        check(unsafe { make(env, code, message, &mut error) }, "make an error")?;
        let set = |name: &std::ffi::CStr, value: sys::napi_value| {
            // SAFETY: the error and the value are values of this `env`, the name ends with a zero.
            check(unsafe { sys::napi_set_named_property(env, error, name.as_ptr(), value) }, "set a property")
        };
        let set_number = |name: &std::ffi::CStr, value: usize| {
            let mut number = ptr::null_mut();
            // SAFETY: `number` is a valid place for the result.
            check(unsafe { sys::napi_create_double(env, value as f64, &mut number) }, "make a number")?;
            set(name, number)
        };
        if let Some(row) = failure.row {
            set_number(c"row", row)?;
        }
        if let Some(exceeded) = failure.exceeded {
            set(c"component", new_utf8(env, exceeded.component)?)?;
            set_number(c"reached", exceeded.reached)?;
            set_number(c"limit", exceeded.limit)?;
        }
        // SAFETY: Node just made `error` for this `env`. In WebAssembly only this conversion keeps the error itself.
        Ok(napi::Error::from_unknown_without_coercion(unsafe { Unknown::from_raw_unchecked(env, error) }))
    })();
    built.unwrap_or_else(|error: napi::Error| error)
}

/// Memory of V8's own with a copy of `bytes`.
fn copied_buffer(env: sys::napi_env, bytes: &[u8]) -> napi::Result<sys::napi_value> {
    // V8 ends the process where it cannot allocate a buffer, so the system is asked before.
    memory::require_large(bytes.len()).map_err(|error| js_error(Env::from_raw(env), &error.into()))?;
    let (mut data, mut buffer) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: both results are valid places.
    check(unsafe { sys::napi_create_arraybuffer(env, bytes.len(), &mut data, &mut buffer) }, "make an ArrayBuffer")?;
    if !bytes.is_empty() {
        // SAFETY: Node just made `bytes.len()` writable bytes at `data`, which nothing else knows of yet.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast::<u8>(), bytes.len()) };
        check(written(env, buffer, bytes.len()), "fill an ArrayBuffer")?;
    }
    Ok(buffer)
}

fn as_bytes<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: plain values are initialised bytes, and bytes need no alignment.
    unsafe { slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Called by Node on the JS thread once V8 has let go of a loan's memory.
unsafe extern "C" fn end_loan<T: Plain>(_env: sys::napi_env, _data: *mut c_void, hint: *mut c_void) {
    // SAFETY: `hint` is the box of a loan of `T` that `buffer_of` leaked; Node calls a finalizer once.
    drop(unsafe { Box::from_raw(hint.cast::<Loan<T>>()) });
}

/// Values as the memory of an ArrayBuffer.
///
/// # Safety
/// `env` is that of the call that is running.
unsafe fn buffer_of<T: Plain>(env: sys::napi_env, values: Values<T>) -> napi::Result<sys::napi_value> {
    // More than an ArrayBuffer holds: Node would end the call with an exception of its own.
    if size_of_val(values.as_ref()) > u32::MAX as usize {
        let message = format!("{} ids are more than one ArrayBuffer holds; use smaller batches", values.as_ref().len());
        let failure = Failure::new(Class::Range, "ERR_TOKENLANE_BATCH_TOO_LARGE", message);
        return Err(js_error(Env::from_raw(env), &failure));
    }
    let mut loan = match Loan::take(values) {
        Ok(loan) => Box::new(loan),
        Err(values) => return copied_buffer(env, as_bytes(values.as_ref())),
    };
    let (data, bytes) = (loan.values_mut().as_mut_ptr().cast::<c_void>(), size_of_val(loan.values_mut()));
    let hint = Box::into_raw(loan);
    let mut buffer = ptr::null_mut();
    // SAFETY: `data` is valid for `bytes` bytes until the box behind `hint` is dropped, which only `end_loan` does, for
    // loans of the same type; from here on Rust does not touch the values, so JS may write them.
    let status = unsafe {
        sys::napi_create_external_arraybuffer(env, data, bytes, Some(end_loan::<T>), hint.cast(), &mut buffer)
    };
    if status == sys::Status::napi_no_external_buffers_allowed {
        // SAFETY: Node refused before it took anything, so the box is still this function's alone.
        let values = unsafe { Box::from_raw(hint) }.into_values();
        return copied_buffer(env, as_bytes(values.as_ref()));
    }
    // On any other failure Node has called the finalizer already, or will.
    check(status, "make an ArrayBuffer")?;
    Ok(buffer)
}

impl ToNapiValue for Words {
    unsafe fn to_napi_value(env: sys::napi_env, words: Self) -> napi::Result<sys::napi_value> {
        // SAFETY: the caller gives the running call's `env`.
        unsafe { buffer_of(env, words) }
    }
}

impl ToNapiValue for Bytes {
    unsafe fn to_napi_value(env: sys::napi_env, bytes: Self) -> napi::Result<sys::napi_value> {
        let length = bytes.as_ref().len();
        // SAFETY: the caller gives the running call's `env`.
        let buffer = unsafe { buffer_of(env, bytes) }?;
        let mut view = ptr::null_mut();
        // SAFETY: Node just made `buffer` with that many bytes.
        let status =
            unsafe { sys::napi_create_typedarray(env, sys::TypedarrayType::uint8_array, length, buffer, 0, &mut view) };
        check(status, "make a Uint8Array")?;
        Ok(view)
    }
}

/// Lets go of an ArrayBuffer's memory at once: every view of it becomes empty. What is no buffer, or is one no longer, is
/// left alone.
pub fn detach(buffer: &Unknown<'_>) {
    let (env, raw) = parts(buffer);
    // SAFETY: a value that cannot be detached is answered with a status.
    unsafe { sys::napi_detach_arraybuffer(env, raw) };
}

/// The bytes outside of V8's heap that V8 knows of and counts when it decides to collect.
pub fn external_memory(env: Env) -> i64 {
    let mut bytes = 0;
    // SAFETY: `env` is the running call's, and the result is a valid place. Nothing is added, so the sum stays what it is.
    unsafe { sys::napi_adjust_external_memory(env.raw(), 0, &mut bytes) };
    bytes
}

/// What comes out of a batch. In JS: an array of the block of ids, the number of rows, the block of the rows' texts, and the
/// columns; what was not asked for is null.
pub struct Blocks {
    /// Row offsets, then the ids of all rows.
    pub ids: Words,
    /// How many rows there are.
    pub rows: u32,
    /// The text of each row.
    pub row_texts: Option<Words>,
    /// In the order of [`crate::options::COLUMNS`].
    pub columns: Vec<Option<Column>>,
}

impl ToNapiValue for Blocks {
    unsafe fn to_napi_value(env: sys::napi_env, blocks: Self) -> napi::Result<sys::napi_value> {
        // SAFETY: the caller gives the running call's `env`, and the elements are made for it.
        unsafe {
            let mut elements = vec![
                Words::to_napi_value(env, blocks.ids)?,
                ToNapiValue::to_napi_value(env, blocks.rows)?,
                ToNapiValue::to_napi_value(env, blocks.row_texts)?,
            ];
            for column in blocks.columns {
                elements.push(ToNapiValue::to_napi_value(env, column)?);
            }
            let mut array = ptr::null_mut();
            check(sys::napi_create_array_with_length(env, elements.len(), &mut array), "make an array")?;
            for (index, element) in (0..).zip(elements) {
                check(sys::napi_set_element(env, array, index, element), "set an element")?;
            }
            Ok(array)
        }
    }
}

/// An External as the result of a task: napi names it only where a call returns it directly.
pub struct Owned<T: 'static>(pub External<T>);

impl<T: 'static> ToNapiValue for Owned<T> {
    unsafe fn to_napi_value(env: sys::napi_env, owned: Self) -> napi::Result<sys::napi_value> {
        // SAFETY: the caller gives the running call's `env`.
        unsafe { External::to_napi_value(env, owned.0) }
    }
}

impl<T: 'static> TypeName for Owned<T> {
    fn type_name() -> &'static str {
        "External"
    }

    fn value_type() -> ValueType {
        ValueType::External
    }
}

macro_rules! named {
    ($($type:ty => $name:literal),+) => {$(
        impl TypeName for $type {
            fn type_name() -> &'static str {
                $name
            }

            fn value_type() -> ValueType {
                ValueType::Object
            }
        }
    )+};
}

named!(Words => "ArrayBuffer", Bytes => "Uint8Array", JsText => "string", JsTexts => "string[]", Blocks => "[ArrayBuffer, number, ...]");
