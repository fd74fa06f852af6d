//! Finds where a long word can be split without changing its tokens.
//!
//! A merge joins the last character of its left token with the first character of its right token.
//! If no merge of the vocabulary has `a` at the end of its left token and `b` at the start of its
//! right one, then no token ever covers both an `a` and the `b` after it, and the text can be
//! split between them. Without a pre-tokenizer, where a whole text is one word, this yields pieces
//! that are short enough for the word cache.
//!
//! Two characters that may be merged are called *joinable*. This module may treat characters as
//! joinable that are not, but never the other way round.

use super::alphabet::{Alphabet, Characters};
use super::bucket_table::KeyFilter;
use crate::simd::{BLOCK, Masks, Simd};
use crate::word_key::MULTIPLIERS;

/// The pairs of characters that are joinable.
#[derive(Debug)]
pub(crate) struct SplitPoints {
    /// Pairs of ASCII characters: for each left one, a bit for each right one.
    ascii: Box<[u128; 128]>,
    /// All other pairs, by [`hash`].
    others: KeyFilter,
    /// Summaries of the joinable pairs of two character classes, by the class of the left
    /// character.
    classes: [ClassRule; CLASS_COUNT],
    /// A character that starts a piece wherever it occurs; if it is set, spaces also do.
    piece_start: Option<char>,
    /// Whether there must be no split between adjacent characters that are not tokens.
    keeps_unknown_together: bool,
}

/// How a model treats the spaces of a text if they are not replaced before it. Only the first piece
/// of a text needs the full pipeline; the model reads the others directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spaces {
    /// The character that stands for a space in tokens; `▁` (U+2581) in most vocabularies.
    pub(crate) meta_symbol: char,
    /// Whether each space, and each meta symbol, starts a word.
    pub(crate) start_words: bool,
}

impl Spaces {
    /// The number of bytes of text that a token covers if each of its meta symbols is a space in
    /// the text.
    pub(crate) fn len_in_text(self, token: &[u8]) -> usize {
        let mut buffer = [0; 4];
        let meta_symbol = self.meta_symbol.encode_utf8(&mut buffer).as_bytes();
        let count = token.windows(meta_symbol.len()).filter(|part| *part == meta_symbol).count();
        token.len() - count * (meta_symbol.len() - 1)
    }
}

/// For a class of left characters, a summary for each class of right characters.
#[derive(Debug, Clone, Copy, Default)]
struct ClassRule {
    /// All bits set if no pair is joinable.
    never: [u64; CLASS_COUNT],
    /// All bits set if some pairs are joinable and others are not.
    some: [u64; CLASS_COUNT],
}

/// The number of classes: letters, digits, the space, other white space, the rest of ASCII, and all
/// other characters.
const CLASS_COUNT: usize = 6;
const OTHER_ASCII: usize = 4;
const NON_ASCII: usize = 5;

fn class_of(byte: u8) -> usize {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => 0,
        b'0'..=b'9' => 1,
        b' ' => 2,
        b'\t'..=b'\r' => 3,
        _ => OTHER_ASCII,
    }
}

impl SplitPoints {
    /// Analyzes the left and right tokens of all merges.
    ///
    /// `fuses_unknown`: whether adjacent characters that are not tokens can be one token.
    ///
    /// Returns `None` if tokens depend on more than their own characters: on their position in the
    /// word, as with prefixes and suffixes, or on a token that stands for text other than its own.
    pub(crate) fn new<'a>(
        merges: impl Iterator<Item = (&'a str, &'a str)>,
        characters: &Characters,
        spaces: Option<&Spaces>,
        fuses_unknown: bool,
    ) -> Option<Self> {
        if !characters.continuing_subword_prefix.is_empty() || !characters.end_of_word_suffix.is_empty() {
            return None;
        }
        if characters.unknown.is_none() && !characters.knows_all_bytes() {
            // A dropped character changes the offsets of all tokens after it in the word.
            return None;
        }
        let meta_symbol = spaces.map(|spaces| spaces.meta_symbol);
        let mut pairs: Vec<(char, char)> = vec![];
        for (left, right) in merges {
            if characters.is_stand_in(left) || characters.is_stand_in(right) {
                return None;
            }
            if let (Some(last), Some(first)) = (left.chars().next_back(), right.chars().next()) {
                pairs.push((last, first));
                let as_space = |c: char| if Some(c) == meta_symbol { ' ' } else { c };
                pairs.extend([(as_space(last), first), (last, as_space(first)), (as_space(last), as_space(first))]);
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let bits = (pairs.len() * 16).next_power_of_two().clamp(1 << 10, 1 << 21);
        let mut points = Self {
            ascii: Box::new([0; 128]),
            others: KeyFilter::with_bits(bits),
            classes: Default::default(),
            piece_start: spaces.filter(|spaces| spaces.start_words).map(|spaces| spaces.meta_symbol),
            keeps_unknown_together: fuses_unknown,
        };
        pairs.into_iter().for_each(|(left, right)| points.mark_joinable(left, right));
        let unknown: Vec<char> = (0..128u8)
            .map(char::from)
            .filter(|&c| points.keeps_unknown_together && !(c == ' ' && meta_symbol.is_some()) && !characters.knows(c))
            .collect();
        for &left in &unknown {
            unknown.iter().for_each(|&right| points.mark_joinable(left, right));
        }
        points.classify_pairs();
        Some(points)
    }

    fn mark_joinable(&mut self, left: char, right: char) {
        if left.is_ascii() && right.is_ascii() {
            self.ascii[left as usize] |= 1 << right as u32;
        } else {
            self.others.add(hash(left, right));
        }
    }

    /// Computes `classes` from `ascii`.
    fn classify_pairs(&mut self) {
        let mut pairs = [[(0u32, 0u32); CLASS_COUNT]; CLASS_COUNT];
        for left in 0..128u8 {
            for right in 0..128u8 {
                let (joinable, all) = &mut pairs[class_of(left)][class_of(right)];
                *joinable += u32::from(self.are_joinable(left, right));
                *all += 1;
            }
        }
        for (left, pairs) in pairs.iter().enumerate() {
            let ClassRule { never, some } = &mut self.classes[left];
            for (right, &(joinable, all)) in pairs.iter().enumerate() {
                // A text is rarely split within a class, so its pairs count as joinable if any is.
                // Pairs with a character outside ASCII are never in `ascii`, so they are always
                // examined.
                let mixed = left != right && joinable > 0 && joinable < all || left == NON_ASCII || right == NON_ASCII;
                never[right] = if joinable == 0 && !mixed { u64::MAX } else { 0 };
                some[right] = if mixed { u64::MAX } else { 0 };
            }
        }
    }

    fn are_joinable(&self, left: u8, right: u8) -> bool {
        let starts = self.piece_start.is_some() && right == b' ';
        !starts && self.ascii[usize::from(left)] >> right & 1 != 0
    }

    /// The alphabet, if it has to be checked for unknown characters.
    fn unknown_check<'a>(&self, alphabet: &'a Alphabet) -> Option<&'a Characters> {
        match alphabet {
            Alphabet::Characters(characters) if self.keeps_unknown_together => Some(characters),
            _ => None,
        }
    }

    /// Whether the text can be split at `at`, which is neither its start nor its end.
    #[inline]
    fn is_split(&self, characters: Option<&Characters>, text: &str, at: usize) -> bool {
        let bytes = text.as_bytes();
        let (before, behind) = (bytes[at - 1], bytes[at]);
        if before < 0x80 && behind < 0x80 {
            return !self.are_joinable(before, behind);
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
        let are_unknown = || characters.is_some_and(|known| !known.knows(left) && !known.knows(right));
        !self.others.may_contain(hash(left, right)) && !are_unknown()
    }

    /// Appends to `ends` the end of each piece of a text; the first piece starts at `at`. Returns
    /// the start of the next piece. Stops at the end of the text, or when `ends` has capacity for
    /// less than a block.
    #[inline(always)]
    pub(crate) fn split(&self, alphabet: &Alphabet, text: &str, at: usize, ends: &mut Vec<u32>) -> usize {
        let simd = Simd::best();
        let characters = self.unknown_check(alphabet);
        let bytes = text.as_bytes();
        // Blocks overlap by one byte: the first byte of a block is only examined as the left
        // neighbor of the second.
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
            let (splits, doubtful) = self.classify_positions(&simd.masks(block));
            let mut found = (splits | doubtful) & in_text & !1;
            while found != 0 {
                let position = found.trailing_zeros() as usize;
                if splits >> position & 1 != 0 || self.is_split(characters, text, first + position) {
                    ends.push((first + position) as u32);
                }
                found &= found - 1;
            }
            first += BLOCK - 1;
        }
        ends.push(bytes.len() as u32);
        bytes.len()
    }

    /// The positions of a block at which the classes of a byte and of the previous byte prove that
    /// the text can be split, and those that [`Self::is_split`] has to examine.
    #[inline(always)]
    fn classify_positions(&self, masks: &Masks) -> (u64, u64) {
        let others = !(masks.letters | masks.digits | masks.spaces | masks.high);
        let white = masks.spaces & !masks.blanks;
        let classes = [masks.letters, masks.digits, masks.blanks, white, others, masks.high];
        let (mut splits, mut doubtful) = (0, 0);
        for (left, rule) in classes.iter().zip(&self.classes) {
            let (mut never, mut some) = (0, 0);
            for (right, class) in classes.iter().enumerate() {
                never |= class & rule.never[right];
                some |= class & rule.some[right];
            }
            splits |= left << 1 & never;
            doubtful |= left << 1 & some;
        }
        (splits, doubtful)
    }

    /// Whether a text can be split between two characters.
    pub(crate) fn divides(&self, alphabet: &Alphabet, left: char, right: char) -> bool {
        let text = String::from_iter([left, right]);
        self.is_split(self.unknown_check(alphabet), &text, left.len_utf8())
    }

    /// The end of the first piece of a text.
    pub(crate) fn first_end(&self, alphabet: &Alphabet, text: &str) -> usize {
        let characters = self.unknown_check(alphabet);
        (1..text.len()).find(|&at| self.is_split(characters, text, at)).unwrap_or(text.len())
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.ascii) + self.others.memory_bytes()
    }
}

#[inline]
fn hash(left: char, right: char) -> u64 {
    (u64::from(left as u32) << 32 | u64::from(right as u32)).wrapping_mul(MULTIPLIERS[0])
}
