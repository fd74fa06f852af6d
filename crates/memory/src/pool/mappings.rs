//! The mappings of a pool, by number.

use std::ptr::NonNull;

use super::Pages;

/// Mappings by number; the numbers of removed mappings are used again. Invariant: `bytes` is the
/// sum of the sizes of all mappings.
#[derive(Debug)]
pub struct Mappings<P> {
    slots: Vec<Option<P>>,
    empty: Vec<u32>,
    bytes: usize,
}

impl<P> Default for Mappings<P> {
    fn default() -> Self {
        Self { slots: vec![], empty: vec![], bytes: 0 }
    }
}

impl<P: Pages> Mappings<P> {
    /// Maps `bytes` with `reserved` bytes of addresses. Returns the mapping's number.
    pub fn add(&mut self, bytes: usize, reserved: usize) -> Option<u32> {
        let pages = P::new(bytes, reserved)?;
        self.bytes += pages.bytes();
        let number = self.empty.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        self.slots[number as usize] = Some(pages);
        Some(number)
    }

    /// Unmaps a mapping. Returns its size in bytes.
    pub fn remove(&mut self, number: u32) -> usize {
        let bytes = self.slots[number as usize].take().map_or(0, |pages| pages.bytes());
        self.empty.push(number);
        self.bytes -= bytes;
        bytes
    }

    /// The mapping with a number.
    ///
    /// # Panics
    /// If no mapping has this number.
    pub fn get(&self, number: u32) -> &P {
        self.slots[number as usize].as_ref().expect("blocks name mappings that are there")
    }

    /// The address at `offset` bytes in a mapping.
    pub fn address(&self, number: u32, offset: usize) -> NonNull<u8> {
        let pages = self.get(number);
        debug_assert!(offset < pages.bytes());
        NonNull::new(pages.start().as_ptr().wrapping_add(offset)).expect("a place inside a mapping is not null")
    }

    /// Grows a mapping to `bytes`. Returns the number of bytes added; 0 on failure.
    ///
    /// # Safety
    /// If `bytes` is larger than the reserved size, nobody uses the mapping.
    pub unsafe fn grow(&mut self, number: u32, bytes: usize) -> usize {
        let Some(pages) = &mut self.slots[number as usize] else { return 0 };
        let before = pages.bytes();
        // SAFETY: the caller guarantees what `Pages::grow` requires.
        unsafe { pages.grow(bytes) };
        self.bytes += pages.bytes() - before;
        pages.bytes() - before
    }

    /// Unmaps the memory after the first `bytes` bytes of a mapping. Returns the number of bytes
    /// unmapped.
    ///
    /// # Safety
    /// Nobody uses the memory after the first `bytes` bytes.
    pub unsafe fn shrink(&mut self, number: u32, bytes: usize) -> usize {
        let Some(pages) = &mut self.slots[number as usize] else { return 0 };
        let before = pages.bytes();
        // SAFETY: the caller guarantees what `Pages::shrink` requires.
        unsafe { pages.shrink(bytes) };
        self.bytes -= before - pages.bytes();
        before - pages.bytes()
    }

    /// The numbers of all mappings.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + use<'_, P> {
        (0..self.slots.len() as u32).filter(|&number| self.has(number))
    }

    /// The size of all mappings in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a mapping has this number.
    pub fn has(&self, number: u32) -> bool {
        self.slots.get(number as usize).is_some_and(Option::is_some)
    }
}
