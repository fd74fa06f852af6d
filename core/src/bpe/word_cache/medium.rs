//! Words of 16 to 31 bytes, with their ids: a cache line each, which can be asked for ahead as those of short words can.

use super::Hit;
use super::key::{self, folded};
use crate::memory::{Table, Zeroed};
use crate::simd;
use crate::simd::append::{Appender, PACKED};

/// The fewest and the most bytes of such a word.
const FEWEST: usize = 16;
const MOST: usize = 31;
/// The most ids of one.
pub(super) const MOST_IDS: usize = 2 * PACKED;
/// Beside a count: see [`Hit::lengths_vary`].
const VARIES: u8 = 0x80;

/// A word's bytes, zeros behind them, and in the last place its length; never zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Key([u128; 2]);

impl Key {
    #[inline(always)]
    pub(super) fn of(word: &[u8]) -> Option<Self> {
        if !(FEWEST..=MOST).contains(&word.len()) {
            return None;
        }
        let (first, last) = (word.first_chunk()?, word.last_chunk()?);
        // The last sixteen bytes, without those that are among the first sixteen.
        let further = word.len() - FEWEST;
        let rest = u128::from_le_bytes(*last).rotate_left(8 * further as u32) & key::MASKS[further];
        Some(Self([u128::from_le_bytes(*first), rest | (word.len() as u128) << 120]))
    }

    /// The word, and how many of the bytes it is.
    fn bytes(&self) -> ([u8; 32], usize) {
        let mut bytes = [0; 32];
        let (first, rest) = bytes.split_at_mut(FEWEST);
        first.copy_from_slice(&self.0[0].to_le_bytes());
        rest.copy_from_slice(&self.0[1].to_le_bytes());
        (bytes, usize::from(bytes[31]))
    }

    #[inline(always)]
    fn hash(&self) -> u64 {
        let [first, rest] = self.0.map(folded);
        (first.wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(32) ^ rest).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// A word and its ids.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Line {
    key: Key,
    /// [`PACKED`] ids of three bytes in each, little-endian; in the last byte of the first their count, and [`VARIES`].
    ids: [[u8; 16]; 2],
}

const _: () = assert!(size_of::<Line>() == 64);

// SAFETY: numbers and bytes, of which zero is one; such a line is empty.
#[allow(unsafe_code)]
unsafe impl Zeroed for Line {}

impl Line {
    /// Of such a word, if its ids fit.
    pub(super) fn new(word: &[u8], ids: impl ExactSizeIterator<Item = u32>, lengths_vary: bool) -> Option<Self> {
        let mut line = Self { key: Key::of(word)?, ids: Default::default() };
        let count = Some(ids.len()).filter(|&count| count <= MOST_IDS)?;
        for (at, id) in ids.enumerate() {
            let [low, middle, high, 0] = id.to_le_bytes() else { return None };
            line.ids[at / PACKED][at % PACKED * 3..][..3].copy_from_slice(&[low, middle, high]);
        }
        line.ids[0][15] = count as u8 | if lengths_vary { VARIES } else { 0 };
        Some(line)
    }

    fn count(&self) -> usize {
        usize::from(self.ids[0][15] & !VARIES)
    }

    fn lengths_vary(&self) -> bool {
        self.ids[0][15] & VARIES != 0
    }

    /// What [`Self::new`] made it of.
    pub(super) fn with_parts<R>(&self, then: impl FnOnce(&[u8], &[u32], bool) -> R) -> R {
        let (bytes, len) = self.key.bytes();
        let mut ids = [0; MOST_IDS];
        for (at, id) in ids.iter_mut().enumerate() {
            let [low, middle, high] = *self.ids[at / PACKED][at % PACKED * 3..].first_chunk().expect("three bytes");
            *id = u32::from_le_bytes([low, middle, high, 0]);
        }
        then(&bytes[..len], &ids[..self.count()], self.lengths_vary())
    }

    #[inline(always)]
    fn push(&self, ids: &mut Appender<'_>) -> Hit {
        let count = self.count();
        ids.push_packed(&self.ids[0], count.min(PACKED));
        if count > PACKED {
            ids.push_packed(&self.ids[1], count - PACKED);
        }
        Hit { lengths_vary: self.lengths_vary() }
    }
}

/// Each word belongs to two lines next to each other, of which the newer word has the first.
#[derive(Debug)]
pub(super) struct MediumWords {
    lines: Table<Line>,
}

impl MediumWords {
    /// So many lines, a power of two or none.
    pub(super) fn new(lines: usize) -> Self {
        Self { lines: Table::zeroed(if lines < 2 { 0 } else { lines }) }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.lines.memory_bytes()
    }

    /// Finds a word's lines and asks for the first ahead of time. The answer is its number, or one that no line has.
    #[inline(always)]
    pub(super) fn ask_for(&self, word: &[u8]) -> u32 {
        let line = Key::of(word).map_or(u32::MAX, |key| self.first(&key) as u32);
        simd::prefetch_at(&self.lines, line as usize);
        line
    }

    /// Appends the ids of a word, if it is known.
    pub(super) fn push(&self, word: &[u8], ids: &mut Appender<'_>) -> Option<Hit> {
        self.push_from(self.first(&Key::of(word)?) as u32, word, ids)
    }

    /// The same, of a word of which [`Self::ask_for`] told the first line.
    #[inline(always)]
    pub(super) fn push_from(&self, line: u32, word: &[u8], ids: &mut Appender<'_>) -> Option<Hit> {
        let lines = self.lines.get(line as usize..)?.first_chunk::<2>()?;
        let key = Key::of(word)?;
        let line = lines.iter().find(|line| line.key == key)?;
        Some(line.push(ids))
    }

    /// Whether a word, of which [`Self::ask_for`] told the first line, is of medium length and not known.
    pub(super) fn is_unknown(&self, line: u32, word: &[u8]) -> bool {
        let lines = self.lines.get(line as usize..).and_then(|lines| lines.first_chunk::<2>());
        Key::of(word).zip(lines).is_some_and(|(key, lines)| lines.iter().all(|line| line.key != key))
    }

    /// Writes a word that was not found. The answer is the one that had to go for it, which is the word itself where there are no lines.
    pub(super) fn insert(&mut self, line: Line) -> Option<Line> {
        let at = self.first(&line.key);
        let Some([first, second]) = self.lines.get_mut(at..).and_then(<[_]>::first_chunk_mut) else {
            return Some(line);
        };
        let gone = std::mem::replace(second, std::mem::replace(first, line));
        (gone.key != Key::default()).then_some(gone)
    }

    /// The first of the two lines that a word belongs to.
    #[inline(always)]
    fn first(&self, key: &Key) -> usize {
        (key.hash() >> 32) as usize & self.lines.len().wrapping_sub(1) & !1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Classifier;

    fn find(words: &MediumWords, word: &[u8]) -> Option<(Vec<u32>, bool)> {
        let mut ids = vec![9];
        words.ask_for(word);
        let hit = words.push(word, &mut Appender::new(&mut ids, MOST_IDS, Classifier::best()));
        assert_eq!((ids[0], ids.len() > 1), (9, hit.is_some()));
        hit.map(|hit| (ids[1..].to_vec(), hit.lengths_vary))
    }

    fn line(word: &[u8], ids: &[u32]) -> Option<Line> {
        Line::new(word, ids.iter().copied(), ids.len() == 3)
    }

    #[test]
    fn words_of_every_such_length_have_keys_of_their_own() {
        let text: Vec<u8> = (1..=60).collect();
        for len in 0..60 {
            let key = Key::of(&text[7..][..len.min(53)]);
            assert_eq!(key.is_some(), (16..=31).contains(&len), "{len}");
            if let Some(key) = key {
                let (bytes, told) = key.bytes();
                assert_eq!((&bytes[..told], told), (&text[7..][..len], len));
                assert!((bytes[told..31]).iter().all(|&byte| byte == 0));
            }
        }
        assert_ne!(Key::of(&[0; 16]), Key::of(&[0; 17]));
    }

    #[test]
    fn what_it_finds_is_what_was_put_in() {
        let mut words = MediumWords::new(64);
        for count in 0..=MOST_IDS {
            let word = vec![b'w'; 16 + count];
            let ids: Vec<u32> = (0..count as u32).map(|at| (1 << 24) - 1 - at).collect();
            if count > 0 {
                words.insert(line(&word, &ids).expect("they fit"));
                assert_eq!(find(&words, &word), Some((ids.clone(), count == 3)));
            }
            line(&word, &ids).expect("they fit").with_parts(|bytes, told, vary| {
                assert_eq!((bytes, told, vary), (&word[..], &ids[..], count == 3));
            });
            assert_eq!(find(&words, &vec![b'v'; 16 + count]), None);
        }
        assert_eq!(line(&[b'w'; 16], &[1; MOST_IDS + 1]), None);
        assert_eq!(line(&[b'w'; 16], &[1 << 24]), None);
        assert_eq!((line(&[b'w'; 15], &[1]), line(&[b'w'; 32], &[1])), (None, None));
    }

    #[test]
    fn the_newest_two_of_a_place_stay_and_the_one_that_goes_is_told() {
        let mut words = MediumWords::new(2);
        let texts = [[b'a'; 16], [b'b'; 16], [b'c'; 16]];
        let gone: Vec<_> = texts.iter().map(|text| words.insert(line(text, &[1]).expect("it fits"))).collect();
        assert_eq!(gone, [None, None, line(&texts[0], &[1])]);
        assert_eq!(texts.map(|text| find(&words, &text).is_some()), [false, true, true]);
    }

    #[test]
    fn a_word_of_the_same_lines_that_differs_in_one_byte_is_another_one() {
        let mut words = MediumWords::new(2);
        for len in FEWEST..=MOST {
            let word = vec![b'w'; len];
            words.insert(line(&word, &[1]).expect("it fits"));
            assert_eq!(find(&words, &word), Some((vec![1], false)));
            for at in 0..len {
                let mut other = word.clone();
                other[at] = b'v';
                assert_eq!(find(&words, &other), None, "{at} of {len}");
            }
            let (shorter, longer) = (&word[1..], [&word[..], b"w"].concat());
            words.insert(line(&[b'x'; 16], &[2]).expect("it fits"));
            assert_eq!(find(&words, &longer), None, "{len}");
            assert!(len == FEWEST || find(&words, shorter).is_none(), "{len}");
        }
    }

    #[test]
    fn without_lines_nothing_is_kept() {
        let mut words = MediumWords::new(1);
        let only = line(&[b'a'; 20], &[1]).expect("it fits");
        assert_eq!(words.insert(only), Some(only));
        assert_eq!((find(&words, &[b'a'; 20]), words.memory_bytes()), (None, 0));
    }
}
