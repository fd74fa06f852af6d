//! The heads of the lists of free blocks, one list for each size, and a bitmap that finds the next
//! list that is not empty.

use std::collections::BTreeMap;

use super::nodes::NO_BLOCK;

/// Sizes below this many units have an array element each; the few larger blocks are in a sorted
/// map.
const DIRECT_SIZES: usize = 64 * 64;

/// Sizes are in units of the class. The bitmap has two levels: each bit of `words` is a list that
/// is not empty, each bit of `summary` is a word that is not 0.
#[derive(Debug)]
pub struct FreeLists {
    firsts: Box<[u32; DIRECT_SIZES]>,
    words: [u64; 64],
    summary: u64,
    far: BTreeMap<u32, u32>,
}

impl Default for FreeLists {
    fn default() -> Self {
        Self { firsts: Box::new([NO_BLOCK; DIRECT_SIZES]), words: [0; 64], summary: 0, far: BTreeMap::new() }
    }
}

impl FreeLists {
    /// Makes a block the head of the list of its size. Returns the former head, or [`NO_BLOCK`].
    #[inline(always)]
    pub fn push(&mut self, size: u32, id: u32) -> u32 {
        let at = size as usize;
        if at >= DIRECT_SIZES {
            return self.push_far(size, id);
        }
        self.words[at / 64] |= 1 << (at % 64);
        self.summary |= 1 << (at / 64);
        std::mem::replace(&mut self.firsts[at], id)
    }

    /// Replaces the head of a list by another block, or by [`NO_BLOCK`].
    #[inline(always)]
    pub fn replace_first(&mut self, size: u32, id: u32) {
        let at = size as usize;
        if at >= DIRECT_SIZES {
            return self.replace_far(size, id);
        }
        self.firsts[at] = id;
        // Branchless, because whether the list becomes empty cannot be predicted.
        let word = &mut self.words[at / 64];
        *word &= !(u64::from(id == NO_BLOCK) << (at % 64));
        self.summary &= !(u64::from(*word == 0) << (at / 64));
    }

    /// The smallest size from `size` on whose list is not empty, and its head; otherwise the head
    /// is [`NO_BLOCK`].
    #[inline(always)]
    pub fn best(&self, size: u32) -> (u32, u32) {
        let at = size as usize;
        if at >= DIRECT_SIZES {
            return self.best_far(size);
        }
        let mut word = at / 64;
        let mut bits = self.words[word] & (u64::MAX << (at % 64));
        if bits == 0 {
            let words = self.summary & (!1 << (at / 64));
            if words == 0 {
                return self.best_far(size);
            }
            word = words.trailing_zeros() as usize;
            bits = self.words[word];
        }
        let found = word * 64 + bits.trailing_zeros() as usize % 64;
        (found as u32, self.firsts[found])
    }

    #[cold]
    fn push_far(&mut self, size: u32, id: u32) -> u32 {
        self.far.insert(size, id).unwrap_or(NO_BLOCK)
    }

    #[cold]
    fn replace_far(&mut self, size: u32, id: u32) {
        match id {
            NO_BLOCK => self.far.remove(&size),
            _ => self.far.insert(size, id),
        };
    }

    #[cold]
    fn best_far(&self, size: u32) -> (u32, u32) {
        self.far.range(size..).next().map_or((0, NO_BLOCK), |(&size, &id)| (size, id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 256 }))]
        #[test]
        fn the_best_size_is_that_of_a_sorted_map(
            steps in prop::collection::vec((any::<bool>(), prop_oneof![0u32..70, 0u32..20_000]), 1..200),
        ) {
            let (mut lists, mut map) = (FreeLists::default(), BTreeMap::new());
            for (id, (adds, size)) in (0u32..).zip(steps) {
                if adds {
                    prop_assert_eq!(lists.push(size, id), map.insert(size, id).unwrap_or(NO_BLOCK));
                } else if map.remove(&size).is_some() {
                    lists.replace_first(size, NO_BLOCK);
                }
                for from in [0, size.saturating_sub(1), size, size + 1, 63, 64, 4095, 4096, 90_000] {
                    prop_assert_eq!(lists.best(from), map.range(from..).next().map_or((0, NO_BLOCK), |(&size, &id)| (size, id)));
                }
            }
        }
    }
}
