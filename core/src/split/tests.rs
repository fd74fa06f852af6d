//! Compares splitting with its definition: every prefix is counted separately.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::{Boundary, Limits, MAX_TRIED_PREFIXES, MIN_WORK, Piece, Pieces, Progress, Stopped};
use crate::bounded::subjects::{CHARACTER_TOKENS, NORMALIZERS, PRETOKENIZERS, Subject, pieces, tokenizer};
use crate::{Columns, EncodeOptions, SpecialTokens, Text, Tokenizer, encoding_file};

fn options() -> EncodeOptions {
    EncodeOptions { special_tokens: SpecialTokens::Parse, ..EncodeOptions::default() }
}

/// The ends of sentences or lines, without the end of the text.
fn boundaries(text: &str, boundary: Boundary) -> Vec<usize> {
    let ends: Vec<usize> = match boundary {
        Boundary::Token => vec![],
        Boundary::Line => super::lines::ends(text).collect(),
        Boundary::Sentence => text.split_sentence_bound_indices().map(|(at, part)| at + part.len()).collect(),
    };
    ends.into_iter().filter(|&end| end < text.len()).collect()
}

/// Splits by the definition, slowly. `None` if a character has too many tokens.
fn split_by_definition(tokenizer: &Tokenizer, text: &str, limits: &Limits) -> Option<Vec<Piece>> {
    let Limits { max_tokens, overlap, boundary } = *limits;
    let count = |text: &str| tokenizer.count(text.into(), &options()).expect("a text");
    let bare = EncodeOptions { add_special_tokens: false, columns: Columns::OFFSETS, ..options() };
    let mut pieces: Vec<Piece> = vec![];
    let (mut start, mut covered) = (0, 0);
    while start < text.len() {
        let rest = &text[start..];
        let prefixes = rest.char_indices().map(|(at, c)| at + c.len_utf8());
        let mut length = prefixes.filter(|&end| count(&rest[..end]) <= max_tokens).max()?;
        if length < rest.len() {
            let ends =
                boundaries(rest, boundary).into_iter().filter(|&end| end <= length).rev().take(MAX_TRIED_PREFIXES);
            length = ends.into_iter().find(|&end| count(&rest[..end]) <= max_tokens).unwrap_or(length);
        }
        let end = start + length;
        if end <= covered && start < covered {
            start = covered;
            continue;
        }
        pieces.push(Piece { start, end, tokens: count(&text[start..end]) });
        covered = end;
        start = end;
        if overlap > 0 && max_tokens > 1 && end < text.len() {
            let piece = &text[end - length..end];
            let offsets = tokenizer.encode(piece.into(), &bare).expect("a text").offsets().to_vec();
            let mut starts: Vec<usize> =
                offsets[offsets.len().saturating_sub(overlap)..].iter().map(|offset| offset[0] as usize).collect();
            let first = starts.iter().copied().min().unwrap_or(length);
            if boundary != Boundary::Token {
                starts = boundaries(piece, boundary);
            }
            starts.sort_unstable();
            starts.dedup();
            starts.retain(|&start| start > 0 && start >= first && piece.is_char_boundary(start));
            let fits = |start: &usize| tokenizer.count(piece[*start..].into(), &bare).expect("a text") <= overlap;
            start = end - length + starts.into_iter().find(fits).unwrap_or(length);
        }
    }
    Some(pieces)
}

fn split(tokenizer: &Tokenizer, text: &str, limits: &Limits) -> Pieces {
    tokenizer.split(text.into(), Progress::default(), limits, &options(), true, None).expect("a text")
}

/// Panics if a piece does not fit, or if the pieces together leave out a part of the text.
fn check_that_pieces_fit(tokenizer: &Tokenizer, text: &str, limits: &Limits, found: &Pieces) {
    let mut covered = 0;
    for piece in &found.pieces {
        let tokens = tokenizer.count(text[piece.start..piece.end].into(), &options()).expect("a text");
        assert!(piece.tokens == tokens && tokens <= limits.max_tokens, "{text:?} {limits:?} {piece:?}: {tokens}");
        assert!(piece.start <= covered && covered < piece.end, "{text:?} {limits:?} {piece:?} after {covered}");
        covered = piece.end;
    }
    assert!(covered == text.len() || found.stopped == Stopped::Character, "{text:?} {limits:?}: {covered}");
}

/// The pieces of a text that arrives in parts.
fn split_in_parts(tokenizer: &Tokenizer, parts: &[&str], limits: &Limits) -> (Vec<Piece>, Stopped) {
    let (mut text, mut before) = (String::new(), 0);
    let (mut pieces, mut progress) = (vec![], Progress::default());
    for number in 0..=parts.len() {
        let is_end = number == parts.len();
        text.push_str(parts.get(number).unwrap_or(&""));
        let made = tokenizer.split(text.as_str().into(), progress, limits, &options(), is_end, None).expect("a text");
        let moved = |piece: Piece| Piece { start: piece.start + before, end: piece.end + before, ..piece };
        pieces.extend(made.pieces.into_iter().map(moved));
        if made.stopped != Stopped::AtEnd {
            return (pieces, made.stopped);
        }
        // Drops the text that is done, as a stream does.
        text.drain(..made.progress.start);
        before += made.progress.start;
        progress = Progress { start: 0, covered: made.progress.covered.saturating_sub(made.progress.start) };
    }
    (pieces, Stopped::AtEnd)
}

/// The work of all calls so far. A call that does less than `MIN_WORK / 8` finds no piece in haste.
fn work(tokenizer: &Tokenizer) -> u64 {
    tokenizer.with_idle_encoder(|encoder| encoder.work)
}

fn form() -> impl Strategy<Value = Subject> {
    let merges = prop::collection::vec((0usize..1000, 0usize..1000), 0..40);
    (0..NORMALIZERS.len(), 0..PRETOKENIZERS.len(), 0..CHARACTER_TOKENS.len(), merges, any::<bool>()).prop_map(
        |(normalizer, pretokenizer, model, merges, added)| Subject { normalizer, pretokenizer, model, merges, added },
    )
}

fn limits() -> impl Strategy<Value = Limits> {
    let boundary = prop::sample::select(vec![Boundary::Token, Boundary::Sentence, Boundary::Line]);
    (1usize..30, 0usize..8, boundary).prop_map(|(max_tokens, overlap, boundary)| Limits {
        max_tokens,
        overlap: overlap.min(max_tokens - 1),
        boundary,
    })
}

fn text() -> impl Strategy<Value = String> {
    let more = ["One. ", "Two! ", "\r\n", "\u{2028}", "End.) "].map(String::from);
    prop::collection::vec(prop::sample::select([&pieces()[..], &more].concat()), 0..40)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]
    #[test]
    fn pieces_are_those_of_the_definition(form in form(), text in text(), limits in limits(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..9)) {
        let tokenizer = tokenizer(&form);
        let found = split(&tokenizer, &text, &limits);
        if tokenizer.encodes_from_start() {
            // The search can reach its limit before it has found the longest prefix.
            check_that_pieces_fit(&tokenizer, &text, &limits, &found);
            return Ok(());
        }
        match split_by_definition(&tokenizer, &text, &limits) {
            Some(expected) => prop_assert_eq!(&found.pieces, &expected, "{} {:?} {:?}", form, text, limits),
            None => prop_assert_eq!(found.stopped, Stopped::Character, "{} {:?} {:?}", form, text, limits),
        }
        // The same pieces in UTF-16.
        let units: Vec<u16> = text.encode_utf16().collect();
        let in_utf16 = tokenizer
            .split(Text::Utf16(&units), Progress::default(), &limits, &options(), true, None)
            .expect("a text");
        let texts = |pieces: &[Piece]| pieces.iter().map(|piece| text[piece.start..piece.end].to_owned()).collect::<Vec<_>>();
        let utf16_texts: Vec<String> =
            in_utf16.pieces.iter().map(|piece| String::from_utf16_lossy(&units[piece.start..piece.end])).collect();
        prop_assert_eq!(utf16_texts, texts(&found.pieces));
        // The same pieces, however the text arrives.
        let mut places: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        let parts: Vec<&str> = places.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect();
        let before = work(&tokenizer);
        let in_parts = split_in_parts(&tokenizer, &parts, &limits);
        if work(&tokenizer) - before < MIN_WORK / 8 {
            prop_assert_eq!(in_parts, (found.pieces, found.stopped), "{} {:?}", form, parts);
        }
    }
}

/// A tokenizer with a BertNormalizer and a BertPreTokenizer.
fn bert(model: &serde_json::Value) -> Tokenizer {
    let file = serde_json::json!({
        "version": "1.0", "added_tokens": [], "model": model, "pre_tokenizer": {"type": "BertPreTokenizer"},
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
    });
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("a sound file")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn pieces_of_wordpiece_are_those_of_the_definition(
        text in text(),
        limits in limits(),
        words in prop::collection::btree_set("[ab1.e中]{1,4}", 0..12),
    ) {
        let tokens = ["[UNK]", "a", "b", ".", "##a", "##b", "1", "one", "##1", "##23"].map(String::from);
        let more = words.iter().flat_map(|word| [word.clone(), format!("##{word}")]);
        let mut vocab = serde_json::Map::new();
        for token in tokens.into_iter().chain(more) {
            let id = vocab.len();
            vocab.entry(token).or_insert(id.into());
        }
        let tokenizer = bert(&serde_json::json!({
            "type": "WordPiece", "vocab": vocab, "unk_token": "[UNK]",
            "continuing_subword_prefix": "##", "max_input_chars_per_word": 6,
        }));
        assert!(tokenizer.counts_ends_exactly());
        let found = split(&tokenizer, &text, &limits);
        match split_by_definition(&tokenizer, &text, &limits) {
            Some(expected) => prop_assert_eq!(&found.pieces, &expected, "{:?} {:?} {:?}", words, text, limits),
            None => prop_assert_eq!(found.stopped, Stopped::Character, "{:?} {:?} {:?}", words, text, limits),
        }
    }
}

/// Unigram gives all bytes of adjacent unknown characters the same place.
#[test]
fn characters_that_unigram_does_not_know_fill_pieces() {
    let bytes = (0..256).map(|byte| (format!("<0x{byte:02X}>"), -9.0));
    let known = [("<unk>", 0.0), ("a", -1.0), ("▁", -2.0)].map(|(token, score)| (token.to_owned(), score));
    let vocab: Vec<(String, f64)> = known.into_iter().chain(bytes).collect();
    let file = serde_json::json!({
        "version": "1.0", "added_tokens": [],
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
        "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": true, "vocab": vocab},
    });
    let tokenizer = Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("a sound file");
    for text in ["\u{20000}".repeat(200), "中文字".repeat(60), "中aa文 字字字a字".repeat(20)] {
        for max_tokens in [5, 16, 64] {
            let limits = Limits { max_tokens, overlap: 0, boundary: Boundary::Token };
            let expected = split_by_definition(&tokenizer, &text, &limits).expect("each character fits");
            assert_eq!(split(&tokenizer, &text, &limits).pieces, expected, "{text:?} {max_tokens}");
        }
    }
    // Such a text is not split in haste, however long it is.
    let text = "\n".repeat(1 << 16);
    let found = split(&tokenizer, &text, &Limits { max_tokens: 256, overlap: 0, boundary: Boundary::Token });
    assert!(found.pieces.iter().rev().skip(1).all(|piece| piece.tokens == 256), "{:?}", found.pieces);
}

/// In the whole text `Ab` is not a word of its own; at the end of a prefix it is.
#[test]
fn a_prefix_can_end_with_an_added_token_that_is_a_word_only_there() {
    for (normalizer, pretokenizer, model) in [(10, 0, 0), (9, 4, 6), (0, 1, 0), (0, 4, 3)] {
        let form = Subject { normalizer, pretokenizer, model, merges: vec![], added: true };
        let tokenizer = tokenizer(&form);
        for spaces in [0, 1, 6, 200] {
            let text = format!("뒘{}AbaOne. <x      Aba Ab1", " ".repeat(spaces));
            for max_tokens in 3..12 {
                let limits = Limits { max_tokens, overlap: 0, boundary: Boundary::Token };
                if let Some(expected) = split_by_definition(&tokenizer, &text, &limits) {
                    assert_eq!(split(&tokenizer, &text, &limits).pieces, expected, "{form} {text:?} {max_tokens}");
                }
            }
        }
    }
}

#[test]
fn a_prefix_that_cannot_be_encoded_ends_no_piece() {
    let tokenizer = bert(&serde_json::json!({
        "type": "WordPiece", "vocab": {"ab": 0, "中": 1, ".": 2}, "unk_token": "[UNK]",
        "continuing_subword_prefix": "##", "max_input_chars_per_word": 6,
    }));
    let limits = Limits { max_tokens: 1, overlap: 0, boundary: Boundary::Token };
    for sentences in [2, 100] {
        let text = "ab.".repeat(sentences);
        let found = split(&tokenizer, &text, &limits);
        let ends: Vec<usize> = found.pieces.iter().map(|piece| piece.end).collect();
        let expected: Vec<usize> = (1..=text.len()).filter(|end| end % 3 != 1).collect();
        assert_eq!((ends, found.stopped), (expected, Stopped::AtEnd));
    }
}

fn bundled(name: &str) -> Tokenizer {
    let path = format!("{}/../encodings/{}", env!("CARGO_MANIFEST_DIR"), encoding_file(name).expect("it is bundled"));
    Tokenizer::from_encoding(name, &std::fs::read(path).expect("the file is there")).expect("a sound file")
}

/// Splitting a text encodes less than three times its bytes, and a constant for each piece.
#[test]
fn splitting_encodes_less_than_three_times_the_text() {
    const PER_PIECE: u64 = 400;
    let words: String = (0u32..20_000)
        .map(|at| ["the ", "international ", "fox. ", "of ", "rules! "][((at * at) >> 3) as usize % 5])
        .collect();
    let lots = |from: char, count: u32| {
        (0..40_000u32)
            .filter_map(|at| char::from_u32(from as u32 + at.wrapping_mul(2_654_435_761) % count))
            .collect::<String>()
    };
    let kinds = [
        words,
        "a".repeat(100_000),
        " ".repeat(100_000),
        lots('\u{1}', 31),
        lots('一', 20_000),
        lots('가', 11_172),
        lots('\u{1F300}', 0x300),
        lots('0', 10),
        "\u{1103}\u{1170}\u{11b7}".repeat(10_000),
    ];
    let merges: Vec<(usize, usize)> = (0..40).map(|at| (at * 7 + 1, at * 13 + 5)).collect();
    // Strip and Metaspace; NFC and bytes; the BERT normalizer and pre-tokenizer.
    let forms = [(9, 6, 1), (1, 1, 0), (16, 10, 1)];
    let forms = forms.map(|(normalizer, pretokenizer, model)| {
        tokenizer(&Subject { normalizer, pretokenizer, model, merges: merges.clone(), added: true })
    });
    let bundled = ["o200k_base", "cl100k_base", "r50k_base"].map(bundled);
    for (number, tokenizer) in bundled.iter().chain(&forms).enumerate() {
        for text in &kinds {
            for boundary in [Boundary::Token, Boundary::Sentence, Boundary::Line] {
                for max_tokens in [16, 256] {
                    let limits = Limits { max_tokens, overlap: 0, boundary };
                    let before = tokenizer.encoded_bytes();
                    let made = split(tokenizer, text, &limits);
                    let encoded = tokenizer.encoded_bytes() - before;
                    assert_eq!(made.stopped, Stopped::AtEnd);
                    let most = 3 * text.len() as u64 + PER_PIECE * made.pieces.len() as u64 + 10_000;
                    let start = &text[..text.floor_char_boundary(30)];
                    assert!(
                        encoded <= most,
                        "tokenizer {number}, {start:?}, {limits:?}: {encoded} bytes encoded of {}, {} pieces",
                        text.len(),
                        made.pieces.len(),
                    );
                }
            }
        }
    }
}

#[test]
fn a_character_that_exceeds_the_limit_and_a_refused_special_token_end_the_split() {
    let tokenizer = bundled("cl100k_base");
    let limits = Limits { max_tokens: 1, overlap: 0, boundary: Boundary::Token };
    let made = split(&tokenizer, "a 𒀀", &limits);
    assert_eq!((made.stopped, made.progress.start, made.pieces.len()), (Stopped::Character, 2, 2));
    let strict = EncodeOptions { special_tokens: SpecialTokens::Throw, ..options() };
    let text = "many words before <|endoftext|>";
    let error = tokenizer.split(text.into(), Progress::default(), &limits, &strict, true, None);
    assert!(error.is_err(), "a special token is found wherever it is");
}
