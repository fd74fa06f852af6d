//! Which pairs cannot join: a bit for each that can, by the upper bits of the number that a table makes of it.
//!
//! Most pairs that are asked for do not join, and this tells nearly all of them from a list that is small enough to stay near.

/// Bits for each pair, at least.
const BITS_PER_KEY: usize = 8;

#[derive(Debug)]
pub(in crate::bpe) struct PairFilter {
    words: Vec<u64>,
    /// The bits of a number that do not count.
    shift: u32,
}

impl PairFilter {
    /// For so many pairs.
    pub(in crate::bpe) fn new(pairs: usize) -> Self {
        let bits = (pairs * BITS_PER_KEY).next_power_of_two().trailing_zeros().max(6);
        Self { words: vec![0; 1 << (bits - 6)], shift: u64::BITS - bits }
    }

    pub(in crate::bpe) fn add(&mut self, number: u64) {
        let (word, bit) = self.word_and_bit(number);
        self.words[word] |= bit;
    }

    /// False only if it was not added.
    #[inline(always)]
    pub(in crate::bpe) fn may_contain(&self, number: u64) -> bool {
        let (word, bit) = self.word_and_bit(number);
        self.words[word] & bit != 0
    }

    #[inline(always)]
    fn word_and_bit(&self, number: u64) -> (usize, u64) {
        let place = number >> self.shift;
        ((place / 64) as usize, 1 << (place % 64))
    }

    /// All words, of which there is a power of two, and how many bits of a number do not count.
    pub(in crate::bpe) fn words(&self) -> (&[u64], u32) {
        (&self.words, self.shift)
    }

    pub(in crate::bpe) fn memory_bytes(&self) -> usize {
        self.words.capacity() * 8
    }
}
