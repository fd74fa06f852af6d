//! Regular expressions and plain strings as patterns: the general path of cutting and replacing, and the twin that the
//! scanners are held against.
//!
//! - [`oniguruma`]: what a pattern of a tokenizer.json means, in terms of the library used here.

mod oniguruma;

use fancy_regex::{Regex, RegexBuilder};
use memchr::memmem::Finder;

use crate::error::{DecodeError, EncodeError, LoadError};
use crate::span::Span;

/// Whose regular expressions a pattern is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// A tokenizer.json: Oniguruma, with its default syntax.
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
    matcher: Matcher,
}

#[derive(Debug)]
enum Matcher {
    Regex(Box<Regex>),
    /// A plain string, not empty.
    String(Box<Finder<'static>>),
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

impl From<PatternError> for DecodeError {
    fn from(error: PatternError) -> Self {
        let PatternError { pattern, message, .. } = error;
        Self::Pattern { pattern, message }
    }
}

impl Pattern {
    /// `path` says in an error where the pattern came from.
    pub(crate) fn new(source: &str, dialect: Dialect, path: &str) -> Result<Self, LoadError> {
        let error = |message: String| LoadError::Pattern { path: path.into(), pattern: source.into(), message };
        let translated = match dialect {
            Dialect::FancyRegex => source.into(),
            Dialect::Oniguruma => oniguruma::translate(source).map_err(|problem| error(problem.to_string()))?,
        };
        let mut builder = RegexBuilder::new(&translated);
        builder.backtrack_limit(BACKTRACK_LIMIT).delegate_size_limit(SIZE_LIMIT).max_prog_size(1 << 20);
        let regex = builder.build().map_err(|problem| error(problem.to_string()))?;
        Ok(Self { source: source.into(), matcher: Matcher::Regex(Box::new(regex)) })
    }

    /// A pattern for fancy-regex, spelt so that Oniguruma finds the same, or what of it cannot be.
    pub(crate) fn in_oniguruma(source: &str) -> Result<String, String> {
        oniguruma::respell(source).map_err(|problem| problem.to_string())
    }

    /// A pattern that matches `text` and nothing else.
    pub(crate) fn literal(text: &str, path: &str) -> Result<Self, LoadError> {
        if text.is_empty() {
            return Self::new(text, Dialect::FancyRegex, path);
        }
        Ok(Self { source: text.into(), matcher: Matcher::String(Box::new(Finder::new(text).into_owned())) })
    }

    /// The string that this matches, where it is a plain one.
    pub(crate) fn as_string(&self) -> Option<&str> {
        matches!(self.matcher, Matcher::String(_)).then_some(&self.source)
    }

    /// The regular expression as it was given.
    pub(crate) fn as_regex(&self) -> Option<&str> {
        matches!(self.matcher, Matcher::Regex(_)).then_some(&self.source)
    }

    pub(crate) fn is_match(&self, text: &str) -> Result<bool, PatternError> {
        match &self.matcher {
            Matcher::Regex(regex) => regex.is_match(text).map_err(|error| self.gave_up(0, &error)),
            Matcher::String(finder) => Ok(finder.find(text.as_bytes()).is_some()),
        }
    }

    /// Calls `found` with every match, from front to back. An empty match right behind another match does not count.
    pub(crate) fn for_each_match(&self, text: &str, mut found: impl FnMut(Span)) -> Result<(), PatternError> {
        let regex = match &self.matcher {
            Matcher::Regex(regex) => regex,
            Matcher::String(finder) => {
                let len = finder.needle().len();
                finder.find_iter(text.as_bytes()).for_each(|start| found(Span::new(start, start + len)));
                return Ok(());
            }
        };
        // As the reference steps through a text, which \G in a pattern can tell: behind an empty match that does not
        // count the search starts anew, one character on. In an empty text nothing is found.
        let (mut at, mut last_end) = (0, None);
        while at <= text.len() && !text.is_empty() {
            let matched = regex.find_from_pos(text, at).map_err(|error| self.gave_up(at, &error))?;
            let Some(matched) = matched else { break };
            if matched.start() == matched.end() && last_end == Some(matched.end()) {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            at = matched.end();
            last_end = Some(at);
            found(Span::new(matched.start(), matched.end()));
        }
        Ok(())
    }

    fn gave_up(&self, byte: usize, error: &fancy_regex::Error) -> PatternError {
        PatternError { pattern: self.source.clone(), byte, message: error.to_string() }
    }
}
