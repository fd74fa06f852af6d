//! Checks of this crate's tests and of fuzz targets.

use crate::{Dialect, Pattern, meter};

/// The steps that a text of `bytes` bytes has, as in the core.
pub fn steps(bytes: usize) -> u64 {
    (1 << 20) + 256 * bytes as u64
}

/// Checks that the work of a pattern on a text is charged, and that the steps are not exceeded.
///
/// # Panics
/// If more work was done than charged.
pub fn check(source: &str, dialect: Dialect, text: &str) {
    let Ok(pattern) = Pattern::new(source, dialect) else { return };
    let before = steps(text.len());
    let mut left = before;
    meter::taken();
    let result = pattern.for_each_match(text, &mut left, |_| ());
    let (work, charged) = (meter::taken(), before - left);
    // When the steps end, work in progress is no longer charged: a run of characters, or a chunk of
    // bytes.
    let slack = if result.is_err() { 3 * text.len() as u64 + 10_000 } else { 16 };
    assert!(work <= 3 * charged + slack, "{source} on {} bytes: {work} done, {charged} charged", text.len());
}
