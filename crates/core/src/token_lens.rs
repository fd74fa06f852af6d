//! The lengths of tokens in bytes of the text that the model reads. Offsets are computed from them.

use crate::affix::without_prefix;
use crate::bpe::{Alphabet, Spaces};
use crate::memory::fallible::append_copies;
use crate::vocab::TokenForm;
use crate::vocab::Vocab;

/// The length of every token, unless the word makes it vary.
#[derive(Debug)]
pub(crate) struct TokenLens {
    form: TokenForm,
    /// Set if meta symbols in tokens are spaces in the text.
    spaces: Option<Spaces>,
    /// The prefix of tokens that continue a word, which the text does not contain.
    prefix: Box<[u8]>,
    /// Lengths by id, 0 for ids without a token. One byte each, so that those of common tokens stay
    /// in the L1 cache. Empty if ids are sparse.
    lens: Vec<u8>,
}

/// Marks tokens of at least this many bytes, whose length is computed from the vocabulary.
const NOT_STORED: u8 = u8::MAX;

impl TokenLens {
    /// `prefix` is the prefix of WordPiece's continuing tokens; `alphabet` is that of BPE.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(crate) fn new(
        vocab: &Vocab,
        form: TokenForm,
        spaces: Option<Spaces>,
        prefix: &[u8],
        alphabet: Option<&Alphabet>,
    ) -> Self {
        let mut all = Self { form, spaces, prefix: prefix.into(), lens: vec![] };
        append_copies(&mut all.lens, 0, vocab.dense_ids());
        for (token, id) in vocab.iter() {
            let len = all.len_of(token).min(NOT_STORED.into()) as u8;
            if let Some(entry) = all.lens.get_mut(id as usize) {
                *entry = len;
            }
        }
        // A token of byte fallback usually covers its byte, and rarely its spelling.
        if let Some(Alphabet::Characters(characters)) = alphabet
            && let Some(bytes) = &characters.byte_fallback
        {
            for &id in bytes.iter().flatten() {
                all.lens.get_mut(id as usize).into_iter().for_each(|len| *len = 1);
            }
        }
        all
    }

    /// The length of a token of `vocab`; 0 if no token has this id.
    #[inline]
    pub(crate) fn get(&self, vocab: &Vocab, id: u32) -> u32 {
        match self.lens.get(id as usize) {
            Some(&len) if len != NOT_STORED => len.into(),
            _ => self.len_of(vocab.token(id).unwrap_or_default()),
        }
    }

    fn len_of(&self, token: &[u8]) -> u32 {
        match (self.form, self.spaces) {
            (TokenForm::Printable, _) => token.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u32,
            (TokenForm::Text, Some(spaces)) => spaces.len_in_text(token) as u32,
            // A token that equals the prefix can only start a word.
            (TokenForm::Text | TokenForm::Ranks, _) => {
                let bare = without_prefix(token, &self.prefix).filter(|bare| !bare.is_empty());
                bare.unwrap_or(token).len() as u32
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.lens.capacity()
    }
}

/// What tokens can cover.
#[derive(Debug)]
pub(crate) struct TokenReach {
    /// The number of bytes of the longest token of the model.
    pub(crate) longest: usize,
    /// The maximum number of bytes of normalized text, other than white space, that one token
    /// covers if it spells them.
    pub(crate) longest_cover: usize,
    /// The maximum number of bytes of text that one token can cover, including the effect of
    /// normalization. `None` if text can vanish, or if many characters can become one unknown
    /// token.
    pub(crate) max_bytes: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_tokens_gaps_and_far_ids_have_their_lengths() {
        for far in [9, 4_000_000_000] {
            let tokens: [(&[u8], u32); 4] = [(b"a", 0), ("Ġb".as_bytes(), 2), (&[b'c'; 255], 3), (&[b'd'; 300], far)];
            let mut builder = Vocab::builder(4, 600);
            tokens.iter().for_each(|&(token, id)| builder.push(token, id).expect("there is memory"));
            let vocab = builder.finish().expect("no two share an id");
            let spaces = Some(Spaces { meta_symbol: 'Ġ', start_words: false });
            let forms = [
                (TokenForm::Printable, None, "", 2),
                (TokenForm::Text, None, "", 3),
                (TokenForm::Text, None, "Ġ", 1),
                (TokenForm::Text, None, "Ġb", 3),
                (TokenForm::Text, spaces, "", 2),
                (TokenForm::Ranks, None, "", 3),
            ];
            for (form, spaces, prefix, spaced) in forms {
                let lens = TokenLens::new(&vocab, form, spaces, prefix.as_bytes(), None);
                let got = [0, 1, 2, 3, far, 77].map(|id| lens.get(&vocab, id));
                assert_eq!(got, [1, 0, spaced, 255, 300, 0], "{form:?}");
            }
        }
    }
}
