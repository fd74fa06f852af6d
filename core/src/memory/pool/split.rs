//! The split pool: blocks in three classes of size, best fit, split and merged.
//!
//! What is asked for is rounded up, and its class says how. Each mapping belongs to one class and is cut into blocks that
//! tile it; each block knows the one before and the one behind. A free block stands in its class's list of blocks of just
//! that size, so that the best fit is the first list from the size on that is not empty, and a bitmap finds it. A larger
//! block is split, and the rest stays in the class. A block that comes back is merged with neighbours that are free: no
//! two free blocks ever touch, and a mapping of which nothing is out is one block.
//!
//! The idea and the three classes are those of the split pool of CuArrays.

use std::collections::VecDeque;
use std::ops::Range;

use super::mappings::Mappings;
use super::warm::{self, Warm};
use super::{Block, Books, Pages, Pool};
use crate::memory::pages::{Advice, page_size};

mod classes;
mod free_lists;
mod nodes;

use classes::Class;
use free_lists::FreeLists;
use nodes::{NONE, Node, Nodes, State, Touch};

/// Ends of mappings are given back in multiples of this: 1 MiB.
const CUT: usize = 1 << 20;

/// A whole mapping that nobody wanted for so many rounds of settling is unmapped, unless it is warm.
const UNWANTED: u64 = 512;

/// So many whole mappings of a class are looked at in one of [`SELDOM`] rounds.
const LOOKS: usize = 4;
const SELDOM: u64 = 8;

/// What is known of a mapping beside its pages.
#[derive(Debug, Clone, Copy, Default)]
struct Whole {
    class: Class,
    /// What stands before its first block and behind its last.
    edge: u32,
    /// Whether it stands in the class's queue of whole mappings.
    is_queued: bool,
    /// The round of settling in which it last became whole.
    round: u64,
}

/// A class's blocks that are free.
#[derive(Debug, Default)]
struct Room {
    lists: FreeLists,
    /// Mappings that were one free block when they were noted, the oldest first. All that are one are here, none twice.
    whole: VecDeque<u32>,
}

/// See the module.
///
/// Invariants: the blocks of a mapping tile it; of two neighbours one is out; `out + cached == mappings.bytes()`.
#[derive(Debug)]
pub struct Split<P> {
    mappings: Mappings<P>,
    wholes: Vec<Whole>,
    nodes: Nodes,
    rooms: [Room; 3],
    warm: Warm,
    out: usize,
    cached: usize,
    round: u64,
}

impl<P> Default for Split<P> {
    fn default() -> Self {
        Self {
            mappings: Mappings::default(),
            wholes: vec![],
            nodes: Nodes::default(),
            rooms: Default::default(),
            warm: Warm::default(),
            out: 0,
            cached: 0,
            round: 0,
        }
    }
}

impl<P: Pages> Split<P> {
    /// Puts a block into the list of its size.
    #[inline(always)]
    fn list(&mut self, id: u32) {
        let node = &mut self.nodes[id];
        let next = self.rooms[node.class as usize].lists.push(node.size, id);
        (node.state, node.previous, node.next) = (State::Free, NONE, next);
        if node.bytes() >= warm::LEAST && node.touch == Touch::Written {
            self.warm.add(id, node.bytes());
        }
        self.nodes[next].previous = id;
    }

    /// Takes a block out of its list.
    #[inline]
    fn unlist(&mut self, id: u32) {
        let Node { size, previous, next, class, .. } = self.nodes[id];
        debug_assert_eq!(self.nodes[id].state, State::Free);
        self.warm.remove(id, class.bytes(size));
        self.nodes[next].previous = previous;
        if previous == NONE {
            self.rooms[class as usize].lists.replace_first(size, next);
        } else {
            self.nodes[previous].next = next;
        }
    }

    /// A block that is in no list becomes free, together with its neighbours.
    fn release(&mut self, mut id: u32) {
        let Node { before, behind, mapping, .. } = self.nodes[id];
        if self.nodes.is_free(behind) {
            self.unlist(behind);
            self.nodes.join(id, behind);
        }
        if self.nodes.is_free(before) {
            self.unlist(before);
            self.nodes.join(before, id);
            id = before;
        }
        self.list(id);
        if self.nodes.is_whole(id) {
            let whole = &mut self.wholes[mapping as usize];
            whole.round = self.round;
            if !std::mem::replace(&mut whole.is_queued, true) {
                self.rooms[whole.class as usize].whole.push_back(mapping);
            }
        }
    }

    /// Lends a block that is in no list; what is too much of it becomes free, and stays the block it was.
    #[inline(always)]
    fn lend(&mut self, class: Class, mut id: u32, size: u32, rest: u32) -> Block {
        if rest >= class.tunables().least_rest {
            let first = self.nodes.cut(id, size);
            self.list(id);
            id = first;
        }
        let node = &mut self.nodes[id];
        let (touch, range) = (node.touch, node.range());
        (node.state, node.touch) = (State::Out, Touch::Written);
        let block = Block { start: self.mappings.place(node.mapping, range.start), bytes: range.len(), id };
        if touch == Touch::Discarded {
            self.mappings.get(node.mapping).reuse(range);
        }
        self.out += block.bytes;
        self.cached -= block.bytes;
        self.check();
        block
    }

    /// What can grow so that it has a block of so many bytes: the mapping, and by how much, the least there is. Of huge ones,
    /// whatever is free: the largest.
    fn growing(&self, class: Class, bytes: usize) -> Option<(u32, usize)> {
        let lacking = |mapping: u32| {
            let (whole, pages) = (&self.wholes[mapping as usize], self.mappings.get(mapping));
            let last = self.nodes[whole.edge].before;
            let is_free = self.nodes.is_free(last);
            let free = if is_free { self.nodes[last].bytes() } else { 0 };
            let lacking = bytes.saturating_sub(free).checked_next_multiple_of(page_size())?;
            let can_grow = match class {
                Class::Huge => is_free && self.nodes.is_whole(last) && P::MOVE,
                _ => lacking <= pages.reserved() - pages.bytes(),
            };
            (whole.class == class && can_grow && lacking > 0).then_some((mapping, lacking))
        };
        self.mappings.numbers().filter_map(lacking).min_by_key(|&(_, lacking)| lacking)
    }

    /// Makes a mapping grow so that its last block has so many bytes. That block is in no list then.
    fn grow(&mut self, class: Class, bytes: usize, room: usize) -> Option<u32> {
        let (mapping, lacking) = self.growing(class, bytes).filter(|&(_, lacking)| lacking <= room)?;
        let (before, reserved) = (self.mappings.get(mapping).bytes(), self.mappings.get(mapping).reserved());
        let most = room.min(reserved.saturating_sub(before)) / page_size() * page_size();
        // SAFETY: only a huge block grows beyond what is reserved; it is free and all of its mapping, so that nobody uses that.
        let more = unsafe { self.mappings.grow(mapping, before + lacking.max(class.tunables().growth.min(most))) };
        if more == 0 {
            return None;
        }
        self.cached += more;
        let edge = self.wholes[mapping as usize].edge;
        let last = self.nodes[edge].before;
        if self.nodes.is_free(last) {
            self.unlist(last);
            self.nodes[last].size += class.units(more);
            return Some(last);
        }
        Some(self.add_last(class, mapping, before, more))
    }

    /// A new mapping of one block, which is in no list.
    fn add_mapping(&mut self, class: Class, bytes: usize, room: usize) -> Option<u32> {
        let needed = bytes.checked_next_multiple_of(page_size()).filter(|&needed| needed <= room)?;
        let growth = class.tunables().growth.min(room) / page_size() * page_size();
        let mapping = self.mappings.add(needed.max(growth), class.tunables().reserved)?;
        let mapped = self.mappings.get(mapping).bytes();
        self.cached += mapped;
        if self.wholes.len() <= mapping as usize {
            self.wholes.resize(mapping as usize + 1, Whole::default());
        }
        let edge = self.nodes.add_edge();
        self.wholes[mapping as usize] = Whole { class, edge, is_queued: false, round: self.round };
        Some(self.add_last(class, mapping, 0, mapped))
    }

    /// A block of new pages, the last of its mapping. It is in no list.
    fn add_last(&mut self, class: Class, mapping: u32, offset: usize, bytes: usize) -> u32 {
        let (size, offset) = (class.units(bytes), class.units(offset));
        let node = Node { size, offset, mapping, class, ..Node::NEW };
        self.nodes.insert(node, self.wholes[mapping as usize].edge)
    }

    /// Gives back what is free at the end of a mapping, or of that about so many bytes, and says how many it were.
    fn cut_end(&mut self, mapping: u32, enough: usize) -> usize {
        let class = self.wholes[mapping as usize].class;
        let last = self.nodes[self.wholes[mapping as usize].edge].before;
        let Range { start, end } = self.nodes[last].range();
        let kept = start.max(end.saturating_sub(enough) / CUT * CUT);
        let kept = kept.next_multiple_of(class.unit().max(page_size()));
        if enough == 0 || !self.nodes.is_free(last) || self.nodes.is_whole(last) || kept >= end {
            return 0;
        }
        self.unlist(last);
        // SAFETY: what is kept is all but a part of a free block, or all of it.
        let gone = unsafe { self.mappings.shrink(mapping, kept) };
        self.cached -= gone;
        self.nodes[last].size -= class.units(gone);
        match self.nodes[last].size {
            0 => self.nodes.remove(last),
            _ => self.list(last),
        }
        self.check();
        gone
    }

    /// Unmaps a mapping that is one free block.
    fn unmap(&mut self, id: u32) -> usize {
        let Node { mapping, before: edge, .. } = self.nodes[id];
        self.unlist(id);
        self.nodes.remove(id);
        self.nodes.remove(edge);
        let bytes = self.mappings.remove(mapping);
        self.cached -= bytes;
        self.check();
        bytes
    }

    /// The next mapping of a class that is one free block and suits `wanted`, among so many of the queue: that block.
    fn whole(&mut self, class: Class, looks: usize, wanted: impl Fn(&Whole, u32, &Warm) -> bool) -> Option<u32> {
        for _ in 0..looks.min(self.rooms[class as usize].whole.len()) {
            let mapping = self.rooms[class as usize].whole.pop_front()?;
            let whole = &mut self.wholes[mapping as usize];
            let id = self.nodes[whole.edge].behind;
            let is_whole = self.nodes.is_free(id) && self.nodes.is_whole(id);
            whole.is_queued = is_whole && !wanted(whole, id, &self.warm);
            if whole.is_queued {
                self.rooms[class as usize].whole.push_back(mapping);
            } else if is_whole {
                return Some(id);
            }
        }
        None
    }

    fn discard(&mut self, id: u32, advice: Advice) {
        let node = &mut self.nodes[id];
        debug_assert_eq!(node.state, State::Free);
        // SAFETY: the block is free, so nobody reads it before it is lent and written again.
        unsafe { self.mappings.get(node.mapping).discard(node.range(), advice) };
        node.touch = Touch::Discarded;
        self.warm.remove(id, node.bytes());
    }

    fn check(&self) {
        debug_assert_eq!(self.out + self.cached, self.mappings.bytes());
        debug_assert!(self.warm.bytes() <= self.cached);
    }
}

impl<P: Pages> Pool for Split<P> {
    fn scan(&mut self, bytes: usize) -> Option<Block> {
        let (class, size) = Class::and_size(bytes)?;
        let lists = &mut self.rooms[class as usize].lists;
        let (found, id) = lists.best(size);
        // Whoever gets a huge block asked for half of it at least.
        if id == NONE || class == Class::Huge && found.div_ceil(2) > size {
            return None;
        }
        let next = self.nodes[id].next;
        lists.replace_first(found, next);
        self.nodes[next].previous = NONE;
        self.warm.remove(id, class.bytes(found));
        Some(self.lend(class, id, size, found - size))
    }

    fn needed(&self, bytes: usize) -> usize {
        let Some((class, size)) = Class::and_size(bytes) else { return usize::MAX };
        let rounded = class.bytes(size);
        match self.growing(class, rounded) {
            Some((_, lacking)) => lacking,
            None => rounded.checked_next_multiple_of(page_size()).unwrap_or(usize::MAX),
        }
    }

    fn map(&mut self, bytes: usize, room: usize) -> Option<Block> {
        let (class, size) = Class::and_size(bytes)?;
        let bytes = class.bytes(size);
        let id = self.grow(class, bytes, room).or_else(|| self.add_mapping(class, bytes, room))?;
        let rest = self.nodes[id].size - size;
        Some(self.lend(class, id, size, rest))
    }

    fn put_back(&mut self, block: Block) {
        debug_assert_eq!(self.nodes[block.id].state, State::Out);
        debug_assert_eq!(self.nodes[block.id].bytes(), block.bytes);
        self.out -= block.bytes;
        self.cached += block.bytes;
        self.release(block.id);
        self.check();
    }

    fn shorten(&mut self, block: &mut Block, bytes: usize) {
        let node = &mut self.nodes[block.id];
        let class = node.class;
        let kept = class.size(bytes.min(block.bytes));
        if node.size.saturating_sub(kept) >= class.tunables().least_rest {
            let rest = Node { size: node.size - kept, offset: node.offset + kept, ..*node };
            node.size = kept;
            block.bytes = node.bytes();
            self.out -= rest.bytes();
            self.cached += rest.bytes();
            let rest = self.nodes.insert(rest, rest.behind);
            self.release(rest);
            self.check();
        }
    }

    fn reclaim(&mut self, bytes: usize) -> usize {
        let mut gone = 0;
        for class in Class::ALL {
            while gone < bytes
                && let Some(id) = self.whole(class, usize::MAX, |_, _, _| true)
            {
                gone += self.unmap(id);
            }
        }
        let ends: Vec<u32> = if gone < bytes { self.mappings.numbers().collect() } else { vec![] };
        for mapping in ends {
            gone += self.cut_end(mapping, bytes.saturating_sub(gone));
        }
        gone
    }

    fn settle(&mut self, warm: usize, advice: Advice) {
        self.warm.next_round();
        self.round += 1;
        while advice != Advice::Off && self.warm.bytes() > warm {
            let Some(entry) = self.warm.coldest() else { break };
            self.discard(entry.id, advice);
        }
        let before = self.round.saturating_sub(UNWANTED);
        let classes = if self.round.is_multiple_of(SELDOM) { &Class::ALL[..] } else { &[] };
        for &class in classes {
            let is_unwanted = |whole: &Whole, id, warm: &Warm| whole.round < before && !warm.is_warm(id);
            if let Some(id) = self.whole(class, LOOKS, is_unwanted) {
                self.unmap(id);
            }
        }
        self.check();
    }

    fn trim(&mut self) {
        self.reclaim(usize::MAX);
        let cached: Vec<u32> = self.nodes.free(|node| node.touch != Touch::Never).collect();
        cached.into_iter().for_each(|id| self.discard(id, Advice::DontNeed));
        self.check();
    }

    fn books(&self) -> Books {
        Books { mapped: self.mappings.bytes(), out: self.out, cached: self.cached, warm: self.warm.bytes() }
    }
}

#[cfg(any(test, feature = "fuzzing"))]
impl<P: Pages> super::model::Checked for Split<P> {
    /// Walks all mappings: blocks tile them, no two free ones touch, lists and books hold what is there.
    fn check_all(&self) {
        let (mut out, mut cached, mut warm, mut seen) = (0, 0, 0, 0);
        for mapping in self.mappings.numbers() {
            let Whole { edge, class, .. } = self.wholes[mapping as usize];
            let (mut id, mut before, mut offset, mut was_free) = (self.nodes[edge].behind, edge, 0, false);
            while id != edge {
                let node = &self.nodes[id];
                assert_eq!(
                    (node.mapping, node.class, node.range().start, node.before),
                    (mapping, class, offset, before)
                );
                assert_ne!(node.state, State::Vacant);
                let is_free = node.state == State::Free;
                assert!(!(is_free && was_free), "two free blocks touch");
                *(if is_free { &mut cached } else { &mut out }) += node.bytes();
                warm += if self.warm.is_warm(id) { node.bytes() } else { 0 };
                assert!(!self.warm.is_warm(id) || is_free && node.touch == Touch::Written);
                (before, offset, was_free, seen) = (id, node.range().end, is_free, seen + 1);
                id = node.behind;
            }
            assert_eq!(offset, self.mappings.get(mapping).bytes(), "the blocks tile the mapping");
            assert_eq!((before, self.nodes[edge].state), (self.nodes[edge].before, State::Out));
        }
        assert_eq!(seen + self.mappings.numbers().count(), self.nodes.count(), "no node is lost");
        assert_eq!(self.nodes[NONE].state, State::Out);
        assert_eq!((out, cached, warm), (self.out, self.cached, self.warm.bytes()));
    }

    fn check_lent(&self, block: &Block) {
        let node = &self.nodes[block.id];
        assert_eq!((node.state, node.bytes()), (State::Out, block.bytes));
        assert_eq!(self.mappings.place(node.mapping, node.range().start), block.start);
    }
}

#[cfg(test)]
impl<P: Pages> Split<P> {
    /// The sizes of the free blocks of the class that so many bytes are of.
    pub(super) fn free_sizes(&self, bytes: usize) -> Vec<usize> {
        let free = self.nodes.free(|node| node.class == Class::of(bytes));
        free.map(|id| self.nodes[id].bytes()).collect()
    }
}
