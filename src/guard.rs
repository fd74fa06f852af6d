//! The guards: a panic never leaves a function that Node calls, where it would end the process.
//!
//! Node calls the addon in the ways that [`Place`] lists, and each of them runs its work in
//! [`caught`]. `__test__/92-guards.test.mjs` lets each guard catch a panic, in every function.
//!
//! | place | functions | after a panic |
//! |---|---|---|
//! | [`Call`](Place::Call) | those with `#[napi(catch_unwind)]`, whose body runs in [`guarded`](crate::node_api::guarded); napi's part around it, which converts arguments and results, is in the guard of the attribute | the call throws `ERR_TOKENLANE_PANIC` |
//! | [`Short`](Place::Short) | `count_short`, `encode_short`, `shared_ids` | the general call runs instead |
//! | [`Work`](Place::Work) | `execute` of an asynchronous task: [`Job::compute`](crate::task::Job) | the promise rejects |
//! | [`Result`](Place::Result) | `complete` of an asynchronous task: `Job::resolve`; all conversions of results to JS | the promise rejects, or the call throws |
//! | [`Drop`](Place::Drop) | finalizers of ArrayBuffers (`release_external`, `end_shared`) and of Externals, and the end of a task: [`Held`](crate::node_api::Held) | the rest of the value is leaked |
//! | [`Cleanup`](Place::Cleanup) | the cleanup hook of an environment | cached memory is not returned |
//! | [`Init`](Place::Init) | `module_exports`, while Node loads the addon | `require` throws |
//!
//! There are no others: the addon has no classes, hence no constructors, getters and setters, and
//! it passes no callback and no threadsafe function to Node. JS can run inside of a call where the
//! addon reads elements and properties (getters, proxies), so no lock and no `RefCell` is borrowed
//! there: scratch buffers and copied texts are taken out of their cells and put back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use tokenlane_core::memory::OutOfMemory;

use crate::error::Failure;

/// Where Node calls the addon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Call = 1,
    Short,
    Work,
    Result,
    Drop,
    Cleanup,
    Init,
}

/// The [`Place`] whose next guard panics, for tests; 0 if none does.
static PANICS: AtomicU32 = AtomicU32::new(0);

/// Lets the next guard of a place panic, in any thread of the process. Only tests call it.
pub fn panic_in(place: u32) {
    PANICS.store(place, Ordering::Relaxed);
}

#[cold]
fn panic_for_test(place: Place) {
    PANICS.store(0, Ordering::Relaxed);
    panic!("a test lets the guard of {place:?} panic");
}

/// Runs `work`. A panic becomes a failure, and so does a failed allocation that unwinds with
/// [`OutOfMemory`].
///
/// After a panic, nothing that `work` uses is read again except tokenizers, which are immutable
/// apart from caches that the core keeps consistent, and scratch buffers that are cleared before
/// each use.
pub fn caught<T>(place: Place, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let run = || {
        if PANICS.load(Ordering::Relaxed) == place as u32 {
            panic_for_test(place);
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
pub fn contained(place: Place, work: impl FnOnce()) {
    let ended = caught(place, || {
        work();
        Ok(())
    });
    drop(ended);
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokenlane_core::memory::Grow;

    #[test]
    fn a_panic_becomes_a_failure_with_its_message() {
        let failure = caught::<()>(Place::Call, || panic!("seven {}", 7)).expect_err("it panicked");
        assert_eq!(failure.code, "ERR_TOKENLANE_PANIC");
        assert!(failure.message.ends_with("seven 7"), "{}", failure.message);
    }

    #[test]
    fn memory_that_is_missing_is_no_defect() {
        let failure = caught::<()>(Place::Call, || {
            Vec::<u64>::new().grow(usize::MAX / 16);
            Ok(())
        });
        let failure = failure.expect_err("nobody has that much");
        assert_eq!(failure.code, "ERR_TOKENLANE_OUT_OF_MEMORY");
        assert!(failure.message.contains(&(usize::MAX / 16 * 8).to_string()), "{}", failure.message);
    }
}
