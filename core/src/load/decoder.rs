//! The `decoder` of a tokenizer.json.

use super::json::Part;
use crate::decoder::Decoder;
use crate::error::LoadError;

pub(crate) fn load(part: &Part<'_>) -> Result<Decoder, LoadError> {
    if part.is_null() {
        return Ok(Decoder::Spaces);
    }
    match part.kind()? {
        "ByteLevel" => Ok(Decoder::ByteLevel),
        other => Err(part.unsupported(format!("the decoder {other}"))),
    }
}
