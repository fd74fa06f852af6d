//! Counts the work of the engines in tests: all work must be charged to the budget, and tests
//! compare the two.

#[cfg(any(test, feature = "fuzzing"))]
mod counted {
    use std::cell::Cell;

    thread_local! {
        static WORK: Cell<u64> = const { Cell::new(0) };
    }

    /// Counts work.
    pub(crate) fn count(work: usize) {
        WORK.set(WORK.get() + work as u64);
    }

    /// Returns the work of this thread since the last call.
    pub(crate) fn taken() -> u64 {
        WORK.replace(0)
    }
}

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use counted::{count, taken};

/// Does nothing outside of tests.
#[cfg(not(any(test, feature = "fuzzing")))]
#[inline(always)]
pub(crate) fn count(_work: usize) {}
