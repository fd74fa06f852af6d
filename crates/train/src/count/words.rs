//! The sorted result of counting.

use std::path::{Path, PathBuf};

use super::file::{self, Records};
use super::merge::{self, Source, WordFile};
use crate::TrainError;
use crate::progress::{Meter, Watch};

/// Distinct words with their counts, sorted by the bytes of the words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WordCounts {
    /// All words, one behind the other.
    text: String,
    /// The length in bytes and the count of each word, as varints.
    numbers: Vec<u8>,
    len: usize,
}

impl WordCounts {
    /// Sorts words, and adds up the counts of equal ones.
    pub fn new(mut words: Vec<(Box<str>, u64)>) -> Self {
        words.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        words.dedup_by(|later, first| {
            let equal = later.0 == first.0;
            if equal {
                first.1 = first.1.saturating_add(later.1);
            }
            equal
        });
        let mut new = Self::default();
        words.iter().for_each(|(word, count)| new.push(word, *count));
        new
    }

    /// Appends a word that is behind all others.
    pub(super) fn push(&mut self, word: &str, count: u64) {
        self.text.push_str(word);
        file::write_varint(&mut self.numbers, word.len() as u64);
        file::write_varint(&mut self.numbers, count);
        self.len += 1;
    }

    /// Reads a file of words. See [`Self::merge`] for its errors.
    pub fn read(path: &Path, watch: &mut Watch<'_>) -> Result<Self, TrainError> {
        Self::merge(&[path.to_owned()], path.parent().unwrap_or(path), watch)
    }

    /// Adds up files of words. If they are more than 128, sums of them are written to `folder`.
    ///
    /// # Errors
    ///
    /// [`TrainError::File`] if the system refuses, [`TrainError::DamagedFile`] if a file is none of
    /// words, or is cut or changed, and [`TrainError::Stopped`].
    pub fn merge(files: &[PathBuf], folder: &Path, watch: &mut Watch<'_>) -> Result<Self, TrainError> {
        let mut words = Self::default();
        let mut meter = Meter::new(watch);
        merge::merge_all(
            Vec::new(),
            files.iter().map(WordFile::from).collect(),
            folder,
            &mut meter,
            &mut |word, count| {
                words.push(word, count);
                Ok(())
            },
        )?;
        Ok(words)
    }

    /// Writes a file of words. After an error, reading it fails.
    pub fn write(&self, path: &Path, watch: &mut Watch<'_>) -> Result<(), TrainError> {
        merge::write(vec![Source::Words(self.records(), self.len)], Vec::new(), path, &mut Meter::new(watch))
    }

    /// The words with their counts, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> + Clone {
        self.records()
    }

    fn records(&self) -> Records<'_> {
        Records { text: &self.text, numbers: &self.numbers }
    }

    /// The number of distinct words.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
