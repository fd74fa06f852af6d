//! What the workers made becomes one batch: one slab of ids and one list a column, padded where that is wanted.

use std::iter::repeat_n;

use super::{Batch, BatchError};
use crate::encoder::Plan;
use crate::encoding::{Columns, Encoding, MOST_PADDED, NO_ID};
use crate::error::EncodeError;
use crate::memory::Slab;
use crate::padding::Padding;
use crate::truncation::Direction;

/// Ids that a worker has written are put away when there are so many: as long as they are in the processor's cache.
const PUT_AWAY: usize = 8 << 10;
/// Ids that one piece of a window has room for: 256 KiB. All have the same size, so that every batch finds those of the
/// one before.
const PIECE: usize = 64 << 10;

/// What a worker made of a window of rows.
pub(super) struct Window {
    /// The ids that are not put away yet, and all columns.
    pub(super) out: Encoding,
    /// The ids before those of `out`.
    ids: PutAway,
    /// Where each row ends, counted from the window's first id.
    ends: Vec<usize>,
    /// The text of each row, when there may be several rows of one.
    row_texts: Vec<u32>,
    /// The sequence id of each row's padding, when both are wanted.
    pad_sequences: Vec<u32>,
}

/// Where a window's ids are put away.
enum PutAway {
    /// Nowhere: whoever fills columns or pads needs them together.
    Never,
    /// In pieces; so many ids together.
    Pieces(Vec<Slab<u32>>, usize),
    /// In the slab of the batch, behind so many places for row offsets: the window is the whole batch.
    Slab(Slab<u32>, usize),
}

impl PutAway {
    fn count(&self) -> usize {
        match self {
            Self::Never => 0,
            Self::Pieces(_, count) => *count,
            Self::Slab(slab, head) => slab.len() - head,
        }
    }

    fn push(&mut self, mut ids: &[u32]) {
        match self {
            Self::Never => {}
            Self::Pieces(pieces, count) => {
                *count += ids.len();
                while !ids.is_empty() {
                    if pieces.last().is_none_or(|piece| piece.len() == PIECE) {
                        pieces.push(Slab::with_capacity(PIECE));
                    }
                    let piece = pieces.last_mut().expect("there is one now");
                    let (fitting, rest) = ids.split_at(ids.len().min(PIECE - piece.len()));
                    piece.extend_from_slice(fitting);
                    ids = rest;
                }
            }
            Self::Slab(slab, _) => slab.extend_from_slice(ids),
        }
    }
}

/// How the ids of a window are to be kept.
pub(super) enum Keep {
    /// With the columns that are wanted, for about so many ids.
    Together {
        /// Ids, about.
        ids: usize,
        /// What is wanted beside them.
        columns: Columns,
    },
    /// By themselves.
    Apart,
    /// By themselves, as the ids of the whole batch, which has so many rows and about so many ids.
    AsBatch {
        /// Rows.
        rows: usize,
        /// Ids, about.
        ids: usize,
    },
}

impl Window {
    pub(super) fn new(keep: &Keep, rows: usize) -> Self {
        let ids = match *keep {
            Keep::Together { .. } => PutAway::Never,
            Keep::Apart => PutAway::Pieces(vec![], 0),
            Keep::AsBatch { rows, ids } => {
                let mut slab = Slab::with_capacity(rows + 1 + ids);
                slab.resize(rows + 1, 0);
                PutAway::Slab(slab, rows + 1)
            }
        };
        let mut out = Encoding::default();
        if let Keep::Together { ids, columns } = *keep {
            out.ids.reserve(ids);
            out.reserve_columns(ids, columns);
        }
        Self { out, ids, ends: Vec::with_capacity(rows), row_texts: vec![], pad_sequences: vec![] }
    }

    fn put_away(&mut self) {
        if !matches!(self.ids, PutAway::Never) {
            self.ids.push(&self.out.ids);
            self.out.ids.clear();
        }
    }

    /// How many ids there are.
    fn count(&self) -> usize {
        self.ids.count() + self.out.ids.len()
    }

    /// The tokens since the last end are a row of a text.
    pub(super) fn end_row(&mut self, text: usize, plan: &Plan) {
        self.ends.push(self.count());
        if self.out.ids.len() >= PUT_AWAY {
            self.put_away();
        }
        if plan.overflow {
            self.row_texts.push(text as u32);
        }
        if plan.ranges {
            // As for one text: where ranges are missing, the padding is of the text like all else.
            let ranges = &self.out.ranges;
            let missing = |id: &u32| !ranges.iter().any(|(known, _)| known == id);
            let all = (0..ranges.len().max(1) as u32).rev().find(missing);
            self.pad_sequences.push(all.unwrap_or(NO_ID));
        }
    }

    /// The length of the longest row; of several rows of one text only the first counts.
    fn longest(&self) -> usize {
        let starts = std::iter::once(&0).chain(&self.ends);
        let lengths = self.ends.iter().zip(starts).map(|(end, start)| end - start);
        let counts =
            |row: usize| row == 0 || self.row_texts.is_empty() || self.row_texts[row] != self.row_texts[row - 1];
        lengths.enumerate().filter(|&(row, _)| counts(row)).map(|(_, length)| length).max().unwrap_or(0)
    }

    fn padded(&self, target: usize, padding: &Padding) -> Padded<'_> {
        Padded { ends: &self.ends, target, direction: padding.direction }
    }

    /// Fills the rows up to `target` tokens, column by column. The ids are together with them.
    fn pad(&mut self, target: usize, padding: &Padding, columns: Columns) {
        let mut out = std::mem::take(&mut self.out);
        let padded = self.padded(target, padding);
        let wanted = |column| columns.contains(column);
        padded.fill(true, &mut out.ids, |_| padding.id);
        padded.fill(wanted(Columns::OFFSETS), &mut out.offsets, |_| [0, 0]);
        padded.fill(wanted(Columns::TOKENS), &mut out.tokens, |_| padding.token.clone());
        padded.fill(wanted(Columns::SPECIAL_TOKENS_MASK), &mut out.special_tokens_mask, |_| 1);
        padded.fill(wanted(Columns::TYPE_IDS), &mut out.type_ids, |_| padding.type_id);
        padded.fill(wanted(Columns::ATTENTION_MASK), &mut out.attention_mask, |_| 0);
        padded.fill(wanted(Columns::WORD_IDS), &mut out.word_ids, |_| NO_ID);
        padded.fill(wanted(Columns::SEQUENCE_IDS), &mut out.sequence_ids, |row| self.pad_sequences[row]);
        self.ends = padded.ends();
        self.out = out;
    }
}

/// One batch of all windows.
pub(super) fn gather(mut windows: Vec<Window>, plan: &Plan) -> Result<Batch, BatchError> {
    let rows = windows.iter().map(|window| window.ends.len()).sum();
    let row_texts = plan.overflow.then(|| windows.iter().flat_map(|window| &window.row_texts).copied().collect());
    if let Some(padding) = &plan.padding {
        let target = padding.target(windows.iter().map(Window::longest).max().unwrap_or(0));
        if rows > 0 && target > MOST_PADDED {
            let error = EncodeError::PaddingTooLong { length: target, limit: MOST_PADDED };
            return Err(BatchError::Options(error));
        }
        let padded = |window: &Window| window.padded(target, padding).ends().last().copied().unwrap_or(0);
        check_total(windows.iter().map(padded).sum())?;
        windows.iter_mut().for_each(|window| window.pad(target, padding, plan.columns));
    }
    let total: usize = windows.iter().map(Window::count).sum();
    check_total(total)?;
    windows.iter_mut().for_each(Window::put_away);
    let mut slab = match &mut windows[..] {
        [Window { ids: PutAway::Slab(slab, _), .. }] => std::mem::take(slab),
        _ => Slab::with_capacity(rows + 1 + total),
    };
    slab.resize(slab.len().max(rows + 1), 0);
    let (mut row, mut first) = (0, 0);
    let mut columns = Encoding::default();
    for window in windows {
        for end in &window.ends {
            row += 1;
            slab[row] = (first + end) as u32;
        }
        first += window.ends.last().copied().unwrap_or(0);
        if let PutAway::Pieces(pieces, _) = window.ids {
            pieces.iter().for_each(|piece| slab.extend_from_slice(piece));
        }
        slab.extend_from_slice(&window.out.ids);
        columns.append_columns(window.out);
    }
    slab.shrink_to_fit();
    Ok(Batch { slab, rows, columns, row_texts })
}

fn check_total(ids: usize) -> Result<(), BatchError> {
    match u32::try_from(ids) {
        Ok(_) => Ok(()),
        Err(_) => Err(BatchError::Options(EncodeError::BatchTooLarge { limit: u32::MAX as usize })),
    }
}

/// How rows that end at `ends` are filled up.
struct Padded<'a> {
    ends: &'a [usize],
    target: usize,
    direction: Direction,
}

impl Padded<'_> {
    /// Where the rows end afterwards.
    fn ends(&self) -> Vec<usize> {
        let (mut start, mut padded_end) = (0, 0);
        let end = |&end: &usize| {
            padded_end += (end - start).max(self.target);
            start = end;
            padded_end
        };
        self.ends.iter().map(end).collect()
    }

    fn fill<T: Clone>(&self, wanted: bool, column: &mut Vec<T>, value: impl Fn(usize) -> T) {
        if !wanted {
            return;
        }
        let old = std::mem::take(column);
        column.reserve(self.ends().last().copied().unwrap_or(0));
        let mut values = old.into_iter();
        let mut start = 0;
        for (row, &end) in self.ends.iter().enumerate() {
            let padding = repeat_n(value(row), self.target.saturating_sub(end - start));
            match self.direction {
                Direction::Right => {
                    column.extend(values.by_ref().take(end - start));
                    column.extend(padding);
                }
                Direction::Left => {
                    column.extend(padding);
                    column.extend(values.by_ref().take(end - start));
                }
            }
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_padded_one_by_one(
            rows in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 0..9),
            target in 0usize..12,
            left: bool,
        ) {
            let naive: Vec<Vec<u8>> = rows.iter().map(|row| {
                let padding = vec![0; target.saturating_sub(row.len())];
                if left { [padding, row.clone()].concat() } else { [row.clone(), padding].concat() }
            }).collect();
            let mut ends = vec![];
            rows.iter().for_each(|row| ends.push(ends.last().unwrap_or(&0) + row.len()));
            let direction = if left { Direction::Left } else { Direction::Right };
            let padded = Padded { ends: &ends, target, direction };
            let mut column = rows.concat();
            padded.fill(true, &mut column, |_| 0);
            let starts = std::iter::once(0).chain(padded.ends());
            let got: Vec<Vec<u8>> = starts.zip(padded.ends()).map(|(start, end)| column[start..end].to_vec()).collect();
            prop_assert_eq!(got, naive);
        }
    }
}
