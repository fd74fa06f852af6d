//! The columns of a batch in memory of the pool, and how the rows of a window are copied there.
//!
//! A worker appends rows to lists that fit the processor's cache. Full lists are flushed to chunks
//! of a fixed size, or to the final column if the window is the whole batch. Lists that grew with
//! the window would be copied to fresh pages repeatedly, and zeroing those pages costs as much as
//! the columns themselves.

use crate::encoding::{Columns, Encoding};
use crate::memory::{Plain, Slab, SlabPart};

/// Columns of `u32`: one value per token, and two per token for offsets.
pub(super) const U32_COLUMNS: [Columns; 4] =
    [Columns::OFFSETS, Columns::TYPE_IDS, Columns::WORD_IDS, Columns::SEQUENCE_IDS];
/// Columns of `u8`: one value per token.
pub(super) const U8_COLUMNS: [Columns; 2] = [Columns::SPECIAL_TOKENS_MASK, Columns::ATTENTION_MASK];

/// Capacity of a chunk in values. The same for all chunks, so that a batch can reuse those of the
/// previous batch.
const CHUNK_VALUES: usize = 64 << 10;

/// The number of values per token in a column.
pub(super) fn values_per_token(column: Columns) -> usize {
    if column == Columns::OFFSETS { 2 } else { 1 }
}

/// Bytes per token: its id and its values in these columns, without [`Columns::TOKENS`].
pub(super) fn bytes_per_token(columns: Columns) -> usize {
    let wanted = |all: &[Columns]| {
        all.iter().filter(|&&one| columns.contains(one)).map(|&one| values_per_token(one)).sum::<usize>()
    };
    size_of::<u32>() * (1 + wanted(&U32_COLUMNS)) + wanted(&U8_COLUMNS)
}

/// The columns of a batch over the tokens of all rows, end to end. Columns that were not requested
/// are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BatchColumns {
    pub(super) u32s: [Slab<u32>; U32_COLUMNS.len()],
    pub(super) u8s: [Slab<u8>; U8_COLUMNS.len()],
    pub(super) tokens: Vec<String>,
}

impl BatchColumns {
    /// Like [`Encoding::offsets`]: the range of each token in the text of its row.
    pub fn offsets(&self) -> &[[u32; 2]] {
        self.u32s[0].as_chunks().0
    }

    /// Like [`Encoding::tokens`].
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// Like [`Encoding::special_tokens_mask`].
    pub fn special_tokens_mask(&self) -> &[u8] {
        &self.u8s[0]
    }

    /// Like [`Encoding::type_ids`].
    pub fn type_ids(&self) -> &[u32] {
        &self.u32s[1]
    }

    /// Like [`Encoding::attention_mask`].
    pub fn attention_mask(&self) -> &[u8] {
        &self.u8s[1]
    }

    /// Like [`Encoding::word_ids`].
    pub fn word_ids(&self) -> &[u32] {
        &self.u32s[2]
    }

    /// Like [`Encoding::sequence_ids`].
    pub fn sequence_ids(&self) -> &[u32] {
        &self.u32s[3]
    }

    /// Like [`Encoding::take_u32`].
    pub fn take_u32(&mut self, column: Columns) -> Slab<u32> {
        let index = U32_COLUMNS.iter().position(|&one| one == column);
        index.map(|index| std::mem::take(&mut self.u32s[index])).unwrap_or_default()
    }

    /// Like [`Encoding::take_u8`].
    pub fn take_u8(&mut self, column: Columns) -> Slab<u8> {
        let index = U8_COLUMNS.iter().position(|&one| one == column);
        index.map(|index| std::mem::take(&mut self.u8s[index])).unwrap_or_default()
    }

    /// Like [`Encoding::take_tokens`].
    pub fn take_tokens(&mut self) -> Vec<String> {
        std::mem::take(&mut self.tokens)
    }
}

/// The values of one column in one window.
#[derive(Debug)]
pub(super) struct ChunkedColumn<T: Plain> {
    chunks: Vec<Slab<T>>,
    /// Whether the only chunk is the final column of the whole batch.
    is_presized: bool,
    /// The values after the chunks.
    rest: Vec<T>,
}

impl<T: Plain> Default for ChunkedColumn<T> {
    fn default() -> Self {
        Self { chunks: vec![], is_presized: false, rest: vec![] }
    }
}

impl<T: Plain + Default> ChunkedColumn<T> {
    /// The column of a whole batch: `head` zeros, with capacity for `values` values after them.
    pub(super) fn presized(head: usize, values: usize) -> Self {
        let mut slab = Slab::with_capacity(head + values);
        slab.resize(head, T::default());
        Self { chunks: vec![slab], is_presized: true, rest: vec![] }
    }

    pub(super) fn push(&mut self, mut values: &[T]) {
        if let ([whole], true) = (&mut self.chunks[..], self.is_presized) {
            return whole.extend_from_slice(values);
        }
        while !values.is_empty() {
            if self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK_VALUES) {
                self.chunks.push(Slab::with_capacity(CHUNK_VALUES));
            }
            let chunk = self.chunks.last_mut().expect("there is one now");
            let (fitting, rest) = values.split_at(values.len().min(CHUNK_VALUES - chunk.len()));
            chunk.extend_from_slice(fitting);
            values = rest;
        }
    }

    /// Appends the last values. Takes the list as it is, unless the column is presized.
    pub(super) fn finish(&mut self, rest: Vec<T>) {
        if self.is_presized { self.push(&rest) } else { self.rest = rest }
    }

    /// The final column, if this is one for a whole batch.
    pub(super) fn take_presized(&mut self) -> Option<Slab<T>> {
        let mut slab = if self.is_presized { self.chunks.pop() } else { None }?;
        slab.shrink_to_fit();
        Some(slab)
    }

    /// Writes the values of the window, and padding, as `steps` state.
    pub(super) fn write(&self, steps: impl Iterator<Item = ColumnStep<T>>, target: &mut SlabPart<'_, T>) {
        let mut parts = self.chunks.iter().map(|chunk| &**chunk).chain([&*self.rest]);
        let mut part: &[T] = &[];
        for step in steps {
            match step {
                ColumnStep::Values(mut count) => {
                    while count > 0 {
                        if part.is_empty() {
                            part = parts.next().expect("no more is taken than there is");
                        }
                        let (taken, rest) = part.split_at(part.len().min(count));
                        target.extend_from_slice(taken);
                        (part, count) = (rest, count - taken.len());
                    }
                }
                ColumnStep::Padding(count, value) => target.extend_with(count, value),
            }
        }
    }
}

/// A step in joining a column.
pub(super) enum ColumnStep<T> {
    /// Copies this number of values from the window.
    Values(usize),
    /// Appends this number of copies of a value.
    Padding(usize, T),
}

/// All columns of a window.
#[derive(Debug, Default)]
pub(super) struct ChunkedColumns {
    pub(super) u32s: [ChunkedColumn<u32>; U32_COLUMNS.len()],
    pub(super) u8s: [ChunkedColumn<u8>; U8_COLUMNS.len()],
}

impl ChunkedColumns {
    /// Columns for a whole batch of about `tokens` tokens.
    pub(super) fn presized(tokens: usize, columns: Columns) -> Self {
        let capacity = |column| if columns.contains(column) { tokens * values_per_token(column) } else { 0 };
        Self {
            u32s: U32_COLUMNS.map(|column| ChunkedColumn::presized(0, capacity(column))),
            u8s: U8_COLUMNS.map(|column| ChunkedColumn::presized(0, capacity(column))),
        }
    }

    /// Appends the columns of `out`.
    pub(super) fn push(&mut self, out: &Encoding) {
        U32_COLUMNS.iter().zip(&mut self.u32s).for_each(|(&column, chunked)| chunked.push(out.u32_column(column)));
        U8_COLUMNS.iter().zip(&mut self.u8s).for_each(|(&column, chunked)| chunked.push(out.u8_column(column)));
    }

    /// Appends the last columns, which are moved out of `out`.
    pub(super) fn finish(&mut self, out: &mut Encoding) {
        U32_COLUMNS.iter().zip(&mut self.u32s).for_each(|(&column, chunked)| chunked.finish(out.take_u32(column)));
        U8_COLUMNS.iter().zip(&mut self.u8s).for_each(|(&column, chunked)| chunked.finish(out.take_u8(column)));
    }
}
