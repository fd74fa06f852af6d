//! WordPiece: greedy longest match. A word is split into the longest tokens from its start on;
//! tokens that continue a word are spelled with a prefix. A word that cannot be split completely,
//! or that has too many characters, becomes one unknown token.

use crate::automaton::{LongestFromEnd, MAX_TRIE_TOKEN_BYTES};
use crate::bpe::Symbol;
use crate::error::{EncodeError, LoadError};
use crate::memory::fallible::{append_copies, push};
use crate::parts::WordPieceSettings;
use crate::trie::{Start, Trie};
use crate::vocab::Vocab;

/// The WordPiece model. An unknown word is an error if the vocabulary lacks the unknown token.
#[derive(Debug)]
pub(crate) struct WordPiece {
    trie: Trie,
    /// Where tokens at the start of a word are searched.
    starting: Start,
    /// Where tokens after the prefix are searched; `None` if no token starts with it.
    continuing: Option<Start>,
    /// The continuing tokens without their prefix. Set if some token is so long that searching from
    /// each position would be too slow.
    long: Option<LongestFromEnd>,
    prefix: Box<[u8]>,
    unk_token: String,
    unk_id: Option<u32>,
    /// In code points.
    max_input_chars_per_word: usize,
}

impl WordPiece {
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(crate) fn new(settings: &WordPieceSettings, vocab: &Vocab) -> Result<Self, LoadError> {
        Self::with_limit(settings, vocab, MAX_TRIE_TOKEN_BYTES)
    }

    /// Like [`Self::new`]; uses the automaton if some token has more than `limit` bytes.
    fn with_limit(settings: &WordPieceSettings, vocab: &Vocab, limit: usize) -> Result<Self, LoadError> {
        let trie = Trie::new(vocab.iter())?;
        let prefix = settings.continuing_subword_prefix.as_bytes();
        let rests = vocab.iter().filter_map(|(token, id)| Some((token.strip_prefix(prefix)?, id)));
        let long = (trie.longest() > limit).then(|| LongestFromEnd::new(rests)).transpose()?;
        Ok(Self {
            long,
            starting: trie.start(trie.root()),
            continuing: trie.descend(prefix).map(|node| trie.start(node)),
            prefix: prefix.into(),
            trie,
            unk_token: settings.unk_token.clone(),
            unk_id: vocab.id(settings.unk_token.as_bytes()),
            max_input_chars_per_word: settings.max_input_chars_per_word,
        })
    }

    /// Appends the tokens of a word.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(crate) fn tokenize(&self, word: &[u8], out: &mut Vec<Symbol>) -> Result<(), EncodeError> {
        let before = out.len();
        if self.is_too_long(word) || !self.cut(word, out) {
            out.truncate(before);
            push(out, Symbol { id: self.unknown()?, len: word.len() as u32 });
        }
        Ok(())
    }

    /// Whether a word with the spelling of a token becomes that token with the token's usual
    /// length. A token that starts with the prefix is usually shorter, within a word.
    pub(crate) fn keeps_whole(&self, token: &[u8]) -> bool {
        let is_continuing = !self.prefix.is_empty() && token.starts_with(&self.prefix);
        !token.is_empty() && !is_continuing && !self.is_too_long(token)
    }

    /// Whether a token of a word may have another length than usual: the unknown token covers the
    /// word, and a token that starts with the prefix is shorter within a word than at its start.
    pub(crate) fn lengths_vary(&self, word: &[u8], tokens: &[Symbol]) -> bool {
        !self.prefix.is_empty() && word.starts_with(&self.prefix)
            || matches!(tokens, [token] if Some(token.id) == self.unk_id)
    }

    pub(super) fn is_too_long(&self, word: &[u8]) -> bool {
        word.len() > self.max_input_chars_per_word && characters(word) > self.max_input_chars_per_word
    }

    /// Appends the longest tokens from the start on; returns false if none matches at some
    /// position.
    fn cut(&self, word: &[u8], out: &mut Vec<Symbol>) -> bool {
        if let Some(long) = &self.long {
            return self.cut_long(word, long, out);
        }
        let (mut rest, mut start) = (word, Some(&self.starting));
        while !rest.is_empty() {
            let Some((id, len)) = start.and_then(|start| self.trie.longest_from(start, rest)) else { return false };
            push(out, Symbol { id, len: len as u32 });
            rest = &rest[len..];
            start = self.continuing.as_ref();
        }
        true
    }

    /// The same, with the continuing tokens found from the end.
    fn cut_long(&self, word: &[u8], long: &LongestFromEnd, out: &mut Vec<Symbol>) -> bool {
        let mut longest = vec![];
        append_copies(&mut longest, (0, 0), word.len());
        for (at, id, len) in long.search(word) {
            longest[at] = (id, len as u32);
        }
        let (mut at, mut found) = (0, self.trie.longest_from(&self.starting, word));
        while at < word.len() {
            let Some((id, len)) = found.filter(|&(_, len)| len > 0) else { return false };
            push(out, Symbol { id, len: len as u32 });
            at += len;
            found = longest.get(at).map(|&(id, len)| (id, len as usize));
        }
        true
    }

    pub(super) fn trie(&self) -> &Trie {
        &self.trie
    }

    /// Where tokens at the start of a word are searched.
    pub(super) fn starting(&self) -> &Start {
        &self.starting
    }

    /// Where tokens after the prefix are searched.
    pub(super) fn continuing(&self) -> Option<&Start> {
        self.continuing.as_ref()
    }

    pub(super) fn unk_id(&self) -> Option<u32> {
        self.unk_id
    }

    /// Whether some token is so long that another algorithm is used.
    pub(super) fn has_long_tokens(&self) -> bool {
        self.long.is_some()
    }

    fn unknown(&self) -> Result<u32, EncodeError> {
        self.unk_id.ok_or_else(|| EncodeError::UnknownTokenMissing { token: self.unk_token.clone() })
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let starts = self.starting.memory_bytes() + self.continuing.as_ref().map_or(0, Start::memory_bytes);
        self.trie.memory_bytes() + starts + self.long.as_ref().map_or(0, LongestFromEnd::memory_bytes)
    }
}

/// The number of characters in UTF-8 text.
fn characters(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::naive_models;
    use proptest::prelude::*;

    fn vocab(tokens: &[String]) -> Vocab {
        let mut builder = Vocab::builder(tokens.len(), 0);
        for (token, id) in tokens.iter().zip(0..) {
            builder.push(token.as_bytes(), id).expect("there is memory");
        }
        builder.finish().expect("the ids differ")
    }

    proptest! {
        #[test]
        fn words_are_cut_as_by_definition(
            tokens in prop::collection::vec("(##|#|é)?[ab#é中]{0,4}", 0..30),
            unk_token in prop_oneof![Just("[UNK]"), Just("a"), Just("")],
            has_unk in any::<bool>(),
            prefix in prop_oneof![4 => Just("##"), 1 => Just(""), 1 => Just("#"), 1 => Just("é")],
            limit in prop_oneof![4 => Just(100usize), 1 => 0usize..6],
            words in prop::collection::vec("[ab#é中]{0,9}", 1..20),
        ) {
            let mut tokens = tokens;
            tokens.extend(has_unk.then(|| unk_token.to_owned()));
            let vocab = vocab(&tokens);
            let settings = WordPieceSettings {
                unk_token: unk_token.into(),
                continuing_subword_prefix: prefix.into(),
                max_input_chars_per_word: limit,
            };
            let model = WordPiece::new(&settings, &vocab).expect("there is memory");
            let by_automaton = WordPiece::with_limit(&settings, &vocab, 0).expect("there is memory");
            for word in tokens.iter().chain(&words) {
                let (mut fast, mut long, mut slow) = (vec![], vec![], vec![]);
                let results = (model.tokenize(word.as_bytes(), &mut fast), naive_models::wordpiece(&settings, &vocab, word, &mut slow));
                prop_assert_eq!(&results.0, &results.1);
                prop_assert_eq!(&fast, &slow, "{:?}", word);
                prop_assert_eq!(by_automaton.tokenize(word.as_bytes(), &mut long), results.0);
                prop_assert_eq!(&long, &slow, "{:?}", word);
                if vocab.id(word.as_bytes()).is_some() && model.keeps_whole(word.as_bytes()) {
                    prop_assert_eq!(fast.len(), 1);
                }
            }
        }
    }
}
