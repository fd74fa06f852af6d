//! Shared parts of the benchmarks: texts, tokenizers and options.

use std::error::Error;
use std::path::Path;

use tokenlane_core::{EncodeOptions, SpecialTokens, Tokenizer};

/// The result of a benchmark. Any error ends it.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Loads a bundled encoding. Also returns the bytes of its file.
pub fn encoding(name: &str) -> Outcome<(Tokenizer, Vec<u8>)> {
    let ranks = std::fs::read(format!("{ROOT}/encodings/{name}.tiktoken"))?;
    Ok((Tokenizer::from_encoding(name, &ranks)?, ranks))
}

/// The texts: the Universal Declaration of Human Rights in English, the same in seventeen
/// languages, and source code. The code is a fixed copy of an old state of this project, so that
/// results from different dates are comparable.
pub fn texts() -> Outcome<[(&'static str, String); 3]> {
    let samples = Path::new(ROOT).join("tools/data/sample");
    let mut files: Vec<_> = std::fs::read_dir(&samples)?.map(|entry| Ok(entry?.path())).collect::<Outcome<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    let all = files.iter().map(std::fs::read_to_string).collect::<Result<String, _>>()?;
    let english = std::fs::read_to_string(samples.join("eng.txt"))?;
    Ok([("english", english), ("code", include_str!("../code.txt").into()), ("multilingual", all)])
}

/// Options that add nothing to a text and treat special tokens as text.
pub fn options() -> EncodeOptions {
    EncodeOptions { add_special_tokens: false, special_tokens: SpecialTokens::Text, ..EncodeOptions::default() }
}
