//! Sequences of arbitrary components on short and repetitive texts: their output, and all results
//! that are computed from it, are limited by the input.

use serde_json::{Value, json};

use super::draw::Draw;
use crate::budget::{BYTES_PER_ID, DEFAULT_MAX_EXPANSION, MIN_OUTPUT};
use crate::text::Text;
use crate::{Columns, DecodeError, DecodeOptions, DecodeStream, EncodeError, EncodeOptions, SpecialTokens, Tokenizer};

/// Texts that components search for, insert, or remove.
const STRINGS: [&str; 10] = ["", "a", "aa", " ", "▁", "é", "b", "ab", "</w>", "\u{fdfa}"];
const PATTERNS: [&str; 8] = ["a", "", "a*", "(?=a*b)a", r"\s+(?!\S)|\s", "(?:a|ab)+?", "(?<!b)a", "."];
/// Maximum length in bytes of a text of a component.
const LONG_TEXT_BYTES: usize = 70_000;

fn string(draw: &mut Draw<'_>) -> String {
    let text = draw.one_of(&STRINGS);
    // Sometimes a text that is as long as the output may be.
    if draw.below(16) == 0 { text.repeat(LONG_TEXT_BYTES / text.len().max(1)) } else { text.into() }
}

fn pattern(draw: &mut Draw<'_>) -> Value {
    if draw.flag() { json!({"String": draw.one_of(&STRINGS)}) } else { json!({"Regex": draw.one_of(&PATTERNS)}) }
}

fn character(draw: &mut Draw<'_>) -> char {
    draw.one_of(&['a', ' ', '▁', 'é', '_'])
}

fn normalizer(draw: &mut Draw<'_>) -> Value {
    match draw.below(10) {
        0..4 => json!({"type": "Replace", "pattern": pattern(draw), "content": string(draw)}),
        4 => json!({"type": "Prepend", "prepend": string(draw)}),
        5 => json!({"type": draw.one_of(&["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Nmt", "StripAccents"])}),
        6 | 7 => json!({"type": "ByteLevel"}),
        8 => json!({"type": "Strip", "strip_left": draw.flag(), "strip_right": draw.flag()}),
        _ => json!({"type": "Bert", "clean_text": true, "handle_chinese_chars": true, "lowercase": draw.flag()}),
    }
}

fn pretokenizer(draw: &mut Draw<'_>) -> Value {
    let behavior = draw.one_of(&["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]);
    match draw.below(9) {
        0 | 1 => json!({"type": "Split", "pattern": pattern(draw), "behavior": behavior, "invert": draw.flag()}),
        2 | 3 => {
            let (add, regex) = (draw.flag(), draw.flag());
            json!({"type": "ByteLevel", "add_prefix_space": add, "trim_offsets": true, "use_regex": regex})
        }
        4 | 5 => {
            let scheme = draw.one_of(&["always", "first", "never"]);
            json!({"type": "Metaspace", "replacement": character(draw), "prepend_scheme": scheme, "split": draw.flag()})
        }
        6 => json!({"type": "Punctuation", "behavior": behavior}),
        7 => json!({"type": "FixedLength", "length": 1 + draw.below(4)}),
        _ => json!({"type": draw.one_of(&["Whitespace", "WhitespaceSplit", "UnicodeScripts", "BertPreTokenizer"])}),
    }
}

fn decoder(draw: &mut Draw<'_>) -> Value {
    match draw.below(9) {
        0..3 => json!({"type": "Replace", "pattern": pattern(draw), "content": string(draw)}),
        3 => json!({"type": "BPEDecoder", "suffix": draw.one_of(&STRINGS)}),
        4 => json!({"type": "WordPiece", "prefix": draw.one_of(&STRINGS), "cleanup": draw.flag()}),
        5 => json!({"type": "Metaspace", "replacement": character(draw), "prepend_scheme": "always"}),
        6 => json!({"type": "CTC", "pad_token": "_", "word_delimiter_token": draw.one_of(&STRINGS), "cleanup": true}),
        7 => json!({"type": "Strip", "content": character(draw), "start": draw.below(3), "stop": draw.word()}),
        _ => json!({"type": draw.one_of(&["Fuse", "ByteFallback"])}),
    }
}

/// Draws a component, or a sequence of several. A component that doubles its input is most
/// effective if it is repeated many times.
fn chain(draw: &mut Draw<'_>, list: &str, component: fn(&mut Draw<'_>) -> Value) -> Value {
    let mut parts = draw.list(4, component);
    if let Some(last) = parts.last().filter(|_| draw.below(3) == 0).cloned() {
        parts.extend(std::iter::repeat_n(last, draw.below(40)));
    }
    if parts.is_empty() { Value::Null } else { json!({"type": "Sequence", list: parts}) }
}

fn file(draw: &mut Draw<'_>) -> Value {
    let mut vocab = serde_json::Map::new();
    for token in ["a", "b", " ", "▁", "é", "aa", "Ġ", "Ã", "©", "_", "<unk>", "<0x61>", "<0xC3>", "##a", "</w>"] {
        vocab.insert(token.into(), vocab.len().into());
    }
    if draw.below(4) == 0 {
        vocab.insert("b".repeat(LONG_TEXT_BYTES), vocab.len().into());
    }
    let unk = draw.one_of(&["<unk>", "▁"]);
    let added = draw.list(3, |draw| {
        let mut flag = || draw.flag();
        let (single_word, lstrip, rstrip, normalized, special) = (flag(), flag(), flag(), flag(), flag());
        json!({
            "id": 0, "content": draw.one_of(&STRINGS[1..]), "single_word": single_word, "lstrip": lstrip, "rstrip": rstrip,
            "normalized": normalized, "special": special,
        })
    });
    json!({
        "version": "1.0",
        "added_tokens": added,
        "normalizer": chain(draw, "normalizers", normalizer),
        "pre_tokenizer": chain(draw, "pretokenizers", pretokenizer),
        "decoder": chain(draw, "decoders", decoder),
        "model": {"type": "BPE", "vocab": vocab, "merges": [["a", "a"]], "unk_token": unk, "byte_fallback": draw.flag()},
    })
}

/// Interprets bytes as a file and a text.
pub(super) fn limits(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let file = file(&mut draw);
    let unit = draw.one_of(&["a", " ", "é", "a b ", "\u{fdfa}", "ab", "▁", ""]);
    let text = unit.repeat(draw.below(1500));
    let Ok(tokenizer) = Tokenizer::from_tokenizer_json(file.to_string().as_bytes()) else { return };
    let options =
        EncodeOptions { columns: Columns::ALL, special_tokens: SpecialTokens::Parse, ..EncodeOptions::default() };
    let limit = MIN_OUTPUT.max(DEFAULT_MAX_EXPANSION * text.len());
    let ids = match tokenizer.encode(Text::Utf8(&text), &options) {
        Ok(encoding) => {
            // A byte of the model's input becomes at most one token. Overlapping added tokens give
            // at most one further token for each byte.
            assert!(encoding.len() <= limit + text.len(), "{} tokens of {} bytes", encoding.len(), text.len());
            let bytes: usize = encoding.tokens().iter().map(String::len).sum();
            assert!(bytes <= limit, "{bytes} bytes of tokens of {} bytes", text.len());
            encoding.into_ids()
        }
        Err(
            EncodeError::OutputLimit { reached, limit: reported, .. }
            | EncodeError::WorkLimit { reached, limit: reported, .. },
        ) => {
            assert!(reported >= limit && reached > limit);
            vec![0, 1, 0, 1, 2, 15]
        }
        Err(EncodeError::Pattern { .. }) => vec![1, 0, 0, 5],
        Err(error) => unreachable!("{error}"),
    };
    let ids = &ids[..ids.len().min(500)];
    let limit = (1 << 20).max(DEFAULT_MAX_EXPANSION * BYTES_PER_ID * ids.len());
    let whole = tokenizer.decode(ids, &DecodeOptions::default());
    match &whole {
        // Invalid UTF-8 becomes U+FFFD, which has three bytes.
        Ok(text) => assert!(text.len() <= 3 * limit, "{} bytes of {} ids", text.len(), ids.len()),
        Err(
            DecodeError::OutputLimit { reached, limit: reported, .. }
            | DecodeError::WorkLimit { reached, limit: reported, .. },
        ) => {
            assert!(*reported >= limit && reached > reported);
        }
        Err(error) => assert!(matches!(error, DecodeError::Pattern { .. }), "{error}"),
    }
    let mut stream = DecodeStream::new(&tokenizer, DecodeOptions::default());
    let streamed = stream.push(ids).and_then(|text| Ok(text + &stream.end()?));
    if let (Ok(whole), Ok(streamed)) = (whole, streamed) {
        assert_eq!(whole, streamed);
    }
}
