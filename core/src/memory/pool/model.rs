//! Pools beside a naive model, over addresses that nobody ever writes: what tests and the fuzz target hold them to.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::shared::{Bounds, SharedPool};
use super::warm::MIN_WARM_ROUNDS;
use super::*;
use crate::lock::Std;

/// A pool that can be looked through as a whole.
pub trait CheckedPool: Pool {
    /// Every invariant, by walking all there is.
    fn check_all(&self);

    /// That a block which is lent is where it was: a pool must not move it, nor cut it.
    fn check_outstanding(&self, _block: &Block) {}
}

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

/// What is done to a pool.
#[derive(Debug, Clone, Copy)]
pub enum PoolOp {
    /// So many bytes are wanted.
    Allocate(usize),
    /// Any of those that are lent comes back.
    Release(usize),
    /// Any of those that are lent gives up what is behind a part, in 256ths, of what was asked for.
    Shrink(usize, u8),
    /// So many bytes are to go.
    Reclaim(usize),
    /// So many bytes may stay warm.
    DecommitCold {
        /// How many.
        warm: usize,
        /// Whether pages are left alone.
        off: bool,
    },
    /// Everything that is free is to go.
    Trim,
}

/// What is lent, by address: its end, and what was asked for.
#[derive(Debug, Default)]
struct Model {
    blocks: BTreeMap<usize, (usize, usize, Block)>,
}

impl Model {
    fn add(&mut self, asked: usize, block: Block) {
        let start = block.start.as_ptr().addr();
        let end = start + block.bytes;
        assert!(block.bytes >= asked && start.is_multiple_of(512), "{block:?} for {asked} bytes");
        let before = self.blocks.range(..end).next_back();
        assert!(before.is_none_or(|(_, (before_end, ..))| *before_end <= start), "{block:?} was lent already");
        self.blocks.insert(start, (end, asked, block));
    }

    fn take(&mut self, which: usize) -> Option<(usize, Block)> {
        let start = *self.blocks.keys().nth(which % self.blocks.len().max(1))?;
        self.blocks.remove(&start).map(|(_, asked, block)| (asked, block))
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

/// Does all of that to a pool whose mappings are `cap` bytes at most, and checks after each step that it is as the model says.
///
/// # Panics
/// When it is not.
pub fn drive(mut pool: impl CheckedPool, acts: &[PoolOp], cap: usize) {
    let mut model = Model::default();
    for &act in acts {
        match act {
            PoolOp::Allocate(bytes) => {
                let room = cap - pool.usage().mapped;
                let block = pool.scan(bytes).or_else(|| pool.map(bytes, room));
                match block {
                    Some(block) => model.add(bytes, block),
                    None => assert!(pool.needed(bytes) > room, "there was room"),
                }
            }
            PoolOp::Release(which) => {
                if let Some((_, block)) = model.take(which) {
                    pool.release(block);
                }
            }
            PoolOp::Shrink(which, part) => {
                if let Some((asked, mut block)) = model.take(which) {
                    let asked = part_of(asked, part);
                    pool.shrink(&mut block, asked);
                    model.add(asked, block);
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

/// The same for a pool that threads share: what comes back is handed back, `Reclaim` lowers the cap for a moment, and `Settle`
/// sets what may stay warm.
///
/// # Panics
/// When it is not as the model says.
pub fn drive_shared(pool: impl CheckedPool + 'static, acts: &[PoolOp], cap: usize) {
    let mut bounds = Bounds { cap, warm: 0, advice: Advice::Free };
    let (shared, mut model) = (SharedPool::<Std>::new(Box::new(pool), bounds), Model::default());
    for &act in acts {
        match act {
            PoolOp::Allocate(bytes) => match shared.allocate(bytes, None) {
                Some(block) => model.add(bytes, block),
                // No pool maps more than the next power of two, or a mebibyte.
                None => assert!(shared.usage().mapped + bytes.next_power_of_two().max(1 << 20) > cap, "there was room"),
            },
            PoolOp::Release(which) => {
                if let Some((_, block)) = model.take(which) {
                    shared.release(block);
                }
            }
            PoolOp::Shrink(which, part) => {
                if let Some((asked, mut block)) = model.take(which) {
                    let asked = part_of(asked, part);
                    shared.shrink(&mut block, asked);
                    model.add(asked, block);
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
