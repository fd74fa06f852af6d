//! A text with the splits that pre-tokenizers work on.

use crate::aligned::{AlignedText, Rewriter};
use crate::memory::fallible::push;
use crate::span::Span;

/// Spans of an [`AlignedText`], in ascending order, not empty and not overlapping. Each
/// pre-tokenizer divides them further or rewrites their text.
#[derive(Debug, Default)]
pub(crate) struct Splits {
    spans: Vec<Span>,
    old_spans: Vec<Span>,
}

impl Splits {
    /// Resets to a single split, or to none if `span` is empty.
    pub(crate) fn start(&mut self, span: Span) {
        self.spans.clear();
        self.spans.extend((!span.is_empty()).then_some(span));
    }

    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Divides every split. `cut` gets the text of a split and passes the spans to keep to its
    /// second argument, in order and relative to the split.
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

    /// Rewrites the text of every split. Text outside of the splits is dropped.
    pub(crate) fn rewrite(&mut self, text: &mut AlignedText, mut write: impl FnMut(&mut Rewriter<'_>)) {
        text.begin_rewrite();
        for span in &mut self.spans {
            *span = text.rewrite_part(span.start as usize, span.end as usize, &mut write);
        }
        self.spans.retain(|span| !span.is_empty());
    }

    /// Like [`rewrite`](Self::rewrite), by a rule that [`AlignedText::transform_part`] accepts.
    pub(crate) fn transform(&mut self, text: &mut AlignedText, mut write: impl FnMut(&mut Rewriter<'_>)) {
        text.begin_rewrite();
        for span in &mut self.spans {
            *span = text.transform_part(span.start as usize, span.end as usize, &mut write);
        }
    }
}
