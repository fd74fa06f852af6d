//! Matching by backtracking, for patterns that no finite automaton can match: with look-around,
//! backreferences, atomic groups, `\G` or `\K`.
//!
//! Each instruction and each character that it reads is one step of the budget, so that the budget
//! limits all searches in a text together. The matches are those of the crate fancy-regex; a
//! property test compares the two.
//!
//! - [`program`]: instructions and character classes.
//! - [`mod@compile`]: compiles a syntax tree to a program.
//! - [`run`]: runs a program.

mod compile;
mod program;
mod run;
#[cfg(test)]
mod tests;

pub(super) use compile::{Refused, as_class, compile};
pub(super) use program::Program;
pub(super) use run::SearchScratch;
