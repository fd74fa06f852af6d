//! The symbols of a word before any merge: one per byte or per character.

use std::collections::HashMap;

use super::Symbol;
use crate::error::EncodeError;
use crate::memory::Grow;

/// How a word becomes symbols.
#[derive(Debug)]
pub(crate) enum Alphabet {
    /// Symbols are bytes.
    Bytes {
        /// The token of each byte.
        ids: Box<[Option<u32>; 256]>,
        /// Whether a byte without a token is an error, as for rank files. Otherwise it is dropped,
        /// as for a tokenizer.json.
        missing_is_error: bool,
    },
    /// Symbols are characters.
    Characters(Box<Characters>),
}

/// An alphabet of characters. It behaves as the BPE model of Hugging Face tokenizers.
#[derive(Debug)]
pub(crate) struct Characters {
    pub(crate) ids: CharacterIds,
    /// The tokens `<0x00>` to `<0xFF>`, if the file enables byte fallback.
    pub(crate) byte_fallback: Option<Box<[Option<u32>; 256]>>,
    pub(crate) unknown: Option<Unknown>,
    pub(crate) continuing_subword_prefix: String,
    pub(crate) end_of_word_suffix: String,
}

/// Ids by character.
pub(crate) type IdOf = HashMap<char, u32, foldhash::fast::RandomState>;

/// The tokens of single characters.
#[derive(Debug)]
pub(crate) struct CharacterIds {
    /// Tables for the middle, last, first and only character of a word, see [`position`]. They
    /// differ if the model has a prefix or a suffix.
    by_position: [IdOf; 4],
    /// The ids of characters below [`Self::MIDDLE`] in the middle of a word, indexed by the
    /// character.
    middle: Box<[Option<u32>]>,
}

impl CharacterIds {
    const MIDDLE: usize = 0x2600;

    /// From tables that are indexed by [`position`].
    pub(crate) fn new(by_position: [IdOf; 4]) -> Self {
        let mut alphabet = Self { by_position, middle: Box::default() };
        alphabet.fill_middle();
        alphabet
    }

    fn fill_middle(&mut self) {
        let ids = &self.by_position[position(false, false)];
        let id = |character| ids.get(&char::from_u32(character)?).copied();
        self.middle = (0..Self::MIDDLE as u32).map(id).collect();
    }

    #[inline(always)]
    fn get(&self, character: char, is_first: bool, is_last: bool) -> Option<u32> {
        match self.middle.get(character as usize) {
            Some(&id) if !is_first && !is_last => id,
            _ => self.by_position[position(is_first, is_last)].get(&character).copied(),
        }
    }

    /// Gives `other` the id of `character`, if that has one.
    fn read_as(&mut self, other: char, character: char) {
        for ids in &mut self.by_position {
            if let Some(&id) = ids.get(&character) {
                ids.insert(other, id);
            }
        }
        self.fill_middle();
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.middle) + self.by_position.iter().map(|map| map.capacity() * 9).sum::<usize>()
    }
}

/// The unknown token.
#[derive(Debug)]
pub(crate) struct Unknown {
    pub(crate) token: String,
    /// `None` if the vocabulary lacks the token, which is an error when it is needed.
    pub(crate) id: Option<u32>,
    /// Whether adjacent unknown characters become one token.
    pub(crate) fuse: bool,
}

/// The index of a position in [`CharacterIds`].
pub(crate) const fn position(is_first: bool, is_last: bool) -> usize {
    (is_first as usize) << 1 | is_last as usize
}

/// Whether a part of a word has its first and its last character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edges {
    pub(crate) starts_word: bool,
    pub(crate) ends_word: bool,
}

impl Edges {
    pub(crate) const WORD: Self = Self { starts_word: true, ends_word: true };
}

impl Alphabet {
    /// Copies to `kept` the characters of a word that have symbols, and returns whether the first
    /// and the last of the word are among them. `None` if nothing is dropped.
    pub(crate) fn without_dropped<'k>(&self, word: &[u8], kept: &'k mut Vec<u8>) -> Option<(&'k [u8], Edges)> {
        let mut edges = Edges::WORD;
        kept.clear();
        match self {
            Self::Bytes { ids, missing_is_error: false } => {
                kept.grow(word.len());
                kept.extend(word.iter().filter(|&&byte| ids[usize::from(byte)].is_some()));
            }
            Self::Characters(characters) if characters.unknown.is_none() && characters.byte_fallback.is_none() => {
                let text = std::str::from_utf8(word).ok()?;
                let last = text.len() - text.chars().next_back()?.len_utf8();
                kept.grow(word.len());
                for (at, character) in text.char_indices() {
                    if characters.ids.get(character, at == 0, at == last).is_some() {
                        kept.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    } else {
                        edges.starts_word &= at != 0;
                        edges.ends_word &= at != last;
                    }
                }
            }
            _ => return None,
        }
        (kept.len() < word.len()).then_some((&**kept, edges))
    }

    /// The ids of all bytes, if symbols are bytes and every byte is a token.
    pub(crate) fn byte_ids(&self) -> Option<Box<[u32; 256]>> {
        let Self::Bytes { ids, .. } = self else { return None };
        let ids: Vec<u32> = ids.iter().copied().collect::<Option<_>>()?;
        ids.try_into().ok()
    }

    /// Replaces `symbols` by those of `word`, which is valid UTF-8 unless symbols are bytes.
    pub(crate) fn symbols(&self, word: &[u8], symbols: &mut Vec<Symbol>) -> Result<(), EncodeError> {
        self.symbols_of_part(word, Edges::WORD, symbols)
    }

    /// [`Self::symbols`] of a part of a word.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(crate) fn symbols_of_part(
        &self,
        word: &[u8],
        edges: Edges,
        symbols: &mut Vec<Symbol>,
    ) -> Result<(), EncodeError> {
        symbols.clear();
        match self {
            Self::Bytes { ids, missing_is_error } => {
                symbols.try_grow(word.len())?;
                for (at, &byte) in word.iter().enumerate() {
                    match ids[usize::from(byte)] {
                        Some(id) => symbols.push(Symbol { id, len: 1 }),
                        None if *missing_is_error => return Err(EncodeError::NoTokenForByte { byte, at }),
                        None => {}
                    }
                }
                Ok(())
            }
            Self::Characters(characters) => characters.symbols(word, edges, symbols),
        }
    }

    /// Whether every character of a word is in a symbol, and no unknown token covers several
    /// characters.
    pub(crate) fn drops_nothing(&self) -> bool {
        match self {
            Self::Bytes { ids, missing_is_error } => *missing_is_error || ids.iter().all(Option::is_some),
            Self::Characters(c) => c.knows_all_bytes() || c.unknown.as_ref().is_some_and(|unknown| !unknown.fuse),
        }
    }

    /// Whether the tokens of a word spell a character, wherever it is in the word.
    pub(crate) fn spells(&self, character: char) -> bool {
        match self {
            Self::Bytes { ids, .. } => {
                character.encode_utf8(&mut [0; 4]).bytes().all(|byte| ids[usize::from(byte)].is_some())
            }
            Self::Characters(characters) => characters.knows_all_bytes() || characters.knows(character),
        }
    }

    /// Whether a token is the unknown token or one of byte fallback.
    pub(crate) fn is_fallback(&self, token: &str) -> bool {
        match self {
            Self::Bytes { .. } => false,
            Self::Characters(characters) => characters.is_stand_in(token),
        }
    }

    /// Whether a symbol can have another length than its token, or a byte can be in no symbol.
    pub(crate) fn lengths_vary(&self) -> bool {
        match self {
            Self::Bytes { ids, .. } => ids.iter().any(Option::is_none),
            Self::Characters(_) => true,
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::Bytes { ids, .. } => size_of_val(&**ids),
            Self::Characters(c) => c.ids.memory_bytes(),
        }
    }
}

impl Characters {
    /// Whether a character is a token at every position of a word.
    pub(crate) fn knows(&self, character: char) -> bool {
        self.ids.by_position.iter().all(|ids| ids.contains_key(&character))
    }

    /// Whether byte fallback has a token for every byte, so that no character is unknown.
    pub(crate) fn knows_all_bytes(&self) -> bool {
        self.byte_fallback.as_ref().is_some_and(|tokens| tokens.iter().all(Option::is_some))
    }

    /// Whether a token can stand for text other than its own: the unknown token and those of byte
    /// fallback.
    pub(crate) fn is_stand_in(&self, token: &str) -> bool {
        self.unknown.as_ref().is_some_and(|unknown| unknown.token == token)
            || self.byte_fallback.is_some() && token.len() == "<0x00>".len() && token.starts_with("<0x")
    }

    /// Gives the space the id of `meta_symbol`, for texts whose spaces are not replaced by it.
    pub(crate) fn read_space_as(&mut self, meta_symbol: char) {
        self.ids.read_as(' ', meta_symbol);
    }

    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn symbols(&self, word: &[u8], edges: Edges, symbols: &mut Vec<Symbol>) -> Result<(), EncodeError> {
        let word = std::str::from_utf8(word).expect("words of a text in characters start and end between characters");
        // Each symbol covers at least one byte of the word or of its prefix and suffix.
        symbols.try_grow(word.len() + self.continuing_subword_prefix.len() + self.end_of_word_suffix.len())?;
        // An unknown token is held back, because the next character may extend it. Byte fallback
        // does not flush it, so it can come after bytes that follow it in the text. Hugging Face
        // tokenizers does the same.
        let mut pending: Option<Symbol> = None;
        let mut characters = word.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let (is_first, is_last) = (edges.starts_word && at == 0, edges.ends_word && characters.peek().is_none());
            let len = character.len_utf8() as u32;
            if let Some(id) = self.ids.get(character, is_first, is_last) {
                symbols.extend(pending.take());
                symbols.push(Symbol { id, len });
                continue;
            }
            if self.push_bytes(character, is_first, is_last, symbols) {
                continue;
            }
            let Some(unknown) = &self.unknown else { continue };
            let id = || unknown.id.ok_or_else(|| EncodeError::UnknownTokenMissing { token: unknown.token.clone() });
            pending = Some(match pending {
                Some(before) if unknown.fuse => Symbol { len: before.len + len, ..before },
                before => {
                    symbols.extend(before);
                    Symbol { id: id()?, len }
                }
            });
        }
        symbols.extend(pending);
        Ok(())
    }

    /// Appends the tokens of a character's bytes, with prefix and suffix. Returns false, and
    /// appends nothing, if a byte has none.
    fn push_bytes(&self, character: char, is_first: bool, is_last: bool, symbols: &mut Vec<Symbol>) -> bool {
        let Some(tokens) = &self.byte_fallback else { return false };
        let mut buffer = [0; 4];
        let prefix = if is_first { "" } else { &self.continuing_subword_prefix };
        let suffix = if is_last { &*self.end_of_word_suffix } else { "" };
        let before = symbols.len();
        for byte in prefix.bytes().chain(character.encode_utf8(&mut buffer).bytes()).chain(suffix.bytes()) {
            let Some(id) = tokens[usize::from(byte)] else {
                symbols.truncate(before);
                return false;
            };
            symbols.push(Symbol { id, len: 1 });
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_has_the_id_of_its_position() {
        let characters = ['a', '\u{2581}', '\u{25FF}', '\u{2600}', '中', '\u{1F600}'];
        let ids = |position: usize| (0..).zip(characters).map(|(at, c)| (c, 10 * position as u32 + at)).collect();
        let mut ids = CharacterIds::new(std::array::from_fn(ids));
        let positions = || [false, true].into_iter().flat_map(|first| [false, true].map(|last| (first, last)));
        for (is_first, is_last) in positions() {
            for (at, character) in (0..).zip(characters) {
                let expected = 10 * position(is_first, is_last) as u32 + at;
                assert_eq!(ids.get(character, is_first, is_last), Some(expected), "{character}");
            }
            assert_eq!(ids.get('b', is_first, is_last), None);
            assert_eq!(ids.get(' ', is_first, is_last), None);
        }
        ids.read_as(' ', '\u{2581}');
        for (is_first, is_last) in positions() {
            assert_eq!(ids.get(' ', is_first, is_last), ids.get('\u{2581}', is_first, is_last));
        }
    }
}
