//! The merges. A queue holds pairs with their places; each merge visits only these, and corrects
//! the counts of the pairs beside them. A place is visited once for each time that a pair forms
//! there, so that one long word takes no longer than many short ones.
//!
//! The reference's counts are part of the result, with what they leave out: the count of a merged
//! pair is not cleared, a pair longer than the maximum is not counted when it forms but is when it
//! goes, and a negative count, compared as an unsigned number, is the largest one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::start::Start;
use super::{BpeVocabulary, Pair, Slot, joined, last_of_each};
use crate::progress::{Meter, Phase};
use crate::{BpeOptions, TrainError};

/// A pair in the queue: the most frequent one is the largest, of equally frequent ones the one with
/// the smallest ids, of equal pairs the older one.
type Entry = (u64, Reverse<Pair>, Reverse<usize>);

/// Where a pair is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    word: u32,
    /// The slot of the left token.
    at: u32,
}

#[derive(Default)]
struct Queue {
    /// The number of each pair that was ever seen.
    numbers: HashMap<Pair, u32, FixedState>,
    /// The count of each pair.
    counts: Vec<i64>,
    /// The last entry of each pair; `NONE` if there is none.
    last: Vec<usize>,
    /// The pairs that get an entry after this merge.
    opened: Vec<(u32, Pair)>,
    /// The first entry of this merge.
    first_open: usize,
    /// The places of each entry in rising order; empty once it is merged.
    places: Vec<Vec<Place>>,
    /// Entries of pairs that form again after they were queued.
    others: HashMap<u32, Vec<usize>, FixedState>,
    /// Places of pairs that are not counted or not queued.
    hidden: HashMap<u32, Vec<Place>, FixedState>,
    heap: BinaryHeap<Entry>,
}

const NONE: usize = usize::MAX;

impl Queue {
    fn number(&mut self, pair: Pair) -> u32 {
        let next = self.counts.len() as u32;
        let number = *self.numbers.entry(pair).or_insert(next);
        if number == next {
            self.counts.push(0);
            self.last.push(NONE);
        }
        number
    }

    fn subtract(&mut self, pair: Pair, count: i64) {
        let number = self.number(pair) as usize;
        self.counts[number] = self.counts[number].wrapping_sub(count);
    }

    /// Counts a pair that forms. Places come in rising order between two calls of `flush`.
    fn add(&mut self, pair: Pair, count: i64, place: Place) {
        let number = self.number(pair);
        self.counts[number as usize] = self.counts[number as usize].wrapping_add(count);
        let last = &mut self.last[number as usize];
        if *last != NONE && *last >= self.first_open {
            self.places[*last].push(place);
            return;
        }
        let earlier = std::mem::replace(last, self.places.len());
        if earlier != NONE {
            self.others.entry(number).or_default().push(earlier);
        }
        self.places.push(vec![place]);
        self.opened.push((number, pair));
    }

    /// Notes a pair that forms and is not counted.
    fn hide(&mut self, pair: Pair, place: Place) {
        let number = self.number(pair);
        self.hidden.entry(number).or_default().push(place);
    }

    /// Queues the pairs that were added since the last call.
    fn flush(&mut self) {
        for (number, pair) in self.opened.drain(..) {
            let entry = self.last[number as usize];
            let count = self.counts[number as usize];
            if count > 0 {
                self.heap.push((count as u64, Reverse(pair), Reverse(entry)));
            } else {
                let places = std::mem::take(&mut self.places[entry]);
                self.hidden.entry(number).or_default().extend(places);
            }
        }
        self.first_open = self.places.len();
    }

    /// Takes the most frequent pair with its count and places, once its count is up to date.
    fn pop(&mut self) -> Option<(Pair, u64, Vec<Place>)> {
        loop {
            let (queued, Reverse(pair), Reverse(entry)) = self.heap.pop()?;
            let number = self.numbers[&pair];
            let count = self.counts[number as usize] as u64;
            if count == queued {
                return Some((pair, count, self.take_places(number, entry)));
            }
            self.heap.push((count, Reverse(pair), Reverse(entry)));
        }
    }

    /// The places of an entry, and all other places of its pair in the same words.
    fn take_places(&mut self, number: u32, entry: usize) -> Vec<Place> {
        let mut places = std::mem::take(&mut self.places[entry]);
        let others = self.others.get(&number);
        let hidden = self.hidden.get_mut(&number);
        if others.is_none() && hidden.is_none() {
            return places;
        }
        let mut words: Vec<u32> = places.iter().map(|place| place.word).collect();
        words.dedup();
        let in_words = |place: &Place| words.binary_search(&place.word).is_ok();
        let entries = others.into_iter().flatten().chain(Some(&self.last[number as usize]));
        for &other in entries {
            places.extend(self.places[other].iter().filter(|place| in_words(place)));
        }
        if let Some(hidden) = hidden {
            places.extend(hidden.extract_if(.., |place| in_words(place)));
        }
        places.sort_unstable();
        places.dedup();
        places
    }
}

/// The tokens of the words. A token covers as many slots as it has characters: the first one has
/// the token, and the first and the last one have its length. So both neighbors are found in one
/// step.
struct Words {
    slots: Vec<Slot>,
    starts: Vec<u32>,
}

/// The token of a slot that is not the first one of its token.
const COVERED: u32 = u32::MAX;

impl Words {
    /// The slot behind the token that starts at `at`, if the word goes on.
    fn after(&self, place: Place) -> Option<u32> {
        let next = place.at + self.slots[place.at as usize].len;
        (next < self.starts[place.word as usize + 1]).then_some(next)
    }

    /// The first slot of the token before `at`, if the word does not start there.
    fn before(&self, place: Place) -> Option<u32> {
        let starts = self.starts[place.word as usize] == place.at;
        (!starts).then(|| place.at - self.slots[place.at as usize - 1].len)
    }
}

/// Merges until the vocabulary is large enough, or until no pair is frequent enough.
pub(super) fn train(start: Start, options: &BpeOptions, meter: &mut Meter<'_>) -> Result<BpeVocabulary, TrainError> {
    let Start { mut tokens, slots, starts, counts } = start;
    let max_len = options.max_token_length.map_or(u64::MAX, |len| len as u64);
    let mut words = Words { slots, starts };
    let mut queue = Queue::default();
    meter.phase(Phase::Pairs, words.slots.len(), tokens.texts.len())?;
    for (word, &count) in counts.iter().enumerate() {
        let (first, end) = (words.starts[word] as usize, words.starts[word + 1] as usize);
        for (pair, at) in words.slots[first..end].windows(2).zip(first as u32..) {
            queue.add((pair[0].token, pair[1].token), count, Place { word: word as u32, at });
        }
        meter.done(end - first)?;
    }
    queue.flush();

    meter.phase(Phase::Merges, options.vocab_size, tokens.texts.len())?;
    let mut merges = Vec::new();
    while tokens.texts.len() < options.vocab_size {
        let Some((pair, count, places)) = queue.pop() else { break };
        if count < 1 || count < options.min_frequency {
            break;
        }
        let text = joined(&tokens.texts[pair.0 as usize], &tokens.texts[pair.1 as usize], options);
        let merge = Merge { pair, token: tokens.id(text), max_len };
        merges.push(pair);
        meter.token(tokens.texts.len())?;
        for place in places {
            merge.apply(&mut words, place, counts[place.word as usize], &mut queue);
            meter.work(1)?;
        }
        queue.flush();
    }
    Ok(BpeVocabulary { tokens: tokens.texts, merges: last_of_each(merges) })
}

/// A pair that becomes a token.
struct Merge {
    pair: Pair,
    token: u32,
    /// A pair that forms beside it is counted only if it is shorter.
    max_len: u64,
}

impl Merge {
    /// Merges the pair at a place, if it is still there.
    fn apply(&self, words: &mut Words, place: Place, count: i64, queue: &mut Queue) {
        let left = words.slots[place.at as usize];
        if left.token != self.pair.0 {
            return;
        }
        let Some(second) = words.after(place) else { return };
        let right = words.slots[second as usize];
        if right.token != self.pair.1 {
            return;
        }
        let merged = Slot { token: self.token, len: left.len + right.len };
        words.slots[second as usize].token = COVERED;
        words.slots[(place.at + merged.len - 1) as usize].len = merged.len;
        words.slots[place.at as usize] = merged;
        let mut form = |pair: Pair, beside: Slot, at: u32| {
            let place = Place { word: place.word, at };
            if u64::from(beside.len) + u64::from(merged.len) < self.max_len {
                queue.add(pair, count, place);
            } else {
                queue.hide(pair, place);
            }
        };
        let before = words.before(place).map(|at| (at, words.slots[at as usize]));
        let after = words.after(place).map(|at| words.slots[at as usize]);
        if let Some((at, before)) = before {
            form((before.token, self.token), before, at);
        }
        if let Some(after) = after {
            form((self.token, after.token), after, place.at);
        }
        if let Some((_, before)) = before {
            queue.subtract((before.token, left.token), count);
        }
        if let Some(after) = after {
            queue.subtract((right.token, after.token), count);
        }
    }
}
