//! Pages from the kernel: mapping, advising and unmapping.
//!
//! A page that was written stays resident until the program declares that its content is no longer
//! needed. There are two ways to say so. With *free*, the kernel takes the page when memory is
//! short; writing it before then costs nothing, but the page counts as resident in the meantime.
//! With *don't need*, the kernel takes the page at once, and the next write waits for a zeroed
//! page. On macOS, *free* is a pair of calls: one when the pages become unused and one before they
//! are used again. Systems that support neither keep the pages.
#![allow(unsafe_code, reason = "system calls on address ranges")]

use std::ops::Range;
use std::ptr::NonNull;

/// What happens to the pages of cached memory that is not kept warm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Advice {
    /// The kernel may take the pages when memory is short. The default.
    #[default]
    Free,
    /// The kernel takes the pages at once.
    DontNeed,
    /// The pages stay resident. For memory profilers, which expect stable figures.
    Off,
}

/// Memory that pools cut into blocks: pages of the system, or address ranges without memory in
/// tests.
pub trait Pages: Sized + Send {
    /// Whether the pages can grow beyond the reserved size.
    const CAN_MOVE: bool;
    /// Maps `bytes` with `reserved` bytes of addresses.
    fn new(bytes: usize, reserved: usize) -> Option<Self>;
    /// The address of the first byte.
    fn start(&self) -> NonNull<u8>;
    /// The size in bytes.
    fn bytes(&self) -> usize;
    /// The size in bytes up to which they grow in place.
    fn reserved(&self) -> usize;
    /// Grows to `bytes`: in place up to the reserved size, beyond it at another address with the
    /// same content. Returns false if nothing changed.
    ///
    /// # Safety
    /// If `bytes` is larger than the reserved size, nobody uses the memory.
    unsafe fn grow(&mut self, bytes: usize) -> bool;
    /// Returns the pages after the first `bytes` bytes to the system. Returns false if nothing
    /// changed.
    ///
    /// # Safety
    /// Nobody uses the memory after the first `bytes` bytes.
    unsafe fn shrink(&mut self, bytes: usize) -> bool;
    /// Declares that the content of a range is no longer needed.
    ///
    /// # Safety
    /// Nobody relies on the content of the range until it is written again.
    unsafe fn discard(&self, range: Range<usize>, advice: Advice);
    /// Declares that discarded bytes will be written again.
    fn reuse(&self, range: Range<usize>);
}

/// Pages that belong to one owner and are unmapped on drop. Further addresses may be reserved
/// after them, so that the mapping can grow in place.
///
/// Invariant: this mapping alone owns the `reserved` bytes that begin at `start`. The first `bytes`
/// of them are readable and writable.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
    reserved: usize,
}

// SAFETY: a mapping owns its pages as a box owns its bytes; they are not bound to a thread.
unsafe impl Send for Mapping {}

/// Mappings with at least this many reserved bytes use huge pages: 32 MiB. The pools fill such
/// mappings from the start.
const MIN_HUGE_BYTES: usize = 32 << 20;

/// The threshold for mappings that are accessed at random during their whole life, in bytes in use:
/// 2 MiB, the size of a huge page. If reserved bytes counted too, the first write to each table of
/// a small tokenizer would take 2 MiB.
const MIN_HUGE_RANDOM_BYTES: usize = 2 << 20;

impl Mapping {
    /// Maps `bytes` zeroed bytes, rounded up to whole pages; `bytes` is not 0. `None` if the system
    /// has no memory.
    fn map(bytes: usize) -> Option<Self> {
        let bytes = bytes.checked_next_multiple_of(page_size())?;
        Some(Self { start: system::map(bytes)?, bytes, reserved: bytes }.with_huge_pages(MIN_HUGE_BYTES))
    }

    /// Maps pages for random access, with `reserved` bytes of addresses if the system supports
    /// that. Uses huge pages from a smaller size on, because they cause fewer TLB misses.
    pub fn random_access(bytes: usize, reserved: usize) -> Option<Self> {
        let mapping = Self::new(bytes, reserved)?;
        Some(if mapping.bytes < MIN_HUGE_RANDOM_BYTES { mapping } else { mapping.with_huge_pages(0) })
    }

    /// Whether a new mapping of this size, for random access, uses huge pages that this one does
    /// not.
    pub fn gains_huge_pages(&self, bytes: usize) -> bool {
        (self.bytes..=bytes).contains(&MIN_HUGE_RANDOM_BYTES) && self.bytes < MIN_HUGE_RANDOM_BYTES
    }

    /// Requests huge pages if at least `least` bytes are reserved. Must run before the first write.
    fn with_huge_pages(self, min_bytes: usize) -> Self {
        if self.reserved >= min_bytes {
            system::advise_huge(self.start, self.reserved);
        }
        self
    }
}

impl Pages for Mapping {
    const CAN_MOVE: bool = cfg!(all(target_os = "linux", not(miri)));

    fn new(bytes: usize, reserved: usize) -> Option<Self> {
        let bytes = bytes.checked_next_multiple_of(page_size())?;
        let reserved = reserved.checked_next_multiple_of(page_size())?;
        let start = if bytes < reserved { system::reserve(bytes, reserved) } else { None };
        start.map(|start| Self { start, bytes, reserved }.with_huge_pages(MIN_HUGE_BYTES)).or_else(|| Self::map(bytes))
    }

    fn reserved(&self) -> usize {
        self.reserved
    }

    unsafe fn grow(&mut self, bytes: usize) -> bool {
        let Some(bytes) = bytes.checked_next_multiple_of(page_size()) else { return false };
        if bytes <= self.reserved {
            // SAFETY: these pages are reserved and lie after those in use.
            let commit = |more| unsafe { system::commit(self.start.add(self.bytes), more) };
            let is_done = bytes <= self.bytes || commit(bytes - self.bytes);
            self.bytes = if is_done { bytes.max(self.bytes) } else { self.bytes };
            return is_done;
        }
        // SAFETY: all reserved bytes are in use, so the range is exactly this mapping's pages,
        // which are readable and writable. The caller guarantees that nobody uses them.
        let remap = || unsafe { system::remap(self.start, self.bytes, bytes) };
        let moved = if self.bytes < self.reserved { None } else { remap() };
        let Some(start) = moved else { return false };
        (self.start, self.bytes, self.reserved) = (start, bytes, bytes);
        true
    }

    unsafe fn shrink(&mut self, bytes: usize) -> bool {
        let Some(bytes) = bytes.checked_next_multiple_of(page_size()).filter(|&bytes| 0 < bytes && bytes < self.bytes)
        else {
            return false;
        };
        // SAFETY: the pages from `bytes` on belong to this mapping, and the caller guarantees that
        // nobody uses them.
        let is_done = unsafe {
            match self.bytes < self.reserved {
                true => system::decommit(self.start.add(bytes), self.bytes - bytes),
                false => system::unmap_end(self.start.add(bytes), self.bytes - bytes),
            }
        };
        if is_done {
            self.reserved = if self.bytes < self.reserved { self.reserved } else { bytes };
            self.bytes = bytes;
        }
        is_done
    }

    fn start(&self) -> NonNull<u8> {
        self.start
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    unsafe fn discard(&self, range: Range<usize>, advice: Advice) {
        let page = page_size();
        let (start, end) = (range.start.next_multiple_of(page), range.end.min(self.bytes) / page * page);
        if start < end && advice != Advice::Off {
            // SAFETY: the pages from `start` to `end` lie in this mapping, and the caller
            // guarantees that their content may change.
            unsafe { system::discard(self.start.add(start), end - start, advice == Advice::Free) };
        }
    }

    fn reuse(&self, range: Range<usize>) {
        let page = page_size();
        let (start, end) = (range.start / page * page, range.end.next_multiple_of(page).min(self.bytes));
        // SAFETY: the address lies in this mapping or directly after it.
        system::reuse(unsafe { self.start.add(start.min(end)) }, end.saturating_sub(start));
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: these pages came from the functions of `system`, and nobody uses them any more:
        // pools only drop mappings without outstanding blocks, blocks keep their pool alive, and a
        // table owns its mapping.
        unsafe { system::unmap(self.start, self.reserved) };
    }
}

/// Whether the process has a limit on its address space (`RLIMIT_AS`).
pub fn is_limited() -> bool {
    system::is_limited()
}

/// Whether `bytes` could be mapped at the moment. Always true on systems that cannot tell.
pub fn is_mappable(bytes: usize) -> bool {
    let Some(bytes) = bytes.checked_next_multiple_of(page_size()) else { return false };
    bytes == 0 || system::is_mappable(bytes)
}

/// The size of a page, in bytes.
pub fn page_size() -> usize {
    system::page_size()
}

#[cfg(all(unix, not(miri)))]
mod system {
    use std::ffi::c_void;
    use std::ptr::{self, NonNull};

    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

    pub(super) fn page_size() -> usize {
        rustix::param::page_size()
    }

    pub(super) fn map(bytes: usize) -> Option<NonNull<u8>> {
        // SAFETY: the system chooses the address, so it replaces no memory that is in use.
        let start =
            unsafe { mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) };
        NonNull::new(start.ok()?.cast())
    }

    pub(super) fn is_limited() -> bool {
        rustix::process::getrlimit(rustix::process::Resource::As).current.is_some()
    }

    pub(super) fn is_mappable(bytes: usize) -> bool {
        // Reserves addresses only: a kernel that accounts for writable memory would refuse more
        // than it has free.
        // SAFETY: the system chooses the address, so it replaces no memory that is in use.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::empty(), MapFlags::PRIVATE) };
        let Some(start) = start.ok().and_then(|start| NonNull::new(start.cast())) else { return false };
        // SAFETY: the pages were just mapped, and nobody else has their address.
        unsafe { unmap(start, bytes) };
        true
    }

    /// Reserves addresses for `reserved` bytes, of which the first `bytes` are readable and
    /// writable.
    pub(super) fn reserve(bytes: usize, reserved: usize) -> Option<NonNull<u8>> {
        // SAFETY: the system chooses the address, so it replaces no memory that is in use.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), reserved, ProtFlags::empty(), MapFlags::PRIVATE) };
        let start = NonNull::new(start.ok()?.cast())?;
        // SAFETY: nobody else has the address of these pages yet.
        unsafe {
            if commit(start, bytes) {
                return Some(start);
            }
            unmap(start, reserved);
        }
        None
    }

    /// Makes reserved pages readable and writable.
    ///
    /// # Safety
    /// The pages were reserved and belong to the caller.
    pub(super) unsafe fn commit(start: NonNull<u8>, bytes: usize) -> bool {
        // SAFETY: the caller owns the pages. The new protection permits every access that was
        // permitted.
        unsafe { mprotect(start.as_ptr().cast(), bytes, MprotectFlags::READ | MprotectFlags::WRITE) }.is_ok()
    }

    /// Returns pages to the system and keeps their addresses reserved.
    ///
    /// # Safety
    /// The pages belong to the caller, and nobody uses them.
    pub(super) unsafe fn decommit(start: NonNull<u8>, bytes: usize) -> bool {
        let flags = MapFlags::PRIVATE | MapFlags::FIXED;
        // SAFETY: the replaced pages belong to the caller, and nobody uses them.
        unsafe { mmap_anonymous(start.as_ptr().cast(), bytes, ProtFlags::empty(), flags) }.is_ok()
    }

    /// Unmaps pages at the end of a mapping.
    ///
    /// # Safety
    /// The pages belong to the caller, and nobody uses them.
    pub(super) unsafe fn unmap_end(start: NonNull<u8>, bytes: usize) -> bool {
        // SAFETY: the caller guarantees that nobody uses the pages.
        unsafe { munmap(start.as_ptr().cast::<c_void>(), bytes) }.is_ok()
    }

    /// Grows a mapping; the pages may move to another address.
    ///
    /// # Safety
    /// The pages came from [`map`] or [`reserve`], all are readable and writable, and nobody uses
    /// them.
    #[cfg(target_os = "linux")]
    pub(super) unsafe fn remap(start: NonNull<u8>, bytes: usize, grown: usize) -> Option<NonNull<u8>> {
        use rustix::mm::{MremapFlags, mremap};
        // SAFETY: the caller guarantees that nobody uses an address in these pages.
        let moved = unsafe { mremap(start.as_ptr().cast(), bytes, grown, MremapFlags::MAYMOVE) };
        NonNull::new(moved.ok()?.cast())
    }

    /// # Safety
    /// Has no requirements: it does nothing.
    #[cfg(not(target_os = "linux"))]
    pub(super) unsafe fn remap(_start: NonNull<u8>, _bytes: usize, _grown: usize) -> Option<NonNull<u8>> {
        None
    }

    /// # Safety
    /// The pages came from [`map`] or [`reserve`], and nobody uses them.
    pub(super) unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller guarantees that nobody uses the pages. The call fails only if the
        // kernel has no memory to split its own list of mappings. The pages then leak.
        let _ = unsafe { munmap(start.as_ptr().cast::<c_void>(), bytes) };
    }

    #[cfg(target_os = "linux")]
    mod advice {
        use rustix::mm::{Advice, madvise};

        use super::{NonNull, c_void};

        /// # Safety
        /// The pages are mapped, and their content is no longer needed.
        pub(in super::super) unsafe fn discard(start: NonNull<u8>, bytes: usize, lazily: bool) {
            let start = start.as_ptr().cast::<c_void>();
            // SAFETY: the caller no longer needs the content. Kernels without `MADV_FREE` use
            // `MADV_DONTNEED`.
            unsafe {
                if !lazily || madvise(start, bytes, Advice::LinuxFree).is_err() {
                    let _ = madvise(start, bytes, Advice::LinuxDontNeed);
                }
            }
        }

        pub(in super::super) fn reuse(_start: NonNull<u8>, _bytes: usize) {}

        pub(in super::super) fn advise_huge(start: NonNull<u8>, bytes: usize) {
            // SAFETY: the call changes how pages are mapped, not their content. Kernels without
            // huge pages return an error, which has no consequence.
            let _ = unsafe { madvise(start.as_ptr().cast::<c_void>(), bytes, Advice::LinuxHugepage) };
        }
    }

    #[cfg(target_vendor = "apple")]
    mod advice {
        use super::{NonNull, c_void};

        /// # Safety
        /// The pages are mapped, and their content is no longer needed.
        pub(in super::super) unsafe fn discard(start: NonNull<u8>, bytes: usize, _lazily: bool) {
            // Used for both kinds of advice: reusable pages no longer count as memory of the
            // process.
            // SAFETY: the caller no longer needs the content.
            unsafe { libc::madvise(start.as_ptr().cast::<c_void>(), bytes, libc::MADV_FREE_REUSABLE) };
        }

        pub(in super::super) fn reuse(start: NonNull<u8>, bytes: usize) {
            // SAFETY: the call changes how pages are counted, not their content.
            unsafe { libc::madvise(start.as_ptr().cast::<c_void>(), bytes, libc::MADV_FREE_REUSE) };
        }

        pub(in super::super) fn advise_huge(_start: NonNull<u8>, _bytes: usize) {}
    }

    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    mod advice {
        use super::NonNull;

        /// # Safety
        /// Has no requirements: it does nothing.
        pub(in super::super) unsafe fn discard(_start: NonNull<u8>, _bytes: usize, _lazily: bool) {}

        pub(in super::super) fn reuse(_start: NonNull<u8>, _bytes: usize) {}

        pub(in super::super) fn advise_huge(_start: NonNull<u8>, _bytes: usize) {}
    }

    pub(super) use advice::{advise_huge, discard, reuse};
}

/// For systems that are not Unix, and for Miri, which does not support these calls: memory comes
/// from the allocator, and advice does nothing. WebAssembly's memory ends at a few gibibytes and
/// its allocator reports that, so there it is known whether memory is left.
#[cfg(not(all(unix, not(miri))))]
mod system {
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::ptr::NonNull;

    pub(super) fn page_size() -> usize {
        4096
    }

    fn layout(bytes: usize) -> Option<Layout> {
        Layout::from_size_align(bytes, page_size()).ok()
    }

    pub(super) fn map(bytes: usize) -> Option<NonNull<u8>> {
        // SAFETY: the filter guarantees a size above 0.
        NonNull::new(unsafe { alloc_zeroed(layout(bytes).filter(|layout| layout.size() > 0)?) })
    }

    pub(super) fn is_limited() -> bool {
        false
    }

    #[cfg(not(target_family = "wasm"))]
    pub(super) fn is_mappable(_bytes: usize) -> bool {
        true
    }

    #[cfg(target_family = "wasm")]
    pub(super) fn is_mappable(bytes: usize) -> bool {
        let mut trial = Vec::<u8>::new();
        let is_possible = trial.try_reserve_exact(bytes).is_ok();
        // The compiler may remove an allocation that nobody looks at.
        std::hint::black_box(trial.as_mut_ptr());
        is_possible
    }

    pub(super) fn reserve(_bytes: usize, _reserved: usize) -> Option<NonNull<u8>> {
        None
    }

    /// # Safety
    /// Has no requirements: it does nothing.
    pub(super) unsafe fn commit(_start: NonNull<u8>, _bytes: usize) -> bool {
        false
    }

    /// # Safety
    /// Has no requirements: it does nothing.
    pub(super) unsafe fn decommit(_start: NonNull<u8>, _bytes: usize) -> bool {
        false
    }

    /// # Safety
    /// Has no requirements: it does nothing.
    pub(super) unsafe fn unmap_end(_start: NonNull<u8>, _bytes: usize) -> bool {
        false
    }

    /// # Safety
    /// Has no requirements: it does nothing.
    pub(super) unsafe fn remap(_start: NonNull<u8>, _bytes: usize, _grown: usize) -> Option<NonNull<u8>> {
        None
    }

    /// # Safety
    /// The memory came from [`map`], and nobody uses it.
    pub(super) unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
        if let Some(layout) = layout(bytes) {
            // SAFETY: the caller guarantees that `map` returned this memory and that nobody uses
            // it. The layout is the one it was allocated with.
            unsafe { dealloc(start.as_ptr(), layout) };
        }
    }

    /// # Safety
    /// Has no requirements: it does nothing.
    pub(super) unsafe fn discard(_start: NonNull<u8>, _bytes: usize, _lazily: bool) {}

    pub(super) fn reuse(_start: NonNull<u8>, _bytes: usize) {}

    pub(super) fn advise_huge(_start: NonNull<u8>, _bytes: usize) {}
}
