//! Options as `lib/options.js` passes them: validated there, and packed into one integer so that a
//! call needs no property lookups. `flagBits` gives JS the bits. Options that are not flags, and
//! are rarely given, come as an [`Extra`].

#[cfg(feature = "napi")]
use napi_derive::napi;
use serde::{Deserialize, Serialize};
use tokenlane_core::{
    Columns, DecodeOptions, Direction, EncodeOptions, Literal, OffsetUnit, PadTo, Padding, Setting, SpecialTokens,
    Tokenizer, Truncation, TruncationStrategy,
};

use crate::error::Failure;

/// The columns. JS refers to them by their index.
pub const COLUMNS: [Columns; COLUMN_NAMES.len()] = [
    Columns::OFFSETS,
    Columns::TOKENS,
    Columns::SPECIAL_TOKENS_MASK,
    Columns::TYPE_IDS,
    Columns::ATTENTION_MASK,
    Columns::WORD_IDS,
    Columns::SEQUENCE_IDS,
];

/// The names of [`COLUMNS`] in JS.
pub const COLUMN_NAMES: [&str; 7] =
    ["offsets", "tokens", "specialTokensMask", "typeIds", "attentionMask", "wordIds", "sequenceIds"];

/// The bits of the flags. The special tokens and the offsets have a value each, in several bits.
pub const BITS: FlagBits = FlagBits {
    add_special_tokens: 1,
    special_tokens: 7 << 1,
    parse_special_tokens: 1 << 1,
    special_tokens_as_text: 2 << 1,
    throw_on_special_tokens: 3 << 1,
    only_listed_special_tokens: 4 << 1,
    offsets: 3 << 4,
    byte_offsets: 1 << 4,
    codepoint_offsets: 2 << 4,
    utf16_offsets: 3 << 4,
    no_truncation: 1 << 6,
    no_padding: 1 << 7,
    overflow: 1 << 8,
    words: 1 << 9,
    first_column: 1 << 10,
    literal: 1 << 30,
    part: 1 << 31,
};

/// The bits of the flags of a call.
#[cfg_attr(feature = "napi", napi(object, object_from_js = false))]
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FlagBits {
    /// Whether special tokens are added.
    pub add_special_tokens: u32,
    /// All bits of the policy for special tokens in the text; 0 is the file's policy.
    pub special_tokens: u32,
    /// Special tokens in the text are recognized.
    pub parse_special_tokens: u32,
    /// Special tokens in the text are text.
    pub special_tokens_as_text: u32,
    /// A special token in the text is an error.
    pub throw_on_special_tokens: u32,
    /// Only the tokens of [`Extra::listed`] are recognized.
    pub only_listed_special_tokens: u32,
    /// All bits of the unit of offsets; 0 stands for no offsets.
    pub offsets: u32,
    /// Offsets in bytes.
    pub byte_offsets: u32,
    /// Offsets in code points.
    pub codepoint_offsets: u32,
    /// Offsets in UTF-16 units.
    pub utf16_offsets: u32,
    /// No truncation, regardless of the file.
    pub no_truncation: u32,
    /// No padding, regardless of the file.
    pub no_padding: u32,
    /// What truncation cuts off is returned too.
    pub overflow: u32,
    /// The texts are arrays of words.
    pub words: u32,
    /// The second of the columns of a batch (the first are the offsets). The others follow.
    pub first_column: u32,
    /// The pair has the ranges of the text in which no added token is found.
    pub literal: u32,
    /// The text is only the start of one.
    pub part: u32,
}

/// Options that the flags cannot express.
#[cfg_attr(feature = "napi", napi(object))]
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Extra {
    /// The special tokens that are recognized in the text.
    pub listed: Option<Vec<String>>,
    /// The truncation of this call.
    pub truncation: Option<ExtraTruncation>,
    /// The padding of this call.
    pub padding: Option<ExtraPadding>,
}

/// A truncation. `lib/options.js` has validated the numbers.
#[cfg_attr(feature = "napi", napi(object))]
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtraTruncation {
    /// Maximum number of tokens of a row.
    pub max_length: u32,
    /// Number of tokens that two consecutive rows share.
    pub stride: u32,
    /// 0: longest text first, 1: only the first text, 2: only the second.
    pub strategy: u32,
    /// Whether the start of the text is cut off instead of the end.
    pub left: bool,
}

/// A padding. `lib/options.js` has validated the numbers.
#[cfg_attr(feature = "napi", napi(object))]
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtraPadding {
    /// The length in tokens; by default that of the longest row.
    pub length: Option<u32>,
    /// Lengths are rounded up to a multiple of this number.
    pub multiple_of: u32,
    /// Whether the padding comes before the text.
    pub left: bool,
    /// The id of the padding token.
    pub pad_id: u32,
    /// The type id of the padding token.
    pub pad_type_id: u32,
    /// The text of the padding token.
    pub pad_token: String,
}

impl From<&ExtraTruncation> for Truncation {
    fn from(extra: &ExtraTruncation) -> Self {
        Self {
            max_length: extra.max_length as usize,
            stride: extra.stride as usize,
            strategy: match extra.strategy {
                1 => TruncationStrategy::OnlyFirst,
                2 => TruncationStrategy::OnlySecond,
                _ => TruncationStrategy::LongestFirst,
            },
            direction: direction(extra.left),
        }
    }
}

impl From<&ExtraPadding> for Padding {
    fn from(extra: &ExtraPadding) -> Self {
        Self {
            to: extra.length.map_or(PadTo::Longest, |length| PadTo::Length(length as usize)),
            multiple_of: extra.multiple_of as usize,
            direction: direction(extra.left),
            id: extra.pad_id,
            type_id: extra.pad_type_id,
            token: extra.pad_token.clone(),
        }
    }
}

fn direction(left: bool) -> Direction {
    if left { Direction::Left } else { Direction::Right }
}

/// The unit of the offsets, or `None` if no offsets are requested.
fn offset_unit(flags: u32) -> Option<OffsetUnit> {
    match flags & BITS.offsets {
        bits if bits == BITS.byte_offsets => Some(OffsetUnit::Byte),
        bits if bits == BITS.codepoint_offsets => Some(OffsetUnit::CodePoint),
        bits if bits == BITS.utf16_offsets => Some(OffsetUnit::Utf16),
        _ => None,
    }
}

/// Whether offsets are requested.
pub fn has_offsets(flags: u32) -> bool {
    offset_unit(flags).is_some()
}

/// Combines the options of a call for truncation or padding: `off` wins over `value`; without both,
/// the setting of the file applies.
pub fn setting<T>(off: bool, value: Option<T>) -> Setting<T> {
    match value {
        _ if off => Setting::Off,
        Some(value) => Setting::On(value),
        None => Setting::FileDefault,
    }
}

/// Whether the texts are arrays of words.
pub fn has_words(flags: u32) -> bool {
    flags & BITS.words != 0
}

/// Whether the pair has the ranges of a [`Literal`].
pub fn has_literal(flags: u32) -> bool {
    flags & BITS.literal != 0
}

/// The ranges of a text in which no added token is found, from their bounds in UTF-16 units.
pub fn literal(bounds: &[u32]) -> Result<Literal, Failure> {
    Literal::new(bounds).ok_or_else(|| Failure::wrong_type("the ranges of a text must be in order"))
}

/// Whether the text is only the start of one.
pub fn is_part(flags: u32) -> bool {
    flags & BITS.part != 0
}

/// The options of a batch. If rows are padded, the attention mask is always included, because
/// without it padding cannot be distinguished from text.
pub fn batch_options(flags: u32, extra: Option<Extra>, tokenizer: &Tokenizer) -> EncodeOptions {
    let wanted = COLUMNS[1..].iter().enumerate().filter(|(bit, _)| flags & BITS.first_column << bit != 0);
    let offsets = offset_unit(flags).map_or(Columns::NONE, |_| Columns::OFFSETS);
    let columns = wanted.fold(offsets, |all, (_, &column)| all | column);
    let options = encode_options(flags, extra, columns);
    let pads = match options.padding {
        Setting::On(_) => true,
        Setting::Off => false,
        Setting::FileDefault => tokenizer.padding().is_some(),
    };
    EncodeOptions { columns: if pads { columns | Columns::ATTENTION_MASK } else { columns }, ..options }
}

/// The options of the core. `columns` are the columns to compute in addition to the ids.
pub fn encode_options(flags: u32, extra: Option<Extra>, columns: Columns) -> EncodeOptions {
    let Extra { listed, truncation, padding } = extra.unwrap_or_default();
    EncodeOptions {
        add_special_tokens: flags & BITS.add_special_tokens != 0,
        special_tokens: match flags & BITS.special_tokens {
            bits if bits == BITS.parse_special_tokens => SpecialTokens::Parse,
            bits if bits == BITS.special_tokens_as_text => SpecialTokens::Text,
            bits if bits == BITS.throw_on_special_tokens => SpecialTokens::Throw,
            bits if bits == BITS.only_listed_special_tokens => SpecialTokens::Only(listed.unwrap_or_default()),
            _ => SpecialTokens::FileDefault,
        },
        columns,
        offset_unit: offset_unit(flags).unwrap_or(OffsetUnit::Utf16),
        truncation: setting(flags & BITS.no_truncation != 0, truncation.as_ref().map(Truncation::from)),
        padding: setting(flags & BITS.no_padding != 0, padding.as_ref().map(Padding::from)),
        overflow: flags & BITS.overflow != 0,
    }
}

/// The options of the core for decoding.
pub fn decode_options(skip_special_tokens: bool) -> DecodeOptions {
    DecodeOptions { skip_special_tokens }
}

/// The thread count of a call; 0 means the default.
pub fn threads(count: u32) -> Option<usize> {
    (count > 0).then_some(count as usize)
}
