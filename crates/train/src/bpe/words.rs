//! The words as lists of tokens.

use tokenlane_simd::prefetch_at;

use super::Pair;
use crate::TrainError;
use crate::progress::Meter;

/// The largest number of characters of all distinct words.
const MAX_CHARACTERS: usize = u32::MAX as usize;

/// How many occurrences ahead slots are prefetched.
pub(super) const PREFETCHED: usize = 16;

/// The slot is not the first one of its token. The other bits are the length of the token, if the
/// slot is the second or the last one.
const COVERED: u32 = 1 << 31;

/// The words, one behind the other. A token has as many slots as characters: the first one has the
/// token, the second and the last one its length. So both neighbors are found in one step.
///
/// The length decides whether a merge stays below the maximum. It does not follow from the token:
/// `##a` is one character with a prefix, or three.
#[derive(Debug)]
pub(super) struct Words {
    slots: Vec<u32>,
    /// Where words start, and where the last one ends.
    bounds: Vec<Bounds>,
    /// How often each word occurs. The last ones that occur once are left out.
    counts: Vec<i64>,
    /// The number of complete words.
    len: usize,
    /// Where the last complete word ends.
    end: usize,
    /// Where the words start of which no two pairs of characters are equal, without affixes.
    plain_from: usize,
}

/// The bounds of words in 32 slots.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// The slots where a word starts.
    bits: u32,
    /// The number of words that start before.
    before: u32,
}

impl Words {
    /// No words yet, of `characters` at most.
    pub fn with_capacity(characters: usize) -> Self {
        let slots = Vec::with_capacity(characters.min(MAX_CHARACTERS));
        Self {
            slots,
            bounds: vec![Bounds { bits: 1, before: 0 }],
            counts: Vec::new(),
            len: 0,
            end: 0,
            plain_from: usize::MAX,
        }
    }

    /// Adds a token to the last word.
    pub fn push(&mut self, token: u32, len: u32) {
        self.slots.push(token);
        self.slots.extend((1..len).map(|_| COVERED | len));
    }

    /// Ends the last word. One without tokens is left out.
    pub fn end_word(&mut self, count: u64) {
        let end = self.slots.len();
        if std::mem::replace(&mut self.end, end) == end {
            return;
        }
        if count != 1 {
            self.counts.resize(self.len, 1);
            self.counts.push(i64::try_from(count).unwrap_or(i64::MAX));
        }
        self.len += 1;
        self.bounds.resize(end / 32 + 1, Bounds { bits: 0, before: self.len as u32 });
        self.bounds[end / 32].bits |= 1 << (end % 32);
    }

    /// From here on, no two pairs of characters of a word are equal, and tokens have no affixes.
    pub fn begin_plain(&mut self) {
        self.plain_from = self.end;
    }

    /// Fails if there are too many characters.
    pub fn check(&self) -> Result<(), TrainError> {
        let is_within = self.slots.len() <= MAX_CHARACTERS;
        if is_within { Ok(()) } else { Err(TrainError::TooManyCharacters { limit: MAX_CHARACTERS }) }
    }

    /// The number of slots.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether the slot is the first one of a word, or the one behind the last word.
    fn is_bound(&self, at: u32) -> bool {
        self.bounds[at as usize / 32].bits >> (at % 32) & 1 != 0
    }

    /// The number of the word of a slot.
    pub fn word(&self, at: u32) -> u32 {
        let Bounds { bits, before } = self.bounds[at as usize / 32];
        before + (bits << (31 - at % 32)).count_ones() - 1
    }

    /// How often the word of a slot occurs.
    pub fn count(&self, at: u32) -> i64 {
        self.count_of(self.word(at) as usize)
    }

    fn count_of(&self, word: usize) -> i64 {
        self.counts.get(word).copied().unwrap_or(1)
    }

    /// The token that starts at a slot. It is none of the vocabulary if no token starts there.
    pub fn token(&self, at: u32) -> u32 {
        self.slots[at as usize]
    }

    /// The length of the token that starts at `at`.
    pub fn token_len(&self, at: u32) -> u32 {
        match self.slots.get(at as usize + 1) {
            Some(&slot) if slot & COVERED != 0 => slot & !COVERED,
            _ => 1,
        }
    }

    /// The first slot of the token behind the one that starts at `at`, if the word goes on.
    pub fn after(&self, at: u32) -> Option<u32> {
        let next = at + self.token_len(at);
        (!self.is_bound(next)).then_some(next)
    }

    /// The first slot of the token before the one that starts at `at`, if the word does not start
    /// there.
    pub fn before(&self, at: u32) -> Option<u32> {
        if self.is_bound(at) {
            return None;
        }
        let last = self.slots[at as usize - 1];
        Some(at - if last & COVERED != 0 { last & !COVERED } else { 1 })
    }

    /// The first slot of the right token of a pair whose left one starts at `at`, if it is there.
    pub fn find(&self, at: u32, pair: Pair) -> Option<u32> {
        if self.token(at) != pair.0 {
            return None;
        }
        self.after(at).filter(|&right| self.token(right) == pair.1)
    }

    /// Whether a pair that was at a slot is not there any more, and never will be in that word. In
    /// a plain word, the text of a pair occurs once, and its tokens only grow.
    pub fn is_lost(&self, at: u32, pair: Pair) -> bool {
        let is_there = || self.token(at) == pair.0 && self.token(at + self.token_len(at)) == pair.1;
        at as usize >= self.plain_from && !is_there()
    }

    /// Makes one token of those that start at `left` and at `right`, and returns its length.
    pub fn merge(&mut self, left: u32, right: u32, token: u32) -> u32 {
        let len = right - left + self.token_len(right);
        for covered in [left + 1, right, left + len - 1] {
            self.slots[covered as usize] = COVERED | len;
        }
        self.slots[left as usize] = token;
        len
    }

    /// Loads what a merge at a slot reads.
    pub fn prefetch(&self, at: u32) {
        self.prefetch_token(at);
        prefetch_at(&self.bounds, at as usize / 32);
    }

    /// Loads the token that starts at a slot.
    pub fn prefetch_token(&self, at: u32) {
        prefetch_at(&self.slots, at as usize);
    }

    /// Calls `visit` with all pairs, the slots of their left tokens and the counts of the words, in
    /// order.
    pub fn each_pair(&self, meter: &mut Meter<'_>, mut visit: impl FnMut(Pair, u32, i64)) -> Result<(), TrainError> {
        let (mut at, mut word) = (0, 0);
        while (at as usize) < self.slots.len() {
            let next = at + self.token_len(at);
            if self.is_bound(next) {
                word += 1;
            } else {
                visit((self.token(at), self.token(next)), at, self.count_of(word));
            }
            meter.done((next - at) as usize)?;
            at = next;
        }
        Ok(())
    }
}

#[cfg(any(test, feature = "fuzzing"))]
impl Words {
    /// Each word with its count: the tokens with their lengths.
    pub fn lists(&self) -> Vec<(Vec<(u32, u32)>, i64)> {
        let mut lists: Vec<_> = (0..self.len).map(|word| (Vec::new(), self.count_of(word))).collect();
        let starts = (0..self.slots.len() as u32).filter(|&at| self.token(at) & COVERED == 0);
        starts.for_each(|at| lists[self.word(at) as usize].0.push((self.token(at), self.token_len(at))));
        lists
    }
}
