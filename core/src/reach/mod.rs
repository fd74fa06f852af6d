//! Finds the positions at which a token of the vocabulary that crosses a given position can end.
//!
//! - [`spellings`]: the tokens that a text starts with.

mod spellings;

use crate::bpe::{Alphabet, Bpe};
use crate::byte_level;
use crate::model::Model;
use crate::pipeline::Pipeline;
use crate::pretokenizer::{Prepend, Stage};
use crate::text::MAX_CHARACTER_BYTES;
use crate::vocab::TokenForm;
use spellings::Spellings;

/// Bounds the length of tokens by their first bytes. The positions that it yields may include some
/// at which no token ends, but they are never too few.
#[derive(Debug)]
pub(crate) struct Reach {
    /// By [`bucket`]: the length in bytes of the longest token that begins with these bytes.
    longest: Box<[u16]>,
    /// The length of the longest token, in bytes of text.
    max_len: usize,
    /// The spellings of tokens in a text that does not contain [`Self::meta_symbol`]. `None` if
    /// they would need too much memory.
    spellings: Option<Spellings>,
    /// Whether tokens are written with the printable characters of byte-level vocabularies.
    printable: bool,
    /// The character that stands for a space in tokens.
    meta_symbol: Option<char>,
    /// The character that may be inserted before a word. A token can then begin with one character
    /// more than the text.
    prefix: Option<char>,
    /// The prefix of tokens that do not start a word.
    continuing: String,
    /// Whether adjacent unknown characters become one token, which can cover any text.
    fuses_unknown: bool,
}

impl LastEnds {
    /// The first position.
    pub(crate) fn first(&self) -> Option<usize> {
        self.ends.iter().rev().find_map(|end| *end)
    }

    /// Leaves out the ends before `start`, where a token ends in every longer prefix.
    pub(crate) fn cut(&mut self, start: usize) {
        if let Some(number) = self.ends.iter().position(|end| end.is_some_and(|end| end <= start)) {
            self.ends.truncate(number);
            self.ends.push(Some(start));
        }
    }

    /// Calls `each` with each position at which one of the tokens may end, and the number of tokens
    /// after it. If it is only known that a token ends within a character, these are all positions
    /// within it.
    fn for_each(&self, text: &str, mut each: impl FnMut(usize, usize)) {
        let mut next = None;
        for (number, &end) in self.ends.iter().enumerate() {
            match (end, next) {
                (Some(end), _) => {
                    each(end, number);
                    next = Some(end);
                }
                (None, Some(next)) => {
                    let start = text.floor_char_boundary(usize::saturating_sub(next, 1));
                    (start + 1..next).for_each(|place| each(place, number));
                }
                (None, None) => {}
            }
        }
    }
}

/// The number of first bytes that select a bucket.
const KEY: usize = 3;
const BUCKETS: usize = 1 << 16;
/// Tokens that cross a position are searched from this many bytes before it.
const SEARCHED_BEFORE: usize = 4096;
/// Maximum number of pairs of start and end that are tried for one position.
const MAX_TRIED_PAIRS: usize = 1 << 14;
/// The cost of a position that no token reaches.
const UNREACHED: i32 = i32::MAX;

/// Where the last tokens of a prefix end.
#[derive(Debug, Default)]
pub(crate) struct LastEnds {
    /// From the end of the prefix back, by the number of tokens after them. `None` within a
    /// character.
    pub(crate) ends: Vec<Option<usize>>,
    /// Whether text between tokens can have no token, so that any position can be the start of one.
    pub(crate) starts_anywhere: bool,
}

fn bucket(bytes: &[u8]) -> Option<usize> {
    let &[a, b, c] = bytes.first_chunk::<KEY>()?;
    let key = u32::from(a) | u32::from(b) << 8 | u32::from(c) << 16;
    Some((key.wrapping_mul(0x9E37_79B1) >> 16) as usize)
}

impl Reach {
    /// Returns `None` unless the model is Unigram or BPE whose tokens do not depend on the end of
    /// the word. With a suffix, the end of a word has another token than the same text within it.
    pub(crate) fn new(pipeline: &Pipeline) -> Option<Self> {
        let (continuing, fuses_unknown) = match &*pipeline.model {
            Model::Unigram(unigram) => (String::new(), !unigram.knows_all_bytes()),
            Model::Bpe(Bpe { alphabet: Alphabet::Bytes { .. }, .. }) => (String::new(), false),
            Model::Bpe(Bpe { alphabet: Alphabet::Characters(characters), .. }) => {
                if !characters.end_of_word_suffix.is_empty() {
                    return None;
                }
                let fuses = characters.unknown.as_ref().is_some_and(|unknown| unknown.fuse);
                (characters.continuing_subword_prefix.clone(), fuses && !characters.knows_all_bytes())
            }
            Model::WordPiece(_) | Model::WordLevel(_) | Model::SentencePiece(_) => return None,
        };
        let stages = &pipeline.pretokenizer.stages;
        let writes_bytes = stages.iter().any(|stage| matches!(stage, Stage::Bytes));
        let spaces = stages.iter().find_map(|stage| match stage {
            Stage::Spaces { replacement, prepend } => Some((*replacement, *prepend != Prepend::Never)),
            _ => None,
        });
        let puts_space = stages.iter().any(|stage| matches!(stage, Stage::PrefixSpace));
        let (meta_symbol, prefix) = match (pipeline.spaces, spaces) {
            (Some(spaces), _) => (Some(spaces.meta_symbol), Some(spaces.meta_symbol)),
            (None, Some((meta_symbol, prepends))) => (Some(meta_symbol), prepends.then_some(meta_symbol)),
            (None, None) => (None, puts_space.then_some(' ')),
        };
        let mut made = Self {
            longest: vec![0; BUCKETS].into(),
            max_len: 0,
            spellings: None,
            printable: writes_bytes || pipeline.token_form == TokenForm::Printable,
            meta_symbol,
            prefix,
            continuing,
            fuses_unknown,
        };
        let mut text = vec![];
        let mut all = (vec![], vec![]);
        for (token, _) in pipeline.vocab.iter() {
            if !made.printable {
                made.add(token, &mut all);
                if let Some(meta_symbol) = meta_symbol
                    && let Ok(token) = std::str::from_utf8(token)
                    && token.contains(meta_symbol)
                {
                    made.add(token.replace(meta_symbol, " ").as_bytes(), &mut all);
                }
                continue;
            }
            text.clear();
            if byte_level::bytes(token).all(|byte| byte.map(|byte| text.push(byte)).is_some()) {
                made.add(&text, &mut all);
            }
        }
        pipeline.added_tokens.tokens().iter().for_each(|token| made.add(token.content.as_bytes(), &mut all));
        made.spellings = Spellings::new(&all.0, &all.1);
        Some(made)
    }

    /// Adds a token, spelled as in a text, here and to the bytes and ends of all spellings.
    fn add(&mut self, token: &[u8], (bytes, ends): &mut (Vec<u8>, Vec<u32>)) {
        let mut note = |token: &[u8]| {
            bytes.extend_from_slice(token);
            ends.push(bytes.len() as u32);
            self.max_len = self.max_len.max(token.len());
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

    /// The length of the longest token, in bytes of text.
    pub(crate) fn max_len(&self) -> usize {
        // Each character can be a token, such as an unknown one.
        self.max_len.max(MAX_CHARACTER_BYTES)
    }

    /// An upper bound of the length in bytes of a token at the start of these bytes. Depends on the
    /// first [`KEY`] bytes only.
    fn longest(&self, bytes: &[u8]) -> usize {
        let longest = match bucket(bytes).map(|bucket| self.longest[bucket]) {
            Some(u16::MAX) => self.max_len,
            Some(longest) => usize::from(longest),
            None => KEY - 1,
        };
        longest.max(MAX_CHARACTER_BYTES)
    }

    /// A prefix that ends at `end` is given, with the ends of its last tokens. Replaces `ends` by
    /// the positions after `end`, in order, at which a longer prefix can end that has at most
    /// `slack` tokens more. If no prefix that ends at one of them is within the limit, no longer
    /// prefix is. Returns the end of the text that the result depends on, in bytes.
    ///
    /// The tokens of a longer prefix are the same as those of the given one up to some position,
    /// and then they have no boundary in common with them. This searches the fewest tokens that
    /// lead from one of `last_ends` to each position without such a boundary. Positions from which
    /// tokens of maximum length do not cross `end` within the limit are left out.
    pub(crate) fn ends_after(
        &self,
        pipeline: &Pipeline,
        text: &str,
        end: usize,
        last_ends: &LastEnds,
        slack: usize,
        ends: &mut Vec<usize>,
    ) -> usize {
        ends.clear();
        let bytes = text.as_bytes();
        let slack = i32::try_from(slack).unwrap_or(i32::MAX);
        let from = match last_ends.starts_anywhere {
            true => end.saturating_sub(self.max_len.min(SEARCHED_BEFORE)),
            false => last_ends.first().unwrap_or(end).max(end.saturating_sub(SEARCHED_BEFORE)),
        };
        let missing = self.tokens_to_cross(bytes, from, end);
        let mut seen = end + KEY;
        // The number of tokens up to each position, less those of the given prefix.
        let mut costs = vec![UNREACHED; end - from + 1];
        let mut beyond: Vec<(usize, i32)> = vec![];
        let mut spelled = String::new();
        let mut looked_at = 0;
        if last_ends.starts_anywhere {
            costs.fill(slack - 1);
        } else {
            last_ends.for_each(text, |place, number| {
                if let Some(cost) = place.checked_sub(from).and_then(|at| costs.get_mut(at)) {
                    *cost = -(number as i32);
                }
            });
        }
        let mut is_common = vec![false; costs.len()];
        for place in last_ends.ends.iter().flatten() {
            place.checked_sub(from).and_then(|at| is_common.get_mut(at)).into_iter().for_each(|common| *common = true);
        }
        let spellings = self.spellings.as_ref().filter(|_| !self.has_meta_symbol(text, from, end));
        let mut look = |start: usize, cost: i32, costs: &mut [i32], beyond: &mut Vec<(usize, i32)>| {
            let longest = self.longest(&bytes[start..]);
            seen = seen.max(start + longest);
            let rest = &bytes[start..bytes.len().min(start + longest)];
            let mut visit = |length: usize, is_token: &mut dyn FnMut() -> bool| {
                let place = start + length;
                let known = place.checked_sub(from).and_then(|at| costs.get_mut(at));
                let is_wanted = match &known {
                    Some(known) => {
                        let at = place - from;
                        cost < **known && cost.saturating_add(missing[at]) <= slack && !is_common[at]
                    }
                    None => cost <= slack,
                };
                if !is_wanted {
                    return;
                }
                looked_at += 1;
                if looked_at > MAX_TRIED_PAIRS || !is_token() {
                    return;
                }
                match known {
                    Some(known) => *known = cost,
                    None if text.is_char_boundary(place) => {
                        let is_new = !ends.contains(&place);
                        ends.extend(is_new.then_some(place));
                    }
                    // No prefix ends within a character. Another token starts there.
                    None if beyond.iter().all(|&(known, least)| known != place || cost < least) => {
                        beyond.push((place, cost));
                    }
                    None => {}
                }
            };
            let character = text.get(start..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
            [1, character].into_iter().filter(|&length| length <= rest.len()).for_each(|length| {
                visit(length, &mut || true);
            });
            match spellings {
                Some(spellings) => spellings.at_start(rest).for_each(|length| visit(length, &mut || true)),
                None => (2..=rest.len()).for_each(|length| {
                    visit(length, &mut || self.is_token(pipeline, &rest[..length], &mut spelled));
                }),
            }
        };
        for start in from..=end {
            let cost = costs[start - from];
            if cost != UNREACHED && cost.saturating_add(missing[start - from]) <= slack {
                look(start, cost + 1, &mut costs, &mut beyond);
            }
        }
        let mut number = 0;
        while let Some(&(start, cost)) = beyond.get(number) {
            if cost < slack {
                look(start, cost + 1, &mut costs, &mut beyond);
            }
            number += 1;
        }
        ends.sort_unstable();
        seen.min(text.len())
    }

    /// Whether the text from which tokens cross `end` may contain the meta symbol, so that
    /// [`Self::spellings`] does not list all tokens.
    fn has_meta_symbol(&self, text: &str, from: usize, end: usize) -> bool {
        let Some(meta_symbol) = self.meta_symbol else { return false };
        let near = text.floor_char_boundary(from)..text.ceil_char_boundary((end + 2 * self.max_len).min(text.len()));
        near.len() > 2 * SEARCHED_BEFORE || text[near].contains(meta_symbol)
    }

    /// For each position of `from..=end`: a number of tokens that is not enough to get from there
    /// after `end`, and one more.
    fn tokens_to_cross(&self, bytes: &[u8], from: usize, end: usize) -> Vec<i32> {
        // With number `n`: the first position from which `n` tokens suffice, among those after the
        // current one.
        let mut firsts = vec![end + 1];
        let mut missing = vec![0; end - from + 1];
        for at in (from..=end).rev() {
            let far = at + self.longest(&bytes[at..]);
            let number = firsts.partition_point(|&first| first > far);
            firsts.truncate(number + 1);
            firsts.push(at);
            missing[at - from] = number as i32 + 1;
        }
        missing
    }

    /// Whether no token covers unknown characters of a text, so that tokens are at most
    /// [`Self::longest`].
    pub(crate) fn knows(&self, pipeline: &Pipeline, text: &str) -> bool {
        if !self.fuses_unknown {
            return true;
        }
        let mut spelled = String::new();
        let mut is_token = |character: char, before: &str| {
            spelled.clear();
            spelled.push_str(before);
            spelled.push(character);
            pipeline.vocab.id(spelled.as_bytes()).is_some()
        };
        let mut is_known = |character| {
            is_token(character, "") && (self.continuing.is_empty() || is_token(character, &self.continuing))
        };
        match self.printable {
            true => text.bytes().all(|byte| is_known(byte_level::CHARACTERS[usize::from(byte)])),
            false => text.chars().all(|c| is_known(if c == ' ' { self.meta_symbol.unwrap_or(c) } else { c })),
        }
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
                spelled.extend(text.chars().map(|c| if c == ' ' { self.meta_symbol.unwrap_or(c) } else { c }));
            }
            pipeline.vocab.id(spelled.as_bytes()).is_some()
        };
        (self.printable || self.meta_symbol.is_some()) && is_spelled(None, "")
            || self.prefix.is_some() && is_spelled(self.prefix, "")
            || !self.continuing.is_empty() && is_spelled(None, &self.continuing)
            || std::str::from_utf8(bytes).is_ok_and(|text| pipeline.added_tokens.by_content(text).is_some())
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.longest) + self.spellings.as_ref().map_or(0, Spellings::memory_bytes)
    }
}
