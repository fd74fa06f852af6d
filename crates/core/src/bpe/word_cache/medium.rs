//! The table of *medium* words, of 16 to 31 bytes. Each word has a cache line of its own, which
//! contains its bytes and its ids, and which a lookup can prefetch.
//!
//! The table doubles when it has evicted too many words, up to a limit, and while the memory that
//! it shares with other tables lasts.

use std::sync::Arc;

use super::WordFlags;
use super::growth::Growth;
use super::growth_memory::GrowthMemory;
use super::spill_ring::SpillRing;
use crate::memory::{Table, Zeroed};
use crate::simd;
use crate::simd::append::Appender;
use crate::simd::packed::PackedIds;
use crate::word_key::{self, LEN_MASKS, MULTIPLIERS, fold};

/// The minimum length of a medium word, in bytes.
const MIN_LEN: usize = 16;
/// The maximum length of a medium word, in bytes.
pub(super) const MAX_LEN: usize = 31;
/// The maximum number of ids of a medium word.
pub(super) const MAX_IDS: usize = MAX_LEN;
/// The initial size of a table, in slots: 512 KiB.
pub(super) const INITIAL_SLOTS: usize = 8 << 10;
/// The maximum size of a table that shares memory for growth, in slots: 4 MiB.
const MAX_SHARED_SLOTS: usize = 64 << 10;
/// Flag in the control byte of a slot's first ids; see [`WordFlags::lengths_vary`].
const LENGTHS_VARY_FLAG: u8 = 0x80;

/// A word's bytes, padded with zeros, and its length in the last byte. Never 0.
#[derive(Debug, Clone, Copy, Default, Eq)]
pub(super) struct MediumKey([u128; 2]);

impl PartialEq for MediumKey {
    /// Compares in registers. The key was just assembled from pieces; a comparison in memory would
    /// have to wait for these stores.
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        (self.0[0] ^ other.0[0]) | (self.0[1] ^ other.0[1]) == 0
    }
}

impl MediumKey {
    /// The key of a word; `None` if the word is not medium.
    #[inline(always)]
    pub(super) fn of(word: &[u8]) -> Option<Self> {
        if !(MIN_LEN..=MAX_LEN).contains(&word.len()) {
            return None;
        }
        let (first, last) = (word.first_chunk()?, word.last_chunk()?);
        // The last sixteen bytes, without those that overlap the first sixteen.
        let further = word.len() - MIN_LEN;
        let rest = u128::from_le_bytes(*last).rotate_left(8 * further as u32) & LEN_MASKS[further];
        Some(Self([u128::from_le_bytes(*first), rest | (word.len() as u128) << 120]))
    }

    /// The word's bytes, padded with zeros, and its length.
    fn bytes(&self) -> ([u8; 32], usize) {
        let mut bytes = [0; 32];
        let (first, rest) = bytes.split_at_mut(MIN_LEN);
        first.copy_from_slice(&self.0[0].to_le_bytes());
        rest.copy_from_slice(&self.0[1].to_le_bytes());
        (bytes, usize::from(bytes[31]))
    }

    #[inline(always)]
    fn hash(&self) -> u64 {
        let [first, rest] = self.0.map(fold);
        word_key::mix((first.wrapping_mul(MULTIPLIERS[2]).rotate_left(32) ^ rest).wrapping_mul(MULTIPLIERS[0]))
    }
}

/// A word and its ids.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct MediumSlot {
    key: MediumKey,
    /// The ids in two pieces, or in the first piece their position in the spill ring. The control
    /// byte of the first piece has [`LENGTHS_VARY_FLAG`].
    ids: [PackedIds; 2],
}

const _: () = assert!(size_of::<MediumSlot>() == 64);

// SAFETY: a slot consists of integers and bytes, without padding, so all bits zero is a value. It
// is an empty slot.
#[allow(unsafe_code, reason = "the trait is unsafe to implement")]
unsafe impl Zeroed for MediumSlot {}

impl MediumSlot {
    /// A slot for a word. Ids that do not fit are spilled to the ring. Returns `None` if the word
    /// is not medium, or has too many ids for the ring.
    pub(super) fn new(
        word: &[u8],
        ids: impl ExactSizeIterator<Item = u32> + Clone,
        lengths_vary: bool,
        ring: &mut SpillRing,
    ) -> Option<Self> {
        let key = MediumKey::of(word)?;
        if ids.len() > MAX_IDS {
            return None;
        }
        let mut ids = match pack_in_two(ids.clone()) {
            Some(both) => both,
            None => [ring.spill_ids(ids)?, PackedIds::default()],
        };
        ids[0].set_flags(LENGTHS_VARY_FLAG, lengths_vary);
        Some(Self { key, ids })
    }

    fn is_empty(&self) -> bool {
        self.key == MediumKey::default()
    }

    fn lengths_vary(&self) -> bool {
        self.ids[0].control() & LENGTHS_VARY_FLAG != 0
    }

    /// The word and its ids, unless the ids were overwritten in the ring.
    pub(super) fn unpack(&self, ring: &SpillRing) -> Option<Evicted> {
        let (mut ids, mut count) = ([0; MAX_IDS], 0);
        let mut push = |id: u32| {
            ids[count] = id;
            count += 1;
        };
        if self.ids[0].count() > PackedIds::CAPACITY {
            ring.spilled_ids(&self.ids[0])?.iter().copied().for_each(&mut push);
        } else {
            self.ids.into_iter().flat_map(PackedIds::ids).for_each(&mut push);
        }
        let (bytes, len) = self.key.bytes();
        Some(Evicted { bytes, len, ids, count, lengths_vary: self.lengths_vary() })
    }

    /// Whether the ids exist: they are in the slot, or were not overwritten in the ring.
    fn has_ids(&self, ring: &SpillRing) -> bool {
        self.ids[0].count() <= PackedIds::CAPACITY || ring.spilled_ids(&self.ids[0]).is_some()
    }

    /// Appends the ids, unless they were overwritten in the ring.
    #[inline(always)]
    fn append_ids(&self, ring: &SpillRing, ids: &mut Appender<'_>) -> Option<WordFlags> {
        if ids.push_packed(&self.ids[0]) {
            ids.push_packed(&self.ids[1]);
        } else {
            ids.extend_from_slice(ring.spilled_ids(&self.ids[0])?);
        }
        Some(WordFlags { lengths_vary: self.lengths_vary() })
    }
}

/// Packs ids in two pieces, if they fit: as many as possible in the first.
fn pack_in_two(ids: impl ExactSizeIterator<Item = u32>) -> Option<[PackedIds; 2]> {
    let mut all = [0; 2 * PackedIds::CAPACITY];
    let all = all.get_mut(..ids.len())?;
    all.iter_mut().zip(ids).for_each(|(to, id)| *to = id);
    let (first, rest) = (0..=all.len()).rev().find_map(|count| {
        let (first, rest) = all.split_at(count);
        Some((PackedIds::new(first.iter().copied())?, rest))
    })?;
    Some([first, PackedIds::new(rest.iter().copied())?])
}

/// A word that was evicted, and its ids.
pub(super) struct Evicted {
    bytes: [u8; 32],
    len: usize,
    ids: [u32; MAX_IDS],
    count: usize,
    pub(super) lengths_vary: bool,
}

impl Evicted {
    pub(super) fn word(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(super) fn ids(&self) -> &[u32] {
        &self.ids[..self.count]
    }
}

/// The position at which to look for a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct MediumProbe {
    key: MediumKey,
    /// The first slot of the primary bucket.
    pub(super) bucket: u32,
}

impl MediumProbe {
    /// The probe of a word that is not medium.
    const NONE: Self = Self { key: MediumKey([0; 2]), bucket: u32::MAX };
}

/// The table. See the module documentation. A bucket is two adjacent slots. Each word has a primary
/// and a secondary bucket.
///
/// Invariant: a slot that is in use stays in use until all words are removed. So a word can be in
/// its secondary bucket only if both slots of its primary bucket are in use.
#[derive(Debug)]
pub(super) struct MediumWords {
    slots: Table<MediumSlot>,
    /// The maximum number of slots.
    limit: usize,
    growth: Growth,
}

impl MediumWords {
    /// A table of up to `limit` slots, a power of two or zero.
    pub(super) fn new(limit: usize) -> Self {
        let limit = if limit < 2 { 0 } else { limit };
        Self { slots: Table::zeroed(limit.min(INITIAL_SLOTS)), limit, growth: Growth::default() }
    }

    /// Lets the table grow beyond its limit while the shared memory lasts.
    pub(super) fn share_growth(&mut self, memory: Arc<GrowthMemory>) {
        self.growth = Growth::sharing(memory, self.limit * size_of::<MediumSlot>());
        self.limit = self.limit.max(MAX_SHARED_SLOTS);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.slots.memory_bytes()
    }

    /// The probe of a word. Prefetches both of its buckets.
    #[inline(always)]
    pub(super) fn probe(&self, word: &[u8]) -> MediumProbe {
        let Some(key) = MediumKey::of(word) else { return MediumProbe::NONE };
        let (primary, secondary) = (self.primary_bucket(&key), self.secondary_bucket(&key));
        for slot in [primary, primary + 1, secondary, secondary + 1] {
            simd::prefetch_at(&self.slots, slot);
        }
        MediumProbe { key, bucket: primary as u32 }
    }

    /// Loads the primary buckets of probes where [`Self::probe`] cannot prefetch them.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn touch(&self, probes: &[MediumProbe]) {
        simd::touch(&self.slots, probes, |probe| probe.bucket as usize);
        simd::touch(&self.slots, probes, |probe| (probe.bucket | 1) as usize);
    }

    #[inline(always)]
    fn find(&self, probe: &MediumProbe) -> Option<&MediumSlot> {
        let primary = self.bucket(probe.bucket as usize)?;
        primary.iter().find(|slot| slot.key == probe.key).or_else(|| self.find_secondary(probe, primary))
    }

    #[cold]
    fn find_secondary(&self, probe: &MediumProbe, primary: &[MediumSlot; 2]) -> Option<&MediumSlot> {
        let secondary = if is_full(primary) { self.bucket(self.secondary_bucket(&probe.key))? } else { return None };
        secondary.iter().find(|slot| slot.key == probe.key)
    }

    /// Appends the ids of a word, if it is in the table.
    pub(super) fn append_ids(
        &self,
        probe: &MediumProbe,
        ring: &SpillRing,
        ids: &mut Appender<'_>,
    ) -> Option<WordFlags> {
        self.find(probe)?.append_ids(ring, ids)
    }

    /// Whether a word is medium and not in the table.
    pub(super) fn is_miss(&self, probe: &MediumProbe, ring: &SpillRing) -> bool {
        let can_hit = probe.bucket != MediumProbe::NONE.bucket && !self.slots.is_empty();
        can_hit && !self.find(probe).is_some_and(|slot| slot.has_ids(ring))
    }

    /// Whether a word may have been in the table before and was evicted.
    pub(super) fn may_have_been_evicted(&self, probe: &MediumProbe) -> bool {
        [probe.bucket as usize, self.secondary_bucket(&probe.key)]
            .into_iter()
            .filter_map(|at| self.bucket(at))
            .all(is_full)
    }

    /// Inserts a word that was not found. Returns the word that this evicts, or the word itself if
    /// the table has no slots. `lookups` is the number of lookups in the cache so far.
    pub(super) fn insert(&mut self, slot: MediumSlot, lookups: u64) -> Option<MediumSlot> {
        let evicted = self.put(slot)?;
        if self.growth.is_due_after_eviction(self.slots.len() / 2, lookups) {
            self.grow();
        }
        Some(evicted)
    }

    fn put(&mut self, slot: MediumSlot) -> Option<MediumSlot> {
        if self.slots.is_empty() {
            return Some(slot);
        }
        let [primary, secondary] = [self.primary_bucket(&slot.key), self.secondary_bucket(&slot.key)];
        for at in [primary, secondary] {
            let bucket = &mut self.slots[at..at + 2];
            // The word is in the table if its spilled ids were overwritten. By the invariant, it is
            // not in the secondary bucket if the primary one has an empty slot.
            if let Some(same) = bucket.iter_mut().find(|other| other.key == slot.key) {
                *same = slot;
                return None;
            }
            if bucket[1].is_empty() {
                bucket[1] = std::mem::replace(&mut bucket[0], slot);
                return None;
            }
        }
        let newer = std::mem::replace(&mut self.slots[primary], slot);
        Some(std::mem::replace(&mut self.slots[primary + 1], newer))
    }

    /// Doubles the table, if the limit, the shared memory and the system allow it. The words are
    /// inserted again, so that those in secondary buckets return to primary ones that have room
    /// now.
    #[cold]
    fn grow(&mut self) {
        let slots = 2 * self.slots.len();
        if slots > self.limit || !self.growth.try_take(slots * size_of::<MediumSlot>()) {
            return;
        }
        // If memory is short, the table continues to evict words.
        let Ok(larger) = Table::try_zeroed(slots) else { return };
        let words = std::mem::replace(&mut self.slots, larger);
        // In reverse order, because the first slot of a bucket has the newer word.
        for slot in words.iter().rev().filter(|slot| !slot.is_empty()) {
            self.put(*slot);
        }
    }

    /// Removes all words.
    pub(super) fn clear(&mut self) {
        self.slots.fill(MediumSlot::default());
    }

    /// The two slots from `at` on.
    #[inline(always)]
    fn bucket(&self, at: usize) -> Option<&[MediumSlot; 2]> {
        self.slots.get(at..)?.first_chunk()
    }

    /// The first slot of a key's primary bucket.
    #[inline(always)]
    fn primary_bucket(&self, key: &MediumKey) -> usize {
        (key.hash() >> 32) as usize & self.slots.len().wrapping_sub(1) & !1
    }

    /// The first slot of a key's secondary bucket.
    fn secondary_bucket(&self, key: &MediumKey) -> usize {
        (key.hash() >> 48) as usize & self.slots.len().wrapping_sub(1) & !1
    }
}

fn is_full(bucket: &[MediumSlot; 2]) -> bool {
    !bucket[1].is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Simd;

    fn find(words: &MediumWords, word: &[u8]) -> Option<(Vec<u32>, bool)> {
        find_with(words, &SpillRing::new(0), word)
    }

    fn find_with(words: &MediumWords, ring: &SpillRing, word: &[u8]) -> Option<(Vec<u32>, bool)> {
        let mut ids = vec![9];
        let flags = words.append_ids(&words.probe(word), ring, &mut Appender::new(&mut ids, MAX_IDS, Simd::best()));
        assert_eq!((ids[0], ids.len() > 1), (9, flags.is_some()));
        flags.map(|flags| (ids[1..].to_vec(), flags.lengths_vary))
    }

    fn slot(word: &[u8], ids: &[u32]) -> Option<MediumSlot> {
        slot_with(&mut SpillRing::new(0), word, ids)
    }

    fn slot_with(ring: &mut SpillRing, word: &[u8], ids: &[u32]) -> Option<MediumSlot> {
        MediumSlot::new(word, ids.iter().copied(), ids.len() == 3, ring)
    }

    #[test]
    fn words_of_each_length_have_distinct_keys() {
        let text: Vec<u8> = (1..=60).collect();
        for len in 0..60 {
            let key = MediumKey::of(&text[7..][..len.min(53)]);
            assert_eq!(key.is_some(), (16..=31).contains(&len), "{len}");
            if let Some(key) = key {
                let (bytes, len_in_key) = key.bytes();
                assert_eq!((&bytes[..len_in_key], len_in_key), (&text[7..][..len], len));
                assert!((bytes[len_in_key..31]).iter().all(|&byte| byte == 0));
            }
        }
        assert_ne!(MediumKey::of(&[0; 16]), MediumKey::of(&[0; 17]));
    }

    #[test]
    fn inserted_words_are_found() {
        let (mut words, mut ring) = (MediumWords::new(64), SpillRing::new(1 << 10));
        for (count, largest) in
            (0..=MAX_IDS).flat_map(|count| [8, 16, 24, 32].map(|bits| (count, u32::MAX >> (32 - bits))))
        {
            let word = vec![b'w'; 16 + count % 16];
            let ids: Vec<u32> = (0..count as u32).map(|at| largest - at).collect();
            let slot = slot_with(&mut ring, &word, &ids).expect("they fit");
            words.insert(slot, 0);
            if count > 0 {
                assert_eq!(find_with(&words, &ring, &word), Some((ids.clone(), count == 3)));
            }
            let parts = slot.unpack(&ring).expect("nothing was overwritten");
            assert_eq!((parts.word(), parts.ids(), parts.lengths_vary), (&word[..], &ids[..], count == 3));
            assert_eq!(find_with(&words, &ring, &vec![b'v'; 16 + count % 16]), None);
        }
        assert_eq!(slot_with(&mut ring, &[b'w'; 16], &[1; MAX_IDS + 1]), None);
        // Without a ring: the most ids that fit into the slot.
        assert!(slot(&[b'w'; 16], &[1; 14]).is_some() && slot(&[b'w'; 16], &[1 << 23; 10]).is_some());
        assert_eq!((slot(&[b'w'; 16], &[1; 15]), slot(&[b'w'; 16], &[1 << 23; 11])), (None, None));
        assert_eq!(slot(&[b'w'; 16], &[1 << 24]), None);
        assert_eq!((slot(&[b'w'; 15], &[1]), slot(&[b'w'; 32], &[1])), (None, None));
    }

    #[test]
    fn a_word_whose_ids_are_overwritten_is_a_miss_and_is_stored_once() {
        let (mut words, mut ring) = (MediumWords::new(2), SpillRing::new(256));
        let (word, other) = ([b'w'; 20], [b'v'; 20]);
        let put = |words: &mut MediumWords, ring: &mut SpillRing, ids: &[u32]| {
            words.insert(slot_with(ring, &word, ids).expect("they fit"), 0)
        };
        put(&mut words, &mut ring, &[5; 20]);
        words.insert(slot(&other, &[1]).expect("it fits"), 0);
        assert!(!words.is_miss(&words.probe(&word), &ring));
        (0..12).for_each(|_| _ = ring.write([0; 30].into_iter()));
        assert_eq!(find_with(&words, &ring, &word), None);
        assert!(words.is_miss(&words.probe(&word), &ring));
        assert_eq!(words.slots[1].unpack(&ring).map(|parts| parts.ids().len()), None);
        // The other word of the bucket stays, whichever slot it is in.
        for ids in [[6; 21], [7; 21]] {
            assert_eq!(put(&mut words, &mut ring, &ids), None);
            assert_eq!(find_with(&words, &ring, &word), Some((ids.to_vec(), false)));
            assert_eq!(find_with(&words, &ring, &other), Some((vec![1], false)));
        }
    }

    #[test]
    fn the_two_newest_words_of_a_bucket_stay_and_the_evicted_one_is_returned() {
        let mut words = MediumWords::new(2);
        let texts = [[b'a'; 16], [b'b'; 16], [b'c'; 16]];
        let evicted: Vec<_> = texts.iter().map(|text| words.insert(slot(text, &[1]).expect("it fits"), 0)).collect();
        assert_eq!(evicted, [None, None, slot(&texts[0], &[1])]);
        assert_eq!(texts.map(|text| find(&words, &text).is_some()), [false, true, true]);
    }

    #[test]
    fn a_word_goes_to_its_secondary_bucket_if_the_primary_one_is_full() {
        let mut words = MediumWords::new(64);
        let word = |number: u32| format!("a word of medium length {number:04}").into_bytes();
        let [primary, secondary] = [MediumWords::primary_bucket, MediumWords::secondary_bucket].map(|of| {
            move |words: &MediumWords, number| of(words, &MediumKey::of(&word(number)).expect("its length fits"))
        });
        let both = |number| (primary(&words, number), secondary(&words, number));
        let (at, other) = (0..).map(both).find(|(at, other)| at != other).expect("no end");
        let same: Vec<u32> = (0..9999).filter(|&number| both(number) == (at, other)).collect();
        let put =
            |words: &mut MediumWords, number: u32| words.insert(slot(&word(number), &[number]).expect("it fits"), 0);
        for (before, &number) in same[..4].iter().enumerate() {
            let probe = MediumProbe { key: MediumKey::of(&word(number)).expect("its length fits"), bucket: at as u32 };
            assert_eq!((words.is_miss(&probe, &SpillRing::new(0)), words.may_have_been_evicted(&probe)), (true, false));
            assert_eq!(put(&mut words, number), None);
            for (count, &number) in same[..4].iter().enumerate() {
                assert_eq!(find(&words, &word(number)), (count <= before).then(|| (vec![number], false)));
            }
        }
        // Inserted again, as after its ids were overwritten: it stays in the same slot.
        same[..4].iter().for_each(|&number| assert_eq!(put(&mut words, number), None));
        assert!(words.may_have_been_evicted(&words.probe(&word(same[0]))));
        assert_eq!(put(&mut words, same[4]), slot(&word(same[0]), &[same[0]]), "the older word of the primary bucket");
        let known = same[..5].iter().map(|&number| find(&words, &word(number)).is_some());
        assert_eq!(known.collect::<Vec<_>>(), [false, true, true, true, true]);
        words.clear();
        assert_eq!(same[..5].iter().find(|&&number| find(&words, &word(number)).is_some()), None);
    }

    #[test]
    fn a_word_of_the_same_bucket_that_differs_in_one_byte_is_distinguished() {
        let mut words = MediumWords::new(2);
        for len in MIN_LEN..=MAX_LEN {
            let word = vec![b'w'; len];
            words.insert(slot(&word, &[1]).expect("it fits"), 0);
            assert_eq!(find(&words, &word), Some((vec![1], false)));
            for at in 0..len {
                let mut other = word.clone();
                other[at] = b'v';
                assert_eq!(find(&words, &other), None, "{at} of {len}");
            }
            let (shorter, longer) = (&word[1..], [&word[..], b"w"].concat());
            words.insert(slot(&[b'x'; 16], &[2]).expect("it fits"), 0);
            assert_eq!(find(&words, &longer), None, "{len}");
            assert!(len == MIN_LEN || find(&words, shorter).is_none(), "{len}");
        }
    }

    #[test]
    fn a_table_grows_while_its_memory_lasts_and_keeps_most_words() {
        const SLOTS: u32 = 1 << 10;
        let word = |number: u32| format!("word number {number:08}").into_bytes();
        let slot = |number: u32| slot(&word(number), &[number]).expect("it fits");
        let known = |words: &MediumWords| -> Vec<u32> {
            (0..SLOTS).filter(|&number| find(words, &word(number)) == Some((vec![number], false))).collect()
        };
        let bytes = |slots: u32| slots as usize * size_of::<MediumSlot>();
        let memory = Arc::new(GrowthMemory::new(bytes(5 * SLOTS)));
        let mut words = MediumWords::new(SLOTS as usize);
        words.share_growth(Arc::clone(&memory));
        (0..SLOTS * 3 / 4).for_each(|number| _ = words.put(slot(number)));
        let before = known(&words);
        assert!(before.len() > SLOTS as usize * 2 / 3, "{} of {SLOTS}", before.len());
        words.grow();
        assert_eq!(words.slots.len(), 2 * SLOTS as usize);
        assert!(known(&words).len() * 100 > before.len() * 99, "{} of {}", known(&words).len(), before.len());
        let in_use = |slots: &[MediumSlot]| slots.iter().filter(|slot| !slot.is_empty()).count();
        assert_eq!(in_use(&words.slots), known(&words).len(), "each word is in the table once");
        // The next size is within the shared memory, the one after it is not.
        (0..40 * SLOTS).for_each(|number| _ = words.insert(slot(number), 0));
        assert_eq!(words.slots.len(), 4 * SLOTS as usize);
        drop(words);
        assert!(memory.try_take(bytes(5 * SLOTS)), "it is released");
        // Rare evictions do not justify growth.
        let mut words = MediumWords::new(SLOTS as usize);
        words.share_growth(Arc::default());
        (0..40 * SLOTS).for_each(|number| _ = words.insert(slot(number), 4096 * u64::from(number)));
        assert_eq!(words.slots.len(), SLOTS as usize);
    }

    #[test]
    fn a_table_without_slots_keeps_nothing() {
        let mut words = MediumWords::new(1);
        let only = slot(&[b'a'; 20], &[1]).expect("it fits");
        assert_eq!(words.insert(only, 0), Some(only));
        assert_eq!((find(&words, &[b'a'; 20]), words.memory_bytes()), (None, 0));
    }
}
