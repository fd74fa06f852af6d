//! Keeps the tokens that a corpus uses.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use tokenlane_core::byte_character;

use super::file::{Kind, TokenizerFile};
use super::trace::{Merges, trace};
use super::{Effect, encode};
use crate::progress::Meter;
use crate::{Base, BpeOptions, TrainError, Watch, WordCounts, bpe};

/// A tokenizer with fewer tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruned {
    /// The text of the tokenizer.json.
    pub file: String,
    /// The ids of the tokens that are left, old and new, in rising order.
    pub ids: Vec<(u32, u32)>,
    /// What is left. The words have the same tokens as before.
    pub effect: Effect,
}

/// Keeps the tokens of a tokenizer.json that the words have, and what these need: the parts of
/// BPE's tokens, the alphabet of ByteLevel and of the byte fallback, the unknown token, all added
/// tokens, and those of the post-processor and the padding. For Unigram, the piece with the lowest
/// score stays too, because it decides what an unknown character costs. The tokens keep their
/// order.
///
/// The words have the same tokens as before, with new ids; that is checked. Other texts have tokens
/// that are parts of their old ones, or unknown tokens.
///
/// # Errors
///
/// [`TrainError::NoWords`], [`TrainError::Base`], [`TrainError::Load`], [`TrainError::Word`],
/// [`TrainError::Model`] if the words would have other tokens, and [`TrainError::Stopped`].
pub fn prune(file: &[u8], words: &WordCounts, watch: &mut Watch<'_>) -> Result<Pruned, TrainError> {
    if words.is_empty() {
        return Err(TrainError::NoWords);
    }
    let meter = &mut Meter::new(watch);
    let byte_level = Base::from_json(file)?.cutter.reads_bytes();
    let mut file = TokenizerFile::parse(file)?;
    let vocabulary = file.len();
    let mut used: HashSet<u32, RandomState> = HashSet::default();
    let mut tracer = Tracer::new(&file)?;
    let mut checksum = Checksum::default();
    let tokens = encode::each_word(&mut file, words, meter, |word, _, ids| {
        tracer.add(word, ids);
        used.extend(ids);
        checksum.add(ids.iter().copied());
    })?;
    let merges = tracer.finish(&mut used);
    keep_needed(&mut file, byte_level, &mut used)?;
    let ids = renumber(&mut file, &used)?;
    file.merges.retain(|merge| merges.contains(merge));

    let old: HashMap<u32, u32, RandomState> = ids.iter().map(|&(old, new)| (new, old)).collect();
    let mut same = Checksum::default();
    encode::each_word(&mut file, words, meter, |_, _, ids| same.add(ids.iter().map(|id| old[id])))?;
    if same != checksum {
        let problem = "cannot be pruned: some words would have other tokens";
        return Err(TrainError::Model { model: format!("{:?}", file.kind), problem });
    }
    let bytes = encode::bytes(words, byte_level);
    let effect = Effect { bytes, tokens: [tokens, tokens], vocabulary: [vocabulary, ids.len()] };
    Ok(Pruned { file: file.text()?, ids, effect })
}

/// A hash of the ids of all words.
#[derive(Debug, Default, PartialEq, Eq)]
struct Checksum(u64);

impl Checksum {
    fn add(&mut self, ids: impl Iterator<Item = u32>) {
        for id in ids.chain([u32::MAX]) {
            self.0 = (self.0 ^ u64::from(id)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        }
    }
}

/// Finds the merges of BPE that words take. A token takes the same ones in each word, so only words
/// with new tokens are followed. Affixes make tokens of other characters equal: with a prefix `#`,
/// `#b` is what `#b` merges to, and the `b` of `ab`. With them, each word is followed.
struct Tracer {
    is_bpe: bool,
    ids: HashMap<String, u32, RandomState>,
    merges: Merges,
    /// Texts of the merges by index.
    texts: Vec<(String, String)>,
    options: BpeOptions,
    ignores_merges: bool,
    /// Whether other tokens stand for a character that is none.
    has_unknown: bool,
    known: HashSet<u32, RandomState>,
    taken: BTreeSet<u32>,
    parts: HashSet<u32, RandomState>,
}

impl Tracer {
    fn new(file: &TokenizerFile) -> Result<Self, TrainError> {
        let ids: HashMap<String, u32, RandomState> = file.tokens.iter().map(|(&id, text)| (text.clone(), id)).collect();
        let options = BpeOptions {
            continuing_subword_prefix: file.field("continuing_subword_prefix")?,
            end_of_word_suffix: file.field("end_of_word_suffix")?,
            ..BpeOptions::default()
        };
        let mut merges = Merges::default();
        for ((left, right), index) in file.merges.iter().zip(0..) {
            let token = bpe::joined(left, right, &options);
            let (Some(&left), Some(&right), Some(&token)) = (ids.get(left), ids.get(right), ids.get(&token)) else {
                return Err(TrainError::Base(format!("the merge {left:?} {right:?} has no token")));
            };
            merges.insert((left, right), (index, token));
        }
        let ignores_merges = file.field("ignore_merges")?.unwrap_or(false);
        let has_unknown = file.field::<String>("unk_token")?.is_some() || file.field("byte_fallback")?.unwrap_or(false);
        let (texts, is_bpe) = (file.merges.clone(), file.kind == Kind::Bpe);
        let (known, taken, parts) = Default::default();
        Ok(Self { is_bpe, ids, merges, texts, options, ignores_merges, has_unknown, known, taken, parts })
    }

    fn add(&mut self, word: &str, ids: &[u32]) {
        let BpeOptions { continuing_subword_prefix: prefix, end_of_word_suffix: suffix, .. } = &self.options;
        let has_affixes = prefix.is_some() || suffix.is_some();
        let is_known = |id: &u32| !has_affixes && self.known.contains(id);
        if !self.is_bpe || self.ignores_merges && self.ids.contains_key(word) || ids.iter().all(is_known) {
            return;
        }
        self.known.extend(ids);
        // A character without a token is never merged. If nothing stands for it, it is left out.
        let unknown = self.has_unknown.then_some(u32::MAX);
        let characters: Vec<u32> = bpe::affixed(word, |_| true)
            .filter_map(|form| self.ids.get(&form.text(&self.options)).copied().or(unknown))
            .collect();
        trace(&characters, &self.merges, |pair| {
            let (index, token) = self.merges[&pair];
            self.taken.insert(index);
            self.parts.extend([pair.0, pair.1, token]);
        });
    }

    /// The merges that words take. Adds what they are made of to `used`.
    fn finish(self, used: &mut HashSet<u32, RandomState>) -> HashSet<(String, String), RandomState> {
        used.extend(self.parts);
        self.taken.into_iter().map(|index| self.texts[index as usize].clone()).collect()
    }
}

/// Adds what the words do not have and the tokenizer needs.
fn keep_needed(
    file: &mut TokenizerFile,
    byte_level: bool,
    used: &mut HashSet<u32, RandomState>,
) -> Result<(), TrainError> {
    file.each_stage_id(|id| _ = used.insert(*id))?;
    used.extend(file.added.iter().map(|&(id, _)| id));
    used.extend(file.field::<u32>("unk_id")?);
    let mut needed: HashSet<String, RandomState> = HashSet::default();
    needed.extend(file.added.iter().filter_map(|(_, token)| Some(token["content"].as_str()?.to_owned())));
    needed.extend(file.field::<String>("unk_token")?);
    if byte_level {
        needed.extend((0..=255).map(|byte| byte_character(byte).to_string()));
    }
    if file.field("byte_fallback")?.unwrap_or(false) {
        needed.extend((0..=255).map(|byte| format!("<0x{byte:02X}>")));
    }
    used.extend(file.lowest_score().map(|(id, _)| id));
    used.extend(file.tokens.iter().filter(|(_, text)| needed.contains(*text)).map(|(&id, _)| id));
    Ok(())
}

/// Leaves out all tokens that are not used, and numbers the others in their order. Returns their
/// old and new ids.
fn renumber(file: &mut TokenizerFile, used: &HashSet<u32, RandomState>) -> Result<Vec<(u32, u32)>, TrainError> {
    // An added token that the model lacks gets the next id behind the model's; one that is in the
    // midst of them gets an entry.
    let last = file.next_id();
    if file.added.iter().any(|(id, _)| *id < last && !file.tokens.contains_key(id)) {
        file.fix_added_ids()?;
    }
    let all: BTreeSet<u32> = file.tokens.keys().copied().chain(file.added.iter().map(|&(id, _)| id)).collect();
    let ids: BTreeMap<u32, u32> = all.into_iter().filter(|id| used.contains(id)).zip(0..).collect();
    let new = |id: u32| ids.get(&id).copied();
    let scores = std::mem::take(&mut file.scores);
    file.scores = (0..).zip(scores).filter(|(id, _)| ids.contains_key(id)).map(|(_, score)| score).collect();
    let tokens = std::mem::take(&mut file.tokens);
    file.tokens = tokens.into_iter().filter_map(|(id, text)| Some((new(id)?, text))).collect();
    file.added.iter_mut().for_each(|(id, _)| *id = ids[id]);
    file.each_stage_id(|id| *id = new(*id).unwrap_or(*id))?;
    if let Some(unknown) = file.field::<u32>("unk_id")? {
        file.set_field("unk_id", &new(unknown));
    }
    Ok(ids.into_iter().collect())
}
