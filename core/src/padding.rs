//! Tokens that fill encodings up to a common length.

use crate::truncation::Direction;

/// What encodings are filled up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PadTo {
    /// The longest row of the batch; parts that truncation cut off do not count. One text alone is its own batch.
    #[default]
    Longest,
    /// So many tokens. What is longer stays as it is.
    Length(usize),
}

/// How encodings are filled up. The defaults are those of Hugging Face tokenizers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Padding {
    /// Up to what.
    pub to: PadTo,
    /// The length is rounded up to a multiple of this; 0 and 1 change nothing. Default 0.
    pub multiple_of: usize,
    /// Where the padding stands. Default [`Direction::Right`], after the text.
    pub direction: Direction,
    /// The padding's id. Default 0.
    pub id: u32,
    /// Its type id. Default 0.
    pub type_id: u32,
    /// Its token. Default `[PAD]`.
    pub token: String,
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
    /// The length that rows are filled up to when the longest has `longest` tokens.
    pub(crate) fn target(&self, longest: usize) -> usize {
        let length = match self.to {
            PadTo::Longest => longest,
            PadTo::Length(length) => length,
        };
        // A length that cannot be rounded up within a machine word cannot be padded to either; see the caller.
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
