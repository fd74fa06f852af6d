//! Compares texts that are edited and encoded between cuts with whole texts.

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::json;

use super::{PartEnd, PartRequest};
use crate::fuzzing::parts::{PIECES, TOKENIZERS};
use crate::split::tests::subjects::{Subject, pieces, subjects, tokenizer};
use crate::testdata::sentencepiece;
use crate::{EncodeOptions, Setting, SpecialTokens, Text, Tokenizer};

/// An edit closer than this to a cut can change it, in bytes.
const MARGIN: usize = 8;

fn options() -> EncodeOptions {
    EncodeOptions {
        add_special_tokens: true,
        special_tokens: SpecialTokens::Parse,
        truncation: Setting::Off,
        padding: Setting::Off,
        ..EncodeOptions::default()
    }
}

/// A text in chunks, and the ids of each. `lib/live.js` does the same.
struct Live<'t> {
    tokenizer: &'t Tokenizer,
    chunk_len: usize,
    chunks: Vec<(String, Vec<u32>)>,
}

impl<'t> Live<'t> {
    fn new(tokenizer: &'t Tokenizer, chunk_len: usize) -> Self {
        let mut live = Self { tokenizer, chunk_len, chunks: vec![(String::new(), vec![])] };
        live.replace(0, 0, "");
        live
    }

    fn text(&self) -> String {
        self.chunks.iter().map(|(text, _)| text.as_str()).collect()
    }

    fn ids(&self) -> Vec<u32> {
        self.chunks.iter().flat_map(|(_, ids)| ids.iter().copied()).collect()
    }

    /// The chunk that contains or ends at a position, and its start.
    fn chunk_at(&self, position: usize) -> (usize, usize) {
        let mut start = 0;
        for (at, (text, _)) in self.chunks.iter().enumerate() {
            if position <= start + text.len() {
                return (at, start);
            }
            start += text.len();
        }
        unreachable!("the position is in the text")
    }

    /// Returns the number of bytes that were encoded.
    fn replace(&mut self, start: usize, end: usize, put: &str) -> usize {
        let (mut first, mut first_start) = self.chunk_at(start);
        let (mut last, mut last_start) = self.chunk_at(end);
        if first > 0 && start - first_start < MARGIN {
            first -= 1;
            first_start -= self.chunks[first].0.len();
        }
        if last + 1 < self.chunks.len() && last_start + self.chunks[last].0.len() - end < MARGIN {
            last_start += self.chunks[last].0.len();
            last += 1;
        }
        let joined: String = self.chunks[first..=last].iter().map(|(text, _)| text.as_str()).collect();
        let text = [&joined[..start - first_start], put, &joined[end - first_start..]].concat();
        debug_assert!(last_start >= first_start);
        let is_end = last + 1 == self.chunks.len();
        let request = PartRequest {
            starts_text: first == 0,
            end: if is_end { PartEnd::Text } else { PartEnd::Cut },
            chunk_len: self.chunk_len,
            offsets: false,
        };
        let part = self.tokenizer.encode_part(Text::Utf8(&text), &request, &options()).expect("a sound text");
        let (mut from, mut first_id) = (0, 0);
        let chunks: Vec<_> = part
            .chunks
            .iter()
            .map(|&[end, ids]| {
                let chunk = (text[from..end].to_owned(), part.ids[first_id..ids].to_vec());
                (from, first_id) = (end, ids);
                chunk
            })
            .collect();
        self.chunks.splice(first..=last, chunks);
        text.len()
    }
}

/// An edit: where it starts and how much it removes, as parts of the text, and what it inserts.
type Edit = (prop::sample::Index, usize, String);

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let words = [" a b", " cd a", "a", " ", "ab cd abab ", "some words that go on ", "中 文字", "x y"];
    let all: Vec<String> =
        pieces().into_iter().chain(words.map(String::from)).chain(PIECES.map(String::from)).collect();
    let put = prop::collection::vec(prop::sample::select(all), 0..12).prop_map(|parts| parts.concat());
    prop::collection::vec((any::<prop::sample::Index>(), 0usize..40, put), 1..12)
}

/// Makes all edits and compares the ids after each with those of the whole text. Texts that cannot
/// be encoded, because a tokenizer lacks its unknown token, are left out.
fn check(tokenizer: &Tokenizer, chunk_len: usize, edits: &[Edit]) -> Result<(), TestCaseError> {
    let mut live = Live::new(tokenizer, chunk_len);
    for (at, removed, put) in edits {
        let text = live.text();
        let start = text.floor_char_boundary(at.index(text.len() + 1));
        let end = text.floor_char_boundary((start + removed).min(text.len()));
        let expected = [&text[..start], put, &text[end..]].concat();
        let Ok(whole) = tokenizer.encode(expected.as_str().into(), &options()) else { return Ok(()) };
        live.replace(start, end, put);
        prop_assert_eq!(live.text(), &*expected);
        prop_assert_eq!(live.ids(), whole.ids(), "{:?}, {}..{} {:?}", text, start, end, put);
    }
    Ok(())
}

/// Llama 2 and Gemma: the model reads spaces. Merges can cross the start of a space.
fn reading_spaces(merges: &[&str]) -> Tokenizer {
    let mut vocab = serde_json::Map::new();
    let bytes = (0..=255).map(|byte| format!("<0x{byte:02X}>"));
    for token in
        bytes.chain("▁abcdxyz".chars().map(String::from)).chain(merges.iter().map(|pair| pair.replace(' ', "")))
    {
        let id = vocab.len();
        vocab.insert(token, json!(id));
    }
    let file = json!({
        "version": "1.0", "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        ]},
        "model": {"type": "BPE", "vocab": vocab, "merges": merges, "byte_fallback": true, "fuse_unk": true},
    });
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("a sound file")
}

/// The fixtures: tokenizer.json files of all kinds of models, and SentencePiece files.
static FIXTURES: LazyLock<Vec<(String, Tokenizer)>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/conformance/tokenizers");
    let mut all = vec![];
    for file in std::fs::read_dir(folder).expect("the folder is there") {
        let path = file.expect("a file").path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let file = std::fs::read(&path).expect("it can be read");
            all.push((path.display().to_string(), Tokenizer::from_bytes(&file).expect("a sound file")));
        }
    }
    for name in sentencepiece::MODEL_NAMES {
        let model = Tokenizer::from_bytes(&sentencepiece::model(name)).expect("a sound model");
        all.push((name.to_owned(), model));
    }
    all.push(("reads spaces".into(), reading_spaces(&["▁ a", "a b", "▁ c", "▁c d"])));
    all.push(("some merges cross spaces".into(), reading_spaces(&["▁ a", "b ▁", "b▁ c", "a b"])));
    all
});

/// The text after an added token gets a prefix of its own, also at a cut.
#[test]
fn text_after_an_added_token_does_not_continue_the_text_before_it() {
    // Llama 2, with an added token "cd" that takes the space before it.
    let subject = Subject { normalizer: 6, pretokenizer: 0, model: 0, merges: vec![(0, 0)], added: true };
    let tokenizer = tokenizer(&subject);
    let mut live = Live::new(&tokenizer, 1);
    live.replace(0, 0, "ab cd abab ");
    let whole = tokenizer.encode("ab cd abab ".into(), &options()).expect("a sound text");
    assert_eq!(live.ids(), whole.ids());
}

proptest! {
    #[test]
    fn edited_texts_have_the_ids_of_whole_texts(edits in edits(), chunk_len in 1usize..60) {
        for tokenizer in TOKENIZERS.iter() {
            check(tokenizer, chunk_len, &edits)?;
        }
        for (name, tokenizer) in FIXTURES.iter() {
            check(tokenizer, chunk_len, &edits).map_err(|error| TestCaseError::fail(format!("{name}: {error}")))?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn edited_texts_have_the_ids_of_whole_texts_with_components_of_all_kinds(
        subject in subjects(40, 12),
        edits in edits(),
        chunk_len in 1usize..30,
    ) {
        check(&tokenizer(&subject), chunk_len, &edits)?;
    }
}

#[test]
fn an_edit_encodes_a_few_chunks_again() {
    let text = "fn main() { let words = text.split(' '); } // and so on and on\n".repeat(2000);
    let cutting = TOKENIZERS.iter().chain(
        FIXTURES
            .iter()
            .filter(|(name, _)| {
                ["s_metaspace_first", "u_xlmr_like", "bpe_bytes", "reads spaces"].iter().any(|one| name.contains(one))
            })
            .map(|(_, tokenizer)| tokenizer),
    );
    let mut count = 0;
    for tokenizer in cutting {
        let mut live = Live::new(tokenizer, 512);
        live.replace(0, 0, &text);
        for position in [0, 7, 60_000, text.len() - 1, text.len()] {
            let bytes = live.replace(position, position, "x");
            assert!(bytes < 4 * 512, "{bytes} bytes at {position}, {count}");
        }
        count += 1;
    }
    assert_eq!(count, TOKENIZERS.len() + 4);
}

#[test]
fn an_open_part_is_encoded_up_to_its_last_cut() {
    let tokenizer = &TOKENIZERS[1];
    let request = PartRequest { starts_text: true, end: PartEnd::Open, chunk_len: 1, offsets: false };
    let part = |text: &str| tokenizer.encode_part(text.into(), &request, &options()).expect("a text");
    let part_of = part("some words go on. The last");
    assert_eq!(part_of.chunks, [["some words go on. The".len(), part_of.ids.len()]]);
    let start = tokenizer.encode("some words go on. The".into(), &options()).expect("a text");
    assert_eq!(part_of.ids, start.ids());
    assert_eq!(part("1 2 3 !").chunks, [[0; 2]; 0]);
}
