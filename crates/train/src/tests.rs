//! From texts to a tokenizer that the core loads.

use std::ops::ControlFlow;
use std::sync::Arc;

use serde_json::{Value, json};
use tokenlane_core::{EncodeOptions, Tokenizer};

use crate::{Base, Phase, TrainError, Trainer, WordCounter, WordCounts};

const TEXTS: [&str; 3] = ["the thin thing\n", "then the other\n", "é the <s> the\n"];

fn base(pre_tokenizer: &Value, added_tokens: &Value) -> Arc<Base> {
    let file = json!({
        "added_tokens": added_tokens,
        "pre_tokenizer": pre_tokenizer,
        "model": { "type": "BPE", "unk_token": null, "fuse_unk": true, "vocab": {}, "merges": [] },
    });
    Arc::new(Base::from_json(file.to_string().as_bytes()).expect("the base is valid"))
}

fn finish(counter: WordCounter) -> WordCounts {
    counter.finish(&mut |_| ControlFlow::Continue(())).expect("nothing is read")
}

fn words(base: &Arc<Base>) -> Vec<(String, u64)> {
    let mut counter = WordCounter::new(Arc::clone(base));
    counter.add(TEXTS).expect("the texts are short");
    finish(counter).iter().map(|(word, count)| (word.to_owned(), count)).collect()
}

fn train(base: &Arc<Base>, trainer: &Value) -> Value {
    let trainer: Trainer = serde_json::from_value(trainer.clone()).expect("the options are valid");
    let mut counter = WordCounter::new(Arc::clone(base));
    counter.add(TEXTS).expect("the texts are short");
    let file = trainer.train(base, finish(counter), &mut |_| ControlFlow::Continue(())).expect("the words are few");
    let tokenizer = Tokenizer::from_bytes(file.as_bytes()).expect("the core loads what was trained");
    tokenizer.encode("the".into(), &EncodeOptions::default()).expect("the text is short");
    serde_json::from_str(&file).expect("the file is JSON")
}

#[test]
fn counts_are_sorted_and_hold_added_tokens_of_the_base() {
    let added = json!([{ "id": 7, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
        "normalized": false, "special": true }]);
    let found = words(&base(&json!({ "type": "WhitespaceSplit" }), &added));
    let expected = [("<s>", 1), ("other", 1), ("the", 4), ("then", 1), ("thin", 1), ("thing", 1), ("é", 1)];
    assert_eq!(found, expected.map(|(word, count)| (word.to_owned(), count)));
}

#[test]
fn words_of_byte_level_are_its_printable_characters() {
    let byte_level = json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true });
    let found = words(&base(&byte_level, &json!([])));
    assert!(found.contains(&("Ċ".to_owned(), 3)), "{found:?}");
    assert!(found.contains(&("Ġthe".to_owned(), 3)), "{found:?}");
    assert!(found.contains(&("Ã©".to_owned(), 1)), "{found:?}");
}

#[test]
fn a_bpe_keeps_the_fields_of_the_base_and_numbers_special_tokens() {
    let base = base(&json!({ "type": "WhitespaceSplit" }), &json!([]));
    let options = json!({ "type": "BpeTrainer", "vocab_size": 20, "special_tokens": ["<pad>", "the"] });
    let file = train(&base, &options);
    assert_eq!(file["model"]["fuse_unk"], true);
    assert_eq!(file["model"]["merges"][0], json!(["t", "h"]));
    let special: Vec<_> = file["added_tokens"].as_array().into_iter().flatten().collect();
    assert_eq!(special.len(), 2);
    assert_eq!((&special[1]["id"], &special[1]["content"]), (&json!(1), &json!("the")));
}

#[test]
fn of_added_tokens_with_equal_content_the_last_one_counts() {
    let token = |content: &str, lstrip: bool| {
        json!({ "id": 7, "content": content, "single_word": false, "lstrip": lstrip, "rstrip": false,
            "normalized": false, "special": true })
    };
    let added = json!([token("<s>", true), token("<b>", false)]);
    let base = base(&json!({ "type": "WhitespaceSplit" }), &added);
    let special = json!([{ "content": "<s>", "rstrip": true }, "<e>", { "content": "<s>", "single_word": true }]);
    let file = train(&base, &json!({ "type": "BpeTrainer", "vocab_size": 30, "special_tokens": special }));
    let tokens: Vec<_> = file["added_tokens"].as_array().into_iter().flatten().collect();
    let shown: Vec<_> = tokens.iter().map(|token| (&token["content"], &token["single_word"])).collect();
    let (yes, no) = (json!(true), json!(false));
    assert_eq!(shown, [(&json!("<s>"), &yes), (&json!("<e>"), &no), (&json!("<b>"), &no)]);
    assert_eq!((&tokens[0]["lstrip"], &tokens[0]["rstrip"]), (&json!(false), &json!(false)));
}

#[test]
fn wordlevel_sorts_by_count_then_word_and_a_special_word_takes_the_later_id() {
    let base = base(&json!({ "type": "WhitespaceSplit" }), &json!([]));
    let options = json!({ "type": "WordLevelTrainer", "vocab_size": 5, "special_tokens": ["<unk>", "the"] });
    let file = train(&base, &options);
    assert_eq!(file["model"]["vocab"], json!({ "<unk>": 0, "the": 2, "<s>": 3, "other": 4 }));
    assert_eq!(file["added_tokens"][1]["id"], 2);
}

#[test]
fn wordpiece_continues_words_with_its_prefix() {
    let base = base(&json!({ "type": "WhitespaceSplit" }), &json!([]));
    let options = json!({ "type": "WordPieceTrainer", "vocab_size": 60, "special_tokens": ["[UNK]"] });
    let file = train(&base, &options);
    assert_eq!(file["model"]["continuing_subword_prefix"], "##");
    assert!(file["model"]["vocab"]["##e"].is_u64());
    assert!(file["model"]["vocab"]["the"].is_u64());
}

#[test]
fn bad_bases_and_options_are_errors() {
    let error = Base::from_json(b"{").expect_err("this is no JSON");
    assert_eq!(error.code(), "ERR_TOKENLANE_TRAIN_BASE");
    let unknown = json!({ "pre_tokenizer": { "type": "Unknown" }, "model": {} }).to_string();
    assert!(Base::from_json(unknown.as_bytes()).is_err());
    let misspelt = json!({ "type": "BpeTrainer", "vocabSize": 9 });
    assert!(serde_json::from_value::<Trainer>(misspelt).is_err());
}

#[test]
fn a_unigram_has_its_unknown_token_and_is_loaded() {
    let metaspace = json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true });
    let base = base(&metaspace, &json!([]));
    let options =
        json!({ "type": "UnigramTrainer", "vocab_size": 30, "special_tokens": ["<unk>"], "unk_token": "<unk>" });
    let file = train(&base, &options);
    assert_eq!((&file["model"]["type"], &file["model"]["unk_id"]), (&json!("Unigram"), &json!(0)));
    assert_eq!(file["model"]["vocab"][0], json!(["<unk>", 0.0]));
    assert_eq!(file["added_tokens"][0]["id"], 0);
}

#[test]
fn merged_counters_have_the_counts_of_one() {
    let base = base(&json!({ "type": "WhitespaceSplit" }), &json!([]));
    let counter = |texts: &[&str]| {
        let mut counter = WordCounter::new(Arc::clone(&base));
        counter.add(texts.iter().copied()).expect("the texts are short");
        counter
    };
    let mut merged = counter(&TEXTS[..1]);
    merged.merge(counter(&TEXTS[1..])).expect("nothing is written");
    merged.merge(counter(&[])).expect("nothing is written");
    assert_eq!(finish(merged), finish(counter(&TEXTS)));
}

#[test]
fn each_trainer_reports_its_phases_and_can_be_stopped_at_any_report() {
    let base = base(&json!({ "type": "WhitespaceSplit" }), &json!([]));
    let mut counter = WordCounter::new(Arc::clone(&base));
    counter.add(["the then nether ether tree three teeth thereto tenth"]).expect("the text is short");
    let words = finish(counter);
    let merging = vec![Phase::Words, Phase::Pairs, Phase::Merges];
    let unigram = vec![Phase::Words, Phase::Seeds, Phase::Estimate, Phase::Prune];
    let trainers =
        [("Bpe", &merging), ("WordPiece", &merging), ("WordLevel", &vec![Phase::Words]), ("Unigram", &unigram)];
    for (name, phases) in trainers {
        let trainer: Trainer = serde_json::from_value(json!({ "type": format!("{name}Trainer"), "vocab_size": 7 }))
            .expect("the options are valid");
        let mut seen = Vec::new();
        let mut reports = 0;
        let finished = trainer.train(&base, words.clone(), &mut |progress| {
            reports += 1;
            assert!(progress.done <= progress.total, "{progress:?}");
            if !seen.contains(&progress.phase) {
                seen.push(progress.phase);
            }
            ControlFlow::Continue(())
        });
        assert!(finished.is_ok());
        assert_eq!(&seen, phases, "{name}");
        for stop in 1..=reports {
            let mut report = 0;
            let stopped = trainer.train(&base, words.clone(), &mut |_| {
                report += 1;
                if report == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            assert_eq!((stopped, report), (Err(TrainError::Stopped), stop));
        }
    }
}

#[test]
fn trainers_without_options_have_those_of_the_reference() {
    let same = |kind: &str, options: Value| {
        let default = Trainer::from_json(&format!(r#"{{"type":"{kind}"}}"#)).expect("all options have a default");
        assert_eq!(default, serde_json::from_value(options).expect("the options are valid"));
    };
    // The state of the trainers of tokenizers 0.23.3. The prefix of WordPiece is its trainer's.
    for kind in ["BpeTrainer", "WordPieceTrainer"] {
        same(
            kind,
            json!({ "type": kind, "vocab_size": 30_000, "min_frequency": 0, "special_tokens": [], "limit_alphabet": null,
                "initial_alphabet": [], "continuing_subword_prefix": null, "end_of_word_suffix": null,
                "max_token_length": null }),
        );
    }
    same(
        "WordLevelTrainer",
        json!({ "type": "WordLevelTrainer", "vocab_size": 30_000, "min_frequency": 0, "special_tokens": [] }),
    );
    same(
        "UnigramTrainer",
        json!({ "type": "UnigramTrainer", "vocab_size": 8_000, "n_sub_iterations": 2, "shrinking_factor": 0.75,
            "special_tokens": [], "initial_alphabet": [], "unk_token": null, "max_piece_length": 16,
            "seed_size": 1_000_000 }),
    );
}
