//! Streaming decoding, and streams that stop.

use std::cell::RefCell;
use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{External, Unknown};
use napi_derive::napi;
use tokenlane_calls::stop::{self, Numbers, StopRequest};
use tokenlane_core::{DecodeStream, Tokenizer};

use crate::error::Failure;
use crate::guard::Held;
use crate::handle::Handle;
use crate::node_api::{self, JsText};
use crate::options;
use crate::text;

/// The stream that JS holds. It belongs to one JS thread, and no call back into JS happens while it
/// is borrowed, so the `RefCell` is never borrowed twice.
pub struct Stream(Held<RefCell<DecodeStream<Arc<Tokenizer>>>>);

/// Creates a stream that has received no ids yet.
#[napi(catch_unwind)]
pub fn decode_stream(env: Env, handle: &External<Handle>, skip_special_tokens: bool) -> napi::Result<External<Stream>> {
    node_api::guarded(env, || {
        let options = options::decode_options(skip_special_tokens);
        let stream = DecodeStream::new(Arc::clone(&handle.tokenizer), options);
        Ok(External::new(Stream(Held::new(RefCell::new(stream)))))
    })
}

/// Adds ids and returns the text that later ids can no longer change. `skipped` is the number of
/// ids before them whose text is that of [`stream_text`].
#[napi(catch_unwind)]
pub fn stream_push(env: Env, stream: &External<Stream>, ids: Unknown<'_>, skipped: u32) -> napi::Result<JsText> {
    node_api::guarded(env, || {
        let ids = text::copy_ids("ids", &ids)?;
        push(stream, &ids, skipped)
    })
}

fn push(stream: &Stream, ids: &[u32], skipped: u32) -> Result<JsText, Failure> {
    let mut stream = stream.0.borrow_mut();
    stream.skip(skipped as usize);
    Ok(JsText::try_from(stream.push(ids)?)?)
}

/// Like [`stream_push`], for one id: saves the caller a typed array per id, with a buffer outside
/// of the heap of JS that has to be collected.
#[napi(catch_unwind)]
pub fn stream_push_id(env: Env, stream: &External<Stream>, id: u32, skipped: u32) -> napi::Result<JsText> {
    node_api::guarded(env, || push(stream, &[id], skipped))
}

/// Returns the text that an id adds between two characters, whatever ids stand around it, or null
/// if there is no such text.
#[napi(catch_unwind)]
pub fn stream_text(env: Env, stream: &External<Stream>, id: u32) -> napi::Result<Option<JsText>> {
    node_api::guarded(env, || Ok(stream.0.borrow().fixed_text(id).map(JsText::try_from).transpose()?))
}

/// Returns the rest of the text and resets the stream.
#[napi(catch_unwind)]
pub fn stream_end(env: Env, stream: &External<Stream>) -> napi::Result<JsText> {
    node_api::guarded(env, || Ok(JsText::try_from(stream.0.borrow_mut().end()?)?))
}

/// A stream that stops, as JS holds it. Like [`Stream`], it belongs to one thread.
pub struct Stopper(Held<RefCell<stop::Stopper>>);

/// Creates a stream that stops.
#[napi(catch_unwind)]
pub fn stop_stream(env: Env, handle: &External<Handle>, request: StopRequest) -> napi::Result<External<Stopper>> {
    node_api::guarded(env, || {
        let stopper = stop::Stopper::new(&handle.tokenizer, request)?;
        Ok(External::new(Stopper(Held::new(RefCell::new(stopper)))))
    })
}

/// Adds ids after `count` others and returns the text that they release. Writes the other results
/// to `numbers`, a Uint32Array.
#[napi(catch_unwind)]
pub fn stop_push(
    env: Env,
    stream: &External<Stopper>,
    ids: Unknown<'_>,
    count: u32,
    numbers: Unknown<'_>,
) -> napi::Result<JsText> {
    node_api::guarded(env, || {
        let ids = text::copy_ids("ids", &ids)?;
        stopped(stream.0.borrow_mut().push(&ids, count)?, &numbers)
    })
}

/// Returns the rest of the text, like [`stop_push`], and resets the stream.
#[napi(catch_unwind)]
pub fn stop_end(env: Env, stream: &External<Stopper>, numbers: Unknown<'_>) -> napi::Result<JsText> {
    node_api::guarded(env, || stopped(stream.0.borrow_mut().end()?, &numbers))
}

fn stopped((text, result): (String, Numbers), numbers: &Unknown<'_>) -> Result<JsText, Failure> {
    node_api::fill_words(numbers, &result);
    Ok(JsText::try_from(text)?)
}

/// Returns the text that the end of the stream cut.
#[napi(catch_unwind)]
pub fn stop_cut(env: Env, stream: &External<Stopper>) -> napi::Result<JsText> {
    node_api::guarded(env, || Ok(JsText::try_from(stream.0.borrow_mut().take_cut())?))
}
