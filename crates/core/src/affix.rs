//! Removes the prefixes and suffixes of tokens, which a file may leave empty.
//!
//! An empty prefix or suffix is not compared. A comparison of zero bytes can be compiled to a
//! masked load, and an empty string has no memory to load from: such a load costs some processors
//! hundreds of cycles.

/// `text` without `prefix`; `None` if it does not start with it.
#[inline]
pub(crate) fn without_prefix<'a>(text: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    if prefix.is_empty() { Some(text) } else { text.strip_prefix(prefix) }
}

/// `text` without `suffix`; `None` if it does not end with it.
#[inline]
pub(crate) fn without_suffix<'a>(text: &'a [u8], suffix: &[u8]) -> Option<&'a [u8]> {
    if suffix.is_empty() { Some(text) } else { text.strip_suffix(suffix) }
}
