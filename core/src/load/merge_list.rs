//! The merges of a tokenizer.json, which are texts there: read, and looked up in the vocabulary.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::fmt;

use super::model::{Text, put_aside};
use crate::bpe::TokenTable;
use crate::bpe::merges::{Merge, Merges};
use crate::error::LoadError;
use crate::memory::Grow;
use crate::memory::fallible::{push, push_str, with_room};
use crate::vocab::Vocab;
use crate::word_key::{self, Key, is_short};

/// Takes merges one after the other, by their parts.
pub(super) trait MergeSink {
    /// The answer is whether it could be taken.
    fn push(&mut self, left: &str, right: &str) -> bool;

    /// How many there are.
    fn len(&self) -> usize;
}

/// The two parts of each merge, end to end: for files that have their merges before what they are looked up in, and for those
/// with an error.
#[derive(Debug, Default)]
pub(super) struct MergeTexts {
    text: String,
    /// Where the left part ends and where the right one does.
    ends: Vec<(usize, usize)>,
}

impl MergeTexts {
    fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|&(_, end)| end));
        starts.zip(&self.ends).map(|(start, &(middle, end))| (&self.text[start..middle], &self.text[middle..end]))
    }

    /// The ids of each merge. `prefix` is the model's mark of parts that go on with a word.
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
        let mut pairs = with_room(self.ends.len())?;
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

/// A part that goes on with a word drops its mark when it is joined to what stands before it.
fn without<'t>(prefix: &str, right: &'t str) -> Option<&'t str> {
    right.get(prefix.len()..)
}

fn rank(index: usize) -> Option<u32> {
    u32::try_from(index).ok().filter(|&rank| rank != Merges::NO_RANK)
}

/// As [`MergeTexts::pairs`], of merges that are looked up as they come.
pub(super) struct MergeIds<'f> {
    vocab: &'f Vocab,
    prefix: &'f str,
    /// The vocabulary's, for many look-ups.
    words: TokenTable,
    pairs: Vec<(u32, u32, Merge)>,
    /// The parts of the last pairs, whose ids are not known yet.
    waiting: Vec<Key>,
    /// The place of the token that the last merge makes.
    last: usize,
}

/// So many parts are looked up together.
const TOGETHER: usize = 32;

impl<'f> MergeIds<'f> {
    pub(super) fn new(vocab: &'f Vocab, prefix: &'f str) -> Self {
        let words = TokenTable::new(vocab.iter());
        let (mut pairs, waiting) = (vec![], Vec::with_capacity(TOGETHER));
        pairs.grow(vocab.len());
        Self { vocab, prefix, words, pairs, waiting, last: 0 }
    }

    /// All of them, if all could be taken.
    pub(super) fn finish(mut self) -> Option<Vec<(u32, u32, Merge)>> {
        self.look_up().then_some(self.pairs)
    }

    /// Takes a merge, unless it is of what is not in the vocabulary.
    fn try_push(&mut self, left: &str, right: &str) -> Option<()> {
        let merge = Merge { rank: rank(self.pairs.len())?, id: self.joined(left, without(self.prefix, right)?)? };
        let keys = [left, right].map(|part| word_key::of_word(part.as_bytes()));
        if keys.iter().all(|&key| is_short(key)) {
            push(&mut self.pairs, (0, 0, merge));
            self.waiting.extend(keys);
            return (self.waiting.len() < TOGETHER || self.look_up()).then_some(());
        }
        let id = |part: &str| self.vocab.id(part.as_bytes());
        let pair = (id(left)?, id(right)?, merge);
        if !self.look_up() {
            return None;
        }
        push(&mut self.pairs, pair);
        Some(())
    }

    /// The id of a token in two parts. It mostly is the one behind that of the merge before, or the same.
    fn joined(&mut self, left: &str, right: &str) -> Option<u32> {
        let [left, right] = [left.as_bytes(), right.as_bytes()];
        let is_joined =
            |token: &[u8]| token.len() == left.len() + right.len() && token.starts_with(left) && token.ends_with(right);
        let is_it = |place: &usize| self.vocab.token_at(*place).is_some_and(is_joined);
        self.last = match [self.last + 1, self.last].into_iter().find(is_it) {
            Some(place) => place,
            None => self.vocab.place(&[left, right].concat())?,
        };
        Some(self.vocab.id_at(self.last))
    }

    /// Looks up all that wait. The answer is whether they are there.
    fn look_up(&mut self) -> bool {
        let first = self.pairs.len() - self.waiting.len() / 2;
        let mut ids = self.words.ids(&self.waiting);
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

/// The list as a whole.
pub(super) struct MergesSeed<'f, S> {
    pub(super) sink: &'f mut S,
    /// Errors that serde cannot carry are put aside here.
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

/// One merge, in either form.
struct MergeSeed<'f, S> {
    sink: &'f mut S,
    error: &'f mut Option<LoadError>,
}

impl<S: MergeSink> MergeSeed<'_, S> {
    fn push<E: serde::de::Error>(self, parts: Result<(&str, &str), LoadError>) -> Result<(), E> {
        let (left, right) = parts.map_err(|error| put_aside(self.error, error))?;
        if self.sink.push(left, right) { Ok(()) } else { Err(E::custom("a merge of what is not in the vocabulary")) }
    }
}

/// The legacy form: both parts in one string with a space between them.
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
        let left = pair.next_element::<Text<'de>>()?;
        let right = pair.next_element::<Text<'de>>()?;
        let index = self.sink.len();
        match (&left, &right, pair.next_element::<IgnoredAny>()?) {
            (Some(Text(left)), Some(Text(right)), None) => self.push(Ok((left, right))),
            _ => self.push(Err(LoadError::shape(format!("model.merges[{index}]"), "a merge has two parts"))),
        }
    }
}
