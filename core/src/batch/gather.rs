//! What the workers made becomes one batch: one slab of ids and one a column, padded where that is wanted.

use std::iter::once;

use super::columns::{
    BatchColumns, ChunkedColumn, ChunkedColumns, ColumnStep, U8_COLUMNS, U32_COLUMNS, values_per_token,
};
use super::{Batch, BatchError};
use crate::encoder::Plan;
use crate::encoding::{Columns, Encoding, NO_ID, most_padded};
use crate::error::EncodeError;
use crate::memory::Grow;
use crate::memory::fallible::{append, push};
use crate::padding::Padding;
use crate::truncation::Direction;

/// Tokens that a worker has written are put away when there are so many: as long as they are in the processor's cache.
const FLUSH_TOKENS: usize = 8 << 10;

/// Room for all tokens of a batch of which so many are expected. What is not needed goes back untouched, and growing is a
/// copy to fresh pages; but what waits to go back is missing elsewhere.
pub(super) fn reserve_estimate(expected: usize) -> usize {
    expected + expected / 2
}

/// What a worker made of a window of rows.
pub(super) struct WindowRows {
    /// What is not put away yet, and all tokens as strings.
    pub(super) out: Encoding,
    ids: ChunkedColumn<u32>,
    columns: ChunkedColumns,
    /// How many ids were put away.
    flushed: usize,
    /// How many ids there are, once no more come: behind the last row's end may be the start of one that goes on in the next window.
    total: usize,
    /// Where each row ends, counted from the window's first id.
    ends: Vec<usize>,
    /// The text of each row, when there may be several rows of one.
    row_texts: Vec<u32>,
    /// The sequence id of each row's padding, when both are wanted.
    pad_sequences: Vec<u32>,
}

impl WindowRows {
    /// Of so many rows with about so many tokens, and these columns. Without enough memory it unwinds. One that is the whole batch puts its tokens away right
    /// where the batch has them.
    pub(super) fn new(rows: usize, tokens: usize, columns: Columns, is_whole: bool) -> Self {
        let mut out = Encoding::default();
        let room = tokens.min(FLUSH_TOKENS + FLUSH_TOKENS / 2);
        out.ids.grow(room);
        out.grow_columns(room, columns);
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

    /// The tokens since the last end are a row of a text.
    pub(super) fn end_row(&mut self, text: usize, plan: &Plan) {
        push(&mut self.ends, self.flushed + self.out.ids.len());
        if plan.overflow {
            push(&mut self.row_texts, text as u32);
        }
        if plan.ranges {
            // As for one text: where ranges are missing, the padding is of the text like all else.
            let ranges = &self.out.ranges;
            let missing = |id: &u32| !ranges.iter().any(|(known, _)| known == id);
            let all = (0..ranges.len().max(1) as u32).rev().find(missing);
            push(&mut self.pad_sequences, all.unwrap_or(NO_ID));
        }
    }

    /// Puts tokens away, if there are enough.
    pub(super) fn flush_if_full(&mut self) {
        if self.out.ids.len() >= FLUSH_TOKENS {
            self.flushed += self.out.ids.len();
            self.ids.push(&self.out.ids);
            self.columns.push(&self.out);
            self.out.clear_numbers();
        }
    }

    /// No more rows come.
    pub(super) fn finish(&mut self) {
        self.total = self.flushed + self.out.ids.len();
        self.ids.finish(std::mem::take(&mut self.out.ids));
        self.columns.finish(&mut self.out);
    }

    /// The length of the longest row; of several rows of one text only the first counts.
    fn longest(&self) -> usize {
        let starts = once(&0).chain(&self.ends);
        let lengths = self.ends.iter().zip(starts).map(|(end, start)| end - start);
        let counts =
            |row: usize| row == 0 || self.row_texts.is_empty() || self.row_texts[row] != self.row_texts[row - 1];
        lengths.enumerate().filter(|&(row, _)| counts(row)).map(|(_, length)| length).max().unwrap_or(0)
    }
}

/// One batch of all windows. Without enough memory it unwinds.
pub(super) fn gather(mut windows: Vec<WindowRows>, plan: &Plan) -> Result<Batch, BatchError> {
    let longest = windows.iter().map(WindowRows::longest).max().unwrap_or(0);
    let layout = BatchLayout::new(
        windows.iter().map(|window| (&window.ends[..], window.total)),
        plan.padding.as_ref(),
        longest,
        plan.columns,
    )?;
    let concat = |list: fn(&WindowRows) -> &[u32]| {
        let mut all = vec![];
        windows.iter().for_each(|window| append(&mut all, list(window)));
        all
    };
    let row_texts = plan.overflow.then(|| concat(|window| &window.row_texts));
    let pad_sequences = concat(|window| &window.pad_sequences);
    let padding = plan.padding.clone().unwrap_or_default();
    let (rows, total) = (layout.ends.len(), layout.total());

    let ids = windows.iter_mut().map(|window| std::mem::take(&mut window.ids)).collect();
    let mut slab = ChunkedColumn::join(ids, rows + 1, total, layout.steps(1, |_| padding.id));
    slab[1..].iter_mut().zip(layout.padded_ends()).for_each(|(place, end)| *place = end as u32);

    let mut columns = BatchColumns::default();
    for (place, &column) in U32_COLUMNS.iter().enumerate().filter(|(_, column)| plan.columns.contains(**column)) {
        let all = windows.iter_mut().map(|window| std::mem::take(&mut window.columns.u32s[place])).collect();
        let value = |row: usize| match column {
            Columns::TYPE_IDS => padding.type_id,
            Columns::WORD_IDS => NO_ID,
            Columns::SEQUENCE_IDS => pad_sequences[row],
            _ => 0,
        };
        let width = values_per_token(column);
        columns.u32s[place] = ChunkedColumn::join(all, 0, total * width, layout.steps(width, value));
    }
    for (place, &column) in U8_COLUMNS.iter().enumerate().filter(|(_, column)| plan.columns.contains(**column)) {
        let all = windows.iter_mut().map(|window| std::mem::take(&mut window.columns.u8s[place])).collect();
        let value = u8::from(column == Columns::SPECIAL_TOKENS_MASK);
        columns.u8s[place] = ChunkedColumn::join(all, 0, total, layout.steps(1, |_| value));
    }
    if plan.columns.contains(Columns::TOKENS) {
        columns.tokens = layout.tokens(windows.into_iter().flat_map(|window| window.out.tokens), &padding.token);
    }
    Ok(Batch { slab, rows, columns, row_texts })
}

/// Tokens that a padded batch may have, or as many times its tokens without padding where that is more.
const MOST_PADDED: usize = 1 << 26;
const MOST_PADDED_FACTOR: usize = 256;

/// Where the tokens of all rows and the padding stand.
struct BatchLayout {
    /// Where the rows end without padding.
    ends: Vec<usize>,
    /// The least length of a row.
    target: usize,
    direction: Direction,
}

impl BatchLayout {
    /// `ends` are those of each window, with how many tokens it has.
    fn new<'a>(
        ends: impl Iterator<Item = (&'a [usize], usize)>,
        padding: Option<&Padding>,
        longest: usize,
        columns: Columns,
    ) -> Result<Self, BatchError> {
        let mut first = 0;
        let shifted = ends.flat_map(|(ends, total)| {
            let start = first;
            first += total;
            ends.iter().map(move |end| start + end)
        });
        let mut ends = vec![];
        shifted.for_each(|end| push(&mut ends, end));
        let target = padding.map_or(0, |padding| padding.target(longest));
        if let Some(limit) = padding.map(|padding| most_padded(padding, columns))
            && !ends.is_empty()
            && target > limit.max(longest)
        {
            return Err(BatchError::Options(EncodeError::PaddingTooLong { length: target, limit }));
        }
        let layout = Self { ends, target, direction: padding.map(|padding| padding.direction).unwrap_or_default() };
        // One long row makes all others as long as itself.
        let most_padded =
            layout.ends.last().map_or(0, |tokens| tokens.saturating_mul(MOST_PADDED_FACTOR)).max(MOST_PADDED);
        let limit = (u32::MAX as usize).min(if target > 0 { most_padded } else { usize::MAX });
        if layout.total() > limit {
            return Err(BatchError::Options(EncodeError::BatchTooLarge { limit }));
        }
        Ok(layout)
    }

    /// How long the rows are without padding.
    fn lengths(&self) -> impl Iterator<Item = usize> {
        self.ends.iter().zip(once(&0).chain(&self.ends)).map(|(end, start)| end - start)
    }

    /// Where they end with it.
    fn padded_ends(&self) -> impl Iterator<Item = usize> {
        self.lengths().scan(0, |end, length| {
            *end += length.max(self.target);
            Some(*end)
        })
    }

    /// How many tokens there are, padding included.
    fn total(&self) -> usize {
        self.padded_ends().last().unwrap_or(0)
    }

    /// How a column of so many values a token is put together; `value` is that of a row's padding.
    fn steps<T>(&self, width: usize, value: impl Fn(usize) -> T) -> impl Iterator<Item = ColumnStep<T>> {
        let is_padded = self.target > 0;
        let rows =
            self.lengths().take(if is_padded { usize::MAX } else { 0 }).enumerate().flat_map(move |(row, length)| {
                let values = ColumnStep::Values(length * width);
                let padding = ColumnStep::Padding(self.target.saturating_sub(length) * width, value(row));
                match self.direction {
                    Direction::Right => [values, padding],
                    Direction::Left => [padding, values],
                }
            });
        let all = (!is_padded).then(|| ColumnStep::Values(self.total() * width));
        all.into_iter().chain(rows)
    }

    /// Strings are put together like all else, but moved.
    fn tokens(&self, mut tokens: impl Iterator<Item = String>, padding: &str) -> Vec<String> {
        let mut all = vec![];
        all.grow(self.total());
        for step in self.steps(1, |_| ()) {
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
        #[test]
        fn rows_are_put_together_one_by_one(
            windows in prop::collection::vec((prop::collection::vec(0usize..9, 0..9), 0usize..9), 0..5),
            target in prop_oneof![Just(None), (0usize..12).prop_map(Some)],
            left: bool,
            width in 1usize..3,
        ) {
            let mut values = 1..;
            let windows: Vec<(Vec<Vec<u32>>, usize)> = windows.into_iter().map(|(lengths, put_away)| {
                (lengths.into_iter().map(|length| values.by_ref().take(length * width).collect()).collect(), put_away)
            }).collect();
            let rows: Vec<Vec<u32>> = windows.iter().flat_map(|(rows, _)| rows).cloned().collect();
            let naive: Vec<Vec<u32>> = rows.iter().enumerate().map(|(at, row)| {
                let padding = vec![1000 + at as u32; (target.unwrap_or(0) * width).saturating_sub(row.len())];
                if left { [padding, row.clone()].concat() } else { [row.clone(), padding].concat() }
            }).collect();

            let ends: Vec<Vec<usize>> = windows.iter().map(|(rows, _)| {
                rows.iter().scan(0, |end, row| { *end += row.len() / width; Some(*end) }).collect()
            }).collect();
            let padding = target.map(|target| Padding {
                to: crate::PadTo::Length(target),
                direction: if left { Direction::Left } else { Direction::Right },
                ..Padding::default()
            });
            let layout = BatchLayout::new(ends.iter().map(|ends| (&ends[..], ends.last().copied().unwrap_or(0))), padding.as_ref(), 0, Columns::NONE).expect("they are short");
            let joined = |is_whole: bool| {
                let kept = windows.iter().map(|(rows, put_away)| {
                    let mut kept = if is_whole { ChunkedColumn::presized(3, 7) } else { ChunkedColumn::default() };
                    let (first, rest) = rows.split_at(rows.len().min(*put_away));
                    first.iter().for_each(|row| kept.push(row));
                    kept.finish(rest.concat());
                    kept
                }).collect();
                ChunkedColumn::join(kept, 3, layout.total() * width, layout.steps(width, |row| 1000 + row as u32))
            };
            let expected = [vec![0; 3], naive.concat()].concat();
            prop_assert_eq!(&*joined(false), &expected[..]);
            if windows.len() == 1 && target.is_none() {
                prop_assert_eq!(&*joined(true), &expected[..]);
            }
            let lengths = naive.iter().map(|row| row.len() / width);
            let ends: Vec<usize> = lengths.scan(0, |end, length| { *end += length; Some(*end) }).collect();
            prop_assert!(layout.padded_ends().eq(ends));
            if width == 1 {
                let tokens = layout.tokens(rows.concat().into_iter().map(|value| value.to_string()), "1000");
                let expected = naive.concat().into_iter().map(|value| value.min(1000).to_string());
                prop_assert!(expected.eq(tokens));
            }
        }
    }

    #[test]
    fn what_is_put_away_in_pieces_comes_back_in_order() {
        let values: Vec<u32> = (0..300_000).collect();
        let mut kept = ChunkedColumn::default();
        values.chunks(70_001).for_each(|some| kept.push(some));
        kept.finish(vec![300_000, 300_001]);
        let joined = ChunkedColumn::join(vec![kept], 0, values.len() + 2, once(ColumnStep::Values(values.len() + 2)));
        assert!(joined.iter().copied().eq(0..300_002));
    }
}
