//! Writes scores as decimal numbers that the JSON parser converts back to the same value.
//!
//! The parser (serde_json, as in the reference) rounds twice, so the shortest decimal form of a
//! number may be parsed as its neighbour. The last bit of a score can decide a tie, so this module
//! searches for digits that are parsed exactly.

/// A decimal number that is parsed as this finite value. Some values beyond 10²⁰, which is far from
/// the logarithms that scores are, have no such number; they get the shortest form, which is parsed
/// as a neighbour.
pub(super) fn spelled(score: f64) -> String {
    let shortest = serde_json::to_string(&score).expect("a finite number");
    if is_read_as(&shortest, score) {
        return shortest;
    }
    // The digits of a nearby number may be parsed as this value, if the rounding errors cancel each
    // other.
    let near = |precision: usize, distance: i128| {
        let digits = format!("{score:.precision$e}");
        let (digits, exponent) = digits.split_once('e')?;
        let (digits, exponent): (i128, i32) = (digits.replace('.', "").parse().ok()?, exponent.parse().ok()?);
        let spelled = format!("{}e{}", digits + distance, exponent - precision as i32);
        is_read_as(&spelled, score).then_some(spelled)
    };
    let spelled = (14..=18).find_map(|precision| {
        // About a tenth of the distance to the next floating-point number.
        let step = 10i128.pow((precision as u32).saturating_sub(16));
        (0..300).flat_map(|steps| [steps * step, -steps * step]).find_map(|distance| near(precision, distance))
    });
    spelled.unwrap_or(shortest)
}

fn is_read_as(digits: &str, score: f64) -> bool {
    serde_json::from_str::<f64>(digits).is_ok_and(|read| read.to_bits() == score.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn every_score_is_read_as_it_was(score in prop_oneof![8 => -25.0..5.0, 1 => -1e6..1e6, 1 => -1e15..1e15]) {
            let score: f64 = score;
            // Only numbers that the parser can return occur.
            let read: f64 = serde_json::from_str(&score.to_string()).expect("a number");
            prop_assert!(is_read_as(&spelled(read), read), "{:e} {}", read, spelled(read));
        }
    }

    #[test]
    fn whole_numbers_keep_their_point() {
        assert_eq!(["0.0", "-1.0", "-0.0", "0.5"], [0.0, -1.0, -0.0, 0.5].map(spelled)[..]);
    }
}
