use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::RankDefinition;
use crate::fuzzing::decode;

/// The slow twin: reads the whole text for each id.
struct Twin<'a> {
    tokenizer: &'a Tokenizer,
    options: &'a StopOptions,
    stream: DecodeStream<&'a Tokenizer>,
    text: String,
    released: usize,
    count: usize,
}

impl<'a> Twin<'a> {
    fn new(tokenizer: &'a Tokenizer, options: &'a StopOptions) -> Self {
        let stream = DecodeStream::new(tokenizer, options.decode);
        Self { tokenizer, options, stream, text: String::new(), released: 0, count: 0 }
    }

    /// The stop that ends first, and the longest that ends there: start, end and index.
    fn stop(&self) -> Option<(usize, usize, usize)> {
        let ends = self.options.stops.iter().enumerate().filter(|(_, stop)| !stop.is_empty());
        let found = ends.filter_map(|(index, stop)| self.text.find(stop).map(|at| (at, at + stop.len(), index)));
        found.min_by_key(|&(start, end, index)| (end, start, std::cmp::Reverse(index)))
    }

    /// The longest end of the text that a stop starts with, without being that stop.
    fn held(&self) -> usize {
        let starts = |end: &str| self.options.stops.iter().any(|stop| stop.len() > end.len() && stop.starts_with(end));
        let ends = (0..=self.text.len()).filter(|&at| self.text.is_char_boundary(at)).map(|at| &self.text[at..]);
        ends.filter(|end| starts(end)).map(str::len).max().unwrap_or(0)
    }

    fn release(&mut self, end: usize) -> String {
        let text = self.text[self.released..end].to_owned();
        self.released = end;
        text
    }

    fn finish(&mut self, end: usize, reason: StopReason, cut: &str) -> (String, Option<Finish>) {
        let text = self.release(end);
        (text, Some(Finish { reason, count: self.count, cut: cut.into() }))
    }

    fn found(&mut self, (start, end, index): (usize, usize, usize)) -> (String, Option<Finish>) {
        let end = if self.options.include_stop { end } else { start };
        let cut = self.text[end..].to_owned() + &self.stream.end().expect("it is short");
        self.finish(end, StopReason::Text(index), &cut)
    }

    fn push(&mut self, ids: &[u32]) -> (String, Option<Finish>) {
        for &id in ids {
            let is_stop = self.options.stop_ids.contains(&id);
            if is_stop && !self.options.include_stop {
                self.text += &self.stream.end().expect("it is short");
                if let Some(found) = self.stop() {
                    return self.found(found);
                }
                self.count += 1;
                let cut = self.tokenizer.decode(&[id], &self.options.decode).expect("it is short");
                return self.finish(self.text.len(), StopReason::Id(id), &cut);
            }
            self.text += &self.stream.push(&[id]).expect("it is short");
            self.count += 1;
            if is_stop {
                self.text += &self.stream.end().expect("it is short");
                return self.finish(self.text.len(), StopReason::Id(id), "");
            }
            if let Some(found) = self.stop() {
                return self.found(found);
            }
            if Some(self.count) == self.options.max_ids {
                return self.end(Some(StopReason::Length));
            }
        }
        let certain = self.text.len() - self.held();
        (self.release(certain), None)
    }

    fn end(&mut self, reason: Option<StopReason>) -> (String, Option<Finish>) {
        self.text += &self.stream.end().expect("it is short");
        if let Some(found) = self.stop() {
            return self.found(found);
        }
        match reason {
            Some(reason) => self.finish(self.text.len(), reason, ""),
            None => (self.release(self.text.len()), None),
        }
    }
}

fn options() -> impl Strategy<Value = StopOptions> {
    let stops =
        ["a", "aa", "aab", "a a", "é", "éa", "中", "€", "€a", " ", "  a", "\u{fffd}", "b▁", "ba", "", "ab", "bab"];
    let stops = prop::collection::vec(prop::sample::select(stops.to_vec()).prop_map(str::to_owned), 0..5);
    let stop_ids = prop::collection::vec(0..40_u32, 0..3);
    (stops, stop_ids, prop::option::weighted(0.2, 1..30_usize), any::<bool>()).prop_map(
        |(stops, stop_ids, max_ids, include_stop)| StopOptions {
            stops,
            stop_ids,
            max_ids,
            include_stop,
            decode: DecodeOptions::default(),
        },
    )
}

proptest! {
    #[test]
    fn a_stream_of_any_decoder_releases_what_the_twin_does(
        steps in prop::collection::vec(prop::sample::select(decode::components()), 0..3),
        options in options(),
        ids in prop::collection::vec(0..34_u32, 0..30),
        lengths in prop::collection::vec(0..4_usize, 0..20),
    ) {
        let decoder = if steps.is_empty() { json!(null) } else { json!({"type": "Sequence", "decoders": steps}) };
        let tokenizer = decode::tokenizer(&decoder);
        let mut stream = StopStream::new(&tokenizer, &options).expect("there is memory");
        for _ in 0..2 {
            let mut twin = Twin::new(&tokenizer, &options);
            let (mut rest, mut waiting, mut read) = (&ids[..], 0, 0);
            let mut has_ended = false;
            for &length in lengths.iter().chain([&ids.len()]) {
                let (list, after) = rest.split_at(length.min(rest.len()));
                rest = after;
                let released = stream.push(list).expect("it is short");
                if has_ended {
                    prop_assert_eq!(released, Released::default());
                    continue;
                }
                let (text, finish) = twin.push(list);
                has_ended = finish.is_some();
                prop_assert_eq!((&released.text, &released.finish), (&text, &finish));
                (read, waiting) = (read + released.read, waiting + released.read - released.ids);
                prop_assert_eq!(read, released.finish.map_or(read, |finish| finish.count));
            }
            let released = stream.end().expect("it is short");
            if !has_ended {
                let (text, finish) = twin.end(None);
                prop_assert_eq!((released.text, &released.finish), (text, &finish));
                prop_assert!(finish.is_some() || released.ids == waiting);
            }
        }
    }

    /// Tokens of a rank file are bytes, so the text of each id is known.
    #[test]
    fn ids_come_with_the_first_of_their_text(
        options in options(),
        text in "[abé中€👩 ]{0,12}",
        sizes in prop::collection::vec(1..4_usize, 40..60),
        lengths in prop::collection::vec(1..4_usize, 0..20),
    ) {
        let (mut tokens, mut starts, mut at) = (vec![], vec![], 0);
        for size in sizes {
            let end = (at + size).min(text.len());
            if at < end {
                tokens.push(&text.as_bytes()[at..end]);
                starts.push(at);
            }
            at = end;
        }
        let mut vocab: Vec<&[u8]> = tokens.clone();
        vocab.sort_unstable();
        vocab.dedup();
        let base64 = |token: &[u8]| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, token);
        let ranks: String = vocab.iter().zip(0..).map(|(token, id)| format!("{} {id}\n", base64(token))).collect();
        if tokens.is_empty() {
            return Ok(());
        }
        let definition = RankDefinition { pattern: r"\w+".into(), special_tokens: vec![] };
        let tokenizer = Tokenizer::from_ranks(ranks.as_bytes(), &definition).expect("the file loads");
        let ids: Vec<u32> = tokens.iter().map(|token| vocab.binary_search(token).expect("it is there") as u32).collect();
        let options = StopOptions { stop_ids: vec![], max_ids: None, ..options };
        let mut stream = StopStream::new(&tokenizer, &options).expect("there is memory");
        let (mut rest, mut text_end, mut id_end) = (&ids[..], 0, 0);
        for &length in lengths.iter().chain([&ids.len()]) {
            let (list, after) = rest.split_at(length.min(rest.len()));
            rest = after;
            let released = stream.push(list).expect("they are known");
            text_end += released.text.len();
            id_end += released.ids;
            prop_assert_eq!(id_end, starts.partition_point(|&start| start < text_end));
            if let Some(finish) = released.finish {
                let read = ids[..finish.count].iter().flat_map(|&id| vocab[id as usize]).copied().collect();
                prop_assert_eq!(text[..text_end].to_owned() + &finish.cut, from_utf8_lossy(read));
                return Ok(());
            }
        }
        let released = stream.end().expect("they are known");
        prop_assert_eq!((text_end + released.text.len(), id_end + released.ids), (text.len(), ids.len()));
    }
}

#[test]
fn an_id_after_bytes_that_were_held_starts_behind_them() {
    let llama = json!({"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]});
    let tokenizer = decode::tokenizer(&llama);
    let id = |token: &str| tokenizer.token_to_id(token).expect("it is in the vocabulary");
    let options = StopOptions { stops: vec!["aaa".into()], ..StopOptions::default() };
    let mut stream = StopStream::new(&tokenizer, &options).expect("there is memory");
    let euro = [id("<0xE2>"), id("<0x82>"), id("<0xAC>")];
    assert_eq!(stream.push(&euro).expect("it is short"), Released { read: 3, ..Released::default() });
    let released = stream.push(&[id("a")]).expect("it is short");
    assert_eq!((&released.text[..], released.ids), ("€", 3));
    let released = stream.push(&[id("é")]).expect("it is short");
    assert_eq!((&released.text[..], released.ids), ("aé", 2));
}

#[test]
fn ids_of_certain_texts_can_be_skipped_between_others() {
    let tokenizer = decode::tokenizer(&json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true}));
    let id = |token: &str| tokenizer.token_to_id(token).expect("it is in the vocabulary");
    let options = StopOptions { stops: vec!["aa".into()], max_ids: Some(7), ..StopOptions::default() };
    let mut stream = StopStream::new(&tokenizer, &options).expect("there is memory");
    assert_eq!(stream.skippable(), 6);
    stream.skip_to(2);
    stream.push(&[id("a")]).expect("it is short");
    assert_eq!(stream.skippable(), 0, "the text can become a stop");
    stream.push(&[id("Ã")]).expect("it is short");
    assert_eq!(stream.skippable(), 0, "there is half a character");
    let released = stream.push(&[id("©")]).expect("it is short");
    assert_eq!((&released.text[..], stream.skippable()), ("aé", 1));
    stream.skip_to(6);
    let finish = Finish { reason: StopReason::Length, count: 7, cut: String::new() };
    assert_eq!(stream.push(&[id("."), id(".")]).expect("it is short").finish, Some(finish));
}

#[test]
fn an_unknown_id_of_ranks_reads_none_unless_it_is_a_stop() {
    let definition = RankDefinition { pattern: r"\w+".into(), special_tokens: vec![] };
    let tokenizer = Tokenizer::from_ranks(b"YQ== 0\n", &definition).expect("the file loads");
    let options = StopOptions { stop_ids: vec![9], ..StopOptions::default() };
    let mut stream = StopStream::new(&tokenizer, &options).expect("there is memory");
    assert_eq!(stream.push(&[0, 0, 7]), Err(DecodeError::UnknownId { id: 7, index: 2 }));
    let finish = Finish { reason: StopReason::Id(9), count: 2, cut: String::new() };
    let released = Released { text: "a".into(), ids: 1, read: 2, finish: Some(finish) };
    assert_eq!(stream.push(&[0, 9, 7]), Ok(released));
    let options = StopOptions { include_stop: true, ..options };
    let mut stream = StopStream::new(&tokenizer, &options).expect("there is memory");
    let finish = Finish { reason: StopReason::Id(9), count: 2, cut: String::new() };
    let released = Released { text: "a".into(), ids: 2, read: 2, finish: Some(finish) };
    assert_eq!(stream.push(&[0, 9, 7]), Ok(released));
}
