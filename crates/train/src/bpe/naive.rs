//! The slow twin of `merge`: words are vectors, the queue is a list that is searched, and changes
//! are collected before they are counted.

use std::collections::{BTreeMap, BTreeSet};

use super::start::Start;
use super::{BpeVocabulary, Pair, joined};
use crate::BpeOptions;

#[derive(Clone, Copy)]
struct Token {
    token: u32,
    /// In characters of the word.
    len: u32,
}

struct Queued {
    pair: Pair,
    count: u64,
    words: BTreeSet<usize>,
}

pub(crate) fn train(start: Start, options: &BpeOptions) -> BpeVocabulary {
    let Start { mut tokens, words, frozen } = start;
    let (mut words, counts): (Vec<Vec<Token>>, Vec<i64>) = words
        .lists()
        .into_iter()
        .map(|(word, count)| (word.into_iter().map(|(token, len)| Token { token, len }).collect(), count))
        .unzip();
    let mut pair_counts: BTreeMap<Pair, i64> = BTreeMap::new();
    let mut queue: Vec<Queued> = Vec::new();
    let mut changes: Vec<(Pair, i64, usize)> = Vec::new();
    for (index, word) in words.iter().enumerate() {
        changes.extend(word.windows(2).map(|pair| ((pair[0].token, pair[1].token), 1, index)));
    }
    let mut merges: Vec<Pair> = Vec::new();
    loop {
        let mut found: BTreeMap<Pair, BTreeSet<usize>> = BTreeMap::new();
        for (pair, sign, word) in changes.drain(..) {
            *pair_counts.entry(pair).or_default() += sign * counts[word];
            if sign > 0 {
                found.entry(pair).or_default().insert(word);
            }
        }
        for (pair, words) in found {
            if pair_counts[&pair] > 0 {
                queue.push(Queued { pair, count: pair_counts[&pair] as u64, words });
            }
        }
        if tokens.texts.len() >= options.vocab_size {
            break;
        }
        let best = loop {
            // The first one of equal entries: the older one.
            let Some(best) = (0..queue.len()).reduce(|best, other| {
                let order = |at: usize| (queue[at].count, std::cmp::Reverse(queue[at].pair));
                if order(other) > order(best) { other } else { best }
            }) else {
                break None;
            };
            let count = pair_counts[&queue[best].pair] as u64;
            if queue[best].count == count {
                break Some(queue.remove(best));
            }
            queue[best].count = count;
        };
        let Some(Queued { pair, count, words: holders }) = best else { break };
        if count < 1 || count < options.min_frequency {
            break;
        }
        let token = tokens.id(joined(&tokens.texts[pair.0 as usize], &tokens.texts[pair.1 as usize], options));
        if token < frozen {
            continue;
        }
        merges.retain(|&merge| merge != pair);
        merges.push(pair);
        for index in holders {
            merge_word(&mut words[index], pair, token, options, |pair, sign| changes.push((pair, sign, index)));
        }
    }
    BpeVocabulary { tokens: tokens.texts, merges }
}

fn merge_word(word: &mut Vec<Token>, pair: Pair, token: u32, options: &BpeOptions, mut change: impl FnMut(Pair, i64)) {
    let fits = |left: Token, right: Token| {
        options.max_token_length.is_none_or(|limit| ((left.len + right.len) as usize) < limit)
    };
    let mut at = 0;
    while at + 1 < word.len() {
        if (word[at].token, word[at + 1].token) == pair {
            let second = word.remove(at + 1);
            word[at] = Token { token, len: word[at].len + second.len };
            if at > 0 {
                change((word[at - 1].token, pair.0), -1);
                if fits(word[at - 1], word[at]) {
                    change((word[at - 1].token, token), 1);
                }
            }
            if at + 1 < word.len() {
                change((pair.1, word[at + 1].token), -1);
                if fits(word[at], word[at + 1]) {
                    change((token, word[at + 1].token), 1);
                }
            }
        }
        at += 1;
    }
}
