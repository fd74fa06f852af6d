//! Tokenizers derived from others, and tokenizers saved as tokenizer.json.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::External;
use napi_derive::napi;
use tokenlane_calls::change::ChangeOptions;
use tokenlane_core::memory::require_for_tokenizer;

use crate::handle::Handle;
use crate::memory::U8Values;
use crate::node_api;

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
pub fn components(env: Env, handle: &External<Handle>) -> napi::Result<Option<U8Values>> {
    node_api::guarded(env, || Ok(handle.tokenizer.components_json()?.map(U8Values::Vec)))
}

/// Returns the bytes of a tokenizer.json.
#[napi(catch_unwind)]
pub fn to_buffer(env: Env, handle: &External<Handle>) -> napi::Result<U8Values> {
    node_api::guarded(env, || Ok(U8Values::Vec(handle.tokenizer.to_json()?)))
}
