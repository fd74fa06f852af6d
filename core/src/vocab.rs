//! The vocabulary: token bytes to id and id to token bytes.
//!
//! All tokens stand end to end in one allocation; two small tables point into it. A token's bytes are what the file
//! holds: the UTF-8 of its string in a tokenizer.json (byte-level tokens in their printable form), the raw bytes in a
//! rank file.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;

use crate::error::LoadError;
use crate::memory::fallible::{collect, table_with_room, with_room};
use crate::memory::{Grow, require_large};

/// Immutable once built. Ids may have gaps and need not follow the order of the file.
#[derive(Debug, Default)]
pub struct Vocab {
    bytes: Vec<u8>,
    /// One past the last byte of each token, in the order they came.
    ends: Vec<u32>,
    ids: Vec<u32>,
    by_id: ById,
    by_bytes: HashTable<u32>,
    hasher: RandomState,
}

/// From an id to the place of its token.
#[derive(Debug)]
enum ById {
    /// `places[id]`, [`NONE`] in gaps.
    Dense(Vec<u32>),
    /// For files whose ids lie far apart: a claim of four billion must not cost sixteen gigabytes.
    Sparse(HashTable<(u32, u32)>),
}

const NONE: u32 = u32::MAX;

impl Default for ById {
    fn default() -> Self {
        Self::Dense(Vec::new())
    }
}

impl Vocab {
    /// With room for so many tokens of so many bytes together. Without memory for them it unwinds.
    pub(crate) fn builder(tokens: usize, bytes: usize) -> VocabBuilder {
        let mut vocab = Self::default();
        vocab.bytes.grow(bytes);
        vocab.ends.grow(tokens);
        vocab.ids.grow(tokens);
        VocabBuilder { vocab }
    }

    /// How many tokens there are.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The id of a token, given whole.
    pub fn id(&self, token: &[u8]) -> Option<u32> {
        self.place(token).map(|place| self.id_at(place))
    }

    /// The place of a token in the order of the file.
    pub(crate) fn place(&self, token: &[u8]) -> Option<usize> {
        self.by_bytes.find(hash(&self.hasher, token), |&place| self.at(place) == token).map(|&place| place as usize)
    }

    /// The id of the token at a place.
    pub(crate) fn id_at(&self, place: usize) -> u32 {
        self.ids[place]
    }

    /// The bytes of the token at a place.
    pub(crate) fn token_at(&self, place: usize) -> Option<&[u8]> {
        (place < self.len()).then(|| self.at(place as u32))
    }

    /// The bytes of a token.
    pub fn token(&self, id: u32) -> Option<&[u8]> {
        let place = match &self.by_id {
            ById::Dense(places) => *places.get(id as usize)?,
            ById::Sparse(table) => table.find(self.hasher.hash_one(id), |entry| entry.0 == id)?.1,
        };
        (place != NONE).then(|| self.at(place))
    }

    /// All tokens with their ids, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u32)> {
        self.ids.iter().enumerate().map(|(place, &id)| (self.at(place as u32), id))
    }

    /// The largest id.
    pub fn max_id(&self) -> Option<u32> {
        self.ids.iter().copied().max()
    }

    /// One more than the largest id, where ids are dense enough for a table; else zero.
    pub(crate) fn dense_ids(&self) -> usize {
        match &self.by_id {
            ById::Dense(places) => places.len(),
            ById::Sparse(_) => 0,
        }
    }

    /// The number of bytes of all tokens together.
    pub(crate) fn text_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Heap memory held, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let by_id = match &self.by_id {
            ById::Dense(places) => places.capacity() * 4,
            ById::Sparse(table) => table.allocation_size(),
        };
        self.bytes.capacity()
            + (self.ends.capacity() + self.ids.capacity()) * 4
            + by_id
            + self.by_bytes.allocation_size()
    }

    fn at(&self, place: u32) -> &[u8] {
        &self.bytes[span(&self.ends, place)]
    }
}

/// At most so many bytes are in a hash table with room for so many entries.
fn table_bytes<T>(entries: usize) -> usize {
    // A table has up to twice as many slots as seven eighths need, each with a byte of control.
    entries.saturating_mul(3).saturating_mul(size_of::<T>() + 1)
}

/// Where the token of a place stands.
fn span(ends: &[u32], place: u32) -> Range<usize> {
    let place = place as usize;
    let start = if place == 0 { 0 } else { ends[place - 1] };
    start as usize..ends[place] as usize
}

/// Of a token alone: its length is part of what is made of the bytes.
fn hash(hasher: &RandomState, token: &[u8]) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write(token);
    hasher.finish()
}

/// Takes the tokens one by one, then checks that no two share an id.
#[derive(Debug)]
pub(crate) struct VocabBuilder {
    vocab: Vocab,
}

impl VocabBuilder {
    /// Adds a token. One that is there already takes the new id, as a repeated key of a JSON object does.
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

    /// For tokens added in the order of their ids, from 0 on. A repeated token keeps all its ids;
    /// the last one is found by its text.
    pub(crate) fn finish_list(mut self) -> Result<Vocab, LoadError> {
        let Vocab { bytes, ends, ids, by_bytes, hasher, by_id } = &mut self.vocab;
        debug_assert!(ids.iter().zip(0..).all(|(&id, place)| id == place));
        let text = |place: u32| &bytes[span(ends, place)];
        *by_bytes = table_with_room(ids.len())?;
        for &id in &*ids {
            let (token, rehash) = (text(id), |&place: &u32| hash(hasher, text(place)));
            match by_bytes.entry(hash(hasher, token), |&place| text(place) == token, rehash) {
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
            let mut places = with_room(slots)?;
            places.resize(slots, NONE);
            for (place, &id) in vocab.ids.iter().enumerate() {
                if places[id as usize] != NONE {
                    return Err(self.duplicate(id, places[id as usize], place as u32));
                }
                places[id as usize] = place as u32;
            }
            vocab.by_id = ById::Dense(places);
        } else {
            let hasher = &vocab.hasher;
            require_large(table_bytes::<(u32, u32)>(vocab.len()))?;
            let mut table: HashTable<(u32, u32)> = table_with_room(vocab.len())?;
            for (place, &id) in vocab.ids.iter().enumerate() {
                let hash = hasher.hash_one(id);
                if let Some(&(_, first)) = table.find(hash, |entry| entry.0 == id) {
                    return Err(self.duplicate(id, first, place as u32));
                }
                table.insert_unique(hash, (id, place as u32), |entry| hasher.hash_one(entry.0));
            }
            vocab.by_id = ById::Sparse(table);
        }
        Ok(self.vocab)
    }

    /// Makes the table by bytes, now that it is known how large it has to be. Of a repeated token the first place and the
    /// last id stay.
    fn index(&mut self) -> Result<(), LoadError> {
        let Vocab { bytes, ends, ids, by_bytes, hasher, .. } = &mut self.vocab;
        let text = |place: u32| &bytes[span(ends, place)];
        require_large(table_bytes::<u32>(ids.len()))?;
        *by_bytes = table_with_room(ids.len())?;
        for place in 0..ids.len() as u32 {
            let (token, rehash) = (text(place), |&place: &u32| hash(hasher, text(place)));
            match by_bytes.entry(hash(hasher, token), |&place| text(place) == token, rehash) {
                Entry::Occupied(first) => ids[*first.get() as usize] = ids[place as usize],
                Entry::Vacant(free) => drop(free.insert(place)),
            }
        }
        if by_bytes.len() == ids.len() {
            return Ok(());
        }
        let mut once = Vocab::builder(by_bytes.len(), bytes.len());
        for (place, (token, id)) in self.vocab.iter().enumerate() {
            if self.vocab.place(token) == Some(place) {
                once.push(token, id)?;
            }
        }
        *self = once;
        self.index()
    }

    fn duplicate(&self, id: u32, first: u32, second: u32) -> LoadError {
        let text = |place| String::from_utf8_lossy(self.vocab.at(place)).into_owned();
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
            builder.push(token.as_bytes(), id).expect("there is room");
        }
        let vocab = builder.finish_list().expect("there is room");
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
