//! Bytes to text where some of them may be no UTF-8.

/// As `String::from_utf8_lossy`: each maximal part of a broken character becomes one U+FFFD. Takes the bytes, so that
/// the usual case, all of them valid, copies nothing.
pub(crate) fn from_utf8_lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
