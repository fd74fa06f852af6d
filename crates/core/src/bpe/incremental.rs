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
//! Now let `x` and `y` be parts of a word that overlap: the tokens of `x` end with `A t B`, those
//! of `y` start with `C t D`, and both `t` are the same bytes of the word. Then `A t D` are the
//! tokens of the text from the start of `x` to the end of `y`. Otherwise there would be a first
//! merge across an end of `t`, whose symbols belong to `t` and to the token before or after it. Up
//! to it, the text of these two tokens would have been merged as it is in `x` or in `y`, where they
//! are adjacent tokens, so that merge would have happened there too.
//!
//! In this module, `x` is the word so far. The next block starts before the end of `x`. If it has a
//! token in common with `x`, the tokens after that one are the next ones. If not, a longer block
//! that starts further back is merged, at last from the start of the word.
//!
//! # Steps and blocks
//!
//! Tokens are mostly short, and the results agree after a dozen bytes. So the module first tries a
//! *step*: as many symbols as [`super::short_word`] merges in registers. It merges a large *block*
//! only if a step does not advance. This halves the time for words of random letters.

use std::ops::Range;

use super::merge::BlockSizes;
use super::{Alphabet, Bpe, Edges, MergeScratch, Symbol, short_word};
use crate::error::EncodeError;
use crate::memory::fallible::append;

/// A word of which a prefix is merged.
struct Prefix<'a> {
    bpe: &'a Bpe,
    word: &'a [u8],
    edges: Edges,
    sizes: BlockSizes,
    /// The length of the prefix in bytes.
    len: usize,
    /// The tokens of the prefix from byte `flushed` on, after the first `others`.
    symbols: &'a mut Vec<Symbol>,
    others: usize,
    flushed: usize,
    step: MergedRange,
    block: MergedRange,
}

/// The range that was merged last, and its tokens. If the next range has the same text, as in a
/// word of one repeated letter, it has the same tokens.
#[derive(Default)]
struct MergedRange {
    range: Range<usize>,
    edges: Option<Edges>,
    symbols: Vec<Symbol>,
}

impl MergedRange {
    /// Merges a range of a word. Returns `None` if the tokens do not cover it, so that their
    /// positions are not known, or for an error: it contains a position, so the caller merges the
    /// whole word to report it.
    fn merge(
        &mut self,
        bpe: &Bpe,
        word: &[u8],
        range: Range<usize>,
        edges: Edges,
        scratch: &mut MergeScratch,
    ) -> Option<&[Symbol]> {
        let (part, last) = (&word[range.clone()], std::mem::take(&mut self.range));
        if self.edges != Some(edges) || word[last] != *part {
            bpe.merge_part(part, edges, scratch).ok()?;
            self.edges = Some(edges);
            std::mem::swap(&mut self.symbols, &mut scratch.symbols);
        }
        let covered: usize = self.symbols.iter().map(|symbol| symbol.len as usize).sum();
        if covered != part.len() {
            return None;
        }
        self.range = range;
        Some(&self.symbols)
    }
}

/// Receives tokens of a word, and the range that they cover.
pub(crate) trait FlushTo<E>: FnMut(Range<usize>, &[Symbol]) -> Result<(), E> {}

impl<E, F: FnMut(Range<usize>, &[Symbol]) -> Result<(), E>> FlushTo<E> for F {}

/// The result of trying to extend a prefix.
#[derive(Debug, PartialEq, Eq)]
enum Extended {
    Yes,
    /// No token agrees, and nothing has changed.
    No,
    /// The word has to be merged as a whole.
    Never,
}

/// The position at which merging starts again: at byte `start`, the start of this symbol.
#[derive(Clone, Copy)]
struct Restart {
    symbol: usize,
    start: usize,
}

impl<'a> Prefix<'a> {
    fn new(bpe: &'a Bpe, (word, edges): (&'a [u8], Edges), sizes: BlockSizes, symbols: &'a mut Vec<Symbol>) -> Self {
        let (others, (step, block)) = (symbols.len(), Default::default());
        Self { bpe, word, edges, sizes, len: 0, symbols, others, flushed: 0, step, block }
    }

    /// Merges the next bytes of the word. Returns false if it has to be merged as a whole; then
    /// there may be tokens of its start.
    fn extend(&mut self, scratch: &mut MergeScratch) -> bool {
        let steps = short_word::is_short(&self.bpe.merges, self.sizes.step);
        match if steps { self.merge_step(scratch) } else { Extended::No } {
            Extended::Yes => true,
            Extended::No => self.merge_block(scratch),
            Extended::Never => false,
        }
    }

    /// Removes the tokens that end at least `kept` bytes before the end of the prefix. Passes on
    /// their range and the tokens.
    fn flush<E>(&mut self, kept: usize, each: &mut impl FlushTo<E>) -> Result<(), E> {
        let (start, limit) = (self.flushed, self.len - kept.min(self.len));
        let old = self.symbols[self.others..].iter().take_while(|symbol| {
            let end = self.flushed + symbol.len as usize;
            let is_old = end <= limit;
            if is_old {
                self.flushed = end;
            }
            is_old
        });
        let old = self.others..self.others + old.count();
        if old.is_empty() {
            return Ok(());
        }
        each(start..self.flushed, &self.symbols[old.clone()])?;
        self.symbols.drain(old);
        Ok(())
    }

    /// Extends the prefix by one step, unless the results do not agree, or the last tokens are so
    /// long that a step would hardly advance.
    fn merge_step(&mut self, scratch: &mut MergeScratch) -> Extended {
        let BlockSizes { step, near, .. } = self.sizes;
        let Some(restart) = self.restart_before(near) else { return Extended::Never };
        let end = match &self.bpe.alphabet {
            Alphabet::Bytes { .. } => floor_char_boundary(self.word, (restart.start + step).min(self.word.len())),
            Alphabet::Characters(_) => after_characters(self.word, restart.start, step),
        };
        if end < self.word.len().min(self.len + step.div_ceil(4)) {
            return Extended::No;
        }
        let mut merged = std::mem::take(&mut self.step);
        let extended = self.merge_from(restart, end, &mut merged, scratch);
        self.step = merged;
        extended
    }

    /// Extends the prefix by one block. The further back it has to start, the longer it is, so that
    /// the time is that of merging each byte a few times. Returns false if the word has to be
    /// merged as a whole.
    fn merge_block(&mut self, scratch: &mut MergeScratch) -> bool {
        let BlockSizes { block, mut back, .. } = self.sizes;
        let mut merged = std::mem::take(&mut self.block);
        let extended = loop {
            let Some(restart) = self.restart_before(back) else { break false };
            // The length is a multiple of a block's, so that repeated text gives equal ranges.
            let again = (self.len - restart.start).next_multiple_of(block);
            let end = (restart.start + again + block.max(again)).min(self.word.len());
            match self.merge_from(restart, floor_char_boundary(self.word, end), &mut merged, scratch) {
                Extended::No => back = back.saturating_mul(8),
                Extended::Yes => break true,
                Extended::Never => break false,
            }
        };
        self.block = merged;
        extended
    }

    /// Extends the prefix to `end`: merges the word from `start` on, and replaces the symbols after
    /// the first one that is in both results.
    fn merge_from(
        &mut self,
        Restart { symbol, start }: Restart,
        end: usize,
        merged: &mut MergedRange,
        scratch: &mut MergeScratch,
    ) -> Extended {
        let edges = Edges {
            starts_word: self.edges.starts_word && start == 0,
            ends_word: self.edges.ends_word && end == self.word.len(),
        };
        let Some(again) = merged.merge(self.bpe, self.word, start..end, edges, scratch) else {
            return Extended::Never;
        };
        let (kept, new) = if start == 0 {
            (self.others, 0)
        } else {
            match first_common(&self.symbols[symbol..], again) {
                Some([kept, new]) => (symbol + kept, new),
                None => return Extended::No,
            }
        };
        self.symbols.truncate(kept);
        append(self.symbols, &again[new..]);
        self.len = end;
        Extended::Yes
    }

    /// The last symbol that starts at least `back` bytes before the end of the prefix, at the start
    /// of a character; or the first symbol. `None` if that is flushed.
    fn restart_before(&self, back: usize) -> Option<Restart> {
        let mut start = self.len;
        if self.len > back {
            for (index, symbol) in self.symbols.iter().enumerate().skip(self.others).rev() {
                start -= symbol.len as usize;
                if start <= self.len - back && starts_character(self.word[start]) {
                    return Some(Restart { symbol: index, start });
                }
            }
        }
        (self.flushed == 0).then_some(Restart { symbol: self.others, start: 0 })
    }
}

/// The index after the first symbol that is in both lists, in each of them. The lists start at the
/// same byte.
fn first_common(left: &[Symbol], right: &[Symbol]) -> Option<[usize; 2]> {
    let (mut at, mut starts) = ([0, 0], [0, 0]);
    loop {
        let symbols = [left.get(at[0])?, right.get(at[1])?];
        let ends = [starts[0] + symbols[0].len, starts[1] + symbols[1].len];
        if starts[0] == starts[1] && symbols[0] == symbols[1] {
            return Some(at.map(|at| at + 1));
        }
        for side in [0, 1] {
            if ends[side] <= ends[1 - side] {
                at[side] += 1;
                starts[side] = ends[side];
            }
        }
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

/// Whether the symbols of a part of a word depend only on that part and on where it is in the word.
pub(super) fn is_splittable(alphabet: &Alphabet) -> bool {
    match alphabet {
        Alphabet::Bytes { .. } => true,
        Alphabet::Characters(characters) => {
            let has_affixes =
                !characters.continuing_subword_prefix.is_empty() || !characters.end_of_word_suffix.is_empty();
            // With byte fallback an unknown token can move after tokens of bytes, and affixes
            // become bytes that are not in the text.
            characters.byte_fallback.is_none() || characters.knows_all_bytes() && !has_affixes
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
    let mut kept = std::mem::take(&mut scratch.kept);
    let filtered = if bpe.alphabet_varies { bpe.alphabet.without_dropped(word, &mut kept) } else { None };
    let (word, edges) = filtered.unwrap_or((word, Edges::WORD));
    let (first, sizes) = (out.len(), scratch.sizes);
    let mut prefix = Prefix::new(bpe, (word, edges), sizes, out);
    let mut result = Ok(());
    while prefix.len < word.len() {
        if !prefix.extend(scratch) {
            out.truncate(first);
            result = bpe.merge_part(word, edges, scratch);
            append(out, &scratch.symbols);
            break;
        }
    }
    scratch.kept = kept;
    result
}

/// Merges a long word and passes its tokens on in parts, so that no list of all of them is needed.
/// Returns false if it has to be merged by [`merge`]; then the parts so far are void. `symbols` is
/// a buffer.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(crate) fn merge_in_parts<E>(
    bpe: &Bpe,
    word: &[u8],
    scratch: &mut MergeScratch,
    symbols: &mut Vec<Symbol>,
    mut each: impl FlushTo<E>,
) -> Result<bool, E> {
    symbols.clear();
    let BlockSizes { part, kept, .. } = scratch.sizes;
    let mut prefix = Prefix::new(bpe, (word, Edges::WORD), scratch.sizes, symbols);
    while prefix.len < word.len() {
        if !prefix.extend(scratch) {
            return Ok(false);
        }
        if prefix.len - prefix.flushed > part {
            prefix.flush(kept, &mut each)?;
        }
    }
    prefix.flush(0, &mut each)?;
    Ok(true)
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
        // The first character has other ids than the others, and so has the last one.
        let with_affixes = |fuse: Option<bool>| {
            let mut alphabet = characters(fuse, None);
            if let Alphabet::Characters(characters) = &mut alphabet {
                let of_position = |position: usize| {
                    ids.iter().map(|(&c, &id)| (c, if position == 0 { id } else { 600 + id })).collect()
                };
                characters.ids = CharacterIds::new(std::array::from_fn(of_position));
                characters.end_of_word_suffix = "</w>".into();
            }
            alphabet
        };
        let dropped = Box::new(std::array::from_fn(|byte| (byte < 128).then_some(byte as u32)));
        vec![
            Alphabet::Bytes { ids: bytes(), missing_is_error: true },
            Alphabet::Bytes { ids: dropped, missing_is_error: false },
            characters(Some(true), None),
            characters(Some(false), None),
            characters(None, None),
            with_affixes(Some(true)),
            with_affixes(None),
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
        fn words_in_sequence_equal_each_word_on_its_own(seed in any::<u32>(), words in words(), step in 1usize..40, near in 1usize..20, part in 1usize..200, kept in 1usize..100) {
            let mut merges = byte_merges(seed);
            // Merges with the unknown token, and with bytes of a character.
            merges.extend([(97, 63, Merge { rank: 60, id: 400 }), (0xC3, 0xA9, Merge { rank: 61, id: 401 })]);
            merges.extend([(97, 697, Merge { rank: 7, id: 402 }), (698, 98, Merge { rank: 0, id: 403 })]);
            for alphabet in alphabets() {
                let bpe = Bpe::new(alphabet, Arc::new(Merges::new(&merges)), None, None);
                let mut scratch = MergeScratch::default();
                scratch.sizes = BlockSizes { min_len: 4, block: 24, back: 3, step, near, part, kept };
                for word in &words {
                    let (mut alone, mut after) = (vec![], vec![]);
                    bpe.tokenize(word.as_bytes(), word_key::of_word(word.as_bytes()), &mut MergeScratch::default(), &mut alone).expect("nothing is missing");
                    if word.len() > scratch.sizes.min_len {
                        merge(&bpe, word.as_bytes(), &mut scratch, &mut after).expect("nothing is missing");
                        prop_assert_eq!(&after, &alone, "{:?} of {:?}, {:?}", word, words, bpe.alphabet);
                        let (mut parts, mut end) = (vec![], 0);
                        let is_all = merge_in_parts(&bpe, word.as_bytes(), &mut scratch, &mut vec![], |range, symbols| {
                            let covered: u32 = symbols.iter().map(|symbol| symbol.len).sum();
                            prop_assert_eq!(range.clone(), end..end + covered as usize);
                            end = range.end;
                            parts.extend_from_slice(symbols);
                            Ok(())
                        })?;
                        prop_assert!(!is_all || parts == alone, "{:?}: {:?}", word, parts);
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
        let (word, mut symbols) = (b"abaab".repeat(100), vec![]);
        let mut prefix = Prefix::new(&bpe, (&word, Edges::WORD), BlockSizes::default(), &mut symbols);
        while prefix.len < word.len() {
            let before = prefix.len;
            assert_eq!(prefix.merge_step(&mut scratch), Extended::Yes, "tokens are of three letters at most");
            assert!(prefix.len > before + 40 || prefix.len == word.len(), "{before} {}", prefix.len);
        }
        let (word, mut symbols) = (vec![b'a'; 1000], vec![Symbol { id: 7, len: 3 }]);
        let mut prefix = Prefix::new(&bpe, (&word, Edges::WORD), BlockSizes::default(), &mut symbols);
        assert_eq!((prefix.merge_step(&mut scratch), prefix.len), (Extended::Yes, 62));
        // 32, 16, 8, 4 and 2 letters. With more letters the last ones would be merged further.
        assert_eq!(prefix.symbols.len(), 1 + 5);
        assert_eq!(prefix.merge_step(&mut scratch), Extended::No);
        assert_eq!((prefix.symbols.len(), prefix.len), (1 + 5, 62), "the prefix is not changed");
    }

    #[test]
    fn a_token_in_common_need_not_be_the_first_one() {
        let symbols = |lens: &[u32]| lens.iter().map(|&len| Symbol { id: len, len }).collect::<Vec<_>>();
        let common = |left: &[u32], right: &[u32]| first_common(&symbols(left), &symbols(right));
        assert_eq!(common(&[2, 3], &[2, 3]), Some([1, 1]));
        assert_eq!(common(&[1, 2, 3], &[3, 3]), Some([3, 2]));
        assert_eq!(common(&[2, 2, 2], &[1, 2, 2, 9]), None);
        assert_eq!(common(&[], &[1]), None);
    }
}
