//! Compares the core with `tokenizers` 0.23.3 and `tiktoken` 0.14.0, whose results are the golden
//! data of `testdata/conformance`.
//!
//! The bundled encodings are always compared, and the small tokenizers if all of their components
//! are supported. Real vocabularies are compared if they are present: in `.cache/vocabularies` or
//! in the folder given by TOKENLANE_VOCABULARIES. `npm test` downloads and compares all of them.

mod outputs;

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;
use tokenlane_core::batch::{self, Batch, RunOptions};
use tokenlane_core::{
    Columns, DecodeOptions, EncodeOptions, LoadError, OffsetUnit, SpecialTokens, Text, Tokenizer, encoding_file,
};

#[test]
fn r50k_base() {
    judge_encoding("r50k_base");
}

#[test]
fn cl100k_base() {
    judge_encoding("cl100k_base");
}

#[test]
fn o200k_base() {
    judge_encoding("o200k_base");
}

#[test]
fn p50k_base() {
    judge_encoding("p50k_base");
}

#[test]
fn p50k_edit() {
    judge_encoding("p50k_edit");
}

#[test]
fn o200k_harmony() {
    judge_encoding("o200k_harmony");
}

#[test]
fn gpt2() {
    judge_vocabulary("gpt2");
}

#[test]
fn llama3_1() {
    judge_vocabulary("llama3_1");
}

#[test]
fn qwen2_5() {
    judge_vocabulary("qwen2_5");
}

#[test]
fn bert_base_uncased() {
    judge_vocabulary("bert_base_uncased");
}

/// The small tokenizers whose components are all supported. The Node spec lists the others.
#[test]
fn small_tokenizers() {
    for entry in fs::read_dir(testdata("conformance/tokenizers")).expect("the folder is committed") {
        let file = entry.expect("a readable folder").path();
        let name = file.file_stem().and_then(|name| name.to_str()).expect("a plain name");
        match Tokenizer::from_tokenizer_json(&read(&file)) {
            Err(error @ LoadError::Unsupported { .. }) => eprintln!("{name} is not judged: {error}"),
            loaded => {
                // The files as they are: __test__/conformance/golden.test.mjs, by the addon.
                judge_tokenizer_json(name, &written_and_read(&loaded.expect("the file loads")));
            }
        }
    }
}

/// Writes a tokenizer as a tokenizer.json and loads it again.
fn written_and_read(tokenizer: &Tokenizer) -> Tokenizer {
    let json = tokenizer.to_json().expect("it can be written");
    let again = Tokenizer::from_tokenizer_json(&json).expect("what was written loads");
    assert!(again.to_json().as_ref() == Ok(&json), "written twice, it is the same");
    again
}

fn judge_encoding(name: &str) {
    let file = encoding_file(name).expect("a bundled encoding");
    let ranks = read(&project("encodings").join(format!("{file}.tiktoken")));
    let tokenizer = Tokenizer::from_encoding(name, &ranks).expect("the encoding loads");
    // Adding special tokens, in the golden data, means allowed_special="all" of tiktoken; otherwise
    // it is encode_ordinary.
    judge(name, &tokenizer, |added| EncodeOptions {
        special_tokens: if added { SpecialTokens::Parse } else { SpecialTokens::Text },
        ..EncodeOptions::default()
    });
}

fn judge_vocabulary(name: &str) {
    let folder =
        std::env::var_os("TOKENLANE_VOCABULARIES").map_or_else(|| project(".cache/vocabularies"), PathBuf::from);
    let file = folder.join(name).join("tokenizer.json");
    if file.exists() {
        judge_tokenizer_json(name, &Tokenizer::from_tokenizer_json(&read(&file)).expect("the file loads"));
    } else {
        eprintln!("{name} is not judged: there is no {}", file.display());
    }
}

fn judge_tokenizer_json(name: &str, tokenizer: &Tokenizer) {
    judge(name, tokenizer, |added| EncodeOptions {
        add_special_tokens: added,
        special_tokens: SpecialTokens::Parse,
        ..EncodeOptions::default()
    });
}

/// Compares all records of a golden file whose kinds the core supports.
fn judge(name: &str, tokenizer: &Tokenizer, options: impl Fn(bool) -> EncodeOptions) {
    let cases: Vec<(String, String)> = json_lines("conformance/cases.jsonl.gz")
        .map(|case| (string(&case["id"]).to_owned(), string(&case["text"]).to_owned()))
        .collect();
    let texts: HashMap<String, String> = cases.iter().cloned().collect();
    let mut judged = 0;
    let mut last = Value::Null; // with special tokens, for `same` and `d` records
    let mut batches = [Wanted::default(), Wanted::default()]; // without and with special tokens
    for record in json_lines(&format!("conformance/golden/{name}.jsonl.gz")) {
        match string(&record["k"]) {
            "e" => {
                let text = record["text"].as_str().unwrap_or_else(|| &texts[string(&record["c"])]).to_owned();
                let added = record["a"] == 1;
                let want = if record["same"] == 1 { &last } else { &record };
                judge_encode(tokenizer, &text, &options(added), want);
                batches[usize::from(added)].push(text, want);
                if added {
                    last = record;
                }
            }
            "d" => judge_decode(tokenizer, &ids(&last["ids"]), &record, &texts[string(&record["c"])]),
            "d2" => judge_decode(tokenizer, &ids(&record["ids"]), &record, ""),
            "u" => {
                let units: Vec<u16> =
                    numbers(&record["text16"]).map(|unit| u16::try_from(unit).expect("a unit")).collect();
                let encoding = tokenizer.encode(Text::Utf16(&units), &options(false)).expect("a text");
                assert_eq!(encoding.ids(), ids(&record["ids"]), "ids of {units:04x?}");
            }
            "long" => {
                let rows: Vec<&str> = cases.iter().map(|(_, text)| text.as_str()).collect();
                let count = tokenizer.count(Text::Utf8(&rows.join("\n")), &options(false)).expect("a text");
                assert_eq!(Some(count as u64), record["n"].as_u64(), "ids of all texts joined");
            }
            "s" => {
                let options = EncodeOptions { special_tokens: SpecialTokens::Text, ..options(false) };
                judge_encode(tokenizer, &texts[string(&record["c"])], &options, &record);
            }
            "p" | "t" => {
                let texts = outputs::texts_of(&record, &texts);
                outputs::judge_texts(tokenizer, &texts, &options(record["a"] == 1), &record);
            }
            "w" => outputs::judge_words(tokenizer, &options(record["a"] == 1), &record),
            "b" => {
                let texts = outputs::texts_of(&record, &texts);
                outputs::judge_padded(tokenizer, &texts, &options(record["a"] == 1), &record);
            }
            "err" => {
                let texts = outputs::texts_of(&record, &texts);
                outputs::judge_refusal(tokenizer, &texts, &options(record["a"] != 0), &record);
            }
            "v" => judge_vocabulary_of(tokenizer, &record),
            _ => continue, // the header record
        }
        judged += 1;
    }
    assert!(judged > 2_500, "only {judged} records of {name} were judged");
    for (added, want) in [false, true].into_iter().zip(&batches) {
        judge_batches(tokenizer, &options(added), want);
    }
}

/// Compares a text in all three text forms: the ids and their count.
fn judge_encode(tokenizer: &Tokenizer, text: &str, options: &EncodeOptions, want: &Value) {
    let want_ids = ids(&want["ids"]);
    let utf16: Vec<u16> = text.encode_utf16().collect();
    for form in [Text::Utf8(text), Text::Bytes(text.as_bytes()), Text::Utf16(&utf16)] {
        let encoding = tokenizer.encode(form, options).expect("a valid text");
        assert_eq!(encoding.ids(), want_ids, "ids of {text:?}");
        assert_eq!(tokenizer.count(form, options).expect("a valid text"), want_ids.len(), "count of {text:?}");
    }
    if want["o"].is_null() {
        return; // encodings have no offsets
    }
    for unit in [OffsetUnit::CodePoint, OffsetUnit::Byte, OffsetUnit::Utf16] {
        let columns = Columns::OFFSETS | Columns::TOKENS | Columns::SPECIAL_TOKENS_MASK;
        let options = EncodeOptions { columns, offset_unit: unit, ..options.clone() };
        let encoding = tokenizer.encode(Text::Utf8(text), &options).expect("a valid text");
        let code_points = boundaries(text, unit);
        let got: Vec<Option<u32>> =
            encoding.offsets().iter().flatten().map(|at| code_points.get(at).copied()).collect();
        let want_offsets: Vec<Option<u32>> = numbers(&want["o"]).map(Some).collect();
        assert_eq!(got, want_offsets, "offsets of {text:?} in {unit:?}");
        let tokens: Vec<&str> = array(&want["t"]).iter().map(string).collect();
        assert_eq!(encoding.tokens(), tokens, "tokens of {text:?}");
        let mask: Vec<u8> = string(&want["m"]).bytes().map(|digit| digit - b'0').collect();
        assert_eq!(encoding.special_tokens_mask(), mask, "special tokens mask of {text:?}");
    }
}

fn judge_decode(tokenizer: &Tokenizer, ids: &[u32], record: &Value, text: &str) {
    for (field, skip_special_tokens) in [("s1", true), ("s0", false)] {
        let want = match &record[field] {
            Value::Null => continue,
            Value::Number(_) => text, // 0 means the text itself
            other => string(other),
        };
        let got = tokenizer.decode(ids, &DecodeOptions { skip_special_tokens }).expect("ids decode");
        assert_eq!(got, want, "decoded {ids:?}, skip_special_tokens {skip_special_tokens}");
    }
    if let Some(want) = record["hex"].as_str() {
        let bytes = tokenizer.decode_bytes(ids, &DecodeOptions { skip_special_tokens: false }).expect("ids decode");
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, want, "bytes of {ids:?}");
    }
}

fn judge_vocabulary_of(tokenizer: &Tokenizer, record: &Value) {
    assert_eq!(Some(tokenizer.vocab_size(true) as u64), record["size"].as_u64(), "size with added tokens");
    assert_eq!(Some(tokenizer.vocab_size(false) as u64), record["base"].as_u64(), "size without added tokens");
    for pair in array(&record["sample"]) {
        let (id, token) = (number(&pair[0]), string(&pair[1]));
        assert_eq!(tokenizer.id_to_token(id).as_deref(), Some(token));
        assert_eq!(tokenizer.token_to_id(token), Some(id));
    }
    for text in array(&record["none"]) {
        assert_eq!(tokenizer.token_to_id(string(text)), None);
    }
}

/// The expected result of a batch.
#[derive(Default)]
struct Wanted {
    texts: Vec<String>,
    ids: Vec<Vec<u32>>,
    /// In code points, for all rows; empty for the encodings, which have no offsets.
    offsets: Vec<u32>,
}

impl Wanted {
    fn push(&mut self, text: String, record: &Value) {
        self.texts.push(text);
        self.ids.push(ids(&record["ids"]));
        self.offsets.extend(record["o"].as_array().into_iter().flatten().map(number));
    }
}

/// Compares all texts in one batch, without and with offsets.
fn judge_batches(tokenizer: &Tokenizer, options: &EncodeOptions, want: &Wanted) {
    let rows: Vec<Text<'_>> = want.texts.iter().map(|text| Text::Utf8(text)).collect();
    let run = RunOptions::default();
    let same_ids = |batch: &Batch| {
        for (row, ids) in want.ids.iter().enumerate() {
            assert_eq!(batch.row(row), ids, "row {row}: {:?}", want.texts[row]);
        }
    };
    same_ids(&batch::encode_batch(tokenizer, &rows, options, &run).expect("valid texts"));
    let with_offsets = |offset_unit| EncodeOptions { columns: Columns::OFFSETS, offset_unit, ..options.clone() };
    let encode = |options: EncodeOptions| batch::encode_batch(tokenizer, &rows, &options, &run).expect("valid texts");
    same_ids(&encode(with_offsets(OffsetUnit::Byte)));
    let batch = encode(with_offsets(OffsetUnit::CodePoint));
    same_ids(&batch);
    if !want.offsets.is_empty() {
        assert!(batch.offsets().iter().flatten().eq(&want.offsets), "offsets of a batch");
    }
    let counts = batch::count_batch(tokenizer, &rows, options, &run).expect("valid texts");
    assert!(counts.iter().zip(&want.ids).all(|(&count, ids)| count as usize == ids.len()), "counts of a batch");
}

/// Maps the offsets of character boundaries in `text`, in `unit`s, to code points.
fn boundaries(text: &str, unit: OffsetUnit) -> HashMap<u32, u32> {
    let mut at = 0;
    let starts = text.chars().chain(['\0']).enumerate().map(|(index, character)| {
        let start = at;
        at += match unit {
            OffsetUnit::Byte => character.len_utf8(),
            OffsetUnit::CodePoint => 1,
            OffsetUnit::Utf16 => character.len_utf16(),
        };
        (start as u32, index as u32)
    });
    starts.collect()
}

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(path)
}

fn read(file: &Path) -> Vec<u8> {
    fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn json_lines(path: &str) -> impl Iterator<Item = Value> {
    let mut text = String::new();
    GzDecoder::new(read(&testdata(path)).as_slice()).read_to_string(&mut text).expect("gzip of UTF-8");
    let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    records.into_iter()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

fn string(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn number(value: &Value) -> u32 {
    value.as_u64().and_then(|number| u32::try_from(number).ok()).expect("a number below 2^32")
}

fn numbers(value: &Value) -> impl Iterator<Item = u32> {
    array(value).iter().map(number)
}

fn ids(value: &Value) -> Vec<u32> {
    numbers(value).collect()
}
