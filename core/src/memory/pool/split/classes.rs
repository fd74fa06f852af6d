//! The three classes of size, and how blocks of each are cut.

/// How blocks of one class are cut.
#[derive(Debug, Clone, Copy)]
pub struct Class {
    /// What is asked for is of this class up to so many bytes.
    pub most: usize,
    /// Sizes are multiples of two to the power of this: a shift is quicker than a division.
    pub rounding: u32,
    /// A rest of at least so many bytes stays as a block; a smaller one goes with the block that is lent.
    pub least_rest: usize,
    /// New memory is so many bytes at least.
    pub growth: usize,
    /// A mapping can grow to so many bytes where it is.
    pub reserved: usize,
}

/// The place of the class in [`CLASSES`].
pub const SMALL: usize = 0;
/// As above.
pub const LARGE: usize = 1;
/// As above.
pub const HUGE: usize = 2;

/// Small and large blocks are cut from mappings that grow with what the class has. A huge block has a mapping of its own; what
/// is too much of it stays behind it for the next one, until that memory is wanted elsewhere.
pub const CLASSES: [Class; 3] = [
    Class { most: 1 << 20, rounding: 9, least_rest: 512, growth: 1 << 20, reserved: 64 << 20 },
    Class { most: 32 << 20, rounding: 17, least_rest: 128 << 10, growth: 0, reserved: 64 << 20 },
    Class { most: usize::MAX, rounding: 21, least_rest: 2 << 20, growth: 0, reserved: 0 },
];

/// The class of so many bytes.
pub fn class_of(bytes: usize) -> usize {
    CLASSES.iter().position(|class| bytes <= class.most).unwrap_or(HUGE)
}

/// So many bytes as a block of their class has them; nothing if that is more than any memory.
pub fn rounded(bytes: usize) -> Option<usize> {
    bytes.max(1).checked_next_multiple_of(CLASSES[class_of(bytes)].unit())
}

impl Class {
    /// What sizes are multiples of.
    pub const fn unit(&self) -> usize {
        1 << self.rounding
    }
}
