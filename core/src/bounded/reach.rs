//! Where a token of the vocabulary can end that crosses a place of a text.

use crate::bpe::Alphabet;
use crate::byte_level;
use crate::pretokenizer::{Prepend, Stage};
use crate::tokenizer::{TokenForm, Tokenizer};

/// How long the tokens are that begin with certain bytes. It may name more places than there are tokens for, never fewer.
#[derive(Debug)]
pub(crate) struct Reach {
    /// By [`bucket`]: the longest token that begins with these bytes of a text.
    longest: Box<[u16]>,
    /// The longest of all, in bytes of a text.
    most: usize,
    /// Whether tokens are written in the printable characters of byte-level vocabularies.
    printable: bool,
    /// What tokens have for a space.
    mark: Option<char>,
    /// What a word may get before it: a token can then begin with one character more than the text.
    prefix: Option<char>,
    /// What tokens have before them that do not start a word.
    continuing: String,
}

/// So many first bytes tell how long tokens can be.
const KEY: usize = 3;
const BUCKETS: usize = 1 << 16;
/// How far before a place tokens are looked for that cross it, in bytes.
const MOST_BEFORE: usize = 4096;
/// How many pairs of a token's start and its end are tried for one place.
const MOST_LOOKED_AT: usize = 1 << 14;

fn bucket(bytes: &[u8]) -> Option<usize> {
    let &[a, b, c] = bytes.first_chunk::<KEY>()?;
    let key = u32::from(a) | u32::from(b) << 8 | u32::from(c) << 16;
    Some((key.wrapping_mul(0x9E37_79B1) >> 16) as usize)
}

impl Reach {
    /// Returns `None` where tokens do not spell the text that they stand for: with a suffix, the
    /// end of a word has another token than the same text within a word; a fused unknown token
    /// stands for any text. Only for BPE.
    fn new(tokenizer: &Tokenizer) -> Option<Self> {
        let bpe = tokenizer.model.bpe()?;
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
        let stages = &tokenizer.pretokenizer.stages;
        let writes_bytes = stages.iter().any(|stage| matches!(stage, Stage::Bytes));
        let spaces = stages.iter().find_map(|stage| match stage {
            Stage::Spaces { replacement, prepend } => Some((*replacement, *prepend != Prepend::Never)),
            _ => None,
        });
        let puts_space = stages.iter().any(|stage| matches!(stage, Stage::PrefixSpace));
        let (mark, prefix) = match (tokenizer.spaces, spaces) {
            (Some(spaces), _) => (Some(spaces.mark), Some(spaces.mark)),
            (None, Some((mark, prepends))) => (Some(mark), prepends.then_some(mark)),
            (None, None) => (None, puts_space.then_some(' ')),
        };
        let mut made = Self {
            longest: vec![0; BUCKETS].into(),
            most: 0,
            printable: writes_bytes || tokenizer.token_form == TokenForm::Printable,
            mark,
            prefix,
            continuing,
        };
        let mut text = vec![];
        for (token, _) in tokenizer.vocab.iter() {
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
        tokenizer.added_tokens.tokens().iter().for_each(|token| made.add(token.content.as_bytes()));
        Some(made)
    }

    /// Takes note of a token, as a text has it.
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

    /// How many bytes a token can have that starts a text with these bytes.
    fn longest(&self, bytes: &[u8]) -> usize {
        let longest = match bucket(bytes).map(|bucket| self.longest[bucket]) {
            Some(u16::MAX) => self.most,
            Some(longest) => usize::from(longest).max(KEY - 1),
            None => KEY - 1,
        };
        longest.min(bytes.len())
    }

    /// Up to which place the last token of a prefix can start that is longer than the one that ends at `end` and has no more
    /// tokens. `ends` are where the tokens of the latter end, from the last but one on to the start: from one of these on
    /// other tokens are written, and of tokens of the greatest length that there are as few as that have to reach as far.
    pub(super) fn last_start(&self, text: &str, end: usize, ends: impl Iterator<Item = usize>) -> usize {
        let bytes = text.as_bytes();
        let mut last_start = 0;
        for (tokens, from) in ends.enumerate() {
            // How far so many tokens get from there; one more has to get beyond the end.
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

    /// The places behind `end` where a token of the vocabulary can end that starts at `last_start` or before, and crosses
    /// `end`, in order; and where one can end that starts at such a place within a character; with the end of
    /// the next character where `last_start` is `end`. The answer is one past the last byte that this depends on.
    pub(super) fn ends_behind(
        &self,
        tokenizer: &Tokenizer,
        text: &str,
        end: usize,
        last_start: usize,
        ends: &mut Vec<usize>,
    ) -> usize {
        ends.clear();
        let bytes = text.as_bytes();
        let Some(next) = text[end..].chars().next().map(|c| end + c.len_utf8()) else { return text.len() };
        // Places within characters, where prefixes cannot be counted: tokens may end there, and others start.
        let mut within: Vec<usize> = if last_start == end { (end + 1..next).collect() } else { vec![] };
        let mut looked_at = 0;
        let mut seen = next + 4;
        let mut spelled = String::new();
        if last_start == end {
            ends.push(next);
        }
        let mut look = |start: usize, within: &mut Vec<usize>, ends: &mut Vec<usize>| {
            let longest = self.longest(&bytes[start..]);
            // A few bytes more could be the start of a longer token.
            seen = seen.max(start + longest.max(KEY));
            for place in (end + 1).max(start + 1)..=start + longest {
                looked_at += 1;
                if looked_at > MOST_LOOKED_AT {
                    return;
                }
                if !self.is_token(tokenizer, &bytes[start..place], &mut spelled) {
                    continue;
                }
                let places = if text.is_char_boundary(place) { &mut *ends } else { &mut *within };
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        };
        for start in (end.saturating_sub(self.most.min(MOST_BEFORE))..=last_start).rev() {
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

    /// Whether bytes of a text can be a token. A byte alone always can.
    fn is_token(&self, tokenizer: &Tokenizer, bytes: &[u8], spelled: &mut String) -> bool {
        if bytes.len() == 1 || tokenizer.vocab.id(bytes).is_some() {
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
            tokenizer.vocab.id(spelled.as_bytes()).is_some()
        };
        (self.printable || self.mark.is_some()) && is_spelled(None, "")
            || self.prefix.is_some() && is_spelled(self.prefix, "")
            || !self.continuing.is_empty() && is_spelled(None, &self.continuing)
            || std::str::from_utf8(bytes).is_ok_and(|text| tokenizer.added_tokens.by_content(text).is_some())
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.longest)
    }
}

impl Tokenizer {
    /// How far its tokens reach, found out when it is first asked for. Nothing where that cannot be told.
    pub(crate) fn reach(&self) -> Option<&Reach> {
        self.reach.get_or_init(|| Reach::new(self).map(Box::new)).as_deref()
    }
}
