//! What the bytes of a file are loaded as.

use tokenlane_core::{RankDefinition, Tokenizer};

use crate::error::Failure;

/// How bytes are converted to a tokenizer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Definition {
    /// The format is detected from the bytes.
    Content,
    /// A rank file of the bundled encoding with this name.
    Encoding(String),
    /// A rank file with this pattern and these special tokens, sorted by their ids.
    Ranks { pattern: String, special_tokens: Vec<(String, u32)> },
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
