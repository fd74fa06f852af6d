//! The trainers and their options, under the names of the reference.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::bpe::{self, BpeVocabulary};
use crate::save::{self, Model};
use crate::{Base, TrainError, WordCounts, wordlevel};

/// A token that is found in texts before the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SpecialTokenForm")]
pub struct SpecialToken {
    /// The text of the token.
    pub content: String,
    /// Whether it matches whole words only.
    pub single_word: bool,
    /// Whether it takes the whitespace before it.
    pub lstrip: bool,
    /// Whether it takes the whitespace after it.
    pub rstrip: bool,
    /// Whether it is found in normalized text.
    pub normalized: bool,
    /// Whether decoding can skip it.
    pub special: bool,
}

impl From<&str> for SpecialToken {
    fn from(content: &str) -> Self {
        Self {
            content: content.to_owned(),
            single_word: false,
            lstrip: false,
            rstrip: false,
            normalized: false,
            special: true,
        }
    }
}

/// A string, or an object of which only the content is necessary.
#[derive(Deserialize)]
#[serde(untagged)]
enum SpecialTokenForm {
    Content(String),
    #[serde(rename_all = "snake_case")]
    Object {
        content: String,
        #[serde(default)]
        single_word: bool,
        #[serde(default)]
        lstrip: bool,
        #[serde(default)]
        rstrip: bool,
        #[serde(default)]
        normalized: bool,
    },
}

impl From<SpecialTokenForm> for SpecialToken {
    fn from(form: SpecialTokenForm) -> Self {
        match form {
            SpecialTokenForm::Content(content) => Self::from(content.as_str()),
            SpecialTokenForm::Object { content, single_word, lstrip, rstrip, normalized } => {
                Self { content, single_word, lstrip, rstrip, normalized, special: true }
            }
        }
    }
}

/// The options of the trainers of BPE and WordPiece.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BpeOptions {
    /// The number of tokens to end at. Special tokens and the alphabet are kept even if they are
    /// more. Default 30,000.
    pub vocab_size: usize,
    /// The smallest count of a pair that is merged. Default 0; a pair without occurrences is never
    /// merged.
    pub min_frequency: u64,
    /// The tokens with the first ids.
    pub special_tokens: Vec<SpecialToken>,
    /// The largest number of characters of the alphabet: the most frequent ones, of equally
    /// frequent ones those of the lowest code points. Default: no limit.
    pub limit_alphabet: Option<usize>,
    /// Characters of the alphabet, whether they occur or not. Of each string, the first character
    /// counts, as in the reference.
    pub initial_alphabet: Vec<String>,
    /// What a token that continues a word begins with. Characters with it are numbered by
    /// character, then prefix, then suffix: without either, with the suffix, with the prefix, with
    /// both. For WordPiece, the default is `##`.
    pub continuing_subword_prefix: Option<String>,
    /// What a token at the end of a word ends with.
    pub end_of_word_suffix: Option<String>,
    /// The largest number of characters of a token. Default: no limit.
    pub max_token_length: Option<usize>,
}

impl Default for BpeOptions {
    fn default() -> Self {
        Self {
            vocab_size: 30_000,
            min_frequency: 0,
            special_tokens: Vec::new(),
            limit_alphabet: None,
            initial_alphabet: Vec::new(),
            continuing_subword_prefix: None,
            end_of_word_suffix: None,
            max_token_length: None,
        }
    }
}

/// The options of the trainer of WordLevel.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WordLevelOptions {
    /// The largest number of tokens. Default 30,000.
    pub vocab_size: usize,
    /// The smallest count of a word that becomes a token. Default 0.
    pub min_frequency: u64,
    /// The tokens with the first ids.
    pub special_tokens: Vec<SpecialToken>,
}

impl Default for WordLevelOptions {
    fn default() -> Self {
        Self { vocab_size: 30_000, min_frequency: 0, special_tokens: Vec::new() }
    }
}

/// What makes a vocabulary of counted words.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
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
}

impl Trainer {
    /// Trains on counted words, and returns a tokenizer.json: the base with the new vocabulary.
    /// Special tokens become added tokens beside those of the base. Added tokens have the id of the
    /// equal token of the model, or else the next free one. (The reference keeps the ids of the
    /// base, which then belong to other tokens, until the file is loaded again.)
    pub fn train(&self, base: &Base, words: &WordCounts) -> Result<String, TrainError> {
        match self {
            Self::Bpe(options) => {
                let BpeVocabulary { tokens, merges } = bpe::train(words, options)?;
                save::tokenizer_json(base, Model::Bpe { tokens: &tokens, merges: &merges, options })
            }
            Self::WordPiece(options) => {
                let mut options = Cow::Borrowed(options);
                if options.continuing_subword_prefix.is_none() {
                    options.to_mut().continuing_subword_prefix = Some("##".to_owned());
                }
                let BpeVocabulary { tokens, .. } = bpe::train(words, &options)?;
                save::tokenizer_json(base, Model::WordPiece { tokens: &tokens, options: &options })
            }
            Self::WordLevel(options) => {
                let tokens = wordlevel::train(words, options);
                save::tokenizer_json(base, Model::WordLevel { tokens: &tokens, options })
            }
        }
    }
}
