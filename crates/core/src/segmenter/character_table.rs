//! A table that has for each character what a normalizer and a pre-tokenizer make of it, if they
//! handle characters independently.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::characters::{CharacterEntry, LongMarks, Role, entry};
use super::wide::WideEntry;
use crate::memory::Table;

/// Characters per page of the table.
const CODES_PER_PAGE: usize = 64;
const PAGE_COUNT: usize = 0x11_0000 / CODES_PER_PAGE;
/// Characters below this code point have a [`WideEntry`] in the table: all but rare ideographs.
const WIDE_CODES: usize = 0x2_0000;

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
        if let Some(slot) = self.wide.get(code as usize) {
            slot.store(entry.to_bits(), Ordering::Relaxed);
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
