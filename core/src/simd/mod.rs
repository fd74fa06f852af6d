//! Bytes to bit masks, 64 at a time: bit `i` of a mask speaks of byte `i`.
//!
//! [`Simd`] is the safe door: it is made by asking the processor once, and every way behind it gives the same masks
//! (tests hold them against [`scalar`], the slow twin).

#![allow(unsafe_code)]

#[cfg(target_arch = "aarch64")]
mod aarch64;
pub(crate) mod append;
pub(crate) mod bits;
mod compress;
pub(crate) mod lanes;
pub(crate) mod packed;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::mem::MaybeUninit;
use std::sync::LazyLock;

use append::APPEND_WIDTH;
use packed::PackedIds;

/// How many bytes are looked at together.
pub(crate) const BLOCK: usize = 64;

/// The classes of the ASCII bytes of a block. No byte is in two of `letters`, `digits`, `spaces` and `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Masks {
    /// `A` to `Z` and `a` to `z`.
    pub(crate) letters: u64,
    /// `A` to `Z`.
    pub(crate) capitals: u64,
    /// `0` to `9`.
    pub(crate) digits: u64,
    /// Tab to carriage return, and space.
    pub(crate) spaces: u64,
    /// The space alone.
    pub(crate) blanks: u64,
    /// Line feed and carriage return.
    pub(crate) line_breaks: u64,
    /// The apostrophe.
    pub(crate) apostrophes: u64,
    /// The slash.
    pub(crate) slashes: u64,
    /// `!` to `~`: what can be seen.
    pub(crate) visible: u64,
    /// Bytes that are not ASCII.
    pub(crate) high: u64,
}

/// A way to classify that this processor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Simd(Level);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Scalar,
    #[cfg(target_arch = "aarch64")]
    Neon,
    #[cfg(target_arch = "x86_64")]
    Avx2 {
        /// Whether PEXT and PDEP are one step; on older AMD processors they are a loop over the bits.
        fast_pext: bool,
    },
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The fastest way that this processor has.
static BEST: LazyLock<Simd> = LazyLock::new(|| *Simd::all().last().expect("the scalar way is always there"));

/// Says that this processor has AVX-512 F, BW, CD, DQ, VL and VBMI2, and what came with AVX2: whoever has one may call what is compiled
/// for them.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512(());

impl Simd {
    pub(crate) fn best() -> Self {
        *BEST
    }

    /// Every way that this processor has, the slowest first.
    pub(crate) fn all() -> Vec<Self> {
        #[cfg_attr(not(any(target_arch = "aarch64", target_arch = "x86_64")), allow(unused_mut))]
        let mut all = vec![Self(Level::Scalar)];
        // Every processor of this architecture has NEON.
        #[cfg(target_arch = "aarch64")]
        all.push(Self(Level::Neon));
        #[cfg(target_arch = "x86_64")]
        {
            // Every processor with AVX2 has the others of its line, but they are asked for one by one.
            let line_of_avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            if line_of_avx2 {
                all.push(Self(Level::Avx2 { fast_pext: false }));
                if x86_64::has_fast_pext() {
                    all.push(Self(Level::Avx2 { fast_pext: true }));
                }
            }
            // The first ones with AVX-512 do not have the second part of VBMI; AVX2 serves these nearly as well.
            let line_of_avx512 = is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512cd")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vbmi2");
            if line_of_avx2 && line_of_avx512 {
                all.push(Self(Level::Avx512));
            }
        }
        all
    }

    /// If this is the way by AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn avx512(self) -> Option<Avx512> {
        // `all` made it after the processor said that it has all of these.
        (self.0 == Level::Avx512).then_some(Avx512(()))
    }

    #[inline(always)]
    pub(crate) fn masks(self, block: &[u8; BLOCK]) -> Masks {
        match self.0 {
            Level::Scalar => scalar::masks(block),
            // SAFETY: every processor of this architecture has NEON.
            #[cfg(target_arch = "aarch64")]
            Level::Neon => unsafe { aarch64::masks(block) },
            // SAFETY: `all` is the only place that makes this value, after the processor said that it has AVX2 and its line.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { .. } => unsafe { x86_64::masks_avx2(block) },
            // SAFETY: as above, for AVX-512 BW.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { x86_64::masks_avx512(block) },
        }
    }

    /// The bytes that have one of the bits of `wanted`.
    #[inline(always)]
    pub(crate) fn any_bit(self, block: &[u8; BLOCK], wanted: u8) -> u64 {
        match self.0 {
            Level::Scalar => scalar::any_bit(block, wanted),
            // SAFETY: every processor of this architecture has NEON.
            #[cfg(target_arch = "aarch64")]
            Level::Neon => unsafe { aarch64::any_bit(block, wanted) },
            // SAFETY: as in `masks`.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { .. } => unsafe { x86_64::any_bit_avx2(block, wanted) },
            // SAFETY: as in `masks`.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { x86_64::any_bit_avx512(block, wanted) },
        }
    }

    /// The numbers that are `wanted` once their lower `shift` bits, fewer than 64, are gone: a bit for each.
    #[inline(always)]
    pub(crate) fn match_high_bits(self, numbers: &[u64; 8], shift: u32, wanted: u64) -> u32 {
        match self.0 {
            // SAFETY: as in `masks`.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { .. } => unsafe { x86_64::match_high_bits_avx2(numbers, shift, wanted) },
            // SAFETY: as in `masks`.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { x86_64::match_high_bits_avx512(numbers, shift, wanted) },
            _ => scalar::match_high_bits(numbers, shift, wanted),
        }
    }

    /// The numbers that are packed, and something behind them. All of `room` is written, or the first of it.
    #[inline(always)]
    fn unpack(self, packed: &PackedIds, room: &mut [MaybeUninit<u32>; APPEND_WIDTH]) {
        match self.0 {
            // SAFETY: every processor of this architecture has NEON.
            #[cfg(target_arch = "aarch64")]
            Level::Neon => unsafe { aarch64::unpack(packed, room) },
            // SAFETY: as in `masks`; AVX-512 comes with AVX2.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { .. } | Level::Avx512 => unsafe { x86_64::unpack(packed, room) },
            Level::Scalar => scalar::unpack(packed, room),
        }
    }

    /// Whether [`Self::pext`] is one step.
    #[inline(always)]
    pub(crate) fn has_fast_pext(self) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { fast_pext: true } | Level::Avx512 => true,
            _ => false,
        }
    }

    /// The bits of `mask` at the places of `kept`, moved together: the lowest place of `kept` becomes bit 0.
    #[inline(always)]
    pub(crate) fn pext(self, mask: u64, kept: u64) -> u64 {
        match self.0 {
            // SAFETY: `all` made these values after the processor said that it has BMI 2.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { fast_pext: true } | Level::Avx512 => unsafe { x86_64::pext(mask, kept) },
            _ => bits::pext(mask, kept),
        }
    }

    /// The other way round: bit 0 of `mask` goes to the lowest place of `kept`. Bits that find no place are dropped.
    #[inline(always)]
    pub(crate) fn pdep(self, mask: u64, kept: u64) -> u64 {
        match self.0 {
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { fast_pext: true } | Level::Avx512 => unsafe { x86_64::pdep(mask, kept) },
            _ => bits::pdep(mask, kept),
        }
    }

    /// Appends the places of the bits of `mask`, counted from `base`. There must be room for [`BLOCK`] more, whatever the
    /// mask: with that, neither moving nor a loop is needed that cannot foresee how often it runs.
    ///
    /// # Panics
    /// If there is less room.
    #[inline(always)]
    pub(crate) fn push_positions(self, mask: u64, base: u32, places: &mut Vec<u32>) {
        let before = places.len();
        let room = places.spare_capacity_mut().first_chunk_mut().expect("the caller made room");
        match self.0 {
            // SAFETY: as in `masks`.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { x86_64::write_positions(mask, base, room) },
            _ => bits::write_positions(mask, base, room),
        }
        // SAFETY: there was room for BLOCK more, and as many as the mask has bits were written, which are no more than that.
        unsafe { places.set_len(before + mask.count_ones() as usize) };
    }
}

/// Runs `work` compiled for the best instructions that this processor has, as far as `work` and what it calls is inlined
/// here. The compiler's own baseline for x86-64 is of 2003: no unsigned minimum, no counting of zeros in one step.
#[inline]
pub(crate) fn dispatch<R>(work: impl FnOnce() -> R) -> R {
    match Simd::best().0 {
        Level::Scalar => work(),
        #[cfg(target_arch = "aarch64")]
        Level::Neon => work(),
        // SAFETY: `all` made these values after the processor said that it has the instructions.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 { .. } => unsafe { x86_64::run_avx2(work) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86_64::run_avx512(work) },
    }
}

/// Asks the processor to bring a value near, because it will be read soon. Does nothing where there is no way to.
#[inline]
pub(crate) fn prefetch<T>(value: &T) {
    prefetch_at(std::slice::from_ref(value), 0);
}

/// The same for one of `values`, or none when there is no such one: it may be anywhere, and that is not asked.
#[inline(always)]
pub(crate) fn prefetch_at<T>(values: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of every x86-64. A prefetch reads nothing that the program could see, and does nothing where there is no memory.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().wrapping_add(at).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, at);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_way_gives_the_same_masks_for_every_byte_at_every_place() {
        for simd in Simd::all() {
            for byte in 0..=255u8 {
                for other in [b'a', b' ', 0x80, 0xFF, 0] {
                    for place in 0..BLOCK {
                        let mut block = [other; BLOCK];
                        block[place] = byte;
                        assert_eq!(simd.masks(&block), scalar::masks(&block), "{simd:?} {byte:#x} at {place}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_way_finds_the_same_bits() {
        let block: [u8; BLOCK] = std::array::from_fn(|at| (at as u8).wrapping_mul(0x9D).rotate_left(at as u32 % 8));
        for simd in Simd::all() {
            for wanted in 0..=255 {
                assert_eq!(simd.any_bit(&block, wanted), scalar::any_bit(&block, wanted), "{simd:?}");
            }
        }
    }

    #[test]
    fn places_are_appended_in_order() {
        for mask in [0, 1, 1 << 63, 0xFF, 0x1FF, 0x8000_0001_0000_0101, u64::MAX, 0x5555_5555_5555_5555] {
            for simd in Simd::all() {
                let mut places = Vec::with_capacity(2 + BLOCK);
                places.extend([7, 8]);
                simd.push_positions(mask, 100, &mut places);
                let wanted: Vec<u32> =
                    (0..64).filter(|place| mask >> place & 1 == 1).map(|place| 100 + place).collect();
                assert_eq!(places[2..], wanted, "{simd:?} {mask:#x}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_way_compares_upper_bits(
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
                let places = (0..8).filter(|&at| numbers[at] >> shift == wanted);
                prop_assert_eq!(found, places.map(|at| 1 << at).sum::<u32>(), "{:?}", simd);
            }
        }

        #[test]
        fn every_way_squeezes_and_stretches_bit_by_bit(mask in any::<u64>(), kept in any::<u64>(), more in any::<u64>()) {
            for kept in [kept, kept & more, kept | more, 0, u64::MAX] {
                let places = || (0..64).filter(|&place| kept >> place & 1 == 1).zip(0..64);
                let squeezed = places().fold(0, |bits, (from, to)| bits | (mask >> from & 1) << to);
                let stretched = places().fold(0, |bits, (to, from)| bits | (mask >> from & 1) << to);
                for simd in Simd::all() {
                    prop_assert_eq!(simd.pext(mask, kept), squeezed, "{:?}", simd);
                    prop_assert_eq!(simd.pdep(mask, kept), stretched, "{:?}", simd);
                }
            }
        }
    }
}
