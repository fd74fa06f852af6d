//! Numbers that stay in registers, sixteen in a block: one of them is written, and the least of all found, without a way
//! through memory, where a wide read waits for the narrow writes before it.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;

use super::{Level, Simd};

/// Numbers in a block.
pub(crate) const LANES: usize = 16;

/// A way to have blocks in registers: proof that the processor has the instructions. Every way does the same.
pub(crate) trait Lanes: Copy {
    /// Of [`LANES`] numbers.
    type Block: Copy;

    fn load(self, numbers: &[u32; LANES]) -> Self::Block;

    fn store(self, block: Self::Block) -> [u32; LANES];

    /// What a table has for each of sixteen bytes, the first one lowest. Where a bit of `places` is not set stands the largest number.
    #[inline(always)]
    fn lookup_bytes(self, table: &[u32; 1 << 8], bytes: u128, places: u16) -> Self::Block {
        let mut numbers = [0; LANES];
        for (number, byte) in numbers.iter_mut().zip(bytes.to_le_bytes()) {
            *number = table[usize::from(byte)];
        }
        self.load_masked(numbers, places)
    }

    /// Both numbers that a table has for each two bytes of `left` and `right`, of which the left one is the lower part of their place.
    #[inline(always)]
    fn lookup_pairs(self, table: &[[u32; 2]; 1 << 16], left: u128, right: u128, places: u16) -> [Self::Block; 2] {
        let (left, right) = (left.to_le_bytes(), right.to_le_bytes());
        let (mut first, mut second) = ([0; LANES], [0; LANES]);
        for at in 0..LANES {
            [first[at], second[at]] = table[usize::from(u16::from_le_bytes([left[at], right[at]]))];
        }
        [self.load_masked(first, places), self.load_masked(second, places)]
    }

    /// The numbers, where bits of `places` are set.
    #[inline(always)]
    fn load_masked(self, numbers: [u32; LANES], places: u16) -> Self::Block {
        self.fill(self.load(&numbers), !places, u32::MAX)
    }

    /// Every number moved up by `bits`, and below it its place, counted from `first`.
    fn with_positions(self, block: Self::Block, bits: u32, first: usize) -> Self::Block;

    /// `number` in the places whose bits are set.
    fn fill(self, block: Self::Block, places: u16, number: u32) -> Self::Block;

    /// The same for the places of several blocks one after the other, of which there are at most four.
    #[inline(always)]
    fn fill_all<const BLOCKS: usize>(self, blocks: &mut [Self::Block; BLOCKS], places: u64, number: u32) {
        for (which, block) in blocks.iter_mut().enumerate() {
            *block = self.fill(*block, (places >> (which * LANES)) as u16, number);
        }
    }

    fn min(self, one: Self::Block, other: Self::Block) -> Self::Block;

    /// The least number.
    fn reduce_min(self, block: Self::Block) -> u32;
}

/// What is done by whichever way the processor has.
pub(crate) trait LaneKernel {
    type Out;

    fn run(self, lanes: impl Lanes) -> Self::Out;
}

/// Does `work` by the best way, compiled for its instructions as far as it is inlined here.
#[inline]
pub(crate) fn dispatch_lanes<W: LaneKernel>(work: W) -> W::Out {
    Simd::best().dispatch_lanes(work)
}

impl Simd {
    #[inline]
    fn dispatch_lanes<W: LaneKernel>(self, work: W) -> W::Out {
        match self.0 {
            Level::Scalar => work.run(scalar::Scalar),
            #[cfg(target_arch = "aarch64")]
            Level::Neon => work.run(neon::Neon::new()),
            // SAFETY: `Simd::all` made these values after the processor said that it has the instructions.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { .. } => unsafe {
                super::x86_64::run_avx2(
                    #[inline(always)]
                    || work.run(avx2::Avx2::new()),
                )
            },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe {
                super::x86_64::run_avx512(
                    #[inline(always)]
                    || work.run(avx512::Avx512::new()),
                )
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a way makes of the numbers: each block's least and the least of the blocks together.
    struct Trace<'a> {
        numbers: &'a [[u32; LANES]; 4],
        puts: &'a [(usize, u32)],
        cleared: u64,
    }

    impl LaneKernel for Trace<'_> {
        type Out = (Vec<u32>, u32);

        #[inline(always)]
        fn run(self, lanes: impl Lanes) -> Self::Out {
            let mut blocks = self.numbers.map(|numbers| lanes.load(&numbers));
            let mut leasts = vec![];
            for &(at, number) in self.puts {
                lanes.fill_all(&mut blocks, 1 << at, number);
                leasts.extend(blocks.map(|block| lanes.reduce_min(block)));
            }
            lanes.fill_all(&mut blocks, self.cleared, u32::MAX);
            leasts.extend(blocks.map(|block| lanes.reduce_min(block)));
            let [first, second, third, fourth] = blocks;
            let all = lanes.min(lanes.min(first, second), lanes.min(third, fourth));
            (leasts, lanes.reduce_min(all))
        }
    }

    /// What a way finds in tables, and its numbers with their places.
    struct Tables<'a> {
        of_bytes: &'a [u32; 1 << 8],
        of_pairs: &'a [[u32; 2]; 1 << 16],
        left: u128,
        right: u128,
        places: u16,
        first: usize,
    }

    impl LaneKernel for Tables<'_> {
        type Out = [[u32; LANES]; 4];

        #[inline(always)]
        fn run(self, lanes: impl Lanes) -> Self::Out {
            let ids = lanes.lookup_bytes(self.of_bytes, self.left, self.places);
            let [one, other] = lanes.lookup_pairs(self.of_pairs, self.left, self.right, self.places);
            [ids, one, other, lanes.with_positions(one, 6, self.first)].map(|block| lanes.store(block))
        }
    }

    proptest! {
        #[test]
        fn every_way_finds_the_same_in_tables(
            left in any::<[u8; LANES]>(),
            right in any::<[u8; LANES]>(),
            places in any::<u16>(),
            block in 0usize..4,
        ) {
            let of_bytes: [u32; 1 << 8] = std::array::from_fn(|at| (at as u32).wrapping_mul(0x9E37_79B1));
            let pairs: Box<[[u32; 2]]> = (0..1u32 << 16).map(|at| [at << 3, at.wrapping_mul(0x9E37_79B1)]).collect();
            let of_pairs: &[[u32; 2]; 1 << 16] = (&*pairs).try_into().expect("as many");
            let there = |at: usize, number: u32| if places >> at & 1 == 1 { number } else { u32::MAX };
            let pair = |at: usize, which: usize| of_pairs[usize::from(left[at]) | usize::from(right[at]) << 8][which];
            let expected: [[u32; LANES]; 4] = [
                std::array::from_fn(|at| there(at, of_bytes[usize::from(left[at])])),
                std::array::from_fn(|at| there(at, pair(at, 0))),
                std::array::from_fn(|at| there(at, pair(at, 1))),
                std::array::from_fn(|at| there(at, pair(at, 0)) << 6 | (block * LANES + at) as u32),
            ];
            for simd in Simd::all() {
                let (left, right) = (u128::from_le_bytes(left), u128::from_le_bytes(right));
                let tables = Tables { of_bytes: &of_bytes, of_pairs, left, right, places, first: block * LANES };
                prop_assert_eq!(simd.dispatch_lanes(tables), expected, "{:?}", simd);
            }
        }

        #[test]
        fn every_way_does_the_same(
            numbers in any::<[[u32; LANES]; 4]>(),
            puts in prop::collection::vec((0usize..4 * LANES, prop_oneof![0u32..9, any::<u32>()]), 0..20),
            cleared in any::<u64>(),
        ) {
            let mut plain = numbers;
            let mut leasts = vec![];
            let each = |plain: &[[u32; LANES]; 4]| plain.map(|block| block.into_iter().min().expect("sixteen"));
            for &(at, number) in &puts {
                plain.as_flattened_mut()[at] = number;
                leasts.extend(each(&plain));
            }
            let places = (0..4 * LANES).filter(|at| cleared >> at & 1 == 1);
            places.for_each(|at| plain.as_flattened_mut()[at] = u32::MAX);
            leasts.extend(each(&plain));
            let expected = (leasts, plain.into_iter().flatten().min().expect("they are many"));
            for simd in Simd::all() {
                let found = simd.dispatch_lanes(Trace { numbers: &numbers, puts: &puts, cleared });
                prop_assert_eq!(&found, &expected, "{:?}", simd);
            }
        }
    }
}
