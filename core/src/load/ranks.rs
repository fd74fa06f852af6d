//! Rank files, as tiktoken reads them: each line has a token in base64, a space, and its rank.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::sync::Arc;

use super::json::Part;
use super::post_processor;
use super::splits::TokenSplits;
use crate::added_tokens::{AddedToken, AddedTokens};
use crate::bpe::merges::{Merge, Merges};
use crate::bpe::{Alphabet, Bpe, TokenTable};
use crate::decoder::{Decoder, Step};
use crate::definition::{Definition, Json, Source};
use crate::error::LoadError;
use crate::memory::Grow;
use crate::memory::fallible::push;
use crate::model::Model;
use crate::options::RankDefinition;
use crate::padding::Padding;
use crate::pattern::Dialect;
use crate::pipeline::{Pipeline, PipelineParts};
use crate::pretokenizer::{Behavior, Cut, PreTokenizer, Stage};
use crate::truncation::Truncation;
use crate::vocab::TokenForm;
use crate::vocab::Vocab;

/// Whether the first line is valid in a rank file.
pub(crate) fn looks_like_ranks(bytes: &[u8]) -> bool {
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    parse_line(line, &mut vec![]).is_ok()
}

pub(crate) fn load(bytes: &[u8], definition: &RankDefinition) -> Result<Pipeline, LoadError> {
    tokenizer(parse(bytes)?, TokenSplits::of(bytes), definition)
}

/// The maximum length of a token in bytes. All splits of a token into two are looked up.
const LONGEST_TOKEN: usize = 1024;

/// Builds the tokenizer of a vocabulary whose ids are ranks.
pub(super) fn tokenizer(vocab: Vocab, splits: TokenSplits, definition: &RankDefinition) -> Result<Pipeline, LoadError> {
    let longest = vocab.iter().map(|(token, _)| token.len()).max().unwrap_or(0);
    if longest > LONGEST_TOKEN {
        return Err(LoadError::TooLarge {
            what: "a token with a rank",
            size: longest as u64,
            limit: LONGEST_TOKEN as u64,
        });
    }
    let alphabet =
        Alphabet::Bytes { ids: Box::new(std::array::from_fn(|byte| vocab.id(&[byte as u8]))), missing_is_error: true };
    let words = TokenTable::new(vocab.iter());
    let merges = Merges::new(&merges(&vocab, &words, splits));
    let bpe = Bpe::new(alphabet, Arc::new(merges), Some(words), None);
    assemble(Blueprint {
        pattern: definition.pattern.clone(),
        post_processor: Json::default(),
        added_tokens: special_tokens(&vocab, definition)?,
        vocab: Arc::new(vocab),
        model: Arc::new(Model::Bpe(bpe)),
        truncation: None,
        padding: None,
    })
}

/// The parts of a tokenizer of ranks, either from a file or from a call that changes another
/// tokenizer.
pub(crate) struct Blueprint {
    pub(crate) pattern: String,
    pub(crate) post_processor: Json,
    pub(crate) vocab: Arc<Vocab>,
    pub(crate) model: Arc<Model>,
    pub(crate) added_tokens: Vec<AddedToken>,
    pub(crate) truncation: Option<Truncation>,
    pub(crate) padding: Option<Padding>,
}

pub(crate) fn assemble(blueprint: Blueprint) -> Result<Pipeline, LoadError> {
    let Blueprint { pattern, post_processor, vocab, model, added_tokens, truncation, padding } = blueprint;
    // Text that the expression does not match is dropped, as in tiktoken.
    let cut = Cut::new(&pattern, Dialect::FancyRegex, Behavior::Removed, true, "pattern")?;
    Ok(Pipeline::new(PipelineParts {
        added_tokens: AddedTokens::new(added_tokens, true, |content| Ok(content.to_owned()))?,
        vocab,
        token_form: TokenForm::Ranks,
        normalizer: None,
        spaces: None,
        pretokenizer: PreTokenizer { stages: vec![Stage::Cut(cut)] },
        segmenter: None,
        model,
        post_processor: post_processor::load(&Part::new(&post_processor.value(), "post_processor"))?,
        decoder: Decoder::new(vec![Step::Bytes]),
        truncation,
        padding,
        definition: Definition { post_processor, source: Source::Ranks { pattern } },
    }))
}

fn special_tokens(vocab: &Vocab, definition: &RankDefinition) -> Result<Vec<AddedToken>, LoadError> {
    let mut tokens: Vec<AddedToken> = vec![];
    for (content, id) in &definition.special_tokens {
        if content.is_empty() {
            return Err(LoadError::shape("specialTokens", "a special token has no text"));
        }
        if let Some(token) = vocab.token(*id) {
            let first = String::from_utf8_lossy(token).into_owned();
            return Err(LoadError::DuplicateId { id: *id, first, second: content.clone() });
        }
        tokens.push(AddedToken { content: content.clone(), id: *id, special: true, ..AddedToken::default() });
    }
    Ok(tokens)
}

fn parse(bytes: &[u8]) -> Result<Vocab, LoadError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(LoadError::Empty);
    }
    let mut builder = Vocab::builder(bytes.len() / 16, bytes.len() / 2);
    let (mut tokens, mut token) = (0, vec![]);
    let ends = memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]);
    let mut start = 0;
    for (place, end) in ends.enumerate() {
        let line = &bytes[start..end];
        start = end + 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        let at_line = |message: String| LoadError::RankLine { line: place + 1, message };
        let rank = parse_line(line, &mut token).map_err(at_line)?;
        if token.is_empty() {
            return Err(at_line("the token is empty".into()));
        }
        builder.push(&token, rank)?;
        tokens += 1;
    }
    let vocab = builder.finish()?;
    if vocab.len() != tokens {
        return Err(LoadError::shape("ranks", format!("{} tokens come more than once", tokens - vocab.len())));
    }
    Ok(vocab)
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
    let line = std::str::from_utf8(line).map_err(|_| "it is not text".to_owned())?;
    let mut parts = line.split_ascii_whitespace();
    let (Some(base64), Some(rank), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err("it is not a token in base64, a space and a rank".into());
    };
    token.clear();
    STANDARD.decode_vec(base64, token).map_err(|error| format!("{base64:?} is not base64: {error}"))?;
    let rank = rank.parse().map_err(|_| format!("{rank:?} is not a rank between 0 and 4294967294"))?;
    if rank == Merges::NO_RANK {
        return Err(format!("{rank} is not a rank between 0 and 4294967294"));
    }
    Ok(rank)
}

/// The merges of ranks. The format has no list of merges: two neighbours merge if their
/// concatenation is a token, whose rank is the priority. Pairs that never occur next to each other
/// are harmless.
fn merges(vocab: &Vocab, words: &TokenTable, splits: TokenSplits) -> Vec<(u32, u32, Merge)> {
    let mut merges = vec![];
    merges.grow(vocab.len() * 2);
    let tokens = vocab.iter().enumerate().map(|(place, (token, rank))| (token, rank, splits.cuts(place, token.len())));
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
            ("YQ== 0\n\nYg==\n", 3, "not a token in base64"),
            ("YQ== 0\nYg== one\n", 2, "not a rank"),
            ("YQ== 0\nYg== 4294967295\n", 2, "not a rank"),
            ("YQ== 0\nYg== -1\n", 2, "not a rank"),
            ("YQ== 0 0\n", 1, "not a token in base64"),
            ("\u{fffd} 0\n", 1, "not base64"),
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
        assert!(matches!(parse(b"YQ== 0\nYQ== 1\n"), Err(LoadError::Shape { .. })));
        assert!(matches!(parse(b" \n"), Err(LoadError::Empty)));
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
                prop_assert_eq!(naive::merge(&merges(&tokenizer.vocab, bpe.tokens.as_ref().expect("ranks are whole words"), TokenSplits::UNKNOWN), &letters), symbols);
            }
        }
    }
}
