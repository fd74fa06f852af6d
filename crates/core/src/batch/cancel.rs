//! The flag that cancels a batch.

use std::sync::atomic::{AtomicBool, Ordering};

/// Can be set from any thread; workers check it before each row. It is never reset.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

/// The two operations of the flag. A trait, so that a model checker can use its own atomics.
pub(super) trait Flag {
    fn set(&self);
    fn is_set(&self) -> bool;
}

impl Flag for AtomicBool {
    fn set(&self) {
        // Relaxed: the flag guards no other memory. A worker that sees it late encodes one more
        // row, whose result is dropped. If a worker saw the flag, so does the thread that joined
        // that worker.
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

    /// Sets the flag. Running batches with this flag stop before the next row, and later ones do
    /// not start.
    pub fn cancel(&self) {
        self.0.set();
    }

    /// Whether the flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_set()
    }
}
