//! Padding: tokens that extend encodings to a common length.

use serde::{Serialize, Serializer};

use crate::truncation::Direction;

/// The length to pad to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum PadTo {
    /// The longest row of the batch, without overflow. A single text is its own batch. The default.
    #[default]
    #[serde(rename = "BatchLongest")]
    Longest,
    /// This number of tokens. Longer encodings are unchanged.
    #[serde(rename = "Fixed")]
    Length(usize),
}

/// The options of padding. The defaults are those of Hugging Face tokenizers. They are serialized
/// as in a tokenizer.json.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Padding {
    /// The length to pad to. Default [`PadTo::Longest`].
    #[serde(rename = "strategy")]
    pub to: PadTo,
    /// The side of the padding. Default [`Direction::Right`], after the text.
    pub direction: Direction,
    /// The length is rounded up to a multiple of this; 0 and 1 change nothing. Default 0.
    #[serde(rename = "pad_to_multiple_of", serialize_with = "above_one")]
    pub multiple_of: usize,
    /// The id of padding tokens. Default 0.
    #[serde(rename = "pad_id")]
    pub id: u32,
    /// The type id of padding tokens. Default 0.
    #[serde(rename = "pad_type_id")]
    pub type_id: u32,
    /// The string of padding tokens. Default `[PAD]`.
    #[serde(rename = "pad_token")]
    pub token: String,
}

/// A multiple that changes lengths; else null.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn above_one<S: Serializer>(&multiple: &usize, serializer: S) -> Result<S::Ok, S::Error> {
    (multiple > 1).then_some(multiple).serialize(serializer)
}

impl Default for Padding {
    fn default() -> Self {
        Self {
            to: PadTo::Longest,
            multiple_of: 0,
            direction: Direction::Right,
            id: 0,
            type_id: 0,
            token: "[PAD]".into(),
        }
    }
}

impl Padding {
    /// The length to pad to if the longest row has `longest` tokens.
    pub(crate) fn target(&self, longest: usize) -> usize {
        let length = match self.to {
            PadTo::Longest => longest,
            PadTo::Length(length) => length,
        };
        // `usize::MAX` if the length cannot be rounded up; no encoding can be padded to that, so
        // the caller fails.
        length.checked_next_multiple_of(self.multiple_of.max(1)).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_rounded_up() {
        let target = |to, multiple_of, longest| Padding { to, multiple_of, ..Padding::default() }.target(longest);
        assert_eq!(target(PadTo::Longest, 0, 5), 5);
        assert_eq!(target(PadTo::Longest, 8, 5), 8);
        assert_eq!(target(PadTo::Longest, 8, 8), 8);
        assert_eq!(target(PadTo::Longest, 8, 0), 0);
        assert_eq!(target(PadTo::Length(20), 1, 5), 20);
        assert_eq!(target(PadTo::Length(20), 16, 50), 32);
        assert_eq!(target(PadTo::Length(usize::MAX), 16, 50), usize::MAX);
    }
}
