//! Text before anything is cut, with every byte still knowing where it came from.
//!
//! - [`form`]: Unicode normalization forms.
//! - [`letters`]: rules for single characters.
//! - [`edges`]: what is taken from the ends of a text or put there.
//! - [`replace`]: matches of a pattern.
//! - [`precompiled`]: the rules that a SentencePiece model carries.
//! - [`sentencepiece`]: the same as the `sentencepiece` library applies them, for its own files.
//!
//! Behaviour follows Hugging Face tokenizers 0.23.

mod edges;
mod form;
mod letters;
pub(crate) mod precompiled;
mod replace;
pub(crate) mod sentencepiece;

use std::sync::Arc;

use crate::aligned::AlignedText;
use crate::budget::{Budget, Stop};
pub(crate) use edges::Strip;
pub(crate) use form::Form;
pub(crate) use letters::Letters;
pub(crate) use precompiled::Precompiled;
pub(crate) use replace::Replace;

/// What an error about the output calls this.
const COMPONENT: &str = "the normalizer";

/// What a tokenizer does to a text first.
#[derive(Debug)]
pub(crate) enum Normalizer {
    /// A Unicode normalization form.
    Form(Form),
    /// A rule for single characters.
    Letters(Letters),
    /// White space at the ends goes.
    Strip(Strip),
    /// Text put before a text that is not empty.
    Prepend(String),
    /// Matches of a pattern become another text.
    Replace(Replace),
    /// The rules of a SentencePiece model.
    Precompiled(Arc<Precompiled>),
    /// The normalizer of a SentencePiece file.
    SentencePiece(Arc<sentencepiece::SentencePiece>),
    /// One after the other.
    Sequence(Vec<Normalizer>),
}

impl Normalizer {
    /// Whether `text` is certain to come out as it went in. A quick check, so that most texts need no more. Steps of
    /// patterns come off the budget.
    pub(crate) fn leaves(&self, text: &str, budget: &mut Budget) -> bool {
        match self {
            Self::Form(form) => form.leaves(text),
            Self::Letters(letters) => letters.leaves(text),
            Self::Strip(strip) => strip.leaves(text),
            Self::Prepend(_) | Self::SentencePiece(_) => text.is_empty(),
            Self::Replace(replace) => replace.leaves(text, budget),
            Self::Precompiled(precompiled) => precompiled.leaves(text),
            Self::Sequence(all) => all.iter().all(|one| one.leaves(text, budget)),
        }
    }

    /// Fails if a pattern gives up, or if a component makes more text than the budget has.
    pub(crate) fn normalize(&self, text: &mut AlignedText, budget: &mut Budget) -> Result<(), Stop> {
        match self {
            Self::Form(form) => form.normalize(text),
            Self::Letters(letters) => letters.normalize(text),
            Self::Strip(strip) => strip.normalize(text),
            Self::Prepend(put) => {
                budget.check(put.len().saturating_add(text.as_str().len()), COMPONENT)?;
                text.rewrite(|rewriter| {
                    edges::prepend(rewriter, put);
                    rewriter.keep_bytes(rewriter.rest().len());
                });
            }
            Self::Replace(replace) => replace.normalize(text, budget)?,
            Self::Precompiled(precompiled) => precompiled.normalize(text, budget)?,
            Self::SentencePiece(normalizer) => normalizer.normalize(text, budget)?,
            Self::Sequence(all) => all.iter().try_for_each(|one| one.normalize(text, budget))?,
        }
        Ok(text.check(budget, COMPONENT)?)
    }

    /// Whether this can put something before a text that stands for nothing of it. Texts then have to be tracked even where
    /// nobody asks for offsets, since what follows depends on it: see [`AlignedText::transform`].
    pub(crate) fn puts_before(&self) -> bool {
        match self {
            Self::Prepend(put) => put.is_empty(),
            Self::Replace(replace) => replace.pattern.can_be_empty(),
            Self::Sequence(all) => all.iter().any(Self::puts_before),
            Self::Form(_) | Self::Letters(_) | Self::Strip(_) | Self::Precompiled(_) | Self::SentencePiece(_) => false,
        }
    }

    /// The normalizer of a SentencePiece file.
    pub(crate) fn as_sentencepiece(&self) -> Option<&Arc<sentencepiece::SentencePiece>> {
        if let Self::SentencePiece(normalizer) = self { Some(normalizer) } else { None }
    }

    /// How many bytes of a text can become one byte at most; nothing where there is no such bound.
    pub(crate) fn most_bytes_per_byte(&self) -> Option<usize> {
        match self {
            Self::Form(form) => form.most_bytes_per_byte(),
            Self::Letters(Letters::Lowercase) => Some(3), // U+212A, the sign of Kelvin, and k
            Self::Prepend(_) | Self::Letters(Letters::ByteLevel) => Some(1),
            Self::Replace(replace) => replace.grows().then_some(1),
            Self::Sequence(all) => {
                all.iter().try_fold(1usize, |bytes, one| bytes.checked_mul(one.most_bytes_per_byte()?))
            }
            Self::Letters(_) | Self::Strip(_) | Self::Precompiled(_) | Self::SentencePiece(_) => None,
        }
    }

    /// The normalized form of a text that needs no offsets. It is charged to the budget.
    pub(crate) fn normalized(&self, text: &str, budget: &mut Budget) -> Result<String, Stop> {
        let mut aligned = AlignedText::default();
        aligned.start(text, 0, self.puts_before());
        aligned.set_room(budget.room());
        self.normalize(&mut aligned, budget)?;
        budget.charge(aligned.as_str().len(), COMPONENT)?;
        Ok(aligned.as_str().to_owned())
    }
}
