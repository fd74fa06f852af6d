//! Words that are tokens as they stand, and are not merged.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::ops::Range;

use super::short_tokens::ShortTokens;
use super::word_cache::key::{self, Key, MAX_SHORT_LEN, NOT_SHORT};
use crate::memory::fallible::require_for_tables;

/// Words by the bytes that the model sees.
#[derive(Debug)]
pub(crate) struct TokenTable {
    short: ShortTokens,
    /// Long ones, and those that had no room among the short ones.
    long: LongTokens,
    /// Whether there are such.
    has_overflow: bool,
}

impl TokenTable {
    /// Words to be added, with room for so many. Without memory for them, this unwinds.
    pub(crate) fn builder(words: usize) -> TokenTableBuilder {
        /// Bytes a word takes at most, in one table or the other.
        const MOST_BYTES: usize = 64;
        require_for_tables(words.saturating_mul(MOST_BYTES));
        let words = Self { short: ShortTokens::new(words), long: LongTokens::default(), has_overflow: false };
        TokenTableBuilder { words, pending: Vec::with_capacity(PREFETCH_BATCH) }
    }

    /// Of words that are all there. One that is there twice has the last id.
    pub(crate) fn new<'a>(words: impl Iterator<Item = (&'a [u8], u32)>) -> Self {
        let mut builder = Self::builder(words.size_hint().1.unwrap_or_default());
        words.for_each(|(word, id)| builder.push(word, id));
        builder.finish()
    }

    pub(crate) fn id(&self, word: &[u8]) -> Option<u32> {
        self.id_with_key(word, key::of_word(word))
    }

    /// Asks ahead for what [`Self::id`] of a short word will look at.
    #[inline]
    pub(super) fn prefetch(&self, key: Key) {
        self.short.prefetch(key);
    }

    /// The ids of words of which the keys are known, all of them short: found sooner than one after the other.
    pub(crate) fn ids<'k>(&self, keys: &'k [Key]) -> impl Iterator<Item = Option<u32>> + use<'_, 'k> {
        keys.iter().for_each(|&key| self.short.prefetch(key));
        keys.iter().map(|&key| self.id_with_key(key::word(&key.to_le_bytes()), key))
    }

    /// The id of a word whose key is known.
    #[inline]
    pub(super) fn id_with_key(&self, word: &[u8], key: Key) -> Option<u32> {
        if key == NOT_SHORT {
            return self.long.id(word);
        }
        self.short.id(key).or_else(|| if self.has_overflow { self.long.id(word) } else { None })
    }

    /// The ways to make one of `words` of two others, where it may be cut in those places: the ids of the left one, of the right one, and of
    /// the word itself.
    pub(crate) fn pairs<'w>(
        &self,
        words: impl Iterator<Item = (&'w [u8], u32, Range<usize>)>,
        mut each: impl FnMut(u32, u32, u32),
    ) {
        let mut waiting = vec![];
        for (word, id, cuts) in words {
            if word.len() <= MAX_SHORT_LEN && !self.has_overflow {
                self.likely_pairs(word, cuts, |left, right| waiting.push((left, right, id)));
            } else {
                for (left, right) in cuts.map(|cut| word.split_at(cut)) {
                    // The end of a word is less often one than its start, so it is looked for first.
                    if let Some(right) = self.id(right)
                        && let Some(left) = self.id(left)
                    {
                        each(left, right, id);
                    }
                }
            }
            if waiting.len() >= 2 * PREFETCH_BATCH {
                self.flush_pairs(&mut waiting, &mut each);
            }
        }
        self.flush_pairs(&mut waiting, &mut each);
    }

    fn flush_pairs(&self, waiting: &mut Vec<(Key, Key, u32)>, each: &mut impl FnMut(u32, u32, u32)) {
        for (left, right, id) in waiting.drain(..) {
            if let (Some(left), Some(right)) = (self.short.id(left), self.short.id(right)) {
                each(left, right, id);
            }
        }
    }

    /// The keys of what a short word can be cut into in these places, if both parts may be words. Their lines are asked for.
    fn likely_pairs(&self, word: &[u8], cuts: Range<usize>, mut each: impl FnMut(Key, Key)) {
        let whole = key::of_word(word) & key::LEN_MASKS[word.len()];
        let mut rest = whole >> (8 * cuts.start);
        for (cut, mask) in key::LEN_MASKS.iter().enumerate().take(cuts.end).skip(cuts.start) {
            let right = key::with_len(rest, word.len() - cut);
            rest >>= 8;
            if self.short.may_contain(right) {
                let left = key::with_len(whole & mask, cut);
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

/// Takes words one by one.
#[derive(Debug)]
pub(crate) struct TokenTableBuilder {
    words: TokenTable,
    /// The lines of these are asked for.
    pending: Vec<(Key, u32)>,
}

/// So many lines are asked for together.
const PREFETCH_BATCH: usize = 16;

impl TokenTableBuilder {
    /// Adds a word, or gives the one that is there another id.
    pub(crate) fn push(&mut self, word: &[u8], id: u32) {
        if word.len() > MAX_SHORT_LEN {
            self.words.long.insert(word, id);
        } else if !word.is_empty() {
            let key = key::of_word(word);
            self.words.short.prefetch(key);
            self.pending.push((key, id));
            if self.pending.len() == PREFETCH_BATCH {
                self.flush();
            }
        }
    }

    pub(crate) fn finish(mut self) -> TokenTable {
        self.flush();
        self.words.long.bytes.shrink_to_fit();
        self.words
    }

    fn flush(&mut self) {
        let TokenTable { short, long: others, has_overflow: crowded } = &mut self.words;
        for (key, id) in self.pending.drain(..) {
            if !short.insert(key, id) {
                *crowded = true;
                others.insert(key::word(&key.to_le_bytes()), id);
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
    fn words_of_any_length_are_found_and_the_last_id_counts() {
        let words: Vec<Vec<u8>> = (0..40).map(|len| vec![b'a'; len]).collect();
        let entries = words.iter().zip(0..).chain(words.iter().zip(100..));
        let whole = TokenTable::new(entries.map(|(word, id)| (&word[..], id)));
        for (word, id) in words.iter().zip(100..) {
            assert_eq!(whole.id(word), (!word.is_empty()).then_some(id));
        }
        assert_eq!(whole.id(b"b"), None);
    }

    #[test]
    fn pairs_are_all_ways_to_make_a_word_of_two() {
        let tokens = ["a", "b", "ab", "ba", "aba", "abababababababab", "bababababababab", "ababab", "ababababababab"];
        let entries = || tokens.iter().zip(0u32..).map(|(token, id)| (token.as_bytes(), id));
        let mut roomy = TokenTable::new(entries());
        let mut left = entries();
        let crowded = TokenTable::new(std::iter::from_fn(|| left.next()));
        for word in
            ["", "a", "ab", "abab", "ababababababab", "abababababababa", "abababababababab", "ababababababababa"]
        {
            let expected: Vec<(u32, u32, u32)> = (1..word.len())
                .filter_map(|cut| {
                    let id = |part: &str| tokens.iter().position(|token| *token == part).map(|id| id as u32);
                    Some((id(&word[..cut])?, id(&word[cut..])?, 7))
                })
                .collect();
            for words in [&roomy, &crowded] {
                let mut pairs = vec![];
                let one = |cuts| [(word.as_bytes(), 7, cuts)].into_iter();
                words.pairs(one(1..word.len()), |left, right, id| pairs.push((left, right, id)));
                assert_eq!(pairs, expected, "{word}");
                let mut singly = vec![];
                for cut in 1..word.len() {
                    words.pairs(one(cut..cut + 1), |left, right, id| singly.push((left, right, id)));
                }
                assert_eq!(singly, expected, "{word}");
                words.pairs(one(0..0), |_, _, _| panic!("it may not be cut"));
            }
        }
        let mut all = [vec![], vec![]];
        for (words, all) in [&roomy, &crowded].into_iter().zip(&mut all) {
            // More than wait at a time.
            let uncut = (0..20).flat_map(|_| entries());
            words.pairs(uncut.map(|(word, id)| (word, id, 1..word.len())), |left, right, id| {
                all.push((left, right, id))
            });
            all.sort_unstable();
        }
        assert_eq!(all[0], all[1]);
        roomy.has_overflow = true;
        roomy.pairs([(&b"ab"[..], 2, 1..2)].into_iter(), |left, right, id| assert_eq!((left, right, id), (0, 1, 2)));
    }

    #[test]
    fn where_short_ones_crowd_they_are_found_among_the_others() {
        // A hint of none makes the smallest table.
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
