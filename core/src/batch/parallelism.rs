//! How many threads batches use, the pool they come from, and what a forked child has to know.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Zero: as many as the system says.
static PROCESSORS: AtomicUsize = AtomicUsize::new(0);

/// Zero: as many as [`default_threads`] says.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// The process in which the pool's threads live; zero before there is one. fork(2) copies the pool but not its threads:
/// a child that waited for them would wait for ever.
static POOL_PROCESS: AtomicU32 = AtomicU32::new(0);

/// A pool of our own: its threads end with it, and nobody else's work is queued behind ours.
static POOL: Mutex<Option<Arc<ThreadPool>>> = Mutex::new(None);

/// More threads than this are never used, whatever is asked for.
pub const MAX_THREADS: usize = 256;

/// Sets how many threads a batch uses unless it says otherwise: from 1 to [`MOST_THREADS`], `None` for the default.
/// The thread that calls for the batch is one of them.
pub fn set_threads(threads: Option<usize>) {
    THREADS.store(threads.map_or(0, |threads| threads.clamp(1, MAX_THREADS)), Ordering::Relaxed);
}

/// Says how many processors there are, where only others than this process know: in WebAssembly.
pub fn set_processors(processors: usize) {
    PROCESSORS.store(processors.clamp(1, MAX_THREADS), Ordering::Relaxed);
}

/// How many threads a batch uses unless it says otherwise.
pub fn threads() -> usize {
    match THREADS.load(Ordering::Relaxed) {
        0 => default_threads(),
        threads => threads,
    }
}

/// `RAYON_NUM_THREADS` where that is a number above zero, else what the system has to offer: quotas of a container and
/// the processors that the process may use are counted in.
fn default_threads() -> usize {
    let wished = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.trim().parse().ok());
    let available = || match PROCESSORS.load(Ordering::Relaxed) {
        0 => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        processors => processors,
    };
    wished.filter(|&threads| threads > 0).unwrap_or_else(available).min(MAX_THREADS)
}

/// The number of this process. WebAssembly has none, and no fork either.
fn process_id() -> u32 {
    if cfg!(target_family = "wasm") { 1 } else { std::process::id() }
}

/// Whether a batch has used more than one thread in this process, or in the one it was forked from.
pub fn parallelism_was_used() -> bool {
    POOL_PROCESS.load(Ordering::Acquire) != 0
}

/// A pool that has `helpers` threads at least, to help the thread that asks. `None` where there can be none: in a child
/// forked after a pool was made, or when the system gives no threads. The batch then runs serially.
pub(super) fn pool(helpers: usize) -> Option<Arc<ThreadPool>> {
    let process = process_id();
    let made_in = POOL_PROCESS.load(Ordering::Acquire);
    if made_in != 0 && made_in != process {
        // Even the lock may be one that another thread of the parent held at the moment of the fork.
        return None;
    }
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pool.as_ref().filter(|pool| pool.current_num_threads() >= helpers) {
        return Some(Arc::clone(pool));
    }
    // Before the first thread starts: whoever forks from now on leaves a child that knows.
    POOL_PROCESS.store(process, Ordering::Release);
    let made =
        ThreadPoolBuilder::new().num_threads(helpers).thread_name(|at| format!("tokenlane-{at}")).build().ok()?;
    let made = Arc::new(made);
    *pool = Some(Arc::clone(&made));
    Some(made)
}
