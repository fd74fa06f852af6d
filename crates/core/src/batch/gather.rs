//! Joins the row windows that workers encoded into one batch: one slab for ids and one per column,
//! with padding if requested.

use std::iter::once;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::columns::{
    BatchColumns, ChunkedColumn, ChunkedColumns, ColumnStep, U8_COLUMNS, U32_COLUMNS, values_per_token,
};
use super::row_windows::{self, RowCursor};
use super::{Batch, BatchError};
use crate::encoder::Plan;
use crate::encoding::{Columns, Encoding, NO_ID, max_padded};
use crate::error::EncodeError;
use crate::memory::fallible::{append, push};
use crate::memory::{Grow, Plain, Slab};
use crate::padding::Padding;
use crate::truncation::Direction;

/// A worker flushes its tokens when it has this many, while they are still in the processor's
/// cache.
const FLUSH_TOKENS: usize = 8 << 10;

/// The number of tokens to allocate for a batch of about `expected` tokens. Growing would copy
/// everything to fresh pages, while unused pages are returned without being touched. A larger
/// reserve would keep memory of the pool from other batches.
pub(super) fn reserve_estimate(expected: usize) -> usize {
    expected + expected / 2
}

/// The encoded rows of a row window.
pub(super) struct RowWindow {
    /// Tokens that are not flushed yet, and all token strings.
    pub(super) out: Encoding,
    ids: ChunkedColumn<u32>,
    columns: ChunkedColumns,
    /// The number of ids flushed.
    flushed: usize,
    /// The number of ids, set by [`Self::finish`]. It exceeds the last element of `ends` if the
    /// last row continues in the next window.
    total: usize,
    /// The end of each row: the number of ids in the window up to it.
    ends: Vec<usize>,
    /// The index of each row's text, if one text can have several rows.
    row_texts: Vec<u32>,
    /// The sequence id of each row's padding, if both padding and sequence ids are requested.
    pad_sequences: Vec<u32>,
}

impl RowWindow {
    /// Reserves space for `rows` rows and about `tokens` tokens with these columns. If the window
    /// is the whole batch, tokens are flushed directly to the final columns. Unwinds if memory is
    /// short.
    pub(super) fn new(rows: usize, tokens: usize, columns: Columns, is_whole: bool) -> Self {
        let mut out = Encoding::default();
        let capacity = tokens.min(FLUSH_TOKENS + FLUSH_TOKENS / 2);
        out.ids.grow(capacity);
        out.grow_columns(capacity, columns);
        let (ids, columns) = match is_whole {
            true => (
                ChunkedColumn::presized(rows + 1, reserve_estimate(tokens)),
                ChunkedColumns::presized(reserve_estimate(tokens), columns),
            ),
            false => Default::default(),
        };
        let mut ends = vec![];
        ends.grow(rows);
        Self { out, ids, columns, flushed: 0, total: 0, ends, row_texts: vec![], pad_sequences: vec![] }
    }

    /// Ends a row of the text with index `text`: the tokens since the last call.
    pub(super) fn end_row(&mut self, text: usize, plan: &Plan) {
        push(&mut self.ends, self.flushed + self.out.ids.len());
        if plan.overflow {
            push(&mut self.row_texts, text as u32);
        }
        if plan.ranges {
            // A sequence without a recorded range covers all tokens, the padding included. As for a
            // single encoding, the last such sequence wins.
            let ranges = &self.out.ranges;
            let missing = |id: &u32| !ranges.iter().any(|(known, _)| known == id);
            let all = (0..ranges.len().max(1) as u32).rev().find(missing);
            push(&mut self.pad_sequences, all.unwrap_or(NO_ID));
        }
    }

    /// Flushes the tokens if there are [`FLUSH_TOKENS`] or more.
    pub(super) fn flush_if_full(&mut self) {
        if self.out.ids.len() >= FLUSH_TOKENS {
            self.flushed += self.out.ids.len();
            self.ids.push(&self.out.ids);
            self.columns.push(&self.out);
            self.out.clear_numbers();
        }
    }

    /// Ends the window after its last row.
    pub(super) fn finish(&mut self) {
        self.total = self.flushed + self.out.ids.len();
        self.ids.finish(std::mem::take(&mut self.out.ids));
        self.columns.finish(&mut self.out);
    }

    /// Makes `first` the index of the first text of the batch.
    pub(super) fn count_texts_from(&mut self, first: usize) {
        self.row_texts.iter_mut().for_each(|text| *text += first as u32);
    }

    /// The number of tokens of the longest row. If a text has several rows, only the first counts.
    fn longest(&self) -> usize {
        let starts = once(&0).chain(&self.ends);
        let lengths = self.ends.iter().zip(starts).map(|(end, start)| end - start);
        let counts =
            |row: usize| row == 0 || self.row_texts.is_empty() || self.row_texts[row] != self.row_texts[row - 1];
        lengths.enumerate().filter(|&(row, _)| counts(row)).map(|(_, length)| length).max().unwrap_or(0)
    }
}

/// For the scheduler, copying a byte is this fraction of the work of encoding one: 1/16.
const COPY_SHARE: usize = 16;

/// Joins all windows into a batch, on up to `threads` threads: each copies windows to their places
/// in the result. Unwinds if memory is short.
pub(super) fn gather(mut windows: Vec<RowWindow>, plan: &Plan, threads: usize) -> Result<Batch, BatchError> {
    let longest = plan.padding.as_ref().and_then(|_| windows.iter().map(RowWindow::longest).max()).unwrap_or(0);
    let concat = |list: fn(&RowWindow) -> &[u32]| {
        let mut all = vec![];
        windows.iter().for_each(|window| append(&mut all, list(window)));
        all
    };
    let row_texts = plan.overflow.then(|| concat(|window| &window.row_texts));
    let pad_sequences = concat(|window| &window.pad_sequences);
    let ends: Vec<_> = windows.iter_mut().map(|window| (std::mem::take(&mut window.ends), window.total)).collect();
    let layout = BatchLayout::new(ends, plan.padding.as_ref(), longest, plan.columns)?;
    let padding = plan.padding.clone().unwrap_or_default();
    let (joiner, rows) = (Joiner { layout: &layout, threads }, layout.rows());

    let ids = windows.iter_mut().map(|window| std::mem::take(&mut window.ids)).collect();
    let slab = joiner.ids(ids, padding.id)?;

    let mut columns = BatchColumns::default();
    for (index, &column) in U32_COLUMNS.iter().enumerate().filter(|(_, column)| plan.columns.contains(**column)) {
        let all = windows.iter_mut().map(|window| std::mem::take(&mut window.columns.u32s[index])).collect();
        let value = |row: usize| match column {
            Columns::TYPE_IDS => padding.type_id,
            Columns::WORD_IDS => NO_ID,
            Columns::SEQUENCE_IDS => pad_sequences[row],
            _ => 0,
        };
        columns.u32s[index] = joiner.column(all, values_per_token(column), value)?;
    }
    for (index, &column) in U8_COLUMNS.iter().enumerate().filter(|(_, column)| plan.columns.contains(**column)) {
        let all = windows.iter_mut().map(|window| std::mem::take(&mut window.columns.u8s[index])).collect();
        let value = u8::from(column == Columns::SPECIAL_TOKENS_MASK);
        columns.u8s[index] = joiner.column(all, 1, |_| value)?;
    }
    if plan.columns.contains(Columns::TOKENS) {
        columns.tokens = layout.tokens(windows.into_iter().flat_map(|window| window.out.tokens), &padding.token);
    }
    Ok(Batch { slab, rows, columns, row_texts })
}

/// Joins the columns of all windows. A presized column is returned as it is.
struct Joiner<'a> {
    layout: &'a BatchLayout,
    threads: usize,
}

impl Joiner<'_> {
    /// The row offsets, then the ids.
    fn ids(&self, mut all: Vec<ChunkedColumn<u32>>, pad_id: u32) -> Result<Slab<u32>, BatchError> {
        let layout = self.layout;
        let write_ends = |at: usize, push: &mut dyn FnMut(u32)| layout.padded_ends(at).for_each(|end| push(end as u32));
        if let [only] = &mut all[..]
            && let Some(mut slab) = only.take_presized()
        {
            let mut row_ends = slab[1..].iter_mut();
            write_ends(0, &mut |end| *row_ends.next().expect("there is one for each row") = end);
            return Ok(slab);
        }
        let rows = layout.windows.iter().map(|window| window.ends.len());
        let tokens = layout.windows.iter().map(|window| window.padded);
        let lengths: Vec<usize> = once(1).chain(rows).chain(tokens).collect();
        Slab::in_parts(&lengths, |parts| {
            let (ends, ids) = parts.split_at(1 + all.len());
            lock(&ends[0]).extend_with(1, 0);
            self.each_window(all, size_of::<u32>(), |at, column| {
                let mut row_ends = lock(&ends[1 + at]);
                write_ends(at, &mut |end| row_ends.extend_with(1, end));
                column.write(layout.steps(at, 1, |_| pad_id), &mut lock(&ids[at]));
            })
        })
    }

    /// A column with `width` values per token. `value` returns the padding value of a row.
    fn column<T: Plain + Default>(
        &self,
        mut all: Vec<ChunkedColumn<T>>,
        width: usize,
        value: impl Fn(usize) -> T + Sync,
    ) -> Result<Slab<T>, BatchError> {
        if let [only] = &mut all[..]
            && let Some(slab) = only.take_presized()
        {
            return Ok(slab);
        }
        let lengths: Vec<usize> = self.layout.windows.iter().map(|window| window.padded * width).collect();
        Slab::in_parts(&lengths, |parts| {
            self.each_window(all, size_of::<T>() * width, |at, column| {
                column.write(self.layout.steps(at, width, &value), &mut lock(&parts[at]));
            })
        })
    }

    /// Calls `write` with the index and the column of each window, on several threads if there is
    /// much to copy. A column is released as soon as it is copied.
    fn each_window<T: Plain>(
        &self,
        all: Vec<ChunkedColumn<T>>,
        token_bytes: usize,
        write: impl Fn(usize, ChunkedColumn<T>) + Sync,
    ) -> Result<(), BatchError> {
        let weight = |window: &RowWindowLayout| window.padded * token_bytes / COPY_SHARE;
        let weights: Vec<usize> = self.layout.windows.iter().map(weight).collect();
        let all: Vec<_> = all.into_iter().map(|column| Mutex::new(Some(column))).collect();
        let work = |cursor: &mut RowCursor<'_>| {
            while let Some(at) = cursor.next() {
                write(at, lock(&all[at]).take().expect("each window is copied once"));
            }
            Ok(())
        };
        row_windows::run(&weights, self.threads, None, work).map(|_| ())
    }
}

/// Locks a mutex, even a poisoned one: the panic that poisoned it is the error of the batch.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Maximum number of tokens of a padded batch: this number, or [`MAX_PADDED_FACTOR`] times the
/// number without padding, whichever is larger.
const MAX_PADDED: usize = 1 << 26;
const MAX_PADDED_FACTOR: usize = 256;

/// The positions of tokens and padding in a batch.
struct BatchLayout {
    windows: Vec<RowWindowLayout>,
    /// The minimum length of a row; 0 without padding.
    target: usize,
    direction: Direction,
}

/// The position of a row window in the batch.
struct RowWindowLayout {
    /// The end of each row: the number of tokens in the window up to it, without padding.
    ends: Vec<usize>,
    /// The number of tokens without padding.
    tokens: usize,
    /// The number of tokens with padding.
    padded: usize,
    /// The number of rows in the windows before this one.
    first_row: usize,
    /// The number of tokens, with padding, in the windows before this one.
    start: usize,
}

impl RowWindowLayout {
    /// The length of each row without padding. The rows of a padded batch end in the window in
    /// which they begin.
    fn lengths(&self) -> impl Iterator<Item = usize> {
        self.ends.iter().zip(once(&0).chain(&self.ends)).map(|(end, start)| end - start)
    }
}

impl BatchLayout {
    /// `windows` are the row ends of each window and its number of tokens. Fails if the padding or
    /// the batch is too large.
    fn new(
        windows: Vec<(Vec<usize>, usize)>,
        padding: Option<&Padding>,
        longest: usize,
        columns: Columns,
    ) -> Result<Self, BatchError> {
        let target = padding.map_or(0, |padding| padding.target(longest));
        let (mut first_row, mut start) = (0, 0);
        let layout_of = |(ends, tokens): (Vec<usize>, usize)| {
            let window = RowWindowLayout { ends, tokens, padded: tokens, first_row, start };
            let padded = if target > 0 { window.lengths().map(|length| length.max(target)).sum() } else { tokens };
            (first_row, start) = (first_row + window.ends.len(), start + padded);
            RowWindowLayout { padded, ..window }
        };
        let windows = windows.into_iter().map(layout_of).collect();
        let direction = padding.map(|padding| padding.direction).unwrap_or_default();
        let layout = Self { windows, target, direction };
        if let Some(limit) = padding.map(|padding| max_padded(padding, columns))
            && layout.rows() > 0
            && target > limit.max(longest)
        {
            return Err(BatchError::Options(EncodeError::PaddingTooLong { length: target, limit }));
        }
        // A single long row extends all others to its own length, so the limit is a factor.
        let tokens: usize = layout.windows.iter().map(|window| window.tokens).sum();
        let max_padded = tokens.saturating_mul(MAX_PADDED_FACTOR).max(MAX_PADDED);
        let limit = (u32::MAX as usize).min(if target > 0 { max_padded } else { usize::MAX });
        if layout.total() > limit {
            return Err(BatchError::Options(EncodeError::BatchTooLarge { limit }));
        }
        Ok(layout)
    }

    /// The number of rows.
    fn rows(&self) -> usize {
        self.windows.last().map_or(0, |last| last.first_row + last.ends.len())
    }

    /// The number of tokens with padding.
    fn total(&self) -> usize {
        self.windows.last().map_or(0, |last| last.start + last.padded)
    }

    /// The end in the batch of each row of a window, with padding.
    fn padded_ends(&self, window: usize) -> impl Iterator<Item = usize> {
        let RowWindowLayout { ends, start, .. } = &self.windows[window];
        let mut before = 0;
        let mut end = *start;
        ends.iter().map(move |&row_end| {
            // Without padding, the first row may have begun in an earlier window.
            end += (row_end - before).max(self.target);
            before = row_end;
            end
        })
    }

    /// The steps that write a window of a column with `width` values per token. `value` returns the
    /// padding value of a row.
    fn steps<T>(&self, window: usize, width: usize, value: impl Fn(usize) -> T) -> impl Iterator<Item = ColumnStep<T>> {
        let window = &self.windows[window];
        let is_padded = self.target > 0;
        let rows = window.lengths().take(if is_padded { usize::MAX } else { 0 });
        let rows = (window.first_row..).zip(rows).flat_map(move |(row, length)| {
            let values = ColumnStep::Values(length * width);
            let padding = ColumnStep::Padding(self.target.saturating_sub(length) * width, value(row));
            match self.direction {
                Direction::Right => [values, padding],
                Direction::Left => [padding, values],
            }
        });
        let all = (!is_padded).then(|| ColumnStep::Values(window.tokens * width));
        all.into_iter().chain(rows)
    }

    /// Joins the token strings, which are moved and not copied.
    fn tokens(&self, mut tokens: impl Iterator<Item = String>, padding: &str) -> Vec<String> {
        let mut all = vec![];
        all.grow(self.total());
        for step in (0..self.windows.len()).flat_map(|window| self.steps(window, 1, |_| ())) {
            match step {
                ColumnStep::Values(count) => all.extend(tokens.by_ref().take(count)),
                ColumnStep::Padding(count, ()) => all.extend(std::iter::repeat_n(padding, count).map(str::to_owned)),
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

        #[test]
        fn rows_are_put_together_one_by_one(
            windows in prop::collection::vec((prop::collection::vec(0usize..9, 0..9), 0usize..9), 0..5),
            target in prop_oneof![Just(None), (0usize..12).prop_map(Some)],
            left: bool,
            width in 1usize..3,
        ) {
            let mut values = 1..;
            let windows: Vec<(Vec<Vec<u32>>, usize)> = windows.into_iter().map(|(lengths, flushed)| {
                (lengths.into_iter().map(|length| values.by_ref().take(length * width).collect()).collect(), flushed)
            }).collect();
            let rows: Vec<Vec<u32>> = windows.iter().flat_map(|(rows, _)| rows).cloned().collect();
            let naive: Vec<Vec<u32>> = rows.iter().enumerate().map(|(at, row)| {
                let padding = vec![1000 + at as u32; (target.unwrap_or(0) * width).saturating_sub(row.len())];
                if left { [padding, row.clone()].concat() } else { [row.clone(), padding].concat() }
            }).collect();

            let ends: Vec<(Vec<usize>, usize)> = windows.iter().map(|(rows, _)| {
                let ends: Vec<usize> =
                    rows.iter().scan(0, |end, row| { *end += row.len() / width; Some(*end) }).collect();
                let total = ends.last().copied().unwrap_or(0);
                (ends, total)
            }).collect();
            let padding = target.map(|target| Padding {
                to: crate::PadTo::Length(target),
                direction: if left { Direction::Left } else { Direction::Right },
                ..Padding::default()
            });
            let layout = BatchLayout::new(ends, padding.as_ref(), 0, Columns::NONE).expect("they are short");
            let joiner = Joiner { layout: &layout, threads: 2 };
            let columns = |is_whole: bool| -> Vec<ChunkedColumn<u32>> {
                windows.iter().map(|(rows, flushed)| {
                    let head = if width == 1 { layout.rows() + 1 } else { 0 };
                    let mut kept = if is_whole { ChunkedColumn::presized(head, 7) } else { ChunkedColumn::default() };
                    let (first, rest) = rows.split_at(rows.len().min(*flushed));
                    first.iter().for_each(|row| kept.push(row));
                    kept.finish(rest.concat());
                    kept
                }).collect()
            };
            let lengths = naive.iter().map(|row| row.len() / width);
            let row_ends: Vec<usize> = lengths.scan(0, |end, length| { *end += length; Some(*end) }).collect();
            let ends = (0..windows.len()).flat_map(|window| layout.padded_ends(window));
            prop_assert!(ends.eq(row_ends.iter().copied()));
            let can_be_whole = windows.len() == 1 && target.is_none();
            for is_whole in [false, true].into_iter().filter(|&is_whole| !is_whole || can_be_whole) {
                if width == 1 {
                    // The padding of ids is the same for all rows.
                    let same = |&value: &u32| if value >= 1000 { 1000 } else { value };
                    let naive = naive.concat();
                    let offsets = once(0).chain(row_ends.iter().map(|&end| end as u32));
                    let joined = joiner.ids(columns(is_whole), 1000).expect("no panic");
                    prop_assert!(joined.iter().copied().eq(offsets.chain(naive.iter().map(same))));
                } else {
                    let joined = joiner.column(columns(is_whole), width, |row| 1000 + row as u32).expect("no panic");
                    prop_assert_eq!(&*joined, &naive.concat()[..]);
                }
            }
            if width == 1 {
                let tokens = layout.tokens(rows.concat().into_iter().map(|value| value.to_string()), "1000");
                let expected = naive.concat().into_iter().map(|value| value.min(1000).to_string());
                prop_assert!(expected.eq(tokens));
            }
        }
    }

    /// Windows that are large enough to be copied by several threads, and a row that goes on in the
    /// next window.
    #[test]
    fn flushed_chunks_are_joined_in_order() {
        const VALUES_PER_WINDOW: u32 = if cfg!(miri) { 30_000 } else { 300_000 };
        let cases = [(1, 1), (1, 3), (9, 1), (9, 3)];
        for &(windows, threads) in if cfg!(miri) { &cases[3..] } else { &cases } {
            let mut values = 0..windows * VALUES_PER_WINDOW;
            let columns = (0..windows).map(|_| {
                let values: Vec<u32> = values.by_ref().take(VALUES_PER_WINDOW as usize).collect();
                let mut kept = ChunkedColumn::default();
                let (first, rest) = values.split_at(VALUES_PER_WINDOW as usize - 2);
                first.chunks(70_001).for_each(|some| kept.push(some));
                kept.finish(rest.to_vec());
                kept
            });
            let columns: Vec<_> = columns.collect();
            let ends =
                (0..windows).map(|window| (if window % 2 == 0 { vec![] } else { vec![7] }, VALUES_PER_WINDOW as usize));
            let layout = BatchLayout::new(ends.collect(), None, 0, Columns::NONE).expect("they are few");
            let joined = Joiner { layout: &layout, threads }.ids(columns, 0).expect("no panic");
            let offsets = (0..windows).filter(|window| window % 2 == 1).map(|window| window * VALUES_PER_WINDOW + 7);
            assert!(joined.iter().copied().eq(once(0).chain(offsets).chain(0..windows * VALUES_PER_WINDOW)));
        }
    }
}
