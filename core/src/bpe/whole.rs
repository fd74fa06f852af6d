//! Words that are tokens as they stand, and are not merged.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::borrow::Cow;
use std::hash::BuildHasher;

use super::short_tokens::ShortTokens;
use super::word_cache::{KEY_MASKS, Key, LONG, SHORT, WordCache};

/// Words by the bytes that the model sees.
#[derive(Debug)]
pub(crate) struct WholeWords {
    short: ShortTokens,
    /// Long ones, and those that had no room among the short ones.
    others: Others,
    /// Whether there are such.
    crowded: bool,
}

impl WholeWords {
    /// `words` may hold a word twice; the last one counts.
    pub(crate) fn new<'a>(words: impl Iterator<Item = (Cow<'a, [u8]>, u32)>) -> Self {
        let mut made = Self {
            short: ShortTokens::new(words.size_hint().1.unwrap_or_default()),
            others: Others::default(),
            crowded: false,
        };
        for (word, id) in words.filter(|(word, _)| !word.is_empty()) {
            if word.len() > SHORT {
                made.others.insert(&word, id);
            } else if !made.short.insert(WordCache::key_of(&word), id) {
                made.crowded = true;
                made.others.insert(&word, id);
            }
        }
        made.others.bytes.shrink_to_fit();
        made
    }

    pub(crate) fn id(&self, word: &[u8]) -> Option<u32> {
        self.id_by(word, WordCache::key_of(word))
    }

    /// The id of a word whose key is known.
    #[inline]
    pub(super) fn id_by(&self, word: &[u8], key: Key) -> Option<u32> {
        if key == LONG {
            return self.others.id(word);
        }
        self.short.id(key).or_else(|| if self.crowded { self.others.id(word) } else { None })
    }

    /// Every way to make a word of two others: the ids of the left and the right one, the shortest left one first.
    pub(crate) fn pairs(&self, word: &[u8], mut each: impl FnMut(u32, u32)) {
        // The end of a word is less often one than its start, so it is looked for first.
        if word.len() <= SHORT && !self.crowded {
            let whole = WordCache::key_of(word);
            for cut in 1..word.len() {
                if let Some(right) = self.short.id(start(whole >> (8 * cut), word.len() - cut))
                    && let Some(left) = self.short.id(start(whole, cut))
                {
                    each(left, right);
                }
            }
        } else {
            for cut in 1..word.len() {
                let (left, right) = word.split_at(cut);
                if let Some(right) = self.id(right)
                    && let Some(left) = self.id(left)
                {
                    each(left, right);
                }
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.short.memory_bytes() + self.others.bytes.capacity() + self.others.entries.allocation_size()
    }
}

/// The key of the first `len` bytes of what `bytes` begins with.
fn start(bytes: Key, len: usize) -> Key {
    bytes & KEY_MASKS[len] | (len as Key) << 120
}

#[derive(Debug, Default)]
struct Others {
    bytes: Vec<u8>,
    /// Start and length within `bytes`, and the id.
    entries: HashTable<(u32, u32, u32)>,
    hasher: RandomState,
}

impl Others {
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
        let whole = WholeWords::new(entries.map(|(word, id)| (Cow::Borrowed(&word[..]), id)));
        for (word, id) in words.iter().zip(100..) {
            assert_eq!(whole.id(word), (!word.is_empty()).then_some(id));
        }
        assert_eq!(whole.id(b"b"), None);
    }

    #[test]
    fn pairs_are_all_ways_to_make_a_word_of_two() {
        let tokens = ["a", "b", "ab", "ba", "aba", "abababababababab", "bababababababab", "ababab", "ababababababab"];
        let entries = || tokens.iter().zip(0u32..).map(|(token, id)| (Cow::Borrowed(token.as_bytes()), id));
        let mut roomy = WholeWords::new(entries());
        let mut left = entries();
        let crowded = WholeWords::new(std::iter::from_fn(|| left.next()));
        for word in
            ["", "a", "ab", "abab", "ababababababab", "abababababababa", "abababababababab", "ababababababababa"]
        {
            let expected: Vec<(u32, u32)> = (1..word.len())
                .filter_map(|cut| {
                    let id = |part: &str| tokens.iter().position(|token| *token == part).map(|id| id as u32);
                    Some((id(&word[..cut])?, id(&word[cut..])?))
                })
                .collect();
            for words in [&roomy, &crowded] {
                let mut pairs = vec![];
                words.pairs(word.as_bytes(), |left, right| pairs.push((left, right)));
                assert_eq!(pairs, expected, "{word}");
            }
        }
        roomy.crowded = true;
        roomy.pairs(b"ab", |left, right| assert_eq!((left, right), (0, 1)));
    }

    #[test]
    fn where_short_ones_crowd_they_are_found_among_the_others() {
        // A hint of none makes the smallest table.
        let words: Vec<Vec<u8>> = (0..200u32).map(|number| number.to_string().into_bytes()).collect();
        let mut left = words.iter().zip(0..);
        let whole =
            WholeWords::new(std::iter::from_fn(|| left.next().map(|(word, id)| (Cow::Borrowed(&word[..]), id))));
        assert!(whole.crowded);
        for (word, id) in words.iter().zip(0..) {
            assert_eq!(whole.id(word), Some(id));
        }
        assert_eq!(whole.id(b"200"), None);
    }
}
