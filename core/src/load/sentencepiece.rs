//! SentencePiece models: `tokenizer.model`, `spiece.model`, `*.spm`.
//!
//! The file is a protobuf message of pieces, trainer spec and normalizer spec
//! (`sentencepiece_model.proto`). A file that the `sentencepiece` library rejects is an error,
//! which names the piece in question. In addition, both specs must be present, as in every file
//! that the library writes: a file without them was cut off.

use std::collections::HashSet;
use std::sync::Arc;

use super::json::Part;
use super::post_processor;
use super::protobuf::{FieldValue, Message};
use super::tokenizer_json::numbered;
use crate::added_tokens::AddedToken;
use crate::decoder::{self, Decoder, Step};
use crate::definition::{Definition, Json, Source};
use crate::error::LoadError;
use crate::memory::fallible::{check, push};
use crate::model::sentencepiece::{Method, ModelParts, NO_PIECE, PieceKind};
use crate::model::{Model, SentencePiece};
use crate::normalizer::{Normalizer, Precompiled, sentencepiece as normalizer};
use crate::padding::Padding;
use crate::pipeline::{Pipeline, PipelineParts};
use crate::pretokenizer::PreTokenizer;
use crate::trie::Trie;
use crate::truncation::Truncation;
use crate::vocab::{TokenForm, Vocab};

/// The longest piece, in bytes. The time for a text grows with it.
const LONGEST_PIECE: usize = 1024;

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
    let normal = of_kind(is_normal);
    let reserved = of_kind(|kind| !is_normal(kind));
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
        pieces: trie(&normal)?,
        symbols: symbols.clone(),
        unk_id,
        bytes: byte_pieces,
    };
    for piece in pieces {
        push(&mut model.kinds, piece.kind);
        push(&mut model.scores, piece.score);
    }
    assemble(Blueprint {
        post_processor: Json::default(),
        vocab: Arc::new(builder.finish_list()?),
        normalizer: Some(Arc::new(normalizer::SentencePiece::new(charsmap, symbols, settings))),
        decoder: Some(Arc::new(decoder)),
        model: Arc::new(Model::SentencePiece(SentencePiece::new(model))),
        known_tokens: vec![],
        added_tokens: vec![],
        truncation: None,
        padding: None,
    })
}

/// The parts of a tokenizer with a SentencePiece model, from a file or from a call that changes
/// another tokenizer.
pub(crate) struct Blueprint {
    pub(crate) post_processor: Json,
    pub(crate) vocab: Arc<Vocab>,
    pub(crate) normalizer: Option<Arc<normalizer::SentencePiece>>,
    pub(crate) decoder: Option<Arc<decoder::sentencepiece::SentencePieceDecoder>>,
    pub(crate) model: Arc<Model>,
    pub(crate) known_tokens: Vec<AddedToken>,
    pub(crate) added_tokens: Vec<AddedToken>,
    pub(crate) truncation: Option<Truncation>,
    pub(crate) padding: Option<Padding>,
}

pub(crate) fn assemble(blueprint: Blueprint) -> Result<Pipeline, LoadError> {
    let Blueprint { post_processor, vocab, model, known_tokens, added_tokens, truncation, padding, .. } = blueprint;
    let normalizer = blueprint.normalizer.map(Normalizer::SentencePiece);
    Ok(Pipeline::new(PipelineParts {
        added_tokens: numbered(known_tokens, added_tokens, &vocab, normalizer.as_ref())?,
        vocab,
        token_form: TokenForm::Text,
        normalizer,
        spaces: None,
        pretokenizer: PreTokenizer::default(),
        segmenter: None,
        model,
        post_processor: post_processor::load(&Part::new(&post_processor.value(), "post_processor"))?,
        decoder: Decoder::new(blueprint.decoder.map(Step::SentencePiece).into_iter().collect()),
        truncation,
        padding,
        definition: Definition { post_processor, source: Source::SentencePiece },
    }))
}

/// Whether pieces of a kind are matched in text.
fn is_normal(kind: PieceKind) -> bool {
    matches!(kind, PieceKind::Normal | PieceKind::UserDefined | PieceKind::Unused)
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
mod tests {
    use super::*;
    use crate::testdata::sentencepiece::{CASES, MODEL_NAMES, model};
    use crate::tokenizer::Tokenizer;
    use crate::{Changes, Columns, DecodeOptions, DecodeStream, EncodeOptions, NewToken};
    use serde_json::{Value, json};

    /// A field of a message: its number, and a varint, bytes or a float.
    fn number(field: u8, value: u8) -> Vec<u8> {
        vec![field << 3, value]
    }

    fn bytes(field: u8, bytes: &[u8]) -> Vec<u8> {
        let length = bytes.len();
        [&[field << 3 | 2, length as u8 & 0x7F | 0x80, (length >> 7) as u8][..], bytes].concat()
    }

    fn piece(text: &str, score: f32, kind: u8) -> Vec<u8> {
        let score = [&[0x15], &score.to_le_bytes()[..]].concat();
        bytes(1, &[bytes(1, text.as_bytes()), score, number(3, kind)].concat())
    }

    /// A file of pieces with the fields of a trainer spec.
    fn file(pieces: &[(&str, f32, u8)], trainer_spec: &[Vec<u8>]) -> Vec<u8> {
        let pieces: Vec<_> = pieces.iter().map(|&(text, score, kind)| piece(text, score, kind)).collect();
        [pieces.concat(), bytes(2, &trainer_spec.concat()), bytes(3, &number(3, 1))].concat()
    }

    fn refused(file: &[u8]) -> (&'static str, String) {
        let error = Tokenizer::from_bytes(file).expect_err("it is refused");
        (error.code(), error.to_string())
    }

    const UNKNOWN: (&str, f32, u8) = ("<unk>", 0.0, 2);

    #[test]
    fn models_answer_as_the_library() {
        let mut answers = 0;
        for name in MODEL_NAMES {
            let tokenizer = Tokenizer::from_bytes(&model(name)).expect("the model is sound");
            let cases = &CASES["models"][name];
            let options = EncodeOptions { columns: Columns::ALL, ..EncodeOptions::default() };
            for case in cases["texts"].as_array().expect("a list") {
                let text = case[0].as_str().expect("a text");
                let encoding = tokenizer.encode(text.into(), &options).expect("nothing can fail");
                assert_eq!(json!(encoding.ids()), case[1], "{name}: {text:?}");
                assert_eq!(json!(encoding.tokens), case[2], "{name}: {text:?}");
                assert_eq!(tokenizer.count(text.into(), &options).expect("nothing can fail"), encoding.len());
                let in_text = |offset: &[u32; 2]| offset[0] <= offset[1] && offset[1] as usize <= text.len();
                assert!(encoding.offsets.iter().all(in_text), "{name}: {text:?}");
                answers += 1;
            }
            for case in cases["rows"].as_array().expect("a list") {
                let ids: Vec<u32> =
                    case[0].as_array().expect("ids").iter().map(|id| id.as_u64().expect("an id") as u32).collect();
                let decoded = tokenizer.decode(&ids, &DecodeOptions::default()).expect("it is short");
                assert_eq!(Value::String(decoded.clone()), case[1], "{name}: {ids:?}");
                let mut stream = DecodeStream::new(&tokenizer, DecodeOptions::default());
                let parts: Vec<_> = ids.iter().map(|&id| stream.push(&[id]).expect("it is short")).collect();
                assert_eq!(parts.concat() + &stream.end().expect("it is short"), decoded, "{name}: {ids:?}");
            }
        }
        assert!(answers > 1000);
    }

    #[test]
    fn a_model_cut_anywhere_is_an_error() {
        for name in ["unigram", "word"] {
            let whole = model(name);
            // Nothing after both specs is needed: samples for a test of the library itself follow.
            let needed =
                (0..whole.len()).rev().find(|&end| Tokenizer::from_bytes(&whole[..end]).is_err()).expect("a cut fails");
            assert!(needed > whole.len() / 2);
            for end in 0..needed {
                let (code, message) = refused(&whole[..end]);
                let codes = ["ERR_TOKENLANE_PROTOBUF", "ERR_TOKENLANE_EMPTY_FILE", "ERR_TOKENLANE_UNKNOWN_FORMAT"];
                assert!(codes[..if end < 40 { 3 } else { 1 }].contains(&code), "{end}: {code} {message}");
            }
        }
    }

    #[test]
    fn errors_name_the_wrong_piece() {
        let unigram = || vec![number(3, 1)];
        let cases = [
            (file(&[("a", -1.0, 1)], &unigram()), "pieces: there is no unknown piece"),
            (file(&[UNKNOWN], &unigram()), "no piece that a text could have"),
            (file(&[UNKNOWN, ("b", 0.0, 2)], &unigram()), "pieces[1]: this is the second unknown piece"),
            (file(&[UNKNOWN, ("", -1.0, 1)], &unigram()), "pieces[1]: the piece is empty"),
            (file(&[UNKNOWN, ("a", f32::NAN, 1)], &unigram()), "pieces[1]: the score is not a number"),
            (
                file(&[UNKNOWN, ("a", -1.0, 1), ("a", -2.0, 4)], &unigram()),
                "pieces[2]: the piece \"a\" is already pieces[1]",
            ),
            (file(&[UNKNOWN, ("a", -1.0, 1), ("<0x41>", 0.0, 6)], &unigram()), "although byte_fallback is false"),
            (file(&[UNKNOWN, ("a", -1.0, 7)], &unigram()), "pieces[1]: piece type 7 is not supported"),
            (
                file(&[UNKNOWN, ("a", -1.0, 1)], &[number(3, 9)]),
                "trainer_spec.model_type: model type 9 is not supported",
            ),
            ([file(&[UNKNOWN, ("a", -1.0, 1)], &[]), bytes(5, &bytes(2, b"rules"))].concat(), "denormalizer_spec"),
            (file(&[UNKNOWN, ("a", -1.0, 1)], &[bytes(3, b"x")]), "field 3 is not a varint"),
            (file(&[UNKNOWN, (&"a".repeat(5000), -1.0, 1)], &[]), "5000, at most 1024"),
        ];
        for (file, expected) in cases {
            let (_, message) = refused(&file);
            assert!(message.contains(expected), "{message}, expected: {expected}");
        }
        // Field 35, byte_fallback, has a key of two bytes.
        let with_bytes = |pieces: &[(&str, f32, u8)]| file(pieces, &[vec![0x98, 0x02, 1]]);
        let (_, message) = refused(&with_bytes(&[UNKNOWN, ("a", -1.0, 1), ("<0x41>", 0.0, 6)]));
        assert!(message.contains("fewer than 256 byte pieces"), "{message}");
        let (_, message) = refused(&with_bytes(&[UNKNOWN, ("a", -1.0, 1), ("<0xZZ>", 0.0, 6)]));
        assert!(message.contains("not spelled like"), "{message}");
    }

    #[test]
    fn a_control_piece_and_a_normal_one_may_have_the_same_text() {
        let model = file(&[UNKNOWN, ("▁", -1.0, 1), ("a", -1.0, 1), ("a", 0.0, 3)], &[number(3, 2)]);
        let tokenizer = Tokenizer::from_bytes(&model).expect("the library loads it");
        assert_eq!(tokenizer.encode("a".into(), &EncodeOptions::default()).expect("it encodes").ids(), [1, 2]);
    }

    fn ids(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
        tokenizer.encode(text.into(), &EncodeOptions::default()).expect("it encodes").ids
    }

    // The answers of the next six tests are those of `sentencepiece` 0.2.3.

    #[test]
    fn large_sums_of_scores_are_counted_from_zero_again() {
        let pieces = [("▁", -1.0, 1), ("x", -20_000.0, 1), ("a", -0.5, 1), ("b", -0.5, 1), ("ab", -1.001, 1)];
        let model = file(&[&[UNKNOWN], &pieces[..]].concat(), &[number(3, 1)]);
        let tokenizer = Tokenizer::from_bytes(&model).expect("the library loads it");
        // After -120,000 the nearest 32-bit sums make "ab" as good as "a" and "b".
        assert_eq!(ids(&tokenizer, "xxxxxxab"), [1, 2, 2, 2, 2, 2, 2, 3, 4]);
    }

    #[test]
    fn bpe_merges_zero_before_minus_zero() {
        let pieces = [("▁", -1.0, 1), ("a", -1.0, 1), ("b", -1.0, 1), ("c", -1.0, 1), ("ab", -0.0, 1), ("bc", 0.0, 1)];
        let model = file(&[&[UNKNOWN], &pieces[..]].concat(), &[number(3, 2)]);
        assert_eq!(ids(&Tokenizer::from_bytes(&model).expect("the library loads it"), "abc"), [1, 2, 6]);
    }

    /// A file with byte fallback: the 256 byte pieces, then others.
    fn with_byte_pieces(method: u8, others: &[(&str, f32, u8)]) -> Tokenizer {
        let names: Vec<_> = (0..256).map(|byte| format!("<0x{byte:02X}>")).collect();
        let mut pieces: Vec<_> = names.iter().map(|name| (name.as_str(), 0.0, 6)).collect();
        pieces.extend(others);
        let model = file(&pieces, &[number(3, method), vec![0x98, 0x02, 1]]);
        Tokenizer::from_bytes(&model).expect("the library loads it")
    }

    #[test]
    fn a_piece_of_a_null_character_is_unused_with_byte_fallback() {
        for method in [1, 2, 4] {
            let tokenizer = with_byte_pieces(method, &[UNKNOWN, ("▁", -1.0, 1), ("\0", -1.0, 1)]);
            assert_eq!(ids(&tokenizer, "\0"), [257, 0]);
        }
    }

    #[test]
    fn a_model_with_byte_fallback_needs_no_unknown_piece() {
        for method in [1, 2, 4] {
            let tokenizer = with_byte_pieces(method, &[("▁", -1.0, 1), ("a", -1.0, 1)]);
            assert_eq!(ids(&tokenizer, "aé"), [256, 257, 0xC3, 0xA9]);
            let decoded = tokenizer.decode(&[257, 0xC3, 0xA9], &DecodeOptions::default()).expect("it is short");
            assert_eq!(decoded, "aé");
        }
    }

    #[test]
    fn of_nested_symbols_the_64_shortest_count() {
        let names: Vec<_> = (1..=70).map(|length| "=".repeat(length)).collect();
        let mut pieces = vec![UNKNOWN, ("▁", -1.0, 1)];
        pieces.extend(names.iter().map(|name| (name.as_str(), 0.0, 4)));
        let tokenizer = Tokenizer::from_bytes(&file(&pieces, &[number(3, 2)])).expect("the library loads it");
        assert_eq!(ids(&tokenizer, &"=".repeat(66)), [1, 65, 3]);
    }

    #[test]
    fn unused_pieces_are_split_100_times_into_one_another() {
        let names: Vec<_> = (1..=110).map(|length| format!("b{}", "a".repeat(length))).collect();
        let mut pieces = vec![UNKNOWN, ("▁", -1.0, 1), ("a", -1.0, 1), ("b", -1.0, 1)];
        pieces.extend(names.iter().zip(1u8..).map(|(name, length)| (name.as_str(), -f32::from(length), 5)));
        let tokenizer = Tokenizer::from_bytes(&file(&pieces, &[number(3, 2)])).expect("the library loads it");
        let expected = |first, count| [vec![1, first], vec![2; count]].concat();
        assert_eq!(ids(&tokenizer, &names[100]), expected(3, 101));
        assert_eq!(ids(&tokenizer, &names[101]), expected(4, 101));
    }

    #[test]
    fn lengths_beyond_the_file_and_text_files_are_no_models() {
        let huge = [&[0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F][..], b"abc"].concat();
        assert_eq!(refused(&huge).0, "ERR_TOKENLANE_UNKNOWN_FORMAT");
        let start = piece("<unk>", 0.0, 2);
        assert_eq!(refused(&[&start[..], &huge].concat()).0, "ERR_TOKENLANE_PROTOBUF");
        // White space before JSON looks like the key of a piece.
        assert_eq!(refused(b"\n{\n  \"model\": 1}").0, "ERR_TOKENLANE_SHAPE");
        let json = format!("\n{{\n {}\"model\": 1}}", " ".repeat(200));
        assert_eq!(refused(json.as_bytes()).0, "ERR_TOKENLANE_SHAPE");
    }

    #[test]
    fn tokens_are_added_and_components_and_saving_are_refused() {
        let tokenizer = Tokenizer::from_bytes(&model("bpe")).expect("the model is sound");
        let size = tokenizer.vocab_size(true) as u32;
        let token = AddedToken { content: "<new>".into(), special: true, ..AddedToken::default() };
        let changes = Changes { added_tokens: vec![NewToken { token, id: None }], ..Changes::default() };
        let with_token = tokenizer.with(&changes).expect("the change is sound");
        let ids = with_token.encode("the<new>the".into(), &EncodeOptions::default()).expect("it encodes").ids;
        assert_eq!(ids.iter().filter(|&&id| id == size).count(), 1);
        let decoded = with_token.decode(&ids, &DecodeOptions { skip_special_tokens: true }).expect("it decodes");
        assert!(!decoded.contains("<new>"));
        let changes = Changes { decoder: Some("null".into()), ..Changes::default() };
        assert_eq!(tokenizer.with(&changes).expect_err("it is refused").code(), "ERR_TOKENLANE_UNSUPPORTED");
        assert_eq!(tokenizer.to_json().expect_err("it is refused").code(), "ERR_TOKENLANE_SAVE");
    }
}
