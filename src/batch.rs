//! Batches: on the threadpool, or on the JS thread for whoever can wait. Both share one function per operation.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{AsyncTask, Either3, External, Unknown};
use napi_derive::napi;
use tokenlane_core::batch::{self, BatchColumns, Cancel, RunOptions};
use tokenlane_core::memory::{Grow, OutOfMemory};
use tokenlane_core::{Columns, DecodeOptions, EncodeOptions, Text, Tokenizer};

use crate::encoding::Column;
use crate::error::{Class, Failure, caught};
use crate::line::Turn;
use crate::load::Handle;
use crate::memory::{Bytes, Words};
use crate::node_api::{self, Blocks, JsTexts};
use crate::options::{self, COLUMNS, Extra};
use crate::task::{Job, Work};
use crate::text::{self, Arena, Inputs};

/// Encodes texts.
pub struct EncodeWork {
    tokenizer: Arc<Tokenizer>,
    inputs: Inputs,
    options: EncodeOptions,
    threads: Option<usize>,
    cancel: Option<Arc<Cancel>>,
}

impl Work for EncodeWork {
    type Output = Blocks;
    type Js = Blocks;

    fn run(&mut self) -> Result<Blocks, Failure> {
        let (tokenizer, options) = (&*self.tokenizer, &self.options);
        let run = RunOptions { threads: self.threads, cancel: self.cancel.as_deref() };
        let encoded = self.inputs.with(
            |texts| batch::encode_texts_deferred(tokenizer, texts, options, &run),
            |inputs| batch::encode_inputs_deferred(tokenizer, inputs, options, &run),
        )??;
        // The memory of the texts serves for the result.
        self.inputs = Inputs::default();
        let encoded = encoded.gather()?;
        let rows = encoded.len() as u32;
        let (slab, mut columns, row_texts) = encoded.into_parts();
        let take =
            |&column: &Columns| options.columns.contains(column).then(|| taken(&mut columns, column)).transpose();
        let columns = COLUMNS.iter().map(take).collect::<Result<_, _>>()?;
        let row_texts = row_texts.map(Words::try_from).transpose()?;
        Ok(Blocks { ids: Words::Pooled(slab), rows, row_texts, columns })
    }

    fn deliver(&mut self, _env: Env, blocks: Blocks) -> napi::Result<Blocks> {
        Ok(blocks)
    }
}

/// A column taken out of a batch: numbers are lent to JS, as the ids are.
fn taken(columns: &mut BatchColumns, column: Columns) -> Result<Column, OutOfMemory> {
    Ok(match column {
        Columns::TOKENS => Either3::C(columns.take_tokens().try_into()?),
        Columns::SPECIAL_TOKENS_MASK | Columns::ATTENTION_MASK => Either3::B(Bytes::Pooled(columns.take_u8(column))),
        _ => Either3::A(Words::Pooled(columns.take_u32(column))),
    })
}

/// Counts the ids of texts.
pub struct CountWork(EncodeWork);

impl Work for CountWork {
    type Output = Words;
    type Js = Words;

    fn run(&mut self) -> Result<Words, Failure> {
        let Self(work) = self;
        let run = RunOptions { threads: work.threads, cancel: work.cancel.as_deref() };
        let count = |texts: &[Text<'_>]| batch::count_batch(&work.tokenizer, texts, &work.options, &run);
        Ok(Words::try_from(work.inputs.with(count, |_| Ok(vec![]))??)?)
    }

    fn deliver(&mut self, _env: Env, counts: Words) -> napi::Result<Words> {
        Ok(counts)
    }
}

/// Decodes rows of ids: row `i` is `ids[row_offsets[i]..row_offsets[i + 1]]`.
pub struct DecodeWork {
    tokenizer: Arc<Tokenizer>,
    ids: Vec<u32>,
    row_offsets: Vec<u32>,
    options: DecodeOptions,
    threads: Option<usize>,
    cancel: Option<Arc<Cancel>>,
}

impl Work for DecodeWork {
    type Output = JsTexts;
    type Js = JsTexts;

    fn run(&mut self) -> Result<JsTexts, Failure> {
        let mut rows: Vec<&[u32]> = Vec::new();
        rows.try_grow(self.row_offsets.len())?;
        for ends in self.row_offsets.windows(2) {
            rows.push(self.ids.get(ends[0] as usize..ends[1] as usize).ok_or_else(|| {
                let message = "the row offsets must rise from 0 to the number of ids";
                Failure::new(Class::Range, "ERR_TOKENLANE_ARGUMENT_VALUE", message)
            })?);
        }
        let run = RunOptions { threads: self.threads, cancel: self.cancel.as_deref() };
        let texts = batch::decode_batch(&self.tokenizer, &rows, &self.options, &run)?;
        Ok(texts.try_into()?)
    }

    fn deliver(&mut self, _env: Env, texts: JsTexts) -> napi::Result<JsTexts> {
        Ok(texts)
    }
}

/// Says how many processors batches may use: in WebAssembly only JS knows.
#[napi]
pub fn set_processors(processors: u32) {
    batch::set_processors(processors as usize);
}

/// Copies the texts and packs the work.
fn encode_work(
    turn: Option<&Turn>,
    handle: &Handle,
    inputs: Inputs,
    flags: u32,
    extra: Option<Extra>,
    threads: u32,
) -> EncodeWork {
    EncodeWork {
        tokenizer: Arc::clone(&handle.tokenizer),
        inputs,
        options: options::batch_options(flags, extra, &handle.tokenizer),
        threads: options::threads(threads),
        cancel: turn.map(Turn::cancel),
    }
}

/// Encodes an array of texts on the threadpool; each with the one at its place in `pairs`, if that is an array.
// JS gives them one by one because that is cheapest.
#[allow(clippy::too_many_arguments)]
#[napi]
pub fn encode_batch(
    env: Env,
    turn: &External<Turn>,
    handle: &External<Handle>,
    texts: Unknown<'_>,
    pairs: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    threads: u32,
) -> napi::Result<AsyncTask<Job<EncodeWork>>> {
    let inputs = Inputs::copy(env, &texts, &pairs, options::has_words(flags))?;
    let work = encode_work(Some(turn), handle, inputs, flags, extra, threads);
    Ok(AsyncTask::new(Job::new(work, turn.take_permit())))
}

/// Encodes as [`encode_batch`], now, on this thread and the core's own.
#[napi]
pub fn encode_batch_sync(
    env: Env,
    handle: &External<Handle>,
    texts: Unknown<'_>,
    pairs: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    threads: u32,
) -> napi::Result<Blocks> {
    let inputs = Inputs::copy(env, &texts, &pairs, options::has_words(flags))?;
    let mut work = encode_work(None, handle, inputs, flags, extra, threads);
    caught(|| work.run()).map_err(|failure| node_api::js_error(env, &failure))
}

/// Packs the counting of an array of texts.
fn count_work(
    env: Env,
    turn: Option<&Turn>,
    handle: &Handle,
    texts: &Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    threads: u32,
) -> napi::Result<CountWork> {
    let texts = caught(|| Arena::copy("texts", texts)).map_err(|failure| node_api::js_error(env, &failure))?;
    Ok(CountWork(encode_work(turn, handle, Inputs::Texts(texts), flags, extra, threads)))
}

/// Counts the ids of an array of texts on the threadpool.
#[napi]
pub fn count_batch(
    env: Env,
    turn: &External<Turn>,
    handle: &External<Handle>,
    texts: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    threads: u32,
) -> napi::Result<AsyncTask<Job<CountWork>>> {
    let work = count_work(env, Some(turn), handle, &texts, flags, extra, threads)?;
    Ok(AsyncTask::new(Job::new(work, turn.take_permit())))
}

/// Counts as [`count_batch`], now. For threads that may not wait for others.
#[napi]
pub fn count_batch_sync(
    env: Env,
    handle: &External<Handle>,
    texts: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    threads: u32,
) -> napi::Result<Words> {
    let mut work = count_work(env, None, handle, &texts, flags, extra, threads)?;
    caught(|| work.run()).map_err(|failure| node_api::js_error(env, &failure))
}

/// Copies both Uint32Arrays and packs the work.
fn decode_work(
    env: Env,
    turn: Option<&Turn>,
    handle: &Handle,
    ids: &Unknown<'_>,
    row_offsets: &Unknown<'_>,
    skip_special_tokens: bool,
    threads: u32,
) -> napi::Result<DecodeWork> {
    let copy =
        |name, value| caught(|| text::copy_ids(name, value)).map_err(|failure| node_api::js_error(env, &failure));
    Ok(DecodeWork {
        tokenizer: Arc::clone(&handle.tokenizer),
        ids: copy("ids", ids)?,
        row_offsets: copy("rowOffsets", row_offsets)?,
        options: options::decode_options(skip_special_tokens),
        threads: options::threads(threads),
        cancel: turn.map(Turn::cancel),
    })
}

/// Decodes rows of ids on the threadpool.
#[napi]
pub fn decode_batch(
    env: Env,
    turn: &External<Turn>,
    handle: &External<Handle>,
    ids: Unknown<'_>,
    row_offsets: Unknown<'_>,
    skip_special_tokens: bool,
    threads: u32,
) -> napi::Result<AsyncTask<Job<DecodeWork>>> {
    let work = decode_work(env, Some(turn), handle, &ids, &row_offsets, skip_special_tokens, threads)?;
    Ok(AsyncTask::new(Job::new(work, turn.take_permit())))
}

/// Decodes as [`decode_batch`], now. For threads that may not wait for others.
#[napi]
pub fn decode_batch_sync(
    env: Env,
    handle: &External<Handle>,
    ids: Unknown<'_>,
    row_offsets: Unknown<'_>,
    skip_special_tokens: bool,
    threads: u32,
) -> napi::Result<JsTexts> {
    let mut work = decode_work(env, None, handle, &ids, &row_offsets, skip_special_tokens, threads)?;
    caught(|| work.run()).map_err(|failure| node_api::js_error(env, &failure))
}
