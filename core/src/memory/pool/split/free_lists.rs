//! The first blocks of lists of free blocks, one list for each size, and a bitmap that finds the next size that has any.

use crate::memory::pool::NONE;

/// A size is its place: a multiple of the class's rounding. The bitmap has two levels: a bit in `words` for a list that is
/// not empty, a bit in `summary` for a word that is not 0.
#[derive(Debug, Default)]
pub struct FreeLists {
    firsts: Vec<u32>,
    words: Vec<u64>,
    summary: Vec<u64>,
}

impl FreeLists {
    /// Makes a block the first of its list, and says which was it before, or [`NONE`].
    pub fn push(&mut self, size: usize, id: u32) -> u32 {
        if size >= self.firsts.len() {
            self.firsts.resize((size + 1).next_power_of_two(), NONE);
            self.words.resize(self.firsts.len().div_ceil(64), 0);
            self.summary.resize(self.words.len().div_ceil(64), 0);
        }
        self.words[size / 64] |= 1 << (size % 64);
        self.summary[size / 4096] |= 1 << (size / 64 % 64);
        std::mem::replace(&mut self.firsts[size], id)
    }

    /// Puts another block, or [`NONE`], in the place of the first.
    pub fn replace_first(&mut self, size: usize, id: u32) {
        self.firsts[size] = id;
        if id == NONE {
            self.words[size / 64] &= !(1 << (size % 64));
            if self.words[size / 64] == 0 {
                self.summary[size / 4096] &= !(1 << (size / 64 % 64));
            }
        }
    }

    /// The first block of the smallest size that is not below `size`, or [`NONE`].
    pub fn best(&self, size: usize) -> u32 {
        let found = next_bit(&self.words, size, size / 64 + 1).or_else(|| {
            let word = next_bit(&self.summary, size / 64 + 1, usize::MAX)?;
            next_bit(&self.words, word * 64, word + 1)
        });
        found.map_or(NONE, |size| self.firsts[size])
    }
}

/// The first bit that is set from `from` on, in words below `end`.
fn next_bit(words: &[u64], from: usize, end: usize) -> Option<usize> {
    let first = from / 64;
    let masked = words.get(first)? & (u64::MAX << (from % 64));
    if masked != 0 {
        return Some(first * 64 + masked.trailing_zeros() as usize);
    }
    let rest = words.get(first + 1..words.len().min(end)).unwrap_or_default();
    let (word, bits) = rest.iter().enumerate().find(|(_, bits)| **bits != 0)?;
    Some((first + 1 + word) * 64 + bits.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 256 }))]
        #[test]
        fn the_best_size_is_that_of_a_sorted_map(
            steps in prop::collection::vec((any::<bool>(), prop_oneof![0usize..70, 0usize..20_000]), 1..200),
        ) {
            let (mut lists, mut map) = (FreeLists::default(), BTreeMap::new());
            for (id, (adds, size)) in (0u32..).zip(steps) {
                if adds {
                    prop_assert_eq!(lists.push(size, id), map.insert(size, id).unwrap_or(NONE));
                } else if map.remove(&size).is_some() {
                    lists.replace_first(size, NONE);
                }
                for from in [0, size.saturating_sub(1), size, size + 1, 63, 64, 4095, 4096, 90_000] {
                    prop_assert_eq!(lists.best(from), map.range(from..).next().map_or(NONE, |(_, &id)| id));
                }
            }
        }
    }
}
