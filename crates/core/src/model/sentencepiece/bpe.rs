//! BPE: merges the pair whose piece has the greatest score first, the leftmost of equal ones.
//!
//! The library merges two neighbours if their text together is a piece, whatever they are. That is
//! a list of merges: every way to split a piece into two parts that text can have, ranked by the
//! piece's score; pieces of equal score have equal ranks. So [`crate::bpe`] merges these models
//! too, with its cuts, blocks and merge loops. What remains here:
//!
//! - A character that is not a piece, but part of one, has an id of its own while it is merged, and
//!   is unknown afterwards. So is any other unknown character, whose id is in no merge.
//! - A user-defined symbol is found before any merge and never merged.
//! - A piece of type UNUSED is merged and, at the end, replaced by its two parts. If only one pair
//!   makes it, these are known at load. Otherwise the library takes the pair that it queued last,
//!   anywhere in the text. Such a model cuts no text, and [`merge::merge_and_observe`] tells it all
//!   pairs in the order in which the library queues them.

use std::collections::HashMap;

use super::{ModelParts, PieceKind, PieceWriter, SentencePiece};
use crate::bpe::alphabet::{CharacterIds, Characters, IdOf, Unknown};
use crate::bpe::merges::{Merge, Merges};
use crate::bpe::{Alphabet, Bpe, MergeScratch, Spaces, SplitPoints, Symbol, TokenTable, merge};
use crate::error::EncodeError;
use crate::memory::Grow;
use crate::memory::fallible::{append, push, require_for_tables};
use crate::model::unigram::character_len;
use crate::normalizer::sentencepiece::{META_SYMBOL, symbol_length};
use crate::word_key;

/// How the models read spaces.
pub(crate) const SPACES: Spaces = Spaces { meta_symbol: META_SYMBOL, start_words: false };

/// The merges of a model.
#[derive(Debug)]
pub(super) struct PieceMerger {
    pub(super) bpe: Bpe,
    /// The parts of each unused piece; `None` if they depend on the text.
    unused: Option<UnusedParts>,
    /// Whether there are neither user-defined symbols nor unused pieces that text can become.
    is_plain: bool,
}

/// The left and the right part of each piece of type UNUSED.
type UnusedParts = HashMap<u32, [Symbol; 2], foldhash::fast::RandomState>;

/// Buffers, reused from text to text.
#[derive(Debug, Default)]
pub(super) struct PieceMergeScratch {
    /// The text with meta symbols instead of spaces.
    text: Vec<u8>,
    symbols: Vec<Symbol>,
    unused: UnusedParts,
    /// The parts of an unused piece that are still to be written, each with the number of pieces
    /// that it is a part of.
    pending: Vec<(Symbol, usize)>,
}

impl PieceMergeScratch {
    pub(super) fn trim(&mut self) {
        const MAX_KEPT: usize = 1 << 14;
        let Self { text, symbols, unused, .. } = self;
        if text.capacity().max(symbols.capacity()).max(unused.capacity()) > MAX_KEPT {
            *self = Self::default();
        }
    }
}

/// How many times the library splits an unused piece and its left or right part again.
const MAX_SPLIT_DEPTH: usize = 100;

/// The texts that symbols can have: those of pieces, by id, and of characters that are no pieces,
/// whose ids follow.
struct SymbolTexts<'a> {
    pieces: &'a [&'a str],
    characters: Vec<String>,
}

impl SymbolTexts<'_> {
    fn get(&self, id: u32) -> &str {
        let id = id as usize;
        self.pieces.get(id).copied().unwrap_or_else(|| &self.characters[id - self.pieces.len()])
    }

    fn symbol(&self, id: u32) -> Symbol {
        Symbol { id, len: self.get(id).len() as u32 }
    }
}

impl PieceMerger {
    /// `texts` are those of all pieces, by id. With `reads_spaces` the model can take a text whose
    /// spaces are not replaced, if it can cut it.
    pub(super) fn new(parts: &ModelParts, texts: &[&str], reads_spaces: bool) -> Self {
        /// Upper bound of the bytes per piece in the tables that are built here.
        const BYTES_PER_PIECE: usize = 128;
        require_for_tables(texts.len().saturating_mul(BYTES_PER_PIECE));
        let is_merged = |&&id: &&u32| parts.kinds[id as usize] != PieceKind::UserDefined;
        let ids: Vec<u32> = (0..).zip(&parts.kinds).filter(|(_, kind)| kind.is_in_text()).map(|(id, _)| id).collect();
        let (mut characters, mut tokens) = (IdOf::default(), TokenTable::builder(ids.len()));
        for &id in ids.iter().filter(is_merged) {
            let text = texts[id as usize];
            tokens.push(text.as_bytes(), id);
            if let Some(character) = only_character(text) {
                characters.insert(character, id);
            }
        }
        let mut symbols = SymbolTexts { pieces: texts, characters: vec![] };
        for &id in ids.iter().filter(is_merged) {
            for character in texts[id as usize].chars() {
                let next_id = (texts.len() + symbols.characters.len()) as u32;
                if *characters.entry(character).or_insert(next_id) == next_id {
                    let text = String::from(character);
                    tokens.push(text.as_bytes(), next_id);
                    push(&mut symbols.characters, text);
                }
            }
        }
        let pairs = parts.pairs(texts, ids.iter().filter(is_merged).copied(), &tokens.finish());
        let unused = parts.unused(&symbols, &pairs);
        let is_known = |id: &u32| parts.kinds.get(*id as usize).is_some_and(|&kind| kind != PieceKind::Unused);
        let knows_characters = characters.values().all(is_known);
        // A space has the bytes of a space where the meta symbol is unknown.
        let reads_spaces = reads_spaces && characters.get(&META_SYMBOL).is_some_and(is_known);
        let unknown_id = (texts.len() + symbols.characters.len()) as u32;
        let characters = Characters {
            ids: CharacterIds::new(std::array::from_fn(|_| characters.clone())),
            byte_fallback: None,
            unknown: Some(Unknown { token: String::new(), id: Some(unknown_id), fuse: false }),
            continuing_subword_prefix: String::new(),
            end_of_word_suffix: String::new(),
        };
        // Without byte fallback a run of unknown characters is one token.
        let fuses_unknown = parts.bytes.is_none();
        let is_cut = unused.is_some() && (knows_characters || !fuses_unknown);
        let split_points = is_cut.then(|| {
            let merged = pairs.iter().map(|&(left, right, _)| (symbols.get(left), symbols.get(right)));
            // A user-defined symbol is found before anything merges, so that no text is cut in it.
            let user_defined = ids.iter().filter(|id| !is_merged(id)).map(|&id| texts[id as usize]);
            let parted = user_defined.flat_map(|text| text.char_indices().skip(1).map(|(at, _)| text.split_at(at)));
            SplitPoints::new(merged.chain(parted), &characters, reads_spaces.then_some(&SPACES), fuses_unknown)
        });
        let mut bpe = Bpe::new(Alphabet::Characters(Box::new(characters)), Merges::new(&pairs).into(), None, None);
        bpe.split_points = split_points.flatten();
        if reads_spaces
            && bpe.split_points.is_some()
            && let Alphabet::Characters(characters) = &mut bpe.alphabet
        {
            characters.read_space_as(META_SYMBOL);
        }
        bpe.reads_spaces = reads_spaces && bpe.split_points.is_some();
        let is_plain = parts.symbols.is_none() && unused.as_ref().is_some_and(HashMap::is_empty);
        Self { bpe, unused, is_plain }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let unused = self.unused.as_ref().map_or(0, |parts| parts.capacity() * size_of::<(u32, [Symbol; 2])>());
        self.bpe.memory_bytes() + unused
    }
}

impl ModelParts {
    /// Every pair of symbols that is a piece, with the piece and its rank. Pieces of equal score
    /// have the same rank.
    fn pairs(
        &self,
        texts: &[&str],
        ids: impl Iterator<Item = u32> + Clone,
        tokens: &TokenTable,
    ) -> Vec<(u32, u32, Merge)> {
        let score = |id: u32| self.scores[id as usize];
        let mut scores: Vec<f32> = ids.clone().map(score).collect();
        // No score is NaN. As in the library, -0.0 is less than 0.0.
        scores.sort_unstable_by(|a, b| b.total_cmp(a));
        scores.dedup_by(|a, b| a.total_cmp(b).is_eq());
        let rank = |id: u32| scores.partition_point(|other| other.total_cmp(&score(id)).is_gt()) as u32;
        let mut pairs = vec![];
        let words = ids.map(|id| (texts[id as usize].as_bytes(), id)).map(|(text, id)| (text, id, 1..text.len()));
        tokens.pairs(words, |left, right, id| push(&mut pairs, (left, right, Merge { rank: rank(id), id })));
        pairs
    }

    /// The parts of the unused pieces; `None` if several pairs make the same one.
    fn unused(&self, symbols: &SymbolTexts<'_>, pairs: &[(u32, u32, Merge)]) -> Option<UnusedParts> {
        let mut unused = UnusedParts::default();
        for &(left, right, Merge { id, .. }) in pairs {
            if self.kinds[id as usize] == PieceKind::Unused
                && unused.insert(id, [left, right].map(|part| symbols.symbol(part))).is_some()
            {
                return None;
            }
        }
        Some(unused)
    }
}

/// The character of a text that consists of one.
fn only_character(text: &str) -> Option<char> {
    let mut characters = text.chars();
    characters.next().filter(|_| characters.next().is_none())
}

impl SentencePiece {
    /// Writes the pieces of a text, in which spaces may stand for meta symbols if the model reads
    /// them.
    pub(super) fn merge(
        &self,
        word: &[u8],
        (scratch, merge_scratch): (&mut PieceMergeScratch, &mut MergeScratch),
        writer: &mut PieceWriter<'_>,
    ) -> Result<(), EncodeError> {
        let merger = self.merger.as_ref().expect("BPE has merges");
        let PieceMergeScratch { text, symbols, unused, pending } = scratch;
        let has_spaces = !merger.is_plain && merger.bpe.reads_spaces && memchr::memchr(b' ', word).is_some();
        let text = if has_spaces { with_meta_symbols(word, text) } else { word };
        symbols.clear();
        let first = writer.out.len();
        let unused = match &merger.unused {
            Some(parts) => {
                self.each_segment(text, |segment| match segment {
                    Segment::Symbol(symbol) => {
                        push(symbols, symbol);
                        Ok(())
                    }
                    Segment::Text(part) => merger.bpe.tokenize(part, word_key::of_word(part), merge_scratch, symbols),
                })?;
                parts
            }
            None => {
                self.each_segment(text, |segment| match segment {
                    Segment::Symbol(symbol) => {
                        push(symbols, symbol);
                        Ok(())
                    }
                    Segment::Text(part) => {
                        merger.bpe.alphabet.symbols(part, &mut merge_scratch.symbols)?;
                        append(symbols, &merge_scratch.symbols);
                        Ok(())
                    }
                })?;
                std::mem::swap(symbols, &mut merge_scratch.symbols);
                unused.clear();
                merge::merge_and_observe(&merger.bpe.merges, merge_scratch, &mut |left, right, id| {
                    if self.parts.kinds[id as usize] == PieceKind::Unused {
                        unused.insert(id, [left, right]);
                    }
                });
                std::mem::swap(symbols, &mut merge_scratch.symbols);
                unused
            }
        };
        let mut start = 0;
        for &symbol in &*symbols {
            if unused.is_empty() {
                start = self.write_symbol(text, start, symbol, writer);
                continue;
            }
            push(pending, (symbol, 0));
            while let Some((symbol, depth)) = pending.pop() {
                // As in the library, a piece that is a part of too many others stays.
                if let Some(&[left, right]) = unused.get(&symbol.id).filter(|_| depth <= MAX_SPLIT_DEPTH) {
                    push(pending, (right, depth + 1));
                    push(pending, (left, depth + 1));
                    continue;
                }
                if unused.contains_key(&symbol.id) {
                    let end = start + symbol.len as usize;
                    writer.write(end - start, &text[start..end], symbol.id);
                    start = end;
                } else {
                    start = self.write_symbol(text, start, symbol, writer);
                }
            }
        }
        if has_spaces {
            count_spaces(word, &mut writer.out[first..]);
        }
        Ok(())
    }

    /// Writes a symbol of a text as a piece, or as an unknown one. Returns its end.
    fn write_symbol(&self, text: &[u8], start: usize, symbol: Symbol, writer: &mut PieceWriter<'_>) -> usize {
        let end = start + symbol.len as usize;
        let is_known = self.parts.kinds.get(symbol.id as usize).is_some_and(|&kind| kind != PieceKind::Unused);
        writer.write(end - start, &text[start..end], if is_known { symbol.id } else { self.parts.unk_id });
        end
    }

    /// Appends the pieces of a part of a text, given its symbols, if [`Self::bpe_in_parts`].
    pub(crate) fn write_symbols(&self, part: &[u8], symbols: &[Symbol], out: &mut Vec<Symbol>) {
        let mut writer = PieceWriter { model: self, after_unknown: false, out };
        symbols.iter().fold(0, |start, &symbol| self.write_symbol(part, start, symbol, &mut writer));
    }

    /// The merges, if every symbol becomes pieces whatever is before it.
    pub(crate) fn bpe_in_parts(&self) -> Option<&Bpe> {
        let merger = self.merger.as_ref().filter(|merger| merger.is_plain && self.parts.bytes.is_some());
        merger.map(|merger| &merger.bpe)
    }

    /// Calls `each` with the user-defined symbols of a text and with the texts between them.
    fn each_segment<'t>(
        &self,
        text: &'t [u8],
        mut each: impl FnMut(Segment<'t>) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        let (mut start, mut at) = (0, 0);
        if let Some(symbols) = &self.parts.symbols {
            while at < text.len() {
                let Some(len) = symbol_length(symbols, &text[at..]) else {
                    at += character_len(text[at]);
                    continue;
                };
                if start < at {
                    each(Segment::Text(&text[start..at]))?;
                }
                let id = symbols.id(&text[at..at + len]).expect("a symbol has this length");
                each(Segment::Symbol(Symbol { id, len: len as u32 }))?;
                at += len;
                start = at;
            }
        }
        if start < text.len() { each(Segment::Text(&text[start..])) } else { Ok(()) }
    }
}

/// A part of a text.
enum Segment<'t> {
    Symbol(Symbol),
    Text(&'t [u8]),
}

/// Copies a word with meta symbols instead of its spaces.
fn with_meta_symbols<'t>(word: &[u8], text: &'t mut Vec<u8>) -> &'t [u8] {
    let mut buffer = [0; 4];
    let meta_symbol = META_SYMBOL.encode_utf8(&mut buffer).as_bytes();
    text.clear();
    text.grow(word.len() * meta_symbol.len());
    for byte in word {
        text.extend_from_slice(if *byte == b' ' { meta_symbol } else { std::slice::from_ref(byte) });
    }
    text
}

/// Changes the lengths of the symbols of a word, in which each meta symbol has three bytes, to
/// those of its spaces.
fn count_spaces(word: &[u8], symbols: &mut [Symbol]) {
    let mut bytes = word.iter();
    for symbol in symbols.iter_mut().filter(|symbol| symbol.len != Symbol::SAME) {
        let (mut text_len, mut len) = (0, 0);
        while text_len < symbol.len {
            text_len += if bytes.next() == Some(&b' ') { META_SYMBOL.len_utf8() as u32 } else { 1 };
            len += 1;
        }
        symbol.len = len;
    }
}
