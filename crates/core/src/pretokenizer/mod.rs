//! Pre-tokenization: stages that split a text into words. Each stage splits the result of the
//! previous one further, or rewrites its text.
//!
//! - [`splits`]: a text and the spans that it is split into.
//! - [`cut`]: stages that split at matches. Matches are found by [`pattern`](crate::pattern) (any
//!   regular expression), by [`char_class`] (single characters) or by [`scripts`] (runs of one
//!   script).
//! - [`scanner`]: hand-written matchers of the most common expressions, and [`unicode`], the
//!   character classes that they use.
//!
//! Behaviour follows Hugging Face tokenizers 0.23.

mod char_class;
mod cut;
pub(crate) mod scanner;
mod scripts;
pub(crate) mod splits;
pub(crate) mod unicode;

use crate::aligned::{AlignedText, Rewriter};
use crate::budget::{ALL_PRETOKENIZERS, Budget, StageError};
use crate::byte_level;
use crate::normalizer::edges::prepend;
pub(crate) use char_class::CharClass;
pub(crate) use cut::{Behavior, Cut};
use scanner::Scanner;
use splits::Splits;

/// The work of a stage for each split that it reads, for [`Budget::work`].
const WORK_PER_SPLIT: usize = 6;

/// The stages between normalizer and model.
#[derive(Debug, Default)]
pub(crate) struct PreTokenizer {
    pub(crate) stages: Vec<Stage>,
}

/// One stage.
#[derive(Debug)]
pub(crate) enum Stage {
    /// Splits at matches.
    Cut(Cut),
    /// Prepends a space to each split that does not start with one (`add_prefix_space` of
    /// ByteLevel).
    PrefixSpace,
    /// Replaces each byte by its printable character (the last step of ByteLevel).
    Bytes,
    /// Replaces each space by another character, and prepends that character to splits that do not
    /// start with it (Metaspace).
    Spaces {
        /// The character that replaces a space.
        replacement: char,
        /// The splits to which the character is prepended.
        prepend: Prepend,
    },
}

/// The splits to which Metaspace prepends its character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prepend {
    /// Only the split at the very start of the original text.
    First,
    Always,
    Never,
}

impl PreTokenizer {
    /// Removes the last stages and returns a scanner that does their work, if there is one and if
    /// no remaining stage splits the text, so that the scanner sees the text as a whole.
    pub(crate) fn take_scanner(&mut self) -> Option<Scanner> {
        let cuts = self.stages.iter().position(|stage| matches!(stage, Stage::Cut(_)))?;
        let scanner = match &self.stages[cuts..] {
            [Stage::Cut(cut)] => cut.as_scanner(),
            [Stage::Cut(first), Stage::Cut(second)] if first.is_every_digit() => {
                second.as_scanner().and_then(Scanner::with_digits_apart)
            }
            stages => {
                let patterns = stages.iter().map(|stage| match stage {
                    Stage::Cut(cut) => cut.as_isolated_pattern(),
                    _ => None,
                });
                Scanner::of_sequence(&patterns.collect::<Option<Vec<_>>>()?)
            }
        }?;
        self.stages.truncate(cuts);
        Some(scanner)
    }

    /// Whether the words together contain all of the text.
    pub(crate) fn drops_nothing(&self) -> bool {
        self.stages.iter().all(|stage| !matches!(stage, Stage::Cut(cut) if cut.drops()))
    }

    /// Whether the words of a start of a text, but the last ones, are those of the text.
    pub(crate) fn is_local(&self) -> bool {
        self.stages.iter().all(|stage| !matches!(stage, Stage::Cut(cut) if !cut.is_local()))
    }

    /// Whether a character is in a word wherever it is in a text.
    pub(crate) fn keeps(&self, character: char) -> bool {
        self.stages.iter().all(|stage| !matches!(stage, Stage::Cut(cut) if !cut.keeps(character)))
    }

    /// Whether words have printable characters in place of bytes.
    pub(crate) fn writes_bytes(&self) -> bool {
        self.stages.iter().any(|stage| matches!(stage, Stage::Bytes))
    }

    /// Whether origins must be tracked even if no offsets are requested. Metaspace with
    /// [`Prepend::First`] asks whether a split starts the original text; after a rewrite, only the
    /// origin of the split tells.
    pub(crate) fn needs_origins(&self, is_normalized: bool) -> bool {
        let rewrites = |stage: &Stage| !matches!(stage, Stage::Cut(_));
        let prepends_first = |stage: &Stage| matches!(stage, Stage::Spaces { prepend: Prepend::First, .. });
        let index = self.stages.iter().rposition(prepends_first);
        index.is_some_and(|index| is_normalized || self.stages[..index].iter().any(rewrites))
    }

    /// Applies all stages to the splits of `text`.
    ///
    /// Errors: a pattern that exceeds its step limit, a stage that makes more text than the budget
    /// allows, or stages that take more work together.
    pub(crate) fn apply(
        &self,
        text: &mut AlignedText,
        splits: &mut Splits,
        budget: &mut Budget,
    ) -> Result<(), StageError> {
        for stage in &self.stages {
            let (bytes, count) = (text.as_str().len(), splits.spans().len());
            let work = match stage {
                Stage::Cut(cut) => cut.work(bytes),
                Stage::PrefixSpace | Stage::Bytes | Stage::Spaces { .. } => bytes,
            };
            budget.work(work + WORK_PER_SPLIT * (count + 1), ALL_PRETOKENIZERS)?;
            match stage {
                Stage::Cut(cut) => cut.apply(text, splits, budget)?,
                Stage::PrefixSpace => splits.rewrite(text, |rewriter| {
                    if !rewriter.rest().starts_with(' ') {
                        prepend(rewriter, " ");
                    }
                    rewriter.keep_bytes(rewriter.rest().len());
                }),
                Stage::Bytes => splits.transform(text, |rewriter| {
                    while let Some(character) = rewriter.rest().chars().next() {
                        let mut buffer = [0; 4];
                        let mut bytes = character.encode_utf8(&mut buffer).bytes();
                        let first = bytes.next().expect("a character has at least one byte");
                        rewriter.replace(byte_level::CHARACTERS[usize::from(first)]);
                        bytes.for_each(|byte| rewriter.insert(byte_level::CHARACTERS[usize::from(byte)]));
                    }
                }),
                &Stage::Spaces { replacement, prepend } => {
                    splits.rewrite(text, |rewriter| replace_spaces(rewriter, replacement, prepend));
                }
            }
            text.check(budget, "the pre-tokenizer")?;
        }
        Ok(())
    }
}

fn replace_spaces(rewriter: &mut Rewriter<'_>, replacement: char, prepend_to: Prepend) {
    let prepends = match prepend_to {
        Prepend::Always => true,
        Prepend::First => rewriter.origin() == 0,
        Prepend::Never => false,
    };
    // A space at the start is replaced below, so nothing is prepended to it.
    if prepends && !rewriter.rest().starts_with([' ', replacement]) {
        prepend(rewriter, replacement.encode_utf8(&mut [0; 4]));
    }
    while let Some(next) = rewriter.rest().find(' ') {
        rewriter.keep_bytes(next);
        rewriter.replace(replacement);
    }
    rewriter.keep_bytes(rewriter.rest().len());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;

    fn words(stages: Vec<Stage>, text: &str, base: usize) -> Vec<(String, u32, u32)> {
        let (mut aligned, mut splits) = (AlignedText::default(), Splits::default());
        aligned.start(text, base, true);
        splits.start(Span::new(0, text.len()));
        PreTokenizer { stages }
            .apply(&mut aligned, &mut splits, &mut Budget::of_text(text.len()))
            .expect("no test text is hard");
        let word = |span: &Span| {
            let origin = aligned.origin_of(*span);
            (aligned.as_str()[span.range()].to_owned(), origin.start, origin.end)
        };
        splits.spans().iter().map(word).collect()
    }

    fn owned(words: &[(&str, u32, u32)]) -> Vec<(String, u32, u32)> {
        words.iter().map(|&(word, start, end)| (word.to_owned(), start, end)).collect()
    }

    #[test]
    fn metaspace_writes_and_prepends() {
        let metaspace = |prepend| {
            vec![
                Stage::Spaces { replacement: '▁', prepend },
                Stage::Cut(Cut::characters(CharClass::Is('▁'), Behavior::MergedWithNext)),
            ]
        };
        let with = owned(&[("▁é", 0, 2), ("▁", 2, 3), ("▁b", 3, 5)]);
        let without = owned(&[("é", 0, 2), ("▁", 2, 3), ("▁b", 3, 5)]);
        assert_eq!(words(metaspace(Prepend::Always), "é  b", 0), with);
        assert_eq!(words(metaspace(Prepend::First), "é  b", 0), with);
        assert_eq!(words(metaspace(Prepend::Never), "é  b", 0), without);
        assert_eq!(words(metaspace(Prepend::First), "a b", 7), owned(&[("a", 7, 8), ("▁b", 8, 10)]));
        assert_eq!(words(metaspace(Prepend::Always), " a▁b", 0), owned(&[("▁a", 0, 2), ("▁b", 2, 6)]));
    }

    #[test]
    fn only_the_split_at_the_start_of_the_original_is_the_first() {
        let mut stages = vec![Stage::Cut(Cut::characters(CharClass::Space, Behavior::Removed))];
        stages.push(Stage::Spaces { replacement: '_', prepend: Prepend::First });
        assert_eq!(words(stages, "a b", 0), owned(&[("_a", 0, 1), ("b", 2, 3)]));
        let mut stages = vec![Stage::Cut(Cut::characters(CharClass::Space, Behavior::Removed))];
        stages.push(Stage::Spaces { replacement: '_', prepend: Prepend::First });
        assert_eq!(words(stages, " a b", 0), owned(&[("a", 1, 2), ("b", 3, 4)]));
    }
}
