//! Recognizes files in the style of SentencePiece, which replace each space by another character
//! before the model. If the text after its start does not change otherwise, the model can use the
//! text with its spaces directly.

use crate::bpe::Spaces;
use crate::normalizer::Normalizer;
use crate::pretokenizer::{PreTokenizer, Stage};

/// How the normalizer and the pre-tokenizer change spaces; `None` if they change anything else.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(super) fn resolve(normalizer: Option<&Normalizer>, pretokenizer: &PreTokenizer) -> Option<Spaces> {
    match (normalizer, &pretokenizer.stages[..]) {
        (Some(normalizer), stages) => {
            let meta_symbol = written_for_spaces(normalizer)?;
            let is_unchanged = |stage: &Stage| matches!(stage, Stage::Cut(cut) if cut.is_unchanged_without(' '));
            stages.iter().all(is_unchanged).then_some(Spaces { meta_symbol, start_words: false })
        }
        (None, [Stage::Spaces { replacement, .. }]) => Some(Spaces { meta_symbol: *replacement, start_words: false }),
        (None, [Stage::Spaces { replacement, .. }, Stage::Cut(cut)]) if cut.starts_words_at(*replacement) => {
            Some(Spaces { meta_symbol: *replacement, start_words: true })
        }
        _ => None,
    }
    .filter(|spaces| spaces.meta_symbol != ' ')
}

/// The character that replaces each space; `None` if anything but that and the start of the text
/// changes.
fn written_for_spaces(normalizer: &Normalizer) -> Option<char> {
    match normalizer {
        Normalizer::Replace(replace) if replace.pattern.as_string() == Some(" ") => {
            let mut characters = replace.content.chars();
            characters.next().filter(|_| characters.next().is_none())
        }
        Normalizer::Sequence(steps) => match &steps[..] {
            [one] | [Normalizer::Prepend(_), one] => written_for_spaces(one),
            [one, Normalizer::Prepend(put)] if !put.contains(' ') => written_for_spaces(one),
            _ => None,
        },
        _ => None,
    }
}
