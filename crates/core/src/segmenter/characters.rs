//! A table that has for each character what a normalizer and a pre-tokenizer make of it, if they
//! handle characters independently.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::wide::WideEntry;
use crate::memory::Table;

/// Characters per page of the table.
const CODES_PER_PAGE: usize = 64;
const PAGE_COUNT: usize = 0x11_0000 / CODES_PER_PAGE;
/// Characters below this code point have a [`WideEntry`] in the table: all but rare ideographs.
const WIDE_CODES: usize = 0x2_0000;

/// The role of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Role {
    /// Part of a word.
    Word = 0,
    /// A word of its own.
    Alone = 1,
    /// White space between words.
    Space = 2,
    /// Removed.
    Nothing = 3,
    /// Depends on its neighbours.
    General = 4,
    /// A combining mark, or another character that may change together with a neighbour. Part of a
    /// word unless that happens, so segmenters look at the neighbours.
    Mark = 5,
}

/// The entry of a character: the text written for it, padded with zeros; the last byte holds the
/// length of that text and the [`Role`], the byte before it [`REORDERS`].
pub(super) type CharacterEntry = [u8; 16];

/// Maximum length of the text in an entry.
pub(super) const LONGEST: usize = 14;

/// The byte of an entry that holds length and role.
const CONTROL: usize = 15;

/// The byte of an entry that is set if NFD can move a combining mark across or out of the
/// character.
const REORDERS: usize = 14;

/// What the steps of a normalizer make of one character, while its entry is computed. More than
/// [`Expansion::MAX_CHARACTERS`] would not fit into an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expansion {
    characters: [char; Self::MAX_CHARACTERS],
    len: usize,
    has_overflowed: bool,
}

impl Expansion {
    const MAX_CHARACTERS: usize = 16;

    pub(super) fn of(character: char) -> Self {
        let mut made = Self { characters: ['\0'; Self::MAX_CHARACTERS], len: 0, has_overflowed: false };
        made.push(character);
        made
    }

    fn push(&mut self, character: char) {
        match self.characters.get_mut(self.len) {
            Some(place) => (*place, self.len) = (character, self.len + 1),
            None => self.has_overflowed = true,
        }
    }

    /// Replaces each character by what `step` writes for it.
    pub(super) fn replace(&mut self, mut step: impl FnMut(char, &mut dyn FnMut(char))) {
        let old = *self;
        self.len = 0;
        old.as_slice().iter().for_each(|&character| step(character, &mut |written| self.push(written)));
    }

    pub(super) fn as_slice(&self) -> &[char] {
        &self.characters[..self.len]
    }

    pub(super) fn has_overflowed(&self) -> bool {
        self.has_overflowed
    }
}

/// The entry of a character for which `written` is written.
pub(super) fn entry_of_chars(role: Role, written: &[char]) -> CharacterEntry {
    let (mut text, mut len) = ([0; LONGEST], 0);
    for character in written {
        match text.get_mut(len..len + character.len_utf8()) {
            Some(place) => len += character.encode_utf8(place).len(),
            None => return entry(Role::General, ""),
        }
    }
    entry(role, std::str::from_utf8(&text[..len]).expect("characters were written"))
}

/// Sets what [`reorders`] returns for an entry.
pub(super) fn with_reorders(mut entry: CharacterEntry, reorders: bool) -> CharacterEntry {
    entry[REORDERS] = u8::from(reorders);
    entry
}

/// Whether NFD can move a combining mark across or out of the character.
#[inline(always)]
pub(super) fn reorders(entry: &CharacterEntry) -> bool {
    entry[REORDERS] != 0
}

/// The entry of a character for which `written` is written. A longer text than fits needs the
/// normalizer.
pub(super) fn entry(role: Role, written: &str) -> CharacterEntry {
    let (role, written) = if written.len() > LONGEST { (Role::General, "") } else { (role, written) };
    let mut entry = [0; 16];
    entry[..written.len()].copy_from_slice(written.as_bytes());
    entry[CONTROL] = (role as u8) << 4 | written.len() as u8;
    entry
}

/// Length of the text in an entry.
#[inline(always)]
pub(super) fn len(entry: &CharacterEntry) -> usize {
    usize::from(entry[CONTROL] & 15)
}

/// The role in an entry.
#[inline(always)]
pub(super) fn role(entry: &CharacterEntry) -> Role {
    match entry[CONTROL] >> 4 & 7 {
        0 => Role::Word,
        1 => Role::Alone,
        2 => Role::Space,
        3 => Role::Nothing,
        5 => Role::Mark,
        _ => Role::General,
    }
}

/// The entries of all characters. A page is computed when one of its characters occurs for the
/// first time; computing all pages would take milliseconds.
#[derive(Debug)]
pub(super) struct CharacterTable {
    long_marks: LongMarks,
    pages: Box<[OnceLock<Box<Page>>]>,
    /// The entries as [`super::wide`] reads them ([`WideEntry::to_bits`]), so that a lookup is one
    /// load; zero if not computed.
    wide: Table<AtomicU64>,
}

/// How a block treats a combining mark ([`Role::Mark`]) of at least three bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LongMarks {
    /// The block ends before it.
    Stop,
    /// It is part of the word if the character before it has at least three bytes too. Otherwise
    /// the block ends before it.
    Join,
}

/// The entries of adjacent characters.
type Page = [CharacterEntry; CODES_PER_PAGE];

impl CharacterTable {
    pub(super) fn new(long_marks: LongMarks) -> Self {
        Self { long_marks, pages: (0..PAGE_COUNT).map(|_| OnceLock::new()).collect(), wide: Table::zeroed(WIDE_CODES) }
    }

    /// The entry of a code point; `make` computes missing entries.
    #[inline(always)]
    pub(super) fn get(&self, code: u32, make: impl Fn(char) -> CharacterEntry) -> &CharacterEntry {
        let page = self.pages[code as usize / CODES_PER_PAGE % PAGE_COUNT].get_or_init(|| page_of(code, make));
        &page[code as usize % CODES_PER_PAGE]
    }

    /// The entry of a code point as [`super::wide`] reads it.
    #[inline(always)]
    pub(super) fn wide(&self, code: u32, make: impl Fn(char) -> CharacterEntry) -> WideEntry {
        // An entry is complete in itself, so its load needs no order with others.
        match self.wide.get(code as usize).map(|entry| entry.load(Ordering::Relaxed)) {
            Some(bits) if bits != 0 => WideEntry::from_bits(bits),
            _ => self.new_wide(code, make),
        }
    }

    /// Computes the entry of a code point, and stores it in the table.
    #[cold]
    fn new_wide(&self, code: u32, make: impl Fn(char) -> CharacterEntry) -> WideEntry {
        let Some(character) = char::from_u32(code) else { return WideEntry::OTHER };
        let entry = WideEntry::of(character.len_utf8(), self.get(code, make), self.long_marks);
        if let Some(place) = self.wide.get(code as usize) {
            place.store(entry.to_bits(), Ordering::Relaxed);
        }
        entry
    }
}

#[cold]
fn page_of(code: u32, make: impl Fn(char) -> CharacterEntry) -> Box<Page> {
    let mut page = Box::new([entry(Role::General, ""); CODES_PER_PAGE]);
    let first = code & !(CODES_PER_PAGE as u32 - 1);
    for (code, entry) in (first..).zip(&mut *page) {
        if let Some(character) = char::from_u32(code) {
            *entry = make(character);
        }
    }
    page
}
