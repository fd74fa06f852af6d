//! Compares texts whose spaces are not replaced, encoded in pieces, with the full pipeline of
//! normalizer and pre-tokenizer on the whole text.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fuzzing::split_points::{CHARACTERS, FORMS, File, SpaceForm, check};
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
