//! What a tokenizer says about itself.

#[cfg(feature = "napi")]
use napi_derive::napi;
use serde::Serialize;
use tokenlane_core::Tokenizer;

/// The special tokens and ids that `lib/facts.js` reads.
#[cfg_attr(feature = "napi", napi(object))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// The special tokens.
    pub special_tokens: Vec<String>,
    /// Their ids, in the same order.
    pub special_ids: Vec<u32>,
    /// The id of the token for unknown text.
    pub unk_id: Option<u32>,
    /// The token of the file's padding.
    pub pad_token: Option<String>,
}

impl Facts {
    /// Reads the facts of a tokenizer.
    pub fn of(tokenizer: &Tokenizer) -> Self {
        let (special_tokens, special_ids) =
            tokenizer.special_tokens().map(|(content, id)| (content.to_owned(), id)).unzip();
        let pad_token = tokenizer.padding().map(|padding| padding.token.clone());
        Self { special_tokens, special_ids, unk_id: tokenizer.unk_id(), pad_token }
    }
}
