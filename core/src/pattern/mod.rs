//! Regular expressions and plain strings as patterns: the general path of cutting and replacing, and the twin that the
//! scanners are held against.
//!
//! - [`oniguruma`]: what a pattern of a tokenizer.json means, in terms of the fancy-regex crate, which parses all patterns.
//! - [`regular`]: patterns that a finite automaton decides.
//! - [`backtrack`]: all others.
//!
//! Both count their steps. The steps of all searches of a text come off one budget, so that no pattern takes more than
//! linear time, whatever it looks for in each place.

mod backtrack;
pub(crate) mod meter;
mod oniguruma;
mod regular;

use fancy_regex::Expr;
use memchr::memmem::Finder;
use regex_automata::util::pool::Pool;

use crate::budget::Budget;
use crate::error::{DecodeError, EncodeError, LoadError};
use crate::span::Span;
use backtrack::Program;
use regular::Regular;

/// Whose regular expressions a pattern is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// A tokenizer.json: Oniguruma, with its default syntax.
    Oniguruma,
    /// A rank file's pattern: the fancy-regex crate, as tiktoken uses it.
    FancyRegex,
}

/// Bytes of a pattern as the file has it. Real files have a few thousand; those that [`Tokenizer::to_json`] writes have up to
/// 13,000 for each class, with all of its ranges.
///
/// [`Tokenizer::to_json`]: crate::Tokenizer::to_json
const MOST_SOURCE_BYTES: usize = 256 << 10;

/// A compiled pattern. Matching takes its state from a pool.
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

#[derive(Debug)]
struct Regex {
    engine: Engine,
    /// The fewest characters that a match has, as far as that is known.
    can_be_empty: bool,
    states: Pool<State, Box<dyn Fn() -> State + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>>,
}

#[derive(Debug)]
enum Engine {
    Regular(std::sync::Arc<Regular>),
    Backtrack(Program),
}

/// What one search after the other uses.
// A pattern has one kind of state, so the size of the smaller variant does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
enum State {
    Regular(regular::Cache),
    Backtrack(backtrack::Scratch),
}

/// Why a search ended without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GaveUp {
    /// The budget of steps is spent.
    Steps,
    /// The automaton cannot read this text; no pattern is known that does this.
    Automaton,
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

impl Regex {
    fn new(translated: &str, dialect: Dialect) -> Result<Self, String> {
        let tree = Expr::parse_tree(translated).map_err(|problem| problem.to_string())?;
        let hir = regular::as_hir(&tree.expr);
        let can_be_empty = hir.as_ref().and_then(|hir| hir.properties().minimum_len()).unwrap_or(0) == 0;
        if let Some(regular) = hir.as_ref().and_then(Regular::new).map(std::sync::Arc::new) {
            let shared = std::sync::Arc::clone(&regular);
            let states = Pool::new(Box::new(move || State::Regular(shared.cache())) as Box<_>);
            return Ok(Self { engine: Engine::Regular(regular), can_be_empty, states });
        }
        let program = backtrack::compile(&tree.expr, |group| tree.backrefs.contains(group), dialect)
            .map_err(|backtrack::Refused(what)| what)?;
        let states = Pool::new(Box::new(|| State::Backtrack(backtrack::Scratch::default())) as Box<_>);
        Ok(Self { engine: Engine::Backtrack(program), can_be_empty, states })
    }

    fn find(
        &self,
        state: &mut State,
        text: &str,
        at: usize,
        anchored: bool,
        steps: &mut u64,
    ) -> Result<Option<Span>, GaveUp> {
        match (&self.engine, state) {
            (Engine::Regular(regular), State::Regular(cache)) => regular.find(cache, text, at, anchored, steps),
            (Engine::Backtrack(program), State::Backtrack(scratch)) => program.find(scratch, text, at, anchored, steps),
            _ => unreachable!("the pool makes states of the engine"),
        }
    }
}

impl Pattern {
    /// `path` says in an error where the pattern came from.
    pub(crate) fn new(source: &str, dialect: Dialect, path: &str) -> Result<Self, LoadError> {
        if source.len() > MOST_SOURCE_BYTES {
            let (size, limit) = (source.len() as u64, MOST_SOURCE_BYTES as u64);
            return Err(LoadError::TooLarge { what: "a pattern", size, limit });
        }
        let error = |message: String| LoadError::Pattern { path: path.into(), pattern: source.into(), message };
        let translated = match dialect {
            Dialect::FancyRegex => source.into(),
            Dialect::Oniguruma => oniguruma::translate(source).map_err(|problem| error(problem.to_string()))?,
        };
        let regex = Regex::new(&translated, dialect).map_err(error)?;
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
            Matcher::Regex(regex) => regex.can_be_empty,
        }
    }

    /// Whether there is a match. Steps come off the budget.
    pub(crate) fn is_match(&self, text: &str, budget: &mut Budget) -> Result<bool, PatternError> {
        match &self.matcher {
            Matcher::Regex(regex) => {
                let found = regex.find(&mut regex.states.get(), text, 0, false, &mut budget.steps);
                found.map(|found| found.is_some()).map_err(|why| self.gave_up(0, why))
            }
            Matcher::String(finder) => Ok(finder.find(text.as_bytes()).is_some()),
        }
    }

    /// Calls `found` with every match, from front to back. An empty match right behind another match does not count. Steps
    /// come off the budget.
    pub(crate) fn for_each_match(
        &self,
        text: &str,
        budget: &mut Budget,
        mut found: impl FnMut(Span),
    ) -> Result<(), PatternError> {
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
        let mut state = regex.states.get();
        while at <= text.len() && !text.is_empty() {
            let mut find =
                |here| regex.find(&mut state, text, at, here, &mut budget.steps).map_err(|why| self.gave_up(at, why));
            let here = if was_here { find(true)? } else { None };
            let matched = if here.is_some() { here } else { find(false)? };
            let Some(matched) = matched else { break };
            let (start, end) = (matched.start as usize, matched.end as usize);
            was_here = start == at;
            if start == end && last_end == Some(end) {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            at = end;
            last_end = Some(at);
            found(matched);
        }
        Ok(())
    }

    fn gave_up(&self, byte: usize, why: GaveUp) -> PatternError {
        let message = match why {
            GaveUp::Steps => {
                "it takes more steps than the text may cost; a pattern that looks far ahead in each place does"
            }
            GaveUp::Automaton => "its automaton cannot read the text",
        };
        PatternError { pattern: self.source.clone(), byte, message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fancy_regex::Regex;
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
                compiled.for_each_match(&text, &mut Budget::of_text(text.len()), |span| found.push(span)).expect("it is easy");
                prop_assert_eq!(found, by_searches(pattern, &text), "{} in {:?}", pattern, text);
            }
        }
    }
}
