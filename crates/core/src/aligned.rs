//! A text that records for each byte the range of the original text that it comes from.
//!
//! Normalizers and some pre-tokenizers change the text, but offsets refer to the original. Every
//! byte of an [`AlignedText`] has the [`Span`] of its origin. If offsets are not needed, spans are
//! not recorded, and the same code costs no more than building the new text.
//!
//! The spans of inserted, removed and replaced text follow Hugging Face tokenizers'
//! `NormalizedString`: a replacement has the span of the character that it replaces, and an
//! insertion has the span of the byte before it. The normalizer of SentencePiece files follows the
//! `sentencepiece` library instead ([`Rewriter::replace_bytes`]).
//!
//! An insertion before the whole text has no origin: its span is empty. Some rules build a whole
//! text again ([`AlignedText::transform`], [`AlignedText::transform_part`]). They write the new
//! text at the first byte that has an origin, so an inserted prefix stays in front of it. Hugging
//! Face tokenizers behaves like this, and so does this module.

use crate::budget::{Budget, OutputLimit};
use crate::memory::Grow;
use crate::memory::fallible::{append, append_copies, push_str};
use crate::span::Span;

/// See the module documentation. Functions that build text unwind if memory is short. The buffers
/// are reused from text to text.
#[derive(Debug)]
pub(crate) struct AlignedText {
    text: String,
    /// One span per byte of `text`; empty if spans are not recorded.
    origins: Vec<Span>,
    tracked: bool,
    /// The byte of the original at which this text starts.
    base: usize,
    old_text: String,
    old_origins: Vec<Span>,
    /// Maximum number of bytes of `text`. Text beyond it is dropped.
    max_bytes: usize,
    /// Whether text was dropped.
    is_over: bool,
}

impl Default for AlignedText {
    fn default() -> Self {
        Self {
            text: String::new(),
            origins: vec![],
            tracked: false,
            base: 0,
            old_text: String::new(),
            old_origins: vec![],
            max_bytes: usize::MAX,
            is_over: false,
        }
    }
}

impl AlignedText {
    /// Limits the size of rewritten text. [`Self::check`] fails if the limit was exceeded.
    pub(crate) fn set_max_bytes(&mut self, bytes: usize) {
        (self.max_bytes, self.is_over) = (bytes, false);
    }

    /// Fails if a component wrote more text than the limit of [`Self::set_max_bytes`].
    pub(crate) fn check(&self, budget: &Budget, component: &'static str) -> Result<(), OutputLimit> {
        if self.is_over { budget.check(budget.remaining().saturating_add(1), component) } else { Ok(()) }
    }

    /// Replaces the text by `source`, which starts at byte `base` of the original.
    pub(crate) fn start(&mut self, source: &str, base: usize, tracked: bool) {
        self.text.clear();
        push_str(&mut self.text, source);
        self.tracked = tracked;
        self.base = base;
        self.origins.clear();
        if tracked {
            self.origins.grow(source.len());
            // Runs of ASCII are written by vector instructions.
            let mut at = base;
            for run in source.as_bytes().chunk_by(|left, right| left.is_ascii() == right.is_ascii()) {
                let end = at + run.len();
                if run[0].is_ascii() {
                    self.origins.extend((at..end).map(|at| Span::new(at, at + 1)));
                } else {
                    for character in source[at - base..end - base].chars().map(char::len_utf8) {
                        self.origins.extend(std::iter::repeat_n(Span::new(at, at + character), character));
                        at += character;
                    }
                }
                at = end;
            }
        }
    }

    /// Replaces the text by a part of another aligned text.
    pub(crate) fn start_slice(&mut self, whole: &Self, part: Span) {
        self.text.clear();
        push_str(&mut self.text, &whole.text[part.range()]);
        self.origins.clear();
        self.tracked = whole.tracked;
        if self.tracked {
            append(&mut self.origins, &whole.origins[part.range()]);
        }
        self.base = whole.origin_of(part).start as usize;
    }

    /// The range of the original that a part of the text comes from. If spans are not recorded, it
    /// is only correct for unchanged text.
    pub(crate) fn origin_of(&self, part: Span) -> Span {
        match (self.origins.get(part.start as usize), self.origins.get((part.end as usize).saturating_sub(1))) {
            (Some(first), Some(last)) if !part.is_empty() => Span { start: first.start, end: last.end },
            _ => part.shifted(self.base),
        }
    }

    /// The byte of the original at which the text starts.
    pub(crate) fn base(&self) -> usize {
        self.base
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// One span per byte; empty if spans are not recorded.
    pub(crate) fn origins(&self) -> &[Span] {
        &self.origins
    }

    pub(crate) fn is_tracked(&self) -> bool {
        self.tracked
    }

    /// Removes what follows the first `length` bytes, which end a character.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.text.truncate(length);
        self.origins.truncate(length);
    }

    /// Appends a character.
    pub(crate) fn push(&mut self, character: char, origin: Span) {
        if self.text.len() >= self.max_bytes {
            self.is_over = true;
            return;
        }
        self.text.grow(character.len_utf8());
        self.text.push(character);
        if self.tracked {
            append_copies(&mut self.origins, origin, character.len_utf8());
        }
    }

    /// Changes the end of the span of a byte, if spans are recorded.
    pub(crate) fn set_origin_end(&mut self, byte: usize, end: u32) {
        if let Some(span) = self.origins.get_mut(byte) {
            span.end = end;
        }
    }

    /// Rewrites the whole text: `write` reads the old text through the [`Rewriter`]. Text that it
    /// does not read is removed.
    pub(crate) fn rewrite(&mut self, write: impl FnOnce(&mut Rewriter<'_>)) {
        self.begin_rewrite();
        let end = self.old_text.len();
        self.write_part(0..end, 0, self.base, write);
    }

    /// Like [`Self::rewrite`], for rules that Hugging Face tokenizers applies to the original as a
    /// whole. A prefix without an origin stays, followed by the result of `write` for all of the
    /// text, prefix included. The spans of the result are those of the characters after the
    /// prefix. If these are too few, Hugging Face tokenizers fails; this function then behaves like
    /// [`Self::rewrite`].
    pub(crate) fn transform(&mut self, write: impl Fn(&mut Rewriter<'_>)) {
        let prefix_end = self.origins.iter().position(|span| !span.is_empty()).unwrap_or(self.origins.len());
        self.begin_rewrite();
        let end = self.old_text.len();
        if prefix_end > 0 {
            push_str(&mut self.text, &self.old_text[..prefix_end]);
            append(&mut self.origins, &self.old_origins[..prefix_end]);
            if self.write_part(0..end, prefix_end, self.base, &write).1 {
                return;
            }
            self.text.clear();
            self.origins.clear();
        }
        self.write_part(0..end, 0, self.base, write);
    }

    /// Starts rewriting the text part by part with [`Self::rewrite_part`].
    pub(crate) fn begin_rewrite(&mut self) {
        std::mem::swap(&mut self.text, &mut self.old_text);
        std::mem::swap(&mut self.origins, &mut self.old_origins);
        self.text.clear();
        self.origins.clear();
        self.text.grow(self.old_text.len());
        self.origins.grow(self.old_origins.len());
    }

    /// Appends the result of `write` for bytes `start..end` of the old text. Returns its range in
    /// the new text.
    pub(crate) fn rewrite_part(&mut self, start: usize, end: usize, write: impl FnOnce(&mut Rewriter<'_>)) -> Span {
        let base = self.old_origins.get(start).map_or(self.base + start, |span| span.start as usize);
        self.write_part(start..end, 0, base, write).0
    }

    /// Like [`Self::rewrite_part`], for rules that Hugging Face tokenizers applies to the original
    /// as a whole. A part without an origin is appended again, after the result of `write`.
    pub(crate) fn transform_part(&mut self, start: usize, end: usize, write: impl FnOnce(&mut Rewriter<'_>)) -> Span {
        let written = self.rewrite_part(start, end, write);
        let origins = self.old_origins.get(start..end).unwrap_or_default();
        if let [first, .., last] | [first @ last] = origins
            && first.start == last.end
        {
            if self.text.len() + (end - start) > self.max_bytes {
                self.is_over = true;
                return written;
            }
            push_str(&mut self.text, &self.old_text[start..end]);
            append(&mut self.origins, origins);
        }
        Span { end: Span::new(0, self.text.len()).end, ..written }
    }

    /// Appends the result of `write` for a part of the old text. Its spans are those of the part
    /// from byte `lead` on. Returns its range, and whether there were enough spans.
    fn write_part(
        &mut self,
        part: std::ops::Range<usize>,
        lead: usize,
        base: usize,
        write: impl FnOnce(&mut Rewriter<'_>),
    ) -> (Span, bool) {
        let new_start = self.text.len();
        let mut rewriter = Rewriter {
            old: &self.old_text[part.clone()],
            old_origins: if self.tracked { &self.old_origins[part] } else { &[] },
            at: 0,
            origin_at: lead,
            ran_out: false,
            base,
            max_bytes: self.max_bytes,
            is_over: false,
            new: &mut self.text,
            new_origins: self.tracked.then_some(&mut self.origins),
        };
        write(&mut rewriter);
        let enough = !rewriter.ran_out;
        self.is_over |= rewriter.is_over;
        (Span::new(new_start, self.text.len()), enough)
    }
}

/// Reads an old text from front to back and writes the new text.
#[derive(Debug)]
pub(crate) struct Rewriter<'a> {
    old: &'a str,
    old_origins: &'a [Span],
    at: usize,
    /// The position of the span of the next character: `at`, or the same number of characters
    /// after an inserted prefix, see [`AlignedText::transform`].
    origin_at: usize,
    /// Whether a character was replaced for which no span is left.
    ran_out: bool,
    base: usize,
    /// See [`AlignedText::set_max_bytes`].
    max_bytes: usize,
    is_over: bool,
    new: &'a mut String,
    new_origins: Option<&'a mut Vec<Span>>,
}

impl<'a> Rewriter<'a> {
    /// The text that is not read yet.
    pub(crate) fn rest(&self) -> &'a str {
        &self.old[self.at..]
    }

    /// The byte of the original at which this part starts.
    pub(crate) fn origin(&self) -> usize {
        self.base
    }

    /// Copies the next `count` bytes unchanged.
    pub(crate) fn keep_bytes(&mut self, count: usize) {
        let kept = &self.rest()[..count];
        if self.origin_at != self.at {
            return kept.chars().for_each(|character| self.replace(character));
        }
        if kept.len() > self.max_bytes.saturating_sub(self.new.len()) {
            self.is_over = true;
            return self.skip_bytes(count);
        }
        push_str(self.new, kept);
        if let Some(origins) = &mut self.new_origins {
            append(origins, &self.old_origins[self.at..self.at + count]);
        }
        self.skip_bytes(count);
    }

    /// Reads the next character and writes `character` in its place.
    pub(crate) fn replace(&mut self, character: char) {
        let span = self.old_origins.get(self.origin_at).copied();
        self.ran_out |= span.is_none();
        self.skip();
        self.write(character, span);
    }

    /// Reads the next `count` bytes and writes characters in their place, each of which has the
    /// span of all these bytes. If `count` is 0, they have the empty span before the next byte.
    pub(crate) fn replace_bytes(&mut self, count: usize, characters: impl Iterator<Item = char>) {
        let read = &self.old_origins[self.at.min(self.old_origins.len())..];
        let span = read.first().map(|first| Span {
            start: first.start,
            end: count.checked_sub(1).and_then(|last| read.get(last)).map_or(first.start, |last| last.end),
        });
        self.skip_bytes(count);
        characters.for_each(|character| self.write(character, span));
    }

    /// Writes a character that replaces none; it has the span of the byte read last.
    pub(crate) fn insert(&mut self, character: char) {
        let span = match self.origin_at.checked_sub(1) {
            Some(before) => self.old_origins.get(before).copied(),
            None => Some(Span::new(self.base, self.base)),
        };
        self.write(character, span);
    }

    /// Removes the next character.
    pub(crate) fn skip(&mut self) {
        self.skip_bytes(self.rest().chars().next().map_or(0, char::len_utf8));
    }

    /// Removes the next `count` bytes, which end at a character boundary.
    pub(crate) fn skip_bytes(&mut self, count: usize) {
        let end = self.at + count;
        if self.origin_at == self.at {
            self.origin_at = end;
        } else {
            let characters = self.old[self.at..end].chars().count();
            self.origin_at += self.old[self.origin_at..].chars().take(characters).map(char::len_utf8).sum::<usize>();
        }
        self.at = end;
    }

    /// A step of a normalization form. With `change` 1, the character is inserted; with 0, it
    /// replaces the next character; with -n, it replaces the next character, and the n characters
    /// after that are removed.
    pub(crate) fn step(&mut self, character: char, change: isize) {
        if change > 0 {
            self.insert(character);
            return;
        }
        self.replace(character);
        for _ in change..0 {
            self.skip();
        }
    }

    fn write(&mut self, character: char, span: Option<Span>) {
        if self.new.len() >= self.max_bytes {
            self.is_over = true;
            return;
        }
        self.new.grow(character.len_utf8());
        self.new.push(character);
        if let Some(origins) = &mut self.new_origins {
            append_copies(origins, span.unwrap_or(Span::new(self.base, self.base)), character.len_utf8());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins_of(text: &AlignedText) -> Vec<(char, u32, u32)> {
        let at = |(at, c): (usize, char)| (c, text.origins()[at].start, text.origins()[at].end);
        text.as_str().char_indices().map(at).collect()
    }

    #[test]
    fn replaced_inserted_and_removed_characters_keep_their_origins() {
        let mut text = AlignedText::default();
        text.start("aé中b", 10, true);
        text.rewrite(|r| {
            r.insert('<'); // before everything: its span is empty
            r.keep_bytes(1); // a
            r.replace('e'); // é
            r.insert('+');
            r.skip(); // 中
            r.keep_bytes(1); // b
        });
        assert_eq!(origins_of(&text), [('<', 10, 10), ('a', 10, 11), ('e', 11, 13), ('+', 11, 13), ('b', 16, 17)]);
        // A second rewrite keeps the spans of the first.
        text.rewrite(|r| {
            r.skip();
            r.keep_bytes(1);
            r.replace('É');
            r.keep_bytes(2);
        });
        assert_eq!(origins_of(&text), [('a', 10, 11), ('É', 11, 13), ('+', 11, 13), ('b', 16, 17)]);
    }

    #[test]
    fn text_beyond_the_limit_is_dropped_and_reported() {
        let budget = Budget::of_text(1);
        for (max_bytes, expected) in [(7, Some("a-b-c-d")), (6, None), (0, None)] {
            let mut text = AlignedText::default();
            text.start("abcd", 0, true);
            text.set_max_bytes(max_bytes);
            text.rewrite(|r| {
                while r.rest().len() > 1 {
                    r.keep_bytes(1);
                    r.insert('-');
                }
                r.keep_bytes(1);
            });
            assert_eq!(text.check(&budget, "test").is_ok(), expected.is_some());
            assert!(text.as_str().len() <= max_bytes.max(1) && text.origins().len() == text.as_str().len());
            assert!(expected.is_none_or(|expected| text.as_str() == expected));
        }
    }

    #[test]
    fn untracked_text_is_the_same_text() {
        let mut texts = [AlignedText::default(), AlignedText::default()];
        for (text, tracked) in texts.iter_mut().zip([true, false]) {
            text.start("x y", 0, tracked);
            text.rewrite(|r| {
                while let Some(c) = r.rest().chars().next() {
                    if c == ' ' { r.replace('▁') } else { r.keep_bytes(c.len_utf8()) }
                }
            });
        }
        assert_eq!(texts[0].as_str(), "x▁y");
        assert_eq!(texts[0].as_str(), texts[1].as_str());
        assert!(texts[1].origins().is_empty());
    }
}
