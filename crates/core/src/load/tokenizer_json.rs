//! tokenizer.json, the format of Hugging Face tokenizers: this module loads the file as a whole,
//! and the modules next to it load its components.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

use super::json::Part;
use super::model::FileModel;
use super::{length, model, stages, tekken};
use crate::added_tokens::{AddedToken, AddedTokens, Policy};
use crate::error::LoadError;
use crate::memory::{OutOfMemory, require_large};
use crate::parts::{Components, Json, Parts, Source};
use crate::pipeline::Pipeline;

/// The top-level fields of the file. Components are kept as text, so that they can be saved. The
/// model, which is nearly all of the file, is parsed without a tree of values, either together with
/// the file or from its text.
#[derive(Deserialize)]
struct TokenizerFile<'a, M> {
    #[serde(borrow)]
    version: Option<&'a RawValue>,
    truncation: Option<&'a RawValue>,
    padding: Option<&'a RawValue>,
    added_tokens: Option<&'a RawValue>,
    normalizer: Option<&'a RawValue>,
    pre_tokenizer: Option<&'a RawValue>,
    post_processor: Option<&'a RawValue>,
    decoder: Option<&'a RawValue>,
    model: Option<M>,
}

pub(crate) fn load(bytes: &[u8]) -> Result<Pipeline, LoadError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(LoadError::Empty);
    }
    // A string of the file may be copied to a buffer that doubles its capacity as it grows.
    require_large(bytes.len().saturating_mul(4))?;
    // Text that is known to be UTF-8 is parsed faster. For other bytes the parser reports the
    // position of the error.
    let text = simdutf8::basic::from_utf8(bytes);
    // Errors are reported by parsing in two passes: first the whole file as JSON, then the model.
    // This is also used for files with another order of fields.
    if let Some(file) = text.ok().and_then(|text| serde_json::from_str(text).ok()) {
        return tokenizer(bytes, file, Ok);
    }
    let file = text.map_or_else(|_| serde_json::from_slice(bytes), serde_json::from_str);
    let file: TokenizerFile<'_, &RawValue> = file.map_err(|error| json_error(&error, bytes, bytes))?;
    tokenizer(bytes, file, |raw| {
        model::parse(raw.get()).map_err(|error| match error {
            model::ModelError::Json(error) => json_error(&error, bytes, raw.get().as_bytes()),
            model::ModelError::Load(error) => error,
        })
    })
}

fn tokenizer<M>(
    bytes: &[u8],
    file: TokenizerFile<'_, M>,
    model: impl FnOnce(M) -> Result<FileModel, LoadError>,
) -> Result<Pipeline, LoadError> {
    let Some(found) = file.model else {
        if tekken::is_tekken(bytes) {
            return tekken::load(bytes);
        }
        return Err(LoadError::shape("model", "it is missing, so this is not a tokenizer.json"));
    };
    let value = |raw: Option<&RawValue>| match raw {
        None => Ok(Value::Null),
        Some(raw) => {
            require_for_value(raw.get())?;
            serde_json::from_str(raw.get()).map_err(|error| json_error(&error, bytes, raw.get().as_bytes()))
        }
    };
    let version = value(file.version)?;
    if !version.is_null() && version != "1.0" {
        return Err(LoadError::unsupported("version", format!("version {version}")));
    }
    let model = model(found)?;
    let component = |raw: Option<&RawValue>| match raw {
        None => Ok(Json::default()),
        Some(raw) => {
            require_for_value(raw.get())?;
            Json::new(raw.get()).map_err(|error| json_error(&error, bytes, raw.get().as_bytes()))
        }
    };
    let FileModel { vocab, tables, settings } = model;
    let components = Components {
        normalizer: component(file.normalizer)?,
        pre_tokenizer: component(file.pre_tokenizer)?,
        decoder: component(file.decoder)?,
        model: settings,
    };
    let post_processor = component(file.post_processor)?;
    let new_tokens = added_tokens(&Part::new(&value(file.added_tokens)?, "added_tokens"))?;
    let parts = Parts {
        source: Source::TokenizerJson(components),
        post_processor,
        vocab: Arc::new(vocab),
        added_tokens: AddedTokens::none(false),
        truncation: Part::new(&value(file.truncation)?, "truncation").or_null(length::truncation)?,
        padding: Part::new(&value(file.padding)?, "padding").or_null(length::padding)?,
        default_policy: Policy::Parse,
    };
    stages::build(parts, new_tokens, tables, None)
}

/// Fails if there is not enough memory for a tree of the values in `json`.
fn require_for_value(json: &str) -> Result<(), OutOfMemory> {
    // The shortest value in a list has two bytes of JSON and takes 32 bytes in a list that doubles
    // its capacity.
    require_large(json.len().saturating_mul(48))
}

/// The added tokens of the file. Their `id` must be valid but is ignored, as in the reference.
fn added_tokens(list: &Part<'_>) -> Result<Vec<AddedToken>, LoadError> {
    let token = |part: &Part<'_>| {
        let content = part.required("content")?.text()?.to_owned();
        part.required("id")?.id()?;
        let flag = |name| part.required(name)?.flag();
        Ok(AddedToken {
            id: 0,
            single_word: flag("single_word")?,
            lstrip: flag("lstrip")?,
            rstrip: flag("rstrip")?,
            normalized: flag("normalized")?,
            special: flag("special")?,
            content,
        })
    };
    if list.is_null() { Ok(vec![]) } else { list.items()?.iter().map(token).collect() }
}

/// Converts an error of parsing `part`, which is a slice of `whole`, to one with the position in
/// `whole`.
fn json_error(error: &serde_json::Error, whole: &[u8], part: &[u8]) -> LoadError {
    let before = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len());
    let lines_before = memchr::memchr_iter(b'\n', &whole[..before]).count();
    let column_before = if error.line() == 1 {
        before - whole[..before].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1)
    } else {
        0
    };
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
    let (line, column) = (error.line() + lines_before, error.column() + column_before);
    if error.is_data() {
        // Valid JSON with an unexpected structure.
        let path = if part.len() < whole.len() { "model" } else { "the file" };
        return LoadError::shape(path, format!("{message} (line {line}, column {column})"));
    }
    LoadError::Json { line, column, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(json: &str) -> LoadError {
        load(json.as_bytes()).expect_err("the file is wrong")
    }

    #[test]
    fn wrong_files_say_what_and_where() {
        let model = |inner: &str| format!("{{\"version\":\"1.0\",\n \"model\":\n {{\"type\":\"BPE\",{inner}}}}}");
        let cases = [
            (" ".into(), "ERR_TOKENLANE_EMPTY_FILE", "empty"),
            ("{\"model\": {".into(), "ERR_TOKENLANE_JSON", "line 1"),
            ("{}".into(), "ERR_TOKENLANE_SHAPE", "model"),
            (model("\"vocab\":{\"a\":-1},\"merges\":[]"), "ERR_TOKENLANE_SHAPE", "line 3"),
            (model("\"vocab\":[],\"merges\":[]"), "ERR_TOKENLANE_SHAPE", "a map from tokens to ids"),
            (model("\"vocab\":{\"a\":0},\"merges\":[1]"), "ERR_TOKENLANE_SHAPE", "a merge"),
            (model("\"vocab\":{\"a\":0},\"merges\":[[\"a\"]]"), "ERR_TOKENLANE_SHAPE", "model.merges[0]"),
            (model("\"vocab\":{\"a\":0},\"merges\":[\"a b\"]"), "ERR_TOKENLANE_MERGE", "\"b\""),
            (model("\"vocab\":{\"a\":0},\"merges\":[\"a\"]"), "ERR_TOKENLANE_MERGE", "two parts"),
            (model("\"vocab\":{\"a\":0},\"merges\":[[\"\",\"\"]]"), "ERR_TOKENLANE_MERGE", "\"\""),
            (model("\"vocab\":{\"a\":0,\"b\":0},\"merges\":[]"), "ERR_TOKENLANE_DUPLICATE_ID", "both have the id 0"),
            (model("\"vocab\":{\"a\":0}"), "ERR_TOKENLANE_SHAPE", "merges"),
            ("{\"model\":{\"type\":\"Nosuch\"}}".into(), "ERR_TOKENLANE_UNSUPPORTED", "model.type"),
        ];
        for (json, code, part) in cases {
            let error = refused(&json);
            assert_eq!(error.code(), code, "{json}: {error}");
            assert!(error.to_string().contains(part), "{json}: {error}");
        }
    }
}
