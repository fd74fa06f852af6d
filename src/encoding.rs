//! The columns of a single input's encoding besides the ids. They are computed only when they are
//! requested.

use napi::Env;
use napi::bindgen_prelude::{Either3, External, Unknown};
use napi_derive::napi;
use tokenlane_calls::columns::{self, Request};

use crate::error::Failure;
use crate::handle::Handle;
use crate::memory::{U8Values, U32Values};
use crate::node_api::{self, JsTexts};
use crate::options::Extra;
use crate::text;

/// A column to be passed to JS.
pub type Column = Either3<U32Values, U8Values, JsTexts>;

/// Returns one column of an input's encoding, or a pseudo-column: see [`Request::column`].
#[napi(catch_unwind)]
pub fn column(
    handle: &External<Handle>,
    value: Unknown<'_>,
    pair: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
    which: u32,
) -> napi::Result<Column> {
    node_api::guarded(node_api::env_of(&value), || {
        requested(Request::One(which as usize), handle, &value, &pair, flags, extra)
    })
}

/// Returns all numeric columns of an input's encoding in one block: see [`Request::column`]. Used
/// when more than one column is requested, because encoding again for each column, or allocating a
/// block for each, costs more than the unused columns.
#[napi(catch_unwind)]
pub fn numbers(
    env: Env,
    handle: &External<Handle>,
    value: Unknown<'_>,
    pair: Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
) -> napi::Result<Column> {
    node_api::guarded(env, || requested(Request::Numbers, handle, &value, &pair, flags, extra))
}

fn requested(
    request: Request,
    handle: &Handle,
    value: &Unknown<'_>,
    pair: &Unknown<'_>,
    flags: u32,
    extra: Option<Extra>,
) -> Result<Column, Failure> {
    let options = request.options(flags, extra)?;
    let column = text::with_input(value, pair, flags, |input| request.column(&handle.tokenizer, input, &options))?;
    Ok(match column {
        columns::Column::U32(words) => Either3::A(words.try_into()?),
        columns::Column::U8(bytes) => Either3::B(bytes.try_into()?),
        columns::Column::Strings(texts) => Either3::C(texts.try_into()?),
    })
}
