//! The allocator of this addon, and the only calls into it beside allocating.
//!
//! Registered here and never in the core: whoever uses the core as a library keeps their own. Only the targets where it
//! was tested get it: those that build.rs sets the cfg `mimalloc` for. Feature `v2` because the default, v3, crashes when the addon is only
//! ever loaded in worker threads (`__test__/07-workers.test.mjs` holds that); `local_dynamic_tls` because static TLS runs out in crowded
//! processes; `no_thp` because its first huge pages, 2 to 4 MiB, were mostly empty: tables ask for their own.
#![allow(unsafe_code)]

#[cfg(mimalloc)]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
