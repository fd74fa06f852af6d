//! Unigram: the segmentation of a word into pieces with the greatest sum of scores.
//!
//! Sums are computed in the order of the reference (`encode_optimized`), so that rounding and ties
//! agree: start positions from left to right, shorter pieces first, and a later candidate must be
//! strictly better to win. A character that is not a piece can be the unknown token, whose score is
//! ten less than the lowest score. Adjacent unknown tokens are fused; the fused text is looked up
//! as a piece again, or written as byte tokens.
//!
//! If a segmenter writes the words, a space at the start of a word stands for the meta symbol
//! (`▁`) that Metaspace would write. It takes one byte instead of three and covers one byte of the
//! text.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::best_path::{BestPath, Offers};
use super::flat_path::{FlatPath, MAX_LEN as MAX_FLAT_LEN, MAX_SCORE, Path, SoFar};
use crate::automaton::{Automaton, MAX_TRIE_TOKEN_BYTES, State};
use crate::bpe::Symbol;
use crate::error::{EncodeError, LoadError};
use crate::memory::Grow;
use crate::memory::fallible::{concat, push};
use crate::parts::UnigramSettings;
use crate::text::MAX_CHARACTER_BYTES;
use crate::trie::{Start, Trie};
use crate::vocab::Vocab;

/// Difference between the lowest score and the score of an unknown character.
const UNKNOWN_PENALTY: f64 = 10.0;

/// The maximum number of pieces that end with one another, so that as many can end at one position.
/// Each is tried there. It is that of vocabularies without long pieces.
const MAX_NESTED: usize = MAX_TRIE_TOKEN_BYTES;

/// The Unigram model of one tokenizer.
#[derive(Debug)]
pub(crate) struct Unigram {
    trie: Trie,
    /// Where pieces are searched.
    start: Start,
    /// Score per id.
    scores: Arc<[f64]>,
    unknown_score: f64,
    unk_id: Option<u32>,
    /// With `byte_fallback`: the token of each byte, if there is one.
    bytes: Option<Box<[Option<u32>; 256]>>,
    meta_symbol: Option<MetaSymbol>,
    /// Whether a run of unknown characters is looked up as a piece, as in the reference. llama.cpp
    /// does not.
    looks_up_unknown: bool,
    /// Set if some piece is so long that searching from each position would be too slow.
    long: Option<Automaton>,
    /// Set if [`FlatPath`] can search words.
    flat: Option<Flat>,
}

/// What [`FlatPath`] needs: slots of the trie are the numbers of pieces.
#[derive(Debug)]
struct Flat {
    unknown: u32,
    /// Per slot of the trie: the score of the piece that ends there, or else negative infinity.
    scores: Box<[f64]>,
}

/// The number of the unknown token for [`FlatPath`]; no slot has it.
const UNKNOWN: u32 = u32::MAX;

/// The character that a space at the start of a word stands for.
#[derive(Debug)]
struct MetaSymbol {
    character: char,
    /// The trie position after the meta symbol, from which pieces that start with it are searched,
    /// and its slot. `None` if no piece starts with it.
    in_trie: Option<(Start, u32)>,
}

/// Buffers, reused from word to word.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    any: BestPath<f64>,
    flat: FlatPath,
}

impl Scratch {
    /// Releases buffers that a long word made grow.
    pub(crate) fn trim(&mut self) {
        self.any.trim();
    }
}

impl Unigram {
    /// Builds the model. `meta_symbol`: the character that a space at the start of a word stands
    /// for, if a segmenter writes the words.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(crate) fn new(
        settings: &UnigramSettings,
        vocab: &Vocab,
        scores: Arc<[f64]>,
        meta_symbol: Option<char>,
    ) -> Result<Self, LoadError> {
        let lowest =
            scores.iter().copied().fold(f64::INFINITY, |lowest, score| if score < lowest { score } else { lowest });
        Self::with_limit(settings, vocab, scores, lowest - UNKNOWN_PENALTY, meta_symbol, MAX_TRIE_TOKEN_BYTES)
    }

    /// The model of llama.cpp: the pieces are some of those with a score, and an unknown character
    /// has `unknown_score`.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(crate) fn with_unknown_score(
        settings: &UnigramSettings,
        vocab: &Vocab,
        scores: Arc<[f64]>,
        unknown_score: f64,
    ) -> Result<Self, LoadError> {
        let model = Self::with_limit(settings, vocab, scores, unknown_score, None, MAX_TRIE_TOKEN_BYTES)?;
        Ok(Self { looks_up_unknown: false, ..model })
    }

    /// Like [`Self::new`]; uses the automaton if some piece has more than `limit` bytes.
    fn with_limit(
        settings: &UnigramSettings,
        vocab: &Vocab,
        scores: Arc<[f64]>,
        unknown_score: f64,
        meta_symbol: Option<char>,
        limit: usize,
    ) -> Result<Self, LoadError> {
        let byte_token = |byte: usize| vocab.id(format!("<0x{byte:02X}>").as_bytes());
        let trie = Trie::new(vocab.iter())?;
        let meta_symbol = meta_symbol.map(|character| {
            let mut buffer = [0; 4];
            let text = character.encode_utf8(&mut buffer).as_bytes();
            MetaSymbol { character, in_trie: trie.slot(text).map(|slot| (trie.start(trie.node(slot)), slot)) }
        });
        let tokens = vocab.iter().map(|(token, _)| token);
        let long = (trie.longest() > limit).then(|| Automaton::new(&trie, tokens));
        let nested = long.as_ref().map_or(0, |long| long.max_nested_tokens(&trie));
        if nested > MAX_NESTED {
            return Err(LoadError::TooLarge {
                what: "the number of Unigram pieces that end with one another",
                size: nested as u64,
                limit: MAX_NESTED as u64,
            });
        }
        let is_moderate = |score: &f64| score.abs() <= MAX_SCORE;
        let has_flat = trie.longest() <= limit && is_moderate(&unknown_score) && scores.iter().all(is_moderate);
        let flat = settings.unk_id.filter(|_| has_flat).map(|unknown| {
            let score = |slot| trie.id_at(slot).map_or(f64::NEG_INFINITY, |id| scores[id as usize]);
            Flat { unknown, scores: (0..trie.slots() as u32).map(score).collect() }
        });
        Ok(Self {
            meta_symbol,
            start: trie.start(trie.root()),
            long,
            flat,
            trie,
            scores,
            unknown_score,
            unk_id: settings.unk_id,
            looks_up_unknown: true,
            bytes: settings.byte_fallback.then(|| Box::new(std::array::from_fn(byte_token))),
        })
    }

    /// Appends the tokens of a word.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(crate) fn tokenize(
        &self,
        word: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<Symbol>,
    ) -> Result<(), EncodeError> {
        if let Some(automaton) = &self.long {
            return self.tokenize_long(automaton, word, scratch, out);
        }
        let mut writer = Writer { model: self, word, unknown: None, out };
        match &self.flat {
            Some(flat) if word.len() <= MAX_FLAT_LEN => scratch.flat.search(
                word.len(),
                |start, so_far, after| self.extend_flat(flat, word, start, so_far, after),
                |start, end, piece| {
                    let id = if piece == UNKNOWN { None } else { self.trie.id_at(piece) };
                    writer.write(start, end, id.unwrap_or(flat.unknown));
                },
            ),
            _ => {
                let longest = self.trie.longest().max(MAX_CHARACTER_BYTES);
                let extend = |start, offers: &mut Offers<'_, f64>| self.extend(word, start, offers);
                scratch.any.search(word.len(), longest, extend, |start, end, id| writer.write(start, end, id))?;
            }
        }
        writer.end_unknown();
        Ok(())
    }

    /// [`Self::extend`] for [`FlatPath`].
    #[inline(always)]
    fn extend_flat(&self, flat: &Flat, word: &[u8], start: usize, so_far: SoFar, after: &mut [Path]) -> usize {
        let rest = &word[start..];
        if start == 0
            && let Some(meta_symbol) = self.meta_symbol_of(word)
        {
            // The trie is searched after the meta symbol, which is the first byte of the word.
            let slot = meta_symbol.in_trie.as_ref().map(|&(_, slot)| slot);
            self.offer_character(flat, slot, so_far, &mut after[0]);
            if let Some((search, _)) = &meta_symbol.in_trie
                && let Some((slot, len)) = self.trie.first_slot(search, &rest[1..])
            {
                so_far.offer(&mut after[len], flat.scores[slot as usize], slot);
                self.offer_longer(flat, slot, &rest[1 + len..], so_far, &mut after[1 + len..]);
            }
            return 1;
        }
        let length = character_len(rest[0]);
        let slot = self.trie.first_slot(&self.start, rest).map(|(slot, _)| slot);
        self.offer_character(flat, slot, so_far, &mut after[length - 1]);
        if let Some(slot) = slot {
            self.offer_longer(flat, slot, &rest[length..], so_far, &mut after[length..]);
        }
        length
    }

    /// Offers the character that ends at the node in a slot, as a piece or as the unknown token.
    #[inline(always)]
    fn offer_character(&self, flat: &Flat, slot: Option<u32>, so_far: SoFar, path: &mut Path) {
        match slot.map(|slot| (flat.scores[slot as usize], slot)) {
            Some((score, slot)) if score > f64::NEG_INFINITY => so_far.offer(path, score, slot),
            _ => so_far.offer(path, self.unknown_score, UNKNOWN),
        }
    }

    /// Offers all pieces that continue the text of the node in a slot.
    #[inline(always)]
    fn offer_longer(&self, flat: &Flat, slot: u32, rest: &[u8], so_far: SoFar, after: &mut [Path]) {
        let along = rest.iter().copied().zip(after);
        self.trie.follow(slot, &flat.scores, along, |slot, score, path| so_far.offer(path, score, slot));
    }

    /// Like [`Self::tokenize`], but by end positions. For each end, candidates come in order of
    /// their start, as in the reference.
    fn tokenize_long(
        &self,
        automaton: &Automaton,
        word: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<Symbol>,
    ) -> Result<(), EncodeError> {
        let spelled = self.spelled(word);
        let first = out.len();
        let (mut state, mut character) = (State::START, 0);
        let best = |end: usize, score_at: &dyn Fn(usize) -> f64| {
            state = automaton.step(&self.trie, state, spelled[end - 1]);
            let mut is_piece = false;
            let mut best: Option<(f64, usize, u32)> = None;
            for (id, len) in automaton.tokens(&self.trie, state) {
                let start = end - len;
                is_piece |= start == character;
                let score = self.scores[id as usize] + score_at(start);
                if best.is_none_or(|best| score > best.0) {
                    best = Some((score, start, id));
                }
            }
            if end == character + character_len(spelled[character]) {
                let score = self.unknown_score + score_at(character);
                if !is_piece && best.is_none_or(|best| score > best.0) {
                    best = Some((score, character, self.unk_id.ok_or(EncodeError::UnknownTokenUnset)?));
                }
                character = end;
            }
            Ok::<_, EncodeError>(best)
        };
        let mut writer = Writer { model: self, word: &spelled, unknown: None, out };
        scratch.any.search_by_ends(spelled.len(), best, |start, end, id| writer.write(start, end, id))?;
        writer.end_unknown();
        if let Some(symbol) = out.get_mut(first) {
            // The meta symbol takes fewer bytes in the word than in `spelled`.
            symbol.len -= (spelled.len() - word.len()) as u32;
        }
        Ok(())
    }

    /// Offers all pieces that start at a position. Returns the length of the character there.
    #[inline(always)]
    fn extend(&self, word: &[u8], start: usize, offers: &mut Offers<'_, f64>) -> Result<usize, EncodeError> {
        let rest = &word[start..];
        let length = character_len(rest[0]);
        let meta_symbol = if start == 0 { self.meta_symbol_of(word) } else { None };
        // As in `extend_flat`: the search starts after the meta symbol.
        let (search, skipped) = match meta_symbol {
            None => (Some(&self.start), 0),
            Some(meta) => (meta.in_trie.as_ref().map(|in_trie| &in_trie.0), 1),
        };
        let mut is_piece = false;
        if let Some(id) = meta_symbol.and_then(|meta| self.trie.id_at(meta.in_trie.as_ref()?.1)) {
            offers.offer(length, self.scores[id as usize], id);
            is_piece = true;
        }
        if let Some(search) = search {
            self.trie.for_each_prefix(search, &rest[skipped..], |len, id| {
                offers.offer(skipped + len, self.scores[id as usize], id);
                is_piece |= skipped + len == length;
            });
        }
        if !is_piece {
            match self.unk_id {
                Some(id) => offers.offer(length, self.unknown_score, id),
                None if offers.would_take(length, self.unknown_score) => return Err(EncodeError::UnknownTokenUnset),
                None => {}
            }
        }
        Ok(length)
    }

    /// Appends the tokens for a run of unknown characters: the piece with this spelling, the tokens
    /// of its bytes, or the unknown token.
    fn write_unknown(&self, word: &[u8], run: Range<usize>, out: &mut Vec<Symbol>) {
        let len = run.len() as u32;
        let text = if run.start == 0 { self.spelled(&word[run]) } else { Cow::Borrowed(&word[run]) };
        let text = &*text;
        if let Some(id) = self.trie.id(text).filter(|_| self.looks_up_unknown) {
            push(out, Symbol { id, len });
        } else if let Some(ids) = self.byte_tokens(text) {
            // Each byte token covers the whole run, as in the reference.
            let lens = std::iter::once(len).chain(std::iter::repeat(Symbol::SAME));
            out.grow(text.len());
            out.extend(ids.zip(lens).map(|(id, len)| Symbol { id, len }));
        } else {
            push(
                out,
                Symbol { id: self.unk_id.expect("there are unknown characters only with an unknown token"), len },
            );
        }
    }

    /// The meta symbol at the start of a word, if there is one.
    #[inline]
    fn meta_symbol_of(&self, word: &[u8]) -> Option<&MetaSymbol> {
        self.meta_symbol.as_ref().filter(|_| word.first() == Some(&b' '))
    }

    /// The text with the meta symbol as the vocabulary spells it.
    fn spelled<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        match self.meta_symbol_of(text) {
            None => Cow::Borrowed(text),
            Some(meta) => Cow::Owned(concat(&[meta.character.encode_utf8(&mut [0; 4]).as_bytes(), &text[1..]])),
        }
    }

    pub(crate) fn meta_symbol(&self) -> Option<char> {
        self.meta_symbol.as_ref().map(|meta| meta.character)
    }

    /// The byte tokens of a text, if every byte has one.
    fn byte_tokens<'a>(&'a self, text: &'a [u8]) -> Option<impl Iterator<Item = u32> + use<'a>> {
        let bytes = self.bytes.as_ref()?;
        let id = |byte: &u8| bytes[usize::from(*byte)];
        text.iter().all(|byte| id(byte).is_some()).then(|| text.iter().filter_map(id))
    }

    /// The text of an unknown token that covers `text`; `None` for other tokens.
    pub(crate) fn unknown_text<'a>(&self, id: u32, text: &'a str) -> Option<Cow<'a, str>> {
        let spelled = self.spelled(text.as_bytes());
        let is_unknown = self.unk_id == Some(id) && (!self.looks_up_unknown || self.trie.id(&spelled).is_none());
        (is_unknown && self.byte_tokens(&spelled).is_none()).then(|| match spelled {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(spelled) => Cow::Owned(String::from_utf8_lossy(&spelled).into_owned()),
        })
    }

    /// Whether this is the unknown token, which can cover any text.
    pub(crate) fn is_unknown(&self, id: u32) -> bool {
        self.unk_id == Some(id)
    }

    pub(super) fn unk_id(&self) -> Option<u32> {
        self.unk_id
    }

    /// The index of the unknown token in a word with these ids, if it occurs once and all other
    /// tokens have their usual lengths: there are no byte tokens, and the word has no spelled-out
    /// meta symbol.
    pub(crate) fn varying_token(&self, word: &[u8], ids: &[u32]) -> Option<usize> {
        let spelled = self.meta_symbol().map(|meta_symbol| meta_symbol.encode_utf8(&mut [0; 4]).as_bytes()[0]);
        if self.bytes.is_some() || spelled.is_some_and(|first| word.contains(&first)) {
            return None;
        }
        let mut unknown = ids.iter().enumerate().filter(|&(_, &id)| self.is_unknown(id));
        let (at, _) = unknown.next()?;
        unknown.next().is_none().then_some(at)
    }

    /// Whether every byte has a token, so that tokens cover a bounded length of text.
    pub(crate) fn knows_all_bytes(&self) -> bool {
        self.bytes.as_ref().is_some_and(|bytes| bytes.iter().all(Option::is_some))
    }

    pub(crate) fn scores(&self) -> &Arc<[f64]> {
        &self.scores
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let bytes = self.bytes.as_ref().map_or(0, |bytes| size_of_val(&**bytes));
        let long = self.long.as_ref().map_or(0, Automaton::memory_bytes);
        let in_trie = self.meta_symbol.as_ref().and_then(|meta| meta.in_trie.as_ref());
        let starts = self.start.memory_bytes() + in_trie.map_or(0, |in_trie| in_trie.0.memory_bytes());
        let flat = self.flat.as_ref().map_or(0, |flat| size_of_val(&*flat.scores));
        self.trie.memory_bytes() + starts + size_of_val(&*self.scores) + bytes + long + flat
    }
}

/// Writes the pieces of the best path as tokens. Adjacent unknown characters are one run.
struct Writer<'a> {
    model: &'a Unigram,
    word: &'a [u8],
    unknown: Option<Range<usize>>,
    out: &'a mut Vec<Symbol>,
}

impl Writer<'_> {
    #[inline(always)]
    fn write(&mut self, start: usize, end: usize, id: u32) {
        if Some(id) == self.model.unk_id {
            self.unknown.get_or_insert(start..start).end = end;
        } else {
            self.end_unknown();
            push(self.out, Symbol { id, len: (end - start) as u32 });
        }
    }

    #[inline(always)]
    fn end_unknown(&mut self) {
        if let Some(run) = self.unknown.take() {
            self.model.write_unknown(self.word, run, self.out);
        }
    }
}

/// Length in bytes of the character that starts with this byte.
#[inline]
pub(super) fn character_len(first: u8) -> usize {
    match first {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::naive_models;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        #[test]
        fn words_are_cut_as_by_definition(
            // Few distinct scores produce ties; fractional ones produce rounding.
            pieces in prop::collection::vec(("[abé▁]{0,5}|<0x(61|62|C3|A9|78)>", prop_oneof![
                4 => (-3i32..3).prop_map(f64::from), 2 => (-30i32..30).prop_map(|score| f64::from(score) / 10.0), 1 => -1e15..1e15,
            ]), 1..30),
            unk_id in prop::option::weighted(0.9, any::<prop::sample::Index>()),
            byte_fallback in any::<bool>(),
            words in prop::collection::vec("[abé▁x]{0,40}", 1..20),
        ) {
            let mut builder = Vocab::builder(pieces.len(), 0);
            for ((piece, _), id) in pieces.iter().zip(0..) {
                builder.push(piece.as_bytes(), id).expect("there is memory");
            }
            let vocab = builder.finish_list().expect("there is memory");
            let scores: Arc<[f64]> = pieces.iter().map(|piece| piece.1).collect();
            let unk_id = unk_id.map(|index| index.index(pieces.len()) as u32);
            let settings = UnigramSettings { unk_id, byte_fallback };
            let model = Unigram::new(&settings, &vocab, Arc::clone(&scores), None).expect("there is memory");
            let by_automaton = Unigram::with_limit(&settings, &vocab, Arc::clone(&scores), model.unknown_score, None, 0).expect("there is memory");
            prop_assert_eq!(model.flat.as_ref().map(|flat| flat.unknown), unk_id);
            let without_flat = |meta_symbol| {
                let model = Unigram::new(&settings, &vocab, Arc::clone(&scores), meta_symbol).expect("there is memory");
                Unigram { flat: None, ..model }
            };
            let by_offers = without_flat(None);
            let with_meta_symbol = [MAX_TRIE_TOKEN_BYTES, 0].map(|limit| {
                Unigram::with_limit(&settings, &vocab, Arc::clone(&scores), model.unknown_score, Some('▁'), limit).expect("there is memory")
            });
            let [flat, long] = with_meta_symbol;
            let with_meta_symbol = [flat, long, without_flat(Some('▁'))];
            let mut scratch = Scratch::default();
            for word in &words {
                let mut out: Vec<Symbol> = vec![];
                let fast = model.tokenize(word.as_bytes(), &mut scratch, &mut out).map(|()| out);
                let slow = naive_models::unigram(&settings, &vocab, &scores, word);
                prop_assert_eq!(&fast, &slow, "{:?}", word);
                let mut tokens = |model: &Unigram, word: &str| {
                    let mut out: Vec<Symbol> = vec![];
                    model.tokenize(word.as_bytes(), &mut scratch, &mut out).map(|()| out)
                };
                prop_assert_eq!(&tokens(&by_automaton, word), &slow, "{:?}", word);
                prop_assert_eq!(&tokens(&by_offers, word), &slow, "{:?}", word);
                // A space in place of the meta symbol, which is two bytes shorter.
                let slow = naive_models::unigram(&settings, &vocab, &scores, &format!("▁{word}")).map(|mut symbols| {
                    symbols[0].len -= 2;
                    symbols
                });
                for model in &with_meta_symbol {
                    prop_assert_eq!(&tokens(model, &format!(" {word}")), &slow, "{:?}", word);
                    prop_assert_eq!(tokens(model, word), naive_models::unigram(&settings, &vocab, &scores, word));
                }
            }
        }
    }
}
