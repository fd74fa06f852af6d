//! What is known of a row's tokens beside their ids, and how it gets into the columns.

use std::borrow::Cow;
use std::iter::repeat_n;

use super::offset_converter::OffsetConverter;
use crate::bpe::Symbol;
use crate::encoding::{Columns, Encoding};
use crate::post_processor::draft::Margins;
use crate::segmenter::SegmentedWords;
use crate::span::Span;
use crate::tokenizer::{TokenForm, Tokenizer};

/// Where a row's tokens go and what is wanted of them.
pub(super) struct Row<'a> {
    pub(super) out: &'a mut Encoding,
    /// Of [`Columns::PER_TOKEN`]; the others are the same for all tokens of a row.
    pub(super) columns: Columns,
    /// The whole text of the row: where spans of unchanged text are widened to whole characters.
    pub(super) original: &'a str,
    /// Of that text, when offsets are wanted.
    pub(super) converter: Option<OffsetConverter<'a>>,
    pub(super) words: WordNumbers,
    /// Where the white space at the edges of each token is noted, when offsets are to be trimmed.
    pub(super) margins: Option<&'a mut Vec<Margins>>,
    pub(super) quota: Quota,
}

/// How many tokens of an input are wanted, and whether they are or only their number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quota {
    /// More tokens than these end the work soon.
    pub(crate) limit: usize,
    /// Tokens are let go of, and only counted.
    pub(crate) count_only: bool,
    /// How many were let go of.
    pub(crate) counted: usize,
}

impl Default for Quota {
    fn default() -> Self {
        Self { limit: usize::MAX, count_only: false, counted: 0 }
    }
}

impl Quota {
    /// Whether more tokens are wanted than `ids` has; lets go of them where only their number counts.
    #[inline]
    fn wants_more(&mut self, ids: &mut Vec<u32>) -> bool {
        if self.count_only {
            self.counted += ids.len();
            ids.clear();
        }
        self.limit == usize::MAX || self.counted + ids.len() <= self.limit
    }
}

/// What counts as a word of the text.
#[derive(Debug, Clone, Copy)]
pub(super) enum WordNumbers {
    /// What the pre-tokenizer cuts; this is the number of the next one.
    Next(u32),
    /// What the caller had cut: all of this text is one word with this number.
    Given(u32),
}

impl WordNumbers {
    /// The number of the next word, which is then no more the next one.
    fn take(&mut self) -> u32 {
        match self {
            Self::Given(number) => *number,
            Self::Next(next) => {
                *next += 1;
                *next - 1
            }
        }
    }

    /// The next tokens are of the same word as the last ones.
    pub(super) fn continue_word(&mut self) {
        if let Self::Next(next) = self {
            *next = next.saturating_sub(1);
        }
    }
}

/// The words of one text as the model sees them, and their origin.
pub(super) struct Source<'a> {
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

impl Row<'_> {
    pub(super) fn needs_positions(&self) -> bool {
        self.converter.is_some()
    }

    /// Asked between words: whether there is any need to go on.
    #[inline]
    pub(super) fn wants_more(&mut self) -> bool {
        self.quota.wants_more(&mut self.out.ids)
    }

    /// An added token that the text holds.
    pub(super) fn push_added(&mut self, id: u32, content: &str, span: Span) {
        self.out.ids.push(id);
        if self.columns.contains(Columns::TOKENS) {
            self.out.tokens.push(content.to_owned());
        }
        if let Some(converter) = &mut self.converter {
            self.out.offsets.push(converter.convert([span.start, span.end]));
        }
        if let Some(margins) = &mut self.margins {
            margins.push(Margins::of(content));
        }
        self.end_word(1);
    }

    /// The columns of a word whose ids were just pushed.
    pub(super) fn push_columns(&mut self, source: &Source<'_>, word: Span, symbols: &[Symbol], tokenizer: &Tokenizer) {
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
            let text = source.text.get(start..end);
            let unknown = text.and_then(|text| tokenizer.model.unknown_text(id, text));
            unknown.or_else(|| tokenizer.model_token(id)).unwrap_or_default()
        };
        if self.columns.contains(Columns::TOKENS) {
            self.out.tokens.extend(places().map(token).map(Cow::into_owned));
        }
        if let Some(converter) = &mut self.converter {
            for (_, (start, end)) in places() {
                self.out.offsets.push(converter.convert(source.original_span(word, start, end, self.original)));
            }
        }
        if let Some(margins) = &mut self.margins {
            margins.extend(places().map(|place| Margins::of(&token(place))));
        }
        self.end_word(symbols.len());
    }

    /// The columns of adjacent words whose ids, from `first` on, were just pushed. The words start at `start` and end at
    /// `ends`, and are covered by their tokens, whose lengths are those of the ids.
    pub(super) fn push_words(
        &mut self,
        source: &Source<'_>,
        start: u32,
        ends: &[u32],
        first: usize,
        starts_word: &impl Fn(usize) -> bool,
        tokenizer: &Tokenizer,
    ) {
        let Some(&end) = ends.last() else { return };
        let Encoding { ids, offsets, tokens, word_ids, .. } = &mut *self.out;
        let ids = &ids[first..];
        let token = |id: u32| tokenizer.model_token(id).unwrap_or_default();
        // Iterators that know their length, so that lists make room once and not for every token.
        let lens = || ids.iter().map(|&id| tokenizer.token_len(id));
        let places = || {
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
        match (&mut self.converter, source.origins) {
            (Some(converter), Origins::Unchanged(base)) => {
                converter.extend(offsets, base + start as usize, base + end as usize, lens());
            }
            (Some(converter), Origins::Spans(_)) => {
                let all = Span { start, end };
                let origin = |(start, end)| converter.convert(source.original_span(all, start, end, self.original));
                offsets.extend(places().map(origin));
            }
            (Some(ruler), Origins::Words(words, base)) => {
                let mut word = words.word_at(start);
                let origin = |(start, end): (usize, usize)| {
                    while words.ends()[word] as usize <= start {
                        word += 1;
                    }
                    ruler.convert(words.origin_in(word, start, end).map(|at| at + base as u32))
                };
                offsets.extend(places().map(origin));
            }
            (None, _) => {}
        }
        if let Some(margins) = &mut self.margins {
            let text = source.text.as_bytes();
            match tokenizer.token_form {
                TokenForm::Printable => {
                    margins.extend(places().map(|(start, end)| Margins::of_bytes(&text[start..end])))
                }
                TokenForm::Text | TokenForm::Ranks => margins.extend(ids.iter().map(|&id| Margins::of(&token(id)))),
            }
        }
        if self.columns.contains(Columns::WORD_IDS) {
            let (mut number, mut ends, mut word_end) = (0, ends.iter(), start as usize);
            word_ids.extend(places().map(|(start, _)| {
                if start == word_end {
                    word_end = ends.next().map_or(0, |&end| end as usize);
                    if !starts_word(start) {
                        self.words.continue_word();
                    }
                    number = self.words.take();
                }
                number
            }));
        }
    }

    fn end_word(&mut self, tokens: usize) {
        let number = self.words.take();
        if self.columns.contains(Columns::WORD_IDS) {
            self.out.word_ids.extend(repeat_n(number, tokens));
        }
    }
}

impl Source<'_> {
    /// What `start..end` of the text stands for in the original, in whole characters.
    fn original_span(&self, word: Span, start: usize, end: usize, original: &str) -> [u32; 2] {
        if end > word.end as usize || start >= end {
            // Byte fallback of a character with its `end_of_word_suffix` makes tokens that stand for no text. The
            // reference gives them their places within the word, as if it went on.
            return [start as u32 - word.start, end as u32 - word.start];
        }
        match self.origins {
            Origins::Spans(origins) => [origins[start].start, origins[end - 1].end],
            Origins::Unchanged(base) => {
                let floor = original.floor_char_boundary(base + start);
                [floor as u32, original.ceil_char_boundary(base + end) as u32]
            }
            Origins::Words(words, base) => words.origin(start, end).map(|at| at + base as u32),
        }
    }
}
