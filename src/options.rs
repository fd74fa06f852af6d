//! Options as they come from `lib/options.js`: checked there, and packed into one integer so that a call costs no
//! look-ups of properties. Both sides hold the same layout.
//!
//! | bits | meaning |
//! |---|---|
//! | 0 | add special tokens |
//! | 1–3 | special tokens in the text: 0 as the file's origin does, 1 parse, 2 text, 3 throw, 4 only those listed |
//! | 4–5 | offsets: 0 none, 1 bytes, 2 code points, 3 UTF-16 units |

use tokenlane_core::{Columns, DecodeOptions, EncodeOptions, OffsetUnit, SpecialTokens};

/// The unit offsets are counted in, or `None` where none are asked for.
fn offset_unit(flags: u32) -> Option<OffsetUnit> {
    match (flags >> 4) & 3 {
        1 => Some(OffsetUnit::Byte),
        2 => Some(OffsetUnit::CodePoint),
        3 => Some(OffsetUnit::Utf16),
        _ => None,
    }
}

/// What a batch is to yield beside its ids.
pub fn batch_columns(flags: u32) -> Columns {
    offset_unit(flags).map_or(Columns::NONE, |_| Columns::OFFSETS)
}

/// The core's options; `columns` is what is wanted beside the ids.
pub fn encode_options(flags: u32, listed: Option<Vec<String>>, columns: Columns) -> EncodeOptions {
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
        ..EncodeOptions::default()
    }
}

/// The core's options for the way back.
pub fn decode_options(skip_special_tokens: bool) -> DecodeOptions {
    DecodeOptions { skip_special_tokens }
}

/// A thread count as JS gives it: 0 means the default.
pub fn threads(count: u32) -> Option<usize> {
    (count > 0).then_some(count as usize)
}
