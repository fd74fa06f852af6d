//! The memory by which the tables of all workers of a tokenizer may grow together.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The bytes that are left.
#[derive(Debug)]
pub(crate) struct GrowthMemory(AtomicUsize);

impl Default for GrowthMemory {
    /// No limit.
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

// Relaxed everywhere: the number guards no other memory.
impl GrowthMemory {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }

    /// Takes bytes if that many are left. Returns whether it did.
    pub(super) fn try_take(&self, bytes: usize) -> bool {
        let less = |left: usize| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// Releases bytes that were taken.
    pub(super) fn release(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}
