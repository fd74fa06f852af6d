//! What a tokenizer was built from, apart from its tables: the components of the file as JSON, a
//! few kilobytes. This is sufficient to write the file again ([`crate::save`]) and to derive
//! another tokenizer with changes ([`crate::change`]).

use serde_json::Value;

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WordPieceSettings {
    pub(crate) unk_token: String,
    pub(crate) continuing_subword_prefix: String,
    /// In code points.
    pub(crate) max_input_chars_per_word: usize,
}

/// The settings of Unigram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnigramSettings {
    pub(crate) unk_id: Option<u32>,
    pub(crate) byte_fallback: bool,
}

/// The settings of WordLevel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WordLevelSettings {
    pub(crate) unk_token: String,
}

/// The definition of a tokenizer. Added tokens, truncation and padding are not included, because
/// the tokenizer itself has them.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    pub(crate) post_processor: Json,
    pub(crate) source: Source,
}

/// The kind of the file.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    TokenizerJson(Components),
    /// A SentencePiece file, whose components are those of the tokenizer.
    SentencePiece,
    /// A rank file or a tekken.json, with its pattern.
    Ranks {
        pattern: String,
    },
}

impl Definition {
    /// For WordPiece, the prefix of tokens that continue a word. The prefix is not part of the
    /// text. (For BPE with a prefix, the length of every token is recorded instead.)
    pub(crate) fn continuing_prefix(&self) -> &str {
        match &self.source {
            Source::TokenizerJson(Components { model: ModelSettings::WordPiece(settings), .. }) => {
                &settings.continuing_subword_prefix
            }
            _ => "",
        }
    }
}

/// The components that a rank file does not have.
#[derive(Debug, Clone, Default)]
pub(crate) struct Components {
    pub(crate) normalizer: Json,
    pub(crate) pre_tokenizer: Json,
    pub(crate) decoder: Json,
    pub(crate) model: ModelSettings,
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
