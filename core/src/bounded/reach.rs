//! Finds the positions at which a token of the vocabulary that crosses a given position can end.

use crate::bpe::Alphabet;
use crate::byte_level;
use crate::pipeline::Pipeline;
use crate::pretokenizer::{Prepend, Stage};
use crate::vocab::TokenForm;

/// Bounds the length of tokens by their first bytes. The positions that it yields may include some
/// at which no token ends, but they are never too few.
#[derive(Debug)]
pub(crate) struct Reach {
    /// By [`bucket`]: the length in bytes of the longest token that begins with these bytes.
    longest: Box<[u16]>,
    /// The length of the longest token, in bytes of a text.
    most: usize,
    /// Whether tokens are written with the printable characters of byte-level vocabularies.
    printable: bool,
    /// The character that tokens have instead of a space.
    mark: Option<char>,
    /// The character that may be inserted before a word. A token can then begin with one character
    /// more than the text.
    prefix: Option<char>,
    /// The prefix of tokens that do not start a word.
    continuing: String,
}

/// The number of first bytes that select a bucket.
const KEY: usize = 3;
const BUCKETS: usize = 1 << 16;
/// Tokens that cross a position are searched from this many bytes before it.
const SEARCHED_BEFORE: usize = 4096;
/// Maximum number of pairs of start and end that are tried for one position.
const MAX_TRIED_PAIRS: usize = 1 << 14;

fn bucket(bytes: &[u8]) -> Option<usize> {
    let &[a, b, c] = bytes.first_chunk::<KEY>()?;
    let key = u32::from(a) | u32::from(b) << 8 | u32::from(c) << 16;
    Some((key.wrapping_mul(0x9E37_79B1) >> 16) as usize)
}

impl Reach {
    /// Returns `None` unless the model is BPE whose tokens spell the text that they cover. With a
    /// suffix, the end of a word has another token than the same text within a word; a fused
    /// unknown token covers any text.
    pub(crate) fn new(pipeline: &Pipeline) -> Option<Self> {
        let bpe = pipeline.model.bpe()?;
        if let Alphabet::Characters(characters) = &bpe.alphabet {
            let fuses_unknown = characters.unknown.as_ref().is_some_and(|unknown| unknown.fuse);
            if !characters.end_of_word_suffix.is_empty() || fuses_unknown && !characters.knows_all_bytes() {
                return None;
            }
        }
        let continuing = match &bpe.alphabet {
            Alphabet::Characters(characters) => characters.continuing_subword_prefix.clone(),
            Alphabet::Bytes { .. } => String::new(),
        };
        let stages = &pipeline.pretokenizer.stages;
        let writes_bytes = stages.iter().any(|stage| matches!(stage, Stage::Bytes));
        let spaces = stages.iter().find_map(|stage| match stage {
            Stage::Spaces { replacement, prepend } => Some((*replacement, *prepend != Prepend::Never)),
            _ => None,
        });
        let puts_space = stages.iter().any(|stage| matches!(stage, Stage::PrefixSpace));
        let (mark, prefix) = match (pipeline.spaces, spaces) {
            (Some(spaces), _) => (Some(spaces.mark), Some(spaces.mark)),
            (None, Some((mark, prepends))) => (Some(mark), prepends.then_some(mark)),
            (None, None) => (None, puts_space.then_some(' ')),
        };
        let mut made = Self {
            longest: vec![0; BUCKETS].into(),
            most: 0,
            printable: writes_bytes || pipeline.token_form == TokenForm::Printable,
            mark,
            prefix,
            continuing,
        };
        let mut text = vec![];
        for (token, _) in pipeline.vocab.iter() {
            if !made.printable {
                made.add(token);
                if let Some(mark) = mark
                    && let Ok(token) = std::str::from_utf8(token)
                    && token.contains(mark)
                {
                    made.add(token.replace(mark, " ").as_bytes());
                }
                continue;
            }
            text.clear();
            if byte_level::bytes(token).all(|byte| byte.map(|byte| text.push(byte)).is_some()) {
                made.add(&text);
            }
        }
        pipeline.added_tokens.tokens().iter().for_each(|token| made.add(token.content.as_bytes()));
        Some(made)
    }

    /// Adds a token, spelled as in a text.
    fn add(&mut self, token: &[u8]) {
        let mut note = |token: &[u8]| {
            self.most = self.most.max(token.len());
            if let Some(bucket) = bucket(token) {
                let length = u16::try_from(token.len()).unwrap_or(u16::MAX);
                self.longest[bucket] = self.longest[bucket].max(length);
            }
        };
        note(token);
        if !self.continuing.is_empty() {
            token.strip_prefix(self.continuing.as_bytes()).into_iter().for_each(&mut note);
        }
        if let Some(prefix) = self.prefix {
            let mut buffer = [0; 4];
            let prefixes = [prefix.encode_utf8(&mut buffer).as_bytes(), b" "];
            prefixes.iter().filter_map(|prefix| token.strip_prefix(*prefix)).for_each(note);
        }
    }

    /// The maximum length in bytes of a token at the start of these bytes.
    fn longest(&self, bytes: &[u8]) -> usize {
        let longest = match bucket(bytes).map(|bucket| self.longest[bucket]) {
            Some(u16::MAX) => self.most,
            Some(longest) => usize::from(longest).max(KEY - 1),
            None => KEY - 1,
        };
        longest.min(bytes.len())
    }

    /// A prefix that ends at `end` is given, and a longer one has at most as many tokens. Returns
    /// the last position at which the token of the longer prefix that crosses `end` can start.
    /// `ends` are the token ends of the given prefix, from the last but one back to the start. From
    /// one of them on, the tokens of the two prefixes differ; the number of tokens behind it limits
    /// how far tokens of maximum length can reach.
    pub(super) fn last_start(&self, text: &str, end: usize, ends: impl Iterator<Item = usize>) -> usize {
        let bytes = text.as_bytes();
        let mut last_start = 0;
        for (tokens, from) in ends.enumerate() {
            // The positions that this many tokens reach from there; one more token must cross the
            // end.
            let (mut start, mut far) = (from, from);
            for _ in 0..tokens {
                let reach = (start..=far.min(end)).map(|at| at + self.longest(&bytes[at..])).max();
                (start, far) = (far, reach.unwrap_or(far));
            }
            last_start = last_start.max(far.min(end));
            if last_start == end {
                break;
            }
        }
        last_start
    }

    /// Replaces `ends` by the positions behind `end`, in order, at which a token of the vocabulary
    /// can end that crosses `end` and starts at or before `last_start`. If such a token ends within
    /// a character, the ends of tokens that start there are included. The end of the next character
    /// is included if `last_start` is `end`. Returns the end of the text that the result depends
    /// on, in bytes.
    pub(super) fn ends_behind(
        &self,
        pipeline: &Pipeline,
        text: &str,
        end: usize,
        last_start: usize,
        ends: &mut Vec<usize>,
    ) -> usize {
        ends.clear();
        let bytes = text.as_bytes();
        let Some(next) = text[end..].chars().next().map(|c| end + c.len_utf8()) else { return text.len() };
        // Positions within characters, at which prefixes cannot be counted: tokens may end there,
        // and others start there.
        let mut within: Vec<usize> = if last_start == end { (end + 1..next).collect() } else { vec![] };
        let mut looked_at = 0;
        let mut seen = next + 4;
        let mut spelled = String::new();
        if last_start == end {
            ends.push(next);
        }
        let mut look = |start: usize, within: &mut Vec<usize>, ends: &mut Vec<usize>| {
            let longest = self.longest(&bytes[start..]);
            // The next few bytes could make it the start of a longer token.
            seen = seen.max(start + longest.max(KEY));
            for place in (end + 1).max(start + 1)..=start + longest {
                looked_at += 1;
                if looked_at > MAX_TRIED_PAIRS {
                    return;
                }
                if !self.is_token(pipeline, &bytes[start..place], &mut spelled) {
                    continue;
                }
                let places = if text.is_char_boundary(place) { &mut *ends } else { &mut *within };
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        };
        for start in (end.saturating_sub(self.most.min(SEARCHED_BEFORE))..=last_start).rev() {
            look(start, &mut within, ends);
        }
        let mut number = 0;
        while let Some(&start) = within.get(number) {
            look(start, &mut within, ends);
            number += 1;
        }
        ends.sort_unstable();
        seen.min(text.len())
    }

    /// Whether bytes of a text can be a token. A single byte always can.
    fn is_token(&self, pipeline: &Pipeline, bytes: &[u8], spelled: &mut String) -> bool {
        if bytes.len() == 1 || pipeline.vocab.id(bytes).is_some() {
            return true;
        }
        let mut is_spelled = |prefix: Option<char>, continuing: &str| {
            spelled.clear();
            spelled.push_str(continuing);
            if self.printable {
                let prefix = prefix.map(|_| byte_level::CHARACTERS[usize::from(b' ')]);
                spelled.extend(prefix);
                spelled.extend(bytes.iter().map(|&byte| byte_level::CHARACTERS[usize::from(byte)]));
            } else {
                let Ok(text) = std::str::from_utf8(bytes) else { return false };
                spelled.extend(prefix);
                spelled.extend(text.chars().map(|c| if c == ' ' { self.mark.unwrap_or(c) } else { c }));
            }
            pipeline.vocab.id(spelled.as_bytes()).is_some()
        };
        (self.printable || self.mark.is_some()) && is_spelled(None, "")
            || self.prefix.is_some() && is_spelled(self.prefix, "")
            || !self.continuing.is_empty() && is_spelled(None, &self.continuing)
            || std::str::from_utf8(bytes).is_ok_and(|text| pipeline.added_tokens.by_content(text).is_some())
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.longest)
    }
}
