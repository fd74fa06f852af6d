//! Truncation and padding: settings of the file and of the call, errors, and batches compared with
//! single texts.

use serde_json::{Value, json};
use tokenlane_core::batch::{self, Batch, BatchError, PendingBatch, RunOptions};
use tokenlane_core::{
    Columns, Direction, EncodeOptions, Encoding, Input, LoadError, PadTo, Padding, Setting, Text, Tokenizer, Truncation,
};

fn file() -> Value {
    let special = |id: &str| json!({"SpecialToken": {"id": id, "type_id": 0}});
    let text = |id: &str| json!({"Sequence": {"id": id, "type_id": 0}});
    json!({
        "version": "1.0", "added_tokens": [],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [special("X"), text("A")],
            "pair": [special("X"), text("A"), special("X"), text("B")],
            "special_tokens": {"X": {"id": "X", "ids": [0], "tokens": ["X"]}},
        },
        "model": {"type": "BPE", "vocab": {"X": 0, "a": 1, "b": 2, "Ġ": 3, "Ġa": 4, "Ġb": 5}, "merges": ["Ġ a", "Ġ b"]},
    })
}

fn load(file: &Value) -> Result<Tokenizer, LoadError> {
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes())
}

fn ids(tokenizer: &Tokenizer, text: &str, options: &EncodeOptions) -> Vec<u32> {
    let ids = tokenizer.encode(text.into(), options).expect("a text").into_ids();
    let mut appended = vec![];
    tokenizer.encode_ids(text.into(), options, &mut appended).expect("a text");
    assert_eq!(appended, ids);
    ids
}

#[test]
fn settings_of_the_file_are_the_defaults_of_a_call() {
    let mut file = file();
    file["truncation"] = json!({"max_length": 3, "stride": 1, "strategy": "LongestFirst", "direction": "Right"});
    file["padding"] = json!({
        "strategy": {"Fixed": 4}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 9, "pad_type_id": 0,
        "pad_token": "p",
    });
    let tokenizer = load(&file).expect("the file loads");
    let default = EncodeOptions::default();
    let off = EncodeOptions { truncation: Setting::Off, padding: Setting::Off, ..default.clone() };
    let other = EncodeOptions { truncation: Setting::On(Truncation::new(2)), ..off.clone() };
    assert_eq!(ids(&tokenizer, "a b a", &default), [0, 1, 5, 9]);
    assert_eq!(ids(&tokenizer, "a b a", &off), [0, 1, 5, 4]);
    assert_eq!(ids(&tokenizer, "a b a", &other), [0, 1]);
    assert_eq!(tokenizer.count("a b a".into(), &default), Ok(4), "a count is of the whole text");
    let rows = [Text::Utf8("a b a"), Text::Utf8("a")];
    let batch = batch::encode_batch(&tokenizer, &rows, &default, &RunOptions::default()).expect("valid texts");
    assert_eq!((batch.row(0), batch.row(1), batch.row_texts()), (&[0, 1, 5, 9][..], &[0, 1, 9, 9][..], None));
    assert_eq!(batch::count_batch(&tokenizer, &rows, &default, &RunOptions::default()), Ok(vec![4, 2]));
}

#[test]
fn a_template_that_names_an_unknown_token_does_not_load() {
    let mut file = file();
    file["post_processor"]["pair"][2]["SpecialToken"]["id"] = json!("Y");
    let error = load(&file).expect_err("Y is not listed");
    assert_eq!(error.code(), "ERR_TOKENLANE_TEMPLATE");
    let path = "post_processor.pair[2].SpecialToken";
    assert_eq!(error, LoadError::UnknownTemplateToken { path: path.into(), token: "Y".into() });
}

#[test]
fn a_template_for_one_text_with_a_place_for_two_is_an_error_of_the_call() {
    let mut file = file();
    file["post_processor"]["single"][1]["Sequence"]["id"] = json!("B");
    let tokenizer = load(&file).expect("it can encode pairs");
    let options = EncodeOptions::default();
    assert_eq!(tokenizer.encode("a".into(), &options).expect_err("no B").code(), "ERR_TOKENLANE_TEMPLATE");
    assert_eq!(tokenizer.encode_pair("a", "b", &options).expect("a pair").ids(), [0, 1, 0, 2]);
}

#[test]
fn lengths_that_exceed_memory_are_refused() {
    let tokenizer = load(&file()).expect("the file loads");
    let with = |padding: Padding| EncodeOptions { padding: Setting::On(padding), ..EncodeOptions::default() };
    for length in [usize::MAX, usize::MAX - 7, 1 << 40, (1 << 28) + 1] {
        let options = with(Padding { to: PadTo::Length(length), multiple_of: 4, ..Padding::default() });
        let error = tokenizer.encode("a".into(), &options).expect_err("too long");
        assert_eq!(error.code(), "ERR_TOKENLANE_PADDING_TOO_LONG");
        let batch = batch::encode_batch(&tokenizer, &[Text::Utf8("a")], &options, &RunOptions::default());
        assert_eq!(batch.expect_err("too long").code(), "ERR_TOKENLANE_PADDING_TOO_LONG");
    }
    let rows = vec![Text::Utf8("a"); 1 << 10];
    let options = with(Padding { to: PadTo::Length(1 << 23), ..Padding::default() });
    let error = batch::encode_batch(&tokenizer, &rows, &options, &RunOptions::default()).expect_err("8 billion ids");
    assert_eq!(error.code(), "ERR_TOKENLANE_BATCH_TOO_LARGE");

    let long = "a".repeat(6000);
    let truncation = Setting::On(Truncation::new(4));
    let options = EncodeOptions { truncation, overflow: true, ..EncodeOptions::default() };
    let error = tokenizer.encode_pair(long.as_str(), long.as_str(), &options).expect_err("36 million parts");
    assert_eq!(error.code(), "ERR_TOKENLANE_OUTPUT_LIMIT");
    let only_the_first = EncodeOptions { overflow: false, ..options };
    assert_eq!(
        tokenizer.encode_pair(long.as_str(), long.as_str(), &only_the_first).expect("a pair").ids(),
        [0, 1, 0, 1]
    );
}

/// The rows of a batch as separate slices.
fn row_ids(batch: &Batch) -> Vec<&[u32]> {
    (0..batch.len()).map(|row| batch.row(row)).collect()
}

#[test]
fn a_batch_over_threads_equals_one_input_at_a_time() {
    let tokenizer = load(&file()).expect("the file loads");
    let texts: Vec<String> = (0..400).map(|row: usize| "a b bé a".repeat(row * 37 % 120)).collect();
    let inputs: Vec<Input<'_>> = (0..texts.len())
        .map(|row| match row % 3 {
            0 => Input::from((texts[row].as_str(), texts[(row + 7) % 400].as_str())),
            _ => Input::from(texts[row].as_str()),
        })
        .collect();
    for direction in [Direction::Left, Direction::Right] {
        let options = EncodeOptions {
            truncation: Setting::On(Truncation { stride: 3, direction, ..Truncation::new(60) }),
            overflow: true,
            columns: Columns::ALL,
            ..EncodeOptions::default()
        };
        let one_by_one: Vec<Encoding> =
            inputs.iter().map(|input| tokenizer.encode_input(input, &options).expect("a text")).collect();
        let longest = one_by_one.iter().map(Encoding::len).max().expect("there are some").next_multiple_of(7);
        let padding = Padding { multiple_of: 7, direction, id: 9, type_id: 3, ..Padding::default() };
        let by_length = Padding { to: PadTo::Length(longest), ..padding.clone() };
        let alone = EncodeOptions { padding: Setting::On(by_length), ..options.clone() };
        let padded: Vec<Encoding> =
            inputs.iter().map(|input| tokenizer.encode_input(input, &alone).expect("a text")).collect();
        let expected: Vec<&Encoding> =
            padded.iter().flat_map(|encoding| std::iter::once(encoding).chain(encoding.overflowing())).collect();
        for threads in [1, 3] {
            let run = RunOptions { threads: Some(threads), ..RunOptions::default() };
            let together = EncodeOptions { padding: Setting::On(padding.clone()), ..options.clone() };
            let batch = batch::encode_rows(&tokenizer, &inputs, &together, &run)
                .and_then(PendingBatch::gather)
                .expect("valid texts");
            assert_eq!(row_ids(&batch), expected.iter().map(|row| row.ids()).collect::<Vec<_>>());
            let columns = batch.columns();
            assert!(expected.iter().flat_map(|row| row.sequence_ids()).eq(columns.sequence_ids()));
            assert!(expected.iter().flat_map(|row| row.attention_mask()).eq(columns.attention_mask()));
            assert!(expected.iter().flat_map(|row| row.type_ids()).eq(columns.type_ids()));
            assert!(expected.iter().flat_map(|row| row.word_ids()).eq(columns.word_ids()));
            assert!(expected.iter().flat_map(|row| row.offsets()).eq(columns.offsets()));
            assert!(expected.iter().flat_map(|row| row.tokens()).eq(columns.tokens()));
            let texts: Vec<u32> =
                (0..).zip(&padded).flat_map(|(i, row)| vec![i; row.overflowing().len() + 1]).collect();
            assert_eq!(batch.row_texts(), Some(&texts[..]));
        }
    }
}

#[test]
fn a_row_that_cannot_be_cut_is_the_row_told() {
    let tokenizer = load(&file()).expect("the file loads");
    let truncation = Truncation { stride: 1, ..Truncation::new(2) };
    let options = EncodeOptions { truncation: Setting::On(truncation), ..EncodeOptions::default() };
    let error = batch::encode_batch(&tokenizer, &["a", "a b"].map(Text::Utf8), &options, &RunOptions::default());
    assert!(matches!(&error, Err(BatchError::Encode { index: 1, .. })), "{error:?}");
    assert_eq!(error.expect_err("the stride is too long").code(), "ERR_TOKENLANE_TRUNCATION_STRIDE");
}
