//! Synchronous calls that need only a bounded number of tokens of a text. A call returns two
//! numbers by writing them to `result`, a Uint32Array of length two that `lib/` reuses, so that a
//! call creates no garbage.

use napi::Env;
use napi::bindgen_prelude::{External, Unknown};
use napi_derive::napi;
use tokenlane_core::{Columns, EncodeOptions};

use crate::error::Failure;
use crate::handle::Handle;
use crate::node_api;
use crate::options::{self, Extra};
use crate::text;
use crate::tokenizer::with_ids;

/// Whether a text has at most `limit` ids. A text whose length alone shows that it has more is not
/// copied.
#[napi(catch_unwind)]
pub fn is_within(
    env: Env,
    handle: &External<Handle>,
    value: Unknown<'_>,
    limit: u32,
    flags: u32,
    extra: Option<Extra>,
) -> napi::Result<bool> {
    node_api::guarded(env, || {
        let options = options::encode_options(flags, extra, Columns::NONE);
        if is_surely_beyond(handle, &value, limit, &options)? {
            return Ok(false);
        }
        text::with_text("text", &value, |text| Ok(handle.tokenizer.is_within(text, limit as usize, &options)?))
    })
}

fn is_surely_beyond(
    handle: &Handle,
    value: &Unknown<'_>,
    limit: u32,
    options: &EncodeOptions,
) -> Result<bool, Failure> {
    match node_api::utf16_length(value).or_else(|| node_api::byte_length(value)) {
        Some(length) => Ok(handle.tokenizer.is_surely_beyond(length, limit as usize, options)?),
        None => Ok(false),
    }
}

/// Writes as many ids of a text to `target` as fit. `result` gets the length of the text that these
/// ids cover, in UTF-16 units (in bytes if the text is a Uint8Array), and the number of ids.
#[napi(catch_unwind)]
pub fn encode_into(
    env: Env,
    handle: &External<Handle>,
    value: Unknown<'_>,
    target: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    result: Unknown<'_>,
) -> napi::Result<()> {
    node_api::guarded(env, || {
        let options = options::encode_options(flags, extra, Columns::NONE);
        let room = text::room("ids", &target)?;
        with_ids(|ids| {
            let made = text::with_text("text", &value, |text| {
                Ok(handle.tokenizer.encode_first(text, room, &options, ids)?)
            })?;
            node_api::fill_words(&target, ids);
            node_api::fill_words(&result, &[made.read as u32, made.written as u32]);
            Ok(())
        })
    })
}

/// Finds the longest prefix of a text that has at most `limit` ids. `result` gets its length and
/// its number of ids. Returns false if the special tokens alone exceed the limit.
#[napi(catch_unwind)]
pub fn longest_prefix(
    env: Env,
    handle: &External<Handle>,
    value: Unknown<'_>,
    limit: u32,
    flags: u32,
    extra: Option<Extra>,
    result: Unknown<'_>,
) -> napi::Result<bool> {
    node_api::guarded(env, || {
        let options = options::encode_options(flags, extra, Columns::NONE);
        let prefix = text::with_text("text", &value, |text| {
            Ok(handle.tokenizer.longest_prefix(text, limit as usize, &options)?)
        })?;
        let numbers = prefix.map(|prefix| [prefix.length as u32, prefix.tokens as u32]);
        Ok(numbers.is_some_and(|numbers| node_api::fill_words(&result, &numbers)))
    })
}

/// Maximum number of UTF-16 units or bytes of text that `ids` ids can stand for; null if there is
/// no bound.
#[napi(catch_unwind)]
pub fn most_units(env: Env, handle: &External<Handle>, ids: u32) -> napi::Result<Option<f64>> {
    node_api::guarded(env, || Ok(handle.tokenizer.most_bytes(ids as usize).map(|bytes| bytes as f64)))
}
