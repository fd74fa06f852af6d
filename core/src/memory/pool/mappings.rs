//! The mappings that a pool has, by number.

use std::ptr::NonNull;

use super::Pages;

/// Mappings with numbers that are used again. Invariant: `bytes` is the sum of their sizes.
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
    /// A new one, and its number.
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

    /// Unmaps one and says how many bytes it had.
    pub fn remove(&mut self, number: u32) -> usize {
        let bytes = self.slots[number as usize].take().map_or(0, |pages| pages.bytes());
        self.empty.push(number);
        self.bytes -= bytes;
        bytes
    }

    /// One of them.
    ///
    /// # Panics
    /// When there is none of that number.
    pub fn get(&self, number: u32) -> &P {
        self.slots[number as usize].as_ref().expect("blocks name mappings that are there")
    }

    /// A place inside one.
    pub fn place(&self, number: u32, offset: usize) -> NonNull<u8> {
        let pages = self.get(number);
        debug_assert!(offset < pages.bytes());
        NonNull::new(pages.start().as_ptr().wrapping_add(offset)).expect("a place inside a mapping is not null")
    }

    /// Makes one so long, and says by how much it grew.
    ///
    /// # Safety
    /// If that is longer than what is reserved, nobody uses it.
    pub unsafe fn grow(&mut self, number: u32, bytes: usize) -> usize {
        let Some(pages) = &mut self.slots[number as usize] else { return 0 };
        let before = pages.bytes();
        // SAFETY: as the caller says.
        unsafe { pages.grow(bytes) };
        self.bytes += pages.bytes() - before;
        pages.bytes() - before
    }

    /// Gives back the end of one, and says how many bytes that were.
    ///
    /// # Safety
    /// Nobody uses what is behind the first `bytes` bytes.
    pub unsafe fn shrink(&mut self, number: u32, bytes: usize) -> usize {
        let Some(pages) = &mut self.slots[number as usize] else { return 0 };
        let before = pages.bytes();
        // SAFETY: as the caller says.
        unsafe { pages.shrink(bytes) };
        self.bytes -= before - pages.bytes();
        before - pages.bytes()
    }

    /// The numbers of those that there are.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + use<'_, P> {
        (0..self.slots.len() as u32).filter(|&number| self.has(number))
    }

    /// Bytes of all.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether there is one of that number.
    pub fn has(&self, number: u32) -> bool {
        self.slots.get(number as usize).is_some_and(Option::is_some)
    }
}
