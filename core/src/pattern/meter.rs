//! Work as tests count it, beside the budget: what an engine does must be charged, and tests hold one against the other.

#[cfg(any(test, feature = "fuzzing"))]
mod counted {
    use std::cell::Cell;

    thread_local! {
        static WORK: Cell<u64> = const { Cell::new(0) };
    }

    /// Notes work that was done.
    pub(crate) fn count(work: usize) {
        WORK.set(WORK.get() + work as u64);
    }

    /// The work of this thread since it was asked last.
    pub(crate) fn taken() -> u64 {
        WORK.replace(0)
    }
}

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use counted::{count, taken};

/// Notes nothing.
#[cfg(not(any(test, feature = "fuzzing")))]
#[inline(always)]
pub(crate) fn count(_work: usize) {}
