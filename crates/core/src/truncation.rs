//! Truncation: the maximum length of an encoding in tokens, and its overflow.
//!
//! The lengths are those of Hugging Face tokenizers 0.23.3: a text is encoded as a whole, then cut
//! into parts of `max_length` tokens, minus the special tokens that the post-processor adds. The
//! first part is the encoding, the others are its overflow. Adjacent parts share `stride`
//! tokens.

use serde::Serialize;

use crate::error::EncodeError;
use crate::memory::fallible;

/// A side of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Direction {
    /// Truncation keeps the end of the text; padding comes before it.
    Left,
    /// Truncation keeps the start of the text; padding comes after it.
    #[default]
    Right,
}

/// The text of a pair that is truncated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum TruncationStrategy {
    /// The longer one first, then both equally. The default.
    #[default]
    LongestFirst,
    /// The first.
    OnlyFirst,
    /// The second.
    OnlySecond,
}

/// The options of truncation. They are serialized as in a tokenizer.json.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Truncation {
    /// Which end of the text is kept. Default [`Direction::Right`], which keeps the start.
    pub direction: Direction,
    /// Maximum number of tokens of an encoding, special tokens included. If the special tokens
    /// alone exceed it, nothing is truncated, as in Hugging Face tokenizers.
    pub max_length: usize,
    /// The text of a pair that is truncated. Default [`TruncationStrategy::LongestFirst`].
    pub strategy: TruncationStrategy,
    /// The number of tokens that adjacent parts share. Default 0.
    pub stride: usize,
}

impl Truncation {
    /// Keeps the first `max_length` tokens.
    pub fn new(max_length: usize) -> Self {
        Self { max_length, stride: 0, strategy: TruncationStrategy::default(), direction: Direction::default() }
    }

    /// The same with a `max_length` reduced by `added`; `None` if that is below zero.
    pub(crate) fn less(self, added: usize) -> Option<Self> {
        Some(Self { max_length: self.max_length.checked_sub(added)?, ..self })
    }

    /// The lengths of the texts after truncation.
    pub(crate) fn lengths(&self, first: usize, second: Option<usize>) -> Result<(usize, Option<usize>), EncodeError> {
        let total = first + second.unwrap_or(0);
        let Some(excess) = total.checked_sub(self.max_length).filter(|&excess| excess > 0) else {
            return Ok((first, second));
        };
        if self.max_length == 0 {
            return Ok((0, second.map(|_| 0)));
        }
        let cut = |length: usize| match length.checked_sub(excess) {
            Some(rest) if rest > 0 => Ok(rest),
            _ => Err(EncodeError::TruncationTooShort { tokens: length, excess }),
        };
        match (self.strategy, second) {
            (TruncationStrategy::LongestFirst, None) => Ok((self.max_length, None)),
            (TruncationStrategy::LongestFirst, Some(second)) => {
                let (shorter, longer) = self.share(first.min(second));
                Ok(if first > second { (longer, Some(shorter)) } else { (shorter, Some(longer)) })
            }
            (TruncationStrategy::OnlyFirst, _) => Ok((cut(first)?, second)),
            (TruncationStrategy::OnlySecond, Some(second)) => Ok((first, Some(cut(second)?))),
            (TruncationStrategy::OnlySecond, None) => Err(EncodeError::TruncationNoSecondText),
        }
    }

    /// The lengths of the shorter and the longer text of a pair that is too long.
    fn share(&self, shorter: usize) -> (usize, usize) {
        match self.max_length.checked_sub(shorter) {
            Some(rest) if rest >= shorter => (shorter, rest),
            _ => (self.max_length / 2, self.max_length - self.max_length / 2),
        }
    }

    /// The start and end of each part of at most `max` tokens in a text of `length` tokens; the
    /// part to keep is first.
    pub(crate) fn parts(&self, length: usize, max: usize) -> Result<Vec<[usize; 2]>, EncodeError> {
        if max >= length {
            return Ok(vec![[0, length]]);
        }
        if max == 0 {
            return Ok(vec![[0, 0], [0, length]]);
        }
        if self.stride >= max {
            return Err(EncodeError::TruncationStride { stride: self.stride, max_length: max });
        }
        let step = max - self.stride;
        // The number of steps until a part reaches the other end.
        let steps = (length - max).div_ceil(step);
        let part = |step_number: usize| {
            let skipped = step_number * step;
            match self.direction {
                Direction::Right => [skipped, (skipped + max).min(length)],
                Direction::Left => [(length - skipped).saturating_sub(max), length - skipped],
            }
        };
        let mut parts = fallible::with_capacity(steps + 1)?;
        parts.extend((0..=steps).map(part));
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn truncation(max_length: usize, stride: usize, strategy: TruncationStrategy, direction: Direction) -> Truncation {
        Truncation { direction, max_length, strategy, stride }
    }

    /// The parts by walking: step by step from one end, until the other end is included.
    fn walked(tokens: &[usize], max: usize, stride: usize, direction: Direction) -> Vec<Vec<usize>> {
        let mut line = tokens.to_vec();
        if direction == Direction::Left {
            line.reverse();
        }
        let mut parts = vec![];
        loop {
            let mut part: Vec<usize> = line.iter().copied().take(max).collect();
            let reaches_end = part.last() == line.last();
            if direction == Direction::Left {
                part.reverse();
            }
            parts.push(part);
            if reaches_end {
                return parts;
            }
            line.drain(..max - stride);
        }
    }

    /// The lengths of a pair by removing one token at a time from the longer text, or from the
    /// second if both are equal.
    fn taken_away(mut first: usize, mut second: usize, max: usize) -> (usize, usize) {
        let first_is_longer = first > second;
        while first + second > max {
            match first.cmp(&second) {
                std::cmp::Ordering::Greater => first -= 1,
                std::cmp::Ordering::Less => second -= 1,
                // The odd token stays with the text that was longer.
                std::cmp::Ordering::Equal if first_is_longer => second -= 1,
                std::cmp::Ordering::Equal => first -= 1,
            }
        }
        (first, second)
    }

    proptest! {
        #[test]
        fn parts_are_those_of_walking(length in 0usize..60, max in 1usize..20, stride in 0usize..20, left: bool) {
            let direction = if left { Direction::Left } else { Direction::Right };
            let truncation = truncation(max, stride, TruncationStrategy::LongestFirst, direction);
            let parts = truncation.parts(length, max);
            if stride >= max && length > max {
                prop_assert_eq!(parts, Err(EncodeError::TruncationStride { stride, max_length: max }));
            } else {
                let tokens: Vec<usize> = (0..length).collect();
                let got: Vec<&[usize]> = parts.as_ref().expect("the stride fits").iter().map(|&[a, b]| &tokens[a..b]).collect();
                prop_assert_eq!(got, walked(&tokens, max, stride.min(max - 1), direction));
            }
        }

        #[test]
        fn longest_first_takes_from_the_longer_text(first in 0usize..40, second in 0usize..40, max in 0usize..60) {
            let truncation = truncation(max, 0, TruncationStrategy::LongestFirst, Direction::Right);
            let (a, b) = taken_away(first, second, max);
            prop_assert_eq!(truncation.lengths(first, Some(second)), Ok((a, Some(b))));
            prop_assert_eq!(truncation.lengths(first, None), Ok((first.min(max), None)));
        }

        #[test]
        fn one_text_alone_pays_or_it_is_an_error(first in 0usize..40, second in 0usize..40, max in 1usize..60) {
            let excess = (first + second).saturating_sub(max);
            for (strategy, length) in [(TruncationStrategy::OnlyFirst, first), (TruncationStrategy::OnlySecond, second)] {
                let got = truncation(max, 0, strategy, Direction::Right).lengths(first, Some(second));
                if excess > 0 && length <= excess {
                    prop_assert_eq!(got, Err(EncodeError::TruncationTooShort { tokens: length, excess }));
                } else {
                    let (a, b) = got.expect("it is long enough");
                    prop_assert_eq!(a + b.expect("a pair"), (first + second).min(max));
                    prop_assert_eq!(if strategy == TruncationStrategy::OnlyFirst { b == Some(second) } else { a == first }, true);
                }
            }
        }
    }

    #[test]
    fn no_length_at_all_keeps_nothing_and_overflows_with_the_whole() {
        let truncation = truncation(0, 5, TruncationStrategy::OnlySecond, Direction::Right);
        assert_eq!(truncation.lengths(3, None), Ok((0, None)));
        assert_eq!(truncation.parts(3, 0), Ok(vec![[0, 0], [0, 3]]));
        assert_eq!(truncation.parts(0, 0), Ok(vec![[0, 0]]));
    }

    #[test]
    fn a_second_text_that_is_not_there_cannot_get_shorter() {
        let truncation = truncation(2, 0, TruncationStrategy::OnlySecond, Direction::Right);
        assert_eq!(truncation.lengths(2, None), Ok((2, None)));
        assert_eq!(truncation.lengths(3, None), Err(EncodeError::TruncationNoSecondText));
    }
}
