//! The search for tokens in a text, in time that is linear in the text whatever the tokens are.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::HashMap;
use crate::error::LoadError;

/// Finds the leftmost of all tokens, and of those that start in one place the longest.
#[derive(Debug)]
pub(super) struct Search {
    /// Of tokens of usual length. For each match it may read up to the length of the longest of them beyond it.
    automaton: AhoCorasick,
    /// From the automaton's pattern to the place in [`AddedTokens::tokens`].
    tokens: Vec<usize>,
    /// The other tokens. In the automaton they would make a search the square of the text.
    long: Option<LongTokens>,
}

/// A token that was found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    /// The place in [`AddedTokens::tokens`].
    pub(super) token: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The tokens that are longer than [`Search::USUAL`]. They are found by reading a text once, from its end: what is read
/// backwards is the end of a token exactly where the token starts.
#[derive(Debug)]
struct LongTokens {
    /// A trie of the tokens backwards.
    edges: HashMap<(u32, u8), u32>,
    /// For each node the one that the longest end of its text leads to.
    fail: Vec<u32>,
    /// For each node the longest token that its text ends with, by its place and its length.
    longest: Vec<Option<(usize, usize)>>,
}

/// What a search knows of one text.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The longest long token of each place where one starts, the last place first; none if the text was not read yet.
    long: Option<Vec<Hit>>,
    /// The next of the other tokens, if it was looked for. It stays the next one up to where it starts.
    usual: Option<Option<Hit>>,
}

impl Search {
    /// Tokens are mostly shorter than this, in bytes.
    const USUAL: usize = 128;

    pub(super) fn new(forms: &[String], tokens: Vec<usize>) -> Result<Option<Self>, LoadError> {
        if forms.is_empty() {
            return Ok(None);
        }
        let (usual, long): (Vec<_>, Vec<_>) = forms.iter().zip(tokens).partition(|(form, _)| form.len() <= Self::USUAL);
        // Left to itself the crate makes a DFA of few tokens.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(if long.is_empty() { None } else { Some(AhoCorasickKind::ContiguousNFA) })
            .build(usual.iter().map(|(form, _)| form))
            .map_err(|error| LoadError::shape("added_tokens", error.to_string()))?;
        let long = (!long.is_empty()).then(|| LongTokens::new(&long));
        Ok(Some(Self { automaton, tokens: usual.into_iter().map(|(_, token)| token).collect(), long }))
    }

    fn find_usual(&self, text: &str, at: usize) -> Option<Hit> {
        let found = self.automaton.find(aho_corasick::Input::new(text).span(at..text.len()))?;
        Some(Hit { token: self.tokens[found.pattern().as_usize()], start: found.start(), end: found.end() })
    }

    /// The leftmost token from byte `at` on, and of those the longest. `known` is of the same text, and `at` never goes back.
    #[inline]
    pub(super) fn find(&self, text: &str, at: usize, known: &mut Known) -> Option<Hit> {
        let Some(long) = &self.long else { return self.find_usual(text, at) };
        let usual = match known.usual {
            Some(found) if found.is_none_or(|found| found.start >= at) => found,
            _ => *known.usual.insert(self.find_usual(text, at)),
        };
        let starts = known.long.get_or_insert_with(|| long.starts(text));
        while starts.last().is_some_and(|hit| hit.start < at) {
            starts.pop();
        }
        // A long token is longer than any other that starts where it does.
        match (starts.last(), usual) {
            (Some(&long), Some(usual)) if long.start > usual.start => Some(usual),
            (Some(&long), _) => Some(long),
            (None, usual) => usual,
        }
    }

    /// Whether a token stands anywhere in a text.
    pub(super) fn occurs_in(&self, text: &str) -> bool {
        self.find(text, 0, &mut Known::default()).is_some()
    }
}

impl LongTokens {
    fn new(tokens: &[(&String, usize)]) -> Self {
        let mut made = Self { edges: HashMap::default(), fail: vec![0], longest: vec![None] };
        // Nodes by their depth, so that a node's shorter ends are complete before it.
        let mut levels: Vec<Vec<(u32, u8, u32)>> = vec![];
        for &(form, token) in tokens {
            let mut node = 0;
            for (depth, byte) in form.bytes().rev().enumerate() {
                let next = made.fail.len() as u32;
                let parent = node;
                node = *made.edges.entry((parent, byte)).or_insert(next);
                if node == next {
                    made.fail.push(0);
                    made.longest.push(None);
                    levels.resize_with(levels.len().max(depth + 1), Vec::new);
                    levels[depth].push((parent, byte, node));
                }
            }
            // Of two tokens of the same form the first counts.
            made.longest[node as usize].get_or_insert((token, form.len()));
        }
        for (parent, byte, node) in levels.into_iter().flatten() {
            let fail = if parent == 0 { 0 } else { made.step(made.fail[parent as usize], byte) };
            made.fail[node as usize] = fail;
            made.longest[node as usize] = made.longest[node as usize].or(made.longest[fail as usize]);
        }
        made
    }

    /// The node of the longest end of a node's text and one more byte.
    fn step(&self, mut node: u32, byte: u8) -> u32 {
        loop {
            match self.edges.get(&(node, byte)) {
                Some(&next) => return next,
                None if node == 0 => return 0,
                None => node = self.fail[node as usize],
            }
        }
    }

    /// The longest token of each place where one starts, the last place first.
    fn starts(&self, text: &str) -> Vec<Hit> {
        let mut starts = vec![];
        let mut node = 0;
        for (start, &byte) in text.as_bytes().iter().enumerate().rev() {
            node = self.step(node, byte);
            starts.extend(self.longest[node as usize].map(|(token, len)| Hit { token, start, end: start + len }));
        }
        starts
    }
}
