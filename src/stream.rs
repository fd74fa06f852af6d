//! Decoding as ids come.

use std::cell::RefCell;
use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{External, Unknown};
use napi_derive::napi;
use tokenlane_core::{DecodeStream, Tokenizer};

use crate::error::caught;
use crate::load::Handle;
use crate::node_api::{self, JsText};
use crate::options;
use crate::text;

/// What JS holds of a stream. It belongs to one JS thread, and no call on it calls back into JS, so it is never borrowed
/// twice.
pub struct Stream(RefCell<DecodeStream<Arc<Tokenizer>>>);

/// A stream that has seen no ids.
#[napi]
pub fn decode_stream(handle: &External<Handle>, skip_special_tokens: bool) -> External<Stream> {
    let options = options::decode_options(skip_special_tokens);
    External::new(Stream(RefCell::new(DecodeStream::new(Arc::clone(&handle.tokenizer), options))))
}

/// The text that becomes certain with some more ids.
#[napi]
pub fn stream_push(env: Env, stream: &External<Stream>, ids: Unknown<'_>) -> napi::Result<JsText> {
    let result = caught(|| {
        let ids = text::copy_ids("ids", &ids)?;
        Ok(JsText::try_from(stream.0.borrow_mut().push(&ids)?)?)
    });
    result.map_err(|failure| node_api::js_error(env, &failure))
}

/// The rest of the text; the stream is as new afterwards.
#[napi]
pub fn stream_end(env: Env, stream: &External<Stream>) -> napi::Result<JsText> {
    let result = caught(|| Ok(JsText::try_from(stream.0.borrow_mut().end()?)?));
    result.map_err(|failure| node_api::js_error(env, &failure))
}
