//! The three size classes, and how blocks of each are cut.

/// A size class. Requests, blocks and mappings belong to one each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SizeClass {
    #[default]
    Small,
    Large,
    Huge,
}

/// The parameters of a class.
#[derive(Debug)]
pub struct Tunables {
    /// The largest request of this class, in bytes.
    pub max_bytes: usize,
    /// Binary logarithm of the unit in bytes. All sizes are multiples of the unit; a shift is
    /// faster than a division.
    pub rounding: u32,
    /// A remainder of at least this many units becomes a free block; a smaller one stays with the
    /// outstanding block.
    pub min_remainder: u32,
    /// The minimum size of new memory, in bytes.
    pub growth: usize,
    /// The size in bytes up to which a mapping grows in place.
    pub reserved: usize,
}

/// Small and large blocks are cut from mappings that grow with their class. A huge block has a
/// mapping of its own; its remainder stays after it for the next huge block until that memory is
/// needed elsewhere.
static TUNABLES: [Tunables; 3] = [
    Tunables { max_bytes: 1 << 20, rounding: 9, min_remainder: 1, growth: 1 << 20, reserved: 64 << 20 },
    Tunables { max_bytes: 32 << 20, rounding: 17, min_remainder: 1, growth: 0, reserved: 64 << 20 },
    Tunables { max_bytes: usize::MAX, rounding: 21, min_remainder: 1, growth: 0, reserved: 0 },
];

/// More bytes than any memory has, but few enough for 32 bits to count the units.
const MAX_SPAN: usize = {
    let (units, addresses) = ((u32::MAX as u64) << 20, isize::MAX as u64);
    if units < addresses { units as usize } else { addresses as usize }
};

impl SizeClass {
    /// All classes, from the largest to the smallest.
    pub const ALL: [Self; 3] = [Self::Huge, Self::Large, Self::Small];

    /// The class of a request of `bytes`.
    pub fn of(bytes: usize) -> Self {
        let is_in = |class: &Self| bytes <= class.tunables().max_bytes;
        [Self::Small, Self::Large].into_iter().find(is_in).unwrap_or(Self::Huge)
    }

    /// The class of a request of `bytes`, and its size in units, at least 1. `None` if `bytes`
    /// exceeds [`MAX_SPAN`].
    pub fn and_size(bytes: usize) -> Option<(Self, u32)> {
        let class = Self::of(bytes);
        (bytes <= MAX_SPAN).then(|| (class, class.size(bytes)))
    }

    pub fn tunables(self) -> &'static Tunables {
        &TUNABLES[self as usize]
    }

    /// The unit in bytes.
    pub fn unit(self) -> usize {
        1 << self.tunables().rounding
    }

    /// Converts units to bytes.
    pub fn bytes(self, size: u32) -> usize {
        (size as usize) << self.tunables().rounding
    }

    /// Converts bytes to units, rounding up; at least 1. `bytes` is at most [`MAX_SPAN`].
    pub fn size(self, bytes: usize) -> u32 {
        debug_assert!(bytes <= MAX_SPAN);
        ((bytes.max(1) - 1) >> self.tunables().rounding) as u32 + 1
    }

    /// Converts bytes to units. `bytes` is a multiple of the unit and may be 0.
    pub fn units(self, bytes: usize) -> u32 {
        debug_assert_eq!(bytes % self.unit(), 0);
        (bytes >> self.tunables().rounding) as u32
    }
}
