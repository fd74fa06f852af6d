//! The `model` of a tokenizer.json: vocabulary, merges and scores, read without building a tree of
//! values.
//!
//! Most files are read in one pass with the rest of the file, through the `Deserialize`
//! implementation of [`FileModel`]. If that fails, [`parse`] reads the model again and reports what
//! is wrong and where. It also determines the kind of a model without a `type`: the first of BPE,
//! WordPiece, WordLevel and Unigram that loads, as in the reference.

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

use super::json::{FileText, Part};
use super::merge_list::{MergeIds, MergeTexts, MergesSeed};
use super::vocabulary::{Entries, VocabSeed};
use crate::bpe::merges::{Merge, Merges};
use crate::error::LoadError;
use crate::parts::{BpeSettings, ModelSettings, UnigramSettings, WordLevelSettings, WordPieceSettings};
use crate::pipeline::Tables;
use crate::vocab::Vocab;

/// The kinds of models, in the order in which the reference tries them if the file does not name
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModelKind {
    Bpe,
    WordPiece,
    WordLevel,
    Unigram,
}

const KINDS: [(&str, ModelKind); 4] = [
    ("BPE", ModelKind::Bpe),
    ("WordPiece", ModelKind::WordPiece),
    ("WordLevel", ModelKind::WordLevel),
    ("Unigram", ModelKind::Unigram),
];

/// The model as the file describes it.
#[derive(Debug)]
pub(crate) struct FileModel {
    pub(crate) vocab: Vocab,
    pub(crate) tables: Tables,
    pub(crate) settings: ModelSettings,
}

/// The merges. They are kept as texts if the file has them before the vocabulary or the prefix.
#[derive(Debug)]
enum MergeList {
    Texts(MergeTexts),
    Pairs(Vec<(u32, u32, Merge)>),
}

pub(crate) enum ModelError {
    Json(serde_json::Error),
    Load(LoadError),
}

/// Reads a file in one pass, which is possible for nearly all files. An error only means that
/// [`parse`] must report it.
impl<'de> Deserialize<'de> for FileModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut found = ModelFields { at_once: true, ..ModelFields::default() };
        ModelSeed(&mut found).deserialize(deserializer)?;
        let kind = match &found.kind {
            Some(kind) => kind_of(kind),
            // A model without a type and without merges can be of several kinds, which takes
            // several passes.
            None => found.merges.as_ref().map(|_| ModelKind::Bpe),
        };
        let kind = kind.ok_or_else(|| D::Error::custom("the kind of model is not known yet"))?;
        found.finish(kind).map_err(D::Error::custom)
    }
}

fn kind_of(name: &Value) -> Option<ModelKind> {
    KINDS.iter().find(|(known, _)| name == known).map(|&(_, kind)| kind)
}

/// Parses the model of a file, whose fields may be in any order.
pub(crate) fn parse(json: &str) -> Result<FileModel, ModelError> {
    #[derive(Deserialize)]
    struct Tag {
        #[serde(default, rename = "type", deserialize_with = "present")]
        kind: Option<Value>,
    }
    let tag: Tag = serde_json::from_str(json).map_err(ModelError::Json)?;
    if let Some(kind) = tag.kind {
        let unsupported = || {
            let name = kind.as_str().map_or_else(|| kind.to_string(), str::to_owned);
            ModelError::Load(LoadError::unsupported("model.type", name))
        };
        return parse_as(kind_of(&kind).ok_or_else(unsupported)?, json);
    }
    let mut refused = None;
    for (_, kind) in KINDS {
        match parse_as(kind, json) {
            Ok(model) => return Ok(model),
            Err(error) => drop(refused.get_or_insert(error)),
        }
    }
    // Only BPE has merges, so its error is the one to report.
    let is_bpe = serde_json::from_str::<Map<String, Value>>(json).is_ok_and(|model| model.contains_key("merges"));
    Err(refused.filter(|_| is_bpe).unwrap_or_else(|| {
        ModelError::Load(LoadError::shape(
            "model",
            "\"type\" is missing, and the fields are not those of a known model",
        ))
    }))
}

/// A field that is present, even if it is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn parse_as(kind: ModelKind, json: &str) -> Result<FileModel, ModelError> {
    let mut found = ModelFields::default();
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let parsed = ModelSeed(&mut found).deserialize(&mut deserializer);
    if let Some(error) = found.error.take() {
        return Err(ModelError::Load(error));
    }
    parsed.map_err(|error| match found.piece {
        Some(piece) if error.is_data() => {
            let text = error.to_string();
            let message = text.split(" at line ").next().unwrap_or(&text);
            ModelError::Load(LoadError::shape(format!("model.vocab[{piece}]"), message))
        }
        _ => ModelError::Json(error),
    })?;
    found.finish(kind).map_err(ModelError::Load)
}

/// The fields found so far. Errors that serde cannot carry are stored in `error`.
#[derive(Default)]
struct ModelFields {
    kind: Option<Value>,
    vocab: Option<Entries>,
    merges: Option<MergeList>,
    /// The small fields by name.
    settings: Map<String, Value>,
    /// Whether merges are looked up while they are read. Then vocabulary and prefix must come
    /// before them.
    at_once: bool,
    /// Index of the piece that is being read.
    piece: Option<usize>,
    error: Option<LoadError>,
}

/// The small fields of all kinds of models; other fields are skipped.
const SETTINGS: [&str; 9] = [
    "dropout",
    "unk_token",
    "fuse_unk",
    "byte_fallback",
    "ignore_merges",
    "continuing_subword_prefix",
    "end_of_word_suffix",
    "max_input_chars_per_word",
    "unk_id",
];

impl ModelFields {
    /// Builds the model as one of this kind.
    fn finish(self, kind: ModelKind) -> Result<FileModel, LoadError> {
        let settings = Value::Object(self.settings);
        let part = Part::new(&settings, "model");
        let vocab = self.vocab.ok_or_else(|| LoadError::shape("model", "\"vocab\" is missing"))?;
        let wanted = |what: &str| Err(LoadError::shape("model.vocab", format!("{what} is expected here")));
        let (vocab, scores) = match (vocab, kind) {
            (Entries::Tokens(vocab), ModelKind::Bpe | ModelKind::WordPiece | ModelKind::WordLevel) => (vocab, vec![]),
            (Entries::Pieces(vocab, scores), ModelKind::Unigram) => (vocab, scores),
            (Entries::Tokens(_), ModelKind::Unigram) => return wanted("a list of pieces with their scores"),
            (Entries::Pieces(..), _) => return wanted("a map from tokens to ids"),
        };
        let (tables, settings) = match kind {
            ModelKind::WordPiece => (Tables::VocabularyOnly, ModelSettings::WordPiece(WordPieceSettings::read(&part)?)),
            ModelKind::WordLevel => (Tables::VocabularyOnly, ModelSettings::WordLevel(WordLevelSettings::read(&part)?)),
            ModelKind::Unigram => {
                let settings = UnigramSettings::read(&part, vocab.len())?;
                (Tables::Scores(scores.into()), ModelSettings::Unigram(settings))
            }
            ModelKind::Bpe => {
                let merges = self
                    .merges
                    .ok_or_else(|| LoadError::shape("model", "\"merges\" is missing, so this is not a BPE model"))?;
                let settings = BpeSettings::read(&part)?;
                let pairs = match merges {
                    MergeList::Texts(texts) => texts.pairs(&vocab, &settings.continuing_subword_prefix)?,
                    MergeList::Pairs(pairs) => pairs,
                };
                (Tables::Merges(Arc::new(Merges::new(&pairs))), ModelSettings::Bpe(settings))
            }
        };
        Ok(FileModel { vocab, tables, settings })
    }
}

impl BpeSettings {
    fn read(part: &Part<'_>) -> Result<Self, LoadError> {
        let text = |name| Ok::<_, LoadError>(part.field(name).or_null(Part::text)?.unwrap_or_default().to_owned());
        let mut settings = Self {
            continuing_subword_prefix: text("continuing_subword_prefix")?,
            end_of_word_suffix: text("end_of_word_suffix")?,
            ..Self::default()
        };
        for name in ["dropout", "unk_token", "fuse_unk", "byte_fallback", "ignore_merges"] {
            let field = part.field(name);
            if !field.is_null() {
                settings.set(name, &field)?;
            }
        }
        settings.check()?;
        Ok(settings)
    }

    /// Sets what a changed tokenizer may change.
    pub(crate) fn set(&mut self, name: &str, field: &Part<'_>) -> Result<(), LoadError> {
        match name {
            "dropout" => self.dropout = field.or_null(Part::number)?.map(|dropout| dropout as f32),
            "unk_token" => self.unk_token = field.or_null(Part::text)?.map(str::to_owned),
            "fuse_unk" => self.fuse_unk = field.flag()?,
            "byte_fallback" => self.byte_fallback = field.flag()?,
            "ignore_merges" => self.ignore_merges = field.flag()?,
            _ => return Err(unchangeable(field)),
        }
        Ok(())
    }
}

impl WordPieceSettings {
    fn read(part: &Part<'_>) -> Result<Self, LoadError> {
        let mut settings = Self::default();
        for name in ["unk_token", "continuing_subword_prefix", "max_input_chars_per_word"] {
            settings.set(name, &part.required(name)?)?;
        }
        Ok(settings)
    }

    pub(crate) fn set(&mut self, name: &str, field: &Part<'_>) -> Result<(), LoadError> {
        match name {
            "unk_token" => field.text()?.clone_into(&mut self.unk_token),
            "continuing_subword_prefix" => field.text()?.clone_into(&mut self.continuing_subword_prefix),
            "max_input_chars_per_word" => self.max_input_chars_per_word = field.count()?,
            _ => return Err(unchangeable(field)),
        }
        Ok(())
    }
}

impl UnigramSettings {
    /// Reads the settings for a vocabulary of `pieces` pieces.
    fn read(part: &Part<'_>, pieces: usize) -> Result<Self, LoadError> {
        let mut settings = Self::default();
        for name in ["unk_id", "byte_fallback"].into_iter().filter(|name| part.value.get(name).is_some()) {
            settings.set(name, &part.field(name), pieces)?;
        }
        Ok(settings)
    }

    pub(crate) fn set(&mut self, name: &str, field: &Part<'_>, pieces: usize) -> Result<(), LoadError> {
        let id = |field: &Part<'_>| {
            let id = field.count()?;
            let in_range = u32::try_from(id).ok().filter(|_| id < pieces);
            let message = || format!("{id} is not an id: there are {pieces} pieces");
            in_range.ok_or_else(|| LoadError::shape(&field.path, message()))
        };
        match name {
            "unk_id" => self.unk_id = field.or_null(id)?,
            "byte_fallback" => self.byte_fallback = field.flag()?,
            _ => return Err(unchangeable(field)),
        }
        Ok(())
    }
}

impl WordLevelSettings {
    fn read(part: &Part<'_>) -> Result<Self, LoadError> {
        let mut settings = Self::default();
        settings.set("unk_token", &part.required("unk_token")?)?;
        Ok(settings)
    }

    pub(crate) fn set(&mut self, name: &str, field: &Part<'_>) -> Result<(), LoadError> {
        match name {
            "unk_token" => field.text()?.clone_into(&mut self.unk_token),
            _ => return Err(unchangeable(field)),
        }
        Ok(())
    }
}

fn unchangeable(field: &Part<'_>) -> LoadError {
    LoadError::unsupported(&field.path, "changing this setting")
}

struct ModelSeed<'f>(&'f mut ModelFields);

impl<'de> DeserializeSeed<'de> for ModelSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ModelSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a model")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(found) = self;
        while let Some(FileText(key)) = map.next_key()? {
            match key.as_ref() {
                "vocab" | "continuing_subword_prefix" if found.at_once && found.merges.is_some() => {
                    return Err(too_early());
                }
                "type" => found.kind = Some(map.next_value()?),
                "vocab" => {
                    let ModelFields { piece, error, .. } = &mut *found;
                    found.vocab = Some(map.next_value_seed(VocabSeed { piece, error })?);
                }
                "merges" if found.kind.as_ref().is_none_or(|kind| kind == "BPE") => {
                    found.merges = Some(found.read_merges(&mut map)?);
                }
                name if SETTINGS.contains(&name) => {
                    let value = map.next_value()?;
                    found.settings.insert(name.to_owned(), value);
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

fn too_early<E: serde::de::Error>() -> E {
    E::custom("merges before what they are looked up in")
}

impl ModelFields {
    fn read_merges<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<MergeList, A::Error> {
        let error = &mut self.error;
        if !self.at_once {
            let mut sink = MergeTexts::default();
            map.next_value_seed(MergesSeed { sink: &mut sink, error })?;
            return Ok(MergeList::Texts(sink));
        }
        let Some(Entries::Tokens(vocab)) = &self.vocab else { return Err(too_early()) };
        let prefix = self.settings.get("continuing_subword_prefix").and_then(Value::as_str).unwrap_or_default();
        let mut sink = MergeIds::new(vocab, prefix);
        map.next_value_seed(MergesSeed { sink: &mut sink, error })?;
        let pairs = sink.finish().ok_or_else(|| A::Error::custom("a merge of what is not in the vocabulary"))?;
        Ok(MergeList::Pairs(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    type Tokens = Vec<(Vec<u8>, u32)>;
    type Pairs = Vec<(u32, u32, Merge)>;

    /// The contents of a valid model: tokens, merges by rank, settings.
    fn tables(model: Option<FileModel>) -> Option<(Tokens, Pairs, ModelSettings)> {
        let FileModel { vocab, tables, settings } = model?;
        let Tables::Merges(merges) = tables else { panic!("no BPE model") };
        let mut merges: Vec<_> = merges.iter().collect();
        merges.sort_unstable_by_key(|(_, _, merge)| merge.rank);
        Some((vocab.iter().map(|(token, id)| (token.to_vec(), id)).collect(), merges, settings))
    }

    proptest! {
        #[test]
        fn one_pass_reads_what_two_read(
            words in prop::collection::vec(("[ab \"Ġ\u{1}]{1,4}|[ab]{14,33}", any::<prop::sample::Index>(), any::<bool>()), 0..60),
            prefix in prop_oneof![3 => Just(""), 1 => Just("a"), 1 => Just("Ġ")],
            order in 0..4,
            lost in prop::option::weighted(0.3, any::<prop::sample::Index>()),
            escaped in any::<bool>(),
        ) {
            let (mut tokens, mut merges) = (vec![], vec![]);
            for (word, cut, as_line) in words {
                let cut = cut.index(word.chars().count() + 1);
                let left: String = word.chars().take(cut).collect();
                let bare: String = word.chars().skip(cut).collect();
                let right = format!("{prefix}{bare}");
                tokens.extend([left.clone(), right.clone(), word.clone()]);
                let is_line = as_line && !left.contains(' ') && !right.contains(' ');
                merges.push(if is_line { json!(format!("{left} {right}")) } else { json!([left, right]) });
            }
            // Some tokens occur twice.
            let mut vocab: Vec<String> =
                tokens.iter().zip(0..).map(|(token, id)| format!("{}:{id}", json!(token))).collect();
            if let Some(lost) = lost.filter(|_| !vocab.is_empty()) {
                vocab.swap_remove(lost.index(vocab.len()));
            }
            let vocab = format!("\"vocab\":{{{}}}", vocab.join(","));
            let merges = format!("\"merges\":{}", json!(merges));
            let prefix = format!("\"continuing_subword_prefix\":{}", json!(prefix));
            let fields = match order {
                0 | 1 => [prefix, vocab, merges],
                2 => [prefix, merges, vocab],
                _ => [vocab, merges, prefix],
            };
            let mut text = format!("{{\"type\":\"BPE\",{}}}", fields.join(","));
            if escaped {
                text = text.replace('Ġ', "\\u0120");
            }
            let one = tables(serde_json::from_str(&text).ok());
            let two = tables(parse(&text).ok());
            if order < 2 || one.is_some() {
                prop_assert_eq!(one, two);
            }
        }
    }
}
