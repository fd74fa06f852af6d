//! Passes the linker arguments of a Node addon, and sets the cfg `mimalloc` if the feature is
//! enabled and the target is one on which mimalloc was tested.

use std::env;

fn main() {
    napi_build::setup();
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("macos") {
        // Otherwise the library has the path of the build folder as its name.
        println!("cargo::rustc-link-arg-cdylib=-Wl,-install_name,@rpath/tokenlane.node");
    }

    println!("cargo::rustc-check-cfg=cfg(mimalloc)");
    if env::var_os("CARGO_FEATURE_MIMALLOC").is_some() && is_tested_with_mimalloc() {
        println!("cargo::rustc-cfg=mimalloc");
    }
}

/// The targets for which Cargo.toml has the dependency. They cannot be named in one place for both.
fn is_tested_with_mimalloc() -> bool {
    let target = |part: &str| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    matches!(
        (target("OS").as_str(), target("ENV").as_str(), target("ARCH").as_str()),
        ("linux", "gnu" | "musl", "x86_64" | "aarch64") | ("macos", _, "aarch64")
    )
}
