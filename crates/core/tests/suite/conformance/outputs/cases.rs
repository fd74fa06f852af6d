//! All kinds of post-processors with truncation and padding, from `testdata/outputs.jsonl.gz`.

use serde_json::{Value, json};
use tokenlane_core::{Columns, EncodeOptions, Encoding, Input, NO_ID, OffsetUnit, PadTo, Sequence, Text, Tokenizer};
use tokenlane_core::{Padding, Setting, Truncation, TruncationStrategy};

use super::direction;
use crate::conformance::{array, json_lines, number, string};

#[test]
fn every_post_processor_with_truncation_and_padding() {
    let mut records = json_lines("outputs.jsonl.gz");
    let head = records.next().expect("the first line");
    let tokenizers: Vec<Tokenizer> = array(&head["post_processors"])
        .iter()
        .map(|post_processor| {
            let mut file = head["tokenizer"].clone();
            file["post_processor"] = post_processor.clone();
            Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file loads")
        })
        .collect();
    let mut judged = 0;
    for record in records {
        let name = format!("{} {record}", head["post_processors"][number(&record["pp"]) as usize]);
        judge(&tokenizers[number(&record["pp"]) as usize], &record, &name);
        judged += 1;
    }
    assert!(judged > 800);
}

fn judge(tokenizer: &Tokenizer, record: &Value, name: &str) {
    let words: Vec<Vec<Text<'_>>> = array(&record["input"]).iter().map(texts).collect();
    let sequence = |i: usize| match &record["input"][i] {
        Value::Null => None,
        Value::Array(_) => Some(Sequence::Words(&words[i])),
        text => Some(Sequence::from(string(text))),
    };
    let input = Input { first: sequence(0).expect("there is a first text"), second: sequence(1) };
    let added = record["a"] == 1;
    let options = EncodeOptions {
        add_special_tokens: added,
        truncation: truncation(&record["truncation"]),
        padding: padding(&record["padding"]),
        columns: Columns::ALL,
        offset_unit: OffsetUnit::CodePoint,
        overflow: true,
        ..EncodeOptions::default()
    };
    let result = tokenizer.encode_input(&input, &options);
    if let Some(reason) = record["err"].as_str() {
        // For this error, the reference counts special tokens even if none are added.
        if added || !reason.starts_with("tokenizer stride") {
            let code = result.expect_err(name).code();
            assert!(code.starts_with("ERR_TOKENLANE_T"), "{code} for {name}");
        }
        return;
    }
    let encoding = result.unwrap_or_else(|error| panic!("{error}: {name}"));
    assert_eq!(columns(&encoding), part(record), "{name}");
    let overflow: Vec<Value> = encoding.overflowing().iter().map(columns).collect();
    assert_eq!(overflow, array(&record["ov"]).iter().map(part).collect::<Vec<_>>(), "overflow of {name}");
    for (one, wanted) in encoding.overflowing().iter().zip(array(&record["ov"])) {
        judge_own_overflow(one, wanted, encoding.overflowing(), name);
    }
    if let Some(sequences) = record["questions"].get("n") {
        // `lib/encoding.js` answers the others.
        assert_eq!(&json!(encoding.sequence_ranges().len().max(1)), sequences, "sequences of {name}");
    }
}

/// The own overflow of a part is given as indices of the list of all parts; the reference repeats
/// the parts.
fn judge_own_overflow(one: &Encoding, wanted: &Value, all: &[Encoding], name: &str) {
    let own: Vec<&Encoding> = one.own_overflow().iter().map(|&place| &all[place as usize]).collect();
    let wanted: Vec<Value> = wanted["ov"].as_array().cloned().unwrap_or_default();
    assert_eq!(own.len(), wanted.len(), "parts of a part of {name}");
    for (one, wanted) in own.into_iter().zip(&wanted) {
        assert_eq!(columns(one), part(wanted), "a part of a part of {name}");
        judge_own_overflow(one, wanted, all, name);
    }
}

fn texts(words: &Value) -> Vec<Text<'_>> {
    words.as_array().into_iter().flatten().map(|word| Text::Utf8(string(word))).collect()
}

fn columns(encoding: &Encoding) -> Value {
    let numbers =
        |ids: &[u32]| -> Vec<i64> { ids.iter().map(|&id| if id == NO_ID { -1 } else { i64::from(id) }).collect() };
    json!({
        "ids": encoding.ids(), "o": encoding.offsets(), "t": encoding.tokens(), "m": encoding.special_tokens_mask(),
        "ty": encoding.type_ids(), "am": encoding.attention_mask(), "w": numbers(encoding.word_ids()),
        "sq": numbers(encoding.sequence_ids()),
    })
}

fn part(record: &Value) -> Value {
    let names = ["ids", "o", "t", "m", "ty", "am", "w", "sq"];
    names.into_iter().map(|name| (name.to_owned(), record[name].clone())).collect()
}

fn truncation(record: &Value) -> Setting<Truncation> {
    if record.is_null() {
        return Setting::FileDefault;
    }
    Setting::On(Truncation {
        max_length: number(&record["max_length"]) as usize,
        stride: number(&record["stride"]) as usize,
        strategy: match string(&record["strategy"]) {
            "longest_first" => TruncationStrategy::LongestFirst,
            "only_first" => TruncationStrategy::OnlyFirst,
            _ => TruncationStrategy::OnlySecond,
        },
        direction: direction(&record["direction"]),
    })
}

fn padding(record: &Value) -> Setting<Padding> {
    if record.is_null() {
        return Setting::FileDefault;
    }
    Setting::On(Padding {
        to: record["length"].as_u64().map_or(PadTo::Longest, |length| PadTo::Length(length as usize)),
        multiple_of: record["pad_to_multiple_of"].as_u64().unwrap_or(0) as usize,
        direction: direction(&record["direction"]),
        id: number(&record["pad_id"]),
        type_id: record["pad_type_id"].as_u64().unwrap_or(0) as u32,
        token: string(&record["pad_token"]).to_owned(),
    })
}
