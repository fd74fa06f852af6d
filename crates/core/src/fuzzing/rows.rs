//! Batches on several threads, compared with single rows.

use std::sync::LazyLock;

use serde_json::json;

use super::draw::Draw;
use crate::batch::{self, BatchError, PendingBatch, RunOptions};
use crate::encoding::{Columns, Encoding, OffsetUnit};
use crate::{EncodeError, EncodeOptions, PadTo, Padding, Setting, Text, Tokenizer, Truncation};

static TOKENIZER: LazyLock<Tokenizer> = LazyLock::new(|| {
    let tokens = ["<s>", "</s>", "a", "b", "é", "中", " ", "ab", "abab", " a", "1"];
    let vocab: serde_json::Map<_, _> =
        tokens.iter().enumerate().map(|(id, &token)| (token.into(), id.into())).collect();
    let special = |id: &str| json!({"SpecialToken": {"id": id, "type_id": 0}});
    let text = json!({"Sequence": {"id": "A", "type_id": 0}});
    let token = |id: u32, content: &str| json!({"id": content, "ids": [id], "tokens": [content]});
    let file = json!({
        "version": "1.0",
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": " ?[^ ]+| +"}, "behavior": "Isolated", "invert": false},
        "model": {
            "type": "BPE", "vocab": vocab, "merges": [["a", "b"], ["ab", "ab"], [" ", "a"]], "unk_token": "<s>",
        },
        "post_processor": {
            "type": "TemplateProcessing", "single": [special("<s>"), text, special("</s>")], "pair": [text, text],
            "special_tokens": {"<s>": token(0, "<s>"), "</s>": token(1, "</s>")},
        },
    });
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound")
});

const PIECES: [&str; 9] = ["a", "b", "é", "中", " ", "ab", "q", "1", "ab ab "];

/// Interprets bytes as rows, options, and a number of threads.
pub(super) fn rows(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let run = RunOptions { threads: Some(1 + draw.below(4)), ..RunOptions::default() };
    let truncation = Truncation { stride: draw.below(3), ..Truncation::new(5 + draw.below(40)) };
    let padding = Padding { multiple_of: draw.below(9), ..Padding::default() };
    let pads = draw.flag();
    let options = EncodeOptions {
        truncation: if draw.flag() { Setting::On(truncation) } else { Setting::Off },
        overflow: draw.flag(),
        add_special_tokens: draw.flag(),
        columns: Columns::from_bits(draw.byte().into()),
        offset_unit: draw.one_of(&[OffsetUnit::Byte, OffsetUnit::CodePoint, OffsetUnit::Utf16]),
        ..EncodeOptions::default()
    };
    // Many rows, long and short ones, so that there are several row windows for the threads.
    let broken = draw.below(64);
    let (mut texts, mut bytes): (Vec<Vec<u8>>, usize) = (vec![], 0);
    // A truncated text has a part for every few tokens, each with its own columns.
    let max_bytes = if options.overflow { truncation.max_length << 11 } else { 256 << 10 };
    while !draw.is_over() && texts.len() < 40 && bytes < max_bytes {
        let times = 1 + usize::from(draw.byte()) * 40;
        let piece: String = draw.list(12, |draw| draw.one_of(&PIECES)).concat();
        let text = piece.repeat(times.min(max_bytes / piece.len().max(1)));
        bytes += text.len();
        texts.push(text.into_bytes());
    }
    if let Some(text) = texts.get_mut(broken) {
        text.push(0xFF);
    }
    let rows: Vec<Text<'_>> = texts.iter().map(|text| Text::Bytes(text)).collect();
    let one_by_one = |options: &EncodeOptions| -> Result<Vec<Encoding>, (usize, EncodeError)> {
        rows.iter()
            .enumerate()
            .map(|(row, text)| TOKENIZER.encode(*text, options).map_err(|error| (row, error)))
            .collect()
    };
    let (options, alone) = match one_by_one(&options) {
        Ok(alone) if pads => {
            let longest = alone.iter().map(Encoding::len).max().unwrap_or(0);
            let to = |to| EncodeOptions { padding: Setting::On(Padding { to, ..padding.clone() }), ..options.clone() };
            (to(PadTo::Longest), one_by_one(&to(PadTo::Length(longest))))
        }
        alone => (options, alone),
    };
    let batch = batch::encode_rows(&TOKENIZER, &rows, &options, &run).and_then(PendingBatch::gather);
    let alone = match alone {
        Ok(alone) => alone,
        Err((row, source)) => return assert_eq!(batch, Err(BatchError::Encode { index: row, source })),
    };
    let batch = batch.expect("no row failed");
    let (mut expected, mut ends, mut row_texts) = (Encoding::default(), vec![0], vec![]);
    for (text, encoding) in alone.iter().enumerate() {
        let parts = encoding.overflowing.iter().filter(|_| options.overflow);
        for part in std::iter::once(encoding).chain(parts) {
            append(&mut expected, part);
            ends.push(expected.len() as u32);
            row_texts.push(text as u32);
        }
    }
    assert_eq!((batch.ids(), batch.row_offsets()), (expected.ids(), &ends[..]));
    assert_eq!(batch.row_texts(), options.overflow.then_some(&row_texts[..]));
    let columns = batch.columns();
    assert_eq!((columns.offsets(), columns.tokens()), (expected.offsets(), expected.tokens()));
    let masks = (columns.special_tokens_mask(), columns.attention_mask());
    assert_eq!(masks, (expected.special_tokens_mask(), expected.attention_mask()));
    let numbers = (columns.type_ids(), columns.word_ids(), columns.sequence_ids());
    assert_eq!(numbers, (expected.type_ids(), expected.word_ids(), expected.sequence_ids()));
    let counts = batch::count_batch(&TOKENIZER, &rows, &options, &run).expect("no row failed");
    let alone: Vec<u32> =
        rows.iter().map(|text| TOKENIZER.count(*text, &options).expect("no row failed") as u32).collect();
    assert_eq!(counts, alone);
}

fn append(to: &mut Encoding, part: &Encoding) {
    to.ids.extend(&part.ids);
    to.offsets.extend(&part.offsets);
    to.tokens.extend(part.tokens.iter().cloned());
    to.special_tokens_mask.extend(&part.special_tokens_mask);
    to.type_ids.extend(&part.type_ids);
    to.attention_mask.extend(&part.attention_mask);
    to.word_ids.extend(&part.word_ids);
    to.sequence_ids.extend(&part.sequence_ids);
}
