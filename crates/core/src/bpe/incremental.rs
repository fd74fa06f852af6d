//! Long words, merged block by block. The working memory is that of a block, whatever the length of
//! the word.
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

use std::ops::Range;

use super::merge::BlockSizes;
use super::{Alphabet, Bpe, MergeScratch, Symbol, short_word};
use crate::error::EncodeError;
use crate::memory::fallible::append;

/// A word of which a prefix is merged.
struct Prefix<'a> {
    bpe: &'a Bpe,
    word: &'a [u8],
    sizes: BlockSizes,
    /// The length of the prefix in bytes.
    len: usize,
    /// The tokens of the prefix.
    symbols: Vec<Symbol>,
    /// The range that was merged last, and its tokens. If the next range has the same text, as in a
    /// word of one repeated letter, it has the same tokens.
    last: Option<Range<usize>>,
    last_symbols: Vec<Symbol>,
}

/// The position at which merging starts again: at byte `start`, after the first `kept` symbols.
#[derive(Clone, Copy)]
struct Restart {
    kept: usize,
    start: usize,
}

impl<'a> Prefix<'a> {
    fn new(bpe: &'a Bpe, word: &'a [u8], sizes: BlockSizes) -> Self {
        Self { bpe, word, sizes, len: 0, symbols: vec![], last: None, last_symbols: vec![] }
    }

    /// The tokens of the word; `None` if it has to be merged as a whole.
    fn merge_all(mut self, scratch: &mut MergeScratch) -> Option<Vec<Symbol>> {
        let steps = short_word::is_short(&self.bpe.merges, self.sizes.step);
        while self.len < self.word.len() {
            let stepped = if steps { self.merge_step(scratch) } else { None };
            stepped.or_else(|| self.merge_block(scratch))?;
        }
        Some(self.symbols)
    }

    /// Extends the prefix by one step. Returns `None`, with an unchanged prefix, if the results do
    /// not agree, or if the last tokens are so long that a step would hardly advance.
    fn merge_step(&mut self, scratch: &mut MergeScratch) -> Option<()> {
        let BlockSizes { step, near, .. } = self.sizes;
        let restart = self.restart_before(near)?;
        let end = match &self.bpe.alphabet {
            Alphabet::Bytes { .. } => floor_char_boundary(self.word, (restart.start + step).min(self.word.len())),
            Alphabet::Characters(_) => after_characters(self.word, restart.start, step),
        };
        if end < self.word.len().min(self.len + step.div_ceil(4)) {
            return None;
        }
        self.merge_from(restart, end, scratch)
    }

    /// Extends the prefix by one block. Returns `None` if the results do not agree anywhere within
    /// a block.
    fn merge_block(&mut self, scratch: &mut MergeScratch) -> Option<()> {
        let BlockSizes { block, mut back, .. } = self.sizes;
        while back <= block {
            let restart = self.restart_before(back)?;
            // The length is a multiple of a block's, so that repeated text gives equal ranges.
            let again = (self.len - restart.start).next_multiple_of(block);
            let end = floor_char_boundary(self.word, (restart.start + again + block).min(self.word.len()));
            if self.merge_from(restart, end, scratch).is_some() {
                return Some(());
            }
            back *= 8;
        }
        None
    }

    /// Extends the prefix to `end`: merges the word from `start` on and keeps the first `kept`
    /// symbols. Does nothing and returns `None` if the result does not start with the symbol that
    /// is at `start`.
    fn merge_from(&mut self, Restart { kept, start }: Restart, end: usize, scratch: &mut MergeScratch) -> Option<()> {
        let part = &self.word[start..end];
        if self.last.take().is_none_or(|last| &self.word[last] != part) {
            // An error contains a position in the word, so the caller merges the whole word to
            // report it.
            self.bpe.merge(part, scratch).ok()?;
            std::mem::swap(&mut self.last_symbols, &mut scratch.symbols);
        }
        self.last = Some(start..end);
        let agrees = start == 0 || self.last_symbols.first().is_some_and(|symbol| symbol.len == self.symbols[kept].len);
        let covered: usize = self.last_symbols.iter().map(|symbol| symbol.len as usize).sum();
        // The positions of symbols are only known if they cover the text.
        if !agrees || covered != part.len() {
            return None;
        }
        self.symbols.truncate(kept);
        append(&mut self.symbols, &self.last_symbols);
        self.len = end;
        Some(())
    }

    /// The last symbol that starts at least `back` bytes before the end of the prefix, at the start
    /// of a character; or the first symbol.
    fn restart_before(&self, back: usize) -> Option<Restart> {
        if self.len <= back {
            return Some(Restart { kept: 0, start: 0 });
        }
        let mut start = self.len;
        for (kept, symbol) in self.symbols.iter().enumerate().rev() {
            start -= symbol.len as usize;
            if start <= self.len - back && starts_character(self.word[start]) {
                return Some(Restart { kept, start });
            }
        }
        None
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
    match Prefix::new(bpe, word, scratch.sizes).merge_all(scratch) {
        Some(symbols) => append(out, &symbols),
        None => {
            bpe.merge(word, scratch)?;
            append(out, &scratch.symbols);
        }
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
            let characters = Characters { ids, byte_fallback, unknown, continuing_subword_prefix, end_of_word_suffix };
            Alphabet::Characters(Box::new(characters))
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

    /// Words with repeated parts.
    fn words() -> impl Strategy<Value = Vec<String>> {
        let part = || prop_oneof!["[abcd]{0,30}", "[ab]{0,30}", "a{0,30}", "(ab){0,12}", "(aab){20}", "[abé中]{0,12}"];
        let word = prop::collection::vec(part(), 1..5).prop_map(|parts| parts.concat());
        prop::collection::vec(word, 1..8)
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
                scratch.sizes = BlockSizes { min_len: 4, block: 24, back: 3, step, near };
                for word in &words {
                    let (mut alone, mut after) = (vec![], vec![]);
                    bpe.tokenize(word.as_bytes(), word_key::of_word(word.as_bytes()), &mut MergeScratch::default(), &mut alone).expect("nothing is missing");
                    if word.len() > scratch.sizes.min_len {
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
        let word = b"abaab".repeat(100);
        let mut prefix = Prefix::new(&bpe, &word, BlockSizes::default());
        while prefix.len < word.len() {
            let before = prefix.len;
            prefix.merge_step(&mut scratch).expect("tokens are of three letters at most");
            assert!(prefix.len > before + 40 || prefix.len == word.len(), "{before} {}", prefix.len);
        }
        let word = vec![b'a'; 1000];
        let mut prefix = Prefix::new(&bpe, &word, BlockSizes::default());
        assert_eq!((prefix.merge_step(&mut scratch), prefix.len), (Some(()), 62));
        // 32, 16, 8, 4 and 2 letters. With more letters the last ones would be merged further.
        assert_eq!(prefix.symbols.len(), 5);
        assert_eq!(prefix.merge_step(&mut scratch), None);
        assert_eq!((prefix.symbols.len(), prefix.len), (5, 62), "the prefix is not changed");
    }
}
