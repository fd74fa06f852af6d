//! SentencePiece models: `tokenizer.model`, `spiece.model`, `*.spm`.
//!
//! The file is a protobuf message of pieces, trainer spec and normalizer spec
//! (`sentencepiece_model.proto`). A file that the `sentencepiece` library rejects is an error,
//! which names the piece in question. In addition, both specs must be present, as in every file
//! that the library writes: a file without them was cut off.

use std::collections::HashSet;
use std::sync::Arc;

use super::protobuf::{FieldValue, Message};
use super::stages;
use crate::added_tokens::{AddedTokens, Policy};
use crate::decoder;
use crate::error::LoadError;
use crate::memory::fallible::{check, push};
use crate::model::sentencepiece::{Method, ModelParts, NO_PIECE, PieceKind};
use crate::model::{Model, SentencePiece};
use crate::normalizer::{Precompiled, sentencepiece as normalizer};
use crate::parts::{Json, Parts, Source};
use crate::pipeline::{Pipeline, Tables};
use crate::trie::Trie;
use crate::vocab::Vocab;

/// The longest piece, in bytes. The time for a text grows with it.
pub(super) const LONGEST_PIECE: usize = 1024;

/// The fields of the messages that decide how text is encoded and decoded.
struct ModelFile<'a> {
    pieces: Vec<FilePiece<'a>>,
    method: Method,
    byte_fallback: bool,
    whitespace_as_suffix: bool,
    unknown_text: &'a str,
    spec: NormalizerSpec<'a>,
    has_trainer_spec: bool,
    has_normalizer_spec: bool,
}

#[derive(Clone, Copy)]
struct FilePiece<'a> {
    text: &'a str,
    score: f32,
    kind: PieceKind,
}

struct NormalizerSpec<'a> {
    charsmap: &'a [u8],
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    escape_whitespaces: bool,
}

impl Default for NormalizerSpec<'_> {
    fn default() -> Self {
        Self { charsmap: &[], add_dummy_prefix: true, remove_extra_whitespaces: true, escape_whitespaces: true }
    }
}

/// Whether bytes start with a piece of a SentencePiece model: a message with a text and then a
/// score or a type, whose keys no text file has.
pub(super) fn is_model(bytes: &[u8]) -> bool {
    let mut file = Message::new(bytes);
    let Ok(Some(first)) = file.next() else { return false };
    let (1, FieldValue::Bytes(mut piece)) = (first.number, first.value) else { return false };
    let mut numbers = std::iter::from_fn(|| match piece.next() {
        Ok(Some(field)) => Some((field.number, field.value)),
        Ok(None) => None,
        Err(_) => Some((0, FieldValue::Fixed64)),
    });
    matches!(numbers.next(), Some((1, FieldValue::Bytes(_))))
        && matches!(numbers.next(), Some((2, FieldValue::Fixed32(_)) | (3, FieldValue::Varint(_))))
        && numbers.take(16).all(|(number, _)| number != 0)
}

pub(crate) fn load(bytes: &[u8]) -> Result<Pipeline, LoadError> {
    let file = ModelFile::read(bytes)?;
    let ModelFile { pieces, byte_fallback, .. } = &file;
    let mut builder = Vocab::builder(pieces.len(), pieces.iter().map(|piece| piece.text.len()).sum());
    for (piece, id) in pieces.iter().zip(0..) {
        builder.push(piece.text.as_bytes(), id)?;
    }
    let of_kind = |wanted: fn(PieceKind) -> bool| {
        let mut found: Vec<(&[u8], u32)> = vec![];
        for (piece, id) in pieces.iter().zip(0..) {
            if wanted(piece.kind) {
                push(&mut found, (piece.text.as_bytes(), id));
            }
        }
        found
    };
    let trie = |list: &[(&[u8], u32)]| Trie::new(list.iter().copied());
    let normal = of_kind(PieceKind::is_in_text);
    let reserved = of_kind(|kind| !kind.is_in_text());
    let symbols = of_kind(|kind| kind == PieceKind::UserDefined);
    check_once(&normal, pieces)?;
    check_once(&reserved, pieces)?;
    let unknown: Vec<_> = of_kind(|kind| kind == PieceKind::Unknown);
    let unk_id = match unknown[..] {
        [(_, id)] => id,
        [] if *byte_fallback => NO_PIECE,
        [] => return Err(LoadError::shape("pieces", "there is no unknown piece (type UNKNOWN)")),
        [_, (_, id), ..] => return Err(LoadError::shape(path(id), "this is the second unknown piece (type UNKNOWN)")),
    };
    if file.method == Method::Unigram && normal.is_empty() {
        return Err(LoadError::shape("pieces", "there is no piece that a text could have (type NORMAL)"));
    }
    let byte_pieces = bytes_of(&of_kind(|kind| kind == PieceKind::Byte), *byte_fallback)?;
    let symbols = if symbols.is_empty() { None } else { Some(Arc::new(trie(&symbols)?)) };
    let spec = &file.spec;
    let charsmap = match spec.charsmap {
        [] => None,
        charsmap => Some(
            Precompiled::new(charsmap)
                .map_err(|message| LoadError::shape("normalizer_spec.precompiled_charsmap", message))?,
        ),
    };
    let settings = normalizer::SpaceSettings {
        add_dummy_prefix: spec.add_dummy_prefix,
        remove_extra_whitespaces: spec.remove_extra_whitespaces,
        escape_whitespaces: spec.escape_whitespaces,
        whitespace_as_suffix: file.whitespace_as_suffix,
        as_llama_cpp: false,
    };
    let control = of_kind(|kind| kind == PieceKind::Control);
    let mut control_texts = HashSet::default();
    control_texts.extend(control.iter().map(|(text, _)| Box::from(*text)));
    let decoder = decoder::sentencepiece::SentencePieceDecoder {
        control: control_texts,
        unknown: unknown.first().map(|(text, _)| Box::from(*text)),
        unknown_text: file.unknown_text.as_bytes().into(),
        has_bytes: *byte_fallback,
        add_dummy_prefix: spec.add_dummy_prefix,
        remove_extra_whitespaces: spec.remove_extra_whitespaces,
    };
    let mut model = ModelParts {
        method: file.method,
        kinds: vec![],
        scores: vec![],
        pieces: trie(if file.method == Method::Bpe { &[] } else { &normal })?,
        symbols: symbols.clone(),
        unk_id,
        bytes: byte_pieces,
    };
    let mut texts = vec![];
    for piece in pieces {
        push(&mut model.kinds, piece.kind);
        push(&mut model.scores, piece.score);
        push(&mut texts, piece.text);
    }
    let parts = Parts {
        source: Source::SentencePiece,
        post_processor: Json::default(),
        vocab: Arc::new(builder.finish_list()?),
        added_tokens: AddedTokens::none(false),
        truncation: None,
        padding: None,
        default_policy: Policy::Parse,
    };
    let normalizer = normalizer::SentencePiece::new(charsmap, symbols, settings);
    let model = SentencePiece::new(model, &texts, normalizer.only_replaces_spaces());
    let tables = Tables::SentencePiece {
        normalizer: Some(Arc::new(normalizer)),
        model: Arc::new(Model::SentencePiece(model)),
        decoder: Some(Arc::new(decoder)),
    };
    stages::build(parts, vec![], tables, None)
}

fn path(id: u32) -> String {
    format!("pieces[{id}]")
}

/// Fails if a text occurs twice in a list of pieces.
fn check_once(list: &[(&[u8], u32)], pieces: &[FilePiece<'_>]) -> Result<(), LoadError> {
    let mut sorted = crate::memory::fallible::collect(list.iter().copied())?;
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        None => Ok(()),
        Some(pair) => {
            let (first, second) = (pair[0].1, pair[1].1);
            let text = pieces[first as usize].text;
            Err(LoadError::shape(path(second), format!("the piece {text:?} is already pieces[{first}]")))
        }
    }
}

/// The piece of each byte.
fn bytes_of(list: &[(&[u8], u32)], byte_fallback: bool) -> Result<Option<Box<[u32; 256]>>, LoadError> {
    let mut ids = [None; 256];
    for &(text, id) in list {
        if !byte_fallback {
            return Err(LoadError::shape(path(id), "a byte piece (type BYTE) although byte_fallback is false"));
        }
        match (0..=255u8).find(|byte| format!("<0x{byte:02X}>").as_bytes() == text) {
            Some(byte) => ids[usize::from(byte)] = Some(id),
            None => return Err(LoadError::shape(path(id), "a byte piece (type BYTE) is not spelled like \"<0x41>\"")),
        }
    }
    if !byte_fallback {
        return Ok(None);
    }
    let missing = || LoadError::shape("pieces", "byte_fallback is true, but there are fewer than 256 byte pieces");
    let ids: Option<Vec<u32>> = ids.into_iter().collect();
    let ids = ids.and_then(|ids| ids.into_boxed_slice().try_into().ok());
    ids.ok_or_else(missing).map(Some)
}

impl<'a> ModelFile<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, LoadError> {
        let mut file = Self {
            pieces: vec![],
            method: Method::Unigram,
            byte_fallback: false,
            whitespace_as_suffix: false,
            unknown_text: " \u{2047} ",
            spec: NormalizerSpec::default(),
            has_trainer_spec: false,
            has_normalizer_spec: false,
        };
        let mut message = Message::new(bytes);
        while let Some(field) = message.next()? {
            match field.number {
                1 => {
                    check()?;
                    let piece = piece(field.message()?, file.pieces.len())?;
                    push(&mut file.pieces, piece);
                }
                2 => {
                    file.has_trainer_spec = true;
                    file.read_trainer_spec(field.message()?)?;
                }
                3 => {
                    file.has_normalizer_spec = true;
                    file.spec.read(field.message()?)?;
                }
                5 => {
                    let mut denormalizer = NormalizerSpec::default();
                    denormalizer.read(field.message()?)?;
                    if !denormalizer.charsmap.is_empty() {
                        return Err(LoadError::unsupported("denormalizer_spec", "a precompiled_charsmap for decoding"));
                    }
                }
                _ => {}
            }
        }
        if file.byte_fallback {
            // As in the library: some conversion scripts add a null character to the byte pieces.
            for piece in file.pieces.iter_mut().filter(|piece| piece.text == "\0") {
                piece.kind = PieceKind::Unused;
            }
        }
        for (name, is_there) in [("trainer_spec", file.has_trainer_spec), ("normalizer_spec", file.has_normalizer_spec)]
        {
            if !is_there {
                return Err(LoadError::Protobuf {
                    byte: bytes.len(),
                    message: format!("the file ends without a {name}: is it truncated?"),
                });
            }
        }
        Ok(file)
    }

    fn read_trainer_spec(&mut self, mut message: Message<'a>) -> Result<(), LoadError> {
        while let Some(field) = message.next()? {
            match field.number {
                3 => {
                    self.method = match field.number()? {
                        1 => Method::Unigram,
                        2 => Method::Bpe,
                        3 => Method::Words,
                        4 => Method::Characters,
                        other => {
                            return Err(LoadError::unsupported(
                                "trainer_spec.model_type",
                                format!("model type {other}"),
                            ));
                        }
                    }
                }
                24 => self.whitespace_as_suffix = field.flag()?,
                35 => self.byte_fallback = field.flag()?,
                44 => self.unknown_text = field.text(&|| "trainer_spec.unk_surface".into())?,
                _ => {}
            }
        }
        Ok(())
    }
}

impl<'a> NormalizerSpec<'a> {
    fn read(&mut self, mut message: Message<'a>) -> Result<(), LoadError> {
        while let Some(field) = message.next()? {
            match field.number {
                2 => self.charsmap = field.message()?.bytes(),
                3 => self.add_dummy_prefix = field.flag()?,
                4 => self.remove_extra_whitespaces = field.flag()?,
                5 => self.escape_whitespaces = field.flag()?,
                _ => {}
            }
        }
        Ok(())
    }
}

fn piece(mut message: Message<'_>, id: usize) -> Result<FilePiece<'_>, LoadError> {
    let path = || format!("pieces[{id}]");
    let mut piece = FilePiece { text: "", score: 0.0, kind: PieceKind::Normal };
    while let Some(field) = message.next()? {
        match field.number {
            1 => piece.text = field.text(&path)?,
            2 => piece.score = field.float()?,
            3 => {
                piece.kind = match field.number()? {
                    1 => PieceKind::Normal,
                    2 => PieceKind::Unknown,
                    3 => PieceKind::Control,
                    4 => PieceKind::UserDefined,
                    5 => PieceKind::Unused,
                    6 => PieceKind::Byte,
                    other => return Err(LoadError::unsupported(path(), format!("piece type {other}"))),
                }
            }
            _ => {}
        }
    }
    if piece.text.is_empty() {
        return Err(LoadError::shape(path(), "the piece is empty"));
    }
    if piece.text.len() > LONGEST_PIECE {
        let size = piece.text.len() as u64;
        return Err(LoadError::TooLarge {
            what: "a piece of the SentencePiece model",
            size,
            limit: LONGEST_PIECE as u64,
        });
    }
    if piece.score.is_nan() {
        return Err(LoadError::shape(path(), "the score is not a number"));
    }
    Ok(piece)
}

#[cfg(test)]
mod tests;
