//! Converts every error to a [`Failure`], which has the class, the stable `code` and the message of
//! the JS error.

use std::borrow::Cow;

use tokenlane_core::batch::BatchError;
use tokenlane_core::memory::OutOfMemory;
use tokenlane_core::{DecodeError, EncodeError, LoadError, SaveError};

/// The class of the JS error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `Error`: a problem with the environment or with the data.
    Error,
    /// `TypeError`: an argument has the wrong type.
    Type,
    /// `RangeError`: an argument has the right type, but a value that is not allowed.
    Range,
}

/// A failure to be reported to JS. It can be created on any thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The class of the JS error.
    pub class: Class,
    /// `error.code`, which starts with `ERR_TOKENLANE_`.
    pub code: &'static str,
    /// `error.message`.
    pub message: String,
    /// `error.reason`: the message without the location of the failure and without the options of
    /// JS that a caller could set, if that is not the message.
    pub reason: Option<String>,
    /// `error.row`: the index, in the array that the call got, of the text or list of ids that
    /// failed.
    pub index: Option<usize>,
    /// `error.component`, `error.reached` and `error.limit`: details of an exceeded output limit.
    pub exceeded: Option<Exceeded>,
}

/// Details of an exceeded output limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceeded {
    /// The component, as it appears in a message.
    pub component: &'static str,
    /// The size that the output reached, or would have reached, at the limit, in bytes (for
    /// truncation in tokens, for the work of components in steps). The whole may be larger.
    pub reached: usize,
    /// The limit, in the same unit.
    pub limit: usize,
}

impl Failure {
    /// Creates a failure that does not belong to an element of an array.
    pub fn new(class: Class, code: &'static str, message: impl Into<String>) -> Self {
        Self { class, code, message: message.into(), reason: None, index: None, exceeded: None }
    }

    /// An argument has the wrong type.
    pub fn wrong_type(message: impl Into<String>) -> Self {
        Self::new(Class::Type, "ERR_TOKENLANE_ARGUMENT_TYPE", message)
    }

    /// The core panicked. This is a bug in tokenlane, but the process continues.
    pub fn panicked(message: &str) -> Self {
        Self::new(
            Class::Error,
            "ERR_TOKENLANE_PANIC",
            format!("tokenlane failed where it never should; please report this: {message}"),
        )
    }

    /// Prepends the location of the failure to the message.
    #[must_use]
    pub fn within(self, location: &str) -> Self {
        let message = format!("{location}: {}", self.message);
        self.reworded(message)
    }

    /// Appends what the caller can do to the message.
    fn advising(self, advice: &str) -> Self {
        let message = format!("{}: {advice}", self.message);
        self.reworded(message)
    }

    fn reworded(self, message: String) -> Self {
        Self { reason: self.reason.or(Some(self.message)), message, ..self }
    }

    fn exceeding(self, component: &'static str, reached: usize, limit: usize) -> Self {
        let exceeded = Some(Exceeded { component, reached, limit });
        Self { exceeded, ..self.advising("raise limits.maxExpansion if that is meant") }
    }
}

/// A text for JS. Of a text above 16 KiB only the first and last KiB are kept: JS strings have a
/// maximum length, and an error whose message cannot be created would lose its code.
pub fn shortened(text: &str) -> Cow<'_, str> {
    const MAX_LEN: usize = 16 << 10;
    const ENDS: usize = 1 << 10;
    if text.len() <= MAX_LEN {
        return Cow::Borrowed(text);
    }
    let (start, end) = (text.floor_char_boundary(ENDS), text.floor_char_boundary(text.len() - ENDS));
    Cow::Owned(format!("{} … {}", &text[..start], &text[end..]))
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
        let failure = Self::new(class, error.code(), error.to_string());
        if error == LoadError::EmptySpecialToken { failure.within("specialTokens") } else { failure }
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
        let failure = Self::new(class, error.code(), error.to_string());
        match error {
            EncodeError::SpecialToken { .. } => {
                failure.advising("say specialTokens 'text' to encode it as text or 'parse' to take it as the token")
            }
            EncodeError::OutputLimit { component, reached, limit }
            | EncodeError::WorkLimit { chain: component, reached, limit } => {
                failure.exceeding(component, reached, limit)
            }
            EncodeError::OverflowLimit { reached, limit } => failure.exceeding("truncation", reached, limit),
            _ => failure,
        }
    }
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        let class = match error {
            DecodeError::UnknownId { .. } => Class::Range,
            _ => Class::Error,
        };
        let failure = Self::new(class, error.code(), error.to_string());
        match error {
            DecodeError::OutputLimit { component, reached, limit }
            | DecodeError::WorkLimit { chain: component, reached, limit } => {
                failure.exceeding(component, reached, limit)
            }
            _ => failure,
        }
    }
}

impl From<BatchError> for Failure {
    fn from(error: BatchError) -> Self {
        let at = |index, failure: Self| Self { index: Some(index), ..failure.within(&format!("row {index}")) };
        match error {
            BatchError::Encode { index, source } => at(index, source.into()),
            BatchError::Decode { index, source } => at(index, source.into()),
            BatchError::Options(source) => source.into(),
            BatchError::Panicked { index, message } => Self { index: Some(index), ..Self::panicked(&message) },
            _ => Self::new(Class::Error, error.code(), error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_very_long_message_keeps_its_ends() {
        assert_eq!(shortened("short"), "short");
        let text = format!("there is no {}, which is a pity", "é".repeat(1 << 20));
        let long = shortened(&text);
        assert!(long.starts_with("there is no éé") && long.ends_with("éé, which is a pity"), "{long}");
        assert!(long.len() < 3000, "{} bytes", long.len());
    }

    #[test]
    fn a_batch_without_memory_is_no_defect() {
        let row = Failure::from(BatchError::from(OutOfMemory { bytes: 7 }));
        assert_eq!((row.code, row.class), ("ERR_TOKENLANE_OUT_OF_MEMORY", Class::Error));
    }

    #[test]
    fn a_row_is_named() {
        let failure = Failure::from(BatchError::Encode { index: 3, source: EncodeError::InvalidUtf8 { byte: 9 } });
        assert_eq!((failure.code, failure.index), ("ERR_TOKENLANE_INVALID_UTF8", Some(3)));
        assert!(failure.message.contains('3') && failure.message.contains('9'), "{}", failure.message);
    }

    #[test]
    fn the_reason_has_neither_the_row_nor_options_of_js() {
        let source = EncodeError::SpecialToken { token: "<s>".into(), byte: 1 };
        let failure = Failure::from(BatchError::Encode { index: 3, source: source.clone() });
        assert!(failure.message.starts_with("row 3: ") && failure.message.contains("specialTokens 'text'"));
        assert_eq!(failure.reason, Some(source.to_string()));
        assert_eq!(Failure::from(EncodeError::TruncationNoSecondText).reason, None);
    }
}
