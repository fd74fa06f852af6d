//! `truncation` and `padding` of a tokenizer.json, which are the defaults of calls.

use super::json::Part;
use crate::error::LoadError;
use crate::padding::{PadTo, Padding};
use crate::truncation::{Direction, Truncation, TruncationStrategy};

pub(crate) fn truncation(part: &Part<'_>) -> Result<Truncation, LoadError> {
    let strategy = part.required("strategy")?;
    Ok(Truncation {
        max_length: count(&part.required("max_length")?)?,
        stride: count(&part.required("stride")?)?,
        strategy: match strategy.text()? {
            "LongestFirst" => TruncationStrategy::LongestFirst,
            "OnlyFirst" => TruncationStrategy::OnlyFirst,
            "OnlySecond" => TruncationStrategy::OnlySecond,
            other => return Err(strategy.unsupported(format!("the strategy {other}"))),
        },
        direction: part.field("direction").or_null(direction)?.unwrap_or_default(),
    })
}

pub(crate) fn padding(part: &Part<'_>) -> Result<Padding, LoadError> {
    let strategy = part.required("strategy")?;
    let to = match strategy.value.get("Fixed") {
        Some(_) => PadTo::Length(count(&strategy.required("Fixed")?)?),
        None => match strategy.text()? {
            "BatchLongest" => PadTo::Longest,
            other => return Err(strategy.unsupported(format!("the strategy {other}"))),
        },
    };
    Ok(Padding {
        to,
        multiple_of: part.field("pad_to_multiple_of").or_null(count)?.unwrap_or_default(),
        direction: direction(&part.required("direction")?)?,
        id: part.required("pad_id")?.id()?,
        type_id: part.required("pad_type_id")?.id()?,
        token: part.required("pad_token")?.text()?.to_owned(),
    })
}

fn direction(part: &Part<'_>) -> Result<Direction, LoadError> {
    match part.text()? {
        "Left" => Ok(Direction::Left),
        "Right" => Ok(Direction::Right),
        other => Err(part.unsupported(format!("the direction {other}"))),
    }
}

/// A number of tokens. The reference accepts any integer; a number above the range of ids is never
/// reached.
fn count(part: &Part<'_>) -> Result<usize, LoadError> {
    match part.value.as_u64() {
        Some(count) => Ok(usize::try_from(count).unwrap_or(usize::MAX)),
        None => part.count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn truncation_as_the_library_writes_it_is_read() {
        let stored = json!({"direction": "Left", "max_length": 24, "strategy": "OnlyFirst", "stride": 3});
        let expected = Truncation {
            max_length: 24,
            stride: 3,
            strategy: TruncationStrategy::OnlyFirst,
            direction: Direction::Left,
        };
        assert_eq!(truncation(&Part::new(&stored, "truncation")), Ok(expected));
        let old = json!({"max_length": 5, "strategy": "LongestFirst", "stride": 0});
        assert_eq!(truncation(&Part::new(&old, "truncation")), Ok(Truncation::new(5)));

        let mut stored = json!({
            "strategy": {"Fixed": 40}, "direction": "Left", "pad_to_multiple_of": 16, "pad_id": 3, "pad_type_id": 1,
            "pad_token": "<pad>",
        });
        let to = |to| {
            Ok(Padding { to, multiple_of: 16, direction: Direction::Left, id: 3, type_id: 1, token: "<pad>".into() })
        };
        assert_eq!(padding(&Part::new(&stored, "padding")), to(PadTo::Length(40)));
        stored["strategy"] = json!("BatchLongest");
        assert_eq!(padding(&Part::new(&stored, "padding")), to(PadTo::Longest));
    }

    #[test]
    fn errors_say_where() {
        let error = |value| truncation(&Part::new(&value, "truncation")).expect_err("it is wrong").to_string();
        assert!(error(json!({"max_length": 5, "stride": 0})).contains("\"strategy\" is missing"));
        let strange = json!({"max_length": 5, "stride": 0, "strategy": "Shortest"});
        assert_eq!(error(strange), "truncation.strategy: the strategy Shortest is not supported");
        let negative = json!({"max_length": -5, "stride": 0, "strategy": "LongestFirst"});
        assert!(error(negative).starts_with("truncation.max_length: a whole number"));
    }
}
