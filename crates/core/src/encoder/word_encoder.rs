//! The model stage: words become ids, from the word cache or by merging. Encoding spends most of
//! its time here.

use super::miss_batch::MissBatcher;
use super::row::{ModelInput, Origins, Row, Word, WordRun};
use super::splitter::{WholeWords, WordSplitter, WordStarts};
use crate::bpe::incremental::merge_in_parts;
use crate::bpe::word_cache::{MergeWord, Probes, WordFlags, WordWindow};
use crate::bpe::{Symbol, WordCache};
use crate::encoding::Columns;
use crate::error::EncodeError;
use crate::memory::Grow;
use crate::memory::fallible::checkpoint;
use crate::model::ModelScratch;
use crate::pipeline::Pipeline;
use crate::pretokenizer::scanner::WORDS_AT_A_TIME;
use crate::segmenter::SegmentedWords;
use crate::simd::{self, Simd};
use crate::span::Span;
use crate::word_key::{self, Key};

/// The state of the model stage.
#[derive(Debug)]
pub(super) struct WordEncoder {
    pub(super) cache: WordCache,
    pub(super) scratch: ModelScratch,
    pub(super) miss_batcher: MissBatcher,
    /// The tokens of the last word that was merged.
    symbols: Vec<Symbol>,
    /// The end of each word in the current window.
    pub(super) ends: Vec<u32>,
    probes: Probes,
}

/// If columns are requested, they are written for this many words at once.
const COLUMN_WORDS: usize = 32;

/// The tokens of longer words are appended to a row part by part, so that they are never in two
/// lists: memory that a process has not used before costs more time than merging. In bytes.
const LONG_WORD: usize = if cfg!(test) { 400 } else { 64 << 10 };

/// Merges the words that the cache misses.
struct Merger<'a> {
    pipeline: &'a Pipeline,
    scratch: &'a mut ModelScratch,
    symbols: &'a mut Vec<Symbol>,
}

impl MergeWord for Merger<'_> {
    type Error = EncodeError;

    fn merge(&mut self, word: &[u8], key: Key) -> Result<(&[Symbol], WordFlags), EncodeError> {
        let Self { pipeline, scratch, symbols } = self;
        symbols.clear();
        pipeline.model.tokenize(word, key, scratch, symbols)?;
        let lengths_vary = pipeline.lengths_vary(word, symbols);
        Ok((symbols, WordFlags { lengths_vary }))
    }
}

impl WordEncoder {
    pub(super) fn new(cache_bytes: usize, seed: u64) -> Self {
        Self {
            cache: WordCache::new(cache_bytes),
            scratch: ModelScratch::with_seed(seed),
            miss_batcher: MissBatcher::new(Simd::best()),
            symbols: Vec::new(),
            ends: Vec::with_capacity(WORDS_AT_A_TIME),
            probes: Probes::default(),
        }
    }

    /// Encodes the words of a text from byte `at` on.
    pub(super) fn encode(
        &mut self,
        input: &ModelInput<'_>,
        at: usize,
        splitter: &impl WordSplitter,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        if row.visit.is_some() {
            self.visit_words(input.text, at, splitter, row);
            return Ok(());
        }
        simd::dispatch(
            #[inline(always)]
            || self.encode_words(input, at, splitter, row),
        )
    }

    /// Passes the words of a text from byte `at` on to the visitor of the row. It has a loop of its
    /// own, so that the one of encoding stays as small as it is.
    fn visit_words(&mut self, text: &str, mut at: usize, splitter: &impl WordSplitter, row: &mut Row<'_>) {
        let mut ends = std::mem::take(&mut self.ends);
        simd::dispatch(
            #[inline(always)]
            || {
                while at < text.len() {
                    checkpoint();
                    let start = at as u32;
                    ends.clear();
                    at = splitter.next_words(text, at, &mut ends);
                    row.visit_run(text, &WordRun { start, ends: &ends });
                }
            },
        );
        self.ends = ends;
    }

    /// Encodes the words that a segmenter wrote from the text at byte `base` of the original.
    pub(super) fn encode_segmented(
        &mut self,
        pipeline: &Pipeline,
        words: &SegmentedWords,
        base: usize,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let run = WordRun { start: 0, ends: words.ends() };
        if run.ends.is_empty() {
            return Ok(());
        }
        // Without columns, a word in the cache is only a key. So its characters are not checked.
        let reads_text = row.columns != Columns::NONE || row.visit.is_some() || !self.uses_cache(pipeline);
        let text = if reads_text { words.bytes() } else { &[] };
        let text = simdutf8::basic::from_utf8(text).expect("a segmenter writes characters");
        if row.visit.is_some() {
            row.visit_run(text, &run);
            return Ok(());
        }
        let input = ModelInput { pipeline, text, origins: Origins::Words(words, base) };
        simd::dispatch(
            #[inline(always)]
            || self.encode_run(&input, words.padded_bytes(), run, &WholeWords, row),
        )
    }

    /// [`Self::encode`], compiled for the instruction set in use.
    #[inline(always)]
    fn encode_words(
        &mut self,
        input: &ModelInput<'_>,
        mut at: usize,
        splitter: &impl WordSplitter,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        let mut ends = std::mem::take(&mut self.ends);
        let mut result = Ok(());
        while at < input.text.len() && result.is_ok() && row.wants_more() {
            checkpoint();
            let start = at as u32;
            ends.clear();
            at = splitter.next_words(input.text, at, &mut ends);
            let (mut first, mut from) = (0, start);
            while first < ends.len() && result.is_ok() {
                // A window of usual words is shorter than a long word.
                let is_usual = at - start as usize <= LONG_WORD;
                let long = if is_usual { ends.len() } else { next_long_word(&ends, first, from) };
                if first < long {
                    let run = WordRun { start: from, ends: &ends[first..long] };
                    result = self.encode_run(input, input.text.as_bytes(), run, splitter, row);
                    from = ends[long - 1];
                }
                if result.is_ok()
                    && let Some(&end) = ends.get(long)
                {
                    if !splitter.starts_word(input.text, from as usize) {
                        row.words.continue_word();
                    }
                    result = self.encode_word(input, Span { start: from, end }, row);
                    from = end;
                }
                first = long + 1;
            }
        }
        self.ends = ends;
        result
    }

    /// Encodes a very long word part by part. Returns false, with an unchanged row, if its model
    /// cannot do that.
    #[cold]
    fn encode_in_parts(&mut self, input: &ModelInput<'_>, span: Span, row: &mut Row<'_>) -> Result<bool, EncodeError> {
        let word = &input.text.as_bytes()[span.range()];
        let Some(bpe) = input.pipeline.model.bpe_in_parts().filter(|bpe| bpe.merges_in_parts(word)) else {
            return Ok(false);
        };
        let (mark, mut pieces) = (row.mark(), vec![]);
        let Self { scratch, symbols, .. } = self;
        let is_done = merge_in_parts(bpe, word, &mut scratch.merge, symbols, |range, symbols| {
            checkpoint();
            let symbols = input.pipeline.model.pieces_of(&word[range.clone()], symbols, &mut pieces);
            row.out.ids.grow(symbols.len());
            row.out.ids.extend(symbols.iter().map(|symbol| symbol.id));
            if row.columns != Columns::NONE {
                if range.start > 0 {
                    row.words.continue_word();
                }
                let part = Span::new(span.start as usize + range.start, span.start as usize + range.end);
                row.push_columns(input, part, symbols)?;
            }
            row.wants_more();
            Ok::<_, EncodeError>(())
        })?;
        if !is_done {
            row.return_to(mark);
        }
        Ok(is_done)
    }

    /// Encodes adjacent words of `bytes`, which are the text of `input` if that is needed.
    #[inline(always)]
    fn encode_run(
        &mut self,
        input: &ModelInput<'_>,
        bytes: &[u8],
        run: WordRun<'_>,
        word_starts: &impl WordStarts,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        if !self.uses_cache(input.pipeline) {
            return self.push_tokens_scalar(input, run, word_starts, row);
        }
        let mut probes = std::mem::take(&mut self.probes);
        let window = self.cache.probe(bytes, run.start, run.ends, &mut probes);
        self.miss_batcher.merge_misses(&mut self.cache, input.pipeline, &window);
        let result = if row.columns == Columns::NONE {
            let Self { cache, scratch, symbols, .. } = self;
            let mut merger = Merger { pipeline: input.pipeline, scratch, symbols };
            cache.append_words(&window, 0..window.len(), &mut row.out.ids, &mut merger).map(|_| ())
        } else {
            self.push_tokens(input, &window, word_starts, row)
        };
        self.probes = probes;
        result
    }

    /// Whether words are looked up in the cache and inserted into it.
    fn uses_cache(&self, pipeline: &Pipeline) -> bool {
        self.cache.is_on() && pipeline.model.is_deterministic()
    }

    /// Appends the ids of a window's words, with their columns.
    // WebAssembly is compiled a function at a time while it runs, and this part rarely runs.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn push_tokens(
        &mut self,
        input: &ModelInput<'_>,
        window: &WordWindow<'_>,
        word_starts: &impl WordStarts,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        for at in (0..window.len()).step_by(COLUMN_WORDS) {
            let words = at..window.len().min(at + COLUMN_WORDS);
            let first = row.out.ids.len();
            let Self { cache, scratch, symbols, .. } = self;
            let mut merger = Merger { pipeline: input.pipeline, scratch, symbols };
            if cache.append_words(window, words.clone(), &mut row.out.ids, &mut merger)?.lengths_vary {
                // The offsets cannot be computed from the ids alone, so the words are looked up
                // again, one by one.
                row.out.ids.truncate(first);
                self.push_tokens_of_words(input, window, words, word_starts, row)?;
            } else {
                row.push_words(input, run_of(window, words), first, word_starts)?;
            }
        }
        Ok(())
    }

    /// [`Self::push_tokens`] for words of which some have tokens whose length varies.
    fn push_tokens_of_words(
        &mut self,
        input: &ModelInput<'_>,
        window: &WordWindow<'_>,
        words: std::ops::Range<usize>,
        word_starts: &impl WordStarts,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        // The first of the words whose columns are not written yet, and its first id.
        let (mut from, mut first) = (words.start, row.out.ids.len());
        for at in words.clone() {
            let (word, key, before) = (window.word(at), window.key(at), row.out.ids.len());
            let Self { cache, scratch, symbols, .. } = self;
            let mut merger = Merger { pipeline: input.pipeline, scratch, symbols };
            let flags = match cache.append_word(word, key, &mut row.out.ids, &mut merger)? {
                Some(flags) => flags,
                None => WordFlags { lengths_vary: input.pipeline.lengths_vary(word, &self.symbols) },
            };
            if !flags.lengths_vary {
                continue;
            }
            self.set_symbols(input.pipeline, word, key, &row.out.ids[before..])?;
            // `push_words` reads all ids from `first` on, so those of this word are removed and
            // appended again after it.
            row.out.ids.truncate(before);
            if from < at {
                row.push_words(input, run_of(window, from..at), first, word_starts)?;
            }
            row.out.ids.grow(self.symbols.len());
            row.out.ids.extend(self.symbols.iter().map(|symbol| symbol.id));
            let span = window.span(at);
            if !word_starts.starts_word(input.text, span.start as usize) {
                row.words.continue_word();
            }
            row.push_columns(input, span, &self.symbols)?;
            (from, first) = (at + 1, row.out.ids.len());
        }
        if from == words.end {
            return Ok(());
        }
        row.push_words(input, run_of(window, from..words.end), first, word_starts)
    }

    /// Sets `symbols` to the tokens of a word with these ids, of which some have other lengths than
    /// usual.
    fn set_symbols(&mut self, pipeline: &Pipeline, word: &[u8], key: Key, ids: &[u32]) -> Result<(), EncodeError> {
        let Self { scratch, symbols, .. } = self;
        symbols.clear();
        let Some(varying) = pipeline.model.varying_token(word, ids) else {
            return pipeline.model.tokenize(word, key, scratch, symbols);
        };
        symbols.grow(ids.len());
        symbols.extend(ids.iter().map(|&id| Symbol { id, len: pipeline.token_len(id) }));
        let others: u32 = (0..).zip(&*symbols).filter(|&(at, _)| at != varying).map(|(_, symbol)| symbol.len).sum();
        symbols[varying].len = word.len() as u32 - others;
        Ok(())
    }

    /// Encodes words one by one. Used without a cache. Tests compare the faster paths with it.
    fn push_tokens_scalar(
        &mut self,
        input: &ModelInput<'_>,
        run: WordRun<'_>,
        word_starts: &impl WordStarts,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        run.spans().try_for_each(|span| {
            if !word_starts.starts_word(input.text, span.start as usize) {
                row.words.continue_word();
            }
            self.encode_word(input, span, row)
        })
    }

    /// Appends the ids of one word, and their columns.
    #[inline]
    pub(super) fn encode_word(
        &mut self,
        input: &ModelInput<'_>,
        span: Span,
        row: &mut Row<'_>,
    ) -> Result<(), EncodeError> {
        if let Some(visit) = &mut row.visit {
            visit(Word::Split(&input.text[span.range()]));
            return Ok(());
        }
        if span.range().len() > LONG_WORD && self.encode_in_parts(input, span, row)? {
            return Ok(());
        }
        let word = &input.text.as_bytes()[span.range()];
        let key = word_key::of_range(input.text.as_bytes(), span.start, span.end);
        let first = row.out.ids.len();
        let uses_cache = self.uses_cache(input.pipeline);
        let Self { cache, scratch, symbols, .. } = self;
        let mut merger = Merger { pipeline: input.pipeline, scratch, symbols };
        let cached = if uses_cache {
            cache.append_word(word, key, &mut row.out.ids, &mut merger)?
        } else {
            let (symbols, _) = merger.merge(word, key)?;
            row.out.ids.grow(symbols.len());
            row.out.ids.extend(symbols.iter().map(|symbol| symbol.id));
            None
        };
        if row.columns == Columns::NONE {
            return Ok(());
        }
        match cached {
            // The word was merged now, so `symbols` has its tokens.
            None => {}
            Some(WordFlags { lengths_vary: true }) => _ = merger.merge(word, key)?,
            Some(WordFlags { lengths_vary: false }) => {
                let symbol = |&id: &u32| Symbol { id, len: input.pipeline.token_len(id) };
                self.symbols.clear();
                self.symbols.grow(row.out.ids.len() - first);
                self.symbols.extend(row.out.ids[first..].iter().map(symbol));
            }
        }
        row.push_columns(input, span, &self.symbols)
    }
}

/// The index of the next long word, of words that end at `ends`. The one at `first` starts at
/// `start`.
#[cold]
fn next_long_word(ends: &[u32], first: usize, start: u32) -> usize {
    let start_of = |at: usize| if at == first { start } else { ends[at - 1] };
    (first..ends.len()).find(|&at| (ends[at] - start_of(at)) as usize > LONG_WORD).unwrap_or(ends.len())
}

/// Adjacent words of a window.
fn run_of<'a>(window: &WordWindow<'a>, words: std::ops::Range<usize>) -> WordRun<'a> {
    WordRun { start: window.span(words.start).start, ends: &window.ends()[words.clone()] }
}
