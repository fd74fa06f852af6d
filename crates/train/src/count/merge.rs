//! Adds up sorted sources of words.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::file::{Reader, Records, Writer};
use super::table::SortedTable;
use crate::TrainError;
use crate::progress::{Meter, Phase, Watch};

/// Files that are open at once.
const FAN_IN: usize = 128;

/// Where words come from, in order.
#[derive(Debug)]
pub(super) enum Source<'a> {
    Table(SortedTable),
    /// Words, and how many are left.
    Words(Records<'a>, usize),
    File(Reader),
}

impl Source<'_> {
    /// Writes the next word to `word`, which has the one before, and returns its count.
    fn next(&mut self, word: &mut String) -> Result<Option<u64>, TrainError> {
        match self {
            Self::Table(table) => Ok(table.next(word)),
            Self::Words(words, left) => Ok(words.next().map(|(next, count)| {
                word.clear();
                word.push_str(next);
                *left -= 1;
                count
            })),
            Self::File(file) => file.next(word),
        }
    }

    /// How much is left, in the units of the progress.
    fn left(&self) -> usize {
        match self {
            Self::Table(table) => table.left(),
            Self::Words(_, left) => *left,
            Self::File(file) => file.left() as usize,
        }
    }
}

/// Gets each word once, in order, with the sum of its counts.
pub(super) type Emit<'a> = dyn FnMut(&str, u64) -> Result<(), TrainError> + 'a;

/// The next word of a source.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    word: String,
    source: usize,
    count: u64,
}

fn merge(mut sources: Vec<Source<'_>>, meter: &mut Meter<'_>, emit: &mut Emit<'_>) -> Result<(), TrainError> {
    meter.phase(Phase::Words, sources.iter().map(Source::left).sum(), 0)?;
    let mut heads = BinaryHeap::with_capacity(sources.len());
    for (index, source) in sources.iter_mut().enumerate() {
        let mut word = String::new();
        if let Some(count) = source.next(&mut word)? {
            heads.push(Reverse(Head { word, source: index, count }));
        }
    }
    let mut word = String::new();
    let mut sum = 0_u64;
    while let Some(mut head) = heads.peek_mut() {
        if sum > 0 && head.0.word == word {
            sum = sum.saturating_add(head.0.count);
        } else {
            if sum > 0 {
                emit(&word, sum)?;
            }
            word.clone_from(&head.0.word);
            sum = head.0.count;
        }
        let source = &mut sources[head.0.source];
        let left = source.left();
        let next = source.next(&mut head.0.word)?;
        meter.done(left - source.left())?;
        meter.work(1)?;
        match next {
            Some(count) => head.0.count = count,
            None => _ = PeekMut::pop(head),
        }
    }
    if sum > 0 { emit(&word, sum) } else { Ok(()) }
}

/// A file of words. One of our own is deleted when it is dropped.
#[derive(Debug)]
pub(super) struct WordFile {
    path: PathBuf,
    is_temporary: bool,
}

impl WordFile {
    /// Writes sorted words to a new file in `folder`.
    pub fn temporary(
        folder: &Path,
        write: impl FnOnce(&mut Emit<'_>) -> Result<(), TrainError>,
    ) -> Result<Self, TrainError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("tokenlane-{}-{number}.words", std::process::id()));
        let mut writer = Writer::create(&path)?;
        let file = Self { path, is_temporary: true };
        write(&mut |word, count| writer.push(word, count))?;
        writer.finish()?;
        Ok(file)
    }
}

impl From<&PathBuf> for WordFile {
    fn from(path: &PathBuf) -> Self {
        Self { path: path.clone(), is_temporary: false }
    }
}

impl Drop for WordFile {
    fn drop(&mut self) {
        if self.is_temporary {
            // What cannot be deleted stays; the folder is the caller's.
            _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Adds up sources and any number of files. `folder` gets sums of files, if they are too many to
/// be open at once.
pub(super) fn merge_all(
    mut sources: Vec<Source<'_>>,
    mut files: Vec<WordFile>,
    folder: &Path,
    meter: &mut Meter<'_>,
    emit: &mut Emit<'_>,
) -> Result<(), TrainError> {
    let open = |files: &[WordFile]| {
        files.iter().map(|file| Reader::open(&file.path).map(Source::File)).collect::<Result<Vec<_>, _>>()
    };
    while files.len() > FAN_IN {
        let mut sums = Vec::with_capacity(files.len().div_ceil(FAN_IN));
        while !files.is_empty() {
            let some: Vec<WordFile> = files.drain(..FAN_IN.min(files.len())).collect();
            sums.push(WordFile::temporary(folder, |emit| merge(open(&some)?, meter, emit))?);
        }
        files = sums;
    }
    sources.append(&mut open(&files)?);
    merge(sources, meter, emit)
}

/// Adds up sources and files into a file.
pub(super) fn write(
    sources: Vec<Source<'_>>,
    files: Vec<WordFile>,
    path: &Path,
    meter: &mut Meter<'_>,
) -> Result<(), TrainError> {
    let mut writer = Writer::create(path)?;
    let folder = path.parent().unwrap_or(path);
    merge_all(sources, files, folder, meter, &mut |word, count| writer.push(word, count))?;
    writer.finish()
}

/// Adds up files of words into a new one. Up to 128 files are open at once; of more, sums lie
/// beside the new file meanwhile. After an error, reading the new file fails.
///
/// # Errors
///
/// [`TrainError::File`] if the system refuses, [`TrainError::DamagedFile`] if a file is none of
/// words, or is cut or changed, and [`TrainError::Stopped`].
pub fn merge_files(files: &[PathBuf], to: &Path, watch: &mut Watch<'_>) -> Result<(), TrainError> {
    write(Vec::new(), files.iter().map(WordFile::from).collect(), to, &mut Meter::new(watch))
}
