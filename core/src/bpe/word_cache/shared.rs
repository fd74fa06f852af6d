//! Short words that any worker of a tokenizer has merged, shared by all its workers: a table that
//! is read without a lock.
//!
//! Each entry is a seqlock: it has a version, which is odd during a write. A reader loads the
//! version, the content and the version again. If both versions are equal and even, the content is
//! consistent; otherwise the lookup is a miss. A writer that finds another writer at work gives up.
//! So no thread ever waits.
//!
//! A worker's own cache is faster, so this table is only read after a miss there.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use crate::memory::fallible;
use crate::word_key::{self, Key, MULTIPLIERS};

/// The number of entries: 2.5 MiB.
const ENTRIES: usize = 1 << 16;

/// The table. See the module documentation. It allocates no memory before [`Self::start`].
#[derive(Debug, Default)]
pub(crate) struct SharedWords(OnceLock<Vec<SeqlockEntry<AtomicU64>>>);

impl SharedWords {
    /// The memory of the table.
    pub(crate) const BYTES: usize = ENTRIES * size_of::<SeqlockEntry<AtomicU64>>();

    /// Allocates the table, because a second worker has started. If memory is short, workers do not
    /// share words.
    pub(crate) fn start(&self) {
        if self.0.get().is_none()
            && let Ok(mut entries) = fallible::with_capacity(ENTRIES)
        {
            entries.resize_with(ENTRIES, SeqlockEntry::default);
            // Another thread may have been faster; its table is equivalent.
            let _ = self.0.set(entries);
        }
    }

    /// The packed ids of a short word.
    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<u128> {
        self.0.get()?[entry_of(key)].get(key)
    }

    /// Stores the packed ids of a short word, in place of the entry's former word.
    #[inline]
    pub(super) fn put(&self, key: Key, ids: u128) {
        if let Some(entries) = self.0.get() {
            entries[entry_of(key)].put(key, ids);
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.0.get().map_or(0, |entries| entries.capacity() * size_of::<SeqlockEntry<AtomicU64>>())
    }
}

fn entry_of(key: Key) -> usize {
    (word_key::hash(key, MULTIPLIERS[1]) >> 32) as usize % ENTRIES
}

/// The atomic operations of an entry; a trait so that tests can use a model checker's atomics.
trait Atomic: Default {
    fn load(&self, order: Ordering) -> u64;
    fn store(&self, value: u64, order: Ordering);
    /// Replaces `old` by `new` with acquire ordering; returns whether the value was `old`.
    fn try_replace(&self, old: u64, new: u64) -> bool;
    fn fence(order: Ordering);
}

impl Atomic for AtomicU64 {
    fn load(&self, order: Ordering) -> u64 {
        self.load(order)
    }

    fn store(&self, value: u64, order: Ordering) {
        self.store(value, order);
    }

    fn try_replace(&self, old: u64, new: u64) -> bool {
        self.compare_exchange(old, new, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn fence(order: Ordering) {
        fence(order);
    }
}

/// A word and its packed ids, or zeros.
#[derive(Debug, Default)]
struct SeqlockEntry<A> {
    version: A,
    words: [A; 4],
}

impl<A: Atomic> SeqlockEntry<A> {
    fn get(&self, key: Key) -> Option<u128> {
        let version = self.version.load(Ordering::Acquire);
        let [low, high, first, second] = self.words.each_ref().map(|word| word.load(Ordering::Relaxed));
        // If one of these loads has seen a store of a later writer, the fence synchronizes with
        // that writer's release fence, and the load below sees its odd version or a later one.
        A::fence(Ordering::Acquire);
        let is_consistent = version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version;
        let ids = u128::from(second) << 64 | u128::from(first);
        (is_consistent && u128::from(high) << 64 | u128::from(low) == key).then_some(ids)
    }

    fn put(&self, key: Key, ids: u128) {
        let version = self.version.load(Ordering::Relaxed);
        if !version.is_multiple_of(2) || !self.version.try_replace(version, version + 1) {
            return;
        }
        // Orders the odd version before the stores of the content.
        A::fence(Ordering::Release);
        let words = [key as u64, (key >> 64) as u64, ids as u64, (ids >> 64) as u64];
        self.words.iter().zip(words).for_each(|(to, word)| to.store(word, Ordering::Relaxed));
        // Orders these stores before the even version.
        self.version.store(version + 2, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicU64 as LoomAtomic;

    impl Atomic for LoomAtomic {
        fn load(&self, order: Ordering) -> u64 {
            self.load(order)
        }

        fn store(&self, value: u64, order: Ordering) {
            self.store(value, order);
        }

        fn try_replace(&self, old: u64, new: u64) -> bool {
            self.compare_exchange(old, new, Ordering::Acquire, Ordering::Relaxed).is_ok()
        }

        fn fence(order: Ordering) {
            loom::sync::atomic::fence(order);
        }
    }

    fn value(of: u64) -> u128 {
        u128::from(of) << 64 | u128::from(of)
    }

    #[test]
    fn every_read_is_consistent_in_every_interleaving() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let entry: Arc<SeqlockEntry<LoomAtomic>> = Arc::new(SeqlockEntry::default());
            let writers: Vec<_> = (1..=2)
                .map(|number: u64| {
                    let entry = Arc::clone(&entry);
                    // One word with two values, so that a mixture of both would have its key.
                    loom::thread::spawn(move || entry.put(7, value(number)))
                })
                .collect();
            if let Some(read) = entry.get(7) {
                assert!(read == value(1) || read == value(2), "{read:?}");
            }
            writers.into_iter().for_each(|writer| writer.join().expect("no panic"));
            assert!(entry.get(7).is_some(), "one of them has written");
            assert_eq!(entry.get(8), None);
        });
    }

    #[test]
    fn words_are_found_until_others_replace_them() {
        let words = SharedWords::default();
        let key = |number: u64| Key::from(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)) | 8 << 120;
        words.put(key(1), value(1));
        assert_eq!((words.get(key(1)), words.memory_bytes()), (None, 0), "it has not started");
        words.start();
        assert!(words.memory_bytes() < 3 << 20);
        (0..30_000).for_each(|number| words.put(key(number), value(number)));
        let found = (0..30_000).filter(|&number| {
            let found = words.get(key(number));
            assert!(found.is_none_or(|found| found == value(number)));
            found.is_some()
        });
        assert!(found.count() > 20_000);
        assert_eq!(words.get(key(30_001)), None);
    }
}
