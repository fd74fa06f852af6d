//! Results of calls on their way to JS: ids and bytes as buffers, batches as arrays of buffers.
//!
//! Large values are passed to V8 as external ArrayBuffers, whose finalizer releases the memory.
//! Small ones, and all where external buffers are not allowed, are copied.
#![allow(unsafe_code, reason = "passes memory of the pool to V8")]

use std::ffi::c_void;
use std::ptr;
use std::slice;

use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{Env, ValueType, sys};
use tokenlane_core::memory::{self, Plain};

use crate::encoding::Column;
use crate::error::{Class, Failure};
use crate::guard::{EntryPoint, contained};
use crate::memory::{ExternalBuffer, ResultValues, U8Values, U32Values};
use crate::node_api::{check, converted, js_error, named};

/// Creates an ArrayBuffer in V8's own memory with a copy of `bytes`.
fn copied_buffer(env: sys::napi_env, bytes: &[u8]) -> napi::Result<sys::napi_value> {
    // V8 ends the process if it cannot allocate a buffer, so the availability of memory is checked
    // first.
    memory::require_large(bytes.len()).map_err(|error| js_error(Env::from_raw(env), &error.into()))?;
    let (mut data, mut buffer) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: both result pointers are valid.
    let status = unsafe { sys::napi_create_arraybuffer(env, bytes.len(), &raw mut data, &raw mut buffer) };
    check(status, "make an ArrayBuffer")?;
    if !bytes.is_empty() {
        // SAFETY: Node just allocated `bytes.len()` writable bytes at `data`, to which no other
        // reference exists yet.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast::<u8>(), bytes.len()) };
    }
    Ok(buffer)
}

fn as_bytes<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: values of a `Plain` type are initialized bytes without padding, and bytes need no
    // alignment.
    unsafe { slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The finalizer: Node calls it on the JS thread after V8 has collected the ArrayBuffer of an
/// [`ExternalBuffer`], or after it was detached. Its drop returns the slab to the pool.
unsafe extern "C" fn release_external<T: Plain>(_env: sys::napi_env, _data: *mut c_void, hint: *mut c_void) {
    // SAFETY: `hint` is the box of an `ExternalBuffer<T>` that `buffer_of` leaked. Node calls a
    // finalizer once.
    contained(EntryPoint::Drop, || drop(unsafe { Box::from_raw(hint.cast::<ExternalBuffer<T>>()) }));
}

/// Converts values to an ArrayBuffer, without a copy if possible.
///
/// # Safety
/// `env` belongs to the running call.
unsafe fn buffer_of<T: Plain>(env: sys::napi_env, values: ResultValues<T>) -> napi::Result<sys::napi_value> {
    // An ArrayBuffer cannot hold more: Node would end the call with an exception of its own.
    if size_of_val(values.as_ref()) > u32::MAX as usize {
        let bytes = size_of_val(values.as_ref());
        let message = format!("{bytes} bytes are more than an ArrayBuffer can hold; use smaller batches");
        let failure = Failure::new(Class::Range, "ERR_TOKENLANE_BATCH_TOO_LARGE", message);
        return Err(js_error(Env::from_raw(env), &failure));
    }
    let mut external = match ExternalBuffer::take(values) {
        Ok(external) => Box::new(external),
        Err(values) => return copied_buffer(env, as_bytes(values.as_ref())),
    };
    let (data, bytes) = (external.values_mut().as_mut_ptr().cast::<c_void>(), size_of_val(external.values_mut()));
    let hint = Box::into_raw(external);
    let mut buffer = ptr::null_mut();
    // SAFETY: `data` is valid for `bytes` bytes until the box behind `hint` is dropped, which only
    // `release_external` does, for the same `T`. Rust does not access the values from here on, so
    // JS may write them.
    let status = unsafe {
        sys::napi_create_external_arraybuffer(
            env,
            data,
            bytes,
            Some(release_external::<T>),
            hint.cast(),
            &raw mut buffer,
        )
    };
    if status == sys::Status::napi_no_external_buffers_allowed {
        // SAFETY: Node refused before it took ownership, so this function still owns the box.
        let values = unsafe { Box::from_raw(hint) }.into_values();
        return copied_buffer(env, as_bytes(values.as_ref()));
    }
    // In case of any other failure Node has already called the finalizer, or will call it.
    check(status, "make an ArrayBuffer")?;
    Ok(buffer)
}

impl ToNapiValue for U32Values {
    unsafe fn to_napi_value(env: sys::napi_env, words: Self) -> napi::Result<sys::napi_value> {
        // SAFETY: the caller guarantees that `env` belongs to the running call.
        converted(env, || unsafe { buffer_of(env, words) })
    }
}

impl ToNapiValue for U8Values {
    unsafe fn to_napi_value(env: sys::napi_env, bytes: Self) -> napi::Result<sys::napi_value> {
        let length = bytes.as_ref().len();
        // SAFETY: the caller guarantees that `env` belongs to the running call.
        let buffer = converted(env, || unsafe { buffer_of(env, bytes) })?;
        let mut view = ptr::null_mut();
        // SAFETY: Node just created `buffer` with this number of bytes.
        let status = unsafe {
            sys::napi_create_typedarray(env, sys::TypedarrayType::uint8_array, length, buffer, 0, &raw mut view)
        };
        check(status, "make a Uint8Array")?;
        Ok(view)
    }
}

/// The result of a batch. In JS it is an array: the buffer of ids, the number of rows, the buffer
/// of the rows' texts, and the columns. Columns that were not requested are null.
pub struct EncodedBatch {
    /// The row offsets, then the ids of all rows.
    pub ids: U32Values,
    /// The number of rows.
    pub rows: u32,
    /// For each row, the index of its text.
    pub row_texts: Option<U32Values>,
    /// The columns, in the order of [`crate::options::COLUMNS`].
    pub columns: Vec<Option<Column>>,
}

impl ToNapiValue for EncodedBatch {
    unsafe fn to_napi_value(env: sys::napi_env, batch: Self) -> napi::Result<sys::napi_value> {
        // SAFETY: the caller guarantees that `env` belongs to the running call, and the elements
        // are created for it.
        converted(env, || unsafe {
            let mut elements = vec![
                U32Values::to_napi_value(env, batch.ids)?,
                ToNapiValue::to_napi_value(env, batch.rows)?,
                ToNapiValue::to_napi_value(env, batch.row_texts)?,
            ];
            for column in batch.columns {
                elements.push(ToNapiValue::to_napi_value(env, column)?);
            }
            let mut array = ptr::null_mut();
            check(sys::napi_create_array_with_length(env, elements.len(), &raw mut array), "make an array")?;
            for (index, element) in (0..).zip(elements) {
                check(sys::napi_set_element(env, array, index, element), "set an element")?;
            }
            Ok(array)
        })
    }
}

named!(U32Values => "ArrayBuffer", U8Values => "Uint8Array", EncodedBatch => "[ArrayBuffer, number, ...]");
