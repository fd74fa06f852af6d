//! A few token ids in sixteen bytes, which one byte shuffle unpacks.

/// Up to seven ids of two bytes each, if all are that small, or up to five of three bytes.
///
/// The ids start at byte 0, little-endian. Byte 15 is the control byte: [`Self::COUNT_MASK`]
/// selects the number of ids, [`Self::NARROW`] says that they have two bytes. The other bits of the
/// control byte belong to the owner of the value.
///
/// It is built and changed as one number, in registers: a CPU that loads sixteen bytes at once,
/// just after they were stored in parts, waits for the stores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct PackedIds([u8; 16]);

/// The place of the control byte.
const CONTROL_SHIFT: u32 = 120;

impl PackedIds {
    /// The maximum number of ids.
    pub const CAPACITY: usize = capacity_of(2);
    /// The bits of the count. A count above [`Self::CAPACITY`] marks a value that holds something
    /// other than ids.
    pub const COUNT_MASK: u8 = 0xF;
    /// Set if ids have two bytes.
    pub const NARROW: u8 = 0x20;

    /// Packs ids, if they fit.
    #[inline]
    pub fn new(ids: impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + Clone) -> Option<Self> {
        let (count, all) = (ids.len(), ids.clone().fold(0, |all, id| all | id));
        let fits = |size: usize| count <= capacity_of(size) && all >> (8 * size) == 0;
        let pack = |bits: u32| ids.rev().fold(0, |packed, id| packed << bits | u128::from(id));
        let (packed, flags) = if fits(2) {
            (pack(16), Self::NARROW)
        } else if fits(3) {
            (pack(24), 0)
        } else {
            return None;
        };
        Some(Self::from_number(packed | u128::from(count as u8 | flags) << CONTROL_SHIFT))
    }

    /// The inverse of [`Self::number`].
    #[inline(always)]
    pub fn from_number(number: u128) -> Self {
        Self(number.to_le_bytes())
    }

    /// The sixteen bytes as a little-endian number.
    #[inline(always)]
    pub fn number(self) -> u128 {
        u128::from_le_bytes(self.0)
    }

    /// The control byte.
    #[inline(always)]
    pub fn control(&self) -> u8 {
        self.0[15]
    }

    /// Sets or clears bits of the control byte.
    #[inline(always)]
    pub fn set_flags(&mut self, bits: u8, on: bool) {
        let bits = u128::from(bits) << CONTROL_SHIFT;
        *self = Self::from_number(self.number() & !bits | if on { bits } else { 0 });
    }

    /// The number of ids, or a number above [`Self::CAPACITY`] if the value holds no ids.
    #[inline(always)]
    pub fn count(&self) -> usize {
        usize::from(self.control() & Self::COUNT_MASK)
    }

    /// Whether ids have two bytes.
    #[inline(always)]
    pub fn is_narrow(&self) -> bool {
        self.control() & Self::NARROW != 0
    }

    /// The ids, one by one.
    pub fn ids(self) -> impl Iterator<Item = u32> {
        let size = if self.is_narrow() { 2 } else { 3 };
        let id = move |at: usize| (self.number() >> (8 * size * at)) as u32 & ((1 << (8 * size)) - 1);
        (0..self.count().min(capacity_of(size))).map(id)
    }
}

/// The maximum number of ids of `size` bytes, without the control byte.
const fn capacity_of(size: usize) -> usize {
    15 / size
}

/// Byte shuffles that widen eight ids of three bytes, or of two, to four bytes each. Index 0x80
/// yields a zero byte.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
pub(super) const UNPACK_SHUFFLES: [[u8; 32]; 2] = [unpack_shuffle(3), unpack_shuffle(2)];

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
const fn unpack_shuffle(size: usize) -> [u8; 32] {
    let mut shuffle = [0x80; 32];
    let mut at = 0;
    while at < size * capacity_of(size) {
        shuffle[at / size * 4 + at % size] = at as u8;
        at += 1;
    }
    shuffle
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ids_that_fit_are_returned_as_packed(ids in prop::collection::vec(prop_oneof![3 => 0u32..1 << 16, 1 => 0u32..1 << 24], 0..9)) {
            let narrow = ids.iter().all(|&id| id < 1 << 16);
            let packed = PackedIds::new(ids.iter().copied());
            prop_assert_eq!(packed.is_some(), ids.len() <= if narrow { 7 } else { 5 });
            if let Some(mut packed) = packed {
                prop_assert_eq!((packed.count(), packed.is_narrow()), (ids.len(), narrow));
                packed.set_flags(0xC0, true);
                packed.set_flags(0x40, false);
                prop_assert_eq!(packed.control() & 0xC0, 0x80);
                prop_assert_eq!(packed.ids().collect::<Vec<_>>(), ids);
            }
        }
    }

    #[test]
    fn large_ids_do_not_fit() {
        assert_eq!(PackedIds::new([1, 1 << 24].into_iter()), None);
        assert!(PackedIds::new([(1 << 24) - 1; 5].into_iter()).is_some());
    }
}
