//! Regular expressions and plain strings as patterns: the general path of cutting and replacing, and the twin that the
//! scanners are held against.
//!
//! - [`oniguruma`]: what a pattern of a tokenizer.json means, in terms of the library used here.

mod oniguruma;

use fancy_regex::{Regex, RegexBuilder, RegexInput};
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

    /// Whether a match can be empty. Said of some patterns too of which it is not so.
    pub(crate) fn can_be_empty(&self) -> bool {
        match &self.matcher {
            Matcher::String(_) => false,
            // What only fancy-regex can read is not looked at.
            Matcher::Regex(regex) => {
                let parsed = regex_syntax::parse(regex.as_str());
                parsed.ok().and_then(|parsed| parsed.properties().minimum_len()).unwrap_or(0) == 0
            }
        }
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
        // Patterns that cut into words mostly match where the last match ended. There it is cheaper to ask for that alone, as
        // where a match starts need not be found out. No other match comes before one that starts here.
        let mut was_here = false;
        while at <= text.len() && !text.is_empty() {
            let find = |here| {
                let input = RegexInput::new(text).from_pos(at).anchored(here);
                regex.find_input(input).map_err(|error| self.gave_up(at, &error))
            };
            let here = if was_here { find(true)? } else { None };
            let matched = if here.is_some() { here } else { find(false)? };
            let Some(matched) = matched else { break };
            was_here = matched.start() == at;
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The matches by searches alone.
    fn by_searches(pattern: &str, text: &str) -> Vec<Span> {
        let regex = Regex::new(pattern).expect("it compiles");
        let (mut at, mut last_end, mut found) = (0, None, vec![]);
        while let Some(matched) = regex.find_from_pos(text, at).expect("it is easy") {
            let is_empty = matched.start() == matched.end();
            if is_empty && last_end == Some(matched.end()) {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
                if at > text.len() {
                    break;
                }
                continue;
            }
            at = matched.end();
            last_end = Some(at);
            found.push(Span::new(matched.start(), matched.end()));
        }
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn asking_first_whether_a_match_starts_here_changes_no_match(text in "[ab1é ]{1,24}") {
            let patterns = [
                "a+|b", "[ab]+|1{1,2}", "a|", "", "b*", r"\Ga", r"\G[ab]|1+", "^a|b", "(?m)a$|b+", r"\ba|b\b", "(?<=a)b|a",
                "(?<!b)a|b+?", "a(?!b)|b(?=a)", r"(a|b)\1|1", "(?>a+)b|a", r"\s+(?!\S)|\s+|[^\s]+", r"a\Kb|b", "é+?|[^é]",
            ];
            for pattern in patterns {
                let mut found = vec![];
                let compiled = Pattern::new(pattern, Dialect::FancyRegex, "test").expect("it compiles");
                compiled.for_each_match(&text, |span| found.push(span)).expect("it is easy");
                prop_assert_eq!(found, by_searches(pattern, &text), "{} in {:?}", pattern, text);
            }
        }
    }
}
