//! A naive model of a pool, over addresses without memory. Tests and the fuzz target compare each
//! pool with it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::lock::Std;
use crate::pages::Advice;
use crate::pool::warm::MIN_WARM_ROUNDS;
use crate::pool::*;
use crate::shared::{Bounds, SharedPool};

/// Addresses that no other fake mapping has. They are never read or written.
#[derive(Debug)]
pub struct FakePages {
    start: usize,
    bytes: usize,
    reserved: usize,
}

impl Pages for FakePages {
    const CAN_MOVE: bool = true;

    fn new(bytes: usize, reserved: usize) -> Option<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(1 << 20);
        let bytes = bytes.next_multiple_of(4096);
        let reserved = reserved.next_multiple_of(4096).max(bytes);
        Some(Self { start: NEXT.fetch_add(reserved, Ordering::Relaxed), bytes, reserved })
    }

    fn start(&self) -> NonNull<u8> {
        NonNull::new(std::ptr::without_provenance_mut(self.start)).expect("not null")
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn reserved(&self) -> usize {
        self.reserved
    }

    unsafe fn grow(&mut self, bytes: usize) -> bool {
        let bytes = bytes.next_multiple_of(4096);
        match bytes <= self.reserved {
            true => self.bytes = bytes.max(self.bytes),
            false => *self = Self::new(bytes, 0).expect("there are always more"),
        }
        true
    }

    unsafe fn shrink(&mut self, bytes: usize) -> bool {
        let bytes = bytes.next_multiple_of(4096);
        assert!(bytes > 0);
        if self.bytes == self.reserved {
            self.reserved = bytes.min(self.bytes);
        }
        self.bytes = bytes.min(self.bytes);
        true
    }

    unsafe fn discard(&self, range: Range<usize>, _advice: Advice) {
        assert!(range.start < range.end && range.end <= self.bytes);
    }

    fn reuse(&self, range: Range<usize>) {
        assert!(range.start < range.end && range.end <= self.bytes);
    }
}

/// An operation on a pool.
#[derive(Debug, Clone, Copy)]
pub enum PoolOp {
    /// Allocate this number of bytes.
    Allocate(usize),
    /// Release the outstanding block with this index, modulo their number.
    Release(usize),
    /// Shrink the outstanding block with this index, modulo their number, to a fraction of its
    /// requested size, in 256ths.
    Shrink(usize, u8),
    /// Unmap at least this number of bytes.
    Reclaim(usize),
    /// Decommit cached blocks until at most this number of bytes is warm.
    DecommitCold {
        /// The maximum number of warm bytes.
        warm: usize,
        /// Whether the advice is [`Advice::Off`].
        off: bool,
    },
    /// Return all cached memory to the system.
    Trim,
}

/// The outstanding blocks by address: the end address, the requested size, and the block.
#[derive(Debug, Default)]
struct Outstanding {
    blocks: BTreeMap<usize, (usize, usize, Block)>,
}

impl Outstanding {
    fn add(&mut self, requested: usize, block: Block) {
        let start = block.start.as_ptr().addr();
        let end = start + block.bytes;
        assert!(block.bytes >= requested && start.is_multiple_of(512), "{block:?} for {requested} bytes");
        let before = self.blocks.range(..end).next_back();
        assert!(before.is_none_or(|(_, (before_end, ..))| *before_end <= start), "{block:?} was allocated already");
        self.blocks.insert(start, (end, requested, block));
    }

    fn take(&mut self, which: usize) -> Option<(usize, Block)> {
        let start = *self.blocks.keys().nth(which % self.blocks.len().max(1))?;
        self.blocks.remove(&start).map(|(_, requested, block)| (requested, block))
    }

    fn take_first(&mut self) -> Option<Block> {
        self.blocks.pop_first().map(|(_, (.., block))| block)
    }

    fn bytes(&self) -> usize {
        self.blocks.values().map(|(.., block)| block.bytes).sum()
    }
}

fn part_of(bytes: usize, part: u8) -> usize {
    bytes / 256 * usize::from(part) + bytes % 256 * usize::from(part) / 256
}

/// Applies operations to a pool that may map at most `cap` bytes. Checks after each that the pool
/// agrees with the model.
///
/// # Panics
/// If they disagree.
pub fn drive(mut pool: impl CheckedPool, ops: &[PoolOp], cap: usize) {
    let mut model = Outstanding::default();
    for &op in ops {
        match op {
            PoolOp::Allocate(bytes) => {
                let free = cap - pool.usage().mapped;
                let block = pool.scan(bytes).or_else(|| pool.map(bytes, free));
                match block {
                    Some(block) => model.add(bytes, block),
                    None => assert!(pool.needed(bytes) > free, "there was room"),
                }
            }
            PoolOp::Release(which) => {
                if let Some((_, block)) = model.take(which) {
                    pool.release(block);
                }
            }
            PoolOp::Shrink(which, part) => {
                if let Some((requested, mut block)) = model.take(which) {
                    let requested = part_of(requested, part);
                    pool.shrink(&mut block, requested);
                    model.add(requested, block);
                }
            }
            PoolOp::Reclaim(bytes) => {
                let before = pool.usage();
                let gone = pool.reclaim(bytes);
                assert_eq!(pool.usage().mapped, before.mapped - gone);
            }
            PoolOp::DecommitCold { warm, off } => {
                for _ in 0..=MIN_WARM_ROUNDS {
                    pool.decommit_cold(warm, if off { Advice::Off } else { Advice::Free });
                }
                assert!(off || pool.usage().warm <= warm);
            }
            PoolOp::Trim => {
                pool.trim();
                assert_eq!(pool.usage().warm, 0);
            }
        }
        let usage = pool.usage();
        assert_eq!(usage.outstanding, model.bytes(), "no byte is lost");
        assert_eq!(usage.outstanding + usage.cached, usage.mapped);
        assert!(usage.mapped <= cap, "the cap is kept");
        pool.check_all();
        model.blocks.values().for_each(|(.., block)| pool.check_outstanding(block));
    }
    while let Some(block) = model.take_first() {
        pool.release(block);
    }
    pool.check_all();
    pool.reclaim(usize::MAX);
    assert_eq!(pool.usage(), PoolUsage::default(), "what is all free can all be given back");
}

/// Like [`drive`], for a pool that threads share. `Reclaim` lowers the cap temporarily, and
/// `DecommitCold` sets the maximum number of warm bytes.
///
/// # Panics
/// If the pool and the model disagree.
pub fn drive_shared(pool: impl CheckedPool + 'static, ops: &[PoolOp], cap: usize) {
    let mut bounds = Bounds { cap, warm: 0, advice: Advice::Free };
    let (shared, mut model) = (SharedPool::<Std>::new(Box::new(pool), bounds), Outstanding::default());
    for &op in ops {
        match op {
            PoolOp::Allocate(bytes) => match shared.allocate(bytes, None) {
                Some(block) => model.add(bytes, block),
                // No pool maps more than the next power of two or 1 MiB, whichever is larger.
                None => assert!(shared.usage().mapped + bytes.next_power_of_two().max(1 << 20) > cap, "there was room"),
            },
            PoolOp::Release(which) => {
                if let Some((_, block)) = model.take(which) {
                    shared.release(block);
                }
            }
            PoolOp::Shrink(which, part) => {
                if let Some((requested, mut block)) = model.take(which) {
                    let requested = part_of(requested, part);
                    shared.shrink(&mut block, requested);
                    model.add(requested, block);
                }
            }
            PoolOp::Reclaim(bytes) => {
                let before = shared.usage().mapped;
                shared.set_bounds(Bounds { cap: before.saturating_sub(bytes), ..bounds });
                let usage = shared.usage();
                assert!(usage.free == 0 && usage.mapped <= before);
                shared.set_bounds(bounds);
            }
            PoolOp::DecommitCold { warm, off } => {
                bounds = Bounds { warm, advice: if off { Advice::Off } else { Advice::Free }, ..bounds };
                shared.set_bounds(bounds);
            }
            PoolOp::Trim => {
                shared.trim();
                assert_eq!((shared.usage().warm, shared.usage().free), (0, 0));
            }
        }
        let usage = shared.usage();
        assert_eq!(usage.outstanding, model.bytes(), "no byte is lost");
        assert_eq!(usage.free + usage.outstanding + usage.cached, usage.mapped);
        assert!(usage.mapped <= cap, "the cap is kept");
    }
    while let Some(block) = model.take_first() {
        shared.release(block);
    }
    shared.set_bounds(Bounds { cap: 0, ..bounds });
    assert_eq!(shared.usage().mapped, 0, "what is all free can all be given back");
}
