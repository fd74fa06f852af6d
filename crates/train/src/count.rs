//! Counts of words.

use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use tokenlane_core::{Text, Word, byte_character};

use crate::{Base, TrainError};

type Table = HashMap<Box<str>, u64, FixedState>;

/// Counts the words of texts. Its memory grows with the distinct words.
#[derive(Debug)]
pub struct WordCounter {
    base: Arc<Base>,
    /// Words as the core passes them on: bytes of text if the base ends in ByteLevel.
    words: Table,
    /// Added tokens of the base, which are never written as ByteLevel writes words.
    added: Table,
}

impl WordCounter {
    /// A counter of the words that a base finds.
    pub fn new(base: Arc<Base>) -> Self {
        Self { base, words: Table::default(), added: Table::default() }
    }

    /// Counts the words of texts. After an error, texts before that one are counted.
    pub fn add<'t>(&mut self, texts: impl IntoIterator<Item: Into<Text<'t>>>) -> Result<(), TrainError> {
        let Self { base, words, added } = self;
        let texts = texts.into_iter().map(Into::into);
        let counted = base.cutter.each_word(texts, |word| match word {
            Word::Split(word) => count(words, word),
            Word::Added(word) => count(added, word),
        });
        counted.map_err(|(index, error)| TrainError::Text { index, error })
    }

    /// Adds the counts of another counter of the same base.
    pub fn merge(&mut self, other: Self) {
        for (table, other) in [(&mut self.words, other.words), (&mut self.added, other.added)] {
            if table.is_empty() {
                *table = other;
                continue;
            }
            for (word, count) in other {
                *table.entry(word).or_default() += count;
            }
        }
    }

    /// The counts, sorted by the bytes of the words.
    pub fn finish(self) -> WordCounts {
        let mut words: Vec<(Box<str>, u64)> = self.words.into_iter().collect();
        if self.base.cutter.reads_bytes() {
            for (word, _) in &mut words {
                *word = word.bytes().map(byte_character).collect::<String>().into_boxed_str();
            }
        }
        words.extend(self.added);
        WordCounts::new(words)
    }
}

fn count(table: &mut Table, word: &str) {
    match table.get_mut(word) {
        Some(count) => *count += 1,
        None => {
            table.insert(word.into(), 1);
        }
    }
}

/// Distinct words with their counts, sorted by the bytes of the words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WordCounts(Vec<(Box<str>, u64)>);

impl WordCounts {
    /// Sorts words, and adds up the counts of equal ones.
    pub fn new(mut words: Vec<(Box<str>, u64)>) -> Self {
        words.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        words.dedup_by(|later, first| {
            let equal = later.0 == first.0;
            if equal {
                first.1 += later.1;
            }
            equal
        });
        Self(words)
    }

    /// The words with their counts, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(word, count)| (&**word, *count))
    }

    /// The number of distinct words.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
