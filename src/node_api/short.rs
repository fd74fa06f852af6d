//! The fastest way for one short text: functions that Node calls directly, without the conversions
//! of napi, which take longer than encoding twenty characters.
//!
//! They accept a handle, a string and flags. Whenever anything is unusual, also after an error,
//! they return undefined, and `lib/tokenizer.js` calls the general function, which reports the
//! error.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_void};
use std::ptr;
use std::rc::Rc;

use napi::bindgen_prelude::{External, FromNapiRef, Object};
use napi::{Env, JsValue, sys};
use napi_derive::napi;
use tokenlane_core::{Columns, EncodeOptions, Text};

use super::strings::{Fit, is_limited, read_utf16};
use super::{check, js_error};
use crate::guard::{EntryPoint, caught, contained};
use crate::handle::Handle;
use crate::options;

/// A text with this many UTF-16 units, or more, is not short. `lib/tokenizer.js` knows it too.
const SHORT_TEXT_UNITS: usize = 4096;

/// The number of ids in the memory that is shared with JS.
const SHARED_IDS: usize = 2 * SHORT_TEXT_UNITS;

/// The memory of ids that a module instance shares with the addon. Only its JS thread uses it.
type SharedIds = Rc<[Cell<u32>]>;

#[derive(Default)]
struct Buffers {
    units: Vec<u16>,
    ids: Vec<u32>,
    /// The shared memory of each environment of this thread, with a strong reference to the
    /// Uint32Array over it.
    shared: Vec<(sys::napi_env, SharedIds, sys::napi_ref)>,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();

    /// The External whose type was checked last, and its content. Invariant: both are alive, or
    /// null: Node drops a handle on its own thread, and the drop clears this.
    static CHECKED: Cell<(*const c_void, *const Handle)> = const { Cell::new((ptr::null(), ptr::null())) };
}

impl Drop for Handle {
    fn drop(&mut self) {
        // A tokenizer whose drop panics is contained by `Held`.
        let clear = |checked: &Cell<(*const c_void, *const Self)>| {
            if ptr::eq(checked.get().1, self) {
                checked.set((ptr::null(), ptr::null()));
            }
        };
        // A thread that ends has no JS any more.
        let _ = CHECKED.try_with(clear);
    }
}

/// Calls `work` with the handle that JS passed.
///
/// # Safety
/// `env` and `value` belong to the running call.
unsafe fn with_handle<T>(env: sys::napi_env, value: sys::napi_value, work: impl FnOnce(&Handle) -> T) -> Option<T> {
    let mut data = ptr::null_mut();
    // SAFETY: the result pointer is valid. For a value that is not an External, the call only
    // returns an error status.
    if unsafe { sys::napi_get_value_external(env, value, &raw mut data) } != sys::Status::napi_ok || data.is_null() {
        return None;
    }
    if !ptr::eq(CHECKED.get().0, data) {
        // SAFETY: the caller guarantees that both belong to the running call.
        let external = unsafe { External::<Handle>::from_napi_ref(env, value) }.ok()?;
        CHECKED.set((data, &raw const **external));
    }
    // SAFETY: by the invariant of `CHECKED` the handle is alive. It stays alive during the call,
    // because JS passed it as an argument. Handles are never borrowed exclusively.
    Some(work(unsafe { &*CHECKED.get().1 }))
}

/// Runs `work` with the arguments of a call: the tokenizer's handle, the text and the options.
/// Returns the resulting number to JS, or undefined.
///
/// # Safety
/// Node called a function with these arguments.
unsafe fn with_arguments(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    work: impl FnOnce(
        &Handle,
        Text<'_>,
        &EncodeOptions,
        &mut Vec<u32>,
        &[(sys::napi_env, SharedIds, sys::napi_ref)],
    ) -> Option<u32>,
) -> sys::napi_value {
    let run = || {
        let (mut count, mut arguments) = (3, [ptr::null_mut(); 3]);
        // SAFETY: the result pointers are valid for three arguments; missing ones are undefined.
        let status = unsafe {
            sys::napi_get_cb_info(env, info, &raw mut count, arguments.as_mut_ptr(), ptr::null_mut(), ptr::null_mut())
        };
        let [handle, text, flags] = arguments;
        let mut bits = 0;
        // A long rope could exhaust a limited address space when it is read.
        if status != sys::Status::napi_ok || is_limited() {
            return None;
        }
        // SAFETY: the result pointer is valid, and `flags` belongs to the running call.
        if unsafe { sys::napi_get_value_uint32(env, flags, &raw mut bits) } != sys::Status::napi_ok {
            return None;
        }
        BUFFERS.with(|buffers| {
            let mut buffers = buffers.try_borrow_mut().ok()?;
            let Buffers { units, ids, shared } = &mut *buffers;
            units.clear();
            units.reserve(SHORT_TEXT_UNITS);
            // SAFETY: `env` and `text` belong to the running call.
            let Fit::Appended(_) = (unsafe { read_utf16(env, text, units, usize::MAX) }) else { return None };
            ids.clear();
            let options = options::encode_options(bits, None, Columns::NONE);
            // SAFETY: `env` and `handle` belong to the running call.
            unsafe { with_handle(env, handle, |handle| work(handle, Text::Utf16(units), &options, ids, shared)) }?
        })
    };
    // After a panic the general function panics too, and reports it.
    let number = caught(EntryPoint::Short, || Ok(run())).unwrap_or(None);
    let mut value = ptr::null_mut();
    if let Some(number) = number {
        // SAFETY: `env` belongs to the running call, and the result pointer is valid.
        unsafe { sys::napi_create_uint32(env, number, &raw mut value) };
    }
    // Null is undefined in JS.
    value
}

/// `countShort(handle, text, flags)`: the number of ids.
unsafe extern "C" fn count_short(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: Node calls this function with valid arguments.
    unsafe {
        with_arguments(env, info, |handle, text, options, _, _| {
            handle.tokenizer.count(text, options).ok()?.try_into().ok()
        })
    }
}

/// `encodeShort(handle, text, flags)`: writes the ids to the array of [`shared_ids`], and returns
/// their number.
unsafe extern "C" fn encode_short(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: Node calls this function with valid arguments.
    unsafe {
        with_arguments(env, info, |handle, text, options, ids, shared| {
            handle.tokenizer.encode_ids(text, options, ids).ok()?;
            let (_, cells, _) = shared.iter().find(|(owner, ..)| *owner == env)?;
            let cells = cells.get(..ids.len())?;
            cells.iter().zip(ids.iter()).for_each(|(cell, &id)| cell.set(id));
            Some(ids.len() as u32)
        })
    }
}

/// `sharedIds()`: a Uint32Array over the memory to which [`encode_short`] writes, the same in each
/// call; undefined where external memory is not allowed. The memory stays valid, whatever JS does
/// with the array, until the finalizer of its buffer ran.
unsafe extern "C" fn shared_ids(env: sys::napi_env, _info: sys::napi_callback_info) -> sys::napi_value {
    // Null is undefined in JS, which then makes the general calls.
    caught(EntryPoint::Short, || Ok(ids_shared_with(env))).unwrap_or(ptr::null_mut())
}

fn ids_shared_with(env: sys::napi_env) -> sys::napi_value {
    let find = |buffers: &Buffers| buffers.shared.iter().find(|(owner, ..)| *owner == env).map(|known| known.2);
    let mut array = ptr::null_mut();
    if let Some(reference) = BUFFERS.with_borrow(find) {
        // SAFETY: the reference belongs to `env`, and is deleted only with it.
        unsafe { sys::napi_get_reference_value(env, reference, &raw mut array) };
        return array;
    }
    let ids: SharedIds = vec![Cell::new(0); SHARED_IDS].into();
    let hint = Box::into_raw(Box::new((env, Rc::clone(&ids))));
    let (data, bytes) = (ids.as_ptr().cast_mut().cast::<c_void>(), SHARED_IDS * size_of::<u32>());
    let (mut buffer, mut reference) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: `data` is valid for `bytes` bytes until the box behind `hint` is dropped, which only
    // the finalizer does. Cells may be written by others on this thread.
    let status = unsafe {
        sys::napi_create_external_arraybuffer(env, data, bytes, Some(end_shared), hint.cast(), &raw mut buffer)
    };
    if status == sys::Status::napi_no_external_buffers_allowed {
        // SAFETY: Node refused before it took ownership, so this function still owns the box.
        drop(unsafe { Box::from_raw(hint) });
    }
    let kind = sys::TypedarrayType::uint32_array;
    // SAFETY: if the buffer was created, it has this size; all result pointers are valid.
    let is_created = unsafe {
        status == sys::Status::napi_ok
            && sys::napi_create_typedarray(env, kind, SHARED_IDS, buffer, 0, &raw mut array) == sys::Status::napi_ok
            && sys::napi_create_reference(env, array, 1, &raw mut reference) == sys::Status::napi_ok
    };
    if !is_created {
        return ptr::null_mut();
    }
    BUFFERS.with_borrow_mut(|buffers| buffers.shared.push((env, ids, reference)));
    array
}

/// Node calls it on the JS thread after V8 has collected the buffer, or when the environment ends.
unsafe extern "C" fn end_shared(_env: sys::napi_env, _data: *mut c_void, hint: *mut c_void) {
    contained(EntryPoint::Drop, || {
        // SAFETY: `hint` is the box that `ids_shared_with` leaked. Node calls a finalizer once.
        let (env, _ids) = *unsafe { Box::from_raw(hint.cast::<(sys::napi_env, SharedIds)>()) };
        let _ = BUFFERS.try_with(|buffers| buffers.borrow_mut().shared.retain(|(owner, ..)| *owner != env));
    });
}

/// Adds the functions to the exports.
#[napi(module_exports)]
pub fn add_short_functions(exports: Object<'_>) -> napi::Result<()> {
    let env = Env::from_raw(exports.value().env);
    let added = caught(EntryPoint::Init, || Ok(add_functions(&exports)));
    added.unwrap_or_else(|failure| Err(js_error(env, &failure)))
}

fn add_functions(exports: &Object<'_>) -> napi::Result<()> {
    let functions: [(&CStr, unsafe extern "C" fn(_, _) -> _); 3] =
        [(c"countShort", count_short), (c"encodeShort", encode_short), (c"sharedIds", shared_ids)];
    let exports = exports.value();
    for (name, call) in functions {
        let mut function = ptr::null_mut();
        // SAFETY: the name is zero-terminated, the result pointer is valid, and the exports belong
        // to the running call.
        let statuses = unsafe {
            let status = sys::napi_create_function(
                exports.env,
                name.as_ptr(),
                -1,
                Some(call),
                ptr::null_mut(),
                &raw mut function,
            );
            [status, sys::napi_set_named_property(exports.env, exports.value, name.as_ptr(), function)]
        };
        statuses.into_iter().try_for_each(|status| check(status, "export a function"))?;
    }
    Ok(())
}
