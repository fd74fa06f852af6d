//! Splitting a text into pieces: on the threadpool, or on the JS thread. Both share one function.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{AsyncTask, External, Unknown};
use napi_derive::napi;
use tokenlane_core::batch::Cancel;
use tokenlane_core::memory::Grow;
use tokenlane_core::split::{Boundary, Limits, Progress, Stopped};
use tokenlane_core::{Columns, EncodeOptions, Text, Tokenizer};

use crate::error::{Failure, caught};
use crate::line::Turn;
use crate::load::Handle;
use crate::memory::Words;
use crate::node_api;
use crate::options::{self, Extra};
use crate::task::{Job, Work};
use crate::text::{self, Arena};

/// What pieces are wanted, and of which part of a text. `lib/options.js` has checked the numbers.
#[napi(object)]
#[derive(Debug, Clone, Copy)]
pub struct SplitRequest {
    /// The most ids of a piece.
    pub max_tokens: u32,
    /// How many ids two pieces share at most.
    pub overlap: u32,
    /// 0 between any two characters, 1 behind sentences, 2 behind lines.
    pub boundary: u32,
    /// Where the next piece starts, in UTF-16 units.
    pub start: u32,
    /// Where the last piece ended.
    pub covered: u32,
    /// Whether no more of the text comes.
    pub is_end: bool,
}

/// The pieces of a text: start, end and number of ids of each; then where to go on, what is covered, and why there are no
/// more: 0 at the end, 1 the special tokens are too many, 2 the next character's ids are.
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
    // A string has less than 2^30 units.
    let mut words: Vec<u32> = vec![];
    words.try_grow(3 * made.pieces.len() + 3)?;
    words.extend(numbers.chain(rest).map(|number| number as u32));
    Ok(Words::try_from(words)?)
}

/// Splits a text, on this thread.
#[napi]
pub fn split(
    env: Env,
    handle: &External<Handle>,
    value: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    request: SplitRequest,
) -> napi::Result<Words> {
    let options = options::encode_options(flags, extra, Columns::NONE);
    let made =
        caught(|| text::with_text("text", &value, |text| pieces(&handle.tokenizer, text, &options, &request, None)));
    made.map_err(|failure| node_api::js_error(env, &failure))
}

/// Splits a text.
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

/// Splits as [`split`], on the threadpool.
#[napi]
pub fn split_async(
    env: Env,
    turn: &External<Turn>,
    handle: &External<Handle>,
    value: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    request: SplitRequest,
) -> napi::Result<AsyncTask<Job<SplitWork>>> {
    let text = Arena::of_one("text", &value).map_err(|failure| node_api::js_error(env, &failure))?;
    let work = SplitWork {
        tokenizer: Arc::clone(&handle.tokenizer),
        text,
        options: options::encode_options(flags, extra, Columns::NONE),
        request,
        cancel: turn.cancel(),
    };
    Ok(AsyncTask::new(Job::new(work, turn.take_permit())))
}
