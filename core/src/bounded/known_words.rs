//! The words of a text that is split, encoded ahead of its pieces. Most pieces start and end in
//! short words of ordinary text; the tokens of such a piece are known without encoding it.
//!
//! This holds for BPE on bytes with a pattern that a scanner matches. Such a pattern decides where
//! a word ends by the word itself and the character after it, except for white space: `\s+(?!\S)`
//! and `\s++$` depend on how the text continues. Let a *firm* end be the end of a word whose last
//! character is not white space. Then:
//!
//! - A firm end ends a word in every part of the text that contains the word and starts where the
//!   word or a word before it starts, unless the part ends within an added token that follows.
//! - The words after a word start do not depend on the text before it. So if a part of the text
//!   starts within a word, and one of its words ends at a firm end of the text, then all further
//!   words of both are the same.
//! - So a part that starts at a firm end, and ends at one, has the tokens that the text has between
//!   them. If it ends within a word, only the tokens from the last firm end on are its own.
//!
//! The longest prefix of a text with at most `room` tokens: let the first token too many be between
//! two adjacent firm ends. Every prefix that ends at or after the second one exceeds the limit, and
//! the prefix that ends at the first one is within it. So only prefixes that end between them have
//! to be counted.
//!
//! Affects speed only. Where this does not help, because words are long or are added tokens, or
//! because a normalizer changes the text, [`Prefixes`] finds the piece.
//!
//! [`Prefixes`]: super::prefixes::Prefixes

use super::longest::FoundPrefix;
use crate::added_tokens::SearchStage;
use crate::bpe::Alphabet;
use crate::encoder::plain_words::PlainWords;
use crate::encoder::{Encoder, Plan};
use crate::encoding::Columns;
use crate::error::EncodeError;
use crate::memory::Grow;
use crate::pretokenizer::scanner::Scanner;
use crate::tokenizer::Tokenizer;

/// The size of the first chunk that is encoded ahead, in bytes, and of the largest one. Tests have
/// short texts.
const CHUNK: std::ops::RangeInclusive<usize> = if cfg!(test) { 1..=512 } else { 1 << 10..=64 << 10 };
/// After a chunk whose words are not known, at least this many chunks are left to `Prefixes`.
const SKIPPED_CHUNKS: usize = if cfg!(test) { 1 } else { 16 };
/// The words in this many bytes at the end of a chunk depend on the text after it. More if an added
/// token is longer.
const MIN_MARGIN: usize = 32;
/// The number of tokens beyond the limit that are known, so that the next words are.
const TOKENS_BEYOND: usize = 32;
/// The maximum number of prefixes that are counted to find the longest one.
const MAX_COUNTED: usize = 12;
/// The maximum length of a part of a word that is encoded separately, in bytes.
const MAX_PART: usize = 256;

/// The tokens of a text around the current piece. See the module documentation.
#[derive(Debug)]
pub(crate) struct KnownWords<'a> {
    tokenizer: &'a Tokenizer,
    scanner: Scanner,
    plan: Plan,
    text: &'a str,
    margin: usize,
    /// The start of the current piece.
    start: usize,
    /// The end of the known tokens: the start of the piece, a firm end, or the end of the text.
    covered: usize,
    /// The end of each token of `text[start..covered]`, from index `first` on. The rest is
    /// unused.
    token_ends: Vec<u32>,
    first: usize,
    /// The ends of words, and of those of them that are added tokens. Those at or before `start`
    /// are unused.
    word_ends: Vec<u32>,
    added_ends: Vec<u32>,
    /// The size of the next chunk in bytes. Doubles with each chunk whose words are known.
    chunk_bytes: usize,
    /// After a chunk whose words are not known, the text up to here is left to `Prefixes`.
    unknown_until: usize,
    /// The size of that text in bytes. Doubles with each such chunk.
    unknown_bytes: usize,
    chunk: PlainWords,
    /// The ids of a part of a word.
    part: Vec<u32>,
    /// The current piece: its end, and the number of its tokens that are known.
    end: usize,
    tokens: usize,
}

impl<'a> KnownWords<'a> {
    /// `None` if the tokenizer does not read plain words, or if it has long added tokens.
    pub(crate) fn new(tokenizer: &'a Tokenizer, plan: &Plan, text: &'a str) -> Option<Self> {
        let scanner = tokenizer.pipeline.scanner.filter(|_| tokenizer.reads_plain_words())?;
        let longest = tokenizer.pipeline.added_tokens.tokens().iter().map(|token| token.content.len()).max();
        let margin = Some(longest.unwrap_or(0).max(MIN_MARGIN)).filter(|&margin| margin <= MAX_PART)?;
        Some(Self {
            tokenizer,
            scanner,
            plan: Plan { columns: Columns::NONE, ..plan.clone() },
            text,
            margin,
            start: 0,
            covered: 0,
            token_ends: vec![],
            first: 0,
            word_ends: vec![],
            added_ends: vec![],
            chunk_bytes: *CHUNK.start(),
            unknown_until: 0,
            unknown_bytes: 0,
            chunk: PlainWords::default(),
            part: vec![],
            end: 0,
            tokens: 0,
        })
    }

    /// The longest prefix of `text[start..]` that has at most `room` tokens. `None` if it is not
    /// known.
    pub(crate) fn longest(
        &mut self,
        encoder: &mut Encoder,
        start: usize,
        room: usize,
    ) -> Result<Option<FoundPrefix>, EncodeError> {
        if !self.seek(encoder, start)? || !self.grow(encoder, room.saturating_add(TOKENS_BEYOND))? {
            return Ok(None);
        }
        let known = self.token_ends.len() - self.first;
        if known <= room {
            return Ok(Some(self.found(self.text.len(), known)));
        }
        let place = self.place_of(room);
        let Some((from, to)) = self.firm_ends_around(place) else { return Ok(None) };
        let tokens = self.tokens_up_to(from);
        if tokens < room {
            // Usually, the prefix that ends with the last token within the limit is the longest.
            let after = self.text[self.text.floor_char_boundary(place)..to].chars().count();
            if after > MAX_COUNTED {
                return Ok(None);
            }
            let ends = self.text[from..to].char_indices().rev().map(|(at, _)| from + at).take_while(|&end| end > from);
            for (tried, end) in ends.enumerate() {
                if tried > MAX_COUNTED {
                    return Ok(None);
                }
                let part = self.encode_part(encoder, from, end)?;
                if tokens + part <= room {
                    return Ok(Some(self.found(end, tokens + part)));
                }
            }
        }
        self.part.clear();
        Ok((from > start).then(|| self.found(from, tokens)))
    }

    /// The number of tokens of the piece's first `length` bytes. `None` if it is not known.
    pub(crate) fn count(&mut self, encoder: &mut Encoder, length: usize) -> Result<Option<usize>, EncodeError> {
        let end = self.start + length;
        if end > self.covered {
            return Ok(None);
        }
        if self.is_firm(end) {
            self.part.clear();
            return Ok(Some(self.found(end, self.tokens_up_to(end)).tokens));
        }
        let Some((from, _)) = self.firm_ends_around(end - 1) else { return Ok(None) };
        let tokens = self.tokens_up_to(from) + self.encode_part(encoder, from, end)?;
        Ok(Some(self.found(end, tokens).tokens))
    }

    /// The start of each of the last `tokens` tokens of the piece that was counted last, relative
    /// to its start. A token that starts within a character has the start of that character.
    pub(crate) fn last_starts(&self, tokens: usize) -> Vec<usize> {
        let mut place = self.end;
        let of_part = self.part.iter().rev().map(|&id| {
            place -= self.tokenizer.pipeline.token_len(id) as usize;
            place
        });
        let known = self.tokens - self.part.len();
        let starts = of_part.chain((0..known).rev().map(|token| self.place_of(token))).take(tokens);
        starts.map(|start| self.text.floor_char_boundary(start) - self.start).collect()
    }

    /// The number of tokens of the end of that piece, from byte `from` of the piece on. `None` if
    /// it is not known.
    pub(crate) fn count_end(&mut self, encoder: &mut Encoder, from: usize) -> Result<Option<usize>, EncodeError> {
        let from = self.start + from;
        if self.is_firm(from) && from + self.part_len() <= self.end {
            return Ok(Some(self.tokens - self.tokens_up_to(from)));
        }
        let next_added = self.added_ends.partition_point(|&end| end as usize <= from);
        // The piece ends before the next added token starts if it does not contain its end.
        let is_plain = self.added_ends.get(next_added).is_none_or(|&end| end as usize >= self.end + self.margin);
        if !is_plain || self.end - from > MAX_PART {
            return Ok(None);
        }
        let kept = std::mem::take(&mut self.part);
        let counted = self.encode_part(encoder, from, self.end);
        self.part = kept;
        counted.map(Some)
    }

    /// The length of the end of the piece whose tokens are in `part`.
    fn part_len(&self) -> usize {
        self.part.iter().map(|&id| self.tokenizer.pipeline.token_len(id) as usize).sum()
    }

    fn found(&mut self, end: usize, tokens: usize) -> FoundPrefix {
        (self.end, self.tokens) = (end, tokens);
        FoundPrefix { length: end - self.start, tokens }
    }

    /// Moves to the piece that starts at `start`. Returns false if nothing is known of it.
    fn seek(&mut self, encoder: &mut Encoder, start: usize) -> Result<bool, EncodeError> {
        self.part.clear();
        if start < self.unknown_until {
            return Ok(false);
        }
        if start == self.start && self.covered > start {
            return Ok(true);
        }
        if start < self.start || start >= self.covered {
            self.restart(start);
            return Ok(true);
        }
        if self.is_firm(start) {
            self.first = self.index_of(start);
            self.start = start;
            self.drop_unused();
            return Ok(true);
        }
        self.enter_word(encoder, start)
    }

    /// Moves to a piece that starts within a known word: replaces the tokens up to the next firm
    /// end that the piece has too.
    fn enter_word(&mut self, encoder: &mut Encoder, start: usize) -> Result<bool, EncodeError> {
        let next = self.word_ends.partition_point(|&end| end as usize <= start);
        let Some(&end) = self.word_ends.get(next) else { return Ok(false) };
        if end as usize - start > MAX_PART {
            return Ok(false);
        }
        let to = self.text.ceil_char_boundary((end as usize + 2 * self.margin).min(self.text.len()));
        let (tokenizer, part) = (self.tokenizer, &self.text[start..to]);
        encoder.encode_plain_words(&tokenizer.pipeline, part, &self.plan, &mut self.chunk)?;
        let mut ends = vec![];
        if !self.chunk.push_token_ends(&tokenizer.pipeline, start, part.len(), &mut ends) {
            return Ok(false);
        }
        let certain = if to == self.text.len() { to } else { to - self.margin };
        let is_shared = |&end: &usize| end <= certain && self.is_firm(end);
        let own_ends = self.chunk.ends().iter().map(|&end| start + end as usize);
        let Some(shared) = own_ends.clone().find(is_shared) else { return Ok(false) };
        let own_words = own_ends.take_while(|&end| end < shared).map(|end| end as u32);
        let own_added = self.chunk.added_ends().map(|end| start as u32 + end).filter(|&end| (end as usize) < shared);
        let own_tokens = ends.partition_point(|&end| end as usize <= shared);
        let next = self.index_of(shared);
        // The tokens of the piece before are more than enough space, unless pieces are very short.
        let Some(first) = next.checked_sub(own_tokens) else { return Ok(false) };
        self.token_ends[first..next].copy_from_slice(&ends[..own_tokens]);
        self.first = first;
        self.word_ends.grow(own_words.clone().count());
        self.word_ends.splice(between(&self.word_ends, start, shared), own_words);
        self.added_ends.grow(own_added.clone().count());
        self.added_ends.splice(between(&self.added_ends, start, shared), own_added);
        self.start = start;
        self.drop_unused();
        Ok(true)
    }

    fn restart(&mut self, start: usize) {
        (self.start, self.covered, self.first) = (start, start, 0);
        self.token_ends.clear();
        self.word_ends.clear();
        self.added_ends.clear();
    }

    /// Drops what is unused if it is more than the rest, so that dropping costs little.
    fn drop_unused(&mut self) {
        if self.first <= self.token_ends.len() / 2 {
            return;
        }
        self.token_ends.drain(..self.first);
        self.first = 0;
        for ends in [&mut self.word_ends, &mut self.added_ends] {
            ends.drain(..ends.partition_point(|&end| end as usize <= self.start));
        }
    }

    /// Encodes further chunks until the piece has `tokens` known tokens or the text ends. Returns
    /// false if a chunk has no firm end, or is changed by the normalizer.
    fn grow(&mut self, encoder: &mut Encoder, tokens: usize) -> Result<bool, EncodeError> {
        while self.token_ends.len() - self.first < tokens && self.covered < self.text.len() {
            let end = self.covered + self.chunk_bytes.max(4 * self.margin);
            let end = self.text.ceil_char_boundary(end.min(self.text.len()));
            let (tokenizer, chunk) = (self.tokenizer, &self.text[self.covered..end]);
            let is_certain = |place: usize| place + self.margin <= chunk.len() || end == self.text.len();
            // In a very long word, encoding chunks would be of no use.
            let is_first = self.covered == self.start;
            if is_first && !encoder.has_word_end(self.scanner, chunk, is_certain) {
                self.skip_unknown();
                return Ok(false);
            }
            encoder.encode_plain_words(&tokenizer.pipeline, chunk, &self.plan, &mut self.chunk)?;
            let known = self.token_ends.len();
            let is_plain =
                self.chunk.push_token_ends(&tokenizer.pipeline, self.covered, chunk.len(), &mut self.token_ends);
            let ends = self.chunk.ends().iter().map(|&place| self.covered + place as usize);
            let covered = match end == self.text.len() {
                true => Some(end),
                false => {
                    let is_covered = |place: usize| place + self.margin <= end && self.is_firm_at(place);
                    ends.rev().find(|&place| is_covered(place) && self.starts_apart(place))
                }
            };
            let Some(covered) = covered.filter(|_| is_plain) else {
                self.token_ends.truncate(known);
                self.skip_unknown();
                return Ok(false);
            };
            self.unknown_bytes = 0;
            self.chunk_bytes = (2 * self.chunk_bytes).min(*CHUNK.end());
            self.token_ends.truncate(self.index_of(covered));
            let base = self.covered as u32;
            let is_before = |place: &u32| *place as usize <= covered;
            self.word_ends.grow(self.chunk.ends().len());
            self.word_ends.extend(self.chunk.ends().iter().map(|place| base + place).take_while(is_before));
            self.added_ends.grow(self.chunk.added_ends().len());
            self.added_ends.extend(self.chunk.added_ends().map(|place| base + place).take_while(is_before));
            self.covered = covered;
        }
        Ok(true)
    }

    /// Leaves the text after `covered` to `Prefixes`.
    fn skip_unknown(&mut self) {
        let [least, most] = [*CHUNK.start(), *CHUNK.end()].map(|bytes| SKIPPED_CHUNKS * bytes);
        self.chunk_bytes = *CHUNK.start();
        self.unknown_bytes = (2 * self.unknown_bytes).clamp(least, most);
        self.unknown_until = self.covered + self.unknown_bytes;
    }

    /// The index of the first token of the piece that ends after `place`.
    fn index_of(&self, place: usize) -> usize {
        self.first + self.token_ends[self.first..].partition_point(|&end| end as usize <= place)
    }

    /// The number of the piece's known tokens that end at or before `place`.
    fn tokens_up_to(&self, place: usize) -> usize {
        self.index_of(place) - self.first
    }

    /// The start of a known token of the piece.
    fn place_of(&self, token: usize) -> usize {
        token.checked_sub(1).map_or(self.start, |before| self.token_ends[self.first + before] as usize)
    }

    /// The last firm end at or before a position, or the start of the piece, and the first firm end
    /// after it. `None` if there is much text between them, or if they or the next end belong to
    /// an added token.
    fn firm_ends_around(&self, place: usize) -> Option<(usize, usize)> {
        let next = self.word_ends.partition_point(|&end| end as usize <= place);
        let is_near = |&end: &usize| end.abs_diff(place) <= MAX_PART;
        let mut ends_after = self.word_ends[next..].iter().map(|&end| end as usize).take_while(is_near);
        let to = ends_after.find(|&end| self.is_firm_at(end))?;
        // If a part of the text ends within an added token, its words can continue into it.
        let next_end = if to == self.text.len() { to } else { ends_after.next()? };
        let ends_before = self.word_ends[..next].iter().rev().map(|&end| end as usize);
        let mut ends_before = ends_before.take_while(|&end| end > self.start).chain([self.start]).take_while(is_near);
        let from = ends_before.find(|&end| end == self.start || self.is_firm_at(end))?;
        between(&self.added_ends, from, next_end + 1).is_empty().then_some((from, to))
    }

    /// Whether a position is a firm end of a known word, or the start of the piece.
    fn is_firm(&self, place: usize) -> bool {
        place == self.start || self.is_firm_at(place) && self.word_ends.binary_search(&(place as u32)).is_ok()
    }

    /// Whether the character at a position certainly stays apart from the text before it, so that
    /// what no Unicode form changes on either side is unchanged as a whole.
    fn starts_apart(&self, place: usize) -> bool {
        let is_base = |c: char| matches!(c, ..'\u{300}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}');
        self.tokenizer.pipeline.normalizer.is_none() || self.text[place..].starts_with(is_base)
    }

    /// Whether the end of a word is firm.
    fn is_firm_at(&self, end: usize) -> bool {
        end == self.text.len() || !self.text[..end].ends_with(char::is_whitespace)
    }

    /// Encodes a part of the text that starts at the start of a word. Returns the number of tokens.
    fn encode_part(&mut self, encoder: &mut Encoder, from: usize, to: usize) -> Result<usize, EncodeError> {
        self.part.clear();
        encoder.encode_part(&self.tokenizer.pipeline, self.scanner, &self.text[..to], from, &mut self.part)?;
        Ok(self.part.len())
    }
}

/// The indices of the ends after `start` and before `end`.
fn between(ends: &[u32], start: usize, end: usize) -> std::ops::Range<usize> {
    ends.partition_point(|&place| place as usize <= start)..ends.partition_point(|&place| (place as usize) < end)
}

impl Tokenizer {
    /// Whether words depend only on a scanner, and tokens only on words and on added tokens that
    /// are found wherever they stand. A normalizer may change some texts.
    pub(crate) fn reads_plain_words(&self) -> bool {
        let pipeline = &self.pipeline;
        let has_all_bytes =
            |alphabet: &Alphabet| matches!(alphabet, Alphabet::Bytes { .. }) && !alphabet.lengths_vary();
        pipeline.scanner.is_some()
            && pipeline.pretokenizer.stages.is_empty()
            && pipeline.spaces.is_none()
            && pipeline.segmenter.is_none()
            && pipeline.added_tokens.is_idle(SearchStage::Normalized)
            && pipeline.added_tokens.tokens().iter().all(|token| !token.single_word)
            && pipeline.model.bpe().is_some_and(|bpe| has_all_bytes(&bpe.alphabet))
            && self.counts_ends_exactly()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounded::prefixes::Prefixes;
    use crate::bounded::subjects::{Subject, pieces, tokenizer};
    use crate::byte_level;
    use crate::change::{Changes, NewToken};
    use crate::encoding::Encoding;
    use crate::pretokenizer::scanner::twins::TWINS;
    use crate::split::{Boundary, Limits, Progress};
    use crate::{AddedToken, EncodeOptions, SpecialTokens};
    use proptest::prelude::*;
    use std::cell::Cell;

    /// The indices of no normalizer, NFC and an empty sequence.
    const NORMALIZERS: [usize; 4] = [0, 0, 1, 5];
    const BYTE_LEVEL: usize = 1;

    /// A byte-level tokenizer with any scanner. Added tokens contain and overlap each other.
    fn scanning(scanner: usize, normalizer: usize, merges: Vec<(usize, usize)>, has_added: bool) -> Tokenizer {
        let mut made = tokenizer(&Subject { normalizer, pretokenizer: BYTE_LEVEL, model: 0, merges, added: false });
        if has_added {
            let token =
                |content: &&str| AddedToken { content: (*content).into(), special: true, ..AddedToken::default() };
            let added = ["<x>", "<x><y>", "y>中", "ab!?"].iter().map(token);
            let added_tokens = added.map(|token| NewToken { token, id: None }).collect();
            made = made.with(&Changes { added_tokens, ..Changes::default() }).expect("sound tokens");
        }
        made.pipeline.scanner = Some(TWINS[scanner].scanner);
        made
    }

    fn options() -> EncodeOptions {
        EncodeOptions { special_tokens: SpecialTokens::Parse, ..EncodeOptions::default() }
    }

    #[test]
    fn pieces_of_known_words_are_those_that_prefixes_find() {
        let (known_pieces, all_pieces) = (Cell::new(0), Cell::new(0));
        let more =
            ["word", " word", " don't", "'ll", "’s", " I'LLama", "\r\n\r\n", ",\n/", " 2024", "\u{3000}", "\u{85}"];
        let parts = [&pieces()[..], &more.map(String::from)].concat();
        let strategy = (
            0..TWINS.len(),
            prop::sample::select(NORMALIZERS.to_vec()),
            prop::collection::vec((0usize..1000, 0usize..1000), 0..60),
            any::<bool>(),
            prop::collection::vec(prop::sample::select(parts), 0..160),
            (1usize..40, 0usize..6),
        );
        let config = ProptestConfig { cases: 1500, ..ProptestConfig::default() };
        proptest!(config, |((scanner, normalizer, merges, has_added, parts, (room, overlap)) in strategy)| {
            let tokenizer = scanning(scanner, normalizer, merges, has_added);
            let text = parts.concat();
            let plan = tokenizer.count_plan(&options()).expect("sound options");
            let mut known = KnownWords::new(&tokenizer, &plan, &text).expect("plain words");
            let mut prefixes = Prefixes::new(&tokenizer, &plan);
            tokenizer.with_encoder(|encoder| {
                let mut start = 0;
                while start < text.len() {
                    prefixes.restart(&text[start..]);
                    let expected = prefixes.longest(encoder, room)?;
                    let found = known.longest(encoder, start, room)?;
                    all_pieces.set(all_pieces.get() + 1);
                    if expected.length == 0 {
                        break;
                    }
                    let mut next = start + expected.length;
                    if let Some(found) = found {
                        known_pieces.set(known_pieces.get() + 1);
                        assert_eq!(found, expected, "{}: {:?}", TWINS[scanner].name, &text[start..]);
                        let piece = &text[start..next];
                        let starts = known.last_starts(overlap);
                        let with_offsets = Plan { columns: Columns::OFFSETS, ..plan.clone() };
                        let mut encoding = Encoding::default();
                        encoder.encode(&tokenizer.pipeline, &piece.into(), &with_offsets, &mut encoding)?;
                        let expected = encoding.offsets.iter().rev().map(|offset| offset[0] as usize);
                        assert!(starts.iter().copied().eq(expected.take(overlap)), "{piece:?}: {starts:?}");
                        for from in starts {
                            let end = &piece[from..];
                            let counted = known.count_end(encoder, from)?;
                            let expected = encoder.count_bare(&tokenizer.pipeline, end.into(), &plan, usize::MAX)?;
                            assert!(counted.is_none_or(|counted| counted == expected), "{text:?}: {end:?}: {counted:?}");
                            next = if from > 0 && overlap > 3 { start + from } else { next };
                        }
                        for (length, _) in text[start..start + found.length].char_indices().rev().take(9) {
                            let counted = known.count(encoder, length)?;
                            let expected = prefixes.count_whole(encoder, length, usize::MAX)?;
                            assert!(counted.is_none_or(|counted| counted == expected), "{text:?}: {length}: {counted:?}");
                        }
                    }
                    start = next;
                }
                Ok::<_, EncodeError>(())
            })
            .expect("a text");
        });
        // Otherwise the test would compare little.
        assert!(2 * known_pieces.get() > all_pieces.get(), "{} of {}", known_pieces.get(), all_pieces.get());
    }

    /// The piece ends within the added token `ab!?`, so that its last word is `cdabab`.
    #[test]
    fn a_piece_can_end_within_an_added_token() {
        let merges = [["a", "b"], ["ab", "ab"], ["d", "abab"], ["c", "dabab"]];
        let characters = byte_level::CHARACTERS.iter().map(char::to_string);
        let tokens = characters.chain(merges.map(|pair| pair.concat()));
        let vocab: serde_json::Map<_, _> = tokens.zip((0..).map(serde_json::Value::from)).collect();
        let file = serde_json::json!({
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
            "added_tokens": [{"id": 300, "content": "ab!?", "special": true, "normalized": false,
                "single_word": false, "lstrip": false, "rstrip": false}],
            "model": {"type": "BPE", "vocab": vocab, "merges": merges},
        });
        let tokenizer = Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("a sound file");
        let limits = Limits { max_tokens: 2, overlap: 0, boundary: Boundary::Token };
        let made = tokenizer.split("1cdabab!?".into(), Progress::default(), &limits, &options(), true, None);
        let ends: Vec<usize> = made.expect("a text").pieces.iter().map(|piece| piece.end).collect();
        assert_eq!(ends, [7, 9]);
    }
}
