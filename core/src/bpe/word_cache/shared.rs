//! What one worker learned, for the others: a table that all workers of a tokenizer read without a lock.
//!
//! Each entry has a version, which is odd while somebody writes. A reader takes the version, the words, and the version again;
//! unless that is the same, and even, it has seen nothing. A writer who finds another one at work leaves it. So nobody ever waits, and
//! what is read is what was written, whole. In a worker's own cache a word is found sooner, so this is asked only for words
//! that are not there.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use super::key::{Key, fold};
use crate::memory::fallible;

/// Entries: 2.5 MiB.
const ENTRIES: usize = 1 << 16;

/// See the module. Without memory until there is somebody to share with.
#[derive(Debug, Default)]
pub(crate) struct SharedWords(OnceLock<Vec<SeqlockEntry<AtomicU64>>>);

impl SharedWords {
    /// From now on there is more than one worker. Without memory for the table, workers do not share words.
    pub(crate) fn start(&self) {
        if self.0.get().is_none()
            && let Ok(mut entries) = fallible::with_room(ENTRIES)
        {
            entries.resize_with(ENTRIES, SeqlockEntry::default);
            // Another thread may have been faster; its table is as good.
            let _ = self.0.set(entries);
        }
    }

    /// What is known of a short word.
    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<[u8; 16]> {
        self.0.get()?[entry_of(key)].get(key)
    }

    /// Tells others of a short word.
    #[inline]
    pub(super) fn put(&self, key: Key, value: [u8; 16]) {
        if let Some(entries) = self.0.get() {
            entries[entry_of(key)].put(key, value);
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.0.get().map_or(0, |entries| entries.capacity() * size_of::<SeqlockEntry<AtomicU64>>())
    }
}

fn entry_of(key: Key) -> usize {
    (fold(key).wrapping_mul(0xC2B2_AE3D_27D4_EB4F) >> 32) as usize % ENTRIES
}

/// What an entry needs of a number; a trait so that a model checker can put its own in.
trait Atomic: Default {
    fn load(&self, order: Ordering) -> u64;
    fn store(&self, value: u64, order: Ordering);
    /// Whether it was `old` and is `new` now.
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

/// A word and its value, or zeros.
#[derive(Debug, Default)]
struct SeqlockEntry<N> {
    version: N,
    words: [N; 4],
}

impl<N: Atomic> SeqlockEntry<N> {
    fn get(&self, key: Key) -> Option<[u8; 16]> {
        let version = self.version.load(Ordering::Acquire);
        let [low, high, first, second] = self.words.each_ref().map(|word| word.load(Ordering::Relaxed));
        // Who has seen a word of a later writer sees that writer's odd version, or a later one, behind this.
        N::fence(Ordering::Acquire);
        let is_whole = version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version;
        let value = u128::from(second) << 64 | u128::from(first);
        (is_whole && u128::from(high) << 64 | u128::from(low) == key).then(|| value.to_le_bytes())
    }

    fn put(&self, key: Key, value: [u8; 16]) {
        let version = self.version.load(Ordering::Relaxed);
        if !version.is_multiple_of(2) || !self.version.try_replace(version, version + 1) {
            return;
        }
        // No word is written before the version is odd.
        N::fence(Ordering::Release);
        let value = u128::from_le_bytes(value);
        let words = [key as u64, (key >> 64) as u64, value as u64, (value >> 64) as u64];
        self.words.iter().zip(words).for_each(|(place, word)| place.store(word, Ordering::Relaxed));
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

    fn value(of: u64) -> [u8; 16] {
        (u128::from(of) << 64 | u128::from(of)).to_le_bytes()
    }

    #[test]
    fn what_is_read_was_written_whole_in_every_interleaving() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let entry: Arc<SeqlockEntry<LoomAtomic>> = Arc::new(SeqlockEntry::default());
            let writers: Vec<_> = (1..=2)
                .map(|number: u64| {
                    let entry = Arc::clone(&entry);
                    // The same word with two values, so that a mixture of both would pass for it.
                    loom::thread::spawn(move || entry.put(7, value(number)))
                })
                .collect();
            if let Some(read) = entry.get(7) {
                assert!(read == value(1) || read == value(2), "{read:?}");
            }
            assert_eq!(entry.get(8), None);
            writers.into_iter().for_each(|writer| writer.join().expect("no panic"));
            assert!(entry.get(7).is_some(), "one of them has written");
        });
    }

    #[test]
    fn words_are_found_until_others_take_their_places() {
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
