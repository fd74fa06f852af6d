//! What the linker has to know to make a Node addon.

fn main() {
    napi_build::setup();
}
