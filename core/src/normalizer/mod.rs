//! Text before anything is cut: Unicode forms, with every byte still knowing where it came from.

mod form;

use crate::aligned::AlignedText;
pub(crate) use form::Form;

/// What a tokenizer does to a text first.
#[derive(Debug)]
pub(crate) enum Normalizer {
    /// A Unicode normalization form.
    Form(Form),
    /// One after the other.
    Sequence(Vec<Normalizer>),
}

impl Normalizer {
    /// Whether `text` is certain to come out as it went in. A quick look, made so that most texts need no more.
    pub(crate) fn leaves(&self, text: &str) -> bool {
        match self {
            Self::Form(form) => form.leaves(text),
            Self::Sequence(all) => all.iter().all(|one| one.leaves(text)),
        }
    }

    pub(crate) fn normalize(&self, text: &mut AlignedText) {
        match self {
            Self::Form(form) => form.normalize(text),
            Self::Sequence(all) => all.iter().for_each(|one| one.normalize(text)),
        }
    }

    /// The normalized form of a text that needs no offsets.
    pub(crate) fn normalized(&self, text: &str) -> String {
        let mut aligned = AlignedText::default();
        aligned.start(text, 0, false);
        self.normalize(&mut aligned);
        aligned.as_str().to_owned()
    }
}
