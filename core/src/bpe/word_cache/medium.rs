//! Words of 16 to 31 bytes, with their ids: a cache line each, which can be asked for ahead as those of short words can.

use super::Hit;
use super::key::{self, folded};
use super::ring::Ring;
use crate::memory::{Table, Zeroed};
use crate::simd;
use crate::simd::append::Appender;
use crate::simd::packed::PackedIds;

/// The fewest and the most bytes of such a word.
const FEWEST: usize = 16;
pub(super) const MOST: usize = 31;
/// The most ids of one.
pub(crate) const MOST_IDS: usize = MOST;
/// Beside a count: see [`Hit::lengths_vary`].
const VARIES: u8 = 0x80;

/// A word's bytes, zeros behind them, and in the last place its length; never zero.
#[derive(Debug, Clone, Copy, Default, Eq)]
pub(super) struct Key([u128; 2]);

impl PartialEq for Key {
    /// In registers: a key that was just put together in pieces would be waited for, were it compared in memory.
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        (self.0[0] ^ other.0[0]) | (self.0[1] ^ other.0[1]) == 0
    }
}

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
    /// The first of the ids and the rest, or where all of them stand in the ring. Beside the first ones [`VARIES`].
    ids: [PackedIds; 2],
}

const _: () = assert!(size_of::<Line>() == 64);

// SAFETY: numbers and bytes, of which zero is one; such a line is empty.
#[allow(unsafe_code)]
unsafe impl Zeroed for Line {}

impl Line {
    /// Of such a word. More ids than fit are put in the ring, if that has room for them.
    pub(super) fn new(
        word: &[u8],
        ids: impl ExactSizeIterator<Item = u32> + Clone,
        lengths_vary: bool,
        ring: &mut Ring,
    ) -> Option<Self> {
        let key = Key::of(word)?;
        if ids.len() > MOST_IDS {
            return None;
        }
        let mut ids = match packed(ids.clone()) {
            Some(both) => both,
            None => [ring.put_for(ids)?, PackedIds::default()],
        };
        ids[0].set_flags(VARIES, lengths_vary);
        Some(Self { key, ids })
    }

    fn is_empty(&self) -> bool {
        self.key == Key::default()
    }

    fn lengths_vary(&self) -> bool {
        self.ids[0].control() & VARIES != 0
    }

    /// What [`Self::new`] made it of, if it is still there.
    pub(super) fn parts(&self, ring: &Ring) -> Option<Parts> {
        let (mut ids, mut count) = ([0; MOST_IDS], 0);
        let mut push = |id: u32| {
            ids[count] = id;
            count += 1;
        };
        if self.ids[0].count() > PackedIds::CAPACITY {
            ring.get_for(&self.ids[0])?.iter().copied().for_each(&mut push);
        } else {
            self.ids.iter().flat_map(PackedIds::ids).for_each(&mut push);
        }
        let (bytes, len) = self.key.bytes();
        Some(Parts { bytes, len, ids, count, lengths_vary: self.lengths_vary() })
    }

    /// Whether the ids are still there.
    fn is_there(&self, ring: &Ring) -> bool {
        self.ids[0].count() <= PackedIds::CAPACITY || ring.get_for(&self.ids[0]).is_some()
    }

    /// Appends the ids, if they are still there.
    #[inline(always)]
    fn push(&self, ring: &Ring, ids: &mut Appender<'_>) -> Option<Hit> {
        if ids.push_packed(&self.ids[0]) {
            ids.push_packed(&self.ids[1]);
        } else {
            ids.extend_from_slice(ring.get_for(&self.ids[0])?);
        }
        Some(Hit { lengths_vary: self.lengths_vary() })
    }
}

/// Ids in two pieces, if they fit: as many as can be in the first one.
fn packed(ids: impl ExactSizeIterator<Item = u32>) -> Option<[PackedIds; 2]> {
    let mut all = [0; 2 * PackedIds::CAPACITY];
    let all = all.get_mut(..ids.len())?;
    all.iter_mut().zip(ids).for_each(|(place, id)| *place = id);
    let (first, rest) = (0..=all.len()).rev().find_map(|count| {
        let (first, rest) = all.split_at(count);
        Some((PackedIds::new(first.iter().copied())?, rest))
    })?;
    Some([first, PackedIds::new(rest.iter().copied())?])
}

/// A word and its ids.
pub(super) struct Parts {
    bytes: [u8; 32],
    len: usize,
    ids: [u32; MOST_IDS],
    count: usize,
    pub(super) lengths_vary: bool,
}

impl Parts {
    pub(super) fn word(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(super) fn ids(&self) -> &[u32] {
        &self.ids[..self.count]
    }
}

/// Where a word would be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    key: Key,
    /// The first of its lines at home.
    pub(super) line: u32,
}

impl Place {
    /// Of a word of another length.
    const NOWHERE: Self = Self { key: Key([0; 2]), line: u32::MAX };
}

/// Each word belongs to two lines next to each other, and where others have these, to two lines elsewhere. A line is never empty
/// again that was not, so that a word can stand elsewhere only if both of its lines at home have others.
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

    /// Where a word would be. Its lines there and elsewhere are asked for ahead of time.
    #[inline(always)]
    pub(super) fn ask_for(&self, word: &[u8]) -> Place {
        let Some(key) = Key::of(word) else { return Place::NOWHERE };
        let (line, aside) = (self.home(&key) as u32, self.aside(&key));
        simd::prefetch_at(&self.lines, line as usize);
        simd::prefetch_at(&self.lines, line as usize + 1);
        simd::prefetch_at(&self.lines, aside);
        simd::prefetch_at(&self.lines, aside + 1);
        Place { key, line }
    }

    /// Where a word is, if it is known.
    #[inline(always)]
    fn find(&self, place: &Place) -> Option<&Line> {
        let home = self.two(place.line as usize)?;
        home.iter().find(|line| line.key == place.key).or_else(|| self.find_aside(place, home))
    }

    #[cold]
    fn find_aside(&self, place: &Place, home: &[Line; 2]) -> Option<&Line> {
        let aside = if is_full(home) { self.two(self.aside(&place.key))? } else { return None };
        aside.iter().find(|line| line.key == place.key)
    }

    /// Appends the ids of a word, if it is known.
    pub(super) fn push(&self, place: &Place, ring: &Ring, ids: &mut Appender<'_>) -> Option<Hit> {
        self.find(place)?.push(ring, ids)
    }

    /// Whether a word is of medium length and not known.
    pub(super) fn is_unknown(&self, place: &Place, ring: &Ring) -> bool {
        let can_be_known = place.line != Place::NOWHERE.line && !self.lines.is_empty();
        can_be_known && !self.find(place).is_some_and(|line| line.is_there(ring))
    }

    /// Whether a word may once have had to go for another one.
    pub(super) fn may_have_gone(&self, place: &Place) -> bool {
        [place.line as usize, self.aside(&place.key)].into_iter().filter_map(|at| self.two(at)).all(is_full)
    }

    /// Writes a word that was not found. The answer is the one that had to go for it, which is the word itself where there are no lines.
    pub(super) fn insert(&mut self, line: Line) -> Option<Line> {
        if self.lines.is_empty() {
            return Some(line);
        }
        let [home, aside] = [self.home(&line.key), self.aside(&line.key)];
        for at in [home, aside] {
            // It is there if its ids are gone from the ring. Where there is room at home, it stands nowhere else.
            let two = &mut self.lines[at..at + 2];
            if let Some(there) = two.iter_mut().find(|there| there.key == line.key) {
                *there = line;
                return None;
            }
            if two[1].is_empty() {
                two[1] = std::mem::replace(&mut two[0], line);
                return None;
            }
        }
        let newer = std::mem::replace(&mut self.lines[home], line);
        Some(std::mem::replace(&mut self.lines[home + 1], newer))
    }

    /// Forgets all words.
    pub(super) fn clear(&mut self) {
        self.lines.fill(Line::default());
    }

    #[inline(always)]
    fn two(&self, at: usize) -> Option<&[Line; 2]> {
        self.lines.get(at..)?.first_chunk()
    }

    /// The first of the two lines that a word has at home.
    #[inline(always)]
    fn home(&self, key: &Key) -> usize {
        (key.hash() >> 32) as usize & self.lines.len().wrapping_sub(1) & !1
    }

    /// The first of the two that it has elsewhere.
    fn aside(&self, key: &Key) -> usize {
        (key.hash() >> 48) as usize & self.lines.len().wrapping_sub(1) & !1
    }
}

fn is_full(lines: &[Line; 2]) -> bool {
    !lines[1].is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Simd;

    fn find(words: &MediumWords, word: &[u8]) -> Option<(Vec<u32>, bool)> {
        find_with(words, &Ring::new(0), word)
    }

    fn find_with(words: &MediumWords, ring: &Ring, word: &[u8]) -> Option<(Vec<u32>, bool)> {
        let mut ids = vec![9];
        let hit = words.push(&words.ask_for(word), ring, &mut Appender::new(&mut ids, MOST_IDS, Simd::best()));
        assert_eq!((ids[0], ids.len() > 1), (9, hit.is_some()));
        hit.map(|hit| (ids[1..].to_vec(), hit.lengths_vary))
    }

    fn line(word: &[u8], ids: &[u32]) -> Option<Line> {
        line_with(&mut Ring::new(0), word, ids)
    }

    fn line_with(ring: &mut Ring, word: &[u8], ids: &[u32]) -> Option<Line> {
        Line::new(word, ids.iter().copied(), ids.len() == 3, ring)
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
        let (mut words, mut ring) = (MediumWords::new(64), Ring::new(1 << 10));
        for (count, largest) in
            (0..=MOST_IDS).flat_map(|count| [8, 16, 24, 32].map(|bits| (count, u32::MAX >> (32 - bits))))
        {
            let word = vec![b'w'; 16 + count % 16];
            let ids: Vec<u32> = (0..count as u32).map(|at| largest - at).collect();
            let line = line_with(&mut ring, &word, &ids).expect("they fit");
            words.insert(line);
            if count > 0 {
                assert_eq!(find_with(&words, &ring, &word), Some((ids.clone(), count == 3)));
            }
            let parts = line.parts(&ring).expect("they are there");
            assert_eq!((parts.word(), parts.ids(), parts.lengths_vary), (&word[..], &ids[..], count == 3));
            assert_eq!(find_with(&words, &ring, &vec![b'v'; 16 + count % 16]), None);
        }
        assert_eq!(line_with(&mut ring, &[b'w'; 16], &[1; MOST_IDS + 1]), None);
        // Without a ring as many as are in the line.
        assert!(line(&[b'w'; 16], &[1; 14]).is_some() && line(&[b'w'; 16], &[1 << 23; 10]).is_some());
        assert_eq!((line(&[b'w'; 16], &[1; 15]), line(&[b'w'; 16], &[1 << 23; 11])), (None, None));
        assert_eq!(line(&[b'w'; 16], &[1 << 24]), None);
        assert_eq!((line(&[b'w'; 15], &[1]), line(&[b'w'; 32], &[1])), (None, None));
    }

    #[test]
    fn a_word_whose_ids_are_gone_is_not_known_and_stands_there_once() {
        let (mut words, mut ring) = (MediumWords::new(2), Ring::new(256));
        let (word, other) = ([b'w'; 20], [b'v'; 20]);
        let put = |words: &mut MediumWords, ring: &mut Ring, ids: &[u32]| {
            words.insert(line_with(ring, &word, ids).expect("they fit"))
        };
        put(&mut words, &mut ring, &[5; 20]);
        words.insert(line(&other, &[1]).expect("it fits"));
        assert!(!words.is_unknown(&words.ask_for(&word), &ring));
        (0..12).for_each(|_| _ = ring.put([0; 30].into_iter()));
        assert_eq!(find_with(&words, &ring, &word), None);
        assert!(words.is_unknown(&words.ask_for(&word), &ring));
        assert_eq!(words.lines[1].parts(&ring).map(|parts| parts.ids().len()), None);
        // Whichever of the two lines it is in, the other word stays.
        for ids in [[6; 21], [7; 21]] {
            assert_eq!(put(&mut words, &mut ring, &ids), None);
            assert_eq!(find_with(&words, &ring, &word), Some((ids.to_vec(), false)));
            assert_eq!(find_with(&words, &ring, &other), Some((vec![1], false)));
        }
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
    fn a_word_without_a_place_at_home_stands_elsewhere_as_long_as_there_is_room() {
        let mut words = MediumWords::new(64);
        let word = |number: u32| format!("a word of medium length {number:04}").into_bytes();
        let [home, aside] = [MediumWords::home, MediumWords::aside]
            .map(|of| move |words: &MediumWords, number| of(words, &Key::of(&word(number)).expect("its length fits")));
        let both = |number| (home(&words, number), aside(&words, number));
        let (at, other) = (0..).map(both).find(|(at, other)| at != other).expect("no end");
        let same: Vec<u32> = (0..9999).filter(|&number| both(number) == (at, other)).collect();
        let put = |words: &mut MediumWords, number: u32| words.insert(line(&word(number), &[number]).expect("it fits"));
        for (before, &number) in same[..4].iter().enumerate() {
            let place = Place { key: Key::of(&word(number)).expect("its length fits"), line: at as u32 };
            assert_eq!((words.is_unknown(&place, &Ring::new(0)), words.may_have_gone(&place)), (true, false));
            assert_eq!(put(&mut words, number), None);
            for (count, &number) in same[..4].iter().enumerate() {
                assert_eq!(find(&words, &word(number)), (count <= before).then(|| (vec![number], false)));
            }
        }
        // Again, as when its ids were gone: where it is.
        same[..4].iter().for_each(|&number| assert_eq!(put(&mut words, number), None));
        assert!(words.may_have_gone(&words.ask_for(&word(same[0]))));
        assert_eq!(put(&mut words, same[4]), line(&word(same[0]), &[same[0]]), "the older one at home");
        let known = same[..5].iter().map(|&number| find(&words, &word(number)).is_some());
        assert_eq!(known.collect::<Vec<_>>(), [false, true, true, true, true]);
        words.clear();
        assert_eq!(same[..5].iter().find(|&&number| find(&words, &word(number)).is_some()), None);
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
