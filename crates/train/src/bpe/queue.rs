//! The queue of pairs: their counts, and where they are.
//!
//! While a pair is merged, what changes beside it is collected by the neighbor, in tables by token;
//! so a pair is looked up once for each merge beside it, not once for each occurrence.
//!
//! Most pairs are rare and are never merged. Only entries whose keys reach a threshold are in the
//! heap. When it is empty, the threshold falls to half of the largest key of the others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashTable};

use super::Pair;
use super::words::{PREFETCHED, Words};
use crate::TrainError;
use crate::progress::Meter;

/// The key of an entry, its pair and its index: the largest key comes first, of equal keys the pair
/// with the smallest ids, of equal pairs the older entry.
type Queued = (u64, Reverse<Pair>, Reverse<u32>);

/// Where a pair is: the first slot of the left token.
type Occurrence = u32;

const NONE: u32 = u32::MAX;

/// A pair with occurrences where it formed in one merge.
///
/// Its key is the count of the pair when the entry formed, or when it was at the top of the heap.
#[derive(Debug, Clone, Copy)]
struct Entry {
    pair: Pair,
    /// The count of the pair, if this is its last entry.
    count: i64,
    /// The occurrences, none once it is merged.
    list: List,
    /// The key, if it is below the threshold; `NONE` if the entry is in the heap, merged or hidden.
    key: u32,
}

/// Occurrences in rising order: `len` ones from `start` in a block.
#[derive(Debug, Clone, Copy, Default)]
struct List {
    block: u32,
    start: u32,
    len: u32,
}

impl List {
    fn range(self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

/// The occurrences of all entries, in the order of the entries.
#[derive(Default)]
struct Lists {
    blocks: Vec<Vec<Occurrence>>,
}

/// Number of occurrences of a block, unless one list has more.
const BLOCK: usize = if cfg!(test) { 8 } else { 1 << 20 };

impl Lists {
    /// An empty list with capacity for `len` occurrences. Unused capacity takes no memory.
    fn new_list(&mut self, len: usize) -> List {
        if self.blocks.last().is_none_or(|block| block.capacity() - block.len() < len) {
            self.blocks.push(Vec::with_capacity(len.max(BLOCK)));
        }
        let block = self.blocks.len() - 1;
        List { block: block as u32, start: self.blocks[block].len() as u32, len: 0 }
    }

    /// An empty list before `len` occurrences that [`Self::push`] writes.
    fn reserved(&mut self, len: usize) -> List {
        let list = self.new_list(len);
        let block = &mut self.blocks[list.block as usize];
        block.resize(block.len() + len, 0);
        list
    }

    fn push(&mut self, list: &mut List, occurrence: Occurrence) {
        self.blocks[list.block as usize][(list.start + list.len) as usize] = occurrence;
        list.len += 1;
    }

    fn get(&self, list: List) -> &[Occurrence] {
        self.blocks.get(list.block as usize).map_or(&[], |block| &block[list.range()])
    }

    fn len(&self) -> usize {
        self.blocks.iter().map(Vec::len).sum()
    }
}

/// The pairs of the first tokens are looked up in a table if these are fewer.
const MAX_DENSE: usize = 1 << 11;

/// The entries of all pairs that were ever seen, in the order in which they formed.
struct Entries {
    list: Vec<Entry>,
    /// By the left and the right one of the first tokens: one more than the index of the last
    /// entry, or 0.
    dense: Vec<u32>,
    first_tokens: u32,
    /// The same of other pairs.
    others: HashTable<u32>,
    hasher: RandomState,
    /// The index of the entry before, of entries of pairs that formed before.
    earlier: HashMap<u32, u32, RandomState>,
}

impl Entries {
    /// One more than the index of the last entry of a pair. If it is 0, there is none, and the
    /// caller has to set it.
    fn end(&mut self, pair: Pair) -> &mut u32 {
        let Self { list, dense, first_tokens, others, hasher, .. } = self;
        if pair.0 < *first_tokens && pair.1 < *first_tokens {
            return &mut dense[(pair.0 * *first_tokens + pair.1) as usize];
        }
        let pair_of = |&end: &u32| list[end as usize - 1].pair;
        let hash = |pair: Pair| hasher.hash_one(pair);
        others.entry(hash(pair), |end| pair_of(end) == pair, |end| hash(pair_of(end))).or_insert(0).into_mut()
    }

    /// The index of the last entry of a pair. The first one is appended, without occurrences.
    fn last(&mut self, pair: Pair) -> usize {
        let new = self.list.len();
        let end = self.end(pair);
        if *end == 0 {
            *end = new as u32 + 1;
            self.list.push(Entry { pair, count: 0, list: List::default(), key: NONE });
            return new;
        }
        *end as usize - 1
    }

    /// Appends an entry of a pair that formed again, or for the first time.
    fn push(&mut self, pair: Pair, count: i64, list: List) {
        let new = self.list.len() as u32;
        let earlier = std::mem::replace(self.end(pair), new + 1);
        let mut before = 0;
        if earlier > 0 {
            before = self.list[earlier as usize - 1].count;
            self.earlier.insert(new, earlier - 1);
        }
        self.list.push(Entry { pair, count: before.wrapping_add(count), list, key: NONE });
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
    entries: Entries,
    lists: Lists,
    /// About the number of occurrences of pairs that are not there any more.
    dead: usize,
    /// Occurrences of pairs that are not counted or not queued.
    hidden: HashMap<Pair, Vec<Occurrence>, RandomState>,
    heap: BinaryHeap<Queued>,
    /// The smallest key in the heap; keys below it have 32 bits.
    threshold: u64,
    /// The token that is being made.
    token: u32,
    /// The neighbors of the new token on its left and on its right.
    formed: [Neighbors; 2],
    /// Those of the pair.
    lost: [Neighbors; 2],
    /// For each pair that formed: the side, the index of the neighbor, and the occurrence.
    forming: Vec<(bool, u32, Occurrence)>,
}

/// Dead occurrences are left out once they are one in this many of what that visits.
const MAX_DEAD: usize = 3;
/// Dead occurrences that are worth leaving out.
const MIN_DEAD: usize = if cfg!(test) { 8 } else { 1 << 20 };
/// One entry for this many characters has memory from the start.
const CHARACTERS_PER_ENTRY: usize = 8;

impl Queue {
    /// A queue of words of the first tokens.
    pub fn new(tokens: usize, words: &Words) -> Self {
        let first_tokens = if tokens < MAX_DENSE { tokens as u32 } else { 0 };
        Self {
            entries: Entries {
                // Capacity that is not used takes no memory, and a copy to a larger block would
                // take both.
                list: Vec::with_capacity(words.len() / CHARACTERS_PER_ENTRY),
                dense: vec![0; first_tokens as usize * first_tokens as usize],
                first_tokens,
                others: HashTable::new(),
                hasher: RandomState::default(),
                earlier: HashMap::default(),
            },
            lists: Lists::default(),
            dead: 0,
            hidden: HashMap::default(),
            heap: BinaryHeap::new(),
            threshold: u64::from(NONE),
            token: 0,
            formed: Default::default(),
            lost: Default::default(),
            forming: Vec::new(),
        }
    }

    /// Counts a pair of the words before the first merge.
    pub fn count_first(&mut self, pair: Pair, count: i64) {
        let last = self.entries.last(pair);
        let entry = &mut self.entries.list[last];
        entry.count = entry.count.wrapping_add(count);
        entry.list.len += 1;
    }

    /// All pairs are counted; now the same ones come with their occurrences.
    pub fn begin_occurrences(&mut self) {
        for entry in &mut self.entries.list {
            entry.list = self.lists.reserved(entry.list.len as usize);
        }
    }

    /// Notes the occurrence of a pair of the words before the first merge.
    pub fn add_first(&mut self, pair: Pair, occurrence: Occurrence) {
        let last = self.entries.last(pair);
        self.lists.push(&mut self.entries.list[last].list, occurrence);
    }

    /// Queues the first pairs.
    pub fn begin(&mut self) {
        (0..self.entries.list.len()).for_each(|index| self.queue_or_hide(index));
    }

    /// Queues a new entry. If its count is not positive, the occurrences are hidden.
    fn queue_or_hide(&mut self, index: usize) {
        let entry = &mut self.entries.list[index];
        let Entry { pair, count, list, .. } = *entry;
        if count <= 0 {
            entry.list.len = 0;
            self.dead += list.len as usize;
            self.hidden.entry(pair).or_default().extend(self.lists.get(list));
        } else if (count as u64) < self.threshold {
            entry.key = count as u32;
        } else {
            self.heap.push((count as u64, Reverse(pair), Reverse(index as u32)));
        }
    }

    /// Lowers the threshold of the empty heap. Returns false if there are no entries for it.
    fn lower_threshold(&mut self) -> bool {
        let keys = self.entries.list.iter().map(|entry| entry.key).filter(|&key| key != NONE);
        let Some(largest) = keys.max() else { return false };
        self.threshold = u64::from(largest / 2);
        let reaching = self.entries.list.iter_mut().zip(0..).filter_map(|(entry, index)| {
            let key = u64::from(entry.key);
            let reaches = entry.key != NONE && key >= self.threshold;
            reaches.then(|| {
                entry.key = NONE;
                (key, Reverse(entry.pair), Reverse(index))
            })
        });
        self.heap.extend(reaching);
        true
    }

    /// Takes the most frequent pair with its count, once that is up to date, and writes its
    /// occurrences.
    pub fn pop(&mut self, words: &Words, occurrences: &mut Vec<Occurrence>) -> Option<(Pair, u64)> {
        loop {
            let Some(mut top) = self.heap.peek_mut() else {
                if self.lower_threshold() {
                    continue;
                }
                return None;
            };
            let (key, Reverse(pair), Reverse(index)) = *top;
            let last = self.entries.last(pair);
            // A negative count is the largest one.
            let count = self.entries.list[last].count as u64;
            if count == key {
                PeekMut::pop(top);
                self.take_occurrences(words, index as usize, last, occurrences);
                return Some((pair, count));
            }
            if count < self.threshold {
                PeekMut::pop(top);
                self.entries.list[index as usize].key = count as u32;
            } else {
                top.0 = count;
            }
        }
    }

    fn occurrences_of(&self, index: usize) -> &[Occurrence] {
        self.lists.get(self.entries.list[index].list)
    }

    /// The occurrences of an entry, and all other occurrences of its pair in the same words.
    fn take_occurrences(&mut self, words: &Words, index: usize, last: usize, occurrences: &mut Vec<Occurrence>) {
        occurrences.clear();
        occurrences.extend_from_slice(self.occurrences_of(index));
        let entry = &mut self.entries.list[index];
        entry.list.len = 0;
        let pair = entry.pair;
        self.dead += occurrences.len();
        let earlier = |index: usize| self.entries.earlier.get(&(index as u32)).map(|&earlier| earlier as usize);
        if earlier(last).is_none() && !self.hidden.contains_key(&pair) {
            return;
        }
        let mut taken: Vec<u32> = occurrences.iter().map(|&at| words.word(at)).collect();
        taken.dedup();
        let in_words = |at: Occurrence| taken.binary_search(&words.word(at)).is_ok();
        for other in std::iter::successors(Some(last), |&index| earlier(index)) {
            occurrences.extend(self.occurrences_of(other).iter().filter(|&&at| in_words(at)));
        }
        if let Some(hidden) = self.hidden.get_mut(&pair) {
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
        self.hidden.entry(pair).or_default().push(occurrence);
    }

    /// Queues the pairs that formed, after all occurrences of `pair` became `token`.
    ///
    /// # Errors
    ///
    /// [`TrainError::Stopped`].
    pub fn end_merge(
        &mut self,
        words: &Words,
        pair: Pair,
        token: u32,
        meter: &mut Meter<'_>,
    ) -> Result<(), TrainError> {
        let Self { entries, lists, formed, lost, .. } = self;
        for (side, neighbors) in lost.iter_mut().enumerate() {
            for &(neighbor, count, len) in &neighbors.met {
                let last = entries.last(if side == 0 { (neighbor, pair.0) } else { (pair.1, neighbor) });
                let entry = &mut entries.list[last];
                entry.count = entry.count.wrapping_sub(count);
                self.dead += len as usize;
            }
            neighbors.clear();
        }
        let first = entries.list.len();
        let first_right = first + formed[0].met.len();
        for (side, neighbors) in formed.iter_mut().enumerate() {
            for &(neighbor, count, len) in &neighbors.met {
                let list = lists.reserved(len as usize);
                entries.push(if side == 0 { (neighbor, token) } else { (token, neighbor) }, count, list);
            }
            neighbors.clear();
        }
        for (is_right, index, occurrence) in self.forming.drain(..) {
            let entry = &mut entries.list[index as usize + if is_right { first_right } else { first }];
            lists.push(&mut entry.list, occurrence);
        }
        (first..self.entries.list.len()).for_each(|index| self.queue_or_hide(index));
        let visited = self.entries.list.len() + self.lists.len();
        if self.dead > MIN_DEAD && self.dead > visited / MAX_DEAD {
            self.compact(words, meter)?;
        }
        Ok(())
    }

    /// Leaves out occurrences of merged entries, and those that are lost for good.
    fn compact(&mut self, words: &Words, meter: &mut Meter<'_>) -> Result<(), TrainError> {
        let mut old = std::mem::take(&mut self.lists).blocks;
        let mut freed = 0;
        for Entry { pair, list, .. } in &mut self.entries.list {
            if list.len == 0 {
                *list = List::default();
                continue;
            }
            meter.work(list.len as usize)?;
            let block = list.block as usize;
            old[freed..block].fill_with(Vec::new);
            freed = block;
            let mut kept = self.lists.new_list(list.len as usize);
            let new = &mut self.lists.blocks[kept.block as usize];
            for index in list.range() {
                if let Some(&later) = old[block].get(index + PREFETCHED) {
                    words.prefetch_token(later);
                }
                let occurrence = old[block][index];
                if !words.is_lost(occurrence, *pair) {
                    new.push(occurrence);
                }
            }
            kept.len = new.len() as u32 - kept.start;
            *list = kept;
        }
        self.dead = 0;
        Ok(())
    }
}
