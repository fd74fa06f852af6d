use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use tokenlane_core::{EncodeOptions, Tokenizer};

use super::{ExtendOptions, Extended, Pruned, extend, prune};
use crate::{Base, Progress, TrainError, Trainer, WordCounter, WordCounts};

fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn count(file: &str, texts: &[String]) -> WordCounts {
    let mut counter = WordCounter::new(Arc::new(Base::from_json(file.as_bytes()).expect("the base is valid")));
    counter.add(texts.iter().map(String::as_str)).expect("the texts are short");
    counter.finish(&mut go_on).expect("nothing is read")
}

/// A small tokenizer of a kind, trained on texts.
fn trained(kind: &str, texts: &[String], size: usize) -> String {
    let (model, pre_tokenizer) = match kind {
        "ByteLevel" => {
            ("BPE", json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true }))
        }
        "Unigram" => {
            ("Unigram", json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true }))
        }
        other => (other, json!({ "type": "WhitespaceSplit" })),
    };
    let added = json!([{ "id": 0, "content": "<a>", "single_word": false, "lstrip": false, "rstrip": false,
        "normalized": false, "special": true }]);
    let unknown = if kind == "ByteLevel" { json!(null) } else { json!("<unk>") };
    let post_processor = json!({ "type": "TemplateProcessing", "single": [{ "SpecialToken": { "id": "</s>", "type_id": 0 } },
        { "Sequence": { "id": "A", "type_id": 0 } }], "pair": [{ "Sequence": { "id": "A", "type_id": 0 } }, { "Sequence": { "id": "B", "type_id": 0 } }],
        "special_tokens": { "</s>": { "id": "</s>", "ids": [1], "tokens": ["</s>"] } } });
    let base = json!({ "added_tokens": added, "pre_tokenizer": pre_tokenizer, "post_processor": post_processor,
        "model": { "type": model, "unk_token": unknown, "vocab": {}, "merges": [] } })
    .to_string();
    let special = json!(["<unk>", "</s>"]);
    let mut trainer = json!({ "type": format!("{}Trainer", if model == "BPE" { "Bpe" } else { model }),
        "vocab_size": size, "special_tokens": special });
    if kind == "Unigram" {
        trainer["unk_token"] = json!("<unk>");
    }
    if kind == "BPE" {
        trainer["continuing_subword_prefix"] = json!("#");
    }
    let words = count(&base, texts);
    let base = Base::from_json(base.as_bytes()).expect("the base is valid");
    let trainer: Trainer = serde_json::from_value(trainer).expect("the options are valid");
    trainer.train(&base, words, &mut go_on).expect("the vocabulary is large enough")
}

fn tokens(file: &str) -> BTreeMap<u32, String> {
    let file: Value = serde_json::from_str(file).expect("the file is JSON");
    let id = |id: &Value| id.as_u64().expect("an id") as u32;
    let text = |text: &Value| text.as_str().expect("a token").to_owned();
    let added =
        file["added_tokens"].as_array().into_iter().flatten().map(|token| (id(&token["id"]), text(&token["content"])));
    let listed =
        file["model"]["vocab"].as_array().into_iter().flatten().zip(0..).map(|(piece, id)| (id, text(&piece[0])));
    let mapped =
        file["model"]["vocab"].as_object().into_iter().flatten().map(|(token, number)| (id(number), token.clone()));
    added.chain(listed).chain(mapped).collect()
}

fn encode(file: &str, text: &str) -> Vec<u32> {
    let tokenizer = Tokenizer::from_bytes(file.as_bytes()).expect("the core loads it");
    tokenizer.encode(text.into(), &EncodeOptions::default()).expect("the text is short").ids().to_vec()
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    vec("([a-d]{1,5} |abc|bcd |é |<a>|d\n){1,12}", 2..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn extending_keeps_all_ids_and_adds_tokens_that_are_used(
        old in texts(),
        new in texts(),
        new_tokens in 0_usize..30,
        min_frequency in 0_u64..4,
        kind in select(vec!["ByteLevel", "BPE", "Unigram"]),
    ) {
        let before = trained(kind, &old, 24);
        let words = count(&before, &new);
        let options = ExtendOptions { new_tokens, min_frequency, ..ExtendOptions::default() };
        let Extended { file, new_tokens: added, effect } =
            extend(before.as_bytes(), &words, &options, &mut go_on).expect("the file is valid");
        let (old_tokens, all) = (tokens(&before), tokens(&file));
        prop_assert!(added.len() <= new_tokens);
        prop_assert_eq!(all.len(), old_tokens.len() + added.len());
        prop_assert!(old_tokens.iter().chain(added.iter().map(|(id, token)| (id, token))).all(|(id, token)| all.get(id) == Some(token)));
        prop_assert!(added.iter().all(|(id, _)| old_tokens.keys().all(|old| old < id)));
        prop_assert_eq!(effect.vocabulary, [old_tokens.len(), all.len()]);
        // A character that becomes a token had none: ByteLevel skipped it.
        if kind == "ByteLevel" && added.iter().all(|(_, token)| token.chars().nth(1).is_some()) {
            prop_assert!(effect.tokens[1] <= effect.tokens[0]);
            for text in &new {
                prop_assert!(encode(&file, text).len() <= encode(&before, text).len());
            }
        }
        encode(&file, &new[0]);
    }

    #[test]
    fn pruning_keeps_the_tokens_of_the_corpus(
        old in texts(),
        new in texts(),
        kind in select(vec!["ByteLevel", "BPE", "Unigram", "WordPiece", "WordLevel"]),
    ) {
        let before = trained(kind, &old, 60);
        let words = count(&before, &new);
        let Pruned { file, ids, effect } = prune(before.as_bytes(), &words, &mut go_on).expect("the file is valid");
        let (old_tokens, left) = (tokens(&before), tokens(&file));
        prop_assert_eq!(effect.vocabulary, [old_tokens.len(), left.len()]);
        prop_assert_eq!(ids.iter().map(|&(old, new)| (new, old_tokens[&old].clone())).collect::<BTreeMap<_, _>>(), left);
        prop_assert!(ids.iter().map(|&(_, new)| new).eq(0..ids.len() as u32));
        let new_ids: BTreeMap<u32, u32> = ids.into_iter().collect();
        for text in &new {
            let expected: Vec<u32> = encode(&before, text).iter().map(|id| new_ids[id]).collect();
            prop_assert_eq!(encode(&file, text), expected, "{:?}", text);
        }
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn new_merges_go_on_from_the_merges_of_the_base() {
    let before = trained("ByteLevel", &strings(&["abab abab abab"]), 7);
    let words = count(&before, &strings(&["ababcc", "ababcc", "xabab"]));
    let options = ExtendOptions { new_tokens: 4, ..ExtendOptions::default() };
    let extended = extend(before.as_bytes(), &words, &options, &mut go_on).expect("the file is valid");
    let new: Vec<_> = extended.new_tokens.iter().map(|(_, token)| token.as_str()).collect();
    // First the character that the base lacks, then pairs of tokens of the base.
    assert_eq!(new, ["c", "ababc", "ababcc"], "{}", extended.file);
    assert_eq!(extended.new_tokens[0].0, *tokens(&before).last_key_value().expect("there are tokens").0 + 1);
    assert_eq!(extended.effect.bytes, 17);
}

#[test]
fn a_new_piece_has_a_score_that_the_corpus_gives_it() {
    let before = trained("Unigram", &strings(&["x y z w ab ac ab"]), 12);
    let words = count(&before, &strings(&["xyz xyz xyz xyz xyw ab"]));
    let options = ExtendOptions { new_tokens: 6, ..ExtendOptions::default() };
    let extended = extend(before.as_bytes(), &words, &options, &mut go_on).expect("the file is valid");
    let new: Vec<_> = extended.new_tokens.iter().map(|(_, token)| token.as_str()).collect();
    assert!(new.iter().any(|token| token.contains("xy")), "{new:?}");
    assert!(extended.effect.tokens[1] < extended.effect.tokens[0], "{:?}", extended.effect);
}

#[test]
fn new_pieces_are_as_many_as_asked_for_even_if_characters_are_missing() {
    let before = trained("Unigram", &strings(&["x y z w ab ac ab"]), 12);
    let words = count(&before, &strings(&["klmn klmn opqr opqr"]));
    let options = ExtendOptions { new_tokens: 3, ..ExtendOptions::default() };
    let extended = extend(before.as_bytes(), &words, &options, &mut go_on).expect("the file is valid");
    assert_eq!(extended.new_tokens.len(), 3, "{:?}", extended.new_tokens);
}

#[test]
fn ids_of_post_processor_and_unknown_token_follow() {
    let before = trained("Unigram", &strings(&["ab ac abab zz"]), 12);
    let pruned = prune(before.as_bytes(), &count(&before, &strings(&["ab"])), &mut go_on).expect("the file is valid");
    let file: Value = serde_json::from_str(&pruned.file).expect("the file is JSON");
    let new: BTreeMap<u32, u32> = pruned.ids.iter().copied().collect();
    assert_eq!(file["post_processor"]["special_tokens"]["</s>"]["ids"], json!([new[&1]]));
    assert_eq!(file["model"]["unk_id"], json!(new[&0]));
    assert!(pruned.effect.vocabulary[1] < pruned.effect.vocabulary[0]);
}

#[test]
fn a_token_that_affixes_make_of_other_characters_keeps_all_its_merges() {
    // `#b` is the last character of `#aab`, and what the characters of `#b` merge to.
    let file = json!({ "pre_tokenizer": { "type": "WhitespaceSplit" }, "model": { "type": "BPE",
        "continuing_subword_prefix": "#", "vocab": { "#": 0, "a": 1, "b": 2, "#a": 3, "#b": 4, "#aa": 5 },
        "merges": [["#", "#b"], ["#a", "#a"]] } })
    .to_string();
    let words = count(&file, &strings(&["#aab #b"]));
    let pruned = prune(file.as_bytes(), &words, &mut go_on).expect("the words keep their tokens");
    assert_eq!(encode(&pruned.file, "#b").len(), 1);
}

#[test]
fn other_models_no_words_and_bad_files_are_errors() {
    let words = WordCounts::new(vec![("ab".into(), 3)]);
    let error = |file: &str, words: &WordCounts| {
        extend(file.as_bytes(), words, &ExtendOptions::default(), &mut go_on).expect_err("this is no base").code()
    };
    let wordpiece = trained("WordPiece", &strings(&["ab cd"]), 30);
    assert_eq!(error(&wordpiece, &words), "ERR_TOKENLANE_UNSUPPORTED");
    assert_eq!(error(&wordpiece, &WordCounts::default()), "ERR_TOKENLANE_TRAIN_NO_WORDS");
    assert_eq!(error("{}", &words), "ERR_TOKENLANE_TRAIN_BASE");
    let no_pair = json!({ "model": { "type": "BPE", "vocab": { "a": 0 }, "merges": ["a"] } }).to_string();
    assert_eq!(error(&no_pair, &words), "ERR_TOKENLANE_TRAIN_BASE");
    let too_many = ExtendOptions { new_tokens: usize::MAX / 2, ..ExtendOptions::default() };
    let bpe = trained("ByteLevel", &strings(&["ab cd"]), 30);
    let error = extend(bpe.as_bytes(), &words, &too_many, &mut go_on).expect_err("ids have 32 bits");
    assert_eq!(error.code(), "ERR_TOKENLANE_TRAIN_OPTION");
    let stopped = prune(bpe.as_bytes(), &words, &mut |_| ControlFlow::Break(()));
    assert_eq!(stopped, Err(TrainError::Stopped));
}
