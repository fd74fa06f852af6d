//! Long words that begin as the long word before them did: what is counted for one prefix after the other, or again and again
//! as it grows. The tokens of the common beginning are taken over, all but the last few.
//!
//! Why that is exact. Of all pairs the one of lowest rank is joined first, the leftmost of equals. Say a run never joins over
//! the two ends of a part of its word; then the joins within the part are those of a run on the part alone, since what is
//! first of all is first in the part. So two neighbouring tokens of a word are the tokens of their own text. And if
//! `x` has the tokens X, `y` the tokens Y, and the last of X and the first of Y are the tokens of their own text,
//! then `xy` has the tokens XY: up to the first join over the middle the run on those two would have done just what
//! the run on `xy` did there, and would have joined them too.
//!
//! Here X are tokens of the word before, and the new word's rest is merged from the start of the last of them, which the rest
//! then begins with. If it does not, more is merged again.

use super::{Alphabet, Bpe, MergeScratch, Symbol};
use crate::error::EncodeError;

/// A long word and its tokens.
#[derive(Debug)]
pub(super) struct LastWord {
    bytes: Vec<u8>,
    symbols: Vec<Symbol>,
    /// Shorter words are merged as they come.
    pub(super) least: usize,
    /// How many bytes of the common beginning are merged again at first.
    back: usize,
}

/// Words up to this length the word cache has. Longer ones than that are not kept here: their copy would cost memory.
const LEAST: usize = 256;
const MOST: usize = 1 << 20;
const BACK: usize = 64;

impl Default for LastWord {
    fn default() -> Self {
        Self { bytes: Vec::new(), symbols: Vec::new(), least: LEAST, back: BACK }
    }
}

impl LastWord {
    /// How many symbols there is room for.
    pub(super) fn symbols(&self) -> usize {
        self.symbols.capacity()
    }

    /// The last symbol that starts at `at` or before, with a character, and where that is.
    fn symbol_at(&self, at: usize) -> Option<(usize, usize)> {
        let mut start = self.bytes.len();
        for (place, symbol) in self.symbols.iter().enumerate().rev() {
            start -= symbol.len as usize;
            if start <= at && starts_character(self.bytes[start]) {
                return Some((place, start));
            }
        }
        None
    }

    /// Keeps of the word the first symbols, up to byte `start`, and writes the rest anew.
    fn replace(&mut self, kept: usize, start: usize, word: &[u8], symbols: &[Symbol]) {
        self.bytes.truncate(start);
        self.symbols.truncate(kept);
        let covered = symbols.iter().map(|symbol| symbol.len as usize).sum::<usize>();
        if start + covered != word.len() || word.len() > MOST {
            // Something of the word is in no symbol, so that places are not known.
            self.bytes.clear();
            self.symbols.clear();
            return;
        }
        self.bytes.extend_from_slice(&word[start..]);
        self.symbols.extend_from_slice(symbols);
    }
}

/// Whether a byte is the first of a character, or of no character at all.
fn starts_character(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

fn common_length(one: &[u8], other: &[u8]) -> usize {
    const BLOCK: usize = 64;
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let equal = blocks.take_while(|(one, other)| one == other).count() * BLOCK;
    equal + one[equal..].iter().zip(&other[equal..]).take_while(|(one, other)| one == other).count()
}

/// Whether the first symbols of a part of a word are those that the part has in the word.
pub(super) fn parts_stay(alphabet: &Alphabet) -> bool {
    match alphabet {
        Alphabet::Bytes { .. } => true,
        Alphabet::Characters(characters) => {
            characters.continuing_subword_prefix.is_empty()
                && characters.end_of_word_suffix.is_empty()
                // An unknown token waits while bytes are written.
                && (characters.byte_fallback.is_none() || characters.knows_all_bytes())
        }
    }
}

/// Appends the tokens of a word, as merging all of it would.
pub(super) fn merge(
    bpe: &Bpe,
    word: &[u8],
    scratch: &mut MergeScratch,
    out: &mut Vec<Symbol>,
) -> Result<(), EncodeError> {
    let mut last = std::mem::take(&mut scratch.last);
    let made = resume(bpe, word, &last, scratch).map_or_else(|| bpe.merge(word, scratch).map(|()| (0, 0)), Ok);
    if let Ok((kept, start)) = made {
        out.extend_from_slice(&last.symbols[..kept]);
        out.extend_from_slice(&scratch.symbols);
        if !last.bytes.starts_with(word) {
            last.replace(kept, start, word, &scratch.symbols);
        }
    }
    scratch.last = last;
    made.map(|_| ())
}

/// Merges the end of a word. The answer is how many symbols of the last word come before it, and where it starts; nothing where
/// the word has to be merged as a whole, which also tells its error if it has one.
fn resume(bpe: &Bpe, word: &[u8], last: &LastWord, scratch: &mut MergeScratch) -> Option<(usize, usize)> {
    let common = common_length(&last.bytes, word);
    let mut back = last.back;
    while common > back && common > word.len() / 2 {
        let (kept, start) = last.symbol_at(common - back)?;
        let first = last.symbols[kept].len;
        if start == 0 {
            return None;
        }
        if start + first as usize <= common {
            bpe.merge(&word[start..], scratch).ok()?;
            if scratch.symbols.first().is_some_and(|symbol| symbol.len == first) {
                return Some((kept, start));
            }
        }
        back *= 8;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::alphabet::{Characters, Unknown};
    use super::super::tests::byte_merges;
    use super::super::{Merges, merges::Merge};
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;
    use std::sync::Arc;

    /// The ways to write letters a to d, and é and 中, as symbols. Where é and 中 are not known they are unknown tokens, or bytes.
    fn alphabets() -> Vec<Alphabet> {
        let bytes = || Box::new(std::array::from_fn(|byte| Some(byte as u32)));
        let ids: HashMap<char, u32, _> = ('a'..='d').map(|letter| (letter, letter as u32)).collect();
        let characters = |fuse: Option<bool>, byte_fallback| {
            let unknown = fuse.map(|fuse| Unknown { token: "?".into(), id: Some(63), fuse });
            let ids = std::array::from_fn(|_| ids.clone());
            let (continuing_subword_prefix, end_of_word_suffix) = Default::default();
            let made = Characters { ids, byte_fallback, unknown, continuing_subword_prefix, end_of_word_suffix };
            Alphabet::Characters(Box::new(made))
        };
        let dropped = Box::new(std::array::from_fn(|byte| (byte < 128).then_some(byte as u32)));
        vec![
            Alphabet::Bytes { ids: bytes(), missing_is_error: true },
            Alphabet::Bytes { ids: dropped, missing_is_error: false },
            characters(Some(true), None),
            characters(Some(false), None),
            characters(None, None),
            characters(None, Some(bytes())),
            characters(Some(true), Some(bytes())),
        ]
    }

    /// A word, then others that begin with some of it.
    fn words() -> impl Strategy<Value = Vec<String>> {
        let part = || prop_oneof!["[abcd]{0,30}", "[ab]{0,30}", "a{0,30}", "(ab){0,12}", "[abé中]{0,12}"];
        (part(), prop::collection::vec((0usize..60, part()), 1..8)).prop_map(|(first, others)| {
            let mut words = vec![first];
            for (kept, more) in others {
                let begins: String = words[words.len() - 1].chars().take(kept).collect();
                words.push(begins + &more);
            }
            words
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn words_one_after_the_other_equal_each_word_alone(seed in any::<u32>(), words in words()) {
            let mut merges = byte_merges(seed);
            // The unknown token, and bytes that are no characters, may be merged too.
            merges.extend([(97, 63, Merge { rank: 60, id: 400 }), (0xC3, 0xA9, Merge { rank: 61, id: 401 })]);
            for alphabet in alphabets() {
                let bpe = Bpe::new(alphabet, Arc::new(Merges::new(&merges)), None, None);
                let mut scratch = MergeScratch::default();
                (scratch.last.least, scratch.last.back) = (4, 3);
                for word in &words {
                    let (mut alone, mut after) = (vec![], vec![]);
                    bpe.tokenize(word.as_bytes(), &mut MergeScratch::default(), &mut alone).expect("nothing is missing");
                    if word.len() > scratch.last.least {
                        merge(&bpe, word.as_bytes(), &mut scratch, &mut after).expect("nothing is missing");
                        prop_assert_eq!(&after, &alone, "{:?} of {:?}, {:?}", word, words, bpe.alphabet);
                    }
                }
            }
        }
    }

    #[test]
    fn only_the_end_of_a_word_that_grows_is_merged() {
        let bpe = Bpe::new(alphabets().remove(0), Arc::new(Merges::new(&byte_merges(7))), None, None);
        let (mut scratch, mut out) = (MergeScratch::default(), vec![]);
        let word: Vec<u8> = (0..2000u32).map(|at| b'a' + (at.wrapping_mul(at) >> 3 & 3) as u8).collect();
        bpe.tokenize(&word[..1000], &mut scratch, &mut out).expect("every byte has a token");
        for end in 1001..=2000 {
            bpe.tokenize(&word[..end], &mut scratch, &mut out).expect("every byte has a token");
            assert!(scratch.symbols.len() < 200, "{end}: {}", scratch.symbols.len());
        }
        let mut alone = vec![];
        bpe.tokenize(&word, &mut MergeScratch::default(), &mut alone).expect("every byte has a token");
        assert!(out.ends_with(&alone));
    }
}
