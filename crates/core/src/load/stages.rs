//! Builds the stages of a tokenizer from its parts, for files of all formats and for changed
//! tokenizers.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::json::Part;
use super::{decoder, normalizer, post_processor, pretokenizer, spaces};
use crate::added_tokens::{AddedToken, AddedTokens, SearchStage};
use crate::bpe::Spaces;
use crate::budget::Budget;
use crate::byte_level;
use crate::decoder::{Decoder, Step};
use crate::error::LoadError;
use crate::model::sentencepiece::bpe::SPACES;
use crate::model::{Model, Unigram, WordLevel, WordPiece};
use crate::normalizer::Normalizer;
use crate::parts::{BpeSettings, ModelSettings, Parts, Source};
use crate::pattern::Dialect;
use crate::pipeline::{Pipeline, Tables};
use crate::pretokenizer::{Behavior, Cut, PreTokenizer, Stage};
use crate::segmenter::Segmenter;
use crate::token_lens::TokenLens;
use crate::vocab::{TokenForm, Vocab};

/// The tokenizer that another one is derived from. The unchanged parts of its model are shared.
pub(crate) struct Origin<'a> {
    pub(crate) pipeline: &'a Pipeline,
    /// Whether its added tokens were normalized by another normalizer.
    pub(crate) has_new_normalizer: bool,
}

/// Builds a tokenizer. `new_tokens` are added to those of the parts, in the order in which they get
/// ids. Their `id` is ignored, except for ranks.
pub(crate) fn build(
    mut parts: Parts,
    new_tokens: Vec<AddedToken>,
    tables: Tables,
    origin: Option<Origin<'_>>,
) -> Result<Pipeline, LoadError> {
    let components = if let Source::TokenizerJson(components) = &parts.source { Some(components) } else { None };
    let normalizer = match (components, &tables) {
        (Some(components), _) => normalizer::load(&Part::new(&components.normalizer.value(), "normalizer"))?,
        (None, Tables::SentencePiece { normalizer, .. }) => normalizer.clone().map(Normalizer::SentencePiece),
        (None, _) => None,
    };
    let mut pretokenizer = match &parts.source {
        Source::TokenizerJson(components) => {
            pretokenizer::load(&Part::new(&components.pre_tokenizer.value(), "pre_tokenizer"))?
        }
        Source::SentencePiece => PreTokenizer::default(),
        Source::Ranks(pattern) => pretokenizer_of_ranks(pattern, &parts.vocab)?,
    };
    let settings = components.map(|components| &components.model);
    let inserts_empty_origins = normalizer.as_ref().is_some_and(Normalizer::may_insert_empty_origins);
    // A normalizer that inserts text with an empty origin makes ByteLevel write bytes twice, which
    // a model of bytes cannot reproduce.
    let token_form = match (&tables, settings) {
        (Tables::Ranks(_), _) => TokenForm::Ranks,
        (_, Some(ModelSettings::Bpe(settings))) if !inserts_empty_origins => {
            take_byte_level(&mut pretokenizer, &parts.vocab, settings)
        }
        _ => TokenForm::Text,
    };
    let has_new_normalizer = origin.as_ref().is_some_and(|origin| origin.has_new_normalizer);
    parts.added_tokens = match token_form {
        TokenForm::Ranks => parts.added_tokens.extended(new_tokens, |content| Ok(content.to_owned()))?,
        TokenForm::Text | TokenForm::Printable => {
            numbered(parts.added_tokens, new_tokens, &parts.vocab, normalizer.as_ref(), has_new_normalizer)?
        }
    };
    // Added tokens that are matched in normalized text need the whole text. BPE uses scanners.
    let has_only_raw_tokens = parts.added_tokens.never_matches(SearchStage::Normalized);
    let (spaces, segmenter) = match settings.filter(|_| has_only_raw_tokens) {
        Some(ModelSettings::Bpe(_)) => (spaces::resolve(normalizer.as_ref(), &pretokenizer), None),
        None if has_only_raw_tokens && reads_spaces(&tables) => (Some(SPACES), None),
        Some(settings) => {
            let reads_meta_symbol = matches!(settings, ModelSettings::Unigram(_));
            (None, Segmenter::of(normalizer.as_ref(), &pretokenizer, reads_meta_symbol))
        }
        None => (None, None),
    };
    let meta_symbol = segmenter.as_ref().and_then(Segmenter::meta_symbol);
    let has_same_model = |origin: &&Pipeline| {
        matches!(&origin.parts.source, Source::TokenizerJson(before) if Some(&before.model) == settings)
            && origin.token_form == token_form
            && origin.spaces == spaces
            && origin.model.meta_symbol() == meta_symbol
    };
    let vocab = &*parts.vocab;
    let model = match (origin.map(|origin| origin.pipeline).filter(has_same_model), settings, &tables) {
        (Some(origin), ..) => Arc::clone(&origin.model),
        (_, _, Tables::Ranks(model) | Tables::SentencePiece { model, .. }) => Arc::clone(model),
        (_, Some(ModelSettings::Bpe(settings)), Tables::Merges(merges)) => {
            Arc::new(Model::Bpe(settings.bpe(vocab, Arc::clone(merges), token_form, spaces.as_ref())))
        }
        (_, Some(ModelSettings::WordPiece(settings)), _) => {
            Arc::new(Model::WordPiece(WordPiece::new(settings, vocab)?))
        }
        (_, Some(ModelSettings::Unigram(settings)), Tables::Scores(scores)) => {
            Arc::new(Model::Unigram(Unigram::new(settings, vocab, Arc::clone(scores), meta_symbol)?))
        }
        (_, Some(ModelSettings::WordLevel(settings)), _) => Arc::new(Model::WordLevel(WordLevel::new(settings, vocab))),
        (_, settings, tables) => unreachable!("{settings:?} has no {tables:?}"),
    };
    let continuing_prefix = match settings {
        Some(ModelSettings::WordPiece(settings)) => &*settings.continuing_subword_prefix,
        // For BPE with a prefix, the length of every token is recorded instead.
        _ => "",
    };
    let spaces = spaces.filter(|_| model.reads_spaces());
    let segmenter_spaces = meta_symbol.map(|meta_symbol| Spaces { meta_symbol, start_words: true });
    Ok(Pipeline {
        post_processor: post_processor::load(&Part::new(&parts.post_processor.value(), "post_processor"))?,
        decoder: match (components, &tables) {
            (Some(components), _) => decoder::load(&Part::new(&components.decoder.value(), "decoder"))?,
            (None, Tables::SentencePiece { decoder, .. }) => {
                Decoder::new(decoder.clone().map(Step::SentencePiece).into_iter().collect())
            }
            (None, _) => Decoder::new(vec![Step::Bytes]),
        },
        token_lens: TokenLens::new(
            vocab,
            token_form,
            spaces.or(segmenter_spaces),
            continuing_prefix.as_bytes(),
            model.bpe().map(|bpe| &bpe.alphabet),
        ),
        token_form,
        scanner: pretokenizer.take_scanner(),
        needs_origins: pretokenizer.needs_origins(normalizer.is_some()) || inserts_empty_origins,
        normalizer,
        pretokenizer,
        segmenter,
        spaces,
        model,
        token_table: OnceLock::new(),
        parts,
    })
}

/// Whether the model of a SentencePiece file can take a text whose spaces are not replaced.
fn reads_spaces(tables: &Tables) -> bool {
    matches!(tables, Tables::SentencePiece { model, .. } if model.reads_spaces())
}

/// The pre-tokenizer of a rank file.
#[cfg_attr(target_arch = "wasm32", inline(never))]
fn pretokenizer_of_ranks(pattern: &str, vocab: &Vocab) -> Result<PreTokenizer, LoadError> {
    // Text that the expression does not match is dropped, as in tiktoken.
    let cut = Cut::new(pattern, Dialect::FancyRegex, Behavior::Removed, true, "pattern")?;
    if vocab.id(b"").is_some() && cut.can_be_empty() {
        let what = "an empty token with a pattern that can match empty text, where tiktoken inserts the token,";
        return Err(LoadError::unsupported("pattern", what));
    }
    Ok(PreTokenizer { stages: vec![Stage::Cut(cut)] })
}

/// If the last stage of the pre-tokenizer writes bytes as printable characters, and the vocabulary
/// contains all of these, the model can process the bytes directly. In this case the stage is
/// removed, and the tokens are interpreted as bytes.
#[cfg_attr(target_arch = "wasm32", inline(never))]
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

/// Adds new tokens to the `known` tokens of a tokenizer and gives them the ids of the reference.
/// Tokens with empty text are dropped.
///
/// A token that is known or in the vocabulary keeps its id. The others are numbered from one more
/// than the largest id of the known tokens, or from the number of tokens of the vocabulary if that
/// is larger. In a vocabulary with gaps such an id may already be in use; the reference uses it
/// nevertheless.
#[cfg_attr(target_arch = "wasm32", inline(never))]
fn numbered(
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
        Some(normalizer) => normalizer.normalized(content, &mut budget).map_err(|stop| stop.of_added_token(content)),
        None => Ok(content.to_owned()),
    };
    if has_new_normalizer {
        known.normalize_again(&mut normalize)?;
    }
    known.extended(new, normalize)
}
