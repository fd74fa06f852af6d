//! Texts read as they stand and cut into pieces, against the whole way through normalizer and pre-tokenizer in one piece.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::encoding::{Columns, OffsetUnit};
use crate::tokenizer::{EncodeOptions, Tokenizer};

/// Letters of one to four bytes, the mark, and what makes classes change.
const CHARACTERS: [char; 14] = ['a', 'b', 'q', '1', '2', '.', '\'', '\n', '\t', 'é', '中', '國', '😀', '▁'];

/// How a file has its spaces written.
#[derive(Debug, Clone, Copy)]
enum Form {
    Nothing,
    Replace,
    PrependThenReplace,
    ReplaceThenPrepend,
    ReplaceThenSplit,
    Metaspace(&'static str, bool),
    Words,
}

const FORMS: [Form; 11] = [
    Form::Nothing,
    Form::Replace,
    Form::PrependThenReplace,
    Form::ReplaceThenPrepend,
    Form::ReplaceThenSplit,
    Form::Metaspace("first", false),
    Form::Metaspace("always", false),
    Form::Metaspace("never", true),
    Form::Metaspace("first", true),
    Form::Metaspace("always", true),
    Form::Words,
];

impl Form {
    fn normalizer(self) -> Value {
        let replace = json!({"type": "Replace", "pattern": {"String": " "}, "content": "▁"});
        let prepend = json!({"type": "Prepend", "prepend": "▁"});
        match self {
            Self::Replace | Self::ReplaceThenSplit => replace,
            Self::PrependThenReplace => json!({"type": "Sequence", "normalizers": [prepend, replace]}),
            Self::ReplaceThenPrepend => json!({"type": "Sequence", "normalizers": [replace, prepend]}),
            Self::Nothing | Self::Metaspace(..) | Self::Words => Value::Null,
        }
    }

    fn pre_tokenizer(self) -> Value {
        match self {
            Self::ReplaceThenSplit => {
                json!({"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": false})
            }
            Self::Metaspace(scheme, split) => {
                json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split})
            }
            Self::Words => json!({"type": "WhitespaceSplit"}),
            _ => Value::Null,
        }
    }
}

#[derive(Debug, Clone)]
struct File {
    form: Form,
    /// Of [`CHARACTERS`], those that are no tokens.
    unknown: Vec<usize>,
    /// Pairs of tokens by number; what comes first is merged first.
    merges: Vec<(usize, usize)>,
    byte_fallback: Option<u8>,
    unk_token: bool,
    fuse_unk: bool,
    added: bool,
}

impl File {
    fn json(&self) -> Value {
        let known = CHARACTERS.iter().enumerate().filter(|(at, _)| !self.unknown.contains(at));
        let mut tokens: Vec<String> = known.map(|(_, c)| c.to_string()).chain(["<unk>".into()]).collect();
        let mut merges: Vec<[String; 2]> = vec![];
        for &(left, right) in &self.merges {
            let [left, right] = [left, right].map(|at| tokens[at % tokens.len()].clone());
            let joined = format!("{left}{right}");
            if !left.contains('<') && !right.contains('<') && joined.len() < 40 {
                if !tokens.contains(&joined) {
                    tokens.push(joined);
                }
                merges.push([left, right]);
            }
        }
        merges.dedup();
        if let Some(few) = self.byte_fallback {
            tokens.extend((0..=255u8).filter(|byte| byte % few != 1).map(|byte| format!("<0x{byte:02X}>")));
        }
        let vocab: serde_json::Map<_, _> =
            tokens.into_iter().enumerate().map(|(id, token)| (token, id.into())).collect();
        let added = json!([{
            "id": vocab.len(), "content": "<a>", "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": false,
        }]);
        json!({
            "version": "1.0",
            "added_tokens": if self.added { added } else { json!([]) },
            "normalizer": self.form.normalizer(),
            "pre_tokenizer": self.form.pre_tokenizer(),
            "model": {
                "type": "BPE", "vocab": vocab, "merges": merges,
                "byte_fallback": self.byte_fallback.is_some(),
                "unk_token": self.unk_token.then_some("<unk>"),
                "fuse_unk": self.fuse_unk,
            },
        })
    }
}

fn file() -> impl Strategy<Value = File> {
    let merges = prop::collection::vec((0usize..60, 0usize..60), 0..40);
    let unknown = prop::collection::vec(0..CHARACTERS.len(), 0..5);
    // Every byte, or all but every third.
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
        let bytes = file.json().to_string();
        let load = || Tokenizer::from_tokenizer_json(bytes.as_bytes()).expect("it loads");
        let (fast, mut slow) = (load(), load());
        slow.spaces = None;
        std::sync::Arc::get_mut(&mut slow.bpe).expect("nobody shares it").joints = None;
        let every = EncodeOptions { columns: Columns::ALL, offset_unit: OffsetUnit::CodePoint, ..EncodeOptions::default() };
        for text in &texts {
            // Twice: the second time from the cache, and each time the ids alone as well.
            for _ in 0..2 {
                let [mut ids, mut expected] = [vec![], vec![]];
                prop_assert_eq!(
                    fast.encode_ids(text.as_str().into(), &EncodeOptions::default(), &mut ids),
                    slow.encode_ids(text.as_str().into(), &EncodeOptions::default(), &mut expected)
                );
                prop_assert_eq!(ids, expected, "{:?}", text);
                prop_assert_eq!(fast.encode(text.as_str().into(), &every), slow.encode(text.as_str().into(), &every));
            }
        }
    }
}

#[test]
fn what_may_be_read_as_it_stands() {
    let whole = File {
        form: Form::PrependThenReplace,
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
    let reads = |form: Form| load(&File { form, ..whole.clone() }, &|_| ()).spaces.is_some();
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
        assert!(load(file, change).spaces.is_none(), "{at}");
    }
    assert!(load(&File { unknown: vec![13], merges: vec![], ..whole.clone() }, &|_| ()).spaces.is_none());
    // A token that stands for what it does not spell takes part in a merge.
    let stand_in = load(file, &|json| {
        json["model"]["vocab"]["<unk>a"] = json!(1000);
        json["model"]["merges"].as_array_mut().expect("a list").push(json!(["<unk>", "a"]));
    });
    assert!(stand_in.spaces.is_none() && stand_in.bpe.joints.is_none());
}
