//! The choice of the level that the process uses.
//!
//! The fastest level of the CPU is used, unless the environment variable `TOKENLANE_CPU_LEVEL`
//! names another one that the CPU has. The variable is for tests: it affects speed only, never ids,
//! and lets a fast machine run the kernels of a slow one.

use std::fmt;
use std::sync::LazyLock;

use super::Simd;

/// The environment variable that names a level.
const VARIABLE: &str = "TOKENLANE_CPU_LEVEL";

/// `TOKENLANE_CPU_LEVEL` names no level that this CPU has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuLevelError {
    wanted: String,
}

impl fmt::Display for CpuLevelError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels: Vec<_> = Simd::all().into_iter().map(Simd::name).collect();
        write!(to, "{VARIABLE} is {:?}, but the levels of this CPU are {}", self.wanted, levels.join(", "))
    }
}

impl std::error::Error for CpuLevelError {}

static CHOICE: LazyLock<Result<Simd, CpuLevelError>> =
    LazyLock::new(|| choose(std::env::var_os(VARIABLE).map(|wanted| wanted.to_string_lossy().into_owned())));

/// The level in use. The fastest one if the variable is wrong: [`cpu_level`] reports that.
#[cfg_attr(all(target_arch = "wasm32", target_feature = "simd128"), allow(dead_code, reason = "there is one level"))]
pub(super) static BEST: LazyLock<Simd> = LazyLock::new(|| CHOICE.clone().unwrap_or_else(|_| fastest()));

/// The name of the CPU level in use: `scalar`, `neon`, `simd128`, `avx2`, `avx2+pext` or `avx512`.
/// Fails if the environment variable `TOKENLANE_CPU_LEVEL` names none that the CPU has.
pub fn cpu_level() -> Result<&'static str, CpuLevelError> {
    CHOICE.clone().map(Simd::name)
}

fn fastest() -> Simd {
    *Simd::all().last().expect("the scalar level is always available")
}

/// The level with the name `wanted`. The fastest one without a name, or with an empty one.
fn choose(wanted: Option<String>) -> Result<Simd, CpuLevelError> {
    match wanted.filter(|wanted| !wanted.is_empty()) {
        None => Ok(fastest()),
        Some(wanted) => Simd::all().into_iter().find(|simd| simd.name() == wanted).ok_or(CpuLevelError { wanted }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_chosen_by_its_name() {
        for simd in Simd::all() {
            assert_eq!(choose(Some(simd.name().to_owned())), Ok(simd));
        }
        assert_eq!(choose(None), Ok(fastest()));
        assert_eq!(choose(Some(String::new())), Ok(fastest()));
    }

    #[test]
    fn the_error_for_another_name_lists_the_levels() {
        let error = choose(Some("AVX".to_owned())).expect_err("no CPU has it").to_string();
        assert!(error.starts_with("TOKENLANE_CPU_LEVEL is \"AVX\", but the levels of this CPU are scalar"), "{error}");
        assert!(Simd::all().iter().all(|simd| error.contains(simd.name())), "{error}");
    }
}
