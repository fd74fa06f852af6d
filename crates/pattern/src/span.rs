//! A range of bytes within a text.

use std::ops::Range;

/// Bytes `start..end` of a text, with 32 bits each: no text is longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

const _: () = assert!(size_of::<Span>() == 8);

impl Span {
    /// Bytes `start..end`.
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end && u32::try_from(end).is_ok());
        Self { start: start as u32, end: end as u32 }
    }

    /// The bytes as a range.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether there are no bytes.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The range `by` bytes further on.
    #[must_use]
    pub fn shifted(self, by: usize) -> Self {
        Self::new(self.start as usize + by, self.end as usize + by)
    }
}
