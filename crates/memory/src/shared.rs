//! A pool that threads share: the steps of an allocation, and the release of blocks.
//!
//! # Releasing
//!
//! Blocks are released on any thread, by finalizers too, and a release must not wait for a thread
//! that maps memory. So a released block goes to a list with a lock of its own, which is held for
//! one push. An allocation that does not find a block at once drains the list into the pool. Locks
//! are taken in the order pool, list; a release takes the list's lock only.
//!
//! # Bounds
//!
//! The pool maps at most the cap, and at most six fifths of the peak of outstanding memory: cached
//! memory is unmapped before new memory is mapped. Whenever a multiple of the peak was released,
//! cached memory is unmapped until six fifths of the [recent peak](RecentPeak) are mapped.
//!
//! # Allocating
//!
//! An allocation takes these steps until it has a block: scan the cached blocks; drain the list,
//! which merges adjacent blocks, and scan again (a large allocation drains first, so that no block
//! is split for it while a better one is in the list); unmap cached memory above the bound, and map
//! a new block; request a quick collection and try again; request a full collection and try again.
//! If all fail the pool is at its cap, and the caller gets memory from elsewhere.

use std::mem::MaybeUninit;
use std::sync::Arc;

use super::Stats;
use super::clock::Instant;
use super::pages::Advice;
use super::pool::{Block, Pool, PoolUsage};
use super::steps::{AllocStep, AllocSteps, StepCost};
use crate::lock::{Lock, Locks, Std};

/// An owner of blocks that can release unreachable ones on request, such as a garbage collector.
pub trait Collector: Send + Sync {
    /// Requests a collection. Returns whether it may have released blocks already. Must neither
    /// wait for another thread nor allocate from the pool.
    fn collect(&self, how: Collection) -> bool;
}

/// How thorough a collection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collection {
    /// Of young objects.
    Quick,
    /// Of all objects.
    Full,
}

impl Collection {
    /// The step of an allocation that requests it.
    pub fn step(self) -> AllocStep {
        match self {
            Self::Quick => AllocStep::QuickCollection,
            Self::Full => AllocStep::FullCollection,
        }
    }
}

/// Allocations of this size or more drain the list before they scan: 64 KiB. For smaller ones that
/// would be most of the work.
const EAGER_MERGE_BYTES: usize = 64 << 10;

/// The list of released blocks keeps at most this capacity.
const KEPT_CAPACITY: usize = 4096;

/// The limits of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    /// The maximum number of bytes mapped.
    pub(super) cap: usize,
    /// The maximum number of bytes of cached blocks that keep their pages.
    pub(super) warm: usize,
    pub(super) advice: Advice,
}

struct PoolState {
    pool: Box<dyn Pool>,
    bounds: Bounds,
    steps: AllocSteps,
    /// Empty. Swapped with the list of released blocks by a drain, so that both keep their
    /// capacity.
    drained: Vec<Block>,
    peak_out: usize,
    recent: RecentPeak,
}

/// The peak of outstanding bytes in the current period and in the one before. A period ends when
/// [`RecentPeak::TURNOVER`] times its peak was released, so that its length follows the size of the
/// batches: 4 to 20 batches.
#[derive(Debug, Default)]
struct RecentPeak {
    released: usize,
    current: usize,
    previous: usize,
}

impl RecentPeak {
    const TURNOVER: usize = 4;

    /// Records that `released` bytes of `out` outstanding ones were released. Returns whether a
    /// period ended.
    fn record(&mut self, out: usize, released: usize) -> bool {
        self.current = self.current.max(out);
        self.released += released;
        let has_ended = self.released / Self::TURNOVER >= self.current;
        if has_ended {
            *self = Self { released: 0, current: out - released, previous: self.current };
        }
        has_ended
    }

    fn bytes(&self) -> usize {
        self.current.max(self.previous)
    }
}

/// This fraction of the peak of outstanding bytes may be mapped in addition: 1/5.
const SPARE_SHARE: usize = 5;

/// How much may be mapped for a peak of `out` outstanding bytes.
fn with_spare(out: usize) -> usize {
    out.saturating_add(out / SPARE_SHARE)
}

/// This much may stay mapped in any case: 16 MiB.
const MIN_MAPPED_BOUND: usize = 16 << 20;

/// This fraction of the recent peak may stay warm, if that is more than the bound: 1/2.
const WARM_SHARE: usize = 2;

/// Blocks that were released and not drained yet. Invariant: `bytes` is the sum of their sizes.
#[derive(Default)]
struct ReturnedBlocks {
    blocks: Vec<Block>,
    bytes: usize,
}

/// A pool that threads share. See the module documentation.
pub(super) struct SharedPool<L: Locks> {
    state: L::Of<PoolState>,
    returned: L::Of<ReturnedBlocks>,
}

impl<L: Locks> SharedPool<L> {
    pub(super) fn new(pool: Box<dyn Pool>, bounds: Bounds) -> Self {
        let (steps, drained, recent) = (AllocSteps::default(), vec![], RecentPeak::default());
        let state = PoolState { pool, bounds, steps, drained, peak_out: 0, recent };
        Self { state: L::Of::new(state), returned: L::Of::new(ReturnedBlocks::default()) }
    }

    /// Allocates a block of at least `bytes`.
    pub(super) fn allocate(&self, bytes: usize, collector: Option<&dyn Collector>) -> Option<Block> {
        self.state.with(|state| {
            let mut found = self.try_allocate(state, bytes);
            for how in [Collection::Quick, Collection::Full] {
                if found.is_some() || !collector.is_some_and(|collector| collector.collect(how)) {
                    continue;
                }
                found = self.try_allocate(state, bytes);
            }
            if found.is_none() {
                state.steps.add(AllocStep::Copy, StepCost { count: 1, helped: 1, ..StepCost::default() });
            }
            found
        })
    }

    /// All steps but the collections.
    fn try_allocate(&self, state: &mut PoolState, bytes: usize) -> Option<Block> {
        if bytes >= EAGER_MERGE_BYTES
            && let Some(mut since) = self.drain_returned(state)
        {
            state.steps.record(AllocStep::Merge, false, &mut since);
        }
        let PoolState { pool, steps, peak_out, .. } = state;
        let since = steps.start_scan();
        let found = pool.scan(bytes);
        steps.record_scan(found.is_some(), since);
        if found.is_some() {
            if bytes >= EAGER_MERGE_BYTES {
                *peak_out = pool.usage().outstanding.max(*peak_out);
            }
            return found;
        }
        if let Some(mut since) = self.drain_returned(state) {
            let PoolState { pool, steps, .. } = state;
            let found = pool.scan(bytes);
            steps.record(AllocStep::Merge, found.is_some(), &mut since);
            if found.is_some() {
                return found;
            }
        }
        // The list is drained, so all blocks that the pool counts as outstanding are in use.
        let mut since = Instant::now();
        let PoolState { pool, bounds, steps, peak_out, .. } = state;
        let wanted = pool.needed(bytes).max(bytes).min(bounds.cap);
        let peak_with_block = (*peak_out).max(pool.usage().outstanding.saturating_add(wanted));
        let bound = bounds.cap.min(with_spare(peak_with_block));
        loop {
            let PoolUsage { mapped, cached, .. } = pool.usage();
            let excess = mapped.saturating_add(pool.needed(bytes)).saturating_sub(bound).min(cached);
            let gone = if excess > 0 { pool.reclaim(excess) } else { break };
            steps.record(AllocStep::Reclaim, gone > 0, &mut since);
            if gone == 0 {
                break;
            }
        }
        let found = pool.map(bytes, bounds.cap.saturating_sub(pool.usage().mapped));
        if found.is_some() {
            *peak_out = peak_with_block;
        }
        steps.record(AllocStep::Map, found.is_some(), &mut since);
        found
    }

    /// Drains released blocks into the pool. Returns when it started; `None` if there were none.
    fn drain_returned(&self, state: &mut PoolState) -> Option<Instant> {
        let PoolState { pool, bounds, drained, recent, .. } = state;
        debug_assert!(drained.is_empty());
        let released = self.returned.with(|returned| {
            std::mem::swap(&mut returned.blocks, drained);
            std::mem::take(&mut returned.bytes)
        });
        if drained.is_empty() {
            return None;
        }
        let since = Instant::now();
        let period_ended = recent.record(pool.usage().outstanding, released);
        drained.drain(..).for_each(|block| pool.release(block));
        drained.shrink_to(KEPT_CAPACITY);
        // A lowered cap is reached as blocks are released, and a single peak is not kept forever.
        let bound = if period_ended { with_spare(recent.bytes()).max(MIN_MAPPED_BOUND) } else { usize::MAX };
        let excess = pool.usage().mapped.saturating_sub(bounds.cap.min(bound));
        if excess > 0 {
            pool.reclaim(excess);
        }
        pool.decommit_cold(bounds.warm.max(recent.bytes() / WARM_SHARE), bounds.advice);
        Some(since)
    }

    /// Releases a block.
    pub(super) fn release(&self, block: Block) {
        self.returned.with(|returned| {
            returned.bytes += block.bytes;
            returned.blocks.push(block);
        });
    }

    /// Releases the end of a block.
    pub(super) fn shrink(&self, block: &mut Block, bytes: usize) {
        self.state.with(|state| state.pool.shrink(block, bytes));
    }

    /// Decommits all cached blocks, unless the advice is to keep their pages.
    pub(super) fn decommit(&self) {
        self.state.with(|state| {
            self.drain_returned(state);
            if state.bounds.advice != Advice::Off {
                state.pool.decommit_all(state.bounds.advice);
            }
        });
    }

    /// Returns all memory that is not outstanding to the system.
    pub(super) fn trim(&self) {
        self.state.with(|state| {
            self.drain_returned(state);
            state.pool.trim();
        });
    }

    /// Changes the limits. Memory beyond a lower cap is unmapped when it is released.
    pub(super) fn set_bounds(&self, bounds: Bounds) {
        self.state.with(|state| {
            state.bounds = bounds;
            self.drain_returned(state);
            let excess = state.pool.usage().mapped.saturating_sub(bounds.cap);
            state.pool.reclaim(excess);
        });
    }

    /// Records the cost of a step that was taken elsewhere.
    pub(super) fn record(&self, step: AllocStep, taken: StepCost) {
        self.state.with(|state| state.steps.add(step, taken));
    }

    pub(super) fn steps(&self) -> AllocSteps {
        self.state.with(|state| state.steps)
    }

    pub(super) fn usage(&self) -> Stats {
        self.state.with(|state| {
            let PoolUsage { mapped, outstanding: out, cached, warm } = state.pool.usage();
            let free = self.returned.with(|returned| returned.bytes);
            let (outstanding, peak_outstanding, cap) = (out - free, state.peak_out, state.bounds.cap);
            let usage = Stats { mapped, outstanding, free, cached, warm, peak_outstanding, cap };
            debug_assert_eq!(usage.free + usage.outstanding + usage.cached, usage.mapped);
            usage
        })
    }
}

/// An outstanding block. Released to its pool, which it keeps alive, when it is dropped.
pub struct BlockGuard {
    block: Option<Block>,
    pool: Arc<SharedPool<Std>>,
}

impl BlockGuard {
    pub(super) fn new(block: Block, pool: Arc<SharedPool<Std>>) -> Self {
        Self { block: Some(block), pool }
    }

    pub(super) fn block(&self) -> &Block {
        self.block.as_ref().expect("a block has a guard until it is dropped")
    }

    /// The block's bytes: the size that was allocated, rounded up. Their values are unspecified.
    pub fn bytes_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        let block = self.block();
        // SAFETY: the pool gives a block to one owner at a time, which is `self` until it is
        // dropped. The bytes are mapped, and `MaybeUninit` needs no initialization.
        unsafe { std::slice::from_raw_parts_mut(block.start.as_ptr().cast(), block.bytes) }
    }

    /// Releases what lies after the first `bytes` bytes.
    pub(super) fn shrink(&mut self, bytes: usize) {
        if let Some(block) = &mut self.block {
            self.pool.shrink(block, bytes);
        }
    }
}

impl Drop for BlockGuard {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            self.pool.release(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::lock::Loom;
    use crate::pool::{PoolKind, Split};
    use crate::testing::FakePages;

    const MIB: usize = 1 << 20;

    fn bounds(cap: usize) -> Bounds {
        Bounds { cap, warm: MIB, advice: Advice::Free }
    }

    /// Two finalizers release blocks while a worker allocates: no block is allocated twice and none
    /// is lost.
    #[test]
    fn blocks_are_released_in_every_interleaving() {
        loom::model(|| {
            let pool = Box::new(Split::<FakePages>::default());
            let shared = loom::sync::Arc::new(SharedPool::<Loom>::new(pool, bounds(4 * MIB)));
            let [first, second] =
                [2 * MIB, 2 * MIB].map(|bytes| shared.allocate(bytes, None).expect("there is memory"));
            let places = BTreeSet::from([first.start, second.start].map(|start| start.as_ptr().addr()));
            let finalizers = [first, second].map(|block| {
                let shared = loom::sync::Arc::clone(&shared);
                loom::thread::spawn(move || shared.release(block))
            });
            let early = shared.allocate(2 * MIB, None);
            for finalizer in finalizers {
                finalizer.join().expect("no panic");
            }
            let late = shared.allocate(2 * MIB, None);
            let outstanding: Vec<usize> =
                [&early, &late].into_iter().flatten().map(|block| block.start.as_ptr().addr()).collect();
            assert!(late.is_some(), "at least one of two is free after both were released");
            assert_eq!(
                outstanding.iter().collect::<BTreeSet<_>>().len(),
                outstanding.len(),
                "no block is outstanding twice"
            );
            assert!(outstanding.iter().all(|place| places.contains(place)), "the cap allows no other blocks");
            let usage = shared.usage();
            assert_eq!((usage.outstanding, usage.mapped), (outstanding.len() * 2 * MIB, 4 * MIB));
            for block in [early, late].into_iter().flatten() {
                shared.release(block);
            }
            shared.trim();
            assert_eq!(shared.usage().mapped, 0, "no byte is lost");
        });
    }

    /// A finalizer releases a block while another thread trims or lowers the cap: the equation
    /// always holds.
    #[test]
    fn the_equation_holds_in_every_interleaving() {
        for lowers_cap in [false, true] {
            loom::model(move || {
                let pool = Box::new(Split::<FakePages>::default());
                let shared = loom::sync::Arc::new(SharedPool::<Loom>::new(pool, bounds(8 * MIB)));
                let [first, second] =
                    [2 * MIB, 2 * MIB].map(|bytes| shared.allocate(bytes, None).expect("there is memory"));
                let finalizer = loom::thread::spawn({
                    let shared = loom::sync::Arc::clone(&shared);
                    move || shared.release(first)
                });
                let other = loom::thread::spawn({
                    let shared = loom::sync::Arc::clone(&shared);
                    move || if lowers_cap { shared.set_bounds(bounds(2 * MIB)) } else { shared.trim() }
                });
                let usage = shared.usage();
                assert_eq!(usage.free + usage.outstanding + usage.cached, usage.mapped);
                assert!((2 * MIB..=4 * MIB).contains(&usage.outstanding), "{usage:?}");
                finalizer.join().expect("no panic");
                other.join().expect("no panic");
                let usage = shared.usage();
                assert_eq!((usage.outstanding, usage.free + usage.outstanding + usage.cached), (2 * MIB, usage.mapped));
                shared.release(second);
                shared.trim();
                assert_eq!(shared.usage().mapped, 0, "no byte is lost");
            });
        }
    }

    fn shared(kind: PoolKind, cap: usize) -> SharedPool<Std> {
        SharedPool::new(kind.pool(), bounds(cap))
    }

    #[test]
    #[cfg_attr(any(miri, not(unix)), ignore = "mappings grow where addresses can be reserved")]
    fn an_allocation_goes_through_the_steps_in_order() {
        let shared = shared(PoolKind::Split, 8 * MIB);
        let helped = |step| shared.steps().of(step).helped;
        let allocate = |bytes| shared.allocate(bytes, None);
        let first = allocate(4 * MIB).expect("mapped");
        assert_eq!(helped(AllocStep::Map), 1);
        shared.release(first);
        let again = allocate(4 * MIB).expect("merged and found");
        assert_eq!((helped(AllocStep::Map), helped(AllocStep::Scan)), (1, 1));
        shared.release(again);
        let half = allocate(2 * MIB).expect("merged and split");
        let other = allocate(2 * MIB).expect("the other half");
        assert_eq!((shared.steps().of(AllocStep::Merge).count, helped(AllocStep::Scan)), (2, 3));
        [half, other].into_iter().for_each(|block| shared.release(block));
        let large = allocate(6 * MIB).expect("the block of 4 MiB grew");
        assert_eq!((helped(AllocStep::Reclaim), helped(AllocStep::Map), shared.usage().mapped), (0, 2, 6 * MIB));
        assert!(allocate(3 * MIB).is_none(), "two are left below the cap");
        assert_eq!(helped(AllocStep::Copy), 1);
        shared.release(large);
        let small = [(); 3].map(|()| allocate(MIB).expect("of another class"));
        assert_eq!((helped(AllocStep::Reclaim), shared.usage().mapped), (1, 3 * MIB), "what was free sufficed");
        small.into_iter().for_each(|block| shared.release(block));
    }

    #[test]
    fn small_allocations_merge_only_when_they_find_nothing() {
        let shared = shared(PoolKind::Split, 8 * MIB);
        let first = shared.allocate(MIB, None).expect("mapped: the whole mapping");
        shared.release(first);
        let small = shared.allocate(1000, None).expect("merged, and cut from that");
        assert_eq!(
            shared.steps().of(AllocStep::Merge),
            StepCost { helped: 1, count: 1, ..shared.steps().of(AllocStep::Merge) }
        );
        shared.release(small);
        let next = shared.allocate(1000, None).expect("cut from what is there");
        assert_eq!(shared.steps().of(AllocStep::Merge).count, 1);
        assert_eq!(shared.usage().free, 1024);
        shared.release(next);
    }

    /// At the cap the collector is called, first for a quick collection, and the allocation is
    /// tried again.
    #[test]
    fn a_collector_is_called_at_the_cap() {
        struct ReleasingCollector<'a> {
            shared: &'a SharedPool<Std>,
            held: Mutex<Vec<Block>>,
            requested: Mutex<Vec<Collection>>,
        }
        impl Collector for ReleasingCollector<'_> {
            fn collect(&self, how: Collection) -> bool {
                self.requested.with(|requested| requested.push(how));
                // The quick collection finds nothing.
                let found = if how == Collection::Full { self.held.with(std::mem::take) } else { vec![] };
                found.into_iter().for_each(|block| self.shared.release(block));
                true
            }
        }
        let shared = shared(PoolKind::Split, 8 * MIB);
        let held = vec![shared.allocate(8 * MIB, None).expect("there is memory")];
        let collector = ReleasingCollector { shared: &shared, held: Mutex::new(held), requested: Mutex::default() };
        let block = shared.allocate(3 * MIB, Some(&collector)).expect("after the full collection");
        assert_eq!(collector.requested.with(std::mem::take), [Collection::Quick, Collection::Full]);
        shared.release(block);
    }

    #[test]
    fn a_lower_cap_is_reached_as_blocks_are_released() {
        let shared = shared(PoolKind::Split, 64 * MIB);
        let blocks: Vec<Block> = (0..8).map(|_| shared.allocate(2 * MIB, None).expect("there is memory")).collect();
        shared.set_bounds(bounds(4 * MIB));
        assert_eq!(shared.usage().mapped, 16 * MIB, "what is outstanding stays");
        assert!(shared.allocate(2 * MIB, None).is_none());
        blocks.into_iter().for_each(|block| shared.release(block));
        let block = shared.allocate(2 * MIB, None).expect("there is memory below the new cap");
        assert!(shared.usage().mapped <= 4 * MIB);
        shared.release(block);
    }

    #[test]
    fn a_peak_is_forgotten_after_a_multiple_of_it_was_released() {
        let shared = shared(PoolKind::Split, 1 << 30);
        let batch = |count: usize| {
            let blocks: Vec<Block> =
                (0..count).map(|_| shared.allocate(8 * MIB, None).expect("there is memory")).collect();
            blocks.into_iter().for_each(|block| shared.release(block));
        };
        batch(16);
        batch(1);
        assert_eq!(shared.usage().mapped, 128 * MIB, "the next batches may be as large");
        (0..100).for_each(|_| batch(1));
        assert!(shared.usage().mapped <= MIN_MAPPED_BOUND, "{:?}", shared.usage());
    }

    /// Threads allocate, write, check and release blocks. Every byte stays as its owner wrote it.
    #[test]
    fn threads_share_a_pool() {
        let rounds = if cfg!(miri) { 3 } else { 400 };
        for kind in [PoolKind::Split, PoolKind::Binned] {
            let shared = Arc::new(shared(kind, 256 * MIB));
            let seed = AtomicUsize::new(1);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let own = seed.fetch_add(1, Ordering::Relaxed) as u8;
                        let mut outstanding = std::collections::VecDeque::new();
                        for round in 0..rounds {
                            let bytes = 100 << (round * 7 % 13);
                            let block = shared.allocate(bytes, None).expect("there is memory");
                            let mut block = BlockGuard::new(block, Arc::clone(&shared));
                            block.bytes_mut().fill(MaybeUninit::new(own));
                            outstanding.push_back(block);
                            if outstanding.len() > 3 {
                                let mut first = outstanding.pop_front().expect("there are three");
                                // SAFETY: this thread wrote all of it.
                                let same = |byte: &MaybeUninit<u8>| unsafe { byte.assume_init() } == own;
                                assert!(first.bytes_mut().iter().all(same), "somebody else wrote here");
                            }
                        }
                    });
                }
            });
            let usage = shared.usage();
            assert_eq!(usage.outstanding, 0, "{kind:?}");
            shared.trim();
            assert_eq!(shared.usage().mapped, 0, "{kind:?}");
        }
    }
}
