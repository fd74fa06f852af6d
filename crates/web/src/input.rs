//! The input buffer of a call.

use serde::de::DeserializeOwned;
use tokenlane_calls::error::{Class, Failure};
use tokenlane_calls::options::Extra;

/// The next multiple of eight.
pub fn aligned(length: usize) -> usize {
    length.next_multiple_of(size_of::<u64>())
}

/// The input of a call.
pub struct Input(pub(crate) Vec<u64>);

impl Input {
    /// The bytes of the input from `start` on.
    pub fn bytes(&self, start: usize, length: usize) -> Result<&[u8], Failure> {
        bytes_of(&self.0).get(start..start.saturating_add(length)).ok_or_else(out_of_input)
    }

    /// The UTF-16 units, or ids, from the start.
    pub fn units(&self, length: usize) -> Result<&[u16], Failure> {
        units_of(&self.0).get(..length).ok_or_else(out_of_input)
    }

    /// The words from `start`, an offset in bytes that is a multiple of four.
    pub fn words(&self, start: usize, length: usize) -> Result<&[u32], Failure> {
        let start = start / size_of::<u32>();
        words_of(&self.0).get(start..start.saturating_add(length)).ok_or_else(out_of_input)
    }

    /// Options as JSON, which come after `before` bytes, at the next multiple of eight.
    #[inline(never)]
    pub fn json<T: DeserializeOwned>(&self, before: usize, length: usize) -> Result<T, Failure> {
        let json = self.bytes(aligned(before), length)?;
        serde_json::from_slice(json).map_err(|error| Failure::wrong_type(format!("options: {error}")))
    }

    /// The options that the flags cannot express, if there are any.
    pub fn extra(&self, before: usize, length: u32) -> Result<Option<Extra>, Failure> {
        if length == 0 { Ok(None) } else { self.json(before, length as usize).map(Some) }
    }
}

fn out_of_input() -> Failure {
    Failure::new(Class::Range, "ERR_TOKENLANE_ARGUMENT_VALUE", "the input buffer is too short")
}

#[allow(unsafe_code, reason = "views of plain numbers as smaller ones")]
mod views {
    use std::slice::from_raw_parts;

    /// The bytes of words.
    pub(super) fn bytes_of(words: &[u64]) -> &[u8] {
        // SAFETY: the same memory; every byte is a valid `u8`, which needs no alignment.
        unsafe { from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
    }

    /// The 16-bit units of words.
    pub(super) fn units_of(words: &[u64]) -> &[u16] {
        // SAFETY: the same memory; all bits are valid for `u16`, which needs less alignment.
        unsafe { from_raw_parts(words.as_ptr().cast(), size_of_val(words) / 2) }
    }

    /// The 32-bit words of words.
    pub(super) fn words_of(words: &[u64]) -> &[u32] {
        // SAFETY: the same memory; all bits are valid for `u32`, which needs less alignment.
        unsafe { from_raw_parts(words.as_ptr().cast(), size_of_val(words) / 4) }
    }
}
use views::{bytes_of, units_of, words_of};
