//! Counts the work of the engines in tests: all work must be charged to the budget, and tests
//! compare the two.

#[cfg(feature = "testing")]
mod counted {
    use std::cell::Cell;

    thread_local! {
        static WORK: Cell<u64> = const { Cell::new(0) };
    }

    /// Counts work.
    pub fn count(work: usize) {
        WORK.set(WORK.get() + work as u64);
    }

    /// Returns the work of this thread since the last call.
    pub fn taken() -> u64 {
        WORK.replace(0)
    }
}

#[cfg(feature = "testing")]
pub use counted::{count, taken};

/// Does nothing outside of tests.
#[cfg(not(feature = "testing"))]
#[inline(always)]
pub fn count(_work: usize) {}
