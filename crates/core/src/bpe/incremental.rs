//! Long words, merged block by block. The working memory is that of a block, whatever the length of
//! the word. A word that starts with the bytes of the previous long word keeps their tokens, which
//! makes repeated calls for the prefixes of a text, or for a text that grows, fast.
//!
//! # Why the result is exact
//!
//! BPE merges the pair of the lowest rank first, the leftmost of equal ones. Suppose the merging of
//! a word never merges across either end of a part of it. Then the merges inside the part are those
//! of the part on its own, because the first of all merges inside the part is the first there too.
//! It follows that two adjacent tokens of a word are the tokens of their own text.
//!
//! Now let `x` have the tokens X and `y` the tokens Y. Assume that the last token of X and the
//! first token of Y, as a text of their own, have just these two tokens. Then `xy` has the tokens
//! XY. Otherwise there would be a first merge across the middle of `xy`. Up to it, the text of the
//! two tokens would have been merged in the same way, so it would have had that merge too.
//!
//! In this module, X are the tokens so far. The next block starts with X's last token. If the
//! tokens of the block start with that token, the condition holds, and the others are the next
//! tokens. If not, a block that starts further back is merged, and finally the whole word.
//!
//! # Steps and blocks
//!
//! Tokens are mostly short, and the results agree after a dozen bytes. So the module first tries a
//! *step*: as many symbols as [`super::short_word`] merges in registers. It merges a large *block*
//! only if a step does not advance. This halves the time for words of random letters.

use super::previous_word::{BlockSizes, PreviousWord};
use super::{Alphabet, Bpe, MergeScratch, Symbol, short_word};
use crate::error::EncodeError;
use crate::memory::fallible::append;

/// The index of the last step's result in [`PreviousWord::merged`].
const LAST_STEP: usize = 0;
/// The index of the last block's result in [`PreviousWord::merged`].
const LAST_BLOCK: usize = 1;

/// A word whose first `known` bytes are those of the previous word, or of the part merged so far.
#[derive(Clone, Copy)]
struct Target<'a> {
    bpe: &'a Bpe,
    word: &'a [u8],
    known: usize,
}

/// The position at which merging starts again: at byte `start`, after the first `kept` symbols.
#[derive(Clone, Copy)]
struct Restart {
    kept: usize,
    start: usize,
}

/// Words of more bytes are not kept, to save the memory for a copy: 16 MiB.
const MAX_KEPT_WORD_BYTES: usize = 16 << 20;

impl PreviousWord {
    /// Updates the symbols to those of `word`, whose first `known` bytes are those of the previous
    /// word. Returns `None`, with invalid symbols, if the word has to be merged as a whole.
    fn continue_with(&mut self, bpe: &Bpe, word: &[u8], known: usize, scratch: &mut MergeScratch) -> Option<()> {
        let steps = short_word::is_short(&bpe.merges, self.sizes.step);
        self.merged.iter_mut().for_each(|block| block.range = None);
        let mut known = known;
        while self.covered != word.len() || known != word.len() {
            let target = Target { bpe, word, known };
            let stepped = if steps { self.merge_step(target, scratch) } else { None };
            known = match stepped {
                Some(end) => end,
                None => self.merge_block(target, scratch)?,
            };
        }
        Some(())
    }

    /// Continues by one step and returns where it ends. Returns `None`, with unchanged symbols, if
    /// the results do not agree, or if the last tokens are so long that a step would hardly
    /// advance.
    fn merge_step(&mut self, target: Target<'_>, scratch: &mut MergeScratch) -> Option<usize> {
        let Target { bpe, word, known } = target;
        let BlockSizes { step, near, .. } = self.sizes;
        let restart = self.restart_before(word, known, near)?;
        let end = match &bpe.alphabet {
            Alphabet::Bytes { .. } => floor_char_boundary(word, (restart.start + step).min(word.len())),
            Alphabet::Characters(_) => after_characters(word, restart.start, step),
        };
        if end < word.len().min(known + step.div_ceil(4)) {
            return None;
        }
        self.merge_from(Target { word: &word[..end], ..target }, restart, LAST_STEP, scratch)?;
        Some(end)
    }

    /// Continues by one block and returns where it ends. Returns `None` if the results do not agree
    /// anywhere within a block.
    fn merge_block(&mut self, target: Target<'_>, scratch: &mut MergeScratch) -> Option<usize> {
        let Target { word, known, .. } = target;
        let BlockSizes { block, mut back, .. } = self.sizes;
        while back <= block {
            let restart = self.restart_before(word, known, back)?;
            // The length is a multiple of a block's, so that repeated text gives equal ranges.
            let again = (known - restart.start).next_multiple_of(block);
            let end = floor_char_boundary(word, (restart.start + again + block).min(word.len()));
            if self.merge_from(Target { word: &word[..end], ..target }, restart, LAST_BLOCK, scratch).is_some() {
                return Some(end);
            }
            back *= 8;
        }
        None
    }

    /// Continues to the end of `word`: merges it from `start` on and keeps the first `kept`
    /// symbols. Does nothing and returns `None` if the result does not start with the symbol that
    /// is at `start`.
    fn merge_from(
        &mut self,
        Target { bpe, word, known }: Target<'_>,
        Restart { kept, start }: Restart,
        which: usize,
        scratch: &mut MergeScratch,
    ) -> Option<()> {
        let first = if start == 0 { 0 } else { self.symbols[kept].len };
        if start + first as usize > known {
            return None;
        }
        let block = &mut self.merged[which];
        let range = start..word.len();
        if block.range.take().is_none_or(|last| word.get(last) != Some(&word[range.clone()])) {
            // An error contains a position in the word, so the caller merges the whole word to
            // report it.
            bpe.merge(&word[range.clone()], scratch).ok()?;
            std::mem::swap(&mut block.symbols, &mut scratch.symbols);
        }
        block.range = Some(range);
        let agrees = start == 0 || block.symbols.first().is_some_and(|symbol| symbol.len == first);
        let covered = start + block.symbols.iter().map(|symbol| symbol.len as usize).sum::<usize>();
        // The positions of symbols are only known if they cover the text.
        if !agrees || covered != word.len() {
            return None;
        }
        self.symbols.truncate(kept);
        append(&mut self.symbols, &block.symbols);
        self.covered = covered;
        Some(())
    }

    /// The last symbol that starts at least `back` bytes before `known`, or the first symbol.
    fn restart_before(&self, word: &[u8], known: usize, back: usize) -> Option<Restart> {
        if known <= back { Some(Restart { kept: 0, start: 0 }) } else { self.symbol_before(word, known - back) }
    }

    /// The last symbol that starts at `at` or before, at the start of a character.
    fn symbol_before(&self, word: &[u8], at: usize) -> Option<Restart> {
        let mut start = self.covered;
        for (kept, symbol) in self.symbols.iter().enumerate().rev() {
            start -= symbol.len as usize;
            if start <= at && starts_character(word[start]) {
                return Some(Restart { kept, start });
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

/// Whether a byte is not a continuation byte of a character.
fn starts_character(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

/// The start of the character that contains the byte at `end`.
fn floor_char_boundary(word: &[u8], end: usize) -> usize {
    let starts = |&at: &usize| word.get(at).is_none_or(|&byte| starts_character(byte));
    (end.saturating_sub(3)..=end).rev().find(starts).unwrap_or(end)
}

/// The end of `count` characters from `start` on, or the end of the word.
fn after_characters(word: &[u8], start: usize, count: usize) -> usize {
    let mut starts = (start..word.len()).filter(|&at| starts_character(word[at]));
    starts.nth(count).unwrap_or(word.len())
}

/// The length of the common prefix.
fn common_length(one: &[u8], other: &[u8]) -> usize {
    const COMPARED: usize = 64;
    let blocks = one.chunks_exact(COMPARED).zip(other.chunks_exact(COMPARED));
    let equal = blocks.take_while(|(one, other)| one == other).count() * COMPARED;
    equal + one[equal..].iter().zip(&other[equal..]).take_while(|(one, other)| one == other).count()
}

/// Whether a part of a word has the same symbols as if it were a word of its own.
pub(super) fn is_splittable(alphabet: &Alphabet) -> bool {
    match alphabet {
        Alphabet::Bytes { .. } => true,
        Alphabet::Characters(characters) => {
            characters.continuing_subword_prefix.is_empty()
                && characters.end_of_word_suffix.is_empty()
                // Otherwise an unknown token can move after tokens of byte fallback.
                && (characters.byte_fallback.is_none() || characters.knows_all_bytes())
        }
    }
}

/// Appends the tokens of a long word.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(super) fn merge(
    bpe: &Bpe,
    word: &[u8],
    scratch: &mut MergeScratch,
    out: &mut Vec<Symbol>,
) -> Result<(), EncodeError> {
    let mut previous = std::mem::take(&mut scratch.previous);
    let known = common_length(&previous.bytes, word);
    let is_merged = previous.continue_with(bpe, word, known, scratch).is_some();
    if is_merged {
        append(out, &previous.symbols);
    }
    if is_merged && word.len() <= MAX_KEPT_WORD_BYTES {
        previous.bytes.truncate(known);
        append(&mut previous.bytes, &word[known..]);
    } else {
        previous.clear();
    }
    scratch.previous = previous;
    if !is_merged {
        bpe.merge(word, scratch)?;
        append(out, &scratch.symbols);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::alphabet::{CharacterIds, Characters, IdOf, Unknown};
    use super::super::tests::byte_merges;
    use super::super::{Merges, merges::Merge};
    use super::*;
    use crate::word_key;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// Alphabets with the letters a to d. The characters é and 中 are bytes, unknown tokens or
    /// dropped.
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

    /// A word, and others that each start with a part of the one before.
    fn words() -> impl Strategy<Value = Vec<String>> {
        let part = || prop_oneof!["[abcd]{0,30}", "[ab]{0,30}", "a{0,30}", "(ab){0,12}", "(aab){20}", "[abé中]{0,12}"];
        (part(), prop::collection::vec((0usize..60, part()), 1..8)).prop_map(|(first, others)| {
            let mut words = vec![first];
            for (kept, more) in others {
                let start: String = words[words.len() - 1].chars().take(kept).collect();
                words.push(start + &more);
            }
            words
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn words_in_sequence_equal_each_word_on_its_own(seed in any::<u32>(), words in words(), step in 1usize..40, near in 1usize..20) {
            let mut merges = byte_merges(seed);
            // Merges with the unknown token, and with bytes of a character.
            merges.extend([(97, 63, Merge { rank: 60, id: 400 }), (0xC3, 0xA9, Merge { rank: 61, id: 401 })]);
            for alphabet in alphabets() {
                let bpe = Bpe::new(alphabet, Arc::new(Merges::new(&merges)), None, None);
                let mut scratch = MergeScratch::default();
                scratch.previous.sizes = BlockSizes { min_len: 4, block: 24, back: 3, step, near };
                for word in &words {
                    let (mut alone, mut after) = (vec![], vec![]);
                    bpe.tokenize(word.as_bytes(), word_key::of_word(word.as_bytes()), &mut MergeScratch::default(), &mut alone).expect("nothing is missing");
                    if word.len() > scratch.previous.sizes.min_len {
                        merge(&bpe, word.as_bytes(), &mut scratch, &mut after).expect("nothing is missing");
                        prop_assert_eq!(&after, &alone, "{:?} of {:?}, {:?}", word, words, bpe.alphabet);
                    }
                }
            }
        }
    }

    /// Merges of the letter a: each token has twice the length of the one before, up to 256.
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
    fn words_of_short_and_of_very_long_tokens_are_merged_exactly() {
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
    fn steps_advance_only_where_tokens_are_short() {
        let bpe = doubling();
        let mut scratch = MergeScratch::default();
        let mut last = PreviousWord::default();
        let word = b"abaab".repeat(100);
        let mut known = 0;
        while known < word.len() {
            let end = last
                .merge_step(Target { bpe: &bpe, word: &word, known }, &mut scratch)
                .expect("tokens are of three letters at most");
            assert!(end > known + 40 || end == word.len(), "{known} {end}");
            known = end;
        }
        assert_eq!(last.covered, word.len());
        let word = vec![b'a'; 1000];
        let mut last = PreviousWord::default();
        assert_eq!(last.merge_step(Target { bpe: &bpe, word: &word, known: 0 }, &mut scratch), Some(62));
        // 32, 16, 8, 4 and 2 letters. With more letters the last ones would be merged further.
        assert_eq!(last.symbols.len(), 5);
        assert_eq!(last.merge_step(Target { bpe: &bpe, word: &word, known: 62 }, &mut scratch), None);
        assert_eq!((last.symbols.len(), last.covered), (5, 62), "the symbols are not changed");
    }

    #[test]
    fn only_the_end_of_a_word_that_grows_is_merged() {
        let bpe = Bpe::new(alphabets().remove(0), Arc::new(Merges::new(&byte_merges(7))), None, None);
        let (mut scratch, mut out) = (MergeScratch::default(), vec![]);
        let word: Vec<u8> = (0..2000u32).map(|at| b'a' + (at.wrapping_mul(at) >> 3 & 3) as u8).collect();
        bpe.tokenize(&word[..1000], word_key::of_word(&word[..1000]), &mut scratch, &mut out)
            .expect("every byte has a token");
        for end in 1001..=2000 {
            bpe.tokenize(&word[..end], word_key::of_word(&word[..end]), &mut scratch, &mut out)
                .expect("every byte has a token");
            let merged =
                scratch.previous.merged.iter().filter(|block| block.range.is_some()).map(|block| block.symbols.len());
            assert!(merged.sum::<usize>() < 200, "{end}");
        }
        let mut alone = vec![];
        bpe.tokenize(&word, word_key::of_word(&word), &mut MergeScratch::default(), &mut alone)
            .expect("every byte has a token");
        assert!(out.ends_with(&alone));
    }
}
