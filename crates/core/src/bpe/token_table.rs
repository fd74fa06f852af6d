//! Maps the bytes of a token to its id. Short tokens are found by their key, all others by a hash.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::ops::Range;

use super::short_tokens::ShortTokens;
use crate::memory::fallible::require_for_tables;
use crate::word_key::{self, Key, MAX_SHORT_LEN, NOT_SHORT};

/// The ids of tokens. See the module documentation.
#[derive(Debug)]
pub(crate) struct TokenTable {
    short: ShortTokens,
    /// Longer tokens, and short ones that did not fit into `short`.
    long: LongTokens,
    /// Whether `long` has short tokens.
    has_overflow: bool,
}

impl TokenTable {
    /// A builder for a table of this number of tokens. Unwinds if there is not enough memory.
    pub(crate) fn builder(tokens: usize) -> TokenTableBuilder {
        /// Maximum number of bytes per token, in either table.
        const BYTES_PER_ENTRY: usize = 64;
        require_for_tables(tokens.saturating_mul(BYTES_PER_ENTRY));
        let table = Self { short: ShortTokens::new(tokens), long: LongTokens::default(), has_overflow: false };
        TokenTableBuilder { table, pending: Vec::with_capacity(PREFETCH_BATCH) }
    }

    /// A table of tokens. If one occurs twice, the last id counts.
    pub(crate) fn new<'a>(tokens: impl Iterator<Item = (&'a [u8], u32)>) -> Self {
        let mut builder = Self::builder(tokens.size_hint().1.unwrap_or_default());
        tokens.for_each(|(token, id)| builder.push(token, id));
        builder.finish()
    }

    pub(crate) fn id(&self, word: &[u8]) -> Option<u32> {
        self.id_with_key(word, word_key::of_word(word))
    }

    /// Prefetches the bucket that [`Self::id`] of a short token reads.
    #[inline]
    pub(super) fn prefetch(&self, key: Key) {
        self.short.prefetch(key);
    }

    /// The ids of short tokens. Prefetches for all of them first.
    pub(crate) fn ids<'k>(&self, keys: &'k [Key]) -> impl Iterator<Item = Option<u32>> + use<'_, 'k> {
        keys.iter().for_each(|&key| self.short.prefetch(key));
        keys.iter().map(|&key| self.id_with_key(word_key::word(&key.to_le_bytes()), key))
    }

    /// The id of a token with this key.
    #[inline]
    pub(super) fn id_with_key(&self, word: &[u8], key: Key) -> Option<u32> {
        if key == NOT_SHORT {
            return self.long.id(word);
        }
        self.short.id(key).or_else(|| if self.has_overflow { self.long.id(word) } else { None })
    }

    /// Finds every way to split one of `words` into two tokens. The range of a word has the
    /// positions at which it may be split. Calls `each` with the ids of the left token, the right
    /// token and the word.
    pub(crate) fn pairs<'w>(
        &self,
        words: impl Iterator<Item = (&'w [u8], u32, Range<usize>)>,
        mut each: impl FnMut(u32, u32, u32),
    ) {
        let mut pending = vec![];
        for (word, id, cuts) in words {
            if word.len() <= MAX_SHORT_LEN && !self.has_overflow {
                self.candidate_pairs(word, cuts, |left, right| pending.push((left, right, id)));
            } else {
                for (left, right) in cuts.map(|cut| word.split_at(cut)) {
                    // The end of a word is a token less often than its start, so it is looked up
                    // first.
                    if let Some(right) = self.id(right)
                        && let Some(left) = self.id(left)
                    {
                        each(left, right, id);
                    }
                }
            }
            if pending.len() >= 2 * PREFETCH_BATCH {
                self.flush_pairs(&mut pending, &mut each);
            }
        }
        self.flush_pairs(&mut pending, &mut each);
    }

    fn flush_pairs(&self, pending: &mut Vec<(Key, Key, u32)>, each: &mut impl FnMut(u32, u32, u32)) {
        for (left, right, id) in pending.drain(..) {
            if let (Some(left), Some(right)) = (self.short.id(left), self.short.id(right)) {
                each(left, right, id);
            }
        }
    }

    /// Calls `each` with the keys of the parts that a short word can be split into, if the filter
    /// contains both, and prefetches them.
    fn candidate_pairs(&self, word: &[u8], cuts: Range<usize>, mut each: impl FnMut(Key, Key)) {
        let whole = word_key::of_word(word) & word_key::LEN_MASKS[word.len()];
        let mut rest = whole >> (8 * cuts.start);
        for (cut, mask) in word_key::LEN_MASKS.iter().enumerate().take(cuts.end).skip(cuts.start) {
            let right = word_key::with_len(rest, word.len() - cut);
            rest >>= 8;
            if self.short.may_contain(right) {
                let left = word_key::with_len(whole & mask, cut);
                if self.short.may_contain(left) {
                    self.short.prefetch(left);
                    self.short.prefetch(right);
                    each(left, right);
                }
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.short.memory_bytes() + self.long.bytes.capacity() + self.long.entries.allocation_size()
    }
}

/// Builds a [`TokenTable`] from tokens one by one.
#[derive(Debug)]
pub(crate) struct TokenTableBuilder {
    table: TokenTable,
    /// Tokens that are not inserted yet, and whose buckets are being prefetched.
    pending: Vec<(Key, u32)>,
}

/// The number of tokens that are prefetched before the first is inserted.
const PREFETCH_BATCH: usize = 16;

impl TokenTableBuilder {
    /// Adds a token, or replaces its id.
    pub(crate) fn push(&mut self, token: &[u8], id: u32) {
        if token.len() > MAX_SHORT_LEN {
            self.table.long.insert(token, id);
        } else if !token.is_empty() {
            let key = word_key::of_word(token);
            self.table.short.prefetch(key);
            self.pending.push((key, id));
            if self.pending.len() == PREFETCH_BATCH {
                self.flush();
            }
        }
    }

    pub(crate) fn finish(mut self) -> TokenTable {
        self.flush();
        self.table.long.bytes.shrink_to_fit();
        self.table
    }

    /// Inserts the pending tokens.
    fn flush(&mut self) {
        let TokenTable { short, long, has_overflow } = &mut self.table;
        for (key, id) in self.pending.drain(..) {
            if !short.insert(key, id) {
                *has_overflow = true;
                long.insert(word_key::word(&key.to_le_bytes()), id);
            }
        }
    }
}

#[derive(Debug, Default)]
struct LongTokens {
    bytes: Vec<u8>,
    /// Start and length within `bytes`, and the id.
    entries: HashTable<(u32, u32, u32)>,
    hasher: RandomState,
}

impl LongTokens {
    fn insert(&mut self, word: &[u8], id: u32) {
        let Self { bytes, entries, hasher } = self;
        let text = |bytes: &[u8], start: u32, len: u32| -> std::ops::Range<usize> {
            debug_assert!((start + len) as usize <= bytes.len());
            start as usize..(start + len) as usize
        };
        let hash = hasher.hash_one(word);
        if let Some(entry) = entries.find_mut(hash, |&(start, len, _)| &bytes[text(bytes, start, len)] == word) {
            entry.2 = id;
            return;
        }
        let start = bytes.len() as u32;
        bytes.extend_from_slice(word);
        entries.insert_unique(hash, (start, word.len() as u32, id), |&(start, len, _)| {
            hasher.hash_one(&bytes[text(bytes, start, len)])
        });
    }

    fn id(&self, word: &[u8]) -> Option<u32> {
        let same = |&(start, len, _): &(u32, u32, u32)| &self.bytes[start as usize..(start + len) as usize] == word;
        self.entries.find(self.hasher.hash_one(word), same).map(|entry| entry.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_any_length_are_found_and_the_last_id_counts() {
        let words: Vec<Vec<u8>> = (0..40).map(|len| vec![b'a'; len]).collect();
        let entries = words.iter().zip(0..).chain(words.iter().zip(100..));
        let whole = TokenTable::new(entries.map(|(word, id)| (&word[..], id)));
        for (word, id) in words.iter().zip(100..) {
            assert_eq!(whole.id(word), (!word.is_empty()).then_some(id));
        }
        assert_eq!(whole.id(b"b"), None);
    }

    #[test]
    fn pairs_are_all_splits_into_two_tokens() {
        let tokens = ["a", "b", "ab", "ba", "aba", "abababababababab", "bababababababab", "ababab", "ababababababab"];
        let entries = || tokens.iter().zip(0u32..).map(|(token, id)| (token.as_bytes(), id));
        let mut sized = TokenTable::new(entries());
        let mut left = entries();
        let overflowing = TokenTable::new(std::iter::from_fn(|| left.next()));
        for word in
            ["", "a", "ab", "abab", "ababababababab", "abababababababa", "abababababababab", "ababababababababa"]
        {
            let expected: Vec<(u32, u32, u32)> = (1..word.len())
                .filter_map(|cut| {
                    let id = |part: &str| tokens.iter().position(|token| *token == part).map(|id| id as u32);
                    Some((id(&word[..cut])?, id(&word[cut..])?, 7))
                })
                .collect();
            for words in [&sized, &overflowing] {
                let mut pairs = vec![];
                let one = |cuts| [(word.as_bytes(), 7, cuts)].into_iter();
                words.pairs(one(1..word.len()), |left, right, id| pairs.push((left, right, id)));
                assert_eq!(pairs, expected, "{word}");
                let mut singly = vec![];
                for cut in 1..word.len() {
                    words.pairs(one(cut..cut + 1), |left, right, id| singly.push((left, right, id)));
                }
                assert_eq!(singly, expected, "{word}");
                words.pairs(one(0..0), |_, _, _| panic!("it may not be split"));
            }
        }
        let mut all = [vec![], vec![]];
        for (words, all) in [&sized, &overflowing].into_iter().zip(&mut all) {
            // More pairs than are pending at a time.
            let uncut = (0..20).flat_map(|_| entries());
            words.pairs(uncut.map(|(word, id)| (word, id, 1..word.len())), |left, right, id| {
                all.push((left, right, id));
            });
            all.sort_unstable();
        }
        assert_eq!(all[0], all[1]);
        sized.has_overflow = true;
        sized.pairs([(&b"ab"[..], 2, 1..2)].into_iter(), |left, right, id| assert_eq!((left, right, id), (0, 1, 2)));
    }

    #[test]
    fn short_tokens_that_do_not_fit_are_found_among_the_long_ones() {
        // An iterator without a size hint makes the smallest table.
        let words: Vec<Vec<u8>> = (0..200u32).map(|number| number.to_string().into_bytes()).collect();
        let mut left = words.iter().zip(0..);
        let whole = TokenTable::new(std::iter::from_fn(|| left.next().map(|(word, id)| (&word[..], id))));
        assert!(whole.has_overflow);
        for (word, id) in words.iter().zip(0..) {
            assert_eq!(whole.id(word), Some(id));
        }
        assert_eq!(whole.id(b"200"), None);
    }
}
