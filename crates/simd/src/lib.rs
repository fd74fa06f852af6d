//! Vector kernels, and the choice of the instruction set that runs them.
//!
//! Every kernel of the crate that needs instructions beyond the compiler's baseline lives in this
//! module. The rest of the crate calls methods of [`Simd`], or of a type that a `Simd` creates, and
//! never names an architecture.
//!
//! - [`Simd`]: the instruction set in use. [`Simd::best`] asks the CPU once per process.
//! - [`choice`]: the environment variable with which tests select a level.
//! - [`cpu`]: proofs that the CPU has an instruction set. A kernel takes one, so that it cannot be
//!   called on another CPU.
//! - [`Masks`]: 64 bytes of text classified into bit masks. Bit `i` describes byte `i`.
//! - [`bits`]: bit positions, pext and pdep without special instructions.
//! - [`packed`] and [`append`]: a few token ids in sixteen bytes, and the end of a list they are
//!   unpacked to.
//! - [`lanes`]: sixteen numbers in registers, for merging one word.
//! - [`lane_merger`]: sixteen words merged at once, one in each lane.
//! - [`lane_matcher`]: the longest tokens of 64 words at once, one word in each lane.
//! - [`priority`]: the order of merges as one number.
//! - [`probe`]: lookups of many short words in the word cache's table.
//!
//! Terms: a *level* is an instruction set; a *lane* is one element of a vector register.
//!
//! Every kernel has a scalar implementation, either at [`Level::Scalar`] or in the code that its
//! caller uses instead. Tests run each kernel at all levels of the CPU and compare the results with
//! those of the scalar implementation.

#![allow(unsafe_code, reason = "instructions that not every CPU has, and their loads and stores")]

#[cfg(target_arch = "aarch64")]
mod aarch64;
pub mod append;
pub mod bits;
pub mod choice;
mod compress;
pub mod cpu;
pub mod lane_matcher;
pub mod lane_merger;
pub mod lanes;
pub mod packed;
pub mod priority;
pub mod probe;
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm32;
pub mod word_key;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::mem::MaybeUninit;

use append::APPEND_WIDTH;
use cpu::Avx512;
use packed::PackedIds;

/// Number of bytes that are classified at once.
pub const BLOCK: usize = 64;

/// A block and the bytes after it, so that four bytes can be read from each of its positions.
pub type PaddedBlock = [u8; BLOCK + 3];

/// The positions in a block.
pub const BYTE_POSITIONS: [u8; BLOCK] = {
    let mut all = [0; BLOCK];
    let mut at = 0;
    while at < BLOCK {
        all[at] = at as u8;
        at += 1;
    }
    all
};

/// The classes of the bytes of a block, one bit per byte. `letters`, `digits`, `spaces` and `high`
/// are disjoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Masks {
    /// `A` to `Z` and `a` to `z`.
    pub letters: u64,
    /// `A` to `Z`.
    pub capitals: u64,
    /// `0` to `9`.
    pub digits: u64,
    /// Tab to carriage return, and the space.
    pub spaces: u64,
    /// The space only.
    pub blanks: u64,
    /// Line feed and carriage return.
    pub line_breaks: u64,
    /// The apostrophe.
    pub apostrophes: u64,
    /// The slash.
    pub slashes: u64,
    /// `!` to `~`, the printable characters other than the space.
    pub visible: u64,
    /// Bytes that are not ASCII.
    pub high: u64,
}

/// The instruction set in use.
///
/// Invariant: the CPU has the instructions of the level. [`Simd::all`] is the only constructor, and
/// it takes each level from a proof in [`cpu`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Simd(Level);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Scalar,
    #[cfg(target_arch = "aarch64")]
    Neon(cpu::Neon),
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128(cpu::Simd128),
    #[cfg(target_arch = "x86_64")]
    Avx2 {
        cpu: cpu::Avx2,
        /// Whether PEXT and PDEP take one step; older AMD processors loop over the bits.
        fast_pext: bool,
    },
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Simd {
    /// The fastest level that the CPU has, or the one that [`choice`] found in the environment.
    #[inline(always)]
    pub fn best() -> Self {
        // Known to the compiler, so that a module has only the code of this level.
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        return Self(Level::Simd128(cpu::Simd128::PROOF));
        #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
        {
            *choice::BEST
        }
    }

    /// Every level that the CPU has, the slowest first.
    pub fn all() -> Vec<Self> {
        let all = [
            Some(Level::Scalar),
            #[cfg(target_arch = "aarch64")]
            cpu::Neon::new().map(Level::Neon),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            cpu::Simd128::new().map(Level::Simd128),
            #[cfg(target_arch = "x86_64")]
            cpu::Avx2::new().map(|cpu| Level::Avx2 { cpu, fast_pext: false }),
            #[cfg(target_arch = "x86_64")]
            cpu::Avx2::new().filter(|_| x86_64::has_fast_pext()).map(|cpu| Level::Avx2 { cpu, fast_pext: true }),
            #[cfg(target_arch = "x86_64")]
            Avx512::new().map(Level::Avx512),
        ];
        all.into_iter().flatten().map(Self).collect()
    }

    /// The name of the level, as `TOKENLANE_CPU_LEVEL` and benchmarks have it.
    pub fn name(self) -> &'static str {
        match self.0 {
            Level::Scalar => "scalar",
            #[cfg(target_arch = "aarch64")]
            Level::Neon(_) => "neon",
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Level::Simd128(_) => "simd128",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { fast_pext: false, .. } => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { fast_pext: true, .. } => "avx2+pext",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(_) => "avx512",
        }
    }

    /// Proof of AVX2, if the level in use includes it.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn avx2(self) -> Option<cpu::Avx2> {
        match self.0 {
            Level::Scalar => None,
            Level::Avx2 { cpu, .. } => Some(cpu),
            Level::Avx512(cpu) => Some(cpu.avx2()),
        }
    }

    /// Proof of AVX-512, if that is the level in use.
    #[inline(always)]
    pub fn avx512(self) -> Option<Avx512> {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(cpu) => Some(cpu),
            _ => None,
        }
    }

    /// [`dispatch`] at this level.
    #[inline]
    fn dispatch<R>(self, work: impl FnOnce() -> R) -> R {
        match self.0 {
            Level::Scalar => work(),
            #[cfg(target_arch = "aarch64")]
            Level::Neon(_) => work(),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Level::Simd128(_) => work(),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { cpu, .. } => x86_64::run_avx2(cpu, work),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(cpu) => x86_64::run_avx512(cpu, work),
        }
    }

    /// Classifies the bytes of a block.
    #[inline(always)]
    pub fn masks(self, block: &[u8; BLOCK]) -> Masks {
        match self.0 {
            Level::Scalar => scalar::masks(block),
            #[cfg(target_arch = "aarch64")]
            Level::Neon(cpu) => aarch64::masks(cpu, block),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Level::Simd128(cpu) => wasm32::masks(cpu, block),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { cpu, .. } => x86_64::masks_avx2(cpu, block),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(cpu) => x86_64::masks_avx512(cpu, block),
        }
    }

    /// The bytes of a block that have at least one bit of `wanted` set.
    #[inline(always)]
    pub fn any_bit(self, block: &[u8; BLOCK], wanted: u8) -> u64 {
        match self.0 {
            Level::Scalar => scalar::any_bit(block, wanted),
            #[cfg(target_arch = "aarch64")]
            Level::Neon(cpu) => aarch64::any_bit(cpu, block, wanted),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Level::Simd128(cpu) => wasm32::any_bit(cpu, block, wanted),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { cpu, .. } => x86_64::any_bit_avx2(cpu, block, wanted),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(cpu) => x86_64::any_bit_avx512(cpu, block, wanted),
        }
    }

    /// Returns a bit for each number that equals `wanted` after a right shift by `shift`, which
    /// must be below 64.
    #[inline(always)]
    pub fn match_high_bits(self, numbers: &[u64; 8], shift: u32, wanted: u64) -> u32 {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { cpu, .. } => x86_64::match_high_bits_avx2(cpu, numbers, shift, wanted),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(cpu) => x86_64::match_high_bits_avx512(cpu, numbers, shift, wanted),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Level::Simd128(cpu) => wasm32::match_high_bits(cpu, numbers, shift, wanted),
            _ => scalar::match_high_bits(numbers, shift, wanted),
        }
    }

    /// Writes the packed ids to the start of `to`. The places after them get unspecified values,
    /// or stay as they are.
    #[inline(always)]
    fn unpack(self, packed: &PackedIds, to: &mut [MaybeUninit<u32>; APPEND_WIDTH]) {
        match self.0 {
            Level::Scalar => scalar::unpack(packed, to),
            #[cfg(target_arch = "aarch64")]
            Level::Neon(cpu) => aarch64::unpack(cpu, packed, to),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Level::Simd128(cpu) => wasm32::unpack(cpu, packed, to),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { cpu, .. } => x86_64::unpack(cpu, packed, to),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(cpu) => x86_64::unpack(cpu.avx2(), packed, to),
        }
    }

    /// Whether [`Self::pext`] and [`Self::pdep`] are one instruction.
    #[inline(always)]
    pub fn has_fast_pext(self) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { fast_pext: true, .. } | Level::Avx512(_) => true,
            _ => false,
        }
    }

    /// Gathers the bits of `mask` that `kept` selects into the low bits of the result.
    #[inline(always)]
    pub fn pext(self, mask: u64, kept: u64) -> u64 {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { cpu, fast_pext: true } => x86_64::pext(cpu, mask, kept),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(cpu) => x86_64::pext(cpu.avx2(), mask, kept),
            _ => bits::pext(mask, kept),
        }
    }

    /// What [`Self::pext`] computes from `kept` alone, to be shared by several masks. `None` on
    /// x86-64, where it is one instruction on most CPUs and the code for the others makes the loops
    /// around it slower.
    #[inline(always)]
    pub fn pext_rounds(self, kept: u64) -> Option<bits::Rounds> {
        cfg!(not(target_arch = "x86_64")).then(|| bits::Rounds::new(kept))
    }

    /// Scatters the low bits of `mask` to the positions that `kept` selects; the inverse of
    /// [`Self::pext`]. Bits for which `kept` has no position are dropped.
    #[inline(always)]
    pub fn pdep(self, mask: u64, kept: u64) -> u64 {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { cpu, fast_pext: true } => x86_64::pdep(cpu, mask, kept),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(cpu) => x86_64::pdep(cpu.avx2(), mask, kept),
            _ => bits::pdep(mask, kept),
        }
    }

    /// Appends `base` plus the position of each bit of `mask`, in ascending order.
    ///
    /// The list needs spare capacity for [`BLOCK`] numbers, whatever the mask: the kernels write
    /// that many and then set the length, which avoids a loop of unpredictable length.
    ///
    /// # Panics
    /// If the spare capacity is smaller.
    #[inline(always)]
    pub fn push_positions(self, mask: u64, base: u32, positions: &mut Vec<u32>) {
        let before = positions.len();
        let spare = positions.spare_capacity_mut().first_chunk_mut();
        let spare = spare.expect("the caller reserved a block of positions");
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(cpu) => x86_64::write_positions(cpu, mask, base, spare),
            _ => bits::write_positions(mask, base, spare),
        }
        // SAFETY: `spare` shows that the capacity is at least `before + BLOCK`. The kernel has
        // written one number per bit of the mask to its start, which are BLOCK numbers at most.
        unsafe { positions.set_len(before + mask.count_ones() as usize) };
    }
}

/// Runs `work` compiled for the best level of the CPU, as far as the compiler inlines it here. The
/// baseline for x86-64 is a CPU of 2003, without an unsigned minimum or a count of leading zeros.
#[inline]
pub fn dispatch<R>(work: impl FnOnce() -> R) -> R {
    Simd::best().dispatch(work)
}

/// Prefetches the cache line of a value. Does nothing on architectures without such an instruction.
#[inline]
pub fn prefetch<T>(value: &T) {
    prefetch_at(std::slice::from_ref(value), 0);
}

/// Prefetches the cache line of `values[at]`. An index out of bounds is allowed and has no effect.
#[inline(always)]
pub fn prefetch_at<T>(values: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of the x86-64 baseline. A prefetch is a hint: it reads no memory that the
    // program can observe and never faults, so the address may be invalid.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().wrapping_add(at).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, at);
}

/// Loads the cache lines of `values[at]` for each `at` of a list. Does nothing on architectures
/// other than WebAssembly, which has no prefetch: nothing waits for loads whose value is not used,
/// and in a loop of little else many are in flight at the same time.
#[inline(always)]
pub fn touch<T, I>(values: &[T], list: &[I], at: impl Fn(&I) -> usize) {
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    {
        let (eights, rest) = list.as_chunks::<8>();
        eights.iter().for_each(|eight| eight.iter().for_each(|one| wasm32::touch_at(values, at(one))));
        rest.iter().for_each(|one| wasm32::touch_at(values, at(one)));
    }
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    let _ = (values, list, at);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_level_gives_the_same_masks_for_every_byte_at_every_position() {
        for simd in Simd::all() {
            for byte in 0..=255u8 {
                for other in [b'a', b' ', 0x80, 0xFF, 0] {
                    for position in 0..BLOCK {
                        let mut block = [other; BLOCK];
                        block[position] = byte;
                        assert_eq!(simd.masks(&block), scalar::masks(&block), "{simd:?} {byte:#x} at {position}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_level_finds_the_same_bits() {
        let block: [u8; BLOCK] = std::array::from_fn(|at| (at as u8).wrapping_mul(0x9D).rotate_left(at as u32 % 8));
        for simd in Simd::all() {
            for wanted in 0..=255 {
                assert_eq!(simd.any_bit(&block, wanted), scalar::any_bit(&block, wanted), "{simd:?}");
            }
        }
    }

    #[test]
    fn positions_are_appended_in_order() {
        for mask in [0, 1, 1 << 63, 0xFF, 0x1FF, 0x8000_0001_0000_0101, u64::MAX, 0x5555_5555_5555_5555] {
            for simd in Simd::all() {
                let mut positions = Vec::with_capacity(2 + BLOCK);
                positions.extend([7, 8]);
                simd.push_positions(mask, 100, &mut positions);
                let wanted: Vec<u32> = (0..64).filter(|at| mask >> at & 1 == 1).map(|at| 100 + at).collect();
                assert_eq!(positions[2..], wanted, "{simd:?} {mask:#x}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_level_compares_high_bits(
            mut numbers in any::<[u64; 8]>(),
            same in prop::collection::vec((0usize..8, any::<u64>()), 0..4),
            shift in 0u32..64,
            wanted in any::<u64>(),
        ) {
            let wanted = wanted >> shift;
            for (at, lower) in same {
                numbers[at] = wanted << shift | lower & ((1 << shift) - 1);
            }
            for simd in Simd::all() {
                let found = simd.match_high_bits(&numbers, shift, wanted);
                let matching = (0..8).filter(|&at| numbers[at] >> shift == wanted);
                prop_assert_eq!(found, matching.map(|at| 1 << at).sum::<u32>(), "{:?}", simd);
            }
        }

        #[test]
        fn every_level_gathers_and_scatters_bit_by_bit(mask in any::<u64>(), kept in any::<u64>(), more in any::<u64>()) {
            for kept in [kept, kept & more, kept | more, 0, u64::MAX] {
                let selected = || (0..64).filter(|&at| kept >> at & 1 == 1).zip(0..64);
                let gathered = selected().fold(0, |bits, (from, to)| bits | (mask >> from & 1) << to);
                let scattered = selected().fold(0, |bits, (to, from)| bits | (mask >> from & 1) << to);
                for simd in Simd::all() {
                    prop_assert_eq!(simd.pext(mask, kept), gathered, "{:?}", simd);
                    prop_assert_eq!(simd.pdep(mask, kept), scattered, "{:?}", simd);
                }
            }
        }
    }
}
