//! Cases that were wrong in the past, with the results of the reference (PyPI tokenizers 0.23.3).

use serde_json::{Value, json};
use tokenlane_core::{
    Columns, DecodeOptions, EncodeOptions, Encoding, OffsetUnit, Setting, SpecialTokens, Tokenizer, Truncation,
};

/// Byte fallback with a prefix and a suffix: both are written as byte tokens, so that a character
/// has more tokens than bytes, and their offsets continue after the end of the text.
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
fn places_beyond_the_text_are_rounded_down_to_characters() {
    let encoding = encode("\u{fb01}'sz", OffsetUnit::CodePoint);
    let offsets = encoding.offsets();
    // The offsets of the word z restart at 0, in bytes; the reference interprets them as offsets in
    // the whole text.
    assert_eq!(offsets[offsets.len() - 5..], [[3, 4], [0, 0], [0, 1], [1, 2], [2, 3]]);
}

#[test]
fn a_span_that_leaves_the_text_ends_two_characters_after_its_start() {
    let offsets = encode("7_\u{442} ", OffsetUnit::CodePoint).offsets().to_vec();
    assert_eq!(offsets, [[0, 1], [1, 2], [2, 3], [2, 3], [3, 5], [6, 7]]);
}

/// A tokenizer of letters, with a post-processor that adds `[` before a text.
fn letters() -> Tokenizer {
    let vocab: serde_json::Map<String, Value> =
        "abcdef[".chars().zip(0..).map(|(letter, id)| (letter.to_string(), Value::from(id))).collect();
    let start = json!([{"SpecialToken": {"id": "[", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]);
    let file = json!({
        "version": "1.0",
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
        "post_processor": {
            "type": "TemplateProcessing", "single": start, "pair": start,
            "special_tokens": {"[": {"id": "[", "ids": [6], "tokens": ["["]}},
        },
    });
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound")
}

#[test]
fn a_stride_is_not_refused_where_the_special_tokens_alone_are_too_many() {
    let options = |max_length, add_special_tokens| EncodeOptions {
        truncation: Setting::On(Truncation { stride: 3, ..Truncation::new(max_length) }),
        add_special_tokens,
        overflow: true,
        ..EncodeOptions::default()
    };
    let encode = |max_length, add| letters().encode("abcd".into(), &options(max_length, add));
    let whole = encode(0, true).expect("nothing is cut");
    assert_eq!(whole.ids(), [6, 0, 1, 2, 3]);
    let nothing = encode(0, false).expect("all is cut off");
    assert_eq!((nothing.ids(), nothing.overflowing()[0].ids()), (&[][..], &[0, 1, 2, 3][..]));
    assert!(encode(1, true).is_err() && encode(3, true).is_err());
}

/// The tokenizer of letters, with an added token that is twice in the file with different flags,
/// and a normalizer that changes it.
fn twice(first: &Value, second: &Value) -> Tokenizer {
    let flags = json!({"single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": false});
    let token = |changes: &Value| {
        let mut token = flags.clone();
        (token["id"], token["content"]) = (json!(9), json!("X"));
        for (name, value) in changes.as_object().expect("flags") {
            token[name] = value.clone();
        }
        token
    };
    let file = json!({
        "version": "1.0",
        "normalizer": {"type": "Lowercase"},
        "added_tokens": [token(first), token(second)],
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "x": 2, "X": 3, " ": 4}, "merges": []},
    });
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound")
}

#[test]
fn the_later_of_two_equal_added_tokens_counts() {
    let ids = |tokenizer: &Tokenizer, special_tokens| {
        let options = EncodeOptions { special_tokens, ..EncodeOptions::default() };
        tokenizer.encode("aX b".into(), &options).expect("the text is sound").into_ids()
    };
    let skipping = DecodeOptions { skip_special_tokens: true };
    let decode = |tokenizer: &Tokenizer| tokenizer.decode(&[0, 3], &skipping).expect("any ids will do");
    let special = twice(&json!({"special": true}), &json!({"rstrip": true}));
    assert_eq!(ids(&special, SpecialTokens::Parse), [0, 3, 1]);
    assert_eq!(ids(&special, SpecialTokens::Text), [0, 2, 4, 1]);
    assert_eq!(decode(&special), "a");
    let normalized = twice(&json!({"normalized": true, "special": true}), &json!({}));
    assert_eq!(ids(&normalized, SpecialTokens::Text), [0, 2, 4, 1]);
    // Decoding gives the normalized form, which is not a special token.
    assert_eq!(decode(&normalized), "a x");
}

#[test]
fn added_tokens_get_their_ids_as_if_the_vocabulary_had_no_gaps() {
    let token = |content: &str| {
        json!({
            "id": 0, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
            "special": false,
        })
    };
    let load = |contents: &[&str]| {
        let file = json!({
            "version": "1.0",
            "added_tokens": contents.iter().map(|content| token(content)).collect::<Vec<_>>(),
            "model": {"type": "BPE", "vocab": {"a": 1, "b": 2, "c": 7}, "merges": []},
        });
        Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound")
    };
    let ids = |tokenizer: &Tokenizer, tokens: &[&str]| -> Vec<Option<u32>> {
        tokens.iter().map(|token| tokenizer.token_to_id(token)).collect()
    };
    assert_eq!(ids(&load(&["x", "a", "y"]), &["x", "a", "y"]), [Some(3), Some(1), Some(4)]);
    assert_eq!(ids(&load(&["x", "c", "y"]), &["x", "c", "y"]), [Some(3), Some(7), Some(4)]);
    // If an id is already used by the vocabulary, it belongs to the token that was added last.
    for contents in [["q", "r", "s", "t", "c", "u"], ["c", "q", "r", "s", "t", "u"]] {
        let taken = load(&contents);
        assert_eq!((ids(&taken, &["q", "c", "u"]), taken.vocab_size(true)), (vec![Some(3), Some(7), Some(7)], 8));
        assert_eq!(taken.id_to_token(7).as_deref(), Some("u"));
    }
    // A token that has lost its id is no longer matched: this c is from the model, in one word with
    // the a.
    let options = EncodeOptions { columns: Columns::WORD_IDS, ..EncodeOptions::default() };
    let encoding = load(&["c", "q", "r", "s", "t", "u"]).encode("ca".into(), &options).expect("the text is sound");
    assert_eq!((encoding.ids(), encoding.word_ids()), (&[7, 1][..], &[0, 0][..]));
}

/// Building its search automaton was quadratic in its length and took minutes.
#[test]
fn an_added_token_of_many_equal_letters_is_found() {
    let long = "x".repeat(100_000);
    let file = json!({
        "version": "1.0",
        "added_tokens": [{
            "id": 0, "content": long, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
            "special": true,
        }],
        "model": {"type": "BPE", "vocab": {"x": 1, "a": 2}, "merges": []},
    });
    let tokenizer = Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound");
    let options = EncodeOptions { special_tokens: SpecialTokens::Parse, ..EncodeOptions::default() };
    let ids = |text: &str| tokenizer.encode(text.into(), &options).expect("the text is sound").into_ids();
    let id = tokenizer.token_to_id(&long).expect("it is a token");
    assert_eq!(ids(&format!("a{long}xa")), [2, id, 1, 2]);
    assert_eq!(ids(&long[1..]), vec![1; long.len() - 1]);
}

/// The concatenated tokens, and the offsets in code points, of a tokenizer of single characters.
fn tokens_of_characters(normalizer: &Value, pre_tokenizer: &Value, text: &str) -> (String, Vec<[u32; 2]>) {
    let known = (' '..='~').chain('¡'..='Ń').chain("中\u{301}".chars());
    let vocab: serde_json::Map<String, Value> =
        known.zip(0..).map(|(character, id)| (character.to_string(), Value::from(id))).collect();
    let model = json!({"type": "BPE", "vocab": vocab, "merges": []});
    let file = json!({"version": "1.0", "normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "model": model});
    let tokenizer = Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound");
    let options =
        EncodeOptions { columns: Columns::OFFSETS, offset_unit: OffsetUnit::CodePoint, ..EncodeOptions::default() };
    let encoding = tokenizer.encode(text.into(), &options).expect("the text is sound");
    let ids_only = tokenizer.encode(text.into(), &EncodeOptions::default()).expect("the text is sound");
    assert_eq!(ids_only.ids(), encoding.ids(), "{text:?}");
    let tokens = encoding.ids().iter().map(|&id| tokenizer.id_to_token(id).expect("it came from there"));
    (tokens.collect(), encoding.offsets().to_vec())
}

fn replace(pattern: &str, content: &str) -> Value {
    json!({"type": "Replace", "pattern": {"Regex": pattern}, "content": content})
}

#[test]
fn bytes_without_an_origin_are_written_twice() {
    let byte_level = |add_prefix_space, use_regex| json!({"type": "ByteLevel", "add_prefix_space": add_prefix_space, "use_regex": use_regex, "trim_offsets": true});
    let nothing = json!({"type": "Prepend", "prepend": ""});
    let (put, words) = (replace("^", "xy!"), byte_level(false, true));
    let twice = json!({"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": "\\s"}, "behavior": "Removed", "invert": false},
        byte_level(true, false),
        {"type": "Digits", "individual_digits": true},
        byte_level(false, false),
    ]});
    assert_eq!(
        tokens_of_characters(&put, &words, "ab"),
        ("xyxy!!ab".into(), vec![[0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 1], [1, 2]])
    );
    assert_eq!(
        tokens_of_characters(&put, &words, " é"),
        ("xyxy!!ĠÃ©".into(), vec![[0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 1], [1, 2], [1, 2]])
    );
    assert_eq!(
        tokens_of_characters(&nothing, &byte_level(true, false), "é"),
        ("ĠÃ© é".into(), vec![[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]])
    );
    assert_eq!(
        tokens_of_characters(&nothing, &byte_level(true, true), "a b"),
        ("Ġa aĠb".into(), vec![[0, 0], [0, 0], [0, 0], [0, 0], [1, 2], [2, 3]])
    );
    let (tokens, offsets) = tokens_of_characters(&nothing, &twice, "1 2");
    assert_eq!(tokens, "ÄłĠ11Ġ 11Äł2");
    assert_eq!(offsets, [vec![[0, 0]; 9], vec![[2, 3]; 3]].concat());
}

#[test]
fn a_prefix_without_an_origin_stays_before_the_rebuilt_text() {
    let rule = |kind: &str| json!({"type": kind});
    let strip = json!({"type": "Strip", "strip_left": true, "strip_right": true});
    let nothing = json!({"type": "Prepend", "prepend": ""});
    type Case<'a> = (&'a [Value], &'a str, &'a str, &'a [[u32; 2]]);
    let cases: [Case<'_>; 9] = [
        (&[replace("^", "x"), strip.clone()], " ab  ", "xx ab", &[[0, 0], [0, 1], [1, 2], [2, 3], [3, 4]]),
        (&[replace("^", " "), strip.clone()], "ab ", " ab", &[[0, 0], [1, 2], [2, 3]]),
        (&[replace("^", " "), strip.clone()], "   ", " ", &[[0, 0]]),
        (&[replace("^", " "), replace("a", ""), strip], "a", " ", &[[0, 0]]),
        (&[replace("^", "x"), rule("StripAccents")], "ee\u{301}", "xxee", &[[0, 0], [0, 1], [1, 2], [2, 3]]),
        (&[replace("^", "\u{301}"), rule("StripAccents")], "\u{301}", "\u{301}", &[[0, 0]]),
        (
            &[replace("^", "xyz"), rule("StripAccents")],
            "ae\u{301}\u{301}\u{301}\u{301}",
            "xyzxyzae",
            &[[0, 0], [0, 0], [0, 0], [0, 1], [1, 2], [2, 3], [3, 4], [4, 5]],
        ),
        (&[replace("^", "x"), rule("NFC")], "ee\u{301}", "xxeé", &[[0, 0], [0, 1], [1, 2], [2, 3]]),
        (&[nothing, rule("NFKC")], "e\u{301}", "eé", &[[0, 0], [1, 2]]),
    ];
    for (normalizers, text, tokens, offsets) in cases {
        let normalizer = json!({"type": "Sequence", "normalizers": normalizers});
        assert_eq!(
            tokens_of_characters(&normalizer, &Value::Null, text),
            (tokens.into(), offsets.to_vec()),
            "{text:?}"
        );
    }
    // The reference fails here, because it runs out of characters. This implementation follows the
    // rules.
    let lower = json!({"type": "Sequence", "normalizers": [replace("^", "x"), rule("Lowercase")]});
    assert_eq!(tokens_of_characters(&lower, &Value::Null, "A").0, "xa");
}

/// A token that starts with the prefix of WordPiece is shorter inside of a word than at its start.
#[test]
fn a_word_that_is_spelled_like_a_token_within_a_word_is_covered_by_it() {
    let file = json!({
        "version": "1.0",
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "é", "max_input_chars_per_word": 100,
            "vocab": {"[UNK]": 0, "éx": 1, "y": 2},
        },
    });
    let tokenizer = Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound");
    let options = EncodeOptions { columns: Columns::OFFSETS, ..EncodeOptions::default() };
    for _ in 0..2 {
        let encoding = tokenizer.encode("éx yx".into(), &options).expect("the text is sound");
        assert_eq!((encoding.ids(), encoding.offsets()), (&[1, 2, 1][..], &[[0, 3], [4, 5], [5, 6]][..]));
    }
}

/// A charsmap that replaces one character of three bytes: a double array with a single path, and
/// the replacement.
fn charsmap(character: char, replacement: &str) -> String {
    use base64::Engine;
    const CHILDREN: u32 = 256;
    let (mut units, mut node) = (vec![0u32; 512], 0);
    let mut buffer = [0; 4];
    for &label in character.encode_utf8(&mut buffer).as_bytes() {
        units[node as usize] |= (node ^ CHILDREN) << 10;
        node = CHILDREN ^ u32::from(label);
        units[node as usize] = label.into();
    }
    units[node as usize] |= (node ^ CHILDREN) << 10 | 1 << 8;
    units[CHILDREN as usize] = 1 << 31;
    let mut bytes = 2048u32.to_le_bytes().to_vec();
    bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    bytes.extend(replacement.bytes().chain([0]));
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// One character of three bytes that is replaced by three characters of one byte.
#[test]
fn each_part_of_a_ligature_covers_all_of_it() {
    let file = json!({
        "version": "1.0",
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap('\u{fb03}', "ffi")},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["▁", -1.0], ["a", -1.0], ["ff", -1.0], ["i", -2.0]]},
    });
    let tokenizer = Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound");
    let options =
        EncodeOptions { columns: Columns::OFFSETS, offset_unit: OffsetUnit::CodePoint, ..EncodeOptions::default() };
    let encoding = tokenizer.encode("a \u{fb03}".into(), &options).expect("the text is sound");
    assert_eq!(encoding.ids(), [1, 2, 1, 3, 4]);
    assert_eq!(encoding.offsets(), [[0, 1], [0, 1], [1, 2], [2, 3], [2, 3]]);
}
