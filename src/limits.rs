//! Limits that the core has for all threads of the process.

use napi_derive::napi;
use tokenlane_core as core;

/// How many times longer than its input a text may become; 4294967295 for no limit.
#[napi]
pub fn max_expansion() -> u32 {
    u32::try_from(core::max_expansion()).unwrap_or(u32::MAX)
}

/// Sets it, from the next text on.
#[napi]
pub fn set_max_expansion(factor: u32) {
    core::set_max_expansion(if factor == u32::MAX { usize::MAX } else { factor as usize });
}
