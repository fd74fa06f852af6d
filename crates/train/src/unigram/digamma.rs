//! The digamma function, which the maximization of the reference uses.

/// The derivative of the logarithm of the gamma function, for numbers above 0.
pub(super) fn digamma(x: f64) -> f64 {
    // The asymptotic series at x - 1/2 is exact enough from 7 on; the recurrence leads there.
    let mut x = x;
    let mut below = 0.0;
    while x < 7.0 {
        below += 1.0 / x;
        x += 1.0;
    }
    let middle = x - 0.5;
    let square = 1.0 / (middle * middle);
    let series = 7.0 / 960.0 - square * (31.0 / 8064.0 - square * (127.0 / 30720.0));
    libm::log(middle) + square * (1.0 / 24.0 - square * series) - below
}
