//! Finds the *self tokens*: tokens whose bytes, encoded as a word, become that token. Nearly all
//! tokens are self tokens, but nothing guarantees it.
//!
//! A token that a merge makes of two parts is a self token if both parts are, and if nothing merges
//! across the boundary between the parts before both exist. The symbols on both sides of the
//! boundary are known at any time: the rightmost symbols in the history of the left part, and the
//! leftmost in the history of the right part. So it is sufficient to walk back through both
//! histories, the latest merge first. For each pair of symbols that were adjacent, the walk checks
//! whether it would have merged before one of the two became part of a larger token.
//!
//! Merges happen in the order of their ranks if every token has a higher rank than its parts, which
//! is checked too. If the proof fails, the token does not count as a self token.

use super::merges::Merge;
use super::{Alphabet, Merges};
use crate::memory::fallible::copies;
use crate::word_key::MAX_SHORT_LEN;

/// A set of ids.
#[derive(Debug, Default)]
pub(super) struct SelfTokens(Vec<u64>);

impl SelfTokens {
    /// Returns those of `tokens` that are proven to be self tokens. Ignores ids from `ids` on. Does
    /// not analyze tokens whose history is deeper than [`MAX_SHORT_LEN`] merges.
    pub(super) fn among(merges: &Merges, alphabet: &Alphabet, tokens: impl Iterator<Item = u32>, ids: usize) -> Self {
        let mut tree = MergeTree::new(merges, alphabet, ids);
        let mut bits = copies(0, ids.div_ceil(64));
        for id in tokens.filter(|&id| (id as usize) < ids) {
            bits[id as usize / 64] |= u64::from(tree.is_self_token(merges, id, MAX_SHORT_LEN)) << (id % 64);
        }
        Self(bits)
    }

    pub(super) fn has(&self, id: u32) -> bool {
        self.0.get(id as usize / 64).is_some_and(|bits| bits >> (id % 64) & 1 == 1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.0.capacity() * size_of::<u64>()
    }
}

/// The origin of each token, and the verdicts so far.
struct MergeTree {
    origins: Vec<Origin>,
    verdicts: Vec<Verdict>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Not analyzed yet.
    Unchecked,
    SelfToken,
    /// Not a self token, or not proven to be one.
    Unproven,
}

/// The merge that makes a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Origin {
    /// The rank of its merge plus one; zero for a byte.
    time: u32,
    left: u32,
    right: u32,
}

impl Origin {
    /// No merge makes the token, or more than one.
    const UNKNOWN: Self = Self { time: u32::MAX, left: 0, right: 0 };
    /// The token is a byte.
    const BYTE: Self = Self { time: 0, left: 0, right: 0 };
}

impl MergeTree {
    fn new(merges: &Merges, alphabet: &Alphabet, ids: usize) -> Self {
        let mut origins = copies(Origin::UNKNOWN, ids);
        let mut verdicts = copies(Verdict::Unchecked, ids);
        let bytes = if let Alphabet::Bytes { ids, .. } = alphabet { &ids[..] } else { &[] };
        for id in bytes.iter().flatten() {
            if let Some(origin) = origins.get_mut(*id as usize) {
                *origin = Origin::BYTE;
            }
        }
        for (left, right, Merge { rank, id }) in merges.iter() {
            let Some(origin) = origins.get_mut(id as usize) else { continue };
            let verdict = &mut verdicts[id as usize];
            let is_first = *origin == Origin::UNKNOWN && *verdict == Verdict::Unchecked;
            if is_first && rank + 1 < Origin::UNKNOWN.time {
                *origin = Origin { time: rank + 1, left, right };
            } else {
                // A second merge, a byte that is also made by a merge, or a rank that is too high.
                *origin = Origin::UNKNOWN;
                *verdict = Verdict::Unproven;
            }
        }
        Self { origins, verdicts }
    }

    fn origin(&self, id: u32) -> Origin {
        self.origins.get(id as usize).copied().unwrap_or(Origin::UNKNOWN)
    }

    /// Whether a token is proven to be a self token, following at most `depth` merges.
    fn is_self_token(&mut self, merges: &Merges, id: u32, depth: usize) -> bool {
        let Some(&known) = self.verdicts.get(id as usize) else { return false };
        if known != Verdict::Unchecked {
            return known == Verdict::SelfToken;
        }
        let token = self.origin(id);
        let is_self_token = match token {
            Origin::BYTE => true,
            Origin::UNKNOWN => false,
            Origin { time, left, right } => {
                depth > 0
                    && [left, right]
                        .into_iter()
                        .all(|part| self.origin(part).time < time && self.is_self_token(merges, part, depth - 1))
                    && self.keeps_boundary(merges, token)
            }
        };
        self.verdicts[id as usize] = if is_self_token { Verdict::SelfToken } else { Verdict::Unproven };
        is_self_token
    }

    /// Whether nothing merges across the boundary between a token's parts before both parts exist.
    /// Both parts are self tokens.
    fn keeps_boundary(&self, merges: &Merges, token: Origin) -> bool {
        let (mut left, mut right) = (token.left, token.right);
        let (mut left_origin, mut right_origin) = (self.origin(left), self.origin(right));
        // The time at which each of the two symbols becomes part of a larger token.
        let (mut left_until, mut right_until) = (token.time, token.time);
        while left_origin.time > 0 || right_origin.time > 0 {
            if left_origin.time > right_origin.time {
                (left, left_until) = (left_origin.right, left_origin.time);
                left_origin = self.origin(left);
            } else {
                (right, right_until) = (right_origin.left, right_origin.time);
                right_origin = self.origin(right);
            }
            // An equal rank counts too: the leftmost of equal ranks merges first, which may be this
            // pair.
            if merges.get(left, right).rank < left_until.min(right_until) {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Symbol, naive, tests::byte_merges};
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn alphabet() -> Alphabet {
        Alphabet::Bytes { ids: Box::new(std::array::from_fn(|byte| Some(byte as u32))), missing_is_error: true }
    }

    /// The bytes of every token.
    fn texts(merges: &[(u32, u32, Merge)]) -> HashMap<u32, Vec<u8>> {
        let mut texts: HashMap<u32, Vec<u8>> = (0..256).map(|byte| (byte, vec![byte as u8])).collect();
        for (left, right, merge) in merges {
            let text = [&texts[left][..], &texts[right]].concat();
            texts.insert(merge.id, text);
        }
        texts
    }

    /// Returns for each id below 400 whether it is a self token.
    fn self_tokens(merges: &[(u32, u32, Merge)]) -> Vec<bool> {
        let self_tokens = SelfTokens::among(&Merges::new(merges), &alphabet(), (0..500).rev(), 400);
        (0..400).map(|id| self_tokens.has(id)).collect()
    }

    proptest! {
        #[test]
        fn a_self_token_becomes_itself(seed in any::<u32>(), order in any::<u64>()) {
            let mut merges = byte_merges(seed);
            if order % 2 == 0 {
                // Arbitrary ranks: a token may have a lower rank than its parts, and ranks may be
                // equal.
                for merge in &mut merges {
                    merge.2.rank = (u64::from(merge.2.rank).wrapping_mul(order | 1) >> 7) as u32 % 50;
                }
            }
            let self_tokens = self_tokens(&merges);
            for (id, text) in texts(&merges).into_iter().filter(|&(id, _)| self_tokens[id as usize]) {
                let symbols: Vec<Symbol> = text.iter().map(|&byte| Symbol { id: byte.into(), len: 1 }).collect();
                let len = text.len() as u32;
                prop_assert_eq!(naive::merge(&merges, &symbols), vec![Symbol { id, len }], "{:?}", text);
            }
        }
    }

    #[test]
    fn most_tokens_of_a_trained_vocabulary_are_self_tokens() {
        let merge = |rank, left, right| (left, right, Merge { rank, id: 256 + rank });
        // "the" is "th" and "e": "he" has a higher rank than "th" and never interferes. "abc" is
        // "a" and "bc": "ab" has a lower rank than "bc" and interferes.
        let [t, h, e, a, b, c] = [116, 104, 101, 97, 98, 99];
        let list = [merge(0, t, h), merge(1, h, e), merge(2, 256, e), merge(3, a, b), merge(4, b, c), merge(5, a, 260)];
        let self_tokens = self_tokens(&list);
        assert_eq!(self_tokens[256..262], [true, true, true, true, true, false]);
        assert_eq!(self_tokens.iter().filter(|&&is_one| is_one).count(), 261);
    }

    #[test]
    fn a_token_that_two_merges_make_is_not_proven() {
        let twice = [(97, 97, Merge { rank: 0, id: 256 }), (98, 98, Merge { rank: 1, id: 256 })];
        assert!(!self_tokens(&twice)[256]);
        let also_a_byte = [
            (97, 97, Merge { rank: 0, id: 98 }),
            (99, 99, Merge { rank: 1, id: 98 }),
            (97, 99, Merge { rank: 2, id: 98 }),
        ];
        assert!(!self_tokens(&also_a_byte)[98]);
    }

    #[test]
    fn other_ids_and_large_ids_are_not_proven() {
        let list = [(97, 98, Merge { rank: 0, id: 256 }), (256, 99, Merge { rank: 1, id: u32::MAX })];
        let self_tokens = SelfTokens::among(&Merges::new(&list), &alphabet(), [256, u32::MAX].into_iter(), 300);
        assert!(self_tokens.has(256) && !self_tokens.has(97) && !self_tokens.has(u32::MAX) && !self_tokens.has(300));
    }

    #[test]
    fn a_token_of_too_many_merges_is_not_proven() {
        // Each token has one letter more than the one before.
        let list: Vec<_> =
            (0..40).map(|rank| (if rank == 0 { 97 } else { 255 + rank }, 98, Merge { rank, id: 256 + rank })).collect();
        let self_tokens = SelfTokens::among(&Merges::new(&list), &alphabet(), [295].into_iter(), 400);
        assert!(!self_tokens.has(295));
    }
}
