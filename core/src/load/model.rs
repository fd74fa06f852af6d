//! The `model` of a tokenizer.json: vocabulary and merges, read in one pass without a tree of values.

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::bpe::alphabet::{Characters, Unknown, position};
use crate::bpe::merges::{Merge, Merges};
use crate::bpe::{Alphabet, Bpe, Joints, Spaces, WholeWords};
use crate::byte_level;
use crate::definition::ModelSettings;
use crate::encoder::Seeds;
use crate::error::LoadError;
use crate::tokenizer::TokenForm;
use crate::vocab::{Vocab, VocabBuilder};

/// The model as the file has it.
#[derive(Debug, Default)]
pub(crate) struct Model {
    vocab: Vocab,
    merges: MergeTexts,
    settings: ModelSettings,
}

/// The two parts of each merge, end to end.
#[derive(Debug, Default)]
struct MergeTexts {
    text: String,
    /// Where the left part ends and where the right one does.
    ends: Vec<(usize, usize)>,
}

pub(crate) enum ModelError {
    Json(serde_json::Error),
    Load(LoadError),
}

pub(crate) fn parse(json: &str) -> Result<Model, ModelError> {
    let mut found = Found::default();
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let parsed = ModelSeed(&mut found).deserialize(&mut deserializer);
    if let Some(error) = found.error.take() {
        return Err(ModelError::Load(error));
    }
    parsed.map_err(ModelError::Json)?;
    found.finish().map_err(ModelError::Load)
}

/// What was found so far. Errors that serde cannot carry are put aside in `error`.
#[derive(Default)]
struct Found {
    kind: Option<String>,
    vocab: Option<Vocab>,
    has_merges: bool,
    model: Model,
    error: Option<LoadError>,
}

impl Found {
    fn finish(self) -> Result<Model, LoadError> {
        if let Some(kind) = self.kind.filter(|kind| kind != "BPE") {
            return Err(LoadError::unsupported("model.type", kind));
        }
        let vocab = self.vocab.ok_or_else(|| LoadError::shape("model", "\"vocab\" is missing"))?;
        if !self.has_merges {
            return Err(LoadError::shape("model", "\"merges\" is missing, so this is no BPE model"));
        }
        let model = Model { vocab, ..self.model };
        model.settings.check()?;
        Ok(model)
    }
}

impl ModelSettings {
    /// Fails at what no model can have.
    pub(crate) fn check(&self) -> Result<(), LoadError> {
        match self.dropout {
            Some(dropout) if !(0.0..=1.0).contains(&dropout) => {
                Err(LoadError::shape("model.dropout", format!("{dropout} is not between 0 and 1")))
            }
            _ => Ok(()),
        }
    }

    /// The model of these tables, which works on what `form` says.
    /// It cuts its words where that is exact, and reads `spaces` as they stand in a text if it can.
    pub(crate) fn bpe(&self, vocab: &Vocab, merges: Arc<Merges>, form: TokenForm, spaces: Option<&Spaces>) -> Bpe {
        let alphabet = match form {
            TokenForm::Printable | TokenForm::Ranks => byte_alphabet(vocab),
            TokenForm::Text => self.character_alphabet(vocab),
        };
        let whole_words = self.ignore_merges.then(|| WholeWords::new(tokens(vocab, form)));
        let mut bpe = Bpe::new(alphabet, merges, whole_words, self.dropout.filter(|&dropout| dropout > 0.0));
        cut_words(&mut bpe, vocab, spaces);
        if form == TokenForm::Printable {
            bpe.find_stable(Seeds::among(vocab, form).map(|(_, id)| id), vocab.dense_ids());
        }
        bpe
    }

    fn character_alphabet(&self, vocab: &Vocab) -> Alphabet {
        let (prefix, suffix) = (&self.continuing_subword_prefix, &self.end_of_word_suffix);
        let mut ids: [HashMap<char, u32, foldhash::fast::RandomState>; 4] = Default::default();
        for (token, id) in vocab.iter() {
            let token = std::str::from_utf8(token).expect("the tokens of a tokenizer.json are strings");
            for is_first in [false, true] {
                for is_last in [false, true] {
                    let without_prefix = if is_first { Some(token) } else { token.strip_prefix(prefix.as_str()) };
                    let bare =
                        without_prefix.and_then(|t| if is_last { t.strip_suffix(suffix.as_str()) } else { Some(t) });
                    let mut characters = bare.unwrap_or_default().chars();
                    if let (Some(character), None) = (characters.next(), characters.next()) {
                        ids[position(is_first, is_last)].insert(character, id);
                    }
                }
            }
        }
        let byte_token = |byte: usize| vocab.id(format!("<0x{byte:02X}>").as_bytes());
        Alphabet::Characters(Box::new(Characters {
            ids,
            byte_fallback: self.byte_fallback.then(|| Box::new(std::array::from_fn(byte_token))),
            unknown: self.unk_token.as_ref().map(|token| Unknown {
                token: token.clone(),
                id: vocab.id(token.as_bytes()),
                fuse: self.fuse_unk,
            }),
            continuing_subword_prefix: prefix.clone(),
            end_of_word_suffix: suffix.clone(),
        }))
    }
}

/// Lets `bpe` cut its words, where that is exact, and read `spaces` as they stand in a text.
fn cut_words(bpe: &mut Bpe, vocab: &Vocab, spaces: Option<&Spaces>) {
    if bpe.whole_words.is_some() || bpe.dropout.is_some() {
        return;
    }
    let Alphabet::Characters(characters) = &mut bpe.alphabet else { return };
    let spaces = spaces.filter(|spaces| characters.knows(spaces.mark));
    let text = |id| vocab.token(id).and_then(|token| std::str::from_utf8(token).ok()).unwrap_or_default();
    let merges = bpe.merges.iter().map(|(left, right, _)| (text(left), text(right)));
    bpe.joints = Joints::new(merges, characters, spaces);
    bpe.reads_spaces = bpe.joints.is_some() && spaces.is_some();
    if let Some(spaces) = spaces.filter(|_| bpe.reads_spaces) {
        characters.read_space_as(spaces.mark);
    }
}

fn byte_alphabet(vocab: &Vocab) -> Alphabet {
    let id = |byte: usize| vocab.id(byte_level::CHARACTERS[byte].encode_utf8(&mut [0; 4]).as_bytes());
    Alphabet::Bytes { ids: Box::new(std::array::from_fn(id)), missing_is_error: false }
}

/// The tokens as the model sees them.
fn tokens(vocab: &Vocab, form: TokenForm) -> impl Iterator<Item = (Cow<'_, [u8]>, u32)> {
    vocab.iter().filter_map(move |(token, id)| match form {
        TokenForm::Text | TokenForm::Ranks => Some((Cow::Borrowed(token), id)),
        TokenForm::Printable => {
            let token = std::str::from_utf8(token).expect("the tokens of a tokenizer.json are strings");
            byte_level::bytes_of(token).map(|bytes| (Cow::Owned(bytes), id))
        }
    })
}

impl Model {
    /// The tables; the texts of the merges are not needed any more.
    pub(crate) fn into_tables(self) -> Result<(Vocab, Merges, ModelSettings), LoadError> {
        let merges = self.merge_table()?;
        Ok((self.vocab, merges, self.settings))
    }

    fn merge_table(&self) -> Result<Merges, LoadError> {
        let mut pairs = Vec::with_capacity(self.merges.ends.len());
        let mut joined = String::new();
        for (index, (left, right)) in self.merges.iter().enumerate() {
            let missing = |missing: &str| LoadError::MergeOutOfVocabulary {
                index,
                left: left.into(),
                right: right.into(),
                missing: missing.into(),
            };
            let id = |token: &str| self.vocab.id(token.as_bytes()).ok_or_else(|| missing(token));
            joined.clear();
            joined.push_str(left);
            // A part that goes on with a word drops its mark when it is joined to what stands before it.
            joined.push_str(right.get(self.settings.continuing_subword_prefix.len()..).ok_or_else(|| missing(right))?);
            let rank =
                u32::try_from(index).ok().filter(|&rank| rank != Merges::NO_RANK).ok_or(LoadError::TooLarge {
                    what: "the list of merges",
                    size: index as u64,
                    limit: u64::from(Merges::NO_RANK - 1),
                })?;
            pairs.push((id(left)?, id(right)?, Merge { rank, id: id(&joined)? }));
        }
        Ok(Merges::new(&pairs))
    }
}

impl MergeTexts {
    fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|&(_, end)| end));
        starts.zip(&self.ends).map(|(start, &(middle, end))| (&self.text[start..middle], &self.text[middle..end]))
    }

    fn push(&mut self, left: &str, right: &str) {
        self.text.push_str(left);
        let middle = self.text.len();
        self.text.push_str(right);
        self.ends.push((middle, self.text.len()));
    }

    /// The legacy form: both parts in one string with a space between them.
    fn push_line(&mut self, line: &str) -> Result<(), LoadError> {
        if line.starts_with("#version") {
            return Ok(());
        }
        match line.split_once(' ') {
            Some((left, right)) if !right.contains(' ') => {
                self.push(left, right);
                Ok(())
            }
            _ => Err(LoadError::MergeMalformed { index: self.ends.len(), text: line.chars().take(80).collect() }),
        }
    }
}

struct ModelSeed<'f>(&'f mut Found);

impl<'de> DeserializeSeed<'de> for ModelSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ModelSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a BPE model")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(found) = self;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match key.as_ref() {
                "type" => {
                    let kind: String = map.next_value()?;
                    if kind != "BPE" {
                        // Other models write their vocabulary in other shapes, so this is the error to tell.
                        found.error = Some(LoadError::unsupported("model.type", kind));
                        return Err(A::Error::custom("not a BPE model"));
                    }
                    found.kind = Some(kind);
                }
                "vocab" => {
                    let mut builder = Vocab::builder(0, 0);
                    map.next_value_seed(VocabSeed { builder: &mut builder, error: &mut found.error })?;
                    found.vocab = Some(builder.finish().map_err(|error| put_aside(&mut found.error, error))?);
                }
                "merges" => {
                    found.model.merges = MergeTexts::default();
                    map.next_value_seed(MergesSeed { merges: &mut found.model.merges, error: &mut found.error })?;
                    found.has_merges = true;
                }
                "dropout" => found.model.settings.dropout = map.next_value()?,
                "unk_token" => found.model.settings.unk_token = map.next_value()?,
                "fuse_unk" => found.model.settings.fuse_unk = map.next_value::<Option<bool>>()?.unwrap_or_default(),
                "byte_fallback" => {
                    found.model.settings.byte_fallback = map.next_value::<Option<bool>>()?.unwrap_or_default()
                }
                "ignore_merges" => {
                    found.model.settings.ignore_merges = map.next_value::<Option<bool>>()?.unwrap_or_default()
                }
                "continuing_subword_prefix" => {
                    found.model.settings.continuing_subword_prefix =
                        map.next_value::<Option<String>>()?.unwrap_or_default();
                }
                "end_of_word_suffix" => {
                    found.model.settings.end_of_word_suffix = map.next_value::<Option<String>>()?.unwrap_or_default();
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

fn put_aside<E: serde::de::Error>(place: &mut Option<LoadError>, error: LoadError) -> E {
    let told = E::custom(&error);
    *place = Some(error);
    told
}

struct VocabSeed<'f> {
    builder: &'f mut VocabBuilder,
    error: &'f mut Option<LoadError>,
}

impl<'de> DeserializeSeed<'de> for VocabSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for VocabSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map from tokens to ids")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(token) = map.next_key::<Cow<'de, str>>()? {
            let id: u32 = map.next_value()?;
            self.builder.push(token.as_bytes(), id).map_err(|error| put_aside(self.error, error))?;
        }
        Ok(())
    }
}

struct MergesSeed<'f> {
    merges: &'f mut MergeTexts,
    error: &'f mut Option<LoadError>,
}

impl<'de> DeserializeSeed<'de> for MergesSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for MergesSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of merges, each a string of two parts or a list of two strings")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(MergeSeed { merges: &mut *self.merges, error: &mut *self.error })?.is_some() {}
        Ok(())
    }
}

/// One merge, in either form.
struct MergeSeed<'f> {
    merges: &'f mut MergeTexts,
    error: &'f mut Option<LoadError>,
}

impl<'de> DeserializeSeed<'de> for MergeSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for MergeSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a merge, a string of two parts or a list of two strings")
    }

    fn visit_str<E: serde::de::Error>(self, line: &str) -> Result<(), E> {
        self.merges.push_line(line).map_err(|error| put_aside(self.error, error))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<(), A::Error> {
        let index = self.merges.ends.len();
        let left = pair.next_element::<Cow<'de, str>>()?;
        let right = pair.next_element::<Cow<'de, str>>()?;
        match (left, right, pair.next_element::<IgnoredAny>()?) {
            (Some(left), Some(right), None) => {
                self.merges.push(&left, &right);
                Ok(())
            }
            _ => {
                let error = LoadError::shape(format!("model.merges[{index}]"), "a merge has two parts");
                Err(put_aside(self.error, error))
            }
        }
    }
}
