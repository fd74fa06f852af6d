//! Special and added tokens, cut out of the text before anything else looks at it.
//!
//! Two searches, each for the leftmost and then the longest: tokens that are sought in the text as given, and tokens that
//! are sought after normalization (`normalized: true` in the file). Behaviour follows Hugging Face tokenizers'
//! `AddedVocabulary`; what the text may hold is decided by a [`Policy`].
//!
//! - [`search`]: where in a text tokens stand.

mod search;
#[cfg(test)]
mod tests;

use crate::memory::fallible::copies;
use std::sync::LazyLock;

use crate::error::{EncodeError, LoadError};
use crate::span::Span;
use search::{Known, Search};

/// By ids and contents that a file gives, one lookup a token when decoding.
type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

/// A token beside the model's vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddedToken {
    /// Its text.
    pub content: String,
    /// Its id.
    pub id: u32,
    /// Found only where no word character stands beside it.
    pub single_word: bool,
    /// Takes the white space before it.
    pub lstrip: bool,
    /// Takes the white space after it.
    pub rstrip: bool,
    /// Sought in the normalized text, in its normalized form.
    pub normalized: bool,
    /// Special: left out by `skip_special_tokens`, and subject to what the caller says of special tokens in text.
    pub special: bool,
}

/// What a caller wants done with special tokens that the text spells out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SpecialTokens {
    /// As the format's own library does: [`Self::Parse`] for a tokenizer.json (Hugging Face), [`Self::Throw`] for ranks
    /// (tiktoken).
    #[default]
    FileDefault,
    /// Each is its token.
    Parse,
    /// They are text like any other. Added tokens that are not special are still found.
    Text,
    /// The first one found is an error that names it.
    Throw,
    /// Those named are their tokens, the others are text.
    Only(Vec<String>),
}

/// [`SpecialTokens`], resolved against one tokenizer, once per call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Policy {
    Parse,
    Text,
    Throw,
    /// By place in [`AddedTokens::tokens`].
    Only(Vec<bool>),
}

/// A stretch of text, or a token found in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Segment {
    Text(Span),
    Token {
        /// The place in [`AddedTokens::tokens`].
        token: usize,
        /// What it stands for, stripped white space included.
        span: Span,
    },
}

/// Which of the two searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Raw,
    Normalized,
}

/// White space of a text that was seen to go up to a place, so that it is not read again for each token within it.
#[derive(Debug, Default)]
struct SpaceRun(Option<std::ops::RangeInclusive<usize>>);

impl SpaceRun {
    /// Where the white space ends that follows byte `at`.
    fn end_behind(&mut self, text: &str, at: usize) -> usize {
        match &self.0 {
            Some(known) if known.contains(&at) => *known.end(),
            _ => {
                let end = text.len() - text[at..].trim_start().len();
                self.0 = Some(at..=end);
                end
            }
        }
    }
}

/// All added tokens of a tokenizer.
#[derive(Debug, Default)]
pub(crate) struct AddedTokens {
    /// Each is special if any of its definitions was.
    tokens: Vec<AddedToken>,
    /// Whether the last definition of each token is special; that is what a file says.
    last_is_special: Vec<bool>,
    /// What decoding writes for a token whose normalized form differs from its content.
    normalized_forms: HashMap<u32, String>,
    by_content: HashMap<String, usize>,
    by_id: HashMap<u32, usize>,
    raw: Option<Search>,
    normalized: Option<Search>,
    /// After a special token that is to be text, the search goes on behind its first character and not behind its last.
    /// tiktoken does so, Hugging Face does not.
    looks_within: bool,
}

impl AddedTokens {
    /// `normalize` gives the form in which a token with `normalized: true` is sought.
    pub(crate) fn new(
        tokens: Vec<AddedToken>,
        looks_within: bool,
        mut normalize: impl FnMut(&str) -> String,
    ) -> Result<Self, LoadError> {
        let mut made = Self { looks_within, ..Self::default() };
        let mut forms = vec![];
        for mut token in tokens {
            let form = if token.normalized { normalize(&token.content) } else { token.content.clone() };
            if form != token.content {
                made.normalized_forms.insert(token.id, form.clone());
            }
            let place = *made.by_content.entry(token.content.clone()).or_insert(made.tokens.len());
            // Of two with the same id the later one counts in a tokenizer.json, and the first in a rank file.
            let by_id = made.by_id.entry(token.id).or_insert(place);
            if !looks_within {
                *by_id = place;
            }
            if let Some(earlier) = made.tokens.get_mut(place) {
                made.last_is_special[place] = token.special;
                // Of two with the same content the later one counts, but what was special, or is decoded in its normalized
                // form, stays so.
                token.special |= earlier.special;
                *earlier = token;
                forms[place] = form;
            } else {
                made.last_is_special.push(token.special);
                made.tokens.push(token);
                forms.push(form);
            }
        }
        let mut sought: [(Vec<String>, Vec<usize>); 2] = Default::default();
        for (place, (token, form)) in made.tokens.iter().zip(forms).enumerate() {
            // A token whose id went to a later one is not looked for any more in a tokenizer.json; in a rank file two may
            // share one.
            if !looks_within && made.by_id[&token.id] != place {
                continue;
            }
            let (forms, places) = &mut sought[usize::from(token.normalized)];
            // A form that normalizing left empty is found between all characters, so that the text is cut there.
            forms.push(form);
            places.push(place);
        }
        let [raw, normalized] = sought.map(|(forms, tokens)| Search::new(&forms, tokens));
        made.raw = raw?;
        made.normalized = normalized?;
        Ok(made)
    }

    pub(crate) fn tokens(&self) -> &[AddedToken] {
        &self.tokens
    }

    /// The tokens as a file lists them: as each was defined last. One whose id went to a later one is not among them.
    pub(crate) fn listed(&self) -> impl Iterator<Item = AddedToken> {
        (0..self.tokens.len()).filter(|&place| self.keeps_id(place)).map(|place| self.last_definition(place))
    }

    /// Definitions that make the same tokens again: two for a token that is special, and was defined last as one that is
    /// not. Those whose id went to another come first, so that it goes there again.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = AddedToken> {
        let places = |keep: bool| (0..self.tokens.len()).filter(move |&place| self.keeps_id(place) == keep);
        places(false).chain(places(true)).flat_map(|place| {
            let last = self.last_definition(place);
            let is_another = last != self.tokens[place];
            [Some(self.tokens[place].clone()), is_another.then_some(last)].into_iter().flatten()
        })
    }

    /// Whether the token is the one that its id stands for. In a rank file two tokens may share an id.
    fn keeps_id(&self, place: usize) -> bool {
        self.looks_within || self.by_id.get(&self.tokens[place].id) == Some(&place)
    }

    fn last_definition(&self, place: usize) -> AddedToken {
        AddedToken { special: self.last_is_special[place], ..self.tokens[place].clone() }
    }

    pub(crate) fn by_content(&self, content: &str) -> Option<&AddedToken> {
        self.by_content.get(content).map(|&place| &self.tokens[place])
    }

    pub(crate) fn by_id(&self, id: u32) -> Option<&AddedToken> {
        self.by_id.get(&id).map(|&place| &self.tokens[place])
    }

    /// The text that stands for the token when decoding.
    pub(crate) fn decoded_form(&self, id: u32) -> Option<&str> {
        let token = self.by_id(id)?;
        Some(self.normalized_forms.get(&id).unwrap_or(&token.content))
    }

    /// Whether a text is the content of a special token.
    pub(crate) fn is_special(&self, content: &str) -> bool {
        self.by_content(content).is_some_and(|token| token.special)
    }

    /// Resolves what the caller said; `default` stands for [`SpecialTokens::FileDefault`].
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
                        Some(&place) if self.tokens[place].special => parsed[place] = true,
                        _ => return Err(EncodeError::NoSuchSpecialToken { token: name.clone() }),
                    }
                }
                Policy::Only(parsed)
            }
        })
    }

    /// Whether the search would never find anything.
    pub(crate) fn is_idle(&self, stage: Stage) -> bool {
        self.search(stage).is_none()
    }

    fn search(&self, stage: Stage) -> Option<&Search> {
        match stage {
            Stage::Raw => self.raw.as_ref(),
            Stage::Normalized => self.normalized.as_ref(),
        }
    }

    /// Calls `found` with the segments of `text` in order; none is empty and together they are all of it. Only a token
    /// within the white space that another one took overlaps it.
    pub(crate) fn segments(
        &self,
        stage: Stage,
        text: &str,
        policy: &Policy,
        mut found: impl FnMut(Segment) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        let mut done = 0;
        let mut at = 0;
        let mut last_end = None;
        let (mut known, mut spaces) = (Known::default(), SpaceRun::default());
        while let Some(search) = self.search(stage)
            && at <= text.len()
            && let Some(hit) = search.find(text, at, &mut known)
        {
            let behind_another = last_end == Some(hit.end);
            if hit.start == hit.end && (behind_another || !text.is_char_boundary(hit.start)) {
                at = hit.end + 1;
                continue;
            }
            last_end = Some(hit.end);
            let place = hit.token;
            let token = &self.tokens[place];
            at = hit.end;
            if token.single_word && touches_word(text, hit.start, hit.end) {
                continue;
            }
            if token.special {
                let parse = match policy {
                    Policy::Parse => true,
                    Policy::Text => false,
                    Policy::Only(parsed) => parsed[place],
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
                // White space that an earlier token took stays with it.
                start = if done < start { done + text[done..start].trim_end().len() } else { done };
            }
            if token.rstrip {
                end = spaces.end_behind(text, end);
            }
            if done < start {
                found(Segment::Text(Span::new(done, start)))?;
            }
            if start < end {
                found(Segment::Token { token: place, span: Span::new(start, end) })?;
            }
            // White space that the token before took may hold a token of its own. The reference then gives both, even
            // though they overlap, and goes on where the later one ends.
            done = end;
        }
        if done < text.len() {
            found(Segment::Text(Span::new(done, text.len())))?;
        }
        Ok(())
    }
}

/// `\w` as the regex crate has it; a match beside one of these is part of a longer word.
static WORD: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    let hir = regex_syntax::parse(r"\w").expect("a class is a valid pattern");
    match hir.kind() {
        regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) => {
            class.ranges().iter().map(|range| (range.start(), range.end())).collect()
        }
        _ => unreachable!("a pattern of one class parses to that class"),
    }
});

fn is_word(character: char) -> bool {
    let place = WORD.partition_point(|&(_, end)| end < character);
    WORD.get(place).is_some_and(|&(start, _)| start <= character)
}

fn touches_word(text: &str, start: usize, end: usize) -> bool {
    text[..start].chars().next_back().is_some_and(is_word) || text[end..].chars().next().is_some_and(is_word)
}
