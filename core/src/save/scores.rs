//! Scores as decimal text that the JSON reader turns back into the same number.
//!
//! The reader (serde_json, as in the reference) rounds twice, so the shortest decimal form of a
//! number may be read as its neighbour. The last bit of a score can decide a tie, so this searches
//! for digits that are read exactly.

/// Decimal text that is read as this finite number.
pub(super) fn spelled(score: f64) -> String {
    let shortest = serde_json::to_string(&score).expect("a finite number");
    if is_read_as(&shortest, score) {
        return shortest;
    }
    // Digits of a nearby number may be read as this one, if the rounding errors cancel.
    let near = |places: usize, distance: i128| {
        let digits = format!("{score:.places$e}");
        let (digits, exponent) = digits.split_once('e')?;
        let (digits, exponent): (i128, i32) = (digits.replace('.', "").parse().ok()?, exponent.parse().ok()?);
        let spelled = format!("{}e{}", digits + distance, exponent - places as i32);
        is_read_as(&spelled, score).then_some(spelled)
    };
    let spelled = (14..=18).find_map(|places| {
        // About a tenth of the distance to the next number.
        let step = 10i128.pow((places as u32).saturating_sub(16));
        (0..300).flat_map(|steps| [steps * step, -steps * step]).find_map(|distance| near(places, distance))
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
        fn every_score_is_read_as_it_was(score in prop_oneof![8 => -25.0..5.0, 1 => -1e6..1e6, 1 => -1e60..1e60]) {
            let score: f64 = score;
            // Only numbers that the reader can produce occur.
            let read: f64 = serde_json::from_str(&score.to_string()).expect("a number");
            prop_assert!(is_read_as(&spelled(read), read), "{:e} {}", read, spelled(read));
        }
    }

    #[test]
    fn whole_numbers_keep_their_point() {
        assert_eq!(["0.0", "-1.0", "-0.0", "0.5"], [0.0, -1.0, -0.0, 0.5].map(spelled)[..]);
    }
}
