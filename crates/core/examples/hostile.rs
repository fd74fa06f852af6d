//! How long a mebibyte of each hostile text takes, and what twice as much costs, in milliseconds.
//!
//! usage: hostile TOKENIZER_JSON…

use std::error::Error;
use std::time::Instant;

use tokenlane_core::{EncodeOptions, SpecialTokens, Tokenizer};

fn main() -> Result<(), Box<dyn Error>> {
    let options =
        EncodeOptions { add_special_tokens: false, special_tokens: SpecialTokens::Parse, ..EncodeOptions::default() };
    for path in std::env::args().skip(1) {
        let tokenizer = Tokenizer::from_bytes(&std::fs::read(&path)?)?;
        println!("{path}");
        for (name, piece) in PIECES {
            let milliseconds = |bytes: usize| {
                let text = text(piece, bytes);
                let started = Instant::now();
                let count = tokenizer.count((&text).into(), &options);
                count.map(|_| started.elapsed().as_secs_f64() * 1e3)
            };
            let (one, two) = (milliseconds(1 << 20)?, milliseconds(2 << 20)?);
            println!("  {name:18} {one:7.1}  {two:7.1}  x {:.2}", two / one);
        }
    }
    Ok(())
}

const PIECES: [(&str, &str); 15] = [
    ("one letter", "a"),
    ("random letters", "abcdefghijklmnopqrstuvwxyz"),
    ("random base64", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
    ("spaces", " "),
    ("newlines", "\n"),
    ("spaces, newlines", " \n\t"),
    ("é", "é"),
    ("中", "中"),
    ("random CJK", "中文字典法律国际人权宣言"),
    ("emoji joined", "👩\u{200d}"),
    ("digits", "0123456789"),
    ("punctuation", "!"),
    ("mixed", "a'S \n1!é中"),
    ("zero-width", "\u{200b}\u{301}"),
    ("special tokens", "<|endoftext|>"),
];

/// Characters of `piece` in random order; special tokens and single characters one after the other.
fn text(piece: &str, bytes: usize) -> String {
    let characters: Vec<char> = piece.chars().collect();
    let mut text = String::with_capacity(bytes + 16);
    let mut state = 12_345u32;
    while text.len() < bytes {
        if piece.starts_with("<|") {
            text.push_str(piece);
        } else {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.push(characters[(state >> 8) as usize % characters.len()]);
        }
    }
    text
}
