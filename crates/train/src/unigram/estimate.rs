//! Expected counts of pieces over all segmentations of the words (forward and backward sums).

use std::ops::Range;

use rayon::prelude::*;

use super::pieces::{NONE, Pieces};
use super::seeds::Corpus;
use crate::TrainError;
use crate::progress::Meter;

/// 2 to the power of 200.
const RAISE: f64 = (1_u128 << 100) as f64 * (1_u128 << 100) as f64;
/// A forward sum below this is multiplied by [`RAISE`], with all that is added to it later. Words
/// of any length have sums within the range of a number this way.
const LOW: f64 = 1.0 / RAISE;

/// What a segmentation reads of a piece.
#[derive(Clone, Copy)]
struct Edge {
    probability: f64,
    len: u32,
    parent: u32,
}

/// The words with what is the same for all estimates.
pub(super) struct Estimator<'a> {
    words: &'a [Counted],
    /// One occurrence as a fixed-point number: a power of two that keeps the sum of all characters
    /// of all texts below 2 to the power of 63.
    unit: f64,
}

impl<'a> Estimator<'a> {
    pub(super) fn new(corpus: &'a Corpus) -> Self {
        let characters: u128 = corpus.words.iter().map(|(word, count)| u128::from(*count) * word.len() as u128).sum();
        let bits = u128::BITS - characters.leading_zeros();
        Self { words: &corpus.words, unit: libm::exp2(62.0 - f64::from(bits)) }
    }

    /// The expected count of each piece.
    pub(super) fn expected(&self, pieces: &Pieces, meter: &mut Meter<'_>) -> Result<Vec<f64>, TrainError> {
        let unknown = Edge { probability: libm::exp(pieces.unknown_score()), len: 1, parent: NONE };
        let edge = |score, len, parent| Edge { probability: libm::exp(score), len, parent };
        let known = pieces.pieces.iter().map(|piece| edge(piece.score, piece.len, piece.parent));
        let edges: Vec<Edge> = known.chain([unknown]).collect();
        let longest = pieces.pieces.iter().map(|piece| piece.len as usize).max().unwrap_or(1);
        // Sums are of integers, so neither the parts nor their order matter.
        let start = || Sums { edges: &edges, longest, expected: vec![0; edges.len()], ..Sums::default() };
        let mut threads: Vec<Sums<'_>> = (0..rayon::current_num_threads()).map(|_| start()).collect();
        let mut left = self.words;
        while !left.is_empty() {
            let parts: Vec<_> = threads.iter_mut().map(|sums| (sums, self.part(&mut left))).collect();
            let characters = parts.iter().map(|(_, words)| length(words)).sum();
            parts.into_par_iter().for_each(|(sums, words)| {
                for (word, count) in words {
                    let word = &pieces.longest[word.start as usize..word.end as usize];
                    sums.add(word, *count as f64 * self.unit);
                }
            });
            meter.done(characters)?;
        }
        let sums = threads.into_iter().map(|sums| sums.expected).reduce(|mut left, right| {
            left.iter_mut().zip(right).for_each(|(left, right)| *left += right);
            left
        });
        let counts = sums.unwrap_or_default().into_iter().map(|sum| sum as f64 / self.unit);
        Ok(counts.take(pieces.pieces.len()).collect())
    }

    /// Takes words from the front: for less than a millisecond, or one.
    fn part(&self, left: &mut &'a [Counted]) -> &'a [Counted] {
        let end = left.first().map_or(0, |word| word.0.start.saturating_add(PART));
        let words = left.partition_point(|word| word.0.end <= end).max(1).min(left.len());
        let (part, others) = left.split_at(words);
        *left = others;
        part
    }
}

/// A word with its count.
type Counted = (Range<u32>, u64);

/// The characters that a thread works on between two reports.
const PART: u32 = 1 << 14;

fn length(words: &[Counted]) -> usize {
    words.iter().map(|(word, _)| word.len()).sum()
}

/// The sums of a part of the words.
#[derive(Default)]
struct Sums<'a> {
    /// The pieces, then the unknown one, for NUL.
    edges: &'a [Edge],
    /// The length of the longest piece.
    longest: usize,
    expected: Vec<u64>,
    /// Sums over the segmentations of what is before each position of a word, and behind it.
    forward: Vec<f64>,
    backward: Vec<f64>,
    /// The positions from which on forward sums are raised once more.
    raised: Vec<usize>,
}

impl Sums<'_> {
    /// Adds the expected counts of a word, given by its longest pieces; `count` is in units.
    fn add(&mut self, word: &[u32], count: f64) {
        let Self { edges, longest, expected, forward, backward, raised } = self;
        let unknown = edges.len() as u32 - 1;
        forward.clear();
        forward.resize(word.len() + 1, 0.0);
        backward.clear();
        backward.resize(word.len() + 1, 0.0);
        raised.clear();
        forward[0] = 1.0;
        for (at, &id) in word.iter().enumerate() {
            if forward[at] < LOW {
                let end = (at + *longest).min(word.len() + 1);
                forward[at..end].iter_mut().for_each(|sum| *sum *= RAISE);
                raised.push(at);
            }
            let before = forward[at];
            let mut id = id.min(unknown);
            while id != NONE {
                let edge = &edges[id as usize];
                forward[at + edge.len as usize] += before * edge.probability;
                id = edge.parent;
            }
        }
        let share = count / forward[word.len()];
        backward[word.len()] = 1.0;
        for (at, &id) in word.iter().enumerate().rev() {
            let before = forward[at] * share;
            let mut sum = 0.0;
            let mut id = id.min(unknown);
            while id != NONE {
                let edge = &edges[id as usize];
                let after = edge.probability * backward[at + edge.len as usize];
                sum += after;
                // Half a unit rounds. More than the count, or no number, are only possible for
                // segmentations so improbable that their sums are out of range.
                expected[id as usize] += ((before * after).min(count) + 0.5) as u64;
                id = edge.parent;
            }
            backward[at] = sum;
            if raised.last() == Some(&at) {
                raised.pop();
                let end = (at + *longest).min(word.len() + 1);
                backward[at..end].iter_mut().for_each(|sum| *sum = (*sum * RAISE).min(f64::MAX));
            }
        }
    }
}

/// The derivative of the logarithm of the gamma function, for numbers above 0.
pub(super) fn digamma(x: f64) -> f64 {
    // The asymptotic series at x - 1/2 is exact enough from 7 on; the recurrence leads there.
    let mut x = x;
    let mut below = 0.0;
    while x < 7.0 {
        below += 1.0 / x;
        x += 1.0;
    }
    let middle = x - 0.5;
    let square = 1.0 / (middle * middle);
    let series = 7.0 / 960.0 - square * (31.0 / 8064.0 - square * (127.0 / 30720.0));
    libm::log(middle) + square * (1.0 / 24.0 - square * series) - below
}
