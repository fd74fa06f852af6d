//! The guards: a panic never leaves a function that Node calls, where it would end the process.
//!
//! Node calls the addon in the ways that [`EntryPoint`] lists, and each of them runs its work in
//! [`caught`]. `__test__/core/guards.test.mjs` lets each guard catch a panic, in every function.
//!
//! - [`EntryPoint::Call`]: functions with `#[napi(catch_unwind)]`, whose body runs in
//!   [`guarded`](crate::node_api::guarded). The attribute guards the part of napi around it, which
//!   converts arguments and results. The call throws `ERR_TOKENLANE_PANIC`.
//! - [`EntryPoint::Short`]: `count_short`, `encode_short`, `shared_ids`. The general call runs
//!   instead.
//! - [`EntryPoint::Work`]: `execute` of an asynchronous task, `Job::compute`. The promise rejects.
//! - [`EntryPoint::Result`]: `complete` of an asynchronous task, `Job::resolve`, and all
//!   conversions of results to JS. The promise rejects, or the call throws.
//! - [`EntryPoint::Drop`]: finalizers of ArrayBuffers (`release_external`, `end_shared`), of
//!   Externals, and the end of a task: [`Held`]. The rest of the value is leaked.
//! - [`EntryPoint::Cleanup`]: the cleanup hook of an environment. Cached memory is not returned.
//! - [`EntryPoint::Init`]: `module_exports`, while Node loads the addon. `require` throws.
//!
//! There are no others: the addon has no classes, hence no constructors, getters and setters, and
//! it passes no callback and no threadsafe function to Node. JS can run inside of a call where the
//! addon reads elements and properties (getters, proxies), so no lock and no `RefCell` is borrowed
//! there: scratch buffers and copied texts are taken out of their cells and put back.

use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use tokenlane_core::memory::OutOfMemory;

use crate::error::Failure;

/// Where Node calls the addon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryPoint {
    Call = 1,
    Short,
    Work,
    Result,
    Drop,
    Cleanup,
    Init,
}

/// The [`EntryPoint`] whose next guard panics, for tests; 0 if none does.
static PANICS: AtomicU32 = AtomicU32::new(0);

/// Lets the next guard of an entry point panic, in any thread of the process. Only tests call it.
pub fn panic_in(entry_point: u32) {
    PANICS.store(entry_point, Ordering::Relaxed);
}

#[cold]
fn panic_for_test(entry_point: EntryPoint) {
    PANICS.store(0, Ordering::Relaxed);
    panic!("a test lets the guard of {entry_point:?} panic");
}

/// Runs `work`. A panic becomes a failure, and so does a failed allocation that unwinds with
/// [`OutOfMemory`].
///
/// After a panic, nothing that `work` uses is read again except tokenizers, which are immutable
/// apart from caches that the core keeps consistent, and scratch buffers that are cleared before
/// each use.
pub fn caught<T>(entry_point: EntryPoint, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let run = || {
        if PANICS.load(Ordering::Relaxed) == entry_point as u32 {
            panic_for_test(entry_point);
        }
        work()
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        if let Some(&error) = payload.downcast_ref::<OutOfMemory>() {
            return Err(error.into());
        }
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("a panic without a message");
        Err(Failure::panicked(message))
    })
}

/// Runs `work`, which ends a value or an environment. Nobody can be told of a panic.
pub fn contained(entry_point: EntryPoint, work: impl FnOnce()) {
    let ended = caught(entry_point, || {
        work();
        Ok(())
    });
    drop(ended);
}

/// A value that JS or a task holds. Node drops it, so a panic of its drop is contained.
#[derive(Debug)]
pub struct Held<T>(Option<T>);

impl<T> Held<T> {
    /// Holds a value.
    pub fn new(value: T) -> Self {
        Self(Some(value))
    }
}

impl<T> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("it is only taken when it is dropped")
    }
}

impl<T> DerefMut for Held<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("it is only taken when it is dropped")
    }
}

impl<T> Drop for Held<T> {
    fn drop(&mut self) {
        contained(EntryPoint::Drop, || drop(self.0.take()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokenlane_core::memory::Grow;

    #[test]
    fn a_panic_becomes_a_failure_with_its_message() {
        let failure = caught::<()>(EntryPoint::Call, || panic!("seven {}", 7)).expect_err("it panicked");
        assert_eq!(failure.code, "ERR_TOKENLANE_PANIC");
        assert!(failure.message.ends_with("seven 7"), "{}", failure.message);
    }

    #[test]
    fn memory_that_is_missing_is_no_defect() {
        let failure = caught::<()>(EntryPoint::Call, || {
            Vec::<u64>::new().grow(usize::MAX / 16);
            Ok(())
        });
        let failure = failure.expect_err("nobody has that much");
        assert_eq!(failure.code, "ERR_TOKENLANE_OUT_OF_MEMORY");
        assert!(failure.message.contains(&(usize::MAX / 16 * 8).to_string()), "{}", failure.message);
    }
}
