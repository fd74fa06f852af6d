//! Builds a tokenizer from another one by changing parts of it. Both share the vocabulary and the
//! merges, and the whole model if it does not change. Patterns and the search for added tokens are
//! built again.

use std::sync::Arc;

use serde_json::Value;

use crate::added_tokens::{AddedToken, AddedTokens, Policy};
use crate::error::LoadError;
use crate::load::json::Part;
use crate::load::stages::{self, Origin};
use crate::options::Setting;
use crate::padding::Padding;
use crate::parts::{Components, Json, ModelSettings, Parts, Source};
use crate::tokenizer::Tokenizer;
use crate::truncation::Truncation;
use crate::vocab::Vocab;

/// The changes. Components are JSON as in a tokenizer.json; `null` removes a component. By default,
/// nothing changes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Changes {
    /// Tokens to add. A token that exists already is defined again. If it was special, calls still
    /// treat it as special, but a saved file has the last definition, as in Hugging Face
    /// tokenizers.
    pub added_tokens: Vec<NewToken>,
    /// Whether `added_tokens` are all added tokens, instead of further ones.
    pub replaces_added_tokens: bool,
    /// The treatment of special tokens that are spelled out in a text, for calls that do not say.
    pub special_tokens: Option<DefaultSpecialTokens>,
    /// The normalizer.
    pub normalizer: Option<String>,
    /// The pre-tokenizer.
    pub pre_tokenizer: Option<String>,
    /// The post-processor.
    pub post_processor: Option<String>,
    /// The decoder.
    pub decoder: Option<String>,
    /// A JSON object with the settings of the model to change. BPE: `dropout`, `unk_token`,
    /// `fuse_unk`, `byte_fallback`, `ignore_merges`. WordPiece: `unk_token`,
    /// `continuing_subword_prefix`, `max_input_chars_per_word`. Unigram: `unk_id`, `byte_fallback`.
    /// WordLevel: `unk_token`.
    pub model: Option<String>,
    /// The default truncation of calls. [`Setting::FileDefault`] does not change it.
    pub truncation: Setting<Truncation>,
    /// The default padding of calls. [`Setting::FileDefault`] does not change it.
    pub padding: Setting<Padding>,
}

/// The treatment of special tokens in a text by default: the meaning of
/// [`SpecialTokens::FileDefault`](crate::SpecialTokens::FileDefault).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultSpecialTokens {
    /// Each becomes its token.
    Parse,
    /// They are ordinary text.
    Text,
    /// The first one found is an error.
    Throw,
}

impl From<DefaultSpecialTokens> for Policy {
    fn from(default: DefaultSpecialTokens) -> Self {
        match default {
            DefaultSpecialTokens::Parse => Self::Parse,
            DefaultSpecialTokens::Text => Self::Text,
            DefaultSpecialTokens::Throw => Self::Throw,
        }
    }
}

/// A token to add.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewToken {
    /// The token. Its `id` is ignored. A token without content is skipped, as in Hugging Face
    /// tokenizers.
    pub token: AddedToken,
    /// The required id. A tokenizer of ranks assigns it; for others the rule below applies, and any
    /// other id is an error.
    ///
    /// By default: the id in the vocabulary, if the vocabulary has the token. Other tokens get
    /// consecutive ids, from the number of tokens in the vocabulary or from one more than the
    /// largest id of the added tokens, whichever is larger, as in Hugging Face tokenizers. (For
    /// ranks: from one more than the largest id.)
    pub id: Option<u32>,
}

impl Tokenizer {
    /// Returns a tokenizer like this one, with changes; this one is unchanged. Fails like loading,
    /// with paths as in a tokenizer.json.
    ///
    /// The normalizer, pre-tokenizer, decoder and model of a tokenizer of ranks cannot be changed:
    /// load the result of [`Self::to_json`] and change that.
    pub fn with(&self, changes: &Changes) -> Result<Self, LoadError> {
        let Parts { source, post_processor, vocab, added_tokens, truncation, padding, default_policy } =
            &self.pipeline.parts;
        let post_processor = changed(post_processor, changes.post_processor.as_ref(), "post_processor")?;
        let added_tokens = match changes.replaces_added_tokens {
            true => AddedTokens::none(matches!(source, Source::Ranks(_))),
            false => added_tokens.known(),
        };
        let (source, new_tokens) = match source {
            Source::TokenizerJson(components) => {
                (Source::TokenizerJson(components.with(changes, vocab.len())?), changes.tokens())
            }
            Source::SentencePiece => {
                refuse_components(changes, "changing this in a tokenizer of a SentencePiece model")?;
                (Source::SentencePiece, changes.tokens())
            }
            Source::Ranks(pattern) => {
                refuse_components(
                    changes,
                    "changing this in a tokenizer of ranks (write it as a tokenizer.json, load that, and change it there)",
                )?;
                (Source::Ranks(pattern.clone()), tokens_beside_ranks(vocab, &added_tokens, &changes.added_tokens)?)
            }
        };
        let parts = Parts {
            source,
            post_processor,
            vocab: Arc::clone(vocab),
            added_tokens,
            truncation: changes.truncation.or_file(truncation.as_ref()),
            padding: changes.padding.or_file(padding.as_ref()),
            default_policy: changes.special_tokens.map_or_else(|| default_policy.clone(), Policy::from),
        };
        let origin = Origin { pipeline: &self.pipeline, has_new_normalizer: changes.normalizer.is_some() };
        let pipeline = stages::build(parts, new_tokens, self.pipeline.tables(), Some(origin))?;
        for NewToken { token, id } in &changes.added_tokens {
            if let (Some(got), &Some(wanted)) = (pipeline.parts.added_tokens.by_content(&token.content), id)
                && got.id != wanted
            {
                return Err(LoadError::AddedTokenId { token: token.content.clone(), id: got.id, wanted });
            }
        }
        Ok(Self::new(pipeline))
    }
}

impl Changes {
    fn tokens(&self) -> Vec<AddedToken> {
        self.added_tokens.iter().map(|new| new.token.clone()).collect()
    }
}

/// New tokens with their ids: each gets the id of the token with the same bytes, or the
/// requested id, or one more than the largest id.
fn tokens_beside_ranks(vocab: &Vocab, beside: &AddedTokens, new: &[NewToken]) -> Result<Vec<AddedToken>, LoadError> {
    let mut tokens: Vec<AddedToken> = vec![];
    let largest = beside.tokens().iter().map(|token| token.id).chain(vocab.max_id()).max();
    let mut next_id = largest.map_or(0, |id| u64::from(id) + 1);
    for NewToken { token, id } in new.iter().filter(|new| !new.token.content.is_empty()) {
        let is_same = |other: &&AddedToken| other.content == token.content;
        let known = beside.by_content(&token.content).or_else(|| tokens.iter().find(is_same)).map(|other| other.id);
        let id = match (known.or_else(|| vocab.id(token.content.as_bytes())), id) {
            (Some(known), _) => known,
            (None, &Some(id)) => {
                let added = beside.by_id(id).map(|first| first.content.as_bytes());
                if let Some(first) = added.or_else(|| vocab.token(id)) {
                    let first = String::from_utf8_lossy(first).into_owned();
                    return Err(LoadError::DuplicateId { id, first, second: token.content.clone() });
                }
                id
            }
            (None, None) => u32::try_from(next_id).map_err(|_| LoadError::TooLarge {
                what: "the id of the next added token",
                size: next_id,
                limit: u32::MAX.into(),
            })?,
        };
        next_id = next_id.max(u64::from(id) + 1);
        tokens.push(AddedToken { id, ..token.clone() });
    }
    Ok(tokens)
}

fn refuse_components(changes: &Changes, what: &str) -> Result<(), LoadError> {
    let parts = [
        ("normalizer", changes.normalizer.is_some()),
        ("pre_tokenizer", changes.pre_tokenizer.is_some()),
        ("decoder", changes.decoder.is_some()),
        ("model", changes.model.is_some()),
    ];
    match parts.into_iter().find(|(_, is_changed)| *is_changed) {
        None => Ok(()),
        Some((path, _)) => Err(LoadError::unsupported(path, what)),
    }
}

impl Components {
    fn with(&self, changes: &Changes, tokens: usize) -> Result<Self, LoadError> {
        Ok(Self {
            normalizer: changed(&self.normalizer, changes.normalizer.as_ref(), "normalizer")?,
            pre_tokenizer: changed(&self.pre_tokenizer, changes.pre_tokenizer.as_ref(), "pre_tokenizer")?,
            decoder: changed(&self.decoder, changes.decoder.as_ref(), "decoder")?,
            model: match &changes.model {
                None => self.model.clone(),
                Some(text) => self.model.with(&Part::new(&parsed(text, "model")?.value(), "model"), tokens)?,
            },
        })
    }
}

impl ModelSettings {
    /// `tokens` is the size of the vocabulary.
    fn with(&self, part: &Part<'_>, tokens: usize) -> Result<Self, LoadError> {
        let Value::Object(fields) = part.value else {
            return Err(LoadError::shape(&part.path, "an object is expected here"));
        };
        let mut changed = self.clone();
        for name in fields.keys() {
            let field = part.field(name);
            match &mut changed {
                Self::Bpe(settings) => settings.set(name, &field)?,
                Self::WordPiece(settings) => settings.set(name, &field)?,
                Self::Unigram(settings) => settings.set(name, &field, tokens)?,
                Self::WordLevel(settings) => settings.set(name, &field)?,
            }
        }
        if let Self::Bpe(settings) = &changed {
            settings.check()?;
        }
        Ok(changed)
    }
}

fn changed(before: &Json, after: Option<&String>, name: &str) -> Result<Json, LoadError> {
    after.map_or_else(|| Ok(before.clone()), |text| parsed(text, name))
}

fn parsed(text: &str, name: &str) -> Result<Json, LoadError> {
    Json::new(text).map_err(|error| LoadError::shape(name, format!("it is not JSON: {error}")))
}
