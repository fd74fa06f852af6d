//! The checks that fuzz targets run, one function a target: any bytes are a case, and a panic is a finding.
//!
//! `fuzz/` has the targets, and `npm run fuzz` runs them. What they find is kept under a name of its own in
//! `testdata/fuzz/TARGET/`, and every `cargo test` runs all that lies there, beside bytes that are drawn at random.
//! The module is there for tests and with the feature `fuzzing`.
//!
//! - [`encode`]: random merges and random ranks, against words by regular expression and merging by definition.
//! - [`scanner`]: every scanner against its regular expressions.
//! - [`split_points`]: long words cut where no merge joins, against the same in one piece.
//! - [`models`]: WordPiece, Unigram and WordLevel, with and without segmenter, and by definition.
//! - [`sentencepiece`]: SentencePiece files, and their models by definition.
//! - [`load`]: bytes as files. What loads has to work, and to load again after it was saved.
//! - [`decode`]: any ids, as a whole and as a stream.
//! - [`lengths`]: truncation and padding against walking over the tokens.
//! - [`rows`]: batches on several threads against one row at a time.
//! - [`parts`]: long texts that a batch cuts, against the same in one piece.
//! - [`limits`]: chains of any components, whose output is bounded by the input.
//! - [`patterns`]: any regular expressions, whose work is bounded by the text.
//! - [`pool`]: each pool, alone and shared by threads, against a naive model.

pub(crate) mod decode;
mod draw;
mod encode;
mod lengths;
mod limits;
mod load;
mod models;
pub(crate) mod parts;
pub(crate) mod patterns;
mod pool;
mod rows;
mod scanner;
mod sentencepiece;
pub(crate) mod split_points;
#[cfg(test)]
mod tests;

/// A target: its name, and what it does with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 13] = [
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
    ("pool", pool::pool),
];

/// Does what the target of this name does with bytes.
///
/// # Panics
/// When the check fails, or there is no such target.
pub fn run(name: &str, bytes: &[u8]) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).expect("a target");
    target(bytes);
}
