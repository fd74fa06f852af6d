//! The checks of the fuzz targets, one function per target. Any bytes are a valid case, and a panic
//! is a finding.
//!
//! The targets are in `fuzz/`, and `npm run maintain fuzz` runs them. Findings are stored as named
//! files in `testdata/fuzz/TARGET/`; every `cargo test` runs all of these files, and additionally
//! random bytes. The module is compiled for tests and with the feature `fuzzing`.
//!
//! - [`encode`]: random merges and ranks, compared with splitting by regular expression and merging
//!   by definition.
//! - [`scanner`]: every scanner, compared with its regular expressions.
//! - [`split_points`]: long words that are split where no merge is possible, compared with the
//!   unsplit words.
//! - [`models`]: WordPiece, Unigram and WordLevel, with and without segmenter, and compared with
//!   the naive models.
//! - [`sentencepiece`]: SentencePiece files, compared with the naive models.
//! - [`load`]: bytes as files. Files that load must work, and must load again after saving.
//! - [`decode`]: arbitrary ids, decoded as a whole and as a stream.
//! - [`lengths`]: truncation and padding, compared with an implementation that works token by
//!   token.
//! - [`rows`]: batches on several threads, compared with single rows.
//! - [`parts`]: long texts that a batch splits, compared with the unsplit texts.
//! - [`limits`]: sequences of arbitrary components, whose output is limited by the input.
//! - [`patterns`]: arbitrary regular expressions, whose work is limited by the text.
//! - [`json_fields`]: lines of JSON, valid and damaged, whose fields are compared with those of
//!   serde_json.
//! - [`pool`]: each kind of pool, alone and shared by threads, compared with a naive model.

pub(crate) mod decode;
mod draw;
mod encode;
mod json_fields;
mod lengths;
mod limits;
mod load;
mod models;
pub(crate) mod naive_models;
mod naive_sentencepiece;
pub(crate) mod parts;
pub(crate) mod patterns;
mod pool;
mod rows;
mod scanner;
mod sentencepiece;
pub(crate) mod split_points;
#[cfg(test)]
mod tests;

/// A target: its name and its function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 14] = [
    ("encode", encode::encode),
    ("scanner", scanner::scanner),
    ("split_points", split_points::split_points),
    ("load", load::load),
    ("models", models::models),
    ("sentencepiece", sentencepiece::sentencepiece),
    ("decode", decode::decode),
    ("lengths", lengths::lengths),
    ("limits", limits::limits),
    ("patterns", patterns::patterns),
    ("rows", rows::rows),
    ("parts", parts::parts),
    ("json_fields", json_fields::json_fields),
    ("pool", pool::pool),
];

/// Runs the target of this name.
///
/// # Panics
/// If the check fails, or if there is no such target.
pub fn run(name: &str, bytes: &[u8]) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).expect("a target");
    target(bytes);
}
