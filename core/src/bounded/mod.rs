//! Calls that need only the first tokens of a text: whether it is within a limit, the ids that fit into
//! an array, and its longest prefix within a limit.
//!
//! Where every token stands for at most so many bytes, a long enough text exceeds a limit unseen.
//! Otherwise encoding stops as soon as there are enough tokens.
//!
//! - [`prefixes`]: how many tokens a prefix of a text has, without encoding all of it again.
//! - [`longest`]: which prefixes are counted, and why no longer one is within the limit.
//! - [`reach`]: where the vocabulary allows a token to end behind a given place.

mod longest;
pub(crate) mod prefixes;
pub(crate) mod reach;
#[cfg(test)]
pub(crate) mod subjects;
#[cfg(test)]
mod tests;

use crate::encoder::{Encoder, Plan};
use crate::encoding::{Columns, Encoding, OffsetUnit};
use crate::error::EncodeError;
use crate::post_processor::draft::{Run, RunTokens};
use crate::text::Text;
use crate::tokenizer::{EncodeOptions, TokenForm, Tokenizer};
use prefixes::Prefixes;

/// How far [`Tokenizer::encode_first`] came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// How much of the text the ids stand for: UTF-16 units of UTF-16, bytes of anything else.
    pub read: usize,
    /// How many ids there are.
    pub written: usize,
}

/// The start of a text, as [`Tokenizer::longest_prefix`] finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    /// Its length: UTF-16 units of UTF-16, bytes of anything else.
    pub length: usize,
    /// How many tokens it has by itself.
    pub tokens: usize,
}

/// A text of so many bytes for each token of the limit, or less, is counted before anything else is tried.
const LIKELY_BYTES_PER_TOKEN: usize = 4;

/// A plan by which offsets, in the unit of [`Text::weight`], and word ids are told.
fn with_places(plan: &Plan, text: Text<'_>) -> Plan {
    let offset_unit = if matches!(text, Text::Utf16(_)) { OffsetUnit::Utf16 } else { OffsetUnit::Byte };
    Plan { columns: Columns::OFFSETS | Columns::WORD_IDS, offset_unit, ..plan.clone() }
}

impl Tokenizer {
    /// Whether a text has at most `limit` tokens, as [`Self::count`] counts them. The text is looked at only as far as
    /// that needs, so what would be an error further on can go unnoticed.
    pub fn is_within(&self, text: Text<'_>, limit: usize, options: &EncodeOptions) -> Result<bool, EncodeError> {
        if self.is_surely_beyond(text.weight(), limit, options)? {
            return Ok(false);
        }
        let plan = self.count_plan(options)?;
        self.with_encoder(|encoder| Ok(encoder.count(self, &text.into(), &plan, limit)? <= limit))
    }

    /// Whether any text of so many bytes has more than `limit` tokens. False if that depends on the text.
    pub fn is_surely_beyond(&self, bytes: usize, limit: usize, options: &EncodeOptions) -> Result<bool, EncodeError> {
        self.count_plan(options)?;
        Ok(self.most_bytes(limit).is_some_and(|most| most < bytes))
    }

    /// The most bytes of text that so many tokens can stand for; nothing where there is no bound.
    pub fn most_bytes(&self, tokens: usize) -> Option<usize> {
        self.most_bytes_per_token()?.checked_mul(tokens)
    }

    /// The first ids of a text, written over `ids`: at most `room`, and only whole characters of the text. All of the
    /// text is read exactly when all its ids are there, those behind the text included; then no more than the ids is
    /// computed. Truncation and padding do not matter.
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
            encoder.encode_first(self, &text.into(), &plan, room, &mut out)?;
            if out.ids.len() <= room {
                return Ok(Written { read: text.weight(), written: out.ids.len() });
            }
            self.whole_characters(encoder, text, &plan, room)
        });
        *ids = out.ids;
        ids.truncate(result.as_ref().map_or(0, |made| made.written));
        result
    }

    /// How many of the first `room` tokens of a text that has more end with a character, and where that is.
    fn whole_characters(
        &self,
        encoder: &mut Encoder,
        text: Text<'_>,
        plan: &Plan,
        room: usize,
    ) -> Result<Written, EncodeError> {
        let layout = self.post_processor.layout(false, plan.add_special_tokens)?;
        let is_special = |token: &RunTokens| matches!(token, RunTokens::Special { .. });
        let before = layout.pieces.iter().map(|piece| &piece.run).take_while(|run| is_special(&run.tokens));
        let before = before.map(|run| run.len()).sum::<usize>();
        let bare = self.bare_tokens(encoder, text, plan, room.saturating_sub(before))?.offsets;
        // What stands behind the text belongs to its last token.
        let most = room.saturating_sub(before).min(bare.len().saturating_sub(1));
        let starts_behind = |at: usize| bare[at][0] >= bare[at - 1][1];
        // Tokens that stand for no text, as those of a suffix, come with the last one before them: only with all tokens is
        // all of the text read.
        let is_within = |at: usize| (bare[at - 1][1] as usize) < text.weight();
        let written = (1..=most).rev().find(|&at| starts_behind(at) && is_within(at));
        Ok(written.map_or(Written { read: 0, written: 0 }, |at| Written {
            read: self.read_up_to(text, bare[at - 1][1] as usize, bare[at][0] as usize),
            written: before + at,
        }))
    }

    /// The offsets of a text's first tokens, `tokens` and one more at least if there are so many, in the unit of
    /// [`Text::weight`] and not trimmed, and the words they are of.
    fn bare_tokens(
        &self,
        encoder: &mut Encoder,
        text: Text<'_>,
        plan: &Plan,
        tokens: usize,
    ) -> Result<Encoding, EncodeError> {
        let mut out = Encoding::default();
        encoder.encode_first_bare(self, text, &with_places(plan, text), tokens, &mut out)?;
        // Places beyond the text stand for a suffix that the model sees and the text does not have.
        let end = text.weight() as u32;
        out.offsets.iter_mut().flatten().for_each(|place| *place = end.min(*place));
        Ok(out)
    }

    /// How far ids read that end at `end`, where the next token starts at `next`. Offsets of characters
    /// that normalization composed name only the first of them; the others are read as well.
    fn read_up_to(&self, text: Text<'_>, end: usize, next: usize) -> usize {
        if self.normalizer.is_none() || next <= end {
            return end;
        }
        let mut buffer = String::new();
        match text.slice(end, next).to_utf8(&mut buffer) {
            Ok(between) if !between.starts_with(char::is_whitespace) => next,
            _ => end,
        }
    }

    /// The longest prefix of a text that has at most `limit` tokens when it is encoded by itself, special
    /// tokens included, and that ends between two characters. `None` if the special tokens alone are more.
    ///
    /// Counts of prefixes do not only grow: with `\u{1103}\u{1170}` NFC composes what `\u{1103}` begins,
    /// and a longer word can have fewer tokens. [`longest`] says which prefixes are looked at.
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
            // A text that is probably within the limit is counted once, which is the fastest way to know.
            if utf8.len() / LIKELY_BYTES_PER_TOKEN <= limit {
                let tokens = encoder.count(self, &utf8.into(), &plan, limit)?;
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

    /// How many tokens of a text alone are within `limit`; `None` if the special tokens are more.
    pub(crate) fn room_for_text(&self, plan: &Plan, limit: usize) -> Result<Option<Room>, EncodeError> {
        let layout = self.post_processor.layout(false, plan.add_special_tokens)?;
        let runs = || layout.pieces.iter().map(|piece| &piece.run);
        let is_text = |run: &&Run| matches!(run.tokens, RunTokens::Text { .. });
        let copies = runs().filter(is_text).count();
        let special = runs().filter(|run| !is_text(run)).map(Run::len).sum();
        let room = |rest: usize| rest.checked_div(copies).unwrap_or(usize::MAX);
        Ok(limit.checked_sub(special).map(|rest| Room { tokens: room(rest), special, copies }))
    }

    /// Whether a text can have parts that no token stands for, or that many of share one.
    fn text_can_vanish(&self) -> bool {
        self.most_bytes_per_token().is_none()
    }

    /// The most bytes of text that one token can stand for, whatever normalization makes of them. Nothing if text can
    /// vanish, or many characters be one unknown token.
    fn most_bytes_per_token(&self) -> Option<usize> {
        *self.token_reach.get_or_init(|| {
            let normalized = self.normalizer.as_ref().map_or(Some(1), |normalizer| normalizer.most_bytes_per_byte())?;
            let added = self.added_tokens.tokens();
            let takes_spaces = added.iter().any(|token| token.lstrip || token.rstrip);
            if takes_spaces || !self.pretokenizer.drops_nothing() || !self.model.spells_words() {
                return None;
            }
            let forms = added.iter().filter_map(|token| self.added_tokens.decoded_form(token.id));
            let longest_added = added.iter().map(|token| token.content.len()).chain(forms.map(str::len)).max();
            let length = |(token, id): (&[u8], u32)| match self.token_form {
                TokenForm::Printable => self.token_len(id) as usize,
                TokenForm::Text | TokenForm::Ranks => token.len(),
            };
            let longest = self.vocab.iter().map(length).max();
            let one_unknown_character = 4;
            Some(longest.max(longest_added).unwrap_or(0).max(one_unknown_character) * normalized)
        })
    }
}

/// How many tokens of a text are within a limit, and what is added to them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// The most tokens of the text alone.
    pub(crate) tokens: usize,
    special: usize,
    /// How often the post-processor writes the text.
    copies: usize,
}

impl Room {
    /// How many tokens there are, with special tokens, when the text alone has `tokens`.
    pub(crate) fn total(self, tokens: usize) -> usize {
        self.special + self.copies * tokens
    }
}

/// How many UTF-16 units a text has.
pub(crate) fn utf16_len(text: &str) -> usize {
    // Each first byte of a character is one unit, and one more where the character has four bytes.
    text.bytes().map(|byte| usize::from(byte & 0xC0 != 0x80) + usize::from(byte >= 0xF0)).sum()
}
