//! What defines a tokenizer. Loading ([`crate::load`]) reads these parts from a file of any format,
//! [`crate::change`] derives them from those of another tokenizer, and [`crate::save`] writes them.

use std::sync::Arc;

use serde_json::Value;

use crate::added_tokens::{AddedTokens, Policy};
use crate::padding::Padding;
use crate::truncation::Truncation;
use crate::vocab::Vocab;

/// The parts of a tokenizer. The stages of a [`Pipeline`](crate::pipeline::Pipeline) are built from
/// them and from its [`Tables`](crate::pipeline::Tables).
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) source: Source,
    pub(crate) post_processor: Json,
    pub(crate) vocab: Arc<Vocab>,
    pub(crate) added_tokens: AddedTokens,
    /// The default truncation and padding of calls.
    pub(crate) truncation: Option<Truncation>,
    pub(crate) padding: Option<Padding>,
    /// The meaning of [`SpecialTokens::FileDefault`](crate::SpecialTokens::FileDefault) here.
    pub(crate) default_policy: Policy,
}

/// The format of the file, with the components that only this format has.
#[derive(Debug)]
pub(crate) enum Source {
    TokenizerJson(Components),
    /// A SentencePiece file, whose components cannot be changed.
    SentencePiece,
    /// A rank file or a tekken.json, with its pattern.
    Ranks(String),
}

/// The format of the file that a tokenizer was loaded from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A tokenizer.json.
    TokenizerJson,
    /// A SentencePiece model.
    SentencePiece,
    /// A rank file or a tekken.json.
    Ranks,
}

/// The components of a tokenizer.json. Other files do not have them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Components {
    pub(crate) normalizer: Json,
    pub(crate) pre_tokenizer: Json,
    pub(crate) decoder: Json,
    pub(crate) model: ModelSettings,
}

/// A component of a tokenizer.json as in the file, without insignificant white space; `null` if
/// there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Json(Box<str>);

impl Default for Json {
    fn default() -> Self {
        Self("null".into())
    }
}

impl Json {
    /// Validates `text` and removes insignificant white space. All fields are kept in their order.
    pub(crate) fn new(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<Value>(text)?;
        let (mut compact, mut in_string, mut escaped) = (String::with_capacity(text.len()), false, false);
        for character in text.chars() {
            if in_string {
                in_string = escaped || character != '"';
                escaped = !escaped && character == '\\';
            } else if character.is_ascii_whitespace() {
                continue;
            } else {
                in_string = character == '"';
            }
            compact.push(character);
        }
        Ok(Self(compact.into()))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(&self.0).expect("it was read before")
    }
}

/// The settings in the `model` of a tokenizer.json: all fields but vocabulary, merges and scores.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ModelSettings {
    Bpe(BpeSettings),
    WordPiece(WordPieceSettings),
    Unigram(UnigramSettings),
    WordLevel(WordLevelSettings),
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self::Bpe(BpeSettings::default())
    }
}

/// The settings of BPE.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct BpeSettings {
    pub(crate) dropout: Option<f32>,
    pub(crate) unk_token: Option<String>,
    pub(crate) continuing_subword_prefix: String,
    pub(crate) end_of_word_suffix: String,
    pub(crate) fuse_unk: bool,
    pub(crate) byte_fallback: bool,
    pub(crate) ignore_merges: bool,
}

/// The settings of WordPiece.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct WordPieceSettings {
    pub(crate) unk_token: String,
    pub(crate) continuing_subword_prefix: String,
    /// In code points.
    pub(crate) max_input_chars_per_word: usize,
}

/// The settings of Unigram.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct UnigramSettings {
    pub(crate) unk_id: Option<u32>,
    pub(crate) byte_fallback: bool,
}

/// The settings of WordLevel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct WordLevelSettings {
    pub(crate) unk_token: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_goes_and_strings_stay() {
        let kept = |text: &str| Json::new(text).expect("it is JSON").text().to_owned();
        assert_eq!(kept("{ \"b\" : [ 1,\n 2 ],\t\"a\":\" \\\" \\\\\" }"), r#"{"b":[1,2],"a":" \" \\"}"#);
        assert_eq!(Json::default().value(), Value::Null);
        assert!(Json::new("{").is_err());
    }
}
