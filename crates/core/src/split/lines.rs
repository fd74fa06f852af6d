//! The ends of lines.

/// The position after each line break of a text, in bytes. Line breaks are `\r\n`, `\n`, `\r`,
/// U+2028 and U+2029.
pub(super) fn ends(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            // The separators U+2028 and U+2029 are E2 80 A8 and E2 80 A9.
            at += memchr::memchr3(b'\n', b'\r', 0xE2, &bytes[at..])?;
            match &bytes[at..] {
                [b'\r', b'\n', ..] => at += 2,
                [b'\n' | b'\r', ..] => at += 1,
                [0xE2, 0x80, 0xA8 | 0xA9, ..] => at += 3,
                _ => {
                    at += 1;
                    continue;
                }
            }
            return Some(at);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::ends;

    #[test]
    fn every_kind_of_line_break_ends_a_line() {
        let text = "a\nb\r\nc\r\rd\u{2028}e\u{2029}f\u{2027}\u{e000}\n\n";
        let breaks = ["\r\n", "\n", "\r", "\u{2028}", "\u{2029}"];
        let mut expected = vec![];
        let mut at = 0;
        while at < text.len() {
            match breaks.iter().find(|line_break| text[at..].starts_with(**line_break)) {
                Some(line_break) => {
                    at += line_break.len();
                    expected.push(at);
                }
                None => at += text[at..].chars().next().map_or(1, char::len_utf8),
            }
        }
        assert_eq!(ends(text).collect::<Vec<_>>(), expected);
        assert_eq!(expected.len(), 8);
    }
}
