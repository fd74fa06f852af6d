//! The state before the first merge: special tokens, alphabet, and words as lists of tokens.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::words::Words;
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
#[derive(Debug)]
pub(crate) struct Start {
    pub(super) tokens: Tokens,
    pub(super) words: Words,
    /// The number of tokens that no merge makes: those of a vocabulary that is extended.
    pub(super) frozen: u32,
}

impl Start {
    /// No words yet, and the tokens of a vocabulary in the order of their ids. An empty text stands
    /// for an id without a token.
    pub(crate) fn new(texts: Vec<String>) -> Self {
        let ids = texts.iter().cloned().zip(0..).filter(|(text, _)| !text.is_empty()).collect();
        let frozen = texts.len() as u32;
        Self { tokens: Tokens { texts, ids }, words: Words::with_capacity(0), frozen }
    }

    /// Adds a word of tokens. `affixes` are the lengths of the prefix of continuing tokens and of
    /// the suffix of the last one.
    pub(crate) fn push_word(&mut self, ids: &[u32], count: u64, affixes: [usize; 2]) {
        if self.words.check().is_err() {
            return;
        }
        for (&token, at) in ids.iter().zip(1..) {
            let characters = self.tokens.texts[token as usize].chars().count();
            let affixes = if at > 1 { affixes[0] } else { 0 } + if at == ids.len() { affixes[1] } else { 0 };
            self.words.push(token, characters.saturating_sub(affixes).max(1) as u32);
        }
        self.words.end_word(count);
    }

    /// Fails if there are too many characters.
    pub(crate) fn checked(self) -> Result<Self, TrainError> {
        self.words.check()?;
        Ok(self)
    }
}

/// A character of a word. Its order is that of the new ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Affixed {
    character: char,
    prefix: bool,
    suffix: bool,
}

impl Affixed {
    pub(crate) fn text(self, options: &BpeOptions) -> String {
        let affix = |wanted: bool, affix: &Option<String>| match affix {
            Some(affix) if wanted => affix.clone(),
            _ => String::new(),
        };
        let prefix = affix(self.prefix, &options.continuing_subword_prefix);
        let suffix = affix(self.suffix, &options.end_of_word_suffix);
        format!("{prefix}{}{suffix}", self.character)
    }
}

/// The characters of a word that are known. The others decide too which one is the first
/// or the last.
pub(crate) fn affixed(word: &str, is_known: impl Fn(char) -> bool) -> impl Iterator<Item = Affixed> {
    word.char_indices().filter(move |&(_, character)| is_known(character)).map(|(at, character)| Affixed {
        character,
        prefix: at > 0,
        suffix: at + character.len_utf8() == word.len(),
    })
}

/// The ids of the forms of each character. Pages that are never written take no memory.
struct Forms {
    ids: Vec<u32>,
    /// Whether there are a prefix and a suffix.
    affixes: [bool; 2],
}

impl Forms {
    fn new(options: &BpeOptions) -> Self {
        let affixes = [&options.continuing_subword_prefix, &options.end_of_word_suffix].map(Option::is_some);
        Self { ids: vec![0; (char::MAX as usize + 1) << 2], affixes }
    }

    fn id(&mut self, form: Affixed) -> &mut u32 {
        let prefix = usize::from(form.prefix && self.affixes[0]);
        let suffix = usize::from(form.suffix && self.affixes[1]);
        &mut self.ids[(form.character as usize) << 2 | prefix << 1 | suffix]
    }

    /// Numbers the forms that words have. Those without affixes have the ids of the alphabet; of
    /// the others, those of more distinct words come first, as they mostly do in the reference,
    /// where words come in the order of a hash table.
    fn number(
        &mut self,
        words: &WordCounts,
        is_known: impl Fn(char) -> bool,
        options: &BpeOptions,
        tokens: &mut Tokens,
    ) {
        struct Found {
            form: Affixed,
            words: u32,
            last_word: u32,
        }
        let [has_prefix, has_suffix] = self.affixes;
        // Until they are numbered, ids are indices in `found`, plus one.
        let mut found: Vec<Found> = Vec::new();
        for ((word, _), number) in words.iter().zip(1..) {
            let affixed = affixed(word, &is_known);
            for form in affixed.filter(|form| form.prefix && has_prefix || form.suffix && has_suffix) {
                let id = self.id(form);
                if *id == 0 {
                    found.push(Found { form, words: 0, last_word: 0 });
                    *id = found.len() as u32;
                }
                let found = &mut found[*id as usize - 1];
                found.words += u32::from(found.last_word != number);
                found.last_word = number;
            }
        }
        found.sort_unstable_by_key(|found| (Reverse(found.words), found.form));
        for Found { form, .. } in found {
            *self.id(form) = tokens.id(form.text(options));
        }
    }
}

/// The order of words in memory, on which the result does not depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Others,
    /// No two pairs of characters are equal, so lost occurrences can be forgotten.
    Plain,
    /// So too, and the word occurs once: the counts of the last words need no memory.
    PlainOnce,
}

impl Order {
    /// Words of more characters are not compared: that takes quadratic time.
    const MAX_PLAIN: usize = 32;

    fn of(ids: &[u32], count: u64) -> Self {
        let is_plain = ids.len() <= Self::MAX_PLAIN
            && ids.windows(2).zip(1..).all(|(pair, next)| !ids[next..].windows(2).any(|other| other == pair));
        match (is_plain, count) {
            (false, _) => Self::Others,
            (true, 1) => Self::PlainOnce,
            (true, _) => Self::Plain,
        }
    }
}

/// Numbers special tokens and characters, and cuts words into characters.
pub(crate) fn start(words: &WordCounts, options: &BpeOptions, meter: &mut Meter<'_>) -> Result<Start, TrainError> {
    let mut tokens = Tokens::default();
    for token in &options.special_tokens {
        tokens.id(token.content.clone());
    }
    let mut alphabet = alphabet(words, options)?;
    for character in &alphabet {
        tokens.id(character.to_string());
    }
    // A special token of one character is part of the alphabet, whatever its limit.
    for token in &options.special_tokens {
        let mut characters = token.content.chars();
        if let (Some(character), None) = (characters.next(), characters.next()) {
            alphabet.insert(character);
        }
    }

    let mut known = vec![false; char::MAX as usize + 1];
    alphabet.iter().for_each(|&character| known[character as usize] = true);
    let is_known = |character| known[character as usize];
    let mut forms = Forms::new(options);
    for &character in &alphabet {
        *forms.id(Affixed { character, prefix: false, suffix: false }) = tokens.id(character.to_string());
    }
    if forms.affixes != [false; 2] {
        forms.number(words, is_known, options, &mut tokens);
    }

    let mut lists = Words::with_capacity(words.iter().map(|(word, _)| word.chars().count()).sum());
    let mut orders = Vec::with_capacity(words.len());
    let mut ids = Vec::new();
    for order in [Order::Others, Order::Plain, Order::PlainOnce] {
        if order == Order::Plain && forms.affixes == [false; 2] {
            lists.begin_plain();
        }
        for (index, (word, count)) in words.iter().enumerate() {
            if orders.get(index).is_some_and(|&known| known != order) {
                continue;
            }
            ids.clear();
            ids.extend(affixed(word, is_known).map(|form| *forms.id(form)));
            if order == Order::Others {
                orders.push(Order::of(&ids, count));
                if orders[index] != order {
                    continue;
                }
            }
            ids.iter().for_each(|&id| lists.push(id, 1));
            lists.end_word(count);
            lists.check()?;
            meter.done(1)?;
        }
    }
    Ok(Start { tokens, words: lists, frozen: 0 })
}

/// The characters of the words and of the options, in order, without those above the limit.
fn alphabet(words: &WordCounts, options: &BpeOptions) -> Result<BTreeSet<char>, TrainError> {
    let mut counts = vec![0_u64; char::MAX as usize + 1];
    for (word, count) in words.iter() {
        for character in word.chars() {
            let total = &mut counts[character as usize];
            *total = total.saturating_add(count);
        }
    }
    for text in &options.initial_alphabet {
        let Some(character) = text.chars().next() else {
            let message = "a string is empty; each one has a character".to_owned();
            return Err(TrainError::Option { option: "initial_alphabet", message });
        };
        counts[character as usize] = u64::MAX;
    }
    let counted = ('\0'..=char::MAX).map(|character| (character, counts[character as usize]));
    let mut kept: Vec<(char, u64)> = counted.filter(|&(_, count)| count > 0).collect();
    if let Some(limit) = options.limit_alphabet {
        // Stable: of equally frequent characters, those of the lowest code points stay.
        kept.sort_by_key(|&(_, count)| Reverse(count));
        kept.truncate(limit);
    }
    Ok(kept.into_iter().map(|(character, _)| character).collect())
}
