//! The search for tokens in a text, in linear time whatever the tokens are.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::HashMap;
use crate::error::LoadError;
use crate::memory::Grow;
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
    /// all tokens if there are many, with which building the automaton could.
    long: Option<LongTokenTrie>,
}

/// A token that was found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TokenMatch {
    /// The index in [`AddedTokens::tokens`](super::AddedTokens::tokens).
    pub(super) token: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The tokens that are longer than [`TokenSearch::USUAL`], or all of them. The text is read once,
/// backwards from its end: a token starts exactly where the bytes read so far end with the reversed
/// token.
#[derive(Debug)]
struct LongTokenTrie {
    /// A trie of the reversed tokens. The root is node 0.
    nodes: Vec<TrieNode>,
    /// The edges of nodes with several children, except for the first edge of each node.
    more_edges: HashMap<(u32, u8), u32>,
    /// Per token: its index in [`AddedTokens::tokens`](super::AddedTokens::tokens), and its length.
    tokens: Vec<(usize, usize)>,
}

/// No token, in place of an index in [`LongTokenTrie::tokens`].
const NO_TOKEN: u32 = u32::MAX;

/// A node of the trie. Most have one child, which usually follows them in memory.
#[derive(Debug, Clone, Copy)]
struct TrieNode {
    /// The first child; 0 if there is none.
    child: u32,
    /// The byte of the edge to it.
    byte: u8,
    has_more: bool,
    /// The node of the longest proper suffix of this node's text.
    fail: u32,
    /// The longest token that is a suffix of this node's text, in [`LongTokenTrie::tokens`].
    longest: u32,
}

impl TrieNode {
    const NEW: Self = Self { child: 0, byte: 0, has_more: false, fail: 0, longest: NO_TOKEN };
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
        // The trie does not find empty forms.
        let usual_len = if forms.len() > Self::MANY { 0 } else { Self::USUAL };
        let (usual, long): (Vec<_>, Vec<_>) = forms.iter().zip(tokens).partition(|(form, _)| form.len() <= usual_len);
        // By default, the crate builds a DFA if there are few tokens.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(if long.is_empty() { None } else { Some(AhoCorasickKind::ContiguousNFA) })
            .build(usual.iter().map(|(form, _)| form))
            .map_err(|error| LoadError::shape("added_tokens", error.to_string()))?;
        let long = (!long.is_empty()).then(|| LongTokenTrie::new(&long));
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
        let starts = known.long.get_or_insert_with(|| long.starts(text));
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

impl LongTokenTrie {
    fn new(tokens: &[(&String, usize)]) -> Self {
        let lengths = tokens.iter().map(|&(form, token)| (token, form.len())).collect();
        let mut made = Self { nodes: vec![TrieNode::NEW], more_edges: HashMap::default(), tokens: lengths };
        for (number, &(form, _)) in (0..).zip(tokens) {
            made.nodes.grow(form.len());
            let mut node = 0;
            for byte in form.bytes().rev() {
                node = made.child(node, byte).unwrap_or_else(|| made.add_child(node, byte));
            }
            // Of two tokens with the same form, the first counts.
            let longest = &mut made.nodes[node as usize].longest;
            *longest = (*longest).min(number);
        }
        // Shorter texts first, because the links of a node lead to shorter texts. Per token: the
        // text before its last node, and that node.
        let mut paths: Vec<(&[u8], u32)> = tokens.iter().map(|(form, _)| (form.as_bytes(), 0)).collect();
        while !paths.is_empty() {
            paths.retain_mut(|(rest, last)| {
                let Some((&byte, before)) = rest.split_last() else { return false };
                let node = made.child(*last, byte).expect("the token was added");
                let fail = if *last == 0 { 0 } else { made.step(made.nodes[*last as usize].fail, byte) };
                let shorter = made.nodes[fail as usize].longest;
                let links = &mut made.nodes[node as usize];
                links.fail = fail;
                if links.longest == NO_TOKEN {
                    links.longest = shorter;
                }
                (*rest, *last) = (before, node);
                true
            });
        }
        made
    }

    fn child(&self, node: u32, byte: u8) -> Option<u32> {
        let TrieNode { child, byte: first, has_more, .. } = self.nodes[node as usize];
        match child {
            0 => None,
            child if first == byte => Some(child),
            _ if has_more => self.more_edges.get(&(node, byte)).copied(),
            _ => None,
        }
    }

    fn add_child(&mut self, node: u32, byte: u8) -> u32 {
        let child = self.nodes.len() as u32;
        push(&mut self.nodes, TrieNode::NEW);
        let parent = &mut self.nodes[node as usize];
        if parent.child == 0 {
            (parent.child, parent.byte) = (child, byte);
        } else {
            parent.has_more = true;
            self.more_edges.insert((node, byte), child);
        }
        child
    }

    /// The node of the longest suffix of a node's text followed by one more byte.
    fn step(&self, mut node: u32, byte: u8) -> u32 {
        loop {
            match self.child(node, byte) {
                Some(child) => return child,
                None if node == 0 => return 0,
                None => node = self.nodes[node as usize].fail,
            }
        }
    }

    /// The longest token at each position where one starts, the last position first.
    fn starts(&self, text: &str) -> Vec<TokenMatch> {
        let mut starts = vec![];
        let mut node = 0;
        for (start, &byte) in text.as_bytes().iter().enumerate().rev() {
            node = self.step(node, byte);
            if let Some(&(token, len)) = self.tokens.get(self.nodes[node as usize].longest as usize) {
                push(&mut starts, TokenMatch { token, start, end: start + len });
            }
        }
        starts
    }
}
