//! The synchronous calls: one text, one list of ids, one token.

use std::cell::RefCell;

use napi::bindgen_prelude::{Either, External, Unknown};
use napi::{Env, JsString};
use napi_derive::napi;
use tokenlane_core::{Columns, Input, Sequence};

use crate::error::caught;
use crate::load::Handle;
use crate::memory::{Bytes, Words};
use crate::node_api::{self, JsText};
use crate::options::{self, Extra};
use crate::text;

/// Ids that grew past this many are freed after use.
pub(crate) const MOST_KEPT: usize = 1 << 20;

thread_local! {
    /// The ids of the text at hand; kept, so that a short text allocates nothing.
    pub(crate) static IDS: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// Encodes one text or, where `pair` is not undefined, a pair. Ids that fit into `scratch`, a Uint32Array, are written there and their number is returned; else
/// they come as an ArrayBuffer of their own.
#[napi]
pub fn encode(
    env: Env,
    handle: &External<Handle>,
    value: Unknown<'_>,
    pair: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    scratch: Unknown<'_>,
) -> napi::Result<Either<u32, Words>> {
    let options = options::encode_options(flags, extra, Columns::NONE);
    let result = caught(|| {
        IDS.with_borrow_mut(|ids| {
            ids.clear();
            text::with_input(&value, &pair, options::has_words(flags), |input| match input {
                Input { first: Sequence::Text(text), second: None } => {
                    Ok(handle.tokenizer.encode_ids(*text, &options, ids)?)
                }
                _ => {
                    *ids = handle.tokenizer.encode_input(input, &options)?.into_ids();
                    Ok(())
                }
            })?;
            if node_api::fill_words(&scratch, ids) {
                return Ok(Either::A(ids.len() as u32));
            }
            let words = Words::try_from(&ids[..])?;
            if ids.capacity() > MOST_KEPT {
                *ids = Vec::new();
            }
            Ok(Either::B(words))
        })
    });
    result.map_err(|failure| node_api::js_error(env, &failure))
}

/// How many ids a text has.
#[napi]
pub fn count(
    env: Env,
    handle: &External<Handle>,
    value: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
) -> napi::Result<f64> {
    let options = options::encode_options(flags, extra, Columns::NONE);
    let result = caught(|| text::with_text("text", &value, |text| Ok(handle.tokenizer.count(text, &options)? as f64)));
    result.map_err(|failure| node_api::js_error(env, &failure))
}

/// The text of some ids; what is no UTF-8 becomes U+FFFD.
#[napi]
pub fn decode(
    env: Env,
    handle: &External<Handle>,
    ids: Unknown<'_>,
    skip_special_tokens: bool,
) -> napi::Result<JsText> {
    let options = options::decode_options(skip_special_tokens);
    let result = caught(|| {
        let ids = text::copy_ids("ids", &ids)?;
        Ok(JsText::try_from(handle.tokenizer.decode(&ids, &options)?)?)
    });
    result.map_err(|failure| node_api::js_error(env, &failure))
}

/// The bytes of some ids, as they are.
#[napi]
pub fn decode_bytes(
    env: Env,
    handle: &External<Handle>,
    ids: Unknown<'_>,
    skip_special_tokens: bool,
) -> napi::Result<Bytes> {
    let options = options::decode_options(skip_special_tokens);
    let result = caught(|| {
        let ids = text::copy_ids("ids", &ids)?;
        Ok(Bytes::Plain(handle.tokenizer.decode_bytes(&ids, &options)?))
    });
    result.map_err(|failure| node_api::js_error(env, &failure))
}

/// The id of a token.
#[napi]
pub fn token_to_id(env: Env, handle: &External<Handle>, token: JsString<'_>) -> napi::Result<Option<u32>> {
    // A character has at least as many bytes as UTF-16 units. A longer string is not copied.
    if token.utf16_len()? > handle.tokenizer.max_token_bytes() {
        return Ok(None);
    }
    let token = token.into_utf8()?;
    let token = token.as_str()?;
    caught(|| Ok(handle.tokenizer.token_to_id(token))).map_err(|failure| node_api::js_error(env, &failure))
}

/// The token of an id.
#[napi]
pub fn id_to_token(env: Env, handle: &External<Handle>, id: u32) -> napi::Result<Option<JsText>> {
    caught(|| Ok(handle.tokenizer.id_to_token(id).map(JsText::try_from).transpose()?))
        .map_err(|failure| node_api::js_error(env, &failure))
}

/// How many tokens there are.
#[napi]
pub fn vocab_size(env: Env, handle: &External<Handle>, with_added_tokens: bool) -> napi::Result<f64> {
    caught(|| Ok(handle.tokenizer.vocab_size(with_added_tokens) as f64))
        .map_err(|failure| node_api::js_error(env, &failure))
}

/// Bytes of the tables and of the word caches; words found and not found in the latter; bytes of text encoded, which tests
/// count work by.
#[napi]
pub fn stats(env: Env, handle: &External<Handle>) -> napi::Result<Vec<f64>> {
    let stats = || {
        let (hits, misses) = handle.tokenizer.cache_counts();
        let caches = handle.tokenizer.cache_bytes();
        let tables = handle.tokenizer.memory_bytes() - caches;
        let encoded = handle.tokenizer.encoded_bytes();
        Ok(vec![tables as f64, caches as f64, hits as f64, misses as f64, encoded as f64])
    };
    caught(stats).map_err(|failure| node_api::js_error(env, &failure))
}

/// Lets go of a batch's memory: every view of it becomes empty.
#[napi]
pub fn detach(buffer: Unknown<'_>) {
    node_api::detach(&buffer);
}
