//! Splitting a text into pieces, on the threadpool or on the JS thread, by the same function; and
//! encoding a part of a text.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{AsyncTask, External, Unknown};
use napi_derive::napi;
use tokenlane_calls::part::{self, TextPartRequest};
use tokenlane_calls::split::{self, SplitRequest};
use tokenlane_core::batch::Cancel;
use tokenlane_core::{Columns, EncodeOptions, Text, Tokenizer};

use crate::error::Failure;
use crate::handle::Handle;
use crate::memory::U32Values;
use crate::node_api;
use crate::options::{self, Extra};
use crate::queue::QueueEntry;
use crate::task::{Job, Work};
use crate::text::{self, Arena};

/// The numbers of [`split::pieces`], to be passed to JS.
fn pieces(
    tokenizer: &Tokenizer,
    text: Text<'_>,
    options: &EncodeOptions,
    request: &SplitRequest,
    cancel: Option<&Cancel>,
) -> Result<U32Values, Failure> {
    Ok(U32Values::try_from(split::pieces(tokenizer, text, options, request, cancel)?)?)
}

/// Splits a text on this thread.
#[napi(catch_unwind)]
pub fn split(
    env: Env,
    handle: &External<Handle>,
    value: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    request: SplitRequest,
) -> napi::Result<U32Values> {
    node_api::guarded(env, || {
        let options = options::encode_options(flags, extra, Columns::NONE);
        text::with_text("text", &value, |text| pieces(&handle.tokenizer, text, &options, &request, None))
    })
}

/// Encodes a part of a text between two cuts.
#[napi(catch_unwind)]
pub fn encode_part(
    env: Env,
    handle: &External<Handle>,
    value: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    request: TextPartRequest,
) -> napi::Result<U32Values> {
    node_api::guarded(env, || {
        let options = options::encode_options(flags, extra, Columns::NONE);
        text::with_text("text", &value, |text| {
            Ok(U32Values::try_from(part::encode(&handle.tokenizer, text, &options, &request)?)?)
        })
    })
}

/// The work of splitting a text.
pub struct SplitWork {
    tokenizer: Arc<Tokenizer>,
    text: Arena,
    options: EncodeOptions,
    request: SplitRequest,
    cancel: Arc<Cancel>,
}

impl Work for SplitWork {
    type Output = U32Values;
    type Js = U32Values;

    fn run(&mut self) -> Result<U32Values, Failure> {
        let texts = self.text.texts()?;
        pieces(&self.tokenizer, texts[0], &self.options, &self.request, Some(&self.cancel))
    }
}

/// Like [`split()`], but on the threadpool.
#[napi(catch_unwind)]
pub fn split_async(
    entry: &External<QueueEntry>,
    handle: &External<Handle>,
    value: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    request: SplitRequest,
) -> napi::Result<AsyncTask<Job<SplitWork>>> {
    node_api::guarded(node_api::env_of(&value), || {
        let work = SplitWork {
            tokenizer: Arc::clone(&handle.tokenizer),
            text: Arena::of_one("text", &value)?,
            options: options::encode_options(flags, extra, Columns::NONE),
            request,
            cancel: entry.cancel(),
        };
        Ok(AsyncTask::new(Job::new(work, entry.take_permit())))
    })
}
