//! The merges. A queue holds pairs with their occurrences; each merge visits only these, and
//! corrects the counts of the pairs beside them. An occurrence is visited once for each time that a
//! pair forms there, so that one long word takes no longer than many short ones.
//!
//! The reference's counts are part of the result, with what they leave out: the count of a merged
//! pair is not cleared, a pair longer than the maximum is not counted when it forms but is when it
//! goes, and a negative count, compared as an unsigned number, is the largest one.

use tokenlane_simd::prefetch_at;

use super::queue::{Occurrence, Queue};
use super::start::Start;
use super::{BpeVocabulary, COVERED, Pair, Slot, joined, last_of_each};
use crate::progress::{Meter, Phase};
use crate::{BpeOptions, TrainError};

/// How many occurrences ahead the slots of an occurrence are prefetched.
const PREFETCHED: usize = 16;

/// The tokens of the words. A token covers as many slots as it has characters: the first one has
/// the token, and the first and the last one have its length. So both neighbors are found in one
/// step.
struct Words {
    slots: Vec<Slot>,
    starts: Vec<u32>,
}

impl Words {
    /// The slot behind the token that starts at `at`, if the word goes on.
    fn after(&self, occurrence: Occurrence) -> Option<u32> {
        let next = occurrence.at + self.slots[occurrence.at as usize].len;
        (next < self.starts[occurrence.word as usize + 1]).then_some(next)
    }

    /// The first slot of the token before `at`, if the word does not start there.
    fn before(&self, occurrence: Occurrence) -> Option<u32> {
        let starts = self.starts[occurrence.word as usize] == occurrence.at;
        (!starts).then(|| occurrence.at - self.slots[occurrence.at as usize - 1].len)
    }

    /// Calls `visit` with all pairs and their occurrences, in order.
    fn each_pair(&self, meter: &mut Meter<'_>, mut visit: impl FnMut(Pair, Occurrence)) -> Result<(), TrainError> {
        for (word, bounds) in (0..).zip(self.starts.windows(2)) {
            let mut occurrence = Occurrence { word, at: bounds[0] };
            while occurrence.at < bounds[1]
                && let Some(next) = self.after(occurrence)
            {
                visit((self.slots[occurrence.at as usize].token, self.slots[next as usize].token), occurrence);
                occurrence.at = next;
            }
            meter.done((bounds[1] - bounds[0]) as usize)?;
        }
        Ok(())
    }
}

/// Merges until the vocabulary is large enough, or until no pair is frequent enough.
pub(crate) fn train(start: Start, options: &BpeOptions, meter: &mut Meter<'_>) -> Result<BpeVocabulary, TrainError> {
    let Start { mut tokens, slots, starts, counts, frozen } = start;
    let max_len = options.max_token_length.map_or(u64::MAX, |len| len as u64);
    let mut words = Words { slots, starts };
    meter.phase(Phase::Pairs, 2 * words.slots.len(), tokens.texts.len())?;
    let mut queue = Queue::new(tokens.texts.len());
    words.each_pair(meter, |pair, occurrence| queue.count_first(pair, counts[occurrence.word as usize]))?;
    queue.begin_occurrences();
    words.each_pair(meter, |pair, occurrence| queue.add_first(pair, occurrence))?;
    queue.begin();

    meter.phase(Phase::Merges, options.vocab_size, tokens.texts.len())?;
    let mut merges = Vec::new();
    let mut occurrences = Vec::new();
    while tokens.texts.len() < options.vocab_size {
        let Some((pair, count)) = queue.pop(&mut occurrences) else { break };
        if count < 1 || count < options.min_frequency {
            break;
        }
        let text = joined(&tokens.texts[pair.0 as usize], &tokens.texts[pair.1 as usize], options);
        let token = tokens.id(text);
        if token < frozen {
            continue;
        }
        merges.push(pair);
        meter.token(tokens.texts.len())?;
        let merge = Merge { pair, token, max_len };
        queue.start_merge(token, tokens.texts.len());
        for (index, &occurrence) in occurrences.iter().enumerate() {
            if let Some(later) = occurrences.get(index + PREFETCHED) {
                prefetch_at(&words.slots, later.at as usize);
                prefetch_at(&words.starts, later.word as usize);
            }
            merge.apply(&mut words, occurrence, counts[occurrence.word as usize], &mut queue);
            meter.work(1)?;
        }
        queue.end_merge(pair, token);
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
    /// Merges the pair at an occurrence, if it is still there.
    #[inline]
    fn apply(&self, words: &mut Words, occurrence: Occurrence, count: i64, queue: &mut Queue) {
        let left = words.slots[occurrence.at as usize];
        if left.token != self.pair.0 {
            return;
        }
        let Some(second) = words.after(occurrence) else { return };
        let right = words.slots[second as usize];
        if right.token != self.pair.1 {
            return;
        }
        let merged = Slot { token: self.token, len: left.len + right.len };
        words.slots[second as usize].token = COVERED;
        words.slots[(occurrence.at + merged.len - 1) as usize].len = merged.len;
        words.slots[occurrence.at as usize] = merged;
        let is_counted = |beside: Slot| u64::from(beside.len) + u64::from(merged.len) < self.max_len;
        if let Some(at) = words.before(occurrence) {
            let before = words.slots[at as usize];
            let occurrence = Occurrence { word: occurrence.word, at };
            if is_counted(before) {
                queue.form_left(before.token, count, occurrence);
            } else {
                queue.hide((before.token, self.token), occurrence);
            }
            queue.lose_left(before.token, count);
        }
        if let Some(at) = words.after(occurrence) {
            let after = words.slots[at as usize];
            if is_counted(after) {
                queue.form_right(after.token, count, occurrence);
            } else {
                queue.hide((self.token, after.token), occurrence);
            }
            queue.lose_right(after.token, count);
        }
    }
}
