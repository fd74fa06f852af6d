//! Adds tokens to a trained vocabulary.

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use serde::Deserialize;

use super::file::{Kind, TokenizerFile};
use super::{Effect, encode};
use crate::bpe::{self, Start};
use crate::progress::Meter;
use crate::{Base, BpeOptions, TrainError, UnigramOptions, Watch, WordCounts, unigram};

/// The options of [`extend`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExtendOptions {
    /// The number of tokens to add. There are fewer, if the words have no more. Default 1,000.
    pub new_tokens: usize,
    /// The smallest count of a new character, and for BPE of a pair that is merged. Default 2.
    pub min_frequency: u64,
    /// The largest number of characters of a new token. Default: no limit for BPE, 16 for Unigram,
    /// where 256 is the largest.
    pub max_token_length: Option<usize>,
}

impl Default for ExtendOptions {
    fn default() -> Self {
        Self { new_tokens: 1_000, min_frequency: 2, max_token_length: None }
    }
}

impl ExtendOptions {
    /// Reads the options from JSON.
    pub fn from_json(text: &str) -> Result<Self, TrainError> {
        serde_json::from_str(text).map_err(|error| TrainError::Option { option: "options", message: error.to_string() })
    }
}

/// A tokenizer with more tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extended {
    /// The text of the tokenizer.json.
    pub file: String,
    /// The new tokens, as the vocabulary writes them, with their ids.
    pub new_tokens: Vec<(u32, String)>,
    /// What the corpus gains.
    pub effect: Effect,
}

/// Adds tokens to the vocabulary of a tokenizer.json of BPE or Unigram. All ids stay as they are:
/// new ones start behind the largest one, and added tokens get an entry in the model's vocabulary,
/// so that it does not move them.
///
/// Characters that the vocabulary lacks come first, the most frequent ones before others. BPE then
/// goes on from the tokens that the words have: new merges stand behind those of the file and make
/// new tokens only, so a text has its old tokens before they are merged further. For Unigram, new
/// pieces are the best ones of a vocabulary that is trained on the words; their scores come from
/// their counts in the words, segmented with all pieces, and those of the file stay.
///
/// # Errors
///
/// [`TrainError::NoWords`], [`TrainError::Model`] for other models, [`TrainError::Base`],
/// [`TrainError::Load`], [`TrainError::Option`], [`TrainError::Word`] and [`TrainError::Stopped`].
pub fn extend(
    file: &[u8],
    words: &WordCounts,
    options: &ExtendOptions,
    watch: &mut Watch<'_>,
) -> Result<Extended, TrainError> {
    if words.is_empty() {
        return Err(TrainError::NoWords);
    }
    let meter = &mut Meter::new(watch);
    let bytes = encode::bytes(words, Base::from_json(file)?.cutter.reads_bytes());
    let mut file = TokenizerFile::parse(file)?;
    let before = (encode::each_word(&mut file, words, meter, |_, _, _| ())?, file.len());
    file.fix_added_ids()?;
    let first = file.next_id();
    let limit = first as usize + options.new_tokens;
    if u32::try_from(limit).is_err() {
        let message = format!("{} is too large", options.new_tokens);
        return Err(TrainError::Option { option: "new_tokens", message });
    }
    match file.kind {
        Kind::Bpe => extend_bpe(&mut file, words, options, limit, meter)?,
        Kind::Unigram => extend_unigram(&mut file, words, options, meter)?,
        Kind::WordPiece | Kind::WordLevel => {
            return Err(TrainError::Model { model: format!("{:?}", file.kind), problem: "cannot be extended" });
        }
    }
    let after = (encode::each_word(&mut file, words, meter, |_, _, _| ())?, file.len());
    let new_tokens = file.tokens.range(first..).map(|(&id, token)| (id, token.clone())).collect();
    let effect = Effect { bytes, tokens: [before.0, after.0], vocabulary: [before.1, after.1] };
    Ok(Extended { file: file.text()?, new_tokens, effect })
}

fn extend_bpe(
    file: &mut TokenizerFile,
    words: &WordCounts,
    options: &ExtendOptions,
    limit: usize,
    meter: &mut Meter<'_>,
) -> Result<(), TrainError> {
    let options = BpeOptions {
        vocab_size: limit,
        min_frequency: options.min_frequency,
        max_token_length: options.max_token_length,
        continuing_subword_prefix: file.field("continuing_subword_prefix")?,
        end_of_word_suffix: file.field("end_of_word_suffix")?,
        ..BpeOptions::default()
    };
    add_characters(file, words, &options);
    // Pairs with these are not merged: they stand for characters that are no tokens.
    let unk_token: Option<String> = file.field("unk_token")?;
    let is_byte = |token: &str| token.len() == 6 && token.starts_with("<0x") && token.ends_with('>');
    let has_bytes = file.field("byte_fallback")?.unwrap_or(false);
    let mut texts = vec![String::new(); file.next_id() as usize];
    let mut unknown_ids = vec![false; texts.len()];
    for (&id, token) in &file.tokens {
        texts[id as usize].clone_from(token);
        unknown_ids[id as usize] = unk_token.as_ref() == Some(token) || has_bytes && is_byte(token);
    }
    let affix = |affix: &Option<String>| affix.as_ref().map_or(0, |affix| affix.chars().count());
    let affixes = [affix(&options.continuing_subword_prefix), affix(&options.end_of_word_suffix)];
    let mut start = Start::new(texts);
    encode::each_word(file, words, meter, |_, count, ids| {
        for part in ids.split(|&id| unknown_ids[id as usize]) {
            start.push_word(part, count, affixes);
        }
    })?;
    let vocabulary = bpe::go_on(start.checked()?, &options, meter)?;
    let old = file.next_id();
    let tokens = &vocabulary.tokens;
    let text = |id: u32| tokens[id as usize].clone();
    file.merges.extend(vocabulary.merges.iter().map(|&(left, right)| (text(left), text(right))));
    file.tokens.extend((old..).zip(tokens[old as usize..].iter().cloned()));
    Ok(())
}

/// Adds the characters of the words that are no tokens.
fn add_characters(file: &mut TokenizerFile, words: &WordCounts, options: &BpeOptions) {
    let mut forms: HashMap<bpe::Affixed, u64, RandomState> = HashMap::default();
    for (word, count) in words.iter() {
        for form in bpe::affixed(word, |_| true) {
            let total = forms.entry(form).or_default();
            *total = total.saturating_add(count);
        }
    }
    // Without affixes, the forms of a character have one text.
    let mut counts: HashMap<String, u64, RandomState> = HashMap::default();
    for (form, count) in forms {
        let total = counts.entry(form.text(options)).or_default();
        *total = total.saturating_add(count);
    }
    let known = file.texts();
    let is_missing = |text: &str, count: u64| count >= options.min_frequency && !known.contains(text);
    let mut missing: Vec<_> = counts.into_iter().filter(|(text, count)| is_missing(text, *count)).collect();
    drop(known);
    missing.sort_unstable_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    let next = file.next_id();
    file.tokens.extend((next..options.vocab_size as u32).zip(missing.into_iter().map(|(text, _)| text)));
}

/// Rounds of segmenting the words with all pieces and giving the new ones scores.
const ROUNDS: usize = 2;

fn extend_unigram(
    file: &mut TokenizerFile,
    words: &WordCounts,
    options: &ExtendOptions,
    meter: &mut Meter<'_>,
) -> Result<(), TrainError> {
    let longest = options.max_token_length.unwrap_or(UnigramOptions::default().max_piece_length);
    if !(1..=unigram::MAX_PIECE_LENGTH).contains(&longest) {
        let message = format!("{longest} is not between 1 and {}", unigram::MAX_PIECE_LENGTH);
        return Err(TrainError::Option { option: "max_token_length", message });
    }
    let characters: HashSet<char, RandomState> = words.iter().flat_map(|(word, _)| word.chars()).collect();
    let trained = UnigramOptions {
        vocab_size: file.tokens.len() + options.new_tokens + characters.len(),
        max_piece_length: longest,
        ..UnigramOptions::default()
    };
    let trained = unigram::train(words, &trained, meter)?.pieces;
    let known = file.texts();
    let is_new = |(piece, _): &(String, f64)| !known.contains(piece.as_str());
    let new = trained.into_iter().filter(is_new);
    // Characters first: without them, a text has unknown tokens.
    let (mut chosen, others): (Vec<_>, Vec<_>) = new.partition(|(piece, _)| piece.chars().nth(1).is_none());
    chosen.extend(others);
    chosen.truncate(options.new_tokens);
    drop(known);
    let first = file.next_id();
    for round in 0..ROUNDS {
        file.set_pieces(first, &chosen);
        let mut counts = vec![0_u64; chosen.len()];
        let total = encode::each_word(file, words, meter, |_, count, ids| {
            for new in ids.iter().filter_map(|id| id.checked_sub(first)) {
                let sum = &mut counts[new as usize];
                *sum = sum.saturating_add(count);
            }
        })?;
        let scored = chosen.into_iter().zip(counts).filter(|&(_, count)| count > 0 || round > 0);
        // A piece that the last round does not use keeps its score.
        let score = |old: f64, count: u64| if count > 0 { libm::log(count as f64 / total as f64) } else { old };
        chosen = scored.map(|((piece, old), count)| (piece, score(old, count))).collect();
        chosen.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    }
    file.set_pieces(first, &chosen);
    Ok(())
}
