//! Converts text to UTF-16.

use crate::memory::{Grow, OutOfMemory};

/// Number of ASCII bytes that are converted at once.
const BLOCK: usize = 8;

/// The UTF-16 units of a text. `str::encode_utf16` is the slow twin: it asks for every unit whether
/// there is one, and whether there is memory for it.
pub fn to_utf16(text: &str) -> Result<Vec<u16>, OutOfMemory> {
    // The exact length is counted only for long texts: a UTF-16 unit takes one to three bytes of
    // UTF-8.
    const MIN_COUNTED: usize = 1 << 16;
    let bytes = text.as_bytes();
    let capacity = if bytes.len() < MIN_COUNTED { bytes.len() } else { text.chars().map(char::len_utf16).sum() };
    let mut units = Vec::new();
    units.try_grow(capacity)?;
    units.resize(capacity, 0);
    let continuation = |at: usize| u32::from(bytes[at] & 0x3F);
    let (mut at, mut count) = (0, 0);
    while at < bytes.len() {
        let lead = u32::from(bytes[at]);
        let (unit, len) = match lead {
            0..0x80 => {
                if let Some(block) = bytes[at..].first_chunk::<BLOCK>()
                    && block.is_ascii()
                {
                    for (unit, &byte) in units[count..count + BLOCK].iter_mut().zip(block) {
                        *unit = byte.into();
                    }
                    (at, count) = (at + BLOCK, count + BLOCK);
                    continue;
                }
                (lead, 1)
            }
            0x80..0xE0 => ((lead & 0x1F) << 6 | continuation(at + 1), 2),
            0xE0..0xF0 => ((lead & 0x0F) << 12 | continuation(at + 1) << 6 | continuation(at + 2), 3),
            _ => {
                let rest = continuation(at + 1) << 12 | continuation(at + 2) << 6 | continuation(at + 3);
                let above = ((lead & 0x07) << 18 | rest) - 0x1_0000;
                units[count] = 0xD800 | (above >> 10) as u16;
                count += 1;
                (0xDC00 | above & 0x3FF, 4)
            }
        };
        units[count] = unit as u16;
        (at, count) = (at + len, count + 1);
    }
    units.truncate(count);
    Ok(units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_units_are_those_of_the_standard_library(
            parts in prop::collection::vec(prop::sample::select(vec!["a", "0123456789abcdef", "\0", "é", "\u{7FF}", "\u{800}", "中", "\u{FFFF}", "\u{10000}", "👩", "\u{10FFFF}"]), 0..40),
        ) {
            let text = parts.concat();
            prop_assert_eq!(to_utf16(&text).expect("it is short"), text.encode_utf16().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_long_text_has_exactly_its_units() {
        let text = "中👩a".repeat(1 << 14);
        let units = to_utf16(&text).expect("it is short");
        assert_eq!((units.len(), String::from_utf16(&units).expect("UTF-16")), (units.capacity(), text));
    }
}
