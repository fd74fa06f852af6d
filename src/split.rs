//! Splitting a text into pieces, on the threadpool or on the JS thread. Both use the same function.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{AsyncTask, External, Unknown};
use napi_derive::napi;
use tokenlane_core::batch::Cancel;
use tokenlane_core::memory::Grow;
use tokenlane_core::split::{Boundary, Limits, Progress, Stopped};
use tokenlane_core::{Columns, EncodeOptions, Text, Tokenizer};

use crate::error::Failure;
use crate::handle::Handle;
use crate::memory::Words;
use crate::node_api;
use crate::options::{self, Extra};
use crate::queue::QueueEntry;
use crate::task::{Job, Work};
use crate::text::{self, Arena};

/// The requested pieces. `lib/options.js` has validated the numbers.
#[napi(object)]
#[derive(Debug, Clone, Copy)]
pub struct SplitRequest {
    /// Maximum number of ids of a piece.
    pub max_tokens: u32,
    /// Maximum number of ids that two consecutive pieces share.
    pub overlap: u32,
    /// Where pieces may end: 0 between any two characters, 1 after sentences, 2 after lines.
    pub boundary: u32,
    /// Start of the next piece, in UTF-16 units.
    pub start: u32,
    /// End of the last piece, in UTF-16 units.
    pub covered: u32,
    /// Whether the text is complete, so that no more text follows.
    pub is_end: bool,
}

/// Splits a text. The result has start, end and number of ids of each piece; then the start of the
/// next piece, the end of the last one, and the reason why there are no more pieces: 0 the end of
/// the text, 1 the special tokens alone exceed the limit, 2 the ids of the next character do.
fn pieces(
    tokenizer: &Tokenizer,
    text: Text<'_>,
    options: &EncodeOptions,
    request: &SplitRequest,
    cancel: Option<&Cancel>,
) -> Result<Words, Failure> {
    let limits = Limits {
        max_tokens: request.max_tokens as usize,
        overlap: request.overlap as usize,
        boundary: match request.boundary {
            1 => Boundary::Sentence,
            2 => Boundary::Line,
            _ => Boundary::Token,
        },
    };
    let progress = Progress { start: request.start as usize, covered: request.covered as usize };
    let made = tokenizer.split(text, progress, &limits, options, request.is_end, cancel)?;
    let stopped = match made.stopped {
        Stopped::AtEnd | Stopped::Cancelled => 0,
        Stopped::SpecialTokens => 1,
        Stopped::Character => 2,
    };
    let numbers = made.pieces.iter().flat_map(|piece| [piece.start, piece.end, piece.tokens]);
    let rest = [made.progress.start, made.progress.covered, stopped];
    // Every number fits into 32 bits, because a string has fewer than 2^30 UTF-16 units.
    let mut words: Vec<u32> = vec![];
    words.try_grow(3 * made.pieces.len() + 3)?;
    words.extend(numbers.chain(rest).map(|number| number as u32));
    Ok(Words::try_from(words)?)
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
) -> napi::Result<Words> {
    node_api::guarded(env, || {
        let options = options::encode_options(flags, extra, Columns::NONE);
        text::with_text("text", &value, |text| pieces(&handle.tokenizer, text, &options, &request, None))
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
    type Output = Words;
    type Js = Words;

    fn run(&mut self) -> Result<Words, Failure> {
        let texts = self.text.texts()?;
        pieces(&self.tokenizer, texts[0], &self.options, &self.request, Some(&self.cancel))
    }

    fn deliver(&mut self, _env: Env, pieces: Words) -> napi::Result<Words> {
        Ok(pieces)
    }
}

/// Like [`split`], but on the threadpool.
#[napi(catch_unwind)]
pub fn split_async(
    env: Env,
    entry: &External<QueueEntry>,
    handle: &External<Handle>,
    value: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    request: SplitRequest,
) -> napi::Result<AsyncTask<Job<SplitWork>>> {
    node_api::guarded(env, || {
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
