//! Removes a character from both ends of a token, which may arrive in parts.

use std::borrow::Cow;
use std::ops::Range;

use crate::memory::fallible::append;

/// The maximum number of times that a character is removed from the start and from the end of a
/// token.
///
/// Hugging Face tokenizers panics if a token is too short for both, such as a single character that
/// is to be removed from both ends. This implementation removes from the start first, and then from
/// the end of the rest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StripEnds {
    pub(crate) content: char,
    pub(crate) start: usize,
    pub(crate) stop: usize,
}

/// The state within a token.
#[derive(Debug, Default)]
pub(super) struct StripState {
    /// How often the character was removed from the start; the maximum after any other character.
    removed: usize,
    /// How often the character stands at the end of the parts so far without being passed on: it
    /// is removed if the token ends there.
    held: usize,
}

impl StripState {
    pub(super) fn holds_text(&self) -> bool {
        self.held > 0
    }
}

impl StripEnds {
    /// Returns what is certain after this part of the token.
    ///
    /// The characters that the state holds are counted and not kept, so that a long run of them
    /// costs a part no more than its own length and the length of the result.
    pub(super) fn part<'a>(self, part: Cow<'a, [u8]>, state: &mut StripState) -> Cow<'a, [u8]> {
        let mut buffer = [0; 4];
        let content: &[u8] = self.content.encode_utf8(&mut buffer).as_bytes();
        let mut rest = &*part;
        while state.removed < self.start
            && let Some(shorter) = rest.strip_prefix(content)
        {
            state.removed += 1;
            rest = shorter;
        }
        if rest.is_empty() {
            return Cow::Borrowed(&[]);
        }
        state.removed = self.start;
        let (mut before_end, mut held) = (rest, 0);
        while held < self.stop
            && let Some(shorter) = before_end.strip_suffix(content)
        {
            held += 1;
            before_end = shorter;
        }
        if before_end.is_empty() {
            // The characters that the state holds are still at the end.
            held = self.stop.min(state.held + held);
        }
        // The characters held so far and the rest, without those that are held now.
        let held_before = content.len() * std::mem::replace(&mut state.held, held);
        let certain = held_before + rest.len() - content.len() * held;
        if held_before == 0 {
            let start = part.len() - rest.len();
            return slice(part, start..start + certain);
        }
        let mut text = vec![];
        while text.len() < certain.min(held_before) {
            append(&mut text, content);
        }
        append(&mut text, &rest[..certain.saturating_sub(held_before)]);
        Cow::Owned(text)
    }
}

/// A part of a token.
pub(super) fn slice(token: Cow<'_, [u8]>, part: Range<usize>) -> Cow<'_, [u8]> {
    match token {
        Cow::Borrowed(token) => Cow::Borrowed(&token[part]),
        Cow::Owned(mut token) => {
            token.truncate(part.end);
            token.drain(..part.start);
            Cow::Owned(token)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The token without the character at its ends.
    fn stripped(ends: StripEnds, token: &str) -> &str {
        let token = (0..ends.start).fold(token, |rest, _| rest.strip_prefix(ends.content).unwrap_or(rest));
        (0..ends.stop).fold(token, |rest, _| rest.strip_suffix(ends.content).unwrap_or(rest))
    }

    proptest! {
        #[test]
        fn parts_give_what_the_whole_token_gives(
            parts in prop::collection::vec("[é ]{0,4}", 0..5),
            content in prop::sample::select(vec!['é', ' ']),
            start in 0..4usize,
            stop in 0..4usize,
        ) {
            let (ends, token, mut state) = (StripEnds { content, start, stop }, parts.concat(), StripState::default());
            let certain = parts.iter().map(|part| ends.part(Cow::Borrowed(part.as_bytes()), &mut state));
            let certain = certain.map(Cow::into_owned).collect::<Vec<_>>().concat();
            prop_assert_eq!(String::from_utf8(certain).expect("whole characters"), stripped(ends, &token));
            let whole = ends.part(Cow::Owned(token.clone().into_bytes()), &mut StripState::default());
            prop_assert_eq!(std::str::from_utf8(&whole).expect("whole characters"), stripped(ends, &token));
        }
    }
}
