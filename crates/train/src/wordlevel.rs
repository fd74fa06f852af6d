//! The trainer of WordLevel.

use crate::{WordCounts, WordLevelOptions};

/// The tokens in the order of their ids: the special tokens, then words by falling count, equal
/// counts in the order of their bytes. A word that is a special token too is there twice; its id is
/// the later one, and the first one stays unused, as in the reference.
pub fn train(words: &WordCounts, options: &WordLevelOptions) -> Vec<String> {
    let mut kept: Vec<(&str, u64)> = words.iter().filter(|&(_, count)| count >= options.min_frequency).collect();
    // Stable: words of equal counts stay sorted.
    kept.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let special = options.special_tokens.iter().map(|token| token.content.as_str());
    special.chain(kept.into_iter().map(|(word, _)| word)).take(options.vocab_size).map(str::to_owned).collect()
}
