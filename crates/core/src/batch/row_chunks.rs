//! Splits long texts into chunks, so that several workers can share a text and the tokens of a
//! chunk stay in the processor's cache.
//!
//! A text is split at [cuts](crate::cuts), where no token crosses.

use crate::cuts::Cuts;
use crate::encoder::{Plan, Source};
use crate::encoding::Columns;
use crate::memory::fallible::with_capacity;
use crate::memory::{Grow, OutOfMemory};
use crate::text::{Input, MAX_CHARACTER_BYTES, Sequence, Text};
use crate::tokenizer::Tokenizer;

/// Approximate length of a chunk, in bytes or UTF-16 units. Texts shorter than two chunks are not
/// split.
pub(super) const CHUNK_LEN: usize = 128 << 10;
/// The search for a boundary covers this many bytes or UTF-16 units. If there is none, the chunk is
/// extended by another chunk length.
const MAX_BOUNDARY_SEARCH: usize = 4 << 10;

/// A row, or a chunk of one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowChunk<'a> {
    pub(super) row: usize,
    pub(super) input: Input<'a>,
    /// For a chunk of a row: its text, and whether it is the row's first and last chunk.
    pub(super) text: Option<(Text<'a>, [bool; 2])>,
}

impl RowChunk<'_> {
    /// Its size in bytes or UTF-16 units.
    pub(super) fn weight(&self) -> usize {
        self.text.map_or_else(|| self.input.weight(), |(text, _)| text.weight())
    }

    pub(super) fn source(&self) -> Source<'_> {
        match self.text {
            None => Source::Input(self.input),
            Some((text, [is_first, is_last])) => Source::Chunk { text, is_first, is_last },
        }
    }

    /// Whether this is the last chunk of its row.
    pub(super) fn is_last(&self) -> bool {
        self.text.is_none_or(|(_, [_, is_last])| is_last)
    }
}

/// Returns all rows. Rows of at least two chunks are split into chunks of about `size` bytes or
/// UTF-16 units, if the tokenizer and the options allow that.
pub(crate) fn split_rows<'a>(
    tokenizer: &Tokenizer,
    plan: &Plan,
    size: usize,
    rows: impl Iterator<Item = Input<'a>>,
) -> Result<Vec<RowChunk<'a>>, OutOfMemory> {
    let mut cuts = None;
    let mut chunks = with_capacity(rows.size_hint().0)?;
    for (row, input) in rows.enumerate() {
        let text = match input {
            Input { first: Sequence::Text(text), second: None } if text.weight() >= 2 * size => text,
            _ => {
                chunks.try_grow(1)?;
                chunks.push(RowChunk { row, input, text: None });
                continue;
            }
        };
        let cuts = *cuts.get_or_insert_with(|| cuts_of_ids(tokenizer, plan));
        let ends = cuts.map_or_else(Vec::new, |cuts| chunk_ends(cuts, text, size));
        let mut start = 0;
        chunks.try_grow(ends.len() + 1)?;
        for end in ends {
            chunks.push(RowChunk { row, input, text: Some((text.slice(start, end), [start == 0, false])) });
            start = end;
        }
        let rest = (start > 0).then(|| (text.slice(start, text.weight()), [false, true]));
        chunks.push(RowChunk { row, input, text: rest });
    }
    Ok(chunks)
}

/// The cuts of texts of which only ids are requested, without truncation and padding: these, and
/// columns, depend on what precedes a chunk.
fn cuts_of_ids<'a>(tokenizer: &'a Tokenizer, plan: &Plan) -> Option<Cuts<'a>> {
    let ids_only = plan.columns == Columns::NONE && plan.truncation.is_none() && plan.padding.is_none();
    Cuts::of(tokenizer, plan).filter(|_| ids_only)
}

/// A start of a text, near the end of the start that is given, whose ids are the first ids of the
/// text. `None` if there is none near, or if the tokenizer has none.
pub(crate) fn first_chunk<'a>(tokenizer: &Tokenizer, plan: &Plan, start: Text<'a>) -> Option<Text<'a>> {
    let cuts = cuts_of_ids(tokenizer, plan)?;
    let last = start.weight().saturating_sub(MAX_CHARACTER_BYTES + 1);
    Some(start.slice(0, cuts.last(start, last.saturating_sub(MAX_BOUNDARY_SEARCH)..last)?))
}

/// The ends of a text's chunks, except the last.
fn chunk_ends(cuts: Cuts<'_>, text: Text<'_>, size: usize) -> Vec<usize> {
    let mut ends = vec![];
    let mut end = size;
    while end + size <= text.weight() {
        match cuts.first(text, end..end + size.min(MAX_BOUNDARY_SEARCH)) {
            Some(at) => {
                ends.push(at);
                end = at + size;
            }
            None => end += size,
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::super::{BatchError, RunOptions, encode_chunks};
    use super::*;
    use crate::fuzzing::parts::{PIECES, TOKENIZERS, added, byte_level};
    use crate::{EncodeOptions, SpecialTokens};
    use proptest::prelude::*;
    use serde_json::json;

    fn options(add_special_tokens: bool) -> EncodeOptions {
        EncodeOptions { add_special_tokens, special_tokens: SpecialTokens::Parse, ..EncodeOptions::default() }
    }

    fn in_chunks<'a>(
        tokenizer: &Tokenizer,
        texts: &[Text<'a>],
        size: usize,
        options: &EncodeOptions,
    ) -> (Plan, Vec<RowChunk<'a>>) {
        let plan = tokenizer.plan(options).expect("the options are fine");
        let chunks =
            split_rows(tokenizer, &plan, size, texts.iter().map(|&text| text.into())).expect("there is memory");
        (plan, chunks)
    }

    proptest! {
        #[test]
        fn the_ids_of_the_chunks_are_those_of_the_text(
            texts in prop::collection::vec(prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60), 0..5),
            size in 1usize..60,
            threads in 1usize..4,
            special: bool,
        ) {
            let texts: Vec<String> = texts.into_iter().map(|pieces| pieces.concat()).collect();
            let units: Vec<Vec<u16>> = texts.iter().map(|text| text.encode_utf16().collect()).collect();
            let run = RunOptions { threads: Some(threads), ..RunOptions::default() };
            for tokenizer in TOKENIZERS.iter() {
                let forms: [Vec<Text<'_>>; 3] = [
                    texts.iter().map(|text| Text::Utf8(text)).collect(),
                    texts.iter().map(|text| Text::Bytes(text.as_bytes())).collect(),
                    units.iter().map(|units| Text::Utf16(units)).collect(),
                ];
                for rows in forms {
                    let (plan, chunks) = in_chunks(tokenizer, &rows, size, &options(special));
                    let batch = encode_chunks(tokenizer, &chunks, plan, &run).and_then(|encoded| encoded.gather());
                    let batch = batch.expect("the rows are fine");
                    prop_assert_eq!(batch.len(), rows.len());
                    for (at, &row) in rows.iter().enumerate() {
                        let alone = tokenizer.encode(row, &options(special)).expect("the rows are fine");
                        prop_assert_eq!(batch.row(at), alone.ids(), "{:?} by {}", texts[at], size);
                    }
                }
            }
        }
    }

    #[test]
    fn a_long_text_has_chunks_of_about_the_same_length() {
        let text = "Some words that go on, é and so on.\n".repeat(100);
        for tokenizer in TOKENIZERS.iter() {
            let (_, chunks) = in_chunks(tokenizer, &[Text::Utf8("short"), Text::Utf8(&text)], 500, &options(true));
            assert_eq!(
                chunks.iter().map(|chunk| chunk.row).collect::<Vec<_>>(),
                [vec![0], vec![1; chunks.len() - 1]].concat()
            );
            let lengths: Vec<usize> = chunks[1..].iter().map(RowChunk::weight).collect();
            assert!(lengths.iter().all(|length| (500..1040).contains(length)), "{lengths:?}");
            assert_eq!(lengths.iter().sum::<usize>(), text.len());
        }
    }

    #[test]
    fn texts_are_not_split_if_a_component_looks_across_a_space() {
        let text = "Some words that go on and on. ".repeat(40);
        let chunks = |tokenizer: &Tokenizer, options: &EncodeOptions| {
            in_chunks(tokenizer, &[Text::Utf8(&text)], 50, options).1.len()
        };
        assert!(chunks(&byte_level(json!([added(300, "<x>", true, true, false)])), &options(true)) > 10);
        assert_eq!(chunks(&byte_level(json!([added(300, "that go", false, false, false)])), &options(true)), 1);
        assert_eq!(chunks(&byte_level(json!([added(300, "that", true, false, false)])), &options(true)), 1);
        let offsets = EncodeOptions { columns: Columns::OFFSETS, ..options(true) };
        assert_eq!(chunks(&TOKENIZERS[0], &offsets), 1);
    }

    #[test]
    fn windows_may_end_within_a_row_that_continues_in_the_next() {
        let texts = ["word after word, ".repeat(20_000), "é b ".repeat(9), "中 x ".repeat(60_000)];
        let rows: Vec<Text<'_>> = texts.iter().map(|text| Text::Utf8(text)).collect();
        for tokenizer in TOKENIZERS.iter() {
            for threads in [1, 2, 3] {
                let run = RunOptions { threads: Some(threads), ..RunOptions::default() };
                let batch =
                    crate::batch::encode_batch(tokenizer, &rows, &options(true), &run).expect("the rows are fine");
                let counts =
                    crate::batch::count_batch(tokenizer, &rows, &options(true), &run).expect("the rows are fine");
                for (at, &row) in rows.iter().enumerate() {
                    let alone = tokenizer.encode(row, &options(true)).expect("the rows are fine");
                    assert!(batch.row(at) == alone.ids(), "row {at}");
                    assert_eq!(counts[at] as usize, alone.len());
                }
            }
        }
    }

    #[test]
    fn an_error_in_a_chunk_names_the_row_and_the_position_there() {
        let mut bad = "some words ".repeat(40_000).into_bytes();
        bad[400_000] = 0xFF;
        let rows = [Text::Utf8("fine"), Text::Bytes(&bad)];
        let run = RunOptions { threads: Some(2), ..RunOptions::default() };
        let expected = BatchError::Encode { index: 1, source: crate::EncodeError::InvalidUtf8 { byte: 400_000 } };
        let batch = crate::batch::encode_batch(&TOKENIZERS[1], &rows, &options(true), &run);
        assert_eq!(batch.map(|_| ()), Err(expected.clone()));
        assert_eq!(crate::batch::count_batch(&TOKENIZERS[1], &rows, &options(true), &run), Err(expected));
        let cancel = crate::batch::Cancel::new();
        cancel.cancel();
        let run = RunOptions { cancel: Some(&cancel), ..run };
        assert_eq!(
            crate::batch::encode_batch(&TOKENIZERS[1], &rows, &options(true), &run).map(|_| ()),
            Err(BatchError::Cancelled)
        );
    }
}
