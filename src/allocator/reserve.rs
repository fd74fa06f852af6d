//! Memory for allocations that fail in code that cannot report the failure. It is a static array,
//! and the system provides no page of it before its first use.
//!
//! It is a bump allocator that is only reset as a whole: allocations lie one after the other, and
//! when the last one is released the reserve is empty again. This is sufficient for its purpose. An
//! allocation from it is recorded (`memory::note_shortage`); the core checks the record between two
//! words, rows or tokens, stops with an error, and releases its memory
//! ([`tokenlane_core::memory`]).

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Size in bytes. Allocations that can be larger than a small part of this report their failure
/// instead.
const RESERVE_BYTES: usize = 32 << 20;

/// Largest supported alignment. Allocations with a larger one are not served; none of this crate
/// needs more.
const ALIGN: usize = 4096;

#[repr(align(4096))]
struct ReserveMemory(UnsafeCell<[u8; RESERVE_BYTES]>);

// SAFETY: this module never reads or writes the bytes. It only hands out ranges that do not
// overlap.
unsafe impl Sync for ReserveMemory {}

static MEMORY: ReserveMemory = ReserveMemory(UnsafeCell::new([0; RESERVE_BYTES]));

/// The allocation state of the static above.
///
/// Invariant: the upper 32 bits count the live allocations, and the lower 32 bits are the offset of
/// the first free byte. They are zero together. Bytes at and after the offset are not in use.
pub(super) struct Reserve(AtomicU64);

pub(super) static RESERVE: Reserve = Reserve(AtomicU64::new(0));

const ONE: u64 = 1 << 32;

impl Reserve {
    /// Whether `memory` lies in the reserve.
    #[inline]
    pub(super) fn owns(memory: *mut u8) -> bool {
        (memory as usize).wrapping_sub(MEMORY.0.get() as usize) < RESERVE_BYTES
    }

    /// Memory for `layout`, or null if the reserve has too little left.
    pub(super) fn allocate(&self, layout: Layout) -> *mut u8 {
        let range = |state: u64| {
            let start = (state as u32 as usize).next_multiple_of(layout.align());
            // An allocation of zero bytes takes one byte, so that it is counted.
            let end = start.checked_add(layout.size().max(1))?;
            (layout.align() <= ALIGN && end <= RESERVE_BYTES).then_some((start, end))
        };
        let cut = |state: u64| range(state).map(|(_, end)| (state >> 32) * ONE + ONE + end as u64);
        // Acquire: pairs with the Release in `release`, so that a thread that reuses bytes sees
        // them after the last use by the thread that released them.
        match self.0.fetch_update(Ordering::Acquire, Ordering::Acquire, cut) {
            Ok(state) => {
                range(state).map_or(ptr::null_mut(), |(start, _)| MEMORY.0.get().cast::<u8>().wrapping_add(start))
            }
            Err(_) => ptr::null_mut(),
        }
    }

    /// Releases one allocation.
    pub(super) fn release(&self) {
        let less = |state: u64| Some(if state >> 32 == 1 { 0 } else { state - ONE });
        // Release: pairs with the Acquire in `allocate`. `less` never returns `None`, so the update
        // cannot fail.
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
            assert!(end <= MEMORY.0.get() as usize + RESERVE_BYTES);
            assert!(reserve.allocate(layout(2 << 20, 8)).is_null(), "it is used up");
            (0..count).for_each(|_| reserve.release());
            assert_eq!(reserve.0.load(Ordering::Relaxed), 0);
        }
        assert!(!reserve.allocate(layout(RESERVE_BYTES, 1)).is_null());
        assert!(reserve.allocate(layout(1, 1)).is_null());
        reserve.release();
        assert!(reserve.allocate(layout(RESERVE_BYTES + 1, 1)).is_null());
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
                        // SAFETY: these `bytes` bytes belong to this thread until it releases them.
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
