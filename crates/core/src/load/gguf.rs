//! The tokenizer of a GGUF file of llama.cpp, which `lib/model/gguf` packs: a header of JSON with
//! settings and components, then the lists of the file as they are there, so that no text of the
//! file is ever written as JSON.
//!
//! llama.cpp makes other tokenizers of such files than the libraries of their models do:
//!
//! - BPE of SentencePiece merges all tokens of the file, also control tokens.
//! - Unigram adds scores in 64 bits, as Hugging Face tokenizers does. It finds normal and unused
//!   tokens and those of users, which score 0. There is no byte fallback.
//! - WordPiece has no limit on the length of a word.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::merge_list::{MergeIds, MergeSink, MergeTexts};
use super::sentencepiece::LONGEST_PIECE;
use super::stages;
use crate::added_tokens::{AddedToken, AddedTokens, Policy};
use crate::automaton::MAX_TRIE_TOKEN_BYTES;
use crate::bpe::merges::Merges;
use crate::decoder::sentencepiece::SentencePieceDecoder;
use crate::error::LoadError;
use crate::memory::fallible::push;
use crate::memory::require_large;
use crate::model::sentencepiece::{Method, ModelParts, NO_PIECE, PieceKind};
use crate::model::{Model, SentencePiece, Unigram};
use crate::normalizer::{Precompiled, sentencepiece as normalizer};
use crate::parts::{BpeSettings, Components, Json, ModelSettings, Parts, Source, UnigramSettings, WordPieceSettings};
use crate::pipeline::{Pipeline, Tables};
use crate::trie::Trie;
use crate::vocab::Vocab;

/// The first bytes of a packed GGUF file, which no other file has.
const PACKED: &[u8; 8] = b"\0tl-gguf";

/// What llama.cpp calls the types of tokens.
const UNKNOWN: u8 = 2;
const CONTROL: u8 = 3;
const USER_DEFINED: u8 = 4;
const UNUSED: u8 = 5;
/// The bits of a byte that describes a token: its type in the file, whether it is found in texts
/// before all else, as a special or an ordinary token, and the side on which it takes spaces.
const TYPE: u8 = 0x0F;
const SPECIAL: u8 = 0x10;
const ORDINARY: u8 = 0x20;
const STRIPS_LEFT: u8 = 0x40;
const STRIPS_RIGHT: u8 = 0x80;

/// Words of BERT have no maximum length in llama.cpp.
const NO_LIMIT: usize = u32::MAX as usize;
const CONTINUING: &str = "##";
const META: &str = "\u{2581}";
/// Difference between the lowest score and the score of an unknown character.
const UNKNOWN_PENALTY: f32 = 10.0;

#[derive(Deserialize, PartialEq, Clone, Copy)]
enum Kind {
    #[serde(rename = "bpe")]
    Bpe,
    #[serde(rename = "wordpiece")]
    WordPiece,
    /// BPE of SentencePiece.
    #[serde(rename = "llama")]
    Scored,
    #[serde(rename = "t5")]
    Unigram,
}

#[derive(Deserialize)]
struct Header {
    kind: Kind,
    /// The byte order of lengths in the lists.
    little: bool,
    tokens: usize,
    token_bytes: usize,
    merges: usize,
    merge_bytes: usize,
    charsmap_bytes: usize,
    unknown: Option<u32>,
    /// BERT: tokens that are put around texts.
    whole: Vec<u32>,
    ignore_merges: bool,
    byte_fallback: bool,
    add_space_prefix: bool,
    remove_extra_whitespaces: bool,
    normalizer: Box<RawValue>,
    pre_tokenizer: Box<RawValue>,
    post_processor: Box<RawValue>,
    decoder: Box<RawValue>,
}

/// The packed file: the header and the lists behind it.
struct File<'a> {
    header: Header,
    tokens: Vec<&'a str>,
    /// A byte for each token, see [`TYPE`].
    flags: &'a [u8],
    /// Four bytes for each token.
    scores: &'a [u8],
    merges: Texts<'a>,
    charsmap: &'a [u8],
}

/// Texts with their lengths before them.
struct Texts<'a> {
    list: &'static str,
    count: usize,
    bytes: &'a [u8],
    little: bool,
}

fn broken(message: impl Into<String>) -> LoadError {
    LoadError::Gguf { message: message.into() }
}

impl<'a> Texts<'a> {
    fn each(&self, mut found: impl FnMut(&'a str) -> Result<(), LoadError>) -> Result<(), LoadError> {
        let cut = || broken(format!("ends within {}", self.list));
        let mut rest = self.bytes;
        for index in 0..self.count {
            let (length, behind) = rest.split_first_chunk().ok_or_else(cut)?;
            let length = if self.little { u64::from_le_bytes(*length) } else { u64::from_be_bytes(*length) };
            let length = usize::try_from(length).map_err(|_| cut())?;
            let (text, behind) = behind.split_at_checked(length).ok_or_else(cut)?;
            rest = behind;
            let not_utf8 = |_| broken(format!("has a text that is not UTF-8: {}[{index}]", self.list));
            found(simdutf8::basic::from_utf8(text).map_err(not_utf8)?)?;
        }
        Ok(())
    }
}

pub(super) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(PACKED)
}

/// Cuts the first `count` bytes off `rest`.
fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], LoadError> {
    let (taken, behind) = rest.split_at_checked(count).ok_or_else(|| broken("is cut off"))?;
    *rest = behind;
    Ok(taken)
}

pub(super) fn load(bytes: &[u8]) -> Result<Pipeline, LoadError> {
    // Tokens are kept once in the vocabulary, and once more in a trie.
    require_large(bytes.len().saturating_mul(4))?;
    let file = File::read(&bytes[PACKED.len()..])?;
    match file.header.kind {
        Kind::Bpe => bpe(&file),
        Kind::WordPiece => wordpiece(&file),
        Kind::Scored => scored(&file),
        Kind::Unigram => unigram(&file),
    }
}

impl<'a> File<'a> {
    fn read(mut rest: &'a [u8]) -> Result<Self, LoadError> {
        let length = take(&mut rest, 4)?.first_chunk().map_or(0, |length| u32::from_le_bytes(*length));
        let header = take(&mut rest, length as usize)?;
        let header: Header = serde_json::from_slice(header).map_err(|error| broken(error.to_string()))?;
        let Header { tokens: count, little, .. } = header;
        let texts = |list, count, bytes| Texts { list, count, bytes, little };
        let listed = texts("tokenizer.ggml.tokens", count, take(&mut rest, header.token_bytes)?);
        let flags = take(&mut rest, count)?;
        let scores = take(&mut rest, count.saturating_mul(4))?;
        let merges = texts("tokenizer.ggml.merges", header.merges, take(&mut rest, header.merge_bytes)?);
        let charsmap = take(&mut rest, header.charsmap_bytes)?;
        let mut tokens = vec![];
        listed.each(|token| {
            push(&mut tokens, token);
            Ok(())
        })?;
        Ok(Self { header, tokens, flags, scores, merges, charsmap })
    }

    /// The text of a token. llama.cpp names empty tokens, and so does the caller.
    fn text(&self, id: usize) -> std::borrow::Cow<'a, str> {
        match self.tokens[id] {
            "" => format!("[EMPTY_{id}]").into(),
            text => text.into(),
        }
    }

    fn score(&self, id: usize) -> f32 {
        self.scores[4 * id..].first_chunk().map_or(0.0, |score| f32::from_le_bytes(*score))
    }

    fn kind(&self, id: usize) -> u8 {
        self.flags[id] & TYPE
    }

    /// The vocabulary, in which the texts of tokens are those of `text`.
    fn vocab<T: AsRef<str>>(&self, text: impl Fn(usize) -> T) -> Result<Vocab, LoadError> {
        let mut builder = Vocab::builder(self.tokens.len(), self.header.token_bytes);
        for id in 0..self.tokens.len() {
            builder.push(text(id).as_ref().as_bytes(), id as u32)?;
        }
        let vocab = builder.finish()?;
        if vocab.len() != self.tokens.len() {
            return Err(broken("has a token twice"));
        }
        Ok(vocab)
    }

    /// The tokens that are found in texts before all else.
    fn added_tokens(&self) -> Result<AddedTokens, LoadError> {
        let mut added = vec![];
        for (id, &flags) in self.flags.iter().enumerate() {
            if flags & (SPECIAL | ORDINARY) != 0 {
                let token = AddedToken {
                    id: id as u32,
                    content: self.text(id).into_owned(),
                    special: flags & SPECIAL != 0,
                    lstrip: flags & STRIPS_LEFT != 0,
                    rstrip: flags & STRIPS_RIGHT != 0,
                    ..AddedToken::default()
                };
                push(&mut added, token);
            }
        }
        AddedTokens::of_gguf().extended(added, |content| Ok(content.to_owned()))
    }

    fn pipeline(&self, source: Source, vocab: Vocab, tables: Tables) -> Result<Pipeline, LoadError> {
        let parts = Parts {
            source,
            post_processor: json(&self.header.post_processor)?,
            vocab: Arc::new(vocab),
            added_tokens: self.added_tokens()?,
            truncation: None,
            padding: None,
            default_policy: Policy::Parse,
        };
        stages::build(parts, vec![], tables, None)
    }

    fn components(&self, model: ModelSettings) -> Result<Source, LoadError> {
        let Header { normalizer, pre_tokenizer, decoder, .. } = &self.header;
        Ok(Source::TokenizerJson(Components {
            normalizer: json(normalizer)?,
            pre_tokenizer: json(pre_tokenizer)?,
            decoder: json(decoder)?,
            model,
        }))
    }

    /// The vocabulary of a model with scores. Its tokens are as short as SentencePiece's pieces.
    fn scored_vocab(&self) -> Result<Vocab, LoadError> {
        self.check_lengths(LONGEST_PIECE, "a token of a GGUF file with scores")?;
        if let Some(id) = (0..self.tokens.len()).find(|&id| self.score(id).is_nan()) {
            return Err(broken(format!("has a score that is not a number: tokenizer.ggml.scores[{id}]")));
        }
        self.vocab(|id| self.text(id))
    }

    /// Fails if a token has more bytes than `limit`.
    fn check_lengths(&self, limit: usize, what: &'static str) -> Result<(), LoadError> {
        let size = self.tokens.iter().map(|token| token.len()).max().unwrap_or(0);
        if size <= limit {
            return Ok(());
        }
        Err(LoadError::TooLarge { what, size: size as u64, limit: limit as u64 })
    }

    /// The decoder of a model with scores: control tokens are no text.
    fn decoder(&self, has_bytes: bool) -> Arc<SentencePieceDecoder> {
        let is_control = |&id: &usize| self.flags[id] & SPECIAL != 0 && self.kind(id) != UNKNOWN;
        let mut control = HashSet::default();
        control.extend((0..self.tokens.len()).filter(is_control).map(|id| self.text(id).as_bytes().into()));
        Arc::new(SentencePieceDecoder {
            control,
            unknown: self.unknown().map(|id| self.text(id as usize).as_bytes().into()),
            unknown_text: " \u{2047} ".as_bytes().into(),
            has_bytes,
            add_dummy_prefix: self.header.add_space_prefix,
            remove_extra_whitespaces: self.header.remove_extra_whitespaces,
        })
    }

    fn unknown(&self) -> Option<u32> {
        self.header.unknown.filter(|&id| (id as usize) < self.tokens.len())
    }
}

fn json(component: &RawValue) -> Result<Json, LoadError> {
    Json::new(component.get()).map_err(|error| broken(error.to_string()))
}

fn bpe(file: &File<'_>) -> Result<Pipeline, LoadError> {
    let vocab = file.vocab(|id| file.text(id))?;
    let mut ids = MergeIds::new(&vocab, "");
    let are_known = each_merge(file, &mut ids)?;
    let mut pairs = match ids.finish().filter(|_| are_known) {
        Some(pairs) => pairs,
        None => {
            let mut texts = MergeTexts::default();
            each_merge(file, &mut texts)?;
            texts.pairs(&vocab, "")?
        }
    };
    // The table keeps the last of equal pairs, llama.cpp the first.
    pairs.reverse();
    let Header { ignore_merges, byte_fallback, .. } = file.header;
    let settings = ModelSettings::Bpe(BpeSettings { byte_fallback, ignore_merges, ..BpeSettings::default() });
    file.pipeline(file.components(settings)?, vocab, Tables::Merges(Arc::new(Merges::new(&pairs))))
}

/// Passes the merges on until `sink` cannot add one; returns whether it added all.
fn each_merge(file: &File<'_>, sink: &mut impl MergeSink) -> Result<bool, LoadError> {
    let (mut index, mut are_added) = (0, true);
    file.merges.each(|line| {
        // A token may start with a space.
        let space = line.bytes().skip(1).position(|byte| byte == b' ');
        let Some(space) = space else {
            return Err(LoadError::MergeMalformed { index, text: line.chars().take(80).collect() });
        };
        index += 1;
        are_added = are_added && sink.push(&line[..=space], &line[space + 2..]);
        Ok(())
    })?;
    Ok(are_added)
}

/// WordPiece. Tokens that begin a word have a `▁`, and others no `##`.
fn wordpiece(file: &File<'_>) -> Result<Pipeline, LoadError> {
    // Longer tokens need tables that take many times their bytes.
    file.check_lengths(MAX_TRIE_TOKEN_BYTES - CONTINUING.len(), "a token of a GGUF file of BERT")?;
    let unknown = file.unknown();
    let is_whole = |id: usize| {
        // A word has no such start, so that it cannot be part of one.
        let is_named =
            file.tokens[id].len() > 1 && file.tokens[id].starts_with(|first: char| first.is_ascii_punctuation());
        is_named && matches!(file.kind(id), UNKNOWN | CONTROL)
            || Some(id as u32) == unknown
            || file.header.whole.contains(&(id as u32))
    };
    let text = |id: usize| {
        let text = file.text(id);
        match text.strip_prefix(META) {
            _ if is_whole(id) => text.into_owned(),
            Some(start) => start.to_owned(),
            None => format!("{CONTINUING}{text}"),
        }
    };
    let settings = ModelSettings::WordPiece(WordPieceSettings {
        unk_token: unknown.map(|id| text(id as usize)).unwrap_or_default(),
        continuing_subword_prefix: CONTINUING.into(),
        max_input_chars_per_word: NO_LIMIT,
    });
    file.pipeline(file.components(settings)?, file.vocab(text)?, Tables::VocabularyOnly)
}

/// How spaces become `▁`.
fn spaces(file: &File<'_>, as_llama_cpp: bool) -> normalizer::SpaceSettings {
    normalizer::SpaceSettings {
        add_dummy_prefix: file.header.add_space_prefix,
        remove_extra_whitespaces: file.header.remove_extra_whitespaces,
        escape_whitespaces: true,
        whitespace_as_suffix: false,
        as_llama_cpp,
    }
}

/// BPE of SentencePiece.
fn scored(file: &File<'_>) -> Result<Pipeline, LoadError> {
    let vocab = file.scored_vocab()?;
    let bytes: Option<Vec<u32>> = (0..=255u8).map(|byte| vocab.id(format!("<0x{byte:02X}>").as_bytes())).collect();
    let bytes: Option<Box<[u32; 256]>> = bytes.and_then(|ids| ids.into_boxed_slice().try_into().ok());
    let unk_id = match file.unknown() {
        Some(id) => id,
        None if bytes.is_some() => NO_PIECE,
        None => return Err(broken("has neither an unknown token nor a token for each byte")),
    };
    let decoder = file.decoder(bytes.is_some());
    let mut model = ModelParts {
        method: Method::Bpe,
        kinds: vec![],
        scores: vec![],
        // Those of BPE are in its merges.
        pieces: Trie::new(std::iter::empty())?,
        symbols: None,
        unk_id,
        bytes,
    };
    let mut texts = vec![];
    for id in 0..file.tokens.len() {
        push(&mut model.kinds, PieceKind::Normal);
        push(&mut model.scores, file.score(id));
        push(&mut texts, file.text(id));
    }
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    let normalizer = normalizer::SentencePiece::new(None, None, spaces(file, false));
    let model = SentencePiece::new(model, &texts, normalizer.only_replaces_spaces());
    let tables = Tables::SentencePiece {
        normalizer: Some(Arc::new(normalizer)),
        model: Arc::new(Model::SentencePiece(model)),
        decoder: Some(decoder),
    };
    file.pipeline(Source::SentencePiece, vocab, tables)
}

fn unigram(file: &File<'_>) -> Result<Pipeline, LoadError> {
    let vocab = file.scored_vocab()?;
    let (mut in_text, mut scores, mut symbols) = (Vocab::builder(file.tokens.len(), 0), vec![], vec![]);
    let mut lowest = f32::MAX;
    for (token, id) in vocab.iter() {
        let (kind, score) = (file.kind(id as usize), file.score(id as usize));
        match kind {
            1 => lowest = lowest.min(score),
            USER_DEFINED => push(&mut symbols, (token, id)),
            UNUSED => {}
            _ => {
                push(&mut scores, 0.0);
                continue;
            }
        }
        in_text.push(token, id)?;
        push(&mut scores, if kind == USER_DEFINED { 0.0 } else { f64::from(score) });
    }
    let charsmap = match file.charsmap {
        [] => None,
        charsmap => Some(
            Precompiled::new(charsmap)
                .map_err(|message| broken(format!("has a wrong tokenizer.ggml.precompiled_charsmap: {message}")))?,
        ),
    };
    let symbols = if symbols.is_empty() { None } else { Some(Arc::new(Trie::new(symbols.iter().copied())?)) };
    let settings = UnigramSettings { unk_id: file.unknown(), byte_fallback: false };
    let unknown_score = f64::from(lowest - UNKNOWN_PENALTY);
    let model = Unigram::with_unknown_score(&settings, &in_text.finish()?, scores.into(), unknown_score)?;
    let tables = Tables::SentencePiece {
        normalizer: Some(Arc::new(normalizer::SentencePiece::new(charsmap, symbols, spaces(file, true)))),
        model: Arc::new(Model::Unigram(model)),
        decoder: Some(file.decoder(false)),
    };
    file.pipeline(Source::SentencePiece, vocab, tables)
}
