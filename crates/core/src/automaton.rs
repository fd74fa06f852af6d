//! Finds all tokens that end at each position of a text in time linear in the text: an Aho-Corasick
//! automaton over a [`Trie`].
//!
//! The models search from each start position, which takes up to as many steps as the longest token
//! has bytes. For tokens of thousands of bytes and a text of one repeated letter this is too slow,
//! so the models use the automaton instead.

use crate::error::LoadError;
use crate::memory::fallible::copies;
use crate::trie::{Node, Trie};

/// No slot: the root if it is a state, no token if it is an output.
const NO_SLOT: u32 = u32::MAX;

/// Vocabularies with a token longer than this, in bytes, are searched by an automaton.
pub(crate) const MAX_TRIE_TOKEN_BYTES: usize = 512;

/// Per slot of the trie: the data of the node in it.
#[derive(Debug)]
pub(crate) struct Automaton {
    /// The failure link: the node of the longest proper suffix of this node's text.
    fail: Vec<u32>,
    /// The output link: the node of the longest proper suffix that is a token.
    output: Vec<u32>,
    /// Length of the node's text in bytes.
    depth: Vec<u32>,
}

/// A state of an automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State(u32);

impl State {
    pub(crate) const START: Self = Self(NO_SLOT);
}

impl Automaton {
    /// Builds the links for a trie and the tokens in it.
    pub(crate) fn new<'t>(trie: &Trie, tokens: impl Iterator<Item = &'t [u8]>) -> Self {
        let slots = trie.slots();
        let mut automaton =
            Self { fail: copies(NO_SLOT, slots), output: copies(NO_SLOT, slots), depth: copies(0, slots) };
        // Shorter texts first, because the links of a node lead to shorter texts. Per token: the
        // text after its last node, and the slot of that node.
        let mut paths: Vec<(&[u8], u32)> = tokens.map(|token| (token, NO_SLOT)).collect();
        let mut depth = 0;
        while !paths.is_empty() {
            depth += 1;
            paths.retain_mut(|(rest, last)| {
                let Some((&byte, after)) = rest.split_first() else { return false };
                let slot = trie.child(automaton.node(trie, *last), byte).expect("the trie has the token");
                if automaton.depth[slot as usize] == 0 {
                    automaton.depth[slot as usize] = depth;
                    let before = if depth == 1 { None } else { Some(automaton.fail[*last as usize]) };
                    let fail = before.map_or(NO_SLOT, |before| automaton.step(trie, State(before), byte).0);
                    automaton.fail[slot as usize] = fail;
                    automaton.output[slot as usize] = automaton.longest_at(trie, fail);
                }
                (*rest, *last) = (after, slot);
                true
            });
        }
        automaton
    }

    fn node(&self, trie: &Trie, slot: u32) -> Node {
        if slot == NO_SLOT { trie.root() } else { trie.node(slot) }
    }

    /// The slot of the longest token that is a suffix of a state's text.
    fn longest_at(&self, trie: &Trie, slot: u32) -> u32 {
        match slot {
            NO_SLOT => NO_SLOT,
            _ if trie.id_at(slot).is_some() => slot,
            _ => self.output[slot as usize],
        }
    }

    /// The state after the next byte.
    pub(crate) fn step(&self, trie: &Trie, State(mut slot): State, byte: u8) -> State {
        loop {
            match trie.child(self.node(trie, slot), byte) {
                Some(child) => return State(child),
                None if slot == NO_SLOT => return State::START,
                None => slot = self.fail[slot as usize],
            }
        }
    }

    /// The length of a state's text in bytes: the longest suffix of the text so far that a token
    /// starts with.
    pub(crate) fn depth(&self, state: State) -> usize {
        if state.0 == NO_SLOT { 0 } else { self.depth[state.0 as usize] as usize }
    }

    /// The tokens that are suffixes of a state's text, longest first: id and length in bytes.
    pub(crate) fn tokens<'a>(&'a self, trie: &'a Trie, state: State) -> impl Iterator<Item = (u32, usize)> + 'a {
        let found = |slot: u32| (slot != NO_SLOT).then_some(slot);
        std::iter::successors(found(self.longest_at(trie, state.0)), move |&slot| found(self.output[slot as usize]))
            .map(|slot| (trie.id_at(slot).expect("outputs are tokens"), self.depth[slot as usize] as usize))
    }

    /// The maximum number of tokens that end at one position of a text. Takes at most one step per
    /// byte of all tokens.
    pub(crate) fn max_nested_tokens(&self, trie: &Trie) -> usize {
        let ends = (0..trie.slots() as u32).filter(|&slot| trie.id_at(slot).is_some());
        ends.map(|slot| self.tokens(trie, State(slot)).count()).max().unwrap_or(0)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        (self.fail.capacity() + self.output.capacity() + self.depth.capacity()) * 4
    }
}

/// Reversed tokens. Running their automaton backwards over a text finds the longest token that
/// starts at each position.
#[derive(Debug)]
pub(crate) struct LongestFromEnd {
    reversed: Trie,
    automaton: Automaton,
}

impl LongestFromEnd {
    /// Empty tokens are left out; of equal tokens the last one counts.
    pub(crate) fn new<'t>(tokens: impl Iterator<Item = (&'t [u8], u32)>) -> Result<Self, LoadError> {
        let reversed = |(token, id): (&[u8], u32)| (token.iter().rev().copied().collect(), id);
        let tokens: Vec<(Vec<u8>, u32)> = tokens.map(reversed).collect();
        let reversed = Trie::new(tokens.iter().map(|(token, id)| (&token[..], *id)))?;
        let automaton = Automaton::new(&reversed, tokens.iter().map(|(token, _)| &token[..]));
        Ok(Self { reversed, automaton })
    }

    /// The positions at which a token starts, the last one first, each with the id and the length
    /// of the longest token there.
    pub(crate) fn search(&self, text: &[u8]) -> impl Iterator<Item = (usize, u32, usize)> {
        let mut state = State::START;
        text.iter().enumerate().rev().filter_map(move |(at, &byte)| {
            state = self.automaton.step(&self.reversed, state, byte);
            let (id, len) = self.automaton.tokens(&self.reversed, state).next()?;
            Some((at, id, len))
        })
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.reversed.memory_bytes() + self.automaton.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_tokens_are_found_at_each_position(
            tokens in prop::collection::btree_set("[ab]{1,6}|é[ab]", 0..20),
            text in "[abé]{0,40}",
        ) {
            let tokens: Vec<String> = tokens.into_iter().collect();
            let trie = Trie::new(tokens.iter().map(|token| token.as_bytes()).zip(0..)).expect("there is memory");
            let automaton = Automaton::new(&trie, tokens.iter().map(|token| token.as_bytes()));
            let suffixes = |token: &String| tokens.iter().filter(|other| token.ends_with(*other)).count();
            let max = tokens.iter().map(suffixes).max().unwrap_or(0);
            prop_assert_eq!(automaton.max_nested_tokens(&trie), max);
            let mut state = State::START;
            for (at, &byte) in text.as_bytes().iter().enumerate() {
                state = automaton.step(&trie, state, byte);
                let longest = (0..=at + 1).find(|&from| trie.descend(&text.as_bytes()[from..=at]).is_some());
                prop_assert_eq!(automaton.depth(state), at + 1 - longest.expect("all start with nothing"));
                let ends = |(id, token): (usize, &String)| {
                    text.as_bytes()[..=at].ends_with(token.as_bytes()).then_some((id as u32, token.len()))
                };
                let mut expected: Vec<_> = tokens.iter().enumerate().filter_map(ends).collect();
                expected.sort_by_key(|&(_, len)| std::cmp::Reverse(len));
                prop_assert_eq!(automaton.tokens(&trie, state).collect::<Vec<_>>(), expected);
            }
        }
    }
}
