//! Escape sequences: characters by number, classes, assertions, references.

use super::classes::{self, Set};
use super::{CLASS_COST, EmptyMatch, Flags, Item, Parser, Problem, Result, any, atom, literal, not_line_feed, written};

impl<'a> Parser<'a> {
    /// Parses an escape sequence after the backslash, outside of brackets.
    pub(super) fn escape(&mut self, flags: Flags, items: &mut Vec<Item>) -> Result<Item> {
        let start = self.at - 1;
        let anchor = |text: &str| Ok(Item::Anchor(text.into()));
        let Some(character) = self.peek() else { return Err(self.problem("a backslash at the end")) };
        if let Some(set) = classes::short(character, false) {
            self.next();
            self.charge(CLASS_COST + set.ranges().len())?;
            return Ok(written(&set));
        }
        match character {
            '1'..='9' => {
                if let Some(item) = self.back_reference(start, flags)? {
                    return Ok(item);
                }
            }
            'p' | 'P' => {
                if let Some(set) = self.property(false)? {
                    self.charge(CLASS_COST + set.ranges().len())?;
                    return Ok(written(&set));
                }
            }
            _ => {}
        }
        if let Some(characters) = self.coded(false)? {
            let (&last, before) = characters.split_last().expect("a code is at least one character");
            items.extend(before.iter().map(|&character| literal(character, flags)));
            return Ok(literal(last, flags));
        }
        self.next();
        match character {
            'A' => anchor(r"\A"),
            'z' => anchor(r"\z"),
            'Z' => anchor(r"(?=\n?\z)"),
            'G' => anchor(r"\G"),
            'K' => anchor(r"\K"),
            'b' | 'B' => {
                let mut word = String::new();
                let set = classes::word(false);
                self.charge(CLASS_COST + 4 * set.ranges().len())?;
                classes::write(&set, &mut word);
                anchor(&match character {
                    'b' => format!("(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"),
                    _ => format!("(?:(?<={word})(?={word})|(?<!{word})(?!{word}))"),
                })
            }
            'R' => Ok(atom(r"(?>\r\n|[\n-\r\x{85}\x{2028}\x{2029}])")),
            'N' => Ok(not_line_feed()),
            'O' => Ok(any()),
            'k' if self.take("<") => self.named_reference('>', flags),
            'k' if self.take("'") => self.named_reference('\'', flags),
            'X' | 'y' | 'Y' => Err(self.not_supported(start, &format!("\\{character} (text segments)"))),
            'g' if self.rest().starts_with(['<', '\'']) => Err(self.not_supported(start, "\\g (a subexpression call)")),
            _ => Ok(literal(character, flags)),
        }
    }

    /// Parses `\1`. Returns `None` if there are fewer groups and the digits may be an octal number.
    fn back_reference(&mut self, start: usize, flags: Flags) -> Result<Option<Item>> {
        let digits = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len());
        let number: usize = self.rest()[..digits].parse().unwrap_or(usize::MAX);
        if number > 9 && number > self.groups {
            return Ok(None);
        }
        if self.has_names {
            return Err(Problem { what: "a reference by number in a pattern with named groups".into(), at: start });
        }
        self.at += digits;
        if number > self.groups {
            return Err(Problem {
                what: format!("a reference to group {number}, which does not come before it"),
                at: start,
            });
        }
        if flags.ignore_case {
            return Err(self.not_supported(start, "a reference that ignores case"));
        }
        // The text of the group may be empty.
        Ok(Some(Item::Written { text: format!(r"(?:\{number})"), is_one: true, shape: EmptyMatch::EMPTY }))
    }

    fn named_reference(&mut self, end: char, flags: Flags) -> Result<Item> {
        let (name, _) = self.rest().split_once(end).ok_or_else(|| self.problem("a group name without an end"))?;
        if !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return Err(self.not_supported(self.at, "a relative reference"));
        }
        if flags.ignore_case {
            return Err(self.not_supported(self.at, "a reference that ignores case"));
        }
        self.at += name.len() + end.len_utf8();
        Ok(Item::Written { text: format!(r"(?:\k<{name}>)"), is_one: true, shape: EmptyMatch::EMPTY })
    }

    /// Parses `p{…}` or `P{…}`. Returns `None` without braces: then it is the letter itself.
    pub(super) fn property(&mut self, in_brackets: bool) -> Result<Option<Set>> {
        let start = self.at - 1;
        let is_negative = self.rest().starts_with('P');
        let Some(rest) = self.rest()[1..].strip_prefix('{') else { return Ok(None) };
        let (name, _) = rest.split_once('}').ok_or_else(|| self.problem("a property without an end"))?;
        self.at += 1 + 1 + name.len() + 1;
        let (plain, is_negated) = name.strip_prefix('^').map_or((name, false), |plain| (plain, true));
        let set = classes::property(plain, in_brackets)
            .ok_or_else(|| self.not_supported(start, &format!("the property {name:?}")))?;
        Ok(Some(if is_negative == is_negated { set } else { classes::negated(set) }))
    }

    /// Parses a character that is given by its number or by a letter: `\n`, `\x41`, `\x{41 42}`,
    /// `\u0041`, `\101`, `\cA`. Consecutive bytes that are UTF-8 together form a character.
    pub(super) fn coded(&mut self, in_brackets: bool) -> Result<Option<Vec<char>>> {
        let start = self.at - 1;
        let simple = match self.peek() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('f') => '\u{c}',
            Some('v') => '\u{b}',
            Some('a') => '\u{7}',
            Some('e') => '\u{1b}',
            Some('b') if in_brackets => '\u{8}',
            Some('x') if self.rest()[1..].starts_with('{') => return self.in_braces(start, 16).map(Some),
            Some('o') if self.rest()[1..].starts_with('{') => return self.in_braces(start, 8).map(Some),
            Some('u') => {
                self.next();
                let digits = self.digits(16, 4);
                let value = (digits.len() == 4).then(|| u32::from_str_radix(digits, 16).ok()).flatten();
                let character = value.and_then(char::from_u32);
                return character
                    .map(|character| Some(vec![character]))
                    .ok_or(Problem { what: "\\u without four digits of a character".into(), at: start });
            }
            Some('c') => {
                self.next();
                return self.control(start).map(Some);
            }
            Some('C') if self.take("C-") => return self.control(start).map(Some),
            Some('M') if self.rest().starts_with("M-") => return Err(self.not_supported(start, "\\M-")),
            Some('x' | '0'..='7') => return self.bytes(start).map(Some),
            _ => return Ok(None),
        };
        self.next();
        Ok(Some(vec![simple]))
    }

    fn control(&mut self, start: usize) -> Result<Vec<char>> {
        match self.next() {
            Some('?') => Ok(vec!['\u{7f}']),
            Some(letter) if letter.is_ascii_alphabetic() || "@[]^_".contains(letter) => {
                Ok(vec![char::from(letter as u8 & 0x1F)])
            }
            _ => Err(Problem { what: "\\c without a letter".into(), at: start }),
        }
    }

    fn digits(&mut self, radix: u32, max_count: usize) -> &'a str {
        let rest = self.rest();
        let count = rest.chars().take(max_count).take_while(|c| c.is_digit(radix)).count();
        self.at += count;
        &rest[..count]
    }

    fn in_braces(&mut self, start: usize, radix: u32) -> Result<Vec<char>> {
        let wrong = |what: &str| Problem { what: what.into(), at: start };
        let (inner, _) = self.rest()[2..].split_once('}').ok_or_else(|| wrong("a code point without an end"))?;
        self.at += 2 + inner.len() + 1;
        let one = |digits| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
        let characters: Option<Vec<char>> = inner.split_whitespace().map(one).collect();
        characters.filter(|all| !all.is_empty()).ok_or_else(|| wrong("a code point that is not a character"))
    }

    /// Parses `\xHH` and `\nnn`, which stand for bytes.
    fn bytes(&mut self, start: usize) -> Result<Vec<char>> {
        let mut bytes = vec![];
        loop {
            let byte = if self.take("x") {
                let digits = self.digits(16, 2);
                if digits.is_empty() { 0 } else { u32::from_str_radix(digits, 16).unwrap_or(u32::MAX) }
            } else {
                u32::from_str_radix(self.digits(8, 3), 8).unwrap_or(u32::MAX)
            };
            let what = "bytes that are not a character";
            bytes.push(u8::try_from(byte).map_err(|_| Problem { what: what.into(), at: start })?);
            match std::str::from_utf8(&bytes) {
                Ok(text) => return Ok(text.chars().collect()),
                Err(error) if error.error_len().is_none() => {
                    let goes_on = self.rest().strip_prefix('\\').is_some_and(|rest| rest.starts_with(['x', '2', '3']));
                    if !goes_on {
                        return Err(Problem { what: what.into(), at: start });
                    }
                    self.at += 1;
                }
                Err(_) => return Err(Problem { what: what.into(), at: start }),
            }
        }
    }
}
