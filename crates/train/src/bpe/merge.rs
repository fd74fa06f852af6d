//! The merges. A queue holds pairs with their occurrences; each merge visits only these, and
//! corrects the counts of the pairs beside them. An occurrence is visited once for each time that a
//! pair forms there, so that one long word takes no longer than many short ones.
//!
//! The reference's counts are part of the result, with what they leave out: the count of a merged
//! pair is not cleared, a pair longer than the maximum is not counted when it forms but is when it
//! goes, and a negative count, compared as an unsigned number, is the largest one.

use super::queue::Queue;
use super::start::Start;
use super::words::{PREFETCHED, Words};
use super::{BpeVocabulary, Pair, joined, last_of_each};
use crate::progress::{Meter, Phase};
use crate::{BpeOptions, TrainError};

/// Merges until the vocabulary is large enough, or until no pair is frequent enough.
pub(crate) fn train(start: Start, options: &BpeOptions, meter: &mut Meter<'_>) -> Result<BpeVocabulary, TrainError> {
    let Start { mut tokens, mut words, frozen } = start;
    let max_len = options.max_token_length.map_or(u64::MAX, |len| len as u64);
    meter.phase(Phase::Pairs, 2 * words.len(), tokens.texts.len())?;
    let mut queue = Queue::new(tokens.texts.len(), &words);
    words.each_pair(meter, |pair, _, count| queue.count_first(pair, count))?;
    queue.begin_occurrences();
    words.each_pair(meter, |pair, at, _| queue.add_first(pair, at))?;
    queue.begin();

    meter.phase(Phase::Merges, options.vocab_size, tokens.texts.len())?;
    let mut merges = Vec::new();
    let mut occurrences = Vec::new();
    while tokens.texts.len() < options.vocab_size {
        let Some((pair, count)) = queue.pop(&words, &mut occurrences) else { break };
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
        for (index, &at) in occurrences.iter().enumerate() {
            if let Some(&later) = occurrences.get(index + PREFETCHED) {
                words.prefetch(later);
            }
            merge.apply(&mut words, at, &mut queue);
            meter.work(1)?;
        }
        queue.end_merge(&words, pair, token, meter)?;
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
    fn apply(&self, words: &mut Words, at: u32, queue: &mut Queue) {
        let Some(right) = words.find(at, self.pair) else { return };
        let len = words.merge(at, right, self.token);
        let count = words.count(at);
        let is_counted = |beside: u32| u64::from(beside) + u64::from(len) < self.max_len;
        if let Some(before) = words.before(at) {
            let token = words.token(before);
            if is_counted(at - before) {
                queue.form_left(token, count, before);
            } else {
                queue.hide((token, self.token), before);
            }
            queue.lose_left(token, count);
        }
        if let Some(after) = words.after(at) {
            let token = words.token(after);
            if is_counted(words.token_len(after)) {
                queue.form_right(token, count, at);
            } else {
                queue.hide((self.token, token), at);
            }
            queue.lose_right(token, count);
        }
    }
}
