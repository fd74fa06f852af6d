//! One error type per operation. Each error has its data, a stable [`code`](LoadError::code) for
//! programs, and a message for people.

use thiserror::Error;

use crate::memory::OutOfMemory;
use crate::pattern::{CompileError, MAX_SOURCE_BYTES, PatternError};

/// The code of [`OutOfMemory`], for every operation.
pub(crate) const OUT_OF_MEMORY: &str = "ERR_TOKENLANE_OUT_OF_MEMORY";

/// Why a tokenizer could not be loaded.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The input is empty.
    #[error("the file is empty")]
    Empty,
    /// The bytes are not JSON.
    #[error("the JSON does not parse: {message} at line {line}, column {column}")]
    Json {
        /// The line at which the parser stopped, from 1.
        line: usize,
        /// The byte within that line, from 1.
        column: usize,
        /// What the parser expected.
        message: String,
    },
    /// The JSON parses, but a part of it does not have the structure of a tokenizer file.
    #[error("{path}: {message}")]
    Shape {
        /// The path in the file, such as `model.merges[3]`.
        path: String,
        /// The problem.
        message: String,
    },
    /// A GGUF file is broken, or lacks what its tokenizer needs.
    #[error("the GGUF file {message}")]
    Gguf {
        /// What is wrong.
        message: String,
    },
    /// The file needs a component or option that tokenlane does not support. It is never
    /// approximated.
    #[error("{path}: {component} is not supported")]
    Unsupported {
        /// The path in the file, such as `pre_tokenizer.pretokenizers[0]`.
        path: String,
        /// The name of the component or option in the file.
        component: String,
    },
    /// A template of the post-processor contains a token that is not in its `special_tokens`.
    #[error("{path}: the template names the token {token:?}, which special_tokens does not list")]
    UnknownTemplateToken {
        /// The path in the file.
        path: String,
        /// The token.
        token: String,
    },
    /// A merge refers to a token that is not in the vocabulary.
    #[error("merge {index} ({left:?} with {right:?}) needs the token {missing:?}, which is not in the vocabulary")]
    MergeOutOfVocabulary {
        /// The index of the merge, from 0, which is its rank.
        index: usize,
        /// The left part.
        left: String,
        /// The right part.
        right: String,
        /// The missing token.
        missing: String,
    },
    /// A merge in the string form does not consist of exactly two parts.
    #[error("merge {index} ({text:?}) is not two parts with one space between them")]
    MergeMalformed {
        /// The index of the merge, from 0.
        index: usize,
        /// The merge, as in the file.
        text: String,
    },
    /// Two tokens have the same id.
    #[error("the tokens {first:?} and {second:?} both have the id {id}")]
    DuplicateId {
        /// The id.
        id: u32,
        /// The first token with this id.
        first: String,
        /// The second token with this id.
        second: String,
    },
    /// The bytes start like a SentencePiece model but are not a complete one.
    #[error("the protobuf of the SentencePiece model does not parse at byte {byte}: {message}")]
    Protobuf {
        /// The byte of the file, from 0.
        byte: usize,
        /// What was wrong there.
        message: String,
    },
    /// A line of a rank file does not have the form `<base64> <rank>`.
    #[error("line {line} of the rank file: {message}")]
    RankLine {
        /// The line, from 1.
        line: usize,
        /// The problem.
        message: String,
    },
    /// The caller defines a special token without text.
    #[error("a special token has no text")]
    EmptySpecialToken,
    /// A rank file does not define how text is split, so the caller must.
    #[error(
        "this is a rank file, which does not say how text is split: name its encoding, or give its pattern and special tokens"
    )]
    RanksWithoutPattern,
    /// The bytes have no known format.
    #[error("this is not a tokenizer.json, tekken.json, SentencePiece model or rank file: {hint}")]
    UnknownFormat {
        /// What the bytes look like instead.
        hint: String,
    },
    /// There is no bundled encoding with this name.
    #[error("there is no encoding {name:?}; the bundled ones are {known}")]
    UnknownEncoding {
        /// The requested name.
        name: String,
        /// The known names, separated by commas.
        known: String,
    },
    /// A regular expression does not compile.
    #[error("{path}: the pattern {pattern:?} does not compile: {message}")]
    Pattern {
        /// The path of the pattern in the file.
        path: String,
        /// The pattern.
        pattern: String,
        /// The message of the regex library, with the position.
        message: String,
    },
    /// An added token cannot get the requested id.
    #[error("the added token {token:?} gets the id {id} in this tokenizer, not {wanted}")]
    AddedTokenId {
        /// The token.
        token: String,
        /// The id that it would get.
        id: u32,
        /// The requested id.
        wanted: u32,
    },
    /// A part of the file exceeds the limits for ids, tables or memory.
    #[error("{what} is too large: {size}, at most {limit}")]
    TooLarge {
        /// The part that is too large.
        what: &'static str,
        /// Its size.
        size: u64,
        /// The maximum size.
        limit: u64,
    },
    /// There is not enough memory to load the file.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl LoadError {
    /// A stable name for programs. Unlike the message, it does not change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "ERR_TOKENLANE_EMPTY_FILE",
            Self::Json { .. } => "ERR_TOKENLANE_JSON",
            Self::Shape { .. } | Self::EmptySpecialToken => "ERR_TOKENLANE_SHAPE",
            Self::Gguf { .. } => "ERR_TOKENLANE_GGUF",
            Self::Unsupported { .. } => "ERR_TOKENLANE_UNSUPPORTED",
            Self::UnknownTemplateToken { .. } => "ERR_TOKENLANE_TEMPLATE",
            Self::MergeOutOfVocabulary { .. } | Self::MergeMalformed { .. } => "ERR_TOKENLANE_MERGE",
            Self::DuplicateId { .. } => "ERR_TOKENLANE_DUPLICATE_ID",
            Self::Protobuf { .. } => "ERR_TOKENLANE_PROTOBUF",
            Self::RankLine { .. } => "ERR_TOKENLANE_RANK_LINE",
            Self::RanksWithoutPattern => "ERR_TOKENLANE_PATTERN_MISSING",
            Self::UnknownFormat { .. } => "ERR_TOKENLANE_UNKNOWN_FORMAT",
            Self::UnknownEncoding { .. } => "ERR_TOKENLANE_UNKNOWN_ENCODING",
            Self::Pattern { .. } => "ERR_TOKENLANE_PATTERN",
            Self::AddedTokenId { .. } => "ERR_TOKENLANE_ARGUMENT_VALUE",
            Self::TooLarge { .. } => "ERR_TOKENLANE_TOO_LARGE",
            Self::OutOfMemory(_) => OUT_OF_MEMORY,
        }
    }

    pub(crate) fn shape(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Shape { path: path.into(), message: message.into() }
    }

    pub(crate) fn unsupported(path: impl Into<String>, component: impl Into<String>) -> Self {
        Self::Unsupported { path: path.into(), component: component.into() }
    }
}

/// Why a tokenizer that was loaded from a rank file or a SentencePiece model cannot be written as a
/// tokenizer.json. A tokenizer that was loaded from a tokenizer.json always can.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The pattern uses a construct that Oniguruma, which compiles the patterns of a
    /// tokenizer.json, does not support or interprets differently.
    #[error("a tokenizer.json cannot have the pattern {pattern:?}: {message}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The construct and its position.
        message: String,
    },
    /// Two tokens have the same id, which a tokenizer.json does not allow.
    #[error("a tokenizer.json cannot give the id {id} to both {first:?} and {second:?}")]
    SharedId {
        /// The id.
        id: u32,
        /// The first token.
        first: String,
        /// The second token.
        second: String,
    },
    /// An added token would be mistaken for another token in the spelling of a tokenizer.json.
    #[error("a tokenizer.json cannot have the added token {token:?}: {reason}")]
    AddedToken {
        /// The token.
        token: String,
        /// What would happen to it.
        reason: &'static str,
    },
    /// The ranks lack a byte that may occur in text. With ranks such a byte is an error, but with a
    /// tokenizer.json it is dropped silently.
    #[error("a tokenizer.json would drop the byte 0x{byte:02X}, which the ranks have no token for")]
    ByteMissing {
        /// The byte.
        byte: u8,
    },
    /// A tokenizer.json has no component for the normalizer and the 32-bit scores of a
    /// SentencePiece file.
    #[error("a tokenizer.json cannot express a SentencePiece model exactly: keep its .model file")]
    SentencePiece,
    /// There is not enough memory for the file.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl SaveError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        if let Self::OutOfMemory(_) = self { OUT_OF_MEMORY } else { "ERR_TOKENLANE_SAVE" }
    }
}

/// Why a text could not be encoded.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The given bytes are not valid UTF-8.
    #[error("the bytes are not valid UTF-8: byte {byte} starts no character")]
    InvalidUtf8 {
        /// The index of the first invalid byte.
        byte: usize,
    },
    /// The text is too long for 32-bit offsets.
    #[error("the text has {bytes} bytes; at most {limit} can be encoded at once")]
    TextTooLong {
        /// The length in bytes of UTF-8.
        bytes: usize,
        /// The maximum length.
        limit: usize,
    },
    /// The text contains a special token, and the caller does not allow that.
    #[error("the text holds the special token {token:?} at byte {byte}")]
    SpecialToken {
        /// The first special token in the text.
        token: String,
        /// Its start, in bytes of UTF-8.
        byte: usize,
    },
    /// The caller named a token that is not a special token of this tokenizer.
    #[error("{token:?} is not a special token of this tokenizer")]
    NoSuchSpecialToken {
        /// The given name.
        token: String,
    },
    /// The search for a pattern exceeded its step limit.
    #[error("the pattern {pattern:?} gave up at byte {byte}: {message}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The start of the search, in bytes of the searched part of the text.
        byte: usize,
        /// The reason.
        message: String,
    },
    /// A component makes more text from the input than the output limit allows.
    #[error("{component} makes {reached} bytes of this text, and {limit} are allowed")]
    OutputLimit {
        /// The name of the component.
        component: &'static str,
        /// The size in bytes that the output would have reached. The component stopped there.
        reached: usize,
        /// The limit in bytes: see [`crate::max_expansion`].
        limit: usize,
    },
    /// A chain of components works longer on the text than its limit allows.
    #[error("{chain} takes {reached} steps for this text, and {limit} are allowed")]
    WorkLimit {
        /// The name of the chain.
        chain: &'static str,
        /// The number of steps that the chain would have taken. It stopped there.
        reached: usize,
        /// The limit in steps, a multiple of that of the output: see [`crate::max_expansion`].
        limit: usize,
    },
    /// The overlapping parts of a truncated text have more tokens than the limit allows.
    #[error("truncation makes {reached} tokens of this text, and {limit} are allowed")]
    OverflowLimit {
        /// The number of tokens in all parts together.
        reached: usize,
        /// The limit in tokens: see [`crate::max_expansion`].
        limit: usize,
    },
    /// The text needs the unknown token, which is not in the vocabulary.
    #[error("the unknown token {token:?} is not in the vocabulary")]
    UnknownTokenMissing {
        /// The name of the token in the file.
        token: String,
    },
    /// The text needs an unknown token, but the file does not define one.
    #[error(
        "the text has a character that no token of the vocabulary has, and the file names no unknown token (unk_id)"
    )]
    UnknownTokenUnset,
    /// A rank file has no token for a byte of the text.
    #[error("the ranks have no token for the byte 0x{byte:02X} (byte {at} of its word)")]
    NoTokenForByte {
        /// The byte.
        byte: u8,
        /// Its index within the word, from 0.
        at: usize,
    },
    /// The parts of a truncated text would not advance, because neighbours share as many tokens as
    /// they have.
    #[error(
        "truncation cannot go on: the stride {stride} must be less than the {max_length} tokens that are left of max_length for a text"
    )]
    TruncationStride {
        /// The requested stride.
        stride: usize,
        /// The rest of `max_length` without special tokens and the other text.
        max_length: usize,
    },
    /// The text to be truncated has too few tokens.
    #[error("truncation cannot take {excess} tokens from a text that has {tokens}, one must stay")]
    TruncationTooShort {
        /// The number of tokens of the text.
        tokens: usize,
        /// The number of tokens to be removed.
        excess: usize,
    },
    /// The second text is to be truncated, but there is none.
    #[error("truncation is to shorten the second text only, and there is no second text")]
    TruncationNoSecondText,
    /// Truncation would split a pair into too many parts.
    #[error("truncation cuts this input into more than {limit} parts; take a longer max_length or a smaller stride")]
    OverflowTooLarge {
        /// The maximum number of parts.
        limit: usize,
    },
    /// An encoding would be padded to too many tokens.
    #[error("{length} tokens are too many to pad to; at most {limit} are possible")]
    PaddingTooLong {
        /// The requested length, after rounding up.
        length: usize,
        /// The maximum length.
        limit: usize,
    },
    /// The template of the file does not fit the number of texts.
    #[error("the post-processor cannot be used here: {message}")]
    Template {
        /// The problem.
        message: String,
    },
    /// The batch has more ids than 32-bit row offsets can count.
    #[error("the batch has more than {limit} token ids; encode it in smaller batches")]
    BatchTooLarge {
        /// The maximum number of ids.
        limit: usize,
    },
    /// There is not enough memory for the text, its ids or their columns.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl EncodeError {
    /// Converts the error of a slice of a text that starts at byte `start` to an error of the whole
    /// text.
    pub(crate) fn moved_by(self, start: usize) -> Self {
        match self {
            Self::SpecialToken { token, byte } => Self::SpecialToken { token, byte: byte + start },
            other => other,
        }
    }

    /// Whether the text needs an unknown token that the tokenizer does not have.
    pub(crate) fn is_unknown_token(&self) -> bool {
        matches!(self, Self::UnknownTokenMissing { .. } | Self::UnknownTokenUnset)
    }

    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidUtf8 { .. } => "ERR_TOKENLANE_INVALID_UTF8",
            Self::TextTooLong { .. } => "ERR_TOKENLANE_TEXT_TOO_LONG",
            Self::SpecialToken { .. } => "ERR_TOKENLANE_SPECIAL_TOKEN",
            Self::NoSuchSpecialToken { .. } => "ERR_TOKENLANE_NO_SUCH_SPECIAL_TOKEN",
            Self::Pattern { .. } => "ERR_TOKENLANE_PATTERN_LIMIT",
            Self::OutputLimit { .. } | Self::WorkLimit { .. } | Self::OverflowLimit { .. } => {
                "ERR_TOKENLANE_OUTPUT_LIMIT"
            }
            Self::UnknownTokenMissing { .. } | Self::UnknownTokenUnset => "ERR_TOKENLANE_UNKNOWN_TOKEN_MISSING",
            Self::NoTokenForByte { .. } => "ERR_TOKENLANE_NO_TOKEN_FOR_BYTE",
            Self::TruncationStride { .. } => "ERR_TOKENLANE_TRUNCATION_STRIDE",
            Self::TruncationTooShort { .. } => "ERR_TOKENLANE_TRUNCATION_TOO_SHORT",
            Self::TruncationNoSecondText => "ERR_TOKENLANE_TRUNCATION_NO_SECOND_TEXT",
            Self::OverflowTooLarge { .. } => "ERR_TOKENLANE_OVERFLOW_TOO_LARGE",
            Self::PaddingTooLong { .. } => "ERR_TOKENLANE_PADDING_TOO_LONG",
            Self::Template { .. } => "ERR_TOKENLANE_TEMPLATE",
            Self::BatchTooLarge { .. } => "ERR_TOKENLANE_BATCH_TOO_LARGE",
            Self::OutOfMemory(_) => OUT_OF_MEMORY,
        }
    }
}

/// Why ids could not be decoded.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// There is no token with this id. Only for tokenizers of rank files: all others skip such ids,
    /// as Hugging Face tokenizers does.
    #[error("there is no token with the id {id} (place {index} of the ids)")]
    UnknownId {
        /// The id.
        id: u32,
        /// Its index in the list, from 0.
        index: usize,
    },
    /// The decoder makes more text from the ids than the output limit allows.
    #[error("{component} makes {reached} bytes of these ids, and {limit} are allowed")]
    OutputLimit {
        /// The name of the component.
        component: &'static str,
        /// The size in bytes that the output would have reached. The decoder stopped there.
        reached: usize,
        /// The limit in bytes: see [`crate::max_expansion`].
        limit: usize,
    },
    /// A chain of decoders works longer on the ids than its limit allows.
    #[error("{chain} takes {reached} steps for these ids, and {limit} are allowed")]
    WorkLimit {
        /// The name of the chain.
        chain: &'static str,
        /// The number of steps that the chain would have taken. It stopped there.
        reached: usize,
        /// The limit in steps, a multiple of that of the output: see [`crate::max_expansion`].
        limit: usize,
    },
    /// The search for a pattern of the decoder exceeded its step limit.
    #[error("the decoder's pattern {pattern:?} gave up: {message}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The reason.
        message: String,
    },
    /// There is not enough memory for the text.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl DecodeError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownId { .. } => "ERR_TOKENLANE_UNKNOWN_ID",
            Self::OutputLimit { .. } | Self::WorkLimit { .. } => "ERR_TOKENLANE_OUTPUT_LIMIT",
            Self::OutOfMemory(_) => OUT_OF_MEMORY,
            Self::Pattern { .. } => "ERR_TOKENLANE_PATTERN_LIMIT",
        }
    }
}

impl LoadError {
    /// The error of a pattern at `path` that does not compile.
    pub(crate) fn pattern(path: &str, source: &str, error: CompileError) -> Self {
        match error {
            CompileError::TooLong { bytes } => {
                Self::TooLarge { what: "a pattern", size: bytes as u64, limit: MAX_SOURCE_BYTES as u64 }
            }
            CompileError::Syntax(message) => Self::Pattern { path: path.into(), pattern: source.into(), message },
        }
    }
}

impl From<PatternError> for EncodeError {
    fn from(error: PatternError) -> Self {
        let PatternError { pattern, byte, why } = error;
        Self::Pattern { pattern, byte, message: why.to_string() }
    }
}

impl From<PatternError> for DecodeError {
    fn from(error: PatternError) -> Self {
        let PatternError { pattern, why, .. } = error;
        Self::Pattern { pattern, message: why.to_string() }
    }
}
