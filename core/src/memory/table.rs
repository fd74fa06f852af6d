//! Lists of a fixed length that start as zeros and are looked up at random: hash tables and caches of some mebibytes.
//!
//! Large ones have pages of their own, huge ones where the system has them. They are there when they are first written, and
//! gone when the table is, whatever thread made it and whatever thread drops it; an allocator keeps such memory with the
//! thread that made it.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::fallible::{self, OutOfMemory};
use super::pages::Mapping;

/// Values of which one is all zeros.
///
/// # Safety
/// Bytes that are all zero are a value of the type.
pub unsafe trait Zeroed: Copy + Send + Sync + 'static {}

// SAFETY: zero is a number.
unsafe impl Zeroed for u32 {}
// SAFETY: as above.
unsafe impl Zeroed for u64 {}

/// Smaller tables, in bytes, are the allocator's: 256 KiB.
const MIN_MAPPED_BYTES: usize = 256 << 10;

/// Whose the memory is. It is held to be given back, and pages to grow.
enum Owner<T> {
    Pages(Mapping),
    /// The list is neither read nor grown; its memory is used.
    Allocator(#[allow(dead_code, reason = "held to be dropped")] Vec<T>),
}

/// A list of zeros at first.
///
/// Invariant: `start` is the owner's memory, exclusively this table's, and holds `len` values; what there is behind them is zeros.
pub struct Table<T: Zeroed> {
    start: NonNull<T>,
    len: usize,
    owner: Owner<T>,
}

// SAFETY: the memory is the table's alone, and so are the values, which may go to other threads.
unsafe impl<T: Zeroed> Send for Table<T> {}
// SAFETY: through a shared table the values can only be read.
unsafe impl<T: Zeroed> Sync for Table<T> {}

impl<T: Zeroed> Table<T> {
    /// So many zeros. A failure unwinds, as in [`Grow::grow`](super::Grow::grow).
    pub fn zeroed(len: usize) -> Self {
        Self::with_reserved(len, len)
    }

    /// The same, with addresses for so many, where the system has them: up to that it grows where it is.
    pub fn with_reserved(len: usize, most: usize) -> Self {
        Self::try_with_reserved(len, most).unwrap_or_else(|error| error.unwind())
    }

    fn try_with_reserved(len: usize, most: usize) -> Result<Self, OutOfMemory> {
        const { assert!(align_of::<T>() <= 4096, "no page is smaller") };
        let bytes = Self::bytes_of(len).filter(|&bytes| bytes >= MIN_MAPPED_BYTES);
        let mapping = bytes.and_then(|bytes| Mapping::random_access(bytes, Self::bytes_of(most).unwrap_or(bytes)));
        if let Some(mapping) = mapping {
            fallible::leave_headroom(mapping.reserved())?;
            return Ok(Self { start: mapping.start().cast(), len, owner: Owner::Pages(mapping) });
        }
        let mut values = fallible::with_room(len)?;
        // SAFETY: that zeros are a value is what the type promises.
        values.resize(len, unsafe { std::mem::zeroed::<T>() });
        // SAFETY: a vector's pointer is never null. It stays the same while the vector is neither grown nor dropped, and
        // moving the vector does not move its memory.
        let start = unsafe { NonNull::new_unchecked(values.as_mut_ptr()) };
        Ok(Self { start, len, owner: Owner::Allocator(values) })
    }

    fn bytes_of(len: usize) -> Option<usize> {
        len.checked_mul(size_of::<T>())
    }

    /// Makes it longer: zeros behind what is there. After an error it is as it was.
    pub fn grow(&mut self, len: usize) -> Result<(), OutOfMemory> {
        debug_assert!(len >= self.len);
        if let (Owner::Pages(mapping), Some(bytes)) = (&mut self.owner, Self::bytes_of(len))
            && bytes <= mapping.reserved()
            // SAFETY: no more than what is reserved is asked for.
            && unsafe { mapping.grow(bytes) }
        {
            // What was not in use before is all zeros, as pages are when they are mapped.
            self.len = len;
            return Ok(());
        }
        let mut longer = Self::try_with_reserved(len, len)?;
        longer[..self.len].copy_from_slice(self);
        *self = longer;
        Ok(())
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        match &self.owner {
            Owner::Pages(mapping) => mapping.bytes(),
            Owner::Allocator(values) => values.capacity() * size_of::<T>(),
        }
    }
}

impl<T: Zeroed> Deref for Table<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `len` values stand there, zeros or what was written, and nobody else writes them.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Zeroed> DerefMut for Table<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and nobody else looks at them.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Zeroed> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a table of {}", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_zeros_until_it_is_written() {
        // Under Miri a pass over a large one takes minutes.
        let lens = [0, 1, 1000, MIN_MAPPED_BYTES / 8, MIN_MAPPED_BYTES / 8 - 1, 40_001];
        for len in lens.into_iter().take(if cfg!(miri) { 4 } else { lens.len() }) {
            let mut table = Table::<u64>::zeroed(len);
            assert_eq!((table.len(), matches!(table.owner, Owner::Pages(_))), (len, len * 8 >= MIN_MAPPED_BYTES));
            assert!(table.iter().all(|&value| value == 0) && table.memory_bytes() >= len * 8);
            table.iter_mut().enumerate().for_each(|(at, value)| *value = at as u64);
            let moved = std::thread::spawn(move || table).join().expect("no panic");
            assert!(moved.iter().enumerate().all(|(at, &value)| value == at as u64));
        }
    }

    #[test]
    fn what_grows_keeps_what_it_had_and_has_zeros_behind_it() {
        let least = MIN_MAPPED_BYTES / 8;
        // Of the allocator; from there to pages; with room for all of it, for a part, and for none.
        let cases = [
            (3, 10, 9),
            (9, 9, least),
            (least, 2 * least, 2 * least),
            (least, 2 * least, 2 * least + 1),
            (least, least, least + 7),
        ];
        // As above.
        for (len, most, grown) in cases.into_iter().take(if cfg!(miri) { 1 } else { cases.len() }) {
            let mut table = Table::<u64>::with_reserved(len, most);
            assert!(table.iter().all(|&value| value == 0));
            table.fill(7);
            let start = table.start;
            table.grow(grown).expect("there is memory");
            assert_eq!(table.len(), grown);
            assert!(table[..len].iter().all(|&value| value == 7) && table[len..].iter().all(|&value| value == 0));
            if cfg!(target_os = "linux") && !cfg!(miri) {
                assert_eq!(table.start == start, len >= least && grown <= most, "{len} of {most} to {grown}");
            }
            table.fill(1);
        }
    }
}
