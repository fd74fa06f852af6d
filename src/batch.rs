//! The batch calls, asynchronous on the threadpool or synchronous on the JS thread. Both use the
//! same function for each operation.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{AsyncTask, Either3, External, Unknown};
use napi_derive::napi;
use tokenlane_core::batch::{self, BatchColumns, Cancel, RunOptions};
use tokenlane_core::memory::{Grow, OutOfMemory};
use tokenlane_core::{Columns, DecodeOptions, EncodeOptions, Text, Tokenizer};

use crate::encoding::Column;
use crate::error::{Class, Failure};
use crate::handle::Handle;
use crate::memory::{U8Values, U32Values};
use crate::node_api::{self, JsTexts};
use crate::options::{self, COLUMNS, Extra};
use crate::queue::QueueEntry;
use crate::results::EncodedBatch;
use crate::task::{Job, Work};
use crate::text::{self, Inputs, Part, Slice, Texts};

/// The work of encoding a batch.
pub struct EncodeWork {
    tokenizer: Arc<Tokenizer>,
    inputs: Inputs,
    options: EncodeOptions,
    threads: Option<usize>,
    cancel: Option<Arc<Cancel>>,
}

impl Work for EncodeWork {
    type Output = EncodedBatch;
    type Js = EncodedBatch;

    fn run(&mut self) -> Result<EncodedBatch, Failure> {
        let (tokenizer, options) = (&*self.tokenizer, &self.options);
        let run = RunOptions { threads: self.threads, cancel: self.cancel.as_deref(), ..RunOptions::default() };
        let encoded = self.inputs.with(
            |texts| batch::encode_rows(tokenizer, texts, options, &run),
            |inputs| batch::encode_rows(tokenizer, inputs, options, &run),
        )??;
        // Releases the memory of the texts first, so that the pool can reuse it for the result.
        self.inputs = Inputs::default();
        let encoded = encoded.gather()?;
        let rows = encoded.len() as u32;
        let (slab, mut columns, row_texts) = encoded.into_parts();
        let take =
            |&column: &Columns| options.columns.contains(column).then(|| take_column(&mut columns, column)).transpose();
        let columns = COLUMNS.iter().map(take).collect::<Result<_, _>>()?;
        let row_texts = row_texts.map(U32Values::try_from).transpose()?;
        Ok(EncodedBatch { ids: U32Values::Slab(slab), rows, row_texts, columns })
    }
}

/// Takes a column out of a batch. Numeric columns are passed to JS without a copy, like the ids.
fn take_column(columns: &mut BatchColumns, column: Columns) -> Result<Column, OutOfMemory> {
    Ok(match column {
        Columns::TOKENS => Either3::C(columns.take_tokens().try_into()?),
        Columns::SPECIAL_TOKENS_MASK | Columns::ATTENTION_MASK => Either3::B(U8Values::Slab(columns.take_u8(column))),
        _ => Either3::A(U32Values::Slab(columns.take_u32(column))),
    })
}

/// The work of counting the ids of texts.
pub struct CountWork(EncodeWork);

impl Work for CountWork {
    type Output = U32Values;
    type Js = U32Values;

    fn run(&mut self) -> Result<U32Values, Failure> {
        let Self(work) = self;
        let run = RunOptions { threads: work.threads, cancel: work.cancel.as_deref(), ..RunOptions::default() };
        let count = |texts: &[Text<'_>]| batch::count_batch(&work.tokenizer, texts, &work.options, &run);
        Ok(U32Values::try_from(work.inputs.with(count, |_| Ok(vec![]))??)?)
    }
}

/// The work of decoding rows of ids: row `i` is `ids[row_offsets[i]..row_offsets[i + 1]]`.
pub struct DecodeWork {
    tokenizer: Arc<Tokenizer>,
    ids: Vec<u32>,
    row_offsets: Vec<u32>,
    options: DecodeOptions,
    threads: Option<usize>,
    cancel: Arc<Cancel>,
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
        let run = RunOptions { threads: self.threads, cancel: Some(&self.cancel), ..RunOptions::default() };
        let texts = batch::decode_batch(&self.tokenizer, &rows, &self.options, &run)?;
        Ok(texts.try_into()?)
    }
}

/// Creates the work of encoding the copied texts.
pub fn encode_work(
    entry: Option<&QueueEntry>,
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
        cancel: entry.map(QueueEntry::cancel),
    }
}

/// Copies texts for a batch that may start, until a slice of time is over: the elements `from..to`
/// of `array`, which follow those copied before in the argument `texts` or, if `second` is set,
/// `pairs`. Returns the index in `array` after the last one copied.
#[napi(catch_unwind)]
pub fn copy_texts(
    entry: &External<QueueEntry>,
    second: bool,
    words: bool,
    array: Unknown<'_>,
    from: u32,
    to: u32,
) -> napi::Result<u32> {
    let name = if second { "pairs" } else { "texts" };
    node_api::guarded(node_api::env_of(&array), || {
        entry.with_texts(second, |texts| {
            let texts = texts.get_or_insert_with(|| Texts::new(words));
            let first = texts.len().saturating_sub(from as usize);
            texts.append(&Part { name, array: &array, range: Some(from..to), first }, &mut Slice::begin())
        })
    })
}

/// Encodes the copied texts on the threadpool. If pairs were copied, text `i` is encoded together
/// with pair `i`.
#[napi(catch_unwind)]
pub fn encode_batch(
    env: Env,
    entry: &External<QueueEntry>,
    handle: &External<Handle>,
    flags: u32,
    extra: Option<Extra>,
    threads: u32,
) -> napi::Result<AsyncTask<Job<EncodeWork>>> {
    node_api::guarded(env, || {
        let work = encode_work(Some(entry), handle, entry.take_inputs()?, flags, extra, threads);
        Ok(AsyncTask::new(Job::new(work, entry.take_permit())))
    })
}

/// Encodes an array of texts on this thread and the threads of the core. If `pairs` is an array,
/// text `i` is encoded together with `pairs[i]`.
#[napi(catch_unwind)]
pub fn encode_batch_sync(
    handle: &External<Handle>,
    texts: Unknown<'_>,
    pairs: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    threads: u32,
) -> napi::Result<EncodedBatch> {
    node_api::guarded(node_api::env_of(&texts), || {
        let pairs = (!node_api::is_undefined(&pairs)).then_some(&pairs);
        let inputs = Inputs::copy(&texts, pairs, options::has_words(flags))?;
        encode_work(None, handle, inputs, flags, extra, threads).run()
    })
}

/// Counts the ids of each of the copied texts, on the threadpool.
#[napi(catch_unwind)]
pub fn count_batch(
    env: Env,
    entry: &External<QueueEntry>,
    handle: &External<Handle>,
    flags: u32,
    extra: Option<Extra>,
    threads: u32,
) -> napi::Result<AsyncTask<Job<CountWork>>> {
    node_api::guarded(env, || {
        let work = CountWork(encode_work(Some(entry), handle, entry.take_inputs()?, flags, extra, threads));
        Ok(AsyncTask::new(Job::new(work, entry.take_permit())))
    })
}

/// Counts the ids of each text of an array, on this thread and the threads of the core.
#[napi(catch_unwind)]
pub fn count_batch_sync(
    env: Env,
    handle: &External<Handle>,
    texts: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    threads: u32,
) -> napi::Result<U32Values> {
    node_api::guarded(env, || {
        let inputs = Inputs::copy(&texts, None, false)?;
        CountWork(encode_work(None, handle, inputs, flags, extra, threads)).run()
    })
}

/// Decodes rows of ids on the threadpool. Errors: row offsets that do not rise from 0 to the number
/// of ids.
#[napi(catch_unwind)]
pub fn decode_batch(
    entry: &External<QueueEntry>,
    handle: &External<Handle>,
    ids: Unknown<'_>,
    row_offsets: Unknown<'_>,
    skip_special_tokens: bool,
    threads: u32,
) -> napi::Result<AsyncTask<Job<DecodeWork>>> {
    node_api::guarded(node_api::env_of(&ids), || {
        let work = DecodeWork {
            tokenizer: Arc::clone(&handle.tokenizer),
            ids: text::copy_ids("ids", &ids)?,
            row_offsets: text::copy_ids("rowOffsets", &row_offsets)?,
            options: options::decode_options(skip_special_tokens),
            threads: options::threads(threads),
            cancel: entry.cancel(),
        };
        Ok(AsyncTask::new(Job::new(work, entry.take_permit())))
    })
}
