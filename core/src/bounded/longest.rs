//! Finds the longest prefix within a limit, and selects the prefixes that have to be counted for
//! that.
//!
//! The tokens of the whole text show where the limit is exceeded. The prefix that ends there is
//! usually the answer, or a prefix that is a few characters shorter. But a longer prefix can have
//! fewer tokens, because its end merges, composes or is split differently. How much longer can it
//! be?
//!
//! Let `e` be the end of the longest prefix known to be within the limit, and let a longer prefix,
//! which ends at `p`, be within it too. The last token of that prefix starts at some `q`, and the
//! prefix that ends at `q` has one token less. So either `q` is at most `e`, and the text from `q`
//! to `p` is a token of the vocabulary that crosses `e`; or the same holds for the prefix that ends
//! at `q`, and so on. Therefore only those prefixes after `e` have to be counted at whose end a
//! token that crosses `e` can end ([`Reach`]). If none of them is within the limit, no longer
//! prefix is. This holds for BPE, as `bpe::incremental` proves, and for Unigram, because the best
//! path to `p` contains the best path to `q`.
//!
//! Two more facts exclude prefixes:
//!
//! - The tokens of a longer prefix are the same as those of the prefix that ends at `e` up to some
//!   position. After it, the two have no token boundary in common, because the tokens of a prefix
//!   are unique. So from the end of one of the last tokens (the last [`TOKENS_BEFORE`] are
//!   considered), the longer prefix has to reach beyond `e` within the limit.
//! - If `e` is the end of a token of the whole text, the limit is reached there, and a word ends
//!   there after a letter or a digit, or no merge joins text across `e`, then a token ends at `e`
//!   in every longer prefix too. Such a prefix has at least one token more. The same holds if every
//!   space ends a word and a space follows `e`, between two characters of ASCII. For the same
//!   reason, no token of any prefix crosses such a space.
//!
//! All of this is about the text that the model reads. If a normalizer changes the text near the
//! limit, or if one unknown token can cover any part of it, all prefixes are counted that end up to
//! a few tokens beyond it; and the white space after them, if text can vanish. If offsets do not
//! show the positions of tokens, because the model drops characters, the limit is found by
//! bisection.

use std::ops::Range;

use super::prefixes::{CHUNK, Counted, Prefixes};
use crate::budget::Budget;
use crate::encoder::Encoder;
use crate::error::EncodeError;
use crate::reach::{LastEnds, Reach};
use crate::text::MAX_CHARACTER_BYTES;

/// For normalized text: prefixes are counted up to this many tokens, and this many characters,
/// beyond the limit.
const TOKENS_BEYOND: usize = 4;
const CHARACTERS_BEYOND: usize = 64;
/// For bisection: this many longer prefixes are tried at the end, each longer by one character.
/// More are tried if text can vanish.
const CHARACTERS_AFTER: usize = 8;
/// This many prefixes are tried, each shorter by one character. Then prefixes get shorter by whole
/// tokens, in steps of growing size.
const CHARACTERS_BACK: usize = 2 * CHARACTERS_BEYOND;
/// The normalizer must leave this many bytes unchanged on both sides of the limit.
const NEAR: usize = 64;
/// Maximum number of bytes that are encoded to count prefixes, in addition to half of the text up
/// to the limit. Beyond it, prefixes get shorter token by token, so the prefix found may be
/// slightly shorter than the longest one.
const MAX_ENCODED_AT_ONCE: usize = 16 << 10;
/// Maximum work to count prefixes, in addition to half of the work to encode the text up to the
/// limit. Reached only with long chains of components; the prefix found may then be shorter.
const MAX_WORK_AT_ONCE: u64 = 1 << 19;
/// The ends of this many tokens before the limit are considered as positions where the tokens of a
/// longer prefix begin to differ.
const TOKENS_BEFORE: usize = 16;
/// This many bytes of white space after a prefix are tried first.
const WHITE_SPACE: usize = 64;

/// This many characters of white space after a prefix are searched for an added token that includes
/// the white space before it.
const SPACES_BEFORE_TOKEN: usize = 1024;

/// The length in bytes of the white space that a text starts with, up to `most` characters of it.
fn white_space(text: &str, most: usize) -> usize {
    text.chars().take(most).take_while(|c| c.is_whitespace()).map(char::len_utf8).sum()
}

/// A prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundPrefix {
    /// Its length in bytes.
    pub(crate) length: usize,
    /// The number of tokens, without special tokens.
    pub(crate) tokens: usize,
}

impl Prefixes<'_> {
    /// The longest prefix that has at most `room` tokens, without special tokens.
    pub(crate) fn longest(&mut self, encoder: &mut Encoder, room: usize) -> Result<FoundPrefix, EncodeError> {
        let found = self.longest_unverified(encoder, room)?;
        self.verify(encoder, found, room)
    }

    /// Like [`Self::longest`], but the caller must pass the result to [`Self::verify`].
    pub(crate) fn longest_unverified(
        &mut self,
        encoder: &mut Encoder,
        room: usize,
    ) -> Result<FoundPrefix, EncodeError> {
        if self.is_hasty {
            return self.longest_at_little_cost(encoder, room);
        }
        let before = encoder.work;
        self.grow(encoder, room.saturating_add(TOKENS_BEYOND + 1))?;
        let words = &self.made.word_ids;
        let needs_word = self.tokenizer.pipeline.model.matches_whole_words();
        if needs_word && words.len() > room && words.last() == words.get(room) {
            // The end of the word that contains the limit may not be known yet.
            self.grow(encoder, room.saturating_add(CHARACTERS_BACK + 1))?;
        }
        let is_whole = self.covered == self.text.len();
        if is_whole && self.made.len() <= room {
            return Ok(FoundPrefix { length: self.text.len(), tokens: self.made.len() });
        }
        let most = self.encoded + MAX_ENCODED_AT_ONCE + self.covered / 2;
        self.max_work = encoder.work + (encoder.work - before) / 2 + MAX_WORK_AT_ONCE;
        self.search(encoder, room, most)
    }

    /// A prefix within the limit that ends with one of the last tokens of the text, found by
    /// encoding about as much text as it has twice. Usually it is the longest one, or a few
    /// characters shorter. If it is not empty, it has been counted as a whole.
    fn longest_at_little_cost(&mut self, encoder: &mut Encoder, room: usize) -> Result<FoundPrefix, EncodeError> {
        self.grow_at_once(encoder, room.saturating_add(1))?;
        if self.covered == self.text.len() && self.made.len() <= room {
            return Ok(FoundPrefix { length: self.text.len(), tokens: self.made.len() });
        }
        let offsets = &self.made.offsets;
        let is_between = |&at: &usize| {
            at == 0 || offsets[at][0] >= offsets[at - 1][1] && self.text.is_char_boundary(offsets[at - 1][1] as usize)
        };
        let tokens = (0..=room).rev().find(is_between).unwrap_or(0);
        let end = tokens.checked_sub(1).map_or(0, |last| offsets[last][1] as usize);
        let first = self.text.chars().next().map_or(0, char::len_utf8);
        let count = |prefixes: &mut Self, length| prefixes.count_whole(encoder, length, room);
        let found = self.shorter_by_tokens(end, count, room)?;
        if found.length > 0 {
            return Ok(found);
        }
        let tokens = self.count_whole(encoder, first, room)?;
        Ok(if tokens <= room { FoundPrefix { length: first, tokens } } else { found })
    }

    /// Counts a prefix as a whole if [`Self::count`] is not known to be exact. Returns a shorter
    /// prefix if this one exceeds the limit.
    pub(crate) fn verify(
        &mut self,
        encoder: &mut Encoder,
        found: FoundPrefix,
        room: usize,
    ) -> Result<FoundPrefix, EncodeError> {
        let is_of_whole_text = self.is_of_one_piece && self.covered == self.text.len();
        let is_counted_whole = is_of_whole_text && found.length == self.covered && found.tokens == self.made.len();
        if is_counted_whole || self.is_hasty || self.is_counted_exactly(found.length) {
            return Ok(found);
        }
        let tokens = self.count_whole(encoder, found.length, room)?;
        if tokens <= room {
            return Ok(FoundPrefix { tokens, ..found });
        }
        let count = |prefixes: &mut Self, length| prefixes.count_whole(encoder, length, room);
        self.shorter_by_tokens(found.length.saturating_sub(1), count, room)
    }

    /// Finds the longest prefix of a text that exceeds the limit. Encodes about `most` bytes at
    /// most.
    fn search(&mut self, encoder: &mut Encoder, room: usize, most: usize) -> Result<FoundPrefix, EncodeError> {
        let edge = room.checked_sub(1).map_or(0, |last| self.made.offsets[last][1] as usize);
        let tokenizer = self.tokenizer;
        let found = match tokenizer.reach() {
            _ if !self.places_are_known || self.is_shifted => {
                let found = self.shorter(encoder, self.start_of_word(room), room, most)?;
                self.bisect(encoder, found, room)?
            }
            _ if self.ends_word(edge, room) => FoundPrefix { length: edge, tokens: room },
            Some(reach) if self.is_read_as_it_stands(edge) => {
                if self.is_settled(edge, room) {
                    FoundPrefix { length: edge, tokens: room }
                } else {
                    let found = self.shorter(encoder, edge, room, most)?;
                    match self.longer(encoder, reach, found, room, most)? {
                        Some(found) => found,
                        None => self.below_top(encoder, edge, room, most)?,
                    }
                }
            }
            _ => self.below_top(encoder, edge, room, most)?,
        };
        let vanishes = tokenizer.text_can_vanish();
        let mut found = if vanishes { self.with_dropped_text(encoder, found, room)? } else { found };
        loop {
            if vanishes {
                found = self.with_white_space(encoder, found, room)?;
            }
            match self.with_hidden_token(encoder, found, room)? {
                Some(longer) => found = longer,
                None => return Ok(found),
            }
        }
    }

    /// Whether the first `room` tokens end at `edge`, and so does a word in every longer prefix.
    fn ends_word(&mut self, edge: usize, room: usize) -> bool {
        let (offsets, words) = (&self.made.offsets, &self.made.word_ids);
        let ends_word = room > 0 && words[room] != words[room - 1] && offsets[room][0] as usize >= edge;
        ends_word && self.is_plain_space(edge)
    }

    /// Whether `room` tokens end at `edge` in every prefix of at least that length.
    fn is_settled(&self, edge: usize, room: usize) -> bool {
        let (offsets, words) = (&self.made.offsets, &self.made.word_ids);
        let Some(bpe) = self.tokenizer.pipeline.model.bpe() else { return false };
        if room == 0 || offsets[room][0] as usize != edge || !self.counts_ends_exactly {
            return false;
        }
        // At the end of a prefix an added token can be found that the whole text does not have: one
        // that has to be a word by itself, or that is part of a longer one.
        if self.tokenizer.pipeline.added_tokens.may_end(&self.text[..edge]) {
            return false;
        }
        if self.tokenizer.pipeline.spaces.is_some() {
            return bpe.split_points.as_ref().is_some_and(|points| points.splits_at(&bpe.alphabet, self.text, edge));
        }
        words[room] != words[room - 1]
            && self.text.is_char_boundary(edge)
            && self.text[..edge].ends_with(char::is_alphanumeric)
    }

    /// Whether the model reads the text near a position unchanged.
    fn is_read_as_it_stands(&mut self, place: usize) -> bool {
        let pipeline = &self.tokenizer.pipeline;
        if pipeline.normalizer.is_none() || pipeline.spaces.is_some() {
            return true;
        }
        let start = self.text.floor_char_boundary(place.saturating_sub(NEAR));
        let end = self.text.ceil_char_boundary((place + NEAR).min(self.text.len()));
        self.look(place + NEAR + MAX_CHARACTER_BYTES);
        self.is_normalized(start..end)
    }

    /// Whether the normalizer leaves a part of the text unchanged. The part has a bounded length,
    /// so a budget of its own keeps the total cost linear.
    pub(super) fn is_normalized(&self, part: Range<usize>) -> bool {
        let mut budget = Budget::of_text(part.len());
        let normalizer = self.tokenizer.pipeline.normalizer.as_ref();
        normalizer.is_none_or(|normalizer| normalizer.leaves(&self.text[part], &mut budget))
    }

    /// For normalized text: the end of the longest prefix that is counted.
    fn top(&mut self, edge: usize, room: usize) -> usize {
        let end_of_word = self.end_of_word(room);
        let is_known = end_of_word < self.covered && self.is_plain_space(end_of_word);
        let start_of = |token: usize| self.made.offsets.get(token).map_or(self.covered, |offset| offset[0] as usize);
        // The text between two tokens vanishes, or was composed with the first of them.
        let first = self.text.floor_char_boundary(edge.max(start_of(room)));
        if is_known {
            // All of the word exceeds the limit.
            return first.max(self.text.floor_char_boundary(end_of_word - 1));
        }
        if self.tokenizer.pipeline.model.matches_whole_words() {
            return self.text.ceil_char_boundary(first.max(end_of_word));
        }
        let mut ends = self.text[first..].char_indices().skip(1).map(|(at, _)| first + at);
        let end = ends.nth(CHARACTERS_BEYOND - 1).unwrap_or(self.text.len());
        self.text.floor_char_boundary(end.min(first.max(start_of(room + TOKENS_BEYOND))))
    }

    /// The longest prefix within the limit that ends at or before [`Self::top`].
    fn below_top(
        &mut self,
        encoder: &mut Encoder,
        edge: usize,
        room: usize,
        most: usize,
    ) -> Result<FoundPrefix, EncodeError> {
        let top = self.top(edge, room);
        let found = self.shorter(encoder, top, room, most)?;
        if found.length == top { self.next_ones(encoder, found, room, most) } else { Ok(found) }
    }

    /// The longest prefix within the limit that ends at or before `end`.
    fn shorter(
        &mut self,
        encoder: &mut Encoder,
        end: usize,
        room: usize,
        most: usize,
    ) -> Result<FoundPrefix, EncodeError> {
        let mut length = self.text.floor_char_boundary(end);
        let mut tried = 0;
        while length > 0 && tried < CHARACTERS_BACK && self.encoded < most && encoder.work < self.max_work {
            let tokens = self.count(encoder, length)?;
            if tokens <= room {
                return Ok(FoundPrefix { length, tokens });
            }
            tried += 1;
            length = self.text.floor_char_boundary(length - 1);
        }
        self.shorter_by_tokens(length, |prefixes, length| prefixes.count(encoder, length), room)
    }

    /// One of the longest prefixes within the limit that end at or before `end`, found in steps of
    /// a growing number of tokens.
    fn shorter_by_tokens(
        &mut self,
        end: usize,
        mut count: impl FnMut(&mut Self, usize) -> Result<usize, EncodeError>,
        room: usize,
    ) -> Result<FoundPrefix, EncodeError> {
        let mut token = self.made.offsets.partition_point(|offset| (offset[1] as usize) < end);
        let mut step = 1;
        while token > 0 {
            let length = self.text.floor_char_boundary(self.made.offsets[token - 1][1] as usize).min(end);
            let tokens = count(self, length)?;
            if tokens <= room {
                return Ok(FoundPrefix { length, tokens });
            }
            token = token.saturating_sub(step);
            step *= 2;
        }
        Ok(FoundPrefix { length: 0, tokens: 0 })
    }

    /// The longest prefix within the limit that is at least as long as `found`, as far as tokens
    /// can reach. `None` if one unknown token may cover any text there.
    fn longer(
        &mut self,
        encoder: &mut Encoder,
        reach: &Reach,
        mut found: FoundPrefix,
        room: usize,
        most: usize,
    ) -> Result<Option<FoundPrefix>, EncodeError> {
        let mut ends = vec![];
        while found.length < self.text.len() && self.encoded < most && encoder.work < self.max_work {
            let mut last_ends = self.last_ends(found);
            let near = self.around(reach, found.length, last_ends.first().unwrap_or(found.length));
            let pipeline = &self.tokenizer.pipeline;
            if !reach.knows(pipeline, &self.text[near.clone()]) {
                return Ok(None);
            }
            last_ends.cut(near.start);
            last_ends.starts_anywhere = !self.is_spelled(near.clone());
            let slack = room - found.tokens;
            let text = &self.text[..near.end];
            let seen = reach.ends_after(pipeline, text, found.length, &last_ends, slack, &mut ends);
            self.look(seen);
            let mut next = None;
            for &length in ends.iter().rev() {
                let tokens = self.count(encoder, length)?;
                if tokens <= room {
                    next = Some(FoundPrefix { length, tokens });
                    break;
                }
            }
            match next {
                Some(next) => found = next,
                None => break,
            }
        }
        Ok(Some(found))
    }

    /// The text around the end of a prefix that the tokens can cover in which longer prefixes
    /// differ: from `first` on, as far as a token reaches beyond `end`, and not across a space that
    /// ends a word in each of these prefixes.
    fn around(&mut self, reach: &Reach, end: usize, first: usize) -> Range<usize> {
        let far = self.text.ceil_char_boundary((end + reach.max_len()).min(self.text.len()));
        let mut near = self.text.floor_char_boundary(first)..far;
        if self.ends_words_at_spaces {
            if let Some(space) = (near.start..=end).rev().find(|&place| self.is_plain_space(place)) {
                near.start = space + usize::from(!self.tokenizer.pipeline.pretokenizer.drops_nothing());
            }
            if let Some(space) = (end + 1..far).find(|&place| self.is_plain_space(place)) {
                near.end = space;
            }
        }
        self.look(near.end + MAX_CHARACTER_BYTES);
        near
    }

    /// Whether tokens cover all of a part of the text.
    fn is_spelled(&self, part: Range<usize>) -> bool {
        let has_space = || self.text[part.clone()].trim_start_matches(' ').contains(char::is_whitespace);
        !self.tokenizer.text_can_vanish()
            || self.tokenizer.pipeline.pretokenizer.drops_only_white_space() && !has_space() && self.is_normalized(part)
    }

    /// Where the last tokens of a prefix end. It is the prefix that was counted last.
    fn last_ends(&self, found: FoundPrefix) -> LastEnds {
        // Nothing is counted to know that the empty prefix has no tokens.
        let Counted { local, made } =
            if found.length == 0 { Counted { local: self.local.len(), made: 0 } } else { self.counted };
        let place = |offset: &[u32; 2]| offset[1] as usize;
        let tokens = self.local.offsets[local..].iter().rev().chain(self.made.offsets[..made].iter().rev());
        let mut ends = vec![Some(found.length)];
        let mut next_start = found.length;
        for (number, token) in tokens.take(TOKENS_BEFORE + 1).enumerate() {
            if number > 0 {
                ends.push(Some(place(token)).filter(|&end| end <= next_start));
            }
            next_start = token[0] as usize;
        }
        if found.tokens <= TOKENS_BEFORE {
            ends.push(Some(0));
        }
        LastEnds { ends, starts_anywhere: false }
    }

    /// The same as [`Self::longer`], character by character, for normalized text.
    fn next_ones(
        &mut self,
        encoder: &mut Encoder,
        mut found: FoundPrefix,
        room: usize,
        most: usize,
    ) -> Result<FoundPrefix, EncodeError> {
        let next = |text: &str, length: usize| text[length..].chars().next().map(|c| length + c.len_utf8());
        let mut tried = 0;
        while let Some(length) = next(self.text, found.length) {
            if tried == CHARACTERS_BEYOND || self.encoded >= most || encoder.work >= self.max_work {
                break;
            }
            tried += 1;
            match self.count(encoder, length)? {
                tokens if tokens <= room => found = FoundPrefix { length, tokens },
                _ => break,
            }
        }
        Ok(found)
    }

    /// Extends a prefix by the text after it that has no token, if it is then still within the
    /// limit.
    fn with_dropped_text(
        &mut self,
        encoder: &mut Encoder,
        found: FoundPrefix,
        room: usize,
    ) -> Result<FoundPrefix, EncodeError> {
        let next = self.made.offsets.get(found.tokens).map_or(self.covered, |offset| offset[0] as usize);
        let length = self.text.floor_char_boundary(next);
        if length <= found.length {
            return Ok(found);
        }
        self.look(length + MAX_CHARACTER_BYTES);
        let tokens = self.count(encoder, length)?;
        Ok(if tokens <= room { FoundPrefix { length, tokens } } else { found })
    }

    /// Extends a prefix by the white space after it, as far as it is still within the limit: the
    /// normalizer may strip white space.
    fn with_white_space(
        &mut self,
        encoder: &mut Encoder,
        mut found: FoundPrefix,
        room: usize,
    ) -> Result<FoundPrefix, EncodeError> {
        let mut step = WHITE_SPACE;
        loop {
            let rest = &self.text[found.length..];
            let near = &rest[..rest.floor_char_boundary(step)];
            let length = found.length + near.len() - near.trim_start().len();
            self.look(found.length + near.len() + MAX_CHARACTER_BYTES);
            if length == found.length {
                return Ok(found);
            }
            match self.count(encoder, length)? {
                tokens if tokens <= room => found = FoundPrefix { length, tokens },
                _ => return Ok(found),
            }
            step *= 2;
        }
    }

    /// Extends a prefix so that it ends with an added token that the known tokens do not show. One
    /// that has to be a word by itself is found at the end of a prefix although the text continues
    /// with a letter. One that includes the white space before it is not among the known tokens if
    /// these end within it.
    fn with_hidden_token(
        &mut self,
        encoder: &mut Encoder,
        found: FoundPrefix,
        room: usize,
    ) -> Result<Option<FoundPrefix>, EncodeError> {
        let bytes = self.text.as_bytes();
        let mut ends = vec![];
        let mut spaces = None;
        for token in &self.hidden_tokens {
            let content = token.content.as_str();
            // With `lstrip`, the token includes the white space before it, so it can start after
            // white space that follows the prefix. If that is longer than SPACES_BEFORE_TOKEN, the
            // prefix can be shorter than the longest one.
            let spaces = match token.lstrip {
                true => *spaces.get_or_insert_with(|| white_space(&self.text[found.length..], SPACES_BEFORE_TOKEN)),
                false => 0,
            };
            let last = found.length + spaces;
            self.seen = self.seen.max((last + content.len()).min(bytes.len()));
            let is_there = |&start: &usize| bytes[start..].starts_with(content.as_bytes());
            let starts = (found.length + 1).saturating_sub(content.len())..=found.length;
            // White space at the start of the content can be a part of that white space.
            let start_after_spaces = last.saturating_sub(white_space(content, content.len()));
            let starts = starts.chain((start_after_spaces > found.length).then_some(start_after_spaces));
            ends.extend(starts.filter(is_there).map(|start| start + content.len()));
        }
        ends.sort_unstable();
        ends.dedup();
        for &length in ends.iter().rev() {
            let tokens = self.count(encoder, length)?;
            if tokens <= room {
                return Ok(Some(FoundPrefix { length, tokens }));
            }
        }
        Ok(None)
    }

    /// The start of the word that contains a token.
    fn start_of_word(&self, token: usize) -> usize {
        let words = &self.made.word_ids;
        let first = words[..token].iter().rev().take_while(|&&word| word == words[token]).count();
        self.made.offsets[token - first][0] as usize
    }

    /// The end of the word that contains a token, as far as the text is encoded.
    fn end_of_word(&self, token: usize) -> usize {
        let words = &self.made.word_ids;
        let Some(word) = words.get(token) else { return self.covered };
        let tokens = words[token..].iter().take_while(|&other| other == word).count();
        self.made.offsets[token + tokens - 1][1] as usize
    }

    /// The longest prefix within the limit that is at least as long as `found`, by bisection. This
    /// assumes that longer prefixes have more tokens; a few prefixes that are slightly longer are
    /// tried in case they do not.
    fn bisect(
        &mut self,
        encoder: &mut Encoder,
        mut found: FoundPrefix,
        room: usize,
    ) -> Result<FoundPrefix, EncodeError> {
        let mut step = *CHUNK.start();
        let mut beyond;
        loop {
            if found.length == self.text.len() {
                return Ok(found);
            }
            beyond = self.text.ceil_char_boundary((found.length + step).min(self.text.len()));
            match self.count(encoder, beyond)? {
                tokens if tokens <= room => found = FoundPrefix { length: beyond, tokens },
                _ => break,
            }
            step *= 2;
        }
        loop {
            let middle = self.text.floor_char_boundary(found.length + (beyond - found.length) / 2);
            if middle == found.length {
                break;
            }
            if encoder.work >= self.max_work {
                return Ok(found);
            }
            match self.count(encoder, middle)? {
                tokens if tokens <= room => found = FoundPrefix { length: middle, tokens },
                _ => beyond = middle,
            }
        }
        // Where text vanishes, a prefix can have fewer tokens than one that is much shorter.
        let after = if self.tokenizer.text_can_vanish() { CHARACTERS_BEYOND } else { CHARACTERS_AFTER };
        while let Some(longer) = self.slightly_longer(encoder, found, room, after)? {
            found = longer;
        }
        Ok(found)
    }

    /// The longest prefix within the limit that is longer than `found` by up to `after` characters.
    fn slightly_longer(
        &mut self,
        encoder: &mut Encoder,
        found: FoundPrefix,
        room: usize,
        after: usize,
    ) -> Result<Option<FoundPrefix>, EncodeError> {
        let rest = self.text[found.length..].char_indices();
        let ends: Vec<usize> = rest.map(|(at, c)| found.length + at + c.len_utf8()).take(after).collect();
        for length in ends.into_iter().rev() {
            if encoder.work >= self.max_work {
                break;
            }
            let tokens = self.count(encoder, length)?;
            if tokens <= room {
                return Ok(Some(FoundPrefix { length, tokens }));
            }
        }
        Ok(None)
    }
}
