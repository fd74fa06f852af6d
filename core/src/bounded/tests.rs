//! Compares the longest prefix with the result of counting every prefix separately, and bounds the
//! number of bytes encoded to find it.

use super::prefixes::Prefixes;
use super::subjects::{CHARACTER_TOKENS, CharacterTokens, NORMALIZERS, PRETOKENIZERS, Subject, pieces, tokenizer};
use crate::normalizer::precompiled::tests::charsmap;
use crate::{EncodeError, EncodeOptions, RankDefinition, SpecialTokens, Text, Tokenizer, encoding_file};
use base64::Engine;
use proptest::prelude::*;
use serde_json::{Value, json};

fn options() -> EncodeOptions {
    EncodeOptions { special_tokens: SpecialTokens::Parse, ..EncodeOptions::default() }
}

/// The naive search: the longest prefix within the limit among all that end between two characters.
fn longest_by_trying_all(tokenizer: &Tokenizer, text: &str, limit: usize) -> Option<usize> {
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let count = |end: usize| tokenizer.count(text[..end].into(), &options()).expect("a text");
    ends.filter(|&end| count(end) <= limit).max()
}

fn check(tokenizer: &Tokenizer, name: &str, text: &str, limit: usize) {
    let found = tokenizer.longest_prefix(text.into(), limit, &options()).expect("a text");
    let expected = longest_by_trying_all(tokenizer, text, limit);
    let length = found.map(|found| found.length);
    // If prefixes are encoded from the start of the text, the search can reach its limit before it
    // has found the longest one. If offsets do not show where tokens are, because the model drops
    // characters, bisection finds a prefix, but not always the longest one.
    // After an added token that includes more white space than the limit has tokens, the search is
    // not repeated.
    let added = tokenizer.pipeline.added_tokens.tokens();
    let has_long_space = added.iter().any(|token| token.lstrip && text.contains(&format!("      {}", token.content)));
    let is_searched_in_part = tokenizer.encodes_from_start() || !tokenizer.places_are_known() || has_long_space;
    let can_be_shorter = is_searched_in_part && length.is_some() && length <= expected;
    assert!(length == expected || can_be_shorter, "{name}: {text:?}, {limit}: {length:?}, {expected:?}");
    if let Some(found) = found {
        let count = tokenizer.count(text[..found.length].into(), &options());
        assert_eq!(Ok(found.tokens), count, "{name}: {text:?}, {limit}");
    }
}

fn form() -> impl Strategy<Value = Subject> {
    let merges = prop::collection::vec((0usize..1000, 0usize..1000), 0..40);
    (0..NORMALIZERS.len(), 0..PRETOKENIZERS.len(), 0..CHARACTER_TOKENS.len(), merges, any::<bool>()).prop_map(
        |(normalizer, pretokenizer, model, merges, added)| Subject { normalizer, pretokenizer, model, merges, added },
    )
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(pieces()), 0..24).prop_map(|pieces| pieces.concat())
}

/// The digits from the second one on make other groups of three.
#[test]
fn the_first_digits_of_a_text_are_not_left_out() {
    let file = encoding_file("o200k_base").expect("it is bundled");
    let ranks = std::fs::read(format!("{}/../encodings/{file}", env!("CARGO_MANIFEST_DIR"))).expect("a file");
    let tokenizer = Tokenizer::from_encoding("o200k_base", &ranks).expect("a sound file");
    for text in ["５६９٢３٠１٦१०３६７０٥०", "１०７２७٨５２१２٩०३٠５٦", "७０７०７०٧２١４９８٩２"]
    {
        (1..20).for_each(|limit| check(&tokenizer, "o200k_base", text, limit));
    }
}

/// NFC sorts marks of other classes before those at the end of a prefix.
#[test]
fn prefixes_that_end_among_many_marks_are_counted_as_a_whole() {
    let text = format!("a{}", "\u{345}\u{301}\u{323}\u{334}".repeat(40));
    for pretokenizer in [1, 13] {
        let form = Subject { normalizer: 1, pretokenizer, model: 0, merges: vec![], added: false };
        let tokenizer = tokenizer(&form);
        for limit in [20, 70, 100, 150] {
            let found = tokenizer.longest_prefix(text.as_str().into(), limit, &options()).expect("a text");
            let found = found.expect("there are no special tokens");
            let counted = tokenizer.count(text[..found.length].into(), &options()).expect("a text");
            assert!(found.tokens == counted && counted <= limit, "{limit}: {found:?}, {counted}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn no_longer_prefix_is_within_the_limit(form in form(), text in text(), limits in prop::collection::vec(0usize..40, 4)) {
        let tokenizer = tokenizer(&form);
        for limit in limits {
            check(&tokenizer, &form.to_string(), &text, limit);
        }
    }

    #[test]
    fn pieces_found_in_haste_are_within_the_limit(form in form(), text in text(), room in 1usize..40) {
        let tokenizer = tokenizer(&form);
        let plan = tokenizer.count_plan(&options()).expect("sound options");
        tokenizer.with_encoder(|encoder| {
            let mut prefixes = Prefixes::new(&tokenizer, &plan);
            let mut start = 0;
            while start < text.len() {
                prefixes.restart(&text[start..]);
                prefixes.is_hasty = true;
                let found = prefixes.longest(encoder, room)?;
                if found.length == 0 {
                    let first = text[start..].chars().next().map_or(0, char::len_utf8);
                    assert!(prefixes.count_whole(encoder, first, usize::MAX)? > room, "{form}: {text:?} from {start}");
                    break;
                }
                let counted = prefixes.count_whole(encoder, found.length, usize::MAX)?;
                assert!(counted == found.tokens && counted <= room, "{form}: {text:?} from {start}: {counted}");
                start += found.length;
            }
            Ok::<_, EncodeError>(())
        })
        .expect("a text");
    }

    #[test]
    fn ids_for_an_array_end_between_characters(form in form(), text in text(), room in 0usize..60) {
        let tokenizer = tokenizer(&form);
        let all = tokenizer.encode(text.as_str().into(), &options()).expect("a text").ids().to_vec();
        let units: Vec<u16> = text.encode_utf16().collect();
        let mut ids = vec![];
        for input in [Text::Utf8(&text), Text::Utf16(&units)] {
            let made = tokenizer.encode_first(input, room, &options(), &mut ids).expect("a text");
            assert_eq!(input.floor(made.read), made.read, "{form}: {text:?}, {room}");
            assert_eq!(ids, all[..made.written], "{form}: {text:?}, {room}");
            assert_eq!(made.read == input.weight(), made.written == all.len() || text.is_empty(), "{form}: {text:?}, {room}");
        }
    }

    #[test]
    fn counting_the_end_of_a_prefix_gives_what_counting_all_of_it_gives(form in form(), text in text()) {
        let tokenizer = tokenizer(&form);
        let plan = tokenizer.count_plan(&options()).expect("sound options");
        tokenizer.with_encoder(|encoder| {
            let mut prefixes = Prefixes::new(&tokenizer, &plan).start(&text);
            prefixes.grow(encoder, usize::MAX).expect("a text");
            if tokenizer.counts_ends_exactly() {
                for (end, _) in text.char_indices() {
                    let counted = prefixes.count(encoder, end).expect("a text");
                    let whole = prefixes.count_whole(encoder, end, usize::MAX).expect("a text");
                    assert_eq!(counted, whole, "{form}: {:?}", &text[..end]);
                }
            }
            Ok::<_, EncodeError>(())
        })
        .expect("a text");
    }
}

/// A Unigram tokenizer: the pieces with their scores, in tenths.
fn unigram(normalizer: usize, pretokenizer: usize, pieces: &[(String, u8)], has_bytes: bool) -> Tokenizer {
    let mut vocab = vec![json!(["<unk>", 0.0])];
    let is_new = |at: usize, piece: &str| pieces[..at].iter().all(|(known, _)| known != piece);
    for (at, (piece, score)) in pieces.iter().enumerate().filter(|(at, (piece, _))| is_new(*at, piece)) {
        vocab.push(json!([piece, -f64::from(*score) / 10.0 - if at % 3 == 0 { 0.01 } else { 0.0 }]));
    }
    if has_bytes {
        vocab.extend((0..256).map(|byte| json!([format!("<0x{byte:02X}>"), -12.0])));
    }
    let file = json!({"normalizer": NORMALIZERS[normalizer], "pre_tokenizer": PRETOKENIZERS[pretokenizer],
        "model": {"type": "Unigram", "vocab": vocab, "unk_id": 0, "byte_fallback": has_bytes}});
    Tokenizer::from_bytes(file.to_string().as_bytes()).expect("a sound file")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn no_longer_prefix_of_unigram_is_within_the_limit(
        normalizer in prop::sample::select(vec![0, 0, 0, 1, 9, 14]),
        pretokenizer in prop::sample::select(vec![6, 6, 7, 8, 9, 5, 4, 0, 11]),
        all in any::<bool>(),
        more in prop::collection::vec(("▁?[abA1é中. ]{1,6}", 0u8..60), 0..30),
        has_bytes in any::<bool>(),
        text in text(),
        limits in prop::collection::vec(0usize..40, 4),
    ) {
        let known = if all { "▁abcdA1é中.'s!" } else { "▁abA" };
        let mut vocab: Vec<(String, u8)> = known.chars().map(|c| (c.to_string(), 50)).collect();
        vocab.extend(more);
        let tokenizer = unigram(normalizer, pretokenizer, &vocab, has_bytes);
        for limit in limits {
            check(&tokenizer, &format!("{normalizer} {pretokenizer} {vocab:?} {has_bytes}"), &text, limit);
        }
    }
}

fn bundled(name: &str) -> Tokenizer {
    let path = format!("{}/../encodings/{}", env!("CARGO_MANIFEST_DIR"), encoding_file(name).expect("it is bundled"));
    Tokenizer::from_encoding(name, &std::fs::read(path).expect("the file is there")).expect("a sound file")
}

#[test]
fn decomposed_hangul_is_composed_by_a_longer_prefix() {
    for normalizer in ["NFC", "NFKC"] {
        let normalizer = NORMALIZERS.iter().position(|one| one["type"] == normalizer).expect("it is listed");
        // Each syllable is one token, and each of its letters is three.
        let form = Subject { normalizer, pretokenizer: 1, model: 0, merges: vec![], added: false };
        let tokenizer = tokenizer(&form);
        for text in ["\u{1103}\u{1170}\u{11b7}", "\u{1103}\u{1170}\u{11b7}\u{1103}\u{1170}a", "e\u{301}e\u{301}\u{323}"]
        {
            (0..12).for_each(|limit| check(&tokenizer, "syllables", text, limit));
        }
    }
}

#[test]
fn a_model_that_drops_characters_reads_text_that_vanishes() {
    let normalizer = NORMALIZERS.iter().position(|one| one["content"] == "").expect("it is listed");
    let pretokenizer = PRETOKENIZERS.iter().position(|one| one["type"] == "Digits").expect("it is listed");
    let model = CHARACTER_TOKENS.iter().position(|&one| one == CharacterTokens::Dropped).expect("it is listed");
    let form = Subject { normalizer, pretokenizer, model, merges: vec![(0, 0), (0, 0)], added: true };
    let text = "aaaaaaacd\u{323}\u{301}AbABab뒘aABab뒘a👩\u{200d}🚀ABabaaaaaaa뒘        <y>aaa";
    (0..40).for_each(|limit| check(&tokenizer(&form), "dropped", text, limit));
}

/// A prefix that ends with such a token has fewer tokens than the same part of the whole text.
#[test]
fn a_token_that_has_to_be_a_word_by_itself_ends_a_prefix() {
    for lstrip in [false, true] {
        let token = json!({"id": 300, "content": "the", "special": true, "normalized": false, "single_word": true,
            "lstrip": lstrip, "rstrip": false});
        let vocab = byte_level_vocabulary();
        let file = json!({"added_tokens": [token], "model": {"type": "BPE", "vocab": vocab, "merges": []},
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}});
        let tokenizer = Tokenizer::from_bytes(file.to_string().as_bytes()).expect("a sound file");
        for text in ["one the_two the three", "the_ the_ the_", "뵍 the_", "a  thea   the_", " the the_"] {
            (0..20).for_each(|limit| check(&tokenizer, "single words", text, limit));
        }
    }
}

/// The tokens of the text up to somewhere within `<y>` show the white space before it as tokens,
/// which exceed the limit. `<y>` includes them.
#[test]
fn a_token_that_includes_the_white_space_before_it_ends_a_prefix() {
    let pretokenizer = PRETOKENIZERS.iter().position(|one| one["prepend_scheme"] == "always" && one["split"] == false);
    let model = CHARACTER_TOKENS.iter().position(|&one| one == CharacterTokens::Fused).expect("it is listed");
    let pretokenizer = pretokenizer.expect("it is listed");
    let form = Subject { normalizer: 0, pretokenizer, model, merges: vec![], added: true };
    let tokenizer = tokenizer(&form);
    for spaces in [4, 16, 40] {
        let text = format!("1234567!?      aaaaaaacd!?a.{}<y>a", " ".repeat(spaces));
        for limit in 15..30 {
            let found = tokenizer.longest_prefix(text.as_str().into(), limit, &options()).expect("a text");
            let expected = longest_by_trying_all(&tokenizer, &text, limit);
            assert_eq!(found.map(|found| found.length), expected, "{spaces} {limit}");
        }
    }
}

/// A special token that is ordinary text hides the tokens within it, but not those at the end of a
/// prefix that ends within it.
#[test]
fn a_token_within_a_longer_one_is_counted_at_the_end_of_a_prefix() {
    let token = |id: u32, content: &str, special: bool| {
        json!({"id": id, "content": content, "special": special, "normalized": false, "single_word": false,
            "lstrip": false, "rstrip": false})
    };
    let vocab: Value = "▁<|a>b".chars().enumerate().map(|(id, c)| (c.to_string(), json!(id))).collect();
    let file = json!({"added_tokens": [token(10, "<|a|>", false), token(11, "<|a|>b", true)],
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": false}});
    let tokenizer = Tokenizer::from_bytes(file.to_string().as_bytes()).expect("a sound file");
    let options = EncodeOptions { special_tokens: SpecialTokens::Text, ..EncodeOptions::default() };
    for limit in 0..9 {
        let found = tokenizer.longest_prefix("<|a|>b".into(), limit, &options).expect("a text").expect("there is one");
        let counted = tokenizer.count("<|a|>b"[..found.length].into(), &options).expect("a text");
        assert_eq!(found.tokens, counted, "{limit}");
    }
}

fn byte_level_vocabulary() -> Value {
    let characters = crate::byte_level::CHARACTERS.iter().enumerate();
    characters.map(|(byte, character)| (character.to_string(), json!(byte))).collect()
}

#[test]
fn long_words_of_one_character_and_of_two() {
    let names = ["o200k_base", "r50k_base"];
    for tokenizer in names.map(bundled) {
        for piece in ["a", " ", "\n", "ab", "中", "é", "1", "👍", "\u{301}", " \n", "aA"] {
            let text = piece.repeat(700 / piece.len());
            for limit in [0, 1, 2, 7, 30, 100] {
                check(&tokenizer, "bundled", &text, limit);
            }
        }
    }
}

#[test]
fn a_charsmap_that_removes_the_start_shifts_offsets_and_not_the_limit() {
    let charsmap = charsmap(&[("\u{7f}", ""), ("\u{200b}", "")]);
    let charsmap = base64::engine::general_purpose::STANDARD.encode(charsmap);
    let normalizer = json!({"type": "Precompiled", "precompiled_charsmap": charsmap});
    let vocab = json!([["<unk>", 0.0], ["\u{2581}", -1.0], ["a", -2.0], ["b", -2.0], ["\u{2581}a", -1.5]]);
    let file = json!({"model": {"type": "Unigram", "vocab": vocab, "unk_id": 0}, "normalizer": normalizer,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "\u{2581}", "prepend_scheme": "always", "split": true}});
    let tokenizer = Tokenizer::from_bytes(file.to_string().as_bytes()).expect("a sound file");
    for removed in ["\u{7f}", "\u{200b}"] {
        for (count, rest) in [(1, "ab".repeat(60)), (42, "a".repeat(62)), (200, "ab a".repeat(40))] {
            let text = format!("{}{rest}{removed}{rest}", removed.repeat(count));
            [0, 1, 17, 40, 90].into_iter().for_each(|limit| check(&tokenizer, "shifted", &text, limit));
        }
    }
}

/// A WordPiece tokenizer whose words of more than `longest` characters are unknown.
fn word_pieces(longest: usize) -> Tokenizer {
    let pieces = ["[UNK]", "a", "##a", "b", "##b", "ab", "##ab", "é", "##é", "中", "##éa", "##.", ".", "ท", "##ท"];
    let vocab: Value = pieces.iter().enumerate().map(|(id, piece)| ((*piece).to_owned(), json!(id))).collect();
    let model = json!({"type": "WordPiece", "vocab": vocab, "unk_token": "[UNK]", "max_input_chars_per_word": longest,
        "continuing_subword_prefix": "##"});
    let file = json!({"model": model, "pre_tokenizer": {"type": "BertPreTokenizer"}});
    Tokenizer::from_bytes(file.to_string().as_bytes()).expect("a sound file")
}

#[test]
fn a_long_word_of_word_pieces_is_one_unknown_token() {
    for longest in [5, 100] {
        let tokenizer = word_pieces(longest);
        for piece in ["a", "é", "ท", "ab"] {
            for (count, end) in [(90, ""), (101, ""), (129, " ab"), (200, ""), (200, ". é")] {
                let text = format!("{}{end}", piece.repeat(count));
                [0, 1, 2, 17, 40].into_iter().for_each(|limit| check(&tokenizer, "long words", &text, limit));
            }
        }
    }
}

/// Finding a prefix encodes at most three times the bytes that must be read, and a constant.
#[test]
fn finding_a_prefix_encodes_a_few_times_its_bytes() {
    const CONSTANT: u64 = 70 << 10;
    let kinds: Vec<String> =
        ["a", " ", "\n", "中文字典", "👩\u{200d}", "\u{200b}\u{301}", "\u{1103}\u{1170}\u{11b7}", "word and more. "]
            .iter()
            .map(|piece| piece.repeat((1 << 19) / piece.len()))
            .collect();
    let forms = [(0, 1, 0), (1, 1, 0), (2, 2, 0), (6, 0, 2), (9, 5, 1), (14, 4, 1), (12, 6, 3), (15, 1, 0)];
    let merges: Vec<(usize, usize)> = (0..40).map(|at| (at * 7 + 1, at * 13 + 5)).collect();
    let mut tokenizers: Vec<(String, Tokenizer)> = forms
        .iter()
        .map(|&(normalizer, pretokenizer, model)| {
            let form = Subject { normalizer, pretokenizer, model, merges: merges.clone(), added: true };
            (form.to_string(), tokenizer(&form))
        })
        .collect();
    tokenizers.push(("o200k_base".into(), bundled("o200k_base")));
    for (name, tokenizer) in &tokenizers {
        for text in &kinds {
            for limit in [1, 100, 10_000] {
                let before = tokenizer.encoded_bytes();
                let found = tokenizer.longest_prefix(text.as_str().into(), limit, &options()).expect("a text");
                let encoded = tokenizer.encoded_bytes() - before;
                let length = found.map_or(0, |found| found.length) as u64;
                // One unknown token can cover any number of characters, and all of them are read.
                let is_all_read = tokenizer.is_within(text.as_str().into(), limit + 6, &options()) == Ok(true);
                let read = if is_all_read { text.len() as u64 } else { length };
                assert!(
                    encoded <= 3 * read + CONSTANT,
                    "{name}: {encoded} bytes encoded for a prefix of {length} of {:?}, {limit}",
                    &text[..text.floor_char_boundary(20)],
                );
            }
        }
    }
}

#[test]
fn words_of_fixed_length_are_not_counted_from_within() {
    let vocab = json!({"<unk>": 0, "a": 1, "b": 2, "é": 3, "ab": 4});
    let file = json!({
        "version": "1.0", "pre_tokenizer": {"type": "FixedLength", "length": 5},
        "model": {"type": "BPE", "vocab": vocab, "merges": [["a", "b"]], "unk_token": "<unk>"},
    });
    let tokenizer = Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("a sound file");
    // `a` and `b` are in two words, and within one of a slice that starts at the second character.
    let text = format!("{}{}", "é".repeat(14), "ab".repeat(20));
    (1..40).for_each(|limit| check(&tokenizer, "FixedLength", &text, limit));
}

/// A prefix that ends at a space of ASCII is the longest one without further counts.
#[test]
fn no_prefix_beyond_the_end_of_a_word_is_counted() {
    let vocab = json!({"[UNK]": 0, "the": 1, "quick": 2, "brown": 3, "fox": 4});
    for pretokenizer in [json!({"type": "WhitespaceSplit"}), json!({"type": "Whitespace"})] {
        let file = json!({
            "version": "1.0", "normalizer": {"type": "Lowercase"}, "pre_tokenizer": pretokenizer,
            "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"},
        });
        let tokenizer = Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("a sound file");
        let text = "The quick brown fox ".repeat(100);
        let before = tokenizer.encoded_bytes();
        let found = tokenizer.longest_prefix(text.as_str().into(), 80, &options()).expect("a text");
        let encoded = tokenizer.encoded_bytes() - before;
        // The space at the end has no token.
        assert_eq!(found.map(|found| (found.length, found.tokens)), Some((400, 80)));
        // The start of the text, and the prefix as a whole to verify it.
        assert!(encoded < 520 + 400 + 30, "{encoded}");
    }
}

/// Text between words that has no tokens can be longer than any chunk.
#[test]
fn text_without_tokens_is_passed_over_in_chunks_that_grow() {
    let few = (0..=255u8).map(|byte| format!("{} {byte}\n", encoded(byte))).collect::<String>();
    let words = RankDefinition { pattern: r"\w+".into(), special_tokens: vec![] };
    let tokenizer = Tokenizer::from_ranks(few.as_bytes(), &words).expect("a sound file");
    let text = format!("ab{}cd", " ".repeat(1 << 20));
    let before = tokenizer.encoded_bytes();
    let found = tokenizer.longest_prefix(Text::Utf8(&text), 2, &options()).expect("a text").expect("there is one");
    assert_eq!((found.length, found.tokens), (text.len() - 2, 2));
    assert!(tokenizer.encoded_bytes() - before <= 12 * text.len() as u64);
}

fn encoded(byte: u8) -> String {
    base64::engine::general_purpose::STANDARD.encode([byte])
}
