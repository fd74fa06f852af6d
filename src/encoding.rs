//! What one input yields beside its ids, and only when it is asked for.

use napi::Env;
use napi::bindgen_prelude::{Either3, External, Unknown};
use napi_derive::napi;
use tokenlane_core::{Columns, Encoding};

use crate::error::{Class, Failure, caught};
use crate::load::Handle;
use crate::memory::{Bytes, Words};
use crate::node_api::{self, JsText};
use crate::options::{self, COLUMNS, Extra};
use crate::text;

/// A column on its way to JS.
pub type Column = Either3<Words, Bytes, Vec<JsText>>;

/// Two numbers behind the last column are no columns: all rows,
const ROWS: usize = COLUMNS.len();
/// and the sequence ranges.
const RANGES: usize = COLUMNS.len() + 1;

/// One column of an input's encoding: words or bytes to be viewed as the column's type, or strings. With the flag for
/// overflow it goes on with that of each part.
///
/// Two numbers behind the last column are no columns: the first gives the number of rows, where each ends, for each the
/// number and the places of the parts that are its own overflow, and all ids; the second gives for each row the number of
/// its sequence ranges, and of each range the sequence, start and end.
#[napi]
pub fn column(
    env: Env,
    handle: &External<Handle>,
    value: Unknown<'_>,
    pair: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    which: u32,
) -> napi::Result<Column> {
    let result = caught(|| {
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
            ROWS => Either3::A(all_rows(&rows).into()),
            RANGES => Either3::A(rows.iter().flat_map(ranges_of).collect::<Vec<_>>().into()),
            _ => taken(&mut rows, column),
        })
    });
    result.map_err(|failure| node_api::js_error(env, &failure))
}

/// All numbers of an input's encoding in one block, for whoever asks for more than one column: encoding costs more than they
/// do, and so do blocks of memory of a short text.
///
/// First the number of tokens, of all rows as in [`column`]; then of each the offsets, if the flags ask for them, the type
/// ids, the word ids and the sequence ids; then the masks of special tokens and of attention, a byte a token, filled up to
/// whole words; at last the sequence ranges.
#[napi]
pub fn numbers(
    env: Env,
    handle: &External<Handle>,
    value: Unknown<'_>,
    pair: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
) -> napi::Result<Words> {
    let result = caught(|| {
        let offsets = if options::has_offsets(flags) { Columns::OFFSETS } else { Columns::NONE };
        let others = Columns::TYPE_IDS | Columns::WORD_IDS | Columns::SEQUENCE_IDS;
        let masks = Columns::SPECIAL_TOKENS_MASK | Columns::ATTENTION_MASK;
        let mut rows = rows(handle, &value, &pair, flags, extra, offsets | others | masks)?;
        let mut words = vec![rows.iter().map(Encoding::len).sum::<usize>() as u32];
        for column in [Columns::OFFSETS, Columns::TYPE_IDS, Columns::WORD_IDS, Columns::SEQUENCE_IDS] {
            rows.iter_mut().for_each(|row| words.append(&mut row.take_u32(column)));
        }
        let mut bytes = vec![];
        for column in [Columns::SPECIAL_TOKENS_MASK, Columns::ATTENTION_MASK] {
            rows.iter_mut().for_each(|row| bytes.append(&mut row.take_u8(column)));
        }
        bytes.resize(bytes.len().next_multiple_of(size_of::<u32>()), 0);
        words.extend(bytes.as_chunks().0.iter().map(|&word| u32::from_ne_bytes(word)));
        words.extend(rows.iter().flat_map(ranges_of));
        Ok(words.into())
    });
    result.map_err(|failure| node_api::js_error(env, &failure))
}

/// An input's encoding with these columns, then the parts that truncation cut off.
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
        Ok(std::iter::once(encoding).chain(parts).collect())
    })
}

/// A column taken out of all rows.
fn taken(rows: &mut [Encoding], column: Columns) -> Column {
    match column {
        Columns::TOKENS => Either3::C(rows.iter_mut().flat_map(Encoding::take_tokens).map(JsText::from).collect()),
        Columns::SPECIAL_TOKENS_MASK | Columns::ATTENTION_MASK => {
            Either3::B(end_to_end(rows, |row| row.take_u8(column)).into())
        }
        _ => Either3::A(end_to_end(rows, |row| row.take_u32(column)).into()),
    }
}

/// What all rows have; that of the first is not copied.
fn end_to_end<T>(rows: &mut [Encoding], take: impl Fn(&mut Encoding) -> Vec<T>) -> Vec<T> {
    let mut rows = rows.iter_mut();
    let mut all = rows.next().map(&take).unwrap_or_default();
    rows.for_each(|row| all.append(&mut take(row)));
    all
}

fn all_rows(rows: &[Encoding]) -> Vec<u32> {
    let mut words = vec![rows.len() as u32];
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
    words
}

fn ranges_of(encoding: &Encoding) -> Vec<u32> {
    let ranges = encoding.sequence_ranges();
    let each = ranges.iter().flat_map(|(sequence, range)| [*sequence, range.start as u32, range.end as u32]);
    std::iter::once(ranges.len() as u32).chain(each).collect()
}
