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

#[cfg(test)]
mod tests {
    use super::digamma;

    #[test]
    fn values_are_those_of_the_function() {
        const EULER: f64 = 0.577_215_664_901_532_9;
        let harmonic: f64 = (1..10).map(|number| 1.0 / f64::from(number)).sum();
        let half = -EULER - 2.0 * std::f64::consts::LN_2;
        for (x, value) in [(0.5, half), (1.0, -EULER), (2.0, 1.0 - EULER), (10.0, harmonic - EULER)] {
            assert!((digamma(x) - value).abs() < 1e-10, "digamma({x}) is {}, not {value}", digamma(x));
        }
    }
}
