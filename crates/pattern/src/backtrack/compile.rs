//! Compiles a syntax tree of the crate fancy-regex to a program.

use std::collections::HashMap;

use fancy_regex::{Assertion, Expr, LookAround};
use regex_syntax::hir::{Class as HirClass, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

use super::program::{ByteSet, Class, Inst, Mode, NO_MAX, Pc, Program, Register, Repetition};
use crate::Dialect;

/// A part of the pattern that is not supported or too large. The text completes an error message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) String);

type Result<T> = std::result::Result<T, Refused>;

/// Maximum number of instructions of a program.
const MAX_INSTRUCTIONS: usize = 1 << 16;
/// Maximum nesting depth of groups. The parser has a lower limit.
const MAX_COMPILE_DEPTH: usize = 1000;

/// The range of the length of a sub-expression's matches, in characters, and the bytes with which a
/// match that is not empty can start.
#[derive(Debug, Clone, Copy)]
struct Shape {
    min: u32,
    max: u32,
    first: ByteSet,
}

impl Shape {
    const EMPTY: Self = Self { min: 0, max: 0, first: ByteSet::EMPTY };

    fn then(self, next: Self) -> Self {
        let first = if self.min == 0 { self.first.union(next.first) } else { self.first };
        Self { min: self.min.saturating_add(next.min), max: self.max.saturating_add(next.max), first }
    }

    fn or(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max), first: self.first.union(other.first) }
    }

    /// The shape of a repetition.
    fn times(self, low: u32, high: u32) -> Self {
        let max = if high == NO_MAX && self.max > 0 { NO_MAX } else { self.max.saturating_mul(high) };
        Self { min: self.min.saturating_mul(low), max, first: self.first }
    }
}

/// Compiles a syntax tree. `references` says whether a group is referred to.
pub(crate) fn compile(tree: &Expr, references: impl Fn(usize) -> bool, dialect: Dialect) -> Result<Program> {
    let mut compiler = Compiler {
        program: Program { code: vec![], classes: vec![], bytes: vec![], sets: vec![], register_count: 0, first: None },
        by_source: HashMap::new(),
        references: &references,
        groups: vec![],
        depth: 0,
        dialect,
    };
    let shape = compiler.emit(tree)?;
    compiler.push(Inst::Done)?;
    let mut program = compiler.program;
    program.first = (shape.min > 0).then_some(shape.first);
    Ok(program)
}

struct Compiler<'a> {
    program: Program,
    /// Class numbers by their source text, because patterns often repeat a class.
    by_source: HashMap<String, u32>,
    references: &'a dyn Fn(usize) -> bool,
    /// The registers and the shape of each group so far, beginning with group 1. Groups that are
    /// not referred to have no registers.
    groups: Vec<(Option<Register>, Shape)>,
    depth: usize,
    dialect: Dialect,
}

fn unsupported<T>(what: &str) -> Result<T> {
    Err(Refused(format!("{what} is not supported")))
}

/// A number of repetitions, clamped to [`NO_MAX`].
fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(NO_MAX)
}

impl Compiler<'_> {
    fn pc(&self) -> Pc {
        self.program.code.len() as Pc
    }

    fn push(&mut self, inst: Inst) -> Result<Pc> {
        if self.program.code.len() >= MAX_INSTRUCTIONS {
            return Err(Refused(format!("it compiles to more than {MAX_INSTRUCTIONS} instructions")));
        }
        self.program.code.push(inst);
        Ok(self.pc() - 1)
    }

    /// Replaces an instruction whose jump targets were not known before.
    fn patch(&mut self, at: Pc, inst: Inst) {
        self.program.code[at as usize] = inst;
    }

    fn add_registers(&mut self, count: usize) -> Register {
        self.program.register_count += count;
        (self.program.register_count - count) as Register
    }

    fn class(&mut self, set: &ClassUnicode) -> u32 {
        self.program.classes.push(Class::new(set));
        self.program.classes.len() as u32 - 1
    }

    fn first_bytes(&self, class: u32) -> ByteSet {
        self.program.classes[class as usize].first_bytes()
    }

    /// The class of a sub-expression that always matches exactly one character.
    fn single(&mut self, expr: &Expr) -> Result<Option<u32>> {
        let source = match expr {
            Expr::Any { newline: true, .. } => "(?s:.)".to_owned(),
            Expr::Any { crlf: false, .. } => "(?-s:.)".to_owned(),
            Expr::Any { crlf: true, .. } => r"[^\r\n]".to_owned(),
            Expr::Delegate { inner, casei: false } => inner.clone(),
            Expr::Delegate { inner, casei: true } => format!("(?i:{inner})"),
            Expr::Literal { val, casei } if val.chars().nth(1).is_none() && !val.is_empty() => {
                let text = regex_syntax::escape(val);
                if *casei { format!("(?i:{text})") } else { text }
            }
            _ => return Ok(None),
        };
        self.class_of(source).map(Some)
    }

    fn class_of(&mut self, source: String) -> Result<u32> {
        if let Some(&known) = self.by_source.get(&source) {
            return Ok(known);
        }
        let hir = regex_syntax::parse(&source).map_err(|error| Refused(error.to_string()))?;
        let Some(set) = as_class(&hir) else {
            return unsupported(&format!("{source:?}, which is not a single character,"));
        };
        let class = self.class(&set);
        self.by_source.insert(source, class);
        Ok(class)
    }

    fn emit(&mut self, expr: &Expr) -> Result<Shape> {
        self.depth += 1;
        if self.depth > MAX_COMPILE_DEPTH {
            return Err(Refused("its groups are nested too deep".into()));
        }
        let shape = self.piece(expr);
        self.depth -= 1;
        shape
    }

    fn piece(&mut self, expr: &Expr) -> Result<Shape> {
        if let Expr::Literal { val, casei: false } = expr {
            return self.literal(val);
        }
        if let Some(class) = self.single(expr)? {
            self.push(Inst::One { class })?;
            return Ok(Shape { min: 1, max: 1, first: self.first_bytes(class) });
        }
        match expr {
            Expr::Empty => Ok(Shape::EMPTY),
            Expr::Literal { val, .. } => {
                let mut shape = Shape::EMPTY;
                for character in val.chars() {
                    shape = shape.then(self.emit(&Expr::Literal { val: character.to_string(), casei: true })?);
                }
                Ok(shape)
            }
            Expr::LiteralBytes { bytes } => {
                self.literal(&bytes.iter().map(|&byte| char::from(byte)).collect::<String>())
            }
            Expr::Concat(parts) => parts.iter().try_fold(Shape::EMPTY, |shape, part| Ok(shape.then(self.emit(part)?))),
            Expr::Alt(branches) => self.alternatives(branches.len(), |compiler, at| compiler.emit(&branches[at])),
            Expr::Group(body) => self.group(body),
            Expr::Repeat { child, lo, hi, greedy } => {
                let mode = if *greedy { Mode::Greedy } else { Mode::Lazy };
                self.repeat(child, count(*lo), count(*hi), mode)
            }
            Expr::AtomicGroup(body) => match &**body {
                Expr::Repeat { child, lo, hi, greedy: true } if self.single(child)?.is_some() => {
                    self.repeat(child, count(*lo), count(*hi), Mode::Possessive)
                }
                body => {
                    let start = self.push(Inst::Fail)?;
                    let shape = self.emit(body)?;
                    self.push(Inst::Done)?;
                    self.patch(start, Inst::Atomic { next: self.pc() });
                    Ok(shape)
                }
            },
            Expr::LookAround(body, kind) => self.look_around(body, *kind),
            Expr::Assertion(assertion) => self.assertion(*assertion),
            Expr::Backref { group, casei: false } => self.reference(*group),
            Expr::Backref { .. } => unsupported("a reference that ignores case"),
            Expr::Conditional { condition, true_branch, false_branch } => {
                let Expr::BackrefExistsCondition { group, relative_recursion_level: None } = **condition else {
                    return unsupported("a condition other than that a group matched");
                };
                self.conditional(group, true_branch, false_branch)
            }
            Expr::KeepOut => self.push(Inst::Keep).map(|_| Shape::EMPTY),
            Expr::ContinueFromPreviousMatchEnd => self.push(Inst::SearchStart).map(|_| Shape::EMPTY),
            Expr::GeneralNewline { unicode: true } => {
                self.push(Inst::Newline)?;
                Ok(Shape { min: 1, max: 2, first: ByteSet::ALL })
            }
            _ => unsupported("a part of it (a subroutine, a control verb or an absent operator)"),
        }
    }

    fn literal(&mut self, text: &str) -> Result<Shape> {
        let Some(&first) = text.as_bytes().first() else { return Ok(Shape::EMPTY) };
        let start = self.program.bytes.len() as u32;
        self.program.bytes.extend_from_slice(text.as_bytes());
        self.push(Inst::Literal { start, end: self.program.bytes.len() as u32 })?;
        let mut set = ByteSet::default();
        set.insert(first);
        let characters = count(text.chars().count());
        Ok(Shape { min: characters, max: characters, first: set })
    }

    /// Emits alternatives, which are tried in order.
    fn alternatives(
        &mut self,
        branches: usize,
        mut emit: impl FnMut(&mut Self, usize) -> Result<Shape>,
    ) -> Result<Shape> {
        let mut jumps = vec![];
        let mut all: Option<Shape> = None;
        for branch in 0..branches {
            let split = (branch + 1 < branches).then(|| self.push(Inst::Fail)).transpose()?;
            let shape = emit(self, branch)?;
            all = Some(all.map_or(shape, |all| all.or(shape)));
            if let Some(split) = split {
                jumps.push(self.push(Inst::Fail)?);
                let set = (shape.min > 0).then(|| {
                    self.program.sets.push(shape.first);
                    self.program.sets.len() as u32 - 1
                });
                self.patch(split, Inst::Split { first: split + 1, second: self.pc(), set });
            }
        }
        let to = self.pc();
        jumps.into_iter().for_each(|jump| self.patch(jump, Inst::Jump { to }));
        Ok(all.unwrap_or(Shape::EMPTY))
    }

    fn group(&mut self, body: &Expr) -> Result<Shape> {
        let number = self.groups.len() + 1;
        let register = (self.references)(number).then(|| self.add_registers(2));
        // A reference to the group from inside itself may have any length.
        self.groups.push((register, Shape { min: 0, max: NO_MAX, first: ByteSet::ALL }));
        if let Some(register) = register {
            self.push(Inst::Save { register })?;
        }
        let shape = self.emit(body)?;
        if let Some(register) = register {
            self.push(Inst::Save { register: register + 1 })?;
        }
        self.groups[number - 1].1 = shape;
        Ok(shape)
    }

    fn repeat(&mut self, child: &Expr, min: u32, max: u32, mode: Mode) -> Result<Shape> {
        let start = self.pc();
        if let Some(class) = self.single(child)? {
            let one = Shape { min: 1, max: 1, first: self.first_bytes(class) };
            if max > 0 {
                self.push(Inst::Run { class, min, max, mode })?;
            }
            return Ok(one.times(min, max));
        }
        let greedy = mode == Mode::Greedy;
        let split = |next: Pc| match greedy {
            true => Inst::Split { first: start + 1, second: next, set: None },
            false => Inst::Split { first: next, second: start + 1, set: None },
        };
        match (min, max) {
            (_, 0) => {
                // The body emits no code, but its groups are counted.
                self.emit(child)?;
                self.program.code.truncate(start as usize);
                return Ok(Shape::EMPTY);
            }
            (0, 1) => {
                self.push(Inst::Fail)?;
                let shape = self.emit(child)?;
                self.patch(start, split(self.pc()));
                return Ok(shape.times(0, 1));
            }
            _ => {}
        }
        // Two instructions are reserved; what they are depends on the shape of the body.
        self.push(Inst::Fail)?;
        self.push(Inst::Fail)?;
        let shape = self.emit(child)?;
        let jump = self.push(Inst::Jump { to: start + 1 })?;
        let next = jump + 1;
        let inst = if max == NO_MAX && shape.min == 0 {
            let count = self.add_registers(2);
            self.patch(start, Inst::Zero { register: count });
            Inst::RepeatEmpty { of: Repetition { min, greedy, count, next }, check: count + 1 }
        } else if max == NO_MAX && min <= 1 {
            // The first iteration of `+` is not optional.
            self.patch(start, Inst::Jump { to: start + 1 + min });
            match greedy {
                true => Inst::Split { first: start + 2, second: next, set: None },
                false => Inst::Split { first: next, second: start + 2, set: None },
            }
        } else {
            let count = self.add_registers(1);
            self.patch(start, Inst::Zero { register: count });
            Inst::Repeat { of: Repetition { min, greedy, count, next }, max }
        };
        self.patch(start + 1, inst);
        Ok(shape.times(min, max))
    }

    fn look_around(&mut self, body: &Expr, kind: LookAround) -> Result<Shape> {
        let negative = matches!(kind, LookAround::LookAheadNeg | LookAround::LookBehindNeg);
        if matches!(kind, LookAround::LookAhead | LookAround::LookAheadNeg) {
            // The crate fancy-regex backtracks into a look-ahead, which is only visible in its
            // groups.
            if !negative && self.dialect == Dialect::FancyRegex && self.refers_into(body) {
                let register = self.add_registers(1);
                self.push(Inst::Save { register })?;
                self.emit(body)?;
                self.push(Inst::Restore { register })?;
                return Ok(Shape::EMPTY);
            }
            let start = self.push(Inst::Fail)?;
            self.emit(body)?;
            self.push(Inst::Done)?;
            self.patch(start, Inst::Around { negative, next: self.pc() });
            return Ok(Shape::EMPTY);
        }
        let branches = match body {
            Expr::Alt(branches) => branches.as_slice(),
            one => std::slice::from_ref(one),
        };
        // Each branch is compiled separately, because branches of fixed length need no search for
        // their start.
        let start = self.push(Inst::Fail)?;
        self.alternatives(branches.len(), |compiler, at| compiler.behind(&branches[at]))?;
        self.push(Inst::Done)?;
        self.patch(start, Inst::Around { negative, next: self.pc() });
        Ok(Shape::EMPTY)
    }

    /// Emits a branch of a look-behind, which ends at the position where the look-behind starts.
    fn behind(&mut self, body: &Expr) -> Result<Shape> {
        let start = self.push(Inst::Fail)?;
        let Shape { min, max, .. } = self.emit(body)?;
        if min == max && max < NO_MAX {
            self.patch(start, Inst::Back { characters: min });
        } else {
            let register = self.add_registers(1);
            self.push(Inst::EndsAt { register })?;
            self.push(Inst::Done)?;
            self.patch(start, Inst::Behind { min, max, register, next: self.pc() });
        }
        Ok(Shape::EMPTY)
    }

    /// Whether a group inside `body`, which has not been emitted yet, is referred to.
    fn refers_into(&self, body: &Expr) -> bool {
        let before = self.groups.len();
        (before + 1..=before + groups_in(body)).any(|group| (self.references)(group))
    }

    fn assertion(&mut self, assertion: Assertion) -> Result<Shape> {
        if let Assertion::StartLineOniguruma { .. } = assertion {
            return unsupported("an assertion of Oniguruma");
        }
        self.push(Inst::Assert(assertion))?;
        Ok(Shape::EMPTY)
    }

    fn reference(&mut self, group: usize) -> Result<Shape> {
        match group.checked_sub(1).and_then(|index| self.groups.get(index)) {
            Some(&(Some(start), shape)) => {
                self.push(Inst::Reference { start })?;
                Ok(Shape { first: ByteSet::ALL, ..shape })
            }
            _ => Err(Refused(format!("a reference to group {group}, which does not come before it"))),
        }
    }

    fn conditional(&mut self, group: usize, yes: &Expr, no: &Expr) -> Result<Shape> {
        let Some(&(Some(start), _)) = group.checked_sub(1).and_then(|index| self.groups.get(index)) else {
            return Err(Refused(format!("a condition on group {group}, which does not come before it")));
        };
        let test = self.push(Inst::Fail)?;
        let first = self.emit(yes)?;
        let jump = self.push(Inst::Fail)?;
        self.patch(test, Inst::UnlessGroup { start, to: self.pc() });
        let second = self.emit(no)?;
        self.patch(jump, Inst::Jump { to: self.pc() });
        Ok(first.or(second))
    }
}

/// The number of groups in a sub-expression.
fn groups_in(expr: &Expr) -> usize {
    usize::from(matches!(expr, Expr::Group(_))) + expr.children_iter().map(groups_in).sum::<usize>()
}

/// The character class of an expression, if it is nothing else.
pub(crate) fn as_class(hir: &Hir) -> Option<ClassUnicode> {
    match hir.kind() {
        HirKind::Class(HirClass::Unicode(set)) => Some(set.clone()),
        HirKind::Class(HirClass::Bytes(set)) => set.to_unicode_class(),
        HirKind::Literal(literal) => {
            let mut characters = std::str::from_utf8(&literal.0).ok()?.chars();
            let character = characters.next().filter(|_| characters.as_str().is_empty())?;
            Some(ClassUnicode::new([ClassUnicodeRange::new(character, character)]))
        }
        _ => None,
    }
}
