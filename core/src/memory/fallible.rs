//! Allocations that may fail.
//!
//! When an allocation fails, Rust ends the process, unless the caller used a `try_` method. So every list that grows with a
//! text, a file or a list of ids grows through [`Grow`]. A failure becomes an [`OutOfMemory`]: as a `Result` where the
//! caller returns one, and by unwinding to the nearest [`catch`] inside loops and closures that cannot. The entry points of
//! the crate catch it and return it as their own error. (In WebAssembly panics do not unwind; there the module traps, as it
//! does for any failed allocation.)
//!
//! Two more things keep a process alive that is close to its limit:
//!
//! - Small allocations that fail are the allocator's concern. The addon's allocator serves them from a reserve and calls
//!   [`note_shortage`]. Loops call [`check`] between words, rows and tokens, so that they stop before the reserve is used up.
//! - A large allocation has to leave [`HEADROOM`] for whatever else allocates in the process and cannot fail: the engine
//!   that runs JavaScript, the C library, the loader of shared libraries.

use std::cell::Cell;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashTable;
use thiserror::Error;

use super::pages;

/// An allocation of this many bytes or more has to leave [`HEADROOM`].
const LARGE: usize = 1 << 20;

/// What a large allocation leaves to others, in bytes of address space.
pub const HEADROOM: usize = 64 << 20;

/// Memory that the system did not give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("out of memory: {bytes} more bytes are not available; use shorter texts, smaller batches or a higher limit")]
pub struct OutOfMemory {
    /// How many bytes were wanted.
    pub bytes: usize,
}

impl OutOfMemory {
    /// An allocation of `count` values.
    pub(crate) fn of<T>(count: usize) -> Self {
        Self { bytes: count.saturating_mul(size_of::<T>()) }
    }

    /// Unwinds to the nearest [`catch`].
    #[cold]
    pub(crate) fn unwind(self) -> ! {
        // Not `panic_any`: nothing is wrong with the program, so no panic hook runs.
        resume_unwind(Box::new(self))
    }
}

/// Runs `work`. If it unwinds with an [`OutOfMemory`], that is its error; any other panic goes on.
///
/// Callers drop whatever `work` had borrowed mutably, or clear it before its next use.
pub(crate) fn catch<T, E: From<OutOfMemory>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| match panic.downcast::<OutOfMemory>() {
        Ok(error) => Err((*error).into()),
        Err(panic) => resume_unwind(panic),
    })
}

/// The bytes of the last small allocation that failed and was served from a reserve; 0 if there is no shortage.
static SHORTAGE: AtomicUsize = AtomicUsize::new(0);

/// To be called by an allocator that served a failed allocation of `bytes` from a reserve: from now on [`check`] fails
/// until the system has memory again.
pub fn note_shortage(bytes: usize) {
    SHORTAGE.store(bytes.max(1), Ordering::Relaxed);
}

/// Fails if memory has become short and still is. To be called in loops that allocate a little in each round.
#[inline]
pub(crate) fn check() -> Result<(), OutOfMemory> {
    // Relaxed: the number guards no other memory. A thread that sees it late stops one round later.
    match SHORTAGE.load(Ordering::Relaxed) {
        0 => Ok(()),
        bytes => check_again(bytes),
    }
}

/// As [`check`], but a failure unwinds.
#[inline]
pub(crate) fn checkpoint() {
    check().unwrap_or_else(|error| error.unwind());
}

#[cold]
fn check_again(bytes: usize) -> Result<(), OutOfMemory> {
    require(HEADROOM).map_err(|_| OutOfMemory { bytes })?;
    SHORTAGE.store(0, Ordering::Relaxed);
    Ok(())
}

fn require(bytes: usize) -> Result<(), OutOfMemory> {
    if pages::is_mappable(bytes) { Ok(()) } else { Err(OutOfMemory { bytes }) }
}

/// Fails if `bytes` are many and the system does not have them, and [`HEADROOM`] beyond, at the moment. Nothing is
/// allocated: to be asked before another library takes memory and could not report a failure.
pub fn require_large(bytes: usize) -> Result<(), OutOfMemory> {
    if bytes < LARGE {
        return Ok(());
    }
    let wanted = bytes.saturating_add(HEADROOM);
    if pages::is_mappable(wanted) {
        return Ok(());
    }
    super::trim();
    require(wanted).map_err(|_| OutOfMemory { bytes })
}

/// As [`require_large`], but a failure unwinds: to be called before tables are made that take up to so many bytes.
pub(crate) fn require_for_tables(bytes: usize) {
    require_large(bytes).unwrap_or_else(|error| error.unwind());
}

thread_local! {
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Whether the allocation that this thread is doing may fail, so that an allocator need not touch its reserve for it.
pub fn may_fail() -> bool {
    MAY_FAIL.get()
}

/// Does one fallible allocation of `bytes`, or none. Where it fails, it is tried again without what the pool keeps.
fn attempt(bytes: usize, mut allocate: impl FnMut() -> bool) -> Result<(), OutOfMemory> {
    let mut allocates = || {
        MAY_FAIL.set(true);
        let is_done = allocate();
        MAY_FAIL.set(false);
        is_done
    };
    if !allocates() {
        super::trim();
        if !allocates() {
            return Err(OutOfMemory { bytes });
        }
    }
    leave_headroom(bytes)
}

/// To be called after an allocation of `bytes`, which is given up again on failure.
pub(super) fn leave_headroom(bytes: usize) -> Result<(), OutOfMemory> {
    if bytes < LARGE || pages::is_mappable(HEADROOM) {
        return Ok(());
    }
    super::trim();
    if pages::is_mappable(HEADROOM) { Ok(()) } else { Err(OutOfMemory { bytes }) }
}

/// Lists that grow fallibly.
pub trait Grow {
    /// Makes room for `more` values behind the last one. Growing step by step copies each value a few times at most.
    fn try_grow(&mut self, more: usize) -> Result<(), OutOfMemory>;

    /// The same, but a failure unwinds to the nearest `catch` of this crate.
    #[inline]
    fn grow(&mut self, more: usize) {
        self.try_grow(more).unwrap_or_else(|error| error.unwind());
    }
}

impl<T> Grow for Vec<T> {
    #[inline]
    fn try_grow(&mut self, more: usize) -> Result<(), OutOfMemory> {
        if more <= self.capacity() - self.len() { Ok(()) } else { try_grow_vec(self, more) }
    }
}

impl<T: Ord> Grow for BinaryHeap<T> {
    #[inline]
    fn try_grow(&mut self, more: usize) -> Result<(), OutOfMemory> {
        if more <= self.capacity() - self.len() {
            return Ok(());
        }
        let bytes = self.len().saturating_add(more).saturating_mul(size_of::<T>());
        attempt(bytes, || self.try_reserve(more).is_ok())
    }
}

impl Grow for String {
    #[inline]
    fn try_grow(&mut self, more: usize) -> Result<(), OutOfMemory> {
        if more <= self.capacity() - self.len() { Ok(()) } else { try_grow_string(self, more) }
    }
}

#[cold]
fn try_grow_vec<T>(list: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    let bytes = list.len().saturating_add(more).saturating_mul(size_of::<T>());
    attempt(bytes, || {
        // Twice what there was; if that is too much, then what is needed and a little more.
        let little = more.saturating_add(list.len() / 16);
        list.try_reserve(more).or_else(|_| list.try_reserve_exact(little)).is_ok()
    })
}

#[cold]
fn try_grow_string(text: &mut String, more: usize) -> Result<(), OutOfMemory> {
    let bytes = text.len().saturating_add(more);
    attempt(bytes, || {
        let little = more.saturating_add(text.len() / 16);
        text.try_reserve(more).or_else(|_| text.try_reserve_exact(little)).is_ok()
    })
}

/// Appends a value; a failure unwinds.
#[inline]
pub(crate) fn push<T>(list: &mut Vec<T>, value: T) {
    list.grow(1);
    list.push(value);
}

/// Appends values; a failure unwinds.
#[inline]
pub(crate) fn append<T: Copy>(list: &mut Vec<T>, values: &[T]) {
    list.grow(values.len());
    list.extend_from_slice(values);
}

/// Appends text; a failure unwinds.
#[inline]
pub(crate) fn push_str(text: &mut String, more: &str) {
    text.grow(more.len());
    text.push_str(more);
}

/// Several lists end to end; a failure unwinds.
pub(crate) fn concat<T: Copy>(parts: &[&[T]]) -> Vec<T> {
    let mut list = Vec::new();
    list.grow(parts.iter().map(|part| part.len()).sum());
    parts.iter().for_each(|part| list.extend_from_slice(part));
    list
}

/// Appends `count` times a value; a failure unwinds.
#[inline]
pub(crate) fn append_copies<T: Clone>(list: &mut Vec<T>, value: T, count: usize) {
    list.grow(count);
    list.resize(list.len() + count, value);
}

/// `count` times a value; a failure unwinds.
pub(crate) fn copies<T: Clone>(value: T, count: usize) -> Vec<T> {
    let mut list = Vec::new();
    append_copies(&mut list, value, count);
    list
}

/// An empty list with room for `capacity` values.
pub(crate) fn with_room<T>(capacity: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut list = Vec::new();
    list.try_grow(capacity)?;
    Ok(list)
}

/// An empty hash table with room for `capacity` values.
pub(crate) fn table_with_room<T>(capacity: usize) -> Result<HashTable<T>, OutOfMemory> {
    let mut table = HashTable::new();
    // The table is empty, so no value is hashed.
    attempt(capacity.saturating_mul(size_of::<T>()), || table.try_reserve(capacity, |_| 0).is_ok())?;
    Ok(table)
}

/// The values of an iterator; a failure unwinds.
pub(crate) fn gather<T>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut list = Vec::new();
    values.for_each(|value| push(&mut list, value));
    list
}

/// The values of an iterator that knows how many they are.
pub(crate) fn collect<T>(values: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, OutOfMemory> {
    let mut list = with_room(values.len())?;
    list.extend(values);
    Ok(list)
}
