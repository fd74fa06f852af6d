//! Calls that need only the first tokens of a text: whether it is within a limit, the ids that fit
//! into an array, and its longest prefix within a limit.
//!
//! If every token covers at most a known number of bytes, a text that is long enough exceeds the
//! limit without being encoded. Otherwise encoding stops when there are enough tokens.
//!
//! - [`known_words`]: finds most pieces of a text without encoding them separately.
//! - [`prefixes`]: counts the tokens of a prefix without encoding all of it again.
//! - [`longest`]: selects the prefixes that are counted, with the proof that no longer one is
//!   within the limit.

pub(crate) mod known_words;
mod longest;
pub(crate) mod prefixes;
#[cfg(test)]
pub(crate) mod subjects;
#[cfg(test)]
mod tests;

use crate::encoder::{Encoder, Plan};
use crate::encoding::{Columns, Encoding, OffsetUnit};
use crate::error::EncodeError;
use crate::options::EncodeOptions;
use crate::post_processor::draft::{Run, RunTokens};
use crate::text::Text;
use crate::tokenizer::Tokenizer;
use crate::vocab::TokenForm;
use prefixes::Prefixes;

/// The result of [`Tokenizer::encode_first`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The length of the text that the ids cover: UTF-16 units for UTF-16, bytes for anything else.
    pub read: usize,
    /// The number of ids.
    pub written: usize,
}

/// The start of a text, as [`Tokenizer::longest_prefix`] finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    /// The length: UTF-16 units for UTF-16, bytes for anything else.
    pub length: usize,
    /// The number of tokens if the prefix is encoded separately.
    pub tokens: usize,
}

/// A text with at most this many bytes per token of the limit is counted as a whole first.
const LIKELY_BYTES_PER_TOKEN: usize = 4;

/// A plan that yields offsets, in the unit of [`Text::weight`], and word ids.
fn with_places(plan: &Plan, text: Text<'_>) -> Plan {
    let offset_unit = if matches!(text, Text::Utf16(_)) { OffsetUnit::Utf16 } else { OffsetUnit::Byte };
    Plan { columns: Columns::OFFSETS | Columns::WORD_IDS, offset_unit, ..plan.clone() }
}

impl Tokenizer {
    /// Whether a text has at most `limit` tokens, as [`Self::count`] counts them. Reads the text
    /// only as far as needed, so an error further on can go unnoticed.
    pub fn is_within(&self, text: Text<'_>, limit: usize, options: &EncodeOptions) -> Result<bool, EncodeError> {
        if self.is_surely_beyond(text.weight(), limit, options)? {
            return Ok(false);
        }
        let plan = self.count_plan(options)?;
        self.with_encoder(|encoder| Ok(encoder.count(&self.pipeline, &text.into(), &plan, limit)? <= limit))
    }

    /// Whether every text of this many bytes has more than `limit` tokens. False if that depends on
    /// the text.
    pub fn is_surely_beyond(&self, bytes: usize, limit: usize, options: &EncodeOptions) -> Result<bool, EncodeError> {
        self.count_plan(options)?;
        Ok(self.most_bytes(limit).is_some_and(|most| most < bytes))
    }

    /// The maximum number of bytes of text that `tokens` tokens can cover; `None` if there is no
    /// bound.
    pub fn most_bytes(&self, tokens: usize) -> Option<usize> {
        self.most_bytes_per_token()?.checked_mul(tokens)
    }

    /// Replaces `ids` by the first ids of a text, at most `room`, that cover whole characters only.
    /// `read` is the length of the text if and only if all ids fit, including special tokens after
    /// the text; then no offsets are computed. Ignores truncation and padding.
    pub fn encode_first(
        &self,
        text: Text<'_>,
        room: usize,
        options: &EncodeOptions,
        ids: &mut Vec<u32>,
    ) -> Result<Written, EncodeError> {
        let plan = self.count_plan(options)?;
        let mut out = Encoding { ids: std::mem::take(ids), ..Encoding::default() };
        out.ids.clear();
        let result = self.with_encoder(|encoder| {
            encoder.encode_first(&self.pipeline, &text.into(), &plan, room, &mut out)?;
            if out.ids.len() <= room {
                return Ok(Written { read: text.weight(), written: out.ids.len() });
            }
            self.whole_characters(encoder, text, &plan, room)
        });
        *ids = out.ids;
        ids.truncate(result.as_ref().map_or(0, |made| made.written));
        result
    }

    /// The number of the first `room` tokens that end with a character, and the position at which
    /// they end. The text has more than `room` tokens.
    fn whole_characters(
        &self,
        encoder: &mut Encoder,
        text: Text<'_>,
        plan: &Plan,
        room: usize,
    ) -> Result<Written, EncodeError> {
        let layout = self.pipeline.post_processor.layout(false, plan.add_special_tokens)?;
        let is_special = |token: &RunTokens| matches!(token, RunTokens::Special { .. });
        let before = layout.pieces.iter().map(|piece| &piece.run).take_while(|run| is_special(&run.tokens));
        let before = before.map(Run::len).sum::<usize>();
        let bare = self.bare_tokens(encoder, text, plan, room.saturating_sub(before))?.offsets;
        // The special tokens after the text belong to its last token.
        let most = room.saturating_sub(before).min(bare.len().saturating_sub(1));
        // Tokens of bytes can end within a character.
        let is_between = |place: u32| text.floor(place as usize) == place as usize;
        let starts_after =
            |at: usize| bare[at][0] >= bare[at - 1][1] && is_between(bare[at - 1][1]) && is_between(bare[at][0]);
        // Tokens that cover no text, such as those of a suffix, belong to the last token before
        // them: `read` is the length of the text only with all tokens.
        let is_within = |at: usize| (bare[at - 1][1].max(bare[at][0]) as usize) < text.weight();
        let written = (1..=most).rev().find(|&at| starts_after(at) && is_within(at));
        Ok(written.map_or(Written { read: 0, written: 0 }, |at| Written {
            read: self.read_up_to(text, bare[at - 1][1] as usize, bare[at][0] as usize),
            written: before + at,
        }))
    }

    /// The first tokens of a text, at least `tokens` and one more if there are as many, with word
    /// ids and with offsets in the unit of [`Text::weight`], not trimmed.
    fn bare_tokens(
        &self,
        encoder: &mut Encoder,
        text: Text<'_>,
        plan: &Plan,
        tokens: usize,
    ) -> Result<Encoding, EncodeError> {
        let mut out = Encoding::default();
        encoder.encode_first_bare(&self.pipeline, text, &with_places(plan, text), tokens, &mut out)?;
        // Offsets beyond the text belong to a suffix that the model reads and the text does not
        // contain.
        let end = text.weight() as u32;
        out.offsets.iter_mut().flatten().for_each(|place| *place = end.min(*place));
        Ok(out)
    }

    /// The position up to which ids cover the text if they end at `end` and the next token starts
    /// at `next`. Offsets of characters that normalization composed include only the first of them;
    /// the others are covered as well.
    fn read_up_to(&self, text: Text<'_>, end: usize, next: usize) -> usize {
        if self.pipeline.normalizer.is_none() || next <= end {
            return end;
        }
        let mut buffer = String::new();
        match text.slice(end, next).to_utf8(&mut buffer) {
            Ok(between) if !between.starts_with(char::is_whitespace) => next,
            _ => end,
        }
    }

    /// The longest prefix of a text that ends between two characters and has at most `limit` tokens
    /// when it is encoded separately, special tokens included. `None` if the special tokens alone
    /// exceed the limit.
    ///
    /// A longer prefix can have fewer tokens: with `\u{1103}\u{1170}`, NFC composes a syllable that
    /// `\u{1103}` begins, and a longer word can have fewer tokens. [`longest`] explains which
    /// prefixes are counted.
    pub fn longest_prefix(
        &self,
        text: Text<'_>,
        limit: usize,
        options: &EncodeOptions,
    ) -> Result<Option<Prefix>, EncodeError> {
        let plan = self.count_plan(options)?;
        let text = text.slice(0, self.most_bytes(limit).unwrap_or(usize::MAX));
        let Some(room) = self.room_for_text(&plan, limit)? else { return Ok(None) };
        let mut buffer = String::new();
        let utf8 = text.to_utf8(&mut buffer)?;
        self.with_encoder(|encoder| {
            // If the text is probably within the limit, the fastest way to know is to count it.
            if utf8.len() / LIKELY_BYTES_PER_TOKEN <= limit {
                let tokens = encoder.count(&self.pipeline, &utf8.into(), &plan, limit)?;
                if tokens <= limit {
                    return Ok(Some(Prefix { length: text.weight(), tokens }));
                }
            }
            let found = Prefixes::new(self, &plan).start(utf8).longest(encoder, room.tokens)?;
            let length = match text {
                Text::Utf16(_) => utf16_len(&utf8[..found.length]),
                Text::Utf8(_) | Text::Bytes(_) => found.length,
            };
            Ok(Some(Prefix { length, tokens: room.total(found.tokens) }))
        })
    }

    /// The number of tokens of a text alone that are within `limit`; `None` if the special tokens
    /// exceed it.
    pub(crate) fn room_for_text(&self, plan: &Plan, limit: usize) -> Result<Option<TokenBudget>, EncodeError> {
        let layout = self.pipeline.post_processor.layout(false, plan.add_special_tokens)?;
        let runs = || layout.pieces.iter().map(|piece| &piece.run);
        let is_text = |run: &&Run| matches!(run.tokens, RunTokens::Text { .. });
        let copies = runs().filter(is_text).count();
        let special = runs().filter(|run| !is_text(run)).map(Run::len).sum();
        let room = |rest: usize| rest.checked_div(copies).unwrap_or(usize::MAX);
        Ok(limit.checked_sub(special).map(|rest| TokenBudget { tokens: room(rest), special, copies }))
    }

    /// Whether parts of a text can have no token, or many of them share one token.
    fn text_can_vanish(&self) -> bool {
        self.most_bytes_per_token().is_none()
    }

    /// The maximum number of bytes of text that one token can cover, including the effect of
    /// normalization. `None` if text can vanish, or if many characters can become one unknown
    /// token.
    fn most_bytes_per_token(&self) -> Option<usize> {
        *self.token_reach.get_or_init(|| {
            let normalized =
                self.pipeline.normalizer.as_ref().map_or(Some(1), |normalizer| normalizer.most_bytes_per_byte())?;
            let added = self.pipeline.added_tokens.tokens();
            let takes_spaces = added.iter().any(|token| token.lstrip || token.rstrip);
            if takes_spaces || !self.pipeline.pretokenizer.drops_nothing() || !self.pipeline.model.spells_words() {
                return None;
            }
            let forms = added.iter().filter_map(|token| self.pipeline.added_tokens.decoded_form(token.id));
            let longest_added = added.iter().map(|token| token.content.len()).chain(forms.map(str::len)).max();
            let length = |(token, id): (&[u8], u32)| match self.pipeline.token_form {
                TokenForm::Printable => self.pipeline.token_len(id) as usize,
                TokenForm::Text | TokenForm::Ranks => token.len(),
            };
            let longest = self.pipeline.vocab.iter().map(length).max();
            let one_unknown_character = 4;
            Some(longest.max(longest_added).unwrap_or(0).max(one_unknown_character) * normalized)
        })
    }
}

/// The number of tokens of a text that are within a limit, and the special tokens that are added to
/// it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenBudget {
    /// The maximum number of tokens of the text alone.
    pub(crate) tokens: usize,
    special: usize,
    /// The number of times that the post-processor includes the text.
    copies: usize,
}

impl TokenBudget {
    /// The number of tokens, with special tokens, if the text alone has `tokens`.
    pub(crate) fn total(self, tokens: usize) -> usize {
        self.special + self.copies * tokens
    }
}

/// The number of UTF-16 units of a text.
pub(crate) fn utf16_len(text: &str) -> usize {
    // The first byte of each character counts one unit, and one more if the character has four
    // bytes.
    text.bytes().map(|byte| usize::from(byte & 0xC0 != 0x80) + usize::from(byte >= 0xF0)).sum()
}
