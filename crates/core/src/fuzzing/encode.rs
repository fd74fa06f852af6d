//! Random merges and ranks, compared with merging by definition.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::draw::Draw;
use crate::bpe::merges::Merge;
use crate::bpe::{Symbol, naive};
use crate::byte_level::CHARACTERS;
use crate::encoder::{Encoder, EncoderState, Request};
use crate::encoding::{Columns, Encoding, OffsetUnit};
use crate::options::{DecodeOptions, EncodeOptions, RankDefinition};
use crate::pattern::Dialect;
use crate::pretokenizer::scanner::twins::{TWINS, Twin};
use crate::text::Text;
use crate::tokenizer::Tokenizer;

/// Building blocks of tokens and texts, including parts of characters.
const SINGLE_BYTES: [&[u8]; 12] =
    [b"a", b"b", b"s", b" ", b"'", b"1", b"\n", b"\xC3", b"\xA9", b"\xE4", b"\xB8", b"\xAD"];
const PIECES: [&str; 14] = ["a", "b", "s", " ", "'", "1", "\n", "é", "中", "q", "ab", "  ", "'s", "aaaaaaaa"];
const LONGEST_TOKEN: usize = 300;

/// A vocabulary, encoded by definition.
enum DrawnModel {
    /// All tokens by their ranks. The two neighbours that form the token of the lowest rank are
    /// merged.
    Ranks(Vec<Vec<u8>>),
    /// The tokens by their ids, the pairs that merge, and whether a word that is a token stays
    /// whole.
    Merges(Vec<Vec<u8>>, Vec<(u32, u32, Merge)>, bool),
}

impl DrawnModel {
    /// Draws a vocabulary of the 256 bytes and of tokens that are each the concatenation of two
    /// others.
    fn draw(draw: &mut Draw<'_>) -> Self {
        let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).collect();
        let mut known: Vec<Vec<u8>> = SINGLE_BYTES.iter().map(|letter| letter.to_vec()).collect();
        let by_ranks = draw.flag();
        let whole_words = draw.flag();
        let mut merges: Vec<(u32, u32, Merge)> = vec![];
        for _ in 0..draw.below(64) {
            let [left, right] = [(); 2].map(|()| known[draw.below(known.len())].clone());
            let joined = [&left[..], &right[..]].concat();
            if joined.len() > LONGEST_TOKEN {
                continue;
            }
            let id_of = |tokens: &[Vec<u8>], token: &[u8]| tokens.iter().position(|known| known == token);
            let [Some(left), Some(right)] = [&left, &right].map(|token| id_of(&tokens, token)) else { continue };
            let id = id_of(&tokens, &joined).unwrap_or_else(|| {
                tokens.push(joined.clone());
                known.push(joined);
                tokens.len() - 1
            });
            let (left, right, rank) = (left as u32, right as u32, merges.len() as u32);
            if !merges.iter().any(|merge| (merge.0, merge.1) == (left, right)) {
                merges.push((left, right, Merge { rank, id: id as u32 }));
            }
        }
        if by_ranks {
            // A token may have a lower rank than its parts.
            let turn = draw.below(tokens.len() - 255);
            tokens[256..].rotate_left(turn);
            return Self::Ranks(tokens);
        }
        Self::Merges(tokens, merges, whole_words)
    }

    fn load(&self, twin: &Twin) -> Tokenizer {
        match self {
            Self::Ranks(tokens) => {
                let line = |(rank, token): (usize, &Vec<u8>)| format!("{} {rank}\n", STANDARD.encode(token));
                let file: String = tokens.iter().enumerate().map(line).collect();
                let definition = RankDefinition { pattern: twin.name.into(), special_tokens: vec![] };
                Tokenizer::from_ranks(file.as_bytes(), &definition).expect("the ranks are sound")
            }
            Self::Merges(tokens, merges, whole_words) => {
                let name = |id: usize| tokens[id].iter().map(|&byte| CHARACTERS[usize::from(byte)]).collect::<String>();
                let vocab: Map<String, Value> = (0..tokens.len()).map(|id| (name(id), id.into())).collect();
                let merges: Vec<_> =
                    merges.iter().map(|&(left, right, _)| [name(left as usize), name(right as usize)]).collect();
                let byte_level =
                    json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false});
                let split = json!({
                    "type": "Split", "pattern": {"Regex": twin.name}, "behavior": "Isolated", "invert": false,
                });
                let file = json!({
                    "version": "1.0",
                    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
                    "decoder": byte_level,
                    "model": {"type": "BPE", "vocab": vocab, "merges": merges, "ignore_merges": whole_words},
                });
                Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound")
            }
        }
    }

    /// The ids of a word, by definition.
    fn ids(&self, word: &[u8]) -> Vec<u32> {
        let whole = |tokens: &[Vec<u8>]| tokens.iter().position(|token| token == word).map(|id| vec![id as u32]);
        match self {
            Self::Ranks(tokens) => whole(tokens).unwrap_or_else(|| by_ranks(tokens, word)),
            Self::Merges(tokens, merges, whole_words) => whole(tokens).filter(|_| *whole_words).unwrap_or_else(|| {
                let letters: Vec<Symbol> = word.iter().map(|&byte| Symbol { id: byte.into(), len: 1 }).collect();
                naive::merge(merges, &letters).iter().map(|symbol| symbol.id).collect()
            }),
        }
    }
}

/// Merges the leftmost two neighbours whose concatenation has the lowest rank, until there are
/// none.
fn by_ranks(tokens: &[Vec<u8>], word: &[u8]) -> Vec<u32> {
    let rank = |bytes: &[u8]| tokens.iter().position(|token| token == bytes);
    let mut starts: Vec<usize> = (0..=word.len()).collect();
    loop {
        let pairs = starts.windows(3).enumerate();
        let ranked = pairs.filter_map(|(at, pair)| Some((rank(&word[pair[0]..pair[2]])?, at + 1)));
        let Some((_, middle)) = ranked.min() else { break };
        starts.remove(middle);
    }
    starts.windows(2).map(|ends| rank(&word[ends[0]..ends[1]]).expect("it was joined") as u32).collect()
}

/// Interprets bytes as a vocabulary, a pattern and a text.
pub(super) fn encode(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let model = DrawnModel::draw(&mut draw);
    let dialect = if matches!(model, DrawnModel::Ranks(_)) { Dialect::FancyRegex } else { Dialect::Oniguruma };
    let twins: Vec<&Twin> = TWINS.iter().filter(|twin| twin.dialect == Some(dialect)).collect();
    let twin = draw.one_of(&twins);
    let tokenizer = model.load(twin);
    let limit = draw.below(40);
    // Merging by definition is quadratic or cubic in the length of a word.
    let text = draw.text(&PIECES, 300);
    let mut expected = vec![];
    let mut start = 0;
    for end in twin.ends(&text) {
        expected.extend(model.ids(&text.as_bytes()[start..end as usize]));
        start = end as usize;
    }
    let options = EncodeOptions::default();
    let columns = EncodeOptions { columns: Columns::ALL, offset_unit: OffsetUnit::Utf16, ..options.clone() };
    for _ in 0..2 {
        let mut ids = vec![];
        tokenizer.encode_ids(text.as_str().into(), &options, &mut ids).expect("a text");
        assert_eq!(ids, expected, "{text:?}");
        assert_eq!(tokenizer.count(text.as_str().into(), &options), Ok(expected.len()));
        assert_eq!(tokenizer.is_within(text.as_str().into(), limit, &options), Ok(expected.len() <= limit));
        assert_eq!(tokenizer.encode(text.as_str().into(), &columns).expect("a text").ids(), expected, "{text:?}");
    }
    assert_eq!(tokenizer.decode(&expected, &DecodeOptions::default()).as_ref(), Ok(&text));
    assert_one_by_one(&tokenizer, &text, &columns);
}

/// Checks that words merged together and with the cache give the same result, in every column, as
/// words merged one by one.
fn assert_one_by_one(tokenizer: &Tokenizer, text: &str, options: &EncodeOptions) {
    let plan = tokenizer.plan(options).expect("the options are sound");
    let [together, one_by_one] = [1 << 14, 0].map(|cache_bytes| {
        let mut encoding = Encoding::default();
        let mut state = EncoderState::new(cache_bytes, 0);
        state.seed(&tokenizer.seeds());
        let mut encoder = Encoder::new(&tokenizer.pipeline, &mut state);
        encoder.encode(Text::Utf8(text), &mut Request::all(&plan), &mut encoding).map(|_| encoding)
    });
    assert_eq!(together, one_by_one, "{text:?}");
}
