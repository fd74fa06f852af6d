//! The trainers: counted words become a tokenizer.json.

use std::borrow::Cow;

use serde::Deserialize;

use crate::bpe::{self, BpeVocabulary};
use crate::progress::{Meter, Phase};
use crate::save::{self, Model};
use crate::{Base, BpeOptions, TrainError, UnigramOptions, Watch, WordCounts, WordLevelOptions, unigram, wordlevel};

/// What makes a vocabulary of counted words.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type")]
pub enum Trainer {
    /// Merges the most frequent pair, again and again.
    #[serde(rename = "BpeTrainer")]
    Bpe(BpeOptions),
    /// The tokens of BPE, without its merges.
    #[serde(rename = "WordPieceTrainer")]
    WordPiece(BpeOptions),
    /// The most frequent words.
    #[serde(rename = "WordLevelTrainer")]
    WordLevel(WordLevelOptions),
    /// The pieces with the most probable segmentations.
    #[serde(rename = "UnigramTrainer")]
    Unigram(UnigramOptions),
}

impl Trainer {
    /// Reads a trainer from JSON: its type and its options, under the names of the reference.
    pub fn from_json(text: &str) -> Result<Self, TrainError> {
        serde_json::from_str(text).map_err(|error| TrainError::Option { option: "trainer", message: error.to_string() })
    }

    /// Trains on counted words, and returns a tokenizer.json: the base with the new vocabulary.
    /// Special tokens become added tokens beside those of the base. Added tokens have the id of the
    /// equal token of the model, or else the next free one. (The reference keeps the ids of the
    /// base, which then belong to other tokens, until the file is loaded again.)
    ///
    /// # What the words or options may lack
    ///
    /// As in the reference, BPE and WordPiece keep special tokens and the alphabet even if they are
    /// more than the vocabulary's size, and without words they are all there is; WordLevel then has
    /// its special tokens. A BPE, WordPiece or WordLevel model whose unknown token is no special
    /// token does not have it, and a text that needs it is an error when it is encoded
    /// (`ERR_TOKENLANE_UNKNOWN_TOKEN_MISSING`); a Unigram model gets it with the id 0. A base whose
    /// pre-tokenizer leaves a text in one piece makes it one word, up to 1 GiB: that takes n log n
    /// time like any other.
    ///
    /// # Errors
    ///
    /// [`TrainError::Option`] for an option out of range; for Unigram, [`TrainError::NoWords`] and
    /// [`TrainError::VocabularyTooSmall`] for a size below its alphabet and special tokens;
    /// [`TrainError::TooManyCharacters`] if the distinct words have 4 Gi characters or more;
    /// [`TrainError::Stopped`].
    pub fn train(&self, base: &Base, words: WordCounts, watch: &mut Watch<'_>) -> Result<String, TrainError> {
        let mut meter = Meter::new(watch);
        meter.phase(Phase::Words, words.len(), 0)?;
        let meter = &mut meter;
        match self {
            Self::Bpe(options) => {
                let BpeVocabulary { tokens, merges } = bpe::train(words, options, meter)?;
                save::tokenizer_json(base, Model::Bpe { tokens: &tokens, merges: &merges, options })
            }
            Self::WordPiece(options) => {
                let mut options = Cow::Borrowed(options);
                if options.continuing_subword_prefix.is_none() {
                    options.to_mut().continuing_subword_prefix = Some("##".to_owned());
                }
                let BpeVocabulary { tokens, .. } = bpe::train(words, &options, meter)?;
                save::tokenizer_json(base, Model::WordPiece { tokens: &tokens, options: &options })
            }
            Self::WordLevel(options) => {
                let tokens = wordlevel::train(&words, options);
                save::tokenizer_json(base, Model::WordLevel { tokens: &tokens, options })
            }
            Self::Unigram(options) => {
                let vocabulary = unigram::train(&words, options, meter)?;
                save::tokenizer_json(base, Model::Unigram { vocabulary: &vocabulary, options })
            }
        }
    }
}
