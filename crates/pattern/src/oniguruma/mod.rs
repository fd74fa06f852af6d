//! Translates the patterns of a tokenizer.json to the syntax of the crate fancy-regex.
//!
//! Hugging Face tokenizers compiles these patterns with Oniguruma, whose syntax resembles that of
//! other libraries but has other meanings: `^` and `$` always match at the ends of a line, `(?m)`
//! is the `(?s)` of other libraries, `\w` has a different set of characters, and `{1,3}+` repeats a
//! repetition. Therefore this module parses a pattern as Oniguruma does, and writes it anew without
//! ambiguous syntax: only characters, explicit ranges, groups and simple repetitions. Flags are
//! resolved, and classes are expanded. A construct that fancy-regex cannot express is an error,
//! which names it and its place.
//!
//! - [`classes`]: sets of characters.
//! - [`escapes`]: escape sequences.
//! - [`brackets`]: bracketed classes, `[…]`.
//! - [`fold`]: case folding for `(?i)`.
//! - [`mod@respell`]: the opposite direction, for patterns that are written to a tokenizer.json.

mod brackets;
mod classes;
mod escapes;
mod fold;
mod respell;
#[cfg(test)]
mod tests;

use std::fmt;

use classes::Set;
pub(super) use respell::respell;

/// A syntax error or an unsupported construct, and its byte position in the pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    what: String,
    at: usize,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.what, self.at)
    }
}

type Result<T> = std::result::Result<T, Problem>;

/// Translates a pattern to the syntax of fancy-regex.
pub(super) fn translate(source: &str) -> Result<String> {
    match Parser::translate(source, false) {
        (Ok(translated), false) => Ok(translated),
        (_, true) => Parser::translate(source, true).0,
        (Err(problem), false) => match Parser::translate(source, true) {
            (result, true) => result,
            // The error comes before any named group.
            (_, false) => Err(problem),
        },
    }
}

/// The flags that `(?imx)` has enabled.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    ignore_case: bool,
    dot_takes_line_feeds: bool,
    extended: bool,
}

/// A part of the pattern that a quantifier repeats as a whole.
#[derive(Debug)]
enum Item {
    /// A character that matches in either case. Adjacent ones are written together.
    Folded(char),
    /// An item that is already translated. `is_one` means that a quantifier can be appended to it
    /// directly.
    Written { text: String, is_one: bool, shape: EmptyMatch },
    /// An assertion, which cannot be repeated.
    Anchor(String),
}

/// How a part of the pattern may match the empty string. In Oniguruma an empty iteration ends a
/// repetition, while fancy-regex tries other alternatives. The difference is visible if an empty
/// match is tried before a match that is not empty.
#[derive(Debug, Clone, Copy, Default)]
struct EmptyMatch {
    /// Whether it may match the empty string.
    may_be_empty: bool,
    /// Whether an empty match may be tried before one that is not empty.
    empty_comes_first: bool,
}

impl EmptyMatch {
    const EMPTY: Self = Self { may_be_empty: true, empty_comes_first: false };

    /// The shape of a concatenation.
    fn then(self, next: Self) -> Self {
        let may_be_empty = self.may_be_empty && next.may_be_empty;
        Self { may_be_empty, empty_comes_first: may_be_empty && (self.empty_comes_first || next.empty_comes_first) }
    }

    /// The shape of an alternation.
    fn or(self, other: Self) -> Self {
        Self {
            may_be_empty: self.may_be_empty || other.may_be_empty,
            empty_comes_first: self.may_be_empty || other.empty_comes_first,
        }
    }
}

struct Parser<'a> {
    source: &'a str,
    at: usize,
    depth: usize,
    groups: usize,
    /// Whether the pattern has a named group. If so, groups without a name do not capture.
    has_names: bool,
    /// Whether a named group was parsed.
    found_name: bool,
    /// The number of character ranges of all classes so far.
    ranges: usize,
}

/// Maximum number of character ranges of all classes of a pattern together; a range counts each
/// time that it is processed. `\p{L}` has about 700, and the patterns of real files need up to
/// 10,000.
const MAX_RANGES: usize = 1 << 17;

/// The cost of looking up a class, in ranges.
const CLASS_COST: usize = 64;

/// Maximum nesting depth of groups and brackets.
const MAX_GROUP_DEPTH: usize = 200;
const MAX_REPEATS: usize = 100_000;
/// Groups that fancy-regex does not repeat.
const EMPTY_GROUPS: [&str; 3] = ["(?:)", "(?:(?:))", "(?>)"];

impl<'a> Parser<'a> {
    /// Translates a pattern, given whether it has a named group. Also returns whether it has one.
    fn translate(source: &'a str, has_names: bool) -> (Result<String>, bool) {
        let mut parser = Self { source, at: 0, depth: 0, groups: 0, has_names, found_name: false, ranges: 0 };
        let translated =
            parser.alternatives(Flags::default()).and_then(|(translated, _)| match parser.at < source.len() {
                true => Err(parser.problem("a closing parenthesis without an opening one")),
                false => Ok(translated),
            });
        (translated, parser.found_name)
    }

    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len() } else { 0 };
        found
    }

    fn problem(&self, what: impl Into<String>) -> Problem {
        Problem { what: what.into(), at: self.at }
    }

    /// Charges this number of ranges, before or after they are computed.
    fn charge(&mut self, ranges: usize) -> Result<()> {
        self.ranges += ranges;
        if self.ranges > MAX_RANGES {
            return Err(self.problem(format!("classes with more than {MAX_RANGES} ranges of characters together")));
        }
        Ok(())
    }

    fn not_supported(&self, at: usize, what: &str) -> Problem {
        Problem { what: format!("{what} is not supported"), at }
    }

    /// Parses alternatives up to a closing parenthesis or the end.
    fn alternatives(&mut self, flags: Flags) -> Result<(String, EmptyMatch)> {
        self.depth += 1;
        if self.depth > MAX_GROUP_DEPTH {
            return Err(self.problem("groups nested too deeply"));
        }
        let mut out = String::new();
        let mut shape = self.branch(flags, &mut out)?;
        while self.take("|") {
            out.push('|');
            shape = shape.or(self.branch(flags, &mut out)?);
        }
        self.depth -= 1;
        Ok((out, shape))
    }

    fn branch(&mut self, flags: Flags, out: &mut String) -> Result<EmptyMatch> {
        let mut items: Vec<Item> = vec![];
        while let Some(character) = self.peek() {
            let start = self.at;
            match character {
                '|' | ')' => break,
                '*' | '+' | '?' => return Err(self.problem("a quantifier without anything to repeat")),
                '{' if self.interval()?.is_some() => {
                    self.at = start;
                    return Err(self.problem("a quantifier without anything to repeat"));
                }
                _ => {}
            }
            self.at = start;
            self.next();
            let item = match character {
                '(' => match self.group(flags)? {
                    Some(item) => item,
                    None => continue,
                },
                '[' => brackets::class(self, flags)?,
                '.' if flags.dot_takes_line_feeds => any(),
                '.' => not_line_feed(),
                '^' => Item::Anchor(r"(?:\A|(?<=\n)(?!\z))".into()),
                '$' => Item::Anchor(r"(?:\z|(?=\n))".into()),
                '\\' => self.escape(flags, &mut items)?,
                '#' if flags.extended => {
                    let end = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.at += end;
                    continue;
                }
                _ if flags.extended && character.is_whitespace() => continue,
                _ => literal(character, flags),
            };
            items.push(item);
            self.quantifiers(flags, &mut items)?;
        }
        write_items(&items, out);
        let shape = |item: &Item| match item {
            Item::Folded(_) => EmptyMatch::default(),
            Item::Written { shape, .. } => *shape,
            Item::Anchor(_) => EmptyMatch::EMPTY,
        };
        Ok(items.iter().map(shape).fold(EmptyMatch::EMPTY, EmptyMatch::then))
    }

    /// Parses the quantifiers of the last item. Each of them repeats the result of the previous
    /// one.
    fn quantifiers(&mut self, flags: Flags, items: &mut Vec<Item>) -> Result<()> {
        loop {
            self.skip_unseen(flags);
            let start = self.at;
            let repeat = match self.peek() {
                Some(sign @ ('*' | '+' | '?')) => {
                    self.next();
                    // A question mark makes the quantifier lazy, a plus makes it possessive.
                    let mode = ["?", "+"].into_iter().find(|mode| self.take(mode)).unwrap_or("");
                    Repeat { count: sign.to_string(), mode }
                }
                Some('{') => match self.interval()? {
                    Some(repeat) => repeat,
                    None => return Ok(()),
                },
                _ => return Ok(()),
            };
            let Some(item) = items.pop() else { return Ok(()) };
            let (text, is_one, shape) = match item {
                Item::Anchor(_) => {
                    return Err(Problem { what: "a quantifier after an assertion".into(), at: start });
                }
                Item::Folded(character) => {
                    let mut text = String::new();
                    fold::write_run(&[character], &mut text);
                    let is_one = !text.starts_with(char::is_alphanumeric) || text.chars().count() == 1;
                    (text, is_one, EmptyMatch::default())
                }
                Item::Written { text, is_one, shape } => (text, is_one, shape),
            };
            if shape.empty_comes_first {
                let what = "a repetition whose body prefers an empty match to a longer one";
                return Err(self.not_supported(start, what));
            }
            let body = if is_one { text } else { format!("(?:{text})") };
            let Repeat { count, mode } = repeat;
            let may_be_none = matches!(count.as_bytes(), [b'*' | b'?', ..] | [b'{', b'0', ..]);
            let shape = EmptyMatch {
                may_be_empty: may_be_none || shape.may_be_empty,
                empty_comes_first: may_be_none && mode == "?",
            };
            let text = match mode {
                _ if EMPTY_GROUPS.contains(&&body[..]) => body,
                "+" => format!("(?>{body}{count})"),
                _ => format!("{body}{count}{mode}"),
            };
            let is_one = mode == "+" || EMPTY_GROUPS.contains(&&text[..]);
            items.push(Item::Written { is_one, text, shape });
        }
    }

    /// Skips comments, and in extended mode white space, between an item and its quantifier.
    fn skip_unseen(&mut self, flags: Flags) {
        loop {
            let rest = self.rest();
            if rest.starts_with("(?#") {
                match rest.find(')') {
                    Some(end) => self.at += end + 1,
                    None => return,
                }
            } else if flags.extended && rest.starts_with(char::is_whitespace) {
                self.next();
            } else {
                return;
            }
        }
    }

    /// Parses `{n}`, `{n,}`, `{,n}` or `{n,m}`; other text in braces is literal. If the first
    /// number is the larger one, the quantifier is possessive.
    fn interval(&mut self) -> Result<Option<Repeat>> {
        let start = self.at;
        let Some((inner, _)) = self.rest().strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
            return Ok(None);
        };
        let number = |digits: &str| match digits.bytes().all(|byte| byte.is_ascii_digit()) {
            true if digits.is_empty() => Some(None),
            true => Some(Some(digits.parse().unwrap_or(usize::MAX))),
            false => None,
        };
        let (low, high) = inner.split_once(',').map_or((inner, None), |(low, high)| (low, Some(high)));
        let (Some(low), Some(high)) = (number(low), high.map_or(Some(None), number)) else { return Ok(None) };
        let is_exact = !inner.contains(',');
        if low.is_none() && high.is_none() {
            return Ok(None);
        }
        if low.max(high) > Some(MAX_REPEATS) {
            return Err(Problem { what: format!("more than {MAX_REPEATS} repetitions"), at: start });
        }
        self.at += inner.len() + 2;
        let low = low.unwrap_or(0);
        Ok(Some(match high {
            None if is_exact => Repeat { count: format!("{{{low}}}"), mode: "" },
            Some(high) if high < low => Repeat { count: format!("{{{high},{low}}}"), mode: "+" },
            _ => {
                let mode = if self.take("?") { "?" } else { "" };
                let high = high.map_or_else(String::new, |high| high.to_string());
                Repeat { count: format!("{{{low},{high}}}"), mode }
            }
        }))
    }

    /// Parses a group after its opening parenthesis. Returns `None` for a comment.
    fn group(&mut self, flags: Flags) -> Result<Option<Item>> {
        let start = self.at - 1;
        let opened = if self.take("?#") {
            let end = self.rest().find(')').ok_or_else(|| self.problem("a comment without an end"))?;
            self.at += end + 1;
            return Ok(None);
        } else if self.rest().starts_with('*') {
            return Err(self.not_supported(start, "the callout (*"));
        } else if !self.take("?") {
            if self.has_names { "(?:".to_owned() } else { self.capture("(".to_owned()) }
        } else {
            match ["<=", "<!", "=", "!", ">", ":"].into_iter().find(|kind| self.take(kind)) {
                Some(kind) => format!("(?{kind}"),
                None if self.take("<") => self.name('>')?,
                None if self.take("'") => self.name('\'')?,
                None => return self.options(start, flags).map(Some),
            }
        };
        let is_assertion = ["(?=", "(?!", "(?<=", "(?<!"].contains(&&opened[..]);
        let (body, shape) = self.alternatives(flags)?;
        self.close(start)?;
        let text = format!("{opened}{body})");
        Ok(Some(if is_assertion { Item::Anchor(text) } else { Item::Written { text, is_one: true, shape } }))
    }

    fn close(&mut self, start: usize) -> Result<()> {
        let what = "an opening parenthesis without a closing one";
        if self.take(")") { Ok(()) } else { Err(Problem { what: what.into(), at: start }) }
    }

    fn capture(&mut self, opened: String) -> String {
        self.groups += 1;
        opened
    }

    fn name(&mut self, end: char) -> Result<String> {
        let (name, _) = self.rest().split_once(end).ok_or_else(|| self.problem("a group name without an end"))?;
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !is_name {
            return Err(self.problem("an invalid group name"));
        }
        self.at += name.len() + end.len_utf8();
        self.found_name = true;
        Ok(self.capture(format!("(?<{name}>")))
    }

    /// Parses `(?i-m)`, which is in effect up to the end of the enclosing group, including further
    /// alternatives, or `(?i-m:…)`.
    fn options(&mut self, start: usize, mut flags: Flags) -> Result<Item> {
        let mut on = true;
        loop {
            let at = self.at;
            match self.next() {
                Some('-') => on = false,
                Some('i') => flags.ignore_case = on,
                Some('m') => flags.dot_takes_line_feeds = on,
                Some('x') => flags.extended = on,
                Some(end @ (':' | ')')) => {
                    let (body, shape) = self.alternatives(flags)?;
                    if end == ':' {
                        self.close(start)?;
                    }
                    return Ok(Item::Written { text: format!("(?:{body})"), is_one: true, shape });
                }
                Some(other) => return Err(self.not_supported(at, &format!("the group option {other:?}"))),
                None => return Err(self.problem("a group without an end")),
            }
        }
    }
}

struct Repeat {
    count: String,
    mode: &'static str,
}

fn literal(character: char, flags: Flags) -> Item {
    if flags.ignore_case {
        return Item::Folded(character);
    }
    let mut text = String::new();
    classes::write_character(character, &mut text);
    Item::Written { text, is_one: true, shape: EmptyMatch::default() }
}

fn written(set: &Set) -> Item {
    let mut text = String::new();
    classes::write(set, &mut text);
    Item::Written { text, is_one: true, shape: EmptyMatch::default() }
}

/// An item whose translation can be followed directly by a quantifier.
fn atom(text: &str) -> Item {
    Item::Written { text: text.into(), is_one: true, shape: EmptyMatch::default() }
}

fn any() -> Item {
    atom(r"[\x{0}-\x{10FFFF}]")
}

fn not_line_feed() -> Item {
    atom(r"[^\n]")
}

fn write_items(items: &[Item], out: &mut String) {
    let mut run: Vec<char> = vec![];
    for item in items {
        if let Item::Folded(character) = item {
            run.push(*character);
            continue;
        }
        fold::write_run(&std::mem::take(&mut run), out);
        if let Item::Written { text, .. } | Item::Anchor(text) = item {
            out.push_str(text);
        }
    }
    fold::write_run(&run, out);
}
