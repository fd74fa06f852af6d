//! Settings that the core applies to all threads of the process.

use napi::Env;
use napi_derive::napi;
use tokenlane_core as core;

use crate::error::{Class, Failure};
use crate::node_api::js_error;

/// Maximum factor by which normalizers and decoders may make a text longer than their input;
/// 4294967295 for no limit.
#[napi]
pub fn max_expansion() -> u32 {
    u32::try_from(core::max_expansion()).unwrap_or(u32::MAX)
}

/// Sets this limit, beginning with the next text.
#[napi]
pub fn set_max_expansion(factor: u32) {
    core::set_max_expansion(if factor == u32::MAX { usize::MAX } else { factor as usize });
}

/// The name of the CPU level in use. Throws if `TOKENLANE_CPU_LEVEL` names none that the CPU has.
#[napi]
pub fn cpu_level(env: Env) -> napi::Result<&'static str> {
    core::cpu_level()
        .map_err(|error| js_error(env, &Failure::new(Class::Range, "ERR_TOKENLANE_CPU_LEVEL", error.to_string())))
}
