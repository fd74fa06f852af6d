//! A list of plain values in memory of the pool, or of the allocator if the pool is at its cap.

use std::fmt;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use super::fallible::{self, Grow, OutOfMemory};
use super::shared::BlockGuard;

/// Types for which every bit pattern is a valid value.
///
/// # Safety
/// The type has no padding, no invalid bit patterns, no drop glue and an alignment of at most 8.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

// SAFETY: an unsigned integer has all of these properties.
unsafe impl Plain for u8 {}
// SAFETY: an unsigned integer, as above.
unsafe impl Plain for u16 {}
// SAFETY: an unsigned integer, as above.
unsafe impl Plain for u32 {}

/// Smaller lists, in bytes, come from the allocator, which is as fast for them: 16 KiB.
const MIN_POOLED_BYTES: usize = 16 << 10;

/// The owner of the memory. Held only to release it.
enum Owner<T> {
    /// The pool. Blocks start at multiples of 512, so they are aligned for every `T`.
    Pool(BlockGuard),
    /// The allocator. The vector stays empty; its capacity is the memory.
    Allocator(#[allow(dead_code, reason = "held to be dropped")] Vec<MaybeUninit<T>>),
}

/// A growing list in memory of the pool.
///
/// Invariants: `start` is the start of the owner's memory, which nobody else uses. The memory has
/// space for `capacity` values, of which the first `len` are initialized.
pub struct Slab<T: Plain> {
    start: NonNull<T>,
    len: usize,
    capacity: usize,
    owner: Owner<T>,
}

// SAFETY: the slab owns its memory and its values alone, and `T` is Send.
unsafe impl<T: Plain> Send for Slab<T> {}
// SAFETY: a shared slab only gives shared access to its values, and `T` is Sync.
unsafe impl<T: Plain> Sync for Slab<T> {}

impl<T: Plain> Slab<T> {
    /// An empty list with this capacity. A failure unwinds, as in [`Grow::grow`].
    pub fn with_capacity(capacity: usize) -> Self {
        Self::try_with_capacity(capacity).unwrap_or_else(|error| error.unwind())
    }

    /// An empty list with capacity for `capacity` values.
    pub fn try_with_capacity(capacity: usize) -> Result<Self, OutOfMemory> {
        let bytes = capacity.checked_mul(size_of::<T>()).ok_or(OutOfMemory::of::<T>(capacity))?;
        if let Some(guard) = (bytes >= MIN_POOLED_BYTES).then(|| super::allocate(bytes)).flatten() {
            fallible::leave_headroom(bytes)?;
            let block = guard.block();
            let (start, capacity) = (block.start.cast(), block.bytes / size_of::<T>());
            return Ok(Self { start, len: 0, capacity, owner: Owner::Pool(guard) });
        }
        let mut memory: Vec<MaybeUninit<T>> = fallible::with_capacity(capacity)?;
        // SAFETY: a vector's pointer is not null. It stays valid because the vector is neither
        // grown nor dropped while the slab lives; moving the vector does not move its memory.
        let start = unsafe { NonNull::new_unchecked(memory.as_mut_ptr()) }.cast();
        Ok(Self { start, len: 0, capacity: memory.capacity(), owner: Owner::Allocator(memory) })
    }

    /// Whether the memory belongs to the pool.
    pub fn is_pooled(&self) -> bool {
        matches!(self.owner, Owner::Pool(_))
    }

    /// The capacity, in values.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The memory after the last value.
    pub fn spare_capacity_mut(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: by the invariant, `capacity - len` uninitialized values follow the first `len`,
        // and the result borrows the list exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(self.len).as_ptr().cast(), self.capacity - self.len) }
    }

    /// Sets the number of values.
    ///
    /// # Safety
    /// `len` is at most the capacity, and the first `len` values are initialized.
    pub unsafe fn set_len(&mut self, len: usize) {
        debug_assert!(len <= self.capacity);
        self.len = len;
    }

    /// Appends values. A failure unwinds, as in [`Grow::grow`].
    pub fn extend_from_slice(&mut self, values: &[T]) {
        self.grow(values.len());
        // SAFETY: `grow` has made space for these values after the last. They are not in this
        // list, which is borrowed exclusively, so source and target do not overlap.
        unsafe { values.as_ptr().copy_to_nonoverlapping(self.start.add(self.len).as_ptr(), values.len()) };
        self.len += values.len();
    }

    /// Changes the length; new elements are `value`. A failure unwinds, as in [`Grow::grow`].
    pub fn resize(&mut self, len: usize, value: T) {
        if len > self.len {
            self.grow(len - self.len);
            let more = len - self.len;
            self.spare_capacity_mut()[..more].fill(MaybeUninit::new(value));
        }
        self.len = len;
    }

    /// Releases memory that is not needed.
    pub fn shrink_to_fit(&mut self) {
        if let Owner::Pool(guard) = &mut self.owner {
            guard.shrink(self.len * size_of::<T>());
            self.capacity = guard.block().bytes / size_of::<T>();
        }
    }
}

/// A part of a list that is being filled, see [`Slab::in_parts`].
pub struct SlabPart<'a, T: Plain> {
    /// The places that were not written yet.
    rest: &'a mut [MaybeUninit<T>],
}

impl<'a, T: Plain> SlabPart<'a, T> {
    /// The next `count` places.
    ///
    /// # Panics
    /// If the part is shorter.
    fn next(&mut self, count: usize) -> &'a mut [MaybeUninit<T>] {
        // Checked first: a part whose places were taken by a call that panics would look full.
        assert!(count <= self.rest.len(), "a part has {} places left, not {count}", self.rest.len());
        let (next, rest) = std::mem::take(&mut self.rest).split_at_mut(count);
        self.rest = rest;
        next
    }

    /// Writes the next values.
    pub fn extend_from_slice(&mut self, values: &[T]) {
        for (slot, &value) in self.next(values.len()).iter_mut().zip(values) {
            slot.write(value);
        }
    }

    /// Writes `value` to the next `count` places.
    pub fn extend_with(&mut self, count: usize, value: T) {
        self.next(count).fill(MaybeUninit::new(value));
    }
}

impl<T: Plain> Slab<T> {
    /// A list of parts with these lengths, end to end. `fill` has to fill all of them; several
    /// threads can share the work.
    ///
    /// # Panics
    /// If a part is not full.
    pub fn in_parts<E>(
        lengths: &[usize],
        fill: impl FnOnce(&[Mutex<SlabPart<'_, T>>]) -> Result<(), E>,
    ) -> Result<Self, E> {
        let len = lengths.iter().sum();
        let mut slab = Self::with_capacity(len);
        let mut memory = SlabPart { rest: &mut slab.spare_capacity_mut()[..len] };
        let parts: Vec<_> = lengths.iter().map(|&length| Mutex::new(SlabPart { rest: memory.next(length) })).collect();
        fill(&parts)?;
        let is_full =
            |part: Mutex<SlabPart<'_, T>>| part.into_inner().unwrap_or_else(PoisonError::into_inner).rest.is_empty();
        assert!(parts.into_iter().all(is_full), "a part is not full");
        // SAFETY: the capacity is at least `len`. The parts tile the first `len` places, and a part
        // only passes over a place by writing it; all parts were passed to the end.
        unsafe { slab.set_len(len) };
        Ok(slab)
    }
}

impl<T: Plain> Grow for Slab<T> {
    #[inline]
    fn try_grow(&mut self, more: usize) -> Result<(), OutOfMemory> {
        if more > self.capacity - self.len {
            let needed = self.len.saturating_add(more);
            // Grow by at least half, so that appending step by step copies each value a constant
            // number of times on average.
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
        // SAFETY: by the invariant the first `len` values are initialized, and the borrow of the
        // list prevents writes to them.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Plain> DerefMut for Slab<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: by the invariant the first `len` values are initialized, and the exclusive borrow
        // prevents other accesses.
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
    fn parts_are_filled_by_several_threads() {
        let lengths = [3, 0, 9_000, 1];
        let slab = Slab::in_parts(&lengths, |parts| {
            std::thread::scope(|scope| {
                for (value, (part, &length)) in (0u32..).zip(parts.iter().zip(&lengths)) {
                    scope.spawn(move || {
                        let mut part = part.lock().expect("no panic");
                        part.extend_from_slice(&vec![value; length / 2]);
                        part.extend_with(length - length / 2, value + 100);
                    });
                }
            });
            Ok::<_, ()>(())
        });
        let expected = lengths
            .iter()
            .zip(0..)
            .flat_map(|(&length, value)| (0..length).map(move |at| if at < length / 2 { value } else { value + 100 }));
        assert!(slab.expect("all are full").iter().copied().eq(expected));
        assert_eq!(
            Slab::<u8>::in_parts(&[1], |_| Err("an error of the caller")).map(|_| ()),
            Err("an error of the caller")
        );
    }

    #[test]
    #[should_panic(expected = "a part is not full")]
    fn a_part_that_is_not_full_is_noticed() {
        let _ = Slab::<u32>::in_parts(&[2, 3], |parts| {
            parts[1].lock().expect("no panic").extend_with(3, 0);
            Ok::<_, ()>(())
        });
    }

    /// The caller may catch the panic; then no value is readable that was never written.
    #[test]
    #[should_panic(expected = "a part is not full")]
    fn a_part_that_was_overfilled_and_caught_is_not_full() {
        let _ = Slab::<u32>::in_parts(&[3], |parts| {
            let overfill = std::panic::AssertUnwindSafe(|| parts[0].lock().expect("no panic").extend_with(4, 0));
            assert!(std::panic::catch_unwind(overfill).is_err());
            Ok::<_, ()>(())
        });
    }

    #[test]
    fn small_slabs_belong_to_the_allocator() {
        assert!(!Slab::<u8>::with_capacity(MIN_POOLED_BYTES - 1).is_pooled());
        assert!(Slab::<u8>::with_capacity(MIN_POOLED_BYTES).is_pooled());
        assert!(Slab::<u32>::default().is_empty());
    }
}
