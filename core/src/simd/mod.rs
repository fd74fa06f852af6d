//! Bytes to bit masks, 64 at a time: bit `i` of a mask speaks of byte `i`.
//!
//! [`Classifier`] is the safe door: it is made by asking the processor once, and every way behind it gives the same masks
//! (tests hold them against [`scalar`], the slow twin).

#![allow(unsafe_code)]

mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::sync::LazyLock;

/// How many bytes are looked at together.
pub(crate) const BLOCK: usize = 64;

/// The classes of the ASCII bytes of a block. No byte is in two of `letters`, `digits`, `spaces` and `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Masks {
    /// `A` to `Z` and `a` to `z`.
    pub(crate) letters: u64,
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
    /// Bytes that are not ASCII.
    pub(crate) high: u64,
}

/// A way to classify that this processor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Classifier(Way);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The fastest way that this processor has.
static BEST: LazyLock<Classifier> =
    LazyLock::new(|| *Classifier::all().last().expect("the scalar way is always there"));

impl Classifier {
    pub(crate) fn best() -> Self {
        *BEST
    }

    /// Every way that this processor has, the slowest first.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = vec![Self(Way::Scalar)];
        #[cfg(target_arch = "x86_64")]
        {
            // Every processor with AVX2 has the others of its line, but they are asked for one by one.
            let line_of_avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            if line_of_avx2 {
                all.push(Self(Way::Avx2));
            }
            if line_of_avx2 && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl") {
                all.push(Self(Way::Avx512));
            }
        }
        all
    }

    #[inline]
    pub(crate) fn masks(self, block: &[u8; BLOCK]) -> Masks {
        match self.0 {
            Way::Scalar => scalar::masks(block),
            // SAFETY: `all` is the only place that makes this value, after the processor said that it has AVX2 and its line.
            #[cfg(target_arch = "x86_64")]
            Way::Avx2 => unsafe { x86_64::masks_avx2(block) },
            // SAFETY: as above, for AVX-512 BW.
            #[cfg(target_arch = "x86_64")]
            Way::Avx512 => unsafe { x86_64::masks_avx512(block) },
        }
    }
}

/// Runs `work` compiled for the best instructions that this processor has, as far as `work` and what it calls is inlined
/// here. The compiler's own baseline for x86-64 is of 2003: no unsigned minimum, no counting of zeros in one step.
#[inline]
pub(crate) fn vectorize<R>(work: impl FnOnce() -> R) -> R {
    match Classifier::best().0 {
        Way::Scalar => work(),
        // SAFETY: `all` made these values after the processor said that it has the instructions.
        #[cfg(target_arch = "x86_64")]
        Way::Avx2 => unsafe { x86_64::run_avx2(work) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Way::Avx512 => unsafe { x86_64::run_avx512(work) },
    }
}

/// Asks the processor to bring a value near, because it will be read soon. Does nothing where there is no way to.
#[inline]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of every x86-64, and a prefetch reads nothing that the program could see.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_gives_the_same_masks_for_every_byte_at_every_place() {
        for classifier in Classifier::all() {
            for byte in 0..=255u8 {
                for other in [b'a', b' ', 0x80, 0xFF, 0] {
                    for place in 0..BLOCK {
                        let mut block = [other; BLOCK];
                        block[place] = byte;
                        assert_eq!(
                            classifier.masks(&block),
                            scalar::masks(&block),
                            "{classifier:?} {byte:#x} at {place}"
                        );
                    }
                }
            }
        }
    }
}
