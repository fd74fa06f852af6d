//! What all benches share: their allocator, which is the addon's, their texts and their tokenizers.

use std::error::Error;
use std::path::Path;

use tokenlane_core::{EncodeOptions, SpecialTokens, Tokenizer};

/// Whatever can go wrong ends a bench.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A bundled encoding and the bytes of its file.
pub fn encoding(name: &str) -> Outcome<(Tokenizer, Vec<u8>)> {
    let ranks = std::fs::read(format!("{ROOT}/encodings/{name}.tiktoken"))?;
    Ok((Tokenizer::from_encoding(name, &ranks)?, ranks))
}

/// The declaration of human rights in English; the same in seventeen languages; and code, a copy of some of this project's
/// as it once was, so that figures of one day can be held against those of another.
pub fn texts() -> Outcome<[(&'static str, String); 3]> {
    let samples = Path::new(ROOT).join("scripts/sample");
    let mut files: Vec<_> = std::fs::read_dir(&samples)?.map(|entry| Ok(entry?.path())).collect::<Outcome<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    let all = files.iter().map(std::fs::read_to_string).collect::<Result<String, _>>()?;
    let english = std::fs::read_to_string(samples.join("eng.txt"))?;
    Ok([("english", english), ("code", include_str!("../code.txt").into()), ("multilingual", all)])
}

/// Options that add nothing to a text and take it as it is.
pub fn options() -> EncodeOptions {
    EncodeOptions { add_special_tokens: false, special_tokens: SpecialTokens::Text, ..EncodeOptions::default() }
}
