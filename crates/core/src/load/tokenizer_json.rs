//! tokenizer.json, the format of Hugging Face tokenizers: this module loads the file as a whole,
//! and the modules next to it load its components.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::Arc;

use super::json::Part;
use super::model::FileModel;
use super::{decoder, length, model, normalizer, post_processor, pretokenizer, spaces, tekken};
use crate::added_tokens::{AddedToken, AddedTokens, SearchStage};
use crate::budget::Budget;
use crate::byte_level;
use crate::definition::{BpeSettings, Components, Definition, Json, ModelSettings, Source};
use crate::error::LoadError;
use crate::memory::{OutOfMemory, require_large};
use crate::model::{Model, Tables, Unigram, WordLevel, WordPiece};
use crate::normalizer::Normalizer;
use crate::padding::Padding;
use crate::pipeline::{Pipeline, PipelineParts};
use crate::pretokenizer::{PreTokenizer, Stage};
use crate::segmenter::Segmenter;
use crate::truncation::Truncation;
use crate::vocab::TokenForm;
use crate::vocab::Vocab;

/// The top-level fields of the file. Components are kept as text, so that they can be saved. The
/// model, which is nearly all of the file, is parsed without a tree of values, either together with
/// the file or from its text.
#[derive(Deserialize)]
struct TokenizerFile<'a, M> {
    #[serde(borrow)]
    version: Option<&'a RawValue>,
    #[serde(borrow)]
    truncation: Option<&'a RawValue>,
    #[serde(borrow)]
    padding: Option<&'a RawValue>,
    #[serde(borrow)]
    added_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    normalizer: Option<&'a RawValue>,
    #[serde(borrow)]
    pre_tokenizer: Option<&'a RawValue>,
    #[serde(borrow)]
    post_processor: Option<&'a RawValue>,
    #[serde(borrow)]
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
    let (vocab, tables, settings) = model.into_tables();
    assemble(Blueprint {
        components: Components {
            normalizer: component(file.normalizer)?,
            pre_tokenizer: component(file.pre_tokenizer)?,
            decoder: component(file.decoder)?,
            model: settings,
        },
        post_processor: component(file.post_processor)?,
        vocab: Arc::new(vocab),
        tables,
        known_tokens: AddedTokens::none(false),
        has_new_normalizer: false,
        added_tokens: added_tokens(&Part::new(&value(file.added_tokens)?, "added_tokens"))?,
        truncation: length::truncation(&Part::new(&value(file.truncation)?, "truncation"))?,
        padding: length::padding(&Part::new(&value(file.padding)?, "padding"))?,
        origin: None,
    })
}

/// Fails if there is not enough memory for a tree of the values in `json`.
fn require_for_value(json: &str) -> Result<(), OutOfMemory> {
    // The shortest value in a list has two bytes of JSON and takes 32 bytes in a list that doubles
    // its capacity.
    require_large(json.len().saturating_mul(48))
}

/// The parts of a tokenizer, either from a file or from a call that changes another tokenizer.
pub(crate) struct Blueprint<'a> {
    pub(crate) components: Components,
    pub(crate) post_processor: Json,
    pub(crate) vocab: Arc<Vocab>,
    pub(crate) tables: Tables,
    /// Added tokens that already have their ids.
    pub(crate) known_tokens: AddedTokens,
    /// Whether the normalizer is not the one that the known tokens were normalized with.
    pub(crate) has_new_normalizer: bool,
    /// Further added tokens, in the order in which they get ids. Their `id` is ignored.
    pub(crate) added_tokens: Vec<AddedToken>,
    pub(crate) truncation: Option<Truncation>,
    pub(crate) padding: Option<Padding>,
    /// A tokenizer with the same tables. The unchanged parts of its model are shared.
    pub(crate) origin: Option<&'a Pipeline>,
}

pub(crate) fn assemble(blueprint: Blueprint<'_>) -> Result<Pipeline, LoadError> {
    let Blueprint { components, post_processor, vocab, tables, .. } = blueprint;
    let Blueprint { known_tokens, added_tokens, truncation, padding, origin, .. } = blueprint;
    let normalizer = normalizer::load(&Part::new(&components.normalizer.value(), "normalizer"))?;
    let mut pretokenizer = pretokenizer::load(&Part::new(&components.pre_tokenizer.value(), "pre_tokenizer"))?;
    let inserts_empty_origins = normalizer.as_ref().is_some_and(Normalizer::may_insert_empty_origins);
    // A normalizer that inserts text with an empty origin makes ByteLevel write bytes twice, which
    // a model of bytes cannot reproduce.
    let token_form = match &components.model {
        ModelSettings::Bpe(settings) if !inserts_empty_origins => take_byte_level(&mut pretokenizer, &vocab, settings),
        _ => TokenForm::Text,
    };
    let added_tokens = numbered(known_tokens, added_tokens, &vocab, normalizer.as_ref(), blueprint.has_new_normalizer)?;
    let spaces = match components.model {
        ModelSettings::Bpe(_) if added_tokens.is_idle(SearchStage::Normalized) => {
            spaces::resolve(normalizer.as_ref(), &pretokenizer)
        }
        _ => None,
    };
    // Added tokens that are matched in normalized text need the whole text. BPE uses scanners.
    let segments = !matches!(components.model, ModelSettings::Bpe(_)) && added_tokens.is_idle(SearchStage::Normalized);
    let reads_meta_symbol = matches!(components.model, ModelSettings::Unigram(_));
    let segmenter = if segments { Segmenter::of(normalizer.as_ref(), &pretokenizer, reads_meta_symbol) } else { None };
    let meta_symbol = segmenter.as_ref().and_then(Segmenter::meta_symbol);
    let same_model = |origin: &&Pipeline| {
        let source = &origin.definition.source;
        let same = matches!(source, Source::TokenizerJson(before) if before.model == components.model);
        same && origin.token_form == token_form && origin.spaces == spaces && origin.model.meta_symbol() == meta_symbol
    };
    let model = match origin.filter(same_model) {
        Some(origin) => Arc::clone(&origin.model),
        None => Arc::new(match (&components.model, tables) {
            (ModelSettings::Bpe(settings), Tables::Merges(merges)) => {
                Model::Bpe(settings.bpe(&vocab, merges, token_form, spaces.as_ref()))
            }
            (ModelSettings::WordPiece(settings), Tables::VocabularyOnly) => {
                Model::WordPiece(WordPiece::new(settings, &vocab)?)
            }
            (ModelSettings::Unigram(settings), Tables::Scores(scores)) => {
                Model::Unigram(Unigram::new(settings, &vocab, scores, meta_symbol)?)
            }
            (ModelSettings::WordLevel(settings), Tables::VocabularyOnly) => {
                Model::WordLevel(WordLevel::new(settings, &vocab))
            }
            (settings, tables) => unreachable!("{settings:?} has no {tables:?}"),
        }),
    };
    Ok(Pipeline::new(PipelineParts {
        token_form,
        added_tokens,
        vocab,
        normalizer,
        pretokenizer,
        spaces: spaces.filter(|_| model.reads_spaces()),
        segmenter,
        model,
        post_processor: post_processor::load(&Part::new(&post_processor.value(), "post_processor"))?,
        decoder: decoder::load(&Part::new(&components.decoder.value(), "decoder"))?,
        truncation,
        padding,
        definition: Definition { post_processor, source: Source::TokenizerJson(components) },
    }))
}

/// If the last stage of the pre-tokenizer writes bytes as printable characters, and the vocabulary
/// contains all of these, the model can process the bytes directly. In this case the stage is
/// removed, and the tokens are interpreted as bytes.
fn take_byte_level(pretokenizer: &mut PreTokenizer, vocab: &Vocab, settings: &BpeSettings) -> TokenForm {
    let only_at_the_end = pretokenizer.stages.iter().position(|stage| matches!(stage, Stage::Bytes))
        == pretokenizer.stages.len().checked_sub(1);
    let plain = settings.continuing_subword_prefix.is_empty() && settings.end_of_word_suffix.is_empty();
    let knows_all = byte_level::CHARACTERS.iter().all(|c| vocab.id(c.encode_utf8(&mut [0; 4]).as_bytes()).is_some());
    if pretokenizer.stages.is_empty() || !only_at_the_end || !plain || !knows_all {
        return TokenForm::Text;
    }
    pretokenizer.stages.pop();
    TokenForm::Printable
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

/// Adds new tokens to the `known` tokens of a tokenizer and gives them the ids of the reference.
/// Tokens with empty text are dropped.
///
/// A token that is known or in the vocabulary keeps its id. The others are numbered from one more
/// than the largest id of the known tokens, or from the number of tokens of the vocabulary if that
/// is larger. In a vocabulary with gaps such an id may already be in use; the reference uses it
/// nevertheless.
pub(super) fn numbered(
    mut known: AddedTokens,
    mut new: Vec<AddedToken>,
    vocab: &Vocab,
    normalizer: Option<&Normalizer>,
    has_new_normalizer: bool,
) -> Result<AddedTokens, LoadError> {
    new.retain(|token| !token.content.is_empty());
    let largest = known.tokens().iter().map(|token| u64::from(token.id) + 1).max().unwrap_or(0);
    let mut next_id = largest.max(vocab.len() as u64);
    let mut ids: HashMap<String, u32> = HashMap::default();
    for token in &mut new {
        let id = ids.get(&token.content).copied().or_else(|| known.by_content(&token.content).map(|known| known.id));
        token.id = match id.or_else(|| vocab.id(token.content.as_bytes())) {
            Some(id) => id,
            None => {
                let id = u32::try_from(next_id).map_err(|_| LoadError::TooLarge {
                    what: "the id of the next added token",
                    size: next_id,
                    limit: u32::MAX.into(),
                })?;
                next_id += 1;
                id
            }
        };
        ids.insert(token.content.clone(), token.id);
    }
    // All tokens share one budget: with a separate budget for each, a file with many tokens could
    // cost too much.
    let mut budget = Budget::of_tokens(known.tokens().iter().chain(&new).map(|token| token.content.len()).sum());
    let mut normalize = |content: &str| match normalizer {
        Some(normalizer) => {
            normalizer.normalized(content, &mut budget).map_err(|stop| stop.while_loading("normalizer", content))
        }
        None => Ok(content.to_owned()),
    };
    if has_new_normalizer {
        known.normalize_again(&mut normalize)?;
    }
    known.extended(new, normalize)
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
