//! WordPiece for many words at once. A search in a large trie mostly waits for cache lines and for
//! branches that were not predicted. With AVX-512, 64 words are matched in the lanes of vectors
//! ([`crate::simd::lane_matcher`]). Otherwise several words take turns: the search of each makes
//! one step, prefetches what its next step reads, and lets the others go on.
//!
//! The slow twin is [`WordPiece::tokenize`].

use super::wordpiece::WordPiece;
use crate::bpe::Symbol;
use crate::memory::Grow;
use crate::memory::fallible::push;
use crate::simd::Simd;
use crate::simd::lane_matcher::{LaneMatcher, MAX_LANE_LEN, MIN_WORDS, MatchTrie, WORDS};
use crate::trie::{Node, Start};

/// Number of words that take turns.
const WORDS_AT_ONCE: usize = 12;

/// The buffers of [`WordPiece::tokenize_all`], reused from call to call.
#[derive(Debug)]
pub(crate) struct InterleavedScratch {
    simd: Simd,
    /// `None` until it is needed, and if the CPU cannot match several words at once.
    matcher: Option<Box<LaneMatcher>>,
    /// The tokens of each word that takes turns.
    symbols: [Vec<Symbol>; WORDS_AT_ONCE],
}

impl InterleavedScratch {
    pub(crate) fn new(simd: Simd) -> Self {
        Self { simd, matcher: None, symbols: Default::default() }
    }
}

/// The search for the tokens of a word, which the trie has matched in part.
struct WordSearch<W> {
    word: W,
    /// Start of the token that is searched for.
    start: usize,
    /// The bytes of the word up to here lead to `node` of the trie.
    end: usize,
    node: Node,
    /// Id and end of the longest token found from `start` on.
    found: Option<(u32, usize)>,
}

impl WordPiece {
    /// Calls `each` with each word and its tokens, in any order. Leaves out words that
    /// [`Self::tokenize`] refuses, and all words if some token is very long.
    pub(crate) fn tokenize_all<W: AsRef<[u8]>>(
        &self,
        mut words: impl Iterator<Item = W>,
        scratch: &mut InterleavedScratch,
        mut each: impl FnMut(W, &[Symbol]),
    ) {
        if self.has_long_tokens() {
            return;
        }
        let InterleavedScratch { simd, matcher, symbols } = scratch;
        if matcher.is_none() {
            *matcher = LaneMatcher::new(*simd).map(Box::new);
        }
        if let Some(matcher) = matcher
            && let Some(trie) = self.trie().in_lanes(self.starting(), self.continuing())
        {
            self.tokenize_in_lanes(trie, words, matcher, symbols, each);
        } else {
            self.tokenize_in_turns(&mut words, symbols, &mut each);
        }
    }

    /// [`Self::tokenize_all`] in the lanes of vectors.
    fn tokenize_in_lanes<W: AsRef<[u8]>>(
        &self,
        trie: MatchTrie<'_>,
        words: impl Iterator<Item = W>,
        matcher: &mut LaneMatcher,
        symbols: &mut [Vec<Symbol>; WORDS_AT_ONCE],
        mut each: impl FnMut(W, &[Symbol]),
    ) {
        let mut words = words.fuse();
        loop {
            let mut group: [Option<W>; WORDS] = [const { None }; WORDS];
            matcher.clear();
            for slot in &mut group {
                let fits = |word: &W| word.as_ref().len() <= MAX_LANE_LEN && !self.is_too_long(word.as_ref());
                for word in words.by_ref() {
                    if fits(&word) {
                        matcher.push(word.as_ref());
                        *slot = Some(word);
                        break;
                    }
                    self.tokenize_in_turns(&mut std::iter::once(word), symbols, &mut each);
                }
            }
            let is_last = matcher.words() < WORDS;
            if matcher.words() < MIN_WORDS {
                return self.tokenize_in_turns(&mut group.into_iter().flatten(), symbols, &mut each);
            }
            matcher.match_all(trie);
            for (lane, word) in group.into_iter().flatten().enumerate() {
                let symbols = &mut symbols[0];
                symbols.clear();
                symbols.grow(MAX_LANE_LEN);
                symbols.extend(matcher.tokens(lane).map(|(id, len)| Symbol { id, len }));
                if symbols.is_empty() {
                    let len = word.as_ref().len() as u32;
                    symbols.extend(self.unk_id().map(|id| Symbol { id, len }));
                }
                if !symbols.is_empty() {
                    each(word, symbols);
                }
            }
            if is_last {
                return;
            }
        }
    }

    /// [`Self::tokenize_all`] without vectors: the words take turns.
    fn tokenize_in_turns<W: AsRef<[u8]>>(
        &self,
        mut words: &mut impl Iterator<Item = W>,
        symbols: &mut [Vec<Symbol>; WORDS_AT_ONCE],
        each: &mut impl FnMut(W, &[Symbol]),
    ) {
        let mut searches: [Option<WordSearch<W>>; WORDS_AT_ONCE] =
            std::array::from_fn(|_| self.next_search(&mut words));
        symbols.iter_mut().for_each(Vec::clear);
        let mut working = searches.iter().flatten().count();
        while working > 0 {
            for (slot, symbols) in searches.iter_mut().zip(&mut *symbols) {
                let Some(search) = slot else { continue };
                if !self.advance(search, symbols) {
                    continue;
                }
                let next = self.next_search(&mut words);
                working -= usize::from(next.is_none());
                if let Some(search) = std::mem::replace(slot, next)
                    && !symbols.is_empty()
                {
                    each(search.word, symbols);
                }
                symbols.clear();
            }
        }
    }

    /// Starts the search of the next word, if there is one.
    fn next_search<W: AsRef<[u8]>>(&self, words: &mut impl Iterator<Item = W>) -> Option<WordSearch<W>> {
        let mut search = WordSearch { word: words.next()?, start: 0, end: 0, node: self.trie().nowhere(), found: None };
        if !self.is_too_long(search.word.as_ref()) {
            self.begin(&mut search, Some(self.starting()), 0);
        }
        Some(search)
    }

    /// Starts the search for the token at byte `at`.
    #[inline(always)]
    fn begin<W: AsRef<[u8]>>(&self, search: &mut WordSearch<W>, start: Option<&Start>, at: usize) {
        let word = search.word.as_ref();
        (search.start, search.end, search.node, search.found) = (at, at, self.trie().nowhere(), None);
        let Some((node, id, len)) = start.and_then(|start| self.trie().first(start, &word[at..])) else { return };
        (search.end, search.node, search.found) = (at + len, node, id.map(|id| (id, at + len)));
        self.prefetch(search);
    }

    #[inline(always)]
    fn prefetch<W: AsRef<[u8]>>(&self, search: &WordSearch<W>) {
        if let Some(&byte) = search.word.as_ref().get(search.end) {
            self.trie().prefetch(search.node, byte);
        }
    }

    /// Makes one step. Returns true if the word is complete; `symbols` is then empty if
    /// [`Self::tokenize`] would refuse it.
    #[inline(always)]
    fn advance<W: AsRef<[u8]>>(&self, search: &mut WordSearch<W>, symbols: &mut Vec<Symbol>) -> bool {
        let word = search.word.as_ref();
        if let Some(&byte) = word.get(search.end)
            && let Some((node, id)) = self.trie().step(search.node, byte)
        {
            (search.node, search.end) = (node, search.end + 1);
            if let Some(id) = id {
                search.found = Some((id, search.end));
            }
            self.prefetch(search);
            return false;
        }
        let len = word.len();
        let Some((id, end)) = search.found else {
            symbols.clear();
            symbols.extend(self.unk_id().map(|id| Symbol { id, len: len as u32 }));
            return true;
        };
        push(symbols, Symbol { id, len: (end - search.start) as u32 });
        if end == len {
            return true;
        }
        self.begin(search, self.continuing(), end);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::WordPieceSettings;
    use crate::vocab::Vocab;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_have_the_tokens_that_they_have_alone(
            tokens in prop::collection::btree_set("(##)?[abé中😀#]{1,4}", 0..40),
            has_unknown in any::<bool>(),
            max_input_chars_per_word in 0usize..12,
            words in prop::collection::vec(prop_oneof![9 => "[abé中😀#]{1,10}", 1 => "[ab中]{1,30}"], 0..120),
        ) {
            let tokens: Vec<String> = has_unknown.then(|| "[UNK]".into()).into_iter().chain(tokens).collect();
            let mut builder = Vocab::builder(tokens.len(), 0);
            for (token, id) in tokens.iter().zip(0..) {
                builder.push(token.as_bytes(), id).expect("there is memory");
            }
            let vocab = builder.finish().expect("there is memory");
            let (unk_token, continuing_subword_prefix) = ("[UNK]".to_owned(), "##".to_owned());
            let settings = WordPieceSettings { unk_token, continuing_subword_prefix, max_input_chars_per_word };
            let model = WordPiece::new(&settings, &vocab).expect("there is memory");
            struct Numbered<'a>(usize, &'a [u8]);
            impl AsRef<[u8]> for Numbered<'_> {
                fn as_ref(&self) -> &[u8] {
                    self.1
                }
            }
            for simd in Simd::all() {
                let (mut scratch, mut found) = (InterleavedScratch::new(simd), vec![None; words.len()]);
                // Words before must not affect the result.
                model.tokenize_all(words.iter().take(3), &mut scratch, |_, _| {});
                let numbered = words.iter().enumerate().map(|(at, word)| Numbered(at, word.as_bytes()));
                model.tokenize_all(numbered, &mut scratch, |Numbered(at, _), symbols| found[at] = Some(symbols.to_vec()));
                for (word, found) in words.iter().zip(found) {
                    let mut expected = vec![];
                    let expected = model.tokenize(word.as_bytes(), &mut expected).is_ok().then_some(expected);
                    prop_assert_eq!(found, expected, "{:?} {:?}", simd, word);
                }
            }
        }
    }
}
