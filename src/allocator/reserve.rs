//! Memory for allocations that fail and cannot report it: a static, of which the system gives no page before it is used.
//!
//! It is a stack that is only ever cleared: allocations are cut from it one behind the other, and when the last of them is
//! released it is empty again. That is enough for what it is there for. An allocation from it is noted, the core sees that
//! between two words, rows or tokens, stops with an error, and releases what it had ([`tokenlane_core::memory`]).

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes. Allocations that can be larger than a small part of this report failures instead.
const BYTES: usize = 32 << 20;

/// Nothing needs more; an allocation that does is not served.
const ALIGN: usize = 4096;

#[repr(align(4096))]
struct Bytes(UnsafeCell<[u8; BYTES]>);

// SAFETY: this module never reads or writes the bytes. It hands out ranges that do not overlap.
unsafe impl Sync for Bytes {}

static MEMORY: Bytes = Bytes(UnsafeCell::new([0; BYTES]));

/// The books of the static above.
///
/// Invariant: the upper half of the number counts the allocations that are in use, the lower half is where the next one
/// starts, and both are zero together. Bytes from there on belong to nobody.
pub(super) struct Reserve(AtomicU64);

pub(super) static RESERVE: Reserve = Reserve(AtomicU64::new(0));

const ONE: u64 = 1 << 32;

impl Reserve {
    /// Whether memory is of the reserve.
    #[inline]
    pub(super) fn owns(memory: *mut u8) -> bool {
        (memory as usize).wrapping_sub(MEMORY.0.get() as usize) < BYTES
    }

    /// Memory for `layout`, or null if there is not so much left.
    pub(super) fn allocate(&self, layout: Layout) -> *mut u8 {
        let range = |books: u64| {
            let start = (books as u32 as usize).next_multiple_of(layout.align());
            // An allocation of no bytes gets a place of its own, so that the books count it.
            let end = start.checked_add(layout.size().max(1))?;
            (layout.align() <= ALIGN && end <= BYTES).then_some((start, end))
        };
        let cut = |books: u64| range(books).map(|(_, end)| (books >> 32) * ONE + ONE + end as u64);
        // Acquire: who gets bytes that another thread has released comes after that thread's last use of them.
        match self.0.fetch_update(Ordering::Acquire, Ordering::Acquire, cut) {
            Ok(books) => {
                range(books).map_or(ptr::null_mut(), |(start, _)| MEMORY.0.get().cast::<u8>().wrapping_add(start))
            }
            Err(_) => ptr::null_mut(),
        }
    }

    /// Takes back one allocation.
    pub(super) fn release(&self) {
        let less = |books: u64| Some(if books >> 32 == 1 { 0 } else { books - ONE });
        // Release: see `allocate`. The change is never refused.
        let _ = self.0.fetch_update(Ordering::Release, Ordering::Relaxed, less);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(bytes: usize, align: usize) -> Layout {
        Layout::from_size_align(bytes, align).expect("a layout")
    }

    #[test]
    fn allocations_do_not_overlap_and_all_of_it_is_there_again_when_the_last_is_released() {
        let reserve = Reserve(AtomicU64::new(0));
        for _ in 0..3 {
            let mut end = MEMORY.0.get() as usize;
            let mut count = 0;
            for (bytes, align) in [(1, 1), (100, 8), (0, 1), (5, 4096), (1 << 20, 64), (7, 2)].into_iter().cycle() {
                let memory = reserve.allocate(layout(bytes, align));
                if memory.is_null() {
                    break;
                }
                assert!(Reserve::owns(memory) && memory as usize >= end && (memory as usize).is_multiple_of(align));
                end = memory as usize + bytes;
                count += 1;
            }
            assert!(count > 150, "{count}");
            assert!(end <= MEMORY.0.get() as usize + BYTES);
            assert!(reserve.allocate(layout(2 << 20, 8)).is_null(), "it is used up");
            (0..count).for_each(|_| reserve.release());
            assert_eq!(reserve.0.load(Ordering::Relaxed), 0);
        }
        assert!(!reserve.allocate(layout(BYTES, 1)).is_null());
        assert!(reserve.allocate(layout(1, 1)).is_null());
        reserve.release();
        assert!(reserve.allocate(layout(BYTES + 1, 1)).is_null());
        assert!(reserve.allocate(layout(1, 2 * ALIGN)).is_null());
        assert_eq!(reserve.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn threads_get_bytes_of_their_own() {
        let reserve = Reserve(AtomicU64::new(0));
        std::thread::scope(|scope| {
            for mark in 1..=4u8 {
                let reserve = &reserve;
                scope.spawn(move || {
                    for round in 0..2000 {
                        let bytes = 1 + round % 300;
                        let memory = reserve.allocate(layout(bytes, 8));
                        assert!(!memory.is_null());
                        // SAFETY: so many bytes are this thread's until it releases them.
                        unsafe {
                            memory.write_bytes(mark, bytes);
                            assert!(std::slice::from_raw_parts(memory, bytes).iter().all(|&byte| byte == mark));
                        }
                        reserve.release();
                    }
                });
            }
        });
        assert_eq!(reserve.0.load(Ordering::Relaxed), 0);
    }
}
