use std::ops::ControlFlow;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::start::Start;
use super::{BpeVocabulary, naive};
use crate::progress::Meter;
use crate::{BpeOptions, SpecialToken, TrainError, WordCounts};

fn counts(words: &[(&str, u64)]) -> WordCounts {
    WordCounts::new(words.iter().map(|&(word, count)| (word.into(), count)).collect())
}

fn train(words: &WordCounts, options: &BpeOptions) -> Result<BpeVocabulary, TrainError> {
    super::train(words.clone(), options, &mut Meter::new(&mut |_| ControlFlow::Continue(())))
}

fn start(words: &WordCounts, options: &BpeOptions) -> Start {
    let mut watch = |_| ControlFlow::Continue(());
    super::start::start(words, options, &mut Meter::new(&mut watch)).expect("the options are valid")
}

fn tokens(words: &[(&str, u64)], options: &BpeOptions) -> Vec<String> {
    train(&counts(words), options).expect("the options are valid").tokens
}

fn options() -> impl Strategy<Value = BpeOptions> {
    let affix = |weight, texts: &[&str]| {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        option::weighted(weight, select(texts))
    };
    let sizes = (0usize..80, 0u64..6, option::weighted(0.2, 0usize..5), option::weighted(0.4, 0usize..8));
    let special = vec(select(vec!["a", "ab", "##b", "aba", "<s>"]), 0..3);
    (sizes, special, affix(0.4, &["##", "#", ""]), affix(0.3, &["_", "a"])).prop_map(
        |(sizes, special, continuing_subword_prefix, end_of_word_suffix)| {
            let (vocab_size, min_frequency, limit_alphabet, max_token_length) = sizes;
            BpeOptions {
                vocab_size,
                min_frequency,
                special_tokens: special.into_iter().map(SpecialToken::from).collect(),
                limit_alphabet,
                initial_alphabet: Vec::new(),
                continuing_subword_prefix,
                end_of_word_suffix,
                max_token_length,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merges_like_the_slow_twin(
        words in vec(("[ab]{1,12}|[a-c#]{1,8}|[a-e]{1,5}é?|[a-h]{4,8}", prop_oneof![Just(1), 1u64..40]), 0..30),
        options in options(),
    ) {
        let words = WordCounts::new(words.into_iter().map(|(word, count)| (word.into(), count)).collect());
        let found = train(&words, &options).expect("the options are valid");
        prop_assert_eq!(found, naive::train(start(&words, &options), &options));
    }
}

#[test]
fn equal_counts_merge_the_smallest_ids_first() {
    let words = [("ab", 3), ("cd", 3), ("ef", 4)];
    let found = train(&counts(&words), &BpeOptions { vocab_size: 9, ..BpeOptions::default() }).expect("valid");
    assert_eq!(found.tokens[6..], ["ef", "ab", "cd"]);
    assert_eq!(found.merges, [(4, 5), (0, 1), (2, 3)]);
}

/// Words in which a pair occurs twice, words without one, and words that occur once lie apart in
/// memory, each word in one of these places.
#[test]
fn each_word_counts_as_often_as_it_occurs() {
    let words = [("abab", 1), ("cd", 3), ("ef", 1), ("eg", 1), ("hi", 4)];
    let found = tokens(&words, &BpeOptions { vocab_size: 13, ..BpeOptions::default() });
    assert_eq!(found[9..], ["hi", "cd", "ab", "ef"]);
}

#[test]
fn counts_of_more_than_32_bits_are_exact() {
    let words = [("ab", 1 << 40), ("cd", (1 << 40) + 1), ("ef", u64::from(u32::MAX)), ("gh", 7), ("ij", 8)];
    let found = tokens(&words, &BpeOptions { vocab_size: 15, ..BpeOptions::default() });
    assert_eq!(found[10..], ["cd", "ab", "ef", "ij", "gh"]);
}

#[test]
fn a_limited_alphabet_keeps_the_lowest_of_equally_frequent_characters() {
    let options = BpeOptions { vocab_size: 0, limit_alphabet: Some(2), ..BpeOptions::default() };
    assert_eq!(tokens(&[("cab", 1), ("c", 1)], &options), ["a", "c"]);
}

#[test]
fn characters_with_affixes_are_numbered_by_their_distinct_words() {
    let options = BpeOptions {
        vocab_size: 0,
        continuing_subword_prefix: Some("##".to_owned()),
        end_of_word_suffix: Some("_".to_owned()),
        ..BpeOptions::default()
    };
    // `##b_` is in two words. Of those in one word, the lowest code point comes first, and of one
    // character, the form with the suffix, then that with the prefix, then that with both.
    let words = [("bab", 1), ("cb", 1), ("aaaaa", 9), ("a", 1)];
    assert_eq!(tokens(&words, &options), ["a", "b", "c", "##a", "##b_", "a_", "##a_"]);
}

#[test]
fn a_vocabulary_is_never_smaller_than_special_tokens_and_alphabet() {
    let options = BpeOptions { vocab_size: 1, special_tokens: vec!["<s>".into()], ..BpeOptions::default() };
    assert_eq!(tokens(&[("ab", 9)], &options), ["<s>", "a", "b"]);
}

#[test]
fn no_words_give_the_special_tokens() {
    let options = BpeOptions { special_tokens: vec!["<s>".into(), "<s>".into()], ..BpeOptions::default() };
    assert_eq!(tokens(&[], &options), ["<s>"]);
}

#[test]
fn an_empty_string_in_the_initial_alphabet_is_an_error() {
    let options = BpeOptions { initial_alphabet: vec![String::new()], ..BpeOptions::default() };
    let error = train(&counts(&[]), &options).expect_err("there is no character");
    assert_eq!(error.code(), "ERR_TOKENLANE_TRAIN_OPTION");
}

#[test]
fn a_pair_is_merged_too_where_it_formed_above_the_maximum_length() {
    let words = counts(&[("#a", 10), ("xab", 5), ("#abxab", 1)]);
    let options = BpeOptions {
        min_frequency: 1,
        continuing_subword_prefix: Some("#".to_owned()),
        max_token_length: Some(3),
        ..BpeOptions::default()
    };
    let found = train(&words, &options).expect("the options are valid");
    assert_eq!(found, naive::train(start(&words, &options), &options));
    // `#` and `#a` become the token `#a` again, of two characters: beside `#b`, it is not counted.
    // It is merged with the other places of its word, and nothing is left for `#bx`.
    assert!(found.tokens.contains(&"#ab".to_owned()), "{found:?}");
    assert!(!found.tokens.contains(&"#bx".to_owned()), "{found:?}");
}

#[test]
fn a_long_word_of_repeats_doubles_its_tokens() {
    let word = "ab".repeat(50_000);
    let found = tokens(&[(&word, 1)], &BpeOptions { vocab_size: 8, ..BpeOptions::default() });
    let lens: Vec<usize> = found.iter().map(String::len).collect();
    assert_eq!(lens, [1, 1, 2, 4, 8, 16, 32, 64]);
}
