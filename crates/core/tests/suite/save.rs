//! Tokenizers written as a tokenizer.json, and tokenizers derived from others.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokenlane_core::{
    AddedToken, Changes, DecodeOptions, DefaultSpecialTokens, EncodeOptions, Encoding, LoadError, NewToken, Padding,
    RankDefinition, SaveError, Setting, SpecialTokens, Tokenizer, Truncation,
};

fn ids(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    let options = EncodeOptions { special_tokens: SpecialTokens::Parse, ..EncodeOptions::default() };
    tokenizer.encode(text.into(), &options).expect("a text").into_ids()
}

/// A rank file of all bytes that occur in text, and of `tokens`. `ranks` maps the index in this
/// order to the rank.
fn rank_file(tokens: &[Vec<u8>], ranks: impl Fn(usize) -> usize) -> String {
    let bytes = (0..=0xF4u8).filter(|byte| !matches!(byte, 0xC0 | 0xC1)).map(|byte| vec![byte]);
    let all = bytes.chain(tokens.iter().cloned()).enumerate();
    all.map(|(place, token)| format!("{} {}\n", STANDARD.encode(token), ranks(place))).collect()
}

fn ranks(tokens: &[&str], pattern: &str, special_tokens: &[(&str, u32)]) -> Tokenizer {
    let tokens: Vec<Vec<u8>> = tokens.iter().map(|token| token.as_bytes().to_vec()).collect();
    let special_tokens = special_tokens.iter().map(|&(token, id)| (token.to_owned(), id)).collect();
    let definition = RankDefinition { pattern: pattern.into(), special_tokens };
    Tokenizer::from_ranks(rank_file(&tokens, |place| place).as_bytes(), &definition).expect("the ranks load")
}

fn again(tokenizer: &Tokenizer) -> Tokenizer {
    Tokenizer::from_bytes(&tokenizer.to_json().expect("it can be written")).expect("what was written loads")
}

fn json_of(tokenizer: &Tokenizer) -> Value {
    serde_json::from_slice(&tokenizer.to_json().expect("it can be written")).expect("it is JSON")
}

/// The first rank after the bytes of [`rank_file`].
const FIRST: u32 = 243;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    /// Includes tokens that overlap themselves, tokens that merging does not create, and ranks
    /// lower than those of the token's parts.
    #[test]
    fn ranks_give_the_same_ids_as_merges(
        tokens in prop::collection::btree_set("[ab]{2,7}|[abc]{2,4}|é[ab]?", 0..40),
        order in any::<u64>(),
        words in prop::collection::vec("[ab]{0,24}|[abcé]{0,12}", 1..12),
    ) {
        let mut tokens: Vec<Vec<u8>> = tokens.into_iter().map(String::into_bytes).collect();
        tokens.sort_by_key(|token| token.iter().fold(order, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)));
        let count = FIRST as usize + tokens.len();
        // In half of the cases, the ranks of tokens are lower than those of bytes.
        let shift = if order % 2 == 0 { 0 } else { tokens.len() };
        let file = rank_file(&tokens, |place| (place + shift) % count);
        let definition = RankDefinition { pattern: r"\S+|\s".into(), special_tokens: vec![] };
        let tokenizer = Tokenizer::from_ranks(file.as_bytes(), &definition).expect("the ranks load");
        let again = again(&tokenizer);
        for word in &words {
            prop_assert_eq!(ids(&tokenizer, word), ids(&again, word), "{:?} with {:?}", word, json_of(&tokenizer)["model"]["merges"]);
        }
    }
}

#[test]
fn each_token_of_ranks_has_the_one_merge_that_makes_it() {
    let tokenizer = ranks(&["ab", "aba", "bab", "abab", "xyz"], r"\S+|\s", &[]);
    let json = json_of(&tokenizer);
    // "bab" is merged from b and ab. Merging does not create "xyz", so whole words must be looked
    // up.
    assert_eq!(json["model"]["merges"], json!([["a", "b"], ["ab", "a"], ["b", "ab"], ["ab", "ab"]]));
    assert_eq!(json["model"]["ignore_merges"], true);
    assert_eq!(json_of(&ranks(&["ab"], ".", &[]))["model"]["ignore_merges"], false);
}

#[test]
fn special_tokens_of_ranks_keep_their_ids() {
    let [next, gap] = [FIRST + 1, FIRST + 7];
    let beside = ranks(&["ab"], r"\w+|\W", &[("<a>", next), ("<b>", next + 1)]);
    assert_eq!(json_of(&beside)["model"]["vocab"].as_object().map(|vocab| vocab.len()), Some(next as usize));
    let within = ranks(&["ab"], r"\w+|\W", &[("<b>", gap), ("<|a b|>", next)]);
    assert_eq!(json_of(&within)["model"]["vocab"]["<b>"], gap);
    for tokenizer in [beside, within] {
        let again = again(&tokenizer);
        for text in ["ab<a>ab<b>", "<|a b|>ab <b", "é<b>\u{0}"] {
            assert_eq!(ids(&tokenizer, text), ids(&again, text), "{text:?}");
            let decode = |tokenizer: &Tokenizer| {
                let all = ids(tokenizer, text);
                [false, true].map(|skip| tokenizer.decode(&all, &DecodeOptions { skip_special_tokens: skip }))
            };
            assert_eq!(decode(&tokenizer), decode(&again));
        }
    }
}

#[test]
fn ranks_that_a_tokenizer_json_cannot_say_are_refused_by_name() {
    let error = |tokenizer: &Tokenizer| {
        let error = tokenizer.to_json().expect_err("it cannot be said");
        assert_eq!(error.code(), "ERR_TOKENLANE_SAVE");
        error
    };
    let shared = ranks(&[], ".", &[("<a>", 300), ("<b>", 300)]);
    assert_eq!(error(&shared), SaveError::SharedId { id: 300, first: "<a>".into(), second: "<b>".into() });
    let pattern = ranks(&[], r"\b.", &[]);
    assert_eq!(
        error(&pattern).to_string(),
        r#"a tokenizer.json cannot have the pattern "\\b.": an escape cannot be translated (at byte 0)"#
    );
    for (tokens, pattern, special) in [
        (&["ab", "xyz"][..], r"\w+|<.>|\W", "<s>"), // a word that is looked up
        (&[], ".", "é"),                            // printable form of a byte
        (&["ab"], ".", "ab"),                       // the spelling of another token
    ] {
        let tokenizer = ranks(tokens, pattern, &[(special, 400)]);
        assert!(matches!(error(&tokenizer), SaveError::AddedToken { token, .. } if token == special));
    }
    let definition = RankDefinition { pattern: ".".into(), special_tokens: vec![] };
    let two_bytes = Tokenizer::from_ranks(b"AA== 0\nAQ== 1\n", &definition).expect("two bytes");
    assert_eq!(error(&two_bytes), SaveError::ByteMissing { byte: 2 });
}

fn small() -> Tokenizer {
    let file = json!({
        "version": "1.0", "truncation": {"direction": "Left", "max_length": 9, "strategy": "OnlyFirst", "stride": 2},
        "padding": {
            "strategy": {"Fixed": 4}, "direction": "Left", "pad_to_multiple_of": 4, "pad_id": 1, "pad_type_id": 0,
            "pad_token": "b",
        },
        "added_tokens": [
            {"id": 9, "content": "[S]", "single_word": false, "lstrip": false, "rstrip": true, "normalized": false, "special": true},
        ],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null,
        "decoder": {"suffix": "_", "type": "BPEDecoder"},
        "model": {
            "type": "BPE", "dropout": null, "unk_token": "?", "vocab": {"ab": 3, "a": 0, "b": 1, "?": 2}, "merges": ["a b"],
        },
    });
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file loads")
}

fn new_token(content: &str) -> NewToken {
    NewToken { token: AddedToken { content: content.into(), ..AddedToken::default() }, id: None }
}

#[test]
fn the_file_is_written_in_the_order_and_the_forms_of_the_reference() {
    let wanted = concat!(
        r#"{"version":"1.0","truncation":{"direction":"Left","max_length":9,"strategy":"OnlyFirst","stride":2},"#,
        r#""padding":{"strategy":{"Fixed":4},"direction":"Left","pad_to_multiple_of":4,"pad_id":1,"pad_type_id":0,"pad_token":"b"},"#,
        r#""added_tokens":[{"id":4,"content":"[S]","single_word":false,"lstrip":false,"rstrip":true,"normalized":false,"special":true}],"#,
        r#""normalizer":{"type":"Lowercase"},"pre_tokenizer":{"type":"WhitespaceSplit"},"post_processor":null,"#,
        r#""decoder":{"suffix":"_","type":"BPEDecoder"},"model":{"type":"BPE","dropout":null,"unk_token":"?","#,
        r#""continuing_subword_prefix":null,"end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"ignore_merges":false,"#,
        r#""vocab":{"a":0,"b":1,"?":2,"ab":3},"merges":[["a","b"]]}}"#,
    );
    assert_eq!(String::from_utf8(small().to_json().expect("it is written")).as_deref(), Ok(wanted));
}

#[test]
fn a_changed_tokenizer_is_another_one() {
    let before = small();
    let bytes = before.to_json();
    let changes = Changes {
        added_tokens: vec![
            new_token("cd"),
            new_token("b"),
            new_token(""),
            NewToken { id: Some(4), ..new_token("[S]") },
        ],
        normalizer: Some("null".into()),
        pre_tokenizer: Some(r#"{"type": "Digits", "individual_digits": true}"#.into()),
        post_processor: Some(r#"{"type": "BertProcessing", "sep": ["[S]", 4], "cls": ["a", 0]}"#.into()),
        decoder: Some(r#"{"type": "Fuse"}"#.into()),
        model: Some(
            r#"{"unk_token": null, "ignore_merges": true, "dropout": 0, "fuse_unk": true, "byte_fallback": true}"#
                .into(),
        ),
        truncation: Setting::Off,
        padding: Setting::On(Padding::default()),
        ..Changes::default()
    };
    let after = before.with(&changes).expect("the changes are fine");
    assert_eq!(ids(&after, "AbcdabB[S]"), [0, 1, 5, 0, 1, 4, 4]);
    assert_eq!(after.decode(&[0, 5, 3], &DecodeOptions::default()).as_deref(), Ok("acdab"));
    assert_eq!((after.truncation(), after.padding()), (None, Some(&Padding::default())));
    let json = json_of(&after);
    assert_eq!(json["added_tokens"].as_array().map(Vec::len), Some(3));
    assert_eq!(json["model"]["byte_fallback"], true);
    assert_eq!(json_of(&again(&after)), json);
    assert_eq!((before.to_json(), ids(&before, "Ab")), (bytes, vec![1, 1, 1, 3]));
    assert_eq!(before.with(&Changes::default()).map(|same| same.to_json()), Ok(before.to_json()));
}

#[test]
fn added_tokens_can_be_replaced_and_special_tokens_be_text_by_default() {
    let before = small();
    let token =
        |content: &str, special| NewToken { token: AddedToken { special, ..new_token(content).token }, id: None };
    let changes = Changes {
        added_tokens: vec![token("cd", false), token("b", true)],
        replaces_added_tokens: true,
        ..Changes::default()
    };
    let after = before.with(&changes).expect("the changes are fine");
    assert_eq!(after.token_to_id("[S]"), None);
    assert_eq!((after.token_to_id("cd"), after.token_to_id("b")), (Some(4), Some(1)));
    assert_eq!(json_of(&again(&after)), json_of(&after));
    let changes = Changes { special_tokens: Some(DefaultSpecialTokens::Text), ..Changes::default() };
    let as_text = before.with(&changes).expect("the changes are fine");
    let by_default =
        |tokenizer: &Tokenizer| tokenizer.encode("a[S]".into(), &EncodeOptions::default()).map(Encoding::into_ids);
    assert_ne!(by_default(&as_text), by_default(&before));
    assert_eq!(ids(&as_text, "a[S]"), ids(&before, "a[S]"));
    assert_eq!(json_of(&as_text), json_of(&before));
}

#[test]
fn the_components_are_written_without_the_vocabulary() {
    let mut wanted = json_of(&small());
    wanted["model"]["vocab"] = json!({});
    wanted["model"]["merges"] = json!([]);
    let bytes = small().components_json().expect("it is written").expect("it is a tokenizer.json");
    assert_eq!(serde_json::from_slice::<Value>(&bytes).expect("it is JSON"), wanted);
}

#[test]
fn changes_that_cannot_be_are_refused_with_their_place() {
    let tokenizer = small();
    let cases = [
        (Changes { normalizer: Some("{".into()), ..Changes::default() }, "normalizer: it is not JSON"),
        (
            Changes { pre_tokenizer: Some(r#"{"type":"Nosuch"}"#.into()), ..Changes::default() },
            "pre_tokenizer: the pre-tokenizer Nosuch",
        ),
        (
            Changes { decoder: Some(r#"{"type":"Strip"}"#.into()), ..Changes::default() },
            "decoder: \"content\" is missing",
        ),
        (Changes { post_processor: Some("3".into()), ..Changes::default() }, "post_processor: an object"),
        (Changes { model: Some(r#"{"dropout":2}"#.into()), ..Changes::default() }, "model.dropout: 2 is not between"),
        (Changes { model: Some(r#"{"vocab":{}}"#.into()), ..Changes::default() }, "model.vocab: changing this setting"),
        (Changes { model: Some(r#"{"fuse_unk":null}"#.into()), ..Changes::default() }, "model.fuse_unk: true or false"),
    ];
    for (changes, message) in cases {
        let error = tokenizer.with(&changes).expect_err("it cannot be");
        assert!(error.to_string().starts_with(message), "{error}");
    }
    let taken = Changes { added_tokens: vec![NewToken { id: Some(7), ..new_token("cd") }], ..Changes::default() };
    assert_eq!(
        tokenizer.with(&taken).map(|_| ()),
        Err(LoadError::AddedTokenId { token: "cd".into(), id: 5, wanted: 7 })
    );
}

#[test]
fn tokenizers_of_ranks_change_as_far_as_ranks_go() {
    let tokenizer = ranks(&["ab"], r"\w+|\W", &[("<a>", 500)]);
    let changes = Changes {
        added_tokens: vec![new_token("cd"), NewToken { id: Some(300), ..new_token("ef") }, new_token("ab")],
        truncation: Setting::On(Truncation::new(2)),
        post_processor: Some(r#"{"type": "BertProcessing", "sep": ["<a>", 500], "cls": ["<a>", 500]}"#.into()),
        ..Changes::default()
    };
    let changed = tokenizer.with(&changes).expect("the changes are fine");
    let plain = EncodeOptions { add_special_tokens: false, truncation: Setting::Off, ..EncodeOptions::default() };
    let encoded = changed.encode("abcdef".into(), &plain).map(|encoding| encoding.into_ids());
    assert_eq!(encoded, Ok(vec![FIRST, 501, 300]));
    assert_eq!(ids(&changed, "ab ab"), [500, 500]);
    assert!(changed.encode("<a>".into(), &plain).is_err(), "special tokens are still refused");
    assert_eq!(ids(&again(&changed), "abcdef"), ids(&changed, "abcdef"));

    for changes in [
        Changes { normalizer: Some("null".into()), ..Changes::default() },
        Changes { model: Some("{}".into()), ..Changes::default() },
    ] {
        assert_eq!(tokenizer.with(&changes).expect_err("ranks have none").code(), "ERR_TOKENLANE_UNSUPPORTED");
    }
    let taken = Changes { added_tokens: vec![NewToken { id: Some(97), ..new_token("cd") }], ..Changes::default() };
    assert!(matches!(tokenizer.with(&taken), Err(LoadError::DuplicateId { id: 97, .. })));
}

#[test]
fn every_byte_of_text_is_in_the_file() {
    let count = (0..=0xF4u8).filter(|byte| !matches!(byte, 0xC0 | 0xC1)).collect::<BTreeSet<_>>().len();
    assert_eq!(count, FIRST as usize);
    let text: String = ('\0'..='\u{10FFFF}').step_by(97).collect();
    let tokenizer = ranks(&["ab"], r"(?s).|\n", &[]);
    assert!(tokenizer.to_json().is_err(), "flags of a group are not carried over");
    let tokenizer = ranks(&["ab"], r".|\n", &[]);
    assert_eq!(ids(&tokenizer, &text), ids(&again(&tokenizer), &text));
}
