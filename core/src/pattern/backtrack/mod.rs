//! Patterns that no finite automaton decides, matched by backtracking: look-around, references, atomic groups, `\G`, `\K`.
//!
//! Each instruction and each character that it reads is one step of the budget, at whatever place the search starts, so
//! that the budget bounds all searches of a text together. Matches are those of the fancy-regex crate; a property test
//! holds the two against each other.
//!
//! - [`program`]: instructions, classes of characters.
//! - [`compile`]: a syntax tree becomes a program.
//! - [`run`]: the program runs.

mod compile;
mod program;
mod run;
#[cfg(test)]
mod tests;

pub(super) use compile::{Refused, compile};
pub(super) use program::Program;
pub(super) use run::Scratch;
