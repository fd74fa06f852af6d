//! What one input yields beside its ids, each column by itself and only when it is asked for.

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

/// A column taken out of an encoding or a batch.
pub fn take(from: &mut Encoding, column: Columns) -> Column {
    match column {
        Columns::TOKENS => Either3::C(from.take_tokens().into_iter().map(JsText::from).collect()),
        Columns::SPECIAL_TOKENS_MASK | Columns::ATTENTION_MASK => Either3::B(Bytes(from.take_mask(column))),
        _ => Either3::A(from.take_words(column).into()),
    }
}

/// One column of an input's encoding: words or bytes to be viewed as the column's type, or strings. With the flag for
/// overflow it goes on with that of each part.
///
/// Two numbers behind the last column are no columns: the first gives the number of rows, where each ends, for each the
/// number and the places of the parts that are its own overflow, and all ids; the second gives for each row the number of its sequence ranges, and of each range the sequence, start and end.
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
        let (ids, ranges) = (COLUMNS.len() as u32, COLUMNS.len() as u32 + 1);
        let column = match COLUMNS.get(which as usize) {
            Some(&column) => column,
            None if which == ids => Columns::NONE,
            None if which == ranges => Columns::SEQUENCE_IDS,
            None => {
                let message = format!("there is no column {which}");
                return Err(Failure::new(Class::Range, "ERR_TOKENLANE_ARGUMENT_VALUE", message));
            }
        };
        let options = options::encode_options(flags, extra, column);
        text::with_input(&value, &pair, options::has_words(flags), |input| {
            let mut encoding = handle.tokenizer.encode_input(input, &options)?;
            if which == ids {
                return Ok(Either3::A(rows(&encoding).into()));
            }
            if which == ranges {
                let all = std::iter::once(&encoding).chain(encoding.overflowing());
                return Ok(Either3::A(all.flat_map(ranges_of).collect::<Vec<_>>().into()));
            }
            let parts = encoding.take_overflowing();
            let mut taken = take(&mut encoding, column);
            for mut part in parts {
                match (&mut taken, take(&mut part, column)) {
                    (Either3::A(all), Either3::A(part)) => all.extend(&part),
                    (Either3::B(all), Either3::B(part)) => all.0.extend(part.0),
                    (Either3::C(all), Either3::C(part)) => all.extend(part),
                    _ => unreachable!("all parts have the same column"),
                }
            }
            Ok(taken)
        })
    });
    result.map_err(|failure| node_api::js_error(env, &failure))
}

fn rows(encoding: &Encoding) -> Vec<u32> {
    let all = || std::iter::once(encoding).chain(encoding.overflowing());
    let mut words = vec![all().count() as u32];
    let mut end = 0;
    words.extend(all().map(|row| {
        end += row.len() as u32;
        end
    }));
    for row in all() {
        words.push(row.own_overflow().len() as u32);
        words.extend_from_slice(row.own_overflow());
    }
    all().for_each(|row| words.extend_from_slice(row.ids()));
    words
}

fn ranges_of(encoding: &Encoding) -> Vec<u32> {
    let ranges = encoding.sequence_ranges();
    let each = ranges.iter().flat_map(|(sequence, range)| [*sequence, range.start as u32, range.end as u32]);
    std::iter::once(ranges.len() as u32).chain(each).collect()
}
