//! The spellings of all tokens, sorted, to list the tokens that a text starts with.
//!
//! All spellings that are a prefix of a text are prefixes of each other, and the longest of them is
//! the last spelling that is not greater than the text, or a prefix of that one. So one binary
//! search and a list of the longest prefix of each spelling yield them all.

use std::cmp::Ordering;

/// Sorted byte strings without duplicates.
#[derive(Debug)]
pub(super) struct Spellings {
    bytes: Box<[u8]>,
    /// The start of each spelling in `bytes`, and the end of the last one.
    starts: Box<[u32]>,
    /// The longest other spelling that is a prefix of each one, or [`NONE`].
    prefixes: Box<[u32]>,
    /// The first spelling that starts with each pair of bytes or with a greater one.
    by_pair: Box<[u32]>,
}

const NONE: u32 = u32::MAX;
const PAIRS: usize = 1 << 16;

/// The first eight bytes as a number with the same order.
fn key(spelling: &[u8]) -> u64 {
    let mut key = [0; 8];
    let length = spelling.len().min(8);
    key[..length].copy_from_slice(&spelling[..length]);
    u64::from_be_bytes(key)
}

impl Spellings {
    /// Sorts spellings, which are given one after the other with their ends. Returns `None` if they
    /// are too long altogether.
    pub(super) fn new(bytes: &[u8], ends: &[u32]) -> Option<Self> {
        u32::try_from(bytes.len()).ok()?;
        let starts = std::iter::once(&0).chain(ends);
        let all = starts.zip(ends).map(|(&start, &end)| &bytes[start as usize..end as usize]);
        let mut sorted: Vec<(u64, &[u8])> = all.map(|spelling| (key(spelling), spelling)).collect();
        sorted.sort_unstable();
        sorted.dedup_by_key(|(_, spelling)| *spelling);
        let (mut bytes, mut starts, mut prefixes) = (vec![], vec![0], vec![]);
        // The spellings that are prefixes of the current one.
        let mut open: Vec<usize> = vec![];
        for (number, &(_, spelling)) in sorted.iter().enumerate() {
            while open.last().is_some_and(|&last| !spelling.starts_with(sorted[last].1)) {
                open.pop();
            }
            prefixes.push(open.last().map_or(NONE, |&last| last as u32));
            open.push(number);
            bytes.extend_from_slice(spelling);
            starts.push(bytes.len() as u32);
        }
        let mut by_pair = vec![0; PAIRS + 1];
        let mut number = 0;
        for (pair, first) in by_pair.iter_mut().enumerate() {
            let is_before = |(key, _): &(u64, &[u8])| ((key >> 48) as usize) < pair;
            number += sorted[number..].iter().take_while(|spelling| is_before(spelling)).count();
            *first = number as u32;
        }
        Some(Self { bytes: bytes.into(), starts: starts.into(), prefixes: prefixes.into(), by_pair: by_pair.into() })
    }

    fn get(&self, number: usize) -> &[u8] {
        &self.bytes[self.starts[number] as usize..self.starts[number + 1] as usize]
    }

    /// The lengths of the spellings that a text starts with, from the longest on. Those of a single
    /// byte are left out.
    pub(super) fn at_start<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        let mut next = self.longest_at_start(text);
        std::iter::from_fn(move || {
            let number = next?;
            next = self.prefix(number);
            Some(self.get(number).len())
        })
        .take_while(|&length| length > 1)
    }

    fn prefix(&self, number: usize) -> Option<usize> {
        Some(self.prefixes[number]).filter(|&prefix| prefix != NONE).map(|prefix| prefix as usize)
    }

    fn longest_at_start(&self, text: &[u8]) -> Option<usize> {
        let &[first, second] = text.first_chunk::<2>()?;
        let pair = usize::from(first) << 8 | usize::from(second);
        let (mut low, mut high) = (self.by_pair[pair] as usize, self.by_pair[pair + 1] as usize);
        let lowest = low;
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle).cmp(text) == Ordering::Greater { high = middle } else { low = middle + 1 }
        }
        let mut number = low.checked_sub(1).filter(|&number| number >= lowest)?;
        while !text.starts_with(self.get(number)) {
            number = self.prefix(number)?;
        }
        Some(number)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.bytes)
            + size_of_val(&*self.starts)
            + size_of_val(&*self.prefixes)
            + size_of_val(&*self.by_pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_spellings_at_the_start_of_a_text_are_listed(
            spellings in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![0u8, 1, b'a', 255]), 0..7), 0..60),
            text in prop::collection::vec(prop::sample::select(vec![0u8, 1, b'a', 255]), 0..12),
        ) {
            let ends: Vec<u32> = spellings.iter().scan(0, |end, spelling| {
                *end += spelling.len() as u32;
                Some(*end)
            }).collect();
            let made = Spellings::new(&spellings.concat(), &ends).expect("they are short");
            let mut expected: Vec<usize> =
                spellings.iter().filter(|spelling| spelling.len() > 1 && text.starts_with(spelling)).map(Vec::len).collect();
            expected.sort_unstable();
            expected.dedup();
            expected.reverse();
            prop_assert_eq!(made.at_start(&text).collect::<Vec<_>>(), expected);
        }
    }
}
