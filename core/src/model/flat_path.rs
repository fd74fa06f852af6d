//! The best path through a word of moderate length: [`super::best_path`] without branches on
//! scores.
//!
//! Whether a piece is better than another, and whether a prefix of the word is a piece at all,
//! cannot be predicted. So every prefix is offered, and the offer is taken by a conditional move.
//! All scores must be finite and moderate ([`MAX_SCORE`]), so that a position that no piece has
//! reached can have the score of negative infinity.

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
    /// The pieces of the best path in reverse order: end position and id.
    found: Vec<(u32, u32)>,
}

/// The best path that ends at a position.
#[derive(Debug, Clone, Copy)]
struct Path {
    /// The score, as bits.
    score: u64,
    /// Start of the last piece, and above it the id of that piece.
    piece: u64,
}

impl Path {
    const UNREACHED: Self = Self { score: f64::NEG_INFINITY.to_bits(), piece: 0 };
}

/// Receives the pieces that start at one position.
pub(super) struct FlatOffers<'a> {
    paths: &'a mut [Path],
    start: u64,
    so_far: f64,
}

impl FlatOffers<'_> {
    /// Offers a piece of `len` bytes, if `is_piece`. `len` does not exceed the rest of the word.
    #[inline(always)]
    pub(super) fn offer(&mut self, len: usize, score: f64, id: u32, is_piece: bool) {
        let path = &mut self.paths[len];
        let score = score + self.so_far;
        let is_better = (score > f64::from_bits(path.score)) & is_piece;
        path.score = std::hint::select_unpredictable(is_better, score.to_bits(), path.score);
        path.piece = std::hint::select_unpredictable(is_better, u64::from(id) << 32 | self.start, path.piece);
    }
}

impl FlatPath {
    /// Searches a word of `len` bytes, at most [`MAX_LEN`]. `extend` offers the pieces that start
    /// at a position, at least the character there, and returns the length of that character.
    /// `write` takes start, end and id of each piece of the best path, in order.
    #[inline(always)]
    pub(super) fn search(
        &mut self,
        len: usize,
        mut extend: impl FnMut(usize, &mut FlatOffers<'_>) -> usize,
        mut write: impl FnMut(usize, usize, u32),
    ) {
        debug_assert!(len <= MAX_LEN);
        let Self { paths, found } = self;
        paths.clear();
        paths.grow(len + 1);
        paths.resize(len + 1, Path::UNREACHED);
        paths[0].score = 0f64.to_bits();
        let mut start = 0;
        while start < len {
            let paths = &mut paths[start..];
            let so_far = f64::from_bits(paths[0].score);
            start += extend(start, &mut FlatOffers { paths, start: start as u64, so_far });
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
        for &(end, id) in found.iter().rev() {
            write(start, end as usize, id);
            start = end as usize;
        }
    }
}
