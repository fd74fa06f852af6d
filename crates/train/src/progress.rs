//! How far a training is, and how it is stopped.

use std::ops::ControlFlow;

use crate::TrainError;

/// What a training does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Sorts words, and reads those that were written to files. Unit: words, or bytes of files.
    Words,
    /// BPE and WordPiece count the pairs of the words. Unit: characters.
    Pairs,
    /// BPE and WordPiece merge pairs. Unit: tokens of the vocabulary.
    Merges,
    /// Unigram looks for the pieces to begin with. Unit: characters.
    Seeds,
    /// Unigram estimates the scores of its pieces, once or more in each round. Unit: characters.
    Estimate,
    /// Unigram leaves out pieces, once in each round. Unit: characters.
    Prune,
    /// The words are encoded, to extend or to prune a vocabulary. Unit: words.
    Encode,
}

/// How far a training is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// How much of this phase is done, in its unit. It starts at 0 and never falls.
    pub done: u64,
    /// How much there is to do in this phase, at most: it may end earlier.
    pub total: u64,
    /// The number of tokens that the vocabulary has now.
    pub tokens: usize,
}

/// Is called at the start of each phase, and then every few milliseconds. `Break` ends the training
/// with [`TrainError::Stopped`]. (A sort of integers is not interrupted: the positions of one
/// character for Unigram, the words of one table for counts.)
pub type Watch<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// The units of work (visits of a place in memory, more or less) between two reports: less than a
/// millisecond.
const STEP: usize = 1 << 14;

/// Reports the work of a trainer.
pub(crate) struct Meter<'a> {
    watch: &'a mut Watch<'a>,
    progress: Progress,
    unreported: usize,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(watch: &'a mut Watch<'a>) -> Self {
        let progress = Progress { phase: Phase::Words, done: 0, total: 0, tokens: 0 };
        Self { watch, progress, unreported: 0 }
    }

    /// Starts a phase.
    pub(crate) fn phase(&mut self, phase: Phase, total: usize, tokens: usize) -> Result<(), TrainError> {
        self.progress = Progress { phase, done: 0, total: total as u64, tokens };
        self.report()
    }

    /// Notes work after which as much of the phase is done as before.
    pub(crate) fn work(&mut self, units: usize) -> Result<(), TrainError> {
        self.unreported += units;
        if self.unreported < STEP { Ok(()) } else { self.report() }
    }

    /// Notes a part of the phase that is done.
    pub(crate) fn done(&mut self, units: usize) -> Result<(), TrainError> {
        self.progress.done += units as u64;
        self.work(units)
    }

    /// Notes that the vocabulary has one more token, for phases that count these.
    pub(crate) fn token(&mut self, tokens: usize) -> Result<(), TrainError> {
        (self.progress.done, self.progress.tokens) = (tokens as u64, tokens);
        self.work(1)
    }

    fn report(&mut self) -> Result<(), TrainError> {
        self.unreported = 0;
        match (self.watch)(self.progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(TrainError::Stopped),
        }
    }
}
