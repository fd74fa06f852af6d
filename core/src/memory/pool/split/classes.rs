//! The three classes of size, and how blocks of each are cut.

/// What is asked for is of one of these by its size, and so are blocks and mappings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SizeClass {
    #[default]
    Small,
    Large,
    Huge,
}

/// How blocks of one class are cut.
#[derive(Debug)]
pub struct Tunables {
    /// What is asked for is of this class up to so many bytes.
    pub max_bytes: usize,
    /// Sizes are multiples of a unit: two to the power of this in bytes. A shift is quicker than a division.
    pub rounding: u32,
    /// A rest of at least so many units stays as a block; a smaller one goes with the block that is lent.
    pub min_remainder: u32,
    /// New memory is so many bytes at least.
    pub growth: usize,
    /// A mapping can grow to so many bytes where it is.
    pub reserved: usize,
}

/// Small and large blocks are cut from mappings that grow with what the class has. A huge block has a mapping of its own; what
/// is too much of it stays behind it for the next one, until that memory is wanted elsewhere.
static TUNABLES: [Tunables; 3] = [
    Tunables { max_bytes: 1 << 20, rounding: 9, min_remainder: 1, growth: 1 << 20, reserved: 64 << 20 },
    Tunables { max_bytes: 32 << 20, rounding: 17, min_remainder: 1, growth: 0, reserved: 64 << 20 },
    Tunables { max_bytes: usize::MAX, rounding: 21, min_remainder: 1, growth: 0, reserved: 0 },
];

/// More than any memory has, and few enough for 32 bits to count its units.
const MAX_BYTES: usize = {
    let (units, addresses) = ((u32::MAX as u64) << 20, isize::MAX as u64);
    if units < addresses { units as usize } else { addresses as usize }
};

impl SizeClass {
    /// From the largest to the smallest.
    pub const ALL: [Self; 3] = [Self::Huge, Self::Large, Self::Small];

    /// The class of so many bytes.
    pub fn of(bytes: usize) -> Self {
        let is_in = |class: &Self| bytes <= class.tunables().max_bytes;
        [Self::Small, Self::Large].into_iter().find(is_in).unwrap_or(Self::Huge)
    }

    /// The class of so many bytes, and how many of its units they take: one or more. Nothing if that is more than any memory.
    pub fn and_size(bytes: usize) -> Option<(Self, u32)> {
        let class = Self::of(bytes);
        (bytes <= MAX_BYTES).then(|| (class, class.size(bytes)))
    }

    pub fn tunables(self) -> &'static Tunables {
        &TUNABLES[self as usize]
    }

    /// What sizes are multiples of, in bytes.
    pub fn unit(self) -> usize {
        1 << self.tunables().rounding
    }

    /// So many units in bytes.
    pub fn bytes(self, size: u32) -> usize {
        (size as usize) << self.tunables().rounding
    }

    /// The units that so many bytes take, one or more, where they are no more than [`MOST`].
    pub fn size(self, bytes: usize) -> u32 {
        debug_assert!(bytes <= MAX_BYTES);
        ((bytes.max(1) - 1) >> self.tunables().rounding) as u32 + 1
    }

    /// The same for what is a multiple of the unit, or nothing.
    pub fn units(self, bytes: usize) -> u32 {
        debug_assert_eq!(bytes % self.unit(), 0);
        (bytes >> self.tunables().rounding) as u32
    }
}
