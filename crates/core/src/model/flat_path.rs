//! The best path through a word of moderate length: [`super::best_path`] without branches on
//! scores.
//!
//! Whether a piece is better than another, and whether a prefix of the word is a piece at all,
//! cannot be predicted. So every prefix is offered, and the offer is taken by a conditional move.
//! Scores of pieces must be finite and moderate ([`MAX_SCORE`]): the score of negative infinity
//! stands for a prefix that is not a piece, and for a position that no piece has reached.

use crate::memory::Grow;

/// Maximum length of a word in bytes. The paths to all of its positions are kept.
pub(super) const MAX_LEN: usize = 4096;
/// Maximum magnitude of scores: sums over a word are finite.
pub(super) const MAX_SCORE: f64 = 1e290;

/// The buffers of a search, reused from word to word.
#[derive(Debug, Default)]
pub(super) struct FlatPath {
    /// Per position.
    paths: Vec<Path>,
    /// The pieces of the best path in reverse order: end position and number.
    found: Vec<(u32, u32)>,
}

/// The best path that ends at a position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path {
    score: f64,
    /// Start of the last piece, and above it the number of that piece.
    piece: u64,
}

impl Path {
    const UNREACHED: Self = Self { score: f64::NEG_INFINITY, piece: 0 };
}

/// A position that pieces start at: the end of the best path so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct SoFar {
    start: u64,
    score: f64,
}

impl SoFar {
    /// Offers a piece that starts here to the path to its end. `piece` is its number.
    #[inline(always)]
    pub(super) fn offer(self, path: &mut Path, score: f64, piece: u32) {
        let score = score + self.score;
        let is_better = score > path.score;
        path.score = if is_better { score } else { path.score };
        path.piece = std::hint::select_unpredictable(is_better, u64::from(piece) << 32 | self.start, path.piece);
    }
}

impl FlatPath {
    /// Searches a word of `len` bytes, at most [`MAX_LEN`]. `extend` gets a position, and the paths
    /// to each position after it. It offers the pieces that start there, at least the character,
    /// and returns the length of that character. `write` takes start, end and number of each piece
    /// of the best path, in order.
    #[inline(always)]
    pub(super) fn search(
        &mut self,
        len: usize,
        mut extend: impl FnMut(usize, SoFar, &mut [Path]) -> usize,
        mut write: impl FnMut(usize, usize, u32),
    ) {
        debug_assert!(len <= MAX_LEN);
        let Self { paths, found } = self;
        paths.clear();
        paths.grow(len + 1);
        paths.resize(len + 1, Path::UNREACHED);
        paths[0].score = 0.0;
        let mut start = 0;
        while start < len {
            let (path, after) = paths[start..].split_first_mut().expect("each position has a path");
            start += extend(start, SoFar { start: start as u64, score: path.score }, after);
        }
        found.clear();
        found.grow(len);
        let mut end = len;
        while end > 0 {
            let piece = paths[end].piece;
            found.push((end as u32, (piece >> 32) as u32));
            end = piece as u32 as usize;
        }
        let mut start = 0;
        for &(end, piece) in found.iter().rev() {
            write(start, end as usize, piece);
            start = end as usize;
        }
    }
}
