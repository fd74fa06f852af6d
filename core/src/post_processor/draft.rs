//! An encoding before its columns are written: runs of tokens that come from one place.
//!
//! What post-processors say of tokens is the same for all tokens of a run, so nothing is copied until the last of them is
//! through.

use std::ops::Range;

use crate::encoding::{NO_ID, Ranges};
use crate::error::EncodeError;
use crate::memory::fallible::{append_copies, checkpoint, gather, with_room};

/// The most parts that truncation may cut one text or pair into.
const MOST_PARTS: usize = 1 << 22;

/// How many places the parts may name as their own overflow, all together.
const MOST_NAMED: usize = 1 << 24;

/// Runs in their order, which of the tokens are of which text, and what truncation cut off, each part a draft itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Draft {
    pub(crate) runs: Vec<Run>,
    pub(crate) ranges: Ranges,
    pub(crate) overflowing: Vec<Draft>,
    /// Of a part of an overflow: its own overflow, as places in the list that it stands in.
    pub(crate) own_overflow: Vec<u32>,
}

/// Tokens that stand side by side, and what is known of all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) tokens: RunTokens,
    pub(crate) type_id: u32,
    /// Whether a post-processor added them.
    pub(crate) special: bool,
    /// What is to be done to their offsets, one after the other.
    pub(crate) trims: Vec<Trim>,
}

/// Where the tokens of a run come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunTokens {
    /// Tokens `start..end` of a text.
    Text { sequence: usize, start: usize, end: usize },
    /// The `count` ids of a special token.
    Special { token: usize, count: usize },
}

/// Takes white space at the edges of tokens out of their offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trim {
    pub(crate) add_prefix_space: bool,
    /// Whether the run's first token was the first of all when it was trimmed.
    pub(crate) at_start: bool,
}

/// How many characters of white space a token starts and ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Margins {
    pub(crate) leading: u32,
    pub(crate) trailing: u32,
}

impl Margins {
    /// Of a token as the vocabulary writes it. `Ġ` is the space of byte-level tokens.
    pub(crate) fn of(token: &str) -> Self {
        let is_space = |c: &char| *c == 'Ġ' || c.is_whitespace();
        let leading = token.chars().take_while(is_space).count() as u32;
        Self { leading, trailing: token.chars().rev().take_while(is_space).count() as u32 }
    }

    /// Of a byte-level token that stands for `bytes`: of all that bytes are written as, only `Ġ` counts as white space.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        let is_space = |byte: &&u8| **byte == b' ';
        let leading = bytes.iter().take_while(is_space).count() as u32;
        Self { leading, trailing: bytes.iter().rev().take_while(is_space).count() as u32 }
    }
}

impl Trim {
    /// `offsets` and `margins` are those of one run.
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

    /// The windows of a text, the first of them with the others as its overflow.
    pub(crate) fn of_windows(sequence: usize, windows: &[[usize; 2]]) -> Result<Self, EncodeError> {
        if windows.len() > MOST_PARTS {
            return Err(EncodeError::OverflowTooLarge { limit: MOST_PARTS });
        }
        let draft = |&[start, end]: &[usize; 2]| {
            checkpoint();
            let tokens = RunTokens::Text { sequence, start, end };
            Self::of(Run { tokens, type_id: sequence as u32, special: false, trims: vec![] })
        };
        let mut drafts = windows.iter().map(draft);
        let mut made = drafts.next().unwrap_or_default();
        made.overflowing = with_room(drafts.len())?;
        made.overflowing.extend(drafts);
        Ok(made)
    }

    pub(crate) fn len(&self) -> usize {
        self.runs.iter().map(Run::len).sum()
    }

    /// Says that all tokens, as they are now, are of a text.
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

    /// Does something to the draft and to each part of its overflow.
    pub(crate) fn and_parts(&mut self, mut change: impl FnMut(&mut Self)) {
        change(self);
        self.overflowing.iter_mut().for_each(|part| {
            checkpoint();
            change(part);
        });
    }

    /// One draft of several, end to end. The overflow is every combination of a part with the other drafts and their
    /// parts, in the reference's order. There a part overflows too, when it is the first of its text; all of that stands in
    /// the list as well.
    pub(crate) fn merge(drafts: Vec<Self>) -> Result<Self, EncodeError> {
        let mut drafts = drafts.into_iter();
        let mut merged = drafts.next().unwrap_or_default();
        for next in drafts {
            let (own, other) = (merged.overflowing.len(), next.overflowing.len());
            if own.saturating_mul(other + 1).saturating_add(other) > MOST_PARTS {
                return Err(EncodeError::OverflowTooLarge { limit: MOST_PARTS });
            }
            let mut overflowing = with_room(own * (other + 1) + other)?;
            // Where part `place` of this list, joined with `next` (0) or with a part of its overflow (from 1 on), will stand.
            let joined_at = |place: usize, with: usize| (place * (other + 1) + with) as u32;
            let mut named = 0;
            for (place, part) in std::mem::take(&mut merged.overflowing).into_iter().enumerate() {
                for (with, next) in std::iter::once(&next).chain(&next.overflowing).enumerate() {
                    let below = part.own_overflow.iter().map(|&below| below as usize);
                    let own_overflow: Vec<u32> = if with == 0 {
                        let below = below.flat_map(|below| (0..=other).map(move |with| joined_at(below, with)));
                        gather(below.chain((1..=other).map(|with| joined_at(place, with))))
                    } else {
                        gather(below.map(|below| joined_at(below, with)))
                    };
                    named += own_overflow.len();
                    if named > MOST_NAMED {
                        return Err(EncodeError::OverflowTooLarge { limit: MOST_PARTS });
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
        if merged.overflowing.len() > MOST_PARTS {
            return Err(EncodeError::OverflowTooLarge { limit: MOST_PARTS });
        }
        Ok(merged)
    }

    /// A part of an overflow: this draft and `next` behind it.
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

/// The range of a text's tokens. A text that the ranges do not name has all tokens, as in the reference.
pub(crate) fn range_of(ranges: &Ranges, sequence: u32, length: usize) -> Range<usize> {
    ranges.iter().find(|(known, _)| *known == sequence).map_or(0..length, |(_, range)| range.clone())
}

/// Appends the sequence id of each of `length` tokens.
pub(crate) fn push_sequence_ids(ranges: &Ranges, length: usize, out: &mut Vec<u32>) {
    let first = out.len();
    append_copies(out, NO_ID, length);
    for sequence in 0..ranges.len().max(1) as u32 {
        out[first..][range_of(ranges, sequence, length)].fill(sequence);
    }
}
