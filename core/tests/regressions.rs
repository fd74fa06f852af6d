//! Named cases that were wrong once, with the answer of the reference (PyPI tokenizers 0.23.3).

use serde_json::{Value, json};
use tokenlane_core::{Columns, EncodeOptions, Encoding, OffsetUnit, Tokenizer};

/// Byte fallback with a prefix and a suffix: both are written as byte tokens, so that a character has more tokens than
/// bytes, and their offsets go on behind the text.
fn byte_fallback_with_suffix() -> Tokenizer {
    let mut vocab: serde_json::Map<String, Value> =
        (0..256).map(|byte| (format!("<0x{byte:02X}>"), Value::from(byte))).collect();
    vocab.insert("##\u{442}".into(), 300.into());
    vocab.insert("## </w>".into(), 301.into());
    let file = json!({
        "version": "1.0",
        "model": {
            "type": "BPE", "vocab": vocab, "merges": [], "byte_fallback": true, "fuse_unk": false,
            "continuing_subword_prefix": "##", "end_of_word_suffix": "</w>", "ignore_merges": true,
        },
        "added_tokens": [{
            "id": 257, "content": "'s", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
            "special": true,
        }],
    });
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound")
}

fn encode(text: &str, offset_unit: OffsetUnit) -> Encoding {
    let options = EncodeOptions { columns: Columns::OFFSETS, offset_unit, ..EncodeOptions::default() };
    byte_fallback_with_suffix().encode(text.into(), &options).expect("the text is sound")
}

#[test]
fn a_short_word_can_have_more_tokens_than_bytes() {
    let encoding = encode("123456789", OffsetUnit::Byte);
    assert_eq!(encoding.len(), 1 + 8 * 3 + 4);
}

#[test]
fn places_behind_the_text_are_rounded_down_to_characters() {
    let encoding = encode("\u{fb01}'sz", OffsetUnit::CodePoint);
    let offsets = encoding.offsets();
    // The word z begins anew at place 0, in bytes; the reference reads those places as if they were in the whole text.
    assert_eq!(offsets[offsets.len() - 5..], [[3, 4], [0, 0], [0, 1], [1, 2], [2, 3]]);
}

#[test]
fn a_span_that_leaves_the_text_ends_two_characters_behind_its_start() {
    let offsets = encode("7_\u{442} ", OffsetUnit::CodePoint).offsets().to_vec();
    assert_eq!(offsets, [[0, 1], [1, 2], [2, 3], [2, 3], [3, 5], [6, 7]]);
}
