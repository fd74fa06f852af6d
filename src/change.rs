//! Tokenizers made from others, and tokenizers as files.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::External;
use napi_derive::napi;
use tokenlane_core::{AddedToken, Changes, NewToken};

use crate::error::caught;
use crate::load::Handle;
use crate::memory::Bytes;
use crate::node_api;
use crate::options::{ExtraPadding, ExtraTruncation, setting};

/// A token to add; `lib/changes.js` has checked it and filled in what was left out.
#[napi(object)]
pub struct ChangedToken {
    /// Its text.
    pub content: String,
    /// The id that it has to get.
    pub id: Option<u32>,
    /// See [`AddedToken`], as are the others.
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

/// What is to be different; components as JSON.
#[napi(object)]
pub struct ChangeOptions {
    pub added_tokens: Vec<ChangedToken>,
    pub normalizer: Option<String>,
    pub pre_tokenizer: Option<String>,
    pub post_processor: Option<String>,
    pub decoder: Option<String>,
    pub model: Option<String>,
    pub truncation: Option<ExtraTruncation>,
    /// No truncation any more.
    pub no_truncation: bool,
    pub padding: Option<ExtraPadding>,
    /// No padding any more.
    pub no_padding: bool,
}

impl From<ChangeOptions> for Changes {
    fn from(options: ChangeOptions) -> Self {
        Self {
            added_tokens: options.added_tokens.into_iter().map(NewToken::from).collect(),
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

/// A tokenizer like this one, with changes. No other load is given it: it was not made from the bytes of a file.
#[napi]
pub fn change(env: Env, handle: &External<Handle>, changes: ChangeOptions) -> napi::Result<External<Handle>> {
    caught(|| Ok(Arc::new(handle.tokenizer.with(&changes.into())?)))
        .map(Handle::into_external)
        .map_err(|failure| node_api::js_error(env, &failure))
}

/// The bytes of a tokenizer.json.
#[napi]
pub fn to_buffer(env: Env, handle: &External<Handle>) -> napi::Result<Bytes> {
    caught(|| Ok(Bytes::Plain(handle.tokenizer.to_json()?))).map_err(|failure| node_api::js_error(env, &failure))
}
