//! The tokenizer.json whose stages before the model cut texts into words.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokenlane_core::{Tokenizer, byte_character};

use crate::TrainError;

/// A tokenizer.json as it is before training: only the vocabulary of its model is replaced.
#[derive(Debug)]
pub struct Base {
    pub(crate) parts: BaseParts,
    /// The stages before the model, with a model that never fails to load.
    pub(crate) cutter: Tokenizer,
}

/// The fields of a tokenizer.json. Those that training leaves alone are not parsed.
#[derive(Debug, Deserialize)]
pub(crate) struct BaseParts {
    #[serde(default)]
    pub version: Option<String>,
    #[serde(default)]
    pub truncation: Option<Box<RawValue>>,
    #[serde(default)]
    pub padding: Option<Box<RawValue>>,
    #[serde(default)]
    pub added_tokens: Vec<Value>,
    #[serde(default)]
    pub normalizer: Value,
    #[serde(default)]
    pub pre_tokenizer: Value,
    #[serde(default)]
    pub post_processor: Option<Box<RawValue>>,
    #[serde(default)]
    pub decoder: Option<Box<RawValue>>,
    #[serde(default)]
    pub model: ModelFields,
}

/// The fields of the base's model that the new model keeps if it is of the same type.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ModelFields {
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    #[serde(default)]
    pub dropout: Option<f32>,
    #[serde(default)]
    pub unk_token: Option<String>,
    #[serde(default)]
    pub fuse_unk: bool,
    #[serde(default)]
    pub byte_fallback: bool,
    #[serde(default)]
    pub ignore_merges: bool,
    #[serde(default)]
    pub max_input_chars_per_word: Option<usize>,
}

impl Base {
    /// Reads a tokenizer.json. Its model may be empty.
    pub fn from_json(bytes: &[u8]) -> Result<Self, TrainError> {
        let parts: BaseParts = serde_json::from_slice(bytes).map_err(|error| TrainError::Base(error.to_string()))?;
        // The core cuts fastest if the model reads bytes, and if it need not look characters up.
        let model = if ends_in_byte_level(&parts.pre_tokenizer) {
            let vocab: serde_json::Map<_, _> =
                (0..=255).map(|byte| (byte_character(byte).to_string(), json!(byte))).collect();
            json!({ "type": "BPE", "vocab": vocab, "merges": [] })
        } else {
            json!({ "type": "WordLevel", "vocab": { "a": 0 }, "unk_token": "a" })
        };
        let file = json!({
            "version": "1.0",
            "added_tokens": added_tokens(&parts.added_tokens),
            "normalizer": parts.normalizer,
            "pre_tokenizer": parts.pre_tokenizer,
            "model": model,
        });
        let cutter = Tokenizer::from_tokenizer_json(file.to_string().as_bytes())?;
        Ok(Self { parts, cutter })
    }
}

/// The added tokens with ids of their own behind those of the model, which is another one.
fn added_tokens(tokens: &[Value]) -> Vec<Value> {
    let with_id = |(index, token): (usize, &Value)| {
        let mut token = token.clone();
        if let Some(fields) = token.as_object_mut() {
            fields.insert("id".to_owned(), json!(256 + index));
        }
        token
    };
    tokens.iter().enumerate().map(with_id).collect()
}

fn ends_in_byte_level(pre_tokenizer: &Value) -> bool {
    match pre_tokenizer["type"].as_str() {
        Some("ByteLevel") => true,
        Some("Sequence") => {
            pre_tokenizer["pretokenizers"].as_array().and_then(|stages| stages.last()).is_some_and(ends_in_byte_level)
        }
        _ => false,
    }
}
