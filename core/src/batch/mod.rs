//! Many texts at once, on several threads, with the results in order.
//!
//! - [`windows`]: who works on which rows.
//! - [`row_chunks`]: long rows are cut, for several workers.
//! - [`columns`]: where the rows are put until all are there, and what the batch has beside their ids.
//! - [`gather`]: what the workers made becomes one batch, padded where that is wanted.
//! - [`parallelism`]: how many threads there are, and what a forked child does.
//! - [`cancel`]: how a batch is stopped.

mod cancel;
mod columns;
mod gather;
mod parallelism;
mod row_chunks;
mod windows;

use std::any::Any;
use thiserror::Error;

use crate::encoder::{Encoder, Plan};
use crate::encoding::{Columns, Encoding, OffsetUnit};
use crate::error::{DecodeError, EncodeError, OUT_OF_MEMORY};
use crate::memory::fallible::{catch, check, collect, with_room};
use crate::memory::{self, OutOfMemory, Slab};
use crate::text::{Input, Text};
use crate::tokenizer::{DecodeOptions, EncodeOptions, Tokenizer};
pub use cancel::Cancel;
pub use columns::BatchColumns;
use columns::bytes_per_token;
use gather::{WindowRows, gather, reserve_estimate};
pub use parallelism::{MAX_THREADS, parallelism_was_used, set_processors, set_threads, threads};
use row_chunks::{CHUNK_LEN, RowChunk};

/// A batch on one thread gets memory for all its tokens at once if that is this part of the pool's cap, or less.
const PRESIZE_SHARE: usize = 4;

/// How a batch is to be run.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions<'a> {
    /// How many threads work on it at most, the calling one included. Default [`threads`].
    pub threads: Option<usize>,
    /// What stops it before its end.
    pub cancel: Option<&'a Cancel>,
}

impl RunOptions<'_> {
    fn threads(&self) -> usize {
        self.threads.unwrap_or_else(threads).clamp(1, MAX_THREADS)
    }
}

/// Why a batch has no result. Of several errors it is that of the first row.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BatchError {
    /// A text could not be encoded.
    #[error("row {row}: {source}")]
    Row {
        /// The row, from 0.
        row: usize,
        /// Why.
        source: EncodeError,
    },
    /// Ids could not be decoded.
    #[error("row {row}: {source}")]
    Decode {
        /// The row, from 0.
        row: usize,
        /// Why.
        source: DecodeError,
    },
    /// The options do not fit the tokenizer.
    #[error(transparent)]
    Options(EncodeError),
    /// The system did not give the memory that the texts, their ids or the result take.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// It was told to stop.
    #[error("the batch was cancelled")]
    Cancelled,
    /// A defect of tokenlane: a row made it panic.
    #[error("row {row}: tokenlane failed, please report this: {message}")]
    Panicked {
        /// The row, from 0.
        row: usize,
        /// What the panic said.
        message: String,
    },
}

impl BatchError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Row { source, .. } | Self::Options(source) => source.code(),
            Self::Decode { source, .. } => source.code(),
            Self::OutOfMemory(_) => OUT_OF_MEMORY,
            Self::Cancelled => "ERR_TOKENLANE_CANCELLED",
            Self::Panicked { .. } => "ERR_TOKENLANE_PANIC",
        }
    }

    /// The same error, where it is one of the scheduler's own, which counts parts, of the row that `row` says.
    fn of_row(self, row: impl FnOnce(usize) -> usize) -> Self {
        match self {
            Self::Panicked { row: at, message } => Self::Panicked { row: row(at), message },
            other => other,
        }
    }

    fn panicked(row: usize, panic: &(dyn Any + Send)) -> Self {
        if let Some(&error) = panic.downcast_ref::<OutOfMemory>() {
            return Self::OutOfMemory(error);
        }
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into());
        Self::Panicked { row, message }
    }
}

/// The ids of all rows in one slab of `u32`: first where each row starts, one entry more than there are rows, then the
/// ids. A column that was asked for is a list over all ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    slab: Slab<u32>,
    rows: usize,
    columns: BatchColumns,
    row_texts: Option<Vec<u32>>,
}

impl Batch {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Where in [`Self::ids`] each row starts; one entry more than there are rows, the last is where all end.
    pub fn row_offsets(&self) -> &[u32] {
        &self.slab[..=self.rows]
    }

    /// Of each row the number of the text that it is of: those of one text stand together, the one that was kept first.
    /// Nothing when the overflow was not asked for, so that there is one row for each text.
    pub fn row_texts(&self) -> Option<&[u32]> {
        self.row_texts.as_deref()
    }

    /// The ids of all rows, end to end.
    pub fn ids(&self) -> &[u32] {
        &self.slab[self.rows + 1..]
    }

    /// The ids of one row.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.ids()[self.row_offsets()[row] as usize..self.row_offsets()[row + 1] as usize]
    }

    /// Start and end of each token in its own row's text; empty when they were not asked for.
    pub fn offsets(&self) -> &[[u32; 2]] {
        self.columns.offsets()
    }

    /// The columns beside the ids, each over all rows.
    pub fn columns(&self) -> &BatchColumns {
        &self.columns
    }

    /// Row offsets and ids in one piece, as described above.
    pub fn into_slab(self) -> Slab<u32> {
        self.slab
    }

    /// The slab as [`Self::into_slab`], the columns, and the texts of the rows.
    pub fn into_parts(self) -> (Slab<u32>, BatchColumns, Option<Vec<u32>>) {
        (self.slab, self.columns, self.row_texts)
    }
}

/// A batch whose rows are encoded, but not put together yet. The texts are not needed any more.
pub struct PendingBatch {
    windows: Vec<WindowRows>,
    plan: Plan,
}

impl PendingBatch {
    /// Puts the rows together.
    pub fn gather(self) -> Result<Batch, BatchError> {
        catch(|| gather(self.windows, &self.plan))
    }
}

/// Encodes all rows, with offsets in bytes.
pub fn encode_batch(
    tokenizer: &Tokenizer,
    rows: &[Text<'_>],
    options: &EncodeOptions,
    run: &RunOptions<'_>,
) -> Result<Batch, BatchError> {
    with_offsets(tokenizer, rows, options, OffsetUnit::Byte, run)
}

/// Encodes all rows, with offsets in code points.
pub fn encode_batch_char_offsets(
    tokenizer: &Tokenizer,
    rows: &[Text<'_>],
    options: &EncodeOptions,
    run: &RunOptions<'_>,
) -> Result<Batch, BatchError> {
    with_offsets(tokenizer, rows, options, OffsetUnit::CodePoint, run)
}

/// Encodes all rows to ids and nothing else.
pub fn encode_batch_fast(
    tokenizer: &Tokenizer,
    rows: &[Text<'_>],
    options: &EncodeOptions,
    run: &RunOptions<'_>,
) -> Result<Batch, BatchError> {
    encode_batch_columns(tokenizer, rows, &EncodeOptions { columns: Columns::NONE, ..options.clone() }, run)
}

fn with_offsets(
    tokenizer: &Tokenizer,
    rows: &[Text<'_>],
    options: &EncodeOptions,
    offset_unit: OffsetUnit,
    run: &RunOptions<'_>,
) -> Result<Batch, BatchError> {
    let columns = options.columns | Columns::OFFSETS;
    encode_batch_columns(tokenizer, rows, &EncodeOptions { columns, offset_unit, ..options.clone() }, run)
}

/// Encodes all rows, with the columns and the unit of offsets that the options name.
pub fn encode_batch_columns(
    tokenizer: &Tokenizer,
    rows: &[Text<'_>],
    options: &EncodeOptions,
    run: &RunOptions<'_>,
) -> Result<Batch, BatchError> {
    encode_texts_deferred(tokenizer, rows, options, run)?.gather()
}

/// As [`encode_batch_columns`], but the rows are put together when the caller says so.
pub fn encode_texts_deferred(
    tokenizer: &Tokenizer,
    rows: &[Text<'_>],
    options: &EncodeOptions,
    run: &RunOptions<'_>,
) -> Result<PendingBatch, BatchError> {
    encode_rows(tokenizer, rows, |&text| Input::from(text), options, run)
}

/// Encodes all inputs, each a text or a pair, whole or cut into words, as [`encode_batch_columns`] does.
pub fn encode_batch_inputs(
    tokenizer: &Tokenizer,
    inputs: &[Input<'_>],
    options: &EncodeOptions,
    run: &RunOptions<'_>,
) -> Result<Batch, BatchError> {
    encode_inputs_deferred(tokenizer, inputs, options, run)?.gather()
}

/// As [`encode_batch_inputs`], but the rows are put together when the caller says so.
pub fn encode_inputs_deferred(
    tokenizer: &Tokenizer,
    inputs: &[Input<'_>],
    options: &EncodeOptions,
    run: &RunOptions<'_>,
) -> Result<PendingBatch, BatchError> {
    encode_rows(tokenizer, inputs, |&input| input, options, run)
}

fn encode_rows<'a, T: Sync>(
    tokenizer: &Tokenizer,
    rows: &'a [T],
    input: impl Fn(&'a T) -> Input<'a> + Sync,
    options: &EncodeOptions,
    run: &RunOptions<'_>,
) -> Result<PendingBatch, BatchError> {
    let mut plan = tokenizer.plan(options).map_err(BatchError::Options)?;
    plan.ranges = plan.padding.is_some() && plan.columns.contains(Columns::SEQUENCE_IDS);
    catch(|| {
        let chunks = row_chunks::split_rows(tokenizer, &plan, CHUNK_LEN, rows.iter().map(input))?;
        encode_chunks(tokenizer, &chunks, plan, run)
    })
}

/// The same for texts in parts of about `size`, however short: what is held against texts in one piece.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn encode_in_chunks(
    tokenizer: &Tokenizer,
    rows: &[Text<'_>],
    size: usize,
    options: &EncodeOptions,
    run: &RunOptions<'_>,
) -> Result<Batch, BatchError> {
    let plan = tokenizer.plan(options).map_err(BatchError::Options)?;
    let chunks = row_chunks::split_rows(tokenizer, &plan, size, rows.iter().map(|&text| text.into()))?;
    encode_chunks(tokenizer, &chunks, plan, run)?.gather()
}

fn encode_chunks(
    tokenizer: &Tokenizer,
    chunks: &[RowChunk<'_>],
    plan: Plan,
    run: &RunOptions<'_>,
) -> Result<PendingBatch, BatchError> {
    let rows = chunks.last().map_or(0, |chunk| chunk.row + 1);
    let per_token = bytes_per_token(plan.columns);
    let weights = collect(chunks.iter().map(RowChunk::weight))?;
    let bytes = weights.iter().sum();
    let windows = windows::run(&weights, run.threads(), run.cancel, |window| {
        let range = window.range();
        let expected = weights[range.clone()].iter().sum::<usize>() / 4 + range.len();
        // How long padded rows are is not known before all are there, nor how many rows come of texts that are cut.
        let is_whole = range.len() == chunks.len()
            && plan.padding.is_none()
            && !plan.overflow
            && reserve_estimate(expected) * per_token <= memory::settings().cap / PRESIZE_SHARE;
        let mut made = WindowRows::new(if is_whole { rows } else { range.len() }, expected, plan.columns, is_whole);
        tokenizer.with_encoder_for(bytes, |encoder| {
            while let Some(at) = window.next() {
                check()?;
                let chunk = &chunks[at];
                let overflowing = match chunk.text {
                    None => encoder.encode(tokenizer, &chunk.input, &plan, &mut made.out),
                    Some((text, ends)) => {
                        encoder.encode_chunk(tokenizer, text, ends, &plan, &mut made.out).map(|()| vec![])
                    }
                };
                let overflowing = overflowing.map_err(|error| row_error(tokenizer, encoder, chunk, &plan, error))?;
                if chunk.is_last() {
                    made.end_row(chunk.row, &plan);
                }
                made.flush_if_full();
                for draft in overflowing {
                    encoder.write(tokenizer, &draft, &plan, &mut made.out);
                    made.end_row(chunk.row, &plan);
                    made.flush_if_full();
                }
            }
            made.finish();
            Ok(made)
        })
    });
    let windows = windows.map_err(|error| error.of_row(|chunk| chunks[chunk].row))?;
    Ok(PendingBatch { windows, plan })
}

/// The error of a row that is told for a part of it: of the whole row, with its place there.
fn row_error(
    tokenizer: &Tokenizer,
    encoder: &mut Encoder,
    chunk: &RowChunk<'_>,
    plan: &Plan,
    error: EncodeError,
) -> BatchError {
    if let EncodeError::OutOfMemory(error) = error {
        return error.into();
    }
    let whole = chunk.text.and_then(|_| encoder.encode(tokenizer, &chunk.input, plan, &mut Encoding::default()).err());
    BatchError::Row { row: chunk.row, source: whole.unwrap_or(error) }
}

/// How many tokens each row has.
pub fn count_batch(
    tokenizer: &Tokenizer,
    rows: &[Text<'_>],
    options: &EncodeOptions,
    run: &RunOptions<'_>,
) -> Result<Vec<u32>, BatchError> {
    let plan = tokenizer.count_plan(options).map_err(BatchError::Options)?;
    let chunks = row_chunks::split_rows(tokenizer, &plan, CHUNK_LEN, rows.iter().map(|&text| text.into()))?;
    let weights = collect(chunks.iter().map(RowChunk::weight))?;
    let bytes = weights.iter().sum();
    let windows = windows::run(&weights, run.threads(), run.cancel, |window| {
        tokenizer.with_encoder_for(bytes, |encoder| {
            let mut counts = with_room(window.range().len())?;
            while let Some(at) = window.next() {
                let chunk = &chunks[at];
                let count = match chunk.text {
                    None => encoder.count(tokenizer, &chunk.input, &plan, usize::MAX),
                    Some((text, ends)) => encoder.count_chunk(tokenizer, text, ends, &plan),
                };
                counts.push((
                    chunk.row,
                    count.map_err(|error| row_error(tokenizer, encoder, chunk, &plan, error))? as u32,
                ));
            }
            Ok(counts)
        })
    });
    let mut counts = with_room(rows.len())?;
    counts.resize(rows.len(), 0);
    for (row, count) in windows.map_err(|error| error.of_row(|chunk| chunks[chunk].row))?.into_iter().flatten() {
        counts[row] += count;
    }
    Ok(counts)
}

/// The text of each row of ids.
pub fn decode_batch(
    tokenizer: &Tokenizer,
    rows: &[&[u32]],
    options: &DecodeOptions,
    run: &RunOptions<'_>,
) -> Result<Vec<String>, BatchError> {
    let weights: Vec<usize> = collect(rows.iter().map(|ids| ids.len() * 4))?;
    let windows = windows::run(&weights, run.threads(), run.cancel, |window| {
        let mut texts = with_room(window.range().len())?;
        while let Some(row) = window.next() {
            check()?;
            let text = tokenizer.decode(rows[row], options);
            texts.push(text.map_err(|source| match source {
                DecodeError::OutOfMemory(error) => error.into(),
                source => BatchError::Decode { row, source },
            })?);
        }
        Ok(texts)
    })?;
    let mut texts = with_room(rows.len())?;
    texts.extend(windows.into_iter().flatten());
    Ok(texts)
}
