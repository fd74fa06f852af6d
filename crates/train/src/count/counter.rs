//! Counts the words of texts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use tokenlane_core::{Text, Word};

use super::merge::{self, Source, WordFile};
use super::table::Table;
use super::words::WordCounts;
use crate::progress::{Meter, Watch};
use crate::{Base, TrainError};

/// Where counts go that memory does not hold.
#[derive(Debug, Clone)]
pub struct Spill {
    /// The bytes that tables of words may take, those of all threads together. At least 1 MiB are
    /// used for each thread.
    pub memory: usize,
    /// The folder of the files. They are deleted with the counter.
    pub folder: PathBuf,
}

/// The longest word, in bytes of its text.
const MAX_WORD: usize = 1 << 30;
/// The least memory of a thread's tables.
const MIN_MEMORY: usize = if cfg!(test) { 1 } else { 1 << 20 };
/// The bytes of texts that a thread takes at once, and below which one thread is enough.
const PORTION: usize = 1 << 16;

/// Runs `work` on each thread that counts, such as to return the memory that its allocator keeps.
pub fn on_counting_threads(work: impl Fn() + Sync) {
    rayon::broadcast(|_| work());
}

/// Counts the words of texts, on the threads of the current pool of rayon.
#[derive(Debug)]
pub struct WordCounter {
    base: Arc<Base>,
    spill: Option<Arc<Spill>>,
    /// One for each thread.
    parts: Vec<Part>,
}

/// The counts of one thread.
#[derive(Debug, Default)]
struct Part {
    /// Words as the core passes them on: bytes of text if the base ends in ByteLevel.
    words: Table,
    /// Added tokens of the base, which are never written as ByteLevel writes words.
    added: Table,
    files: Vec<WordFile>,
}

impl WordCounter {
    /// A counter of the words that a base finds. Its memory grows with the distinct words.
    pub fn new(base: Arc<Base>) -> Self {
        Self { base, spill: None, parts: Vec::new() }
    }

    /// A counter of bounded memory: full tables are written to files.
    pub fn with_spill(base: Arc<Base>, spill: Spill) -> Self {
        Self { base, spill: Some(Arc::new(spill)), parts: Vec::new() }
    }

    /// Counts the words of texts.
    ///
    /// # Errors
    ///
    /// After an error, some of the texts are counted: [`TrainError::Text`] names the first text
    /// that could not be cut into words, [`TrainError::WordTooLong`], and [`TrainError::File`] if a
    /// full table could not be written.
    pub fn add<'t>(&mut self, texts: impl IntoIterator<Item: Into<Text<'t>>>) -> Result<(), TrainError> {
        let texts: Vec<Text<'t>> = texts.into_iter().map(Into::into).collect();
        let mut portions = Vec::new();
        let mut bytes = 0;
        for (index, text) in texts.iter().enumerate() {
            let more = size(text);
            if bytes / PORTION != (bytes + more) / PORTION || index == 0 {
                portions.push(index);
            }
            bytes += more;
        }
        let threads = rayon::current_num_threads().min(portions.len()).max(1);
        if self.parts.len() < threads {
            self.parts.resize_with(threads, Part::default);
        }
        let shared = Shared { base: &self.base, spill: self.spill.as_deref(), parts: self.parts.len() };
        let next = AtomicUsize::new(0);
        let failures = self.parts[..threads].par_iter_mut().filter_map(|part| {
            loop {
                let portion = next.fetch_add(1, Ordering::Relaxed);
                let start = *portions.get(portion)?;
                let end = portions.get(portion + 1).copied().unwrap_or(texts.len());
                if let Err((index, error)) = part.add(&texts[start..end], &shared) {
                    let index = start + index;
                    return Some((index, error.of_text(index)));
                }
            }
        });
        // Portions are taken in order, so the first text that fails is one of these.
        failures.min_by_key(|&(index, _)| index).map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Counts the words of texts one after the other, on this thread. After [`TrainError::Text`],
    /// all texts before that one are counted, and none behind it.
    pub fn add_in_order<'t>(&mut self, texts: impl IntoIterator<Item: Into<Text<'t>>>) -> Result<(), TrainError> {
        let texts: Vec<Text<'t>> = texts.into_iter().map(Into::into).collect();
        if self.parts.is_empty() {
            self.parts.push(Part::default());
        }
        let shared = Shared { base: &self.base, spill: self.spill.as_deref(), parts: self.parts.len() };
        self.parts[0].add(&texts, &shared).map_err(|(index, error)| error.of_text(index))
    }

    /// Adds the counts of another counter of the same base.
    pub fn merge(&mut self, other: Self) -> Result<(), TrainError> {
        if self.parts.len() < other.parts.len() {
            self.parts.resize_with(other.parts.len(), Part::default);
        }
        let shared = Shared { base: &self.base, spill: self.spill.as_deref(), parts: self.parts.len() };
        self.parts.par_iter_mut().zip(other.parts).try_for_each(|(part, other)| part.merge(other, &shared))
    }

    /// Adds the counts of files of words, which are read at the end and stay.
    pub fn add_files(&mut self, files: &[PathBuf]) {
        self.parts.push(Part { files: files.iter().map(WordFile::from).collect(), ..Part::default() });
    }

    /// The counts, sorted by the bytes of the words.
    ///
    /// # Errors
    ///
    /// [`TrainError::File`], [`TrainError::DamagedFile`], [`TrainError::Stopped`].
    pub fn finish(self, watch: &mut Watch<'_>) -> Result<WordCounts, TrainError> {
        let mut words = WordCounts::default();
        let folder = self.spill.as_ref().map_or(PathBuf::new(), |spill| spill.folder.clone());
        let (sources, files) = self.sources()?;
        merge::merge_all(sources, files, &folder, &mut Meter::new(watch), &mut |word, count| {
            words.push(word, count);
            Ok(())
        })?;
        Ok(words)
    }

    /// Writes the counts to a file of words. After an error, reading it fails.
    ///
    /// # Errors
    ///
    /// [`TrainError::File`], [`TrainError::DamagedFile`], [`TrainError::Stopped`].
    pub fn write(self, path: &Path, watch: &mut Watch<'_>) -> Result<(), TrainError> {
        let (sources, files) = self.sources()?;
        merge::write(sources, files, path, &mut Meter::new(watch))
    }

    /// The sorted tables, or the files, if there are any: then memory is for the result.
    fn sources(self) -> Result<(Vec<Source<'static>>, Vec<WordFile>), TrainError> {
        let Self { base, spill, mut parts } = self;
        let shared = Shared { base: &base, spill: spill.as_deref(), parts: parts.len() };
        if parts.iter().any(|part| !part.files.is_empty()) {
            parts.par_iter_mut().try_for_each(|part| part.spill(&shared))?;
        }
        let bytes = base.cutter.reads_bytes();
        let files = parts.iter_mut().flat_map(|part| std::mem::take(&mut part.files)).collect();
        let tables = parts.into_par_iter().flat_map_iter(|part| [(part.words, bytes), (part.added, false)]);
        let tables = tables.filter(|(table, _)| !table.is_empty());
        Ok((tables.map(|(table, bytes)| Source::Table(table.sort(bytes))).collect(), files))
    }
}

/// The memory that a text takes, in bytes.
fn size(text: &Text<'_>) -> usize {
    match text {
        Text::Utf8(text) => text.len(),
        Text::Bytes(bytes) => bytes.len(),
        Text::Utf16(units) => size_of_val(*units),
    }
}

/// What the parts of a counter share.
struct Shared<'a> {
    base: &'a Base,
    spill: Option<&'a Spill>,
    parts: usize,
}

/// Why a text could not be counted.
enum Failure {
    Core(tokenlane_core::EncodeError),
    Other(TrainError),
}

impl Failure {
    fn of_text(self, index: usize) -> TrainError {
        match self {
            Self::Core(error) => TrainError::Text { index, error },
            Self::Other(error) => error,
        }
    }
}

impl Part {
    fn add(&mut self, texts: &[Text<'_>], shared: &Shared<'_>) -> Result<(), (usize, Failure)> {
        // The core's walk cannot be ended by a visitor: after a failure, words are skipped.
        let mut failed = None;
        let mut index = 0;
        let walked = texts.iter().copied().enumerate().map(|(at, text)| {
            index = at;
            text
        });
        let walked = shared.base.cutter.each_word(walked, |word| {
            if failed.is_none()
                && let Err(error) = self.count(word, 1, shared)
            {
                failed = Some(error);
            }
        });
        match (failed, walked) {
            (Some(error), _) => Err((index, Failure::Other(error))),
            (None, Err((index, error))) => Err((index, Failure::Core(error))),
            (None, Ok(())) => Ok(()),
        }
    }

    #[inline]
    fn count(&mut self, word: Word<'_>, count: u64, shared: &Shared<'_>) -> Result<(), TrainError> {
        let (table, word) = match word {
            Word::Split(word) => (&mut self.words, word),
            Word::Added(word) => (&mut self.added, word),
        };
        if word.len() > MAX_WORD {
            return Err(TrainError::WordTooLong { bytes: word.len(), limit: MAX_WORD });
        }
        if table.add(word, count)
            && let Some(spill) = shared.spill
            && self.words.memory() + self.added.memory() > (spill.memory / shared.parts).max(MIN_MEMORY)
        {
            return self.spill(shared);
        }
        Ok(())
    }

    fn merge(&mut self, mut other: Self, shared: &Shared<'_>) -> Result<(), TrainError> {
        self.files.append(&mut other.files);
        if self.words.is_empty() && self.added.is_empty() {
            (self.words, self.added) = (std::mem::take(&mut other.words), std::mem::take(&mut other.added));
        }
        let mut result = Ok(());
        let mut add = |word: Word<'_>, count| {
            if result.is_ok() {
                result = self.count(word, count, shared);
            }
        };
        other.words.each(|word, count| add(Word::Split(word), count));
        other.added.each(|word, count| add(Word::Added(word), count));
        result
    }

    /// Writes the tables to files and empties them.
    fn spill(&mut self, shared: &Shared<'_>) -> Result<(), TrainError> {
        let Some(Spill { folder, .. }) = shared.spill else { return Ok(()) };
        let bytes = shared.base.cutter.reads_bytes();
        for (table, bytes) in [(&mut self.words, bytes), (&mut self.added, false)] {
            if table.is_empty() {
                continue;
            }
            let mut sorted = std::mem::take(table).sort(bytes);
            self.files.push(WordFile::temporary(folder, |emit| {
                let mut word = String::new();
                while let Some(count) = sorted.next(&mut word) {
                    emit(&word, count)?;
                }
                Ok(())
            })?);
        }
        Ok(())
    }
}
