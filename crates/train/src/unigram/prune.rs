//! Leaves out pieces that cost the least likelihood.

use std::ops::Range;

use super::pieces::{NONE, Pieces};
use super::seeds::Corpus;
use crate::TrainError;
use crate::progress::Meter;

/// The best segmentation of a part of the text.
#[derive(Default)]
pub(super) struct Segmenter {
    /// For each position: the best score up to it, and the last piece.
    best: Vec<(f64, u32)>,
    /// The pieces of the best segmentation, the last one first. Unknown characters are [`NONE`].
    pub path: Vec<u32>,
}

impl Segmenter {
    /// Finds the best segmentation of a part of the text into pieces of at most `longest`
    /// characters, and returns its score. Of equal ones, that with the longest last piece counts.
    pub(super) fn segment(&mut self, pieces: &Pieces, part: Range<usize>, longest: usize) -> f64 {
        let Self { best, path } = self;
        let len = part.len();
        best.clear();
        best.resize(len + 1, (f64::NEG_INFINITY, NONE));
        best[0].0 = 0.0;
        for (at, &id) in pieces.longest[part].iter().enumerate() {
            let before = best[at].0;
            if id == NONE && before + pieces.unknown_score() > best[at + 1].0 {
                best[at + 1] = (before + pieces.unknown_score(), NONE);
            }
            let fits = longest.min(len - at);
            let mut id = id;
            while id != NONE {
                let piece = &pieces.pieces[id as usize];
                if piece.len as usize <= fits && before + piece.score > best[at + piece.len as usize].0 {
                    best[at + piece.len as usize] = (before + piece.score, id);
                }
                id = piece.parent;
            }
        }
        path.clear();
        let mut at = len;
        while at > 0 {
            let id = best[at].1;
            let piece = pieces.pieces.get(id as usize);
            path.push(if piece.is_some_and(|piece| piece.listed) { id } else { NONE });
            at -= piece.map_or(1, |piece| piece.len as usize);
        }
        best[len].0
    }
}

/// Leaves out pieces until `size` are left, one of which is the unknown piece. What a piece is
/// worth is estimated: each of its occurrences in the best segmentations of all words becomes the
/// best segmentation of the piece into other pieces.
pub(super) fn prune(
    pieces: &mut Pieces,
    corpus: &Corpus,
    size: usize,
    meter: &mut Meter<'_>,
) -> Result<(), TrainError> {
    let mut segmenter = Segmenter::default();
    // Occurrences of each piece, then of unknown characters.
    let mut counts = vec![0_u64; pieces.pieces.len() + 1];
    let index = |id: u32| (id as usize).min(pieces.pieces.len());
    let mut all_words = 0.0;
    for (word, count) in &corpus.words {
        segmenter.segment(pieces, word.start as usize..word.end as usize, usize::MAX);
        all_words += *count as f64;
        segmenter.path.iter().for_each(|&id| counts[index(id)] += count);
        meter.done(word.len())?;
    }
    let total: f64 = counts.iter().map(|&count| count as f64).sum();
    let (mut kept, mut candidates) = (Vec::new(), Vec::new());
    for (id, piece) in (0..).zip(&pieces.pieces).filter(|(_, piece)| piece.listed) {
        if piece.len == 1 {
            kept.push(id);
            continue;
        }
        meter.work(piece.len as usize)?;
        let count = counts[index(id)] as f64;
        if count == 0.0 {
            continue;
        }
        let part = piece.at as usize..(piece.at + piece.len) as usize;
        if segmenter.segment(pieces, part, piece.len as usize - 1) > piece.score {
            // Only rounding lets a segmentation have a piece that is worse than its parts.
            kept.push(id);
            continue;
        }
        let now = libm::log(count) - libm::log(total);
        // The number of all pieces stands where that of the parts belongs (huggingface/tokenizers
        // issue 2069). It decides what leaves, so it is kept.
        let total_without = libm::log(total + count * pieces.listed() as f64);
        // In the order of the text, as the reference adds them up.
        let parts = segmenter.path.iter().rev();
        let without: f64 = parts.map(|&id| libm::log(counts[index(id)] as f64 + count) - total_without).sum();
        candidates.push((count / all_words * (now - without), id));
    }
    candidates.sort_by(|left, right| right.0.total_cmp(&left.0));
    // The unknown piece is one of them.
    let left = size.saturating_sub(1 + kept.len());
    kept.extend(candidates.into_iter().take(left).map(|(_, id)| id));
    pieces.keep(&kept);
    Ok(())
}
