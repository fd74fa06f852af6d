//! The `vocab` of a model: a map from tokens to ids, or a list of pieces with scores.

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

use super::json::{FileText, store_error};
use crate::error::LoadError;
use crate::memory::Grow;
use crate::vocab::Vocab;

/// The vocabulary as the file has it.
#[derive(Debug)]
pub(super) enum Entries {
    /// A map: BPE, WordPiece and WordLevel.
    Tokens(Vocab),
    /// A list: Unigram. The id of a piece is its index; scores are by id.
    Pieces(Vocab, Vec<f64>),
}

/// Reads a vocabulary of either form.
pub(super) struct VocabSeed<'f> {
    /// Set to the index of the piece that is being read.
    pub(super) piece: &'f mut Option<usize>,
    /// Receives errors that serde cannot carry.
    pub(super) error: &'f mut Option<LoadError>,
}

impl<'de> DeserializeSeed<'de> for VocabSeed<'_> {
    type Value = Entries;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Entries, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for VocabSeed<'_> {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map from tokens to ids, or a list of pieces with their scores")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
        let mut builder = Vocab::builder(0, 0);
        while let Some(FileText(token)) = map.next_key()? {
            let id: u32 = map.next_value()?;
            builder.push(token.as_bytes(), id).map_err(|error| store_error(self.error, error))?;
        }
        builder.finish().map(Entries::Tokens).map_err(|error| store_error(self.error, error))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Entries, A::Error> {
        let (mut builder, mut scores) = (Vocab::builder(0, 0), vec![]);
        *self.piece = Some(0);
        while let Some((FileText(piece), score)) = list.next_element::<(FileText<'de>, f64)>()? {
            let id = u32::try_from(scores.len()).ok().filter(|&id| id < u32::MAX).ok_or(LoadError::TooLarge {
                what: "the list of pieces",
                size: scores.len() as u64,
                limit: u32::MAX.into(),
            });
            let pushed = id.and_then(|id| builder.push(piece.as_bytes(), id));
            pushed.map_err(|error| store_error(self.error, error))?;
            scores.try_grow(1).map_err(|error| store_error(self.error, error.into()))?;
            scores.push(score);
            *self.piece = Some(scores.len());
        }
        *self.piece = None;
        let vocab = builder.finish_list().map_err(|error| store_error(self.error, error))?;
        Ok(Entries::Pieces(vocab, scores))
    }
}
