//! The columns of a batch, in memory of the pool, and how a window's rows get there.
//!
//! A worker writes rows to lists that stay in its processor's cache. When they are long enough they are put away, in pieces,
//! or right where the batch will have them if the window is the whole batch: lists that grow with a window would be copied
//! to fresh pages again and again, and clearing those costs as much as the columns themselves.

use crate::encoding::{Columns, Encoding};
use crate::memory::{Plain, Slab};

/// Columns of 32-bit words; offsets are two of them.
pub(super) const U32_COLUMNS: [Columns; 4] =
    [Columns::OFFSETS, Columns::TYPE_IDS, Columns::WORD_IDS, Columns::SEQUENCE_IDS];
/// Columns of bytes.
pub(super) const U8_COLUMNS: [Columns; 2] = [Columns::SPECIAL_TOKENS_MASK, Columns::ATTENTION_MASK];

/// Values that one piece has room for. All have the same size, so that every batch finds those of the one before.
const CHUNK_VALUES: usize = 64 << 10;

/// How many values of a column there are for a token.
pub(super) fn values_per_token(column: Columns) -> usize {
    if column == Columns::OFFSETS { 2 } else { 1 }
}

/// Bytes for a token, of its id and of the columns of numbers.
pub(super) fn bytes_per_token(columns: Columns) -> usize {
    let wanted = |all: &[Columns]| {
        all.iter().filter(|&&one| columns.contains(one)).map(|&one| values_per_token(one)).sum::<usize>()
    };
    size_of::<u32>() * (1 + wanted(&U32_COLUMNS)) + wanted(&U8_COLUMNS)
}

/// What is known of the tokens of all rows of a batch, row after row. A column that was not asked for is empty, the others
/// have one entry per token.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BatchColumns {
    pub(super) u32s: [Slab<u32>; U32_COLUMNS.len()],
    pub(super) u8s: [Slab<u8>; U8_COLUMNS.len()],
    pub(super) tokens: Vec<String>,
}

impl BatchColumns {
    /// As [`Encoding::offsets`], of each token in its own row's text.
    pub fn offsets(&self) -> &[[u32; 2]] {
        self.u32s[0].as_chunks().0
    }

    /// As [`Encoding::tokens`].
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// As [`Encoding::special_tokens_mask`].
    pub fn special_tokens_mask(&self) -> &[u8] {
        &self.u8s[0]
    }

    /// As [`Encoding::type_ids`].
    pub fn type_ids(&self) -> &[u32] {
        &self.u32s[1]
    }

    /// As [`Encoding::attention_mask`].
    pub fn attention_mask(&self) -> &[u8] {
        &self.u8s[1]
    }

    /// As [`Encoding::word_ids`].
    pub fn word_ids(&self) -> &[u32] {
        &self.u32s[2]
    }

    /// As [`Encoding::sequence_ids`].
    pub fn sequence_ids(&self) -> &[u32] {
        &self.u32s[3]
    }

    /// As [`Encoding::take_words`].
    pub fn take_u32(&mut self, column: Columns) -> Slab<u32> {
        let place = U32_COLUMNS.iter().position(|&one| one == column);
        place.map(|place| std::mem::take(&mut self.u32s[place])).unwrap_or_default()
    }

    /// As [`Encoding::take_mask`].
    pub fn take_u8(&mut self, column: Columns) -> Slab<u8> {
        let place = U8_COLUMNS.iter().position(|&one| one == column);
        place.map(|place| std::mem::take(&mut self.u8s[place])).unwrap_or_default()
    }

    /// As [`Encoding::take_tokens`].
    pub fn take_tokens(&mut self) -> Vec<String> {
        std::mem::take(&mut self.tokens)
    }
}

/// What a window has of a column.
#[derive(Debug)]
pub(super) struct ChunkedColumn<T: Plain> {
    chunks: Vec<Slab<T>>,
    /// Whether there is one piece, which is the batch's own.
    is_presized: bool,
    /// What comes behind the pieces.
    rest: Vec<T>,
}

impl<T: Plain> Default for ChunkedColumn<T> {
    fn default() -> Self {
        Self { chunks: vec![], is_presized: false, rest: vec![] }
    }
}

impl<T: Plain + Default> ChunkedColumn<T> {
    /// The column of a whole batch: so many zeros, then about so many values.
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

    /// The last values.
    pub(super) fn finish(&mut self, rest: Vec<T>) {
        if self.is_presized { self.push(&rest) } else { self.rest = rest }
    }

    /// What all windows have, in their order: so many zeros, then so many values, as `steps` say. A whole batch is as it is.
    pub(super) fn join(
        all: Vec<Self>,
        head: usize,
        total: usize,
        steps: impl Iterator<Item = ColumnStep<T>>,
    ) -> Slab<T> {
        let mut all = all;
        if let [Self { chunks, is_presized: true, .. }] = &mut all[..] {
            let mut slab = chunks.pop().expect("the batch's own");
            slab.shrink_to_fit();
            return slab;
        }
        let mut slab = Slab::with_capacity(head + total);
        slab.resize(head, T::default());
        let mut parts = all.iter().flat_map(|column| column.chunks.iter().map(|chunk| &**chunk).chain([&*column.rest]));
        let mut part: &[T] = &[];
        for step in steps {
            match step {
                ColumnStep::Values(mut count) => {
                    while count > 0 {
                        if part.is_empty() {
                            part = parts.next().expect("no more is taken than there is");
                        }
                        let (taken, rest) = part.split_at(part.len().min(count));
                        slab.extend_from_slice(taken);
                        (part, count) = (rest, count - taken.len());
                    }
                }
                ColumnStep::Padding(count, value) => slab.resize(slab.len() + count, value),
            }
        }
        slab
    }
}

/// What comes next in a column that is put together.
pub(super) enum ColumnStep<T> {
    /// So many values of the windows.
    Values(usize),
    /// So many times this one.
    Padding(usize, T),
}

/// The columns of a window.
#[derive(Debug, Default)]
pub(super) struct ChunkedColumns {
    pub(super) u32s: [ChunkedColumn<u32>; U32_COLUMNS.len()],
    pub(super) u8s: [ChunkedColumn<u8>; U8_COLUMNS.len()],
}

impl ChunkedColumns {
    /// Those of a whole batch of about so many tokens.
    pub(super) fn presized(tokens: usize, columns: Columns) -> Self {
        let room = |column| if columns.contains(column) { tokens * values_per_token(column) } else { 0 };
        Self {
            u32s: U32_COLUMNS.map(|column| ChunkedColumn::presized(0, room(column))),
            u8s: U8_COLUMNS.map(|column| ChunkedColumn::presized(0, room(column))),
        }
    }

    /// Puts away what `out` has.
    pub(super) fn push(&mut self, out: &Encoding) {
        U32_COLUMNS.iter().zip(&mut self.u32s).for_each(|(&column, chunked)| chunked.push(out.u32_column(column)));
        U8_COLUMNS.iter().zip(&mut self.u8s).for_each(|(&column, chunked)| chunked.push(out.u8_column(column)));
    }

    /// The same at the end.
    pub(super) fn finish(&mut self, out: &mut Encoding) {
        U32_COLUMNS.iter().zip(&mut self.u32s).for_each(|(&column, chunked)| chunked.finish(out.take_u32(column)));
        U8_COLUMNS.iter().zip(&mut self.u8s).for_each(|(&column, chunked)| chunked.finish(out.take_u8(column)));
    }
}
