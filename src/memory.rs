//! The memory of results in JS.
//!
//! The core collects the result of a batch in slabs of its pool: one for the ids and one for each
//! column. JS gets the slab itself, as the memory of an ArrayBuffer. Node runs the finalizer of the
//! buffer between turns of the event loop, after V8 has collected it, and only then is the slab
//! released to the pool. A loop that never yields would therefore accumulate slabs. To prevent
//! this, the bytes held by V8 are counted. If they exceed half of the pool's cap, or if the runtime
//! does not allow external memory (Electron), the values are copied into memory that V8 itself
//! manages.
//!
//! V8 counts external memory, but it does not collect before there is a lot of it. Therefore the JS
//! thread starts garbage collections itself from time to time; [`Pressure`] decides when.

use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use napi::Env;
use napi_derive::napi;
use tokenlane_core::memory::{
    self, Advice, AllocStep, Collection, Collector, OutOfMemory, Plain, PoolKind, Settings, Slab, StepCost,
};

use crate::allocator;
use crate::error::{Class, Failure};
use crate::guard::{EntryPoint, contained};
use crate::{node_api, queue};

/// Copying at most this many bytes costs less than a finalizer: 16 KiB.
const MAX_COPIED_BYTES: usize = 16 << 10;

/// Bytes held by V8: the sum of the bytes of all [`ExternalBuffer`]s.
static HELD_BY_V8: AtomicUsize = AtomicUsize::new(0);

/// Maximum number of bytes that V8 may hold in the whole process: half of the pool's cap. The other
/// half is for texts and for results of running batches.
fn max_held_by_v8() -> usize {
    memory::settings().cap / 2
}

/// Numbers to be passed to JS, in the byte order of the machine.
#[derive(Debug)]
pub enum ResultValues<T: Plain> {
    /// A slab of the pool. JS gets this memory without a copy if possible.
    Slab(Slab<T>),
    /// Values that are copied.
    Vec(Vec<T>),
}

/// Values that become an ArrayBuffer of 32-bit words.
pub type U32Values = ResultValues<u32>;

/// Values that become a Uint8Array.
pub type U8Values = ResultValues<u8>;

impl<T: Plain> TryFrom<&[T]> for ResultValues<T> {
    type Error = OutOfMemory;

    /// Runs on the thread that computed the values: more than [`MAX_COPIED_BYTES`] bytes move into
    /// the pool, so that the JS thread need not copy them.
    fn try_from(values: &[T]) -> Result<Self, OutOfMemory> {
        if size_of_val(values) <= MAX_COPIED_BYTES {
            return Ok(Self::Vec(values.to_vec()));
        }
        let mut slab = Slab::try_with_capacity(values.len())?;
        slab.extend_from_slice(values);
        Ok(Self::Slab(slab))
    }
}

impl<T: Plain> TryFrom<Vec<T>> for ResultValues<T> {
    type Error = OutOfMemory;

    fn try_from(values: Vec<T>) -> Result<Self, OutOfMemory> {
        if size_of_val(&values[..]) <= MAX_COPIED_BYTES { Ok(Self::Vec(values)) } else { Self::try_from(&values[..]) }
    }
}

impl<T: Plain> AsRef<[T]> for ResultValues<T> {
    fn as_ref(&self) -> &[T] {
        match self {
            Self::Slab(slab) => slab,
            Self::Vec(values) => values,
        }
    }
}

/// A slab that V8 holds as external memory. Dropping it drops the slab, whose guard releases the
/// block to the pool (`crates/memory/src/shared.rs`).
#[derive(Debug)]
pub struct ExternalBuffer<T: Plain> {
    slab: Slab<T>,
    bytes: usize,
}

impl<T: Plain> ExternalBuffer<T> {
    /// Counts the values as held by V8. Returns them as the error if they must be copied instead:
    /// if they are small, not in the pool, or above [`max_held_by_v8`]. Called on the JS thread.
    pub fn take(values: ResultValues<T>) -> Result<Self, ResultValues<T>> {
        let bytes = size_of_val(values.as_ref());
        if bytes <= MAX_COPIED_BYTES {
            return Err(values);
        }
        PRESSURE.with_borrow_mut(|pressure| pressure.receive(bytes));
        // Relaxed: the time does not guard any memory.
        LAST_RESULT.store(started().elapsed().as_millis() as u64, Ordering::Relaxed);
        let slab = match values {
            ResultValues::Slab(slab) if slab.is_pooled() => slab,
            other => return Err(other),
        };
        // Relaxed: the counter does not guard any memory.
        let before = HELD_BY_V8.fetch_add(bytes, Ordering::Relaxed);
        let external = Self { slab, bytes };
        if before + bytes > max_held_by_v8() { Err(external.into_values()) } else { Ok(external) }
    }

    /// The values, to be passed to V8. Their address does not change until the buffer is dropped.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.slab
    }

    /// Takes the values back.
    pub fn into_values(mut self) -> ResultValues<T> {
        ResultValues::Slab(std::mem::take(&mut self.slab))
    }
}

impl<T: Plain> Drop for ExternalBuffer<T> {
    fn drop(&mut self) {
        HELD_BY_V8.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A JS thread starts a collection when it has received this many bytes since the last one: 12 MiB.
/// This is the amount of garbage between two collections. Half of it suffices if collections are
/// short.
const MIN_RECEIVED: usize = 12 << 20;
/// The same threshold if the pool has reached its cap: 3 MiB.
const MIN_RECEIVED_AT_CAP: usize = 3 << 20;
/// The threshold doubles, up to 512 MiB, while collections free nothing because the results are in
/// use.
const MAX_RECEIVED: usize = 512 << 20;
/// The minimum interval between two collections of one kind, as a multiple of the duration of the
/// last one.
const MIN_REST: u32 = 10;
/// The same multiple if only half of the threshold was received.
const LONG_REST: u32 = 20;
/// Number of consecutive quick collections without success after which the next one is a full one.
/// A single failure may be caused by a result that a full collection of V8 promoted to the old
/// generation; every full collection promotes the results that are in use.
const MAX_FAILED_QUICK: u32 = 2;

/// When a JS thread last received a result, in milliseconds since [`started`].
static LAST_RESULT: AtomicU64 = AtomicU64::new(0);

/// The time of the first call: the clock of [`LAST_RESULT`] starts here.
fn started() -> Instant {
    static STARTED: OnceLock<Instant> = OnceLock::new();
    *STARTED.get_or_init(Instant::now)
}

/// Decides when a JS thread starts a garbage collection.
///
/// A quick collection frees young objects, which most results are. If [`MAX_FAILED_QUICK`] quick
/// collections did not free half of what they could have freed, the next collection is a full one.
/// If that did not either, the results are still in use, and the threshold doubles. The latest
/// result is assumed to be in use.
#[derive(Debug)]
pub struct Pressure {
    /// Bytes that this thread received since the last collection.
    received: usize,
    /// The part of `received` that was received before the latest result.
    delivered: usize,
    /// Bytes of the latest result at the last collection if that was a quick one, otherwise 0: a
    /// full collection promotes the result to the old generation, and quick collections cannot free
    /// it afterwards.
    newest: usize,
    /// Bytes of external memory that does not belong to results: the minimum of all estimates so
    /// far.
    others: i64,
    /// The threshold: received bytes that justify a collection.
    threshold: usize,
    last: Option<Last>,
    /// Number of consecutive quick collections without success.
    failed_quick: u32,
    /// The last collection of each kind.
    ended: [Option<Ended>; 2],
}

/// The end of the last collection of one kind.
#[derive(Debug, Clone, Copy)]
struct Ended {
    at: Instant,
    /// The durations of the collection before it and of itself.
    took: [Duration; 2],
}

impl Ended {
    /// Whether `times` times the duration of a collection has passed since the end. The shorter of
    /// the two durations counts, because a single one may have been interrupted by the scheduler.
    fn has_rested(&self, times: u32, now: Instant) -> bool {
        now >= self.at + self.took[0].min(self.took[1]) * times
    }
}

/// A collection, and the state immediately before it.
#[derive(Debug, Clone, Copy)]
struct Last {
    how: Collection,
    /// Bytes of external memory that V8 knew of.
    external: i64,
    /// Bytes that the collection could free: those received since the previous collection, without
    /// the latest result, and without those that V8 had already freed by itself.
    could_free: i64,
}

impl Default for Pressure {
    fn default() -> Self {
        Self {
            received: 0,
            delivered: 0,
            newest: 0,
            others: i64::MAX,
            threshold: MIN_RECEIVED,
            last: None,
            failed_quick: 0,
            ended: [None; 2],
        }
    }
}

thread_local! {
    static PRESSURE: RefCell<Pressure> = RefCell::default();
}

impl Pressure {
    /// Records bytes that are passed to JS.
    fn receive(&mut self, bytes: usize) {
        self.received = self.received.saturating_add(bytes);
    }

    /// Returns the collection to start now, if any. `external` is the number of bytes of external
    /// memory that V8 knows of. `cap_reached` says that the pool has reached its cap, which lowers
    /// the threshold.
    fn next(&mut self, cap_reached: bool, now: Instant, external: impl FnOnce() -> i64) -> Option<Collection> {
        let newest = self.received - std::mem::replace(&mut self.delivered, self.received);
        let ended = self.ended;
        let has_rested = |how, times| ended[how as usize].is_none_or(|ended| ended.has_rested(times, now));
        let is_due = self.received >= if cap_reached { MIN_RECEIVED_AT_CAP } else { self.threshold }
            && has_rested(Collection::Quick, MIN_REST)
            || self.received >= self.threshold / 2 && has_rested(Collection::Quick, LONG_REST);
        if !is_due {
            return None;
        }
        let external = external();
        let mut how = Collection::Quick;
        if let Some(last) = self.last {
            let freed = last.external + self.received as i64 - external;
            let helped = freed >= last.could_free / 2;
            match (last.how, helped) {
                (how, true) => {
                    self.failed_quick = 0;
                    self.threshold = MIN_RECEIVED.max(self.threshold / 2);
                    memory::record_collection(how, StepCost { helped: 1, ..StepCost::default() });
                }
                // If little could be freed, freeing little does not count as a failure.
                (Collection::Quick, false) if last.could_free < MIN_RECEIVED_AT_CAP as i64 => {}
                (Collection::Quick, false) => {
                    self.failed_quick += 1;
                    if self.failed_quick >= MAX_FAILED_QUICK && has_rested(Collection::Full, MIN_REST) {
                        (self.failed_quick, how) = (0, Collection::Full);
                    }
                }
                (Collection::Full, false) if last.could_free < self.threshold as i64 => {}
                (Collection::Full, false) => self.threshold = MAX_RECEIVED.min(self.threshold * 2),
            }
        }
        let beside_newest = external - newest as i64;
        self.others = self.others.min(beside_newest);
        let could_free = ((self.received - newest + self.newest) as i64).min(beside_newest - self.others);
        self.newest = if how == Collection::Quick { newest } else { 0 };
        self.last = Some(Last { how, external, could_free });
        (self.received, self.delivered) = (0, 0);
        Some(how)
    }

    /// Records the end and the duration of a collection.
    fn took(&mut self, how: Collection, took: Duration, now: Instant) {
        let before = self.ended[how as usize].map_or(took, |ended| ended.took[1]);
        self.ended[how as usize] = Some(Ended { at: now, took: [before, took] });
    }
}

/// Whether the addon starts collections at all.
static COLLECTS: AtomicBool = AtomicBool::new(true);

/// Whether the pool has requested a collection because it reached its cap.
static CAP_REACHED: AtomicBool = AtomicBool::new(false);

/// Allocations run on worker threads, but collections run on JS threads. The request is therefore
/// stored until the next result is delivered. The worker does not wait, because the JS thread may
/// be waiting for the very batch that needs the memory.
struct LaterOnTheJsThread;

impl Collector for LaterOnTheJsThread {
    fn collect(&self, _how: Collection) -> bool {
        CAP_REACHED.store(true, Ordering::Relaxed);
        false
    }
}

/// Which collection the JS thread should start now: 0 none, 1 a quick one, 2 a full one.
#[napi(catch_unwind)]
pub fn next_collection(env: Env) -> napi::Result<u8> {
    node_api::guarded(env, || {
        if !COLLECTS.load(Ordering::Relaxed) {
            return Ok(0);
        }
        let cap_reached = CAP_REACHED.swap(false, Ordering::Relaxed);
        let external = || node_api::external_memory(env);
        let next = PRESSURE.with_borrow_mut(|pressure| pressure.next(cap_reached, Instant::now(), external));
        Ok(match next {
            None => 0,
            Some(Collection::Quick) => 1,
            Some(Collection::Full) => 2,
        })
    })
}

/// Records that the collection requested by [`next_collection`] is done, and its duration in
/// milliseconds.
#[napi(catch_unwind)]
pub fn collected(env: Env, full: bool, milliseconds: f64) -> napi::Result<()> {
    node_api::guarded(env, || {
        let time = Duration::try_from_secs_f64(milliseconds / 1e3).unwrap_or_default();
        let how = if full { Collection::Full } else { Collection::Quick };
        PRESSURE.with_borrow_mut(|pressure| pressure.took(how, time, Instant::now()));
        // Whether it helped is known when the next one is due.
        memory::record_collection(how, StepCost { count: 1, helped: 0, time });
        Ok(())
    })
}

/// The arguments of `memory.configure`. Missing ones leave the setting unchanged.
#[napi(object)]
pub struct MemoryOptions {
    /// The name of the pool.
    pub pool: Option<String>,
    /// The cap of the pool in bytes. JS has checked that it is an integer in the allowed range.
    pub cap: Option<f64>,
    /// The name of the advice, see [`Advice`].
    pub madvise: Option<String>,
    /// Whether to start collections.
    pub collect: Option<bool>,
}

/// Configures the pool, and whether the addon starts collections.
#[napi(catch_unwind)]
pub fn configure_memory(env: Env, options: MemoryOptions) -> napi::Result<()> {
    node_api::guarded(env, || {
        let mut settings = memory::settings();
        if let Some(name) = options.pool {
            settings.kind = PoolKind::named("pool", &name).map_err(unknown)?;
        }
        if let Some(name) = options.madvise {
            settings.advice = Advice::named("madvise", &name).map_err(unknown)?;
        }
        if let Some(cap) = options.cap {
            settings.cap = cap as usize;
        }
        if let Some(collects) = options.collect {
            COLLECTS.store(collects, Ordering::Relaxed);
        }
        memory::configure(settings);
        Ok(())
    })
}

fn unknown(error: memory::UnknownName) -> Failure {
    Failure::new(Class::Range, "ERR_TOKENLANE_ARGUMENT_VALUE", error.to_string())
}

/// Configures the pool and the allocator from environment variables, once per process, and connects
/// the pool to the garbage collector.
#[napi(catch_unwind)]
pub fn prepare_memory(env: Env) -> napi::Result<()> {
    static PREPARED: OnceLock<Result<(), Failure>> = OnceLock::new();
    node_api::guarded(env, || {
        let prepared = PREPARED.get_or_init(|| {
            memory::set_collector(&LaterOnTheJsThread);
            memory::configure(Settings::from_env().map_err(unknown)?);
            allocator::keep_freed_memory();
            node_api::look_at_limits();
            Ok(())
        });
        prepared.clone()?;
        let hooked = env.add_env_cleanup_hook((), |()| contained(EntryPoint::Cleanup, trim));
        hooked.map(|_| ()).map_err(|error| Failure::new(Class::Error, "ERR_TOKENLANE_NODE", error.to_string()))
    })
}

/// Returns to the system all cached memory of the pool and all free memory of the allocator.
///
/// It also runs when a JS thread ends, because the memory may not be needed again. Node runs
/// cleanup hooks in the reverse order of their registration. This hook is registered when the addon
/// is loaded, so it runs after the finalizers of the thread's results.
#[napi(catch_unwind)]
pub fn trim_memory(env: Env) -> napi::Result<()> {
    node_api::guarded(env, || {
        trim();
        Ok(())
    })
}

fn trim() {
    memory::trim();
    allocator::release_free_memory();
}

/// Whether no JS thread has received a large result for `milliseconds`, and no batch runs.
#[napi(catch_unwind)]
pub fn is_idle(env: Env, milliseconds: u32) -> napi::Result<bool> {
    node_api::guarded(env, || {
        let last = Duration::from_millis(LAST_RESULT.load(Ordering::Relaxed));
        let is_over = started().elapsed().saturating_sub(last) >= Duration::from_millis(milliseconds.into());
        Ok(is_over && !queue::is_busy())
    })
}

/// Decommits the cached memory of the pool, as the advice says. If `all` is set, returns it to the
/// system with all free memory of the allocator, unless the advice is to keep it.
#[napi(catch_unwind)]
pub fn release_idle(env: Env, all: bool) -> napi::Result<()> {
    node_api::guarded(env, || {
        if all && memory::settings().advice != Advice::Off {
            trim();
        } else {
            memory::decommit();
        }
        Ok(())
    })
}

/// The settings and statistics of the pool.
#[napi(object)]
pub struct MemoryStats {
    /// The name of the pool.
    pub pool: String,
    /// The name of the advice.
    pub madvise: String,
    /// Whether the addon starts collections.
    pub collect: bool,
    /// Bytes, in the order of [`memory::Stats`], then the bytes held by V8.
    pub bytes: Vec<f64>,
    /// For each step: its count, how often it helped, and its total time in milliseconds.
    pub steps: Vec<f64>,
}

/// Returns the settings and statistics of the pool.
#[napi(catch_unwind)]
pub fn memory_stats(env: Env) -> napi::Result<MemoryStats> {
    node_api::guarded(env, || Ok(stats()))
}

fn stats() -> MemoryStats {
    let (settings, stats, steps) = (memory::settings(), memory::stats(), memory::steps());
    let external = HELD_BY_V8.load(Ordering::Relaxed);
    let bytes = [
        stats.mapped,
        stats.outstanding,
        stats.free,
        stats.cached,
        stats.warm,
        stats.peak_outstanding,
        stats.cap,
        external,
    ];
    let of_step = |step| {
        let taken = steps.of(step);
        [taken.count as f64, taken.helped as f64, taken.time.as_secs_f64() * 1e3]
    };
    MemoryStats {
        pool: settings.kind.name().into(),
        madvise: settings.advice.name().into(),
        collect: COLLECTS.load(Ordering::Relaxed),
        bytes: bytes.map(|bytes| bytes as f64).to_vec(),
        steps: AllocStep::ALL.into_iter().flat_map(of_step).collect(),
    }
}

#[cfg(test)]
mod tests;
