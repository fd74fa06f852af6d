//! The components of decoders. Each maps a list of tokens to another list.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::{memchr_iter, memmem};

use super::Chunk;
use super::byte_run::{self, ByteRun};
use super::lossy::{from_utf8_lossy, lossy, unfinished};
use super::sentencepiece::{self, SentencePieceDecoder};
use super::step_output::StepOutput;
use super::strip::{StripEnds, StripState, slice};
use crate::affix::without_prefix;
use crate::budget::OutputLimit;
use crate::byte_level;
use crate::error::DecodeError;
use crate::memory::Grow;
use crate::memory::fallible::{append, check, concat, push, push_str};
use crate::pattern::Pattern;

/// The work of a step for [`StepOutput::work`], without that for bytes: to map a token, to only
/// pass it on, and for one match of a search.
pub(super) const WORK_PER_TOKEN: usize = 16;
const WORK_PER_PASSED_TOKEN: usize = 4;
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

/// What a step keeps between two chunks.
#[derive(Debug, Default)]
pub(super) struct StepState {
    /// The size in bytes of the tokens that the step has written.
    pub(super) written: usize,
    /// For steps that join bytes: an unfinished character. For steps that need whole tokens after
    /// one that joins all: the parts so far.
    pub(super) bytes: Vec<u8>,
    /// Whether the step has mapped a token.
    is_inside: bool,
    /// The last token of the chunk before, for steps that compare it with the next one, or that map
    /// the last token of all differently.
    previous: Option<Vec<u8>>,
    run: ByteRun,
    strip: StripState,
    sentencepiece: sentencepiece::StreamState,
}

impl StepState {
    /// Whether text waits here for the next tokens; the last token of all is not waited for.
    pub(super) fn holds_text(&self) -> bool {
        !self.bytes.is_empty() || self.run.holds_text() || self.strip.holds_text() || self.sentencepiece.holds_text()
    }
}

impl Step {
    /// Whether the step passes on the parts of a token before the token ends.
    pub(super) fn takes_parts(&self) -> bool {
        matches!(self, Self::Fuse | Self::Strip(_))
    }

    /// Whether all tokens are one after this step.
    pub(super) fn joins(&self) -> bool {
        matches!(self, Self::Fuse | Self::Bytes | Self::ByteLevel | Self::SentencePiece(_))
    }

    /// What the step makes of a token with other tokens around it. If `is_joined`, all tokens are
    /// one, whose ends are elsewhere.
    pub(super) fn inside<'a>(
        &self,
        token: Cow<'a, [u8]>,
        is_joined: bool,
        output: &mut StepOutput<'_>,
    ) -> Result<Cow<'a, [u8]>, DecodeError> {
        Ok(match self {
            Self::Strip(_) if is_joined => token,
            Self::ByteFallback => byte_run::byte(&token).map_or(token, |byte| Cow::Owned(vec![byte])),
            Self::ByteLevel => {
                let mut bytes = vec![];
                push_byte_level(&token, &mut bytes);
                Cow::Owned(bytes)
            }
            Self::SentencePiece(decoder) => Cow::Owned(decoder.inside(&token, output)?),
            _ => self.mapped(token, &mut StepState { is_inside: true, ..StepState::default() }, false, output)?,
        })
    }

    /// Applies the step to a chunk.
    pub(super) fn apply(
        &self,
        chunk: &mut Chunk<'_>,
        state: &mut StepState,
        output: &mut StepOutput<'_>,
    ) -> Result<(), DecodeError> {
        match self {
            Self::Fuse => {
                output.work_of_joining(&chunk.tokens)?;
                let part = chunk.take_bytes();
                chunk.join(part);
                Ok(())
            }
            Self::Bytes | Self::ByteLevel => {
                output.work_of_joining(&chunk.tokens)?;
                self.join_bytes(chunk, state);
                Ok(())
            }
            Self::SentencePiece(decoder) => {
                output.work_of_joining(&chunk.tokens)?;
                decoder.decode(chunk, &mut state.sentencepiece, output)
            }
            Self::ByteFallback => {
                output.work(WORK_PER_PASSED_TOKEN * chunk.tokens.len())?;
                byte_run::replace(chunk, &mut state.run);
                Ok(())
            }
            Self::Bpe { .. } => {
                hold_last(chunk, state);
                self.map(chunk, state, output)
            }
            Self::Ctc { .. } => {
                output.work(WORK_PER_PASSED_TOKEN * chunk.tokens.len())?;
                remove_repetitions(chunk, state);
                self.map(chunk, state, output)?;
                chunk.tokens.retain(|token| !token.is_empty());
                Ok(())
            }
            _ => self.map(chunk, state, output),
        }
    }

    /// Joins tokens that may be parts of characters.
    fn join_bytes(&self, chunk: &mut Chunk<'_>, state: &mut StepState) {
        let mut part = std::mem::take(&mut state.bytes);
        for token in &chunk.tokens {
            match self {
                Self::ByteLevel => push_byte_level(token, &mut part),
                _ => append(&mut part, token),
            }
        }
        if !chunk.raw {
            let kept = if chunk.is_last { 0 } else { unfinished(&part) };
            if kept > 0 {
                state.bytes = part.split_off(part.len() - kept);
            }
            part = from_utf8_lossy(part).into_bytes();
        }
        chunk.join(part);
    }

    /// Maps each token separately.
    fn map(
        &self,
        chunk: &mut Chunk<'_>,
        state: &mut StepState,
        output: &mut StepOutput<'_>,
    ) -> Result<(), DecodeError> {
        let mut count = chunk.tokens.len();
        for token in &mut chunk.tokens {
            check()?;
            output.work(WORK_PER_TOKEN + token.len() / 4)?;
            if !chunk.is_joined {
                state.strip = StripState::default();
            }
            count -= 1;
            *token = self.mapped(std::mem::take(token), state, chunk.is_last && count == 0, output)?;
            output.charge(token.len())?;
            state.is_inside = true;
        }
        Ok(())
    }

    fn mapped<'a>(
        &self,
        token: Cow<'a, [u8]>,
        state: &mut StepState,
        is_last: bool,
        output: &mut StepOutput<'_>,
    ) -> Result<Cow<'a, [u8]>, DecodeError> {
        Ok(match self {
            Self::Spaces if state.is_inside => Cow::Owned(concat(&[b" ", &token])),
            Self::Bpe { suffix } => replace(token, suffix, if is_last { "" } else { " " }, output)?,
            Self::WordPiece { prefix, cleanup } => {
                let joined = match without_prefix(&token, prefix.as_bytes()) {
                    _ if !state.is_inside => token,
                    Some(rest) => {
                        let word = token.len() - rest.len()..token.len();
                        slice(token, word)
                    }
                    None => Cow::Owned(concat(&[b" ", &token])),
                };
                if *cleanup { clean(joined, output)? } else { joined }
            }
            Self::Metaspace { replacement, prepends } => {
                let mut buffer = [0; 4];
                let meta_symbol: &str = replacement.encode_utf8(&mut buffer);
                replace(token, meta_symbol, if *prepends && !state.is_inside { "" } else { " " }, output)?
            }
            Self::Ctc { pad, delimiter, cleanup } => {
                let token = replace(token, pad, "", output)?;
                if *cleanup { replace(clean(token, output)?, delimiter, " ", output)? } else { token }
            }
            Self::Replace { pattern, content } => replace_pattern(token, pattern, content, output)?,
            Self::Strip(ends) => ends.part(token, &mut state.strip),
            Self::Spaces | Self::Bytes | Self::ByteLevel | Self::ByteFallback | Self::Fuse | Self::SentencePiece(_) => {
                token
            }
        })
    }
}

/// Keeps the last token until the next one, or the end, shows whether it is the last of all.
fn hold_last(chunk: &mut Chunk<'_>, state: &mut StepState) {
    if let Some(held) = state.previous.take() {
        chunk.tokens.grow(1);
        chunk.tokens.insert(0, Cow::Owned(held));
    }
    if !chunk.is_last {
        state.previous = chunk.tokens.pop().map(|token| match token {
            Cow::Owned(token) => token,
            Cow::Borrowed(token) => concat(&[token]),
        });
    }
}

/// Removes tokens that equal the one before.
fn remove_repetitions(chunk: &mut Chunk<'_>, state: &mut StepState) {
    chunk.tokens.dedup();
    let Some(last) = chunk.tokens.last() else { return };
    let next = if chunk.is_last { None } else { Some(concat(&[&**last])) };
    let previous = std::mem::replace(&mut state.previous, next);
    if previous.as_deref() == chunk.tokens.first().map(|first| &**first) {
        chunk.tokens.remove(0);
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

fn replace<'a>(
    token: Cow<'a, [u8]>,
    sought: &str,
    put: &str,
    output: &mut StepOutput<'_>,
) -> Result<Cow<'a, [u8]>, OutputLimit> {
    if sought.is_empty() {
        // Inserts the text between all characters and at both ends.
        let text = lossy(&token);
        let characters = text.chars().count();
        let written = text.len().saturating_add(put.len().saturating_mul(characters + 1));
        output.check(written)?;
        output.work(WORK_PER_MATCH * characters + written / 4)?;
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
        output.check(out.len() + (start - done) + put.len())?;
        output.work(WORK_PER_MATCH + put.len() / 4)?;
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
    output: &mut StepOutput<'_>,
) -> Result<Cow<'a, [u8]>, DecodeError> {
    if let Some(sought) = pattern.as_string() {
        return Ok(replace(token, sought, content, output)?);
    }
    let text = lossy(&token);
    let mut matches = vec![];
    // Searching for a regular expression takes longer than for a string.
    output.work(WORK_PER_TOKEN)?;
    pattern.for_each_match(&text, &mut output.budget.pattern_steps, |found| push(&mut matches, found))?;
    let taken: usize = matches.iter().map(|found| found.range().len()).sum();
    let written = content.len().saturating_mul(matches.len()).saturating_add(text.len() - taken);
    output.check(written)?;
    output.work(2 * WORK_PER_MATCH * matches.len() + written / 4)?;
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
fn clean<'a>(mut token: Cow<'a, [u8]>, output: &mut StepOutput<'_>) -> Result<Cow<'a, [u8]>, OutputLimit> {
    // Each space is compared with all patterns.
    output.work(12 * token.len())?;
    // Few tokens contain one of the patterns.
    let begins = |at: usize| CLEANED.iter().any(|(sought, _)| token[at..].starts_with(sought.as_bytes()));
    if !memchr_iter(b' ', &token).any(begins) {
        return Ok(token);
    }
    for (sought, put) in CLEANED {
        output.work(WORK_PER_TOKEN + token.len() / 4)?;
        token = replace(token, sought, put, output)?;
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

    fn with_output<T>(bytes: usize, work: impl FnOnce(&mut StepOutput<'_>) -> T) -> T {
        work(&mut StepOutput::new(&mut Budget::of_text(bytes), 0))
    }

    proptest! {
        #[test]
        fn clean_equals_replacing_one_after_the_other(
            parts in prop::collection::vec(prop::sample::select(vec![" ", "'", " '", "n't", ".", " ,", "m", " do", " not", "re", "é", "x"]), 0..9),
        ) {
            let token = parts.concat();
            prop_assert_eq!(text(with_output(token.len(), |output| clean(Cow::Borrowed(token.as_bytes()), output))), cleaned(&token));
        }

        #[test]
        fn replace_equals_that_of_the_standard_library(token in "[ab▁]{0,6}", sought in "[ab▁]{0,4}", put in "[ab]{0,2}") {
            prop_assert_eq!(text(with_output(token.len(), |output| replace(Cow::Borrowed(token.as_bytes()), &sought, &put, output))), token.replace(&sought, &put));
        }
    }

    #[test]
    fn all_cleaned_patterns_start_with_a_space() {
        for (sought, put) in CLEANED {
            assert!(sought.starts_with(' '));
            assert_eq!(
                text(with_output(9, |output| clean(Cow::Owned(format!("a{sought}b").into_bytes()), output))),
                format!("a{put}b")
            );
        }
    }
}
