//! A few numbers in sixteen bytes, to be unpacked in one step.

/// Up to five numbers of three bytes each, or up to seven of two where all are so small; little-endian, from the first byte on. In the
/// last byte stands how many they are, and [`Self::NARROW`]; its other bits are of whoever keeps them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct PackedIds([u8; 16]);

impl PackedIds {
    /// The most numbers.
    pub(crate) const CAPACITY: usize = capacity_of(2);
    /// The bits of the count. More than [`Self::CAPACITY`] says that something else stands here.
    pub(crate) const COUNT_MASK: u8 = 0xF;
    /// Numbers are of two bytes.
    pub(crate) const NARROW: u8 = 0x20;

    /// Of a few numbers, where they fit.
    pub(crate) fn new(numbers: impl ExactSizeIterator<Item = u32> + Clone) -> Option<Self> {
        let fit =
            |size: usize| numbers.len() <= capacity_of(size) && numbers.clone().all(|number| number >> (8 * size) == 0);
        let size = [2, 3].into_iter().find(|&size| fit(size))?;
        let mut bytes = [0; 16];
        bytes[15] = numbers.len() as u8 | if size == 2 { Self::NARROW } else { 0 };
        for (place, number) in bytes.chunks_exact_mut(size).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes()[..size]);
        }
        Some(Self(bytes))
    }

    /// Of what [`Self::bytes`] told.
    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The last byte.
    #[inline(always)]
    pub(crate) fn control(&self) -> u8 {
        self.0[15]
    }

    /// Sets those bits of the last byte, or clears them.
    pub(crate) fn set_flags(&mut self, bits: u8, on: bool) {
        self.0[15] = self.0[15] & !bits | if on { bits } else { 0 };
    }

    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        usize::from(self.control() & Self::COUNT_MASK)
    }

    #[inline(always)]
    pub(crate) fn is_narrow(&self) -> bool {
        self.control() & Self::NARROW != 0
    }

    /// The numbers, one by one.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> {
        let size = if self.is_narrow() { 2 } else { 3 };
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte));
        self.0.chunks_exact(size).take(self.count()).map(number)
    }
}

/// How many numbers of so many bytes there are at most; the last byte is free.
const fn capacity_of(size: usize) -> usize {
    15 / size
}

/// For a shuffle of bytes: of numbers of three bytes, and of two, to eight of four bytes each. What is not there is zero.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) const UNPACK_SHUFFLES: [[u8; 32]; 2] = [unpack_shuffle(3), unpack_shuffle(2)];

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const fn unpack_shuffle(size: usize) -> [u8; 32] {
    let mut from = [0x80; 32];
    let mut at = 0;
    while at < size * capacity_of(size) {
        from[at / size * 4 + at % size] = at as u8;
        at += 1;
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_fits_is_what_was_put_in(numbers in prop::collection::vec(prop_oneof![3 => 0u32..1 << 16, 1 => 0u32..1 << 24], 0..9)) {
            let narrow = numbers.iter().all(|&number| number < 1 << 16);
            let packed = PackedIds::new(numbers.iter().copied());
            prop_assert_eq!(packed.is_some(), numbers.len() <= if narrow { 7 } else { 5 });
            if let Some(mut packed) = packed {
                prop_assert_eq!((packed.count(), packed.is_narrow()), (numbers.len(), narrow));
                packed.set_flags(0xC0, true);
                packed.set_flags(0x40, false);
                prop_assert_eq!(packed.control() & 0xC0, 0x80);
                prop_assert_eq!(packed.ids().collect::<Vec<_>>(), numbers);
            }
        }
    }

    #[test]
    fn large_numbers_do_not_fit() {
        assert_eq!(PackedIds::new([1, 1 << 24].into_iter()), None);
        assert!(PackedIds::new([(1 << 24) - 1; 5].into_iter()).is_some());
    }
}
