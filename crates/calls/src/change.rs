//! The changes from which a tokenizer is derived.

#[cfg(feature = "napi")]
use napi_derive::napi;
use serde::Deserialize;
use tokenlane_core::{AddedToken, Changes, DefaultSpecialTokens, NewToken};

use crate::options::{ExtraPadding, ExtraTruncation, setting};

/// A token to add. `lib/changes.js` has validated it and filled in the defaults.
#[cfg_attr(feature = "napi", napi(object))]
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedToken {
    /// The text of the token.
    pub content: String,
    /// The required id; by default the next free one.
    pub id: Option<u32>,
    /// See [`AddedToken::special`].
    pub special: bool,
    /// See [`AddedToken::single_word`].
    pub single_word: bool,
    /// See [`AddedToken::lstrip`].
    pub lstrip: bool,
    /// See [`AddedToken::rstrip`].
    pub rstrip: bool,
    /// See [`AddedToken::normalized`].
    pub normalized: bool,
}

impl From<ChangedToken> for NewToken {
    fn from(token: ChangedToken) -> Self {
        let ChangedToken { content, id, special, single_word, lstrip, rstrip, normalized } = token;
        Self { token: AddedToken { content, id: 0, single_word, lstrip, rstrip, normalized, special }, id }
    }
}

/// The requested changes. Components are given as JSON.
#[cfg_attr(feature = "napi", napi(object))]
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeOptions {
    /// Tokens to add.
    pub added_tokens: Vec<ChangedToken>,
    /// Whether `added_tokens` are all added tokens.
    pub replaces_added_tokens: Option<bool>,
    /// Special tokens in a text by default: `parse`, `text` or `throw`; else no change.
    pub special_tokens: Option<String>,
    /// The normalizer.
    pub normalizer: Option<String>,
    /// The pre-tokenizer.
    pub pre_tokenizer: Option<String>,
    /// The post-processor.
    pub post_processor: Option<String>,
    /// The decoder.
    pub decoder: Option<String>,
    /// Settings of the model.
    pub model: Option<String>,
    /// The truncation.
    pub truncation: Option<ExtraTruncation>,
    /// Whether to remove the truncation.
    pub no_truncation: bool,
    /// The padding.
    pub padding: Option<ExtraPadding>,
    /// Whether to remove the padding.
    pub no_padding: bool,
}

impl From<ChangeOptions> for Changes {
    fn from(options: ChangeOptions) -> Self {
        Self {
            added_tokens: options.added_tokens.into_iter().map(NewToken::from).collect(),
            replaces_added_tokens: options.replaces_added_tokens.unwrap_or(false),
            special_tokens: options.special_tokens.as_deref().and_then(|name| match name {
                "parse" => Some(DefaultSpecialTokens::Parse),
                "text" => Some(DefaultSpecialTokens::Text),
                "throw" => Some(DefaultSpecialTokens::Throw),
                _ => None,
            }),
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
