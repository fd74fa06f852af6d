//! Patterns that a finite automaton can match: without look-around, backreferences and atomic
//! groups.
//!
//! A lazy DFA reads the text byte by byte. Each byte that it reads is one step of the budget. A
//! single search is linear in the length of the text that it reads, but all searches in a text
//! together are not, since each may read up to its end. New states of the DFA are charged according
//! to their memory.

use fancy_regex::{Assertion, Expr};
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{self, DFA};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::{Dot, Hir, Look, Repetition};

use super::{GaveUp, meter};
use crate::span::Span;

/// The pattern as the HIR of the regex crate. `None` if no finite automaton can match it, or if it
/// contains a word boundary, which a lazy DFA only supports in ASCII text.
pub(super) fn as_hir(expr: &Expr) -> Option<Hir> {
    let all = |parts: &[Expr]| parts.iter().map(as_hir).collect::<Option<Vec<_>>>();
    Some(match expr {
        Expr::Empty => Hir::empty(),
        Expr::Any { newline: true, .. } => Hir::dot(Dot::AnyChar),
        Expr::Any { crlf: false, .. } => Hir::dot(Dot::AnyCharExceptLF),
        Expr::Any { crlf: true, .. } => Hir::dot(Dot::AnyCharExceptCRLF),
        Expr::Literal { val, casei: false } => Hir::literal(val.as_bytes()),
        Expr::Literal { val, casei: true } => {
            regex_syntax::parse(&format!("(?i:{})", regex_syntax::escape(val))).ok()?
        }
        Expr::LiteralBytes { bytes } => {
            Hir::literal(bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into_bytes())
        }
        Expr::Delegate { inner, casei: false } => regex_syntax::parse(inner).ok()?,
        Expr::Delegate { inner, casei: true } => regex_syntax::parse(&format!("(?i:{inner})")).ok()?,
        Expr::Assertion(assertion) => Hir::look(match assertion {
            Assertion::StartText => Look::Start,
            Assertion::EndText => Look::End,
            Assertion::StartLine { crlf: false } => Look::StartLF,
            Assertion::EndLine { crlf: false } => Look::EndLF,
            Assertion::StartLine { crlf: true } => Look::StartCRLF,
            Assertion::EndLine { crlf: true } => Look::EndCRLF,
            _ => return None,
        }),
        Expr::Concat(parts) => Hir::concat(all(parts)?),
        Expr::Alt(branches) => Hir::alternation(all(branches)?),
        Expr::Group(body) => as_hir(body)?,
        Expr::Repeat { child, lo, hi, greedy } => Hir::repetition(Repetition {
            min: u32::try_from(*lo).ok()?,
            max: if *hi == usize::MAX { None } else { Some(u32::try_from(*hi).ok()?) },
            greedy: *greedy,
            sub: Box::new(as_hir(child)?),
        }),
        _ => return None,
    })
}

/// Two lazy DFAs: the first one finds the end of a match, the second one its start.
#[derive(Debug)]
pub(super) struct Regular {
    forward: DFA,
    reverse: DFA,
}

/// The states that were built so far. A cache is used by one search at a time.
#[derive(Debug)]
pub(super) struct Cache {
    forward: dfa::Cache,
    reverse: dfa::Cache,
}

/// Maximum size of an NFA in bytes. A pattern with a larger one is matched by backtracking.
const MAX_NFA_BYTES: usize = 8 << 20;
/// Maximum size in bytes of the states that a lazy DFA keeps. When it is reached, the DFA discards
/// all states.
const CACHE_BYTES: usize = 2 << 20;
/// Building this many bytes of states costs one step.
const BYTES_PER_STEP: usize = 4;
/// Number of bytes after which steps and new states are charged.
const CHARGED_AT_ONCE: usize = 256;

impl Regular {
    /// Returns `None` if the automaton is too large.
    pub(super) fn new(hir: &Hir) -> Option<Self> {
        let nfa = |reverse| {
            let config = thompson::Config::new()
                .reverse(reverse)
                .nfa_size_limit(Some(MAX_NFA_BYTES))
                .which_captures(WhichCaptures::None);
            thompson::Compiler::new().configure(config).build_from_hir(hir).ok()
        };
        let dfa = |nfa: NFA, kind| {
            let config = DFA::config().match_kind(kind).cache_capacity(CACHE_BYTES).skip_cache_capacity_check(true);
            DFA::builder().configure(config).build_from_nfa(nfa).ok()
        };
        Some(Self { forward: dfa(nfa(false)?, MatchKind::LeftmostFirst)?, reverse: dfa(nfa(true)?, MatchKind::All)? })
    }

    pub(super) fn cache(&self) -> Cache {
        Cache { forward: self.forward.create_cache(), reverse: self.reverse.create_cache() }
    }

    /// The leftmost match from byte `at` on or, if `anchored`, the match that starts at `at`.
    pub(super) fn find(
        &self,
        cache: &mut Cache,
        text: &str,
        at: usize,
        anchored: bool,
        steps: &mut u64,
    ) -> Result<Option<Span>, GaveUp> {
        let Some(end) = self.end(&mut cache.forward, text.as_bytes(), at, anchored, steps)? else { return Ok(None) };
        let start =
            if anchored || end == at { at } else { self.start(&mut cache.reverse, text.as_bytes(), at, end, steps)? };
        Ok(Some(Span::new(start, end)))
    }

    fn end(
        &self,
        cache: &mut dfa::Cache,
        text: &[u8],
        at: usize,
        anchored: bool,
        steps: &mut u64,
    ) -> Result<Option<usize>, GaveUp> {
        let dfa = &self.forward;
        let anchored = if anchored { Anchored::Yes } else { Anchored::No };
        let input = Input::new(text).range(at..).anchored(anchored);
        let mut growth = CacheGrowth::before(cache);
        let mut state = dfa.start_state_forward(cache, &input).map_err(|_| GaveUp::Automaton)?;
        let mut found = None;
        let mut position = at;
        while position < text.len() {
            let chunk = &text[position..text.len().min(position + CHARGED_AT_ONCE)];
            for (offset, &byte) in chunk.iter().enumerate() {
                state = next(dfa, cache, state, byte)?;
                // Match states and the dead state are tagged. A match is reported one byte late.
                if state.is_tagged() {
                    if state.is_match() {
                        found = Some(position + offset);
                    } else if state.is_dead() {
                        growth.charge(cache, steps)?;
                        take(steps, offset + 1)?;
                        return Ok(found);
                    }
                }
            }
            take(steps, chunk.len())?;
            growth.charge(cache, steps)?;
            position += chunk.len();
        }
        state = dfa.next_eoi_state(cache, state).map_err(|_| GaveUp::Automaton)?;
        take(steps, 1)?;
        growth.charge(cache, steps)?;
        Ok(if state.is_match() { Some(text.len()) } else { found })
    }

    /// The start of the leftmost match that ends at `end` and does not start before `at`.
    fn start(
        &self,
        cache: &mut dfa::Cache,
        text: &[u8],
        at: usize,
        end: usize,
        steps: &mut u64,
    ) -> Result<usize, GaveUp> {
        let dfa = &self.reverse;
        let input = Input::new(text).range(at..end).anchored(Anchored::Yes);
        let mut growth = CacheGrowth::before(cache);
        let mut state = dfa.start_state_reverse(cache, &input).map_err(|_| GaveUp::Automaton)?;
        let mut found = end;
        for position in (at..end).rev() {
            state = next(dfa, cache, state, text[position])?;
            if state.is_match() {
                found = position + 1;
            } else if state.is_dead() {
                growth.charge(cache, steps)?;
                take(steps, end - position)?;
                return Ok(found);
            }
            if position % CHARGED_AT_ONCE == 0 {
                growth.charge(cache, steps)?;
            }
        }
        take(steps, end - at)?;
        state = match at.checked_sub(1) {
            Some(before) => next(dfa, cache, state, text[before])?,
            None => dfa.next_eoi_state(cache, state).map_err(|_| GaveUp::Automaton)?,
        };
        growth.charge(cache, steps)?;
        Ok(if state.is_match() { at } else { found })
    }
}

#[inline(always)]
fn next(dfa: &DFA, cache: &mut dfa::Cache, state: LazyStateID, byte: u8) -> Result<LazyStateID, GaveUp> {
    meter::count(1);
    dfa.next_state(cache, state, byte).map_err(|_| GaveUp::Automaton)
}

pub(super) fn take(steps: &mut u64, count: usize) -> Result<(), GaveUp> {
    *steps = steps.checked_sub(count as u64).ok_or(GaveUp::Steps)?;
    Ok(())
}

/// The state of a cache at some moment, from which its growth is computed.
struct CacheGrowth {
    clears: usize,
    bytes: usize,
}

impl CacheGrowth {
    fn before(cache: &dfa::Cache) -> Self {
        Self { clears: cache.clear_count(), bytes: cache.memory_usage() }
    }

    /// Charges the states that were built since the last call.
    fn charge(&mut self, cache: &dfa::Cache, steps: &mut u64) -> Result<(), GaveUp> {
        let (clears, bytes) = (cache.clear_count(), cache.memory_usage());
        if (clears, bytes) == (self.clears, self.bytes) {
            return Ok(());
        }
        // A cache that was cleared was full before.
        let grown = bytes.saturating_sub(self.bytes) + (clears - self.clears).saturating_mul(CACHE_BYTES);
        *self = Self { clears, bytes };
        take(steps, grown / BYTES_PER_STEP)
    }
}
