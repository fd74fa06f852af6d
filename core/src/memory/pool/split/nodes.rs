//! What is known of the blocks that mappings are cut into, and how they lie beside each other.

use std::ops::{Index, IndexMut, Range};

use super::classes::SizeClass;

/// No block: the number of a node that is never free and may be written at will, so that nobody has to ask first.
pub const NONE: u32 = 0;

/// What a node's block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockState {
    /// It can be lent.
    Free,
    /// It is lent, or it is the edge of a mapping.
    Outstanding,
    /// There is no such block; the node waits to be used again.
    Vacant,
}

/// What is known of a free block's pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PageState {
    /// Nobody wrote them since they were mapped.
    Untouched,
    /// They were discarded.
    Discarded,
    /// Some of them were written.
    Written,
}

/// A block as the pool knows it. Half of a cache line, because most of what the pool does is reading and writing these.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// How long it is, in units of its class.
    pub size: u32,
    /// Where in its mapping it starts, in the same units.
    pub offset: u32,
    pub mapping: u32,
    /// The neighbours in the mapping. Before the first block and behind the last stands the mapping's edge, a block of nothing.
    pub before: u32,
    pub behind: u32,
    /// The neighbours in the list of free blocks of this size, or [`NONE`].
    pub previous: u32,
    pub next: u32,
    pub class: SizeClass,
    pub state: BlockState,
    pub touch: PageState,
}

const _: () = assert!(size_of::<Node>() == 32);

impl Node {
    /// One that is of no mapping.
    pub const NEW: Self = Self {
        size: 0,
        offset: 0,
        mapping: u32::MAX,
        before: NONE,
        behind: NONE,
        previous: NONE,
        next: NONE,
        class: SizeClass::Small,
        state: BlockState::Outstanding,
        touch: PageState::Untouched,
    };

    pub fn bytes(&self) -> usize {
        self.class.bytes(self.size)
    }

    /// Where in its mapping it lies, in bytes.
    pub fn range(&self) -> Range<usize> {
        let start = self.class.bytes(self.offset);
        start..start + self.bytes()
    }
}

/// All nodes, by number.
#[derive(Debug)]
pub struct Nodes {
    nodes: Vec<Node>,
    vacant: Vec<u32>,
}

impl Default for Nodes {
    fn default() -> Self {
        Self { nodes: vec![Node::NEW], vacant: vec![] }
    }
}

impl Index<u32> for Nodes {
    type Output = Node;

    #[inline(always)]
    fn index(&self, id: u32) -> &Node {
        &self.nodes[id as usize]
    }
}

impl IndexMut<u32> for Nodes {
    #[inline(always)]
    fn index_mut(&mut self, id: u32) -> &mut Node {
        &mut self.nodes[id as usize]
    }
}

impl Nodes {
    /// The edge of a new mapping.
    pub fn add_edge(&mut self) -> u32 {
        let edge = self.add(Node::NEW);
        (self[edge].before, self[edge].behind) = (edge, edge);
        edge
    }

    /// A new block before another, or before an edge.
    #[inline(always)]
    pub fn insert(&mut self, node: Node, behind: u32) -> u32 {
        let before = self[behind].before;
        let id = self.add(Node { before, behind, ..node });
        self[before].behind = id;
        self[behind].before = id;
        id
    }

    /// Cuts a block in two: the first part is a new block of so many units, the rest stays the block it was.
    #[inline(always)]
    pub fn split(&mut self, id: u32, size: u32) -> u32 {
        let node = self[id];
        let first = self.add(Node { size, behind: id, ..node });
        self[node.before].behind = first;
        let rest = &mut self[id];
        (rest.size, rest.offset, rest.before) = (node.size - size, node.offset + size, first);
        first
    }

    #[inline(always)]
    fn add(&mut self, node: Node) -> u32 {
        match self.vacant.pop() {
            Some(id) => {
                self[id] = node;
                id
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        }
    }

    /// Makes one block of two neighbours: the first.
    #[inline(always)]
    pub fn merge(&mut self, first: u32, second: u32) {
        let Node { size, touch, .. } = self[second];
        let node = &mut self[first];
        node.size += size;
        node.touch = node.touch.max(touch);
        self.remove(second);
    }

    /// There is no such block, or edge, any more; its neighbours are neighbours now.
    #[inline(always)]
    pub fn remove(&mut self, id: u32) {
        let Node { before, behind, .. } = self[id];
        self[before].behind = behind;
        self[behind].before = before;
        self[id].state = BlockState::Vacant;
        self.vacant.push(id);
    }

    #[inline(always)]
    pub fn is_free(&self, id: u32) -> bool {
        self[id].state == BlockState::Free
    }

    /// Whether a block is all of its mapping.
    #[inline(always)]
    pub fn is_whole(&self, id: u32) -> bool {
        self[id].before == self[id].behind
    }

    /// The free blocks for which something is true.
    pub fn free(&self, is_wanted: impl Fn(&Node) -> bool) -> impl Iterator<Item = u32> {
        (0..self.nodes.len() as u32).filter(move |&id| self.is_free(id) && is_wanted(&self[id]))
    }

    /// How many nodes are of a block or an edge.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn count(&self) -> usize {
        self.nodes.len() - self.vacant.len() - 1
    }
}
