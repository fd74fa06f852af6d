//! Instructions, and the character classes that they refer to.

use crate::meter;
use fancy_regex::Assertion;
use regex_syntax::hir::ClassUnicode;

/// An index of [`Program::code`].
pub(super) type Pc = u32;
/// An index of the registers: the start or end of a group, a counter, or a saved position.
pub(super) type Register = u32;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Program {
    pub(super) code: Vec<Inst>,
    pub(super) classes: Vec<Class>,
    /// All literals, concatenated.
    pub(super) bytes: Vec<u8>,
    pub(super) sets: Vec<ByteSet>,
    pub(super) register_count: usize,
    /// The bytes with which a match can start; `None` if a match can be empty.
    pub(super) first: Option<ByteSet>,
}

/// A repetition: its body follows, and jumps back to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repetition {
    /// The minimum number of iterations.
    pub(super) min: u32,
    pub(super) greedy: bool,
    /// The register with the number of iterations so far.
    pub(super) count: Register,
    /// Where execution continues after the repetition.
    pub(super) next: Pc,
}

/// An instruction. Unless stated otherwise, execution continues with the next one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Inst {
    /// Ends the pattern, or the body of an [`Inst::Around`], [`Inst::Behind`] or [`Inst::Atomic`],
    /// with a match.
    Done,
    /// Matches these bytes of [`Program::bytes`].
    Literal {
        start: u32,
        end: u32,
    },
    /// Matches one character of a class.
    One {
        class: u32,
    },
    /// Matches `min` to `max` characters of a class.
    Run {
        class: u32,
        min: u32,
        max: u32,
        mode: Mode,
    },
    /// Tries `first`, then `second`. `first` is skipped if the next byte is not in `set`.
    Split {
        first: Pc,
        second: Pc,
        set: Option<u32>,
    },
    Jump {
        to: Pc,
    },
    /// Stores the position in a register.
    Save {
        register: Register,
    },
    /// Loads the position from a register.
    Restore {
        register: Register,
    },
    /// Sets a register to zero.
    Zero {
        register: Register,
    },
    /// A repetition with at most `max` iterations.
    Repeat {
        of: Repetition,
        max: u32,
    },
    /// A repetition without a maximum, whose body may match the empty string: an empty iteration
    /// ends the repetition. `check` is the register with the start of the last iteration.
    RepeatEmpty {
        of: Repetition,
        check: Register,
    },
    Assert(Assertion),
    /// A look-around: the body follows and must match here, or must not if `negative`. Execution
    /// then continues at `next`, at the same position.
    Around {
        negative: bool,
        next: Pc,
    },
    /// Moves the position back by this number of characters.
    Back {
        characters: u32,
    },
    /// A branch of a look-behind: the body follows and must match from a position `min` to `max`
    /// characters before the current one up to the current one, which is stored in `register`.
    /// Execution then continues at `next`, at the same position.
    Behind {
        min: u32,
        max: u32,
        register: Register,
        next: Pc,
    },
    /// Matches if the position equals that in a register.
    EndsAt {
        register: Register,
    },
    /// An atomic group: the body follows, and only its first match counts.
    Atomic {
        next: Pc,
    },
    /// A backreference: matches the text of the group whose start and end are in the registers
    /// `start` and `start + 1`.
    Reference {
        start: Register,
    },
    /// Jumps if the group whose start is in the register `start` has not matched.
    UnlessGroup {
        start: Register,
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
    pub(super) const EMPTY: Self = Self([0; 4]);
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

/// A character class.
#[derive(Debug)]
pub(super) struct Class {
    ascii: u128,
    /// All characters of the class, as sorted ranges.
    ranges: Box<[(char, char)]>,
}

impl Class {
    pub(super) fn new(set: &ClassUnicode) -> Self {
        let ranges: Box<[_]> = set.ranges().iter().map(|range| (range.start(), range.end())).collect();
        let holds = |code: &u8| ranges.iter().any(|&(start, end)| (start..=end).contains(&char::from(*code)));
        Self { ascii: (0..128u8).filter(holds).fold(0, |bits, code| bits | 1 << code), ranges }
    }

    /// The end of the character at `at`, if it belongs to this class.
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
        let index = self.ranges.partition_point(|&(_, end)| end < character);
        self.ranges.get(index).is_some_and(|&(start, _)| start <= character)
    }

    /// The bytes with which the UTF-8 of its characters can start.
    pub(super) fn first_bytes(&self) -> ByteSet {
        let first = |character: char| character.encode_utf8(&mut [0; 4]).as_bytes()[0];
        let mut set = ByteSet::default();
        for &(start, end) in &self.ranges {
            // Continuation bytes and the invalid bytes C0 and C1 never start a character.
            let bytes = (first(start)..=first(end)).filter(|byte| !(0x80..0xC2).contains(byte));
            bytes.for_each(|byte| set.insert(byte));
        }
        set
    }
}
