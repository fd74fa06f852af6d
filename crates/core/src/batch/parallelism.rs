//! The number of threads for batches, the thread pool, and the behaviour after a fork.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The number of threads that was set; 0 for [`default_threads`].
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// The id of the process that created the pool; 0 before. fork(2) copies the pool but not its
/// threads, so a child that waited for them would wait forever.
static POOL_PROCESS: AtomicU32 = AtomicU32::new(0);

/// A private pool: no other user of rayon queues work on it.
static POOL: Mutex<Option<Arc<ThreadPool>>> = Mutex::new(None);

/// Maximum number of threads of a batch. Larger numbers are clamped.
pub const MAX_THREADS: usize = 256;

/// Sets the default number of threads of a batch, including the calling one. It is clamped to
/// 1..=[`MAX_THREADS`]; `None` restores the default.
pub fn set_threads(threads: Option<usize>) {
    THREADS.store(threads.map_or(0, |threads| threads.clamp(1, MAX_THREADS)), Ordering::Relaxed);
}

/// The default number of threads of a batch.
pub fn threads() -> usize {
    match THREADS.load(Ordering::Relaxed) {
        0 => default_threads(),
        threads => threads,
    }
}

/// `RAYON_NUM_THREADS` if it is a positive number. Otherwise the number of processors available to
/// the process, which respects container quotas and CPU affinity.
fn default_threads() -> usize {
    let requested = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.trim().parse().ok());
    let available = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    requested.filter(|&threads| threads > 0).unwrap_or_else(available).min(MAX_THREADS)
}

/// The process id. WebAssembly has neither process ids nor fork.
fn process_id() -> u32 {
    if cfg!(target_family = "wasm") { 1 } else { std::process::id() }
}

/// Whether a batch used more than one thread, in this process or in the one it was forked from.
pub fn parallelism_was_used() -> bool {
    POOL_PROCESS.load(Ordering::Acquire) != 0
}

/// The number of threads of a pool for batches of `helpers` threads beside the calling one. Two
/// batches that use only some of the processors may run at the same time, so the pool has threads
/// for both, up to the number that one batch uses by default, `threads`.
fn pool_size(helpers: usize, threads: usize) -> usize {
    helpers.max((2 * helpers).min(threads - 1))
}

/// Returns a pool with at least `helpers` threads beside the calling one. `None` in a child that
/// was forked after the pool was created, or if the system provides no threads; the batch then runs
/// on the calling thread.
pub(super) fn pool(helpers: usize) -> Option<Arc<ThreadPool>> {
    let process = process_id();
    let created_in = POOL_PROCESS.load(Ordering::Acquire);
    if created_in != 0 && created_in != process {
        // Return before taking the lock: another thread of the parent may have held it during the
        // fork.
        return None;
    }
    let size = pool_size(helpers, threads());
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pool.as_ref().filter(|pool| pool.current_num_threads() >= size) {
        return Some(Arc::clone(pool));
    }
    // Store before the first thread starts, so that every child forked afterwards sees it.
    POOL_PROCESS.store(process, Ordering::Release);
    let created =
        ThreadPoolBuilder::new().num_threads(size).thread_name(|at| format!("tokenlane-{at}")).build().ok()?;
    let created = Arc::new(created);
    *pool = Some(Arc::clone(&created));
    Some(created)
}

#[cfg(test)]
mod tests {
    use super::pool_size;

    #[test]
    fn a_pool_has_threads_for_two_batches_that_share_the_processors() {
        // All processors for one batch, half of them for each of two, and few of many.
        for (helpers, threads, expected) in [(1, 2, 1), (7, 8, 7), (3, 8, 6), (2, 5, 4), (1, 64, 2), (3, 1, 3)] {
            assert_eq!(pool_size(helpers, threads), expected, "{helpers} helpers, {threads} threads");
        }
    }
}
