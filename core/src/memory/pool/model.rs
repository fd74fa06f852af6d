//! Pools beside a naive model, over addresses that nobody ever writes: what tests and the fuzz target hold them to.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::shared::{Bounds, Shared};
use super::warm::PATIENCE;
use super::*;
use crate::lock::Std;

/// A pool that can be looked through as a whole.
pub trait Checked: Pool {
    /// Every invariant, by walking all there is.
    fn check_all(&self);

    /// That a block which is lent is where it was: a pool must not move it, nor cut it.
    fn check_lent(&self, _block: &Block) {}
}

/// Addresses that no other fake mapping has. They are never read or written.
#[derive(Debug)]
pub struct Addresses {
    start: usize,
    bytes: usize,
    reserved: usize,
}

impl Pages for Addresses {
    const MOVE: bool = true;

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
pub enum Act {
    /// So many bytes are wanted.
    Allocate(usize),
    /// Any of those that are lent comes back.
    PutBack(usize),
    /// Any of those that are lent gives up what is behind a part, in 256ths, of what was asked for.
    Shorten(usize, u8),
    /// So many bytes are to go.
    Reclaim(usize),
    /// So many bytes may stay warm.
    Settle {
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
    lent: BTreeMap<usize, (usize, usize, Block)>,
}

impl Model {
    fn add(&mut self, asked: usize, block: Block) {
        let start = block.start.as_ptr().addr();
        let end = start + block.bytes;
        assert!(block.bytes >= asked && start.is_multiple_of(512), "{block:?} for {asked} bytes");
        let before = self.lent.range(..end).next_back();
        assert!(before.is_none_or(|(_, (before_end, ..))| *before_end <= start), "{block:?} was lent already");
        self.lent.insert(start, (end, asked, block));
    }

    fn take(&mut self, which: usize) -> Option<(usize, Block)> {
        let start = *self.lent.keys().nth(which % self.lent.len().max(1))?;
        self.lent.remove(&start).map(|(_, asked, block)| (asked, block))
    }

    fn take_first(&mut self) -> Option<Block> {
        self.lent.pop_first().map(|(_, (.., block))| block)
    }

    fn bytes(&self) -> usize {
        self.lent.values().map(|(.., block)| block.bytes).sum()
    }
}

fn part_of(bytes: usize, part: u8) -> usize {
    bytes / 256 * usize::from(part) + bytes % 256 * usize::from(part) / 256
}

/// Does all of that to a pool whose mappings are `cap` bytes at most, and checks after each step that it is as the model says.
///
/// # Panics
/// When it is not.
pub fn drive(mut pool: impl Checked, acts: &[Act], cap: usize) {
    let mut model = Model::default();
    for &act in acts {
        match act {
            Act::Allocate(bytes) => {
                let room = cap - pool.books().mapped;
                let block = pool.scan(bytes).or_else(|| pool.map(bytes, room));
                match block {
                    Some(block) => model.add(bytes, block),
                    None => assert!(pool.needed(bytes) > room, "there was room"),
                }
            }
            Act::PutBack(which) => {
                if let Some((_, block)) = model.take(which) {
                    pool.put_back(block);
                }
            }
            Act::Shorten(which, part) => {
                if let Some((asked, mut block)) = model.take(which) {
                    let asked = part_of(asked, part);
                    pool.shorten(&mut block, asked);
                    model.add(asked, block);
                }
            }
            Act::Reclaim(bytes) => {
                let before = pool.books();
                let gone = pool.reclaim(bytes);
                assert_eq!(pool.books().mapped, before.mapped - gone);
            }
            Act::Settle { warm, off } => {
                for _ in 0..=PATIENCE {
                    pool.settle(warm, if off { Advice::Off } else { Advice::Free });
                }
                assert!(off || pool.books().warm <= warm);
            }
            Act::Trim => {
                pool.trim();
                assert_eq!(pool.books().warm, 0);
            }
        }
        let books = pool.books();
        assert_eq!(books.out, model.bytes(), "no byte is lost");
        assert_eq!(books.out + books.cached, books.mapped);
        assert!(books.mapped <= cap, "the cap is kept");
        pool.check_all();
        model.lent.values().for_each(|(.., block)| pool.check_lent(block));
    }
    while let Some(block) = model.take_first() {
        pool.put_back(block);
    }
    pool.check_all();
    pool.reclaim(usize::MAX);
    assert_eq!(pool.books(), Books::default(), "what is all free can all be given back");
}

/// The same for a pool that threads share: what comes back is handed back, `Reclaim` lowers the cap for a moment, and `Settle`
/// sets what may stay warm.
///
/// # Panics
/// When it is not as the model says.
pub fn drive_shared(pool: impl Checked + 'static, acts: &[Act], cap: usize) {
    let mut bounds = Bounds { cap, warm: 0, advice: Advice::Free };
    let (shared, mut model) = (Shared::<Std>::new(Box::new(pool), bounds), Model::default());
    for &act in acts {
        match act {
            Act::Allocate(bytes) => match shared.allocate(bytes, None) {
                Some(block) => model.add(bytes, block),
                // No pool maps more than the next power of two, or a mebibyte.
                None => assert!(shared.books().mapped + bytes.next_power_of_two().max(1 << 20) > cap, "there was room"),
            },
            Act::PutBack(which) => {
                if let Some((_, block)) = model.take(which) {
                    shared.hand_back(block);
                }
            }
            Act::Shorten(which, part) => {
                if let Some((asked, mut block)) = model.take(which) {
                    let asked = part_of(asked, part);
                    shared.shorten(&mut block, asked);
                    model.add(asked, block);
                }
            }
            Act::Reclaim(bytes) => {
                let before = shared.books().mapped;
                shared.set_bounds(Bounds { cap: before.saturating_sub(bytes), ..bounds });
                let books = shared.books();
                assert!(books.free == 0 && books.mapped <= before);
                shared.set_bounds(bounds);
            }
            Act::Settle { warm, off } => {
                bounds = Bounds { warm, advice: if off { Advice::Off } else { Advice::Free }, ..bounds };
                shared.set_bounds(bounds);
            }
            Act::Trim => {
                shared.trim();
                assert_eq!((shared.books().warm, shared.books().free), (0, 0));
            }
        }
        let books = shared.books();
        assert_eq!(books.lent, model.bytes(), "no byte is lost");
        assert_eq!(books.free + books.lent + books.cached, books.mapped);
        assert!(books.mapped <= cap, "the cap is kept");
    }
    while let Some(block) = model.take_first() {
        shared.hand_back(block);
    }
    shared.set_bounds(Bounds { cap: 0, ..bounds });
    assert_eq!(shared.books().mapped, 0, "what is all free can all be given back");
}
