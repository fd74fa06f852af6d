//! Truncation and padding, compared with an implementation that works token by token on the whole
//! text.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::draw::Draw;
use crate::truncation::{Direction, Truncation, TruncationStrategy};
use crate::{Columns, EncodeOptions, Encoding, PadTo, Padding, Setting, Tokenizer};

/// A tokenizer with one token per letter, and with special tokens: one before and one after a
/// single text, three around a pair.
static LETTER_TOKENIZER: LazyLock<Tokenizer> = LazyLock::new(|| {
    let vocab: Map<String, Value> =
        "abcdefgh[]".chars().zip(0..).map(|(letter, id)| (letter.to_string(), Value::from(id))).collect();
    let special = |id: &str| json!({"SpecialToken": {"id": id, "type_id": 0}});
    let text = |id: &str, type_id: u32| json!({"Sequence": {"id": id, "type_id": type_id}});
    let token = |id: u32, content: &str| json!({"id": content, "ids": [id], "tokens": [content]});
    let file = json!({
        "version": "1.0",
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [special("["), text("A", 0), special("]")],
            "pair": [special("["), text("A", 0), special("]"), text("B", 1), special("]")],
            "special_tokens": {"[": token(8, "["), "]": token(9, "]")},
        },
    });
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("the file is sound")
});
const OPEN: u32 = 8;
const CLOSE: u32 = 9;

/// The tokens of the parts of a text, beginning with the one that is kept. `None` if the parts
/// would not advance.
fn walk(tokens: &[u32], max: usize, truncation: &Truncation) -> Option<Vec<Vec<u32>>> {
    if max >= tokens.len() {
        return Some(vec![tokens.to_vec()]);
    }
    if max == 0 {
        return Some(vec![vec![], tokens.to_vec()]);
    }
    if truncation.stride >= max {
        return None;
    }
    let reversed = |tokens: &[u32]| tokens.iter().rev().copied().collect::<Vec<u32>>();
    let from_left = truncation.direction == Direction::Right;
    let mut rest = if from_left { tokens.to_vec() } else { reversed(tokens) };
    let mut parts = vec![];
    loop {
        let part = &rest[..max.min(rest.len())];
        parts.push(if from_left { part.to_vec() } else { reversed(part) });
        if part.len() == rest.len() {
            return Some(parts);
        }
        rest.drain(..max - truncation.stride);
    }
}

/// The lengths to which two texts are truncated, by removing one token at a time. `None` if the
/// strategy does not allow it.
fn shares(lengths: [usize; 2], max: usize, strategy: TruncationStrategy) -> Option<[usize; 2]> {
    let [mut first, mut second] = lengths;
    let first_was_longer = first > second;
    if first + second > max && max == 0 {
        return Some([0, 0]);
    }
    while first + second > max {
        let takes_first = match strategy {
            TruncationStrategy::OnlyFirst => true,
            TruncationStrategy::OnlySecond => false,
            TruncationStrategy::LongestFirst => first > second || first == second && !first_was_longer,
        };
        let cut = if takes_first { &mut first } else { &mut second };
        *cut = cut.checked_sub(1)?;
        if *cut == 0 && strategy != TruncationStrategy::LongestFirst {
            return None;
        }
    }
    Some([first, second])
}

fn padded(ids: &[u32], target: usize, padding: &Padding) -> Vec<u32> {
    let fill = vec![padding.id; target.saturating_sub(ids.len())];
    match padding.direction {
        Direction::Left => [&fill, ids].concat(),
        Direction::Right => [ids, &fill].concat(),
    }
}

fn target(padding: &Padding, longest: usize) -> usize {
    let mut target = if let PadTo::Length(length) = padding.to { length } else { longest };
    while padding.multiple_of > 0 && !target.is_multiple_of(padding.multiple_of) {
        target += 1;
    }
    target
}

/// Interprets bytes as two texts, options, and lengths.
pub(super) fn lengths(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let direction = |draw: &mut Draw<'_>| if draw.flag() { Direction::Left } else { Direction::Right };
    let truncation = Truncation {
        max_length: draw.below(24),
        stride: draw.below(12),
        strategy: draw.one_of(&[
            TruncationStrategy::LongestFirst,
            TruncationStrategy::OnlyFirst,
            TruncationStrategy::OnlySecond,
        ]),
        direction: direction(&mut draw),
    };
    let padding = Padding {
        to: if draw.flag() { PadTo::Length(draw.below(40)) } else { PadTo::Longest },
        multiple_of: draw.below(10),
        direction: direction(&mut draw),
        id: 77,
        ..Padding::default()
    };
    let options = EncodeOptions {
        add_special_tokens: draw.flag(),
        truncation: Setting::On(truncation),
        padding: Setting::On(padding.clone()),
        overflow: true,
        columns: Columns::ALL,
        ..EncodeOptions::default()
    };
    let ids = |draw: &mut Draw<'_>| draw.list(40, |draw| draw.below(8) as u32);
    let [first, second] = [ids(&mut draw), ids(&mut draw)];
    let text = |ids: &[u32]| ids.iter().map(|&id| char::from(b'a' + id as u8)).collect::<String>();
    let [first_text, second_text] = [text(&first), text(&second)];
    // A stride that no single text allows is an error for pairs as well.
    let added = |pair: bool| if pair { 3 } else { 2 };
    let left = |pair: bool| {
        truncation
            .max_length
            .checked_sub(added(pair))
            .map(|rest| if options.add_special_tokens { rest } else { truncation.max_length })
    };
    let is_refused = left(false).is_some_and(|left| left < truncation.stride);

    let alone = LETTER_TOKENIZER.encode(first_text.as_str().into(), &options);
    let parts = if is_refused { None } else { single(&first, &truncation, &options) };
    assert_eq!(alone.is_ok(), parts.is_some(), "{options:?} {first_text:?}: {alone:?}");
    if let (Ok(alone), Some(parts)) = (alone, parts) {
        let target = target(&padding, parts[0].len());
        let expected: Vec<Vec<u32>> = parts.iter().map(|part| padded(part, target, &padding)).collect();
        let encoded: Vec<&[u32]> = std::iter::once(&alone).chain(&alone.overflowing).map(Encoding::ids).collect();
        assert_eq!(encoded, expected, "{options:?} {first_text:?}");
        check_columns(&alone, &padding);
    }

    let both = LETTER_TOKENIZER.encode_pair(first_text.as_str(), second_text.as_str(), &options);
    let kept = if is_refused { None } else { pair(&first, &second, &truncation, &options) };
    assert_eq!(both.is_ok(), kept.is_some(), "{options:?} {first_text:?} {second_text:?}: {both:?}");
    if let (Ok(both), Some(kept)) = (both, kept) {
        assert_eq!(both.ids(), padded(&kept, target(&padding, kept.len()), &padding), "{options:?}");
        check_columns(&both, &padding);
    }
}

/// The parts of one text, including special tokens.
fn single(tokens: &[u32], truncation: &Truncation, options: &EncodeOptions) -> Option<Vec<Vec<u32>>> {
    let around = |part: Vec<u32>| match options.add_special_tokens {
        true => [&[OPEN], &part[..], &[CLOSE]].concat(),
        false => part,
    };
    let parts = match capacity(truncation, options, 2) {
        None => vec![tokens.to_vec()],
        Some(max) if tokens.len() <= max => vec![tokens.to_vec()],
        Some(max) => {
            // A single text is truncated by every strategy except OnlySecond, unless nothing of it
            // may remain.
            match truncation.strategy {
                TruncationStrategy::OnlySecond if max > 0 => return None,
                _ => walk(tokens, max, truncation)?,
            }
        }
    };
    Some(parts.into_iter().map(around).collect())
}

/// The kept tokens of two texts, including special tokens.
fn pair(first: &[u32], second: &[u32], truncation: &Truncation, options: &EncodeOptions) -> Option<Vec<u32>> {
    let kept = match capacity(truncation, options, 3) {
        None => [first.to_vec(), second.to_vec()],
        Some(max) => {
            let [left, right] = shares([first.len(), second.len()], max, truncation.strategy)?;
            [walk(first, left, truncation)?.swap_remove(0), walk(second, right, truncation)?.swap_remove(0)]
        }
    };
    let [first, second] = kept;
    Some(match options.add_special_tokens {
        true => [&[OPEN], &first[..], &[CLOSE], &second[..], &[CLOSE]].concat(),
        false => [first, second].concat(),
    })
}

/// The number of tokens of texts that fit into the maximum length. `None` if the special tokens
/// alone exceed it; nothing is truncated then.
fn capacity(truncation: &Truncation, options: &EncodeOptions, added: usize) -> Option<usize> {
    truncation.max_length.checked_sub(if options.add_special_tokens { added } else { 0 })
}

/// Checks that columns have the length of the ids, and that masks distinguish padding from tokens.
fn check_columns(encoding: &Encoding, padding: &Padding) {
    for part in std::iter::once(encoding).chain(&encoding.overflowing) {
        let length = part.len();
        let lengths =
            [part.offsets.len(), part.tokens.len(), part.type_ids.len(), part.word_ids.len(), part.sequence_ids.len()];
        assert_eq!(lengths, [length; 5]);
        let masks = part.attention_mask.iter().zip(&part.special_tokens_mask);
        assert_eq!(masks.len(), length);
        for (&id, (&attention, &special)) in part.ids.iter().zip(masks) {
            assert_eq!((attention, special), (u8::from(id != padding.id), u8::from(id >= OPEN)));
        }
    }
}
