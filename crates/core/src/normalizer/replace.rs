//! Replace: replaces every match of a pattern by a fixed text.

use crate::aligned::AlignedText;
use crate::budget::{ALL_NORMALIZERS, Budget, StageError};
use crate::memory::fallible::push;
use crate::pattern::Pattern;
use crate::span::Span;

/// A pattern, and the replacement of its matches.
#[derive(Debug)]
pub(crate) struct Replace {
    pub(crate) pattern: Pattern,
    pub(crate) content: String,
}

impl Replace {
    pub(crate) fn leaves(&self, text: &str, budget: &mut Budget) -> bool {
        // If the search exceeds its step limit here, it does so again in `normalize`, which can
        // report it.
        text.is_empty() || self.pattern.is_match(text, &mut budget.pattern_steps).is_ok_and(|found| !found)
    }

    /// The text that replaces several consecutive spaces, if that is all this does. A pattern that
    /// also matches a single space is only accepted if that space stays.
    pub(crate) fn joined_spaces(&self) -> Option<&str> {
        let joined = match self.pattern.as_regex()? {
            " {2,}" | "[ ]{2,}" => true,
            " +" => self.content == " ",
            _ => false,
        };
        joined.then_some(&*self.content)
    }

    /// Whether each match is a single character or a run of white space.
    pub(crate) fn matches_near_characters(&self) -> bool {
        let is_white_space = |source: &str| [" +", r"\s+", " {2,}", "[ ]{2,}", r"\s{2,}"].contains(&source);
        self.pattern.as_string().is_some_and(|sought| sought.chars().count() == 1)
            || self.pattern.as_regex().is_some_and(is_white_space)
    }

    /// Whether certainly no match is replaced by a shorter text.
    pub(crate) fn grows(&self) -> bool {
        self.pattern.as_string().is_some_and(|sought| sought.len() <= self.content.len())
    }

    pub(crate) fn normalize(&self, text: &mut AlignedText, budget: &mut Budget) -> Result<(), StageError> {
        let (mut matches, mut taken): (Vec<Span>, usize) = Default::default();
        self.pattern.for_each_match(text.as_str(), &mut budget.pattern_steps, |found| {
            taken += found.range().len();
            push(&mut matches, found);
        })?;
        if matches.is_empty() {
            return Ok(());
        }
        let put = self.content.len().saturating_mul(matches.len());
        budget.check(put.saturating_add(text.as_str().len() - taken), super::COMPONENT)?;
        // The work of a match, which a regular expression takes longer to find.
        let per_match = if self.pattern.as_string().is_some() { 4 } else { 8 };
        budget.work(put + per_match * matches.len() + text.as_str().len() / 8, ALL_NORMALIZERS)?;
        text.rewrite(|rewriter| {
            let mut at = 0;
            for found in matches {
                rewriter.keep_bytes(found.start as usize - at);
                at = found.end as usize;
                rewriter.skip_bytes(found.range().len());
                // The replacement has the origin of the last removed byte; at the very start its
                // origin is empty.
                self.content.chars().for_each(|character| rewriter.insert(character));
            }
            rewriter.keep_bytes(rewriter.rest().len());
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Dialect;
    use proptest::prelude::*;

    fn replaced(replace: &Replace, text: &str) -> Vec<(char, u32, u32)> {
        let mut aligned = AlignedText::default();
        aligned.start(text, 0, true);
        replace.normalize(&mut aligned, &mut Budget::of_text(text.len())).expect("no test text is hard");
        let at = |(at, c): (usize, char)| (c, aligned.origins()[at].start, aligned.origins()[at].end);
        aligned.as_str().char_indices().map(at).collect()
    }

    #[test]
    fn matches_and_their_origins() {
        let regex = |source: &str, content: &str| Replace {
            pattern: Pattern::new(source, Dialect::Oniguruma).expect("it compiles"),
            content: content.into(),
        };
        assert_eq!(replaced(&regex("é+", "xy"), "aééb"), [('a', 0, 1), ('x', 3, 5), ('y', 3, 5), ('b', 5, 6)]);
        assert_eq!(replaced(&regex("b", ""), "abc"), [('a', 0, 1), ('c', 2, 3)]);
        // Empty matches: before the first character there is no byte whose origin could be used.
        assert_eq!(
            replaced(&regex("x*", "-"), "ab"),
            [('-', 0, 0), ('a', 0, 1), ('-', 0, 1), ('b', 1, 2), ('-', 1, 2)]
        );
    }

    proptest! {
        #[test]
        fn a_string_replaces_as_the_standard_library_does(text in "[ab.é]{0,12}", sought in "[ab.é]{1,3}", put in "[é▁b]{0,2}") {
            let replace = Replace { pattern: Pattern::literal(&sought).expect("any text will do"), content: put };
            let mut aligned = AlignedText::default();
            aligned.start(&text, 0, true);
            replace.normalize(&mut aligned, &mut Budget::of_text(text.len())).expect("no test text is hard");
            prop_assert_eq!(aligned.as_str(), text.replace(&sought, &replace.content));
            prop_assert_eq!(aligned.origins().len(), aligned.as_str().len());
            if replace.leaves(&text, &mut Budget::of_text(text.len())) {
                prop_assert_eq!(aligned.as_str(), &text);
            }
        }
    }
}
