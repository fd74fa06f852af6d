//! Raw Node-API calls behind safe functions. Unsafe code of this crate is only here, in the files
//! under node_api/, in results.rs and in the allocator.
//!
//! Two invariants justify all of it:
//!
//! 1. An [`Unknown`] is only created by Node-API or by napi, for the running call, on the thread
//!    that owns its `env`, and its lifetime ends with that call. Therefore both of its pointers are
//!    valid wherever an `Unknown` exists.
//! 2. No function here returns a slice of JS memory. Bytes are copied before any other code can
//!    run, so JS cannot detach, shrink or write them in the meantime.
#![allow(unsafe_code, reason = "raw Node-API calls")]

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::slice;

use napi::bindgen_prelude::{External, ToNapiValue, TypeName, Unknown};
use napi::{Env, JsValue, Status, ValueType, sys};
use napi_derive::napi;
use tokenlane_core::memory::{Grow, OutOfMemory, Plain, Slab};

use crate::error::{Class, Failure, shortened};
use crate::guard::{self, EntryPoint, caught};
use strings::new_utf8;
pub use strings::{
    Fit, JsText, JsTexts, append_ascii, append_utf16, is_ascii, look_at_limits, require_flat, utf16_length, utf16_start,
};

mod short;
mod strings;

/// Number of array elements that share one handle scope.
const ELEMENTS_PER_SCOPE: u32 = 1024;

/// Converts a Node-API status to an error. Failures only occur while the environment is torn down
/// or when memory is exhausted.
pub(crate) fn check(status: sys::napi_status, what: &str) -> napi::Result<()> {
    match status {
        sys::Status::napi_ok => Ok(()),
        other => Err(napi::Error::new(Status::from(other), format!("Node could not {what}"))),
    }
}

fn parts(value: &Unknown<'_>) -> (sys::napi_env, sys::napi_value) {
    let value = value.value();
    (value.env, value.value)
}

/// The environment that a value belongs to. Calls with many arguments take it from one of them.
pub fn env_of(value: &Unknown<'_>) -> Env {
    Env::from_raw(value.value().env)
}

/// The type of a value, worded for an error message.
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

/// A list with uninitialized capacity after its last value.
pub trait Spare<T> {
    /// The uninitialized capacity.
    fn spare(&mut self) -> &mut [MaybeUninit<T>];

    /// Increases the length by `count`.
    ///
    /// # Safety
    /// The first `count` values of it have been initialized.
    unsafe fn added(&mut self, count: usize);
}

impl<T> Spare<T> for Vec<T> {
    fn spare(&mut self) -> &mut [MaybeUninit<T>] {
        self.spare_capacity_mut()
    }

    unsafe fn added(&mut self, count: usize) {
        // SAFETY: the caller guarantees that `count` values after the last one are initialized;
        // they lie in the spare capacity.
        unsafe { self.set_len(self.len() + count) };
    }
}

impl<T: Plain> Spare<T> for Slab<T> {
    fn spare(&mut self) -> &mut [MaybeUninit<T>] {
        self.spare_capacity_mut()
    }

    unsafe fn added(&mut self, count: usize) {
        // SAFETY: the caller guarantees that `count` values after the last one are initialized;
        // they lie in the spare capacity.
        unsafe { self.set_len(self.len() + count) };
    }
}

/// The reason why the memory of a typed array is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The value is not a typed array of the requested kind.
    NotThatKind,
    /// Its buffer was detached.
    Detached,
    /// Its buffer is resizable.
    Resizable,
    /// Its buffer is a SharedArrayBuffer, which other threads may write.
    Shared,
    /// There is not enough memory for a copy.
    NoMemory(OutOfMemory),
}

impl From<OutOfMemory> for Refused {
    fn from(error: OutOfMemory) -> Self {
        Self::NoMemory(error)
    }
}

/// The memory of a typed array at this moment.
struct View {
    data: *mut c_void,
    bytes: usize,
}

impl View {
    /// Reads the place and size of a typed array of the given kind, whose elements have `width`
    /// bytes, and checks its buffer.
    fn of(value: &Unknown<'_>, kind: sys::napi_typedarray_type, width: usize) -> Result<Self, Refused> {
        let (env, raw) = parts(value);
        let (mut actual, mut length, mut data, mut buffer) = (-1, 0, ptr::null_mut(), ptr::null_mut());
        // SAFETY: all result pointers are valid. For a value that is not a typed array, the call
        // only returns an error status.
        let status = unsafe {
            sys::napi_get_typedarray_info(
                env,
                raw,
                &raw mut actual,
                &raw mut length,
                &raw mut data,
                &raw mut buffer,
                ptr::null_mut(),
            )
        };
        if status != sys::Status::napi_ok || actual != kind {
            return Err(Refused::NotThatKind);
        }
        let mut yes = false;
        // SAFETY: `buffer` is the value that Node just returned.
        unsafe { sys::napi_is_arraybuffer(env, buffer, &raw mut yes) };
        if !yes {
            return Err(Refused::Shared);
        }
        // SAFETY: `buffer` is the value that Node returned, and it is an ArrayBuffer.
        unsafe { sys::napi_is_detached_arraybuffer(env, buffer, &raw mut yes) };
        if yes {
            return Err(Refused::Detached);
        }
        let mut resizable = ptr::null_mut();
        yes = false;
        // SAFETY: `buffer` is a live object; a missing property reads as undefined.
        unsafe {
            if sys::napi_get_named_property(env, buffer, c"resizable".as_ptr(), &raw mut resizable)
                == sys::Status::napi_ok
            {
                sys::napi_get_value_bool(env, resizable, &raw mut yes);
            }
        }
        if yes {
            return Err(Refused::Resizable);
        }
        // Reading the property may have run JS, so the memory is read again.
        let (no_buffer, no_offset) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: as for the first call: valid result pointers or null, and any value is allowed.
        let status = unsafe {
            sys::napi_get_typedarray_info(
                env,
                raw,
                &raw mut actual,
                &raw mut length,
                &raw mut data,
                no_buffer,
                no_offset,
            )
        };
        if status != sys::Status::napi_ok {
            return Err(Refused::NotThatKind);
        }
        Ok(Self { data, bytes: if data.is_null() { 0 } else { length * width } })
    }

    fn bytes(&self) -> &[u8] {
        match NonNull::new(self.data.cast::<u8>()) {
            // SAFETY: V8 owns `bytes` bytes at `data`. Views exist only inside functions of this
            // file that copy and return, so neither JS nor the garbage collector runs, and nothing
            // else writes there, while the slice exists.
            Some(data) if self.bytes > 0 => unsafe { slice::from_raw_parts(data.as_ptr(), self.bytes) },
            _ => &[],
        }
    }
}

/// A list of bytes that can be appended to.
pub trait ByteList: Grow {
    /// Appends bytes, for which there is memory.
    fn append(&mut self, bytes: &[u8]);
}

impl ByteList for Vec<u8> {
    fn append(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

impl ByteList for Slab<u8> {
    fn append(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Appends the bytes of a Uint8Array to `bytes` and returns their number.
pub fn append_bytes(value: &Unknown<'_>, bytes: &mut impl ByteList) -> Result<usize, Refused> {
    let view = View::of(value, sys::TypedarrayType::uint8_array, 1)?;
    bytes.try_grow(view.bytes)?;
    bytes.append(view.bytes());
    Ok(view.bytes)
}

/// Copies a Uint32Array.
pub fn copy_words(value: &Unknown<'_>) -> Result<Vec<u32>, Refused> {
    let view = View::of(value, sys::TypedarrayType::uint32_array, 4)?;
    // The language guarantees the alignment of a Uint32Array. Reading four bytes at a time does not
    // rely on it, and still compiles to a single copy.
    let (words, _) = view.bytes().as_chunks::<4>();
    let mut copy = Vec::new();
    copy.try_grow(words.len())?;
    copy.extend(words.iter().map(|word| u32::from_ne_bytes(*word)));
    Ok(copy)
}

/// The length of a Uint8Array in bytes; `None` if the value is not one, or if its buffer cannot be
/// read.
pub fn byte_length(value: &Unknown<'_>) -> Option<usize> {
    View::of(value, sys::TypedarrayType::uint8_array, 1).ok().map(|view| view.bytes)
}

/// The number of words that fit into a Uint32Array of the user.
pub fn word_capacity(value: &Unknown<'_>) -> Result<usize, Refused> {
    Ok(View::of(value, sys::TypedarrayType::uint32_array, 4)?.bytes / 4)
}

/// Writes `words` to the start of a Uint32Array. Returns false, and writes nothing, if they do not
/// fit.
///
/// Only for the scratch arrays of `lib/tokenizer.js`, which nothing else can reach, and for arrays
/// that [`word_capacity`] accepted: this function does not check the buffer.
pub fn fill_words(value: &Unknown<'_>, words: &[u32]) -> bool {
    let (env, raw) = parts(value);
    let (mut kind, mut length, mut data) = (-1, 0, ptr::null_mut());
    // SAFETY: all result pointers are valid or null. For a value that is not a typed array, the
    // call only returns an error status.
    let status = unsafe {
        sys::napi_get_typedarray_info(
            env,
            raw,
            &raw mut kind,
            &raw mut length,
            &raw mut data,
            ptr::null_mut(),
            ptr::null_mut(),
        )
    };
    if status != sys::Status::napi_ok
        || kind != sys::TypedarrayType::uint32_array
        || data.is_null()
        || words.len() > length
    {
        return false;
    }
    // SAFETY: Node just returned that `length >= words.len()` words of 32 bits are writable at
    // `data`. JS cannot run before this function returns, and memory of Rust does not overlap that
    // of V8.
    unsafe { ptr::copy_nonoverlapping(words.as_ptr().cast::<u8>(), data.cast::<u8>(), size_of_val(words)) };
    true
}

/// The length of an array; `None` if the value is not an array.
pub fn array_length(value: &Unknown<'_>) -> Option<u32> {
    let (env, raw) = parts(value);
    let mut length = 0;
    // SAFETY: the result pointer is valid. For a value that is not an array, the call only returns
    // an error status.
    let status = unsafe { sys::napi_get_array_length(env, raw, &raw mut length) };
    (status == sys::Status::napi_ok).then_some(length)
}

/// Calls `visit` with the elements of an array in a range, until it returns false or an error.
/// Returns the index after the last element that was visited. A handle scope is closed after every
/// [`ELEMENTS_PER_SCOPE`] elements, so that a long array does not keep a handle for each element.
pub fn each_element(
    array: &Unknown<'_>,
    range: Range<u32>,
    mut visit: impl FnMut(u32, &Unknown<'_>) -> napi::Result<bool>,
) -> napi::Result<u32> {
    let (env, raw) = parts(array);
    let (mut next, mut continues) = (range.start, true);
    while continues && next < range.end {
        let end = range.end.min(next.saturating_add(ELEMENTS_PER_SCOPE));
        let mut scope = ptr::null_mut();
        // SAFETY: `env` belongs to the running call. The scope is closed below on every path.
        check(unsafe { sys::napi_open_handle_scope(env, &raw mut scope) }, "open a handle scope")?;
        let mut visit_all = || {
            while continues && next < end {
                let mut element = ptr::null_mut();
                // SAFETY: `array` is a live array; an index after its end reads as undefined.
                let status = unsafe { sys::napi_get_element(env, raw, next, &raw mut element) };
                check(status, "read an element of the array")?;
                // SAFETY: Node just created `element` for this `env`, and its scope stays open
                // until the visit is over.
                continues = visit(next, &unsafe { Unknown::from_raw_unchecked(env, element) })?;
                next += 1;
            }
            Ok::<_, napi::Error>(())
        };
        let visited = visit_all();
        // SAFETY: the scope was opened above, and no scope that was opened inside it is still open.
        check(unsafe { sys::napi_close_handle_scope(env, scope) }, "close a handle scope")?;
        visited?;
    }
    Ok(next)
}

/// Runs the body of a call from JS. A failure becomes a JS error, and so does a panic.
pub fn guarded<T>(env: Env, body: impl FnOnce() -> Result<T, Failure>) -> napi::Result<T> {
    caught(EntryPoint::Call, body).map_err(|failure| js_error(env, &failure))
}

/// Converts a result to JS. A panic becomes a JS error.
pub fn converted<T>(env: sys::napi_env, convert: impl FnOnce() -> napi::Result<T>) -> napi::Result<T> {
    caught(EntryPoint::Result, || Ok(convert())).unwrap_or_else(|failure| Err(js_error(Env::from_raw(env), &failure)))
}

/// Lets the next guard of an entry point panic: see [`guard`]. Only tests call it.
#[napi(catch_unwind)]
pub fn panic_next(env: Env, entry_point: u32) -> napi::Result<()> {
    guarded(env, || {
        guard::panic_in(entry_point);
        Ok(())
    })
}

/// Converts a failure to a JS error. napi throws it if a call returns it, or rejects the promise of
/// a task with it.
pub fn js_error(env: Env, failure: &Failure) -> napi::Error {
    let env = env.raw();
    let make = match failure.class {
        Class::Error => sys::napi_create_error,
        Class::Type => sys::napi_create_type_error,
        Class::Range => sys::napi_create_range_error,
    };
    let built = (|| {
        let (code, message) = (new_utf8(env, failure.code)?, new_utf8(env, &shortened(&failure.message))?);
        let mut error = ptr::null_mut();
        // SAFETY: `code` and `message` are strings that Node just created for this `env`.
        check(unsafe { make(env, code, message, &raw mut error) }, "make an error")?;
        let set = |name: &std::ffi::CStr, value: sys::napi_value| {
            // SAFETY: the error and the value belong to this `env`; the name is zero-terminated.
            check(unsafe { sys::napi_set_named_property(env, error, name.as_ptr(), value) }, "set a property")
        };
        let set_number = |name: &std::ffi::CStr, value: usize| {
            let mut number = ptr::null_mut();
            // SAFETY: `number` is a valid result pointer.
            check(unsafe { sys::napi_create_double(env, value as f64, &raw mut number) }, "make a number")?;
            set(name, number)
        };
        if let Some(reason) = &failure.reason {
            set(c"reason", new_utf8(env, &shortened(reason))?)?;
        }
        if let Some(index) = failure.index {
            set_number(c"row", index)?;
        }
        if let Some(exceeded) = failure.exceeded {
            set(c"component", new_utf8(env, exceeded.component)?)?;
            set_number(c"reached", exceeded.reached)?;
            set_number(c"limit", exceeded.limit)?;
        }
        // SAFETY: Node just created `error` for this `env`. In WebAssembly only this conversion
        // keeps the error object itself.
        Ok(napi::Error::from_unknown_without_coercion(unsafe { Unknown::from_raw_unchecked(env, error) }))
    })();
    built.unwrap_or_else(|error: napi::Error| error)
}

/// Detaches an ArrayBuffer: its memory is released and every view of it becomes empty. Other
/// values, and buffers that are already detached, are ignored.
pub fn detach(buffer: &Unknown<'_>) {
    let (env, raw) = parts(buffer);
    // SAFETY: for a value that cannot be detached, the call only returns an error status.
    unsafe { sys::napi_detach_arraybuffer(env, raw) };
}

/// Bytes of external memory, that is outside of V8's heap, that V8 knows of and considers when it
/// schedules collections.
pub fn external_memory(env: Env) -> i64 {
    let mut bytes = 0;
    // SAFETY: `env` belongs to the running call, and the result pointer is valid. The change is 0
    // bytes, so the sum stays the same.
    unsafe { sys::napi_adjust_external_memory(env.raw(), 0, &raw mut bytes) };
    bytes
}

/// An External as the result of a task: napi provides a type name for it only if a call returns it
/// directly.
pub struct Owned<T: 'static>(pub External<T>);

impl<T: 'static> ToNapiValue for Owned<T> {
    unsafe fn to_napi_value(env: sys::napi_env, owned: Self) -> napi::Result<sys::napi_value> {
        // SAFETY: the caller guarantees that `env` belongs to the running call.
        converted(env, || unsafe { External::to_napi_value(env, owned.0) })
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

/// Gives types the names that napi reports.
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

pub(crate) use named;

named!(JsText => "string", JsTexts => "string[]");
