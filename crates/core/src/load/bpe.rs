//! Builds the BPE model of a tokenizer.json from vocabulary, merges and settings.

use std::sync::Arc;

use crate::affix::{without_prefix, without_suffix};
use crate::bpe::alphabet::{CharacterIds, Characters, IdOf, Unknown, position};
use crate::bpe::merges::Merges;
use crate::bpe::{Alphabet, Bpe, Spaces, SplitPoints, TokenTable};
use crate::byte_level;
use crate::encoder::Seeds;
use crate::error::LoadError;
use crate::memory::fallible::require_for_tables;
use crate::parts::BpeSettings;
use crate::vocab::TokenForm;
use crate::vocab::Vocab;

/// Maximum number of bytes of `continuing_subword_prefix` and of `end_of_word_suffix`; `</w>` has
/// four.
const MAX_AFFIX_BYTES: usize = 64;

impl BpeSettings {
    /// Fails if an affix is too long, or if the dropout is not between 0 and 1.
    pub(crate) fn check(&self) -> Result<(), LoadError> {
        for (what, affix) in [
            ("model.continuing_subword_prefix", &self.continuing_subword_prefix),
            ("model.end_of_word_suffix", &self.end_of_word_suffix),
        ] {
            // With byte fallback, each unknown character is written with the whole prefix and
            // suffix.
            if affix.len() > MAX_AFFIX_BYTES {
                return Err(LoadError::TooLarge { what, size: affix.len() as u64, limit: MAX_AFFIX_BYTES as u64 });
            }
        }
        match self.dropout {
            Some(dropout) if !(0.0..=1.0).contains(&dropout) => {
                Err(LoadError::shape("model.dropout", format!("{dropout} is not between 0 and 1")))
            }
            _ => Ok(()),
        }
    }

    /// Builds the model. It splits words where that is exact, and reads spaces as they are in the
    /// text if possible.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(crate) fn bpe(&self, vocab: &Vocab, merges: Arc<Merges>, form: TokenForm, spaces: Option<&Spaces>) -> Bpe {
        /// Upper bound of the bytes per token and id in the tables that are built here.
        const BYTES_PER_ENTRY: usize = 64;
        require_for_tables(vocab.len().max(vocab.dense_ids()).saturating_mul(BYTES_PER_ENTRY));
        let alphabet = match form {
            TokenForm::Printable | TokenForm::Ranks => byte_alphabet(vocab),
            TokenForm::Text => self.character_alphabet(vocab),
        };
        let whole_words = self.ignore_merges.then(|| whole_words(vocab, form));
        let mut bpe = Bpe::new(alphabet, merges, whole_words, self.dropout.filter(|&dropout| dropout > 0.0));
        set_split_points(&mut bpe, vocab, spaces);
        if form == TokenForm::Printable {
            bpe.find_self_tokens(Seeds::candidates(vocab, form).map(|(_, id)| id), vocab.dense_ids());
        }
        bpe
    }

    fn character_alphabet(&self, vocab: &Vocab) -> Alphabet {
        let (prefix, suffix) = (&self.continuing_subword_prefix, &self.end_of_word_suffix);
        let mut ids: [IdOf; 4] = Default::default();
        for (token, id) in vocab.iter() {
            for is_first in [false, true] {
                for is_last in [false, true] {
                    let prefix: &[u8] = if is_first { b"" } else { prefix.as_bytes() };
                    let suffix: &[u8] = if is_last { suffix.as_bytes() } else { b"" };
                    let bare = without_prefix(token, prefix).and_then(|rest| without_suffix(rest, suffix));
                    if let Some(character) = bare.and_then(only_character) {
                        ids[position(is_first, is_last)].insert(character, id);
                    }
                }
            }
        }
        let byte_token = |byte: usize| vocab.id(format!("<0x{byte:02X}>").as_bytes());
        Alphabet::Characters(Box::new(Characters {
            ids: CharacterIds::new(ids),
            byte_fallback: self.byte_fallback.then(|| Box::new(std::array::from_fn(byte_token))),
            unknown: self.unk_token.as_ref().map(|token| Unknown {
                token: token.clone(),
                id: vocab.id(token.as_bytes()),
                fuse: self.fuse_unk,
            }),
            continuing_subword_prefix: prefix.clone(),
            end_of_word_suffix: suffix.clone(),
        }))
    }
}

/// The character of a text that consists of one character.
fn only_character(text: &[u8]) -> Option<char> {
    // A character of UTF-8 has at most four bytes.
    if text.len() > 4 {
        return None;
    }
    let mut characters = std::str::from_utf8(text).ok()?.chars();
    characters.next().filter(|_| characters.next().is_none())
}

/// Lets `bpe` split words where that is exact, and read `spaces` as they are in the text.
fn set_split_points(bpe: &mut Bpe, vocab: &Vocab, spaces: Option<&Spaces>) {
    if bpe.tokens.is_some() || bpe.dropout.is_some() {
        return;
    }
    let Alphabet::Characters(characters) = &mut bpe.alphabet else { return };
    let spaces = spaces.filter(|spaces| characters.knows(spaces.meta_symbol));
    let text = |id| vocab.token(id).and_then(|token| std::str::from_utf8(token).ok()).unwrap_or_default();
    let merges = bpe.merges.iter().map(|(left, right, _)| (text(left), text(right)));
    bpe.split_points = SplitPoints::new(merges, characters, spaces, !characters.knows_all_bytes());
    bpe.reads_spaces = bpe.split_points.is_some() && spaces.is_some();
    if let Some(spaces) = spaces.filter(|_| bpe.reads_spaces) {
        characters.read_space_as(spaces.meta_symbol);
    }
}

fn byte_alphabet(vocab: &Vocab) -> Alphabet {
    let id = |byte: usize| vocab.id(byte_level::CHARACTERS[byte].encode_utf8(&mut [0; 4]).as_bytes());
    Alphabet::Bytes { ids: Box::new(std::array::from_fn(id)), missing_is_error: false }
}

/// The tokens in the form that the model sees.
fn whole_words(vocab: &Vocab, form: TokenForm) -> TokenTable {
    let TokenForm::Printable = form else { return TokenTable::new(vocab.iter()) };
    let (mut words, mut bytes) = (TokenTable::builder(vocab.len()), vec![]);
    for (token, id) in vocab.iter() {
        bytes.clear();
        if byte_level::bytes(token).all(|byte| byte.map(|byte| bytes.push(byte)).is_some()) {
            words.push(&bytes, id);
        }
    }
    words.finish()
}

#[cfg(test)]
mod tests {
    use super::MAX_AFFIX_BYTES;
    use crate::error::LoadError;
    use crate::tokenizer::Tokenizer;
    use serde_json::json;

    #[test]
    fn affixes_have_a_maximum_length() {
        for affix in ["continuing_subword_prefix", "end_of_word_suffix"] {
            let load = |bytes: usize| {
                let mut file = json!({"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}});
                file["model"][affix] = "#".repeat(bytes).into();
                Tokenizer::from_tokenizer_json(file.to_string().as_bytes())
            };
            load(MAX_AFFIX_BYTES).expect("it is not too long");
            for bytes in [MAX_AFFIX_BYTES + 1, 10 * MAX_AFFIX_BYTES] {
                let error = load(bytes).expect_err("it is too long");
                assert!(matches!(error, LoadError::TooLarge { size, .. } if size == bytes as u64), "{error:?}");
            }
        }
    }
}
