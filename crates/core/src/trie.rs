//! A trie over the bytes of all tokens, as a double array.
//!
//! A node is identified by its base. Its child for a byte is in the slot `base ^ byte`, which is in
//! the same block of 256 slots as the base. Bases are unique, so a slot with the label `byte`
//! belongs to the one node with the base `slot ^ byte`, and comparing the label is enough to find
//! out whether the child exists. An unused slot has the label that it would have under a base of
//! its block that no node has.

use crate::error::LoadError;
use crate::memory::Grow;
use crate::memory::fallible::require_for_tables;
use crate::simd;
pub(crate) use crate::simd::lane_matcher::{LEAF, NO_TOKEN};
use crate::simd::lane_matcher::{MatchTrie, TrieSlot};
use std::collections::HashMap;

/// In [`TrieSlot::label_and_id`]: the id does not fit and is in [`Trie::wide_ids`].
const WIDE_ID: u32 = NO_TOKEN - 1;
/// Slots per block: one per byte value.
const SLOTS_PER_BLOCK: usize = 256;
/// At most this many blocks are searched for free slots.
const OPEN_BLOCKS: usize = 16;
/// A block is no longer searched after this many nodes did not fit into it.
const MAX_MISFITS: u32 = 8;

/// A trie; see the module documentation.
#[derive(Debug)]
pub(crate) struct Trie {
    slots: Vec<TrieSlot>,
    /// Ids of more than [`crate::simd::lane_matcher::ID_BITS`] bits, by slot.
    wide_ids: HashMap<u32, u32>,
    root: Node,
    longest: usize,
}

/// A node of a [`Trie`]: its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node(u32);

/// A node from which many searches start, with the nodes after all bytes but the last of each
/// character of two and three bytes. The first character of a search then takes two loads.
#[derive(Debug)]
pub(crate) struct Start {
    node: Node,
    /// Indexed by the code point divided by 64, the number of values of a last byte.
    stems: Box<[Node; STEMS]>,
}

/// Code points of up to three bytes, divided by 64.
const STEMS: usize = 1 << 10;

impl Start {
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.stems)
    }
}

impl Trie {
    /// Builds a trie of tokens and their ids, none of which may be `u32::MAX`. Empty tokens are
    /// left out; of equal tokens the last one counts.
    pub(crate) fn new<'t>(tokens: impl Iterator<Item = (&'t [u8], u32)>) -> Result<Self, LoadError> {
        /// Approximate maximum bytes per token while the trie is built, without its text.
        const MAX_TRIE_BYTES: usize = 128;
        require_for_tables(tokens.size_hint().1.unwrap_or(0).saturating_mul(MAX_TRIE_BYTES));
        let mut keys: Vec<SortKey<'_>> =
            tokens.filter(|(token, _)| !token.is_empty()).map(|(token, id)| SortKey::new(token, id)).collect();
        // The sort is stable, so the last of equal tokens stays last.
        keys.sort_by(|a, b| a.first.cmp(&b.first).then_with(|| a.bytes.cmp(b.bytes)));
        let mut kept: Vec<SortKey<'_>> = vec![];
        kept.grow(keys.len());
        for key in keys {
            match kept.last_mut() {
                Some(last) if last.bytes == key.bytes => *last = key,
                _ => kept.push(key),
            }
        }
        let longest = kept.iter().map(|key| key.bytes.len()).max().unwrap_or(0);
        Builder::default().build(&kept, longest)
    }

    /// The trie as vector kernels read it; `None` if some ids do not fit into slots. Searches start
    /// at the two nodes; without the second one they find nothing.
    pub(crate) fn in_lanes(&self, starting: &Start, continuing: Option<&Start>) -> Option<MatchTrie<'_>> {
        let continuing = continuing.map_or(LEAF, |start| start.node.0);
        let trie = || MatchTrie { slots: &self.slots, starting: starting.node.0, continuing };
        self.wide_ids.is_empty().then(trie)
    }

    /// A node without children.
    pub(crate) fn nowhere(&self) -> Node {
        Node(LEAF)
    }

    /// The root.
    #[inline]
    pub(crate) fn root(&self) -> Node {
        self.root
    }

    /// Length of the longest token in bytes.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// The number of slots.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The slot of the child of a node for a byte.
    #[inline(always)]
    pub(crate) fn child(&self, node: Node, byte: u8) -> Option<u32> {
        let slot = node.0 ^ u32::from(byte);
        self.slots.get(slot as usize).filter(|found| found.label() == byte).map(|_| slot)
    }

    /// The node in a slot.
    #[inline(always)]
    pub(crate) fn node(&self, slot: u32) -> Node {
        Node(self.slots[slot as usize].base)
    }

    /// The token that ends at the node in a slot.
    #[inline(always)]
    pub(crate) fn id_at(&self, slot: u32) -> Option<u32> {
        match self.slots[slot as usize].label_and_id >> 8 {
            NO_TOKEN => None,
            WIDE_ID => self.wide_ids.get(&slot).copied(),
            id => Some(id),
        }
    }

    /// The child of a node for a byte, and the id of the token that ends there.
    #[inline(always)]
    pub(crate) fn step(&self, node: Node, byte: u8) -> Option<(Node, Option<u32>)> {
        let slot = self.child(node, byte)?;
        Some((self.node(slot), self.id_at(slot)))
    }

    /// Prefetches what [`Self::step`] reads.
    #[inline(always)]
    pub(crate) fn prefetch(&self, node: Node, byte: u8) {
        simd::prefetch_at(&self.slots, (node.0 ^ u32::from(byte)) as usize);
    }

    /// The node for `bytes`, if some token starts with them.
    pub(crate) fn descend(&self, bytes: &[u8]) -> Option<Node> {
        bytes.iter().try_fold(self.root, |node, &byte| Some(self.step(node, byte)?.0))
    }

    /// The slot of the node for `bytes`, which are not empty, if some token starts with them.
    pub(crate) fn slot(&self, bytes: &[u8]) -> Option<u32> {
        let (&last, front) = bytes.split_last()?;
        self.child(self.descend(front)?, last)
    }

    /// The id of a token.
    pub(crate) fn id(&self, token: &[u8]) -> Option<u32> {
        self.id_at(self.slot(token)?)
    }

    /// Prepares searches from a node.
    pub(crate) fn start(&self, node: Node) -> Start {
        let after = |node: Node, byte: usize| self.step(node, byte as u8).map_or(Node(LEAF), |(next, _)| next);
        let stem = |index: usize| match index {
            0..2 => Node(LEAF),
            2..32 => after(node, 0xC0 | index),
            _ => after(after(node, 0xE0 | index >> 6), 0x80 | index & 63),
        };
        Start { node, stems: Box::new(std::array::from_fn(stem)) }
    }

    /// The slot of the node after the first character of a UTF-8 text, and the length of the
    /// character in bytes.
    #[inline(always)]
    pub(crate) fn first_slot(&self, start: &Start, text: &[u8]) -> Option<(u32, usize)> {
        let stem =
            |index: u8, second: u8| start.stems[usize::from(index) << 6 & (STEMS - 1) | usize::from(second & 63)];
        let (node, last, len) = match *text {
            [last @ 0..0x80, ..] => (start.node, last, 1),
            [first @ ..0xE0, last, ..] => (stem(0, first & 31), last, 2),
            [first @ ..0xF0, second, last, ..] => (stem(first & 15, second), last, 3),
            [first, second, third, last, ..] => {
                let bytes = [first, second, third];
                (bytes.iter().try_fold(start.node, |node, &byte| Some(self.step(node, byte)?.0))?, last, 4)
            }
            _ => return None,
        };
        self.child(node, last).map(|slot| (slot, len))
    }

    /// The node after the first character of a UTF-8 text, the id of the token that ends there, and
    /// the length of the character in bytes.
    #[inline(always)]
    pub(crate) fn first(&self, start: &Start, text: &[u8]) -> Option<(Node, Option<u32>, usize)> {
        let (slot, len) = self.first_slot(start, text)?;
        Some((self.node(slot), self.id_at(slot), len))
    }

    /// Calls `found` with the length in bytes and the id of each token along a UTF-8 text, shortest
    /// first.
    #[inline(always)]
    pub(crate) fn for_each_prefix(&self, start: &Start, text: &[u8], mut found: impl FnMut(usize, u32)) {
        let Some((mut node, mut id, mut len)) = self.first(start, text) else { return };
        loop {
            if let Some(id) = id {
                found(len, id);
            }
            let Some((next, next_id)) = text.get(len).and_then(|&byte| self.step(node, byte)) else { return };
            (node, id, len) = (next, next_id, len + 1);
        }
    }

    /// Follows bytes from the node in a slot, as far as there are nodes. Each byte comes with an
    /// item; calls `found` with the slot of the node after the byte, its value in `values`, and the
    /// item. `values` has one value per slot.
    #[inline(always)]
    pub(crate) fn follow<V: Copy, T>(
        &self,
        slot: u32,
        values: &[V],
        bytes: impl Iterator<Item = (u8, T)>,
        mut found: impl FnMut(u32, V, T),
    ) {
        // Checked once, so that indices of slots are indices of values.
        let values = &values[..self.slots.len()];
        let mut node = self.node(slot);
        for (byte, item) in bytes {
            let Some(slot) = self.child(node, byte) else { return };
            found(slot, values[slot as usize], item);
            node = self.node(slot);
        }
    }

    /// The longest token along a UTF-8 text: its id, and the number of bytes matched.
    #[inline(always)]
    pub(crate) fn longest_from(&self, start: &Start, text: &[u8]) -> Option<(u32, usize)> {
        let (node, id, at) = self.first(start, text)?;
        self.longest_after(node, at, id.map(|id| (id, at)), text)
    }

    /// The length of the longest of the `max_tokens` shortest tokens that `text` starts with.
    #[inline]
    pub(crate) fn longest_of(&self, max_tokens: usize, text: &[u8]) -> Option<usize> {
        let (mut node, mut found, mut count) = (self.root(), None, 0);
        for (&byte, len) in text.iter().zip(1..) {
            let Some((next, id)) = self.step(node, byte).filter(|_| count < max_tokens) else { break };
            node = next;
            if id.is_some() {
                (found, count) = (Some(len), count + 1);
            }
        }
        found
    }

    /// The longest token along `text` from byte `at` on, which is at `node`, or else `found`.
    #[inline(always)]
    fn longest_after(
        &self,
        mut node: Node,
        mut at: usize,
        mut found: Option<(u32, usize)>,
        text: &[u8],
    ) -> Option<(u32, usize)> {
        while let Some(&byte) = text.get(at) {
            let Some((next, id)) = self.step(node, byte) else { break };
            (node, at) = (next, at + 1);
            if let Some(id) = id {
                found = Some((id, at));
            }
        }
        found
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<TrieSlot>() + self.wide_ids.capacity() * size_of::<(u32, u32)>()
    }
}

/// A token with its first bytes as a number, which sorts in the same order.
#[derive(Clone, Copy)]
struct SortKey<'t> {
    first: u64,
    bytes: &'t [u8],
    id: u32,
}

impl<'t> SortKey<'t> {
    fn new(bytes: &'t [u8], id: u32) -> Self {
        let mut first = [0; 8];
        let len = bytes.len().min(8);
        first[..len].copy_from_slice(&bytes[..len]);
        Self { first: u64::from_be_bytes(first), bytes, id }
    }

    /// The byte at a position within the token. Most are in `first`, without a pointer to follow.
    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        if at < 8 { (self.first >> (56 - 8 * at)) as u8 } else { self.bytes[at] }
    }
}

/// The end of the keys from `start` on that have the same byte at a position as the one there. The
/// distance is doubled until it is too far, because most nodes have few keys.
fn end_of_label(keys: &[SortKey<'_>], start: usize, end: usize, depth: usize) -> usize {
    let label = keys[start].byte(depth);
    let (mut known, mut step) = (start, 1);
    while known + step < end && keys[known + step].byte(depth) == label {
        known += step;
        step *= 2;
    }
    let rest = &keys[known + 1..end.min(known + step)];
    known + 1 + rest.partition_point(|key| key.byte(depth) == label)
}

#[derive(Default)]
struct Builder {
    slots: Vec<TrieSlot>,
    /// Per block: the slots in use, and the bases in use.
    blocks: Vec<BlockUse>,
    /// The blocks that are searched for free slots, the oldest first, and the number of nodes that
    /// did not fit into each.
    open: Vec<(usize, u32)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct BlockUse {
    used: [u64; 4],
    bases: [u64; 4],
}

impl BlockUse {
    fn has(bits: &[u64; 4], offset: usize) -> bool {
        bits[offset / 64] >> (offset % 64) & 1 != 0
    }

    fn set(bits: &mut [u64; 4], offset: usize) {
        bits[offset / 64] |= 1 << (offset % 64);
    }

    /// A free base in the block whose slots for all labels are free.
    fn base_for(&self, labels: &[u8]) -> Option<usize> {
        let first = usize::from(*labels.first()?);
        for (word, used) in self.used.iter().enumerate() {
            let mut free = !used;
            while free != 0 {
                let base = (word * 64 + free.trailing_zeros() as usize) ^ first;
                if !Self::has(&self.bases, base)
                    && labels.iter().all(|&label| !Self::has(&self.used, base ^ usize::from(label)))
                {
                    return Some(base);
                }
                free &= free - 1;
            }
        }
        None
    }
}

/// A node that is not built yet: the keys that share its text as a prefix.
struct Pending {
    /// The slot of the node; `None` for the root.
    slot: Option<usize>,
    keys: std::ops::Range<usize>,
    depth: usize,
}

impl Builder {
    fn build(mut self, keys: &[SortKey<'_>], longest: usize) -> Result<Trie, LoadError> {
        self.add_block();
        let (mut root, mut wide_ids) = (Node(0), HashMap::new());
        let mut pending = vec![Pending { slot: None, keys: 0..keys.len(), depth: 0 }];
        let mut children: Vec<(u8, std::ops::Range<usize>)> = vec![];
        let mut labels: Vec<u8> = vec![];
        while let Some(Pending { slot, keys: range, depth }) = pending.pop() {
            let mut at = range.start;
            // Keys are sorted, so a token that ends here comes first.
            if let Some(slot) = slot
                && keys[at].bytes.len() == depth
            {
                let id = keys[at].id;
                let stored = if id < WIDE_ID { id } else { WIDE_ID };
                if stored == WIDE_ID {
                    wide_ids.insert(slot as u32, id);
                }
                self.slots[slot].label_and_id = self.slots[slot].label_and_id & 0xFF | stored << 8;
                at += 1;
            }
            children.clear();
            while at < range.end {
                let end = end_of_label(keys, at, range.end, depth);
                children.push((keys[at].byte(depth), at..end));
                at = end;
            }
            labels.clear();
            labels.extend(children.iter().map(|(label, _)| *label));
            let base = self.allocate_base(&labels)?;
            match slot {
                Some(slot) => self.slots[slot].base = base,
                None => root = Node(base),
            }
            // Pushed in reverse, so that the first child is built first.
            for (label, keys) in children.drain(..).rev() {
                let slot = (base ^ u32::from(label)) as usize;
                self.slots[slot] = TrieSlot::new(label);
                pending.push(Pending { slot: Some(slot), keys, depth: depth + 1 });
            }
        }
        self.label_unused_slots();
        self.slots.shrink_to_fit();
        Ok(Trie { slots: self.slots, wide_ids, root, longest })
    }

    /// Gives unused slots the labels that they would have under an unused base of their block.
    /// There is one: each base in use has a child, and each child a slot.
    fn label_unused_slots(&mut self) {
        for (block, slots) in self.blocks.iter().zip(self.slots.chunks_exact_mut(SLOTS_PER_BLOCK)) {
            let unused = |bits: &[u64; 4]| (0..SLOTS_PER_BLOCK).find(|&offset| !BlockUse::has(bits, offset));
            let Some(base) = unused(&block.bases) else { continue };
            for (offset, slot) in
                slots.iter_mut().enumerate().filter(|&(offset, _)| !BlockUse::has(&block.used, offset))
            {
                *slot = TrieSlot::new((base ^ offset) as u8);
            }
        }
    }

    fn add_block(&mut self) {
        if self.open.len() == OPEN_BLOCKS {
            self.open.remove(0);
        }
        self.open.push((self.blocks.len(), 0));
        self.blocks.push(BlockUse::default());
        self.slots.resize(self.blocks.len() * SLOTS_PER_BLOCK, TrieSlot::new(0));
    }

    /// Allocates a base and the slots for the given labels. Nodes without children share [`LEAF`].
    fn allocate_base(&mut self, labels: &[u8]) -> Result<u32, LoadError> {
        if labels.is_empty() {
            return Ok(LEAF);
        }
        let newest = self.blocks.len();
        let Self { blocks, open, .. } = self;
        let mut found = None;
        open.retain_mut(|(block, misfits)| {
            if found.is_none() {
                found = blocks[*block].base_for(labels).map(|base| (*block, base));
                *misfits += u32::from(found.is_none());
            }
            *misfits < MAX_MISFITS
        });
        let (block, base) = match found {
            Some(found) => found,
            None => {
                if self.slots.len() >= MAX_SLOTS {
                    return Err(LoadError::TooLarge {
                        what: "the text of all tokens",
                        size: self.slots.len() as u64,
                        limit: MAX_SLOTS as u64,
                    });
                }
                self.add_block();
                (newest, self.blocks[newest].base_for(labels).expect("an empty block has room for any labels"))
            }
        };
        let taken = &mut self.blocks[block];
        BlockUse::set(&mut taken.bases, base);
        labels.iter().for_each(|&label| BlockUse::set(&mut taken.used, base ^ usize::from(label)));
        Ok((block * SLOTS_PER_BLOCK + base) as u32)
    }
}

/// Upper bound on the number of slots, so that no base collides with [`LEAF`].
const MAX_SLOTS: usize = 1 << 31;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn a_trie_finds_the_same_tokens_as_a_map(
            tokens in prop::collection::vec("[ab\0é]{0,6}|\\PC{0,3}", 0..60),
            first_id in prop_oneof![Just(0), NO_TOKEN - 30..=NO_TOKEN],
            texts in prop::collection::vec("[ab\0é]{0,9}|\\PC{0,4}", 0..20),
        ) {
            let by_token: BTreeMap<&[u8], u32> = tokens.iter().map(|token| token.as_bytes()).zip(first_id..).collect();
            let trie = Trie::new(tokens.iter().map(|token| token.as_bytes()).zip(first_id..)).expect("there is memory");
            for text in tokens.iter().chain(&texts).map(|text| text.as_bytes()) {
                prop_assert_eq!(trie.id(text), by_token.get(text).copied().filter(|_| !text.is_empty()));
                let longest = |text: &[u8], before: &[u8]| {
                    let id = |len| by_token.get(&*[before, &text[..len]].concat()).copied();
                    (1..=text.len()).rev().find_map(|len| Some((id(len)?, len)))
                };
                prop_assert_eq!(trie.longest_from(&trie.start(trie.root()), text), longest(text, b""));
                let mut prefixes = vec![];
                trie.for_each_prefix(&trie.start(trie.root()), text, |len, id| prefixes.push((len, id)));
                let expected = (1..=text.len()).filter_map(|len| Some((len, *by_token.get(&text[..len])?)));
                prop_assert_eq!(&prefixes, &expected.collect::<Vec<_>>());
                for max_tokens in 0..4 {
                    let found = prefixes.iter().take(max_tokens).next_back().map(|&(len, _)| len);
                    prop_assert_eq!(trie.longest_of(max_tokens, text), found);
                }
                if let Some((slot, len)) = trie.first_slot(&trie.start(trie.root()), text) {
                    let mut nodes = vec![(len, slot)];
                    let values: Vec<u32> = (0..).take(trie.slots()).collect();
                    trie.follow(slot, &values, text.iter().copied().zip(1..).skip(len), |slot, value, len| {
                        assert_eq!(slot, value);
                        nodes.push((len, slot));
                    });
                    let found = nodes.iter().filter_map(|&(len, slot)| Some((len, trie.id_at(slot)?)));
                    prop_assert_eq!(found.collect::<Vec<_>>(), prefixes);
                }
                for before in tokens.iter().take(3).filter_map(|token| token.get(..1)).filter(|_| !text.is_empty()) {
                    let node = trie.descend(before.as_bytes()).expect("a token starts so");
                    prop_assert_eq!(trie.longest_from(&trie.start(node), text), longest(text, before.as_bytes()));
                }
                let is_start = by_token.keys().any(|token| !token.is_empty() && token.starts_with(text));
                prop_assert_eq!(trie.descend(text).is_some(), is_start || text.is_empty());
            }
            prop_assert_eq!(trie.longest(), tokens.iter().map(String::len).max().unwrap_or(0));
        }
    }

    #[test]
    fn long_tokens_and_all_bytes_have_their_places() {
        let all: Vec<Vec<u8>> = (0..=255u8).flat_map(|byte| [vec![byte], vec![byte, 255 - byte, byte]]).collect();
        let long = vec![b'x'; 100_000];
        let tokens = || all.iter().chain([&long]).map(Vec::as_slice).zip(0..);
        let trie = Trie::new(tokens()).expect("there is memory");
        for (token, id) in tokens() {
            assert_eq!(trie.id(token), Some(id));
        }
        assert_eq!(trie.id(&long[1..]), None);
        let empty = Trie::new(std::iter::empty()).expect("there is memory");
        assert!(empty.step(empty.root(), b'a').is_none());
    }
}
