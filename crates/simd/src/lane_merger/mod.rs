//! Sixteen words merged at once, one in each lane.
//!
//! Each round performs one merge in every lane that still has one. A lane never waits for the merge
//! table's cache lines of another lane: a round prefetches all of them before it reads the first.
//!
//! - `avx512`: finds the next merge and its neighbors for all lanes together.
//! - `turns`: for other CPUs. The lanes take turns in each step of a round.
//!
//! WebAssembly merges words one by one with `bpe::short_word`. Tests compare the three.

#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(not(target_arch = "wasm32"))]
mod turns;

use super::Simd;
use super::cpu::Avx512;
use super::lanes::LANES;
use super::priority::MergePriority;
use crate::word_key;

/// Fewer words than this are merged faster one by one.
pub const MIN_WORDS: usize = 7;

/// The number of positions in a word, a power of two. Symbols start at position 1. Position 0 and
/// the one after the last symbol hold a symbol that merges with nothing, so that every symbol has
/// two neighbors.
const POSITIONS: usize = 32;

/// The maximum length of a word, in bytes.
pub const MAX_LANE_LEN: usize = POSITIONS - 2;

const _: () = assert!(POSITIONS.is_power_of_two() && POSITIONS <= 1 << MergePriority::POSITION_BITS);

/// The merge table, as the kernel uses it. A pair of ids is hashed by multiplication; the hash
/// selects a bit of a filter and a bucket of the table.
#[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "only the kernels use it"))]
pub trait PairTable {
    /// How pairs are hashed and filtered.
    fn hashing(&self) -> PairHashing<'_>;

    /// Prefetches what [`Self::find`] reads.
    fn prefetch(&self, hash: u64);

    /// The rank and the id of the merge of the pair with this hash.
    /// [`MergePriority::RANK_LIMIT`] or a higher rank if there is none.
    fn find(&self, hash: u64) -> (u32, u32);
}

/// See [`PairTable::hashing`].
#[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "only the kernels use it"))]
#[derive(Debug, Clone, Copy)]
pub struct PairHashing<'a> {
    /// Ids in pairs are below two to the power of this, which is at most 31.
    pub id_bits: u32,
    /// The hash of a pair is `(left << id_bits | right) * multiplier`.
    pub multiplier: u64,
    /// A bit for each hash that may be in the table: bit `hash >> filter_shift`. A power of two of
    /// words.
    pub filter: &'a [u64],
    /// See [`Self::filter`].
    pub filter_shift: u32,
}

#[cfg(not(target_arch = "wasm32"))]
impl PairHashing<'_> {
    /// The hash of a pair.
    #[inline(always)]
    fn hash(&self, left: u32, right: u32) -> u64 {
        (u64::from(left) << self.id_bits | u64::from(right)).wrapping_mul(self.multiplier)
    }

    /// Whether ids are small enough for pairs. If not, the hash may equal that of another pair.
    #[inline(always)]
    fn fits(&self, ids: u32) -> bool {
        ids >> self.id_bits == 0
    }

    /// Prefetches what [`Self::may_contain`] reads.
    #[inline(always)]
    fn prefetch(&self, hash: u64) {
        super::prefetch_at(self.filter, (hash >> self.filter_shift) as usize / 64);
    }

    /// Whether the pair with this hash may be in the table.
    #[inline(always)]
    fn may_contain(&self, hash: u64) -> bool {
        let position = hash >> self.filter_shift;
        self.filter[(position / 64) as usize & (self.filter.len() - 1)] >> (position % 64) & 1 == 1
    }
}

/// What single bytes and pairs of bytes become.
#[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "only the kernels use it"))]
#[derive(Debug, Clone, Copy)]
pub struct ByteTables<'a> {
    /// The id of each byte.
    pub ids: &'a [u32; 256],
    /// The rank and the id of each pair's merge. The left byte is the low part of the index.
    pub pairs: &'a [[u32; 2]; 1 << 16],
}

/// One number per lane for each position.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
struct Rows([[u32; LANES]; POSITIONS]);

impl Rows {
    fn zeroed() -> Self {
        Self([[0; LANES]; POSITIONS])
    }
}

/// What merges the words. Has no values in WebAssembly.
#[derive(Debug, Clone, Copy)]
enum Kernel {
    Avx512(Avx512),
    /// At any other level.
    #[cfg(not(target_arch = "wasm32"))]
    Turns(Simd),
}

impl Kernel {
    fn new(simd: Simd) -> Option<Self> {
        let kernel = simd.avx512().map(Self::Avx512);
        #[cfg(not(target_arch = "wasm32"))]
        let kernel = kernel.or(Some(Self::Turns(simd)));
        kernel
    }
}

/// Up to sixteen words and the state of merging them, reused from group to group.
#[derive(Debug, Clone)]
pub struct LaneMerger {
    kernel: Kernel,
    /// The bytes of each word. The additional row is for loads of four bytes, which reach beyond
    /// the end of the last word.
    bytes: [[u8; POSITIONS]; LANES + 1],
    /// The length of each word, in bytes.
    lens: [u32; LANES],
    words: usize,
    /// The ids of the symbols.
    ids: Rows,
    /// The id that each symbol and its right neighbor merge to.
    joined: Rows,
    /// The [`MergePriority`] of that merge. The lowest one of a lane is its next merge.
    priorities: Rows,
    /// A bit for each position of a word that holds a symbol.
    alive: [u32; LANES],
}

impl LaneMerger {
    /// Creates a merger. `None` in WebAssembly.
    pub fn new(simd: Simd) -> Option<Self> {
        Kernel::new(simd).map(|kernel| Self {
            kernel,
            bytes: [[0; POSITIONS]; LANES + 1],
            lens: [0; LANES],
            words: 0,
            ids: Rows::zeroed(),
            joined: Rows::zeroed(),
            priorities: Rows::zeroed(),
            alive: [0; LANES],
        })
    }

    /// Adds a word of up to [`MAX_LANE_LEN`] bytes and returns its lane.
    ///
    /// # Panics
    /// If the word is longer, or if all lanes are taken.
    pub fn push(&mut self, word: &[u8]) -> usize {
        let lane = self.words;
        assert!(word.len() <= MAX_LANE_LEN);
        // Copies of fixed size are fastest for words of a few bytes.
        let bytes = &mut self.bytes[..LANES][lane];
        if let (Some(first), Some(last)) = (word.first_chunk::<16>(), word.last_chunk::<16>()) {
            bytes[..16].copy_from_slice(first);
            bytes[word.len() - 16..][..16].copy_from_slice(last);
        } else {
            bytes[..16].copy_from_slice(&word_key::of_word(word).to_le_bytes());
        }
        self.lens[lane] = word.len() as u32;
        self.words += 1;
        lane
    }

    /// The number of words added since the last [`Self::clear`].
    pub fn words(&self) -> usize {
        self.words
    }

    /// Removes all words.
    pub fn clear(&mut self) {
        self.words = 0;
        self.lens = [0; LANES];
    }

    /// Merges all words. [`Self::tokens`] then returns what they became.
    pub fn merge(&mut self, table: &impl PairTable, bytes: ByteTables<'_>) {
        match self.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(cpu) => avx512::merge(cpu, self, table, bytes),
            #[cfg(not(target_arch = "x86_64"))]
            Kernel::Avx512(cpu) => {
                let _ = (table, bytes, &self.joined, &self.priorities);
                cpu.unreachable()
            }
            #[cfg(not(target_arch = "wasm32"))]
            Kernel::Turns(simd) => simd.dispatch(
                #[inline(always)]
                || turns::merge(self, table, bytes),
            ),
        }
    }

    /// The tokens of a word: the id and the length in bytes of each.
    pub fn tokens(&self, lane: usize) -> impl Iterator<Item = (u32, u32)> {
        let mut rest = self.alive[lane] & !1;
        std::iter::from_fn(move || {
            let at = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            // The last symbol is the one after the word.
            (rest != 0).then(|| (self.ids.0[at as usize % POSITIONS][lane], rest.trailing_zeros() - at))
        })
    }
}
