//! WordLevel: a word is the token with that spelling, or the unknown token.

use crate::bpe::{Symbol, TokenTable};
use crate::error::EncodeError;
use crate::parts::WordLevelSettings;
use crate::vocab::Vocab;

/// The WordLevel model. An unknown word is an error if the vocabulary lacks the unknown token.
#[derive(Debug)]
pub(crate) struct WordLevel {
    words: TokenTable,
    unk_token: String,
    unk_id: Option<u32>,
}

impl WordLevel {
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(crate) fn new(settings: &WordLevelSettings, vocab: &Vocab) -> Self {
        let unk_token = settings.unk_token.clone();
        Self { words: TokenTable::new(vocab.iter()), unk_id: vocab.id(unk_token.as_bytes()), unk_token }
    }

    /// Appends the token of a word.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(crate) fn tokenize(&self, word: &[u8], out: &mut Vec<Symbol>) -> Result<(), EncodeError> {
        let found = self.words.id(word).or(self.unk_id);
        let id = found.ok_or_else(|| EncodeError::UnknownTokenMissing { token: self.unk_token.clone() })?;
        out.push(Symbol { id, len: word.len() as u32 });
        Ok(())
    }

    pub(crate) fn is_unknown(&self, id: u32) -> bool {
        self.unk_id == Some(id)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.words.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_its_token_or_the_unknown_one() {
        let mut builder = Vocab::builder(3, 0);
        for (token, id) in [("<unk>", 7), ("a", 1), ("a word longer than a key", 2)] {
            builder.push(token.as_bytes(), id).expect("there is memory");
        }
        let vocab = builder.finish().expect("the ids differ");
        let ids = |unk_token: &str, word: &str| {
            let model = WordLevel::new(&WordLevelSettings { unk_token: unk_token.into() }, &vocab);
            let mut out = vec![];
            model.tokenize(word.as_bytes(), &mut out).map(|()| out.iter().map(|s| (s.id, s.len)).collect::<Vec<_>>())
        };
        assert_eq!(ids("<unk>", "a"), Ok(vec![(1, 1)]));
        assert_eq!(ids("<unk>", "a word longer than a key"), Ok(vec![(2, 24)]));
        assert_eq!(ids("<unk>", "é"), Ok(vec![(7, 2)]));
        assert_eq!(ids("gone", "b"), Err(EncodeError::UnknownTokenMissing { token: "gone".into() }));
    }
}
