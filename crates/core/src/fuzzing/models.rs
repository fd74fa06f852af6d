//! Random WordPiece, Unigram and WordLevel tokenizers: with and without segmenter, and against the
//! naive models.

use serde_json::{Map, Value, json};

use super::draw::Draw;
use super::naive_models;
use crate::bpe::Symbol;
use crate::model::{Model, ModelScratch};
use crate::parts::{ModelSettings, Source};
use crate::word_key;
use crate::{Columns, EncodeOptions, OffsetUnit, Tokenizer};

/// Building blocks of tokens and texts.
const CHARACTERS: [&str; 16] =
    ["a", "b", "B", "é", "É", "中", "▁", "#", ".", "\u{301}", "ж", "Ж", "1", "क", "\u{93f}", "<0x61>"];
const PIECES: [&str; 30] = [
    "a",
    "b",
    "B",
    "é",
    "É",
    "中",
    "▁",
    "#",
    ".",
    "\u{301}",
    "ж",
    "Ж",
    "1",
    "क",
    "\u{93f}",
    " ",
    " ",
    "  ",
    "\n",
    "\t",
    "\r\n",
    "\u{a0}",
    "\0",
    "<unk>",
    "x",
    "word ",
    " the",
    "aaaaaaaaaaaaaaaaaaaa",
    "abab",
    "\u{200b}",
];

const BERT: &str = r#"{"type":"BertPreTokenizer"}"#;
const METASPACE: &str = r#"{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true}"#;

/// Draws a normalizer and a pre-tokenizer.
fn components(draw: &mut Draw<'_>) -> [Value; 2] {
    let read = |text: &str| serde_json::from_str::<Value>(text).expect("it is JSON");
    let bert = |draw: &mut Draw<'_>| {
        json!({
            "type": "BertNormalizer", "clean_text": draw.flag(), "handle_chinese_chars": draw.flag(),
            "strip_accents": draw.one_of(&[Value::Null, json!(true), json!(false)]), "lowercase": draw.flag(),
        })
    };
    let words = json!({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, read(METASPACE)]});
    let metaspace = |scheme: &str, split: bool| json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split});
    match draw.below(8) {
        0 | 1 => [bert(draw), read(BERT)],
        2 => [Value::Null, read(METASPACE)],
        3 => [Value::Null, words],
        4 => [Value::Null, metaspace(draw.one_of(&["first", "never"]), draw.flag())],
        5 => [Value::Null, json!({"type": "WhitespaceSplit"})],
        6 => [json!({"type": "Lowercase"}), read(BERT)],
        _ => [Value::Null, Value::Null],
    }
}

fn model(draw: &mut Draw<'_>) -> Value {
    let mut tokens: Vec<String> = vec!["<unk>".into()];
    let prefix = draw.one_of(&["##", "", "#", "é"]);
    for _ in 0..draw.below(48) {
        let token: String = draw.list(4, |draw| draw.one_of(&CHARACTERS)).concat();
        let token = if draw.below(3) == 0 { format!("{prefix}{token}") } else { token };
        if !tokens.contains(&token) {
            tokens.push(token);
        }
    }
    let byte_fallback = draw.flag();
    if draw.below(4) == 0 {
        let few = 1 + draw.below(3);
        tokens.extend((0..=255usize).filter(|byte| byte % 7 != few).map(|byte| format!("<0x{byte:02X}>")));
        tokens.dedup();
    }
    let unk_token = draw.one_of(&["<unk>", "<unk>", "a", "none"]);
    let kind = draw.below(5);
    if kind < 3 {
        let scores = draw.below(3);
        let pieces: Vec<Value> = tokens
            .iter()
            .map(|token| {
                let score = match scores {
                    0 => -1.0,
                    1 => -f64::from(draw.byte() % 4),
                    _ => f64::from(draw.byte()) / 10.0 - 20.0,
                };
                json!([token, score])
            })
            .collect();
        let unk_id = if draw.below(16) == 0 { Value::Null } else { draw.below(tokens.len()).min(2).into() };
        return json!({"type": "Unigram", "unk_id": unk_id, "vocab": pieces, "byte_fallback": byte_fallback});
    }
    tokens.sort();
    tokens.dedup();
    let vocab: Map<_, _> = tokens.into_iter().zip((0..).map(Value::from)).collect();
    if kind == 3 {
        let limit = draw.one_of(&[100, 100, 3, 0]);
        return json!({
            "type": "WordPiece", "unk_token": unk_token, "continuing_subword_prefix": prefix,
            "max_input_chars_per_word": limit, "vocab": vocab,
        });
    }
    json!({"type": "WordLevel", "vocab": vocab, "unk_token": unk_token})
}

/// Interprets bytes as a file and a text.
pub(super) fn models(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let [normalizer, pre_tokenizer] = components(&mut draw);
    let file = json!({
        "version": "1.0", "normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "model": model(&mut draw),
        "added_tokens": [{
            "id": 0, "content": "<a>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
            "special": false,
        }],
    });
    let file = file.to_string();
    let load = || Tokenizer::from_tokenizer_json(file.as_bytes()).expect("the file is sound");
    let unit = draw.one_of(&[OffsetUnit::Byte, OffsetUnit::CodePoint, OffsetUnit::Utf16]);
    let text = draw.text(&PIECES, 600);
    let (fast, mut slow) = (load(), load());
    slow.pipeline.segmenter = None;
    let every = EncodeOptions { columns: Columns::ALL, offset_unit: unit, ..EncodeOptions::default() };
    for _ in 0..2 {
        let [mut ids, mut expected] = [vec![], vec![]];
        let options = EncodeOptions::default();
        assert_eq!(
            fast.encode_ids(text.as_str().into(), &options, &mut ids),
            slow.encode_ids(text.as_str().into(), &options, &mut expected)
        );
        assert_eq!(ids, expected, "{text:?}");
        let [encoded, expected] = [&fast, &slow].map(|tokenizer| tokenizer.encode(text.as_str().into(), &every));
        assert_eq!(encoded, expected, "{text:?}");
        if let Ok(encoded) = encoded {
            assert_eq!(encoded.ids(), ids);
        }
    }
    text.split_inclusive(' ').for_each(|word| check_word(&slow, word));
}

/// Compares a word with the naive model.
fn check_word(tokenizer: &Tokenizer, word: &str) {
    let Source::TokenizerJson(components) = &tokenizer.pipeline.parts.source else {
        unreachable!("it is a tokenizer.json")
    };
    // A space at the start may stand for the meta symbol, which the naive model does not know.
    let word = word.trim_start_matches(' ');
    let (mut out, bytes) = (vec![], word.as_bytes());
    let encoded = tokenizer
        .pipeline
        .model
        .tokenize(bytes, word_key::of_word(bytes), &mut ModelScratch::default(), &mut out)
        .map(|()| out);
    let vocab = &tokenizer.pipeline.parts.vocab;
    let expected: Result<Vec<Symbol>, _> = match (&components.model, &*tokenizer.pipeline.model) {
        (ModelSettings::WordPiece(settings), _) => {
            let mut out = vec![];
            naive_models::wordpiece(settings, vocab, word, &mut out).map(|()| out)
        }
        (ModelSettings::Unigram(settings), Model::Unigram(model)) => {
            naive_models::unigram(settings, vocab, model.scores(), word)
        }
        _ => return,
    };
    assert_eq!(encoded, expected, "{word:?}");
}
