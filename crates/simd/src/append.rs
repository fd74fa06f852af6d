//! Appends ids to a list several at a time.
//!
//! Each step writes a fixed number of ids, possibly more than it appends; the next step overwrites
//! the surplus. This needs no loop over single ids, whose length a CPU cannot predict.

use std::mem::MaybeUninit;

use super::Simd;
use super::packed::PackedIds;
use tokenlane_memory::Grow;

/// The number of ids that one step writes.
pub const APPEND_WIDTH: usize = 8;

/// The end of a list that ids are appended to. The list gets its new length when this is dropped.
///
/// Invariants: `start` points to the list's allocation of `capacity` numbers, of which the first
/// `len` are initialized. The exclusive borrow of `list` keeps everyone else from using it.
pub struct Appender<'a> {
    list: &'a mut Vec<u32>,
    start: *mut MaybeUninit<u32>,
    capacity: usize,
    len: usize,
    simd: Simd,
}

impl<'a> Appender<'a> {
    /// Reserves capacity for `additional` more ids. A failure unwinds, as in [`Grow::grow`].
    #[inline(always)]
    pub fn new(list: &'a mut Vec<u32>, additional: usize, simd: Simd) -> Self {
        list.grow(additional + APPEND_WIDTH);
        let (start, capacity, len) = (list.as_mut_ptr().cast(), list.capacity(), list.len());
        Self { list, start, capacity, len, simd }
    }

    /// The spare capacity that the next step writes to.
    ///
    /// # Panics
    /// If it is smaller than [`APPEND_WIDTH`].
    #[inline(always)]
    fn spare(&mut self) -> &mut [MaybeUninit<u32>; APPEND_WIDTH] {
        assert!(self.capacity - self.len >= APPEND_WIDTH, "the caller reserved too little capacity");
        // SAFETY: by the invariant and the check above, APPEND_WIDTH numbers of the allocation
        // follow the first `len`. The result borrows `self` exclusively.
        unsafe { &mut *self.start.add(self.len).cast() }
    }

    /// Appends the ids in `packed`. If it holds no ids, appends nothing and returns false.
    ///
    /// # Panics
    /// If the spare capacity is smaller than [`APPEND_WIDTH`].
    #[inline(always)]
    pub fn push_packed(&mut self, packed: &PackedIds) -> bool {
        let count = packed.count();
        if count > PackedIds::CAPACITY {
            return false;
        }
        let simd = self.simd;
        simd.unpack(packed, self.spare());
        // `unpack` has initialized `count` ids, and `spare` has checked that they fit.
        self.len += count;
        true
    }

    /// Lets `write` append up to `max` ids. It gets spare capacity for `max + APPEND_WIDTH` ids and
    /// returns how many it has written, and a result.
    ///
    /// # Panics
    /// If the spare capacity is smaller.
    ///
    /// # Safety
    /// `write` initializes as many ids as it says, from the start of its argument on.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only the AVX2 kernel calls it"))]
    #[inline(always)]
    pub(super) unsafe fn append_with<R>(
        &mut self,
        max: usize,
        write: impl FnOnce(&mut [MaybeUninit<u32>]) -> (usize, R),
    ) -> R {
        assert!(self.capacity - self.len >= max + APPEND_WIDTH, "the caller reserved too little capacity");
        // SAFETY: by the invariant and the check above, that many numbers of the allocation follow
        // the first `len`. The slice is not used after `write` returns.
        let spare = unsafe { std::slice::from_raw_parts_mut(self.start.add(self.len), max + APPEND_WIDTH) };
        let (written, result) = write(spare);
        self.len += written;
        result
    }

    /// Appends ids.
    ///
    /// # Panics
    /// If the spare capacity is smaller than their number and [`APPEND_WIDTH`] together.
    #[inline]
    pub fn extend_from_slice(&mut self, ids: &[u32]) {
        #[cfg(target_arch = "wasm32")]
        self.extend_in_parts(ids);
        #[cfg(not(target_arch = "wasm32"))]
        for eight in ids.chunks(APPEND_WIDTH) {
            self.spare().iter_mut().zip(eight).for_each(|(to, &id)| _ = to.write(id));
            self.len += eight.len();
        }
    }

    /// In parts of known size: copying a slice is a call, in WebAssembly to another language.
    #[cfg(target_arch = "wasm32")]
    #[inline]
    fn extend_in_parts(&mut self, ids: &[u32]) {
        let (eights, rest) = ids.as_chunks::<APPEND_WIDTH>();
        for eight in eights {
            *self.spare() = eight.map(MaybeUninit::new);
            self.len += APPEND_WIDTH;
        }
        let spare = self.spare();
        let mut at = 0;
        if let Some(four) = rest.first_chunk::<4>() {
            *spare.first_chunk_mut().expect("a part") = four.map(MaybeUninit::new);
            at = 4;
        }
        if let Some(two) = rest[at..].first_chunk::<2>() {
            *spare[at..].first_chunk_mut().expect("a part") = two.map(MaybeUninit::new);
            at += 2;
        }
        if let Some(&last) = rest.get(at) {
            spare[at].write(last);
        }
        self.len += rest.len();
    }
}

impl Drop for Appender<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: by the invariant the first `len` numbers are initialized and within the capacity.
        unsafe { self.list.set_len(self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

        #[test]
        fn every_level_appends_the_same(
            before in prop::collection::vec(any::<u32>(), 0..5),
            words in prop::collection::vec(prop::collection::vec(prop_oneof![4 => 0u32..1 << 16, 1 => 0u32..1 << 24], 0..=15), 0..20),
        ) {
            let expected: Vec<u32> = before.iter().chain(words.iter().flatten()).copied().collect();
            for simd in Simd::all() {
                let mut list = before.clone();
                let mut end = Appender::new(&mut list, 20 * 15, simd);
                for word in &words {
                    match PackedIds::new(word.iter().copied()) {
                        Some(packed) => prop_assert!(end.push_packed(&packed)),
                        None => end.extend_from_slice(word),
                    }
                }
                drop(end);
                prop_assert_eq!(&list, &expected, "{:?}", simd);
            }
        }

        #[test]
        fn every_level_unpacks_bit_by_bit(value: u128, narrow: bool) {
            let (mut packed, bits) = (PackedIds::from_number(value), if narrow { 16 } else { 24 });
            packed.set_flags(PackedIds::NARROW, narrow);
            packed.set_flags(PackedIds::COUNT_MASK, false);
            packed.set_flags(120 / bits, true);
            for simd in Simd::all() {
                let mut room = [MaybeUninit::new(7); APPEND_WIDTH];
                simd.unpack(&packed, &mut room);
                for (at, number) in room.into_iter().take(packed.count()).enumerate() {
                    // SAFETY: all elements were initialized above.
                    let number = unsafe { number.assume_init() };
                    let expected = (value >> (bits as usize * at)) as u32 & ((1 << bits) - 1);
                    prop_assert_eq!(number, expected, "{:?}", simd);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "the caller reserved too little capacity")]
    fn missing_capacity_panics() {
        let mut list = Vec::new();
        let mut end = Appender::new(&mut list, 0, Simd::best());
        let capacity = end.capacity;
        let one = PackedIds::new([1].into_iter()).expect("a small id");
        (0..=capacity).for_each(|_| assert!(end.push_packed(&one)));
    }
}
