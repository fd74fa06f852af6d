//! Long words, block by block: memory and time are those of a block, however long the word is. And a word that begins as
//! the long word before it did goes on from there: what is counted for one prefix after the other, or again as it grows.
//!
//! Why that is exact. Of all pairs the one of lowest rank is joined first, the leftmost of equals. Say a run never joins over
//! the two ends of a part of its word; then the joins within the part are those of a run on the part alone, since what is
//! first of all is first in the part. So two neighbouring tokens of a word are the tokens of their own text. And if
//! `x` has the tokens X, `y` the tokens Y, and the last of X and the first of Y are the tokens of their own text,
//! then `xy` has the tokens XY: up to the first join over the middle the run on those two would have done just what
//! the run on `xy` did there, and would have joined them too.
//!
//! Here X are tokens of what came before, and the next block is merged from the start of the last of them, which the block's
//! tokens then begin with. If they do not, more is merged again, and in the end the word as a whole.
//!
//! Nearly everywhere tokens are short and agree after a dozen bytes. So a block is at first a step, as many symbols as are
//! merged in registers ([`super::short_word`]), and a large one only where a step leads nowhere: half the time for random letters.

use std::ops::Range;

use super::{Alphabet, Bpe, MergeScratch, Symbol, short_word};
use crate::error::EncodeError;
use crate::memory::fallible::append;

/// A long word and its tokens.
#[derive(Debug)]
pub(super) struct PreviousWord {
    bytes: Vec<u8>,
    symbols: Vec<Symbol>,
    /// The length of the symbols together.
    covered: usize,
    /// What a step and a block merged last.
    merged: [MergedBlock; 2],
    pub(super) sizes: BlockSizes,
}

/// Where in the word at hand something was merged, and the symbols. The next part has the same ones if its text is the same, as in a
/// word of one letter.
#[derive(Debug, Default)]
struct MergedBlock {
    range: Option<Range<usize>>,
    symbols: Vec<Symbol>,
}

const STEP_BLOCK: usize = 0;
const LARGE_BLOCK: usize = 1;

/// All in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockSizes {
    /// Shorter words are merged as they come.
    pub(super) least: usize,
    /// Of a block.
    block: usize,
    /// How much of what came before is merged again with a block, at first.
    back: usize,
    /// Of a step, with what is merged again: in characters, where these are the symbols.
    step: usize,
    /// How much of what came before is merged again with a step, at least.
    near: usize,
}

/// Words up to the least length the word cache has.
const BLOCK_SIZES: BlockSizes =
    BlockSizes { least: 256, block: 4096, back: 64, step: short_word::MAX_SYMBOLS, near: 12 };
/// Longer words are not kept: their copy would cost memory.
const MAX_KEPT: usize = 16 << 20;

impl Default for PreviousWord {
    fn default() -> Self {
        Self { bytes: Vec::new(), symbols: Vec::new(), covered: 0, merged: Default::default(), sizes: BLOCK_SIZES }
    }
}

impl PreviousWord {
    /// How many symbols there is room for.
    pub(super) fn symbols(&self) -> usize {
        self.symbols.capacity()
    }

    /// Makes the symbols those of `word`, of which the first `known` bytes are those of the word so far. Nothing, and symbols
    /// of no meaning, where that has to be done as a whole.
    fn continue_with(&mut self, bpe: &Bpe, word: &[u8], known: usize, scratch: &mut MergeScratch) -> Option<()> {
        let steps = short_word::is_short(&bpe.merges, self.sizes.step);
        self.merged.iter_mut().for_each(|part| part.range = None);
        let mut known = known;
        while self.covered != word.len() || known != word.len() {
            let stepped = if steps { self.merge_step(bpe, word, known, scratch) } else { None };
            known = match stepped {
                Some(end) => end,
                None => self.merge_block(bpe, word, known, scratch)?,
            };
        }
        Some(())
    }

    /// The same as far as a step leads, and where that is. Nothing, and the symbols as they were, where tokens do not agree so soon,
    /// or are so long that it would not lead far.
    fn merge_step(&mut self, bpe: &Bpe, word: &[u8], known: usize, scratch: &mut MergeScratch) -> Option<usize> {
        let BlockSizes { step, near, .. } = self.sizes;
        let (kept, start) = self.restart_before(word, known, near)?;
        let end = match &bpe.alphabet {
            Alphabet::Bytes { .. } => floor_char_boundary(word, (start + step).min(word.len())),
            Alphabet::Characters(_) => after_characters(word, start, step),
        };
        if end < word.len().min(known + step.div_ceil(4)) {
            return None;
        }
        self.merge_from(bpe, &word[..end], known, (kept, start), STEP_BLOCK, scratch)?;
        Some(end)
    }

    /// The same as far as a block leads, and where that is. Nothing where tokens do not agree within a block.
    fn merge_block(&mut self, bpe: &Bpe, word: &[u8], known: usize, scratch: &mut MergeScratch) -> Option<usize> {
        let BlockSizes { block, mut back, .. } = self.sizes;
        while back <= block {
            let place = self.restart_before(word, known, back)?;
            // Of one length wherever it starts, so that the same text again is the same part again.
            let again = (known - place.1).next_multiple_of(block);
            let end = floor_char_boundary(word, (place.1 + again + block).min(word.len()));
            if self.merge_from(bpe, &word[..end], known, place, LARGE_BLOCK, scratch).is_some() {
                return Some(end);
            }
            back *= 8;
        }
        None
    }

    /// The same for all of `word`, if merging again from a place gives the token that is there. Else nothing is changed.
    fn merge_from(
        &mut self,
        bpe: &Bpe,
        word: &[u8],
        known: usize,
        (kept, start): (usize, usize),
        which: usize,
        scratch: &mut MergeScratch,
    ) -> Option<()> {
        let first = if start == 0 { 0 } else { self.symbols[kept].len };
        if start + first as usize > known {
            return None;
        }
        let part = &mut self.merged[which];
        let range = start..word.len();
        if part.range.take().is_none_or(|last| word.get(last) != Some(&word[range.clone()])) {
            // The error of a word says where it is, so that of a part does not do.
            bpe.merge(&word[range.clone()], scratch).ok()?;
            std::mem::swap(&mut part.symbols, &mut scratch.symbols);
        }
        part.range = Some(range);
        let agrees = start == 0 || part.symbols.first().is_some_and(|symbol| symbol.len == first);
        let covered = start + part.symbols.iter().map(|symbol| symbol.len as usize).sum::<usize>();
        // Else something is in no symbol, so that places are not known.
        if !agrees || covered != word.len() {
            return None;
        }
        self.symbols.truncate(kept);
        append(&mut self.symbols, &part.symbols);
        self.covered = covered;
        Some(())
    }

    /// Where to merge again from, so that it is `back` bytes before `known` or more, or the start.
    fn restart_before(&self, word: &[u8], known: usize, back: usize) -> Option<(usize, usize)> {
        if known <= back { Some((0, 0)) } else { self.symbol_before(word, known - back) }
    }

    /// The last symbol that starts at `at` or before, with a character, and where that is.
    fn symbol_before(&self, word: &[u8], at: usize) -> Option<(usize, usize)> {
        let mut start = self.covered;
        for (place, symbol) in self.symbols.iter().enumerate().rev() {
            start -= symbol.len as usize;
            if start <= at && starts_character(word[start]) {
                return Some((place, start));
            }
        }
        None
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.symbols.clear();
        self.covered = 0;
    }
}

/// Whether a byte is the first of a character, or of no character at all.
fn starts_character(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

/// The start of the character that `end` is in.
fn floor_char_boundary(word: &[u8], end: usize) -> usize {
    let starts = |&at: &usize| word.get(at).is_none_or(|&byte| starts_character(byte));
    (end.saturating_sub(3)..=end).rev().find(starts).unwrap_or(end)
}

/// The place behind so many characters from `start` on, or the end.
fn after_characters(word: &[u8], start: usize, count: usize) -> usize {
    let mut starts = (start..word.len()).filter(|&at| starts_character(word[at]));
    starts.nth(count).unwrap_or(word.len())
}

fn common_length(one: &[u8], other: &[u8]) -> usize {
    const COMPARED: usize = 64;
    let blocks = one.chunks_exact(COMPARED).zip(other.chunks_exact(COMPARED));
    let equal = blocks.take_while(|(one, other)| one == other).count() * COMPARED;
    equal + one[equal..].iter().zip(&other[equal..]).take_while(|(one, other)| one == other).count()
}

/// Whether the first symbols of a part of a word are those that the part has in the word.
pub(super) fn is_splittable(alphabet: &Alphabet) -> bool {
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
    let mut last = std::mem::take(&mut scratch.previous);
    let known = common_length(&last.bytes, word);
    let made = last.continue_with(bpe, word, known, scratch);
    if made.is_some() {
        append(out, &last.symbols);
    }
    if made.is_some() && word.len() <= MAX_KEPT {
        last.bytes.truncate(known);
        append(&mut last.bytes, &word[known..]);
    } else {
        last.clear();
    }
    scratch.previous = last;
    if made.is_none() {
        bpe.merge(word, scratch)?;
        append(out, &scratch.symbols);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::alphabet::{CharacterIds, Characters, IdOf, Unknown};
    use super::super::tests::byte_merges;
    use super::super::word_cache::key;
    use super::super::{Merges, merges::Merge};
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// The ways to write letters a to d, and é and 中, as symbols. Where é and 中 are not known they are unknown tokens, or bytes.
    fn alphabets() -> Vec<Alphabet> {
        let bytes = || Box::new(std::array::from_fn(|byte| Some(byte as u32)));
        let ids: IdOf = ('a'..='d').map(|letter| (letter, letter as u32)).collect();
        let characters = |fuse: Option<bool>, byte_fallback| {
            let unknown = fuse.map(|fuse| Unknown { token: "?".into(), id: Some(63), fuse });
            let ids = CharacterIds::new(std::array::from_fn(|_| ids.clone()));
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
        let part = || prop_oneof!["[abcd]{0,30}", "[ab]{0,30}", "a{0,30}", "(ab){0,12}", "(aab){20}", "[abé中]{0,12}"];
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
        fn words_one_after_the_other_equal_each_word_alone(seed in any::<u32>(), words in words(), step in 1usize..40, near in 1usize..20) {
            let mut merges = byte_merges(seed);
            // The unknown token, and bytes that are no characters, may be merged too.
            merges.extend([(97, 63, Merge { rank: 60, id: 400 }), (0xC3, 0xA9, Merge { rank: 61, id: 401 })]);
            for alphabet in alphabets() {
                let bpe = Bpe::new(alphabet, Arc::new(Merges::new(&merges)), None, None);
                let mut scratch = MergeScratch::default();
                scratch.previous.sizes = BlockSizes { least: 4, block: 24, back: 3, step, near };
                for word in &words {
                    let (mut alone, mut after) = (vec![], vec![]);
                    bpe.tokenize(word.as_bytes(), key::of_word(word.as_bytes()), &mut MergeScratch::default(), &mut alone).expect("nothing is missing");
                    if word.len() > scratch.previous.sizes.least {
                        merge(&bpe, word.as_bytes(), &mut scratch, &mut after).expect("nothing is missing");
                        prop_assert_eq!(&after, &alone, "{:?} of {:?}, {:?}", word, words, bpe.alphabet);
                    }
                }
            }
        }
    }

    /// Of letters a: each token is twice the one before, up to 256 of them.
    fn doubling() -> Bpe {
        let merges: Vec<_> = (0..8)
            .map(|rank| {
                let half = if rank == 0 { u32::from(b'a') } else { 255 + rank };
                (half, half, Merge { rank, id: 256 + rank })
            })
            .collect();
        Bpe::new(alphabets().remove(0), Arc::new(Merges::new(&merges)), None, None)
    }

    #[test]
    fn words_of_short_and_of_very_long_tokens_equal_the_whole() {
        let bpe = doubling();
        let mut word = vec![];
        for count in [1000, 3, 40, 700, 5000, 1, 256, 61, 62, 63, 4096, 0, 2] {
            word.extend(std::iter::repeat_n(b'a', count));
            word.extend_from_slice(b"bcd");
            word.extend(std::iter::repeat_n(b'd', count));
        }
        let mut scratch = MergeScratch::default();
        let mut by_steps = vec![];
        merge(&bpe, &word, &mut scratch, &mut by_steps).expect("every byte has a token");
        bpe.merge(&word, &mut scratch).expect("every byte has a token");
        assert_eq!(by_steps, scratch.symbols);
    }

    #[test]
    fn steps_lead_on_where_tokens_are_short_and_else_nowhere() {
        let bpe = doubling();
        let mut scratch = MergeScratch::default();
        let mut last = PreviousWord::default();
        let word = b"abaab".repeat(100);
        let mut known = 0;
        while known < word.len() {
            let end = last.merge_step(&bpe, &word, known, &mut scratch).expect("tokens are of three letters at most");
            assert!(end > known + 40 || end == word.len(), "{known} {end}");
            known = end;
        }
        assert_eq!(last.covered, word.len());
        let word = vec![b'a'; 1000];
        let mut last = PreviousWord::default();
        assert_eq!(last.merge_step(&bpe, &word, 0, &mut scratch), Some(62));
        // 32, 16, 8 and 4 letters, and 2: those at the end would be others if more followed.
        assert_eq!(last.symbols.len(), 5);
        assert_eq!(last.merge_step(&bpe, &word, 62, &mut scratch), None);
        assert_eq!((last.symbols.len(), last.covered), (5, 62), "what is there stays");
    }

    #[test]
    fn only_the_end_of_a_word_that_grows_is_merged() {
        let bpe = Bpe::new(alphabets().remove(0), Arc::new(Merges::new(&byte_merges(7))), None, None);
        let (mut scratch, mut out) = (MergeScratch::default(), vec![]);
        let word: Vec<u8> = (0..2000u32).map(|at| b'a' + (at.wrapping_mul(at) >> 3 & 3) as u8).collect();
        bpe.tokenize(&word[..1000], key::of_word(&word[..1000]), &mut scratch, &mut out)
            .expect("every byte has a token");
        for end in 1001..=2000 {
            bpe.tokenize(&word[..end], key::of_word(&word[..end]), &mut scratch, &mut out)
                .expect("every byte has a token");
            let merged =
                scratch.previous.merged.iter().filter(|part| part.range.is_some()).map(|part| part.symbols.len());
            assert!(merged.sum::<usize>() < 200, "{end}");
        }
        let mut alone = vec![];
        bpe.tokenize(&word, key::of_word(&word), &mut MergeScratch::default(), &mut alone)
            .expect("every byte has a token");
        assert!(out.ends_with(&alone));
    }
}
