//! Tokenizers derived from others, and tokenizers saved as tokenizer.json.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::External;
use napi_derive::napi;
use tokenlane_core::memory::require_for_tokenizer;
use tokenlane_core::{AddedToken, Changes, NewToken};

use crate::handle::Handle;
use crate::memory::Bytes;
use crate::node_api;
use crate::options::{ExtraPadding, ExtraTruncation, setting};

/// A token to add. `lib/changes.js` has validated it and filled in the defaults.
#[napi(object)]
pub struct ChangedToken {
    /// The text of the token.
    pub content: String,
    /// The required id; by default the next free one.
    pub id: Option<u32>,
    /// These flags are those of [`AddedToken`].
    pub special: bool,
    pub single_word: bool,
    pub lstrip: bool,
    pub rstrip: bool,
    pub normalized: bool,
}

impl From<ChangedToken> for NewToken {
    fn from(token: ChangedToken) -> Self {
        let ChangedToken { content, id, special, single_word, lstrip, rstrip, normalized } = token;
        Self { token: AddedToken { content, id: 0, single_word, lstrip, rstrip, normalized, special }, id }
    }
}

/// The requested changes. Components are given as JSON.
#[napi(object)]
pub struct ChangeOptions {
    pub added_tokens: Vec<ChangedToken>,
    /// Whether `added_tokens` are all added tokens.
    pub replaces_added_tokens: Option<bool>,
    /// Whether special tokens in a text are ordinary text by default.
    pub special_tokens_are_text: Option<bool>,
    pub normalizer: Option<String>,
    pub pre_tokenizer: Option<String>,
    pub post_processor: Option<String>,
    pub decoder: Option<String>,
    pub model: Option<String>,
    pub truncation: Option<ExtraTruncation>,
    /// Whether to remove the truncation.
    pub no_truncation: bool,
    pub padding: Option<ExtraPadding>,
    /// Whether to remove the padding.
    pub no_padding: bool,
}

impl From<ChangeOptions> for Changes {
    fn from(options: ChangeOptions) -> Self {
        Self {
            added_tokens: options.added_tokens.into_iter().map(NewToken::from).collect(),
            replaces_added_tokens: options.replaces_added_tokens.unwrap_or(false),
            special_tokens_are_text: options.special_tokens_are_text.unwrap_or(false),
            normalizer: options.normalizer,
            pre_tokenizer: options.pre_tokenizer,
            post_processor: options.post_processor,
            decoder: options.decoder,
            model: options.model,
            truncation: setting(options.no_truncation, options.truncation.as_ref().map(Into::into)),
            padding: setting(options.no_padding, options.padding.as_ref().map(Into::into)),
        }
    }
}

/// Returns a copy of a tokenizer with changes. It is not shared with later loads, because it was
/// not built from the bytes of a file.
#[napi(catch_unwind)]
pub fn change(env: Env, handle: &External<Handle>, changes: ChangeOptions) -> napi::Result<External<Handle>> {
    node_api::guarded(env, || {
        require_for_tokenizer(handle.tokenizer.memory_bytes())?;
        Ok(Handle::into_external(Arc::new(handle.tokenizer.with(&changes.into())?)))
    })
}

/// Returns the tokenizer.json without its vocabulary and merges, or nothing for another file.
#[napi(catch_unwind)]
pub fn components(env: Env, handle: &External<Handle>) -> napi::Result<Option<Bytes>> {
    node_api::guarded(env, || Ok(handle.tokenizer.components_json()?.map(Bytes::Plain)))
}

/// Returns the bytes of a tokenizer.json.
#[napi(catch_unwind)]
pub fn to_buffer(env: Env, handle: &External<Handle>) -> napi::Result<Bytes> {
    node_api::guarded(env, || Ok(Bytes::Plain(handle.tokenizer.to_json()?)))
}
