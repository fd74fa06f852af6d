//! BertNormalizer, or some of its steps, and BertPreTokenizer: words are separated by white space,
//! and each punctuation character is a word.

use unicode_normalization_alignments::char::{canonical_combining_class, decompose_canonical};

use super::FillEnd;
use super::bits::{below, decode_any};
use super::characters::{self, CharacterEntry, CharacterTable, Expansion, LongMarks, Role};
use super::wide::{self, MAX_COVERED, WideBlock, after_letters};
use super::words::SegmentedWords;
use crate::normalizer::{Form, Letters, Normalizer};
use crate::pretokenizer::{Cut, Letter, PreTokenizer, Stage};
use crate::simd::{self, BLOCK, PaddedBlock, Simd};

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
    keeps_tabs: bool,
}

impl Bert {
    pub(super) fn of(normalizer: Option<&Normalizer>, pretokenizer: &PreTokenizer) -> Option<Self> {
        let [Stage::Cut(first), Stage::Cut(second)] = &pretokenizer.stages[..] else { return None };
        if !Cut::are_bert(first, second) {
            return None;
        }
        let mut made = Self {
            steps: vec![],
            decomposes: false,
            characters: CharacterTable::new(LongMarks::Stop),
            lowercases: false,
            keeps_tabs: false,
        };
        made.take(normalizer)?;
        if made.decomposes && !made.steps.contains(&Letters::NoNonspacingMarks) {
            return None;
        }
        // The masks assume these entries.
        let is = |byte: u8, role: Role, written: u8| {
            *made.entry(u32::from(byte)) == characters::entry(role, char::from(written).encode_utf8(&mut [0; 4]))
        };
        let lowercases = !is(b'A', Role::Word, b'A');
        let lower = |byte: u8| if lowercases { byte.to_ascii_lowercase() } else { byte };
        let space = characters::entry(Role::Space, "");
        let is_space = |byte: u8| *made.entry(u32::from(byte)) == space;
        let as_expected = (0..128u8).all(|byte| match byte {
            b' ' | b'\n' | b'\r' => is_space(byte),
            _ if byte.is_ascii_alphanumeric() => is(byte, Role::Word, lower(byte)),
            _ if byte.is_ascii_punctuation() => is(byte, Role::Alone, byte),
            _ => true,
        });
        let keeps_tabs = [b'\t', 0x0B, 0x0C].into_iter().all(is_space);
        as_expected.then_some(Self { lowercases, keeps_tabs, ..made })
    }

    /// Adds the steps of a normalizer; `None` if some step does not handle characters
    /// independently.
    fn take(&mut self, normalizer: Option<&Normalizer>) -> Option<()> {
        match normalizer {
            None => {}
            Some(Normalizer::Sequence(all)) => all.iter().try_for_each(|one| self.take(Some(one)))?,
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
        let (text, is_space) = (written.as_slice(), |&character: &char| Letter::Space.contains(character));
        let start = text.iter().position(|character| !is_space(character)).unwrap_or(text.len());
        let end = text.iter().rposition(|character| !is_space(character)).map_or(start, |last| last + 1);
        let (bare, before, behind) = (&text[start..end], start > 0, end < text.len());
        let is_word = |&character: &char| !is_space(&character) && !Letter::Punctuation.contains(character);
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
            [single] if Letter::Punctuation.contains(*single) => Role::Alone,
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

    #[inline]
    pub(super) fn fill(&self, text: &str, at: usize, tracked: bool, words: &mut SegmentedWords) -> FillEnd {
        simd::dispatch(
            #[inline(always)]
            || self.fill_with(Simd::best(), text, at, tracked, words),
        )
    }

    #[inline(always)]
    pub(super) fn fill_with(
        &self,
        simd: Simd,
        text: &str,
        mut at: usize,
        tracked: bool,
        words: &mut SegmentedWords,
    ) -> FillEnd {
        words.clear(tracked);
        let bytes = text.as_bytes();
        // Whether the last word may continue, and where it starts in the text.
        let (mut is_open, mut word_at) = (false, at);
        let mut general = None;
        let from = at;
        let mut wide_block = WideBlock::new();
        while at < bytes.len() && words.has_room() {
            words.reserve();
            let rest = &bytes[at..];
            let mut padding = [b' '; size_of::<PaddedBlock>()];
            let padded = wide::padded_block(rest, &mut padding);
            let block: &[u8; BLOCK] = padded.first_chunk().expect("a padded block starts with a block");
            let masks = simd.masks(block);
            let mut odd = !(masks.visible | masks.spaces | masks.high);
            if !self.keeps_tabs {
                odd |= masks.spaces & !masks.blanks & !masks.line_breaks;
            }
            let mut sure = below(odd);
            let mut is_stopped = odd != 0;
            let wide_bytes = masks.high & sure;
            if wide_bytes != 0 {
                let (covered, is_other) = wide_block
                    .read(simd, padded, &masks, sure, |code| self.characters.wide(code, |c| self.entry_of(c)));
                is_stopped = is_other || is_stopped && covered == sure;
                sure = covered;
            }
            if sure != 0 {
                let mut letters = (masks.letters | masks.digits) & sure;
                let mut kept = masks.visible & sure;
                let mut written = *block;
                if self.lowercases {
                    written.iter_mut().for_each(u8::make_ascii_lowercase);
                }
                let len = (sure.count_ones() as usize).min(rest.len());
                let mut inner = 0;
                if wide_bytes & sure != 0 {
                    wide_block.put_texts(&mut written);
                    let of_wide = wide_block.masks(simd, wide_bytes & sure);
                    letters |= of_wide.letters;
                    letters |= after_letters(of_wide.removed, letters << 1 | u64::from(is_open));
                    kept |= of_wide.kept;
                    inner = of_wide.inner;
                }
                let starts = kept & !inner & !(letters & (letters << 1 | u64::from(is_open)));
                words.push_block(simd, &written, at, kept, starts, starts);
                if starts != 0 {
                    word_at = at + 63 - starts.leading_zeros() as usize;
                }
                is_open = letters >> (len - 1) & 1 != 0;
                at += len;
            }
            if !is_stopped {
                continue;
            }
            // Reads single characters until several in a row could have been read in a block.
            let mut covered = 0;
            while covered < MAX_COVERED && words.has_room() {
                words.reserve();
                let Some(&first) = bytes.get(at) else { break };
                let (code, len) = decode_any(&bytes[at..]);
                let entry = self.entry(code);
                let written = characters::len(entry);
                let mut role = characters::role(entry);
                covered = if role == Role::Mark || written > len { 0 } else { covered + 1 };
                if role == Role::Mark {
                    // NFD leaves a mark where it is if no mark is next to it.
                    let is_alone = self.separates_last(&text[..at]) && self.separates(&bytes[at + len..]);
                    role = if is_alone { Role::Word } else { Role::General };
                }
                match role {
                    Role::Word => {
                        if !is_open {
                            words.start_word();
                            (is_open, word_at) = (true, at);
                        }
                        words.push(entry, written, at);
                    }
                    Role::Alone => {
                        words.start_word();
                        words.push(entry, written, at);
                        is_open = false;
                    }
                    Role::Space => is_open = false,
                    Role::Nothing => {}
                    Role::General | Role::Mark => {
                        general = Some(at);
                        break;
                    }
                }
                at += len;
                if first < 0x80 && bytes.get(at).is_some_and(u8::is_ascii) {
                    break;
                }
                if first >= 0x80 && bytes.get(at).is_some_and(|&next| next.is_ascii() && next != b' ') {
                    break;
                }
            }
            if general.is_some() {
                break;
            }
        }
        let stop = match general {
            Some(found) => {
                // NFD can give the span of a removed mark to one that remains.
                let start = if is_open { word_at } else { self.start_of_removed(text, from, found) };
                // These separate words whatever the settings of the normalizer are.
                let ends_word = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
                let end = bytes[found..].iter().position(ends_word).map_or(bytes.len(), |len| found + len);
                FillEnd::General(start..end)
            }
            None if at < bytes.len() && is_open => FillEnd::At(word_at),
            None => FillEnd::At(at),
        };
        if is_open && stop != FillEnd::At(bytes.len()) {
            words.drop_last();
        } else {
            words.end();
        }
        stop
    }
}
