//! Synchronous calls that need only a bounded number of tokens of a text. A call returns two
//! numbers by writing them to `result`, a Uint32Array of length two that `lib/` reuses, so that a
//! call creates no garbage.

use napi::Env;
use napi::bindgen_prelude::{External, Unknown};
use napi_derive::napi;
use tokenlane_core::split::Start;
use tokenlane_core::{Columns, EncodeOptions, Text, Tokenizer};

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
        if is_surely_beyond(handle, &value, limit, &options)? || starts_beyond(handle, &value, limit, &options)? {
            return Ok(false);
        }
        let (tokenizer, limit) = (&handle.tokenizer, limit as usize);
        let is_string = node_api::utf16_length(&value).is_some();
        text::with_text("text", &value, |text| {
            Ok(if is_string {
                tokenizer.counts_within(text, limit, &options)
            } else {
                tokenizer.is_within(text, limit, &options)
            }?)
        })
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

/// Whether a start of a long string shows that it exceeds the limit, so that it is not copied.
fn starts_beyond(handle: &Handle, value: &Unknown<'_>, limit: u32, options: &EncodeOptions) -> Result<bool, Failure> {
    let Some(length) = node_api::utf16_length(value) else { return Ok(false) };
    for start in Tokenizer::start_lens(length, limit as usize) {
        let Some(units) = node_api::utf16_start(value, start) else { return Ok(false) };
        if handle.tokenizer.is_surely_beyond_with(Text::Utf16(&units), limit as usize, options)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Writes the ids of the longest start of a text that fits to `target`. `result` gets the length of
/// that start, in UTF-16 units (in bytes if the text is a Uint8Array), and the number of ids.
/// Returns false if more of the text is needed.
#[napi(catch_unwind)]
pub fn encode_into(
    handle: &External<Handle>,
    value: Unknown<'_>,
    target: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    result: Unknown<'_>,
) -> napi::Result<bool> {
    node_api::guarded(node_api::env_of(&value), || {
        let (is_end, options) = (!options::is_part(flags), options::encode_options(flags, extra, Columns::NONE));
        let capacity = text::capacity("ids", &target)?;
        with_ids(|ids| {
            let found = text::with_text("text", &value, |text| {
                Ok(handle.tokenizer.encode_first(text, capacity, &options, is_end, ids)?)
            })?;
            let Some(found) = found else { return Ok(false) };
            node_api::fill_words(&target, ids);
            Ok(node_api::fill_words(&result, &[found.read as u32, found.written as u32]))
        })
    })
}

/// Finds the start of a text that has at most `limit` ids; `result` gets its length and its number
/// of ids. Returns null, or why there is none: 1 if the special tokens alone exceed the limit, 2 if
/// more of the text is needed.
#[napi(catch_unwind)]
pub fn truncate(
    handle: &External<Handle>,
    value: Unknown<'_>,
    limit: u32,
    flags: u32,
    extra: Option<Extra>,
    result: Unknown<'_>,
) -> napi::Result<Option<u32>> {
    node_api::guarded(node_api::env_of(&value), || {
        let (is_end, options) = (!options::is_part(flags), options::encode_options(flags, extra, Columns::NONE));
        let found = text::with_text("text", &value, |text| {
            Ok(handle.tokenizer.truncate(text, limit as usize, &options, is_end)?)
        })?;
        Ok(match found {
            Start::SpecialTokens => Some(1),
            Start::DependsOnMore => Some(2),
            Start::Found { length, tokens } => {
                node_api::fill_words(&result, &[length as u32, tokens as u32]);
                None
            }
        })
    })
}
