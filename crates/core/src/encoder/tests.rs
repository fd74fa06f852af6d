//! Compares texts whose spaces are not replaced, encoded in pieces, with the full pipeline of
//! normalizer and pre-tokenizer on the whole text.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::encoding::Columns;
use crate::error::EncodeError;
use crate::fuzzing::split_points::{CHARACTERS, FORMS, File, SpaceForm, check};
use crate::options::EncodeOptions;
use crate::text::{Input, Literal, Sequence};
use crate::tokenizer::Tokenizer;

fn file() -> impl Strategy<Value = File> {
    let merges = prop::collection::vec((0usize..60, 0usize..60), 0..40);
    let unknown = prop::collection::vec(0..CHARACTERS.len(), 0..5);
    // A token for every byte, or for all but every third byte.
    let byte_fallback = prop_oneof![Just(None), Just(Some(1)), Just(Some(3))];
    (prop::sample::select(&FORMS[..]), unknown, merges, byte_fallback, any::<[bool; 3]>()).prop_map(
        |(form, unknown, merges, byte_fallback, [unk_token, fuse_unk, added])| File {
            form,
            unknown,
            merges,
            byte_fallback,
            unk_token,
            fuse_unk,
            added,
        },
    )
}

fn text() -> impl Strategy<Value = String> {
    let character =
        prop_oneof![4 => prop::sample::select(&CHARACTERS[..]), 2 => Just(' '), 1 => Just('x'), 1 => Just('ж')];
    let piece = prop_oneof![6 => character.prop_map(String::from), 1 => Just("<a>".into()), 1 => "[ab]{10,20}| {5,9}"];
    prop::collection::vec(piece, 0..120).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]
    #[test]
    fn pieces_give_what_the_whole_gives(file in file(), texts in prop::collection::vec(text(), 4)) {
        check(&file, &texts);
    }
}

#[test]
fn texts_that_need_no_rewriting() {
    let whole = File {
        form: SpaceForm::PrependThenReplace,
        unknown: vec![],
        merges: vec![(0, 1), (13, 0)],
        byte_fallback: Some(1),
        unk_token: true,
        fuse_unk: true,
        added: true,
    };
    let load = |file: &File, change: &dyn Fn(&mut Value)| {
        let mut json = file.json();
        change(&mut json);
        Tokenizer::from_tokenizer_json(json.to_string().as_bytes()).expect("it loads")
    };
    let reads = |form: SpaceForm| load(&File { form, ..whole.clone() }, &|_| ()).pipeline.spaces.is_some();
    assert_eq!(FORMS.map(reads), [false, true, true, true, true, true, true, true, true, true, false]);
    let file = &whole;
    let refused: [&dyn Fn(&mut Value); 6] = [
        &|json| json["model"]["dropout"] = json!(0.5),
        &|json| json["model"]["ignore_merges"] = json!(true),
        &|json| json["model"]["end_of_word_suffix"] = json!("</w>"),
        &|json| json["added_tokens"][0]["normalized"] = json!(true),
        &|json| json["normalizer"]["normalizers"][1]["content"] = json!("▁▁"),
        &|json| json["pre_tokenizer"] = json!({"type": "Digits", "individual_digits": true}),
    ];
    for (at, change) in refused.into_iter().enumerate() {
        assert!(load(file, change).pipeline.spaces.is_none(), "{at}");
    }
    assert!(load(&File { unknown: vec![13], merges: vec![], ..whole.clone() }, &|_| ()).pipeline.spaces.is_none());
    // A token that stands for other text than its own takes part in a merge.
    let stand_in = load(file, &|json| {
        json["model"]["vocab"]["<unk>a"] = json!(1000);
        json["model"]["merges"].as_array_mut().expect("a list").push(json!(["<unk>", "a"]));
    });
    assert!(
        stand_in.pipeline.spaces.is_none()
            && stand_in.pipeline.model.bpe().is_some_and(|bpe| bpe.split_points.is_none())
    );
}

/// The tokens of a text whose ranges in `literal`, in UTF-16 units, were written by others.
fn marked(tokenizer: &Tokenizer, text: &str, literal: &[u32]) -> Result<Vec<String>, EncodeError> {
    let literal = Literal::new(literal).expect("the ranges are in order");
    let input = Input { first: Sequence::Marked(text.into(), &literal), second: None };
    let options = EncodeOptions { columns: Columns::TOKENS, add_special_tokens: false, ..EncodeOptions::default() };
    Ok(tokenizer.encode_input(&input, &options)?.take_tokens())
}

#[test]
fn added_tokens_are_only_found_outside_of_literal_ranges() {
    let added = |id: u32, content: &str, special: bool, normalized: bool| {
        json!({ "id": id, "content": content, "special": special, "normalized": normalized, "single_word": false,
            "lstrip": false, "rstrip": false })
    };
    let vocab: serde_json::Map<_, _> =
        "<s>|/é😀A a".chars().zip(0..).map(|(c, id)| (c.to_string(), json!(id))).collect();
    let file = json!({
        "added_tokens": [
            added(20, "<s>", true, false), added(21, "<s>>", true, false), added(22, "</s>", false, false),
            added(23, "  ", false, false), added(24, "a|a", true, true),
        ],
        "normalizer": { "type": "Lowercase" },
        "model": { "type": "BPE", "vocab": vocab, "merges": [] },
    });
    let tokenizer = Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("it loads");
    let tokens = |text: &str, literal: &[u32]| marked(&tokenizer, text, literal).expect("it encodes").join(",");
    assert_eq!(tokens("<s>é<s></s>", &[]), "<s>,é,<s>,</s>");
    // Behind characters of one and two units, special or not, also if it only starts in a range
    assert_eq!(tokens("<s>é😀<s><s>", &[3, 9]), "<s>,é,😀,<,s,>,<s>");
    assert_eq!(tokens("</s><s>", &[0, 1]), "<,/,s,>,<s>");
    assert_eq!(tokens("<s></s>", &[6, 7]), "<s>,<,/,s,>");
    // A shorter token before the range; white space; the normalized text
    assert_eq!(tokens("<s>>", &[3, 4]), "<s>,>");
    assert_eq!(tokens("a  a", &[0, 4]), "a,  ,a");
    assert_eq!(tokens("A|AA|A", &[0, 3]), "a,|,a,a|a");
    assert_eq!(Literal::new(&[2, 1]), None);
    assert_eq!(Literal::new(&[1]), None);
}

#[test]
fn a_model_makes_no_special_token_of_a_literal_range() {
    let file = json!({
        "added_tokens": [{ "id": 1, "content": "<s>", "special": true, "normalized": false, "single_word": false,
            "lstrip": false, "rstrip": false }],
        "normalizer": { "type": "NFKC" },
        "model": { "type": "Unigram", "unk_id": 0,
            "vocab": [["<unk>", 0.0], ["<s>", 0.0], ["<", -2.0], ["s", -2.0], [">", -2.0]] },
    });
    let tokenizer = Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("it loads");
    assert_eq!(marked(&tokenizer, "<s><s>é", &[3, 7]).expect("it encodes"), ["<s>", "<", "s", ">", "é"]);
    let refused = marked(&tokenizer, "<s>＜s＞", &[3, 6]);
    assert_eq!(refused, Err(EncodeError::SpecialToken { token: "<s>".into(), byte: 0 }));
}
