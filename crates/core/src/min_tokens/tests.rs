//! Compares the fewest tokens of a start with the tokens of longer texts.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::split::tests::subjects::{NORMALIZERS, PRETOKENIZERS, Subject, pieces, subjects, tokenizer};
use crate::{EncodeOptions, SpecialTokens, Tokenizer};

fn options(special_tokens: SpecialTokens) -> EncodeOptions {
    EncodeOptions { special_tokens, ..EncodeOptions::default() }
}

fn check(tokenizer: &Tokenizer, text: &str, cut: prop::sample::Index) -> Result<(), TestCaseError> {
    let start = &text[..text.floor_char_boundary(cut.index(text.len() + 1))];
    for options in [options(SpecialTokens::Parse), options(SpecialTokens::Text)] {
        let policy = tokenizer.plan(&options).expect("sound options").policy;
        let Ok(count) = tokenizer.count(text.into(), &options) else { continue };
        let fewest = tokenizer.min_tokens(start, &policy, usize::MAX / 4096);
        prop_assert!(fewest <= count, "{} > {} of {:?}, {:?}", fewest, count, start, text);
    }
    Ok(())
}

/// The model `kind` with single characters, and words and pieces that are longer.
fn of_kind(kind: &str, normalizer: &Value, pretokenizer: &Value) -> Tokenizer {
    let tokens = ["<unk>", "a", "b", "ab", "abab", "▁", "▁a", "1", "é", "##a", "##b", "aaaaaaa", "."];
    let vocab: serde_json::Map<_, _> =
        tokens.iter().zip(0..).map(|(token, id)| (token.to_string(), json!(id))).collect();
    let model = match kind {
        "Unigram" => {
            let pieces: Vec<Value> = tokens.iter().map(|token| json!([token, -(token.len() as f64) % 3.0])).collect();
            json!({"type": kind, "unk_id": 0, "vocab": pieces})
        }
        "WordPiece" => json!({"type": kind, "unk_token": "<unk>", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocab}),
        _ => json!({"type": kind, "unk_token": "<unk>", "vocab": vocab}),
    };
    let added = |id: u32, content: &str, flag: bool| json!({"id": id, "content": content, "special": flag, "normalized": !flag, "single_word": false, "lstrip": flag, "rstrip": flag});
    let file = json!({"version": "1.0", "normalizer": normalizer, "pre_tokenizer": pretokenizer, "model": model,
        "added_tokens": [added(100, "<x>", true), added(101, "a.a.a", false), added(102, " ", true)]});
    Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("a sound file")
}

proptest! {
    #[test]
    fn no_text_has_fewer_tokens_than_its_start_shows(
        subject in subjects(40, 12),
        parts in prop::collection::vec(prop::sample::select(pieces()), 0..60),
        cut: prop::sample::Index,
    ) {
        let text = parts.concat();
        check(&tokenizer(&subject), &text, cut)?;
        for kind in ["Unigram", "WordPiece", "WordLevel"] {
            check(&of_kind(kind, &NORMALIZERS[subject.normalizer], &PRETOKENIZERS[subject.pretokenizer]), &text, cut)?;
        }
    }
}

/// Texts of few tokens, each with what would count as more: white space that an added token takes,
/// characters of the unknown token, words of an added token, and a letter that becomes another one.
#[test]
fn what_may_be_in_a_long_token_does_not_count() {
    let all = |tokenizer: &Tokenizer, text: &str| {
        let options = options(SpecialTokens::Parse);
        let policy = tokenizer.plan(&options).expect("sound options").policy;
        let count = tokenizer.count(text.into(), &options).expect("a text");
        for (end, _) in text.char_indices().chain([(text.len(), ' ')]) {
            let fewest = tokenizer.min_tokens(&text[..end], &policy, 1 << 20);
            assert!(fewest <= count, "{fewest} > {count} of {:?}", &text[..end]);
        }
    };
    let subject = |normalizer, pretokenizer, model| {
        tokenizer(&Subject { normalizer, pretokenizer, model, merges: vec![], added: true })
    };
    all(&subject(0, 3, 0), &format!("<z>{}", " ".repeat(500)));
    all(&subject(1, 0, 4), "b\u{323}");
    let words = of_kind("WordLevel", &Value::Null, &json!({"type": "Whitespace"}));
    all(&words, "a.a.a");
    let pieces: Vec<Value> =
        ["<unk>", "<", "u", "n", "k", ">"].iter().map(|piece| json!([piece, -(piece.len() as f64 % 5.0)])).collect();
    let file = json!({"version": "1.0", "model": {"type": "Unigram", "unk_id": 0, "vocab": pieces}});
    let unigram = Tokenizer::from_tokenizer_json(file.to_string().as_bytes()).expect("a sound file");
    assert_eq!(unigram.count("<unk><unk>".into(), &options(SpecialTokens::Parse)), Ok(1), "one run");
    all(&unigram, &"<unk>".repeat(20));
}

/// For each file: the texts of which the start shows at once that they have more than 100 tokens.
/// The other texts are within the limit, or few tokens of the file cover them.
#[test]
fn the_start_of_a_long_text_shows_that_it_exceeds_a_limit() {
    let texts = [
        ("english", "it is the time of the year that we go on and on. "),
        ("letters", "qwzkjxvprtnqzhjklmnbvcxzasdfghjkl"),
        ("letter", "a"),
        ("digits", "31415926535897932384626433832795028841971"),
        ("punctuation", "!"),
        ("words of a letter", "a! "),
    ];
    let all = ["english", "letters", "letter", "digits", "punctuation", "words of a letter"];
    let words = ["english", "words of a letter"];
    let punctuated = ["english", "punctuation", "words of a letter"];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/conformance/tokenizers");
    for (name, expected) in [
        ("l_words", &words[..]),
        ("s_bert_eow", &all),
        ("s_clip", &all),
        ("s_metaspace_first", &all),
        ("s_prefix", &all),
        ("s_roberta", &all),
        ("s_trim_pair_strings", &all),
        ("u_byte_fallback", &all),
        ("u_xlmr_like", &all),
        ("w_cased", &punctuated),
    ] {
        let file = std::fs::read(folder.join(name).with_extension("json")).expect("the file is there");
        let tokenizer = Tokenizer::from_bytes(&file).expect("a sound file");
        for (text, unit) in texts {
            let long = unit.repeat(300_000 / unit.len());
            let before = tokenizer.encoded_bytes();
            let is_within = tokenizer.is_within(long.as_str().into(), 100, &EncodeOptions::default());
            let encoded = tokenizer.encoded_bytes() - before;
            let shown = is_within == Ok(false) && encoded < 50_000;
            assert_eq!(shown, expected.contains(&text), "{name}, {text}: {is_within:?}, {encoded} bytes");
        }
    }
}
