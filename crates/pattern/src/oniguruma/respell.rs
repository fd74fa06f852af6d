//! Rewrites a fancy-regex pattern so that Oniguruma finds the same matches. Syntax with the same
//! meaning in both is kept. Text boundaries, possessive intervals, and classes and case-insensitive
//! parts with different meanings are written out.

use super::classes::{self, Set};
use super::fold;
use super::{Problem, Result, translate};

/// Rewrites a pattern for Oniguruma. Only constructs whose equivalence is known are accepted; any
/// other one is an error with its place.
pub(crate) fn respell(source: &str) -> Result<String> {
    let mut speller =
        Speller { source, at: 0, out: String::new(), last: None, open: vec![], ignore_case: false, behind: false };
    while speller.at < source.len() {
        speller.step()?;
    }
    if !speller.open.is_empty() {
        return Err(speller.problem("a group without an end"));
    }
    // Parsing the result finds constructs that do not work in Oniguruma, such as repeating an
    // expression that may be empty.
    translate(&speller.out)?;
    Ok(speller.out)
}

struct Speller<'a> {
    source: &'a str,
    at: usize,
    out: String,
    /// The start, in `out`, of the part that a quantifier would repeat.
    last: Option<usize>,
    /// For each open group: its start in `out`, whether it may be repeated, and whether case was
    /// ignored before it.
    open: Vec<(usize, bool, bool)>,
    ignore_case: bool,
    /// Whether this is inside of a look-behind. The libraries support different constructs there,
    /// so only characters, classes and alternatives are accepted.
    behind: bool,
}

/// Characters whose escaped form is the character itself in both libraries.
const ESCAPED: &str = r".+*?()|[]{}^$#&-~/\";

impl<'a> Speller<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn problem(&self, what: impl Into<String>) -> Problem {
        Problem { what: what.into(), at: self.at }
    }

    fn unknown(&self, what: &str) -> Problem {
        self.problem(format!("{what} cannot be translated"))
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len() } else { 0 };
        found
    }

    fn step(&mut self) -> Result<()> {
        let Some(character) = self.rest().chars().next() else { return Ok(()) };
        let start = self.out.len();
        match character {
            '(' => return self.group(),
            ')' => {
                let (start, is_one, ignored) = self.open.pop().ok_or_else(|| self.problem("a lone parenthesis"))?;
                self.ignore_case = ignored;
                self.behind = false;
                self.last = is_one.then_some(start);
                return self.copy(")");
            }
            '|' => {
                self.last = None;
                return self.copy("|");
            }
            '*' | '+' | '?' | '{' => return self.quantifier(),
            '^' | '$' => {
                self.last = None;
                self.at += 1;
                self.out.push_str(if character == '^' { r"\A" } else { r"\z" });
                return Ok(());
            }
            '.' => {
                self.at += 1;
                self.out.push_str(r"[^\n]");
            }
            '[' => {
                let len = self.class_len()?;
                self.class(len)?;
            }
            '\\' if self.rest()[1..].starts_with(['A', 'z']) => {
                self.last = None;
                return self.copy(&self.rest()[..2]);
            }
            '\\' => self.escape()?,
            _ => {
                self.at += character.len_utf8();
                self.literal(character);
            }
        }
        self.last = Some(start);
        Ok(())
    }

    fn copy(&mut self, text: &str) -> Result<()> {
        self.at += text.len();
        self.out.push_str(text);
        Ok(())
    }

    fn group(&mut self) -> Result<()> {
        if self.behind {
            return Err(self.unknown("a group inside a look-behind"));
        }
        let start = self.out.len();
        let ignored = self.ignore_case;
        let assertions = ["(?=", "(?!", "(?<=", "(?<!"];
        let kind = assertions.into_iter().chain(["(?:", "(?>"]).find(|kind| self.rest().starts_with(kind));
        if let Some(kind) = kind {
            self.copy(kind)?;
        } else if self.take("(?i:") {
            self.ignore_case = true;
            self.out.push_str("(?:");
        } else if self.rest().starts_with("(?") || self.rest().starts_with("(*") {
            return Err(self.unknown("a group of this kind"));
        } else {
            self.copy("(")?;
        }
        self.behind = matches!(kind, Some("(?<=" | "(?<!"));
        let is_assertion = kind.is_some_and(|kind| assertions.contains(&kind));
        self.open.push((start, !is_assertion, ignored));
        self.last = None;
        Ok(())
    }

    fn quantifier(&mut self) -> Result<()> {
        if self.behind {
            return Err(self.unknown("a quantifier inside a look-behind"));
        }
        let start = self.last.take().ok_or_else(|| self.unknown("a quantifier without a single item to repeat"))?;
        if !self.rest().starts_with('{') {
            // A question mark makes the quantifier lazy and a plus makes it possessive, in both
            // libraries.
            let len = 1 + usize::from(self.rest()[1..].starts_with(['?', '+']));
            return self.copy(&self.rest()[..len]);
        }
        let (count, _) = self.rest()[1..].split_once('}').ok_or_else(|| self.unknown("a lone brace"))?;
        let (low, high) = count.split_once(',').unwrap_or((count, count));
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(low) || !(high.is_empty() || is_number(high)) {
            return Err(self.unknown("a lone brace"));
        }
        self.copy(&self.rest()[..count.len() + 2])?;
        if self.take("+") {
            // Oniguruma would interpret the plus as a second repetition.
            self.out.insert_str(start, "(?>");
            self.out.push(')');
        } else if self.take("?") && low != high {
            self.out.push('?');
        }
        Ok(())
    }

    fn literal(&mut self, character: char) {
        if self.ignore_case {
            classes::write(&fold::closed(classes::range(character, character)), &mut self.out);
        } else if matches!(character, ']' | '}') {
            self.out.extend(['\\', character]);
        } else {
            self.out.push(character);
        }
    }

    fn escape(&mut self) -> Result<()> {
        let rest = &self.rest()[1..];
        match rest.chars().next() {
            Some(character) if ESCAPED.contains(character) => self.copy(&self.rest()[..2]),
            Some('n' | 'r' | 't' | 's' | 'S' | 'd' | 'D' | 'w' | 'W') => self.class(2),
            Some('p' | 'P' | 'x') => {
                let len = escape_len(self.rest()).ok_or_else(|| self.unknown("an escape"))?;
                self.class(len)
            }
            _ => Err(self.unknown("an escape")),
        }
    }

    /// Writes the class in the next `len` bytes: unchanged if it has the same characters in
    /// Oniguruma, otherwise as ranges.
    fn class(&mut self, len: usize) -> Result<()> {
        let source = &self.rest()[..len];
        let prefix = if self.ignore_case { "(?i)" } else { "" };
        let set = classes::regex(&format!("{prefix}{source}")).ok_or_else(|| self.unknown("a class"))?;
        let theirs: Option<Set> = translate(source).ok().and_then(|translated| classes::regex(&translated));
        if !self.ignore_case && theirs.as_ref() == Some(&set) {
            return self.copy(source);
        }
        self.at += len;
        classes::write(&set, &mut self.out);
        Ok(())
    }

    /// The length in bytes of the class that starts here, including nested brackets. Escapes whose
    /// meaning may differ between the libraries are errors.
    fn class_len(&self) -> Result<usize> {
        let rest = self.rest();
        let (mut depth, mut at) = (0, 0);
        while at < rest.len() {
            match rest.as_bytes()[at] {
                b'[' => {
                    depth += 1;
                    at += 1;
                    at += usize::from(rest[at..].starts_with('^'));
                    // In this position it is a character.
                    at += usize::from(rest[at..].starts_with(']'));
                    continue;
                }
                b']' if depth == 1 => return Ok(at + 1),
                b']' => depth -= 1,
                b'\\' => {
                    let known = rest[at + 1..].chars().next().is_some_and(|c| {
                        ESCAPED.contains(c) || "nrtsSdDwW".contains(c) || escape_len(&rest[at..]).is_some()
                    });
                    if !known {
                        return Err(Problem { what: "an escape cannot be translated".into(), at: self.at + at });
                    }
                    at += 1;
                }
                _ => {}
            }
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
        Err(self.problem("a class without an end"))
    }
}

/// The length in bytes of `\p{…}`, `\pL`, `\x{…}` or `\xHH`.
fn escape_len(rest: &str) -> Option<usize> {
    let body = rest.get(2..)?;
    match rest.as_bytes()[1] {
        b'p' | b'P' | b'x' if body.starts_with('{') => body.find('}').map(|end| 2 + end + 1),
        b'p' | b'P' => body.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(3),
        b'x' => (body.len() >= 2 && body.bytes().take(2).all(|byte| byte.is_ascii_hexdigit())).then_some(4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dialect, Pattern};
    use proptest::prelude::*;

    /// Returns `None` if the search exceeds its step limit.
    fn matches(source: &str, dialect: Dialect, text: &str) -> Option<Vec<(u32, u32)>> {
        let pattern = Pattern::new(source, dialect).unwrap_or_else(|error| panic!("{error}"));
        let mut found = vec![];
        pattern
            .for_each_match(text, &mut crate::testing::steps(text.len()), |span| {
                found.push((span.start, span.end));
            })
            .ok()
            .map(|()| found)
    }

    #[test]
    fn syntax_common_to_both_stays() {
        let alike = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s+(?!\S)|(?>a++|b*?)\.(?<=-)";
        assert_eq!(respell(alike), Ok(alike.into()));
    }

    #[test]
    fn syntax_that_differs_is_rewritten() {
        let cases = [
            (r"^a$", r"\Aa\z"),
            (r".+", r"[^\n]+"),
            (r"\p{N}{1,3}+x", r"(?>\p{N}{1,3})x"),
            (r"a{2}?b{1,2}?", r"a{2}b{1,2}?"),
            (r"(?i:'s|[k])b", r"(?:\x{27}[Ss\x{17F}]|[Kk\x{212A}])b"),
            (r"\pL|]", r"[A-Za-z"),
        ];
        for (source, wanted) in cases {
            let got = respell(source).expect("it can be translated");
            assert!(got.starts_with(wanted), "{source}: {got}");
        }
    }

    #[test]
    fn syntax_without_a_translation_is_named_with_its_position() {
        let cases = [
            (r"a\b", "an escape cannot be translated (at byte 1)"),
            (r"(a)\1", "an escape cannot be translated (at byte 3)"),
            (r"(?m)a", "a group of this kind cannot be translated (at byte 0)"),
            (r"a+*", "a quantifier without a single item to repeat cannot be translated (at byte 2)"),
            (r"a{,2}", "a lone brace cannot be translated (at byte 1)"),
            (r"(?<=ab?)c", "a quantifier inside a look-behind cannot be translated (at byte 6)"),
            (r"[\h]", "an escape cannot be translated (at byte 1)"),
            (
                r"(?:a?|b)*",
                "a repetition whose body prefers an empty match to a longer one is not supported (at byte 8)",
            ),
        ];
        for (source, message) in cases {
            assert_eq!(respell(source).map_err(|problem| problem.to_string()), Err(message.into()), "{source}");
        }
    }

    /// Patterns composed of constructs in which the dialects differ.
    fn pattern() -> impl Strategy<Value = String> {
        let atoms = [
            "a",
            "K",
            "ſ",
            "ß",
            " ",
            "'s",
            ".",
            r"\s",
            r"\S",
            r"\w",
            r"\W",
            r"\d",
            r"\p{L}",
            r"\P{N}",
            r"\pL",
            r"\x41",
            r"\x{212a}",
            "[a-c]",
            r"[^\s]",
            r"[\w-]",
            "[]a]",
            "[a-z&&[^b]]",
            "[^k]",
            r"\.",
            r"\-",
            "$",
            "^",
            r"\z",
            r"\A",
            "}",
            r"\n",
        ];
        let atom = prop::sample::select(atoms.to_vec()).prop_map(str::to_owned);
        let quantifiers = [
            "", "", "", "*", "+", "?", "*?", "+?", "??", "*+", "++", "?+", "{2}", "{1,2}", "{1,2}?", "{1,2}+", "{2}?",
            "{2}+", "{1,}+",
        ];
        let groups = ["(?:", "(", "(?i:", "(?>", "(?=", "(?!", "(?<=", "(?<!"];
        atom.prop_recursive(4, 24, 6, move |inner| {
            let piece = (inner, prop::sample::select(quantifiers.to_vec())).prop_map(|(piece, sign)| piece + sign);
            let row = prop::collection::vec(piece, 1..4).prop_map(|row| row.concat());
            (prop::sample::select(groups.to_vec()), prop::collection::vec(row, 1..4))
                .prop_map(|(group, rows)| format!("{group}{})", rows.join("|")))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn translated_patterns_match_the_same(source in pattern(), text in "([abkKsSſßé½ '.\\-}\u{212a}0A]|\n){0,12}") {
            // A pattern that fancy-regex does not compile cannot be in a rank file.
            if Pattern::new(&source, Dialect::FancyRegex).is_ok()
                && let Ok(spelt) = respell(&source)
            {
                let (ours, theirs) = (matches(&source, Dialect::FancyRegex, &text), matches(&spelt, Dialect::Oniguruma, &text));
                if ours.is_some() && theirs.is_some() {
                    prop_assert_eq!(ours, theirs, "{} became {} on {:?}", source, spelt, text);
                }
            }
        }
    }
}
