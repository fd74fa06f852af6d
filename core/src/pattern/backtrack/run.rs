//! Running a program: the first way to match in the order of preference, with every step counted.

use fancy_regex::Assertion;

use super::program::{Class, Inst, Mode, NO_MAX, Pc, Program, Slot};
use crate::pattern::regular::take;
use crate::pattern::{GaveUp, meter};
use crate::span::Span;

/// Buffers that go from search to search.
#[derive(Debug, Default)]
pub(in crate::pattern) struct Scratch {
    stack: Vec<Entry>,
    registers: Vec<u32>,
}

/// What is undone or tried when the way taken fails, the latest first.
#[derive(Debug, Clone, Copy)]
enum Entry {
    /// Goes on elsewhere.
    Branch { pc: Pc, at: u32 },
    /// A register as it was.
    Undo { slot: Slot, value: u32 },
    /// A greedy run gives back its last character, down to `least`; then it goes on at `pc`.
    Shrink { pc: Pc, least: u32, at: u32 },
    /// A lazy run at `pc` takes one more character.
    Grow { pc: Pc, at: u32, count: u32 },
}

/// What registers hold where no place is.
const NOWHERE: u32 = u32::MAX;

/// Entries that wait at most, and those that each byte of the text adds.
const MOST_WAITING: usize = 1 << 20;
const MOST_WAITING_PER_BYTE: usize = 8;

/// One search.
struct Search<'a> {
    program: &'a Program,
    text: &'a str,
    stack: &'a mut Vec<Entry>,
    registers: &'a mut [u32],
    steps: u64,
    most_waiting: usize,
    /// Where the search began, for `\G`.
    begin: usize,
}

impl Program {
    /// The leftmost match from byte `at` on, or the one that starts there.
    pub(in crate::pattern) fn find(
        &self,
        scratch: &mut Scratch,
        text: &str,
        at: usize,
        anchored: bool,
        steps: &mut u64,
    ) -> Result<Option<Span>, GaveUp> {
        scratch.stack.clear();
        scratch.registers.clear();
        // The last register is where the match starts.
        scratch.registers.resize(self.slots + 1, NOWHERE);
        let mut search = Search {
            program: self,
            text,
            stack: &mut scratch.stack,
            registers: &mut scratch.registers,
            steps: *steps,
            most_waiting: MOST_WAITING + MOST_WAITING_PER_BYTE * text.len(),
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
            self.registers.fill(NOWHERE);
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

    fn set(&mut self, slot: Slot, value: u32) {
        let old = std::mem::replace(&mut self.registers[slot as usize], value);
        self.stack.push(Entry::Undo { slot, value: old });
    }

    /// Where the program from `pc` on ends if it matches at `at`. Then what it leaves on the stack is a way back; else the
    /// stack is as before.
    fn run(&mut self, mut pc: Pc, mut at: usize) -> Result<Option<usize>, GaveUp> {
        let base = self.stack.len();
        loop {
            take(&mut self.steps, 1)?;
            meter::count(1);
            if self.stack.len() > self.most_waiting {
                return Err(GaveUp::Steps);
            }
            match self.step(pc, at)? {
                Step::Go(next, place) => (pc, at) = (next, place),
                Step::Done => return Ok(Some(at)),
                Step::Fail => match self.back(base)? {
                    Some(next) => (pc, at) = next,
                    None => return Ok(None),
                },
            }
        }
    }

    #[inline(always)]
    fn step(&mut self, pc: Pc, at: usize) -> Result<Step, GaveUp> {
        let program = self.program;
        let bytes = self.text.as_bytes();
        let next = pc + 1;
        let go_if = |condition: bool| if condition { Step::Go(next, at) } else { Step::Fail };
        Ok(match program.code[pc as usize] {
            Inst::Done => Step::Done,
            Inst::Fail => Step::Fail,
            Inst::Literal { start, end } => {
                let literal = &program.bytes[start as usize..end as usize];
                take(&mut self.steps, literal.len() / 8)?;
                if bytes[at..].starts_with(literal) { Step::Go(next, at + literal.len()) } else { Step::Fail }
            }
            Inst::One { class } => match program.classes[class as usize].match_at(self.text, at) {
                Some(end) => Step::Go(next, end),
                None => Step::Fail,
            },
            Inst::Run { class, min, max, mode } => {
                self.characters(&program.classes[class as usize], pc, at, [min, max], mode)?
            }
            Inst::Split { first, second, set } => {
                let excluded = |set: u32| bytes.get(at).is_none_or(|&byte| !program.sets[set as usize].contains(byte));
                if set.is_some_and(excluded) {
                    Step::Go(second, at)
                } else {
                    self.stack.push(Entry::Branch { pc: second, at: at as u32 });
                    Step::Go(first, at)
                }
            }
            Inst::Jump { to } => Step::Go(to, at),
            Inst::Save { slot } => {
                self.set(slot, at as u32);
                Step::Go(next, at)
            }
            Inst::Restore { slot } => Step::Go(next, self.registers[slot as usize] as usize),
            Inst::Zero { slot } => {
                self.set(slot, 0);
                Step::Go(next, at)
            }
            Inst::Repeat { min, max, greedy, count, next: end } => {
                let turns = self.registers[count as usize];
                if turns == max { Step::Go(end, at) } else { self.turn(pc, at, [turns, min], greedy, count, end) }
            }
            Inst::RepeatEmpty { min, greedy, count, check, next: end } => {
                let turns = self.registers[count as usize];
                if turns > 0 && self.registers[check as usize] == at as u32 {
                    Step::Go(end, at)
                } else {
                    if turns >= min {
                        self.set(check, at as u32);
                    }
                    self.turn(pc, at, [turns, min], greedy, count, end)
                }
            }
            Inst::Assert(assertion) => go_if(self.holds(assertion, at)?),
            Inst::Around { negative, next: end } => {
                let base = self.stack.len();
                let found = self.run(next, at)?.is_some();
                self.leave(base, found && !negative)?;
                if found == negative { Step::Fail } else { Step::Go(end, at) }
            }
            Inst::Back { characters } => {
                let mut place = at;
                take(&mut self.steps, characters.min(at as u32) as usize)?;
                for _ in 0..characters {
                    let Some(before) = self.before(place) else { return Ok(Step::Fail) };
                    place -= before.len_utf8();
                }
                Step::Go(next, place)
            }
            Inst::Behind { negative, min, max, slot, next: end } => {
                let found = self.behind(next, at, [min, max], slot)?;
                if found == negative { Step::Fail } else { Step::Go(end, at) }
            }
            Inst::EndsAt { slot } => go_if(self.registers[slot as usize] == at as u32),
            Inst::Atomic { next: end } => {
                let base = self.stack.len();
                match self.run(next, at)? {
                    Some(place) => {
                        self.leave(base, true)?;
                        Step::Go(end, place)
                    }
                    None => Step::Fail,
                }
            }
            Inst::Reference { start } => {
                let [from, to] = [start, start + 1].map(|slot| self.registers[slot as usize]);
                if from == NOWHERE || to == NOWHERE || from > to {
                    return Ok(Step::Fail);
                }
                let group = &bytes[from as usize..to as usize];
                take(&mut self.steps, group.len() / 8)?;
                if bytes[at..].starts_with(group) { Step::Go(next, at + group.len()) } else { Step::Fail }
            }
            Inst::UnlessGroup { start, to } => {
                let is_set = self.registers[start as usize] != NOWHERE;
                Step::Go(if is_set { next } else { to }, at)
            }
            Inst::Keep => {
                let start = self.registers.len() as Slot - 1;
                self.set(start, at as u32);
                Step::Go(next, at)
            }
            Inst::SearchStart => go_if(at == self.begin),
            Inst::Newline => match bytes[at..] {
                [b'\r', b'\n', ..] => Step::Go(next, at + 2),
                [b'\n'..=b'\r', ..] => Step::Go(next, at + 1),
                [0xC2, 0x85, ..] => Step::Go(next, at + 2),
                [0xE2, 0x80, 0xA8 | 0xA9, ..] => Step::Go(next, at + 3),
                _ => Step::Fail,
            },
        })
    }

    /// One more turn of a repetition, or none.
    fn turn(&mut self, pc: Pc, at: usize, [turns, min]: [u32; 2], greedy: bool, count: Slot, end: Pc) -> Step {
        self.set(count, turns + 1);
        if turns < min {
            return Step::Go(pc + 1, at);
        }
        let (first, second) = if greedy { (pc + 1, end) } else { (end, pc + 1) };
        self.stack.push(Entry::Branch { pc: second, at: at as u32 });
        Step::Go(first, at)
    }

    /// A run of characters of a class.
    fn characters(
        &mut self,
        class: &Class,
        pc: Pc,
        at: usize,
        [min, max]: [u32; 2],
        mode: Mode,
    ) -> Result<Step, GaveUp> {
        let wanted = if mode == Mode::Lazy { min } else { max };
        let (mut end, mut count, mut least) = (at, 0, at);
        while count < wanted
            && let Some(place) = class.match_at(self.text, end)
        {
            end = place;
            count += 1;
            if count == min {
                least = end;
            }
            if count & 0xFFF == 0 && u64::from(count) > self.steps {
                return Err(GaveUp::Steps);
            }
        }
        take(&mut self.steps, count as usize)?;
        if count < min {
            return Ok(Step::Fail);
        }
        match mode {
            Mode::Greedy if end > least => {
                self.stack.push(Entry::Shrink { pc: pc + 1, least: least as u32, at: end as u32 });
            }
            Mode::Lazy if min < max => self.stack.push(Entry::Grow { pc, at: end as u32, count }),
            _ => {}
        }
        Ok(Step::Go(pc + 1, end))
    }

    /// The latest other way there is.
    #[inline(always)]
    fn back(&mut self, base: usize) -> Result<Option<(Pc, usize)>, GaveUp> {
        while self.stack.len() > base {
            let entry = self.stack.pop().expect("it is longer than its base");
            match entry {
                Entry::Branch { pc, at } => return Ok(Some((pc, at as usize))),
                Entry::Undo { slot, value } => {
                    take(&mut self.steps, 1)?;
                    self.registers[slot as usize] = value;
                }
                Entry::Shrink { pc, least, at } => {
                    let before = self.before(at as usize).expect("the run has a character to give back");
                    let at = at - before.len_utf8() as u32;
                    if at > least {
                        self.stack.push(Entry::Shrink { pc, least, at });
                    }
                    return Ok(Some((pc, at as usize)));
                }
                Entry::Grow { pc, at, count } => {
                    let Inst::Run { class, max, .. } = self.program.code[pc as usize] else {
                        unreachable!("a run pushed this");
                    };
                    take(&mut self.steps, 1)?;
                    let class = &self.program.classes[class as usize];
                    let Some(end) = class.match_at(self.text, at as usize) else { continue };
                    if max == NO_MAX || count + 1 < max {
                        self.stack.push(Entry::Grow { pc, at: end as u32, count: count + 1 });
                    }
                    return Ok(Some((pc + 1, end)));
                }
            }
        }
        Ok(None)
    }

    /// Takes the ways back out that lie above `base`. With `keep` the registers stay as they are and can be undone later.
    fn leave(&mut self, base: usize, keep: bool) -> Result<(), GaveUp> {
        take(&mut self.steps, (self.stack.len() - base) / 8)?;
        if keep {
            let mut kept = base;
            for place in base..self.stack.len() {
                if let Entry::Undo { .. } = self.stack[place] {
                    self.stack[kept] = self.stack[place];
                    kept += 1;
                }
            }
            self.stack.truncate(kept);
            return Ok(());
        }
        while self.stack.len() > base {
            if let Some(Entry::Undo { slot, value }) = self.stack.pop() {
                self.registers[slot as usize] = value;
            }
        }
        Ok(())
    }

    /// Whether the body at `pc` matches from somewhere before `at` up to it.
    fn behind(&mut self, pc: Pc, at: usize, [min, max]: [u32; 2], slot: Slot) -> Result<bool, GaveUp> {
        let base = self.stack.len();
        self.set(slot, at as u32);
        let mut place = at;
        let mut characters = 0;
        loop {
            take(&mut self.steps, 1)?;
            if characters >= min {
                let inner = self.stack.len();
                if self.run(pc, place)?.is_some() {
                    self.leave(inner, true)?;
                    return Ok(true);
                }
            }
            let before = self.before(place).filter(|_| characters < max);
            let Some(before) = before else { break };
            place -= before.len_utf8();
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
            // The compiler refuses it.
            Assertion::StartLineOniguruma { .. } => false,
        })
    }
}

/// What becomes of an instruction.
enum Step {
    Go(Pc, usize),
    Done,
    Fail,
}
