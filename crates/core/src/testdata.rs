//! Files of `testdata/` that several tests use.

use std::io::Read;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

/// Recorded from the reference implementations: the characters of each class, and the results of
/// normalizers for each character.
pub(crate) static CHARACTER_CLASSES: LazyLock<Value> = LazyLock::new(|| {
    let mut text = String::new();
    let packed = include_bytes!("../../pattern/testdata/charclass.json.gz");
    GzDecoder::new(&packed[..]).read_to_string(&mut text).expect("gzip of UTF-8");
    serde_json::from_str(&text).expect("it is JSON")
});

/// The code points of a class, as inclusive ranges.
pub(crate) fn ranges(contains: impl Fn(char) -> bool) -> Value {
    let mut ranges: Vec<[u32; 2]> = vec![];
    for code in ('\0'..=char::MAX).filter(|&c| contains(c)).map(u32::from) {
        match ranges.last_mut() {
            Some([_, end]) if *end + 1 == code => *end = code,
            _ => ranges.push([code, code]),
        }
    }
    json!(ranges)
}

/// Models and cases of the `sentencepiece` library, recorded by `tools/data/record.py`.
pub(crate) mod sentencepiece {
    use super::{GzDecoder, LazyLock, Read, Value};

    pub(crate) const MODEL_NAMES: [&str; 7] =
        ["unigram", "unigram_bytes", "unigram_suffix", "bpe", "bpe_bytes", "char", "word"];

    pub(crate) static CASES: LazyLock<Value> = LazyLock::new(|| {
        let mut text = String::new();
        let packed = include_bytes!("../testdata/sentencepiece/cases.json.gz");
        GzDecoder::new(&packed[..]).read_to_string(&mut text).expect("gzip of UTF-8");
        serde_json::from_str(&text).expect("it is JSON")
    });

    pub(crate) fn model(name: &str) -> Vec<u8> {
        let path = format!("{}/testdata/sentencepiece/{name}.model", env!("CARGO_MANIFEST_DIR"));
        std::fs::read(path).expect("the file can be read")
    }
}
