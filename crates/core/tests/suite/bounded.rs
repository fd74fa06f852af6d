//! Calls that need only a bounded number of tokens: limits, ids for a buffer of limited size, and
//! the start of a text that is within a limit. `split/tests.rs` compares that with its definition.

use proptest::prelude::*;
use serde_json::{Value, json};
use tokenlane_core::split::Start;
use tokenlane_core::{EncodeOptions, RankDefinition, SpecialTokens, Text, Tokenizer, encoding_file};

fn byte_level(post_processor: Value, normalizer: Value) -> Tokenizer {
    let special = |id: u32, content: &str| {
        json!({"id": id, "content": content, "special": true, "normalized": false,
            "single_word": false, "lstrip": false, "rstrip": false})
    };
    let letters = "aĠÃ©hello".chars();
    let mut vocab = serde_json::Map::new();
    for byte in (0..=255u8).map(|byte| byte_level_char(byte).to_string()).chain(letters.map(String::from)) {
        let id = vocab.len();
        vocab.entry(byte).or_insert_with(|| json!(id));
    }
    let merges = ["h e", "l l", "he ll", "hell o", "Ġ h", "a a", "aa aa", "Ġ a"];
    for merge in merges {
        let id = vocab.len();
        vocab.insert(merge.replace(' ', ""), json!(id));
    }
    let file = json!({
        "version": "1.0",
        "added_tokens": [special(1000, "<s>"), special(1001, "</s>")],
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "post_processor": post_processor,
        "model": {"type": "BPE", "vocab": vocab, "merges": merges},
    });
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("a sound file")
}

/// The printable character of a byte, as in GPT-2.
fn byte_level_char(byte: u8) -> char {
    let printable = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    if printable(byte) {
        return char::from(byte);
    }
    let number = (0..byte).filter(|&other| !printable(other)).count() as u32;
    char::from_u32(256 + number).expect("a character")
}

fn around() -> Value {
    let special = |id: &str| json!({"SpecialToken": {"id": id, "type_id": 0}});
    let text = |id: &str| json!({"Sequence": {"id": id, "type_id": 0}});
    json!({
        "type": "TemplateProcessing",
        "single": [special("<s>"), text("A"), special("</s>")],
        "pair": [text("A"), text("B")],
        "special_tokens": {
            "<s>": {"id": "<s>", "ids": [1000], "tokens": ["<s>"]},
            "</s>": {"id": "</s>", "ids": [1001], "tokens": ["</s>"]},
        },
    })
}

/// No pre-tokenizer, a prefix, byte fallback: like Llama 2.
fn sentence_piece() -> Tokenizer {
    let mut vocab = serde_json::Map::new();
    let bytes = (0..=255).map(|byte| format!("<0x{byte:02X}>"));
    for token in bytes.chain("▁helo".chars().map(String::from)) {
        let id = vocab.len();
        vocab.insert(token, json!(id));
    }
    let merges = ["h e", "l l", "▁ he", "▁he ll", "▁hell o", "o ▁", "o▁ he"];
    for merge in merges {
        let id = vocab.len();
        vocab.insert(merge.replace(' ', ""), json!(id));
    }
    let file = json!({
        "version": "1.0", "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        ]},
        "model": {"type": "BPE", "vocab": vocab, "merges": merges, "byte_fallback": true, "fuse_unk": true},
    });
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("a sound file")
}

fn tokenizers() -> Vec<(&'static str, Tokenizer)> {
    let name = "r50k_base";
    let ranks = std::fs::read(format!("../../encodings/{}.tiktoken", encoding_file(name).expect("it is bundled")));
    let words = RankDefinition { pattern: r"\w+| ?h".into(), special_tokens: vec![] };
    let few = (0..=255u8).map(|byte| format!("{} {byte}\n", base64(byte))).collect::<String>();
    vec![
        (name, Tokenizer::from_encoding(name, &ranks.expect("it is there")).expect("a sound file")),
        ("text between words is dropped", Tokenizer::from_ranks(few.as_bytes(), &words).expect("a sound file")),
        ("byte level", byte_level(json!(null), json!(null))),
        ("special tokens around", byte_level(around(), json!({"type": "NFC"}))),
        (
            "white space at the ends goes",
            byte_level(around(), json!({"type": "Strip", "strip_left": true, "strip_right": true})),
        ),
        ("no pre-tokenizer", sentence_piece()),
    ]
}

fn base64(byte: u8) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    format!("{}{}==", digit(byte >> 2), digit((byte & 3) << 4))
}

fn options() -> EncodeOptions {
    EncodeOptions { special_tokens: SpecialTokens::Parse, ..EncodeOptions::default() }
}

/// Checks all guarantees for one text and one limit.
fn check(name: &str, tokenizer: &Tokenizer, text: &str, limit: usize) {
    let options = options();
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut all = vec![];
    tokenizer.encode_ids(text.into(), &options, &mut all).expect("a text");
    let forms = [
        (Text::Utf8(text), text.len()),
        (Text::Utf16(&units), units.len()),
        (Text::Bytes(text.as_bytes()), text.len()),
    ];
    for (form, length) in forms {
        let context = format!("{name}, {form:?}, {limit}");
        let count = tokenizer.count(form, &options).expect("a text");
        assert_eq!(count, all.len(), "{context}");
        assert_eq!(tokenizer.is_within(form, limit, &options), Ok(count <= limit), "{context}");
        let mut ids = vec![7; 3];
        let made = tokenizer.encode_first(form, limit, &options, true, &mut ids).expect("a text").expect("all of it");
        assert!(made.written == ids.len() && made.written <= limit, "{context}: {made:?}");
        assert!(made.read == length || count > limit && made.read < length, "{context}: {made:?}");
        let wide = matches!(form, Text::Utf16(_));
        let mut lengths = std::iter::once(0).chain(text.chars().scan(0, |end, c| {
            *end += if wide { c.len_utf16() } else { c.len_utf8() };
            Some(*end)
        }));
        assert!(lengths.any(|end| end == made.read), "{context}: {made:?} is within a character");
        let prefix = |end: usize| if wide { Text::Utf16(&units[..end]) } else { Text::Utf8(&text[..end]) };
        if made.read > 0 {
            let mut alone = vec![];
            tokenizer.encode_ids(prefix(made.read), &options, &mut alone).expect("a text");
            assert_eq!(ids, alone, "{context}");
        }
        match tokenizer.truncate(form, limit, &options, true).expect("a text") {
            Start::Found { length, tokens } => {
                assert_eq!(length, made.read, "{context}");
                assert_eq!(Ok(tokens), tokenizer.count(prefix(length), &options), "{context}");
            }
            found => {
                assert_eq!(found, Start::SpecialTokens, "{context}");
                assert!(tokenizer.count("".into(), &options).expect("a text") > limit, "{context}");
            }
        }
    }
}

#[test]
fn every_limit_of_chosen_texts() {
    let texts = [
        "",
        "a",
        "hello",
        "hell",
        "hello hello  hello",
        "aaaaaaaaaaaa",
        "é",
        "日本 🌍!",
        " a ",
        "   ",
        "a<s>b</s> c",
        "hhé\u{301}e",
    ];
    for (name, tokenizer) in &tokenizers() {
        for text in texts {
            (0..20).for_each(|limit| check(name, tokenizer, text, limit));
        }
    }
}

#[test]
fn the_bytes_that_an_id_can_stand_for_are_bounded_unless_text_is_dropped() {
    let bound =
        |name: &str| tokenizers().into_iter().find(|(other, _)| *other == name).expect("it is there").1.max_bytes(1);
    assert_eq!(bound("text between words is dropped"), None);
    assert_eq!(bound("white space at the ends goes"), None);
    assert_eq!(bound("byte level"), Some(5));
    assert_eq!(bound("special tokens around"), Some(20), "normalization can shorten a text to a quarter");
    assert_eq!(bound("no pre-tokenizer"), Some(8));
    assert!(bound("r50k_base").is_some_and(|bytes| bytes >= 64));
}

#[test]
fn a_long_text_stops_early_and_a_late_error_goes_unnoticed() {
    let (_, tokenizer) = &tokenizers()[0];
    let text = "word ".repeat(100_000) + "<|endoftext|>";
    let strict = EncodeOptions::default();
    assert!(tokenizer.count(text.as_str().into(), &strict).is_err());
    assert_eq!(tokenizer.is_within(text.as_str().into(), 100, &strict), Ok(false));
    let unknown = EncodeOptions { special_tokens: SpecialTokens::Only(vec!["<nope>".into()]), ..strict };
    assert!(tokenizer.is_within(text.as_str().into(), 100, &unknown).is_err(), "options are looked at first");
}

proptest! {
    #[test]
    fn any_text(text in "[ahelo é日🌍\n]{0,24}|[ahelo ]{0,60}|(hello|<s>| |aa|é){0,14}", limit in 0usize..24) {
        thread_local! { static TOKENIZERS: Vec<(&'static str, Tokenizer)> = tokenizers(); }
        TOKENIZERS.with(|all| all.iter().for_each(|(name, tokenizer)| check(name, tokenizer, &text, limit)));
    }
}
