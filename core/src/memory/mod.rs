//! Memory for what is large and comes again and again: the texts and the ids of batches.
//!
//! - [`Slab`]: a list whose memory is of the pool.
//! - [`Table`]: a table that lives long, with pages of its own.
//! - [`pool`]: keeps blocks of memory, in one of three ways.
//! - `shared`: a pool that threads share, and the steps of an allocation.
//! - [`pages`]: pages from the kernel.
//! - [`fallible`]: allocations that may fail, and what becomes of it.
//!
//! There is one pool in the process. It is made when it is first used, and [`configure`] puts another in its place; blocks
//! of the old one go back there, and it lives until the last has.
#![allow(unsafe_code)]

pub(crate) mod fallible;
mod pages;
pub(crate) mod pool;
mod shared;
mod slab;
mod steps;
mod table;

use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock, Weak};

use thiserror::Error;

use crate::lock::Std;
pub use fallible::{Grow, HEADROOM, OutOfMemory, may_fail, note_shortage, require_large};
pub use pages::{Advice, is_limited};
pub use pool::Kind;
pub use shared::{BlockGuard, Collection, Collector};
use shared::{Bounds, SharedPool};
pub use slab::{Plain, Slab};
pub use steps::{AllocStep, AllocSteps, StepCost};
pub use table::{Table, Zeroed};

/// What the pool has from the system, at most, unless it is told otherwise: 256 MiB.
pub const DEFAULT_CAP: usize = 256 << 20;

/// Free blocks keep their pages up to so many bytes: 48 MiB.
const WARM_BYTES: usize = 48 << 20;

/// What the pool is and keeps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Which pool. Default [`Kind::Split`].
    pub kind: Kind,
    /// Bytes that it has from the system, at most. Default [`DEFAULT_CAP`]. Past it memory comes from the allocator.
    pub cap: usize,
    /// What becomes of pages of free blocks that are not kept warm. Default [`Advice::Free`].
    pub advice: Advice,
}

impl Default for Settings {
    fn default() -> Self {
        Self { kind: Kind::default(), cap: DEFAULT_CAP, advice: Advice::default() }
    }
}

/// A name that no pool, or no advice, has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what} must be {expected}, but it is {name:?}")]
pub struct UnknownName {
    /// What was named.
    pub what: String,
    /// The names that there are.
    pub expected: &'static str,
    /// The name that was given.
    pub name: String,
}

impl Kind {
    /// The kind of this name: `split`, `binned` or `off`. `what` is told in the error.
    pub fn named(what: &str, name: &str) -> Result<Self, UnknownName> {
        match name {
            "split" => Ok(Self::Split),
            "binned" => Ok(Self::Binned),
            "off" => Ok(Self::Off),
            _ => Err(UnknownName { what: what.into(), expected: "split, binned or off", name: name.into() }),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Split => "split",
            Self::Binned => "binned",
            Self::Off => "off",
        }
    }
}

impl Advice {
    /// The advice of this name: `free`, `dontneed` or `off`. `what` is told in the error.
    pub fn named(what: &str, name: &str) -> Result<Self, UnknownName> {
        match name {
            "free" => Ok(Self::Free),
            "dontneed" => Ok(Self::DontNeed),
            "off" => Ok(Self::Off),
            _ => Err(UnknownName { what: what.into(), expected: "free, dontneed or off", name: name.into() }),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::DontNeed => "dontneed",
            Self::Off => "off",
        }
    }
}

impl Settings {
    /// The defaults, but what the environment variables `TOKENLANE_POOL` (`split`, `binned`, `off`) and
    /// `TOKENLANE_MADVISE` (`free`, `dontneed`, `off`) say. One that is empty says nothing.
    pub fn from_env() -> Result<Self, UnknownName> {
        let mut settings = Self::default();
        let said = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        if let Some(name) = said("TOKENLANE_POOL") {
            settings.kind = Kind::named("TOKENLANE_POOL", &name)?;
        }
        if let Some(name) = said("TOKENLANE_MADVISE") {
            settings.advice = Advice::named("TOKENLANE_MADVISE", &name)?;
        }
        Ok(settings)
    }
}

/// What the pool has at the moment, in bytes: `free + lent + cached == mapped`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// What it has from the system.
    pub mapped: usize,
    /// What is in use.
    pub outstanding: usize,
    /// What was handed back and not taken in yet.
    pub free: usize,
    /// What can be lent again.
    pub cached: usize,
    /// What of that keeps its pages, blocks of less than 64 KiB left aside.
    pub warm: usize,
    /// The most that was in use, or handed back and not taken in, at any time since the pool was made.
    pub peak_outstanding: usize,
    /// What it may have from the system.
    pub cap: usize,
}

/// The pool in use, and those that were, as long as a block of theirs is lent.
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

/// A panic under the lock leaves what was there.
fn read() -> std::sync::RwLockReadGuard<'static, ActivePool> {
    ACTIVE.read().unwrap_or_else(PoisonError::into_inner)
}

/// A block of the pool of at least so many bytes, or nothing when the pool is at its cap. [`Slab`] is the way to use it.
pub fn allocate(bytes: usize) -> Option<BlockGuard> {
    let pool = Arc::clone(&read().pool);
    let block = pool.allocate(bytes, COLLECTOR.get().copied())?;
    Some(BlockGuard::new(block, pool))
}

/// How the pool is set.
pub fn settings() -> Settings {
    read().settings
}

/// Sets the pool. What is lent stays where it is: another kind of pool starts empty, and the old one goes when its last
/// block comes back; a lower cap is reached as blocks come back.
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

/// Lets a collector be asked when the pool is at its cap. The first one stays; false if there was one.
pub fn set_collector(collector: &'static dyn Collector) -> bool {
    COLLECTOR.set(collector).is_ok()
}

/// Notes collections that were done on another thread than those that asked for memory.
pub fn record_collection(how: Collection, taken: StepCost) {
    read().pool.record(how.step(), taken);
}

/// Gives back to the system whatever is not lent.
pub fn trim() {
    let current = read();
    current.pool.trim();
    current.former.iter().filter_map(Weak::upgrade).for_each(|pool| pool.trim());
}

/// What the pool has at the moment; what is lent of former ones counts too.
pub fn stats() -> Stats {
    let current = read();
    let usage = current.pool.usage();
    let mut stats = Stats {
        mapped: usage.mapped,
        outstanding: usage.outstanding,
        free: usage.free,
        cached: usage.cached,
        warm: usage.warm,
        peak_outstanding: usage.peak_outstanding,
        cap: current.settings.cap,
    };
    for usage in current.former.iter().filter_map(Weak::upgrade).map(|pool| pool.usage()) {
        stats.mapped += usage.mapped;
        stats.outstanding += usage.outstanding;
        stats.free += usage.free;
        stats.cached += usage.cached;
        stats.warm += usage.warm;
    }
    stats
}

/// What the steps of allocations have taken since the pool was made.
pub fn steps() -> AllocSteps {
    read().pool.steps()
}
