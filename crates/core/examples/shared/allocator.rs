//! The allocator of the addon, see the addon's Cargo.toml.

#[cfg(all(
    not(feature = "system-allocator"),
    any(
        all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")),
        all(target_os = "macos", target_arch = "aarch64")
    )
))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
