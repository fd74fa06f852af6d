//! The columns of a single input's encoding besides the ids, as JS receives them.

use tokenlane_core::memory::{Grow, OutOfMemory};
use tokenlane_core::{Columns, EncodeError, EncodeOptions, Encoding, Input, Tokenizer};

use crate::error::{Class, Failure};
use crate::options::{self, COLUMNS, Extra};

/// A column.
#[derive(Debug, PartialEq, Eq)]
pub enum Column {
    /// Numbers of 32 bits.
    U32(Vec<u32>),
    /// Bytes.
    U8(Vec<u8>),
    /// Strings.
    Strings(Vec<String>),
}

/// The number of the pseudo-column with the ids of all rows; see [`Request::column`].
const ROWS: usize = COLUMNS.len();
/// The number of the pseudo-column with the sequence ranges; see [`Request::column`].
const RANGES: usize = COLUMNS.len() + 1;

/// What is requested of an input's encoding: one column, or all numeric ones.
#[derive(Debug, Clone, Copy)]
pub enum Request {
    /// One column, or a pseudo-column.
    One(usize),
    /// All numeric columns.
    Numbers,
}

impl Request {
    /// The options with which the input has to be encoded.
    pub fn options(self, flags: u32, extra: Option<Extra>) -> Result<EncodeOptions, Failure> {
        let columns = match self {
            Self::Numbers => {
                let offsets = if options::has_offsets(flags) { Columns::OFFSETS } else { Columns::NONE };
                let others = Columns::TYPE_IDS | Columns::WORD_IDS | Columns::SEQUENCE_IDS;
                offsets | others | Columns::SPECIAL_TOKENS_MASK | Columns::ATTENTION_MASK
            }
            Self::One(ROWS) => Columns::NONE,
            Self::One(RANGES) => Columns::SEQUENCE_IDS,
            Self::One(which) => *COLUMNS.get(which).ok_or_else(|| {
                let message = format!("there is no column {which}");
                Failure::new(Class::Range, "ERR_TOKENLANE_ARGUMENT_VALUE", message)
            })?,
        };
        Ok(options::encode_options(flags, extra, columns))
    }

    /// The column of an input that was encoded with [`Self::options`].
    ///
    /// One column is 32-bit words or bytes, which JS views as the type of the column, or strings.
    /// With the overflow flag, the column of each overflowing part follows. There are two
    /// pseudo-columns after the last one. The first consists of the number of rows, the end of each
    /// row, for each row the number and the indices of its own overflowing parts, and then the ids
    /// of all rows. The second has for each row the number of its sequence ranges, and for each
    /// range its sequence, start and end.
    ///
    /// All numeric columns are one block: the number of tokens of all rows together; then for each
    /// token the offsets if the flags request them, the type ids, the word ids and the sequence
    /// ids; then the special tokens mask and the attention mask, one byte per token, padded to
    /// whole words; then the sequence ranges as above.
    pub fn column(self, tokenizer: &Tokenizer, input: &Input<'_>, options: &EncodeOptions) -> Result<Column, Failure> {
        let mut rows = rows(tokenizer, input, options)?;
        Ok(match self {
            Self::Numbers => Column::U32(numbers(&mut rows)?),
            Self::One(ROWS) => Column::U32(all_rows(&rows)?),
            Self::One(RANGES) => Column::U32(ranges(&rows)?),
            Self::One(_) => take_column(&mut rows, options.columns)?,
        })
    }
}

/// Encodes an input. The first row is the encoding itself, the others are the parts that truncation
/// cut off.
fn rows(tokenizer: &Tokenizer, input: &Input<'_>, options: &EncodeOptions) -> Result<Vec<Encoding>, EncodeError> {
    let mut encoding = tokenizer.encode_input(input, options)?;
    let parts = encoding.take_overflowing();
    let mut rows = vec![];
    rows.try_grow(1 + parts.len())?;
    rows.push(encoding);
    rows.extend(parts);
    Ok(rows)
}

fn numbers(rows: &mut [Encoding]) -> Result<Vec<u32>, OutOfMemory> {
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
    append(&mut words, ranges(rows)?)?;
    Ok(words)
}

/// Takes a column out of all rows.
fn take_column(rows: &mut [Encoding], column: Columns) -> Result<Column, OutOfMemory> {
    Ok(match column {
        Columns::TOKENS => Column::Strings(end_to_end(rows, Encoding::take_tokens)?),
        Columns::SPECIAL_TOKENS_MASK | Columns::ATTENTION_MASK => {
            Column::U8(end_to_end(rows, |row| row.take_u8(column))?)
        }
        _ => Column::U32(end_to_end(rows, |row| row.take_u32(column))?),
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
