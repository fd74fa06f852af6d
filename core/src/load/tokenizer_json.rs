//! tokenizer.json, the format of Hugging Face tokenizers: the file as a whole. Its components are read in the modules
//! beside this one.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::cell::Cell;

use super::json::Part;
use super::{decoder, length, model, normalizer, post_processor, pretokenizer, spaces, tekken};
use crate::added_tokens::{AddedToken, AddedTokens, Stage as SearchStage};
use crate::bpe::WholeWords;
use crate::byte_level;
use crate::error::LoadError;
use crate::normalizer::Normalizer;
use crate::pattern::PatternError;
use crate::pretokenizer::{PreTokenizer, Stage};
use crate::tokenizer::{Parts, TokenForm, Tokenizer};
use crate::vocab::Vocab;

/// The top of the file. The model is kept as text: it is nearly all of the file and is read without a tree of values.
#[derive(Deserialize)]
struct File<'a> {
    #[serde(default)]
    version: Value,
    #[serde(default)]
    truncation: Value,
    #[serde(default)]
    padding: Value,
    #[serde(default)]
    added_tokens: Value,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    post_processor: Value,
    #[serde(default)]
    decoder: Value,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
}

pub(crate) fn load(bytes: &[u8]) -> Result<Tokenizer, LoadError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(LoadError::Empty);
    }
    let file: File<'_> = serde_json::from_slice(bytes).map_err(|error| json_error(&error, bytes, bytes))?;
    let Some(raw_model) = file.model else {
        if tekken::is_tekken(bytes) {
            return tekken::load(bytes);
        }
        return Err(LoadError::shape("model", "it is missing, so this is no tokenizer.json"));
    };
    if file.version.as_str().is_some_and(|version| version != "1.0") {
        return Err(LoadError::unsupported("version", format!("version {}", file.version)));
    }
    let model = model::parse(raw_model.get()).map_err(|error| match error {
        model::ModelError::Json(error) => json_error(&error, bytes, raw_model.get().as_bytes()),
        model::ModelError::Load(error) => error,
    })?;
    let normalizer = normalizer::load(&Part::new(&file.normalizer, "normalizer"))?;
    let mut pretokenizer = pretokenizer::load(&Part::new(&file.pre_tokenizer, "pre_tokenizer"))?;
    let token_form = take_byte_level(&mut pretokenizer, &model);
    let added_tokens = added_tokens(&Part::new(&file.added_tokens, "added_tokens"), &model.vocab, normalizer.as_ref())?;
    let post_processor = post_processor::load(&Part::new(&file.post_processor, "post_processor"))?;
    let decoder = decoder::load(&Part::new(&file.decoder, "decoder"))?;
    let mut bpe = model.bpe(token_form)?;
    let spaces =
        spaces::told(normalizer.as_ref(), &pretokenizer).filter(|_| added_tokens.is_idle(SearchStage::Normalized));
    let spaces = if model.cut_words(&mut bpe, spaces.as_ref()) { spaces } else { None };
    Ok(Tokenizer::from_parts(Parts {
        vocab: model.vocab,
        token_form,
        added_tokens,
        normalizer,
        pretokenizer,
        bpe,
        spaces,
        post_processor,
        decoder,
        truncation: length::truncation(&Part::new(&file.truncation, "truncation"))?,
        padding: length::padding(&Part::new(&file.padding, "padding"))?,
    }))
}

/// Where the pre-tokenizer ends by writing bytes as printable characters, and the model knows all of these, the model
/// can as well work on the bytes themselves: the last stage goes, and tokens are read as bytes.
fn take_byte_level(pretokenizer: &mut PreTokenizer, model: &model::Model) -> TokenForm {
    let only_at_the_end = pretokenizer.stages.iter().position(|stage| matches!(stage, Stage::Bytes))
        == pretokenizer.stages.len().checked_sub(1);
    let plain = model.continuing_subword_prefix.is_empty() && model.end_of_word_suffix.is_empty();
    let knows_all =
        byte_level::CHARACTERS.iter().all(|c| model.vocab.id(c.encode_utf8(&mut [0; 4]).as_bytes()).is_some());
    if pretokenizer.stages.is_empty() || !only_at_the_end || !plain || !knows_all {
        return TokenForm::Text;
    }
    pretokenizer.stages.pop();
    TokenForm::Printable
}

/// The added tokens, with the ids that the reference gives them: the vocabulary's where it has the token, else the next
/// free one. The `id` in the file is not used, as there.
fn added_tokens(list: &Part<'_>, vocab: &Vocab, normalizer: Option<&Normalizer>) -> Result<AddedTokens, LoadError> {
    let mut tokens: Vec<AddedToken> = vec![];
    let mut next_id = vocab.len() as u32;
    for part in if list.is_null() { vec![] } else { list.items()? } {
        let content = part.required("content")?.text()?.to_owned();
        part.required("id")?.id()?;
        let flag = |name| part.required(name)?.flag();
        let mut token = AddedToken {
            id: 0,
            single_word: flag("single_word")?,
            lstrip: flag("lstrip")?,
            rstrip: flag("rstrip")?,
            normalized: flag("normalized")?,
            special: flag("special")?,
            content,
        };
        if token.content.is_empty() {
            continue;
        }
        let known = tokens.iter().find(|other| other.content == token.content).map(|other| other.id);
        token.id = match known.or_else(|| vocab.id(token.content.as_bytes())) {
            Some(id) => id,
            None => {
                next_id += 1;
                next_id - 1
            }
        };
        tokens.push(token);
    }
    let refused = Cell::new(None);
    let tokens = AddedTokens::new(tokens, false, |content| match normalizer.map(|one| one.normalized(content)) {
        None => content.to_owned(),
        Some(Ok(normalized)) => normalized,
        Some(Err(PatternError { pattern, message, .. })) => {
            let path = "normalizer".into();
            refused.set(Some(LoadError::Pattern { path, pattern, message: format!("on {content:?}: {message}") }));
            content.to_owned()
        }
    })?;
    refused.take().map_or(Ok(tokens), Err)
}

impl model::Model {
    /// The words that are tokens as they stand, as the model sees them.
    pub(crate) fn whole_words(&self, form: TokenForm) -> WholeWords {
        WholeWords::new(self.vocab.iter().filter_map(|(token, id)| match form {
            TokenForm::Text | TokenForm::Ranks => Some((Cow::Borrowed(token), id)),
            TokenForm::Printable => {
                let token = std::str::from_utf8(token).expect("the tokens of a tokenizer.json are strings");
                byte_level::bytes_of(token).map(|bytes| (Cow::Owned(bytes), id))
            }
        }))
    }
}

/// `error` came from parsing `part`, which lies within `whole`: says where in `whole` that is.
fn json_error(error: &serde_json::Error, whole: &[u8], part: &[u8]) -> LoadError {
    let before = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len());
    let lines_before = whole[..before].iter().filter(|&&byte| byte == b'\n').count();
    let column_before = if error.line() == 1 {
        before - whole[..before].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1)
    } else {
        0
    };
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
    let (line, column) = (error.line() + lines_before, error.column() + column_before);
    if error.is_data() {
        // Sound JSON that holds something else than a tokenizer file does there.
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
            (model("\"vocab\":{\"a\":0,\"b\":0},\"merges\":[]"), "ERR_TOKENLANE_DUPLICATE_ID", "both have the id 0"),
            (model("\"vocab\":{\"a\":0}"), "ERR_TOKENLANE_SHAPE", "merges"),
            ("{\"model\":{\"type\":\"WordPiece\"}}".into(), "ERR_TOKENLANE_UNSUPPORTED", "model.type"),
        ];
        for (json, code, part) in cases {
            let error = refused(&json);
            assert_eq!(error.code(), code, "{json}: {error}");
            assert!(error.to_string().contains(part), "{json}: {error}");
        }
    }
}
