//! What needs only so many tokens of a text: is it within a limit, the ids that there is room for, the longest prefix.
//!
//! A text that is long enough is over any limit, whatever its tokens are: no token stands for more than so many bytes of
//! it. That is known without looking at the text. Otherwise encoding stops when enough tokens are there.

use crate::encoder::{Encoder, Plan};
use crate::encoding::{Columns, Encoding, OffsetUnit};
use crate::error::EncodeError;
use crate::normalizer::Normalizer;
use crate::post_processor::draft::RunTokens;
use crate::text::Text;
use crate::tokenizer::{EncodeOptions, TokenForm, Tokenizer};

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

/// How many tokens behind the last that is within a limit are looked at: a prefix that ends in one of them can have fewer
/// tokens than the limit again, because its end merges differently.
const TOKENS_BEYOND: usize = 4;
/// How many characters there are tried at most, and at least.
const CHARACTERS_BEYOND: usize = 64;
const FEWEST_BEYOND: usize = 4;
/// All tries together look at about so many units of the text, so that one endless word does not cost the square of it.
const UNITS_TRIED: usize = 4 << 20;

/// So many units before the end of a prefix tokens are mostly those of the whole text.
const UNITS_BEFORE: usize = 128;

/// What is asked for: a prefix of a text that has more than `limit` tokens, `room` of which are the text's.
#[derive(Clone, Copy)]
struct Sought<'a> {
    text: Text<'a>,
    plan: &'a Plan,
    limit: usize,
    room: usize,
}

/// A place in a text, shortly before the end of the prefix sought, from which on it can be counted by itself.
struct Anchor {
    /// How many tokens come before it.
    before: usize,
    start: usize,
    /// The length of the token that starts there, where that token has to be there for the count to be right; nothing where a
    /// word starts.
    token: Option<u32>,
}

/// The last token that starts up to `place`, with a character and behind another token.
fn token_before(made: &Encoding, text: Text<'_>, place: usize) -> Option<Anchor> {
    let offsets = &made.offsets;
    let begins = |&at: &usize| {
        let start = offsets[at][0] as usize;
        start <= place && offsets[at - 1][1] as usize <= start && text.floor(start) == start
    };
    let before = (1..offsets.len()).rev().find(begins)?;
    let [start, end] = offsets[before];
    Some(Anchor { before, start: start as usize, token: Some(end - start) })
}

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
        let written = (1..=most).rev().find(|&at| starts_behind(at));
        Ok(written.map_or(Written { read: 0, written: 0 }, |at| Written {
            read: bare[at - 1][1] as usize,
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

    /// The longest prefix of a text that has at most `limit` tokens by itself, special tokens included, and ends with a
    /// character. Nothing if the special tokens alone are more.
    ///
    /// Prefixes are tried from the longest that can be expected, a few tokens beyond the limit, to shorter ones. (Beyond the
    /// limit of a text that is one word of many thousand characters few are tried: there may then be a longer one.)
    pub fn longest_prefix(
        &self,
        text: Text<'_>,
        limit: usize,
        options: &EncodeOptions,
    ) -> Result<Option<Prefix>, EncodeError> {
        let plan = self.count_plan(options)?;
        let text = text.slice(0, self.most_bytes(limit).unwrap_or(usize::MAX));
        self.with_encoder(|encoder| {
            let whole = encoder.count(self, &text.into(), &plan, limit)?;
            if whole <= limit {
                return Ok(Some(Prefix { length: text.weight(), tokens: whole }));
            }
            let added = encoder.count(self, &text.slice(0, 0).into(), &plan, limit)?;
            match limit.checked_sub(added) {
                Some(room) => {
                    let sought = Sought { text, plan: &plan, limit, room };
                    let (length, anchor) = self.first_try(UNITS_BEFORE, encoder, sought)?;
                    self.prefix_up_to(length, encoder, sought, anchor).map(Some)
                }
                None => Ok(None),
            }
        })
    }

    /// The longest prefix that can be expected, and a place from which on it and shorter ones can be counted, `back` units
    /// before the end of the shortest that can.
    fn first_try(
        &self,
        back: usize,
        encoder: &mut Encoder,
        Sought { text, plan, room, .. }: Sought<'_>,
    ) -> Result<(usize, Option<Anchor>), EncodeError> {
        let made = self.bare_tokens(encoder, text, plan, room + TOKENS_BEYOND)?;
        let end_of = |tokens: usize| {
            let spans = &made.offsets[..tokens.min(made.offsets.len())];
            spans.iter().map(|span| span[1]).max().unwrap_or(0) as usize
        };
        let edge = end_of(room);
        let anchor = match self.goes_on() && !encoder.has_added_tokens(self, text)? {
            true => token_before(&made, text, edge.saturating_sub(back)),
            false => self.word_before(&made, room, text),
        };
        let a_try = match anchor {
            Some(Anchor { start, token: None, .. }) => edge - start.min(edge),
            _ => edge,
        };
        let characters = (UNITS_TRIED / a_try.max(1)).clamp(FEWEST_BEYOND, CHARACTERS_BEYOND);
        Ok((text.floor(end_of(room + TOKENS_BEYOND).min(edge + characters)), anchor))
    }

    /// The longest prefix of `length` or less.
    fn prefix_up_to(
        &self,
        mut length: usize,
        encoder: &mut Encoder,
        sought: Sought<'_>,
        anchor: Option<Anchor>,
    ) -> Result<Prefix, EncodeError> {
        let Sought { text, plan, limit, .. } = sought;
        loop {
            // What stands long before the end is as it is in the whole text: mostly only the end has to be counted.
            let is_beyond = match &anchor {
                Some(anchor) if anchor.start < length => self.is_beyond(length, encoder, sought, anchor)?,
                _ => false,
            };
            if !is_beyond {
                let tokens = encoder.count(self, &text.slice(0, length).into(), plan, limit)?;
                if tokens <= limit {
                    return Ok(Prefix { length, tokens });
                }
            }
            length = text.floor(length - 1);
        }
    }

    /// Whether the prefix of `length` certainly has too many tokens.
    fn is_beyond(
        &self,
        length: usize,
        encoder: &mut Encoder,
        Sought { text, plan, room, .. }: Sought<'_>,
        anchor: &Anchor,
    ) -> Result<bool, EncodeError> {
        let room = room.saturating_sub(anchor.before);
        let end = text.slice(anchor.start, length);
        let Some(token) = anchor.token else {
            return Ok(encoder.count_bare(self, end, plan, room)? > room);
        };
        let mut behind = Encoding::default();
        encoder.encode_continuation(self, end, &with_places(plan, text), &mut behind)?;
        Ok(behind.offsets.first() == Some(&[0, token]) && behind.len() > room)
    }

    /// A word's start shortly before the token `at`; nothing where words are not cut without regard to what stood before
    /// them.
    fn word_before(&self, made: &Encoding, at: usize, text: Text<'_>) -> Option<Anchor> {
        const WORDS_BEFORE: u32 = 3;
        // A normalization form does not look beyond a word either.
        let keeps_words = self.normalizer.as_ref().is_none_or(|normalizer| matches!(normalizer, Normalizer::Form(_)));
        if self.scanner.is_none() || !self.pretokenizer.stages.is_empty() || !keeps_words {
            return None;
        }
        let word = made.word_ids.get(at)?.checked_sub(WORDS_BEFORE)?;
        let before = made.word_ids.partition_point(|&other| other < word);
        let start = made.offsets[before][0] as usize;
        (text.floor(start) == start).then_some(Anchor { before, start, token: None })
    }

    /// Whether all of a text behind its first piece is read as it stands, so that [`Encoder::encode_continuation`] can be asked.
    fn goes_on(&self) -> bool {
        let is_exact = self
            .model
            .bpe()
            .is_some_and(|bpe| bpe.split_points.is_some() && bpe.is_splittable && bpe.dropout.is_none());
        self.spaces.is_some() && is_exact
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::added_tokens::SpecialTokens;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    /// Tokenizers that read spaces as they stand, with the merges told, and one that cuts into words.
    fn tokenizers(merges: &[(String, String)]) -> Vec<Tokenizer> {
        let prepend = json!({"type": "Prepend", "prepend": "▁"});
        let replace = json!({"type": "Replace", "pattern": {"String": " "}, "content": "▁"});
        let both = json!({"type": "Sequence", "normalizers": [prepend, replace]});
        let metaspace =
            |split| json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": split});
        let words = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true});
        let parts = [
            (both, Value::Null),
            (replace, Value::Null),
            (Value::Null, metaspace(false)),
            (Value::Null, metaspace(true)),
            (Value::Null, words),
        ];
        let mut tokens: Vec<String> = (0..256).map(|byte| format!("<0x{byte:02X}>")).collect();
        tokens.extend("▁abcdĠ".chars().map(String::from));
        tokens.extend(merges.iter().map(|(left, right)| format!("{left}{right}")));
        let vocab: serde_json::Map<String, Value> = tokens.into_iter().zip((0..).map(Value::from)).collect();
        let added = json!([{"id": 1000, "content": "<x>", "special": true, "normalized": false, "single_word": false,
            "lstrip": false, "rstrip": false}]);
        let tokenizer = |(normalizer, pre_tokenizer): &(Value, Value)| {
            let model = json!({"type": "BPE", "vocab": vocab, "merges": merges, "byte_fallback": true});
            let file = json!({"version": "1.0", "added_tokens": added, "normalizer": normalizer,
                "pre_tokenizer": pre_tokenizer, "model": model});
            Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("a sound file")
        };
        parts.iter().map(tokenizer).collect()
    }

    /// Merges of letters and of what was joined before.
    fn merges() -> impl Strategy<Value = Vec<(String, String)>> {
        prop::collection::vec((0usize..1000, 0usize..1000), 0..24).prop_map(|pairs| {
            let mut known: Vec<String> = "▁▁abcd".chars().map(String::from).collect();
            let mut merges: Vec<(String, String)> = vec![];
            for (left, right) in pairs {
                let pair = (known[left % known.len()].clone(), known[right % known.len()].clone());
                let joined = format!("{}{}", pair.0, pair.1);
                if !known.contains(&joined) {
                    known.push(joined);
                    merges.push(pair);
                }
            }
            merges
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_end_counted_by_itself_gives_the_prefix_that_counting_all_gives(
            merges in merges(),
            text in "( {50,200}|a{50,200}|(ab){20,90}|[ab ]{30,200}|[abcdé🌍 ]{1,90}|<x>){2,5}",
            limits in prop::collection::vec(1usize..200, 4),
        ) {
            let units: Vec<u16> = text.encode_utf16().collect();
            let options = EncodeOptions { special_tokens: SpecialTokens::Parse, ..EncodeOptions::default() };
            for tokenizer in tokenizers(&merges) {
                let plan = tokenizer.count_plan(&options).expect("sound options");
                let count = tokenizer.count(text.as_str().into(), &options).expect("a text");
                for text in [Text::Utf8(&text), Text::Utf16(&units)] {
                    for &limit in limits.iter().filter(|&&limit| limit < count) {
                        let sought = Sought { text, plan: &plan, limit, room: limit };
                        for back in [0, 3, UNITS_BEFORE] {
                            let [quick, slow] = tokenizer.with_encoder(|encoder| {
                                let (length, anchor) = tokenizer.first_try(back, encoder, sought).expect("a text");
                                [anchor, None].map(|anchor| tokenizer.prefix_up_to(length, encoder, sought, anchor))
                            });
                            prop_assert_eq!(quick, slow);
                        }
                        let found = tokenizer.longest_prefix(text, limit, &options);
                        prop_assert_eq!(found.map(|found| found.map(|found| found.tokens <= limit)), Ok(Some(true)));
                    }
                }
            }
        }
    }
}
