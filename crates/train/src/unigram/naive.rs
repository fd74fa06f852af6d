//! The slow twin: pieces are strings in a list, seeds are counted one substring at a time, and
//! expected counts are sums over segmentations that are written out.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::pieces::Pieces;
use super::seeds::Corpus;
use crate::WordCounts;

/// Pieces with their scores, in order.
pub(super) type List = Vec<(String, f64)>;

/// The pieces of the fast twin that are in the vocabulary.
pub(super) fn list(pieces: &Pieces, corpus: &Corpus) -> List {
    let listed = pieces.pieces.iter().filter(|piece| piece.listed);
    listed.map(|piece| (corpus.text(piece), piece.score)).collect()
}

pub(super) fn seeds(words: &WordCounts, longest: usize, size: usize) -> List {
    let mut characters: BTreeMap<char, u64> = BTreeMap::new();
    let mut substrings: BTreeMap<String, (u64, BTreeSet<Option<char>>)> = BTreeMap::new();
    for (word, count) in words.iter() {
        let word: Vec<char> = word.chars().collect();
        word.iter().filter(|&&c| c != '\0').for_each(|&c| *characters.entry(c).or_default() += count);
        for start in 0..word.len() {
            for end in start + 2..=word.len().min(start + longest) {
                let text: String = word[start..end].iter().collect();
                let next = word.get(end).copied().filter(|&next| next != '\0');
                if !text.contains('\0') {
                    let found = substrings.entry(text).or_default();
                    found.0 += 1;
                    found.1.insert(next);
                }
            }
        }
    }
    let mut found: Vec<(u64, String)> = characters.iter().map(|(c, &count)| (count, c.to_string())).collect();
    found.sort_by(|left, right| right.cmp(left));
    let mut seeds: Vec<(u64, String)> = substrings
        .into_iter()
        .filter(|(_, (count, next))| *count > 1 && next.len() > 1)
        .map(|(text, (count, _))| (count * text.chars().count() as u64, text))
        .collect();
    seeds.sort_by(|left, right| right.cmp(left));
    seeds.truncate(size.saturating_sub(found.len()).max(1));
    found.append(&mut seeds);
    let total = libm::log(found.iter().map(|&(weight, _)| weight as f64).sum());
    found.into_iter().map(|(weight, text)| (text, libm::log(weight as f64) - total)).collect()
}

/// The pieces that `text` starts with, and the first character if it is none of them: indices,
/// lengths in bytes and scores.
fn prefixes(pieces: &List, text: &str) -> Vec<(Option<usize>, usize, f64)> {
    let starts = |(index, piece): (usize, &(String, f64))| {
        text.starts_with(&piece.0).then_some((Some(index), piece.0.len(), piece.1))
    };
    let mut found: Vec<_> = pieces.iter().enumerate().filter_map(starts).collect();
    let character = text.chars().next().map_or(0, char::len_utf8);
    if found.iter().all(|&(_, len, _)| len != character) {
        let min_score = pieces.iter().map(|piece| piece.1).fold(f64::INFINITY, f64::min);
        found.push((None, character, if min_score.is_finite() { min_score } else { 0.0 } - 10.0));
    }
    found
}

/// All segmentations of a text, with their probabilities.
fn segmentations(pieces: &List, text: &str) -> Vec<(f64, Vec<Option<usize>>)> {
    if text.is_empty() {
        return vec![(1.0, vec![])];
    }
    let mut all = vec![];
    for (piece, len, score) in prefixes(pieces, text) {
        for (probability, mut path) in segmentations(pieces, &text[len..]) {
            path.push(piece);
            all.push((probability * score.exp(), path));
        }
    }
    all
}

pub(super) fn expected(pieces: &List, words: &WordCounts) -> Vec<f64> {
    let mut expected = vec![0.0; pieces.len()];
    for (word, count) in words.iter() {
        let all = segmentations(pieces, word);
        let total: f64 = all.iter().map(|(probability, _)| probability).sum();
        for (probability, path) in all {
            path.into_iter().flatten().for_each(|piece| expected[piece] += count as f64 * probability / total);
        }
    }
    expected
}

/// The best segmentation of a text without one of the pieces, and its score.
fn best(pieces: &List, text: &str, without: Option<usize>) -> (f64, Vec<Option<usize>>) {
    let mut best: Vec<Option<(f64, Vec<Option<usize>>)>> = vec![None; text.len() + 1];
    best[0] = Some((0.0, vec![]));
    for at in 0..text.len() {
        let Some((before, path)) = best[at].clone() else { continue };
        for (piece, len, score) in prefixes(pieces, &text[at..]) {
            let is_better = best[at + len].as_ref().is_none_or(|known| before + score > known.0);
            if is_better && (piece.is_none() || piece != without) {
                best[at + len] = Some((before + score, [&path[..], &[piece]].concat()));
            }
        }
    }
    best.pop().flatten().expect("each character is a piece or unknown")
}

/// The texts of the pieces that are left.
pub(super) fn prune(pieces: &List, words: &WordCounts, size: usize) -> Vec<String> {
    let mut counts: HashMap<Option<usize>, u64> = HashMap::new();
    for (word, count) in words.iter() {
        best(pieces, word, None).1.iter().for_each(|&piece| *counts.entry(piece).or_default() += count);
    }
    let all_words: f64 = words.iter().map(|(_, count)| count as f64).sum();
    let total: f64 = counts.values().map(|&count| count as f64).sum();
    let count = |piece: Option<usize>| counts.get(&piece).map_or(0.0, |&count| count as f64);
    let (mut kept, mut candidates) = (vec![], vec![]);
    for (id, (text, score)) in pieces.iter().enumerate() {
        let own = count(Some(id));
        if text.chars().count() == 1 {
            kept.push(text.clone());
        } else if own > 0.0 {
            let (without_score, parts) = best(pieces, text, Some(id));
            if without_score > *score {
                kept.push(text.clone());
                continue;
            }
            let total_without = libm::log(total + own * pieces.len() as f64);
            let without: f64 = parts.iter().map(|&part| libm::log(count(part) + own) - total_without).sum();
            candidates.push((own / all_words * (libm::log(own) - libm::log(total) - without), text.clone()));
        }
    }
    candidates.sort_by(|left, right| right.0.total_cmp(&left.0));
    let left = size.saturating_sub(1 + kept.len());
    kept.extend(candidates.into_iter().take(left).map(|(_, text)| text));
    kept
}
