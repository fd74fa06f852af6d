//! The global allocator of the addon, and the few other calls into it.
//!
//! It is registered in the addon and not in the core, so that users of the core as a library keep
//! their own allocator. It is enabled only on the targets on which it was tested: build.rs sets the
//! cfg `mimalloc` there. Features of the crate `mimalloc`:
//!
//! - `v2`: version 3, the default, crashes if the addon is only loaded in worker threads (tested by
//!   `__test__/core/workers.test.mjs`).
//! - `local_dynamic_tls`: static TLS runs out in processes with many shared libraries.
//! - `no_thp`: the first huge pages of mimalloc, 2 to 4 MiB, were mostly empty. The tables of the
//!   core request huge pages themselves.
#![allow(unsafe_code, reason = "an allocator is unsafe to implement")]

#[cfg(mimalloc)]
mod reserve;

#[cfg(mimalloc)]
#[global_allocator]
static ALLOCATOR: WithReserve = WithReserve;

/// mimalloc, with a [`reserve`] for allocations that fail in code that cannot report the failure.
#[cfg(mimalloc)]
struct WithReserve;

#[cfg(mimalloc)]
mod with_reserve {
    use std::alloc::{GlobalAlloc, Layout};
    use std::ptr;

    use mimalloc::MiMalloc;
    use tokenlane_core::memory;

    use super::reserve::{RESERVE, Reserve};

    /// Handles an allocation that mimalloc could not serve. It makes mimalloc return its free
    /// memory to the system and tries again. If that fails too, the reserve serves the allocation,
    /// unless the caller can report the failure; then the result is null.
    #[cold]
    fn retry(layout: Layout, allocate: impl Fn() -> *mut u8) -> *mut u8 {
        super::release_free_memory();
        let memory = allocate();
        if !memory.is_null() || memory::may_fail() {
            return memory;
        }
        memory::note_shortage(layout.size());
        RESERVE.allocate(layout)
    }

    // SAFETY: memory is released to the allocator that it came from. `Reserve::owns` decides by
    // address: the reserve is a static, so mimalloc never returns memory inside it. No method
    // unwinds.
    unsafe impl GlobalAlloc for super::WithReserve {
        #[inline]
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller of `alloc` guarantees a layout of nonzero size.
            let allocate = || unsafe { MiMalloc.alloc(layout) };
            let memory = allocate();
            if memory.is_null() { retry(layout, allocate) } else { memory }
        }

        #[inline]
        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller of `alloc_zeroed` guarantees a layout of nonzero size.
            let allocate = || unsafe { MiMalloc.alloc_zeroed(layout) };
            let memory = allocate();
            if !memory.is_null() {
                return memory;
            }
            let memory = retry(layout, allocate);
            if !memory.is_null() {
                // SAFETY: `retry` returned at least `layout.size()` bytes. Bytes of the reserve may
                // have been in use before, so they are cleared here.
                unsafe { ptr::write_bytes(memory, 0, layout.size()) };
            }
            memory
        }

        #[inline]
        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            if Reserve::owns(memory) {
                return RESERVE.release();
            }
            // SAFETY: the memory is not in the reserve, so mimalloc allocated it, with this layout.
            unsafe { MiMalloc.dealloc(memory, layout) }
        }

        #[inline]
        unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
            if !Reserve::owns(memory) {
                // SAFETY: the memory is not in the reserve, so mimalloc allocated it, with this
                // layout. If `realloc` fails, the old allocation is unchanged.
                let moved = unsafe { MiMalloc.realloc(memory, layout, bytes) };
                if !moved.is_null() {
                    return moved;
                }
            }
            // SAFETY: the caller of `realloc` guarantees that `bytes` is nonzero and does not
            // overflow when rounded up to the alignment, which is the one of a valid layout.
            let moved = unsafe { self.alloc(Layout::from_size_align_unchecked(bytes, layout.align())) };
            if !moved.is_null() {
                // SAFETY: both allocations have at least `min(layout.size(), bytes)` bytes and do
                // not overlap. The old one is released and not used again.
                unsafe {
                    ptr::copy_nonoverlapping(memory, moved, layout.size().min(bytes));
                    self.dealloc(memory, layout);
                }
            }
            moved
        }
    }
}

/// Returns to the system the free memory that mimalloc keeps for this thread and for threads that
/// have ended.
pub fn release_free_memory() {
    #[cfg(mimalloc)]
    // SAFETY: `mi_collect` may be called by any thread at any time.
    unsafe {
        libmimalloc_sys::mi_collect(true);
    }
}

/// Makes mimalloc keep freed memory for one second, unless the environment (`MIMALLOC_PURGE_DELAY`)
/// sets another delay. The default of 10 ms is shorter than the time that a large text takes: the
/// columns of each text would be written to pages that the system has to clear again, and a text of
/// twice the length would take up to 2.8 times as long.
pub fn keep_freed_memory() {
    #[cfg(mimalloc)]
    // SAFETY: the call stores one integer option of mimalloc, which other threads only read.
    unsafe {
        libmimalloc_sys::mi_option_set_default(PURGE_DELAY, KEPT_MS);
    }
}

/// The number of the option in mimalloc.h of version 2. The crate does not export a name for it.
#[cfg(mimalloc)]
const PURGE_DELAY: i32 = libmimalloc_sys::mi_option_eager_commit_delay + 1;
/// The delay of [`keep_freed_memory`] in milliseconds.
#[cfg(mimalloc)]
const KEPT_MS: std::ffi::c_long = 1000;

/// While one exists, mimalloc returns freed memory to the system at once, unless the environment
/// sets another delay. Training frees tables of many megabytes one after the other, and would
/// otherwise take the memory of several of them.
pub struct Frugal(());

/// How many [`Frugal`] there are. The lock is held while the option changes, too.
#[cfg(mimalloc)]
static FRUGAL: std::sync::Mutex<FrugalCount> = std::sync::Mutex::new(FrugalCount(0));

#[cfg(mimalloc)]
struct FrugalCount(usize);

impl Frugal {
    pub fn new() -> Self {
        Self::count(|count| count + 1);
        Self(())
    }

    #[cfg(mimalloc)]
    fn count(change: impl Fn(usize) -> usize) {
        use libmimalloc_sys::{mi_option_get, mi_option_set};
        let mut count = FRUGAL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = count.0;
        count.0 = change(before);
        let (from, to) = if count.0 == 0 { (0, KEPT_MS) } else { (KEPT_MS, 0) };
        // SAFETY: the calls read and store one integer option of mimalloc; the lock is held by all
        // that store it after the start.
        unsafe {
            if (before == 0) != (count.0 == 0) && mi_option_get(PURGE_DELAY) == from {
                mi_option_set(PURGE_DELAY, to);
            }
        }
    }

    #[cfg(not(mimalloc))]
    fn count(_change: impl Fn(usize) -> usize) {}
}

impl Drop for Frugal {
    fn drop(&mut self) {
        Self::count(|count| count - 1);
    }
}
