//! A text cut into splits: what pre-tokenizers work on, one after the other.

use crate::aligned::{AlignedText, Rewriter};
use crate::memory::fallible::push;
use crate::span::Span;

/// Spans of an [`AlignedText`] in order, none empty, none overlapping. Each pre-tokenizer cuts them further or rewrites
/// their text.
#[derive(Debug, Default)]
pub(crate) struct Splits {
    spans: Vec<Span>,
    old_spans: Vec<Span>,
}

impl Splits {
    /// Starts over with one split, unless that is empty.
    pub(crate) fn start(&mut self, span: Span) {
        self.spans.clear();
        self.spans.extend((!span.is_empty()).then_some(span));
    }

    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Cuts every split: `cut` gets the split's text and pushes, relative to it and in order, the spans that stay.
    pub(crate) fn cut<E>(
        &mut self,
        text: &AlignedText,
        mut cut: impl FnMut(&str, &mut dyn FnMut(Span)) -> Result<(), E>,
    ) -> Result<(), E> {
        std::mem::swap(&mut self.spans, &mut self.old_spans);
        self.spans.clear();
        for &span in &self.old_spans {
            let spans = &mut self.spans;
            cut(&text.as_str()[span.range()], &mut |piece| {
                if !piece.is_empty() {
                    push(spans, piece.shifted(span.start as usize));
                }
            })?;
        }
        Ok(())
    }

    /// Rewrites the text of every split; text outside of splits goes.
    pub(crate) fn rewrite(&mut self, text: &mut AlignedText, mut write: impl FnMut(&mut Rewriter<'_>)) {
        text.begin_rewrite();
        for span in &mut self.spans {
            *span = text.rewrite_part(span.start as usize, span.end as usize, &mut write);
        }
        self.spans.retain(|span| !span.is_empty());
    }

    /// Rewrites the text of every split by a rule of the kind of [`AlignedText::transform_part`].
    pub(crate) fn transform(&mut self, text: &mut AlignedText, mut write: impl FnMut(&mut Rewriter<'_>)) {
        text.begin_rewrite();
        for span in &mut self.spans {
            *span = text.transform_part(span.start as usize, span.end as usize, &mut write);
        }
    }
}
