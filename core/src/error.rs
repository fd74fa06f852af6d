//! One error type per operation. Each carries its data, has a stable [`code`](LoadError::code) for programs and a
//! sentence for people.

use thiserror::Error;

use crate::memory::OutOfMemory;

/// The code of every [`OutOfMemory`], whatever the operation.
pub(crate) const OUT_OF_MEMORY: &str = "ERR_TOKENLANE_OUT_OF_MEMORY";

/// Why a tokenizer could not be made from what was given.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There was nothing to read.
    #[error("the file is empty")]
    Empty,
    /// The bytes are not JSON.
    #[error("the JSON does not parse: {message} at line {line}, column {column}")]
    Json {
        /// The line the parser stopped in, from 1.
        line: usize,
        /// The byte within that line, from 1.
        column: usize,
        /// What the parser expected.
        message: String,
    },
    /// The JSON parses but a part of it is not what a tokenizer file holds there.
    #[error("{path}: {message}")]
    Shape {
        /// Where in the file, as `model.merges[3]`.
        path: String,
        /// What was wrong.
        message: String,
    },
    /// The file asks for something that tokenlane does not do; nothing is approximated.
    #[error("{path}: {component} is not supported")]
    Unsupported {
        /// Where in the file, as `pre_tokenizer.pretokenizers[0]`.
        path: String,
        /// The component or option, as the file names it.
        component: String,
    },
    /// A template of the post-processor names a token that its `special_tokens` does not list.
    #[error("{path}: the template names the token {token:?}, which special_tokens does not list")]
    UnknownTemplateToken {
        /// Where in the file.
        path: String,
        /// The token.
        token: String,
    },
    /// A merge joins or makes a token that the vocabulary does not have.
    #[error("merge {index} ({left:?} with {right:?}) needs the token {missing:?}, which is not in the vocabulary")]
    MergeOutOfVocabulary {
        /// The merge's place in the list, from 0: its rank.
        index: usize,
        /// The left part.
        left: String,
        /// The right part.
        right: String,
        /// The token that is missing.
        missing: String,
    },
    /// A merge in the string form does not hold exactly two parts.
    #[error("merge {index} ({text:?}) is not two parts with one space between them")]
    MergeMalformed {
        /// The merge's place in the list, from 0.
        index: usize,
        /// The merge as the file has it.
        text: String,
    },
    /// Two tokens claim one id.
    #[error("the tokens {first:?} and {second:?} both have the id {id}")]
    DuplicateId {
        /// The id.
        id: u32,
        /// The token that had it first.
        first: String,
        /// The token that came later.
        second: String,
    },
    /// The bytes look like a SentencePiece model, and are not a whole one.
    #[error("the protobuf of the SentencePiece model does not parse at byte {byte}: {message}")]
    Protobuf {
        /// The byte of the file, from 0.
        byte: usize,
        /// What was wrong there.
        message: String,
    },
    /// A line of a rank file is not `<base64> <rank>`.
    #[error("line {line} of the rank file: {message}")]
    RankLine {
        /// The line, from 1.
        line: usize,
        /// What was wrong.
        message: String,
    },
    /// A rank file says nothing of how text is split; the caller has to.
    #[error(
        "this is a rank file, which does not say how text is split: name its encoding, or give its pattern and special tokens"
    )]
    RanksWithoutPattern,
    /// The bytes are none of the formats that can be told apart.
    #[error("this is no tokenizer.json, tekken.json, SentencePiece model or rank file: {hint}")]
    UnknownFormat {
        /// What the bytes look like instead.
        hint: String,
    },
    /// No bundled encoding has that name.
    #[error("there is no encoding {name:?}; the bundled ones are {known}")]
    UnknownEncoding {
        /// The name asked for.
        name: String,
        /// The names there are, with commas.
        known: String,
    },
    /// A regular expression does not compile.
    #[error("{path}: the pattern {pattern:?} does not compile: {message}")]
    Pattern {
        /// Where it came from.
        path: String,
        /// The pattern.
        pattern: String,
        /// The regex library's words, with the position.
        message: String,
    },
    /// An added token cannot have the id that was asked for.
    #[error("the added token {token:?} gets the id {id} in this tokenizer, not {wanted}")]
    AddedTokenId {
        /// The token.
        token: String,
        /// The id that it gets.
        id: u32,
        /// The id asked for.
        wanted: u32,
    },
    /// The vocabulary is larger than ids, tables or memory allow.
    #[error("{what} is too large: {size}, at most {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large it is.
        size: u64,
        /// How large it may be.
        limit: u64,
    },
    /// The system did not give the memory that reading the file takes.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl LoadError {
    /// A stable name for programs; messages may change, this does not.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "ERR_TOKENLANE_EMPTY_FILE",
            Self::Json { .. } => "ERR_TOKENLANE_JSON",
            Self::Shape { .. } => "ERR_TOKENLANE_SHAPE",
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

/// Why a tokenizer made from a rank file cannot be written as a tokenizer.json. One made from a tokenizer.json always can.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The pattern uses something that Oniguruma, which reads those of a tokenizer.json, does not have or reads otherwise.
    #[error("a tokenizer.json cannot have the pattern {pattern:?}: {message}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What cannot be said, and where.
        message: String,
    },
    /// Two tokens share an id, which a tokenizer.json does not allow.
    #[error("a tokenizer.json cannot give the id {id} to both {first:?} and {second:?}")]
    SharedId {
        /// The id.
        id: u32,
        /// One token.
        first: String,
        /// The other.
        second: String,
    },
    /// A token beside the ranks would be taken for another one, as a tokenizer.json writes tokens.
    #[error("a tokenizer.json cannot have the added token {token:?}: {reason}")]
    AddedToken {
        /// The token.
        token: String,
        /// What would become of it.
        reason: &'static str,
    },
    /// The ranks lack a byte of which text may consist: an error for ranks, and left out silently by a tokenizer.json.
    #[error("a tokenizer.json would drop the byte 0x{byte:02X}, which the ranks have no token for")]
    ByteMissing {
        /// The byte.
        byte: u8,
    },
    /// A tokenizer.json has no component for the normalizer and the 32-bit scores of a SentencePiece file.
    #[error("a tokenizer.json cannot express a SentencePiece model exactly: keep its .model file")]
    SentencePiece,
    /// The system did not give the memory that the file takes.
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
    /// Bytes that were given as UTF-8 are not.
    #[error("the bytes are not valid UTF-8: byte {byte} starts no character")]
    InvalidUtf8 {
        /// The first byte that is not part of a character, from 0.
        byte: usize,
    },
    /// The text is too long for 32-bit offsets.
    #[error("the text has {bytes} bytes; at most {limit} can be encoded at once")]
    TextTooLong {
        /// Its length in bytes of UTF-8.
        bytes: usize,
        /// The most that is taken.
        limit: usize,
    },
    /// The text holds a special token and the caller asked for that to be refused.
    #[error(
        "the text holds the special token {token:?} at byte {byte}: say specialTokens 'text' to encode it as text or 'parse' to take it as the token"
    )]
    SpecialToken {
        /// The token found first.
        token: String,
        /// Where it starts, in bytes of UTF-8.
        byte: usize,
    },
    /// A token named by the caller is no special token of this tokenizer.
    #[error("{token:?} is no special token of this tokenizer")]
    NoSuchSpecialToken {
        /// The name given.
        token: String,
    },
    /// A pattern gave up on this text.
    #[error("the pattern {pattern:?} gave up at byte {byte}: {message}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Where the search stood, in bytes of the piece it was given.
        byte: usize,
        /// The regex library's words.
        message: String,
    },
    /// A component makes more text of this input than a file may.
    #[error(
        "{component} makes {reached} {} of this text, and {limit} are allowed: raise limits.maxExpansion if that is meant",
        if *component == "truncation" { "tokens" } else { "bytes" }
    )]
    OutputLimit {
        /// What made it, in words.
        component: &'static str,
        /// What it would have come to, in bytes, in tokens for truncation; the component stopped there.
        reached: usize,
        /// What is allowed: see [`crate::max_expansion`].
        limit: usize,
    },
    /// The model has to write an unknown token that its vocabulary does not have.
    #[error("the unknown token {token:?} is not in the vocabulary")]
    UnknownTokenMissing {
        /// The token as the file names it.
        token: String,
    },
    /// The model has to write an unknown token, and its file names none.
    #[error(
        "the text has a character that no token of the vocabulary has, and the file names no unknown token (unk_id)"
    )]
    UnknownTokenUnset,
    /// A rank file has no token for a byte of the text.
    #[error("the ranks have no token for the byte 0x{byte:02X} (byte {at} of its word)")]
    NoTokenForByte {
        /// The byte.
        byte: u8,
        /// Its place within the word, from 0.
        at: usize,
    },
    /// Windows of the text would never get ahead: neighbours share as many tokens as they have.
    #[error(
        "truncation cannot go on: the stride {stride} must be less than the {max_length} tokens that are left of max_length for a text"
    )]
    TruncationStride {
        /// The stride asked for.
        stride: usize,
        /// What is left of `max_length` without special tokens and the other text.
        max_length: usize,
    },
    /// The text that is to get shorter has too few tokens for that.
    #[error("truncation cannot take {excess} tokens from a text that has {tokens}, one must stay")]
    TruncationTooShort {
        /// How many tokens the text has.
        tokens: usize,
        /// How many would have to go.
        excess: usize,
    },
    /// The second text is to get shorter, and there is none.
    #[error("truncation is to shorten the second text only, and there is no second text")]
    TruncationNoSecondText,
    /// Truncation cuts a pair into more parts than memory should hold.
    #[error("truncation cuts this input into more than {limit} parts; take a longer max_length or a smaller stride")]
    OverflowTooLarge {
        /// The most that are made.
        limit: usize,
    },
    /// An encoding is to be padded to more tokens than there can be.
    #[error("{length} tokens are too many to pad to; at most {limit} are possible")]
    PaddingTooLong {
        /// The length asked for, rounded up.
        length: usize,
        /// The most that are possible.
        limit: usize,
    },
    /// The file's template does not fit what it is to be filled with.
    #[error("the post-processor cannot be used here: {message}")]
    Template {
        /// What does not fit.
        message: String,
    },
    /// The ids of the whole batch are more than 32-bit row offsets can count.
    #[error("the batch has more than {limit} token ids; encode it in smaller batches")]
    BatchTooLarge {
        /// The most that fit.
        limit: usize,
    },
    /// The system did not give the memory that the text, its ids or their columns take.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl EncodeError {
    /// The error of a slice of a text that starts at byte `start`, as one of the text.
    pub(crate) fn moved_by(self, start: usize) -> Self {
        match self {
            Self::SpecialToken { token, byte } => Self::SpecialToken { token, byte: byte + start },
            other => other,
        }
    }

    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidUtf8 { .. } => "ERR_TOKENLANE_INVALID_UTF8",
            Self::TextTooLong { .. } => "ERR_TOKENLANE_TEXT_TOO_LONG",
            Self::SpecialToken { .. } => "ERR_TOKENLANE_SPECIAL_TOKEN",
            Self::NoSuchSpecialToken { .. } => "ERR_TOKENLANE_NO_SUCH_SPECIAL_TOKEN",
            Self::Pattern { .. } => "ERR_TOKENLANE_PATTERN_LIMIT",
            Self::OutputLimit { .. } => "ERR_TOKENLANE_OUTPUT_LIMIT",
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
    /// A rank file's tokenizer has no token with that id. (A tokenizer.json's skips such ids, as its reference does.)
    #[error("there is no token with the id {id} (place {index} of the ids)")]
    UnknownId {
        /// The id.
        id: u32,
        /// Its place in the list, from 0.
        index: usize,
    },
    /// The decoder makes more text of these ids than a file may.
    #[error(
        "the decoder makes {reached} bytes of these ids, and {limit} are allowed: raise limits.maxExpansion if that is meant"
    )]
    OutputLimit {
        /// What it would have come to, in bytes; the decoder stopped there.
        reached: usize,
        /// What is allowed, in bytes: see [`crate::max_expansion`].
        limit: usize,
    },
    /// A decoder's pattern gave up on this text.
    #[error("the decoder's pattern {pattern:?} gave up: {message}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The regex library's words.
        message: String,
    },
    /// The system did not give the memory that the text takes.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl DecodeError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownId { .. } => "ERR_TOKENLANE_UNKNOWN_ID",
            Self::OutputLimit { .. } => "ERR_TOKENLANE_OUTPUT_LIMIT",
            Self::OutOfMemory(_) => OUT_OF_MEMORY,
            Self::Pattern { .. } => "ERR_TOKENLANE_PATTERN_LIMIT",
        }
    }
}
