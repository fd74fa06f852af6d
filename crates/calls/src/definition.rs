//! What the bytes of a file are loaded as.

use std::collections::{BTreeMap, HashMap};

#[cfg(feature = "napi")]
use napi_derive::napi;
use serde::{Deserialize, Serialize};
use tokenlane_core::{RankDefinition, Tokenizer, encoding_definition, encoding_file};

use crate::error::Failure;

/// How bytes are converted to a tokenizer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Definition {
    /// The format is detected from the bytes.
    Content,
    /// A rank file of the bundled encoding with this name.
    Encoding(String),
    /// A rank file with this pattern and these special tokens, sorted by their ids.
    Ranks {
        /// The pattern that splits text into words.
        pattern: String,
        /// The special tokens.
        special_tokens: Vec<(String, u32)>,
    },
}

impl Definition {
    /// Builds the tokenizer.
    pub fn build(&self, bytes: &[u8]) -> Result<Tokenizer, Failure> {
        Ok(match self {
            Self::Content => Tokenizer::from_bytes(bytes),
            Self::Encoding(name) => Tokenizer::from_encoding(name, bytes),
            Self::Ranks { pattern, special_tokens } => {
                let definition = RankDefinition { pattern: pattern.clone(), special_tokens: special_tokens.clone() };
                Tokenizer::from_ranks(bytes, &definition)
            }
        }?)
    }
}

/// The options of a load, as `lib/tokenizer.js` passes them.
#[cfg_attr(feature = "napi", napi(object))]
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadOptions {
    /// The name of the bundled encoding whose rank file the bytes are.
    pub encoding: Option<String>,
    /// The pattern that splits text into words, for a rank file.
    pub pattern: Option<String>,
    /// The special tokens of a rank file, with their ids.
    pub special_tokens: Option<HashMap<String, u32>>,
}

impl From<LoadOptions> for Definition {
    fn from(options: LoadOptions) -> Self {
        match options {
            LoadOptions { encoding: Some(name), .. } => Self::Encoding(name),
            LoadOptions { pattern: Some(pattern), special_tokens, .. } => {
                let mut special_tokens: Vec<_> = special_tokens.unwrap_or_default().into_iter().collect();
                special_tokens.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
                Self::Ranks { pattern, special_tokens }
            }
            _ => Self::Content,
        }
    }
}

/// The definition of a bundled encoding: what its rank file does not contain, and the name of that
/// file.
#[cfg_attr(feature = "napi", napi(object))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EncodingDefinition {
    /// The name of the rank file.
    pub file: String,
    /// The regular expression whose matches are the words.
    pub pattern: String,
    /// The special tokens and their ids.
    pub special_tokens: BTreeMap<String, u32>,
}

impl EncodingDefinition {
    /// The definition of the encoding with this name.
    pub fn named(name: &str) -> Result<Self, Failure> {
        let RankDefinition { pattern, special_tokens } = encoding_definition(name)?;
        let special_tokens = special_tokens.into_iter().collect();
        Ok(Self { file: encoding_file(name)?.to_owned(), pattern, special_tokens })
    }
}
