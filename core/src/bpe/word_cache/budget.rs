//! The memory that the tables of short words of all workers of a tokenizer may have together.

use std::sync::atomic::{AtomicIsize, Ordering};

/// The bytes that are left. Negative if the minimum sizes of the tables are more than there was.
#[derive(Debug)]
pub(crate) struct CacheBudget(AtomicIsize);

impl Default for CacheBudget {
    /// No limit.
    fn default() -> Self {
        Self::new(isize::MAX as usize)
    }
}

// Relaxed everywhere: the number guards no other memory.
impl CacheBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(AtomicIsize::new(isize::try_from(bytes).unwrap_or(isize::MAX)))
    }

    /// Takes bytes if that many are left. Returns whether it did.
    pub(super) fn try_take(&self, bytes: usize) -> bool {
        let less = |left: isize| left.checked_sub_unsigned(bytes).filter(|&left| left >= 0);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// Takes bytes, however many are left: the minimum size of a table.
    pub(super) fn take(&self, bytes: usize) {
        self.0.fetch_sub(bytes as isize, Ordering::Relaxed);
    }

    /// Releases bytes that were taken.
    pub(super) fn release(&self, bytes: usize) {
        self.0.fetch_add(bytes as isize, Ordering::Relaxed);
    }
}
