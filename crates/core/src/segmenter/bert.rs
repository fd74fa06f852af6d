//! BertNormalizer, or some of its steps, and BertPreTokenizer: words are separated by white space,
//! and each punctuation character is a word.

use unicode_normalization_alignments::char::{canonical_combining_class, decompose_canonical};

use super::FillEnd;
use super::bits::decode_any;
use super::character_table::CharacterTable;
use super::characters::{self, CharacterEntry, Expansion, LongMarks, Role};
use super::wide::{self, MAX_COVERED, WideBlock, after_letters};
use super::words::{SegmentedWords, WordMasks};
use crate::normalizer::{Form, Letters, Normalizer};
use crate::pretokenizer::{CharClass, Cut, PreTokenizer, Stage};
use crate::simd::bits::below;
use crate::simd::{self, BLOCK, Masks, PaddedBlock, Simd};

/// Replaces BertNormalizer and BertPreTokenizer.
#[derive(Debug)]
pub(crate) struct Bert {
    /// The steps of the normalizer, each of which handles characters independently. NFD, if any,
    /// comes directly before `NoNonspacingMarks`.
    steps: Vec<Letters>,
    /// Whether NFD is one of the steps.
    decomposes: bool,
    characters: CharacterTable,
    /// Whether capital letters become lower case.
    lowercases: bool,
    /// Whether tab, vertical tab and form feed separate words as the space does.
    tabs_are_spaces: bool,
}

impl Bert {
    /// The segmenter for a normalizer and a pre-tokenizer; `None` for other components.
    pub(super) fn of(normalizer: Option<&Normalizer>, pretokenizer: &PreTokenizer) -> Option<Self> {
        let [Stage::Cut(first), Stage::Cut(second)] = &pretokenizer.stages[..] else { return None };
        if !Cut::are_bert(first, second) {
            return None;
        }
        let mut segmenter = Self {
            steps: vec![],
            decomposes: false,
            characters: CharacterTable::new(LongMarks::Stop),
            lowercases: false,
            tabs_are_spaces: false,
        };
        segmenter.add_steps(normalizer)?;
        if segmenter.decomposes && !segmenter.steps.contains(&Letters::NoNonspacingMarks) {
            return None;
        }
        // The masks of `read_block` assume these entries of ASCII characters.
        let is = |byte: u8, role: Role, written: u8| {
            *segmenter.entry(u32::from(byte)) == characters::entry(role, char::from(written).encode_utf8(&mut [0; 4]))
        };
        let lowercases = !is(b'A', Role::Word, b'A');
        let lower = |byte: u8| if lowercases { byte.to_ascii_lowercase() } else { byte };
        let space = characters::entry(Role::Space, "");
        let is_space = |byte: u8| *segmenter.entry(u32::from(byte)) == space;
        let as_expected = (0..128u8).all(|byte| match byte {
            b' ' | b'\n' | b'\r' => is_space(byte),
            _ if byte.is_ascii_alphanumeric() => is(byte, Role::Word, lower(byte)),
            _ if byte.is_ascii_punctuation() => is(byte, Role::Alone, byte),
            _ => true,
        });
        let tabs_are_spaces = [b'\t', 0x0B, 0x0C].into_iter().all(is_space);
        as_expected.then_some(Self { lowercases, tabs_are_spaces, ..segmenter })
    }

    /// Adds the steps of a normalizer; `None` if some step does not handle characters
    /// independently.
    fn add_steps(&mut self, normalizer: Option<&Normalizer>) -> Option<()> {
        match normalizer {
            None => {}
            Some(Normalizer::Sequence(all)) => all.iter().try_for_each(|one| self.add_steps(Some(one)))?,
            // Removes the combining marks that NFD may reorder, except those that `entry_of`
            // detects.
            Some(&Normalizer::Letters(letters @ Letters::NoNonspacingMarks)) => self.steps.push(letters),
            Some(&Normalizer::Letters(_)) if self.decomposes && !self.steps.contains(&Letters::NoNonspacingMarks) => {
                return None;
            }
            Some(&Normalizer::Letters(
                letters @ (Letters::Clean | Letters::SpacesAroundIdeographs | Letters::Lowercase),
            )) => self.steps.push(letters),
            Some(Normalizer::Form(form)) if *form == Form::Nfd && !self.decomposes => {
                if self.steps.contains(&Letters::Lowercase) || self.steps.contains(&Letters::NoNonspacingMarks) {
                    return None;
                }
                self.decomposes = true;
            }
            Some(_) => return None,
        }
        Some(())
    }

    /// The entry of a code point.
    #[inline(always)]
    fn entry(&self, code: u32) -> &CharacterEntry {
        self.characters.get(code, |character| self.entry_of(character))
    }

    /// Computes the entry of a character by applying the steps.
    fn entry_of(&self, character: char) -> CharacterEntry {
        let mut written = Expansion::of(character);
        let is_mark = |&character: &char| canonical_combining_class(character) != 0;
        let (mut is_decomposed, mut reorders) = (!self.decomposes, false);
        for step in &self.steps {
            if !is_decomposed && *step == Letters::NoNonspacingMarks {
                is_decomposed = true;
                written.replace(|character, write| decompose_canonical(character, write));
                // A character that is removed before NFD does not separate combining marks.
                reorders = written.as_slice().is_empty() || written.as_slice().iter().any(is_mark);
            }
            written.replace(|character, write| step.replace(character, write));
        }
        let (text, is_space) = (written.as_slice(), |&character: &char| CharClass::Space.contains(character));
        let start = text.iter().position(|character| !is_space(character)).unwrap_or(text.len());
        let end = text.iter().rposition(|character| !is_space(character)).map_or(start, |last| last + 1);
        // The text without white space around it, and on which sides there is some.
        let (bare, before, behind) = (&text[start..end], start > 0, end < text.len());
        let is_word = |&character: &char| !is_space(&character) && !CharClass::Punctuation.contains(character);
        let role = match bare {
            _ if written.has_overflowed() => Role::General,
            [] if text.is_empty() => Role::Nothing,
            [] => Role::Space,
            _ if self.decomposes && bare.iter().any(is_mark) => {
                if before || behind || !bare.iter().all(is_word) {
                    Role::General
                } else {
                    Role::Mark
                }
            }
            [single] if CharClass::Punctuation.contains(*single) => Role::Alone,
            _ if !bare.iter().all(is_word) || before != behind => Role::General,
            _ if before => Role::Alone,
            _ => Role::Word,
        };
        characters::with_reorders(characters::entry_of_chars(role, bare), reorders)
    }

    /// Whether NFD cannot move a combining mark across the first character of a text.
    fn separates(&self, rest: &[u8]) -> bool {
        rest.is_empty() || !characters::reorders(self.entry(decode_any(rest).0))
    }

    /// Whether NFD cannot move a combining mark across the last character of a text.
    fn separates_last(&self, text: &str) -> bool {
        text.chars().next_back().is_none_or(|last| !characters::reorders(self.entry(last as u32)))
    }

    /// The start of the run of removed characters that ends at byte `end`, or `from` if the run
    /// starts before it.
    fn start_of_removed(&self, text: &str, from: usize, end: usize) -> usize {
        let is_removed = |character: char| characters::role(self.entry(character as u32)) == Role::Nothing;
        from + text[from..end].trim_end_matches(is_removed).len()
    }

    /// As [`super::Segmenter::fill`].
    #[inline]
    pub(super) fn fill(&self, text: &str, at: usize, tracked: bool, words: &mut SegmentedWords) -> FillEnd {
        simd::dispatch(
            #[inline(always)]
            || self.fill_with(Simd::best(), text, at, tracked, words),
        )
    }

    /// [`Self::fill`] at a given SIMD level.
    #[inline(always)]
    pub(super) fn fill_with(
        &self,
        simd: Simd,
        text: &str,
        at: usize,
        tracked: bool,
        words: &mut SegmentedWords,
    ) -> FillEnd {
        words.clear(tracked);
        let wide_block = &mut WideBlock::new();
        let filler =
            Filler { segmenter: self, simd, text, words, wide_block, start: at, at, word_at: at, is_open: false };
        filler.fill()
    }
}

/// The state of one call of [`Bert::fill`].
struct Filler<'a> {
    segmenter: &'a Bert,
    simd: Simd,
    text: &'a str,
    words: &'a mut SegmentedWords,
    /// A reference, because the compiler keeps a struct that contains such an array in memory; the
    /// other fields should be in registers.
    wide_block: &'a mut WideBlock,
    /// Where the call starts to read.
    start: usize,
    /// The next byte to read.
    at: usize,
    /// Where the last word starts in the text.
    word_at: usize,
    /// Whether the last word may continue.
    is_open: bool,
}

impl Filler<'_> {
    #[inline(always)]
    fn fill(mut self) -> FillEnd {
        let mut general = None;
        while general.is_none() && self.at < self.text.len() && self.words.has_capacity() {
            self.words.reserve();
            if self.read_block() {
                general = self.read_characters();
            }
        }
        self.end(general)
    }

    /// Writes the next block up to the first character that its masks do not describe. Returns
    /// whether there is such a character.
    #[inline(always)]
    fn read_block(&mut self) -> bool {
        let (segmenter, simd) = (self.segmenter, self.simd);
        let rest = &self.text.as_bytes()[self.at..];
        let mut padding = [b' '; size_of::<PaddedBlock>()];
        let padded = wide::padded_block(rest, &mut padding);
        let block: &[u8; BLOCK] = padded.first_chunk().expect("a padded block starts with a block");
        let masks = simd.masks(block);
        let mut odd = !(masks.visible | masks.spaces | masks.high);
        if !segmenter.tabs_are_spaces {
            odd |= masks.spaces & !masks.blanks & !masks.line_breaks;
        }
        let mut sure = below(odd);
        let mut is_stopped = odd != 0;
        if masks.high & sure != 0 {
            let entry = |code| segmenter.characters.wide(code, |character| segmenter.entry_of(character));
            let (covered, is_other) = self.wide_block.read(simd, padded, &masks, sure, entry);
            is_stopped = is_other || is_stopped && covered == sure;
            sure = covered;
        }
        if sure != 0 {
            self.write_block(block, &masks, sure);
        }
        is_stopped
    }

    /// Writes the first bytes of a block, those of the mask `sure`.
    #[inline(always)]
    fn write_block(&mut self, block: &[u8; BLOCK], masks: &Masks, sure: u64) {
        let mut letters = (masks.letters | masks.digits) & sure;
        let mut kept = masks.visible & sure;
        let mut inner = 0;
        let mut written = *block;
        if self.segmenter.lowercases {
            written.iter_mut().for_each(u8::make_ascii_lowercase);
        }
        if masks.high & sure != 0 {
            self.wide_block.put_texts(&mut written);
            let of_wide = self.wide_block.masks(self.simd, masks.high & sure);
            letters |= of_wide.letters;
            letters |= after_letters(of_wide.removed, letters << 1 | u64::from(self.is_open));
            kept |= of_wide.kept;
            inner = of_wide.inner;
        }
        let continues = letters & (letters << 1 | u64::from(self.is_open));
        let starts = kept & !inner & !continues;
        self.words.push_block(self.simd, &written, self.at, WordMasks { kept, starts, origins: starts });
        if starts != 0 {
            self.word_at = self.at + BLOCK - 1 - starts.leading_zeros() as usize;
        }
        let len = (sure.count_ones() as usize).min(self.text.len() - self.at);
        self.is_open = letters >> (len - 1) & 1 != 0;
        self.at += len;
    }

    /// Reads single characters until several in a row could have been read in a block. Returns the
    /// position of a character that needs the normalizer, if there is one.
    #[inline(always)]
    fn read_characters(&mut self) -> Option<usize> {
        let (segmenter, bytes) = (self.segmenter, self.text.as_bytes());
        let mut covered = 0;
        while covered < MAX_COVERED && self.words.has_capacity() {
            self.words.reserve();
            let Some(&first) = bytes.get(self.at) else { break };
            let (code, len) = decode_any(&bytes[self.at..]);
            let entry = segmenter.entry(code);
            let written = characters::len(entry);
            let mut role = characters::role(entry);
            covered = if role == Role::Mark || written > len { 0 } else { covered + 1 };
            if role == Role::Mark {
                // NFD leaves a combining mark where it is if there is no other one next to it.
                let is_alone =
                    segmenter.separates_last(&self.text[..self.at]) && segmenter.separates(&bytes[self.at + len..]);
                role = if is_alone { Role::Word } else { Role::General };
            }
            match role {
                Role::Word => {
                    if !self.is_open {
                        self.words.start_word();
                        (self.is_open, self.word_at) = (true, self.at);
                    }
                    self.words.push(entry, written, self.at);
                }
                Role::Alone => {
                    self.words.start_word();
                    self.words.push(entry, written, self.at);
                    self.is_open = false;
                }
                Role::Space => self.is_open = false,
                Role::Nothing => {}
                Role::General | Role::Mark => return Some(self.at),
            }
            self.at += len;
            if first < 0x80 && bytes.get(self.at).is_some_and(u8::is_ascii) {
                break;
            }
            if first >= 0x80 && bytes.get(self.at).is_some_and(|&next| next.is_ascii() && next != b' ') {
                break;
            }
        }
        None
    }

    /// Ends or drops the last word. `general` is the position of a character that needs the
    /// normalizer, if there is one.
    #[inline(always)]
    fn end(self, general: Option<usize>) -> FillEnd {
        let bytes = self.text.as_bytes();
        let stop = match general {
            Some(found) => {
                // NFD can give the span of a removed combining mark to one that remains.
                let removed = || self.segmenter.start_of_removed(self.text, self.start, found);
                let start = if self.is_open { self.word_at } else { removed() };
                // These separate words whatever the settings of the normalizer are.
                let ends_word = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
                let end = bytes[found..].iter().position(ends_word).map_or(bytes.len(), |len| found + len);
                FillEnd::General(start..end)
            }
            None if self.at < bytes.len() && self.is_open => FillEnd::At(self.word_at),
            None => FillEnd::At(self.at),
        };
        if self.is_open && stop != FillEnd::At(bytes.len()) {
            self.words.drop_last();
        } else {
            self.words.end();
        }
        stop
    }
}
