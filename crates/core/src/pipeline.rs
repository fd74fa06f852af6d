//! The stages of a tokenizer with their tables, as a file defines them.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::bpe::{Merges, Spaces, Symbol};
use crate::decoder::Decoder;
use crate::decoder::sentencepiece::SentencePieceDecoder;
use crate::decoder::token_table::{MIN_IDS, TokenTable};
use crate::error::DecodeError;
use crate::model::Model;
use crate::normalizer::{self, Normalizer};
use crate::options::DecodeOptions;
use crate::parts::{Parts, Source};
use crate::post_processor::PostProcessor;
use crate::pretokenizer::PreTokenizer;
use crate::pretokenizer::scanner::Scanner;
use crate::segmenter::Segmenter;
use crate::token_lens::TokenLens;
use crate::vocab::TokenForm;

/// Everything that encoders, the decoder and the writer of files need to know about a tokenizer.
/// Immutable.
#[derive(Debug)]
pub(crate) struct Pipeline {
    /// What it was built from.
    pub(crate) parts: Parts,
    pub(crate) token_form: TokenForm,
    pub(crate) token_lens: TokenLens,
    pub(crate) normalizer: Option<Normalizer>,
    pub(crate) pretokenizer: PreTokenizer,
    /// Replaces normalizer and pre-tokenizer for most texts, if the combination has a segmenter.
    pub(crate) segmenter: Option<Segmenter>,
    /// Replaces the last stages of the pre-tokenizer, which split text into words, if there is a
    /// scanner for them. The stages that remain in `pretokenizer` then do not split.
    pub(crate) scanner: Option<Scanner>,
    /// Whether a stage needs the position of its text in the original, even if offsets are not
    /// requested.
    pub(crate) needs_origins: bool,
    /// Set if the model can read all of a text but its first piece with its spaces, which the
    /// pipeline would replace by the meta symbol.
    pub(crate) spaces: Option<Spaces>,
    pub(crate) model: Arc<Model>,
    pub(crate) post_processor: PostProcessor,
    pub(crate) decoder: Decoder,
    /// Built when the first long text is decoded.
    pub(crate) token_table: OnceLock<Option<TokenTable>>,
}

/// The tables that stages are built from, apart from the vocabulary. Tokenizers that differ only in
/// their parts share them.
#[derive(Debug)]
pub(crate) enum Tables {
    /// The merges of BPE.
    Merges(Arc<Merges>),
    /// The scores of Unigram, by id.
    Scores(Arc<[f64]>),
    /// WordPiece and WordLevel need only the vocabulary.
    VocabularyOnly,
    /// The model of a rank file. It has no settings.
    Ranks(Arc<Model>),
    /// The stages of a SentencePiece file. They have no settings either.
    SentencePiece {
        normalizer: Option<Arc<normalizer::sentencepiece::SentencePiece>>,
        model: Arc<Model>,
        decoder: Option<Arc<SentencePieceDecoder>>,
    },
}

impl Pipeline {
    /// The tables of the tokenizer, for another one that shares them.
    pub(crate) fn tables(&self) -> Tables {
        match (&self.parts.source, &*self.model) {
            (Source::Ranks(_), _) => Tables::Ranks(Arc::clone(&self.model)),
            (Source::SentencePiece, _) | (_, Model::SentencePiece(_)) => Tables::SentencePiece {
                normalizer: self.normalizer.as_ref().and_then(Normalizer::as_sentencepiece).cloned(),
                model: Arc::clone(&self.model),
                decoder: self.decoder.as_sentencepiece().cloned(),
            },
            (_, Model::Bpe(bpe)) => Tables::Merges(Arc::clone(&bpe.merges)),
            (_, Model::Unigram(model)) => Tables::Scores(Arc::clone(model.scores())),
            (_, Model::WordPiece(_) | Model::WordLevel(_)) => Tables::VocabularyOnly,
        }
    }

    /// Fails at the first unknown id, if that is an error. `before` is the number of ids that were
    /// checked before.
    pub(crate) fn check_ids(&self, ids: &[u32], before: usize) -> Result<(), DecodeError> {
        match self.token_form {
            TokenForm::Ranks => match ids.iter().position(|&id| self.token_bytes(id).is_none()) {
                Some(index) => Err(DecodeError::UnknownId { id: ids[index], index: before + index }),
                None => Ok(()),
            },
            TokenForm::Text | TokenForm::Printable => Ok(()),
        }
    }

    /// The tokens of ids, as input of the decoder.
    pub(crate) fn decoded_tokens<'a>(
        &'a self,
        ids: &'a [u32],
        options: DecodeOptions,
    ) -> impl Iterator<Item = &'a [u8]> {
        ids.iter().filter_map(|&id| self.token_bytes(id)).filter(move |token| self.is_decoded(token, options))
    }

    /// Whether a token is not left out.
    fn is_decoded(&self, token: &[u8], options: DecodeOptions) -> bool {
        !options.skip_special_tokens
            || !std::str::from_utf8(token).is_ok_and(|token| self.parts.added_tokens.is_special(token))
    }

    /// The bytes that an id decodes to.
    pub(crate) fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        self.parts.added_tokens.decoded_form(id).map(str::as_bytes).or_else(|| self.parts.vocab.token(id))
    }

    /// The bytes of ids, for a decoder that only joins the texts of its tokens. `None` if it does
    /// more, for an unknown id that is an error, and for more bytes than `limit`.
    pub(crate) fn joined_tokens(&self, ids: &[u32], options: DecodeOptions, limit: usize) -> Option<Vec<u8>> {
        if !self.decoder.joins_mapped_tokens() {
            return None;
        }
        if ids.len() < MIN_IDS && self.token_table.get().is_none() {
            let mut bytes = Vec::new();
            for &id in ids {
                self.append_token(id, options, &mut bytes)?;
                if bytes.len() > limit {
                    return None;
                }
            }
            return Some(bytes);
        }
        let table = self.token_table.get_or_init(|| {
            // Added tokens get no block, because options can leave them out.
            TokenTable::new(self.parts.vocab.dense_ids(), |id, text| {
                let is_added = self.parts.added_tokens.decoded_form(id).is_some();
                self.parts.vocab.token(id).filter(|_| !is_added).map(|token| self.decoder.append_mapped(token, text))
            })
        });
        table.as_ref()?.join(ids, |id| self.joined_token(id, options), limit)
    }

    /// The text of an id, if the decoder joins such texts. `None` also if the id is an error.
    pub(crate) fn joined_token(&self, id: u32, options: DecodeOptions) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        self.append_joined(id, options, &mut text)?;
        Some(text)
    }

    /// Appends what [`Self::joined_token`] returns.
    pub(crate) fn append_joined(&self, id: u32, options: DecodeOptions, text: &mut Vec<u8>) -> Option<()> {
        if self.decoder.joins_mapped_tokens() { self.append_token(id, options, text) } else { None }
    }

    /// Appends the text of an id, for a decoder that joins such texts. `None` if it is an error.
    fn append_token(&self, id: u32, options: DecodeOptions, text: &mut Vec<u8>) -> Option<()> {
        match self.token_bytes(id) {
            Some(token) if self.is_decoded(token, options) => self.decoder.append_mapped(token, text),
            None if self.token_form == TokenForm::Ranks => return None,
            _ => {}
        }
        Some(())
    }

    /// A token of the model, spelled as in the vocabulary.
    pub(crate) fn model_token(&self, id: u32) -> Option<Cow<'_, str>> {
        self.parts.vocab.token(id).map(String::from_utf8_lossy)
    }

    /// The number of bytes of the model's text that a token covers, unless the word makes it vary.
    #[inline]
    pub(crate) fn token_len(&self, id: u32) -> u32 {
        self.token_lens.get(&self.parts.vocab, id)
    }

    /// Whether the offsets of a word's tokens cannot be derived from their ids: a symbol has
    /// another length than its token, or a byte of the word is in no symbol.
    #[inline]
    pub(crate) fn lengths_vary(&self, word: &[u8], symbols: &[Symbol]) -> bool {
        self.model.lengths_vary() && self.has_other_lengths(word, symbols)
    }

    /// [`Self::lengths_vary`] for a model in which that can happen.
    fn has_other_lengths(&self, word: &[u8], symbols: &[Symbol]) -> bool {
        if let Model::WordPiece(model) = &*self.model {
            return model.lengths_vary(word, symbols);
        }
        let mut covered = 0;
        let varies = symbols.iter().any(|symbol| {
            covered += symbol.len as usize;
            self.token_len(symbol.id) != symbol.len || self.model.is_stand_in(symbol.id)
        });
        varies || covered != word.len()
    }
}
