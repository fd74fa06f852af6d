//! Arbitrary ids, decoded as a whole and as a stream.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::draw::Draw;
use crate::load::encodings;
use crate::{DecodeError, DecodeOptions, DecodeStream, Tokenizer};

/// A tokenizer whose tokens include all kinds that decoders treat differently.
pub(crate) fn tokenizer(decoder: &serde_json::Value) -> Tokenizer {
    let tokens = [
        "a", " ", "  ", "▁", "▁▁a", "é", "中", "Ã", "©", "Ġ", "Ġâ", "Ĥ", "¬", "##", "##b", "</w>", "b</w>", "_", "|",
        ".", " '", " do not", "<0x20>", "<0x61>", "<0xE2>", "<0x82>", "<0xAC>", "<0xFF>", "<0xF0>", "\u{fffd}", "aa",
        "\u{301}",
    ];
    let vocab: serde_json::Map<_, _> =
        tokens.iter().enumerate().map(|(id, &token)| (token.into(), id.into())).collect();
    let file = serde_json::json!({
        "version": "1.0", "added_tokens": [], "decoder": decoder, "model": {"type": "BPE", "vocab": vocab, "merges": []},
    });
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file loads")
}

/// Decoders of every kind. Some of them can only return text at the end of the input.
pub(crate) fn components() -> Vec<Value> {
    vec![
        json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true}),
        json!({"type": "Fuse"}),
        json!({"type": "ByteFallback"}),
        json!({"type": "BPEDecoder", "suffix": "</w>"}),
        json!({"type": "BPEDecoder", "suffix": ""}),
        json!({"type": "WordPiece", "prefix": "##", "cleanup": true}),
        json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}),
        json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"}),
        json!({"type": "CTC", "pad_token": "_", "word_delimiter_token": "|", "cleanup": true}),
        json!({"type": "CTC", "pad_token": "a", "word_delimiter_token": "", "cleanup": false}),
        json!({"type": "Replace", "pattern": {"String": "▁"}, "content": " "}),
        json!({"type": "Replace", "pattern": {"Regex": "a|"}, "content": "é"}),
        json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}),
        json!({"type": "Strip", "content": " ", "start": 1, "stop": 2}),
        json!({"type": "Strip", "content": "a", "start": 0, "stop": 1}),
    ]
}

/// Checks that a stream that gets the ids in chunks of these lengths, and then the rest, returns
/// the same text as decoding all ids at once; and again after its end. Then the same with the table
/// of tokens, which only long texts build.
pub(crate) fn check(components: &[Value], ids: &[u32], lengths: &[usize]) {
    let decoder = match components {
        [] => Value::Null,
        _ => json!({"type": "Sequence", "decoders": components}),
    };
    let (tokenizer, options) = (tokenizer(&decoder), DecodeOptions::default());
    check_stream(&tokenizer, options, ids, lengths);
    let before = [tokenizer.decode(ids, &options).map(String::into_bytes), tokenizer.decode_bytes(ids, &options)];
    build_table(&tokenizer);
    let after = [tokenizer.decode(ids, &options).map(String::into_bytes), tokenizer.decode_bytes(ids, &options)];
    assert_eq!(before, after);
}

fn build_table(tokenizer: &Tokenizer) {
    tokenizer.decode(&[0; 1 << 10], &DecodeOptions::default()).expect("0 is an id");
}

fn check_stream(tokenizer: &Tokenizer, options: DecodeOptions, ids: &[u32], lengths: &[usize]) {
    let whole = tokenizer.decode(ids, &options).expect("the budget suffices");
    let mut stream = DecodeStream::new(tokenizer, options);
    for _ in 0..2 {
        let (mut pieces, mut rest) = (String::new(), ids);
        for &length in lengths {
            let (now, later) = rest.split_at(length.min(rest.len()));
            pieces.push_str(&stream.push(now).expect("the budget suffices"));
            rest = later;
        }
        pieces.push_str(&stream.push(rest).expect("the budget suffices"));
        pieces.push_str(&stream.end().expect("the budget suffices"));
        assert_eq!(pieces, whole);
    }
    // Ids one by one, with texts that the caller keeps where a character has ended.
    let (mut pieces, mut is_between) = (String::new(), true);
    for &id in ids {
        let text = stream.fixed_text(id);
        match &text {
            Some(text) if is_between => {
                pieces.push_str(text);
                stream.skip(1);
            }
            _ => pieces.push_str(&stream.push(&[id]).expect("the budget suffices")),
        }
        if text.as_deref() != Some("") {
            is_between = text.is_some();
        }
    }
    pieces.push_str(&stream.end().expect("the budget suffices"));
    assert_eq!(pieces, whole);
}

/// A tokenizer of ranks, with tokens of a single byte or of several that are not valid UTF-8.
static RANKS: LazyLock<Tokenizer> = LazyLock::new(|| {
    let bytes = (0..=255u8).map(|byte| vec![byte]);
    let more = [
        &b"\xE4\xB8"[..],
        b"\xB8\xAD",
        b" a",
        b"\xF0\x9F\x98",
        b"\x80\xC3",
        b"\n\n",
        &[b' '; 15],
        &[b'='; 16],
        &[0xC3; 33],
    ]
    .map(<[u8]>::to_vec);
    let encode = |token: Vec<u8>| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, token);
    let lines = bytes.chain(more).enumerate().map(|(rank, token)| format!("{} {rank}\n", encode(token)));
    let mut definition = encodings::definition("r50k_base").expect("bundled");
    definition.special_tokens = vec![("<|end|>".into(), 300), ("é".into(), 301)];
    let tokenizer =
        Tokenizer::from_ranks(lines.collect::<String>().as_bytes(), &definition).expect("the ranks are sound");
    build_table(&tokenizer);
    tokenizer
});

/// Interprets bytes as decoders, ids, and the lengths of the chunks of ids.
pub(super) fn decode(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let lengths = draw.list(24, |draw| draw.below(5));
    if draw.flag() {
        let skip_special_tokens = draw.flag();
        let ids = draw.list(200, |draw| if draw.below(8) == 0 { draw.word() % 310 } else { draw.byte().into() });
        return ranks(&ids, DecodeOptions { skip_special_tokens }, &lengths);
    }
    let known = components();
    let components = draw.list(4, |draw| draw.one_of(&known));
    let ids = draw.list(100, |draw| if draw.below(32) == 0 { draw.word() } else { u32::from(draw.byte()) % 33 });
    check(&components, &ids, &lengths);
}

/// Checks the concatenated bytes of all tokens, or the error for the first unknown id.
fn ranks(ids: &[u32], options: DecodeOptions, lengths: &[usize]) {
    let mut bytes = vec![];
    for (index, &id) in ids.iter().enumerate() {
        let Some(token) = RANKS.pipeline.parts.vocab.token(id).or(match id {
            300 => Some(b"<|end|>"),
            301 => Some("é".as_bytes()),
            _ => None,
        }) else {
            assert_eq!(RANKS.decode_bytes(ids, &options), Err(DecodeError::UnknownId { id, index }));
            return;
        };
        if !(options.skip_special_tokens && id >= 300) {
            bytes.extend_from_slice(token);
        }
    }
    assert_eq!(RANKS.decode(ids, &options).as_deref(), Ok(&*String::from_utf8_lossy(&bytes)));
    assert_eq!(RANKS.decode_bytes(ids, &options), Ok(bytes));
    check_stream(&RANKS, options, ids, lengths);
}
