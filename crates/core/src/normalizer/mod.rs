//! Normalization: rewrites the text before it is split, and keeps the origin of every byte.
//!
//! - [`form`]: Unicode normalization forms.
//! - [`letters`]: rules for single characters.
//! - [`edges`]: text that is removed from the ends, or prepended.
//! - [`replace`]: replacing the matches of a pattern.
//! - [`precompiled`]: the rules in the file of a SentencePiece model.
//! - [`sentencepiece`]: the same rules as the `sentencepiece` library applies them, for its own
//!   files.
//!
//! Behaviour follows Hugging Face tokenizers 0.23.3.

pub(crate) mod edges;
mod form;
mod letters;
pub(crate) mod precompiled;
mod replace;
pub(crate) mod sentencepiece;

use std::sync::Arc;

use crate::aligned::AlignedText;
use crate::budget::{ALL_NORMALIZERS, Budget, StageError};
pub(crate) use edges::Strip;
pub(crate) use form::Form;
pub(crate) use letters::Letters;
pub(crate) use precompiled::{LONG_CLUSTER, Precompiled};
pub(crate) use replace::Replace;

/// The name of this component in errors about the size of its output.
const COMPONENT: &str = "the normalizer";

/// The work for each byte of a text that a Unicode form changes, for [`Budget::work`].
const WORK_PER_COMPOSED_BYTE: usize = 4;

/// The first stage of a tokenizer.
#[derive(Debug)]
pub(crate) enum Normalizer {
    /// A Unicode normalization form.
    Form(Form),
    /// A rule for single characters.
    Letters(Letters),
    /// Removes white space at the ends.
    Strip(Strip),
    /// Prepends a text to each text that is not empty.
    Prepend(String),
    /// Replaces the matches of a pattern by a text.
    Replace(Replace),
    /// The rules of a SentencePiece model.
    Precompiled(Arc<Precompiled>),
    /// The normalizer of a SentencePiece file.
    SentencePiece(Arc<sentencepiece::SentencePiece>),
    /// Several normalizers, one after the other.
    Sequence(Vec<Self>),
}

impl Normalizer {
    /// Whether `text` certainly stays unchanged. This quick check suffices for most texts. It may
    /// return false for a text that stays unchanged. The steps of patterns and the work are charged
    /// to the budget; if it does not suffice, `normalize` reports it.
    pub(crate) fn leaves(&self, text: &str, budget: &mut Budget) -> bool {
        if budget.work(self.work(text), ALL_NORMALIZERS).is_err() {
            return false;
        }
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

    /// The steps of work to read a text once, for [`Budget::work`].
    fn work(&self, text: &str) -> usize {
        const CALL: usize = 4;
        let bytes = text.len();
        CALL + match self {
            Self::Form(_) if text.is_ascii() => bytes / 16,
            Self::Letters(_) if text.is_ascii() => bytes / 4,
            Self::Form(_) | Self::Letters(_) => bytes,
            Self::Strip(_) | Self::Prepend(_) | Self::Replace(_) => bytes / 8,
            Self::Precompiled(_) | Self::SentencePiece(_) => 4 * bytes,
            Self::Sequence(_) => 0,
        }
    }

    /// Normalizes `text`. Errors: a pattern that exceeds its step limit, a component that makes
    /// more text than the budget allows, or a chain of components that takes more work.
    pub(crate) fn normalize(&self, text: &mut AlignedText, budget: &mut Budget) -> Result<(), StageError> {
        budget.work(self.work(text.as_str()), ALL_NORMALIZERS)?;
        match self {
            Self::Form(form) => {
                if form.normalize(text) {
                    budget.work(WORK_PER_COMPOSED_BYTE * text.as_str().len(), ALL_NORMALIZERS)?;
                }
            }
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

    /// Whether this may insert text at the start whose origin is empty. Texts must then be tracked
    /// even if no offsets are requested, because later steps depend on the origins: see
    /// [`AlignedText::transform`].
    pub(crate) fn may_insert_empty_origins(&self) -> bool {
        match self {
            Self::Prepend(put) => put.is_empty(),
            Self::Replace(replace) => replace.pattern.can_be_empty(),
            Self::Sequence(all) => all.iter().any(Self::may_insert_empty_origins),
            Self::Form(_) | Self::Letters(_) | Self::Strip(_) | Self::Precompiled(_) | Self::SentencePiece(_) => false,
        }
    }

    /// Whether what a character becomes depends on near characters only, and whether nothing but
    /// white space and the meta symbol is inserted.
    pub(crate) fn is_local(&self) -> bool {
        let is_white = |text: &str| text.chars().all(|c| c.is_whitespace() || c == '▁');
        match self {
            Self::Form(_) | Self::Strip(_) | Self::Precompiled(_) => true,
            Self::Letters(letters) => *letters != Letters::ByteLevel,
            Self::Prepend(put) => is_white(put),
            Self::Replace(replace) => replace.matches_near_characters() && is_white(&replace.content),
            Self::SentencePiece(_) => false,
            Self::Sequence(all) => all.iter().all(Self::is_local),
        }
    }

    /// The normalizer of a SentencePiece file.
    pub(crate) fn as_sentencepiece(&self) -> Option<&Arc<sentencepiece::SentencePiece>> {
        if let Self::SentencePiece(normalizer) = self { Some(normalizer) } else { None }
    }

    /// Maximum number of bytes of a text that may become one byte; `None` if there is no such
    /// bound.
    pub(crate) fn max_bytes_per_byte(&self) -> Option<usize> {
        match self {
            Self::Form(_) => Some(Form::MAX_BYTES_PER_BYTE),
            Self::Letters(Letters::Lowercase) => Some(3), // U+212A KELVIN SIGN becomes k
            Self::Prepend(_) | Self::Letters(Letters::ByteLevel) => Some(1),
            Self::Replace(replace) => replace.grows().then_some(1),
            Self::Sequence(all) => {
                all.iter().try_fold(1usize, |bytes, one| bytes.checked_mul(one.max_bytes_per_byte()?))
            }
            Self::SentencePiece(normalizer) => normalizer.only_grows().then_some(1),
            Self::Letters(_) | Self::Strip(_) | Self::Precompiled(_) => None,
        }
    }

    /// The normalized form of a text, without offsets. Its length is charged to the budget.
    pub(crate) fn normalized(&self, text: &str, budget: &mut Budget) -> Result<String, StageError> {
        let mut aligned = AlignedText::default();
        aligned.start(text, 0, self.may_insert_empty_origins());
        aligned.set_max_bytes(budget.remaining());
        self.normalize(&mut aligned, budget)?;
        budget.charge(aligned.as_str().len(), COMPONENT)?;
        Ok(aligned.as_str().to_owned())
    }
}
