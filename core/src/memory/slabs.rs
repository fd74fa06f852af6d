//! Slabs that were given back and are lent again, because their pages are warm: the kernel has to clear every page that it
//! maps, and for ids written once that clearing is a quarter of the time of encoding.
//!
//! A few of the largest recent slabs are kept, bounded in number and in bytes. It is the idea of NumPy's small cache of
//! deallocations; a pool with size classes can come in its place.

use std::sync::{Mutex, PoisonError};

/// Slabs kept, at most.
const MOST_SLABS: usize = 8;
/// Bytes of all kept slabs together, at most.
const MOST_BYTES: usize = 48 << 20;
/// Smaller slabs, in words, cost an allocator nothing and are not kept.
const LEAST_WORDS: usize = 16 << 10;

/// Invariant: no more than [`MOST_SLABS`], no more than [`MOST_BYTES`], all empty and none below [`LEAST_WORDS`].
static WARM: Mutex<Vec<Vec<u32>>> = Mutex::new(Vec::new());

/// What is kept warm at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarmMemory {
    /// How many slabs.
    pub slabs: usize,
    /// How many bytes they have together.
    pub bytes: usize,
}

/// An empty slab with room for so many words, warm if there is one that fits.
pub fn take(words: usize) -> Vec<u32> {
    if words >= LEAST_WORDS {
        let mut warm = lock();
        // The smallest that is large enough; one that is far too large is left to those who need it.
        let fitting = |slab: &&Vec<u32>| (words..=words.saturating_mul(4)).contains(&slab.capacity());
        let best = warm.iter().filter(fitting).map(Vec::capacity).min();
        if let Some(at) = best.and_then(|best| warm.iter().position(|slab| slab.capacity() == best)) {
            return warm.swap_remove(at);
        }
    }
    Vec::with_capacity(words)
}

/// Takes back a slab that nobody looks at any more, to keep it warm or to free it.
pub fn give_back(mut slab: Vec<u32>) {
    if slab.capacity() < LEAST_WORDS || slab.capacity() * 4 > MOST_BYTES {
        return;
    }
    slab.clear();
    let mut dropped = vec![];
    let mut warm = lock();
    warm.push(slab);
    while warm.len() > MOST_SLABS || bytes(&warm) > MOST_BYTES {
        let smallest = warm.iter().enumerate().min_by_key(|(_, slab)| slab.capacity()).map(|(at, _)| at);
        dropped.extend(smallest.map(|at| warm.swap_remove(at)));
    }
    drop(warm); // what is dropped goes back to the system, and nobody has to wait for that
}

/// Frees what is kept warm.
pub fn trim() {
    let all = std::mem::take(&mut *lock());
    drop(all);
}

/// What is kept warm at the moment.
pub fn warm() -> WarmMemory {
    let warm = lock();
    WarmMemory { slabs: warm.len(), bytes: bytes(&warm) }
}

fn bytes(slabs: &[Vec<u32>]) -> usize {
    slabs.iter().map(|slab| slab.capacity() * 4).sum()
}

/// Nothing under the lock can panic halfway, so a poisoned lock guards a sound list.
fn lock() -> std::sync::MutexGuard<'static, Vec<Vec<u32>>> {
    WARM.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, because all of it is about one list. Other tests of this process encode no batch that is large enough
    /// to take part.
    #[test]
    fn slabs_come_back_warm_and_stay_within_bounds() {
        trim();
        let slab = take(100_000);
        let place = slab.as_ptr();
        give_back(slab);
        let again = take(60_000);
        assert_eq!((again.as_ptr(), again.len()), (place, 0), "the warm one is large enough and not too large");
        give_back(again);
        for (words, why) in [(1_000, "small ones"), (20_000, "it is far too large"), (200_000, "it is too small")] {
            let other = take(words);
            assert_ne!(other.as_ptr(), place, "not the warm one: {why}");
        }
        for words in (1..60).map(|at| at * 50_000) {
            give_back(Vec::with_capacity(words));
            let warm = warm();
            assert!(warm.slabs <= MOST_SLABS && warm.bytes <= MOST_BYTES, "{warm:?}");
        }
        assert!(warm().bytes > MOST_BYTES / 2);
        trim();
        assert_eq!(warm(), WarmMemory { slabs: 0, bytes: 0 });
    }
}
