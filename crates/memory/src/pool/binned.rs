//! The binned pool: blocks whose sizes are powers of two, never split or merged.
//!
//! A released block is pushed on the stack of its size, and the next allocation of that size pops
//! it. Blocks of less than 1 MiB are cut from mappings of 1 MiB; larger ones are mappings of their
//! own. The pool is simple and fast, but rounding wastes up to half of a block, and cached blocks
//! of one size cannot serve another size until their mapping is reclaimed.

use super::mappings::Mappings;
use super::warm::WarmBlocks;
use super::{Block, Pages, Pool, PoolUsage};
use crate::pages::{Advice, page_size};

/// The smallest block: 512 bytes.
const MIN_BLOCK_BYTES: usize = 512;

/// Blocks of this size and more are mappings of their own, smaller ones are cut from mappings of
/// this size: 1 MiB.
const MAPPING_BYTES: usize = 1 << 20;

/// A block as the pool records it.
#[derive(Debug, Clone, Copy)]
struct BinnedBlock {
    bytes: usize,
    offset: usize,
    mapping: u32,
    is_free: bool,
    is_discarded: bool,
}

/// The blocks of a mapping: their ids, and the number of free ones.
#[derive(Debug, Clone, Default)]
struct MappingBlocks {
    ids: Vec<u32>,
    free: usize,
}

/// See the module documentation.
///
/// Invariants: each free block is on the stack of its size; `outstanding + cached ==
/// mappings.bytes()`.
#[derive(Debug)]
pub struct Binned<P> {
    mappings: Mappings<P>,
    mapping_blocks: Vec<MappingBlocks>,
    nodes: Vec<BinnedBlock>,
    vacant: Vec<u32>,
    /// `stacks[n]` has the free blocks of `MIN_BLOCK_BYTES << n` bytes; the last one released is on
    /// top.
    stacks: Vec<Vec<u32>>,
    warm: WarmBlocks,
    outstanding: usize,
    cached: usize,
}

impl<P> Default for Binned<P> {
    fn default() -> Self {
        Self {
            mappings: Mappings::default(),
            mapping_blocks: vec![],
            nodes: vec![],
            vacant: vec![],
            stacks: vec![],
            warm: WarmBlocks::default(),
            outstanding: 0,
            cached: 0,
        }
    }
}

fn size_of_block(bytes: usize) -> Option<usize> {
    bytes.checked_next_power_of_two().map(|bytes| bytes.max(MIN_BLOCK_BYTES))
}

fn stack_of(bytes: usize) -> usize {
    (bytes / MIN_BLOCK_BYTES).trailing_zeros() as usize
}

impl<P: Pages> Binned<P> {
    fn stack(&mut self, bytes: usize) -> &mut Vec<u32> {
        let at = stack_of(bytes);
        if at >= self.stacks.len() {
            self.stacks.resize(at + 1, vec![]);
        }
        &mut self.stacks[at]
    }

    fn add_free(&mut self, id: u32, was_written: bool) {
        let bytes = self.nodes[id as usize].bytes;
        self.stack(bytes).push(id);
        self.cached += bytes;
        if was_written {
            self.warm.add(id, bytes);
        }
        let node = &mut self.nodes[id as usize];
        node.is_free = true;
        self.mapping_blocks[node.mapping as usize].free += 1;
    }

    /// Marks a block as not free. The caller removes it from its stack.
    fn remove_free(&mut self, id: u32) {
        let node = &mut self.nodes[id as usize];
        node.is_free = false;
        self.warm.remove(id, node.bytes);
        self.cached -= node.bytes;
        self.mapping_blocks[node.mapping as usize].free -= 1;
    }

    fn take_block(&mut self, id: u32) -> Block {
        self.remove_free(id);
        let node = &mut self.nodes[id as usize];
        if std::mem::take(&mut node.is_discarded) {
            self.mappings.get(node.mapping).reuse(node.offset..node.offset + node.bytes);
        }
        self.outstanding += node.bytes;
        let block = Block { start: self.mappings.address(node.mapping, node.offset), bytes: node.bytes, id };
        self.check();
        block
    }

    fn discard(&mut self, id: u32, advice: Advice) {
        let node = &mut self.nodes[id as usize];
        debug_assert!(node.is_free);
        // SAFETY: the block is free, so nobody reads it before it is allocated and written again.
        unsafe { self.mappings.get(node.mapping).discard(node.offset..node.offset + node.bytes, advice) };
        node.is_discarded = true;
        self.warm.remove(id, node.bytes);
    }

    fn check(&self) {
        debug_assert_eq!(self.outstanding + self.cached, self.mappings.bytes());
        debug_assert!(self.warm.bytes() <= self.cached);
    }
}

impl<P: Pages> Pool for Binned<P> {
    fn scan(&mut self, bytes: usize) -> Option<Block> {
        let bytes = size_of_block(bytes)?;
        let id = self.stack(bytes).pop()?;
        Some(self.take_block(id))
    }

    fn needed(&self, bytes: usize) -> usize {
        size_of_block(bytes).map_or(usize::MAX, |bytes| bytes.max(MAPPING_BYTES)).max(page_size())
    }

    fn map(&mut self, bytes: usize, available: usize) -> Option<Block> {
        let needed = Some(self.needed(bytes)).filter(|&needed| needed <= available)?;
        let bytes = size_of_block(bytes)?;
        let mapping = self.mappings.add(needed, needed)?;
        if self.mapping_blocks.len() <= mapping as usize {
            self.mapping_blocks.resize(mapping as usize + 1, MappingBlocks::default());
        }
        self.mapping_blocks[mapping as usize] = MappingBlocks::default();
        // In reverse order, so that the first block is on top of the stack.
        for offset in (0..self.mappings.get(mapping).bytes() / bytes).rev().map(|at| at * bytes) {
            let node = BinnedBlock { bytes, offset, mapping, is_free: false, is_discarded: false };
            let id = self.vacant.pop().unwrap_or(self.nodes.len() as u32);
            match self.nodes.get_mut(id as usize) {
                Some(vacant) => *vacant = node,
                None => self.nodes.push(node),
            }
            self.mapping_blocks[mapping as usize].ids.push(id);
            self.add_free(id, false);
        }
        self.scan(bytes)
    }

    fn release(&mut self, block: Block) {
        debug_assert!(!self.nodes[block.id as usize].is_free);
        self.outstanding -= block.bytes;
        self.add_free(block.id, true);
        self.check();
    }

    fn shrink(&mut self, _block: &mut Block, _bytes: usize) {}

    fn reclaim(&mut self, bytes: usize) -> usize {
        let mut free_mappings: Vec<u32> = (0..self.mapping_blocks.len() as u32)
            .filter(|&mapping| self.mappings.has(mapping))
            .filter(|&mapping| {
                self.mapping_blocks[mapping as usize].free == self.mapping_blocks[mapping as usize].ids.len()
            })
            .collect();
        free_mappings.sort_by_key(|&mapping| std::cmp::Reverse(self.mappings.get(mapping).bytes()));
        let mut gone = 0;
        let mut stacks_hit = vec![];
        for mapping in free_mappings {
            if gone >= bytes {
                break;
            }
            for id in std::mem::take(&mut self.mapping_blocks[mapping as usize].ids) {
                // This also counts `free` of the mapping down to 0.
                self.remove_free(id);
                stacks_hit.push(stack_of(self.nodes[id as usize].bytes));
                self.vacant.push(id);
            }
            gone += self.mappings.remove(mapping);
        }
        stacks_hit.sort_unstable();
        stacks_hit.dedup();
        for at in stacks_hit {
            let nodes = &self.nodes;
            self.stacks[at].retain(|&id| nodes[id as usize].is_free);
        }
        self.check();
        gone
    }

    fn decommit_cold(&mut self, warm: usize, advice: Advice) {
        self.warm.next_round();
        while advice != Advice::Off && self.warm.bytes() > warm {
            let Some(entry) = self.warm.coldest() else { break };
            self.discard(entry.id, advice);
        }
        self.check();
    }

    fn decommit_all(&mut self, advice: Advice) {
        let has_pages = |id: &u32| !self.nodes[*id as usize].is_discarded || advice == Advice::DontNeed;
        let free: Vec<u32> = self.stacks.iter().flatten().copied().filter(has_pages).collect();
        free.into_iter().for_each(|id| self.discard(id, advice));
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
impl<P: Pages> super::CheckedPool for Binned<P> {
    fn check_all(&self) {
        let vacant: std::collections::HashSet<u32> = self.vacant.iter().copied().collect();
        let is_there = |id: &u32| !vacant.contains(id);
        let all: Vec<BinnedBlock> =
            (0..self.nodes.len() as u32).filter(is_there).map(|id| self.nodes[id as usize]).collect();
        let sum = |free: bool| all.iter().filter(|node| node.is_free == free).map(|node| node.bytes).sum::<usize>();
        assert_eq!((sum(false), sum(true)), (self.outstanding, self.cached));
        let on_stacks: usize = self.stacks.iter().map(Vec::len).sum();
        assert_eq!(on_stacks, all.iter().filter(|node| node.is_free).count(), "each free block is on one stack");
        for (at, stack) in self.stacks.iter().enumerate() {
            assert!(stack.iter().all(|&id| self.nodes[id as usize].bytes == MIN_BLOCK_BYTES << at));
        }
    }
}
