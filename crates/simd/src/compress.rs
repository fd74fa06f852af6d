//! Compaction of the selected bytes of a block.

#[cfg(target_arch = "x86_64")]
use super::Level;
use super::{BLOCK, Simd};

impl Simd {
    /// Writes the bytes of `block` selected by `kept` to the start of `out`, in order. The rest of
    /// `out` is unspecified.
    #[inline(always)]
    pub fn compress(self, block: &[u8; BLOCK], kept: u64, out: &mut [u8; BLOCK]) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(cpu) => super::x86_64::compress_avx512(cpu, block, kept, out),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 { fast_pext: true, cpu } => super::x86_64::compress_avx2(cpu, block, kept, out),
            _ => by_run(block, kept, out),
        }
    }
}

/// Copies one run of selected bytes at a time.
fn by_run(block: &[u8; BLOCK], mut kept: u64, out: &mut [u8; BLOCK]) {
    let mut to = 0;
    while kept != 0 {
        let start = kept.trailing_zeros() as usize;
        let len = (kept >> start).trailing_ones() as usize;
        out[to..to + len].copy_from_slice(&block[start..start + len]);
        to += len;
        kept &= u64::MAX.checked_shl((start + len) as u32).unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_level_compresses_to_the_same_bytes(mask in any::<u64>(), more in any::<u64>()) {
            let block: [u8; BLOCK] = std::array::from_fn(|at| at as u8 + 1);
            for kept in [mask, mask & more, mask | more, 0, u64::MAX] {
                let expected: Vec<u8> = (0..BLOCK).filter(|at| kept >> at & 1 == 1).map(|at| block[at]).collect();
                for simd in Simd::all() {
                    let mut out = [0; BLOCK];
                    simd.compress(&block, kept, &mut out);
                    prop_assert_eq!(&out[..expected.len()], &expected[..], "{:?}", simd);
                }
            }
        }
    }
}
