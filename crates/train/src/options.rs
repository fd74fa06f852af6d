//! The options of the trainers, under the names of the reference.

use serde::{Deserialize, Serialize};

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
    /// What a token that continues a word begins with. Characters with a prefix or suffix are
    /// numbered behind the alphabet by the number of distinct words that have them, the highest
    /// first, then by code point; those of one character: with the suffix, with the prefix, with
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

/// The options of the trainer of Unigram.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UnigramOptions {
    /// The number of tokens, special tokens included. Default 8,000. There are fewer if words do
    /// not have enough pieces.
    pub vocab_size: usize,
    /// The part of the pieces that each round of pruning keeps, between 0 and 1. Default 0.75.
    pub shrinking_factor: f64,
    /// The tokens with the first ids.
    pub special_tokens: Vec<SpecialToken>,
    /// Characters of the alphabet, whether they occur or not. Of each string, the first character
    /// counts, as in the reference.
    pub initial_alphabet: Vec<String>,
    /// The token of unknown characters. It gets the id 0 if it is no special token. Default: none;
    /// then a text with an unknown character is an error.
    pub unk_token: Option<String>,
    /// The largest number of characters of a piece, from 1 to 256. Default 16.
    pub max_piece_length: usize,
    /// The number of estimates before each round of pruning. Default 2.
    pub n_sub_iterations: u32,
    /// The number of pieces to begin with. Default 1,000,000.
    pub seed_size: usize,
}

impl Default for UnigramOptions {
    fn default() -> Self {
        Self {
            vocab_size: 8_000,
            shrinking_factor: 0.75,
            special_tokens: Vec::new(),
            initial_alphabet: Vec::new(),
            unk_token: None,
            max_piece_length: 16,
            n_sub_iterations: 2,
            seed_size: 1_000_000,
        }
    }
}
