//! The one place where an error becomes a JS error: a class, a stable `code`, a message for people.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tokenlane_core::batch::BatchError;
use tokenlane_core::memory::OutOfMemory;
use tokenlane_core::{DecodeError, EncodeError, LoadError, SaveError};

/// Which class of JS error a failure becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `Error`: the world or the data was not as it should be.
    Error,
    /// `TypeError`: an argument is of the wrong kind.
    Type,
    /// `RangeError`: an argument is of the right kind, but outside what is allowed.
    Range,
}

/// A failure on its way to JS. It can be made on any thread; [`crate::node_api::js_error`] turns it into an error there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The class of the JS error.
    pub class: Class,
    /// `error.code`, `ERR_TOKENLANE_…`.
    pub code: &'static str,
    /// `error.message`.
    pub message: String,
    /// `error.row`: the row of a batch that failed, from 0.
    pub row: Option<usize>,
    /// `error.component`, `error.reached` and `error.limit`: what exceeds the output limit.
    pub exceeded: Option<Exceeded>,
}

/// What made more output than a file may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceeded {
    /// In words.
    pub component: &'static str,
    /// What it would have come to.
    pub reached: usize,
    /// What is allowed.
    pub limit: usize,
}

impl Failure {
    /// A failure of no row in particular.
    pub fn new(class: Class, code: &'static str, message: impl Into<String>) -> Self {
        Self { class, code, message: message.into(), row: None, exceeded: None }
    }

    /// An argument of the wrong kind.
    pub fn wrong_type(message: impl Into<String>) -> Self {
        Self::new(Class::Type, "ERR_TOKENLANE_ARGUMENT_TYPE", message)
    }

    /// The core panicked: a bug in tokenlane, and no reason for the process to end.
    pub fn panicked(message: &str) -> Self {
        Self::new(
            Class::Error,
            "ERR_TOKENLANE_PANIC",
            format!("tokenlane failed where it never should; please report this: {message}"),
        )
    }

    /// The message as it is told: of one that names something very long only both ends. A string of JavaScript has a most length, and
    /// an error that cannot be made has no code.
    pub fn told(&self) -> Cow<'_, str> {
        const LONG: usize = 16 << 10;
        const ENDS: usize = 1 << 10;
        if self.message.len() <= LONG {
            return Cow::Borrowed(&self.message);
        }
        let start = self.message.floor_char_boundary(ENDS);
        let end = self.message.floor_char_boundary(self.message.len() - ENDS);
        Cow::Owned(format!("{} … {}", &self.message[..start], &self.message[end..]))
    }

    /// Puts where it happened in front of the message.
    pub fn within(mut self, place: &str) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }
}

impl From<OutOfMemory> for Failure {
    fn from(error: OutOfMemory) -> Self {
        Self::new(Class::Error, "ERR_TOKENLANE_OUT_OF_MEMORY", error.to_string())
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        let class = match error {
            LoadError::UnknownEncoding { .. } | LoadError::AddedTokenId { .. } => Class::Range,
            _ => Class::Error,
        };
        Self::new(class, error.code(), error.to_string())
    }
}

impl From<SaveError> for Failure {
    fn from(error: SaveError) -> Self {
        Self::new(Class::Error, error.code(), error.to_string())
    }
}

impl From<EncodeError> for Failure {
    fn from(error: EncodeError) -> Self {
        let class = match error {
            EncodeError::NoSuchSpecialToken { .. }
            | EncodeError::TruncationStride { .. }
            | EncodeError::TruncationTooShort { .. }
            | EncodeError::TruncationNoSecondText
            | EncodeError::OverflowTooLarge { .. }
            | EncodeError::PaddingTooLong { .. } => Class::Range,
            _ => Class::Error,
        };
        let exceeded = match error {
            EncodeError::OutputLimit { component, reached, limit } => Some(Exceeded { component, reached, limit }),
            _ => None,
        };
        Self { exceeded, ..Self::new(class, error.code(), error.to_string()) }
    }
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        let class = match error {
            DecodeError::UnknownId { .. } => Class::Range,
            _ => Class::Error,
        };
        let exceeded = match error {
            DecodeError::OutputLimit { reached, limit } => Some(Exceeded { component: "the decoder", reached, limit }),
            _ => None,
        };
        Self { exceeded, ..Self::new(class, error.code(), error.to_string()) }
    }
}

impl From<BatchError> for Failure {
    fn from(error: BatchError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        match error {
            BatchError::Row { row, source } => Self { message, row: Some(row), ..Self::from(source) },
            BatchError::Decode { row, source } => Self { message, row: Some(row), ..Self::from(source) },
            BatchError::Options(source) => Self::from(source),
            BatchError::Panicked { row, message } => Self { row: Some(row), ..Self::panicked(&message) },
            _ => Self::new(Class::Error, code, message),
        }
    }
}

/// Runs `work`; a panic inside becomes a failure, and so does an allocation that failed and unwound.
///
/// Nothing that `work` touches is looked at again after a panic except tokenizers, which are immutable apart from caches
/// that the core keeps consistent, and scratch that is cleared before each use.
pub fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        if let Some(&error) = payload.downcast_ref::<OutOfMemory>() {
            return Err(error.into());
        }
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("a panic without a message");
        Err(Failure::panicked(message))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokenlane_core::memory::Grow;

    #[test]
    fn a_message_that_names_something_very_long_is_told_by_its_ends() {
        let told = |message: &str| Failure::wrong_type(message).told().into_owned();
        assert_eq!(told("short"), "short");
        let long = told(&format!("there is no {}, which is a pity", "é".repeat(1 << 20)));
        assert!(long.starts_with("there is no éé") && long.ends_with("éé, which is a pity"), "{long}");
        assert!(long.len() < 3000, "{} bytes", long.len());
    }

    #[test]
    fn a_panic_becomes_a_failure_with_its_message() {
        let failure = caught::<()>(|| panic!("seven {}", 7)).expect_err("it panicked");
        assert_eq!(failure.code, "ERR_TOKENLANE_PANIC");
        assert!(failure.message.ends_with("seven 7"), "{}", failure.message);
    }

    #[test]
    fn memory_that_is_missing_is_no_defect() {
        let failure = caught::<()>(|| {
            Vec::<u64>::new().grow(usize::MAX / 16);
            Ok(())
        });
        let failure = failure.expect_err("nobody has that much");
        assert_eq!(failure.code, "ERR_TOKENLANE_OUT_OF_MEMORY");
        assert!(failure.message.contains(&(usize::MAX / 16 * 8).to_string()), "{}", failure.message);
        let row = Failure::from(BatchError::from(OutOfMemory { bytes: 7 }));
        assert_eq!((row.code, row.class), ("ERR_TOKENLANE_OUT_OF_MEMORY", Class::Error));
    }

    #[test]
    fn a_row_is_named() {
        let failure = Failure::from(BatchError::Row { row: 3, source: EncodeError::InvalidUtf8 { byte: 9 } });
        assert_eq!((failure.code, failure.row), ("ERR_TOKENLANE_INVALID_UTF8", Some(3)));
        assert!(failure.message.contains('3') && failure.message.contains('9'), "{}", failure.message);
    }
}
