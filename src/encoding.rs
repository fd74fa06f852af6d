//! The columns of a single input's encoding besides the ids. They are computed only when they are
//! requested.

use napi::Env;
use napi::bindgen_prelude::{Either3, External, Unknown};
use napi_derive::napi;
use tokenlane_core::memory::{Grow, OutOfMemory};
use tokenlane_core::{Columns, Encoding};

use crate::error::{Class, Failure};
use crate::handle::Handle;
use crate::memory::{Bytes, Words};
use crate::node_api::{self, JsTexts};
use crate::options::{self, COLUMNS, Extra};
use crate::text;

/// A column to be passed to JS.
pub type Column = Either3<Words, Bytes, JsTexts>;

/// The number of the pseudo-column with the ids of all rows; see [`column()`].
const ROWS: usize = COLUMNS.len();
/// The number of the pseudo-column with the sequence ranges; see [`column()`].
const RANGES: usize = COLUMNS.len() + 1;

/// Returns one column of an input's encoding: 32-bit words or bytes, which JS views as the type of
/// the column, or strings. With the overflow flag, the column of each overflowing part follows.
///
/// `which` is the number of a column, or one of two pseudo-columns after the last one. The first
/// returns the number of rows, the end of each row, for each row the number and the indices of its
/// own overflowing parts, and then the ids of all rows. The second returns for each row the number
/// of its sequence ranges, and for each range its sequence, start and end.
#[napi(catch_unwind)]
pub fn column(
    env: Env,
    handle: &External<Handle>,
    value: Unknown<'_>,
    pair: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    which: u32,
) -> napi::Result<Column> {
    node_api::guarded(env, || {
        let which = which as usize;
        let column = match COLUMNS.get(which) {
            Some(&column) => column,
            None if which == ROWS => Columns::NONE,
            None if which == RANGES => Columns::SEQUENCE_IDS,
            None => {
                let message = format!("there is no column {which}");
                return Err(Failure::new(Class::Range, "ERR_TOKENLANE_ARGUMENT_VALUE", message));
            }
        };
        let mut rows = rows(handle, &value, &pair, flags, extra, column)?;
        Ok(match which {
            ROWS => Either3::A(all_rows(&rows)?.try_into()?),
            RANGES => Either3::A(ranges(&rows)?.try_into()?),
            _ => take_column(&mut rows, column)?,
        })
    })
}

/// Returns all numeric columns of an input's encoding in one block. Used when more than one column
/// is requested, because encoding again for each column, or allocating a block for each, costs more
/// than the unused columns.
///
/// Layout: the number of tokens of all rows together (rows as in [`column()`]); then for each token
/// the offsets if the flags request them, the type ids, the word ids and the sequence ids; then the
/// special tokens mask and the attention mask, one byte per token, padded to whole words; then the
/// sequence ranges as in [`column()`].
#[napi(catch_unwind)]
pub fn numbers(
    env: Env,
    handle: &External<Handle>,
    value: Unknown<'_>,
    pair: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
) -> napi::Result<Words> {
    node_api::guarded(env, || {
        let offsets = if options::has_offsets(flags) { Columns::OFFSETS } else { Columns::NONE };
        let others = Columns::TYPE_IDS | Columns::WORD_IDS | Columns::SEQUENCE_IDS;
        let masks = Columns::SPECIAL_TOKENS_MASK | Columns::ATTENTION_MASK;
        let mut rows = rows(handle, &value, &pair, flags, extra, offsets | others | masks)?;
        let mut words = vec![rows.iter().map(Encoding::len).sum::<usize>() as u32];
        for column in [Columns::OFFSETS, Columns::TYPE_IDS, Columns::WORD_IDS, Columns::SEQUENCE_IDS] {
            rows.iter_mut().try_for_each(|row| append(&mut words, row.take_u32(column)))?;
        }
        let mut bytes = vec![];
        for column in [Columns::SPECIAL_TOKENS_MASK, Columns::ATTENTION_MASK] {
            rows.iter_mut().try_for_each(|row| append(&mut bytes, row.take_u8(column)))?;
        }
        bytes.try_grow(size_of::<u32>())?;
        bytes.resize(bytes.len().next_multiple_of(size_of::<u32>()), 0);
        words.try_grow(bytes.len() / size_of::<u32>())?;
        words.extend(bytes.as_chunks().0.iter().map(|&word| u32::from_ne_bytes(word)));
        append(&mut words, ranges(&rows)?)?;
        Ok(words.try_into()?)
    })
}

/// Encodes an input with these columns. The first row is the encoding itself, the others are the
/// parts that truncation cut off.
fn rows(
    handle: &Handle,
    value: &Unknown<'_>,
    pair: &Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    columns: Columns,
) -> Result<Vec<Encoding>, Failure> {
    let options = options::encode_options(flags, extra, columns);
    text::with_input(value, pair, options::has_words(flags), |input| {
        let mut encoding = handle.tokenizer.encode_input(input, &options)?;
        let parts = encoding.take_overflowing();
        let mut rows = vec![];
        rows.try_grow(1 + parts.len())?;
        rows.push(encoding);
        rows.extend(parts);
        Ok(rows)
    })
}

/// Takes a column out of all rows.
fn take_column(rows: &mut [Encoding], column: Columns) -> Result<Column, OutOfMemory> {
    Ok(match column {
        Columns::TOKENS => Either3::C(end_to_end(rows, Encoding::take_tokens)?.try_into()?),
        Columns::SPECIAL_TOKENS_MASK | Columns::ATTENTION_MASK => {
            Either3::B(end_to_end(rows, |row| row.take_u8(column))?.try_into()?)
        }
        _ => Either3::A(end_to_end(rows, |row| row.take_u32(column))?.try_into()?),
    })
}

/// Concatenates the values of all rows. Those of the first row are not copied.
fn end_to_end<T>(rows: &mut [Encoding], take: impl Fn(&mut Encoding) -> Vec<T>) -> Result<Vec<T>, OutOfMemory> {
    let mut rows = rows.iter_mut();
    let mut all = rows.next().map(&take).unwrap_or_default();
    rows.try_for_each(|row| append(&mut all, take(row)))?;
    Ok(all)
}

fn append<T>(all: &mut Vec<T>, mut more: Vec<T>) -> Result<(), OutOfMemory> {
    all.try_grow(more.len())?;
    all.append(&mut more);
    Ok(())
}

fn all_rows(rows: &[Encoding]) -> Result<Vec<u32>, OutOfMemory> {
    let mut words = vec![rows.len() as u32];
    words.try_grow(rows.iter().map(|row| 2 + row.own_overflow().len() + row.len()).sum())?;
    let mut end = 0;
    words.extend(rows.iter().map(|row| {
        end += row.len() as u32;
        end
    }));
    for row in rows {
        words.push(row.own_overflow().len() as u32);
        words.extend_from_slice(row.own_overflow());
    }
    rows.iter().for_each(|row| words.extend_from_slice(row.ids()));
    Ok(words)
}

/// The sequence ranges of all rows: for each row their number, then sequence, start and end of each
/// range.
fn ranges(rows: &[Encoding]) -> Result<Vec<u32>, OutOfMemory> {
    let mut words = vec![];
    for ranges in rows.iter().map(Encoding::sequence_ranges) {
        words.try_grow(1 + 3 * ranges.len())?;
        words.push(ranges.len() as u32);
        words.extend(ranges.iter().flat_map(|(sequence, range)| [*sequence, range.start as u32, range.end as u32]));
    }
    Ok(words)
}
