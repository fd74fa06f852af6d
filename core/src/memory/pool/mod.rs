//! Three ways to keep memory that comes back, behind one trait.
//!
//! - [`split`]: blocks in three classes of size, best fit, split and merged with their neighbours. The default.
//! - [`binned`]: blocks of powers of two, never split or merged.
//! - [`off`]: nothing is kept; every block is a mapping of its own.
//!
//! A pool knows nothing of threads, of a cap or of who asks: `shared` takes it through the steps of an allocation. It
//! keeps books, and in debug builds every step checks them: `out + cached == mapped`.

mod binned;
mod mappings;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod model;
mod off;
mod split;
#[cfg(test)]
mod tests;
mod warm;

use std::ops::Range;
use std::ptr::NonNull;

use super::pages::{Advice, Mapping};
pub use binned::Binned;
pub use off::Off;
pub use split::Split;

/// Which pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Blocks that are split and merged.
    #[default]
    Split,
    /// Blocks of powers of two.
    Binned,
    /// Nothing is kept.
    Off,
}

impl Kind {
    /// A new pool of this kind.
    pub(super) fn pool(self) -> Box<dyn Pool> {
        match self {
            Self::Split => Box::new(Split::<Mapping>::default()),
            Self::Binned => Box::new(Binned::<Mapping>::default()),
            Self::Off => Box::new(Off::<Mapping>::default()),
        }
    }
}

/// Memory that was lent. Whoever has it is the only one to use these bytes, until it is put back into its pool.
#[derive(Debug)]
pub struct Block {
    /// Where it starts: a multiple of 512.
    pub start: NonNull<u8>,
    /// How long it is: what was asked for, rounded up.
    pub bytes: usize,
    /// What its pool knows it by.
    pub id: u32,
}

// SAFETY: the memory is the block's alone, as a box's is.
unsafe impl Send for Block {}

/// A pool's books, in bytes: `out + cached == mapped` and `warm <= cached`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolUsage {
    /// What the pool has from the system.
    pub mapped: usize,
    /// What it has given out.
    pub outstanding: usize,
    /// What can be given out again.
    pub cached: usize,
    /// What of that keeps its pages, small blocks left aside.
    pub warm: usize,
}

/// Keeps blocks of memory.
pub trait Pool: Send {
    /// Gives out the block that fits best among those that are there.
    fn scan(&mut self, bytes: usize) -> Option<Block>;

    /// How many bytes [`Self::map`] would have to map, at least.
    fn needed(&self, bytes: usize) -> usize;

    /// Gives out a block from a new mapping of no more than `room` bytes.
    fn map(&mut self, bytes: usize, room: usize) -> Option<Block>;

    /// Takes back a block that it gave out, and merges it with neighbours where it does that.
    fn release(&mut self, block: Block);

    /// Takes back the end of a block that turned out longer than needed, if it does that. `bytes` are needed.
    fn shrink(&mut self, block: &mut Block, bytes: usize);

    /// Unmaps whole mappings of which nothing is out until so many bytes are gone: huge ones first, then large, then
    /// small; then what is free at the end of others. Says how many bytes that were.
    fn reclaim(&mut self, bytes: usize) -> usize;

    /// Discards the pages of what is cached beyond `warm` bytes, the largest recent blocks left aside, and only of blocks that
    /// were not wanted for some rounds of this; and unmaps what has not been wanted for long.
    fn decommit_cold(&mut self, warm: usize, advice: Advice);

    /// Unmaps or discards the pages of all that is cached.
    fn trim(&mut self);

    /// The books.
    fn usage(&self) -> PoolUsage;
}

/// Memory that pools cut up: pages of the system, or in tests anything that has addresses.
pub trait Pages: Sized + Send {
    /// Whether they can grow beyond what is reserved.
    const CAN_MOVE: bool;
    /// Pages for so many bytes, with so many reserved.
    fn new(bytes: usize, reserved: usize) -> Option<Self>;
    /// Where they start.
    fn start(&self) -> NonNull<u8>;
    /// How many bytes they are.
    fn bytes(&self) -> usize;
    /// How many they can become where they are.
    fn reserved(&self) -> usize;
    /// Makes them more: where they are, or beyond what is reserved elsewhere, with the same content. False if that cannot be.
    ///
    /// # Safety
    /// If they are more than what is reserved, nobody uses them.
    unsafe fn grow(&mut self, bytes: usize) -> bool;
    /// Gives back what is behind the first `bytes` bytes; false if nothing was.
    ///
    /// # Safety
    /// Nobody uses what is there.
    unsafe fn shrink(&mut self, bytes: usize) -> bool;
    /// Says that the bytes of a range do not matter.
    ///
    /// # Safety
    /// Nobody relies on what the bytes of the range are, until they are written again.
    unsafe fn discard(&self, range: Range<usize>, advice: Advice);
    /// Says that discarded bytes are about to be written.
    fn reuse(&self, range: Range<usize>);
}

impl Pages for Mapping {
    const CAN_MOVE: bool = Self::CAN_MOVE;

    fn new(bytes: usize, reserved: usize) -> Option<Self> {
        Self::with_reserved(bytes, reserved)
    }

    fn start(&self) -> NonNull<u8> {
        self.start()
    }

    fn bytes(&self) -> usize {
        self.bytes()
    }

    fn reserved(&self) -> usize {
        self.reserved()
    }

    unsafe fn grow(&mut self, bytes: usize) -> bool {
        // SAFETY: as the caller says.
        unsafe { self.grow(bytes) }
    }

    unsafe fn shrink(&mut self, bytes: usize) -> bool {
        // SAFETY: as the caller says.
        unsafe { self.shrink(bytes) }
    }

    unsafe fn discard(&self, range: Range<usize>, advice: Advice) {
        // SAFETY: as the caller says.
        unsafe { self.discard(range, advice) };
    }

    fn reuse(&self, range: Range<usize>) {
        self.reuse(range);
    }
}
