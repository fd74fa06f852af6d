//! Counts the tokens of prefixes of a text by encoding only their ends.
//!
//! The tokens at the start of the text are encoded in chunks, with offsets, as far as they are
//! needed. To count a prefix, only its end is encoded again, from a token shortly before it. If two
//! adjacent tokens of that end are equal to two known tokens, with equal offsets and a character
//! boundary between them, then everything before that boundary is equal too.
//!
//! The documentation of `bpe::incremental` proves this for merges: adjacent tokens of a word are
//! the tokens of their own text; and if `x` has the tokens X, `y` has the tokens Y, and the last
//! token of X and the first of Y are adjacent in some encoding, then `xy` has the tokens XY. For
//! words, the method is exact if the words after the start of a word do not depend on the text
//! before it. For other tokenizers, the end is encoded from a few words before, and the prefix that
//! is found is counted again as a whole ([`Tokenizer::counts_ends_exactly`]).

use super::with_places;
use crate::added_tokens::AddedToken;
use crate::bpe::Alphabet;
use crate::encoder::{Encoder, Plan};
use crate::encoding::{Columns, Encoding};
use crate::error::EncodeError;
use crate::memory::Grow;
use crate::memory::fallible::append;
use crate::model::{Model, Unigram};
use crate::normalizer::Normalizer;
use crate::pretokenizer::Stage;
use crate::segmenter::Segmenter;
use crate::text::MAX_CHARACTER_BYTES;
use crate::tokenizer::Tokenizer;

/// The end of a prefix is encoded from at least this many bytes before it.
const BACK: usize = 32;
/// The maximum number of such bytes. Longer added tokens can be missed at the end of a prefix.
const MAX_ENCODED_BEFORE: usize = 4096;
/// A word's start up to this many bytes before a token's start is preferred to it.
const WORD_WITHIN: u32 = 128;
/// The same for the number of tokens between them.
const WORD_WITHIN_TOKENS: usize = 32;
/// The maximum length of a word of digits in bytes. The text cannot be encoded from within such a
/// word, because its digits would form other groups.
const MAX_DIGITS: u32 = 3 * MAX_CHARACTER_BYTES as u32;
/// Maximum number of tokens examined for a position to encode from.
const MAX_EXAMINED_TOKENS: usize = 1 << 14;
/// Bytes of added tokens that are searched at the end of each prefix, because the known tokens may
/// not show them. With more, a prefix can be shorter than the longest one.
const MAX_HIDDEN_TOKEN_BYTES: usize = 4096;
/// The size of a chunk in bytes.
pub(super) const CHUNK: std::ops::RangeInclusive<usize> = 64..=64 << 10;

/// A text, and the tokens at its start.
#[derive(Debug)]
pub(crate) struct Prefixes<'a> {
    pub(super) tokenizer: &'a Tokenizer,
    plan: Plan,
    /// The same without columns, to count tokens.
    count_plan: Plan,
    /// See [`Tokenizer::words_are_separate`].
    words_are_separate: bool,
    /// See [`Tokenizer::places_are_known`]. Kept here, because it reads the model's whole alphabet.
    pub(super) places_are_known: bool,
    /// Whether the text can be encoded from a token within a word.
    starts_within_words: bool,
    /// See [`Normalizer::shifts_origins`]: nothing is known from the places of this text's tokens.
    pub(super) is_shifted: bool,
    /// See [`Tokenizer::encodes_from_start`].
    encodes_from_start: bool,
    /// See [`Tokenizer::counts_ends_exactly`].
    pub(crate) counts_ends_exactly: bool,
    /// See [`Tokenizer::ends_words_at_spaces`].
    pub(super) ends_words_at_spaces: bool,
    pub(super) text: &'a str,
    /// The tokens of `text[..covered]`, with offsets in bytes and word ids.
    pub(super) made: Encoding,
    pub(super) covered: usize,
    /// The tokens of the slice that was encoded last, with offsets in the text.
    pub(super) local: Encoding,
    /// The tokens of the prefix that was counted last.
    pub(super) counted: Counted,
    back: usize,
    /// The number of bytes from which the end of the prefix that was counted last had to be
    /// encoded. Fewer would not suffice for other prefixes that end near it.
    back_of_last_count: usize,
    /// The end of the text that a result depends on, in bytes.
    pub(crate) seen: usize,
    /// The number of bytes that were encoded for this text.
    pub(super) encoded: usize,
    /// Whether all of the tokens were encoded at once.
    pub(super) is_of_one_piece: bool,
    /// The added tokens that have to be words by themselves, or that include the white space before
    /// them: the first [`MAX_HIDDEN_TOKEN_BYTES`] bytes.
    pub(super) hidden_tokens: Vec<&'a AddedToken>,
    /// The number of bytes per hundred tokens in the previous text; 0 if there was none.
    bytes_per_hundred: usize,
    /// Whether the next search is to be cheap: see [`Self::longest_at_little_cost`].
    pub(crate) is_hasty: bool,
    /// The work of the encoder up to which a search tries further prefixes.
    pub(super) max_work: u64,
}

/// The tokens of a prefix: the first `made` known tokens, and those of the slice that was encoded
/// last from index `local` on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    pub(super) local: usize,
    pub(super) made: usize,
}

/// A prefix that cannot be encoded is beyond any limit: without an unknown token, a model may know
/// a word whose first characters it does not know.
fn or_beyond(counted: Result<usize, EncodeError>) -> Result<usize, EncodeError> {
    match counted {
        Err(error) if error.is_unknown_token() => Ok(usize::MAX),
        counted => counted,
    }
}

impl<'a> Prefixes<'a> {
    pub(crate) fn new(tokenizer: &'a Tokenizer, plan: &Plan) -> Self {
        let tokens = tokenizer.pipeline.added_tokens.tokens();
        let added = tokens.iter().map(|token| token.content.len() + 4).max();
        let mut bytes = 0;
        let hidden_tokens = tokens.iter().filter(|token| token.single_word || token.lstrip).take_while(|token| {
            bytes += token.content.len();
            bytes <= MAX_HIDDEN_TOKEN_BYTES
        });
        let hidden_tokens = hidden_tokens.collect();
        let places_are_known = tokenizer.places_are_known();
        Self {
            tokenizer,
            plan: with_places(plan, "".into()),
            count_plan: Plan { columns: Columns::NONE, ..plan.clone() },
            words_are_separate: tokenizer.words_are_separate(),
            places_are_known,
            starts_within_words: places_are_known && tokenizer.reads_ends_of_words(),
            is_shifted: false,
            encodes_from_start: tokenizer.encodes_from_start(),
            counts_ends_exactly: tokenizer.counts_ends_exactly(),
            ends_words_at_spaces: tokenizer.ends_words_at_spaces(),
            text: "",
            made: Encoding::default(),
            covered: 0,
            local: Encoding::default(),
            counted: Counted::default(),
            back: added.unwrap_or(0).clamp(BACK, MAX_ENCODED_BEFORE),
            back_of_last_count: 0,
            seen: 0,
            encoded: 0,
            is_of_one_piece: false,
            hidden_tokens,
            bytes_per_hundred: 0,
            is_hasty: false,
            max_work: u64::MAX,
        }
    }

    /// Starts with a text.
    pub(crate) fn start(mut self, text: &'a str) -> Self {
        self.restart(text);
        self
    }

    pub(crate) fn restart(&mut self, text: &'a str) {
        if !self.made.is_empty() {
            self.bytes_per_hundred = 100 * self.covered / self.made.len();
        }
        self.text = text;
        self.is_shifted = self.tokenizer.pipeline.normalizer.as_ref().is_some_and(|one| one.shifts_origins(text));
        self.made.clear();
        (self.covered, self.seen, self.encoded, self.back_of_last_count) = (0, 0, 0, 0);
    }

    /// Records that a result depends on the text up to byte `end`.
    pub(crate) fn look(&mut self, end: usize) {
        self.seen = self.seen.max(end.min(self.text.len()));
    }

    /// Encodes chunks until there are `tokens` tokens or the text ends.
    pub(super) fn grow(&mut self, encoder: &mut Encoder, tokens: usize) -> Result<(), EncodeError> {
        while self.made.len() < tokens && self.covered < self.text.len() {
            let missing = tokens - self.made.len();
            let expected = match self.made.len() {
                // The size of chunks affects results if counting ends is not exact.
                0 if self.bytes_per_hundred > 0 && self.counts_ends_exactly => {
                    missing.saturating_mul(self.bytes_per_hundred) / 100 + BACK
                }
                0 => missing.saturating_mul(2),
                made => (missing.saturating_mul(self.covered) / made).saturating_add(BACK),
            };
            let mut step = expected.clamp(*CHUNK.start(), *CHUNK.end());
            let mut back = self.back;
            loop {
                let (start, token) = self.anchor(self.covered.saturating_sub(back));
                // At least three times the bytes that are encoded again, so that the total cost
                // stays linear.
                let end = self.covered.saturating_add(step.max(3 * (self.covered - start)));
                let end = self.text.ceil_char_boundary(end.min(self.text.len()));
                if !self.encode_chunk(encoder, start, end)? {
                    step = step.saturating_mul(2);
                    continue;
                }
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

    /// Encodes the start of the text at once, as little of it as has `tokens` tokens. Estimates how
    /// much that is by the previous text.
    pub(super) fn grow_at_once(&mut self, encoder: &mut Encoder, tokens: usize) -> Result<(), EncodeError> {
        let per_hundred = if self.bytes_per_hundred > 0 { self.bytes_per_hundred } else { 200 };
        let mut length = (tokens.saturating_mul(per_hundred) / 90).max(MAX_CHARACTER_BYTES);
        loop {
            let end = self.text.ceil_char_boundary(length.min(self.text.len()));
            if self.encode_chunk(encoder, 0, end)? {
                self.append(0, 0);
                (self.covered, self.is_of_one_piece) = (end, true);
                if self.made.len() >= tokens || end == self.text.len() {
                    return Ok(());
                }
            }
            length = length.saturating_mul(2);
        }
    }

    /// Whether [`Self::count`] of this prefix is known to be exact. In text that a Unicode form
    /// changes, marks far from the end can change places with those at the end.
    pub(crate) fn is_counted_exactly(&self, end: usize) -> bool {
        let pipeline = &self.tokenizer.pipeline;
        let keeps_places = self.words_are_separate || pipeline.spaces.is_some() || pipeline.normalizer.is_none();
        self.counts_ends_exactly && (keeps_places || self.is_normalized(0..end))
    }

    /// The number of tokens of `text[..end]` when it is encoded separately; see [`or_beyond`].
    pub(crate) fn count(&mut self, encoder: &mut Encoder, end: usize) -> Result<usize, EncodeError> {
        or_beyond(self.try_to_count(encoder, end))
    }

    fn try_to_count(&mut self, encoder: &mut Encoder, end: usize) -> Result<usize, EncodeError> {
        if self.words_are_separate {
            return self.count_from_word(encoder, end);
        }
        let mut back = self.back.max(self.back_of_last_count);
        loop {
            let (start, token) = self.anchor(end.saturating_sub(back));
            // Offsets are expensive. Only the search by `Reach` needs those of the last tokens.
            if start == 0 && !self.counts_ends_exactly && self.tokenizer.reach().is_none() {
                self.look(end);
                return self.count_whole(encoder, end, usize::MAX);
            }
            self.encode(encoder, start, end)?;
            if let Some((local, made)) = self.common(start, token) {
                self.counted = Counted { local, made };
                self.back_of_last_count = back;
                return Ok(made + self.local.len() - local);
            }
            back = (4 * back).max(4 * (end - start));
        }
    }

    /// Whether a space certainly ends a word, however much of the text after it is read: it stands
    /// between two characters of ASCII that no normalizer joins with it.
    pub(super) fn is_plain_space(&mut self, place: usize) -> bool {
        let bytes = self.text.as_bytes();
        let is_plain = self.ends_words_at_spaces
            && bytes[..place].last().is_some_and(u8::is_ascii_alphanumeric)
            && bytes[place..].first() == Some(&b' ')
            && bytes[place..].get(1).is_some_and(u8::is_ascii_graphic);
        self.look(place + 2);
        is_plain
    }

    /// [`Self::count`] if the words of a text are separate: encodes the last word only.
    fn count_from_word(&mut self, encoder: &mut Encoder, end: usize) -> Result<usize, EncodeError> {
        let Encoding { offsets, word_ids, .. } = &self.made;
        let within = offsets.partition_point(|offset| (offset[0] as usize) < end);
        let starts_word = |&at: &usize| word_ids[at] != word_ids[at - 1] && self.is_between_characters(&self.made, at);
        let token = (1..within).rev().find(starts_word).unwrap_or(0);
        // Text before the first token has none: it can be left out as well.
        let start = offsets[..within].get(token).map_or(0, |offset| self.text.floor_char_boundary(offset[0] as usize));
        self.look(end);
        self.encoded += end - start;
        let slice = self.text[start..end].into();
        let counted = encoder.count_bare(&self.tokenizer.pipeline, slice, &self.count_plan, usize::MAX);
        Ok(token + counted.map_err(|error| error.moved_by(start))?)
    }

    /// The start of each of the last `tokens` tokens of a prefix, if [`Self::count`] is exact or a
    /// good guess suffices.
    pub(crate) fn last_starts(
        &mut self,
        encoder: &mut Encoder,
        end: usize,
        tokens: usize,
    ) -> Result<Option<Vec<usize>>, EncodeError> {
        if self.is_hasty {
            let offsets = &self.made.offsets;
            let within = offsets.partition_point(|offset| offset[1] as usize <= end);
            return Ok(Some(offsets[..within].iter().rev().take(tokens).map(|offset| offset[0] as usize).collect()));
        }
        if !self.counts_ends_exactly || self.words_are_separate {
            return Ok(None);
        }
        self.count(encoder, end)?;
        let Counted { local, made } = self.counted;
        let last = self.local.offsets[local..].iter().rev().chain(self.made.offsets[..made].iter().rev());
        Ok(Some(last.take(tokens).map(|offset| offset[0] as usize).collect()))
    }

    /// The number of tokens of `text[..end]`, by encoding all of it; see [`or_beyond`]. Stops soon
    /// after the count exceeds `limit`.
    pub(crate) fn count_whole(
        &mut self,
        encoder: &mut Encoder,
        end: usize,
        limit: usize,
    ) -> Result<usize, EncodeError> {
        self.encoded += end;
        or_beyond(encoder.count_bare(&self.tokenizer.pipeline, self.text[..end].into(), &self.count_plan, limit))
    }

    /// [`Self::encode`], but returns false if there is an unknown character before the end of the
    /// text and no unknown token: the chunk may end within a word that the model only knows as a
    /// whole, so a longer chunk has to be tried.
    fn encode_chunk(&mut self, encoder: &mut Encoder, start: usize, end: usize) -> Result<bool, EncodeError> {
        match self.encode(encoder, start, end) {
            Err(error) if error.is_unknown_token() && end < self.text.len() => Ok(false),
            encoded => encoded.map(|()| true),
        }
    }

    /// Encodes `text[start..end]` separately, to `local`.
    fn encode(&mut self, encoder: &mut Encoder, start: usize, end: usize) -> Result<(), EncodeError> {
        self.look(end);
        self.encoded += end - start;
        self.local.clear();
        let (pipeline, slice) = (&self.tokenizer.pipeline, &self.text[start..end]);
        match start {
            0 => encoder.encode_first_bare(pipeline, slice.into(), &self.plan, usize::MAX, &mut self.local)?,
            _ => encoder
                .encode_inner(pipeline, slice, &self.plan, &mut self.local)
                .map_err(|error| error.moved_by(start))?,
        }
        // Offsets beyond the text belong to a suffix that the model reads and the text does not
        // contain.
        let moved = |place: u32| start as u32 + place.min((end - start) as u32);
        self.local.offsets.iter_mut().flatten().for_each(|place| *place = moved(*place));
        if let Model::Unigram(unigram) = &*pipeline.model {
            self.place_bytes(unigram);
        }
        Ok(())
    }

    /// Gives each byte token of `local` the place of its byte. Unigram gives all bytes of adjacent
    /// unknown characters the place of these characters, as the reference does.
    fn place_bytes(&mut self, unigram: &Unigram) {
        let Encoding { ids, offsets, .. } = &mut self.local;
        let mut rest = 0;
        while let Some(&[start, end]) = offsets.get(rest) {
            let run = &self.text.as_bytes()[start as usize..end as usize];
            let tokens = rest..rest + run.len().max(1);
            let is_run = run.len() > 1
                && offsets
                    .get(tokens.clone())
                    .is_some_and(|offsets| offsets.iter().all(|&place| place == [start, end]))
                && run.iter().zip(&ids[tokens.clone()]).all(|(&byte, &id)| unigram.byte_token(byte) == Some(id));
            if is_run {
                offsets[tokens.clone()].iter_mut().zip(start..).for_each(|(place, byte)| *place = [byte, byte + 1]);
            }
            rest = if is_run { tokens.end } else { rest + 1 };
        }
    }

    /// A position at or before `most` from which the text can be encoded: the start of a token, and
    /// its index. It is the start of a word if there is one shortly before, and the start of the
    /// text if there is no token.
    fn anchor(&self, most: usize) -> (usize, usize) {
        if self.is_shifted || self.encodes_from_start {
            return (0, 0);
        }
        let offsets = &self.made.offsets;
        let within = offsets.partition_point(|offset| offset[0] as usize <= most);
        let mut found = None;
        for at in (1..within).rev().take(MAX_EXAMINED_TOKENS) {
            let start = offsets[at][0];
            let is_far =
                |(place, token): (usize, usize)| start + WORD_WITHIN < place as u32 || at + WORD_WITHIN_TOKENS < token;
            if found.is_some_and(is_far) {
                break;
            }
            if !self.is_between_characters(&self.made, at) {
                continue;
            }
            if self.made.word_ids[at] != self.made.word_ids[at - 1] {
                return (start as usize, at);
            }
            if self.starts_within_words && (start >= MAX_DIGITS || self.tokenizer.pipeline.scanner.is_none()) {
                found.get_or_insert((start as usize, at));
            }
        }
        found.unwrap_or((0, 0))
    }

    /// Whether a token starts at a character boundary, not before the end of the previous token.
    fn is_between_characters(&self, tokens: &Encoding, at: usize) -> bool {
        let start = tokens.offsets[at][0];
        start >= tokens.offsets[at - 1][1] && self.text.is_char_boundary(start as usize)
    }

    /// Compares the slice that was encoded last with the known tokens. The slice starts at `start`,
    /// with the known token of index `token`. Returns the first token that is equal in both and has
    /// an equal token before it: its index in the slice and among the known tokens.
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

    /// Replaces the known tokens from `made` on by the tokens of the slice from `local` on.
    fn append(&mut self, local: usize, made: usize) {
        if made == 0 {
            std::mem::swap(&mut self.made, &mut self.local);
            return;
        }
        // Continues the word ids of the known tokens.
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
    /// Whether offsets show the positions of tokens within a word. If the model drops characters or
    /// writes the bytes of a prefix or suffix as tokens, offsets move, as in Hugging Face
    /// tokenizers; and an unknown token can come after bytes that follow it in the text.
    pub(crate) fn places_are_known(&self) -> bool {
        let Some(bpe) = self.pipeline.model.bpe() else { return true };
        match &bpe.alphabet {
            Alphabet::Bytes { .. } => bpe.alphabet.drops_nothing(),
            Alphabet::Characters(characters) => match characters.byte_fallback {
                Some(_) => characters.knows_all_bytes() && !self.writes_affixes_as_bytes(),
                None => characters.unknown.is_some(),
            },
        }
    }

    /// Whether the bytes of an unknown character can include those of a prefix or a suffix. As in
    /// Hugging Face tokenizers, offsets then go beyond the end of a word and do not increase from
    /// token to token.
    fn writes_affixes_as_bytes(&self) -> bool {
        let Some(Alphabet::Characters(characters)) = self.pipeline.model.bpe().map(|bpe| &bpe.alphabet) else {
            return false;
        };
        let affixes = [&characters.continuing_subword_prefix, &characters.end_of_word_suffix];
        characters.byte_fallback.is_some() && affixes.iter().any(|affix| !affix.is_empty())
    }

    /// Whether the end of a word has the same last tokens by itself. That of a word that is matched
    /// as a whole can have others: the word can be too long, so that it is one unknown token.
    /// FixedLength counts characters from the start of a word.
    fn reads_ends_of_words(&self) -> bool {
        !self.pipeline.model.matches_whole_words() && !self.pipeline.pretokenizer.counts_characters()
    }

    /// Whether prefixes must be encoded from the start of the text, because the tokens from the
    /// start of a word on can differ, or because offsets do not show where a word starts.
    pub(crate) fn encodes_from_start(&self) -> bool {
        self.writes_affixes_as_bytes() || self.pipeline.pretokenizer.depends_on_start()
    }

    /// Whether [`Prefixes::count`] is known to be exact, so that no prefix has to be counted as a
    /// whole.
    pub(crate) fn counts_ends_exactly(&self) -> bool {
        fn keeps_words(normalizer: &Normalizer) -> bool {
            match normalizer {
                Normalizer::Form(_) => true,
                Normalizer::Sequence(all) => all.iter().all(keeps_words),
                _ => false,
            }
        }
        let added = self.pipeline.added_tokens.tokens();
        let finds_added =
            added.iter().all(|token| !token.lstrip && !token.rstrip && token.content.len() < MAX_ENCODED_BEFORE - 4);
        let stages = &self.pipeline.pretokenizer.stages;
        let words = self.pipeline.scanner.is_some()
            && stages.iter().all(|stage| matches!(stage, Stage::PrefixSpace))
            && self.pipeline.normalizer.as_ref().is_none_or(keeps_words);
        let is_exact = self.pipeline.model.bpe().is_some_and(|bpe| bpe.is_splittable && bpe.dropout.is_none());
        finds_added && is_exact && (words || self.pipeline.spaces.is_some()) || self.words_are_separate()
    }

    /// Whether a space after a letter or a digit of ASCII, and before a visible character of ASCII,
    /// ends a word, wherever the text after it ends; words before it have the same tokens in every
    /// such text.
    pub(crate) fn ends_words_at_spaces(&self) -> bool {
        fn keeps_apart(normalizer: &Normalizer) -> bool {
            match normalizer {
                Normalizer::Form(_)
                | Normalizer::Letters(_)
                | Normalizer::Strip(_)
                | Normalizer::Prepend(_)
                | Normalizer::Precompiled(_) => true,
                Normalizer::Replace(replace) => replace.joined_spaces().is_some(),
                Normalizer::SentencePiece(_) => false,
                Normalizer::Sequence(all) => all.iter().all(keeps_apart),
            }
        }
        let added = self.pipeline.added_tokens.tokens();
        let is_random = self.pipeline.model.bpe().is_some_and(|bpe| bpe.dropout.is_some());
        !is_random
            && self.pipeline.pretokenizer.ends_words_at_spaces()
            && self.pipeline.normalizer.as_ref().is_none_or(keeps_apart)
            // Others could reach across the space.
            && added.iter().all(|token| token.content.bytes().all(|byte| byte.is_ascii_graphic()))
    }

    /// Whether the text from the start of any word on has the same tokens as in the whole text:
    /// BertPreTokenizer splits by single characters, BertNormalizer changes single characters, and
    /// the model reads words one by one.
    fn words_are_separate(&self) -> bool {
        let added = self.pipeline.added_tokens.tokens();
        let starts_alone = added.iter().all(|token| !token.lstrip && !token.rstrip && !token.single_word);
        starts_alone && matches!(self.pipeline.segmenter, Some(Segmenter::Bert(_)))
    }
}
