//! The allocator of this addon, and the only calls into it beside allocating.
//!
//! Registered here and never in the core: whoever uses the core as a library keeps their own. Only the targets where it
//! was tested get it: those that build.rs sets the cfg `mimalloc` for. Feature `v2` because the default, v3, crashes when the addon is only
//! ever loaded in worker threads (`__test__/07-workers.test.mjs` holds that); `local_dynamic_tls` because static TLS runs out in crowded
//! processes; `no_thp` because its first huge pages, 2 to 4 MiB, were mostly empty: tables ask for their own.
#![allow(unsafe_code)]

#[cfg(mimalloc)]
mod reserve;

#[cfg(mimalloc)]
#[global_allocator]
static ALLOCATOR: WithReserve = WithReserve;

/// mimalloc, and behind it a [`reserve`] for allocations that fail and cannot report it.
#[cfg(mimalloc)]
struct WithReserve;

#[cfg(mimalloc)]
mod with_reserve {
    use std::alloc::{GlobalAlloc, Layout};
    use std::ptr;

    use mimalloc::MiMalloc;
    use tokenlane_core::memory;

    use super::reserve::{RESERVE, Reserve};

    /// What becomes of an allocation that mimalloc refused: it is tried again once mimalloc has given back what it keeps;
    /// then the reserve serves it, unless the caller can report the failure.
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

    // SAFETY: memory of mimalloc goes back to mimalloc, memory of the reserve to the reserve: `Reserve::owns` tells them
    // apart by address, and the reserve is a static that mimalloc cannot hand out. Neither unwinds.
    unsafe impl GlobalAlloc for super::WithReserve {
        #[inline]
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller's layout.
            let allocate = || unsafe { MiMalloc.alloc(layout) };
            let memory = allocate();
            if memory.is_null() { retry(layout, allocate) } else { memory }
        }

        #[inline]
        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller's layout.
            let allocate = || unsafe { MiMalloc.alloc_zeroed(layout) };
            let memory = allocate();
            if !memory.is_null() {
                return memory;
            }
            let memory = retry(layout, allocate);
            if !memory.is_null() {
                // SAFETY: `retry` gave so many bytes; those of the reserve may have been in use before.
                unsafe { ptr::write_bytes(memory, 0, layout.size()) };
            }
            memory
        }

        #[inline]
        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            if Reserve::owns(memory) {
                return RESERVE.release();
            }
            // SAFETY: it is not the reserve's, so it came from mimalloc, with this layout.
            unsafe { MiMalloc.dealloc(memory, layout) }
        }

        #[inline]
        unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
            if !Reserve::owns(memory) {
                // SAFETY: it is not the reserve's, so it came from mimalloc, with this layout. After a failure it is as it
                // was.
                let moved = unsafe { MiMalloc.realloc(memory, layout, bytes) };
                if !moved.is_null() {
                    return moved;
                }
            }
            // SAFETY: the caller vouches for the size, and the alignment is that of a layout.
            let moved = unsafe { self.alloc(Layout::from_size_align_unchecked(bytes, layout.align())) };
            if !moved.is_null() {
                // SAFETY: both are that long, and the new one is another allocation; the old one is not used any more.
                unsafe {
                    ptr::copy_nonoverlapping(memory, moved, layout.size().min(bytes));
                    self.dealloc(memory, layout);
                }
            }
            moved
        }
    }
}

/// Gives back to the system what this allocator keeps of memory that this thread freed, and of that of threads that are
/// gone.
pub fn release_free_memory() {
    #[cfg(mimalloc)]
    // SAFETY: any thread may call it at any time.
    unsafe {
        libmimalloc_sys::mi_collect(true);
    }
}

/// Has this allocator keep for a second what was freed, where the environment (`MIMALLOC_PURGE_DELAY`) does not say how
/// long. Its own ten milliseconds are less than a large text takes: the columns of each text were written to pages that the system had to clear
/// again, and a text of twice the length took up to 2.8 times as long.
pub fn keep_freed_memory() {
    #[cfg(mimalloc)]
    {
        use libmimalloc_sys::{mi_option_eager_commit_delay, mi_option_set_default};
        // As mimalloc.h of version 2 counts them; the crate has no name for it.
        const PURGE_DELAY: i32 = mi_option_eager_commit_delay + 1;
        // SAFETY: writes one number of mimalloc's, which other threads at most read.
        unsafe { mi_option_set_default(PURGE_DELAY, 1000) };
    }
}
