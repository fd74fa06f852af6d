//! The nodes that describe the blocks of mappings, and the links between neighbours.

use std::ops::{Index, IndexMut, Range};

use super::classes::SizeClass;

/// No block. Node 0 exists, is never free and may be written at will, so that links to it need no
/// check.
pub const NO_BLOCK: u32 = 0;

/// The state of a node's block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockState {
    /// The block can be allocated.
    Free,
    /// The block is outstanding, or the node is the edge of a mapping.
    Outstanding,
    /// The node describes no block and can be reused.
    Vacant,
}

/// The state of a block's pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PageState {
    /// Not written since they were mapped.
    Untouched,
    /// Discarded.
    Discarded,
    /// Some of them were written.
    Written,
}

/// A block as the pool records it. Half a cache line, because most of the pool's work is reading
/// and writing nodes.
#[derive(Debug, Clone, Copy)]
pub struct BlockNode {
    /// The size in units of the class.
    pub size: u32,
    /// The offset in the mapping, in units of the class.
    pub offset: u32,
    pub mapping: u32,
    /// The neighbours in the mapping. The mapping's edge, a node of size 0, is before the first
    /// block and after the last.
    pub before: u32,
    pub behind: u32,
    /// The neighbours in the list of free blocks of this size, or [`NO_BLOCK`].
    pub previous: u32,
    pub next: u32,
    pub class: SizeClass,
    pub state: BlockState,
    pub touch: PageState,
}

const _: () = assert!(size_of::<BlockNode>() == 32);

impl BlockNode {
    /// A node without a mapping.
    pub const NEW: Self = Self {
        size: 0,
        offset: 0,
        mapping: u32::MAX,
        before: NO_BLOCK,
        behind: NO_BLOCK,
        previous: NO_BLOCK,
        next: NO_BLOCK,
        class: SizeClass::Small,
        state: BlockState::Outstanding,
        touch: PageState::Untouched,
    };

    pub fn bytes(&self) -> usize {
        self.class.bytes(self.size)
    }

    /// The range in the mapping, in bytes.
    pub fn range(&self) -> Range<usize> {
        let start = self.class.bytes(self.offset);
        start..start + self.bytes()
    }
}

/// All nodes, by id.
#[derive(Debug)]
pub struct Nodes {
    nodes: Vec<BlockNode>,
    vacant: Vec<u32>,
}

impl Default for Nodes {
    fn default() -> Self {
        Self { nodes: vec![BlockNode::NEW], vacant: vec![] }
    }
}

impl Index<u32> for Nodes {
    type Output = BlockNode;

    #[inline(always)]
    fn index(&self, id: u32) -> &BlockNode {
        &self.nodes[id as usize]
    }
}

impl IndexMut<u32> for Nodes {
    #[inline(always)]
    fn index_mut(&mut self, id: u32) -> &mut BlockNode {
        &mut self.nodes[id as usize]
    }
}

impl Nodes {
    /// Adds the edge of a new mapping.
    pub fn add_edge(&mut self) -> u32 {
        let edge = self.add(BlockNode::NEW);
        (self[edge].before, self[edge].behind) = (edge, edge);
        edge
    }

    /// Inserts a block before the block or edge `behind`.
    #[inline(always)]
    pub fn insert(&mut self, node: BlockNode, behind: u32) -> u32 {
        let before = self[behind].before;
        let id = self.add(BlockNode { before, behind, ..node });
        self[before].behind = id;
        self[behind].before = id;
        id
    }

    /// Splits a block: the first `size` units become a new block, and the remainder keeps its id.
    /// Returns the new block.
    #[inline(always)]
    pub fn split(&mut self, id: u32, size: u32) -> u32 {
        let node = self[id];
        let first = self.add(BlockNode { size, behind: id, ..node });
        self[node.before].behind = first;
        let rest = &mut self[id];
        (rest.size, rest.offset, rest.before) = (node.size - size, node.offset + size, first);
        first
    }

    #[inline(always)]
    fn add(&mut self, node: BlockNode) -> u32 {
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

    /// Merges two neighbours into `first`.
    #[inline(always)]
    pub fn merge(&mut self, first: u32, second: u32) {
        let BlockNode { size, touch, .. } = self[second];
        let node = &mut self[first];
        node.size += size;
        node.touch = node.touch.max(touch);
        self.remove(second);
    }

    /// Removes a block or an edge and links its neighbours.
    #[inline(always)]
    pub fn remove(&mut self, id: u32) {
        let BlockNode { before, behind, .. } = self[id];
        self[before].behind = behind;
        self[behind].before = before;
        self[id].state = BlockState::Vacant;
        self.vacant.push(id);
    }

    #[inline(always)]
    pub fn is_free(&self, id: u32) -> bool {
        self[id].state == BlockState::Free
    }

    /// Whether a block covers its whole mapping.
    #[inline(always)]
    pub fn is_whole_mapping(&self, id: u32) -> bool {
        self[id].before == self[id].behind
    }

    /// The free blocks that satisfy `is_wanted`.
    pub fn free(&self, is_wanted: impl Fn(&BlockNode) -> bool) -> impl Iterator<Item = u32> {
        (0..self.nodes.len() as u32).filter(move |&id| self.is_free(id) && is_wanted(&self[id]))
    }

    /// The number of blocks and edges.
    #[cfg(feature = "testing")]
    pub fn count(&self) -> usize {
        self.nodes.len() - self.vacant.len() - 1
    }
}
