//! A list of plain values in one piece of memory from the pool, or from the allocator where the pool has none to give.

use std::fmt;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::fallible::{self, Grow, OutOfMemory};
use super::shared::BlockGuard;

/// Values that are any bytes: no padding, nothing to drop, aligned to no more than 8.
///
/// # Safety
/// All of that is true of the type.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

// SAFETY: integers are plain.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for u16 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}

/// Smaller lists, in bytes, cost an allocator nothing and are not of the pool: 16 KiB.
const MIN_POOLED_BYTES: usize = 16 << 10;

/// Whose the memory is. It is only held to be given back.
enum Owner<T> {
    /// The pool's. Blocks start at multiples of 512, so they are aligned for any `T`.
    Pool(BlockGuard),
    /// The allocator's. The vector itself stays empty; its room is used.
    Allocator(#[allow(dead_code, reason = "held to be dropped")] Vec<MaybeUninit<T>>),
}

/// A growing list whose memory is of the pool.
///
/// Invariants: `start` is where the owner's memory starts, which is exclusively this list's; the memory has room for
/// `capacity` values, and the first `len` are written.
pub struct Slab<T: Plain> {
    start: NonNull<T>,
    len: usize,
    capacity: usize,
    owner: Owner<T>,
}

// SAFETY: the memory is the slab's alone, and so are the values, which may go to other threads.
unsafe impl<T: Plain> Send for Slab<T> {}
// SAFETY: through a shared slab the values can only be read.
unsafe impl<T: Plain> Sync for Slab<T> {}

impl<T: Plain> Slab<T> {
    /// An empty list with room for so many values. A failure unwinds, as in [`Grow::grow`].
    pub fn with_capacity(capacity: usize) -> Self {
        Self::try_with_capacity(capacity).unwrap_or_else(|error| error.unwind())
    }

    /// An empty list with room for so many values.
    pub fn try_with_capacity(capacity: usize) -> Result<Self, OutOfMemory> {
        let bytes = capacity.checked_mul(size_of::<T>()).ok_or(OutOfMemory::of::<T>(capacity))?;
        if let Some(guard) = (bytes >= MIN_POOLED_BYTES).then(|| super::allocate(bytes)).flatten() {
            fallible::leave_headroom(bytes)?;
            let block = guard.block();
            let (start, capacity) = (block.start.cast(), block.bytes / size_of::<T>());
            return Ok(Self { start, len: 0, capacity, owner: Owner::Pool(guard) });
        }
        let mut room: Vec<MaybeUninit<T>> = fallible::with_room(capacity)?;
        // SAFETY: a vector's pointer is never null. It stays the same while the vector is neither grown nor dropped, and
        // moving the vector does not move its memory.
        let start = unsafe { NonNull::new_unchecked(room.as_mut_ptr()) }.cast();
        Ok(Self { start, len: 0, capacity: room.capacity(), owner: Owner::Allocator(room) })
    }

    /// Whether the memory is the pool's, so that it can be lent on.
    pub fn is_pooled(&self) -> bool {
        matches!(self.owner, Owner::Pool(_))
    }

    /// How many values there is room for.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The room behind the last value.
    pub fn spare_capacity_mut(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: the memory is this list's, from the first value to `capacity`.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(self.len).as_ptr().cast(), self.capacity - self.len) }
    }

    /// Says how many values there are.
    ///
    /// # Safety
    /// `len <= capacity`, and the values before `len` have been written.
    pub unsafe fn set_len(&mut self, len: usize) {
        debug_assert!(len <= self.capacity);
        self.len = len;
    }

    /// Appends values. A failure unwinds, as in [`Grow::grow`].
    pub fn extend_from_slice(&mut self, values: &[T]) {
        self.grow(values.len());
        // SAFETY: there is room for that many values behind the last; they come from elsewhere, because this list is
        // borrowed exclusively.
        unsafe { values.as_ptr().copy_to_nonoverlapping(self.start.add(self.len).as_ptr(), values.len()) };
        self.len += values.len();
    }

    /// Makes the list so long, with `value` in new places. A failure unwinds, as in [`Grow::grow`].
    pub fn resize(&mut self, len: usize, value: T) {
        if len > self.len {
            self.grow(len - self.len);
            let more = len - self.len;
            self.spare_capacity_mut()[..more].fill(MaybeUninit::new(value));
        }
        self.len = len;
    }

    /// Gives up room that is not needed.
    pub fn shrink_to_fit(&mut self) {
        if let Owner::Pool(guard) = &mut self.owner {
            guard.shrink(self.len * size_of::<T>());
            self.capacity = guard.block().bytes / size_of::<T>();
        }
    }
}

impl<T: Plain> Grow for Slab<T> {
    #[inline]
    fn try_grow(&mut self, more: usize) -> Result<(), OutOfMemory> {
        if more > self.capacity - self.len {
            let needed = self.len.saturating_add(more);
            // Half as much again, so that growing step by step copies each value a few times at most.
            let ample = needed.max(self.capacity.saturating_add(self.capacity / 2));
            let mut grown = Self::try_with_capacity(ample).or_else(|_| Self::try_with_capacity(needed))?;
            grown.extend_from_slice(self);
            *self = grown;
        }
        Ok(())
    }
}

impl<T: Plain> Default for Slab<T> {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl<T: Plain> Deref for Slab<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the first `len` values are written, and nobody else writes them.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Plain> DerefMut for Slab<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: the first `len` values are written, and nobody else looks at them.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Plain> From<&[T]> for Slab<T> {
    fn from(values: &[T]) -> Self {
        let mut slab = Self::with_capacity(values.len());
        slab.extend_from_slice(values);
        slab
    }
}

impl<T: Plain> Clone for Slab<T> {
    fn clone(&self) -> Self {
        Self::from(&**self)
    }
}

impl<T: Plain + PartialEq> PartialEq for Slab<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Plain + Eq> Eq for Slab<T> {}

impl<T: Plain + fmt::Debug> fmt::Debug for Slab<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 64 }))]

        #[test]
        fn a_slab_is_a_vector(
            first in 0usize..40_000,
            steps in prop::collection::vec((0u8..4, 0usize..9_000, any::<u32>()), 0..12),
        ) {
            let (mut slab, mut vector) = (Slab::with_capacity(first), Vec::with_capacity(first));
            for (what, count, value) in steps {
                match what {
                    0 => {
                        slab.extend_from_slice(&vec![value; count]);
                        vector.extend_from_slice(&vec![value; count]);
                    }
                    1 => {
                        slab.resize(count * 4, value);
                        vector.resize(count * 4, value);
                    }
                    2 => slab.shrink_to_fit(),
                    _ => {
                        slab.grow(count);
                        prop_assert!(slab.spare_capacity_mut().len() >= count);
                    }
                }
                prop_assert_eq!(&*slab, &*vector);
                prop_assert!(slab.capacity() >= slab.len());
            }
            slab.iter_mut().for_each(|value| *value ^= 1);
            vector.iter_mut().for_each(|value| *value ^= 1);
            prop_assert_eq!(slab.clone(), Slab::from(&vector[..]));
        }
    }

    #[test]
    fn small_slabs_are_the_allocators() {
        assert!(!Slab::<u8>::with_capacity(MIN_POOLED_BYTES - 1).is_pooled());
        assert!(Slab::<u8>::with_capacity(MIN_POOLED_BYTES).is_pooled());
        assert!(Slab::<u32>::default().is_empty());
    }
}
