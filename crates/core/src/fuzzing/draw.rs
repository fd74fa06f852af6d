//! Interprets bytes as a case. Any bytes are valid, and missing bytes are read as zeros.

/// Reads a case from the start of the bytes.
pub(crate) struct Draw<'a>(&'a [u8]);

impl<'a> Draw<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    pub(crate) fn word(&mut self) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// A number below `end`, which must be at least one; read from a single byte if possible.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        if end <= 256 { usize::from(self.byte()) % end } else { self.word() as usize % end }
    }

    pub(crate) fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    pub(crate) fn list<T>(&mut self, max_len: usize, mut entry: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(max_len + 1)).map(|_| entry(self)).collect()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// Interprets all remaining bytes as text: either as UTF-8, with U+FFFD for invalid bytes, or
    /// as indices of `pieces`. The highest byte values repeat the previous piece, so that a few
    /// bytes give a word of hundreds of bytes. The text ends when it has at least `max_len` bytes.
    pub(crate) fn text(&mut self, pieces: &[&str], max_len: usize) -> String {
        const REPEATS: u8 = 240;
        let as_utf8 = self.byte() % 4 == 3;
        let bytes = std::mem::take(&mut self.0);
        if as_utf8 {
            return String::from_utf8_lossy(bytes).into_owned();
        }
        let (mut text, mut last) = (String::new(), "");
        for &byte in bytes {
            if text.len() >= max_len {
                break;
            }
            if byte < REPEATS {
                last = pieces[usize::from(byte) % pieces.len()];
                text.push_str(last);
            } else {
                text.extend(std::iter::repeat_n(last, usize::from(byte - REPEATS) * 8));
            }
        }
        text
    }
}
