//! The split pool: blocks in three size classes, best fit, split and merged.
//!
//! A requested size is rounded up to units of its size class. Each mapping belongs to one class and
//! is cut into blocks that tile it; each block links to the block before it and the block after
//! it. A class has one list of free blocks for each size. The best fit is the first block of the
//! first list that is not empty, from the requested size on; a bitmap finds that list. A larger
//! block is split, and the remainder stays in the class. A released block is merged with free
//! neighbours: no two free blocks are adjacent, and a mapping without outstanding blocks is one
//! free block.
//!
//! The idea and the three classes come from the split pool of CuArrays.

use std::collections::VecDeque;
use std::ops::Range;

use super::mappings::Mappings;
use super::warm::{self, WarmBlocks};
use super::{Block, Pages, Pool, PoolUsage};
use crate::pages::{Advice, page_size};

mod classes;
mod free_lists;
mod nodes;

use classes::SizeClass;
use free_lists::FreeLists;
use nodes::{BlockNode, BlockState, NO_BLOCK, Nodes, PageState};

/// The free end of a mapping is unmapped in multiples of this: 1 MiB.
const END_GRANULARITY: usize = 1 << 20;

/// A mapping that has been one free block for this many rounds is unmapped unless it is warm. A
/// round is one call of [`Pool::decommit_cold`].
const MAX_IDLE_ROUNDS: u64 = 512;

/// Number of queued mappings per class that are checked for this, every [`CHECK_INTERVAL`] rounds.
const CHECKED_MAPPINGS: usize = 4;
const CHECK_INTERVAL: u64 = 8;

/// A mapping's properties beside its pages.
#[derive(Debug, Clone, Copy, Default)]
struct MappingInfo {
    class: SizeClass,
    /// The edge node: the neighbour before the first block and after the last.
    edge: u32,
    /// Whether the mapping is in the class's queue of mappings that are one free block.
    is_queued: bool,
    /// The round in which the mapping last became one free block.
    round: u64,
}

/// The free blocks of a class.
#[derive(Debug, Default)]
struct FreeBlocks {
    lists: FreeLists,
    /// Mappings that were one free block when they were queued, the oldest first. Every mapping
    /// that is one free block is in the queue; none is in it twice.
    free_mappings: VecDeque<u32>,
}

/// See the module documentation.
///
/// Invariants: the blocks of a mapping tile it; of two adjacent blocks, at least one is
/// outstanding; `outstanding + cached == mappings.bytes()`.
#[derive(Debug)]
pub struct Split<P> {
    mappings: Mappings<P>,
    mapping_infos: Vec<MappingInfo>,
    nodes: Nodes,
    free_blocks: [FreeBlocks; 3],
    warm: WarmBlocks,
    outstanding: usize,
    cached: usize,
    round: u64,
}

impl<P> Default for Split<P> {
    fn default() -> Self {
        Self {
            mappings: Mappings::default(),
            mapping_infos: vec![],
            nodes: Nodes::default(),
            free_blocks: Default::default(),
            warm: WarmBlocks::default(),
            outstanding: 0,
            cached: 0,
            round: 0,
        }
    }
}

impl<P: Pages> Split<P> {
    /// Adds a block to the free list of its size.
    #[inline(always)]
    fn push_free(&mut self, id: u32) {
        let node = &mut self.nodes[id];
        let next = self.free_blocks[node.class as usize].lists.push(node.size, id);
        (node.state, node.previous, node.next) = (BlockState::Free, NO_BLOCK, next);
        if node.bytes() >= warm::MIN_TRACKED_BYTES && node.touch == PageState::Written {
            self.warm.add(id, node.bytes());
        }
        self.nodes[next].previous = id;
    }

    /// Removes a block from its free list.
    #[inline]
    fn remove_free(&mut self, id: u32) {
        let BlockNode { size, previous, next, class, .. } = self.nodes[id];
        debug_assert_eq!(self.nodes[id].state, BlockState::Free);
        self.warm.remove(id, class.bytes(size));
        self.nodes[next].previous = previous;
        if previous == NO_BLOCK {
            self.free_blocks[class as usize].lists.replace_first(size, next);
        } else {
            self.nodes[previous].next = next;
        }
    }

    /// Frees a block that is in no list, and merges it with free neighbours.
    fn free_and_merge(&mut self, mut id: u32) {
        let BlockNode { before, behind, mapping, .. } = self.nodes[id];
        if self.nodes.is_free(behind) {
            self.remove_free(behind);
            self.nodes.merge(id, behind);
        }
        if self.nodes.is_free(before) {
            self.remove_free(before);
            self.nodes.merge(before, id);
            id = before;
        }
        self.push_free(id);
        if self.nodes.is_whole_mapping(id) {
            let info = &mut self.mapping_infos[mapping as usize];
            info.round = self.round;
            if !std::mem::replace(&mut info.is_queued, true) {
                self.free_blocks[info.class as usize].free_mappings.push_back(mapping);
            }
        }
    }

    /// Allocates a block that is in no list. If the remainder is large enough, splits the block:
    /// the first part is a new block, and the remainder becomes free and keeps the old id.
    #[inline(always)]
    fn take_block(&mut self, class: SizeClass, mut id: u32, size: u32, rest: u32) -> Block {
        if rest >= class.tunables().min_remainder {
            let first = self.nodes.split(id, size);
            self.push_free(id);
            id = first;
        }
        let node = &mut self.nodes[id];
        let (touch, range) = (node.touch, node.range());
        (node.state, node.touch) = (BlockState::Outstanding, PageState::Written);
        let block = Block { start: self.mappings.address(node.mapping, range.start), bytes: range.len(), id };
        if touch == PageState::Discarded {
            self.mappings.get(node.mapping).reuse(range);
        }
        self.outstanding += block.bytes;
        self.cached -= block.bytes;
        self.check();
        block
    }

    /// Returns the mapping that needs the fewest new bytes to end with a free block of `bytes`
    /// bytes, and the number of new bytes. A huge mapping qualifies only if it is one free block
    /// and can move.
    fn growable(&self, class: SizeClass, bytes: usize) -> Option<(u32, usize)> {
        let lacking = |mapping: u32| {
            let (info, pages) = (&self.mapping_infos[mapping as usize], self.mappings.get(mapping));
            let last = self.nodes[info.edge].before;
            let is_free = self.nodes.is_free(last);
            let free = if is_free { self.nodes[last].bytes() } else { 0 };
            let lacking = bytes.saturating_sub(free).checked_next_multiple_of(page_size())?;
            let can_grow = match class {
                SizeClass::Huge => is_free && self.nodes.is_whole_mapping(last) && P::CAN_MOVE,
                _ => lacking <= pages.reserved() - pages.bytes(),
            };
            (info.class == class && can_grow && lacking > 0).then_some((mapping, lacking))
        };
        self.mappings.numbers().filter_map(lacking).min_by_key(|&(_, lacking)| lacking)
    }

    /// Grows a mapping so that its last block has at least `bytes` bytes. Returns that block, which
    /// is in no list.
    fn grow(&mut self, class: SizeClass, bytes: usize, available: usize) -> Option<u32> {
        let (mapping, lacking) = self.growable(class, bytes).filter(|&(_, lacking)| lacking <= available)?;
        let (before, reserved) = (self.mappings.get(mapping).bytes(), self.mappings.get(mapping).reserved());
        let max_growth = available.min(reserved.saturating_sub(before)) / page_size() * page_size();
        // SAFETY: only a huge mapping grows beyond its reserved size. It is one free block, so
        // nobody uses it.
        let more =
            unsafe { self.mappings.grow(mapping, before + lacking.max(class.tunables().growth.min(max_growth))) };
        if more == 0 {
            return None;
        }
        self.cached += more;
        let edge = self.mapping_infos[mapping as usize].edge;
        let last = self.nodes[edge].before;
        if self.nodes.is_free(last) {
            self.remove_free(last);
            self.nodes[last].size += class.units(more);
            return Some(last);
        }
        Some(self.add_last(class, mapping, before, more))
    }

    /// Adds a mapping of one block. Returns that block, which is in no list.
    fn add_mapping(&mut self, class: SizeClass, bytes: usize, available: usize) -> Option<u32> {
        let needed = bytes.checked_next_multiple_of(page_size()).filter(|&needed| needed <= available)?;
        let growth = class.tunables().growth.min(available) / page_size() * page_size();
        let mapping = self.mappings.add(needed.max(growth), class.tunables().reserved)?;
        let mapped = self.mappings.get(mapping).bytes();
        self.cached += mapped;
        if self.mapping_infos.len() <= mapping as usize {
            self.mapping_infos.resize(mapping as usize + 1, MappingInfo::default());
        }
        let edge = self.nodes.add_edge();
        self.mapping_infos[mapping as usize] = MappingInfo { class, edge, is_queued: false, round: self.round };
        Some(self.add_last(class, mapping, 0, mapped))
    }

    /// Adds a block of new pages at the end of its mapping. The block is in no list.
    fn add_last(&mut self, class: SizeClass, mapping: u32, offset: usize, bytes: usize) -> u32 {
        let (size, offset) = (class.units(bytes), class.units(offset));
        let node = BlockNode { size, offset, mapping, class, ..BlockNode::NEW };
        self.nodes.insert(node, self.mapping_infos[mapping as usize].edge)
    }

    /// Unmaps about `enough` bytes of the free block at the end of a mapping, at most all of it.
    /// Returns the number of bytes unmapped.
    fn shrink_end(&mut self, mapping: u32, enough: usize) -> usize {
        let class = self.mapping_infos[mapping as usize].class;
        let last = self.nodes[self.mapping_infos[mapping as usize].edge].before;
        let Range { start, end } = self.nodes[last].range();
        let kept = start.max(end.saturating_sub(enough) / END_GRANULARITY * END_GRANULARITY);
        let kept = kept.next_multiple_of(class.unit().max(page_size()));
        if enough == 0 || !self.nodes.is_free(last) || self.nodes.is_whole_mapping(last) || kept >= end {
            return 0;
        }
        self.remove_free(last);
        // SAFETY: the pages after `kept` belong to the last block, which is free.
        let gone = unsafe { self.mappings.shrink(mapping, kept) };
        self.cached -= gone;
        self.nodes[last].size -= class.units(gone);
        match self.nodes[last].size {
            0 => self.nodes.remove(last),
            _ => self.push_free(last),
        }
        self.check();
        gone
    }

    /// Unmaps a mapping that is one free block.
    fn unmap(&mut self, id: u32) -> usize {
        let BlockNode { mapping, before: edge, .. } = self.nodes[id];
        self.remove_free(id);
        self.nodes.remove(id);
        self.nodes.remove(edge);
        let bytes = self.mappings.remove(mapping);
        self.cached -= bytes;
        self.check();
        bytes
    }

    /// Examines up to `looks` mappings of a class's queue. Returns the block of the first that is
    /// one free block and satisfies `wanted`.
    fn take_free_mapping(
        &mut self,
        class: SizeClass,
        looks: usize,
        wanted: impl Fn(&MappingInfo, u32, &WarmBlocks) -> bool,
    ) -> Option<u32> {
        for _ in 0..looks.min(self.free_blocks[class as usize].free_mappings.len()) {
            let mapping = self.free_blocks[class as usize].free_mappings.pop_front()?;
            let info = &mut self.mapping_infos[mapping as usize];
            let id = self.nodes[info.edge].behind;
            let is_one_free_block = self.nodes.is_free(id) && self.nodes.is_whole_mapping(id);
            info.is_queued = is_one_free_block && !wanted(info, id, &self.warm);
            if info.is_queued {
                self.free_blocks[class as usize].free_mappings.push_back(mapping);
            } else if is_one_free_block {
                return Some(id);
            }
        }
        None
    }

    fn discard(&mut self, id: u32, advice: Advice) {
        let node = &mut self.nodes[id];
        debug_assert_eq!(node.state, BlockState::Free);
        // SAFETY: the block is free, so nobody reads it before it is allocated and written again.
        unsafe { self.mappings.get(node.mapping).discard(node.range(), advice) };
        node.touch = PageState::Discarded;
        self.warm.remove(id, node.bytes());
    }

    fn check(&self) {
        debug_assert_eq!(self.outstanding + self.cached, self.mappings.bytes());
        debug_assert!(self.warm.bytes() <= self.cached);
    }
}

impl<P: Pages> Pool for Split<P> {
    fn scan(&mut self, bytes: usize) -> Option<Block> {
        let (class, size) = SizeClass::and_size(bytes)?;
        let lists = &mut self.free_blocks[class as usize].lists;
        let (found, id) = lists.best(size);
        // A huge block only serves requests of at least half its size.
        if id == NO_BLOCK || class == SizeClass::Huge && found.div_ceil(2) > size {
            return None;
        }
        let next = self.nodes[id].next;
        lists.replace_first(found, next);
        self.nodes[next].previous = NO_BLOCK;
        self.warm.remove(id, class.bytes(found));
        Some(self.take_block(class, id, size, found - size))
    }

    fn needed(&self, bytes: usize) -> usize {
        let Some((class, size)) = SizeClass::and_size(bytes) else { return usize::MAX };
        let rounded = class.bytes(size);
        match self.growable(class, rounded) {
            Some((_, lacking)) => lacking,
            None => rounded.checked_next_multiple_of(page_size()).unwrap_or(usize::MAX),
        }
    }

    fn map(&mut self, bytes: usize, available: usize) -> Option<Block> {
        let (class, size) = SizeClass::and_size(bytes)?;
        let bytes = class.bytes(size);
        let id = self.grow(class, bytes, available).or_else(|| self.add_mapping(class, bytes, available))?;
        let rest = self.nodes[id].size - size;
        Some(self.take_block(class, id, size, rest))
    }

    fn release(&mut self, block: Block) {
        debug_assert_eq!(self.nodes[block.id].state, BlockState::Outstanding);
        debug_assert_eq!(self.nodes[block.id].bytes(), block.bytes);
        self.outstanding -= block.bytes;
        self.cached += block.bytes;
        self.free_and_merge(block.id);
        self.check();
    }

    fn shrink(&mut self, block: &mut Block, bytes: usize) {
        let node = &mut self.nodes[block.id];
        let class = node.class;
        let kept = class.size(bytes.min(block.bytes));
        if node.size.saturating_sub(kept) >= class.tunables().min_remainder {
            let rest = BlockNode { size: node.size - kept, offset: node.offset + kept, ..*node };
            node.size = kept;
            block.bytes = node.bytes();
            self.outstanding -= rest.bytes();
            self.cached += rest.bytes();
            let rest = self.nodes.insert(rest, rest.behind);
            self.free_and_merge(rest);
            self.check();
        }
    }

    fn reclaim(&mut self, bytes: usize) -> usize {
        let mut gone = 0;
        for class in SizeClass::ALL {
            while gone < bytes
                && let Some(id) = self.take_free_mapping(class, usize::MAX, |_, _, _| true)
            {
                gone += self.unmap(id);
            }
        }
        let ends: Vec<u32> = if gone < bytes { self.mappings.numbers().collect() } else { vec![] };
        for mapping in ends {
            gone += self.shrink_end(mapping, bytes.saturating_sub(gone));
        }
        gone
    }

    fn decommit_cold(&mut self, warm: usize, advice: Advice) {
        self.warm.next_round();
        self.round += 1;
        while advice != Advice::Off && self.warm.bytes() > warm {
            let Some(entry) = self.warm.coldest() else { break };
            self.discard(entry.id, advice);
        }
        let before = self.round.saturating_sub(MAX_IDLE_ROUNDS);
        let classes = if self.round.is_multiple_of(CHECK_INTERVAL) { &SizeClass::ALL[..] } else { &[] };
        for &class in classes {
            let is_unwanted = |info: &MappingInfo, id, warm: &WarmBlocks| info.round < before && !warm.is_warm(id);
            if let Some(id) = self.take_free_mapping(class, CHECKED_MAPPINGS, is_unwanted) {
                self.unmap(id);
            }
        }
        self.check();
    }

    fn decommit_all(&mut self, advice: Advice) {
        // Pages that the kernel may take are still there.
        let has_pages = |node: &BlockNode| match node.touch {
            PageState::Untouched => false,
            PageState::Discarded => advice == Advice::DontNeed,
            PageState::Written => true,
        };
        let cached: Vec<u32> = self.nodes.free(has_pages).collect();
        cached.into_iter().for_each(|id| self.discard(id, advice));
        self.check();
    }

    fn usage(&self) -> PoolUsage {
        PoolUsage {
            mapped: self.mappings.bytes(),
            outstanding: self.outstanding,
            cached: self.cached,
            warm: self.warm.bytes(),
        }
    }
}

#[cfg(feature = "testing")]
impl<P: Pages> super::CheckedPool for Split<P> {
    /// Walks all mappings. Checks that blocks tile them, that no two free blocks are adjacent, and
    /// that the sums agree with the blocks.
    fn check_all(&self) {
        let (mut out, mut cached, mut warm, mut seen) = (0, 0, 0, 0);
        for mapping in self.mappings.numbers() {
            let MappingInfo { edge, class, .. } = self.mapping_infos[mapping as usize];
            let (mut id, mut before, mut offset, mut was_free) = (self.nodes[edge].behind, edge, 0, false);
            while id != edge {
                let node = &self.nodes[id];
                assert_eq!(
                    (node.mapping, node.class, node.range().start, node.before),
                    (mapping, class, offset, before)
                );
                assert_ne!(node.state, BlockState::Vacant);
                let is_free = node.state == BlockState::Free;
                assert!(!(is_free && was_free), "two free blocks touch");
                *(if is_free { &mut cached } else { &mut out }) += node.bytes();
                warm += if self.warm.is_warm(id) { node.bytes() } else { 0 };
                assert!(!self.warm.is_warm(id) || is_free && node.touch == PageState::Written);
                (before, offset, was_free, seen) = (id, node.range().end, is_free, seen + 1);
                id = node.behind;
            }
            assert_eq!(offset, self.mappings.get(mapping).bytes(), "the blocks tile the mapping");
            assert_eq!((before, self.nodes[edge].state), (self.nodes[edge].before, BlockState::Outstanding));
        }
        assert_eq!(seen + self.mappings.numbers().count(), self.nodes.count(), "no node is lost");
        assert_eq!(self.nodes[NO_BLOCK].state, BlockState::Outstanding);
        assert_eq!((out, cached, warm), (self.outstanding, self.cached, self.warm.bytes()));
    }

    fn check_outstanding(&self, block: &Block) {
        let node = &self.nodes[block.id];
        assert_eq!((node.state, node.bytes()), (BlockState::Outstanding, block.bytes));
        assert_eq!(self.mappings.address(node.mapping, node.range().start), block.start);
    }
}

#[cfg(test)]
impl<P: Pages> Split<P> {
    /// The sizes in bytes of the free blocks in the class of `bytes`.
    pub(super) fn free_sizes(&self, bytes: usize) -> Vec<usize> {
        let free = self.nodes.free(|node| node.class == SizeClass::of(bytes));
        free.map(|id| self.nodes[id].bytes()).collect()
    }
}
