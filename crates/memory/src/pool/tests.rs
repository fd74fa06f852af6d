//! Random traces for each pool beside the naive model, and tests of what each pool promises beyond
//! that.

use proptest::prelude::*;

use super::warm::MIN_WARM_ROUNDS;
use super::*;
use crate::testing::{FakePages, PoolOp, drive, drive_shared};

fn ops() -> impl Strategy<Value = Vec<PoolOp>> {
    // Sizes over six decades, and sizes at the edges of classes and of rounding.
    let size = prop_oneof![
        (6f64..26.5).prop_map(|power| power.exp2() as usize),
        prop::sample::select(vec![1, 511, 512, 513, 1 << 20, (1 << 20) + 1, 32 << 20, (32 << 20) + 1]),
    ];
    let op = prop_oneof![
        10 => size.prop_map(PoolOp::Allocate),
        9 => any::<usize>().prop_map(PoolOp::Release),
        1 => (any::<usize>(), any::<u8>()).prop_map(|(which, part)| PoolOp::Shrink(which, part)),
        1 => (0usize..64 << 20).prop_map(PoolOp::Reclaim),
        1 => (0usize..64 << 20, any::<bool>()).prop_map(|(warm, off)| PoolOp::DecommitCold { warm, off }),
        1 => Just(PoolOp::Trim),
    ];
    prop::collection::vec(op, 1..if cfg!(miri) { 40 } else { 300 })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 256 }))]

    #[test]
    fn split_agrees_with_a_naive_model(ops in ops(), cap in prop_oneof![Just(usize::MAX / 2), 0usize..200 << 20]) {
        drive(Split::<FakePages>::default(), &ops, cap);
        drive_shared(Split::<FakePages>::default(), &ops, cap);
    }

    #[test]
    #[cfg_attr(miri, ignore = "two thousand blocks a mapping take minutes, and nothing of them is written")]
    fn binned_agrees_with_a_naive_model(ops in ops(), cap in prop_oneof![Just(usize::MAX / 2), 0usize..200 << 20]) {
        drive(Binned::<FakePages>::default(), &ops, cap);
        drive_shared(Binned::<FakePages>::default(), &ops, cap);
    }

    /// Best fit: no smaller free block would have been large enough.
    #[test]
    fn split_allocates_the_best_fitting_block(sizes in prop::collection::vec(1usize..40 << 20, 1..30), wanted in 1usize..40 << 20) {
        let mut pool = Split::<FakePages>::default();
        // Two of each size, so that an outstanding block separates the free ones.
        let room = usize::MAX / 2;
        let pairs: Vec<_> = sizes.iter().map(|&size| [size, size].map(|size| pool.map(size, room).expect("there is memory"))).collect();
        let mut kept = vec![];
        for [first, second] in pairs {
            kept.push(second);
            pool.release(first);
        }
        let mut free = pool.free_sizes(wanted);
        free.sort_unstable();
        let best = free.into_iter().find(|&size| size >= wanted);
        let before = pool.usage().cached;
        match pool.scan(wanted) {
            Some(block) => prop_assert!(best.is_some_and(|best| before - pool.usage().cached <= best && block.bytes <= best)),
            None => prop_assert!(best.is_none_or(|best| wanted > 32 << 20 && best > 2 * wanted)),
        }
    }
}

#[test]
fn split_merges_what_comes_back() {
    let mut pool = Split::<FakePages>::default();
    let whole = pool.map(30 << 20, usize::MAX).expect("there is memory");
    let start = whole.start;
    pool.release(whole);
    let parts: Vec<_> = (0..15).map(|_| pool.scan(2 << 20).expect("a part of the block")).collect();
    assert!(pool.scan(2 << 20).is_none(), "all of it is allocated");
    assert_eq!(pool.usage().mapped, 30 << 20);
    for part in parts {
        pool.release(part);
    }
    let again = pool.scan(30 << 20).expect("the parts are one block again");
    assert_eq!(again.start, start);
}

#[test]
fn free_blocks_of_more_than_two_mebibytes_are_allocated_in_order_of_size() {
    let mut pool = Split::<FakePages>::default();
    let mut blocks: Vec<_> = (0..16).map(|_| pool.map(1 << 20, usize::MAX).expect("there is memory")).collect();
    let starts: Vec<_> = blocks.iter().map(|block| block.start).collect();
    // Free runs of 5, 3 and 4 MiB between the blocks that stay.
    let kept = [0, 6, 10, 15];
    for at in (0..16).rev().filter(|at| !kept.contains(at)) {
        pool.release(blocks.swap_remove(at));
    }
    let mut free = pool.free_sizes(1 << 20);
    free.sort_unstable();
    assert_eq!(free, [3 << 20, 4 << 20, 5 << 20]);
    let order = [7, 8, 9, 11, 12, 13, 14, 1, 2, 3, 4, 5].map(|at| starts[at]);
    let again: Vec<_> = order.iter().map(|_| pool.scan(1 << 20).expect("a part of a run")).collect();
    assert_eq!(again.iter().map(|block| block.start).collect::<Vec<_>>(), order);
    assert!(pool.scan(1).is_none(), "all of it is allocated");
}

#[test]
fn the_remainder_of_a_huge_block_stays_behind_it() {
    let mut pool = Split::<FakePages>::default();
    let huge = pool.map(80 << 20, usize::MAX).expect("there is memory");
    let start = huge.start;
    pool.release(huge);
    assert!(pool.scan(38 << 20).is_none(), "less than half of the block");
    let half = pool.scan(40 << 20).expect("just close enough");
    assert_eq!((half.bytes, pool.usage().cached, pool.usage().mapped), (40 << 20, 40 << 20, 80 << 20));
    assert_eq!(pool.reclaim(10 << 20), 10 << 20, "the end of it can go");
    assert_eq!(pool.needed(50 << 20), 50 << 20, "a mapping with an allocated block is not moved to grow");
    pool.release(half);
    assert_eq!((pool.needed(100 << 20), pool.needed(20 << 20)), (30 << 20, 20 << 20));
    let grown = pool.map(100 << 20, 30 << 20).expect("it needs no more than what is lacking");
    assert_eq!((grown.bytes, pool.usage().mapped), (100 << 20, 100 << 20));
    assert_ne!(grown.start, start, "it was free as a whole, and moved");
    pool.release(grown);
}

#[test]
fn whole_blocks_are_reclaimed_from_huge_to_small() {
    let mut pool = Split::<FakePages>::default();
    let sizes = [100 << 10, 5 << 20, 50 << 20];
    let blocks = sizes.map(|bytes| pool.map(bytes, usize::MAX).expect("there is memory"));
    blocks.into_iter().for_each(|block| pool.release(block));
    assert_eq!(pool.usage().mapped, (1 << 20) + (5 << 20) + (50 << 20));
    assert_eq!(pool.reclaim(1), 50 << 20);
    assert_eq!(pool.reclaim(1), 5 << 20);
    assert_eq!(pool.reclaim(1), 1 << 20);
    assert_eq!(pool.reclaim(1), 0);
}

#[test]
fn the_largest_recent_blocks_stay_warm_and_unwanted_ones_go() {
    let mut pool = Split::<FakePages>::default();
    // Outstanding blocks keep the free ones apart.
    let sizes = [3 << 20, 6 << 20, 4 << 20];
    let blocks = sizes.map(|bytes| [bytes, 2 << 20].map(|bytes| pool.map(bytes, usize::MAX).expect("there is memory")));
    let between = blocks.map(|[block, between]| {
        pool.release(block);
        between
    });
    assert_eq!(pool.usage().warm, 13 << 20);
    for _ in 1..MIN_WARM_ROUNDS {
        pool.decommit_cold(10 << 20, Advice::Free);
    }
    assert_eq!(pool.usage().warm, 13 << 20, "all of it may still be wanted");
    pool.decommit_cold(10 << 20, Advice::Off);
    assert_eq!(pool.usage().warm, 13 << 20, "nothing is discarded when that is off");
    pool.decommit_cold(10 << 20, Advice::Free);
    assert_eq!(pool.usage().warm, 10 << 20, "the smallest one was discarded");
    between.into_iter().for_each(|block| pool.release(block));
    let huge = pool.map(40 << 20, usize::MAX).expect("there is memory");
    pool.release(huge);
    assert_eq!(pool.usage().mapped, (19 << 20) + (40 << 20));
    for _ in 0..9000 {
        pool.decommit_cold(40 << 20, Advice::Free);
    }
    assert_eq!(pool.usage(), PoolUsage { mapped: 40 << 20, outstanding: 0, cached: 40 << 20, warm: 40 << 20 });
}

#[test]
fn released_blocks_of_powers_of_two_are_warm_and_others_of_their_mapping_are_not() {
    let mut pool = Binned::<FakePages>::default();
    let block = pool.map(1 << 20, usize::MAX).expect("there is room");
    assert_eq!(pool.usage().warm, 0, "free blocks that were never written have no pages");
    pool.release(block);
    assert_eq!(pool.usage().warm, 1 << 20);
    for _ in 0..MIN_WARM_ROUNDS {
        pool.decommit_cold(0, Advice::Free);
    }
    assert_eq!(pool.usage().warm, 0);
}
