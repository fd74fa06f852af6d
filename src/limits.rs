//! Settings that the core applies to all threads of the process, and the constants that JS shares
//! with the addon.

use napi::Env;
use napi_derive::napi;
use tokenlane_core as core;

use crate::error::{Class, Failure};
use crate::node_api::guarded;
use crate::options::{BITS, COLUMN_NAMES, FlagBits};

/// Maximum factor by which normalizers and decoders may make a text longer than their input;
/// 4294967295 for no limit.
#[napi(catch_unwind)]
pub fn max_expansion(env: Env) -> napi::Result<u32> {
    guarded(env, || Ok(u32::try_from(core::max_expansion()).unwrap_or(u32::MAX)))
}

/// Sets this limit, beginning with the next text.
#[napi(catch_unwind)]
pub fn set_max_expansion(env: Env, factor: u32) -> napi::Result<()> {
    guarded(env, || {
        core::set_max_expansion(if factor == u32::MAX { usize::MAX } else { factor as usize });
        Ok(())
    })
}

/// The name of the CPU level in use. Throws if `TOKENLANE_CPU_LEVEL` names none that the CPU has.
#[napi(catch_unwind)]
pub fn cpu_level(env: Env) -> napi::Result<&'static str> {
    guarded(env, || {
        core::cpu_level().map_err(|error| Failure::new(Class::Range, "ERR_TOKENLANE_CPU_LEVEL", error.to_string()))
    })
}

/// Returns the bits of the flags.
#[napi(catch_unwind)]
pub fn flag_bits(env: Env) -> napi::Result<FlagBits> {
    guarded(env, || Ok(BITS))
}

/// Returns the names of the columns, in the order of their indices.
#[napi(catch_unwind)]
pub fn column_names(env: Env) -> napi::Result<Vec<&'static str>> {
    guarded(env, || Ok(COLUMN_NAMES.to_vec()))
}
