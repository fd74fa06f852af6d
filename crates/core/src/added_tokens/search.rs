//! The search for tokens in a text, in linear time whatever the tokens are.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::automaton::LongestFromEnd;
use crate::error::LoadError;
use crate::memory::fallible::push;

/// Finds the leftmost token, and the longest of those that start at the same position.
#[derive(Debug)]
pub(super) struct TokenSearch {
    /// Finds tokens of usual length. For each match it may read beyond the match by the length of
    /// the longest of them.
    automaton: AhoCorasick,
    /// Maps the automaton's patterns to indices in
    /// [`AddedTokens::tokens`](super::AddedTokens::tokens).
    tokens: Vec<usize>,
    /// Finds the longer tokens, with which a search by the automaton could take quadratic time, or
    /// all tokens if there are many, with which building the automaton could. The text is read
    /// once, backwards from its end. The ids are indices in
    /// [`AddedTokens::tokens`](super::AddedTokens::tokens).
    long: Option<LongestFromEnd>,
}

/// A token that was found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TokenMatch {
    /// The index in [`AddedTokens::tokens`](super::AddedTokens::tokens).
    pub(super) token: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The matches in one text that a search already knows.
#[derive(Debug, Default)]
pub(super) struct KnownMatches {
    /// The longest of the long tokens at each position where one starts, the last position first.
    /// `None` before the text was read.
    long: Option<Vec<TokenMatch>>,
    /// The next token of usual length, if it was searched. It stays valid up to its start.
    usual: Option<Option<TokenMatch>>,
}

impl TokenSearch {
    /// The maximum usual length of a token, in bytes.
    const USUAL: usize = 128;
    /// The maximum number of tokens of the automaton. The crate sorts its states in a time that can
    /// grow with the square of their number: a tenth of a second for so many tokens that begin with
    /// each other.
    const MANY: usize = 10_000;

    pub(super) fn new(forms: &[String], tokens: Vec<usize>) -> Result<Option<Self>, LoadError> {
        if forms.is_empty() {
            return Ok(None);
        }
        // Empty forms are not found from the end.
        let usual_len = if forms.len() > Self::MANY { 0 } else { Self::USUAL };
        let (usual, long): (Vec<_>, Vec<_>) = forms.iter().zip(tokens).partition(|(form, _)| form.len() <= usual_len);
        // By default, the crate builds a DFA if there are few tokens.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(if long.is_empty() { None } else { Some(AhoCorasickKind::ContiguousNFA) })
            .build(usual.iter().map(|(form, _)| form))
            .map_err(|error| LoadError::shape("added_tokens", error.to_string()))?;
        // Of two tokens with the same form, the first counts.
        let from_end = || LongestFromEnd::new(long.iter().rev().map(|&(form, token)| (form.as_bytes(), token as u32)));
        let long = (!long.is_empty()).then(from_end).transpose()?;
        Ok(Some(Self { automaton, tokens: usual.into_iter().map(|(_, token)| token).collect(), long }))
    }

    fn find_usual(&self, text: &str, at: usize) -> Option<TokenMatch> {
        let found = self.automaton.find(aho_corasick::Input::new(text).span(at..text.len()))?;
        Some(TokenMatch { token: self.tokens[found.pattern().as_usize()], start: found.start(), end: found.end() })
    }

    /// The leftmost token from byte `at` on, and the longest of those at the same position. `known`
    /// belongs to the same text, and `at` never decreases.
    #[inline]
    pub(super) fn find(&self, text: &str, at: usize, known: &mut KnownMatches) -> Option<TokenMatch> {
        let Some(long) = &self.long else { return self.find_usual(text, at) };
        let usual = match known.usual {
            Some(found) if found.is_none_or(|found| found.start >= at) => found,
            _ => *known.usual.insert(self.find_usual(text, at)),
        };
        let starts = known.long.get_or_insert_with(|| {
            let mut starts = vec![];
            for (start, token, len) in long.search(text.as_bytes()) {
                push(&mut starts, TokenMatch { token: token as usize, start, end: start + len });
            }
            starts
        });
        while starts.last().is_some_and(|hit| hit.start < at) {
            starts.pop();
        }
        // A long token is longer than any token of usual length that starts at the same position.
        match (starts.last(), usual) {
            (Some(&long), Some(usual)) if long.start > usual.start => Some(usual),
            (Some(&long), _) => Some(long),
            (None, usual) => usual,
        }
    }
}
