//! The tokens of counted words.

use tokenlane_core::{EncodeOptions, Tokenizer};

use super::file::TokenizerFile;
use crate::progress::{Meter, Phase};
use crate::{TrainError, WordCounts};

/// Calls `visit` with each word, its count and its ids, and returns the number of all tokens. The
/// model works alone: words are what the stages before it leave.
pub(super) fn each_word(
    file: &mut TokenizerFile,
    words: &WordCounts,
    meter: &mut Meter<'_>,
    mut visit: impl FnMut(&str, u64, &[u32]),
) -> Result<u64, TrainError> {
    meter.phase(Phase::Encode, words.len(), file.tokens.len())?;
    let mut model = file.model().clone();
    if model.get::<f64>("dropout")?.is_some() {
        model.set("dropout", &());
    }
    let model = serde_json::to_string(&model).map_err(|error| TrainError::Base(error.to_string()))?;
    let tokenizer = Tokenizer::from_tokenizer_json(format!("{{\"model\":{model}}}").as_bytes())?;
    let options = EncodeOptions::default();
    let mut ids = Vec::new();
    let mut sum = 0_u64;
    for (word, count) in words.iter() {
        ids.clear();
        tokenizer
            .encode_ids(word.into(), &options, &mut ids)
            .map_err(|error| TrainError::Word { word: word.to_owned(), error })?;
        sum = sum.saturating_add(count.saturating_mul(ids.len() as u64));
        visit(word, count, &ids);
        meter.done(1)?;
        meter.work(word.len() / 8)?;
    }
    Ok(sum)
}

/// The bytes of all words. With ByteLevel, a character is a byte.
pub(super) fn bytes(words: &WordCounts, byte_level: bool) -> u64 {
    let len = |word: &str| if byte_level { word.chars().count() } else { word.len() };
    words.iter().fold(0, |sum, (word, count)| sum.saturating_add(count.saturating_mul(len(word) as u64)))
}
