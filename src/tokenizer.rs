//! The synchronous calls for one text, one list of ids or one token.

use std::cell::Cell;

use napi::bindgen_prelude::{Either, Either3, External, Unknown};
use napi::{Env, JsString};
use napi_derive::napi;
use tokenlane_calls::facts::Facts;
use tokenlane_core::{Columns, Format, Input, Sequence, TokenBytes};

use crate::encoding::Column;
use crate::error::{Class, Failure};
use crate::handle::Handle;
use crate::memory::{U8Values, U32Values};
use crate::node_api::{self, JsText};
use crate::options::{self, Extra};
use crate::text;

/// The id buffer is freed after use if its capacity exceeds this number of ids.
const MAX_KEPT_IDS: usize = 1 << 20;

thread_local! {
    /// Id buffer that is reused between calls, so that encoding a short text does not allocate.
    static IDS: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

/// Runs `work` with the empty id buffer of this thread. `work` may run JS that calls this function
/// again: the second call has another buffer.
pub(crate) fn with_ids<T>(work: impl FnOnce(&mut Vec<u32>) -> T) -> T {
    let mut ids = IDS.take();
    ids.clear();
    let result = work(&mut ids);
    if ids.capacity() <= MAX_KEPT_IDS {
        IDS.set(ids);
    }
    result
}

/// Encodes a text, or a pair of texts if `pair` is not undefined. If the ids fit into the
/// Uint32Array `scratch`, they are written there and their number is returned. Otherwise a new
/// ArrayBuffer with the ids is returned.
#[napi(catch_unwind)]
pub fn encode(
    handle: &External<Handle>,
    value: Unknown<'_>,
    pair: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    scratch: Unknown<'_>,
) -> napi::Result<Either<u32, U32Values>> {
    node_api::guarded(node_api::env_of(&value), || {
        let options = options::encode_options(flags, extra, Columns::NONE);
        with_ids(|ids| {
            text::with_input(&value, &pair, flags, |input| match input {
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
            Ok(Either::B(U32Values::try_from(&ids[..])?))
        })
    })
}

/// Returns the number of ids of a text.
#[napi(catch_unwind)]
pub fn count(
    env: Env,
    handle: &External<Handle>,
    value: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
) -> napi::Result<f64> {
    node_api::guarded(env, || {
        let options = options::encode_options(flags, extra, Columns::NONE);
        text::with_text("text", &value, |text| Ok(handle.tokenizer.count(text, &options)? as f64))
    })
}

/// Decodes ids to text. Invalid UTF-8 becomes U+FFFD.
#[napi(catch_unwind)]
pub fn decode(
    env: Env,
    handle: &External<Handle>,
    ids: Unknown<'_>,
    skip_special_tokens: bool,
) -> napi::Result<JsText> {
    node_api::guarded(env, || {
        let options = options::decode_options(skip_special_tokens);
        let ids = text::copy_ids("ids", &ids)?;
        Ok(JsText::try_from(handle.tokenizer.decode(&ids, &options)?)?)
    })
}

/// Decodes ids to bytes, which need not be valid UTF-8.
#[napi(catch_unwind)]
pub fn decode_bytes(
    env: Env,
    handle: &External<Handle>,
    ids: Unknown<'_>,
    skip_special_tokens: bool,
) -> napi::Result<U8Values> {
    node_api::guarded(env, || {
        let options = options::decode_options(skip_special_tokens);
        let ids = text::copy_ids("ids", &ids)?;
        Ok(U8Values::Vec(handle.tokenizer.decode_bytes(&ids, &options)?))
    })
}

/// Returns the id of a token, or null if there is no such token.
#[napi(catch_unwind)]
pub fn token_to_id(env: Env, handle: &External<Handle>, token: JsString<'_>) -> napi::Result<Option<u32>> {
    node_api::guarded(env, || {
        let unread = |error: napi::Error| Failure::new(Class::Error, "ERR_TOKENLANE_NODE", error.to_string());
        // A character has at least as many UTF-8 bytes as UTF-16 units, so a string with more units
        // than the longest token has bytes is not a token. It is not copied.
        if token.utf16_len().map_err(unread)? > handle.tokenizer.max_token_bytes() {
            return Ok(None);
        }
        let token = token.into_utf8().map_err(unread)?;
        Ok(handle.tokenizer.token_to_id(token.as_str().map_err(unread)?))
    })
}

/// Returns the token of an id, or null if there is no such id.
#[napi(catch_unwind)]
pub fn id_to_token(env: Env, handle: &External<Handle>, id: u32) -> napi::Result<Option<JsText>> {
    node_api::guarded(env, || Ok(handle.tokenizer.id_to_token(id).map(JsText::try_from).transpose()?))
}

/// Returns the offsets and bytes of all tokens and whether each is an added one, or null if the ids
/// are too far apart.
#[napi(catch_unwind)]
pub fn token_bytes(env: Env, handle: &External<Handle>) -> napi::Result<Option<Vec<Column>>> {
    node_api::guarded(env, || {
        let Some(TokenBytes { bytes, offsets, added }) = handle.tokenizer.token_bytes()? else { return Ok(None) };
        Ok(Some(vec![Either3::A(offsets.try_into()?), Either3::B(bytes.try_into()?), Either3::B(added.try_into()?)]))
    })
}

/// Returns the number of tokens.
#[napi(catch_unwind)]
pub fn vocab_size(env: Env, handle: &External<Handle>, with_added_tokens: bool) -> napi::Result<f64> {
    node_api::guarded(env, || Ok(handle.tokenizer.vocab_size(with_added_tokens) as f64))
}

/// Returns the format of the file that a tokenizer was loaded from.
#[napi(catch_unwind)]
pub fn file_format(env: Env, handle: &External<Handle>) -> napi::Result<&'static str> {
    node_api::guarded(env, || {
        Ok(match handle.tokenizer.format() {
            Format::TokenizerJson => "tokenizer.json",
            Format::SentencePiece => "sentencepiece",
            Format::Ranks => "ranks",
        })
    })
}

/// Returns the special tokens and ids of a tokenizer.
#[napi(catch_unwind)]
pub fn facts(env: Env, handle: &External<Handle>) -> napi::Result<Facts> {
    node_api::guarded(env, || Ok(Facts::of(&handle.tokenizer)))
}

/// Returns the largest id of a token, or -1 if there are no tokens.
#[napi(catch_unwind)]
pub fn max_id(env: Env, handle: &External<Handle>) -> napi::Result<f64> {
    node_api::guarded(env, || Ok(handle.tokenizer.max_id().map_or(-1.0, f64::from)))
}

/// Returns the bytes of the tables and of the word caches, the hits and misses of the word caches,
/// and the number of encoded bytes of text, by which tests measure work.
#[napi(catch_unwind)]
pub fn stats(env: Env, handle: &External<Handle>) -> napi::Result<Vec<f64>> {
    let stats = || {
        let (hits, misses) = handle.tokenizer.cache_counts();
        let caches = handle.tokenizer.cache_bytes();
        let tables = handle.tokenizer.memory_bytes() - caches;
        let encoded = handle.tokenizer.encoded_bytes();
        Ok(vec![tables as f64, caches as f64, hits as f64, misses as f64, encoded as f64])
    };
    node_api::guarded(env, stats)
}

/// Detaches the memory of a batch: all views of it become empty.
#[napi(catch_unwind)]
pub fn detach(env: Env, buffer: Unknown<'_>) -> napi::Result<()> {
    node_api::guarded(env, || {
        node_api::detach(&buffer);
        Ok(())
    })
}
