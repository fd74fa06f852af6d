//! The clock that times the steps of an allocation.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(crate) use std::time::Instant;

/// In WebAssembly without a system there is no clock: all steps take no time.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instant;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod stopped {
    use std::ops::Sub;
    use std::time::Duration;

    use super::Instant;

    impl Instant {
        /// The only time there is.
        pub(crate) fn now() -> Self {
            Self
        }

        /// No time.
        pub(crate) fn elapsed(self) -> Duration {
            Duration::ZERO
        }
    }

    impl Sub for Instant {
        type Output = Duration;

        fn sub(self, _: Self) -> Duration {
            Duration::ZERO
        }
    }
}
