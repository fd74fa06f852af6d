//! A charsmap and Metaspace, as in models made by SentencePiece: each space becomes the meta symbol
//! (`▁`), which starts a word. In the buffer of words a space stands for it, because that takes one
//! byte instead of three; see [`crate::model::unigram`].
//!
//! - [`filler`]: writes the words of a text to the buffer.
//! - [`clusters`]: characters that normalization may join with others.

mod clusters;
mod filler;

use std::sync::Arc;

use super::character_table::CharacterTable;
use super::characters::{self, CharacterEntry, LongMarks, Role};
use super::wide::WideBlock;
use super::words::SegmentedWords;
use super::{FillEnd, OriginalPart};
use crate::normalizer::{Normalizer, Precompiled};
use crate::pretokenizer::{CharClass, PreTokenizer, Prepend, Stage};
use crate::simd::{self, Simd};
use clusters::{breaks, stands_alone};
use filler::Filler;

/// Replaces a charsmap, a replacement that joins spaces, WhitespaceSplit and Metaspace.
#[derive(Debug)]
pub(crate) struct Metaspace {
    charsmap: Option<Arc<Precompiled>>,
    meta_symbol: char,
    /// Whether WhitespaceSplit comes before Metaspace: white space is dropped, and a meta symbol is
    /// inserted before each word. Otherwise each space becomes the meta symbol of the next word.
    drops_spaces: bool,
    /// Which texts get a meta symbol before their first word, unless white space is dropped.
    prepend: Prepend,
    /// Whether consecutive spaces become one.
    joins_spaces: bool,
    characters: CharacterTable,
    /// Whether capital letters become lower case.
    lowercases: bool,
    /// Whether a line feed becomes a space.
    breaks_are_spaces: bool,
}

/// The byte that stands for the meta symbol in the buffer of words.
const BUFFERED_META_SYMBOL: u8 = b' ';

impl Metaspace {
    /// The segmenter for a normalizer and a pre-tokenizer; `None` for other components.
    pub(super) fn of(normalizer: Option<&Normalizer>, pretokenizer: &PreTokenizer) -> Option<Self> {
        let (charsmap, joined) = match normalizer {
            None => (None, None),
            Some(Normalizer::Precompiled(charsmap)) => (Some(charsmap), None),
            Some(Normalizer::Sequence(steps)) => match &steps[..] {
                [Normalizer::Precompiled(charsmap)] => (Some(charsmap), None),
                [Normalizer::Precompiled(charsmap), Normalizer::Replace(replace)] => {
                    (Some(charsmap), Some(replace.joined_spaces()?))
                }
                _ => return None,
            },
            Some(_) => return None,
        };
        let (drops_spaces, stages) = match &pretokenizer.stages[..] {
            [Stage::Cut(cut), rest @ ..] if cut.removes_white_space() => (true, rest),
            stages => (false, stages),
        };
        let [Stage::Spaces { replacement, prepend }, Stage::Cut(cut)] = stages else { return None };
        // Files converted from XLM-R replace runs of spaces by the meta symbol instead of by one
        // space. Metaspace turns that space into the meta symbol, so the result is the same, unless
        // words are split at spaces first.
        let joins_spaces = match joined {
            None => false,
            Some(" ") => true,
            Some(content) if !drops_spaces && content.chars().eq([*replacement]) => true,
            Some(_) => return None,
        };
        let is_always = *prepend == Prepend::Always;
        if !cut.starts_words_at(*replacement) || *replacement == ' ' || drops_spaces && !is_always {
            return None;
        }
        let segmenter = Self {
            charsmap: charsmap.map(Arc::clone),
            meta_symbol: *replacement,
            drops_spaces,
            prepend: *prepend,
            joins_spaces,
            characters: CharacterTable::new(LongMarks::Join),
            lowercases: false,
            breaks_are_spaces: false,
        };
        // The masks of `Filler::read_block` assume these entries of ASCII characters.
        let is = |byte: u8, role: Role, written: u8| {
            *segmenter.entry(u32::from(byte)) == characters::entry(role, char::from(written).encode_utf8(&mut [0; 4]))
        };
        let lowercases = !is(b'A', Role::Word, b'A');
        let lower = |byte: u8| if lowercases { byte.to_ascii_lowercase() } else { byte };
        let as_expected = (0..128u8).all(|byte| match byte {
            b' ' => is(byte, Role::Space, BUFFERED_META_SYMBOL),
            _ if byte.is_ascii_graphic() => is(byte, Role::Word, lower(byte)),
            _ => true,
        });
        let breaks_are_spaces = is(b'\n', Role::Space, BUFFERED_META_SYMBOL);
        as_expected.then_some(Self { lowercases, breaks_are_spaces, ..segmenter })
    }

    /// The character that a space in the buffer stands for.
    pub(super) fn meta_symbol(&self) -> char {
        self.meta_symbol
    }

    /// The entry of a code point.
    #[inline(always)]
    fn entry(&self, code: u32) -> &CharacterEntry {
        self.characters.get(code, |character| self.entry_of(character))
    }

    /// Computes the entry of a character.
    fn entry_of(&self, character: char) -> CharacterEntry {
        let general = characters::entry(Role::General, "");
        let mut buffer = [0; 4];
        let own: &str = character.encode_utf8(&mut buffer);
        let role = match self.charsmap {
            None => Role::Word,
            Some(_) if stands_alone(character) => Role::Word,
            Some(_) if character != '\r' && breaks(character, 'a') => Role::Mark,
            Some(_) => return general,
        };
        let written = self.charsmap.as_ref().and_then(|charsmap| charsmap.replacement(own)).unwrap_or(own);
        let is_space = |c: char| c == ' ' || self.drops_spaces && CharClass::Space.contains(c);
        match written {
            // The normalizer gives the span of a removed character to a neighbour.
            "" => general,
            " " if role == Role::Word => characters::entry(Role::Space, " "),
            _ if role == Role::Word && self.drops_spaces && written.chars().all(is_space) => {
                characters::entry(Role::Space, " ")
            }
            _ if written.contains(self.meta_symbol) || written.chars().any(is_space) => general,
            _ => characters::entry(role, written),
        }
    }

    /// As [`super::Segmenter::fill`].
    #[inline]
    pub(super) fn fill(&self, part: OriginalPart<'_>, at: usize, tracked: bool, words: &mut SegmentedWords) -> FillEnd {
        simd::dispatch(
            #[inline(always)]
            || self.fill_with(Simd::best(), part, at, tracked, words),
        )
    }

    /// [`Self::fill`] at a given SIMD level.
    #[inline(always)]
    pub(super) fn fill_with(
        &self,
        simd: Simd,
        part: OriginalPart<'_>,
        at: usize,
        tracked: bool,
        words: &mut SegmentedWords,
    ) -> FillEnd {
        words.clear(tracked);
        words.set_inserts_meta_symbols(self.drops_spaces);
        Filler::new(self, simd, part, at, &mut WideBlock::new(), words).fill()
    }

    /// Whether a meta symbol is inserted before a word that no space precedes.
    #[inline]
    fn inserts_meta_symbol(&self, base: usize, at: usize) -> bool {
        let prepends = match self.prepend {
            Prepend::Always => true,
            Prepend::First => base == 0,
            Prepend::Never => false,
        };
        self.drops_spaces || at == 0 && prepends
    }
}
