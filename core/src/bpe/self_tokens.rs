//! Tokens whose own bytes, as a word, become that token: nearly all of them, but not by necessity.
//!
//! A token that a merge makes of two others is stable if both are, and nothing joins over the place between them before
//! they are made. What stands on both sides of that place, one after the other, is known: it is what the right edge of the
//! left token and the left edge of the right one were made of. So it is enough to go back through these, the one made last
//! first, and to ask of each two that stood side by side whether they would have joined before one of them became part
//! of the next. Merges are done in the order of their ranks as long as every token is of a higher rank than its parts,
//! which is asked for too. Where this cannot be shown a token counts as not stable.

use super::merges::Merge;
use super::word_cache::key::MAX_SHORT_LEN;
use super::{Alphabet, Merges};

/// A bit for each id.
#[derive(Debug, Default)]
pub(super) struct SelfTokens(Vec<u64>);

impl SelfTokens {
    /// Those of `tokens`, whose ids are below `ids`, that can be shown to be stable. None of them should have more than [`MAX_SHORT_LEN`] bytes.
    pub(super) fn among(merges: &Merges, alphabet: &Alphabet, tokens: impl Iterator<Item = u32>, ids: usize) -> Self {
        let mut tree = MergeTree::new(merges, alphabet, ids);
        let mut bits = vec![0; ids.div_ceil(64)];
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

/// What tokens are made of, by id, and what is known of them.
struct MergeTree {
    origins: Vec<Origin>,
    verdicts: Vec<Verdict>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Unchecked,
    SelfToken,
    /// Or not shown to be stable.
    Unproven,
}

/// The merge that makes a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Origin {
    /// One more than its rank; bytes are there before.
    time: u32,
    left: u32,
    right: u32,
}

impl Origin {
    /// Of nothing that is known: no merge makes the token, or more than one.
    const UNKNOWN: Self = Self { time: u32::MAX, left: 0, right: 0 };
    /// The token is a byte.
    const BYTE: Self = Self { time: 0, left: 0, right: 0 };
}

impl MergeTree {
    fn new(merges: &Merges, alphabet: &Alphabet, ids: usize) -> Self {
        let mut made = vec![Origin::UNKNOWN; ids];
        let mut known = vec![Verdict::Unchecked; ids];
        let bytes = if let Alphabet::Bytes { ids, .. } = alphabet { &ids[..] } else { &[] };
        for id in bytes.iter().flatten() {
            if let Some(made) = made.get_mut(*id as usize) {
                *made = Origin::BYTE;
            }
        }
        for (left, right, Merge { rank, id }) in merges.iter() {
            let Some(made) = made.get_mut(id as usize) else { continue };
            let known = &mut known[id as usize];
            let is_first = *made == Origin::UNKNOWN && *known == Verdict::Unchecked;
            if is_first && rank + 1 < Origin::UNKNOWN.time {
                *made = Origin { time: rank + 1, left, right };
            } else {
                // More than one way to make it, or a byte that is also made of others, or as late as if nothing made it.
                *made = Origin::UNKNOWN;
                *known = Verdict::Unproven;
            }
        }
        Self { origins: made, verdicts: known }
    }

    fn origin(&self, id: u32) -> Origin {
        self.origins.get(id as usize).copied().unwrap_or(Origin::UNKNOWN)
    }

    /// Whether a token can be shown to be stable, going back through so many merges at most.
    fn is_self_token(&mut self, merges: &Merges, id: u32, depth: usize) -> bool {
        let Some(&known) = self.verdicts.get(id as usize) else { return false };
        if known != Verdict::Unchecked {
            return known == Verdict::SelfToken;
        }
        let token = self.origin(id);
        let stable = match token {
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
        self.verdicts[id as usize] = if stable { Verdict::SelfToken } else { Verdict::Unproven };
        stable
    }

    /// Whether nothing joins over the middle of a token before its two parts are made, both of which are stable.
    fn keeps_boundary(&self, merges: &Merges, token: Origin) -> bool {
        let (mut left, mut right) = (token.left, token.right);
        let (mut left_made, mut right_made) = (self.origin(left), self.origin(right));
        // When each of them becomes part of the next.
        let (mut left_until, mut right_until) = (token.time, token.time);
        while left_made.time > 0 || right_made.time > 0 {
            if left_made.time > right_made.time {
                (left, left_until) = (left_made.right, left_made.time);
                left_made = self.origin(left);
            } else {
                (right, right_until) = (right_made.left, right_made.time);
                right_made = self.origin(right);
            }
            // One of the same rank counts too: equals are done from left to right, which could be this one first.
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

    /// The bytes of every token, by id.
    fn texts(merges: &[(u32, u32, Merge)]) -> HashMap<u32, Vec<u8>> {
        let mut texts: HashMap<u32, Vec<u8>> = (0..256).map(|byte| (byte, vec![byte as u8])).collect();
        for (left, right, merge) in merges {
            let text = [&texts[left][..], &texts[right]].concat();
            texts.insert(merge.id, text);
        }
        texts
    }

    /// Which of the ids below 400 are shown to be stable.
    fn stable(merges: &[(u32, u32, Merge)]) -> Vec<bool> {
        let stable = SelfTokens::among(&Merges::new(merges), &alphabet(), (0..500).rev(), 400);
        (0..400).map(|id| stable.has(id)).collect()
    }

    proptest! {
        #[test]
        fn what_is_stable_becomes_itself(seed in any::<u32>(), order in any::<u64>()) {
            let mut merges = byte_merges(seed);
            if order % 2 == 0 {
                // Ranks in any order: a token may have the earlier merge than its parts, and two merges the same rank.
                for merge in &mut merges {
                    merge.2.rank = (u64::from(merge.2.rank).wrapping_mul(order | 1) >> 7) as u32 % 50;
                }
            }
            let stable = stable(&merges);
            for (id, text) in texts(&merges).into_iter().filter(|&(id, _)| stable[id as usize]) {
                let symbols: Vec<Symbol> = text.iter().map(|&byte| Symbol { id: byte.into(), len: 1 }).collect();
                let len = text.len() as u32;
                prop_assert_eq!(naive::merge(&merges, &symbols), vec![Symbol { id, len }], "{:?}", text);
            }
        }
    }

    #[test]
    fn most_tokens_of_a_list_that_grew_from_texts_are_stable() {
        let merge = |rank, left, right| (left, right, Merge { rank, id: 256 + rank });
        // "th", "he", "the" of "th" and "e": "he" is later than "th", so it is never in the way. "ab", "bc", "abc" of "a" and "bc": it is.
        let [t, h, e, a, b, c] = [116, 104, 101, 97, 98, 99];
        let list = [merge(0, t, h), merge(1, h, e), merge(2, 256, e), merge(3, a, b), merge(4, b, c), merge(5, a, 260)];
        let stable = stable(&list);
        assert_eq!(stable[256..262], [true, true, true, true, true, false]);
        assert_eq!(stable.iter().filter(|&&stable| stable).count(), 261);
    }

    #[test]
    fn of_a_token_that_two_merges_make_nothing_is_known() {
        let twice = [(97, 97, Merge { rank: 0, id: 256 }), (98, 98, Merge { rank: 1, id: 256 })];
        assert!(!stable(&twice)[256]);
        let also_a_byte = [
            (97, 97, Merge { rank: 0, id: 98 }),
            (99, 99, Merge { rank: 1, id: 98 }),
            (97, 99, Merge { rank: 2, id: 98 }),
        ];
        assert!(!stable(&also_a_byte)[98]);
    }

    #[test]
    fn of_ids_that_are_not_asked_for_or_too_large_nothing_is_known() {
        let list = [(97, 98, Merge { rank: 0, id: 256 }), (256, 99, Merge { rank: 1, id: u32::MAX })];
        let stable = SelfTokens::among(&Merges::new(&list), &alphabet(), [256, u32::MAX].into_iter(), 300);
        assert!(stable.has(256) && !stable.has(97) && !stable.has(u32::MAX) && !stable.has(300));
    }

    #[test]
    fn a_token_of_more_merges_than_a_short_word_has_is_left_alone() {
        // Each token is the one before it and one more letter.
        let list: Vec<_> =
            (0..40).map(|rank| (if rank == 0 { 97 } else { 255 + rank }, 98, Merge { rank, id: 256 + rank })).collect();
        let stable = SelfTokens::among(&Merges::new(&list), &alphabet(), [295].into_iter(), 400);
        assert!(!stable.has(295));
    }
}
