//! The merges. A queue holds pairs with the words that contain them; each merge visits only these
//! words, and corrects the counts of the pairs beside it.
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
use crate::BpeOptions;

/// A pair in the queue: the most frequent one is the largest, of equally frequent ones the one with
/// the smallest ids, of equal pairs the older one.
type Entry = (u64, Reverse<Pair>, Reverse<usize>);

#[derive(Default)]
struct Queue {
    /// The number of each pair that was ever seen.
    numbers: HashMap<Pair, u32, FixedState>,
    /// The count of each pair.
    counts: Vec<i64>,
    /// The entry that a pair gets after this merge, by the pair's number; `NONE` if there is none.
    open: Vec<usize>,
    /// The pairs with such an entry, in the order of their entries.
    opened: Vec<(u32, Pair)>,
    /// The words of each entry in rising order; empty once it is merged.
    words: Vec<Vec<u32>>,
    heap: BinaryHeap<Entry>,
}

const NONE: usize = usize::MAX;

impl Queue {
    fn number(&mut self, pair: Pair) -> u32 {
        let next = self.counts.len() as u32;
        let number = *self.numbers.entry(pair).or_insert(next);
        if number == next {
            self.counts.push(0);
            self.open.push(NONE);
        }
        number
    }

    fn subtract(&mut self, pair: Pair, count: i64) {
        let number = self.number(pair) as usize;
        self.counts[number] = self.counts[number].wrapping_sub(count);
    }

    /// Counts a pair in a word. Words come in rising order between two calls of `flush`.
    fn add(&mut self, pair: Pair, count: i64, word: u32) {
        let number = self.number(pair);
        self.counts[number as usize] = self.counts[number as usize].wrapping_add(count);
        let entry = &mut self.open[number as usize];
        if *entry == NONE {
            *entry = self.words.len();
            self.words.push(vec![word]);
            self.opened.push((number, pair));
        } else if self.words[*entry].last() != Some(&word) {
            self.words[*entry].push(word);
        }
    }

    /// Queues the pairs that were added since the last call.
    fn flush(&mut self) {
        for (number, pair) in self.opened.drain(..) {
            let entry = std::mem::replace(&mut self.open[number as usize], NONE);
            let count = self.counts[number as usize];
            if count > 0 {
                self.heap.push((count as u64, Reverse(pair), Reverse(entry)));
            } else {
                self.words[entry] = Vec::new();
            }
        }
    }

    /// Takes the most frequent pair with its count and words, once its count is up to date.
    fn pop(&mut self) -> Option<(Pair, u64, Vec<u32>)> {
        loop {
            let (queued, Reverse(pair), Reverse(entry)) = self.heap.pop()?;
            let count = self.counts[self.numbers[&pair] as usize] as u64;
            if count == queued {
                return Some((pair, count, std::mem::take(&mut self.words[entry])));
            }
            self.heap.push((count, Reverse(pair), Reverse(entry)));
        }
    }
}

/// Merges until the vocabulary is large enough, or until no pair is frequent enough.
pub(super) fn train(start: Start, options: &BpeOptions) -> BpeVocabulary {
    let Start { mut tokens, mut slots, starts, counts } = start;
    let max_len = options.max_token_length.map_or(u64::MAX, |len| len as u64);
    // The numbers of tokens of the words, which get fewer; their places stay.
    let mut lens: Vec<u32> = starts.windows(2).map(|bounds| bounds[1] - bounds[0]).collect();
    let mut queue = Queue::default();
    for (word, &count) in counts.iter().enumerate() {
        let slots = &slots[starts[word] as usize..starts[word + 1] as usize];
        for pair in slots.windows(2) {
            queue.add((pair[0].token, pair[1].token), count, word as u32);
        }
    }
    queue.flush();

    let mut merges = Vec::new();
    while tokens.texts.len() < options.vocab_size {
        let Some((pair, count, words)) = queue.pop() else { break };
        if count < 1 || count < options.min_frequency {
            break;
        }
        let text = joined(&tokens.texts[pair.0 as usize], &tokens.texts[pair.1 as usize], options);
        let merge = Merge { pair, token: tokens.id(text), max_len };
        merges.push(pair);
        for word in words {
            let first = starts[word as usize] as usize;
            let len = &mut lens[word as usize];
            let slots = &mut slots[first..first + *len as usize];
            *len = merge.apply(slots, word, counts[word as usize], &mut queue) as u32;
        }
        queue.flush();
    }
    BpeVocabulary { tokens: tokens.texts, merges: last_of_each(merges) }
}

/// A pair that becomes a token.
struct Merge {
    pair: Pair,
    token: u32,
    /// A pair that forms beside it is counted only if it is shorter.
    max_len: u64,
}

impl Merge {
    /// Merges all occurrences in a word, from left to right. Returns the new number of tokens.
    fn apply(&self, slots: &mut [Slot], word: u32, count: i64, queue: &mut Queue) -> usize {
        let (mut read, mut written) = (0, 0);
        while read < slots.len() {
            let slot = slots[read];
            let next = slots.get(read + 1).copied();
            let Some(second) = next.filter(|next| (slot.token, next.token) == self.pair) else {
                slots[written] = slot;
                (read, written) = (read + 1, written + 1);
                continue;
            };
            let merged = Slot { token: self.token, len: slot.len + second.len };
            let counts = |beside: Slot| u64::from(beside.len) + u64::from(merged.len) < self.max_len;
            if written > 0 {
                let before = slots[written - 1];
                queue.subtract((before.token, slot.token), count);
                if counts(before) {
                    queue.add((before.token, self.token), count, word);
                }
            }
            if let Some(&after) = slots.get(read + 2) {
                queue.subtract((second.token, after.token), count);
                if counts(after) {
                    queue.add((self.token, after.token), count, word);
                }
            }
            slots[written] = merged;
            (read, written) = (read + 2, written + 1);
        }
        written
    }
}
