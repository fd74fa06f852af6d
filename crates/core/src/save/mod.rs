//! Writes tokenizers as files, the opposite of [`crate::load`]. A tokenizer.json is written in one
//! pass in the format of Hugging Face tokenizers: the small components as they were in the file,
//! the vocabulary sorted by id, and the merges sorted by rank.
//!
//! - [`ranks`]: writes the tokenizer of a rank file as a tokenizer.json.
//! - [`scores`]: writes numbers so that they are parsed to the same value.

mod ranks;
mod scores;

use serde::Serialize;
use std::borrow::Cow;

use crate::added_tokens::AddedToken;
use crate::bpe::Merges;
use crate::error::SaveError;
use crate::memory::Grow;
use crate::memory::fallible::{append, checkpoint, push, with_capacity};
use crate::model::Model;
use crate::parts::{BpeSettings, Components, ModelSettings, Source};
use crate::pipeline::Pipeline;

/// Writes a tokenizer as the bytes of a tokenizer.json.
pub(crate) fn tokenizer_json(pipeline: &Pipeline) -> Result<Vec<u8>, SaveError> {
    match &pipeline.parts.source {
        Source::SentencePiece => Err(SaveError::SentencePiece),
        Source::Ranks(pattern) => ranks::tokenizer_json(pipeline, pattern),
        Source::TokenizerJson(components) => {
            let spell = |id| {
                let token = pipeline.parts.vocab.token(id).expect("the table knows only tokens of the vocabulary");
                String::from_utf8_lossy(token)
            };
            let mut vocab: Vec<(u32, Cow<'_, str>)> = with_capacity(pipeline.parts.vocab.len())?;
            vocab.extend(pipeline.parts.vocab.iter().map(|(_, id)| (id, spell(id))));
            vocab.sort_unstable_by_key(|&(id, _)| id);
            let merges = pipeline.model.bpe().map(|bpe| by_rank(&bpe.merges)).unwrap_or_default();
            Ok(write(pipeline, components, &vocab, &merges, spell))
        }
    }
}

/// Writes the components, settings and added tokens of a tokenizer.json, with an empty vocabulary;
/// `None` for other files.
pub(crate) fn components_json(pipeline: &Pipeline) -> Option<Vec<u8>> {
    match &pipeline.parts.source {
        Source::TokenizerJson(components) => Some(write(pipeline, components, &[], &[], |_| Cow::Borrowed(""))),
        Source::SentencePiece | Source::Ranks(_) => None,
    }
}

/// The pairs of the merges, lowest rank first. Unwinds if there is not enough memory.
fn by_rank(merges: &Merges) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, (u32, u32))> = vec![];
    merges.iter().for_each(|(left, right, merge)| push(&mut all, (merge.rank, (left, right))));
    all.sort_unstable();
    let mut pairs = vec![];
    pairs.grow(all.len());
    pairs.extend(all.into_iter().map(|(_, pair)| pair));
    pairs
}

/// Writes the file. `vocab` is sorted by id, and `spell` returns a token in the spelling of the
/// vocabulary.
fn write<'t>(
    pipeline: &Pipeline,
    components: &Components,
    vocab: &[(u32, Cow<'_, str>)],
    merges: &[(u32, u32)],
    spell: impl Fn(u32) -> Cow<'t, str>,
) -> Vec<u8> {
    let parts = &pipeline.parts;
    let mut added_tokens: Vec<AddedToken> = parts.added_tokens.listed().collect();
    added_tokens.sort_by_key(|token| token.id);
    let Components { normalizer, pre_tokenizer, decoder, model } = components;
    let mut out = FileWriter { bytes: vec![] };
    out.bytes.grow(vocab.len() * 48);
    out.text("{\"version\":\"1.0\",\"truncation\":");
    out.value(&parts.truncation);
    out.field("padding", &parts.padding);
    out.field("added_tokens", &added_tokens);
    let components = [
        (",\"normalizer\":", normalizer),
        (",\"pre_tokenizer\":", pre_tokenizer),
        (",\"post_processor\":", &parts.post_processor),
        (",\"decoder\":", decoder),
    ];
    for (name, component) in components {
        out.text(name);
        out.text(component.text());
    }
    out.text(",\"model\":");
    match model {
        ModelSettings::Bpe(settings) => {
            out.bpe_settings(settings);
            out.vocab(vocab);
            out.text(",\"merges\":[");
            out.list(merges, |out, &(left, right)| out.value(&[spell(left), spell(right)]));
            out.text("]}");
        }
        ModelSettings::WordPiece(settings) => {
            out.text("{\"type\":\"WordPiece\"");
            out.field("unk_token", &settings.unk_token);
            out.field("continuing_subword_prefix", &settings.continuing_subword_prefix);
            out.field("max_input_chars_per_word", &settings.max_input_chars_per_word);
            out.vocab(vocab);
            out.text("}");
        }
        ModelSettings::Unigram(settings) => {
            let Model::Unigram(unigram) = &*pipeline.model else { unreachable!("the settings are of Unigram") };
            out.text("{\"type\":\"Unigram\"");
            out.field("unk_id", &settings.unk_id);
            out.text(",\"vocab\":[");
            out.list(vocab, |out, (id, piece)| {
                out.text("[");
                out.value(piece);
                out.text(",");
                out.text(&scores::spelled(unigram.scores()[*id as usize]));
                out.text("]");
            });
            out.text("]");
            out.field("byte_fallback", &settings.byte_fallback);
            out.text("}");
        }
        ModelSettings::WordLevel(settings) => {
            out.text("{\"type\":\"WordLevel\"");
            out.vocab(vocab);
            out.field("unk_token", &settings.unk_token);
            out.text("}");
        }
    }
    out.text("}");
    out.bytes
}

/// The bytes of the file so far. Writing unwinds if there is not enough memory.
struct FileWriter {
    bytes: Vec<u8>,
}

impl std::io::Write for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        append(&mut self.bytes, bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl FileWriter {
    fn text(&mut self, text: &str) {
        append(&mut self.bytes, text.as_bytes());
    }

    fn value(&mut self, value: &(impl Serialize + ?Sized)) {
        serde_json::to_writer(self, value).expect("plain values can always be written to memory");
    }

    /// Writes a field that is not the first one of its object.
    fn field(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        self.text(",");
        self.value(name);
        self.text(":");
        self.value(value);
    }

    fn list<T>(&mut self, items: &[T], write: impl Fn(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            checkpoint();
            if index > 0 {
                self.text(",");
            }
            write(self, item);
        }
    }

    /// Writes the vocabulary as a field that is not the first one.
    fn vocab(&mut self, vocab: &[(u32, Cow<'_, str>)]) {
        self.text(",\"vocab\":{");
        self.list(vocab, |out, (id, token)| {
            out.value(token);
            out.text(":");
            out.value(id);
        });
        self.text("}");
    }

    /// Writes the fields of BPE before the vocabulary.
    fn bpe_settings(&mut self, model: &BpeSettings) {
        let or_null = |text: &String| if text.is_empty() { None } else { Some(text.clone()) };
        self.text("{\"type\":\"BPE\"");
        self.field("dropout", &model.dropout);
        self.field("unk_token", &model.unk_token);
        self.field("continuing_subword_prefix", &or_null(&model.continuing_subword_prefix));
        self.field("end_of_word_suffix", &or_null(&model.end_of_word_suffix));
        self.field("fuse_unk", &model.fuse_unk);
        self.field("byte_fallback", &model.byte_fallback);
        self.field("ignore_merges", &model.ignore_merges);
    }
}
