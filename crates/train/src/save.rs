//! Writes a base with a new model as a tokenizer.json.

use hashbrown::HashMap;
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::base::ModelFields;
use crate::{Base, BpeOptions, SpecialToken, TrainError, WordLevelOptions};

/// A trained vocabulary, with the options that the file repeats.
pub(crate) enum Model<'a> {
    Bpe { tokens: &'a [String], merges: &'a [(u32, u32)], options: &'a BpeOptions },
    WordPiece { tokens: &'a [String], options: &'a BpeOptions },
    WordLevel { tokens: &'a [String], options: &'a WordLevelOptions },
}

#[derive(Serialize)]
struct File<'a> {
    version: &'a str,
    truncation: &'a Option<Box<RawValue>>,
    padding: &'a Option<Box<RawValue>>,
    added_tokens: Vec<Value>,
    normalizer: &'a Value,
    pre_tokenizer: &'a Value,
    post_processor: &'a Option<Box<RawValue>>,
    decoder: &'a Option<Box<RawValue>>,
    model: ModelFile<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type")]
enum ModelFile<'a> {
    #[serde(rename = "BPE")]
    Bpe {
        dropout: Option<f32>,
        unk_token: Option<&'a str>,
        continuing_subword_prefix: Option<&'a str>,
        end_of_word_suffix: Option<&'a str>,
        fuse_unk: bool,
        byte_fallback: bool,
        ignore_merges: bool,
        vocab: Vocabulary<'a>,
        merges: Merges<'a>,
    },
    WordPiece {
        unk_token: &'a str,
        continuing_subword_prefix: Option<&'a str>,
        max_input_chars_per_word: usize,
        vocab: Vocabulary<'a>,
    },
    WordLevel {
        vocab: Vocabulary<'a>,
        unk_token: &'a str,
    },
}

/// Tokens by rising id; of equal tokens, the last one counts.
struct Vocabulary<'a> {
    tokens: &'a [String],
    ids: HashMap<&'a str, u32, foldhash::fast::FixedState>,
}

impl<'a> Vocabulary<'a> {
    fn new(tokens: &'a [String]) -> Self {
        Self { tokens, ids: tokens.iter().zip(0..).map(|(token, id)| (token.as_str(), id)).collect() }
    }
}

impl Serialize for Vocabulary<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.ids.len()))?;
        for (token, id) in self.tokens.iter().zip(0..) {
            if self.ids[token.as_str()] == id {
                map.serialize_entry(token, &id)?;
            }
        }
        map.end()
    }
}

struct Merges<'a> {
    tokens: &'a [String],
    merges: &'a [(u32, u32)],
}

impl Serialize for Merges<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.merges.len()))?;
        for &(left, right) in self.merges {
            list.serialize_element(&[&self.tokens[left as usize], &self.tokens[right as usize]])?;
        }
        list.end()
    }
}

/// The text of a tokenizer.json: the base with a new model.
pub(crate) fn tokenizer_json(base: &Base, model: Model<'_>) -> Result<String, TrainError> {
    let parts = &base.parts;
    let none = ModelFields::default();
    let kind = match model {
        Model::Bpe { .. } => "BPE",
        Model::WordPiece { .. } => "WordPiece",
        Model::WordLevel { .. } => "WordLevel",
    };
    let fields = if parts.model.kind.as_deref() == Some(kind) { &parts.model } else { &none };
    let (tokens, special_tokens) = match model {
        Model::Bpe { tokens, options, .. } | Model::WordPiece { tokens, options } => (tokens, &options.special_tokens),
        Model::WordLevel { tokens, options } => (tokens, &options.special_tokens),
    };
    let vocab = Vocabulary::new(tokens);
    let added_tokens = added_tokens(&parts.added_tokens, special_tokens, &vocab)?;
    let model = match model {
        Model::Bpe { tokens, merges, options } => ModelFile::Bpe {
            dropout: fields.dropout,
            unk_token: fields.unk_token.as_deref(),
            continuing_subword_prefix: options.continuing_subword_prefix.as_deref(),
            end_of_word_suffix: options.end_of_word_suffix.as_deref(),
            fuse_unk: fields.fuse_unk,
            byte_fallback: fields.byte_fallback,
            ignore_merges: fields.ignore_merges,
            vocab,
            merges: Merges { tokens, merges },
        },
        Model::WordPiece { options, .. } => ModelFile::WordPiece {
            unk_token: fields.unk_token.as_deref().unwrap_or("[UNK]"),
            continuing_subword_prefix: options.continuing_subword_prefix.as_deref(),
            max_input_chars_per_word: fields.max_input_chars_per_word.unwrap_or(100),
            vocab,
        },
        Model::WordLevel { .. } => {
            ModelFile::WordLevel { vocab, unk_token: fields.unk_token.as_deref().unwrap_or("<unk>") }
        }
    };
    let file = File {
        version: parts.version.as_deref().unwrap_or("1.0"),
        truncation: &parts.truncation,
        padding: &parts.padding,
        added_tokens,
        normalizer: &parts.normalizer,
        pre_tokenizer: &parts.pre_tokenizer,
        post_processor: &parts.post_processor,
        decoder: &parts.decoder,
        model,
    };
    serde_json::to_string_pretty(&file).map_err(|error| TrainError::Base(error.to_string()))
}

/// The added tokens of the base, then the special tokens, which replace those of equal content.
/// Their ids are those of the model, or else the next free ones.
fn added_tokens(base: &[Value], special: &[SpecialToken], vocab: &Vocabulary<'_>) -> Result<Vec<Value>, TrainError> {
    let mut tokens: Vec<(String, Value)> = Vec::new();
    let mut places: HashMap<String, usize, foldhash::fast::FixedState> = HashMap::default();
    let new = special.iter().map(|token| json!(token));
    for token in base.iter().cloned().chain(new) {
        let Some(content) = token["content"].as_str() else {
            return Err(TrainError::Base("an added token has no content".to_owned()));
        };
        if content.is_empty() {
            continue;
        }
        if let Some(&known) = places.get(content) {
            tokens[known].1 = token;
        } else {
            places.insert(content.to_owned(), tokens.len());
            tokens.push((content.to_owned(), token));
        }
    }
    let mut next = vocab.ids.values().map(|id| id + 1).max().unwrap_or(0).max(vocab.ids.len() as u32);
    let mut numbered: Vec<(u32, Value)> = Vec::with_capacity(tokens.len());
    for (content, mut token) in tokens {
        let id = vocab.ids.get(content.as_str()).copied().unwrap_or_else(|| {
            next += 1;
            next - 1
        });
        token["id"] = json!(id);
        numbered.push((id, token));
    }
    numbered.sort_by_key(|&(id, _)| id);
    Ok(numbered.into_iter().map(|(_, token)| token).collect())
}
