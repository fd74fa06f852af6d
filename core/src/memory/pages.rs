//! Pages from the kernel: mapped, advised, given back.
//!
//! A page that was written stays in memory until the kernel is told that its bytes do not matter any more. There are two ways
//! to say so. *Free* lets the kernel take the page when memory is short, and costs nothing if it is written again before; it
//! counts as resident until then. *Don't need* gives it back now, and the next write has to wait for a cleared one. On
//! macOS the first is a pair of calls, one when the pages are free and one before they are used again. Systems with
//! neither keep the pages.
#![allow(unsafe_code)]

use std::ops::Range;
use std::ptr::NonNull;

/// What becomes of the pages of memory that is not lent and not kept warm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Advice {
    /// The kernel may take them when memory is short.
    #[default]
    Free,
    /// The kernel gets them at once.
    DontNeed,
    /// They stay, as memory profilers like it.
    Off,
}

/// Pages that this process has for itself, mapped until they are dropped. Behind them addresses may be reserved, so that they
/// can grow where they are.
///
/// Invariant: of the `reserved` bytes from `start` on, which are this mapping's alone, the first `bytes` can be used.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
    reserved: usize,
}

// SAFETY: a mapping owns its pages as a box owns its bytes; no thread has a part in them.
unsafe impl Send for Mapping {}

/// Huge pages are asked for where so many bytes are reserved: 32 MiB. The pools fill such mappings from the start.
const MIN_HUGE_BYTES: usize = 32 << 20;

/// The same, where all of it is read at random for as long as it lives: 8 MiB. Of a smaller one a text may touch little, and each
/// touch of a huge page makes 2 MiB resident.
const MIN_HUGE_RANDOM_BYTES: usize = 8 << 20;

impl Mapping {
    /// Whether one can grow beyond what is reserved.
    pub const CAN_MOVE: bool = cfg!(all(target_os = "linux", not(miri)));

    /// Cleared pages for so many bytes, more than none; `None` when the system has none to give.
    pub fn new(bytes: usize) -> Option<Self> {
        let bytes = bytes.checked_next_multiple_of(page_size())?;
        Some(Self { start: system::map(bytes)?, bytes, reserved: bytes }.with_huge_pages(MIN_HUGE_BYTES))
    }

    /// The same for what is read at random, with so many bytes reserved where the system has them: fewer, larger pages are
    /// found sooner.
    pub fn random_access(bytes: usize, reserved: usize) -> Option<Self> {
        Some(Self::with_reserved(bytes, reserved)?.with_huge_pages(MIN_HUGE_RANDOM_BYTES))
    }

    /// As [`Self::new`], with so many bytes reserved where the system has them.
    pub fn with_reserved(bytes: usize, reserved: usize) -> Option<Self> {
        let bytes = bytes.checked_next_multiple_of(page_size())?;
        let reserved = reserved.checked_next_multiple_of(page_size())?;
        let start = if bytes < reserved { system::reserve(bytes, reserved) } else { None };
        start.map(|start| Self { start, bytes, reserved }.with_huge_pages(MIN_HUGE_BYTES)).or_else(|| Self::new(bytes))
    }

    /// Asks for huge pages, before the first touch, if so many bytes are reserved.
    fn with_huge_pages(self, least: usize) -> Self {
        if self.reserved >= least {
            system::advise_huge(self.start, self.reserved);
        }
        self
    }

    /// How long it can become where it is.
    pub fn reserved(&self) -> usize {
        self.reserved
    }

    /// Makes it longer: where it is, or when not so much is reserved, elsewhere with the same content, if the system can do
    /// that. False if it is as it was.
    ///
    /// # Safety
    /// If it is longer than what is reserved, nobody uses the memory.
    pub unsafe fn grow(&mut self, bytes: usize) -> bool {
        let Some(bytes) = bytes.checked_next_multiple_of(page_size()) else { return false };
        if bytes <= self.reserved {
            // SAFETY: the pages lie in what is reserved, behind those in use.
            let commit = |more| unsafe { system::commit(self.start.add(self.bytes), more) };
            let is_done = bytes <= self.bytes || commit(bytes - self.bytes);
            self.bytes = if is_done { bytes.max(self.bytes) } else { self.bytes };
            return is_done;
        }
        // SAFETY: all that is reserved is in use, and as the caller says nobody looks at it.
        let remap = || unsafe { system::remap(self.start, self.bytes, bytes) };
        let moved = if self.bytes < self.reserved { None } else { remap() };
        let Some(start) = moved else { return false };
        (self.start, self.bytes, self.reserved) = (start, bytes, bytes);
        true
    }

    /// Gives back the pages behind the first `bytes` bytes; false if it is as it was.
    ///
    /// # Safety
    /// Nobody uses the memory there.
    pub unsafe fn shrink(&mut self, bytes: usize) -> bool {
        let Some(bytes) = bytes.checked_next_multiple_of(page_size()).filter(|&bytes| 0 < bytes && bytes < self.bytes)
        else {
            return false;
        };
        // SAFETY: the pages from `bytes` on are this mapping's, and as the caller says nobody uses them.
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

    /// Where it starts.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// How long it is, whole pages.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Tells the kernel that the bytes of a range do not matter. Only the pages that lie inside as a whole are spoken of.
    ///
    /// # Safety
    /// Nobody relies on what the bytes of the range are, until they are written again.
    pub unsafe fn discard(&self, range: Range<usize>, advice: Advice) {
        let page = page_size();
        let (start, end) = (range.start.next_multiple_of(page), range.end.min(self.bytes) / page * page);
        if start < end && advice != Advice::Off {
            // SAFETY: the pages from `start` to `end` lie in this mapping, and the caller has said that their bytes may change.
            unsafe { system::discard(self.start.add(start), end - start, advice == Advice::Free) };
        }
    }

    /// Tells the kernel that discarded bytes are about to be written again.
    pub fn reuse(&self, range: Range<usize>) {
        let page = page_size();
        let (start, end) = (range.start / page * page, range.end.next_multiple_of(page).min(self.bytes));
        // SAFETY: the place lies in this mapping, or just behind it.
        system::reuse(unsafe { self.start.add(start.min(end)) }, end.saturating_sub(start));
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: these are the pages that `system::map` gave, and whoever had them lent has handed them back.
        unsafe { system::unmap(self.start, self.reserved) };
    }
}

/// Whether the process has a limit of addresses (`RLIMIT_AS`).
pub fn is_limited() -> bool {
    system::is_limited()
}

/// Whether so many bytes could be mapped at the moment. Where the system cannot be asked, yes.
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
        // SAFETY: the system chooses the place, so no memory that is in use is replaced.
        let start =
            unsafe { mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) };
        NonNull::new(start.ok()?.cast())
    }

    pub(super) fn is_limited() -> bool {
        rustix::process::getrlimit(rustix::process::Resource::As).current.is_some()
    }

    pub(super) fn is_mappable(bytes: usize) -> bool {
        // Addresses alone: a kernel that counts what may be written would refuse more than there is of memory.
        // SAFETY: the system chooses the place, so no memory that is in use is replaced.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::empty(), MapFlags::PRIVATE) };
        let Some(start) = start.ok().and_then(|start| NonNull::new(start.cast())) else { return false };
        // SAFETY: the pages were just mapped, and nobody else knows of them.
        unsafe { unmap(start, bytes) };
        true
    }

    /// Addresses of which the first `bytes` can be used.
    pub(super) fn reserve(bytes: usize, reserved: usize) -> Option<NonNull<u8>> {
        // SAFETY: the system chooses the place, so no memory that is in use is replaced.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), reserved, ProtFlags::empty(), MapFlags::PRIVATE) };
        let start = NonNull::new(start.ok()?.cast())?;
        // SAFETY: nobody knows of the pages yet.
        unsafe {
            if commit(start, bytes) {
                return Some(start);
            }
            unmap(start, reserved);
        }
        None
    }

    /// # Safety
    /// The pages were reserved and are whoever calls'.
    pub(super) unsafe fn commit(start: NonNull<u8>, bytes: usize) -> bool {
        // SAFETY: as the caller says; pages that can be used can still be used.
        unsafe { mprotect(start.as_ptr().cast(), bytes, MprotectFlags::READ | MprotectFlags::WRITE) }.is_ok()
    }

    /// Pages that were in use are only reserved again.
    ///
    /// # Safety
    /// They are whoever calls', and nobody uses them.
    pub(super) unsafe fn decommit(start: NonNull<u8>, bytes: usize) -> bool {
        let flags = MapFlags::PRIVATE | MapFlags::FIXED;
        // SAFETY: what is replaced is nobody else's, as the caller says.
        unsafe { mmap_anonymous(start.as_ptr().cast(), bytes, ProtFlags::empty(), flags) }.is_ok()
    }

    /// Pages at the end of a mapping go.
    ///
    /// # Safety
    /// They are whoever calls', and nobody uses them.
    pub(super) unsafe fn unmap_end(start: NonNull<u8>, bytes: usize) -> bool {
        // SAFETY: as the caller says.
        unsafe { munmap(start.as_ptr().cast::<c_void>(), bytes) }.is_ok()
    }

    /// The same pages and more behind them, maybe at other addresses.
    ///
    /// # Safety
    /// They came from [`map`], and nobody uses them.
    #[cfg(target_os = "linux")]
    pub(super) unsafe fn remap(start: NonNull<u8>, bytes: usize, grown: usize) -> Option<NonNull<u8>> {
        use rustix::mm::{MremapFlags, mremap};
        // SAFETY: as the caller says, nobody has an address in there.
        let moved = unsafe { mremap(start.as_ptr().cast(), bytes, grown, MremapFlags::MAYMOVE) };
        NonNull::new(moved.ok()?.cast())
    }

    /// # Safety
    /// None is needed: nothing is done.
    #[cfg(not(target_os = "linux"))]
    pub(super) unsafe fn remap(_start: NonNull<u8>, _bytes: usize, _grown: usize) -> Option<NonNull<u8>> {
        None
    }

    /// # Safety
    /// The pages came from [`map`] or [`reserve`], and nobody uses them.
    pub(super) unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
        // SAFETY: as the caller says. The only failure is that the system has no memory left to split its own table of
        // mappings; then they stay, as a leak.
        let _ = unsafe { munmap(start.as_ptr().cast::<c_void>(), bytes) };
    }

    #[cfg(target_os = "linux")]
    mod advice {
        use rustix::mm::{Advice, madvise};

        use super::{NonNull, c_void};

        /// # Safety
        /// The pages are mapped, and their bytes do not matter.
        pub(in super::super) unsafe fn discard(start: NonNull<u8>, bytes: usize, lazily: bool) {
            let start = start.as_ptr().cast::<c_void>();
            // SAFETY: as the caller says. A kernel that does not know the lazy way gets the other.
            unsafe {
                if !lazily || madvise(start, bytes, Advice::LinuxFree).is_err() {
                    let _ = madvise(start, bytes, Advice::LinuxDontNeed);
                }
            }
        }

        pub(in super::super) fn reuse(_start: NonNull<u8>, _bytes: usize) {}

        pub(in super::super) fn advise_huge(start: NonNull<u8>, bytes: usize) {
            // SAFETY: it changes how pages are mapped, not what they hold. A kernel without huge pages refuses.
            let _ = unsafe { madvise(start.as_ptr().cast::<c_void>(), bytes, Advice::LinuxHugepage) };
        }
    }

    #[cfg(target_vendor = "apple")]
    mod advice {
        use super::{NonNull, c_void};

        /// # Safety
        /// The pages are mapped, and their bytes do not matter.
        pub(in super::super) unsafe fn discard(start: NonNull<u8>, bytes: usize, _lazily: bool) {
            // Either way: pages that are reusable do not count as the process's any more.
            // SAFETY: as the caller says.
            unsafe { libc::madvise(start.as_ptr().cast::<c_void>(), bytes, libc::MADV_FREE_REUSABLE) };
        }

        pub(in super::super) fn reuse(start: NonNull<u8>, bytes: usize) {
            // SAFETY: it changes how pages are counted, not what they hold.
            unsafe { libc::madvise(start.as_ptr().cast::<c_void>(), bytes, libc::MADV_FREE_REUSE) };
        }

        pub(in super::super) fn advise_huge(_start: NonNull<u8>, _bytes: usize) {}
    }

    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    mod advice {
        use super::NonNull;

        /// # Safety
        /// None is needed: nothing is done.
        pub(in super::super) unsafe fn discard(_start: NonNull<u8>, _bytes: usize, _lazily: bool) {}

        pub(in super::super) fn reuse(_start: NonNull<u8>, _bytes: usize) {}

        pub(in super::super) fn advise_huge(_start: NonNull<u8>, _bytes: usize) {}
    }

    pub(super) use advice::{advise_huge, discard, reuse};
}

/// Systems that are not Unix, and Miri, which knows no such calls: memory of the allocator, and nothing to advise.
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
        // SAFETY: more than no bytes.
        NonNull::new(unsafe { alloc_zeroed(layout(bytes).filter(|layout| layout.size() > 0)?) })
    }

    pub(super) fn is_limited() -> bool {
        false
    }

    pub(super) fn is_mappable(_bytes: usize) -> bool {
        true
    }

    pub(super) fn reserve(_bytes: usize, _reserved: usize) -> Option<NonNull<u8>> {
        None
    }

    /// # Safety
    /// None is needed: nothing is done.
    pub(super) unsafe fn commit(_start: NonNull<u8>, _bytes: usize) -> bool {
        false
    }

    /// # Safety
    /// None is needed: nothing is done.
    pub(super) unsafe fn decommit(_start: NonNull<u8>, _bytes: usize) -> bool {
        false
    }

    /// # Safety
    /// None is needed: nothing is done.
    pub(super) unsafe fn unmap_end(_start: NonNull<u8>, _bytes: usize) -> bool {
        false
    }

    /// # Safety
    /// None is needed: nothing is done.
    pub(super) unsafe fn remap(_start: NonNull<u8>, _bytes: usize, _grown: usize) -> Option<NonNull<u8>> {
        None
    }

    /// # Safety
    /// The memory came from [`map`], and nobody uses it.
    pub(super) unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
        if let Some(layout) = layout(bytes) {
            // SAFETY: as the caller says; the layout is the one it was allocated with.
            unsafe { dealloc(start.as_ptr(), layout) };
        }
    }

    /// # Safety
    /// None is needed: nothing is done.
    pub(super) unsafe fn discard(_start: NonNull<u8>, _bytes: usize, _lazily: bool) {}

    pub(super) fn reuse(_start: NonNull<u8>, _bytes: usize) {}

    pub(super) fn advise_huge(_start: NonNull<u8>, _bytes: usize) {}
}
