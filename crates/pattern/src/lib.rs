//! Regular expressions and plain strings as patterns. This is the general engine for splitting and
//! replacing, and the oracle of the scanners.
//!
//! - [`oniguruma`]: translates the patterns of a tokenizer.json to the syntax of the crate
//!   fancy-regex, which parses all patterns.
//! - [`regular`]: matches patterns with a finite automaton.
//! - [`backtrack`]: matches all other patterns.
//!
//! Both engines count their steps. All searches in a text share one step budget, so that no pattern
//! takes more than linear time.

mod backtrack;
pub mod meter;
mod oniguruma;
mod regular;
pub mod span;
#[cfg(feature = "testing")]
pub mod testing;

use fancy_regex::Expr;
use memchr::memmem::Finder;
use regex_automata::util::pool::Pool;

use thiserror::Error;

pub use span::Span;

use backtrack::Program;
use regular::Regular;

/// The regular expression syntax of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Oniguruma with its default syntax, for a tokenizer.json.
    Oniguruma,
    /// The crate fancy-regex, as tiktoken uses it, for the pattern of a rank file.
    FancyRegex,
}

/// Maximum length in bytes of a pattern. Those of real files have a few thousand bytes. Patterns of
/// saved tokenizers list all ranges of a class, which takes up to 13,000 bytes per class.
pub const MAX_SOURCE_BYTES: usize = 256 << 10;

/// A compiled pattern. The mutable state of a search comes from a pool.
#[derive(Debug)]
pub struct Pattern {
    source: String,
    matcher: Matcher,
}

#[derive(Debug)]
enum Matcher {
    Regex(Box<Regex>),
    /// A plain string, which is not empty.
    String(Box<Finder<'static>>),
}

#[derive(Debug)]
struct Regex {
    engine: Engine,
    /// Whether a match may be empty; true if that is not known.
    can_be_empty: bool,
    states: Pool<
        EngineState,
        Box<dyn Fn() -> EngineState + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>,
    >,
}

#[derive(Debug)]
enum Engine {
    Regular(std::sync::Arc<Regular>),
    Backtrack(Program),
}

/// The mutable state that searches reuse.
#[allow(clippy::large_enum_variant, reason = "all states of a pattern are of the same variant")]
#[derive(Debug)]
enum EngineState {
    Regular(regular::Cache),
    Backtrack(backtrack::SearchScratch),
}

/// Why a search was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum GaveUp {
    /// The step budget is exhausted.
    #[error("it exceeds the step limit of this text, as patterns do that look far ahead at each position")]
    Steps,
    /// The automaton failed on this text. No pattern is known for which this happens.
    #[error("its automaton cannot read the text")]
    Automaton,
}

/// A search that ended without a result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the pattern {pattern:?} gave up at byte {byte}: {why}")]
pub struct PatternError {
    /// The source of the pattern.
    pub pattern: String,
    /// The start of the search, in bytes of the searched text.
    pub byte: usize,
    /// The reason.
    pub why: GaveUp,
}

/// A pattern that cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CompileError {
    /// The source is longer than [`MAX_SOURCE_BYTES`].
    #[error("it has {bytes} bytes, and {MAX_SOURCE_BYTES} are allowed")]
    TooLong {
        /// The length of the source.
        bytes: usize,
    },
    /// The source is not valid, or has a construct that is not supported.
    #[error("{0}")]
    Syntax(String),
}

/// Whether a match of the expression may be empty; true if that is not known.
fn can_be_empty(expr: &Expr) -> bool {
    fn may_be(expr: &Expr) -> bool {
        match expr {
            Expr::Concat(parts) => parts.iter().all(may_be),
            Expr::Alt(branches) => branches.iter().any(may_be),
            Expr::Group(body) => may_be(body),
            Expr::AtomicGroup(body) => may_be(body),
            Expr::Repeat { child, lo, .. } => *lo == 0 || may_be(child),
            other => regular::as_hir(other).and_then(|hir| hir.properties().minimum_len()).unwrap_or(0) == 0,
        }
    }
    // `\K` drops what was matched before it.
    may_be(expr) || expr.has_descendant(|part| matches!(part, Expr::KeepOut))
}

impl Regex {
    fn new(translated: &str, dialect: Dialect) -> Result<Self, String> {
        let tree = Expr::parse_tree(translated).map_err(|problem| problem.to_string())?;
        let hir = regular::as_hir(&tree.expr);
        let can_be_empty = can_be_empty(&tree.expr);
        if let Some(regular) = hir.as_ref().and_then(Regular::new).map(std::sync::Arc::new) {
            let shared = std::sync::Arc::clone(&regular);
            let states = Pool::new(Box::new(move || EngineState::Regular(shared.cache())) as Box<_>);
            return Ok(Self { engine: Engine::Regular(regular), can_be_empty, states });
        }
        let program = backtrack::compile(&tree.expr, |group| tree.backrefs.contains(group), dialect)
            .map_err(|backtrack::Refused(what)| what)?;
        let states = Pool::new(Box::new(|| EngineState::Backtrack(backtrack::SearchScratch::default())) as Box<_>);
        Ok(Self { engine: Engine::Backtrack(program), can_be_empty, states })
    }

    fn find(
        &self,
        state: &mut EngineState,
        text: &str,
        at: usize,
        anchored: bool,
        steps: &mut u64,
    ) -> Result<Option<Span>, GaveUp> {
        match (&self.engine, state) {
            (Engine::Regular(regular), EngineState::Regular(cache)) => regular.find(cache, text, at, anchored, steps),
            (Engine::Backtrack(program), EngineState::Backtrack(scratch)) => {
                program.find(scratch, text, at, anchored, steps)
            }
            _ => unreachable!("the pool makes states of the engine"),
        }
    }
}

/// Whether the source of a regular expression may have assertions or references. Only the
/// constructs that most expressions consist of are read; any other counts as such.
fn looks_around(source: &str) -> bool {
    let mut characters = source.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        let is_plain = match character {
            '\\' => characters
                .next()
                .is_some_and(|escaped| "sSdDwWpPrnt".contains(escaped) || escaped.is_ascii_punctuation()),
            '^' => before == '[',
            '$' => false,
            '(' if characters.next_if_eq(&'?').is_some() => {
                characters.next_if_eq(&'i');
                characters.next() == Some(':')
            }
            _ => true,
        };
        if !is_plain {
            return true;
        }
        before = character;
    }
    false
}

impl Pattern {
    /// Compiles a regular expression.
    pub fn new(source: &str, dialect: Dialect) -> Result<Self, CompileError> {
        if source.len() > MAX_SOURCE_BYTES {
            return Err(CompileError::TooLong { bytes: source.len() });
        }
        let translated = match dialect {
            Dialect::FancyRegex => source.into(),
            Dialect::Oniguruma => {
                oniguruma::translate(source).map_err(|problem| CompileError::Syntax(problem.to_string()))?
            }
        };
        let regex = Regex::new(&translated, dialect).map_err(CompileError::Syntax)?;
        Ok(Self { source: source.into(), matcher: Matcher::Regex(Box::new(regex)) })
    }

    /// Rewrites a fancy-regex pattern so that Oniguruma finds the same matches. The error names the
    /// part for which this is impossible.
    pub fn in_oniguruma(source: &str) -> Result<String, String> {
        oniguruma::respell(source).map_err(|problem| problem.to_string())
    }

    /// Compiles a pattern that matches `text` literally.
    pub fn literal(text: &str) -> Result<Self, CompileError> {
        if text.is_empty() {
            return Self::new(text, Dialect::FancyRegex);
        }
        Ok(Self { source: text.into(), matcher: Matcher::String(Box::new(Finder::new(text).into_owned())) })
    }

    /// The string to match, if the pattern is a plain string.
    pub fn as_string(&self) -> Option<&str> {
        matches!(self.matcher, Matcher::String(_)).then_some(&self.source)
    }

    /// The source of the regular expression, if the pattern is one.
    pub fn as_regex(&self) -> Option<&str> {
        matches!(self.matcher, Matcher::Regex(_)).then_some(&self.source)
    }

    /// Whether a match may be empty. This may be true for a pattern that has no empty matches.
    pub fn can_be_empty(&self) -> bool {
        match &self.matcher {
            Matcher::String(_) => false,
            Matcher::Regex(regex) => regex.can_be_empty,
        }
    }

    /// Whether there is a match. Takes the steps of the search from `steps`.
    pub fn is_match(&self, text: &str, steps: &mut u64) -> Result<bool, PatternError> {
        match &self.matcher {
            Matcher::Regex(regex) => {
                let found = regex.find(&mut regex.states.get(), text, 0, false, steps);
                found.map(|found| found.is_some()).map_err(|why| self.gave_up(0, why))
            }
            Matcher::String(finder) => Ok(finder.find(text.as_bytes()).is_some()),
        }
    }

    /// Whether a character of a text is certainly in a match, whatever is around it: it is a match
    /// alone, and the expression has neither assertions nor empty matches.
    pub fn matches_anywhere(&self, character: char) -> bool {
        const STEPS: u64 = 1 << 12;
        !self.can_be_empty()
            && self.as_regex().is_some_and(|source| !looks_around(source))
            && self.is_match(character.encode_utf8(&mut [0; 4]), &mut { STEPS }).unwrap_or(false)
    }

    /// Calls `found` with every match, from left to right. An empty match directly after another
    /// match is ignored. Takes the steps of all searches from `steps`.
    pub fn for_each_match(&self, text: &str, steps: &mut u64, mut found: impl FnMut(Span)) -> Result<(), PatternError> {
        let regex = match &self.matcher {
            Matcher::Regex(regex) => regex,
            Matcher::String(finder) => {
                let len = finder.needle().len();
                finder.find_iter(text.as_bytes()).for_each(|start| found(Span::new(start, start + len)));
                return Ok(());
            }
        };
        // Searches advance as in the reference, which is visible to patterns with `\G`: after an
        // ignored empty match, the next search starts one character later. An empty text has no
        // matches.
        let (mut at, mut last_end) = (0, None);
        // Patterns that split into words usually match directly after the previous match. An
        // anchored search there is cheaper, because it need not find the start of the match. Its
        // result is always the leftmost match.
        let mut was_here = false;
        let mut state = regex.states.get();
        while at <= text.len() && !text.is_empty() {
            let mut find = |here| regex.find(&mut state, text, at, here, steps).map_err(|why| self.gave_up(at, why));
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
        PatternError { pattern: self.source.clone(), byte, why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fancy_regex::Regex;
    use proptest::prelude::*;

    /// The matches of the reference, by unanchored searches only.
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
                let compiled = Pattern::new(pattern, Dialect::FancyRegex).expect("it compiles");
                compiled.for_each_match(&text, &mut crate::testing::steps(text.len()), |span| found.push(span)).expect("it is easy");
                prop_assert_eq!(found, by_searches(pattern, &text), "{} in {:?}", pattern, text);
            }
        }
    }
}
