//! Unigram: the pieces with the greatest sum of scores, as `EncodeOptimized` of the library.

use super::{Kind, SentencePiece, Writer};
use crate::memory::fallible::{append_copies, push};
use crate::model::unigram::character_len;

/// Buffers, reused from text to text.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Per position from the last flush on: the best path that ends there.
    paths: Vec<Path>,
    /// The pieces of the best path in reverse order: end position and id.
    pieces: Vec<(usize, u32)>,
}

impl Scratch {
    pub(super) fn trim(&mut self) {
        const KEEP: usize = 1 << 16;
        if self.paths.capacity() > KEEP || self.pieces.capacity() > KEEP {
            *self = Self::default();
        }
    }
}

/// The best path of pieces that ends at a position.
#[derive(Debug, Clone, Copy)]
struct Path {
    score: f32,
    /// Start of its last piece; [`NOWHERE`] while no piece ends here.
    start: u32,
    /// Id of its last piece.
    id: u32,
}

const NOWHERE: u32 = u32::MAX;
const UNREACHED: Path = Path { score: 0.0, start: NOWHERE, id: 0 };

/// After this many bytes the best path is written out at the next position that no piece crosses.
const FLUSH: usize = if cfg!(test) { 8 } else { 4096 };

impl SentencePiece {
    pub(super) fn unigram(&self, text: &[u8], scratch: &mut Scratch, writer: &mut Writer<'_>) {
        let Scratch { paths, pieces } = scratch;
        paths.clear();
        push(paths, Path { start: 0, ..UNREACHED });
        // Position 0 of `paths` is position `base` of the text; no piece so far ends behind
        // `reach`.
        let (mut base, mut start, mut reach) = (0, 0, 0);
        while start < text.len() {
            if start == reach && start - base >= FLUSH {
                write(text, base, start, paths, pieces, writer);
                let path = paths[start - base];
                paths.clear();
                push(paths, path);
                base = start;
            }
            let length = character_len(text[start]).min(text.len() - start);
            reach = reach.max(self.extend(text, start, base, length, paths));
            start += length;
        }
        write(text, base, text.len(), paths, pieces, writer);
    }

    /// Tries all pieces that start at a position. Returns the furthest end of a piece.
    fn extend(&self, text: &[u8], start: usize, base: usize, length: usize, paths: &mut Vec<Path>) -> usize {
        let so_far = paths[start - base].score;
        let mut is_piece = false;
        let mut furthest = start + length;
        let (mut node, mut end) = (self.parts.pieces.root(), start);
        while let Some((next, id)) = text.get(end).and_then(|&byte| self.parts.pieces.step(node, byte)) {
            node = next;
            end += 1;
            let Some(id) = id else { continue };
            let score = match self.parts.kinds[id as usize] {
                Kind::Unused => continue,
                // Computed in 64 bits and stored in 32, as in version 0.2.3 of the library: other
                // scores are rarely positive, so the symbol nearly always wins.
                Kind::UserDefined => ((end - start - 1) as f64 * 0.1) as f32,
                _ => self.parts.scores[id as usize],
            };
            offer(paths, start - base, end - base, score + so_far, id);
            is_piece |= end - start == length;
            furthest = furthest.max(end);
        }
        if !is_piece {
            let score = self.unknown_score + so_far;
            offer(paths, start - base, start + length - base, score, self.parts.unk_id);
        }
        furthest
    }
}

/// Takes a path to `end` if it is the first one or better than the one that is known.
fn offer(paths: &mut Vec<Path>, start: usize, end: usize, score: f32, id: u32) {
    if paths.len() <= end {
        append_copies(paths, UNREACHED, end + 1 - paths.len());
    }
    let path = &mut paths[end];
    if path.start == NOWHERE || score > path.score {
        *path = Path { score, start: start as u32, id };
    }
}

/// Writes the best path from `base` to `end`.
fn write(
    text: &[u8],
    base: usize,
    end: usize,
    paths: &[Path],
    pieces: &mut Vec<(usize, u32)>,
    writer: &mut Writer<'_>,
) {
    pieces.clear();
    let mut at = end - base;
    while at > 0 {
        let path = paths[at];
        push(pieces, (base + at, path.id));
        at = path.start as usize;
    }
    let mut start = base;
    for &(end, id) in pieces.iter().rev() {
        writer.write(end - start, &text[start..end], id);
        start = end;
    }
}
