//! Decodes ids that arrive one after the other, and stops at a string, an id or a number of ids.
//!
//! An automaton reads the text that the decoder yields. Its state is the longest end of the text
//! that starts a stop, so the length of the state is what has to be held back. Texts of a decoder
//! end between characters and stops are whole characters, so this never divides one.
//!
//! The stop that ends first wins; of several that end at the same byte, the longest. This does not
//! depend on how the text is divided into tokens, or the ids into calls.
//!
//! An id is released with the first byte of its own text, and an id without text with the text
//! behind it. Where a decoder holds text back, such as a part of a character, the text that it
//! yields next belongs to several ids; the last of them owns its end.

use std::ops::Deref;

use crate::automaton::{Automaton, State};
use crate::decode_stream::DecodeStream;
use crate::decoder::from_utf8_lossy;
use crate::error::{DecodeError, LoadError};
use crate::memory::fallible::{append, catch, collect, push, push_str};
use crate::options::DecodeOptions;
use crate::tokenizer::Tokenizer;
use crate::trie::Trie;

/// When a [`StopStream`] ends.
#[derive(Debug, Clone, Default)]
pub struct StopOptions {
    /// The texts that end it. Empty ones are left out.
    pub stops: Vec<String>,
    /// The ids that end it. They need not be in the vocabulary.
    pub stop_ids: Vec<u32>,
    /// The number of ids that ends it.
    pub max_ids: Option<usize>,
    /// Whether the stop is a part of the text.
    pub include_stop: bool,
    /// Options of decoding.
    pub decode: DecodeOptions,
}

/// Why a [`StopStream`] has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The text has the stop with this index in [`StopOptions::stops`]. Of equal stops, the last.
    Text(usize),
    /// This id is one of [`StopOptions::stop_ids`].
    Id(u32),
    /// [`StopOptions::max_ids`] ids were read.
    Length,
}

/// The end of a [`StopStream`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    /// Why.
    pub reason: StopReason,
    /// The number of ids that were read.
    pub count: usize,
    /// The text of these ids that was not released.
    pub cut: String,
}

/// What ids release.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// The text that is in no stop, whatever follows.
    pub text: String,
    /// The number of ids that it belongs to: the oldest that were not released before.
    pub ids: usize,
    /// The number of ids of the list that were read: all, unless the stream has ended.
    pub read: usize,
    /// Set once the stream has ended.
    pub finish: Option<Finish>,
}

/// A text that may end within the ids that a model returns; see the module's documentation.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use tokenlane_core::{RankDefinition, StopOptions, StopStream, Tokenizer};
///
/// let ranks = "aA== 0\nZQ== 1\nbA== 2\nbw== 3\n"; // h e l o
/// let definition = RankDefinition { pattern: r"\w+".into(), special_tokens: vec![] };
/// let tokenizer = Tokenizer::from_ranks(ranks.as_bytes(), &definition)?;
/// let options = StopOptions { stops: vec!["lo".into()], ..StopOptions::default() };
/// let mut stream = StopStream::new(&tokenizer, &options)?;
/// assert_eq!(stream.push(&[0, 1, 2])?.text, "he");
/// assert_eq!(stream.push(&[2])?.text, "l");
/// assert!(stream.push(&[3])?.finish.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct StopStream<T> {
    decoder: DecodeStream<T>,
    stops: Option<Stops>,
    /// Sorted.
    stop_ids: Vec<u32>,
    max_ids: usize,
    include_stop: bool,
    progress: Progress,
}

/// The stops as an automaton.
#[derive(Debug)]
struct Stops {
    trie: Trie,
    automaton: Automaton,
}

/// What a stream has read. Positions are bytes of the whole text.
#[derive(Debug)]
struct Progress {
    /// The text that is not released, in UTF-8.
    text: Waiting<u8>,
    /// The position at which it starts, and up to which the automaton has read it.
    released: usize,
    searched: usize,
    /// Where the text of each id starts that is not released. They do not decrease.
    starts: Waiting<usize>,
    state: State,
    /// The number of ids read, and the last of them.
    count: usize,
    last: Option<u32>,
    has_ended: bool,
}

/// Values that leave at the start. The others move only once they are fewer than those that left,
/// so that a value costs the same however many wait.
#[derive(Debug)]
struct Waiting<T> {
    values: Vec<T>,
    left: usize,
}

impl<T: Copy> Waiting<T> {
    const fn new() -> Self {
        Self { values: vec![], left: 0 }
    }

    fn get(&self) -> &[T] {
        &self.values[self.left..]
    }

    /// Removes the first `count` values.
    fn take(&mut self, count: usize) -> Vec<T> {
        let mut taken = vec![];
        append(&mut taken, &self.get()[..count]);
        self.left += count;
        if 2 * self.left > self.values.len() {
            self.values.drain(..self.left);
            self.left = 0;
        }
        taken
    }
}

/// A stop in the text.
struct Match {
    start: usize,
    end: usize,
    index: usize,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            text: Waiting::new(),
            released: 0,
            searched: 0,
            starts: Waiting::new(),
            state: State::START,
            count: 0,
            last: None,
            has_ended: false,
        }
    }
}

impl Progress {
    fn text_end(&self) -> usize {
        self.released + self.text.get().len()
    }
}

impl Stops {
    fn new(stops: &[String]) -> Result<Option<Self>, LoadError> {
        let texts = || stops.iter().map(String::as_bytes);
        if texts().all(<[u8]>::is_empty) {
            return Ok(None);
        }
        let trie = Trie::new(texts().zip(0..))?;
        let automaton = Automaton::new(&trie, texts());
        Ok(Some(Self { trie, automaton }))
    }
}

impl<T: Deref<Target = Tokenizer>> StopStream<T> {
    /// A stream for a tokenizer, which may be borrowed or shared. Fails only if memory is short.
    pub fn new(tokenizer: T, options: &StopOptions) -> Result<Self, LoadError> {
        catch(|| {
            let mut stop_ids: Vec<u32> = collect(options.stop_ids.iter().copied())?;
            stop_ids.sort_unstable();
            Ok(Self {
                decoder: DecodeStream::new(tokenizer, options.decode),
                stops: Stops::new(&options.stops)?,
                stop_ids,
                max_ids: options.max_ids.unwrap_or(usize::MAX),
                include_stop: options.include_stop,
                progress: Progress::default(),
            })
        })
    }

    /// Reads ids up to the end of the stream. After that end, none are read. If an unknown id is an
    /// error (see [`Tokenizer::decode`]), none of the ids are read. After any other error the
    /// stream is reset.
    pub fn push(&mut self, ids: &[u32]) -> Result<Released, DecodeError> {
        if self.progress.has_ended {
            return Ok(Released::default());
        }
        let ids = &ids[..ids.len().min(self.max_ids.saturating_sub(self.progress.count))];
        let stop = ids.iter().position(|id| self.stop_ids.binary_search(id).is_ok());
        let texts = &ids[..stop.unwrap_or(ids.len())];
        self.decoder.check(texts)?;
        let before = self.progress.count;
        let released = catch(|| {
            for &id in texts {
                self.decode(id)?;
                if let Some(found) = self.search() {
                    return self.finish_at(&found);
                }
            }
            match stop {
                Some(at) => self.finish_by_id(ids[at]),
                None if self.progress.count >= self.max_ids => self.finish_all(Some(StopReason::Length)),
                None => Ok(self.release_certain()),
            }
        });
        match released {
            Ok(released) => Ok(Released { read: self.progress.count - before, ..released }),
            Err(error) => {
                self.start_over();
                Err(error)
            }
        }
    }

    /// The number of ids that may be left out of [`Self::push`], if each of them has a text of its
    /// own ([`DecodeStream::fixed_text`]) without the first character of a stop, and is no stop
    /// itself. Their text is certain at once. Afterwards [`Self::skip_to`] counts them. After the
    /// end of the stream it is 0.
    pub fn skippable(&self) -> usize {
        let Progress { text, starts, state, count, has_ended, .. } = &self.progress;
        let holds_none = text.get().is_empty() && starts.get().is_empty() && !self.decoder.holds_text();
        let is_clear = holds_none && *state == State::START && !has_ended;
        if is_clear && !self.decoder.delays_tokens() { self.max_ids.saturating_sub(count + 1) } else { 0 }
    }

    /// Counts ids that were left out, up to a number of all ids.
    pub fn skip_to(&mut self, count: usize) {
        let progress = &mut self.progress;
        self.decoder.skip(count.saturating_sub(progress.count));
        progress.count = progress.count.max(count);
    }

    /// Returns the rest of the text, in which there can be a stop, and resets the stream.
    pub fn end(&mut self) -> Result<Released, DecodeError> {
        let has_ended = self.progress.has_ended;
        let rest = if has_ended { Ok(Released::default()) } else { catch(|| self.finish_all(None)) };
        self.start_over();
        rest
    }

    fn decode(&mut self, id: u32) -> Result<(), DecodeError> {
        let holds_text = self.decoder.holds_text();
        let progress = &mut self.progress;
        let before = progress.text_end();
        let mut start = before;
        if holds_text || !self.decoder.push_fixed(id, &mut progress.text.values) {
            let text = self.decoder.push(&[id])?;
            append(&mut progress.text.values, text.as_bytes());
            if self.decoder.delays_tokens() {
                start = progress.text_end();
            } else if holds_text {
                let own = progress.last.and_then(|last| self.decoder.own_bytes(last, id)).unwrap_or_default();
                start += text.as_bytes().strip_suffix(&own[..]).map_or(0, <[u8]>::len);
            }
        }
        push(&mut progress.starts.values, start);
        progress.count += 1;
        progress.last = Some(id);
        Ok(())
    }

    /// Reads the text that was not read yet, up to the first stop.
    fn search(&mut self) -> Option<Match> {
        let Self { stops: Some(Stops { trie, automaton }), progress, .. } = self else { return None };
        for &byte in &progress.text.get()[progress.searched - progress.released..] {
            progress.state = automaton.step(trie, progress.state, byte);
            progress.searched += 1;
            if let Some((index, len)) = automaton.tokens(trie, progress.state).next() {
                let end = progress.searched;
                return Some(Match { start: end - len, end, index: index as usize });
            }
        }
        None
    }

    fn release_certain(&mut self) -> Released {
        let held = self.stops.as_ref().map_or(0, |stops| stops.automaton.depth(self.progress.state));
        self.release(self.progress.text_end() - held)
    }

    /// Releases the text up to a position, and the ids that start before it.
    fn release(&mut self, end: usize) -> Released {
        let progress = &mut self.progress;
        let text = from_utf8_lossy(progress.text.take(end - progress.released));
        progress.released = end;
        let ids = progress.starts.get().partition_point(|&start| start < end);
        progress.starts.take(ids);
        Released { text, ids, read: 0, finish: None }
    }

    /// Ends at a stop in the text.
    fn finish_at(&mut self, found: &Match) -> Result<Released, DecodeError> {
        let released = self.release(if self.include_stop { found.end } else { found.start });
        let mut cut = from_utf8_lossy(self.progress.text.take(self.progress.text.get().len()));
        push_str(&mut cut, &self.decoder.end()?);
        Ok(self.finish(released, StopReason::Text(found.index), cut))
    }

    /// Ends at an id.
    fn finish_by_id(&mut self, id: u32) -> Result<Released, DecodeError> {
        let reason = StopReason::Id(id);
        if self.include_stop {
            // An unknown id has no text.
            if self.decoder.check(&[id]).is_ok() {
                self.decode(id)?;
            } else {
                let start = self.progress.text_end();
                push(&mut self.progress.starts.values, start);
                self.progress.count += 1;
            }
            let rest = self.decoder.end()?;
            append(&mut self.progress.text.values, rest.as_bytes());
            let released = self.release_all();
            return Ok(self.finish(released, reason, String::new()));
        }
        let mut released = self.finish_all(Some(reason))?;
        if let Some(finish) = released.finish.as_mut().filter(|finish| finish.reason == reason) {
            self.progress.count += 1;
            finish.count += 1;
            finish.cut = self.decoder.decoded(id);
        }
        Ok(released)
    }

    /// Ends the text after the ids so far: for a reason, unless its rest has a stop.
    fn finish_all(&mut self, reason: Option<StopReason>) -> Result<Released, DecodeError> {
        let rest = self.decoder.end()?;
        append(&mut self.progress.text.values, rest.as_bytes());
        if let Some(found) = self.search() {
            return self.finish_at(&found);
        }
        let released = self.release_all();
        Ok(match reason {
            Some(reason) => self.finish(released, reason, String::new()),
            None => released,
        })
    }

    fn release_all(&mut self) -> Released {
        let released = self.release(self.progress.text_end());
        Released { ids: released.ids + self.progress.starts.get().len(), ..released }
    }

    fn finish(&mut self, released: Released, reason: StopReason, cut: String) -> Released {
        self.progress.has_ended = true;
        Released { finish: Some(Finish { reason, count: self.progress.count, cut }), ..released }
    }

    fn start_over(&mut self) {
        self.progress = Progress::default();
        self.decoder.start_over();
    }
}

#[cfg(test)]
mod tests;
