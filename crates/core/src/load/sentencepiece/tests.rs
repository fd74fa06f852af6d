use crate::AddedToken;
use crate::testdata::sentencepiece::{CASES, MODEL_NAMES, model};
use crate::tokenizer::Tokenizer;
use crate::{Changes, Columns, DecodeOptions, DecodeStream, EncodeOptions, NewToken, OffsetUnit};
use serde_json::{Value, json};

/// A field of a message: its number, and a varint, bytes or a float.
fn number(field: u8, value: u8) -> Vec<u8> {
    vec![field << 3, value]
}

fn bytes(field: u8, bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len();
    [&[field << 3 | 2, length as u8 & 0x7F | 0x80, (length >> 7) as u8][..], bytes].concat()
}

fn piece(text: &str, score: f32, kind: u8) -> Vec<u8> {
    let score = [&[0x15], &score.to_le_bytes()[..]].concat();
    bytes(1, &[bytes(1, text.as_bytes()), score, number(3, kind)].concat())
}

/// A file of pieces with the fields of a trainer spec.
fn file(pieces: &[(&str, f32, u8)], trainer_spec: &[Vec<u8>]) -> Vec<u8> {
    file_of(pieces, trainer_spec, &[])
}

/// A file of pieces with the fields of both specs.
fn file_of(pieces: &[(&str, f32, u8)], trainer_spec: &[Vec<u8>], normalizer_spec: &[Vec<u8>]) -> Vec<u8> {
    let pieces: Vec<_> = pieces.iter().map(|&(text, score, kind)| piece(text, score, kind)).collect();
    let normalizer_spec = [&[number(3, 1)], normalizer_spec].concat().concat();
    [pieces.concat(), bytes(2, &trainer_spec.concat()), bytes(3, &normalizer_spec)].concat()
}

fn refused(file: &[u8]) -> (&'static str, String) {
    let error = Tokenizer::from_bytes(file).expect_err("it is refused");
    (error.code(), error.to_string())
}

const UNKNOWN: (&str, f32, u8) = ("<unk>", 0.0, 2);

/// Options that yield all columns, with offsets in bytes.
fn in_bytes() -> EncodeOptions {
    EncodeOptions { columns: Columns::ALL, offset_unit: OffsetUnit::Byte, ..EncodeOptions::default() }
}

#[test]
fn models_answer_as_the_library() {
    let mut answers = 0;
    for name in MODEL_NAMES {
        let tokenizer = Tokenizer::from_bytes(&model(name)).expect("the model is sound");
        let cases = &CASES["models"][name];
        let options = in_bytes();
        for case in cases["texts"].as_array().expect("a list") {
            let text = case[0].as_str().expect("a text");
            let encoding = tokenizer.encode(text.into(), &options).expect("nothing can fail");
            assert_eq!(json!(encoding.ids()), case[1], "{name}: {text:?}");
            assert_eq!(json!(encoding.tokens), case[2], "{name}: {text:?}");
            assert_eq!(tokenizer.count(text.into(), &options).expect("nothing can fail"), encoding.len());
            assert_eq!(json!(encoding.offsets.as_flattened()), case[3], "{name}: {text:?}");
            answers += 1;
        }
        for case in cases["rows"].as_array().expect("a list") {
            let ids: Vec<u32> =
                case[0].as_array().expect("ids").iter().map(|id| id.as_u64().expect("an id") as u32).collect();
            let decoded = tokenizer.decode(&ids, &DecodeOptions::default()).expect("it is short");
            assert_eq!(Value::String(decoded.clone()), case[1], "{name}: {ids:?}");
            let mut stream = DecodeStream::new(&tokenizer, DecodeOptions::default());
            let parts: Vec<_> = ids.iter().map(|&id| stream.push(&[id]).expect("it is short")).collect();
            assert_eq!(parts.concat() + &stream.end().expect("it is short"), decoded, "{name}: {ids:?}");
        }
    }
    assert!(answers > 1000);
}

#[test]
fn a_model_cut_anywhere_is_an_error() {
    for name in ["unigram", "word"] {
        let whole = model(name);
        // Nothing after both specs is needed: samples for a test of the library itself follow.
        let needed =
            (0..whole.len()).rev().find(|&end| Tokenizer::from_bytes(&whole[..end]).is_err()).expect("a cut fails");
        assert!(needed > whole.len() / 2);
        for end in 0..needed {
            let (code, message) = refused(&whole[..end]);
            let codes = ["ERR_TOKENLANE_PROTOBUF", "ERR_TOKENLANE_EMPTY_FILE", "ERR_TOKENLANE_UNKNOWN_FORMAT"];
            assert!(codes[..if end < 40 { 3 } else { 1 }].contains(&code), "{end}: {code} {message}");
        }
    }
}

#[test]
fn errors_name_the_wrong_piece() {
    let unigram = || vec![number(3, 1)];
    let cases = [
        (file(&[("a", -1.0, 1)], &unigram()), "pieces: there is no unknown piece"),
        (file(&[UNKNOWN], &unigram()), "no piece that a text could have"),
        (file(&[UNKNOWN, ("b", 0.0, 2)], &unigram()), "pieces[1]: this is the second unknown piece"),
        (file(&[UNKNOWN, ("", -1.0, 1)], &unigram()), "pieces[1]: the piece is empty"),
        (file(&[UNKNOWN, ("a", f32::NAN, 1)], &unigram()), "pieces[1]: the score is not a number"),
        (
            file(&[UNKNOWN, ("a", -1.0, 1), ("a", -2.0, 4)], &unigram()),
            "pieces[2]: the piece \"a\" is already pieces[1]",
        ),
        (file(&[UNKNOWN, ("a", -1.0, 1), ("<0x41>", 0.0, 6)], &unigram()), "although byte_fallback is false"),
        (file(&[UNKNOWN, ("a", -1.0, 7)], &unigram()), "pieces[1]: piece type 7 is not supported"),
        (file(&[UNKNOWN, ("a", -1.0, 1)], &[number(3, 9)]), "trainer_spec.model_type: model type 9 is not supported"),
        ([file(&[UNKNOWN, ("a", -1.0, 1)], &[]), bytes(5, &bytes(2, b"rules"))].concat(), "denormalizer_spec"),
        (file(&[UNKNOWN, ("a", -1.0, 1)], &[bytes(3, b"x")]), "field 3 is not a varint"),
        (file(&[UNKNOWN, (&"a".repeat(5000), -1.0, 1)], &[]), "5000, at most 1024"),
    ];
    for (file, expected) in cases {
        let (_, message) = refused(&file);
        assert!(message.contains(expected), "{message}, expected: {expected}");
    }
    // Field 35, byte_fallback, has a key of two bytes.
    let with_bytes = |pieces: &[(&str, f32, u8)]| file(pieces, &[vec![0x98, 0x02, 1]]);
    let (_, message) = refused(&with_bytes(&[UNKNOWN, ("a", -1.0, 1), ("<0x41>", 0.0, 6)]));
    assert!(message.contains("fewer than 256 byte pieces"), "{message}");
    let (_, message) = refused(&with_bytes(&[UNKNOWN, ("a", -1.0, 1), ("<0xZZ>", 0.0, 6)]));
    assert!(message.contains("not spelled like"), "{message}");
}

#[test]
fn a_control_piece_and_a_normal_one_may_have_the_same_text() {
    let model = file(&[UNKNOWN, ("▁", -1.0, 1), ("a", -1.0, 1), ("a", 0.0, 3)], &[number(3, 2)]);
    let tokenizer = Tokenizer::from_bytes(&model).expect("the library loads it");
    assert_eq!(tokenizer.encode("a".into(), &EncodeOptions::default()).expect("it encodes").ids(), [1, 2]);
}

fn ids(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    tokenizer.encode(text.into(), &EncodeOptions::default()).expect("it encodes").ids
}

// The answers of the next nine tests are those of `sentencepiece` 0.2.3.

#[test]
fn large_sums_of_scores_are_counted_from_zero_again() {
    let pieces = [("▁", -1.0, 1), ("x", -20_000.0, 1), ("a", -0.5, 1), ("b", -0.5, 1), ("ab", -1.001, 1)];
    let model = file(&[&[UNKNOWN], &pieces[..]].concat(), &[number(3, 1)]);
    let tokenizer = Tokenizer::from_bytes(&model).expect("the library loads it");
    // After -120,000 the nearest 32-bit sums make "ab" as good as "a" and "b".
    assert_eq!(ids(&tokenizer, "xxxxxxab"), [1, 2, 2, 2, 2, 2, 2, 3, 4]);
}

#[test]
fn bpe_merges_zero_before_minus_zero() {
    let pieces = [("▁", -1.0, 1), ("a", -1.0, 1), ("b", -1.0, 1), ("c", -1.0, 1), ("ab", -0.0, 1), ("bc", 0.0, 1)];
    let model = file(&[&[UNKNOWN], &pieces[..]].concat(), &[number(3, 2)]);
    assert_eq!(ids(&Tokenizer::from_bytes(&model).expect("the library loads it"), "abc"), [1, 2, 6]);
}

#[test]
fn an_unknown_character_scores_ten_less_than_the_lowest_normal_piece() {
    // The lowest score is -25, so "x" and "y" together are better than "xy" if "y" is above 15.
    // Pieces of other kinds have no part in it.
    let others = [("q", -25.0, 1), ("r", -22.0, 1), ("<c>", -99.0, 3), ("<u>", -99.0, 4), ("<n>", -99.0, 5)];
    for (y, expected) in [(14.5, "▁ xy"), (15.5, "▁ x y")] {
        for others in [others.to_vec(), others.iter().rev().copied().collect()] {
            let pieces = [&[UNKNOWN, ("▁", -1.0, 1)], &others[..], &[("xy", -20.0, 1), ("y", y, 1)]].concat();
            let tokenizer = Tokenizer::from_bytes(&file(&pieces, &[number(3, 1)])).expect("the library loads it");
            let encoding = tokenizer.encode("xy".into(), &in_bytes()).expect("it encodes");
            assert_eq!(encoding.tokens.join(" "), expected, "{y}");
        }
    }
}

#[test]
fn at_the_start_one_meta_symbol_is_removed_or_all_are() {
    let pieces = [UNKNOWN, ("<s>", 0.0, 3), ("▁", -1.0, 1), ("a", -1.0, 1), ("▁a", -1.0, 1), ("▁▁a", -1.0, 1)];
    let rows: [(&[u32], [&str; 2]); 9] = [
        (&[2, 3], ["a", "a"]),
        (&[2, 2, 3], [" a", "a"]),
        (&[2, 2, 2, 4], ["   a", "a"]),
        (&[1, 2, 4], [" a", "a"]),
        (&[2, 1, 2, 3], [" a", "a"]),
        (&[4, 4], ["a a", "a a"]),
        (&[5], [" a", " a"]),
        (&[2, 5], ["  a", " a"]),
        (&[3, 2, 3], ["a a", "a a"]),
    ];
    for (at, removes_all) in [false, true].into_iter().enumerate() {
        let model = file_of(&pieces, &[number(3, 1)], &[number(4, removes_all.into())]);
        let tokenizer = Tokenizer::from_bytes(&model).expect("the library loads it");
        for (ids, expected) in rows {
            let decoded = tokenizer.decode(ids, &DecodeOptions::default()).expect("it is short");
            assert_eq!(decoded, expected[at], "{ids:?}");
        }
    }
}

/// The offsets in bytes.
fn offsets(tokenizer: &Tokenizer, text: &str) -> Vec<[u32; 2]> {
    tokenizer.encode(text.into(), &in_bytes()).expect("it encodes").offsets
}

#[test]
fn a_piece_ends_where_the_next_one_starts() {
    let pieces = [UNKNOWN, ("▁", -1.0, 1), ("a", -1.0, 1), ("<turn>", 0.0, 4), ("\n\n", 0.0, 4)];
    let model = |more: &[Vec<u8>]| Tokenizer::from_bytes(&file_of(&pieces, &[number(3, 2)], more));
    let tokenizer = model(&[]).expect("the library loads it");
    assert_eq!(offsets(&tokenizer, "<turn>"), [[0, 0], [0, 6]]);
    // Removed spaces belong to the piece before them, but those at the ends to none.
    assert_eq!(offsets(&tokenizer, "  a   a  "), [[2, 2], [2, 3], [3, 6], [6, 7]]);
    assert_eq!(offsets(&tokenizer, "中中<turn>"), [[0, 0], [0, 6], [6, 12]]);
    let without_prefix = model(&[number(3, 0)]).expect("the library loads it");
    assert_eq!(offsets(&without_prefix, "a\n\n\n\na"), [[0, 1], [1, 3], [3, 5], [5, 6]]);
    // Only the last byte of a character has its text.
    let bytes = with_byte_pieces(2, &[UNKNOWN, ("▁", -1.0, 1), ("a", -1.0, 1)]);
    assert_eq!(offsets(&bytes, "a中"), [[0, 0], [0, 1], [1, 1], [1, 1], [1, 4]]);
    let suffix = file(&pieces, &[number(3, 2), vec![0xC0, 0x01, 1]]);
    let suffix = Tokenizer::from_bytes(&suffix).expect("the library loads it");
    assert_eq!(offsets(&suffix, " a  "), [[1, 2], [2, 2]]);
}

/// A file with byte fallback: the 256 byte pieces, then others.
fn with_byte_pieces(method: u8, others: &[(&str, f32, u8)]) -> Tokenizer {
    let names: Vec<_> = (0..256).map(|byte| format!("<0x{byte:02X}>")).collect();
    let mut pieces: Vec<_> = names.iter().map(|name| (name.as_str(), 0.0, 6)).collect();
    pieces.extend(others);
    let model = file(&pieces, &[number(3, method), vec![0x98, 0x02, 1]]);
    Tokenizer::from_bytes(&model).expect("the library loads it")
}

#[test]
fn a_piece_of_a_null_character_is_unused_with_byte_fallback() {
    for method in [1, 2, 4] {
        let tokenizer = with_byte_pieces(method, &[UNKNOWN, ("▁", -1.0, 1), ("\0", -1.0, 1)]);
        assert_eq!(ids(&tokenizer, "\0"), [257, 0]);
    }
}

#[test]
fn a_model_with_byte_fallback_needs_no_unknown_piece() {
    for method in [1, 2, 4] {
        let tokenizer = with_byte_pieces(method, &[("▁", -1.0, 1), ("a", -1.0, 1)]);
        assert_eq!(ids(&tokenizer, "aé"), [256, 257, 0xC3, 0xA9]);
        let decoded = tokenizer.decode(&[257, 0xC3, 0xA9], &DecodeOptions::default()).expect("it is short");
        assert_eq!(decoded, "aé");
    }
}

#[test]
fn of_nested_symbols_the_64_shortest_count() {
    let names: Vec<_> = (1..=70).map(|length| "=".repeat(length)).collect();
    let mut pieces = vec![UNKNOWN, ("▁", -1.0, 1)];
    pieces.extend(names.iter().map(|name| (name.as_str(), 0.0, 4)));
    let tokenizer = Tokenizer::from_bytes(&file(&pieces, &[number(3, 2)])).expect("the library loads it");
    assert_eq!(ids(&tokenizer, &"=".repeat(66)), [1, 65, 3]);
}

#[test]
fn unused_pieces_are_split_100_times_into_one_another() {
    let names: Vec<_> = (1..=110).map(|length| format!("b{}", "a".repeat(length))).collect();
    let mut pieces = vec![UNKNOWN, ("▁", -1.0, 1), ("a", -1.0, 1), ("b", -1.0, 1)];
    pieces.extend(names.iter().zip(1u8..).map(|(name, length)| (name.as_str(), -f32::from(length), 5)));
    let tokenizer = Tokenizer::from_bytes(&file(&pieces, &[number(3, 2)])).expect("the library loads it");
    let expected = |first, count| [vec![1, first], vec![2; count]].concat();
    assert_eq!(ids(&tokenizer, &names[100]), expected(3, 101));
    assert_eq!(ids(&tokenizer, &names[101]), expected(4, 101));
}

#[test]
fn parts_of_a_text_end_between_symbols_and_characters() {
    let pieces = [UNKNOWN, ("▁", -9.0, 1), ("▁user", -1.0, 1), ("user", -1.0, 1), ("\n\n", 0.0, 4)];
    let symbols = Tokenizer::from_bytes(&file(&pieces, &[number(3, 1)])).expect("the library loads it");
    let bytes = with_byte_pieces(2, &[UNKNOWN, ("▁", -1.0, 1), ("a", -1.0, 1)]);
    let suffix = [UNKNOWN, ("▁", -1.0, 1), ("a", -1.0, 1), ("b", -1.0, 1)];
    let suffix = file(&suffix, &[number(3, 2), vec![0xC0, 0x01, 1]]);
    let suffix = Tokenizer::from_bytes(&suffix).expect("the library loads it");
    let cases = [
        (&symbols, "user\n\n\n\nuser", 2, (6, 2)),
        (&symbols, "user\n\n\n\nuser", 3, (8, 3)),
        // The inserted `▁` alone stands for no text.
        (&bytes, "中a", 1, (0, 0)),
        (&bytes, "中a", 3, (0, 0)),
        (&bytes, "中a", 4, (3, 4)),
        // A `▁` follows the text, and each part of it encoded alone.
        (&suffix, "ab", 2, (1, 2)),
        (&suffix, "ab  ", 2, (1, 2)),
        (&suffix, "ab  ", 3, (4, 3)),
    ];
    for (tokenizer, text, room, (read, written)) in cases {
        let mut ids = vec![];
        let options = EncodeOptions::default();
        let made = tokenizer.encode_first(text.into(), room, &options, true, &mut ids).expect("it encodes");
        let made = made.expect("nothing follows");
        assert_eq!((made.read, made.written, ids.len()), (read, written, written), "{text:?} in {room}");
    }
}

#[test]
fn lengths_beyond_the_file_and_text_files_are_no_models() {
    let huge = [&[0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F][..], b"abc"].concat();
    assert_eq!(refused(&huge).0, "ERR_TOKENLANE_UNKNOWN_FORMAT");
    let start = piece("<unk>", 0.0, 2);
    assert_eq!(refused(&[&start[..], &huge].concat()).0, "ERR_TOKENLANE_PROTOBUF");
    // White space before JSON looks like the key of a piece.
    assert_eq!(refused(b"\n{\n  \"model\": 1}").0, "ERR_TOKENLANE_SHAPE");
    let json = format!("\n{{\n {}\"model\": 1}}", " ".repeat(200));
    assert_eq!(refused(json.as_bytes()).0, "ERR_TOKENLANE_SHAPE");
}

#[test]
fn tokens_are_added_and_components_and_saving_are_refused() {
    let tokenizer = Tokenizer::from_bytes(&model("bpe")).expect("the model is sound");
    let size = tokenizer.vocab_size(true) as u32;
    let token = AddedToken { content: "<new>".into(), special: true, ..AddedToken::default() };
    let changes = Changes { added_tokens: vec![NewToken { token, id: None }], ..Changes::default() };
    let with_token = tokenizer.with(&changes).expect("the change is sound");
    let ids = with_token.encode("the<new>the".into(), &EncodeOptions::default()).expect("it encodes").ids;
    assert_eq!(ids.iter().filter(|&&id| id == size).count(), 1);
    let decoded = with_token.decode(&ids, &DecodeOptions { skip_special_tokens: true }).expect("it decodes");
    assert!(!decoded.contains("<new>"));
    let changes = Changes { decoder: Some("null".into()), ..Changes::default() };
    assert_eq!(tokenizer.with(&changes).expect_err("it is refused").code(), "ERR_TOKENLANE_UNSUPPORTED");
    assert_eq!(tokenizer.to_json().expect_err("it is refused").code(), "ERR_TOKENLANE_SAVE");
}

/// A text, and its ids in the library.
type Answer = (&'static str, &'static [u32]);

/// Pieces with their scores and types, and answers of the library with them.
type Case = (&'static [(&'static str, f32, u8)], &'static [Answer]);

#[test]
fn cut_texts_have_the_pieces_of_the_library() {
    let letters = [UNKNOWN, ("a", -9.0, 1), ("b", -9.0, 1), ("c", -9.0, 1), ("▁", -9.0, 1)];
    // Equal scores; zeros of both signs; a piece that is merged before its parts; runs of unknown
    // characters; a character that is only a part of a piece; user-defined symbols; unused pieces
    // that one pair makes, and that several make.
    let cases: [Case; 8] = [
        (&[("ab", -1.0, 1), ("bc", -1.0, 1)], &[("abc", &[5, 3]), ("bcabc", &[6, 5, 3]), ("abcbc", &[5, 3, 6])]),
        (&[("ab", -0.0, 1), ("bc", 0.0, 1)], &[("abc", &[1, 6])]),
        (
            &[("ab", -3.0, 1), ("abc", -1.0, 1), ("ca", -2.0, 1)],
            &[("abcabca", &[5, 7, 2, 7]), ("cabcab", &[7, 2, 7, 2]), ("abca bca", &[5, 7, 4, 2, 7])],
        ),
        (
            &[("a▁", -1.0, 1)],
            &[
                ("a éé a", &[5, 0, 4, 1]),
                ("aéébé é", &[1, 0, 2, 0, 4, 0]),
                ("é é", &[0, 4, 0]),
                ("  éx a", &[4, 4, 0, 4, 1]),
                ("xyz a", &[0, 4, 1]),
            ],
        ),
        (
            &[("aé", -1.0, 1), ("éé", -2.0, 1)],
            &[
                ("aé é", &[5, 4, 0]),
                ("éa", &[0, 1]),
                ("ééé é", &[6, 0, 4, 0]),
                ("é x é", &[0, 4, 0, 4, 0]),
                ("éxa", &[0, 1]),
            ],
        ),
        (
            &[("a▁b", -1.0, 4), ("▁▁", -1.0, 4), ("b▁", -1.0, 1), ("▁a", -1.5, 1)],
            &[
                ("a b a b", &[5, 4, 5]),
                ("aa b  a", &[1, 5, 6, 1]),
                ("   a", &[6, 8]),
                ("a  b", &[1, 6, 2]),
                ("b a b", &[7, 5]),
            ],
        ),
        (&[("ab", -1.0, 5), ("abc", -2.0, 1)], &[("ab abc", &[1, 2, 4, 6]), ("abcab ab", &[6, 1, 2, 4, 1, 2])]),
        (
            &[("ab", -3.0, 1), ("bc", -2.0, 1), ("abc", -1.0, 5), ("abca", -2.5, 1)],
            &[("abc", &[1, 6]), ("abc abc cabc abca", &[1, 6, 4, 1, 6, 4, 3, 1, 6, 4, 8]), ("bcabc", &[6, 1, 6])],
        ),
    ];
    for (pieces, answers) in cases {
        let identity = [vec![3 << 3, 0], vec![4 << 3, 0]];
        let file = file_of(&[&letters[..], pieces].concat(), &[number(3, 2)], &identity);
        let tokenizer = Tokenizer::from_bytes(&file).expect("the file is sound");
        // The second round uses the cache.
        for (text, ids) in answers.iter().chain(answers) {
            let encoding = tokenizer.encode((*text).into(), &in_bytes()).expect("nothing can fail");
            assert_eq!(encoding.ids(), *ids, "{text:?} with {pieces:?}");
        }
    }
}

#[test]
fn the_length_of_a_text_shows_that_it_exceeds_a_limit() {
    let bytes: Vec<String> = (0..=255u8).map(|byte| format!("<0x{byte:02X}>")).collect();
    let mut pieces = vec![UNKNOWN, ("▁", -1.0, 1), ("▁▁", -3.0, 1), ("▁▁▁▁", -2.0, 1)];
    pieces.extend(bytes.iter().map(|text| (text.as_str(), 0.0, 6)));
    let raw = [number(3, 0), number(4, 0)];
    let load = |bpe: u8, fields: &[Vec<u8>]| {
        // Field 35 is byte_fallback.
        let trainer = [number(3, bpe), vec![0x98, 0x02, 1]];
        Tokenizer::from_bytes(&file_of(&pieces, &trainer, fields)).expect("the file is sound")
    };
    for method in [1, 2] {
        // The longest token has twelve bytes.
        assert_eq!(load(method, &raw).max_bytes(100), Some(1200));
        assert_eq!(load(method, &[number(3, 0), number(4, 1)]).max_bytes(100), None, "spaces can vanish");
    }
    let long = " ".repeat(1199) + "é";
    let tokenizer = load(2, &raw);
    let is_within = |limit| tokenizer.is_within(long.as_str().into(), limit, &EncodeOptions::default());
    // 299 times four spaces, two spaces, one, and two bytes.
    assert_eq!((is_within(302), is_within(303), is_within(99)), (Ok(false), Ok(true), Ok(false)));
}

#[test]
fn the_start_of_a_text_shows_that_it_exceeds_a_limit() {
    let text = "a b ".repeat(40_000);
    let limit = 100;
    let start = Tokenizer::start_lens(usize::MAX, limit).next().expect("the text is long");
    for name in MODEL_NAMES {
        let tokenizer = Tokenizer::from_bytes(&model(name)).expect("the model is sound");
        let options = EncodeOptions::default();
        let beyond = |text: &str| tokenizer.is_surely_beyond_with(text.into(), limit, &options).expect("it is short");
        // A word model may take any number of characters as one unknown word.
        assert_eq!(beyond(&text[..start]), name != "word", "{name}");
        // Spaces vanish, and unknown characters can be one token.
        assert!(!beyond(&" ".repeat(start)) && !beyond(&"\u{1F9FF}".repeat(start / 4)), "{name}");
        for limit in [0, 3, 100, 40_000, 100_000] {
            let count = tokenizer.count(text.as_str().into(), &options).expect("it is short");
            assert_eq!(tokenizer.is_within(text.as_str().into(), limit, &options), Ok(count <= limit), "{name}");
        }
    }
}

#[test]
fn offsets_of_user_defined_symbols_are_those_of_the_library() {
    // The normalizer finds a symbol in the text, and each byte of it comes from all of it: also
    // where the model, which sees meta symbols instead of spaces, finds another symbol or none.
    let letters = [UNKNOWN, ("a", -9.0, 1), ("b", -9.0, 1), ("c", -9.0, 1), ("▁", -9.0, 1)];
    let symbols = [("▁▁", -1.0, 4), ("b c", -1.0, 4)];
    let raw = [number(3, 0), number(4, 0)];
    let file = file_of(&[&letters[..], &symbols].concat(), &[number(3, 2)], &raw);
    let tokenizer = Tokenizer::from_bytes(&file).expect("the file is sound");
    let answer = |text: &str| {
        let encoding = tokenizer.encode(text.into(), &in_bytes()).expect("nothing can fail");
        (encoding.ids().to_vec(), encoding.offsets().to_vec())
    };
    assert_eq!(answer("a ▁▁b"), (vec![1, 5, 4, 2], vec![[0, 1], [1, 2], [2, 8], [8, 9]]));
    assert_eq!(answer("ab ca"), (vec![1, 2, 4, 3, 1], vec![[0, 1], [1, 1], [1, 1], [1, 4], [4, 5]]));
}
