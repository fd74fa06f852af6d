//! Decodes ids that arrive one after the other. Yields text as soon as it is certain, and only
//! whole characters. Each list of ids is a chunk for the decoder.

use std::ops::Deref;

use crate::budget::Budget;
use crate::decoder::{DecoderState, from_utf8_lossy};
use crate::error::DecodeError;
use crate::memory::fallible::catch;
use crate::options::DecodeOptions;
use crate::tokenizer::Tokenizer;

/// Decodes ids as they arrive. The pieces of text that [`push`](Self::push) and [`end`](Self::end)
/// return, concatenated, are the result of [`Tokenizer::decode`] for all ids.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use tokenlane_core::{DecodeOptions, DecodeStream, RankDefinition, Tokenizer};
///
/// let ranks = "aA== 0\nwg== 1\nrg== 2\n"; // h, and the two bytes of ®
/// let definition = RankDefinition { pattern: r"\w+".into(), special_tokens: vec![] };
/// let tokenizer = Tokenizer::from_ranks(ranks.as_bytes(), &definition)?;
/// let mut stream = DecodeStream::new(&tokenizer, DecodeOptions::default());
/// assert_eq!(stream.push(&[0, 1])?, "h");
/// assert_eq!(stream.push(&[2])?, "®");
/// assert_eq!(stream.end()?, "");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DecodeStream<T> {
    tokenizer: T,
    options: DecodeOptions,
    state: DecoderState,
    /// The number of ids received.
    count: usize,
}

impl<T: Deref<Target = Tokenizer>> DecodeStream<T> {
    /// A stream for a tokenizer, which may be borrowed or shared.
    pub fn new(tokenizer: T, options: DecodeOptions) -> Self {
        let state = new_state(&tokenizer);
        Self { tokenizer, options, state, count: 0 }
    }

    /// Returns the text that became certain with these ids. If an unknown id is an error (see
    /// [`Tokenizer::decode`]), none of the ids are consumed. After any other error the stream is
    /// reset.
    pub fn push(&mut self, ids: &[u32]) -> Result<String, DecodeError> {
        self.check(ids)?;
        self.state.budget.add_ids(ids.len());
        let text = self.decode(ids, false);
        match text {
            Ok(_) => self.count += ids.len(),
            // Some of the ids are consumed, and their text is lost.
            Err(_) => self.start_over(),
        }
        text
    }

    /// The text that an id adds between two characters, where no other id can change it: for
    /// decoders that join the texts of their tokens, if this one is UTF-8. The caller may use it
    /// instead of [`Self::push`], and tells [`Self::skip`] how often it did.
    pub fn fixed_text(&self, id: u32) -> Option<String> {
        String::from_utf8(self.tokenizer.pipeline.joined_token(id, self.options)?).ok()
    }

    /// Counts ids whose text the caller has from [`Self::fixed_text`].
    pub fn skip(&mut self, ids: usize) {
        self.count += ids;
        self.state.budget.add_ids(ids);
    }

    /// Returns the rest of the text and resets the stream.
    pub fn end(&mut self) -> Result<String, DecodeError> {
        let text = self.decode(&[], true);
        self.start_over();
        text
    }

    /// Fails at the first unknown id, if that is an error.
    pub(crate) fn check(&self, ids: &[u32]) -> Result<(), DecodeError> {
        self.tokenizer.pipeline.check_ids(ids, self.count)
    }

    /// Appends the text of [`Self::fixed_text`], if there is one, and counts the id.
    pub(crate) fn push_fixed(&mut self, id: u32, text: &mut Vec<u8>) -> bool {
        let before = text.len();
        let is_joined = self.tokenizer.pipeline.append_joined(id, self.options, text).is_some();
        let is_fixed = is_joined && std::str::from_utf8(&text[before..]).is_ok();
        if is_fixed {
            self.skip(1);
        } else {
            text.truncate(before);
        }
        is_fixed
    }

    /// Whether there is text of the ids so far that is not certain yet.
    pub(crate) fn holds_text(&self) -> bool {
        self.state.holds_text()
    }

    /// Whether the text of a token is only certain after the next one, or the end.
    pub(crate) fn delays_tokens(&self) -> bool {
        self.tokenizer.pipeline.decoder.delays_tokens()
    }

    /// The bytes that an id adds after another one, if they do not change those before them.
    pub(crate) fn own_bytes(&self, before: u32, id: u32) -> Option<Vec<u8>> {
        if let Some(bytes) = self.tokenizer.pipeline.joined_token(id, self.options) {
            return Some(bytes);
        }
        let bytes = |ids: &[u32]| self.tokenizer.decode_bytes(ids, &self.options).ok();
        bytes(&[before, id])?.strip_prefix(&bytes(&[before])?[..]).map(<[u8]>::to_vec)
    }

    /// The text of an id alone; empty for an unknown one.
    pub(crate) fn decoded(&self, id: u32) -> String {
        self.tokenizer.decode(&[id], &self.options).unwrap_or_default()
    }

    fn decode(&mut self, ids: &[u32], is_last: bool) -> Result<String, DecodeError> {
        let pipeline = &self.tokenizer.pipeline;
        let tokens = pipeline.decoded_tokens(ids, self.options);
        catch(|| Ok(from_utf8_lossy(pipeline.decoder.decode(&mut self.state, tokens, is_last)?)))
    }

    /// Forgets all ids.
    pub(crate) fn start_over(&mut self) {
        (self.state, self.count) = (new_state(&self.tokenizer), 0);
    }
}

fn new_state(tokenizer: &Tokenizer) -> DecoderState {
    tokenizer.pipeline.decoder.start(Budget::of_ids(0), false)
}
