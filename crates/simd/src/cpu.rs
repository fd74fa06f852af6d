//! Proofs that the CPU has an instruction set.
//!
//! A value of one of these types can only be created by asking the CPU. A kernel that takes one is
//! therefore safe to call; the `unsafe` call of the instructions is inside the kernel.

/// Proof of NEON, which is part of the aarch64 baseline.
#[cfg(target_arch = "aarch64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neon(());

#[cfg(target_arch = "aarch64")]
impl Neon {
    /// Asks the CPU.
    pub fn new() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }
}

/// Proof of the 128-bit vectors of WebAssembly. A module that has them does not compile in an
/// engine without them, so the type exists only in modules that were compiled with them.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Simd128(());

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
impl Simd128 {
    /// The module was compiled with them.
    pub const PROOF: Self = Self(());

    /// Always there.
    pub fn new() -> Option<Self> {
        Some(Self::PROOF)
    }
}

/// Proof of AVX2, BMI1, BMI2, LZCNT and POPCNT.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// Asks the CPU. Every CPU with AVX2 has the other instructions, but nothing guarantees that.
    pub fn new() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        has_all.then_some(Self(()))
    }
}

/// Proof of AVX-512 F, BW, CD, DQ, VL and VBMI2, and of what [`Avx2`] proves.
///
/// On architectures other than x86-64 the type has no values. Code that takes one compiles there,
/// and cannot run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx512(Private);

#[cfg(target_arch = "x86_64")]
type Private = ();
#[cfg(not(target_arch = "x86_64"))]
type Private = std::convert::Infallible;

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// Asks the CPU. The first CPUs with AVX-512 lack VBMI2 and use AVX2, which is nearly as fast.
    pub fn new() -> Option<Self> {
        let has_all = Avx2::new().is_some()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi2");
        has_all.then_some(Self(()))
    }

    /// The weaker proof that this one includes.
    #[inline(always)]
    pub fn avx2(self) -> Avx2 {
        Avx2(())
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Avx512 {
    /// Stands for the result of a kernel that does not exist on this architecture.
    pub fn unreachable<T>(self) -> T {
        match self.0 {}
    }
}
