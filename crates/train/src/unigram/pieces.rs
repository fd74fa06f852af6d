//! The pieces, and which of them start at a position.
//!
//! The pieces that start at a position are the prefixes of one another. So each position has its
//! longest piece, and each piece its parent: the next shorter piece that is a prefix of it. No trie
//! is needed, and a position takes four bytes.

use super::digamma::digamma;

/// No piece: the parent of a character, and the longest piece of a NUL.
pub(super) const NONE: u32 = u32::MAX;
/// Characters without a piece cost this much more than the piece with the lowest score.
const UNKNOWN_PENALTY: f64 = 10.0;
/// Pieces with a lower expected count leave.
const MIN_EXPECTED: f64 = 0.5;

/// A piece.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Piece {
    /// Where the text of all words has it.
    pub at: u32,
    /// Its length in characters.
    pub len: u32,
    /// The longest other piece that is a prefix of it.
    pub parent: u32,
    /// Its log probability.
    pub score: f64,
    /// Whether it is in the vocabulary. Otherwise, it is a character that is unknown.
    pub listed: bool,
}

/// All pieces in the order in which the reference lists them, and all characters without a piece.
#[derive(Debug)]
pub(super) struct Pieces {
    pub pieces: Vec<Piece>,
    /// The longest piece at each position of the text of all words.
    pub longest: Vec<u32>,
    /// The lowest score; 0 if there are no pieces.
    pub min_score: f64,
    listed: usize,
}

impl Pieces {
    pub(super) fn new(pieces: Vec<Piece>, longest: Vec<u32>) -> Self {
        let mut new = Self { pieces, longest, min_score: 0.0, listed: 0 };
        new.summarize();
        new
    }

    /// The number of pieces in the vocabulary.
    pub(super) fn listed(&self) -> usize {
        self.listed
    }

    /// Counts pieces, finds the lowest score, and gives it to unknown characters, with the penalty.
    fn summarize(&mut self) {
        let listed = || self.pieces.iter().filter(|piece| piece.listed);
        self.listed = listed().count();
        let min_score = listed().map(|piece| piece.score).fold(f64::INFINITY, f64::min);
        self.min_score = if min_score.is_finite() { min_score } else { 0.0 };
        let unknown = self.unknown_score();
        self.pieces.iter_mut().filter(|piece| !piece.listed).for_each(|piece| piece.score = unknown);
    }

    /// The score of a character without a piece.
    pub(super) fn unknown_score(&self) -> f64 {
        self.min_score - UNKNOWN_PENALTY
    }

    /// Gives each piece a score by its expected count. Pieces that are not expected leave.
    pub(super) fn maximize(&mut self, expected: &[f64]) {
        for (piece, &count) in self.pieces.iter_mut().zip(expected) {
            piece.listed &= count >= MIN_EXPECTED;
        }
        let listed = self.pieces.iter().zip(expected).filter(|(piece, _)| piece.listed);
        let total = digamma(listed.map(|(_, count)| count).sum());
        for (piece, &count) in self.pieces.iter_mut().zip(expected).filter(|(piece, _)| piece.listed) {
            piece.score = digamma(count) - total;
        }
        let order: Vec<u32> = (0..self.pieces.len() as u32).collect();
        self.keep(&order);
    }

    /// Brings pieces into an order. Those that are not in it or not in the vocabulary leave;
    /// characters stay, as unknown ones.
    pub(super) fn keep(&mut self, order: &[u32]) {
        let mut in_order = vec![false; self.pieces.len()];
        order.iter().for_each(|&id| in_order[id as usize] = true);
        let mut new_ids = vec![NONE; self.pieces.len()];
        let mut kept = Vec::with_capacity(order.len());
        let left_out = (0..self.pieces.len() as u32).filter(|&id| !in_order[id as usize]);
        for id in order.iter().copied().chain(left_out) {
            let mut piece = self.pieces[id as usize];
            piece.listed &= in_order[id as usize];
            if piece.listed || piece.len == 1 {
                new_ids[id as usize] = kept.len() as u32;
                kept.push(piece);
            }
        }
        // What had a piece that leaves gets its longest prefix that stays. Shorter pieces come
        // first, so that one step is enough.
        let leaves = |id: &u32| new_ids[*id as usize] == NONE;
        let mut leaving: Vec<u32> = (0..self.pieces.len() as u32).filter(leaves).collect();
        leaving.sort_unstable_by_key(|&id| self.pieces[id as usize].len);
        for id in leaving {
            new_ids[id as usize] = new_ids[self.pieces[id as usize].parent as usize];
        }
        let new_id = |id: u32| if id == NONE { NONE } else { new_ids[id as usize] };
        kept.iter_mut().for_each(|piece| piece.parent = new_id(piece.parent));
        self.longest.iter_mut().for_each(|id| *id = new_id(*id));
        self.pieces = kept;
        self.summarize();
    }
}
