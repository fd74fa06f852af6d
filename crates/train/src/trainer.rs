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
    /// # Errors
    ///
    /// Options that contradict one another or the words, and [`TrainError::Stopped`].
    pub fn train(&self, base: &Base, words: &WordCounts, watch: &mut Watch<'_>) -> Result<String, TrainError> {
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
                let tokens = wordlevel::train(words, options);
                save::tokenizer_json(base, Model::WordLevel { tokens: &tokens, options })
            }
            Self::Unigram(options) => {
                let vocabulary = unigram::train(words, options, meter)?;
                save::tokenizer_json(base, Model::Unigram { vocabulary: &vocabulary, options })
            }
        }
    }
}
