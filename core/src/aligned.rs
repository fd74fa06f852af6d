//! A text that remembers, byte by byte, what part of the original text it came from.
//!
//! Normalizers and some pre-tokenizers change text; offsets still have to point into the original. Every byte of an
//! [`AlignedText`] carries the [`Span`] of the original that it stands for. Where no offsets are wanted the spans are
//! not kept, and the same code costs no more than building the new text.
//!
//! The rules for text that is put in, taken out or replaced are those of Hugging Face tokenizers' `NormalizedString`:
//! what replaces a character has that character's span, what is inserted has the span of the byte before it.
//!
//! What is inserted before everything stands for nothing of the original: its span is empty. A rule that makes a whole text
//! anew ([`AlignedText::transform`], [`AlignedText::transform_part`]) puts the new text where the old one begins to stand
//! for something, so that such a beginning stays in front of it; the reference does so, and it is followed.

use crate::budget::{Budget, OutputLimit};
use crate::memory::Grow;
use crate::memory::fallible::{append, append_copies, push_str};
use crate::span::Span;

/// See the module. Without memory for the new text, whatever makes it unwinds. Buffers are reused from text to text.
#[derive(Debug)]
pub(crate) struct AlignedText {
    text: String,
    /// One span per byte of `text`, or none at all when not tracked.
    origins: Vec<Span>,
    tracked: bool,
    /// Where in the original this text starts.
    base: usize,
    old_text: String,
    old_origins: Vec<Span>,
    /// Bytes that `text` may have. What is written beyond that is dropped.
    room: usize,
    /// Whether something was dropped.
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
            room: usize::MAX,
            is_over: false,
        }
    }
}

impl AlignedText {
    /// Bounds what rewriting makes of the text. [`Self::check`] tells whether the bound was met.
    pub(crate) fn set_room(&mut self, bytes: usize) {
        (self.room, self.is_over) = (bytes, false);
    }

    /// Fails if a component wrote more than there is room for.
    pub(crate) fn check(&self, budget: &Budget, component: &'static str) -> Result<(), OutputLimit> {
        if self.is_over { budget.check(budget.room().saturating_add(1), component) } else { Ok(()) }
    }

    /// Starts over with `source`, which stands at byte `base` of the original.
    pub(crate) fn start(&mut self, source: &str, base: usize, tracked: bool) {
        self.text.clear();
        push_str(&mut self.text, source);
        self.tracked = tracked;
        self.base = base;
        self.origins.clear();
        if tracked {
            self.origins.grow(source.len());
            for (at, character) in source.char_indices() {
                let span = Span::new(base + at, base + at + character.len_utf8());
                self.origins.extend(std::iter::repeat_n(span, character.len_utf8()));
            }
        }
    }

    /// Starts over with a part of another aligned text.
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

    /// What a part of the text stands for in the original; without tracking, a guess that holds for unchanged text.
    pub(crate) fn origin_of(&self, part: Span) -> Span {
        match (self.origins.get(part.start as usize), self.origins.get((part.end as usize).saturating_sub(1))) {
            (Some(first), Some(last)) if !part.is_empty() => Span { start: first.start, end: last.end },
            _ => part.shifted(self.base),
        }
    }

    /// Where in the original the text starts.
    pub(crate) fn base(&self) -> usize {
        self.base
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// One span per byte; empty when not tracked.
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

    /// Rewrites the whole text: `write` reads the old text through the [`Rewriter`] and what it does not take is gone.
    pub(crate) fn rewrite(&mut self, write: impl FnOnce(&mut Rewriter<'_>)) {
        self.begin_rewrite();
        let end = self.old_text.len();
        self.write_part(0..end, 0, self.base, write);
    }

    /// Rewrites a text as [`Self::rewrite`] does, by a rule that the reference applies to the original as a whole. A beginning
    /// that stands for nothing stays, what `write` makes of all of the text comes behind it, and the spans are those of the
    /// characters from there on. Where these are too few the reference fails; then this is a rewriting like any other.
    pub(crate) fn transform(&mut self, write: impl Fn(&mut Rewriter<'_>)) {
        let something = self.origins.iter().position(|span| !span.is_empty()).unwrap_or(self.origins.len());
        self.begin_rewrite();
        let end = self.old_text.len();
        if something > 0 {
            push_str(&mut self.text, &self.old_text[..something]);
            append(&mut self.origins, &self.old_origins[..something]);
            if self.write_part(0..end, something, self.base, &write).1 {
                return;
            }
            self.text.clear();
            self.origins.clear();
        }
        self.write_part(0..end, 0, self.base, write);
    }

    /// Moves the text aside; [`Self::rewrite_part`] then makes the new one from it, part by part.
    pub(crate) fn begin_rewrite(&mut self) {
        std::mem::swap(&mut self.text, &mut self.old_text);
        std::mem::swap(&mut self.origins, &mut self.old_origins);
        self.text.clear();
        self.origins.clear();
        self.text.grow(self.old_text.len());
        self.origins.grow(self.old_origins.len());
    }

    /// Appends what `write` makes of bytes `start..end` of the old text; returns where it stands in the new one.
    pub(crate) fn rewrite_part(&mut self, start: usize, end: usize, write: impl FnOnce(&mut Rewriter<'_>)) -> Span {
        let base = self.old_origins.get(start).map_or(self.base + start, |span| span.start as usize);
        self.write_part(start..end, 0, base, write).0
    }

    /// Appends a part as [`Self::rewrite_part`] does, by a rule that the reference applies to the original as a whole. Behind
    /// what `write` makes of a part that stands for nothing comes the part itself, again.
    pub(crate) fn transform_part(&mut self, start: usize, end: usize, write: impl FnOnce(&mut Rewriter<'_>)) -> Span {
        let written = self.rewrite_part(start, end, write);
        let origins = self.old_origins.get(start..end).unwrap_or_default();
        if let [first, .., last] | [first @ last] = origins
            && first.start == last.end
        {
            if self.text.len() + (end - start) > self.room {
                self.is_over = true;
                return written;
            }
            push_str(&mut self.text, &self.old_text[start..end]);
            append(&mut self.origins, origins);
        }
        Span { end: Span::new(0, self.text.len()).end, ..written }
    }

    /// Appends what `write` makes of a part of the old text; its spans are those of the part from byte `lead` on. Returns
    /// where it stands, and whether there were spans enough.
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
            room: self.room,
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

/// Reads an old text from front to back and writes the new one.
#[derive(Debug)]
pub(crate) struct Rewriter<'a> {
    old: &'a str,
    old_origins: &'a [Span],
    at: usize,
    /// Where the span of what is read stands: at `at`, or so many characters further on as [`AlignedText::transform`] says.
    origin_at: usize,
    /// Whether something was replaced that has no span any more.
    ran_out: bool,
    base: usize,
    /// See [`AlignedText::set_room`].
    room: usize,
    is_over: bool,
    new: &'a mut String,
    new_origins: Option<&'a mut Vec<Span>>,
}

impl<'a> Rewriter<'a> {
    /// What has not been read yet.
    pub(crate) fn rest(&self) -> &'a str {
        &self.old[self.at..]
    }

    /// Where in the original starts what is read here.
    pub(crate) fn origin(&self) -> usize {
        self.base
    }

    /// Takes the next `count` bytes over as they are.
    pub(crate) fn keep_bytes(&mut self, count: usize) {
        let kept = &self.rest()[..count];
        if self.origin_at != self.at {
            return kept.chars().for_each(|character| self.replace(character));
        }
        if kept.len() > self.room.saturating_sub(self.new.len()) {
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

    /// Writes a character that stands for nothing of its own; it has the span of the byte read last.
    pub(crate) fn insert(&mut self, character: char) {
        let span = match self.origin_at.checked_sub(1) {
            Some(before) => self.old_origins.get(before).copied(),
            None => Some(Span::new(self.base, self.base)),
        };
        self.write(character, span);
    }

    /// Reads the next character and writes nothing.
    pub(crate) fn skip(&mut self) {
        self.skip_bytes(self.rest().chars().next().map_or(0, char::len_utf8));
    }

    /// Reads the next `count` bytes, which end a character, and writes nothing.
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

    /// One step of a normalization form: with `change` 1 the character is new, with 0 it replaces one, with -n it
    /// replaces one and the n characters behind that are gone.
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
        if self.new.len() >= self.room {
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
            r.insert('<'); // before everything: no span of its own
            r.keep_bytes(1); // a
            r.replace('e'); // é
            r.insert('+');
            r.skip(); // 中
            r.keep_bytes(1); // b
        });
        assert_eq!(origins_of(&text), [('<', 10, 10), ('a', 10, 11), ('e', 11, 13), ('+', 11, 13), ('b', 16, 17)]);
        // A second rewriting looks through the first.
        text.rewrite(|r| {
            r.skip();
            r.keep_bytes(1);
            r.replace('É');
            r.keep_bytes(2);
        });
        assert_eq!(origins_of(&text), [('a', 10, 11), ('É', 11, 13), ('+', 11, 13), ('b', 16, 17)]);
    }

    #[test]
    fn what_there_is_no_room_for_is_dropped_and_told() {
        let budget = Budget::of_text(1);
        for (room, expected) in [(7, Some("a-b-c-d")), (6, None), (0, None)] {
            let mut text = AlignedText::default();
            text.start("abcd", 0, true);
            text.set_room(room);
            text.rewrite(|r| {
                while r.rest().len() > 1 {
                    r.keep_bytes(1);
                    r.insert('-');
                }
                r.keep_bytes(1);
            });
            assert_eq!(text.check(&budget, "test").is_ok(), expected.is_some());
            assert!(text.as_str().len() <= room.max(1) && text.origins().len() == text.as_str().len());
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
