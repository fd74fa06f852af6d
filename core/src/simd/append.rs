//! Numbers appended to a list several at a time, more than are wanted: the next ones go over what was too much.

use std::mem::MaybeUninit;

use super::Simd;
use super::packed::PackedIds;
use crate::memory::Grow;

/// So many are written at a time.
pub(crate) const APPEND_WIDTH: usize = 8;

/// The end of a list. The list is as long as it was until this is dropped.
///
/// Invariants: `start` is where the list's memory starts, with room for `capacity` numbers, of which the first `len` are
/// written; nothing else looks at the list as long as it is borrowed.
pub(crate) struct Appender<'a> {
    list: &'a mut Vec<u32>,
    start: *mut MaybeUninit<u32>,
    capacity: usize,
    len: usize,
    simd: Simd,
}

impl<'a> Appender<'a> {
    /// With room for so many numbers more. A failure unwinds, as in [`Grow::grow`].
    #[inline(always)]
    pub(crate) fn new(list: &'a mut Vec<u32>, capacity: usize, simd: Simd) -> Self {
        list.grow(capacity + APPEND_WIDTH);
        let (start, capacity, len) = (list.as_mut_ptr().cast(), list.capacity(), list.len());
        Self { list, start, capacity, len, simd }
    }

    /// Room for [`APPEND_WIDTH`] numbers behind the last one.
    ///
    /// # Panics
    /// If there is less.
    #[inline(always)]
    fn spare(&mut self) -> &mut [MaybeUninit<u32>; APPEND_WIDTH] {
        assert!(self.capacity - self.len >= APPEND_WIDTH, "whoever appends made room");
        // SAFETY: there is so much room behind the first `len`, and it is borrowed as this is.
        unsafe { &mut *self.start.add(self.len).cast() }
    }

    /// Appends the numbers in `packed`. If something else stands there, nothing is appended and the answer is no.
    ///
    /// # Panics
    /// If there is no room for [`APPEND_WIDTH`] numbers.
    #[inline(always)]
    pub(crate) fn push_packed(&mut self, packed: &PackedIds) -> bool {
        let count = packed.count();
        if count > PackedIds::CAPACITY {
            return false;
        }
        let simd = self.simd;
        simd.unpack(packed, self.spare());
        // So many are written, and `room` has shown that they fit.
        self.len += count;
        true
    }

    /// Appends what `write` writes to the room it is given, for `most` numbers and [`APPEND_WIDTH`] more. It tells how many that are, from the first
    /// place on.
    ///
    /// # Panics
    /// If there is less room.
    ///
    /// # Safety
    /// So many have to be written.
    #[inline(always)]
    pub(crate) unsafe fn write<R>(
        &mut self,
        most: usize,
        write: impl FnOnce(&mut [MaybeUninit<u32>]) -> (usize, R),
    ) -> R {
        assert!(self.capacity - self.len >= most + APPEND_WIDTH, "whoever appends made room");
        // SAFETY: there is so much room behind the first `len`, and it is borrowed as this is.
        let room = unsafe { std::slice::from_raw_parts_mut(self.start.add(self.len), most + APPEND_WIDTH) };
        let (written, result) = write(room);
        self.len += written;
        result
    }

    /// Appends numbers.
    ///
    /// # Panics
    /// If there is no room for them and [`APPEND_WIDTH`] more.
    #[inline]
    pub(crate) fn extend_from_slice(&mut self, numbers: &[u32]) {
        for eight in numbers.chunks(APPEND_WIDTH) {
            self.spare().iter_mut().zip(eight).for_each(|(place, &number)| _ = place.write(number));
            self.len += eight.len();
        }
    }
}

impl Drop for Appender<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the invariant.
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
        fn every_way_appends_the_same(
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
        fn every_way_unpacks_bit_by_bit(bytes in any::<[u8; 16]>(), narrow: bool) {
            let (mut packed, bits) = (PackedIds::from_bytes(bytes), if narrow { 16 } else { 24 });
            packed.set_flags(PackedIds::NARROW, narrow);
            packed.set_flags(PackedIds::COUNT_MASK, false);
            packed.set_flags(120 / bits, true);
            for simd in Simd::all() {
                let mut room = [MaybeUninit::new(7); APPEND_WIDTH];
                simd.unpack(&packed, &mut room);
                for (at, number) in room.into_iter().take(packed.count()).enumerate() {
                    // SAFETY: all of it was written before.
                    let number = unsafe { number.assume_init() };
                    let expected = (u128::from_le_bytes(bytes) >> (bits as usize * at)) as u32 & ((1 << bits) - 1);
                    prop_assert_eq!(number, expected, "{:?}", simd);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "whoever appends made room")]
    fn there_has_to_be_room() {
        let mut list = Vec::new();
        let mut end = Appender::new(&mut list, 0, Simd::best());
        let room = end.capacity;
        let one = PackedIds::new([1].into_iter()).expect("a small number");
        (0..=room).for_each(|_| assert!(end.push_packed(&one)));
    }
}
