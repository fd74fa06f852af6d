//! Runs a program: finds the first match in the order of preference, and counts every step.

use fancy_regex::Assertion;

use super::program::{Class, Inst, Mode, NO_MAX, Pc, Program, Register, Repetition};
use crate::regular::take;
use crate::span::Span;
use crate::{GaveUp, meter};

/// Buffers that searches reuse.
#[derive(Debug, Default)]
pub(crate) struct SearchScratch {
    stack: Vec<StackEntry>,
    registers: Vec<u32>,
}

/// Entries of the backtracking stack, which are popped when the current alternative fails.
#[derive(Debug, Clone, Copy)]
enum StackEntry {
    /// Continues with another alternative.
    Branch { pc: Pc, at: u32 },
    /// Restores the former value of a register.
    Undo { register: Register, value: u32 },
    /// A greedy run gives back its last character, but not below `least`, and continues at `pc`.
    Shrink { pc: Pc, min_end: u32, at: u32 },
    /// The lazy run at `pc` takes one more character.
    Grow { pc: Pc, at: u32, count: u32 },
}

/// Value of a register without a position.
const UNSET: u32 = u32::MAX;

/// Maximum number of stack entries, and the number that each byte of the text adds to it.
const MAX_STACK: usize = 1 << 20;
const MAX_STACK_PER_BYTE: usize = 8;

/// The state of one search.
struct Search<'a> {
    program: &'a Program,
    text: &'a str,
    stack: &'a mut Vec<StackEntry>,
    registers: &'a mut [u32],
    steps: u64,
    max_stack: usize,
    /// The start of the search, for `\G`.
    begin: usize,
}

impl Program {
    /// The leftmost match from byte `at` on or, if `anchored`, the match that starts at `at`.
    pub(crate) fn find(
        &self,
        scratch: &mut SearchScratch,
        text: &str,
        at: usize,
        anchored: bool,
        steps: &mut u64,
    ) -> Result<Option<Span>, GaveUp> {
        scratch.stack.clear();
        scratch.registers.clear();
        // The last register has the start of the match.
        scratch.registers.resize(self.register_count + 1, UNSET);
        let mut search = Search {
            program: self,
            text,
            stack: &mut scratch.stack,
            registers: &mut scratch.registers,
            steps: *steps,
            max_stack: MAX_STACK + MAX_STACK_PER_BYTE * text.len(),
            begin: at,
        };
        let found = search.from(at, anchored);
        *steps = search.steps;
        found
    }
}

impl Search<'_> {
    fn from(&mut self, begin: usize, anchored: bool) -> Result<Option<Span>, GaveUp> {
        let mut at = begin;
        let bytes = self.text.as_bytes();
        let start = self.registers.len() - 1;
        loop {
            if let Some(first) = &self.program.first {
                let skipped = match anchored {
                    true if bytes.get(at).is_none_or(|&byte| !first.contains(byte)) => return Ok(None),
                    true => 0,
                    false => match bytes[at..].iter().position(|&byte| first.contains(byte)) {
                        Some(skipped) => skipped,
                        None => bytes.len() - at,
                    },
                };
                take(&mut self.steps, skipped)?;
                at += skipped;
                if at == bytes.len() {
                    return Ok(None);
                }
            }
            self.registers.fill(UNSET);
            self.registers[start] = at as u32;
            take(&mut self.steps, self.registers.len())?;
            if let Some(end) = self.run(0, at)? {
                self.stack.clear();
                return Ok(Some(Span { start: self.registers[start].min(end as u32), end: end as u32 }));
            }
            if anchored || at == bytes.len() {
                return Ok(None);
            }
            at = self.next_boundary(at);
        }
    }

    fn next_boundary(&self, at: usize) -> usize {
        at + self.text[at..].chars().next().map_or(1, char::len_utf8)
    }

    fn before(&self, at: usize) -> Option<char> {
        meter::count(1);
        self.text[..at].chars().next_back()
    }

    fn set(&mut self, register: Register, value: u32) {
        let old = std::mem::replace(&mut self.registers[register as usize], value);
        self.stack.push(StackEntry::Undo { register, value: old });
    }

    /// Runs the program from `pc` on and returns the end of its match at `at`, if any. After a
    /// match, the entries that it left on the stack allow backtracking into it. Otherwise the stack
    /// is as before.
    fn run(&mut self, mut pc: Pc, mut at: usize) -> Result<Option<usize>, GaveUp> {
        let base = self.stack.len();
        loop {
            take(&mut self.steps, 1)?;
            meter::count(1);
            if self.stack.len() > self.max_stack {
                return Err(GaveUp::Steps);
            }
            match self.step(pc, at)? {
                Outcome::Go(next, position) => (pc, at) = (next, position),
                Outcome::Done => return Ok(Some(at)),
                Outcome::Fail => match self.back(base)? {
                    Some(next) => (pc, at) = next,
                    None => return Ok(None),
                },
            }
        }
    }

    #[inline(always)]
    fn step(&mut self, pc: Pc, at: usize) -> Result<Outcome, GaveUp> {
        let program = self.program;
        let bytes = self.text.as_bytes();
        let next = pc + 1;
        let go_if = |condition: bool| if condition { Outcome::Go(next, at) } else { Outcome::Fail };
        Ok(match program.code[pc as usize] {
            Inst::Done => Outcome::Done,
            Inst::Fail => Outcome::Fail,
            Inst::Literal { start, end } => {
                let literal = &program.bytes[start as usize..end as usize];
                take(&mut self.steps, literal.len() / 8)?;
                if bytes[at..].starts_with(literal) { Outcome::Go(next, at + literal.len()) } else { Outcome::Fail }
            }
            Inst::One { class } => match program.classes[class as usize].match_at(self.text, at) {
                Some(end) => Outcome::Go(next, end),
                None => Outcome::Fail,
            },
            Inst::Run { class, min, max, mode } => {
                self.characters(&program.classes[class as usize], pc, at, [min, max], mode)?
            }
            Inst::Split { first, second, set } => {
                let excluded = |set: u32| bytes.get(at).is_none_or(|&byte| !program.sets[set as usize].contains(byte));
                if set.is_some_and(excluded) {
                    Outcome::Go(second, at)
                } else {
                    self.stack.push(StackEntry::Branch { pc: second, at: at as u32 });
                    Outcome::Go(first, at)
                }
            }
            Inst::Jump { to } => Outcome::Go(to, at),
            Inst::Save { register } => {
                self.set(register, at as u32);
                Outcome::Go(next, at)
            }
            Inst::Restore { register } => Outcome::Go(next, self.registers[register as usize] as usize),
            Inst::Zero { register } => {
                self.set(register, 0);
                Outcome::Go(next, at)
            }
            Inst::Repeat { of, max } => {
                let done = self.registers[of.count as usize];
                if done == max { Outcome::Go(of.next, at) } else { self.iterate(pc, at, of, done) }
            }
            Inst::RepeatEmpty { of, check } => {
                let done = self.registers[of.count as usize];
                if done > 0 && self.registers[check as usize] == at as u32 {
                    Outcome::Go(of.next, at)
                } else {
                    if done >= of.min {
                        self.set(check, at as u32);
                    }
                    self.iterate(pc, at, of, done)
                }
            }
            Inst::Assert(assertion) => go_if(self.holds(assertion, at)?),
            Inst::Around { negative, next: end } => {
                let base = self.stack.len();
                let found = self.run(next, at)?.is_some();
                self.leave(base, found && !negative)?;
                if found == negative { Outcome::Fail } else { Outcome::Go(end, at) }
            }
            Inst::Back { characters } => {
                let mut position = at;
                take(&mut self.steps, characters.min(at as u32) as usize)?;
                for _ in 0..characters {
                    let Some(before) = self.before(position) else { return Ok(Outcome::Fail) };
                    position -= before.len_utf8();
                }
                Outcome::Go(next, position)
            }
            Inst::Behind { min, max, register, next: end } => {
                let found = self.behind(next, at, [min, max], register)?;
                if found { Outcome::Go(end, at) } else { Outcome::Fail }
            }
            Inst::EndsAt { register } => go_if(self.registers[register as usize] == at as u32),
            Inst::Atomic { next: end } => {
                let base = self.stack.len();
                match self.run(next, at)? {
                    Some(position) => {
                        self.leave(base, true)?;
                        Outcome::Go(end, position)
                    }
                    None => Outcome::Fail,
                }
            }
            Inst::Reference { start } => {
                let [from, to] = [start, start + 1].map(|register| self.registers[register as usize]);
                if from == UNSET || to == UNSET || from > to {
                    return Ok(Outcome::Fail);
                }
                let group = &bytes[from as usize..to as usize];
                take(&mut self.steps, group.len() / 8)?;
                if bytes[at..].starts_with(group) { Outcome::Go(next, at + group.len()) } else { Outcome::Fail }
            }
            Inst::UnlessGroup { start, to } => {
                let is_set = self.registers[start as usize] != UNSET;
                Outcome::Go(if is_set { next } else { to }, at)
            }
            Inst::Keep => {
                let start = self.registers.len() as Register - 1;
                self.set(start, at as u32);
                Outcome::Go(next, at)
            }
            Inst::SearchStart => go_if(at == self.begin),
            Inst::Newline => match bytes[at..] {
                [b'\r', b'\n', ..] => Outcome::Go(next, at + 2),
                [b'\n'..=b'\r', ..] => Outcome::Go(next, at + 1),
                [0xC2, 0x85, ..] => Outcome::Go(next, at + 2),
                [0xE2, 0x80, 0xA8 | 0xA9, ..] => Outcome::Go(next, at + 3),
                _ => Outcome::Fail,
            },
        })
    }

    /// Starts another iteration of a repetition, or ends it. `done` iterations are complete.
    fn iterate(&mut self, pc: Pc, at: usize, of: Repetition, done: u32) -> Outcome {
        self.set(of.count, done + 1);
        if done < of.min {
            return Outcome::Go(pc + 1, at);
        }
        let (first, second) = if of.greedy { (pc + 1, of.next) } else { (of.next, pc + 1) };
        self.stack.push(StackEntry::Branch { pc: second, at: at as u32 });
        Outcome::Go(first, at)
    }

    /// Matches a run of characters of a class.
    fn characters(
        &mut self,
        class: &Class,
        pc: Pc,
        at: usize,
        [min, max]: [u32; 2],
        mode: Mode,
    ) -> Result<Outcome, GaveUp> {
        let wanted = if mode == Mode::Lazy { min } else { max };
        let (mut end, mut count, mut min_end) = (at, 0, at);
        while count < wanted
            && let Some(position) = class.match_at(self.text, end)
        {
            end = position;
            count += 1;
            if count == min {
                min_end = end;
            }
            if count & 0xFFF == 0 && u64::from(count) > self.steps {
                return Err(GaveUp::Steps);
            }
        }
        take(&mut self.steps, count as usize)?;
        if count < min {
            return Ok(Outcome::Fail);
        }
        match mode {
            Mode::Greedy if end > min_end => {
                self.stack.push(StackEntry::Shrink { pc: pc + 1, min_end: min_end as u32, at: end as u32 });
            }
            Mode::Lazy if min < max => self.stack.push(StackEntry::Grow { pc, at: end as u32, count }),
            _ => {}
        }
        Ok(Outcome::Go(pc + 1, end))
    }

    /// Pops stack entries down to the latest alternative, and returns where it continues. Returns
    /// `None` when the stack has only `base` entries left.
    #[inline(always)]
    fn back(&mut self, base: usize) -> Result<Option<(Pc, usize)>, GaveUp> {
        while self.stack.len() > base {
            let entry = self.stack.pop().expect("it is longer than its base");
            match entry {
                StackEntry::Branch { pc, at } => return Ok(Some((pc, at as usize))),
                StackEntry::Undo { register, value } => {
                    take(&mut self.steps, 1)?;
                    self.registers[register as usize] = value;
                }
                StackEntry::Shrink { pc, min_end, at } => {
                    let before = self.before(at as usize).expect("the run has a character to give back");
                    let at = at - before.len_utf8() as u32;
                    if at > min_end {
                        self.stack.push(StackEntry::Shrink { pc, min_end, at });
                    }
                    return Ok(Some((pc, at as usize)));
                }
                StackEntry::Grow { pc, at, count } => {
                    let Inst::Run { class, max, .. } = self.program.code[pc as usize] else {
                        unreachable!("a run pushed this");
                    };
                    take(&mut self.steps, 1)?;
                    let class = &self.program.classes[class as usize];
                    let Some(end) = class.match_at(self.text, at as usize) else { continue };
                    if max == NO_MAX || count + 1 < max {
                        self.stack.push(StackEntry::Grow { pc, at: end as u32, count: count + 1 });
                    }
                    return Ok(Some((pc + 1, end)));
                }
            }
        }
        Ok(None)
    }

    /// Removes the alternatives above `base`. If `keep` is set, the registers keep their values,
    /// and the entries to restore them later stay on the stack; otherwise the registers are
    /// restored.
    fn leave(&mut self, base: usize, keep: bool) -> Result<(), GaveUp> {
        take(&mut self.steps, (self.stack.len() - base) / 8)?;
        if keep {
            let mut kept = base;
            for position in base..self.stack.len() {
                if let StackEntry::Undo { .. } = self.stack[position] {
                    self.stack[kept] = self.stack[position];
                    kept += 1;
                }
            }
            self.stack.truncate(kept);
            return Ok(());
        }
        while self.stack.len() > base {
            if let Some(StackEntry::Undo { register, value }) = self.stack.pop() {
                self.registers[register as usize] = value;
            }
        }
        Ok(())
    }

    /// Whether the body at `pc` matches from a position before `at` up to `at`.
    fn behind(&mut self, pc: Pc, at: usize, [min, max]: [u32; 2], register: Register) -> Result<bool, GaveUp> {
        let base = self.stack.len();
        self.set(register, at as u32);
        let mut position = at;
        let mut characters = 0;
        loop {
            take(&mut self.steps, 1)?;
            if characters >= min {
                let inner = self.stack.len();
                if self.run(pc, position)?.is_some() {
                    self.leave(inner, true)?;
                    return Ok(true);
                }
            }
            let before = self.before(position).filter(|_| characters < max);
            let Some(before) = before else { break };
            position -= before.len_utf8();
            characters += 1;
        }
        self.leave(base, false)?;
        Ok(false)
    }

    fn holds(&mut self, assertion: Assertion, at: usize) -> Result<bool, GaveUp> {
        let bytes = self.text.as_bytes();
        let after = || self.text[at..].chars().next().is_some_and(regex_syntax::is_word_character);
        let before = || self.before(at).is_some_and(regex_syntax::is_word_character);
        let last = at.checked_sub(1).map(|before| bytes[before]);
        let next = bytes.get(at).copied();
        Ok(match assertion {
            Assertion::StartText => at == 0,
            Assertion::EndText => at == bytes.len(),
            Assertion::EndTextIgnoreTrailingNewlines { crlf } => {
                take(&mut self.steps, bytes.len() - at)?;
                bytes[at..].iter().all(|&byte| byte == b'\n' || crlf && byte == b'\r')
            }
            Assertion::StartLine { crlf: false } => matches!(last, None | Some(b'\n')),
            Assertion::StartLine { crlf: true } => match last {
                None | Some(b'\n') => true,
                Some(b'\r') => next != Some(b'\n'),
                Some(_) => false,
            },
            Assertion::EndLine { crlf: false } => matches!(next, None | Some(b'\n')),
            Assertion::EndLine { crlf: true } => match next {
                None | Some(b'\r') => true,
                Some(b'\n') => last != Some(b'\r'),
                Some(_) => false,
            },
            Assertion::LeftWordBoundary => !before() && after(),
            Assertion::RightWordBoundary => before() && !after(),
            Assertion::LeftWordHalfBoundary => !before(),
            Assertion::RightWordHalfBoundary => !after(),
            Assertion::WordBoundary => before() != after(),
            Assertion::NotWordBoundary => before() == after(),
            // The compiler rejects this assertion.
            Assertion::StartLineOniguruma { .. } => false,
        })
    }
}

/// The outcome of an instruction.
enum Outcome {
    Go(Pc, usize),
    Done,
    Fail,
}
