//! Writes a base with a new model as a tokenizer.json.

use hashbrown::HashMap;
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::base::ModelFields;
use crate::unigram::UnigramVocabulary;
use crate::{Base, BpeOptions, SpecialToken, TrainError, UnigramOptions, WordLevelOptions};

/// A trained vocabulary, with the options that the file repeats.
pub(crate) enum Model<'a> {
    Bpe { tokens: &'a [String], merges: &'a [(u32, u32)], options: &'a BpeOptions },
    WordPiece { tokens: &'a [String], options: &'a BpeOptions },
    WordLevel { tokens: &'a [String], options: &'a WordLevelOptions },
    Unigram { vocabulary: &'a UnigramVocabulary, options: &'a UnigramOptions },
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
    Unigram {
        unk_id: Option<u32>,
        vocab: &'a [(String, f64)],
        byte_fallback: bool,
    },
}

/// The ids of tokens; of equal tokens, the last one counts.
type Ids<'a> = HashMap<&'a str, u32, foldhash::fast::FixedState>;

/// Tokens by rising id, each once.
struct Vocabulary<'a> {
    tokens: &'a [String],
    ids: Ids<'a>,
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
        Model::Unigram { .. } => "Unigram",
    };
    let fields = if parts.model.kind.as_deref() == Some(kind) { &parts.model } else { &none };
    let (special_tokens, ids): (_, Ids<'_>) = match model {
        Model::Bpe { tokens, options, .. } | Model::WordPiece { tokens, options } => {
            (&options.special_tokens, tokens.iter().map(String::as_str).zip(0..).collect())
        }
        Model::WordLevel { tokens, options } => {
            (&options.special_tokens, tokens.iter().map(String::as_str).zip(0..).collect())
        }
        Model::Unigram { vocabulary, options } => {
            let tokens = vocabulary.pieces.iter().map(|(token, _)| token.as_str());
            (&options.special_tokens, tokens.zip(0..).collect())
        }
    };
    let added_tokens = added_tokens(&parts.added_tokens, special_tokens, &ids)?;
    let model = match model {
        Model::Bpe { tokens, merges, options } => ModelFile::Bpe {
            dropout: fields.dropout,
            unk_token: fields.unk_token.as_deref(),
            continuing_subword_prefix: options.continuing_subword_prefix.as_deref(),
            end_of_word_suffix: options.end_of_word_suffix.as_deref(),
            fuse_unk: fields.fuse_unk,
            byte_fallback: fields.byte_fallback,
            ignore_merges: fields.ignore_merges,
            vocab: Vocabulary { tokens, ids },
            merges: Merges { tokens, merges },
        },
        Model::WordPiece { tokens, options } => ModelFile::WordPiece {
            unk_token: fields.unk_token.as_deref().unwrap_or("[UNK]"),
            continuing_subword_prefix: options.continuing_subword_prefix.as_deref(),
            max_input_chars_per_word: fields.max_input_chars_per_word.unwrap_or(100),
            vocab: Vocabulary { tokens, ids },
        },
        Model::WordLevel { tokens, .. } => ModelFile::WordLevel {
            vocab: Vocabulary { tokens, ids },
            unk_token: fields.unk_token.as_deref().unwrap_or("<unk>"),
        },
        Model::Unigram { vocabulary, .. } => ModelFile::Unigram {
            unk_id: vocabulary.unk_id,
            vocab: &vocabulary.pieces,
            byte_fallback: fields.byte_fallback,
        },
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
fn added_tokens(base: &[Value], special: &[SpecialToken], ids: &Ids<'_>) -> Result<Vec<Value>, TrainError> {
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
    let mut next = ids.values().map(|id| id + 1).max().unwrap_or(0).max(ids.len() as u32);
    let mut numbered: Vec<(u32, Value)> = Vec::with_capacity(tokens.len());
    for (content, mut token) in tokens {
        let id = ids.get(content.as_str()).copied().unwrap_or_else(|| {
            next += 1;
            next - 1
        });
        token["id"] = json!(id);
        numbered.push((id, token));
    }
    numbered.sort_by_key(|&(id, _)| id);
    Ok(numbered.into_iter().map(|(_, token)| token).collect())
}
