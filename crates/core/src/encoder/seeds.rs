//! The words that a word cache contains before the first text: short tokens that, as words, become
//! themselves.

use crate::byte_level;
use crate::model::Model;
use crate::vocab::TokenForm;
use crate::vocab::Vocab;
use crate::word_key::{self, Key, MAX_SHORT_LEN, is_short};

/// The seed words of a tokenizer. See the module documentation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seeds<'a> {
    vocab: &'a Vocab,
    form: TokenForm,
    model: &'a Model,
}

impl<'a> Seeds<'a> {
    /// Maximum number of tokens considered: the first ones of the vocabulary, which are usually the
    /// most frequent. Seeding all 128,000 tokens of a vocabulary was not faster, because it leaves
    /// less space for words that are not tokens.
    const MAX_TOKENS: usize = 50_000;

    pub(crate) fn new(vocab: &'a Vocab, form: TokenForm, model: &'a Model) -> Self {
        Self { vocab, form, model }
    }

    /// The short tokens that are candidates: the key of the bytes that the model reads, and the id.
    pub(crate) fn candidates(vocab: &'a Vocab, form: TokenForm) -> impl Iterator<Item = (Key, u32)> + 'a {
        vocab.iter().take(Self::MAX_TOKENS).filter_map(move |(token, id)| Some((key(token, form)?, id)))
    }

    /// The seed words and their ids.
    pub(crate) fn words(self) -> impl Iterator<Item = (Key, u32)> + 'a {
        Self::candidates(self.vocab, self.form).filter(move |&(key, id)| self.model.keeps_whole(id, key))
    }

    /// An upper bound of the number of seed words.
    pub(crate) fn len(&self) -> usize {
        if self.model.has_self_tokens() { self.vocab.len().min(Self::MAX_TOKENS) } else { 0 }
    }
}

/// The key of a token's bytes as the model reads them; `None` if they are too many.
fn key(token: &[u8], form: TokenForm) -> Option<Key> {
    let key = match form {
        TokenForm::Text | TokenForm::Ranks => word_key::of_word(token),
        TokenForm::Printable => {
            let (mut bytes, mut len) = ([0; MAX_SHORT_LEN + 1], 0);
            for byte in byte_level::bytes(token) {
                *bytes[..MAX_SHORT_LEN].get_mut(len)? = byte?;
                len += 1;
            }
            word_key::of_range(&bytes, 0, len as u32)
        }
    };
    is_short(key).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{RunOptions, count_batch};
    use crate::error::EncodeError;
    use crate::model::ModelScratch;
    use crate::options::EncodeOptions;
    use crate::tokenizer::Tokenizer;
    use serde_json::{Map, Value, json};

    /// A tokenizer of the letters a to e and their merges; "abc" is a token, but as a word it
    /// becomes "ab" and "c".
    fn file(model: &Value) -> Tokenizer {
        let bytes = byte_level::CHARACTERS.iter().map(char::to_string);
        let longer = ["ab", "bc", "abc", "de", "cde", "Ġde", "éé", "abcdeabcdeabcdea"].map(str::to_owned);
        let vocab: Map<String, Value> = bytes.chain(longer).zip(0..).map(|(token, id)| (token, json!(id))).collect();
        let merges = ["a b", "b c", "a bc", "d e", "c de", "Ġ de", "é é"];
        let mut all = json!({"type": "BPE", "vocab": vocab, "merges": merges});
        all.as_object_mut().expect("an object").extend(model.as_object().cloned().unwrap_or_default());
        let byte_level =
            json!({"type": "ByteLevel", "add_prefix_space": false, "use_regex": true, "trim_offsets": true});
        let file = json!({"version": "1.0", "pre_tokenizer": byte_level, "model": all});
        Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound")
    }

    fn words(tokenizer: &Tokenizer) -> Vec<(Key, u32)> {
        let seeds =
            Seeds::new(&tokenizer.pipeline.parts.vocab, tokenizer.pipeline.token_form, &tokenizer.pipeline.model);
        let words: Vec<_> = seeds.words().collect();
        assert!(words.len() <= seeds.len());
        for &(key, id) in &words {
            let (bytes, mut symbols) = (key.to_le_bytes(), vec![]);
            tokenizer
                .pipeline
                .model
                .tokenize(word_key::word(&bytes), key, &mut ModelScratch::default(), &mut symbols)
                .expect("bytes are tokens");
            assert_eq!(symbols.iter().map(|symbol| symbol.id).collect::<Vec<_>>(), [id], "{bytes:?}");
        }
        words
    }

    #[test]
    fn seeds_are_the_short_tokens_that_become_themselves() {
        let merged = file(&json!({}));
        let of = |token: &[u8]| (word_key::of_word(token), merged.pipeline.parts.vocab.id(token).expect("a token"));
        let known = words(&merged);
        assert_eq!(known.len(), 256 + 6, "neither the long one nor the one that falls apart");
        assert!(known.contains(&of(b"cde")) && !known.contains(&of(b"abc")));
        assert!(known.iter().any(|&(key, _)| key == word_key::of_word(b" de")), "not its printable form");
        let whole = words(&file(&json!({"ignore_merges": true})));
        assert_eq!(whole.len(), 256 + 7);
    }

    #[test]
    fn models_with_dropout_or_a_suffix_have_no_seeds() {
        assert_eq!(words(&file(&json!({"dropout": 0.5}))), []);
        assert_eq!(words(&file(&json!({"end_of_word_suffix": "</w>"}))), []);
    }

    #[test]
    fn the_first_text_finds_them_and_a_single_text_does_not_wait_for_them() {
        let tokenizer = file(&json!({}));
        let count = |text: &str| tokenizer.count(text.into(), &EncodeOptions::default()).expect("a text");
        count("ab de cde abc");
        assert_eq!(tokenizer.cache_counts(), (2, 2), "ab and \" de\" are; \" cde\" and \" abc\" are no tokens");
        // While another text uses that state.
        let count_within = tokenizer.with_encoder(|_| Ok::<_, EncodeError>(count("ab de")));
        assert_eq!(count_within, Ok(2));
        assert_eq!(tokenizer.cache_counts(), (2, 4));
    }

    #[test]
    fn a_large_batch_does_not_begin_without_them() {
        let tokenizer = file(&json!({}));
        let run = RunOptions { threads: Some(1), ..RunOptions::default() };
        let counts = |text: &str| {
            let before = tokenizer.cache_counts();
            // The file's encoder state is in use, so a second one is created.
            tokenizer
                .with_encoder(|_| count_batch(&tokenizer, &[text.into()], &EncodeOptions::default(), &run))
                .expect("a text");
            let missed = tokenizer.with_encoder(|_| Ok::<_, EncodeError>(tokenizer.cache_counts().1 - before.1));
            missed.expect("there is memory")
        };
        assert_eq!(counts("ab de"), 2);
        assert_eq!(counts(&" de".repeat(1 << 17)), 0);
    }
}
