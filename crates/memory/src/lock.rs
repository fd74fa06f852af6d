//! Locks as a trait, so that a model checker can use its own: shared state is written once, and
//! tests try every interleaving of it.

use std::sync::{Mutex, PoisonError};

/// A value that one thread at a time can access.
pub trait Lock<T>: Send + Sync {
    /// A lock around `value`.
    fn new(value: T) -> Self;
    /// Runs `work` with the value, while no other thread has access to it.
    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R;
}

impl<T: Send> Lock<T> for Mutex<T> {
    fn new(value: T) -> Self {
        Self::new(value)
    }

    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        // A panic under a lock is a bug, but the value it left is the best one available.
        work(&mut self.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A family of locks.
pub trait Locks {
    /// The lock of a value of type `T`.
    type Of<T: Send>: Lock<T>;
}

/// The locks of the standard library.
#[derive(Debug)]
pub struct Std;

impl Locks for Std {
    type Of<T: Send> = Mutex<T>;
}

/// The locks of loom, which tries every interleaving.
#[cfg(feature = "testing")]
pub struct Loom;

#[cfg(feature = "testing")]
impl Locks for Loom {
    type Of<T: Send> = loom::sync::Mutex<T>;
}

#[cfg(feature = "testing")]
impl<T: Send> Lock<T> for loom::sync::Mutex<T> {
    fn new(value: T) -> Self {
        Self::new(value)
    }

    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        work(&mut self.lock().expect("no panic under the lock"))
    }
}
