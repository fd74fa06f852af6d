//! What is lent to one thread at a time, and kept while nobody has it. The lock is held to take or put one, never while one
//! works or is made; it also orders what the last borrower wrote before what the next one reads.

use std::fmt;

use crate::lock::{Lock, Locks, Std};

/// See the module.
pub(crate) struct ObjectPool<T: Send, L: Locks = Std> {
    state: L::Of<Idle<T>>,
    max_idle: usize,
}

#[derive(Debug)]
struct Idle<T> {
    idle: Vec<T>,
    /// How many were ever made.
    created: u64,
}

impl<T: Send, L: Locks> ObjectPool<T, L> {
    /// Keeps so many at most.
    pub(crate) fn new(max_idle: usize) -> Self {
        Self { state: L::Of::new(Idle { idle: vec![], created: 0 }), max_idle }
    }

    /// One of those that are idle, the last one given back; a new one where there is none, which is told its number.
    pub(crate) fn take(&self, make: impl FnOnce(u64) -> T) -> T {
        let idle = self.state.with(|Idle { idle, created }| {
            idle.pop().ok_or_else(|| {
                *created += 1;
                *created - 1
            })
        });
        idle.unwrap_or_else(make)
    }

    /// Keeps it for the next, or drops it, not under the lock, where enough are idle.
    pub(crate) fn put(&self, thing: T) {
        let _surplus = self.state.with(|Idle { idle, .. }| match idle.len() < self.max_idle {
            true => {
                idle.push(thing);
                None
            }
            false => Some(thing),
        });
    }

    /// Looks at those that are idle.
    pub(crate) fn with_idle<R>(&self, look: impl FnOnce(&[T]) -> R) -> R {
        self.state.with(|waiting| look(&waiting.idle))
    }
}

impl<T: Send + fmt::Debug> fmt::Debug for ObjectPool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectPool").field("state", &self.state).field("max_idle", &self.max_idle).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::Loom;
    use loom::cell::Cell;
    use loom::sync::Arc;

    /// Three threads borrow, one of them twice, while one is kept at most. Each adds one to what it has: the cell would tell of two that have
    /// it at the same time, or of one that does not see what the last one wrote.
    #[test]
    fn nothing_is_lent_twice_in_any_interleaving() {
        loom::model(|| {
            let pool = Arc::new(ObjectPool::<(u64, Cell<u32>), Loom>::new(1));
            let borrow = |pool: &ObjectPool<(u64, Cell<u32>), Loom>| {
                let thing = pool.take(|number| (number, Cell::new(0)));
                thing.1.set(thing.1.get() + 1);
                let told = (thing.0, thing.1.get());
                pool.put(thing);
                told
            };
            let helpers = [1, 1].map(|times| {
                let pool = Arc::clone(&pool);
                loom::thread::spawn(move || (0..times).map(|_| borrow(&pool)).collect::<Vec<_>>())
            });
            let mut told = vec![borrow(&pool), borrow(&pool)];
            told.extend(helpers.into_iter().flat_map(|helper| helper.join().expect("no panic")));
            // Of each thing the times that it was lent are counted without a gap.
            told.sort_unstable();
            let expected = told.iter().enumerate().map(|(at, &(number, _))| {
                (number, told[..=at].iter().filter(|(other, _)| *other == number).count() as u32)
            });
            assert!(told.iter().copied().eq(expected), "{told:?}");
            let most = told.last().expect("four times").0;
            assert!(most < 3, "no more are created than borrow at the same time, {told:?}");
            pool.with_idle(|idle| assert_eq!(idle.len(), 1));
        });
    }
}
