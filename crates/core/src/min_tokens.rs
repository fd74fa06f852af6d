//! A lower bound of the tokens of every text that starts in a certain way, without encoding it.
//!
//! - A model that spells its words covers at most as many bytes with a token as its longest token
//!   has. Only bytes count that no token of a run can cover: not white space, which an added token
//!   may take, and not characters that the model does not know.
//! - WordPiece and WordLevel can cover a word of any length with the unknown token, but make at
//!   least one token of each word.
//!
//! The start is normalized alone. That is exact up to its last characters, if what the normalizer
//! makes of a character depends on near ones only. Other normalizers, and patterns that may drop
//! other text than white space, have no bound.

use std::borrow::Cow;
use std::collections::HashMap;

use unicode_segmentation::UnicodeSegmentation;

use crate::added_tokens::Policy;
use crate::budget::Budget;
use crate::encoder::Word;
use crate::model::Model;
use crate::normalizer::Normalizer;
use crate::tokenizer::Tokenizer;

/// The characters at the end of a start that do not count, because they can become something else
/// with the next ones: grapheme clusters, and words.
const UNCERTAIN_CLUSTERS: usize = 2;
const UNCERTAIN_WORDS: usize = 3;

/// Stands for spaces in tokens of SentencePiece.
const META_SYMBOL: char = '▁';

impl Tokenizer {
    /// The fewest tokens, without special tokens around it, of a text that starts like this. Counts
    /// no further than to more than `enough`.
    pub(crate) fn min_tokens(&self, start: &str, policy: &Policy, enough: usize) -> usize {
        let pipeline = &self.pipeline;
        if let Some(Normalizer::SentencePiece(normalizer)) = &pipeline.normalizer {
            let Model::SentencePiece(model) = &*pipeline.model else { return 0 };
            // Added tokens divide a text before it is normalized.
            if !model.keeps_known_characters() || !pipeline.parts.added_tokens.tokens().is_empty() {
                return 0;
            }
            let id = |c: char| pipeline.parts.vocab.id(c.encode_utf8(&mut [0; 4]).as_bytes());
            let is_known = |c: char| id(c).is_some_and(|id| model.is_normal(id));
            let longest = self.token_reach().longest.max(1);
            let enough = longest.saturating_mul(enough);
            let bytes = normalizer.known_bytes(start, enough, &mut Budget::of_text(start.len()), is_known);
            return bytes.div_ceil(longest);
        }
        if !pipeline.normalizer.as_ref().is_none_or(Normalizer::is_local) {
            return 0;
        }
        let start = without_last_clusters(start);
        match &*pipeline.model {
            Model::WordPiece(_) | Model::WordLevel(_) => self.min_words(start, policy),
            Model::Bpe(_) | Model::Unigram(_) => self.spelled_bytes(start, enough).div_ceil(self.longest_cover()),
            Model::SentencePiece(_) => 0,
        }
    }

    /// The fewest words, where an added token counts as one.
    fn min_words(&self, start: &str, policy: &Policy) -> usize {
        if !self.pipeline.pretokenizer.is_local() {
            return 0;
        }
        let mut words = 0;
        let result = self.with_encoder(|encoder| {
            encoder.each_word(start, policy, &mut |word| {
                words += usize::from(matches!(word, Word::Added(_) | Word::Split(_)));
            })
        });
        // An added token that ends behind the start can contain as many words as characters.
        let longest = self.pipeline.parts.added_tokens.tokens().iter().map(|token| token.content.len()).max();
        result.map_or(0, |()| words).saturating_sub(UNCERTAIN_WORDS + longest.unwrap_or(0))
    }

    /// The bytes of the normalized start that tokens have to spell.
    fn spelled_bytes(&self, start: &str, enough: usize) -> usize {
        let pipeline = &self.pipeline;
        let normalized = match &pipeline.normalizer {
            None => Cow::Borrowed(start),
            Some(normalizer) => match normalizer.normalized(start, &mut Budget::of_text(start.len())) {
                Ok(normalized) => Cow::Owned(normalized),
                Err(_) => return 0,
            },
        };
        let writes_bytes = pipeline.pretokenizer.writes_bytes();
        let unknown = self.unk_id().and_then(|id| self.id_to_token(id)).unwrap_or_default();
        let mut kept: HashMap<char, bool, foldhash::fast::RandomState> = HashMap::default();
        let mut bytes = 0;
        let enough = self.longest_cover().saturating_mul(enough);
        for character in normalized.chars() {
            let is_kept = *kept.entry(character).or_insert_with(|| {
                !character.is_whitespace()
                    && character != META_SYMBOL
                    && !unknown.contains(character)
                    && (character.is_ascii() || !writes_bytes)
                    && self.is_spelled(character)
                    && pipeline.pretokenizer.keeps(character)
            });
            bytes += if is_kept { character.len_utf8() } else { 0 };
            if bytes > enough {
                break;
            }
        }
        bytes
    }

    /// Whether the model spells a character of a word, wherever it is.
    fn is_spelled(&self, character: char) -> bool {
        let mut buffer = [0; 4];
        let text = character.encode_utf8(&mut buffer);
        match &*self.pipeline.model {
            Model::Bpe(bpe) => bpe.alphabet.spells(character),
            Model::Unigram(model) => model.knows_all_bytes() || self.pipeline.parts.vocab.id(text.as_bytes()).is_some(),
            Model::WordPiece(_) | Model::WordLevel(_) | Model::SentencePiece(_) => false,
        }
    }

    /// The maximum number of bytes of the normalized text, other than white space, that a token
    /// covers.
    fn longest_cover(&self) -> usize {
        self.token_reach().longest_cover
    }

    /// See [`TokenReach::longest_cover`](crate::token_lens::TokenReach::longest_cover).
    pub(crate) fn compute_longest_cover(&self, longest: usize) -> usize {
        let added = self.pipeline.parts.added_tokens.tokens().iter().map(|token| {
            let content = &token.content;
            let mut budget = Budget::of_text(content.len());
            let normalized =
                self.pipeline.normalizer.as_ref().and_then(|one| one.normalized(content, &mut budget).ok());
            content.len().max(normalized.map_or(0, |normalized| normalized.len()))
        });
        added.max().unwrap_or(0).max(longest).max(1)
    }
}

/// A text without its last grapheme clusters.
fn without_last_clusters(text: &str) -> &str {
    let mut clusters = text.grapheme_indices(true);
    let first = (0..UNCERTAIN_CLUSTERS).map_while(|_| clusters.next_back()).last();
    first.map_or("", |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests;
