//! Random SentencePiece models: the file read back, the model against the naive one, decoding whole
//! and as a stream, and the file cut or changed somewhere.

use super::draw::Draw;
use super::naive_sentencepiece::Naive;
use crate::budget::Budget;
use crate::model::ModelScratch;
use crate::model::sentencepiece::{Method, PieceKind};
use crate::word_key;
use crate::{Columns, DecodeOptions, DecodeStream, EncodeOptions, Encoding, OffsetUnit, Tokenizer};

/// Building blocks of pieces and texts.
const CHARACTERS: [&str; 10] = ["a", "b", "é", "▁", "▁", "c", "中", "\u{301}", "<", "🙂"];
const PIECES: [&str; 23] = [
    "a",
    "b",
    "é",
    "▁",
    " ",
    "  ",
    "c",
    "中",
    "\u{301}",
    "<",
    "🙂",
    "ab",
    "aa",
    "abab",
    "<s>",
    "<unk>",
    "<0x61>",
    "\n",
    "\0",
    "▁▁",
    "aaaaaaaaaaaaaaaa",
    "x",
    "aababaabbabaababbabaabababbaababbaaabbabab",
];

/// Writes a protobuf message.
#[derive(Default)]
struct ProtobufWriter(Vec<u8>);

impl ProtobufWriter {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) -> &mut Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    fn float(&mut self, field: u64, value: f32) -> &mut Self {
        self.varint(field << 3 | 5);
        self.0.extend(value.to_le_bytes());
        self
    }
}

fn kind_number(kind: PieceKind) -> u64 {
    match kind {
        PieceKind::Normal => 1,
        PieceKind::Unknown => 2,
        PieceKind::Control => 3,
        PieceKind::UserDefined => 4,
        PieceKind::Unused => 5,
        PieceKind::Byte => 6,
    }
}

fn model(draw: &mut Draw<'_>) -> (Naive, Vec<u8>) {
    let method =
        draw.one_of(&[Method::Unigram, Method::Bpe, Method::Bpe, Method::Unigram, Method::Characters, Method::Words]);
    let byte_fallback = draw.below(3) == 0;
    let scores = draw.below(4);
    let mut pieces: Vec<(String, f32, PieceKind)> =
        vec![("<unk>".into(), 0.0, PieceKind::Unknown), ("<s>".into(), 0.0, PieceKind::Control)];
    if byte_fallback {
        pieces.extend((0..=255u8).map(|byte| (format!("<0x{byte:02X}>"), 0.0, PieceKind::Byte)));
    }
    pieces.push(("a".into(), -1.0, PieceKind::Normal));
    for _ in 0..draw.below(40) {
        let text = format!("{}{}", draw.one_of(&CHARACTERS), draw.list(3, |draw| draw.one_of(&CHARACTERS)).concat());
        let kinds = [
            PieceKind::Normal,
            PieceKind::Normal,
            PieceKind::Normal,
            PieceKind::Normal,
            PieceKind::UserDefined,
            PieceKind::Unused,
            PieceKind::Control,
        ];
        let kind = draw.one_of(&kinds);
        let score = match scores {
            0 => -1.0,
            1 => draw.one_of(&[-3.0, -2.0, -1.0, -0.0, 0.0]),
            // Their sums are so large that paths are counted from another position.
            2 => -f32::from(draw.byte()) * 300.7,
            _ => f32::from(draw.byte()) / 10.0 - 20.0,
        };
        let is_text = |kind: PieceKind| matches!(kind, PieceKind::Normal | PieceKind::UserDefined | PieceKind::Unused);
        if !pieces.iter().any(|piece| piece.0 == text && is_text(piece.2) == is_text(kind)) {
            pieces.push((text, score, kind));
        }
    }
    let mut file = ProtobufWriter::default();
    for (text, score, kind) in &pieces {
        let mut piece = ProtobufWriter::default();
        piece.bytes(1, text.as_bytes()).float(2, *score).number(3, kind_number(*kind));
        file.bytes(1, &piece.0);
    }
    let number = match method {
        Method::Unigram => 1,
        Method::Bpe => 2,
        Method::Words => 3,
        Method::Characters => 4,
    };
    let mut trainer = ProtobufWriter::default();
    trainer.number(3, number).number(24, draw.byte().into()).number(35, byte_fallback.into());
    let mut normalizer = ProtobufWriter::default();
    (3..6).for_each(|field| _ = normalizer.number(field, (draw.byte() & 1).into()));
    file.bytes(2, &trainer.0).bytes(3, &normalizer.0);
    (Naive { method, pieces }, file.0)
}

/// Interprets bytes as a model and a text, and as a file.
pub(super) fn sentencepiece(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let (naive, mut file) = model(&mut draw);
    let tokenizer = Tokenizer::from_bytes(&file).expect("the file is sound");
    let (position, byte) = (draw.word() as usize % file.len(), draw.byte());
    let text = draw.text(&PIECES, 300);
    let reads_spaces = tokenizer.pipeline.model.reads_spaces();
    let words = [text.clone(), text.replace(' ', "▁")];
    // A model that reads spaces takes them for meta symbols.
    for word in words.iter().filter(|word| !reads_spaces || !word.contains(' ')) {
        let (mut encoded, bytes) = (vec![], word.as_bytes());
        let mut scratch = ModelScratch::default();
        tokenizer
            .pipeline
            .model
            .tokenize(bytes, word_key::of_word(bytes), &mut scratch, &mut encoded)
            .expect("nothing can fail");
        let encoded: Vec<_> = encoded
            .iter()
            .map(|symbol| (symbol.id, if symbol.len == crate::bpe::Symbol::SAME { 0 } else { symbol.len as usize }))
            .collect();
        assert_eq!(encoded, naive.tokens(word), "{word:?}");
    }
    let columns = EncodeOptions { columns: Columns::OFFSETS, ..EncodeOptions::default() };
    let Encoding { ids, offsets, .. } = tokenizer.encode(text.as_str().into(), &columns).expect("it is short");
    cuts_change_nothing(&file, &tokenizer, &naive, &text);
    assert!(offsets.is_sorted() && offsets.windows(2).all(|pair| pair[0][1] == pair[1][0]), "{text:?}: {offsets:?}");
    assert!(offsets.last().is_none_or(|last| last[0] <= last[1] && last[1] as usize <= text.len()));
    first_ids(&tokenizer, &text, 1 + usize::from(byte % 8));
    let options = DecodeOptions::default();
    let mut stream = DecodeStream::new(&tokenizer, options);
    let mut parts: Vec<String> = ids.iter().map(|&id| stream.push(&[id]).expect("it is short")).collect();
    parts.push(stream.end().expect("it is short"));
    assert_eq!(parts.concat(), tokenizer.decode(&ids, &options).expect("it is short"));
    // Whatever is wrong with a file, it is an error or a tokenizer.
    file[position] = byte;
    for broken in [&file[..], &file[..position], bytes] {
        if let Err(error) = Tokenizer::from_bytes(broken) {
            assert!(!error.to_string().is_empty());
        }
    }
}

/// Compares a text that is cut where no piece crosses, and whose spaces are not replaced, with the
/// text as one word, and its ids with those of the naive model.
fn cuts_change_nothing(file: &[u8], tokenizer: &Tokenizer, naive: &Naive, text: &str) {
    let mut whole = Tokenizer::from_bytes(file).expect("the file is sound");
    whole.pipeline.spaces = None;
    let model = std::sync::Arc::get_mut(&mut whole.pipeline.model).expect("it is not shared");
    let crate::model::Model::SentencePiece(model) = model else { unreachable!("it is such a file") };
    model.forget_split_points();
    let normalizer = tokenizer.pipeline.normalizer.as_ref().expect("a file has one");
    let normalized = normalizer.normalized(text, &mut Budget::of_text(text.len())).expect("it is short");
    let expected: Vec<u32> = naive.tokens(&normalized).into_iter().map(|(id, _)| id).collect();
    let every = EncodeOptions { columns: Columns::ALL, offset_unit: OffsetUnit::Utf16, ..EncodeOptions::default() };
    // The second round uses the cache.
    for _ in 0..2 {
        let mut ids = vec![];
        tokenizer.encode_ids(text.into(), &EncodeOptions::default(), &mut ids).expect("it is short");
        assert_eq!(ids, expected, "{text:?}");
        assert_eq!(tokenizer.encode(text.into(), &every), whole.encode(text.into(), &every), "{text:?}");
    }
}

/// Encodes a text part by part, `capacity` ids at a time or more where none fits: the parts are the
/// text, and the ids of each are those of the part alone.
fn first_ids(tokenizer: &Tokenizer, text: &str, capacity: usize) {
    let options = EncodeOptions::default();
    let encode = |text: &str| tokenizer.encode(text.into(), &options).expect("it is short").ids;
    let (mut rest, mut size, mut ids) = (text, capacity, vec![]);
    while !rest.is_empty() {
        let written = tokenizer.encode_first(rest.into(), size, &options, true, &mut ids).expect("it is short");
        let written = written.expect("nothing follows");
        assert_eq!(ids, encode(&rest[..written.read]), "{rest:?}");
        assert!(written.written == ids.len() && ids.len() <= size, "{rest:?}");
        assert_eq!(written.read == rest.len(), encode(rest).len() <= size, "{rest:?}");
        rest = &rest[written.read..];
        size = if written.read == 0 { 2 * size } else { capacity };
    }
}
