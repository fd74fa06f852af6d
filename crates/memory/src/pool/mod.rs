//! Three kinds of pool that keep released memory, behind one trait.
//!
//! - [`split`]: blocks in three size classes, best fit, split and merged with their neighbours. The
//!   default.
//! - [`binned`]: blocks whose sizes are powers of two, never split or merged.
//! - [`off`]: keeps nothing; every block is a mapping of its own.
//!
//! A pool knows nothing about threads, the cap or its callers: `shared` calls it for each step of
//! an allocation. Debug builds check after every operation that `outstanding + cached == mapped`.

mod binned;
mod mappings;
mod split;
#[cfg(test)]
mod tests;
pub(crate) mod warm;

use std::ptr::NonNull;

pub use super::pages::Pages;
use super::pages::{Advice, Mapping};
pub use binned::Binned;
pub use split::Split;

#[cfg(feature = "testing")]
/// A pool that can check its own data structures.
pub trait CheckedPool: Pool {
    /// Checks every invariant by walking all blocks.
    fn check_all(&self);

    /// Checks that an outstanding block was neither moved nor cut.
    fn check_outstanding(&self, _block: &Block) {}
}

/// The kind of pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PoolKind {
    /// Blocks that are split and merged. The default.
    #[default]
    Split,
    /// Blocks whose sizes are powers of two.
    Binned,
}

impl PoolKind {
    /// A new pool of this kind.
    pub(super) fn pool(self) -> Box<dyn Pool> {
        match self {
            Self::Split => Box::new(Split::<Mapping>::default()),
            Self::Binned => Box::new(Binned::<Mapping>::default()),
        }
    }
}

/// An outstanding block. Its owner is the only user of these bytes until the block is released to
/// its pool.
#[derive(Debug)]
pub struct Block {
    /// The address of the first byte: a multiple of 512.
    pub start: NonNull<u8>,
    /// The size in bytes: the requested size, rounded up.
    pub bytes: usize,
    /// The number by which the pool identifies the block.
    pub id: u32,
}

// SAFETY: the block owns its memory exclusively, like a box.
unsafe impl Send for Block {}

/// The memory of a pool in bytes: `outstanding + cached == mapped` and `warm <= cached`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolUsage {
    /// Bytes mapped from the system.
    pub mapped: usize,
    /// Bytes of outstanding blocks.
    pub outstanding: usize,
    /// Bytes that can be allocated again.
    pub cached: usize,
    /// The part of `cached` that keeps its pages, without blocks of less than 64 KiB.
    pub warm: usize,
}

/// A pool of memory blocks.
pub trait Pool: Send {
    /// Allocates the best fit among the cached blocks; `None` if none is large enough.
    fn scan(&mut self, bytes: usize) -> Option<Block>;

    /// The minimum number of bytes that [`Self::map`] would have to map.
    fn needed(&self, bytes: usize) -> usize;

    /// Allocates a block from newly mapped memory of at most `available` bytes.
    fn map(&mut self, bytes: usize, available: usize) -> Option<Block>;

    /// Releases a block of this pool. Pools that merge blocks merge it with its free neighbours.
    fn release(&mut self, block: Block);

    /// Releases the end of a block of which only `bytes` are needed. Pools that do not split blocks
    /// do nothing.
    fn shrink(&mut self, block: &mut Block, bytes: usize);

    /// Unmaps cached memory until `bytes` are unmapped: first mappings without outstanding blocks,
    /// from the largest size class to the smallest, then free blocks at the ends of other mappings.
    /// Returns the number of bytes unmapped.
    fn reclaim(&mut self, bytes: usize) -> usize;

    /// Decommits cached blocks until at most `warm` bytes keep their pages. Blocks that were
    /// released in the last [`warm::MIN_WARM_ROUNDS`] calls stay warm; of the oldest blocks, the
    /// smallest go first. May also unmap mappings that have been unused for a long time.
    fn decommit_cold(&mut self, warm: usize, advice: Advice);

    /// Decommits all cached blocks.
    fn decommit_all(&mut self, advice: Advice);

    /// Unmaps or decommits all cached memory.
    fn trim(&mut self) {
        self.reclaim(usize::MAX);
        self.decommit_all(Advice::DontNeed);
    }

    /// The memory in use.
    fn usage(&self) -> PoolUsage;
}
