//! Encodes text that the model reads as it stands, and records where its words end. So the tokens
//! of parts of the text are known without encoding them separately.

use super::compose::WORK_PER_TOKEN;
use super::row::WordNumbers;
use super::{Encoder, Plan};
use crate::encoding::Encoding;
use crate::error::EncodeError;
use crate::memory::Grow;
use crate::memory::fallible::push;
use crate::pipeline::Pipeline;
use crate::pretokenizer::scanner::Scanner;

/// The ids of a text, and the ends of its words.
#[derive(Debug, Default)]
pub(crate) struct PlainWords {
    tokens: Encoding,
    words: Box<WordEnds>,
}

/// The ends of words in bytes. An added token is a word.
#[derive(Debug, Default)]
pub(super) struct WordEnds {
    ends: Vec<u32>,
    /// The added tokens: the index of each, and its end.
    added: Vec<(usize, u32)>,
    /// Whether a part of the text was changed before the model read it. The words of that part are
    /// left out.
    is_changed: bool,
}

impl WordEnds {
    pub(super) fn push_words(&mut self, base: usize, ends: &[u32]) {
        self.ends.grow(ends.len());
        self.ends.extend(ends.iter().map(|end| base as u32 + end));
    }

    pub(super) fn push_added(&mut self, token: usize, end: u32) {
        push(&mut self.ends, end);
        push(&mut self.added, (token, end));
    }

    /// Records that the pipeline changes a part of the text.
    pub(super) fn note_change(&mut self) {
        self.is_changed = true;
    }
}

impl PlainWords {
    /// The end of each word.
    pub(crate) fn ends(&self) -> &[u32] {
        &self.words.ends
    }

    /// The end of each added token.
    pub(crate) fn added_ends(&self) -> impl ExactSizeIterator<Item = u32> + Clone {
        self.words.added.iter().map(|&(_, end)| end)
    }

    /// Appends the end of each token, moved by `base`. Returns false if they are not known, because
    /// a part of the text is changed before the model reads it.
    pub(crate) fn push_token_ends(&self, pipeline: &Pipeline, base: usize, len: usize, ends: &mut Vec<u32>) -> bool {
        let ids = self.tokens.ids();
        ends.grow(ids.len());
        let (mut from, mut place) = (0, base as u32);
        let after = |place: &mut u32, id: u32| {
            *place += pipeline.token_len(id);
            *place
        };
        for &(token, end) in &self.words.added {
            ends.extend(ids[from..token].iter().map(|&id| after(&mut place, id)));
            // An added token can have another length than its entry in the vocabulary.
            place = base as u32 + end;
            ends.push(place);
            from = token + 1;
        }
        ends.extend(ids[from..].iter().map(|&id| after(&mut place, id)));
        !self.words.is_changed && place as usize == base + len
    }
}

impl Encoder {
    /// Replaces `out` by the tokens of a text and the ends of its words, without the tokens that
    /// the post-processor adds. Requires [`Tokenizer::reads_plain_words`].
    ///
    /// [`Tokenizer::reads_plain_words`]: crate::Tokenizer::reads_plain_words
    pub(crate) fn encode_plain_words(
        &mut self,
        pipeline: &Pipeline,
        text: &str,
        plan: &Plan,
        out: &mut PlainWords,
    ) -> Result<(), EncodeError> {
        out.tokens.clear();
        let mut words = std::mem::take(&mut out.words);
        words.ends.clear();
        words.added.clear();
        words.is_changed = false;
        self.word_ends = Some(words);
        let result = self.encode_text(pipeline, text.into(), WordNumbers::Next(0), plan, None, &mut out.tokens);
        out.words = self.word_ends.take().unwrap_or_default();
        result
    }
    /// Whether one of the first words of a text ends at a position that is wanted.
    pub(crate) fn has_word_end(&mut self, scanner: Scanner, text: &str, is_wanted: impl Fn(usize) -> bool) -> bool {
        self.word_encoder.scan(scanner, text, 0);
        self.word_encoder.ends.iter().any(|&end| is_wanted(end as usize))
    }

    /// Appends the ids of the words of a text from byte `at` on, where a word starts. The model
    /// reads the text as it stands.
    pub(crate) fn encode_part(
        &mut self,
        pipeline: &Pipeline,
        scanner: Scanner,
        text: &str,
        at: usize,
        ids: &mut Vec<u32>,
    ) -> Result<(), EncodeError> {
        let before = ids.len();
        let result = self.word_encoder.encode_part(pipeline, scanner, text, at, ids);
        self.work += WORK_PER_TOKEN * (ids.len() - before) as u64 + (text.len() - at) as u64 / 4;
        result
    }
}
