//! Tokens whose own bytes, as a word, become that token: nearly all of them, but not by necessity.
//!
//! A token that a merge makes of two others is stable if both are, and nothing joins over the place between them before
//! they are made. What stands on both sides of that place, one after the other, is known: it is what the right edge of the
//! left token and the left edge of the right one were made of. So it is enough to go back through these, the one made last
//! first, and to ask of each two that stood side by side whether they would have joined before one of them became part
//! of the next. Merges are done in the order of their ranks as long as every token is of a higher rank than its parts,
//! which is asked for too. Where this cannot be shown a token counts as not stable.
//!
//! It is shown when a token is first asked for, and then remembered for all workers.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU8, Ordering};

use super::merges::Merge;
use super::short_tokens::ShortTokens;
use super::word_cache::{Key, SHORT, WordCache};
use super::{Alphabet, Merges};

/// See the module.
#[derive(Debug)]
pub(super) struct StableTokens {
    tokens: ShortTokens,
    tree: Tree,
}

/// What tokens are made of, by id, and what is known of them.
#[derive(Debug)]
struct Tree {
    made: Vec<Made>,
    /// One of [`UNKNOWN`], [`STABLE`], [`UNSTABLE`]. Who finds it out twice finds the same.
    known: Vec<AtomicU8>,
}

const UNKNOWN: u8 = 0;
const STABLE: u8 = 1;
const UNSTABLE: u8 = 2;

/// The merge that makes a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Made {
    rank: u32,
    left: u32,
    right: u32,
}

impl Made {
    /// Of nothing that is known: no merge makes the token, or more than one.
    const UNKNOWN: Self = Self { rank: Merges::NO_RANK, left: 0, right: 0 };
    /// The token is a byte.
    const BYTE: Self = Self { rank: Merges::NO_RANK, left: 1, right: 1 };

    /// As [`Merge::rank`], of bytes before all others.
    fn time(self) -> u64 {
        if self == Self::BYTE { 0 } else { 1 + u64::from(self.rank) }
    }
}

impl StableTokens {
    /// `tokens` may hold a token twice; the last one counts. Of ids from `ids` on nothing is known.
    pub(super) fn new<'a>(
        merges: &Merges,
        alphabet: &Alphabet,
        tokens: impl Iterator<Item = (Cow<'a, [u8]>, u32)>,
        ids: usize,
    ) -> Self {
        let mut short = ShortTokens::new(tokens.size_hint().1.unwrap_or_default());
        for (token, id) in tokens.filter(|(token, _)| (1..=SHORT).contains(&token.len())) {
            short.insert(WordCache::key(&token, 0, token.len() as u32), id);
        }
        Self { tokens: short, tree: Tree::new(merges, alphabet, ids) }
    }

    /// The token that a word becomes, if that is known.
    #[inline]
    pub(super) fn id(&self, key: Key, merges: &Merges) -> Option<u32> {
        self.tokens.id(key).filter(|&id| self.tree.is_stable(merges, id))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.tokens.memory_bytes() + self.tree.made.capacity() * size_of::<Made>() + self.tree.known.capacity()
    }
}

impl Tree {
    fn new(merges: &Merges, alphabet: &Alphabet, ids: usize) -> Self {
        let mut made = vec![Made::UNKNOWN; ids];
        let mut known = Vec::new();
        known.resize_with(ids, || AtomicU8::new(UNKNOWN));
        let bytes = if let Alphabet::Bytes { ids, .. } = alphabet { &ids[..] } else { &[] };
        for id in bytes.iter().flatten() {
            if let Some(made) = made.get_mut(*id as usize) {
                *made = Made::BYTE;
            }
        }
        for (left, right, Merge { rank, id }) in merges.iter() {
            let Some(made) = made.get_mut(id as usize) else { continue };
            let known = &mut known[id as usize];
            if *made == Made::UNKNOWN && *known.get_mut() == UNKNOWN {
                *made = Made { rank, left, right };
            } else {
                // More than one way to make it, or a byte that is also made of others.
                *made = Made::UNKNOWN;
                *known.get_mut() = UNSTABLE;
            }
        }
        Self { made, known }
    }

    fn made(&self, id: u32) -> Made {
        self.made.get(id as usize).copied().unwrap_or(Made::UNKNOWN)
    }

    fn is_stable(&self, merges: &Merges, id: u32) -> bool {
        let Some(known) = self.known.get(id as usize) else { return false };
        match known.load(Ordering::Relaxed) {
            UNKNOWN => {
                let stable = self.show(merges, self.made(id));
                known.store(if stable { STABLE } else { UNSTABLE }, Ordering::Relaxed);
                stable
            }
            known => known == STABLE,
        }
    }

    /// Whether a token made so can be shown to be stable. Its parts were made before it, so that this comes to an end.
    #[cold]
    fn show(&self, merges: &Merges, token: Made) -> bool {
        let is_earlier = |part: u32| self.made(part).time() < token.time();
        match token {
            Made::BYTE => true,
            Made::UNKNOWN => false,
            Made { left, right, .. } => {
                [left, right].into_iter().all(|part| is_earlier(part) && self.is_stable(merges, part))
                    && self.stays_apart(merges, token)
            }
        }
    }

    /// Whether nothing joins over the middle of a token before its two parts are made, both of which are stable.
    fn stays_apart(&self, merges: &Merges, token: Made) -> bool {
        let (mut left, mut right) = (token.left, token.right);
        // When each of them becomes part of the next.
        let (mut left_until, mut right_until) = (token.rank, token.rank);
        let mut is_the_token = true;
        loop {
            // Equals are done from left to right, which could be this one first.
            if merges.get(left, right).rank <= left_until.min(right_until) && !is_the_token {
                return false;
            }
            is_the_token = false;
            let (last, earlier) = (self.made(left), self.made(right));
            if last == Made::BYTE && earlier == Made::BYTE {
                return true;
            }
            if last.time() > earlier.time() {
                (left, left_until) = (last.right, last.rank);
            } else {
                (right, right_until) = (earlier.left, earlier.rank);
            }
        }
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

    fn tree(merges: &[(u32, u32, Merge)]) -> (Merges, Tree) {
        let merges = Merges::new(merges);
        let tree = Tree::new(&merges, &alphabet(), 400);
        (merges, tree)
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
            let (table, tree) = tree(&merges);
            for (id, text) in texts(&merges) {
                if tree.is_stable(&table, id) {
                    let symbols: Vec<Symbol> = text.iter().map(|&byte| Symbol { id: byte.into(), len: 1 }).collect();
                    let len = text.len() as u32;
                    prop_assert_eq!(naive::merge(&merges, &symbols), vec![Symbol { id, len }], "{:?}", text);
                }
            }
        }
    }

    #[test]
    fn most_tokens_of_a_list_that_grew_from_texts_are_stable() {
        let merge = |rank, left, right| (left, right, Merge { rank, id: 256 + rank });
        // "th", "he", "the" of "th" and "e": "he" is later than "th", so it is never in the way. "ab", "bc", "abc" of "a" and "bc": it is.
        let [t, h, e, a, b, c] = [116, 104, 101, 97, 98, 99];
        let list = [merge(0, t, h), merge(1, h, e), merge(2, 256, e), merge(3, a, b), merge(4, b, c), merge(5, a, 260)];
        let (merges, tree) = tree(&list);
        let stable: Vec<bool> = (0..400).map(|id| tree.is_stable(&merges, id)).collect();
        assert_eq!(stable[256..262], [true, true, true, true, true, false]);
        assert_eq!(stable.iter().filter(|&&stable| stable).count(), 261);
        assert!(!tree.is_stable(&merges, u32::MAX));
    }

    #[test]
    fn of_a_token_that_two_merges_make_nothing_is_known() {
        let list = [(97, 97, Merge { rank: 0, id: 256 }), (98, 98, Merge { rank: 1, id: 256 })];
        let (merges, tree) = tree(&list);
        assert!(!tree.is_stable(&merges, 256));
        let list = [
            (97, 97, Merge { rank: 0, id: 98 }),
            (99, 99, Merge { rank: 1, id: 98 }),
            (97, 99, Merge { rank: 2, id: 98 }),
        ];
        let (merges, tree) = self::tree(&list);
        assert!(!tree.is_stable(&merges, 98));
    }
}
