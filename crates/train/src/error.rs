//! Why training failed: data, a stable [`code`](TrainError::code), and a message for people.

use std::io::ErrorKind;
use std::path::PathBuf;

use thiserror::Error;
use tokenlane_core::{EncodeError, LoadError};

/// Why a tokenizer could not be trained.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The base is not a tokenizer.json.
    #[error("the base is not a tokenizer.json: {0}")]
    Base(String),
    /// The normalizer, pre-tokenizer or added tokens of the base do not load.
    #[error("the base does not load: {0}")]
    Load(#[from] LoadError),
    /// A text could not be cut into words.
    #[error("text {index}: {error}")]
    Text {
        /// The index of the text in its call.
        index: usize,
        /// What happened.
        error: EncodeError,
    },
    /// A word could not be encoded with the model of the base.
    #[error("the word {word:?}: {error}")]
    Word {
        /// The word.
        word: String,
        /// What happened.
        error: EncodeError,
    },
    /// A model does not allow what was asked for.
    #[error("a {model} model {problem}")]
    Model {
        /// The type of the model.
        model: String,
        /// The problem.
        problem: &'static str,
    },
    /// An option contradicts another one, or has no meaning.
    #[error("{option}: {message}")]
    Option {
        /// The option's name.
        option: &'static str,
        /// The problem.
        message: String,
    },
    /// The distinct words have more characters than positions have room for.
    #[error("the distinct words have more than {limit} characters")]
    TooManyCharacters {
        /// The largest number of characters.
        limit: usize,
    },
    /// A word is too long to be counted.
    #[error(
        "a word has {bytes} bytes; the limit is {limit}. The pre-tokenizer of the base should cut texts into words"
    )]
    WordTooLong {
        /// The length of the word.
        bytes: usize,
        /// The largest length.
        limit: usize,
    },
    /// The system refused to read or write a file.
    #[error("{}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why: a full disk is [`ErrorKind::StorageFull`].
        kind: ErrorKind,
        /// What the system says.
        message: String,
    },
    /// A file is not a file of words, or it was cut or changed.
    #[error("{}: not a whole file of words: {problem} (behind {words} words)", path.display())]
    DamagedFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: &'static str,
        /// The number of words that were read before.
        words: u64,
    },
    /// The watcher of the progress has ended the training.
    #[error("the training was stopped")]
    Stopped,
    /// There are no words to train on.
    #[error("there are no words to train on")]
    NoWords,
    /// The vocabulary has no room for all characters and special tokens.
    #[error("a vocabulary of {vocab_size} tokens is too small: characters and special tokens are {needed}")]
    VocabularyTooSmall {
        /// The size that was asked for.
        vocab_size: usize,
        /// The smallest possible size.
        needed: usize,
    },
}

impl TrainError {
    /// A stable name of the kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Base(_) => "ERR_TOKENLANE_TRAIN_BASE",
            Self::Load(error) => error.code(),
            Self::Text { error, .. } => error.code(),
            Self::Word { error, .. } => error.code(),
            Self::Model { .. } => "ERR_TOKENLANE_UNSUPPORTED",
            Self::Option { .. } => "ERR_TOKENLANE_TRAIN_OPTION",
            Self::TooManyCharacters { .. } => "ERR_TOKENLANE_TRAIN_TOO_LARGE",
            Self::WordTooLong { .. } => "ERR_TOKENLANE_TRAIN_TOO_LARGE",
            Self::File { .. } => "ERR_TOKENLANE_FILE",
            Self::DamagedFile { .. } => "ERR_TOKENLANE_TRAIN_WORDS",
            Self::Stopped => "ERR_TOKENLANE_ABORTED",
            Self::NoWords => "ERR_TOKENLANE_TRAIN_NO_WORDS",
            Self::VocabularyTooSmall { .. } => "ERR_TOKENLANE_TRAIN_VOCABULARY",
        }
    }
}
