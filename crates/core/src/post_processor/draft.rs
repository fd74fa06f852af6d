//! An encoding before its columns are written: runs of tokens of the same origin.
//!
//! Post-processors treat all tokens of a run alike, so no token is copied before the last
//! post-processor is done.

use crate::encoding::Ranges;
use crate::error::EncodeError;
use crate::memory::fallible::{checkpoint, gather, with_capacity};

/// Maximum number of parts into which truncation may split a text or pair.
const MAX_PARTS: usize = 1 << 22;

/// Maximum number of indices in the `own_overflow` lists of all parts together.
const MAX_OWN_OVERFLOW: usize = 1 << 24;

/// Runs in order, the token ranges of the texts, and the parts that truncation cut off, which are
/// drafts themselves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Draft {
    pub(crate) runs: Vec<Run>,
    pub(crate) ranges: Ranges,
    pub(crate) overflowing: Vec<Self>,
    /// Of an overflowing part: its own overflow, as indices of the list that contains the part.
    pub(crate) own_overflow: Vec<u32>,
}

/// Adjacent tokens with common properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) tokens: RunTokens,
    pub(crate) type_id: u32,
    /// Whether a post-processor added the tokens.
    pub(crate) special: bool,
    /// Trims to be applied to their offsets, in order.
    pub(crate) trims: Vec<Trim>,
}

/// The origin of the tokens of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunTokens {
    /// The tokens `start..end` of a text.
    Text { sequence: usize, start: usize, end: usize },
    /// The `count` ids of a special token.
    Special { token: usize, count: usize },
}

/// Removes white space at the edges of tokens from their offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trim {
    pub(crate) add_prefix_space: bool,
    /// Whether the first token of the run was the first of the draft when the trim was added.
    pub(crate) at_start: bool,
}

/// The number of white-space characters at the start and at the end of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Margins {
    pub(crate) leading: u32,
    pub(crate) trailing: u32,
}

impl Margins {
    /// The margins of a token in the spelling of the vocabulary. `Ġ` is the space of byte-level
    /// tokens.
    pub(crate) fn of(token: &str) -> Self {
        let is_space = |c: &char| *c == 'Ġ' || c.is_whitespace();
        let leading = token.chars().take_while(is_space).count() as u32;
        Self { leading, trailing: token.chars().rev().take_while(is_space).count() as u32 }
    }

    /// The margins of a byte-level token that stands for `bytes`. Of the printable forms of bytes,
    /// only `Ġ` counts as white space.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        let is_space = |byte: &&u8| **byte == b' ';
        let leading = bytes.iter().take_while(is_space).count() as u32;
        Self { leading, trailing: bytes.iter().rev().take_while(is_space).count() as u32 }
    }
}

impl Trim {
    /// Adjusts the offsets of one run. `margins` are those of its tokens.
    pub(crate) fn apply(self, offsets: &mut [[u32; 2]], margins: &[Margins]) {
        for (place, ([start, end], &Margins { leading, trailing })) in offsets.iter_mut().zip(margins).enumerate() {
            let is_first = (place == 0 && self.at_start) || *start == 0;
            let was_added = is_first && self.add_prefix_space && leading == 1;
            if leading > 0 && !was_added {
                *start = start.saturating_add(leading).min(*end);
            }
            if trailing > 0 && *end >= trailing {
                *end = (*end - trailing).max(*start);
            }
        }
    }
}

impl Run {
    pub(crate) fn len(&self) -> usize {
        match self.tokens {
            RunTokens::Text { start, end, .. } => end - start,
            RunTokens::Special { count, .. } => count,
        }
    }
}

impl Draft {
    pub(crate) fn of(run: Run) -> Self {
        Self { runs: vec![run], ..Self::default() }
    }

    /// A draft of the first part of a text, with the other parts as its overflow.
    pub(crate) fn of_parts(sequence: usize, parts: &[[usize; 2]]) -> Result<Self, EncodeError> {
        if parts.len() > MAX_PARTS {
            return Err(EncodeError::OverflowTooLarge { limit: MAX_PARTS });
        }
        let draft = |&[start, end]: &[usize; 2]| {
            checkpoint();
            let tokens = RunTokens::Text { sequence, start, end };
            Self::of(Run { tokens, type_id: sequence as u32, special: false, trims: vec![] })
        };
        let mut drafts = parts.iter().map(draft);
        let mut draft = drafts.next().unwrap_or_default();
        draft.overflowing = with_capacity(drafts.len())?;
        draft.overflowing.extend(drafts);
        Ok(draft)
    }

    pub(crate) fn len(&self) -> usize {
        self.runs.iter().map(Run::len).sum()
    }

    /// Records that all current tokens belong to a text.
    pub(crate) fn set_sequence(&mut self, sequence: u32) {
        let range = 0..self.len();
        match self.ranges.iter_mut().find(|(known, _)| *known == sequence) {
            Some(entry) => entry.1 = range,
            None => self.ranges.push((sequence, range)),
        }
    }

    pub(crate) fn set_type(&mut self, type_id: u32) {
        self.runs.iter_mut().for_each(|run| run.type_id = type_id);
    }

    /// Applies `change` to the draft and to each part of its overflow.
    pub(crate) fn and_parts(&mut self, mut change: impl FnMut(&mut Self)) {
        change(self);
        self.overflowing.iter_mut().for_each(|part| {
            checkpoint();
            change(part);
        });
    }

    /// Concatenates drafts. The overflow consists of all combinations of a part with the other
    /// drafts and their parts, in the order of the reference. In the reference, parts have overflow
    /// of their own if they are the first of their text; those parts are in the list too.
    pub(crate) fn merge(drafts: Vec<Self>) -> Result<Self, EncodeError> {
        let mut drafts = drafts.into_iter();
        let mut merged = drafts.next().unwrap_or_default();
        for next in drafts {
            let (own, other) = (merged.overflowing.len(), next.overflowing.len());
            if own.saturating_mul(other + 1).saturating_add(other) > MAX_PARTS {
                return Err(EncodeError::OverflowTooLarge { limit: MAX_PARTS });
            }
            let mut overflowing = with_capacity(own * (other + 1) + other)?;
            // The index, in the new list, of part `place` of the current list joined with `next`
            // (`with` is 0) or with part `with - 1` of its overflow.
            let joined_at = |place: usize, with: usize| (place * (other + 1) + with) as u32;
            let mut index_count = 0;
            for (place, part) in std::mem::take(&mut merged.overflowing).into_iter().enumerate() {
                for (with, next) in std::iter::once(&next).chain(&next.overflowing).enumerate() {
                    let below = part.own_overflow.iter().map(|&below| below as usize);
                    let own_overflow: Vec<u32> = if with == 0 {
                        let below = below.flat_map(|below| (0..=other).map(move |with| joined_at(below, with)));
                        gather(below.chain((1..=other).map(|with| joined_at(place, with))))
                    } else {
                        gather(below.map(|below| joined_at(below, with)))
                    };
                    index_count += own_overflow.len();
                    if index_count > MAX_OWN_OVERFLOW {
                        return Err(EncodeError::OverflowTooLarge { limit: MAX_PARTS });
                    }
                    overflowing.push(part.joined(next, own_overflow));
                }
            }
            overflowing.extend(
                next.overflowing
                    .iter()
                    .enumerate()
                    .map(|(with, next)| merged.joined(next, gather((0..own).map(|place| joined_at(place, with + 1))))),
            );
            merged.append(&next);
            merged.overflowing = overflowing;
        }
        if merged.overflowing.len() > MAX_PARTS {
            return Err(EncodeError::OverflowTooLarge { limit: MAX_PARTS });
        }
        Ok(merged)
    }

    /// A part of an overflow: this draft followed by `next`.
    fn joined(&self, next: &Self, own_overflow: Vec<u32>) -> Self {
        checkpoint();
        let mut joined =
            Self { runs: self.runs.clone(), ranges: self.ranges.clone(), overflowing: vec![], own_overflow };
        joined.append(next);
        joined
    }

    fn append(&mut self, next: &Self) {
        let before = self.len();
        for (sequence, range) in &next.ranges {
            let range = before + range.start..before + range.end;
            match self.ranges.iter_mut().find(|(known, _)| known == sequence) {
                Some(entry) => entry.1 = range,
                None => self.ranges.push((*sequence, range)),
            }
        }
        self.runs.extend_from_slice(&next.runs);
    }
}
