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

use super::mappings::Mappings;
use super::warm::Warm;
use super::{Block, Books, NONE, Pages, Pool};
use crate::memory::pages::{Advice, page_size};

mod classes;
mod free_lists;

use classes::{CLASSES, HUGE, LARGE, SMALL, class_of, rounded};
use free_lists::FreeLists;

/// Ends of mappings are given back in multiples of this: 1 MiB.
const CUT: usize = 1 << 20;

/// A whole mapping that nobody wanted for so many rounds of settling is unmapped, unless it is warm.
const UNWANTED: u64 = 512;

/// So many whole mappings of a class are looked at in one of [`SELDOM`] rounds.
const LOOKS: usize = 4;
const SELDOM: u64 = 8;

/// What a node's block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It can be lent.
    Free,
    /// It is lent.
    Out,
    /// There is no such block; the node waits to be used again.
    Vacant,
}

/// What is known of a free block's pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Touch {
    /// Nobody wrote them since they were mapped.
    Never,
    /// They were discarded.
    Discarded,
    /// Some of them were written.
    Written,
}

/// A block as the pool knows it.
#[derive(Debug, Clone, Copy)]
struct Node {
    bytes: usize,
    /// Where in its mapping it starts.
    offset: usize,
    mapping: u32,
    /// The neighbours in the mapping.
    before: u32,
    behind: u32,
    /// The neighbours in the list of free blocks of this size.
    previous: u32,
    next: u32,
    /// While it is warm: what `Warm` knows it by. Else 0.
    stamp: u32,
    state: State,
    touch: Touch,
}

const _: () = assert!(size_of::<Node>() <= 48);

impl Node {
    /// One that nobody wrote yet, alone in its mapping.
    const NEW: Self = Self {
        bytes: 0,
        offset: 0,
        mapping: NONE,
        before: NONE,
        behind: NONE,
        previous: NONE,
        next: NONE,
        stamp: 0,
        state: State::Out,
        touch: Touch::Never,
    };
}

/// What is known of a mapping beside its pages.
#[derive(Debug, Clone, Copy, Default)]
struct Whole {
    class: usize,
    /// Its first block, which stays the first whatever is cut or joined.
    first: u32,
    /// Its last block.
    last: u32,
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
    /// Bytes of all mappings of the class.
    mapped: usize,
}

/// See the module.
///
/// Invariants: the blocks of a mapping tile it; of two neighbours one is out; `out + cached == mappings.bytes()`.
#[derive(Debug)]
pub struct Split<P> {
    mappings: Mappings<P>,
    wholes: Vec<Whole>,
    nodes: Vec<Node>,
    vacant: Vec<u32>,
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
            nodes: vec![],
            vacant: vec![],
            rooms: Default::default(),
            warm: Warm::default(),
            out: 0,
            cached: 0,
            round: 0,
        }
    }
}

impl<P: Pages> Split<P> {
    fn node(&mut self, node: Node) -> u32 {
        match self.vacant.pop() {
            Some(id) => {
                self.nodes[id as usize] = node;
                id
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        }
    }

    fn class(&self, id: u32) -> usize {
        self.wholes[self.nodes[id as usize].mapping as usize].class
    }

    fn is_whole(&self, id: u32) -> bool {
        let node = &self.nodes[id as usize];
        node.before == NONE && node.behind == NONE
    }

    /// Puts a block among the free ones.
    fn add_free(&mut self, id: u32) {
        let class = self.class(id);
        let node = &mut self.nodes[id as usize];
        node.state = State::Free;
        self.cached += node.bytes;
        let bytes = node.bytes;
        if node.touch == Touch::Written {
            let nodes = &self.nodes;
            let stamp = self.warm.add(id, bytes, |id, stamp| nodes[id as usize].stamp == stamp);
            self.nodes[id as usize].stamp = stamp;
        }
        let first = self.rooms[class].lists.push(bytes >> CLASSES[class].rounding, id);
        let node = &mut self.nodes[id as usize];
        (node.previous, node.next) = (NONE, first);
        if first != NONE {
            self.nodes[first as usize].previous = id;
        }
        if self.is_whole(id) {
            let whole = &mut self.wholes[self.nodes[id as usize].mapping as usize];
            whole.round = self.round;
            if !std::mem::replace(&mut whole.is_queued, true) {
                self.rooms[class].whole.push_back(self.nodes[id as usize].mapping);
            }
        }
    }

    /// Takes a block away from the free ones.
    fn remove_free(&mut self, id: u32) {
        let class = self.class(id);
        let node = &mut self.nodes[id as usize];
        debug_assert_eq!(node.state, State::Free);
        let Node { bytes, previous, next, .. } = *node;
        self.warm.remove(std::mem::take(&mut node.stamp), bytes);
        self.cached -= bytes;
        if previous == NONE {
            self.rooms[class].lists.replace_first(bytes >> CLASSES[class].rounding, next);
        } else {
            self.nodes[previous as usize].next = next;
        }
        if next != NONE {
            self.nodes[next as usize].previous = previous;
        }
    }

    /// Cuts a block that is in no list after so many bytes, and says which block the rest is.
    fn cut(&mut self, id: u32, bytes: usize) -> u32 {
        let node = self.nodes[id as usize];
        let rest = Node { bytes: node.bytes - bytes, offset: node.offset + bytes, before: id, ..node };
        let rest = self.node(rest);
        self.set_before(node.mapping, node.behind, rest);
        let node = &mut self.nodes[id as usize];
        (node.bytes, node.behind) = (bytes, rest);
        rest
    }

    /// Makes one block of two neighbours that are in no list: the first.
    fn join(&mut self, first: u32, second: u32) {
        let Node { bytes, behind, touch, mapping, .. } = self.nodes[second as usize];
        let node = &mut self.nodes[first as usize];
        node.bytes += bytes;
        node.behind = behind;
        node.touch = node.touch.max(touch);
        self.set_before(mapping, behind, first);
        self.forget(second);
    }

    /// Says which block stands before another, or is the mapping's last where there is no other.
    fn set_before(&mut self, mapping: u32, behind: u32, id: u32) {
        match behind {
            NONE => self.wholes[mapping as usize].last = id,
            _ => self.nodes[behind as usize].before = id,
        }
    }

    /// There is no such block any more.
    fn forget(&mut self, id: u32) {
        self.nodes[id as usize].state = State::Vacant;
        self.vacant.push(id);
    }

    fn is_free(&self, id: u32) -> bool {
        id != NONE && self.nodes[id as usize].state == State::Free
    }

    /// A block that is in no list becomes free, together with its neighbours.
    fn release(&mut self, mut id: u32) {
        let Node { before, behind, .. } = self.nodes[id as usize];
        if self.is_free(behind) {
            self.remove_free(behind);
            self.join(id, behind);
        }
        if self.is_free(before) {
            self.remove_free(before);
            self.join(before, id);
            id = before;
        }
        self.add_free(id);
    }

    /// Lends a block that is in no list; what is too much of it becomes free.
    fn lend(&mut self, id: u32, bytes: usize) -> Block {
        let class = self.class(id);
        if self.nodes[id as usize].bytes - bytes >= CLASSES[class].least_rest {
            let rest = self.cut(id, bytes);
            self.add_free(rest);
        }
        let node = &mut self.nodes[id as usize];
        if node.touch == Touch::Discarded {
            self.mappings.get(node.mapping).reuse(node.offset..node.offset + node.bytes);
        }
        node.state = State::Out;
        node.touch = Touch::Written;
        self.out += node.bytes;
        let block = Block { start: self.mappings.place(node.mapping, node.offset), bytes: node.bytes, id };
        self.check();
        block
    }

    /// What can grow so that it has a block of so many bytes: the mapping, its last block, and by how much, the least there
    /// is. Of huge ones, whatever is free: the largest.
    fn growing(&self, class: usize, bytes: usize) -> Option<(u32, u32, usize)> {
        let lacking = |mapping: u32| {
            let (whole, pages) = (&self.wholes[mapping as usize], self.mappings.get(mapping));
            let is_free = self.is_free(whole.last);
            let free = if is_free { self.nodes[whole.last as usize].bytes } else { 0 };
            let lacking = bytes.saturating_sub(free).checked_next_multiple_of(page_size())?;
            let can_grow = match class {
                HUGE => is_free && whole.first == whole.last && P::MOVE,
                _ => lacking <= pages.reserved() - pages.bytes(),
            };
            (whole.class == class && can_grow && lacking > 0).then_some((mapping, whole.last, lacking))
        };
        self.mappings.numbers().filter_map(lacking).min_by_key(|&(.., lacking)| lacking)
    }

    /// Makes a mapping grow so that its last block has so many bytes. That block is in no list then.
    fn grow(&mut self, class: usize, bytes: usize, room: usize) -> Option<u32> {
        let (mapping, last, lacking) = self.growing(class, bytes).filter(|&(.., lacking)| lacking <= room)?;
        let (before, reserved) = (self.mappings.get(mapping).bytes(), self.mappings.get(mapping).reserved());
        let most = room.min(reserved.saturating_sub(before)) / page_size() * page_size();
        // SAFETY: only a huge block grows beyond what is reserved; it is free and all of its mapping, so that nobody uses that.
        let more = unsafe { self.mappings.grow(mapping, before + lacking.max(CLASSES[class].growth.min(most))) };
        if more == 0 {
            return None;
        }
        self.rooms[class].mapped += more;
        if self.is_free(last) {
            self.remove_free(last);
            self.nodes[last as usize].bytes += more;
            return Some(last);
        }
        let id = self.node(Node { bytes: more, offset: before, mapping, before: last, ..Node::NEW });
        self.nodes[last as usize].behind = id;
        self.wholes[mapping as usize].last = id;
        Some(id)
    }

    /// Gives back the free end of a mapping behind an offset, and says how many bytes that were. The block there is in no list.
    fn give_back_end(&mut self, mapping: u32, offset: usize) -> usize {
        // SAFETY: what is behind the offset is of a block that is free or about to be lent without it.
        let gone = unsafe { self.mappings.shrink(mapping, offset) };
        let Whole { class, last, .. } = self.wholes[mapping as usize];
        self.rooms[class].mapped -= gone;
        self.nodes[last as usize].bytes -= gone;
        gone
    }

    /// Gives back what is free at the end of a mapping, or of that about so many bytes, and says how many it were.
    fn cut_end(&mut self, mapping: u32, enough: usize) -> usize {
        let Whole { class, last, .. } = self.wholes[mapping as usize];
        let Node { offset, bytes, before, .. } = self.nodes[last as usize];
        let kept = offset.max((offset + bytes).saturating_sub(enough) / CUT * CUT);
        let kept = kept.next_multiple_of(CLASSES[class].unit().max(page_size()));
        if enough == 0 || !self.is_free(last) || before == NONE || kept >= offset + bytes {
            return 0;
        }
        self.remove_free(last);
        let gone = self.give_back_end(mapping, kept);
        if gone == bytes {
            self.nodes[before as usize].behind = NONE;
            self.wholes[mapping as usize].last = before;
            self.forget(last);
        } else {
            self.add_free(last);
        }
        self.check();
        gone
    }

    /// Unmaps a mapping that is one free block.
    fn unmap(&mut self, id: u32) -> usize {
        let (class, mapping) = (self.class(id), self.nodes[id as usize].mapping);
        self.remove_free(id);
        self.forget(id);
        let bytes = self.mappings.remove(mapping);
        self.rooms[class].mapped -= bytes;
        self.check();
        bytes
    }

    /// The next mapping of a class that is one free block and suits `wanted`, among so many of the queue.
    fn whole(&mut self, class: usize, looks: usize, wanted: impl Fn(&Whole, &Node) -> bool) -> Option<u32> {
        for _ in 0..looks.min(self.rooms[class].whole.len()) {
            let mapping = self.rooms[class].whole.pop_front()?;
            let whole = &mut self.wholes[mapping as usize];
            let (id, node) = (whole.first, &self.nodes[whole.first as usize]);
            let is_whole = node.state == State::Free && node.behind == NONE;
            whole.is_queued = is_whole && !wanted(whole, node);
            if whole.is_queued {
                self.rooms[class].whole.push_back(mapping);
            } else if is_whole {
                return Some(id);
            }
        }
        None
    }

    fn discard(&mut self, id: u32, advice: Advice) {
        let node = &mut self.nodes[id as usize];
        debug_assert_eq!(node.state, State::Free);
        // SAFETY: the block is free, so nobody reads it before it is lent and written again.
        unsafe { self.mappings.get(node.mapping).discard(node.offset..node.offset + node.bytes, advice) };
        node.touch = Touch::Discarded;
        self.warm.remove(std::mem::take(&mut node.stamp), node.bytes);
    }

    fn check(&self) {
        debug_assert_eq!(self.out + self.cached, self.mappings.bytes());
        debug_assert!(self.warm.bytes() <= self.cached);
    }
}

impl<P: Pages> Pool for Split<P> {
    fn scan(&mut self, bytes: usize) -> Option<Block> {
        let (class, bytes) = (class_of(bytes), rounded(bytes)?);
        let id = self.rooms[class].lists.best(bytes >> CLASSES[class].rounding);
        // Whoever gets a huge block asked for half of it at least.
        if id == NONE || class == HUGE && self.nodes[id as usize].bytes / 2 > bytes {
            return None;
        }
        self.remove_free(id);
        Some(self.lend(id, bytes))
    }

    fn needed(&self, bytes: usize) -> usize {
        let Some(rounded) = rounded(bytes) else { return usize::MAX };
        match self.growing(class_of(bytes), rounded) {
            Some((.., lacking)) => lacking,
            None => rounded.checked_next_multiple_of(page_size()).unwrap_or(usize::MAX),
        }
    }

    fn map(&mut self, bytes: usize, room: usize) -> Option<Block> {
        let (class, bytes) = (class_of(bytes), rounded(bytes)?);
        if let Some(id) = self.grow(class, bytes, room) {
            return Some(self.lend(id, bytes));
        }
        let needed = bytes.checked_next_multiple_of(page_size()).filter(|&needed| needed <= room)?;
        let growth = CLASSES[class].growth.min(room) / page_size() * page_size();
        let mapping = self.mappings.add(needed.max(growth), CLASSES[class].reserved)?;
        let mapped = self.mappings.get(mapping).bytes();
        self.rooms[class].mapped += mapped;
        // What is lent is a multiple of the class's rounding; a page too many at the end of a small mapping is its own.
        let first = self.node(Node { bytes: mapped, mapping, ..Node::NEW });
        if self.wholes.len() <= mapping as usize {
            self.wholes.resize(mapping as usize + 1, Whole::default());
        }
        self.wholes[mapping as usize] = Whole { class, first, last: first, is_queued: false, round: self.round };
        Some(self.lend(first, bytes))
    }

    fn put_back(&mut self, block: Block) {
        debug_assert_eq!(self.nodes[block.id as usize].state, State::Out);
        debug_assert_eq!(self.nodes[block.id as usize].bytes, block.bytes);
        self.out -= block.bytes;
        self.release(block.id);
        self.check();
    }

    fn shorten(&mut self, block: &mut Block, bytes: usize) {
        let class = self.class(block.id);
        let Some(kept) = bytes.max(1).checked_next_multiple_of(CLASSES[class].unit()) else { return };
        if block.bytes.saturating_sub(kept) >= CLASSES[class].least_rest {
            let rest = self.cut(block.id, kept);
            self.out -= block.bytes - kept;
            block.bytes = kept;
            self.release(rest);
            self.check();
        }
    }

    fn reclaim(&mut self, bytes: usize) -> usize {
        let mut gone = 0;
        for class in [HUGE, LARGE, SMALL] {
            while gone < bytes
                && let Some(id) = self.whole(class, usize::MAX, |_, _| true)
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
            let nodes = &self.nodes;
            let Some(entry) = self.warm.coldest(|id, stamp| nodes[id as usize].stamp == stamp) else { break };
            self.discard(entry.id, advice);
        }
        let before = self.round.saturating_sub(UNWANTED);
        let classes = if self.round.is_multiple_of(SELDOM) { &[HUGE, LARGE, SMALL][..] } else { &[] };
        for &class in classes {
            let is_unwanted = |whole: &Whole, node: &Node| whole.round < before && node.stamp == 0;
            if let Some(id) = self.whole(class, LOOKS, is_unwanted) {
                self.unmap(id);
            }
        }
        self.check();
    }

    fn trim(&mut self) {
        self.reclaim(usize::MAX);
        let is_cached = |id: &u32| {
            let node = &self.nodes[*id as usize];
            node.state == State::Free && node.touch != Touch::Never
        };
        let cached: Vec<u32> = (0..self.nodes.len() as u32).filter(is_cached).collect();
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
            let (mut id, mut before, mut offset, mut was_free) = (self.wholes[mapping as usize].first, NONE, 0, false);
            while id != NONE {
                let node = &self.nodes[id as usize];
                assert_eq!((node.mapping, node.offset, node.before), (mapping, offset, before));
                assert_ne!(node.state, State::Vacant);
                let is_free = node.state == State::Free;
                assert!(!(is_free && was_free), "two free blocks touch");
                *(if is_free { &mut cached } else { &mut out }) += node.bytes;
                warm += if node.stamp != 0 { node.bytes } else { 0 };
                assert!(node.stamp == 0 || is_free && node.touch == Touch::Written);
                (before, offset, was_free, seen) = (id, offset + node.bytes, is_free, seen + 1);
                id = node.behind;
            }
            assert_eq!(offset, self.mappings.get(mapping).bytes(), "the blocks tile the mapping");
            assert_eq!(before, self.wholes[mapping as usize].last);
        }
        assert_eq!(seen + self.vacant.len(), self.nodes.len(), "no node is lost");
        assert_eq!((out, cached, warm), (self.out, self.cached, self.warm.bytes()));
        let in_rooms: usize = self.rooms.iter().map(|room| room.mapped).sum();
        assert_eq!(in_rooms, self.mappings.bytes());
    }

    fn check_lent(&self, block: &Block) {
        let node = &self.nodes[block.id as usize];
        assert_eq!((node.state, node.bytes), (State::Out, block.bytes));
        assert_eq!(self.mappings.place(node.mapping, node.offset), block.start);
    }
}

#[cfg(test)]
impl<P: Pages> Split<P> {
    /// The sizes of the free blocks of the class that so many bytes are of.
    pub(super) fn free_sizes(&self, bytes: usize) -> Vec<usize> {
        let free = |id: &u32| self.nodes[*id as usize].state == State::Free && self.class(*id) == class_of(bytes);
        (0..self.nodes.len() as u32).filter(free).map(|id| self.nodes[id as usize].bytes).collect()
    }
}
