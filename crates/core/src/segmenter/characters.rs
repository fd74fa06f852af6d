//! What a normalizer and a pre-tokenizer make of a character, if they handle characters
//! independently.

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
        let mut expansion = Self { characters: ['\0'; Self::MAX_CHARACTERS], len: 0, has_overflowed: false };
        expansion.push(character);
        expansion
    }

    fn push(&mut self, character: char) {
        match self.characters.get_mut(self.len) {
            Some(slot) => (*slot, self.len) = (character, self.len + 1),
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
            Some(slot) => len += character.encode_utf8(slot).len(),
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

/// How a block treats a combining mark ([`Role::Mark`]) of at least three bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LongMarks {
    /// The block ends before it.
    Stop,
    /// It is part of the word if the character before it has at least three bytes too. Otherwise
    /// the block ends before it.
    Join,
}
