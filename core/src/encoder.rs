//! One worker's way of encoding: the stages in order over one text, with the state that goes from text to text.

use std::borrow::Cow;

use crate::added_tokens::{Policy, Segment, Stage};
use crate::aligned::AlignedText;
use crate::bpe::{MergeScratch, Symbol, WordCache};
use crate::encoding::{Columns, Encoding, OffsetUnit, UnitCursor};
use crate::error::EncodeError;
use crate::post_processor::{self, Piece};
use crate::pretokenizer::scanner::Scanner;
use crate::pretokenizer::splits::Splits;
use crate::span::Span;
use crate::text::Text;
use crate::tokenizer::Tokenizer;

/// Words that a scanner hands over at a time: few enough that they stay in the nearest cache.
const WORDS_AT_A_TIME: usize = 256;

/// What one worker needs to encode, beside the [`Tokenizer`]. It belongs to one worker at a time and remembers words.
#[derive(Debug)]
pub(crate) struct Encoder {
    words: Words,
    text: AlignedText,
    splits: Splits,
    ends: Vec<u32>,
    utf8: String,
    /// Where a count puts the ids that nobody wants.
    counted: Encoding,
}

/// The state of the model's part.
#[derive(Debug)]
struct Words {
    cache: WordCache,
    scratch: MergeScratch,
    symbols: Vec<Symbol>,
}

/// A call's options, resolved against the tokenizer.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) add_special_tokens: bool,
    pub(crate) policy: Policy,
    pub(crate) columns: Columns,
    pub(crate) offset_unit: OffsetUnit,
}

/// Where a row's tokens go and what is wanted of them.
struct Row<'a> {
    out: &'a mut Encoding,
    columns: Columns,
    /// The whole text of the row: where spans of unchanged text are widened to whole characters.
    original: &'a str,
    type_id: u32,
    /// The number of the next word.
    word: u32,
}

/// Words of one text: what the model sees, and where that came from.
struct Source<'a> {
    text: &'a str,
    /// Where in the original `text` starts; of no meaning when there are origins.
    base: usize,
    /// One span of the original per byte of `text`, when it is not the original itself.
    origins: Option<&'a [Span]>,
}

impl Encoder {
    pub(crate) fn new(cache_bytes: usize, seed: u64) -> Self {
        Self {
            words: Words {
                cache: WordCache::new(cache_bytes),
                scratch: MergeScratch::with_seed(seed),
                symbols: Vec::new(),
            },
            text: AlignedText::default(),
            splits: Splits::default(),
            ends: Vec::with_capacity(WORDS_AT_A_TIME),
            utf8: String::new(),
            counted: Encoding::default(),
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.words.cache.memory_bytes()
    }

    pub(crate) fn cache_counts(&self) -> (u64, u64) {
        self.words.cache.counts()
    }

    /// Lets go of buffers that an unusually long text made grow.
    pub(crate) fn trim(&mut self) {
        const KEEP: usize = 1 << 20;
        self.words.scratch.trim();
        if self.utf8.capacity() > KEEP {
            self.utf8 = String::new();
        }
        if self.counted.ids.capacity() > KEEP {
            self.counted = Encoding::default();
        }
        if self.text.as_str().len() > KEEP {
            self.text = AlignedText::default();
            self.splits = Splits::default();
        }
    }

    /// Appends the tokens of one text to `out`.
    pub(crate) fn encode(
        &mut self,
        tokenizer: &Tokenizer,
        text: Text<'_>,
        plan: &Plan,
        out: &mut Encoding,
    ) -> Result<(), EncodeError> {
        let mut buffer = std::mem::take(&mut self.utf8);
        let result = text.to_utf8(&mut buffer).and_then(|text| self.encode_utf8(tokenizer, text, plan, out));
        self.utf8 = buffer;
        result
    }

    /// How many tokens one text has.
    pub(crate) fn count(&mut self, tokenizer: &Tokenizer, text: Text<'_>, plan: &Plan) -> Result<usize, EncodeError> {
        let mut out = std::mem::take(&mut self.counted);
        out.clear();
        let result = self.encode(tokenizer, text, plan, &mut out).map(|()| out.len());
        self.counted = out;
        result
    }

    fn encode_utf8(
        &mut self,
        tokenizer: &Tokenizer,
        text: &str,
        plan: &Plan,
        out: &mut Encoding,
    ) -> Result<(), EncodeError> {
        for piece in tokenizer.post_processor.pieces(plan.add_special_tokens) {
            match piece {
                Piece::Special { ids, tokens, type_id } => {
                    post_processor::push_special(ids, tokens, *type_id, plan.columns, out);
                }
                Piece::Sequence { type_id } => {
                    let first = out.offsets.len();
                    let mut row = Row { out, columns: plan.columns, original: text, type_id: *type_id, word: 0 };
                    self.sequence(tokenizer, &plan.policy, &mut row)?;
                    convert_offsets(text, plan.offset_unit, &mut out.offsets[first..]);
                }
            }
        }
        Ok(())
    }

    /// The stages, on the text between added tokens.
    fn sequence(&mut self, tokenizer: &Tokenizer, policy: &Policy, row: &mut Row<'_>) -> Result<(), EncodeError> {
        let original = row.original;
        tokenizer.added_tokens.segments(Stage::Raw, original, policy, |segment| match segment {
            Segment::Token { token, span } => {
                let content = &original[span.range()];
                row.push_added(tokenizer.added_tokens.tokens()[token].id, content, span);
                Ok(())
            }
            Segment::Text(span) => self.segment(tokenizer, policy, span, row),
        })
    }

    fn segment(
        &mut self,
        tokenizer: &Tokenizer,
        policy: &Policy,
        span: Span,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let text = &row.original[span.range()];
        let base = span.start as usize;
        let unchanged = tokenizer.normalizer.as_ref().is_none_or(|normalizer| normalizer.leaves(text));
        let no_more_tokens = tokenizer.added_tokens.is_idle(Stage::Normalized);
        if unchanged
            && no_more_tokens
            && let Some(scanner) = tokenizer.scanner
        {
            let source = Source { text, base, origins: None };
            return self.words.scan(&mut self.ends, tokenizer, scanner, &source, row);
        }
        let tracked = row.needs_positions() || tokenizer.needs_origins;
        let mut normalized = std::mem::take(&mut self.text);
        normalized.start(text, base, tracked);
        if let Some(normalizer) = &tokenizer.normalizer {
            normalizer.normalize(&mut normalized);
        }
        let result = if no_more_tokens {
            self.pieces(tokenizer, &mut normalized, row)
        } else {
            self.normalized_segments(tokenizer, policy, &normalized, row)
        };
        self.text = normalized;
        result
    }

    /// Cuts out the tokens that are sought in normalized text, then goes on with what lies between them.
    fn normalized_segments(
        &mut self,
        tokenizer: &Tokenizer,
        policy: &Policy,
        normalized: &AlignedText,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let mut between = AlignedText::default();
        tokenizer.added_tokens.segments(Stage::Normalized, normalized.as_str(), policy, |segment| match segment {
            Segment::Token { token, span } => {
                let content = &normalized.as_str()[span.range()];
                let origin = normalized.origin_of(span);
                row.push_added(tokenizer.added_tokens.tokens()[token].id, content, origin);
                Ok(())
            }
            Segment::Text(span) => {
                between.start_slice(normalized, span);
                self.pieces(tokenizer, &mut between, row)
            }
        })
    }

    /// Pre-tokenizer and model on a normalized text.
    fn pieces(&mut self, tokenizer: &Tokenizer, text: &mut AlignedText, row: &mut Row<'_>) -> Result<(), EncodeError> {
        if let Some(scanner) = tokenizer.scanner {
            let source =
                Source { text: text.as_str(), base: text.base(), origins: text.is_tracked().then(|| text.origins()) };
            return self.words.scan(&mut self.ends, tokenizer, scanner, &source, row);
        }
        self.splits.start(Span::new(0, text.as_str().len()));
        tokenizer.pretokenizer.apply(text, &mut self.splits)?;
        let source =
            Source { text: text.as_str(), base: text.base(), origins: text.is_tracked().then(|| text.origins()) };
        for &span in self.splits.spans() {
            self.words.word(tokenizer, &source, span, row)?;
        }
        Ok(())
    }
}

impl Words {
    /// Every word that `scanner` finds.
    fn scan(
        &mut self,
        ends: &mut Vec<u32>,
        tokenizer: &Tokenizer,
        scanner: Scanner,
        source: &Source<'_>,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let mut at = 0;
        while at < source.text.len() {
            let mut start = at as u32;
            ends.clear();
            at = scanner.scan(source.text, at, ends);
            for &end in &*ends {
                self.word(tokenizer, source, Span { start, end }, row)?;
                start = end;
            }
        }
        Ok(())
    }

    /// One word: its ids, from the cache or the model, and what else is wanted of them.
    #[inline]
    fn word(
        &mut self,
        tokenizer: &Tokenizer,
        source: &Source<'_>,
        span: Span,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let first = row.out.ids.len();
        let known = self.ids(tokenizer, source.text.as_bytes(), span, &mut row.out.ids)?;
        if row.columns != Columns::NONE {
            if !known {
                // Ids came from the cache but do not tell the lengths, or the cache was not asked.
                self.symbols.clear();
                let word = &source.text.as_bytes()[span.range()];
                tokenizer.bpe.tokenize(word, &mut self.scratch, &mut self.symbols)?;
            } else if self.symbols.is_empty() {
                let len = |&id: &u32| Symbol { id, len: tokenizer.token_len(id) };
                self.symbols.extend(row.out.ids[first..].iter().map(len));
            }
            row.push_columns(source, span, &self.symbols, tokenizer);
        }
        Ok(())
    }

    /// Appends a word's ids. Afterwards `symbols` holds the word's symbols if the model was asked and is empty if not;
    /// the answer is whether the symbols, or else the ids alone, tell how long each token is.
    #[inline]
    fn ids(&mut self, tokenizer: &Tokenizer, text: &[u8], span: Span, ids: &mut Vec<u32>) -> Result<bool, EncodeError> {
        self.symbols.clear();
        let (start, end) = (span.start as usize, span.end as usize);
        let key = WordCache::key(text, start, end);
        let use_cache = self.cache.is_on() && tokenizer.bpe.dropout.is_none();
        if use_cache {
            let hit = match key {
                Some(key) => self.cache.short(key),
                None => self.cache.long(&text[start..end]),
            };
            if let Some(hit) = hit {
                ids.extend_from_slice(hit.ids);
                return Ok(!hit.lengths_vary);
            }
        }
        self.miss(tokenizer, text, span, use_cache.then_some(key), ids)?;
        Ok(true)
    }

    #[cold]
    fn miss(
        &mut self,
        tokenizer: &Tokenizer,
        text: &[u8],
        span: Span,
        remember_as: Option<Option<u128>>,
        ids: &mut Vec<u32>,
    ) -> Result<(), EncodeError> {
        let word = &text[span.range()];
        tokenizer.bpe.tokenize(word, &mut self.scratch, &mut self.symbols)?;
        ids.extend(self.symbols.iter().map(|symbol| symbol.id));
        if let Some(key) = remember_as {
            let varies = |symbol: &Symbol| tokenizer.token_len(symbol.id) != symbol.len;
            let lengths_vary = tokenizer.bpe.lengths_vary() && self.symbols.iter().any(varies);
            self.cache.insert(word, key, &self.symbols, lengths_vary);
        }
        Ok(())
    }
}

impl Row<'_> {
    fn needs_positions(&self) -> bool {
        self.columns.contains(Columns::OFFSETS)
    }

    /// An added token that the text holds.
    fn push_added(&mut self, id: u32, content: &str, span: Span) {
        self.out.ids.push(id);
        self.fill_columns(1);
        if self.columns.contains(Columns::TOKENS) {
            self.out.tokens.push(content.to_owned());
        }
        if self.columns.contains(Columns::OFFSETS) {
            self.out.offsets.push([span.start, span.end]);
        }
        self.word += 1;
    }

    /// The columns of a word whose ids were just pushed.
    fn push_columns(&mut self, source: &Source<'_>, word: Span, symbols: &[Symbol], tokenizer: &Tokenizer) {
        self.fill_columns(symbols.len());
        if self.columns.contains(Columns::TOKENS) {
            let token = |symbol: &Symbol| tokenizer.model_token(symbol.id).map_or_else(String::new, Cow::into_owned);
            self.out.tokens.extend(symbols.iter().map(token));
        }
        if self.columns.contains(Columns::OFFSETS) {
            let mut start = word.start as usize;
            for symbol in symbols {
                let end = start + symbol.len as usize;
                let span = source.origin(start, end, self.original);
                self.out.offsets.push([span.start, span.end]);
                start = end;
            }
        }
        self.word += 1;
    }

    /// The columns that say the same of all tokens of a word.
    fn fill_columns(&mut self, count: usize) {
        let len = self.out.ids.len();
        debug_assert!(count <= len);
        if self.columns.contains(Columns::SPECIAL_TOKENS_MASK) {
            self.out.special_tokens_mask.resize(len, 0);
        }
        if self.columns.contains(Columns::TYPE_IDS) {
            self.out.type_ids.resize(len, self.type_id);
        }
        if self.columns.contains(Columns::ATTENTION_MASK) {
            self.out.attention_mask.resize(len, 1);
        }
        if self.columns.contains(Columns::WORD_IDS) {
            self.out.word_ids.resize(len, self.word);
        }
        if self.columns.contains(Columns::SEQUENCE_IDS) {
            self.out.sequence_ids.resize(len, 0);
        }
    }
}

impl Source<'_> {
    /// What `start..end` of the text stands for in the original, in whole characters.
    fn origin(&self, start: usize, end: usize, original: &str) -> Span {
        match self.origins {
            Some(origins) => match (origins.get(start), origins.get(end.saturating_sub(1))) {
                (Some(first), Some(last)) if start < end => Span { start: first.start, end: last.end },
                _ => Span::new(start.min(end), end),
            },
            None => {
                let floor = original.floor_char_boundary(self.base + start);
                Span::new(floor, original.ceil_char_boundary(self.base + end))
            }
        }
    }
}

fn convert_offsets(text: &str, unit: OffsetUnit, offsets: &mut [[u32; 2]]) {
    if offsets.is_empty() {
        return;
    }
    let Some(mut cursor) = UnitCursor::new(text, unit) else { return };
    for [start, end] in offsets {
        *start = cursor.convert(*start as usize);
        *end = cursor.convert(*end as usize);
    }
}
