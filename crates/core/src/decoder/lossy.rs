//! Converts bytes that may be invalid UTF-8 to text.

use std::borrow::Cow;

use crate::memory::Grow;
use crate::memory::fallible::push_str;

/// The text of U+FFFD, which replaces invalid bytes.
pub(super) const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// Like `String::from_utf8_lossy`: each maximal part of an invalid character becomes one U+FFFD.
/// Takes the bytes, so that valid UTF-8, the usual case, is not copied. Unwinds if memory for a
/// copy is short.
pub(crate) fn from_utf8_lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| replaced(error.as_bytes()))
}

/// The same for borrowed bytes.
pub(super) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| Cow::Owned(replaced(bytes)), Cow::Borrowed)
}

fn replaced(bytes: &[u8]) -> String {
    let mut text = String::new();
    text.grow(bytes.len());
    for chunk in bytes.utf8_chunks() {
        push_str(&mut text, chunk.valid());
        if !chunk.invalid().is_empty() {
            push_str(&mut text, "\u{FFFD}");
        }
    }
    text
}

/// The number of bytes at the end that are the start of an unfinished character.
pub(super) fn unfinished(bytes: &[u8]) -> usize {
    if bytes.last().is_none_or(u8::is_ascii) {
        return 0;
    }
    // An unfinished character has at most three bytes.
    let starts = bytes.len().saturating_sub(3)..bytes.len();
    let is_unfinished = |end: &[u8]| {
        std::str::from_utf8(end).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    starts.map(|start| &bytes[start..]).find(|end| is_unfinished(end)).map_or(0, <[u8]>::len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn broken_characters_are_replaced_as_the_standard_library_does(
            parts in prop::collection::vec(prop::sample::select(vec![&b"a"[..], b"\xC3", b"\xA9", b"\xF0\x9F", b"\x8C\x8D", b"\xED\xA0\x80", b"\xFF", b"\xE4\xB8\xAD"]), 0..12),
        ) {
            let bytes = parts.concat();
            let expected = String::from_utf8_lossy(&bytes);
            prop_assert_eq!(&lossy(&bytes), &expected);
            prop_assert_eq!(&from_utf8_lossy(bytes.clone()), &expected);
            let valid = bytes.len() - unfinished(&bytes);
            let ends_inside = std::str::from_utf8(bytes.utf8_chunks().last().map_or(&[], |chunk| chunk.invalid()));
            let ends_inside = ends_inside.is_err_and(|error| error.error_len().is_none());
            prop_assert_eq!(valid < bytes.len(), ends_inside);
            prop_assert_eq!(String::from_utf8_lossy(&bytes[..valid]) + if ends_inside { "\u{FFFD}" } else { "" }, expected);
        }
    }
}
