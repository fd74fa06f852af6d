//! Normalizers that work at the ends of a text.

use crate::aligned::{AlignedText, Rewriter};

/// Removes white space at the ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Strip {
    pub(crate) left: bool,
    pub(crate) right: bool,
}

impl Strip {
    pub(crate) fn leaves(self, text: &str) -> bool {
        self.stripped(text).len() == text.len()
    }

    pub(crate) fn normalize(self, text: &mut AlignedText) {
        if self.leaves(text.as_str()) {
            return;
        }
        text.transform(|rewriter| {
            let old = rewriter.rest();
            let kept = self.stripped(old);
            let before = if self.left { old.chars().take_while(|c| c.is_whitespace()).count() } else { 0 };
            (0..before).for_each(|_| rewriter.skip());
            rewriter.keep_bytes(kept.len());
        });
    }

    fn stripped(self, text: &str) -> &str {
        let text = if self.left { text.trim_start() } else { text };
        if self.right { text.trim_end() } else { text }
    }
}

/// Inserts `text` before the next character, unless there is none. The inserted text and that
/// character both have the origin of the character.
pub(crate) fn prepend(rewriter: &mut Rewriter<'_>, text: &str) {
    let Some(first) = rewriter.rest().chars().next() else { return };
    let mut characters = text.chars();
    match characters.next() {
        Some(put_first) => {
            rewriter.replace(put_first);
            characters.for_each(|character| rewriter.insert(character));
            rewriter.insert(first);
        }
        // If the text to insert is empty, the reference still removes the character and inserts it
        // again, and a character inserted at the very start has an empty origin.
        None => {
            rewriter.insert(first);
            rewriter.skip();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &AlignedText) -> Vec<Traced> {
        let at = |(at, c): (usize, char)| (c, text.origins()[at].start, text.origins()[at].end);
        text.as_str().char_indices().map(at).collect()
    }

    /// A character, and the start and end of its origin in bytes.
    type Traced = (char, u32, u32);

    #[test]
    fn stripped_ends() {
        let cases: [(bool, bool, &[Traced]); 4] = [
            (true, true, &[('a', 2, 3)]),
            (true, false, &[('a', 2, 3), ('\u{3000}', 3, 6)]),
            (false, true, &[('\u{85}', 0, 2), ('a', 2, 3)]),
            (false, false, &[('\u{85}', 0, 2), ('a', 2, 3), ('\u{3000}', 3, 6)]),
        ];
        for (left, right, expected) in cases {
            let mut text = AlignedText::default();
            text.start("\u{85}a\u{3000}", 0, true);
            Strip { left, right }.normalize(&mut text);
            assert_eq!(spans(&text), expected);
        }
        let mut text = AlignedText::default();
        text.start(" \n ", 0, true);
        Strip { left: true, right: true }.normalize(&mut text);
        assert_eq!(text.as_str(), "");
    }

    #[test]
    fn prepended_text_has_the_span_of_its_neighbour() {
        let mut text = AlignedText::default();
        text.start("éa", 5, true);
        text.rewrite(|rewriter| {
            prepend(rewriter, "▁x");
            rewriter.keep_bytes(rewriter.rest().len());
        });
        assert_eq!(spans(&text), [('▁', 5, 7), ('x', 5, 7), ('é', 5, 7), ('a', 7, 8)]);
    }
}
