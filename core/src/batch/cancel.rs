//! A flag by which a batch is told to stop.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set from any thread, asked by workers before each row. Once set it stays set.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the flag: batches that were given it stop at the next row, and those not yet begun do not begin.
    pub fn cancel(&self) {
        // Relaxed: the flag orders nothing else. Whoever sees it late does a row too much, whose result is dropped.
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
