//! The order of merges within a word, as one number.

/// Packs a merge's rank and its position in the word into one number, the *priority*.
///
/// BPE merges the pair with the lowest rank, and the leftmost of equal ones. With the rank in the
/// high bits and the position in the low bits, that is the pair with the lowest priority. Larger
/// ranks than [`Self::RANK_LIMIT`] do not fit; a word of such a vocabulary is merged by
/// `bpe::long` of the core.
pub struct MergePriority;

impl MergePriority {
    /// Positions are below two to the power of this.
    pub const POSITION_BITS: u32 = 6;
    /// Ranks from here on do not fit. The rank that marks a pair without a merge is one of them.
    pub const RANK_LIMIT: u32 = u32::MAX >> Self::POSITION_BITS;
    /// Priorities from here on belong to pairs without a merge.
    pub const NO_MERGE: u32 = Self::RANK_LIMIT << Self::POSITION_BITS;

    /// The priority of a merge.
    #[inline(always)]
    pub fn pack(rank: u32, position: usize) -> u32 {
        rank << Self::POSITION_BITS | position as u32
    }

    /// The position in a priority.
    #[inline(always)]
    pub fn position(priority: u32) -> usize {
        (priority & ((1 << Self::POSITION_BITS) - 1)) as usize
    }
}
