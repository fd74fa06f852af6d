//! Any regular expression as a pattern: the general path, and the twin that the scanners are held against.

use fancy_regex::{Regex, RegexBuilder};

use crate::error::{EncodeError, LoadError};
use crate::span::Span;

/// Whose regular expressions a pattern is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// A tokenizer.json: Oniguruma, with its default (Ruby) syntax.
    Oniguruma,
    /// A rank file's pattern: the fancy-regex crate, as tiktoken uses it.
    FancyRegex,
}

/// Steps back that one search may take. The patterns of real tokenizers need a few per character; a pattern made to
/// explode stops here instead of holding a worker for ever.
const BACKTRACK_LIMIT: usize = 20_000_000;
/// Bytes a compiled pattern may take.
const SIZE_LIMIT: usize = 32 << 20;

/// A compiled pattern. Matching it needs no state of ours and no lock is held between calls.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: String,
    regex: Regex,
}

/// A search that was given up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PatternError {
    pub(crate) pattern: String,
    pub(crate) byte: usize,
    pub(crate) message: String,
}

impl From<PatternError> for EncodeError {
    fn from(error: PatternError) -> Self {
        let PatternError { pattern, byte, message } = error;
        Self::Pattern { pattern, byte, message }
    }
}

impl Pattern {
    /// `path` says in an error where the pattern came from.
    pub(crate) fn new(source: &str, dialect: Dialect, path: &str) -> Result<Self, LoadError> {
        let mut builder = RegexBuilder::new(source);
        builder.backtrack_limit(BACKTRACK_LIMIT).delegate_size_limit(SIZE_LIMIT).max_prog_size(1 << 20);
        if dialect == Dialect::Oniguruma {
            // In Ruby's syntax ^ and $ are always the ends of a line.
            builder.oniguruma_mode(true).multi_line(true);
        }
        let regex = builder.build().map_err(|error| LoadError::Pattern {
            path: path.into(),
            pattern: source.into(),
            message: error.to_string(),
        })?;
        Ok(Self { source: source.into(), regex })
    }

    /// A pattern that matches `text` and nothing else.
    pub(crate) fn literal(text: &str, path: &str) -> Result<Self, LoadError> {
        Self::new(&fancy_regex::escape(text), Dialect::FancyRegex, path)
    }

    /// Calls `found` with every match, from front to back.
    pub(crate) fn for_each_match(&self, text: &str, mut found: impl FnMut(Span)) -> Result<(), PatternError> {
        let mut byte = 0;
        for found_one in self.regex.find_iter(text) {
            let matched = found_one.map_err(|error| PatternError {
                pattern: self.source.clone(),
                byte,
                message: error.to_string(),
            })?;
            byte = matched.end();
            found(Span::new(matched.start(), matched.end()));
        }
        Ok(())
    }
}
