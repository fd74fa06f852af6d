//! Whether a text is within a limit of tokens.
//!
//! If every token covers at most a known number of bytes, a text that is long enough exceeds the
//! limit without being encoded. Otherwise encoding stops when there are enough tokens.

use crate::encoder::Request;
use crate::error::EncodeError;
use crate::options::EncodeOptions;
use crate::text::Text;
use crate::tokenizer::Tokenizer;
use crate::vocab::TokenForm;

impl Tokenizer {
    /// Whether a text has at most `limit` tokens, as [`Self::count`] counts them. Reads the text
    /// only as far as needed, so an error further on can go unnoticed.
    pub fn is_within(&self, text: Text<'_>, limit: usize, options: &EncodeOptions) -> Result<bool, EncodeError> {
        if self.is_surely_beyond(text.weight(), limit, options)? {
            return Ok(false);
        }
        let plan = self.count_plan(options)?;
        self.with_encoder(|encoder| Ok(encoder.count(text, &mut Request::up_to(&plan, limit))? <= limit))
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
        self.max_bytes_per_token()?.checked_mul(tokens)
    }

    /// The maximum number of bytes of text that one token can cover, including the effect of
    /// normalization. `None` if text can vanish, or if many characters can become one unknown
    /// token.
    fn max_bytes_per_token(&self) -> Option<usize> {
        *self.token_reach.get_or_init(|| {
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
        })
    }
}
