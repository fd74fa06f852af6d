//! Collects the tokens of a row: the ids and the requested columns.

use std::borrow::Cow;
use std::iter::repeat_n;

use super::Plan;
use super::offset_converter::OffsetConverter;
use super::splitter::WordStarts;
use crate::bpe::Symbol;
use crate::budget::{Budget, OutputLimit};
use crate::encoding::{Columns, Encoding};
use crate::error::EncodeError;
use crate::memory::Grow;
use crate::memory::fallible::push;
use crate::model::Model;
use crate::pipeline::Pipeline;
use crate::post_processor::draft::Margins;
use crate::segmenter::SegmentedWords;
use crate::span::Span;
use crate::vocab::TokenForm;

/// The output of a row, and what is requested of its tokens.
pub(super) struct Row<'a> {
    pub(super) plan: &'a Plan,
    pub(super) out: &'a mut Encoding,
    /// The requested columns among [`Columns::PER_TOKEN`]. The other columns are constant in a run
    /// and are filled in afterwards.
    pub(super) columns: Columns,
    /// The whole original text.
    pub(super) original: &'a str,
    /// Whether the original continues a text that was cut before it.
    pub(super) continues: bool,
    /// The ranges of the original in which no added token is found.
    pub(super) literal: &'a [Span],
    /// The number of special tokens that were found in the text.
    pub(super) special: usize,
    /// Converts positions to offsets in that text; `None` if offsets are not requested.
    pub(super) converter: Option<OffsetConverter<'a>>,
    pub(super) words: WordNumbers,
    /// The white space at both ends of each token, if offsets are trimmed afterwards.
    pub(super) margins: Option<&'a mut Vec<Margins>>,
    pub(super) quota: Quota,
    /// The remaining budget of the text.
    pub(super) budget: Budget,
    /// Called with each word instead of the model, for trainers.
    pub(super) visit: Option<&'a mut dyn FnMut(Word<'_>)>,
}

/// The number of tokens that are needed of an input, and whether they are only counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quota {
    /// Encoding stops soon after it exceeds this number of tokens.
    pub(crate) limit: usize,
    /// Tokens are counted and discarded.
    pub(crate) count_only: bool,
    /// The number of discarded tokens.
    pub(crate) counted: usize,
}

impl Default for Quota {
    fn default() -> Self {
        Self { limit: usize::MAX, count_only: false, counted: 0 }
    }
}

impl Quota {
    /// Whether more tokens are needed. If tokens are only counted, counts and discards those in
    /// `ids`.
    #[inline]
    fn wants_more(&mut self, ids: &mut Vec<u32>) -> bool {
        if self.count_only {
            self.counted += ids.len();
            ids.clear();
        }
        self.limit == usize::MAX || self.counted + ids.len() <= self.limit
    }
}

/// How words are numbered.
#[derive(Debug, Clone, Copy)]
pub(super) enum WordNumbers {
    /// Words of the pre-tokenizer are numbered; this is the number of the next one.
    Next(u32),
    /// The caller has split the input into words. All of this text is one, with this number.
    Given(u32),
}

impl WordNumbers {
    /// Returns the number of the next word and advances.
    fn take(&mut self) -> u32 {
        match self {
            Self::Given(number) => *number,
            Self::Next(next) => {
                *next += 1;
                *next - 1
            }
        }
    }

    /// Gives the next tokens the same word number as the last ones, if there are any.
    pub(super) fn continue_word(&mut self) {
        if let Self::Next(next) = self {
            *next = next.saturating_sub(1);
        }
    }
}

/// A word, as [`Tokenizer::each_word`](crate::Tokenizer::each_word) passes it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word<'a> {
    /// A word of the pre-tokenizer.
    Split(&'a str),
    /// An added token that the text contains. It never reaches the model.
    Added(&'a str),
}

/// Adjacent words.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordRun<'a> {
    /// Start of the first word, in bytes.
    pub(super) start: u32,
    /// End of each word.
    pub(super) ends: &'a [u32],
}

impl WordRun<'_> {
    /// The span of each word.
    pub(super) fn spans(&self) -> impl Iterator<Item = Span> {
        let starts = std::iter::once(&self.start).chain(self.ends);
        starts.zip(self.ends).map(|(&start, &end)| Span { start, end })
    }
}

/// The text that the model reads, and its origin in the original text.
pub(super) struct ModelInput<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) text: &'a str,
    pub(super) origins: Origins<'a>,
}

/// The origin of a text.
#[derive(Clone, Copy)]
pub(super) enum Origins<'a> {
    /// The text is the original from this byte on.
    Unchanged(usize),
    /// One span of the original per byte.
    Spans(&'a [Span]),
    /// A segmenter wrote the text from the original, starting at this byte.
    Words(&'a SegmentedWords, usize),
}

/// A state of a row to which it can return.
pub(super) struct RowMark {
    /// The lengths of the ids, the offsets, the tokens, the word ids and the margins.
    lens: [usize; 5],
    words: WordNumbers,
    quota: Quota,
    budget: Budget,
}

impl Row<'_> {
    pub(super) fn mark(&mut self) -> RowMark {
        self.wants_more();
        let Encoding { ids, offsets, tokens, word_ids, .. } = &*self.out;
        let margins = self.margins.as_ref().map_or(0, |margins| margins.len());
        let lens = [ids.len(), offsets.len(), tokens.len(), word_ids.len(), margins];
        RowMark { lens, words: self.words, quota: self.quota, budget: self.budget }
    }

    /// Removes the tokens since a mark.
    pub(super) fn return_to(&mut self, RowMark { lens, words, quota, budget }: RowMark) {
        let [id_count, offset_count, token_count, word_id_count, margin_count] = lens;
        self.out.ids.truncate(id_count);
        self.out.offsets.truncate(offset_count);
        self.out.tokens.truncate(token_count);
        self.out.word_ids.truncate(word_id_count);
        if let Some(margins) = &mut self.margins {
            margins.truncate(margin_count);
        }
        (self.words, self.quota, self.budget) = (words, quota, budget);
    }

    /// Whether the position of each token in the original text is needed.
    pub(super) fn needs_positions(&self) -> bool {
        self.converter.is_some()
    }

    /// Whether encoding must continue. Called between words.
    #[inline]
    pub(super) fn wants_more(&mut self) -> bool {
        self.quota.wants_more(&mut self.out.ids)
    }

    /// Charges the budget for the tokens' strings before they are built, if a column or the
    /// trimming of offsets needs them.
    fn charge_tokens(&mut self, ids: impl Iterator<Item = u32>, pipeline: &Pipeline) -> Result<(), OutputLimit> {
        if !self.columns.contains(Columns::TOKENS) && self.margins.is_none() {
            return Ok(());
        }
        let bytes = ids.map(|id| pipeline.parts.vocab.token(id).map_or(0, <[u8]>::len)).fold(0, usize::saturating_add);
        self.budget.charge(bytes, "the column of tokens")
    }

    /// Passes words to the visitor.
    pub(super) fn visit_run(&mut self, text: &str, run: &WordRun<'_>) {
        if let Some(visit) = &mut self.visit {
            run.spans().for_each(|span| visit(Word::Split(&text[span.range()])));
        }
    }

    /// Appends a token that was found in the text. `token` is its index among the added tokens.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(super) fn push_found(
        &mut self,
        pipeline: &Pipeline,
        token: usize,
        content: &str,
        span: Span,
    ) -> Result<(), EncodeError> {
        if let Some(visit) = &mut self.visit {
            visit(Word::Added(content));
            return Ok(());
        }
        let token = &pipeline.parts.added_tokens.tokens()[token];
        self.special += usize::from(token.special);
        self.push_added(token.id, content, span)
    }

    /// Appends an added token that occurs in the text, with its columns.
    fn push_added(&mut self, id: u32, content: &str, span: Span) -> Result<(), EncodeError> {
        if self.columns.contains(Columns::TOKENS) || self.margins.is_some() {
            // Added tokens that include white space may overlap, and each has all of it.
            self.budget.charge(content.len(), "the column of tokens")?;
        }
        push(&mut self.out.ids, id);
        self.reserve_columns(1);
        if self.columns.contains(Columns::TOKENS) {
            self.out.tokens.push(content.to_owned());
        }
        if let Some(converter) = &self.converter {
            self.out.offsets.push(converter.convert([span.start, span.end]));
        }
        if let Some(margins) = &mut self.margins {
            margins.push(Margins::of(content));
        }
        self.end_word(1);
        Ok(())
    }

    /// Appends the columns of a word whose ids were just appended.
    pub(super) fn push_columns(
        &mut self,
        input: &ModelInput<'_>,
        word: Span,
        symbols: &[Symbol],
    ) -> Result<(), EncodeError> {
        let pipeline = input.pipeline;
        self.charge_tokens(symbols.iter().map(|symbol| symbol.id), pipeline)?;
        self.reserve_columns(symbols.len());
        let places = || {
            let mut place = (word.start as usize, word.start as usize);
            symbols.iter().map(move |symbol| {
                if symbol.len != Symbol::SAME {
                    place = (place.1, place.1 + symbol.len as usize);
                }
                (symbol.id, place)
            })
        };
        let token = |(id, (start, end)): (u32, (usize, usize))| {
            let text = input.text.get(start..end);
            let unknown = text.and_then(|text| pipeline.model.unknown_text(id, text));
            unknown.or_else(|| pipeline.model_token(id)).unwrap_or_default()
        };
        if self.columns.contains(Columns::TOKENS) {
            self.out.tokens.extend(places().map(token).map(Cow::into_owned));
        }
        if let Some(converter) = &self.converter {
            for (_, (start, end)) in places() {
                self.out.offsets.push(converter.convert(input.original_span(word, start, end, self.original)));
            }
        }
        if let Some(margins) = &mut self.margins {
            margins.extend(places().map(|place| Margins::of(&token(place))));
        }
        self.end_word(symbols.len());
        Ok(())
    }

    /// Places the pieces of a text between added tokens, if they are those of a SentencePiece file.
    /// `first` is the index of the first offset.
    pub(super) fn place_pieces(&mut self, pipeline: &Pipeline, first: usize) {
        if let Model::SentencePiece(_) = &*pipeline.model {
            set_piece_offsets(&mut self.out.offsets[first..], self.plan.spans_sources);
        }
    }

    /// Appends the columns of adjacent words whose ids, from index `first` on, were just appended.
    /// The tokens cover all bytes of the words, and each token has the length of its id.
    pub(super) fn push_words<W: WordStarts>(
        &mut self,
        input: &ModelInput<'_>,
        words: WordRun<'_>,
        first: usize,
        word_starts: &W,
    ) -> Result<(), EncodeError> {
        let WordRun { start, ends } = words;
        let Some(&end) = ends.last() else { return Ok(()) };
        if self.columns.contains(Columns::TOKENS) || self.margins.is_some() {
            let ids = std::mem::take(&mut self.out.ids);
            let charged = self.charge_tokens(ids[first..].iter().copied(), input.pipeline);
            self.out.ids = ids;
            charged?;
        }
        self.reserve_columns(self.out.ids.len() - first);
        let Encoding { ids, offsets, tokens, word_ids, .. } = &mut *self.out;
        let ids = &ids[first..];
        let token = |id: u32| input.pipeline.model_token(id).unwrap_or_default();
        // These iterators know their length, so each list reserves its capacity once.
        let lens = || ids.iter().map(|&id| input.pipeline.token_len(id));
        let ranges = || {
            let mut end = start as usize;
            lens().map(move |len| {
                let start = end;
                end += len as usize;
                (start, end)
            })
        };
        if self.columns.contains(Columns::TOKENS) {
            tokens.extend(ids.iter().map(|&id| token(id).into_owned()));
        }
        match (&self.converter, input.origins) {
            (Some(converter), Origins::Unchanged(base)) => {
                converter.extend(offsets, base + start as usize, base + end as usize, lens());
            }
            (Some(converter), Origins::Spans(_)) => {
                let all = Span { start, end };
                let origin = |(start, end)| converter.convert(input.original_span(all, start, end, self.original));
                offsets.extend(ranges().map(origin));
            }
            (Some(converter), Origins::Words(words, base)) => {
                let from = offsets.len();
                offsets.extend(words.origins_of(start, base as u32, lens()));
                converter.convert_all(&mut offsets[from..]);
            }
            (None, _) => {}
        }
        if let Some(margins) = &mut self.margins {
            let text = input.text.as_bytes();
            match input.pipeline.token_form {
                TokenForm::Printable => {
                    margins.extend(ranges().map(|(start, end)| Margins::of_bytes(&text[start..end])));
                }
                TokenForm::Text | TokenForm::Ranks => margins.extend(ids.iter().map(|&id| Margins::of(&token(id)))),
            }
        }
        if self.columns.contains(Columns::WORD_IDS) {
            match &mut self.words {
                WordNumbers::Next(next) if W::WHOLE => number_whole_words(word_ids, next, start, ends, lens()),
                words => {
                    let (mut number, mut ends, mut word_end) = (0, ends.iter(), start as usize);
                    word_ids.extend(ranges().map(|(start, _)| {
                        if start == word_end {
                            word_end = ends.next().map_or(0, |&end| end as usize);
                            if !word_starts.starts_word(input.text, start) {
                                words.continue_word();
                            }
                            number = words.take();
                        }
                        number
                    }));
                }
            }
        }
        Ok(())
    }

    /// Reserves space in each requested column, so that the loops that fill them need not grow
    /// them. A failure unwinds.
    fn reserve_columns(&mut self, tokens: usize) {
        self.out.grow_columns(tokens, self.columns);
        if let Some(margins) = &mut self.margins {
            margins.grow(tokens);
        }
    }

    /// Appends the number of a word to the column of word ids, once per token.
    fn end_word(&mut self, tokens: usize) {
        let number = self.words.take();
        if self.columns.contains(Columns::WORD_IDS) {
            self.out.word_ids.extend(repeat_n(number, tokens));
        }
    }
}

/// Places the pieces of a SentencePiece file, given the spans of their sources. In the library a
/// piece ends where the next one starts, so of the pieces of one character only the last one has
/// text. With `spans_sources`, only pieces without a source change, such as an inserted suffix:
/// they get the span of the piece before them.
fn set_piece_offsets(offsets: &mut [[u32; 2]], spans_sources: bool) {
    for at in 1..offsets.len() {
        let [start, end] = offsets[at];
        if !spans_sources {
            offsets[at - 1][1] = start;
        } else if start == end {
            offsets[at] = offsets[at - 1];
        }
    }
}

/// Appends the word number of each token of adjacent words, which start at `start` and end at
/// `ends`. `lens` are the lengths of the tokens, and `next` is the number of the first word. A word
/// has any number of tokens, so a branch at its end would often be mispredicted.
#[inline(always)]
fn number_whole_words(
    word_ids: &mut Vec<u32>,
    next: &mut u32,
    start: u32,
    ends: &[u32],
    lens: impl Iterator<Item = u32>,
) {
    let (first, mut place, mut word) = (*next, start, 0);
    word_ids.extend(lens.map(|len| {
        let number = first + word as u32;
        place += len;
        word += usize::from(ends.get(word) == Some(&place));
        number
    }));
    *next += ends.len() as u32;
    debug_assert_eq!(word, ends.len(), "the tokens are all of the words");
}

impl ModelInput<'_> {
    /// The span of the original text, in whole characters, from which `start..end` of the model's
    /// text comes. The range is a token of `word`.
    fn original_span(&self, word: Span, start: usize, end: usize, original: &str) -> [u32; 2] {
        if end > word.end as usize || start >= end {
            // Byte fallback of a character with its `end_of_word_suffix` yields tokens without
            // text. As in Hugging Face tokenizers, they have the offsets that they would have in a
            // longer word, counted from its start.
            return [start as u32 - word.start, end as u32 - word.start];
        }
        match self.origins {
            Origins::Spans(origins) => [origins[start].start, origins[end - 1].end],
            Origins::Unchanged(base) => {
                let floor = original.floor_char_boundary(base + start);
                [floor as u32, original.ceil_char_boundary(base + end) as u32]
            }
            Origins::Words(words, base) => words.origin(start, end, &original[base..]).map(|at| at + base as u32),
        }
    }
}
