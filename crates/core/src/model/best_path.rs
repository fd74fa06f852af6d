//! The best path through a text: the pieces with the greatest sum of scores. The Unigram models of
//! tokenizer.json and of SentencePiece files share it; they differ in the width of scores and in
//! the pieces that they offer at each position.
//!
//! Paths are extended from left to right. Of two paths to the same position the first one stays
//! unless the second is strictly better, so the order of offers decides ties.

use std::ops::{Add, Range, Sub};

use crate::memory::fallible::{append_copies, push};

/// After this many bytes the best path is written out at the next position that no piece crosses,
/// so that buffers stay small.
const FLUSH: usize = if cfg!(test) { 8 } else { 4096 };

/// A score: `f32` or `f64`.
pub(crate) trait Score: Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Default {
    /// Whether a sum is so large that the paths after its position are counted from there.
    fn is_large(self) -> bool {
        false
    }
}

impl Score for f32 {
    /// As in `EncodeOptimized` of `sentencepiece` 0.2.3, which keeps the precision of sums this
    /// way. It decides which path is the best one in a long text.
    fn is_large(self) -> bool {
        self.abs() > 100_000.0
    }
}

impl Score for f64 {}

/// The buffers of a search, reused from text to text.
#[derive(Debug, Default)]
pub(crate) struct BestPath<S> {
    /// Per position from the last flush on: the best path that ends there.
    paths: Vec<Path<S>>,
    /// The pieces of the best path in reverse order: end position and id.
    pieces: Vec<(usize, u32)>,
}

/// The best path that ends at a position.
#[derive(Debug, Clone, Copy)]
struct Path<S> {
    score: S,
    /// Start of its last piece; [`UNREACHED`] while no piece ends here.
    start: u32,
    /// Id of its last piece.
    id: u32,
}

const UNREACHED: u32 = u32::MAX;

impl<S: Score> Path<S> {
    fn unreached() -> Self {
        Self { score: S::default(), start: UNREACHED, id: 0 }
    }

    fn origin() -> Self {
        Self { start: 0, ..Self::unreached() }
    }

    #[inline(always)]
    fn offer(&mut self, score: S, start: u32, id: u32) {
        if self.would_take(score) {
            *self = Self { score, start, id };
        }
    }

    #[inline(always)]
    fn would_take(&self, score: S) -> bool {
        self.start == UNREACHED || score > self.score
    }
}

/// Receives the pieces that start at one position.
pub(super) struct Offers<'a, S> {
    /// The paths to this position and to later ones.
    paths: &'a mut [Path<S>],
    start: u32,
    so_far: S,
    longest: usize,
}

impl<S: Score> Offers<'_, S> {
    /// Offers a piece of `len` bytes.
    #[inline(always)]
    pub(super) fn offer(&mut self, len: usize, score: S, id: u32) {
        self.longest = self.longest.max(len);
        self.paths[len].offer(score + self.so_far, self.start, id);
    }

    /// Whether a piece would be taken.
    pub(super) fn would_take(&self, len: usize, score: S) -> bool {
        self.paths[len].would_take(score + self.so_far)
    }
}

impl<S: Score> BestPath<S> {
    /// Searches a text of `len` bytes. `extend` offers the pieces of up to `longest` bytes that
    /// start at a position, at least the character there, and returns the length of that character.
    /// `write` takes start, end and id of each piece of the best path, in order.
    #[inline(always)]
    pub(super) fn search<E>(
        &mut self,
        len: usize,
        longest: usize,
        mut extend: impl FnMut(usize, &mut Offers<'_, S>) -> Result<usize, E>,
        mut write: impl FnMut(usize, usize, u32),
    ) -> Result<(), E> {
        self.paths.clear();
        push(&mut self.paths, Path::origin());
        // `paths` starts at `base`. No piece crosses `base`, and none ends after `reach`.
        let (mut base, mut start, mut reach) = (0, 0, 0);
        while start < len {
            if start == reach && start - base >= FLUSH {
                self.write(base..start, &mut write);
                let path = self.paths[start - base];
                self.paths.clear();
                push(&mut self.paths, path);
                base = start;
            }
            let needed = (start - base + longest).min(len - base) + 1;
            if self.paths.len() < needed {
                let more = (needed + FLUSH).min(len - base + 1) - self.paths.len();
                append_copies(&mut self.paths, Path::unreached(), more);
            }
            let paths = &mut self.paths[start - base..];
            let mut so_far = paths[0].score;
            if so_far.is_large() {
                for path in paths[..=reach - start].iter_mut().filter(|path| path.start != UNREACHED) {
                    path.score = path.score - so_far;
                }
                so_far = S::default();
            }
            let mut offers = Offers { paths, start: (start - base) as u32, so_far, longest: 0 };
            let length = extend(start, &mut offers)?;
            reach = reach.max(start + offers.longest);
            start += length;
        }
        self.write(base..len, &mut write);
        Ok(())
    }

    /// [`Self::search`] by end positions: for each end from 1 on, `best` returns the score, the
    /// start and the id of the best piece that ends there, if there is one. Its second argument
    /// returns the score of the best path to an earlier position.
    pub(super) fn search_by_ends<E>(
        &mut self,
        len: usize,
        mut best: impl FnMut(usize, &dyn Fn(usize) -> S) -> Result<Option<(S, usize, u32)>, E>,
        mut write: impl FnMut(usize, usize, u32),
    ) -> Result<(), E> {
        self.paths.clear();
        push(&mut self.paths, Path::origin());
        for end in 1..=len {
            let paths = &self.paths;
            let found = best(end, &|start| paths[start].score)?;
            let path = found.map(|(score, start, id)| Path { score, start: start as u32, id });
            push(&mut self.paths, path.unwrap_or_else(Path::unreached));
        }
        self.write(0..len, &mut write);
        Ok(())
    }

    /// Writes the best path through a part of the text, at whose start `paths` starts.
    #[inline(always)]
    fn write(&mut self, part: Range<usize>, write: &mut impl FnMut(usize, usize, u32)) {
        let Self { paths, pieces } = self;
        pieces.clear();
        let mut end = part.len();
        while end > 0 {
            let path = paths[end];
            push(pieces, (part.start + end, path.id));
            end = path.start as usize;
        }
        let mut start = part.start;
        for &(end, id) in pieces.iter().rev() {
            write(start, end, id);
            start = end;
        }
    }

    /// Releases buffers that a long text made grow.
    pub(crate) fn trim(&mut self) {
        const MAX_KEPT_POSITIONS: usize = 1 << 16;
        if self.paths.capacity() > MAX_KEPT_POSITIONS || self.pieces.capacity() > MAX_KEPT_POSITIONS {
            *self = Self::default();
        }
    }
}
