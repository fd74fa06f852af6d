//! Special and added tokens, which are found in the text before any other stage.
//!
//! There are two searches, for tokens of the original text and for tokens of the normalized text
//! (`normalized: true` in the file). Each finds the leftmost token, and the longest of those that
//! start at the same position. The behaviour is that of Hugging Face tokenizers' `AddedVocabulary`.
//! A [`Policy`] decides which special tokens a text may contain.
//!
//! - [`search`]: finds the positions of tokens in a text.

mod search;
#[cfg(test)]
mod tests;

use regex_syntax::is_word_character;
use serde::Serialize;

use crate::error::{EncodeError, LoadError};
use crate::memory::fallible::copies;
use crate::span::Span;
use search::{KnownMatches, TokenMatch, TokenSearch};

/// A map with a fast hash function, because decoding looks up every token.
type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

/// A token that is defined in addition to the model's vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct AddedToken {
    /// The id.
    pub id: u32,
    /// The text.
    pub content: String,
    /// Whether it is only found if no word character is next to it.
    pub single_word: bool,
    /// Whether it includes the white space before it.
    pub lstrip: bool,
    /// Whether it includes the white space after it.
    pub rstrip: bool,
    /// Whether it is searched in the normalized text, in its normalized form.
    pub normalized: bool,
    /// Whether it is special: `skip_special_tokens` leaves it out, and [`SpecialTokens`] decides
    /// whether it is found in a text.
    pub special: bool,
}

/// The treatment of special tokens that are spelled out in a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SpecialTokens {
    /// As the library of the format: [`Self::Parse`] for a tokenizer.json (Hugging Face),
    /// [`Self::Throw`] for rank files (tiktoken). The default.
    #[default]
    FileDefault,
    /// Each becomes its token.
    Parse,
    /// They are ordinary text. Added tokens that are not special are still found.
    Text,
    /// The first one found is an error that names it.
    Throw,
    /// The named ones become their tokens, the others are text. A name that is not a special token
    /// is an error.
    Only(Vec<String>),
}

/// [`SpecialTokens`], resolved for one tokenizer, once per call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Policy {
    Parse,
    Text,
    Throw,
    /// By index in [`AddedTokens::tokens`].
    Only(Vec<bool>),
}

/// Which of the tokens in a text are found.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) guard: Option<Guard<'a>>,
}

impl<'a> From<&'a Policy> for Rules<'a> {
    fn from(policy: &'a Policy) -> Self {
        Self { policy, guard: None }
    }
}

/// Keeps tokens out of the ranges of a [`Literal`](crate::Literal).
#[derive(Clone, Copy)]
pub(crate) struct Guard<'a> {
    /// The first byte of a match that is in one of the ranges, or `None`.
    pub(crate) first_literal: &'a dyn Fn(Span) -> Option<usize>,
    /// Whether the model itself could make the token from its text, so that the text is divided.
    pub(crate) divides: bool,
}

/// A section of text between tokens, or a token found in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Segment {
    Text(Span),
    Token {
        /// The index in [`AddedTokens::tokens`].
        token: usize,
        /// The text that it covers, with the white space that it includes.
        span: Span,
    },
}

/// Selects one of the two searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchStage {
    Raw,
    Normalized,
}

/// A known run of white space, so that it is not read again for each token within it.
#[derive(Debug, Default)]
struct SpaceRun(Option<std::ops::RangeInclusive<usize>>);

impl SpaceRun {
    /// The end of the white space that follows byte `at`.
    fn end_behind(&mut self, text: &str, at: usize, is_space: fn(char) -> bool) -> usize {
        match &self.0 {
            Some(known) if known.contains(&at) => *known.end(),
            _ => {
                let end = text.len() - text[at..].trim_start_matches(is_space).len();
                self.0 = Some(at..=end);
                end
            }
        }
    }
}

/// What `isspace` of C takes for white space.
fn is_c_space(character: char) -> bool {
    matches!(character, ' ' | '\t'..='\r')
}

/// The maximum length of all contents together, in bytes. A byte takes about 100 bytes of memory.
const MAX_CONTENTS: usize = 4 << 20;

/// All added tokens of a tokenizer.
#[derive(Debug, Default)]
pub(crate) struct AddedTokens {
    /// Each is special if any of its definitions is.
    tokens: Vec<AddedToken>,
    /// Whether the last definition of each token is special. Saved files contain this value.
    last_is_special: Vec<bool>,
    /// By id: the form that is searched and that decoding writes, if it differs from the content.
    /// It outlives the definition that it comes from, until the normalizer changes.
    normalized_forms: HashMap<u32, String>,
    by_content: HashMap<String, usize>,
    by_id: HashMap<u32, usize>,
    raw: Option<TokenSearch>,
    normalized: Option<TokenSearch>,
    /// After a special token that is treated as text, the search continues after its first
    /// character instead of after its end. tiktoken does so, Hugging Face tokenizers does not.
    looks_within: bool,
    /// As in llama.cpp: tokens take ASCII white space, and where special tokens are text, they do
    /// not hide others.
    as_llama_cpp: bool,
    /// With `as_llama_cpp`: finds the tokens that are not special.
    ordinary: Option<TokenSearch>,
}

impl AddedTokens {
    /// No tokens. [`Self::extended`] adds some.
    pub(crate) fn none(looks_within: bool) -> Self {
        Self { looks_within, ..Self::default() }
    }

    /// No tokens, which are found as in llama.cpp.
    pub(crate) fn of_gguf() -> Self {
        Self { as_llama_cpp: true, ..Self::default() }
    }

    /// The same tokens without the searches, for [`Self::extended`].
    pub(crate) fn known(&self) -> Self {
        Self {
            tokens: self.tokens.clone(),
            last_is_special: self.last_is_special.clone(),
            normalized_forms: self.normalized_forms.clone(),
            by_content: self.by_content.clone(),
            by_id: self.by_id.clone(),
            looks_within: self.looks_within,
            as_llama_cpp: self.as_llama_cpp,
            ordinary: None,
            raw: None,
            normalized: None,
        }
    }

    /// Replaces the normalized forms, for another normalizer. They follow from the last
    /// definitions.
    pub(crate) fn normalize_again(
        &mut self,
        mut normalize: impl FnMut(&str) -> Result<String, LoadError>,
    ) -> Result<(), LoadError> {
        self.normalized_forms.clear();
        for (index, token) in self.tokens.iter().enumerate() {
            if token.normalized && self.keeps_id(index) {
                let form = normalize(&token.content)?;
                if form != token.content {
                    self.normalized_forms.insert(token.id, form);
                }
            }
        }
        Ok(())
    }

    /// Defines `tokens` in addition, or again. `normalize` returns the form in which a token with
    /// `normalized: true` is searched.
    pub(crate) fn extended(
        mut self,
        tokens: Vec<AddedToken>,
        mut normalize: impl FnMut(&str) -> Result<String, LoadError>,
    ) -> Result<Self, LoadError> {
        let size = self.tokens.iter().chain(&tokens).map(|token| token.content.len()).sum::<usize>();
        if size > MAX_CONTENTS {
            let limit = MAX_CONTENTS as u64;
            return Err(LoadError::TooLarge { what: "the text of all added tokens", size: size as u64, limit });
        }
        for mut token in tokens {
            if token.normalized {
                let form = normalize(&token.content)?;
                if form != token.content {
                    self.normalized_forms.insert(token.id, form);
                }
            }
            let index = *self.by_content.entry(token.content.clone()).or_insert(self.tokens.len());
            // Of two tokens with the same id, the later one counts in a tokenizer.json, and the
            // first in a rank file.
            let by_id = self.by_id.entry(token.id).or_insert(index);
            if !self.looks_within {
                *by_id = index;
            }
            if let Some(earlier) = self.tokens.get_mut(index) {
                self.last_is_special[index] = token.special;
                // Of two tokens with the same content, the later one counts. But a token that was
                // special stays so.
                token.special |= earlier.special;
                *earlier = token;
            } else {
                self.last_is_special.push(token.special);
                self.tokens.push(token);
            }
        }
        let mut sought: [(Vec<String>, Vec<usize>); 3] = Default::default();
        for (index, token) in self.tokens.iter().enumerate() {
            // In a tokenizer.json, a token whose id was given to a later one is no longer searched.
            if !self.keeps_id(index) {
                continue;
            }
            let (forms, indices) = &mut sought[usize::from(token.normalized)];
            // A form that is empty after normalization is found between all characters, and splits
            // the text there.
            let form = self.normalized_forms.get(&token.id).filter(|_| token.normalized);
            forms.push(form.unwrap_or(&token.content).clone());
            indices.push(index);
            if self.as_llama_cpp && !token.normalized && !token.special {
                sought[2].0.push(token.content.clone());
                sought[2].1.push(index);
            }
        }
        let [raw, normalized, ordinary] = sought.map(|(forms, tokens)| TokenSearch::new(&forms, tokens));
        self.raw = raw?;
        self.normalized = normalized?;
        self.ordinary = ordinary?;
        Ok(self)
    }

    pub(crate) fn tokens(&self) -> &[AddedToken] {
        &self.tokens
    }

    /// The tokens as a saved file lists them: the last definition of each. Tokens whose id was
    /// given to a later one are not included.
    pub(crate) fn listed(&self) -> impl Iterator<Item = AddedToken> {
        let indices = (0..self.tokens.len()).filter(|&index| self.keeps_id(index));
        indices.map(|index| AddedToken { special: self.last_is_special[index], ..self.tokens[index].clone() })
    }

    /// Whether the token's id maps to this token. In a rank file, two tokens may share an id.
    fn keeps_id(&self, index: usize) -> bool {
        self.looks_within || self.by_id.get(&self.tokens[index].id) == Some(&index)
    }

    pub(crate) fn by_content(&self, content: &str) -> Option<&AddedToken> {
        self.by_content.get(content).map(|&index| &self.tokens[index])
    }

    pub(crate) fn by_id(&self, id: u32) -> Option<&AddedToken> {
        self.by_id.get(&id).map(|&index| &self.tokens[index])
    }

    /// The text of a token when it is decoded.
    pub(crate) fn decoded_form(&self, id: u32) -> Option<&str> {
        let token = self.by_id(id)?;
        Some(self.normalized_forms.get(&id).unwrap_or(&token.content))
    }

    /// Whether a text is the content of a special token.
    pub(crate) fn is_special(&self, content: &str) -> bool {
        self.by_content(content).is_some_and(|token| token.special)
    }

    /// Resolves the caller's option. `default` is the meaning of [`SpecialTokens::FileDefault`].
    /// Fails if a named special token does not exist.
    pub(crate) fn policy(&self, special: &SpecialTokens, default: &Policy) -> Result<Policy, EncodeError> {
        Ok(match special {
            SpecialTokens::FileDefault => default.clone(),
            SpecialTokens::Parse => Policy::Parse,
            SpecialTokens::Text => Policy::Text,
            SpecialTokens::Throw => Policy::Throw,
            SpecialTokens::Only(names) => {
                let mut parsed = copies(false, self.tokens.len());
                for name in names {
                    match self.by_content.get(name) {
                        Some(&index) if self.tokens[index].special => parsed[index] = true,
                        _ => return Err(EncodeError::NoSuchSpecialToken { token: name.clone() }),
                    }
                }
                Policy::Only(parsed)
            }
        })
    }

    /// The first literal byte of a match, or `None` if the token may be found there.
    fn first_literal(&self, guard: Guard<'_>, text: &str, hit: &TokenMatch) -> Option<usize> {
        if !is_visible(&self.tokens[hit.token]) {
            return None;
        }
        let first = (guard.first_literal)(Span::new(hit.start, hit.end))?;
        Some(text.floor_char_boundary(first))
    }

    /// Whether the search can never find a token.
    pub(crate) fn never_matches(&self, stage: SearchStage) -> bool {
        self.search(stage).is_none()
    }

    fn search(&self, stage: SearchStage) -> Option<&TokenSearch> {
        match stage {
            SearchStage::Raw => self.raw.as_ref(),
            SearchStage::Normalized => self.normalized.as_ref(),
        }
    }

    /// Calls `found` with the segments of `text` in order. No segment is empty, and together they
    /// cover the text. Segments overlap only if a token lies within white space that another token
    /// includes.
    pub(crate) fn segments<'a>(
        &self,
        stage: SearchStage,
        text: &str,
        rules: impl Into<Rules<'a>>,
        mut found: impl FnMut(Segment) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        let Rules { policy, guard } = rules.into();
        let mut done = 0;
        let mut at = 0;
        let mut last_end = None;
        let (mut known, mut spaces) = (KnownMatches::default(), SpaceRun::default());
        let is_space = if self.as_llama_cpp { is_c_space } else { char::is_whitespace };
        let search = match (stage, policy) {
            (SearchStage::Raw, Policy::Text) if self.as_llama_cpp => self.ordinary.as_ref(),
            _ => self.search(stage),
        };
        while let Some(search) = search
            && at <= text.len()
            && let Some(mut hit) = search.find(text, at, &mut known)
        {
            let behind_another = last_end == Some(hit.end);
            if hit.start == hit.end && (behind_another || !text.is_char_boundary(hit.start)) {
                at = hit.end + 1;
                continue;
            }
            if let Some(guard) = guard
                && let Some(first) = self.first_literal(guard, text, &hit)
            {
                // A shorter token may end before the range.
                let before = &text[hit.start..first];
                match search.find(before, 0, &mut KnownMatches::default()) {
                    Some(shorter) if shorter.start == 0 && shorter.end > 0 => {
                        hit = TokenMatch { token: shorter.token, start: hit.start, end: hit.start + shorter.end };
                    }
                    _ => {
                        at = hit.start + text[hit.start..].chars().next().map_or(1, char::len_utf8);
                        if guard.divides && self.tokens[hit.token].special && done < at {
                            found(Segment::Text(Span::new(done, at)))?;
                            done = at;
                        }
                        continue;
                    }
                }
            }
            last_end = Some(hit.end);
            let index = hit.token;
            let token = &self.tokens[index];
            at = hit.end;
            if token.single_word && touches_word(text, hit.start, hit.end) {
                continue;
            }
            if token.special {
                let parse = match policy {
                    Policy::Parse => true,
                    Policy::Text => false,
                    Policy::Only(parsed) => parsed[index],
                    Policy::Throw => {
                        return Err(EncodeError::SpecialToken { token: token.content.clone(), byte: hit.start });
                    }
                };
                if !parse {
                    if self.looks_within {
                        at = hit.start + text[hit.start..].chars().next().map_or(1, char::len_utf8);
                    }
                    continue;
                }
            }
            let (mut start, mut end) = (hit.start, hit.end);
            if token.lstrip {
                // White space that an earlier token includes stays with that token.
                start = if done < start { done + text[done..start].trim_end_matches(is_space).len() } else { done };
            }
            if token.rstrip {
                end = spaces.end_behind(text, end, is_space);
                if self.as_llama_cpp {
                    at = end;
                }
            }
            if done < start {
                found(Segment::Text(Span::new(done, start)))?;
            }
            if start < end {
                found(Segment::Token { token: index, span: Span::new(start, end) })?;
            }
            // White space that the previous token includes may contain a token of its own. Hugging
            // Face tokenizers then yields both, although they overlap, and continues at the end of
            // the later one.
            done = end;
        }
        if done < text.len() {
            found(Segment::Text(Span::new(done, text.len())))?;
        }
        Ok(())
    }
}

/// Whether a token can separate parts of a text: it has a visible character.
pub(crate) fn is_visible(token: &AddedToken) -> bool {
    token.content.chars().any(|c| !c.is_whitespace())
}

/// Whether a match is part of a longer word: a neighbour is `\w` of the regex crate.
fn touches_word(text: &str, start: usize, end: usize) -> bool {
    text[..start].chars().next_back().is_some_and(is_word_character)
        || text[end..].chars().next().is_some_and(is_word_character)
}
