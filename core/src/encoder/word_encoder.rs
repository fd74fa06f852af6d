//! The model's part of encoding: words to ids, from the cache or by merging. Most of the time of encoding is spent here.

use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use super::miss_batch::MissBatcher;
use super::row::{Origins, Row, Source};
use crate::bpe::word_cache::MAX_IDS;
use crate::bpe::word_cache::Probes;
use crate::bpe::word_cache::key::{self, Key};
use crate::bpe::{Bpe, Spaces, Symbol, WordCache};
use crate::encoding::Columns;
use crate::error::EncodeError;
use crate::model::ModelScratch;
use crate::pretokenizer::scanner::{Scanner, WORDS_AT_A_TIME};
use crate::segmenter::SegmentedWords;
use crate::simd::append::Appender;
use crate::simd::{self, Simd};
use crate::span::Span;
use crate::tokenizer::Tokenizer;

/// The state of the model's part.
#[derive(Debug)]
pub(super) struct WordEncoder {
    pub(super) cache: WordCache,
    pub(super) scratch: ModelScratch,
    symbols: Vec<Symbol>,
    /// Where the words end that a scanner handed over last,
    ends: Vec<u32>,
    /// and where they would be in the cache.
    probes: Probes,
    #[cfg(target_arch = "x86_64")]
    pub(super) miss_batcher: MissBatcher,
}

/// So many words at most have room made for their ids together.
const RESERVED_WORDS: usize = 32;

/// Adjacent words of a text, whose cache lines were asked for.
pub(super) struct WordWindow<'a> {
    pub(super) text: &'a [u8],
    start: u32,
    pub(super) ends: &'a [u32],
    pub(super) probes: &'a Probes,
}

impl WordWindow<'_> {
    #[inline(always)]
    pub(super) fn span(&self, at: usize) -> Span {
        Span { start: if at == 0 { self.start } else { self.ends[at - 1] }, end: self.ends[at] }
    }
}

impl WordEncoder {
    pub(super) fn new(cache_bytes: usize, seed: u64) -> Self {
        Self {
            cache: WordCache::new(cache_bytes),
            scratch: ModelScratch::with_seed(seed),
            symbols: Vec::new(),
            ends: Vec::with_capacity(WORDS_AT_A_TIME),
            probes: Probes::default(),
            #[cfg(target_arch = "x86_64")]
            miss_batcher: MissBatcher::default(),
        }
    }

    /// Every word that `scanner` finds.
    pub(super) fn encode_scanned(
        &mut self,
        tokenizer: &Tokenizer,
        scanner: Scanner,
        source: &Source<'_>,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let text = source.text;
        simd::dispatch(
            #[inline(always)]
            || {
                self.encode_words(
                    tokenizer,
                    source,
                    0,
                    #[inline(always)]
                    |at, ends| scanner.scan(text, at, ends),
                    |_| true,
                    row,
                )
            },
        )
    }

    /// Encodes the text from byte `at` on in the pieces that the model's split points allow. The
    /// pieces belong to one word, which starts at `at`; or, with `spaces`, to the previous word and
    /// to those that start after it.
    pub(super) fn encode_pieces(
        &mut self,
        tokenizer: &Tokenizer,
        bpe: &Bpe,
        source: &Source<'_>,
        at: usize,
        spaces: Option<Spaces>,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let text = source.text;
        let starts_word = |start: usize| match spaces {
            Some(Spaces { mark, start_words }) => start_words && text[start..].starts_with([' ', mark]),
            None => start == at,
        };
        let alphabet = &bpe.alphabet;
        let split_points = bpe.split_points.as_ref().expect("only words of a model with split points are cut");
        simd::dispatch(
            #[inline(always)]
            || {
                self.encode_words(
                    tokenizer,
                    source,
                    at,
                    #[inline(always)]
                    |at, ends| split_points.split(alphabet, text, at, ends),
                    starts_word,
                    row,
                )
            },
        )
    }

    /// Encodes the words that a segmenter wrote from byte `base` of the original on.
    pub(super) fn encode_segmented(
        &mut self,
        tokenizer: &Tokenizer,
        words: &SegmentedWords,
        base: usize,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        simd::dispatch(
            #[inline(always)]
            || self.encode_segmented_inline(tokenizer, words, base, row),
        )
    }

    #[inline(always)]
    fn encode_segmented_inline(
        &mut self,
        tokenizer: &Tokenizer,
        words: &SegmentedWords,
        base: usize,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let (text, ends) = (words.padded_bytes(), words.ends());
        if ends.is_empty() {
            return Ok(());
        }
        let together = self.cache.is_on() && tokenizer.model.is_deterministic();
        let mut probes = std::mem::take(&mut self.probes);
        if together {
            self.cache.prefetch(text, 0, ends, &mut probes);
        }
        let window = WordWindow { text, start: 0, ends, probes: &probes };
        let result = if together && row.columns == Columns::NONE {
            self.push_ids(tokenizer, &window, 0..ends.len(), &mut row.out.ids).map(|_| ())
        } else {
            let text = simdutf8::basic::from_utf8(words.bytes()).expect("a segmenter writes characters");
            let source = Source { text, origins: Origins::Words(words, base) };
            match together {
                true => self.push_tokens(tokenizer, &source, &window, &|_| true, row),
                false => self.push_tokens_scalar(tokenizer, &source, 0, ends, &|_| true, row),
            }
        };
        self.probes = probes;
        result
    }

    /// Words or pieces of them from byte `at` of the text on. `next` appends to a list where some of them end, and tells
    /// where the one behind those starts; `starts_word` whether a piece is the first of its word.
    #[inline(always)]
    fn encode_words(
        &mut self,
        tokenizer: &Tokenizer,
        source: &Source<'_>,
        at: usize,
        next: impl Fn(usize, &mut Vec<u32>) -> usize,
        starts_word: impl Fn(usize) -> bool,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let (mut ends, mut probes) = (std::mem::take(&mut self.ends), std::mem::take(&mut self.probes));
        let together = self.cache.is_on() && tokenizer.model.is_deterministic();
        let ids_only = row.columns == Columns::NONE;
        let mut at = at;
        let mut result = Ok(());
        while at < source.text.len() && result.is_ok() && row.wants_more() {
            let start = at as u32;
            ends.clear();
            at = next(at, &mut ends);
            if !together {
                result = self.push_tokens_scalar(tokenizer, source, start, &ends, &starts_word, row);
                continue;
            }
            self.cache.prefetch(source.text.as_bytes(), start, &ends, &mut probes);
            let window = WordWindow { text: source.text.as_bytes(), start, ends: &ends, probes: &probes };
            #[cfg(target_arch = "x86_64")]
            self.merge_misses(tokenizer, Simd::best(), &window);
            result = if ids_only {
                self.push_ids(tokenizer, &window, 0..ends.len(), &mut row.out.ids).map(|_| ())
            } else {
                self.push_tokens(tokenizer, source, &window, &starts_word, row)
            };
        }
        (self.ends, self.probes) = (ends, probes);
        result
    }

    /// The words of a window with the columns of their tokens.
    #[inline(always)]
    fn push_tokens(
        &mut self,
        tokenizer: &Tokenizer,
        source: &Source<'_>,
        window: &WordWindow<'_>,
        starts_word: &impl Fn(usize) -> bool,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        for at in (0..window.ends.len()).step_by(RESERVED_WORDS) {
            let words = at..window.ends.len().min(at + RESERVED_WORDS);
            let (start, ends) = (window.span(at).start, &window.ends[words.clone()]);
            let first = row.out.ids.len();
            if self.push_ids(tokenizer, window, words, &mut row.out.ids)? {
                row.push_words(source, start, ends, first, starts_word, tokenizer);
            } else {
                row.out.ids.truncate(first);
                self.push_tokens_scalar(tokenizer, source, start, ends, starts_word, row)?;
            }
        }
        Ok(())
    }

    /// The same, slower: what [`Self::push_tokens`] does where ids alone do not tell the places of tokens.
    fn push_tokens_scalar(
        &mut self,
        tokenizer: &Tokenizer,
        source: &Source<'_>,
        start: u32,
        ends: &[u32],
        starts_word: &impl Fn(usize) -> bool,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let starts = std::iter::once(&start).chain(ends);
        starts.zip(ends).try_for_each(|(&start, &end)| {
            if !starts_word(start as usize) {
                row.words.continue_word();
            }
            self.encode_word(tokenizer, source, Span { start, end }, row)
        })
    }

    /// The ids of words of a window. The answer is whether the ids alone tell how long each token is.
    #[inline(always)]
    fn push_ids(
        &mut self,
        tokenizer: &Tokenizer,
        window: &WordWindow<'_>,
        words: Range<usize>,
        ids: &mut Vec<u32>,
    ) -> Result<bool, EncodeError> {
        let (mut lengths_vary, simd) = (false, Simd::best());
        self.cache.count_lookups(words.len());
        let mut at = words.start;
        while at < words.end {
            // Known words up to one that is not.
            let some = at..words.end.min(at + RESERVED_WORDS);
            let mut end = Appender::new(ids, some.len() * MAX_IDS, simd);
            let known = self.cache.lookup().append_hits(window.probes, some.clone(), &mut end);
            drop(end);
            lengths_vary |= known.lengths_vary;
            self.cache.promote(window.probes, at, &known);
            at += known.words;
            if at < some.end {
                let span = window.span(at);
                lengths_vary |= self.push_missed(tokenizer, window.text, span, window.probes.key(at), ids)?;
                at += 1;
            }
        }
        Ok(!lengths_vary)
    }

    /// The ids of a word that is long, or not in the cache. The answer is whether lengths vary in it.
    #[cold]
    fn push_missed(
        &mut self,
        tokenizer: &Tokenizer,
        text: &[u8],
        span: Span,
        key: Key,
        ids: &mut Vec<u32>,
    ) -> Result<bool, EncodeError> {
        self.cache.prefetch_victim(key);
        if let Some(hit) = self.cache.lookup_slow(&text[span.range()], key, ids) {
            return Ok(hit.lengths_vary);
        }
        self.symbols.clear();
        self.merge_and_insert(tokenizer, text, span, key, true, ids)
    }

    /// One word: its ids, from the cache or the model, and what else is wanted of them.
    #[inline]
    pub(super) fn encode_word(
        &mut self,
        tokenizer: &Tokenizer,
        source: &Source<'_>,
        span: Span,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let first = row.out.ids.len();
        let known = self.push_word_ids(tokenizer, source.text.as_bytes(), span, &mut row.out.ids)?;
        if row.columns != Columns::NONE {
            if !known {
                // Ids came from the cache but do not tell the lengths, or the cache was not asked.
                self.symbols.clear();
                let word = &source.text.as_bytes()[span.range()];
                tokenizer.model.tokenize(word, key::of_word(word), &mut self.scratch, &mut self.symbols)?;
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
    fn push_word_ids(
        &mut self,
        tokenizer: &Tokenizer,
        text: &[u8],
        span: Span,
        ids: &mut Vec<u32>,
    ) -> Result<bool, EncodeError> {
        self.symbols.clear();
        let key = key::of_range(text, span.start, span.end);
        let use_cache = self.cache.is_on() && tokenizer.model.is_deterministic();
        if use_cache {
            self.cache.count_lookups(1);
            if let Some(hit) = self.cache.append_ids(&text[span.range()], key, ids) {
                return Ok(!hit.lengths_vary);
            }
        }
        self.merge_and_insert(tokenizer, text, span, key, use_cache, ids)?;
        Ok(true)
    }

    /// Merges a word and appends its ids, and may remember them; the answer is whether lengths vary in it.
    fn merge_and_insert(
        &mut self,
        tokenizer: &Tokenizer,
        text: &[u8],
        span: Span,
        key: Key,
        remember: bool,
        ids: &mut Vec<u32>,
    ) -> Result<bool, EncodeError> {
        let word = &text[span.range()];
        tokenizer.model.tokenize(word, key, &mut self.scratch, &mut self.symbols)?;
        ids.extend(self.symbols.iter().map(|symbol| symbol.id));
        let lengths_vary = tokenizer.model.lengths_vary() && self.lengths_vary(tokenizer, word);
        if remember {
            self.cache.insert(word, key, &self.symbols, lengths_vary);
        }
        Ok(lengths_vary)
    }

    /// Whether the symbols of a word are of other lengths than their tokens, or are not all of the word.
    fn lengths_vary(&self, tokenizer: &Tokenizer, word: &[u8]) -> bool {
        let mut covered = 0;
        let varies = self.symbols.iter().any(|symbol| {
            covered += symbol.len as usize;
            tokenizer.token_len(symbol.id) != symbol.len || tokenizer.model.is_stand_in(symbol.id)
        });
        varies || covered != word.len()
    }
}
