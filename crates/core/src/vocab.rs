//! The vocabulary: maps the bytes of a token to its id, and an id to the bytes of its token.
//!
//! The bytes of all tokens are concatenated in one allocation, and two small tables refer to it.
//! The bytes are those of the file: in a tokenizer.json the UTF-8 of the token's string (byte-level
//! tokens in their printable form), in a rank file the raw bytes.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;

use crate::error::LoadError;
use crate::memory::fallible::{collect, table_with_capacity, with_capacity};
use crate::memory::{Grow, require_large};

/// A vocabulary, immutable once built. Ids may have gaps and need not be in the order of the file.
#[derive(Debug, Default)]
pub struct Vocab {
    bytes: Vec<u8>,
    /// The end of each token in `bytes`, in the order of the file.
    ends: Vec<u32>,
    ids: Vec<u32>,
    by_id: ById,
    by_bytes: HashTable<u32>,
    hasher: RandomState,
}

/// Maps an id to the position of its token in the order of the file.
#[derive(Debug)]
enum ById {
    /// `indices[id]`, or [`NO_INDEX`] in gaps.
    Dense(Vec<u32>),
    /// For files with widely separated ids: a single id of four billion must not cost sixteen
    /// gigabytes.
    Sparse(HashTable<(u32, u32)>),
}

const NO_INDEX: u32 = u32::MAX;

impl Default for ById {
    fn default() -> Self {
        Self::Dense(Vec::new())
    }
}

impl Vocab {
    /// Creates a builder with capacity for this number of tokens, and of bytes of all tokens
    /// together. Unwinds if there is not enough memory.
    pub(crate) fn builder(tokens: usize, bytes: usize) -> VocabBuilder {
        let mut vocab = Self::default();
        vocab.bytes.grow(bytes);
        vocab.ends.grow(tokens);
        vocab.ids.grow(tokens);
        VocabBuilder { vocab }
    }

    /// The number of tokens.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The id of the token with exactly these bytes.
    pub fn id(&self, token: &[u8]) -> Option<u32> {
        self.index_of(token).map(|index| self.id_at(index))
    }

    /// The position of a token in the order of the file.
    pub(crate) fn index_of(&self, token: &[u8]) -> Option<usize> {
        self.by_bytes.find(hash(&self.hasher, token), |&index| self.at(index) == token).map(|&index| index as usize)
    }

    /// The id of the token at a position.
    pub(crate) fn id_at(&self, index: usize) -> u32 {
        self.ids[index]
    }

    /// The bytes of the token at a position.
    pub(crate) fn token_at(&self, index: usize) -> Option<&[u8]> {
        (index < self.len()).then(|| self.at(index as u32))
    }

    /// The bytes of the token with this id.
    pub fn token(&self, id: u32) -> Option<&[u8]> {
        let index = match &self.by_id {
            ById::Dense(indices) => *indices.get(id as usize)?,
            ById::Sparse(table) => table.find(self.hasher.hash_one(id), |entry| entry.0 == id)?.1,
        };
        (index != NO_INDEX).then(|| self.at(index))
    }

    /// All tokens with their ids, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u32)> {
        self.ids.iter().enumerate().map(|(index, &id)| (self.at(index as u32), id))
    }

    /// The largest id; `None` if there are no tokens.
    pub fn max_id(&self) -> Option<u32> {
        self.ids.iter().copied().max()
    }

    /// One more than the largest id if the ids are dense enough for a table, otherwise zero.
    pub(crate) fn dense_ids(&self) -> usize {
        match &self.by_id {
            ById::Dense(indices) => indices.len(),
            ById::Sparse(_) => 0,
        }
    }

    /// The number of bytes of all tokens together.
    pub(crate) fn text_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The allocated heap memory in bytes.
    pub fn memory_bytes(&self) -> usize {
        let by_id = match &self.by_id {
            ById::Dense(indices) => indices.capacity() * 4,
            ById::Sparse(table) => table.allocation_size(),
        };
        self.bytes.capacity()
            + (self.ends.capacity() + self.ids.capacity()) * 4
            + by_id
            + self.by_bytes.allocation_size()
    }

    fn at(&self, index: u32) -> &[u8] {
        &self.bytes[span(&self.ends, index)]
    }
}

/// An upper bound of the size in bytes of a hash table with capacity for `entries` entries.
fn table_bytes<T>(entries: usize) -> usize {
    // The number of slots is at most twice 8/7 of the number of entries, and each slot has a
    // control byte.
    entries.saturating_mul(3).saturating_mul(size_of::<T>() + 1)
}

/// The range of the bytes of the token at a position.
fn span(ends: &[u32], index: u32) -> Range<usize> {
    let index = index as usize;
    let start = if index == 0 { 0 } else { ends[index - 1] };
    start as usize..ends[index] as usize
}

/// The hash of a token. It consists of the bytes only: the hasher includes their number.
fn hash(hasher: &RandomState, token: &[u8]) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write(token);
    hasher.finish()
}

/// The form of the tokens in the vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenForm {
    /// The text that the model reads.
    Text,
    /// The printable form of the bytes that the model reads.
    Printable,
    /// The bytes that the model reads, from a rank file. Decoding an id outside the vocabulary is
    /// an error.
    Ranks,
}

/// Collects the tokens one by one, then checks that no two share an id.
#[derive(Debug)]
pub(crate) struct VocabBuilder {
    vocab: Vocab,
}

impl VocabBuilder {
    /// Adds a token. If a token is added again, it gets the later id, like a repeated key of a JSON
    /// object. Errors: more than 4 GiB of token bytes, or not enough memory.
    pub(crate) fn push(&mut self, token: &[u8], id: u32) -> Result<(), LoadError> {
        let vocab = &mut self.vocab;
        let end = vocab.bytes.len() + token.len();
        let end = u32::try_from(end).map_err(|_| LoadError::TooLarge {
            what: "the text of all tokens",
            size: end as u64,
            limit: u32::MAX.into(),
        })?;
        let has_room = token.len() <= vocab.bytes.capacity() - vocab.bytes.len()
            && vocab.ends.len() < vocab.ends.capacity()
            && vocab.ids.len() < vocab.ids.capacity();
        if !has_room {
            vocab.bytes.try_grow(token.len())?;
            vocab.ends.try_grow(1)?;
            vocab.ids.try_grow(1)?;
        }
        vocab.bytes.extend_from_slice(token);
        vocab.ends.push(end);
        vocab.ids.push(id);
        Ok(())
    }

    /// Finishes a vocabulary whose tokens were added in the order of their ids, from 0 on. A
    /// repeated token keeps all its ids; a lookup of its bytes returns the last one.
    pub(crate) fn finish_list(mut self) -> Result<Vocab, LoadError> {
        let Vocab { bytes, ends, ids, by_bytes, hasher, by_id } = &mut self.vocab;
        debug_assert!(ids.iter().zip(0..).all(|(&id, index)| id == index));
        let text = |index: u32| &bytes[span(ends, index)];
        *by_bytes = table_with_capacity(ids.len())?;
        for &id in &*ids {
            let (token, rehash) = (text(id), |&index: &u32| hash(hasher, text(index)));
            match by_bytes.entry(hash(hasher, token), |&index| text(index) == token, rehash) {
                Entry::Occupied(mut earlier) => *earlier.get_mut() = id,
                Entry::Vacant(free) => drop(free.insert(id)),
            }
        }
        *by_id = ById::Dense(collect(ids.iter().copied())?);
        Ok(self.vocab)
    }

    pub(crate) fn finish(mut self) -> Result<Vocab, LoadError> {
        self.index()?;
        let vocab = &mut self.vocab;
        let slots = vocab.max_id().map_or(0, |max| max as usize + 1);
        if slots <= vocab.len() * 8 + 65_536 {
            let mut indices = with_capacity(slots)?;
            indices.resize(slots, NO_INDEX);
            for (index, &id) in vocab.ids.iter().enumerate() {
                if indices[id as usize] != NO_INDEX {
                    return Err(self.duplicate(id, indices[id as usize], index as u32));
                }
                indices[id as usize] = index as u32;
            }
            vocab.by_id = ById::Dense(indices);
        } else {
            let hasher = &vocab.hasher;
            require_large(table_bytes::<(u32, u32)>(vocab.len()))?;
            let mut table: HashTable<(u32, u32)> = table_with_capacity(vocab.len())?;
            for (index, &id) in vocab.ids.iter().enumerate() {
                let hash = hasher.hash_one(id);
                if let Some(&(_, first)) = table.find(hash, |entry| entry.0 == id) {
                    return Err(self.duplicate(id, first, index as u32));
                }
                table.insert_unique(hash, (id, index as u32), |entry| hasher.hash_one(entry.0));
            }
            vocab.by_id = ById::Sparse(table);
        }
        Ok(self.vocab)
    }

    /// Builds the table by bytes, now that its size is known. A repeated token keeps its first
    /// position and its last id.
    fn index(&mut self) -> Result<(), LoadError> {
        let Vocab { bytes, ends, ids, by_bytes, hasher, .. } = &mut self.vocab;
        let text = |index: u32| &bytes[span(ends, index)];
        require_large(table_bytes::<u32>(ids.len()))?;
        *by_bytes = table_with_capacity(ids.len())?;
        for index in 0..ids.len() as u32 {
            let (token, rehash) = (text(index), |&index: &u32| hash(hasher, text(index)));
            match by_bytes.entry(hash(hasher, token), |&index| text(index) == token, rehash) {
                Entry::Occupied(first) => ids[*first.get() as usize] = ids[index as usize],
                Entry::Vacant(free) => drop(free.insert(index)),
            }
        }
        if by_bytes.len() == ids.len() {
            return Ok(());
        }
        let mut once = Vocab::builder(by_bytes.len(), bytes.len());
        for (index, (token, id)) in self.vocab.iter().enumerate() {
            if self.vocab.index_of(token) == Some(index) {
                once.push(token, id)?;
            }
        }
        *self = once;
        self.index()
    }

    fn duplicate(&self, id: u32, first: u32, second: u32) -> LoadError {
        let text = |index| String::from_utf8_lossy(self.vocab.at(index)).into_owned();
        LoadError::DuplicateId { id, first: text(first), second: text(second) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocab(tokens: &[(&str, u32)]) -> Result<Vocab, LoadError> {
        let mut builder = Vocab::builder(tokens.len(), 0);
        for (token, id) in tokens {
            builder.push(token.as_bytes(), *id)?;
        }
        builder.finish()
    }

    #[test]
    fn finds_both_ways_with_gaps_and_far_ids() {
        for far in [7, 100, 5_000_000, u32::MAX - 1, u32::MAX] {
            let tokens = [("a", 3), ("", 0), ("中文", far), ("ab", 2)];
            let v = vocab(&tokens).expect("the ids differ");
            for (token, id) in tokens {
                assert_eq!(v.id(token.as_bytes()), Some(id));
                assert_eq!(v.token(id), Some(token.as_bytes()));
            }
            assert_eq!((v.id(b"b"), v.token(1), v.len(), v.max_id()), (None, None, 4, Some(far.max(3))));
        }
    }

    #[test]
    fn a_list_keeps_repeated_tokens() {
        let mut builder = Vocab::builder(4, 4);
        for (token, id) in ["a", "b", "a", ""].iter().zip(0..) {
            builder.push(token.as_bytes(), id).expect("there is memory");
        }
        let vocab = builder.finish_list().expect("there is memory");
        assert_eq!((vocab.id(b"a"), vocab.id(b"b"), vocab.id(b""), vocab.len()), (Some(2), Some(1), Some(3), 4));
        assert_eq!((vocab.token(0), vocab.token(2), vocab.token(4)), (Some(&b"a"[..]), Some(&b"a"[..]), None));
    }

    #[test]
    fn the_last_of_a_repeated_token_wins_and_a_shared_id_is_refused() {
        assert_eq!(vocab(&[("a", 1), ("a", 2)]).expect("one token").id(b"a"), Some(2));
        for far in [0, u32::MAX - 5] {
            let error = vocab(&[("a", far), ("b", 1), ("c", far)]).expect_err("a and c share an id");
            assert_eq!(error, LoadError::DuplicateId { id: far, first: "a".into(), second: "c".into() });
        }
    }
}
