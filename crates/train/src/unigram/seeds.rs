//! The pieces to begin with.
//!
//! A substring is a seed if it occurs at least twice in distinct words, has 2 to `max_piece_length`
//! characters, and is followed by at least two different characters, where the end of a word counts
//! as one. Its weight is its number of occurrences in distinct words (not in texts, as in the
//! reference) times its length. All characters are seeds; their weight is their number of
//! occurrences in texts.

use std::cmp::Reverse;
use std::ops::Range;

use super::pieces::{NONE, Piece, Pieces};
use super::sort::Sorter;
use crate::progress::{Meter, Phase};
use crate::{TrainError, UnigramOptions, WordCounts};

/// The distinct words as one text of symbols: characters by code point, from 1 on. 0 stands behind
/// each word, and for NUL, which is in no piece, as in the reference.
pub(super) struct Corpus {
    /// The symbols of all words.
    pub symbols: Vec<u32>,
    /// The characters of the symbols from 1 on, and how often texts have them.
    pub alphabet: Vec<(char, u64)>,
    /// Where words are in `symbols`, and how often they occur.
    pub words: Vec<(Range<u32>, u64)>,
    /// Whether a word has a NUL.
    pub has_nul: bool,
}

/// The largest number of characters of all distinct words, with one more for each.
const MAX_SYMBOLS: usize = u32::MAX as usize - 1;

impl Corpus {
    pub(super) fn new(counts: &WordCounts) -> Result<Self, TrainError> {
        let mut seen = vec![0_u64; char::MAX as usize + 1];
        let (mut len, mut word_count) = (0, 0);
        for (word, count) in counts.iter().filter(|(word, _)| !word.is_empty()) {
            word_count += 1;
            len += 1;
            for character in word.chars() {
                len += 1;
                let seen = &mut seen[character as usize];
                *seen = seen.saturating_add(count);
            }
        }
        if word_count == 0 {
            return Err(TrainError::NoWords);
        }
        if len > MAX_SYMBOLS {
            return Err(TrainError::TooManyCharacters { limit: MAX_SYMBOLS });
        }
        let has_nul = seen[0] > 0;
        let alphabet: Vec<(char, u64)> =
            ('\u{1}'..=char::MAX).map(|c| (c, seen[c as usize])).filter(|&(_, count)| count > 0).collect();
        // From here on, the symbols of characters.
        for (&(character, _), symbol) in alphabet.iter().zip(1..) {
            seen[character as usize] = symbol;
        }
        seen[0] = 0;
        let (mut symbols, mut words) = (Vec::with_capacity(len), Vec::with_capacity(word_count));
        for (word, count) in counts.iter().filter(|(word, _)| !word.is_empty()) {
            let start = symbols.len() as u32;
            symbols.extend(word.chars().map(|character| seen[character as usize] as u32));
            words.push((start..symbols.len() as u32, count));
            symbols.push(0);
        }
        Ok(Self { symbols, alphabet, words, has_nul })
    }

    /// The text of a piece.
    pub(super) fn text(&self, piece: &Piece) -> String {
        let symbols = &self.symbols[piece.at as usize..][..piece.len as usize];
        symbols.iter().map(|&symbol| self.alphabet[symbol as usize - 1].0).collect()
    }
}

/// A substring with more than one continuation: a range of sorted positions, and its length.
#[derive(Debug, Clone, Copy)]
struct Seed {
    weight: u64,
    start: u32,
    end: u32,
    len: u32,
}

/// The seeds with scores by their weights: the characters and the `seed_size` heaviest substrings,
/// less the number of characters, but at least one.
pub(super) fn find(corpus: &Corpus, options: &UnigramOptions, meter: &mut Meter<'_>) -> Result<Pieces, TrainError> {
    meter.phase(Phase::Seeds, corpus.symbols.len(), 0)?;
    let (mut positions, starts) = by_first_symbol(corpus);
    let mut seeds = Vec::new();
    let mut sorter = Sorter::new(&corpus.symbols, corpus.alphabet.len() as u32 + 1, options.max_piece_length + 1);
    for bounds in starts.windows(2) {
        let shared = sorter.sort(&mut positions[bounds[0] as usize..bounds[1] as usize]);
        collect(shared, bounds[0], options.max_piece_length, &mut seeds);
        meter.done((bounds[1] - bounds[0]) as usize)?;
    }
    drop(sorter);
    let kept = options.seed_size.saturating_sub(corpus.alphabet.len()).max(1);
    // Of equal weights, the later text comes first. Positions are in the order of texts.
    let order = |seed: &Seed| Reverse((seed.weight, seed.start, seed.len));
    if kept < seeds.len() {
        seeds.select_nth_unstable_by_key(kept, order);
        seeds.truncate(kept);
    }
    seeds.sort_unstable_by_key(order);
    Ok(assemble(corpus, &positions, &starts, &seeds))
}

/// The positions of all characters, those of each symbol together, and where each symbol starts.
fn by_first_symbol(corpus: &Corpus) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; corpus.alphabet.len() + 1];
    corpus.symbols.iter().filter(|&&symbol| symbol > 0).for_each(|&symbol| starts[symbol as usize] += 1);
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut positions = vec![0; *starts.last().expect("there is a first one") as usize];
    let mut next = starts.clone();
    for (at, &symbol) in (0..).zip(&corpus.symbols).filter(|(_, symbol)| **symbol > 0) {
        let next = &mut next[symbol as usize - 1];
        positions[*next as usize] = at;
        *next += 1;
    }
    (positions, starts)
}

/// Finds the ranges of positions that share 2 to `longest` symbols, and no more. `shared` belongs
/// to the positions from `first` on.
fn collect(shared: &[u16], first: u32, longest: usize, seeds: &mut Vec<Seed>) {
    // Open ranges with rising lengths.
    let mut open: Vec<(u32, u16)> = Vec::new();
    for (at, shared) in (first..).zip(shared.iter().copied().chain([0])) {
        let mut start = at.saturating_sub(1);
        while let Some(&(from, len)) = open.last()
            && len > shared
        {
            open.pop();
            start = from;
            if (2..=longest).contains(&usize::from(len)) {
                let len = u32::from(len);
                seeds.push(Seed { weight: u64::from(at - from) * u64::from(len), start: from, end: at, len });
            }
        }
        if shared > 0 && open.last().is_none_or(|&(_, len)| len < shared) {
            open.push((start, shared));
        }
    }
}

/// The characters by falling weight, then by falling code point, and the seeds; for each position,
/// the longest piece that starts there.
fn assemble(corpus: &Corpus, positions: &[u32], starts: &[u32], seeds: &[Seed]) -> Pieces {
    let mut characters: Vec<usize> = (0..corpus.alphabet.len()).collect();
    characters.sort_unstable_by_key(|&index| Reverse((corpus.alphabet[index].1, index)));
    let weights = characters.iter().map(|&index| corpus.alphabet[index].1).chain(seeds.iter().map(|seed| seed.weight));
    let total = libm::log(weights.clone().map(|weight| weight as f64).sum());
    let at = |start: u32| positions[start as usize];
    let places = characters.iter().map(|&index| (at(starts[index]), 1));
    let mut pieces: Vec<Piece> = places
        .chain(seeds.iter().map(|seed| (at(seed.start), seed.len)))
        .zip(weights)
        .map(|((at, len), weight)| {
            let score = libm::log(weight as f64) - total;
            Piece { at, len, parent: NONE, score, listed: true }
        })
        .collect();
    let mut character_ids = vec![0; characters.len()];
    characters.iter().zip(0..).for_each(|(&index, id)| character_ids[index] = id);
    let mut in_order: Vec<u32> = (0..seeds.len() as u32).collect();
    in_order.sort_unstable_by_key(|&seed| (seeds[seed as usize].start, seeds[seed as usize].len));
    let mut in_order = in_order.into_iter().peekable();
    let mut longest = vec![NONE; corpus.symbols.len()];
    for (bounds, &character) in starts.windows(2).zip(&character_ids) {
        let mut open: Vec<(u32, u32)> = Vec::new();
        for index in bounds[0]..bounds[1] {
            while open.last().is_some_and(|&(end, _)| end == index) {
                open.pop();
            }
            while let Some(seed) = in_order.next_if(|&seed| seeds[seed as usize].start == index) {
                let id = characters.len() as u32 + seed;
                pieces[id as usize].parent = open.last().map_or(character, |&(_, parent)| parent);
                open.push((seeds[seed as usize].end, id));
            }
            longest[positions[index as usize] as usize] = open.last().map_or(character, |&(_, id)| id);
        }
    }
    Pieces::new(pieces, longest)
}
