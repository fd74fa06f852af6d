//! Sorts positions of a text by the characters that follow, up to a depth.
//!
//! A whole suffix array is more than seeds need: only the first characters of a suffix decide
//! where a piece occurs and what follows it. Eight or so characters at a time are one number;
//! positions are sorted by it, and those that are equal by the next one. Each round is a sort of
//! integers, so that no text makes it slower than n log n times the number of rounds, and the
//! numbers of neighbors say how many characters they share.

/// Sorts positions of a text of symbols, of which 0 ends a word.
pub(super) struct Sorter<'a> {
    symbols: &'a [u32],
    bits: u32,
    per_key: usize,
    /// The number of symbols that positions are sorted by.
    depth: usize,
    /// Positions with the key of the symbols that are being compared.
    entries: Vec<(u64, u32)>,
    /// For each entry, the number of symbols that it shares with the one before.
    shared: Vec<u16>,
}

impl<'a> Sorter<'a> {
    /// Symbols are below `end`.
    pub(super) fn new(symbols: &'a [u32], end: u32, depth: usize) -> Self {
        let bits = u32::BITS - end.saturating_sub(1).max(1).leading_zeros();
        let per_key = (u64::BITS / bits) as usize;
        Self { symbols, bits, per_key, depth, entries: Vec::new(), shared: Vec::new() }
    }

    /// The symbols from a position on, the first one in the highest bits; zeros from the end of the
    /// word on.
    fn key(&self, at: usize) -> u64 {
        let symbols = self.symbols[at..].iter().take(self.per_key).take_while(|&&symbol| symbol != 0);
        let (key, len) = symbols.fold((0, 0), |(key, len), &symbol| (key << self.bits | u64::from(symbol), len + 1));
        if len == 0 { 0 } else { key << ((self.per_key - len) as u32 * self.bits) }
    }

    /// Sorts positions, equal ones by their place in the text. Returns for each of them the number
    /// of symbols that it shares with the one before: 0 for the first one, and `depth` if no
    /// difference is within reach, or if the word ends without one.
    pub(super) fn sort(&mut self, positions: &mut [u32]) -> &[u16] {
        let mut entries = std::mem::take(&mut self.entries);
        entries.clear();
        entries.extend(positions.iter().map(|&at| (0, at)));
        let mut shared = std::mem::take(&mut self.shared);
        shared.clear();
        shared.resize(entries.len(), 0);
        // Ranges of entries that are equal up to a depth.
        let mut pending = vec![(0..entries.len(), 0)];
        while let Some((range, depth)) = pending.pop() {
            for entry in &mut entries[range.clone()] {
                entry.0 = self.key(entry.1 as usize + depth);
            }
            entries[range.clone()].sort_unstable();
            let mut at = range.start;
            while at < range.end {
                let key = entries[at].0;
                if at > range.start {
                    shared[at] = (depth + self.common(entries[at - 1].0, key)).min(self.depth) as u16;
                }
                let end = at + entries[at..range.end].iter().take_while(|entry| entry.0 == key).count();
                let ends_word = key & ((1 << self.bits) - 1) == 0;
                if ends_word || depth + self.per_key >= self.depth {
                    shared[at + 1..end].fill(self.depth as u16);
                } else if end - at > 1 {
                    pending.push((at..end, depth + self.per_key));
                }
                at = end;
            }
        }
        for (position, entry) in positions.iter_mut().zip(&entries) {
            *position = entry.1;
        }
        (self.entries, self.shared) = (entries, shared);
        &self.shared
    }

    /// The number of symbols that two different keys share. After the end of a word there are only
    /// zeros, so a difference is never behind it.
    fn common(&self, left: u64, right: u64) -> usize {
        let unused = u64::BITS - self.per_key as u32 * self.bits;
        (((left ^ right).leading_zeros() - unused) / self.bits) as usize
    }
}
