//! BPE: merges the pair whose piece has the greatest score first, the leftmost of equal ones.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::{PieceKind, PieceWriter, SentencePiece};
use crate::memory::Grow;
use crate::memory::fallible::push;

/// Buffers, reused from text to text.
#[derive(Debug, Default)]
pub(super) struct PieceMergeScratch {
    parts: Vec<MergedPiece>,
    queue: BinaryHeap<Pair>,
    /// For each unused piece that a pair could form: the length of the left part of the last pair.
    left_lengths: std::collections::HashMap<u32, u32, foldhash::fast::RandomState>,
    /// The parts of an unused piece that are still to be written: start, length, and the number of
    /// pieces that they are parts of.
    pending: Vec<(usize, usize, usize)>,
}

impl PieceMergeScratch {
    pub(super) fn trim(&mut self) {
        const MAX_KEPT_PARTS: usize = 1 << 14;
        if self.parts.capacity() > MAX_KEPT_PARTS
            || self.queue.capacity() > MAX_KEPT_PARTS
            || self.left_lengths.capacity() > MAX_KEPT_PARTS
        {
            *self = Self::default();
        }
    }
}

/// A part of the text that is one piece so far. Empty after it was merged into the previous one.
#[derive(Debug, Clone, Copy)]
struct MergedPiece {
    start: u32,
    len: u32,
    previous: u32,
    next: u32,
    /// A user-defined symbol, which is never merged.
    is_fixed: bool,
}

/// Stands for the neighbor that the first and the last part lack.
const NO_PART: u32 = u32::MAX;

/// How many times the library splits an unused piece and its left or right part again.
const MAX_SPLIT_DEPTH: usize = 100;

/// Two neighbours whose concatenation is a piece. Outdated if they are no longer `len` bytes long
/// together.
#[derive(Debug, Clone, Copy)]
struct Pair {
    score: f32,
    left: u32,
    right: u32,
    len: u32,
}

impl Ord for Pair {
    fn cmp(&self, other: &Self) -> Ordering {
        // No score is NaN. As in the library, -0.0 is less than 0.0.
        self.score.total_cmp(&other.score).then_with(|| Reverse(self.left).cmp(&Reverse(other.left)))
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Pair {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Pair {}

impl SentencePiece {
    pub(super) fn merge(&self, text: &[u8], scratch: &mut PieceMergeScratch, writer: &mut PieceWriter<'_>) {
        scratch.parts.clear();
        scratch.queue.clear();
        scratch.left_lengths.clear();
        let mut start = 0;
        while start < text.len() {
            let (length, is_fixed) = self.first(&text[start..]);
            let index = scratch.parts.len() as u32;
            let previous = index.checked_sub(1).unwrap_or(NO_PART);
            let next = if start + length == text.len() { NO_PART } else { index + 1 };
            push(&mut scratch.parts, MergedPiece { start: start as u32, len: length as u32, previous, next, is_fixed });
            start += length;
        }
        for right in 1..scratch.parts.len() as u32 {
            self.look_up(text, right - 1, right, scratch);
        }
        while let Some(Pair { left, right, len, .. }) = scratch.queue.pop() {
            let [a, b] = [left, right].map(|index| scratch.parts[index as usize]);
            if a.len == 0 || b.len == 0 || a.len + b.len != len {
                continue;
            }
            scratch.parts[right as usize].len = 0;
            if let Some(behind) = scratch.parts.get_mut(b.next as usize) {
                behind.previous = left;
            }
            let merged = &mut scratch.parts[left as usize];
            (merged.len, merged.next) = (len, b.next);
            self.look_up(text, a.previous, left, scratch);
            self.look_up(text, left, b.next, scratch);
        }
        let mut index = if scratch.parts.is_empty() { NO_PART } else { 0 };
        while let Some(&MergedPiece { start, len, next, .. }) = scratch.parts.get(index as usize) {
            self.write(text, start as usize, len as usize, scratch, writer);
            index = next;
        }
    }

    /// Queues a pair of neighbours if its concatenation is a piece.
    fn look_up(&self, text: &[u8], left: u32, right: u32, scratch: &mut PieceMergeScratch) {
        let (Some(a), Some(b)) = (scratch.parts.get(left as usize), scratch.parts.get(right as usize)) else { return };
        if a.is_fixed || b.is_fixed {
            return;
        }
        let (start, len) = (a.start as usize, (a.len + b.len) as usize);
        let Some(id) = self.parts.pieces.id(&text[start..start + len]) else { return };
        if self.parts.kinds[id as usize] == PieceKind::Unused {
            scratch.left_lengths.insert(id, a.len);
        }
        scratch.queue.grow(1);
        scratch.queue.push(Pair { score: self.parts.scores[id as usize], left, right, len: len as u32 });
    }

    /// Writes a merged piece. An unused piece is written as the two parts of the last pair in this
    /// text that could form it, as in the library, but as itself below [`MAX_SPLIT_DEPTH`].
    fn write(
        &self,
        text: &[u8],
        start: usize,
        len: usize,
        scratch: &mut PieceMergeScratch,
        writer: &mut PieceWriter<'_>,
    ) {
        let PieceMergeScratch { left_lengths, pending, .. } = scratch;
        push(pending, (start, len, 0));
        while let Some((start, len, depth)) = pending.pop() {
            let piece = &text[start..start + len];
            let unused = self.parts.pieces.id(piece).and_then(|id| Some((id, *left_lengths.get(&id)?)));
            match unused {
                Some((id, _)) if depth > MAX_SPLIT_DEPTH => writer.write(len, piece, id),
                Some((_, left)) => {
                    push(pending, (start + left as usize, len - left as usize, depth + 1));
                    push(pending, (start, left as usize, depth + 1));
                }
                None => writer.write(len, piece, self.id(piece)),
            }
        }
    }
}
