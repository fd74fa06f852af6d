//! How many tokens the prefixes of a text have, counted from near their ends.
//!
//! The tokens of the text's start are made in chunks, with offsets, as far as they are asked for. To
//! count a prefix, only its end is encoded again, from a token shortly before it. Where two neighbouring
//! tokens of that end are the same as in the tokens that are there, with the same offsets and with a place
//! between two characters between them, everything before that place is the same as well.
//!
//! Why that is exact for merges is shown in `bpe::resume`: neighbouring tokens of a word are the tokens of
//! their own text, and if `x` has the tokens X, `y` has the tokens Y, and the last of X and the first of Y
//! are neighbours in some encoding, then `xy` has the tokens XY. For words it is exact where the words
//! behind a word start do not depend on what stands before it. Other tokenizers are read from some words
//! before the end, and what is found there is counted again as a whole ([`Tokenizer::counts_ends_exactly`]).

use super::with_places;
use crate::bpe::Alphabet;
use crate::encoder::{Encoder, Plan};
use crate::encoding::Encoding;
use crate::error::EncodeError;
use crate::memory::Grow;
use crate::memory::fallible::append;
use crate::normalizer::Normalizer;
use crate::tokenizer::Tokenizer;

/// How many bytes before the end of a prefix it is encoded from, at least.
const BACK: usize = 32;
/// A longer added token than this is not looked for beyond the end of a prefix.
const MOST_BACK: usize = 4096;
/// A word's start this many bytes before a token's start is preferred to it.
const WORD_WITHIN: u32 = 128;
/// The most tokens that are looked at for a place to encode from.
const MOST_LOOKED_AT: usize = 1 << 14;
/// How many bytes a chunk has.
pub(super) const CHUNK: std::ops::RangeInclusive<usize> = 64..=64 << 10;

/// A text and the tokens of its start.
#[derive(Debug)]
pub(crate) struct Prefixes<'a> {
    pub(super) tokenizer: &'a Tokenizer,
    plan: Plan,
    pub(super) text: &'a str,
    /// The tokens of `text[..covered]`, with offsets in bytes and the numbers of their words.
    pub(super) made: Encoding,
    pub(super) covered: usize,
    /// The tokens of the slice that was encoded last, with offsets in the text.
    local: Encoding,
    back: usize,
    /// One past the last byte that a result depends on.
    pub(crate) seen: usize,
    /// How many bytes were encoded for this text.
    pub(super) encoded: usize,
    /// Whether the tokens were made all together.
    pub(super) is_of_one_piece: bool,
    /// Of the text before: how many bytes a hundred tokens had. Zero where that must not matter.
    bytes_per_hundred: usize,
}

impl<'a> Prefixes<'a> {
    pub(crate) fn new(tokenizer: &'a Tokenizer, plan: &Plan) -> Self {
        let added = tokenizer.added_tokens.tokens().iter().map(|token| token.content.len() + 4).max();
        Self {
            tokenizer,
            plan: with_places(plan, "".into()),
            text: "",
            made: Encoding::default(),
            covered: 0,
            local: Encoding::default(),
            back: added.unwrap_or(0).clamp(BACK, MOST_BACK),
            seen: 0,
            encoded: 0,
            is_of_one_piece: false,
            bytes_per_hundred: 0,
        }
    }

    /// The same for another text.
    pub(crate) fn start(mut self, text: &'a str) -> Self {
        self.restart(text);
        self
    }

    pub(crate) fn restart(&mut self, text: &'a str) {
        // What is found depends on chunks only where counting ends is not exact.
        if !self.made.is_empty() && self.tokenizer.counts_ends_exactly() {
            self.bytes_per_hundred = 100 * self.covered / self.made.len();
        }
        self.text = text;
        self.made.clear();
        (self.covered, self.seen, self.encoded) = (0, 0, 0);
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// Says that a result depends on the text up to byte `end`.
    pub(crate) fn look(&mut self, end: usize) {
        self.seen = self.seen.max(end.min(self.text.len()));
    }

    /// Makes tokens from the start until there are so many or the text is over.
    pub(super) fn grow(&mut self, encoder: &mut Encoder, tokens: usize) -> Result<(), EncodeError> {
        while self.made.len() < tokens && self.covered < self.text.len() {
            let missing = tokens - self.made.len();
            let expected = match self.made.len() {
                0 if self.bytes_per_hundred > 0 => missing.saturating_mul(self.bytes_per_hundred) / 100 + BACK,
                0 => missing.saturating_mul(2),
                made => (missing.saturating_mul(self.covered) / made).saturating_add(BACK),
            };
            let step = expected.clamp(*CHUNK.start(), *CHUNK.end());
            let mut back = self.back;
            loop {
                let (start, token) = self.anchor(self.covered.saturating_sub(back));
                // Several times as much as is encoded again, so that no text is encoded more than a few times.
                let end = self.covered.saturating_add(step.max(3 * (self.covered - start)));
                let end = self.text.ceil_char_boundary(end.min(self.text.len()));
                self.encode(encoder, start, end)?;
                if let Some((local, made)) = self.common(start, token) {
                    self.append(local, made);
                    self.covered = end;
                    self.is_of_one_piece = start == 0;
                    break;
                }
                back = (4 * back).max(4 * (self.covered - start));
            }
        }
        Ok(())
    }

    /// How many tokens `text[..end]` has by itself.
    pub(crate) fn count(&mut self, encoder: &mut Encoder, end: usize) -> Result<usize, EncodeError> {
        let mut back = self.back;
        loop {
            let (start, token) = self.anchor(end.saturating_sub(back));
            self.encode(encoder, start, end)?;
            if let Some((local, made)) = self.common(start, token) {
                return Ok(made + self.local.len() - local);
            }
            back = (4 * back).max(4 * (end - start));
        }
    }

    /// How many tokens `text[..end]` has, all of it encoded; more than `limit` are not counted to the end.
    pub(crate) fn count_whole(
        &mut self,
        encoder: &mut Encoder,
        end: usize,
        limit: usize,
    ) -> Result<usize, EncodeError> {
        self.encoded += end;
        encoder.count_bare(self.tokenizer, self.text[..end].into(), &self.plan, limit)
    }

    /// Encodes `text[start..end]` by itself.
    fn encode(&mut self, encoder: &mut Encoder, start: usize, end: usize) -> Result<(), EncodeError> {
        self.look(end);
        self.encoded += end - start;
        self.local.clear();
        let slice = &self.text[start..end];
        encoder
            .encode_first_bare(self.tokenizer, slice.into(), &self.plan, usize::MAX, &mut self.local)
            .map_err(|error| error.moved_by(start))?;
        // Offsets beyond the text stand for a suffix that the model sees and the text does not have.
        let moved = |place: u32| start as u32 + place.min((end - start) as u32);
        self.local.offsets.iter_mut().flatten().for_each(|place| *place = moved(*place));
        Ok(())
    }

    /// A place at `most` or before from which the text can be encoded: a token's start, and its number. The
    /// start of a word if there is one not far before; the start of the text if there is no token.
    fn anchor(&self, most: usize) -> (usize, usize) {
        let offsets = &self.made.offsets;
        let behind = offsets.partition_point(|offset| offset[0] as usize <= most);
        let mut found = None;
        for at in (1..behind).rev().take(MOST_LOOKED_AT) {
            let start = offsets[at][0];
            if found.is_some_and(|(place, _): (usize, usize)| start + WORD_WITHIN < place as u32) {
                break;
            }
            if !self.is_between_characters(&self.made, at) {
                continue;
            }
            if self.made.word_ids[at] != self.made.word_ids[at - 1] {
                return (start as usize, at);
            }
            if self.tokenizer.places_are_known() {
                found.get_or_insert((start as usize, at));
            }
        }
        found.unwrap_or((0, 0))
    }

    /// Whether a token starts behind the end of the one before, between two characters.
    fn is_between_characters(&self, tokens: &Encoding, at: usize) -> bool {
        let start = tokens.offsets[at][0];
        start >= tokens.offsets[at - 1][1] && self.text.is_char_boundary(start as usize)
    }

    /// The first token that has the same neighbour before it in the slice that was encoded last, which
    /// starts at `start` with the token numbered `token`, as in the tokens that are there; its number in both.
    fn common(&self, start: usize, token: usize) -> Option<(usize, usize)> {
        if start == 0 {
            return Some((0, 0));
        }
        let is_same = |local: usize, made: usize| {
            self.local.offsets[local] == self.made.offsets[made] && self.local.ids[local] == self.made.ids[made]
        };
        let (mut local, mut made) = (0, token);
        while local < self.local.len() && made < self.made.len() {
            let [[at, _], [other, _]] = [self.local.offsets[local], self.made.offsets[made]];
            let is_pair = local > 0
                && made > token
                && is_same(local, made)
                && is_same(local - 1, made - 1)
                && self.is_between_characters(&self.local, local);
            if is_pair {
                return Some((local, made));
            }
            made += usize::from(other <= at);
            local += usize::from(at <= other);
        }
        None
    }

    /// Takes the tokens of the slice from `local` on for those from `made` on.
    fn append(&mut self, local: usize, made: usize) {
        if made == 0 {
            std::mem::swap(&mut self.made, &mut self.local);
            return;
        }
        // The numbers of words go on as they do in the slice.
        let shift = self.made.word_ids[made - 1].wrapping_sub(self.local.word_ids[local - 1]);
        let words = self.local.word_ids[local..].iter().map(|word| word.wrapping_add(shift));
        self.made.ids.truncate(made);
        self.made.offsets.truncate(made);
        self.made.word_ids.truncate(made);
        append(&mut self.made.ids, &self.local.ids[local..]);
        append(&mut self.made.offsets, &self.local.offsets[local..]);
        self.made.word_ids.grow(words.len());
        self.made.word_ids.extend(words);
    }
}

impl Tokenizer {
    /// Whether offsets tell where tokens stand within a word. Where the model leaves characters out, offsets move, as the
    /// reference's do; and an unknown token can come behind bytes that follow it in the text.
    pub(crate) fn places_are_known(&self) -> bool {
        let Some(bpe) = self.model.bpe() else { return true };
        match &bpe.alphabet {
            Alphabet::Bytes { .. } => bpe.alphabet.drops_nothing(),
            Alphabet::Characters(characters) => {
                characters.knows_all_bytes() || characters.unknown.is_some() && characters.byte_fallback.is_none()
            }
        }
    }

    /// Whether [`Prefixes::count`] is known to be exact, so that nothing has to be counted as a whole.
    pub(crate) fn counts_ends_exactly(&self) -> bool {
        fn keeps_words(normalizer: &Normalizer) -> bool {
            match normalizer {
                Normalizer::Form(_) => true,
                Normalizer::Sequence(all) => all.iter().all(keeps_words),
                _ => false,
            }
        }
        let added = self.added_tokens.tokens();
        let finds_added =
            added.iter().all(|token| !token.lstrip && !token.rstrip && token.content.len() < MOST_BACK - 4);
        let words = self.scanner.is_some()
            && self.pretokenizer.stages.is_empty()
            && self.normalizer.as_ref().is_none_or(keeps_words);
        let is_exact = self.model.bpe().is_some_and(|bpe| bpe.is_splittable && bpe.dropout.is_none());
        finds_added && is_exact && (words || self.spaces.is_some())
    }
}
