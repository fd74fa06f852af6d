//! Options as `lib/options.js` passes them: validated there, and packed into one integer so that a
//! call needs no property lookups. Both sides use the layout below. Options that are not flags, and
//! are rarely given, come as an [`Extra`].
//!
//! | bits | meaning |
//! |---|---|
//! | 0 | add special tokens |
//! | 1–3 | special tokens: 0 file default, 1 parse, 2 as text, 3 throw, 4 only listed ones |
//! | 4–5 | offsets: 0 none, 1 bytes, 2 code points, 3 UTF-16 units |
//! | 6 | no truncation, regardless of the file |
//! | 7 | no padding, regardless of the file |
//! | 8 | also return what truncation cuts off |
//! | 9 | texts are arrays of words |
//! | 10–15 | columns of a batch, in the order of [`COLUMNS`] without the offsets |

use napi_derive::napi;
use tokenlane_core::{
    Columns, DecodeOptions, Direction, EncodeOptions, OffsetUnit, PadTo, Padding, Setting, SpecialTokens, Tokenizer,
    Truncation, TruncationStrategy,
};

/// The columns, in the order of their numbers in `lib/encoding.js`.
pub const COLUMNS: [Columns; 7] = [
    Columns::OFFSETS,
    Columns::TOKENS,
    Columns::SPECIAL_TOKENS_MASK,
    Columns::TYPE_IDS,
    Columns::ATTENTION_MASK,
    Columns::WORD_IDS,
    Columns::SEQUENCE_IDS,
];

/// Options that the flags cannot express.
#[napi(object)]
#[derive(Debug, Clone, Default)]
pub struct Extra {
    /// The special tokens that are recognized in the text.
    pub listed: Option<Vec<String>>,
    /// The truncation of this call.
    pub truncation: Option<ExtraTruncation>,
    /// The padding of this call.
    pub padding: Option<ExtraPadding>,
}

/// A truncation. `lib/options.js` has validated the numbers.
#[napi(object)]
#[derive(Debug, Clone)]
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
#[napi(object)]
#[derive(Debug, Clone)]
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
    match (flags >> 4) & 3 {
        1 => Some(OffsetUnit::Byte),
        2 => Some(OffsetUnit::CodePoint),
        3 => Some(OffsetUnit::Utf16),
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
    flags >> 9 & 1 == 1
}

/// The options of a batch. If rows are padded, the attention mask is always included, because
/// without it padding cannot be told from text.
pub fn batch_options(flags: u32, extra: Option<Extra>, tokenizer: &Tokenizer) -> EncodeOptions {
    let wanted = COLUMNS[1..].iter().enumerate().filter(|(bit, _)| flags >> (10 + bit) & 1 == 1);
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
        add_special_tokens: flags & 1 != 0,
        special_tokens: match (flags >> 1) & 7 {
            1 => SpecialTokens::Parse,
            2 => SpecialTokens::Text,
            3 => SpecialTokens::Throw,
            4 => SpecialTokens::Only(listed.unwrap_or_default()),
            _ => SpecialTokens::FileDefault,
        },
        columns,
        offset_unit: offset_unit(flags).unwrap_or(OffsetUnit::Utf16),
        truncation: setting(flags >> 6 & 1 == 1, truncation.as_ref().map(Truncation::from)),
        padding: setting(flags >> 7 & 1 == 1, padding.as_ref().map(Padding::from)),
        overflow: flags >> 8 & 1 == 1,
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
