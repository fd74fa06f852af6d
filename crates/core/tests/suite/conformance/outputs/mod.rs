//! Records with more than one plain text: pairs, words, truncation and padded batches.

mod cases;

use std::collections::HashMap;

use serde_json::Value;
use tokenlane_core::batch::{self, Batch, PendingBatch, RunOptions};
use tokenlane_core::{
    Columns, Direction, EncodeOptions, Encoding, Input, NO_ID, OffsetUnit, PadTo, Padding, Sequence, Setting, Text,
    Tokenizer, Truncation, TruncationStrategy,
};

use super::{array, boundaries, ids, number, numbers, string};

const UNITS: [OffsetUnit; 3] = [OffsetUnit::CodePoint, OffsetUnit::Byte, OffsetUnit::Utf16];

/// The texts of a record, which its field `c` names.
pub fn texts_of<'a>(record: &Value, texts: &'a HashMap<String, String>) -> Vec<&'a str> {
    let names: Vec<&Value> = record["c"].as_array().map_or_else(|| vec![&record["c"]], |list| list.iter().collect());
    names.into_iter().map(|name| texts[string(name)].as_str()).collect()
}

/// Compares a pair or a single text, possibly truncated.
pub fn judge_texts(tokenizer: &Tokenizer, texts: &[&str], options: &EncodeOptions, record: &Value) {
    let second = texts.get(1).map(|&text| Sequence::from(text));
    let input = Input { first: texts[0].into(), second };
    let options = EncodeOptions { truncation: truncation(&record["tr"]), overflow: true, ..options.clone() };
    let context = format!("{texts:?} {}", record["tr"]);
    // Without a post-processor, the reference does not record which text of a pair the tokens of
    // overflowing parts belong to.
    let is_unrecorded = |want: &Value| !std::ptr::eq(want, record) && !string(&want["sq"]).contains('1');
    let text_of = |want: &Value, token: usize| match sequence_of(want, token) {
        _ if is_unrecorded(want) => texts.to_vec(),
        None => vec![],
        Some(sequence) => vec![texts[sequence]],
    };
    judge_input(tokenizer, &input, &options, record, &context, text_of);
}

/// Compares a truncation that is an error in the reference.
pub fn judge_refusal(tokenizer: &Tokenizer, texts: &[&str], options: &EncodeOptions, record: &Value) {
    let second = texts.get(1).map(|&text| Sequence::from(text));
    let input = Input { first: texts[0].into(), second };
    let options = EncodeOptions { truncation: truncation(&record["tr"]), ..options.clone() };
    let error = tokenizer.encode_input(&input, &options).expect_err("the reference refuses this");
    assert!(error.code().starts_with("ERR_TOKENLANE_TRUNCATION"), "{error}");
}

/// Compares a text that is given as words.
pub fn judge_words(tokenizer: &Tokenizer, options: &EncodeOptions, record: &Value) {
    let words: Vec<&str> = array(&record["words"]).iter().map(string).collect();
    let texts: Vec<Text<'_>> = words.iter().map(|&word| Text::Utf8(word)).collect();
    let input = Input::from(&texts[..]);
    let word_ids: Vec<i64> = array(&record["wid"]).iter().map(|id| id.as_i64().expect("a number")).collect();
    let context = format!("{words:?}");
    let text_of =
        |_: &Value, token: usize| usize::try_from(word_ids[token]).ok().map(|word| words[word]).into_iter().collect();
    judge_input(tokenizer, &input, options, record, &context, text_of);
    let options = EncodeOptions { columns: Columns::WORD_IDS, ..options.clone() };
    let encoding = tokenizer.encode_input(&input, &options).expect("valid words");
    let got = encoding.word_ids().iter().map(|&id| if id == NO_ID { -1 } else { i64::from(id) });
    assert!(got.eq(word_ids), "word ids of {words:?}");
}

fn judge_input<'a>(
    tokenizer: &Tokenizer,
    input: &Input<'_>,
    options: &EncodeOptions,
    record: &Value,
    context: &str,
    text_of: impl Fn(&Value, usize) -> Vec<&'a str>,
) {
    let ids_only = tokenizer.encode_input(input, options).expect("valid texts");
    assert_eq!(ids_only.ids(), ids(&record["ids"]), "ids of {context}");
    for unit in UNITS {
        let options = EncodeOptions { columns: Columns::ALL, offset_unit: unit, ..options.clone() };
        let encoding = tokenizer.encode_input(input, &options).expect("valid texts");
        judge_row(Row::of(&encoding), record, unit, context, |token| text_of(record, token));
        let Some(overflowing) = record["ov"].as_array() else { continue };
        assert_eq!(encoding.overflowing().len(), overflowing.len(), "overflow of {context}");
        for (part, want) in encoding.overflowing().iter().zip(overflowing) {
            judge_row(Row::of(part), want, unit, &format!("overflow of {context}"), |token| text_of(want, token));
        }
        judge_as_batch(tokenizer, input, &options, &encoding);
    }
}

/// Compares a batch, in which overflowing parts are rows of their own, with the parts of the
/// encoding.
fn judge_as_batch(tokenizer: &Tokenizer, input: &Input<'_>, options: &EncodeOptions, encoding: &Encoding) {
    let inputs = [*input, *input];
    let batch = batch::encode_rows(tokenizer, &inputs, options, &RunOptions::default())
        .and_then(PendingBatch::gather)
        .expect("valid texts");
    let rows: Vec<Row<'_>> = (0..batch.len()).map(|row| Row::of_batch(&batch, row)).collect();
    let one: Vec<Row<'_>> = std::iter::once(encoding).chain(encoding.overflowing()).map(Row::of).collect();
    assert_eq!(rows, [one.clone(), one.clone()].concat());
    if let Some(texts) = batch.row_texts() {
        let expected = [vec![0; one.len()], vec![1; one.len()]].concat();
        assert_eq!(texts, expected);
    }
}

/// Compares a padded batch.
pub fn judge_padded(tokenizer: &Tokenizer, texts: &[&str], options: &EncodeOptions, record: &Value) {
    let rows: Vec<Text<'_>> = texts.iter().map(|&text| Text::Utf8(text)).collect();
    for unit in UNITS {
        let options = EncodeOptions {
            truncation: truncation(&record["tr"]),
            padding: Setting::On(padding(&record["pad"])),
            columns: Columns::ALL,
            offset_unit: unit,
            ..options.clone()
        };
        let batch = batch::encode_rows(tokenizer, &rows, &options, &RunOptions::default())
            .and_then(PendingBatch::gather)
            .expect("valid texts");
        assert_eq!(batch.len(), texts.len());
        for (row, want) in array(&record["rows"]).iter().enumerate() {
            let text_of = |token| sequence_of(want, token).map(|_| texts[row]).into_iter().collect();
            judge_row(Row::of_batch(&batch, row), want, unit, &format!("{texts:?} {}", record["pad"]), text_of);
        }
        let ids_only = EncodeOptions { columns: Columns::NONE, ..options };
        let same = batch::encode_rows(tokenizer, &rows, &ids_only, &RunOptions::default())
            .and_then(PendingBatch::gather)
            .expect("valid texts");
        assert_eq!((same.ids(), same.row_offsets()), (batch.ids(), batch.row_offsets()));
    }
}

/// A row of a batch or of an encoding, for comparison.
#[derive(Debug, Clone, PartialEq)]
struct Row<'a> {
    ids: &'a [u32],
    offsets: &'a [[u32; 2]],
    tokens: &'a [String],
    special_tokens_mask: &'a [u8],
    type_ids: &'a [u32],
    attention_mask: &'a [u8],
    word_ids: &'a [u32],
    sequence_ids: &'a [u32],
}

/// A macro, because an encoding and the columns of a batch have methods of the same names.
macro_rules! cut_row {
    ($ids:expr, $columns:expr, $range:expr) => {{
        let (columns, range) = ($columns, $range);
        Row {
            ids: $ids,
            offsets: &columns.offsets()[range.clone()],
            tokens: &columns.tokens()[range.clone()],
            special_tokens_mask: &columns.special_tokens_mask()[range.clone()],
            type_ids: &columns.type_ids()[range.clone()],
            attention_mask: &columns.attention_mask()[range.clone()],
            word_ids: &columns.word_ids()[range.clone()],
            sequence_ids: &columns.sequence_ids()[range],
        }
    }};
}

impl<'a> Row<'a> {
    fn of(encoding: &'a Encoding) -> Self {
        cut_row!(encoding.ids(), encoding, 0..encoding.len())
    }

    fn of_batch(batch: &'a Batch, row: usize) -> Self {
        let ends = batch.row_offsets();
        cut_row!(batch.row(row), batch.columns(), ends[row] as usize..ends[row + 1] as usize)
    }
}

fn judge_row<'a>(row: Row<'_>, want: &Value, unit: OffsetUnit, context: &str, text_of: impl Fn(usize) -> Vec<&'a str>) {
    assert_eq!(row.ids, ids(&want["ids"]), "ids of {context}");
    let mut places = HashMap::new();
    let mut code_points =
        |text: &'a str, at: &u32| places.entry(text).or_insert_with(|| boundaries(text, unit)).get(at).copied();
    let offsets: Vec<u32> = numbers(&want["o"]).collect();
    assert_eq!(row.offsets.len() * 2, offsets.len(), "number of offsets of {context}");
    for (index, (at, want)) in row.offsets.iter().flatten().zip(offsets).enumerate() {
        let texts = text_of(index / 2);
        let is_same = texts.iter().any(|text| code_points(text, at) == Some(want)) || texts.is_empty() && *at == want;
        assert!(is_same, "offset {index} of {context} in {unit:?}: {at}, but {want} code points in {texts:?}");
    }
    assert_eq!(row.tokens, array(&want["t"]).iter().map(string).collect::<Vec<_>>(), "tokens of {context}");
    let digits = |name: &str, got: Vec<u32>| {
        let Some(want) = want[name].as_str() else { return };
        let got: String = got.iter().map(|id| if *id == NO_ID { "-".into() } else { id.to_string() }).collect();
        assert_eq!(got, want, "{name} of {context}");
    };
    let widen = |mask: &[u8]| mask.iter().map(|&bit| u32::from(bit)).collect();
    digits("m", widen(row.special_tokens_mask));
    digits("ty", row.type_ids.to_vec());
    digits("am", widen(row.attention_mask));
    digits("sq", row.sequence_ids.to_vec());
}

fn sequence_of(want: &Value, token: usize) -> Option<usize> {
    match string(&want["sq"]).as_bytes()[token] {
        b'-' => None,
        digit => Some(usize::from(digit - b'0')),
    }
}

fn truncation(record: &Value) -> Setting<Truncation> {
    if record.is_null() {
        return Setting::FileDefault;
    }
    Setting::On(Truncation {
        max_length: number(&record["max"]) as usize,
        stride: number(&record["stride"]) as usize,
        strategy: match record["strat"].as_str() {
            None | Some("longest_first") => TruncationStrategy::LongestFirst,
            Some("only_first") => TruncationStrategy::OnlyFirst,
            Some(_) => TruncationStrategy::OnlySecond,
        },
        direction: direction(&record["dir"]),
    })
}

fn padding(record: &Value) -> Padding {
    Padding {
        to: record["len"].as_u64().map_or(PadTo::Longest, |length| PadTo::Length(length as usize)),
        multiple_of: record["mult"].as_u64().unwrap_or(0) as usize,
        direction: direction(&record["dir"]),
        id: number(&record["id"]),
        type_id: number(&record["type"]),
        token: string(&record["tok"]).to_owned(),
    }
}

fn direction(record: &Value) -> Direction {
    if record == "left" { Direction::Left } else { Direction::Right }
}
