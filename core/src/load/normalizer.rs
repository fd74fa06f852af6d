//! The `normalizer` of a tokenizer.json.

use super::json::Part;
use crate::error::LoadError;
use crate::normalizer::{Form, Normalizer};

pub(crate) fn load(part: &Part<'_>) -> Result<Option<Normalizer>, LoadError> {
    if part.is_null() {
        return Ok(None);
    }
    Ok(Some(match part.kind()? {
        "NFC" => Normalizer::Form(Form::Nfc),
        "NFD" => Normalizer::Form(Form::Nfd),
        "NFKC" => Normalizer::Form(Form::Nfkc),
        "NFKD" => Normalizer::Form(Form::Nfkd),
        "Sequence" => {
            let parts = part.required("normalizers")?.items()?;
            let all = parts.iter().map(load).filter_map(Result::transpose).collect::<Result<_, _>>()?;
            Normalizer::Sequence(all)
        }
        other => return Err(part.unsupported(format!("the normalizer {other}"))),
    }))
}
