//! The grammar of JSON, as `JSON.parse` applies it, on the bytes of one line.

use super::{Found, PathMatch, Wanted};

/// Maximum nesting depth of a value that is skipped. Deeper values are left to `JSON.parse`.
const MAX_NESTING: usize = 256;

/// Maximum number of digits of an integer that is taken as an id: JavaScript represents it exactly.
const MAX_ID_DIGITS: usize = 15;

/// The position in a line. Every function returns `None` at bytes that are not JSON.
pub(super) struct JsonScanner<'a> {
    line: &'a [u8],
    at: usize,
}

/// What is done with the characters of a string.
trait Sink {
    /// Appends the first `count` bytes of a word.
    fn word(&mut self, word: [u8; 8], count: usize);
    fn byte(&mut self, byte: u8);
    fn character(&mut self, character: char);
}

/// Discards the characters.
struct Nothing;

impl Sink for Nothing {
    fn word(&mut self, _word: [u8; 8], _count: usize) {}
    fn byte(&mut self, _byte: u8) {}
    fn character(&mut self, _character: char) {}
}

/// A text that is being unescaped. A string is never longer than its JSON, so a buffer that is one
/// word longer than the line is enough.
pub(super) struct Unescaped<'a> {
    buffer: &'a mut [u8],
    pub(super) len: usize,
}

impl<'a> Unescaped<'a> {
    pub(super) fn new(buffer: &'a mut [u8]) -> Self {
        Self { buffer, len: 0 }
    }
}

impl Sink for Unescaped<'_> {
    #[inline]
    fn word(&mut self, word: [u8; 8], count: usize) {
        // Copies the whole word, which takes one instruction. Surplus bytes are overwritten.
        self.buffer[self.len..self.len + 8].copy_from_slice(&word);
        self.len += count;
    }

    #[inline]
    fn byte(&mut self, byte: u8) {
        self.buffer[self.len] = byte;
        self.len += 1;
    }

    fn character(&mut self, character: char) {
        self.len += character.encode_utf8(&mut self.buffer[self.len..]).len();
    }
}

/// Which of the open values are objects. The others are arrays.
#[derive(Default)]
struct Nesting {
    is_object: [u64; MAX_NESTING / 64],
    depth: usize,
}

impl Nesting {
    fn open(&mut self, is_object: bool) -> Option<()> {
        let word = self.is_object.get_mut(self.depth / 64)?;
        let bit = 1 << (self.depth % 64);
        *word = if is_object { *word | bit } else { *word & !bit };
        self.depth += 1;
        Some(())
    }

    /// The innermost open value: whether it is an object. `None` if no value is open.
    fn innermost(&self) -> Option<bool> {
        let last = self.depth.checked_sub(1)?;
        Some(self.is_object[last / 64] >> (last % 64) & 1 == 1)
    }
}

impl<'a> JsonScanner<'a> {
    pub(super) fn new(line: &'a [u8]) -> Self {
        Self { line, at: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    /// Skips white space. Returns the next byte. A line has no line feed.
    fn token(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    /// Requires that only white space follows.
    pub(super) fn end(&mut self) -> Option<()> {
        self.token().is_none().then_some(())
    }

    /// Reads an object, and records the values of the names that lead to wanted fields. A text is
    /// appended to `text`. Fails if two names lead to one field, or if the text is not a string.
    pub(super) fn object(&mut self, wanted: &mut [Wanted<'_>], text: &mut Unescaped<'_>) -> Option<()> {
        self.expect(b'{')?;
        if self.token()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            let name = self.name()?;
            let first = self.token()?;
            let start = self.at;
            let mut matches = [None; 2];
            let mut is_text = false;
            for (wanted, matched) in wanted.iter().zip(&mut matches) {
                *matched = wanted.path.match_name(wanted.from, name);
                if matched.is_some() && wanted.found.is_some() {
                    return None;
                }
                is_text |= wanted.is_text && *matched == Some(PathMatch::Here);
            }
            if !is_text {
                self.value()?;
            } else if first == b'"' {
                self.at += 1;
                self.string(text)?;
            } else {
                return None;
            }
            for (wanted, matched) in wanted.iter_mut().zip(matches) {
                if let Some(matched) = matched {
                    wanted.found = Some(Found { value: start..self.at, matched });
                }
            }
            match self.token()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    /// Skips white space and this byte.
    fn expect(&mut self, byte: u8) -> Option<()> {
        if self.token()? != byte {
            return None;
        }
        self.at += 1;
        Some(())
    }

    /// Reads a name without escapes, and the colon.
    fn name(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let start = self.at;
        self.plain(&mut Nothing);
        let name = &self.line[start..self.at];
        if self.peek()? != b'"' {
            return None;
        }
        self.at += 1;
        self.expect(b':')?;
        Some(name)
    }

    /// Skips a name and the colon.
    fn skip_name(&mut self) -> Option<()> {
        self.expect(b'"')?;
        self.string(&mut Nothing)?;
        self.expect(b':')
    }

    /// Reads the bytes of a string that stand for themselves, eight at a time.
    #[inline]
    fn plain(&mut self, sink: &mut impl Sink) {
        const ONES: u64 = u64::from_ne_bytes([1; 8]);
        const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);
        const QUOTES: u64 = u64::from_ne_bytes([b'"'; 8]);
        const BACKSLASHES: u64 = u64::from_ne_bytes([b'\\'; 8]);
        const SPACES: u64 = u64::from_ne_bytes([b' '; 8]);
        let rest = &self.line[self.at..];
        let (words, tail) = rest.as_chunks::<8>();
        for &bytes in words {
            let word = u64::from_le_bytes(bytes);
            // Sets the high bit of each byte that is a quote, a backslash or a control character.
            // A borrow may also set it in bytes above such a byte; only the lowest one is used.
            let (quotes, backslashes) = (word ^ QUOTES, word ^ BACKSLASHES);
            let special = (quotes.wrapping_sub(ONES) & !quotes)
                | (backslashes.wrapping_sub(ONES) & !backslashes)
                | (word.wrapping_sub(SPACES) & !word);
            let special = special & HIGH_BITS;
            let count = if special == 0 { 8 } else { (special.trailing_zeros() / 8) as usize };
            sink.word(bytes, count);
            self.at += count;
            if special != 0 {
                return;
            }
        }
        for &byte in tail {
            if byte < b' ' || matches!(byte, b'"' | b'\\') {
                return;
            }
            sink.byte(byte);
            self.at += 1;
        }
    }

    /// Reads a string up to its closing quote. The position is after the opening one.
    fn string(&mut self, sink: &mut impl Sink) -> Option<()> {
        loop {
            self.plain(sink);
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'"' => return Some(()),
                b'\\' => self.escape(sink)?,
                _ => return None,
            }
        }
    }

    /// Reads an escape. The position is after the backslash.
    fn escape(&mut self, sink: &mut impl Sink) -> Option<()> {
        let letter = self.peek()?;
        self.at += 1;
        let byte = match letter {
            b'"' | b'\\' | b'/' => letter,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let unit = self.unit(self.at)?;
                self.at += 4;
                sink.character(self.character(unit)?);
                return Some(());
            }
            _ => return None,
        };
        sink.byte(byte);
        Some(())
    }

    /// The UTF-16 unit that four hexadecimal digits stand for.
    fn unit(&self, at: usize) -> Option<u32> {
        let digits = self.line.get(at..at + 4)?;
        digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
    }

    /// The character of an escaped unit. Skips the escape of a second unit that belongs to it.
    /// `None` for a surrogate without the other one.
    fn character(&mut self, unit: u32) -> Option<char> {
        if (0xd800..0xdc00).contains(&unit)
            && self.line[self.at..].starts_with(b"\\u")
            && let Some(low @ 0xdc00..0xe000) = self.unit(self.at + 2)
        {
            self.at += 6;
            return char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
        }
        char::from_u32(unit)
    }

    /// Skips the value at the position, without recursion.
    pub(super) fn value(&mut self) -> Option<()> {
        let mut nesting = Nesting::default();
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    self.string(&mut Nothing)?;
                }
                open @ (b'{' | b'[') => {
                    self.at += 1;
                    let is_object = open == b'{';
                    if self.token()? != closing(is_object) {
                        nesting.open(is_object)?;
                        self.member(is_object)?;
                        continue;
                    }
                    self.at += 1;
                }
                _ => self.scalar()?,
            }
            // A value has ended. What may follow depends on the value that it is in.
            loop {
                let Some(is_object) = nesting.innermost() else { return Some(()) };
                let byte = self.token()?;
                self.at += 1;
                if byte == b',' {
                    self.member(is_object)?;
                    break;
                }
                if byte != closing(is_object) {
                    return None;
                }
                nesting.depth -= 1;
            }
        }
    }

    /// Goes to the next value of an object, after its name, or of an array.
    fn member(&mut self, is_object: bool) -> Option<()> {
        if is_object {
            self.skip_name()?;
        }
        self.token().map(drop)
    }

    /// Skips a number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Option<()> {
        let rest = &self.line[self.at..];
        for word in ["true", "false", "null"] {
            if rest.starts_with(word.as_bytes()) {
                self.at += word.len();
                return Some(());
            }
        }
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let starts_with_zero = self.peek() == Some(b'0');
        if self.digits()? > 1 && starts_with_zero {
            return None;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    /// Skips digits, at least one. Returns their number.
    fn digits(&mut self) -> Option<usize> {
        let count = self.line[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(count)
    }
}

const fn closing(is_object: bool) -> u8 {
    if is_object { b'}' } else { b']' }
}

/// Whether a value is a string, or an integer that JavaScript represents exactly.
pub(super) fn is_plain_id(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    value.first() == Some(&b'"') || digits.len() <= MAX_ID_DIGITS && digits.iter().all(u8::is_ascii_digit)
}
