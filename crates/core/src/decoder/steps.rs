//! The components of decoders. Each maps a list of tokens to another list.

use memchr::{memchr_iter, memmem};
use std::borrow::Cow;
use std::sync::Arc;

use super::lossy::{REPLACEMENT, from_utf8_lossy, lossy};
use super::sentencepiece::{self, SentencePieceDecoder};
use super::step_budget::StepBudget;
use crate::affix::without_prefix;
use crate::budget::OutputLimit;
use crate::byte_level;
use crate::error::DecodeError;
use crate::memory::Grow;
use crate::memory::fallible::{append, check, concat, push, push_str, with_capacity};
use crate::pattern::Pattern;

/// The work of a step for [`StepBudget::work`], without that for bytes: to map a token, to only
/// pass it on, and for one match of a search.
const WORK_PER_TOKEN: usize = 16;
pub(super) const WORK_PER_PASSED_TOKEN: usize = 4;
const WORK_PER_MATCH: usize = 8;

/// A component of a decoder. Tokens are text, except that [`Step::Bytes`] reads bytes, and that all
/// steps can keep invalid UTF-8 unchanged.
#[derive(Debug)]
pub(crate) enum Step {
    /// No decoder: inserts a space between tokens.
    Spaces,
    /// The decoder of rank files: tokens are bytes, which are joined.
    Bytes,
    /// Maps printable characters back to bytes and joins them. A token with any other character
    /// stays as it is.
    ByteLevel,
    /// `<0x41>` is a byte. A run of such tokens becomes one token if it is valid UTF-8; otherwise
    /// each of them becomes U+FFFD.
    ByteFallback,
    /// Replaces the suffix at the end of a word by a space; removes it in the last token.
    Bpe { suffix: String },
    /// Inserts a space before tokens without the prefix, which start a word; removes the prefix of
    /// others.
    WordPiece { prefix: String, cleanup: bool },
    /// Replaces a character by a space; removes it in the first token if the pre-tokenizer prepends
    /// one.
    Metaspace { replacement: char, prepends: bool },
    /// Removes repetitions of a token, and the pad token.
    Ctc { pad: String, delimiter: String, cleanup: bool },
    /// Replaces matches of a pattern by another text.
    Replace { pattern: Pattern, content: String },
    /// Joins all tokens.
    Fuse,
    /// Removes a character from both ends of each token.
    Strip(StripEnds),
    /// The decoder of a SentencePiece file; all tokens become one.
    SentencePiece(Arc<SentencePieceDecoder>),
}

/// The maximum number of times that a character is removed from the start and from the end of a
/// token.
///
/// Hugging Face tokenizers panics if a token is too short for both, such as a single character that
/// is to be removed from both ends. This implementation removes from the start first, and then from
/// the end of the rest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StripEnds {
    pub(crate) content: char,
    pub(crate) start: usize,
    pub(crate) stop: usize,
}

impl Step {
    /// Applies the step. With `raw`, invalid UTF-8 is kept; otherwise it becomes U+FFFD as soon as
    /// the bytes are joined.
    pub(super) fn apply<'a>(
        &self,
        mut tokens: Vec<Cow<'a, [u8]>>,
        raw: bool,
        budget: &mut StepBudget<'_>,
    ) -> Result<Vec<Cow<'a, [u8]>>, DecodeError> {
        if self.joins() {
            let bytes: usize = tokens.iter().map(|token| token.len()).sum();
            budget.work(bytes + 2 * tokens.len())?;
        }
        match self {
            Self::Bytes | Self::Fuse => {
                let mut whole = Vec::new();
                tokens.iter().for_each(|token| append(&mut whole, token));
                Ok(vec![Cow::Owned(if raw { whole } else { from_utf8_lossy(whole).into_bytes() })])
            }
            Self::ByteLevel => {
                let mut whole = Vec::new();
                tokens.iter().for_each(|token| push_byte_level(token, &mut whole));
                Ok(vec![Cow::Owned(if raw { whole } else { from_utf8_lossy(whole).into_bytes() })])
            }
            Self::ByteFallback => {
                budget.work(WORK_PER_PASSED_TOKEN * tokens.len())?;
                Ok(byte_fallback(tokens, raw))
            }
            Self::SentencePiece(decoder) => {
                let (mut state, mut whole) = (sentencepiece::StreamState::default(), Vec::new());
                for token in &tokens {
                    check()?;
                    decoder.piece(&mut state, token, raw, budget, &mut whole)?;
                }
                decoder.end(&mut state, raw, budget, &mut whole)?;
                Ok(vec![Cow::Owned(whole)])
            }
            Self::Ctc { .. } => {
                budget.work(WORK_PER_PASSED_TOKEN * tokens.len())?;
                tokens.dedup();
                let mut kept = with_capacity(tokens.len())?;
                for token in tokens {
                    check()?;
                    let token = self.token(token, 0, false, budget)?;
                    kept.extend((!token.is_empty()).then_some(token));
                }
                Ok(kept)
            }
            _ => {
                let last = tokens.len().wrapping_sub(1);
                for (place, token) in tokens.iter_mut().enumerate() {
                    check()?;
                    let before = std::mem::replace(token, Cow::Borrowed(&[]));
                    *token = self.token(before, place, place == last, budget)?;
                }
                Ok(tokens)
            }
        }
    }

    /// Whether the step makes one token of all.
    fn joins(&self) -> bool {
        matches!(self, Self::Bytes | Self::Fuse | Self::ByteLevel | Self::SentencePiece(_))
    }

    /// Maps one token, for steps that map each token separately.
    pub(super) fn token<'a>(
        &self,
        token: Cow<'a, [u8]>,
        place: usize,
        is_last: bool,
        budget: &mut StepBudget<'_>,
    ) -> Result<Cow<'a, [u8]>, DecodeError> {
        budget.work(WORK_PER_TOKEN + token.len() / 4)?;
        let token = self.mapped(token, place, is_last, budget)?;
        budget.charge(token.len())?;
        Ok(token)
    }

    fn mapped<'a>(
        &self,
        token: Cow<'a, [u8]>,
        place: usize,
        is_last: bool,
        budget: &mut StepBudget<'_>,
    ) -> Result<Cow<'a, [u8]>, DecodeError> {
        Ok(match self {
            Self::Spaces if place > 0 => Cow::Owned(concat(&[b" ", &token])),
            Self::Bpe { suffix } => replace(token, suffix, if is_last { "" } else { " " }, budget)?,
            Self::WordPiece { prefix, cleanup } => {
                let joined = match without_prefix(&token, prefix.as_bytes()) {
                    _ if place == 0 => token,
                    Some(rest) => Cow::Owned(concat(&[rest])),
                    None => Cow::Owned(concat(&[b" ", &token])),
                };
                if *cleanup { clean(joined, budget)? } else { joined }
            }
            Self::Metaspace { replacement, prepends } => {
                let mut buffer = [0; 4];
                let meta_symbol: &str = replacement.encode_utf8(&mut buffer);
                replace(token, meta_symbol, if place == 0 && *prepends { "" } else { " " }, budget)?
            }
            Self::Ctc { pad, delimiter, cleanup } => {
                let token = replace(token, pad, "", budget)?;
                if *cleanup { replace(clean(token, budget)?, delimiter, " ", budget)? } else { token }
            }
            Self::Replace { pattern, content } => replace_pattern(token, pattern, content, budget)?,
            Self::Strip(strip) => strip.token(token),
            Self::Spaces | Self::Bytes | Self::ByteLevel | Self::ByteFallback | Self::Fuse | Self::SentencePiece(_) => {
                token
            }
        })
    }
}

impl StripEnds {
    fn token(self, token: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
        let mut buffer = [0; 4];
        let content: &str = self.content.encode_utf8(&mut buffer);
        let mut rest = &*token;
        for _ in 0..self.start {
            let Some(shorter) = rest.strip_prefix(content.as_bytes()) else { break };
            rest = shorter;
        }
        for _ in 0..self.stop {
            let Some(shorter) = rest.strip_suffix(content.as_bytes()) else { break };
            rest = shorter;
        }
        if rest.len() == token.len() { token } else { Cow::Owned(concat(&[rest])) }
    }
}

/// Appends the bytes of a token in printable characters. A token with any other character is
/// appended unchanged.
pub(super) fn push_byte_level(token: &[u8], bytes: &mut Vec<u8>) {
    let before = bytes.len();
    // Each character yields at most one byte.
    bytes.grow(token.len());
    let known = std::str::from_utf8(token).is_ok_and(|text| {
        text.chars().all(|character| byte_level::byte_of(character).map(|byte| bytes.push(byte)).is_some())
    });
    if !known {
        bytes.truncate(before);
        bytes.extend_from_slice(token);
    }
}

/// The byte of a token like `<0x41>`. Accepts a sign as the first digit, as Hugging Face tokenizers
/// does.
pub(super) fn fallback_byte(token: &[u8]) -> Option<u8> {
    let digits = token.strip_prefix(b"<0x")?.strip_suffix(b">")?;
    if digits.len() != 2 {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn byte_fallback(tokens: Vec<Cow<'_, [u8]>>, raw: bool) -> Vec<Cow<'_, [u8]>> {
    // A run of bytes becomes one token, or as many as it has bytes.
    let mut out = vec![];
    out.grow(tokens.len());
    let mut run: Vec<u8> = vec![];
    let end_run = |run: &mut Vec<u8>, out: &mut Vec<Cow<'_, [u8]>>| {
        if raw || std::str::from_utf8(run).is_ok() {
            out.extend((!run.is_empty()).then(|| Cow::Owned(std::mem::take(run))));
        } else {
            out.extend(run.drain(..).map(|_| Cow::Borrowed(REPLACEMENT)));
        }
    };
    for token in tokens {
        match fallback_byte(&token) {
            Some(byte) => push(&mut run, byte),
            None => {
                end_run(&mut run, &mut out);
                out.push(token);
            }
        }
    }
    end_run(&mut run, &mut out);
    out
}

fn replace<'a>(
    token: Cow<'a, [u8]>,
    sought: &str,
    put: &str,
    budget: &mut StepBudget<'_>,
) -> Result<Cow<'a, [u8]>, OutputLimit> {
    if sought.is_empty() {
        // Inserts the text between all characters and at both ends.
        let text = lossy(&token);
        let characters = text.chars().count();
        let written = text.len().saturating_add(put.len().saturating_mul(characters + 1));
        budget.check(written)?;
        budget.work(WORK_PER_MATCH * characters + written / 4)?;
        let mut out = put.as_bytes().to_vec();
        for character in text.chars() {
            append(&mut out, character.encode_utf8(&mut [0; 4]).as_bytes());
            append(&mut out, put.as_bytes());
        }
        return Ok(Cow::Owned(out));
    }
    // Returns early for most tokens, because setting up the search takes longer than the rest.
    if token.len() < sought.len() {
        return Ok(token);
    }
    let mut out: Vec<u8> = vec![];
    let mut done = 0;
    for start in memmem::find_iter(&token, sought) {
        budget.check(out.len() + (start - done) + put.len())?;
        budget.work(WORK_PER_MATCH + put.len() / 4)?;
        append(&mut out, &token[done..start]);
        append(&mut out, put.as_bytes());
        done = start + sought.len();
    }
    if done == 0 {
        return Ok(token);
    }
    append(&mut out, &token[done..]);
    Ok(Cow::Owned(out))
}

fn replace_pattern<'a>(
    token: Cow<'a, [u8]>,
    pattern: &Pattern,
    content: &str,
    budget: &mut StepBudget<'_>,
) -> Result<Cow<'a, [u8]>, DecodeError> {
    if let Some(sought) = pattern.as_string() {
        return Ok(replace(token, sought, content, budget)?);
    }
    let text = lossy(&token);
    let mut matches = vec![];
    // Searching for a regular expression takes longer than for a string.
    budget.work(WORK_PER_TOKEN)?;
    pattern.for_each_match(&text, &mut budget.budget.steps, |found| push(&mut matches, found))?;
    let taken: usize = matches.iter().map(|found| found.range().len()).sum();
    let written = content.len().saturating_mul(matches.len()).saturating_add(text.len() - taken);
    budget.check(written)?;
    budget.work(2 * WORK_PER_MATCH * matches.len() + written / 4)?;
    let (mut out, mut done) = (String::new(), 0);
    for found in matches {
        push_str(&mut out, &text[done..found.start as usize]);
        push_str(&mut out, content);
        done = found.end as usize;
    }
    push_str(&mut out, &text[done..]);
    Ok(Cow::Owned(out.into_bytes()))
}

/// The replacements of [`clean`], in order. All patterns start with a space.
const CLEANED: [(&str, &str); 11] = [
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
];

/// Removes the spaces that a word tokenizer inserted before punctuation and English contractions.
fn clean<'a>(mut token: Cow<'a, [u8]>, budget: &mut StepBudget<'_>) -> Result<Cow<'a, [u8]>, OutputLimit> {
    // Each space is compared with all patterns.
    budget.work(12 * token.len())?;
    // Few tokens contain one of the patterns.
    let begins = |at: usize| CLEANED.iter().any(|(sought, _)| token[at..].starts_with(sought.as_bytes()));
    if !memchr_iter(b' ', &token).any(begins) {
        return Ok(token);
    }
    for (sought, put) in CLEANED {
        budget.work(WORK_PER_TOKEN + token.len() / 4)?;
        token = replace(token, sought, put, budget)?;
    }
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use proptest::prelude::*;

    /// Applies each replacement to the whole text, one after the other.
    fn cleaned(text: &str) -> String {
        CLEANED.iter().fold(text.to_owned(), |text, (sought, put)| text.replace(sought, put))
    }

    fn text(token: Result<Cow<'_, [u8]>, OutputLimit>) -> String {
        String::from_utf8(token.expect("the budget suffices").into_owned()).expect("a text")
    }

    fn with_budget<T>(bytes: usize, work: impl FnOnce(&mut StepBudget<'_>) -> T) -> T {
        work(&mut StepBudget::new(&mut Budget::of_text(bytes), 0))
    }

    proptest! {
        #[test]
        fn clean_equals_replacing_one_after_the_other(
            parts in prop::collection::vec(prop::sample::select(vec![" ", "'", " '", "n't", ".", " ,", "m", " do", " not", "re", "é", "x"]), 0..9),
        ) {
            let token = parts.concat();
            prop_assert_eq!(text(with_budget(token.len(), |budget| clean(Cow::Borrowed(token.as_bytes()), budget))), cleaned(&token));
        }

        #[test]
        fn replace_equals_that_of_the_standard_library(token in "[ab▁]{0,6}", sought in "[ab▁]{0,4}", put in "[ab]{0,2}") {
            prop_assert_eq!(text(with_budget(token.len(), |budget| replace(Cow::Borrowed(token.as_bytes()), &sought, &put, budget))), token.replace(&sought, &put));
        }
    }

    #[test]
    fn all_cleaned_patterns_start_with_a_space() {
        for (sought, put) in CLEANED {
            assert!(sought.starts_with(' '));
            assert_eq!(
                text(with_budget(9, |budget| clean(Cow::Owned(format!("a{sought}b").into_bytes()), budget))),
                format!("a{put}b")
            );
        }
    }
}
