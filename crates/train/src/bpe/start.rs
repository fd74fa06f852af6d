//! The state before the first merge: special tokens, alphabet, and words as lists of tokens.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Slot;
use crate::progress::Meter;
use crate::{BpeOptions, TrainError, WordCounts};

/// Tokens in the order of their ids, which are looked up by their texts.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub texts: Vec<String>,
    ids: HashMap<String, u32, FixedState>,
}

impl Tokens {
    /// The id of a token, which is a new one if there is no such token.
    pub fn id(&mut self, text: String) -> u32 {
        let next = self.texts.len() as u32;
        let texts = &mut self.texts;
        *self.ids.entry_ref(&text).or_insert_with(|| {
            texts.push(text.clone());
            next
        })
    }
}

/// The state before the first merge.
#[derive(Debug, Default)]
pub(super) struct Start {
    pub tokens: Tokens,
    /// The tokens of all words, one word after the other.
    pub slots: Vec<Slot>,
    /// Where words start in `slots`, and where the last one ends.
    pub starts: Vec<u32>,
    /// How often each word occurs.
    pub counts: Vec<i64>,
}

/// A character of a word. Its order is that of the new ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Affixed {
    character: char,
    prefix: bool,
    suffix: bool,
}

impl Affixed {
    fn text(self, options: &BpeOptions) -> String {
        let affix = |wanted: bool, affix: &Option<String>| match affix {
            Some(affix) if wanted => affix.clone(),
            _ => String::new(),
        };
        let prefix = affix(self.prefix, &options.continuing_subword_prefix);
        let suffix = affix(self.suffix, &options.end_of_word_suffix);
        format!("{prefix}{}{suffix}", self.character)
    }
}

/// The characters of a word that are in the alphabet. The others decide too which one is the first
/// or the last.
fn affixed(word: &str, alphabet: &BTreeSet<char>) -> impl Iterator<Item = Affixed> {
    word.char_indices().filter(|(_, character)| alphabet.contains(character)).map(|(at, character)| Affixed {
        character,
        prefix: at > 0,
        suffix: at + character.len_utf8() == word.len(),
    })
}

/// Numbers special tokens and characters, and cuts words into characters.
pub(super) fn start(words: &WordCounts, options: &BpeOptions, meter: &mut Meter<'_>) -> Result<Start, TrainError> {
    let mut state = Start::default();
    for token in &options.special_tokens {
        state.tokens.id(token.content.clone());
    }
    let mut alphabet = alphabet(words, options)?;
    for character in &alphabet {
        state.tokens.id(character.to_string());
    }
    // A special token of one character is part of the alphabet, whatever its limit.
    for token in &options.special_tokens {
        let mut characters = token.content.chars();
        if let (Some(character), None) = (characters.next(), characters.next()) {
            alphabet.insert(character);
        }
    }

    let mut forms: BTreeSet<Affixed> = BTreeSet::new();
    for (word, _) in words.iter() {
        forms.extend(affixed(word, &alphabet));
    }
    let ids: HashMap<Affixed, u32, FixedState> =
        forms.into_iter().map(|form| (form, state.tokens.id(form.text(options)))).collect();

    state.starts.push(0);
    for (word, count) in words.iter() {
        state.slots.extend(affixed(word, &alphabet).map(|form| Slot { token: ids[&form], len: 1 }));
        if state.slots.len() > u32::MAX as usize {
            return Err(TrainError::TooManyCharacters { limit: u32::MAX as usize });
        }
        state.starts.push(state.slots.len() as u32);
        state.counts.push(i64::try_from(count).unwrap_or(i64::MAX));
        meter.done(1)?;
    }
    Ok(state)
}

/// The characters of the words and of the options, in order, without those above the limit.
fn alphabet(words: &WordCounts, options: &BpeOptions) -> Result<BTreeSet<char>, TrainError> {
    let mut counts: BTreeMap<char, u64> = BTreeMap::new();
    for (word, count) in words.iter() {
        for character in word.chars() {
            let total = counts.entry(character).or_default();
            *total = total.saturating_add(count);
        }
    }
    for text in &options.initial_alphabet {
        let Some(character) = text.chars().next() else {
            let message = "a string is empty; each one has a character".to_owned();
            return Err(TrainError::Option { option: "initial_alphabet", message });
        };
        counts.insert(character, u64::MAX);
    }
    let mut kept: Vec<(char, u64)> = counts.into_iter().collect();
    if let Some(limit) = options.limit_alphabet {
        // Stable: of equally frequent characters, those of the lowest code points stay.
        kept.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        kept.truncate(limit);
    }
    Ok(kept.into_iter().map(|(character, _)| character).collect())
}
