//! Where a long word can be cut without changing its tokens.
//!
//! A merge joins two neighbours, and so the last character of one with the first of the other. Where no merge of the whole
//! list joins a character that ends in `a` with one that starts with `b`, nothing ever grows over a place between `a` and
//! `b`: what stands before it and what stands behind it can be merged apart. Without a pre-tokenizer, where all of a text is
//! one word, that makes pieces short enough to be remembered.

use super::alphabet::{Alphabet, Characters};
use crate::simd::{BLOCK, Masks, Simd};

/// Which neighbouring characters a merge may join. It may say yes to some that no merge joins, never the other way round.
#[derive(Debug)]
pub(crate) struct SplitPoints {
    /// Of two ASCII characters: by the left one, a bit for the right one.
    ascii: Box<[u128; 128]>,
    /// Of any others: a bit by [`Self::filter_bit`], which some that do not join share with some that do.
    others: Box<[u64]>,
    /// By class of the left and of the right character: what is known of all such pairs.
    classes: [ClassRule; CLASSES],
    /// The character that always starts a piece.
    piece_start: Option<char>,
    /// Whether characters that are no tokens have to stay together.
    keeps_unknown_together: bool,
}

/// What happens to the spaces of a text before the model, where nothing else happens behind its first piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spaces {
    /// The character that is written for each of them.
    pub(crate) mark: char,
    /// Whether each of them, and each mark, starts a word.
    pub(crate) start_words: bool,
}

impl Spaces {
    /// How many bytes of a text a token covers, when each of its marks is a space there.
    pub(crate) fn len_in_text(self, token: &[u8]) -> usize {
        let mut buffer = [0; 4];
        let mark = self.mark.encode_utf8(&mut buffer).as_bytes();
        token.len() - token.windows(mark.len()).filter(|part| *part == mark).count() * (mark.len() - 1)
    }
}

/// For a class on the left: the classes on the right.
#[derive(Debug, Clone, Copy, Default)]
struct ClassRule {
    /// All bits for a class with which no pair joins.
    never: [u64; CLASSES],
    /// All bits for a class with which some join and others do not, so that it pays to look.
    some: [u64; CLASSES],
}

/// Letters, digits, the space, other white space, the rest of ASCII, everything else.
const CLASSES: usize = 6;
const REST: usize = 4;
const HIGH: usize = 5;

fn class_of(byte: u8) -> usize {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => 0,
        b'0'..=b'9' => 1,
        b' ' => 2,
        b'\t'..=b'\r' => 3,
        _ => REST,
    }
}

impl SplitPoints {
    /// `merges` are the left and the right part of each; `spaces` tells how the model reads the spaces of a text.
    ///
    /// None where a token can depend on more than its own characters: on its place in the word (prefixes and suffixes), or on
    /// tokens that stand for characters which they do not spell.
    pub(crate) fn new<'a>(
        merges: impl Iterator<Item = (&'a str, &'a str)>,
        characters: &Characters,
        spaces: Option<&Spaces>,
    ) -> Option<Self> {
        if !characters.continuing_subword_prefix.is_empty() || !characters.end_of_word_suffix.is_empty() {
            return None;
        }
        if characters.unknown.is_none() && !characters.knows_all_bytes() {
            // What is no token is left out, and the places of all tokens behind it in the word move.
            return None;
        }
        let mark = spaces.map(|spaces| spaces.mark);
        let mut pairs: Vec<(char, char)> = vec![];
        for (left, right) in merges {
            if characters.is_stand_in(left) || characters.is_stand_in(right) {
                return None;
            }
            if let (Some(last), Some(first)) = (left.chars().next_back(), right.chars().next()) {
                pairs.push((last, first));
                let read_as = |c: char| if Some(c) == mark { ' ' } else { c };
                pairs.extend([(read_as(last), first), (last, read_as(first)), (read_as(last), read_as(first))]);
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let bits = (pairs.len() * 16).next_power_of_two().clamp(1 << 10, 1 << 21);
        let mut made = Self {
            ascii: Box::new([0; 128]),
            others: vec![0; bits / 64].into(),
            classes: Default::default(),
            piece_start: spaces.filter(|spaces| spaces.start_words).map(|spaces| spaces.mark),
            keeps_unknown_together: !characters.knows_all_bytes(),
        };
        pairs.into_iter().for_each(|(left, right)| made.mark_joinable(left, right));
        let strangers: Vec<char> = (0..128u8)
            .map(char::from)
            .filter(|&c| made.keeps_unknown_together && !(c == ' ' && mark.is_some()) && !characters.knows(c))
            .collect();
        for &left in &strangers {
            strangers.iter().for_each(|&right| made.mark_joinable(left, right));
        }
        made.classify_pairs();
        Some(made)
    }

    fn mark_joinable(&mut self, left: char, right: char) {
        if left.is_ascii() && right.is_ascii() {
            self.ascii[left as usize] |= 1 << right as u32;
        } else {
            let (word, bit) = self.filter_bit(left, right);
            self.others[word] |= bit;
        }
    }

    fn classify_pairs(&mut self) {
        let mut pairs = [[(0u32, 0u32); CLASSES]; CLASSES];
        for left in 0..128u8 {
            for right in 0..128u8 {
                let (joined, all) = &mut pairs[class_of(left)][class_of(right)];
                *joined += u32::from(self.joins_ascii(left, right));
                *all += 1;
            }
        }
        for (left, pairs) in pairs.iter().enumerate() {
            let ClassRule { never, some } = &mut self.classes[left];
            for (right, &(joined, all)) in pairs.iter().enumerate() {
                // Within a class most neighbours join, and cuts would be few; of what is not ASCII there are no counts.
                let mixed = left != right && joined > 0 && joined < all || left == HIGH || right == HIGH;
                never[right] = if joined == 0 && !mixed { u64::MAX } else { 0 };
                some[right] = if mixed { u64::MAX } else { 0 };
            }
        }
    }

    fn joins_ascii(&self, left: u8, right: u8) -> bool {
        let starts = self.piece_start.is_some() && right == b' ';
        !starts && self.ascii[usize::from(left)] >> right & 1 != 0
    }

    #[inline]
    fn filter_bit(&self, left: char, right: char) -> (usize, u64) {
        let pair = u64::from(left as u32) << 32 | u64::from(right as u32);
        let hash = pair.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((hash >> 38) as usize & (self.others.len() - 1), 1 << (hash >> 32 & 63))
    }

    /// The characters that are tokens, where it has to be asked which are none.
    fn stranger_check<'a>(&self, alphabet: &'a Alphabet) -> Option<&'a Characters> {
        match alphabet {
            Alphabet::Characters(characters) if self.keeps_unknown_together => Some(characters),
            _ => None,
        }
    }

    /// Whether a piece starts at `at`, which is neither the start nor the end of the text.
    #[inline]
    fn is_split(&self, characters: Option<&Characters>, text: &str, at: usize) -> bool {
        let bytes = text.as_bytes();
        let (before, behind) = (bytes[at - 1], bytes[at]);
        if before < 0x80 && behind < 0x80 {
            return !self.joins_ascii(before, behind);
        }
        if !text.is_char_boundary(at) {
            return false;
        }
        let (Some(left), Some(right)) = (text[..at].chars().next_back(), text[at..].chars().next()) else {
            return false;
        };
        if self.piece_start.is_some_and(|start| right == start || right == ' ') {
            return true;
        }
        let (word, bit) = self.filter_bit(left, right);
        let strangers = || characters.is_some_and(|known| !known.knows(left) && !known.knows(right));
        self.others[word] & bit == 0 && !strangers()
    }

    /// Appends to `ends` where the pieces of `text` end that start at `at`, until `ends` could not take another window's
    /// or the text is over; returns where the next piece starts. As a scanner does with words.
    #[inline(always)]
    pub(crate) fn split(&self, alphabet: &Alphabet, text: &str, at: usize, ends: &mut Vec<u32>) -> usize {
        let simd = Simd::best();
        let characters = self.stranger_check(alphabet);
        let bytes = text.as_bytes();
        // Bit 0 of a window is the byte before the first place that is judged in it.
        let mut first = at;
        while first + 1 < bytes.len() {
            if ends.len() + BLOCK > ends.capacity() {
                return ends.last().map_or(at, |&end| end as usize);
            }
            let mut rest = [b' '; BLOCK];
            let block = bytes[first..].first_chunk().unwrap_or_else(|| {
                rest[..bytes.len() - first].copy_from_slice(&bytes[first..]);
                &rest
            });
            let in_text = u64::MAX >> (BLOCK - (bytes.len() - first).min(BLOCK));
            let (cuts, doubtful) = self.classify_positions(&simd.masks(block));
            let mut found = (cuts | doubtful) & in_text & !1;
            while found != 0 {
                let place = found.trailing_zeros() as usize;
                if cuts >> place & 1 != 0 || self.is_split(characters, text, first + place) {
                    ends.push((first + place) as u32);
                }
                found &= found - 1;
            }
            first += BLOCK - 1;
        }
        ends.push(bytes.len() as u32);
        bytes.len()
    }

    /// Where the class of a byte and that of the one before it say that there is a cut, and where it pays to look.
    #[inline(always)]
    fn classify_positions(&self, masks: &Masks) -> (u64, u64) {
        let others = !(masks.letters | masks.digits | masks.spaces | masks.high);
        let white = masks.spaces & !masks.blanks;
        let classes = [masks.letters, masks.digits, masks.blanks, white, others, masks.high];
        let (mut cuts, mut doubtful) = (0, 0);
        for (left, rule) in classes.iter().zip(&self.classes) {
            let (mut never, mut some) = (0, 0);
            for (right, class) in classes.iter().enumerate() {
                never |= class & rule.never[right];
                some |= class & rule.some[right];
            }
            cuts |= left << 1 & never;
            doubtful |= left << 1 & some;
        }
        (cuts, doubtful)
    }

    /// Whether no merge ever joins what stands before byte `at` of a text with what stands behind it.
    pub(crate) fn splits_at(&self, alphabet: &Alphabet, text: &str, at: usize) -> bool {
        0 < at && at < text.len() && self.is_split(self.stranger_check(alphabet), text, at)
    }

    /// Where the first piece of `text` ends.
    pub(crate) fn first_end(&self, alphabet: &Alphabet, text: &str) -> usize {
        let characters = self.stranger_check(alphabet);
        (1..text.len()).find(|&at| self.is_split(characters, text, at)).unwrap_or(text.len())
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.ascii) + size_of_val(&*self.others)
    }
}
