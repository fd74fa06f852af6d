//! Allocations that may fail.
//!
//! When an allocation fails, Rust ends the process unless the caller used a `try_` method.
//! Therefore every list whose length depends on a text, a file or a list of ids grows through
//! [`Grow`]. A failure becomes an [`OutOfMemory`]. Functions that return a `Result` return it.
//! Loops and closures that cannot return it unwind to the nearest [`catch`]. The entry points of
//! the crate catch it and convert it to their own error. (In WebAssembly, panics do not unwind; the
//! module traps, as after any failed allocation. Therefore loading and changing a tokenizer first
//! call [`require_for_tokenizer`], which returns its error.)
//!
//! Two more rules keep a process alive that is close to its limit:
//!
//! - The allocator handles small allocations that fail. The addon's allocator serves them from a
//!   reserve and calls [`note_shortage`]. Loops call [`check`] between words, rows and tokens, so
//!   that they stop before the reserve is used up.
//! - A large allocation must leave [`HEADROOM`] for code in the process that allocates and cannot
//!   handle a failure: the JavaScript engine, the C library, the loader of shared libraries.

use std::cell::Cell;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashTable;
use thiserror::Error;

use super::pages;

/// Allocations of at least this size must leave [`HEADROOM`]: 1 MiB.
const CHECKED_BYTES: usize = 1 << 20;

/// Address space, in bytes, that must still be available after a large allocation: 64 MiB. In the
/// module for the web 4 MiB: JavaScript has a memory of its own, and the only way to ask is to
/// allocate, after which the memory stays as large.
pub const HEADROOM: usize = if cfg!(all(target_family = "wasm", target_os = "unknown")) { 4 << 20 } else { 64 << 20 };

/// The error of an allocation that the system refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("out of memory: {bytes} more bytes are not available; use shorter texts, smaller batches or a higher limit")]
pub struct OutOfMemory {
    /// The number of bytes requested.
    pub bytes: usize,
}

impl OutOfMemory {
    /// The error of an allocation of `count` values.
    pub fn of<T>(count: usize) -> Self {
        Self { bytes: count.saturating_mul(size_of::<T>()) }
    }

    /// Unwinds to the nearest [`catch`].
    #[cold]
    pub fn unwind(self) -> ! {
        // `resume_unwind` and not `panic_any`: this is no bug in the program, so the panic hook
        // must not run.
        resume_unwind(Box::new(self))
    }
}

/// Runs `work`. If it unwinds with an [`OutOfMemory`], returns that as the error. Any other panic
/// continues to unwind.
///
/// After an error, callers must drop or clear every value that `work` borrowed mutably.
pub fn catch<T, E: From<OutOfMemory>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| match panic.downcast::<OutOfMemory>() {
        Ok(error) => Err((*error).into()),
        Err(panic) => resume_unwind(panic),
    })
}

/// The size in bytes of the last small allocation that failed and was served from a reserve; 0 if
/// memory is not short.
static SHORTAGE: AtomicUsize = AtomicUsize::new(0);

/// Records that the allocator served a failed allocation of `bytes` from a reserve. From then on
/// [`check`] fails until the system has memory again.
pub fn note_shortage(bytes: usize) {
    SHORTAGE.store(bytes.max(1), Ordering::Relaxed);
}

/// Fails while memory is short. Loops that allocate a little in each round call it.
#[inline]
pub fn check() -> Result<(), OutOfMemory> {
    // Relaxed: the number guards no other memory. A thread that reads an old value stops one round
    // later.
    match SHORTAGE.load(Ordering::Relaxed) {
        0 => Ok(()),
        bytes => check_again(bytes),
    }
}

/// Like [`check`], but a failure unwinds.
#[inline]
pub fn checkpoint() {
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

/// Fails if `bytes` is at least 1 MiB and the system cannot provide that many bytes and
/// [`HEADROOM`] at the moment. Allocates nothing: callers use it before a library allocates that
/// could not report a failure.
pub fn require_large(bytes: usize) -> Result<(), OutOfMemory> {
    if bytes < CHECKED_BYTES {
        return Ok(());
    }
    let wanted = bytes.saturating_add(HEADROOM);
    if pages::is_mappable(wanted) {
        return Ok(());
    }
    super::trim();
    require(wanted).map_err(|_| OutOfMemory { bytes })
}

/// Like [`require_large`], but a failure unwinds. Callers use it before they build tables of up to
/// `bytes` bytes.
pub fn require_for_tables(bytes: usize) {
    require_large(bytes).unwrap_or_else(|error| error.unwind());
}

/// Returns an error if memory is too short to build a tokenizer of about `bytes` bytes.
///
/// Only WebAssembly needs this: elsewhere the allocations themselves fail and unwind.
pub fn require_for_tokenizer(bytes: usize) -> Result<(), OutOfMemory> {
    if cfg!(target_family = "wasm") { require_large(bytes.max(CHECKED_BYTES)) } else { Ok(()) }
}

thread_local! {
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is in an allocation that may fail, so that the allocator need not use its
/// reserve.
pub fn may_fail() -> bool {
    MAY_FAIL.get()
}

/// Runs `allocate`, which returns whether it was successful. After a failure, returns the pool's
/// cached memory to the system and tries once more. `bytes` is the size for the error and for the
/// headroom.
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

/// Checks, after an allocation of `bytes`, that it left [`HEADROOM`]. On failure the caller frees
/// the memory again.
pub(super) fn leave_headroom(bytes: usize) -> Result<(), OutOfMemory> {
    // In WebAssembly many callers would trap, and JavaScript has a memory of its own.
    if bytes < CHECKED_BYTES || cfg!(target_family = "wasm") || pages::is_mappable(HEADROOM) {
        return Ok(());
    }
    super::trim();
    if pages::is_mappable(HEADROOM) { Ok(()) } else { Err(OutOfMemory { bytes }) }
}

/// Lists that grow fallibly.
pub trait Grow {
    /// Reserves space for `more` values after the last one. Growth is amortized: appending step by
    /// step copies each value a constant number of times on average.
    fn try_grow(&mut self, more: usize) -> Result<(), OutOfMemory>;

    /// Like [`Self::try_grow`], but a failure unwinds to the nearest `catch` of this crate.
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
        // `try_reserve` doubles the capacity. If that fails, request only the needed space and a
        // sixteenth of the length.
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
pub fn push<T>(list: &mut Vec<T>, value: T) {
    list.grow(1);
    list.push(value);
}

/// Appends values; a failure unwinds.
#[inline]
pub fn append<T: Copy>(list: &mut Vec<T>, values: &[T]) {
    list.grow(values.len());
    list.extend_from_slice(values);
}

/// Appends text; a failure unwinds.
#[inline]
pub fn push_str(text: &mut String, more: &str) {
    text.grow(more.len());
    text.push_str(more);
}

/// Concatenates lists; a failure unwinds.
pub fn concat<T: Copy>(parts: &[&[T]]) -> Vec<T> {
    let mut list = Vec::new();
    list.grow(parts.iter().map(|part| part.len()).sum());
    parts.iter().for_each(|part| list.extend_from_slice(part));
    list
}

/// Appends `count` copies of a value; a failure unwinds.
#[inline]
pub fn append_copies<T: Clone>(list: &mut Vec<T>, value: T, count: usize) {
    list.grow(count);
    list.resize(list.len() + count, value);
}

/// Returns `count` copies of a value; a failure unwinds.
pub fn copies<T: Clone>(value: T, count: usize) -> Vec<T> {
    let mut list = Vec::new();
    append_copies(&mut list, value, count);
    list
}

/// Returns an empty list with capacity for `capacity` values.
pub fn with_capacity<T>(capacity: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut list = Vec::new();
    list.try_grow(capacity)?;
    Ok(list)
}

/// Returns an empty hash table with capacity for `capacity` values.
pub fn table_with_capacity<T>(capacity: usize) -> Result<HashTable<T>, OutOfMemory> {
    let mut table = HashTable::new();
    // The table is empty, so no value is hashed.
    attempt(capacity.saturating_mul(size_of::<T>()), || table.try_reserve(capacity, |_| 0).is_ok())?;
    Ok(table)
}

/// Collects an iterator of unknown length; a failure unwinds.
pub fn gather<T>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut list = Vec::new();
    values.for_each(|value| push(&mut list, value));
    list
}

/// Collects an iterator of known length.
pub fn collect<T>(values: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, OutOfMemory> {
    let mut list = with_capacity(values.len())?;
    list.extend(values);
    Ok(list)
}
