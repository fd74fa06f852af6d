//! The models of SentencePiece files, with the arithmetic and the ties of the `sentencepiece`
//! library.
//!
//! - [`unigram`]: the best path, in 32-bit floats.
//! - [`bpe`]: merging by score, with the merges of [`crate::bpe`]. Unused pieces are merged too,
//!   and split again at the end.
//!
//! They differ from the models of a tokenizer.json: scores are 32-bit, user-defined symbols and
//! unused pieces have rules of their own, pairs of equal score merge from left to right, and a run
//! of unknown characters is not looked up as a piece. The whole normalized text is one word, which
//! is cut where BPE proves that no piece crosses.
//!
//! `naive` does the same by definition, slowly; tests and fuzz targets compare the two.

pub(crate) mod bpe;
mod unigram;

use std::sync::Arc;

use self::bpe::{PieceMergeScratch, PieceMerger};
use crate::bpe::{Bpe, MergeScratch, Symbol};
use crate::error::EncodeError;
use crate::memory::fallible::push;
use crate::model::best_path::BestPath;
use crate::model::unigram::character_len;
use crate::normalizer::sentencepiece::{META_SYMBOL, symbol_length};
use crate::trie::{Start, Trie};

/// The type of a piece, as the file has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceKind {
    Normal,
    Unknown,
    /// Never matched in text.
    Control,
    /// Always matched where a text contains it, before any other piece.
    UserDefined,
    Byte,
    /// Merged by BPE and split again at the end; ignored by Unigram.
    Unused,
}

impl PieceKind {
    /// Whether pieces of this kind are matched in text.
    pub(crate) fn is_in_text(self) -> bool {
        matches!(self, Self::Normal | Self::UserDefined | Self::Unused)
    }
}

/// The algorithm that splits text into pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Unigram,
    Bpe,
    /// A piece starts at each `▁`.
    Words,
    Characters,
}

/// Stands for the unknown piece in a model without one. Such a model has byte fallback, so that no
/// token of a text is unknown.
pub(crate) const NO_PIECE: u32 = u32::MAX;

/// The parts of a model, as the file has them.
#[derive(Debug)]
pub(crate) struct ModelParts {
    pub(crate) method: Method,
    /// The kind of each piece, by id.
    pub(crate) kinds: Vec<PieceKind>,
    /// The score of each piece, by id.
    pub(crate) scores: Vec<f32>,
    /// Normal, user-defined and unused pieces. Empty for BPE, whose merges have them.
    pub(crate) pieces: Trie,
    /// The user-defined symbols, if there are any.
    pub(crate) symbols: Option<Arc<Trie>>,
    /// The unknown piece, or [`NO_PIECE`].
    pub(crate) unk_id: u32,
    /// With byte fallback: the piece of each byte.
    pub(crate) bytes: Option<Box<[u32; 256]>>,
}

/// A model. Immutable; a worker's state is in [`SentencePieceScratch`].
#[derive(Debug)]
pub(crate) struct SentencePiece {
    parts: ModelParts,
    /// The node of `pieces` from which a search starts.
    start: Start,
    /// Unigram: the score of a character that is not a piece.
    unknown_score: f32,
    /// BPE: the merges.
    merger: Option<PieceMerger>,
}

/// Difference between the lowest score and the score of an unknown character.
const UNKNOWN_PENALTY: f32 = 10.0;

/// Buffers, reused from text to text.
#[derive(Debug, Default)]
pub(crate) struct SentencePieceScratch {
    unigram: BestPath<f32>,
    bpe: PieceMergeScratch,
}

impl SentencePieceScratch {
    /// Releases buffers that a long text made grow.
    pub(crate) fn trim(&mut self) {
        self.unigram.trim();
        self.bpe.trim();
    }
}

impl SentencePiece {
    /// `texts` are those of all pieces, by id. With `reads_spaces` the normalizer changes nothing
    /// but spaces and the start of a text.
    pub(crate) fn new(parts: ModelParts, texts: &[&str], reads_spaces: bool) -> Self {
        let mut min_score = f32::MAX;
        for (&kind, &score) in parts.kinds.iter().zip(&parts.scores) {
            if kind == PieceKind::Normal {
                min_score = if score < min_score { score } else { min_score };
            }
        }
        let merger = (parts.method == Method::Bpe).then(|| PieceMerger::new(&parts, texts, reads_spaces));
        let start = parts.pieces.start(parts.pieces.root());
        Self { start, parts, unknown_score: min_score - UNKNOWN_PENALTY, merger }
    }

    /// BPE: the merges.
    pub(crate) fn bpe(&self) -> Option<&Bpe> {
        self.merger.as_ref().map(|merger| &merger.bpe)
    }

    /// Makes the model take every text as one word.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn forget_split_points(&mut self) {
        if let Some(merger) = &mut self.merger {
            (merger.bpe.split_points, merger.bpe.reads_spaces) = (None, false);
        }
    }

    /// Appends the tokens of a text.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(crate) fn tokenize(
        &self,
        text: &[u8],
        scratch: &mut SentencePieceScratch,
        merge_scratch: &mut MergeScratch,
        out: &mut Vec<Symbol>,
    ) -> Result<(), EncodeError> {
        let mut writer = PieceWriter { model: self, after_unknown: false, out };
        match self.parts.method {
            Method::Bpe => self.merge(text, (&mut scratch.bpe, merge_scratch), &mut writer)?,
            Method::Unigram => self.unigram(text, &mut scratch.unigram, &mut writer),
            Method::Words => {
                let mut start = 0;
                while start < text.len() {
                    let mut buffer = [0; 4];
                    let meta_symbol = META_SYMBOL.encode_utf8(&mut buffer).as_bytes();
                    let next = memchr::memmem::find(&text[start + 1..], meta_symbol);
                    let end = next.map_or(text.len(), |at| start + 1 + at);
                    writer.write(end - start, &text[start..end], self.id(&text[start..end]));
                    start = end;
                }
            }
            Method::Characters => {
                let mut start = 0;
                while start < text.len() {
                    let length = self.first(&text[start..]);
                    let part = &text[start..start + length];
                    writer.write(length, part, self.id(part));
                    start += length;
                }
            }
        }
        Ok(())
    }

    /// The length of the user-defined symbol or of the character that a text starts with.
    fn first(&self, text: &[u8]) -> usize {
        let symbol = self.parts.symbols.as_ref().and_then(|symbols| symbol_length(symbols, text));
        symbol.unwrap_or_else(|| character_len(text[0]).min(text.len()))
    }

    /// The id of a piece that can occur in text; otherwise that of the unknown piece.
    fn id(&self, piece: &[u8]) -> u32 {
        let ModelParts { pieces, kinds, unk_id, .. } = &self.parts;
        pieces.id(piece).filter(|&id| kinds[id as usize] != PieceKind::Unused).unwrap_or(*unk_id)
    }

    pub(crate) fn unk_id(&self) -> Option<u32> {
        (self.parts.unk_id != NO_PIECE).then_some(self.parts.unk_id)
    }

    pub(crate) fn is_unknown(&self, id: u32) -> bool {
        id == self.parts.unk_id
    }

    /// Whether there are user-defined symbols.
    pub(crate) fn has_symbols(&self) -> bool {
        self.parts.symbols.is_some()
    }

    /// Whether a character that is a normal piece is never a part of an unknown piece.
    pub(crate) fn keeps_known_characters(&self) -> bool {
        matches!(self.parts.method, Method::Unigram | Method::Bpe | Method::Characters)
    }

    /// Whether an id is that of a normal piece.
    pub(crate) fn is_normal(&self, id: u32) -> bool {
        self.parts.kinds.get(id as usize) == Some(&PieceKind::Normal)
    }

    /// Whether every character of a text is in a piece, and no piece covers a run of unbounded
    /// length.
    pub(crate) fn spells_words(&self) -> bool {
        self.parts.bytes.is_some()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let ModelParts { kinds, scores, pieces, symbols, .. } = &self.parts;
        let symbols = symbols.as_ref().map_or(0, |trie| trie.memory_bytes());
        let merger = self.merger.as_ref().map_or(0, PieceMerger::memory_bytes);
        let scores = kinds.capacity() + scores.capacity() * 4;
        scores + pieces.memory_bytes() + self.start.memory_bytes() + symbols + merger
    }
}

/// Writes pieces as tokens: bytes for unknown pieces, or one token for a run of them.
struct PieceWriter<'a> {
    model: &'a SentencePiece,
    after_unknown: bool,
    out: &'a mut Vec<Symbol>,
}

impl PieceWriter<'_> {
    fn write(&mut self, length: usize, piece: &[u8], id: u32) {
        let (len, is_unknown) = (length as u32, self.model.is_unknown(id));
        let after_unknown = std::mem::replace(&mut self.after_unknown, is_unknown);
        match (&self.model.parts.bytes, self.out.last_mut()) {
            (Some(bytes), _) if is_unknown => {
                for (index, &byte) in piece.iter().enumerate() {
                    let len = if index == 0 { len } else { Symbol::SAME };
                    push(self.out, Symbol { id: bytes[usize::from(byte)], len });
                }
            }
            (None, Some(last)) if is_unknown && after_unknown => last.len += len,
            _ => push(self.out, Symbol { id, len }),
        }
    }
}
