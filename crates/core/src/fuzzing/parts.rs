//! Long texts that a batch splits into chunks, compared with the unsplit texts.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::draw::Draw;
use crate::batch::{BatchError, PendingBatch, RunOptions, encode_chunks, split_rows};
use crate::{EncodeError, EncodeOptions, Input, SpecialTokens, Text, Tokenizer};

/// A byte-level tokenizer with NFC, these added tokens, and special tokens: two before a text and
/// one after it.
pub(crate) fn byte_level(added_tokens: Value) -> Tokenizer {
    let vocab: serde_json::Map<_, _> =
        crate::byte_level::CHARACTERS.iter().enumerate().map(|(byte, c)| (c.to_string(), byte.into())).collect();
    let special = |id: &str| json!({"SpecialToken": {"id": id, "type_id": 0}});
    let token = |id: u32, content: &str| json!({"id": content, "ids": [id], "tokens": [content]});
    let text = json!({"Sequence": {"id": "A", "type_id": 0}});
    let file = json!({
        "version": "1.0",
        "normalizer": {"type": "NFC"},
        "added_tokens": added_tokens,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true, "trim_offsets": true},
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
        "post_processor": {
            "type": "TemplateProcessing", "single": [special("!"), special("\""), text, special("#")], "pair": [text, text],
            "special_tokens": {"!": token(33, "!"), "\"": token(34, "\""), "#": token(35, "#")},
        },
    });
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound")
}

/// An added token of a file, with `lstrip`.
pub(crate) fn added(id: u32, content: &str, rstrip: bool, single_word: bool, normalized: bool) -> Value {
    json!({"id": id, "content": content, "lstrip": true, "rstrip": rstrip, "single_word": single_word, "normalized": normalized, "special": true})
}

/// A WordPiece or Unigram tokenizer of single characters, with components like those of BERT or
/// XLM-R.
fn of_characters(normalizer: &Value, pre_tokenizer: &Value, is_unigram: bool) -> Tokenizer {
    let characters = "abcdefghijklmnopqrstuvwxyz▁<>|é12中字".chars().map(String::from);
    let tokens: Vec<String> = ["[UNK]".to_owned()].into_iter().chain(characters).collect();
    let model = if is_unigram {
        let pieces: Vec<Value> = tokens.iter().map(|token| json!([token, -1.0])).collect();
        json!({"type": "Unigram", "unk_id": 0, "vocab": pieces})
    } else {
        let continuing = tokens.iter().map(|token| format!("##{token}"));
        let vocab: serde_json::Map<_, _> =
            tokens.iter().cloned().chain(continuing).zip((0..).map(Value::from)).collect();
        json!({
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocab,
        })
    };
    let file = json!({
        "version": "1.0", "normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "model": model,
        "added_tokens": [added(300, "<x>", false, false, false)],
    });
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound")
}

/// Tokenizers: one with added tokens that include adjacent text, as far as texts can still be
/// split; two of rank files; and two with segmenters.
pub(crate) static TOKENIZERS: LazyLock<[Tokenizer; 5]> = LazyLock::new(|| {
    let ranks = |name: &str| {
        let path = format!("{}/../../encodings/{name}.tiktoken", env!("CARGO_MANIFEST_DIR"));
        let ranks = std::fs::read(path).expect("the rank files are in the repository");
        Tokenizer::from_encoding(name, &ranks).expect("the bundled file loads")
    };
    let own = byte_level(json!([
        added(300, "<x>", true, false, false),
        added(301, "word", false, true, false),
        added(302, "é", false, false, true),
    ]));
    let bert = json!({
        "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
        "lowercase": true,
    });
    let metaspace = json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true});
    let bert = of_characters(&bert, &json!({"type": "BertPreTokenizer"}), false);
    let metaspace = of_characters(&Value::Null, &metaspace, true);
    [own, ranks("r50k_base"), ranks("o200k_base"), bert, metaspace]
});

pub(crate) const PIECES: [&str; 24] = [
    "a b",
    " word",
    "word",
    "some text",
    "é",
    "e\u{301} x",
    " ",
    "\n",
    "中文 字",
    "1 2",
    "'s a",
    "<x>",
    "<|endoftext|>",
    "Ω ω",
    "a\u{a0}b",
    "ſ t",
    "😀 a",
    "\t",
    "'",
    "A b",
    "ǅ x",
    "\u{301}",
    "\u{2028}",
    "_",
];

/// Interprets bytes as a tokenizer, options, the size of chunks, and a text that may be invalid.
pub(super) fn parts(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let tokenizer = &TOKENIZERS[draw.below(TOKENIZERS.len())];
    let run = RunOptions { threads: Some(1 + draw.below(3)), ..RunOptions::default() };
    let size = 1 + draw.below(80);
    let options = EncodeOptions {
        add_special_tokens: draw.flag(),
        special_tokens: if draw.flag() { SpecialTokens::Parse } else { SpecialTokens::Text },
        ..EncodeOptions::default()
    };
    let (form, breaks, position) = (draw.below(3), draw.below(4) == 3, draw.word() as usize);
    let text = draw.text(&PIECES, 4000);
    let (mut bytes, mut units) = (text.clone().into_bytes(), text.encode_utf16().collect::<Vec<_>>());
    if breaks && !text.is_empty() {
        let (byte, unit) = (position % bytes.len(), position % units.len());
        (bytes[byte], units[unit]) = (0xFF, 0xD800);
    }
    let row = match form {
        0 => Text::Utf8(&text),
        1 => Text::Bytes(&bytes),
        _ => Text::Utf16(&units),
    };
    let rows = [Text::Utf8("one more"), row];
    let plan = tokenizer.plan(&options).expect("the options are fine");
    let chunks = split_rows(tokenizer, &plan, size, rows.into_iter().map(Input::from)).expect("there is memory");
    let batch = encode_chunks(tokenizer, &chunks, plan, &run).and_then(PendingBatch::gather);
    let alone = |row| tokenizer.encode(row, &options);
    match (rows.map(alone), batch) {
        ([Ok(first), Ok(second)], Ok(batch)) => {
            assert_eq!([batch.row(0), batch.row(1)], [first.ids(), second.ids()], "{text:?} by {size}");
        }
        ([Ok(_), Err(source)], batch) => {
            assert!(matches!(source, EncodeError::InvalidUtf8 { .. }), "{source}");
            assert_eq!(batch.map(|_| ()), Err(BatchError::Encode { index: 1, source }), "{text:?} by {size}");
        }
        (alone, batch) => panic!("{text:?} by {size}: {alone:?}, {batch:?}"),
    }
}
