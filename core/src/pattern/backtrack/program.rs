//! Instructions, and the classes of characters that they ask for.

use crate::pattern::meter;
use fancy_regex::Assertion;
use regex_syntax::hir::ClassUnicode;

/// A place in [`Program::code`].
pub(super) type Pc = u32;
/// A place in the registers: start or end of a group, a counter, a saved place.
pub(super) type Slot = u32;

/// A compiled pattern.
#[derive(Debug)]
pub(in crate::pattern) struct Program {
    pub(super) code: Vec<Inst>,
    pub(super) classes: Vec<Class>,
    /// Literals, one after the other.
    pub(super) bytes: Vec<u8>,
    pub(super) sets: Vec<ByteSet>,
    pub(super) slots: usize,
    /// The bytes that a match can start with; none if it can be empty.
    pub(super) first: Option<ByteSet>,
}

/// One instruction. Unless it says otherwise the next one follows.
#[derive(Debug, Clone, Copy)]
pub(super) enum Inst {
    /// The pattern, or the body of an [`Inst::Around`], [`Inst::Behind`] or [`Inst::Atomic`], matches.
    Done,
    /// These bytes of [`Program::bytes`].
    Literal {
        start: u32,
        end: u32,
    },
    /// One character of a class.
    One {
        class: u32,
    },
    /// From `min` to `max` characters of a class.
    Run {
        class: u32,
        min: u32,
        max: u32,
        mode: Mode,
    },
    /// `first`, then `second`. `first` is left out where the next byte is not in `set`.
    Split {
        first: Pc,
        second: Pc,
        set: Option<u32>,
    },
    Jump {
        to: Pc,
    },
    /// The place goes into a register.
    Save {
        slot: Slot,
    },
    /// The place comes from a register.
    Restore {
        slot: Slot,
    },
    /// The register becomes zero.
    Zero {
        slot: Slot,
    },
    /// The body follows and jumps back here. `count` is the number of turns so far.
    Repeat {
        min: u32,
        max: u32,
        greedy: bool,
        count: Slot,
        next: Pc,
    },
    /// The same without a maximum, for a body that may be empty: an empty turn ends the repetition. `check` is where the
    /// last turn began.
    RepeatEmpty {
        min: u32,
        greedy: bool,
        count: Slot,
        check: Slot,
        next: Pc,
    },
    Assert(Assertion),
    /// The body follows and has to match here, or must not; then it goes on at `next`, at the same place.
    Around {
        negative: bool,
        next: Pc,
    },
    /// Goes back so many characters.
    Back {
        characters: u32,
    },
    /// The body follows and has to match, or must not, from `min` to `max` characters before this place, which goes into
    /// `slot`.
    Behind {
        negative: bool,
        min: u32,
        max: u32,
        slot: Slot,
        next: Pc,
    },
    /// The place is that of a register.
    EndsAt {
        slot: Slot,
    },
    /// The body follows; its first match is the only one.
    Atomic {
        next: Pc,
    },
    /// What the group of these two registers matched.
    Reference {
        start: Slot,
    },
    /// Jumps if the group of these two registers did not match.
    UnlessGroup {
        start: Slot,
        to: Pc,
    },
    /// `\K`
    Keep,
    /// `\G`
    SearchStart,
    /// `\R`
    Newline,
    /// Never matches.
    Fail,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Greedy,
    Lazy,
    Possessive,
}

pub(super) const NO_MAX: u32 = u32::MAX;

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    pub(super) const NONE: Self = Self([0; 4]);
    pub(super) const ALL: Self = Self([u64::MAX; 4]);

    pub(super) fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    #[inline(always)]
    pub(super) fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }
}

/// A class of characters.
#[derive(Debug)]
pub(super) struct Class {
    ascii: u128,
    /// All of them, in order.
    ranges: Box<[(char, char)]>,
}

impl Class {
    pub(super) fn new(set: &ClassUnicode) -> Self {
        let ranges: Box<[_]> = set.ranges().iter().map(|range| (range.start(), range.end())).collect();
        let holds = |code: &u8| ranges.iter().any(|&(start, end)| (start..=end).contains(&char::from(*code)));
        Self { ascii: (0..128u8).filter(holds).fold(0, |bits, code| bits | 1 << code), ranges }
    }

    /// The end of the character of this class that starts at a place.
    #[inline(always)]
    pub(super) fn match_at(&self, text: &str, at: usize) -> Option<usize> {
        meter::count(1);
        let &byte = text.as_bytes().get(at)?;
        if byte < 128 {
            return (self.ascii >> byte & 1 == 1).then_some(at + 1);
        }
        let character = text[at..].chars().next()?;
        self.contains(character).then(|| at + character.len_utf8())
    }

    fn contains(&self, character: char) -> bool {
        let place = self.ranges.partition_point(|&(_, end)| end < character);
        self.ranges.get(place).is_some_and(|&(start, _)| start <= character)
    }

    /// The bytes that its characters start with.
    pub(super) fn first_bytes(&self) -> ByteSet {
        let first = |character: char| character.encode_utf8(&mut [0; 4]).as_bytes()[0];
        let mut set = ByteSet::default();
        for &(start, end) in &self.ranges {
            // Bytes that go on with a character start none.
            let bytes = (first(start)..=first(end)).filter(|byte| !(0x80..0xC2).contains(byte));
            bytes.for_each(|byte| set.insert(byte));
        }
        set
    }
}
