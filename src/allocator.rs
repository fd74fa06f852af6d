//! The allocator of this addon.
//!
//! Registered here and never in the core: whoever uses the core as a library keeps their own. Only the targets where it
//! was tested get it. Feature `v2` because the default, v3, crashes when the addon is only ever loaded in worker threads
//! (`__test__/07-workers.test.mjs` holds that); `local_dynamic_tls` because static TLS runs out in crowded processes; `no_thp` because its
//! first huge pages, 2 to 4 MiB, were mostly empty: tables ask for their own.
//!
//! What allocators keep for later is given back when somebody asks: see [`crate::node_api::release_free_memory`].

#[cfg(all(
    feature = "mimalloc",
    any(
        all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")),
        all(target_os = "macos", target_arch = "aarch64")
    )
))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
