//! The longest tokens of 64 words at once, one word in each lane, for WordPiece.
//!
//! Each round makes one step in the trie for every word. Words of a text leave a trie at places
//! that no branch can predict, and here the ends of tokens are masks instead of branches. The
//! lanes are four groups of sixteen. A group prefetches what its next step reads, and the cache
//! lines arrive while the other groups make their steps.
//!
//! This requires AVX-512, for which [`LaneMatcher::new`] checks. Other CPUs search the tokens of
//! words one by one. Tests compare the two.

#[cfg(target_arch = "x86_64")]
mod avx512;

use super::Simd;
use super::cpu::Avx512;
use super::lanes::LANES;
use crate::word_key;

/// Fewer words than this are matched faster one by one.
pub const MIN_WORDS: usize = 6;

/// The number of words that are matched at once.
pub const WORDS: usize = GROUPS * LANES;
const GROUPS: usize = 4;

/// The room for the bytes of a word, and for its tokens. A power of two.
const ROOM: usize = 32;

/// The maximum length of a word, in bytes. A lane reads four bytes at a time.
pub const MAX_LANE_LEN: usize = 30;

const _: () = assert!(MAX_LANE_LEN < ROOM && MAX_LANE_LEN < 1 << (u32::BITS - ID_BITS));

/// Bits of an id in a slot.
pub const ID_BITS: u32 = 24;
/// In [`TrieSlot::label_and_id`]: no token ends here.
pub const NO_TOKEN: u32 = (1 << ID_BITS) - 1;

/// The base of all nodes without children; it is beyond all slots.
pub const LEAF: u32 = u32::MAX - 255;

/// A slot of a trie of the core (`crates/core/src/trie.rs`), which explains it.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct TrieSlot {
    /// The base of the node in this slot.
    pub base: u32,
    /// The byte of the edge to this node, and above it the token that ends here, or [`NO_TOKEN`].
    pub label_and_id: u32,
}

impl TrieSlot {
    /// The slot of a node that no token ends at and that has no edges yet. `label` is the byte of
    /// the edge to it.
    pub fn new(label: u8) -> Self {
        Self { base: LEAF, label_and_id: NO_TOKEN << 8 | u32::from(label) }
    }

    /// The byte of the edge to this node.
    #[inline(always)]
    pub fn label(self) -> u8 {
        self.label_and_id as u8
    }
}

/// A trie, as the kernel uses it. All ids are in the slots.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only the AVX-512 kernel uses it"))]
#[derive(Debug, Clone, Copy)]
pub struct MatchTrie<'a> {
    /// The slots of all nodes.
    pub slots: &'a [TrieSlot],
    /// The base of the node at which the first token of a word starts.
    pub starting: u32,
    /// The base of the node at which further tokens start.
    pub continuing: u32,
}

/// Up to [`WORDS`] words and their tokens, reused from group to group.
#[derive(Debug, Clone)]
pub struct LaneMatcher {
    cpu: Avx512,
    /// The bytes of each word. The additional row is for loads of four bytes, which reach beyond
    /// the end of the last word.
    bytes: [[u8; ROOM]; WORDS + 1],
    /// The length of each word, in bytes.
    lens: [u32; WORDS],
    words: usize,
    /// The tokens of each word: the id, and above its [`ID_BITS`] the length in bytes.
    tokens: [[u32; ROOM]; WORDS],
    /// The number of tokens of each word; 0 if it has characters that are no token.
    counts: [u32; WORDS],
}

impl LaneMatcher {
    /// Creates a matcher if the CPU has the instructions.
    pub fn new(simd: Simd) -> Option<Self> {
        simd.avx512().map(|cpu| Self {
            cpu,
            bytes: [[0; ROOM]; WORDS + 1],
            lens: [0; WORDS],
            words: 0,
            tokens: [[0; ROOM]; WORDS],
            counts: [0; WORDS],
        })
    }

    /// Adds a word of up to [`MAX_LANE_LEN`] bytes.
    ///
    /// # Panics
    /// If the word is longer, or if all lanes are taken.
    #[inline]
    pub fn push(&mut self, word: &[u8]) {
        assert!(word.len() <= MAX_LANE_LEN);
        // Copies of fixed size are fastest for words of a few bytes.
        let bytes = &mut self.bytes[..WORDS][self.words];
        if let (Some(first), Some(last)) = (word.first_chunk::<16>(), word.last_chunk::<16>()) {
            bytes[..16].copy_from_slice(first);
            bytes[word.len() - 16..][..16].copy_from_slice(last);
        } else {
            bytes[..16].copy_from_slice(&word_key::of_word(word).to_le_bytes());
        }
        self.lens[self.words] = word.len() as u32;
        self.words += 1;
    }

    /// The number of words added since the last [`Self::clear`].
    pub fn words(&self) -> usize {
        self.words
    }

    /// Removes all words.
    pub fn clear(&mut self) {
        self.words = 0;
    }

    /// Finds the tokens of all words. [`Self::tokens`] then returns them.
    pub fn match_all(&mut self, trie: MatchTrie<'_>) {
        #[cfg(target_arch = "x86_64")]
        avx512::match_all(self.cpu, self, trie);
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (trie, &self.counts);
            self.cpu.unreachable::<()>();
        }
    }

    /// The tokens of the word in a lane: the id and the length in bytes of each. None if some
    /// character is in no token.
    #[inline]
    pub fn tokens(&self, lane: usize) -> impl ExactSizeIterator<Item = (u32, u32)> {
        let tokens = &self.tokens[lane][..self.counts[lane] as usize % ROOM];
        tokens.iter().map(|token| (token & NO_TOKEN, token >> ID_BITS))
    }
}
