//! Rank files, as `load_tiktoken_bpe` of tiktoken reads them: each line has a token in base64, a
//! space, and its rank.
//!
//! Lines end with LF, CR or both, and empty lines are skipped. Base64 is decoded as Python's
//! `b64decode` does: other characters, such as a byte order mark, are ignored. Ranks are what
//! Python's `int` reads. If a token is repeated, its last rank counts. A token may be empty:
//! `multilingual.tiktoken` of Whisper ends with `= 50256`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::ops::Range;
use std::sync::Arc;

use super::splits::TokenSplits;
use super::stages;
use crate::added_tokens::{AddedToken, AddedTokens, Policy};
use crate::bpe::merges::{Merge, Merges};
use crate::bpe::{Alphabet, Bpe, TokenTable};
use crate::error::LoadError;
use crate::memory::Grow;
use crate::memory::fallible::{append, push};
use crate::model::Model;
use crate::options::RankDefinition;
use crate::parts::{Json, Parts, Source};
use crate::pipeline::{Pipeline, Tables};
use crate::vocab::Vocab;

/// Whether the first line is valid in a rank file.
pub(crate) fn looks_like_ranks(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let line = bytes.split(|byte| matches!(byte, b'\n' | b'\r')).find(|line| !line.is_empty()).unwrap_or_default();
    // Other text must not look like ranks because characters are ignored.
    let is_strict = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/= \t".contains(byte);
    line.iter().all(is_strict) && parse_line(line, &mut vec![]).is_ok()
}

pub(crate) fn load(bytes: &[u8], definition: &RankDefinition) -> Result<Pipeline, LoadError> {
    let (vocab, pairs) = match Packed::of(bytes) {
        Some(packed) => packed.read()?,
        None => (parse(bytes)?, MergedPairs::Search(TokenSplits::of(bytes))),
    };
    tokenizer(vocab, pairs, definition, Policy::Throw)
}

/// How to find the pairs of tokens that merge.
#[derive(Debug)]
pub(super) enum MergedPairs {
    /// The file has them.
    Known(Vec<(u32, u32, Merge)>),
    /// They are all parts of a token that are tokens, where these splits allow it.
    Search(TokenSplits),
}

/// The first bytes of a packed rank file, which no rank file has.
const PACKED: &[u8; 8] = b"\0tlranks";
/// The number of bytes of a rank in a packed rank file.
const RANK_BYTES: usize = 3;
/// How many times longer than the file all tokens can be; those of o200k_base are 1.2 times.
const MAX_GROWTH: usize = 16;
/// The left token of a token that no merge creates.
const NOT_MERGED: u32 = (1 << (8 * RANK_BYTES)) - 1;

/// A rank file whose ranks count from 0, packed for the web by `tools/platforms/web.mjs`: it names
/// the two tokens of which each token is merged (see [`TokenSplits`]) instead of its bytes.
///
/// After the number of ranks, in four bytes, are the low bytes of the left token of each rank, then
/// the middle and the high ones, and those of the right tokens. If the left one is [`NOT_MERGED`],
/// the other number is that of the token's bytes, or 0 for a rank without a token. These bytes
/// follow. Compressed, it has two fifths of the size of the rank file.
struct Packed<'a> {
    count: usize,
    columns: &'a [u8],
    not_merged: &'a [u8],
}

impl<'a> Packed<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let (count, rest) = bytes.strip_prefix(PACKED)?.split_first_chunk()?;
        let count = u32::from_le_bytes(*count) as usize;
        let (columns, not_merged) = rest.split_at_checked(count.checked_mul(2 * RANK_BYTES)?)?;
        Some(Self { count, columns, not_merged })
    }

    /// A number of a rank, from the column `first` and those after it.
    fn number(&self, first: usize, rank: usize) -> u32 {
        let byte = |column: usize| u32::from(self.columns[(first + column) * self.count + rank]);
        (0..RANK_BYTES).map(|column| byte(column) << (8 * column)).sum()
    }

    /// The tokens and the pairs that they are merged of.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn read(&self) -> Result<(Vocab, MergedPairs), LoadError> {
        let wrong = |why: &str| LoadError::shape("a packed rank file", why);
        let limit = (self.columns.len() + self.not_merged.len()) * MAX_GROWTH;
        // The bytes of all tokens, and where those of each rank are.
        let (mut text, mut spans, mut pairs, mut rest) = (vec![], vec![], vec![], self.not_merged);
        spans.grow(self.count);
        pairs.grow(self.count);
        for rank in 0..self.count {
            let (left, right, start) = (self.number(0, rank), self.number(RANK_BYTES, rank), text.len());
            if left == NOT_MERGED {
                let cut = rest.split_at_checked(right as usize);
                let (token, others) = cut.ok_or_else(|| wrong("it is cut off"))?;
                append(&mut text, token);
                rest = others;
            } else {
                for part in [left, right] {
                    let span: &Range<usize> = spans.get(part as usize).ok_or_else(|| wrong("a part is not before"))?;
                    text.grow(span.len());
                    text.extend_from_within(span.clone());
                }
                let rank = rank as u32;
                pairs.push((left, right, Merge { rank, id: rank }));
            }
            check_length(text.len() - start)?;
            if text.len() > limit {
                let (size, limit) = (text.len() as u64, limit as u64);
                return Err(LoadError::TooLarge { what: "the text of the tokens of a packed rank file", size, limit });
            }
            spans.push(start..text.len());
        }
        let mut builder = Vocab::builder(self.count, text.len());
        for (rank, span) in (0..).zip(spans) {
            // Otherwise a rank without a token.
            if !span.is_empty() {
                builder.push(&text[span], rank)?;
            }
        }
        Ok((builder.finish()?, MergedPairs::Known(pairs)))
    }
}

/// The maximum length of a token in bytes. All splits of a token into two are looked up.
const LONGEST_TOKEN: usize = 1024;

fn check_length(longest: usize) -> Result<(), LoadError> {
    if longest > LONGEST_TOKEN {
        let (size, limit) = (longest as u64, LONGEST_TOKEN as u64);
        return Err(LoadError::TooLarge { what: "a token with a rank", size, limit });
    }
    Ok(())
}

/// Builds the tokenizer of a vocabulary whose ids are ranks.
pub(super) fn tokenizer(
    vocab: Vocab,
    pairs: MergedPairs,
    definition: &RankDefinition,
    default_policy: Policy,
) -> Result<Pipeline, LoadError> {
    check_length(vocab.iter().map(|(token, _)| token.len()).max().unwrap_or(0))?;
    let alphabet =
        Alphabet::Bytes { ids: Box::new(std::array::from_fn(|byte| vocab.id(&[byte as u8]))), missing_is_error: true };
    let words = TokenTable::new(vocab.iter());
    let pairs = match pairs {
        MergedPairs::Known(pairs) => pairs,
        MergedPairs::Search(splits) => merges(&vocab, &words, splits),
    };
    let merges = Merges::new(&pairs);
    let bpe = Bpe::new(alphabet, Arc::new(merges), Some(words), None);
    let parts = Parts {
        source: Source::Ranks(definition.pattern.clone()),
        post_processor: Json::default(),
        added_tokens: AddedTokens::none(true),
        truncation: None,
        padding: None,
        default_policy,
        vocab: Arc::new(vocab),
    };
    let special_tokens = special_tokens(&parts.vocab, definition)?;
    stages::build(parts, special_tokens, Tables::Ranks(Arc::new(Model::Bpe(bpe))), None)
}

#[cfg_attr(target_arch = "wasm32", inline(never))]
fn special_tokens(vocab: &Vocab, definition: &RankDefinition) -> Result<Vec<AddedToken>, LoadError> {
    let mut tokens: Vec<AddedToken> = vec![];
    for (content, id) in &definition.special_tokens {
        if content.is_empty() {
            return Err(LoadError::EmptySpecialToken);
        }
        if let Some(token) = vocab.token(*id) {
            let first = String::from_utf8_lossy(token).into_owned();
            return Err(LoadError::DuplicateId { id: *id, first, second: content.clone() });
        }
        tokens.push(AddedToken { content: content.clone(), id: *id, special: true, ..AddedToken::default() });
    }
    Ok(tokens)
}

#[cfg_attr(target_arch = "wasm32", inline(never))]
fn parse(bytes: &[u8]) -> Result<Vocab, LoadError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(LoadError::Empty);
    }
    let mut builder = Vocab::builder(bytes.len() / 16, bytes.len() / 2);
    let mut token = vec![];
    let ends = memchr::memchr2_iter(b'\n', b'\r', bytes).chain([bytes.len()]);
    let mut start = 0;
    for end in ends {
        let line = &bytes[start..end];
        if !line.is_empty() {
            let rank = parse_line(line, &mut token)
                .map_err(|message| LoadError::RankLine { line: line_number(bytes, start), message })?;
            builder.push(&token, rank)?;
        }
        start = end + 1;
    }
    builder.finish()
}

/// The number of the line that starts at a byte.
fn line_number(bytes: &[u8], start: usize) -> usize {
    let ends = |at: &usize| match bytes[*at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    (0..start).filter(ends).count() + 1
}

/// Parses a line. Stores the token in `token` and returns its rank.
fn parse_line(line: &[u8], token: &mut Vec<u8>) -> Result<u32, String> {
    parse_plain_line(line, token).map_or_else(|| parse_any_line(line, token), Ok)
}

/// Like [`parse_any_line`], but only for typical lines: a short token, one space, and a rank of
/// digits.
fn parse_plain_line(line: &[u8], token: &mut Vec<u8>) -> Option<u32> {
    let space = memchr::memchr(b' ', line)?;
    let (base64, digits) = (&line[..space], &line[space + 1..]);
    // A number of at most nine digits is always a valid rank.
    if !(1..=9).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // Growing and clearing the list would take longer than decoding a short token.
    let mut bytes = [0; 48];
    let len = STANDARD.decode_slice(base64, &mut bytes).ok()?;
    token.clear();
    token.extend_from_slice(&bytes[..len]);
    (!token.is_empty()).then(|| digits.iter().fold(0, |rank, digit| rank * 10 + u32::from(digit - b'0')))
}

fn parse_any_line(line: &[u8], token: &mut Vec<u8>) -> Result<u32, String> {
    // The white space of Python, which has one character more than that of Rust.
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\x0b';
    let mut parts = line.split(is_space).filter(|part| !part.is_empty());
    let (Some(base64), Some(rank), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err("it is not a token in base64, a space and a rank".into());
    };
    let shown = |part: &[u8]| String::from_utf8_lossy(part).into_owned();
    token.clear();
    decode_base64(base64, token).map_err(|why| format!("{:?} is not base64: {why}", shown(base64)))?;
    let rank = parse_rank(rank).ok_or_else(|| format!("{:?} is not a rank between 0 and 4294967294", shown(rank)))?;
    Ok(rank)
}

/// Appends the bytes that `base64.b64decode` of Python makes of a text: it ignores characters that
/// are not of the alphabet, and everything behind the padding.
fn decode_base64(text: &[u8], bytes: &mut Vec<u8>) -> Result<(), &'static str> {
    // The position in the group of four characters, the bits that are not in `bytes` yet, and the
    // number of characters of padding in a row.
    let (mut position, mut rest, mut pads) = (0, 0, 0);
    for &character in text {
        if character == b'=' {
            pads += usize::from(position >= 2);
            if position >= 2 && position + pads >= 4 {
                return Ok(());
            }
            continue;
        }
        let bits = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        pads = 0;
        match position {
            0 => {}
            1 => bytes.push(rest << 2 | bits >> 4),
            2 => bytes.push(rest << 4 | bits >> 2),
            _ => bytes.push(rest << 6 | bits),
        }
        rest = [bits, bits & 15, bits & 3, 0][position];
        position = (position + 1) % 4;
    }
    match position {
        0 => Ok(()),
        1 => Err("a group has only one character"),
        _ => Err("the padding is missing"),
    }
}

/// The rank that `int` of Python reads: digits, with single underscores between them, and perhaps a
/// sign before them.
fn parse_rank(text: &[u8]) -> Option<u32> {
    /// Python reads no longer numbers.
    const MAX_DIGITS: usize = 4300;
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let (mut rank, mut count) = (0u64, 0);
    for group in digits.split(|&byte| byte == b'_') {
        if group.is_empty() || !group.iter().all(u8::is_ascii_digit) {
            return None;
        }
        count += group.len();
        rank = group.iter().fold(rank, |rank, digit| rank.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
    }
    let is_rank = count <= MAX_DIGITS && rank < u64::from(Merges::NO_RANK) && !(is_negative && rank > 0);
    is_rank.then_some(rank as u32)
}

/// The merges of ranks. The format has no list of merges: two neighbours merge if their
/// concatenation is a token, whose rank is the priority. Pairs that never occur next to each other
/// are harmless.
#[cfg_attr(target_arch = "wasm32", inline(never))]
fn merges(vocab: &Vocab, words: &TokenTable, splits: TokenSplits) -> Vec<(u32, u32, Merge)> {
    let mut merges = vec![];
    merges.grow(vocab.len() * 2);
    let tokens =
        vocab.iter().enumerate().map(|(position, (token, rank))| (token, rank, splits.cuts(position, token.len())));
    words.pairs(tokens, |left, right, rank| push(&mut merges, (left, right, Merge { rank, id: rank })));
    merges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpe::{MergeScratch, naive};
    use crate::word_key;
    use proptest::prelude::*;

    fn file(tokens: &[(&[u8], u32)]) -> String {
        tokens.iter().map(|(token, rank)| format!("{} {rank}\n", STANDARD.encode(token))).collect()
    }

    #[test]
    fn a_wrong_line_is_named() {
        let cases = [
            ("YQ== 0\nYg= 1\n", 2, "base64"),
            ("YQ== 0\r\n\r\nYg= 1\n", 3, "the padding is missing"),
            ("YQ== 0\rYQ=A 1\n", 2, "the padding is missing"),
            ("YQ== 0\nYWJjZ 1", 2, "only one character"),
            ("YQ== 0\n \nYg== 1", 2, "not a token in base64"),
            ("YQ== 1__0", 1, "not a rank"),
            ("YQ== _10", 1, "not a rank"),
            ("YQ== +-1", 1, "not a rank"),
            ("YQ== 0\n\nYg==\n", 3, "not a token in base64"),
            ("YQ== 0\nYg== one\n", 2, "not a rank"),
            ("YQ== 0\nYg== 4294967295\n", 2, "not a rank"),
            ("YQ== 0\nYg== -1\n", 2, "not a rank"),
            ("YQ== 0 0\n", 1, "not a token in base64"),
        ];
        for (text, line, part) in cases {
            match parse(text.as_bytes()) {
                Err(LoadError::RankLine { line: at, message }) => {
                    assert_eq!(at, line, "{text:?}");
                    assert!(message.contains(part), "{message}");
                }
                other => panic!("{text:?} gave {other:?}"),
            }
        }
        assert!(matches!(parse(b"YQ== 0\nYg== 0\n"), Err(LoadError::DuplicateId { id: 0, .. })));
        assert!(matches!(parse(b"YQ== 0\nYg== 0\nYQ== 1\nYQ== 0"), Err(LoadError::DuplicateId { id: 0, .. })));
        assert!(matches!(parse(b" \n"), Err(LoadError::Empty)));
    }

    /// Each file and the tokens that `load_tiktoken_bpe` of tiktoken 0.14 reads from it.
    #[test]
    fn reads_what_tiktoken_reads() {
        type Tokens = &'static [(&'static [u8], u32)];
        let cases: [(&[u8], Tokens); 12] = [
            (b"YQ== 0\n= 50256\n", &[(b"a", 0), (b"", 50256)]),
            (b"\xef\xbb\xbfYQ== 0\nYg== 1", &[(b"a", 0), (b"b", 1)]),
            (b"YQ== 0\rYg== 1\r", &[(b"a", 0), (b"b", 1)]),
            (b"YQ== 0\r\nYg== 1\r\n\r\n\n", &[(b"a", 0), (b"b", 1)]),
            (b"YQ== 0\nYg== 1\nYQ== 2", &[(b"a", 2), (b"b", 1)]),
            (b"YQ== 0\nYQ== 1\nYg== 0", &[(b"a", 1), (b"b", 0)]),
            (b" \x0bYQ==\t\x0c 0 ", &[(b"a", 0)]),
            (b"YQ==YQ== 0", &[(b"a", 0)]),
            (b"Y!Q\xff=*= 0", &[(b"a", 0)]),
            (b"=YW=Jj 0", &[(b"abc", 0)]),
            (b"YQ== 0_0_7", &[(b"a", 7)]),
            (b"YQ== -0\nYg== +1", &[(b"a", 0), (b"b", 1)]),
        ];
        for (bytes, tokens) in cases {
            let vocab = parse(bytes).unwrap_or_else(|error| panic!("{:?}: {error}", bytes.escape_ascii()));
            let read: Vec<_> = vocab.iter().collect();
            assert_eq!(read, tokens, "{:?}", bytes.escape_ascii().to_string());
        }
    }

    /// A packed file with these pairs of numbers, and the bytes after them.
    fn packed(numbers: &[(u32, u32)], not_merged: &[u8]) -> Vec<u8> {
        let mut bytes = [&PACKED[..], &(numbers.len() as u32).to_le_bytes()].concat();
        let (left, right): (Vec<u32>, Vec<u32>) = numbers.iter().copied().unzip();
        for side in [left, right] {
            (0..RANK_BYTES).for_each(|at| bytes.extend(side.iter().map(|number| number.to_le_bytes()[at])));
        }
        bytes.extend(not_merged);
        bytes
    }

    #[test]
    fn a_packed_file_names_the_parts_of_each_token() {
        let last = (NOT_MERGED, 0);
        let numbers = [(NOT_MERGED, 1), (NOT_MERGED, 2), last, (0, 1), (3, 3), (NOT_MERGED, 1), (4, 5)];
        let bytes = packed(&numbers, b"abcz");
        let (vocab, pairs) = Packed::of(&bytes).expect("it is packed").read().expect("it is sound");
        let tokens: [(&[u8], u32); 6] =
            [(b"a", 0), (b"bc", 1), (b"abc", 3), (b"abcabc", 4), (b"z", 5), (b"abcabcz", 6)];
        assert_eq!(vocab.iter().collect::<Vec<_>>(), tokens);
        let merge = |id| Merge { rank: id, id };
        let MergedPairs::Known(pairs) = pairs else { panic!("the file has them") };
        assert_eq!(pairs, [(0, 1, merge(3)), (3, 3, merge(4)), (4, 5, merge(6))]);
    }

    #[test]
    fn a_wrong_packed_file_is_an_error() {
        let error = |numbers: &[(u32, u32)], not_merged: &[u8]| {
            Packed::of(&packed(numbers, not_merged)).expect("it is packed").read().expect_err("it is wrong").to_string()
        };
        let byte = (NOT_MERGED, 1);
        assert!(error(&[byte, byte], b"a").contains("cut off"));
        assert!(error(&[byte, (0, 1)], b"a").contains("before"));
        assert!(error(&[byte, (NOT_MERGED - 1, 0)], b"a").contains("before"));
        // Each token is twice as long as the one before.
        let doubled: Vec<_> = [byte].into_iter().chain((0..40).map(|at| (at, at))).collect();
        assert!(error(&doubled, b"a").contains("1024"));
        // Ten tokens of one byte to 512, and as many more of 512 as exceed the limit.
        let long = std::iter::repeat_n((8, 8), 40);
        let grown: Vec<_> = [byte].into_iter().chain((0..9).map(|at| (at, at))).chain(long).collect();
        assert!(error(&grown, b"a").contains("packed rank file"));
        assert!(Packed::of(&packed(&[byte; 9], b"")[..50]).is_none());
    }

    #[test]
    fn an_empty_token_has_an_id_and_is_never_found() {
        let bytes: String = file(&[(b"a", 0), (b"b", 1), (b"ab", 2)]) + "= 3\n";
        let load = |pattern: &str| {
            let definition = RankDefinition { pattern: pattern.into(), special_tokens: vec![] };
            super::load(bytes.as_bytes(), &definition).map(crate::Tokenizer::new)
        };
        let tokenizer = load(r"[ab]+(?!b)|(?>[^ab]+)").expect("the pattern matches no empty text");
        let options = crate::EncodeOptions::default();
        let encoded = tokenizer.encode("abab".into(), &options).expect("all bytes have ids");
        assert_eq!(encoded.ids(), [2, 2]);
        assert_eq!(tokenizer.encode("".into(), &options).expect("no text").ids(), [0; 0]);
        assert_eq!(tokenizer.decode(&[0, 3, 1], &crate::DecodeOptions::default()).expect("all are ids"), "ab");
        assert_eq!((tokenizer.token_to_id(""), tokenizer.max_id()), (Some(3), Some(3)));
        for pattern in ["a*", "(?=a)", r"ab\K"] {
            assert!(matches!(load(pattern), Err(LoadError::Unsupported { .. })), "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn a_plain_line_is_read_as_any_line_is(line in "[ a-zA-Z0-9+/=\\t]{0,9} [0-9 +]{0,11}") {
            let (mut plain, mut any) = (vec![], vec![]);
            if let Some(rank) = parse_plain_line(line.as_bytes(), &mut plain) {
                prop_assert_eq!(parse_any_line(line.as_bytes(), &mut any), Ok(rank));
                prop_assert_eq!(plain, any);
            }
        }

        /// The definition of merging in tiktoken: among all neighbours whose concatenation is a
        /// token, merge those of the lowest rank.
        #[test]
        fn joins_whatever_neighbours_make_a_token(
            tokens in prop::collection::btree_set("[abc]{2,5}", 0..30),
            order in any::<u64>(),
            word in "[abc]{0,30}",
        ) {
            let mut all: Vec<Vec<u8>> = ["a", "b", "c"].iter().map(|t| t.as_bytes().to_vec()).collect();
            let mut more: Vec<Vec<u8>> = tokens.into_iter().map(String::into_bytes).collect();
            more.sort_by_key(|token| token.iter().fold(order, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100000001b3)));
            all.extend(more);
            let ranked: Vec<(&[u8], u32)> = all.iter().zip(0..).map(|(t, rank)| (t.as_slice(), rank)).collect();
            let definition = RankDefinition { pattern: ".+".into(), special_tokens: vec![] };
            let tokenizer = load(file(&ranked).as_bytes(), &definition).expect("the file is fine");
            let rank = |bytes: &[u8]| ranked.iter().find(|(token, _)| *token == bytes).map(|found| found.1);
            let mut parts: Vec<Vec<u8>> = word.bytes().map(|byte| vec![byte]).collect();
            if rank(word.as_bytes()).is_some() {
                parts = vec![word.clone().into_bytes()];
            }
            while let Some((at, _)) = (1..parts.len())
                .filter_map(|at| rank(&[parts[at - 1].clone(), parts[at].clone()].concat()).map(|rank| (at, rank)))
                .min_by_key(|&(at, rank)| (rank, at))
            {
                let right = parts.remove(at);
                parts[at - 1].extend(right);
            }
            let mut symbols = vec![];
            let bpe = tokenizer.model.bpe().expect("ranks are read as BPE");
            bpe.tokenize(word.as_bytes(), word_key::of_word(word.as_bytes()), &mut MergeScratch::default(), &mut symbols).expect("all bytes are tokens");
            let ids: Vec<u32> = symbols.iter().map(|symbol| symbol.id).collect();
            prop_assert_eq!(ids, parts.iter().filter_map(|part| rank(part)).collect::<Vec<_>>());
            // The table agrees with the naive merge loop over its pairs.
            let letters: Vec<_> = word.bytes().map(|b| crate::bpe::Symbol { id: u32::from(b - b'a'), len: 1 }).collect();
            if rank(word.as_bytes()).is_none() {
                prop_assert_eq!(naive::merge(&merges(&tokenizer.parts.vocab, bpe.tokens.as_ref().expect("ranks are whole words"), TokenSplits::UNKNOWN), &letters), symbols);
            }
        }
    }
}
