//! Unigram: the pieces with the greatest sum of scores, as computed by `EncodeOptimized` of the
//! library.

use std::convert::Infallible;

use super::{PieceKind, PieceWriter, SentencePiece};
use crate::model::best_path::{BestPath, Offers};
use crate::model::unigram::character_len;
use crate::text::MAX_CHARACTER_BYTES;

impl SentencePiece {
    pub(super) fn unigram(&self, text: &[u8], scratch: &mut BestPath<f32>, writer: &mut PieceWriter<'_>) {
        let longest = self.parts.pieces.longest().max(MAX_CHARACTER_BYTES);
        let extend =
            |start: usize, offers: &mut Offers<'_, f32>| Ok::<_, Infallible>(self.extend(&text[start..], offers));
        let write = |start: usize, end: usize, id: u32| writer.write(end - start, &text[start..end], id);
        let Ok(()) = scratch.search(text.len(), longest, extend, write);
    }

    /// Offers all pieces that start a text. Returns the length of its first character.
    #[inline(always)]
    fn extend(&self, text: &[u8], offers: &mut Offers<'_, f32>) -> usize {
        let length = character_len(text[0]);
        let mut is_piece = false;
        self.parts.pieces.for_each_prefix(&self.start, text, |len, id| {
            let score = match self.parts.kinds[id as usize] {
                PieceKind::Unused => return,
                // Computed in 64 bits and stored in 32, as in version 0.2.3 of the library: other
                // scores are rarely positive, so the symbol nearly always wins.
                PieceKind::UserDefined => ((len - 1) as f64 * 0.1) as f32,
                _ => self.parts.scores[id as usize],
            };
            offers.offer(len, score, id);
            is_piece |= len == length;
        });
        if !is_piece {
            offers.offer(length, self.unknown_score, self.parts.unk_id);
        }
        length
    }
}
