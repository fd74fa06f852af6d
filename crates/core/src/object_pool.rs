//! A pool of objects, each used by one thread at a time and kept while idle. The lock is held only
//! to take or put an object, not while one is in use or created. It also orders the writes of the
//! previous user before the reads of the next.

use std::fmt;

use crate::lock::{Lock, Locks, Std};

/// The pool. See the module documentation.
pub(crate) struct ObjectPool<T: Send, L: Locks = Std> {
    state: L::Of<Idle<T>>,
    max_idle: usize,
}

#[derive(Debug)]
struct Idle<T> {
    idle: Vec<T>,
    /// The number of objects created so far.
    created: u64,
}

impl<T: Send, L: Locks> ObjectPool<T, L> {
    /// Keeps at most `max_idle` idle objects.
    pub(crate) fn new(max_idle: usize) -> Self {
        Self { state: L::Of::new(Idle { idle: vec![], created: 0 }), max_idle }
    }

    /// Takes the idle object that was put last. If there is none, `make` creates one; it receives
    /// the number of objects created before.
    pub(crate) fn take(&self, make: impl FnOnce(u64) -> T) -> T {
        let idle = self.state.with(|Idle { idle, created }| {
            idle.pop().ok_or_else(|| {
                *created += 1;
                *created - 1
            })
        });
        idle.unwrap_or_else(make)
    }

    /// Keeps an object for the next user. If enough are idle, drops it without holding the lock.
    pub(crate) fn put(&self, thing: T) {
        let _surplus = self.state.with(|Idle { idle, .. }| match idle.len() < self.max_idle {
            true => {
                idle.push(thing);
                None
            }
            false => Some(thing),
        });
    }

    /// Calls `look` with the idle objects.
    pub(crate) fn with_idle<R>(&self, look: impl FnOnce(&[T]) -> R) -> R {
        self.state.with(|Idle { idle, .. }| look(idle))
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

    /// Three threads take objects, one of them twice, and at most one object is kept. Each
    /// increments its object. The cell detects two users at the same time, and a user that does not
    /// see the previous write.
    #[test]
    fn no_object_has_two_users_in_any_interleaving() {
        loom::model(|| {
            let pool = Arc::new(ObjectPool::<(u64, Cell<u32>), Loom>::new(1));
            let borrow = |pool: &ObjectPool<(u64, Cell<u32>), Loom>| {
                let thing = pool.take(|number| (number, Cell::new(0)));
                thing.1.set(thing.1.get() + 1);
                let counts = (thing.0, thing.1.get());
                pool.put(thing);
                counts
            };
            let helpers = [1, 1].map(|times| {
                let pool = Arc::clone(&pool);
                loom::thread::spawn(move || (0..times).map(|_| borrow(&pool)).collect::<Vec<_>>())
            });
            let mut counts = vec![borrow(&pool), borrow(&pool)];
            counts.extend(helpers.into_iter().flat_map(|helper| helper.join().expect("no panic")));
            // For each object, the increments are counted without a gap.
            counts.sort_unstable();
            let expected = counts.iter().enumerate().map(|(at, &(number, _))| {
                (number, counts[..=at].iter().filter(|(other, _)| *other == number).count() as u32)
            });
            assert!(counts.iter().copied().eq(expected), "{counts:?}");
            let created = counts.last().expect("four times").0;
            assert!(created < 3, "no more are created than borrow at the same time, {counts:?}");
            pool.with_idle(|idle| assert_eq!(idle.len(), 1));
        });
    }
}
