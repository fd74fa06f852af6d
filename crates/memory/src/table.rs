//! Tables that start as zeros and are accessed at random: hash tables and caches of some mebibytes.
//!
//! A large table has pages of its own, huge pages where the system supports them. The system
//! provides a page when it is first written, and gets all pages back when the table is dropped, on
//! whatever thread. An allocator would keep such memory with the thread that allocated it.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use super::fallible::{self, OutOfMemory};
use super::pages::{Mapping, Pages};

/// Types for which all bytes zero is a valid value.
///
/// # Safety
/// All bytes zero is a valid value of the type.
pub unsafe trait Zeroed: Send + Sync + 'static {}

// SAFETY: zero is a valid integer.
unsafe impl Zeroed for u32 {}
// SAFETY: zero is a valid integer.
unsafe impl Zeroed for u64 {}
// SAFETY: zero is a valid integer.
unsafe impl Zeroed for AtomicU64 {}

/// Smaller tables, in bytes, come from the allocator: 256 KiB.
const MIN_MAPPED_BYTES: usize = 256 << 10;

/// The owner of the memory. It releases the memory on drop; `Pages` can also grow in place.
enum Owner<T> {
    Pages(Mapping),
    /// The vector itself is neither accessed nor grown.
    Allocator(#[allow(dead_code, reason = "held to be dropped")] Vec<T>),
}

/// A table that starts as zeros. See the module documentation.
///
/// Invariant: `start` is the start of the owner's memory, which nobody else uses. It has `len`
/// initialized values; all memory after them is zero.
pub struct Table<T: Zeroed> {
    start: NonNull<T>,
    len: usize,
    /// The length up to which pages of its own are reserved.
    max_len: usize,
    owner: Owner<T>,
}

// SAFETY: the table owns its memory and its values alone, and `T` is Send.
unsafe impl<T: Zeroed> Send for Table<T> {}
// SAFETY: a shared table only gives shared access to its values, and `T` is Sync.
unsafe impl<T: Zeroed> Sync for Table<T> {}

impl<T: Zeroed> Table<T> {
    /// A table of `len` zeros. A failure unwinds, as in [`Grow::grow`](super::Grow::grow).
    pub fn zeroed(len: usize) -> Self {
        Self::with_reserved(len, len)
    }

    /// A table of `len` zeros, or the failure.
    pub fn try_zeroed(len: usize) -> Result<Self, OutOfMemory> {
        Self::try_with_reserved(len, len)
    }

    /// A table of `len` zeros. As soon as it has pages of its own, addresses for `max_len` values
    /// are reserved, if the system supports that, and it grows in place up to that length. A
    /// failure unwinds, as in [`Grow::grow`](super::Grow::grow).
    pub fn with_reserved(len: usize, max_len: usize) -> Self {
        Self::try_with_reserved(len, max_len).unwrap_or_else(|error| error.unwind())
    }

    fn try_with_reserved(len: usize, max_len: usize) -> Result<Self, OutOfMemory> {
        const {
            assert!(align_of::<T>() <= 4096, "no page is smaller");
            assert!(!std::mem::needs_drop::<T>(), "values in pages are not dropped");
        }
        let bytes = Self::bytes_of(len).filter(|&bytes| bytes >= MIN_MAPPED_BYTES);
        let mapping = bytes.and_then(|bytes| Mapping::random_access(bytes, Self::bytes_of(max_len).unwrap_or(bytes)));
        if let Some(mapping) = mapping {
            fallible::leave_headroom(mapping.reserved())?;
            return Ok(Self { start: mapping.start().cast(), len, max_len, owner: Owner::Pages(mapping) });
        }
        let mut values = fallible::with_capacity(len)?;
        // SAFETY: `T: Zeroed` promises that zero bytes are a value.
        values.resize_with(len, || unsafe { std::mem::zeroed::<T>() });
        // SAFETY: a vector's pointer is not null. It stays valid because the vector is neither
        // grown nor dropped while the table lives; moving the vector does not move its memory.
        let start = unsafe { NonNull::new_unchecked(values.as_mut_ptr()) };
        Ok(Self { start, len, max_len, owner: Owner::Allocator(values) })
    }

    fn bytes_of(len: usize) -> Option<usize> {
        len.checked_mul(size_of::<T>())
    }

    /// Makes the table longer; new elements are zeros. After an error it is unchanged.
    pub fn grow(&mut self, len: usize) -> Result<(), OutOfMemory> {
        debug_assert!(len >= self.len);
        if let (Owner::Pages(mapping), Some(bytes)) = (&mut self.owner, Self::bytes_of(len))
            && bytes <= mapping.reserved()
            && !mapping.gains_huge_pages(bytes)
            // SAFETY: the size is at most the reserved size, for which `grow` has no requirement.
            && unsafe { mapping.grow(bytes) }
        {
            // The system provides zeroed pages, so the invariant holds.
            self.len = len;
            return Ok(());
        }
        let mut longer = Self::try_with_reserved(len, self.max_len.max(len))?;
        longer[..self.len].swap_with_slice(self);
        *self = longer;
        Ok(())
    }

    /// The memory in bytes.
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
        // SAFETY: by the invariant `len` values are initialized, and the borrow of the table
        // prevents writes to them, other than by atomic operations.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Zeroed> DerefMut for Table<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: by the invariant `len` values are initialized, and the exclusive borrow prevents
        // other accesses.
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
        // Large tables take minutes under Miri.
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
    fn a_table_that_grows_keeps_its_values_and_adds_zeros() {
        let min_len = MIN_MAPPED_BYTES / 8;
        // Tables that stay in the allocator, that move to pages, and that have addresses reserved
        // for all, a part and none of the growth.
        let cases = [
            (3, 10, 9),
            (9, 9, min_len),
            (min_len, 2 * min_len, 2 * min_len),
            (min_len, 2 * min_len, 2 * min_len + 1),
            (min_len, min_len, min_len + 7),
        ];
        // Large tables take minutes under Miri.
        for (len, max_len, grown) in cases.into_iter().take(if cfg!(miri) { 1 } else { cases.len() }) {
            let mut table = Table::<u64>::with_reserved(len, max_len);
            assert!(table.iter().all(|&value| value == 0));
            table.fill(7);
            let start = table.start;
            table.grow(grown).expect("there is memory");
            assert_eq!(table.len(), grown);
            assert!(table[..len].iter().all(|&value| value == 7) && table[len..].iter().all(|&value| value == 0));
            if cfg!(target_os = "linux") && !cfg!(miri) {
                assert_eq!(table.start == start, len >= min_len && grown <= max_len, "{len} of {max_len} to {grown}");
            }
            table.fill(1);
        }
    }
}
