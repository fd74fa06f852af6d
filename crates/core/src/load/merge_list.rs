//! The merges of a tokenizer.json, which refer to tokens by their text. This module parses them and
//! looks the tokens up in the vocabulary.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::fmt;

use super::json::{FileText, store_error};
use crate::bpe::TokenTable;
use crate::bpe::merges::{Merge, Merges};
use crate::error::LoadError;
use crate::memory::Grow;
use crate::memory::fallible::{push, push_str, with_capacity};
use crate::vocab::Vocab;
use crate::word_key::{self, Key, is_short};

/// Receives merges one by one, as the texts of their parts.
pub(super) trait MergeSink {
    /// Adds a merge. Returns false if it could not be added.
    fn push(&mut self, left: &str, right: &str) -> bool;

    /// The number of merges.
    fn len(&self) -> usize;
}

/// The concatenated parts of all merges. Used for files that have the merges before the vocabulary
/// or prefix, and for files with an error.
#[derive(Debug, Default)]
pub(super) struct MergeTexts {
    text: String,
    /// The ends of the left and the right part of each merge.
    ends: Vec<(usize, usize)>,
}

impl MergeTexts {
    fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|&(_, end)| end));
        starts.zip(&self.ends).map(|(start, &(middle, end))| (&self.text[start..middle], &self.text[middle..end]))
    }

    /// The ids of each merge. `prefix` is the `continuing_subword_prefix` of the model.
    pub(super) fn pairs(&self, vocab: &Vocab, prefix: &str) -> Result<Vec<(u32, u32, Merge)>, LoadError> {
        let pair = |(index, (left, right)): (usize, (&str, &str))| {
            let missing = |missing: &str| LoadError::MergeOutOfVocabulary {
                index,
                left: left.into(),
                right: right.into(),
                missing: missing.into(),
            };
            let id = |token: &str| vocab.id(token.as_bytes()).ok_or_else(|| missing(token));
            let bare = without(prefix, right).ok_or_else(|| missing(right))?;
            let rank = rank(index).ok_or(LoadError::TooLarge {
                what: "the list of merges",
                size: index as u64,
                limit: u64::from(Merges::NO_RANK - 1),
            })?;
            Ok::<_, LoadError>((id(left)?, id(right)?, Merge { rank, id: id(&[left, bare].concat())? }))
        };
        let mut pairs = with_capacity(self.ends.len())?;
        for one in self.iter().enumerate() {
            pairs.push(pair(one)?);
        }
        Ok(pairs)
    }
}

impl MergeSink for MergeTexts {
    fn push(&mut self, left: &str, right: &str) -> bool {
        push_str(&mut self.text, left);
        let middle = self.text.len();
        push_str(&mut self.text, right);
        push(&mut self.ends, (middle, self.text.len()));
        true
    }

    fn len(&self) -> usize {
        self.ends.len()
    }
}

/// Removes the prefix of a part that continues a word, because the merged token does not contain
/// it. As in the reference, the length of the prefix is removed without comparing the bytes.
fn without<'t>(prefix: &str, right: &'t str) -> Option<&'t str> {
    right.get(prefix.len()..)
}

fn rank(index: usize) -> Option<u32> {
    u32::try_from(index).ok().filter(|&rank| rank != Merges::NO_RANK)
}

/// Like [`MergeTexts::pairs`], but looks up the merges while they are parsed.
pub(super) struct MergeIds<'f> {
    vocab: &'f Vocab,
    prefix: &'f str,
    /// The tokens of the vocabulary, for fast lookups.
    tokens: TokenTable,
    pairs: Vec<(u32, u32, Merge)>,
    /// The parts of the last pairs, whose ids have not been looked up yet.
    waiting: Vec<Key>,
    /// The position, in the vocabulary, of the token that the last merge creates.
    last: usize,
}

/// Number of parts that are looked up together.
const LOOKUP_BATCH: usize = 32;

impl<'f> MergeIds<'f> {
    pub(super) fn new(vocab: &'f Vocab, prefix: &'f str) -> Self {
        let tokens = TokenTable::new(vocab.iter());
        let (mut pairs, waiting) = (vec![], Vec::with_capacity(LOOKUP_BATCH));
        pairs.grow(vocab.len());
        Self { vocab, prefix, tokens, pairs, waiting, last: 0 }
    }

    /// All merges; `None` if a part was not found.
    pub(super) fn finish(mut self) -> Option<Vec<(u32, u32, Merge)>> {
        self.look_up().then_some(self.pairs)
    }

    /// Adds a merge. Returns `None` if a token of it is not in the vocabulary.
    fn try_push(&mut self, left: &str, right: &str) -> Option<()> {
        let merge = Merge { rank: rank(self.pairs.len())?, id: self.joined(left, without(self.prefix, right)?)? };
        let keys = [left, right].map(|part| word_key::of_word(part.as_bytes()));
        if keys.iter().all(|&key| is_short(key)) {
            push(&mut self.pairs, (0, 0, merge));
            self.waiting.extend(keys);
            return (self.waiting.len() < LOOKUP_BATCH || self.look_up()).then_some(());
        }
        let id = |part: &str| self.vocab.id(part.as_bytes());
        let pair = (id(left)?, id(right)?, merge);
        if !self.look_up() {
            return None;
        }
        push(&mut self.pairs, pair);
        Some(())
    }

    /// The id of the concatenation of two parts. It usually is the token after that of the previous
    /// merge, or the same.
    fn joined(&mut self, left: &str, right: &str) -> Option<u32> {
        let [left, right] = [left.as_bytes(), right.as_bytes()];
        let is_joined =
            |token: &[u8]| token.len() == left.len() + right.len() && token.starts_with(left) && token.ends_with(right);
        let is_it = |index: &usize| self.vocab.token_at(*index).is_some_and(is_joined);
        self.last = match [self.last + 1, self.last].into_iter().find(is_it) {
            Some(index) => index,
            None => self.vocab.index_of(&[left, right].concat())?,
        };
        Some(self.vocab.id_at(self.last))
    }

    /// Looks up all waiting parts. Returns whether all were found.
    fn look_up(&mut self) -> bool {
        let first = self.pairs.len() - self.waiting.len() / 2;
        let mut ids = self.tokens.ids(&self.waiting);
        let all = self.pairs[first..].iter_mut().all(|(left, right, _)| {
            let found = ids.next().flatten().zip(ids.next().flatten());
            found.map(|found| (*left, *right) = found).is_some()
        });
        drop(ids);
        self.waiting.clear();
        all
    }
}

impl MergeSink for MergeIds<'_> {
    fn push(&mut self, left: &str, right: &str) -> bool {
        self.try_push(left, right).is_some()
    }

    fn len(&self) -> usize {
        self.pairs.len()
    }
}

/// Parses the list of merges.
pub(super) struct MergesSeed<'f, S> {
    pub(super) sink: &'f mut S,
    /// Receives errors that serde cannot carry.
    pub(super) error: &'f mut Option<LoadError>,
}

impl<'de, S: MergeSink> DeserializeSeed<'de> for MergesSeed<'_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, S: MergeSink> Visitor<'de> for MergesSeed<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of merges, each a string of two parts or a list of two strings")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(MergeSeed { sink: &mut *self.sink, error: &mut *self.error })?.is_some() {}
        Ok(())
    }
}

/// Parses one merge, in either form.
struct MergeSeed<'f, S> {
    sink: &'f mut S,
    error: &'f mut Option<LoadError>,
}

impl<S: MergeSink> MergeSeed<'_, S> {
    fn push<E: serde::de::Error>(self, parts: Result<(&str, &str), LoadError>) -> Result<(), E> {
        let (left, right) = parts.map_err(|error| store_error(self.error, error))?;
        if self.sink.push(left, right) { Ok(()) } else { Err(E::custom("a merge of what is not in the vocabulary")) }
    }
}

/// The parts of a merge in the legacy form: a string with a space between them.
fn parts_of(line: &str) -> Option<(&str, &str)> {
    let space = |text: &str| text.bytes().position(|byte| byte == b' ');
    let (left, right) = space(line).map(|at| (&line[..at], &line[at + 1..]))?;
    space(right).is_none().then_some((left, right))
}

impl<'de, S: MergeSink> DeserializeSeed<'de> for MergeSeed<'_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, S: MergeSink> Visitor<'de> for MergeSeed<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a merge, a string of two parts or a list of two strings")
    }

    fn visit_str<E: serde::de::Error>(self, line: &str) -> Result<(), E> {
        if line.starts_with("#version") {
            return Ok(());
        }
        let index = self.sink.len();
        let malformed = || LoadError::MergeMalformed { index, text: line.chars().take(80).collect() };
        self.push(parts_of(line).ok_or_else(malformed))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<(), A::Error> {
        let left = pair.next_element::<FileText<'de>>()?;
        let right = pair.next_element::<FileText<'de>>()?;
        let index = self.sink.len();
        match (&left, &right, pair.next_element::<IgnoredAny>()?) {
            (Some(FileText(left)), Some(FileText(right)), None) => self.push(Ok((left, right))),
            _ => self.push(Err(LoadError::shape(format!("model.merges[{index}]"), "a merge has two parts"))),
        }
    }
}
