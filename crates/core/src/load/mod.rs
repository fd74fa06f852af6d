//! Loads tokenizers from files. Nothing here is used while encoding.
//!
//! - [`stages`]: builds the stages of a tokenizer from its [`Parts`](crate::parts::Parts), which
//!   the modules below read from files.
//! - [`tokenizer_json`]: tokenizer.json. [`model`], [`bpe`], [`normalizer`], [`pretokenizer`],
//!   [`post_processor`] and [`decoder`] load its components, `vocabulary` and `merge_list` its
//!   tables, [`length`] truncation and padding; `spaces` finds out whether BPE can read spaces as
//!   they are in the text. [`json`] reads fields with their paths.
//! - [`ranks`]: rank files of tiktoken. [`encodings`] has the definitions of the bundled ones, and
//!   `splits` the pairs from which their tokens are merged.
//! - [`tekken`]: tekken.json, the format of Mistral.
//! - [`sentencepiece`]: SentencePiece models, read through `protobuf`.
//! - `gguf`: GGUF files of llama.cpp, packed by `lib/model/gguf`.

pub(crate) mod bpe;
mod decoder;
pub(crate) mod encodings;
mod gguf;
pub(crate) mod json;
mod length;
mod merge_list;
pub(crate) mod model;
pub(crate) mod normalizer;
mod post_processor;
pub(crate) mod pretokenizer;
mod protobuf;
pub(crate) mod ranks;
mod sentencepiece;
mod spaces;
mod splits;
pub(crate) mod stages;
pub(crate) mod tekken;
pub(crate) mod tokenizer_json;
mod vocabulary;

use crate::error::LoadError;
use crate::pipeline::Pipeline;

/// Recognizes the format by the content and loads it.
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Pipeline, LoadError> {
    if sentencepiece::is_model(bytes) {
        return sentencepiece::load(bytes);
    }
    if gguf::is_packed(bytes) {
        return gguf::load(bytes);
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => Err(LoadError::Empty),
        Some(b'{') => tokenizer_json::load(bytes),
        Some(_) if ranks::looks_like_ranks(bytes) => Err(LoadError::RanksWithoutPattern),
        Some(_) => Err(LoadError::UnknownFormat { hint: hint(bytes) }),
    }
}

fn hint(bytes: &[u8]) -> String {
    if bytes.starts_with(b"version https://git-lfs") {
        return "it is a Git LFS pointer, fetch the file itself".into();
    }
    if bytes.starts_with(b"\x1f\x8b") {
        return "it is compressed with gzip".into();
    }
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(24)]).into_owned();
    format!("it starts with {start:?}")
}
