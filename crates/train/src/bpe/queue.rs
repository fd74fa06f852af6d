//! The queue of pairs: their counts, and where they are.
//!
//! The occurrences of all entries lie one behind the other in the order of the entries. While a
//! pair is merged, what changes beside it is collected by the neighbor, in tables by token; so a
//! pair is looked up once for each merge beside it, not once for each occurrence.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::Pair;
use super::words::Words;

/// A pair in the queue: the most frequent one is the largest, of equally frequent ones the one with
/// the smallest ids, of equal pairs the older one.
type Queued = (u64, Reverse<Pair>, Reverse<u32>);

/// Where a pair is: the first slot of the left token.
type Occurrence = u32;

const NONE: u32 = u32::MAX;

/// What is known of a pair that was ever seen.
#[derive(Debug, Clone, Copy)]
struct Counted {
    count: i64,
    /// The last entry; `NONE` if there is none.
    last: u32,
}

/// A pair with occurrences where it formed in one merge.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The number of the pair.
    number: u32,
    /// How many occurrences there are; none once it is merged.
    len: u32,
    start: usize,
}

/// The pairs of the first tokens get their numbers from a table if these are fewer.
const MAX_DENSE: usize = 1 << 11;

/// Numbers of pairs.
struct Numbers {
    /// By the left and the right one of the first tokens: one more than the number.
    dense: Vec<u32>,
    first_tokens: u32,
    others: HashMap<Pair, u32, RandomState>,
    counted: Vec<Counted>,
}

impl Numbers {
    fn of(&mut self, pair: Pair) -> u32 {
        let new = self.counted.len() as u32;
        let number = if pair.0 < self.first_tokens && pair.1 < self.first_tokens {
            let number = &mut self.dense[(pair.0 * self.first_tokens + pair.1) as usize];
            if *number == 0 {
                *number = new + 1;
            }
            *number - 1
        } else {
            *self.others.entry(pair).or_insert(new)
        };
        if number == new {
            self.counted.push(Counted { count: 0, last: NONE });
        }
        number
    }

    fn counted(&mut self, number: u32) -> &mut Counted {
        &mut self.counted[number as usize]
    }
}

/// Sums by token, of those that one merge meets.
#[derive(Default)]
struct Neighbors {
    /// The index in `met` by token.
    index: Vec<u32>,
    /// Tokens with what was added for them, and how often.
    met: Vec<(u32, i64, u32)>,
}

impl Neighbors {
    #[inline]
    fn add(&mut self, token: u32, count: i64) -> u32 {
        let index = &mut self.index[token as usize];
        if *index == NONE {
            *index = self.met.len() as u32;
            self.met.push((token, 0, 0));
        }
        let met = &mut self.met[*index as usize];
        met.1 = met.1.wrapping_add(count);
        met.2 += 1;
        *index
    }

    fn clear(&mut self) {
        for (token, ..) in self.met.drain(..) {
            self.index[token as usize] = NONE;
        }
    }
}

pub(super) struct Queue {
    numbers: Numbers,
    entries: Vec<Entry>,
    /// The occurrences of each entry in rising order.
    occurrences: Vec<Occurrence>,
    /// The number of occurrences of entries that are merged or hidden.
    dead: usize,
    /// Entries of pairs that form again after they were queued.
    others: HashMap<u32, Vec<u32>, RandomState>,
    /// Occurrences of pairs that are not counted or not queued.
    hidden: HashMap<u32, Vec<Occurrence>, RandomState>,
    heap: BinaryHeap<Queued>,
    /// The token that is being made.
    token: u32,
    /// The neighbors of the new token on its left and on its right.
    formed: [Neighbors; 2],
    /// Those of the pair.
    lost: [Neighbors; 2],
    /// For each pair that formed: the side, the index of the neighbor, and the occurrence.
    forming: Vec<(bool, u32, Occurrence)>,
}

/// Occurrences are moved once one in this many belongs to none.
const MAX_DEAD: usize = 4;
/// Occurrences that are worth moving.
const MIN_DEAD: usize = if cfg!(test) { 8 } else { 1 << 20 };

impl Queue {
    /// A queue of words of the first tokens.
    pub fn new(tokens: usize) -> Self {
        let first_tokens = if tokens < MAX_DENSE { tokens as u32 } else { 0 };
        let dense = vec![0; first_tokens as usize * first_tokens as usize];
        let others = HashMap::default();
        Self {
            numbers: Numbers { dense, first_tokens, others, counted: Vec::new() },
            entries: Vec::new(),
            occurrences: Vec::new(),
            dead: 0,
            others: HashMap::default(),
            hidden: HashMap::default(),
            heap: BinaryHeap::new(),
            token: 0,
            formed: Default::default(),
            lost: Default::default(),
            forming: Vec::new(),
        }
    }

    /// Counts a pair of the words before the first merge. Each pair gets an entry.
    pub fn count_first(&mut self, pair: Pair, count: i64) {
        let number = self.numbers.of(pair);
        if number as usize == self.entries.len() {
            self.entries.push(Entry { number, len: 0, start: 0 });
            self.heap.push((0, Reverse(pair), Reverse(number)));
        }
        let counted = self.numbers.counted(number);
        counted.count = counted.count.wrapping_add(count);
        self.entries[number as usize].len += 1;
    }

    /// All pairs are counted; now the same ones come with their occurrences.
    pub fn begin_occurrences(&mut self) {
        let mut start = 0;
        for entry in &mut self.entries {
            entry.start = start;
            start += entry.len as usize;
            entry.len = 0;
        }
        // Pairs that form need more for a while; capacity that is not used takes no memory, and a
        // copy to a larger block would take both.
        self.occurrences.reserve_exact(2 * start);
        self.occurrences.resize(start, 0);
    }

    /// Notes the occurrence of a pair of the words before the first merge.
    pub fn add_first(&mut self, pair: Pair, occurrence: Occurrence) {
        let entry = &mut self.entries[self.numbers.of(pair) as usize];
        self.occurrences[entry.start + entry.len as usize] = occurrence;
        entry.len += 1;
    }

    /// Queues the first pairs.
    pub fn begin(&mut self) {
        let mut queued = std::mem::take(&mut self.heap).into_vec();
        for entry in &mut queued {
            let number = entry.2.0;
            let counted = self.numbers.counted(number);
            counted.last = number;
            // The sum of positive numbers is positive, unless it overflows.
            entry.0 = counted.count as u64;
        }
        queued.retain(|entry| self.queue_or_hide(entry.2.0).is_some());
        self.heap = BinaryHeap::from(queued);
    }

    /// The count of an entry that is to be queued. If it is not positive, the occurrences are
    /// hidden.
    fn queue_or_hide(&mut self, entry: u32) -> Option<u64> {
        let Entry { number, len, start } = self.entries[entry as usize];
        let count = self.numbers.counted(number).count;
        if count <= 0 {
            self.entries[entry as usize].len = 0;
            self.dead += len as usize;
            self.hidden.entry(number).or_default().extend(&self.occurrences[start..start + len as usize]);
        }
        (count > 0).then_some(count as u64)
    }

    /// Takes the most frequent pair with its count, once that is up to date, and writes its
    /// occurrences.
    pub fn pop(&mut self, words: &Words, occurrences: &mut Vec<Occurrence>) -> Option<(Pair, u64)> {
        loop {
            let mut top = self.heap.peek_mut()?;
            let (queued, Reverse(pair), Reverse(entry)) = *top;
            let number = self.entries[entry as usize].number;
            let count = self.numbers.counted[number as usize].count as u64;
            if count == queued {
                PeekMut::pop(top);
                self.take_occurrences(words, entry, occurrences);
                return Some((pair, count));
            }
            top.0 = count;
        }
    }

    fn occurrences_of(&self, entry: u32) -> &[Occurrence] {
        let Entry { len, start, .. } = self.entries[entry as usize];
        &self.occurrences[start..start + len as usize]
    }

    /// The occurrences of an entry, and all other occurrences of its pair in the same words.
    fn take_occurrences(&mut self, words: &Words, entry: u32, occurrences: &mut Vec<Occurrence>) {
        occurrences.clear();
        occurrences.extend_from_slice(self.occurrences_of(entry));
        let entry = &mut self.entries[entry as usize];
        entry.len = 0;
        let number = entry.number;
        self.dead += occurrences.len();
        let others = self.others.get(&number);
        if others.is_none() && !self.hidden.contains_key(&number) {
            return;
        }
        let mut taken: Vec<u32> = occurrences.iter().map(|&at| words.word(at)).collect();
        taken.dedup();
        let in_words = |at: Occurrence| taken.binary_search(&words.word(at)).is_ok();
        let last = self.numbers.counted(number).last;
        for &other in others.into_iter().flatten().chain(Some(&last)) {
            occurrences.extend(self.occurrences_of(other).iter().filter(|&&at| in_words(at)));
        }
        if let Some(hidden) = self.hidden.get_mut(&number) {
            occurrences.extend(hidden.extract_if(.., |&mut at| in_words(at)));
        }
        occurrences.sort_unstable();
        occurrences.dedup();
    }

    /// Starts the merge that makes `token`. `tokens` is the size of the vocabulary then.
    pub fn start_merge(&mut self, token: u32, tokens: usize) {
        self.token = token;
        for neighbors in self.formed.iter_mut().chain(&mut self.lost) {
            neighbors.index.resize(tokens, NONE);
        }
    }

    /// The new token forms a pair with the one on its left. Occurrences come in rising order.
    #[inline]
    pub fn form_left(&mut self, left: u32, count: i64, occurrence: Occurrence) {
        // The pair of the new token with itself is on its right only, so that it has one entry.
        let is_right = left == self.token;
        let index = self.formed[usize::from(is_right)].add(left, count);
        self.forming.push((is_right, index, occurrence));
    }

    /// The new token forms a pair with the one on its right.
    #[inline]
    pub fn form_right(&mut self, right: u32, count: i64, occurrence: Occurrence) {
        let index = self.formed[1].add(right, count);
        self.forming.push((true, index, occurrence));
    }

    /// The merged pair's left token is no longer beside the one on its left.
    #[inline]
    pub fn lose_left(&mut self, left: u32, count: i64) {
        self.lost[0].add(left, count);
    }

    /// The merged pair's right token is no longer beside the one on its right.
    #[inline]
    pub fn lose_right(&mut self, right: u32, count: i64) {
        self.lost[1].add(right, count);
    }

    /// Notes a pair that forms and is not counted.
    pub fn hide(&mut self, pair: Pair, occurrence: Occurrence) {
        let number = self.numbers.of(pair);
        self.hidden.entry(number).or_default().push(occurrence);
    }

    /// Queues the pairs that formed, after all occurrences of `pair` became `token`.
    pub fn end_merge(&mut self, pair: Pair, token: u32) {
        let Self { numbers, entries, occurrences, others, formed, lost, .. } = self;
        for (side, neighbors) in lost.iter_mut().enumerate() {
            for &(neighbor, count, _) in &neighbors.met {
                let number = numbers.of(if side == 0 { (neighbor, pair.0) } else { (pair.1, neighbor) });
                let counted = numbers.counted(number);
                counted.count = counted.count.wrapping_sub(count);
            }
            neighbors.clear();
        }
        let first = entries.len() as u32;
        let mut start = occurrences.len();
        for (side, neighbors) in formed.iter().enumerate() {
            for &(neighbor, count, len) in &neighbors.met {
                let number = numbers.of(if side == 0 { (neighbor, token) } else { (token, neighbor) });
                let counted = numbers.counted(number);
                counted.count = counted.count.wrapping_add(count);
                let earlier = std::mem::replace(&mut counted.last, entries.len() as u32);
                if earlier != NONE {
                    others.entry(number).or_default().push(earlier);
                }
                entries.push(Entry { number, len: 0, start });
                start += len as usize;
            }
        }
        occurrences.resize(start, 0);
        let first_right = first + formed[0].met.len() as u32;
        for (is_right, index, occurrence) in self.forming.drain(..) {
            let entry = &mut entries[(index + if is_right { first_right } else { first }) as usize];
            occurrences[entry.start + entry.len as usize] = occurrence;
            entry.len += 1;
        }
        for side in 0..2 {
            let mut neighbors = std::mem::take(&mut self.formed[side]);
            let first = if side == 0 { first } else { first_right };
            for (&(neighbor, ..), entry) in neighbors.met.iter().zip(first..) {
                let formed = if side == 0 { (neighbor, token) } else { (token, neighbor) };
                if let Some(count) = self.queue_or_hide(entry) {
                    self.heap.push((count, Reverse(formed), Reverse(entry)));
                }
            }
            neighbors.clear();
            self.formed[side] = neighbors;
        }
        if self.dead > MIN_DEAD.max(self.occurrences.len() / MAX_DEAD) {
            self.compact();
        }
    }

    /// Moves the occurrences that are left over those that are not.
    fn compact(&mut self) {
        let mut end = 0;
        for Entry { len, start, .. } in &mut self.entries {
            self.occurrences.copy_within(*start..*start + *len as usize, end);
            *start = end;
            end += *len as usize;
        }
        self.occurrences.truncate(end);
        self.dead = 0;
    }
}
