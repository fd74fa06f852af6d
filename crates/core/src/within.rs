//! Whether a text is within a limit of tokens.
//!
//! If every token covers at most a known number of bytes, a text that is long enough exceeds the
//! limit without being encoded. Otherwise starts of the text are tried, each longer than the one
//! before: the tokens up to a place that no token crosses, and the fewest tokens that
//! [`crate::min_tokens`] proves. If no start shows it, encoding stops when there are enough tokens.

use crate::batch::row_chunks::first_chunk;
use crate::encoder::{Plan, Request, Source};
use crate::error::EncodeError;
use crate::options::EncodeOptions;
use crate::text::Text;
use crate::token_lens::TokenReach;
use crate::tokenizer::Tokenizer;
use crate::vocab::TokenForm;

/// The starts that are read grow by this factor until one shows that the text has too many tokens.
const GROWTH: usize = 8;

impl Tokenizer {
    /// Whether a text has at most `limit` tokens, as [`Self::count`] counts them. Reads the text
    /// only as far as needed, so an error further on can go unnoticed.
    pub fn is_within(&self, text: Text<'_>, limit: usize, options: &EncodeOptions) -> Result<bool, EncodeError> {
        if self.is_surely_beyond(text.weight(), limit, options)? {
            return Ok(false);
        }
        let plan = self.count_plan(options)?;
        if Self::start_lens(text.weight(), limit).any(|start| self.starts_beyond(text.slice(0, start), limit, &plan)) {
            return Ok(false);
        }
        self.counts_within(text, limit, options)
    }

    /// Like [`Self::is_within`]. Starts to encode at once, for a text whose starts show nothing.
    pub fn counts_within(&self, text: Text<'_>, limit: usize, options: &EncodeOptions) -> Result<bool, EncodeError> {
        let plan = self.count_plan(options)?;
        self.with_encoder(|encoder| Ok(encoder.count(text, &mut Request::up_to(&plan, limit))? <= limit))
    }

    /// The lengths of starts of a text of `length` units. The first ones nearly always show that
    /// the text has more than `limit` tokens, so the rest of it need not be read.
    pub fn start_lens(length: usize, limit: usize) -> impl Iterator<Item = usize> {
        let first = limit.saturating_add(64).saturating_mul(256);
        std::iter::successors(Some(first), |start| start.checked_mul(GROWTH))
            .take_while(move |&start| start < length / 2)
    }

    /// Whether every text that starts like this has more than `limit` tokens. False if that depends
    /// on what follows, or if that is not known.
    pub fn is_surely_beyond_with(
        &self,
        start: Text<'_>,
        limit: usize,
        options: &EncodeOptions,
    ) -> Result<bool, EncodeError> {
        Ok(self.starts_beyond(start, limit, &self.count_plan(options)?))
    }

    fn starts_beyond(&self, start: Text<'_>, limit: usize, plan: &Plan) -> bool {
        if let Some(text) = first_chunk(self, plan, start) {
            let chunk = Source::Chunk { text, is_first: true, is_last: false };
            let mut request = Request::up_to(plan, limit);
            if self.with_encoder(|encoder| encoder.count(chunk, &mut request)).is_ok_and(|count| count > limit) {
                return true;
            }
        }
        let mut buffer = String::new();
        start.to_utf8(&mut buffer).is_ok_and(|start| self.min_tokens(start, &plan.policy, limit) > limit)
    }

    /// Whether every text of this many bytes has more than `limit` tokens. False if that depends on
    /// the text.
    pub fn is_surely_beyond(&self, bytes: usize, limit: usize, options: &EncodeOptions) -> Result<bool, EncodeError> {
        self.count_plan(options)?;
        Ok(self.max_bytes(limit).is_some_and(|max| max < bytes))
    }

    /// The maximum number of bytes of text that `tokens` tokens can cover; `None` if there is no
    /// bound.
    pub fn max_bytes(&self, tokens: usize) -> Option<usize> {
        self.token_reach().max_bytes?.checked_mul(tokens)
    }

    pub(crate) fn token_reach(&self) -> &TokenReach {
        self.token_reach.get_or_init(|| {
            let longest = self.pipeline.parts.vocab.iter().map(|(token, _)| token.len()).max().unwrap_or(0);
            let longest_cover = self.compute_longest_cover(longest);
            TokenReach { longest, longest_cover, max_bytes: self.max_bytes_per_token() }
        })
    }

    /// See [`TokenReach::max_bytes`].
    fn max_bytes_per_token(&self) -> Option<usize> {
        let normalized =
            self.pipeline.normalizer.as_ref().map_or(Some(1), |normalizer| normalizer.max_bytes_per_byte())?;
        let added = self.pipeline.parts.added_tokens.tokens();
        let takes_spaces = added.iter().any(|token| token.lstrip || token.rstrip);
        if takes_spaces || !self.pipeline.pretokenizer.drops_nothing() || !self.pipeline.model.spells_words() {
            return None;
        }
        let forms = added.iter().filter_map(|token| self.pipeline.parts.added_tokens.decoded_form(token.id));
        let longest_added = added.iter().map(|token| token.content.len()).chain(forms.map(str::len)).max();
        let length = |(token, id): (&[u8], u32)| match self.pipeline.token_form {
            TokenForm::Printable => self.pipeline.token_len(id) as usize,
            TokenForm::Text | TokenForm::Ranks => token.len(),
        };
        let longest = self.pipeline.parts.vocab.iter().map(length).max();
        let one_unknown_character = 4;
        Some(longest.max(longest_added).unwrap_or(0).max(one_unknown_character) * normalized)
    }
}
