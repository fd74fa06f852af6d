//! The columns of a batch, in memory of the pool, and how a window's rows get there.
//!
//! A worker writes rows to lists that stay in its processor's cache. When they are long enough they are put away, in pieces,
//! or right where the batch will have them if the window is the whole batch: lists that grow with a window would be copied
//! to fresh pages again and again, and clearing those costs as much as the columns themselves.

use crate::encoding::{Columns, Encoding};
use crate::memory::{Plain, Slab};

/// Columns of 32-bit words; offsets are two of them.
pub(super) const WORDS: [Columns; 4] = [Columns::OFFSETS, Columns::TYPE_IDS, Columns::WORD_IDS, Columns::SEQUENCE_IDS];
/// Columns of bytes.
pub(super) const MASKS: [Columns; 2] = [Columns::SPECIAL_TOKENS_MASK, Columns::ATTENTION_MASK];

/// Values that one piece has room for. All have the same size, so that every batch finds those of the one before.
const PIECE: usize = 64 << 10;

/// How many values of a column there are for a token.
pub(super) fn width(column: Columns) -> usize {
    if column == Columns::OFFSETS { 2 } else { 1 }
}

/// Bytes for a token, of its id and of the columns of numbers.
pub(super) fn bytes_per_token(columns: Columns) -> usize {
    let wanted =
        |all: &[Columns]| all.iter().filter(|&&one| columns.contains(one)).map(|&one| width(one)).sum::<usize>();
    size_of::<u32>() * (1 + wanted(&WORDS)) + wanted(&MASKS)
}

/// What is known of the tokens of all rows of a batch, row after row. A column that was not asked for is empty, the others
/// have one entry per token.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BatchColumns {
    pub(super) words: [Slab<u32>; WORDS.len()],
    pub(super) masks: [Slab<u8>; MASKS.len()],
    pub(super) tokens: Vec<String>,
}

impl BatchColumns {
    /// As [`Encoding::offsets`], of each token in its own row's text.
    pub fn offsets(&self) -> &[[u32; 2]] {
        self.words[0].as_chunks().0
    }

    /// As [`Encoding::tokens`].
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// As [`Encoding::special_tokens_mask`].
    pub fn special_tokens_mask(&self) -> &[u8] {
        &self.masks[0]
    }

    /// As [`Encoding::type_ids`].
    pub fn type_ids(&self) -> &[u32] {
        &self.words[1]
    }

    /// As [`Encoding::attention_mask`].
    pub fn attention_mask(&self) -> &[u8] {
        &self.masks[1]
    }

    /// As [`Encoding::word_ids`].
    pub fn word_ids(&self) -> &[u32] {
        &self.words[2]
    }

    /// As [`Encoding::sequence_ids`].
    pub fn sequence_ids(&self) -> &[u32] {
        &self.words[3]
    }

    /// As [`Encoding::take_words`].
    pub fn take_words(&mut self, column: Columns) -> Slab<u32> {
        let place = WORDS.iter().position(|&one| one == column);
        place.map(|place| std::mem::take(&mut self.words[place])).unwrap_or_default()
    }

    /// As [`Encoding::take_mask`].
    pub fn take_mask(&mut self, column: Columns) -> Slab<u8> {
        let place = MASKS.iter().position(|&one| one == column);
        place.map(|place| std::mem::take(&mut self.masks[place])).unwrap_or_default()
    }

    /// As [`Encoding::take_tokens`].
    pub fn take_tokens(&mut self) -> Vec<String> {
        std::mem::take(&mut self.tokens)
    }
}

/// What a window has of a column.
#[derive(Debug)]
pub(super) struct Kept<T: Plain> {
    pieces: Vec<Slab<T>>,
    /// Whether there is one piece, which is the batch's own.
    is_whole: bool,
    /// What comes behind the pieces.
    rest: Vec<T>,
}

impl<T: Plain> Default for Kept<T> {
    fn default() -> Self {
        Self { pieces: vec![], is_whole: false, rest: vec![] }
    }
}

impl<T: Plain + Default> Kept<T> {
    /// The column of a whole batch: so many zeros, then about so many values.
    pub(super) fn whole(head: usize, values: usize) -> Self {
        let mut slab = Slab::with_capacity(head + values);
        slab.resize(head, T::default());
        Self { pieces: vec![slab], is_whole: true, rest: vec![] }
    }

    pub(super) fn push(&mut self, mut values: &[T]) {
        if let ([whole], true) = (&mut self.pieces[..], self.is_whole) {
            return whole.extend_from_slice(values);
        }
        while !values.is_empty() {
            if self.pieces.last().is_none_or(|piece| piece.len() == PIECE) {
                self.pieces.push(Slab::with_capacity(PIECE));
            }
            let piece = self.pieces.last_mut().expect("there is one now");
            let (fitting, rest) = values.split_at(values.len().min(PIECE - piece.len()));
            piece.extend_from_slice(fitting);
            values = rest;
        }
    }

    /// The last values.
    pub(super) fn end(&mut self, rest: Vec<T>) {
        if self.is_whole { self.push(&rest) } else { self.rest = rest }
    }

    /// What all windows have, in their order: so many zeros, then so many values, as `steps` say. A whole batch is as it is.
    pub(super) fn join(all: Vec<Self>, head: usize, total: usize, steps: impl Iterator<Item = Step<T>>) -> Slab<T> {
        let mut all = all;
        if let [Self { pieces, is_whole: true, .. }] = &mut all[..] {
            let mut slab = pieces.pop().expect("the batch's own");
            slab.shrink_to_fit();
            return slab;
        }
        let mut slab = Slab::with_capacity(head + total);
        slab.resize(head, T::default());
        let mut parts = all.iter().flat_map(|kept| kept.pieces.iter().map(|piece| &**piece).chain([&*kept.rest]));
        let mut part: &[T] = &[];
        for step in steps {
            match step {
                Step::Values(mut count) => {
                    while count > 0 {
                        if part.is_empty() {
                            part = parts.next().expect("no more is taken than there is");
                        }
                        let (taken, rest) = part.split_at(part.len().min(count));
                        slab.extend_from_slice(taken);
                        (part, count) = (rest, count - taken.len());
                    }
                }
                Step::Padding(count, value) => slab.resize(slab.len() + count, value),
            }
        }
        slab
    }
}

/// What comes next in a column that is put together.
pub(super) enum Step<T> {
    /// So many values of the windows.
    Values(usize),
    /// So many times this one.
    Padding(usize, T),
}

/// The columns of a window.
#[derive(Debug, Default)]
pub(super) struct KeptColumns {
    pub(super) words: [Kept<u32>; WORDS.len()],
    pub(super) masks: [Kept<u8>; MASKS.len()],
}

impl KeptColumns {
    /// Those of a whole batch of about so many tokens.
    pub(super) fn whole(tokens: usize, columns: Columns) -> Self {
        let room = |column| if columns.contains(column) { tokens * width(column) } else { 0 };
        Self {
            words: WORDS.map(|column| Kept::whole(0, room(column))),
            masks: MASKS.map(|column| Kept::whole(0, room(column))),
        }
    }

    /// Puts away what `out` has.
    pub(super) fn push(&mut self, out: &Encoding) {
        WORDS.iter().zip(&mut self.words).for_each(|(&column, kept)| kept.push(out.words(column)));
        MASKS.iter().zip(&mut self.masks).for_each(|(&column, kept)| kept.push(out.mask(column)));
    }

    /// The same at the end.
    pub(super) fn end(&mut self, out: &mut Encoding) {
        WORDS.iter().zip(&mut self.words).for_each(|(&column, kept)| kept.end(out.take_words(column)));
        MASKS.iter().zip(&mut self.masks).for_each(|(&column, kept)| kept.end(out.take_mask(column)));
    }
}
