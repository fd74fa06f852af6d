//! A tokenizer.json whose vocabulary changes. Other fields keep their text.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use foldhash::fast::RandomState;
use hashbrown::HashSet;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::TrainError;

/// An object whose fields keep their order and their text.
#[derive(Debug, Clone)]
pub(super) struct Object(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl Object {
    /// The value of a field; `None` if there is none, or if it is null.
    pub fn get<'a, T: Deserialize<'a>>(&'a self, name: &str) -> Result<Option<T>, TrainError> {
        let Some((_, value)) = self.0.iter().rev().find(|(field, _)| field == name) else { return Ok(None) };
        serde_json::from_str(value.get()).map_err(|error| TrainError::Base(format!("{name}: {error}")))
    }

    pub fn set(&mut self, name: &str, value: &impl Serialize) {
        let value = json_text(value);
        match self.0.iter_mut().rev().find(|(field, _)| field == name) {
            Some(field) => field.1 = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }
}

/// The kinds of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Kind {
    #[serde(rename = "BPE")]
    Bpe,
    WordPiece,
    WordLevel,
    Unigram,
}

/// Two tokens, as old and new files write a merge.
#[derive(Deserialize)]
#[serde(untagged)]
enum MergeForm {
    Pair(String, String),
    Line(String),
}

pub(super) struct TokenizerFile {
    fields: Object,
    /// The fields of the model. `vocab` and `merges` are out of date until [`Self::model`].
    model: Object,
    pub kind: Kind,
    /// The tokens of the model by id.
    pub tokens: BTreeMap<u32, String>,
    /// Unigram: the log probabilities of the tokens, whose ids are 0, 1, … Parsing and writing
    /// could change the last bit of a number, so they are text.
    pub scores: Vec<Box<RawValue>>,
    /// BPE: the merges by rank.
    pub merges: Vec<(String, String)>,
    /// The added tokens, with their ids.
    pub added: Vec<(u32, Value)>,
}

/// Tokens as the vocabulary of a model writes them.
struct ById<'a>(&'a BTreeMap<u32, String>);

impl Serialize for ById<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (id, token) in self.0 {
            map.serialize_entry(token, id)?;
        }
        map.end()
    }
}

fn json_text(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).expect("what is written has strings for keys")
}

fn error(message: impl Into<String>) -> TrainError {
    TrainError::Base(message.into())
}

impl TokenizerFile {
    pub fn parse(bytes: &[u8]) -> Result<Self, TrainError> {
        let fields: Object = serde_json::from_slice(bytes).map_err(|problem| error(problem.to_string()))?;
        let model: Object = fields.get("model")?.ok_or_else(|| error("it has no model"))?;
        let listed: Option<Vec<(String, Box<RawValue>)>> = model.get("vocab").ok().flatten();
        let merges: Option<Vec<MergeForm>> = model.get("merges")?;
        // Old files do not name the kind.
        let kind = match model.get("type")? {
            Some(kind) => kind,
            None if merges.is_some() => Kind::Bpe,
            None if listed.is_some() => Kind::Unigram,
            None if model.get::<String>("continuing_subword_prefix")?.is_some() => Kind::WordPiece,
            None => Kind::WordLevel,
        };
        let (mut tokens, mut scores) = (BTreeMap::new(), Vec::new());
        if kind == Kind::Unigram {
            let pieces = listed.ok_or_else(|| error("the vocabulary of a Unigram model is a list"))?;
            for ((piece, score), id) in pieces.into_iter().zip(0..) {
                tokens.insert(id, piece);
                scores.push(score);
            }
        } else {
            let vocab: HashMap<String, u32> = model.get("vocab")?.unwrap_or_default();
            let len = vocab.len();
            tokens.extend(vocab.into_iter().map(|(token, id)| (id, token)));
            if tokens.len() < len {
                return Err(error("two tokens share an id"));
            }
        }
        let pair = |merge: MergeForm| match merge {
            MergeForm::Pair(left, right) => Ok((left, right)),
            MergeForm::Line(line) => {
                let pair = line.split_once(' ').ok_or_else(|| error(format!("a merge is not two tokens: {line:?}")))?;
                Ok((pair.0.to_owned(), pair.1.to_owned()))
            }
        };
        let merges = merges.unwrap_or_default().into_iter().map(pair).collect::<Result<_, TrainError>>()?;
        let added: Vec<Value> = fields.get("added_tokens")?.unwrap_or_default();
        let with_id = |token: Value| {
            let id = token["id"].as_u64().and_then(|id| u32::try_from(id).ok());
            id.filter(|_| token["content"].is_string()).map(|id| (id, token))
        };
        let added: Option<Vec<_>> = added.into_iter().map(with_id).collect();
        let added = added.ok_or_else(|| error("an added token has no id or no content"))?;
        Ok(Self { fields, model, kind, tokens, scores, merges, added })
    }

    /// A field of the model.
    pub fn field<'a, T: Deserialize<'a>>(&'a self, name: &str) -> Result<Option<T>, TrainError> {
        self.model.get(name)
    }

    pub fn set_field(&mut self, name: &str, value: &impl Serialize) {
        self.model.set(name, value);
    }

    /// The number of tokens with the added ones.
    pub fn len(&self) -> usize {
        self.tokens.len() + self.added_only().len()
    }

    /// The added tokens that are not in the vocabulary of the model.
    fn added_only(&self) -> Vec<(u32, String)> {
        let known = self.texts();
        let contents = self.added.iter().filter_map(|(id, token)| Some((*id, token["content"].as_str()?)));
        contents.filter(|(_, token)| !known.contains(token)).map(|(id, token)| (id, token.to_owned())).collect()
    }

    /// Gives the added tokens an entry in the vocabulary of the model. Otherwise their ids would
    /// depend on its size.
    pub fn fix_added_ids(&mut self) -> Result<(), TrainError> {
        let mut added = self.added_only();
        added.sort_unstable();
        let lowest = self.lowest_score().map_or_else(|| json_text(&0.0), |(_, score)| score.to_owned());
        for (id, token) in added {
            let is_next = id as usize == self.scores.len();
            if self.kind == Kind::Unigram && !is_next || self.tokens.contains_key(&id) {
                return Err(error(format!("the id {id} of the added token {token:?} is not that which it gets")));
            }
            if self.kind == Kind::Unigram {
                self.scores.push(lowest.clone());
            }
            self.tokens.insert(id, token);
        }
        Ok(())
    }

    /// The token with the lowest score.
    pub fn lowest_score(&self) -> Option<(u32, &RawValue)> {
        let number = |score: &RawValue| score.get().parse::<f64>().unwrap_or(0.0);
        (0..)
            .zip(self.scores.iter().map(|score| &**score))
            .min_by(|left, right| number(left.1).total_cmp(&number(right.1)))
    }

    /// Replaces the pieces of Unigram from an id on.
    pub fn set_pieces(&mut self, first: u32, pieces: &[(String, f64)]) {
        self.tokens.split_off(&first);
        self.scores.truncate(first as usize);
        self.tokens.extend((first..).zip(pieces.iter().map(|(piece, _)| piece.clone())));
        self.scores.extend(pieces.iter().map(|(_, score)| json_text(score)));
    }

    /// The texts of the tokens.
    pub fn texts(&self) -> HashSet<&str, RandomState> {
        self.tokens.values().map(String::as_str).collect()
    }

    /// The first id that no token has.
    pub fn next_id(&self) -> u32 {
        self.tokens.last_key_value().map_or(0, |(id, _)| id + 1)
    }

    /// The model, up to date.
    pub fn model(&mut self) -> &Object {
        let Self { model, kind, tokens, scores, merges, .. } = self;
        if *kind == Kind::Unigram {
            model.set("vocab", &tokens.values().zip(&*scores).collect::<Vec<_>>());
        } else {
            model.set("vocab", &ById(tokens));
        }
        if *kind == Kind::Bpe {
            model.set("merges", merges);
        }
        model
    }

    /// Calls `visit` with each id of the stages before and behind the model.
    pub fn each_stage_id(&mut self, mut visit: impl FnMut(&mut u32)) -> Result<(), TrainError> {
        for name in ["post_processor", "padding"] {
            if let Some(mut stage) = self.fields.get::<Value>(name)? {
                each_id(&mut stage, &mut visit);
                self.fields.set(name, &stage);
            }
        }
        Ok(())
    }

    /// The text of the file.
    pub fn text(mut self) -> Result<String, TrainError> {
        self.model();
        self.added.sort_by_key(|&(id, _)| id);
        for (id, token) in &mut self.added {
            token["id"] = json!(id);
        }
        let Self { mut fields, model, added, .. } = self;
        fields.set("added_tokens", &added.into_iter().map(|(_, token)| token).collect::<Vec<_>>());
        fields.set("model", &model);
        serde_json::to_string(&fields).map_err(|problem| error(problem.to_string()))
    }
}

/// Visits the ids of a post-processor or of the padding.
fn each_id(stage: &mut Value, visit: &mut impl FnMut(&mut u32)) {
    let mut visit_at = |value: &mut Value| {
        if let Some(mut id) = value.as_u64().and_then(|id| u32::try_from(id).ok()) {
            visit(&mut id);
            *value = json!(id);
        }
    };
    for pointer in ["/pad_id", "/sep/1", "/cls/1"] {
        stage.pointer_mut(pointer).map(&mut visit_at);
    }
    let tokens = stage.get_mut("special_tokens").and_then(Value::as_object_mut);
    for token in tokens.into_iter().flat_map(|tokens| tokens.values_mut()) {
        token.get_mut("ids").and_then(Value::as_array_mut).into_iter().flatten().for_each(&mut visit_at);
    }
    let stages = stage.get_mut("processors").and_then(Value::as_array_mut);
    stages.into_iter().flatten().for_each(|stage| each_id(stage, visit));
}
