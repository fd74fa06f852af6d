//! Texts of several kinds, for counting instructions. `tools/bench/linear.mjs` runs it under
//! callgrind (valgrind) and reads the counts between two calls of [`mark`].
//!
//! Usage: `linear TOKENIZER CHARACTERS TEXT...`. TOKENIZER is a file; the name of a bundled
//! encoding; `whole:FILE`, a tokenizer.json without its pre-tokenizer; or `permuted:SEED`, a
//! vocabulary without a pre-tokenizer whose merges are in a random order. TEXT is a name of
//! [`text`].
//!
//! The measured parts, in order, for each text: the text in parts of [`PART`] characters; all of
//! it. Both start with an empty cache, and their tokens are discarded.

mod common;

use std::collections::{HashMap, HashSet};
use std::hint::black_box;

use serde_json::{Value, json};
use tokenlane_core::bench_support::Worker;
use tokenlane_core::{EncodeOptions, Tokenizer};

use common::{Outcome, encoding, options, texts};

/// The word cache of each worker, in bytes.
const CACHE: usize = 8 << 20;
/// The characters of a part.
const PART: usize = 10_000;
/// The tokens of a permuted vocabulary.
const PERMUTED_TOKENS: usize = 3000;

/// Callgrind starts a new count at each call of this function.
#[inline(never)]
fn mark() {
    black_box(());
}

/// A small generator of random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// A text of this many characters.
fn text(name: &str, count: usize) -> Outcome<String> {
    let mut random = Random(7);
    let mut of = |first: char, range: usize| -> String {
        let character = |_| char::from_u32(first as u32 + random.below(range) as u32).unwrap_or(first);
        (0..count).map(character).collect()
    };
    Ok(match name {
        "english" => texts()?[0].1.chars().cycle().take(count).collect(),
        "letters" => of('a', 26),
        "letter" => of('a', 1),
        "two-letters" => of('a', 2),
        "digits" => of('0', 10),
        "spaces" => of(' ', 1),
        "cjk" => of('一', 5000),
        "emoji" => of('😀', 60),
        _ => return Err(format!("there is no text {name}").into()),
    })
}

/// Tokens of a bundled encoding, with all ways to make them of two tokens in a random order.
fn permuted(seed: u64) -> Outcome<Tokenizer> {
    let (bundled, _) = encoding("r50k_base")?;
    let tokens = (0..bundled.vocab_size(true) as u32).filter_map(|id| bundled.id_to_token(id));
    let letters =
        |token: &String| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b' ');
    let tokens: Vec<String> = tokens.filter(letters).take(PERMUTED_TOKENS).collect();
    let vocab: HashMap<&str, usize> = tokens.iter().map(String::as_str).zip(0..).collect();
    let known: HashSet<&str> = vocab.keys().copied().collect();
    let splits = |token: &String| -> Vec<Value> {
        let parts = (1..token.len()).map(|at| token.split_at(at));
        parts.filter(|(left, right)| known.contains(left) && known.contains(right)).map(|pair| json!(pair)).collect()
    };
    let mut merges: Vec<Value> = tokens.iter().flat_map(splits).collect();
    let mut random = Random(seed);
    for at in (1..merges.len()).rev() {
        merges.swap(at, random.below(at + 1));
    }
    let file = json!({"version": "1.0", "model": {"type": "BPE", "vocab": vocab, "merges": merges}});
    Ok(Tokenizer::from_tokenizer_json(file.to_string().as_bytes())?)
}

/// A tokenizer.json without its pre-tokenizer.
fn whole(file: &str) -> Outcome<Tokenizer> {
    let mut file: Value = serde_json::from_slice(&std::fs::read(file)?)?;
    file["pre_tokenizer"] = Value::Null;
    Ok(Tokenizer::from_tokenizer_json(file.to_string().as_bytes())?)
}

fn tokenizer(name: &str) -> Outcome<Tokenizer> {
    Ok(match name.split_once(':') {
        Some(("permuted", seed)) => permuted(seed.parse()?)?,
        Some(("whole", file)) => whole(file)?,
        _ if std::fs::exists(name)? => Tokenizer::from_bytes(&std::fs::read(name)?)?,
        _ => encoding(name)?.0,
    })
}

/// Measures one text and prints the number of tokens of its parts and of all of it.
fn measure(tokenizer: &Tokenizer, text: &str) -> Outcome<()> {
    let ends = text.char_indices().map(|(at, _)| at).step_by(PART).skip(1);
    let ends: Vec<usize> = ends.chain([text.len()]).collect();
    let options: EncodeOptions = options();
    let mut worker = Worker::new(tokenizer, &options, CACHE)?;
    let (mut start, mut parts) = (0, 0);
    mark();
    for end in ends {
        parts += black_box(worker.encode(&text[start..end])?);
        start = end;
    }
    mark();
    let mut worker = Worker::new(tokenizer, &options, CACHE)?;
    mark();
    let all = black_box(worker.encode(text)?);
    mark();
    println!("{parts} {all}");
    Ok(())
}

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, count, kinds @ ..] = &args[..] else { return Err("usage: linear TOKENIZER CHARACTERS TEXT...".into()) };
    let (tokenizer, count) = (tokenizer(name)?, count.parse()?);
    kinds.iter().try_for_each(|kind| measure(&tokenizer, &text(kind, count)?))
}
