//! The `model` of a tokenizer.json: vocabulary and merges, read without a tree of values.

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::merge_list::{MergeIds, MergeTexts, MergesSeed};
use crate::bpe::alphabet::{CharacterIds, Characters, IdOf, Unknown, position};
use crate::bpe::merges::{Merge, Merges};
use crate::bpe::{Alphabet, Bpe, Spaces, SplitPoints, TokenTable};
use crate::byte_level;
use crate::definition::ModelSettings;
use crate::encoder::Seeds;
use crate::error::LoadError;
use crate::memory::fallible::require_for_tables;
use crate::tokenizer::TokenForm;
use crate::vocab::{Vocab, VocabBuilder};

/// The model as the file has it.
#[derive(Debug, Default)]
pub(crate) struct Model {
    vocab: Vocab,
    merges: MergeList,
    settings: ModelSettings,
}

/// The merges: as texts where they stand before what they are looked up in.
#[derive(Debug)]
enum MergeList {
    Texts(MergeTexts),
    Pairs(Vec<(u32, u32, Merge)>),
}

impl Default for MergeList {
    fn default() -> Self {
        Self::Texts(MergeTexts::default())
    }
}

/// A string, which is the file's own where it has no escapes.
#[derive(Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

pub(crate) enum ModelError {
    Json(serde_json::Error),
    Load(LoadError),
}

/// For a file that is read in one pass, which nearly all can be. An error says only that [`parse`] has to tell.
impl<'de> Deserialize<'de> for Model {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut found = Found { at_once: true, ..Found::default() };
        ModelSeed(&mut found).deserialize(deserializer)?;
        found.finish().map_err(D::Error::custom)
    }
}

/// The model of a file, whatever the order of its parts.
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
    /// Whether merges are looked up as they come. Then it is an error if what that takes comes behind them.
    at_once: bool,
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
        /// Bytes that a token and an id take at most in the tables made here.
        const MOST_BYTES: usize = 64;
        require_for_tables(vocab.len().max(vocab.dense_ids()).saturating_mul(MOST_BYTES));
        let alphabet = match form {
            TokenForm::Printable | TokenForm::Ranks => byte_alphabet(vocab),
            TokenForm::Text => self.character_alphabet(vocab),
        };
        let whole_words = self.ignore_merges.then(|| whole_words(vocab, form));
        let mut bpe = Bpe::new(alphabet, merges, whole_words, self.dropout.filter(|&dropout| dropout > 0.0));
        cut_words(&mut bpe, vocab, spaces);
        if form == TokenForm::Printable {
            bpe.find_self_tokens(Seeds::candidates(vocab, form).map(|(_, id)| id), vocab.dense_ids());
        }
        bpe
    }

    fn character_alphabet(&self, vocab: &Vocab) -> Alphabet {
        let (prefix, suffix) = (&self.continuing_subword_prefix, &self.end_of_word_suffix);
        let mut ids: [IdOf; 4] = Default::default();
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
            ids: CharacterIds::new(ids),
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
    if bpe.tokens.is_some() || bpe.dropout.is_some() {
        return;
    }
    let Alphabet::Characters(characters) = &mut bpe.alphabet else { return };
    let spaces = spaces.filter(|spaces| characters.knows(spaces.mark));
    let text = |id| vocab.token(id).and_then(|token| std::str::from_utf8(token).ok()).unwrap_or_default();
    let merges = bpe.merges.iter().map(|(left, right, _)| (text(left), text(right)));
    bpe.split_points = SplitPoints::new(merges, characters, spaces);
    bpe.reads_spaces = bpe.split_points.is_some() && spaces.is_some();
    if let Some(spaces) = spaces.filter(|_| bpe.reads_spaces) {
        characters.read_space_as(spaces.mark);
    }
}

fn byte_alphabet(vocab: &Vocab) -> Alphabet {
    let id = |byte: usize| vocab.id(byte_level::CHARACTERS[byte].encode_utf8(&mut [0; 4]).as_bytes());
    Alphabet::Bytes { ids: Box::new(std::array::from_fn(id)), missing_is_error: false }
}

/// The tokens as the model sees them.
fn whole_words(vocab: &Vocab, form: TokenForm) -> TokenTable {
    let TokenForm::Printable = form else { return TokenTable::new(vocab.iter()) };
    let (mut words, mut bytes) = (TokenTable::builder(vocab.len()), vec![]);
    for (token, id) in vocab.iter() {
        bytes.clear();
        if byte_level::bytes(token).all(|byte| byte.map(|byte| bytes.push(byte)).is_some()) {
            words.push(&bytes, id);
        }
    }
    words.finish()
}

impl Model {
    /// The tables; the texts of the merges are not needed any more.
    pub(crate) fn into_tables(self) -> Result<(Vocab, Merges, ModelSettings), LoadError> {
        let Self { vocab, merges, settings } = self;
        let pairs = match merges {
            MergeList::Pairs(pairs) => pairs,
            MergeList::Texts(texts) => texts.pairs(&vocab, &settings.continuing_subword_prefix)?,
        };
        Ok((vocab, Merges::new(&pairs), settings))
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
        let too_early = || A::Error::custom("merges before what they are looked up in");
        while let Some(Text(key)) = map.next_key()? {
            match key.as_ref() {
                "vocab" | "continuing_subword_prefix" if found.at_once && found.has_merges => {
                    return Err(too_early());
                }
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
                    let error = &mut found.error;
                    found.model.merges = if found.at_once {
                        let vocab = found.vocab.as_ref().ok_or_else(too_early)?;
                        let mut sink = MergeIds::new(vocab, &found.model.settings.continuing_subword_prefix);
                        map.next_value_seed(MergesSeed { sink: &mut sink, error })?;
                        MergeList::Pairs(
                            sink.finish()
                                .ok_or_else(|| A::Error::custom("a merge of what is not in the vocabulary"))?,
                        )
                    } else {
                        let mut sink = MergeTexts::default();
                        map.next_value_seed(MergesSeed { sink: &mut sink, error })?;
                        MergeList::Texts(sink)
                    };
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

pub(super) fn put_aside<E: serde::de::Error>(place: &mut Option<LoadError>, error: LoadError) -> E {
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
        while let Some(Text(token)) = map.next_key()? {
            let id: u32 = map.next_value()?;
            self.builder.push(token.as_bytes(), id).map_err(|error| put_aside(self.error, error))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    type Tokens = Vec<(Vec<u8>, u32)>;
    type Pairs = Vec<(u32, u32, Merge)>;

    /// What a model is made of, if it is sound: tokens, merges in their order, settings.
    fn tables(model: Option<Model>) -> Option<(Tokens, Pairs, ModelSettings)> {
        let (vocab, merges, settings) = model?.into_tables().ok()?;
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
            // As often as not the token of a merge is the next one, and some come twice.
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
