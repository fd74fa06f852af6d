//! A table of the result for each character, for a normalizer and a pre-tokenizer that handle
//! characters independently.

use std::sync::OnceLock;

/// Characters per page of the table.
const PAGE: usize = 256;
const PAGES: usize = 0x11_0000 / PAGE;

/// The role of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
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
}

/// The entry of a character: the text written for it, padded with zeros; the last byte holds the
/// length of that text and the [`Kind`].
pub(super) type Entry = [u8; 16];

/// Maximum length of the text in an entry.
const LONGEST: usize = 15;

/// In the last byte of an entry: the text has several characters.
const SEVERAL: u8 = 0x80;

/// Makes an entry.
pub(super) fn entry(kind: Kind, written: &str) -> Entry {
    let (kind, written) = if written.len() > LONGEST { (Kind::General, "") } else { (kind, written) };
    let mut entry = [0; 16];
    entry[..written.len()].copy_from_slice(written.as_bytes());
    let is_one = written.chars().nth(1).is_none();
    entry[LONGEST] = if is_one { 0 } else { SEVERAL } | (kind as u8) << 4 | written.len() as u8;
    entry
}

/// Length of the text in an entry.
#[inline(always)]
pub(super) fn len(entry: &Entry) -> usize {
    usize::from(entry[LONGEST] & 15)
}

/// Whether the text in an entry maps byte by byte to a character of `len` bytes.
#[inline(always)]
pub(super) fn is_aligned(entry: &Entry, len: usize) -> bool {
    entry[LONGEST] & (SEVERAL | 15) == len as u8
}

#[inline(always)]
pub(super) fn kind(entry: &Entry) -> Kind {
    match entry[LONGEST] >> 4 & 7 {
        0 => Kind::Word,
        1 => Kind::Alone,
        2 => Kind::Space,
        3 => Kind::Nothing,
        _ => Kind::General,
    }
}

/// The entries of all characters. A page is computed when one of its characters occurs for the
/// first time; computing all pages would take tens of milliseconds.
#[derive(Debug)]
pub(super) struct Characters {
    pages: Box<[OnceLock<Box<[Entry; PAGE]>>]>,
}

impl Characters {
    pub(super) fn new() -> Self {
        Self { pages: (0..PAGES).map(|_| OnceLock::new()).collect() }
    }

    /// The entry of a code point; `make` computes missing entries.
    #[inline(always)]
    pub(super) fn get(&self, code: u32, make: impl Fn(char) -> Entry) -> &Entry {
        let page = self.pages[code as usize / PAGE % PAGES].get_or_init(|| Self::page(code, make));
        &page[code as usize % PAGE]
    }

    #[cold]
    fn page(code: u32, make: impl Fn(char) -> Entry) -> Box<[Entry; PAGE]> {
        let first = code & !(PAGE as u32 - 1);
        let entries: Box<[Entry]> = (first..first + PAGE as u32)
            .map(|code| char::from_u32(code).map_or(entry(Kind::General, ""), &make))
            .collect();
        entries.try_into().expect("a page of entries")
    }
}
