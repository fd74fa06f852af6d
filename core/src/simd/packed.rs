//! A few token ids in sixteen bytes, which one byte shuffle unpacks.

/// Up to seven ids of two bytes each, if all are that small, or up to five of three bytes.
///
/// The ids start at byte 0, little-endian. Byte 15 is the control byte: [`Self::COUNT_MASK`]
/// selects the number of ids, [`Self::NARROW`] says that they have two bytes. The other bits of the
/// control byte belong to the owner of the value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct PackedIds([u8; 16]);

impl PackedIds {
    /// The maximum number of ids.
    pub(crate) const CAPACITY: usize = capacity_of(2);
    /// The bits of the count. A count above [`Self::CAPACITY`] marks a value that holds something
    /// other than ids.
    pub(crate) const COUNT_MASK: u8 = 0xF;
    /// Set if ids have two bytes.
    pub(crate) const NARROW: u8 = 0x20;

    /// Packs ids, if they fit.
    pub(crate) fn new(ids: impl ExactSizeIterator<Item = u32> + Clone) -> Option<Self> {
        let (count, all) = (ids.len(), ids.clone().fold(0, |all, id| all | id));
        let fits = |size: usize| count <= capacity_of(size) && all >> (8 * size) == 0;
        let size = [2, 3].into_iter().find(|&size| fits(size))?;
        // Four bytes are written for each id; the next id overwrites those that are zero.
        let mut written = [0; 16 + size_of::<u32>()];
        for (at, id) in ids.enumerate() {
            written[at * size..][..size_of::<u32>()].copy_from_slice(&id.to_le_bytes());
        }
        let mut bytes: [u8; 16] = *written.first_chunk().expect("sixteen bytes");
        bytes[15] = count as u8 | if size == 2 { Self::NARROW } else { 0 };
        Some(Self(bytes))
    }

    /// The inverse of [`Self::bytes`].
    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The control byte.
    #[inline(always)]
    pub(crate) fn control(&self) -> u8 {
        self.0[15]
    }

    /// Sets or clears bits of the control byte.
    pub(crate) fn set_flags(&mut self, bits: u8, on: bool) {
        self.0[15] = self.0[15] & !bits | if on { bits } else { 0 };
    }

    /// The number of ids, or a number above [`Self::CAPACITY`] if the value holds no ids.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        usize::from(self.control() & Self::COUNT_MASK)
    }

    /// Whether ids have two bytes.
    #[inline(always)]
    pub(crate) fn is_narrow(&self) -> bool {
        self.control() & Self::NARROW != 0
    }

    /// The ids, one by one.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> {
        let size = if self.is_narrow() { 2 } else { 3 };
        let id = |bytes: &[u8]| bytes.iter().rev().fold(0, |id, &byte| id << 8 | u32::from(byte));
        self.0.chunks_exact(size).take(self.count()).map(id)
    }
}

/// The maximum number of ids of `size` bytes, without the control byte.
const fn capacity_of(size: usize) -> usize {
    15 / size
}

/// Byte shuffles that widen eight ids of three bytes, or of two, to four bytes each. Index 0x80
/// yields a zero byte.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) const UNPACK_SHUFFLES: [[u8; 32]; 2] = [unpack_shuffle(3), unpack_shuffle(2)];

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
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
