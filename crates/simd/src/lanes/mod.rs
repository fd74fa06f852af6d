//! Sixteen numbers in vector registers, for merging one word.
//!
//! The merge loop of `bpe::short_word` changes one number and then needs the minimum of
//! all. Going through memory, the wide read would have to wait for the narrow write before it; in
//! registers it does not.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;

use super::{Level, Simd};

/// The number of lanes in a block.
pub const LANES: usize = 16;

/// The operations on blocks of [`LANES`] numbers. A value proves that the CPU has the instructions.
/// All implementations give the same results.
pub trait Lanes: Copy {
    /// A block of numbers.
    type Block: Copy;

    /// Loads a block.
    fn load(self, numbers: &[u32; LANES]) -> Self::Block;

    /// The numbers of a block.
    fn store(self, block: Self::Block) -> [u32; LANES];

    /// Looks up sixteen bytes in a table; the lowest byte of `bytes` is lane 0. Lanes that `lanes`
    /// does not select are `u32::MAX`.
    #[inline(always)]
    fn lookup_bytes(self, table: &[u32; 1 << 8], bytes: u128, lanes: u16) -> Self::Block {
        let mut numbers = [0; LANES];
        for (number, byte) in numbers.iter_mut().zip(bytes.to_le_bytes()) {
            *number = table[usize::from(byte)];
        }
        self.load_masked(numbers, lanes)
    }

    /// Looks up sixteen pairs of bytes in a table of two numbers each. The index has the byte of
    /// `left` in its low part and that of `right` in its high part. Lanes that `lanes` does not
    /// select are `u32::MAX`.
    #[inline(always)]
    fn lookup_pairs(self, table: &[[u32; 2]; 1 << 16], left: u128, right: u128, lanes: u16) -> [Self::Block; 2] {
        let (left, right) = (left.to_le_bytes(), right.to_le_bytes());
        let (mut first, mut second) = ([0; LANES], [0; LANES]);
        for at in 0..LANES {
            [first[at], second[at]] = table[usize::from(u16::from_le_bytes([left[at], right[at]]))];
        }
        [self.load_masked(first, lanes), self.load_masked(second, lanes)]
    }

    /// Loads the lanes that `lanes` selects; the others are `u32::MAX`.
    #[inline(always)]
    fn load_masked(self, numbers: [u32; LANES], lanes: u16) -> Self::Block {
        self.fill(self.load(&numbers), !lanes, u32::MAX)
    }

    /// Shifts every number left by `bits` and puts its position, counted from `first`, below it.
    fn with_positions(self, block: Self::Block, bits: u32, first: usize) -> Self::Block;

    /// Sets the lanes that `lanes` selects to `number`.
    fn fill(self, block: Self::Block, lanes: u16, number: u32) -> Self::Block;

    /// [`Self::fill`] for up to four blocks that follow one another.
    #[inline(always)]
    fn fill_all<const BLOCKS: usize>(self, blocks: &mut [Self::Block; BLOCKS], positions: u64, number: u32) {
        for (which, block) in blocks.iter_mut().enumerate() {
            *block = self.fill(*block, (positions >> (which * LANES)) as u16, number);
        }
    }

    /// The minimum of each lane.
    fn min(self, one: Self::Block, other: Self::Block) -> Self::Block;

    /// The minimum of all lanes.
    fn reduce_min(self, block: Self::Block) -> u32;
}

/// Work that is generic over the level.
pub trait LaneKernel {
    /// The result.
    type Out;

    /// Does the work with the operations of one level.
    fn run(self, lanes: impl Lanes) -> Self::Out;
}

/// Runs a kernel at the best level of the CPU. What is inlined into `run` is compiled for it.
#[inline]
pub fn dispatch_lanes<W: LaneKernel>(work: W) -> W::Out {
    Simd::best().dispatch_lanes(work)
}

impl Simd {
    #[inline]
    fn dispatch_lanes<W: LaneKernel>(self, work: W) -> W::Out {
        match self.0 {
            Level::Scalar => work.run(scalar::Scalar),
            #[cfg(target_arch = "aarch64")]
            Level::Neon(cpu) => work.run(neon::NeonLanes(cpu)),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Level::Simd128(cpu) => work.run(simd128::Simd128Lanes(cpu)),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { cpu, .. } => super::x86_64::run_avx2(
                cpu,
                #[inline(always)]
                || work.run(avx2::Avx2Lanes(cpu)),
            ),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(cpu) => super::x86_64::run_avx512(
                cpu,
                #[inline(always)]
                || work.run(avx512::Avx512Lanes(cpu)),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The minimum of each block after every write, and the minimum of all blocks at the end.
    struct Trace<'a> {
        numbers: &'a [[u32; LANES]; 4],
        writes: &'a [(usize, u32)],
        cleared: u64,
    }

    impl LaneKernel for Trace<'_> {
        type Out = (Vec<u32>, u32);

        #[inline(always)]
        /// Does the work with the operations of one level.
        fn run(self, lanes: impl Lanes) -> Self::Out {
            let mut blocks = self.numbers.map(|numbers| lanes.load(&numbers));
            let mut minima = vec![];
            for &(at, number) in self.writes {
                lanes.fill_all(&mut blocks, 1 << at, number);
                minima.extend(blocks.map(|block| lanes.reduce_min(block)));
            }
            lanes.fill_all(&mut blocks, self.cleared, u32::MAX);
            minima.extend(blocks.map(|block| lanes.reduce_min(block)));
            let [first, second, third, fourth] = blocks;
            let all = lanes.min(lanes.min(first, second), lanes.min(third, fourth));
            (minima, lanes.reduce_min(all))
        }
    }

    /// The results of table lookups, and numbers with their positions.
    struct LookupKernel<'a> {
        byte_table: &'a [u32; 1 << 8],
        pair_table: &'a [[u32; 2]; 1 << 16],
        left: u128,
        right: u128,
        positions: u16,
        first: usize,
    }

    impl LaneKernel for LookupKernel<'_> {
        type Out = [[u32; LANES]; 4];

        #[inline(always)]
        /// Does the work with the operations of one level.
        fn run(self, lanes: impl Lanes) -> Self::Out {
            let ids = lanes.lookup_bytes(self.byte_table, self.left, self.positions);
            let [one, other] = lanes.lookup_pairs(self.pair_table, self.left, self.right, self.positions);
            [ids, one, other, lanes.with_positions(one, 6, self.first)].map(|block| lanes.store(block))
        }
    }

    proptest! {
        #[test]
        fn every_level_looks_up_the_same(
            left in any::<[u8; LANES]>(),
            right in any::<[u8; LANES]>(),
            positions in any::<u16>(),
            block in 0usize..4,
        ) {
            let byte_table: [u32; 1 << 8] = std::array::from_fn(|at| (at as u32).wrapping_mul(0x9E37_79B1));
            let pairs: Box<[[u32; 2]]> = (0..1u32 << 16).map(|at| [at << 3, at.wrapping_mul(0x9E37_79B1)]).collect();
            let pair_table: &[[u32; 2]; 1 << 16] = (&*pairs).try_into().expect("as many");
            let selected = |at: usize, number: u32| if positions >> at & 1 == 1 { number } else { u32::MAX };
            let pair = |at: usize, which: usize| pair_table[usize::from(left[at]) | usize::from(right[at]) << 8][which];
            let expected: [[u32; LANES]; 4] = [
                std::array::from_fn(|at| selected(at, byte_table[usize::from(left[at])])),
                std::array::from_fn(|at| selected(at, pair(at, 0))),
                std::array::from_fn(|at| selected(at, pair(at, 1))),
                std::array::from_fn(|at| selected(at, pair(at, 0)) << 6 | (block * LANES + at) as u32),
            ];
            for simd in Simd::all() {
                let (left, right) = (u128::from_le_bytes(left), u128::from_le_bytes(right));
                let tables = LookupKernel { byte_table: &byte_table, pair_table, left, right, positions, first: block * LANES };
                prop_assert_eq!(simd.dispatch_lanes(tables), expected, "{:?}", simd);
            }
        }

        #[test]
        fn every_level_finds_the_same_minimum(
            numbers in any::<[[u32; LANES]; 4]>(),
            writes in prop::collection::vec((0usize..4 * LANES, prop_oneof![0u32..9, any::<u32>()]), 0..20),
            cleared in any::<u64>(),
        ) {
            let mut plain = numbers;
            let mut minima = vec![];
            let each = |plain: &[[u32; LANES]; 4]| plain.map(|block| block.into_iter().min().expect("sixteen"));
            for &(at, number) in &writes {
                plain.as_flattened_mut()[at] = number;
                minima.extend(each(&plain));
            }
            let positions = (0..4 * LANES).filter(|at| cleared >> at & 1 == 1);
            positions.for_each(|at| plain.as_flattened_mut()[at] = u32::MAX);
            minima.extend(each(&plain));
            let expected = (minima, plain.into_iter().flatten().min().expect("they are many"));
            for simd in Simd::all() {
                let found = simd.dispatch_lanes(Trace { numbers: &numbers, writes: &writes, cleared });
                prop_assert_eq!(&found, &expected, "{:?}", simd);
            }
        }
    }
}
