//! Memory for large values that are allocated again and again: the texts and results of batches.
//!
//! - [`Slab`]: a list in memory of the pool.
//! - [`Table`]: a long-lived table with pages of its own.
//! - [`pool`]: three kinds of pool, which keep released blocks for later allocations.
//! - `shared`: a pool that threads share, and the steps of an allocation.
//! - [`pages`]: pages from the kernel.
//! - [`fallible`]: allocations that may fail, and the handling of failures.
//!
//! A *block* is *allocated* from the pool and later *released*. A released block waits in a list
//! until an allocation *drains* it into the pool, where it is *cached*. Cached memory is *warm*
//! while it keeps its pages; *decommitting* gives the pages back to the kernel and keeps the
//! addresses. At any time `free + outstanding + cached == mapped`, see [`Stats`].
//!
//! The process has one pool, which is created on first use. [`configure`] can replace it. Blocks of
//! the former pool return to it, and it is dropped after its last block has returned.
#![allow(unsafe_code, reason = "the pool maps pages and hands out their memory")]

mod clock;
pub mod fallible;
pub mod lock;
mod pages;
pub mod pool;
mod shared;
mod slab;
mod steps;
mod table;
#[cfg(feature = "testing")]
pub mod testing;

use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock, Weak};

use thiserror::Error;

use crate::lock::Std;
pub use fallible::{
    Grow, HEADROOM, OutOfMemory, collect, may_fail, note_shortage, require_for_tokenizer, require_large,
};
pub use pages::{Advice, is_limited};
pub use pool::PoolKind;
pub use shared::{BlockGuard, Collection, Collector};
use shared::{Bounds, SharedPool};
pub use slab::SlabPart;
pub use slab::{Plain, Slab};
pub use steps::{AllocStep, AllocSteps, StepCost};
pub use table::{Table, Zeroed};

/// The default of [`Settings::cap`]: 256 MiB.
pub const DEFAULT_CAP: usize = 256 << 20;

/// Cached blocks keep their pages up to this number of bytes: 48 MiB.
const WARM_BYTES: usize = 48 << 20;

/// The settings of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The kind of pool. Default [`PoolKind::Split`].
    pub kind: PoolKind,
    /// The maximum number of bytes that the pool maps. Default [`DEFAULT_CAP`]. Beyond it, memory
    /// comes from the allocator.
    pub cap: usize,
    /// What happens to the pages of cached blocks that are not kept warm. Default [`Advice::Free`].
    pub advice: Advice,
}

impl Default for Settings {
    fn default() -> Self {
        Self { kind: PoolKind::default(), cap: DEFAULT_CAP, advice: Advice::default() }
    }
}

/// The error for an unknown name of a pool kind or of an advice.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what} must be {expected}, but it is {name:?}")]
pub struct UnknownName {
    /// The setting that the name was given for: the subject of the message.
    pub what: String,
    /// The valid names.
    pub expected: &'static str,
    /// The name that was given.
    pub name: String,
}

impl PoolKind {
    /// The kind with a name: `split` or `binned`. `what` is the subject of the error
    /// message.
    pub fn named(what: &str, name: &str) -> Result<Self, UnknownName> {
        match name {
            "split" => Ok(Self::Split),
            "binned" => Ok(Self::Binned),
            _ => Err(UnknownName { what: what.into(), expected: "split or binned", name: name.into() }),
        }
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Split => "split",
            Self::Binned => "binned",
        }
    }
}

impl Advice {
    /// The advice with a name: `free`, `dontneed` or `off`. `what` is the subject of the error
    /// message.
    pub fn named(what: &str, name: &str) -> Result<Self, UnknownName> {
        match name {
            "free" => Ok(Self::Free),
            "dontneed" => Ok(Self::DontNeed),
            "off" => Ok(Self::Off),
            _ => Err(UnknownName { what: what.into(), expected: "free, dontneed or off", name: name.into() }),
        }
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::DontNeed => "dontneed",
            Self::Off => "off",
        }
    }
}

impl Settings {
    /// The defaults, changed by the environment variables `TOKENLANE_POOL` (`split`, `binned`) and
    /// `TOKENLANE_MADVISE` (`free`, `dontneed`, `off`). An empty variable changes nothing.
    pub fn from_env() -> Result<Self, UnknownName> {
        let mut settings = Self::default();
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        if let Some(name) = variable("TOKENLANE_POOL") {
            settings.kind = PoolKind::named("TOKENLANE_POOL", &name)?;
        }
        if let Some(name) = variable("TOKENLANE_MADVISE") {
            settings.advice = Advice::named("TOKENLANE_MADVISE", &name)?;
        }
        Ok(settings)
    }
}

/// The memory of the pool in bytes: `free + outstanding + cached == mapped`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Bytes mapped from the system.
    pub mapped: usize,
    /// Bytes of blocks in use.
    pub outstanding: usize,
    /// Bytes of blocks that were released and are not drained into the pool yet.
    pub free: usize,
    /// Bytes that the pool can allocate again.
    pub cached: usize,
    /// The part of `cached` that keeps its pages, without blocks of less than 64 KiB.
    pub warm: usize,
    /// The maximum of `outstanding + free` since the pool was created.
    pub peak_outstanding: usize,
    /// The maximum of `mapped`.
    pub cap: usize,
}

/// The pool in use, and former pools that have outstanding blocks.
struct ActivePool {
    pool: Arc<SharedPool<Std>>,
    settings: Settings,
    former: Vec<Weak<SharedPool<Std>>>,
}

static ACTIVE: LazyLock<RwLock<ActivePool>> = LazyLock::new(|| RwLock::new(ActivePool::new(Settings::default())));

static COLLECTOR: OnceLock<&'static dyn Collector> = OnceLock::new();

impl ActivePool {
    fn new(settings: Settings) -> Self {
        let pool = Arc::new(SharedPool::new(settings.kind.pool(), bounds(&settings)));
        Self { pool, settings, former: vec![] }
    }
}

fn bounds(settings: &Settings) -> Bounds {
    Bounds { cap: settings.cap, warm: WARM_BYTES, advice: settings.advice }
}

/// A poisoned lock is used as it is: a panic under it leaves a valid value.
fn read() -> std::sync::RwLockReadGuard<'static, ActivePool> {
    ACTIVE.read().unwrap_or_else(PoisonError::into_inner)
}

/// Allocates a block of at least `bytes` from the pool; `None` if the pool is at its cap. Most
/// callers use [`Slab`] instead.
pub fn allocate(bytes: usize) -> Option<BlockGuard> {
    let pool = Arc::clone(&read().pool);
    let block = pool.allocate(bytes, COLLECTOR.get().copied())?;
    Some(BlockGuard::new(block, pool))
}

/// The settings of the pool.
pub fn settings() -> Settings {
    read().settings
}

/// Changes the settings. Outstanding blocks stay valid: a pool of another kind starts empty, and
/// the former one is dropped with its last block. A lower cap is reached as blocks are released.
pub fn configure(settings: Settings) {
    let mut current = ACTIVE.write().unwrap_or_else(PoisonError::into_inner);
    if settings.kind == current.settings.kind {
        current.pool.set_bounds(bounds(&settings));
        current.settings = settings;
        return;
    }
    let next = ActivePool::new(settings);
    let former = std::mem::replace(&mut *current, next);
    former.pool.trim();
    current.former = former.former.into_iter().filter(|pool| pool.strong_count() > 0).collect();
    current.former.push(Arc::downgrade(&former.pool));
}

/// Sets the collector that is called when the pool is at its cap. Only the first call has an
/// effect; returns whether this was it.
pub fn set_collector(collector: &'static dyn Collector) -> bool {
    COLLECTOR.set(collector).is_ok()
}

/// Records a collection that ran on another thread than the allocation that requested it.
pub fn record_collection(how: Collection, taken: StepCost) {
    read().pool.record(how.step(), taken);
}

/// Decommits all memory that is not outstanding, as [`Settings::advice`] says: with
/// [`Advice::Free`], allocating it again costs nothing unless the kernel took its pages.
pub fn decommit() {
    each_pool(SharedPool::decommit);
}

/// Returns all memory that is not outstanding to the system.
pub fn trim() {
    each_pool(SharedPool::trim);
}

fn each_pool(work: impl Fn(&SharedPool<Std>)) {
    let current = read();
    work(&current.pool);
    current.former.iter().filter_map(Weak::upgrade).for_each(|pool| work(&pool));
}

/// The pool's memory. Memory of former pools is included.
pub fn stats() -> Stats {
    let current = read();
    let mut stats = current.pool.usage();
    for usage in current.former.iter().filter_map(Weak::upgrade).map(|pool| pool.usage()) {
        stats.mapped += usage.mapped;
        stats.outstanding += usage.outstanding;
        stats.free += usage.free;
        stats.cached += usage.cached;
        stats.warm += usage.warm;
    }
    stats
}

/// The cost of each step of an allocation since the pool was created.
pub fn steps() -> AllocSteps {
    read().pool.steps()
}
