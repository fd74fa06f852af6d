//! A flag by which a batch is told to stop.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set from any thread, asked by workers before each row. Once set it stays set.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

/// The two operations of the flag; a trait so that a model checker can put its own atomics in.
pub(super) trait Flag {
    fn set(&self);
    fn is_set(&self) -> bool;
}

impl Flag for AtomicBool {
    fn set(&self) {
        // Relaxed: the flag orders nothing else. Whoever sees it late does a row too much, whose result is dropped; and what
        // a worker saw, the thread that waited for its end sees as well.
        self.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the flag: batches that were given it stop at the next row, and those not yet begun do not begin.
    pub fn cancel(&self) {
        self.0.set();
    }

    /// Whether the flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_set()
    }
}
