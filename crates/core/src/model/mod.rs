//! The model of a tokenizer: it turns a word from the pre-tokenizer into tokens.
//!
//! - [`crate::bpe`]: byte pair encoding, for tokenizer.json and rank files.
//! - [`wordpiece`]: greedy longest match from the start of the word.
//! - [`interleaved`]: WordPiece for many words at once.
//! - [`best_path`]: the search of Unigram and of SentencePiece.
//! - [`flat_path`]: the same search for words of moderate length, without branches on scores.
//! - [`unigram`]: the segmentation with the greatest sum of scores.
//! - [`wordlevel`]: a word is one token, or the unknown token.
//! - [`sentencepiece`]: the models of SentencePiece files, exact as in the `sentencepiece` library.
//! - [`crate::automaton`]: the token lookup of WordPiece and Unigram for very long tokens; the
//!   shorter ones are in a [`crate::trie`].
//!
//! [`Model`] is chosen once, when a tokenizer is loaded. The word cache, offsets and columns are
//! the same for all models.

mod best_path;
mod flat_path;
mod interleaved;
pub(crate) mod sentencepiece;
pub(crate) mod unigram;
pub(crate) mod wordlevel;
pub(crate) mod wordpiece;

use std::borrow::Cow;

use crate::bpe::{Bpe, MergeScratch, Symbol};
use crate::error::EncodeError;
use crate::word_key::{self, Key};
pub(crate) use interleaved::InterleavedScratch;
pub(crate) use sentencepiece::SentencePiece;
pub(crate) use unigram::Unigram;
pub(crate) use wordlevel::WordLevel;
pub(crate) use wordpiece::WordPiece;

/// The model of one tokenizer.
#[allow(clippy::large_enum_variant, reason = "a tokenizer has one model, behind an Arc")]
#[derive(Debug)]
pub(crate) enum Model {
    Bpe(Bpe),
    WordPiece(WordPiece),
    Unigram(Unigram),
    WordLevel(WordLevel),
    SentencePiece(SentencePiece),
}

/// One worker's buffers, reused from word to word.
#[derive(Debug, Default)]
pub(crate) struct ModelScratch {
    pub(crate) merge: MergeScratch,
    unigram: unigram::Scratch,
    sentencepiece: sentencepiece::SentencePieceScratch,
}

impl ModelScratch {
    pub(crate) fn with_seed(seed: u64) -> Self {
        Self { merge: MergeScratch::with_seed(seed), ..Self::default() }
    }

    /// Releases buffers that a long word made grow.
    pub(crate) fn trim(&mut self) {
        self.merge.trim();
        self.unigram.trim();
        self.sentencepiece.trim();
    }
}

impl Model {
    /// Appends the tokens of a word whose key is known.
    #[inline]
    pub(crate) fn tokenize(
        &self,
        word: &[u8],
        key: Key,
        scratch: &mut ModelScratch,
        out: &mut Vec<Symbol>,
    ) -> Result<(), EncodeError> {
        match self {
            Self::Bpe(bpe) => bpe.tokenize(word, key, &mut scratch.merge, out),
            Self::WordPiece(model) => model.tokenize(word, out),
            Self::Unigram(model) => model.tokenize(word, &mut scratch.unigram, out),
            Self::WordLevel(model) => model.tokenize(word, out),
            Self::SentencePiece(model) => model.tokenize(word, &mut scratch.sentencepiece, &mut scratch.merge, out),
        }
    }

    pub(crate) fn bpe(&self) -> Option<&Bpe> {
        match self {
            Self::Bpe(bpe) => Some(bpe),
            Self::WordPiece(_) | Self::Unigram(_) | Self::WordLevel(_) | Self::SentencePiece(_) => None,
        }
    }

    /// The merges of a model that cuts long words into pieces.
    pub(crate) fn cutting_bpe(&self) -> Option<&Bpe> {
        let bpe = match self {
            Self::Bpe(bpe) => Some(bpe),
            Self::SentencePiece(model) => model.bpe(),
            Self::WordPiece(_) | Self::Unigram(_) | Self::WordLevel(_) => None,
        };
        bpe.filter(|bpe| bpe.split_points.is_some())
    }

    /// Whether the text has user-defined symbols, which the normalizer of a SentencePiece file
    /// finds too: each byte of one comes from all of it. So offsets need the normalizer.
    pub(crate) fn has_symbols(&self) -> bool {
        matches!(self, Self::SentencePiece(model) if model.has_symbols())
    }

    /// The merges of a model that can merge very long words part by part.
    pub(crate) fn bpe_in_parts(&self) -> Option<&Bpe> {
        match self {
            Self::Bpe(bpe) => Some(bpe),
            Self::SentencePiece(model) => model.bpe_in_parts(),
            Self::WordPiece(_) | Self::Unigram(_) | Self::WordLevel(_) => None,
        }
    }

    /// The tokens of a part of a word, given its merged symbols. `pieces` is a buffer.
    pub(crate) fn pieces_of<'s>(
        &self,
        part: &[u8],
        symbols: &'s [Symbol],
        pieces: &'s mut Vec<Symbol>,
    ) -> &'s [Symbol] {
        let Self::SentencePiece(model) = self else { return symbols };
        pieces.clear();
        model.write_symbols(part, symbols, pieces);
        pieces
    }

    /// Whether a word always has the same tokens, so that they can be cached. False with dropout.
    #[inline]
    pub(crate) fn is_deterministic(&self) -> bool {
        self.bpe().is_none_or(|bpe| bpe.dropout.is_none())
    }

    /// Whether some words have offsets that cannot be derived from ids alone.
    pub(crate) fn lengths_vary(&self) -> bool {
        match self {
            Self::Bpe(bpe) => bpe.lengths_vary(),
            Self::WordPiece(_) | Self::Unigram(_) | Self::WordLevel(_) | Self::SentencePiece(_) => true,
        }
    }

    /// Whether the model reads a space as the meta symbol that the pre-tokenizer would write.
    pub(crate) fn reads_spaces(&self) -> bool {
        self.cutting_bpe().is_some_and(|bpe| bpe.reads_spaces)
    }

    /// Whether every word becomes tokens that spell it: nothing is dropped, and no token covers a
    /// run of unbounded length.
    pub(crate) fn spells_words(&self) -> bool {
        match self {
            Self::Bpe(bpe) => bpe.alphabet.drops_nothing(),
            Self::Unigram(model) => model.knows_all_bytes(),
            Self::SentencePiece(model) => model.spells_words(),
            Self::WordPiece(_) | Self::WordLevel(_) => false,
        }
    }

    /// Whether [`Self::keeps_whole`] can hold for any token.
    pub(crate) fn has_self_tokens(&self) -> bool {
        match self {
            Self::Bpe(bpe) => bpe.has_self_tokens(),
            Self::Unigram(_) | Self::SentencePiece(_) => false,
            Self::WordPiece(_) | Self::WordLevel(_) => true,
        }
    }

    /// Whether the short word with this key, which is spelled like a token, is known to become that
    /// one token.
    #[inline]
    pub(crate) fn keeps_whole(&self, token: u32, key: Key) -> bool {
        match self {
            Self::Bpe(bpe) => bpe.is_self_token(token),
            Self::WordPiece(model) => model.keeps_whole(word_key::word(&key.to_le_bytes())),
            Self::Unigram(_) | Self::SentencePiece(_) => false,
            Self::WordLevel(_) => true,
        }
    }

    /// Whether a token can cover text other than its own that has the same length.
    #[inline]
    pub(crate) fn is_stand_in(&self, id: u32) -> bool {
        match self {
            Self::Unigram(model) => model.is_unknown(id),
            Self::SentencePiece(model) => model.is_unknown(id),
            _ => false,
        }
    }

    /// The id of the unknown piece of a SentencePiece model.
    pub(crate) fn sentencepiece_unk_id(&self) -> Option<u32> {
        match self {
            Self::SentencePiece(model) => model.unk_id(),
            Self::Unigram(model) => model.unk_id(),
            _ => None,
        }
    }

    /// Whether a token is the unknown token or one of byte fallback, which any text can become.
    pub(crate) fn is_fallback(&self, id: u32, token: &str) -> bool {
        let is_byte = token.len() == "<0x00>".len() && token.starts_with("<0x");
        match self {
            Self::Bpe(bpe) => bpe.alphabet.is_fallback(token),
            Self::WordPiece(model) => model.unk_id() == Some(id),
            Self::WordLevel(model) => model.is_unknown(id),
            Self::Unigram(model) => is_byte || model.is_unknown(id),
            Self::SentencePiece(model) => is_byte || model.is_unknown(id),
        }
    }

    /// The index of the only token of a word that may have another length than its id usually has.
    /// `None` if there may be several; the word is then encoded again to find the lengths.
    pub(crate) fn varying_token(&self, word: &[u8], ids: &[u32]) -> Option<usize> {
        match self {
            // The unknown token, or a first token that is spelled with the prefix. All other tokens
            // continue the word.
            Self::WordPiece(_) | Self::WordLevel(_) => (!ids.is_empty()).then_some(0),
            Self::Unigram(model) => model.varying_token(word, ids),
            Self::Bpe(_) | Self::SentencePiece(_) => None,
        }
    }

    /// The text of an unknown token that covers `text`, if it differs from the vocabulary's.
    pub(crate) fn unknown_text<'a>(&self, id: u32, text: &'a str) -> Option<Cow<'a, str>> {
        match self {
            Self::Unigram(model) => model.unknown_text(id, text),
            Self::SentencePiece(model) => model.is_unknown(id).then_some(Cow::Borrowed(text)),
            _ => None,
        }
    }

    /// The character that a space at the start of a word stands for.
    pub(crate) fn meta_symbol(&self) -> Option<char> {
        match self {
            Self::Unigram(model) => model.meta_symbol(),
            _ => None,
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::Bpe(bpe) => bpe.memory_bytes(),
            Self::WordPiece(model) => model.memory_bytes(),
            Self::Unigram(model) => model.memory_bytes(),
            Self::WordLevel(model) => model.memory_bytes(),
            Self::SentencePiece(model) => model.memory_bytes(),
        }
    }
}
