//! Compares the cached path, which encodes many words at once, with the model's path, word by word:
//! every column must be equal.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

use super::{Encoder, EncoderState, Request};
use crate::byte_level::CHARACTERS;
use crate::encoding::{Columns, Encoding, OffsetUnit};
use crate::options::EncodeOptions;
use crate::text::Text;
use crate::tokenizer::Tokenizer;

/// A byte-level tokenizer with tokens that are white space, that have white space at their start or
/// end, and that end within a character.
fn byte_level(post_processor: Value) -> Value {
    let printable = |text: &[u8]| text.iter().map(|&byte| CHARACTERS[usize::from(byte)]).collect::<String>();
    let merges: [(&[u8], &[u8]); 14] = [
        (b" ", b" "),
        (b"  ", b"  "),
        (b" ", b"t"),
        (b"h", b"e"),
        (b" t", b"he"),
        (b"a", b"b"),
        (b"ab", b"ab"),
        (b" ", b"\xF0"),
        (b" \xF0", b"\x9F"),
        (b"\x98", b"\x80"),
        (b"\xC3", b"\xA9"),
        (b"\xA9", b"\xC3"),
        (b"\xE4", b"\xB8"),
        (b"\n", b" "),
    ];
    let mut vocab: Map<String, Value> =
        CHARACTERS.iter().enumerate().map(|(byte, c)| (c.to_string(), byte.into())).collect();
    for (left, right) in merges {
        vocab.insert(printable(&[left, right].concat()), vocab.len().into());
    }
    let merges: Vec<_> = merges.iter().map(|(left, right)| [printable(left), printable(right)]).collect();
    json!({
        "model": { "type": "BPE", "vocab": vocab, "merges": merges },
        "pre_tokenizer": { "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true },
        "post_processor": post_processor,
        "added_tokens": [{
            "id": 400, "content": "<a> ", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
            "special": true,
        }],
    })
}

/// A tokenizer without a pre-tokenizer, with byte fallback for unknown characters.
fn byte_fallback() -> Value {
    let letters = ["<unk>", "▁", "t", "h", "e", "a", "b", "é", "▁t", "he", "▁the", "ab", "▁▁", "▁ab", "e▁"];
    let bytes = (0..256).map(|byte| format!("<0x{byte:02X}>"));
    let tokens = letters.into_iter().map(String::from).chain(bytes);
    let vocab: Map<String, Value> = tokens.enumerate().map(|(id, token)| (token, id.into())).collect();
    let merges = [["▁", "t"], ["h", "e"], ["▁t", "he"], ["a", "b"], ["▁", "▁"], ["▁", "ab"], ["e", "▁"]];
    let replace = json!({ "type": "Replace", "pattern": { "String": " " }, "content": "▁" });
    let prepend = json!({ "type": "Prepend", "prepend": "▁" });
    json!({
        "normalizer": { "type": "Sequence", "normalizers": [prepend, replace] },
        "model": {
            "type": "BPE", "vocab": vocab, "merges": merges, "byte_fallback": true, "unk_token": "<unk>", "fuse_unk": true,
        },
    })
}

/// A WordPiece tokenizer with unknown words. With the prefix `a`, words can start as further tokens
/// of words do.
fn word_piece(prefix: &str) -> Value {
    let starting = ["[UNK]", "the", "t", "a", "e", "中", "1", "é", "b"].map(String::from);
    let continuing = ["he", "b", "a", "e", "中", "ab", "1", ""].map(|token| format!("{prefix}{token}"));
    let mut tokens: Vec<String> = starting.into_iter().chain(continuing).collect();
    tokens.sort();
    tokens.dedup();
    let vocab: Map<String, Value> = tokens.into_iter().zip(0..).map(|(token, id)| (token, id.into())).collect();
    json!({
        "normalizer": {
            "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": false, "strip_accents": null,
            "lowercase": true,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece", "vocab": vocab, "unk_token": "[UNK]", "continuing_subword_prefix": prefix,
            "max_input_chars_per_word": 20,
        },
    })
}

/// A Unigram tokenizer with unknown characters, and with a charsmap that joins spaces.
fn unigram(byte_fallback: bool) -> Value {
    use base64::Engine;
    let charsmap = crate::normalizer::precompiled::tests::charsmap(&[("\n", " "), ("\u{3000}", " "), ("ﬁ", "fi")]);
    let charsmap = base64::engine::general_purpose::STANDARD.encode(charsmap);
    let pieces = ["<unk>", "▁", "t", "he", "e", "▁the", "a", "ab", "▁a", "中", "b", "1", "▁1", "fi"];
    let bytes = (0..if byte_fallback { 256 } else { 0 }).map(|byte| format!("<0x{byte:02X}>"));
    let pieces = pieces.into_iter().map(String::from).chain(bytes);
    let vocab: Vec<Value> = pieces.enumerate().map(|(at, piece)| json!([piece, -(at as f64) / 10.0])).collect();
    json!({
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Precompiled", "precompiled_charsmap": charsmap},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"},
            ],
        },
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
        "model": {"type": "Unigram", "vocab": vocab, "unk_id": 0, "byte_fallback": byte_fallback},
    })
}

static TOKENIZERS: LazyLock<[Tokenizer; 7]> = LazyLock::new(|| {
    let trims = json!({ "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true });
    let files = [
        byte_level(Value::Null),
        byte_level(trims),
        byte_fallback(),
        word_piece("##"),
        word_piece("a"),
        unigram(false),
        unigram(true),
    ];
    files.map(|file| {
        let tokenizer = Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound");
        let pipeline = &tokenizer.pipeline;
        assert!(pipeline.scanner.is_some() || pipeline.spaces.is_some() || pipeline.segmenter.is_some());
        tokenizer
    })
});

proptest! {
    #[test]
    fn words_together_are_words_one_by_one(
        texts in prop::collection::vec("( {0,5}(the|abab|é|😀|中文|<a> |▁|\n|##ab|ﬁ|\u{3000}|[a-c0-9]{1,40}|\\PC)){0,80}", 1..4),
        columns in 1..=Columns::ALL.bits(),
    ) {
        for tokenizer in &*TOKENIZERS {
            for offset_unit in [OffsetUnit::Byte, OffsetUnit::CodePoint, OffsetUnit::Utf16] {
                let columns = Columns::from_bits(columns);
                let options = EncodeOptions { columns, offset_unit, ..EncodeOptions::default() };
                let plan = tokenizer.plan(&options).expect("the options are sound");
                let (mut together, mut one_by_one) = (EncoderState::new(1 << 20, 0), EncoderState::new(0, 0));
                together.seed(&tokenizer.seeds());
                for text in texts.iter().chain(&texts) {
                    let encodings = [&mut together, &mut one_by_one].map(|state| {
                        let mut out = Encoding::default();
                        let mut encoder = Encoder::new(&tokenizer.pipeline, state);
                        encoder.encode(Text::from(text), &mut Request::all(&plan), &mut out).map(|_| out)
                    });
                    prop_assert_eq!(&encodings[0], &encodings[1], "{:?} {:?}", text, options);
                }
            }
        }
    }
}
