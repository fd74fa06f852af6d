//! Encodes, counts and decodes many rows on several threads. Results are in the order of the rows.
//!
//! - [`row_windows`]: distributes rows to workers, in windows of adjacent rows.
//! - [`row_chunks`]: splits long rows, so that several workers can share one.
//! - [`columns`]: collects the rows' tokens; the columns of a batch beside the ids.
//! - [`mod@gather`]: joins the workers' results into one batch, with padding if requested.
//! - [`parallelism`]: the number of threads, and the behaviour after a fork.
//! - [`cancel`]: cancels a batch.

mod cancel;
mod columns;
mod gather;
mod parallelism;
pub(crate) mod row_chunks;
mod row_windows;

use std::any::Any;
use thiserror::Error;

use crate::encoder::{Encoder, Plan, Request};
use crate::encoding::{Columns, Encoding};
use crate::error::{DecodeError, EncodeError, OUT_OF_MEMORY};
use crate::memory::fallible::{catch, check, collect, with_capacity};
use crate::memory::{self, OutOfMemory, Slab};
use crate::options::{DecodeOptions, EncodeOptions};
use crate::text::{Input, Text};
use crate::tokenizer::Tokenizer;
pub use cancel::Cancel;
pub use columns::BatchColumns;
use columns::bytes_per_token;
use gather::{RowWindow, gather, reserve_estimate};
pub use parallelism::{MAX_THREADS, parallelism_was_used, set_threads, threads};
pub(crate) use row_chunks::split_rows;
use row_chunks::{CHUNK_LEN, RowChunk};
use row_windows::RowCursor;

/// A batch on one thread allocates memory for all its tokens at once if that takes at most this
/// fraction of the pool's cap: 1/4.
const PRESIZE_SHARE: usize = 4;

/// A batch of at least this many bytes inserts the seed words into the cache of an encoder that
/// does not have them yet, which takes some milliseconds: 256 KiB. A single text never waits for
/// that.
const MIN_SEEDED_BATCH: usize = 1 << 18;

/// How a batch runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions<'a> {
    /// The maximum number of threads, including the calling one. Default [`threads`].
    pub threads: Option<usize>,
    /// The flag that cancels the batch. Default none.
    pub cancel: Option<&'a Cancel>,
    /// Whether other rows of the batch follow or come before, which [`PendingBatch::append`] puts
    /// together with these. Default false.
    pub is_slice: bool,
}

impl RunOptions<'_> {
    fn threads(&self) -> usize {
        self.threads.unwrap_or_else(threads).clamp(1, MAX_THREADS)
    }
}

/// The error of a batch. `index` is the position of the failed text, or list of ids, in the slice
/// that the call got. If several of them fail, it is the error of the first.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BatchError {
    /// A text could not be encoded.
    #[error("row {index}: {source}")]
    Encode {
        /// The index of the text.
        index: usize,
        /// The error of the text.
        source: EncodeError,
    },
    /// Ids could not be decoded.
    #[error("row {index}: {source}")]
    Decode {
        /// The index of the list of ids.
        index: usize,
        /// The error of the ids.
        source: DecodeError,
    },
    /// The options are invalid for this tokenizer, or the result exceeds a limit.
    #[error(transparent)]
    Options(EncodeError),
    /// The system has not enough memory for the texts, their ids or the result.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The batch was cancelled.
    #[error("the batch was cancelled")]
    Cancelled,
    /// A defect of tokenlane: encoding or decoding panicked.
    #[error("row {index}: tokenlane failed, please report this: {message}")]
    Panicked {
        /// The index of the text or of the list of ids.
        index: usize,
        /// The message of the panic.
        message: String,
    },
}

impl BatchError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Encode { source, .. } | Self::Options(source) => source.code(),
            Self::Decode { source, .. } => source.code(),
            Self::OutOfMemory(_) => OUT_OF_MEMORY,
            Self::Cancelled => "ERR_TOKENLANE_CANCELLED",
            Self::Panicked { .. } => "ERR_TOKENLANE_PANIC",
        }
    }

    /// The error in a batch of which these texts are a part: `first` texts come before them.
    #[must_use]
    pub fn after_texts(mut self, first: usize) -> Self {
        if let Self::Encode { index, .. } | Self::Decode { index, .. } | Self::Panicked { index, .. } = &mut self {
            *index += first;
        }
        self
    }

    fn panicked(index: usize, panic: &(dyn Any + Send)) -> Self {
        if let Some(&error) = panic.downcast_ref::<OutOfMemory>() {
            return Self::OutOfMemory(error);
        }
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into());
        Self::Panicked { index, message }
    }
}

/// An encoded batch. One slab of `u32` has the row offsets, one more than there are rows, and then
/// the ids of all rows. Each requested column covers all ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    slab: Slab<u32>,
    rows: usize,
    columns: BatchColumns,
    row_texts: Option<Vec<u32>>,
}

impl Batch {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether the batch has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The start of each row in [`Self::ids`]. There is one entry more than rows; the last is the
    /// number of ids.
    pub fn row_offsets(&self) -> &[u32] {
        &self.slab[..=self.rows]
    }

    /// The index of each row's text. The rows of a text are adjacent, first the truncated text and
    /// then its overflow. `None` if overflow was not requested; then each text has one row.
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
    /// If the row does not exist.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.ids()[self.row_offsets()[row] as usize..self.row_offsets()[row + 1] as usize]
    }

    /// The start and end of each token in the text of its row, in the unit that was requested.
    /// Empty if not requested.
    pub fn offsets(&self) -> &[[u32; 2]] {
        self.columns.offsets()
    }

    /// The columns beside the ids, each over all rows.
    pub fn columns(&self) -> &BatchColumns {
        &self.columns
    }

    /// The slab of row offsets and then ids, the columns, and the result of [`Self::row_texts`].
    pub fn into_parts(self) -> (Slab<u32>, BatchColumns, Option<Vec<u32>>) {
        (self.slab, self.columns, self.row_texts)
    }
}

/// A batch whose rows are encoded but not joined yet. It does not borrow the texts.
pub struct PendingBatch {
    windows: Vec<RowWindow>,
    plan: Plan,
    threads: usize,
}

impl PendingBatch {
    /// Adds a later slice with the same options, whose first text has the index `first`. All are
    /// encoded with [`RunOptions::is_slice`].
    pub fn append(&mut self, mut more: Self, first: usize) {
        more.windows.iter_mut().for_each(|window| window.count_texts_from(first));
        self.windows.append(&mut more.windows);
    }

    /// Joins the rows, on as many threads as encoded them.
    pub fn gather(self) -> Result<Batch, BatchError> {
        catch(|| gather(self.windows, &self.plan, self.threads))
    }
}

/// Encodes all rows, which are texts or inputs.
pub fn encode_batch<'a, T: Into<Input<'a>> + Copy + Sync>(
    tokenizer: &Tokenizer,
    rows: &[T],
    options: &EncodeOptions,
    run: &RunOptions<'_>,
) -> Result<Batch, BatchError> {
    encode_rows(tokenizer, rows, options, run)?.gather()
}

/// Like [`encode_batch`], but the caller joins the rows with [`PendingBatch::gather`], when the
/// texts may be gone.
pub fn encode_rows<'a, T: Into<Input<'a>> + Copy + Sync>(
    tokenizer: &Tokenizer,
    rows: &[T],
    options: &EncodeOptions,
    run: &RunOptions<'_>,
) -> Result<PendingBatch, BatchError> {
    catch(|| {
        let plan = tokenizer.plan(options).map_err(BatchError::Options)?;
        let chunks = split_rows(tokenizer, &plan, CHUNK_LEN, rows.iter().map(|&row| row.into()))?;
        encode_chunks(tokenizer, &chunks, plan, run)
    })
}

/// Encodes the chunks of rows.
pub(crate) fn encode_chunks(
    tokenizer: &Tokenizer,
    chunks: &[RowChunk<'_>],
    mut plan: Plan,
    run: &RunOptions<'_>,
) -> Result<PendingBatch, BatchError> {
    plan.ranges = plan.padding.is_some() && plan.columns.contains(Columns::SEQUENCE_IDS);
    let rows = chunks.last().map_or(0, |chunk| chunk.row + 1);
    let per_token = bytes_per_token(plan.columns);
    let windows = over_windows(tokenizer, chunks, run, |encoder, window| {
        let expected = window.bytes() / 4 + window.len();
        // With padding, the row lengths are known only at the end; with overflow, the number of
        // rows is.
        let is_whole = !run.is_slice
            && window.len() == chunks.len()
            && plan.padding.is_none()
            && !plan.overflow
            && reserve_estimate(expected) * per_token <= memory::settings().cap / PRESIZE_SHARE;
        let rows = if is_whole { rows } else { window.len() };
        let mut encoded = RowWindow::new(rows, expected, plan.columns, is_whole);
        while let Some(at) = window.next() {
            check()?;
            let chunk = &chunks[at];
            let overflowing = encoder
                .encode(chunk.source(), &mut Request::all(&plan), &mut encoded.out)
                .map_err(|error| row_error(encoder, chunk, &plan, error))?;
            if chunk.is_last() {
                encoded.end_row(chunk.row, &plan);
            }
            encoded.flush_if_full();
            for draft in overflowing {
                encoder.write(&draft, &plan, &mut encoded.out);
                encoded.end_row(chunk.row, &plan);
                encoded.flush_if_full();
            }
        }
        encoded.finish();
        Ok(encoded)
    })?;
    Ok(PendingBatch { windows, plan, threads: run.threads() })
}

/// Runs `work` for each window of the chunks, with an encoder.
fn over_windows<T: Send>(
    tokenizer: &Tokenizer,
    chunks: &[RowChunk<'_>],
    run: &RunOptions<'_>,
    work: impl Fn(&mut Encoder<'_>, &mut RowCursor<'_>) -> Result<T, BatchError> + Sync,
) -> Result<Vec<T>, BatchError> {
    let weights = collect(chunks.iter().map(RowChunk::weight))?;
    let bytes: usize = weights.iter().sum();
    let windows = row_windows::run(&weights, run.threads(), run.cancel, |window| {
        tokenizer.with_encoder(|encoder| {
            if bytes >= MIN_SEEDED_BATCH {
                encoder.seed(&tokenizer.seeds());
            }
            work(encoder, window)
        })
    });
    // The scheduler counts chunks.
    windows.map_err(|error| match error {
        BatchError::Panicked { index: chunk, message } => BatchError::Panicked { index: chunks[chunk].row, message },
        error => error,
    })
}

/// The error of a row. If the row was encoded in chunks, encodes it again as a whole, so that
/// positions in the error refer to the whole row.
fn row_error(encoder: &mut Encoder<'_>, chunk: &RowChunk<'_>, plan: &Plan, error: EncodeError) -> BatchError {
    if let EncodeError::OutOfMemory(error) = error {
        return error.into();
    }
    let mut whole = || encoder.encode(chunk.input, &mut Request::all(plan), &mut Encoding::default()).err();
    let whole = chunk.text.and_then(|_| whole());
    BatchError::Encode { index: chunk.row, source: whole.unwrap_or(error) }
}

/// The number of tokens of each row.
pub fn count_batch(
    tokenizer: &Tokenizer,
    rows: &[Text<'_>],
    options: &EncodeOptions,
    run: &RunOptions<'_>,
) -> Result<Vec<u32>, BatchError> {
    let plan = tokenizer.count_plan(options).map_err(BatchError::Options)?;
    let chunks = split_rows(tokenizer, &plan, CHUNK_LEN, rows.iter().map(|&text| text.into()))?;
    let windows = over_windows(tokenizer, &chunks, run, |encoder, window| {
        let mut counts = with_capacity(window.len())?;
        while let Some(at) = window.next() {
            let chunk = &chunks[at];
            let count = encoder.count(chunk.source(), &mut Request::all(&plan));
            counts.push((chunk.row, count.map_err(|error| row_error(encoder, chunk, &plan, error))? as u32));
        }
        Ok(counts)
    })?;
    let mut counts = with_capacity(rows.len())?;
    counts.resize(rows.len(), 0);
    for (row, count) in windows.into_iter().flatten() {
        counts[row] += count;
    }
    Ok(counts)
}

/// Decodes each row of ids.
pub fn decode_batch(
    tokenizer: &Tokenizer,
    rows: &[&[u32]],
    options: &DecodeOptions,
    run: &RunOptions<'_>,
) -> Result<Vec<String>, BatchError> {
    let weights: Vec<usize> = collect(rows.iter().map(|ids| ids.len() * 4))?;
    let windows = row_windows::run(&weights, run.threads(), run.cancel, |cursor| {
        let mut texts = with_capacity(cursor.len())?;
        while let Some(row) = cursor.next() {
            check()?;
            let text = tokenizer.decode(rows[row], options);
            texts.push(text.map_err(|source| match source {
                DecodeError::OutOfMemory(error) => error.into(),
                source => BatchError::Decode { index: row, source },
            })?);
        }
        Ok(texts)
    })?;
    let mut texts = with_capacity(rows.len())?;
    texts.extend(windows.into_iter().flatten());
    Ok(texts)
}
