//! A table of words with their counts.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use tokenlane_core::byte_character;

/// Words with their counts. Records lie one behind the other: the count, the length, the bytes.
#[derive(Debug, Default)]
pub(super) struct Table {
    records: Vec<u8>,
    /// Where records start, and as many bits of the hash as are left.
    slots: HashTable<u64>,
    /// Its seed is random, so that no text can be made of colliding words.
    hasher: RandomState,
}

const COUNT: usize = size_of::<u64>();
const HEADER: usize = COUNT + size_of::<u32>();
/// Bits of the hash in a slot.
const TAG_BITS: u32 = 24;
const TAG: u64 = (1 << TAG_BITS) - 1;

fn word_at(records: &[u8], start: usize) -> &[u8] {
    let header = &records[start..start + HEADER];
    let len = u32::from_le_bytes(header[COUNT..].try_into().expect("four bytes")) as usize;
    &records[start + HEADER..start + HEADER + len]
}

fn count_at(records: &[u8], start: usize) -> u64 {
    u64::from_le_bytes(records[start..start + COUNT].try_into().expect("eight bytes"))
}

impl Table {
    /// Adds to the count of a word. Returns whether the word is new.
    #[inline]
    pub fn add(&mut self, word: &str, count: u64) -> bool {
        let Self { records, slots, hasher } = self;
        let hash = hasher.hash_one(word.as_bytes());
        let same =
            |slot: &u64| (slot ^ hash) & TAG == 0 && word_at(records, (slot >> TAG_BITS) as usize) == word.as_bytes();
        if let Some(slot) = slots.find(hash, same) {
            let start = (slot >> TAG_BITS) as usize;
            let sum = count_at(records, start).saturating_add(count);
            records[start..start + COUNT].copy_from_slice(&sum.to_le_bytes());
            return false;
        }
        let start = records.len();
        records.extend_from_slice(&count.to_le_bytes());
        records.extend_from_slice(&(word.len() as u32).to_le_bytes());
        records.extend_from_slice(word.as_bytes());
        let slot = (start as u64) << TAG_BITS | hash & TAG;
        slots.insert_unique(hash, slot, |slot| hasher.hash_one(word_at(records, (slot >> TAG_BITS) as usize)));
        true
    }

    /// The bytes of memory that the table takes while it is sorted, when it takes the most.
    pub fn memory(&self) -> usize {
        let slot = size_of::<u64>() + 1;
        self.records.capacity() + self.slots.capacity() * slot + self.slots.len() * size_of::<Key>()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Calls `visit` with all words, in any order.
    pub fn each(&self, mut visit: impl FnMut(&str, u64)) {
        let mut start = 0;
        while start < self.records.len() {
            let word = word_at(&self.records, start);
            visit(str::from_utf8(word).expect("words are text"), count_at(&self.records, start));
            start += HEADER + word.len();
        }
    }

    /// Sorts the words by the bytes of their written form: that of ByteLevel, if they are `bytes`.
    pub fn sort(self, bytes: bool) -> SortedTable {
        let Self { records, slots, .. } = self;
        let written: [char; 256] =
            std::array::from_fn(|byte| if bytes { byte_character(byte as u8) } else { char::from(byte as u8) });
        // The order of characters is that of their UTF-8.
        let mut ranks = [0_u8; 256];
        let mut in_order: Vec<u8> = (0..=255).collect();
        in_order.sort_unstable_by_key(|&byte| written[usize::from(byte)]);
        (0..=255).zip(in_order).for_each(|(rank, byte)| ranks[usize::from(byte)] = rank);
        let mut keys: Vec<Key> = Vec::with_capacity(slots.len());
        keys.extend(slots.into_iter().map(|slot| {
            let start = (slot >> TAG_BITS) as usize;
            let first = word_at(&records, start).iter().take(8);
            // A missing byte is like the lowest one: words with equal keys are compared in full.
            (
                first.zip(0..).fold(0, |key, (&byte, at)| key | u64::from(ranks[usize::from(byte)]) << (56 - 8 * at)),
                start as u64,
            )
        }));
        keys.sort_unstable_by(|left, right| {
            let ranks_of = |key: &Key| word_at(&records, key.1 as usize).iter().map(|&byte| ranks[usize::from(byte)]);
            left.0.cmp(&right.0).then_with(|| ranks_of(left).cmp(ranks_of(right)))
        });
        SortedTable { records, keys, next: 0, bytes }
    }
}

/// The ranks of the first eight bytes of a word, the first one in the highest bits; where its
/// record starts.
type Key = (u64, u64);

/// The words of a table in order.
#[derive(Debug)]
pub(super) struct SortedTable {
    records: Vec<u8>,
    keys: Vec<Key>,
    next: usize,
    bytes: bool,
}

impl SortedTable {
    /// Writes the next word to `word` and returns its count.
    pub fn next(&mut self, word: &mut String) -> Option<u64> {
        let start = self.keys.get(self.next)?.1 as usize;
        self.next += 1;
        let bytes = word_at(&self.records, start);
        word.clear();
        if self.bytes {
            word.extend(bytes.iter().map(|&byte| byte_character(byte)));
        } else {
            word.push_str(str::from_utf8(bytes).expect("words are text"));
        }
        Some(count_at(&self.records, start))
    }

    /// The number of words that are left.
    pub fn left(&self) -> usize {
        self.keys.len() - self.next
    }
}
