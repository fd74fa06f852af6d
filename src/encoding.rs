//! What one text yields beside its ids, each column by itself and only when it is asked for.

use napi::Env;
use napi::bindgen_prelude::{Either3, External, Unknown};
use napi_derive::napi;
use tokenlane_core::Columns;

use crate::error::{Class, Failure, caught};
use crate::load::Handle;
use crate::memory::{Bytes, Slab};
use crate::node_api::{self, JsText};
use crate::options;
use crate::text;

/// The columns by the numbers that `lib/encoding.js` gives them.
const COLUMNS: [Columns; 7] = [
    Columns::OFFSETS,
    Columns::TOKENS,
    Columns::SPECIAL_TOKENS_MASK,
    Columns::TYPE_IDS,
    Columns::ATTENTION_MASK,
    Columns::WORD_IDS,
    Columns::SEQUENCE_IDS,
];

/// One column of a text's encoding: words or bytes to be viewed as the column's type, or strings.
#[napi]
pub fn column(
    env: Env,
    handle: &External<Handle>,
    value: Unknown<'_>,
    flags: u32,
    listed: Option<Vec<String>>,
    which: u32,
) -> napi::Result<Either3<Slab, Bytes, Vec<JsText>>> {
    let result = caught(|| {
        let column = COLUMNS.get(which as usize).copied().ok_or_else(|| {
            Failure::new(Class::Range, "ERR_TOKENLANE_ARGUMENT_VALUE", format!("there is no column {which}"))
        })?;
        let options = options::encode_options(flags, listed, column);
        text::with_text("text", &value, |text| {
            let encoding = handle.tokenizer.encode(text, &options)?;
            Ok(match which {
                0 => Either3::A(Slab(encoding.offsets().as_flattened().to_vec())),
                1 => Either3::C(encoding.tokens().iter().map(|token| JsText::from(token.clone())).collect()),
                2 => Either3::B(Bytes(encoding.special_tokens_mask().to_vec())),
                3 => Either3::A(Slab(encoding.type_ids().to_vec())),
                4 => Either3::B(Bytes(encoding.attention_mask().to_vec())),
                5 => Either3::A(Slab(encoding.word_ids().to_vec())),
                _ => Either3::A(Slab(encoding.sequence_ids().to_vec())),
            })
        })
    });
    result.map_err(|failure| node_api::js_error(env, &failure))
}
