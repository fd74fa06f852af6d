//! The ends of words by the rules of Unicode (UAX #29).
//!
//! Every break of the rules is an end, except behind a space that something else follows: most
//! tokenizers make the space before a word a part of its first token, so it belongs to the next
//! piece.

use unicode_segmentation::UnicodeSegmentation;

/// Number of bytes behind `max` that are read. The rules look at a few characters behind a break,
/// so the breaks up to `max` are those of the whole text, unless more combining characters follow
/// a word.
const LOOK_AHEAD: usize = 64;

/// The ends of words of the start of a text, at least those up to `max` bytes. The rest of a long
/// text is not read.
pub(super) fn ends(text: &str, max: usize) -> impl Iterator<Item = usize> {
    let near = &text[..text.ceil_char_boundary(max.saturating_add(LOOK_AHEAD).min(text.len()))];
    near.split_word_bound_indices().filter_map(|(at, part)| {
        let end = at + part.len();
        let is_before_word = near.as_bytes()[end - 1] == b' ' && near[end..].starts_with(|next: char| next != ' ');
        (!is_before_word).then_some(end)
    })
}

#[cfg(test)]
mod tests {
    use super::ends;

    #[test]
    fn words_end_before_their_space_and_links_between_their_parts() {
        let found = |text| ends(text, usize::MAX).map(|end| &text[..end]).collect::<Vec<_>>();
        assert_eq!(found("can't stop"), ["can't", "can't stop"]);
        assert_eq!(found("a,  b\n"), ["a", "a,", "a,  b", "a,  b\n"]);
        assert_eq!(found("x.org/a"), ["x.org", "x.org/", "x.org/a"]);
    }

    #[test]
    fn only_the_start_of_a_long_text_is_read() {
        let text = "a".repeat(1 << 20);
        assert!(ends(&text, 10).all(|end| end <= 10 + super::LOOK_AHEAD));
    }
}
