//! Training of tokenizers. Internal: only `@tokenlane/corpus` and the drop-in of tokenizers call
//! these functions.
//!
//! [`Training`] has the base and the counts so far. [`count_texts`] and [`count_documents`] count
//! the words of texts on the threadpool and the threads of the crate. [`train`] makes the
//! vocabulary of the counts; meanwhile [`training_progress`] says how far it is. After a call has
//! failed, the counts lack some of its texts. Only if its texts were counted in order, JS knows
//! which, and can go on.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi::Env;
use napi::bindgen_prelude::{AsyncTask, External, Unknown};
use napi_derive::napi;
use tokenlane_core::Text;
use tokenlane_core::batch::{BatchError, Cancel};
use tokenlane_train::{
    Base, Effect, ExtendOptions, Extended, Phase, Progress, Pruned, Spill, TrainError, Trainer, Watch, WordCounter,
    WordCounts,
};

use crate::allocator::{Frugal, release_free_memory};
use crate::documents::Documents;
use crate::error::{Class, Failure};
use crate::guard::Held;
use crate::memory::U8Values;
use crate::node_api;
use crate::queue::QueueEntry;
use crate::task::{Job, Work};
use crate::text::{self, Arena, Inputs};

/// What JS holds: a training before and while it runs.
pub struct Training(Held<Arc<Shared>>);

/// What the calls of a training share.
struct Shared {
    base: Arc<Base>,
    /// Where counts go that memory does not hold.
    spill: Option<Spill>,
    counter: Mutex<Option<WordCounter>>,
    progress: Mutex<Option<Progress>>,
}

impl Shared {
    /// Runs `work` with the counter. Calls at the same time wait for each other.
    fn with_counter<T>(&self, work: impl FnOnce(&mut WordCounter) -> T) -> T {
        work(lock(&self.counter).get_or_insert_with(|| self.new_counter()))
    }

    fn new_counter(&self) -> WordCounter {
        let base = Arc::clone(&self.base);
        match &self.spill {
            Some(spill) => WordCounter::with_spill(base, spill.clone()),
            None => WordCounter::new(base),
        }
    }

    fn take_counter(&self) -> WordCounter {
        lock(&self.counter).take().unwrap_or_else(|| self.new_counter())
    }
}

/// A panic of another call does not matter here: JS ends a training whose call has failed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failure(error: TrainError) -> Failure {
    match error {
        TrainError::Text { index, error } => {
            let failure = Failure::from(error).within(&format!("text {index}"));
            Failure { index: Some(index), ..failure }
        }
        TrainError::Load(error) => Failure::from(error),
        TrainError::Stopped => Failure::from(BatchError::Cancelled),
        error @ (TrainError::Option { .. } | TrainError::VocabularyTooSmall { .. }) => {
            Failure::new(Class::Range, error.code(), error.to_string())
        }
        error => Failure::new(Class::Error, error.code(), error.to_string()),
    }
}

/// Which texts of a call are counted.
#[derive(Debug, Clone, Copy, Default)]
struct Selection {
    /// The index of the first one.
    from: usize,
    /// The index of the first one that is left out, and the distance to the next ones; 0 if none
    /// is left out.
    held_out: usize,
    step: usize,
}

impl Selection {
    /// The indices of the texts that are counted.
    fn indices(self, length: usize) -> impl Iterator<Item = usize> {
        let Self { from, held_out, step } = self;
        let is_left_out = move |index: usize| step > 0 && index >= held_out && (index - held_out).is_multiple_of(step);
        (from..length).filter(move |&index| !is_left_out(index))
    }
}

/// The work of counting the words of texts.
pub struct CountWords {
    training: Arc<Shared>,
    inputs: Inputs,
    selection: Selection,
    /// Whether a failure leaves the texts before it counted, and none behind it.
    in_order: bool,
    cancel: Option<Arc<Cancel>>,
}

impl CountWords {
    fn count(&self, texts: &[Text<'_>]) -> Result<(), Failure> {
        let selected = self.selection.indices(texts.len()).map(|index| texts[index]);
        let counted = self
            .training
            .with_counter(|counter| if self.in_order { counter.add_in_order(selected) } else { counter.add(selected) });
        counted.map_err(|error| match error {
            TrainError::Text { index, error } => {
                let index = self.selection.indices(texts.len()).nth(index).unwrap_or(index);
                failure(TrainError::Text { index, error })
            }
            error => failure(error),
        })
    }
}

impl Work for CountWords {
    type Output = ();
    type Js = ();

    fn run(&mut self) -> Result<(), Failure> {
        if self.cancel.as_ref().is_some_and(|cancel| cancel.is_cancelled()) {
            return Err(BatchError::Cancelled.into());
        }
        let counted = self.inputs.with(|texts| self.count(texts), |_| Ok(()))?;
        // The pool can reuse the memory of the texts before JS knows of the end.
        self.inputs = Inputs::default();
        counted
    }
}

/// The work of writing the counts to a file.
pub struct WriteWords {
    training: Arc<Shared>,
    path: PathBuf,
    cancel: Arc<Cancel>,
}

impl Work for WriteWords {
    type Output = ();
    type Js = ();

    fn run(&mut self) -> Result<(), Failure> {
        let _frugal = Frugal::new();
        let mut watch = watch(&self.training, Some(&self.cancel));
        self.training.take_counter().write(&self.path, &mut watch).map_err(failure)
    }
}

/// Publishes the progress of a training, and ends it after it was cancelled.
fn watch<'a>(training: &'a Shared, cancel: Option<&'a Arc<Cancel>>) -> impl FnMut(Progress) -> ControlFlow<()> + 'a {
    move |progress| {
        *lock(&training.progress) = Some(progress);
        let is_cancelled = cancel.is_some_and(|cancel| cancel.is_cancelled());
        if is_cancelled { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// What is made of the counts.
enum Task {
    /// A new vocabulary.
    Train(Trainer),
    /// More tokens for a tokenizer.json.
    Extend(Vec<u8>, ExtendOptions),
    /// The tokens of a tokenizer.json that are used.
    Prune(Vec<u8>),
}

/// The result of a [`Task`].
#[napi(object, object_from_js = false)]
pub struct TrainOutcome {
    /// The tokenizer.json.
    pub file: U8Values,
    /// After extending, the new ids. After pruning, the old and the new id of each token.
    pub ids: Vec<u32>,
    /// After extending, the new tokens.
    pub tokens: Vec<String>,
    /// After both: the bytes of the words, their tokens and the size of the vocabulary before, and
    /// both after.
    pub effect: Vec<f64>,
}

impl TrainOutcome {
    fn new(file: String, ids: Vec<u32>, tokens: Vec<String>, effect: Option<Effect>) -> Self {
        let numbers = |Effect { bytes, tokens: [tokens, later], vocabulary: [size, new_size] }| {
            vec![bytes as f64, tokens as f64, size as f64, later as f64, new_size as f64]
        };
        Self { file: U8Values::Vec(file.into_bytes()), ids, tokens, effect: effect.map(numbers).unwrap_or_default() }
    }
}

/// The work of making a vocabulary.
pub struct TrainWork {
    training: Arc<Shared>,
    task: Task,
    cancel: Option<Arc<Cancel>>,
}

impl TrainWork {
    fn make(&self, words: WordCounts, watch: &mut Watch<'_>) -> Result<TrainOutcome, TrainError> {
        Ok(match &self.task {
            Task::Train(trainer) => {
                TrainOutcome::new(trainer.train(&self.training.base, words, watch)?, vec![], vec![], None)
            }
            Task::Extend(file, options) => {
                let Extended { file, new_tokens, effect } = tokenlane_train::extend(file, &words, options, watch)?;
                let (ids, tokens) = new_tokens.into_iter().unzip();
                TrainOutcome::new(file, ids, tokens, Some(effect))
            }
            Task::Prune(file) => {
                let Pruned { file, ids, effect } = tokenlane_train::prune(file, &words, watch)?;
                TrainOutcome::new(
                    file,
                    ids.into_iter().flat_map(|(old, new)| [old, new]).collect(),
                    vec![],
                    Some(effect),
                )
            }
        })
    }
}

impl Work for TrainWork {
    type Output = TrainOutcome;
    type Js = TrainOutcome;

    fn run(&mut self) -> Result<TrainOutcome, Failure> {
        let _frugal = Frugal::new();
        let mut watch = watch(&self.training, self.cancel.as_ref());
        let words = self.training.take_counter().finish(&mut watch).map_err(failure)?;
        // The tables were allocated by the threads that counted: only they return all of it.
        tokenlane_train::on_counting_threads(release_free_memory);
        if words.is_empty() {
            return Err(failure(TrainError::NoWords));
        }
        self.make(words, &mut watch).map_err(failure)
    }
}

/// How far [`train`] is.
#[napi(object, object_from_js = false)]
pub struct TrainingProgress {
    /// What it does: `words`, `pairs`, `merges`, `seeds`, `estimate`, `prune` or `encode`.
    pub phase: &'static str,
    /// How much of the phase is done, in a unit of its own.
    pub done: f64,
    /// How much there is to do in the phase at most.
    pub total: f64,
    /// The number of tokens that the vocabulary has now.
    pub tokens: f64,
}

impl From<Progress> for TrainingProgress {
    fn from(Progress { phase, done, total, tokens }: Progress) -> Self {
        let phase = match phase {
            Phase::Pairs => "pairs",
            Phase::Merges => "merges",
            Phase::Seeds => "seeds",
            Phase::Estimate => "estimate",
            Phase::Prune => "prune",
            Phase::Encode => "encode",
            _ => "words",
        };
        Self { phase, done: done as f64, total: total as f64, tokens: tokens as f64 }
    }
}

/// Creates a training. `base` is a tokenizer.json whose vocabulary does not matter. Counts that do
/// not fit into `memory` bytes become files in `folder`; without one, memory grows.
#[napi(catch_unwind)]
pub fn training(
    env: Env,
    base: Unknown<'_>,
    memory: Option<f64>,
    folder: Option<String>,
) -> napi::Result<External<Training>> {
    node_api::guarded(env, || {
        let base = Arc::new(Base::from_json(&text::copy_bytes("base", &base)?).map_err(failure)?);
        let spill = memory.zip(folder).map(|(memory, folder)| Spill { memory: memory as usize, folder: folder.into() });
        let shared = Shared { base, spill, counter: Mutex::default(), progress: Mutex::default() };
        Ok(External::new(Training(Held::new(Arc::new(shared)))))
    })
}

/// Which texts of a call are counted, and how, as JS passes it.
#[napi(object, object_to_js = false)]
pub struct CountOptions {
    /// The index of the first text that is counted.
    pub from: u32,
    /// The index of the first text that is left out.
    pub held_out: u32,
    /// The distance to the next text that is left out; 0 if none is.
    pub step: u32,
    /// Whether a failure leaves the texts before it counted, and none behind it.
    pub in_order: bool,
}

/// Counts the words of the texts that were copied for `entry`, on the threadpool.
#[napi(catch_unwind)]
pub fn count_texts(
    env: Env,
    entry: &External<QueueEntry>,
    training: &External<Training>,
    options: CountOptions,
) -> napi::Result<AsyncTask<Job<CountWords>>> {
    node_api::guarded(env, || {
        let work = count_words(Some(entry), training, entry.take_inputs()?, options);
        Ok(AsyncTask::new(Job::new(work, entry.take_permit())))
    })
}

/// Counts the words of documents, as [`count_texts`] does with texts.
#[napi(catch_unwind)]
pub fn count_documents(
    env: Env,
    entry: &External<QueueEntry>,
    training: &External<Training>,
    documents: &External<Documents>,
    options: CountOptions,
) -> napi::Result<AsyncTask<Job<CountWords>>> {
    node_api::guarded(env, || {
        let work = count_words(Some(entry), training, Inputs::Shared(documents.texts()?), options);
        Ok(AsyncTask::new(Job::new(work, entry.take_permit())))
    })
}

/// Counts the words of lines before it returns. Each line is a text, with its line end.
#[napi(catch_unwind)]
pub fn count_lines(env: Env, training: &External<Training>, lines: Unknown<'_>) -> napi::Result<()> {
    node_api::guarded(env, || {
        let bytes = text::copy_bytes("lines", &lines)?;
        let mut arena = Arena::default();
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            arena.push_utf8(line)?;
        }
        drop(bytes);
        let all = CountOptions { from: 0, held_out: 0, step: 0, in_order: false };
        count_words(None, training, Inputs::Shared(Arc::new(arena)), all).run()
    })
}

fn count_words(
    entry: Option<&QueueEntry>,
    training: &Training,
    inputs: Inputs,
    CountOptions { from, held_out, step, in_order }: CountOptions,
) -> CountWords {
    let selection = Selection { from: from as usize, held_out: held_out as usize, step: step as usize };
    CountWords { training: Arc::clone(&training.0), inputs, selection, in_order, cancel: entry.map(QueueEntry::cancel) }
}

/// Writes what was counted to a file of words, on the threadpool. The counts are used up.
#[napi(catch_unwind)]
pub fn write_words(
    env: Env,
    entry: &External<QueueEntry>,
    training: &External<Training>,
    path: String,
) -> napi::Result<AsyncTask<Job<WriteWords>>> {
    node_api::guarded(env, || {
        let work = WriteWords { training: Arc::clone(&training.0), path: path.into(), cancel: entry.cancel() };
        Ok(AsyncTask::new(Job::new(work, entry.take_permit())))
    })
}

/// Adds the counts of files of words, which are read when the vocabulary is made.
#[napi(catch_unwind)]
pub fn add_word_files(env: Env, training: &External<Training>, paths: Vec<String>) -> napi::Result<()> {
    node_api::guarded(env, || {
        let paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
        training.0.with_counter(|counter| counter.add_files(&paths));
        Ok(())
    })
}

/// Trains on what was counted, on the threadpool. `trainer` is JSON: the type and the options,
/// under the names of the reference. The counts are used up.
#[napi(catch_unwind)]
pub fn train(
    env: Env,
    entry: &External<QueueEntry>,
    training: &External<Training>,
    trainer: String,
) -> napi::Result<AsyncTask<Job<TrainWork>>> {
    node_api::guarded(env, || {
        let task = Task::Train(Trainer::from_json(&trainer).map_err(failure)?);
        Ok(AsyncTask::new(Job::new(train_work(Some(entry), training, task), entry.take_permit())))
    })
}

/// Like [`train`], before it returns.
#[napi(catch_unwind)]
pub fn train_sync(env: Env, training: &External<Training>, trainer: String) -> napi::Result<U8Values> {
    node_api::guarded(env, || {
        let task = Task::Train(Trainer::from_json(&trainer).map_err(failure)?);
        Ok(train_work(None, training, task).run()?.file)
    })
}

/// Adds tokens for what was counted to a tokenizer.json, the base of the training with its
/// vocabulary, on the threadpool. `options` is JSON. The counts are used up.
#[napi(catch_unwind)]
pub fn extend(
    env: Env,
    entry: &External<QueueEntry>,
    training: &External<Training>,
    file: Unknown<'_>,
    options: String,
) -> napi::Result<AsyncTask<Job<TrainWork>>> {
    node_api::guarded(env, || {
        let options = ExtendOptions::from_json(&options).map_err(failure)?;
        let task = Task::Extend(text::copy_bytes("file", &file)?, options);
        Ok(AsyncTask::new(Job::new(train_work(Some(entry), training, task), entry.take_permit())))
    })
}

/// Keeps the tokens of a tokenizer.json, the base of the training with its vocabulary, that were
/// counted, on the threadpool. The counts are used up.
#[napi(catch_unwind)]
pub fn prune(
    env: Env,
    entry: &External<QueueEntry>,
    training: &External<Training>,
    file: Unknown<'_>,
) -> napi::Result<AsyncTask<Job<TrainWork>>> {
    node_api::guarded(env, || {
        let task = Task::Prune(text::copy_bytes("file", &file)?);
        Ok(AsyncTask::new(Job::new(train_work(Some(entry), training, task), entry.take_permit())))
    })
}

fn train_work(entry: Option<&QueueEntry>, training: &Training, task: Task) -> TrainWork {
    TrainWork { training: Arc::clone(&training.0), task, cancel: entry.map(QueueEntry::cancel) }
}

/// How far a training is; nothing before [`train`] has started.
#[napi(catch_unwind)]
pub fn training_progress(env: Env, training: &External<Training>) -> napi::Result<Option<TrainingProgress>> {
    node_api::guarded(env, || {
        let progress = *lock(&training.0.progress);
        Ok(progress.map(TrainingProgress::from))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_held_out_at_a_distance() {
        let of = |from, held_out, step| Selection { from, held_out, step }.indices(9).collect::<Vec<_>>();
        assert_eq!(of(0, 0, 0), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(of(2, 3, 4), [2, 4, 5, 6, 8]);
        assert_eq!(of(8, 100, 4), [8]);
    }
}
