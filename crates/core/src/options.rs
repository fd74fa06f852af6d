//! The options of encoding and decoding, and the definition that a rank file lacks.

use crate::added_tokens::SpecialTokens;
use crate::encoding::{Columns, OffsetUnit};
use crate::padding::Padding;
use crate::truncation::Truncation;

/// The options of encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodeOptions {
    /// Whether the post-processor adds its special tokens. Default true. (A rank file has no
    /// post-processor.)
    pub add_special_tokens: bool,
    /// The treatment of special tokens that are spelled out in the text. Default
    /// [`SpecialTokens::FileDefault`].
    pub special_tokens: SpecialTokens,
    /// The columns to compute in addition to the ids. Default none.
    pub columns: Columns,
    /// The unit of offsets. Default bytes.
    pub offset_unit: OffsetUnit,
    /// The maximum length of an encoding. Default that of the file; most files have none.
    pub truncation: Setting<Truncation>,
    /// The padding of encodings. Default that of the file; most files have none.
    pub padding: Setting<Padding>,
    /// Whether to return the overflow of truncation. Default false.
    pub overflow: bool,
}

/// A setting of the file that a call can override.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Setting<T> {
    /// The setting of the file. The default.
    #[default]
    FileDefault,
    /// Disabled.
    Off,
    /// Enabled, with this value.
    On(T),
}

impl<T: Clone> Setting<T> {
    pub(crate) fn or_file(&self, file: Option<&T>) -> Option<T> {
        match self {
            Self::FileDefault => file.cloned(),
            Self::Off => None,
            Self::On(value) => Some(value.clone()),
        }
    }
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self {
            add_special_tokens: true,
            special_tokens: SpecialTokens::FileDefault,
            columns: Columns::NONE,
            offset_unit: OffsetUnit::Byte,
            truncation: Setting::FileDefault,
            padding: Setting::FileDefault,
            overflow: false,
        }
    }
}

/// The options of decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DecodeOptions {
    /// Whether special tokens are left out. Default false.
    pub skip_special_tokens: bool,
}

/// The parts of a tokenizer that a rank file does not contain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RankDefinition {
    /// The regular expression whose matches are the words, in the dialect of the fancy-regex crate,
    /// which tiktoken uses. Text that it does not match is dropped.
    pub pattern: String,
    /// Special tokens with their ids. If two share an id, it decodes to the first.
    pub special_tokens: Vec<(String, u32)>,
}
